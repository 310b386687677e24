"""Columns that measure nothing: they say when a row is from, go with what says it, or are numbers that are names.

`is_calendar`: a date, a part of one, or a time of day. Numbers alone do not tell: from 1 to 12 are months, and much
else. So a column of numbers must also have the name of such a part, and no other word that gives it a meaning of its
own, as `year_built` and `hours_per_week` have. Words must all be names of months, of days of the week, or of seasons.

`fixed_by_dates`: what is the same in all rows of a date or a part of one, as dummies of years, flags of holidays and
prices by day. What a person has is the same in all rows of a birthday, too: such dates are told from others as numbers
that are names are, by a property that changes in their order about as often as in any. Only columns that would differ
in many rows, if they had nothing to do with the date, show this.

`names_among`: whole numbers that are names, as those of schools and persons, although not called ids. What a number
names has properties, as a school has a town: in all rows of a value, another column is the same. An age fixes its age
group, too, but that one rises with it. A property of what is named changes in the order of the numbers about as often
as in any order. Only many numbers that come again and again show this. Of long tables some rows are looked at: drawn
ones, or all those of some values if drawn ones have too many.

`units_among`: whole numbers that count or name what the rows belong to, as households, trees and districts, although no
column is fixed by them. They are unique where numbers of a measure would come twice by chance; or they go through the
file, leave few out and never fall; or within each of them other columns hardly vary, and differ between neighbouring
numbers as much as between any. One such column is enough if it does not vary at all, and the numbers never fall or
leave few out. Numbers of units within units, as of mothers within villages, do not fall down a file either: two such
columns are enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.batches.overview import MANY_NUMBERS
from boxwood.columns.seen import BEGINNINGS, Seen, SeenValues
from boxwood.reference.ranks import nearness_of_ranks, ranks_of

YEARS = (1800.0, 2101.0)
SHORT_YEARS = (32.0, 99.0)  # of two digits, beyond all days and months
PARTS = {
    "year": YEARS,
    "yr": YEARS,
    "month": (0.0, 12.0),
    "mnth": (0.0, 12.0),
    "day": (0.0, 366.0),
    "doy": (0.0, 366.0),
    "weekday": (0.0, 7.0),
    "dow": (0.0, 7.0),
    "hour": (0.0, 24.0),
    "minute": (0.0, 60.0),
    "week": (0.0, 53.0),
    "quarter": (1.0, 4.0),
    "season": (0.0, 4.0),
    "date": (-np.inf, np.inf),
    "timestamp": (-np.inf, np.inf),
}
"""Least and greatest number of each part of a date, by its name."""

_BESIDE = {"of", "the", "in", "num", "number", "nr", "no", "name", "fiscal", "calendar", "survey", "local", "utc"}
_BESIDE |= {"sale", "sales", "sold", "arrival", "departure"}
CLOCK = (0.0, 2400.0)  # times of day as 1530

_MONTHS = "jan(uary)? feb(ruary)? mar(ch)? apr(il)? may june? july? aug(ust)? sept?(ember)? oct(ober)? nov(ember)? "
_DAYS = "mon(day)? tue(s(day)?)? wed(nesday)? thu(r?s(day)?)? fri(day)? sat(urday)? sun(day)?"
_YEAR = "(19|20)[0-9]{2}"
_WORDS = (
    (f"{_MONTHS}dec(ember)?", f"([ /-]*({_YEAR}|[0-9]{{2}}))?"),
    (_DAYS, ""),
    ("winter spring summer fall autumn", f"([ /-]*{_YEAR})?"),
)
_TEXTS = [re.compile(f"({'|'.join(names.split())}){year}", re.IGNORECASE) for names, year in _WORDS]


def is_calendar(seen: Seen, words: Collection[str]) -> bool:
    """Return whether a column says when a row is from; IN: words: those of its name."""
    if seen.is_word:
        return _are_parts(seen.texts)
    if seen.kind == "date" or ("date" in words and (_is_within(seen, YEARS) or _are_days(seen))):
        return True
    if "time" in words and seen.is_whole and _is_within(seen, CLOCK):
        return seen.are_clock
    ends = {PARTS[word] for word in words if word in PARTS}
    if not ends or not all(word in PARTS or word in _BESIDE for word in words):
        return False
    ends |= {SHORT_YEARS} if YEARS in ends and seen.is_whole else set()
    return (seen.is_whole or ends == {YEARS}) and seen.most > 1 and any(_is_within(seen, each) for each in ends)


def _are_days(seen: Seen) -> bool:
    """Return whether whole numbers may be days such as 19750103."""
    return seen.is_whole and _is_within(seen, (YEARS[0] * 10_000, YEARS[1] * 10_000))


def _is_within(seen: Seen, ends: tuple[float, float]) -> bool:
    return ends[0] <= seen.least < seen.most <= ends[1]


def _are_parts(values: Collection[Hashable] | None) -> bool:
    """Return whether several values are all names of one part of a date."""
    texts = [value.strip() if isinstance(value, str) else "" for value in values or () if value is not None]
    return len(texts) > 1 and any(all(map(names.fullmatch, texts)) for names in _TEXTS)


# ------------------------------------------------------------------------------------------------- what goes with dates
ROWS_OF_DATES = 20_000  # that are looked at, at most
NEARLY_ALWAYS = 0.9  # of the times at which waves begin again, at least, a unit does
WITH_DATES = 0.9  # rank correlation with a date, at least: two groups of rows, an early and a late one, have 0.87
FEWEST_RISING = 20  # rows that have both


def fixed_by_dates(dates: Sequence[SeenValues], columns: Sequence[SeenValues]) -> set[str]:
    """Return which columns are the same in all rows of each value of one of some dates or parts of dates."""
    found = set[str]()
    for date in dates:
        rows = _in_order(date)
        pairs = np.diff(date.values[rows]) == 0
        left = [one for one in columns if one.name not in found]
        same = {one.name for one in left if _is_fixed(one.values[rows], pairs)}
        found |= set() if same and are_names(date, columns) else same
    return found


def rise_with(dates: Sequence[SeenValues], columns: Sequence[SeenValues]) -> set[str]:
    """Return which columns of numbers rise or fall with one of some dates, by the ranks of rows that have both."""
    whens = [one for one in dates if not one.is_word]
    return {one.name for one in columns if not one.is_word and any(_rise_together(when, one.values) for when in whens)}


def _rise_together(date: SeenValues, x: Floats) -> bool:
    rows = date.drawn(~(np.isnan(date.values) | np.isnan(x)))[:ROWS_OF_DATES]
    if len(rows) < FEWEST_RISING:
        return False
    return bool(nearness_of_ranks(np.column_stack([date.values[rows], x[rows]]))[0, 1] >= WITH_DATES)


def _in_order(date: SeenValues) -> Indices:
    """Return rows in the order of their dates; of a long table the first rows of a random order."""
    rows = date.drawn(~np.isnan(date.values))[:ROWS_OF_DATES]
    return rows[np.argsort(date.values[rows], kind="stable")]


def _is_fixed(x: Floats, pairs: Bools) -> bool:
    """Return whether values are equal in all pairs of rows of a date, many of which would differ by chance."""
    x = np.nan_to_num(x, nan=np.inf)
    if (x[1:] != x[:-1])[pairs].any():
        return False
    _, counts = np.unique(x, return_counts=True)
    return bool(pairs.sum() * (1 - ((counts / len(x)) ** 2).sum()) >= BY_CHANCE)


def units_of_waves(waves: Sequence[SeenValues], columns: Sequence[SeenValues]) -> set[str]:
    """Return which columns name or number the units whose waves begin again, all with the first one, down the file.

    They differ from row to row only where waves begin again, and there nearly always; numbers rise, and words never
    come back.
    """
    begins = [~(np.diff(one.values) > 0) for one in waves]
    again = [begin for one, begin in zip(waves, begins, strict=True) if _begin_with_the_first(one, begin)]
    return {one.name for one in columns if any(_number_units(one, begin) for begin in again)}


def _begin_with_the_first(wave: SeenValues, begins: Bools) -> bool:
    are_first = wave.values[1:][begins] == wave.least
    return len(are_first) >= BEGINNINGS and float(are_first.mean()) >= NEARLY_ALWAYS


def _number_units(one: SeenValues, begins: Bools) -> bool:
    changes = one.values[1:] != one.values[:-1]
    if (changes & ~begins).any() or changes.sum() < NEARLY_ALWAYS * begins.sum():
        return False
    return len(np.unique(one.values)) == 1 + changes.sum() and (one.is_word or _never_falls(one.values))


# ----------------------------------------------------------------------------------------------- numbers that are names
ROWS = 5_000  # that are looked at, about
NAMES, PROPERTIES = 40, 250  # columns that are looked at, so 10,000 pairs at most
ROWS_EACH = 3  # of a value, and of all in the mean, at least: fewer do not show what they have in common
FEW = 20  # different values of a property, at most
SHARE = 0.05  # of the rows have the second most frequent value of a property, at least
UNEQUAL = 0.02  # of pairs of rows of a number may differ in its property: 1% of exceptions make so many
BY_CHANCE = 30  # pairs, at least, would differ if the property had nothing to do with the numbers
BANDS = 0.25  # so many different values for each number may be bands of a measure, but no more are
LEAST_CHANGES = 5  # the two ends of a range, as of working age, make two
OF_RANDOM = 0.5  # of the changes in a random order, at least
RISES = 0.5  # rank correlation with what is no property: names have a lower one
AGAIN = 0.1  # of the numbers of a coarser list may come back
UNIQUE = 50  # numbers of which that none comes twice says something
NEAR = 5  # steps: numbers so near show how many would be equal by chance
BY_DESIGN = 6.0  # so many, of which chance leaves none in one table of 400
SPACED = 0.5  # of the median step is the least one, at least
FILLED = 0.8  # of their range, at least, is filled by numbers that go through a file
MOST_ROWS_EACH = 50  # of a unit, in the mean
OUTER = 0.6  # as many rows, at least, as inner numbers have those of the outer quarters: of a measure fewer
WITHIN = 0.2  # of a measure's variance, at most, is within units in which it hardly varies
FEW_MEASURES = 2  # that hardly vary, at least


class _Things(NamedTuple):
    """Rows in the order of a column's numbers, at random within each: the first of each, and pairs of equal ones."""

    rows: Indices
    first: Indices
    pairs: Bools


