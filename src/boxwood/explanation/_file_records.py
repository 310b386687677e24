"""What was measured when asked, in the model file: written as it is, and checked field by field when read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from boxwood.explanation._read_values import (
    as_finite,
    as_list,
    as_measure,
    as_name,
    as_share,
    as_text,
    as_truth,
    as_whole,
)
from boxwood.explanation._records import (
    ClusterStability,
    CutStability,
    Frontier,
    FrontierRow,
    HeldOut,
    Stability,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from boxwood.explanation._explanation import Explanation

__all__ = ["held_out_of", "kept_of", "records"]

LEVELS, OBJECTIVES = ("stable", "doubtful", "unstable"), ("cost", "mistakes")


def records(ex: Explanation) -> dict[str, Any]:
    """Return what was measured, by its key in the model file; nothing that was not asked for."""
    found: dict[str, Any] = {}
    if ex.held_out is not None:
        found["held_out"] = ex.held_out._asdict() | {"price": _price(ex.held_out.price)}
    if (frontier := ex._kept.get("frontier")) is not None:
        found["frontier"] = {name: getattr(frontier, name) for name in ("folds", "grown_by", "objective", "n_grown")}
        found["frontier"]["rows"] = [_row(row) for row in frontier]
    if (stability := ex._kept.get("stability")) is not None:
        lists = {"clusters": stability.clusters, "cuts": stability.cuts}
        found["stability"] = stability._asdict() | {
            name: [one._asdict() for one in entries] for name, entries in lists.items()
        }
    return found


def held_out_of(document: dict[str, Any]) -> HeldOut | None:
    """Return what was measured on rows held out, if the document has it."""
    if "held_out" not in document:
        return None
    entry = document["held_out"]
    return HeldOut(
        as_share(entry["agreement"]), as_measure(entry["price"]), as_whole(entry["n_rows"]), as_text(entry["how"])
    )


def kept_of(document: dict[str, Any], columns: tuple[str, ...], n_nodes: int, n_clusters: int) -> dict[str, Any]:
    """Return the frontier and the stability that the document has.

    Raises
    ------
    KeyError, TypeError, ValueError, AttributeError
        If a field is missing or holds a value that no explanation has.
    """
    kept: dict[str, Any] = {}
    if "frontier" in document:
        kept["frontier"] = _frontier(document["frontier"])
    if "stability" in document:
        kept["stability"] = _stability(document["stability"], columns, n_nodes, n_clusters)
    return kept


def _row(row: FrontierRow) -> dict[str, Any]:
    return row._asdict() | {name: _price(getattr(row, name)) for name in ("price", "price_held_out")}


def _price(price: float | None) -> float | str | None:
    return price if price is None or math.isfinite(price) else str(price)


def _frontier(entry: dict[str, Any]) -> Frontier:
    rows = tuple(
        FrontierRow(
            as_whole(row["leaves"]),
            as_measure(row["price"]),
            as_share(row["agreement"]),
            _or_none(as_measure, row["price_held_out"]),
            _or_none(as_share, row["agreement_held_out"]),
            as_truth(row["is_this"]),
        )
        for row in as_list(entry["rows"])
    )
    sizes = [row.leaves for row in rows]
    if sum(row.is_this for row in rows) != 1 or sizes != sorted(sizes):
        raise ValueError("its frontier must have one row for its tree, and rows in the order of their leaves")
    objective = _one_of(entry["objective"], OBJECTIVES)
    return Frontier(rows, as_whole(entry["folds"]), as_text(entry["grown_by"]), objective, as_whole(entry["n_grown"]))


def _stability(entry: dict[str, Any], columns: tuple[str, ...], n_nodes: int, n_clusters: int) -> Stability:
    clusters = tuple(
        ClusterStability(
            as_whole(one["cluster"]),
            as_name(one["name"]),
            as_share(one["jaccard"]),
            as_share(one["jaccard_low"]),
            _or_none(as_whole, one.get("lost")),
        )
        for one in as_list(entry["clusters"])
    )
    cuts = tuple(_cut(one, columns, n_nodes) for one in as_list(entry["cuts"]))
    if [one.cluster for one in clusters] != list(range(n_clusters)):
        raise ValueError("its stability must have an entry for each cluster")
    return Stability(
        n=as_whole(entry["n"]),
        n_rows=as_whole(entry["n_rows"]),
        refitted=as_truth(entry["refitted"]),
        clusters=clusters,
        cuts=cuts,
        changed=as_share(entry["changed"]),
        level=_one_of(entry["level"], LEVELS),
        verdict=as_text(entry["verdict"]),
        random_state=_or_none(as_whole, entry["random_state"]),
        explained=_or_none(as_share, entry.get("explained")),
        without_groups=_or_none(as_share, entry.get("without_groups")),
    )


def _cut(entry: dict[str, Any], columns: tuple[str, ...], n_nodes: int) -> CutStability:
    node, column = as_whole(entry["node"]), as_text(entry["column"])
    if node >= n_nodes or column not in columns:
        raise ValueError("its stability names a node or a column that the model lacks")
    ends = (_or_none(as_finite, entry[name]) for name in ("low", "high"))
    return CutStability(node, column, as_finite(entry["threshold"]), as_share(entry["returns"]), *ends)


def _one_of(value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"expected one of {', '.join(allowed)}, got {value!r}")
    return str(value)


def _or_none(read: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else read(value)
