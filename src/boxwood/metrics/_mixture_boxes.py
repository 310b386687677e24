"""Components of a mixture in the boxes of a tree: normal probabilities and moments; samples of a mixture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from boxwood._types import Array, Bools, Floats, Indices
from boxwood.reference import Mixture
from boxwood.tree import Interval, ThresholdTree

__all__ = [
    "Moment",
    "Pieces",
    "Reach",
    "absolute_moment",
    "density_at",
    "draw",
    "has_independent_axes",
    "mean_moment",
    "moments_in",
    "probability_below",
    "probability_between",
    "reaches",
    "squared_moment",
]

Moment: TypeAlias = Callable[[Floats, Floats, Floats, Floats, Floats], Floats]
"""A moment of a normal variable on a piece: a function of low, high (in standard units), mean, sigma and a point."""


def has_independent_axes(mixture: Mixture) -> bool:
    """Return whether all covariances between axes are 0 or absent, so that probabilities of intervals multiply."""
    if mixture.covariances is None:
        return True
    diagonal = np.eye(mixture.means.shape[1], dtype=bool)
    return not np.any(mixture.covariances[:, ~diagonal])


def draw(mixture: Mixture, n: int, rng: np.random.Generator) -> tuple[Floats, Indices]:
    """Return `n` rows of the mixture, taken as Gaussian, and the component of each row: shapes (n, d) and (n,)."""
    labels = rng.choice(len(mixture.weights), size=n, p=mixture.weights)
    X = rng.standard_normal((n, mixture.means.shape[1]))
    if has_independent_axes(mixture):
        X *= np.sqrt(mixture.variances)[labels]
    else:
        for k, root in enumerate(_square_roots(mixture)):
            rows = labels == k
            X[rows] = X[rows] @ root
    X += mixture.means[labels]
    return X, labels


def _square_roots(mixture: Mixture) -> Floats:
    """Return the symmetric square roots of the covariances, shape (k, d, d); covariances may be singular."""
    values, vectors = np.linalg.eigh(np.asarray(mixture.covariances))
    return np.asarray((vectors * np.sqrt(values.clip(min=0))[:, None, :]) @ vectors.transpose(0, 2, 1))


class Reach(NamedTuple):
    """One leaf: its cluster, its intervals, and the probability of each component to have a row there.

    `probability` (k,) is for the box, `factors` (k, m) for the intervals of each restricted column. The probability of
    the box is the product of its factors.
    """

    cluster: int
    pieces: Pieces
    probability: Floats
    factors: Floats


def reaches(mixture: Mixture, tree: ThresholdTree) -> Iterator[Reach]:
    """Yield each leaf of the tree with its exact probabilities; components have independent normal axes.

    A leaf takes time and memory of components times intervals of the columns on its path.
    """
    sigma = np.sqrt(mixture.variances)
    for box, cluster in zip(tree.boxes(), tree.leaf_clusters.tolist(), strict=True):
        pieces = Pieces.of(box)
        column = pieces.columns[pieces.piece_column]
        factors = pieces.summed(pieces.between(mixture.means[:, column], sigma[:, column]))
        yield Reach(cluster, pieces, factors.prod(axis=1), factors)


class Pieces(NamedTuple):
    """The p intervals of one box, side by side; each of its m restricted columns has one or more of them.

    ::

        columns        2         7
        intervals     [a b]     [c d] [e f]
        piece_column   0         1     1       position in `columns`

    A box without points has a column with an empty interval.
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
        empty = (Interval(0.0, 0.0, False, False),)
        rows = [(i, *interval) for i, intervals in enumerate(box.values()) for interval in intervals or empty]
        table = np.array(rows, dtype=np.float64).reshape(-1, 5).T
        columns = np.array(list(box), dtype=np.intp)
        return cls(columns, table[0].astype(np.intp), table[1], table[2], table[3] > 0, table[4] > 0)

    def column(self, j: int) -> Pieces:
        """Return the intervals of one column; the whole line if the box does not restrict it."""
        here = self.columns[self.piece_column] == j
        if not here.any():
            return Pieces.of({j: (Interval(-np.inf, np.inf, False, False),)})
        ends = (part[here] for part in (self.lower, self.upper, self.lower_closed, self.upper_closed))
        return Pieces(np.array([j], dtype=np.intp), np.zeros(int(here.sum()), dtype=np.intp), *ends)

    def summed(self, values: Floats) -> Floats:
        """Return values of shape (k, p), summed over the intervals of each column: shape (k, m)."""
        if not len(self.columns):
            return np.empty((len(values), 0))
        return np.add.reduceat(values, np.searchsorted(self.piece_column, np.arange(len(self.columns))), axis=1)

    def ends(self, mean: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """Return both ends of each interval in standard units of normals, shape (..., p); sigma may be zero."""
        low = _standard(self.lower, mean, sigma, np.where(self.lower_closed, -np.inf, np.inf))
        high = _standard(self.upper, mean, sigma, np.where(self.upper_closed, np.inf, -np.inf))
        return low, np.maximum(low, high)

    def between(self, mean: Floats, sigma: Floats) -> Floats:
        """Return the probability of each interval for normals of shape (..., p)."""
        return probability_between(*self.ends(mean, sigma))


def _standard(x: Floats, mean: Floats, sigma: Floats, at_mean: Floats) -> Floats:
    """Return (x - mean) / sigma; `at_mean` stands for 0 / 0, where sigma is zero and x the mean.

    With an infinite `at_mean`, the end of an interval lies to the left or to the right of such a mean, so that the
    interval contains the mean or excludes it.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = (x - mean) / sigma
    return np.where(np.isnan(z), at_mean, z)


def probability_between(low: Floats, high: Floats) -> Floats:
    """Return P(low < Z < high) for a standard normal Z; accurate in both tails."""
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
    excess = probability_between(middle, high) - probability_between(low, middle)
    return np.asarray(offset * excess + sigma * (2 * density(middle) - density(low) - density(high)))


def squared_moment(low: Floats, high: Floats, mean: Floats, sigma: Floats, center: Floats) -> Floats:
    """Return E[(x - center)^2; low < (x - mean) / sigma < high] for a normal x."""
    offset, at_low, at_high = mean - center, density(low), density(high)
    edges = _product(low, at_low) - _product(high, at_high)
    probability = probability_between(low, high)
    return np.asarray((offset**2 + sigma**2) * probability + 2 * offset * sigma * (at_low - at_high) + sigma**2 * edges)


def mean_moment(low: Floats, high: Floats, mean: Floats, sigma: Floats, center: Floats) -> Floats:
    """Return E[x - center; low < (x - mean) / sigma < high] for a normal x."""
    return np.asarray((mean - center) * probability_between(low, high) + sigma * (density(low) - density(high)))


def probability_below(low: Floats, high: Floats, mean: Floats, sigma: Floats, x: Floats) -> Floats:
    """Return P(y <= x; low < (y - mean) / sigma < high) for a normal y."""
    return probability_between(low, np.clip(_standard(x, mean, sigma, np.array(np.inf)), low, high))


def density_at(low: Floats, high: Floats, mean: Floats, sigma: Floats, x: Floats) -> Floats:
    """Return the density of a normal y at x, and 0 unless low < (x - mean) / sigma < high."""
    z = _standard(x, mean, sigma, np.array(np.inf))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((z > low) & (z < high), np.nan_to_num(density(z) / sigma), 0.0)


def moments_in(leaf: Reach, mixture: Mixture, kept: Array, moment: Moment, point: Floats) -> Floats:
    """Return a moment of each kept component along each axis, given that its row is in the leaf: shape (kept, d).

    `moment` is one of the functions above and `point` its last argument, shape (d,). The result is 0 for a component
    that has no rows in the leaf.
    """
    means, sigma = mixture.means[kept], np.sqrt(mixture.variances[kept])
    infinity = np.array(np.inf)
    result = moment(-infinity, infinity, means, sigma, point)  # of unrestricted columns
    column = leaf.pieces.columns[leaf.pieces.piece_column]
    mean, deviation = means[:, column], sigma[:, column]
    inside = moment(*leaf.pieces.ends(mean, deviation), mean, deviation, point[column])
    sums, factors = leaf.pieces.summed(inside), leaf.factors[kept]
    result[:, leaf.pieces.columns] = np.divide(sums, factors, out=np.zeros_like(sums), where=factors > 0)
    return result


def _product(z: Floats, at_z: Floats) -> Floats:
    """Return z times a density at z: 0 for infinite z."""
    return np.where(np.isfinite(z), z, 0.0) * at_z
