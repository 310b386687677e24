"""`gaussian_mixture_by_passes`: a Gaussian mixture of a table in batches, from a start on a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boxwood._threads import one_blas_thread
from boxwood._types import Floats, Indices
from boxwood.clusterers.k_means_passes import first_look
from boxwood.passes.batches import Batches
from boxwood.passes.labelling import Labelling

__all__ = ["COVARIANCES", "LikeliestComponent", "mixture_of_sample"]

COVARIANCES = ("full", "diag")
"""Kinds of covariances of which `LikeliestComponent` finds the densities."""


@dataclass(frozen=True, eq=False)
class LikeliestComponent(Labelling):
    """Each row belongs to its likeliest component of a fitted Gaussian mixture, the first of equally likely ones.

    Each row is computed by itself, so its component does not depend on other rows of its block, as it would with BLAS.

    Parameters
    ----------
    mixture : GaussianMixture
        Fitted, with full or diagonal covariances.
    """

    mixture: Any

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the likeliest component of each row."""
        assert rows is not None
        fitted, columns = self.mixture, np.ascontiguousarray(rows.T)
        components = zip(fitted.weights_, fitted.means_, fitted.precisions_cholesky_, strict=True)
        return np.asarray(
            np.argmax([_log_density(columns, *parameters) for parameters in components], axis=0), dtype=np.intp
        )


def _log_density(columns: Floats, weight: float, mean: Floats, root: Floats) -> Floats:
    """Return the logarithm of a component's weight times its density, but for a constant, shape (n,).

    IN: columns (d, n); root (d, d): root of the inverse of the covariance, or (d,): inverse deviations.
    """
    from boxwood.loops.kernels import products  # here, as most tables are read without it and the compiler

    is_full, gaps = root.ndim == 2, columns - mean[:, None]
    total = np.zeros(columns.shape[1])
    for along in products(root.T, gaps.T) if is_full else gaps * root[:, None]:
        total += along * along  # column by column, as the order of a sum in numpy may depend on the number of rows
    with np.errstate(divide="ignore"):
        offset = np.log(np.diagonal(root) if is_full else root).sum() + np.log(weight)
    return np.asarray(offset - 0.5 * total)


def mixture_of_sample(batches: Batches, n_components: int, n_rows: int, random_state: Any) -> tuple[Any, str]:
    """Return a `GaussianMixture` of scikit-learn, fitted on up to `n_rows` rows from one pass, and a note on them.

    The sample depends on the rows alone, and each row is as likely to be in it as any other. If it holds all rows, the
    note is empty. Weights count as little as in memory, as scikit-learn's mixtures take none; rows of weight 0 are left
    out.

    Raises
    ------
    DataError
        If values are missing or infinite, or if there are fewer different rows than components.
    """
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped,import-not-found,unused-ignore]

    look = first_look(batches, n_components, n_rows)
    rows, n_kept = look.sample.drawn(n_rows).values, look.overview.n_kept
    mixture = GaussianMixture(n_components, random_state=random_state)
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):  # more threads add in an order of their own
        mixture.fit(rows)
    is_all = len(rows) == n_kept
    return mixture, "" if is_all else f"the mixture was fitted on a sample of {len(rows):,} of {n_kept:,} rows"
