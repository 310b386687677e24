"""Limits of rules: depth, rows of a leaf, columns, digits. They are kept always, or an error says why not."""

import contextlib
import itertools
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

import boxwood as bw
from boxwood.errors import DataError
from boxwood.explanation.choose.few_columns import choices
from boxwood.explanation.choose.goal import Goal
from boxwood.explanation.choose.search import grow_for, search_trees
from boxwood.explanation.model_file import from_text
from boxwood.grow import METHODS
from boxwood.grow.centers.random_cuts import with_best_centers
from boxwood.kernels import Gaussian, Laplace
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from boxwood.tree import ThresholdTree
from boxwood.tree.shorten import round_thresholds
from tests import naive
from tests.cases import make_case
from tests.models import read_model
from tests.scale import each, law


def make_limits(rng, columns, n_rows):
    """Return some limits, each present or not."""
    forbidden = [name for name in columns if rng.random() < 0.3]
    limits = {
        "max_depth": int(rng.integers(1, 5)),
        "min_samples_leaf": int(rng.integers(1, max(n_rows // 3, 2))),
        "max_columns": int(rng.integers(1, len(columns) + 1)),
        "forbidden": forbidden,
        "preferred": [name for name in columns if name not in forbidden and rng.random() < 0.3],
        "round_thresholds": int(rng.integers(1, 4)),
    }
    return {name: value for name, value in limits.items() if rng.random() < 0.5}


def assert_kept(ex, rows, kept, limits, columns):
    """Check the tree itself, row by row, and that the facts repeat the limits. `rows` are numbers or codes."""
    tree, facts = ex.tree, ex.limits
    tested = {columns[j] for j in tree.features.tolist()}
    sizes = np.bincount(tree.apply(rows)[kept], minlength=tree.n_leaves)
    assert tree.depth <= limits.get("max_depth", math.inf)
    assert limits.get("min_samples_leaf", 1) == 1 or sizes.min() >= limits["min_samples_leaf"]
    assert len(tested) <= limits.get("max_columns", math.inf)
    assert not tested & set(limits.get("forbidden", ()))
    if "round_thresholds" in limits:
        coded = list(ex._coded_columns)
        ends = np.concatenate([end[~np.isin(tree.feature, coded)] for end in (tree.lower, tree.upper)])
        for end in ends[np.isfinite(ends)].tolist():
            assert float(f"{end:.{limits['round_thresholds'] - 1}e}") == end
    assert facts is None or {name: getattr(facts, name) for name in limits if limits[name]} == {
        name: tuple(value) if isinstance(value, list) else None if (name, value) == ("min_samples_leaf", 1) else value
        for name, value in limits.items()
        if value
    }


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # scikit-learn, on tables with few rows
@law(24)
def test_limits_are_kept_or_an_error_says_why_not(seed):
    rng = np.random.default_rng(seed)
    X, labels, weights = make_case(seed, max_rows=120, max_columns=8, max_clusters=12)
    columns = [f"x{j}" for j in range(X.shape[1])]
    kept = (labels >= 0) & (True if weights is None else weights > 0)
    limits = make_limits(rng, columns, int(kept.sum()))
    objective = ["auto", "cost", "agreement"][seed % 3]
    leaves = None if seed % 2 else int(rng.integers(2, 15))
    options = {"sample_weight": weights, "objective": objective, "max_leaf_nodes": leaves}
    if set(limits.get("forbidden", ())) == set(columns):
        with pytest.raises(DataError, match="every column is forbidden"):
            bw.explain(X, labels, **options, **limits)
        return
    if limits.get("min_samples_leaf", 1) > max(kept.sum() // 2, 1):
        with pytest.raises(DataError, match="allows no cut of"):
            bw.explain(X, labels, **options, **limits)
        return
    ex = bw.explain(X, labels, **options, **limits)
    assert_kept(ex, X, kept, limits, columns)
    assert from_text(ex.to_json(), "text").limits == ex.limits


@law(20)
def test_methods_keep_limits_or_refuse_them(seed):
    rng = np.random.default_rng(seed)
    X, labels, weights = make_case(seed, max_rows=80, max_columns=5)
    columns = [f"x{j}" for j in range(X.shape[1])]
    kept = (labels >= 0) & (True if weights is None else weights > 0)
    for method in bw.grow.METHODS:
        limits = make_limits(rng, columns, int(kept.sum()))
        ex = None
        with contextlib.suppress(ValueError):  # DataError is one; the messages have tests of their own
            ex = bw.explain(X, labels, sample_weight=weights, method=method, **limits)
        if ex is not None:
            assert_kept(ex, X, kept, limits, columns)
        missing = set(limits) - {"preferred", "round_thresholds", *bw.grow.METHODS[method].keeps}
        given = {name for name in missing if limits[name] and (name, limits[name]) != ("min_samples_leaf", 1)}
        assert ex is None or not given


@law(4)
def test_limits_are_kept_through_pipelines_with_categories(seed):
    rng = np.random.default_rng(seed)
    n = 150
    frame = pd.DataFrame(
        {
            "a": rng.exponential(size=n),
            "b": rng.normal(size=n) + 3 * rng.integers(3, size=n),
            "kind": rng.choice(["x", "y", "z", "w"], size=n),
            "c": rng.integers(0, 4, size=n).astype(float),
        }
    )
    numbers = [StandardScaler(), QuantileTransformer(n_quantiles=20)][seed % 2]
    columns = make_column_transformer((OneHotEncoder(sparse_output=False), ["kind"]), (numbers, ["a", "b", "c"]))
    clustering = make_pipeline(columns, KMeans(4, n_init=1, random_state=seed)).fit(frame)
    limits = make_limits(rng, list(frame), n)
    if set(limits.get("forbidden", ())) == set(frame):
        return
    ex = bw.explain(frame, clustering, **limits)
    codes = ex._rows().coordinates.table.values
    assert_kept(ex, codes, np.ones(n, dtype=bool), limits, list(frame))


@law(20)
def test_limits_that_do_not_bind_change_no_tree(seed):
    X, labels, weights = make_case(seed)
    ref = Reference.of(X, labels, sample_weight=weights) if weights is not None else Reference.of(X, labels)
    free = search_trees(Task.of(X, ref, sample_weight=weights, random_state=0))
    loose = Budget(max_depth=100, round_thresholds=17)
    within = search_trees(Task.of(X, ref, sample_weight=weights, random_state=0, budget=loose))
    assert Budget().given == ()
    if free.tree.n_leaves <= 2:  # two cuts at once are not looked for under limits of the shape
        assert within.tree.n_leaves <= 2
    assert within.tree.depth <= 100


@law(4)
def test_a_long_table_keeps_the_exact_number_of_rows(seed, monkeypatch):
    monkeypatch.setattr("boxwood.explanation.choose.settings.ROWS", 100)
    monkeypatch.setattr("boxwood.explanation.choose.settings.ROWS_PER_LEAF", 10)
    rng = np.random.default_rng(seed)
    labels = rng.integers(5, size=700)
    X = rng.normal(size=(700, 3)) + 2 * rng.normal(size=(5, 3))[labels]
    ex = bw.explain(X, labels, min_samples_leaf=61, max_depth=3, max_leaf_nodes=8)
    assert_kept(ex, X, labels >= 0, {"min_samples_leaf": 61, "max_depth": 3}, ["x0", "x1", "x2"])


@law(10)
def test_the_order_of_rows_and_threads_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, labels, weights = make_case(seed, max_rows=80, max_columns=5)
    weights = None if weights is None else np.ceil(weights)
    columns = [f"x{j}" for j in range(X.shape[1])]
    limits = make_limits(rng, columns, len(X) // 2)
    if set(limits.get("forbidden", ())) == set(columns):
        return
    reference, order = Reference.of(X, labels), rng.permutation(len(X))
    budget = Budget.of(columns, **limits)
    if budget.min_samples_leaf > Task.of(X, reference, sample_weight=weights).n_kept // 2:
        return
    there = Task.of(X, reference, sample_weight=weights, random_state=0, n_jobs=1, budget=budget)
    back = Reference(labels[order], reference.centers)
    shuffled = None if weights is None else weights[order]
    other = Task.of(X[order], back, sample_weight=shuffled, random_state=0, n_jobs=3, budget=budget)
    assert grow_for(there, "auto").tree == grow_for(other, "auto").tree


def test_a_pruned_tree_comes_to_the_table_within_the_limits():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=120)
    X = rng.normal(size=(120, 2)) + 3 * rng.normal(size=(4, 2))[labels]
    evidence = bw.explain(X, labels, round_thresholds=1, min_samples_leaf=10)._rows()
    tree = evidence.on_table(evidence.grow(evidence.task).tree)
    ends = tree.upper[np.isfinite(tree.upper)].tolist()
    assert [float(f"{end:.0e}") for end in ends] == ends
    assert np.bincount(tree.apply(X)).min() >= 10


# ------------------------------------------------------------------------------------------------ choice of columns


@law(4)
@pytest.mark.parametrize("objective", ["cost", "agreement"])
def test_the_best_of_few_choices_of_columns_is_taken(seed, objective):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=60)
    X = rng.normal(size=(60, 4)) + 1.5 * rng.normal(size=(3, 4))[labels]
    task = Task.of(X, Reference.of(X, labels), random_state=0, budget=Budget(max_columns=1))
    goal = Goal(task, objective)
    single = [search_trees(task.within(Budget().only([j], 4)), objective=objective) for j in range(4)]
    best = goal.best([goal.candidate(grown.tree, grown.method) for grown in single])
    taken = goal.candidate(grow_for(task, "auto", objective=objective).tree, "")
    assert (taken.cost, taken.mistakes) == (best.cost, best.mistakes)


@law(6)
def test_all_choices_are_compared_where_they_are_at_most_70(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=80)
    X = rng.normal(size=(80, 6)) + rng.normal(size=(4, 6))[labels]
    task = Task.of(X, Reference.of(X, labels), random_state=0, budget=Budget(max_columns=2))
    ranked = choices(task, Goal(task, "cost"))
    monkeypatch.setattr("boxwood.explanation.choose.settings.CHOICES_SEARCHED", 15)
    assert len(ranked) == 3
    everything = choices(task, Goal(task, "cost"), several=True)
    assert sorted(everything) == list(itertools.combinations(range(6), 2))
    greedy = _greedy_choice(task, monkeypatch)
    loss = _losses(task)
    assert loss[ranked[0]] == min(loss.values())
    assert loss[greedy] <= np.median(list(loss.values()))


def _losses(task):
    from boxwood.explanation.choose.few_columns import _Choices

    compared = _Choices(task, Goal(task, "cost"), None)
    return {choice: compared.compare(choice)[0] for choice in itertools.combinations(range(6), 2)}


def _greedy_choice(task, monkeypatch):
    monkeypatch.setattr("boxwood.explanation.choose.settings.CHOICES_COMPARED", 0)
    return choices(task, Goal(task, "cost"), several=False)[0]


def test_columns_made_of_one_column_count_once():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": rng.choice(list("abcde"), size=200), "u": 0.1 * rng.normal(size=200)})
    columns = make_column_transformer((OneHotEncoder(sparse_output=False), ["kind"]), ("passthrough", ["u"]))
    clustering = make_pipeline(columns, KMeans(5, n_init=2, random_state=0)).fit(frame)
    ex = bw.explain(frame, clustering, max_columns=1)
    assert [ex.columns[j] for j in ex.tree.features] == ["kind"]
    assert ex.n_leaves == 5


@pytest.mark.parametrize("time_limit", [0, 0.05])
def test_few_columns_are_chosen_whatever_the_clock_says(time_limit):
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=200)
    X = rng.normal(size=(200, 16)) + rng.normal(size=(4, 16))[labels]
    ex = bw.explain(X, labels, max_columns=3, time_limit=time_limit)
    assert 1 <= len(ex.tree.features) <= 3


def test_few_columns_note_names_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + [0, 5, 0] * rng.integers(2, size=(60, 1))
    ex = bw.explain(X, (X[:, 1] > 2.5).astype(int), columns=["a", "b", "c"], max_columns=1)
    assert "max_columns=1: the rules use b of 3 columns" in ex.notes
    assert ex.search_report.gap is None


# ---------------------------------------------------------------------------------------------------- forbidden


def test_a_forbidden_column_still_counts_in_costs():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 40)
    X = np.column_stack([10 * labels + rng.normal(size=80), labels + 0.4 * rng.normal(size=80)])
    free = bw.explain(X, labels, columns=["far", "near"])
    ex = bw.explain(X, labels, columns=["far", "near"], forbidden=["far"])
    assert ex.tree.features.tolist() == [1]
    assert ex.reference_cost == free.reference_cost
    assert ex.cost == pytest.approx(bw.metrics.cost(X, ex.tree))
    assert "no rule may use the forbidden far" in ex.notes
    assert "within the limits costs less" in ex.to_text()


ONE_COLUMN_EACH = np.repeat([[0.0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], 10, axis=0)
FOUR = np.repeat(np.arange(4), 10)


SEPARATING = dict.fromkeys(
    ("imm", "greedy", "shallow", "mmdt", "random_cuts"), "equal centres in the columns that rules"
)
SEPARATING |= {"kernel_imm": "equal means in all features", "kernel_mmdt": "alike on every axis that may be cut"}


@pytest.mark.crossed
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limit", [{"forbidden": ["x0"]}, {"max_columns": 1}])
def test_clusters_that_differ_only_in_columns_that_rules_may_not_test(method, limit):
    def explained():
        return bw.explain(ONE_COLUMN_EACH, FOUR, method=method, **limit)

    if method in SEPARATING:
        with pytest.raises(DataError, match=SEPARATING[method]):
            explained()
    else:
        assert explained().agreement == 0.5


ON_OTHER_COLUMNS = {
    "imm": {},
    "greedy": {},
    "shallow": {},
    "mmdt": {"threshold": "cantelli"},
    "random_cuts": {"n_trees": 1},
    "kernel_imm": {"kernel": Laplace(0.5), "features": "distance"},
    "kernel_mmdt": {"kernel": Gaussian(0.5), "prototype": "medoid"},
}


@pytest.mark.parametrize("method", ON_OTHER_COLUMNS)
@law(3)
def test_methods_that_separate_centres_see_the_other_columns_alone(method, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=90)
    X = rng.normal(size=(90, 4)) + 3 * rng.normal(size=(4, 4))[labels]
    X[:, 1] *= 10  # which every method would cut first
    X[:, 1] += 50 * labels
    ways = {"method": method, "round_thresholds": 17, **ON_OTHER_COLUMNS[method]}
    free, alone = bw.explain(X, labels, **ways), bw.explain(np.delete(X, 1, axis=1), labels, **ways)
    limited = bw.explain(X, labels, forbidden=["x1"], **ways)
    assert 1 in free.tree.features or method in ("random_cuts", "kernel_imm", "kernel_mmdt")
    assert limited.tree.relabeled(limited.tree.leaf_clusters) == limited.tree
    columns = np.array([0, 2, 3, -1])  # of the whole table; a leaf has none
    there = alone.tree
    assert limited.tree == ThresholdTree(columns[there.feature], there.lower, there.upper, there.second, there.cluster)
    assert limited.reference_cost == free.reference_cost


@pytest.mark.parametrize("method", METHODS)
def test_methods_prefer_columns_where_that_costs_nothing(method):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 30)
    column = 10.0 * labels + rng.normal(size=90)
    X = np.column_stack([column, column, rng.normal(size=90)])
    two_sided = {"kernel_exkmc", "kernel_expand"}
    options = {"cuts": "threshold", "base": "root"} if method in two_sided else {}
    free = bw.explain(X, labels, method=method, **options)
    other = 1 - int(free.tree.features[0])
    ex = bw.explain(X, labels, method=method, preferred=[f"x{other}"], **options)
    if np.isneginf(free.tree.lower[free.tree.feature >= 0]).all():
        assert ex.tree.features.tolist() == [other]
        assert f"the tree of {method!r} was changed: cuts on other columns are cuts on preferred ones" in ex.notes
    else:
        assert method in ("kernel_imm", "kernel_mmdt")
        assert ex.tree.n_leaves == free.tree.n_leaves
    assert ex.agreement >= free.agreement


@law(8)
def test_methods_lose_at_most_a_hundredth_for_preferred_columns(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=120)
    X = rng.normal(size=(120, 3)) + 2 * rng.normal(size=(4, 3))[labels]
    for method in ("imm", "expand", "mmdt"):
        free = bw.explain(X, labels, method=method)
        ex = bw.explain(X, labels, method=method, preferred=["x2"])
        if method == "expand":
            assert (1 - ex.agreement) <= 1.01 * (1 - free.agreement) + 1e-12
        else:
            assert ex.cost <= 1.01 * free.cost * (1 + 1e-9)
        changed = ex.tree.feature.tolist() != free.tree.feature.tolist()
        assert any("was changed" in note for note in ex.notes) == changed


def test_forbidden_columns_that_rules_cannot_use_are_no_error():
    frame = pd.DataFrame({"name": ["a", "b", "c", "d"], "age": [1.0, 2.0, 8.0, 9.0], "size": [1.0, 2.0, 8.0, 9.0]})
    ex = bw.explain(frame, [0, 0, 1, 1], forbidden=["name", "size"])
    assert [ex.columns[j] for j in ex.tree.features] == ["age"]
    assert ex.limits.forbidden == ("name", "size")


# ---------------------------------------------------------------------------------------------------- rounding


@law(15)
@pytest.mark.parametrize("digits", [1, 2, 3])
def test_rounding_moves_the_rows_it_says(seed, digits):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=90)
    X = 10.0 ** rng.integers(-2, 4) * (rng.normal(size=(90, 2)) + 2 * rng.normal(size=(3, 2))[labels])
    free, ex = (bw.explain(X, labels, max_leaf_nodes=3, round_thresholds=n) for n in (None, digits))
    ends = free.tree.upper.copy()
    cuts = np.isfinite(ends)
    ends[cuts] = [float(f"{end:.{digits - 1}e}") for end in ends[cuts]]
    rounded = free.tree.with_thresholds(free.tree.lower, ends)
    assert ex.limits.n_moved == int((rounded.apply(X) != free.tree.apply(X)).sum())
    if (np.bincount(rounded.apply(X), minlength=rounded.n_leaves) > 0).all():
        assert np.array_equal(ex.tree.upper, ends)
    assert ex.agreement == pytest.approx((ex.tree.predict(X) == labels).mean())
    assert ex.cost == pytest.approx(bw.metrics.cost(X, ex.tree))
    moved = f"{ex.limits.n_moved:,} of 90 rows" if ex.limits.n_moved else "no row"
    assert any(note.endswith(f"which moves {moved} to another leaf") for note in ex.notes)


