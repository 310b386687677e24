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
    entry : Entry, default=None
        How columns enter; None as `MixedKMeans` has them.
    standardize : bool, default=False
        What `MixedKMeans` does to columns, where no `entry` is given.
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
        entry: Entry | None = None,
        standardize: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.coded = coded
        self.entry = entry
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Array, y: None = None, sample_weight: Any = None, progress: Progress = silent) -> OfEntry:
        """Make the clusters of a table, with NaN or plus infinity for each missing number."""
        values, words = self._entered(with_gaps(np.where(np.isinf(X), np.nan, X), self.coded))
        how: dict[str, Any] = {"standardize": self.standardize and self.entry is None, "n_jobs": self.n_jobs}
        starts = MANY_STARTS if values.size <= LARGE else FEW_STARTS
        made = MixedKMeans(
            self.n_clusters, categorical_features=words, n_init=starts, random_state=self.random_state, **how
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # who needs all of them counts them
            made._fit(values, sample_weight, progress)
        self.labels_, self.n_found_, self._made = made.labels_, len(made.cluster_centers_), made
        return self

    def predict(self, X: Array) -> Indices:
        """Return the cluster of each row of such a table; -1 for one that lacks everything."""
        return self._made.predict(self._entered(with_gaps(np.where(np.isinf(X), np.nan, X), self.coded))[0])

    def _entered(self, table: Floats) -> tuple[Floats, list[int]]:
        """Return the values of a table as they enter distances, and its columns of codes.

        Codes have the factor 1. A word of two values that has another one is as a number of two values.
        """
        if self.entry is None:
            return table, sorted(self.coded)
        scales = self.entry.scales.copy()
        as_numbers = [j for j in self.coded if scales[j] != 1.0]
        scales[as_numbers] *= np.sqrt(2.0)
        return self.entry.entered(table) * scales, sorted(set(self.coded) - set(as_numbers))
