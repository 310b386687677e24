"""The tree that "auto" takes for a table: of those on parts of a long one, and of those on several kinds of columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from boxwood._progress import Progress
from boxwood._types import Floats, Indices
from boxwood.axes.every_set import MOST_CODES, EverySetMap, has_every_cut
from boxwood.axes.mixed import MixedMap
from boxwood.explanation.choose import settings
from boxwood.explanation.choose._candidates import carts_of
from boxwood.explanation.choose.goal import Candidate, GoalRule, comparable, goal_of
from boxwood.explanation.choose.plain import in_few_words
from boxwood.explanation.choose.search import grow_for
from boxwood.explanation.measure.limited import finish_tree
from boxwood.explanation.records import SearchReport
from boxwood.grow import METHODS
from boxwood.grow.exact.agreement import is_within_reach
from boxwood.grow.grown import Grown
from boxwood.grow.refinement.sets import refined_categories
from boxwood.loops.costs import SQEUCLIDEAN
from boxwood.metrics.costs import summed_distances
from boxwood.metrics.mixed_costs import CostOfGroups, cost_of_groups
from boxwood.reference import Reference, Task
from boxwood.reference.budget import Budget
from boxwood.reference.feature_space import FeatureSpace
from boxwood.tree import ThresholdTree
from boxwood.tree.allowed import in_bands

Options: TypeAlias = Mapping[str, Any]  # of a method


@dataclass(frozen=True)
class TableSearch:
    """The rows of a table, the columns on which trees are grown for them, and how a tree becomes rules of the table.

    Parameters
    ----------
    task : Task
        Rows and clusters in the columns on which trees are grown.
    coordinates : FeatureSpace
        The same rows in the table's columns, and the map between them.
    budget : Budget
        Limits of the rules, on the table's columns.
    parts : tuple of arrays of int, default=()
        Places of the rows on each of which "auto" looks for a tree; none if it looks at all rows of the task.
    begin : FinishedTree, default=None
        What "auto" has found for the same rows and fewer leaves: a larger tree begins with it, on the same columns.
    """

    task: Task
    coordinates: FeatureSpace
    budget: Budget
    parts: tuple[Indices, ...] = ()
    begin: FinishedTree | None = None

    def grown(self, task: Task, method: str, **options: Any) -> Grown:
        """Return the tree that a method grows for these rows, or for others in the same columns, by their task."""
        here = self.coordinates
        if method == "auto":
            options["of_words"] = isinstance(here.axis_map, MixedMap)
        if method == "mmdt" and here.gaps and isinstance(here.axis_map, MixedMap):
            known = here.mixture_of_known(task.rows, task.reference.labels, task.reference.names)
            task = replace(task, mixture=known)
            if np.shape(options.get("sigma", ())) == (len(here.columns),):  # one for each column of the table
                options["sigma"] = np.asarray(options["sigma"])[here.axis_map.features]
        return grow_for(task, method, **options)

    def finish(self, tree: ThresholdTree, search: SearchReport | None = None) -> tuple[ThresholdTree, int]:
        """Return a tree on the task's columns as one of short thresholds on the table's, and how many rows moved.

        IN: search: how "auto" found it; its cuts on categories and on numbers with gaps are then chosen anew.
        """
        here = self.coordinates
        on_table = here.pulled_back(tree)
        if search is not None and (here.scales is not None or here.categories):
            on_table = self._with_refined_categories(on_table, search)
        return self.within_limits(on_table)

    def within_limits(self, tree: ThresholdTree) -> tuple[ThresholdTree, int]:
        """Return a tree on the table's columns with short thresholds, within the limits, and how many rows moved."""
        return finish_tree(self.coordinates.shortened(tree), self.task, self.budget, self.coordinates)

    def on_parts(self, most: int | None = None) -> list[TableSearch]:
        """Return the search on each part of a long table, or on some of them; else this search itself."""
        return [self.of_rows(part) for part in self.parts[:most]] or [self]

    @property
    def is_measured_apart(self) -> bool:
        """Whether trees are grown on other rows than they are measured on: some of them, or rows in bands."""
        return bool(self.parts or self.budget.cuts)

    def in_bands(self, method: str) -> TableSearch:
        """Return the search in which growers see no threshold but those that are allowed.

        Where that is not possible, thresholds are moved once a tree is grown: kernels and mixtures are not those of
        rows in bands, and centres may be one there.
        """
        here = self.coordinates
        if not self.budget.cuts or method == "mmdt" or method.startswith("kernel"):
            return self
        table = here.table.mapped(in_bands(here.table.values, self.budget.cuts, self.task.kept))
        rows = table if here.axis_map is None else table.mapped(here.axis_map.transform(table.values))
        costs: dict[str, Any] = {} if here.scales is not None else {"measured": here.measured or here.rows}
        search = self._on(replace(here, table_store=table, store=rows, **costs))
        needs_centers = method != "auto" and METHODS[method].separates_centers
        return self if needs_centers and search.task.equal_without_forbidden else search

    def of_rows(self, rows: Indices) -> TableSearch:
        """Return the search on some of the rows."""
        task, here = self.task.of_rows(rows), self.coordinates
        coordinates = replace(here, table_store=here.table.take(rows), store=task.rows)
        budget = replace(
            self.budget.for_share(min(task.n_kept / self.task.n_kept, 1.0)), round_thresholds=None, cuts=()
        )
        return replace(self, task=task, coordinates=coordinates, budget=budget, parts=(), begin=None)

    def _with_refined_categories(self, tree: ThresholdTree, search: SearchReport) -> ThresholdTree:
        """Return a tree with better sets and sides of missing values, if that is better as trees are measured."""
        here, task, loss = self.coordinates, self.task, "mistakes" if search.by_agreement else "cost"
        better = refined_categories(tree, here.table.values, task, loss, here.coded_columns, budget=self.budget)
        if better == tree:
            return tree
        of_words = [better, tree]  # of equal ones that of fewer words is the first
        return self.best(of_words if here.categories else of_words[::-1], search)

    def on_one_hot(self) -> TableSearch | None:
        """Return the search with trees grown on one-hot columns of categories.

        None where there are no categories of more than two values, or where these columns would be too many.
        """
        here = self.coordinates
        sizes = [len(known.domain) for known in here.categories.values() if not known.ordered]
        if here.scales is None or max(sizes, default=0) <= 2 or sum(sizes) * self.task.n_rows > settings.ONE_HOT:
            return None
        labels = self.task.reference.labels
        how: dict[str, Any] = {"categories": here.categories, "gaps": here.gaps, "entry": here.entry, "one_hot": True}
        return self._on(replace(FeatureSpace.mixed(here.columns, here.table, labels, **how), dates=here.dates))

    @cached_property
    def has_every_cut(self) -> bool:
        """Whether each cut that rules make, at a threshold or by a set of values, is one in growth.

        Only then what no tree of a search does better, no rules do. It is not so where rare words count as one. Costs
        of tables with words or gaps are others.
        """
        here, kept = self.coordinates, self.task.kept
        if here.axis_map is None or here.scales is not None:
            return here.axis_map is None or (isinstance(here.axis_map, EverySetMap) and not here.alike)
        rows = here.table.values[kept], here.rows.values[kept]
        return has_every_cut(here.axis_map, *rows, here.categories, self.budget.forbidden)

    def on_every_set(self) -> TableSearch | None:
        """Return the search with trees grown on columns in which each set of values is a cut; see `EverySetMap`.

        None where growth has every cut anyway, or where the trees that agree most are not within reach there.
        """
        here, task, n_columns = self.coordinates, self.task, len(self.coordinates.columns)
        if here.axis_map is None or self.budget.max_columns is not None:
            return None
        values = np.asarray(here.table.values, dtype=np.float64)
        codes = {j: values[task.kept, j].astype(np.intp) for j, known in here.categories.items() if not known.ordered}
        n_codes = [len(np.unique(here.alike[j][own] if j in here.alike else own)) for j, own in codes.items()]
        if max(n_codes, default=0) > MOST_CODES or task.n_kept * n_columns > settings.ONE_HOT or self.has_every_cut:
            return None
        axis_map = EverySetMap(values, here.categories, task.kept, np.unique(here.axis_map.features), here.alike)
        if axis_map.n_columns * len(values) > settings.ONE_HOT:
            return None
        store = here.table.mapped(axis_map.transform(values))
        costs: dict[str, Any] = {"measured": here.rows, "scaling": None} if here.scales is None else {}
        every = self._on(replace(here, store=store, axis_map=axis_map, **costs))
        depth = min(self.budget.max_depth or task.leaves(), task.leaves() - 1)
        return every if is_within_reach(every.task, min(depth, 2)) else None

    def _on(self, coordinates: FeatureSpace) -> TableSearch:
        """Return the search with trees grown on other columns."""
        labels = self.task.reference.labels
        means = Reference.of(coordinates.rows, labels).centers
        reference = Reference(labels, means, self.task.reference.names)
        task = self.task.on(coordinates.rows, reference, coordinates.budget_of_growth(self.budget))
        return replace(self, task=replace(task, mixture=None), coordinates=coordinates)

    @cached_property
    def cost(self) -> CostOfGroups | None:
        """What measures groups of the rows of a table with categories or gaps."""
        here = self.coordinates
        return None if here.scales is None else cost_of_groups(here, self.task.n_jobs)

    def best(self, trees: Sequence[ThresholdTree], search: SearchReport) -> ThresholdTree:
        """Return the one of several trees on the table's columns that the goal of "auto" takes, the first of equals."""
        rule, candidates = self.measured(trees, search)
        return rule.best(candidates).tree

    def measured(self, trees: Sequence[ThresholdTree], search: SearchReport) -> tuple[GoalRule, list[Candidate]]:
        """Return the goal of "auto", and trees on the table's columns with their costs and mistakes."""
        return self._goal(search), [self._candidate(tree, self.predicted_by(tree)) for tree in trees]

    def loss(self, tree: ThresholdTree, predicted: Indices, search: SearchReport) -> float:
        """Return what the goal of "auto" looks at first; IN: predicted (n,): the cluster of each row by the tree."""
        return self._goal(search).loss(self._candidate(tree, predicted))

    def loss_of_cart(self, search: SearchReport) -> float:
        """Return the least loss of CART's trees on the columns of growth, in what the goal of "auto" looks at first."""
        trees = carts_of(self.task, "mistakes" if search.by_agreement else "cost")
        return min(self.loss(tree, tree.predict(self.task.rows), search) for tree in trees)

    def predicted_by(self, tree: ThresholdTree) -> Indices:
        """Return the cluster of each row by a tree on the table's columns."""
        return tree.predict(self.coordinates.table, n_jobs=self.task.n_jobs)

    def _goal(self, search: SearchReport) -> GoalRule:
        of_clusters = 0.0 if search.by_agreement else self._cost_of(self.task.reference.labels)
        return GoalRule(search.objective, 0.0 if search.by_agreement else 1.0, of_clusters, self.weight)

    def _candidate(self, tree: ThresholdTree, predicted: Indices) -> Candidate:
        return Candidate(tree, "", partial(self._cost_of, predicted), self._mistakes_of(predicted))

    def _cost_of(self, labels: Indices) -> float:
        rows = self.coordinates.measured or self.coordinates.rows
        cost = self.cost or (lambda groups: summed_distances(rows.values, groups, SQEUCLIDEAN, None, rows.weights))
        return comparable(cost(np.where(self.task.kept, labels, -1)))

    def _mistakes_of(self, labels: Indices) -> float:
        return float(self._mass[labels != self.task.reference.labels].sum())

    @property
    def weight(self) -> float:
        """The number of rows that are kept, or their weight."""
        return float(self._mass.sum())

    @property
    def _mass(self) -> Floats:
        """The weight of each row, 0 where it is not kept."""
        kept: Floats = self.task.kept.astype(np.float64)
        return kept if self.task.rows.weights is None else self.task.rows.weights * kept

    def measured_again(self, grown: Grown) -> Grown:
        """Return what "auto" has grown, with the best of its trees by the cost of the table, where gaps cost nothing.

        In growth a missing number stands at the median, and costs what that costs. Of a long table one tree is left.
        """
        ranked = grown.attributes.get("ranked", ())
        places = {each.tree: i for i, each in enumerate(ranked)}
        if not self.coordinates.gaps or grown.tree not in places or self.task.n_rows > settings.LONG:
            return grown
        trees = [self.coordinates.pulled_back(each.tree) for each in ranked]
        taken = ranked[trees.index(self.best(trees, grown.attributes["search"]))]
        if taken.tree == grown.tree:
            return grown
        search = grown.attributes["search"]._replace(gap=None, agreement_gap=None)
        return grown._replace(tree=taken.tree, method=taken.name, attributes={**grown.attributes, "search": search})

    def without(self, columns: Collection[int]) -> TableSearch:
        """Return the search for trees that do not test some columns of the table."""
        budget = replace(self.budget, forbidden=tuple(sorted({*self.budget.forbidden, *columns})))
        task = self.task.within(self.coordinates.budget_of_growth(budget))
        return replace(self, budget=budget, task=task, begin=None)

    def larger(self, begin: FinishedTree) -> TableSearch | None:
        """Return the search for a tree of more leaves on the columns of one of fewer.

        None if that had other limits, or if a larger tree may test other columns of a table in which rules test few.
        """
        if begin.search.budget != self.budget or self.budget.max_columns is not None:
            return None
        return replace(begin.search, task=begin.search.task.with_leaves(self.task.max_leaf_nodes), begin=None)

    def keeps_leaves(self, tree: ThresholdTree) -> bool:
        """Return whether a tree has as many leaves on the table's columns, where one cut may become several."""
        return self.coordinates.pulled_back(tree).n_leaves == tree.n_leaves


