"""`Seen`: what is known of a column, wherever its table is; `Use`: what is asked of the columns of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from boxwood._dates import FEW_TIMES, NEARLY_ALL, TIME
from boxwood._frames import label_values
from boxwood._types import Bools, Floats, Indices
from boxwood.axes.categories import MANY_VALUES, Categories, is_missing
from boxwood.axes.known_order import known_order
from boxwood.batches.overview import MANY_NUMBERS, few_among
from boxwood.batches.sample import some_rows
from boxwood.batches.source import TextAmong
from boxwood.columns.column_table import ColumnTable
from boxwood.reference.labels import encode_labels

EXACT = 2**53  # whole numbers up to it are exact as doubles
BEGINNINGS, SKIPPED = 5, 0.05  # times that numbers begin again at least, and share of steps that are others at most
LEAST_EQUAL = 4  # rows of each number that comes equally often: in fewer, whole rows may come again
BY_CHANCE = 5e-4  # would numbers that are all as likely come so equally, at most


class LabelsToSay(NamedTuple):
    """Labels of rows that a column may say in other words: their rows, the first one of each, and which each row has.

    The rows are those with a label, of `n_rows`; `first` and `own` count among these. `numbers` are the labels, if they
    number clusters from 0 on and no column of the table is known to hold them: a clusterer may have made them of it.
    """

    n_rows: int
    rows: Indices
    first: Indices
    own: Indices
    numbers: tuple[int, ...] | None = None


def labels_to_compare(labels: Any, *, in_table: bool = True) -> LabelsToSay | None:
    """Return labels that columns may be copies of; None if there are none, or one, or each row has its own.

    IN: in_table: whether they come from a column of the table.
    """
    if labels is None:
        return None
    codes, names = encode_labels(label_values(labels))
    rows = np.flatnonzero(codes >= 0)
    found, first, own = np.unique(codes[rows], return_index=True, return_inverse=True)
    if not 1 < len(first) < len(rows):
        return None
    are_numbers = all(type(name) is int for name in names) and set(names) == {*range(len(names))}
    return LabelsToSay(len(codes), rows, first, own, tuple(found.tolist()) if are_numbers and not in_table else None)


class Use(NamedTuple):
    """What is asked of the columns of a table.

    Parameters
    ----------
    chosen : collection of str
        Columns that the caller named, or whose kind the caller named.
    learns : bool
        Whether rules may learn that a row lacks a value.
    drops_constants : bool
        Whether columns of one value are left out; where boxwood makes the clusters, those without gaps always are.
    by_clusterer : bool
        Whether a clusterer of the caller reads the table: it sees numbers, and identifiers among them.
    by_boxwood : bool
        Whether boxwood makes the clusters.
    has_labels : bool
        Whether there are labels, which need a column that explains them.
    has_weights : bool
        Whether rows have weights.
    labels : Labels, default=None
        The labels, if columns may be copies of them.
    copies : collection of str
        Columns that are known to be copies of the labels.
    ages : collection of str
        Columns of dates that are counted from a day, and so do not say when a row is from.
    columns : sequence of Seen
        All columns of the table.
    """

    chosen: Collection[str] = ()
    learns: bool = False
    drops_constants: bool = False
    by_clusterer: bool = False
    by_boxwood: bool = False
    has_labels: bool = False
    has_weights: bool = False
    labels: LabelsToSay | None = None
    copies: Collection[str] = ()
    ages: Collection[str] = ()
    columns: Sequence[Seen] = ()


class Seen:
    """What is known of a column; what takes a look at its values is found when a rule asks for it.

    A probe knows a part of this. Rules say nothing of what is not known.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : str
        What it holds: one of `USABLE`, or of `OTHER_KINDS`.
    is_word : bool
        Whether rules read its values as words.
    is_padded : bool
        Whether it has numbers with leading zeros.
    among : TextAmong, default=None
        The text among its numbers, if there is some.
    """

    texts: Collection[Hashable] | None = ()
    """Some of the values of a column of words; None if these are too many."""
    is_ordered: bool = False
    """Whether words have an order."""
    are_times: bool = False
    """Whether words are times of the day."""
    why_no_words: str = ""
    """Why the values cannot be words."""
    n_values: int | None = None
    """Number of different values, perhaps counted up to two."""
    lacks_some: bool = False
    n_known: int = 0
    """Number of rows with a value."""
    n_once: int = 0
    """Number of words that one row has alone."""
    least: float = np.inf
    most: float = -np.inf
    is_whole: bool = False
    are_few: bool = False
    """Whether numbers are few different ones."""
    is_unique: bool = False
    rises: bool = False
    """Whether each value is above that of the row before."""
    are_clock: bool = False
    """Whether whole numbers are times of day, as 1530: their last two digits are minutes."""
    begins_again: bool = False
    """Whether numbers go up value by value, and again and again from the least one; not known of batches."""
    come_equally: bool = False
    """Whether whole numbers come more equally than by chance; not known of batches."""
    may_name_things: bool = False
    """Whether whole numbers in a long range may be names, by what is in other columns; not known of batches."""
    are_too_large: bool = False
    """Whether different numbers of the column are the same double."""

    def __init__(
        self,
        name: str,
        kind: str = "number",
        *,
        is_word: bool = False,
        is_padded: bool = False,
        among: TextAmong | None = None,
    ) -> None:
        self.name, self.kind, self.is_word, self.is_padded, self.among = name, kind, is_word, is_padded, among

    def says(self, labels: LabelsToSay) -> bool:
        """Return whether a value goes with each label, and with no other."""
        return False

    def holds(self, labels: LabelsToSay) -> bool:
        """Return whether the values are the numbers of the labels; IN: labels: which the column says."""
        return False


class SeenWords(Seen):
    """A column whose different words were found by a pass or a query: None if they are too many."""

    def __init__(
        self, name: str, words: Sequence[Hashable] | None, *, lacks_some: bool, among: TextAmong | None = None
    ) -> None:
        super().__init__(name, "text", is_word=True, among=among)
        self.texts, self.lacks_some = words, lacks_some
        self.why_no_words = MANY_VALUES if words is None else ""
        self.n_values = None if words is None else len(words)

    @property
    def are_times(self) -> bool:  # type: ignore[override]
        """Whether the words are times of the day."""
        return are_times(self.texts or ())


class ShuffledRows:
    """The rows of a table in a random order that depends on what they hold, and not on where they stand."""

    def __init__(self, values: Floats) -> None:
        self.values = values

    @cached_property
    def places(self) -> Indices:
        """Where each row of this order stands in the table."""
        return some_rows(self.values, len(self.values))


class SeenValues(Seen):
    """A column of numbers, or of codes of words, in memory; IN: table: the rows that it belongs to."""

    FIRST = 50  # values that show of most columns that they hold no whole numbers

    def __init__(
        self,
        name: str,
        values: Floats,
        categories: Categories | None = None,
        *,
        kind: str = "number",
        is_padded: bool = False,
        table: ShuffledRows | None = None,
    ) -> None:
        super().__init__(name, kind, is_word=categories is not None, is_padded=is_padded)
        self.values, self.categories = values, categories
        self.table = table or ShuffledRows(values[:, None])

    def drawn(self, rows: Bools) -> Indices:
        """Return the places of some rows, in a random order that is the same wherever these stand."""
        places = self.table.places
        return places[rows[places]]

    @property
    def texts(self) -> Collection[Hashable]:  # type: ignore[override]
        """The words."""
        return () if self.categories is None else self.categories.values

    @property
    def is_ordered(self) -> bool:  # type: ignore[override]
        """Whether words have an order, as bands of numbers have."""
        known = self.categories
        return known is not None and (known.ordered or known_order(known.values[: known.known]) is not None)

    @property
    def are_clock(self) -> bool:  # type: ignore[override]
        """Whether the last two digits of all numbers are minutes."""
        return bool((self.known % 100 < 60).all())

    @property
    def has_value(self) -> Bools:
        """Whether each row has a value."""
        if self.categories is not None and None in self.categories.values:
            return np.asarray(self.values != self.categories.values.index(None))
        return ~np.isnan(self.values)

    @cached_property
    def known(self) -> Floats:
        """The values that are not missing."""
        return self.values[self.has_value]

    @cached_property
    def n_known(self) -> int:  # type: ignore[override]
        """Number of rows with a value."""
        return len(self.known)

    @cached_property
    def lacks_some(self) -> bool:  # type: ignore[override]
        """Whether some rows lack a value."""
        return len(self.known) < len(self.values)

    @cached_property
    def n_values(self) -> int | None:  # type: ignore[override]
        """Number of different values, counted up to two; not known of words that only other rows have."""
        if not self.n_known:
            return None if self.is_word else 0
        return 1 + int(self.known.min() != self.known.max())

    @cached_property
    def n_once(self) -> int:  # type: ignore[override]
        """Number of words that one row has alone."""
        return int((np.bincount(self.known.astype(np.intp)) == 1).sum())

    @cached_property
    def least(self) -> float:  # type: ignore[override]
        """The least value."""
        return float(self.known.min(initial=np.inf))

    @cached_property
    def most(self) -> float:  # type: ignore[override]
        """The greatest value."""
        return float(self.known.max(initial=-np.inf))

    @cached_property
    def is_whole(self) -> bool:  # type: ignore[override]
        """Whether all values are whole numbers."""
        parts: Iterable[Floats] = (self.known[: self.FIRST], self.known)
        return all(bool((part == np.floor(part)).all()) for part in parts)

    @cached_property
    def are_few(self) -> bool:  # type: ignore[override]
        """Whether numbers are few different ones."""
        return few_among(self.known) is not None

    @cached_property
    def is_unique(self) -> bool:  # type: ignore[override]
        """Whether no value comes twice."""
        return int(np.bincount((self.known - self.least).astype(np.intp)).max(initial=0)) <= 1

    @property
    def begins_again(self) -> bool:  # type: ignore[override]
        """Whether nearly all steps down the file are to the next value, or back to the least one, three values or more.

        So are those of visits of patients, waves of a panel and places in a field.
        """
        steps = np.diff(self.values) if not self.lacks_some else np.empty(0)
        back = steps < 0
        wrong = (
            int((steps == 0).sum() + (self.values[1:][back] != self.least).sum()) if back.sum() >= BEGINNINGS else None
        )
        if wrong is None or wrong > SKIPPED * len(steps):
            return False
        at = np.unique(self.values, return_inverse=True)[1]
        wrong += int((np.diff(at)[~back] > 1).sum())
        return bool(at.max() >= 2 and wrong <= SKIPPED * len(steps))

    @cached_property
    def come_equally(self) -> bool:  # type: ignore[override]
        """Whether three whole numbers or more, that fill half of their range, come more equally than by chance.

        How often each comes is compared with their mean, as by a test of chi-squared, at its other end.
        """
        if not self.is_whole or not 2 <= self.most - self.least < self.n_known:
            return False
        n_rows = np.unique(self.known, return_counts=True)[1]
        if 2 * len(n_rows) < max(6, self.most - self.least + 1) or n_rows.min() < LEAST_EQUAL:
            return False
        from scipy.special import gammainc  # here, as few tables have such columns

        each = n_rows.mean()
        scattered = float(np.square(n_rows - each).sum() + 1.0) / each  # no less, as rows are whole
        return bool(gammainc((len(n_rows) - 1) / 2, scattered / 2) < BY_CHANCE)

    @property
    def may_name_things(self) -> bool:  # type: ignore[override]
        """Whether whole numbers are in a long range."""
        is_long = self.most - self.least >= MANY_NUMBERS - 1 and max(-self.least, self.most) <= EXACT
        return is_long and not self.is_word and self.kind != "date" and self.is_whole

    @cached_property
    def rises(self) -> bool:  # type: ignore[override]
        """Whether each value is above that of the row before."""
        return bool((self.known[1:] > self.known[:-1]).all())

    def says(self, labels: LabelsToSay) -> bool:
        """Return whether a value goes with each label, and with no other."""
        if len(self.values) != labels.n_rows:
            return False
        x = self.values[labels.rows]
        of_label = x[labels.first]
        for some in (slice(1000), slice(None)):  # most columns differ soon
            if not np.array_equal(of_label[labels.own[some]], x[some], equal_nan=True):
                return False
        return len(np.unique(of_label)) == len(of_label)

    def holds(self, labels: LabelsToSay) -> bool:
        """Return whether the values are the numbers of the labels; IN: labels: which the column says."""
        codes: list[float] = self.values[labels.rows][labels.first].tolist()
        values = codes if self.categories is None else [self.categories.value(code) for code in codes]
        return all(value in (number, str(number)) for value, number in zip(values, labels.numbers or (), strict=False))


def seen_numbers(
    names: Sequence[str], columns: Iterable[Floats], dates: Collection[str] = (), table: ShuffledRows | None = None
) -> Iterator[SeenValues]:
    """Yield what is known of columns of numbers; each keeps a copy of its values once it is asked."""
    for name, x in zip(names, columns, strict=True):
        yield SeenValues(name, x, kind="date" if name in dates else "number", table=table)


class SeenInSome(SeenValues):
    """A column of numbers of which some rows, that were drawn, are in memory: whether it counts rows all rows tell."""

    def __init__(self, some: SeenValues, in_all: Seen) -> None:
        vars(self).update(vars(some))
        of_all = ("n_known", "lacks_some", "least", "most", "is_whole", "are_few", "rises")
        vars(self).update({name: getattr(in_all, name) for name in of_all})
        self.in_all = in_all

    @property
    def is_unique(self) -> bool:  # type: ignore[override]
        """Whether no value comes twice."""
        return self.in_all.is_unique


def seen_in(
    table: ColumnTable, padded: Collection[str] = (), in_all: Mapping[str, Seen] = MappingProxyType({})
) -> list[Seen]:
    """Return what is known of the columns of a table.

    IN: padded: numbers with leading zeros; in_all: what all rows tell of columns of numbers, if these were drawn.
    """
    rows = ShuffledRows(table.values)
    columns = [
        SeenValues(
            name,
            table.values[:, j],
            table.categories.get(j),
            kind="date" if name in table.dates else "number",
            is_padded=name in padded,
            table=rows,
        )
        for j, name in enumerate(table.columns)
    ]
    return [SeenInSome(seen, in_all[seen.name]) if seen.name in in_all else seen for seen in columns]


def are_times(values: Collection[Hashable]) -> bool:
    """Return whether values are texts of times of the day or lengths of time, such as 14:30 and 00:12:33.

    All are, but for blanks; of many different ones nearly all.
    """
    counts = Counter(value for value in values if isinstance(value, str))  # the texts of categories come often
    times = [text for text in counts if _TIME.fullmatch(text.strip())]
    if not times:
        return False
    n_others = sum(not isinstance(value, str) and not is_missing(value) for value in values)
    n_texts = n_others + sum(n for text, n in counts.items() if text.strip() != "")
    least = NEARLY_ALL if len({text.strip() for text in times}) > FEW_TIMES else 1
    return sum(counts[text] for text in times) >= least * n_texts


_TIME = re.compile(TIME)
