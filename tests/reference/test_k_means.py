"""K-means of few rows is that of scikit-learn, to the last bit."""

import numpy as np
import pytest
from sklearn.cluster import KMeans, kmeans_plusplus

from boxwood._threads import quietly_by_one_thread
from boxwood.reference.k_means import k_means, seed_centers


def drawn_rows(seed):
    random = np.random.default_rng(seed)
    n, d = int(random.integers(12, 600)), int(random.integers(1, 25))
    groups = random.normal(size=(8, d))[random.integers(0, 8, size=n)] * random.choice([0, 3, 100])
    X = random.normal(size=(n, d)) * random.uniform(0.1, 10, size=d) + groups
    X = np.round(X) if seed % 3 == 0 else X
    X = np.minimum(np.abs(X), 2) if seed % 7 == 0 else X  # many rows are equal
    return np.asfortranarray(X) if seed % 5 == 0 else X


@pytest.mark.parametrize("seed", range(60))
def test_labels_and_centres_are_those_of_scikit_learn(seed):
    X, starts = drawn_rows(seed), (1, 2, 4)[seed % 3]
    k = 1 + seed % min(10, len(X) // 2)
    with quietly_by_one_thread():
        found, theirs = k_means(X, k, seed, starts), KMeans(k, n_init=starts, random_state=seed).fit(X)
        assert np.array_equal(found.labels, theirs.labels_)
        assert np.array_equal(found.centers, theirs.cluster_centers_)
        assert np.array_equal(found.predict(X + 0.01), theirs.predict(X + 0.01))


@pytest.mark.parametrize("seed", range(30))
def test_first_centres_are_those_of_scikit_learn(seed):
    X, k = drawn_rows(seed), 1 + seed % 10
    with quietly_by_one_thread():
        theirs = kmeans_plusplus(X, k, random_state=np.random.RandomState(seed))[0]
        assert np.array_equal(seed_centers(X, k, np.random.RandomState(seed)), theirs)
