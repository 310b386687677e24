"""Concepts: directions recovered, mixtures projected, what examples say of them, and what meaningless ones reach."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import boxwood
from boxwood import CART, IMM, MMDT, ConceptMMDT, Expand, Mixture, ThresholdTree, concepts, grow
from boxwood.concepts import (
    ConceptProjector,
    choose_concepts,
    concept_baseline,
    concept_report,
    concept_text,
    make_concept_tree,
    project,
    stack_concepts,
    unseparated_pairs,
)
from boxwood.concepts import _choose_concepts as choosing
from boxwood.concepts import _significance as significance
from boxwood.concepts._separation import pair_gaps
from boxwood.errors import DataError
from boxwood.metrics import explainability_to_noise
from tests import naive
from tests.cases import make_case

CLASSIFIERS = ("logistic", "svm", "mean-difference")


class Planted:
    """Embeddings in which two concepts are directions: `red` a binary one, `size` a continuous one."""

    def __init__(self, n=400, d=16, *, seed=0, noise=0.1):
        rng = np.random.default_rng(seed)
        basis, _ = np.linalg.qr(rng.normal(size=(d, d)))
        self.red, self.size = basis[0], basis[1]
        self.Z = rng.normal(size=(n, d))
        self.is_red = self.Z @ self.red + noise * rng.normal(size=n) > 0.3
        self.sizes = 50 + 7 * self.Z @ self.size + noise * rng.normal(size=n)
        self.coin = rng.random(n) < 0.5
        self.concepts = {"red": self.is_red, "size": self.sizes, "coin": self.coin}


@pytest.fixture(scope="module")
def planted():
    return Planted()


# ---------------------------------------------------------------------------------------------------- projector


@parametrize_with_checks([ConceptProjector(), ConceptProjector("svm"), ConceptProjector("mean-difference")])
def test_scikit_learn_checks_the_projector(estimator, check):
    check(estimator)


@pytest.mark.parametrize("classifier", [*CLASSIFIERS, RidgeClassifier(), SGDClassifier(alpha=0.01, random_state=0)])
def test_a_planted_direction_is_recovered(planted, classifier):
    found = ConceptProjector(classifier).fit(planted.Z, planted.concepts)
    assert found.vectors_[0] @ planted.red > 0.97
    assert found.vectors_[1] @ planted.size > 0.99
    assert np.linalg.norm(found.vectors_, axis=1) == pytest.approx(1)
    assert found.kinds_ == ("binary", "continuous", "binary")
    scores = found.transform(planted.Z)
    assert ((scores[:, 0] > 0) == planted.is_red).mean() > 0.9
    # 0 is where the mean of the examples is predicted; Z has length-1 spread, so the slope of size is about 7
    assert np.corrcoef(scores[:, 1], planted.sizes)[0, 1] > 0.99
    assert abs(scores[:, 1].mean()) < 1e-8


def test_scores_are_the_distances_of_the_twin():
    compared = 0
    for seed in range(1500):
        case = make_case(seed)
        values = (case.labels == 0).astype(float)
        if not 2 <= values.sum() <= len(values) - 2:
            continue
        Z = case.X.astype(np.float64)
        expected = naive.mean_difference_distances(Z, values)
        if not expected or ((Z.std(axis=0) < 1e-14 * np.abs(Z).max(axis=0)) & (np.ptp(Z, axis=0) > 0)).any():
            continue  # no direction, or one that is rounding
        scores = ConceptProjector("mean-difference").fit(case.X, values).transform(case.X)[:, 0]
        tolerance = 1e-12 * np.abs(Z).max() * Z.shape[1] + 1e-9 * np.abs(expected).max()
        assert scores == pytest.approx(expected, rel=0, abs=tolerance), seed
        compared += 1
    assert compared >= 1000


def test_the_rarer_side_counts_as_much():
    rng = np.random.default_rng(0)
    rare = np.arange(1010) < 10
    Z = rng.normal(size=(1010, 3)) + 1.5 * rare[:, None]
    for classifier in ("logistic", "svm"):
        caught = ConceptProjector(classifier).fit(Z, {"rare": rare}).transform(Z)[rare, 0] > 0
        assert caught.mean() >= 0.8
    plain = ConceptProjector(LogisticRegression()).fit(Z, {"rare": rare}).transform(Z)[rare, 0] > 0
    assert plain.mean() <= 0.5


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_unknown_examples_are_left_out(planted, classifier):
    known = np.arange(len(planted.Z)) % 3 == 0
    some = np.where(known, planted.is_red, np.nan)
    options = {"standardize": False}
    a = ConceptProjector(classifier, **options).fit(planted.Z, {"red": some, "size": planted.sizes})
    b = ConceptProjector(classifier, **options).fit(planted.Z[known], {"red": planted.is_red[known]})
    assert a.vectors_[0] == pytest.approx(b.vectors_[0])
    assert a.intercepts_[0] == pytest.approx(b.intercepts_[0])
    assert a.n_examples_.tolist() == [known.sum(), len(known)]


def test_latents_may_be_scaled_and_shifted(planted):
    """Vectors are folded back to latent coordinates, so scores go along with a column in other units."""
    unit, shift = np.linspace(0.5, 3, 16), np.linspace(-40, 100, 16)
    a = ConceptProjector().fit(planted.Z, planted.concepts)
    b = ConceptProjector().fit(planted.Z * unit + shift, planted.concepts)
    for x, y in zip(a.transform(planted.Z).T, b.transform(planted.Z * unit + shift).T, strict=True):
        assert np.corrcoef(x, y)[0, 1] == pytest.approx(1, abs=1e-6)


def test_a_unit_that_is_silent_in_the_examples_does_not_drown_others(planted):
    rng = np.random.default_rng(1)
    silent = np.column_stack([planted.Z, 1e-6 * rng.normal(size=len(planted.Z))])
    found = ConceptProjector().fit(silent, planted.concepts)
    assert np.abs(found.vectors_[:, -1]).max() < 0.1
    assert found.vectors_[0, :-1] @ planted.red > 0.97


def test_tables_of_every_kind_are_the_same(planted):
    columns = {"red": planted.is_red, "size": planted.sizes}
    signs = {"red": np.where(planted.is_red, 1, -1), "size": planted.sizes}
    tables = [columns, signs, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    tables += [{"red": [bool(x) for x in planted.is_red], "size": planted.sizes.tolist()}]
    first, *others = [ConceptProjector().fit(planted.Z, table) for table in tables]
    for other in others:
        assert other.concept_names_ == ("red", "size")
        assert np.array_equal(first.vectors_, other.vectors_)
        assert np.array_equal(first.intercepts_, other.intercepts_)
    bare = ConceptProjector().fit(planted.Z, np.column_stack(list(columns.values())))
    assert bare.concept_names_ == ("concept0", "concept1")
    assert np.array_equal(first.vectors_, bare.vectors_)
    assert ConceptProjector().fit(planted.Z, planted.is_red).vectors_ == pytest.approx(first.vectors_[:1])
    for series in (pd.Series(planted.is_red, name="red"), pl.Series("red", planted.is_red)):
        single = ConceptProjector().fit(planted.Z, series)
        assert single.concept_names_ == ("red",)
        assert np.array_equal(single.vectors_, first.vectors_[:1])
    assert ConceptProjector().fit(planted.Z, pd.Series(planted.is_red)).concept_names_ == ("concept0",)


def test_vectors_do_not_depend_on_threads(planted):
    a, b = (ConceptProjector(n_jobs=n).fit(planted.Z, planted.concepts) for n in (1, 2))
    assert np.array_equal(a.vectors_, b.vectors_)
    with threadpool_limits(2, user_api="blas"):
        c = pickle.loads(pickle.dumps(clone(a).fit(planted.Z, planted.concepts)))
    assert np.array_equal(a.vectors_, c.vectors_)
    reports = [concept_report(a, planted.Z, planted.concepts, random_state=0, n_jobs=n).to_dict() for n in (1, 2)]
    assert str(reports[0]) == str(reports[1])


def test_missing_marks_of_frames_are_unknown(planted):
    red = [None if i % 2 else bool(x) for i, x in enumerate(planted.is_red)]
    nullable = pd.array(red, dtype="boolean")
    frames = [pd.DataFrame({"red": nullable}), pd.DataFrame({"red": red}), pl.DataFrame({"red": red})]
    for table in (*frames, {"red": red}, {"red": pl.Series(red)}, pd.Series(nullable, name="red")):
        assert ConceptProjector().fit(planted.Z, table).n_examples_.tolist() == [200]


def test_names_come_out(planted):
    frame = pd.DataFrame(planted.Z, columns=[f"latent {j}" for j in range(16)])
    projector = ConceptProjector().fit(frame, planted.concepts).set_output(transform="pandas")
    scores = projector.transform(frame)
    assert list(scores.columns) == list(projector.get_feature_names_out()) == ["red", "size", "coin"]
    assert projector.feature_names_in_[0] == "latent 0"
    assert projector.meanings_ == {
        "red": ("not red", "red"),
        "size": ("less size", "more size"),
        "coin": ("not coin", "coin"),
    }
    assert scores.to_numpy() == pytest.approx(clone(projector).fit(planted.Z, planted.concepts).transform(planted.Z))


def test_scores_of_many_rows_and_of_few(planted, monkeypatch):
    projector = ConceptProjector().fit(planted.Z, planted.concepts)
    whole = projector.transform(planted.Z)
    for module in ("_projector",):
        monkeypatch.setattr(getattr(concepts, module), "BLOCK_ROWS", 37)
    assert projector.transform(planted.Z) == pytest.approx(whole, abs=1e-12)
    narrow = projector.transform(np.asfortranarray(planted.Z.astype(np.float32)))
    assert narrow.dtype == np.float64
    assert narrow == pytest.approx(whole, abs=1e-5)


def test_some_concepts_and_given_vectors(planted):
    projector = ConceptProjector(meanings={"size": ("small", "large")}).fit(planted.Z, planted.concepts)
    for wanted in (["size", "red"], [1, 0]):
        chosen = projector.select(wanted)
        assert chosen.concept_names_ == ("size", "red")
        assert chosen.kinds_ == ("continuous", "binary")
        assert chosen.meanings_["size"] == ("small", "large")
        assert chosen.transform(planted.Z) == pytest.approx(projector.transform(planted.Z)[:, [1, 0]], abs=1e-12)
    assert projector.select(np.array([True, False, False])).concept_names_ == ("red",)
    assert projector.select("red").concept_names_ == ("red",)
    long = ConceptProjector.from_vectors(3 * projector.vectors_, 3 * projector.intercepts_, projector.concept_names_)
    assert long.transform(planted.Z) == pytest.approx(projector.transform(planted.Z), abs=1e-12)
    assert np.diag(long.cosines()) == pytest.approx(1)
    for wanted, message in (
        (["rde"], "no concept 'rde'; the concepts are red"),
        ([False] * 3, "no concept is left"),
        ([7], "from 0 to 2"),
        ([0.5], "from 0 to 2"),
    ):
        with pytest.raises(DataError, match=message):
            projector.select(wanted)
    with pytest.raises(DataError, match="one truth value for each of 3"):
        projector.select([True])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"red": [1, 1, 1, 1]}, "'red' has no negative example;"),
        ({"red": [0, 0, 0, 1]}, "'red' has only one positive example;"),
        ({"red": [np.nan] * 4}, "'red' has no positive example;"),
        ({"size": [7.0, 7.0, np.nan, 7.0]}, "'size' has the same value"),
        ({"size": [1.0, np.inf, 2.0, 3.0]}, "infinite values in concepts size"),
        ({"red": ["yes", "no", "yes", "no"]}, "'red' must be numbers .* text such as 'yes'; .* labels == 'yes'"),
        ({"red": ["1", "0", "1", "0"]}, "text such as '1'"),
        ({"red": [None, "no", 1, 0]}, "text such as 'no'"),
        (pd.DataFrame({"red": pd.Categorical(["yes", "no", "yes", "no"])}), "'red' must be numbers .* such as 'yes'"),
        ({"red": np.array([0, 1, 2, 3], dtype="M8[D]")}, "'red' must be numbers"),
        ({"red": [{}, 1, 0, 1]}, "'red' must be numbers"),
        ({}, "there is no concept: give"),
        (np.zeros((4, 1, 1)), "a row for each example"),
        ({"red": [0, 1, 1]}, "a row for each of 4 rows"),
        ({"red": [0, 1, 0, 1], "blue": [0, 1]}, "columns of one length"),
        (np.zeros((4, 0)), "there is no concept: give"),
    ],
)
def test_concepts_that_cannot_be_learned(table, message):
    with pytest.raises(DataError, match=message):
        ConceptProjector().fit(np.arange(8.0).reshape(4, 2), table)


def test_other_errors_of_the_projector(planted):
    Z = np.array([[0.0], [0.0], [0.0], [0.0]])
    with pytest.raises(DataError, match="'red' has no direction"):
        ConceptProjector("mean-difference").fit(Z, {"red": [0, 1, 0, 1]})
    with pytest.raises(DataError, match="no coef_"):
        ConceptProjector(KNeighborsClassifier()).fit(planted.Z, planted.is_red)
    with pytest.raises(ValueError, match="'classifier' parameter"):
        ConceptProjector("lda").fit(planted.Z, planted.is_red)
    with pytest.raises(DataError, match="missing values"):
        ConceptProjector().fit(np.full((4, 1), np.nan), [0, 1, 0, 1])
    with pytest.raises(NotFittedError):
        ConceptProjector().transform(planted.Z)
    with pytest.raises(ValueError, match=r"\(low, high\); got 'big' for 'red'"):
        ConceptProjector(meanings={"red": "big"}).fit(planted.Z, {"red": planted.is_red})
    for options, message in (
        ({"names": ["a", "a"]}, "a name of its own"),
        ({"intercepts": [0.0, np.nan]}, "one finite number"),
    ):
        with pytest.raises(DataError, match=message):
            ConceptProjector.from_vectors(np.eye(2), **options)
    with pytest.raises(DataError, match="'b' has no direction"):
        ConceptProjector.from_vectors([[1.0], [0.0]], names=["a", "b"])


def test_examples_by_concept_become_one_table(planted):
    red, grey = planted.Z[planted.is_red], planted.Z[~planted.is_red]
    Z, table = stack_concepts({"red": (red, grey), "large": (planted.Z[:7], None)}, pool=planted.Z, random_state=0)
    assert len(Z) == len(planted.Z) + 14
    assert np.nansum(table["red"]) == len(red)
    assert np.isnan(table["red"]).sum() == 14
    assert table["large"][-14:].tolist() == [1.0] * 7 + [0.0] * 7
    assert ConceptProjector().fit(Z, table).vectors_[0] @ planted.red > 0.97
    with pytest.raises(DataError, match="'red' has no negative examples; pass pool="):
        stack_concepts({"red": (red, None)})
    with pytest.raises(DataError, match="the same number of columns"):
        stack_concepts({"red": (red, grey[:, :3])})
    with pytest.raises(DataError, match="there is no concept: give"):
        stack_concepts({})


# -------------------------------------------------------------------------------------------------------- mixtures


def random_mixture(rng, k, d):
    A = rng.normal(size=(k, d, d))
    covariances = A @ A.transpose(0, 2, 1)
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    return Mixture(rng.dirichlet(np.ones(k)) + 0.01, rng.normal(size=(k, d)), variances, covariances=covariances)


def test_a_projected_mixture_is_what_its_formula_says():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        k, d, m = (int(rng.integers(1, 5)) for _ in range(3))
        mixture, C, b = random_mixture(rng, k, d), rng.normal(size=(m, d)), rng.normal(size=m)
        scores = project(mixture, C, b)
        for c in range(k):
            for j in range(m):
                assert scores.means[c, j] == pytest.approx(C[j] @ mixture.means[c] + b[j])
                assert scores.variances[c, j] == pytest.approx(naive.quadratic_form(C[j], mixture.covariances[c]))
    plain = Mixture(mixture.weights, mixture.means, mixture.variances)
    assert project(plain, C).variances == pytest.approx(mixture.variances @ (C**2).T)


def test_a_projected_mixture_is_the_mixture_of_projected_rows():
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        k, d, m = int(rng.integers(2, 5)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
        labels = np.concatenate([np.arange(k), rng.integers(k, size=30)])
        Z, C = rng.normal(size=(k + 30, d)) @ rng.normal(size=(d, d)) + 3 * rng.normal(size=(k, d))[labels], None
        C = rng.normal(size=(m, d))
        own = Mixture.of(Z, labels)
        covariances = np.array([np.cov(Z[labels == c].T, bias=True).reshape(d, d) for c in range(k)])
        variances = np.diagonal(covariances, axis1=1, axis2=2)
        projected = project(Mixture(own.weights, own.means, variances, covariances=covariances), C)
        expected = Mixture.of(Z @ C.T, labels)
        assert projected.means == pytest.approx(expected.means, abs=1e-9)
        assert projected.variances == pytest.approx(expected.variances, abs=1e-9)


def test_the_ratio_of_concepts_is_equation_6():
    """min over pairs of max over concepts of (c (mu - mu'))² / (2 c Sigma c), for one covariance."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        k, d, m = int(rng.integers(2, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
        means, C, A = rng.normal(size=(k, d)), rng.normal(size=(m, d)), rng.normal(size=(d, d))
        covariance = A @ A.T
        everywhere = np.broadcast_to(covariance, (k, d, d))
        mixture = Mixture(np.ones(k), means, np.broadcast_to(np.diag(covariance), (k, d)), covariances=everywhere)
        expected = min(
            max((c @ (means[i] - means[j])) ** 2 / (2 * naive.quadratic_form(c, covariance)) for c in C)
            for i in range(k)
            for j in range(i)
        )
        found = explainability_to_noise(project(mixture, C), convention="subgaussian").value
        assert found == pytest.approx(expected)


def test_the_standard_deviation_decides_not_the_variance():
    """Concept gaps 10 and 3 with deviations 4 and 1: ratios 2.5 and 3, whatever the length of a vector.

    With c' Sigma c in the place of its root, as Algorithm 2 of "Decision Trees for Interpretable Clusters in Mixture
    Models and Deep Representations" prints, they would be 0.625 and 3, and 6.25 after a division of the first by 10.
    """
    mixture = Mixture([1, 1], [[0.0, 0.0], [10.0, 3.0]], [[16.0, 1.0]] * 2)
    for length in (1.0, 0.1, 1000.0):
        scores = project(mixture, [[length, 0.0], [0.0, 1.0]])
        _, gaps = pair_gaps(scores, "weighted")
        assert gaps[0] == pytest.approx([2.5, 3.0])
        assert grow.mmdt(scores).to_dict()["feature"] == 1


def test_trees_do_not_depend_on_lengths_and_intercepts():
    rng = np.random.default_rng(2)
    for _ in range(300):
        mixture = random_mixture(rng, int(rng.integers(2, 7)), int(rng.integers(1, 5)))
        C = rng.normal(size=(int(rng.integers(1, 5)), mixture.n_features))
        length, b = np.exp(3 * rng.normal(size=len(C))), rng.normal(size=len(C))
        rows = rng.normal(size=(50, mixture.n_features))
        plain = grow.mmdt(project(mixture, C)).predict(rows @ C.T)
        other = grow.mmdt(project(mixture, length[:, None] * C, b)).predict(rows @ (length[:, None] * C).T + b)
        assert np.array_equal(plain, other)


def test_errors_of_projections():
    mixture = Mixture([1, 1], [[0.0, 1.0], [1.0, 0.0]], np.ones((2, 2)))
    for C, b, message in (
        ([[1.0]], None, r"shape \(m, 2\)"),
        ([[1.0, np.nan]], None, "finite"),
        ([[1, 0]], [1, 2], "one for"),
    ):
        with pytest.raises(DataError, match=message):
            project(mixture, C, b)


def test_pairs_that_no_concept_separates():
    names = ["frog", "horse", "deer"]
    scores = Mixture([1, 1, 1], [[0, 5], [9, 0], [10, 0.5]], np.ones((3, 2)), names)
    (pair,) = unseparated_pairs(scores, ["striped", "green"])
    assert (pair.first, pair.second, pair.concept, pair.gap) == ("horse", "deer", "striped", 1.0)
    assert str(pair).startswith("add a concept that tells horse from deer: the best so far, striped,")
    assert [p.gap for p in unseparated_pairs(scores, least_gap=100)] == [1.0, 9.0, 10.0]
    with pytest.raises(DataError, match="as many names"):
        unseparated_pairs(scores, ["striped"])


# ------------------------------------------------------------------------------------------------------- choosing


def scores_of(rng):
    k, m = int(rng.integers(2, 6)), int(rng.integers(1, 7))
    means = rng.integers(0, 4, size=(k, m)) if rng.random() < 0.5 else rng.normal(size=(k, m))
    variances = rng.integers(0, 2, size=(k, m)) if rng.random() < 0.2 else rng.gamma(2.0, size=(k, m))
    return Mixture(np.ones(k), means, variances)


def test_the_best_concepts_are_those_of_the_twin():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        scores = scores_of(rng)
        most = int(rng.integers(1, scores.n_features + 1))
        _, gaps = pair_gaps(scores, "max")
        value, subset = naive.best_concepts(gaps.tolist(), most)
        chosen = choose_concepts(scores, most, convention="variance")
        assert chosen.exact
        assert chosen.places == subset
        assert chosen.value == pytest.approx(value**2)
        assert chosen.weakest.gap == value


def test_greedy_choices_are_near_the_best_and_no_exchange_helps(monkeypatch):
    rng = np.random.default_rng(1)
    reached = []
    for _ in range(500):
        scores = scores_of(rng)
        most = int(rng.integers(1, scores.n_features + 1))
        best = choose_concepts(scores, most)
        with monkeypatch.context() as patched:
            patched.setattr(choosing, "MOST_SUBSETS", 0)
            found = choose_concepts(scores, most)
        assert not found.exact
        assert 1 <= len(found.places) <= most
        assert found.value <= best.value
        reached.append(found.value == best.value)
        _, gaps = pair_gaps(scores, "max")
        value = gaps[:, found.places].max(axis=1).min()
        for place in range(len(found.places)):
            for j in range(scores.n_features):
                other = list(found.places)
                other[place] = j
                assert gaps[:, other].max(axis=1).min() <= value
    assert np.mean(reached) > 0.9


def test_many_concepts_are_chosen_in_no_time():
    rng = np.random.default_rng(2)
    scores = Mixture(np.ones(20), rng.normal(size=(20, 300)), np.ones((20, 300)))
    chosen = choose_concepts(scores, 12)
    assert not chosen.exact
    assert 0 < chosen.value <= chosen.value_of_all
    with pytest.raises(ValueError, match="at least 1"):
        choose_concepts(scores, 0)
    with pytest.raises(DataError, match="one cluster"):
        choose_concepts(Mixture([1], [[0.0]], [[1.0]]), 1)


# --------------------------------------------------------------------------------------------------- significance


def test_scores_without_the_row_itself_are_those_of_refits():
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(3, 16)), int(rng.integers(1, 6))
        Z, y = rng.normal(size=(n, d)), rng.random(n) if seed % 2 else (np.arange(n) < 2).astype(float)
        if seed % 5 == 0:
            Z[:, 0] = 3.0
        found = significance.left_out(*significance.left_out_factors(Z), y[:, None])[:, 0]
        assert found == pytest.approx(naive.left_out_ridge(Z, y), abs=1e-7), seed


def test_adjusted_p_values_are_those_of_the_twin():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        p = rng.random(int(rng.integers(1, 8))).round(2)
        assert significance.holm(p) == pytest.approx(naive.holm(p))


@pytest.mark.parametrize("kind", ["binary", "continuous"])
def test_meaningless_concepts_seldom_pass(kind):
    rng, random = np.random.default_rng(3), np.random.RandomState(3)
    Z = rng.normal(size=(80, 10))
    values = (rng.random((300, 80)) < 0.4).astype(float) if kind == "binary" else rng.normal(size=(300, 80))
    p = np.array([significance.permutation_p_value(Z, v, kind, n_permutations=199, random=random) for v in values])
    low, high = binom.ppf([0.001, 0.999], len(p), 0.05)
    assert low <= (p <= 0.05).sum() <= high
    assert 0.4 < p.mean() < 0.6


def test_the_measure_is_the_area_under_the_curve():
    rng = np.random.default_rng(4)
    values = (rng.random(30) < 0.5).astype(float)
    predicted = rng.integers(0, 5, size=(30, 3)).astype(float)
    found = significance._measure(predicted, np.column_stack([values] * 3), "binary")
    assert found == pytest.approx([roc_auc_score(values, column) for column in predicted.T])


def test_only_some_rows_of_many_are_tested(monkeypatch):
    monkeypatch.setattr(significance, "MOST_ROWS", 50)
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(400, 3))
    options = {"n_permutations": 99, "random": np.random.RandomState(0)}
    assert significance.permutation_p_value(Z, (Z[:, 0] > 0).astype(float), "binary", **options) == 0.01
    assert significance.permutation_p_value(Z, (np.arange(400) < 1).astype(float), "binary", **options) >= 0.01


