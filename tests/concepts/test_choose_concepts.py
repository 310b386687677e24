"""Chosen concepts: the best subset where all are compared, a good one elsewhere."""

import numpy as np
import pytest

from boxwood import Mixture
from boxwood.concepts import _choosing as choosing
from boxwood.concepts import choose_concepts, unseparated_pairs
from boxwood.concepts._choosing import pair_gaps
from boxwood.errors import DataError
from tests import naive


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
        assert chosen.indices == subset
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
            greedy = choose_concepts(scores, most)
        assert not greedy.exact
        assert 1 <= len(greedy.indices) <= most
        assert greedy.value <= best.value
        reached.append(greedy.value == best.value)
        _, gaps = pair_gaps(scores, "max")
        value = gaps[:, greedy.indices].max(axis=1).min()
        for i in range(len(greedy.indices)):
            for j in range(scores.n_features):
                other = list(greedy.indices)
                other[i] = j
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


def test_pairs_that_no_concept_separates():
    names = ["frog", "horse", "deer"]
    scores = Mixture([1, 1, 1], [[0, 5], [9, 0], [10, 0.5]], np.ones((3, 2)), names)
    (pair,) = unseparated_pairs(scores, ["striped", "green"])
    assert (pair.first, pair.second, pair.concept, pair.gap) == ("horse", "deer", "striped", 1.0)
    assert str(pair).startswith("add a concept that separates horse from deer: along striped, the best so far, they")
    assert [p.gap for p in unseparated_pairs(scores, least_gap=100)] == [1.0, 9.0, 10.0]
    with pytest.raises(DataError, match="names must be one for each of 2 concepts, got 1"):
        unseparated_pairs(scores, ["striped"])
