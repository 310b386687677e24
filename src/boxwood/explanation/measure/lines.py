"""One-line rules: what they tell of each cluster, which rows they hold, and in which order rows are given to them."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.errors import DataError
from boxwood.explanation._typed import plain_values
from boxwood.explanation.apply.rows import leaves_in
from boxwood.explanation.claim import Claim
from boxwood.explanation.measured_tree import MeasuredTree
from boxwood.explanation.records import Rule, rules_of, value_of_two
from boxwood.tree import Box, ThresholdTree
from boxwood.words.rules import rule

if TYPE_CHECKING:
    from boxwood.explanation.measure.evidence import Evidence


class StandaloneRule(NamedTuple):
    """A one-line rule for a cluster.

    Parameters
    ----------
    cluster : int
        Number of the cluster.
    name : str or number
        Its name.
    rule : tuple of Condition
        Conditions on different columns that all hold.
    matched : float
        Number of rows that it holds, or their weight if rows are weighted.
    found : float
        Share of the cluster that is among these.
    precision : float
        Share of these that is in the cluster.
    f1 : float
        Harmonic mean of both.
    best : float
        No rule of as many conditions has more than this of what the rules were chosen by: F1; or precision, where
        `min_found` was asked for; or share found, where `min_precision` was.
    proved : bool
        Whether it has as much itself, but for a millionth.
    found_held_out, precision_held_out : float or None
        The same of rules made in the same way, on rows that were not used to make them; None if that was not asked for.
    """

    cluster: int
    name: Hashable
    rule: Rule
    matched: float
    found: float
    precision: float
    f1: float
    best: float
    proved: bool
    found_held_out: float | None = None
    precision_held_out: float | None = None


@dataclass(frozen=True, repr=False)
class MeasuredRules:
    """The fields of `StandaloneRules`, which says what they are, and what follows from them alone."""

    explanation: MeasuredTree
    fronts: tuple[tuple[StandaloneRule, ...], ...]
    trees_of_fronts: tuple[tuple[ThresholdTree, ...], ...]
    chosen: tuple[int | None, ...]
    bounds: tuple[float, ...]
    limits: tuple[str, ...]
    binary: tuple[str, ...]
    max_conditions: int
    min_precision: float | None
    min_found: float | None
    n_rows: int
    n_unmatched: float
    n_overlapping: float
    agreement: float
    validated: str = ""

    @property
    def lines(self) -> tuple[StandaloneRule | None, ...]:
        """The line of each cluster; None for one without a line."""
        return tuple(None if i is None else front[i] for i, front in zip(self.chosen, self.fronts, strict=True))

    @property
    def claims(self) -> tuple[Claim | None, ...]:
        """What was proved of all rules for each cluster; None for one without a line, and where a sample was searched.

        Columns that were preferred, rounded thresholds, and a search that was cut short leave it at more than 0 by how
        much others may be better.
        """
        if self.is_of_sample:
            return (None,) * len(self.chosen)
        return tuple(
            None if line is None else self._claim(line, bound)
            for line, bound in zip(self.lines, self.bounds, strict=True)
        )

    @property
    def is_of_sample(self) -> bool:
        """Whether lines were made on some of the rows that they count."""
        return self.n_rows < self.explanation.n_rows - self.explanation.n_left_out

    def _claim(self, line: StandaloneRule, bound: float) -> Claim:
        measure, least = "f1", 0.0
        if self.min_precision is not None:
            measure, least = "found", self.min_precision
        elif self.min_found is not None:
            measure, least = "precision", self.min_found
        value = getattr(line, measure)
        weighted = self.explanation.details.weighted
        return Claim(
            "rules", self.max_conditions, self.limits, measure, least, weighted, value, max(bound - value, 0.0)
        )

    @property
    def trees(self) -> tuple[ThresholdTree | None, ...]:
        """The line of each cluster as a chain of cuts: its rows have cluster 1, all others 0."""
        pairs = zip(self.chosen, self.trees_of_fronts, strict=True)
        return tuple(None if i is None else trees[i] for i, trees in pairs)

    @property
    def order(self) -> tuple[int, ...]:
        """Clusters with a line, in the order in which a row is asked: by precision, then by rows, then as they are."""
        chosen = [line for line in self.lines if line is not None]
        return tuple(one.cluster for one in sorted(chosen, key=lambda one: (-one.precision, -one.matched, one.cluster)))

    def boxes(self) -> list[tuple[int, Box]]:
        """Return the clusters in their order, each with the values that its line allows in each column."""
        trees = [(cluster, self.trees[cluster]) for cluster in self.order]
        return [(c, tree.boxes()[int(np.argmax(tree.leaf_clusters))]) for c, tree in trees if tree is not None]

    @property
    def features(self) -> list[int]:
        """Columns that lines ask for, ascending."""
        return sorted({j for tree in self.trees if tree is not None for j in tree.features.tolist()})


def first_line(lines: MeasuredRules, table: Floats) -> Indices:
    """Return the cluster of the first line that holds each row of a table of numbers and codes, -1 for none."""
    found = np.full(len(table), -1)
    for cluster in lines.order[::-1]:
        tree = lines.trees[cluster]
        found[holds(tree, table)] = cluster  # type: ignore[arg-type]
    return found


def lines_of_rows(lines: MeasuredRules, X: Any) -> Indices:
    """Return the cluster of the first line that holds each row, -1 for none; `X` is read as for `predict`."""
    held = holds_of_rows(lines, X)
    found = np.full(len(held), -1)
    for cluster in lines.order[::-1]:
        found[held[:, cluster]] = cluster
    return found


def holds_of_rows(lines: MeasuredRules, X: Any) -> Bools:
    """See `StandaloneRules.holds`."""
    trees = lines.trees
    if not any(tree is not None for tree in trees):
        raise DataError("no cluster has a line, so none can be given to rows; ask for less, or for more conditions")
    found = [None if tree is None else _holds_in(lines.explanation, tree, X) for tree in trees]
    nothing = np.zeros(next(len(each) for each in found if each is not None), dtype=np.bool_)
    return np.stack([nothing if each is None else each for each in found], axis=1)


def _holds_in(ex: MeasuredTree, tree: ThresholdTree, X: Any) -> Bools:
    """Return whether a line holds each row of a table; one without a leaf, as it lacks a value, it does not."""
    leaves = leaves_in(tree, ex.columns, ex._coded_columns, X, "none", ex._gap_columns, ex._date_columns)
    return np.asarray(np.append(tree.leaf_clusters, 0)[leaves] == 1)


def holds(tree: ThresholdTree, table: Floats) -> Bools:
    """Return whether a line holds each row of a table of numbers and codes."""
    return np.asarray(tree.predict(table) == 1)


def line_rule(ex: MeasuredTree, tree: ThresholdTree, binary: Collection[str] = ()) -> Rule:
    """Return the conditions of a line as words say them; IN: binary: columns of 0 and 1, whose value they name."""
    of_leaves = rules_of(tree, ex.columns, ex._coded_columns, ex._gap_columns, ex._date_columns)
    rule = of_leaves[int(np.argmax(tree.leaf_clusters))]
    return tuple(one._replace(intervals=value_of_two(one)) if one.column in binary else one for one in rule)


def as_dict(lines: MeasuredRules) -> dict[str, Any]:
    """See `StandaloneRules.to_dict`."""
    names = ("max_conditions", "min_precision", "min_found", "n_rows", "n_unmatched", "n_overlapping", "agreement")
    entries: dict[str, Any] = {name: getattr(lines, name) for name in (*names, "validated", "order", "bounds")}
    entries["lines"] = [None if line is None else _entry(line) for line in lines.lines]
    entries["fronts"] = [[_entry(line) for line in front] for front in lines.fronts]
    found: dict[str, Any] = plain_values(entries)
    return found


def _entry(line: StandaloneRule) -> dict[str, Any]:
    return line._asdict() | {"conditions": len(line.rule), "rule": rule(line.rule, whole=True)}


def rename_rules(lines: MeasuredRules, ex: MeasuredTree) -> MeasuredRules:
    """Return the lines of clusters with other names; IN: ex: the explanation with these."""
    fronts = tuple(tuple(line._replace(name=ex.names[line.cluster]) for line in front) for front in lines.fronts)
    return replace(lines, fronts=fronts, explanation=replace(lines.explanation, clusters=ex.clusters))


def unmatched_rows(lines: MeasuredRules) -> tuple[int, ...]:
    """See `StandaloneRules.unmatched`."""
    number, rows, evidence = _number_of_lines(lines)
    return tuple(evidence.in_table(row) for row in rows[number.sum(axis=0) == 0].tolist())


def overlapping_rows(lines: MeasuredRules) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """See `StandaloneRules.overlaps`."""
    number, rows, evidence = _number_of_lines(lines)
    order = np.array(lines.order, dtype=np.intp)
    several = np.flatnonzero(number.sum(axis=0) > 1).tolist()
    return tuple((evidence.in_table(int(rows[i])), tuple(order[number[order, i]].tolist())) for i in several)


def _number_of_lines(lines: MeasuredRules) -> tuple[Bools, Indices, Evidence]:
    """Return which lines hold each row that is in a cluster, shape (k, n), the rows, and where they are."""
    evidence = lines.explanation._rows("this list")
    rows = np.flatnonzero(evidence.task.kept)
    table = np.asarray(evidence.coordinates.table.values[rows], dtype=np.float64)
    nothing = np.zeros(len(rows), dtype=np.bool_)
    return np.array([nothing if tree is None else holds(tree, table) for tree in lines.trees]), rows, evidence
