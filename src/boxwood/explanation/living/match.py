"""`match`: which clusters of two explanations are the same, grew, shrank, split, merged, are new or gone.

The words are those of MONIC: an old cluster lives on in a new one that has most of its rows. Here both ways count: most
rows of the old one are in the new one, and most of the new one come from it. Rows that both explanations label tell
how many these are; without any, each model tells it of its own rows, from the boxes of the other's rules.

References
----------
M. Spiliopoulou, I. Ntoutsi, Y. Theodoridis, R. Schult: "MONIC: modeling and monitoring cluster transitions", KDD 2006,
https://doi.org/10.1145/1150402.1150491
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats
from boxwood.explanation.living.chance import ALARM, LEAST, of_shares
from boxwood.explanation.living.results import Matched, MatchedCluster, MatchFacts

MOST = 0.5
"""Share of the rows of a cluster that is most of it."""
PART = 0.1
"""Share of the rows of a cluster that a part of it has at least."""
LARGER = 1.1
"""Times its share that a cluster has at least, beyond chance, to have grown."""


class Overlap(NamedTuple):
    """How many rows are in which two clusters.

    Parameters
    ----------
    old, new : array of shape (k + 1, m + 1)
        Rows of the old table, and of the new one, by their old and their new cluster; the last ones are rows without.
        Both are the same where the same rows have both clusters.
    how : str
        Where it comes from.
    notes : tuple of str
        What it cannot tell.
    is_exact : bool
        Whether both tables are rows that were counted, each by its own explanation, or by labels that both are given.
    is_guessed : bool
        Whether a model does not know how a column lay, so that a cluster of no kin may have come or not.
    """

    old: Floats
    new: Floats
    how: str
    notes: tuple[str, ...] = ()
    is_exact: bool = False
    is_guessed: bool = False


class _Overlaps(NamedTuple):
    """For each old and each new cluster: which share of the old one is in the new one, and of the new in the old."""

    forth: Floats
    back: Floats
    is_exact: bool = False


def match_clusters(
    old: tuple[Sequence[Hashable], Floats], new: tuple[Sequence[Hashable], Floats], overlap: Overlap
) -> MatchFacts:
    """Return what became of clusters; IN: old, new: their names, and their rows by their own explanation."""
    (old_names, old_rows), (new_names, new_rows) = old, new
    then, now = old_rows / max(old_rows.sum(), 1), new_rows / max(new_rows.sum(), 1)
    shares = _Overlaps(_of_each(overlap.old), _of_each(overlap.new.T).T, overlap.is_exact)
    pairs, alone, splits, merges = _kin(shares, then, now)
    before = {i for i, _ in alone} | {*splits} | {i for kept in merges.values() for i in kept}
    after = {j for _, j in alone} | {*merges} | {j for kept in splits.values() for j in kept}

    def told(change: str, b: list[int], a: list[int]) -> Matched:
        rows = then[b].sum() if a else 0
        kept = float(shares.forth[np.ix_(b, a)].sum(axis=1) @ then[b] / rows) if rows else None
        names = tuple(old_names[i] for i in b), tuple(new_names[j] for j in a)
        return Matched(change, *names, _sum(then, b), _sum(now, a), kept)

    of = float(old_rows[list(before)].sum()), float(new_rows[list(after)].sum())
    changes = [told(_size(old_rows[i], new_rows[j], *of, len(alone)), [i], [j]) for i, j in alone]
    changes += [told("split", [i], kept) for i, kept in splits.items()]
    changes += [told("merged", kept, [j]) for j, kept in merges.items()]
    new_one, gone = ("unclear", "unclear") if overlap.is_guessed else ("new", "gone")
    changes += [told(new_one, [], [j]) for j in range(len(now)) if j not in after]
    changes += [told(gone, [i], []) for i in range(len(then)) if i not in before]
    return MatchFacts(
        before=tuple(map(MatchedCluster, old_names, old_rows.tolist(), then.tolist())),
        after=tuple(map(MatchedCluster, new_names, new_rows.tolist(), now.tolist())),
        overlap=tuple(map(tuple, (overlap.new / max(overlap.new.sum(), 1)).tolist())),
        changes=tuple(changes),
        same_names=tuple((old_names[i], new_names[j]) for i, j in pairs),
        how=overlap.how,
        notes=overlap.notes,
    )


class _Kin(NamedTuple):
    """Pairs of clusters that are most of each other, those among them that are no part, and the parts of the others.

    `splits` has the parts of old clusters, and `merges` those of new ones, where there are several.
    """

    pairs: list[tuple[int, int]]
    alone: list[tuple[int, int]]
    splits: dict[int, list[int]]
    merges: dict[int, list[int]]


def _kin(shares: _Overlaps, then: Floats, now: Floats) -> _Kin:
    """Return which clusters belong together; IN: then, now: shares of the rows of each old and each new one."""
    turned = _Overlaps(shares.back.T, shares.forth.T, shares.is_exact)
    splits = {i: kept for i in range(len(then)) if (kept := _parts(i, shares, then, now))}
    merges = {j: kept for j in range(len(now)) if (kept := _parts(j, turned, now, then))}
    pairs = _pairs(shares, splits, merges)
    splits, merges = ({one: kept for one, kept in its.items() if len(kept) > 1} for its in (splits, merges))
    taken = {(i, j) for i, kept in splits.items() for j in kept} | {(i, j) for j, kept in merges.items() for i in kept}
    return _Kin(pairs, [pair for pair in pairs if pair not in taken], splits, merges)


def names_carried(names: Sequence[Hashable], found: MatchFacts) -> dict[Hashable, Hashable]:
    """Return the name of each cluster that gets another one; no two have one name afterwards."""
    carried = {new: old for old, new in found.same_names}
    gone = {one.name for one in found.before}
    taken: set[Hashable] = gone | set(names)
    for name in names:
        if name not in carried and name in gone:
            carried[name] = _free(name, taken)
            taken.add(carried[name])
    return {name: other for name, other in carried.items() if name != other}


def _free(name: Hashable, taken: set[Hashable]) -> Hashable:
    """Return a name that no cluster has: the next number, or the text with "new" behind it."""
    if isinstance(name, int) and not isinstance(name, bool):
        return max(one for one in taken if isinstance(one, int)) + 1
    free = f"{name}, new"
    while free in taken:
        free = f"{free}er"
    return free


def _of_each(rows: Floats) -> Floats:
    """Return which share of the rows of each cluster is in each other one, shape (k, m)."""
    return np.asarray(rows[:-1, :-1] / np.maximum(rows[:-1].sum(axis=1), 1e-12)[:, None])


def _sum(shares: Floats, clusters: list[int]) -> float | None:
    return float(shares[clusters].sum()) if clusters else None


def _pairs(shares: _Overlaps, splits: dict[int, list[int]], merges: dict[int, list[int]]) -> list[tuple[int, int]]:
    """Return the pairs of clusters that are each most of the other; of a tie the first.

    An only part of a cluster is the same, however many rows came beside it.
    """
    only = {(i, kept[0]) for i, kept in splits.items() if len(kept) == 1}
    only |= {(kept[0], j) for j, kept in merges.items() if len(kept) == 1}
    most = {(i, j) for i, j in np.argwhere((shares.forth >= MOST) & (shares.back >= MOST)).tolist()}
    most = {(i, j) for i, j in most if j in splits.get(i, [j]) and i in merges.get(j, [i])}
    found: dict[int, int] = {}
    for i, j in [*sorted(only), *sorted(most)]:
        if i not in found and j not in found.values():
            found[i] = j
    return sorted(found.items())


def _parts(i: int, shares: _Overlaps, then: Floats, now: Floats) -> list[int]:
    """Return the clusters that one has become: each mostly of its rows, and a part of it, and together most of it.

    None are returned if it has one at most. Unless the rows of the old table were counted, a cluster that came among
    those of another one looks like a part of it. So of all choices of parts the one is taken that is, beside all other
    clusters, nearest to as large as the cluster was.
    """
    parts = np.flatnonzero((shares.back[i] >= MOST) & (shares.forth[i] >= PART)).tolist()
    if len(parts) < 2 or shares.forth[i, parts].sum() < MOST or not then[i]:
        return []
    if shares.is_exact or len(parts) > _MANY:
        return parts
    rest = max(1 - now[parts].sum(), 1e-12)
    was = then[i] / max(1 - then[i], 1e-12)
    choices = [some for n in range(len(parts), 0, -1) for some in itertools.combinations(parts, n)]
    return list(min(choices, key=lambda some: abs(math.log(max(now[list(some)].sum(), 1e-12) / rest / was))))


_MANY = 8  # parts of which not all choices are looked at


def _size(then: float, now: float, of_then: float, of: float, n_pairs: int) -> str:
    """Return whether a cluster grew or shrank, by a tenth and beyond chance, among the rows of those that live on."""
    if min(of_then, of) < LEAST or of_shares(round(now), round(of), round(then), round(of_then)) > ALARM / n_pairs:
        return "same"
    times = (now / of) / max(then / of_then, 1e-12)
    return "grew" if times > LARGER else "shrank" if times < 1 / LARGER else "same"
