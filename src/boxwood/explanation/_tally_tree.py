"""Trees from counts: the cuts of IMM between numbers, on words and on what is missing; sides of missing numbers."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices, Ints
from boxwood._validation import list_words
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.grow.grown import Split, grow_by_cuts
from boxwood.tree import ThresholdTree
from boxwood.tree.nodes import clusters_below

_LARGEST = sys.float_info.max  # of all numbers that are not missing


class _TallyCuts(NamedTuple):
    """Cuts that ask alike, such as for one word, or for a number with missing ones on its upper side.

    Parameters
    ----------
    feature : int
        Column of the table.
    lower, upper : arrays of shape (e,)
        Values from one to the other answer yes to a cut.
    edge : array of shape (e,)
        Where each cut is between the centres, ascending.
    yes : array of shape (k, e)
        Number of the rows of each cluster that answer yes.
    is_yes : array of bool of shape (k, e)
        Whether the centre of each cluster does.
    """

    feature: int
    lower: Floats
    upper: Floats
    edge: Floats
    yes: Ints
    is_yes: Bools


def tree_of_bins(
    counts: Ints,
    sizes: Ints,
    edges: Floats,
    centers: Floats,
    categories: Mapping[int, Categories],
    names: Sequence[Hashable],
) -> ThresholdTree:
    """Return the tree of IMM on bins; see `Tally.imm`.

    IN: counts (k, d, e + 1): of values by bin; sizes (k,): of clusters; edges (d, e); centers (k, d); names (k,).
    """
    given = [(j, counts[:, j], sizes, edges[j], centers[:, [j]], categories.get(j)) for j in range(len(edges))]
    groups = [cuts for each in given for cuts in _cuts_of(*each)]
    group = np.repeat(np.arange(len(groups)), [len(cuts.edge) for cuts in groups])
    feature = np.array([cuts.feature for cuts in groups], dtype=np.intp)[group]
    lower, upper, edge = (np.concatenate([cuts[i] for cuts in groups]) for i in (1, 2, 3))
    yes, is_yes = (np.concatenate([cuts[i] for cuts in groups], axis=1) for i in (4, 5))
    held = {j: counts[:, j, : len(one.values)] for j, one in categories.items() if not one.ordered}

    def step(clusters: Indices) -> int | Split[Indices]:
        if len(clusters) == 1:
            return int(clusters[0])
        sides, answers = is_yes[clusters], yes[clusters]
        separates = sides.any(axis=0) & ~sides.all(axis=0)
        if not separates.any():
            equal = [str(names[c]) for c in clusters]
            raise DataError(f"clusters with equal centres, which no cut separates: {list_words(equal)}; make them one")
        mistakes = np.where(sides, sizes[clusters, None] - answers, answers).sum(axis=0)
        of_one_word = mistakes.copy()
        for j, own in held.items():
            mistakes[feature == j] = np.minimum(mistakes[feature == j], _of_sets(own[clusters], sides[:, feature == j]))
        best = np.flatnonzero(separates & (mistakes == mistakes[separates].min()))
        i = _middle_of_widest(best[group[best] == group[best[0]]], edge)
        j, side = int(feature[i]), sides[:, i]
        codes = _best_set(held[j][clusters], side) if mistakes[i] < of_one_word[i] else ()
        return Split(j, float(upper[i]), clusters[side], clusters[~side], float(lower[i]), codes)

    return grow_by_cuts(np.arange(len(sizes)), step)


def _of_sets(held: Ints, sides: Bools) -> Ints:
    """Return the mistakes of the best set of words for each parting of clusters, shape (c,).

    Each word is on the side whose clusters have more of it. Where that would be one side for all rows, there is no set.

    IN: held (k, m): number of the words of each cluster; sides (k, c).
    """
    first = held.T.astype(np.float64) @ sides  # whole numbers below 2**53, so that no sum is rounded
    second = held.sum(axis=0)[:, None] - first
    parts = (first > second).any(axis=0) & (first < second).any(axis=0)
    return np.asarray(np.where(parts, np.minimum(first, second).sum(axis=0), held.sum()), dtype=np.int64)


def _best_set(held: Ints, side: Bools) -> tuple[int, ...]:
    """Return the codes of the words on the first side; words that no row has are on the side of more rows."""
    first, second = held[side].sum(axis=0), held[~side].sum(axis=0)
    is_first, lacks = first > second, first + second == 0
    n_rows = (first + second)[is_first].sum()
    return tuple(np.flatnonzero(is_first | (lacks & (2 * n_rows > held.sum()))).tolist())


def with_sides(tree: ThresholdTree, lacking: Mapping[int, Ints]) -> ThresholdTree:
    """Return the tree with missing numbers on the side of each cut whose clusters lack more of them.

    IN: lacking: number of the rows of each cluster that lack a value, by column.
    """
    below = [sorted(clusters) for clusters in clusters_below(tree)]

    def step(node: int) -> int | Split[int]:
        if tree.feature[node] < 0:
            return int(tree.cluster[node])
        feature, upper, lower, _ = tree.test(node)
        first, second = node + 1, int(tree.second[node])
        if feature in lacking and lacking[feature][below[first]].sum() > lacking[feature][below[second]].sum():
            return Split(feature, _LARGEST, second, first, float(np.nextafter(upper, np.inf)))
        return Split(feature, upper, first, second, lower)

    return grow_by_cuts(0, step)


# ---------------------------------------------------------------------------------------------------------- cuts
def _cuts_of(
    j: int, counts: Ints, sizes: Ints, edges: Floats, centers: Floats, known: Categories | None
) -> Iterator[_TallyCuts]:
    """Yield the cuts of a column; IN: counts (k, e + 1), edges (e,), centers (k, 1), known: of the column."""
    if known is not None and not known.ordered:
        for code in range(len(known.values)):
            yield _on_share(j, float(code), float(code), counts[:, code], sizes)
        return
    last = _LARGEST if known is None else known.known - 1.0
    edges = edges[edges < (np.inf if known is None else last)]
    held = counts if known is None else counts[:, : known.known]
    up_to, is_low = np.cumsum(held, axis=1)[:, : len(edges)], centers <= edges
    yield _TallyCuts(j, np.full(len(edges), -np.inf), edges, edges, up_to, is_low)
    some = held.sum(axis=1)
    if (some < sizes).any():
        above, end = np.nextafter(edges, np.inf), np.full(len(edges), last)
        yield _TallyCuts(j, above, end, edges, some[:, None] - up_to, ~is_low)
        yield _on_share(j, -np.inf, last, some, sizes)


def _on_share(j: int, lower: float, upper: float, yes: Ints, sizes: Ints) -> _TallyCuts:
    """Return the cuts on a column of 1 and 0, for values from `lower` to `upper` and others.

    A centre is the share of such values in its cluster, and lies on the side of 1 if it is above an edge.
    """
    share = yes / np.maximum(sizes, 1)
    edges = np.unique(share)[:-1]
    first, last = (np.full(len(edges), end) for end in (lower, upper))
    return _TallyCuts(j, first, last, edges, np.repeat(yes[:, None], len(edges), axis=1), share[:, None] > edges)


def _middle_of_widest(indices: Indices, edges: Floats) -> int:
    """Return the middle one of the run of neighbours that is widest, the first of equally wide ones."""
    runs = np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1)
    widths = [edges[run[-1]] / 2 - edges[run[0]] / 2 for run in runs]
    run = runs[int(np.argmax(widths))]
    return int(run[(len(run) - 1) // 2])
