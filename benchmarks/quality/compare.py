"""The comparison: every case, every peer, and where `explain` is beaten."""

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from benchmarks.quality import cases
from benchmarks.quality.cases import clusters_of, numbers_of_clusters, tables_of
from benchmarks.quality.judge import Outcome, outcome_of_labels
from benchmarks.quality.peers import peers
from benchmarks.quality.report import Case, print_report
from benchmarks.tables import Table
from boxwood import explain


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    cases.add_options(parser)
    parser.add_argument("--clusters", nargs="+", type=int, help="numbers of clusters; else the classes, 5, 20, 50")
    parser.add_argument("--times", nargs="+", type=int, default=[1, 2], help="leaves for each cluster")
    parser.add_argument("--seeds", type=int, default=1, help="seeds of k-means")
    parser.add_argument("--objective", default="auto")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--keep-as", metavar="NAME", help="keep outcomes of explain, too, for later comparisons")
    parser.add_argument("--keep", type=Path, help="JSON file of the peers' outcomes, written and read again")


def main(options: argparse.Namespace) -> None:
    """Run the cases, print the comparison, and end with exit code 0 whatever came out."""
    kept = json.loads(options.keep.read_text()) if options.keep and options.keep.exists() else {}
    # not forked: a child would inherit the locks of OpenMP's threads
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        waiting = [
            pool.submit(run, table, k, seed, times, options.objective, kept)
            for table in sorted(tables_of(options), key=lambda table: table.X.size)
            for k in (options.clusters or numbers_of_clusters(table))
            for seed in range(options.seeds)
            for times in options.times
        ]
        found = []
        for each in as_completed(waiting):
            found.append(case := each.result())
            own = {options.keep_as: case.ours} if options.keep_as else {}
            kept[case.key] = {name: list(outcome) for name, outcome in (case.peers | own).items()}
            if options.keep:
                options.keep.write_text(json.dumps(kept))
    print_report(found)


def run(table: Table, k: int, seed: int, times: int, objective: str, kept: dict[str, dict[str, list[float]]]) -> Case:
    """Return what `explain` and its peers make of a case; peers that were kept are not run again."""
    clusters, leaves = clusters_of(table, k, seed), times * k
    start = time.process_time()
    explanation = explain(clusters.X, clusters.kmeans, max_leaf_nodes=leaves, objective=objective)
    seconds = time.process_time() - start
    ours = outcome_of_labels(clusters, explanation.predict(clusters.X), explanation.tree.n_leaves)
    key = f"{clusters.key} leaves={leaves}"
    known = {name: Outcome(*peer) for name, peer in kept.get(key, {}).items()}
    missing = {name: grow for name, grow in peers(clusters, leaves).items() if name not in known}
    for name, grow in missing.items():
        start = time.process_time()
        known[name] = grow()._replace(seconds=time.process_time() - start)
    return Case(key, times, ours._replace(seconds=seconds), explanation.method, known)
