"""Generated tables through every method: equal to naive twins where there are any, invariant everywhere."""

from __future__ import annotations

import math
import sqlite3
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np

from boxwood import Explanation, Mixture, Reference, explain, grow
from boxwood._messages import as_written
from boxwood.errors import DataError, StoppedEarlyWarning
from boxwood.grow import METHODS
from boxwood.reference import Task
from boxwood.render import sql
from boxwood.tree import ThresholdTree
from tests import naive
from tests.models import read_model
from tests.soak.parts import Wrong

__all__ = ["attempt"]

EPS = float(np.finfo(float).eps)


class Drawn(NamedTuple):
    style: str
    X: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None


STYLES: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "gaussian": lambda rng, y: rng.normal(size=len(y)) + 4 * rng.normal(size=y.max() + 1)[y],
    "ties": lambda rng, y: rng.integers(0, 4, size=len(y)) + 2.0 * y,
    "few values": lambda rng, y: rng.integers(0, 3, size=len(y)).astype(float),
    "constant": lambda rng, y: np.full(len(y), rng.normal()),
    "huge": lambda rng, y: 1e12 * (rng.normal(size=len(y)) + y),
    "tiny": lambda rng, y: 1e-12 * (rng.normal(size=len(y)) + y),
    "near the largest": lambda rng, y: 1e307 * (rng.uniform(-1, 1, size=len(y)) + y) / (1 + y.max()),
    "subnormal": lambda rng, y: 5e-324 * rng.integers(0, 9, size=len(y)) + 1e-310 * y,
    "offset": lambda rng, y: 1e15 + rng.integers(0, 3, size=len(y)) + y,
    "neighbours": lambda rng, y: 1.0 + (rng.integers(0, 5, size=len(y)) + y) * EPS,
    "signed zeros": lambda rng, y: rng.choice([0.0, -0.0, 1.0], size=len(y)) * (1 + y),
    "one dwarfs all": lambda rng, y: np.where(
        np.arange(len(y)) == rng.integers(len(y)), 10.0 ** rng.integers(6, 18), rng.integers(0, 9, size=len(y)) + y
    ),
    "skewed": lambda rng, y: np.exp(3 * rng.normal(size=len(y))) * (1 + y),
}