def names_among(suspects: Sequence[SeenValues], columns: Sequence[SeenValues]) -> set[str]:
    """Return which columns of numbers are names; IN: suspects: such as may be; columns: all that rules may use.

    Those are that have a property. So are numbers of a coarser list, as those of the schools' districts: they are the
    same for each school, and go on in the order of the schools. No names are numbers with which another column
    rises or falls, as the time does with the distance.
    """
    beside = [one for one in columns if _may_be_property(one)][:PROPERTIES]
    looked_at = ((one, found) for one in suspects if (found := _things(one)) is not None)
    things = {one.name: (one.values, found) for one, found in islice(looked_at, NAMES)}
    named = {name for name, (_, found) in things.items() if any(_names(found, its.values) for its in beside)}
    lists = {
        name: {other for other, (x, _) in things.items() if other not in named and _is_coarser(things[name][1], x)}
        for name in named
    }
    alike = named.union(*lists.values())
    measures = [one.values for one in columns if not one.is_word and one.name not in alike][:PROPERTIES]
    kept = {name for name in named if not any(_rises(things[name][1], x) for x in measures)}
    return kept.union(*(lists[name] for name in kept))


def units_among(suspects: Sequence[SeenValues], columns: Sequence[SeenValues]) -> set[str]:
    """Return which columns of numbers count or name units; IN: as for `names_among`."""
    ascending = {one.name for one in suspects if _goes_up(one)}
    found = {one.name for one in suspects[:NAMES] if _are_unique_by_design(one.known)}
    found |= _find_nested([one for one in suspects if one.name in ascending][:NAMES])
    for one in suspects[:NAMES]:
        aside = {one.name} | (ascending if one.name in ascending else set())
        measures = [other.values for other in columns if not (other.is_word or other.name in aside)][:PROPERTIES]
        found |= {one.name} if one.name not in found and _are_units(one, measures) else set()
    return found | ascending if found & ascending else found


