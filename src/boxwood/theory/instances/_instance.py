"""`Instance`: a mixture from a paper's proof, rows drawn from it, and the exact numbers it must satisfy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Floats, Indices
from boxwood._validation import as_generator
from boxwood.metrics._mixture_boxes import draw
from boxwood.reference import Mixture

__all__ = ["Atoms", "Instance", "need"]


class Atoms(NamedTuple):
    """All rows that a discrete mixture can give: rows (m, d), their probabilities (m,) and components (m,)."""

    points: Floats
    probabilities: Floats
    labels: Indices


@dataclass(frozen=True)
class Instance:
    """A mixture, rows drawn from it, and exact numbers.

    Attributes
    ----------
    mixture : Mixture
        Its weights, means and variances. The components need not be Gaussian.
    exact : mapping from str to float
        Exact quantities; each generator names its own.
    deviation : float or None
        For the discrete instances, the probability eps of each deviation; None for Gaussians.
    """

    mixture: Mixture
    exact: Mapping[str, float]
    deviation: float | None = field(default=None)

    def sample(self, n: int, random_state: Any = None) -> tuple[Floats, Indices]:
        """Return `n` rows and the components they came from, shapes (n, d) and (n,)."""
        rng = as_generator(random_state)
        if self.deviation is None:
            return draw(self.mixture, n, rng)
        labels = rng.choice(len(self.mixture.weights), size=n, p=self.mixture.weights)
        X = self.mixture.means[labels]
        place = np.floor(rng.random(n) / self.deviation)  # axis and sign in turn, or beyond the last: no deviation
        off = np.flatnonzero(place < 2 * X.shape[1])
        which = place[off].astype(np.intp)
        X[off, which // 2] += 1.0 - 2.0 * (which % 2)
        return X, labels

    def atoms(self) -> Atoms:
        """Return all rows of a discrete instance; takes memory k (2 d + 1) d.

        Raises
        ------
        ValueError
            If the components are Gaussian.
        """
        if self.deviation is None:
            raise ValueError("Gaussian components have no atoms; use sample")
        (k, d), eps = self.mixture.means.shape, self.deviation
        moves = np.concatenate([np.zeros((1, d)), np.eye(d), -np.eye(d)])
        chances = np.concatenate([[max(0.0, 1 - 2 * d * eps)], np.full(2 * d, eps)])
        points = (self.mixture.means[:, None] + moves).reshape(-1, d)
        return Atoms(points, np.outer(self.mixture.weights, chances).ravel(), np.repeat(np.arange(k), len(moves)))


def need(fits: bool, message: str) -> None:
    """Raise a ValueError of this message unless the parameters of an instance fit."""
    if not fits:
        raise ValueError(message)
