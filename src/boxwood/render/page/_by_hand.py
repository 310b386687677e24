"""Trees that a reader of a page makes by hand: thresholds move to round values, clusters are merged.

The page puts such changes together. Merged clusters are a pruning of the tree, and a place of a cut says which rows are
on either side, and what it changes in the code of each of these trees. A cut above others does not move there: the page
says what would be.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from boxwood.explanation.change.cuts import moved_tests, value_in_python
from boxwood.explanation.change.places import Places, PlacesAtEdges, places_at_edges, round_places
from boxwood.explanation.change.trees import NodeChanges
from boxwood.explanation.measure.frontier import Pruned
from boxwood.render.forms.text import right_for
from boxwood.render.forms.walk import cut_words
from boxwood.render.page._copies import beside_code, code_by_form
from boxwood.render.page._parts import nodes_in_form
from boxwood.render.page._template import pack
from boxwood.render.page._trees import (
    LARGEST_DRAWN,
    bars_drawn,
    draw_trees,
    facts_of_pictures,
    lines_said,
    on_tree,
    rules_at_leaves,
    words_drawn,
    words_of_clusters,
)
from boxwood.render.pictures.bars import Bars, CutMark
from boxwood.render.pictures.picture import say_rows
from boxwood.tree.boxes import reached_by_missing
from boxwood.words.values import short_number

if TYPE_CHECKING:
    from boxwood._types import Floats
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.tree import ThresholdTree
    from boxwood.tree.nodes import CutTest

_MOST_CUTS, _MOST_PLACES, _MOST_TREES, _MOST_CODES = 5, 12, 8, 60
_MOST_ASKED, _MOST_ASKED_PLACES = 5, 20
_FINE, _OF_ALL = 8, 80  # places in a bar, and of all cuts of the whole tree, see `_cuts`
_MOST_LETTERS = 30_000
_Change: TypeAlias = tuple[int, int, str]


def trees_by_hand(ex: MeasuredTree, bars: Mapping[int, Bars], code: Mapping[str, str], least: int) -> str | None:
    """Return the trees that are made by hand, packed, as far as there is room for them; None where there are none.

    IN: bars, code: of the page; least: rows between two places of a threshold.
    """
    evidence = ex._in_memory
    if evidence is None or evidence.whole is not None or not 2 <= ex.n_leaves <= LARGEST_DRAWN:
        return None
    own = Pruned.nowhere(ex.tree, evidence.leaf, {})
    data, _ = draw_trees(ex, own, code=None, least=least, bars=bars)
    trees, told = [*_merged_trees(ex)], dict[str, Any]()
    for of_all in (_OF_ALL, 0):  # more places where there is room for them beside all trees
        cuts, n_codes, n_trees = dict[int, _Cut](), 0, 0
        for one in trees:
            cuts |= {cut.node: cut for cut in _cuts(one, bars, least, cuts, of_all)}
            n_codes += sum(len(cuts[node].tests) for node in one.cuts_above_leaves if node in cuts)
            if n_trees and n_codes > _MOST_CODES:
                break
            n_trees += 1
        if n_codes <= _MOST_CODES:
            break
    for one in trees[:n_trees]:
        for node, rule in zip(one.ends, rules_at_leaves(one.ex), strict=True):
            data["nodes"][node]["rule"] = lines_said(rule)
        told[",".join(map(str, one.into))] = _tell_tree(one, cuts, code)
    moved = next(iter(told.values()))["moves"]  # in the whole tree
    asked = dict(_find_questions(ex, [node for node in range(ex.tree.n_nodes) if node not in moved], least))
    while len(told) > 1 or cuts or asked:
        moving = {node: cut.told for node, cut in cuts.items()}
        packed = pack(data | facts_of_pictures(ex) | {"trees": told, "cuts": moving, "asked": asked})
        if len(packed) <= _MOST_LETTERS:
            return packed
        (told if len(told) > 1 else cuts or asked).popitem()
    return None


# ---------------------------------------------------------------------------------------- trees of merged clusters
class _Merged(NamedTuple):
    """The tree in which some clusters are one.

    Parameters
    ----------
    into : tuple of k
        The cluster that each cluster is now, the first of those that are one.
    nodes : list
        The nodes of the whole tree that are left, by their numbers in this one.
    ends : list
        Those of them that are leaves.
    ex : MeasuredTree
        The explanation by this tree, as far as words and places of cuts need it; clusters keep their numbers.
    """

    into: tuple[int, ...]
    nodes: list[int]
    ends: list[int]
    ex: MeasuredTree

    @classmethod
    def of(cls, ex: MeasuredTree, into: tuple[int, ...]) -> _Merged:
        """Return the tree; IN: ex: the explanation by the whole one."""
        tree, evidence = ex.tree, ex._rows()
        below = [into[cluster] if cluster >= 0 else -1 for cluster in tree.cluster.tolist()]
        for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
            if len({*into}) < len(into):  # Python joins leaves of one cluster where clusters are merged
                sides = {below[node + 1], below[tree.second[node]]}
                below[node] = sides.pop() if len(sides) == 1 else -1
        parents = tree.parent.tolist()
        nodes = [node for node in range(tree.n_nodes) if node == 0 or below[parents[node]] < 0]
        ends = [node for node in nodes if below[node] >= 0]
        pruned = NodeChanges(leaves={node: below[node] for node in ends}).on(tree, ex.n_clusters)
        leaf = np.searchsorted(ends, tree.leaf_nodes[evidence.leaf], side="right") - 1
        return cls(into, nodes, ends, on_tree(ex, Pruned.nowhere(pruned, leaf, {})))

    @property
    def cuts_above_leaves(self) -> dict[int, int]:
        """The cuts both of whose sides are leaves: nodes of the whole tree, and their numbers in this one."""
        tree = self.ex.tree
        cuts = (
            node for node in range(tree.n_nodes - 2) if tree.second[node] == node + 2 and tree.feature[node + 2] < 0
        )
        return {self.nodes[node]: node for node in cuts if tree.feature[node + 1] < 0}

    def texts(self, tree: ThresholdTree) -> dict[str, str]:
        """Return what can be copied where this tree has other thresholds: code by form, and words by cluster."""
        kept = sorted({*self.into})
        of_clusters = tuple(self.ex.clusters[cluster]._replace(cluster=i) for i, cluster in enumerate(kept))
        new = tree.relabeled([kept.index(cluster) for cluster in tree.leaf_clusters.tolist()])
        bare = replace(self.ex, tree=tree, _evidence=None, _kept={})
        words = enumerate(words_of_clusters(bare, rules_at_leaves(bare)))
        code = code_by_form(replace(bare, tree=new, clusters=of_clusters, agreement=self.agreement))
        return code | {str(cluster): text for cluster, text in words}

    @property
    def agreement(self) -> float:
        """Agreement of this tree with the clusters that are left."""
        held, into = self.ex._rows().held, np.array(self.into)
        right = (rows[into == cluster].sum() for rows, cluster in zip(held, self.ex.tree.leaf_clusters, strict=True))
        return float(sum(right) / held.sum())


def _merged_trees(ex: MeasuredTree) -> Iterator[_Merged]:
    """Yield the whole tree, and those in which clusters that stand side by side are one, as long as a cut is left."""
    asked = [tuple(range(ex.n_clusters))]
    for into in asked:  # which grows
        found = _Merged.of(ex, into)
        yield found
        tree = found.ex.tree
        for node in sorted(found.cuts_above_leaves.values()):
            first, second = sorted((int(tree.cluster[node + 1]), int(tree.cluster[node + 2])))
            new = tuple(first if cluster == second else cluster for cluster in into)
            if new not in asked and len(asked) < _MOST_TREES and len({new[i] for i in ex.tree.leaf_clusters}) > 1:
                asked.append(new)


# --------------------------------------------------------------------------------------------- thresholds that move
class _Cut(NamedTuple):
    """A cut just above leaves that can move; IN: tests: what it asks for at each place; told: what the page knows."""

    node: int
    column: str
    tests: list[CutTest]
    values: list[Any]
    told: dict[str, Any]


def _cuts(one: _Merged, bars: Mapping[int, Bars], least: int, known: Mapping[int, _Cut], of_all: int) -> Iterator[_Cut]:
    """Yield the cuts of a tree that can move and are not known yet, the one with most rows first.

    IN: of_all: about how many places the cuts of the whole tree have, if they had as many everywhere as near them.
    """
    ex, fixed = one.ex, _fixed_columns(one.ex)
    above = {node: here for node, here in one.cuts_above_leaves.items() if node in bars and node not in known}
    rows = {node: ex._rows().held[_leaves(ex, here)].sum() for node, here in above.items()}
    taken = [(cut.column, value) for cut in known.values() for value in cut.values]
    for node in sorted(above, key=lambda node: -rows[node])[: _MOST_CUTS - len(known)]:
        column = ex.columns[int(ex.tree.feature[above[node]])]
        if ex.tree.is_set[above[node]] or column in fixed:
            continue
        inner = _inner_edges(bars[node])
        fine = np.interp(np.arange(_FINE * (len(inner) - 1) + 1) / _FINE, np.arange(len(inner)), inner)
        most = _MOST_PLACES if known else max(_MOST_PLACES, of_all // len(above))
        others = [value for name, value in taken if name == column]
        found = places_at_edges(ex, above[node], fine, least, most, others)
        if found is None:
            continue
        # no other cut has an end there, nor a place: Python moves all ends of a column at a value
        free = [i for i, value in enumerate(found.values) if i == found.now or value not in others]
        if len(free) > 1 and found.values[found.now] not in others:
            cut = _cut(ex, (node, above[node]), found, free, bars[node])
            taken += [(column, value) for value in cut.values]
            yield cut


def _inner_edges(bars: Bars) -> Floats:
    """Return the edges between bars of numbers."""
    return bars.edges[1 : -1 if bars.gap is None else -2]


def _fixed_columns(ex: MeasuredTree) -> set[str]:
    """Return the columns whose cuts stay: all where words have other thresholds, or these have few digits alone."""
    if ex._short is not None or (ex.limits is not None and ex.limits.round_thresholds is not None):
        return {*ex.columns}
    return {cut.column for cut in ex.limits.cuts} if ex.limits is not None else set()


def _find_questions(ex: MeasuredTree, nodes: Sequence[int], least: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the cuts of some nodes, and what would be if one moved: said alone, as other cuts would follow."""
    fixed, own = _fixed_columns(ex), ex.tree
    free = [node for node in nodes if own.feature[node] >= 0 and not own.is_set[node]]
    free = [node for node in free if ex.columns[int(own.feature[node])] not in fixed]
    for node in sorted(free, key=lambda node: int(own.node_depth[node]))[:_MOST_ASKED]:
        if (found := round_places(ex, node, least, _MOST_ASKED_PLACES)) is not None and len(found.values) > 1:
            now = value_in_python(ex, found.column, found.values[found.now])
            line = f"ex = ex.move_cut({found.column!r}, {now!r}, to="
            yield node, {"now": found.now, "line": line, "places": [*_told_places(ex, node, found)]}


