"""Stability as a picture by matplotlib: how surely clusters and cuts are found again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boxwood.render._canvas import PLAIN, Style, axes_or_new, drawable
from boxwood.render._colours import COLOURS
from boxwood.render._cut_words import Sides, codes_at_cuts, cut_words
from boxwood.render._fitted import brief, fitted, short_number, text_width
from boxwood.render._picture import swatches_of
from boxwood.render._rules import column_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boxwood.explanation import CutStability, Explanation, Stability

__all__ = ["plot_stability"]

LOST, STABLE = 0.5, 0.75
WIDTH, SIZE = 230.0, 9.0  # most of a name on the axis, and its letters, in points
_LEGEND = "●  overlap with the cluster found again (5% are below |)\n◆  share of trees that test the column"


def plot_stability(ex: Explanation, ax: Axes | None = None) -> Axes:
    """Draw stability; see `Explanation.plot_stability`."""
    stability: Stability = ex._kept.get("stability") or ex.stability()
    codes = codes_at_cuts(ex.tree, ex.coded_columns)
    # a cut of categories has two ends in codes, but is one condition
    cuts = [*{(cut.node, cut.node in codes or cut.threshold): cut for cut in stability.cuts}.values()]
    clusters = stability.clusters
    n = len(clusters) + len(cuts)
    ax = axes_or_new(ax, 6.8, 1.2 + 0.3 * (n + 1))
    style, swatches = Style(ax), swatches_of(ex.names)
    ax.axvspan(0.0, LOST, color=style.ink, alpha=0.08, linewidth=0)
    ax.axvspan(LOST, STABLE, color=style.ink, alpha=0.04, linewidth=0)
    names = []
    for y, one in enumerate(clusters):
        swatch = swatches[one.cluster]
        dot: dict[str, Any] = {
            "marker": "o",
            "markersize": 8,
            "color": swatch.colour,
            "markeredgecolor": swatch.outline,
        }
        ax.plot([one.jaccard_low, one.jaccard], [y, y], color=swatch.outline, linewidth=2.0, zorder=2)
        ax.plot([one.jaccard_low], [y], marker="|", markersize=9, color=swatch.outline, zorder=3)
        ax.plot([one.jaccard], [y], zorder=4, **dot)
        names.append(fitted(swatch.name, WIDTH, SIZE))
    for y, cut in enumerate(cuts, len(clusters) + 1):
        ax.plot([0.0, cut.returns], [y, y], color=style.line, linewidth=1.5, zorder=2)
        ax.plot([cut.returns], [y], marker="D", markersize=6, color=COLOURS[0], zorder=4)
        names.append(_cut(ex, cut, codes))
    places = [*range(len(clusters)), *range(len(clusters) + 1, n + 1)]
    ax.set_yticks(places, list(map(drawable, names)), fontsize=SIZE, **PLAIN)
    ax.set(xlim=(-0.02, 1.02), ylim=(n + 0.7, -0.7))
    ax.set_xlabel(_LEGEND, fontsize=9, **PLAIN)
    ax.grid(axis="x", color=style.line, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)
    return ax


def _cut(ex: Explanation, cut: CutStability, codes: dict[int, Sides]) -> str:
    """Return a cut in words, with the range in which its threshold lies on other rows; a long name makes room."""
    if cut.node in codes:
        return fitted(cut_words(ex, cut.node, codes[cut.node]).full[0], WIDTH, SIZE)
    rest = f" at {short_number(cut.threshold)}"
    if cut.low is not None and cut.high is not None:
        rest += f" ({brief(cut.low)} to {brief(cut.high)})"
    return fitted(column_name(cut.column), WIDTH - text_width(rest, SIZE), SIZE) + rest
