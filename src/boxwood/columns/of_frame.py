"""Columns of a frame that rules may use, read as numbers and codes."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from boxwood._dates import DATES_AS_TEXT
from boxwood._frames import (
    as_matrix,
    boolean_columns,
    column_names,
    column_series,
    date_columns,
    first_values,
    numeric_columns,
    refuse_unknown_columns,
    stated_order,
)
from boxwood._types import Floats, Indices
from boxwood._validation import list_words, refuse_halves, refuse_not_finite, show_value
from boxwood.axes import Categories
from boxwood.axes.categories import (
    MANY_VALUES,
    MOST_VALUES,
    is_missing,
    many_values,
    places_in_order,
    plain_value,
)
from boxwood.batches.batches import OTHER_KINDS
from boxwood.columns.column_table import ColumnTable
from boxwood.columns.rules import by_reason, reasons_to_leave_out
from boxwood.columns.seen import Seen, ShuffledRows, Use, are_times, seen_numbers
from boxwood.errors import DataError

NO_WORDS = OTHER_KINDS["other"]


class Coded(NamedTuple):
    """A column of categories: the code of each row, and the categories."""

    codes: Floats
    categories: Categories


UNREAD = ("unclear", "time", "empty")
"""Kinds of columns of a frame that rules cannot read, in the order in which they are told."""


class SeenSeries(Seen):
    """A column of a frame that holds no numbers, or is named as a category: read as words, if it can be."""

    def __init__(self, frame: Any, name: str, kind: str, *, is_named: bool) -> None:
        super().__init__(name, kind, is_word=kind == "text" or (is_named and kind not in ("time", "empty")))
        self.frame = frame

    @cached_property
    def texts(self) -> list[Hashable]:  # type: ignore[override]
        """The first thousand values."""
        return first_values(column_series(self.frame, self.name), 1000)

    @property
    def are_times(self) -> bool:  # type: ignore[override]
        """Whether all of these are times of the day."""
        return are_times(self.texts)

    @cached_property
    def coded(self) -> Coded | str:
        """The codes of the words, or why there are none."""
        return coded_column(self.frame, self.name) if self.is_word else ""

    @property
    def why_no_words(self) -> str:  # type: ignore[override]
        """Why the values cannot be words."""
        return self.coded if isinstance(self.coded, str) else ""

    @property
    def n_values(self) -> int | None:  # type: ignore[override]
        """Number of different values, of which a missing one is one here."""
        return None if isinstance(self.coded, str) else max(len(self.coded.categories.values), 1)


def kinds_of(frame: Any, *, are_read: bool = True) -> dict[str, str]:
    """Return what the columns of a frame hold, dates as numbers: first those that rules cannot read, by kind.

    IN: are_read: whether texts that are dates were read as such, so that those which are there were not for sure.
    """
    plain, others = numeric_columns(frame)
    kinds = {name: kind for kind in UNREAD for name in others[OTHER_KINDS[kind]]}
    dates = dict.fromkeys(others[DATES_AS_TEXT], "unclear" if are_read else "date")
    return {**kinds, **dates, **dict.fromkeys(others["text"], "text"), **dict.fromkeys(plain, "number")}


def seen_in_frame(X: Any, label: str | None, *, has_values: bool) -> list[Seen]:
    """Return what is known of the columns of a frame as a table of numbers, but for the labels: its numbers last.

    IN: has_values: whether rules may look at the numbers.
    """
    kinds = {name: kind for name, kind in kinds_of(X, are_read=has_values).items() if name != label}
    dates = date_columns(X)
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    others = [Seen(name, kind) for name, kind in kinds.items() if kind != "number"]
    if has_values:
        values = as_matrix(X, numbers)
        return [*others, *seen_numbers(numbers, values.T, dates, ShuffledRows(values))]
    return [*others, *(Seen(name, "date" if name in dates else "number") for name in numbers)]


def readable_columns(
    frame: Any, wanted: Sequence[str] | None, categories: Collection[str], unused: str | None
) -> ColumnTable:
    """Return the columns of a frame that rules may use.

    IN: wanted: the columns that the caller named, or None for all; categories: columns whose values are names; unused:
    a column of labels.

    Raises
    ------
    DataError
        If a column that the caller named holds neither numbers nor text, no value, or too many of them.
    """
    kinds, present = kinds_of(frame), column_names(frame)
    refuse_unknown_columns([*(wanted or ()), *categories], present)
    names = [name for name in (present if wanted is None else wanted) if name != unused]
    found = {name: SeenSeries(frame, name, kind, is_named=name in categories) for name, kind in kinds.items()}
    unread = [name for name in kinds if name in names and not found[name].is_word and kinds[name] != "number"]
    columns = [found[name] for name in (*unread, *(name for name in dict.fromkeys(names) if found[name].is_word))]
    chosen = categories if wanted is None else names
    why = reasons_to_leave_out(columns, Use(chosen=chosen, drops_constants=wanted is None))
    by_why = {OTHER_KINDS[kind]: list[str]() for kind in UNREAD} | by_reason(why)
    asked = {reason: [name for name in group if name in chosen] for reason, group in by_why.items()}
    if any(asked.values()):
        said = "; ".join(f"{list_words(group)}: {reason}" for reason, group in asked.items() if group)
        raise DataError(
            f"rules cannot use {said}\nleave such columns out, or make some of few values, or of numbers, of them"
        )
    coded = {seen.name: seen.coded for seen in columns if seen.name not in why and isinstance(seen.coded, Coded)}
    return _table(frame, [name for name in names if name not in why], coded, by_why)


def with_numbers(frame: Any, names: Sequence[str], used: Sequence[str] | None) -> Any:
    """Return a frame with the numbers that texts spell in the place of columns of text; IN: used: None for all."""
    import narwhals as nw

    refuse_unknown_columns(names, column_names(frame))
    plain, found = numeric_columns(frame)[0], nw.from_native(frame, eager_only=True)
    for series in (found[name] for name in names if name not in plain and (used is None or name in used)):
        texts = series.drop_nulls().unique(maintain_order=True).to_list()
        try:
            numbers = [float(text) for text in texts]
        except (TypeError, ValueError) as error:
            raise DataError(f"{series.name} is not a column of numbers: {error}; leave it out of numbers=") from None
        if texts:
            found = found.with_columns(series.replace_strict(texts, numbers, return_dtype=nw.Float64))
    return found.to_native()


def coded_column(frame: Any, name: str) -> Coded | str:
    """Return a column of a frame as codes of its values, or why it cannot be one.

    Values are in ascending order, or in the order that the column has for them; a missing one is the last. They are
    ordered if the column is an ordered Categorical of pandas.
    """
    series = column_series(frame, name)
    found = _factorize(series)
    if isinstance(found, str):
        return found
    codes, values = found
    refuse_halves(f"in column {show_value(name)}, the text", values)
    order = _in_order(series, values)
    rank = np.empty(len(order) + 1)
    rank[order], rank[-1] = np.arange(len(order)), len(order)
    lacks = bool((codes < 0).any())
    is_ordered = series.implementation.is_pandas() and getattr(series.to_native().dtype, "ordered", False) is True
    known = (*(values[i] for i in order), *([None] if lacks else []))
    return Coded(rank[codes], Categories(known, others=False, ordered=is_ordered))


def _table(frame: Any, names: list[str], coded: Mapping[str, Coded], left_out: dict[str, list[str]]) -> ColumnTable:
    """Return the named columns."""
    values = np.empty((len(frame), len(names)), order="F")
    categories = {j: coded[name].categories for j, name in enumerate(names) if name in coded}
    plain = [name for name in names if name not in coded]
    read = iter(as_matrix(frame, plain).T)
    for j, name in enumerate(names):
        values[:, j] = coded[name].codes if name in coded else next(read)
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        refuse_not_finite(
            np.nan_to_num(values[:, infinite], posinf=np.inf, neginf=-np.inf),
            [names[j] for j in np.flatnonzero(infinite)],
        )
    truths = set(boolean_columns(frame, plain))
    booleans = tuple(name for name in plain if name in truths)
    dates = date_columns(frame)
    return ColumnTable(tuple(names), values, categories, booleans, left_out, dates=dates)


def _factorize(series: Any) -> tuple[Indices, list[Hashable]] | str:
    """Return the number of each row's value among the values, -1 for a missing one; or why there is none."""
    import narwhals as nw

    kind = series.dtype
    if kind in (nw.List, nw.Struct, nw.Array):
        return NO_WORDS
    if kind == nw.Object or not (kind == nw.String or kind in (nw.Categorical, nw.Enum)):
        return _number_values(series.to_list())
    if series.implementation.is_pandas():  # ten times as fast as what follows, which makes a type of text of categories
        codes, found = series.to_native().factorize()
        texts = found[: MOST_VALUES + 1].tolist()
        if len(texts) <= MOST_VALUES and all(isinstance(text, str) for text in texts):
            return codes, texts
    present = series.unique().drop_nulls()
    if len(present) > MOST_VALUES:
        length = present.head(MOST_VALUES).str.len_chars().mean() if kind == nw.String else 0.0
        return many_values(len(series.drop_nulls()), len(present), length)
    values = present.to_list()
    if kind != nw.String and all(isinstance(value, str) for value in values):
        series = series.cast(nw.String)
    elif kind != nw.String:  # a Categorical of pandas may hold numbers
        return _number_values(series.to_list())
    codes = (
        series.replace_strict(values, list(range(len(values))), return_dtype=nw.Float64).to_numpy() if values else ()
    )
    codes = np.asarray(codes, dtype=np.float64) if values else np.full(len(series), np.nan)
    return np.where(np.isnan(codes), -1, codes).astype(np.intp), values


