"""Bandwidths that rules make from rows."""

import numpy as np

from boxwood._validation import Rows
from boxwood.kernels.bandwidth import resolved_bandwidth
from tests.scale import law


@law(30)
def test_a_repeated_row_is_a_row_of_more_weight(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 30)), int(rng.integers(1, 4))
    X = rng.choice([rng.normal(size=(n, d)), rng.integers(0, 3, size=(n, d)) / 3.0])
    times = rng.integers(1, 5, size=n)
    for power in (1, 2):
        weighted = resolved_bandwidth("auto", Rows(X, times.astype(float)), power)
        assert weighted == resolved_bandwidth("auto", np.repeat(X, times, axis=0), power)
