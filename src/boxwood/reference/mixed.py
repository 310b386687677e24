"""`MixedTable`: columns of numbers and of categories, read from a frame, as numbers and codes."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from boxwood._dates import DOUBTFUL, TIME, TIMES, Dates
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
from boxwood._types import Array, Bools, Floats, Indices, Weights
from boxwood._validation import as_whole_weights, listed, refuse_halves, refuse_not_finite, shown
from boxwood.axes import Categories
from boxwood.axes.categories import MANY_VALUES, MOST_VALUES, bands_in_order, is_missing, many_values
from boxwood.errors import DataError
from boxwood.passes.source import TextAmong
from boxwood.passes.sums import unit_scaling_of

TRUTHS = Categories((False, True, None), others=False)
NO_VALUES = "neither numbers nor text"
FEW_ROWS = 50  # in fewer rows it is nothing unusual that values of a text seldom come twice
VERY_FEW_ROWS = 20  # in fewer rows, not even that none comes twice
NUMBERS_AS_TEXT = "numbers as text (convert them to numbers, or name them in categories)"
_NUMBER = re.compile(  # with a currency or a unit, thousands, or a minus behind it
    r"[<>]?\s*\(?[-+\u2212]?\s*(?:[$€£¥]|[A-Z]{3}\s)?\s*(?:\d{1,3}(?:[.,'\u2019\s]\d{3})+|\d+)(?:[.,]\d+)?"
    r"(?:\s*(?:%|[$€£¥])|\s(?![aApP][mM]\b)[^\W\d_]{1,5})?\)?-?"
)
_TIME = re.compile(TIME)
_WHOLE, _PADDED = re.compile(r"\d+"), re.compile(r"0\d")
_NEARLY_ALL = 0.95  # of different texts, so that a few may say that there is no number
_FEW_VALUES = 20  # of texts that may be codes, such as versions


@dataclass(frozen=True)
class MixedTable:
    """The columns of a table that rules may use, as numbers and codes.

    Parameters
    ----------
    columns : tuple of d str
        Names of the columns.
    values : array of shape (n, d)
        Numbers, NaN where one is missing, and codes; a missing category has a code of its own.
    categories : mapping from column to Categories
        The columns of codes.
    booleans : tuple of str
        Columns of numbers that are truths, as 0 and 1.
    left_out : mapping from str to list of str
        Other columns, by the reason why they are left out.
    names : tuple of str
        Names of all columns of the table.
    dates : mapping from str to Dates
        Columns of numbers that are days of dates.
    """

    columns: tuple[str, ...]
    values: Floats
    categories: Mapping[int, Categories] = field(default_factory=dict)
    booleans: tuple[str, ...] = ()
    left_out: Mapping[str, list[str]] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    dates: Mapping[str, Dates] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.values)

    def lacks(self, j: int) -> Bools:
        """Return whether each row lacks a value in a column, shape (n,)."""
        known = self.categories[j].values if j in self.categories else ()
        x = self.values[:, j]
        return np.asarray(x == known.index(None) if None in known else np.isnan(x))

    @property
    def lacking(self) -> Bools:
        """Whether each value is missing, shape (n, d)."""
        return np.array([self.lacks(j) for j in range(len(self.columns))]).T

    @property
    def gaps(self) -> tuple[int, ...]:
        """The columns of numbers that some rows lack."""
        return tuple(j for j in range(len(self.columns)) if j not in self.categories and self.lacks(j).any())

    @property
    def points(self) -> Floats:
        """The values with plus infinity for each missing number; tables are finite, so that point is free."""
        if not (gaps := self.gaps):
            return self.values
        values = self.values.copy(order="F")
        for j in gaps:
            values[self.lacks(j), j] = np.inf
        return values

    def of_rows(self, rows: Indices) -> MixedTable:
        """Return some of the rows; values that only other rows have keep their codes."""
        return replace(self, values=self.values[rows])

    def without(self, names: Collection[str], reason: str = "") -> MixedTable:
        """Return the table without some of its columns, which are left out for a reason if one is given."""
        kept = [j for j, name in enumerate(self.columns) if name not in names]
        if len(kept) == len(self.columns):
            return self
        return replace(
            self,
            columns=tuple(self.columns[j] for j in kept),
            values=self.values[:, kept],
            categories={i: self.categories[j] for i, j in enumerate(kept) if j in self.categories},
            left_out={**self.left_out, reason: [*self.left_out.get(reason, ()), *names]} if reason else self.left_out,
        )


def points_of(categories: Mapping[int, Categories], gaps: Iterable[int]) -> dict[int, float]:
    """Return what stands for a missing value in each column that may lack one: plus infinity, or a code of its own."""
    codes = {j: float(one.values.index(None)) for j, one in categories.items() if None in one.values}
    return {**dict.fromkeys(gaps, np.inf), **codes}


def unit_scales(table: Floats, categories: Mapping[int, Categories], weights: Weights = None) -> Floats:
    """Return factors, shape (d,), that give each column the variance 1 over the values that are not missing.

    The variance of a category is that of its one-hot columns together, one less the sum of its squared shares. The
    factor of a column of one value is 1. IN: table (n, d), with plus infinity for each missing number.
    """
    return np.array(
        [
            _scale_of_codes(table[:, j], weights) if j in categories else _scale_of_numbers(table[:, j], weights)
            for j in range(table.shape[1])
        ]
    )


def _scale_of_codes(codes: Floats, weights: Weights) -> float:
    mass = None if weights is None else as_whole_weights(weights).astype(np.float64)
    counts = np.bincount(codes.astype(np.intp), mass)
    variance = 1.0 - float(np.square(counts / counts.sum()).sum())
    return 1.0 / math.sqrt(variance) if counts.max() < counts.sum() else 1.0


def _scale_of_numbers(x: Floats, weights: Weights) -> float:
    known = ~np.isposinf(x)
    _, deviations = unit_scaling_of(x[known, None], None if weights is None else weights[known])
    return 1.0 / float(deviations[0])


class Coded(NamedTuple):
    """A column of categories: the code of each row, and the categories."""

    codes: Floats
    categories: Categories


def readable_columns(
    frame: Any, wanted: Sequence[str] | None, categories: Collection[str], unused: str | None
) -> MixedTable:
    """Return the columns of a frame that rules may use.

    IN: wanted: the columns that the caller named, or None for all; categories: columns whose values are names; unused:
    a column of labels.

    Raises
    ------
    DataError
        If a column that the caller named holds neither numbers nor text, no value, or too many of them.
    """
    plain, others = numeric_columns(frame)
    present = column_names(frame)
    refuse_unknown_columns([*(wanted or ()), *categories], present)
    names = [name for name in (present if wanted is None else wanted) if name != unused]
    left_out = {reason: [name for name in found if name in names] for reason, found in others.items()}
    del left_out["text"]
    left_out[DOUBTFUL] = [name for name in left_out[DOUBTFUL] if name not in categories]
    unreadable = {name for group in left_out.values() for name in group}
    coded: dict[str, Coded] = {}
    for name in names:
        if name in unreadable or (name in plain and name not in categories):
            continue
        found = coded_column(frame, name)
        if wanted is None and name not in categories:
            found = _other_than_words(frame, name) or found
        if isinstance(found, Coded) and (len(found.categories.values) > 1 or wanted is not None):
            coded[name] = found
        elif isinstance(found, Coded):
            left_out.setdefault("one value only", []).append(name)
        else:
            left_out.setdefault(found, []).append(name)
    refused = {name: reason for reason, group in left_out.items() for name in group}
    asked = {
        reason: [name for name in left_out[reason] if wanted is not None or name in categories] for reason in left_out
    }
    if any(asked.values()):
        said = "; ".join(f"{listed(group)}: {reason}" for reason, group in asked.items() if group)
        raise DataError(
            f"rules cannot use {said}\nleave such columns out, or make some of few values, or of numbers, of them"
        )
    return _table(frame, [name for name in names if name not in refused], coded, left_out)


def _other_than_words(frame: Any, name: str) -> str:
    """Return why a column is left out whose first thousand values are numbers or times to people; empty for others."""
    values = first_values(column_series(frame, name), 1000)
    return TIMES if are_times(values) else NUMBERS_AS_TEXT if are_numbers(values) else ""


def are_times(values: Iterable[Hashable]) -> bool:
    """Return whether all values are texts of times of the day or lengths of time, such as 14:30 and 00:12:33."""
    texts = [value for value in values if not is_missing(value)]
    return bool(texts) and all(isinstance(text, str) and _TIME.fullmatch(text.strip()) for text in texts)


def are_numbers(values: Iterable[Hashable], *, or_codes: bool = True) -> bool:
    """Return whether values have many texts, and nearly all of these are numbers to people.

    Texts of digits alone may be codes: they count where others are beside them, and some of them are longer, or all of
    two digits at most, as ages are. IN: or_codes: whether they may be.
    """
    texts = {value.strip() for value in values if isinstance(value, str)}
    numbers = {text for text in texts if _NUMBER.fullmatch(text)}
    whole = {text for text in numbers if _WHOLE.fullmatch(text)}
    lengths = {*map(len, whole)}
    may_be_whole = len(whole) < len(texts) and not any(map(_PADDED.match, whole))
    may_be_whole = may_be_whole and (len(lengths) > 1 or max(lengths, default=0) <= 2 or not or_codes)
    n_found = len(numbers) if may_be_whole else len(numbers) - len(whole)
    return n_found > _FEW_VALUES and n_found >= _NEARLY_ALL * len(texts)


def why_no_words(values: Sequence[Hashable] | None, among: TextAmong | None) -> str:
    """Return why a column of a file that nobody named is left out by its values; empty if they are words, or too many.

    IN: values: None if they are too many; among: of a column in which text stands among numbers or dates: if these are
    few numbers, all of its values are words.
    """
    if among is not None:
        are_words = values is not None and not (among.is_no_word or are_numbers(values, or_codes=False))
        return "" if are_words else among.why
    return NUMBERS_AS_TEXT if values is not None and are_numbers(values) else ""


def with_numbers(frame: Any, names: Sequence[str]) -> Any:
    """Return a frame with the numbers that texts spell in the place of some columns of text."""
    import narwhals as nw

    refuse_unknown_columns(names, column_names(frame))
    plain, found = numeric_columns(frame)[0], nw.from_native(frame, eager_only=True)
    for series in (found[name] for name in names if name not in plain):
        texts = series.drop_nulls().unique().to_list()
        try:
            numbers = [float(text) for text in texts]
        except (TypeError, ValueError) as error:
            raise DataError(f"{series.name} is not a column of numbers: {error}; leave it out of numbers=") from None
        if texts:
            found = found.with_columns(series.replace_strict(texts, numbers, return_dtype=nw.Float64))
    return found.to_native()


def with_truths(table: MixedTable) -> MixedTable:
    """Return the table with truths that some rows lack as categories, as a rule says them like words."""
    values, categories = table.values, dict(table.categories)
    for j, name in enumerate(table.columns):
        if name in table.booleans and (lacks := np.isnan(table.values[:, j])).any():
            values = values.copy(order="F") if values is table.values else values
            values[lacks, j] = len(TRUTHS.values) - 1
            categories[j] = TRUTHS
    booleans = tuple(name for j, name in enumerate(table.columns) if name in table.booleans and j not in categories)
    return replace(table, values=values, categories=dict(sorted(categories.items())), booleans=booleans)


def coded_column(frame: Any, name: str) -> Coded | str:
    """Return a column of a frame as codes of its values, or why it cannot be one.

    Values are in ascending order, or in the order that the column has for them; a missing one is the last. They are
    ordered if the column is an ordered Categorical of pandas.
    """
    series = column_series(frame, name)
    found = _factorized(series)
    if isinstance(found, str):
        return found
    codes, values = found
    refuse_halves(f"in column {shown(name)}, the text", values)
    order = _in_order(series, values)
    rank = np.empty(len(order) + 1)
    rank[order], rank[-1] = np.arange(len(order)), len(order)
    lacks = bool((codes < 0).any())
    is_ordered = series.implementation.is_pandas() and getattr(series.to_native().dtype, "ordered", False) is True
    known = (*(values[i] for i in order), *([None] if lacks else []))
    return Coded(rank[codes], Categories(known, others=False, ordered=is_ordered))


def orders_of_bands(table: MixedTable) -> dict[str, Sequence[Any]]:
    """Return the orders of columns whose words are bands of numbers, such as (45, 60], by their names."""
    found: dict[str, Sequence[Any]] = {}
    for j, known in table.categories.items():
        if not known.ordered and (order := bands_in_order(known.values[: known.known])) is not None:
            found[table.columns[j]] = order
    return found


def in_stated_order(table: MixedTable, orders: Mapping[str, Sequence[Any]]) -> MixedTable:
    """Return the table with some of its columns as ordered categories, in the orders that the caller states.

    Values are told apart by their texts, so that "2" stands for the number 2.

    Raises
    ------
    DataError
        If a column has a value that its order lacks.
    """
    values, categories = table.values, dict(table.categories)
    for j, name in enumerate(table.columns):
        if name not in orders:
            continue
        before, stated = categories[j], [str(value) for value in orders[name]]
        by_text = {str(value): value for value in before.values[: before.known]}
        if others := [text for text in by_text if text not in stated]:
            raise DataError(f"{name} has values that its order in categories lacks: {listed(others)}; name them, too")
        in_order, lacks = [by_text[text] for text in stated if text in by_text], before.values[before.known :]
        categories[j] = before._replace(values=(*in_order, *lacks), ordered=True)
        values = values.copy(order="F") if values is table.values else values
        values[:, j] = categories[j].codes(before.values)[values[:, j].astype(np.intp)]
    return replace(table, values=values, categories=categories)


# ------------------------------------------------------------------------------------------------------- reading
def _table(frame: Any, names: list[str], coded: Mapping[str, Coded], left_out: dict[str, list[str]]) -> MixedTable:
    """Return the named columns."""
    values = np.empty((len(frame), len(names)), order="F")
    categories = {j: coded[name].categories for j, name in enumerate(names) if name in coded}
    truths = set(boolean_columns(frame))
    read = iter(as_matrix(frame, [name for name in names if name not in coded]).T)
    for j, name in enumerate(names):
        values[:, j] = coded[name].codes if name in coded else next(read)
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        refuse_not_finite(
            np.nan_to_num(values[:, infinite], posinf=np.inf, neginf=-np.inf),
            [names[j] for j in np.flatnonzero(infinite)],
        )
    booleans = tuple(name for name in names if name in truths and name not in coded)
    dates = date_columns(frame)
    return MixedTable(tuple(names), values, categories, booleans, left_out, dates=dates)


def _factorized(series: Any) -> tuple[Indices, list[Hashable]] | str:
    """Return the number of each row's value among the values, -1 for a missing one; or why there is none."""
    import narwhals as nw

    kind = series.dtype
    if kind in (nw.List, nw.Struct, nw.Array):
        return NO_VALUES
    if kind == nw.Object or not (kind == nw.String or kind in (nw.Categorical, nw.Enum)):
        return _numbered(series.to_list())
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
        return _numbered(series.to_list())
    codes = (
        series.replace_strict(values, list(range(len(values))), return_dtype=nw.Float64).to_numpy() if values else ()
    )
    codes = np.asarray(codes, dtype=np.float64) if values else np.full(len(series), np.nan)
    return np.where(np.isnan(codes), -1, codes).astype(np.intp), values


