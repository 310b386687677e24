"""Directions: planted ones are recovered, scores are distances, and columns may be scaled."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier

from boxwood.concepts import ConceptProjector
from tests import naive
from tests.cases import make_case
from tests.scale import seeds, share

pytestmark = pytest.mark.filterwarnings("ignore:concepts that the embeddings do not predict:UserWarning")

CLASSIFIERS = ("logistic", "svm", "mean-difference")


@pytest.mark.parametrize("classifier", [*CLASSIFIERS, RidgeClassifier(), SGDClassifier(alpha=0.01, random_state=0)])
def test_a_planted_direction_is_recovered(planted, classifier):
    projector = ConceptProjector(classifier).fit(planted.Z, planted.concepts)
    assert projector.vectors_[0] @ planted.red > 0.97
    assert projector.vectors_[1] @ planted.size > 0.99
    assert np.linalg.norm(projector.vectors_, axis=1) == pytest.approx(1)
    assert projector.kinds_ == ("binary", "continuous", "binary")
    scores = projector.transform(planted.Z)
    assert ((scores[:, 0] > 0) == planted.is_red).mean() > 0.9
    # 0 is where the mean of the examples is predicted; Z has length-1 spread, so the slope of size is about 7
    assert np.corrcoef(scores[:, 1], planted.sizes)[0, 1] > 0.99
    assert abs(scores[:, 1].mean()) < 1e-8


def test_scores_are_the_distances_of_the_twin():
    compared = 0
    for seed in seeds(200):
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
        assert np.allclose(scores, expected, rtol=0, atol=tolerance), seed
        compared += 1
    assert compared >= share(130)


def test_the_rarer_side_counts_as_much():
    rng = np.random.default_rng(0)
    rare = np.arange(1010) < 10
    Z = rng.normal(size=(1010, 3)) + 1.5 * rare[:, None]
    for classifier in ("logistic", "svm"):
        caught = ConceptProjector(classifier).fit(Z, {"rare": rare}).transform(Z)[rare, 0] > 0
        assert caught.mean() >= 0.8
    plain = ConceptProjector(LogisticRegression()).fit(Z, {"rare": rare}).transform(Z)[rare, 0] > 0
    assert plain.mean() <= 0.5


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
    projector = ConceptProjector().fit(silent, planted.concepts)
    assert np.abs(projector.vectors_[:, -1]).max() < 0.1
    assert projector.vectors_[0, :-1] @ planted.red > 0.97
