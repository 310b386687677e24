"""Concept labels of every kind of table, missing ones among them, and those that cannot be learned from."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from boxwood.concepts import ConceptProjector, stack_concepts
from boxwood.errors import DataError
from tests.scale import each

CLASSIFIERS = ("logistic", "svm", "mean-difference")


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


def test_missing_marks_of_frames_are_unknown(planted):
    red = [None if i % 2 else bool(x) for i, x in enumerate(planted.is_red)]
    nullable = pd.array(red, dtype="boolean")
    frames = [pd.DataFrame({"red": nullable}), pd.DataFrame({"red": red}), pl.DataFrame({"red": red})]
    for table in (*frames, {"red": red}, {"red": pl.Series(red)}, pd.Series(nullable, name="red")):
        assert ConceptProjector().fit(planted.Z, table).n_examples_.tolist() == [200]


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


@each(
    "table, message",
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
