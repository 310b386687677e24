"""How far trees are from the cheapest with as many leaves, and how often agreement kept a cheaper one out.

The cheapest tree is sought with objective="cost"; its bound on all trees is the bound for that of "auto", too.
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.quality import cases
from benchmarks.quality.cases import Clusters, clusters_of, tables_of
from benchmarks.timing import print_table
from boxwood import Explanation, explain
from boxwood.explanation.choose.goal import Candidate, GoalRule

EQUAL = 1 + 1e-9  # costs are sums of rounded numbers


class Gaps(NamedTuple):
    """Of one case: the gap of the cheapest tree found, that of "auto", and why the two trees differ, if they do."""

    clusters: Clusters
    cheapest: Explanation
    auto: Explanation

    @property
    def of_cheapest(self) -> float:
        """1 less the bound over the cost of the tree that was grown for cost; NaN if the clock left no bound."""
        gap = self.cheapest.search_report.gap
        return np.nan if gap is None else float(gap)

    @property
    def of_auto(self) -> float:
        """1 less the same bound over the cost of the tree of "auto"."""
        return 1 - (1 - self.of_cheapest) * self.cheapest.price / self.auto.price

    @property
    def why(self) -> str:
        """Whether the trees cost the same, or "auto" would not have taken the cheaper one, or it was not found."""
        n = len(self.clusters.X)
        auto, cheapest = (Candidate(ex.tree, "", ex.price, (1 - ex.agreement) * n) for ex in (self.auto, self.cheapest))
        return why_dearer(auto, cheapest, n)


def why_dearer(auto: Candidate, cheapest: Candidate, n_rows: int) -> str:
    """Return "as cheap", "kept out" if the rule of "auto" refuses the cheapest tree, or "not found"; by prices."""
    if auto.cost <= cheapest.cost * EQUAL:
        return "as cheap"
    rule = GoalRule("auto", share_nearest=1.0, cost_of_clusters=1.0, weight=n_rows)
    return "kept out" if rule.best([auto, cheapest]) is auto else "not found"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    cases.add_options(parser)
    parser.add_argument("--clusters", nargs="+", type=int, default=[2, 3, 4], help="numbers of clusters and leaves")
    parser.add_argument("--time-limit", type=float, default=60, help="seconds for the cheapest of 3 or more leaves")


def main(options: argparse.Namespace) -> None:
    """Print a line for each table and number of clusters, and for each number the least, median and largest gaps."""
    tables = sorted(tables_of(options), key=lambda table: table.X.size)
    found = []
    for k in options.clusters:
        limit = options.time_limit if k > 2 else None
        of_k = []
        for table in tables:
            clusters = clusters_of(table, k, 0)
            cheapest = explain(clusters.X, clusters.kmeans, max_leaf_nodes=k, objective="cost", time_limit=limit)
            of_k.append(Gaps(clusters, cheapest, explain(clusters.X, clusters.kmeans, max_leaf_nodes=k)))
        header = [f"k={k}", "cost: price", "agreement", "gap", "stopped", "auto: price", "agreement", "gap", ""]
        print_table(f"The cheapest tree, and that of auto; limit {limit}", header, [_line(each) for each in of_k])
        found.append((k, of_k))
    print_table(
        "Gaps by number of clusters",
        ["k", "tables", "with bound", "cost: gap 0", "worst", "auto: gap 0", "median", "median of others", "worst",
         "kept out", "not found"],
        [_summary(k, of_k) for k, of_k in found],
    )  # fmt: skip


def _line(each: Gaps) -> list[str]:
    trees = (each.cheapest, each.of_cheapest), (each.auto, each.of_auto)
    cheapest, auto = ([f"{ex.price:.4f}", f"{ex.agreement:.4f}", f"{gap:.3%}"] for ex, gap in trees)
    stopped = "by clock" if each.cheapest.search_report.stopped_by_clock else ""
    return [each.clusters.table, *cheapest, stopped, *auto, each.why]


def _summary(k: int, found: list[Gaps]) -> list[str]:
    known = [each for each in found if not np.isnan(each.of_cheapest)]
    of_cheapest, of_auto = ([getattr(each, name) for each in known] for name in ("of_cheapest", "of_auto"))
    positive = [gap for gap in of_auto if gap > EQUAL - 1]
    return [
        str(k),
        str(len(found)),
        str(len(known)),
        str(of_cheapest.count(0)),
        _percent(of_cheapest, np.max),
        str(len(of_auto) - len(positive)),
        _percent(of_auto, np.median),
        _percent(positive, np.median),
        _percent(of_auto, np.max),
        *(str(sum(each.why == why for each in found)) for why in ("kept out", "not found")),
    ]


def _percent(gaps: list[float], summary: Callable[[list[float]], float]) -> str:
    return f"{summary(gaps):.3%}" if gaps else "-"
