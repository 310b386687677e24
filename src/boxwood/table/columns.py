"""The kinds of a table's columns, in memory and in batches: numbers, truths, dates or texts, and their SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from boxwood._dates import DATE_FORMS, DOUBTFUL, FEW_TIMES, ISO, NEARLY_ALL, TIME, TIMES, Dates
from boxwood._messages import Quoting, list_words
from boxwood._texts import PAIRS
from boxwood.batches.source import AS_NAMES, Spelling, TextAmong
from boxwood.errors import DataError
from boxwood.table.connect import Tick, open_duckdb
from boxwood.table.duck import WITH_ZONE, DuckTable
from boxwood.table.sql import MANY, sql_text
from boxwood.table.words import learn_words, marks_in
from boxwood.table.written import Style, bare, date_in, groups_of_three, normal, number_in, plain_number, signs_in


@dataclass(frozen=True)
class TextProfile:
    """Counts and range of a column of text.

    `filled` counts values that are not missing, `numbers` those that are numbers. `padded` says whether a text begins
    with a zero and a second digit, `words` whether all begin with letters: numbers among them are true and false.
    `dates` says how they are written, if they are dates; it is a text if that is unclear. `is_doubtful` says whether
    points may part thousands, as other columns of the file have decimal commas. `is_nearly_read` says whether at least
    half of the values, but not all, are numbers as people write them, or dates. `with_e` counts numbers such as 1E5,
    `wells` those of them that may be names of wells by their letters. `blanks` counts words that stand for a missing
    number, such as "none", and `marks` holds the different marks such as NA.
    """

    column: int
    filled: int
    numbers: int
    low: float | None
    high: float | None
    padded: bool | None
    with_e: int = 0
    words: bool | None = False
    dates: Dates | str | None = None
    is_doubtful: bool = False
    is_nearly_read: bool = False
    blanks: int = 0
    marks: Sequence[str] | None = None
    wells: int = 0

    @property
    def are_names(self) -> bool:
        """Whether all numbers are such as 1E5, and others are none, or all are such wells: programs write 1e+05."""
        return 0 < self.numbers == (self.with_e if self.numbers < self.filled else self.wells)

    @property
    def are_numbers(self) -> bool:
        """Whether all values are numbers, or truths without another word, such as "none" beside yes and no."""
        are_words = bool(self.words) and self.blanks > 0
        return self.numbers == self.filled > 0 and not (self.dates or self.is_doubtful or are_words)

    @property
    def is_beyond_doubles(self) -> bool:
        """Whether all values are numbers, of which one is beyond the whole ones that doubles tell apart."""
        return self.are_numbers and max(-(self.low or 0.0), self.high or 0.0) > 1 << 53

    @property
    def is_mixed(self) -> bool:
        """Whether at least half of the values are numbers, or dates, but not all."""
        return self.is_nearly_read or self.numbers < self.filled <= 2 * self.numbers


class Column(NamedTuple):
    """A column as it is read.

    Parameters
    ----------
    sql, kind : str
        Its values, and what they are; see `passes.Source`.
    profile : TextProfile, or None
        What is known of its texts, if it is a column of text.
    label : str, or None
        Its texts, where a file keeps them for labels.
    is_padded : bool
        Whether texts of whole numbers begin with zeros, if a file keeps the column.
    is_rounded : bool
        Whether texts are whole numbers so large that some are the same double, if a file keeps the column.
    """

    sql: str
    kind: str
    profile: TextProfile | None = None
    label: str | None = None
    is_padded: bool = False
    is_rounded: bool = False

    def dates(self, type: str, zone: str = "UTC") -> Dates:
        """Return how its dates are said and written; IN: type: that of DuckDB in the table; zone: that of the file."""
        if self.profile is not None and isinstance(self.profile.dates, Dates):
            return self.profile.dates
        return Dates(zone if type in WITH_ZONE else "")

    @property
    def is_mixed(self) -> bool:
        """Whether some of its texts are numbers, and others are not."""
        return self.profile is not None and self.profile.is_mixed


def inspect_columns(source: DuckTable, columns: Sequence[int], tick: Tick | None) -> list[Column]:
    """Return how columns are read; those of text are looked at, as they may hold numbers."""
    profiles = profiles_of(source, [i for i in columns if source.kind(i) == "text"], tick)
    texts = {i: profile for i, profile in profiles.items() if not (profile.are_numbers or profile.dates)}
    if marks := {i: profile.marks for i, profile in texts.items() if profile.marks}:
        learn_words(source, marks)
    empty = _empty(source, [i for i in columns if source.kind(i) in ("date", "time", "other")], tick)
    read = (_of_text(source, profiles[i]) if i in profiles else typed_column(source, i) for i in columns)
    return [column._replace(kind="empty") if i in empty else column for i, column in zip(columns, read, strict=True)]


def _of_text(source: DuckTable, profile: TextProfile) -> Column:
    """Return how a column of text is read: as truths or doubles, if all its values are numbers, or as dates."""
    i = profile.column
    if profile.are_numbers:
        kind, type = ("boolean", "BOOLEAN") if profile.words else ("number", "DOUBLE")
        return Column(f"CAST({source.number(i)} AS {type})", kind, profile)
    if isinstance(profile.dates, Dates):
        moment, type = date_in(source.text(i), profile.dates), "TIMESTAMPTZ" if profile.dates.zone else "TIMESTAMP"
        moment = f"timezone('UTC', {moment})" if profile.dates.zone else moment
        return Column(f"CAST({moment} AS {type})", "date", profile, source.category(i))
    is_empty = profile.filled == profile.blanks == 0
    kind = "empty" if is_empty else {None: "text", TIMES: "time"}.get(profile.dates, "unclear")
    return Column(source.category(i), kind, profile)


_KEPT = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "BOOLEAN")
_KEPT_KINDS = {*_KEPT, *(f"U{name}" for name in _KEPT), "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"}


def typed_column(source: DuckTable, i: int) -> Column:
    """Return how a column of any other type is read: numbers that Arrow lacks become doubles, others text."""
    kind, type = source.kind(i), source.types[i]
    if type in _KEPT_KINDS or type.startswith("TIMESTAMP_") or kind == "other":
        return Column(f"c{i}", "boolean" if type == "BOOLEAN" else kind)
    if kind == "date":  # in nanoseconds and with a zone
        return Column(f"CAST(c{i} AS TIMESTAMP WITH TIME ZONE)", kind, label=source.label(i))
    return Column(f"CAST(c{i} AS DOUBLE)" if kind == "number" else source.label(i), kind)


def _empty(source: DuckTable, columns: Sequence[int], tick: Tick | None) -> list[int]:
    """Return the columns without a value."""
    found: list[int] = []
    for start in range(0, len(columns), MANY):
        counts = ", ".join(f"count(c{i})" for i in columns[start : start + MANY])
        found += source.fetch(f"SELECT {counts} FROM {source.relation}", tick)[0]
    return [i for i, count in zip(columns, found, strict=True) if count == 0]


def profiles_of(source: DuckTable, columns: Sequence[int], tick: Tick | None) -> dict[int, TextProfile]:
    """Return the profile of each column of text.

    The first pass tells all of a column that has a number in each row. Others are read once more. Columns that are no
    plain numbers may be written as people write numbers; these are learnt, and profiled as that.
    """
    n_rows, profiles = 0, []
    for start in range(0, len(columns), MANY):
        some = columns[start : start + MANY]
        n_rows, *facts = _facts(source, some, tick)
        profiles += [TextProfile(i, n_rows, *facts[5 * j : 5 * j + 5]) for j, i in enumerate(some)]
    profiles = _second_pass(source, n_rows, profiles, tick)
    source.names_with_e.update(p.column for p in profiles if p.are_names)
    profiles = [replace(p, numbers=0, low=None, high=None) if p.are_names else p for p in profiles]
    learnt = learn_styles(source, [p.column for p in profiles if p.numbers < p.filled])
    others = [p for p in profiles if p.column not in learnt]
    perhaps = _may_be_dates(source, [p.column for p in others if p.numbers == 0 < p.filled])
    found = {p.column: replace(p, dates=_dates(source, p.column)) if p.column in perhaps else p for p in others}
    found |= profiles_of(source, learnt, tick) if learnt else {}
    doubtful = _with_points_that_part(source, [i for i, p in found.items() if p.are_numbers])
    texts = [i for i, p in found.items() if p.filled and not (p.are_numbers or p.dates or p.is_mixed)]
    texts = [i for i in texts if i not in source.names_with_e]
    doubted = {i for i, facts in source.looked_at.items() if facts is not None and facts.readable}
    nearly = _nearly_read(source, [i for i in texts if i not in doubted])
    return {i: replace(found[i], is_doubtful=i in doubtful, is_nearly_read=i in nearly) for i in columns}


def _nearly_read(source: DuckTable, columns: Sequence[int]) -> set[int]:
    """Return the columns of text of which at least half of the values are numbers as people write them, or dates.

    The first rows tell, and before these whether so many have digits.
    """
    if source.format not in _WRITTEN:
        return set()
    one = replace(source, types=("VARCHAR",), styles={})
    first = replace(source, relation=f"(SELECT * FROM {source.relation} LIMIT {_FEW})")
    readings = [sql for way, sql in _readings(source, "c0").items() if way != "truths"]
    for tests in (["CASE WHEN regexp_matches(c0, '[0-9]') THEN 1 END"], readings):
        parts, found = [columns[start : start + MANY] for start in range(0, len(columns), MANY)], []
        most = f"greatest({', '.join(f'count({test})' for test in tests)})"
        for part in parts:
            texts = f"{_stack_columns(first, part)} WHERE NOT {one.missing(0)}"
            found += source.fetch(
                f"SELECT place FROM {texts} GROUP BY place HAVING 2 * {most} >= count(*) ORDER BY place"
            )
        columns = [place for (place,) in found]
    return set(columns)


def _with_points_that_part(source: DuckTable, columns: Sequence[int]) -> set[int]:
    """Return the columns of plain numbers whose points may part thousands, if others of the file have decimal commas.

    Its first rows tell of the others, which need not be among the columns that are read.
    """
    plain = [i for i in columns if i not in source.styles]
    if source.decimal is not None or source.format not in _WITH_DECIMAL or not plain:
        return set()
    first = replace(source, relation=f"(SELECT * FROM {source.relation} LIMIT {_FIRST})")
    parted = f"regexp_full_match(c0, {sql_text(PARTED_BY_POINTS)})"
    points = f"SELECT place FROM {_stack_columns(first, plain)} WHERE contains(c0, '.')"
    plain = [i for (i,) in source.fetch(f"{points} GROUP BY place HAVING bool_and({parted})")]
    if not plain:
        return set()
    others = [i for i in range(len(source.names)) if i not in plain and source.kind(i) == "text"]
    styles = (facts.style for facts in _all_facts(first, others).values())
    if all(style is None or style.decimal == "." for style in styles):
        return set()
    return {i for i, facts in _text_facts(source, plain).items() if facts.doubt == _PARTED}


def _facts(source: DuckTable, columns: Sequence[int], tick: Tick | None) -> tuple[Any, ...]:
    """Return the number of rows, and for each column five fields of its profile that one pass can tell."""
    values, queries = [], ["count(*)"]
    for i in columns:
        # once, for DuckDB would compute it for each use
        values += [f"{source.number(i)} AS n{i}", f"{source.text(i)} AS t{i}"]
        # texts are compared by their bytes, and ":" comes next to "9"
        queries += [f"count(n{i})", f"min(n{i})", f"max(n{i})", f"bool_or(t{i} >= '00' AND t{i} < '0:')"]
        queries += [f"count(n{i}) FILTER ({_is_with_e(f't{i}')})"]
    query = f"SELECT {', '.join(queries)} FROM (SELECT {', '.join(values)} FROM {source.relation})"
    return source.fetch(query, tick)[0]


def _is_with_e(text: str, pattern: str = "[0-9]+[eE][0-9]+") -> str:
    """Return SQL for whether a text is such as 1E5, a number or a name; most numbers have no letter."""
    return (
        f"((contains({text}, 'e') OR contains({text}, 'E')) AND regexp_full_match(trim({text}), {sql_text(pattern)}))"
    )


_WELL = "[0-9]{1,2}E[0-9]{1,2}"


def _second_pass(
    source: DuckTable, n_rows: int, profiles: Sequence[TextProfile], tick: Tick | None
) -> list[TextProfile]:
    """Return the profiles with counts of missing values, and with `words`."""
    wanted: dict[tuple[int, str], str] = {}
    for p in profiles:
        i = p.column
        if p.numbers < n_rows:
            wanted[i, "filled"] = f"count(*) FILTER (NOT {source.missing(i)})"
            is_word = f"{source.missing(i)} AND trim({source.text(i)}) <> '' AND {source.category(i)} IS NOT NULL"
            wanted[i, "blanks"] = f"count(*) FILTER ({is_word})"
            if source.has_marks:
                wanted[i, "marks"] = marks_in(source, i)
        if p.with_e:
            wanted[i, "wells"] = f"count(*) FILTER ({_is_with_e(source.text(i), _WELL)})"
        if {p.low, p.high} <= {0.0, 1.0}:
            wanted[i, "words"] = f"bool_and({source.missing(i)} OR {source.text(i)} >= 'A')"
    found: dict[int, dict[str, Any]] = {p.column: {} for p in profiles}
    keys = list(wanted)
    for start in range(0, len(keys), MANY):
        some = keys[start : start + MANY]
        answers = source.fetch(f"SELECT {', '.join(wanted[key] for key in some)} FROM {source.relation}", tick)[0]
        for (column, field), answer in zip(some, answers, strict=True):
            found[column][field] = answer
    return [replace(p, **found[p.column]) for p in profiles]


def _may_be_dates(source: DuckTable, columns: Sequence[int]) -> set[int]:
    """Return the columns of text that may hold dates or times, as far as the first rows tell."""
    first = replace(source, relation=f"(SELECT * FROM {source.relation} LIMIT {_FIRST})")
    of_text = replace(source, types=("VARCHAR",), styles={})
    no_time = f"NOT regexp_full_match({bare('c0')}, {sql_text(TIME)})"
    dates = (date_in("c0", Dates("", form)) for form in ("", *DATE_FORMS))
    most = _FIRST * (1 - NEARLY_ALL)
    tests = [f"count_if({no_time}) <= {most:.0f}", *(f"count({date}) = count(*)" for date in dates)]
    perhaps = {*columns}
    for start in range(0, len(columns), MANY):
        known = f"{_stack_columns(first, columns[start : start + MANY])} WHERE NOT {of_text.missing(0)}"
        ruled_out = f"SELECT place FROM {known} GROUP BY place HAVING NOT ({' OR '.join(tests)})"
        perhaps -= {place for (place,) in source.fetch(ruled_out)}
    return perhaps


def _dates(source: DuckTable, column: int) -> Dates | str | None:
    """Return how the texts of a column are dates, all in the one form that fits; a text if they only look like dates.

    So it is if they are times. The first thousand tell whether they may be dates, and all of them in which form.
    """
    known = f"SELECT {source.text(column)} AS v FROM {source.relation} WHERE NOT {source.missing(column)}"
    forms = {form: date_in("v", Dates("", form)) for form in ("", *DATE_FORMS)}
    is_time = f"regexp_full_match({bare('v')}, {sql_text(TIME)})"
    least = f"CASE WHEN count(DISTINCT {bare('v')}) FILTER ({is_time}) > {FEW_TIMES} THEN {NEARLY_ALL} ELSE 1 END"
    are_times = f"count_if({is_time}) >= count(*) * {least}"
    tests = ", ".join(f"bool_and({date} IS NOT NULL)" for date in forms.values())
    may_be_times, *found = source.fetch(f"SELECT {are_times}, {tests} FROM ({known} LIMIT {_FIRST})")[0]
    if may_be_times and source.fetch(f"SELECT {are_times} FROM ({known})")[0][0]:
        return TIMES
    forms = {form: date for (form, date), fits in zip(forms.items(), found, strict=True) if fits}
    if not forms:
        return None
    zoned = f"regexp_extract({bare('v')}, {sql_text(ISO)}, 8) <> ''"
    tests = ", ".join(f"bool_and({date} IS NOT NULL)" for date in forms.values())
    equal = " AND ".join(f"{date} IS NOT DISTINCT FROM {next(iter(forms.values()))}" for date in forms.values())
    *fits, are_equal, all_zoned, some_zoned = source.fetch(
        f"SELECT {tests}, bool_and({equal}), bool_and({zoned}), bool_or({zoned}) FROM ({known})"
    )[0]
    fitting = [form for form, fits_all in zip(forms, fits, strict=True) if fits_all]
    if not fitting or (len(fitting) > 1 and not are_equal) or all_zoned != some_zoned:
        return DOUBTFUL
    return Dates("UTC" if all_zoned else "", fitting[0])


_FEW = 200  # rows that show whether a column of text is nearly one of numbers or dates
_FIRST = 1000  # rows that show of most columns of text that they hold no numbers
_WRITTEN = ("csv", "tsv", "jsonl", "xlsx")  # formats that people write
_WITH_DECIMAL = ("csv", "tsv")  # formats that the option --decimal is for
PARTED_BY_POINTS = f" *[-+]?{groups_of_three('[.]')} *"
_PARTED = "a sign that may part thousands or decimals"


def refuse_text(
    source: DuckTable, column: int, n_rows: int, must_be: str = "numbers", *, or_words: bool = False
) -> None:
    """Raise a DataError if a column is not numbers; it counts the other values and shows the first of them.

    IN: or_words: whether the column may be one of words instead.
    """
    if source.kind(column) == "number" and must_be != "numbers":
        raise DataError(f"column '{source.names[column]}' must be {must_be}, but {source.name} has numbers")
    refuse_other_type(source, column)
    found = _text_in(source, column)
    if found is not None:
        advice = "\n".join(hints_on(source, [source.names[column]])) or found.advice(n_rows, must_be, or_words)
        where = found.where(n_rows)
        raise DataError(f"column '{source.names[column]}' must be {must_be}, but {source.name} has {where}\n{advice}")


def text_among(source: DuckTable, column: int, n_rows: int) -> TextAmong:
    """Return what is known of the text among the numbers of a column that is mixed."""
    found = _text_in(source, column)
    assert found is not None  # or it would be one of numbers
    what = "dates" if found.are_dates else "numbers"
    advice = _ONE_LINE if found.is_heading else f"make {what} of such cells, or leave them empty"
    told = f"{what}, but {found.where(n_rows)} ({advice})"
    few = "few" if found.n_rows <= _FEW_OF_ALL * n_rows or found.n_rows == 1 else "many"
    is_no_word = found.is_heading or found.are_dates
    return TextAmong(Quoting(told, f"{what}, but text in {few} rows"), is_no_word, found.n_rows == 1)


_FEW_OF_ALL = 0.1  # share of the rows that are few


def _text_in(source: DuckTable, column: int) -> _TextFound | None:
    """Return the values of a column that are no numbers; None if all are.

    Of a file that people write these are as few as possible, by the way of writing numbers or dates that fits best.
    """
    learn_styles(source, [column])
    tests = {"numbers": source.number(column)}
    if source.format in _WRITTEN and source.kind(column) == "text" and column not in source.styles:
        tests |= _readings(source, source.text(column))
    is_text = [f"NOT {source.missing(column)} AND {test} IS NULL" for test in tests.values()]
    selected = ", ".join(f"count(*) FILTER ({test})" for test in is_text)
    counts = source.fetch(f"SELECT {selected} FROM {source.relation}")[0]
    if counts[0] == 0:
        return None
    _, best = min((n, i) for i, n in enumerate(counts) if n)  # a way that fits all was in doubt
    found = _find_values(source, column, is_text[best])
    return found and found._replace(are_dates=list(tests)[best].startswith("dates"))


def _readings(source: DuckTable, text: str) -> dict[str, str]:
    """Return the SQL of a text as a number, a truth or a date, NULL if it is none, for each way of writing these."""
    signs = (sign for sign in ".," if source.decimal in (None, sign))
    forms = {form: date_in(text, Dates("", form)) for form in ("", *DATE_FORMS)}
    return {
        **{f"numbers with {sign}": number_in(text, sign) for sign in signs},
        "truths": Style(are_truths=True).number(text),
        **{f"dates like {form}": date for form, date in forms.items()},
    }


def are_digits(source: DuckTable, columns: Sequence[int]) -> list[int]:
    """Return the columns of text that hold whole numbers written as digits alone, or nothing."""
    tests = [
        f"bool_and({source.missing(i)} OR regexp_matches(trim({source.text(i)}), '^[-+]?[0-9]+$'))" for i in columns
    ]
    found = source.fetch(f"SELECT {', '.join(tests)} FROM {source.relation}")[0] if tests else ()
    return [i for i, are_so in zip(columns, found, strict=True) if are_so]


def refuse_doubtful(source: DuckTable, columns: Sequence[int]) -> None:
    """Raise a DataError if points of some columns of text may part thousands or decimals."""
    if doubtful := _with_points_that_part(source, [i for i in columns if source.kind(i) == "text"]):
        raise DataError(f"columns of {source.name} {hints_on(source, [source.names[i] for i in sorted(doubtful)])[0]}")


def learn_styles(source: DuckTable, columns: Sequence[int]) -> list[int]:
    """Find out how columns of text are written whose values are numbers or truths, but not plainly; return these.

    A column has a style if that leaves no doubt: all values are numbers with a decimal point, or all with a comma, with
    at most one currency's sign, or all with %; or all are of one pair of words. Plain numbers need no style. In Parquet
    and Arrow somebody chose the types, so texts stay texts there.
    """
    found = _text_facts(source, [i for i in columns if source.format in _WRITTEN and i not in source.styles])
    learnt = {i: facts.style for i, facts in found.items() if facts.style is not None and facts.example is not None}
    source.styles.update(learnt)
    return list(learnt)


def spellings_of(source: DuckTable, columns: Mapping[int, Column]) -> dict[str, Spelling]:
    """Return how columns are read whose values are numbers or truths, but not plainly, or texts by their type."""
    plain = [i for i, column in columns.items() if column.kind == "number" and source.kind(i) == "text"]
    plain = [i for i in plain if i not in source.styles]
    with_e = [i for i in plain if (profile := columns[i].profile) is not None and profile.with_e]
    odd = _odd_texts(source, plain) | {i: _first_with_e(source, i) for i in with_e}
    found = {}
    for i in columns:
        style, example = source.styles.get(i), odd.get(i)
        if style is not None and style.words is not None:
            yes, no = style.words
            found[source.names[i]] = Spelling(f"{yes} is 1, {no} is 0", is_number=False)
            continue
        if (
            (one := columns[i].profile) is not None
            and source.has_marks
            and i in source.names_with_e
            and one.with_e == one.filled
        ):
            found[source.names[i]] = AS_NAMES
            continue
        decimal = source.decimal if style is None else style.decimal
        example = example if style is None else style.example
        if example is not None:
            said = [_read_as(source, text, style, decimal) for text in (example, _made_up(example, decimal or "."))]
            found[source.names[i]] = Spelling(Quoting(*said), is_number=True)
    return found


def _first_with_e(source: DuckTable, column: int) -> str:
    """Return the first text such as 1E5 of a column, in the alphabet."""
    text = source.text(column)
    return str(source.fetch(f"SELECT min({text}) FROM {source.relation} WHERE {_is_with_e(text)}")[0][0])


def _read_as(source: DuckTable, text: str, style: Style | None, decimal: str | None) -> str:
    """Return which number a text is in a column of a style, or of plain numbers, in words."""
    text_in_sql = sql_text(text)
    if style is not None:
        sql = style.number(text_in_sql)
    else:
        sql = plain_number(text_in_sql) if decimal is None else number_in(text_in_sql, decimal)
    return f"{_quote_value(text)} is {source.fetch(f'SELECT {sql}')[0][0]:.15g}"


_DIGITS = re.compile(r"[0-9](?:[0-9.,'’\s]*[0-9])?")


def _made_up(text: str, decimal: str) -> str:
    """Return another number written as a text is, with the same signs: 1.234,5 € for 20.116,27 €."""
    found = _DIGITS.search(text)
    if found is None:
        return "12"
    group = next((sign for sign in found[0] if not sign.isdigit() and sign != decimal), None)
    whole = "12" if group is None else f"1{group}234"
    behind = re.sub("(?i)e[-+]?[0-9]+", "e3", text[found.end() :])
    return f"{text[: found.start()]}{whole}{f'{decimal}5' if decimal in found[0] else ''}{behind}"


def _odd_texts(source: DuckTable, columns: Sequence[int]) -> dict[int, str]:
    """Return a text of each column of plain numbers that others may read as other numbers, or as words.

    These are texts such as 1.500 where commas stand before the decimals. In a column that is text by its type they are
    all texts, those such as 1.10 before others.
    """
    is_typed = source.format not in _WITH_DECIMAL
    if not is_typed and source.decimal != ",":
        return {}
    found: dict[int, str] = {}
    for start in range(0, len(columns), MANY):
        some = columns[start : start + MANY]
        values = ", ".join(f"{source.text(i)} AS t{i}, {source.number(i)} AS n{i}" for i in some)
        tests = [f"t{i} LIKE '%.%0'" if is_typed else f"{plain_number(f't{i}')} IS DISTINCT FROM n{i}" for i in some]
        firsts = [f"min(t{i}) FILTER (n{i} IS NOT NULL AND {test})" for i, test in zip(some, tests, strict=True)]
        if is_typed:
            firsts = [
                f"coalesce({first}, min(t{i}) FILTER (n{i} IS NOT NULL))" for i, first in zip(some, firsts, strict=True)
            ]
        answers = source.fetch(f"SELECT {', '.join(firsts)} FROM (SELECT {values} FROM {source.relation})")[0]
        found |= {i: text for i, text in zip(some, answers, strict=True) if text is not None}
    return found


def hints_on(source: DuckTable, names: Sequence[str]) -> tuple[str, ...]:
    """Return lines on columns of text whose values are numbers to people, though there is doubt which."""
    found: dict[str, list[str]] = {}
    for i, facts in _text_facts(source, [source.names.index(name) for name in names]).items():
        if facts.doubt is not None and facts.example is not None:
            found.setdefault(facts.doubt or "signs in them", []).append(
                f"{source.names[i]} ({_quote_value(facts.example)})"
            )
    has_option = source.format in _WITH_DECIMAL
    return tuple(
        f"look like numbers with {what}: {list_words(columns)}; "
        + (
            "--decimal . or --decimal , reads them"
            if what == _PARTED and has_option
            else "write plain numbers to use them"
        )
        for what, columns in found.items()
    )


def number_of(text: str) -> float | None:
    """Return the number that a text is, as people write them; None if there is none, or doubt which, as in 1,234."""
    with open_duckdb() as (con, _):
        read = con.execute(f"SELECT {number_in(sql_text(text), '.')}, {number_in(sql_text(text), ',')}").fetchall()[0]
    numbers = {float(number) for number in read if number is not None}
    return numbers.pop() if len(numbers) == 1 else None


# ---------------------------------------------------------------------------------------------------------- styles
class _Facts(NamedTuple):
    """Facts of all values of a column that are not missing.

    Parameters
    ----------
    readable, point, comma : bool or None
        Whether all are numbers, with a decimal point or a comma; all with a point; all with a comma.
    parted : bool or None
        Whether one has a point or a comma.
    pairs : list of bool or None
        Whether all are of each pair of words.
    signs : list of str or None
        Signs of currencies and percent of the values.
    example : str or None
        The first in the alphabet that is no plain number, or else that has a point.
    """

    readable: bool | None
    point: bool | None
    comma: bool | None
    parted: bool | None
    pairs: list[bool | None]
    signs: list[str] | None
    example: str | None

    @property
    def style(self) -> Style | None:
        """How all values are written; None if they are no numbers, or there is doubt."""
        words = next((pair for pair, has_all in zip(PAIRS, self.pairs, strict=True) if has_all), None)
        if words is not None:
            return Style(words=words, example=self.example or "")
        return Style("." if self.point else ",", None, self.example or "") if self.doubt == "" else None

    @property
    def doubt(self) -> str | None:
        """The doubt about reading numbers, empty if there is none; None if values are no numbers."""
        if not self.readable:
            return None
        signs = self.signs or []
        if (
            any(len(re.findall("[a-z]+|.", sign)) > 1 for sign in signs)
            or len([*filter(None, signs)]) > 1
            or {"", "%"} <= {*signs}
        ):
            return "different signs"
        if self.point and self.comma:
            return _PARTED if self.parted else ""
        return "" if self.point or self.comma else "points and commas in more than one role"


def _text_facts(source: DuckTable, columns: Sequence[int]) -> dict[int, _Facts]:
    """Return facts on those columns of text that may hold numbers or truths."""
    texts = [i for i in columns if source.kind(i) == "text"]
    new = [i for i in texts if i not in source.looked_at]
    first = replace(source, relation=f"(SELECT * FROM {source.relation} LIMIT {_FIRST})")
    likely = [i for i, facts in _all_facts(first, new).items() if facts.readable or any(facts.pairs)]
    source.looked_at.update({**dict.fromkeys(new), **_all_facts(source, likely)})
    return {i: facts for i in texts if (facts := source.looked_at[i]) is not None}


def _all_facts(source: DuckTable, columns: Sequence[int]) -> dict[int, _Facts]:
    parts = [columns[start : start + MANY] for start in range(0, len(columns), MANY)]
    return {i: facts for part in parts for i, facts in _facts_at_once(source, part).items()}


def _facts_at_once(source: DuckTable, columns: Sequence[int]) -> dict[int, _Facts]:
    one = replace(source, types=("VARCHAR",), styles={})
    point, comma = (number_in("c0", sign) if source.decimal in (None, sign) else "NULL" for sign in ".,")
    stacked = _stack_columns(source, columns)
    values = f"SELECT place, c0 AS t, {one.missing(0)} AS m, {point} AS p, {comma} AS k FROM {stacked}"
    found = source.fetch(f"SELECT place, {', '.join(_facts_in_sql())} FROM ({values}) GROUP BY place ORDER BY place")
    return {place: _Facts(*facts) for place, *facts in found}


def _stack_columns(source: DuckTable, columns: Sequence[int]) -> str:
    """Return SQL for the texts of columns below each other, in c0, beside their places; DuckDB plans one column."""
    texts, places = ", ".join(map(source.text, columns)), ", ".join(map(str, columns))
    return f"(SELECT unnest([{texts}]) AS c0, unnest([{places}]) AS place FROM {source.relation})"


def _facts_in_sql() -> list[str]:
    """Return the SQL of each fact, in terms of the text t, whether it is missing m, and its numbers p and k."""
    number = "p IS NOT NULL OR k IS NOT NULL"
    pairs = (f"bool_and(m OR {normal('t')} IN ({', '.join(map(sql_text, pair))}))" for pair in PAIRS)
    return [
        f"bool_and(m OR {number})",
        "bool_and(m OR p IS NOT NULL)",
        "bool_and(m OR k IS NOT NULL)",
        "bool_or(contains(t, '.') OR contains(t, ',')) FILTER (NOT m)",
        f"[{', '.join(pairs)}]",
        f"list(DISTINCT {signs_in('t')}) FILTER (NOT m AND ({number}))",
        f"coalesce(min(t) FILTER (NOT m AND {plain_number('t')} IS NULL), min(t) FILTER (NOT m AND contains(t, '.')))",
    ]


# ---------------------------------------------------------------------------------------------------------- errors
def refuse_other_type(source: DuckTable, column: int) -> None:
    """Raise a DataError if the type of a column says that it holds neither numbers nor texts that may be numbers."""
    if source.kind(column) not in ("text", "number") and source.types[column] != '"NULL"':
        kind = source.types[column].lower()
        raise DataError(f"column '{source.names[column]}' must be numbers, but {source.name} has {kind}")


_ONE_LINE = "if that row has names or units, keep one line of names above the rows"


class _TextFound(NamedTuple):
    """How many values are not what they must be, the first of them with its row, and whether others are dates."""

    n_rows: int
    row: int
    value: str
    are_dates: bool = False

    @property
    def is_heading(self) -> bool:
        """Whether the first row alone has such a value."""
        return self.n_rows == self.row == 1

    def where(self, n_rows: int) -> str:
        """Return in how many of all rows they are, and which is the first."""
        return f"text in {self.n_rows:,} of {n_rows:,} rows, first {_quote_value(self.value)} in row {self.row:,}"

    def advice(self, n_rows: int, must_be: str, or_words: bool) -> str:
        """Return what to do: few cells may be emptied, but a column of such cells is written in another way."""
        if self.is_heading:
            return _ONE_LINE
        words = ", or leave the column out, or take all of its values as categories (categories)" if or_words else ""
        are_few = 2 * self.n_rows <= n_rows
        return f"{'leave such cells empty, which makes them missing' if are_few else f'write all as {must_be}'}{words}"


def _find_values(source: DuckTable, column: int, condition: str) -> _TextFound | None:
    """Return the values of a column that fulfil a condition; None if none does."""
    query = f"""SELECT count(*), min(row), arg_min(value, row) FROM (
        SELECT row, {source.text(column)} AS value FROM {source.numbered} WHERE {condition})"""
    found = _TextFound(*source.fetch(query)[0])
    return found if found.n_rows else None


def _quote_value(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:39] + "…")
