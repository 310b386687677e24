"""Generated tables: every seed is another kind of trouble, small enough for a naive twin."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from boxwood.tree import ThresholdTree, TreeBuilder
from tests import scale


class Case(NamedTuple):
    X: np.ndarray
    labels: np.ndarray  # 0 to k - 1 with every cluster present, and -1 for some rows of some cases
    weights: np.ndarray | None


def make_case(seed: int, *, max_rows: int = 40, max_columns: int = 4, max_clusters: int = 6) -> Case:
    """Return a small table with labels: ties, duplicates, constant columns, float32 neighbours, 1e±12, any layout.

    The option `--size` makes tables of up to so many times as many rows.
    """
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, max_rows * scale.SIZE + 1)), int(rng.integers(1, max_columns + 1))
    k = int(rng.integers(2, min(n, max_clusters) + 1))
    labels = rng.permutation(np.concatenate([np.arange(k), rng.integers(k, size=n - k)]))
    X = np.column_stack([_column(rng, labels, k) for _ in range(d)])
    if rng.random() < 0.3:  # whole rows twice
        X[rng.integers(n, size=n // 2)] = X[rng.integers(n)]
    if rng.random() < 0.3:
        X = single(X)
    return Case(_layout(rng, X), _with_noise(rng, labels, k), _weights(rng, n))


def single(X: np.ndarray) -> np.ndarray:
    """Return rows as float32, or the same values as doubles where few kinds are tried: loops are compiled for each."""
    narrow = X.astype(np.float32)
    return narrow.astype(np.float64) if scale.SEEDS < scale.ALL_KINDS else narrow


def _column(rng: np.random.Generator, labels: np.ndarray, k: int) -> np.ndarray:
    n = len(labels)
    kinds = [
        lambda: rng.normal(size=n) + 4 * rng.normal(size=k)[labels],
        lambda: rng.integers(0, 4, size=n).astype(float),
        lambda: rng.integers(0, 3, size=n) + 2.0 * labels,
        lambda: np.full(n, rng.normal()),
        lambda: np.float32(1) + rng.integers(0, 4, size=n) * np.spacing(np.float32(1)).astype(float),
        lambda: 1.0 + rng.integers(0, 5, size=n) * np.spacing(1.0),
        lambda: 1e12 * (rng.normal(size=n) + labels),
        lambda: 1e-12 * (rng.normal(size=n) + labels),
        lambda: 1e12 + rng.integers(0, 3, size=n) + labels,
        lambda: np.exp(3 * rng.normal(size=n)) * (1 + labels),
        lambda: np.where(rng.random(n) < 0.6, 0.0, rng.choice([-0.0, -1.0, 1.0], size=n)),
    ]
    return np.asarray(kinds[rng.integers(len(kinds))](), dtype=np.float64)


def _layout(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    kind = rng.integers(4)
    # every loop is compiled for each pair of type and layout: a second or so each
    if X.dtype == np.float32 and not scale.SLOW:
        kind = 2
    elif scale.SEEDS < 1 and kind:
        kind = 3
    if kind == 0:
        return np.asfortranarray(X)
    if kind == 1:  # a view that skips rows and columns
        wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), dtype=X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if kind == 2:
        X = X.copy()
        X.flags.writeable = False
    return X


def _with_noise(rng: np.random.Generator, labels: np.ndarray, k: int) -> np.ndarray:
    noisy = labels.copy()
    if rng.random() < 0.25:
        noisy[rng.random(len(labels)) < 0.2] = -1
        for cluster in np.setdiff1d(np.arange(k), noisy):
            noisy[np.flatnonzero(labels == cluster)[0]] = cluster
    return noisy


def _weights(rng: np.random.Generator, n: int) -> np.ndarray | None:
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(1, 4, size=n).astype(float)
    if kind == 1:
        return rng.random(n) + 0.01
    return None


def make_vast(seed, max_rows=8):
    """Return rows, labels and weights of a small table in which some numbers, or weights, dwarf all others."""
    rng = np.random.default_rng([seed, 8])
    n, d, k = int(rng.integers(5, max_rows + 1)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
    X = rng.integers(0, 9, size=(n, d)) * 1.0 if rng.random() < 0.5 else 3 * rng.normal(size=(n, d))
    for _ in range(rng.integers(1, 4)):
        X[rng.integers(n), rng.integers(d)] = rng.choice([-1, 1]) * 10.0 ** rng.integers(3, 19) + rng.integers(3)
    if rng.random() < 0.2:
        X[:, 0] += np.where(rng.random(n) < 0.5, 10.0 ** rng.integers(3, 13), 0.0)
    labels = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    orders = rng.choice([0, 0, 3, 9])
    if orders:
        return X, labels, 10.0 ** rng.uniform(-orders, orders, size=n)
    return X, labels, rng.integers(1, 5, n) * 1.0 if rng.random() < 0.5 else None


def random_tree(
    rng: np.random.Generator, n_leaves: int, cut: Callable[[], Sequence[Any]], cluster: Callable[[int], Any]
) -> ThresholdTree:
    """Return a tree of any shape: `cut` draws column, end and lower end of a cut, `cluster` that of leaf 0, 1, ..."""
    builder, leaves = TreeBuilder(), [0]
    while len(leaves) < n_leaves:
        drawn = cut()
        leaves += builder.split(leaves.pop(int(rng.integers(len(leaves)))), *drawn)
    for i, leaf in enumerate(leaves):
        builder.label(leaf, int(cluster(i)))
    return builder.build()


def chain(
    n_cuts: int, *, n_columns: int = 1, cluster: Callable[[int], int] = lambda i: i, last: int | None = None
) -> ThresholdTree:
    """Return a tree in which every cut, in turns on each column, has a leaf and the rest of the tree.

    IN: cluster: that of leaf 0, 1, ...; last: that of the last leaf, if it is another one.
    """
    builder, node = TreeBuilder(), 0
    for i in range(n_cuts):
        leaf, node = builder.split(node, i % n_columns, float(i))
        builder.label(leaf, cluster(i))
    builder.label(node, cluster(n_cuts) if last is None else last)
    return builder.build()


def tree_on_values(rng, n_leaves, n_columns, values, n_clusters=None, two_sided=0.3) -> ThresholdTree:
    """Return a tree with cuts at some of the values, some contradicting each other; None: a cluster for each leaf."""

    def cut():
        lower, upper = sorted(rng.choice(values, size=2).astype(float).tolist())
        return int(rng.integers(n_columns)), upper, lower if rng.random() < two_sided else -math.inf

    return random_tree(rng, n_leaves, cut, lambda leaf: leaf if n_clusters is None else rng.integers(n_clusters))


def tree_on_rows(rng, X, n_clusters, n_leaves, two_sided=0.0) -> ThresholdTree:
    """Return a tree with cuts at values of the rows; some of its leaves may have no row."""

    def cut():
        j = int(rng.integers(X.shape[1]))
        lower, upper = np.sort(rng.choice(X[:, j], size=2).astype(float)).tolist()
        return j, upper, lower if rng.random() < two_sided else -math.inf

    return random_tree(rng, n_leaves, cut, lambda leaf: rng.integers(n_clusters))
