"""The comparison: every case, every peer, and where `explain` is beaten."""

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from benchmarks.quality.cases import all_tables, clusters_of, numbers_of_clusters
from benchmarks.quality.judge import Outcome, outcome_of_labels
from benchmarks.quality.peers import peers
from benchmarks.quality.report import Case, print_report
from benchmarks.tables import Table
from boxwood import explain


def main(arguments: list[str] | None = None) -> None:
    """Run the cases, print the comparison, and end with exit code 0 whatever came out."""
    options = _parser().parse_args(arguments)
    kept = json.loads(options.keep.read_text()) if options.keep and options.keep.exists() else {}
    tables = [table for table in all_tables(wide=options.wide) if not options.tables or table.name in options.tables]
    # not forked: a child would inherit the locks of OpenMP's threads
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        waiting = [
            pool.submit(run, table, k, seed, times, options.objective, kept)
            for table in sorted(tables, key=lambda table: table.X.size)
            for k in (options.clusters or numbers_of_clusters(table))
            for seed in range(options.seeds)
            for times in options.times
        ]
        cases = []
        for each in as_completed(waiting):
            cases.append(case := each.result())
            own = {options.keep_as: case.ours} if options.keep_as else {}
            kept[case.key] = {name: list(outcome) for name, outcome in (case.peers | own).items()}
            if options.keep:
                options.keep.write_text(json.dumps(kept))
    print_report(cases)


def run(table: Table, k: int, seed: int, times: int, objective: str, kept: dict[str, dict[str, list[float]]]) -> Case:
    """Return what `explain` and its peers make of a case; peers that were kept are not run again."""
    clusters, leaves = clusters_of(table, k, seed), times * k
    start = time.process_time()
    explanation = explain(clusters.X, clusters.kmeans, max_leaf_nodes=leaves)
    seconds = time.process_time() - start
    ours = outcome_of_labels(clusters, explanation.predict(clusters.X), explanation.tree.n_leaves)
    key = f"{clusters.key} leaves={leaves}"
    known = {name: Outcome(*peer) for name, peer in kept.get(key, {}).items()}
    missing = {name: grow for name, grow in peers(clusters, leaves).items() if name not in known}
    for name, grow in missing.items():
        start = time.process_time()
        known[name] = grow()._replace(seconds=time.process_time() - start)
    return Case(key, times, ours._replace(seconds=seconds), explanation.method, known)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--tables", nargs="+", help="names of tables; all without it")
    parser.add_argument("--clusters", nargs="+", type=int, help="numbers of clusters; else the classes, 5, 20, 50")
    parser.add_argument("--times", nargs="+", type=int, default=[1, 2], help="leaves for each cluster")
    parser.add_argument("--seeds", type=int, default=1, help="seeds of k-means")
    parser.add_argument("--objective", default="auto")
    parser.add_argument("--no-wide", dest="wide", action="store_false", help="without the wide tables")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--keep-as", metavar="NAME", help="keep outcomes of explain, too, for later comparisons")
    parser.add_argument("--keep", type=Path, help="JSON file of the peers' outcomes, written and read again")
    return parser