def test_all_of_the_rarer_side_are_tested(monkeypatch):
    monkeypatch.setattr(significance, "MOST_ROWS", 200)
    rng = np.random.default_rng(6)
    rare = (np.arange(20_000) < 20).astype(float)
    for values in (rare, 1 - rare):
        rows = significance._some_rows(values, "binary", np.random.RandomState(0))
        assert len(rows) == len(set(rows.tolist())) == 200
        assert set(range(20)) <= set(rows.tolist())
        p = [
            significance.permutation_p_value(
                rng.normal(size=(20_000, 2)) + 1.5 * rare[:, None], values, "binary",
                n_permutations=99, random=np.random.RandomState(seed),
            )
            for seed in range(5)
        ]  # fmt: skip
        assert p == [0.01] * 5
    random = np.random.RandomState(1)
    null = [
        significance.permutation_p_value(
            rng.normal(size=(3000, 2)), rare[:3000], "binary", n_permutations=99, random=random
        )
        for _ in range(200)
    ]
    assert np.mean(np.array(null) <= 0.05) < 0.12
    assert 0.4 < np.mean(null) < 0.6


# --------------------------------------------------------------------------------------------------------- report


def test_a_report_tells_what_is_known(planted):
    table = {**planted.concepts, "grey": ~planted.is_red}
    projector = ConceptProjector().fit(planted.Z, table)
    report = concept_report(projector, planted.Z, table, random_state=0)
    assert report.name == ("red", "size", "coin", "grey")
    assert report.reliable.tolist() == [True, True, False, True]
    assert report.score[0] > 0.95
    assert report.score[1] > 0.95
    assert abs(report.score[2] - 0.5) < 0.15
    assert report.stability[[0, 1, 3]].min() > 0.85
    assert report.stability[2] < 0.5
    assert (report.twin[0], report.twin[3]) == ("grey", "red")
    assert report.twin_cosine[[0, 3]] == pytest.approx(-1, abs=1e-3)
    assert report.n_positive.tolist()[0] == planted.is_red.sum()
    assert np.isnan(report.balanced_accuracy).tolist() == [False, True, False, False]
    assert np.isnan(report.determined_by_groups).all()
    assert any("red: nearly the complement of grey" in note for note in report.notes)
    assert any(note.startswith("coin: not reliable (AUC") for note in report.notes)
    frame = report.to_frame()
    assert list(frame["name"]) == list(report.name)
    assert frame.shape == (4, 13)
    assert projector.select(report.reliable).concept_names_ == ("red", "size", "grey")
    lines = str(report).splitlines()
    assert lines[0].split() == ["concept", "examples", "score", "p", "stability", "twin", "of", "groups", "reliable"]
    assert lines[3].startswith(f"coin     {report.n_positive[2]} + {report.n_negative[2]}")
    assert lines[3].endswith(" -          no")
    assert lines[5:] == [f"Note: {note}" for note in report.notes]
    assert repr(report) == "ConceptReport(n_concepts=4, n_reliable=3)"


