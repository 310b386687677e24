"""Rules that know every word: one that was never seen goes where most rows went at each cut."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boxwood._validation import refuse_unknown
from boxwood.explanation.measured_tree import Tree, with_rules
from boxwood.tree import ThresholdTree, TreeBuilder


def handle_unknown(ex: Tree, side: str) -> Tree:
    """See `Explanation.handle_unknown`."""
    refuse_unknown("side", side, ("majority",))
    coded = ex._coded_columns
    n_codes = {j: len(known.values) for j, known in coded.items() if not (known.others or known.are_truths)}
    if not n_codes:
        return ex
    sizes = [leaf.size for leaf in ex.leaves]
    tree, short = (each and _knowing_all(each, n_codes, sizes) for each in (ex.tree, ex._short))
    known = {j: each._replace(others=True) if j in n_codes else each for j, each in coded.items()}
    assert tree is not None
    return with_rules(ex, tree, known, short)


def _knowing_all(tree: ThresholdTree, n_codes: dict[int, int], sizes: Sequence[float]) -> ThresholdTree:
    """Return the tree whose cuts of codes have one code more, on the side of more rows; of equal ones the first."""
    builder, waiting, rows = TreeBuilder(), [(0, 0)], _rows_below(tree, sizes)
    while waiting:
        node, new = waiting.pop()
        if tree.feature[node] < 0:
            builder.label(new, int(tree.cluster[node]))
            continue
        test, second = tree.test(node), int(tree.second[node])
        if (m := n_codes.get(test.feature)) is None:
            children = builder.split(new, test.feature, test.upper, test.lower, test.members)
        else:
            inside = tree.is_inside(node, np.arange(float(m)))
            codes = [code for code in range(m) if inside[code]]
            children = builder.split_set(new, test.feature, [*codes, m] if rows[node + 1] >= rows[second] else codes)
        waiting += zip((second, node + 1), children[::-1], strict=True)
    return builder.build()


def _rows_below(tree: ThresholdTree, sizes: Sequence[float]) -> list[float]:
    """Return the rows that reach each node; IN: sizes: those of the leaves, in their order."""
    rows, leaves = [0.0] * tree.n_nodes, iter(sizes[::-1])
    for node in range(tree.n_nodes - 1, -1, -1):  # children lie behind their parents
        is_leaf = tree.feature[node] < 0
        rows[node] = next(leaves) if is_leaf else rows[node + 1] + rows[int(tree.second[node])]
    return rows