def _find_nested(ascending: Sequence[SeenValues]) -> set[str]:
    """Return numbers that never fall down the file, each of which has one of another such column, and these others.

    So are those of mothers within villages. Of the others there are half as many at most, and several rows have one.
    """
    n_values = {one.name: len(np.unique(one.known)) for one in ascending}
    found = set[str]()
    for one in ascending:
        steps = np.diff(one.known) == 0
        for other in ascending:
            are_fewer = 2 * n_values[other.name] <= n_values[one.name] < len(one.known)
            if are_fewer and not (np.diff(other.known)[steps] != 0).any():
                found |= {one.name, other.name}
    return found


def outer_units(identifiers: Sequence[SeenValues], columns: Sequence[SeenValues]) -> set[str]:
    """Return which columns number few units, each of which holds a range of identifiers, as chambers hold trees.

    No measure tells such a column, as the age tells age groups by which persons were numbered.
    """
    inner = [one for one in identifiers if not one.lacks_some and 2 * len(np.unique(one.known)) <= one.n_known]
    numbers = [one for one in columns if _may_be_property(one) and not (one.is_word or one.lacks_some)]
    outer = [one for one in numbers if any(_holds_ranges(one, its) for its in inner)]
    measures = [one for one in columns if not (one.is_word or _may_be_property(one))][:PROPERTIES]
    return {one.name for one in outer if not any(_is_told_by(one.values, its.values) for its in measures)}


