"""Arguments of a wrong kind are refused by a message that says what was expected and how to get it."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import boxwood as bw
from boxwood import axes, concepts, grow, kernels, metrics, table
from boxwood.errors import DataError
from boxwood.table.memory import file_in_memory
from boxwood.theory import bounds, instances
from tests.scale import each

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.arange(60) % 3
REFERENCE = bw.Reference.of(X, Y)
TREE = grow.imm(X, REFERENCE)
MIXTURE = bw.Mixture.of(X, Y)


@each(
    "call",
    [
        lambda: grow.imm(X, Y),
        lambda: grow.greedy(X, Y),
        lambda: grow.shallow(X, Y),
        lambda: grow.expand(TREE, X, Y, max_leaf_nodes=5),
        lambda: grow.refine(TREE, X, Y),
        lambda: grow.kernel_imm(X, Y, kernel="gaussian"),
        lambda: grow.kernel_mmdt(X, Y, kernel="gaussian"),
        lambda: metrics.price_of_explainability(X, TREE, Y),
        lambda: metrics.node_table(X, TREE, Y),
        lambda: bounds.distance_ratios(X, Y, kernel="laplace"),
    ],
)
def test_labels_are_no_reference(call):
    with pytest.raises(TypeError, match=r"must be a Reference, got ndarray; make one: boxwood.Reference.of\(X, labels"):
        call()


@each(
    "call",
    [
        lambda: grow.expand("tree", X, REFERENCE, max_leaf_nodes=5),
        lambda: grow.refine(None, X, REFERENCE),
        lambda: metrics.cost(X, None),
        lambda: metrics.price_of_explainability(X, None, REFERENCE),
        lambda: metrics.error_rate(MIXTURE, None),
        lambda: bw.TreeBuilder.from_tree("tree"),
    ],
)
def test_what_is_no_tree(call):
    with pytest.raises(TypeError, match=r"tree must be a ThresholdTree, got (str|NoneType); a fitted explainer has"):
        call()


@each(
    "call",
    [
        lambda: grow.mmdt(None),
        lambda: grow.mmdt(X),
        lambda: metrics.explainability_to_noise(X),
        lambda: metrics.signal_to_noise(None),
        lambda: metrics.error_rate(X, TREE),
        lambda: metrics.mixture_price(X, TREE),
        lambda: bounds.l2_price_bound(X),
        lambda: bounds.mixture_beta(X),
        lambda: concepts.project(X, np.eye(3)),
        lambda: concepts.unseparated_pairs(X),
        lambda: concepts.choose_concepts(X, 2),
    ],
)
def test_what_is_no_mixture(call):
    with pytest.raises(TypeError, match=r"mixture must be a Mixture, got \w+; make one: boxwood.Mixture.of"):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ex: bw.explain("t.csv", n_clusters=3), "X must be rows, got the text 't.csv'; boxwood.scan reads"),
        (lambda ex: bw.explain(Path("t.csv"), n_clusters=3), "X must be rows, got the text 't.csv'"),
        (lambda ex: ex.evaluate("t.csv", Y), "X must be rows, got the text 't.csv'"),
        (lambda ex: ex.predict("t.csv"), "but 't.csv' is a text; to label a file, save the explanation and run"),
        (lambda ex: ex.predict({"a": 1.0}), "no columns 'x0', 'x1' in row 0; its columns are a; a missing"),
        (lambda ex: ex.predict([{"a": 1.0}]), "no columns 'x0', 'x1' in row 0; its columns are a; a missing"),
        (
            lambda ex: bw.explain({"a": [1.0, 2.0]}, n_clusters=2),
            r"data frame, such as pandas\.DataFrame\(X\) or polars",
        ),
        (lambda ex: pickle.loads(pickle.dumps(ex)).misassigned(), "a model file or a pickle holds no rows"),
        (
            lambda ex: pickle.loads(pickle.dumps(ex)).stability(),
            "a model file or a pickle holds no rows, and this was not",
        ),
        (lambda ex: ex.rename({"cluster 9": "a"}), "names for labels that do not exist: cluster 9"),
        (lambda ex: ex.rename({"cluster 0": "a", 0: "b"}), "got two for one of them: cluster 0, 0"),
    ],
)
def test_what_is_no_table(call, message):
    with pytest.raises(DataError, match=message):
        call(bw.explain(X, Y))


def test_a_printed_name_may_be_renamed():
    ex = bw.explain(X, Y)
    assert ex.rename({"cluster 0": "a"}).names == ("a", *ex.names[1:])
    assert bw.explain(X, Y, names={"cluster 0": "a"}).names == ("a", *ex.names[1:])


def test_a_file_that_cannot_be_written_is_told_with_its_folder(tmp_path):
    ex = bw.explain(X, Y)
    with pytest.raises(FileNotFoundError, match=r"^cannot write '.*nodir/x.json': there is no folder '.*nodir'$"):
        ex.save(tmp_path / "nodir" / "x.json")
    with pytest.raises(IsADirectoryError, match=r"^cannot write '.*': it is a folder$"):
        ex.save(tmp_path)
    assert not list(tmp_path.iterdir())


@each(
    "call, message",
    [
        (lambda: grow.imm(np.ma.masked_greater(X, 1), REFERENCE), "masked array with masked values"),
        (lambda: metrics.cost([[10**400]], TREE), "X must be numeric, got object: int too large"),
        (lambda: metrics.cost(X, TREE, sample_weight=10**400), "sample_weight must be numeric: int too large"),
        (lambda: metrics.cost(X, TREE, sample_weight=X[:, 0] * 1j), "sample_weight must be numeric, got complex"),
        (lambda: concepts.project(MIXTURE, np.eye(3) * 1j), "vectors must be numeric, got complex"),
        (lambda: bw.explain(X, Y, sample_weight=np.full(60, 1e308)), "adds up to more than the largest float"),
        (lambda: bw.explain(X, n_clusters=3, sample_weight=np.full(60, 1e308)), "more than the largest float"),
    ],
)
def test_rows_and_weights_that_cannot_be_used(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_more_leaves_than_rows_ask_for_no_memory():
    all_leaves = grow.cart(X, Y, max_leaf_nodes=60)
    assert grow.cart(X, Y, max_leaf_nodes=10**9) == all_leaves
    assert bw.CART(max_leaf_nodes=10**9).fit(X, Y).n_leaves_ == all_leaves.n_leaves
    assert bw.explain(X, Y, max_leaf_nodes=10**9).agreement == 1


def test_huge_weights_and_tiny_distances_keep_their_meaning():
    weights = np.random.default_rng(1).random(60)
    plain = metrics.agreement(Y, Y[::-1] % 2, sample_weight=weights)
    for factor in (1e100, 1e200, 1e305):
        scaled = metrics.agreement(Y, Y[::-1] % 2, sample_weight=weights * factor)
        assert scaled == pytest.approx(plain)
    rows = np.array([[0.0, 0], [1, 0], [0, 1]])
    one = metrics.partition_cost(rows, [0, 0, 0], objective="l2")
    assert one == pytest.approx((np.sqrt(2) + np.sqrt(6)) / 2, rel=1e-6)  # from the Fermat point of the triangle
    for unit in (1e-160, 1e-300, 1e160, 1e300):
        assert metrics.partition_cost(rows * unit, [0, 0, 0], objective="l2") == pytest.approx(one * unit, rel=1e-6)
    tiny = metrics.partition_cost(rows * 1e-310, [0, 0, 0], objective="l2")
    assert tiny == pytest.approx(one * 1e-310, rel=1e-3)
    assert metrics.partition_cost(rows * 1e-300, [0, 0, 0], objective="l2", centers=[[1e-300, 0]]) == pytest.approx(
        (1 + np.sqrt(2)) * 1e-300
    )


@each("value", [["l1"], {"l1"}, X, np.array(["l1"]), "x" * 10_000, b"l1", None, np.nan])
def test_what_is_no_listed_word_is_refused_in_one_short_line(value):
    with pytest.raises(ValueError, match="objective must be one of 'l1'") as refused:
        metrics.partition_cost(X, Y, objective=value)
    assert len(str(refused.value)) < 300
    assert "\n" not in str(refused.value)


SIMILARITY = metrics.axis_similarity(MIXTURE, kernel=kernels.Gaussian(0.5))
SCALING = axes.Scaling(np.zeros(3), np.ones(3))


@each(
    "call, message",
    [
        (lambda: instances.damages(X, TREE), "instance must be an Instance, got ndarray; make one by"),
        (
            lambda: instances.damages(instances.unit_grid(9, d=2, steps=3, random_state=0), X),
            "tree must be a ThresholdTree",
        ),
        (lambda: TREE.path(1.5), "leaf must be a whole number, got 1.5"),
        (lambda: TREE.relabeled([1.5, 0, 1]), "clusters must be whole numbers"),
        (lambda: TREE.relabeled([np.inf] * 3), "clusters must be whole numbers"),
        (lambda: grow.expand(TREE, X, REFERENCE, max_leaf_nodes=5.5), "max_leaf_nodes must be a whole number, got 5.5"),
        (lambda: grow.expand(TREE, X, REFERENCE, max_leaf_nodes=np.nan), "max_leaf_nodes must be a whole number"),
        (lambda: grow.cart(X, Y, max_leaf_nodes=2.5), "max_leaf_nodes must be a whole number, got 2.5"),
        (lambda: grow.imm(X, REFERENCE, n_jobs=np.nan), "n_jobs must be a whole number or None, got nan"),
        (lambda: bw.Reference(Y, REFERENCE.centers, moments="x"), "moments must be a Moments, got str"),
        (lambda: bw.explain(X, Y, standardize="no"), "standardize must be True, False or 'auto', got 'no'"),
        (lambda: bw.explain(X, k=3), r"explain has no option 'k'; did you mean n_clusters\?"),
        (lambda: bw.explain(X, Y, method="cart", seed=3), r"explain has no option 'seed'; did you mean random_state\?"),
        (lambda: bw.explain(X, Y, max_leaf=3), r"explain has no option 'max_leaf'; did you mean max_leaf_nodes\?"),
        (lambda: bw.explain(X, standardise=True), r"did you mean standardize\?"),
        (lambda: bw.explain(X, Y, bogus=1), "explain has no option 'bogus'$"),
        (lambda: bw.explain(X, n_clusters="3"), "n_clusters must be a whole number, got '3'"),
        (lambda: bw.explain(X, Y, max_leaves=4), "no option 'max_leaves'; did you mean max_leaf_nodes"),
        (lambda: bounds.smallest_bound(3), "bounds must be a Bound, got int"),
        (lambda: bounds.imm_price_bound(3, certificate=X), "certificate must be a MistakeCertificate, got ndarray"),
        (lambda: bounds.kernel_price_bound(X, [1.0] * 3), "similarity must be an AxisSimilarity, got ndarray"),
        (lambda: bounds.kernel_price_bound(SIMILARITY, [0.5] * 3, cuts=[3]), "cuts must be a PrototypeCut, got int"),
        (lambda: bounds.estimated_error_bound(MIXTURE, "x"), "delta must be a number, got 'x'"),
        (lambda: bw.Mixture.of_moments(X), "moments must be a Moments, got ndarray"),
        (lambda: bw.Mixture.of_reference(X, Y), "reference must be a Reference, got ndarray"),
        (lambda: TREE.pull_back(X), "axis_map must be an AxisMap, such as boxwood.axes.Scaling; got ndarray"),
        (lambda: SCALING.pull_back(1.5, 0.0, 1.0), "column must be a whole number, got 1.5"),
        (lambda: SCALING.pull_back(0, "a", 1.0), "lower must be a number, got 'a'"),
        (lambda: concepts.stack_concepts([X]), "sets must be a Mapping, got list"),
        (lambda: concepts.concept_text(bw.MMDT(), report=X), "report must be a ConceptReport, got ndarray"),
        (lambda: concepts.ConceptProjector.from_vectors(np.eye(3), meanings=3), "meanings must be a Mapping, got int"),
        (lambda: metrics.readability(X, X), "tree must be a ThresholdTree, got ndarray"),
        (lambda: metrics.error_rate(MIXTURE, TREE, n_samples=np.nan), "n_samples must be a whole number, got nan"),
        (lambda: table.output_format(X), r"a path must be text or a pathlib.Path, got an array of shape \(60, 3\)"),
        (lambda: table.refuse_absent(-1), "a path must be text or a pathlib.Path, got -1"),
        (lambda: grow.imm(X, REFERENCE, n_jobs=X), r"whole number or None, got an array of shape \(60, 3\)$"),
        (lambda: instances.unit_grid(5, random_state="a"), "random_state must be .*; got 'a'"),
        (lambda: TREE.test(-np.inf), "node must be a whole number, got -inf"),
        (lambda: TREE.path(-np.inf), "leaf must be a whole number, got -inf"),
        (lambda: bw.Tally.of(X, Y).rules(X), "tree must be a ThresholdTree, got ndarray"),
        (lambda: file_in_memory("x.csv", 1.5), "options must be a ReadOptions, got float"),
    ],
)
def test_what_is_of_no_kind_that_can_be_used(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@each(
    "call, message",
    [
        (lambda: bounds.tau_bound(0.5, 0.5, 0), "n_axes must be at least 1, got 0"),
        (lambda: bounds.chebyshev_minimum_bound(1, 1.0, 1.0), "k must be at least 2, got 1"),
        (lambda: bounds.distance_price_bound(3, 10**400, stretch=1.0, shrink=1.0), r"n_axes must be below 2\*\*300"),
        (lambda: instances.linear_error(3, 1e308), "too rare for a double"),
        (lambda: instances.split_middle(5e-324), "e must be at least 1e-150"),
        (lambda: instances.first_cut(3, 1e308), "first_cut needs a q from 1e-300 to 1e"),
        (lambda: MIXTURE.part([0, 7]), "components must be whole numbers from 0 to 2; got"),
        (lambda: MIXTURE.with_clusters([0.5, 1, 2]), "clusters must be whole numbers"),
        (lambda: REFERENCE.of_rows([70]), "rows must be whole numbers from 0 to 59"),
        (lambda: bw.Reference.from_estimator(bw.IMM(), X, rows=Y), "X must be two-dimensional"),
        (lambda: SCALING.pull_back(3, 0.0, 1.0), "column must be from 0 to 2, got 3"),
        (lambda: axes.TerminalEmbedding(X).transform_centers(X + 1), "centers must be those of the embedding"),
        (lambda: kernels.ChiSquared().axis_kernel(0, 3.0, [1.0]), r"x must be a sequence of numbers, got shape \(\)"),
        (lambda: kernels.Gaussian(0.5).radius(0, X), r"from 0 to 1, got an array of shape \(60, 3\)"),
        (lambda: kernels.Gaussian(0.5).axis_kernel(0, Y * 1j, Y), "x must be numeric, got complex numbers"),
        (lambda: kernels.Polynomial(np.inf), "degree must be a finite number, got inf"),
        (lambda: kernels.ProductKernel(len, len), "a profile returns .* must be a sequence of numbers"),
        (lambda: metrics.tail_check(X, Y, columns=[None]), "columns must be whole numbers from -3 to 2"),
        (lambda: metrics.cost(X, TREE, sample_weight=1e308), "adds up to more than the largest float"),
        (lambda: metrics.readability(X, TREE, sample_weight=1e308), "adds up to more than the largest float"),
        (lambda: bw.CART().fit(X, sample_weight=1e308), "adds up to more than the largest float"),
        (lambda: bw.IMM(n_clusters=3).fit([[10**400], [1]]), "X must be numeric: int too large"),
        (lambda: concepts.ConceptProjector().fit(X * 1e200, {"a": Y == 0}), "too large for their variance"),
        (lambda: file_in_memory("t.csv", table.ReadOptions(format="x")), "format must be one of 'csv'"),
        (lambda: REFERENCE.with_distinct_centers(X), r"duplicates must be .*; got an array of shape \(60, 3\)"),
    ],
)
def test_values_that_cannot_be_used(call, message):
    with pytest.raises(ValueError, match=message) as refused:
        call()
    assert len(str(refused.value)) < 300


def test_a_part_of_a_mixture_keeps_the_order_that_is_asked_for():
    assert MIXTURE.part([2, 1, 0]).names == MIXTURE.names[::-1]
    assert MIXTURE.part([0, 1, 2]) is MIXTURE


def test_places_in_a_tree_are_those_that_it_has():
    for call, name, n in ((TREE.test, "node", TREE.n_nodes), (TREE.path, "leaf", TREE.n_leaves)):
        for place in (n, 2**63, 2**70):
            with pytest.raises(ValueError, match=f"{name} must be from 0 to {n - 1}, got {place}"):
                call(place)
        with pytest.raises(ValueError, match=f"{name} must be at least 0, got -1"):
            call(-1)
    wide = bw.TreeBuilder()
    low, high = wide.split(0, 7, 1.0)
    wide.label(low, 0)
    wide.label(high, 1)
    with pytest.raises(bw.DataError, match="the tree tests column 7, but the tally has 3 columns"):
        bw.Tally.of(X, Y).rules(wide.build())
