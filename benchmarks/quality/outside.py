"""Rows that were not seen: 70% of the rows are explained, the other 30% are labelled by the rules."""

import argparse
import sys

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality import cases
from benchmarks.quality.cases import ROWS_EACH, clusters_of, tables_of
from benchmarks.timing import print_table
from boxwood import explain

SEEDS = (0, 1, 2)  # of the division of the rows
TREES = ("explain", "agreement", "CART")  # the second is explain with this objective


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    cases.add_options(parser)


def main(options: argparse.Namespace) -> None:
    """Print agreement in and out of sample, for k-means clusters of every table, and their means."""
    tables = [table for table in tables_of(options) if len(table.X) >= 2 * ROWS_EACH * table.k]
    if not tables:
        sys.exit(f"none of these tables has {2 * ROWS_EACH} rows for each cluster")
    rows = []
    for table in sorted(tables, key=lambda table: table.X.size):
        kmeans = clusters_of(table, table.k, 0).kmeans
        mean = np.mean([shares(table.X, kmeans.labels_, table.k, seed) for seed in SEEDS], axis=0)
        rows.append((table.name, table.k, *mean))
        print(*rows[-1], file=sys.stderr, flush=True)
    lines = [[row[0], str(row[1]), *(f"{100 * share:.2f}" for share in row[2:])] for row in rows]
    means = np.mean([row[2:] for row in rows], axis=0)
    lines.append(["mean", "", *(f"{100 * share:.2f}" for share in means)])
    header = ["k-means clusters of", "k", *(f"{name}, {where}" for name in TREES for where in ("seen", "unseen"))]
    print_table("Agreement with k leaves on the 70% that were explained and on the others, in percent", header, lines)


def shares(X: np.ndarray, labels: np.ndarray, k: int, seed: int) -> list[float]:
    """Return the agreement of `TREES` with k leaves, each on rows seen and on rows unseen."""
    parted = labels if np.bincount(labels).min() > 1 else None  # a row alone is on one side or the other
    seen, unseen, known, hidden = train_test_split(X, labels, test_size=0.3, random_state=seed, stratify=parted)
    trees = (
        explain(seen, known, max_leaf_nodes=k),
        explain(seen, known, max_leaf_nodes=k, objective="agreement"),
        DecisionTreeClassifier(max_leaf_nodes=k, random_state=0).fit(seen, known),
    )
    return [
        float((tree.predict(rows) == own).mean()) for tree in trees for rows, own in ((seen, known), (unseen, hidden))
    ]
