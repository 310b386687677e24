"""IMM: equal to its twin on every input, one centre in each leaf, and the paper's inequality."""

import numpy as np
import pytest
from scipy.stats import binomtest

from boxwood import Reference
from boxwood.errors import DataError
from boxwood.grow import greedy, imm
from boxwood.grow.centers.imm import CenterBins
from boxwood.tree import ThresholdTree, rows_at_nodes
from tests import naive
from tests.cases import make_case
from tests.scale import each, law, seeds, share


def reference_or_none(X, labels, weights):
    """Return the reference of a case, or None where two clusters have equal centres."""
    reference = Reference.of(X, labels, sample_weight=weights)
    equal = reference.first_of_equal_centers() != np.arange(reference.n_clusters)
    return None if equal.any() else reference


def separable(n_seeds, **sizes):
    """Yield the seeds whose clusters have unequal centres, so that IMM takes them."""
    for seed in seeds(n_seeds):
        case = make_case(seed, **sizes)
        if reference_or_none(case.X, case.labels, None) is not None:
            yield seed


@pytest.mark.parametrize("candidates", ["all", "midpoints"])
def test_equals_the_twin(candidates):
    compared = 0
    for seed in seeds(150):
        X, labels, weights = make_case(seed)
        reference = reference_or_none(X, labels, weights)
        if reference is not None:
            twin = naive.imm(X, labels, reference.centers, weights, candidates)
            tree = imm(X, reference, candidates=candidates, sample_weight=weights)
            assert tree == ThresholdTree.from_dict(twin), f"seed {seed}"
            compared += 1
    assert compared > share(90)


@pytest.mark.parametrize("tie_break", ["margin", "balanced", "random"])
def test_ties_equal_the_twin(tie_break):
    changed = 0
    for seed in seeds(90):
        X, labels, weights = make_case(seed, max_rows=25)
        reference, candidates = reference_or_none(X, labels, weights), ("all", "midpoints")[seed % 2]
        if reference is not None:
            options = {"candidates": candidates, "tie_break": tie_break}
            twin = naive.imm(X, labels, reference.centers, weights, **options, random=np.random.default_rng(seed))
            options |= {"sample_weight": weights, "random_state": seed}
            tree = imm(X, reference, **options, n_jobs=1)
            assert tree == ThresholdTree.from_dict(twin), f"seed {seed}"
            assert imm(X, reference, **options, n_jobs=3) == tree
            changed += tree != imm(X, reference, candidates=candidates, sample_weight=weights)
    assert changed > share(10)


@pytest.mark.parametrize("tie_break", ["margin", "balanced", "random"])
def test_ties_of_many_rows_equal_the_twin(tie_break):
    """Whole numbers make many ties, and mistakes that stray into other nodes; so many rows share a bin."""
    for seed in seeds(6):
        rng = np.random.default_rng(seed)
        labels = np.arange(300) % 5
        X = np.round((3 * rng.normal(size=(5, 2)))[labels] + rng.normal(size=(300, 2)), 1)
        reference = Reference.of(X, labels)
        twin = naive.imm(X, labels, reference.centers, None, "all", tie_break, np.random.default_rng(seed))
        assert imm(X, reference, tie_break=tie_break, random_state=seed) == ThresholdTree.from_dict(twin)


def test_what_each_rule_for_ties_takes():
    # both columns part the clusters without a mistake, the second one by the wider gap for its range
    X = np.array([[0.0, 0.0], [1.0, 0.1], [5.0, 0.0], [9.0, 1.0], [9.2, 1.0], [9.4, 1.0]])
    reference = Reference([0, 0, 0, 1, 1, 1], [[1.0, 0.0], [9.2, 1.0]])
    trees = {rule: imm(X, reference, tie_break=rule) for rule in ("first", "margin")}
    assert {rule: (tree.feature[0], tree.upper[0]) for rule, tree in trees.items()} == {
        "first": (0, 7.0),
        "margin": (1, 0.55),
    }
    drawn = [imm(X, reference, tie_break="random", random_state=seed).feature[0] for seed in range(200)]
    assert binomtest(int(np.sum(drawn)), 200).pvalue > 0.001
    # one mistake behind 1, with 2 and 5 rows on the sides, and one behind 6, with 4 and 3 rows
    X = np.array([[0.0], [1.0], [6.0], [5.0], [9.0], [9.2], [9.4]])
    reference = Reference([0, 0, 0, 1, 1, 1, 1], [[0.5], [9.2]])
    rules = "first", "margin", "balanced"
    assert [imm(X, reference, tie_break=rule).upper[0] for rule in rules] == [3.0, 3.0, 7.5]
    assert [greedy(X, reference, tie_break=rule).upper[0] for rule in rules] == [3.0, 3.0, 3.0]  # no tie of costs


