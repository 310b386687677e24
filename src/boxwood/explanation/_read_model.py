"""A model file becomes an explanation: every field is checked, so that whatever is read can be printed and used."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

from boxwood.axes import Categories
from boxwood.explanation._conditions import Rule, cluster_rules_of, rules_of
from boxwood.explanation._explanation import Explanation
from boxwood.explanation._facts import GOALS, BudgetFacts, SearchFacts
from boxwood.explanation._summaries import (
    ClusterSummary,
    DrawFacts,
    FarFromGaussian,
    KernelFacts,
    LeafSummary,
    MixtureFacts,
)
from boxwood.metrics._readability import Readability
from boxwood.tree import ThresholdTree
from boxwood.tree._exchange import from_nodes

__all__ = ["from_document"]

_SLACK = 1e-9  # shares are quotients of sums, which are rounded


def from_document(document: dict[str, Any]) -> Explanation:
    """Return the explanation that `to_document` wrote.

    Raises
    ------
    KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError
        If a field is missing, is of another type, or holds a value that no explanation has.
    """
    tree, columns = from_nodes(document["nodes"]), tuple(map(_text, _list(document["columns"])))
    entries = _list(document["clusters"])
    _refuse_misfit(tree, columns, len(entries), len(_list(document["leaves"])))
    categories = tuple((name, _categories(entry)) for name, entry in document.get("categories", {}).items())
    said = tree, columns, {columns.index(name): known for name, known in categories}
    rules, of_clusters = rules_of(*said), cluster_rules_of(*said, len(entries))
    leaves = [
        LeafSummary(i, cluster, _number(entry["size"]), _number(entry["own"]), rules[i])
        for i, (cluster, entry) in enumerate(zip(tree.leaf_clusters.tolist(), document["leaves"], strict=True))
    ]
    clusters = [_cluster(i, entry, some) for i, (entry, some) in enumerate(zip(entries, of_clusters, strict=True))]
    _refuse_twice("cluster name", [cluster.name for cluster in clusters])
    n_rows, n_left_out = _whole(document["n_rows"]), _whole(document["n_left_out"])
    if n_left_out > n_rows:
        raise ValueError(f"{n_left_out} of {n_rows} rows are left out")
    return Explanation(
        tree=tree,
        columns=columns,
        method=_text(document["method"]),
        n_rows=n_rows,
        n_left_out=n_left_out,
        clusters=tuple(clusters),
        leaves=tuple(leaves),
        cost=_measure(document["cost"]),
        reference_cost=_measure(document["reference_cost"]),
        price=_measure(document["price"]),
        agreement=_share(document["agreement"]),
        adjusted_rand=_between(document["adjusted_rand"], -1, 1),
        readability=_readability(document["readability"]),
        weighted=_truth(document["weighted"]),
        standardized=_truth(document["standardized"]),
        notes=tuple(map(_text, _list(document["notes"]))),
        mixture=_mixture(document["mixture"]) if "mixture" in document else None,
        objective=_objective(document.get("objective", "sqeuclidean")),
        draws=_draws(document["draws"]) if "draws" in document else None,
        kernel=_kernel(document["kernel"]) if "kernel" in document else None,
        search=_search(document["search"]) if "search" in document else None,
        budget=_budget(document["budget"], columns) if "budget" in document else None,
        categories=categories,
    )


def _refuse_misfit(tree: ThresholdTree, columns: tuple[str, ...], n_clusters: int, n_leaves: int) -> None:
    if tree.n_features > len(columns):
        raise ValueError(f"its nodes test column {tree.n_features - 1}, but it lists {len(columns)} columns")
    if tree.leaf_clusters.max() >= n_clusters:
        raise ValueError(f"its nodes carry cluster {tree.leaf_clusters.max()}, but it lists {n_clusters} clusters")
    if len(set(columns)) < len(columns):
        raise ValueError("it lists a column twice")
    if tree.n_leaves != n_leaves:
        raise ValueError(f"its nodes have {tree.n_leaves} leaves, but it lists {n_leaves}")


# ------------------------------------------------------------------------------------------------ parts of a model


def _cluster(i: int, entry: dict[str, Any], rules: tuple[Rule, ...]) -> ClusterSummary:
    name, size, share = _name(entry["name"], f"the name of cluster {i}"), _number(entry["size"]), _share(entry["share"])
    caught, precision = (None if entry[field] is None else _share(entry[field]) for field in ("caught", "precision"))
    return ClusterSummary(i, name, size, share, caught, precision, rules)


def _categories(entry: dict[str, Any]) -> Categories:
    values, others = _list(entry["values"]), entry["others"]
    if not isinstance(others, bool) or not all(value is None or _is_name(value) for value in values):
        raise ValueError("categories must be text, numbers or null")
    _refuse_twice("category", values)
    return Categories(tuple(values), others)


def _readability(entry: dict[str, Any]) -> Readability:
    fields = Readability._fields
    if sorted(entry) != sorted(fields):
        raise ValueError(f"its readability has {sorted(entry)}, expected {sorted(fields)}")
    counts, averages = ([entry[name] for name in names] for names in (fields[:3], fields[3:]))
    return Readability(*map(_whole, counts), *map(_number, averages))  # type: ignore[call-arg, arg-type]


def _mixture(entry: dict[str, Any]) -> MixtureFacts:
    first, second = map(_name, _list(entry["components"]))
    far = (
        FarFromGaussian(_name(each["component"]), _text(each["column"]), _text(each["verdict"]))
        for each in _list(entry["far_from_gaussian"])
    )
    noise, error = _measure(entry["explainability_to_noise"]), float(_number(entry["certified_error"]))
    return MixtureFacts(noise, (first, second), _text(entry["column"]), error, tuple(far))


def _objective(value: Any) -> str:
    if value not in ("sqeuclidean", "l1", "l2"):
        raise ValueError(f"its objective {value!r} is unknown")
    return str(value)


def _draws(entry: dict[str, Any]) -> DrawFacts:
    if _whole(entry["n_trees"]) < 1:
        raise ValueError("expected at least one random tree, got 0")
    return DrawFacts(entry["n_trees"], *(_measure(entry[name]) for name in ("best", "mean", "worst", "bound")))


def _kernel(entry: dict[str, Any]) -> KernelFacts:
    return KernelFacts(_text(entry["kernel"]), _measure(entry["price_ceiling"]))


def _search(entry: dict[str, Any]) -> SearchFacts:
    if sorted(entry) != sorted(SearchFacts._fields) or entry["objective"] not in GOALS:
        raise ValueError("its facts of the search are not those of this version")
    return SearchFacts(
        objective=entry["objective"],
        reason=_text(entry["reason"]),
        n_candidates=_whole(entry["n_candidates"]),
        n_sampled=_whole(entry["n_sampled"]),
        stopped_by_clock=_truth(entry["stopped_by_clock"]),
        gap=None if entry["gap"] is None else _share(entry["gap"]),
    )


def _budget(entry: dict[str, Any], columns: tuple[str, ...]) -> BudgetFacts:
    fields = BudgetFacts._fields
    if sorted(entry) != sorted(fields):
        raise ValueError("its budget is none of this version")
    limits = (None if entry[name] is None else _whole(entry[name]) for name in fields[:4])
    forbidden, preferred = (tuple(map(_text, _list(entry[name]))) for name in fields[4:6])
    if not {*forbidden, *preferred} <= set(columns):
        raise ValueError("its budget names columns that it does not list")
    max_depth, min_samples_leaf, max_columns, digits = limits
    return BudgetFacts(max_depth, min_samples_leaf, max_columns, digits, forbidden, preferred, _whole(entry["n_moved"]))


# ---------------------------------------------------------------------------------------------------------- values


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {value!r}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {value!r}")
    value.encode("utf-8")  # half of a pair of surrogates could not be written
    return value


def _name(value: Any, what: str = "a name") -> str | int | float:
    if not _is_name(value):
        raise ValueError(f"{what} must be text or a number, got {value!r}")
    return value  # type: ignore[no-any-return]


def _is_name(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_text(value)) or True
    return isinstance(value, (bool, int, float)) and _is_finite(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected true or false, got {value!r}")
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError(f"expected a whole number of at least 0, got {value!r}")
    return value


def _number(value: Any) -> int | float:
    """Return a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value) or value < 0:
        raise ValueError(f"expected a number of at least 0, got {value!r}")
    return value


def _measure(value: Any) -> float:
    """Return a number of at least 0; infinity is stored as text."""
    return math.inf if value == "inf" else float(_number(value))


def _share(value: Any) -> float:
    return _between(value, 0, 1)


def _between(value: Any, low: float, high: float) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not low - _SLACK <= value <= high + _SLACK:
        raise ValueError(f"expected a number from {low} to {high}, got {value!r}")
    return float(value)


def _is_finite(value: float) -> bool:
    return abs(value) <= sys.float_info.max


def _refuse_twice(what: str, values: Sequence[Any]) -> None:
    if len(set(values)) < len(values):
        raise ValueError(f"it lists a {what} twice")
