"""Cuts on the plainer of two columns that say the same, as a wage and its logarithm, or a weight in two units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from boxwood._types import Array, Floats, Indices
from boxwood.grow.refinement.sets import LARGEST
from boxwood.reference import Task
from boxwood.reference.budget import Budget
from boxwood.reference.entry import LOOKED_AT, SAME
from boxwood.tree import ThresholdTree, TreeBuilder, between

FEW_ROWS = 20  # in fewer rows, columns are in the same order by chance


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
    return _exchanged(tree, table, rows, plainer) if plainer else tree


def _plainer(
    table: Array, rows: Indices, used: Sequence[int], numbers: Sequence[int], allowed: set[int]
) -> dict[int, list[int]]:
    """Return for columns of a tree those that say the same and are plainer, the plainest first."""
    columns = [j for j in numbers if j in used or j in allowed]
    if len(rows) < FEW_ROWS or len(columns) < 2 or not set(used) & set(columns):
        return {}
    some = np.asarray(table[rows[:: -(-len(rows) // LOOKED_AT)]][:, columns])
    ranks = np.stack([_ranks(x) for x in some.T], axis=1)
    lengths = np.sqrt(np.square(ranks).sum(axis=0))
    found = {}
    for i, j in enumerate(columns):
        if j in used:
            same = np.abs(ranks.T @ ranks[:, i]) >= SAME * lengths * lengths[i]
            others = [k for k in np.flatnonzero(same & (lengths > 0)).tolist() if columns[k] in allowed or k == i]
            order = sorted(others, key=lambda k: (*_digits(some[:, k]), columns[k])) if len(others) > 1 else [i]
            found[j] = [columns[k] for k in order[: order.index(i)]]
    return {j: others for j, others in found.items() if others}


def _ranks(x: Array) -> Floats:
    """Return the ranks of values, of equal ones their mean, less the mean of all ranks."""
    _, place, times = np.unique(x, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - (times + len(x)) / 2)[place])


def _digits(values: Array) -> tuple[bool, float]:
    """Return whether some number of a column is no whole one, and how many digits its numbers have in the mean.

    Only digits count that do not depend on rounding, such as that of scaled columns.
    """
    texts = [f"{x:.{6 if values.dtype == np.float32 else 12}e}".partition("e") for x in values[np.isfinite(values)]]
    numbers = [(begin.replace(".", "").lstrip("-").rstrip("0"), int(power)) for begin, _, power in texts]
    has_fractions = any(len(digits) - 1 > power for digits, power in numbers)
    return has_fractions, sum(len(digits) for digits, _ in numbers) / max(len(numbers), 1)


def _exchanged(tree: ThresholdTree, table: Array, rows: Indices, plainer: Mapping[int, Sequence[int]]) -> ThresholdTree:
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