@pytest.mark.full
@law(2)
def test_equals_the_twin_with_many_clusters(seed):
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(20, 60)), int(rng.integers(1, 4))
    labels = np.concatenate([np.arange(k), rng.integers(k, size=150)])
    X = rng.normal(size=(k, d))[labels] * 5 + rng.normal(size=(len(labels), d))
    reference = Reference.of(X, labels)
    assert imm(X, reference) == ThresholdTree.from_dict(naive.imm(X, labels, reference.centers))


@law(2)
def test_equals_the_twin_where_bins_must_be_made_anew(seed):
    """Clusters of clusters: seen from afar, all rows of a node lie in one bin."""
    rng = np.random.default_rng(seed)
    labels = np.arange(240) % 12
    far, near = 10.0 ** rng.integers(1, 6) * (np.arange(12) // 4), np.arange(12) % 4
    X = (far + near)[labels][:, None] + 0.6 * rng.normal(size=(240, 2))
    reference = Reference.of(X, labels)
    assert imm(X, reference) == ThresholdTree.from_dict(naive.imm(X, labels, reference.centers))


def test_one_row_per_cluster():
    X = np.random.default_rng(0).normal(size=(200, 3))
    tree = imm(X, Reference.of(X, np.arange(200)))
    assert tree.n_leaves == 200
    assert tree.predict(X).tolist() == list(range(200))


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e300, 1.7e308])
def test_scale_does_not_matter(scale):
    rng = np.random.default_rng(0)
    X, labels = rng.uniform(-1, 1, size=(60, 2)), np.arange(60) % 4
    X[:, 0] += 1e-3 * labels
    X /= np.abs(X).max()
    tree = imm(X * scale, Reference.of(X * scale, labels))
    assert tree.apply(X * scale).tolist() == imm(X, Reference.of(X, labels)).apply(X).tolist()


def test_clusters_without_rows_get_their_leaf():
    X = np.array([[0.0], [1.0], [10.0]])
    tree = imm(X, Reference([0, 0, 3], [[0.5], [4.0], [6.0], [10.0]]))
    assert tree.leaf_clusters.tolist() == [0, 1, 2, 3]
    assert tree.to_dict()["threshold"] == 2.5  # midway between the row at 1 and the centre at 4


def test_a_node_that_has_lost_all_its_rows_is_still_split():
    # the rows of clusters 1 and 2 lie with centre 0, so the first cut leaves nothing on its right
    X = np.array([[0.0, 0.0], [0.1, 0.0], [0.2, 0.0]])
    tree = imm(X, Reference([0, 1, 2], [[0.0, 0.0], [9.0, 1.0], [9.0, 5.0]]))
    assert sorted(tree.leaf_clusters.tolist()) == [0, 1, 2]


def test_rows_left_out_do_not_matter():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(100, 2)), rng.integers(-1, 3, size=100)
    kept = labels >= 0
    whole, part = Reference.of(X, labels), Reference.of(X[kept], labels[kept])
    assert imm(X, whole) == imm(X[kept], part)
    assert imm(X, whole, sample_weight=kept.astype(float)) == imm(X[kept], part)


def test_laws():
    for seed in separable(70, max_rows=60):
        X, labels, _ = make_case(seed, max_rows=60)
        rng = np.random.default_rng(seed)
        reference = Reference.of(X, labels)
        tree = imm(X, reference)
        # one centre in each leaf, and in its own
        assert tree.predict(reference.centers).tolist() == list(range(reference.n_clusters))
        assert tree.n_leaves == reference.n_clusters
        # the order of rows does not matter
        order = rng.permutation(len(X))
        assert imm(X[order], Reference(labels[order], reference.centers)) == tree
        # a whole weight is a repeated row
        repeats = rng.integers(1, 4, size=len(X))
        repeated = np.repeat(np.arange(len(X)), repeats)
        heavy = imm(X, reference, sample_weight=repeats)
        assert heavy == imm(X[repeated], Reference(labels[repeated], reference.centers))
        # neither do memory layout and threads
        assert imm(np.asfortranarray(X), reference, n_jobs=1) == tree


