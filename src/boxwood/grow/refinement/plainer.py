"""Words that cuts name: as few as say the same, and how much of what they gain is the luck of the rows seen.

Words are not free: a reader who is told eleven states, where one region says the same, is told less. So of the cuts of
a node that are as good as its own that which names the fewest words is taken, on the same column without the words that
change nothing, or on another column, of words or of numbers.

Nor are they certain. Each word was put on its side by its own rows. What other rows of the same word say of a row tells
how much new rows would lose by that; no second tree is grown for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood.grow.refinement.sets import AtNode, NewCut, SetState, best_set, best_threshold, sets_of
from boxwood.reference import Task
from boxwood.reference.budget import NO_BUDGET, Budget
from boxwood.reference.mixed import CodedColumns
from boxwood.tree import ThresholdTree

NUMBER = 2  # words that a cut of numbers counts for, and one of words in their order


def with_fewer_words(
    tree: ThresholdTree,
    table: Array,
    task: Task,
    loss: str,
    columns: CodedColumns,
    *,
    budget: Budget = NO_BUDGET,
) -> ThresholdTree:
    """Return the tree with cuts that name fewer words and lose no more; see `refined_categories`.

    A cut names the words of the smaller of its sides, of those that rows of its node have. A number counts for two, and
    so does a set of words in their order.

    Returns
    -------
    ThresholdTree
        Always holds: the shape is the same, up to exchanged sides; no cut names more words; leaves keep their clusters,
        and no leaf loses all of its rows, or all rows of its own cluster. The loss is not higher, under the costs that
        the task has, on the 100 000 rows that decide where there are more.

    Notes
    -----
    Cuts are visited from the root down, with the tree below as it is; those on preferred columns stay. Words that
    matter alike stay or go together, so that their names do not decide. Of cuts that name as many words that of the
    lower loss is taken, and of equal ones the first, by column.
    """
    alike = columns.alike
    words = {j: np.ones(m, dtype=np.intp) for j, m in columns.codes.items() if j not in columns.ordered}
    words |= {j: np.bincount(at, minlength=columns.codes[j]) for j, at in alike.items()}
    if not words.keys() & set(tree.features.tolist()):
        return tree
    usable = budget.allowed(table.shape[1])
    if budget.max_columns is not None:
        usable = tuple(j for j in usable if j in set(tree.features.tolist()))
    plain = _Columns(words, sets_of(columns), frozenset(columns.gaps), usable, alike)
    draft = SetState(tree, table, task, loss, budget, alike)
    for node, rows in draft.rows_of_cuts():
        if draft.feature[node] in words and draft.feature[node] not in budget.preferred:
            _shorten(draft, node, rows, plain)
    return draft.built()


class _Columns(NamedTuple):
    """The columns that cuts may test."""

    words: Mapping[int, Indices]  # for columns without an order, for each code the number of words that it stands for
    sets: Mapping[int, Bools]  # for columns with an order, the sets of codes that may go to the first child
    gaps: frozenset[int]
    usable: tuple[int, ...]
    alike: Mapping[int, Indices]

    def cuts(self, draft: SetState, rows: Indices, here: AtNode, named: int) -> Iterator[tuple[int, NewCut]]:
        """Yield cuts of the rows of a node that lose no more than its own, with how many words they name.

        IN: named: the number of words that is too many.
        """
        for j in self.usable if named > 1 else ():
            x = draft.values[rows, j]
            if j in self.words:
                yield from self._sets(j, x.astype(np.intp), here)
            elif named > NUMBER:
                yield from ((NUMBER, cut) for cut in self._in_order(j, x, here.difference) if cut.total <= here.total)

    def _in_order(self, feature: int, x: Floats, difference: Ints) -> Iterator[NewCut]:
        """Yield the best cuts of numbers, or of words in their order."""
        if feature in self.sets:
            sets = self.sets[feature]
            return best_set(feature, sets.shape[1], sets, x.astype(np.intp), difference)
        order = np.argsort(x, kind="stable")
        found = best_threshold(feature, x[order], difference[order])
        return (cut for cut in found if feature in self.gaps or np.isneginf(cut.lower))

    def _sets(self, feature: int, codes: Indices, here: AtNode) -> Iterator[tuple[int, NewCut]]:
        """Yield sets that name few words: those of each side, without the ones that matter least."""
        words = self.words[feature]
        sums, rows = np.zeros(len(words), dtype=np.int64), np.bincount(codes, minlength=len(words))
        np.add.at(sums, codes, here.difference)
        present, spare = rows > 0, here.total - int(sums[sums < 0].sum())
        for sign in (-1, 1) if spare >= 0 else ():
            sizes = np.maximum(sign * sums, 0)
            for may_go in (spare, 0):
                named = (sizes > 0) & ~_hardly_matter(sizes, may_go)
                if not named.any() or named[present].all():
                    continue
                goes_first = named if sign < 0 else present & ~named
                n_words = min(int(words[named].sum()), int(words[present & ~named].sum()))
                yield n_words, NewCut.of_set(feature, goes_first, sums, rows, self.alike.get(feature))


def _hardly_matter(sizes: Ints, most: int) -> Bools:
    """Return the words of least size, as many as add up to no more than `most`.

    Those of equal size go together, and those of the largest one stay.
    """
    each, times = np.unique(sizes, return_counts=True)
    fits = (np.cumsum(each * times) <= most) & (each < each[-1])
    return np.asarray(sizes <= each[fits][-1]) if fits.any() else np.zeros(len(sizes), dtype=np.bool_)


def _shorten(draft: SetState, node: int, rows: Indices, columns: _Columns) -> None:
    """Give a node the cut that names the fewest words, of those that lose no more than its own."""
    here = draft.at(node, rows)
    named = _words_named(draft, node, rows, here.goes_first, columns)
    fewer = [one for one in columns.cuts(draft, rows, here, named) if one[0] < named]
    for _, cut in sorted(fewer, key=lambda one: (one[0], one[1].total, one[1].feature)):
        if draft.may_take(rows, here, cut):
            draft.take(node, cut)
            return


def _words_named(draft: SetState, node: int, rows: Indices, goes_first: Bools, columns: _Columns) -> int:
    codes, words = draft.values[rows, draft.feature[node]].astype(np.intp), columns.words[draft.feature[node]]
    return min(int(words[np.unique(codes[side])].sum()) for side in (goes_first, ~goes_first))


def luck_of_words(
    tree: ThresholdTree, table: Array, task: Task, loss: str, words: Collection[int], alike: Mapping[int, Indices]
) -> float:
    """Return how much of its loss a tree owes to luck: what is lost if other rows choose the side of each word.

    A row goes where the other rows of its word go at each cut on one of the columns `words`; where there are none, or
    they are undecided, it goes with most rows of the node. For the loss "mistakes" it is a share of all rows, by
    weight, and for "cost" one of the tree's cost under the centres of the task. Each cut counts by itself, with the
    tree below as it is.
    """
    draft = SetState(tree, table, task, loss, NO_BUDGET, alike)
    more, lost = 0, 0
    for node, rows in draft.rows_of_cuts():
        here = draft.at(node, rows)
        if node == 0:
            own = np.asarray(draft.cluster)[np.where(here.goes_first, *here.below)]
            lost = int(draft.costs.max(axis=1).sum() if loss == "mistakes" else draft.costs[rows, own].sum())
        if draft.feature[node] in words:
            codes = draft.values[rows, draft.feature[node]].astype(np.intp)
            sums = np.zeros(codes.max() + 1, dtype=np.int64)
            np.add.at(sums, codes, here.difference)
            others = sums[codes] - here.difference
            goes_first = np.where(others == 0, 2 * here.goes_first.sum() > len(rows), others < 0)
            more += int(here.difference[goes_first].sum()) - here.total
    return max(more, 0) / lost if lost else 0.0
