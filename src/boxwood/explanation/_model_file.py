"""The model file: an explanation as JSON, with a format number. It is data; reading it runs nothing."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from boxwood._files import replacing
from boxwood.axes import Categories
from boxwood.errors import ModelError
from boxwood.explanation._explanation import (
    ClusterSummary,
    DrawFacts,
    Explanation,
    FarFromGaussian,
    KernelFacts,
    LeafSummary,
    MixtureFacts,
    leaves_of,
    rules_of,
)
from boxwood.metrics._readability import Readability
from boxwood.render._rules import cluster_rule, rule
from boxwood.tree import ThresholdTree
from boxwood.tree._exchange import from_nodes, to_nodes

__all__ = ["from_text", "read", "to_document", "to_text", "write"]

FORMAT, VERSION = "boxwood", 2
PLAIN_VERSION = 1  # version of models without categories, which older versions of boxwood can read
_NUMBERS = ("cost", "reference_cost", "price", "agreement", "adjusted_rand")
_PLAIN = ("method", "n_rows", "n_left_out", "weighted", "standardized")


def to_document(ex: Explanation) -> dict[str, Any]:
    """See `Explanation.to_dict`."""
    clusters = [
        cluster._asdict() | {"rules": [rule(leaf) for leaf in cluster.rules], "rule": cluster_rule(cluster)}
        for cluster in ex.clusters
    ]
    return {
        "format": FORMAT,
        "version": VERSION if ex.categories else PLAIN_VERSION,
        **{name: getattr(ex, name) for name in _PLAIN},
        **{name: _written(getattr(ex, name)) for name in _NUMBERS},
        "readability": ex.readability._asdict(),
        "notes": list(ex.notes),
        **({} if ex.objective == "sqeuclidean" else {"objective": ex.objective}),
        **({} if ex.mixture is None else {"mixture": _mixture(ex.mixture)}),
        **{name: _numbers(facts) for name, facts in (("draws", ex.draws), ("kernel", ex.kernel)) if facts is not None},
        "columns": list(ex.columns),
        **(
            {"categories": {name: column_categories._asdict() for name, column_categories in ex.categories}}
            if ex.categories
            else {}
        ),
        "clusters": clusters,
        "leaves": [leaf._asdict() | {"rule": rule(leaf.rule)} for leaf in ex.leaves],
        "nodes": to_nodes(ex.tree, _written),
    }


def to_text(ex: Explanation) -> str:
    """See `Explanation.to_json`."""
    return json.dumps(to_document(ex), allow_nan=False, ensure_ascii=False, indent=1)


def from_text(text: str, source: str) -> Explanation:
    """Return the explanation in a text; errors call it `source`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(f"{source} is not a boxwood model") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelError(f"{source} is not a boxwood model")
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ModelError(f"{source} was written by a newer boxwood (format {version}, this one reads {VERSION})")
    if version not in (PLAIN_VERSION, VERSION):
        raise ModelError(f"{source} is not a boxwood model: format {version!r} is unknown")
    try:
        return _from_document(document)
    except KeyError as error:
        raise ModelError(f"{source} is a damaged boxwood model: it lacks {error}") from None
    except (TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise ModelError(f"{source} is a damaged boxwood model: {error}") from None


def read(path: str | os.PathLike[str]) -> Explanation:
    """See `load`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ModelError(f"{os.fspath(path)} is not a boxwood model") from None
    return from_text(text, os.fspath(path))


def write(ex: Explanation, path: str | os.PathLike[str]) -> None:
    """See `Explanation.save`."""
    text = to_text(ex)
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.write(f"{text}\n")


def _from_document(document: dict[str, Any]) -> Explanation:
    tree, columns = from_nodes(document["nodes"]), tuple(map(_text, document["columns"]))
    entries = document["clusters"]
    _refuse_misfit(tree, columns, len(entries), len(document["leaves"]))
    categories = tuple((name, _read_categories(entry)) for name, entry in document.get("categories", {}).items())
    rules = rules_of(tree, columns, {columns.index(name): column_categories for name, column_categories in categories})
    leaves = [
        LeafSummary(i, cluster, _number(entry["size"]), _number(entry["own"]), rules[i])
        for i, (cluster, entry) in enumerate(zip(tree.leaf_clusters.tolist(), document["leaves"], strict=True))
    ]
    groups = leaves_of(leaves, len(entries))
    clusters = [
        _read_cluster(i, entry, cluster_leaves)
        for i, (entry, cluster_leaves) in enumerate(zip(entries, groups, strict=True))
    ]
    facts: dict[str, Any] = {name: document[name] for name in _PLAIN}
    facts |= {name: float(document[name]) for name in _NUMBERS}
    return Explanation(
        tree=tree,
        columns=columns,
        clusters=tuple(clusters),
        leaves=tuple(leaves),
        readability=Readability(**document["readability"]),
        notes=tuple(map(_text, document["notes"])),
        mixture=_read_mixture(document["mixture"]) if "mixture" in document else None,
        objective=_read_objective(document.get("objective", "sqeuclidean")),
        draws=_read_draws(document["draws"]) if "draws" in document else None,
        kernel=_read_kernel(document["kernel"]) if "kernel" in document else None,
        categories=categories,
        **facts,
    )


def _mixture(facts: MixtureFacts) -> dict[str, Any]:
    return facts._asdict() | {
        "explainability_to_noise": _written(facts.explainability_to_noise),
        "components": list(facts.components),
        "far_from_gaussian": [far._asdict() for far in facts.far_from_gaussian],
    }


def _read_mixture(entry: dict[str, Any]) -> MixtureFacts:
    first, second = map(_name, entry["components"])
    noise, error = float(entry["explainability_to_noise"]), float(entry["certified_error"])
    far = (
        FarFromGaussian(_name(each["component"]), _text(each["column"]), _text(each["verdict"]))
        for each in entry["far_from_gaussian"]
    )
    return MixtureFacts(noise, (first, second), _text(entry["column"]), error, tuple(far))


def _numbers(facts: DrawFacts | KernelFacts) -> dict[str, Any]:
    return {name: _written(value) if isinstance(value, float) else value for name, value in facts._asdict().items()}


def _read_objective(value: Any) -> str:
    if value not in ("sqeuclidean", "l1", "l2"):
        raise ValueError(f"its objective {value!r} is unknown")
    return str(value)


def _read_draws(entry: dict[str, Any]) -> DrawFacts:
    n_trees = _number(entry["n_trees"])
    if not isinstance(n_trees, int) or n_trees < 1:
        raise ValueError(f"expected a number of trees, got {n_trees!r}")
    return DrawFacts(int(n_trees), *(float(entry[name]) for name in ("best", "mean", "worst", "bound")))


def _read_kernel(entry: dict[str, Any]) -> KernelFacts:
    return KernelFacts(_text(entry["kernel"]), float(entry["price_ceiling"]))


def _read_categories(entry: dict[str, Any]) -> Categories:
    values, others = entry["values"], entry["others"]
    if not isinstance(others, bool) or not all(
        value is None or isinstance(value, (str, int, float)) for value in values
    ):
        raise ValueError("categories must be text, numbers or null")
    return Categories(tuple(values), others)


def _read_cluster(i: int, entry: dict[str, Any], cluster_leaves: list[LeafSummary]) -> ClusterSummary:
    name = _name(entry["name"], f"the name of cluster {i}")
    size = _number(entry["size"])
    shares = {field: _share(entry[field]) for field in ("share", "caught", "precision")}
    return ClusterSummary(i, name, size, **shares, rules=tuple(leaf.rule for leaf in cluster_leaves))


def _refuse_misfit(tree: ThresholdTree, columns: tuple[str, ...], n_clusters: int, n_leaves: int) -> None:
    if tree.n_features > len(columns):
        raise ValueError(f"its nodes test column {tree.n_features - 1}, but it lists {len(columns)} columns")
    if tree.leaf_clusters.max() >= n_clusters:
        raise ValueError(f"its nodes carry cluster {tree.leaf_clusters.max()}, but it lists {n_clusters} clusters")
    if len(set(columns)) < len(columns):
        raise ValueError("it lists a column twice")
    if tree.n_leaves != n_leaves:
        raise ValueError(f"its nodes have {tree.n_leaves} leaves, but it lists {n_leaves}")


def _name(value: Any, what: str = "a name") -> str | int | float:
    if not isinstance(value, (str, int, float)):
        raise ValueError(f"{what} must be text or a number, got {value!r}")
    return value


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, got {value!r}")
    return value


def _share(value: Any) -> Any:
    return None if value is None else _number(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected text, got {value!r}")
    return value


def _written(number: float) -> float | str:
    """Return a number in a form that JSON can hold: infinity as text."""
    return number if math.isfinite(number) else str(number)