def _numbered(values: list[Any]) -> tuple[Indices, list[Hashable]] | str:
    """Return values of any type as numbers of the different ones, and these: texts, numbers and truths."""
    number: dict[Hashable, int] = {}
    present: list[Hashable] = []
    codes = np.empty(len(values), dtype=np.intp)
    try:
        for i, value in enumerate(values):
            if value not in number:
                plain = plain_value(value)
                if plain is None and not is_missing(value):
                    return NO_VALUES
                number[value] = -1 if is_missing(value) else len(present)
                present += [] if is_missing(value) else [plain]
                if len(present) > MOST_VALUES:
                    return MANY_VALUES
            codes[i] = number[value]
    except TypeError:  # lists and the like cannot be compared with others
        return NO_VALUES
    return codes, present


def plain_value(value: Any) -> Hashable | None:
    """Return a value as text, a whole number where it is one, a number or a truth; None for anything else."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and plain.is_integer():
        return int(plain)
    return plain if isinstance(plain, (str, int, float)) else None


def _in_order(series: Any, values: Sequence[Hashable]) -> list[int]:
    """Return the places of values in the order that a column has for them, or else ascending."""
    stated = _stated_order(series)
    if stated is not None:
        place = {value: i for i, value in enumerate(stated)}
        return sorted(range(len(values)), key=lambda i: place[values[i]])
    return ascending(values)


def ascending(values: Sequence[Hashable]) -> list[int]:
    """Return the places of values in ascending order; numbers and texts together are ordered by type."""
    try:
        return sorted(range(len(values)), key=lambda i: values[i])  # type: ignore[return-value, arg-type]
    except TypeError:
        return sorted(range(len(values)), key=lambda i: (type(values[i]).__name__, str(values[i])))


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


def seldom_twice(codes: Array, n_values: int) -> bool:
    """Return whether a category looks like an identifier: most of its values come only once, in a short table all."""
    counts = np.bincount(codes.astype(np.intp), minlength=n_values)
    n_once = int((counts == 1).sum())
    return n_once == len(codes) >= VERY_FEW_ROWS or (len(codes) >= FEW_ROWS and 2 * n_once > len(codes))
