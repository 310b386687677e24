"""`unseparated_pairs`: the pairs of clusters that no concept separates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from boxwood._types import Floats, Indices
from boxwood._validation import real_number
from boxwood.errors import DataError
from boxwood.reference import Mixture
from boxwood.reference._mixture import refuse_no_mixture

__all__ = ["PairGap", "concept_names", "pair_gaps", "unseparated_pairs"]


def unseparated_pairs(
    scores: Mixture, names: Sequence[str] | None = None, *, least_gap: float = 2.0, pooling: str = "max"
) -> tuple[PairGap, ...]:
    """Return the pairs of clusters that no concept separates, the worst pair first.

    Parameters
    ----------
    scores : Mixture
        Clusters along m concepts: the result of `project`, or a mixture made of the scores of labelled rows.
    names : sequence of m str, default=None
        Names of the concepts; None names them concept0, concept1, ….
    least_gap : float, default=2.0
        A concept separates two clusters if their means along it differ by at least this many standard deviations. If
        the clusters are Gaussian, a cut halfway puts 16% of their rows on the wrong side at a gap of 2, and 2% at 4.
    pooling : {"max", "weighted"}, default="max"
        How the variances of the clusters become one; see `Mixture.pooled_variances`.

    Returns
    -------
    tuple of PairGap
        Clusters `first` and `second`, the `concept` along which they differ most, and their `gap` along it in standard
        deviations. `print` of one shows advice.

    Raises
    ------
    DataError
        If there is not one name for each concept.

    Examples
    --------
    >>> scores = Mixture([1, 1, 1], [[0], [9], [10]], [[1], [1], [1]], ["frog", "horse", "deer"])
    >>> print(*unseparated_pairs(scores, ["striped"]))
    add a concept that separates horse from deer: along striped, the best so far, they differ by 1 standard deviations
    """
    least_gap = real_number("least_gap", least_gap)
    names = concept_names(scores, names)
    pairs, gaps = pair_gaps(scores, pooling)
    largest = gaps.max(axis=1, initial=0.0)
    unseparated = [p for p in np.argsort(largest, kind="stable") if largest[p] < least_gap]
    return tuple(
        PairGap(scores.names[pairs[p, 0]], scores.names[pairs[p, 1]], names[gaps[p].argmax()], float(largest[p]))
        for p in unseparated
    )


class PairGap(NamedTuple):
    """Two clusters, the concept along which their means differ most, and by how many standard deviations."""

    first: Hashable
    second: Hashable
    concept: str
    gap: float

    def __str__(self) -> str:
        return (
            f"add a concept that separates {self.first} from {self.second}: along {self.concept}, the best so far, "
            f"they differ by {self.gap:.2g} standard deviations"
        )


def pair_gaps(scores: Mixture, pooling: str) -> tuple[Indices, Floats]:
    """Return the pairs of components, shape (p, 2), and their gaps along each concept, shape (p, m).

    A gap is the difference of the means in standard deviations: 0 if the means are equal, infinite if they differ along
    a concept without variance.
    """
    pairs = np.array(list(combinations(range(scores.n_components), 2)), dtype=np.intp).reshape(-1, 2)
    differences = np.abs(scores.means[pairs[:, 0]] - scores.means[pairs[:, 1]])
    deviations = np.sqrt(scores.pooled_variances(pooling))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return pairs, np.where(differences > 0, differences / deviations, 0.0)


def concept_names(scores: Mixture, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return a name for each concept, concept0, concept1, … if there are none."""
    refuse_no_mixture(scores)
    if names is None:
        return tuple(f"concept{j}" for j in range(scores.n_features))
    if len(names) != scores.n_features:
        raise DataError(f"names must be one for each of {scores.n_features} concepts, got {len(names)}")
    return tuple(map(str, names))
