"""The tree for a page: shapes of its picture as SVG has them, and the same tree as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unicodedata import bidirectional

import numpy as np

from boxwood.render._bars import Bars
from boxwood.render._colours import COLOURS
from boxwood.render._figures import percent
from boxwood.render._picture import CutBox, Edge, LeafBox, Picture

if TYPE_CHECKING:
    from boxwood.explanation import Explanation

__all__ = ["LARGEST", "apart", "outline_of_tree", "text_of_tree", "tree_shapes"]

LARGEST = 150  # leaves of a tree that is drawn
_DEEPEST = 1 << 20  # characters of indentation of the tree as text


def tree_shapes(picture: Picture) -> dict[str, Any]:
    """Return the shapes of the picture: everything that the template places."""
    return {
        "width": round(picture.width),
        "height": round(picture.height),
        "small": picture.small,
        "label": f"Tree of {len(picture.cuts)} cuts and {len(picture.leaves)} leaves; the same tree follows as a list",
        "edges": [_edge(edge, picture.small) for edge in picture.edges],
        "cuts": [_cut(cut, picture.small) for cut in picture.cuts],
        "leaves": [_leaf(leaf, picture) for leaf in picture.leaves],
    }


def outline_of_tree(ex: Explanation, picture: Picture) -> list[dict[str, Any]]:
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
            line["cut"] = {"number": cut.number, "column": cut.column, "note": cut.note}
            line["bars"] = cut.bars is not None
        else:
            leaf = leaves[node]
            note, purity = _leaf_notes(leaf)
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


def _cut(cut: CutBox, small: bool) -> dict[str, Any]:
    box, area = cut.box, cut.area
    return {
        "node": cut.node,
        "number": cut.number,
        "title": cut.title,
        "column": cut.column,
        "box": [_place(part) for part in box],
        "note": cut.note,
        "title_y": _place(14.0 if small else 16.0),
        "note_y": _place(box.height - 6.0),
        "bars": None if cut.bars is None else _bars(cut, cut.bars),
        "at": [_place(area.x - box.x - 2.0), _place(area.y - box.y - 4.0)],
    }


def _bars(cut: CutBox, bars: Bars) -> dict[str, Any]:
    """Return the bars of a cut."""
    area, heights = cut.area, bars.heights * cut.area.height
    left, right = bars.at[:-1] * area.width, bars.at[1:] * area.width
    tops = area.height - np.cumsum(heights, axis=0)
    paths = []
    for cluster in np.flatnonzero(heights.any(axis=1)).tolist():
        drawn = np.flatnonzero(heights[cluster] > 0).tolist()
        rects = (_rect(left[i], tops[cluster, i], right[i] - left[i], heights[cluster, i]) for i in drawn)
        paths.append((cluster % len(COLOURS), "".join(rects)))
    labels = [(_place(label.x - area.x), label.anchor, label.text, label.is_cut) for label in cut.labels]
    return {
        "width": _place(area.width),
        "height": _place(area.height),
        "paths": paths,
        "lines": [_place(line.at * area.width) for line in bars.lines],
        "labels": labels,
        "log": bars.scale == "log",
    }


def _rect(x: float, y: float, width: float, height: float) -> str:
    return f"M{_place(x)} {_place(y)}h{_place(width)}v{_place(height)}h{_place(-width)}z"


def _leaf(leaf: LeafBox, picture: Picture) -> dict[str, Any]:
    note, purity = _leaf_notes(leaf)
    return {
        "node": leaf.node,
        "title": leaf.title,
        "swatch": picture.swatches[leaf.cluster],
        "box": [_place(part) for part in leaf.box],
        "note": note,
        "purity": purity,
        "parts": _parts(leaf),
        "bar": [_place(leaf.area.x - leaf.box.x), _place(leaf.area.y - leaf.box.y), _place(leaf.area.height)],
    }


def _parts(leaf: LeafBox) -> list[tuple[int, str, str]]:
    """Return the parts of a leaf's bar, as triples (colour, x, width); -1 is the grey of unknown clusters."""
    parts, x = [], 0.0
    for cluster, rows in leaf.parts:
        width = leaf.area.width * max(rows, 0.0) / (leaf.rows or 1.0)  # a leaf may hold no row of the file
        if width > 0.05:
            parts.append((cluster % len(COLOURS) if cluster >= 0 else -1, _place(x), _place(width)))
        x += width
    return parts


# ----------------------------------------------------------------------------------------------------------- words


def _leaf_notes(leaf: LeafBox) -> tuple[str, str]:
    """Return the rows and their share, and the share of rows of the leaf's own cluster, if it has rows."""
    if leaf.rows <= 0:
        return leaf.note, ""
    own = next((part for cluster, part in leaf.parts if cluster == leaf.cluster), 0.0)
    return leaf.note, f"{percent(min(own / leaf.rows, 1.0))} from this cluster"


def apart(text: str, name: str) -> str:
    """Return a text with a name that is written from right to left set apart, so that it turns nothing else round."""
    if any(bidirectional(letter) in ("R", "AL") for letter in name):
        return text.replace(name, f"\u2068{name}\u2069")
    return text


def _place(x: float) -> str:
    """Return a number for SVG, with one decimal at most."""
    return f"{x:.1f}".removesuffix(".0").replace("-0", "0", 1) if abs(x) < 0.05 else f"{x:.1f}".removesuffix(".0")
