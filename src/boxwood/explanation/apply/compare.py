"""`compare`: trees of several methods and numbers of leaves for one clustering, side by side."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Literal

import numpy as np

from boxwood._frames import as_rows_here
from boxwood._progress import silent
from boxwood._types import Objective
from boxwood._validation import show_value, whole_number
from boxwood.errors import DataError
from boxwood.explanation.apply.results import Compared, Comparison
from boxwood.explanation.ask.columns import notes_on_reading
from boxwood.explanation.ask.explainer import is_explainer
from boxwood.explanation.ask.gathered import gathered_as_asked, source_to_explain
from boxwood.explanation.ask.mixed import refuse_method
from boxwood.explanation.ask.options import Options, with_defaults
from boxwood.explanation.ask.problem import Problem, problem_of, read_dates
from boxwood.explanation.choose.goal import Goal
from boxwood.explanation.choose.on_table import choose
from boxwood.explanation.measure.measure import measure
from boxwood.grow import METHODS, method_of
from boxwood.reference import Task
from boxwood.table.scanned import is_source
from boxwood.tree import ThresholdTree

COMPARED = ("auto", "imm", "greedy", "shallow", "exkmc", "expand", "cart")
"""Methods that are compared unless others are named."""


def compare(
    X: Any,
    labels: Any = None,
    *,
    methods: Sequence[str] = COMPARED,
    max_leaf_nodes: Sequence[int] | int | None = None,
    n_clusters: int | None = None,
    random_state: Any = None,
    columns: Sequence[str] | None = None,
    standardize: bool | Literal["auto"] = "auto",
    missing: Literal["learn", "drop", "refuse"] = "learn",
    categories: Sequence[str] | Mapping[str, Sequence[Any] | None] = (),
    numbers: Sequence[str] = (),
    sample_weight: Any = None,
    objective: Objective = "auto",
    time_limit: float | None = None,
    n_jobs: int | None = -1,
    max_depth: int | None = None,
    min_samples_leaf: int | None = None,
    max_columns: int | None = None,
    forbidden: Sequence[str] = (),
    preferred: Sequence[str] = (),
    round_thresholds: int | None = None,
    cuts: Mapping[str, Sequence[Any]] | None = None,
    as_of: Any = None,
) -> Comparison:
    """Return what the trees of several methods cost for one clustering, and which of them no other one beats.

    The clusters are made once. Each method grows a tree for each number of leaves that it can make; where more leaves
    give the same tree, it is listed once.

    Parameters
    ----------
    X, labels, n_clusters, random_state, columns, standardize, missing, categories, numbers, n_jobs, as_of
        As for `explain`. A table in batches is read into memory, or rows are drawn from it, as there; a note says so.
        Its clusters cannot be given.
    sample_weight
        As for `explain`.
    objective, time_limit
        As for `explain`, where the method is "auto"; other methods decide by a rule of their own.
    max_depth, min_samples_leaf, max_columns, forbidden, preferred, round_thresholds, cuts
        Limits of the rules, as for `explain`. Methods that cannot keep those that are given are left out.
    methods : sequence of str, default=("auto", "imm", "greedy", "shallow", "exkmc", "expand", "cart")
        "auto", and names of `grow.METHODS`. Kernel methods are measured by other costs, and are left out.
    max_leaf_nodes : int or sequence of int, default=None
        Numbers of leaves; None is the number of clusters and twice that number.

    Returns
    -------
    Comparison
        Always holds: at least one of its rows is on the front, if there are rows.

    Raises
    ------
    DataError, ValueError
        As `explain`; also if no method is named, or one is unknown.

    Notes
    -----
    Takes the time of an `explain` for each row, without the clustering.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import boxwood
    >>> found = boxwood.compare(load_wine().data, n_clusters=3, methods=["imm", "cart"], max_leaf_nodes=3)
    >>> [(row.method, row.leaves, round(row.price, 3), row.on_front) for row in found.rows]
    [('imm', 3, 1.106, True), ('cart', 3, 1.106, True)]
    """
    given = {name: value for name, value in locals().items() if name not in ("X", "labels", "methods")}
    if is_explainer(labels):
        raise ValueError("an explainer brings its own tree; pass its clusterer, or the labels to compare trees for")
    if labels is not None and is_source(X) and not (X.is_held and isinstance(labels, str)):
        raise DataError(
            "compare needs rows in memory where clusters are given, but the table is read in batches; compare methods "
            "on a sample"
        )
    names = [_check_name(name) for name in _list_values("methods", methods)]
    wanted = None if max_leaf_nodes is None else _list_values("max_leaf_nodes", max_leaf_nodes)
    leaves = [] if wanted is None else sorted({whole_number("max_leaf_nodes", n, 2) for n in wanted})
    asked = Options.of(given | {"max_leaf_nodes": None})
    read_notes = tuple[str, ...]()
    if (source := source_to_explain(X, labels)) is not None:
        read_notes = notes_on_reading(source, asked.columns)
        read, asked = gathered_as_asked(source, asked, labels)
        X, labels = read.table, read.labels
    rows_here = as_rows_here(X)
    rows_here, asked = read_dates(rows_here, labels, asked.scaled_for(labels, rows_here))
    problem = problem_of(rows_here, labels, asked)
    k = problem.task.reference.n_clusters
    of_auto, clusterer = asked.options, problem.clusterer
    options = {name: of_auto if name == "auto" else with_defaults(name, {}, clusterer) for name in names}
    leaves = leaves or [k, 2 * k]
    rows, left_out = [], []
    for name in dict.fromkeys(names):
        refused, trees = "", []
        for n in _possible(name, leaves, k):
            try:
                tree, row = _row(problem, name, n, options[name])
                rows += [] if tree in trees else [row]
                trees.append(tree)
            except ValueError as error:  # a method may ask more of the rows than others, or not keep the limits
                refused = str(error).splitlines()[0]
        distance = "sqeuclidean" if name == "auto" else options[name].get("objective", "sqeuclidean")
        if distance != "sqeuclidean":
            rows = [row for row in rows if row.method != name]
            refused = f"measured by {distance} distances, which cannot be compared with these"
        elif name.startswith("kernel_"):
            refused = "measured by the costs of its kernel, which cannot be compared with these"
        elif not _possible(name, leaves, k):
            refused = f"makes {k} leaves, one for each cluster"
        left_out += [(name, refused)] if refused else []
    by_agreement = not Goal(problem.task, objective).by_cost
    rows.sort(key=lambda row: _losses(row, by_agreement))
    front = (not any(_beats(other, row, by_agreement) for other in rows) for row in rows)
    marked = tuple(row._replace(on_front=is_best) for row, is_best in zip(rows, front, strict=True))
    n_rows = int(problem.task.reference.kept.sum())
    return Comparison(
        marked, tuple(left_out), k, n_rows, _baseline(problem.task), by_agreement, (*read_notes, *problem.notes)
    )


def _list_values(parameter: str, values: Any) -> list[Any]:
    """Return one value, or several, as a list that is not empty."""
    if isinstance(values, (str, Integral)):
        return [values]
    if not isinstance(values, Iterable) or isinstance(values, Mapping | bytes):
        raise TypeError(f"{parameter} must be a list, got {show_value(values)}")
    found = list(values)
    if not found:
        raise ValueError(f"{parameter} must have at least one value, got none")
    return found


def _check_name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"methods must be names, got {show_value(name)}")
    return name if name == "auto" else method_of(name, beside=("auto",)).name


def _possible(name: str, leaves: Sequence[int], k: int) -> list[int]:
    """Return the numbers of leaves that a method can make."""
    if name.startswith("kernel_"):
        return []
    return [n for n in leaves if name == "auto" or not METHODS[name].one_leaf_each or n == k]


def _row(problem: Problem, name: str, leaves: int, options: Mapping[str, Any]) -> tuple[ThresholdTree, Compared]:
    began = time.perf_counter()
    if problem.coordinates.scales is not None:
        refuse_method(name, problem.coordinates)
    found = choose(replace(problem, task=problem.task.with_leaves(leaves)), name, silent, options)
    on = problem if problem.is_measured_apart else found.search
    ex = measure(on.task, found.grown._replace(tree=found.tree), on.coordinates)
    seconds = time.perf_counter() - began
    tree = ex.tree
    measured = (ex.n_leaves, tree.depth, int(tree.features.size), ex.price, ex.agreement, seconds)
    return tree, Compared(name, ex.method, *measured, on_front=True)


def _baseline(task: Task) -> float:
    """Return the share of the rows, by weight, in the largest cluster."""
    weights = task.kept.astype(np.float64) if task.rows.weights is None else task.rows.weights * task.kept
    return float(np.bincount(np.maximum(task.reference.labels, 0), weights).max() / weights.sum())


def _losses(row: Compared, by_agreement: bool) -> tuple[float, ...]:
    """Return what is to be small, the first thing first."""
    return (row.leaves, -row.agreement) if by_agreement else (row.leaves, row.price, -row.agreement)


def _beats(one: Compared, other: Compared, by_agreement: bool) -> bool:
    """Return whether a tree is as good as another in all that counts, and better in one thing."""
    ours, theirs = _losses(one, by_agreement), _losses(other, by_agreement)
    return ours != theirs and all(a <= b for a, b in zip(ours, theirs, strict=True))
