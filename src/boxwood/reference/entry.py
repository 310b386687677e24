"""`Entry`: how the columns of a table enter distances: tails that are drawn in, and factors that bring them to a scale.

Where boxwood makes the clusters, no few rows should make them. Numbers get one range, that of all but the least and the
greatest hundredth of the rows. The tails of a column are drawn in if they are longer than those of an exponential
distribution: about its median, or as of a logarithm where numbers that are not negative differ by ratios, as money and
counts do. Such numbers enter as of a logarithm, too, if groups show more clearly then. Numbers that stand for a missing
value, such as 99 beside answers 1 to 5, are where a typical row is. Words, and numbers of two
values, enter as one-hot columns, in which two different values are as far apart as two typical numbers. What several
columns say counts once. How much a column counts besides is for the clusters to say: see `clusterers.column_weights`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices, Weights
from boxwood.axes import Tails
from boxwood.axes.categories import Categories
from boxwood.batches.sample import some_rows
from boxwood.errors import DataError
from boxwood.reference.ranks import STEPS, nearness_of_ranks, spread_left

MANY = 1 << 17  # so many rows tell the tail of a column with more
FAR = 0.01  # share of the rows that are farthest from the mean
HEAVY = 0.25  # of the variance: the farthest rows of an exponential distribution have 22%
NORMAL = 1.349  # quarters of a normal distribution are so many deviations apart
WIDE = 4.0  # the range of most rows: that of two values is sqrt(2)
FEW = 0.01  # share of the rows that are beyond it, on each side
TIMES = 2.0  # the upper quarter is more than so many times the lower one: differences of such numbers are ratios
FAINT = 1e-3  # of a flag that another column decides: rules may test it
FEW_DOSES, MANY_DOSES = 3, 15  # different numbers above 0
OVER = 8.0  # times the least dose is the greatest one, at least
UNEVEN = 2.1  # times the least step between doses is the greatest one, at most: 1, 2, 5, 10 and 1, 4, 8, 16 are doses
TINY = 2.0**-60  # of the greatest difference: a smaller spread is rounding
LOOKED_AT = 2_000  # rows that tell which columns say the same
SAME = 0.99  # rank correlation of columns that say the same; less of it may be what groups make
FEW_VALUES = 60  # of a column that may decide flags
ROWS_EACH = 5  # for each of them
FEW_BANDS = 12  # words that may be bands of a number
MOST_PARTS, ROUNDING = 100, 1e-6  # columns among which sums are looked for, and what is left of one as a share of it
FEWEST_ABSENT = 5  # rows that lack a number as they have nothing to tell
BEYOND = 0.25  # of the range: so far from the others that is
ROWS_OF_CODE, SHARE_OF_CODES = 3, 1 / 3  # rows of each code at least, and share of the rows with any at most


class Repeated(NamedTuple):
    """Columns that say the same, by their places.

    Parameters
    ----------
    alike : tuple of tuples of int
        Numbers in the same order of ranks, or the opposite one.
    dummies : tuple of tuples of int
        Flags of which one is set in each row, as one-hot columns of a word are.
    decided : dict
        Flags by the column, of few values, that decides them; words, and numbers of few values, by the words that do,
        by other numbers for the same things, or by the number whose ranges they are.
    sums : dict, default={}
        Numbers that are sums of others, by these.
    """

    alike: tuple[tuple[int, ...], ...]
    dummies: tuple[tuple[int, ...], ...]
    decided: dict[int, int]
    sums: Mapping[int, tuple[int, ...]] = {}

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """All columns of each thing that is said more than once."""
        by = sorted(set(self.decided.values()))
        groups = *self.alike, *self.dummies, *((j, *(i for i, at in self.decided.items() if at == j)) for j in by)
        groups = *groups, *((*parts, j) for j, parts in self.sums.items())
        return tuple(each for each in groups if not any({*each} < {*other} for other in groups))


class Entry(NamedTuple):
    """How the columns of a table enter distances.

    Parameters
    ----------
    scales : array of shape (d,)
        Factor of each column.
    tails : Tails, default=None
        What is done to the numbers before; None if nothing is.
    is_scaled : bool, default=True
        Whether columns were brought to one scale.
    repeated : Repeated, default=None
        Columns that say the same, and count once.
    weights : array of shape (d,), default=None
        How much each column counts, which the factors hold; the largest is 1. None if that is for the factors to say.
    codes : mapping from column to list of float, default={}
        Numbers that stand for a missing value, which `tails` has.
    absent : mapping from column to float, default={}
        What is taken for a missing number of columns in which a row lacks one as it has nothing to tell, such as the
        price of no purchase.
    """

    scales: Floats
    tails: Tails | None = None
    is_scaled: bool = True
    repeated: Repeated | None = None
    weights: Floats | None = None
    codes: Mapping[int, list[float]] = {}
    absent: Mapping[int, float] = {}

    @classmethod
    def of(
        cls, table: Array, categories: Collection[int] = (), weights: Weights = None, measured: Collection[int] = ()
    ) -> Entry:
        """Return how a table enters clusters that boxwood makes; see the head of this file.

        IN: table (n, d): with plus infinity for each missing number; categories: the columns of codes; measured: those
        in which no number stands for a missing value, however far from all others it is.
        """
        d = table.shape[1]
        middle, spread, scales = np.zeros(d), np.full(d, np.inf), np.ones(d)
        ends, typical = np.outer([-np.inf, np.inf], np.ones(d)), np.zeros(d)
        codes = _codes_in(table, {*range(d)} - {*categories} - {*measured})
        table = _without_codes(table, codes)
        absent = absent_in(table, categories)
        table = _fill_missing(table, absent)
        for j in set(range(d)) - set(categories):
            values, mass = _count_values(table[:, j], weights)
            middle[j], spread[j] = _middle_and_spread(values, mass)
            tails = Tails(middle[[j]], spread[[j]])
            scales[j] = _scale(tails.transform(values[:, None])[:, 0], mass)
            if j in codes:
                ends[:, j], typical[j] = ends_of_codes(codes[j]), _quantile(values, mass / mass.sum(), 0.5)
        tails, repeated = Tails(middle, spread, ends, typical), repeated_in(table, categories)
        entered = tails if tails.changed else None
        return cls(scales * _counted_once(repeated, d), entered, repeated=repeated, codes=codes, absent=absent)

    def with_weights(self, weights: Floats | None) -> Entry:
        """Return how the columns enter if their squared differences get weights; None leaves them."""
        return self if weights is None else self._replace(scales=self.scales * np.sqrt(weights), weights=weights)

    @property
    def even(self) -> Entry:
        """The same without weights."""
        return self if self.weights is None else self._replace(scales=self.scales / np.sqrt(self.weights), weights=None)

    def known(self, table: Floats) -> Floats:
        """Return a table with NaN for what is not known, and numbers for what a row lacks as it has nothing to tell.

        IN: table (n, d): with NaN for what is missing.
        """
        return _fill_missing(_without_codes(table, self.codes, np.nan), self.absent)

    def one_hot(self, table: Array, categories: Mapping[int, Categories]) -> tuple[Floats, list[Indices]]:
        """Return a table with words as one-hot columns, scaled, and the columns that are made of each column of it.

        IN: table (n, d): with NaN for what is missing, which goes to the mean of its columns.
        """
        values, made = self.entered(np.asarray(table, dtype=np.float64)) * self.scales, list[Floats]()
        for j, x in enumerate(values.T):
            lacks, columns = np.isnan(x), x[:, None]
            if j in categories:
                eye = np.eye(len(categories[j].domain)) * self.scales[j]
                columns = eye[np.where(lacks, 0, table[:, j]).astype(np.intp)]
            columns[lacks] = columns[~lacks].mean(axis=0) if not lacks.all() else 0.0
            made.append(columns)
        ends = np.cumsum([part.shape[1] for part in made])
        return np.hstack(made), np.split(np.arange(ends[-1]), ends[:-1])

    def entered(self, table: Array) -> Array:
        """Return a table with its tails drawn in, before its columns are scaled; IN: with NaN for what is missing."""
        table = _fill_missing(table, self.absent)
        return table if self.tails is None else self.tails.transform(table)


def absent_in(table: Array, categories: Collection[int]) -> dict[int, float]:
    """Return what is taken for missing numbers of columns that rows lack as they have nothing to tell, by column.

    All these rows, and no others, have 0 or one value of a category in another column, as those who do not smoke lack
    the number of their brands. That is a value of its own: below all others, or above if these fall with that column.

    IN: table (n, d): with plus infinity for each missing number.
    """
    found: dict[int, float] = {}
    for j in set(range(table.shape[1])) - set(categories):
        lacks = ~np.isfinite(table[:, j])
        if FEWEST_ABSENT <= lacks.sum() <= len(table) - FEWEST_ABSENT:
            by = [i for i in range(table.shape[1]) if i != j and _says_absent(table[:, i], lacks, i in categories)]
            if by:
                x, known = table[~lacks, j].astype(np.float64), [table[~lacks, i] for i in by if i not in categories]
                falls = any(((x - x.mean()) * (y - y.mean())).sum() < 0 for y in known)
                found[j] = float(x.max() + BEYOND * np.ptp(x)) if falls else float(x.min() - BEYOND * np.ptp(x))
    return found


def _says_absent(x: Array, lacks: Bools, is_category: bool) -> bool:
    """Return whether the rows that lack a number, and no others, have 0 or one category in a column."""
    value = x[np.argmax(lacks)]
    if not (is_category or value == 0):
        return False
    parts = slice(100), slice(None)  # most columns differ soon
    return all(np.array_equal(x[part] == value, lacks[part]) for part in parts) and bool(np.isfinite(x).all())


def _fill_missing(table: Array, numbers: Mapping[int, float]) -> Array:
    """Return a table with a number for each one that is missing, of some columns."""
    if not numbers:
        return table
    full = np.array(table, dtype=np.float64)
    for j, number in numbers.items():
        full[~np.isfinite(full[:, j]), j] = number
    return full


def _codes_in(table: Array, columns: Collection[int]) -> dict[int, list[float]]:
    found = {j: codes_apart(np.asarray(table[:, j], dtype=np.float64)) for j in sorted(columns)}
    return {j: codes for j, codes in found.items() if codes}


def _without_codes(table: Array, codes: Mapping[int, list[float]], lacks: float = np.inf) -> Array:
    """Return a table with `lacks` for each number that stands for a missing value."""
    if not codes:
        return table
    known = np.array(table, dtype=np.float64)
    for j, numbers in codes.items():
        known[np.isin(known[:, j], numbers), j] = lacks
    return known


def _counted_once(repeated: Repeated, d: int) -> Floats:
    """Return factors, shape (d,), by which columns that say the same count as one column."""
    once = np.ones(d)
    for group in repeated.alike:
        once[list(group)] /= math.sqrt(len(group))
    for group in repeated.dummies:
        once[list(group)] /= math.sqrt(2.0)  # as one-hot columns of a word, not of each flag
    once[[*repeated.decided, *repeated.sums]] *= FAINT
    return once


def _count_values(x: Array, weights: Weights) -> tuple[Floats, Floats]:
    """Return the different numbers of a column, ascending, and their weights; of a long one those of some rows."""
    known = np.flatnonzero(np.isfinite(x) if weights is None else np.isfinite(x) & (weights > 0))
    rows = known[:: -(-len(known) // MANY) or 1]
    values, at = np.unique(np.asarray(x[rows], dtype=np.float64), return_inverse=True)
    return values, np.bincount(at.ravel(), None if weights is None else weights[rows]).astype(np.float64)


def _middle_and_spread(values: Floats, mass: Floats) -> tuple[float, float]:
    """Return where the tails of a column are drawn in to, and how far from there; an infinite spread if nowhere.

    Where ratios count, it is zero and the lower quarter, or the least dose: above that, `arcsinh` is nearly a
    logarithm. Else it is the median, and how far apart the quarters are; if these are equal, as where most rows have 0,
    the spread is the median difference of the others.
    """
    if len(values) <= 2:
        return 0.0, math.inf
    unit = max(abs(values[0]), abs(values[-1]))
    shares = mass / mass.sum()
    low, middle, high = (_quantile(values, shares, q) for q in (0.25, 0.5, 0.75))
    if _are_doses(values):
        return 0.0, float(values[values > 0][0])
    is_long = _share_of_farthest(values / unit, shares) > HEAVY
    if values[0] >= 0 and 0 < TIMES * low < high:
        spread = max(low, float(values[-1]) * TINY)
        return 0.0, spread if is_long or _parts_by_ratios(values, shares, spread) else math.inf
    if not is_long:
        return 0.0, math.inf
    apart = np.abs(values / unit - middle / unit)
    spread = (high / unit - low / unit) / NORMAL
    if spread <= 0:
        order = np.argsort(apart, kind="stable")
        others = order[apart[order] > 0]
        spread = _quantile(apart[others], shares[others], 0.5)
    return middle, max(spread, float(apart.max()) * TINY) * unit


def _are_doses(values: Floats) -> bool:
    """Return whether numbers are few and rise by about one factor, as doses do, of which the least one may be 0."""
    doses = values[values > 0]
    if values[0] < 0 or not FEW_DOSES <= len(doses) <= MANY_DOSES or doses[-1] < OVER * doses[0]:
        return False
    steps = np.diff(np.log(doses))
    return bool(steps.max() <= UNEVEN * steps.min())


def _parts_by_ratios(values: Floats, shares: Floats, spread: float) -> bool:
    """Return whether a column parts by the ratios of its numbers, and more clearly than by their differences."""
    if len(values) <= STEPS:
        return False
    return spread_left(np.arcsinh(values / spread), shares) < min(spread_left(values, shares), 1.0)


def _share_of_farthest(values: Floats, shares: Floats) -> float:
    """Return the share of the variance that the rows farthest from the mean have."""
    away = np.square(values - (values * shares).sum())
    order = np.argsort(-away, kind="stable")
    left = FAR - (np.cumsum(shares[order]) - shares[order])
    counted = np.clip(left, 0.0, shares[order])
    whole = float((away * shares).sum())
    return float((away[order] * counted).sum()) / whole if whole > 0 else 0.0


def _quantile(values: Floats, shares: Floats, q: float) -> float:
    below = np.cumsum(shares)
    return float(values[np.searchsorted(below, q * below[-1])])


def _scale(values: Floats, mass: Floats) -> float:
    """Return the factor of a column of numbers, from its different values and their weights."""
    if len(values) < 2 or (wide := float(values[-1] - values[0])) == math.inf:
        return 1.0
    if len(values) == 2:
        return math.sqrt(2.0) / wide
    inner = _quantile(values, mass, 1.0 - FEW) - _quantile(values, mass, FEW)
    return WIDE / (inner or wide)


def refuse_overflow(table: Array, *, squared: bool) -> None:
    """Raise a DataError if sums over the rows of a table, or of squared differences, may be beyond the largest float.

    Where columns are scaled first, no square is. IN: table (n, d): what is missing is infinite.
    """
    ends = [(float(known.min()), float(known.max())) for x in table.T if len(known := x[np.isfinite(x)])]
    largest = np.float64(max((max(-low, high) for low, high in ends), default=0.0))
    with np.errstate(over="ignore"):
        most = 4.0 * table.size * (largest * largest if squared else largest)
    if not np.isfinite(most):
        raise DataError("the cost may be beyond the largest float; divide the columns of X by a power of ten")


# -------------------------------------------------------------------------------------------- columns that say the same


def repeated_in(table: Array, categories: Collection[int]) -> Repeated:
    """Return the columns that say the same, as some rows tell; IN: table: with plus infinity for missing numbers."""
    rows = np.asarray(table[some_rows(table, LOOKED_AT)], dtype=np.float64)
    n_values = [len(np.unique(x)) for x in rows.T]
    numbers = [j for j, n in enumerate(n_values) if j not in categories and n > 1]
    flags = [j for j, n in enumerate(n_values) if n == 2 and np.isfinite(rows[:, j]).all()]
    deciders = [j for j, n in enumerate(n_values) if 2 < n <= min(FEW_VALUES, len(rows) // ROWS_EACH)]
    plain = [j for j in flags if j not in categories and rows[:, j].min() == 0 and rows[:, j].max() == 1]
    two = [j for j in categories if n_values[j] <= 3 and len(np.unique(rows[np.isfinite(rows[:, j]), j])) == 2]
    ordered = sorted([*numbers, *two])
    same = nearness_of_ranks(rows[:, ordered]) >= SAME
    alike, dummies = _alike(same, ordered), _dummies(rows, plain)
    others = {*range(len(n_values))} - {j for group in alike for j in group}
    few = [j for j, n in enumerate(n_values) if 1 < n <= FEW_BANDS and (j in others or n == 2)]
    decided = _find_bands(rows, [j for j in few if n_values[j] > 2], numbers)
    decided = _find_decided(rows, few, deciders, categories, decided)
    several = {j for group in (*alike, *dummies, (*decided,)) for j in group}
    return Repeated(alike, dummies, decided, _sums(rows, [j for j in numbers if j not in several]))


def _alike(same: Bools, numbers: list[int]) -> tuple[tuple[int, ...], ...]:
    """Return groups of columns each of which has the ranks of the first."""
    groups, left = list[tuple[int, ...]](), np.ones(len(numbers), dtype=np.bool_)
    for i in range(len(numbers)):
        if left[i]:
            group = np.flatnonzero(same[i] & left)
            left[group] = False
            groups += [tuple(numbers[j] for j in group)] if len(group) > 1 else []
    return tuple(groups)


def _dummies(rows: Floats, flags: list[int]) -> tuple[tuple[int, ...], ...]:
    """Return neighbouring flags of which each row has one."""
    groups, run, total = list[tuple[int, ...]](), list[int](), np.zeros(len(rows))
    for j in flags:
        if not run or j != run[-1] + 1 or (total + rows[:, j]).max() > 1:
            run, total = [], np.zeros(len(rows))
        run, total = [*run, j], total + rows[:, j]
        if total.min() == 1:
            groups += [tuple(run)] if len(run) > 2 else []  # two are alike
            run, total = [], np.zeros(len(rows))
    return tuple(groups)


def _sums(rows: Floats, numbers: list[int]) -> dict[int, tuple[int, ...]]:
    """Return numbers that are the sum of two others or more, in all rows that have them, by these."""
    known = rows[np.isfinite(rows[:, numbers]).all(axis=1)][:, numbers]
    found: dict[int, tuple[int, ...]] = {}
    if not 2 < len(numbers) <= MOST_PARTS or len(known) < ROWS_EACH * len(numbers):
        return found
    scale = np.abs(known).max(axis=0)
    scale[scale == 0] = 1.0
    known = known / scale
    for i in _dependent(known):
        j, others = numbers[i], np.delete(np.arange(len(numbers)), i)
        factors = np.linalg.lstsq(known[:, others], known[:, i], rcond=None)[0] * scale[i] / scale[others]
        parts = others[np.abs(factors - 1.0) < ROUNDING]
        if len(parts) < 2 or (np.abs(np.delete(factors, np.searchsorted(others, parts))) > ROUNDING).any():
            continue
        left = rows[:, j] - rows[:, [numbers[k] for k in parts]].sum(axis=1)
        if (np.abs(left[np.isfinite(left)]) <= ROUNDING * scale[i]).all():
            found[j] = tuple(numbers[k] for k in parts.tolist())
    return found


def _dependent(x: Floats) -> list[int]:
    """Return the columns that others make, or make others with, as all of these have one place less than columns."""
    values, vectors = np.linalg.eigh(x.T @ x)
    made = vectors[:, values <= ROUNDING**1.5 * values[-1]]
    return np.flatnonzero(np.abs(made).max(axis=1, initial=0.0) > ROUNDING).tolist()  # type: ignore[no-any-return]


def _find_bands(rows: Floats, words: list[int], numbers: list[int]) -> dict[int, int]:
    """Return words, or numbers of few values, that are ranges of another column, each of several rows, by it.

    So are age groups by the age.
    """
    found: dict[int, int] = {}
    for j in numbers if words else ():
        order = np.argsort(rows[:, j], kind="stable")
        x, codes = rows[order, j], rows[order][:, words]
        change = codes[1:] != codes[:-1]
        least = [int(np.diff(np.flatnonzero([True, *each, True])).min()) for each in change.T]
        n_each = change.sum(axis=0) + 1 == [len(np.unique(each)) for each in codes.T]
        among = ~change[x[1:] == x[:-1]].any(axis=0) & n_each & (np.array(least) >= ROWS_EACH)
        among &= np.array(words) != j
        found |= {words[i]: j for i in np.flatnonzero(among).tolist() if words[i] not in found}
    return found


def _find_decided(
    rows: Floats, columns: list[int], deciders: list[int], categories: Collection[int], found: dict[int, int]
) -> dict[int, int]:
    """Return columns of few values that are the same in all rows of each value of another one, which has several rows.

    Any column decides a flag. More values may be a property of what numbers stand for, and tell more than these do:
    only words decide them, or as many numbers, which are codes of the same things. IN: found: what is known of this.
    """
    found, n_values = dict(found), {j: len(np.unique(rows[:, j])) for j in (*columns, *deciders)}
    flags = {i for i in columns if len(np.unique(rows[np.isfinite(rows[:, i]), i])) == 2}
    for j in deciders:
        x = rows[np.argsort(rows[:, j], kind="stable")]
        begins = np.concatenate([[True], x[1:, j] != x[:-1, j]])
        is_fixed = ~((x[1:, columns] != x[:-1, columns]) & ~begins[1:, None]).any(axis=0)
        may = [i for i in np.array(columns)[is_fixed].tolist() if i not in (j, *found) and found.get(j) != i]
        coarser = {i for i in may if j in categories or n_values[i] == n_values[j]}
        coarser = {i for i in coarser if (n_values[i], -i) < (n_values[j], -j)}
        found |= {i: j for i in may if i in flags | coarser and _come_again(x[:, i], begins, i in flags)}
    return found


def _come_again(x: Floats, begins: Bools, is_flag: bool) -> bool:
    """Return whether the rarer values of a column have at least two rows for each value of what decides it."""
    values, counts = np.unique(x, return_counts=True)
    is_rarer = x != values[np.argmax(counts)]
    n_each = [np.count_nonzero(is_rarer & begins), np.count_nonzero(~is_rarer & begins)]
    return bool(is_rarer.sum() >= 2 * (min(n_each) if is_flag else n_each[0]))


def codes_apart(x: Floats) -> list[float]:
    """Return the numbers of a column that are codes such as 99, 998 or -9, from the outermost on.

    They have two digits or a sign, their digits are 7 to 9, some rows have each of them, and few rows have any. A
    positive one is farther from all other values than these are from each other; one below zero, where no other value
    is, half as far.
    """
    known = x[np.isfinite(x)]
    if not len(known) or not (_is_code(float(known.max())) or _is_code(float(known.min()))):
        return []
    values, n_rows = np.unique(known, return_counts=True)
    may_be = [_is_code(value) and n >= ROWS_OF_CODE for value, n in zip(values.tolist(), n_rows.tolist(), strict=True)]
    codes, low, high = list[float](), 0, len(values)
    while high - low > 2 and may_be[high - 1] and values[high - 1] > 0:
        high -= 1
    while high - low > 2 and may_be[low] and values[low] < 0:
        low += 1
    spread = values[high - 1] - values[low] if high > low else np.inf
    if high < len(values) and values[high] - values[high - 1] > spread:
        codes += values[high:][::-1].tolist()
    if low > 0 and values[low] >= 0 and values[low] - values[low - 1] > spread / 2:
        codes += values[:low].tolist()
    n_coded = n_rows[np.isin(values, codes)].sum()
    return codes if 0 < n_coded <= SHARE_OF_CODES * n_rows.sum() else []


def _is_code(value: float) -> bool:
    digits = f"{abs(value):.0f}"
    return value.is_integer() and {*digits} <= {*"789"} and (value < 0 or len(digits) > 1) and len(digits) <= 4


def ends_of_codes(codes: list[float]) -> tuple[float, float]:
    """Return the greatest code below zero and the least one above: numbers beyond these, and they, are codes."""
    return max((code for code in codes if code < 0), default=-np.inf), min((c for c in codes if c > 0), default=np.inf)
