"""The tree of an explanation as text, with names, rows and shares at its leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood.axes import Categories
from boxwood.render._figures import percent, shortened, size, width
from boxwood.render._outline import outline_lines, sides, too_deep
from boxwood.render._rules import cluster_name, column_name, condition, explanation_of, number
from boxwood.render._text import text
from boxwood.render._walk import Step
from boxwood.tree import Box, Interval
from boxwood.tree._boxes import boxes

if TYPE_CHECKING:
    from boxwood.explanation import Explanation

__all__ = ["full_text", "tree"]


def full_text(model: Any) -> str:
    """Return the summary of an explanation, and below it the tree; see `Explanation.to_text`."""
    ex = explanation_of(model)
    return f"{text(ex)}\n\n{tree(ex)}"


def tree(model: Any) -> str:
    """Return the tree of an explanation: a line for each side of a cut, and for each leaf with its cluster and rows.

    The lines have the shape of scikit-learn's `export_text`. A leaf tells how many rows of the explained table it
    holds, or their weight, and which share of all that is. Columns of words are cut in words.
    """
    ex = explanation_of(model)
    if too_deep(ex.tree) is not None:
        return f"(A tree of depth {ex.tree.depth:,} is too deep for a text; the rules say the same.)"
    lines = outline_lines(ex.tree, _Words(ex).tests, lambda node: _leaf_name(ex, node))
    ends = _ends(ex)
    widest = max(width(line) for line, node in lines if node >= 0)
    return "\n".join(line if node < 0 else f"{_padded(line, widest)}  {ends[node]}" for line, node in lines)


def _leaf_name(ex: Explanation, node: int) -> str:
    return shortened(cluster_name(ex.names[int(ex.tree.cluster[node])]))


def _ends(ex: Explanation) -> dict[int, str]:
    """Return the rows and the share of each leaf, by its node."""
    sizes = [leaf.size for leaf in ex.leaves]
    whole = sum(sizes) or 1
    counts = [size(rows) for rows in sizes]
    shares = [percent(rows / whole) for rows in sizes]
    longest, widest = max(map(len, counts)), max(map(len, shares))
    nouns = ["of weight" if ex.weighted else "row " if rows == 1 else "rows" for rows in sizes]
    parts = zip(counts, nouns, shares, strict=True)
    texts = [f"{count.rjust(longest)} {noun}  {share.rjust(widest)}" for count, noun, share in parts]
    return dict(zip(np.flatnonzero(ex.tree.feature < 0).tolist(), texts, strict=True))


def _padded(line: str, widest: int) -> str:
    return line + " " * (widest - width(line))


class _Words:
    """The words for the cuts of an explanation."""

    def __init__(self, ex: Explanation) -> None:
        self.ex, self.known = ex, ex.coded_columns
        of_words = [node for node, j in enumerate(ex.tree.feature.tolist()) if j in self.known]
        sides_of_them = sorted({child for node in of_words for child in (node + 1, int(ex.tree.second[node]))})
        found = boxes(ex.tree, sides_of_them) if of_words else []
        self.boxes: dict[int, Box] = dict(zip(sides_of_them, found, strict=True))

    def tests(self, step: Step) -> tuple[str, str]:
        """Return the tests of the two sides of a cut."""
        tree, node = self.ex.tree, step.node
        feature = int(tree.feature[node])
        if feature in self.known:
            known = self.known[feature]
            return self._values(feature, node + 1, known), self._values(feature, int(tree.second[node]), known)
        name = column_name(self.ex.columns[feature])
        return sides(name, float(tree.lower[node]), float(tree.upper[node]), number)

    def _values(self, feature: int, child: int, known: Categories) -> str:
        """Return the values with which rows come to a node below a cut of a column of words."""
        from boxwood.explanation import Condition

        pieces = self.boxes[child][feature]
        codes = [code for code, _ in known.domain if any(code in piece for piece in pieces)]
        held = tuple(Interval(code, code, True, True) for code in codes)
        return condition(Condition(self.ex.columns[feature], held, known))
