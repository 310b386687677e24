"""Lines of a table that are no rows: titles above the names of columns, descriptions below them, and totals at its end.

People write these into files of text and sheets alike, so both are looked at as rows of texts.
"""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple, Self

from boxwood._messages import Lost, cut_off, list_words
from boxwood._texts import BLANKS, MARKS
from boxwood.table.written import is_plain, without_unit

FIRST = 200  # lines that are looked at


class Head(NamedTuple):
    """The lines above the first row of a table, where these are more than the names of its columns.

    Names stand in the first line that has as many fields as all rows, more than half of them filled. Lines above it are
    titles, and up to two beneath it describe the columns. That is told by the columns that hold nothing but numbers,
    dates and truths in the rows that follow, ten of them at least. Names and a line that describes have texts in two of
    these or more, names below a title in one; neither has a value there, nor in any column a text that comes again
    beneath it beside others, and nor has a title of as many fields, if more than two are filled. A row that has a
    value, a word of the others, or a text in the form of another one beneath, as A17 and A18, is none of them. Four
    columns tell, too, if in some of them each other word comes again, and that of the line does not. A line that
    describes has other texts in each of those columns, and four of them where it also has a text among others that do
    not come again: there it may be the row of somebody who refused to answer. In tables of three columns and more one
    unit is enough, if it stands alone in its line and no row has one value alone.

    Parameters
    ----------
    records : list of (line, fields)
        What stands above the first row, with the number of its first line, from 1 on.
    at : int
        The place of the names among these.
    first_row : list of str
    """

    records: list[tuple[int, list[str]]]
    at: int
    first_row: list[str]

    @classmethod
    def of(cls, records: list[tuple[int, list[str]]], *, is_sure: bool = True, is_sheet: bool = False) -> Head | None:
        """Return the head of a table from its first lines; None if the first line has the names, and rows follow.

        IN: is_sure: whether a line that describes columns must be sure to be no row; else it may be one that has texts
        where all others have numbers; is_sheet: whether blank cells tell, too, see `_are_apart`.
        """
        width = next((len(fields) for _, fields in reversed(records) if fields), 0)
        may_be_names = [len(fields) == width < 2 * len(filled_fields(fields)) for _, fields in records[:_MOST_TITLES]]
        if width < 2 or True not in may_be_names:
            return None
        at = may_be_names.index(True)
        has_title = any(filled_fields(fields) for _, fields in records[:at])
        told = [(0, fields) for _, fields in records[:at] if len(fields) == width and len(filled_fields(fields)) > 2]
        n_texts = 1 if has_title else 2
        for end in reversed(range(at + 1 if has_title else at + 2, at + 4)):
            rows = [fields for _, fields in records[end:] if fields]
            below = [fields for _, fields in records[at + 1 : end]]
            others = [fields for fields in rows if not _begins_as_total(fields)]  # which has texts of its own
            if (
                others
                and all(len(fields) == width for fields in (*rows, *below))
                and all(
                    _is_description(fields, others) or (not is_sure and _is_told(fields, others))
                    for fields in reversed(below)
                )
                and (
                    (is_sheet and has_title and _are_apart([fields for _, fields in records[: at + 1]], others))
                    or (
                        all(_is_told(fields, others, n) for n, fields in [(n_texts, records[at][1]), *told])
                        and not (has_title and _is_like(records[at][1], others))
                    )
                )
            ):
                return cls(records[:end], at, rows[0])
        return None

    def to_names(self) -> Self:
        """Return the head down to the names of columns, with the lines below these as rows."""
        rows = [fields for _, fields in self.records[self.at + 1 :] if fields]
        return self._replace(records=self.records[: self.at + 1], first_row=[*rows, self.first_row][0])

    @property
    def descriptions(self) -> list[list[str]]:
        """The lines below the names that describe columns."""
        return [fields for _, fields in self.records[self.at + 1 :] if filled_fields(fields)]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return self.records[self.at][1]

    def hints(self, skip: int = 0, unit: str = "line", *, is_kept: bool = False) -> Iterator[str]:
        """Yield lines for the reader on what is no row.

        IN: skip: number of lines above that are not looked at; is_kept: whether lines below the names are kept.
        """
        titles, below = self.records[: self.at], self.records[self.at + 1 :]
        if any(filled_fields(fields) for _, fields in titles):
            yield Lost(
                f"left out {_name_lines(titles, skip, unit)[0]} above the names of columns: {_name_lines(titles)[1]}"
            )
        if any(filled_fields(fields) for _, fields in below):
            which, texts = _name_lines(below, skip, unit)
            what = f"no cluster for {which}, which describes columns" if is_kept else f"left out {which}"
            yield f"{what} below the names of columns: {texts}"


