"""Which one more leaf would mend a weak rule: a cut of it after which most of its rows are the cluster's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from boxwood._types import Indices
from boxwood.explanation.measure.evidence import BOOLEAN, Evidence
from boxwood.explanation.measure.measure import binary_columns, may_have_more_leaves
from boxwood.explanation.measured_tree import Tree
from boxwood.explanation.records import Clusters, ClusterSummary, LeafSummary, Mend, rule_of, value_of_two
from boxwood.grow.leaves.impurity import grow_by_impurity
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree
from boxwood.words.rules import rule

KEPT = 0.5  # share of the rows that a weak rule finds, which the mended one still finds


def with_mends(explanation: Tree) -> Tree:
    """Return the explanation whose weak clusters say which one more leaf would mend their rules, where one would.

    Time: sorts the rows of each weak leaf. Of rows in batches, and of rows drawn from a table, nothing is said.
    """
    evidence = explanation._in_memory
    if evidence is None or evidence.whole is not None or not may_have_more_leaves(explanation.tree, evidence.task):
        return explanation
    clusters = (_with_mend(one, explanation, evidence) if one.is_weak else one for one in explanation.clusters)
    return replace(explanation, clusters=Clusters(clusters))


def _with_mend(cluster: ClusterSummary, explanation: Tree, evidence: Evidence) -> ClusterSummary:
    """Return a weak cluster with the cut that leaves its rules with the highest precision, if that mends them."""
    leaves = [leaf for leaf in explanation.leaves if leaf.cluster == cluster.cluster and leaf.own > 0]
    found = (one for leaf in leaves for one in _halves(cluster, leaf, evidence))
    best = max(found, default=None, key=lambda half: half.precision)
    if best is None:
        return cluster
    return cluster._replace(mend=Mend(_condition(best, explanation, evidence), best.precision))


class _Half(NamedTuple):
    """One side of a cut of a leaf, and the precision of the cluster's rules if the leaf is that side alone."""

    cut: ThresholdTree
    leaf: int
    side: int
    precision: float


def _halves(cluster: ClusterSummary, leaf: LeafSummary, evidence: Evidence) -> Iterator[_Half]:
    """Yield the better side of a leaf's best cut, if the rules of its cluster are no longer weak with it alone."""
    rows = np.flatnonzero((evidence.leaf == leaf.leaf) & evidence.task.kept)
    cut = _in_two(evidence, rows, cluster.cluster)
    if cut.n_leaves != 2:
        return
    side = cut.apply(evidence.coordinates.table.take(rows))
    own, weights = evidence.task.reference.labels[rows] == cluster.cluster, evidence.task.rows.weights
    mass = np.ones(len(rows)) if weights is None else weights[rows]
    matched, right = np.bincount(side, mass, 2), np.bincount(side, mass * own, 2)
    here = int(np.argmax(right / np.maximum(matched, np.finfo(float).tiny)))
    before = (cluster.precision or 0.0) * cluster.matched
    right_now, matched_now = before - leaf.own + right[here], cluster.matched - leaf.size + matched[here]
    precision = min(float(right_now / matched_now), 1.0)
    if right_now >= KEPT * before and not cluster._replace(precision=precision).is_weak:
        yield _Half(cut, leaf.leaf, here, precision)


def _in_two(evidence: Evidence, rows: Indices, cluster: int) -> ThresholdTree:
    """Return the cut, on the table's columns, that parts the rows of a cluster best from other rows of its leaf."""
    task = evidence.task
    own = (task.reference.labels[rows] == cluster).astype(np.intp)
    reference = Reference(own, np.zeros((2, task.n_columns)))
    part = Task.of(task.rows.take(rows), reference, budget=task.budget, n_jobs=task.n_jobs)
    return evidence.on_table(grow_by_impurity(part, "gini", 2))


def _condition(half: _Half, explanation: Tree, evidence: Evidence) -> str:
    """Return what one side of a cut of a leaf asks of its column, in the words of the explanation's rules."""
    cut, here, names, j = half.cut, evidence.coordinates, explanation.columns, int(half.cut.feature[0])
    truths = {j: BOOLEAN} if names[j] in evidence.booleans else {}
    cuts = (*explanation.tree.path(half.leaf), cut.path(half.side)[0])
    said = rule_of(cuts, names, dict(here.categories) | truths, here.gaps, here.dates)
    asked = next(one for one in said if one.column == names[j])
    is_binary = names[j] in binary_columns(cut, here, evidence.task.kept)
    return rule((asked._replace(intervals=value_of_two(asked)) if is_binary else asked,))