def _number_values(values: list[Any]) -> tuple[Indices, list[Hashable]] | str:
    """Return values of any type as numbers of the different ones, and these: texts, numbers and truths."""
    number: dict[Hashable, int] = {}
    present: list[Hashable] = []
    codes = np.empty(len(values), dtype=np.intp)
    try:
        for i, value in enumerate(values):
            if value not in number:
                plain = plain_value(value)
                if plain is None and not is_missing(value):
                    return NO_WORDS
                number[value] = -1 if is_missing(value) else len(present)
                present += [] if is_missing(value) else [plain]
                if len(present) > MOST_VALUES:
                    return MANY_VALUES
            codes[i] = number[value]
    except TypeError:  # lists and the like cannot be compared with others
        return NO_WORDS
    return codes, present


def _in_order(series: Any, values: Sequence[Hashable]) -> list[int]:
    """Return the places of values in the order that a column has for them, or else ascending."""
    stated = _stated_order(series)
    if stated is not None:
        place = {value: i for i, value in enumerate(stated)}
        return sorted(range(len(values)), key=lambda i: place[values[i]])
    return places_in_order(values)


def with_missing_code(frame: Any, name: str, coded: Coded) -> Coded:
    """Return a column with a code for a missing value; one whose values have an order has all that its type has."""
    series, present = column_series(frame, name), coded.categories.values
    stated = (_stated_order(series) if coded.categories.ordered else None) or present
    known = coded.categories._replace(values=(*(value for value in stated if value is not None), None))
    return Coded(known.codes(present)[coded.codes.astype(np.intp)], known)


def _stated_order(series: Any) -> list[Hashable] | None:
    """Return the values of a column in their order, where its type has one; None for all columns of Arrow."""
    stated = None if series.implementation.is_pyarrow() else stated_order(series.to_native())
    return None if stated is None else [plain_value(value) for value in stated]
