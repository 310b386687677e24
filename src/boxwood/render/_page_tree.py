"""The tree for a page: shapes of its picture as SVG has them, and the same tree as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import bidirectional

import numpy as np

from boxwood._types import Floats
from boxwood.render._bars import Bars
from boxwood.render._colours import COLOURS
from boxwood.render._guard import Guard
from boxwood.render._picture import CutBox, Edge, LeafBox, Picture

if TYPE_CHECKING:
    from boxwood.explanation import Explanation

__all__ = ["LARGEST", "Counts", "apart", "counts_of", "outline_of_tree", "text_of_tree", "tree_shapes"]

LARGEST = 150  # leaves of a tree that is drawn
_DEEPEST = 1 << 20  # characters of indentation of the tree as text


class Counts(NamedTuple):
    """What may be told of the rows: a text for each node and for the lost rows of each cut, by node.

    `hidden` are the nodes whose number of rows is not told. `cells` has the rows by leaf and reference cluster, shape
    (n_leaves, k); None if the rows are not there.
    """

    rows: dict[int, str]
    lost: dict[int, str]
    hidden: frozenset[int]
    cells: Floats | None


def counts_of(ex: Explanation, picture: Picture, guard: Guard) -> Counts:
    """Return what may be told of the rows. A node above some of the hidden leaves, but not all, has a bound alone."""
    tree, sizes = ex.tree, np.array([leaf.rows for leaf in picture.leaves])
    found = guard.hidden(sizes)
    covers = np.arange(len(sizes)) == (-1 if found.cover is None else found.cover)
    # by node: rows, rows of hidden leaves, number of hidden leaves, and the bound of the one of them that has one
    parts = [sizes, sizes * found.counts, found.counts, covers * (found.bound or 0.0)]
    below = np.zeros((tree.n_nodes, 4))
    below[tree.leaf_nodes] = np.stack(parts, axis=1)
    for node in range(tree.n_nodes - 1, 0, -1):
        below[tree.parent[node]] += below[node]
    rows, hidden = {}, set()
    for node, (size, size_hidden, n_hidden, bound) in enumerate(below.tolist()):
        is_leaf = tree.feature[node] < 0
        if n_hidden and (is_leaf or n_hidden < found.counts.sum()):
            hidden.add(node)
            known = size - size_hidden + bound
            rows[node] = guard.rows(size, known, ex.weighted) if known > 0 or guard.hides(size) else "some rows"
        else:
            rows[node] = guard.rows(size, None, ex.weighted)
    told = guard.told([cut.lost or 0.0 for cut in picture.cuts])
    lost = dict(zip([cut.node for cut in picture.cuts], told, strict=True))
    cells = np.zeros((len(sizes), ex.n_clusters))
    for leaf in picture.leaves:
        for cluster, part in leaf.parts:
            if cluster < 0:  # of a model without rows: it is not known of which cluster
                return Counts(rows, lost, frozenset(hidden), None)
            cells[leaf.leaf, cluster] = part
    return Counts(rows, lost, frozenset(hidden), cells)


def tree_shapes(picture: Picture, counts: Counts, guard: Guard) -> dict[str, Any]:
    """Return the shapes of the picture: everything that the template places."""
    return {
        "width": round(picture.width),
        "height": round(picture.height),
        "small": picture.small,
        "label": f"Tree of {len(picture.cuts)} cuts and {len(picture.leaves)} leaves; the same tree follows as a list",
        "edges": [_edge(edge, picture.small) for edge in picture.edges],
        "cuts": [_cut(cut, counts, guard, picture.small) for cut in picture.cuts],
        "leaves": [_leaf(leaf, picture, counts, guard) for leaf in picture.leaves],
    }


def outline_of_tree(ex: Explanation, picture: Picture, counts: Counts, guard: Guard) -> list[dict[str, Any]]:
    """Return the tree as a list: a line for each node, in pre-order, with the number of lists that end behind it."""
    cuts = {cut.node: cut for cut in picture.cuts}
    leaves = {leaf.node: leaf for leaf in picture.leaves}
    conditions = {edge.child: apart(edge.full, cuts[edge.parent].column) for edge in picture.edges}
    depth = ex.tree.node_depth.tolist()
    lines = []
    for node in range(ex.tree.n_nodes):
        line: dict[str, Any] = {"node": node, "condition": conditions.get(node), "cut": None, "leaf": None, "ends": 0}
        if node in cuts:
            cut = cuts[node]
            line["cut"] = {"number": cut.number, "column": cut.column, "note": _cut_note(cut, counts)}
            line["bars"] = cut.bars is not None
        else:
            leaf = leaves[node]
            note, purity = _leaf_notes(leaf, counts, guard)
            line["leaf"] = {"swatch": picture.swatches[leaf.cluster], "note": note, "purity": purity}
            line["ends"] = depth[node] - (depth[node + 1] if node + 1 < ex.tree.n_nodes else 0)
        lines.append(line)
    return lines


def text_of_tree(ex: Explanation, picture: Picture) -> str:
    """Return the tree in the shape of scikit-learn's `export_text`, without counts."""
    depth = ex.tree.node_depth.tolist()
    if 4 * sum(depth) > _DEEPEST:
        return "(This tree is too deep for a text.)"
    clusters = {leaf.node: picture.swatches[leaf.cluster].name for leaf in picture.leaves}
    conditions = {edge.child: edge.full for edge in picture.edges}
    lines = []
    for node in range(ex.tree.n_nodes):
        if node:
            lines.append(f"{'|   ' * (depth[node] - 1)}|--- {conditions[node]}")
        if node in clusters:
            lines.append(f"{'|   ' * depth[node]}|--- {clusters[node]}")
    return "\n".join(lines)


