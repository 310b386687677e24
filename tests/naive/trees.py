"""Trees as nested dicts."""

import numpy as np


def leaf_of(d: dict, x: np.ndarray) -> dict:
    """Return the leaf that a row reaches in a nested tree."""
    while "cluster" not in d:
        value = float(x[d["feature"]])
        if "threshold" in d:
            d = d["left"] if value <= d["threshold"] else d["right"]
        elif "interval" in d:
            lower, upper = d["interval"]
            d = d["inside"] if lower <= value <= upper else d["outside"]
        else:
            d = d["in"] if value in d["values"] else d["out"]
    return d


def between(a: float, b: float) -> float:
    """Return the midpoint m of two values, with a <= m < b."""
    middle = a / 2 + b / 2 if np.isinf(a + b) else (a + b) / 2
    return middle if a <= middle < b else a
