"""The rules as data that run in a page: the tree, the columns that it tests, and a typical row of each cluster."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._types import Floats
from boxwood.axes import Categories
from boxwood.render._page_tree import apart
from boxwood.render._picture import Picture
from boxwood.render._rules import category, column_name, number

if TYPE_CHECKING:
    from boxwood.explanation import Explanation

__all__ = ["what_if"]

_DIGITS = (3, 4, 6, 9, 17)  # of a typical value; as many as keep the typical row in its leaf


def what_if(ex: Explanation, picture: Picture, lines: list[dict[str, Any]], least: int) -> dict[str, Any]:
    """Return what the page's form needs.

    Thresholds are JSON numbers that read back as the same doubles; None stands for an infinite end. The values of a
    typical row are medians, and most frequent categories, of the rows in the largest leaf of a cluster, rounded; they
    come from leaves of `least` rows at least. Without rows there are none.
    """
    tested = ex.tree.features.tolist()
    position = {j: i for i, j in enumerate(tested)}
    spread = _deviations(ex, tested)
    columns = [
        {
            "name": apart(name := column_name(ex.columns[j]), name),
            "values": _values(ex.coded_columns[j]) if j in ex.coded_columns else None,
            "deviation": deviation,
        }
        for j, deviation in zip(tested, spread, strict=True)
    ]
    return {
        "columns": columns,
        "nodes": _nodes(ex, position),
        "conditions": [line["condition"] for line in lines],
        "notes": [[line["leaf"]["note"], line["leaf"]["purity"]] for line in lines if line["leaf"]],
        "clusters": [[swatch.mark, swatch.name] for swatch in picture.swatches],
        "typical": _typical_rows(ex, tested, least),
    }


def _values(known: Categories) -> list[str]:
    return [category(value) for value in known.values] + ["any other value"] * known.others


def _nodes(ex: Explanation, position: dict[int, int]) -> list[list[Any]]:
    """Return the nodes in pre-order: [column, lower, upper, second child] of a cut, [cluster] of a leaf."""
    tree = ex.tree
    return [
        [position[int(tree.feature[i])], _end(tree.lower[i]), _end(tree.upper[i]), int(tree.second[i])]
        if tree.feature[i] >= 0
        else [int(tree.cluster[i])]
        for i in range(tree.n_nodes)
    ]


def _end(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None


def _deviations(ex: Explanation, tested: list[int]) -> list[float]:
    """Return the standard deviation of each tested column, in three digits; 1 where it is not known."""
    known = {one.column: one for one in ex._kept.get("profile", ())}
    found = [known.get(ex.columns[j]) for j in tested]
    spread = [getattr(one.everyone, "deviation", 1.0) if one is not None else 1.0 for one in found]
    return [float(f"{one:.3g}") if math.isfinite(one) and one > 0 else 1.0 for one in spread]


def _typical_rows(ex: Explanation, tested: list[int], least: int) -> list[list[str | int] | None]:
    """Return for each cluster the values of a typical row: numbers as text, codes of categories; None for no row."""
    if ex._evidence is None or not tested:
        return [None] * ex.n_clusters
    leaves = [_leaf_to_show(ex, cluster) for cluster in range(ex.n_clusters)]
    middles = _middles(ex, tested, [leaf for leaf in leaves if leaf is not None], least)
    return [_rounded(ex, tested, leaf, middles[leaf]) if leaf in middles else None for leaf in leaves]


def _leaf_to_show(ex: Explanation, cluster: int) -> int | None:
    """Return the leaf of a cluster with the most rows of it, the first of equals; None without a leaf."""
    own = [one for one in ex.leaves if one.cluster == cluster]
    return max(own, key=lambda one: (one.own, -one.leaf)).leaf if own else None


def _middles(ex: Explanation, tested: list[int], leaves: list[int], least: int) -> dict[int, list[float]]:
    """Return the middles of the tested columns in some leaves, of those with so many rows."""
    from boxwood.reference._quantiles import AT_ONCE, MediansOfGroups, columns_in_groups, places_in_groups

    evidence = ex._rows()
    table, kept = evidence.coordinates.table.values, evidence.task.kept
    counts = np.bincount(evidence.leaf[kept], minlength=ex.n_leaves)
    leaves = sorted(leaf for leaf in leaves if counts[leaf] >= least)
    if not leaves:
        return {}
    group = np.full(ex.n_leaves, -1)
    group[leaves] = np.arange(len(leaves))
    places, sizes = places_in_groups(np.where(kept, group[evidence.leaf], -1), len(leaves))
    bounds, middles = np.append(0, np.cumsum(sizes)), []
    medians, room = MediansOfGroups(bounds), np.empty((AT_ONCE, bounds[-1]))
    for start in range(0, len(tested), AT_ONCE):
        here = tested[start : start + AT_ONCE]
        for j, x in zip(here, columns_in_groups(table, here, places, room), strict=True):
            if j in ex.coded_columns:
                middles.append([_most_frequent(part) for part in np.split(x, bounds[1:-1])])
            else:
                middles.append(medians.of(x).tolist())
    return dict(zip(leaves, map(list, zip(*middles, strict=True)), strict=True))


def _rounded(ex: Explanation, tested: list[int], leaf: int, middle: list[float]) -> list[str | int] | None:
    """Return the middle of some rows of a leaf, in as few digits as leave it there; None if it never is."""
    coded = [j in ex.coded_columns for j in tested]
    for digits in _DIGITS:
        row = np.zeros((1, len(ex.columns)))
        row[0, tested] = [x if is_code else float(f"{x:.{digits}g}") for x, is_code in zip(middle, coded, strict=True)]
        if np.isfinite(row).all() and int(ex.tree.apply(row)[0]) == leaf:
            ends = row[0, tested].tolist()
            return [int(x) if is_code else number(x) for x, is_code in zip(ends, coded, strict=True)]
    return None


def _most_frequent(codes: Floats) -> float:
    return float(np.argmax(np.bincount(codes.astype(np.intp))))
