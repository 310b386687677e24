"""Rows that their rules put into another cluster: which they are, and what they are like, beside the other rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood.explanation.measure.contrast import OTHERS, two_groups
from boxwood.explanation.measure.outliers import outliers_in
from boxwood.explanation.measure.profile import measure_profile
from boxwood.explanation.measure.told import profile_told
from boxwood.render.page._parts import profile_table
from boxwood.render.page.results import apart
from boxwood.render.pictures.picture import counts_of, picture_of, say_rows
from boxwood.words.values import cluster_name, column_name, join_words, shorten_name

if TYPE_CHECKING:
    from boxwood._types import Indices, Ints
    from boxwood.explanation.measured_tree import MeasuredTree

_MOST_CELLS, _MOST_COLUMNS, _MOST_GROUPS = 20, 10, 6
_CHEAP = 2_000_000  # rows times columns times cells


def cells_of_confusion(ex: MeasuredTree, least: int) -> dict[str, dict[str, Any]]:
    """Return the largest cells off the diagonal by their clusters, that of the rows and that of the rules.

    Each has its rows, and for some columns the name and what is typical of these rows, and of all others. A cell of
    fewer rows than `least` is not told of, nor one that would leave fewer of its cluster of which nothing is told: what
    the page says of the whole cluster, less what is said of its cells, would tell of these.
    """
    evidence = ex._in_memory
    if evidence is None or evidence.whole is not None:
        return {}
    labels, clusters = evidence.task.reference.labels, ex.tree.leaf_clusters[evidence.leaf]
    kept, k = evidence.task.kept, ex.n_clusters
    counts = np.bincount(labels[kept] * k + clusters[kept], minlength=k * k).reshape(k, k)
    told = _cells_told(counts, least)
    if counts.sum() * len(ex.columns) * len(told) > _CHEAP:
        return {}
    return {f"{i}-{j}": _beside_others(ex, np.where(kept, 1 - ((labels == i) & (clusters == j)), -1)) for i, j in told}


def strays(ex: MeasuredTree, hidden: Collection[int], least: int) -> dict[str, Any]:
    """Return whose rows the rules put elsewhere, and where: the largest groups, and how many rows are in others.

    That is said by the last condition of their way, behind which no leaf has their cluster. IN: hidden: clusters that
    are not told of; least: rows of a group that is.
    """
    picture, lost = picture_of(ex), counts_of(ex).lost
    groups = defaultdict[tuple[int, int, int], float](float)  # rows, or their weight
    ways, columns = {edge.child: edge for edge in picture.edges}, {cut.node: cut.column for cut in picture.cuts}
    for leaf in picture.leaves:
        for cluster, rows in leaf.parts:
            if ways and cluster != leaf.cluster and lost is not None:
                node = leaf.node
                while not lost[node, cluster]:
                    node = ways[node].parent
                groups[node, cluster, leaf.cluster] += rows
    largest = sorted(groups.items(), key=lambda one: -one[1])[:_MOST_GROUPS]
    told = [(*key, n) for key, n in largest if n >= least and key[1] not in hidden]
    said = partial(say_rows, weighted=ex.details.weighted)
    lines = [
        {
            "rows": said(n),
            "own": picture.swatches[own],
            "where": apart(ways[node].full, columns[ways[node].parent]),
            "given": picture.swatches[given],
        }
        for node, own, given, n in told
    ]
    left = sum(groups.values()) - sum(n for *_, n in told)
    return {"lines": lines, "left": said(left) if left > 0 else ""}


def _cells_told(counts: Ints, least: int) -> list[tuple[int, int]]:
    """Return the cells to tell of, the largest first; of equal ones the first."""
    order = [divmod(cell, len(counts)) for cell in np.argsort(-counts, axis=None, kind="stable").tolist()]
    left, total, found = counts.sum(axis=1), counts.sum(), list[tuple[int, int]]()
    for i, j in order:
        n = counts[i, j]
        if i != j and n >= least and left[i] - n >= least and total - n >= least:
            left[i] -= n
            found.append((i, j))
    return found[:_MOST_CELLS]


def _beside_others(ex: MeasuredTree, both: Indices) -> dict[str, Any]:
    pair = two_groups(ex, both, (0, OTHERS))
    measure_profile(pair)
    lines = profile_table(pair, profile_told(pair))["columns"][:_MOST_COLUMNS]
    said = [[line["name"], *(cell["text"] if cell else "–" for cell in line["cells"])] for line in lines]
    return {"rows": say_rows(pair.clusters[0].size, ex.details.weighted), "columns": said}


def say_odd_rows(ex: MeasuredTree, least: int) -> str:
    """Return how many rows are far from the rest of their cluster, of which clusters, and by which columns.

    IN: least: rows by a column that is told of.
    """
    odd = outliers_in(ex)
    if not odd:
        return "No row is far from the rest of its cluster."
    names = [cluster_name(name) for name in ex._for_people().names]
    of = _frequent([names[one.cluster] for one in odd], 1, _MOST_GROUPS)
    by = _frequent([column_name(one.column) for one in odd], least, _MOST_COLUMNS)
    where = "".join(f", {word} {told}" for word, told in (("of", of), ("by", by)) if told)
    are = "row is far from the rest of its" if len(odd) == 1 else "rows are far from the rest of their"
    return f"{len(odd):,} {are} cluster{where}; the analyst can list them, ex.outliers() in Python."


def _frequent(names: Sequence[str], least: int, most: int) -> str:
    """Return the names that are there so often, each with its number."""
    told = [f"{shorten_name(name)} ({n:,})" for name, n in Counter(names).most_common(most) if n >= least]
    return join_words(told, most) if told else ""
