"""Stability: the clusterer and the tree on rows drawn again, and whether the rows show groups."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from boxwood._frames import rows_of_table
from boxwood._progress import Progress, as_progress, tell_progress
from boxwood._threads import quietly_by_one_thread
from boxwood._types import Bools, Floats, Indices
from boxwood._validation import as_seed, whole_number
from boxwood.axes import axis_map_of
from boxwood.batches.sample import some_rows
from boxwood.errors import DataError
from boxwood.explanation.ask.how_many import LOOKED_AT, DrawnRows
from boxwood.explanation.measure.evidence import Evidence
from boxwood.explanation.measure.held_out import retaken, with_rows_in_memory
from boxwood.explanation.records import ClusterStability, CutStability, Stability
from boxwood.explanation.verdict import LOST, ROWS, level_of, verdict_of
from boxwood.reference import Reference, Task
from boxwood.reference.clusterer import mixture_of, reference_of, weight_argument
from boxwood.reference.labels import labels_of
from boxwood.tree import ThresholdTree
from boxwood.tree.boxes import ends_without_missing

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

LOW, HIGH = 0.05, 0.95  # quantiles over the resamples
LARGEST = sys.float_info.max
_SEEDS = 2**31 - 1
_DRAWS = 1_000  # resamples that may be drawn again because they hold one cluster alone


class _Again(NamedTuple):
    """What one resample gave: the overlap of each cluster (NaN without rows), the share changed, the tree if any."""

    overlaps: Floats
    changed: float
    tree: ThresholdTree | None


def stability_of(ex: MeasuredTree, n: int = 50, random_state: Any = None, verbose: Any = 0) -> Stability:
    """Return the stability, which the explanation keeps; `Explanation.stability` states how it is measured."""
    kept, seed = ex._kept.get("stability"), 0 if random_state is None else random_state
    is_same = kept is not None and isinstance(seed, Integral) and (kept.n, kept.random_state) == (n, seed)
    if not (is_same or (kept is not None and ex._evidence is None)):
        ex._refuse_no_rows("stability()")
        at_hand, _ = with_rows_in_memory(ex)
        kept = ex._kept["stability"] = _measure_stability(at_hand, n, random_state, as_progress(verbose))
    return kept  # type: ignore[return-value]


def _measure_stability(ex: MeasuredTree, n: int, random_state: Any, progress: Progress) -> Stability:
    n, evidence = whole_number("n", n, 2), ex._rows()
    seed = as_seed(random_state)
    generator = check_random_state(seed)
    if evidence.grow is None:
        raise ValueError("the tree already exists, so it cannot be grown again; explain the rows of its fit")
    refitted = evidence.clusterer is not None and not isinstance(_last_of(evidence.clusterer), FrozenEstimator)
    pool = np.flatnonzero(_drawn_from(evidence.task, refitted))
    size, again = min(len(pool), ROWS), []
    for _ in tell_progress(progress, "resamples", range(n)):
        rows = _resample(evidence.task, pool, size, refitted, generator)
        again.append(_once(ex, evidence, rows, refitted, generator))
    clusters = _clusters(ex, np.array([one.overlaps for one in again]))
    cuts = _cuts(ex, [one.tree for one in again])
    changed = float(np.mean([one.changed for one in again]))
    number = int(seed) if isinstance(seed, Integral) else None
    untested = _why_untested(evidence, refitted)
    shown = None if untested else _look(evidence).groups().show
    counted = n, size, refitted, clusters, cuts, changed, level_of(clusters), "", number
    found = Stability(*counted, shown, untested)
    return found._replace(verdict=verdict_of(found))


def _why_untested(evidence: Evidence, refitted: bool) -> str:
    """Return why the rows of the clusters are not looked at for groups; empty if they are."""
    if not refitted:
        return evidence.fixed if evidence.clusterer is None else "The clusterer is frozen"
    return "Codes have no variance" if getattr(_last_of(evidence.clusterer), "categories_", None) else ""


def _last_of(clusterer: Any) -> Any:
    """Return the clusterer itself, or the last step of a pipeline, still frozen if it is."""
    return clusterer.steps[-1][1] if hasattr(clusterer, "steps") else clusterer


# ------------------------------------------------------------------------------------------------- one resample
def _drawn_from(task: Task, refitted: bool) -> Bools:
    """Return which rows may be drawn: a clusterer sees those that it left out, too."""
    weights = task.rows.weights
    if not refitted:
        return task.kept
    return np.ones(task.n_rows, dtype=np.bool_) if weights is None else weights > 0


def _resample(task: Task, pool: Indices, size: int, refitted: bool, generator: Any) -> Indices:
    """Return rows drawn with replacement, in ascending order; given labels are drawn until two clusters are there."""
    for _ in range(_DRAWS):
        rows: Indices = np.sort(pool[generator.randint(len(pool), size=size)])
        if refitted or len(np.unique(task.reference.labels[rows])) > 1:
            return rows
    raise DataError(f"one cluster has nearly all rows: {_DRAWS:,} resamples of {size:,} rows held no other")


def _once(ex: MeasuredTree, evidence: Evidence, rows: Indices, refitted: bool, generator: Any) -> _Again:
    task = evidence.task
    first = np.unique(rows, return_index=True)[1]  # where each row of the resample stands first
    weights = np.ones(len(first)) if task.rows.weights is None else task.rows.weights[rows[first]]
    if refitted:
        part = _refit_clusters(evidence, rows, int(generator.randint(_SEEDS)))
        old, new = task.reference.labels[rows[first]], part.reference.labels[first]
        found, match = overlaps(old, new, weights, task.reference.n_clusters, part.reference.n_clusters)
        tree = _grow_tree(evidence, part, rows) if len(np.unique(new[new >= 0])) > 1 else None
    else:
        part = retaken(task, rows)
        tree = _grow_tree(evidence, part, rows)
        old = ex.tree.leaf_clusters[evidence.leaf[rows[first]]]
        new = tree.predict(evidence.coordinates.table.take(rows[first]))
        k = task.reference.n_clusters
        found, match = overlaps(old, new, weights, k, k, matched=False)
    counted = old >= 0
    moved = match[old[counted]] != new[counted]
    changed = float(weights[counted][moved].sum() / max(weights[counted].sum(), np.finfo(float).tiny))
    return _Again(found, changed, tree)


def overlaps(
    old: Indices, new: Indices, weights: Floats, k_old: int, k_new: int, *, matched: bool = True
) -> tuple[Floats, Indices]:
    """Return the Jaccard overlap of each old cluster with its match, NaN without rows, and the match of each, or -2.

    Clusters are matched one to one, so that the sum of overlaps is largest; with `matched=False` by their numbers. Rows
    of no cluster (-1) count for neither.
    """
    both = np.zeros((k_old + 1, k_new + 1))
    np.add.at(both, (old, new), weights)  # -1 stands last
    inner = both[:k_old, :k_new]
    either = both[:k_old].sum(axis=1)[:, None] + both[:, :k_new].sum(axis=0)[None, :] - inner
    jaccard = inner / np.where(either > 0, either, 1.0)
    match = np.full(k_old, -2)  # no row has this number
    if matched:
        from scipy.optimize import linear_sum_assignment

        some, others = linear_sum_assignment(jaccard, maximize=True)
        match[some] = others
    else:
        match[:] = np.arange(k_old)
    found = np.array([jaccard[c, match[c]] if match[c] >= 0 else 0.0 for c in range(k_old)])
    return np.where(both[:k_old].sum(axis=1) > 0, found, np.nan), match


def _refit_clusters(evidence: Evidence, rows: Indices, seed: int) -> Task:
    """Return the task on a resample, with the clusters that a clone of the clusterer finds there."""
    part, names = evidence.task.of_rows(rows), evidence.coordinates.columns
    given = _rows_as_given(evidence, rows)
    fitted = _seed_clusterer(clone(evidence.clusterer), seed)
    with quietly_by_one_thread():
        fitted.fit(given, **weight_argument(fitted, part.rows.weights))
    if _are_those_of_growth(evidence):
        reference = reference_of(fitted, given, part.rows)
        mixture = mixture_of(fitted, reference, names)
    else:
        labels = np.asarray(labels_of(fitted, given, len(rows)))
        reference, mixture = _with_means(part, np.where(labels < 0, -1, labels)), None
    asked, k = part.max_leaf_nodes, evidence.task.reference.n_clusters
    leaves = reference.n_clusters if asked == k else asked
    return replace(part, reference=reference, mixture=mixture, max_leaf_nodes=leaves)


def _rows_as_given(evidence: Evidence, rows: Indices) -> Any:
    """Return some rows as the clusterer was given them: those of words and gaps as codes and infinite numbers."""
    here = evidence.coordinates
    if evidence.given is not None:
        return rows_of_table(evidence.given, rows)
    if _is_mixed(evidence):
        return here.table.take(rows).values
    part = evidence.task.rows if here.measured is None else here.measured
    return np.ascontiguousarray(part.take(rows).values)


def _are_those_of_growth(evidence: Evidence) -> bool:
    """Return whether the clusterer is given the columns on which trees are grown."""
    return evidence.given is None and evidence.coordinates.measured is None and not _is_mixed(evidence)


def _is_mixed(evidence: Evidence) -> bool:
    """Return whether the clusters were made here, of a table with words or gaps."""
    return evidence.given is None and evidence.coordinates.scales is not None


def _with_means(part: Task, labels: Indices) -> Reference:
    if (labels < 0).all():
        return Reference(labels, np.zeros((1, part.rows.n_columns)))
    return Reference.of(part.rows, labels)


def _seed_clusterer(clusterer: Any, seed: int) -> Any:
    """Return a clusterer with this seed wherever it takes one, so that the result is the same each time."""
    names = [name for name in clusterer.get_params() if name.split("__")[-1] == "random_state"]
    return clusterer.set_params(**dict.fromkeys(names, seed))


def _look(evidence: Evidence) -> DrawnRows:
    """Return a look at rows as they enter distances: those that `explain` looks at, where boxwood made the clusters.

    Those of a pipeline are looked at before the first step that mixes columns: its columns are no numbers of the table,
    and a flag makes steps in each of them. Columns that are made of one raw column are the categories of a column.
    """
    if _is_mixed(evidence) or evidence.coordinates.entry is not None:
        return DrawnRows.of_space(evidence.coordinates)
    rows = _rows_as_given(evidence, some_rows(evidence.task.rows.values, LOOKED_AT, evidence.task.rows.weights))
    steps, made_of = _steps_apart(evidence, rows)
    blocks = None if made_of is None else [np.flatnonzero(made_of == j) for j in np.unique(made_of)]
    numbers = _numbers(steps.transform(rows) if steps else rows)
    return DrawnRows(numbers * getattr(_last_of(evidence.clusterer), "scales_", 1.0), blocks)


def _steps_apart(evidence: Evidence, rows: Any) -> tuple[Any, Indices | None]:
    """Return the first steps of a pipeline of which each column is made of one raw column, and of which one.

    Where the first one mixes columns they are none if the rows are numbers alone, and else all but the clusterer.
    """
    n_steps = 0 if evidence.given is None else len(getattr(evidence.clusterer, "steps", ())) - 1
    for n in range(n_steps, 0, -1):
        first = evidence.clusterer[:n]
        with contextlib.suppress(DataError):
            return first, axis_map_of(first, evidence.given).features
    return (evidence.clusterer[:-1] if n_steps > 0 and not _are_numbers(rows) else None), None


def _are_numbers(table: Any) -> bool:
    """Return whether all values of a table are finite numbers."""
    try:
        return bool(np.isfinite(_numbers(table)).all())
    except (TypeError, ValueError):
        return False


def _numbers(table: Any) -> Floats:
    return np.array(table.toarray() if hasattr(table, "toarray") else table, dtype=np.float64)


def _grow_tree(evidence: Evidence, part: Task, rows: Indices) -> ThresholdTree:
    """Return the tree for a resample, on the table's columns, with thresholds as short as those of the explanation."""
    assert evidence.grow is not None
    return replace(evidence.of_rows(rows), task=part).on_table(evidence.grow(part).tree)


