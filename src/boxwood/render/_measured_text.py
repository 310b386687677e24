"""Tables of what an explanation measured when it was asked: the frontier, and stability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from boxwood.render._figures import percent, shortened, width
from boxwood.render._rules import cluster_name, column_name, number

if TYPE_CHECKING:
    from boxwood.explanation._records import CutStability, Frontier, Stability

__all__ = ["frontier_text", "stability_text"]


def frontier_text(frontier: Frontier) -> str:
    """Return a line for each row of a frontier; an arrow marks the tree of the explanation."""
    header = ["leaves", "price", "agreement"]
    header += ["price, held out", "agreement, held out"] if frontier.folds else []
    lines = [header]
    for row in frontier:
        cells = [f"{row.leaves:,}", _price(row.price), percent(row.agreement)]
        if frontier.folds:
            cells += [_price(row.price_held_out), percent(row.agreement_held_out)]
        lines.append(cells)
    table = _aligned(lines)
    marks = ["", *("  <- this tree" if row.is_this else "" for row in frontier)]
    return "\n".join(line + mark for line, mark in zip(table, marks, strict=True))


def stability_text(stability: Stability) -> str:
    """Return the verdict, a line for each cluster, and a line for each cut."""
    clusters = [["cluster", "overlap", "low (5%)"]]
    clusters += [
        [shortened(cluster_name(one.name)), f"{one.jaccard:.2f}", f"{one.jaccard_low:.2f}"]
        for one in stability.clusters
    ]
    cuts = [["cut", "returns", "between"]]
    cuts += [
        [f"{column_name(one.column)} at {number(one.threshold)}", f"{one.returns:.0%}", _between(one)]
        for one in stability.cuts
    ]
    return "\n".join([stability.verdict, "", *_aligned(clusters, 1), "", *_aligned(cuts, 1)])


def _between(cut: CutStability) -> str:
    return "-" if cut.low is None or cut.high is None else f"{cut.low:.4g} and {cut.high:.4g}"


def _price(price: float | None) -> str:
    if price is None:
        return "-"
    return f"{price:.3f}" if price < 1000 else f"{price:.3g}"


def _aligned(lines: Sequence[Sequence[str]], n_left: int = 0) -> list[str]:
    """Return lines whose cells stand in columns: the first `n_left` to the left, the others to the right."""
    widths = [max(width(cells[i]) for cells in lines) for i in range(len(lines[0]))]
    return ["  ".join(_padded(cell, widths[i], i < n_left) for i, cell in enumerate(cells)) for cells in lines]


def _padded(cell: str, to: int, left: bool) -> str:
    space = " " * (to - width(cell))
    return cell + space if left else space + cell