@pytest.mark.full  # loops are compiled for float32
def test_rows_of_float32_give_the_tree_of_the_same_doubles():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=300)
    X = ((3 * rng.normal(size=(4, 3)))[labels] + rng.normal(size=(300, 3))).astype(np.float32)
    trees = [imm(rows, Reference.of(rows, labels)) for rows in (X, X.astype(np.float64))]
    assert trees[0] == trees[1]


def test_threads_and_blocks_do_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=1500)
    X = (4 * rng.normal(size=(6, 3)))[labels] + rng.normal(size=(1500, 3))
    reference, weights = Reference.of(X, labels), rng.random(1500)
    trees = [imm(X, reference, sample_weight=weights, n_jobs=n_jobs) for n_jobs in (1, 2, 5)]
    for block in (1, 7, 1000):
        monkeypatch.setattr("boxwood.grow.centers.imm.BLOCK_ROWS", block)
        trees.append(imm(X, reference, sample_weight=weights))
    assert all(tree == trees[0] for tree in trees)


def test_mistakes_and_the_cost_of_the_tree_obey_the_paper():
    """Inequality of the proof of Theorem 3 at each node, and the bound (2 + 8 k H) that follows from it."""
    for seed in separable(120, max_rows=60):
        X, labels, _ = make_case(seed, max_rows=60)
        X = X.astype(np.float64)
        reference = Reference.of(X, labels)
        kept = labels >= 0
        tree, centers = imm(X, reference), reference.centers
        squares = np.where(kept[:, None], (X - centers[labels]) ** 2, 0.0)
        for node, rows, inside in rows_at_nodes(tree, X):
            if inside is None:
                continue
            j, threshold = tree.feature[node], tree.upper[node]
            clusters = tree.cluster[node : _end(tree, node)]
            clusters = clusters[clusters >= 0]
            own = rows[np.isin(labels[rows], clusters)]
            mistakes = np.sum((X[own, j] <= threshold) != (centers[labels[own], j] <= threshold))
            width = np.ptp(centers[clusters], axis=0)
            assert np.all(mistakes * width**2 <= 4 * len(clusters) * squares[own].sum(axis=0) * (1 + 1e-9))
        surrogate = np.sum((X[kept] - centers[tree.predict(X[kept])]) ** 2)
        k = reference.n_clusters
        assert surrogate <= (2 + 8 * k * tree.depth) * squares.sum() * (1 + 1e-9)


def _end(tree, node):
    """Return the first node after the subtree of `node`."""
    open_nodes = 1
    while open_nodes:
        open_nodes += 1 if tree.feature[node] >= 0 else -1
        node += 1
    return node


def test_midpoints_make_no_fewer_mistakes_at_the_root():
    for seed in seeds(150):
        X, labels, _ = make_case(seed)
        reference = reference_or_none(X, labels, None)
        if reference is not None:
            lost = []
            for candidates in ("all", "midpoints"):
                tree, kept = imm(X, reference, candidates=candidates), labels >= 0
                j, threshold = tree.feature[0], tree.upper[0]
                centers = reference.centers[labels[kept], j]
                lost.append(np.sum((X[kept, j] <= threshold) != (centers <= threshold)))
            assert lost[0] <= lost[1]


@pytest.mark.parametrize(("low", "high"), [(-1.7e308, 1.7e308), (1.0, 1.0 + 2**-52), (0.0, 5e-324), (-0.0, 1e-310)])
@pytest.mark.parametrize("n_bins", [16, 256])
def test_bins_are_in_order(low, high, n_bins):
    bins = CenterBins.around(np.array([[low], [high]]), n_bins)
    values = np.sort(np.concatenate([np.linspace(-1, 1, 101) * 1.7e308, np.linspace(0.5, 1, 101) * high, [low, high]]))
    codes = bins.codes_of(0, values)
    assert (np.diff(codes.astype(int)) >= 0).all()
    assert (codes[values >= high] == n_bins - 1).all()
    assert (codes[values < high] < n_bins - 1).all()