# ----------------------------------------------------------------------------------------------------------- parts


def _edge(edge: Edge, small: bool) -> dict[str, Any]:
    (x, y), (stop, end) = edge.start, edge.stop
    half = (x + edge.turn) / 2
    path = f"M{_place(x)} {_place(y)}C{_place(half)} {_place(y)} {_place(half)} {_place(end)} {_place(edge.turn)} "
    path += f"{_place(end)}H{_place(stop)}"
    off = edge.width / 2 + 3.0
    place = end - off if edge.above else end + off + (7.0 if small else 8.0)
    return {
        "node": edge.child,
        "path": path,
        "width": _place(round(2 * edge.width) / 2),  # in steps, so that it tells no count
        "x": _place(edge.turn - 5.0),
        "y": _place(place),
        "text": edge.text,
    }


def _cut(cut: CutBox, counts: Counts, guard: Guard, small: bool) -> dict[str, Any]:
    box, area = cut.box, cut.area
    return {
        "node": cut.node,
        "number": cut.number,
        "title": cut.title,
        "column": cut.column,
        "box": [_place(part) for part in box],
        "note": _cut_note(cut, counts),
        "title_y": _place(14.0 if small else 16.0),
        "note_y": _place(box.height - 6.0),
        "bars": None if cut.bars is None else _bars(cut, cut.bars, guard),
        "at": [_place(area.x - box.x - 2.0), _place(area.y - box.y - 4.0)],
    }


def _bars(cut: CutBox, bars: Bars, guard: Guard) -> dict[str, Any]:
    """Return the bars of a cut; those of few rows are left out, and so are the ends of an axis where few rows are."""
    area = cut.area
    few = (bars.counts > 0) & (bars.counts < guard.least)
    heights = bars._replace(counts=np.where(few, 0.0, bars.counts)).heights * area.height
    left, right = bars.at[:-1] * area.width, bars.at[1:] * area.width
    tops = area.height - np.cumsum(heights, axis=0)
    paths = []
    for cluster in np.flatnonzero(heights.any(axis=1)).tolist():
        drawn = np.flatnonzero(heights[cluster] > 0).tolist()
        rects = (_rect(left[i], tops[cluster, i], right[i] - left[i], heights[cluster, i]) for i in drawn)
        paths.append((cluster % len(COLOURS), "".join(rects)))
    totals = bars.counts.sum(axis=0)
    outer = {"start": guard.hides(float(totals[0])), "end": guard.hides(float(totals[-1])), "middle": False}
    labels = [
        (_place(label.x - area.x), label.anchor, label.text, label.is_cut)
        for label in cut.labels
        if not outer[label.anchor]
    ]
    return {
        "width": _place(area.width),
        "height": _place(area.height),
        "paths": paths,
        "lines": [_place(line.at * area.width) for line in bars.lines],
        "labels": labels,
        "log": bars.scale == "log",
        "few": bool(few.any()),
    }


