"""What is measured of a tree on rows."""
