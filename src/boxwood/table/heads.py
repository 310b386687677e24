"""Lines of a table that are no rows: titles above the names of columns, descriptions below them, and totals at its end.

People write these into files of text and sheets alike, so both are looked at as rows of texts.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from boxwood._messages import cut_off, listed
from boxwood.axes.categories import TRUTHS
from boxwood.table.sql import BLANKS, MARKS

FIRST = 200  # lines that are looked at


class Head(NamedTuple):
    """The lines above the first row of a table, where these are more than the names of its columns.

    Names stand in the first line that has as many fields as all rows, more than half of them filled. Lines above it are
    titles, and up to two beneath it describe the columns. That is told by the columns that hold nothing but numbers,
    dates and truths in the rows that follow, ten of them at least. Names and a line that describes have texts in two of
    these or more, names below a title in one; neither has a value there, nor in any column a text that comes again
    beneath it beside others, and nor has a title of as many fields, if more than two are filled. A row that has a
    value, or a word of the others, is none of them. Four columns tell, too, if in some of them each other word comes
    again, and that of the line does not.

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
    def of(cls, records: list[tuple[int, list[str]]]) -> Head | None:
        """Return the head of a table from its first lines; None if the first line has the names, and rows follow."""
        width = next((len(fields) for _, fields in reversed(records) if fields), 0)
        may_be_names = [len(fields) == width < 2 * len(filled(fields)) for _, fields in records[:_MOST_TITLES]]
        if width < 2 or True not in may_be_names:
            return None
        at = may_be_names.index(True)
        has_title = any(filled(fields) for _, fields in records[:at])
        told = [(0, fields) for _, fields in records[:at] if len(fields) == width and len(filled(fields)) > 2]
        n_texts = 1 if has_title else 2
        for end in reversed(range(at + 1 if has_title else at + 2, at + 4)):
            rows = [fields for _, fields in records[end:] if fields]
            below = [(2, fields) for _, fields in records[at + 1 : end]]
            lines = [*reversed(below), (n_texts, records[at][1]), *told]
            if (
                rows
                and all(len(fields) == width for fields in (*rows, *(fields for _, fields in below)))
                and all(_is_told(fields, rows, n) for n, fields in lines)
            ):
                return cls(records[:end], at, rows[0])
        return None

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return self.records[self.at][1]

    def hints(self, skip: int = 0, unit: str = "line") -> Iterator[str]:
        """Yield lines for the reader on what is left out; IN: skip: number of lines above that are not looked at."""
        titles, below = self.records[: self.at], self.records[self.at + 1 :]
        for found, what in ((titles, "above the names of columns"), (below, "below the names of columns")):
            numbers = [str(skip + line) for line, fields in found if filled(fields)]
            texts = [repr(cut_off(" ".join(text.split()), 40)) for _, fields in found for text in filled(fields)]
            if len(numbers) > 1:
                yield f"left out {unit}s {', '.join(numbers[:-1])} and {numbers[-1]} {what}: {listed(texts, 3)}"
            elif numbers:
                yield f"left out {unit} {numbers[0]} {what}: {listed(texts, 3)}"


def ends_of(records: Sequence[Sequence[str]], width: int) -> list[Sequence[str]]:
    """Return the rows of totals, and notes, at the end of a table, with empty rows above them; IN: its last rows.

    The first value of a row of totals is a word such as Total or Average, there is a digit, and at least half of its
    fields are empty: not the same fields as in a row with another word, as then rows have gaps. A note is a text in the
    first field alone, where all other rows have more than one value, and that column numbers, dates or truths alone.
    """
    first = max(len(records) - _MOST_ENDS, 0)
    others = [fields for fields in records if len(fields) == width and not _begins_as_total(fields)]
    above = [fields for fields in records[:first] if fields]
    ends: list[Sequence[str]] = []
    for fields in reversed(records[first:]):
        if filled(fields) and (len(fields) != width or not (_is_total(fields, others) or _is_note(fields, above))):
            break
        ends.insert(0, fields)
    return ends if any(map(filled, ends)) else []


def hints_on_ends(ends: Sequence[Sequence[str | None]]) -> list[str]:
    """Return lines for the reader on rows of totals, and on notes, that are left out at the end."""
    first = [next((word for word in fields if word), None) for fields in ends]
    totals = [repr(word) for word in first if word and _TOTAL.match(word)]
    notes = [repr(cut_off(word, 40)) for word in first if word and not _TOTAL.match(word)]
    said = [f"left out rows of totals: {listed(totals)}"] if totals else []
    return [*said, *([f"left out notes below the rows: {listed(notes)}"] if notes else [])]


