"""Columns of every kind in frames of every library: the same names, rules and labels."""

import warnings

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from tests.columns.kinds import DATES_AS_TEXT, KINDS, LABEL, N, P
from tests.doors import FRAMES
from tests.scale import drawn, law

NOT_IN_FRAMES = {
    "wide decimals": {"polars"},  # which has no decimals of 256 bits
    "categories of integers": {
        "Arrow",
        "Arrow in pieces",
        "RecordBatch",
        "Arrow in pandas",
    },  # only a way to store them
    "dictionary of integers": {"pandas"},  # which makes categories of them, and these are words
    "times of day": {"pandas"},  # objects of Python, which pandas has no type for
}
ODD_NAMES = ("when", "a b", "größe")


def explained(table, method="cart"):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return bw.explain(table, LABEL, method=method, max_leaf_nodes=4)


@law(8)
def test_columns_have_their_names_and_values_in_the_frames_of_all_libraries(seed):
    """A date in text is among them, as it is read anew; each model labels the rows of each frame."""
    rng = np.random.default_rng(seed)
    library = [*FRAMES][1 + seed % (len(FRAMES) - 1)]
    usable = [kind for kind in KINDS if not {"pandas", library} & NOT_IN_FRAMES.get(kind, set()) and kind != "infinity"]
    kinds = [rng.choice([*DATES_AS_TEXT]), *rng.choice(usable, 2)]
    columns = {name: KINDS[kind]() for name, kind in zip(ODD_NAMES, kinds, strict=True)}
    frame, other = FRAMES["pandas"](columns), FRAMES[library](columns)
    by_pandas, by_other = explained(frame), explained(other)
    about = f"{kinds} in {library}"
    assert by_other.columns == by_pandas.columns, about
    assert {*by_other.columns} <= {*ODD_NAMES}
    assert by_other.details.dates == by_pandas.details.dates, about
    assert by_other.provenance.left_out == by_pandas.provenance.left_out, about
    assert by_other.rules() == by_pandas.rules(), about
    assert by_other.agreement == 1, about
    expected = by_pandas.predict(frame).tolist()
    for model, rows in ((by_pandas, other), (by_other, frame), (by_other, other)):
        assert model.predict(rows).tolist() == expected, about
        assert model.evaluate(rows, LABEL).agreement == 1, about
        assert (
            model.standalone_rules().predict(rows).tolist() == by_pandas.standalone_rules().predict(frame).tolist()
        ), about


EMPTY = {  # ways in which a column of one row holds no value
    "None": lambda frame, name: frame.assign(**{name: pd.Series([None], dtype=object)}),
    "NA": lambda frame, name: frame.assign(**{name: pd.Series([pd.NA], dtype=object)}),
    "NaN": lambda frame, name: frame.assign(**{name: np.nan}),
    "NaT": lambda frame, name: frame.assign(**{name: pd.NaT}),
    "texts": lambda frame, name: frame.assign(**{name: pd.Series([None], dtype="string")}),
    "truths": lambda frame, name: frame.assign(**{name: pd.Series([None], dtype="boolean")}),
    "categories": lambda frame, name: frame.assign(**{name: pd.Categorical([None])}),
    "moments": lambda frame, name: frame.assign(**{name: pd.Series([None], dtype="datetime64[us, UTC]")}),
    "times": lambda frame, name: frame.assign(**{name: pd.Series([None], dtype="timedelta64[us]")}),
}


def in_library(frame, library):
    """Return a frame of pandas as one of another library; columns of objects without a value have no type there."""
    import polars as pl
    import pyarrow as pa

    table = pa.Table.from_pandas(frame, preserve_index=False)
    frames = {"pandas": lambda: frame, "Arrow": lambda: table, "polars": lambda: pl.from_arrow(table)}
    frames |= {"Arrow in pandas": lambda: table.to_pandas(types_mapper=pd.ArrowDtype)}
    return frames[library]()


