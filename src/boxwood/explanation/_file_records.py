"""What was measured when asked, in the model file: written as it is, and checked field by field when read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from boxwood.explanation._read_model import _is_finite, _list, _measure, _name, _share, _text, _truth, _whole
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
    return HeldOut(_share(entry["agreement"]), _measure(entry["price"]), _whole(entry["n_rows"]), _text(entry["how"]))


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
            _whole(row["leaves"]),
            _measure(row["price"]),
            _share(row["agreement"]),
            _or_none(_measure, row["price_held_out"]),
            _or_none(_share, row["agreement_held_out"]),
            _truth(row["is_this"]),
        )
        for row in _list(entry["rows"])
    )
    sizes = [row.leaves for row in rows]
    if sum(row.is_this for row in rows) != 1 or sizes != sorted(sizes):
        raise ValueError("its frontier must have one row for its tree, and rows in the order of their leaves")
    objective = _one_of(entry["objective"], OBJECTIVES)
    return Frontier(rows, _whole(entry["folds"]), _text(entry["grown_by"]), objective, _whole(entry["n_grown"]))


def _stability(entry: dict[str, Any], columns: tuple[str, ...], n_nodes: int, n_clusters: int) -> Stability:
    clusters = tuple(
        ClusterStability(_whole(one["cluster"]), _name(one["name"]), _share(one["jaccard"]), _share(one["jaccard_low"]))
        for one in _list(entry["clusters"])
    )
    cuts = tuple(_cut(one, columns, n_nodes) for one in _list(entry["cuts"]))
    if [one.cluster for one in clusters] != list(range(n_clusters)):
        raise ValueError("its stability must have an entry for each cluster")
    return Stability(
        n=_whole(entry["n"]),
        n_rows=_whole(entry["n_rows"]),
        refitted=_truth(entry["refitted"]),
        clusters=clusters,
        cuts=cuts,
        changed=_share(entry["changed"]),
        level=_one_of(entry["level"], LEVELS),
        verdict=_text(entry["verdict"]),
        random_state=_or_none(_whole, entry["random_state"]),
    )


def _cut(entry: dict[str, Any], columns: tuple[str, ...], n_nodes: int) -> CutStability:
    node, column = _whole(entry["node"]), _text(entry["column"])
    if node >= n_nodes or column not in columns:
        raise ValueError("its stability names a node or a column that the model lacks")
    ends = (_or_none(_finite, entry[name]) for name in ("low", "high"))
    return CutStability(node, column, _finite(entry["threshold"]), _share(entry["returns"]), *ends)


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
        raise ValueError(f"expected a finite number, got {value!r}")
    return float(value)


def _one_of(value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"expected one of {', '.join(allowed)}, got {value!r}")
    return str(value)


def _or_none(read: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else read(value)
