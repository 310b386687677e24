"""Trees that lower an impurity: equal to their twins, and as pure as scikit-learn's, leaf by leaf."""

from decimal import Decimal, localcontext
from functools import cache

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from boxwood import Reference
from boxwood.grow.leaves.impurity import CRITERIA, Labels, grow_by_impurity, grown_to_sizes, whole_weights
from boxwood.grow.shared.costs import PartitionedOrder
from boxwood.loops import impurity
from boxwood.loops.impurity import whole_x_log_x
from boxwood.reference import Task
from boxwood.reference.budget import Budget
from boxwood.tree import ThresholdTree
from tests import naive
from tests.cases import make_case, single
from tests.scale import seeds, share


@pytest.fixture(params=[*CRITERIA, "gini in bins"])
def criterion(request, monkeypatch):
    """Return each criterion, and "gini" again for tables that count as long, whose columns are not sorted."""
    if request.param == "gini in bins":
        monkeypatch.setattr("boxwood.reference.bins.LONG", 0)
        monkeypatch.setattr("boxwood.grow.leaves.impurity._ONE_THREAD", 0)
    return request.param.split()[0]


def task_of(seed, **sizes):
    X, labels, weights = make_case(seed, **sizes)
    return Task.of(X, Reference.of(X, labels, sample_weight=weights), sample_weight=weights)


def twin_of(task, criterion, max_leaf_nodes):
    own = CRITERIA[criterion](task, PartitionedOrder(task), Labels.of(task))
    labels, k, centers = task.reference.labels.tolist(), task.reference.n_clusters, task.reference.centers
    of_weight = cache(lambda x: int(whole_x_log_x(x, x + 1, own.scale)[0]))  # the twin asks for the same ones often
    weights = (whole_weights(task) if task.rows.weights is not None else np.ones(len(task.rows), dtype=int)) * task.kept
    measures = {
        "gini": lambda: naive.by_gini(labels, k, weights),
        "entropy": lambda: naive.by_entropy(labels, k, weights, of_weight),
        "centers": lambda: naive.by_centers(labels, centers.tolist(), weights, own.unit),
        "rows": lambda: naive.by_rows(labels, k, weights, own.table.tolist()),
    }
    X = task.rows.values
    return ThresholdTree.from_dict(naive.grown_by(X, labels, k, measures[criterion](), max_leaf_nodes, weights))


def test_equals_the_twin(criterion):
    n_cuts = 0
    for seed in seeds(40):
        task = task_of(seed, max_rows=25)
        leaves = 1 + seed % 8
        tree = grow_by_impurity(task, criterion, leaves)
        assert tree == twin_of(task, criterion, leaves), f"seed {seed}"
        assert grown_to_sizes(task, criterion, range(1, leaves + 1))[-1] == tree
        n_cuts += tree.n_leaves - 1
    assert n_cuts > share(60)


