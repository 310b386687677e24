"""Segments over time: a saved tree on later rows, two explanations side by side, and a refit that keeps its cuts."""
