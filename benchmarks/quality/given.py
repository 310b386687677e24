"""Labels as given: no rule without a row of its cluster, and no less agreement than CART with as many leaves."""

import argparse
import sys
import time

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality import cases
from benchmarks.quality.cases import tables_of
from benchmarks.timing import print_table
from boxwood import explain
from boxwood.grow import cart

SEEDS = (0, 1, 2)  # of scikit-learn's CART


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    cases.add_options(parser)


def main(options: argparse.Namespace) -> None:
    """Print a line for each table and number of leaves: the classes are the clusters."""
    tables = [table for table in tables_of(options) if table.classes.any()]
    if not tables:
        sys.exit("none of these tables has classes")
    rows = []
    for table in sorted(tables, key=lambda table: table.X.size):
        for times in (1, 2):
            rows.append(_row(table.name, table.X, table.classes, times * table.k))
            print(*rows[-1], file=sys.stderr, flush=True)
    header = ["", "leaves", "explain", "agreement", "grow.cart", "scikit-learn", "false rules", "CPU s"]
    title = "Agreement with given labels: explain, the same with objective='agreement', CART, the best of three seeds"
    print_table(title, header, [[str(cell) for cell in row] for row in rows])
    below = [f"{row[0]} {row[1]}" for row in rows if float(row[3]) < float(row[4])]
    print(f"below grow.cart in {len(below)} of {len(rows)}: {', '.join(below) or '-'}")
    print(f"most below scikit-learn's: {max(float(row[5]) - float(row[3]) for row in rows):.2f} points")
    print(f"rules without a row of their cluster: {sum(int(row[6]) for row in rows)}")


def _row(name: str, X: np.ndarray, classes: np.ndarray, leaves: int) -> list[str | int]:
    start = time.process_time()
    auto = explain(X, classes, max_leaf_nodes=leaves)
    seconds = time.process_time() - start
    by_agreement = explain(X, classes, max_leaf_nodes=leaves, objective="agreement")
    ours = float((cart(X, classes, max_leaf_nodes=leaves).predict(X) == classes).mean())
    others = [
        DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=seed).fit(X, classes).score(X, classes)
        for seed in SEEDS
    ]
    false = sum(leaf.own == 0 for ex in (auto, by_agreement) for leaf in ex.leaves)
    shares = (auto.agreement, by_agreement.agreement, ours, max(others))
    return [name, leaves, *(f"{100 * share:.3f}" for share in shares), false, f"{seconds:.2f}"]
