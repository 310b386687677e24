"""Which tree "auto" takes."""