@pytest.mark.parametrize(
    ("threshold", "digits", "expected"),
    [(1.79e308, 1, 1e308), (-1.79e308, 2, -1.7e308), (0.0, 3, 0.0), (45678.9, 2, 46000.0), (-0.01234, 2, -0.012)],
)
def test_thresholds_are_rounded_to_doubles(threshold, digits, expected):
    cut = {"feature": 0, "threshold": threshold, "left": {"cluster": 0}, "right": {"cluster": 1}}
    assert round_thresholds(bw.ThresholdTree.from_dict(cut), digits).upper[0] == expected


# ---------------------------------------------------------------------------------------------------- errors, notes


@each(
    "limits, error, message",
    [
        ({"max_depth": 0}, ValueError, "max_depth must be at least 1"),
        ({"max_depth": 1.5}, TypeError, "max_depth must be a whole number"),
        ({"min_samples_leaf": 0}, ValueError, "min_samples_leaf must be at least 1"),
        ({"min_samples_leaf": 6}, DataError, "min_samples_leaf=6 allows no cut of 10 rows; take at most 5"),
        ({"max_columns": 0}, ValueError, "max_columns must be at least 1"),
        ({"round_thresholds": 18}, ValueError, "at most 17 digits"),
        ({"forbidden": "x0"}, TypeError, r"must be a list of names, got the text 'x0'; write \['x0'\]"),
        ({"forbidden": ["z"]}, DataError, "no column 'z' in the table"),
        ({"preferred": ["z"]}, DataError, "no column 'z' in the table"),
        ({"forbidden": ["x0", "x1"]}, DataError, "every column is forbidden"),
        ({"forbidden": ["x0"], "preferred": ["x0"]}, ValueError, "forbidden and preferred at once: x0"),
        ({"method": "imm", "max_depth": 2}, ValueError, "'imm' has no max_depth; use 'auto' or 'exkmc' or 'expand'"),
        ({"method": "mmdt", "min_samples_leaf": 2}, ValueError, "'mmdt' has no min_samples_leaf"),
        ({"method": "exkmc", "base": "imm", "max_depth": 2}, ValueError, "use base 'root'"),
        ({"method": "exkmc", "cuts": "interval", "min_samples_leaf": 2}, ValueError, "cuts='threshold' alone"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused(limits, error, message):
    X = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(error, match=message):
        bw.explain(X, np.arange(10) % 2, **limits)


@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame])
def test_a_preferred_column_that_rules_cannot_use_is_named_with_the_reason(frame_of):
    frame = frame_of({"a": [1.0, 2, 8, 9], "m": [0.0, 1, 0, 1], "city": ["1/2/2026"] * 4, "land": list("uuuu")})
    with pytest.raises(
        DataError,
        match=r"rules cannot use: city \(left out, dates that cannot be read for sure \(.*\)\); prefer some of a, m$",
    ):
        bw.explain(frame, [0, 0, 1, 1], preferred=["city"])
    with pytest.raises(DataError, match=r"cannot use: m \(not among the columns of the rules\); prefer some of a$"):
        bw.explain(frame, [0, 0, 1, 1], preferred=["m"], columns=["a"])
    with pytest.raises(DataError, match="no column 'town' in the table"):
        bw.explain(frame, [0, 0, 1, 1], preferred=["town"])
    assert bw.explain(frame, [0, 0, 1, 1], forbidden=["city"]).columns == ("a", "m")


def test_limits_do_not_go_with_a_tree_that_is_there():
    X = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(ValueError, match="brings its own tree, so max_depth has no effect"):
        bw.explain(X, bw.CART(n_clusters=2).fit(X), max_depth=2)


def test_a_depth_with_room_for_too_few_leaves_is_told():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(8), 20)
    X = rng.normal(size=(160, 3)) + 8 * rng.normal(size=(8, 3))[labels]
    ex = bw.explain(X, labels, max_depth=2)
    assert ex.n_leaves == 4
    assert ex.tree.depth == 2
    assert "there is room for only 4 leaves, fewer than the 8 clusters (max_depth=2)" in ex.notes
    assert not any("more leaves may help" in note for note in ex.notes)


