"""One-line rules are made: searched for each cluster, measured, one of each front chosen, and some rows held out."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import real_number, show_value, whole_number
from boxwood.batches import Block
from boxwood.explanation.measure.evidence import Evidence
from boxwood.explanation.measure.held_out import checked_validate, how_of, parts_held_out, with_rows_in_memory
from boxwood.explanation.measure.limited import move_thresholds
from boxwood.explanation.measure.lines import MeasuredRules, StandaloneRule, first_line, holds, line_rule
from boxwood.explanation.measured_tree import MeasuredTree
from boxwood.explanation.records import FEW
from boxwood.grow.lines.columns import Asked, LineColumn, as_tree, line_columns, rare_categories, without_needless
from boxwood.grow.lines.search import WORK, BestRule, LineGoal, best_rules
from boxwood.loops import lines as loops
from boxwood.reference.budget import Budget
from boxwood.tree import ThresholdTree
from boxwood.tree.allowed import in_bands
from boxwood.tree.nodes import values_at_leaves

NEAR = 0.01  # a rule with fewer conditions, or on preferred columns, may lose so much of what is counted
LUCK_OF_CONDITION = 0.75  # standard errors of what is counted that one more condition owes to luck
MOST_CONDITIONS = 3


def find_rules(
    ex: MeasuredTree, max_conditions: Any, min_precision: Any, min_found: Any, validate: Any
) -> MeasuredRules:
    """See `Explanation.standalone_rules`."""
    asked = _LineOptions.of(max_conditions, min_precision, min_found)
    validate = None if validate is None else checked_validate(validate)
    given, kept = (*asked, "" if validate is None else how_of(validate)), ex._kept.get("lines")
    if kept is not None:
        takes_any = ex._evidence is None and given == (MOST_CONDITIONS, None, None, "")
        if takes_any or given == (kept.max_conditions, kept.min_precision, kept.min_found, kept.validated):
            return kept  # type: ignore[no-any-return]
    ex._refuse_no_rows("lines()" if kept is None else "lines() with the same arguments")
    made = ex._kept["lines"] = _make_rules(ex, asked, validate, given[-1])
    return made


def _make_rules(ex: MeasuredTree, asked: _LineOptions, validate: float | None, how: str) -> MeasuredRules:
    there, is_all = with_rows_in_memory(ex)
    evidence, asked_of = there._known(), ex._evidence
    rows = _LineRows.of(evidence)
    known = tuple((ex.columns[j], known) for j, known in sorted(evidence.categories.items()))
    ex = replace(ex, details=ex.details._replace(categories=known), _kept={})
    fronts = rows.fronts(ex.n_clusters, asked)
    trees = tuple(tuple(front.trees) for front in fronts)
    features = {j for each in trees for tree in each for j in tree.features.tolist()}
    binary = tuple(ex.columns[j] for j in sorted(features) if np.isin(rows.table[:, j], (0.0, 1.0)).all())
    chosen = tuple(asked.chosen(front) for front in fronts)
    lines = [_lines(ex, rows, cluster, front, binary) for cluster, front in enumerate(fronts)]
    if validate is not None:
        _hold_out(lines, chosen, evidence, asked, parts_held_out(evidence.task, validate))
    told, bounds = tuple(map(tuple, lines)), tuple(front.bounds[-1] for front in fronts)
    how_searched = (bounds, _limits(evidence.budget), binary)
    result = MeasuredRules(ex, told, trees, chosen, *how_searched, *asked, len(rows.labels), 0.0, 0.0, 0.0, how)
    if not is_all and asked_of is not None:
        return _of_all_rows(result, asked_of)
    held = (holds(tree, rows.table) for tree in result.trees if tree is not None)
    number = sum(held, np.zeros(len(rows.labels), dtype=np.intp))
    unmatched, overlapping = (float(rows.weights[each].sum()) for each in (number == 0, number > 1))
    agreed = float(rows.weights[first_line(result, rows.table) == rows.labels].sum() / rows.weights.sum())
    return replace(result, n_unmatched=unmatched, n_overlapping=overlapping, agreement=agreed)


def _limits(budget: Budget) -> tuple[str, ...]:
    """Return the parameters of `explain` that leave some lines out."""
    return (
        ("min_samples_leaf",) * (budget.min_samples_leaf > 1)
        + ("forbidden",) * bool(budget.forbidden)
        + ("cuts",) * bool(budget.cuts)
    )


class _LineOptions(NamedTuple):
    """What was asked for."""

    max_conditions: int
    min_precision: float | None
    min_found: float | None

    @classmethod
    def of(cls, max_conditions: Any, min_precision: Any, min_found: Any) -> _LineOptions:
        n = whole_number("max_conditions", max_conditions, 1)
        if n > MOST_CONDITIONS:
            raise ValueError(f"max_conditions must be from 1 to {MOST_CONDITIONS}; got {n}")
        return cls(n, _share("min_precision", min_precision), _share("min_found", min_found))

    def goal(self, min_rows: int) -> LineGoal:
        if self.min_precision is not None:
            return LineGoal(loops.FOUND, self.min_precision, min_rows)
        if self.min_found is not None:
            return LineGoal(loops.PRECISION, self.min_found, min_rows)
        return LineGoal(loops.F1, 0.0, min_rows)

    def chosen(self, front: _Front) -> int | None:
        """Return which rule of a front is chosen, None for none: each further condition gains more than luck.

        The best of many conditions is right for about as many more rows of the cluster as their number has a standard
        error, and those of new rows it does not find.
        """
        if self.min_precision is not None and self.min_found is not None:
            least = self.min_found - loops.SLACK
            return next((i for i, value in enumerate(front.values) if value >= least), None)
        taken = 0 if front.values else None
        for i, value in enumerate(front.values):
            if taken is not None and value > front.values[taken] + front.pays(taken, i):
                taken = i
        return taken


def _share(name: str, value: Any) -> float | None:
    share = None if value is None else real_number(name, value)
    if share is not None and not 0 < share <= 1:
        raise ValueError(f"{name} must be a share above 0 and up to 1, such as 0.9; got {show_value(value)}")
    return share


class _Front(NamedTuple):
    """Rules of one condition, two, and so on, each better than those before; the value and the bound of each.

    The last bound is that of all rules of as many conditions as were asked for. `size` is the cluster's number of rows.
    """

    trees: list[ThresholdTree]
    values: list[float]
    bounds: list[float]
    size: int

    def pays(self, short: int, long: int) -> float:
        """Return how much more a longer rule must count than a shorter one, so that its conditions pay."""
        more = len(set(self.trees[long].features.tolist())) - len(set(self.trees[short].features.tolist()))
        value = self.values[short]
        return max(NEAR, LUCK_OF_CONDITION * math.sqrt(more * value * (1 - value) / self.size))


class _LineRows(NamedTuple):
    """Rows of the table that are in a cluster, and what rules may ask of them."""

    table: Floats
    labels: Indices
    weights: Floats
    evidence: Evidence

    @classmethod
    def of(cls, evidence: Evidence, without: Indices | None = None) -> _LineRows:
        """Return the rows that are in a cluster; IN: without: numbers of rows that are left out."""
        stays = evidence.task.kept.copy()
        stays[[] if without is None else without] = False
        return cls.these(evidence, np.flatnonzero(stays))

    @classmethod
    def these(cls, evidence: Evidence, rows: Indices) -> _LineRows:
        own = evidence.task.rows.weights
        weights = np.ones(len(rows)) if own is None else np.asarray(own, dtype=np.float64)[rows]
        table = in_bands(evidence.coordinates.table.values[rows], evidence.budget.cuts)
        return cls(table, evidence.task.reference.labels[rows], weights, evidence)

    def fronts(self, n_clusters: int, asked: _LineOptions) -> list[_Front]:
        """Return the best rules of each cluster; what one leaves of the work goes to those to come."""
        fronts, left, columns = [], WORK, self._columns()
        for cluster in range(n_clusters):
            found = self._best_rules(self.labels == cluster, asked, left / (n_clusters - cluster), columns)
            left -= found[-1].work if found else 0
            fronts.append(self._front(self.labels == cluster, asked, found))
        return fronts

    def _columns(self) -> list[LineColumn]:
        """Return what rules may ask for, preferred columns first."""
        here, budget = self.evidence.coordinates, self.evidence.budget
        features = [j for j in self.evidence.columns if j not in budget.forbidden]
        features.sort(key=lambda j: j not in budget.preferred)
        return line_columns(self.table, features, here.categories, here.gaps)

    def _best_rules(
        self, is_own: Bools, asked: _LineOptions, work: float, columns: Sequence[LineColumn]
    ) -> list[BestRule]:
        """Return the best rules of a cluster; none for one without rows, or with all of them."""
        if not is_own.any() or is_own.all():
            return []
        preferred = self.evidence.budget.preferred
        found = self._on(columns, is_own, asked, work)
        if not preferred:
            return found
        return _preferring(found, self._on([one for one in columns if one.feature in preferred], is_own, asked, work))

    def _front(self, is_own: Bools, asked: _LineOptions, found: Sequence[BestRule]) -> _Front:
        """Return those of the best rules that are better than those before, once their thresholds are short."""
        front, budget = _Front([], [], [0.0], int(is_own.sum())), self.evidence.budget
        for one in found:
            front.bounds[-1] = max(front.bounds[-1], one.bound)
            if not one.asked:
                continue
            conditions = self._without_rare(one.asked, one.value - NEAR, is_own, asked)
            tree, is_same = self._tree(conditions), conditions is one.asked and budget.round_thresholds is None
            value = one.value if is_same else self._value(holds(tree, self.table), is_own, asked)
            if value > max(front.values, default=0.0):
                front.trees.append(tree)
                front.values.append(value)
                front.bounds.append(front.bounds[-1])
        return front

    def _on(self, columns: Sequence[LineColumn], is_own: Bools, asked: _LineOptions, work: float) -> list[BestRule]:
        goal = asked.goal(self.evidence.budget.min_samples_leaf)
        return list(best_rules(columns, is_own, self.weights, goal, asked.max_conditions, work))

    def _without_rare(
        self, conditions: tuple[Asked, ...], least: float, is_own: Bools, asked: _LineOptions
    ) -> tuple[Asked, ...]:
        """Return a rule without the categories of few rows that it can do without: it still counts `least`.

        A category of one row tells of that row.
        """
        for i, one in enumerate(conditions):
            others = [other.holds() for other in conditions if other is not one]
            rows = np.logical_and.reduce([one.holds(), *others])
            own = np.bincount(one.column.places, self.weights * (rows & is_own))
            rare = sorted(rare_categories(one, FEW), key=own.__getitem__)

            def is_too_short(n: int, one: Asked = one, rare: list[int] = rare, rows: Bools = rows) -> bool:
                return self._value(rows & one.without(rare[:n]).holds(), is_own, asked) < least

            n_left_out = bisect_left(range(1, len(rare) + 1), True, key=is_too_short)
            if n_left_out:
                conditions = (*conditions[:i], one.without(rare[:n_left_out]), *conditions[i + 1 :])
        return conditions

    def _tree(self, conditions: Sequence[Asked]) -> ThresholdTree:
        """Return a rule as a tree whose thresholds have few digits, as those of the tree that explains the clusters."""
        here, budget = self.evidence.coordinates, self.evidence.budget
        here = replace(here, table_store=replace(here.table, values=self.table, weights=None))
        tree = here.shortened(as_tree(without_needless(conditions)))
        return move_thresholds(tree, budget, here, {j: np.sort(self.table[:, j]) for j, _ in budget.cuts})

    def _value(self, held: Bools, is_own: Bools, asked: _LineOptions) -> float:
        """Return what the goal counts of a rule that holds some rows."""
        goal = asked.goal(self.evidence.budget.min_samples_leaf)
        own, others = (float(self.weights[each].sum()) for each in (held & is_own, held & ~is_own))
        given = np.array([goal.kind, goal.least, float(self.weights[is_own].sum()), goal.min_rows])
        return float(loops.value_of(given, own, others, float(held.sum())))


def _preferring(found: Sequence[BestRule], on_preferred: Sequence[BestRule]) -> list[BestRule]:
    """Return rules on preferred columns where they are nearly as good, with the bounds of all rules."""
    chosen = list(found)
    for i, (best, one) in enumerate(zip(found, on_preferred, strict=False)):
        if one.asked and one.value >= best.value - NEAR:
            chosen[i] = one._replace(bound=best.bound, work=best.work)
    return chosen


def _lines(
    ex: MeasuredTree, rows: _LineRows, cluster: int, front: _Front, binary: Collection[str]
) -> list[StandaloneRule]:
    """Return the rules of a front with what they hold."""
    size, lines = float(rows.weights[rows.labels == cluster].sum()), []
    for tree, value, bound in zip(front.trees, front.values, front.bounds, strict=False):
        matched, own = _counts(tree, rows, cluster)
        parts = own / size, own / matched if matched else 0.0, 2 * own / (size + matched)
        what = cluster, ex.names[cluster], line_rule(ex, tree, binary), matched
        lines.append(StandaloneRule(*what, *parts, max(bound, value), bound <= value + 1e-6))
    return lines


def _counts(tree: ThresholdTree, rows: _LineRows, cluster: int) -> tuple[float, float]:
    """Return the weight of the rows that a rule holds, and of those among them that are in the cluster."""
    held = holds(tree, rows.table)
    return float(rows.weights[held].sum()), float(rows.weights[held & (rows.labels == cluster)].sum())


def _hold_out(
    lines: Sequence[list[StandaloneRule]],
    chosen: Sequence[int | None],
    evidence: Evidence,
    asked: _LineOptions,
    parts: Sequence[Indices],
) -> None:
    """Write into the chosen lines how well those that are made without some rows do on these. IN and OUT: lines."""
    sums = np.zeros((len(lines), 3))  # of each cluster: the weight of its rows, of those its line holds, of both
    for part in parts:
        rest, seen = _LineRows.of(evidence, part), _LineRows.these(evidence, part)
        for cluster, front in enumerate(rest.fronts(len(lines), asked)):
            i = asked.chosen(front)
            matched, own = (0.0, 0.0) if i is None else _counts(front.trees[i], seen, cluster)
            sums[cluster] += float(seen.weights[seen.labels == cluster].sum()), matched, own
    for told, place, (size, matched, own) in zip(lines, chosen, sums.tolist(), strict=True):
        if place is not None:
            shares = own / size if size else None, own / matched if matched else None
            told[place] = told[place]._replace(found_held_out=shares[0], precision_held_out=shares[1])


# ------------------------------------------------------------------------------------ all rows of a table in batches


def _of_all_rows(lines: MeasuredRules, evidence: Evidence) -> MeasuredRules:
    """Return lines that were made on a sample with the counts of all rows, from one pass; nothing is proved of them."""
    make = partial(_Counts, lines.trees_of_fronts, lines.trees, lines.explanation.n_clusters)
    if evidence.facts is not None:
        seen: _Counts = evidence.facts.task.batches.fold(make)
    else:
        assert evidence.whole is not None
        seen = evidence.whole.fold_table(lines.explanation.tree, evidence.coordinates, make)
    fronts, at = [], 0
    for front in lines.fronts:
        counts = seen.of_lines[at : at + len(front)].tolist()
        fronts.append(tuple(_recount(line, pair, seen.sizes) for line, pair in zip(front, counts, strict=True)))
        at += len(front)
    told = replace(lines, fronts=tuple(fronts), bounds=(1.0,) * len(fronts))
    weights = np.array(list(seen.by_lines.values()))  # of rows in the same lines, by their cluster
    number = np.array([held.count(1) for held in seen.by_lines])
    first = [next((cluster for cluster in told.order if held[cluster]), -1) for held in seen.by_lines]
    own = sum(float(each[cluster]) for each, cluster in zip(weights, first, strict=True) if cluster >= 0)
    unmatched, overlapping = (float(weights[each].sum()) for each in (number == 0, number > 1))
    agreement = own / float(seen.sizes.sum())
    return replace(told, n_unmatched=unmatched, n_overlapping=overlapping, agreement=agreement)


def _recount(line: StandaloneRule, counts: Sequence[float], sizes: Floats) -> StandaloneRule:
    """Return a line with other counts; IN: counts: weight of the rows that it holds, and of its cluster among them."""
    (matched, own), size = counts, float(sizes[line.cluster])
    parts = own / size if size else 0.0, own / matched if matched else 0.0, 2 * own / (size + matched)
    found = line._replace(matched=matched, found=parts[0], precision=parts[1], f1=parts[2])
    return found._replace(best=1.0, proved=False)


class _Counts:
    """A summary of rows: their weight by cluster, in each rule of all fronts, and in the same chosen lines."""

    def __init__(
        self, fronts: Sequence[Sequence[ThresholdTree]], chosen: Sequence[ThresholdTree | None], n_clusters: int
    ) -> None:
        self.rules = [(cluster, tree) for cluster, front in enumerate(fronts) for tree in front]
        self.chosen, self.sizes, self.of_lines = chosen, np.zeros(n_clusters), np.zeros((len(self.rules), 2))
        self.by_lines: dict[bytes, Floats] = {}  # by whether each chosen line holds the rows

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        table, labels = block.values[block.kept], block.labels[block.kept]
        weights = np.ones(len(labels)) if block.weights is None else block.weights[block.kept]
        self.sizes += np.bincount(labels, weights, minlength=len(self.sizes))
        held = {id(tree): values_at_leaves(tree, table, tree.cluster, None, nan="none") == 1 for _, tree in self.rules}
        for i, (cluster, tree) in enumerate(self.rules):
            inside = weights * held[id(tree)]
            self.of_lines[i] += inside.sum(), inside[labels == cluster].sum()
        nothing = np.zeros(len(labels), dtype=np.bool_)
        pattern = np.stack([nothing if tree is None else held[id(tree)] for tree in self.chosen], axis=1)
        patterns, places = np.unique(pattern.astype(np.uint8), axis=0, return_inverse=True)
        for i, each in enumerate(patterns):
            own = places.reshape(-1) == i
            self._add(each.tobytes(), np.bincount(labels[own], weights[own], minlength=len(self.sizes)))

    def merge(self, other: _Counts) -> None:
        """Add the counts of other rows."""
        self.sizes += other.sizes
        self.of_lines += other.of_lines
        for held, weights in other.by_lines.items():
            self._add(held, weights)

    def _add(self, held: bytes, weights: Array) -> None:
        self.by_lines[held] = self.by_lines.get(held, 0.0) + np.asarray(weights, dtype=np.float64)
