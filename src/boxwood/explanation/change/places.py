"""Where a cut may stand, and what the rules do at each place, from one count of the rows that it parts.

Whatever cuts ask for a value, a row takes one of two ways down as one of them moves along its column: one while the end
is before the row's value, and one from there on. So two walks of the rows and sums over the places tell of all places.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._dates import MICROSECONDS
from boxwood.explanation.change.cuts import (
    LARGEST,
    categories_of_column,
    end_at,
    ends_at,
    find_nodes,
    new_test,
    say_ends_of_cut,
)
from boxwood.explanation.change.trees import NodeChanges, unreachable
from boxwood.explanation.change.ways import rows_moved
from boxwood.metrics.costs import ratio
from boxwood.tree.nodes import CutTest
from boxwood.tree.shorten import short_threshold

if TYPE_CHECKING:
    from boxwood._types import Bools, Floats, Indices, Ints
    from boxwood.explanation.measure.evidence import Evidence
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.explanation.records import RowsMoved
    from boxwood.tree import ThresholdTree

MOST = 160  # places that are looked at; next to the cut each value is one
_NEAR = 12  # places on either side of the cut
_SPARSE = 5  # a step between places is at least this part of the way to the cut
_ALIKE = 0.03  # of the rows at a cut may lie between a place and a rounder one that is taken in its stead
_NEXT = 8  # one part of so many of a gap, next to its ends: values there are told, those of rows are not
_ALL, _POWERS, _ABOUT = 1_000, 4, 20  # round values: of how many all are, of which powers of ten, and how far around
_MOST_SUMS = 20_000_000  # sums that a price of each place may take
_MOST_CODES = 30  # of a column whose words enter sums


class Places(NamedTuple):
    """The places of an end of a cut, ascending, and what the rules do there.

    Parameters
    ----------
    column : str
    values : tuple of n numbers or texts
        Where the end may stand, as `move_cut`, `replace_cut` and `split` take it.
    ends : array of shape (n,)
        The same as thresholds of the tree.
    agreement : array of shape (n,)
        Agreement of the rules with the end there.
    price : array of shape (n,), default=None
        Their price; None where it is no sum of squared distances, or would take long.
    moved : tuple of n tuples of RowsMoved
        Rows that have another cluster there, most first.
    now : int
        The place where the end is; for a new cut the one of the highest agreement, in the middle of several.
    alike : tuple of n pairs of values, default=()
        Of round places: values between these part the rows as the place does, see `_part_alike`.
    """

    column: str
    values: tuple[Any, ...]
    ends: Floats
    agreement: Floats
    price: Floats | None
    moved: tuple[tuple[RowsMoved, ...], ...]
    now: int
    alike: tuple[tuple[Any, Any] | None, ...] = ()

    def only(self, taken: Sequence[int]) -> Places:
        """Return some of the places; IN: taken: their numbers, ascending, that of the present one among them."""
        values, moved = (tuple(each[i] for i in taken) for each in (self.values, self.moved))
        price = None if self.price is None else self.price[taken]
        return Places(self.column, values, self.ends[taken], self.agreement[taken], price, moved, taken.index(self.now))


def places_of_end(ex: MeasuredTree, node: int, is_upper: bool, *, are_round: bool = False) -> Places | None:
    """Return the places of an end of a cut of numbers or dates, for all cuts that move with it.

    None where rows are not in memory, or were drawn from others. IN: are_round: whether round values are looked at, and
    no prices, instead of values evenly over the rows.
    """
    j, said = int(ex.tree.feature[node]), dict(say_ends_of_cut(ex, node))[is_upper]
    moving = ends_at(ex, j, said)
    if (evidence := _counted_rows(ex)) is None or any(upper != is_upper for _, upper in moving):
        return None
    tests = {each: ex.tree.test(each) for each, _ in moving}
    room = _room(tests.values(), is_upper)
    sides = [NodeChanges({each: _aside(test, is_upper, way) for each, test in tests.items()}) for way in (True, False)]
    x = _below(ex, evidence, tests, j)
    olds = [float(test.upper if is_upper else test.lower) for test in tests.values()]
    values = [said, *_between(ex, j, x, room, olds[0], are_round=are_round)]
    ends = np.array([end_at(ex, j, value, is_upper=is_upper, old=olds[0]) for value in values])
    ends[0] = olds[0]
    values, ends = _in_order(values, ends, room)

    def tree_at(end: float) -> ThresholdTree:
        moved = {
            each: test._replace(upper=end) if is_upper else test._replace(lower=end) for each, test in tests.items()
        }
        return NodeChanges(moved).on(ex.tree, ex.n_clusters)

    now = int(np.searchsorted(ends, olds[0]))
    first, last = _reachable(ex, ends.tolist(), now, tree_at)
    counts = _Counts.of(ex, evidence, sides, x, ends[first:last], is_upper, priced=not are_round)
    return counts.places(ex, j, values[first:last], now - first)


def round_places(ex: MeasuredTree, node: int, least: int, most: int) -> Places | None:
    """Return up to so many places of the only end of a cut of numbers or dates, those of few digits rather than others.

    Between two of them, before the first and behind the last there are at least so many rows as `least`, and more the
    farther they are from the cut. None where it has two ends, or rows are not in memory or were drawn from others.
    """
    j, ends = int(ex.tree.feature[node]), [*say_ends_of_cut(ex, node)]
    evidence = _counted_rows(ex)
    found = places_of_end(ex, node, ends[0][0], are_round=True) if len(ends) == 1 else None
    if evidence is None or found is None:
        return None
    is_upper, said = ends[0]
    x = np.sort(_below(ex, evidence, [each for each, _ in ends_at(ex, j, said)], j).x)
    n_rows = np.searchsorted(x, found.ends, side="right" if is_upper else "left")
    last, far, taken = int(np.searchsorted(x, np.inf)), np.abs(n_rows - n_rows[found.now]), [found.now]
    for i in sorted(range(len(far)), key=lambda i: (_n_digits(found.values[i]), far[i])):
        gaps = np.maximum(np.minimum(far[i], far[taken]) // _SPARSE, least)
        is_apart = (np.abs(n_rows[i] - n_rows[taken]) >= gaps).all() and least <= n_rows[i] <= last - least
        if len(taken) < most and is_apart:
            taken.append(i)
    chosen = found.only(sorted(taken))
    return chosen._replace(alike=_part_alike(ex, j, np.unique(x[:last]), chosen.values, chosen.ends, is_upper=is_upper))


def _n_digits(value: float | str) -> float:
    """Return how many digits a reader has to keep in mind; a last 5 is half a digit, as 150 is rounder than 140.

    Examples
    --------
    >>> _n_digits(1600), _n_digits("137 days ago"), _n_digits("2026-03-01"), _n_digits(0.25)
    (2, 3, 6, 1.5)
    """
    said = re.sub(r"(-01)+$", "", value) if isinstance(value, str) else f"{value:.15g}"
    digits = re.sub(r"\D", "", said).strip("0")
    return len(digits) - (0.5 if digits.endswith("5") and not re.match(r"\d+-", said) else 0)


def places_of_question(ex: MeasuredTree, node: int, column: str) -> Places | None:
    """Return the places of a new cut of a column of numbers or dates in a cut's or a leaf's stead.

    None where rows are not in memory, or were drawn from others, or the column has words or a single value there.

    Raises
    ------
    DataError
        If the column is forbidden, or its values are not at hand.
    """
    j = ex.columns.index(column)
    if (evidence := _counted_rows(ex)) is None or categories_of_column(ex, j) is not None:
        return None
    x = _below(ex, evidence, [node], j)
    values = list(_between(ex, j, x, (-math.inf, math.inf), math.nan))
    if not values:
        return None
    new_test(ex, column, values[0])  # refuses what no cut may test
    ends = np.array([end_at(ex, j, value) for value in values])
    values, ends = _in_order(values, ends, (-math.inf, math.inf))

    def changes_at(end: float) -> NodeChanges:
        return NodeChanges({node: CutTest(j, end, -math.inf, ())}, named_anew=frozenset([node]))

    if j in ex.tree.feature[node + 1 : _behind(ex.tree, node)]:
        most = len(unreachable(ex, ex.tree))
        taken = [
            i
            for i, end in enumerate(ends.tolist())
            if len(unreachable(ex, changes_at(end).on(ex.tree, ex.n_clusters))) <= most
        ]
        values, ends = [values[i] for i in taken], ends[taken]
    if not values:
        return None
    sides = [changes_at(end) for end in (LARGEST, -LARGEST)]
    return _Counts.of(ex, evidence, sides, x, ends, True).places(ex, j, values, None)


class PlacesAtEdges(NamedTuple):
    """Places near edges of a histogram at which an end of a cut may stand, ascending, and the rows inside of it there.

    Parameters
    ----------
    values : list of n numbers or texts
        Where the end may stand, as `move_cut` takes it; each parts the rows about as its edge does.
    ends : array of shape (n,)
        The same as thresholds of the tree.
    inside : array of shape (n, k)
        Number, or weight, of the rows of each cluster inside.
    now : int
        The place where the end is.
    alike : tuple of n
        See `_part_alike`; empty where the column has other cuts, whose ends may be there.
    """

    values: list[Any]
    ends: Floats
    inside: Floats
    now: int
    alike: tuple[tuple[Any, Any] | None, ...]


def places_at_edges(
    ex: MeasuredTree, node: int, edges: Floats, least: int, most: int, others: Collection[Any] = ()
) -> PlacesAtEdges | None:
    """Return places near edges for the only end of a cut of numbers or dates just above leaves; one edge is its own.

    Between two edges, before the first and behind the last there are at least so many rows as `least`, and the rows at
    the cut divided by `most`, and more the farther they are from the cut. A place is the roundest value near its edge
    (`_ALIKE`), with at least `least` rows between two of them. No other cut has an end at a place. None where another
    cut would move with this one. IN: others: places of other cuts of the column, which are none here.
    """
    j, ends = int(ex.tree.feature[node]), [*say_ends_of_cut(ex, node)]
    if (evidence := _counted_rows(ex)) is None or len(ends) != 1 or ends_at(ex, j, ends[0][1]) != [(node, ends[0][0])]:
        return None
    [(is_upper, said)], below = ends, _below(ex, evidence, [node], j)
    known = np.unique(below.x[np.isfinite(below.x)])
    last = np.searchsorted(known, edges, side="right") - 1  # the value before each edge
    old = float((ex.tree.upper if is_upper else ex.tree.lower)[node])
    own = int(np.searchsorted(known, old, side="right" if is_upper else "left")) - 1
    possible = np.flatnonzero((last >= 0) & (last < len(known) - 1)).tolist()
    here = next((i for i in possible if last[i] == own), None)
    if here is None:
        return None
    x = np.sort(below.x)
    n_rows, gap = np.searchsorted(x, edges, side="right"), max(least, len(x) // most)
    taken = _apart([i for i in possible if i <= here][::-1], n_rows, 0, gap)[::-1]
    taken += _apart([i for i in possible if i >= here], n_rows, len(x), gap)[1:]
    old_end = _End(ex, j, is_upper, old)
    values = [*_round_near(old_end, x, n_rows[taken].tolist(), taken.index(here), least, others)]
    values[taken.index(here)] = said
    free = [i for i, value in enumerate(values) if taken[i] == here or not old_end.is_taken(value, others)]
    taken, values = [taken[i] for i in free], [values[i] for i in free]
    now = taken.index(here)
    there = np.array([old_end.at(value) for value in values])
    there[now] = old
    labels = np.asarray(evidence.task.reference.labels[below.rows])
    sides = [below.x <= end if is_upper else (below.x >= end) & np.isfinite(below.x) for end in there.tolist()]
    inside = [np.bincount(labels[side], below.weights[side], minlength=ex.n_clusters) for side in sides]
    alike = _part_alike(ex, j, known, values, there, is_upper=is_upper) if len(find_nodes(ex.tree, j)) == 1 else ()
    return PlacesAtEdges(values, there, np.array(inside), now, alike)


class _End(NamedTuple):
    """The end of a cut of a column that moves; IN: old: where it is."""

    ex: MeasuredTree
    j: int
    is_upper: bool
    old: float

    def at(self, value: Any) -> float:
        """Return the end at a value as rules say it."""
        return end_at(self.ex, self.j, value, is_upper=self.is_upper, old=self.old)

    def is_taken(self, value: Any, others: Collection[Any]) -> bool:
        """Return whether another cut has an end at a value, or may have one there."""
        return value in others or bool(ends_at(self.ex, self.j, value))


def _round_near(
    end: _End, x: Floats, n_rows: Sequence[int], here: int, least: int, others: Collection[Any]
) -> Iterator[Any]:
    """Yield the roundest value that parts rows about as each of some places does, but as the one `here` itself does.

    IN: x: values of the rows, ascending; n_rows: before each place, ascending.
    """
    known, up_to = np.unique(x[np.isfinite(x)], return_counts=True)
    up_to, room, before = np.cumsum(up_to), int(_ALIKE * len(x)), 0
    for i, (n, behind) in enumerate(pairwise([*n_rows, len(x)])):
        own = int(np.searchsorted(up_to, n))
        low, high = min(max(n - room, before + least), n), max(min(n + room, behind - least), n)
        first, last = int(np.searchsorted(up_to, low)), int(np.searchsorted(up_to, high, side="right")) - 1
        spans = [(own, own)] if i == here else [(first, min(last, len(known) - 2)), (own, own)]
        for value in _values_behind(end.ex, end.j, known, spans, is_upper=end.is_upper):
            if not end.is_taken(value, others):
                break
        yield value
        before = int(np.searchsorted(x, end.at(value), side="right" if end.is_upper else "left"))


def _part_alike(
    ex: MeasuredTree, j: int, known: Floats, values: Sequence[Any], ends: Floats, *, is_upper: bool
) -> tuple[tuple[Any, Any] | None, ...]:
    """Return between which values an end parts rows as at each place; None where that is its value alone, or a moment.

    They are near the values of rows, not next to them, except among whole numbers. IN: known: all values, ascending.
    """
    dates, is_whole = ex._date_columns.get(j), bool((known == np.floor(known)).all())
    found: list[tuple[Any, Any] | None] = [None] * len(values)
    if dates is not None and (dates.zone or dates.is_relative or not is_whole):
        return tuple(found)
    for i, at in enumerate(np.searchsorted(known, ends, side="right" if is_upper else "left").tolist()):
        if not 0 < at < len(known):
            continue
        left, right = float(known[at - 1]), float(known[at])
        part, here = (right - left) / _NEXT, _plain(float(values[i])) if dates is None else math.ceil(ends[i])
        parts = ((left, left + part), (right - part, right))
        is_left = is_upper and dates is None
        near = [here, *(_number_in(*each, is_left=is_left, is_whole=is_whole) for each in parts)]
        low, high = min(near), max(near)
        if dates is None or not low <= dates.origin / MICROSECONDS <= high:
            texts = (low, high) if dates is None else (dates.text(low), dates.text(high))
            found[i] = texts if low < high else None
    return tuple(found)


def _apart(places: Sequence[int], n_rows: Ints, end: int, least: int) -> list[int]:
    """Return the first of some places, and each with enough rows between it and the one before, and behind it."""
    found = [places[0]]
    for i in places[1:]:
        gap, far = abs(n_rows[i] - n_rows[found[-1]]), abs(n_rows[i] - n_rows[places[0]])
        if abs(end - n_rows[i]) >= least <= gap >= far // _SPARSE:
            found.append(i)
    return found


def _behind(tree: ThresholdTree, node: int) -> int:
    """Return the first node, in pre-order, that is not below a node."""
    depth = tree.node_depth[node + 1 :] <= tree.node_depth[node]
    return node + 1 + int(depth.argmax()) if depth.any() else tree.n_nodes


def _reachable(
    ex: MeasuredTree, ends: Sequence[float], now: int, tree_at: Callable[[float], ThresholdTree]
) -> tuple[int, int]:
    """Return the first place, and the one behind the last, at which rows can reach as many leaves as now.

    A cut that has passed another one of its column on a way down does not come to an end of that.
    """
    most = len(unreachable(ex, ex.tree))

    def is_lost(place: int) -> bool:
        return len(unreachable(ex, tree_at(ends[place]))) > most

    last = bisect_left(range(now + 1, len(ends)), True, key=is_lost) + now + 1
    return now - bisect_left(range(1, now + 1), True, key=lambda back: is_lost(now - back)), last


# ------------------------------------------------------------------------------------------------- rows and places


class _Below(NamedTuple):
    """The rows below some nodes that count, their values in a column, and their weights."""

    rows: Indices
    x: Floats
    weights: Floats


def _counted_rows(ex: MeasuredTree) -> Evidence | None:
    """Return the rows of an explanation if they are all that it was measured on."""
    evidence = ex._in_memory
    return None if evidence is None or evidence.whole is not None else evidence


def _below(ex: MeasuredTree, evidence: Evidence, nodes: Any, j: int) -> _Below:
    tree, task = ex.tree, evidence.task
    is_below = np.zeros(tree.n_nodes, dtype=bool)
    is_below[list(nodes)] = True
    for node in range(1, tree.n_nodes):
        is_below[node] |= is_below[tree.parent[node]]
    rows = np.flatnonzero(task.kept & is_below[tree.leaf_nodes][evidence.leaf])
    x = evidence.coordinates.table.column(j, rows)
    weights = np.ones(len(rows)) if task.rows.weights is None else np.asarray(task.rows.weights[rows], np.float64)
    return _Below(rows, x, weights)


def _room(tests: Any, is_upper: bool) -> tuple[float, float]:
    """Return between which numbers an end may stand, so that no cut is turned around."""
    others = [test.lower if is_upper else test.upper for test in tests]
    return (max(others), math.inf) if is_upper else (-math.inf, min(others))


def _aside(test: CutTest, is_upper: bool, is_beyond: bool) -> CutTest:
    """Return a cut with an end beyond all values of rows, or before all of them, as far as the other end allows."""
    if is_upper:
        return test._replace(upper=LARGEST if is_beyond else max(test.lower, -LARGEST))
    return test._replace(lower=min(test.upper, LARGEST) if is_beyond else -math.inf)


def _between(
    ex: MeasuredTree, j: int, below: _Below, room: tuple[float, float], old: float, *, are_round: bool = False
) -> Iterator[Any]:
    """Yield values between those of rows, as `move_cut` takes them: all of a few, else some, over all rows or round."""
    x = below.x[np.isfinite(below.x) & (room[0] <= below.x) & (below.x <= room[1])]
    known, n_rows = np.unique(x, return_counts=True)
    chosen = _choose_round(known, old) if are_round and math.isfinite(old) else _choose_places(known, n_rows, old)
    yield from _values_behind(ex, j, known, [(i, i) for i in chosen.tolist()], is_upper=True)


def _values_behind(
    ex: MeasuredTree, j: int, known: Floats, places: Iterable[tuple[int, int]], *, is_upper: bool
) -> Iterator[Any]:
    """Yield the roundest value behind one of some neighbours in a column for an end there.

    IN: known: all values, ascending; places: the first and the last of such neighbours.
    """
    dates, is_whole = ex._date_columns.get(j), bool((known == np.floor(known)).all())
    for first, last in places:
        left, right = float(known[first]), float(known[last + 1])
        if dates:
            yield dates.first(dates.roundest(left, right), beyond=True)
        else:
            yield _number_in(left, right, is_left=is_upper, is_whole=is_whole)


def _number_in(left: float, right: float, *, is_left: bool, is_whole: bool) -> float | int:
    """Return the shortest number between two; IN: is_left: whether the left one may be it, and not the right one."""
    if is_left:
        return _plain(short_threshold(left, right, is_whole=is_whole))
    return _plain(-short_threshold(-right, -left, is_whole=is_whole) + 0.0)


def _choose_places(known: Floats, n_rows: Ints, old: float) -> Indices:
    """Return before which of the different values, less one, places are looked at."""
    n = len(known) - 1
    if n <= MOST:
        return np.arange(max(n, 0))
    shares = np.cumsum(n_rows) / n_rows.sum()
    even = np.searchsorted(shares, np.linspace(0, 1, MOST - 2 * _NEAR + 2)[1:-1])
    here = int(np.searchsorted(known, old)) if math.isfinite(old) else 0
    near = np.arange(here - _NEAR, here + _NEAR) if math.isfinite(old) else np.empty(0, dtype=np.intp)
    return np.unique(np.clip(np.concatenate([even, near]), 0, n - 1))


def _choose_round(known: Floats, old: float) -> Indices:
    """Return before which of the different values, less one, round numbers lie: all of a few, else some near it."""
    n = len(known) - 1
    if n <= _ALL:
        return np.arange(max(n, 0))
    power = math.floor(math.log10(known[-1] - known[0]))
    steps = [10.0**each for each in range(power, power - _POWERS, -1)]
    numbers = np.concatenate([(round(old / step) + np.arange(-_ABOUT, _ABOUT + 1)) * step for step in steps])
    places = np.searchsorted(known, numbers, side="right") - 1
    return np.unique(places[(places >= 0) & (places < n)])


def _plain(x: float) -> float | int:
    return int(x) if x.is_integer() and abs(x) < 1e15 else x


def _in_order(values: Sequence[Any], ends: Floats, room: tuple[float, float]) -> tuple[list[Any], Floats]:
    """Return the values whose ends are possible, each end once, ascending."""
    _, first = np.unique(ends, return_index=True)
    taken = [i for i in first.tolist() if room[0] <= ends[i] <= room[1]]
    return [values[i] for i in taken], ends[taken]


# ---------------------------------------------------------------------------------------------------------- counts


@dataclass(frozen=True)
class _Counts:
    """What the rows below the changed nodes do at each of s places.

    Parameters
    ----------
    held : array of shape (s, n_leaves, k)
        Weight of the rows of each cluster in each leaf of the changed tree.
    clusters : array of shape (s, n_leaves)
        The cluster of each leaf, that of most of its rows where the change names it anew.
    ways : array of shape (s, k, n_leaves)
        Weight of the rows of each cluster by the present rules, in each leaf of the changed tree.
    price : array of shape (s,), default=None
    right_elsewhere : float
        Weight of the rows that are right and no place moves.
    """

    ends: Floats
    held: Floats
    clusters: Ints
    ways: Floats
    price: Floats | None
    right_elsewhere: float

    @classmethod
    def of(
        cls,
        ex: MeasuredTree,
        evidence: Evidence,
        sides: Sequence[NodeChanges],
        below: _Below,
        ends: Floats,
        is_upper: bool,
        *,
        priced: bool = True,
    ) -> _Counts:
        """Return the counts; IN: sides: the changes with the end beyond all values, and with it before all."""
        k, task = ex.n_clusters, evidence.task
        trees = [side.on(ex.tree, k) for side in sides]
        table, n_leaves = evidence.coordinates.table.take(below.rows), trees[0].n_leaves
        leaves = [tree.apply(table, n_jobs=task.n_jobs) for tree in trees]
        # an upper end is inside, a lower one, too: so rows at it are not beyond
        passed = np.searchsorted(ends, below.x, side="left" if is_upper else "right")
        paths = _Paths(passed, (leaves[0], leaves[1]), len(ends), n_leaves)
        labels = np.asarray(task.reference.labels[below.rows])
        now = ex.tree.leaf_clusters[evidence.leaf[below.rows]]
        held = paths.by(labels, k, below.weights)
        clusters = _name_leaves(trees[0], held)
        is_here = np.zeros(task.n_rows, dtype=bool)
        is_here[below.rows] = True
        right = (ex.tree.leaf_clusters[evidence.leaf] == task.reference.labels) & task.kept & ~is_here
        elsewhere = right.sum() if task.rows.weights is None else task.rows.weights[right].sum()
        price = _prices(ex, evidence, below, paths, clusters, is_here) if priced else None
        ways = paths.by(now, k, below.weights).transpose(0, 2, 1)
        return cls(ends, held, clusters, ways, price, float(elsewhere))

    def places(self, ex: MeasuredTree, j: int, values: Sequence[Any], now: int | None) -> Places:
        """Return the places with their numbers; IN: now: that of the present cut, if it stays."""
        own = np.take_along_axis(self.held, self.clusters[:, :, None], axis=2)[:, :, 0].sum(axis=1)
        agreement = (self.right_elsewhere + own) / ex._rows().held.sum()
        price = self.price
        if now is not None and price is not None and not math.isclose(price[now], ex.price, rel_tol=1e-6):
            price = None  # it is measured in other columns
        moved = tuple(
            rows_moved(_between_clusters(ways, clusters, ex), ex.names)
            for ways, clusters in zip(self.ways, self.clusters, strict=True)
        )
        if now is None:
            best = np.flatnonzero(agreement >= agreement.max() - 1e-12)
            now = int(best[len(best) // 2])
        return Places(ex.columns[j], tuple(values), self.ends, agreement, price, moved, now)


@dataclass(frozen=True)
class _Paths:
    """The two ways of each row, and how many places are before its value."""

    passed: Indices
    leaves: tuple[Indices, Indices]
    n_places: int
    n_leaves: int

    def by(self, groups: Ints, n_groups: int, weights: Floats) -> Floats:
        """Return the weight of rows by leaf and group at each place, shape (s, n_leaves, n_groups)."""
        n_cells, shape = self.n_leaves * n_groups, (self.n_places, self.n_leaves, n_groups)
        beyond, before = (
            np.bincount(
                (self.passed * self.n_leaves + leaf) * n_groups + groups,
                weights,
                minlength=(self.n_places + 1) * n_cells,
            ).reshape(-1, n_cells)
            for leaf in self.leaves
        )
        at = np.cumsum(beyond, axis=0) + (before.sum(axis=0) - np.cumsum(before, axis=0))
        return np.asarray(at[:-1].reshape(shape))


def _name_leaves(tree: ThresholdTree, held: Floats) -> Ints:
    """Return the cluster of each leaf at each place; see `named_by_rows`."""
    k, clusters = held.shape[2], tree.leaf_clusters
    by_rows = np.where(held.sum(axis=2) > 0, held.argmax(axis=2), clusters - k)
    return np.asarray(np.where(clusters < k, clusters, by_rows))


def _between_clusters(ways: Floats, clusters: Ints, ex: MeasuredTree) -> Mapping[tuple[int, int], Any]:
    """Return the rows that go from one cluster to another; IN: ways (k, n_leaves); clusters (n_leaves,)."""
    found: dict[tuple[int, int], Any] = {}
    for a, leaf in np.argwhere(ways > 0).tolist():
        b, size = int(clusters[leaf]), ways[a, leaf].item()
        if a != b:
            found[a, b] = found.get((a, b), 0) + (size if ex.details.weighted else round(size))
    return found


# ---------------------------------------------------------------------------------------------------------- prices


def _prices(
    ex: MeasuredTree, evidence: Evidence, below: _Below, paths: _Paths, clusters: Ints, is_here: Bools
) -> Floats | None:
    """Return the price at each place; None where costs are no sums of squares, or would take long.

    The cost of a group in a column is the sum of squares of its values less the square of their sum by their weight.
    The first adds up to the same for all groups. IN: is_here (n,): the rows below.
    """
    task = evidence.task
    if evidence.kernel is not None or ex.details.objective != "sqeuclidean" or not 0 < ex.reference_cost < math.inf:
        return None
    columns = _columns_of_costs(evidence)
    if columns is None or len(columns) * clusters.size > _MOST_SUMS or len(columns) * task.n_rows > _MOST_SUMS:
        return None
    all_weights = np.ones(task.n_rows) if task.rows.weights is None else np.asarray(task.rows.weights, np.float64)
    sums = _SumsOfGroups(ex, evidence, below, paths, clusters, np.flatnonzero(task.kept & ~is_here))
    of_all, gained, total = sums.of(all_weights), np.zeros(len(clusters)), 0.0
    for x, is_known in columns:
        weights = all_weights if is_known is None else all_weights * is_known
        kept = weights[task.kept]
        if not kept.any():
            continue
        x = x - np.average(x[task.kept], weights=kept)  # so that squares lose no digits
        total += float((kept * x[task.kept] ** 2).sum())
        of_groups, known = sums.of(weights * x), of_all if is_known is None else sums.of(weights)
        gained += np.divide(of_groups**2, known, out=np.zeros_like(known), where=known > 0).sum(axis=1)
    return np.array([ratio(max(total - one, 0.0), ex.reference_cost) for one in gained.tolist()])


@dataclass(frozen=True)
class _SumsOfGroups:
    """Adds up numbers of rows by the cluster that rules give them at each place; IN: rest: rows that no place moves."""

    ex: MeasuredTree
    evidence: Evidence
    below: _Below
    paths: _Paths
    clusters: Ints
    rest: Indices

    def of(self, numbers: Floats) -> Floats:
        """Return the sums, shape (s, k); IN: numbers (n,)."""
        now = self.ex.tree.leaf_clusters[self.evidence.leaf[self.rest]]
        elsewhere = np.bincount(now, numbers[self.rest], minlength=self.ex.n_clusters)
        sums = np.tile(elsewhere.astype(np.float64), (len(self.clusters), 1))
        one_group = np.zeros(len(self.below.rows), dtype=np.intp)
        at_leaves = self.paths.by(one_group, 1, numbers[self.below.rows])[:, :, 0]
        np.add.at(sums, (np.arange(len(self.clusters))[:, None], self.clusters), at_leaves)
        return sums


def _columns_of_costs(evidence: Evidence) -> list[tuple[Floats, Bools | None]] | None:
    """Return the columns in which costs are squares, and where they have a value, None for everywhere.

    Words enter as one-hot columns; None for a column of too many.
    """
    here = evidence.coordinates
    if here.scales is None:
        rows = evidence.task.rows if here.measured is None else here.measured
        values = np.asarray(rows.values, dtype=np.float64)
        return [(values[:, j], None) for j in range(values.shape[1])]
    table = here.table.values if here.entry is None else here.entry.entered(here.table.values)
    found: list[tuple[Floats, Bools | None]] = []
    for j, scale in enumerate(here.scales.tolist()):
        x = np.asarray(table[:, j], dtype=np.float64)
        is_known = np.isfinite(x)
        x = np.where(is_known, x, 0.0)
        if j not in here.categories:
            found.append((scale * x, is_known))
            continue
        codes = np.unique(x[is_known])
        if len(codes) > _MOST_CODES:
            return None
        found += [(scale * (x == code), is_known) for code in codes.tolist()]
    return found