def test_facts_are_in_the_json():
    X = np.random.default_rng(0).normal(size=(40, 2))
    ex = bw.explain(X, (X[:, 0] > 0).astype(int), columns=["a", "b"], max_depth=3, forbidden=["b"], round_thresholds=2)
    facts = json.loads(ex.to_json())["limits"]
    assert facts == {
        "max_depth": 3,
        "min_samples_leaf": None,
        "max_columns": None,
        "round_thresholds": 2,
        "forbidden": ["b"],
        "preferred": [],
        "n_moved": ex.limits.n_moved,
    }


# ----------------------------------------------------------------------------------------------------- random cuts


@law(12)
def test_a_guarantee_of_random_cuts_that_is_told_is_kept(seed):
    rng = np.random.default_rng(seed)
    k, objective = int(rng.integers(2, 4)), str(rng.choice(["l1", "l2", "sqeuclidean"]))
    labels = np.arange(24) % k
    X = rng.normal(size=(24, 3)) + rng.normal(size=(k, 3))[labels] * [1, 1, 500]
    limits = make_limits(rng, ["x0", "x1", "x2"], 24)
    kept = {name: limits[name] for name in limits if name not in ("max_depth", "min_samples_leaf")}
    ex = bw.explain(X, labels, method="random_cuts", objective=objective, n_trees=20, random_state=0, **kept)
    is_limited = bool(kept.get("forbidden")) or kept.get("max_columns", 3) < 3
    assert (ex.details.draws.bound is None) == is_limited
    assert ("Guaranteed" in ex.to_text()) != is_limited
    assert read_model(ex.to_json()).details.draws == ex.details.draws
    if not is_limited:
        centers = with_best_centers(Task.of(X, Reference.of(X, labels)), objective).centers
        expected = sum(naive.expected_cost(row, centers, objective) for row in X)
        clusters = sum(naive.expected_cost(row, centers[[c]], objective) for row, c in zip(X, labels, strict=True))
        assert expected / clusters <= ex.details.draws.bound


