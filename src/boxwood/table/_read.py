"""`read_table`: a file as a matrix of numbers. What would have to be guessed is an error instead."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from boxwood._types import Array, Floats
from boxwood._validation import listed
from boxwood.errors import DataError
from boxwood.passes.labelling import LEFT_OUT, labels_in, no_labels, refuse_other_labels
from boxwood.passes.source import Spelling
from boxwood.table.column_names import ColumnError, find_columns, split_names
from boxwood.table.columns import Profile, hints_on, profiles_of, refuse_text, spellings_of
from boxwood.table.duck import MANY, Source, Tick, open_source
from boxwood.table.sql import as_text

__all__ = ["Table", "read_table"]


@dataclass(frozen=True)
class Table:
    """The numeric columns of a file, its labels, and the names of the columns that were left out.

    Parameters
    ----------
    name : str
        Name of the file in messages.
    X : array of shape (n, d)
        Always holds: float64, not infinite, rows in the order of the file, every column has at least two values.
        Missing values are NaN.
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
    spellings : dict from str to Spelling
        How columns of `X` are read whose values are numbers or truths, but not plainly.
    rounded : tuple of str
        Columns of `X` of whole numbers so large that some are the same double.
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
    spellings: Mapping[str, Spelling] = field(default_factory=dict)
    rounded: tuple[str, ...] = ()
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
    encoding: str | None = None,
    table: str | None = None,
    missing: str = "refuse",
    tick: Tick | None = None,
) -> Table:
    """Return the numeric columns of a CSV, Parquet, Arrow or JSON-lines file, of a database or a workbook.

    Booleans become 0 and 1, and so do yes and no. Numbers may have groups of thousands and signs of currencies or
    percent where that leaves no doubt. Columns of text, of dates or of a single value are left out and listed. A column
    with numbers in at least half of its values counts as numeric, so text in it is an error. Takes one pass over the
    file for each hundred columns, to see what they hold, one more for columns with missing values or true and false
    among them, and one for each hundred columns to read the numbers. CSV of more columns than that is copied to Parquet
    first, in a temporary file. Takes memory of twice the matrix.

    Parameters
    ----------
    path : str
        File name, or `-` for standard input.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "sqlite", "duckdb", "xlsx"}, default=None
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
        of the column are such numbers, and some could be no others.
    encoding : str, default=None
        Of CSV: the encoding of its text, by any name that Python knows. None reads UTF-16 and UTF-32 that begin with
        their mark, UTF-8, and else cp1252, with a hint, if no byte tells against it.
    table : str, default=None
        Of a database or a workbook: the table, view or sheet to read. None is the only table, or the first sheet.
    missing : {"refuse", "drop"}, default="refuse"
        Whether missing values are an error, or NaN in the matrix, for `explain` to leave their rows out.
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
    with open_source(path, format=format, header=header, decimal=decimal, encoding=encoding, table=table) as source:
        label, weight = (None if each is None else find_columns([each], source.names)[0] for each in (labels, weights))
        if label is not None and label == weight:
            raise ColumnError(
                f"column '{labels}' cannot hold both labels and weights; name another one for one of them"
            )
        wanted = find_columns(split_names(columns, source.names), source.names)
        excluded = find_columns(split_names(exclude, source.names), source.names)
        candidates = [i for i in wanted or range(len(source.names)) if i not in (*excluded, label, weight)]
        source = source.kept(tick)
        n_rows, profiles = profiles_of(source, candidates, tick)
        if n_rows == 0:
            raise DataError(f"{source.name} has column names but no rows")
        used, left_out = _choose(source, profiles, wanted)
        _refuse_gaps(source, n_rows, [profiles[i] for i in used], missing)
        y = None if label is None else _labels(source, label, n_rows)
        mass = None if weight is None else _weights(source, weight, n_rows)
        X = _matrix(source, used, n_rows, tick)
        padded = tuple(
            source.names[i] for j, i in enumerate(used) if profiles[i].padded and not (X[:, j] % 1 > 0).any()
        )
        booleans = tuple(source.names[i] for i in used if source.types[i] == "BOOLEAN" or profiles[i].words)
        return Table(
            source.name,
            X,
            tuple(source.names[i] for i in used),
            y,
            left_out,
            padded,
            booleans,
            spellings_of(source, used),
            _rounded(source, [profiles[i] for i in used]),
            (*source.hints, *hints_on(source, dict(left_out).get("text", ()))),
            mass,
            tuple(source.names),
        )


def _rounded(source: Source, profiles: Sequence[Profile]) -> tuple[str, ...]:
    """Return the columns of whole numbers so large that some are the same double."""
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
    return tuple(found)


def _choose(
    source: Source, profiles: dict[int, Profile], wanted: Sequence[int]
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
    said = (*source.hints, *hints_on(source, left_out.get("text", [])))
    listing = "\n".join([*(f"{reason}: {listed(names)}" for reason, names in reasons), *said])
    if "one value only" in left_out:
        raise DataError(f"only constant columns in {source.name}; no cut can separate their rows\n{listing}")
    raise DataError(f"no numeric column in {source.name}\n{listing}".rstrip())


def _refuse_gaps(source: Source, n_rows: int, profiles: Sequence[Profile], asked: str) -> None:
    """Raise a DataError if columns have infinite values, or missing ones that are not to be dropped."""
    missing = {p.column: n_rows - p.filled for p in profiles if p.filled < n_rows and asked == "refuse"}
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
                f"{remedy} them or leave those rows out, then run again\n"
                "or leave the columns out with --exclude NAME"
            )


# -------------------------------------------------------------------------------------------------- values


def _matrix(source: Source, columns: Sequence[int], n_rows: int, tick: Tick | None) -> Floats:
    X = np.empty((n_rows, len(columns)), order="F")
    for start in range(0, len(columns), MANY):
        some = columns[start : start + MANY]
        numbers = ", ".join(f"{source.number(i)} AS c{i}" for i in some)
        arrays = source.fetch_arrays(f"SELECT {numbers} FROM {source.relation}", tick)
        for j, i in enumerate(some, start):
            X[:, j] = np.ma.filled(arrays.pop(f"c{i}"), np.nan)  # masked where a value is NULL
    return X


def _labels(source: Source, column: int, n_rows: int) -> Array:
    if source.kind(column) == "other" and source.types[column] != '"NULL"':
        raise no_labels(source.name, source.names[column])
    text, missing = source.label(column), source.missing(column)
    others = f"{text} NOT IN ({', '.join(map(as_text, LEFT_OUT))})"
    facts = f"count(*) FILTER ({missing}), count(DISTINCT {text}) FILTER (NOT {missing} AND {others})"
    n_missing, n_labels = source.fetch(f"SELECT {facts} FROM {source.relation}")[0]
    refuse_other_labels(source.name, source.names[column], n_missing, n_labels, n_rows)
    known = labels_in(row[0] for row in source.fetch(f"SELECT DISTINCT {text} FROM {source.relation}"))
    kind = _type_of(list(known.values()))
    value = text if kind is None else f"CAST({text} AS {kind})"
    values = source.fetch_arrays(f"SELECT {value} AS label FROM {source.relation}")["label"]
    if kind is not None:
        return np.asarray(values)
    return np.array([known[label] for label in values], dtype=object)


def _type_of(labels: Sequence[Hashable]) -> str | None:
    """Return DuckDB's type for labels that are numbers of one type of numpy, and None for others."""
    if all(isinstance(label, float) for label in labels):
        return "DOUBLE"
    whole = [label for label in labels if isinstance(label, int)]
    if len(whole) < len(labels):
        return None
    return "BIGINT" if max(whole) < 2**63 else "UBIGINT" if min(whole) >= 0 else None


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
