"""`read_table`: a file as a matrix of numbers. What would have to be guessed is an error instead."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from boxwood._dates import Dates, days_of
from boxwood._frames import OrderedLabels, refuse_unknown_columns
from boxwood._types import Array, Floats
from boxwood._validation import list_words, show_value
from boxwood.axes.categories import MANY_VALUES, MOST_VALUES, Categories, many_values, numbers_first
from boxwood.batches.batches import USABLE
from boxwood.batches.labelling import LEFT_OUT, labels_in, no_labels, note_on_marks, refuse_other_labels
from boxwood.batches.source import AS_WORDS, MarksMet, Spelling, TextAmong
from boxwood.columns.column_table import ColumnTable, with_truths
from boxwood.columns.keys import DATES, DATES_IN_ZONE, Keys, kind_of
from boxwood.columns.rules import NO_VALUES, ONE_VALUE, by_reason, left_out
from boxwood.columns.seen import Seen, SeenWords, Use
from boxwood.errors import DataError
from boxwood.table.columns import Column, are_digits, columns_of, hints_on, refuse_text, spellings_of, text_among
from boxwood.table.connect import Tick
from boxwood.table.duck import DuckTable, open_table
from boxwood.table.options import DEFAULTS, ReadOptions, Wanted, find_columns
from boxwood.table.sql import as_text
from boxwood.table.words import learn_words, marks_met, marks_of


@dataclass(frozen=True)
class Table:
    """The numeric columns of a file, its labels, and the names of the columns that were left out.

    Parameters
    ----------
    name : str
        Name of the file in messages.
    X : array of shape (n, d)
        Always holds: float64, not infinite, rows in the order of the file, every column has at least two values, of
        which a missing one may be one. Missing values are NaN, but for a category, where they have a code of their own.
    columns : tuple of d str
        Names of the columns of `X`.
    labels : array of shape (n,), or None
        Values of the label column: whole numbers, numbers or text, and None or NaN where they are missing.
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
    categories : mapping from column to Categories
        The columns of `X` that hold codes of words.
    dates : mapping from str to Dates
        The columns of `X` that hold dates, as days.
    worth : array of shape (n,), or None
        Numbers of the column that was named as `value`; NaN where they are missing.
    marks : mapping from str to MarksMet
        Marks of missing values, such as NA, that columns of words have.
    types : mapping from str to str
        Types of the columns of the file, as DuckDB calls them, but for booleans of a file of texts.
    keys : Keys, default=None
        What says which rows of another file belong to these, if columns for that were named.
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
    categories: Mapping[int, Categories] = field(default_factory=dict)
    dates: Mapping[str, Dates] = field(default_factory=dict)
    worth: Floats | None = None
    marks: Mapping[str, MarksMet] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    keys: Keys | None = None

    def without(self, names: Collection[str]) -> Table:
        """Return the table without some of its columns."""
        if not names:
            return self
        kept = [j for j, name in enumerate(self.columns) if name not in names]
        return replace(
            self,
            X=self.X[:, kept],
            columns=tuple(self.columns[j] for j in kept),
            categories={i: self.categories[j] for i, j in enumerate(kept) if j in self.categories},
        )


def column_table(table: Table, *, learns: bool) -> ColumnTable:
    """Return the columns of a file with their categories, gaps and truths; IN: learns: whether rules may use gaps."""
    left_out = {reason: list(names) for reason, names in table.left_out}
    kinds = table.categories, table.booleans, left_out, table.names, dict(table.dates)
    read = ColumnTable(table.columns, table.X, *kinds, keys=table.keys)
    return with_truths(read) if read.categories or learns else read


class Kinds(NamedTuple):
    """The columns whose kind somebody named: words, though they look like numbers, and numbers."""

    categories: Collection[str] = ()
    numbers: tuple[str, ...] = ()