def rows_alone(rows: Iterator[Sequence[Any]], hints: list[str]) -> Iterator[Sequence[Any]]:
    """Yield the names of columns, and then the rows of a sheet; lines on what is left out are added to the hints."""
    first = deque(islice(rows, FIRST))
    width = max(map(len, first), default=0)
    head = Head.of([(i + 1, _texts(row, width)) for i, row in enumerate(first)])
    if head is not None:
        hints += head.hints(unit="row")
        for _ in head.records:
            first.popleft()
        yield [name or None for name in head.names]
    elif first:
        yield first.popleft()
    last: deque[Sequence[Any]] = deque()
    for row in chain(first, rows):
        last.append(row)
        if len(last) > FIRST:
            yield last.popleft()
    ends = ends_of([_texts(row, width) for row in last], width)
    hints += hints_on_ends(ends)
    yield from islice(last, len(last) - len(ends))


def _texts(row: Sequence[Any], width: int) -> list[str]:
    """Return the cells of a row of a sheet as texts, at least so many; an empty row has none."""
    texts = ["" if value is None else str(value) for value in row]
    return [*texts, *[""] * (width - len(texts))] if any(texts) else []


def filled(fields: Sequence[str]) -> list[str]:
    """Return the fields of a line that hold a text."""
    return [text for text in fields if text.strip()]


def _is_told(fields: Sequence[str], rows: Sequence[Sequence[str]], n_texts: int) -> bool:
    """Return whether a line is none of the rows beneath it.

    It has no number, date or truth in a column of these, also none as in < 0.1 and 5 kg, texts in as many columns, and
    no text that comes again beside others.
    """
    n_plain = n_closed = 0
    for j, text in enumerate(fields):
        if _is_lacking(text):
            continue
        values = [row[j] for row in rows if not _is_lacking(row[j])]
        if text in values:
            if min(values) == max(values):
                continue  # a mark such as an x, or the name of what is marked
            return False
        if len(values) >= _FEWEST and all(map(is_plain, values)):
            if is_plain(_BESIDE.sub("", text.strip())):
                return False
            n_plain += 1
        elif len(values) >= _FEWEST and min(Counter(values).values()) > 1:
            n_closed += 1
    return n_plain >= n_texts or n_plain + n_closed >= _MANY


def _begins_as_total(fields: Sequence[str]) -> bool:
    return any(_TOTAL.match(text.strip()) for text in filled(fields)[:1])


def _is_note(fields: Sequence[str], above: Sequence[Sequence[str]]) -> bool:
    above = above[1:]  # the first may have the names
    values = [row[0] for row in above if not _is_lacking(row[0])]
    is_first_alone = bool(fields[0].strip()) and len(filled(fields)) == 1 and not is_plain(fields[0])
    return (
        is_first_alone
        and len(values) >= _FEWEST
        and all(map(is_plain, values))
        and all(len(filled(row)) > 1 for row in above)
    )


def _is_total(fields: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    empty = [j for j, text in enumerate(fields) if not text.strip()]
    has_own_gaps = all(any(row[j].strip() for j in empty) for row in others if len(filled(row)) > 1)
    has_digits = any(map(str.isdigit, "".join(fields)))
    return _begins_as_total(fields) and len(fields) <= 2 * len(empty) and has_digits and has_own_gaps


def _is_lacking(text: str) -> bool:
    return text.strip().lower() in (*MARKS, *BLANKS)


def is_plain(text: str) -> bool:
    """Return whether a text is a number, a date or a truth."""
    text = text.strip()
    return len(text) <= 40 and (text.lower() in _WORDS or _PLAIN.fullmatch(text) is not None)


_TOTAL = re.compile(
    r"(?:grand\s+|sub[-\s]?)?(?:totals?|totale|total[ei]s|sums?|summe|gesamt(?:summe)?|insgesamt|somme|suma|averages?|mean"
    r"|durchschnitt|mittelwert|moyenne|promedio|totaal|totalt|gemiddelde|razem|suma|celkem|spolu|összesen|yhteensä|summa)\b",
    re.IGNORECASE,
)
_MOST_ENDS = 6  # lines at the end that are looked at
_MOST_TITLES = 20  # lines above the names of columns, these included
_FEWEST = 10  # values that show what a column holds
_MANY = 4  # columns in which a line is unlike all others
_WORDS = {"inf", "infinity", "-inf", "-infinity", *TRUTHS}
_PLAIN = re.compile(
    r"[-+(\u2212]?\s*(?:[A-Z]{3}|[$€£¥])?\s*[-+]?\.?[0-9][0-9\s.,:/'\u2019-]*(?:[eE][-+]?[0-9]+)?(?:T[0-9:.,]+)?"
    r"\s*(?:Z|[+-][0-9]{2}:?[0-9]{2}|[AaPp]\.?[Mm]\.?)?\s*(?:[A-Z]{3}|[$€£¥%])?\s*\)?"
)
_BESIDE = re.compile(r"^[<>=\u2264\u2265~\u2248\u00b1]+|(?<=[0-9])\s*[^\W\d_]{1,3}$")
"""Signs before a number and a unit behind it."""
