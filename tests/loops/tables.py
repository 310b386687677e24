"""Random tables, nodes and trees, as loops take them."""

import numpy as np

from boxwood.loops import order
from tests import scale

CODE = np.int32


class Table:
    """A random table, often with ties, of few rows, of one column or of one value; and a random node of it."""

    def __init__(self, rng):
        self.rng = rng
        self.n, self.d, self.k = (int(rng.choice(some)) for some in ((1, 2, 3, 20, 150), (1, 2, 4, 7, 9), (1, 2, 5)))
        step = rng.choice([0.25, 1.0, 1e-9, 1e300])
        X = np.round(rng.normal(size=(self.n, self.d)) * rng.choice([0.5, 3.0, 1e4])) * step
        X[rng.random(X.shape) < 0.1] = -0.0
        # at most two kinds of arrays, as each takes a while to compile
        single = step < 1e30 and rng.random() < 0.5 and scale.SEEDS >= scale.ALL_KINDS
        self.X = np.asfortranarray(X, dtype=np.float32) if single else X
        self.labels = rng.integers(self.k, size=self.n, dtype=np.int32 if single else np.int64)
        self.rows = np.sort(rng.permutation(self.n)[: rng.integers(1, self.n + 1)])
        self.whole_weights = rng.integers(1, 9, size=self.n) if rng.random() < 0.5 else np.empty(0, dtype=np.int64)

    def whole(self, largest, shape):
        return self.rng.integers(-largest, largest + 1, size=shape)

    def entries(self):
        """The entries of a node among others, and its places."""
        start = int(self.rng.integers(0, self.n - len(self.rows) + 1))
        stop = start + len(self.rows)
        entries = np.zeros((self.d, self.n), dtype=CODE)
        for j in range(self.d):
            x = self.X[:, j].astype(np.float64)
            order.mark_ties(x, self.rows[np.argsort(x[self.rows])].astype(CODE), entries[j, start:stop])
        return entries, start, stop

    def ordered(self):
        """The rows of the node in the order of each column, and the codes of all rows."""
        codes = np.array([np.unique(x, return_inverse=True)[1] for x in self.X.T], dtype=CODE)
        return self.rows[np.argsort(codes[:, self.rows], axis=1)].astype(CODE), codes

    def centers(self, k):
        """Centres near rows; an array of shape (0, 0) stands for none."""
        centers = self.X[self.rng.integers(self.n, size=k)] + self.rng.choice([0.0, 0.1])
        return centers.astype(np.float64, order="C") if k else np.empty((0, 0))

    def moments(self):
        """Whole numbers with exact sums whose squares are not: weight, square, values."""
        values = self.whole(int(self.rng.choice([3, 1 << 20, 1 << 40])), (self.n, self.d)).astype(np.float64)
        weights = self.rng.integers(1, 9, size=(self.n, 1))
        return np.hstack([weights, weights * (values * values).sum(axis=1, keepdims=True) % 2.0**44, weights * values])


def labels_with_gaps(table):
    return np.where(table.rng.random(table.n) < 0.2, -1, table.labels).astype(table.labels.dtype)


def random_tree(table):
    """The arrays of a tree: of a stump, or of two cuts of which one is an interval."""
    values = np.sort(table.X[table.rng.integers(table.n, size=2)].astype(np.float64), axis=0)
    j, i = table.rng.integers(table.d, size=2)
    feature, second = [[-1], [j, -1, -1], [j, i, -1, -1, -1], [j, -1, i, -1, -1]], [[0], [2], [4, 3], [2, 4]]
    which = int(table.rng.integers(4))
    feature = np.array(feature[which])
    seconds = np.zeros(len(feature), dtype=np.int64)
    seconds[feature >= 0] = second[which] if which else []
    lower, upper = np.full((2, len(feature)), np.nan)
    lower[feature >= 0] = np.where(table.rng.random() < 0.5, -np.inf, values[0, feature[feature >= 0]])
    upper[feature >= 0] = values[1, feature[feature >= 0]]
    return feature, lower, upper, seconds
