"""`spoken_names`: words to speak of clusters by, which are true of most rows of a cluster and of no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._types import Bools, Floats
from boxwood.words.values import category, column_name

if TYPE_CHECKING:
    from boxwood.explanation.measure.evidence import Evidence
    from boxwood.explanation.measured_tree import MeasuredTree

MOST, HALF = 0.8, 0.5  # share of a cluster of which a name is true, and of each other one, of which it is not
APART = 0.1  # so much more often is each word of a name true of its cluster than of any other
TRIED = 6  # words of a cluster that are tried in pairs
LONGEST = 30  # characters of a name


class _Word(NamedTuple):
    """A word, the column that it is about, whether it is true of each row, and of which share of each cluster."""

    said: str
    column: int
    is_true: Bools
    shares: Floats


def spoken_names(ex: MeasuredTree) -> dict[Any, str]:
    """Return words to speak of clusters that boxwood made, by their names; of none whose rows are not in memory.

    Words are "high" and "low" for numbers above and below the median of all rows, "late" and "early" for dates, values
    of columns of categories, and booleans. A name is one word or two, true of 80% of the cluster, by weight, and of
    less than half of each other one; each word by itself is less true of all others. What rows lack gives no name.
    """
    evidence = ex._in_memory if ex._is_made_here else None
    if evidence is None or not all(isinstance(name, int) for name in ex.names):
        return {}
    if "spoken" not in ex._kept:
        ex._kept["spoken"] = _names(evidence, list(_words(ex, evidence)))
    return {name: said for name, said in zip(ex.names, ex._kept["spoken"], strict=True) if said}


def _names(evidence: Evidence, words: Sequence[_Word]) -> list[str]:
    k = evidence.task.reference.n_clusters
    return [_name(c, words, evidence) for c in range(k)]


def _name(c: int, words: Sequence[_Word], evidence: Evidence) -> str:
    """Return the name of a cluster, empty if it has none: of two words if that is not too long, else the clearest."""
    own = [word for word in words if word.shares[c] >= MOST and _apart(word.shares, c) >= APART]
    own = sorted(own, key=lambda word: -_apart(word.shares, c))[:TRIED]
    pairs = [(a, b) for a, b in combinations(own, 2) if a.column != b.column]
    for several in (*pairs, *((word,) for word in own)):
        said = ", ".join(word.said for word in several)
        shares = _shares(np.logical_and.reduce([word.is_true for word in several]), evidence)
        if len(said) <= LONGEST and shares[c] >= MOST and np.delete(shares, c).max(initial=0.0) < HALF:
            return said
    return ""


def _apart(shares: Floats, c: int) -> float:
    return float(shares[c] - np.delete(shares, c).max(initial=0.0))


def _words(ex: MeasuredTree, evidence: Evidence) -> Iterator[_Word]:
    """Yield the words of all columns, in their order."""
    here = evidence.coordinates
    table = here.table.values if here.entry is None else here.entry.known(here.table.values)
    for j, name in enumerate(ex.columns):
        x = np.asarray(table[evidence.task.kept, j], dtype=np.float64)
        for said, is_true in _of_column(evidence, j, column_name(name), x):
            yield _Word(said, j, is_true, _shares(is_true, evidence))


def _of_column(evidence: Evidence, j: int, name: str, x: Floats) -> Iterator[tuple[str, Bools]]:
    known = np.isfinite(x)
    if j in evidence.categories:
        for code, value in enumerate(evidence.categories[j].values):
            if isinstance(value, bool):
                yield name if value else f"not {name}", x == code
            elif value is not None:
                yield f"{name} {category(value)}", x == code
    elif evidence.coordinates.columns[j] in evidence.booleans:
        yield name, x == 1
        yield f"not {name}", x == 0
    elif known.any() and set(np.unique(x[known]).tolist()) <= {0.0, 1.0}:
        yield f"{name} = 1", x == 1
        yield f"{name} = 0", x == 0
    elif known.any():
        middle, (more, less) = (
            np.median(x[known]),
            ("late", "early") if j in evidence.coordinates.dates else ("high", "low"),
        )
        yield f"{more} {name}", known & (x > middle)
        yield f"{less} {name}", known & (x < middle)


def _shares(is_true: Bools, evidence: Evidence) -> Floats:
    """Return of which share of each cluster a word is true, by weight."""
    task = evidence.task
    labels, k = task.reference.labels[task.kept], task.reference.n_clusters
    mass = np.ones(len(labels)) if task.kept_weights is None else task.kept_weights[task.kept]
    whole = np.bincount(labels, mass, k)
    return np.bincount(labels, mass * is_true, k) / np.where(whole > 0, whole, 1.0)
