"""Code for several methods: costs, sorted columns, passes, names of leaves."""
