"""`spoken_names`: words to speak of clusters by, which are true of most rows of a cluster and of no other."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._types import Bools, Floats
from boxwood.explanation.records import FEW
from boxwood.tree.shorten import ends_left_of
from boxwood.words.values import category, column_name, group_digits, one_of

if TYPE_CHECKING:
    from boxwood.explanation.measure.evidence import Evidence
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.tree import Interval

MOST, HALF = 0.8, 0.5  # share of a cluster of which a name is true, and of each other one, of which it is not
SAME = 0.1  # of the rows: two words that differ in fewer say the same
MAJORITY = 2 / 3  # of all rows: numbers of more are not said to be high, but usual
FEW_VALUES = 10  # of whole numbers, which are said
TRIED = 6  # words of a cluster that are tried in pairs
LONGEST = 50  # characters of a name


class _Word(NamedTuple):
    """A word, the column that it is about, whether it is true of each row, and of which share of each cluster.

    asked, against: clusters whose rules ask just this of the column, or something else.
    """

    said: str
    column: int
    is_true: Bools
    shares: Floats
    asked: Collection[int] = ()
    against: Collection[int] = ()

    def apart(self, c: int) -> float:
        """Return how much more often it is true of a cluster than of any other."""
        return float(self.shares[c] - self.elsewhere(c).max(initial=0.0))

    def elsewhere(self, c: int) -> Floats:
        """Return of which share of each other cluster it is true."""
        return np.delete(self.shares, c)

    def speaks_of(self, c: int, least: float = MOST) -> bool:
        """Return whether it is true of so much of a cluster, and of less than half of each other one."""
        return bool(self.shares[c] >= least and self.elsewhere(c).max(initial=0.0) < HALF)


def spoken_names(ex: MeasuredTree) -> dict[Any, str]:
    """Return words to speak of clusters that boxwood made, by their names; of none whose rows are not in memory.

    Words are values of columns of categories, booleans, whole numbers of few values, "no" and "some" for amounts, and
    "missing", or "known" where a rule asks no more; or "high" and "low" for numbers, "late" and "early" for dates.
    These are above and below the cuts that the rules make in the column, or the median of all rows; numbers that more
    than two thirds of the rows have are "usual", and those between two cuts "middle", "rather high" or "rather low". Of
    each column the word that is true of fewest rows speaks, so that no name says other than a rule.

    A name is one word or two, true of 80% of the cluster, by weight, and of less than half of each other one. Each of
    two words is much truer of the cluster than of any other; where that names none, two or three are together. What its
    rule says names a cluster, too, if it is true of half of it. No two clusters have one name.
    """
    evidence = ex._in_memory if ex._is_made_here else None
    if evidence is None or not all(isinstance(name, int) for name in ex.names):
        return {}
    if "spoken" not in ex._kept:
        words, units = list(_words(ex, evidence)), _units(ex, evidence)
        names = [units.get(c) or _name(c, words, evidence) for c in range(ex.n_clusters)]
        ex._kept["spoken"] = ["" if name is None else name.said for name in names]
    said = ex._kept["spoken"]
    return {name: own for name, own in zip(ex.names, said, strict=True) if own and said.count(own) == 1}


def _name(c: int, words: Sequence[_Word], evidence: Evidence) -> _Word | None:
    """Return the name of a cluster; None if it has none."""
    told = [word for word in words if word.shares[c] >= MOST and c not in word.against]
    asked = [word for word in words if word.shares[c] >= HALF and c in word.asked]
    return _name_by(c, told, evidence, MOST) or _name_by(c, asked, evidence, HALF)


def _name_by(c: int, words: Sequence[_Word], evidence: Evidence, least: float) -> _Word | None:
    """Return the best name that some words make, of each column the one that is true of fewest rows."""
    of_column: dict[int, _Word] = {}
    for word in words:
        nearest = of_column.get(word.column, word)
        of_column[word.column] = min(nearest, word, key=lambda one: int(one.is_true.sum()))
    tried = _names(c, sorted(of_column.values(), key=lambda word: -word.apart(c)), evidence)
    return next((name for name in tried if len(name.said) <= LONGEST and name.speaks_of(c, least)), None)


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
    here, ends, asked = evidence.coordinates, ends_left_of(ex.tree), _ask_of_columns(ex)
    given = here.table.values[evidence.task.kept]
    table = given if here.entry is None else here.entry.known(given)
    for j, name in enumerate(map(column_name, ex.columns)):
        x = np.where(np.isfinite(given[:, j]), table[:, j], np.nan)
        if j in evidence.categories:
            said = _of_categories(name, evidence.categories[j].values, x, asked.get(j, {}).values())
        elif here.columns[j] in evidence.booleans:
            said = iter([(name, x == 1), (f"not {name}", x == 0)])
        elif np.isfinite(x).any():
            cuts = np.unique(ends[ex.tree.feature == j])
            said = _of_dates(name, x, cuts) if j in here.dates else _of_numbers(name, x, cuts)
        else:
            said = iter(())
        lacks = np.isnan(x)
        ruled = {c: _within(pieces, x) for c, pieces in asked.get(j, {}).items()}
        if lacks.any() and any(np.array_equal(own, ~lacks) for own in ruled.values()):
            said = iter([*said, (f"{name} known", ~lacks)])
        for each, is_true in said:
            against = [c for c, own in ruled.items() if ((is_true != own) & ~lacks).any()]
            yield _Word(each, j, is_true, _shares(is_true, evidence), {*ruled} - {*against}, against)
        yield _Word(f"{name} missing", j, lacks, _shares(lacks, evidence))


def _units(ex: MeasuredTree, evidence: Evidence) -> dict[int, _Word]:
    """Return the clusters that are one unit, as a country: one value of a column that clusters do without.

    Most rows of the cluster have it, most rows that have it are of the cluster, and they are not few.
    """
    sizes, found = np.array([one.size for one in ex.clusters]), dict[int, _Word]()
    for name, column in evidence.coordinates.beside.items():
        values, codes = () if column.categories is None else column.categories.values, column.values
        for said, is_true in _of_categories(column_name(name), values, codes[evidence.task.kept], ()):
            shares = _shares(is_true, evidence)
            word, c = _Word(said, -1, is_true, shares), int(np.argmax(shares))
            if is_true.sum() >= FEW and word.speaks_of(c) and shares[c] * sizes[c] >= MOST * (shares @ sizes):
                found.setdefault(c, word)
    return found


def _ask_of_columns(ex: MeasuredTree) -> dict[int, dict[int, list[Interval]]]:
    """Return what all rules of a cluster ask of a column: for each column, the intervals by cluster."""
    found: dict[int, dict[int, list[Interval]]] = {}
    boxes, clusters = ex.tree.boxes(), ex.tree.leaf_clusters.tolist()
    for c in {*clusters}:
        first, *others = [box for box, own in zip(boxes, clusters, strict=True) if own == c]
        for j in first:
            if all(j in box for box in others):
                found.setdefault(j, {})[c] = [piece for box in (first, *others) for piece in box[j]]
    return found


def _within(pieces: Sequence[Interval], x: Floats) -> Bools:
    """Return which numbers lie in one of some intervals."""
    inside = np.zeros(len(x), dtype=bool)
    for low, high, is_low_in, is_high_in in pieces:
        inside |= ((x >= low) if is_low_in else (x > low)) & ((x <= high) if is_high_in else (x < high))
    return inside


def _of_categories(
    name: str, values: Sequence[Any], x: Floats, asked: Iterable[Sequence[Interval]]
) -> Iterator[tuple[str, Bools]]:
    """Yield the values, and two of them, or all but a frequent one, where a rule asks for these."""
    for code, value in enumerate(values):
        if isinstance(value, bool):
            yield name if value else f"not {name}", x == code
        else:
            yield f"{name} {category(value)}", x == code
    for pieces in asked:
        codes = [code for code in range(len(values)) if any(code in piece for piece in pieces)]
        others = [value for code, value in enumerate(values) if code not in codes]
        if len(codes) == 2:
            yield f"{name} {one_of([values[code] for code in codes])}", np.isin(x, codes)
        elif len(others) == 1 < len(codes) and np.isin(x, codes).sum() <= MAJORITY * np.isfinite(x).sum():
            yield f"{name} not {category(others[0])}", np.isin(x, codes)


def _of_dates(name: str, x: Floats, cuts: Floats) -> Iterator[tuple[str, Bools]]:
    return ((f"{how} {name}", is_true) for how, is_true in _of_ranges(x, cuts, "late", "early"))


def _of_numbers(name: str, x: Floats, cuts: Floats) -> Iterator[tuple[str, Bools]]:
    values = np.unique(x[np.isfinite(x)])
    if len(values) <= FEW_VALUES and (values == np.floor(values)).all():
        yield from ((f"{name} = {group_digits(value)}", x == value) for value in values.tolist())
    if values[0] == 0:
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
        is_most = more == "high" and is_true.sum() > MAJORITY * len(known)
        if math.isfinite(low) and math.isfinite(high):
            yield "middle" if low < middle <= high else f"rather {more if low >= middle else less}", is_true
        elif math.isfinite(low):
            yield "usual" if is_most else more, is_true
        elif math.isfinite(high):
            yield "usual" if is_most else less, is_true


def _shares(is_true: Bools, evidence: Evidence) -> Floats:
    """Return of which share of each cluster a word is true, by weight."""
    task = evidence.task
    labels, k = task.reference.labels[task.kept], task.reference.n_clusters
    mass = np.ones(len(labels)) if task.kept_weights is None else task.kept_weights[task.kept]
    whole = np.bincount(labels, mass, k)
    return np.bincount(labels, mass * is_true, k) / np.where(whole > 0, whole, 1.0)