class FinishedTree(NamedTuple):
    """A tree as it was grown on some columns, the same as rules of the table, and the number of rows that moved."""

    search: TableSearch
    grown: Grown
    tree: ThresholdTree
    n_moved: int

    @property
    def is_perfect(self) -> bool:
        """Whether no tree can be better: each row is in its cluster, and cheaper clusters are not asked for."""
        task = self.search.task
        right = self.tree.predict(self.search.coordinates.table, n_jobs=task.n_jobs) == task.reference.labels
        return self.grown.attributes["search"].objective != "cost" and bool(right[task.kept].all())

    def attributes(self, *, are_all: bool = True) -> Mapping[str, Any]:
        """Return the facts of the growth, without the gap if the tree has other leaves on the columns of the table.

        IN: are_all: whether its rows are all rows of the table.
        """
        found: SearchReport | None = self.grown.attributes.get("search")
        if found is None or (found.gap is None and found.agreement_gap is None):
            return self.grown.attributes
        if are_all and self.search.keeps_leaves(self.grown.tree) and self.search.has_every_cut:
            return self.grown.attributes
        return {**self.grown.attributes, "search": found._replace(gap=None, agreement_gap=None)}


def choose(table: TableSearch, method: str, progress: Progress, options: Options) -> FinishedTree:
    """Return the tree of a method; "auto" says what it finds in few words, where that costs little."""
    table = table.in_bands(method)
    found = _choose_tree(table, method, progress, options)
    if method != "auto":
        return found
    has_time = options.get("time_limit") is None
    return in_few_words(
        table, found, partial(_choose_tree, method=method, progress=progress, options=options) if has_time else None
    )