def _name_lines(found: Sequence[tuple[int, list[str]]], skip: int = 0, unit: str = "line") -> tuple[str, str]:
    """Return the numbers of lines, and the first of their texts."""
    numbers = [str(skip + line) for line, fields in found if filled_fields(fields)]
    texts = [repr(cut_off(" ".join(text.split()), 40)) for _, fields in found for text in filled_fields(fields)]
    which = f"{unit} {numbers[0]}" if len(numbers) == 1 else f"{unit}s {', '.join(numbers[:-1])} and {numbers[-1]}"
    return which, list_words(texts, 3)


def ends_of(
    records: Sequence[Sequence[str]], width: int, adds_up: Callable[[int, Sequence[str]], bool]
) -> list[Sequence[str]]:
    """Return the rows of totals, and notes, at the end of a table, with empty rows above them; IN: its last rows.

    The first value of a row of totals is a word such as Total or Average and nothing else, there is a digit, and a
    field is empty: not the same fields as in a row with another word, as then rows have gaps. No row can have that word
    for its name: half of the fields are empty, and it stands in a column of numbers, dates or truths; or a number of
    the row is the sum, or the mean, of its column, as `adds_up` says of the place of the word and the row. A note is a
    sentence, or a line such as -----, in the first field alone, where all other rows have more than one value, and that
    column numbers, dates or truths alone.
    """
    first = max(len(records) - _MOST_ENDS, 0)
    others = _with_values(records, width)
    above = [fields for fields in records[:first] if fields]
    ends: list[Sequence[str]] = []
    for fields in reversed(records[first:]):
        if filled_fields(fields) and (
            len(fields) != width or not (_is_total(fields, others, adds_up) or _is_note(fields, above, others))
        ):
            break
        ends.insert(0, fields)
    return ends if any(map(filled_fields, ends)) else []


def doubtful_ends(records: Sequence[Sequence[str]], width: int) -> list[Sequence[str]]:
    """Return rows at the end with a text in the first field alone, where others have numbers, that may be rows."""
    first = max(len(records) - _MOST_ENDS, 0)
    rows = [fields for fields in records[:first] if fields], _with_values(records, width)
    ends = [fields for fields in records[first:] if len(fields) == width]
    return [fields for fields in ends if _is_note(fields, *rows, is_sure=False) and not _is_note(fields, *rows)]


def _with_values(records: Sequence[Sequence[str]], width: int) -> list[Sequence[str]]:
    """Return the rows with more than one value, without those that begin as one of totals."""
    others = [fields for fields in records if len(fields) == width and not _begins_as_total(fields)]
    return [fields for fields in others if len(filled_fields(fields)) > 1]


def hints_on_ends(ends: Sequence[Sequence[str | None]], *, is_kept: bool = False) -> list[str]:
    """Return lines for the reader on rows of totals, and on notes, that are left out at the end, or kept as no rows."""
    what = "no cluster for" if is_kept else "left out"
    first = [next((word for word in fields if word), None) for fields in ends]
    totals = [repr(word) for word in first if word and _TOTAL.fullmatch(word)]
    notes = [repr(cut_off(word, 40)) for word in first if word and not _TOTAL.fullmatch(word)]
    said = [f"{what} rows of totals: {list_words(totals)}"] if totals else []
    return [*said, *([f"{what} notes below the rows: {list_words(notes)}"] if notes else [])]


