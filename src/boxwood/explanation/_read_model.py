"""A model file becomes an explanation: every field is checked, so that whatever is read can be printed and used."""

from __future__ import annotations

from typing import Any

from boxwood.explanation._conditions import Rule, cluster_rules_of, rules_of
from boxwood.explanation._explanation import Explanation
from boxwood.explanation._facts import GOALS, BudgetFacts, SearchFacts
from boxwood.explanation._file_records import held_out_of, kept_of
from boxwood.explanation._kept_facts import as_categories, kept_from
from boxwood.explanation._read_values import (
    as_between,
    as_list,
    as_measure,
    as_name,
    as_number,
    as_share,
    as_text,
    as_truth,
    as_whole,
    is_finite,
    refuse_twice,
)
from boxwood.explanation._summaries import (
    ClusterSummary,
    DrawFacts,
    FarFromGaussian,
    KernelFacts,
    LeafSummary,
    MixtureFacts,
    leaves_of,
    ruled_by,
)
from boxwood.metrics._readability import Readability
from boxwood.tree import ThresholdTree
from boxwood.tree._exchange import from_nodes

__all__ = ["from_document"]


def from_document(document: dict[str, Any]) -> Explanation:
    """Return the explanation that `to_document` wrote.

    Raises
    ------
    KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError
        If a field is missing, is of another type, or holds a value that no explanation has.
    """
    tree, columns = from_nodes(document["nodes"]), tuple(map(as_text, as_list(document["columns"])))
    entries = as_list(document["clusters"])
    _refuse_misfit(tree, columns, len(entries), len(as_list(document["leaves"])))
    categories = tuple((name, as_categories(entry)) for name, entry in document.get("categories", {}).items())
    said = tree, columns, {columns.index(name): known for name, known in categories}
    rules, of_clusters = rules_of(*said), cluster_rules_of(*said, len(entries))
    leaves = [
        LeafSummary(i, cluster, as_number(entry["size"]), as_number(entry["own"]), rules[i], _noise(entry))
        for i, (cluster, entry) in enumerate(zip(tree.leaf_clusters.tolist(), document["leaves"], strict=True))
    ]
    if not is_finite(sum(leaf.size for leaf in leaves)):
        raise ValueError("the sizes of its leaves add up to more than the largest float")
    ruled = map(ruled_by, leaves_of(leaves, len(entries)))
    clusters = [_cluster(i, *parts) for i, parts in enumerate(zip(entries, ruled, of_clusters, strict=True))]
    refuse_twice("cluster name", [cluster.name for cluster in clusters])
    kept = kept_from(document, columns, len(entries), [j for j in tree.features.tolist() if j not in said[2]])
    n_rows, n_left_out = as_whole(document["n_rows"]), as_whole(document["n_left_out"])
    if n_left_out > n_rows:
        raise ValueError(f"{n_left_out} of {n_rows} rows are left out")
    noise = [leaf.noise for leaf in leaves if leaf.noise is not None]
    if noise and (len(noise) < len(leaves) or sum(noise) > n_left_out):
        raise ValueError(f"{n_left_out} rows are left out, but its leaves hold {sum(noise)} of them")
    return Explanation(
        tree=tree,
        columns=columns,
        method=as_text(document["method"]),
        n_rows=n_rows,
        n_left_out=n_left_out,
        clusters=tuple(clusters),
        leaves=tuple(leaves),
        cost=as_measure(document["cost"]),
        reference_cost=as_measure(document["reference_cost"]),
        price=as_measure(document["price"]),
        agreement=as_share(document["agreement"]),
        adjusted_rand=as_between(document["adjusted_rand"], -1, 1),
        readability=_readability(document["readability"]),
        weighted=as_truth(document["weighted"]),
        standardized=as_truth(document["standardized"]),
        notes=tuple(map(as_text, as_list(document["notes"]))),
        mixture=_mixture(document["mixture"]) if "mixture" in document else None,
        objective=_objective(document.get("objective", "sqeuclidean")),
        draws=_draws(document["draws"]) if "draws" in document else None,
        kernel=_kernel(document["kernel"]) if "kernel" in document else None,
        search=_search(document["search"]) if "search" in document else None,
        budget=_budget(document["budget"], columns) if "budget" in document else None,
        categories=categories,
        held_out=held_out_of(document),
        _kept=kept | kept_of(document, columns, tree.n_nodes, len(entries)),
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


def _cluster(i: int, entry: dict[str, Any], ruled: float, rules: tuple[Rule, ...]) -> ClusterSummary:
    name, size = as_name(entry["name"], f"the name of cluster {i}"), as_number(entry["size"])
    share = as_share(entry["share"])
    caught, precision = (None if entry[field] is None else as_share(entry[field]) for field in ("caught", "precision"))
    return ClusterSummary(i, name, size, share, as_number(ruled), caught, precision, rules)


def _noise(entry: dict[str, Any]) -> int | None:
    return None if entry.get("noise") is None else as_whole(entry["noise"])


def _readability(entry: dict[str, Any]) -> Readability:
    fields = Readability._fields
    if sorted(entry) != sorted(fields):
        raise ValueError(f"its readability has {sorted(entry)}, expected {sorted(fields)}")
    counts, averages = ([entry[name] for name in names] for names in (fields[:3], fields[3:]))
    return Readability(*map(as_whole, counts), *map(as_number, averages))


def _mixture(entry: dict[str, Any]) -> MixtureFacts:
    first, second = map(as_name, as_list(entry["components"]))
    far = (
        FarFromGaussian(as_name(each["component"]), as_text(each["column"]), as_text(each["verdict"]))
        for each in as_list(entry["far_from_gaussian"])
    )
    noise, error = as_measure(entry["explainability_to_noise"]), as_share(entry["certified_error"])
    return MixtureFacts(noise, (first, second), as_text(entry["column"]), error, tuple(far))


def _objective(value: Any) -> str:
    if value not in ("sqeuclidean", "l1", "l2"):
        raise ValueError(f"its objective {value!r} is unknown")
    return str(value)


def _draws(entry: dict[str, Any]) -> DrawFacts:
    if as_whole(entry["n_trees"]) < 1:
        raise ValueError("expected at least one random tree, got 0")
    best, mean, worst = (as_measure(entry[name]) for name in ("best", "mean", "worst"))
    bound = None if entry["bound"] is None else as_measure(entry["bound"])
    return DrawFacts(entry["n_trees"], best, mean, worst, bound)


def _kernel(entry: dict[str, Any]) -> KernelFacts:
    return KernelFacts(as_text(entry["kernel"]), as_measure(entry["price_ceiling"]))


def _search(entry: dict[str, Any]) -> SearchFacts:
    if sorted(entry) != sorted(SearchFacts._fields) or entry["objective"] not in GOALS:
        raise ValueError("its facts of the search are not those of this version")
    return SearchFacts(
        objective=entry["objective"],
        reason=as_text(entry["reason"]),
        n_candidates=as_whole(entry["n_candidates"]),
        n_sampled=as_whole(entry["n_sampled"]),
        stopped_by_clock=as_truth(entry["stopped_by_clock"]),
        gap=None if entry["gap"] is None else as_share(entry["gap"]),
    )


def _budget(entry: dict[str, Any], columns: tuple[str, ...]) -> BudgetFacts:
    fields = BudgetFacts._fields
    if sorted(entry) != sorted(fields):
        raise ValueError("its budget is none of this version")
    limits = [None if entry[name] is None else as_whole(entry[name]) for name in fields[:4]]
    forbidden, preferred = (tuple(map(as_text, as_list(entry[name]))) for name in fields[4:6])
    if not {*forbidden, *preferred} <= set(columns):
        raise ValueError("its budget names columns that it does not list")
    max_depth, min_samples_leaf, max_columns, digits = limits
    return BudgetFacts(
        max_depth, min_samples_leaf, max_columns, digits, forbidden, preferred, as_whole(entry["n_moved"])
    )
