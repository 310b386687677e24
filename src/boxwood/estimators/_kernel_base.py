"""The base class of the kernel estimators: a kernel, the clusterer that fits it, and costs in its feature space."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from boxwood._compat import Interval, StrOptions
from boxwood._validation import Rows
from boxwood.axes._kernel_features import MOST_TERMS
from boxwood.clusterers import KernelKMeans
from boxwood.errors import DataError
from boxwood.estimators._base import AT_LEAST_TWO, TreeClusterer
from boxwood.kernels import Kernel, Precomputed
from boxwood.kernels._bandwidth import RULES
from boxwood.kernels._by_name import kernel_with_gamma
from boxwood.metrics import agreement, kernel_cost
from boxwood.reference import Task
from boxwood.reference._clusterer import refuse_number_of_clusters

__all__ = ["FEATURE_CONSTRAINTS", "KernelTreeClusterer"]

FEATURE_CONSTRAINTS: dict[str, list[Any]] = {
    "features": [StrOptions({"auto", "taylor", "distance", "additive"})],
    "n_terms": [Interval(Integral, 1, MOST_TERMS, closed="both"), StrOptions({"auto"})],
    "n_landmarks": [AT_LEAST_TWO, StrOptions({"auto"}), None],
}


class KernelTreeClusterer(TreeClusterer):
    """A small tree of cuts that explains the clusters of kernel k-means, and is measured by the kernel cost.

    A subclass stores its parameters, which include `kernel` and `gamma`.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, with its bandwidth as a number.
    price_ : float
        Kernel price of explainability: see `metrics.price_of_explainability`.
    price_ceiling_ : float
        The highest `price_` that any tree could have: see `metrics.price_ceiling`.
    agreement_ : Agreement
        How well the tree's clusters agree with those that it explains: see `metrics.agreement`.
    """

    kernel: Kernel | str
    gamma: Any

    _facts: ClassVar[tuple[str, ...]] = ("kernel",)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClusterer._parameter_constraints,
        "kernel": [str, Kernel],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions(set(RULES)), "array-like"],
    }

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the kernel k-means cost of the tree's clusters of rows, with a minus sign; 0 is the best score.

        The tree gives each row a cluster. The cost is the sum of the rows' squared distances, in the kernel's feature
        space, to the mean of their cluster in `X`, each times the weight of its row. Greater scores are better. `y` is
        ignored.
        """
        tree, rows = self._fitted_tree(), self._rows(X, sample_weight)
        return -kernel_cost(self._coordinates(X, rows).rows, tree.predict(rows), kernel=self.kernel_)

    @property
    def price_ceiling_(self) -> float:
        """The highest `price_` that any tree could have; computed when first read."""
        check_is_fitted(self)
        return self._prices_of_fit()[1]

    # ------------------------------------------------------------------------------------------------- steps

    def _unfitted_kernel(self) -> Kernel:
        """Return the kernel; one given by its name gets the bandwidth `gamma`."""
        kernel = kernel_with_gamma(self.kernel, self.gamma)
        if isinstance(kernel, Precomputed):
            raise DataError(
                "a tree tests columns, but a precomputed kernel has none; pass the kernel itself, and to explain the "
                "clusters of the precomputed kernel, pass them as labels"
            )
        return kernel

    def _unfitted_clusterer(self, rows: Rows) -> Any:
        if self.clusterer is not None:
            return self.clusterer
        refuse_number_of_clusters(rows, self.n_clusters)
        kernel = self._unfitted_kernel()
        return KernelKMeans(self.n_clusters, kernel=kernel, random_state=self.random_state, n_jobs=self.n_jobs)

    def _options(self) -> Mapping[str, Any]:
        return {**super()._options(), "kernel": self._unfitted_kernel()}

    def _keep_agreement(self, task: Task) -> None:
        predicted = np.where(task.reference.kept, self._clusters_of_fit(), -1)
        self.agreement_ = agreement(task.reference.labels, predicted, sample_weight=task.rows.weights)
