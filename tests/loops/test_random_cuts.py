"""Cuts of leaves whose measure is too small for a double, beside the same found value by value."""

import numpy as np

from boxwood.loops import random_cuts
from tests.scale import law


@law(200)
def test_the_widest_leaf_is_cut_in_its_middle(seed):
    rng = np.random.default_rng(seed)
    d, k = rng.integers(1, 4), rng.integers(2, 9)
    scale = (1.0, 1e-300, 5e-324)[seed % 3]
    values = np.sort(rng.integers(0, 6, size=(d, k)) * scale, axis=1)
    values[:, -1] = values[:, 0] + rng.integers(6, 9) * scale
    leaves = range(rng.integers(1, 4))
    ends = np.sort([[rng.choice(k, size=2, replace=False) for _ in range(d)] for _ in leaves], axis=2)
    first, last = ends[..., 0], ends[..., 1]
    widths = np.array([[values[j, last[g, j]] - values[j, first[g, j]] for j in range(d)] for g in leaves])
    if not widths.any():
        return
    g, j = np.unravel_index(widths.argmax(), widths.shape)
    a, b = values[j, first[g, j]], values[j, last[g, j]]
    below = [r for r in range(first[g, j], k) if values[j, r] <= a + 0.5 * (b - a) and values[j, r] < b]
    assert random_cuts._middle_of_widest(values, first, last) == (j, below[-1])
