"""Checks of the arrays of a `Mixture`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Bools, Floats
from boxwood._validation import as_numbers, listed
from boxwood.errors import DataError

__all__ = ["as_covariances", "finite_array", "refuse_components"]


def finite_array(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    """Return a copy of finite numbers in an array of this shape, where None is any size above 0."""
    array = np.array(as_numbers(name, values))
    fits = array.ndim == len(shape) and all(
        size > 0 and size == (wanted or size) for size, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        expected = "(k, d)" if None in shape else str(shape)
        raise DataError(f"{name} must have shape {expected}, got {array.shape}")
    if not np.isfinite(array).all():
        raise DataError(f"{name} must be finite, but hold missing or infinite values")
    return array


def refuse_components(wrong: Bools | np.bool_, expected: str) -> None:
    """Raise a DataError with the numbers of the components that are wrong, if any is."""
    if wrong.any():
        raise DataError(f"{expected}; wrong for components {listed([str(k) for k in np.flatnonzero(wrong)])}")


def as_covariances(covariances: ArrayLike, variances: Floats) -> Floats:
    """Return covariances of components, shape (k, d, d): symmetric, with the variances as diagonals."""
    k, d = variances.shape
    array = finite_array("covariances", covariances, (k, d, d))
    scale = np.sqrt(variances[:, :, None]) * np.sqrt(variances[:, None, :])
    refuse_components(
        (np.abs(array - array.transpose(0, 2, 1)) > 1e-8 * scale).any(axis=(1, 2)), "covariances must be symmetric"
    )
    diagonal = np.diagonal(array, axis1=1, axis2=2)
    refuse_components(
        (np.abs(diagonal - variances) > 1e-8 * variances).any(axis=1), "covariances must have the variances as diagonal"
    )
    return array
