"""Better trees of the same size: refinement, and exchanges of leaves and subtrees."""