def test_each_concept_that_is_one_of_several_twins_is_told(planted):
    table = dict.fromkeys(("red", "crimson", "scarlet"), planted.is_red)
    report = concept_report(ConceptProjector().fit(planted.Z, table), planted.Z, table, random_state=0)
    assert report.twin == ("crimson", "red", "red")
    assert [note.split(" (")[0] for note in report.notes] == [
        "red: nearly the same as crimson",
        "scarlet: nearly the same as red",
    ]


def test_a_report_of_selected_concepts(planted):
    projector = ConceptProjector().fit(planted.Z, planted.concepts).select(["size", "red"])
    report = concept_report(projector, planted.Z, planted.concepts, n_permutations=99, random_state=0)
    assert report.name == ("size", "red")
    assert report.kind == ("continuous", "binary")
    assert report.score.min() > 0.9


def test_a_report_is_the_same_for_the_same_seed(planted):
    projector = ConceptProjector("mean-difference").fit(planted.Z, planted.concepts)
    a, b = (concept_report(projector, planted.Z, planted.concepts, random_state=7) for _ in range(2))
    assert str(a.to_dict()) == str(b.to_dict())


def test_labels_of_classes_in_disguise(planted):
    species = np.random.default_rng(0).integers(4, size=len(planted.Z))
    Z = planted.Z + 4 * np.eye(16)[species]
    table = {"disguised": species < 2, "weight": np.array([1.0, 5.0, 2.0, 2.5])[species], "red": planted.is_red}
    report = concept_report(
        ConceptProjector().fit(Z, table), Z, table, groups=species, n_permutations=99, random_state=0
    )
    assert report.determined_by_groups[:2] == pytest.approx(1)
    assert report.determined_by_groups[2] < 0.2
    assert sum("label of groups" in note for note in report.notes) == 2
    names = np.array(["a", "b", "c", "d"])[species]
    again = concept_report(ConceptProjector().fit(Z, table), Z, table, groups=names, n_permutations=99, random_state=0)
    assert again.determined_by_groups == pytest.approx(report.determined_by_groups)