def random_table(seed):
    """Return many rows without ties, so that no two cuts of a node are equally good."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(60, 300)), int(rng.integers(1, 6)), int(rng.integers(2, 8))
    labels = rng.permutation(np.concatenate([np.arange(k), rng.integers(k, size=n - k)]))
    X = single(rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(k, d))[labels])
    weights = rng.integers(1, 10, size=n).astype(float) if seed % 2 else None
    return X, labels, weights


def impurity_of(X, tree, labels, weights, criterion):
    """Return the impurity of the leaves of either library, times their weight."""
    leaves = tree.apply(X)
    weights = np.ones(len(X)) if weights is None else weights
    sums = np.zeros((leaves.max() + 1, labels.max() + 1))
    np.add.at(sums, (leaves, labels), weights)
    sums = sums[sums.sum(axis=1) > 0]
    shares = sums / sums.sum(axis=1, keepdims=True)
    logarithms = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    each = 1 - (shares**2).sum(axis=1) if criterion == "gini" else -(shares * logarithms).sum(axis=1)
    return float(each @ sums.sum(axis=1))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_leaves_as_pure_as_those_of_scikit_learn_after_every_step(criterion):
    for seed in seeds(12):
        X, labels, weights = random_table(seed)
        task = Task.of(X, Reference.of(X, labels), sample_weight=weights)
        for leaves in range(2, 12):
            theirs = DecisionTreeClassifier(criterion=criterion, max_leaf_nodes=leaves, random_state=0)
            theirs.fit(X, labels, weights)
            ours = grow_by_impurity(task, criterion, leaves)
            expected = impurity_of(X, theirs, labels, weights, criterion)
            assert impurity_of(X, ours, labels, weights, criterion) <= expected + 1e-7 * len(X), f"seed {seed}"


@pytest.mark.parametrize("criterion", ["centers", "rows"])
def test_explains_as_much_as_the_regression_trees_of_scikit_learn(criterion):
    """As long as no leaf is of one cluster alone, which scikit-learn would cut further."""
    for seed in seeds(12):
        X, labels, weights = random_table(seed)
        reference = Reference.of(X, labels)
        task = Task.of(X, reference, sample_weight=weights)
        table = reference.centers[labels] if criterion == "centers" else X.astype(np.float64)
        weight = np.ones(len(X)) if weights is None else weights
        for leaves in range(2, 8):
            theirs = DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(X, table, weights)
            left = []
            for tree in (grow_by_impurity(task, criterion, leaves), theirs):
                at = tree.apply(X)
                rows_of = [at == leaf for leaf in np.unique(at)]
                means = [np.average(table[rows], axis=0, weights=weight[rows]) for rows in rows_of]
                within = [weight[r] @ ((table[r] - m) ** 2).sum(axis=1) for r, m in zip(rows_of, means, strict=True)]
                left.append(sum(within))
            pure = any(len(set(labels[rows])) == 1 for rows in rows_of)
            assert pure or left[0] <= left[1] * (1 + 1e-6), f"seed {seed}, {leaves} leaves"


def test_order_of_rows_threads_and_layout_change_nothing(criterion, monkeypatch):
    monkeypatch.setattr("boxwood.grow.shared.costs.ONE_THREAD", 0)
    for seed in seeds(20):
        task = task_of(seed)
        tree = grow_by_impurity(task, criterion, 6)
        shuffled = task.of_rows(np.random.default_rng(seed).permutation(len(task.rows)))
        assert grow_by_impurity(shuffled, criterion, 6) == tree, f"seed {seed}"
        X, weights = np.asfortranarray(task.rows.values), task.rows.weights
        again = Task.of(X, task.reference, sample_weight=weights, n_jobs=1)
        assert grow_by_impurity(again, criterion, 6) == tree


def test_whole_weights_are_repeated_rows(criterion):
    for seed in seeds(20):
        X, labels, _ = make_case(seed)
        weights = np.random.default_rng(seed).integers(0, 4, size=len(X))
        weights[0], labels[0] = 1, 0
        reference = Reference.of(X, labels)
        rows = np.repeat(np.arange(len(X)), weights)
        weighted = Task.of(X, reference, sample_weight=weights)
        assert grow_by_impurity(weighted, criterion, 5) == grow_by_impurity(
            Task.of(X[rows], reference.of_rows(rows)), criterion, 5
        )


def test_other_weights_count_by_their_share(criterion):
    for seed in seeds(20):
        task = task_of(seed)
        weights = np.random.default_rng(seed).random(len(task.rows)) + 0.01
        tasks = [
            Task.of(task.rows.values, task.reference, sample_weight=weights * f) for f in (1.0, 2.0**-900, 2.0**40)
        ]
        trees = [grow_by_impurity(each, criterion, 5) for each in tasks]
        assert trees[0] == trees[1] == trees[2], seed


def test_weights_from_one_to_a_billion_keep_every_row():
    X = np.arange(6.0)[:, None]
    reference = Reference.of(X, [0, 1, 0, 1, 0, 1])
    task = Task.of(X, reference, sample_weight=[1e-9, 1e9, 1e-9, 1e9, 1e-9, 1e9])
    assert grow_by_impurity(task, "gini", 6).predict(X).tolist() == [0, 1, 0, 1, 0, 1]


def test_an_impure_leaf_is_cut_where_no_cut_gains():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    task = Task.of(X, Reference([0, 0, 1, 1], [[0.0, 0.0], [5.0, 5.0]]))
    for criterion in ("gini", "entropy", "centers"):
        tree = grow_by_impurity(task, criterion, 9)
        assert tree.predict(X).tolist() == [0, 0, 1, 1]
        assert tree.n_leaves == 4
        assert (tree.feature[0], tree.upper[0]) == (0, 0.5)


def test_leaves_of_one_cluster_and_of_equal_rows_stay():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [3.0]])
    task = Task.of(X, Reference.of(X, [0, 0, 0, 2, 1]))
    for criterion in CRITERIA:
        tree = grow_by_impurity(task, criterion, 9)
        assert tree.predict(X).tolist() == [0, 0, 0, 1, 1]  # the lowest of equally common clusters
        assert tree.n_leaves == (3 if criterion == "rows" else 2)  # the squares of the rows are cut at 1.5 first
    assert grow_by_impurity(task, "gini", 1).to_dict() == {"leaf": 0, "cluster": 0}


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e12, 1.7e308])
def test_columns_of_any_size(size):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(60, 2))
    labels = (X[:, 0] > 0.1) + 2 * (X[:, 1] > -0.3)
    same = Task.of(X, Reference.of(X, labels))
    large = np.ldexp(X, np.frexp(size)[1] - 1)
    task = Task.of(large, Reference.of(large, labels))
    for criterion in CRITERIA:
        tree = grow_by_impurity(task, criterion, 6)
        assert np.array_equal(tree.predict(task.rows.values), grow_by_impurity(same, criterion, 6).predict(X)), (
            criterion
        )


def test_logarithms_are_right_to_their_last_digits():
    with localcontext(prec=50):
        for x in [2, 3, 7, 1000, 1448, 1449, 2**20 - 1, 2**31 - 1, 2**31 + 5]:
            exact = Decimal(x) * Decimal(x).ln() / Decimal(2).ln()
            assert (
                abs(int(whole_x_log_x(x, x + 1, 2.0**20)[0]) - exact * 2**20) <= 1 + exact * 2**20 * Decimal(2) ** -51
            )
    assert whole_x_log_x(0, 5, 1.0).tolist() == [0, 0, 2, 5, 8]


def large_task(seed):
    """Return many rows, with ties in some columns, up to 300 clusters, weights, rows left out and limits."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(500, 4000)), int(rng.integers(1, 8)), int(rng.choice([2, 5, 20, 300]))
    labels = rng.integers(-1 if seed % 3 == 0 else 0, k, size=n)
    labels[:k] = np.arange(k)
    X = rng.normal(size=(n, d)) + (2.0 ** rng.integers(-4, 3)) * rng.normal(size=(k, d))[labels]
    X = np.where(rng.random(d) < 0.4, np.round(X * 4) / 4, X)
    weights = [None, rng.integers(0, 5, size=n) + 1.0, rng.random(n)][int(rng.integers(3))]
    least = int(rng.choice([1, 1, 7, 100]))
    budget = Budget(min_samples_leaf=least, forbidden=(0,) if d > 2 and seed % 4 == 0 else ())
    return Task.of(X, Reference.of(X, labels), sample_weight=weights, budget=budget)


