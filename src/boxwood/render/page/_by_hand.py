"""Trees that a reader of a page makes by hand: a threshold moves to an edge of its histogram, two leaves are merged.

Each is told as smaller and larger trees are, beside the line of Python that makes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood.explanation.change.cuts import moved_tests, value_said
from boxwood.explanation.change.places import PlacesAtEdges, places_at_edges
from boxwood.explanation.change.trees import NodeChanges
from boxwood.explanation.measure.frontier import Pruned
from boxwood.reference import Reference
from boxwood.render.forms.walk import cut_words
from boxwood.render.page._parts import nodes_in_form
from boxwood.render.page._template import pack
from boxwood.render.page._trees import (
    LARGEST_DRAWN,
    bars_drawn,
    draw_trees,
    facts_of_pictures,
    forms_of,
    lines_said,
    rules_at_leaves,
    words_drawn,
)
from boxwood.render.pictures.bars import Bars, CutMark
from boxwood.render.pictures.picture import rows_of
from boxwood.tree.boxes import reached_by_missing
from boxwood.tree.merge import merge_leaves
from boxwood.words.values import cluster_name, column_name, percent, short_number, shorten_name

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

_MOST_CUTS, _MOST_PLACES, _MOST_MERGED = 4, 14, 4
_MOST_LETTERS = 30_000


class ByHand(NamedTuple):
    """Trees that are made by hand: packed for the page's script, and what is said of each.

    Parameters
    ----------
    packed : str
    moves : list of tuples (number, column, place, last)
        The cuts that move: their number and column, the place where each is, and the last one.
    merges : list of str
    """

    packed: str
    moves: list[tuple[int, str, int, int]]
    merges: list[str]


def trees_by_hand(ex: MeasuredTree, bars: Mapping[int, Bars], code: Mapping[str, str], least: int) -> ByHand | None:
    """Return the trees that are made by hand, as far as there is room for them; None where there are none.

    IN: bars, code: of the page; least: rows between two places of a threshold.
    """
    evidence = ex._in_memory
    if evidence is None or evidence.whole is not None or not 2 <= ex.n_leaves <= LARGEST_DRAWN:
        return None
    moves = [*islice(_moves(ex, bars, code, least), _MOST_CUTS)]
    merges = [*islice(_merges(ex, code, least), _MOST_MERGED)]
    own, _ = draw_trees(ex, Pruned.nowhere(ex.tree, evidence.leaf, {}), code=None, least=least)
    while moves or merges:
        packed = pack({"own": own, "moves": moves, "merges": merges} | facts_of_pictures(ex))
        if len(packed) <= _MOST_LETTERS:
            numbers = np.cumsum(ex.tree.feature >= 0)
            nodes = [(one["node"], one["now"], len(one["places"]) - 1) for one in moves]
            cuts = [(int(numbers[node]), _column_of(ex, node), now, last) for node, now, last in nodes]
            return ByHand(packed, cuts, [one["said"] for one in merges])
        (moves if len(moves) >= len(merges) else merges).pop()
    return None


# --------------------------------------------------------------------------------------------- thresholds that move
def _moves(ex: MeasuredTree, bars: Mapping[int, Bars], code: Mapping[str, str], least: int) -> Iterator[dict[str, Any]]:
    """Yield the cuts just above leaves that can move, the one with most rows first, with their places."""
    if ex._short is not None or (ex.limits is not None and ex.limits.round_thresholds is not None):
        return  # words have other thresholds, or thresholds may have few digits alone
    held = ex._rows().held.sum(axis=1)
    fixed = {one.column for one in ex.limits.cuts} if ex.limits is not None else set()
    cuts = [node for node in _above_leaves(ex) if not ex.tree.is_set[node] and node in bars]
    cuts = [node for node in cuts if ex.columns[int(ex.tree.feature[node])] not in fixed]
    for node in sorted(cuts, key=lambda node: -held[_leaves(ex, node)].sum()):
        inner = bars[node].edges[1 : -1 if bars[node].gap is None else -2]
        found = places_at_edges(ex, node, inner, least, _MOST_PLACES)
        if found is not None and len(found.values) > 1:
            at = bars[node].at[1:-1][found.edges].tolist()
            places = [_move(ex, node, found, i, bars[node], at[i], code) for i in range(len(at))]
            yield {"node": node, "now": found.now, "at": [round(one, 3) for one in at], "places": places}


def _move(
    ex: MeasuredTree, node: int, found: PlacesAtEdges, i: int, bars: Bars, at: float, code: Mapping[str, str]
) -> dict[str, Any]:
    """Return the tree with a cut at one of its places, as far as it differs from the present one."""
    column, (now, value) = ex.columns[int(ex.tree.feature[node])], (found.values[found.now], found.values[i])
    tests = {} if i == found.now else moved_tests(ex, column, now, value)
    tree, held, leaves = NodeChanges(tests).on(ex.tree, ex.n_clusters), ex._rows().held.astype(float), _leaves(ex, node)
    held[leaves[0]], held[leaves[1]] = found.inside[i], held[leaves].sum(axis=0) - found.inside[i]
    right = float(held[np.arange(len(held)), tree.leaf_clusters].sum() / held.sum())
    changed = replace(ex, tree=tree, agreement=right, price=math.nan, _evidence=None, _kept={})
    rules, words = rules_at_leaves(changed), cut_words(changed, node, None, reached_by_missing(tree, ex._gap_columns))
    line = CutMark(at, value if isinstance(value, str) else short_number(value))
    drawn = bars_drawn(bars if i == found.now else bars._replace(lines=(line, *bars.lines[1:])))
    cut = {"test": nodes_in_form(changed)[node], **words_drawn(words), "bars": drawn}
    sides = [{"by": held[leaf].tolist(), "rule": lines_said(rules[leaf])} for leaf in leaves]
    said = f"{words.full[0]}: {_say_agreement(ex, right)}"
    moved = abs(found.inside[i] - found.inside[found.now]).sum()
    if moved and tree.leaf_clusters[leaves[0]] != tree.leaf_clusters[leaves[1]]:
        said += f", {rows_of(moved, ex.details.weighted)} in another cluster"
    before, to = (value_said(ex, column, one) for one in (now, value))
    return {
        "nodes": dict(zip((node, node + 1, node + 2), (cut, *sides), strict=True)),
        "said": said,
        "line": "" if i == found.now else f"ex = ex.move_cut({column!r}, {before!r}, to={to!r})",
        **({} if i == found.now else forms_of(changed, rules, code)),
    }


# ------------------------------------------------------------------------------------------- leaves that are merged
def _merges(ex: MeasuredTree, code: Mapping[str, str], least: int) -> Iterator[dict[str, Any]]:
    """Yield the trees in which the clusters of the two leaves of a cut are one."""
    clusters = ex.tree.leaf_clusters
    pairs = {tuple(sorted(clusters[_leaves(ex, node)].tolist())) for node in _above_leaves(ex)}
    for first, second in sorted(pairs):
        tree = merge_leaves(ex.tree.relabeled([first if one == second else one for one in clusters.tolist()]))
        if first == second or tree.n_leaves < 2:
            continue
        leaf = tree.apply(ex._rows().coordinates.table, n_jobs=ex._rows().task.n_jobs)
        merged, whole = _with_one_cluster(ex, first, second), Pruned.nowhere(tree, leaf, {})
        data, [row] = draw_trees(merged, whole, code=code, least=least)
        names = [shorten_name(cluster_name(ex.names[i])) for i in (first, second)]
        yield data | {
            "said": f"{names[0]} with {names[1]}: {tree.n_leaves:,} leaves, {_say_agreement(ex, row.agreement)}",
            "line": f"ex = ex.merge_clusters({ex.names[first]!r}, {ex.names[second]!r})",
            "gone": second,
        }


def _with_one_cluster(ex: MeasuredTree, first: int, second: int) -> MeasuredTree:
    """Return the explanation with the rows of the second cluster in the first one."""
    evidence = ex._rows()
    old = evidence.task.reference
    new = Reference(np.where(old.labels == second, first, old.labels), old.centers, old.names)
    return replace(ex, _evidence=replace(evidence, task=replace(evidence.task.with_reference(new), mixture=None)))


# ------------------------------------------------------------------------------------------------------------- steps
def _above_leaves(ex: MeasuredTree) -> list[int]:
    """Return the cuts both of whose sides are leaves."""
    tree = ex.tree
    return [node for node in range(tree.n_nodes - 2) if tree.second[node] == node + 2 and tree.feature[node + 2] < 0]


def _leaves(ex: MeasuredTree, node: int) -> list[int]:
    """Return the numbers of the two leaves of a cut."""
    first = int(np.searchsorted(ex.tree.leaf_nodes, node))
    return [first, first + 1]


def _column_of(ex: MeasuredTree, node: int) -> str:
    return column_name(ex.columns[int(ex.tree.feature[node])])


def _say_agreement(ex: MeasuredTree, right: float) -> str:
    return f"right for {percent(right)} of the {'weight' if ex.details.weighted else 'rows'}"
