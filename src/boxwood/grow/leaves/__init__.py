"""Trees that grow leaf by leaf: expansions and trees of least impurity; and their prunings."""
