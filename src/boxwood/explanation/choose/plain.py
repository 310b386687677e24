"""The tree that "auto" has chosen, said in fewer words and on plainer columns, where that costs nothing or little."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boxwood._validation import list_words
from boxwood.explanation.choose import settings
from boxwood.grow.refinement.plainer import luck_of_words, on_plainer_columns, with_fewer_words
from boxwood.reference.budget import Budget
from boxwood.tree import ThresholdTree
from boxwood.words.values import MOST_VALUES, column_name, percent

if TYPE_CHECKING:
    from boxwood.explanation.choose.on_table import FinishedTree, TableSearch


def in_few_words(
    table: TableSearch, found: FinishedTree, again: Callable[[TableSearch], FinishedTree] | None
) -> FinishedTree:
    """Return the tree with cuts that name fewer words, on plainer columns, and without long lists of words.

    Cuts become plainer where nothing is lost. Where one still names more than eight words, which rules do not show as a
    whole, a tree without the columns of so many words is looked for. It may lose 1.5% of the rows where agreement alone
    decides, and else of what the goal looks at, and besides what the lists owe to luck (`luck_of_words`): new rows
    would lose that anyway.

    IN: again: makes the tree of another search of the table; None where there is no time for it.
    """
    found = _with_plain_cuts(table, found)
    long = [] if again is None else _columns_of_long_lists(table, found.tree)
    if again is None or not long or set(long) >= set(_budget(table).allowed(len(table.coordinates.columns))):
        return found
    fewer, luck = table.without(long), max(_luck(table, found), 0.0)
    if not _may_be_near(fewer, found, settings.FOR_WORDS + luck):
        return found
    other = _with_plain_cuts(fewer, again(fewer))
    spare = settings.FOR_WORDS + max(luck - _luck(table, other), 0.0)
    return _note_long_rules(table, other, found, long) if _is_near(table, other.tree, found, spare) else found


def _luck(table: TableSearch, found: FinishedTree) -> float:
    here = table.coordinates
    words = [j for j, known in here.categories.items() if not known.ordered]
    return luck_of_words(found.tree, here.table.values, table.task, _loss(found), words, here.alike)


def _loss(found: FinishedTree) -> str:
    return "mistakes" if found.grown.attributes["search"].by_agreement else "cost"


def _with_plain_cuts(table: TableSearch, found: FinishedTree) -> FinishedTree:
    """Return the tree with plainer cuts, where that loses nothing."""
    here, budget = table.coordinates, _budget(table)
    if here.categories:
        how = table.task, _loss(found), here.coded_columns
        found = _replace_tree(table, found, with_fewer_words(found.tree, here.table.values, *how, budget=budget))
    numbers = [j for j in range(len(here.columns)) if j not in here.categories and j not in here.dates]
    tree = on_plainer_columns(found.tree, here.table.values, table.task, numbers, budget)
    return _replace_tree(table, found, tree)


def _budget(table: TableSearch) -> Budget:
    """Return the limits of the rules, with the columns forbidden that clusters were not made of."""
    here = table.coordinates
    if here.axis_map is None:
        return table.budget
    unread = set(range(len(here.columns))) - set(here.axis_map.features.tolist())
    return replace(table.budget, forbidden=tuple(sorted(unread | set(table.budget.forbidden))))


def _replace_tree(table: TableSearch, found: FinishedTree, tree: ThresholdTree) -> FinishedTree:
    """Return what was found with another tree, if that loses no more and rounding moves no row."""
    if tree == found.tree:
        return found
    tree, n_moved = table.within_limits(tree)
    if n_moved or not _is_near(table, tree, found):
        return found
    attributes = {name: fact for name, fact in found.grown.attributes.items() if name != "costs"}
    grown = found.grown._replace(attributes=attributes)
    if table.coordinates.axis_map is None:
        grown = grown._replace(tree=tree)
    return found._replace(tree=tree, grown=grown)


def _is_near(table: TableSearch, tree: ThresholdTree, found: FinishedTree, share: float = 0.0) -> bool:
    """Return whether a tree loses no more than another one, but for a share of the rows or of the goal's number."""
    rule, (new, old) = table.measured([tree, found.tree], found.grown.attributes["search"])
    spare = share * (rule.loss(old) if rule.by_cost else rule.weight)
    return rule.loss(new) <= rule.loss(old) + spare


def _may_be_near(fewer: TableSearch, found: FinishedTree, share: float) -> bool:
    """Return whether CART without long lists agrees so well that a search for a tree that may be near is worth it."""
    here, search = fewer.on_parts(1)[0], found.grown.attributes["search"]
    if not search.by_agreement:
        return True
    allowed = here.loss(found.tree, here.predicted_by(found.tree), search) + share * here.weight
    return here.loss_of_cart(search) <= settings.FAR_BY_CART * allowed


def _columns_of_long_lists(table: TableSearch, tree: ThresholdTree) -> list[int]:
    """Return the columns of words of which a cut names more than eight, and others of as many words or more."""
    words, named = _unordered_columns(table), set()
    for node in np.flatnonzero(np.isin(tree.feature, list(words))).tolist():
        n_words = words[int(tree.feature[node])]
        n_inside = int(tree.is_inside(node, np.arange(n_words, dtype=np.float64)).sum())
        if min(n_inside, n_words - n_inside) > MOST_VALUES:
            named.add(n_words)
    return [j for j, n_words in words.items() if named and n_words >= min(named)]


def _unordered_columns(table: TableSearch) -> dict[int, int]:
    """Return the columns of words that have no order, and how many each has."""
    known = table.coordinates.categories.items()
    return {j: len(its.domain) for j, its in known if not its.ordered and j not in table.budget.preferred}


def _note_long_rules(table: TableSearch, other: FinishedTree, found: FinishedTree, long: list[int]) -> FinishedTree:
    """Return the tree in few words, with a note if rules on columns of many words were right for more rows."""
    search = other.grown.attributes["search"]._replace(gap=None, agreement_gap=None)
    rule, (new, old) = table.measured([other.tree, found.tree], search)
    lost, notes = (new.mistakes - old.mistakes) / rule.weight, other.grown.notes
    if lost > 0:
        used = [column_name(table.coordinates.columns[j]) for j in long if j in found.tree.features]
        notes = (
            *notes,
            f"rules on {list_words(used)} would be right for {percent(lost)} more of the rows, by long lists of "
            "categories (preferred)",
        )
    grown = other.grown._replace(notes=notes, attributes={**other.grown.attributes, "search": search})
    return other._replace(grown=grown)
