"""`totals_of`: what each cluster sums up to in a column of value, such as revenue."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._frames import column_values, is_frame
from boxwood._types import Floats, Indices
from boxwood._validation import show_value
from boxwood.batches.batches import Batches, Block, refuse_no_numbers
from boxwood.batches.labelling import Labelling
from boxwood.batches.overview import ExactSum
from boxwood.errors import DataError
from boxwood.explanation.measure.profile import measure_profile
from boxwood.explanation.records import ClusterTotals, NumberColumn, Totals

if TYPE_CHECKING:
    from boxwood.explanation.measure.evidence import Evidence
    from boxwood.explanation.measured_tree import MeasuredTree


def totals_of(ex: MeasuredTree, column: str, values: Any = None) -> Totals:
    """Return the sums, which the explanation keeps; see `Explanation.totals`."""
    if not isinstance(column, str):
        raise TypeError(f"column must be the name of a column, got {show_value(column)}")
    try:
        found = ex._kept["totals"] = _worth(ex, column, values)
    except OverflowError:
        what = f"the values of {column!r} add up to more than the largest float"
        raise DataError(f"{what}; divide all of them by a power of ten") from None
    return found


def _worth(ex: MeasuredTree, column: str, values: Any) -> Totals:
    evidence, is_known = ex._evidence, column in ex.columns
    whole = None if evidence is None else evidence.whole
    if values is None and column in (dict(ex.details.dates) if whole is None else whole.source.dates):
        _refuse_dates(column)
    if values is None and not is_known and evidence is not None and evidence.whole is None and evidence.beside:
        values = evidence.beside(column)
    if values is None and evidence is not None and whole is not None:
        refuse_no_numbers(whole.source, column, "values")
        make = partial(_Totals, ex.n_clusters)
        found: _Totals = whole.fold_column(ex.tree, evidence.coordinates, column, make)
        totals, weights, n_missing = found.found()
    elif values is None and not is_known and evidence is not None and evidence.facts is not None:
        totals, weights, n_missing = _totals_by_a_pass(evidence.task.batches, ex.n_clusters, column)
    elif values is None:
        totals, weights, n_missing = _totals_by_profile(ex, column)
    else:
        totals, weights, n_missing = _totals(ex, column, values)
    total, has_shares = math.fsum(totals.tolist()), totals.min() >= 0
    clusters = (
        ClusterTotals(own, own / total if total > 0 and has_shares else None, own / weight if weight else None)
        for own, weight in zip(totals.tolist(), weights.tolist(), strict=True)
    )
    return Totals(column, total, n_missing, tuple(clusters))


# ----------------------------------------------------------------------------------------------------------- steps
def _refuse_dates(column: str) -> None:
    raise DataError(f"{column!r} has dates, which have no sum; name a column of amounts")


def _totals_by_profile(ex: MeasuredTree, column: str) -> tuple[Floats, Floats, int]:
    """Return what `_totals` does of a column that was looked at; in batches, of rows without a value, their weight."""
    known = next((one for one in measure_profile(ex) if one.column == column), None)
    if not isinstance(known, NumberColumn):
        raise DataError(f"{column!r} is not a column of numbers that was examined; pass its values, one for each row")
    if (rows := ex._in_memory) is not None:
        return _totals_of(rows, ex.n_clusters, rows.coordinates.table.values[:, ex.columns.index(column)])
    sizes = np.array([cluster.size for cluster in ex.clusters], dtype=np.float64)
    means = np.array([0.0 if group is None else group.mean for group in known.clusters])
    lacking = sizes * [1.0 if group is None else group.missing or 0.0 for group in known.clusters]
    return (sizes - lacking) * means, sizes - lacking, round(lacking.sum())


def _totals_by_a_pass(rows: Batches, n_clusters: int, column: str) -> tuple[Floats, Floats, int]:
    """Return what `_totals` does of a column of a table in batches."""
    refuse_no_numbers(rows.source, column, "values")
    labelling = rows.labelling
    if labelling is not None and labelling.column_read is None:
        labelling = _OfFirstColumns(labelling, rows.n_columns)
    beside = replace(rows, columns=(*rows.columns, column), labelling=labelling)
    totals: _Totals = beside.fold(partial(_Totals, n_clusters), [rows.n_columns])
    return totals.found()


@dataclass(frozen=True, eq=False)
class _OfFirstColumns(Labelling):
    """The clusters of rows that have more columns than those from which a cluster is found."""

    labelling: Labelling
    n_columns: int

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        assert rows is not None
        return self.labelling.codes(np.ascontiguousarray(rows[:, : self.n_columns]), column)


class _Totals:
    """The sum of a column over each cluster, the weight of its rows with a value, and how many have none."""

    def __init__(self, n_clusters: int) -> None:
        self.totals, self.weights = ([ExactSum() for _ in range(n_clusters)] for _ in range(2))
        self.n_missing = 0

    def update(self, block: Block) -> None:
        x, labels = block.values[:, 0], block.labels
        weights = np.ones(len(x)) if block.weights is None else block.weights
        known = np.isfinite(x) & (labels >= 0)
        for i, (total, weight) in enumerate(zip(self.totals, self.weights, strict=True)):
            own = known & (labels == i)
            total.add(_times(x[own], weights[own]))
            weight.add(weights[own])
        self.n_missing += int(((labels >= 0) & ~known).sum())

    def merge(self, other: _Totals) -> None:
        for mine, its in zip((*self.totals, *self.weights), (*other.totals, *other.weights), strict=True):
            mine.merge(its)
        self.n_missing += other.n_missing

    def found(self) -> tuple[Floats, Floats, int]:
        """Return the sums, the weights and the number."""
        totals, weights = (np.array([one.value for one in part]) for part in (self.totals, self.weights))
        return totals, weights, self.n_missing


def _times(x: Floats, weights: Floats) -> Floats:
    with np.errstate(over="ignore"):
        product = x * weights
    if not np.isfinite(product).all():  # a sum leaves out what is infinite
        raise OverflowError
    return product


def _totals(ex: MeasuredTree, column: str, values: Any) -> tuple[Floats, Floats, int]:
    """Return the sum of some values over each cluster, the weight of its rows with a value, and how many have none."""
    rows = ex._rows("totals() of values")
    x = np.asarray(column_values(values, column) if is_frame(values) else values)
    if x.shape != (ex.n_rows,):
        raise DataError(f"there are {ex.n_rows} rows, but values of shape {x.shape}")
    if x.dtype.kind == "M":
        _refuse_dates(column)
    try:
        x = x.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the values of {column!r} must be numbers") from None
    return _totals_of(rows, ex.n_clusters, x if rows.positions is None else x[rows.positions])


def _totals_of(rows: Evidence, n_clusters: int, x: Floats) -> tuple[Floats, Floats, int]:
    totals = _Totals(n_clusters)
    totals.update(Block(x[:, None], rows.task.reference.labels, rows.task.rows.weights))
    return totals.found()
