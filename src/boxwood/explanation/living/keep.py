"""A refit that keeps what need not change: an old tree, of which only the cuts that cost too much are made anew.

1. The old cuts are put on the new columns and codes, and each leaf gets the cluster of most of its new rows.
2. While the tree loses more than is allowed, one change is made, the one that gains most for each cut that it changes:
   an old cut gets another threshold, or what is below it is taken from the new tree.
3. At worst all of the tree is the new one, so the loss is never more than allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices, Weights
from boxwood._validation import list_words, real_number, refuse_other_kind, refuse_unknown
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.explanation.apply.tree_changes import tree_changes
from boxwood.explanation.measure.again import measured_again
from boxwood.explanation.measure.limited import finish_tree
from boxwood.explanation.measure.measure import costs_of
from boxwood.explanation.measured_tree import MeasuredTree
from boxwood.grow.grown import Grown
from boxwood.tree import ThresholdTree, TreeBuilder
from boxwood.tree.merge import merge_leaves
from boxwood.tree.shorten import shortest_between
from boxwood.words.measured import words

METHOD = "kept"
_LOOKED_AT = 20_000  # rows by which changes are compared
_MANY = 300  # pairs of an old and a new node up to which every part of the new tree is tried in every place


def keep_close(new: MeasuredTree, old: MeasuredTree, loss: float, by: str) -> MeasuredTree:
    """See `Explanation.stay_close_to`."""
    refuse_other_kind("old", old, MeasuredTree, "pass the earlier one, such as bw.load gives")
    refuse_unknown("by", by, ("agreement", "cost"))
    if not (loss := real_number("loss", loss)) >= 0:
        raise ValueError(f"loss must be at least 0, got {loss}")
    evidence = new._rows("keeping the cuts of an earlier tree")
    task, here = evidence.task, evidence.coordinates
    table = here.table.values
    rows = _RuleRows(table, task.reference.labels, np.flatnonzero(task.kept), task.kept_weights, new.n_clusters)
    some = replace(rows, kept=rows.kept[:: max(1, len(rows.kept) // _LOOKED_AT)])
    lost = _losses(new, evidence, rows, by)
    about = lost if by == "cost" else _losses(new, evidence, some, by)
    own = _on_new_columns(old, new)
    draft = _Draft(own, new.tree, {}, {})
    most = max(new.n_leaves, old.n_leaves, task.max_leaf_nodes or 0)
    while lost(tree := _limit_tree(draft.build(rows), evidence)) > loss and draft.anew.get(0) != 0:
        draft = _next(draft, some, about, most)
    if draft.anew.get(0) == 0 or tree == new.tree:
        return _note_changes(new, own, rows, 0.0, by)
    measured = replace(measured_again(new, tree, METHOD), notes=new.notes)._with_details(mixture=new.details.mixture)
    return _note_changes(measured, own, rows, lost(tree), by)


@dataclass(frozen=True)
class _RuleRows:
    """Rows of a table in the columns of rules, their clusters, and which of them count, with their weights."""

    table: Array
    labels: Indices
    kept: Indices
    weights: Weights
    n_clusters: int

    def counts(self, rows: Indices) -> Floats:
        """Return the weight of the rows of each cluster."""
        weights = None if self.weights is None else self.weights[rows]
        return np.bincount(self.labels[rows], weights, minlength=self.n_clusters).astype(np.float64)


def _losses(new: MeasuredTree, evidence: Any, rows: _RuleRows, by: str) -> Callable[[ThresholdTree], float]:
    """Return what a tree loses against the new one: points of agreement, or a share of its cost."""
    here, task, total = evidence.coordinates, evidence.task, rows.counts(rows.kept).sum()

    def predicted(tree: ThresholdTree) -> Indices:
        return tree.predict(here.table, n_jobs=task.n_jobs)

    def agreement(tree: ThresholdTree) -> float:
        right = rows.kept[predicted(tree)[rows.kept] == rows.labels[rows.kept]]
        return float(rows.counts(right).sum() / total)

    def cost(tree: ThresholdTree) -> float:
        clusters = np.where(task.reference.kept, predicted(tree), -1)
        return float(costs_of(task, Grown(tree, new.method, new.details.objective, evidence.kernel), clusters, here)[0])

    if by == "agreement":
        best = agreement(new.tree)
        return lambda tree: best - agreement(tree)
    least = cost(new.tree)
    return lambda tree: cost(tree) / least - 1 if least else float(cost(tree) > 0)


def _limit_tree(tree: ThresholdTree, evidence: Any) -> ThresholdTree:
    """Return a tree within the limits of the rules."""
    return finish_tree(tree, evidence.task, evidence.budget, evidence.coordinates)[0]


# ------------------------------------------------------------------------------------- the old tree on new columns


def _on_new_columns(old: MeasuredTree, new: MeasuredTree) -> ThresholdTree:
    """Return the old tree on the new columns and codes; clusters are those of the old one."""
    tree, builder, stack = old.tree, TreeBuilder(), [(0, 0)]
    absent = [name for j in tree.features.tolist() if (name := old.columns[j]) not in new.columns]
    if absent:
        raise DataError(f"the earlier tree tests columns that the new table lacks: {list_words(absent)}")
    while stack:
        node, at = stack.pop()
        j = int(tree.feature[node])
        if j < 0:
            builder.label(at, int(tree.cluster[node]))
            continue
        _, upper, lower, members = tree.test(node)
        to = new.columns.index(old.columns[j])
        if (j in old._coded_columns) != (to in new._coded_columns):
            raise DataError(f"column {old.columns[j]!r} held categories, and now numbers, or the other way round")
        if to in new._coded_columns:
            codes = _codes(old._coded_columns[j], new._coded_columns[to], members or range(int(lower), int(upper) + 1))
            if not codes:  # none of these words is there any more
                stack.append((int(tree.second[node]), at))
                continue
            inside, outside = builder.split_set(at, to, codes)
        else:
            inside, outside = builder.split(at, to, upper, lower)
        stack += [(node + 1, inside), (int(tree.second[node]), outside)]
    return builder.build()


def _codes(old: Categories, new: Categories, inside: Any) -> list[int]:
    """Return the new codes of words; words that are new are outside."""
    values = [old.value(code) for code in inside if code < len(old.values)]
    return sorted({int(code) for code in new.codes(values).tolist() if code == code})


# ----------------------------------------------------------------------------------------------------------- changes


@dataclass(frozen=True)
class _Draft:
    """An old tree with some thresholds moved, and in the place of some of its nodes nodes of the new tree."""

    old: ThresholdTree
    new: ThresholdTree
    moved: Mapping[int, float]
    anew: Mapping[int, int]

    def ways(self, rows: _RuleRows) -> Iterator[tuple[ThresholdTree, int, Indices, int]]:
        """Yield each node that rows reach, with its tree, these rows, and the place where it hangs.

        The place is -1 for the root, and else twice the number of the node above, in this order, plus one if outside. A
        cut that parts no rows is passed over.
        """
        stack, n = [(self.old, 0, rows.kept, -1)], 0
        while stack:
            tree, node, here, place = stack.pop()
            if tree is self.old and node in self.anew:
                tree, node = self.new, self.anew[node]
            while tree.feature[node] >= 0:
                inside = self.inside(tree, node, rows.table[here, int(tree.feature[node])])
                if inside.any() and not inside.all():
                    break
                node = node + 1 if inside.all() else int(tree.second[node])
                if tree is self.old and node in self.anew:
                    tree, node = self.new, self.anew[node]
            yield tree, node, here, place
            if tree.feature[node] >= 0:
                stack.append((tree, int(tree.second[node]), here[~inside], 2 * n + 1))
                stack.append((tree, node + 1, here[inside], 2 * n))
            n += 1

    def inside(self, tree: ThresholdTree, node: int, values: Array) -> Bools:
        """Return which values are inside of a cut."""
        if tree is self.old and node in self.moved:
            return np.asarray(values <= self.moved[node])
        return tree.is_inside(node, values)

    def build(self, rows: _RuleRows) -> ThresholdTree:
        """Return the tree; each leaf has the cluster of most of its rows, of a tie the first."""
        builder, nodes = TreeBuilder(), list[tuple[int, int]]()
        for tree, node, here, place in self.ways(rows):
            at = 0 if place < 0 else nodes[place // 2][place % 2]
            j = int(tree.feature[node])
            if j < 0:
                builder.label(at, int(rows.counts(here).argmax()))
                nodes.append((-1, -1))
                continue
            _, upper, lower, members = tree.test(node)
            upper = self.moved.get(node, upper) if tree is self.old else upper
            nodes.append(builder.split(at, j, upper, lower, members))
        return merge_leaves(builder.build())


def _next(draft: _Draft, rows: _RuleRows, lost: Callable[[ThresholdTree], float], most: int) -> _Draft:
    """Return the draft with the change that gains most for each cut that it changes; all anew if none gains."""
    below, choices, now = _cuts_below(draft.old), [], lost(draft.build(rows))
    cuts = np.flatnonzero(draft.new.feature >= 0).tolist()
    parts = cuts if len(cuts) * draft.old.n_nodes <= _MANY else [0]
    for tree, node, here, _ in list(draft.ways(rows)):
        if tree is not draft.old:
            continue
        is_cut = tree.feature[node] >= 0 and node not in draft.moved
        if is_cut and (at := _better(draft, node, rows, here)) is not None:
            choices.append((1, replace(draft, moved={**draft.moved, node: at})))
        choices += [(max(below[node], 1), replace(draft, anew={**draft.anew, node: part})) for part in parts]
    gains = []
    for n, choice in choices:
        tree = choice.build(rows)
        if tree.n_leaves <= most and (gain := now - lost(tree)) > 0:
            gains.append((gain / n, choice))
    return max(gains, key=lambda one: one[0], default=(0.0, replace(draft, anew={0: 0})))[1]


def _cuts_below(tree: ThresholdTree) -> list[int]:
    """Return the number of cuts at and below each node."""
    found = [0] * tree.n_nodes
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
        found[node] = 1 + found[node + 1] + found[int(tree.second[node])]
    return found


def _better(draft: _Draft, node: int, rows: _RuleRows, here: Indices) -> float | None:
    """Return the threshold of a cut by which most rows are right, if what is below it stays; None if it is that."""
    tree, j = draft.old, int(draft.old.feature[node])
    _, upper, lower, members = tree.test(node)
    x = np.asarray(rows.table[here, j], dtype=np.float64)
    if members or np.isfinite(lower) or not np.isfinite(x).all():
        return None
    clusters = _clusters(draft, rows)
    right = [clusters(child, here) == rows.labels[here] for child in (node + 1, int(tree.second[node]))]
    order = np.argsort(x, kind="stable")
    weights = np.ones(len(here)) if rows.weights is None else rows.weights[here]
    gained = np.cumsum((weights * (right[0].astype(float) - right[1]))[order])[:-1]
    ends = x[order]
    gained[ends[1:] <= ends[:-1]] = -np.inf
    best = int(gained.argmax()) if len(gained) else 0
    if not len(gained) or not np.isfinite(gained[best]):
        return None
    at = shortest_between(float(ends[best]), float(np.nextafter(ends[best + 1], -np.inf)))
    return None if at == draft.moved.get(node, upper) else at


def _clusters(draft: _Draft, rows: _RuleRows) -> Callable[[int, Indices], Indices]:
    """Return a function that gives the cluster of rows below an old node, by what most rows of its leaves are."""
    of_leaf: dict[int, int] = {}
    for tree, node, here, _ in draft.ways(rows):
        if tree is draft.old and tree.feature[node] < 0:
            of_leaf[node] = int(rows.counts(here).argmax())

    def below(top: int, some: Indices) -> Indices:
        found, stack = np.full(len(some), -1), [(top, np.arange(len(some)))]
        while stack:
            node, at = stack.pop()
            if draft.old.feature[node] < 0:
                found[at] = of_leaf.get(node, -1)
                continue
            inside = draft.inside(draft.old, node, rows.table[some[at], int(draft.old.feature[node])])
            stack += [(node + 1, at[inside]), (int(draft.old.second[node]), at[~inside])]
        return found

    return below


# ------------------------------------------------------------------------------------------------------------ in words


def _note_changes(ex: MeasuredTree, old: ThresholdTree, rows: _RuleRows, lost: float, by: str) -> MeasuredTree:
    """Return the explanation with a note on what changed in the tree."""
    reached = old.apply(rows.table)
    most = [int(rows.counts(rows.kept[reached[rows.kept] == leaf]).argmax()) for leaf in range(old.n_leaves)]
    named = old.relabeled(most)
    found = tree_changes(named, ex.tree)
    both = [cut for cut in found.gone if cut in found.new]  # the same cut, though it parts other clusters
    gone, came = (tuple(cut for cut in cuts if cut not in both) for cuts in (found.gone, found.new))
    changes = words(found._replace(gone=gone, new=came), ex.columns, ex._date_columns, ex._coded_columns)
    what = f"{100 * lost:.2g} points of agreement" if by == "agreement" else f"{100 * lost:.2g} % of cost"
    n, same = int((old.feature >= 0).sum()), found.n_same + len(both)
    note = f"{same} of {n} cuts of the earlier tree are kept, which costs {what}; {'; '.join(changes.splitlines())}"
    return replace(ex, notes=(*ex.notes, note))