def test_few_examples_are_reported_too():
    Z = np.array([[0.0], [0.1], [1.0], [1.1], [0.5]])
    table = {"red": [0, 0, 1, 1, np.nan], "size": [1.0, 2.0, 7.0, 9.0, 5.0]}
    report = concept_report(ConceptProjector().fit(Z, table), Z, table, random_state=0)
    assert not report.reliable[0]
    assert np.isnan(report.stability).all()
    single = concept_report(ConceptProjector().fit(Z, Z[:, 0]), Z, Z[:, 0], random_state=0)
    assert single.twin == ("",)
    assert np.isnan(single.twin_cosine).all()


def test_errors_of_reports(planted):
    projector = ConceptProjector().fit(planted.Z, planted.concepts)
    with pytest.raises(DataError, match="no labels of red, size, coin, which the projector knows, but of blue"):
        concept_report(projector, planted.Z, {"blue": planted.is_red})
    with pytest.raises(DataError, match="3 columns, but 16"):
        concept_report(projector, planted.Z[:, :3], planted.concepts)
    with pytest.raises(DataError, match="groups must have a label"):
        concept_report(projector, planted.Z, planted.concepts, groups=[0, 1], n_permutations=99)
    given = ConceptProjector.from_vectors(projector.vectors_, names=projector.concept_names_)
    with pytest.raises(DataError, match="cannot be learned again"):
        concept_report(given, planted.Z, planted.concepts)
    with pytest.warns(UserWarning, match="take at least 60"):
        concept_report(projector, planted.Z, planted.concepts, n_permutations=19, random_state=0)


