"""Trees on mapped columns, pulled back to raw ones."""

import math

import numpy as np
import pytest

from boxwood.axes import AxisMap
from boxwood.axes.maps import Chained, Selection, Stacked
from boxwood.errors import DataError
from boxwood.tree import ThresholdTree, TreeBuilder
from boxwood.tree.cover import EVERYTHING, complement, intersection, join_intervals
from tests import naive
from tests.cases import tree_on_values
from tests.scale import seeds

INF = math.inf


class Steps(AxisMap):
    """Columns that are step functions of whole numbers 0 to 9, drawn at random: anything but monotone."""

    def __init__(self, rng, n_features, n_columns):
        self.n_features = n_features
        self.features = rng.integers(n_features, size=n_columns)
        self.images = rng.integers(5, size=(n_columns, 10)).astype(float)

    def _cell(self, x):
        return np.clip(np.floor(x), 0, 9).astype(int)

    def transform(self, X):
        return np.column_stack(
            [image[self._cell(X[:, j])] for j, image in zip(self.features, self.images, strict=True)]
        )

    def pull_back(self, column, lower, upper):
        ends = [-INF, *range(1, 10), INF]
        cells = [
            (float(ends[i]), float(np.nextafter(ends[i + 1], -INF)) if i < 9 else INF)
            for i, z in enumerate(self.images[column])
            if lower <= z <= upper
        ]
        return int(self.features[column]), join_intervals(cells)


class Shaky(AxisMap):
    """The identity, whose `pull_back` misses by some doubles, as rounding may."""

    def __init__(self, n_features, wrong):
        self.n_features, self.wrong = n_features, wrong
        self.features = np.arange(n_features)

    def transform(self, X):
        return np.array(X, dtype=np.float64)

    def pull_back(self, column, lower, upper):
        for _ in range(abs(self.wrong)):
            lower, upper = (np.nextafter(end, INF * self.wrong) for end in (lower, upper))
        return column, ((float(lower), float(upper)),) if lower <= upper else ()


@pytest.mark.parametrize("with_rows", [False, True])
def test_rows_go_where_their_images_go(with_rows):
    for seed in seeds(400):
        rng = np.random.default_rng(seed)
        axis_map = Steps(rng, int(rng.integers(1, 4)), int(rng.integers(1, 6)))
        tree = tree_on_values(
            rng, int(rng.integers(1, 9)), axis_map.n_columns, np.arange(-1, 6) + 0.5 * rng.integers(2)
        )
        X = rng.integers(-2, 12, size=(40, axis_map.n_features)) + rng.choice([0.0, 0.5], size=(40, 1))
        pulled = tree.pull_back(axis_map, X if with_rows else None)
        assert (pulled.predict(X) == tree.predict(axis_map.transform(X))).all()
        grid = np.repeat(np.arange(-0.5, 11, 0.25)[:, None], axis_map.n_features, axis=1)
        assert (pulled.predict(grid) == tree.predict(axis_map.transform(grid))).all()


def test_every_node_can_be_reached():
    for seed in seeds(200):
        rng = np.random.default_rng(seed)
        axis_map = Steps(rng, 1, 4)
        pulled = tree_on_values(rng, 8, 4, np.arange(-1, 6)).pull_back(axis_map)
        ends = np.concatenate([pulled.lower, pulled.upper])
        values = np.concatenate(
            [[e, np.nextafter(e, -INF), np.nextafter(e, INF)] for e in ends[np.isfinite(ends)]] or [[0]]
        )
        leaves = pulled.apply(np.concatenate([values, [-1e9, 1e9]])[:, None])
        assert set(leaves) == set(range(pulled.n_leaves))


def test_shapes_of_cuts():
    cut = ThresholdTree.from_dict({"feature": 0, "threshold": 0.5, "left": {"cluster": 0}, "right": {"cluster": 1}})

    class Fixed(Selection):
        def pull_back(self, column, lower, upper):
            return 0, self.wanted

    fixed = Fixed(1, [0])
    for wanted, expected in [
        (((-INF, 3.0),), {"feature": 0, "threshold": 3.0, "left": 0, "right": 1}),
        (((3.0, INF),), {"feature": 0, "threshold": math.nextafter(3.0, -INF), "left": 1, "right": 0}),
        (((3.0, 4.0),), {"feature": 0, "interval": [3.0, 4.0], "inside": 0, "outside": 1}),
        (
            ((-INF, 3.0), (4.0, INF)),
            {
                "feature": 0,
                "interval": [math.nextafter(3.0, INF), math.nextafter(4.0, -INF)],
                "inside": 1,
                "outside": 0,
            },
        ),
        (((-INF, INF),), 0),
        ((), 1),
    ]:
        fixed.wanted = wanted
        expected = {"cluster": expected} if isinstance(expected, int) else expected
        nested = {k: {"cluster": v} if k in ("left", "right", "inside", "outside") else v for k, v in expected.items()}
        assert cut.pull_back(fixed) == ThresholdTree.from_dict(nested)
    fixed.wanted = ((0.0, 1.0), (2.0, 3.0), (4.0, 5.0))
    chain = cut.pull_back(fixed)
    assert chain.n_leaves == 4
    x = np.arange(-0.5, 6, 0.5)
    assert chain.predict(x[:, None]).tolist() == [int(not naive.contains(fixed.wanted, v)) for v in x]