def test_random_cuts_that_lack_a_column_may_cost_more_than_the_bound():
    X = np.repeat([[0.0, 0], [0.5, 0], [1, 1000], [0.5, 1000]], [6, 5, 6, 5], axis=0)
    labels, ways = np.repeat([0, 1], 11), {"method": "random_cuts", "objective": "l1", "random_state": 0}
    bound = bw.explain(X, labels, **ways).details.draws.bound
    ex = bw.explain(X, labels, forbidden=["x1"], **ways)
    assert ex.details.draws.mean > 100 * bound
    assert "There is no guarantee, as not every column may be tested." in ex.to_text()


@pytest.mark.crossed
@pytest.mark.parametrize("method", ["auto", "cart", "exkmc", "expand"])
@pytest.mark.parametrize("limit", [{"forbidden": ["x1"]}, {"max_columns": 1}, {"max_depth": 1}])
def test_a_tree_that_stopped_says_that_this_was_within_the_limits(method, limit):
    corners = np.repeat([[0.0, 0], [0, 1], [1, 0], [1, 1]], 5, axis=0)  # all four leaves would gain
    ex = bw.explain(corners, np.repeat(range(4), 5), method=method, max_leaf_nodes=4, **limit)
    assert ex.n_leaves == 2
    assert any(note.startswith("the tree has 2 leaves instead of 4: within the limits no ") for note in ex.notes)