def _holds_ranges(one: SeenValues, inner: SeenValues) -> bool:
    """Return whether numbers in a row, three or more, go up with identifiers, several of which are in each."""
    order = np.argsort(inner.values, kind="stable")
    steps, same = np.diff(one.values[order]), np.diff(inner.values[order]) == 0
    goes_up = (steps >= 0).all() and steps.max(initial=0.0) == 1 and not steps[same].any()
    return bool(goes_up and one.most - one.least >= 2 and (~same).sum() >= 2 * (one.most - one.least + 1))


def _is_told_by(units: Floats, x: Floats) -> bool:
    """Return whether half of the variance of a measure, or more, is between units."""
    known = ~np.isnan(x)
    at, x = (units[known] - units.min()).astype(np.intp), x[known] - x[known].mean()
    sums, sizes = np.bincount(at, x), np.maximum(np.bincount(at), 1)
    return bool(2 * (sums**2 / sizes).sum() >= (x**2).sum())


def _goes_up(one: SeenValues) -> bool:
    """Return whether many numbers, one in each row, never fall down the file."""
    is_whole = len(one.known) == len(one.values) and len(np.unique(one.known)) >= MANY_NUMBERS
    return bool(is_whole and _never_falls(one.known))


def _never_falls(x: Floats) -> bool:
    return bool((np.diff(x) >= 0).all())


def _are_units(one: SeenValues, others: Sequence[Floats]) -> bool:
    """Return whether numbers that come again name units, with which no measure rises or falls."""
    go_through = _go_through(one.known)
    things = _things(one, 1 if go_through else ROWS_EACH)
    if things is None or not (go_through or _fix_others(things, others) or _fix_one(one.known, things, others)):
        return False
    return not any(_rises(things, x) for x in others)


