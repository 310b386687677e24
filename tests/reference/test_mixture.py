"""Mixtures: moments exact and adding up, every kind of Gaussian mixture, every error."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from boxwood import Mixture, Reference
from boxwood._validation import Rows
from boxwood.errors import DataError
from boxwood.reference import Moments
from tests import naive
from tests.cases import make_case
from tests.scale import each, law, seeds

X = np.array([[0.0, 1.0], [2.0, 1.0], [9.0, 4.0], [9.0, 6.0], [5.0, 5.0]])


def assert_near(found, weights, means, variances):
    """The mean to a few roundings of its size or spread, the variance to ten digits."""
    spread = np.sqrt(np.array(variances, dtype=float))
    expected = np.array(means, dtype=float)
    assert np.allclose(found.weights, np.array(weights, dtype=float), rtol=1e-14)
    assert (np.abs(found.means - expected) <= 1e-15 * np.abs(expected) * 4 + 1e-13 * spread).all()
    assert np.allclose(found.variances, np.array(variances, dtype=float), rtol=1e-10, atol=0)


# ---------------------------------------------------------------------------------------------------- moments


def test_moments_are_those_of_the_twin():
    for seed in seeds(400):
        case = make_case(seed)
        twin = naive.moments(*case)
        mixture = Mixture.of(case.X, case.labels, sample_weight=case.weights)
        total = sum(weight for weight, _, _ in twin.values())
        weights, means, variances = zip(*twin.values(), strict=True)
        assert mixture.names == tuple(twin)
        assert_near(mixture, [weight / total for weight in weights], means, variances)


def test_moments_of_parts_add_up_in_any_order():
    for seed in seeds(300):
        rng = np.random.default_rng(seed)
        case = make_case(seed)
        k = int(case.labels.max()) + 1
        part = rng.integers(5, size=len(case.X))
        parts = [
            Moments.of(case.X[part == i], case.labels[part == i], k, sample_weight=weights)
            for i in rng.permutation(np.unique(part))
            for weights in [None if case.weights is None else case.weights[part == i]]
        ]
        while len(parts) > 1:  # two of them, anywhere
            i, j = rng.choice(len(parts), size=2, replace=False)
            parts = [one for n, one in enumerate(parts) if n not in (i, j)] + [parts[i] + parts[j]]
        weights, means, variances = zip(*naive.moments(*case).values(), strict=True)
        assert_near(parts[0], weights, means, variances)


def test_far_from_zero_no_digit_is_lost():
    rng = np.random.default_rng(0)
    steps = rng.integers(0, 2, size=(200_000, 2)).astype(float)
    mixture = Mixture.of(1e12 + steps, np.zeros(200_000, dtype=int))
    assert mixture.variances[0] == pytest.approx(steps.var(axis=0), rel=1e-13)


def test_an_origin_of_little_weight_far_from_the_others():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1000, 1))
    values[0], weights = 1e9, np.ones(1000)
    weights[0] = 1e-30
    mixture = Mixture.of(values, np.zeros(1000, dtype=int), sample_weight=weights)
    assert mixture.variances[0] == pytest.approx(values[1:].var(axis=0), rel=1e-10)


@pytest.mark.full  # loops are compiled for each layout
def test_threads_and_memory_layout_change_nothing():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(200_000, 3)), rng.integers(-1, 4, size=200_000)
    one = Moments.of(rows, labels, 4, n_jobs=1)
    for other in (rows, np.asfortranarray(rows), np.repeat(rows, 2, axis=1)[:, ::2]):
        found = Moments.of(other, labels, 4, n_jobs=3)
        assert (found.means == one.means).all()
        assert (found.squares == one.squares).all()
    single = rows.astype(np.float32)
    assert (Moments.of(single, labels, 4).squares == Moments.of(single.astype(np.float64), labels, 4).squares).all()


def test_clusters_not_seen_yet():
    first, second = Moments.of(X, [2, 2, -1, -1, -1], 4), Moments.of(X, [-1, -1, 0, 0, -1], 4)
    assert Mixture.of_moments(first).names == (2,)
    whole = Mixture.of_moments(second + first, names=["b", "a"])
    assert whole.names == ("b", "a")
    assert whole.means.tolist() == [[9.0, 5.0], [1.0, 1.0]]
    assert whole.variances.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_moments_refused():
    with pytest.raises(DataError, match="from -1 to 1 for 2 clusters, got 0 to 2"):
        Moments.of(X, [0, 1, 2, 0, 1], 2)
    with pytest.raises(DataError, match="5 rows, but there are 2 labels"):
        Moments.of(X, [0, 1], 2)
    with pytest.raises(DataError, match="labels must be whole numbers"):
        Moments.of(X, [0.0, 1.0, 0.0, 1.0, 0.0], 2)
    with pytest.raises(ValueError, match="n_clusters must be at least 1"):
        Moments.of(X, [-1] * 5, 0)
    with pytest.raises(ValueError, match="do not add up"):
        Moments.of(X, [0, 1, 0, 1, 0], 2) + Moments.of(X[:, :1], [0, 1, 0, 1, 0], 2)
    with pytest.raises(ValueError, match=r"shape \(1, d\)"):
        Moments(np.ones(1), np.ones((1, 2)), np.ones((1, 2)), np.ones((2, 2)))


# ------------------------------------------------------------------------------------------------- from labels


@pytest.mark.parametrize(
    "labels",
    [[3, 3, 7, 7, -1], ["x", "x", "y", "y", -1], np.array([3, 3, 7, 7, -1]), np.array([0, 0, 9000, 9000, -1])],
    ids=str,
)
def test_labels_of_any_kind(labels):
    mixture = Mixture.of(X, labels)
    assert mixture.names == tuple(sorted({*labels} - {-1}))
    assert mixture.weights.tolist() == [0.5, 0.5]
    assert mixture.means.tolist() == [[1.0, 1.0], [9.0, 5.0]]
    assert mixture.variances.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert mixture.covariances is None
    assert mixture.alpha == 1.0


def test_names_and_weights():
    mixture = Mixture.of(X, [1, 1, 2, 2, 5], names={1: "low"}, sample_weight=[1, 3, 2, 2, 0])
    assert mixture.names == ("low", 2)  # a cluster whose rows weigh nothing is not there
    assert mixture.weights.tolist() == [0.5, 0.5]
    assert mixture.means[0, 0] == 1.5
    unused = Mixture.of(X, np.array([0, 0, 2, 2, -1]))
    assert unused.names == (0, 2)


def test_labels_refused():
    with pytest.raises(DataError, match="all labels are -1"):
        Mixture.of(X, [-1] * 5)
    with pytest.raises(DataError, match="every row is left out"):
        Mixture.of(X, np.array([0, -1, -1, -1, -1]), sample_weight=[0, 1, 1, 1, 1])
    with pytest.raises(DataError, match="5 rows, but there are 3 labels"):
        Mixture.of(X, [0, 1, 0])
    with pytest.raises(DataError, match=r"missing values \(NaN\)"):
        Mixture.of([[np.nan], [1.0]], [0, 1])
    with pytest.raises(DataError, match="column 1 are too large for their variance"):
        Mixture.of([[0.0, -1e200], [1.0, 1e200]], [0, 0])


# ------------------------------------------------------------------------------------------------- from arrays


def test_frozen_and_normalised():
    weights, means, variances = np.array([1.0, 3.0]), np.zeros((2, 1)), np.array([[1.0], [5.0]])
    mixture = Mixture(weights, means, variances, ["a", "b"])
    weights[0] = means[0] = 9.0
    assert mixture.weights.tolist() == [0.25, 0.75]
    assert mixture.means.tolist() == [[0.0], [0.0]]
    assert mixture.names == ("a", "b")
    assert (mixture.n_components, mixture.n_features, mixture.alpha) == (2, 1, 1.5)
    for array in (mixture.weights, mixture.means, mixture.variances):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    assert Mixture([1e308] * 3, np.zeros((3, 1)), np.ones((3, 1))).weights.tolist() == [1 / 3] * 3


def test_copies_are_frozen_and_equal():
    rng = np.random.default_rng(0)
    for covariances in (None, np.eye(3) * np.ones((7, 1, 1))):
        mixture = Mixture(rng.random(7), rng.normal(size=(7, 3)), np.ones((7, 3)), "abcdefg", covariances=covariances)
        copy = pickle.loads(pickle.dumps(mixture))
        assert (copy.weights == mixture.weights).all()
        assert (copy.means == mixture.means).all()
        assert copy.names == mixture.names
        assert (copy.covariances is None) == (covariances is None)
        for array in (copy.weights, copy.means, copy.variances):
            assert not array.flags.writeable
    moments = Moments.of(X, [0, 0, 1, 1, -1], 2)
    copy = pickle.loads(pickle.dumps(moments))
    assert (copy.squares == moments.squares).all()
    assert not copy.squares.flags.writeable
    reference = pickle.loads(pickle.dumps(Reference.of(X, [0, 0, 1, 1, -1])))
    assert (reference.moments.means == reference.centers).all()


@pytest.mark.parametrize("weighted", [False, True])
@law(5)
def test_moments_that_wait_are_those_at_once(seed, weighted):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(40, 3)), rng.integers(-1, 3, size=40)
    weights = rng.integers(0, 3, size=40) / 4 if weighted else None
    rows = Rows.of(X, weights)
    now, later = Reference.of(X, labels, sample_weight=weights).moments, Reference.of(rows, labels).moments
    assert "squares" not in vars(later)
    for name in ("weights", "origins", "offsets", "squares"):
        np.testing.assert_array_equal(getattr(later, name), getattr(now, name))
        assert not getattr(later, name).flags.writeable
    copy = pickle.loads(pickle.dumps(Reference.of(rows, labels))).moments
    assert type(copy) is Moments
    np.testing.assert_array_equal(copy.squares, now.squares)


def test_pooled_variances():
    mixture = Mixture([1, 3], [[0, 0], [1, 1]], [[1, 4], [5, 0]])
    assert mixture.pooled_variances("weighted").tolist() == [4.0, 1.0]
    assert mixture.pooled_variances("max").tolist() == [5.0, 4.0]
    with pytest.raises(ValueError, match="'max' or 'weighted', got 'mean'"):
        mixture.pooled_variances("mean")


@each(
    "arguments, message",
    [
        (([1, 0], [[0], [1]], [[1], [1]]), "weights must be above 0; wrong for components 1"),
        (([1, 1], [[0], [1]], [[1], [-1]]), "variances must be at least 0; wrong for components 1"),
        (([1, 1], [0, 1], [[1], [1]]), r"means must have shape \(k, d\), got \(2,\)"),
        (([1, 1], [[0], [1]], [[1, 1], [1, 1]]), r"variances must have shape \(2, 1\), got \(2, 2\)"),
        (([1], [[0], [1]], [[1], [1]]), r"weights must have shape \(2,\), got \(1,\)"),
        (([1, 1], [[0], [np.inf]], [[1], [1]]), "means must be finite"),
        (([1, "a"], [[0], [1]], [[1], [1]]), "weights must be numeric"),
        (([], np.empty((0, 2)), np.empty((0, 2))), r"means must have shape \(k, d\), got \(0, 2\)"),
        (([1, 1], [[0], [1]], [[1], [1]], ["a"]), "one name for each of 2 clusters, got 1"),
    ],
)
def test_arrays_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        Mixture(*arguments)


def test_covariances_refused():
    with pytest.raises(DataError, match="symmetric; wrong for components 0"):
        Mixture([1], [[0, 0]], [[1, 1]], covariances=[[[1, 0.5], [0.2, 1]]])
    with pytest.raises(DataError, match="the variances as diagonal; wrong for components 0"):
        Mixture([1], [[0, 0]], [[1, 2]], covariances=[np.eye(2)])
    with pytest.raises(DataError, match=r"covariances must have shape \(1, 2, 2\)"):
        Mixture([1], [[0, 0]], [[1, 1]], covariances=np.eye(2))


# -------------------------------------------------------------------------------------- from Gaussian mixtures


@pytest.mark.crossed
@pytest.mark.parametrize("estimator", [GaussianMixture, BayesianGaussianMixture])
@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_every_covariance_type(estimator, kind):
    data = load_iris().data
    fitted = estimator(n_components=3, covariance_type=kind, random_state=0, max_iter=500).fit(data)
    mixture = Mixture.from_gaussian_mixture(fitted)
    assert mixture.weights == pytest.approx(fitted.weights_)
    assert (mixture.means == fitted.means_).all()
    for c in range(3):  # scikit-learn gives the densities, and these the covariance
        precision = {"full": lambda c=c: fitted.precisions_[c], "tied": lambda: fitted.precisions_,
                     "diag": lambda c=c: np.diag(fitted.precisions_[c]),
                     "spherical": lambda c=c: fitted.precisions_[c] * np.eye(4)}[kind]()  # fmt: skip
        covariance = np.linalg.inv(precision)
        assert mixture.variances[c] == pytest.approx(np.diag(covariance))
        if mixture.covariances is not None:
            assert mixture.covariances[c] == pytest.approx(covariance, abs=1e-9)
    assert (mixture.covariances is None) == (kind in ("diag", "spherical"))


def test_components_without_data_are_dropped():
    rng = np.random.default_rng(0)
    data = np.concatenate([rng.normal(size=(150, 2)), 20 + rng.normal(size=(150, 2))])
    kind = "dirichlet_distribution"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may want more iterations
        fitted = BayesianGaussianMixture(
            n_components=6,
            weight_concentration_prior_type=kind,
            weight_concentration_prior=1e-4,
            random_state=1,
            max_iter=300,
        ).fit(data)
    rows = fitted.predict_proba(data).sum(axis=0)
    assert (rows < 1).any()
    with pytest.warns(UserWarning, match="components without data are dropped: "):
        mixture = Mixture.from_gaussian_mixture(fitted)
    assert mixture.names == tuple(np.flatnonzero(rows >= 1))
    assert mixture.weights.sum() == pytest.approx(1)


def test_a_component_of_no_weight_is_named():
    fitted = GaussianMixture(3, random_state=0).fit(load_iris().data)
    fitted.weights_ = np.array([0.5, 1e-12, 0.5])
    with pytest.warns(UserWarning, match=r"dropped: 1 \(weight 1.0e-12\)"):
        mixture = Mixture.from_gaussian_mixture(fitted)
    assert mixture.names == (0, 2)
    assert (mixture.means == fitted.means_[[0, 2]]).all()
    assert (mixture.covariances == fitted.covariances_[[0, 2]]).all()


def test_no_fitted_gaussian_mixture():
    with pytest.raises(DataError, match="expected a fitted GaussianMixture, got GaussianMixture without weights_"):
        Mixture.from_gaussian_mixture(GaussianMixture(2))
