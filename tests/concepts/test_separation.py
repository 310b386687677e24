"""Pairs of clusters that no concept separates."""

import numpy as np
import pytest

from boxwood import Mixture
from boxwood.concepts import unseparated_pairs
from boxwood.errors import DataError


def test_pairs_that_no_concept_separates():
    names = ["frog", "horse", "deer"]
    scores = Mixture([1, 1, 1], [[0, 5], [9, 0], [10, 0.5]], np.ones((3, 2)), names)
    (pair,) = unseparated_pairs(scores, ["striped", "green"])
    assert (pair.first, pair.second, pair.concept, pair.gap) == ("horse", "deer", "striped", 1.0)
    assert str(pair).startswith("add a concept that separates horse from deer: along striped, the best so far, they")
    assert [p.gap for p in unseparated_pairs(scores, least_gap=100)] == [1.0, 9.0, 10.0]
    with pytest.raises(DataError, match="names must be one for each of 2 concepts, got 1"):
        unseparated_pairs(scores, ["striped"])