def _fix_others(things: _Things, others: Sequence[Floats]) -> bool:
    """Return whether at least half of the measures, and two, hardly vary in the rows of a number."""
    n_fixed = sum(_hardly_varies(things, x) for x in others)
    return n_fixed >= FEW_MEASURES and 2 * n_fixed >= len(others)


def _fix_one(x: Floats, things: _Things, others: Sequence[Floats]) -> bool:
    """Return whether a measure of many values is the same in all rows of a number, and not nearly that of the next.

    What a town has is the same in all rows of another measure of the town, too; but no file is sorted by that.
    """
    if (np.diff(x) < 0).any() and len(np.unique(x)) < FILLED * (np.ptp(x) + 1):
        return False
    return any(
        len(np.unique(its[things.rows])) > FEW
        and _are_the_same(things, its)
        and not _is_smooth(np.nan_to_num(its[things.rows][things.first]))
        for its in others
    )


def _are_unique_by_design(x: Floats) -> bool:
    """Return whether no number comes twice, though numbers of a measure that are so near would, by chance.

    So many as are one step apart, or two, and so on, would be none apart. Steps are those of the numbers. Nor are any
    two much nearer than most neighbours where numbers are given out, as one of four neighbours is by chance.
    """
    if len(x) < UNIQUE:
        return False
    apart = np.diff(np.sort(x))
    if (apart == 0).any() or len(apart) == 0:
        return False
    if apart.min() >= SPACED * np.median(apart):
        return True
    steps = apart / np.gcd.reduce(apart.astype(np.int64))
    return bool((steps <= NEAR).sum() >= NEAR * BY_DESIGN)


def _go_through(x: Floats) -> bool:
    """Return whether numbers go through the file, hardly leave one out, come again, and never fall.

    As many rows may have each, or some more than others, but not many more in the middle, as of a measure that a file
    is sorted by.
    """
    if (np.diff(x) < 0).any():
        return False
    _, n_rows = np.unique(x, return_counts=True)
    come_again = len(n_rows) < len(x) <= MOST_ROWS_EACH * len(n_rows)
    if not come_again or len(n_rows) < max(FILLED * (x[-1] - x[0] + 1), MANY_NUMBERS):
        return False
    quarter = len(n_rows) // 4
    inner, outer = n_rows[quarter:-quarter], np.r_[n_rows[:quarter], n_rows[-quarter:]]
    return bool(outer.mean() >= OUTER * inner.mean() and not _is_smooth(n_rows.astype(np.float64)))


def _hardly_varies(things: _Things, values: Floats) -> bool:
    """Return whether a measure is nearly the same in all rows of a number, and not nearly that of the next number."""
    x = values[things.rows]
    known = ~np.isnan(x)
    if not known.all() or np.ptp(x) == 0:
        return False
    within = float(np.mean(np.diff(x)[things.pairs] ** 2)) / 2
    return within <= WITHIN * float(np.var(x)) and not _is_smooth(x[things.first])


def _is_smooth(x: Floats) -> bool:
    """Return whether neighbours differ much less than any two: half as much as at random."""
    whole = float(np.square(x - x.mean()).sum())
    return float(np.square(np.diff(x)).sum()) < whole


def are_names(numbers: SeenValues, columns: Sequence[SeenValues]) -> bool:
    """Return whether numbers are names, as one of some other columns is a property of what they name."""
    things = _things(numbers)
    return things is not None and any(_names(things, one.values) for one in columns if _may_be_property(one))


def _may_be_property(seen: SeenValues) -> bool:
    """Return whether a column has few values: words, truths or whole numbers."""
    return len(seen.texts) <= FEW if seen.is_word else 0 < seen.most - seen.least < FEW and seen.is_whole