# --------------------------------------------------------------------------------------------- over all resamples
def _clusters(ex: MeasuredTree, found: Floats) -> tuple[ClusterStability, ...]:
    summaries = []
    for one in ex.clusters:
        known = found[~np.isnan(found[:, one.cluster]), one.cluster]
        if not len(known):
            continue  # it has no rule, so there is none that might return
        mean, low = float(known.mean()), float(np.quantile(known, LOW, method="lower"))
        lost = int((known < LOST).sum())
        summaries.append(ClusterStability(one.cluster, one.name, min(mean, 1.0), min(low, 1.0), lost))
    return tuple(summaries)


def _cuts(ex: MeasuredTree, trees: list[ThresholdTree | None]) -> tuple[CutStability, ...]:
    tree, coded = ex.tree, ex._coded_columns
    ends = [
        (node, int(tree.feature[node]), end)
        for node in range(tree.n_nodes)
        if tree.feature[node] >= 0
        for end in _ends(float(tree.lower[node]), float(tree.upper[node]))[
            : 1 if tree.is_set[node] or int(tree.feature[node]) in coded else 2
        ]
    ]
    thresholds = [_thresholds(again) for again in trees]
    own: dict[int, list[float]] = {}  # the ends of each column of numbers
    for _, feature, end in ends:
        if feature not in coded and end < LARGEST:
            own.setdefault(feature, []).append(end)
    matched = {j: [_match_ends(its, each.get(j, np.empty(0))) for each in thresholds] for j, its in own.items()}
    cuts = []
    for node, feature, end in ends:
        is_number = feature not in coded and end < LARGEST
        again = [found[end] for found in matched[feature] if end in found] if is_number else []
        n_again = len(again) if is_number else sum(feature in each for each in thresholds)
        has_range = again and ex.columns[feature] not in ex.details.binary
        low, high = _ends_of(again) if has_range else (None, None)
        dates = ex._date_columns.get(feature)
        cuts.append(CutStability(node, ex.columns[feature], end, n_again / len(trees), low, high, dates))
    return tuple(cuts)


