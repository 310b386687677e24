"""Whether rows have groups: whether a valley with fewer rows lies between two crowds of them.

A valley is looked for in each column of numbers; on the lines from the mean of a cluster to that of all other rows, for
clusters of k-means of several numbers; and on the lines that part them best, which few rows tell less surely. Chance
makes valleys, too. So the rows are dealt into five parts, and the clearest valley of four parts is looked at in the
fifth: three windows of one length, in the valley and in the crowds beside it, were placed without its rows. Where no
valley is, as many rows at least fall into the window of the valley as into that of the smaller crowd, and the two
counts, over all parts, are compared as a fair coin would make them.

A column that has few values, or one value much more often than those beside it, is spread evenly over its range by the
ranks of its values, as are the categories of a column along a line. So the step of a flag, of a category or of frequent
zeros is no valley by itself; what several columns have together may be one. Columns that go together do so among equal
values, too: these are drawn from a Gaussian of the same correlations, or clipped numbers would lie in corners. (Flags
are drawn each by itself, as groups alone may be why they go together.) Flags of which a row has one at most are the
categories of a column, whoever made them of it. What a row lacks is that of the row most alike.

Rows on a curve, as on a ring, leave a hollow, which is no valley: rows go round it. Those between the crowds lie
farther apart, beside the line, than those of either crowd. Nor do the layers of a sheet that is rolled up lie apart:
rows of two or three numbers that are narrow in some direction nearby, but not everywhere in the same one. Nor do the
crests of a wave: a column without a valley, to which all others belong as a curve, and no line, to its abscissa.

Of one column the dip test asks the same: J. A. Hartigan, P. M. Hartigan, "The dip test of unimodality", The Annals of
Statistics 13 (1985).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood.reference.k_means import k_means

LEVEL = 0.05  # chance at most that a table without a valley is said to have groups
WAYS = 3  # in which a valley is looked for
PARTS = 5  # of the rows, each of which judges what the others show
CLUSTERS = range(2, 7)  # numbers of them that are tried
ROWS_EACH = 8  # for each cluster that is tried
SMALLEST, FEWEST = 0.02, 4  # share, and number, of the rows of a cluster that may be parted from the others
LENGTHS = (3, 4, 6, 9, 13)  # a window is such a part of the range of the rows
ON_SIDE = 0.85  # of the rows, at least, are on the side of their cluster where a valley lies between clusters
ENDS = 0.01  # share of the rows at either end that do not count for the range
SHIFTS = 4  # places of a window in each of its lengths
FINE = 0.25  # how much finer windows must show more, in deviations: there are more of them
RIDGE = 0.05  # of the mean variance: what is added to each, so that few rows have a line, too
FEW_VALUES = 20  # of a column whose steps are no valleys
OFTEN, TIMES = 0.02, 4.0  # share of the rows that have one value, and as often as those beside it, that is such a step
BESIDE = 2  # values on either side
WIDEST = 6.0  # deviations that such a column counts for at most
SWEEPS, FAR_OUT = 3, 1e-6  # of draws from a Gaussian, and the share of it that is beyond what is drawn
DIGITS = 9  # of places of categories on a line, so that equal ones are equal
HOLLOW = 0.15  # so many rows as in the smaller crowd are in a hollow that rows go round, at least
ROUND = 1.7  # times the variance that these have beside the line
TINY = 1e-6  # of the variance of all rows beside the line, which is none
NEAR, PIECES, FEWEST_ROLLED = 10, 6, 100  # rows that are nearby, or such a part of all; of so many rows at least
BESIDE_CURVE, BENT = 0.25, 0.5  # of the variance that a curve leaves at most, and of that which a line leaves
ALONG = 3  # rows on either side that tell where a curve is
THIN, STRAIGHT = 0.25, 0.8  # of the mean variance, that in the narrowest direction; how much alike these directions are
_LENGTHS = np.array(LENGTHS)[:, None]
_IN_USE = np.arange((max(LENGTHS) + 2) * SHIFTS) < (_LENGTHS + 2) * SHIFTS  # windows of each length, as many as it has
_FINER = FINE * np.sqrt(2.0 * np.log(_LENGTHS))


class Valley(NamedTuple):
    """Windows of one length on a line: where the valley, the smaller crowd and the larger crowd beside it begin.

    `depth` says how much clearer the valley is than others are by chance, in deviations.
    """

    depth: float
    valley: float
    crowd: float
    larger: float
    length: float

    @property
    def middle(self) -> float:
        """Where the middle of the valley is."""
        return self.valley + self.length / 2

    def rows_in(self, begin: float, line: Floats) -> Bools:
        """Return which rows of a line are in the window that begins there."""
        inside: Bools = (line >= begin) & (line < begin + self.length)
        return inside


class Groups(NamedTuple):
    """Whether rows have groups, and the column that shows them by itself, if one does.

    Parameters
    ----------
    show : bool or None
        None if there are too few rows to tell.
    column : int, default=None
        Its number among the blocks.
    around : tuple of one or two int, default=()
        The rows on both sides of the gap in that column, or one in the middle of its valley.
    go_round : bool, default=False
        Whether rows that have no groups lie about a hollow, as on a ring.
    """

    show: bool | None
    column: int | None = None
    around: tuple[int, ...] = ()
    go_round: bool = False


class _Lines(NamedTuple):
    """Where each row is on some lines, shape (m, n), and which columns these are; none if they are none."""

    at: Floats
    columns: tuple[int, ...] = ()


class _Line(NamedTuple):
    """Where each row is on a line, its clearest valley without the rows of one part, and the column that it is.

    `between` and `crowd` are how many rows of that part are in the valley, and in the smaller crowd beside it.
    """

    at: Floats
    valley: Valley
    column: int | None
    between: int
    crowd: int


@dataclass(frozen=True, eq=False)
class Valleys:
    """Rows between which valleys are looked for, in an order that their content tells."""

    table: _Table
    blocks: Sequence[Indices]
    order: Indices

    @classmethod
    def of(
        cls,
        rows: Floats,
        blocks: Sequence[Indices] | None = None,
        lacks: Bools | None = None,
        read: Floats | None = None,
    ) -> Valleys:
        """Return the valleys of some rows.

        IN: rows (n, d): as they enter distances; blocks: the columns that are made of one column of the table, of which
        more than one are the categories of a column, None for each by itself; lacks (n, d): what is missing, None for
        nothing; read (n, d): numbers as they were read, which tell the steps of a column, however it enters distances.
        """
        blocks = blocks if blocks is not None else [np.array([j]) for j in range(rows.shape[1])]
        rows = rows / (np.abs(rows).max() or 1.0)
        order = np.lexsort(rows.T)
        known = rows[order] if lacks is None or not lacks.any() else fill(rows[order], lacks[order])
        table = _Table.of(known, join_flags(known, blocks), None if read is None else read[order])
        return cls(table, blocks, order)

    def groups(self) -> Groups:
        """Return whether the rows have groups."""
        table = self.table
        alone = _find(table.columns, table)
        if _parts(alone) and not _go_round(alone, table):
            numbers = [line.column for line in alone if line.column is not None]
            column = max(sorted({*numbers}), key=numbers.count)
            line = next(line for line in alone if line.column == column)
            block = next(i for i, columns in enumerate(self.blocks) if table.blocks[column][0] in columns)
            return Groups(True, block, tuple(self.order[_around(line)].tolist()))
        clusters, go_round = cache(table.clusters), False
        for way in (_toward, _parting):
            found = _find(partial(table.lines, clusters, way), table)
            if _parts(found):
                if not _go_round(found, table):
                    return Groups(True)
                go_round = True
        return Groups(False, go_round=go_round)

    def n_apart(self, labels: Indices, factors: Floats) -> int:
        """Return how many clusters a valley parts from others, in columns that have these factors."""
        own = np.unique(labels[self.order], return_inverse=True)[1]
        return sum(_lies_apart(self.table, own, c, factors) for c in range(own.max() + 1))


def _lies_apart(table: _Table, own: Indices, cluster: int, factors: Floats) -> bool:
    """Return whether most of the valleys on lines to a cluster lie between clusters."""

    def clusters(part: int) -> list[Bools]:
        seen = own[table.seen(part)] == cluster
        return [seen] if 0 < np.count_nonzero(seen) < len(seen) else []

    for way in (_toward, _parting):
        found = _find(partial(table.lines, clusters, partial(_in_columns_of, factors, way)), table)
        if _parts(found) and 2 * sum(_lies_between(line, own) for line in found) > len(found):
            return True
    return False


def _lies_between(line: _Line, own: Indices) -> bool:
    """Return whether a valley lies between clusters: most rows are on the side on which most of their cluster is."""
    above = line.at >= line.valley.middle
    side: Bools = (np.bincount(own, above) >= np.bincount(own) / 2)[own]
    return bool(side.any() and not side.all() and (side == above).mean() >= ON_SIDE)


def _in_columns_of(factors: Floats, way: Callable[[Floats, Bools], Floats], rows: Floats, inside: Bools) -> Floats:
    """Return a direction as columns of these factors show it."""
    return way(rows * factors, inside) * factors


def clearest_valley(lines: Floats) -> tuple[int, Valley] | None:
    """Return which line has the clearest valley, the first of equals, and that; None if there is no room for one.

    The windows of each length begin at `SHIFTS` places in each length. A valley is as clear as the smaller of the
    largest crowds on its two sides has more rows, in deviations of the difference of two such counts.

    IN: lines (m, n): where each row is on each of some lines.
    """
    ordered = np.sort(lines, axis=1)
    out = int(ENDS * (lines.shape[1] - 1))
    low, high = ordered[:, out, None, None], ordered[:, -1 - out, None, None]
    numbers = np.flatnonzero(high > low)
    if not len(numbers):
        return None
    ordered, low, high = ordered[numbers], low[numbers], high[numbers]
    lengths = (high - low) / _LENGTHS
    begins = low - lengths + lengths / SHIFTS * np.arange(_IN_USE.shape[1])
    below = np.array(
        [[x.searchsorted(at) for x, at in zip(ordered, ends, strict=True)] for ends in (begins, begins + lengths)]
    )
    counts = (below[1] - below[0]) * _IN_USE
    left, right = np.maximum.accumulate(counts, axis=2), np.maximum.accumulate(counts[:, :, ::-1], axis=2)[:, :, ::-1]
    smaller, between = np.minimum(left[:, :, : -2 * SHIFTS], right[:, :, 2 * SHIFTS :]), counts[:, :, SHIFTS:-SHIFTS]
    depths = (smaller - between) / np.sqrt(np.maximum(smaller + between, 1)) - _FINER
    line, size, at = np.unravel_index(np.argmax(np.where(_IN_USE[:, 2 * SHIFTS :], depths, -np.inf)), depths.shape)
    depth, length = float(depths[line, size, at]), float(lengths[line, size, 0])
    places = _beside(counts[line, size, : (LENGTHS[size] + 2) * SHIFTS], int(at) + SHIFTS)
    valley, crowd, larger = (float(begins[line, size, i]) for i in places)
    return int(numbers[line]), Valley(depth, valley, crowd, larger, length)


def _beside(counts: Ints, valley: int) -> tuple[int, int, int]:
    """Return the window of a valley, and those of the smaller and the larger one of the largest crowds beside it."""
    behind = valley + SHIFTS
    sides = int(np.argmax(counts[: valley - SHIFTS + 1])), behind + int(np.argmax(counts[behind:]))
    crowd, larger = sorted(sides, key=lambda i: int(counts[i]))
    return valley, crowd, larger


def fill(rows: Floats, lacks: Bools) -> Floats:
    """Return rows with what they lack taken from the row that is most alike in the columns that both have."""
    spread, known = rows.std(axis=0), (~lacks).astype(np.float64)
    scaled = np.where(lacks, 0.0, rows / np.where(spread > 0, spread, 1.0))
    squares, both = np.square(scaled), known @ known.T
    apart = (squares @ known.T + known @ squares.T - 2.0 * scaled @ scaled.T) / np.maximum(both, 1.0)
    apart[both == 0] = np.inf
    full = rows.copy()
    for j in np.flatnonzero(lacks.any(axis=0) & ~lacks.all(axis=0)):
        without, having = np.flatnonzero(lacks[:, j]), np.flatnonzero(~lacks[:, j])
        full[without, j] = rows[having[np.argmin(apart[np.ix_(without, having)], axis=1)], j]
    return full


def join_flags(rows: Floats, blocks: Sequence[Indices]) -> list[Indices]:
    """Return blocks of which flags that no row has two of are one, each with the first ones that it goes with.

    A flag is a column of two values by itself; a row has it where it has the larger one.
    """
    joined, taken, at = list[Indices](), np.empty((0, len(rows)), dtype=np.bool_), list[int]()
    least, most = rows.min(axis=0, initial=np.inf), rows.max(axis=0, initial=-np.inf)
    for columns in blocks:
        x, low, high = (part[..., columns[0]] for part in (rows, least, most))
        if len(columns) > 1 or low == high or not ((x == low) | (x == high)).all():
            joined.append(columns)
            continue
        apart = np.flatnonzero(~(taken & (x == high)).any(axis=1))
        if len(apart):
            taken[apart[0]] |= x == high
            joined[at[apart[0]]] = np.append(joined[at[apart[0]]], columns)
        else:
            taken, at = np.vstack([taken, x == high]), [*at, len(joined)]
            joined.append(columns)
    return joined


class _Table(NamedTuple):
    """Rows as they enter distances, and with steps spread; `chances` are numbers from 0 to 1."""

    rows: Floats
    spread: Floats
    blocks: Sequence[Indices]
    chances: Floats
    numbers: tuple[int, ...]
    part: Indices

    @classmethod
    def of(cls, rows: Floats, blocks: Sequence[Indices], read: Floats | None = None) -> _Table:
        generator, n = np.random.RandomState(0), len(rows)
        chances, spread, numbers = _chances(rows, blocks, generator), rows.copy(), list[int]()
        for i, columns in enumerate(blocks):
            if len(columns) == 1:
                j = columns[0]
                numbers += [] if _is_stepped(rows[:, j]) else [i]
                spread[:, j] = _spread(rows[:, j], chances[:, i], None if read is None else read[:, j])
        return cls(rows, spread, blocks, chances, tuple(numbers), generator.permutation(n) % PARTS)

    def seen(self, part: int) -> Bools:
        """Return the rows of the other parts."""
        seen: Bools = self.part != part
        return seen

    def columns(self, part: int) -> _Lines:
        """Return the columns of numbers, which are the same for each part."""
        return _Lines(self.spread[:, [self.blocks[i][0] for i in self.numbers]].T, self.numbers)

    def clusters(self, part: int) -> list[Bools]:
        """Return which of the rows of the other parts are in a cluster, for each cluster of several numbers of them."""
        rows, least = self.rows[self.seen(part)], max(FEWEST, SMALLEST * len(self.rows))
        distinct = 1 + int(np.count_nonzero((np.diff(rows, axis=0) != 0).any(axis=1)))  # rows are in order
        numbers = [k for k in CLUSTERS if k <= min(distinct, len(self.rows) // ROWS_EACH)]
        found = [k_means(rows, k, 0).labels for k in numbers]
        inside = [labels == c for k, labels in zip(numbers, found, strict=True) for c in range(k)]
        return [each for each in inside if least <= np.count_nonzero(each) <= len(rows) - least]

    def lines(
        self, clusters: Callable[[int], list[Bools]], way: Callable[[Floats, Bools], Floats], part: int
    ) -> _Lines:
        """Return lines from each cluster to all other rows, as the rows of the other parts show them."""
        rows = self.spread[self.seen(part)]
        ways = [way(rows, inside) for inside in clusters(part)]
        return _Lines(self.on_lines(np.array(ways).reshape(-1, rows.shape[1])))

    def on_lines(self, ways: Floats) -> Floats:
        """Return where rows are on lines (m, n); categories enter by their ranks along a line, spread."""
        along = np.zeros((len(ways), len(self.rows)))
        for i, columns in enumerate(self.blocks):
            if len(columns) == 1:
                along += ways[:, columns] * self.spread[:, columns[0]]
                continue
            for line, way in zip(along, ways, strict=True):
                steps = np.round(self.rows[:, columns] @ way[columns], DIGITS)
                line += _by_ranks(steps, self.chances[:, i]) * np.ptp(steps)
        return along


def _chances(rows: Floats, blocks: Sequence[Indices], generator: Any) -> Floats:
    """Return a number from 0 to 1 for each row and block, by which equal values are spread.

    In columns of numbers with more than two values, of which some are equal, they are those of a Gaussian of the same
    correlations, drawn column by column given all others (Gibbs sampling).
    """
    from scipy.special import ndtr, ndtri

    chances = generator.random_sample((len(rows), len(blocks)))
    single = [(i, rows[:, columns[0]]) for i, columns in enumerate(blocks) if len(columns) == 1]
    stepped = [i for i, x in single if (x != x[0]).any() and len(np.unique(x)) > 2 and _is_stepped(x)]
    if not 1 < len(stepped) <= len(rows) / ROWS_EACH:
        return np.asarray(chances)
    columns = [rows[:, blocks[i][0]] for i in stepped]
    low, high = (np.column_stack([_by_ranks(x, np.full(len(x), end)) for x in columns]) for end in (0.0, 1.0))
    ends, drawn = [ndtri(np.clip(end, FAR_OUT, 1 - FAR_OUT)) for end in (low, high)], chances[:, stepped]
    normal = ndtri(np.clip(low + drawn * (high - low), FAR_OUT, 1 - FAR_OUT))
    for _ in range(SWEEPS):
        inverse = np.linalg.inv((1 - RIDGE) * np.corrcoef(normal.T) + RIDGE * np.eye(len(stepped)))
        for j, chance in enumerate(generator.random_sample(drawn.shape).T):
            deviation = inverse[j, j] ** -0.5
            expected = normal[:, j] - normal @ inverse[j] / inverse[j, j]
            least, most = (ndtr((end[:, j] - expected) / deviation) for end in ends)
            share = np.clip(least + chance * (most - least), FAR_OUT, 1 - FAR_OUT)
            normal[:, j] = expected + deviation * ndtri(share)
    chances[:, stepped] = np.clip((ndtr(normal) - low) / (high - low), 0.0, 1.0)
    return np.asarray(chances)


def _find(lines_of: Callable[[int], _Lines], table: _Table) -> list[_Line]:
    """Return the line with the clearest valley for each part, as the rows of the other parts show it.

    None at all where two parts or more, by themselves, do not have fewer rows in the valleys than in the crowds.
    """
    found = list[_Line]()
    for part in range(PARTS):
        lines, seen = lines_of(part), table.seen(part)
        best = clearest_valley(lines.at[:, seen])
        if best is not None:
            number, valley = best
            at, column = lines.at[number], lines.columns[number] if lines.columns else None
            between, crowd = (int(valley.rows_in(x, at[~seen]).sum()) for x in (valley.valley, valley.crowd))
            found.append(_Line(at, valley, column, between, crowd))
        if part and sum(line.between for line in found) >= sum(line.crowd for line in found):
            return []
    return found


def _parts(found: Sequence[_Line]) -> bool:
    """Return whether valleys are there in the rows that did not show them; see the head of this file."""
    from scipy.special import bdtr

    between, crowd = sum(line.between for line in found), sum(line.crowd for line in found)
    return WAYS * float(bdtr(float(between), between + crowd, 0.5)) < LEVEL


def _go_round(found: Sequence[_Line], table: _Table) -> bool:
    """Return whether most of the valleys are hollows that rows go round, or lie between the layers of one sheet."""
    n_round = sum(_goes_round(line, table) for line in found)
    return 2 * n_round >= PARTS or _is_rolled_up(table) or _is_wave(table)


def _goes_round(line: _Line, table: _Table) -> bool:
    """Return whether many rows of a valley are, beside the line, farther apart than those of either crowd.

    So are the rows of a ring about its hollow. That is looked at in the two directions in which the rows are widest.
    """
    columns, valley = [table.blocks[i][0] for i in table.numbers], line.valley
    between, *crowds = (valley.rows_in(begin, line.at) for begin in (valley.valley, valley.crowd, valley.larger))
    if len(columns) < 2 or between.sum() < max(FEWEST, HOLLOW * crowds[0].sum()):
        return False
    at = line.at - line.at.mean()
    beside = table.spread[:, columns] - table.spread[:, columns].mean(axis=0)
    beside = beside - np.outer(at, at @ beside / (at @ at))
    beside = beside @ np.linalg.svd(beside, full_matrices=False)[2][:2].T
    wide = np.maximum(*(beside[crowd].var(axis=0) for crowd in crowds))
    return bool((beside[between].var(axis=0) > ROUND * wide + TINY * np.square(beside).mean()).any())


def _is_rolled_up(table: _Table) -> bool:
    """Return whether rows of two or three numbers, and nothing else, lie on one curve or sheet that bends.

    Nearby are so few rows that layers are apart, or so many that noise beside a curve does not count.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    rows = table.spread[:, [table.blocks[i][0] for i in table.numbers]]
    n = len(rows)
    if not len(table.blocks) == len(table.numbers) in (2, 3) or n < FEWEST_ROLLED:
        return False
    most = max(NEAR, n // PIECES)
    near = cKDTree(rows).query(rows, most + 1)[1]
    if not any(_bends(rows[near[:, : k + 1]]) for k in (NEAR, int(np.sqrt(NEAR * most)), most)):
        return False
    each = np.repeat(np.arange(n), NEAR)
    links = csr_array((np.ones(len(each)), (each, near[:, 1 : NEAR + 1].ravel())), shape=(n, n))
    return bool(np.bincount(connected_components(links, directed=False)[1]).max() >= (1 - SMALLEST) * n)


def _is_wave(table: _Table) -> bool:
    """Return whether one number, without a valley, tells all others, and nothing else is there; not by lines alone."""
    if not 1 < len(table.blocks) == len(table.numbers) or len(table.rows) < FEWEST_ROLLED:
        return False
    rows = table.spread[:, [columns[0] for columns in table.blocks]]
    for j, x in enumerate(rows.T):
        left = np.array([_left_by_curve(x, y) for y in np.delete(rows, j, axis=1).T])
        if left[:, 0].max() <= BESIDE_CURVE and (left[:, 0] <= BENT * left[:, 1]).any():
            found = _find(lambda _, x=x: _Lines(x[None]), table)  # type: ignore[misc]
            if not _parts(found):
                return True
    return False


def _left_by_curve(x: Floats, y: Floats) -> tuple[float, float]:
    """Return the share of the variance of y that is left by its means among the rows next in x, and by a line."""
    ordered, n = y[np.lexsort((y, x))], len(y)
    sums, at = np.concatenate([[0.0], np.cumsum(ordered)]), np.arange(n)
    low, high = np.maximum(at - ALONG, 0), np.minimum(at + ALONG + 1, n)
    means = (sums[high] - sums[low] - ordered) / (high - low - 1)
    whole = max(float(y.var()), np.finfo(float).tiny)
    together = float(((x - x.mean()) * (y - y.mean())).mean()) ** 2 / max(float(x.var()), np.finfo(float).tiny)
    return float(np.square(ordered - means).mean()) / whole, 1.0 - together / whole


def _bends(parts: Floats) -> bool:
    """Return whether most parts of some rows are narrow in a direction, but not all in the same one; IN: (n, k, d)."""
    apart = parts - parts.mean(axis=1, keepdims=True)
    spreads, ways = np.linalg.eigh(np.swapaxes(apart, 1, 2) @ apart)
    narrow = np.median(spreads[:, 0] / np.maximum(spreads.mean(axis=1), np.finfo(float).tiny)) <= THIN
    narrowest = ways[:, :, 0]
    return bool(narrow and np.linalg.eigvalsh(narrowest.T @ narrowest / len(parts))[-1] < STRAIGHT)


def _around(line: _Line) -> Indices:
    """Return the two rows on both sides of a gap between the crowds of a line that is as wide as half of a window.

    Where there is none, return the row that is next to the middle of the valley.
    """
    order, valley = np.argsort(line.at, kind="stable"), line.valley
    at = line.at[order]
    low, high = sorted((valley.crowd, valley.larger))
    inner = np.flatnonzero((at[:-1] >= low) & (at[1:] < high + valley.length))
    widest = int(inner[np.argmax(np.diff(at)[inner])])
    if at[widest + 1] - at[widest] >= valley.length / 2:
        return np.asarray(order[[widest, widest + 1]], dtype=np.intp)
    return np.asarray(order[[np.argmin(np.abs(at - valley.middle))]], dtype=np.intp)


def _toward(rows: Floats, inside: Bools) -> Floats:
    """Return the direction from the mean of all other rows to that of some, of length 1."""
    return _of_length_one(np.subtract(*_means(rows, inside)))


def _parting(rows: Floats, inside: Bools) -> Floats:
    """Return the direction of the linear discriminant of some rows from all others, of length 1."""
    if len(rows) < rows.shape[1]:  # so many axes hold all rows, and no table of all pairs of columns is made
        axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2]
        return np.asarray(_parting(rows @ axes.T, inside) @ axes)
    means = _means(rows, inside)
    apart = rows - np.where(inside[:, None], *means)
    within = apart.T @ apart / len(rows)
    within = within + max(RIDGE * np.trace(within) / len(within), np.finfo(float).tiny) * np.eye(len(within))
    return _of_length_one(np.linalg.solve(within, _of_length_one(np.subtract(*means))))


