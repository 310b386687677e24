"""Components of a mixture in the boxes of a tree: checks, normal probabilities and moments, samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices
from boxwood.errors import DataError
from boxwood.reference import Mixture
from boxwood.tree import Interval, ThresholdTree

__all__ = ["Pieces", "Reach", "check_mixture", "draw", "has_independent_axes", "reaches"]

Moment: TypeAlias = Callable[[Floats, Floats, Floats, Floats, Floats], Floats]


def check_mixture(mixture: Mixture, tree: ThresholdTree) -> None:
    """Raise a DataError unless the tree speaks of the axes and components of the mixture."""
    k, d = mixture.means.shape
    if tree.n_features > d:
        raise DataError(f"the tree tests column {tree.n_features - 1}, but the mixture has {d} columns")
    last = int(tree.leaf_clusters.max())
    if last >= k:
        raise DataError(f"the tree has a leaf of cluster {last}, but the mixture has {k} components")


def has_independent_axes(mixture: Mixture) -> bool:
    """Return whether all covariances between axes are 0 or not given, so that a box is a product of intervals."""
    if mixture.covariances is None:
        return True
    diagonal = np.eye(mixture.means.shape[1], dtype=bool)
    return not np.any(mixture.covariances[:, ~diagonal])


def draw(mixture: Mixture, n: int, rng: np.random.Generator) -> tuple[Floats, Indices]:
    """Return `n` rows of Gaussians with these parameters and their components, shapes (n, d) and (n,)."""
    labels = rng.choice(len(mixture.weights), size=n, p=mixture.weights)
    X = rng.standard_normal((n, mixture.means.shape[1]))
    if has_independent_axes(mixture):
        X *= np.sqrt(mixture.variances)[labels]
    else:
        for k, root in enumerate(_square_roots(mixture)):
            own = labels == k
            X[own] = X[own] @ root
    X += mixture.means[labels]
    return X, labels


def _square_roots(mixture: Mixture) -> Floats:
    """Return the symmetric roots of the covariances, singular ones too, shape (k, d, d)."""
    values, vectors = np.linalg.eigh(np.asarray(mixture.covariances))
    return np.asarray((vectors * np.sqrt(values.clip(min=0))[:, None, :]) @ vectors.transpose(0, 2, 1))


class Reach(NamedTuple):
    """One leaf seen by the components: its cluster, its intervals, and who falls in it.

    `probability` (k,): that a row of the component falls in the box; `factors` (k, m): that it falls in the intervals
    of each restricted column.
    """

    cluster: int
    pieces: Pieces
    probability: Floats
    factors: Floats


def reaches(mixture: Mixture, tree: ThresholdTree) -> Iterator[Reach]:
    """Yield each leaf of the tree with the exact probabilities of components with independent normal axes.

    Time and memory of a leaf: components times the intervals of the columns on its path.
    """
    sigma = np.sqrt(mixture.variances)
    for box, cluster in zip(tree.boxes(), tree.leaf_clusters.tolist(), strict=True):
        pieces = Pieces.of(box)
        own = pieces.columns[pieces.piece_column]
        factors = pieces.summed(pieces.between(mixture.means[:, own], sigma[:, own]))
        yield Reach(cluster, pieces, factors.prod(axis=1), factors)


class Pieces(NamedTuple):
    """The intervals of one box, side by side: `columns` (m,) are restricted, each to one or more of p pieces.

    ::

        columns        2         7           piece_column  0  1  1
        pieces        [a        [b  [c       starts        0  1

    A box without points has a column with an empty piece.
    """

    columns: Indices
    piece_column: Indices
    lower: Floats
    upper: Floats
    lower_closed: Bools
    upper_closed: Bools

    @classmethod
    def of(cls, box: dict[int, tuple[Interval, ...]]) -> Pieces:
        """Return the intervals of a box of a tree."""
        nothing = (Interval(0.0, 0.0, False, False),)
        rows = [(i, *interval) for i, intervals in enumerate(box.values()) for interval in intervals or nothing]
        table = np.array(rows, dtype=np.float64).reshape(-1, 5).T
        columns = np.array(list(box), dtype=np.intp)
        return cls(columns, table[0].astype(np.intp), table[1], table[2], table[3] > 0, table[4] > 0)

    def summed(self, values: Floats) -> Floats:
        """Return the sums over the pieces of each column, from shape (k, p) to (k, m)."""
        if not len(self.columns):
            return np.empty((len(values), 0))
        return np.add.reduceat(values, np.searchsorted(self.piece_column, np.arange(len(self.columns))), axis=1)

    def ends(self, mean: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """Return both ends of each piece in standard units of normals of shape (..., p), for zero sigma too."""
        low = _standard(self.lower, mean, sigma, np.where(self.lower_closed, -np.inf, np.inf))
        high = _standard(self.upper, mean, sigma, np.where(self.upper_closed, np.inf, -np.inf))
        return low, np.maximum(low, high)

    def between(self, mean: Floats, sigma: Floats) -> Floats:
        """Return the probabilities that normals of shape (..., p) fall in the pieces."""
        return probability_between(*self.ends(mean, sigma))


def _standard(x: Floats, mean: Floats, sigma: Floats, at_mean: Floats) -> Floats:
    """Return (x - mean) / sigma; with zero sigma an end at the mean lies on the side that lets the mean in or out."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = (x - mean) / sigma
    return np.where(np.isnan(z), at_mean, z)


def probability_between(low: Floats, high: Floats) -> Floats:
    """Return P(low < Z < high) for a standard normal Z, without cancellation in the upper tail."""
    from scipy.special import ndtr

    flip = low > 0
    if not np.any(flip):
        return np.asarray(ndtr(high) - ndtr(low))
    return np.asarray(ndtr(np.where(flip, -low, high)) - ndtr(np.where(flip, -high, low)))


def density(z: Floats) -> Floats:
    """Return the standard normal density."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi))


def absolute_moment(low: Floats, high: Floats, mean: Floats, sigma: Floats, center: Floats) -> Floats:
    """Return E[|x - center|; low < (x - mean) / sigma < high] for a normal x."""
    offset = mean - center
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        middle = np.clip(np.nan_to_num(-offset / sigma, nan=0.0, posinf=np.inf, neginf=-np.inf), low, high)
    shares = probability_between(middle, high) - probability_between(low, middle)
    return np.asarray(offset * shares + sigma * (2 * density(middle) - density(low) - density(high)))


def squared_moment(low: Floats, high: Floats, mean: Floats, sigma: Floats, center: Floats) -> Floats:
    """Return E[(x - center)^2; low < (x - mean) / sigma < high] for a normal x."""
    offset, at_low, at_high = mean - center, density(low), density(high)
    edges = _product(low, at_low) - _product(high, at_high)
    share = probability_between(low, high)
    return np.asarray((offset**2 + sigma**2) * share + 2 * offset * sigma * (at_low - at_high) + sigma**2 * edges)


def mean_moment(low: Floats, high: Floats, mean: Floats, sigma: Floats, center: Floats) -> Floats:
    """Return E[x - center; low < (x - mean) / sigma < high] for a normal x."""
    return np.asarray((mean - center) * probability_between(low, high) + sigma * (density(low) - density(high)))


def share_below(low: Floats, high: Floats, mean: Floats, sigma: Floats, x: Floats) -> Floats:
    """Return P(y <= x; low < (y - mean) / sigma < high) for a normal y."""
    return probability_between(low, np.clip(_standard(x, mean, sigma, np.array(np.inf)), low, high))


def density_at(low: Floats, high: Floats, mean: Floats, sigma: Floats, x: Floats) -> Floats:
    """Return the density of a normal y at x, and 0 unless low < (x - mean) / sigma < high."""
    z = _standard(x, mean, sigma, np.array(np.inf))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((z > low) & (z < high), np.nan_to_num(density(z) / sigma), 0.0)


def moments_in(leaf: Reach, mixture: Mixture, kept: Array, moment: Moment, at: Floats) -> Floats:
    """Return a moment of each axis of the kept components, given that their row is in the leaf, shape (kept, d).

    `moment` is one of those above and `at` its last argument, shape (d,). It is 0 where a row cannot be in the leaf.
    """
    means, sigma = mixture.means[kept], np.sqrt(mixture.variances[kept])
    everywhere = np.array(np.inf)
    result = moment(-everywhere, everywhere, means, sigma, at)
    own = leaf.pieces.columns[leaf.pieces.piece_column]
    inside = moment(*leaf.pieces.ends(means[:, own], sigma[:, own]), means[:, own], sigma[:, own], at[own])
    sums, factors = leaf.pieces.summed(inside), leaf.factors[kept]
    result[:, leaf.pieces.columns] = np.divide(sums, factors, out=np.zeros_like(sums), where=factors > 0)
    return result


def _product(z: Floats, at_z: Floats) -> Floats:
    return np.where(np.isfinite(z), z, 0.0) * at_z
