"""`explain` step by step: the problem is posed, a tree is grown and finished, and everything is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from boxwood._frames import (
    boolean_columns,
    date_columns,
    is_frame,
    label_values,
    refuse_other_index,
    refuse_other_names,
    refuse_unreadable,
)
from boxwood._validation import Rows
from boxwood.batches import Batches, Source
from boxwood.batches.tree_sums import Moved, TreeSums, shortened_of_batches
from boxwood.columns.column_table import ColumnTable
from boxwood.columns.of_batches import NumbersInBatches
from boxwood.errors import DataError
from boxwood.explanation.ask.clustering import notes_on_clustering, notes_on_kernel
from boxwood.explanation.ask.columns import boolean_columns_of, notes_in_batches, notes_on_reading
from boxwood.explanation.ask.explainer import explained_behind, explained_on_table, is_explainer, refuse_growing
from boxwood.explanation.ask.gaps import complete_cases, notes_on_all_rows
from boxwood.explanation.ask.gathered import numbers_in_order
from boxwood.explanation.ask.options import Options, with_defaults
from boxwood.explanation.ask.outcome import Outcome, SeenByAuto, conclude
from boxwood.explanation.ask.problem import Posed, Problem, pose, problem_of, read_dates, with_weights
from boxwood.explanation.choose import settings
from boxwood.explanation.choose.leaves import leaves_that_pay
from boxwood.explanation.choose.on_table import FinishedTree, TableSearch, choose, most_parts
from boxwood.explanation.choose.search import grow_for, sample_task
from boxwood.explanation.choose.search_batches import GrownInBatches, SearchInBatches
from boxwood.explanation.measure.batch_statistics import BatchStatistics, named_by_rows, with_enough_rows
from boxwood.explanation.measure.besides import with_note_on_kinds
from boxwood.explanation.measure.evidence import Evidence
from boxwood.explanation.measure.full_table import OF_DRAWN
from boxwood.explanation.measure.limited import move_thresholds
from boxwood.explanation.measure.measure import Costs, measure, measured_of_batches, mixture_facts
from boxwood.explanation.measure.mend import with_mends
from boxwood.explanation.measured_tree import MeasuredTree, with_kinds
from boxwood.grow.grown import Grown
from boxwood.grow.refinement.plainer import on_plainer_columns
from boxwood.grow.shared.names import leaves_reached
from boxwood.reference import Mixture, Task
from boxwood.reference.feature_space import FeatureSpace
from boxwood.reference.reference import are_labels
from boxwood.tree import ThresholdTree
from boxwood.words.notes import lack_groups
from boxwood.words.values import of_leaves, percent

T = TypeVar("T")


def explain_rows(X: Any, clustering: Any, asked: Options) -> MeasuredTree:
    """Return the explanation of a clustering of the rows of an array, a frame or a table in batches; see `explain`."""
    _refuse_unusable(X, clustering, asked)
    if not isinstance(X, Source) and isinstance(clustering, np.ndarray):
        clustering = label_values(clustering)
    if hasattr(clustering, "fit") and is_explainer(clustering):
        return _by_explainer(X, clustering, asked)
    X, asked = read_dates(X, clustering, asked.scaled_for(clustering, X))
    question = pose(X, clustering, asked)
    problem, outcome = _choose_tree(question, clustering)
    explanation = conclude(outcome, problem, question.asked, made_here=clustering is None)
    whole = _with_evidence(problem.complete.with_other_rows(explanation), X, problem, fixed=_why_fixed(clustering))
    told = with_kinds(whole, _booleans(question.rows, problem.complete.X), question.asked.dates)
    if isinstance(X, Source):
        told = replace(told, notes=(*notes_on_reading(X, asked.columns), *told.notes))
    told = with_note_on_kinds(told) if clustering is None and asked.n_clusters is None else told
    return with_mends(told) if any(one.is_weak for one in told.clusters) else told


def explained_by_tree(
    X: Any, labels: Any, asked: Options, tree_of: Callable[[FeatureSpace, Sequence[Any]], ThresholdTree], method: str
) -> MeasuredTree:
    """Return the explanation of labels by a tree that there is already.

    IN: tree_of: the tree on the columns of a table, by the names of the clusters; method: how it was made.
    """
    _refuse_unusable(X, labels, asked)
    X, asked = read_dates(X, labels, asked.scaled_for(labels, X))
    question = pose(X, label_values(labels), asked)
    problem = question.problem
    tree = tree_of(problem.coordinates, problem.task.reference.names)
    measured = measure(problem.task, Grown(tree, method, notes=problem.notes), problem.coordinates)
    explanation = problem.complete.with_other_rows(replace(measured, notes=(*measured.notes, *asked.notes)))
    whole = _with_evidence(explanation, X, problem, fixed=_why_fixed(labels))
    return with_kinds(whole, _booleans(question.rows, problem.complete.X), question.asked.dates)


def _refuse_unusable(X: Any, clustering: Any, asked: Options) -> None:
    """Raise an error for tables without rows, and for labels or weights that are none."""
    refuse_other_names(X, labels=clustering, sample_weight=asked.sample_weight)
    refuse_unreadable("the labels", clustering)
    has_length = X.ndim > 0 if isinstance(X, np.ndarray) else isinstance(X, (list, ColumnTable)) or is_frame(X)
    if has_length and len(X) == 0:
        raise DataError("the table has no rows; give at least two, in two clusters")


def _choose_tree(question: Posed, clustering: Any) -> tuple[Problem, Outcome]:
    """Return the problem with the numbers of clusters and of leaves that are taken, and its outcome: chosen, measured.

    IN: clustering: None if boxwood made the clusters.
    """
    if clustering is None:
        return _of_clusters_made(question)
    problem, asked = question.problem, question.asked
    is_left_open = not hasattr(clustering, "fit") and are_labels(clustering) and _is_left_open(asked)
    if problem.task.in_batches:
        return _in_batches(problem, clustering, asked, is_left_open=is_left_open)
    return _with_leaves_that_pay(problem, asked) if is_left_open else (problem, _in_memory(problem, asked))


def _is_left_open(asked: Options) -> bool:
    """Return whether nobody says how many leaves a tree has, nor what decides between trees."""
    is_auto = asked.method == "auto" and asked.options.get("objective", "auto") == "auto"
    return is_auto and asked.max_leaf_nodes is None


def _with_evidence(explanation: MeasuredTree, X: Any, problem: Problem, *, fixed: str) -> MeasuredTree:
    """Return the explanation with what its evidence is to know of the table, and why clusters are not made again."""
    evidence = replace(explanation._known(), fixed=fixed)
    if isinstance(X, Source) and not problem.task.in_batches:
        are_all = X.is_local and X.n_rows == explanation.n_rows and problem.whole is None
        beside = partial(numbers_in_order, X, explanation.n_rows)
        evidence = replace(evidence, beside=beside, unplaced="" if are_all else X.name)
    return replace(explanation, _evidence=evidence)


def _with_leaves_that_pay(problem: Problem, asked: Options) -> tuple[Problem, Outcome]:
    """Return the problem of given labels with the number of leaves that is taken, and its outcome.

    That is the number of clusters, or as many as pay on new rows, if rules of so many are right for more of these rows,
    too. Where more may pay, exact searches for fewer leaves end early; they are made anew if more do not pay.
    """
    began, limit, task = time.monotonic(), asked.options.get("time_limit"), problem.task
    n_leaves = _leaves_that_pay(problem) if limit is None else 0
    is_quick = n_leaves > task.leaves()
    few = _in_memory(problem, _with_options(asked, most_steps=settings.BESIDE) if is_quick else asked)
    is_open = few.explanation.agreement < 1
    if limit is not None and is_open:
        n_leaves = _leaves_that_pay(problem)
    left = None if limit is None else limit - (time.monotonic() - began)
    if n_leaves > task.leaves() and is_open and (left is None or left > 0):
        limited = asked if left is None else _with_options(asked, time_limit=left)

        def with_leaves(n: int, asked: Options = limited) -> tuple[tuple[Problem, Outcome], float]:
            larger = replace(problem, task=task.with_leaves(n), begin=few.found)
            outcome = _in_memory(larger, asked)
            return (larger, outcome), outcome.explanation.agreement

        def with_leaves_at_once(n: int) -> float:
            return with_leaves(n, _with_options(limited, most_steps=settings.BESIDE))[1]

        least = n_leaves if left is not None else task.leaves() + 1
        larger, many = _with_fewest(with_leaves, n_leaves, least, with_leaves_at_once)
        if _tells_more(many.explanation, few.explanation):
            return larger, _with_notes(many, _note_on_leaves(few.explanation, many.explanation, "labels"))
    return problem, _in_memory(problem, asked) if is_quick else few


def _with_fewest(
    with_leaves: Callable[[int], tuple[T, float]],
    most: int,
    least: int,
    at_once: Callable[[int], float] | None = None,
) -> T:
    """Return what as few leaves give as lose no more than half a percent of the rows for each that is saved.

    How many pay was chosen by trees of CART, which need more. IN: with_leaves: what a number of leaves gives, and its
    agreement; at_once: the agreement that a search gives which ends early, as most numbers are looked at in vain.
    """
    found, right = with_leaves(most)
    for n_leaves in range(most - 1, least - 1, -1):
        enough = right - settings.LEAVES_GAIN / 2
        if at_once is not None and at_once(n_leaves) < enough:
            break
        fewer, share = with_leaves(n_leaves)
        if share < enough:
            break
        found, right = fewer, share
    return found


def _tells_more(many: MeasuredTree, few: MeasuredTree) -> bool:
    """Return whether rules of more leaves are right for 1% more of the rows, or find 2% more of the mean cluster."""
    found = [np.mean([cluster.found or 0.0 for cluster in each.clusters]) for each in (few, many)]
    more = max(many.agreement - few.agreement, float(found[1] - found[0]) / 2)
    return many.agreement > few.agreement and more >= settings.LEAVES_GAIN


def _with_options(asked: Options, **options: Any) -> Options:
    return replace(asked, options=asked.options | options)


def _of_clusters_made(question: Posed) -> tuple[Problem, Outcome]:
    """Return the problem of clusters that boxwood made of some rows, or made anew, and its outcome.

    Rows that were drawn from a table decide; the tree that is taken is measured on all rows, once.
    """
    problem, X, asked = question
    alike = replace(asked, groups=problem.groups)
    others = (problem_of(X, None, replace(alike, n_clusters=k), problem.whole) for k in problem.other_numbers)
    problem, outcome, notes = _with_rules_that_are_right(problem, asked, others)
    if problem.whole is not None:
        assert outcome.found is not None
        outcome = _with_notes(_measure_outcome(problem, asked, outcome.found), OF_DRAWN)
    return problem, _with_notes(outcome, *notes)


def _with_rules_that_are_right(
    problem: Problem, asked: Options, others: Iterator[Problem]
) -> tuple[Problem, Outcome, tuple[str, ...]]:
    """Return the problem, its outcome and notes where rules are right for enough rows, if nobody asked for a size.

    Else one leaf more is tried, and then the other numbers of clusters that do nearly as well, until rules are right
    for enough rows; if none are, those that are right for most. Clusters of rows without groups get no leaf more: that
    they are easy to say is all they are worth. All rows of a table from which these were drawn are not looked at.

    IN: others: the problems of those numbers.
    """

    def tried(problem: Problem) -> tuple[Problem, Outcome]:
        return problem, _in_memory(replace(problem, whole=None), asked)

    found = [tried(problem)]
    outcome = found[0][1]
    is_left_open = asked.method == "auto" and asked.options.get("objective", "auto") == "auto"
    is_left_open = is_left_open and asked.n_clusters is None and asked.max_leaf_nodes is None
    if not is_left_open or asked.options.get("time_limit") is not None or _is_right(outcome):
        return problem, outcome, ()
    larger = replace(problem, task=problem.task.with_leaves(problem.task.reference.n_clusters + 1))
    found += [] if lack_groups(outcome.explanation.notes) else [tried(larger)]
    while not _is_right(found[-1][1]) and (other := next(others, None)) is not None:
        found.append(tried(other))
    best = found[-1] if _is_right(found[-1][1]) else max(found, key=lambda one: one[1].explanation.agreement)
    if best[1].explanation.agreement < outcome.explanation.agreement + settings.LEAVES_GAIN:
        best = found[0]
    return *best, tuple(_notes_on_choice(outcome.explanation, best[1].explanation))


def _is_right(outcome: Outcome) -> bool:
    return outcome.explanation.agreement >= settings.RIGHT


def _notes_on_choice(before: MeasuredTree, now: MeasuredTree) -> Iterator[str]:
    """Yield what was chosen instead of clusters of whose rows rules are right for few, and whether they still are."""
    shares = f"are right for {percent(before.agreement)} of the rows, these for {percent(now.agreement)}"
    if now.n_clusters != before.n_clusters:
        yield f"{now.n_clusters} clusters were chosen: rules of {before.n_clusters} {shares} (n_clusters)"
    elif now is not before:
        yield _note_on_leaves(before, now, "clusters")
    if now.agreement < settings.RIGHT:
        told = f"the rules are right for only {percent(now.agreement)} of the rows"
        yield f"{told}; fewer columns may make clusters that rules separate better (columns)"


def _note_on_leaves(before: MeasuredTree, now: MeasuredTree, what: str) -> str:
    """Return the note that more leaves were taken; IN: what: clusters or labels."""
    fewer, shares = of_leaves(before.n_leaves), (percent(before.agreement), percent(now.agreement))
    told = f"{of_leaves(now.n_leaves)} were taken for {now.n_clusters:,} {what}"
    return f"{told}: rules of {fewer} are right for {shares[0]} of the rows, these for {shares[1]} (max_leaf_nodes)"


def _with_notes(outcome: Outcome, *notes: str) -> Outcome:
    explanation = replace(outcome.explanation, notes=(*outcome.explanation.notes, *notes))
    return outcome._replace(explanation=explanation)


def _leaves_that_pay(problem: Problem) -> int:
    """Return how many leaves pay on new rows; 0 for clusters of k-means."""
    some = problem.of_rows(problem.task.drawn(settings.LEAVES_ROWS))
    found = leaves_that_pay(some.task, some.coordinates)
    return 0 if found is None else found.n_leaves


def _why_fixed(clustering: Any) -> str:
    """Return why clusters are not made again if no clusterer made them."""
    return "Labels were given" if are_labels(clustering) else "The clusters were given"


def _booleans(X: Any, rows: Any) -> Sequence[str]:
    """Return the columns of booleans of what was given, as its rows tell, which may be those of a table in batches."""
    if isinstance(rows, Batches):
        return boolean_columns_of(rows)
    table = next((one for one in (rows, X) if isinstance(one, ColumnTable)), None)
    return boolean_columns(X) if table is None else table.booleans


def _by_explainer(X: Any, explainer: Any, asked: Options) -> MeasuredTree:
    """Return the explanation by the tree that a fitted explainer has."""
    if isinstance(X, Source):
        return explained_on_table(explainer, X, asked)
    kinds = boolean_columns(X), date_columns(X)
    refuse_growing(explainer, asked)
    X, asked = with_weights(X, asked)
    refuse_other_index(X, sample_weight=asked.sample_weight)
    known = getattr(explainer, "feature_names_in_", asked.columns)
    columns = None if known is None else list(map(str, known))
    complete = complete_cases(X, columns, None, asked.sample_weight, asked.missing)
    explanation = explained_behind(explainer, complete.X, replace(asked, sample_weight=complete.sample_weight))
    return with_kinds(complete.with_other_rows(explanation, complete.notes), *kinds)


def _in_memory(problem: Problem, asked: Options) -> Outcome:
    options = with_defaults(asked.method, asked.options, problem.clusterer)
    return _measure_outcome(problem, asked, choose(problem, asked.method, asked.progress, options))


def _measure_outcome(problem: Problem, asked: Options, found: FinishedTree) -> Outcome:
    """Return the outcome of a tree on rows in memory; it is measured on those, or on all from which they were drawn."""
    name, whole = asked.method, None
    options = with_defaults(name, asked.options, problem.clusterer)
    grown, tree, search = found.grown, found.tree, found.search
    if not problem.is_measured_apart:
        problem = replace(problem, task=search.task, coordinates=search.coordinates, begin=None)
    notes = (*problem.notes, *grown.notes, *notes_on_kernel(problem.clusterer, name))
    if problem.parts:
        notes = _without_notes_on_length(notes, grown)
    if problem.whole is not None:
        whole = problem.whole.measured(tree, problem.coordinates)
        tree, notes = whole.tree, (*notes, *notes_on_all_rows(whole, asked.missing))
    elif problem.parts:
        notes = (*notes, _note_on_parts(problem, options))
    are_all = not problem.is_measured_apart and whole is None
    finished = grown.as_finished(tree)._replace(notes=notes, attributes=found.attributes(are_all=are_all))
    known = _facts_of_growth(problem, grown, tree) if whole is None else {"whole": whole}
    explanation = measure(problem.task, finished, problem.coordinates, **known)
    evidence = _growing(explanation._rows(), problem, grown, partial(problem.grown, method=name, **options))
    if problem.whole is not None:
        evidence = replace(evidence, whole=problem.whole)
    told_of = (
        SeenByAuto(search.task, partial(_count_reached, search, problem), whole is None) if name == "auto" else None
    )
    return Outcome(replace(explanation, _evidence=evidence), grown.tree, found.n_moved, told_of, found)


def _count_reached(seen: TableSearch, table: TableSearch, tree: ThresholdTree) -> tuple[int, float]:
    """Return the leaves, and the agreement, of a tree that was grown on the rows that were seen, as rules of all."""
    on_table, _ = seen.finish(tree)
    if table.parts:
        on_table, _ = table.within_limits(on_table)
    return _agreement(on_table, table.coordinates.table, table.task)


def _agreement(tree: ThresholdTree, rows: Rows, task: Task) -> tuple[int, float]:
    weights = task.reference.kept if task.kept_weights is None else task.kept_weights
    right = tree.predict(rows, n_jobs=task.n_jobs) == task.reference.labels
    return tree.n_leaves, float(np.average(right, weights=weights))


def _note_on_parts(problem: Problem, options: Mapping[str, Any]) -> str:
    seen, n_rows = problem.parts[: most_parts(options)], problem.task.n_rows
    times = f"{len(seen)} times " if len(seen) > 1 else ""
    return (
        f"the table is long: trees were grown on {times}{len(seen[0]):,} of {n_rows:,} rows, drawn at random; this one "
        "was measured on all rows"
    )


def _without_notes_on_length(notes: Sequence[str], grown: Grown) -> tuple[str, ...]:
    """Return the notes without those that take the rows drawn from a long table for all of its rows."""
    return tuple(one for one in notes if one not in grown.attributes.get("on_length", ()))


def _growing(evidence: Evidence, problem: Problem, grown: Grown, again: Callable[[Task], Grown]) -> Evidence:
    """Return the evidence of a tree that was grown for a problem, and can be grown again for other rows."""
    return replace(
        evidence,
        grow=lambda other: grown if other is problem.task else again(other),
        clusterer=problem.clusterer,
        given=problem.given,
        is_short=True,
        budget=problem.budget,
    )


def _facts_of_growth(table: TableSearch, grown: Grown, tree: ThresholdTree) -> dict[str, Any]:
    """Return what is known of the finished tree from its growth: the leaf of each row, and costs.

    IN: tree: the finished one. Short thresholds keep the rows of all leaves, and so does a map, which may exchange
    leaves. A budget may move rows. The fact "costs" computes the cost of the tree and that of the clusters.
    """
    here, reference = table.coordinates, table.task.reference
    if table.cost is not None:
        reached = tree.apply(here.table, n_jobs=table.task.n_jobs)
        of_tree = np.where(reference.kept, tree.leaf_clusters[reached], -1)
        of_clusters = np.where(table.task.kept, reference.labels, -1)
        return {"leaf": reached, "costs": Costs(table.cost(of_tree), table.cost(of_clusters))}
    if table.budget.given:
        return {}
    computed = grown.attributes.get("costs") if here.measured is None else None
    leaf = leaves_reached(grown.tree, table.task) if here.axis_map is None else None
    return {"leaf": leaf, "costs": None if computed is None else Costs(*computed())}


def _in_batches(problem: Problem, clustering: Any, asked: Options, *, is_left_open: bool) -> tuple[Problem, Outcome]:
    """Return the problem of rows in batches with the number of leaves that is taken, and its outcome.

    IN: is_left_open: whether given labels may get more leaves than clusters. How many pay is found on the sample; the
    trees of both numbers are measured on all rows by one pass.
    """
    facts, problems = BatchStatistics(problem.task), [problem]
    if asked.method != "auto":
        found = [_grown_in_batches(facts, asked.method, with_defaults(asked.method, asked.options, problem.clusterer))]
    else:
        how = dict(asked.options)
        began, limit = time.monotonic(), how.pop("time_limit", None)
        search = SearchInBatches(facts, asked.progress, **how)
        searches = [search.grow(problem.task.max_leaf_nodes, limit)]
        left = None if limit is None else limit - (time.monotonic() - began)
        for n_leaves, grown in _with_more_leaves(search, searches[0], left) if is_left_open else ():
            problems.append(replace(problem, task=problem.task.with_leaves(n_leaves)))
            searches.append(grown)
        found = search.measure_all(searches)
    facts, sums = _on_table(problem, facts, found)
    outcomes = [
        _measured_in_batches(one, each, facts, held, clustering, asked)
        for one, each, held in zip(problems, found, sums, strict=True)
    ]
    few, many = outcomes[0], outcomes[-1]
    if many is few or not _tells_more(many.explanation, few.explanation):
        return problem, few
    return problems[-1], _with_notes(many, _note_on_leaves(few.explanation, many.explanation, "labels"))


def _grown_in_batches(facts: BatchStatistics, method: str, options: Mapping[str, Any]) -> GrownInBatches:
    """Return what a method by its name grows for rows in batches, and what the leaves of its tree hold."""
    facts.task.budget.refuse_too_few(facts.task.n_kept)
    grown = grow_for(facts.task, method, **options)
    found = facts.of_trees([grown.tree])
    [sums] = with_enough_rows(facts, found) if facts.task.budget.min_samples_leaf > 1 else found
    return GrownInBatches(grown, sums)


def _on_table(
    problem: Problem, facts: BatchStatistics, found: Sequence[GrownInBatches]
) -> tuple[BatchStatistics, list[TreeSums]]:
    """Return what passes tell of the rows, and what leaves of trees hold, on the columns of the table."""
    facts, scaling = facts.under(found[0].grown.objective), problem.coordinates.scaling
    if scaling is None:
        return facts, [one.sums for one in found]
    facts = BatchStatistics(problem.task_on_table, scaling.scale, facts.objective)
    return facts, facts.of_trees([problem.coordinates.pulled_back(one.sums.tree) for one in found])


def _with_more_leaves(search: SearchInBatches, few: Grown, seconds: float | None) -> Iterator[tuple[int, Grown]]:
    """Yield a larger number of leaves that pays on new rows, and what the search finds with them, if there is one.

    IN: seconds: that are left for each number of leaves; None for no limit.
    """
    if search.agreement(few.tree) == 1:
        return
    found, least = leaves_that_pay(search.sample.sampled(settings.LEAVES_ROWS)), search.sample.leaves() + 1
    if found is None or found.n_leaves < least:
        return

    def with_leaves(n: int) -> tuple[tuple[int, Grown], float]:
        grown = search.grow(n, seconds)
        return (n, grown), search.agreement(grown.tree)

    yield _with_fewest(with_leaves, found.n_leaves, found.n_leaves if seconds is not None else least)


def _measured_in_batches(
    problem: Problem, found: GrownInBatches, facts: BatchStatistics, sums: TreeSums, clustering: Any, asked: Options
) -> Outcome:
    """Return the outcome of what was grown; IN: facts, sums: of the rows and the tree on the columns of the table."""
    name, task, scaling = asked.method, problem.task, problem.coordinates.scaling
    facts, options = facts.with_leaves(task.max_leaf_nodes), with_defaults(name, asked.options, problem.clusterer)
    if found.sample is not None and found.is_whole:
        sums = _on_plainer_columns(facts, sums, found.sample, problem)
    tree, n_moved, sums = _finish_tree(facts, sums)
    notes = (*problem.notes, *_notes_on_columns(facts, sums), *_notes_on_clustering(facts.task, clustering, asked))
    grown = found.grown.as_finished(tree)._replace(notes=(*notes, *found.grown.notes))
    explanation = measured_of_batches(facts, grown, sums, None if n_moved else found.cost)
    if (mixture := grown.attributes.get("mixture")) is not None:
        raw = mixture if scaling is None else mixture.rescaled(scaling.shift, scaling.scale)
        sample = found.sample if scaling is None else None
        drawn = sample_task(facts.task) if sample is None else (sample, found.is_whole)
        explanation = _with_mixture(explanation, raw, *drawn)
    again = partial(grow_for, name=name, **options)
    evidence = _growing(explanation._known(), problem, found.grown, again)
    evidence = replace(evidence, task=task, coordinates=problem.coordinates, by_means=problem.by_means)
    seen = None
    if (sample := found.sample) is not None:
        is_all = found.is_whole and not n_moved
        seen = SeenByAuto(
            sample.with_leaves(task.max_leaf_nodes), lambda tree: _agreement(tree, sample.rows, sample), is_all
        )
    return Outcome(replace(explanation, _evidence=evidence), found.grown.tree, n_moved, seen)


def _on_plainer_columns(facts: BatchStatistics, sums: TreeSums, sample: Task, problem: Problem) -> TreeSums:
    """Return the sums of the tree on the plainer of columns that say the same; IN: sample: all rows, as trees grow."""
    here, values = problem.coordinates, np.asarray(sample.rows.values)
    if here.scaling is not None:
        values = values * here.scaling.scale + here.scaling.shift
    numbers = [j for j in range(len(here.columns)) if j not in here.dates]
    tree = on_plainer_columns(sums.tree, values, sample, numbers, facts.task.budget)
    return sums if tree == sums.tree else facts.of_trees([tree])[0]


def _notes_on_columns(facts: BatchStatistics, sums: TreeSums) -> tuple[str, ...]:
    """Return a note on columns that look like identifiers, although rules may use them."""
    task, n_rows = facts.task, facts.task.n_rows
    n_known = np.full(task.batches.n_columns, n_rows)
    look = NumbersInBatches(task.batches, n_rows, n_known, ~sums.broken, *task.ranges, sums.numbers.are_few)
    return notes_in_batches(look)


def _notes_on_clustering(task: Task, clustering: Any, asked: Options) -> tuple[str, ...]:
    ends, columns, names = np.stack(task.ranges), task.batches.columns, task.reference.names
    about: dict[str, Any] = {"scaled": bool(asked.standardize), "n_rows": task.n_rows}
    return notes_on_clustering(clustering, ends, columns, names, **about)


def _with_mixture(explanation: MeasuredTree, mixture: Mixture, sample: Task, is_whole: bool) -> MeasuredTree:
    """Return the explanation with the facts from the Gaussians; their tails are looked at on a sample.

    IN: is_whole: whether that holds all rows.
    """
    found = mixture_facts(explanation.tree, mixture, explanation.columns, sample)
    note = f"how far the clusters are from Gaussian was judged on a sample of {len(sample.rows):,} rows"
    notes = explanation.notes if is_whole else (*explanation.notes, note)
    return replace(explanation, notes=notes)._with_details(mixture=found)


def _finish_tree(facts: BatchStatistics, sums: TreeSums) -> tuple[ThresholdTree, int, TreeSums]:
    """Return the tree with short thresholds, within the limits of these, the number of rows moved, and its sums."""
    task = facts.task
    short = shortened_of_batches(sums, task.batches)
    if not task.budget.moves_thresholds:
        return short, 0, sums.of_tree(short)
    near = move_thresholds(short, task.budget, FeatureSpace.in_batches(task.batches).dated(task.batches.source.dates))
    rows = task.batches.fold(partial(Moved, short, near)) if near != short else None
    if rows is None or not (rows.n or rows.n_others):
        return near, 0, sums.of_tree(near)
    others = facts.of_trees([near])[0]
    if not rows.n:
        return near, 0, others
    tree = named_by_rows(others, task.reference.centers, by_cost=False)
    [sums] = with_enough_rows(facts, facts.of_trees([tree]))
    return sums.tree, rows.n, sums
