"""Cuts said plainer where nothing is lost: in fewer words, whose gain may be luck, and on plainer columns.

Words are not free: a reader who is told eleven states, where one region says the same, is told less. So of the cuts of
a node that are as good as its own that which names the fewest words is taken, on the same column without the words that
change nothing, or on another column, of words or of numbers.

Nor are they certain. Each word was put on its side by its own rows. What other rows of the same word say of a row tells
how much new rows would lose by that; no second tree is grown for it.

Of two columns that say the same, as a wage and its logarithm, or a weight in two units, the plainer one is cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood.grow.refinement.sets import LARGEST, AtNode, NewCut, SetState, best_set, best_threshold, sets_of
from boxwood.reference import Task
from boxwood.reference.budget import NO_BUDGET, Budget
from boxwood.reference.entry import LOOKED_AT, SAME
from boxwood.reference.mixed import CodedColumns
from boxwood.reference.ranks import nearness_of_ranks
from boxwood.tree import ThresholdTree, TreeBuilder, between

FEW_ROWS = 20  # in fewer rows, columns are in the same order by chance
NUMBER = 2  # words that a cut of numbers counts for, and one of words in their order


def with_fewer_words(
    tree: ThresholdTree, table: Array, task: Task, loss: str, columns: CodedColumns, *, budget: Budget = NO_BUDGET
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
    return draft.build()


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


def on_plainer_columns(
    tree: ThresholdTree, table: Array, task: Task, numbers: Sequence[int], budget: Budget
) -> ThresholdTree:
    """Return the tree with each threshold on the plainest column of numbers that says the same.

    Two columns say the same if their ranks correlate by at least 0.99, up or down, on 2 000 rows; 20 are enough. A cut
    moves only if the same kept rows go to each side. The plainest column is one of whole numbers, then that whose
    values have the fewest digits, then the first of the table. Cuts on preferred columns stay, and so do two-sided
    ones.

    IN: table (n, d): the rows of the task in the columns that the tree cuts, infinity for a missing number; numbers:
    the columns that may be exchanged.
    """
    rows = np.flatnonzero(task.kept)
    allowed = set(budget.allowed(table.shape[1])) if budget.max_columns is None else set(tree.features.tolist())
    plainer = _plainer(table, rows, [j for j in tree.features.tolist() if j not in budget.preferred], numbers, allowed)
    return _exchange_cuts(tree, table, rows, plainer) if plainer else tree


def _plainer(
    table: Array, rows: Indices, used: Sequence[int], numbers: Sequence[int], allowed: set[int]
) -> dict[int, list[int]]:
    """Return for columns of a tree those that say the same and are plainer, the plainest first."""
    columns = [j for j in numbers if j in used or j in allowed]
    if len(rows) < FEW_ROWS or len(columns) < 2 or not set(used) & set(columns):
        return {}
    some = np.asarray(table[rows[:: -(-len(rows) // LOOKED_AT)]][:, columns])
    same = nearness_of_ranks(some) >= SAME
    found = {}
    for i, j in enumerate(columns):
        if j in used:
            others = [k for k in np.flatnonzero(same[i]).tolist() if columns[k] in allowed or k == i]
            order = sorted(others, key=lambda k: (*count_digits(some[:, k]), columns[k])) if len(others) > 1 else [i]
            found[j] = [columns[k] for k in order[: order.index(i)]]
    return {j: others for j, others in found.items() if others}


def count_digits(values: Array) -> tuple[bool, float]:
    """Return whether some number of a column is no whole one, and how many digits its numbers have in the mean.

    Only digits count that do not depend on rounding, such as that of scaled columns.
    """
    texts = [f"{x:.{6 if values.dtype == np.float32 else 12}e}".partition("e") for x in values[np.isfinite(values)]]
    numbers = [(begin.replace(".", "").lstrip("-").rstrip("0"), int(power)) for begin, _, power in texts]
    has_fractions = any(len(digits) - 1 > power for digits, power in numbers)
    return has_fractions, sum(len(digits) for digits, _ in numbers) / max(len(numbers), 1)


def _exchange_cuts(
    tree: ThresholdTree, table: Array, rows: Indices, plainer: Mapping[int, Sequence[int]]
) -> ThresholdTree:
    builder, waiting = TreeBuilder(), [(0, 0, rows)]
    while waiting:
        node, new, here = waiting.pop()
        if tree.feature[node] < 0:
            builder.label(new, int(tree.cluster[node]))
            continue
        test = tree.test(node)
        inside = tree.is_inside(node, table[here, test.feature].astype(np.float64))
        sides, swaps = (here[inside], here[~inside]), False
        if np.isneginf(test.lower) and not test.members:
            for other in plainer.get(test.feature, ()):
                values = [table[side, other].astype(np.float64) for side in sides]
                found = [_threshold(*pair) for pair in (values, values[::-1])]
                if (upper := found[0] if found[1] is None else found[1]) is not None:
                    test, swaps = test._replace(feature=other, upper=upper), found[0] is None
                    break
        children = builder.split(new, *test)
        old = ((node + 1, sides[0]), (int(tree.second[node]), sides[1]))
        for (below, of_side), child in zip(old, children[::-1] if swaps else children, strict=True):
            waiting.append((below, child, of_side))
    return builder.build()


def _threshold(low: Floats, high: Floats) -> float | None:
    """Return a threshold between two groups of values, of which none of the first may be missing; None without one."""
    if not (len(low) and len(high)) or not low.max() < high.min():
        return None
    return LARGEST if np.isinf(high.min()) else float(between(float(low.max()), float(high.min())))
