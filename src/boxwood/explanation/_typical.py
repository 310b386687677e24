"""Typical rows: the row of each cluster that is nearest to the cluster's middle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boxwood._types import Array
from boxwood.explanation._profile_fields import CategoryColumn, ColumnProfile
from boxwood.reference import Task

__all__ = ["typical_rows"]


def typical_rows(
    task: Task, table: Array, columns: Sequence[int], profile: Sequence[ColumnProfile]
) -> tuple[int | None, ...]:
    """Return the position of the typical row of each cluster, the first of equally near ones; None without rows.

    IN: table (n, d), the rows of `task` in the table's columns; profile: that of `columns`.
    """
    rows = np.flatnonzero(task.kept)
    labels, k = task.reference.labels[rows], task.reference.n_clusters
    away = np.zeros(len(rows))
    for j, column in zip(columns, profile, strict=True):
        values = np.asarray(table[rows, j], dtype=np.float64)
        if isinstance(column, CategoryColumn):
            usual = [0 if one is None else int(np.argmax(one.shares)) for one in column.clusters]
            away += values != np.array(usual)[labels]
        elif column.everyone.deviation > 0:
            middle = np.array([0.0 if one is None else one.quantiles[2] for one in column.clusters])
            # divided first, as differences of huge values leave the range
            away += np.abs(values / column.everyone.deviation - (middle / column.everyone.deviation)[labels])
    of_clusters = (np.flatnonzero(labels == i) for i in range(k))
    return tuple(int(rows[own[np.argmin(away[own])]]) if len(own) else None for own in of_clusters)