def read_table(
    path: str,
    options: ReadOptions = DEFAULTS,
    *,
    columns: Sequence[str] = (),
    exclude: Sequence[str] = (),
    labels: str | None = None,
    weights: str | None = None,
    missing: str = "refuse",
    kinds: Kinds | None = None,
    value: str | None = None,
    key: Sequence[str] = (),
    has_day_column: bool = False,
    tick: Tick | None = None,
) -> Table:
    """Return the numeric columns of a CSV, Parquet, Arrow or JSON-lines file, of a database or a workbook.

    Booleans become 0 and 1, and so do yes and no, and dates become days. Numbers may have groups of thousands and
    signs of currencies or percent where that leaves no doubt. Columns of text or of a single value are left out and
    listed. A column that is named must hold numbers. Others with numbers in at least half of their values, and text in
    the rest, are left out, with a reason that says where the text is.
    Columns are what they are for `scan`, which reads them in batches. Takes one pass over the file for each hundred
    columns of text, to see what they hold, one more for those with missing values or true and false among them, and
    one for each hundred columns to read the numbers. CSV of more columns than that is copied to Parquet first, in a
    temporary file. Takes memory of twice the matrix.

    Parameters
    ----------
    path : str
        File name, or `-` for standard input.
    options : ReadOptions
        How the file is read.
    columns, exclude, labels, weights
        Which columns are used; see `Wanted`.
    missing : {"refuse", "drop", "learn"}, default="refuse"
        Whether missing values are an error, or NaN in the matrix, for `explain` to leave their rows out, or to learn
        from them: then a column of one value that some rows lack is used, too.
    kinds : Kinds, default=None
        Reads columns of words, too, as codes of at most 255 values, which takes a pass for each. None leaves them out.
    value : str, default=None
        Any column of numbers whose values the table shall have besides, such as revenue.
    key : sequence of str, default=()
        Columns whose values say which rows of another table belong to these. They are no others; beside labels, the
        table may have none but these.
    has_day_column : bool, default=False
        Whether dates are counted from the day in another column, so that those of a single day are used, too.
    tick : callable, default=None
        Called now and then with the fraction of a pass that is done.

    Raises
    ------
    ColumnError
        If a column is named that the table does not have, or one for labels and for weights.
    DataError
        If the file cannot be read, has missing or infinite values, no numeric column or only constant ones, or a
        column that is named has text. The first line of the message says what is wrong, further lines what to do.

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
    with open_table(path, options) as source:
        find_columns(key, source.names)
        chosen = Wanted(columns, (*exclude, *key), labels, weights).among(source.names)
        source.refuse_uncalculated([*chosen.columns, *(i for i in (chosen.label, chosen.weight) if i is not None)])
        source = source.kept(tick)
        looked_at = dict(zip(chosen.columns, columns_of(source, chosen.columns, tick), strict=True))
        words, why = _words(source, looked_at, kinds, missing, tick, are_named=chosen.are_named)
        sql = {i: words[i].sql if i in words else column.sql for i, column in looked_at.items()}
        read = [i for i in sql if i in words or (i not in why and looked_at[i].kind in USABLE)]
        labelled = None if chosen.label is None else _LabelsInFile.of(source, chosen.label)
        worth = None if value is None else _number_column(source, value)
        beside = [labelled and labelled.sql, None if chosen.weight is None else source.number(chosen.weight), worth]
        parts = [_KeyInFile.of(source, name) for name in key]
        X, found = _values(source, [sql[i] for i in read], [*beside, *(part.sql for part in parts)], tick)
        facts = {i: _range_of(i, X[:, j]) for j, i in enumerate(read) if i not in words}
        may_be_none = bool(key) and labelled is not None
        dates = _dates(source, looked_at) if has_day_column else {}
        used, unused = _choose(source, looked_at, facts, why, missing, may_be_none=may_be_none, may_be_one=[*dates])
        kept = np.flatnonzero(np.isin(read, used)).tolist()
        _refuse_gaps(source, X, {j: facts[i] for j, i in zip(kept, used, strict=True) if i in facts}, missing)
        codes = _coded(X, {j: words[read[j]] for j in kept if read[j] in words})
        y, marks = labelled.labels(source, found[0]) if labelled is not None else (None, [])
        mass = None if chosen.weight is None else _weights(source, chosen.weight, _as_doubles(found[1]))
        X = _moved_together(X, kept)
        return Table(
            source.name,
            X,
            tuple(source.names[i] for i in used),
            y,
            unused,
            tuple(source.names[i] for j, i in enumerate(used) if i in facts and _is_padded(looked_at[i], X[:, j])),
            tuple(source.names[i] for i in used if i in facts and looked_at[i].kind == "boolean"),
            _spellings(source, {i: looked_at[i] for i in used}, facts, kinds),
            tuple(source.names[i] for i in used if i in facts and _is_rounded(source, facts[i])),
            (
                *source.hints,
                *hints_on(source, dict(unused).get("text", ())),
                *([note_on_marks(marks)] if marks else ()),
            ),
            mass,
            tuple(source.names),
            {kept.index(j): categories for j, categories in codes.items()},
            _dates(source, {i: looked_at[i] for i in used}),
            None if worth is None else _as_doubles(found[2]),
            {source.names[i]: met for i in used if i in words and (met := words[i].marks) is not None},
            _types(source, {i: looked_at[i] for i in used}),
            Keys.of_columns([part.read(values) for part, values in zip(parts, found[3:], strict=True)])
            if key
            else None,
        )


class _Word(NamedTuple):
    """A column of words: SQL of the code of each value, the values, and its marks of missing values."""

    sql: str
    categories: Categories
    marks: MarksMet | None


def _words(
    source: DuckTable,
    columns: Mapping[int, Column],
    kinds: Kinds | None,
    missing: str,
    tick: Tick | None,
    *,
    are_named: bool,
) -> tuple[dict[int, _Word], dict[int, str]]:
    """Return the columns of words, and why others that hold no numbers are left out.

    Words are columns called categories, texts that cannot be taken for numbers, and few numbers with leading zeros.
    """
    if not isinstance(kinds, Kinds | None):
        raise TypeError(f"kinds must be Kinds(categories, numbers) or None, got {show_value(kinds)}")
    seen = _seen_words(source, columns, kinds, tick, are_named=are_named)
    if are_named:
        _refuse_text(source, {i: column for i, column in columns.items() if not isinstance(seen.get(i), SeenWords)})
    chosen = source.names if are_named else () if kinds is None else kinds.categories
    use = Use(chosen=chosen, learns=missing == "learn", drops_constants=True)
    why = left_out([*seen.values()], use)
    used = {i: one for i, one in seen.items() if isinstance(one, SeenWords) and one.name not in why}
    words = {i: _word(source, i, columns[i], one, is_asked=_is_asked(source, i, kinds)) for i, one in used.items()}
    padded = {i for i in seen if columns[i].kind == "number" and not _is_asked(source, i, kinds)}  # they are numbers
    return words, {i: why[one.name] for i, one in seen.items() if one.name in why and i not in padded}


def _seen_words(
    source: DuckTable, columns: Mapping[int, Column], kinds: Kinds | None, tick: Tick | None, *, are_named: bool
) -> dict[int, Seen]:
    """Return what is known of columns that hold no numbers, or might be words."""
    if kinds is not None:
        refuse_unknown_columns([*kinds.categories, *kinds.numbers], source.names)
    texts = [source.names[i] for i, column in columns.items() if column.kind == "text" and kinds is not None]
    doubtful = {name for name in texts if hints_on(source, [name])} if hints_on(source, texts) else set()
    seen: dict[int, Seen] = {}
    for i, column in columns.items():
        name, is_asked = source.names[i], _is_asked(source, i, kinds)
        may_be_among = column.is_mixed and not (is_asked or are_named)
        if kinds is not None and name in kinds.numbers:
            refuse_text(source, i, _n_rows(source), or_words=True)
        if kinds is None or name in kinds.numbers:
            is_word = False
        elif column.kind == "number" and not is_asked:
            is_word = column.profile is not None and bool(column.profile.padded) and _is_whole(source, i)
        elif is_asked:
            is_word = column.kind != "empty"
        else:
            is_word = column.kind == "text" and name not in doubtful and not (column.is_mixed and are_named)
        among = text_among(source, i, _n_rows(source)) if may_be_among and (is_word or kinds is None) else None
        if is_word:
            seen[i] = _seen_word(source, i, column, among, tick, is_asked=is_asked)
            if seen[i].texts is None and column.kind != "number" and (is_asked or are_named):
                raise DataError(
                    f"column '{name}' of {source.name} holds {MANY_VALUES}, which rules cannot use\n"
                    "group the rare ones, or leave the column out with --exclude NAME"
                )
        elif column.kind not in USABLE or among is not None:
            seen[i] = Seen(name, column.kind, among=among)
    return seen


def _seen_word(
    source: DuckTable, i: int, column: Column, among: TextAmong | None, tick: Tick | None, *, is_asked: bool
) -> SeenWords:
    """Return what is known of a column of words: its values in ascending order, if they are not too many."""
    if is_asked:
        source.words[i] = _marks(column)
    sql = _sql_of_word(source, i, column)
    rows = source.fetch(f"SELECT DISTINCT {sql} AS v FROM {source.relation} LIMIT {MOST_VALUES + 2}", tick)
    values = [value for (value,) in rows if value is not None and value == value]
    lacks_some = len(values) < len(rows)
    if len(values) <= MOST_VALUES:
        words = numbers_first(values) if column.is_mixed else sorted(values)
        return SeenWords(source.names[i], words, lacks_some=lacks_some, among=among)
    counts = f"count({sql}), approx_count_distinct({sql}), coalesce(avg(length(CAST({sql} AS VARCHAR))), 0)"
    seen = SeenWords(source.names[i], None, lacks_some=lacks_some, among=among)
    seen.why_no_words = many_values(*source.fetch(f"SELECT {counts} FROM {source.relation}", tick)[0])
    return seen


def _sql_of_word(source: DuckTable, i: int, column: Column) -> str:
    return source.category(i) if source.kind(i) == "text" else column.sql


def _marks(column: Column) -> Any:
    return (column.profile.marks if column.profile is not None else None) or ()


def _word(source: DuckTable, i: int, column: Column, seen: SeenWords, *, is_asked: bool) -> _Word:
    """Return a column of words that rules may use; all of its texts are words if that is asked."""
    values, sql, marks = tuple(seen.texts or ()), _sql_of_word(source, i, column), _marks(column)
    listed = ", ".join(as_text(value) if isinstance(value, str) else repr(value) for value in values)
    met = marks_met(source, i, marks) if marks and not is_asked else None
    code = f"CAST(nullif(list_position([{listed}], {sql}), 0) - 1 AS DOUBLE)"
    return _Word(code, Categories(values, False), met)


def _is_asked(source: DuckTable, i: int, kinds: Kinds | None) -> bool:
    return kinds is not None and source.names[i] in kinds.categories


def _is_whole(source: DuckTable, i: int) -> bool:
    """Return whether a column of numbers holds whole ones alone."""
    test = f"bool_and(n = floor(n)) FROM (SELECT {source.number(i)} AS n FROM {source.relation})"
    return bool(source.fetch(f"SELECT {test}")[0][0])


def _coded(X: Floats, words: Mapping[int, _Word]) -> dict[int, Categories]:
    """Return the categories of columns of codes; missing values, if there are any, get a code behind all others."""
    found = {}
    for j, word in words.items():
        values = word.categories.values
        lacks = np.isnan(X[:, j])
        X[lacks, j] = len(values)
        marks = () if word.marks is None else word.marks.missing
        found[j] = Categories.of_words(values, marks, lacks=bool(lacks.any()))
    return found


class _NumberRange(NamedTuple):
    """Of a column of numbers: how many are missing or infinite, the least and the greatest; NaN if there is none."""

    column: int
    missing: int
    infinite: int
    low: float
    high: float


def _range_of(column: int, values: Floats) -> _NumberRange:
    low, high, missing = float(values.min()), float(values.max()), 0
    if np.isnan(low):
        low, high, missing = float(np.fmin.reduce(values)), float(np.fmax.reduce(values)), int(np.isnan(values).sum())
    infinite = int(np.isinf(values).sum()) if np.isinf([low, high]).any() else 0
    return _NumberRange(column, missing, infinite, low, high)


def _is_padded(column: Column, values: Floats) -> bool:
    """Return whether a column of whole numbers is digits with leading zeros in the file."""
    has_zeros = column.kind == "number" and column.profile is not None and column.profile.padded
    return bool(has_zeros) and not (values % 1 > 0).any()


def _is_rounded(source: DuckTable, facts: _NumberRange) -> bool:
    """Return whether a column holds whole numbers so large that some are the same double."""
    i = facts.column
    if max(-facts.low, facts.high) <= 2**53:
        return False
    return bool(are_digits(source, [i])) if source.kind(i) == "text" else source.is_whole(i)


def _n_rows(source: DuckTable) -> int:
    return int(source.fetch(f"SELECT count(*) FROM {source.relation}")[0][0])


def _refuse_text(source: DuckTable, columns: Mapping[int, Column]) -> None:
    """Raise a DataError if a column that was named has text among its numbers, or holds texts alone."""
    for i, column in columns.items():
        if column.is_mixed or column.kind in ("text", "unclear", "time", "other"):
            refuse_text(source, i, _n_rows(source), or_words=True)


class _SeenNumbers(Seen):
    """A column of numbers of a file, whose range was found when it was read."""

    def __init__(self, source: DuckTable, facts: _NumberRange) -> None:
        super().__init__(source.names[facts.column])
        self.source, self.facts, self.lacks_some = source, facts, facts.missing > 0
        is_one = facts.low == facts.high and not facts.infinite
        self.n_values = 0 if np.isnan(facts.low) else 1 if is_one else 2

    @property
    def are_too_large(self) -> bool:  # type: ignore[override]
        """Whether the values differ as texts; it is asked of those that are one double."""
        if abs(self.facts.low) <= 2**53:
            return False
        text = self.source.text(self.facts.column)
        return bool(self.source.fetch(f"SELECT min({text}) <> max({text}) FROM {self.source.relation}")[0][0])


def _choose(
    source: DuckTable,
    columns: Mapping[int, Column],
    facts: Mapping[int, _NumberRange],
    why: Mapping[int, str],
    missing: str,
    *,
    may_be_none: bool,
    may_be_one: Collection[str] = (),
) -> tuple[list[int], tuple[tuple[str, tuple[str, ...]], ...]]:
    """Return the columns to use, and the others by the reason why they are left out: first those without numbers.

    IN: may_be_none: whether all may be left out; may_be_one: columns that may hold a single value.
    """
    use = Use(chosen=source.names, learns=missing == "learn", drops_constants=True)
    found = left_out([_SeenNumbers(source, one) for one in facts.values()], use)
    of_numbers = {name: one for name, one in found.items() if one != ONE_VALUE or name not in may_be_one}
    reasons = {source.names[i]: why[i] for i in columns if i in why}
    reasons = dict(sorted(reasons.items(), key=lambda item: item[1] != NO_VALUES))
    unused = by_reason(reasons)
    for reason, names in by_reason(dict(sorted(of_numbers.items(), key=lambda item: item[1] != NO_VALUES))).items():
        unused.setdefault(reason, []).extend(names)
    used = [i for i in columns if source.names[i] not in reasons | of_numbers]
    others = tuple((reason, tuple(names)) for reason, names in unused.items())
    if used or may_be_none:
        return used, others
    told = "; ".join(f"left out, {reason}: {list_words(names)}" for reason, names in others)
    listing = "\n".join(
        [told or f"its columns: {list_words(source.names)}", *source.hints, *hints_on(source, unused.get("text", []))]
    )
    if ONE_VALUE in unused:
        raise DataError(f"only constant columns in {source.name}; no cut can separate their rows\n{listing}")
    raise DataError(f"no numeric column in {source.name}\n{listing}")


def _refuse_gaps(source: DuckTable, X: Floats, facts: Mapping[int, _NumberRange], asked: str) -> None:
    """Raise a DataError if columns have infinite values, or missing ones that are not to be dropped.

    IN: X, and for its columns that are used, by their places in it, what they hold.
    """
    missing = {j: one.missing for j, one in facts.items() if one.missing and asked == "refuse"}
    infinite = {j: one.infinite for j, one in facts.items() if one.infinite}
    for kind, remedy, counts, test in (
        ("missing", "fill", missing, np.isnan),
        ("infinite", "replace", infinite, np.isinf),
    ):
        if counts:
            rows = int(np.logical_or.reduce([test(X[:, j]) for j in counts]).sum())
            where = list_words([f"{source.names[facts[j].column]} ({count:,})" for j, count in counts.items()])
            raise DataError(
                f"{kind} values in {rows:,} of {len(X):,} rows: {where}\n"
                f"{remedy} them or leave those rows out, then run again\n"
                "or leave the columns out with --exclude NAME"
            )


# ------------------------------------------------------------------------------------------ how columns are read


def _spellings(
    source: DuckTable, used: Mapping[int, Column], numbers: Collection[int], kinds: Kinds | None
) -> dict[str, Spelling]:
    """Return how columns are read that may be read in another way, but for words that were asked for."""
    unasked = [i for i in used if not _is_asked(source, i, kinds)]
    told = [i for i in used if i in numbers or (i in source.names_with_e and i in unasked)]
    as_words = {source.names[i]: AS_WORDS for i in unasked if used[i].is_mixed}
    return spellings_of(source, {i: used[i] for i in told}) | as_words


def _dates(source: DuckTable, used: Mapping[int, Column]) -> dict[str, Dates]:
    """Return how the dates of columns are said."""
    dated = {i: column for i, column in used.items() if column.kind == "date"}
    return {source.names[i]: one.dates(source.types[i], source.zones.get(i, "UTC")) for i, one in dated.items()}


def _types(source: DuckTable, used: Mapping[int, Column]) -> dict[str, str]:
    """Return the types of columns; booleans of a file of texts are such, as whatever reads the file takes them for."""
    booleans = [source.names[i] for i, column in used.items() if column.kind == "boolean" and source.has_marks]
    return dict(zip(source.names, source.types, strict=True)) | dict.fromkeys(booleans, "BOOLEAN")


# -------------------------------------------------------------------------------------------------- values


def _values(
    source: DuckTable, columns: Sequence[str], beside: Sequence[str | None], tick: Tick | None
) -> tuple[Floats, list[Any]]:
    """Return columns as doubles, and others as DuckDB has them, None for None; raise a DataError if there is no row.

    IN: columns and beside: SQL of them.
    """
    rows = source.values([*columns, *filter(None, beside)], tick)
    X = _matrix(rows, len(columns))
    found = [None if one is None else next(rows) for one in beside]
    n_rows = next((len(one) for one in (*X.T, *found) if one is not None), None)
    if not (_n_rows(source) if n_rows is None else n_rows):
        raise DataError("\n".join([f"{source.name} has column names but no rows", *source.hints]))
    return X if columns else np.empty((n_rows or 0, 0)), found


def _matrix(values: Iterator[Any], n_columns: int) -> Floats:
    """Return the next columns of numbers as doubles; NaN where a value is missing."""
    X = np.empty((0, 0))
    for j in range(n_columns):
        column = _as_doubles(next(values))
        if j == 0:
            X = np.empty((len(column), n_columns), order="F")
        X[:, j] = column
    return X


def _as_doubles(values: Any) -> Floats:
    """Return numbers or dates of DuckDB, masked where they are missing, as doubles."""
    data = np.ma.getdata(values)  # of the column's own type
    found: Floats = days_of(data) if data.dtype.kind == "M" else np.array(data, dtype=np.float64)
    if np.ma.is_masked(values):
        found[np.ma.getmaskarray(values)] = np.nan
    return found


def _moved_together(X: Floats, columns: Sequence[int]) -> Floats:
    """Return some columns of an array, in their order, in the memory that it has."""
    for to, j in enumerate(columns):
        if to < j:
            X[:, to] = X[:, j]
    return X[:, : len(columns)]


class _LabelsInFile(NamedTuple):
    """A column of labels: SQL of the label of each row, NULL where it is missing, and what the texts stand for."""

    column: int
    sql: str
    known: Mapping[str, Hashable]
    kind: str | None

    @classmethod
    def of(cls, source: DuckTable, column: int) -> _LabelsInFile:
        """Look at the labels of a table; raise a DataError if they are none of clusters."""
        if source.kind(column) == "other" and source.types[column] != '"NULL"':
            raise no_labels(source.name, source.names[column])
        learn_words(source, {column: marks_of(source, column)})
        text, missing = source.label(column), source.missing(column, among_words=True)
        others = f"{text} NOT IN ({', '.join(map(as_text, LEFT_OUT))})"
        counts = f"count(DISTINCT {text}) FILTER (NOT {missing} AND {others}), count(*)"
        n_labels, n_rows = source.fetch(f"SELECT {counts} FROM {source.relation}")[0]
        if n_rows:
            refuse_other_labels(source.name, source.names[column], n_labels, n_rows)
        value = f"CASE WHEN NOT {missing} THEN {text} END"
        texts = source.fetch(f"SELECT DISTINCT {value} AS label FROM {source.relation} WHERE label IS NOT NULL")
        is_typed = source.kind(column) == "text" and not source.has_marks
        known = {text: text for (text,) in texts} if is_typed else labels_in(text for (text,) in texts)
        kind = _type_of(list(known.values()))
        return cls(column, value if kind is None else f"CAST({value} AS {kind})", known, kind)

    def labels(self, source: DuckTable, values: Any) -> tuple[Array, list[str]]:
        """Return the labels, from what DuckDB has read, and the words that stand for a missing one."""
        found, marks = np.ma.getdata(values), list[str]()
        if np.ma.is_masked(values):
            text, missing = source.label(self.column), source.missing(self.column, among_words=True)
            absent = f"SELECT DISTINCT {text} AS mark FROM {source.relation} WHERE {missing} AND trim(mark) <> ''"
            marks = [mark for (mark,) in source.fetch(absent)] if source.has_marks else []
            found = found if self.kind == "DOUBLE" else found.astype(object)
            found[np.ma.getmaskarray(values)] = np.nan if self.kind == "DOUBLE" else None
        if self.kind is None:
            found = np.array([self.known.get(label) for label in found], dtype=object)
        order = source.orders.get(self.column)
        return np.asarray(found) if order is None else OrderedLabels.of(found, order), marks


class _KeyInFile(NamedTuple):
    """A column of keys: what they are, and SQL of the key of each row, NULL where it is missing."""

    name: str
    kind: str
    sql: str
    known: Mapping[str, Hashable]

    @classmethod
    def of(cls, source: DuckTable, name: str) -> _KeyInFile:
        """Look at the keys of a table."""
        (i,) = find_columns([name], source.names)
        (column,) = columns_of(source, [i], None)
        if column.kind == "date":
            zone = column.dates(source.types[i], source.zones.get(i, "UTC")).zone
            return cls(name, DATES_IN_ZONE if zone else DATES, column.sql, {})
        learn_words(source, {i: marks_of(source, i)})
        sql = f"CASE WHEN NOT {source.missing(i, among_words=True)} THEN {source.label(i)} END"
        texts = [
            text for (text,) in source.fetch(f"SELECT DISTINCT {sql} AS k FROM {source.relation} WHERE k IS NOT NULL")
        ]
        is_typed = source.kind(i) == "text" and not source.has_marks
        known = {text: text for text in texts} if is_typed else labels_in(texts)
        return cls(name, kind_of(known.values()), sql, known)

    def read(self, values: Any) -> tuple[str, str, list[Hashable]]:
        """Return the name, the kind and the keys, from what DuckDB has read."""
        if not self.known:
            return self.name, self.kind, [None if one != one else one for one in _as_doubles(values).tolist()]
        keys = [self.known.get(one) for one in np.ma.getdata(values).tolist()]
        lacks = np.ma.getmaskarray(values).tolist()
        return self.name, self.kind, [None if lack else one for one, lack in zip(keys, lacks, strict=True)]


def _type_of(labels: Sequence[Hashable]) -> str | None:
    """Return DuckDB's type for labels that are numbers of one type of numpy, and None for others."""
    if all(isinstance(label, float) for label in labels):
        return "DOUBLE"
    whole = [label for label in labels if isinstance(label, int)]
    if len(whole) < len(labels):
        return None
    return "BIGINT" if max(whole) < 2**63 else "UBIGINT" if min(whole) >= 0 else None


def _weights(source: DuckTable, column: int, values: Floats) -> Floats:
    """Return weights, from what DuckDB has read; raise a DataError if some are none."""
    name = source.names[column]
    refuse_text(source, column, len(values))
    if not np.isfinite(values).all() or (values < 0).any():
        count = int((~(np.isfinite(values) & (values >= 0))).sum())
        raise DataError(
            f"column '{name}' must hold weights, but {count:,} of {len(values):,} rows have none, or one below 0\n"
            "use 0 for rows to leave out"
        )
    if not values.any():
        raise DataError(f"column '{name}' must hold weights, but every row has the weight 0")
    return values


def _number_column(source: DuckTable, name: str) -> str:
    """Return the SQL of a column by its name; raise a DataError if it holds no numbers."""
    (i,) = find_columns([name], source.names)
    (column,) = columns_of(source, [i], None)
    _refuse_text(source, {i: column})
    return column.sql