def _ends_of(again: Sequence[float]) -> tuple[float, float]:
    """Return two of the values with at least 90% of them between."""
    return float(np.quantile(again, LOW, method="lower")), float(np.quantile(again, HIGH, method="higher"))


def _match_ends(own: Sequence[float], found: Floats) -> dict[float, float]:
    """Return the end of another tree that takes the place of each end of a column, where there is one.

    They are matched one to one, so that the sum of their distances is least.
    """
    from scipy.optimize import linear_sum_assignment

    some, others = linear_sum_assignment(np.abs(np.subtract.outer(own, found)))
    return {own[i]: float(found[j]) for i, j in zip(some.tolist(), others.tolist(), strict=True)}


def _ends(lower: float, upper: float) -> list[float]:
    """Return the finite ends of a cut; the largest double, which parts numbers from missing ones, if it is alone."""
    if lower == np.inf:  # missing values alone
        return [LARGEST]
    if upper == LARGEST and np.isfinite(lower):
        return [ends_without_missing(lower, upper)[0]]
    return [end for end in (lower, upper) if np.isfinite(end)]


def _thresholds(tree: ThresholdTree | None) -> dict[int, Floats]:
    """Return the ends of the cuts of a tree, by the column that they test, without those that part missing values."""
    if tree is None:
        return {}
    found = {}
    for feature in tree.features.tolist():
        ends = np.concatenate([tree.lower[tree.feature == feature], tree.upper[tree.feature == feature]])
        found[feature] = ends[np.abs(ends) < LARGEST]
    return found
