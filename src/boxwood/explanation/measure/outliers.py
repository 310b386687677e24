"""Odd rows: those that lie far from the mean of their cluster, and the column in which each is farthest."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Indices
from boxwood.explanation.measure.evidence import Evidence

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

FAR_OUT = 3.0  # Tukey's fences: so many times the distance of the quarters beyond the upper one
TWICE = 2.0  # A row that is less than twice as far as the median one is never odd: with many columns, most are as far.


class Outlier(NamedTuple):
    """A row that lies far from the mean of its cluster.

    Parameters
    ----------
    row : int
        Position of the row, from 0.
    cluster : int
        Its cluster: the nearest one, if clusters are those of k-means.
    times : float
        Its distance to the mean of the cluster, in median distances of the cluster's rows.
    column : str
        The column in which it is farthest from that mean.
    value : float, or category, or None
        Its value there; a date as text, None if it is missing.
    """

    row: int
    cluster: int
    times: float
    column: str
    value: Hashable


def outliers_in(ex: MeasuredTree) -> tuple[Outlier, ...]:
    """See `Explanation.outliers`."""
    ex._refuse_batches("outliers()")
    evidence = ex._rows()
    kept = np.flatnonzero(evidence.task.kept)
    values, made_of = evidence.coordinates.as_measured(kept)
    labels, weights = evidence.task.reference.labels[kept], evidence.task.rows.weights
    means = _means(values, labels, None if weights is None else weights[kept])
    apart = np.square(values - means[labels])
    times = _in_medians(np.sqrt(apart.sum(axis=1)), labels)
    low, high = np.quantile(times, [0.25, 0.75])
    odd = np.flatnonzero(times > max(high + FAR_OUT * (high - low), TWICE))
    odd = odd[np.argsort(-times[odd], kind="stable")]
    columns = made_of[apart[odd].argmax(axis=1)] if len(odd) else []
    return tuple(
        Outlier(
            evidence.in_table(int(row)), int(label), float(ratio), ex.columns[j], _value(evidence, int(row), int(j))
        )
        for row, label, ratio, j in zip(kept[odd], labels[odd], times[odd], columns, strict=True)
    )


def _means(values: Floats, labels: Indices, weights: Floats | None) -> Floats:
    mass = np.bincount(labels, weights)
    sums = np.stack([np.bincount(labels, x if weights is None else weights * x) for x in values.T], axis=1)
    return np.asarray(sums / np.where(mass > 0, mass, 1.0)[:, None])


def _in_medians(distances: Floats, labels: Indices) -> Floats:
    """Return distances in medians of their cluster; a cluster whose rows are mostly alike has the median of all."""
    of_all = float(np.median(distances))
    median = np.array([_median(distances[labels == label], of_all) for label in range(labels.max() + 1)])
    return np.asarray(distances / np.where(median > 0, median, 1.0)[labels])


def _median(distances: Floats, of_all: float) -> float:
    return (float(np.median(distances)) if len(distances) else 0.0) or of_all


def _value(evidence: Evidence, row: int, column: int) -> Hashable:
    here = evidence.coordinates
    value: Array = here.table.column(column, np.array([row]))[0]
    if column in here.categories:
        return here.categories[column].value(int(value))
    if not np.isfinite(value):
        return None
    return here.dates[column].text(float(value)) if column in here.dates else float(value)
