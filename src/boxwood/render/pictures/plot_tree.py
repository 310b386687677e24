"""The tree as a picture by matplotlib: it draws what `picture_of` has computed."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from boxwood.render.forms.text import title_lines_of
from boxwood.render.pictures.canvas import PLAIN, FigureColours, axes_or_new, drawable, mix_colours, points_per_unit
from boxwood.render.pictures.picture import Box, CutBox, Edge, LeafBox, Picture, picture_of
from boxwood.render.pictures.swatches import UNKNOWN, outline_of
from boxwood.words.values import fit_width, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boxwood.explanation.measured_tree import MeasuredTree

_POINTS = 0.72  # of a unit in a figure of our own, where texts then have 7 to 9 points
_LARGEST = 22.0  # inches of such a figure; a larger tree is drawn smaller
_KEY = 20.0  # height of a line of the key, in units
_TITLE, _LINE = 15.0, 24.0  # size of the letters of the title, and height of its lines; other figures have their own


def plot_tree(ex: MeasuredTree, ax: Axes | None = None) -> Axes:
    """Draw the tree; see `Explanation.plot`."""
    picture = picture_of(ex)
    key, title = _key(picture), [] if ax is not None else title_lines_of(ex, picture.width - 8.0, _TITLE)
    above = _LINE * len(title)
    top = above + _KEY * len(key) + 6.0
    height = picture.height + top
    scale = min(_POINTS / 72.0, _LARGEST / max(picture.width, height))
    ax = axes_or_new(ax, picture.width * scale, height * scale, fixed=True)
    ax.set(xlim=(0.0, picture.width), ylim=(picture.height, -top))
    ax.set_aspect("equal")
    ax.set_axis_off()
    painter = _Painter(ax, picture, points_per_unit(ax, picture.width, height))
    for i, words in enumerate(title):
        painter.title(words, -top + _LINE * (i + 1) - 6.0)
    for i, line in enumerate(key):
        painter.key(line, above - top + _KEY * i)
    for edge in picture.edges:
        painter.edge(edge)
    for cut in picture.cuts:
        painter.cut(cut)
    for leaf in picture.leaves:
        painter.leaf(leaf)
    painter.finish()
    return ax


def _key(picture: Picture) -> list[list[tuple[int, float, str]]]:
    """Return the lines of the key: the clusters of each, with the x where each begins, and its name."""
    lines: list[list[tuple[int, float, str]]] = [[]]
    x = 4.0
    for swatch in picture.swatches:
        name = fit_width(swatch.name, 150.0, 10.5)
        wide = 34.0 + text_width(name, 10.5) + 14.0
        if x + wide > picture.width and lines[-1]:
            lines.append([])
            x = 4.0
        lines[-1].append((swatch.cluster, x, name))
        x += wide
    return lines


class _Painter:
    """Draws boxes, texts and edges; the parts of clusters are gathered and drawn at the end, one artist for each."""

    def __init__(self, ax: Axes, picture: Picture, points: float) -> None:
        self.ax, self.picture, self.points = ax, picture, points
        self.style = FigureColours(ax)
        self.sizes = (11.0, 9.5) if picture.small else (12.0, 10.5)
        self.parts: dict[int, list[list[tuple[float, float]]]] = defaultdict(list)  # corners

    # ------------------------------------------------------------------------------------------------------ parts

    def title(self, words: str, y: float) -> None:
        self._text(4.0, y, words, _TITLE, weight="bold")

    def key(self, line: list[tuple[int, float, str]], y: float) -> None:
        for cluster, x, name in line:
            self._part(cluster, x, y + 2.0, 30.0, 15.0)  # with its pattern, which the bars have
            self._swatch(cluster, Box(x, y + 2.0, 18.0, 15.0), 10.0)
            self._text(x + 34.0, y + 13.0, name, 10.5)

    def edge(self, edge: Edge) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        (x, y), (stop, end) = edge.start, edge.stop
        half = (x + edge.turn) / 2
        codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4, Path.LINETO]
        path = Path([(x, y), (half, y), (half, end), (edge.turn, end), (stop, end)], codes)
        width, colour = edge.width * self.points, self.style.line
        self.ax.add_patch(PathPatch(path, fill=False, edgecolor=colour, linewidth=width, capstyle="butt", zorder=1))
        off = edge.width / 2 + 3.0
        y = end - off if edge.above else end + off + 0.75 * self.sizes[1]
        self._text(edge.turn - 5.0, y, edge.text, self.sizes[1], anchor="right")

    def cut(self, cut: CutBox) -> None:
        self._box(cut.box)
        box, (title, text) = cut.box, self.sizes
        first = box.y + title + 3.0
        number = f"{cut.number} "
        self._text(box.x + 8.0, first, number, title, colour=self.style.muted)
        self._text(box.x + 8.0 + text_width(number, title), first, cut.title, title, weight="bold")
        self._text(box.x + 8.0, box.y + box.height - 6.0, cut.note, text, colour=self.style.muted)
        if cut.bars is not None:
            self._bars(cut)

    def leaf(self, leaf: LeafBox) -> None:
        self._box(leaf.box)
        box, (title, text) = leaf.box, self.sizes
        small = self.picture.small
        self._swatch(leaf.cluster, Box(box.x + 8.0, box.y + 6.0, 22.0, 18.0 if small else 24.0), title)
        self._text(box.x + 36.0, box.y + (14.0 if small else 16.0), leaf.title, title, weight="bold")
        self._text(box.x + 36.0, box.y + (25.0 if small else 30.0), leaf.note, text)
        if not small:
            self._text(box.x + 8.0, box.y + box.height - 5.0, leaf.purity, text, colour=self.style.muted)
        area, x = leaf.area, leaf.area.x
        for cluster, rows in leaf.parts:
            wide = area.width * rows / (leaf.rows or 1.0)
            self._part(cluster, x, area.y, wide, area.height)
            x += wide

    def finish(self) -> None:
        """Draw the gathered parts of all clusters."""
        from matplotlib.collections import PolyCollection

        for cluster, parts in self.parts.items():
            known = cluster >= 0
            swatch = self.picture.swatches[cluster] if known else None
            self.ax.add_collection(
                PolyCollection(
                    parts,
                    facecolor=swatch.colour if swatch else UNKNOWN,
                    edgecolor=swatch.outline if swatch else outline_of(UNKNOWN),
                    hatch=swatch.hatch if swatch else "",
                    linewidth=0.5 * self.points,
                    zorder=3,
                ),
                autolim=False,
            )

    # ------------------------------------------------------------------------------------------------------ steps

    def _bars(self, cut: CutBox) -> None:
        bars, area, (_, text) = cut.bars, cut.area, self.sizes
        assert bars is not None
        edges, bottom = area.x + bars.at * area.width, area.y + area.height
        for cluster, i, low, top in bars.parts():
            self._part(
                cluster, edges[i], bottom - top * area.height, edges[i + 1] - edges[i], (top - low) * area.height
            )
        ink, thin = self.style.ink, self.points
        self.ax.plot([edges[0], edges[-1]], [bottom, bottom], color=self.style.muted, linewidth=0.6 * thin, zorder=4)
        for line in bars.lines:
            x = area.x + line.at * area.width
            self.ax.plot([x, x], [area.y - 3.0, bottom + 2.0], color=ink, linewidth=2.0 * thin, zorder=5)
        for label in cut.labels:
            anchor = {"start": "left", "middle": "center", "end": "right"}[label.anchor]
            colour, weight = (ink, "bold") if label.is_cut else (self.style.muted, "normal")
            self._text(label.x, bottom + text + 1.0, label.text, text, anchor=anchor, colour=colour, weight=weight)
        if bars.scale == "log":
            x, y = area.x + area.width, cut.box.y + cut.box.height - 6.0
            self._text(x, y, "log", text, anchor="right", colour=self.style.muted)

    def _part(self, cluster: int, x: float, y: float, width: float, height: float) -> None:
        self.parts[cluster].append([(x, y), (x + width, y), (x + width, y + height), (x, y + height)])

    def _swatch(self, cluster: int, box: Box, size: float) -> None:
        from matplotlib.patches import Rectangle

        swatch = self.picture.swatches[cluster]
        self.ax.add_patch(
            Rectangle(
                (box.x, box.y),
                box.width,
                box.height,
                facecolor=swatch.colour,
                edgecolor=swatch.outline,
                linewidth=0.8 * self.points,
                zorder=4,
            )
        )
        middle = box.x + box.width / 2, box.y + box.height / 2 + 0.36 * size
        self._text(*middle, swatch.mark, size, anchor="center", colour=swatch.ink, weight="bold")

    def _box(self, box: Box) -> None:
        from matplotlib.patches import FancyBboxPatch

        face = mix_colours(self.style.ink, self.style.face, 0.02)
        self.ax.add_patch(
            FancyBboxPatch(
                (box.x, box.y),
                box.width,
                box.height,
                boxstyle="round,pad=0,rounding_size=4",
                facecolor=face,
                edgecolor=self.style.line,
                linewidth=0.9 * self.points,
                zorder=2,
            )
        )

    def _text(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        *,
        anchor: str = "left",
        colour: str | None = None,
        weight: str = "normal",
    ) -> None:
        """Write a text whose baseline is at y; `size` is in units."""
        self.ax.text(
            x,
            y,
            drawable(text),
            fontsize=size * self.points,
            ha=anchor,
            va="baseline",
            color=colour or self.style.ink,
            fontweight=weight,
            zorder=6,
            **PLAIN,
        )
