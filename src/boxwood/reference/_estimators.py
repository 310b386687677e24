"""What fitted clusterers and mixtures of scikit-learn tell: labels of rows, centres, the distance they minimised."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats
from boxwood.errors import DataError

__all__ = ["centers_of", "labels_of", "objective_of"]


def labels_of(estimator: Any, X: Any, n_rows: int) -> ArrayLike:
    """Return the labels that a fitted clusterer, mixture or pipeline gives the rows of `X`: predicted, or `labels_`."""
    if hasattr(estimator, "predict"):
        predicted: ArrayLike = estimator.predict(X)
        return predicted
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    labels: Array | None = getattr(last, "labels_", None)
    if labels is None:
        raise DataError(f"{type(last).__name__} has neither predict nor labels_; fit it first, or pass labels")
    if len(labels) != n_rows:
        raise DataError(f"{type(last).__name__} cannot predict; it was fitted on {len(labels)} rows, X has {n_rows}")
    return labels


def centers_of(estimator: Any, n_columns: int) -> Floats | None:
    """Return the centres of a fitted clusterer, or the means of a mixture, shape (k, d); None if it has none."""
    for name in ("cluster_centers_", "means_"):
        centers = getattr(estimator, name, None)
        if centers is not None and np.ndim(centers) == 2 and np.shape(centers)[1] == n_columns:
            return np.asarray(centers, dtype=np.float64)
    return None


def objective_of(estimator: Any) -> str | None:
    """Return the distance that a clusterer such as `KMedians` minimised; None if it has no attribute `objective`."""
    objective = getattr(estimator, "objective", None)
    return objective if objective in ("l1", "l2", "sqeuclidean") else None
