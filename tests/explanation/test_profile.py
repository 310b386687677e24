"""The profile equals pandas' group-by, with weights, ties, categories, booleans and constant columns."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats.contingency import association

import boxwood
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.explanation import CategoryColumn, NumberColumn
from boxwood.explanation.measure.profile import profile_of
from boxwood.loops.sums import add_squares_in_groups
from boxwood.reference import Reference, Task
from tests.naive import profiles
from tests.scale import law

KINDS = ("normal", "ties", "constant", "lognormal", "counts", "huge", "tiny", "binary")


def _column(rng, kind, n):
    return {
        "normal": lambda: rng.normal(size=n),
        "ties": lambda: rng.integers(-2, 3, size=n) / 4,
        "constant": lambda: np.full(n, 0.1),
        "lognormal": lambda: rng.lognormal(size=n),
        "counts": lambda: rng.poisson(1.0, size=n).astype(float),
        "huge": lambda: rng.normal(size=n) * 1e150,
        "tiny": lambda: rng.normal(size=n) * 1e-150,
        "binary": lambda: rng.integers(0, 2, size=n).astype(float),
    }[kind]()


def _task(rng, weighted):
    n, k = int(rng.integers(2, 60)), int(rng.integers(2, 6))
    labels = rng.integers(-1, k, size=n)
    labels[:2] = 0, k - 1
    X = np.column_stack([_column(rng, kind, n) for kind in KINDS])
    codes = rng.integers(0, 3, size=n)
    weights = rng.integers(0, 5, size=n) / 4 if weighted else None
    if weighted:
        weights[:2] = 0.5
    reference = Reference(labels, np.zeros((k, len(KINDS) + 1)))
    return Task.of(np.column_stack([X, codes]), reference, sample_weight=weights), labels, weights


@pytest.mark.parametrize("weighted", [False, True])
@law(4)
def test_it_equals_group_by_in_pandas(seed, weighted):
    task, labels, weights = _task(np.random.default_rng([seed, weighted]), weighted)
    table = task.rows.values
    known = Categories(("a", "b"), others=True)
    *numbers, coded = profile_of(task, table, dict(enumerate((*KINDS, "code"))), {len(KINDS): known})
    for j, column in enumerate(numbers):
        facts, effect = profiles.numbers(table[:, j], labels, weights)
        assert column.column == KINDS[j]
        assert column.effect == pytest.approx(effect, abs=1e-12)
        _compare(column, facts)
    facts, effect = profiles.categories(table[:, -1], 3, labels, weights)
    assert coded.effect == pytest.approx(effect, abs=1e-12)
    assert coded.categories == known
    _compare(coded, facts)


def _compare(column, facts):
    assert column.everyone._asdict() == _approx(facts["all"])
    for cluster, group in enumerate(column.clusters):
        assert (group is None) == (cluster not in facts)
        if group is not None:
            assert group._asdict() == _approx(facts[cluster])


def _approx(facts):
    """Return facts to compare with: numbers nearly, None as None."""
    return {name: _near(value) for name, value in facts.items()}


def _near(value):
    if isinstance(value, list):
        return tuple(map(_near, value))
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-12 if abs(value) > 1e-100 else 1e-165)


@law(10)
def test_cramers_v_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 6, size=(4, 3)) + np.eye(4, 3, dtype=int)
    labels, codes = (np.repeat(ends, table.ravel()) for ends in np.indices(table.shape).reshape(2, -1))
    task = Task.of(codes[:, None].astype(float), Reference(labels, np.zeros((4, 1))))
    (column,) = profile_of(task, task.rows.values, {0: "c"}, {0: Categories(("x", "y", "z"), False)})
    kept = table[table.any(axis=1)][:, table.any(axis=0)]
    assert column.effect == pytest.approx(association(kept, method="cramer"), abs=1e-12)


@law(10)
def test_a_weight_of_two_counts_as_two_rows(seed):
    rng = np.random.default_rng(seed)
    X, labels, counts = rng.integers(0, 9, size=(30, 2)), np.arange(30) % 3, rng.integers(1, 4, size=30)
    once = boxwood.explain(X, labels, sample_weight=counts, method="cart").profile()
    repeated = boxwood.explain(
        X.repeat(counts, axis=0), labels.repeat(counts), sample_weight=np.ones(counts.sum()), method="cart"
    ).profile()
    for one, other in zip(once, repeated, strict=True):
        assert one.effect == pytest.approx(other.effect)
        for group, twin in zip(one.clusters, other.clusters, strict=True):
            assert group.quantiles == twin.quantiles
            assert group.mean == pytest.approx(twin.mean)


@pytest.mark.parametrize("weights", [None, [1.0, 1.0, 1.0, 1.0]])
def test_small_values_stay_beside_large_ones(weights):
    X = np.array([[1e-200], [2e-200], [1e150], [2e150]])
    (column,) = boxwood.explain(X, [0, 0, 1, 1], sample_weight=weights, method="cart").profile()
    small, large = column.clusters
    assert (small.mean, small.deviation) == pytest.approx((1.5e-200, 0.5e-200), rel=1e-9, abs=0)
    assert (large.mean, large.deviation) == pytest.approx((1.5e150, 0.5e150))
    middle = [1e-200, 1e150] if weights else [1.5e-200, 1.5e150]
    assert [small.quantiles[2], large.quantiles[2]] == pytest.approx(middle, rel=1e-9, abs=0)


def test_quantiles_of_the_largest_doubles_are_finite():
    X = np.array([[-1.5e308], [1.5e308], [1.0], [2.0]])
    task = Task.of(X, Reference(np.array([0, 0, 1, 1]), np.zeros((2, 1))))
    (column,) = profile_of(task, task.rows.values, {0: "x"}, {})
    assert column.clusters[0].quantiles == pytest.approx((-1.35e308, -0.75e308, 0.0, 0.75e308, 1.35e308))
    assert column.clusters[1].quantiles == pytest.approx((1.05, 1.25, 1.5, 1.75, 1.95))


@pytest.mark.full  # loops are compiled for each layout
def test_the_profile_depends_on_neither_layout_nor_type_nor_threads():
    rng = np.random.default_rng(0)
    X, labels = rng.integers(-50, 50, size=(300, 7)) / 8, rng.integers(-1, 4, size=300)
    columns, reference = {j: str(j) for j in (0, 2, 3, 5, 6)}, Reference(labels, np.zeros((4, 7)))
    first, *others = (
        profile_of(Task.of(rows, reference, n_jobs=n_jobs), rows, columns, {})
        for rows, n_jobs in ((X, 1), (np.asfortranarray(X), 1), (X.astype(np.float32), 1), (X, 2), (X, 5))
    )
    assert [column.column for column in first] == list(columns.values())
    assert others == [first] * 4


def test_booleans_and_words_have_shares_and_columns_without_a_cut_are_told():
    frame = pd.DataFrame({"age": [20.0, 30, 40, 60, 70, 80], "member": [True, False] * 3, "city": list("xyxyxx")})
    ex = boxwood.explain(frame, [0, 0, 0, 1, 1, 1])
    age, member, city = ex.profile()
    assert isinstance(age, NumberColumn)
    assert isinstance(member, CategoryColumn)
    assert isinstance(city, CategoryColumn)
    assert city.everyone.shares == pytest.approx((2 / 3, 1 / 3))
    assert member.categories.values == (False, True)
    assert member.everyone.shares == (0.5, 0.5)
    assert ex.profile() is ex.profile()


def test_a_pipeline_has_the_columns_that_it_reads_in_the_units_of_the_table():
    from sklearn.cluster import KMeans
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    frame = pd.DataFrame(
        {"age": [20.0, 30, 40, 60, 70, 80], "unread": [1.0] * 6, "city": list("xyxyxx"), "note": list("abcdef")}
    )
    steps = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["city"]))
    ex = boxwood.explain(frame, make_pipeline(steps, KMeans(2, random_state=0)).fit(frame))
    age, city = ex.profile()
    assert (age.column, city.column) == ("age", "city")
    assert age.everyone.mean == 50
    assert city.categories.values == ("x", "y")


def test_a_saved_model_without_a_profile_asks_for_rows(tmp_path):
    ex = boxwood.explain([[1.0], [2.0], [8.0]], [0, 0, 1])
    ex.save(tmp_path / "model.json")
    with pytest.raises(DataError, match="pass the rows and their labels"):
        boxwood.load(tmp_path / "model.json").profile()


@pytest.mark.parametrize("weighted", [False, True])
def test_squares_add_up_as_numpy_adds_them_to_the_last_bit(weighted):
    rng = np.random.default_rng(0)
    sizes = [*range(1, 40), 127, 128, 129, 130, 136, 137, 255, 260, 1000, 4099]
    bounds = np.append(0, np.cumsum(sizes))
    x, means = rng.lognormal(0, 3, size=bounds[-1]), rng.normal(size=len(sizes))
    weights = rng.random(len(x)) if weighted else np.empty(0)
    found = np.empty(len(sizes))
    add_squares_in_groups(x, bounds, weights, means, found)
    squares = np.square(x - np.repeat(means, sizes)) * (weights if weighted else 1.0)
    np.testing.assert_array_equal(found, np.add.reduceat(squares, bounds[:-1]))
