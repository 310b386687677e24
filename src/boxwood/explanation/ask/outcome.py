"""What is said of the tree that came out: notes, the facts of its limits, and its loss on rows held out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._messages import Quoting
from boxwood._types import Bools, Floats, Indices
from boxwood._validation import Rows, list_words
from boxwood.axes.known_order import known_order
from boxwood.axes.mixed import FEW_WORDS
from boxwood.batches.overview import MANY_NUMBERS
from boxwood.columns.crosstab import counts_among
from boxwood.columns.rules import FEW_ROWS, has_name_of_identifier, words_of
from boxwood.columns.seen import SeenValues
from boxwood.explanation.ages import notes_on_days
from boxwood.explanation.ask.clustering import sees_distances
from boxwood.explanation.ask.limits import with_limits
from boxwood.explanation.ask.options import Options
from boxwood.explanation.ask.problem import Problem
from boxwood.explanation.choose import settings
from boxwood.explanation.choose.on_table import FinishedTree
from boxwood.explanation.measure.held_out import held_out, how_of, with_rows_in_memory
from boxwood.explanation.measure.losses import Distance
from boxwood.explanation.measure.measure import LITTLE, may_have_more_leaves
from boxwood.explanation.measured_tree import MeasuredTree
from boxwood.grow.leaves.expand import expand_tree
from boxwood.grow.leaves.impurity import grow_by_impurity
from boxwood.reference import Reference, Task
from boxwood.tree import Interval, ThresholdTree
from boxwood.words.claims import at_least
from boxwood.words.values import cluster_name, column_name, count_of, percent

if TYPE_CHECKING:
    from boxwood.explanation.records import HeldOut

LOW = 0.9  # agreement below which more leaves are worth a word
FOUND = 0.5  # share of a cluster that is little to find
LEAK = 0.99  # share of the rows whose label one column tells: are the labels made of it?
LUCK_OF_CUT = 1.5  # standard errors of agreement that one cut owes to luck: `benchmarks.quality luck`
MUCH_LUCK = 0.05  # share of the rows; less luck is not worth a word
LIGHT = 0.8  # mean of weights of rows, or its inverse
FEW_VALUES = (3, 20)  # different ones of a column in which a number may stand for missing values
ALIKE, LACKING = 3, 20  # columns and rows, at least, that have it: two columns may ask nearly the same
FEWEST_IN_ORDER, NEAR, TIMES_NEAR = 4, 0.5, 1.5  # classes; share of mistakes that are near, and above chance
AS_MANY = 0.9  # share of the rows of a quantity, named by a plan, that others have: rows without a number are left out
ROWS_OF_QUANTITY, TIMES_OF_UNITS = 5, 10.0  # of a quantity at least, and between quantities of other units
LONGEST = 10_000  # such a number is short, as 99 and -1; zero is none, as it says that nothing is there

_OF_WEIGHTS = re.compile(r"(weight|wght|wgt|wt)s?$")
_CODES = {"code", "type", "class", "group", "category", "kind", "region", "zone", "district", "ward"}
_CODES |= {"department", "plan"}


class SeenByAuto(NamedTuple):
    """What "auto" saw, and how a tree of these rows would be told of.

    Parameters
    ----------
    task : Task
        Rows on which trees were grown, in the columns of growth.
    reached : function from a tree on these columns to int and float
        Leaves and agreement of the tree as rules of the table.
    is_all : bool
        Whether that is its agreement on all rows of the table.
    """

    task: Task
    reached: Callable[[ThresholdTree], tuple[int, float]]
    is_all: bool


class Outcome(NamedTuple):
    """The explanation by a tree that was grown for a problem.

    Parameters
    ----------
    explanation : MeasuredTree
        Measured, with the rows that it was measured on.
    grown : ThresholdTree
        The tree as it was grown.
    n_moved : int
        Number of rows that rounded thresholds moved to another leaf.
    seen : SeenByAuto, default=None
        What "auto" saw; None for a method by its name.
    found : FinishedTree, default=None
        What was chosen of the trees that were grown, with its columns; None for rows in batches.
    """

    explanation: MeasuredTree
    grown: ThresholdTree
    n_moved: int
    seen: SeenByAuto | None = None
    found: FinishedTree | None = None


def conclude(outcome: Outcome, problem: Problem, asked: Options, *, made_here: bool) -> MeasuredTree:
    """Return the explanation with notes on what came out, the facts of its limits, and its loss on rows held out."""
    explanation, grown = outcome.explanation, outcome.grown
    notes = _notes_on_outcome(explanation, made_here, problem.clusterer)
    if outcome.seen is not None:
        notes += _notes_on_agreement(explanation, grown, outcome.seen)
    missed = _notes_on_missed(explanation, problem.task)
    are_given = problem.clusterer is None and not made_here
    notes += _notes_on_luck(explanation, problem.task.n_kept) if are_given and asked.validate is None else ()
    notes += (*missed, *_notes_on_codes(explanation, asked.numbers), *_notes_on_alike(explanation))
    notes += (*_notes_on_weights(explanation), *asked.notes, *notes_on_days(explanation, asked.dates))
    notes += _notes_on_leaks(explanation) if are_given else _notes_on_panels(explanation)
    notes += _notes_on_order(explanation) if are_given else ()
    if made_here:
        notes += *_notes_on_stand_ins(explanation), *_notes_on_codes_apart(explanation)
        notes += *_notes_on_quantities(explanation), *_notes_on_counts(explanation)
    if (budget := problem.asked_budget).given:
        explanation = with_limits(explanation, problem.task, budget, outcome.n_moved, asked.dates)
    if made_here and explanation.search_report is not None:  # nobody is to blame for clusters that boxwood made itself
        explanation = replace(
            explanation, notes=tuple(n for n in explanation.notes if n != explanation.search_report.reason)
        )
    explanation = replace(explanation, notes=(*explanation.notes, *notes))
    return explanation if asked.validate is None else replace(explanation, held_out=_held_out(explanation, asked))


def _held_out(ex: MeasuredTree, asked: Options) -> HeldOut:
    """Return how well trees do on rows not used to grow them; `how` names the sample that a table in batches needs."""
    at_hand, is_all = with_rows_in_memory(ex)
    rows = at_hand._rows()
    sample = "" if is_all else f", of a sample of {len(rows.leaf):,} rows"
    assert asked.validate is not None
    found = held_out(rows, asked.validate, Distance(ex.details.objective, rows.kernel), asked.progress)
    return found._replace(how=f"{how_of(asked.validate)}{sample}")


def _notes_on_outcome(explanation: MeasuredTree, made_here: bool, clusterer: Any = None) -> tuple[str, ...]:
    """Return a note if one of several columns explains the clusters of a clusterer without a single exception."""
    n_columns, used = len(explanation.columns), np.unique(explanation.tree.feature[explanation.tree.feature >= 0])
    by_distance = made_here or sees_distances(clusterer)
    if not by_distance or explanation.agreement < 1 or len(used) != 1 or n_columns == 1:
        return ()
    scale = "" if explanation.details.standardized else "standardize, or " if made_here else "scale them, or "
    return (
        f"{column_name(explanation.columns[int(used[0])])} alone decides the cluster of every row; "
        f"if other columns should count, {scale}choose the columns (columns)",
    )


def _notes_on_agreement(explanation: MeasuredTree, tree: ThresholdTree, seen: SeenByAuto) -> tuple[str, ...]:
    """Return a note on how many more leaves would agree with at least 90% of the rows, if the tree agrees with fewer.

    The tree is expanded to up to four times as many leaves, or as were asked for, on a sample of few rows. No other
    tree is tried, so nothing is said of what no tree can reach. Which parameters give such rules is said where a search
    finds a tree as good as this one.
    """
    agreement = explanation.agreement
    if agreement >= LOW:
        return ()
    advice = _advice(explanation, seen.task)
    task = _settle_columns(seen.task, tree)
    asked = max(tree.n_leaves, task.max_leaf_nodes or 0)
    sample = task.sampled(max(settings.HINT_ROWS, settings.ROWS_PER_LEAF * 4 * asked))
    about = "" if seen.is_all else "about "
    for more in (2, 4):
        tree = expand_tree(tree, sample, more * asked, loss="mistakes", look_ahead=False)
        leaves, share = seen.reached(tree)
        if share >= LOW and leaves > asked and advice:
            return (f"with {leaves:,} leaves the rules could reach {about}{at_least(share)} {advice}",)
        if tree.n_leaves < more * asked:  # no cut gains
            break
    if leaves <= asked or share - agreement < 1 - LOW:
        return ()
    return (f"one tree of {leaves:,} leaves that was tried reaches {about}{at_least(share)} {advice}".rstrip(),)


def _advice(explanation: MeasuredTree, task: Task) -> str:
    """Return the parameters by which a search finds rules of more leaves; none where time, or rounding, is in its way.

    Where cost counts, more leaves lower it, and may agree less.
    """
    search = explanation.search_report
    if search is None or search.stopped_by_clock or task.budget.round_thresholds is not None:
        return ""
    return "(max_leaf_nodes)" if search.by_agreement else '(max_leaf_nodes, objective="agreement")'


def _settle_columns(task: Task, tree: ThresholdTree) -> Task:
    """Return the task in which no cut tests other columns than a tree, if the budget limits their number."""
    if task.budget.max_columns is None:
        return task
    tested = {task.budget.source(int(j)) for j in tree.features}
    return task.within(task.budget.only(tested, task.n_columns))


def _notes_on_luck(explanation: MeasuredTree, n_rows: int) -> tuple[str, ...]:
    """Return a note on how many new rows rules of given labels will be right for, if these are clearly fewer."""
    search, right = explanation.search_report, explanation.agreement
    if search is None or not search.reason or explanation.details.weighted:
        return ()
    expected = max(right - LUCK_OF_CUT * luck(right, explanation.n_leaves - 1, n_rows), explanation.baseline)
    if right - expected < MUCH_LUCK:
        return ()
    cuts, baseline = count_of(explanation.n_leaves - 1, "cut"), explanation.baseline
    alone = f", and {baseline:.0%} by the largest cluster alone" * (expected - baseline < LITTLE * (1 - baseline))
    return (
        f"expect about {expected:.0%} on new rows, not {right:.0%}{alone}: with {cuts} for {n_rows:,} rows some of it "
        "is luck (validate measures it)",
    )


def luck(right: float, n_cuts: int, n_rows: int) -> float:
    """Return about which share of the rows rules owe to luck, but for a factor; IN: right: the share they have right.

    A cut that only chance recommends is right for about as many more rows as their number has a standard error, and
    cuts of ever smaller parts add up by the square root of their number.
    """
    return math.sqrt(n_cuts * right * (1 - right) / n_rows)


def _notes_on_missed(explanation: MeasuredTree, task: Task) -> tuple[str, ...]:
    """Return a note on clusters of whose rows the rules find few, where an agreement of 90% or more hides that."""
    missed = [one for one in explanation.clusters if one.rules and one.found is not None and one.found < FOUND]
    if not missed or explanation.agreement < LOW:
        return ()
    said = list_words([f"{percent(one.found)} of {cluster_name(one.name)}" for one in missed], 3)
    agreement = percent(explanation.agreement)
    more = "; try more leaves (max_leaf_nodes)" if may_have_more_leaves(explanation.tree, task) else ""
    return (f"the rules find only {said}, but are right for {agreement} of all rows{more}",)


def _notes_on_codes(explanation: MeasuredTree, numbers: Collection[str]) -> tuple[str, ...]:
    """Return a note on columns of numbers in the rules that may be codes, so that they are better taken as categories.

    They have 3 to 20 different values, all whole numbers, and a name such as "ward", "code" or "zip", or the rules take
    numbers in between, as nobody does who orders them. IN: numbers: columns that the caller said are numbers.
    """
    evidence = explanation._in_memory
    if evidence is None or explanation.n_rows < FEW_ROWS:
        return ()
    rules = [rule for cluster in explanation.clusters for rule in cluster.rules]
    middle = {one.column for rule in rules for one in rule if any(map(_is_between, one.intervals))}
    beside = explanation._coded_columns.keys() | explanation._gap_columns | explanation._date_columns.keys()
    found = []
    for j in explanation.tree.features.tolist():
        name = explanation.columns[j]
        is_named = _CODES & set(words_of(name)) or has_name_of_identifier(name, explanation.n_rows)
        if j in beside or name in numbers or not (name in middle or is_named):
            continue
        values = np.unique(evidence.coordinates.table.values[:, j])
        if 3 <= len(values) <= MANY_NUMBERS and (values == np.floor(values)).all():
            said = f"{column_name(name)} ({len(values)} whole numbers"
            found.append((f"{said}, {values[0]:.0f} to {values[-1]:.0f})", f"{said})"))
    if not found:
        return ()
    told, written = map(_as_codes, zip(*found, strict=True))
    return (Quoting(told, written),)


def _as_codes(said: Sequence[str]) -> str:
    advice = ("read as numbers; if they are codes", "rules can name them one by one (categories)")
    return f"{list_words(said)}: {', '.join(advice)}"


def _notes_on_alike(explanation: MeasuredTree) -> tuple[str, ...]:
    """Return notes on labels, and on words in columns of the rules, that differ in case or in blanks alone."""
    found = []
    for j in explanation.tree.features.tolist():
        if alike := _alike(explanation._coded_columns[j].values if j in explanation._coded_columns else ()):
            found.append(f"{column_name(explanation.columns[j])} ({', '.join(alike[0])})")
    labels = [", ".join(group) for group in _alike(explanation.names)]
    said = "that differ only in case or in blanks count as different"
    return tuple(f"{what} {said}: {list_words(each)}" for what, each in (("labels", labels), ("words", found)) if each)


def _notes_on_weights(explanation: MeasuredTree) -> tuple[str, ...]:
    """Return notes on columns in the rules that may hold weights of rows, by their name and a mean of about 1."""
    evidence, found = explanation._in_memory, []
    if evidence is None or explanation.details.weighted:
        return ()
    for j in explanation.tree.features.tolist():
        name, values = explanation.columns[j], evidence.coordinates.table.values[:, j]
        if not _OF_WEIGHTS.search(name.lower()) or j in explanation._coded_columns or not np.isfinite(values).all():
            continue
        if values.min() >= 0 and LIGHT <= values.mean() <= 1 / LIGHT and len(np.unique(values)) > 2:
            found.append(
                f"{column_name(name)} has the name and the mean, about 1, of weights; if it holds some, keep it out of "
                "the rules (columns) and weight the rows by it"
            )
    return tuple(found)


def _notes_on_leaks(explanation: MeasuredTree) -> tuple[str, ...]:
    """Return notes on columns in the rules each of which alone determines given labels, as a grade and its parts do.

    It does if it tells the label of 99% of the rows, and of nine in ten that the largest cluster does not hold.
    """
    used, found = explanation.tree.features.tolist(), []
    for j in used if len(explanation.columns) > 1 else ():
        right = explanation.agreement if len(used) == 1 else _told_by(explanation, j)
        if 1 - right <= min(1 - LEAK, (1 - explanation.baseline) / 10):
            of_rows = "" if right >= 1 else f" for {percent(right)} of the rows"
            said = f"{column_name(explanation.columns[j])} alone determines the labels{of_rows}"
            found.append(f"{said}: are they made of it? (columns chooses others)")
    return tuple(found)


def _notes_on_order(explanation: MeasuredTree) -> tuple[str, ...]:
    """Return a note on labels in order, as of bands of income, most of whose mistakes are between neighbours."""
    evidence, places = explanation._in_memory, _places_in_order(explanation.names)
    if evidence is None or places is None or explanation.agreement >= LOW:
        return ()
    guessed = explanation.tree.leaf_clusters
    apart = np.abs(places[guessed][:, None] - places[None, :])
    wrong, sizes = np.where(apart > 0, evidence.held, 0.0), evidence.held.sum(axis=0)
    others = np.where(apart > 0, sizes, 0.0)
    expected = float((wrong.sum(axis=1) * ((apart == 1) * others).sum(axis=1) / others.sum(axis=1)).sum() / wrong.sum())
    near = float(wrong[apart == 1].sum() / wrong.sum())
    if near < max(NEAR, TIMES_NEAR * expected):
        return ()
    said = f"{percent(near)} of the mistakes are between neighbours; fewer, wider ones may do"
    return (f"the {explanation.n_clusters} labels seem to be in order: {said}",)


def _places_in_order(names: Sequence[Hashable]) -> Indices | None:
    """Return the place of each of several classes among them in order; None if they are few, or have none."""
    if len(names) < FEWEST_IN_ORDER:
        return None
    if all(type(name) in (int, float) for name in names):
        return np.argsort(np.argsort(np.array(names, dtype=np.float64)))
    order = known_order(names) if all(isinstance(name, str) for name in names) else None
    return None if order is None else np.array([order.index(name) for name in names])


def _told_by(explanation: MeasuredTree, j: int) -> float:
    """Return the share of the rows whose label a column tells: by its words, or by up to eight intervals of numbers.

    Of a table in batches, and of words with fewer than two rows each, nothing is known.
    """
    evidence = explanation._in_memory
    if evidence is None or evidence.whole is not None:
        return 0.0
    task, x = evidence.task, evidence.coordinates.table.values[evidence.task.kept, j]
    labels, k = task.reference.labels[task.kept], task.reference.n_clusters
    mass = np.ones(len(x)) if task.kept_weights is None else task.kept_weights[task.kept]
    if j in explanation._coded_columns:
        of_word = np.unique(x, return_inverse=True)[1].ravel()
        n_words = int(of_word.max()) + 1
        held = np.bincount(of_word * k + labels, mass, n_words * k).reshape(n_words, k)
        return float(held.max(axis=1).sum() / mass.sum()) if n_words <= len(x) // 2 else 0.0
    n_parts = max(settings.LEAVES, settings.LEAVES_EACH * k)
    if (most := _most_told(x, labels, mass, n_parts)) < LEAK:
        return most
    known = np.where(np.isposinf(x), np.finfo(np.float64).max, x)[:, None]
    alone = Task.of(Rows(known, mass), Reference(labels, np.zeros((k, 1))))
    tree = grow_by_impurity(alone, "gini", n_parts)
    return float(mass[tree.predict(known) == labels].sum() / mass.sum())


def _most_told(x: Floats, labels: Indices, mass: Floats, n_parts: int) -> float:
    """Return a share of the rows of which no intervals tell more labels.

    Where neighbours have different labels, a cut is between them or one is wrong, which has two neighbours.
    """
    changes = int(np.count_nonzero(np.diff(labels[np.lexsort((labels, x))])))
    return 1.0 - max(changes - n_parts + 1, 0) / 2 * float(mass.min() / mass.sum())


def _notes_on_panels(explanation: MeasuredTree) -> tuple[str, ...]:
    """Return notes on columns of many words in the rules, such as countries, whose rows are in one cluster each."""
    evidence = explanation._in_memory
    if evidence is None or evidence.whole is not None:
        return ()
    kept, found = evidence.task.kept, []
    for j in sorted({*explanation.tree.features.tolist()} & explanation._coded_columns.keys()):
        codes, known = evidence.coordinates.table.values[kept, j], explanation._coded_columns[j].known
        is_there = codes < known
        rows = np.stack([codes, evidence.task.reference.labels[kept]], axis=1)[is_there]
        n_words = len(np.unique(rows[:, 0]))
        if FEW_WORDS < n_words <= len(rows) // 2 and len(np.unique(rows, axis=0)) == n_words:
            said = f"all rows of each value of {column_name(explanation.columns[j])} are in one cluster"
            advice = "to learn what such values have in common, choose the columns (columns)"
            found.append(f"{said} ({n_words} values); {advice}")
    return tuple(found)


def _notes_on_stand_ins(explanation: MeasuredTree) -> tuple[str, ...]:
    """Return notes on numbers that may stand for missing values, as 2 beside 0 and 1 in the same rows of columns.

    They are numbers of columns in the rules that others have in the same rows, but not in all as these do.
    """
    evidence = explanation._in_memory
    if evidence is None or evidence.whole is not None:
        return ()
    found: dict[str, None] = {}
    others = [j for j in range(len(explanation.columns)) if j not in explanation._coded_columns]
    X = evidence.coordinates.table.values
    for j in (j for j in explanation.tree.features.tolist() if j in others):
        for number, rows in _stand_ins(X[:, j]):
            alike = [k for k in others if _has_alone(X[:, k], number, rows) and (k == j or _differ(X[:, k], X[:, j]))]
            if len(alike) >= ALIKE:
                names = list_words([column_name(explanation.columns[k]) for k in alike])
                said = f"{number:g} is in the same {int(rows.sum()):,} rows of each of {names}"
                found[f"{said}: if it stands for a missing value, make it one, and rows are compared without it"] = None
    return tuple(found)


def _notes_on_codes_apart(explanation: MeasuredTree) -> tuple[str, ...]:
    """Return notes on codes such as 99 beside answers 1 to 5, which are missing values for clusters made here."""
    entry, by_codes = explanation._known().coordinates.entry, dict[str, list[str]]()
    for j, codes in (entry.codes if entry is not None else {}).items():
        said = list_words([f"{code:g}" for code in codes])
        by_codes.setdefault(said, []).append(column_name(explanation.columns[j]))
    advice = (
        "for the clusters it is a missing value, for the rules a number; if it is a measurement, name these (numbers)"
    )
    found = (f"{codes} is far from all other values of {list_words(names)}" for codes, names in by_codes.items())
    return tuple(f"{said}: {advice}" for said in found)


def _notes_on_quantities(explanation: MeasuredTree) -> tuple[str, ...]:
    """Return a note on columns of words that name quantities, each in its own rows, as in a table made long.

    Each word then has as many rows, and all columns of numbers tell the words apart as other units would.
    """
    evidence = explanation._in_memory
    if evidence is None or evidence.whole is not None:
        return ()
    table, words = evidence.coordinates.table.values, evidence.coordinates.categories
    found, numbers = list[str](), [j for j in range(table.shape[1]) if j not in words]
    numbers = [j for j in numbers if len(np.unique(table[:, j])) > FEW_VALUES[1]]
    named = {explanation.columns[j]: table[:, j] for j in words}
    named |= {one.name: one.values for one in _columns_beside(explanation) if one.is_word}
    for name, codes in named.items() if numbers else ():
        parts = [codes == code for code in np.unique(codes)]
        n_rows = [int(rows.sum()) for rows in parts]
        are_as_many = min(n_rows) >= (1 if name in explanation.columns else AS_MANY) * max(n_rows)
        if not (2 <= len(parts) <= FEW_WORDS and are_as_many and min(n_rows) >= ROWS_OF_QUANTITY):
            continue
        if all(_are_other_units([table[rows, i] for rows in parts]) for i in numbers):
            said = f"{column_name(name)} names {len(parts)} quantities, each in {max(n_rows):,} rows"
            found.append(f"{said}: is this table long? Clusters of rows need a column for each (pivot it)")
    return tuple(found)


def _notes_on_counts(explanation: MeasuredTree) -> tuple[str, ...]:
    """Return a note on a column that may count the rows of a table of combinations, as `table` of R makes it.

    Each row is another combination of the other columns, and nearly all combinations are there.
    """
    evidence = explanation._in_memory
    if evidence is None or evidence.whole is not None or evidence.task.rows.weights is not None:
        return ()
    table, words = evidence.coordinates.table.values, evidence.coordinates.categories
    columns = [SeenValues(name, table[:, j], words.get(j)) for j, name in enumerate(explanation.columns)]
    if (found := counts_among([*columns, *_columns_beside(explanation)])) is None:
        return ()
    said = f"{column_name(found.name)} may count rows: each row is another combination of all other columns"
    return (f"{said}; if it does, these rows weigh so much (sample_weight)",)


def _columns_beside(explanation: MeasuredTree) -> list[SeenValues]:
    """Return the columns that clusters do without, such as those of a plan."""
    beside = explanation._known().coordinates.beside
    return [SeenValues(name, one.values, one.categories) for name, one in beside.items()]


def _are_other_units(parts: Sequence[Floats]) -> bool:
    """Return whether numbers of some parts are ten times those of others, and hardly any are between."""
    known = [part[np.isfinite(part)] for part in parts]
    if min(map(len, known)) < ROWS_OF_QUANTITY:
        return False
    low, middle, high = np.array([np.quantile(np.abs(part), [0.1, 0.5, 0.9]) for part in known]).T
    order = np.argsort(middle)
    return any(low[b] > high[a] and middle[b] >= TIMES_OF_UNITS * middle[a] for a, b in pairwise(order))


def _stand_ins(x: Floats) -> list[tuple[float, Bools]]:
    """Return the numbers that may stand for a missing value, and whether each row has it."""
    if len(np.unique(x[: 10 * FEW_VALUES[1]])) > FEW_VALUES[1]:  # most columns show soon that they have more values
        return []
    numbers, n_rows = np.unique(x[~np.isnan(x)], return_counts=True)
    if not FEW_VALUES[0] <= len(numbers) <= FEW_VALUES[1]:
        return []
    pairs = zip(numbers.tolist(), n_rows.tolist(), strict=True)
    return [(one, x == one) for one, n in pairs if n >= LACKING and one.is_integer() and 0 != abs(one) < LONGEST]


def _has_alone(x: Floats, number: float, rows: Bools) -> bool:
    """Return whether a column has a number in these rows alone, and several others."""
    return np.array_equal(x == number, rows) and len(np.unique(x[~rows])) >= FEW_VALUES[0] - 1


def _differ(x: Floats, y: Floats) -> bool:
    """Return whether columns are no copies of each other."""
    return not np.array_equal(x, y, equal_nan=True)


def _alike(values: Iterable[Hashable]) -> list[list[str]]:
    """Return the groups of texts that differ in upper and lower case, or in blanks, alone."""
    groups: dict[str, list[str]] = {}
    for value in values:
        if isinstance(value, str):
            groups.setdefault(" ".join(value.split()).casefold(), []).append(repr(value))
    return [group for group in groups.values() if len(group) > 1]


def _is_between(piece: Interval) -> bool:
    return bool(np.isfinite(piece.lower) and np.isfinite(piece.upper))
