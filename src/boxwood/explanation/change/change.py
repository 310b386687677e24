"""Changes of an explanation by hand: each gives a new one, measured on the same rows, which knows what was changed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._frames import refuse_unknown_columns
from boxwood._messages import list_words
from boxwood._progress import silent
from boxwood._validation import position
from boxwood.errors import DataError
from boxwood.explanation.ages import notes_on_days
from boxwood.explanation.ask.limits import notes_on_limits
from boxwood.explanation.change.cuts import moved_tests, new_test, node_of_cut, thresholds_of, value_in_python
from boxwood.explanation.change.trees import NodeChanges, name_by_rows, unreachable
from boxwood.explanation.change.ways import Ways, ways_of
from boxwood.explanation.choose.on_table import TableSearch, choose
from boxwood.explanation.measure.again import measured_again
from boxwood.explanation.measure.mend import with_mends
from boxwood.explanation.measured_tree import Tree, with_names, with_short_words
from boxwood.explanation.records import AllowedCuts, Edit, LimitFacts
from boxwood.reference import Reference
from boxwood.reference.labels import given_names, places_of, plain_name
from boxwood.tree.merge import merge_leaves
from boxwood.tree.shorten import round_thresholds
from boxwood.words.notes import OF_RULES
from boxwood.words.values import cluster_name

if TYPE_CHECKING:
    from boxwood._types import Array, Ints
    from boxwood.explanation.measure.evidence import Evidence
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.tree import ThresholdTree


STEP = "changed"
_OF_CLUSTERS = ("profile", "totals")  # what was measured of the clusters, whatever the tree is


def move_cut(ex: Tree, column: str, at: Any, to: Any) -> Tree:
    """See `Explanation.move_cut`."""
    changes = NodeChanges(moved_tests(ex, column, at, to))
    values = [value_in_python(ex, column, value) for value in (at, to)]
    return _change_nodes(ex, changes, f"move_cut({column!r}, {values[0]!r}, to={values[1]!r})")


def prune(ex: Tree, node: int) -> Tree:
    """See `Explanation.prune`."""
    node = node_of_cut(ex, node)
    first = next(leaf for leaf in range(node, ex.tree.n_nodes) if ex.tree.feature[leaf] < 0)
    changes = NodeChanges(leaves={node: int(ex.tree.cluster[first])}, named_anew=frozenset([node]))
    return _change_nodes(ex, changes, f"prune({node})")


def replace_cut(ex: Tree, node: int, column: str, value: Any) -> Tree:
    """See `Explanation.replace_cut`."""
    node = node_of_cut(ex, node)
    changes = NodeChanges({node: new_test(ex, column, value)}, named_anew=frozenset([node]))
    return _change_nodes(ex, changes, f"replace_cut({node}, {column!r}, {value_in_python(ex, column, value)!r})")


def split(ex: Tree, leaf: int, column: str, value: Any) -> Tree:
    """See `Explanation.split`."""
    leaf = position("leaf", leaf, ex.n_leaves)
    node = int(ex.tree.leaf_nodes[leaf])
    changes = NodeChanges({node: new_test(ex, column, value)}, named_anew=frozenset([node]))
    return _change_nodes(ex, changes, f"split({leaf}, {column!r}, {value_in_python(ex, column, value)!r})")


def merge_clusters(ex: Tree, clusters: Sequence[Hashable], name: Hashable) -> Tree:
    """See `Explanation.merge_clusters`."""
    own = [ex.names[i] for i in places_of(clusters, ex.names, cluster_name)]
    if len(own) < 2:
        raise DataError(f"merging takes at least two clusters, got {list_words([*map(str, clusters)]) or 'none'}")
    name = own[0] if name is None else plain_name(name)
    if name in {*ex.names} - {*own}:
        raise DataError(f"{cluster_name(name)} is another cluster; merge it, too, or give another name")
    said = ", ".join([*map(repr, own), f"name={name!r}"])
    names = [name if old in own else old for old in ex.names]
    return _merge_names(ex, names, f"merge_clusters({said})")


def rename_clusters(ex: Tree, names: Mapping[Hashable, Hashable], merge: bool) -> Tree:
    """See `Explanation.rename`."""
    if not isinstance(names, Mapping):
        raise TypeError(f"names must be a mapping from name to new name, got {type(names).__name__}")
    given = given_names(ex.names, names, cluster_name)
    new = {old: name for old, name in zip(ex.names, given, strict=True) if old != name}
    if merge and len({*given}) < len(given):
        return _merge_names(ex, given, f"rename({new!r}, merge=True)")
    answer = with_names(ex, names)
    edit = Edit(f"ex = ex.rename({new!r})", ex.agreement, ex.agreement, ex.price, ex.price, (), _is_by_agreement(ex))
    return replace(answer, changes=(*ex.changes, edit)) if new else answer


# --------------------------------------------------------------------------------------------- what changes in the tree


def told_of_tree(ex: Tree, tree: ThresholdTree, line: str, short: ThresholdTree | None = None) -> Tree:
    """Return the explanation by another tree, whose leaves with a cluster from k on have that of most of their rows.

    IN: line: of Python that makes it so; short: the tree as words say it, if that is another one.
    """
    evidence, k = _evidence(ex), ex.n_clusters
    ways = ways_of(ex.tree, tree, evidence)
    tree = name_by_rows(tree, ways.in_leaves)
    answer = measured_again(ex, tree, STEP, evidence)
    limits = None if ex.limits is None else _limits_kept(ex.limits, ex, tree, ways.n_rows)
    kept = {what: ex._kept[what] for what in _OF_CLUSTERS if what in ex._kept}
    answer = replace(answer, limits=limits, _kept=answer._kept | kept)
    if short is not None:
        answer = _in_words_of(answer, name_by_rows(short, ways.in_leaves))
    return _note_changes(ex, answer, line, ways, range(k))


def _change_nodes(ex: Tree, changes: NodeChanges, line: str) -> Tree:
    """Return the explanation by the tree with some nodes changed."""
    tree = changes.on(ex.tree, ex.n_clusters)
    _refuse_unreachable(ex, tree)
    return told_of_tree(ex, tree, line, None if ex._short is None else changes.on(ex._short, ex.n_clusters))


def _in_words_of(answer: MeasuredTree, short: ThresholdTree) -> MeasuredTree:
    """Return an answer whose words have the thresholds of another tree, if that sends each row to the same leaf."""
    rows = answer._in_memory
    if rows is None or not np.array_equal(short.apply(rows.coordinates.table), rows.leaf):
        return answer
    return with_short_words(answer, short)


def _merge_names(ex: Tree, names: Sequence[Hashable], line: str) -> Tree:
    """Return the explanation of clusters of which those of one name are one."""
    evidence, distinct = _evidence(ex), list(dict.fromkeys(names))
    if evidence.in_batches or evidence.whole is not None:
        raise DataError("clusters of a table in batches cannot be merged; explain it by labels that are merged")
    place = [distinct.index(name) for name in names]
    evidence = _with_merged(evidence, place, distinct, evidence.held.sum(axis=0))
    tree = merge_leaves(ex.tree.relabeled([place[cluster] for cluster in ex.tree.leaf_clusters.tolist()]))
    ways = ways_of(ex.tree, tree, evidence)
    return _note_changes(ex, measured_again(ex, tree, STEP, evidence), line, ways, place)


def _with_merged(evidence: Evidence, place: Sequence[int], names: Sequence[Hashable], sizes: Array) -> Evidence:
    """Return the rows with their new clusters; IN: place: the new number of each cluster; sizes: of the old ones."""
    task, old = evidence.task, evidence.task.reference
    centers = np.array([
        np.average(old.centers[own], axis=0, weights=sizes[own] if sizes[own].sum() else None)
        for own in (np.flatnonzero(np.array(place) == new) for new in range(len(names)))
    ])  # fmt: skip
    labels = np.where(old.labels >= 0, np.array(place)[old.labels], -1)
    task = replace(task.with_reference(Reference(labels, centers, tuple(names))), mixture=None)
    held = np.array([evidence.held[:, np.array(place) == new].sum(axis=1) for new in range(len(names))]).T
    outcomes = None if evidence.outcomes is None else _with_merged(evidence.outcomes, place, names, sizes)
    own: dict[str, Any] = {"clusterer": None, "fixed": "Clusters were merged", "outcomes": outcomes}
    return replace(evidence, task=task, held=held, **own)


def _evidence(ex: MeasuredTree) -> Evidence:
    """Return the rows in the categories that the tree knows, see `handle_unknown`; no leaf is too small for them."""
    evidence = ex._known()
    here = evidence.coordinates
    known = {j: ex._coded_columns.get(j, one) for j, one in here.categories.items()}
    whole = None if evidence.whole is None else replace(evidence.whole, fewest=0)
    return replace(evidence, coordinates=replace(here, categories=known), whole=whole)


def _refuse_unreachable(ex: MeasuredTree, tree: ThresholdTree) -> None:
    """Raise a DataError if a tree has more leaves than the old one that no row can reach."""
    if len(new := unreachable(ex, tree)) > len(unreachable(ex, ex.tree)):
        column = next(iter(new.values()))
        raise DataError(f"no row could reach a leaf then, as the cuts of {column} on its way contradict each other; "
                        "choose a value between them, or prune the cut below")  # fmt: skip


def _limits_kept(limits: LimitFacts, ex: MeasuredTree, tree: ThresholdTree, n_rows: Ints) -> LimitFacts:
    """Return the limits that a changed tree keeps; IN: n_rows: of each leaf, whatever they weigh."""
    digits, beside = limits.round_thresholds, (*ex._coded_columns, *ex._date_columns)
    is_kept = {
        "max_depth": tree.depth <= (limits.max_depth or math.inf),
        "min_samples_leaf": int(n_rows.min()) >= (limits.min_samples_leaf or 0),
        "max_columns": len(tree.features) <= (limits.max_columns or math.inf),
        "round_thresholds": digits is None or round_thresholds(tree, digits, beside) == tree,
    }
    broken: dict[str, Any] = {name: None for name, kept in is_kept.items() if not kept}
    cuts = tuple(one for one in limits.cuts if _are_at(ex, tree, one))
    return limits._replace(**broken, cuts=cuts)


def _are_at(ex: MeasuredTree, tree: ThresholdTree, allowed: AllowedCuts) -> bool:
    """Return whether all cuts of a column are at thresholds that are allowed."""
    j = ex.columns.index(allowed.column)
    return {*thresholds_of(ex, tree, j)} <= {*allowed.values}


# ------------------------------------------------------------------------------------------------- what that costs


def _note_changes(ex: Tree, answer: MeasuredTree, line: str, ways: Ways, place: Sequence[int]) -> Tree:
    """Return a measured answer with the notes that still hold, and with what was changed at which price.

    IN: place: the new number of each old cluster.
    """
    notes = [note for note in ex.notes if not OF_RULES.search(note)]
    on_limits = [] if answer.limits is None else notes_on_limits(answer.limits, answer)
    told = (*answer.notes, *on_limits, *notes_on_days(answer, dict(answer.details.dates)))
    notes += [note for note in told if note not in notes]
    old = np.array(place)[ex.tree.leaf_clusters]
    edit = Edit(
        f"ex = ex.{line}",
        ways.agreement_before(ex, old),
        answer.agreement,
        ex.price,
        answer.price,
        ways.moved(old, answer.tree.leaf_clusters, answer.names),
        _is_by_agreement(ex),
    )
    search = None if ex.search_report is None else ex.search_report._replace(gap=None, agreement_gap=None)
    answer = replace(answer, notes=tuple(notes), search_report=search, changes=(*ex.changes, edit))
    return type(ex)._of(with_mends(answer) if any(one.is_weak for one in answer.clusters) else answer)


def _is_by_agreement(ex: MeasuredTree) -> bool:
    return ex.search_report is not None and ex.search_report.by_agreement


def without(ex: Tree, columns: Sequence[str]) -> Tree:
    """See `Explanation.without`."""
    if not columns:
        raise DataError("without() takes the columns that no rule shall test, got none")
    evidence = ex._rows("without()")
    refuse_unknown_columns(columns, ex.columns)
    limits = ex.limits or LimitFacts()
    forbidden = tuple(name for name in ex.columns if name in {*limits.forbidden, *columns})
    if len(forbidden) == len(ex.columns):
        raise DataError(f"every column is forbidden ({list_words([*ex.columns])}); rules need one that they may test")
    task, here = evidence.task.with_leaves(ex.n_leaves), evidence.coordinates
    search = TableSearch(task, here, evidence.budget).without([ex.columns.index(name) for name in forbidden])
    objective = "auto" if ex.search_report is None else ex.search_report.objective
    found = choose(search, "auto", silent, {"objective": objective})
    line = f"without({', '.join(map(repr, columns))})"
    preferred = tuple(name for name in limits.preferred if name not in forbidden)
    kept = limits._replace(forbidden=forbidden, preferred=preferred)
    answer = told_of_tree(replace(ex, limits=kept), found.tree, line)
    return replace(answer, _evidence=replace(answer._rows(), budget=search.budget))
