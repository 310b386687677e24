"""An explanation in a file."""