def _choose_tree(table: TableSearch, method: str, progress: Progress, options: Options) -> FinishedTree:
    """Return the tree of a method; of those that "auto" finds on parts of a long table, the one best on all rows."""
    found = [_best_of_columns(each, method, progress, options) for each in table.on_parts(most_parts(options))]
    if not table.parts:
        return found[0]
    trees: dict[ThresholdTree, FinishedTree] = {}
    for each in found:
        tree, n_moved = table.within_limits(each.tree)
        trees.setdefault(tree, each._replace(tree=tree, n_moved=n_moved))
    return trees[table.best([*trees], found[0].grown.attributes["search"])]


def most_parts(options: Options) -> int | None:
    """Return how many parts of a long table are looked at; None for all. A limit of time leaves out all but one."""
    return None if options.get("time_limit") is None else 1


def _best_of_columns(table: TableSearch, method: str, progress: Progress, options: Options) -> FinishedTree:
    """Return the tree of the method; "auto" takes the best of it and others, if the table is small.

    Where agreement alone decides, trees are grown on columns in which each set is a cut, and else on columns in which
    words are numbers. If CART on one-hot columns comes near the best of these, others are grown there. Of equal ones
    the first is taken. A limit of time leaves out sets and one-hot columns. A tree that begins with another one is
    grown on its columns.
    """
    if table.begin is not None and (larger := table.larger(table.begin)) is not None:
        return _grown_from(table.begin, larger, progress, options)
    if method != "auto" or options.get("time_limit") is not None:
        return _grown_on(table, method, progress, options)
    if (every := _on_every_set(table, progress, options)) is not None:
        return every
    found = _grown_on(table, method, progress, options)
    one_hot = None if found.is_perfect else table.on_one_hot()
    if one_hot is None or not _may_be_better(one_hot, found, table):
        return found
    other = _grown_on(one_hot, method, progress, {**options, "most_steps": 0})
    best = table.best([found.tree, other.tree], found.grown.attributes["search"])
    return found if best == found.tree else other


