"""The pairs of clusters that concepts separate, and by how much."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Indices
from boxwood.errors import DataError
from boxwood.reference import Mixture

__all__ = ["PairGap", "concept_names", "pair_gaps", "unseparated_pairs"]


class PairGap(NamedTuple):
    """Two clusters, the concept that holds them farthest apart, and how far, in standard deviations."""

    first: Hashable
    second: Hashable
    concept: str
    gap: float

    def __str__(self) -> str:
        return (
            f"add a concept that tells {self.first} from {self.second}: the best so far, {self.concept}, "
            f"holds them {self.gap:.2g} standard deviations apart"
        )


def unseparated_pairs(
    scores: Mixture, names: Sequence[str] | None = None, *, least_gap: float = 2.0, pooling: str = "max"
) -> tuple[PairGap, ...]:
    """Return the pairs of clusters that no concept separates, the worst first.

    Parameters
    ----------
    scores : Mixture
        Clusters along concepts, from `project` or from the scores of labelled rows.
    names : sequence of m str, default=None
        Names of the concepts.
    least_gap : float, default=2.0
        Standard deviations that the means of two clusters must be apart on some concept. A cut in the middle of a gap
        of 2 puts 16% of the rows of Gaussian clusters on the wrong side, of 4 it is 2%.
    pooling : {"max", "weighted"}, default="max"
        How the variances of the clusters become one; see `Mixture.pooled_variances`.

    Returns
    -------
    tuple of PairGap
        Each of which prints as advice.

    Examples
    --------
    >>> scores = Mixture([1, 1, 1], [[0], [9], [10]], [[1], [1], [1]], ["frog", "horse", "deer"])
    >>> print(*unseparated_pairs(scores, ["striped"]))
    add a concept that tells horse from deer: the best so far, striped, holds them 1 standard deviations apart
    """
    found = concept_names(scores, names)
    pairs, gaps = pair_gaps(scores, pooling)
    best = gaps.max(axis=1, initial=0.0)
    return tuple(
        PairGap(scores.names[pairs[p, 0]], scores.names[pairs[p, 1]], found[int(gaps[p].argmax())], float(best[p]))
        for p in np.argsort(best, kind="stable")
        if best[p] < least_gap
    )


def pair_gaps(scores: Mixture, pooling: str) -> tuple[Indices, Floats]:
    """Return the pairs of components, shape (p, 2), and their distances along each axis in standard deviations (p, m).

    Distances are infinite along an axis without variance, and 0 for equal means.
    """
    pairs = np.array(list(combinations(range(scores.n_components), 2)), dtype=np.intp).reshape(-1, 2)
    apart = np.abs(scores.means[pairs[:, 0]] - scores.means[pairs[:, 1]])
    deviations = np.sqrt(scores.pooled_variances(pooling))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return pairs, np.where(apart > 0, apart / deviations, 0.0)


def concept_names(scores: Mixture, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return a name for each axis of a mixture of scores."""
    if names is None:
        return tuple(f"concept{j}" for j in range(scores.n_features))
    if len(names) != scores.n_features:
        raise DataError(f"{scores.n_features} concepts need as many names, got {len(names)}")
    return tuple(map(str, names))
