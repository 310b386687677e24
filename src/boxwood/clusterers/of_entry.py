"""`OfEntry`: clusters of a table with words and gaps as its columns enter distances."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from boxwood._progress import Progress, silent
from boxwood._types import Array, Floats, Indices
from boxwood.axes import Categories
from boxwood.clusterers._mixed_k_means import MixedKMeans
from boxwood.reference.clusterer import FEW_STARTS, LARGE, MANY_STARTS
from boxwood.reference.entry import Entry
from boxwood.reference.mixed import with_gaps


class OfEntry(BaseEstimator):  # type: ignore[misc]
    """`MixedKMeans` on the columns of a table as they enter distances; the table holds codes for words.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    coded : mapping from int to Categories
        The columns of codes. A missing word costs nothing, as a missing number does: what is not known makes no groups.
    entry : Entry
        How columns enter.
    random_state, n_jobs : see `MixedKMeans`

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of each row.
    n_found_ : int
        Number of clusters that have a row; fewer than `n_clusters` if these hold all rows at no cost.
    """

    def __init__(
        self,
        n_clusters: int,
        coded: Mapping[int, Categories],
        entry: Entry,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.coded = coded
        self.entry = entry
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Array, y: None = None, sample_weight: Any = None, progress: Progress = silent) -> OfEntry:
        """Make the clusters of a table, with NaN or plus infinity for each missing number."""
        values = self._enter_values(X)
        made = MixedKMeans(
            self.n_clusters,
            categorical_features=sorted(self.coded),
            n_init=MANY_STARTS if values.size <= LARGE else FEW_STARTS,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # who needs all of them counts them
            made._fit(values, sample_weight, progress, self.entry.scales)
        self.labels_, self.n_found_, self._made = made.labels_, len(made.cluster_centers_), made
        return self

    def predict(self, X: Array) -> Indices:
        """Return the cluster of each row of such a table; -1 for one that lacks everything."""
        return self._made.predict(self._enter_values(X))

    def _enter_values(self, table: Array) -> Floats:
        """Return the values of a table as they enter distances, before they are scaled."""
        return self.entry.entered(with_gaps(np.where(np.isinf(table), np.nan, table), self.coded))