class NoRow(tuple[Any, ...]):
    """Cells of a line of a sheet that is no row: it describes the columns, or is a total or a note."""

    is_sure = True


class Doubtful(NoRow):
    """Cells of one that may be a row."""

    is_sure = False


def rows_told(rows: Iterator[Sequence[Any]], hints: list[str], *, all_rows: bool = False) -> Iterator[Sequence[Any]]:
    """Yield the names of columns, and then the rows of a sheet; lines on what is none are added to the hints.

    IN: all_rows: whether lines below the names that are, or may be, no rows are yielded as such; else the first are
    left out, and the second are rows.
    """
    first = deque(islice(rows, FIRST))
    width = max(map(len, first), default=0)
    numbered = [(i + 1, _texts(row, width)) for i, row in enumerate(first)]
    sure, head = (Head.of(numbered, is_sure=is_sure, is_sheet=True) for is_sure in (True, not all_rows))
    if sure is not None:
        hints += sure.hints(unit="row", is_kept=all_rows)
    if head is not None:
        above = [first.popleft() for _ in head.records]
        yield [name or None for name in head.names]
        n_sure = 0 if sure is None else len(sure.records)
        told = ((NoRow if i < n_sure else Doubtful)(above[i]) for i in range(head.at + 1, len(above)))
        yield from told if all_rows else ()
    else:
        while first and not any(_texts(first[0], width)):
            first.popleft()
        if first:
            hints += _hints_on_names(numbered[-len(first) :])
            yield first.popleft()
    last, sums = deque[Sequence[Any]](), SheetSums()
    for row in chain(first, rows):
        last.append(row)
        sums.add(row)
        if len(last) > FIRST:
            yield last.popleft()
    texts = [_texts(row, width) for row in last]
    ends = ends_of(texts, width, sums.has)
    hints += hints_on_ends(ends, is_kept=all_rows)
    doubtful = doubtful_ends(texts, width) if all_rows else []
    n_rows = len(last) - len(ends)
    yield from (Doubtful(row) if texts[i] in doubtful else row for i, row in enumerate(islice(last, n_rows)))
    yield from map(NoRow, islice(last, n_rows, None)) if all_rows else ()


def _hints_on_names(records: Sequence[tuple[int, Sequence[str]]]) -> list[str]:
    """Return a line for the reader if the first row, which has the names of columns, names half of them or fewer.

    Columns without any text are none.
    """
    line, names = records[0][0], filled_fields(records[0][1])
    width = len({j for _, row in records for j, text in enumerate(row) if text.strip()})
    if 2 * len(names) > width or len(records) == 1:
        return []
    what = f"row {line} was read as the names of columns, though it names {len(names)} of {width:,}"
    return [Lost(f"{what}; if it is a title, remove it")]


class SheetSums:
    """Sums of the columns of a sheet, and the number of their values, without rows that begin as one of totals."""

    def __init__(self) -> None:
        self._sums: dict[int, tuple[float, int]] = {}

    def add(self, row: Sequence[Any]) -> None:
        """Add the numbers of a row."""
        if _begins_as_total([value for value in row if isinstance(value, str)]):
            return
        for j, value in enumerate(row):
            if type(value) in (int, float):
                total, n = self._sums.get(j, (0.0, 0))
                self._sums[j] = total + value, n + 1

    def has(self, at: int, fields: Sequence[str]) -> bool:
        """Return whether a number of a row is the sum of its column, or the mean if its word says so."""
        numbers = [(j, float(text)) for j, text in enumerate(fields) if j in self._sums and _FLOAT.fullmatch(text)]
        return any(is_sum(fields[at], number, *self._sums[j]) for j, number in numbers)


