"""The flow of rows from old clusters to new ones: a picture by matplotlib."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._types import Floats
from boxwood.render.pictures.canvas import PLAIN, FigureColours, axes_or_new, drawable
from boxwood.render.pictures.colours import colour_of
from boxwood.words.figures import fitted, percent
from boxwood.words.values import cluster_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boxwood.explanation.living.results import MatchFacts

_BAR = 0.06  # width of the bars, where the picture is 1 wide
_GAP = 0.025  # between two bars
_SMALL = 0.002  # share of the rows from which on a band is drawn


def plot_flow(match: MatchFacts, ax: Axes | None = None) -> Axes:
    """Draw the rows that old and new clusters share as bands from left to right; see `Match.plot`."""
    from matplotlib.patches import PathPatch, Rectangle
    from matplotlib.path import Path

    shares = np.array(match.overlap)
    old, new = [one.name for one in match.old], [one.name for one in match.new]
    n = max(len(old), len(new)) + 1
    ax = axes_or_new(ax, 6.4, 1.0 + 0.5 * n)
    style = FigureColours(ax)
    same = {(old.index(name), new.index(other)) for name, other in match.same_names}
    ax.set(xlim=(-0.02, 1.02), ylim=(1.0 + _GAP * n, -_GAP))
    ax.set_axis_off()
    left, right = _tops(shares.sum(axis=1)), _tops(shares.sum(axis=0))
    sides = (0.0, left, shares.sum(axis=1), old, "left"), (1.0 - _BAR, right, shares.sum(axis=0), new, "right")
    for x, tops, sums, names, side in sides:
        for i, (name, top, share) in enumerate(_bars(names, tops, sums)):
            ax.add_patch(Rectangle((x, top), _BAR, share, facecolor=style.muted, edgecolor="none", gid=f"{side}{i}"))
            inside: dict[str, Any] = {"ha": side, "va": "center", "fontsize": 9, "color": style.ink, **PLAIN}
            text = drawable(f"{fitted(name, 150.0, 9.0)}  {percent(share)}")
            ax.text(_BAR + 0.012 if side == "left" else 1.0 - _BAR - 0.012, top + share / 2, text, zorder=3, **inside)
    starts, ends = left.copy(), right.copy()
    for i, j in np.ndindex(*shares.shape):
        wide = shares[i, j]
        if wide >= _SMALL:
            a, b, half = starts[i], ends[j], 0.5
            points = [(_BAR, a), (half, a), (half, b), (1 - _BAR, b), (1 - _BAR, b + wide), (half, b + wide)]
            points += [(half, a + wide), (_BAR, a + wide), (_BAR, a)]
            codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
            colour = colour_of(i) if (i, j) in same else style.line
            ax.add_patch(PathPatch(Path(points, codes), facecolor=colour, edgecolor="none", alpha=0.55, zorder=1))
        starts[i] += wide
        ends[j] += wide
    return ax


def _tops(sums: Floats) -> Floats:
    """Return where each bar begins."""
    return np.concatenate([[0.0], np.cumsum(sums[:-1] + _GAP)])


def _bars(names: Sequence[Hashable], tops: Floats, sums: Floats) -> Iterator[tuple[str, float, float]]:
    """Yield the name, the top and the share of each bar that has rows."""
    for name, top, share in zip([*map(cluster_name, names), "no cluster"], tops.tolist(), sums.tolist(), strict=True):
        if share >= _SMALL:
            yield name, top, share
