"""`spoken_names`: words to speak of clusters by, which are true of most rows of a cluster and of no other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._types import Bools, Floats
from boxwood.tree.shorten import ends_left_of
from boxwood.words.values import category, column_name, group_digits

if TYPE_CHECKING:
    from boxwood.explanation.measure.evidence import Evidence
    from boxwood.explanation.measured_tree import MeasuredTree

MOST, HALF = 0.8, 0.5  # share of a cluster of which a name is true, and of each other one, of which it is not
SAME = 0.1  # of the rows: two words that differ in fewer say the same
MAJORITY = 2 / 3  # of all rows: more are not said to be high
FEW_VALUES = 10  # of whole numbers, which are said
TRIED = 6  # words of a cluster that are tried in pairs
LONGEST = 40  # characters of a name


class _Word(NamedTuple):
    """A word, the column that it is about, whether it is true of each row, and of which share of each cluster."""

    said: str
    column: int
    is_true: Bools
    shares: Floats

    def apart(self, c: int) -> float:
        """Return how much more often it is true of a cluster than of any other."""
        return float(self.shares[c] - self.elsewhere(c).max(initial=0.0))

    def elsewhere(self, c: int) -> Floats:
        """Return of which share of each other cluster it is true."""
        return np.delete(self.shares, c)

    def speaks_of(self, c: int) -> bool:
        """Return whether it is true of most of a cluster, and of less than half of each other one."""
        return bool(self.shares[c] >= MOST and self.elsewhere(c).max(initial=0.0) < HALF)


def spoken_names(ex: MeasuredTree) -> dict[Any, str]:
    """Return words to speak of clusters that boxwood made, by their names; of none whose rows are not in memory.

    Words are values of columns of categories, booleans, whole numbers of few values, "no" and "some" for amounts, and
    "missing"; or "high" and "low" for numbers, "late" and "early" for dates. These are above and below the cuts that
    the rules make in the column, or the median of all rows; more than two thirds of the rows are "not high" or "not
    low", and numbers between two cuts "middle", "rather high" or "rather low". Of each column the word that is true of
    fewest rows speaks, so that no name says other than a rule.

    A name is one word or two, true of 80% of the cluster, by weight, and of less than half of each other one. Each of
    two words is much truer of the cluster than of any other; where that names none, two or three are together. No two
    clusters have one name.
    """
    evidence = ex._in_memory if ex._is_made_here else None
    if evidence is None or not all(isinstance(name, int) for name in ex.names):
        return {}
    if "spoken" not in ex._kept:
        words, k = list(_words(ex, evidence)), evidence.task.reference.n_clusters
        ex._kept["spoken"] = [_name(c, words, evidence) for c in range(k)]
    said = ex._kept["spoken"]
    return {name: own for name, own in zip(ex.names, said, strict=True) if own and said.count(own) == 1}


def _name(c: int, words: Sequence[_Word], evidence: Evidence) -> str:
    """Return the name of a cluster, empty if it has none."""
    of_column: dict[int, _Word] = {}
    for word in words:
        nearest = of_column.get(word.column)
        if word.shares[c] >= MOST and (nearest is None or word.is_true.sum() < nearest.is_true.sum()):
            of_column[word.column] = word
    tried = _names(c, sorted(of_column.values(), key=lambda word: -word.apart(c)), evidence)
    return next((name.said for name in tried if len(name.said) <= LONGEST and name.speaks_of(c)), "")


def _names(c: int, own: Sequence[_Word], evidence: Evidence) -> Iterator[_Word]:
    """Yield what may be the name of a cluster, the best first: of two clear words, of one, of several together.

    IN: own: words that are true of it, the clearest first.
    """
    clear = [word for word in own if word.apart(c) >= MOST - HALF][:TRIED]
    yield from (_join((a, b), evidence) for a, b in combinations(clear, 2) if np.mean(a.is_true != b.is_true) >= SAME)
    yield from clear
    rare = sorted(own, key=lambda word: word.elsewhere(c).sum())[:TRIED]
    for n in (2, 3):
        yield from sorted((_join(each, evidence) for each in combinations(rare, n)), key=lambda name: -name.apart(c))


def _join(words: Sequence[_Word], evidence: Evidence) -> _Word:
    is_true = np.logical_and.reduce([word.is_true for word in words])
    return _Word(", ".join(word.said for word in words), words[0].column, is_true, _shares(is_true, evidence))


def _words(ex: MeasuredTree, evidence: Evidence) -> Iterator[_Word]:
    """Yield the words of all columns, in their order."""
    here, ends = evidence.coordinates, ends_left_of(ex.tree)
    given = here.table.values[evidence.task.kept]
    table = given if here.entry is None else here.entry.known(given)
    for j, name in enumerate(map(column_name, ex.columns)):
        x = np.where(np.isfinite(given[:, j]), table[:, j], np.nan)
        if j in evidence.categories:
            said = _of_categories(name, evidence.categories[j].values, x)
        elif here.columns[j] in evidence.booleans:
            said = iter([(name, x == 1), (f"not {name}", x == 0)])
        elif np.isfinite(x).any():
            cuts = np.unique(ends[ex.tree.feature == j])
            said = _of_dates(name, x, cuts) if j in here.dates else _of_numbers(name, x, cuts)
        else:
            said = iter(())
        for each, is_true in (*said, (f"{name} missing", np.isnan(x))):
            yield _Word(each, j, is_true, _shares(is_true, evidence))


def _of_categories(name: str, values: Sequence[Any], x: Floats) -> Iterator[tuple[str, Bools]]:
    for code, value in enumerate(values):
        if isinstance(value, bool):
            yield name if value else f"not {name}", x == code
        else:
            yield f"{name} {category(value)}", x == code


def _of_dates(name: str, x: Floats, cuts: Floats) -> Iterator[tuple[str, Bools]]:
    return ((f"{how} {name}", is_true) for how, is_true in _of_ranges(x, cuts, "late", "early"))


def _of_numbers(name: str, x: Floats, cuts: Floats) -> Iterator[tuple[str, Bools]]:
    values = np.unique(x[np.isfinite(x)])
    if len(values) <= FEW_VALUES and (values == np.floor(values)).all():
        yield from ((f"{name} = {group_digits(value)}", x == value) for value in values.tolist())
    elif values[0] == 0:
        yield from ((f"no {name}", x == 0), (f"some {name}", x > 0))
    if len(values) > 2:
        yield from ((f"{how} {name}", is_true) for how, is_true in _of_ranges(x, cuts, "high", "low"))


def _of_ranges(x: Floats, cuts: Floats, more: str, less: str) -> Iterator[tuple[str, Bools]]:
    """Yield where numbers are, as words, by the cuts that part them; by their median, if none does."""
    known = x[np.isfinite(x)]
    middle = float(np.median(known))
    cuts = cuts[(cuts >= known.min()) & (cuts < known.max())]
    if not len(cuts):
        yield from ((more, x > middle), (less, x < middle))
    for low, high in combinations([-math.inf, *cuts.tolist(), math.inf], 2):
        is_true = (x > low) & (x <= high)
        is_most = is_true.sum() > MAJORITY * len(known)
        if math.isfinite(low) and math.isfinite(high):
            yield "middle" if low < middle <= high else f"rather {more if low >= middle else less}", is_true
        elif math.isfinite(low):
            yield f"not {less}" if is_most else more, is_true
        elif math.isfinite(high):
            yield f"not {more}" if is_most else less, is_true


def _shares(is_true: Bools, evidence: Evidence) -> Floats:
    """Return of which share of each cluster a word is true, by weight."""
    task = evidence.task
    labels, k = task.reference.labels[task.kept], task.reference.n_clusters
    mass = np.ones(len(labels)) if task.kept_weights is None else task.kept_weights[task.kept]
    whole = np.bincount(labels, mass, k)
    return np.bincount(labels, mass * is_true, k) / np.where(whole > 0, whole, 1.0)