def _alike(ex: MeasuredTree, found: Places | PlacesAtEdges, column: str, i: int) -> dict[str, list[str]]:
    """Return between which values all part the rows as a place does, if there are several."""
    ends = found.alike[i] if found.alike else None
    return {"alike": [repr(value_in_python(ex, column, end)) for end in ends]} if ends else {}


def _told_places(ex: MeasuredTree, node: int, found: Places) -> Iterator[dict[str, Any]]:
    """Yield the value of each place of a cut, and what is said of it."""
    now = found.values[found.now]
    numbers = zip(found.values, found.agreement.tolist(), found.moved, strict=True)
    for i, (value, agreement, moved) in enumerate(numbers):
        tests = {} if i == found.now else moved_tests(ex, found.column, now, value)
        tree = NodeChanges(tests).on(ex.tree, ex.n_clusters)
        there = replace(ex, tree=tree, agreement=agreement, _evidence=None, _kept={})
        words = cut_words(there, node, None, reached_by_missing(tree, ex._gap_columns))
        n, python = sum(one.size for one in moved), repr(value_in_python(ex, found.column, value))
        rows = f", {say_rows(n, ex.details.weighted)} in another cluster" if n else ""
        told = {"value": python, "full": words.full[0], "said": right_for(there) + rows}
        yield told | _alike(ex, found, found.column, i)


