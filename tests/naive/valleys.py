"""The clearest valley of numbers, by looking at every window, every crowd on its left and every crowd on its right."""

import math

import numpy as np

from boxwood.explanation.measure.valleys import ENDS, FINE, LENGTHS, SHIFTS


def clearest_depth(line: np.ndarray) -> float:
    """Return how clear the clearest valley is, in deviations."""
    inner = sorted(line.tolist())[int(ENDS * (len(line) - 1)) :]
    low, high = inner[0], inner[len(line) - 1 - 2 * int(ENDS * (len(line) - 1))]
    best = -math.inf
    for parts in LENGTHS:
        length = (high - low) / parts
        windows = [low - length + length / SHIFTS * i for i in range((parts + 2) * SHIFTS)]
        counts = [sum(begin <= x < begin + length for x in line.tolist()) for begin in windows]
        for at, between in enumerate(counts):
            left, right = counts[: max(at - SHIFTS + 1, 0)], counts[at + SHIFTS :]
            if left and right:
                smaller = min(max(left), max(right))
                clear = (smaller - between) / math.sqrt(max(smaller + between, 1))
                best = max(best, clear - FINE * math.sqrt(2 * math.log(parts)))
    return best
