"""`read_table`: a file as a matrix of numbers. What would have to be guessed is an error instead."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boxwood._messages import rounded
from boxwood._types import Array, Floats
from boxwood._validation import listed
from boxwood.errors import DataError
from boxwood.table._column_names import ColumnError, find_columns, split_names
from boxwood.table._numerals import hints
from boxwood.table._source import Source, Tick, open_source

__all__ = ["Table", "read_table", "refuse_text"]


@dataclass(frozen=True)
class Table:
    """The numeric columns of a file, its labels, and the names of the columns that were left out.

    Parameters
    ----------
    name : str
        Name of the file in messages.
    X : array of shape (n, d)
        Always holds: float64, finite, rows in the order of the file, every column has at least two values.
    columns : tuple of d str
        Names of the columns of `X`.
    labels : array of shape (n,), or None
        Values of the label column: whole numbers, numbers or text.
    left_out : tuple of (reason, names of columns)
        Other columns, by the reason why they were left out.
    padded : tuple of str
        Columns of `X` that the file has as digits with leading zeros, such as the postcode 01234.
    booleans : tuple of str
        Columns of `X` that the file has as true and false.
    hints : tuple of str
        Lines for the reader on how the file was read, and on columns of text that look like numbers.
    weights : array of shape (n,), or None
        Values of the column of weights: finite, not negative, not all zero.
    names : tuple of str
        Names of all columns of the file.
    """

    name: str
    X: Floats
    columns: tuple[str, ...]
    labels: Array | None
    left_out: tuple[tuple[str, tuple[str, ...]], ...]
    padded: tuple[str, ...] = ()
    booleans: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    weights: Floats | None = None
    names: tuple[str, ...] = ()

    def without(self, names: Collection[str]) -> Table:
        """Return the table without some of its columns."""
        kept = [j for j, name in enumerate(self.columns) if name not in names]
        return replace(self, X=self.X[:, kept], columns=tuple(self.columns[j] for j in kept))


def read_table(
    path: str,
    *,
    format: str | None = None,
    columns: Sequence[str] = (),
    exclude: Sequence[str] = (),
    labels: str | None = None,
    weights: str | None = None,
    header: bool = True,
    decimal: str | None = None,
    tick: Tick | None = None,
) -> Table:
    """Return the numeric columns of a CSV, Parquet, Arrow or JSON-lines file.

    Booleans become 0 and 1. Columns of text, of dates or of a single value are left out and listed. A column with
    numbers in at least half of its values counts as numeric, so text in it is an error. Takes one pass over the file
    for each hundred columns, to see what they hold, one more for columns with missing values or true and false among
    them, and one to read the numbers. Takes memory of twice the matrix.

    Parameters
    ----------
    path : str
        File name, or `-` for standard input.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl"}, default=None
        None takes the format from the extension, and CSV for standard input.
    columns, exclude : sequences of str
        Columns to use and not to use; by default all numeric ones are used. An item may hold several names, with commas
        between them.
    labels : str, default=None
        Column with the label of each row; it is not a column of the matrix.
    weights : str, default=None
        Column with the weight of each row; it is not a column of the matrix.
    header : bool, default=True
        Of CSV: whether the first line holds names; if not, columns are called `column 1`, `column 2`, …
    decimal : {".", ","}, default=None
        Of CSV: what stands before the decimals. None is a point, or a comma in columns where that is sure: all values
        of the column are such numbers, and fields are separated by semicolons.
    tick : callable, default=None
        Called now and then with the fraction of a pass that is done.

    Raises
    ------
    ColumnError
        If a column is named that the table does not have, or one for labels and for weights.
    DataError
        If the file cannot be read, has missing or infinite values, text among numbers, no numeric column or only
        constant ones. The first line of the message says what is wrong, further lines what to do.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "people.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("name;age;member\\nAda;36;true\\nAlan;41;false\\n")
    >>> table = read_table(path)
    >>> table.columns, table.left_out
    (('age', 'member'), (('text', ('name',)),))
    >>> table.X
    array([[36.,  1.],
           [41.,  0.]])
    """
    with open_source(path, format=format, header=header, decimal=decimal) as source:
        label, weight = (None if each is None else find_columns([each], source.names)[0] for each in (labels, weights))
        if label is not None and label == weight:
            raise ColumnError(
                f"column '{labels}' cannot hold both labels and weights; name another one for one of them"
            )
        wanted = find_columns(split_names(columns, source.names), source.names)
        excluded = find_columns(split_names(exclude, source.names), source.names)
        candidates = [i for i in wanted or range(len(source.names)) if i not in (*excluded, label, weight)]
        n_rows, profiles = _profile(source, candidates, tick)
        if n_rows == 0:
            raise DataError(f"{source.name} has column names but no rows")
        used, left_out = _choose(source, profiles, wanted)
        _refuse_gaps(source, n_rows, [profiles[i] for i in used])
        y = None if label is None else _labels(source, label, n_rows)
        mass = None if weight is None else _weights(source, weight, n_rows)
        X = _matrix(source, used, n_rows, tick)
        padded = tuple(
            source.names[i] for j, i in enumerate(used) if profiles[i].padded and (X[:, j] == np.floor(X[:, j])).all()
        )
        booleans = tuple(source.names[i] for i in used if source.types[i] == "BOOLEAN" or profiles[i].words)
        said = (*source.hints, *_hints(source, dict(left_out).get("text", ())))
        said += _rounded(source, [profiles[i] for i in used])
        columns_used, all_names = tuple(source.names[i] for i in used), tuple(source.names)
        return Table(source.name, X, columns_used, y, left_out, padded, booleans, said, mass, all_names)


def refuse_text(source: Source, column: int, n_rows: int) -> None:
    """Raise a DataError if a column is not numbers; it counts the other values and shows the first of them."""
    if source.kind(column) not in ("text", "number"):
        kind = source.types[column].lower()
        raise DataError(f"column '{source.names[column]}' must be numbers, but {source.name} has {kind}")
    where = _where(source, column, f"NOT {source.missing(column)} AND {source.number(column)} IS NULL", n_rows)
    if where:
        advice = "\n".join(_hints(source, [source.names[column]]))
        message = f"column '{source.names[column]}' must be numbers, but {source.name} has text in {where}\n{advice}"
        raise DataError(message.rstrip())


def _hints(source: Source, names: Sequence[str]) -> tuple[str, ...]:
    """Return lines on columns of text that look like numbers with other signs; a thousand texts of each are read."""
    texts = {}
    for name in names:
        i = source.names.index(name)
        if source.kind(i) == "text":
            test = f"NOT {source.missing(i)} AND {source.number(i)} IS NULL"
            query = f"SELECT {source.text(i)} FROM {source.relation} WHERE {test} LIMIT 1000"
            texts[name] = [row[0] for row in source.fetch(query)]
    return hints(texts)


def _rounded(source: Source, profiles: Sequence[_Profile]) -> tuple[str, ...]:
    """Return a line on columns of whole numbers so large that some are the same double."""
    found = []
    for p in profiles:
        if p.low is None or p.high is None or max(-p.low, p.high) <= 2**53:
            continue
        text, whole = source.text(p.column), source.is_whole(p.column)
        if source.kind(p.column) == "text":
            test = f"bool_and({source.missing(p.column)} OR regexp_matches(trim({text}), '^[-+]?[0-9]+$'))"
            whole = bool(source.fetch(f"SELECT {test} FROM {source.relation}")[0][0])
        if whole:
            found.append(source.names[p.column])
    return (rounded(found),) if found else ()


def _where(source: Source, column: int, condition: str, n_rows: int) -> str:
    """Return in words how many values fulfil a condition, and the first of them; an empty text if none does."""
    query = f"""SELECT count(*), min(row), arg_min(value, row) FROM (
        SELECT row_number() OVER () AS row, {source.text(column)} AS value FROM {source.relation}
        QUALIFY {condition})"""
    count, row, value = source.fetch(query)[0]
    return f"{count:,} of {n_rows:,} rows, first {_quoted(value)} in row {row:,}" if count else ""


# ------------------------------------------------------------------------------------------- profiles of columns


_AT_ONCE = 100  # columns of one query: the time that DuckDB takes to plan grows with the square of their number


@dataclass(frozen=True)
class _Profile:
    """Counts and range of one column.

    `filled` counts values that are not missing, `numbers` those that are numbers. `padded` says whether a text begins
    with a zero and a second digit, `words` whether all begin with letters: numbers among them are true and false.
    """

    column: int
    filled: int
    numbers: int
    low: float | None
    high: float | None
    padded: bool | None
    infinite: int = 0
    words: bool | None = False
    dates: bool = False
    huge: bool = False

    @property
    def reason(self) -> str | None:
        """Why the column is left out; None for a column of numbers. Such a column may still have text in it."""
        if self.filled == 0:
            return "no values"
        if self.dates:
            return "dates"
        if 2 * self.numbers < self.filled:
            return "text"
        if self.low != self.high or self.numbers < self.filled:
            return None
        return "too large to tell apart as doubles" if self.huge else "one value only"


def _profile(source: Source, columns: Sequence[int], tick: Tick | None) -> tuple[int, dict[int, _Profile]]:
    """Return the number of rows and the profile of each column.

    The first pass tells all of a column that has a finite number in each row. Others are read once more.
    """
    n_rows, profiles = 0, []
    for start in range(0, max(len(columns), 1), _AT_ONCE):
        some = columns[start : start + _AT_ONCE]
        n_rows, *facts = _facts(source, some, tick)
        profiles += [_Profile(i, n_rows, *facts[4 * j : 4 * j + 4]) for j, i in enumerate(some)]
    profiles = _second_pass(source, n_rows, profiles, tick)
    return n_rows, {p.column: _looked_at(source, p) for p in profiles}


def _facts(source: Source, columns: Sequence[int], tick: Tick | None) -> tuple[Any, ...]:
    """Return the number of rows, and for each column the last four fields of its profile that one pass can tell."""
    values, queries = ["1"], ["count(*)"]
    for i in columns:
        kind = source.kind(i)
        if kind not in ("number", "text"):
            queries += ["0", "NULL", "NULL", "NULL"]
            continue
        values.append(f"{source.number(i)} AS n{i}")  # once, for DuckDB would compute it for each use
        queries += [f"count(n{i})", f"min(n{i})", f"max(n{i})"]
        if kind == "text":
            values.append(f"{source.text(i)} AS t{i}")
        # texts are compared by their bytes, and ":" comes next to "9"
        queries.append(f"bool_or(t{i} >= '00' AND t{i} < '0:')" if kind == "text" else "NULL")
    query = f"SELECT {', '.join(queries)} FROM (SELECT {', '.join(values)} FROM {source.relation})"
    return source.fetch(query, tick)[0]


def _second_pass(source: Source, n_rows: int, profiles: Sequence[_Profile], tick: Tick | None) -> list[_Profile]:
    """Return the profiles with counts of missing and of infinite values, and with `words`."""
    wanted: dict[tuple[int, str], str] = {}
    for p in profiles:
        i = p.column
        if p.numbers < n_rows:
            wanted[i, "filled"] = f"count(*) FILTER (NOT {source.missing(i)})"
        if p.low is not None and p.high is not None and math.inf in (-p.low, p.high):
            wanted[i, "infinite"] = f"count(*) FILTER (isinf({source.number(i)}))"
        if source.kind(i) == "text" and {p.low, p.high} <= {0.0, 1.0}:
            wanted[i, "words"] = f"bool_and({source.text(i)} >= 'A')"
    found: dict[int, dict[str, Any]] = {p.column: {} for p in profiles}
    keys = list(wanted)
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        answers = source.fetch(f"SELECT {', '.join(wanted[key] for key in some)} FROM {source.relation}", tick)[0]
        for (column, field), answer in zip(some, answers, strict=True):
            found[column][field] = answer
    return [replace(p, **found[p.column]) for p in profiles]


def _looked_at(source: Source, profile: _Profile) -> _Profile:
    """Return the profile with what only some columns need: whether it holds dates, or different huge numbers."""
    if profile.numbers == 0 < profile.filled:
        return replace(profile, dates=_dates(source, profile.column))
    if profile.low is None or profile.low != profile.high or abs(profile.low) <= 2**53:
        return profile
    text = source.text(profile.column)
    differ = source.fetch(f"SELECT min({text}) <> max({text}) FROM {source.relation}")[0][0]
    return replace(profile, huge=bool(differ))


def _dates(source: Source, column: int) -> bool:
    """Return whether the column holds dates. A column of text does if its first thousand values are dates."""
    if source.kind(column) != "text":
        return source.kind(column) == "date"
    first = f"SELECT {source.text(column)} AS v FROM {source.relation} WHERE NOT {source.missing(column)} LIMIT 1000"
    return bool(source.fetch(f"SELECT bool_and(TRY_CAST(v AS TIMESTAMP) IS NOT NULL) FROM ({first})")[0][0])


def _choose(
    source: Source, profiles: dict[int, _Profile], wanted: Sequence[int]
) -> tuple[list[int], tuple[tuple[str, tuple[str, ...]], ...]]:
    """Return the columns to use, and the others by the reason why they are left out."""
    used: list[int] = []
    left_out: dict[str, list[str]] = {}
    for i, profile in profiles.items():
        reason = profile.reason
        if (i in wanted and reason in ("text", "dates")) or (reason is None and profile.numbers < profile.filled):
            refuse_text(source, i, source.fetch(f"SELECT count(*) FROM {source.relation}")[0][0])
        if reason is None:
            used.append(i)
        else:
            left_out.setdefault(reason, []).append(source.names[i])
    reasons = tuple((reason, tuple(names)) for reason, names in left_out.items())
    if used:
        return used, reasons
    said = (*source.hints, *_hints(source, left_out.get("text", [])))
    listing = "\n".join([*(f"{reason}: {listed(names)}" for reason, names in reasons), *said])
    if "one value only" in left_out:
        raise DataError(f"only constant columns in {source.name}; no cut can separate their rows\n{listing}")
    raise DataError(f"no numeric column in {source.name}\n{listing}".rstrip())


def _refuse_gaps(source: Source, n_rows: int, profiles: Sequence[_Profile]) -> None:
    """Raise a DataError if columns have missing or infinite values."""
    missing = {p.column: n_rows - p.filled for p in profiles if p.filled < n_rows}
    infinite = {p.column: p.infinite for p in profiles if p.infinite}
    for kind, remedy, counts, test in (
        ("missing", "fill", missing, source.missing),
        ("infinite", "replace", infinite, lambda i: f"coalesce(isinf({source.number(i)}), false)"),
    ):
        if counts:
            anywhere = " OR ".join(test(i) for i in counts)
            rows = source.fetch(f"SELECT count(*) FROM {source.relation} WHERE {anywhere}")[0][0]
            where = listed([f"{source.names[i]} ({count:,})" for i, count in counts.items()])
            raise DataError(
                f"{kind} values in {rows:,} of {n_rows:,} rows: {where}\n"
                f"{remedy} them or leave those rows out, then run again\nor leave the columns out with --exclude NAME"
            )


# -------------------------------------------------------------------------------------------------- values


def _matrix(source: Source, columns: Sequence[int], n_rows: int, tick: Tick | None) -> Floats:
    numbers = ", ".join(f"{source.number(i)} AS c{i}" for i in columns)
    arrays = source.fetch_arrays(f"SELECT {numbers} FROM {source.relation}", tick)
    X = np.empty((n_rows, len(columns)), order="F")
    for j, i in enumerate(columns):
        X[:, j] = arrays.pop(f"c{i}")
    return X


def _labels(source: Source, column: int, n_rows: int) -> Array:
    name, text = source.names[column], source.text(column)
    number = f"TRY_CAST({text} AS DOUBLE)"
    facts = (
        f"count(*) FILTER ({source.missing(column)})",
        f"bool_and({number} IS NOT NULL AND NOT regexp_matches({text}, '^[-+]?0[0-9]'))",  # 007 is text
        f"bool_and({number} = floor({number}) AND abs({number}) < 2**53)",
        f"count(DISTINCT {text}) FILTER ({text} <> '-1')",
    )
    n_missing, numeric, whole, distinct = source.fetch(f"SELECT {', '.join(facts)} FROM {source.relation}")[0]
    if n_missing:
        raise DataError(
            f"column '{name}' has no label in {n_missing:,} of {n_rows:,} rows\nuse -1 for rows to leave out"
        )
    _refuse_labels(name, distinct, n_rows)
    kind = "BIGINT" if numeric and whole else "DOUBLE" if numeric else None
    value = text if kind is None else f"CAST({number} AS {kind})"
    values = source.fetch_arrays(f"SELECT {value} AS label FROM {source.relation}")["label"]
    if kind is not None:
        return np.asarray(values)
    return np.array([str(label) for label in values], dtype=object)


def _weights(source: Source, column: int, n_rows: int) -> Floats:
    name = source.names[column]
    refuse_text(source, column, n_rows)
    values = _matrix(source, [column], n_rows, None)[:, 0]
    if not np.isfinite(values).all() or (values < 0).any():
        count = int((~(np.isfinite(values) & (values >= 0))).sum())
        raise DataError(
            f"column '{name}' must hold weights, but {count:,} of {n_rows:,} rows have none, or one below 0\n"
            "use 0 for rows to leave out"
        )
    if not values.any():
        raise DataError(f"column '{name}' must hold weights, but every row has the weight 0")
    return values


def _refuse_labels(name: str, distinct: int, n_rows: int) -> None:
    if distinct < 2:
        raise DataError(f"column '{name}' holds one cluster only; a tree needs at least two")
    if distinct > 50 and 10 * distinct > n_rows:
        raise DataError(f"column '{name}' holds {distinct:,} different values; is it the cluster column?")


def _quoted(value: str, limit: int = 40) -> str:
    return repr(value if len(value) <= limit else value[: limit - 1] + "…")
