"""A tree that a person changes: the cut that is meant, the tree with it changed, and what that costs."""