def _cut(ex: MeasuredTree, node: tuple[int, int], found: PlacesAtEdges, free: Sequence[int], bars: Bars) -> _Cut:
    """Return a cut with its places; IN: node: in the whole tree and in this one."""
    column, now, inner = ex.columns[int(ex.tree.feature[node[1]])], found.values[found.now], _inner_edges(bars)
    places, tests = [], []
    for i in free:
        test = ex.tree.test(node[1]) if i == found.now else moved_tests(ex, column, now, found.values[i])[node[1]]
        tree = NodeChanges({node[1]: test}).on(ex.tree, ex.n_clusters)
        moved, leaves = replace(ex, tree=tree, _evidence=None, _kept={}), _leaves(ex, node[1])
        rules, value = rules_at_leaves(moved), found.values[i]
        words = cut_words(moved, node[1], None, reached_by_missing(tree, ex._gap_columns))
        at = float(np.interp(found.ends[i], inner, bars.at[1 : 1 + len(inner)]))
        line = CutMark(at, value if isinstance(value, str) else short_number(value))
        drawn = bars_drawn(bars if i == found.now else bars._replace(lines=(line, *bars.lines[1:])))
        tests.append(test)
        places.append(
            {
                "at": round(at, 3),
                "ends": nodes_in_form(moved)[node[1]][1:3],
                "value": repr(value_in_python(ex, column, value)),
                "inside": found.inside[i].tolist(),
                "rules": [lines_said(rules[leaf]) for leaf in leaves],
                "bars": {name: drawn[name] for name in ("lines", "labels")},
                **words_drawn(words),
                **_alike(ex, found, column, i),
            }
        )
    told = {"now": free.index(found.now), "column": repr(column), "places": places}
    return _Cut(node[0], column, tests, [found.values[i] for i in free], told)


