"""Trees for clusters of a kernel."""