@law(12)
def test_rows_of_weight_zero_count_as_if_they_were_not_there(seed):
    rng = np.random.default_rng(seed)
    X, labels, weights = rng.normal(size=(40, 2)), rng.integers(0, 3, size=40), rng.integers(0, 3, size=40) * 1.0
    labels[:3], weights[:3] = range(3), 1.0
    counts, how = weights > 0, {"min_samples_leaf": 4, "method": ("auto", "cart")[seed % 2]}
    ex = bw.explain(X, labels, sample_weight=weights, **how)
    of_rest = bw.explain(X[counts], labels[counts], sample_weight=weights[counts], **how)
    assert ex.tree == of_rest.tree
    assert ex.n_rows - ex.n_left_out == of_rest.n_rows == counts.sum()
    assert f"clusters of {counts.sum()} rows ({40 - counts.sum()} row" in str(ex)
    assert np.bincount(ex.tree.apply(X[counts])).min() >= 4


def test_weights_that_are_too_far_apart_are_refused_everywhere(tmp_path):
    frame = pd.DataFrame({"a": range(8), "y": [0, 1] * 4, "w": [1e-160, 1e160] * 4})
    frame.to_csv(tmp_path / "far.csv", index=False)
    X, labels, weights = frame[["a"]], frame["y"].to_numpy(), frame["w"].to_numpy()
    calls = (
        lambda: bw.explain(frame, "y", sample_weight="w"),
        lambda: bw.explain(bw.scan(tmp_path / "far.csv"), "y", sample_weight="w"),
        lambda: bw.CART().fit(X, labels, sample_weight=weights),
        lambda: bw.metrics.partition_cost(X, labels, sample_weight=weights),
        lambda: bw.grow.optimal(X, bw.Reference.of(X, labels), max_leaf_nodes=2, sample_weight=weights),
    )
    for call in calls:
        with pytest.raises(DataError, match=r"weights are from 1e-160 to 1e\+160, too far apart"):
            call()
    assert bw.explain(X, labels, sample_weight=np.where(labels, 1e-14, 1e14)).n_rows == 8