def _means(rows: Floats, inside: Bools) -> tuple[Floats, Floats]:
    """Return the mean of some rows, and that of all others."""
    n_inside = np.count_nonzero(inside)
    return rows[inside].sum(axis=0) / n_inside, rows[~inside].sum(axis=0) / (len(rows) - n_inside)


def _of_length_one(way: Floats) -> Floats:
    return np.asarray(way / (math.sqrt(way @ way) or 1.0))


def _is_stepped(x: Floats) -> bool:
    """Return whether the values of a column are steps: few, or one that its neighbours are much rarer than."""
    counts = np.unique(x, return_counts=True)[1]
    if len(counts) <= FEW_VALUES:
        return True
    for i in np.flatnonzero(counts > OFTEN * len(x)).tolist():
        beside = np.concatenate([counts[max(i - BESIDE, 0) : i], counts[i + 1 : i + 1 + BESIDE]])
        if counts[i] > TIMES * np.median(beside):
            return True
    return False


def _spread(x: Floats, chances: Floats, read: Floats | None = None) -> Floats:
    """Return a column with its steps spread, or the numbers that repeat by half a step to either side.

    A step is one of the numbers as they were read: a logarithm leaves wider ones between the least of them.
    """
    if _is_stepped(x):
        return np.asarray(_by_ranks(x, chances) * min(np.ptp(x), WIDEST * x.std()))
    values, first = np.unique(x if read is None else x[np.isfinite(read)], return_index=True)
    if 2 * len(values) >= len(x):
        return x
    numbers = values if read is None else read[np.isfinite(read)][first]
    if not (np.diff(numbers) > 0).all():
        values, numbers = np.unique(x), np.unique(x)
    ends = [np.r_[2 * at[0] - at[1], at, 2 * at[-1] - at[-2]] for at in (numbers, values)]
    step = np.median(np.diff(numbers))
    return np.asarray(np.interp(np.interp(x, values, numbers) + (chances - 0.5) * step, *ends))


def _by_ranks(x: Floats, chances: Floats) -> Floats:
    """Return the share of the rows below each one, equal ones in the order of chance: from 0 to 1, and even."""
    _, at, counts = np.unique(x, return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - counts
    return np.asarray((below[at] + chances * counts[at]) / len(x))
