"""What the kernel estimators share: the kernel, the clusterer that goes with it, and costs in its feature space."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boxwood._compat import Interval, StrOptions
from boxwood._types import Array, Weights
from boxwood.axes import AxisMap
from boxwood.clusterers import KernelKMeans
from boxwood.errors import DataError
from boxwood.estimators._base import TreeClusterer
from boxwood.kernels import Gaussian, Kernel, Laplace, Precomputed, as_kernel
from boxwood.metrics import agreement
from boxwood.metrics._kernel_cost import KernelSpace, kernel_cost
from boxwood.metrics._price import ratio
from boxwood.reference import Reference
from boxwood.reference._clusterer import refuse_number_of_clusters
from boxwood.tree import ThresholdTree

__all__ = ["KernelTreeClusterer"]


class KernelTreeClusterer(TreeClusterer):
    """A clusterer by a small tree of cuts that explains clusters of kernel k-means, and is measured by its cost.

    A subclass stores its parameters, `kernel` and `gamma` among them, and says in `_grow_by_kernel` how the tree is
    grown.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, with its bandwidth as a number.
    price_ : float
        Kernel price of explainability: see `metrics.price_of_explainability`.
    price_ceiling_ : float
        What `price_` could be at most, whatever the tree: see `metrics.price_ceiling`.
    agreement_ : Agreement
        How far the tree's clusters are those that it explains: see `metrics.agreement`.
    """

    kernel: Kernel | str
    gamma: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TreeClusterer._parameter_constraints,
        "kernel": [str, Kernel],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"scale", "median"}), "array-like"],
    }

    @abstractmethod
    def _grow_by_kernel(
        self, X: Array, reference: Reference, kernel: Kernel, weights: Weights, n_jobs: int
    ) -> ThresholdTree:
        """Return the tree, given the kernel with its bandwidth found."""

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the kernel k-means cost of the clusters that the tree makes of the rows.

        That is the sum of squared distances of the rows to the mean of their cluster, in the kernel's feature space.
        Labels `y` are ignored. Greater is better; 0 is the most.
        """
        tree, rows = self._fitted_tree(), self._rows(X)
        seen = rows if self._map is None else self._map.transform(rows)
        return -kernel_cost(seen, tree.predict(rows), kernel=self.kernel_, sample_weight=sample_weight)

    # ------------------------------------------------------------------------------------------------- steps

    def _unfitted_kernel(self) -> Kernel:
        """Return the kernel with the bandwidth `gamma`, which a kernel that is no name has already."""
        kernel = as_kernel(self.kernel)
        if isinstance(kernel, Precomputed):
            raise DataError(
                "a tree tests columns, which a precomputed kernel does not know; pass the kernel itself, or the "
                "clusters of the precomputed one as labels"
            )
        named = isinstance(self.kernel, str) and isinstance(kernel, (Gaussian, Laplace))
        return replace(kernel, gamma=self.gamma) if named else kernel  # type: ignore[type-var]

    def _unfitted_clusterer(self, rows: Array) -> Any:
        if self.clusterer is not None:
            return self.clusterer
        refuse_number_of_clusters(rows, self.n_clusters)
        kernel = self._unfitted_kernel()
        return KernelKMeans(self.n_clusters, kernel=kernel, random_state=self.random_state, n_jobs=self.n_jobs)

    def _axis_map(self, X: Any) -> AxisMap | None:
        self._map = super()._axis_map(X)  # kept, as the kernel is one of the columns that a pipeline makes
        return self._map

    def _grow(self, X: Array, reference: Reference, weights: Weights, n_jobs: int) -> ThresholdTree:
        self.kernel_ = self._unfitted_kernel().fitted(X)
        return self._grow_by_kernel(X, reference, self.kernel_, weights, n_jobs)

    def _price(self, X: Array, tree: ThresholdTree, reference: Reference, weights: Weights, n_jobs: int) -> float:
        """Return the kernel price, and keep what it must be read with: its ceiling, and how far labels agree."""
        space = KernelSpace(X, self.kernel_, weights, n_jobs)
        predicted = np.where(reference.kept, tree.predict(X, n_jobs=n_jobs), -1)
        cost = space.cost(reference.labels, reference.n_clusters)
        most = space.diagonal if weights is None else weights * space.diagonal
        self.agreement_ = agreement(reference.labels, predicted, sample_weight=weights)
        self.price_ceiling_ = ratio(float(most[reference.kept].sum()), cost)
        return ratio(space.cost(predicted, reference.n_clusters), cost)
