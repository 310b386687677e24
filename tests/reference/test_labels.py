"""Labels of any type as numbers from 0."""

import numpy as np
import pytest

from boxwood.reference import Reference
from boxwood.reference._labels import encode_labels
from tests.scale import seeds

WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


def naive_codes(labels):
    """Return code by code and name by name what `encode_labels` must return for whole numbers."""
    names = tuple(sorted({int(label) for label in labels} - {-1}))
    return [-1 if label == -1 else names.index(int(label)) for label in labels], names


@pytest.mark.parametrize("kind", WHOLE)
def test_whole_labels_of_every_type_up_to_their_ends(kind):
    ends = np.iinfo(kind)
    values = [ends.min, ends.max, 0, 1, -1, ends.min + 1, ends.max - 1, -100, 100]
    values = [value for value in values if ends.min <= value <= ends.max]
    for seed in seeds(20):
        labels = np.random.default_rng(seed).choice(np.array(values, dtype=kind), 9)
        codes, names = encode_labels(labels)
        assert (codes.tolist(), names) == naive_codes(labels.tolist())


def test_a_reference_takes_labels_as_far_apart_as_their_type_allows():
    X = np.arange(5.0)[:, None]
    reference = Reference.of(X, np.array([-100, -100, 100, 100, 100], np.int8))
    assert reference.names == (-100, 100)
    assert reference.labels.tolist() == [0, 0, 1, 1, 1]
