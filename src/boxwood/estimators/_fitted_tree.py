"""What a fitted estimator answers: labels of rows, its price, its explanation; computed when first read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from boxwood._frames import is_frame, names_array
from boxwood._types import Array, Indices, Ints, Weights
from boxwood._validation import Rows, listed
from boxwood.errors import DataError
from boxwood.estimators._fits import Fit, NoExplanation, TableReader, digest_of
from boxwood.explanation import Explanation
from boxwood.explanation.ask.names import Names, renamed
from boxwood.explanation.explanation import with_booleans
from boxwood.explanation.measure.measure import measure
from boxwood.grow.grown import Grown
from boxwood.metrics import cost
from boxwood.reference import Reference, Task
from boxwood.reference.clusterer import reference_of
from boxwood.tree import ThresholdTree

__all__ = ["FittedTree"]


class FittedTree(TableReader):
    """An estimator that holds the tree of a fit, and what the tree was measured on until the explanation is read."""

    noise: str

    tree_: ThresholdTree
    reference_: Reference

    _grown: Grown
    _fit: Fit | None
    _explanation: Explanation | None
    _digest: bytes
    _fit_weights: Weights
    _prices: tuple[float, float] | None = None  # the price and its ceiling, once they are known
    _labels: Array | None = None
    _no_explanation = (
        "labels_, price_ and explanation_ are of rows, but the tree was grown from a mixture without rows; use fit(X)"
    )

    def predict(self, X: Any) -> Array:
        """Return the cluster of each row, shape (n,): a label of `y`, or the number that the clusterer gives it.

        Every row has the cluster of its leaf, also where `noise="keep"`: a row alone does not tell that it is noise.
        """
        return self._named(self._fitted_tree().predict(self._tested(X), n_jobs=self._jobs()))

    def apply(self, X: Any) -> Ints:
        """Return the leaf of each row, shape (n,), with leaves numbered from 0 in pre-order."""
        return self._fitted_tree().apply(self._tested(X), n_jobs=self._jobs())

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the cost of rows under the tree, with a minus sign; greater is better, and 0 is the best score.

        The tree gives each row a cluster. The cost is the sum of the rows' distances to the centres of their clusters
        (`cluster_centers_`), each times the weight of its row. Distances are squared Euclidean, or those of the
        estimator's `objective`, as for `price_`. `y` is ignored.
        """
        tree = self._fitted_tree()
        options: dict[str, Any] = {"centers": self.cluster_centers_, "objective": self._grown.objective}
        return -cost(self._rows(X, sample_weight), tree, **options)

    @property
    def explanation_(self) -> Explanation:
        """The tree with its rules, agreement and price on the rows of `fit`; computed when first read."""
        check_is_fitted(self)
        return self._explain_fit() if self._explanation is None else self._explanation

    @property
    def labels_(self) -> Array:
        """Cluster that the tree gives to each row of `fit`, shape (n,); computed when first read."""
        check_is_fitted(self)
        if self._labels is None:
            clusters = self._clusters_of_fit()
            if self.noise == "keep":
                clusters = np.where(self.reference_.kept, clusters, -1)
            self._labels = self._named(clusters)
        return self._labels

    @property
    def price_(self) -> float:
        """Price of explainability on the rows of `fit`; computed when first read."""
        check_is_fitted(self)
        return self._prices_of_fit()[0]

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's picture of the estimator and, if it is fitted, the short form of the report below."""
        html: str = super()._repr_html_inner()
        return html + self._report_below()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what notebooks show: see `_repr_html_inner`."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._report_below()
        return bundle

    def _report_below(self) -> str:
        try:
            return self.explanation_._repr_html_()
        except Exception:  # not fitted, or grown without rows; a representation is never an error
            return ""

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a pickle: it holds the explanation and not the rows of `fit`."""
        if getattr(self, "_fit", None) is not None:
            try:
                self._explain_fit()
            except DataError as error:  # the fit itself is good, so it can be pickled
                with suppress(DataError):
                    self._labels = self.labels_
                with suppress(DataError):
                    self._prices_of_fit()
                self._fit, self._no_explanation = None, str(error)
        state: dict[str, Any] = super().__getstate__()
        return state

    # ------------------------------------------------------------------------------------------------- steps

    def _clusters_of_fit(self) -> Indices:
        """Return the cluster that the tree gives to each row of `fit`.

        This takes about as long as a tree, and costs take as long again. So `fit` leaves both to those who ask.
        """
        if self._fit is None:
            raise NoExplanation(self._no_explanation)
        return self._fit.clusters(self.tree_)

    def _prices_of_fit(self) -> tuple[float, float]:
        """Return the price of the tree on the rows of `fit`, and the highest price that any tree could have."""
        if self._fit is not None and self._fit.task.in_batches:
            self._explain_fit()
        if self._prices is None:
            clusters = self._clusters_of_fit()
            assert self._fit is not None  # otherwise there were no clusters
            self._prices = self._fit.prices(self._grown, clusters)
        return self._prices

    def _explain_fit(self) -> Explanation:
        """Compute and store the explanation, which refers to the rows of `fit`; a digest recognises them later."""
        if self._fit is None:
            raise NoExplanation(self._no_explanation)
        found = self._fit.explained(self._grown, self._booleans)
        if not self._fit.task.in_batches:
            self._labels = self.labels_
        self._explanation, self._prices, self._digest, self._fit_weights = found
        self._fit = None
        return found.explanation

    def _explained(
        self, X: Any, *, columns: Sequence[str] | None, names: Names | None, sample_weight: ArrayLike | None
    ) -> Explanation:
        """Return the explanation by the fitted tree, on the rows of `fit` or on other rows; see `explain`."""
        explanation, X = self.explanation_, self._numbers(X)
        rows = self._rows(X, sample_weight)
        is_of_fit = digest_of(rows) == self._digest
        if is_of_fit and columns is None and names is None and sample_weight is None:
            return explanation
        if columns is not None and is_frame(X):
            raise ValueError("columns cannot be chosen for a tree that is there already; leave columns out")
        if is_of_fit and sample_weight is None:
            rows = Rows(rows.values, self._fit_weights)
        reference = self.reference_ if is_of_fit else self._reference_on(X, rows)
        coordinates = self._coordinates(X, rows).renamed(columns)
        # a tree that is already grown needs no centres
        without_centers = Reference(reference.labels, np.zeros((reference.n_clusters, coordinates.rows.n_columns)))
        clusters = renamed(without_centers.named(reference.names), names)
        explanation = measure(Task.of(coordinates.rows, clusters, n_jobs=self._jobs()), self._grown, coordinates)
        return with_booleans(explanation, self._booleans if columns is None else ())

    def _reference_on(self, X: Any, rows: Rows) -> Reference:
        """Return the clusters that the clusterer predicts for new rows, numbered as in `fit`."""
        clusterer = getattr(self, "clusterer_", None)
        if not hasattr(clusterer, "predict"):
            raise DataError(
                f"{type(self).__name__} was fitted on other rows, and has no clusterer that could predict the clusters "
                "of these rows; explain the rows of its fit"
            )
        reference, names = reference_of(clusterer, X, rows), list(self.reference_.names)
        unknown = [name for name in reference.names if name not in names]
        if unknown:
            new = listed([str(name) for name in unknown])
            raise DataError(f"the clusterer predicts clusters for these rows that it did not find in fit: {new}")
        number = np.array([*(names.index(name) for name in reference.names), -1])
        return Reference(number[reference.labels], self.reference_.centers, self.reference_.names)

    def _fitted_tree(self) -> ThresholdTree:
        check_is_fitted(self)
        return self.tree_

    def _named(self, clusters: Ints) -> Array:
        """Return the label of each cluster; -1 stays the number -1."""
        names = self.reference_.names
        return names_array((*names, -1) if clusters.min() < 0 else names)[clusters]
