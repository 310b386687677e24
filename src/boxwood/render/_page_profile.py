"""The profile for a page: the middle of each column in each cluster, and its place among all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.render._figures import percent
from boxwood.render._fitted import brief
from boxwood.render._rules import category, column_name

if TYPE_CHECKING:
    from boxwood.explanation import CategoryColumn, ClusterSummary, Explanation, NumberColumn
    from boxwood.explanation._profile_fields import ColumnProfile

__all__ = ["MOST_COLUMNS", "profile_table", "standing_out"]

MOST_COLUMNS = 40
_MOST_CELLS = 1200
_SAMPLE = 50_000  # rows; a place among them is right to about half a percent
_STANDS_OUT = 0.5  # standard deviations


def profile_table(ex: Explanation, profile: tuple[ColumnProfile, ...]) -> dict[str, Any]:
    """Return the columns to show: those that the tree tests, then those that separate clusters best.

    IN: profile: of the table's columns; its order is kept among equals.
    """
    cuts = _cuts_by_column(ex)
    most = max(min(MOST_COLUMNS, _MOST_CELLS // ex.n_clusters), 1)
    order = sorted(range(len(profile)), key=lambda i: (profile[i].column not in cuts, -profile[i].effect, i))
    sample = _sample(ex)
    return {
        "columns": [_row(ex, profile[i], cuts.get(profile[i].column), sample) for i in order[:most]],
        "left_out": max(len(profile) - most, 0),
    }


def standing_out(profile: tuple[ColumnProfile, ...], cluster: ClusterSummary) -> list[dict[str, str]]:
    """Return up to three columns in which a cluster differs most from the rest, in words."""
    from boxwood.explanation import NumberGroup

    if cluster.size == 0:
        return []
    found = []
    for place, one in enumerate(profile):
        group = one.clusters[cluster.cluster]
        if group is None:
            continue
        if isinstance(group, NumberGroup):
            if group.difference is not None and abs(group.difference) >= _STANDS_OUT:
                found.append((-abs(group.difference), place, _high_or_low(one, cluster.cluster)))  # type: ignore[arg-type]
        elif group.differences is not None and max(group.differences) >= _STANDS_OUT:
            found.append((-max(group.differences), place, _mostly(one, cluster)))  # type: ignore[arg-type]
    return [words for _, _, words in sorted(found, key=lambda one: one[:2])[:3]]


# ----------------------------------------------------------------------------------------------------------- words


def _high_or_low(column: NumberColumn, cluster: int) -> dict[str, str]:
    group = column.clusters[cluster]
    assert group is not None
    assert group.difference is not None
    size = "high" if group.difference > 0 else "low"
    told = f"median {brief(group.quantiles[2])}, of all rows {brief(column.everyone.quantiles[2])}"
    return {"size": size, "name": column_name(column.column), "told": told}


def _mostly(column: CategoryColumn, cluster: ClusterSummary) -> dict[str, str]:
    group = column.clusters[cluster.cluster]
    assert group is not None
    assert group.differences is not None
    code = int(np.argmax(group.differences))
    share = percent(group.shares[code])
    size = "mostly" if group.shares[code] >= 0.5 else "often"
    told = f"{share} {_value(column, code)}, of all rows {percent(column.everyone.shares[code])}"
    return {"size": size, "name": f"{column_name(column.column)} {_value(column, code)}", "told": told}


def _value(column: CategoryColumn, code: int) -> str:
    values = column.categories.values
    return category(values[code]) if code < len(values) else "any other value"


def _cuts_by_column(ex: Explanation) -> dict[str, str]:
    """Return for each tested column the numbers of its cuts, counted from 1 in pre-order."""
    found: dict[str, list[str]] = {}
    for i, node in enumerate(np.flatnonzero(ex.tree.feature >= 0).tolist()):
        found.setdefault(ex.columns[int(ex.tree.feature[node])], []).append(str(i + 1))
    return {
        name: f"cut{'s' if len(cuts) > 1 else ''} {', '.join(cuts[:6])}{' …' if len(cuts) > 6 else ''}"
        for name, cuts in found.items()
    }


# ---------------------------------------------------------------------------------------------------------- places


def _row(ex: Explanation, column: ColumnProfile, cuts: str | None, sample: Indices | None) -> dict[str, Any]:
    is_number = hasattr(column.everyone, "quantiles")
    cells, everyone = (
        _numbers(ex, column, sample) if is_number else _categories(ex, column)  # type: ignore[arg-type]
    )
    effect = (
        f"{column.effect:.0%} of its variance is between clusters" if is_number else f"Cramér's V {column.effect:.2f}"
    )
    return {"name": column_name(column.column), "cuts": cuts, "cells": cells, "everyone": everyone, "effect": effect}


def _numbers(ex: Explanation, column: NumberColumn, sample: Indices | None) -> tuple[list[dict[str, Any] | None], str]:
    """Return for each cluster its median, and the places of its quartiles among all rows, from 0 to 100."""
    told = [
        group if group is not None and cluster.size else None
        for group, cluster in zip(column.clusters, ex.clusters, strict=True)
    ]
    marks = np.array([group.quantiles[1:4] for group in told if group is not None], dtype=np.float64)
    places = iter(_places(ex, column, sample, marks).round(0).astype(int).tolist())
    cells: list[dict[str, Any] | None] = []
    for group in told:
        if group is None:
            cells.append(None)
            continue
        low, middle, high = next(places)
        cells.append({"text": brief(group.quantiles[2]), "low": low, "middle": middle, "high": max(high, low + 1)})
    return cells, brief(column.everyone.quantiles[2])


def _categories(ex: Explanation, column: CategoryColumn) -> tuple[list[dict[str, Any] | None], str]:
    """Return for each cluster its most frequent category with its share, and the share among all rows as a mark."""
    cells: list[dict[str, Any] | None] = []
    for group, cluster in zip(column.clusters, ex.clusters, strict=True):
        if group is None or not cluster.size:
            cells.append(None)
            continue
        code = int(np.argmax(group.shares))
        share = percent(group.shares[code])
        high = max(round(100 * group.shares[code]), 1)
        mark = round(100 * column.everyone.shares[code])
        cells.append({"text": f"{share} {_value(column, code)}", "low": 0, "middle": None, "high": high, "mark": mark})
    most = int(np.argmax(column.everyone.shares))
    return cells, f"{percent(column.everyone.shares[most])} {_value(column, most)}"


def _places(ex: Explanation, column: NumberColumn, sample: Indices | None, values: Floats) -> Floats:
    """Return the places of values among all rows in percent; equal rows count half. Without rows, from quantiles."""
    if sample is None or values.size == 0:
        return np.interp(values, _ascending(column.everyone.quantiles), (5, 25, 50, 75, 95))
    table = ex._rows().coordinates.table.values
    x = np.sort(np.asarray(table[sample, ex.columns.index(column.column)], dtype=np.float64))
    below, up_to = np.searchsorted(x, values, side="left"), np.searchsorted(x, values, side="right")
    return np.asarray(100.0 * (below + up_to) / (2 * len(x)))


def _ascending(quantiles: tuple[float, ...]) -> Floats:
    return np.maximum.accumulate(np.asarray(quantiles, dtype=np.float64))


def _sample(ex: Explanation) -> Indices | None:
    """Return the rows that are kept, or a sample of them, always the same one; None without rows."""
    if ex._evidence is None:
        return None
    kept = np.flatnonzero(ex._rows().task.kept)
    if len(kept) > _SAMPLE:
        kept = np.sort(np.random.default_rng(0).choice(kept, _SAMPLE, replace=False, shuffle=False))
    return kept
