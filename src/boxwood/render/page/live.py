"""The tree as the page draws it, for a notebook where it is changed by hand: a part of a page, and what can be moved.

Like a page it holds no row, and no values of clusters of few rows. The places of a cut on the axis below its bars are
for the moment of the change alone: they are no part of what is drawn.
"""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood.explanation.change.cuts import categories_of_column, say_ends_of_cut
from boxwood.render.forms.text import tells_price
from boxwood.render.page._guard import as_shown
from boxwood.render.page._parts import LARGEST, outline_of_tree, tree_shapes, ways_in_full
from boxwood.render.page._template import fill_part, stripes
from boxwood.render.pictures.picture import picture_of
from boxwood.words.values import category, percent, price, shorten_name

if TYPE_CHECKING:
    from boxwood._types import Floats
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.render.pictures.picture import CutBox


def live_tree(ex: MeasuredTree, first: MeasuredTree) -> dict[str, Any]:
    """Return the drawing of a tree as a part of a page, and its cuts, leaves, columns and clusters by number.

    IN: first: the explanation from which the changes began, beside whose numbers these stand.
    """
    shown = as_shown(ex, None, has_profile=False)
    picture, said = picture_of(shown), shown._for_people()
    tree = tree_shapes(picture, ways_in_full(said, picture)) if 1 < ex.n_leaves <= LARGEST else None
    facts = {
        "tree": tree,
        "outline": outline_of_tree(said, picture),
        "swatches": picture.swatches,
        "numbers": _numbers(ex, first),
        **stripes(ex.n_clusters),
    }
    style = {"colours": facts["colours"], "width": None, "paper": None}
    # a part of a page has no root of its own
    css = fill_part("style.css", style).replace(":root", ".root") + fill_part(
        "live.css", {"width": tree and tree["width"]}
    )
    return {
        "html": fill_part("live.html", facts | {"style": css}),
        "cuts": [_cut(ex, cut) for cut in picture.cuts],
        "leaves": [{"node": leaf.node, "leaf": leaf.leaf, "cluster": leaf.cluster} for leaf in picture.leaves],
        "columns": _columns(ex),
        "clusters": [_plain(swatch.name) for swatch in picture.swatches],
        "lines": [_plain(edit.line) for edit in ex.changes],
    }


def on_axis(ex: MeasuredTree, node: int, ends: Floats) -> list[float]:
    """Return where on the axis below the bars of a cut its ends would stand, from 0 to 1."""
    bars = next((cut.bars for cut in picture_of(ex).cuts if cut.node == node), None)
    if bars is None:
        return [float(share) for share in np.linspace(0, 1, len(ends))]
    known = np.isfinite(bars.edges)
    edges, at = bars.edges[known], bars.at[: len(bars.edges)][known]
    if bars.scale == "log":
        edges, ends = np.log(edges), np.log(np.maximum(ends, np.finfo(np.float64).tiny))
    return [round(float(place), 4) for place in np.interp(ends, edges, at)]


def _numbers(ex: MeasuredTree, first: MeasuredTree) -> list[dict[str, str]]:
    """Return agreement, price and leaves, each with what it was at first."""
    now = [("Agreement", percent(ex.agreement), percent(first.agreement))]
    now += [("Price", price(ex.price), price(first.price))] if tells_price(first) else []
    now += [("Leaves", f"{ex.n_leaves:,}", f"{first.n_leaves:,}")]
    return [{"name": name, "value": value, "first": f"{before} at first"} for name, value, before in now]


def _cut(ex: MeasuredTree, cut: CutBox) -> dict[str, Any]:
    j = int(ex.tree.feature[cut.node])
    area = cut.area
    return {
        "node": cut.node,
        "number": cut.number,
        "column": j,
        "area": [round(area.x, 1), round(area.y, 1), round(area.width, 1), round(area.height, 1)],
        "ends": [] if categories_of_column(ex, j) is not None else _ends(ex, cut),
    }


def _ends(ex: MeasuredTree, cut: CutBox) -> list[dict[str, Any]]:
    """Return the ends of a cut that can be moved, with their places on the axis; None where no bars are drawn."""
    lines = () if cut.bars is None else cut.bars.lines
    places = [round(line.at, 4) for line in lines]
    ends = zip(say_ends_of_cut(ex, cut.node), chain(places, repeat(None)), strict=False)
    return [{"upper": is_upper, "at": at, "said": said} for (is_upper, said), at in ends]


def _columns(ex: MeasuredTree) -> list[dict[str, Any]]:
    """Return the columns that are at hand, whether a cut may test them, their words, and whether they hold dates."""
    forbidden = () if ex.limits is None else ex.limits.forbidden
    evidence = ex._known()
    at_hand = range(len(ex.columns)) if evidence.in_batches else evidence.columns
    found = []
    for j in at_hand:
        known, name = categories_of_column(ex, j), ex.columns[j]
        words = None if known is None else [_plain(category(value)) for value in known.values]
        kind = {"words": words, "dates": j in ex._date_columns}
        found.append({"column": j, "name": _plain(shorten_name(name)), "forbidden": name in forbidden, **kind})
    return found


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