def _rect(x: float, y: float, width: float, height: float) -> str:
    return f"M{_place(x)} {_place(y)}h{_place(width)}v{_place(height)}h{_place(-width)}z"


def _leaf(leaf: LeafBox, picture: Picture, counts: Counts, guard: Guard) -> dict[str, Any]:
    note, purity = _leaf_notes(leaf, counts, guard)
    return {
        "node": leaf.node,
        "title": leaf.title,
        "swatch": picture.swatches[leaf.cluster],
        "box": [_place(part) for part in leaf.box],
        "note": note,
        "purity": purity,
        "parts": _parts(leaf, counts, guard),
        "bar": [_place(leaf.area.x - leaf.box.x), _place(leaf.area.y - leaf.box.y), _place(leaf.area.height)],
    }


def _parts(leaf: LeafBox, counts: Counts, guard: Guard) -> list[tuple[int, str, str]]:
    """Return the parts of a leaf's bar, as triples (colour, x, width); -1 is the grey of parts of few rows together."""
    if leaf.node in counts.hidden or leaf.rows <= 0:
        return []
    told = [(cluster, rows) for cluster, rows in leaf.parts if cluster >= 0 and not guard.hides(rows)]
    rest = leaf.rows - sum(rows for _, rows in told)
    if guard.hides(rest):  # drawn as few rows, whatever their number
        shift = min(guard.least, leaf.rows) - rest
        told = [(cluster, rows - (shift if i == 0 else 0.0)) for i, (cluster, rows) in enumerate(told)]
        rest += shift
    parts, x = [], 0.0
    for cluster, rows in [*told, (-1, rest)]:
        width = leaf.area.width * max(rows, 0.0) / leaf.rows
        if width > 0.05:
            parts.append((cluster % len(COLOURS) if cluster >= 0 else -1, _place(x), _place(width)))
        x += width
    return parts


# ----------------------------------------------------------------------------------------------------------- words


def _cut_note(cut: CutBox, counts: Counts) -> str:
    return counts.rows[cut.node] + (f", {counts.lost[cut.node]} lost" if cut.lost else "")


def _leaf_notes(leaf: LeafBox, counts: Counts, guard: Guard) -> tuple[str, str]:
    """Return the rows and their share, and the share of rows of the leaf's own cluster; nothing of that if hidden."""
    rows = counts.rows[leaf.node]
    if leaf.node in counts.hidden or leaf.rows <= 0:
        return rows, ""
    own = next((part for cluster, part in leaf.parts if cluster == leaf.cluster), 0.0)
    return f"{rows} · {_percent(leaf.share)}", f"{guard.share(own, leaf.rows)} from this cluster"


def apart(text: str, name: str) -> str:
    """Return a text with a name that is written from right to left set apart, so that it turns nothing else round."""
    if any(bidirectional(letter) in ("R", "AL") for letter in name):
        return text.replace(name, f"\u2068{name}\u2069")
    return text


def _percent(share: float) -> str:
    return "<1%" if 0 < share < 0.01 else f"{share:.0%}"


def _place(x: float) -> str:
    """Return a number for SVG, with one decimal at most."""
    return f"{x:.1f}".removesuffix(".0").replace("-0", "0", 1) if abs(x) < 0.05 else f"{x:.1f}".removesuffix(".0")