def _things(one: SeenValues, rows_each: int = ROWS_EACH) -> _Things | None:
    """Return some rows in the order of their numbers, of those that come again; None if these are few.

    IN: rows_each: of a value, and of all in the mean, at least.
    """
    rows, values = _rows(one)[:ROWS], one.values
    _, number, n_rows = np.unique(values[rows], return_inverse=True, return_counts=True)
    if len(n_rows) < MANY_NUMBERS or len(rows) < rows_each * len(n_rows):
        return None
    come_again = n_rows[number] >= rows_each
    rows, number = rows[come_again], number[come_again]
    order = np.argsort(number, kind="stable")
    pairs = np.diff(number[order]) == 0
    first = np.flatnonzero(np.r_[True, ~pairs])
    return _Things(rows[order], first, pairs) if len(first) >= MANY_NUMBERS else None


def _rows(one: SeenValues) -> Indices:
    """Return rows with a value in a random order: all, or drawn ones, or those of drawn values if these are many."""
    values = one.values
    rows = one.drawn(~np.isnan(values))
    drawn = rows[:ROWS]
    if len(rows) <= ROWS or ROWS_EACH * len(np.unique(values[drawn])) <= ROWS:
        return drawn
    mixed = (values[rows].astype(np.int64).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    return rows[mixed < ROWS / len(rows) * 2**32]


def _names(things: _Things, values: Floats) -> bool:
    """Return whether values are a property of what numbers name."""
    if not _are_the_same(things, values):
        return False
    x = _codes(values[things.rows])
    shares = np.sort(np.bincount(x))[::-1] / len(x)
    if len(shares) < 2 or shares[1] < SHARE or len(shares) > BANDS * len(things.first):
        return False
    by_chance = things.pairs.sum() * (1 - (shares**2).sum())
    of_things = x[things.first]
    return bool(by_chance >= BY_CHANCE and _changes(of_things) >= max(LEAST_CHANGES, OF_RANDOM * _at_random(of_things)))


def _is_coarser(things: _Things, values: Floats) -> bool:
    """Return whether many numbers are the same for each thing, and go on in the order of the things."""
    if not _are_the_same(things, values):
        return False
    x = _codes(values[things.rows][things.first])
    n_numbers = x.max() + 1
    return bool(n_numbers >= MANY_NUMBERS and _changes(x) < (1 + AGAIN) * n_numbers)


def _are_the_same(things: _Things, values: Floats) -> bool:
    """Return whether values are the same in all rows of a number, but for few exceptions; missing ones are a value."""
    x = values[things.rows]
    x[np.isnan(x)] = np.inf
    return bool((x[1:] != x[:-1])[things.pairs].mean() <= UNEQUAL)


def _rises(things: _Things, values: Floats) -> bool:
    """Return whether values rise or fall with the numbers, by the ranks of their means."""
    x = values[things.rows]
    known = ~np.isnan(x)
    n_rows = np.add.reduceat(known.astype(np.intp), things.first)
    means = np.add.reduceat(np.where(known, x, 0.0), things.first)[n_rows > 0] / n_rows[n_rows > 0]
    if len(means) < MANY_NUMBERS or np.ptp(means) == 0:
        return False
    ranks = ranks_of(means)
    found = np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]
    return bool(abs(found) > max(RISES, 4 / np.sqrt(len(ranks))))  # four standard deviations of chance


def _codes(x: Floats) -> Indices:
    """Return the number of each value among the different ones, of which a missing one is one."""
    codes: Indices = np.unique(x, return_inverse=True)[1]
    return codes


def _changes(x: Indices) -> int:
    """Return how often codes change from one to the next."""
    return int((x[1:] != x[:-1]).sum())


def _at_random(x: Indices) -> float:
    """Return how often codes change in a random order, in the mean."""
    n, counts = len(x), np.bincount(x)
    return float((n - 1) - (counts * (counts - 1)).sum() / n)
