"""The tree in a notebook, where it is changed by hand: what is asked and answered, and the widget."""