# ------------------------------------------------------------------------------------------------------- baseline


@pytest.fixture(scope="module")
def animals():
    """Four species at the corners of a square in a space of six axes, with noise."""
    rng = np.random.default_rng(0)
    species = rng.integers(4, size=400)
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]) @ rng.normal(size=(2, 6)) * 6
    return corners[species] + rng.normal(size=(400, 6)), species


@pytest.mark.parametrize("null", ["rename", "directions", "examples"])
def test_meaningless_concepts_beside_the_concepts(animals, null):
    Z, species = animals
    table = {"striped": species // 2, "large": species % 2}
    tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0)
    options = {"examples": Z, "concepts": table, "null": null, "n_draws": 30, "random_state": 0}
    found = concept_baseline(ConceptProjector(), tree, Z, species, groups=species, **options)
    assert found.observed > 0.9
    assert len(found.draws) == 30
    assert found.p_value == (1 + (found.draws >= found.observed).sum()) / 31
    assert found.null == null
    assert null in str(found)
    same = (found.draws >= found.observed).mean()
    if null == "rename":  # 8 of 24 renamings turn or mirror the square; all others make a concept of two diagonals
        assert 0.1 < same < 0.6
        assert found.draws.min() < 0.5
    else:
        assert np.median(found.draws) < 0.9


