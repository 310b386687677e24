"""Rules as sentences for people, and as a table for a spreadsheet."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from boxwood.render._figures import percent, size
from boxwood.render._rules import cluster_name, cluster_rule, explanation_of, number, rule

if TYPE_CHECKING:
    from boxwood.explanation import ClusterSummary

__all__ = ["rule_table", "sentences"]

_COLUMNS = ("leaf", "cluster", "rows", "share", "precision", "rule")


def sentences(model: Any) -> str:
    """Return a line for each cluster; see `Explanation.to_sentences`. `model` may be a fitted estimator."""
    ex = explanation_of(model)
    return "\n".join(_sentence(cluster, "of weight" if ex.weighted else "rows") for cluster in ex.clusters)


def _sentence(cluster: ClusterSummary, noun: str) -> str:
    rows = "1 row" if noun == "rows" and cluster.size == 1 else f"{size(cluster.size)} {noun}"
    begin = f"{cluster_name(cluster.name)} ({rows}, {percent(cluster.share)}): {cluster_rule(cluster)}."
    if cluster.caught is None or cluster.precision is None:
        return begin
    return (
        f"{begin} The rule finds {percent(cluster.caught)} of the cluster; {percent(cluster.precision)} of its rows "
        "are in the cluster."
    )


def rule_table(model: Any) -> str:
    """Return the rules as CSV; see `Explanation.to_csv`. `model` may be a fitted estimator."""
    ex = explanation_of(model)
    whole = sum(leaf.size for leaf in ex.leaves) or 1
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for leaf in ex.leaves:
        precision = number(float(leaf.own / leaf.size)) if leaf.size else ""
        rows, share = number(float(leaf.size)), number(float(leaf.size / whole))
        writer.writerow([leaf.leaf, str(ex.names[leaf.cluster]), rows, share, precision, rule(leaf.rule)])
    return out.getvalue().rstrip("\n")