@pytest.fixture(scope="module")
def model():
    """Return a model that asks for a number, a date, a word and a truth, each of which some rows lack."""
    rng = np.random.default_rng(0)
    lacks = iter(rng.random((4, N)) < 0.1)
    frame = pd.DataFrame(
        {
            "number": np.where(next(lacks), np.nan, P),
            "date": pd.Series([f"2025-{1 + p // 4:02}-03" for p in rng.permutation(P)]).mask(next(lacks)),
            "word": pd.Series(np.array(["free", "plus", "pro"])[rng.integers(0, 3, N)]).mask(next(lacks)),
            "truth": pd.Series(rng.random(N) < 0.5, dtype="boolean").mask(next(lacks)),
        }
    )
    early, word = frame["date"] < "2025-06-01", frame["word"]
    kind = np.where(frame["number"] > 20, np.where(early, "a", "b"), np.where(word == "free", "c", "d"))
    kind = np.where(frame["truth"].fillna(False) & (kind == "d"), "e", kind)
    ex = bw.explain(frame, kind, method="cart", max_leaf_nodes=12)
    assert {ex.columns[j] for j in ex.tree.features} == {*frame}
    return ex, frame


@law(12)
def test_a_column_without_any_value_is_missing_whatever_its_type(seed, model):
    """One row of a service, or a batch that lacks a column; `why` takes the row as it is."""
    ex, frame = model
    rng = np.random.default_rng(seed)
    row = frame.iloc[[int(rng.integers(N))]].reset_index(drop=True).astype({"truth": "boolean"})
    lacking = [name for name in frame if rng.random() < 0.4] or ["number"]
    how = {name: str(rng.choice([*EMPTY])) for name in lacking}
    expected = ex.why({name: None if name in lacking or pd.isna(row[name][0]) else row[name][0] for name in frame})
    leaf = -1 if expected.leaf is None else expected.leaf
    for name in lacking:
        row = EMPTY[how[name]](row, name)
    lines = ex.standalone_rules()
    for library in drawn(("pandas", "Arrow in pandas", "polars", "Arrow"), seed):
        rows, about = in_library(row, library), f"{how} in {library}"
        assert ex.predict(rows, missing="none").tolist() == [expected.name], about
        assert ex.apply(rows, missing="none").tolist() == [leaf], about
        assert lines.predict(rows).tolist() == lines.predict(row).tolist(), about
    assert ex.predict(row.to_numpy(dtype=object), missing="none").tolist() == [expected.name]


@pytest.mark.parametrize("library", ["pandas", "polars", "Arrow"])
def test_estimators_take_a_column_without_any_value_as_one_of_missing_numbers(library):
    X = pd.DataFrame({"a": P, "b": P % 5})
    imm = bw.IMM().fit(X, LABEL)
    for how in EMPTY:
        rows = in_library(EMPTY[how](X[:1], "a"), library)
        with pytest.raises(bw.errors.DataError, match=r"missing values \(NaN\) in 1 of 1 rows: a \(1\)"):
            imm.predict(rows)


@law(8)
def test_a_few_rows_of_text_are_measured_as_rules_read_them_wherever_they_are(seed):
    """A few dates may have day and month exchanged, and a few numbers may be codes: the model knows what they are."""
    rng = np.random.default_rng(seed)
    kinds = ("texts of dates with points", "texts of numbers", "texts of times with Z", "words")
    table = FRAMES["pandas"]({kind: KINDS[kind]() for kind in kinds}).assign(label=LABEL)
    ex = bw.explain(table, "label", method="cart", columns=[kinds[seed % 4], kinds[(seed + 1) % 4]])
    rows = table.iloc[rng.choice(N, 3, replace=False)].reset_index(drop=True)
    for library in ("pandas", "polars", "Arrow", "RecordBatch"):
        few = FRAMES[library](dict(rows))
        assert ex.evaluate(few, "label").agreement == 1
        with bw.scan(FRAMES["Arrow"](dict(rows)) if library == "RecordBatch" else few) as source:
            assert ex.evaluate(source, "label").agreement == 1
