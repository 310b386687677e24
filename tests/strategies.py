"""Trees and rows for property tests."""

import math

import numpy as np
from hypothesis import strategies as st

from boxwood.tree import ThresholdTree, TreeBuilder

_ENDS = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from([-0.0, 0.1, 5e-324, -1e-12, 1e12, math.nextafter(1, 2), float(np.float32(0.1))]),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
)


@st.composite
def trees(draw: st.DrawFn, max_cuts: int = 7, n_features: int = 3) -> ThresholdTree:
    """Return trees of up to `max_cuts` cuts, one- and two-sided, some of them contradicting each other."""
    builder, leaves = TreeBuilder(), [0]
    for _ in range(draw(st.integers(0, max_cuts))):
        ends = sorted([draw(_ENDS), draw(_ENDS)])
        lower = -math.inf if draw(st.booleans()) else ends[0]
        node = leaves.pop(draw(st.integers(0, len(leaves) - 1)))
        leaves += builder.split(node, draw(st.integers(0, n_features - 1)), ends[1], lower)
    for leaf in leaves:
        builder.label(leaf, draw(st.integers(0, 3)))
    return builder.build()


@st.composite
def rows_near(draw: st.DrawFn, tree: ThresholdTree, n_features: int = 3, max_rows: int = 12) -> np.ndarray:
    """Return rows whose values are the tree's thresholds, their neighbours, and others."""
    ends = [end for end in (*tree.lower.tolist(), *tree.upper.tolist()) if math.isfinite(end)] or [0.0]
    near = st.sampled_from(ends).flatmap(
        lambda end: st.sampled_from([end, math.nextafter(end, math.inf), math.nextafter(end, -math.inf)])
    )
    value = st.one_of(near, _ENDS)
    rows = draw(st.lists(st.lists(value, min_size=n_features, max_size=n_features), min_size=1, max_size=max_rows))
    return np.array(rows)