def is_sum(word: str, number: float, total: float, n: int) -> bool:
    """Return whether a number is the sum of values, or the mean if the word says so, but for what was rounded."""
    if _MEAN.match(word.strip()):
        return n > 1 and math.isclose(number, total / n, rel_tol=0.01)
    return n > 1 and math.isclose(number, total, rel_tol=0.001)


def _texts(row: Sequence[Any], width: int) -> list[str]:
    """Return the cells of a row of a sheet as texts, at least so many; an empty row has none."""
    texts = ["" if value is None else str(value) for value in row]
    return [*texts, *[""] * (width - len(texts))] if any(texts) else []


def filled_fields(fields: Sequence[str]) -> list[str]:
    """Return the fields of a line that hold a text."""
    return [text for text in fields if text.strip()]


class _Tell(NamedTuple):
    """Texts of a line in columns of numbers, dates and truths; how many stand among words that come again, or not."""

    plain: list[str]
    n_closed: int
    n_open: int


def _is_told(fields: Sequence[str], rows: Sequence[Sequence[str]], n_texts: int = 2) -> bool:
    """Return whether a line is none of the rows beneath it; see `_tell_header`."""
    told = _tell_header(fields, rows)
    return told is not None and (len(told.plain) >= n_texts or len(told.plain) + told.n_closed >= _MANY)


