"""One thing in a text: a number, the name of a cluster or of a column, a word of a column, a list of words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Sequence

from boxwood._messages import in_line, printable
from boxwood.axes.categories import Categories, band_of


def number(x: float) -> str:
    """Return the shortest decimal that reads back as the same double, without a trailing ".0".

    Examples
    --------
    >>> number(45200.0), number(0.8), number(1e-12), number(-0.0)
    ('45200', '0.8', '1e-12', '0')
    """
    return repr(x + 0.0).removesuffix(".0")


def grouped(x: float) -> str:
    """Return the shortest decimal as `number` does, with commas in numbers of five digits and more.

    Examples
    --------
    >>> grouped(45200.0), grouped(-1234567.25), grouped(2024.0), grouped(1e300)
    ('45,200', '-1,234,567.25', '2024', '1e+300')
    """
    whole, point, rest = number(x).partition(".")
    return (
        f"{int(whole):,}{point}{rest}"
        if abs(x) >= _GROUPED and whole.lstrip("-").isdigit() and "e" not in rest
        else number(x)
    )


_GROUPED = 10_000  # smaller numbers may be years


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


def column_name(name: str) -> str:
    """Return the name of a column in a text: "column 6" for the name 6, which would read as a number."""
    return f"column {name}" if re.fullmatch(r"[0-9]+", name) else in_line(name)


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

    So are texts that would be invisible. A band such as (45, 60] is none of these.

    Examples
    --------
    >>> print(category("M"), category("not"), category("Black or African"), category("(45, 60]"), category(""))
    M "not" "Black or African" (45, 60] ""
    """
    text = "missing" if value is None else printable(str(value))
    if not isinstance(value, str) or not (has_unseen_blanks(value) or _reads_as_rule(value)):
        return text
    return f"'{text}'" if '"' in text else f'"{text}"'


def _reads_as_rule(word: str) -> bool:
    if not any(map(str.isalnum, word)) or _RULE_WORDS & {*word.casefold().split()}:
        return True
    return _OF_A_RULE.search(word) is not None and band_of(word) is None
