"""Nyström features: a kernel approximated by its values with a few landmark rows, and the error of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import one_blas_thread
from boxwood._types import Array, Floats
from boxwood._validation import as_table
from boxwood.kernels._by_name import as_kernel
from boxwood.kernels._kernel import Kernel

__all__ = ["ApproximationError", "Nystroem"]

_PAIRS = 1000


class ApproximationError(NamedTuple):
    """Mean absolute error of an approximated kernel: of rows with themselves, and of pairs of rows."""

    diagonal: float
    pairs: float


@dataclass(frozen=True, eq=False, repr=False)
class Nystroem:
    """Features whose inner products approximate a kernel, exactly between landmark rows.

    As scikit-learn's `Nystroem`, for the kernels of boxwood, whose values are computed in tiles.

    Parameters
    ----------
    kernel : Kernel
        A kernel whose bandwidth is a number.
    landmarks : array of shape (m, d)
        Rows that represent all rows.
    normalization : array of shape (m, m)
        The root of the inverse of the landmarks' Gram matrix. The features of a row are its values with the landmarks
        times the transpose of this matrix.

    References
    ----------
    C. K. I. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS 2000.

    Examples
    --------
    >>> from boxwood.kernels import Gaussian
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> features = Nystroem.of(Gaussian("scale"), X, 10, random_state=0)
    >>> features.transform(X).shape, features.error(X).pairs < 1e-3
    ((50, 10), True)
    """

    kernel: Kernel
    landmarks: Array
    normalization: Floats

    @classmethod
    def of(cls, kernel: Kernel | str, X: ArrayLike, n_components: int, *, random_state: Any = None) -> Nystroem:
        """Return the features of `n_components` landmarks, drawn without replacement from the rows of `X`.

        Takes time m² (m + d) for m landmarks. A bandwidth that is a rule is made a number from all of `X`.

        Raises
        ------
        ValueError
            If there are more landmarks than rows, or the kernel is not known to be positive definite, such as
            `Precomputed`.
        """
        from sklearn.utils import check_random_state

        table = as_table(X)
        resolved = as_kernel(kernel).fitted(table)
        if not 1 <= n_components <= len(table):
            raise ValueError(f"n_components must be from 1 to the number of rows, {len(table)}; got {n_components}")
        if not resolved.positive_definite:
            raise ValueError(f"landmarks need a positive definite kernel of rows, not {resolved!r}")
        chosen = check_random_state(random_state).choice(len(table), n_components, replace=False)
        landmarks = table[np.sort(chosen)]
        with one_blas_thread():
            values, vectors = np.linalg.eigh(resolved(landmarks))
            # directions without weight among the landmarks are left out, as they would only magnify rounding
            kept = values > values.max() * len(values) * np.finfo(np.float64).eps
            root = np.where(kept, 1 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
            return cls(resolved, landmarks, (vectors * root) @ vectors.T)

    def transform(self, X: ArrayLike, *, n_jobs: int | None = -1) -> Floats:
        """Return the features of rows, shape (n, m), in time n m (d + m)."""
        return self.kernel.gram(X, self.landmarks).product(self.normalization.T, n_jobs=n_jobs)

    def error(self, X: ArrayLike, *, random_state: Any = 0) -> ApproximationError:
        """Return the error of inner products of features, over 1000 rows of `X` (or all) and 1000 pairs of rows."""
        from sklearn.utils import check_random_state

        table, random = as_table(X), check_random_state(random_state)
        rows = table if len(table) <= _PAIRS else table[random.choice(len(table), _PAIRS, replace=False)]
        first, second = table[random.randint(len(table), size=(2, _PAIRS))]
        return ApproximationError(
            float(np.abs(self.kernel.diagonal(rows) - self._inner(rows, rows)).mean()),
            float(np.abs(np.diagonal(self.kernel(first, second)) - self._inner(first, second)).mean()),
        )

    def _inner(self, X: Array, Y: Array) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", self.transform(X), self.transform(Y)))
