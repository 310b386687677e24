"""One-line rules: for one cluster, the best box in few columns."""
