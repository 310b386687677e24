"""The agreement of two labellings of the same rows."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_weights
from boxwood.errors import DataError
from boxwood.reference import encode_labels
from boxwood.reference.labels import check_length

SMALL = 6  # columns of a matrix that is matched without scipy
LARGEST_NUMBER = 1e15  # the square of a larger weight, times the square of their number, may leave the floats


class Agreement(NamedTuple):
    """Three measures of the agreement of two labellings, without unit; each is 1 for equal partitions.

    `matched` is the fraction of weight on which the labels agree, under the best one-to-one matching of labels; it is
    above 0. `adjusted_rand` is 0 on average for independent labellings and may be negative. `normalized_mutual_info`
    lies between 0 and 1.
    """

    matched: float
    adjusted_rand: float
    normalized_mutual_info: float


def agreement(labels: Any, predicted: Any, *, sample_weight: ArrayLike | None = None) -> Agreement:
    """Return the agreement of `predicted` with `labels`; names of clusters do not matter.

    Parameters
    ----------
    labels, predicted : array-like of shape (n,)
        Labels of any hashable type. Rows with the number -1 in `labels` are left out; in `predicted`, -1 is a label
        like any other.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row. Whole weights are repeated rows. Others are scaled to a mean of 1, because the adjusted Rand
        index counts pairs of rows.

    Returns
    -------
    Agreement
        `matched`, `adjusted_rand` and `normalized_mutual_info` (mutual information divided by the mean of the two
        entropies). scikit-learn defines the last two in the same way.

    Raises
    ------
    DataError
        If the lengths differ, or every row is left out or has weight 0.

    Notes
    -----
    With a and b labels, takes time n + a b min(a, b) and memory n + a b. If no row is left out, the result is
    symmetric in the two labellings.

    References
    ----------
    L. Hubert, P. Arabie, "Comparing partitions", Journal of Classification 2 (1985), doi:10.1007/BF01908075.

    Examples
    --------
    >>> agreement(["new", "new", "old", "old", -1], [7, 7, 3, 3, 3])
    Agreement(matched=1.0, adjusted_rand=1.0, normalized_mutual_info=1.0)
    >>> agreement([0, 0, 1, 1], [0, 0, 0, 1]).matched
    0.75
    """
    (true, names), (other, other_names) = encode_labels(labels), encode_labels(predicted)
    check_length(true, len(other))
    weights = as_weights(sample_weight, len(true))
    kept = true >= 0 if weights is None else (true >= 0) & (weights > 0)
    if not kept.any():
        raise DataError("every row that is not left out has weight 0")
    kept_weights = None if weights is None else weights[kept]
    if kept_weights is not None and not are_whole(kept_weights):
        kept_weights = as_numbers_of_rows(kept_weights, len(kept_weights))
    # +1: the predicted label -1 becomes column 0
    table = count_pairs(true[kept], other[kept] + 1, (len(names), len(other_names) + 1), kept_weights).astype(
        np.float64
    )
    return agreement_of(table)


def agreement_of(table: Floats) -> Agreement:
    """Return the agreement of two labellings by the weight of the rows with each pair of labels."""
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if ((table > 0).sum(axis=0) == 1).all() and ((table > 0).sum(axis=1) == 1).all():
        return Agreement(1.0, 1.0, 1.0)
    return Agreement(_match_labels(table), adjusted_rand(table), _normalized_mutual_info(table))


def count_pairs(a: Indices, b: Indices, shape: tuple[int, int], weights: Floats | None = None) -> Array:
    """Return the weight of the rows with each pair of labels, or their number: by `a` and by `b`."""
    return np.bincount(a * shape[1] + b, weights, minlength=shape[0] * shape[1]).reshape(shape)


def are_whole(weights: Floats) -> bool:
    """Return whether weights count rows: whether they are whole numbers, none of them huge."""
    return bool((weights == np.floor(weights)).all() and weights.max() <= LARGEST_NUMBER)


def as_numbers_of_rows(weights: Floats, n_rows: int) -> Floats:
    """Return weights scaled so that they add up to a number of rows.

    With a mean of 1 or more for each row, no number of pairs in an adjusted Rand index can be negative; squares of
    large ones overflow.
    """
    scaled = weights / weights.max()  # the sum of large weights may overflow
    return np.asarray(scaled * (n_rows / scaled.sum()))


def best_matching(worth: Array) -> tuple[Indices, Indices]:
    """Return places of a matrix, at most one in each row and column, whose entries add up to most.

    As most trees have a leaf for each cluster, the largest entries of the rows mostly stand in different columns. Where
    each stands alone in its row, too, nothing else adds up to as much. Of a small matrix all ways are tried, as
    loading scipy takes longer than explaining a small table; it chooses where several ways are best.
    """
    best = worth.argmax(axis=1)
    stands_alone = np.count_nonzero(worth == worth.max(axis=1, keepdims=True), axis=1) == 1
    if stands_alone.all() and len(np.unique(best)) == len(best):
        return np.arange(len(best)), best
    n_rows, n_columns = worth.shape
    if n_rows <= n_columns <= SMALL:
        ways = np.array(list(permutations(range(n_columns), n_rows)))
        sums = worth[np.arange(n_rows), ways].sum(axis=1)
        if np.count_nonzero(sums == sums.max()) == 1:
            return np.arange(n_rows), ways[sums.argmax()]
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(worth, maximize=True)
    return rows, columns


def _match_labels(table: Floats) -> float:
    return float(table[best_matching(table)].sum() / table.sum())


def adjusted_rand(table: Floats) -> float:
    """Return the adjusted Rand index, from ordered pairs of rows that share a cluster in both, one or no labelling."""
    n, both = table.sum(), np.square(table).sum()
    first, second = (np.square(table.sum(axis=axis)).sum() for axis in (0, 1))
    in_both, in_one, in_other = both - n, first - both, second - both
    in_none = n * n - first - second + both
    expected = (in_both + in_one) * (in_one + in_none) + (in_both + in_other) * (in_other + in_none)
    if expected == 0:  # one cell has such a huge weight that all others are lost in rounding
        return 1.0
    return float(2 * (in_both * in_none - in_one * in_other) / expected)


def _normalized_mutual_info(table: Floats) -> float:
    fraction = table / table.sum()
    first, second = fraction.sum(axis=1), fraction.sum(axis=0)
    rows, columns = np.nonzero(fraction)
    cells = fraction[rows, columns]
    information = float(np.sum(cells * (np.log(cells) - np.log(first[rows]) - np.log(second[columns]))))
    entropy = float(_entropies(first).sum() + _entropies(second).sum()) / 2
    if entropy == 0:  # as in `adjusted_rand`
        return 1.0
    return min(max(information / entropy, 0.0), 1.0)


def _entropies(shares: Floats) -> Floats:
    """Return -p log(p) of positive shares, with the logarithm of the system, as `scipy.special.entr` has it."""
    return np.array([-p * math.log(p) for p in shares.tolist()])
