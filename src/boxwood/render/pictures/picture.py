"""`picture_of`: the picture of a tree as plain data, for both painters: matplotlib, and the SVG of the report.

Places are in units of about a pixel at full size, from the top left corner, y downwards. The tree grows from left to
right: leaves evenly spaced in one column at the right, so that their bars compare, and cuts halfway between their
children. Two cuts of one depth are then at least twice the distance of two leaves apart, so that no boxes overlap, and
no edge crosses a box.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Indices, Weights
from boxwood.render.forms.walk import CutWords, Sides, codes_at_cuts, cut_words
from boxwood.render.pictures.bars import Bars, bars_of_categories, bars_of_numbers, bars_with_gap, say_dates
from boxwood.render.pictures.swatches import Swatch, swatches_of
from boxwood.tree.boxes import reached_by_missing
from boxwood.words.values import are_years, category, column_name, fit_width, text_width

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

FEW = 12  # leaves; a tree of more is drawn in smaller boxes
_SHORTEST = 4  # letters of a shortened name that still says something
GAPS = (44.0, 165.0)  # between a cut and its children, whose conditions stand there


class Box(NamedTuple):
    """A rectangle: its top left corner and its size."""

    x: float
    y: float
    width: float
    height: float


class Label(NamedTuple):
    """A text under the bars: the x of its start, middle or end (`anchor`); `is_cut` marks the ends of the cut."""

    x: float
    anchor: Literal["start", "middle", "end"]
    text: str
    is_cut: bool = False


class CutBox(NamedTuple):
    """A cut: its number from 1, in pre-order; its column, also shortened to fit (`title`); its box.

    `area` is where the bars are drawn, and `labels` stand below it, where none overlaps another. `bars` is None if the
    rows are not there. `lost` counts the rows for which this
    is the first cut after which no leaf of their cluster can be reached; None if the rows are not there. `rows` and
    `lost` are weights if rows are weighted; `note` says both.
    """

    node: int
    number: int
    column: str
    title: str
    box: Box
    area: Box
    bars: Bars | None
    labels: tuple[Label, ...]
    rows: float
    lost: float | None
    note: str


class LeafBox(NamedTuple):
    """A leaf: its number, its cluster with its name (`title`: shortened to fit), its rows and their share of all.

    `parts` are the rows by reference cluster, its own first and then the largest, as pairs (cluster, rows); cluster -1
    stands for all others where it is not known which. `area` is where the bar of the parts is drawn. `note` says rows
    and share, `purity` the share of rows of its own cluster ("77% from cluster 4").
    """

    node: int
    leaf: int
    cluster: int
    title: str
    box: Box
    area: Box
    rows: float
    share: float
    parts: tuple[tuple[int, float], ...]
    note: str
    purity: str


class Edge(NamedTuple):
    """The way from a cut to a child: a curve from `start` to (`turn`, y of `stop`), then straight to `stop`.

    `text` is its condition without the column, shortened to fit between `start` and `turn`; `full` the whole condition.
    It stands above the edge if `above`, else below. `width` grows with the rows that pass, from 1 to 8.
    """

    parent: int
    child: int
    start: tuple[float, float]
    turn: float
    stop: tuple[float, float]
    text: str
    full: str
    above: bool
    rows: float
    width: float


class Picture(NamedTuple):
    """The picture of a tree: its size, its boxes and edges in pre-order, and its clusters.

    `small` says that boxes are of the smaller kind. Leaves then have no line for `purity`.
    """

    width: float
    height: float
    small: bool
    cuts: tuple[CutBox, ...]
    leaves: tuple[LeafBox, ...]
    edges: tuple[Edge, ...]
    swatches: tuple[Swatch, ...]


class Sizes(NamedTuple):
    """Sizes of boxes and text; `pitch` is the distance of two leaves."""

    pitch: float
    cut: tuple[float, float]
    bare_cut: tuple[float, float]
    leaf: tuple[float, float]
    cut_area: tuple[float, float]  # first and last y of the bars in a cut's box
    leaf_area: tuple[float, float]
    title: float  # size of the font
    text: float


TEXT = 10.5  # size of the font of a tree of few leaves
LARGE_SIZES = Sizes(78.0, (172.0, 110.0), (172.0, 42.0), (168.0, 64.0), (24.0, 72.0), (38.0, 47.0), 12.0, TEXT)
_SMALL = Sizes(46.0, (146.0, 80.0), (146.0, 36.0), (168.0, 40.0), (19.0, 50.0), (29.0, 36.0), 11.0, 9.5)


def picture_of(ex: MeasuredTree) -> Picture:
    """Return the picture of an explanation's tree.

    A loaded model has no rows: its picture has no bars at the cuts, and its leaves know their own cluster's rows alone.
    Rows in no cluster do not count. The picture is kept by the explanation. Takes time n times the depth.
    """
    if "picture" not in ex._kept:
        ex._kept["picture"] = _picture(ex._for_people())
    picture: Picture = ex._kept["picture"]
    return picture


def _picture(ex: MeasuredTree) -> Picture:
    tree, sizes = ex.tree, LARGE_SIZES if ex.n_leaves <= FEW else _SMALL
    codes = codes_at_cuts(tree, ex._coded_columns)
    reached = reached_by_missing(tree, ex._gap_columns)
    words = {node: cut_words(ex, node, codes.get(node), reached) for node in np.flatnonzero(tree.feature >= 0).tolist()}
    bars = ex._kept.get("bars")  # of a page, which leaves out what tells of few rows
    if bars is None:
        bars = {} if ex._in_memory is None else bars_of(ex, codes)
    counts = counts_of(ex)
    swatches = swatches_of(ex.names)
    widest = max((text_width(text, sizes.text) for one in words.values() for text in one.short), default=0.0)
    gap = min(max(widest + 14.0, GAPS[0]), GAPS[1])
    place = _Places(ex, sizes, gap, bool(bars))
    cuts = tuple(_cut(ex, node, i + 1, place, bars.get(node), counts) for i, node in enumerate(words))
    leaves = tuple(_leaf(ex, i, place, counts, swatches) for i in range(ex.n_leaves))
    edges = tuple(_edge(ex, child, place, words, counts) for child in range(1, tree.n_nodes))
    return Picture(place.width, place.height, sizes is _SMALL, cuts, leaves, edges, swatches)


# ---------------------------------------------------------------------------------------------------------- places
class _Places:
    """The box of each node."""

    def __init__(self, ex: MeasuredTree, sizes: Sizes, gap: float, bars: bool) -> None:
        tree = ex.tree
        self.sizes, self.gap, self.bars = sizes, gap, bars
        self.cut_size = sizes.cut if bars else sizes.bare_cut
        y = np.zeros(tree.n_nodes)
        y[tree.leaf_nodes] = (np.arange(tree.n_leaves) + 0.5) * sizes.pitch
        for node in np.flatnonzero(tree.feature >= 0)[::-1]:
            y[node] = (y[node + 1] + y[tree.second[node]]) / 2
        step = self.cut_size[0] + gap
        self.boxes = []
        for node in range(tree.n_nodes):
            is_leaf = tree.feature[node] < 0
            width, height = sizes.leaf if is_leaf else self.cut_size
            depth = tree.depth if is_leaf else int(tree.node_depth[node])
            self.boxes.append(Box(depth * step, float(y[node]) - height / 2, width, height))
        top = min(box.y for box in self.boxes)
        self.boxes = [box._replace(x=box.x + 4.0, y=box.y - top + 4.0) for box in self.boxes]
        self.width = tree.depth * step + sizes.leaf[0] + 8.0
        self.height = max(box.y + box.height for box in self.boxes) + 4.0

    def area(self, node: int, is_leaf: bool) -> Box:
        """Return where the bars of a node are drawn."""
        box = self.boxes[node]
        first, last = self.sizes.leaf_area if is_leaf else self.sizes.cut_area
        if not is_leaf and not self.bars:
            first = last = 0.0
        return Box(box.x + 8.0, box.y + first, box.width - 16.0, last - first)


def _cut(ex: MeasuredTree, node: int, number: int, place: _Places, bars: Bars | None, counts: NodeCounts) -> CutBox:
    column = column_name(ex.columns[int(ex.tree.feature[node])])
    box, rows = place.boxes[node], float(counts.rows[node])
    lost = None if counts.lost is None else float(counts.lost[[node + 1, ex.tree.second[node]]].sum())
    title = fit_width(column, box.width - 16.0 - text_width(f"{number} ", place.sizes.title), place.sizes.title)
    note = say_rows(rows, ex.details.weighted) + (f", {amount(lost)} lost" if lost else "")
    area = place.area(node, False)
    labels = () if bars is None else texts_under_bars(bars, area, place.sizes.text)
    return CutBox(node, number, column, title, box, area, bars, labels, rows, lost, note)


def texts_under_bars(bars: Bars, area: Box, size: float) -> tuple[Label, ...]:
    """Return the texts under the bars: names of categories that fit, or the ends of the cut and of the axis."""
    if bars.scale == "categories":
        width = area.width / len(bars.labels)
        texts = [fit_width(label, width - 3.0, size) for label in bars.labels]
        return tuple(
            Label(area.x + (i + 0.5) * width, "middle", text)
            for i, (text, label) in enumerate(zip(texts, bars.labels, strict=True))
            if text == label or len(text) >= _SHORTEST
        )
    found: list[tuple[float, float, Label]] = []
    left, right = area.x, area.x + area.width
    if bars.gap is not None:
        wide, middle = text_width("missing", size), area.x + (1 + bars.gap) / 2 * area.width
        start = min(middle - wide / 2, right - wide)
        found.append((start, start + wide, Label(start + wide / 2, "middle", "missing")))
        right = area.x + bars.gap * area.width
    for line in bars.lines:
        if bars.gap is not None and not line.text:  # it stands between numbers and missing values
            continue
        wide = text_width(line.text, size)
        x = min(max(area.x + line.at * area.width, area.x + wide / 2), area.x + area.width - wide / 2)
        found.append((x - wide / 2, x + wide / 2, Label(x, "middle", line.text, True)))
    said = {line.text for line in bars.lines}
    if bars.ends[0] not in said:
        found.append((left, left + text_width(bars.ends[0], size), Label(left, "start", bars.ends[0])))
    if bars.ends[1] not in said:
        found.append((right - text_width(bars.ends[1], size), right, Label(right, "end", bars.ends[1])))
    labels, taken = [], list[tuple[float, float]]()
    for start, stop, label in found:
        if all(stop + 3.0 <= low or high + 3.0 <= start for low, high in taken):
            taken.append((start, stop))
            labels.append(label)
    return tuple(labels)


def _leaf(ex: MeasuredTree, i: int, place: _Places, counts: NodeCounts, swatches: tuple[Swatch, ...]) -> LeafBox:
    leaf, node = ex.leaves[i], int(ex.tree.leaf_nodes[i])
    box, name = place.boxes[node], swatches[leaf.cluster].name
    total = float(counts.rows[0])
    share = leaf.size / total if total else 0.0
    own = f"{_percent(leaf.own / leaf.size)} from " if leaf.size else "no row"
    room = box.width - 16.0 - text_width(own, place.sizes.text)
    purity = own + (fit_width(name, room, place.sizes.text) if leaf.size else "")
    note = f"{say_rows(leaf.size, ex.details.weighted)}, {_percent(share)}"
    title = fit_width(name, box.width - 44.0, place.sizes.title)
    parts = _parts(leaf.cluster, leaf.own, leaf.size, None if counts.by_cluster is None else counts.by_cluster[node])
    area = place.area(node, True)
    return LeafBox(node, i, leaf.cluster, title, box, area, float(leaf.size), share, parts, note, purity)


def _parts(cluster: int, own: float, size: float, by_cluster: Floats | None) -> tuple[tuple[int, float], ...]:
    if by_cluster is None:
        parts = [(cluster, float(own)), (-1, float(size - own))]
    else:
        present = np.flatnonzero(by_cluster).tolist()
        others = sorted((i for i in present if i != cluster), key=lambda i: (-by_cluster[i], i))
        parts = [(i, float(by_cluster[i])) for i in (cluster, *others)]
    return tuple((i, rows) for i, rows in parts if rows > 0)


def _edge(ex: MeasuredTree, child: int, place: _Places, words: dict[int, CutWords], counts: NodeCounts) -> Edge:
    parent = int(ex.tree.parent[child])
    side = 0 if child == parent + 1 else 1
    begin, end = place.boxes[parent], place.boxes[child]
    start = begin.x + begin.width, begin.y + begin.height / 2
    total = float(counts.rows[0])
    rows = float(counts.rows[child])
    return Edge(
        parent,
        child,
        start,
        start[0] + place.gap,
        (end.x, end.y + end.height / 2),
        fit_width(words[parent].short[side], place.gap - 8.0, place.sizes.text),
        words[parent].full[side],
        side == 0,
        rows,
        1.0 + (7.0 * (rows / total) if total else 0.0),
    )


# ----------------------------------------------------------------------------------------------------------- words
def say_rows(rows: float, weighted: bool) -> str:
    """Return a number of rows, or their weight, in words."""
    if weighted:
        return f"weight {amount(rows)}"
    return f"{amount(rows)} row{'' if rows == 1 else 's'}"


def amount(rows: float) -> str:
    """Return a count as text, or a weight in four digits."""
    rows = round(rows, 9)
    return f"{rows:,.0f}" if rows == math.floor(rows) else f"{rows:,.4g}"


def _percent(share: float) -> str:
    """Return a share as a whole percent; only 1 is 100% and only 0 is 0%."""
    if 0 < share < 0.01:
        return "<1%"
    return f"{min(share, 0.99) if share < 1 else share:.0%}"


class NodeCounts(NamedTuple):
    """Rows at each node, or their weight, by reference cluster (n_nodes, k) and in all.

    Of these are `lost`, by cluster, which a leaf of their cluster could still have been reached before, but not here.
    """

    by_cluster: Floats | None
    rows: Floats
    lost: Floats | None


def counts_of(ex: MeasuredTree) -> NodeCounts:
    """Return the rows at each node. A loaded model knows the sizes of its leaves alone."""
    tree, k = ex.tree, ex.n_clusters
    rows = _upwards(ex, np.array([[leaf.size] for leaf in ex.leaves]))[:, 0]
    held = held_of(ex)
    if held is None:
        return NodeCounts(None, rows, None)
    by_cluster = _upwards(ex, held)
    has_leaf = _upwards(ex, (tree.leaf_clusters[:, None] == np.arange(k)).astype(np.float64)) > 0
    has_leaf[0] = True  # rows of a cluster that no leaf names are lost at the first cut
    return NodeCounts(by_cluster, rows, by_cluster * (has_leaf[tree.parent] & ~has_leaf))


def held_of(ex: MeasuredTree) -> Floats | None:
    """Return the number or weight of the rows of each cluster in each leaf; None for a loaded model."""
    if "held" in ex._kept:  # of an explanation whose counts were rounded
        rounded: Floats = ex._kept["held"]
        return rounded
    return None if ex._evidence is None else ex._evidence.held.astype(np.float64)


def _upwards(ex: MeasuredTree, at_leaves: Array) -> Array:
    """Return sums at all nodes, shape (n_nodes, m), of numbers at the leaves, shape (n_leaves, m)."""
    sums = np.zeros((ex.tree.n_nodes, at_leaves.shape[1]))
    sums[ex.tree.leaf_nodes] = at_leaves
    for node in range(ex.tree.n_nodes - 1, 0, -1):
        sums[ex.tree.parent[node]] += sums[node]
    return sums


def bars_of(ex: MeasuredTree, codes: dict[int, Sides], *, weighted: bool = True) -> dict[int, Bars]:
    """Return the bars of each cut; if not `weighted`, they count rows, whatever these weigh.

    The rows are put leaf by leaf, so those of a node stand side by side; each tested column is read once.
    """
    from boxwood.batches.ranks import AT_ONCE, columns_in_groups, places_in_groups

    tree, evidence, found = ex.tree, ex._rows(), {}
    task, tested = evidence.task, tree.features.tolist()
    places, counts = places_in_groups(np.where(task.kept, evidence.leaf, -1), tree.n_leaves)
    bounds, first, last = np.append(0, np.cumsum(counts)), *_leaves_below(ex)
    reached = reached_by_missing(tree, ex._gap_columns)
    labels = _place_values(task.reference.labels, places, bounds[-1])
    weights = (
        None if task.rows.weights is None or not weighted else _place_values(task.rows.weights, places, bounds[-1])
    )
    room = np.empty((min(AT_ONCE, len(tested)), bounds[-1]))
    for start in range(0, len(tested), AT_ONCE):
        here = tested[start : start + AT_ONCE]
        for j, x in zip(here, columns_in_groups(evidence.coordinates.table.values, here, places, room), strict=True):
            for node in np.flatnonzero(tree.feature == j).tolist():
                rows = slice(bounds[first[node]], bounds[last[node]])
                at_node = x[rows], labels[rows], None if weights is None else weights[rows]
                has_gap = node in reached or tree.upper[node] == sys.float_info.max
                found[node] = _bars_at(ex, node, codes.get(node), *at_node, has_gap=has_gap)
    return found


def _bars_at(
    ex: MeasuredTree,
    node: int,
    sides: Sides | None,
    values: Floats,
    labels: Indices,
    weights: Weights,
    *,
    has_gap: bool,
) -> Bars:
    """Return the bars of a cut.

    IN: sides: its codes, for a column of categories; values, labels, weights: its rows; has_gap: whether missing values
    reach it.
    """
    tree, k = ex.tree, ex.n_clusters
    if sides is None:
        bars, ends = bars_with_gap if has_gap else bars_of_numbers, (float(tree.lower[node]), float(tree.upper[node]))
        found, dates = bars(values, labels, k, *ends, weights), ex._date_columns.get(int(tree.feature[node]))
        if dates is not None:
            return say_dates(found, *ends, dates)
        if are_years(ex.columns[int(tree.feature[node])], values):
            found = found._replace(ends=(found.ends[0].replace(",", ""), found.ends[1].replace(",", "")))
        return found
    known = ex._coded_columns[int(tree.feature[node])]
    names = [category(value) for value in known.values] + ["other"] * known.others
    return bars_of_categories(values, labels, k, sides, names, weights)


def _leaves_below(ex: MeasuredTree) -> tuple[Indices, Indices]:
    """Return the first leaf below each node, and the one behind its last; leaves are counted in pre-order."""
    tree = ex.tree
    below = _upwards(ex, np.ones((tree.n_leaves, 1)))[:, 0].astype(np.intp)
    first = np.searchsorted(tree.leaf_nodes, np.arange(tree.n_nodes))
    return first, first + below


def _place_values(values: Array, places: Indices, size: int) -> Array:
    """Return the values of rows at their places; those without a place are left out."""
    placed = np.empty(size + 1, dtype=values.dtype)
    placed[places] = values  # the place -1 is the last one
    return placed[:-1]
