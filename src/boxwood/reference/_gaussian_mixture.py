"""What fitted Gaussian mixtures of scikit-learn tell: components with data, and covariances of every type."""

from __future__ import annotations

from typing import Any

import numpy as np

from boxwood._types import Floats, Indices
from boxwood._validation import listed
from boxwood._warnings import warn_caller
from boxwood.errors import DataError

__all__ = ["components_with_data", "covariances_of"]

_NEGLIGIBLE_WEIGHT = 1e-8


def components_with_data(mixture: Any) -> Indices:
    """Return the numbers of the components that have data; warn of the others by their weights."""
    weights = np.asarray(mixture.weights_, dtype=np.float64)
    empty = weights < _NEGLIGIBLE_WEIGHT
    if hasattr(mixture, "mean_precision_prior_"):  # Bayesian: prior plus the rows of each component
        empty |= np.asarray(mixture.mean_precision_) - mixture.mean_precision_prior_ < 1
    if empty.all():
        raise DataError("no component of the mixture has data")
    if empty.any():
        dropped = listed([f"{k} (weight {weights[k]:.1e})" for k in np.flatnonzero(empty)])
        warn_caller(f"components without data are dropped: {dropped}")
    return np.flatnonzero(~empty)


def covariances_of(mixture: Any, d: int) -> tuple[Floats, Floats | None]:
    """Return variances (k, d) and, for the types that have them, covariances (k, d, d)."""
    stored, kind = np.asarray(mixture.covariances_, dtype=np.float64), mixture.covariance_type
    k = len(mixture.weights_)
    if kind in ("full", "tied"):
        if mixture.covariances_.dtype == np.float32:  # float32 rounding breaks symmetry by more than our tolerance
            stored = (stored + stored.swapaxes(-2, -1)) / 2
        covariances = np.broadcast_to(stored, (k, d, d))
        return np.diagonal(covariances, axis1=1, axis2=2), covariances
    return np.broadcast_to(stored if kind == "diag" else stored[:, None], (k, d)), None
