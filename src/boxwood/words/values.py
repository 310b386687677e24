"""One thing in a text or picture: a number, a count, a share, a name, a word, a list of words."""

from __future__ import annotations

import itertools
import math
import re
from bisect import bisect_right
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from unicodedata import combining, east_asian_width

import numpy as np
from numpy.typing import ArrayLike

from boxwood._dates import Dates
from boxwood._messages import in_line, printable
from boxwood.axes.categories import Categories
from boxwood.axes.known_order import band_of


def number(x: float) -> str:
    """Return the shortest decimal that reads back as the same double, without a trailing ".0".

    Examples
    --------
    >>> number(45200.0), number(0.8), number(1e-12), number(-0.0)
    ('45200', '0.8', '1e-12', '0')
    """
    return repr(x + 0.0).removesuffix(".0")


def group_digits(x: float) -> str:
    """Return the shortest decimal as `number` does, with commas in numbers of five digits and more.

    Examples
    --------
    >>> group_digits(45200.0), group_digits(-1234567.25), group_digits(2024.0), group_digits(1e300)
    ('45,200', '-1,234,567.25', '2024', '1e+300')
    """
    whole, point, rest = number(x).partition(".")
    return (
        f"{int(whole):,}{point}{rest}"
        if abs(x) >= _GROUPED and whole.lstrip("-").isdigit() and "e" not in rest
        else number(x)
    )


_GROUPED = 10_000  # smaller numbers may be years
_LONGEST_NUMBER = 10


def short_number(x: float) -> str:
    """Return the number that runs if it is short, otherwise about that number, which is said.

    Examples
    --------
    >>> short_number(3170.0), short_number(0.1 + 0.2)
    ('3170', '≈ 0.3')
    """
    exact = number(x)
    return group_digits(x) if len(exact) <= _LONGEST_NUMBER else f"≈ {x:.4g}"


def brief_of(x: float, dates: Dates | None) -> str:
    """Return a number of a column in few digits; of a column of dates, the day."""
    return three_digits(x) if dates is None else dates.day(x)


_YEAR = re.compile(r"(?<![a-zA-Z])(year|yr|jahr|année|año)(?![a-z])|(?<=[a-z])(Year|Yr)(?![a-z])", re.IGNORECASE)
_YEARS = 1800, 2100


def are_years(name: str, values: ArrayLike) -> bool:
    """Return whether numbers are years, which have no comma: by the column's name, or as all are whole and near 2000.

    Examples
    --------
    >>> are_years("built_year", [870.0]), are_years("made", [1950.0, 2004.0]), are_years("price", [1950.5, 2004.0])
    (True, True, False)
    """
    x = np.asarray(values, dtype=np.float64)
    x = x[np.isfinite(x)]
    is_near = len(x) > 0 and (x >= _YEARS[0]).all() and (x <= _YEARS[1]).all() and (x == np.floor(x)).all()
    return bool(_YEAR.search(name) or is_near)


def three_digits(x: float) -> str:
    """Return a number in three digits, or four where it has four before the point.

    Examples
    --------
    >>> [three_digits(x) for x in (2403.0, 58210.0, 999999.0, 1253000.0, 0.0512345)]
    ['2,403', '58.2k', '1M', '1.25M', '0.0512']
    """
    if abs(x) >= 1e12:
        return f"{x:.3g}"
    for least, unit, sign in ((999.5e6, 1e9, "bn"), (999.5e3, 1e6, "M"), (1e4, 1e3, "k")):  # 999.5k is said as 1M
        if abs(x) >= least:
            return f"{x / unit:.3g}{sign}"
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x + 0.0:.3g}"


def percent(share: float | None) -> str:
    """Return a share with one decimal; only 1 is printed as 100.0%, and only 0 as 0.0%."""
    if share is None:
        return "-"
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 <= share < 1:
        return "99.9%"
    return f"{share:.1%}"


def beside(share: float, limit: float, decimals: int = 1) -> str:
    """Return a share in percent, with as many more decimals as it takes to tell it from a limit, from none and all.

    Examples
    --------
    >>> beside(0.947, 0.95), beside(0.94961, 0.95), beside(0.94961, 0.95, decimals=0), beside(0.95, 0.95)
    ('94.7%', '94.96%', '94.96%', '95.0%')
    """
    others = [other for other in (limit, 0.0, 1.0) if other != share]
    while decimals < 12 and f"{share:.{decimals}%}" in [f"{other:.{decimals}%}" for other in others]:
        decimals += 1
    return f"{share:.{decimals}%}"


