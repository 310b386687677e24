"""The flow of rows from old clusters to new ones: a picture by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boxwood.render.pictures.canvas import PLAIN, FigureColours, axes_or_new, drawable
from boxwood.render.pictures.flow import BAR, flow_of
from boxwood.render.pictures.swatches import colour_of
from boxwood.words.values import fit_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boxwood.explanation.living.results import MatchFacts


def plot_flow(match: MatchFacts, ax: Axes | None = None) -> Axes:
    """Draw the rows that old and new clusters share as bands from left to right; see `Match.plot`."""
    flow = flow_of(match)
    ax = axes_or_new(ax, 6.4, 1.0 + 0.3 * len(flow.bars))
    from matplotlib.patches import PathPatch, Rectangle
    from matplotlib.path import Path

    style = FigureColours(ax)
    ax.set(xlim=(-0.02, 1.02), ylim=(flow.height + 0.03, -0.03))
    ax.set_axis_off()
    for bar in flow.bars:
        x, side, at = (0.0, "left", BAR + 0.012) if bar.is_left else (1.0 - BAR, "right", 1.0 - BAR - 0.012)
        ax.add_patch(Rectangle((x, bar.top), BAR, bar.height, facecolor=style.muted, edgecolor="none"))
        options: dict[str, Any] = {"ha": side, "va": "center", "fontsize": 9, "color": style.ink, "zorder": 3, **PLAIN}
        ax.text(at, bar.top + bar.height / 2, drawable(f"{fit_width(bar.name, 150.0, 9.0)}  {bar.share}"), **options)
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    for start, end, width, cluster in flow.bands:
        upper = [(BAR, start), (0.5, start), (0.5, end), (1 - BAR, end)]
        lower = [(1 - BAR, end + width), (0.5, end + width), (0.5, start + width), (BAR, start + width)]
        colour = style.line if cluster is None else colour_of(cluster)
        path = Path([*upper, *lower, upper[0]], codes)
        ax.add_patch(PathPatch(path, facecolor=colour, edgecolor="none", alpha=0.55, zorder=1))
    return ax