def _may_be_better(other: TableSearch, best: FinishedTree, table: TableSearch) -> bool:
    """Return whether CART on other columns comes so near to the best tree that a search there may find a better one."""
    search = best.grown.attributes["search"]
    limit = settings.NEAR_BY_CART * table.loss(best.tree, table.predicted_by(best.tree), search)
    return other.loss_of_cart(search) <= limit


def _on_every_set(table: TableSearch, progress: Progress, options: Options) -> FinishedTree | None:
    """Return the tree that agrees most on columns of every set, if agreement decides and these are not too many.

    What decides is a property of labels and rows, so it is known before any tree is grown.
    """
    if table.coordinates.axis_map is None:  # each set is a cut there
        return None
    goal = goal_of(table.task, options.get("objective", "auto"))
    if goal.by_cost or (every := table.on_every_set()) is None:
        return None
    return _grown_by_agreement(every, progress, options, goal.objective, goal.reason)


def _grown_from(begin: FinishedTree, larger: TableSearch, progress: Progress, options: Options) -> FinishedTree:
    """Return the tree of more leaves that is grown on the columns of another one, and by its goal, from this."""
    told, options = begin.grown.attributes["search"], {**options, "begin": begin.grown}
    if told.by_agreement:
        return _grown_by_agreement(larger, progress, options, told.objective, told.reason)
    return _grown_on(larger, "auto", progress, options)


def _grown_by_agreement(
    table: TableSearch, progress: Progress, options: Options, objective: str, reason: str
) -> FinishedTree:
    """Return the tree that agrees most; IN: objective: what was asked for; reason: why agreement decides."""
    steps = {} if objective == "agreement" else {"most_steps": settings.UNASKED}
    found = _grown_on(table, "auto", progress, {**steps, **options, "objective": "agreement"})
    told = found.grown.attributes["search"]._replace(objective=objective, reason=reason)
    notes = (*found.grown.notes, reason) if reason else found.grown.notes
    return found._replace(
        grown=found.grown._replace(attributes={**found.grown.attributes, "search": told}, notes=notes)
    )


def _grown_on(table: TableSearch, method: str, progress: Progress, options: Options) -> FinishedTree:
    grown = table.measured_again(table.grown(table.task, method, progress=progress, **options))
    return FinishedTree(table, grown, *table.finish(grown.tree, grown.attributes.get("search")))
