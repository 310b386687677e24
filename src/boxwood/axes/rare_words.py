"""Rare words that growth takes for one word, because the few rows of each say too little of rows to come.

A cut may put each word on the side where most of its rows belong. Where words have few rows, it is luck which side that
is: a set of meaningless names fits the rows that were seen, and no others. How much a word's rows say can be counted.
Let a row and another one of its word be in one cluster more often than any two rows are, by a share r of what is
possible (the intraclass correlation). Then n rows tell the clusters of their word with the reliability

    n r / (1 + (n - 1) r),

which is 1 for names that carry the answer, however few rows each has, and 0 for names without meaning.

References
----------
C. Spearman, "Correlation calculated from faulty data", British Journal of Psychology 3, 1910; W. Brown, ibid.
G. V. Kass, "An exploratory technique for investigating large quantities of categorical data", Applied Statistics 29,
1980, merges words that differ by no more than chance, too. doi:10.2307/2986296
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from boxwood._types import Bools, Floats, Indices, Weights
from boxwood.axes.categories import Categories

ENOUGH = 50  # A word of so many rows is taken by itself, whatever the others say.
FEW_WORDS, FEW_ROWS = 8, 100  # Up to so many words in less than so many rows are left alone: their sets are few.
RELIABLE = 0.7  # One of fewer rows is, if these tell its clusters with at least this reliability.


def words_alike(
    table: Floats, categories: Mapping[int, Categories], labels: Indices, weights: Weights
) -> dict[int, Indices]:
    """Return for columns with words that are not told apart the code that stands for each code, shape (m,).

    A missing value is never rare, and words in their order need no guard, as few cuts part them.

    IN: table (n, d): codes in the columns of categories; labels (n,): cluster of each row, -1 for one that is left out.
    """
    kept = labels >= 0 if weights is None else (labels >= 0) & (weights > 0)
    times = _times(int(kept.sum()), None if weights is None else weights[kept])
    found = {}
    for j, known in categories.items():
        m = len(known.domain)
        if known.ordered or (m <= FEW_WORDS and times.sum() < FEW_ROWS):
            continue
        cells = np.zeros((m, int(labels.max()) + 1))
        np.add.at(cells, (table[kept, j].astype(np.intp), labels[kept]), times)
        alike = _too_rare(cells, np.array([value is not None for value in (*known.values, "")[:m]]))
        if alike.sum() > 1:
            found[j] = np.where(alike, np.argmax(alike), np.arange(m))
    return found


def _times(n_rows: int, weights: Weights) -> Floats:
    """Return how often each row counts: whole weights are rows that come several times, and others are rows."""
    is_whole = weights is not None and bool((weights == np.floor(weights)).all())
    return np.asarray(weights, dtype=np.float64) if is_whole else np.ones(n_rows)


def _too_rare(cells: Floats, may_be_rare: Bools) -> Bools:
    """Return which words have too few rows; IN: cells (m, k): rows of each word in each cluster."""
    n_rows = cells.sum(axis=1)
    is_rare = may_be_rare & (n_rows < ENOUGH)
    return np.asarray(is_rare & (n_rows < least_rows(cells[is_rare])))


def least_rows(cells: Floats) -> float:
    """Return how many rows a word needs, so that they tell its clusters reliably; IN: cells (m, k): as counted."""
    n_rows, of_cluster = cells.sum(axis=1), cells.sum(axis=0)
    several = n_rows > 1
    total = float(of_cluster.sum())
    chance = float((of_cluster * (of_cluster - 1)).sum()) / max(total * (total - 1), 1.0)
    if not several.any() or chance >= 1:
        return math.inf
    pairs = (cells[several] * (cells[several] - 1)).sum(axis=1) / (n_rows[several] - 1)
    share = (float(pairs.sum()) / float(n_rows[several].sum()) - chance) / (1 - chance)
    return math.inf if share <= 0 else RELIABLE / (1 - RELIABLE) * (1 - share) / share