def drawn(rng: np.random.Generator) -> Drawn:
    """Return a table of one style, or of a style for each column."""
    n, d = int(rng.choice([1, 2, 5, 12, 20, 20, 40, 60])), int(rng.choice([1, 1, 2, 4]))
    k = int(rng.integers(1, min(n, 6) + 1))
    y = rng.permutation(np.concatenate([np.arange(k), rng.integers(k, size=n - k)]))
    names = list(STYLES)
    style = names[rng.integers(len(names) + 1) - 1] if rng.random() < 0.7 else "mixed"
    columns = [STYLES[names[rng.integers(len(names))] if style == "mixed" else style](rng, y) for _ in range(d)]
    X = np.column_stack(columns).astype(float)
    if rng.random() < 0.3:
        X[rng.integers(n, size=n // 2)] = X[rng.integers(n)]
        style += ", duplicates"
    if rng.random() < 0.2 and np.abs(X).max() < 1e38:
        X, style = X.astype(np.float32), f"{style}, float32"
    labels = np.where(rng.random(n) < 0.15, -1, y) if rng.random() < 0.25 else y
    return Drawn(style, X, labels, _weights(rng, n))


def _weights(rng: np.random.Generator, n: int) -> np.ndarray | None:
    kinds = [None, None, rng.integers(1, 4, size=n) * 1.0, rng.random(n), rng.integers(0, 3, size=n) * 1.0]
    kinds.append(10.0 ** rng.uniform(-9, 9, size=n))
    return kinds[rng.integers(len(kinds))]


def attempt(seed: int, folder: Path) -> str:
    """Explain a table by one method, and check what can be checked; see the module."""
    rng = np.random.default_rng(seed)
    case, name = drawn(rng), ["auto", *METHODS][rng.integers(len(METHODS) + 1)]
    leaves = (
        int(rng.integers(2, 12)) if name == "auto" or (rng.random() < 0.5 and not METHODS[name].one_leaf_each) else None
    )
    how = {"method": name, "max_leaf_nodes": leaves, "random_state": seed % 100}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        try:
            ex = explain(case.X, case.labels, sample_weight=case.weights, **how)
        except DataError as error:
            _check_message(error)
            return f"{name}: refused"
        about = f"{name}, {case.style}, shape {case.X.shape}, weights {case.weights is not None}"
        _check(ex, case, how, about)
        if rng.random() < 0.5:
            _check_twins(case, about)
    return f"{name}: explained"


def _check_message(error: Exception) -> None:
    if not str(error) or len(str(error)) > 600:
        raise Wrong(f"a message of {len(str(error))} characters: {str(error)[:200]}")


def _largest(X: np.ndarray) -> float:
    return float(np.abs(X).max())


def _expect(true: bool, what: str, about: str) -> None:
    if not true:
        raise Wrong(f"{what}\n{about}", f"{what}, {about.split(',')[0]}")


# ------------------------------------------------------------------------------------------------------ invariants


def _check(ex: Explanation, case: Drawn, how: dict, about: str) -> None:
    X = case.X
    found = ex.predict(X).tolist()
    _expect(found == [ex.names[c] for c in ex.tree.predict(X)], "predict differs from the tree", about)
    again = read_model(ex.to_json())
    written = replace(ex, notes=as_written(ex.notes))  # a model file quotes no value
    _expect(again == written and again.predict(X).tolist() == found, "another model after JSON", about)
    _expect(str(again) == str(ex) and bool(ex.rules()), "another text after JSON", about)
    leaves = ex.tree.apply(X)
    for row, leaf in zip(np.asarray(X, dtype=float), leaves, strict=True):
        inside = [
            i
            for i, box in enumerate(ex.tree.boxes())
            if all(any(float(row[j]) in piece for piece in pieces) for j, pieces in box.items())
        ]
        _expect(inside == [leaf], "boxes differ from predict", about)
    _check_sql(ex, X, found, about)
    _check_measures(ex, case, np.array(found), about)
    _check_changes(ex, case, how, about)


def _check_sql(ex: Explanation, X: np.ndarray, found: list, about: str) -> None:
    names = ", ".join(f'"{name}" DOUBLE' for name in ex.columns)
    marks, rows = ", ".join("?" * X.shape[1]), np.asarray(X, dtype=float).tolist()
    for engine, connect in (("DuckDB", duckdb.connect), ("SQLite", sqlite3.connect)):
        # SQLite reads decimals of more than 19 digits or far exponents less exactly than a double is
        if engine == "SQLite" and np.any((np.abs(X) > 1e15) | ((np.abs(X) < 1e-5) & (X != 0))):
            continue
        expression, con = sql(ex, dialect=engine.lower()), connect(":memory:")
        con.execute(f"CREATE TABLE t (i INTEGER, {names.replace('DOUBLE', 'REAL') if engine == 'SQLite' else names})")
        con.executemany(f"INSERT INTO t VALUES (?, {marks})", [[i, *row] for i, row in enumerate(rows)])
        labelled = [row[0] for row in con.execute(f"SELECT {expression} FROM t ORDER BY i").fetchall()]
        con.close()
        _expect(labelled == found, f"SQL on {engine} differs from predict", f"{about}\n{expression}")


def _check_measures(ex: Explanation, case: Drawn, found: np.ndarray, about: str) -> None:
    weights = np.ones(len(found)) if case.weights is None else case.weights
    kept = case.labels != -1
    share = float((weights * (found == case.labels))[kept].sum() / weights[kept].sum())
    _expect(math.isclose(ex.agreement, share, abs_tol=1e-12), "agreement is not that of predict", about)
    if (
        ex.details.kernel is None
        and ex.details.objective == "sqeuclidean"
        and ex.details.draws is None
        and _largest(case.X) < 1e140
    ):
        own = naive.cost(case.X, np.where(kept, found, -1), "sqeuclidean", weights=case.weights)
        given = naive.cost(case.X, case.labels, "sqeuclidean", weights=case.weights)
        # means are rounded to doubles: each row may be off by this much
        slack = float(weights.sum()) * case.X.shape[1] * (8 * EPS * _largest(case.X)) ** 2
        for what, value, exact in (("cost", ex.cost, own), ("reference_cost", ex.reference_cost, given)):
            near = math.isclose(value, float(exact), rel_tol=1e-7, abs_tol=slack + 1e-300)
            _expect(near, f"{what} is not that of the twin", f"{about}\n{value} for {float(exact)}")
        if ex.reference_cost > 0:
            _expect(math.isclose(ex.price, ex.cost / ex.reference_cost, rel_tol=1e-9), "price is no ratio", about)


def _check_changes(ex: Explanation, case: Drawn, how: dict, about: str) -> None:
    """Rows in another order, or repeated instead of weighted, give the same tree."""
    order = np.random.default_rng(1).permutation(len(case.X))
    weights = None if case.weights is None else case.weights[order]
    other = explain(case.X[order], case.labels[order], sample_weight=weights, **how)
    _expect(other.tree == ex.tree, "another tree for another order of rows", about)
    if case.weights is not None and np.all(case.weights == np.round(case.weights)) and case.weights.min() > 0:
        times = case.weights.astype(int)
        other = explain(np.repeat(case.X, times, axis=0), np.repeat(case.labels, times), **how)
        _expect(other.tree == ex.tree, "another tree for rows repeated by their weights", about)
    elif case.weights is None:
        other = explain(case.X, case.labels, sample_weight=np.ones(len(case.X)), **how)
        _expect(other.tree == ex.tree, "another tree for weights of one", about)


# ----------------------------------------------------------------------------------------------------------- twins


def _check_twins(case: Drawn, about: str) -> None:
    """Grow trees by functions: equal to twins, on any number of threads."""
    try:
        reference = Reference.of(case.X, case.labels, sample_weight=case.weights)
    except DataError as error:
        return _check_message(error)
    labels, weights, k = reference.labels, case.weights, reference.n_clusters
    if len(np.unique(reference.first_of_equal_centers())) == k and k > 1:
        tree = grow.imm(case.X, reference, sample_weight=weights)
        twin = naive.imm(case.X, labels, reference.centers, weights)
        _expect(tree == ThresholdTree.from_dict(twin), "differs from its twin", f"imm, {about}")
    for name, method in METHODS.items():
        leaves = None if method.one_leaf_each else k + 2
        trees = []
        for n_jobs in (1, 2):
            task = Task.of(
                case.X, reference, sample_weight=weights, max_leaf_nodes=leaves, random_state=0, n_jobs=n_jobs
            )
            try:
                trees.append(method.grow(task).tree)
            except DataError as error:
                trees.append(str(error))
        _expect(trees[0] == trees[1], "differs between one thread and two", f"{name}, {about}")
    spreads = np.ptp(case.X.astype(float) / 2, axis=0)
    # the twin's squares overflow above, and are 0 below
    if _largest(case.X) < 1e100 and not np.any((spreads > 0) & (spreads < 1e-100)) and len(case.X) <= 20:
        for objective in ("cost", "mistakes"):
            options = {"max_leaf_nodes": k + 2, "objective": objective}
            twin = naive.expand(None, case.X, labels, reference.centers, weights=weights, cuts="threshold", **options)
            tree = grow.expand(None, case.X, reference, sample_weight=weights, **options)
            _expect(tree == ThresholdTree.from_dict(_plain(twin)), "differs from its twin", f"expand, {about}")
    _check_mmdt(case, reference, about)
    return None


def _check_mmdt(case: Drawn, reference: Reference, about: str) -> None:
    try:
        mixture = Mixture.of(case.X, reference, sample_weight=case.weights)
        tree = grow.mmdt(mixture)
    except DataError as error:
        return _check_message(error)
    deviations = np.sqrt(mixture.pooled_variances()).tolist()
    twin = ThresholdTree.from_dict(naive.mmdt(mixture.means.tolist(), deviations))
    clusters = np.arange(mixture.n_components) if mixture.clusters is None else mixture.clusters
    _expect(tree == twin.relabeled(clusters[twin.leaf_clusters]), "differs from its twin", f"mmdt, {about}")
    return None


def _plain(d: dict) -> dict:
    return {key: _plain(value) if isinstance(value, dict) else value for key, value in d.items() if key != "leaf"}