def test_bins_find_the_cuts_that_sorted_columns_do(monkeypatch):
    n_cuts = 0
    for seed in seeds(25):
        task = large_task(seed)
        assert not task.is_long
        trees = grown_to_sizes(task, "gini", [5, 40])
        monkeypatch.setattr("boxwood.reference.bins.LONG", 0)
        assert grown_to_sizes(large_task(seed), "gini", [5, 40]) == trees, f"seed {seed}"
        monkeypatch.undo()
        n_cuts += trees[1].n_leaves
    assert n_cuts > 200


def test_few_rows_are_walked_in_bins(monkeypatch):
    monkeypatch.setattr("boxwood.reference.bins.LONG", 0)
    walked, loop = [], impurity.best_in_bins
    monkeypatch.setattr(impurity, "best_in_bins", lambda rows, *rest: walked.append(len(rows)) or loop(rows, *rest))
    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=20_000)
    X = rng.normal(size=(20_000, 10)) + 2 * rng.normal(size=(5, 10))[labels]
    grow_by_impurity(Task.of(X, Reference.of(X, labels)), "gini", 2)
    assert 0 < sum(walked) < 0.02 * X.size


def test_an_unknown_criterion_is_refused():
    with pytest.raises(ValueError, match="criterion must be one of 'gini', 'entropy', 'centers', 'rows'"):
        grow_by_impurity(task_of(0), "cost", 3)
