"""Growth columns of mixed tables: distances are those of one-hot columns, and cuts go back to codes and to gaps."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from boxwood._validation import Rows
from boxwood.axes import Categories
from boxwood.axes.mixed import FAINT, MixedMap, embed_values
from boxwood.grow import METHODS
from boxwood.reference import Reference, Task
from boxwood.reference.mixed import unit_scales
from boxwood.tree import Interval
from boxwood.tree.cover import MISSING
from tests.scale import law

MAX = sys.float_info.max


def _mixed(seed: int) -> tuple[np.ndarray, dict[int, Categories], np.ndarray, np.ndarray | None]:
    """Return a table of a number, a number with gaps and two categories, labels that depend on them, and weights."""
    rng = np.random.default_rng(seed)
    n, sizes = int(rng.integers(30, 80)), rng.integers(1, 9, size=2)
    table = np.column_stack(
        [
            np.round(rng.normal(size=n), 1) * 10.0 ** rng.integers(-3, 4),
            np.where(rng.random(n) < 0.3, np.inf, rng.integers(0, 9, size=n)),
            *(rng.integers(0, size, size=n) for size in sizes),
        ]
    )
    codes = (table[:, 2] + table[:, 3] + rng.integers(0, 2, size=n)).astype(np.intp)
    labels = np.where(rng.random(n) < 0.1, -1, codes % int(rng.integers(2, 6)))
    labels[0] = 0
    categories = {j: Categories(tuple("abcdefghij"[: sizes[j - 2]]), False) for j in (2, 3)}
    return table, categories, labels, rng.integers(0, 4, size=n) + 0.5 if seed % 2 else None


def _one_hot(codes: np.ndarray, n_values: int) -> np.ndarray:
    return np.eye(n_values)[codes.astype(int)]


@law(60)
def test_distances_to_the_means_of_clusters_are_those_of_one_hot_columns_less_a_constant_for_each_value(
    seed: int,
) -> None:
    table, categories, labels, weights = _mixed(seed)
    axis_map = MixedMap(table, categories, labels, weights)
    rows, present = axis_map.transform(Rows(table)), np.unique(labels[labels >= 0])
    mass = np.ones(len(table)) if weights is None else weights
    for j in categories:
        one_hot = _one_hot(table[:, j], len(categories[j].values))
        images = rows[:, axis_map.features == j]
        away = []
        for columns in (one_hot, images):
            centers = [np.average(columns[labels == c], axis=0, weights=mass[labels == c]) for c in present]
            away.append(np.square(columns[:, None] - np.array(centers)).sum(axis=2))
        constant = away[0] - away[1]
        assert np.abs(constant - constant[:, :1]).max() < 1e-9
        assert images.shape[1] <= max(min(len(categories[j].values), len(present)) - 1, 1)


@law(60)
def test_a_cut_goes_back_to_the_values_with_an_image_inside(seed: int) -> None:
    table, categories, labels, weights = _mixed(seed)
    scales = unit_scales(table, categories, weights) if seed % 3 else None
    axis_map, rng = MixedMap(table, categories, labels, weights, scales), np.random.default_rng(seed)
    rows = axis_map.transform(Rows(table))
    for column in range(axis_map.n_columns):
        images = np.append(rng.choice(rows[:, column], 6), [-np.inf, np.inf])
        lower, upper = np.sort(rng.choice(images, 2))
        feature, inside = axis_map.pull_back(column, float(lower), float(upper))
        values = table[:, feature]
        found = np.any([(low <= values) & (values <= high) for low, high in inside] or [values != values], axis=0)
        assert feature == axis_map.features[column]
        np.testing.assert_array_equal(found, (lower <= rows[:, column]) & (rows[:, column] <= upper))


@law(60)
def test_values_in_an_order_cost_what_others_cost_and_are_cut_in_their_order(seed: int) -> None:
    table, categories, labels, weights = _mixed(seed)
    m = len(categories[3].domain)
    plain, lacks = MixedMap(table, categories, labels, weights), seed % 2 == 0 and (table[:, 3] < m - 1).any()
    values = (*categories[3].values[: m - 1], None) if lacks else categories[3].values
    axis_map = MixedMap(table, categories | {3: Categories(values, False, ordered=True)}, labels, weights)
    rows, uncut = axis_map.transform(Rows(table)), list(axis_map.uncut)
    assert (rows[:, uncut] == plain.transform(Rows(table))[:, plain.features == 3]).all()
    cut = [j for j in np.flatnonzero(axis_map.features == 3).tolist() if j not in uncut]
    assert len(cut) == 1 + (lacks and (table[:, 3] == m - 1).any())
    assert np.ptp(rows[:, cut], axis=0).max() <= FAINT * (1 + 1e-9)
    known = set(range(m - lacks))
    sets = [set(range(end)) for end in range(m - lacks + 1)]
    sets += [known - one for one in sets]
    for column in cut:
        found = []
        for value in np.unique(rows[:, column])[:-1].tolist():
            feature, pieces = axis_map.pull_back(column, -np.inf, value)
            assert feature == 3
            found.append({int(code) for low, high in pieces for code in np.arange(low, high + 1)})
        assert all(one & known in sets for one in found)
        if column == cut[0]:
            present = np.unique(table[table[:, 3] < m - lacks, 3])
            assert [one & set(present) for one in found] == [set(present[:end]) for end in range(1, len(present))]


@law(40)
def test_a_tree_pulled_back_labels_the_table_as_it_labels_the_growth_columns(seed: int) -> None:
    table, categories, labels, weights = _mixed(seed)
    if len(np.unique(labels[labels >= 0])) < 2:
        return
    axis_map = MixedMap(table, categories, labels, weights)
    rows = Rows(axis_map.transform(Rows(table)), weights)
    for name in ("cart", "exkmc", "shallow"):
        task = Task.of(rows, Reference.of(rows, labels), max_leaf_nodes=8)
        tree = METHODS[name].grow(task).tree
        np.testing.assert_array_equal(tree.pull_back(axis_map, Rows(table)).apply(Rows(table)) >= 0, True)
        np.testing.assert_array_equal(tree.pull_back(axis_map, Rows(table)).predict(Rows(table)), tree.predict(rows))


def test_missing_numbers_are_on_one_side_of_every_cut_and_can_be_parted_from_the_others() -> None:
    table = np.array([[1.0], [2.0], [3.0], [np.inf]])
    axis_map = MixedMap(table, {}, np.array([0, 0, 1, 1]))
    assert axis_map.n_columns == 2
    assert axis_map.pull_back(0, -np.inf, 2.5) == (0, ((-np.inf, 2.5), MISSING))  # the median is 2
    assert axis_map.pull_back(0, -np.inf, 1.5) == (0, ((-np.inf, 1.5),))
    assert axis_map.pull_back(1, -np.inf, 0.0) == (0, ((-np.inf, MAX),))
    assert axis_map.pull_back(1, 1e-9, np.inf) == (0, (MISSING,))


def test_a_category_has_total_variance_one_when_it_is_scaled() -> None:
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(0, 5, size=200), rng.normal(3, 9, size=200)]).astype(float)
    categories = {0: Categories(tuple("abcde"), False)}
    scales = unit_scales(table, categories)
    one_hot = _one_hot(table[:, 0], 5) * scales[0]
    assert one_hot.var(axis=0).sum() == pytest.approx(1)
    assert (table[:, 1] * scales[1]).var() == pytest.approx(1)


def test_a_category_that_is_the_same_in_all_clusters_still_has_a_column() -> None:
    shares = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    assert embed_values(shares, np.array([3.0, 5.0])).ravel().tolist() == [1.0, 0.0, 0.0]
    assert embed_values(np.array([[1.0], [1.0]]), np.array([3.0, 5.0])).tolist() == [[1.0]]


@law(40)
def test_the_strongest_columns_of_a_category_come_first_and_as_few_as_are_enough(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, m = rng.integers(2, 9, size=2)
    shares, sizes = rng.dirichlet(np.full(m, rng.choice([0.1, 1.0])), size=k), rng.integers(1, 99, size=k).astype(float)
    whole, enough = embed_values(shares, sizes), float(rng.choice([0.5, 0.9, 0.999]))
    centers = shares @ whole
    spread = np.average(np.square(centers - np.average(centers, axis=0, weights=sizes)), axis=0, weights=sizes)
    explained = np.cumsum(spread) / spread.sum()
    few = embed_values(shares, sizes, enough)
    assert (few == whole[:, : few.shape[1]]).all()
    assert explained[few.shape[1] - 1] >= enough - 1e-12
    assert few.shape[1] == 1 or explained[few.shape[1] - 2] < enough + 1e-12


def test_the_median_of_many_numbers_is_that_of_some_of_them_even_if_most_are_missing() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=300_000)
    x[::2] = np.inf
    rows = MixedMap(x[:, None], {}, np.arange(len(x)) % 2).transform(Rows(x[:, None]))
    assert abs(rows[0, 0] - np.median(x[1::2])) < 0.01
    assert abs(MixedMap(x[:, None], {}, np.arange(len(x)) % 2, np.ones(len(x))).parts[0].filled - rows[0, 0]) < 1e-12


@law(200)
def test_codes_in_intervals_are_those_that_each_interval_holds(seed):
    rng = np.random.default_rng(seed)
    known = Categories(tuple("abcdefgh"[: rng.integers(1, 9)]), others=bool(rng.integers(2)))
    ends = rng.choice([-np.inf, np.inf, *np.arange(-2, 11, 0.5)], 2 * rng.integers(1, 5), replace=False)
    closed = rng.integers(2, size=(len(ends) // 2, 2)).astype(bool).tolist()
    pieces = [
        Interval(*pair, *sides) for pair, sides in zip(np.sort(ends).reshape(-1, 2).tolist(), closed, strict=True)
    ]
    assert known.codes_in(pieces) == [code for code, _ in known.domain if any(code in piece for piece in pieces)]
