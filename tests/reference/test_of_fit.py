"""A fitted clusterer is refused on other columns than those of its fit, and on no rows of the same ones."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import boxwood as bw
from boxwood.clusterers import KMedians
from boxwood.errors import DataError
from boxwood.reference.of_fit import labels_by
from tests.scale import law, seeds

MEANT = "fitted on scaled or otherwise changed columns"


def table(rng, n):
    """Return rows in groups, or without any, in units that differ; every other one is from the same law."""
    d, k = int(rng.integers(2, 7)), int(rng.integers(2, 6))
    centers = 6 * rng.normal(size=(k, d)) * (rng.random() < 0.8)
    X = centers[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    X = np.exp(X / 3) if rng.random() < 0.3 else np.round(X) if rng.random() < 0.3 else X
    scale = 10 ** rng.uniform(-2, 3, size=d)
    return X * scale + scale * rng.choice([0, 1, 9])


def clusterer(rng, k=3):
    seed = int(rng.integers(1000))
    kinds = [
        KMeans(k, n_init=1, random_state=seed),
        MiniBatchKMeans(k, n_init=1, random_state=seed),
        BisectingKMeans(k, random_state=seed),
        KMedians(k, random_state=seed),
        GaussianMixture(k, random_state=seed),
        BayesianGaussianMixture(n_components=k, covariance_type="diag", random_state=seed),
    ]
    return kinds[int(rng.integers(len(kinds)))]


def legitimate_uses(rng, X, new):
    """Yield rows in the columns of the fit X, and others of the same law."""
    n = len(X)
    yield from (X, new, X[rng.permutation(n)], np.vstack([X, new]), new[: n // 2])
    yield X.astype(np.float32).astype(np.float64)
    yield X[rng.random(n) < 0.3]
    yield X[rng.integers(n, size=n)]
    yield X + 1e-3 * X.std(axis=0) * rng.normal(size=X.shape)  # as if rounded
    yield X[np.argsort(X[:, 0])[n // 4 :]]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@law(40)
def test_rows_in_the_columns_of_the_fit_are_never_refused(seed):
    rng = np.random.default_rng(seed)
    X = table(rng, 240)
    X = StandardScaler().fit_transform(X) if seed % 2 else X
    fitted = clusterer(rng)
    weights = 10 ** rng.uniform(-2, 2, size=120)
    fitted.fit(X[::2], **({"sample_weight": weights} if isinstance(fitted, KMeans) and seed % 3 == 0 else {}))
    for rows in legitimate_uses(rng, X[::2], X[1::2]):
        assert labels_by(fitted, rows, len(rows)).tolist() == fitted.predict(rows.astype(np.float64)).tolist()
    both = np.argsort(X[:, 0])
    fitted = clone(fitted).fit(X[both[::2]])  # sorted alike, so that labels of the fit tell the new rows well
    assert len(labels_by(fitted, X[both[1::2]], 120)) == 120


def test_rows_of_the_other_type_of_floats_have_the_same_clusters():
    X = groups(np.random.default_rng(0))
    for one, other in [(np.float32, np.float64), (np.float64, np.float32)]:
        km = KMeans(4, n_init=3, random_state=0).fit(X.astype(one))
        assert bw.explain(X.astype(other), km).agreement == bw.explain(X, km.labels_).agreement == 1


def changed(X):
    """Yield pairs: columns of a fit, and what is given instead."""
    standard = StandardScaler().fit_transform(X)
    yield standard, X
    yield X, standard
    yield MinMaxScaler().fit_transform(X), X
    yield np.log1p(X - X.min(axis=0)), X
    yield PCA().fit_transform(standard), standard
    yield standard, standard[:, ::-1]
    yield standard, X[::2]


def groups(rng, n=120):
    """Return rows in four groups that any two columns tell apart, in units that differ."""
    labels = np.arange(n) % 4
    centers = 12 * rng.permuted(np.array([[0.0, 1, 2, 3], [3, 0, 2, 1], [1, 3, 0, 2]]), axis=0).T
    return (centers[labels] + rng.normal(size=(n, 3)) + 40) * [1, 30, 1000]


@law(4)
def test_changed_columns_are_refused_where_clusters_differ(seed):
    rng = np.random.default_rng(seed)
    X, refused = groups(rng), 0
    for columns, given in changed(X):
        for kind in (KMeans(4, n_init=3, random_state=0), GaussianMixture(4, random_state=0)):
            fitted = clone(kind).fit(columns)
            own, found = fitted.predict(columns), fitted.predict(given)
            if np.mean(own[:: len(own) // len(found)] != found) > 0.2:
                refused += 1
                with pytest.raises(DataError, match=MEANT):
                    labels_by(fitted, given, len(given))
    assert refused >= 5


WAYS = {
    "explain": lambda X, km: bw.explain(X, km),
    "compare": lambda X, km: bw.compare(X, km, methods=["imm"]),
    "frozen": lambda X, km: bw.explain(X, FrozenEstimator(km)),
    "estimator": lambda X, km: bw.IMM(clusterer=FrozenEstimator(km)).fit(X),
    "reference": lambda X, km: bw.Reference.from_estimator(km, X),
    "part of a pipeline": lambda X, km: bw.explain(X, make_pipeline(MinMaxScaler().fit(X), km)),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_hand_over_a_fitted_clusterer_refuses_it(way):
    X = groups(np.random.default_rng(0))
    km = KMeans(4, n_init=3, random_state=0).fit(StandardScaler().fit_transform(X))
    with pytest.raises(DataError, match=rf"{MEANT}\? Pass the whole pipeline, or its labels_"):
        WAYS[way](X, km)
    assert bw.explain(X, km.labels_).agreement == 1


@law(8)
def test_a_table_in_batches_far_from_the_centres_is_refused_as_in_memory(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(groups(rng), columns=list("abc"))
    for columns, is_right in ((X, True), (StandardScaler().set_output(transform="pandas").fit_transform(X), False)):
        fitted = (KMeans(4, n_init=3, random_state=seed), GaussianMixture(4, random_state=seed))[seed % 2].fit(columns)
        with bw.scan(X) as source:
            if is_right:
                assert bw.explain(source, fitted).agreement == bw.explain(X, fitted).agreement
                continue
            with pytest.raises(DataError, match=f"{MEANT}.* Add its labels to the table as a column"):
                bw.explain(source, fitted)


def test_labels_of_other_rows_are_no_advice():
    X = groups(np.random.default_rng(0))
    km = KMeans(4, n_init=3, random_state=0).fit(StandardScaler().fit_transform(X))
    with pytest.raises(DataError, match=rf"{MEANT}\? Pass the whole pipeline, or the labels that it predicts there$"):
        bw.explain(X[:100], km)
    other = KMeans(4, n_init=3, random_state=0).fit(X[:100, :2])
    with pytest.raises(DataError, match=r"2 columns, but X has 3; pass .*, or the labels that it predicts there$"):
        bw.explain(X, other)


def test_a_pipeline_of_a_mixture_alone_is_read_as_the_mixture():
    X = groups(np.random.default_rng(0))
    mixture = GaussianMixture(4, random_state=0).fit(X)
    assert labels_by(make_pipeline(mixture), X, len(X)).tolist() == mixture.predict(X).tolist()


def test_a_clusterer_says_which_columns_it_was_fitted_on():
    X = pd.DataFrame(groups(np.random.default_rng(0)), columns=list("abc"))
    made = PCA(2).set_output(transform="pandas").fit_transform(X)
    for given, error in [(made, "on columns that X lacks: pca0, pca1"), (made.to_numpy(), "on 2 columns, but X has 3")]:
        km = KMeans(4, n_init=1, random_state=0).fit(given)
        with pytest.raises(DataError, match=f"KMeans was fitted {error}; pass the whole pipeline, or its labels_"):
            bw.explain(X, km)
        labels = [*km.labels_]
        assert bw.explain(X, make_pipeline(PCA(2), clone(km))).n_rows == bw.explain(X, labels).n_rows


def test_clusters_of_words_behind_scaled_numbers_are_refused():
    for seed in seeds(2):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(groups(rng), columns=list("abc")).assign(word=np.array(["p", "q"])[rng.integers(2, size=120)])
        scaled = X.assign(**{c: (X[c] - X[c].mean()) / X[c].std() for c in "abc"})
        fitted = bw.clusterers.MixedKMeans(4, random_state=0, categorical_features=["word"]).fit(scaled)
        assert bw.explain(scaled, fitted).agreement > 0.9
        with pytest.raises(DataError, match="of these rows another cluster than at its fit"):
            bw.explain(X, fitted)