def price(times: float) -> str:
    """Return a price with two decimals, or with up to six if it takes more to tell it from 1.

    Examples
    --------
    >>> price(1.0365), price(1.0042), price(0.99996), price(1.0000001), price(12345.0)
    ('1.04', '1.004', '0.99996', '1', '1.23e+04')
    """
    if not math.isfinite(times):
        return str(times)
    if round(times, 6) == 1:
        return "1"
    decimals = min(max(2, math.ceil(-math.log10(abs(times - 1)))), 6)
    return f"{times:.{decimals}f}" if times < 1000 else f"{times:.3g}"


def size(rows: float) -> str:
    """Return a number of rows, or their weight with one decimal."""
    return f"{rows:,.0f}" if rows == math.floor(rows) else f"{rows:,.1f}"


def count_of(n: int, noun: str) -> str:
    """Return a number of things, such as "1 row" or "2 rows"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def of_leaves(n: int) -> str:
    """Return a number of leaves."""
    return "1 leaf" if n == 1 else f"{n:,} leaves"


def cluster_name(name: Hashable) -> str:
    """Return the name of a cluster in a text: "cluster 3" for the number 3, any other name as it is.

    A name whose blanks would not be seen is in quotes.
    """
    is_number = isinstance(name, (int, float)) and not isinstance(name, bool)
    text = f"cluster {name}" if is_number else printable(str(name))
    return f'"{text}"' if has_unseen_blanks(text) else text


def has_unseen_blanks(text: str) -> bool:
    """Return whether a text is empty, or has a blank at an end, or one beside another."""
    return text != " ".join(text.split()) or not text


_TITLES: ContextVar[Mapping[str, str]] = ContextVar("titles", default=MappingProxyType({}))


@contextmanager
def use_titles(titles: Mapping[str, str] | None) -> Iterator[None]:
    """Give columns titles, by which all texts that are written meanwhile call them."""
    token = _TITLES.set(titles or {})
    try:
        yield
    finally:
        _TITLES.reset(token)


def column_name(name: str) -> str:
    """Return the name of a column in a text, or its title: "column 6" for the name 6, which would read as a number."""
    if (title := _TITLES.get().get(name)) is not None:
        return in_line(title)
    return f"column {name}" if re.fullmatch(r"[0-9]+", name) else in_line(name)


LONGEST_NAME = 40  # a longer name is cut in the middle


def shorten_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name, cut in the middle if it is long."""
    half = longest // 2
    return name if len(name) <= longest else f"{name[: half - 1]}…{name[-half:]}"


def join_words(words: Sequence[str], most: int, last: str = "and") -> str:
    """Return words as a sentence lists them: at most `most` of them, and the number of the others.

    Examples
    --------
    >>> join_words(["age", "income", "orders"], 6), join_words(["age", "income", "orders"], 1)
    ('age, income and orders', 'age and 2 more')
    """
    more = [f"{len(words) - most:,} more"] if len(words) > most else []
    *first, end = [*words[:most], *more]
    return f"{', '.join(first)} {last if not more else 'and'} {end}" if first else end


def width(s: str) -> int:
    """Return the number of terminal columns that a text takes."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in s)


_EM = 0.6  # width of a letter in units of the size of the font; of the usual fonts, DejaVu Sans is the widest


def align_lines(lines: Sequence[Sequence[str]], left: Collection[int] = ()) -> list[str]:
    """Return lines whose cells stand in columns: those of `left` to the left, the others to the right."""
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]

    def padded(i: int, cell: str) -> str:
        space = " " * (widths[i] - width(cell))
        return cell + space if i in left else space + cell

    return ["  ".join(padded(i, cell) for i, cell in enumerate(cells)).rstrip() for cells in lines]


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is in a font of a size, in the size's unit. Few texts are wider."""
    return _EM * size * sum(0.0 if combining(c) else 1.7 if east_asian_width(c) in "WF" else 1.0 for c in text)


