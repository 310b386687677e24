"""Whether groups are there: noise is hardly ever called clearer than data without groups, groups nearly always are."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.cluster import DBSCAN, AgglomerativeClustering, BisectingKMeans, KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, scale

from boxwood import MixedKMeans, explain
from boxwood.explanation.measure.contrast import DRAWS, LOOKS, RARE, contrast_of
from tests.explanation.test_stability import k_means
from tests.scale import draws, law


def is_clearer(X, clusterer):
    found = contrast_of(
        X, np.ones(len(X), dtype=int), lambda table: clusterer.fit_predict(table), np.random.RandomState(0)
    )
    return found.explained > found.without_groups


def noise(kind, d, k, seed, n=1500):
    return getattr(np.random.default_rng([seed, d, k]), kind)(size=(n, d))


def penguins():
    """Return rows like the penguins of Palmer: bill, flipper and weight of three species."""
    rng = np.random.default_rng(0)
    species = (
        (151, [38.8, 18.3, 190, 3700], [2.7, 1.2, 6.5, 460]),
        (68, [48.8, 18.4, 196, 3733], [3.3, 1.1, 7.1, 384]),
        (123, [47.5, 15.0, 217, 5076], [3.1, 1.0, 6.5, 504]),
    )
    return np.concatenate([rng.normal(mean, deviation, (n, 4)) for n, mean, deviation in species])


def tables_with_groups():
    """Yield tables and clusterers: groups that touch, of equal and unequal sizes, round and elongated."""
    yield load_iris().data, k_means(2)
    yield load_iris().data, k_means(3)
    yield scale(load_iris().data), k_means(3)
    yield scale(load_wine().data), k_means(3)
    yield scale(load_breast_cancer().data), k_means(2)
    yield scale(penguins()), k_means(3)
    for k, d, deviation in (
        (3, 2, 2.0),
        (4, 2, 1.5),
        (8, 2, 1.0),
        (6, 3, 1.8),
        (3, 5, 3.0),
        (2, 10, 3.5),
        (4, 20, 4.0),
    ):
        yield make_blobs(600, d, centers=k, cluster_std=deviation, random_state=k * d)[0], k_means(k)
    yield make_blobs(300, centers=[[0, 0], [3.5, 0]], random_state=0)[0], k_means(2)
    yield make_blobs(300, centers=[[0, 0], [3, 0], [0, 3]], random_state=0)[0], k_means(3)
    yield make_blobs([500, 100], centers=[[0, 0, 0], [5, 0, 0]], random_state=0)[0], k_means(2)
    yield make_blobs([900, 80, 40], centers=[[0, 0], [5, 0], [0, 5]], random_state=0)[0], k_means(3)
    rng = np.random.default_rng(0)
    yield np.concatenate([rng.normal(size=(200, 2)) * [2, 1] + [0, 5 * i] for i in range(3)]), k_means(3)
    yield np.concatenate([rng.normal(size=(200, 2)) * [4, 0.5] + [0, 5 * i] for i in range(3)]), GaussianMixture(3)
    yield make_blobs(600, centers=4, cluster_std=1.5, random_state=3)[0], AgglomerativeClustering(4)


@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_noise_is_not_called_clearer_however_often_its_clusters_return(kind):
    found = explain(noise(kind, 2, 3, 0, n=200), k_means(3), method="imm").stability(2)
    assert found.clearer is False
    assert "Whether there are groups at all is not shown: the clusters explain" in found.verdict
    assert "Read them as one way to divide the rows, not as groups that exist" in found.verdict


def test_steps_of_whole_numbers_and_booleans_are_no_groups():
    rng = np.random.default_rng(0)
    assert not is_clearer((rng.random((200, 6)) < 0.3) * 1.0, k_means(4))
    assert not is_clearer(rng.integers(0, 5, (200, 3)) * 1.0, k_means(4))


@pytest.mark.full
@pytest.mark.parametrize(
    "clusterer",
    [
        make_pipeline(StandardScaler(), KMeans(3, n_init=1, random_state=0)),
        make_pipeline(KMeans(3, n_init=1, random_state=0)),
        DBSCAN(1.5),
        KMeans(3, n_init=1, random_state=0).fit(np.eye(3)),
    ],
)
@pytest.mark.parametrize("weights", [None, np.linspace(0.0, 1.0, 90)])
def test_groups_are_called_clearer_by_any_clusterer(clusterer, weights):
    X = make_blobs(90, 3, centers=np.eye(3) * 15, random_state=0)[0]
    found = explain(X, clusterer, method="imm", sample_weight=weights).stability(2)
    assert found.clearer
    assert "The clusters are clearer than in data without groups: they explain" in found.verdict


def test_nothing_is_said_where_nothing_is_clustered_again():
    X, y = make_blobs(60, centers=2, random_state=0)
    found = explain(X, y, method="imm").stability(2)
    assert (found.clearer, found.explained) == (None, None)
    assert found.verdict.endswith("Labels were given, so there is no test of whether the groups are real.")
    assert (
        contrast_of(np.ones((9, 2)), np.ones(9, dtype=int), lambda table: np.zeros(9), np.random.RandomState(0)) is None
    )


def table_of_words(seed, groups):
    """Return words, and numbers with gaps, that follow from a group or from nothing."""
    rng, n = np.random.default_rng(seed), 300
    group = rng.integers(0, 3, n)
    table = {}
    for j in range(3):
        alone = rng.choice(list("abcd"), n, p=rng.dirichlet([2] * 4))
        table[f"word {j}"] = np.where(groups & (rng.random(n) < 0.8), np.array(list("abc"))[group], alone)
    table["number"] = np.exp(rng.normal(size=n)) * np.where(groups, 3.0**group, 1.0)
    table["number"][rng.choice(n, 20)] = np.nan
    return pd.DataFrame(table)


@law(6)
def test_words_that_follow_from_nothing_are_not_called_clearer_and_groups_of_words_are(seed):
    for groups in (False, True):
        found = explain(table_of_words(seed, groups), n_clusters=3, method="cart", random_state=seed).stability(2)
        assert found.refitted
        assert (found.explained > found.without_groups) == groups


@law(6)
def test_codes_of_words_have_no_variance(seed):
    """Words as numbers, in any order: nothing is said of their variance; a table of numbers is compared."""
    rng = np.random.default_rng(seed)
    codes, numbers = rng.integers(0, 6, (60, 2)) * 1.0, rng.normal(size=(60, 1)) * 100
    table = np.hstack([codes, numbers][: rng.integers(1, 3)])
    found = explain(table, MixedKMeans(3, categorical_features=[0, 1], random_state=0), method="cart").stability(2)
    assert (found.refitted, found.clearer) == (True, None)
    assert found.verdict.endswith("Codes have no variance, so there is no test of whether the groups are real.")
    scaled = MixedKMeans(2, n_init=1, standardize=bool(seed % 2), random_state=0)
    assert explain(numbers, scaled, method="cart").stability(2).clearer is False


def test_clusters_are_compared_in_the_units_in_which_a_clusterer_sees_distances():
    """Three groups in the narrow column of two: the wide one would explain nothing, where it counts as much."""
    rng = np.random.default_rng(0)
    narrow = np.repeat([0.0, 10.0, 20.0], 40) + rng.normal(size=120)
    X = np.column_stack([narrow, narrow[::-1] * 1e-3 + rng.normal(size=120) * 1e-4, rng.normal(size=120) * 1e4])
    found = explain(X, MixedKMeans(3, n_init=1, standardize=True, random_state=0), method="cart").stability(2)
    assert found.explained > 0.5


@pytest.mark.slow
def test_four_of_eighty_tables_of_noise_at_most_are_called_clearer():
    asked = [(kind, d, k) for kind in ("normal", "uniform") for d, k in ((2, 2), (2, 3), (2, 4), (5, 2), (5, 3))]
    called = [(*one, seed) for one in asked for seed in range(8) if is_clearer(noise(*one, seed), k_means(one[2]))]
    assert len(called) <= 4, called


@pytest.mark.slow
def test_eighteen_of_twenty_tables_with_groups_at_least_are_called_clearer():
    called = [is_clearer(X, clusterer) for X, clusterer in tables_with_groups()]
    assert len(called) == 20
    assert sum(called) >= 18, called


@pytest.mark.parametrize("seed", range(6))
def test_few_tables_are_drawn_where_the_verdict_is_clear_and_it_is_the_verdict_of_many(seed):
    rng, calls = np.random.default_rng(seed), []
    apart = rng.normal(size=(300, 3)) + 9.0 * rng.integers(0, 3, 300)[:, None]
    noise = rng.normal(size=(300, 3))

    def cluster(table):
        calls.append(len(table))
        return KMeans(3, n_init=2, random_state=0).fit(table).labels_

    for table, is_clearer in ((apart, True), (noise, False)):
        found = []
        for until_clear in (True, False):
            calls.clear()
            how = {"together": True, "until_clear": until_clear}
            contrast = contrast_of(table, np.ones(300, dtype=int), cluster, np.random.RandomState(seed), **how)
            found.append((contrast.is_clearer, len(calls)))
        assert found[0][0] == found[1][0] == is_clearer
        assert found[0][1] <= 1 + 3 * LOOKS[0] if is_clearer else found[0][1] <= 1 + 3 * LOOKS[-1]
        assert found[1][1] == 1 + 3 * DRAWS


def words(rng, n):
    return rng.choice([*"abcd"], n, p=rng.dirichlet(np.full(4, 5.0)))


INDEPENDENT = (
    lambda rng, n: {name: words(rng, n) for name in "uv"},
    lambda rng, n: {"u": words(rng, n), "x": rng.normal(size=n), "y": rng.normal(size=n)},
    lambda rng, n: {name: np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n)) for name in "abc"},
    lambda rng, n: {name: rng.lognormal(size=n) for name in "abc"},
    lambda rng, n: {name: rng.standard_t(2, size=n) for name in "ab"},
    lambda rng, n: {name: rng.normal(size=n) for name in "abc"},
    lambda rng, n: {name: 1.0 * rng.poisson(2, n) for name in "abc"},
    lambda rng, n: {name: 1.0 * (rng.random(n) < 0.4) for name in "abcd"},
)


def given_clusterer(rng, frame):
    """Return one of several clusterers behind the encoders of words, and at times a scaler."""
    k, state = int(rng.integers(2, 5)), int(rng.integers(100))
    ways = (
        KMeans(k, n_init=2, random_state=state),
        BisectingKMeans(k, random_state=state),
        GaussianMixture(k, reg_covar=1e-3, random_state=state),
    )
    numbers = [*frame.select_dtypes("number")]
    texts = [name for name in frame if name not in numbers]
    scaler = StandardScaler() if rng.random() < 0.5 else "passthrough"
    steps = make_column_transformer((OneHotEncoder(sparse_output=False), texts), (scaler, numbers))
    return make_pipeline(steps if texts else scaler, ways[int(rng.integers(len(ways)))])


def is_called_clearer(frame, clusterer, seed):
    found = explain(frame, clusterer.fit(frame), method="cart").stability(2, random_state=seed)
    return found.explained > found.without_groups


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_independent_columns_are_hardly_ever_called_clearer_whoever_clusters_them():
    """Of each kind of table without groups less than one in two hundred seems clearer, of three kinds as many each."""
    n = draws(48, least=8)
    found = []
    for seed in range(n):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(INDEPENDENT[seed % len(INDEPENDENT)](rng, int(rng.integers(80, 200))))
        found.append(is_called_clearer(frame, given_clusterer(rng, frame), seed))
    assert sum(found) <= binom.ppf(0.99, n, 3 * RARE)


@pytest.mark.filterwarnings("ignore")
@law(4)
def test_groups_of_several_columns_are_called_clearer_behind_encoders_and_scalers(seed):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, 150)
    frame = pd.DataFrame({"x": rng.normal(size=150) + 6 * (group == 1), "y": rng.normal(size=150) + 6 * (group == 2)})
    for name in "uv" if seed % 2 else ():
        frame[name] = np.where(rng.random(150) < 0.1, words(rng, 150), np.array([*"abc"])[group])
    steps = make_column_transformer(
        (StandardScaler(), ["x", "y"]), (OneHotEncoder(sparse_output=False), [*frame.columns[2:]])
    )
    assert is_called_clearer(frame, make_pipeline(steps, KMeans(3, n_init=2, random_state=0)), seed)
    far = pd.DataFrame({"x": rng.normal(size=150) + 6 * (group == 1), "y": rng.normal(size=150)})
    assert is_called_clearer(far, KMeans(2, n_init=2, random_state=0), seed)  # in one column, beside others like noise