def _are_apart(head: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the last line of a sheet's head has the names of columns, by the cells that are blank above it.

    Each column has a name of its own, which is no value. Above it a line is blank, or single cells are titles; then a
    column holds no texts but the name, or most names come once only. So a name may be one of the words of its column.
    """
    *titles, names = head
    if not _may_name_all(names):
        return False
    if not titles[-1]:
        return True
    told = [_tell_header([name], [[row[j]] for row in rows]) for j, name in enumerate(names)]
    is_unlike_rows = any(each is not None and each.plain for each in told) or 2 * told.count(None) < len(names) > 2
    has_cells_alone = all(len(filled_fields(fields)) == 1 for fields in titles if fields)
    return has_cells_alone and is_unlike_rows and not _is_like(names, rows)


def _may_name_all(fields: Sequence[str]) -> bool:
    """Return whether each field is a text of its own, and none a number, date or truth."""
    return len(set(filled_fields(fields))) == len(fields) and not any(map(is_plain, fields))


def _is_description(fields: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a line describes the columns of the rows beneath it: it cannot be one of them."""
    told = _tell_header(fields, rows)
    if told is None or _is_like(fields, rows):
        return False
    n_texts = len(set(told.plain))  # a row may say "refused" everywhere
    if n_texts == len(filled_fields(fields)) == 1:
        return len(fields) > 2 and not _begins_as_total(fields) and all(len(filled_fields(row)) > 1 for row in rows)
    return (n_texts >= 2 and told.n_open == 0) or n_texts + told.n_closed >= _MANY


def _tell_header(fields: Sequence[str], rows: Sequence[Sequence[str]]) -> _Tell | None:
    """Return what tells a line from the rows beneath it; None if it may be one of them.

    It has no number, date or truth in a column of these, also none as in < 0.1 and 5 kg, and no text that comes again
    beside others.
    """
    told = _Tell([], 0, 0)
    for j, text in enumerate(fields):
        if _is_lacking(text):
            continue
        values = [row[j] for row in rows if not _is_lacking(row[j])]
        if text in values:
            if min(values) == max(values):
                continue  # a mark such as an x, or the name of what is marked
            return None
        if len(values) >= _FEWEST and all(map(is_plain, values)):
            if is_plain(without_unit(text)):
                return None
            told.plain.append(text)
        elif len(values) >= _FEWEST and min(Counter(values).values()) > 1:
            told = told._replace(n_closed=told.n_closed + 1)
        else:
            told = told._replace(n_open=told.n_open + bool(values))
    return told


def _is_like(fields: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a text of a line with digits has the form of one beneath it, as A17 has that of B2."""
    forms = ((j, _form(text)) for j, text in enumerate(fields) if any(map(str.isdigit, text)))
    return any(form == _form(row[j]) for j, form in forms for row in rows)


def _form(text: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", text.strip()))


def _begins_as_total(fields: Sequence[str]) -> bool:
    """Return whether the first text of a row is a word such as Total or Average."""
    return any(_TOTAL.fullmatch(text.strip()) for text in filled_fields(fields)[:1])


def _is_note(
    fields: Sequence[str], above: Sequence[Sequence[str]], others: Sequence[Sequence[str]], *, is_sure: bool = True
) -> bool:
    text = fields[0].strip()
    is_first_alone = bool(text) and len(filled_fields(fields)) == 1 and not is_plain(text)
    return (
        is_first_alone
        and (_is_sentence(text) or not is_sure)
        and _is_of_numbers(0, others[1:])  # the first may have the names, or be cut off
        and all(len(filled_fields(row)) > 1 for row in above[1:])
    )


def _is_sentence(text: str) -> bool:
    """Return whether a text cannot be a name or a number of somebody, such as A17."""
    is_long = len(_WORD.findall(text)) >= 3
    return is_long or SENTENCE.match(text) is not None


def _is_of_numbers(j: int, rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a column holds numbers, dates or truths alone."""
    values = [row[j] for row in rows if not _is_lacking(row[j])]
    return len(values) >= _FEWEST and all(map(is_plain, values))


def _is_total(
    fields: Sequence[str], others: Sequence[Sequence[str]], adds_up: Callable[[int, Sequence[str]], bool]
) -> bool:
    empty = [j for j, text in enumerate(fields) if not text.strip()]
    if not (_begins_as_total(fields) and empty and any(map(str.isdigit, "".join(fields)))):
        return False
    at = next(j for j, text in enumerate(fields) if text.strip())
    has_own_gaps = all(any(row[j].strip() for j in empty) for row in others)
    cannot_be_name = 2 * len(empty) >= len(fields) and _is_of_numbers(at, others[1:])  # the first may be cut off
    return has_own_gaps and (cannot_be_name or adds_up(at, fields))


def _is_lacking(text: str) -> bool:
    return text.strip().lower() in (*MARKS, *BLANKS)


MEANS = "averages?|mean|durchschnitt|mittelwert|moyenne|promedio|gemiddelde"
_TOTALS = (
    r"totals?|totale|total[ei]s|sums?|summe|gesamt(?:summe)?|insgesamt|somme|suma|totaal|totalt|razem|celkem|spolu"
    r"|összesen|yhteensä|summa"
)
TOTAL = rf"(?:grand\s+|sub[-\s]?)?(?:{_TOTALS}|{MEANS})\s*[:=]?"
"""The pattern of words of a total, in any letters, which Python and DuckDB read alike."""
_TOTAL, _MEAN = re.compile(TOTAL, re.IGNORECASE), re.compile(MEANS, re.IGNORECASE)
_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+][0-9]+)?")
_WORD = re.compile(r"[^\W\d_]{2,}")
SENTENCE = re.compile(
    r"[*\u2020\u2021\u00a7\u00a9(\[]|[-=_~#]{3,}$|[0-9]\)\s|[^\W\d_][^:=]*(?::(?:\s|//)|=)|[^\W\d_]{2}.*\s[0-9]+[./-][0-9]+[./-][0-9]+"
)
"""Beginnings of notes: a mark, a line of dashes, `Source: `, `n =`, `As of 31.12.2026`."""
_MOST_ENDS = 6  # lines at the end that are looked at
_MOST_TITLES = 20  # lines above the names of columns, these included
_FEWEST = 10  # values that show what a column holds
_MANY = 4  # columns in which a line is unlike all others