def fit_width(text: str, width: float, size: float) -> str:
    """Return a text that is at most so wide: a longer one is shortened in the middle.

    Examples
    --------
    >>> fit_width("some_long_column_name_40", 100.0, 10.0)
    'some_lon…name_40'
    """
    text = printable(text)
    if text_width(text, size) <= width:
        return text

    def of(n: int) -> str:
        return f"{text[: (n + 1) // 2]}…{text[len(text) - n // 2 :]}"

    return of(bisect_right(range(1, len(text)), width, key=lambda n: text_width(of(n), size)))


MOST_VALUES, MOST_LETTERS = 8, 80  # of a column of words that a rule lists

MOST_NEIGHBOURS = 3  # in an order that a rule lists


class CountedWords(Categories):
    """Categories of which a text knows the rows of each word; they equal the same without: a rule is no other one.

    A word of few rows, of which nothing is told, has 0.
    """

    rows: Sequence[int]
    n_rows: int

    @classmethod
    def of(cls, known: Categories, rows: Sequence[int], n_rows: int) -> CountedWords:
        """Return categories with the rows of each code, out of so many rows."""
        counted = cls(*known)
        counted.rows, counted.n_rows = rows, n_rows
        return counted


def frequent_first(values: Sequence[Hashable], known: Categories) -> Sequence[Hashable]:
    """Return values in the order in which a long list names them: those of most rows first, if no order says more."""
    if known.ordered or not isinstance(known, CountedWords) or len(values) <= MOST_VALUES:
        return values
    rows = dict(zip(known.values, known.rows, strict=False))
    return sorted(values, key=lambda value: -rows[value])


def from_to(values: Sequence[Hashable], known: Categories) -> str:
    """Return "from S to XL" of several neighbours in the order of a column, perhaps "or missing"; else nothing."""
    present, start = [value for value in values if value is not None], known.values.index(values[0])
    is_run = known.ordered and known.values[start : start + len(present)] == tuple(present)
    if not is_run or len(present) <= MOST_NEIGHBOURS:
        return ""
    return f"from {category(present[0])} to {category(present[-1])}{' or missing' * (None in values)}"


def one_of(values: Sequence[Hashable], most: int = MOST_VALUES) -> str:
    """Return categories as a list with "or"."""
    *first, last = _some(values, most)
    return f"{', '.join(first)} or {last}" if first else last


def none_of(values: Sequence[Hashable], most: int = MOST_VALUES) -> str:
    """Return the words for all categories but these."""
    if len(values) == 1:
        return f"not {category(values[0])}"
    *first, last = _some(values, most)
    return f"neither {', '.join(first)} nor {last}"


def _some(values: Sequence[Hashable], most: int) -> list[str]:
    """Return the texts of values; of more than `most` those of the first that fit, and how many more there are."""
    texts = [*map(category, values[:most])]
    if len(values) <= most:
        return texts
    letters = itertools.accumulate(len(text) for text in texts)
    n = max(sum(so_far <= MOST_LETTERS for so_far in letters), 1)
    return [*texts[:n], f"{len(values) - n:,} more"]


_RULE_WORDS = {"and", "any", "is", "missing", "neither", "nor", "not", "or"}
_OF_A_RULE = re.compile(r'[(),[\]"]|\d more$')  # brackets, commas, and the number of values that a list leaves out


def category(value: Hashable) -> str:
    """Return a value of a column of categories in a text, in quotes where it could be read as a part of the rule.

    So are texts that would be invisible. A band such as (45, 60] is none of these. Truths are yes and no, as in
    pictures, whatever words the table has for them.

    Examples
    --------
    >>> print(category("M"), category("not"), category("Black or African"), category("(45, 60]"), category(True))
    M "not" "Black or African" (45, 60] yes
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = "missing" if value is None else printable(str(value))
    if not isinstance(value, str) or not (has_unseen_blanks(value) or _reads_as_rule(value)):
        return text
    return f"'{text}'" if '"' in text else f'"{text}"'


def _reads_as_rule(word: str) -> bool:
    if not any(map(str.isalnum, word)) or _RULE_WORDS & {*word.casefold().split()}:
        return True
    return _OF_A_RULE.search(word) is not None and band_of(word) is None
