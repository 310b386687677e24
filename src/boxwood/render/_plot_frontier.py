"""The frontier as a picture by matplotlib: leaves against price or agreement."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from boxwood.render._canvas import PLAIN, Style, axes_or_new
from boxwood.render._colours import COLOURS
from boxwood.render._figures import of_leaves, percent, price

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boxwood.explanation import Explanation, Frontier, FrontierRow

__all__ = ["plot_frontier"]


def plot_frontier(ex: Explanation, ax: Axes | None = None) -> Axes:
    """Draw the frontier; see `Explanation.plot_frontier`."""
    ax = axes_or_new(ax, 6.0, 4.0)
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    frontier, style = ex.frontier(), Style(ax)
    by_price = shows_price(frontier)
    pruned = [row for row in frontier if not row.is_this]
    held_out = [row for row in pruned if math.isfinite(_held_out(row, by_price))]
    small: dict[str, Any] = {"markersize": 6.0 if len(pruned) <= 20 else 3.5, "zorder": 3}
    if pruned:
        xy = [row.leaves for row in pruned], [_value(row, by_price) for row in pruned]
        ax.plot(*xy, marker="o", color=COLOURS[0], label="rows explained", **small)
    if held_out:
        xy = [row.leaves for row in held_out], [_held_out(row, by_price) for row in held_out]
        ax.plot(*xy, marker="s", linestyle="--", color=COLOURS[1], label=f"held out ({frontier.folds} folds)", **small)
    this = frontier.this
    options: dict[str, Any] = {"marker": "D", "markersize": 9, "color": style.ink, "linestyle": "none", "zorder": 4}
    ax.plot([this.leaves], [_value(this, by_price)], label=_words(this), **options)
    ax.set_xlabel("leaves", **PLAIN)
    ax.set_ylabel("price of explainability" if by_price else "agreement", **PLAIN)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if not by_price:
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.grid(color=style.line, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)
    ax.legend(frameon=False, loc="upper right" if by_price else "lower right")
    return ax


def shows_price(frontier: Frontier) -> bool:
    """Return whether the price is drawn: it is where prunings have the least cost, and all prices are finite."""
    return frontier.objective == "cost" and all(math.isfinite(row.price) for row in frontier)


def _value(row: FrontierRow, by_price: bool) -> float:
    return row.price if by_price else row.agreement


def _held_out(row: FrontierRow, by_price: bool) -> float:
    value = row.price_held_out if by_price else row.agreement_held_out
    return math.nan if value is None else value


def _words(row: FrontierRow) -> str:
    times = f"price {price(row.price)}, " if math.isfinite(row.price) else ""
    return f"this tree: {of_leaves(row.leaves)}, {times}agreement {percent(row.agreement)}"