def _tell_tree(one: _Merged, cuts: Mapping[int, _Cut], of_page: Mapping[str, str]) -> dict[str, Any]:
    """Return a tree of merged clusters: its leaves and their clusters, its texts, and what each place changes in them.

    A cut does not move where its changes and those of others are not apart.
    """
    tree, k, own = one.ex.tree, one.ex.n_clusters, one.texts(one.ex.tree)
    code = {form: text for form, text in own.items() if form in of_page}
    moves: dict[int, list[dict[str, _Change]]] = {}
    here = one.cuts_above_leaves
    for node in (node for node in cuts if node in here):
        trees = (NodeChanges({here[node]: test}).on(tree, k) for test in cuts[node].tests)
        moves[node] = [{} if moved == tree else _changes(own, one.texts(moved)) for moved in trees]
        if not _are_apart(moves.values()):
            del moves[node]
    ends = [[node, int(cluster)] for node, cluster in zip(one.ends, tree.leaf_clusters, strict=True)]
    words = [own[str(cluster)] for cluster in range(k)]
    return {"ends": ends, "code": beside_code(code, of_page), "words": words, "moves": moves}


def _changes(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, _Change]:
    """Return where texts change, from which letter to which, and what stands there then."""
    found = {}
    for name, text in old.items():
        if text != (other := new[name]):
            start = _n_alike(text, other)
            stop = _n_alike(text[start:][::-1], other[start:][::-1])
            found[name] = (start, len(text) - stop, other[start : len(other) - stop])
    return found


def _n_alike(one: str, other: str) -> int:
    """Return with how many letters both texts begin."""
    return bisect_left(range(1, min(len(one), len(other)) + 1), True, key=lambda n: one[:n] != other[:n])


def _are_apart(moves: Collection[Sequence[Mapping[str, _Change]]]) -> bool:
    """Return whether no letter of a text is between the changes of two cuts."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for places in moves:
        for name in {name for changes in places for name in changes}:
            ends = [changes[name][:2] for changes in places if name in changes]
            spans.setdefault(name, []).append((min(start for start, _ in ends), max(stop for _, stop in ends)))
    return all(first[1] <= second[0] for found in spans.values() for first, second in pairwise(sorted(found)))


def _leaves(ex: MeasuredTree, node: int) -> list[int]:
    """Return the numbers of the two leaves of a cut."""
    first = int(np.searchsorted(ex.tree.leaf_nodes, node))
    return [first, first + 1]
