"""The smaller and larger trees of the frontier as data, from which the page draws each when a reader asks for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._types import Floats
from boxwood.explanation.change.trees import NodeChanges
from boxwood.explanation.measure.evidence import BOOLEAN, held_in
from boxwood.explanation.measure.frontier import BySize, Pruned, largest_of, tree_without, trees_of_frontier
from boxwood.explanation.measure.measure import binary_columns
from boxwood.explanation.records import FrontierRow, rules_of
from boxwood.render.forms.walk import CutWords, codes_at_cuts, cut_words
from boxwood.render.page._copies import beside_code, code_by_form
from boxwood.render.page._file import file_columns
from boxwood.render.page._guard import bars_told
from boxwood.render.page._parts import bars_shape, columns_in_form, nodes_in_form
from boxwood.render.page._template import pack
from boxwood.render.page.results import say_conditions
from boxwood.render.pictures.picture import GAPS, LARGE_SIZES, Box, texts_under_bars
from boxwood.tree.boxes import reached_by_missing
from boxwood.words.rules import rules_in_words
from boxwood.words.values import cluster_name, column_name, fit_width, text_width

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.explanation.records import Rule
    from boxwood.render.pictures.bars import Bars

_MOST = 12  # trees
_MOST_LETTERS = 70_000
FEW_COLUMNS = 8  # of the rules, for which trees without one are grown
LARGEST_DRAWN, LARGEST_GROWN = 40, 80  # leaves of a tree that a reader would look at, and of the tree that is pruned


class OtherTrees(NamedTuple):
    """Trees beside that of a page: packed for its script, and what is said of each.

    `rows` are those of the slider, and `without` are pairs of a column and the row of the tree that does not test it.
    """

    packed: str
    rows: list[FrontierRow]
    without: list[tuple[str, FrontierRow]]


def other_trees(
    ex: MeasuredTree, best: BySize, bars: Mapping[int, Bars], code: Mapping[str, str], least: int, *, has_price: bool
) -> OtherTrees | None:
    """Return the trees of a frontier, and for each column of the rules the best one without it.

    None where rows were drawn from a table. A tree and its prunings are told once: for each node its words, its bars
    and its rows by cluster; a pruning is the nodes that are its leaves. IN: bars, code: of the page's tree, by node and
    by form; least: rows of a cluster that is shown.
    """
    evidence = ex._in_memory
    if evidence is None or evidence.whole is not None or largest_of(ex) > LARGEST_GROWN:
        return None
    rows = _spread_sizes([row for row in best.frontier if 2 <= row.leaves <= LARGEST_DRAWN])
    sizes, own, parts = [row.leaves for row in rows], {} if best.own is None else best.own.ends, []
    draw = partial(draw_trees, ex, code=code, least=least)
    if larger := [m for m in sizes if m not in own]:
        parts.append(draw(trees_of_frontier(ex, larger, priced=has_price)))
    if best.own is not None and (smaller := {m: own[m] for m in sizes if m in own}):
        parts.append(draw(best.own._replace(ends=smaller), bars=bars))
    drawn = sorted((row.leaves, part, i, row) for part, (_, found) in enumerate(parts) for i, row in enumerate(found))
    others = []
    for j in ex.tree.features.tolist() if ex.tree.features.size <= FEW_COLUMNS else ():
        found = tree_without(ex, j)
        if found is not None:
            data, [row] = draw(found)
            others.append((column_name(ex.columns[j]), row, data))
    others.sort(key=lambda one: -one[1].agreement)  # the column that is missed least comes first
    if not drawn and not others:
        return None
    slider = {"slider": [data for data, _ in parts], "places": [(part, i) for _, part, i, _ in drawn]}
    for shown in (others, []):
        packed = pack(slider | {"without": [data for *_, data in shown]} | facts_of_pictures(ex))
        if len(packed) <= _MOST_LETTERS:
            return OtherTrees(packed, [row for *_, row in drawn], [(name, row) for name, row, _ in shown])
    return None


def _spread_sizes(rows: Sequence[FrontierRow]) -> list[FrontierRow]:
    """Return some trees beside the explanation's: as many smaller as larger ones, its neighbours among them."""
    at = next((i for i, row in enumerate(rows) if row.is_this), len(rows))
    kept = []
    for side in (rows[:at], rows[at + 1 :]):
        places = np.linspace(0, len(side) - 1, _MOST // 2).round().astype(int).tolist() if side else []
        kept += [side[i] for i in dict.fromkeys(places)]
    return kept


def facts_of_pictures(ex: MeasuredTree) -> dict[str, Any]:
    """Return what all pictures of an explanation's trees share."""
    return {
        "sizes": LARGE_SIZES._asdict() | {"gaps": GAPS},
        "names": [_in_leaf(name) for name in ex._for_people().names],
        "weighted": ex.details.weighted,
    }


def draw_trees(
    ex: MeasuredTree,
    found: Pruned,
    *,
    code: Mapping[str, str] | None,
    least: int,
    bars: Mapping[int, Bars] | None = None,
) -> tuple[dict[str, Any], list[FrontierRow]]:
    """Return a larger tree and its prunings as data, and what each of these does on the rows.

    IN: code: that of the page's tree, by form; None to tell no code; bars: of the larger tree, where they are known.
    """
    larger = on_tree(ex, found)
    bars = bars_told(larger, least, None) if bars is None else bars
    held, trees, rules, rows = _by_node(larger), [], dict[int, list[str]](), []
    for size, ends in found.ends.items():
        right = min(float(held[ends, found.clusters[ends]].sum() / held[0].sum()), 1.0)
        row = FrontierRow(size, found.prices.get(size, math.nan), right, None, None, False)
        tree = NodeChanges(leaves={node: int(found.clusters[node]) for node in ends}).on(found.tree, ex.n_clusters)
        # of its code: rows are at the leaves of the larger tree
        pruned = replace(larger, tree=tree, agreement=row.agreement, price=row.price, _evidence=None, _kept={})
        own = rules_at_leaves(pruned)
        lines = zip(ends, own, strict=True)
        rules |= {node: lines_said(one) for node, one in lines if node not in rules}
        trees.append({"ends": ends} | ({} if code is None else forms_of(pruned, own, code)))
        rows.append(row)
    data = {
        "nodes": _nodes(larger, found, rules, held, bars),
        "columns": columns_in_form(larger),
        "file": file_columns(larger, least),
        "trees": trees,
    }
    return data, rows


def rules_at_leaves(ex: MeasuredTree) -> list[Rule]:
    """Return the rules of the leaves of a tree that is not measured."""
    return rules_of(ex.tree, ex.columns, ex._coded_columns, [*ex._gap_columns], ex._date_columns)


def lines_said(rule: Rule) -> list[str]:
    """Return the conditions of a rule, as a card has them."""
    return [line.text for line in say_conditions(rule)]


def forms_of(ex: MeasuredTree, rules: Sequence[Rule], of_page: Mapping[str, str]) -> dict[str, Any]:
    """Return what can be copied of a tree: all rules as code, beside that of the page, and of each cluster in words."""
    return {"code": beside_code(code_by_form(ex), of_page), "copies": {"text": words_of_clusters(ex, rules)}}


def words_of_clusters(ex: MeasuredTree, rules: Sequence[Rule]) -> list[str]:
    """Return the rules of each cluster in words; IN: rules: of the leaves."""
    leaves = (np.flatnonzero(ex.tree.leaf_clusters == cluster).tolist() for cluster in range(ex.n_clusters))
    return [rules_in_words([rules[leaf] for leaf in own], whole=True) for own in leaves]


def on_tree(ex: MeasuredTree, found: Pruned) -> MeasuredTree:
    """Return an explanation by another tree, as far as words and bars need it; its leaves are not measured."""
    evidence = ex._rows()
    tree, leaf = found.tree, found.leaf
    held, _ = held_in(evidence.task, leaf, tree.n_leaves)
    binary = binary_columns(tree, evidence.coordinates, evidence.task.kept)
    evidence = replace(evidence, leaf=leaf, held=held)
    known = {*dict(ex.details.categories), *ex.details.gaps}
    truths = [
        name for j in tree.features.tolist() if (name := ex.columns[j]) in evidence.booleans and name not in known
    ]
    details = ex.details._replace(
        binary=tuple(name for name in binary if name not in truths),
        categories=(*ex.details.categories, *((name, BOOLEAN) for name in truths)),
    )
    return replace(ex, tree=tree, details=details, _evidence=evidence, _short=None, _kept={**ex._kept})


def _nodes(
    ex: MeasuredTree, found: Pruned, rules: Mapping[int, Sequence[str]], held: Floats, bars: Mapping[int, Bars]
) -> dict[int, dict[str, Any]]:
    """Return the nodes that are in one of the trees: of all its place, its rows by cluster and its cluster."""
    tree, shown = ex.tree, {0}
    for ends in found.ends.values():
        for node in ends:
            above = node
            while above not in shown:
                shown.add(above)
                above = int(tree.parent[above])
    inner = {node for node in shown if tree.feature[node] >= 0 and node + 1 in shown}
    tests = nodes_in_form(ex)
    codes = codes_at_cuts(tree, ex._coded_columns)
    reached = reached_by_missing(tree, ex._gap_columns)
    nodes = {}
    for node in sorted(shown):
        one: dict[str, Any] = {"by": held[node].tolist(), "cluster": int(found.clusters[node])}
        one |= {"rule": rules[node]} if node in rules else {}
        if node in inner:
            column = column_name(ex.columns[int(tree.feature[node])])
            one |= {
                "second": int(tree.second[node]),
                "test": tests[node],
                "column": column,
                "title": fit_width(column, LARGE_SIZES.cut[0] - 34.0, LARGE_SIZES.title),
                "bars": bars_drawn(bars[node]) if node in bars else None,
            }
            one |= words_drawn(cut_words(ex, node, codes.get(node), reached))
        nodes[node] = one
    return nodes


def words_drawn(words: CutWords) -> dict[str, Any]:
    """Return the words on both ways on from a cut as a picture has them."""
    short = [fit_width(text, GAPS[1] - 8.0, LARGE_SIZES.text) for text in words.short]
    return {"short": short, "wide": max(text_width(text, LARGE_SIZES.text) for text in short), "full": words.full}


def bars_drawn(bars: Bars) -> dict[str, Any]:
    """Return the bars of a cut as a picture has them."""
    first, last = LARGE_SIZES.cut_area
    area = Box(8.0, first, LARGE_SIZES.cut[0] - 16.0, last - first)
    return bars_shape(area, texts_under_bars(bars, area, LARGE_SIZES.text), bars)


def _by_node(ex: MeasuredTree) -> Floats:
    """Return the rows of each cluster at each node, or their weight, shape (n_nodes, k)."""
    tree, held = ex.tree, ex._rows().held
    sums = np.zeros((tree.n_nodes, held.shape[1]))
    sums[tree.leaf_nodes] = held
    for node in range(tree.n_nodes - 1, 0, -1):
        sums[tree.parent[node]] += sums[node]
    return sums


def _in_leaf(name: Any) -> str:
    return fit_width(cluster_name(name), LARGE_SIZES.leaf[0] - 44.0, LARGE_SIZES.title)