def test_equal_centers():
    X = np.array([[0.0], [2.0], [1.0], [1.0], [5.0]])
    reference = Reference.of(X, ["a", "a", "b", "b", "c"])
    with pytest.raises(DataError, match="equal centres, which no cut separates: a and b; give them one label"):
        imm(X, reference)
    with pytest.warns(UserWarning, match="merged into the first of them: a and b"):
        tree = imm(X, reference, duplicates="merge")
    assert tree.predict(X).tolist() == [0, 0, 0, 0, 2]


@each(
    "change, error, message",
    [
        ({"candidates": "some"}, ValueError, "candidates must be"),
        ({"duplicates": "drop"}, ValueError, "duplicates must be"),
        ({"tie_break": "last"}, ValueError, "tie_break must be one of 'first', 'margin', 'balanced', 'random'"),
        ({"X": [[0.0, 1.0]] * 3}, DataError, "X has 2 columns, but the reference's centres have 1"),
        ({"X": [[0.0]] * 4}, DataError, "X has 4 rows, but the reference has 3 labels"),
        ({"X": [[0.0], [np.nan], [np.inf]]}, DataError, r"missing values \(NaN\) in 1 of 3 rows: column 0 \(1\)"),
        ({"X": [[0.0], [1.0], [np.inf]]}, DataError, r"infinite values in 1 of 3 rows"),
        ({"X": [["a"], ["b"], ["c"]]}, DataError, "numeric"),
        ({"sample_weight": [1.0, 1.0]}, DataError, "one weight for each of 3 rows"),
        ({"sample_weight": [1.0, 1.0, -1.0]}, DataError, "not negative"),
        ({"sample_weight": [0.0, 0.0, 0.0]}, DataError, "zero for every row"),
        ({"reference": Reference([-1, -1, -1], [[0.5], [5.0]])}, DataError, "every row is left out"),
        ({"n_jobs": 0}, ValueError, "n_jobs=0"),
    ],
)
def test_refused(change, error, message):
    arguments = {"X": [[0.0], [1.0], [5.0]], "reference": Reference([0, 0, 1], [[0.5], [5.0]]), **change}
    with pytest.raises(error, match=message):
        imm(**arguments)


def test_what_one_side_learns_of_a_bin_does_not_hold_for_the_other():
    """Column 0 parts two pairs of clusters; in column 1 a bin is constant for one pair and not for the other."""
    for seed in seeds(20):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(20, 60))
        labels = np.repeat(np.arange(4), m)
        column = np.repeat([0.0, 100.0, 0.0, 100.0], m)
        few = int(rng.integers(1, 4))
        column[:few] = column[m : m + few] = 50.3
        column[2 * m : 3 * m] = rng.choice([0, 50.0, 50.1, 50.2], size=m, p=[0.4, 0.2, 0.2, 0.2])
        column[3 * m :] = rng.choice([100, 50.2, 50.3, 50.4], size=m, p=[0.4, 0.2, 0.2, 0.2])
        X = np.column_stack([np.where(labels < 2, 0.0, 1000.0), column])
        reference = Reference.of(X, labels)
        assert imm(X, reference) == ThresholdTree.from_dict(naive.imm(X, labels, reference.centers))


@law(6)
def test_equals_the_twin_on_larger_tables_with_ties(seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(100, 400)), int(rng.integers(1, 5)), int(rng.integers(2, 8))
    labels = np.arange(n) % k
    X = np.round((2 * rng.normal(size=(k, d)))[labels] + rng.normal(size=(n, d)), int(rng.integers(0, 3)))
    reference = Reference.of(X, labels)
    if len(np.unique(reference.first_of_equal_centers())) == k:
        assert imm(X, reference) == ThresholdTree.from_dict(naive.imm(X, labels, reference.centers))


@pytest.mark.parametrize(
    "weights", [[1, 1, 1e-20, 1, 1], [1e-20] * 5, [1e308] * 5, [1, 2, 3, 4, 1e30], [1e-300, 1, 1, 1, 1]]
)
def test_weights_of_any_size(weights):
    X, labels = np.array([[0.0], [1.0], [5.0], [7.0], [9.0]]), np.array([0, 0, 0, 1, -1])
    reference = Reference(labels, [[0.5], [7.0]])
    twin = naive.imm(X, labels, reference.centers, np.array(weights))
    assert imm(X, reference, sample_weight=weights) == ThresholdTree.from_dict(twin)