def test_baselines_leave_noise_out_and_take_any_score(animals):
    Z, species = animals
    labels = np.where(np.arange(400) % 10 == 0, -1, species)
    given = {"examples": Z, "concepts": {"striped": species // 2}, "null": "directions", "n_draws": 3}
    seen = []

    def score(truth, predicted):
        seen.append((len(truth), set(np.unique(predicted).tolist()) <= {0, 1, 2, 3}))
        return adjusted_rand_score(truth, predicted)

    found = concept_baseline(ConceptProjector(), MMDT(), Z, labels, score=score, random_state=0, truth=species, **given)
    assert seen == [(360, True)] * 4
    again = concept_baseline(ConceptProjector(), MMDT(), Z, labels, random_state=0, truth=species, **given)
    assert np.array_equal(found.draws, again.draws)


def test_a_baseline_is_of_the_concepts_that_the_projector_knows(animals):
    Z, species = animals
    table = {"striped": species // 2, "large": species % 2, "first": species == 0}
    given = {"examples": Z, "groups": species, "n_draws": 5, "random_state": 0}
    fitted = ConceptProjector().fit(Z, table).select(["striped"])
    expected = concept_baseline(ConceptProjector(), MMDT(), Z, species, concepts={"striped": table["striped"]}, **given)
    for projector in (fitted, FrozenEstimator(fitted)):
        found = concept_baseline(projector, MMDT(), Z, species, concepts=table, **given)
        assert found.observed == expected.observed
        assert np.array_equal(found.draws, expected.draws)
    frozen = concept_baseline(
        FrozenEstimator(fitted), MMDT(), Z, species, examples=Z, concepts=table, null="directions", n_draws=5
    )
    assert len(set(frozen.draws.tolist())) > 1


def test_only_as_many_projectors_are_learned_as_are_asked_for(animals):
    learned = []

    class Counting(ConceptProjector):
        def fit(self, X, y):
            learned.append(1)
            return super().fit(X, y)

    Z, species = animals
    call = {"examples": Z, "concepts": {"striped": species // 2}, "null": "examples", "n_draws": 3}
    concept_baseline(Counting(), MMDT(), Z, species, **call)
    assert len(learned) == 4


def test_errors_of_baselines(animals):
    Z, species = animals
    call = {"examples": Z, "concepts": {"striped": species // 2}, "n_draws": 2}
    with pytest.raises(ValueError, match="null must be one of"):
        concept_baseline(ConceptProjector(), MMDT(), Z, species, null="nothing", **call)
    with pytest.raises(DataError, match="truth must have a label for each of 400"):
        concept_baseline(ConceptProjector(), MMDT(), Z, species, groups=species, truth=[0, 1], **call)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        concept_baseline(ConceptProjector(), MMDT(), Z, species, groups=species, **{**call, "n_draws": 0})
    with pytest.raises(ValueError, match=r"such as MMDT\(\); ConceptMMDT takes embeddings"):
        concept_baseline(ConceptProjector(), ConceptMMDT(), Z, species, groups=species, **call)
    with pytest.raises(ValueError, match="give groups="):
        concept_baseline(ConceptProjector(), MMDT(), Z, species, **call)
    with pytest.raises(DataError, match="not constant within groups"):
        concept_baseline(ConceptProjector(), MMDT(), Z, species, groups=np.arange(400) % 3, **call)
    with pytest.raises(DataError, match="but 3 labels"):
        concept_baseline(ConceptProjector(), MMDT(), Z, [0, 1, 2], groups=species, **call)
    unknown = {"examples": Z, "concepts": {"striped": np.where(species == 3, np.nan, species // 2)}, "n_draws": 2}
    with pytest.raises(DataError, match="not known in groups 3"):
        concept_baseline(ConceptProjector(), MMDT(), Z, species, groups=species, **unknown)


# ---------------------------------------------------------------------------------------------------------- trees


@pytest.mark.parametrize("tree", [IMM(), CART(), MMDT(), Expand(), DecisionTreeClassifier(max_leaf_nodes=4)])
def test_every_explainer_on_concepts(animals, tree):
    Z, species = animals
    names = np.array(["cat", "lion", "okapi", "zebra"])[species]
    projector = ConceptProjector().fit(Z, {"striped": species // 2, "large": species % 2})
    model = make_concept_tree(projector, tree).fit(Z, names)
    assert adjusted_rand_score(names, model.predict(Z)) > 0.9
    assert clone(model).fit(Z, names).predict(Z[:1]) == model.predict(Z[:1])
    if isinstance(tree, DecisionTreeClassifier):
        with pytest.raises(TypeError, match="with a boxwood tree"):
            concept_text(model)
        return
    lines = concept_text(model).splitlines()
    assert sum("(striped)" in line for line in lines) >= 1
    assert {line.split("--- ")[1] for line in lines if "=" not in line and ">" not in line} == set(names)


def test_explain_takes_scores_with_names(animals):
    Z, species = animals
    projector = ConceptProjector().fit(Z, {"striped": species // 2, "large": species % 2})
    scores = projector.set_output(transform="pandas").transform(Z)
    ex = boxwood.explain(scores, species)
    rules = boxwood.render.rules(ex)
    assert "striped" in rules
    assert "large" in rules
    assert ex.agreement > 0.9


def test_the_text_says_what_sides_mean():
    projector = ConceptProjector.from_vectors(np.eye(2), names=["red", "size"], meanings={"size": ("small", "large")})
    tree = ThresholdTree.from_dict(
        {
            "feature": 0,
            "threshold": 0.15731,
            "left": {"cluster": 0},
            "right": {"feature": 1, "threshold": -20.0, "left": {"cluster": 1}, "right": {"cluster": 2}},
        }
    )
    model = make_concept_tree(projector, MMDT()).fit([[0, 0], [1, -30], [1, -10]], ["frog", "ant", "fox"])
    model[-1].tree_ = tree
    model[-1].reference_ = boxwood.Reference([0, 1, 2], np.eye(3), ["frog", "ant", "fox"])
    expected = """
|--- red <= 0.157  (less red)
|   |--- frog
|--- red >  0.157  (more red)
|   |--- size <= -20  (small)
|   |   |--- ant
|   |--- size >  -20  (large)
|   |   |--- fox
"""
    assert concept_text(model) == expected.strip()


def test_the_text_of_a_concept_that_is_cut_again():
    projector = ConceptProjector.from_vectors(np.eye(2), names=["red", "size"], meanings={"size": ("small", "large")})
    model = make_concept_tree(projector, MMDT()).fit([[0, 0], [0, 1], [0, 5], [9, 5]], [0, 1, 2, True])
    model[-1].tree_ = ThresholdTree.from_dict(
        {
            "feature": 1,
            "threshold": 3.0,
            "left": {"feature": 1, "threshold": 0.5, "left": {"cluster": 0}, "right": {"cluster": 1}},
            "right": {"feature": 0, "threshold": 4.0, "left": {"cluster": 2}, "right": {"cluster": 1}},
        }
    )
    model[-1].reference_ = boxwood.Reference([0, 1, 2], np.eye(3), [7, "ant", "fox"])
    expected = """
|--- size <= 3  (small)
|   |--- size <= 0.5  (towards small)
|   |   |--- cluster 7
|   |--- size >  0.5  (towards large)
|   |   |--- ant
|--- size >  3  (large)
|   |--- red <= 4  (less red)
|   |   |--- fox
|   |--- red >  4  (more red)
|   |   |--- ant
"""
    assert concept_text(model) == expected.strip()


def test_the_text_of_pipelines_that_end_in_one(animals):
    Z, species = animals
    scaled = StandardScaler().fit_transform(Z)
    projector = ConceptProjector().fit(scaled, {"striped": species // 2, "large": species % 2})
    model = ConceptMMDT(FrozenEstimator(projector)).fit(scaled, species)
    piped = make_pipeline(StandardScaler(), clone(model)).fit(Z, species)
    assert concept_text(piped) == concept_text(model)
    with pytest.raises(ValueError, match="ConceptMMDT takes embeddings"):
        make_concept_tree(projector, model)


def test_the_text_of_intervals():
    projector = ConceptProjector.from_vectors(np.eye(2), names=["red", "size"])
    model = make_concept_tree(projector, MMDT()).fit([[0, 0], [1, 0]], ["frog", "ant"])
    for cut, inside, outside in (
        ([-1.0, 2.0], "-1 <= size <= 2", "size < -1  (less size) or > 2  (more size)"),
        ([-1.0, np.inf], "size >= -1  (more size)", "size <  -1  (less size)"),
    ):
        model[-1].tree_ = ThresholdTree.from_dict(
            {"feature": 1, "interval": cut, "inside": {"cluster": 0}, "outside": {"cluster": 1}}
        )
        assert concept_text(model) == f"|--- {inside}\n|   |--- ant\n|--- {outside}\n|   |--- frog"


def test_unreliable_concepts_are_refused(planted):
    projector = ConceptProjector().fit(planted.Z, planted.concepts)
    report = concept_report(projector, planted.Z, planted.concepts, random_state=0)
    with pytest.raises(DataError, match=r"unreliable concepts: coin; take projector.select"):
        make_concept_tree(projector, CART(), report=report)
    model = make_concept_tree(projector, CART(max_leaf_nodes=2), report=report, allow_unreliable=True)
    model.fit(planted.Z, projector.transform(planted.Z)[:, 2] > 0.1)
    assert concept_text(model, report).startswith("|--- coin (unreliable) <= 0.1")
    assert concept_text(model).startswith("|--- coin <= 0.1")
    make_concept_tree(projector.select(["red"]), CART())
    with pytest.raises(DataError, match="report is of the concepts"):
        make_concept_tree(projector.select(["red"]), CART(), report=report)
    with pytest.raises(TypeError, match="expected a fitted ConceptMMDT"):
        concept_text(projector)


def test_a_report_without_pandas(planted, monkeypatch):
    import sys

    report = concept_report(
        ConceptProjector().fit(planted.Z, planted.is_red), planted.Z, planted.is_red, n_permutations=99, random_state=0
    )
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        report.to_frame()
    assert report.to_dict()["name"] == ["concept0"]
