"""The best one-line rule of a cluster, with one condition, two, three: good ones first, then all that may be better.

1. Climb: from the best boxes of fewer columns, each with one column more, until no change of one column betters them.
2. Bound all sets of columns at once: every box that is better than the best one keeps most of the cluster, and so it
   has, in each column, all others between two numbers, or with some codes. Others that each column of a set has so are
   in all of these boxes.
3. Search the sets that are left, those with the fewest such rows first, by branch and bound (`boxwood.loops.lines`),
   until nothing is left, or the work is spent; then the bound says how much better a rule could be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.grow.lines.columns import Asked, LineColumn
from boxwood.loops import lines as loops

BEAM = 6  # boxes of fewer columns that are tried with each further column, and that are climbed from
MOST_COLUMNS = 64  # of which all sets are looked at
WORK = 20_000_000  # positions of rows that are looked at for all clusters, besides climbing
RATES = (0.2, 1.0, 4.0, 16.0)  # prices of other rows at which one climbs, where the goal has none
ROUNDS = 12  # of changes of each column while one climbs


class LineGoal(NamedTuple):
    """What the best rule has the most of.

    Parameters
    ----------
    kind : {loops.F1, loops.PRECISION, loops.FOUND}
    least : float
        Least share of the cluster that a rule finds, where it has the most precision; least precision, where it finds
        the most.
    min_rows : int
        Fewest rows that a rule holds.
    """

    kind: int = loops.F1
    least: float = 0.0
    min_rows: int = 1


class BestRule(NamedTuple):
    """The best rule with so many conditions, and what is known of all others.

    Parameters
    ----------
    asked : tuple of Asked
        What it asks; nothing if no rule is better than those with fewer conditions.
    value : float
        What the goal counts; that of fewer conditions, if no rule is better. -1 if there is none.
    bound : float
        No rule of so many conditions has more than this, but for 1e-9.
    work : int
        Positions of rows that were looked at so far.
    """

    asked: tuple[Asked, ...]
    value: float
    bound: float
    work: int


def best_rules(
    columns: Sequence[LineColumn],
    is_own: Bools,
    weights: Floats,
    goal: LineGoal,
    max_conditions: int,
    work: float = WORK,
) -> Iterator[BestRule]:
    """Yield the best rule with one condition, with two, and so on, until one is perfect.

    IN: columns: preferred ones first, which win ties; is_own (n_rows,): the rows of the cluster; work: how many
    positions are looked at for it, of which each number of conditions leaves some for those to come.
    """
    search, best = _LineSearch(columns, is_own, weights, goal), _NOTHING
    beam: list[_Box] = [best]
    for size in range(1, max_conditions + 1):
        if size > len({columns[j].feature for j in search.usable}) or best.value >= 1.0:
            return
        beam = search.climb(beam)
        share = (work - search.work[0]) / (max_conditions - size + 1)
        better, bound = search.searched(max([best, *beam], key=lambda box: box.value), size, search.work[0] + share)
        is_better = better.value > best.value + loops.SLACK
        asked = search.asked(better) if is_better else ()
        yield BestRule(asked, max(better.value, best.value), bound, int(search.work[0]))
        best = better if is_better else best
        if is_better and not any(better is box for box in beam):
            beam = [better, *beam[: BEAM - 1]]


class _Box(NamedTuple):
    """A box on some columns: positions of both ends (m, 2), and whether each code is inside (m, n_codes)."""

    columns: tuple[int, ...]
    ends: Indices
    codes: Bools
    value: float


_NOTHING = _Box((), np.empty((0, 2), dtype=np.int64), np.empty((0, 0), dtype=np.bool_), -1.0)


class _LineSearch:
    """Rows, columns and goal as the loops have them."""

    def __init__(self, columns: Sequence[LineColumn], is_own: Bools, weights: Floats, goal: LineGoal) -> None:
        self.columns, self.is_own, self.weights = columns, is_own, weights
        self.goal = np.array([goal.kind, goal.least, float(weights[is_own].sum()), goal.min_rows])
        are_ends = [_are_ends(one, is_own, goal) for one in columns]
        placed = [one.positions(each) for one, each in zip(columns, are_ends, strict=True)]
        self.ends = [np.flatnonzero(each) for each in are_ends]
        self.positions = np.array([positions for positions, _ in placed], dtype=np.int32).reshape(
            len(columns), len(is_own)
        )
        self.sizes = np.array([(n, len(one.codes)) for one, (_, n) in zip(columns, placed, strict=True)]).reshape(-1, 2)
        self.n_codes = max(int(self.sizes[:, 1].max(initial=0)), 1)
        # in a column whose numbers are all of other rows no interval is good
        some = [len(ends) > 0 or not len(one.numbers) for one, ends in zip(columns, self.ends, strict=True)]
        self.usable = np.flatnonzero(some).tolist()
        self.work = np.zeros(1, dtype=np.int64)

    # ----------------------------------------------------------------------------------------------------------- climb

    def climb(self, beam: Sequence[_Box]) -> list[_Box]:
        """Return the best boxes that one climbs to from boxes of one column fewer."""
        found: dict[tuple[int, ...], _Box] = {}
        for rate in (None,) if self.goal[0] == loops.F1 else RATES:
            begun = sorted((box for start in beam for box in self._wider(start, rate)), key=lambda box: box.value)
            best_of = {tuple(sorted(box.columns)): box for box in begun}
            for box in sorted(best_of.values(), key=lambda box: -box.value)[:BEAM]:
                box, key = self._climb_from(box, rate), tuple(sorted(box.columns))
                found[key] = max(found.get(key, box), box, key=lambda box: box.value)
        return sorted(found.values(), key=lambda box: -box.value)[:BEAM]

    def _wider(self, start: _Box, rate: float | None) -> Iterator[_Box]:
        """Yield a box with one column more, each with its best interval and codes for the rows of the box."""
        rows = np.flatnonzero(self._inside(start))
        used = {self.columns[j].feature for j in start.columns}
        for j in self.usable:
            if self.columns[j].feature not in used:
                chosen, codes, score = self._best_in(j, rows, rate, start.value)
                ends, codes = np.vstack([start.ends, chosen]), np.vstack([start.codes.reshape(-1, self.n_codes), codes])
                yield _Box((*start.columns, j), ends, codes, score)

    def _climb_from(self, at: _Box, rate: float | None) -> _Box:
        """Return a box after one column after the other got its best interval and codes, until that helps no more."""
        masks = [self._holds(j, ends, codes) for j, ends, codes in zip(*at[:3], strict=True)]
        best, since, m = at.value if rate is None else -np.inf, 0, len(at.columns)
        for step in range(ROUNDS * m):
            i = step % m
            rest = np.logical_and.reduce([mask for k, mask in enumerate(masks) if k != i] or [np.ones_like(masks[i])])
            at.ends[i], at.codes[i], score = self._best_in(at.columns[i], np.flatnonzero(rest), rate, best)
            masks[i] = self._holds(at.columns[i], at.ends[i], at.codes[i])
            since = 0 if score > best + loops.SLACK else since + 1
            best = max(best, score)
            if since >= m:
                break
        rows = np.logical_and.reduce(masks)
        of_own, of_all = (float(self.weights[each].sum()) for each in (rows & self.is_own, rows))
        return at._replace(value=float(loops.value_of(self.goal, of_own, of_all - of_own, float(rows.sum()))))

    def _best_in(self, j: int, rows: Indices, rate: float | None, known: float) -> tuple[Indices, Bools, float]:
        """Return the best interval and codes of a column for some rows, and their score.

        IN: rate: what a row of others costs, as so many of the cluster; None for F1, whose rate it finds from `known`
        on, the F1 of some interval and codes.
        """
        n_positions, n_codes = self.sizes[j].tolist()
        total = n_positions + n_codes
        at = self.positions[j, rows] + np.where(self.is_own[rows], 0, total)
        own, others = np.bincount(at, self.weights[rows], minlength=2 * total).reshape(2, total)
        best, score = None, max(known, 0.0)
        for _ in range(ROUNDS):
            price = rate if rate is not None else score / (2.0 - score)
            ends, is_inside = _best_part(own - price * others, n_positions)
            of_own, of_others = own[is_inside].sum(), others[is_inside].sum()
            new = 2 * of_own / (self.goal[2] + of_own + of_others) if rate is None else of_own - rate * of_others
            if best is not None and new <= score + loops.SLACK:
                break
            codes = np.zeros(self.n_codes, dtype=np.bool_)
            codes[:n_codes] = is_inside[n_positions:]
            best, score = (ends, codes), float(new)
        assert best is not None
        return *best, score

    def _holds(self, j: int, ends: Indices, codes: Bools) -> Bools:
        n_positions, n_codes = self.sizes[j].tolist()
        inside = np.arange(n_positions)
        holds: Bools = np.concatenate([(inside >= ends[0]) & (inside <= ends[1]), codes[:n_codes]])[self.positions[j]]
        return holds

    def _inside(self, box: _Box) -> Bools:
        masks = [self._holds(j, ends, codes) for j, ends, codes in zip(*box[:3], strict=True)]
        return np.asarray(np.logical_and.reduce(masks)) if masks else np.ones(len(self.weights), dtype=np.bool_)

    # ---------------------------------------------------------------------------------------------------------- search

    def searched(self, best: _Box, size: int, most_work: float) -> tuple[_Box, float]:
        """Return the best box of all, and what bounds them; IN: best: one that is known, of perhaps fewer columns."""
        if self._spare(best.value) < 0:
            return best, best.value
        bound = best.value if len(self.usable) <= MOST_COLUMNS else 1.0
        for chosen, fewest in self._sets(best.value, size):
            if self._most(fewest) <= best.value + loops.SLACK:
                break  # as no other set has fewer
            if self.work[0] > most_work:
                bound = max(bound, self._most(fewest))
                break
            ends, codes = np.zeros((size, 2), dtype=np.int64), np.zeros((size, self.n_codes), dtype=np.bool_)
            given = (*self._on(chosen), best.value, most_work, self.work, ends, codes)
            value, left = loops.best_box(*given)
            best = _Box(chosen, ends, codes, value) if value > best.value else best
            bound = max(bound, left)
        return best, min(max(bound, best.value), 1.0)

    def _on(self, chosen: tuple[int, ...]) -> tuple[Any, ...]:
        """Return what the loops take of some columns."""
        rows = np.ascontiguousarray(self.positions[list(chosen)].T, dtype=np.int64)
        return rows, np.where(self.is_own, self.weights, -self.weights), self.sizes[list(chosen)], self.goal

    def _sets(self, value: float, size: int) -> list[tuple[tuple[int, ...], float]]:
        """Return the sets of columns, and the weight of others that each better box on them takes in, least first."""
        columns = self.usable[:MOST_COLUMNS]
        stuck = np.array([self._stuck(j, value) for j in columns]).reshape(len(columns), -1)
        weights, scores, found = self.weights[~self.is_own], self._scores(value), []
        for first in combinations(range(len(columns)), size - 1):
            last = first[-1] + 1 if first else 0
            fewest = stuck[last:] @ (np.all(stuck[list(first)], axis=0) * weights)
            reached = [gain * self.goal[2] - loss * fewest >= needed for gain, loss, needed in scores]
            for j in np.flatnonzero(np.logical_and.reduce(reached)).tolist():
                chosen = tuple(columns[i] for i in (*first, last + j))
                if len({self.columns[i].feature for i in chosen}) == size:
                    found.append((chosen, float(fewest[j])))
        return sorted(found, key=lambda one: one[1])

    def _stuck(self, j: int, value: float) -> Floats:
        """Return 1 for each other row that every better box has inside in a column, and 0 for the rest."""
        positions, n_positions = self.positions[j], int(self.sizes[j, 0])
        own = np.bincount(positions[self.is_own], self.weights[self.is_own], minlength=int(self.sizes[j].sum()))
        spare = self._spare(value)
        is_stuck = own > spare
        if n_positions:
            below = np.concatenate([[0.0], np.cumsum(own[:n_positions])])  # own rows before each position
            inside = np.arange(n_positions)
            lower = np.flatnonzero(below[:-1] <= spare)[-1]
            upper = np.flatnonzero(below[n_positions] - below[1:] <= spare)[0]
            is_stuck[:n_positions] = (inside >= lower) & (inside <= upper)
        return np.asarray(is_stuck[positions[~self.is_own]], dtype=np.float64)

    def _spare(self, value: float) -> float:
        """Return the weight of own rows that a better box may lack."""
        return float(self.goal[2] - max(needed / gain if gain > 0 else 0.0 for gain, _, needed in self._scores(value)))

    def _scores(self, value: float) -> list[list[float]]:
        scores = np.zeros((5, 3))
        found: list[list[float]] = scores[: loops.set_scores(self.goal, value, scores)].tolist()
        return found

    def _most(self, fewest: float) -> float:
        """Return the most that a box has which takes in so many others."""
        if self.goal[0] == loops.FOUND:
            return 1.0
        size = self.goal[2]
        return float(2 * size / (2 * size + fewest) if self.goal[0] == loops.F1 else size / (size + fewest))

    def asked(self, best: _Box) -> tuple[Asked, ...]:
        """Return a box as what it asks of columns."""
        asked = []
        for j, (first, last), codes in zip(best.columns, best.ends.tolist(), best.codes, strict=True):
            one, ends = self.columns[j], self.ends[j]
            places = tuple((len(one.numbers) + np.flatnonzero(codes[: self.sizes[j, 1]])).tolist())
            of_ends = (int(ends[first // 2]), int(ends[last // 2])) if len(ends) else (0, -1)
            asked.append(Asked(one, *of_ends, places))
        return tuple(asked)


def _are_ends(column: LineColumn, is_own: Bools, goal: LineGoal) -> Bools:
    """Return the numbers at which a best interval may end: those of own rows, unless others are needed to fill it."""
    n_numbers = len(column.numbers)
    if goal.min_rows > 1:
        return np.ones(n_numbers, dtype=np.bool_)
    return np.asarray(np.bincount(column.places[is_own], minlength=n_numbers)[:n_numbers] > 0)


def _best_part(worth: Floats, n_positions: int) -> tuple[Indices, Bools]:
    """Return the ends of the interval of the largest sum, and whether each position is inside, of codes as well."""
    is_inside, ends = worth > 0, np.zeros(2, dtype=np.int64)
    if n_positions:
        up_to = np.cumsum(worth[:n_positions])
        before, behind = up_to[:-1:2], up_to[1::2]  # an interval may begin, and end, at odd positions
        last = int(np.argmax(behind - np.minimum.accumulate(before)))
        first = int(np.argmin(before[: last + 1]))
        ends[:] = 2 * first + 1, 2 * last + 1
        is_inside[:n_positions] = False
        is_inside[ends[0] : ends[1] + 1] = True
    return ends, is_inside
