"""Two clusters against each other as a picture by matplotlib: a bar for each column that differs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from boxwood.render.pictures.canvas import PLAIN, FigureColours, axes_or_new, drawable
from boxwood.render.pictures.swatches import Swatch, swatches_of
from boxwood.words.contrast import MOST, say_difference
from boxwood.words.values import cluster_name, fit_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boxwood.explanation.measure.contrast import Contrast, Difference
    from boxwood.explanation.measured_tree import MeasuredTree

WIDTH, SIZE = 230.0, 9.0  # most of a name, and its letters, in points


def plot_contrast(ex: MeasuredTree, first: Hashable, second: Hashable | None, ax: Axes | None = None) -> Axes:
    """Draw how two clusters differ; see `Explanation.plot_contrast`."""
    from boxwood.explanation.measure.contrast import contrast_of

    contrast = contrast_of(ex, first, second)
    swatches = dict(zip(ex.names, swatches_of(ex.names), strict=True))
    drawn = contrast.differences[:MOST]
    ax = axes_or_new(ax, 6.8, 1.3 + 0.3 * max(len(drawn), 1))
    style = FigureColours(ax)
    for y, one in enumerate(drawn):
        _bar(ax, y, one, _side(contrast, one, swatches), style)
    names = [fit_width(say_difference(one), WIDTH, SIZE) for one in drawn]
    ax.set_yticks(range(len(drawn)), list(map(drawable, names)), fontsize=SIZE, **PLAIN)
    ax.set_ylim(max(len(drawn), 1) - 0.3, -0.7)
    ax.axvline(0.0, color=style.ink, linewidth=0.8)
    sides = [drawable(fit_width(cluster_name(name), WIDTH, SIZE)) for name in contrast.names]
    ax.set_xlabel(
        f"more in {sides[1]}  ←  standard deviations  →  more in {sides[0]}\nlines are intervals of 95%",
        fontsize=SIZE,
        **PLAIN,
    )
    ax.grid(axis="x", color=style.line, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)
    return ax


def _side(contrast: Contrast, one: Difference, swatches: dict[Hashable, Swatch]) -> Swatch | None:
    """Return the swatch of the cluster that has more, None for all others together."""
    return swatches.get(contrast.names[int(one.effect < 0)])


def _bar(ax: Axes, y: int, one: Difference, swatch: Swatch | None, style: FigureColours) -> None:
    colour, edge = (style.line, style.ink) if swatch is None else (swatch.colour, swatch.outline)
    ax.barh(y, one.effect, height=0.6, color=colour, edgecolor=edge, linewidth=0.8)
    if one.low is not None and one.high is not None and one.difference != 0:
        unit = one.effect / one.difference  # as many standard deviations as one of the column's own units
        ax.plot([one.low * unit, one.high * unit], [y, y], color=style.ink, linewidth=1.5)