def test_the_identity_changes_nothing():
    for seed in seeds(100):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(50, 3))
        builder, leaves = TreeBuilder(), [(0, np.full(3, -3.0), np.full(3, 3.0))]
        for _ in range(6):  # cuts within the box of their node
            node, low, high = leaves.pop(rng.integers(len(leaves)))
            j = int(rng.integers(3))
            middle = rng.uniform(low[j], high[j])
            left, right = builder.split(node, j, middle)
            below, above = high.copy(), low.copy()
            below[j] = above[j] = middle
            leaves += [(left, low, below), (right, above, high)]
        for i, (leaf, *_) in enumerate(leaves):
            builder.label(leaf, i)
        tree = builder.build()
        assert tree.pull_back(Selection(3, range(3)), X) == tree
        moved = tree.pull_back(Selection(4, [3, 1, 0]))
        assert (moved.predict(np.c_[X[:, 2], X[:, 1], X[:, 0], X[:, 0]]) == tree.predict(X)).all()


@pytest.mark.parametrize("wrong", [-3, -1, 1, 2])
def test_cuts_are_nudged_so_that_every_row_keeps_its_way(wrong):
    nudged = 0
    for seed in seeds(150):
        rng = np.random.default_rng(seed)
        base = rng.choice([1.0, 1e-12, -1e12, 0.0])
        step = max(np.spacing(base), 5e-324)
        X = base + step * rng.integers(0, 6, size=(30, 2))  # neighbours among doubles
        tree = tree_on_values(rng, int(rng.integers(2, 6)), 2, np.unique(X))
        shaky = Shaky(2, wrong)
        assert (tree.pull_back(shaky, X).predict(X) == tree.predict(X)).all()
        nudged += (tree.pull_back(shaky).predict(X) != tree.predict(X)).any()
    assert nudged > 25


def test_rows_out_of_order_by_rounding_keep_their_way():
    class Unsteady(Selection):
        def transform(self, X):
            return np.where(np.asarray(X) == 2.0, 3.5, X)

    tree = ThresholdTree.from_dict({"feature": 0, "threshold": 3.2, "left": {"cluster": 0}, "right": {"cluster": 1}})
    X = np.arange(6.0)[:, None]
    assert tree.pull_back(Unsteady(1, [0]), X).predict(X).tolist() == [0, 0, 1, 0, 1, 1]


def test_errors():
    tree = ThresholdTree.from_dict({"feature": 1, "threshold": 3.2, "left": {"cluster": 0}, "right": {"cluster": 1}})
    with pytest.raises(ValueError, match="tests column 1, but the map makes 1 columns"):
        tree.pull_back(Selection(1, [0]))

    class Moody(Selection):
        def transform(self, X):
            return np.arange(2.0 * len(X)).reshape(-1, 2)

    with pytest.raises(DataError, match=r"equal values different images, first 1\.0"):
        tree.pull_back(Moody(2, [0, 1]), np.ones((5, 2)))


def test_maps_are_composed():
    for seed in seeds(300):
        rng = np.random.default_rng(seed)
        first = Steps(rng, 3, 4)
        second = Stacked(4, [(np.array([2, 0]), Steps(rng, 2, 3)), (np.array([1]), Selection(1, [0]))])
        chain = Chained(first, second)
        X = rng.integers(-1, 11, size=(40, 3)).astype(float)
        Z = chain.transform(X)
        assert (second.transform(first.transform(X)) == Z).all()
        for column in range(chain.n_columns):
            lower, upper = sorted(rng.integers(-1, 6, size=2).tolist())
            feature, intervals = chain.pull_back(column, lower, upper)
            assert feature == chain.features[column]
            inside = [naive.contains(intervals, x) for x in X[:, feature]]
            assert inside == ((lower <= Z[:, column]) & (Z[:, column] <= upper)).tolist()
    with pytest.raises(ValueError, match="the second map takes 2 columns, the first makes 4"):
        Chained(first, Selection(2, [0]))


def test_sets_of_doubles():
    for seed in seeds(500):
        rng = np.random.default_rng(seed)
        values = np.array([-INF, -1.0, 0.0, 5e-324, 1.0, 2.0, INF])
        pairs = [sorted(rng.choice(values, size=2).tolist()) for _ in range(rng.integers(0, 4))]
        others = [sorted(rng.choice(values, size=2).tolist()) for _ in range(rng.integers(0, 4))]
        some, more = join_intervals(map(tuple, pairs)), join_intervals(map(tuple, others))
        for x in [*values, -0.5, 0.5, -5e-324, np.nextafter(1, 0), np.nextafter(2, 3)]:
            assert naive.contains(some, x) == naive.contains(pairs, x)
            assert naive.contains(complement(some), x) != naive.contains(some, x)
            assert naive.contains(intersection(some, more), x) == (naive.contains(some, x) and naive.contains(more, x))
        assert complement(complement(some)) == some
    assert complement(()) == EVERYTHING
