"""The frontier as two charts and a table, and stability as tables, as plain data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from boxwood.render.pictures.swatches import Swatch
from boxwood.words.measured import ENOUGH, _between, _cut_name, _price
from boxwood.words.values import percent

if TYPE_CHECKING:
    from boxwood.explanation.records import Frontier, Stability

_WIDTH, _HEIGHT = 440.0, 190.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 16.0, 22.0, 34.0  # margins
_MOST_TICKS = 10
_STEPS = [factor * 10**power for power in range(9) for factor in (1, 2, 5)]


def frontier_charts(frontier: Frontier, *, price: bool) -> dict[str, Any]:
    """Return two charts over the number of leaves, price and agreement, and the table of both.

    IN: price: whether it is shown.
    """
    prunings, this = [row for row in frontier if not row.is_this], frontier.this
    charts = [
        _chart(
            "Price",
            [(row.leaves, row.price) for row in prunings],
            [(row.leaves, row.price_held_out) for row in prunings],
            (this.leaves, this.price),
            _price,
        ),
        _chart(
            "Agreement",
            [(row.leaves, row.agreement) for row in prunings],
            [(row.leaves, row.agreement_held_out) for row in prunings],
            (this.leaves, this.agreement),
            percent,
        ),
    ]
    return {
        "charts": [chart for chart in charts[0 if price else 1 :] if chart is not None],
        "price": price,
        "folds": frontier.folds,
        "rows": [
            {
                "leaves": f"{row.leaves:,}",
                "price": _price(row.price),
                "agreement": percent(row.agreement),
                "price_held_out": _price(row.price_held_out),
                "agreement_held_out": percent(row.agreement_held_out),
                "is_this": row.is_this,
            }
            for row in frontier
        ],
    }


def stability_tables(stability: Stability, swatches: Sequence[Swatch]) -> dict[str, Any]:
    """Return the verdict, and the tables of clusters and of cuts."""
    return {
        "verdict": stability.verdict,
        "n": f"{stability.n:,}",
        "is_enough": stability.n >= ENOUGH,
        "clusters": [
            {
                "swatch": swatches[one.cluster],
                "overlap": f"{one.jaccard:.2f}",
                "low": f"{one.jaccard_low:.2f}",
                "bar": round(100 * one.jaccard, 1),
            }
            for one in stability.clusters
        ],
        "cuts": [
            {
                "test": _cut_name(one),
                "returns": f"{one.returns:.0%}",
                "between": _between(one),
            }
            for one in stability.cuts
        ],
    }


class _Scale:
    """Places of leaves and values in a chart; both axes are linear."""

    def __init__(self, leaves: Sequence[int], values: Sequence[float]) -> None:
        self.first, self.last = min(leaves), max(max(leaves), min(leaves) + 1)
        low, high = min(values), max(values)
        room = (high - low) * 0.08 or abs(high) * 0.1 or 0.1
        self.low, self.high = low - room, high + room

    def x(self, leaves: float) -> float:
        return round(_LEFT + (leaves - self.first) / (self.last - self.first) * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)


def _chart(name: str, points: Any, held_out: Any, this: tuple[int, float], words: Any) -> dict[str, Any] | None:
    """Return a chart of values over leaves; None if fewer than two of them are finite."""
    known, other = ([one for one in line if _finite(one[1])] for line in (points, held_out))
    if len(known) < 2:
        return None
    shown = [*known, *other, *([this] if _finite(this[1]) else [])]
    scale = _Scale([one[0] for one in shown], [one[1] for one in shown])
    step = next(step for step in _STEPS if (scale.last - scale.first) / step <= _MOST_TICKS)
    ticks = range(math.ceil(scale.first / step) * step, scale.last + 1, step)
    levels = [scale.low + (scale.high - scale.low) * share for share in (0.08 / 1.16, 0.5, 1.08 / 1.16)]
    return {
        "name": name,
        "width": _WIDTH,
        "height": _HEIGHT,
        "bottom": _HEIGHT - _BOTTOM,
        "line": " ".join(f"{scale.x(x)},{scale.y(y)}" for x, y in known),
        "dots": [(scale.x(x), scale.y(y)) for x, y in known],
        "held_out": " ".join(f"{scale.x(x)},{scale.y(y)}" for x, y in other),
        "ticks": [(scale.x(leaves), f"{leaves:,}") for leaves in ticks],
        "levels": [(scale.y(level), words(round(level, 9))) for level in levels],
        "left": _LEFT,
        "right": _WIDTH - _RIGHT,
        "told": f"{name} from {words(known[0][1])} at {known[0][0]} leaves to {words(known[-1][1])} at {known[-1][0]}",
        "this": _mark(scale, *this, words, rises=known[-1][1] > known[0][1]),
    }


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _mark(scale: _Scale, leaves: int, value: float, words: Any, *, rises: bool) -> dict[str, Any] | None:
    """Return the place of this tree and its value, off the line if there is room; None where that is infinite."""
    if not _finite(value):
        return None
    x, y = scale.x(leaves), scale.y(value)
    anchor = "start" if x < _LEFT + 60 else "end" if x > _WIDTH - _RIGHT - 60 else "middle"
    return {
        "x": x,
        "y": y,
        "text": f"this tree {words(value)}",
        "anchor": anchor,
        "text_y": y - 9 if y > (_HEIGHT - _BOTTOM - 24 if rises else 34) else y + 20,
    }
