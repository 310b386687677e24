"""What one pass tells of all rows: `Overview`, their number, clusters, ranges and weights; `FewNumbers` of columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy

import numpy as np

from boxwood._types import Array, Bools, Floats
from boxwood._validation import INFINITE_SUM, WholeWeights, list_words, refuse_far_apart
from boxwood.batches.batches import Block
from boxwood.errors import DataError
from boxwood.loops.sums import widen

MANY_NUMBERS = 20  # different whole numbers, at least, that may name things; no more of them are few
NO_NUMBERS = np.empty(0)
FIRST = 1000  # values that show of most columns that they hold more


class MissingValues(DataError):
    """Rows lack values, which nobody has looked for before."""


class Overview:
    """Numbers of rows, ranges by cluster, and weights.

    Attributes
    ----------
    n_rows : int
        Number of all rows.
    sizes : array of shape (k,)
        Number of the rows of each cluster with a weight above 0.
    weight : list of k ExactSum
        Weight of each cluster.
    least, most : arrays of shape (k, d)
        Least and greatest value of each cluster and column that is not missing; infinite for a cluster without any.
    heaviest, lightest : float
        Greatest weight of a row of some cluster, and the least one above 0.
    all_whole : bool
        Whether all weights of rows of clusters are whole numbers.
    missing, infinite : arrays of shape (d,)
        Number of missing and of infinite values of each column, in all rows.
    bad_rows, infinite_rows : int
        Number of rows with missing or infinite values, and of those with infinite ones.
    bad_weights : int
        Number of weights that are missing, infinite or below 0.
    """

    all_whole: bool
    n_rows: int
    sizes: Array
    least: Array
    most: Array
    heaviest: float
    lightest: float
    missing: Array
    infinite: Array
    bad_rows: int
    infinite_rows: int
    bad_weights: int

    def __init__(self, n_clusters: int, n_columns: int) -> None:
        self.n_rows = 0
        self.sizes = np.zeros(n_clusters, dtype=np.int64)
        self.weight: list[ExactSum] = [ExactSum() for _ in range(n_clusters)]
        self.least, self.most = np.full((n_clusters, n_columns), np.inf), np.full((n_clusters, n_columns), -np.inf)
        self.heaviest, self.lightest, self.all_whole = 0.0, np.inf, True
        self.missing, self.infinite = np.zeros(n_columns, dtype=np.int64), np.zeros(n_columns, dtype=np.int64)
        self.bad_rows = self.infinite_rows = self.bad_weights = 0

    @property
    def n_kept(self) -> int:
        """Number of rows with a cluster and a weight above 0."""
        return int(self.sizes.sum())

    def update(self, block: Block) -> None:
        """Add a block of rows."""
        values, labels, weights = block
        self.n_rows += len(labels)
        self._count_bad(values)
        kept = block.kept
        if weights is not None:
            self.bad_weights += int((~np.isfinite(weights) | (weights < 0)).sum())
            labels = np.where(kept, labels, -1)
        widen(values, labels, self.least, self.most)
        self.sizes += np.bincount(labels[kept], minlength=len(self.sizes))
        if weights is None:
            return
        counted = weights[kept]
        self.heaviest = max(self.heaviest, float(counted.max(initial=0.0)))
        self.lightest = min(self.lightest, float(counted.min(initial=np.inf)))
        self.all_whole = self.all_whole and bool((counted == np.floor(counted)).all())
        for c in np.unique(labels[kept]).tolist():
            with _finite_weights():
                self.weight[c].add(weights[labels == c])

    def _count_bad(self, values: Floats) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(values.sum()):
                return
        missing, infinite = np.isnan(values), np.isinf(values)
        self.missing += missing.sum(axis=0)
        self.infinite += infinite.sum(axis=0)
        self.bad_rows += int((missing | infinite).any(axis=1).sum())
        self.infinite_rows += int(infinite.any(axis=1).sum())

    def merge(self, other: Overview) -> None:
        """Add another overview."""
        self.n_rows += other.n_rows
        self.sizes += other.sizes
        self.missing += other.missing
        self.infinite += other.infinite
        self.bad_rows, self.bad_weights = self.bad_rows + other.bad_rows, self.bad_weights + other.bad_weights
        self.infinite_rows += other.infinite_rows
        self.least, self.most = np.minimum(self.least, other.least), np.maximum(self.most, other.most)
        self.heaviest, self.lightest = max(self.heaviest, other.heaviest), min(self.lightest, other.lightest)
        self.all_whole = self.all_whole and other.all_whole
        for mine, theirs in zip(self.weight, other.weight, strict=True):
            with _finite_weights():
                mine.merge(theirs)

    def placed(self, places: Sequence[int], n_clusters: int) -> Overview:
        """Return the overview with other numbers for its clusters: cluster c becomes `places[c]` of `n_clusters`.

        Rows of a cluster whose place is -1 are left out.
        """
        other, at = copy(self), np.array(places, dtype=np.intp)
        kept = np.flatnonzero(at >= 0)
        other.sizes = np.zeros(n_clusters, dtype=np.int64)
        other.least = np.full((n_clusters, self.least.shape[1]), np.inf)
        other.most = -other.least
        other.weight = [ExactSum() for _ in range(n_clusters)]
        for mine, its in ((other.sizes, self.sizes), (other.least, self.least), (other.most, self.most)):
            mine[at[kept]] = its[kept]
        for c in kept.tolist():
            other.weight[places[c]] = self.weight[c]
        return other

    def on_columns(self, columns: Sequence[int]) -> Overview:
        """Return the overview of some columns of rows without missing or infinite values."""
        other, at = copy(self), list(columns)
        other.least, other.most = self.least[:, at], self.most[:, at]
        other.missing, other.infinite = self.missing[at], self.infinite[at]
        return other

    def refuse_unusable(self, columns: Sequence[str], *, may_lack: bool = False) -> None:
        """Raise a DataError if values or weights are missing or infinite, or if every row is left out.

        IN: may_lack: whether values may be missing.
        """
        kinds = (("missing", self.missing, self.bad_rows), ("infinite", self.infinite, self.infinite_rows))
        for what, counts, n_rows in kinds[may_lack:]:
            if counts.any():
                where = [f"{name} ({count:,})" for name, count in zip(columns, counts.tolist(), strict=True) if count]
                kind = MissingValues if what == "missing" else DataError
                raise kind(
                    f"{what} values in {n_rows:,} of {self.n_rows:,} rows: {list_words(where)}\n"
                    "leave those rows or columns out"
                )
        if self.bad_weights:
            raise DataError(f"{self.bad_weights} weights are missing, infinite or negative")
        self.total_weight()
        if self.n_kept == 0:
            raise DataError("every row is left out: give some row a label other than -1 and a weight above 0")
        refuse_far_apart(self.lightest, self.heaviest)

    def total_weight(self) -> float:
        """Return the sum of the weights of the rows of all clusters, rounded once."""
        with _finite_weights():
            return math.fsum(part for each in self.weight for part in each.parts)

    def whole_weights(self) -> WholeWeights:
        """Return how weights become whole numbers, the same as in memory."""
        return WholeWeights.scaling(self.heaviest, math.ldexp(self.total_weight(), -math.frexp(self.heaviest)[1]))


@contextmanager
def _finite_weights() -> Iterator[None]:
    """Refuse weights whose sum is beyond the largest float."""
    try:
        yield
    except OverflowError:
        raise DataError(INFINITE_SUM) from None


class ExactSum:
    """A sum as a few floats that add up to it exactly, from the largest to the smallest (Shewchuk 1997).

    Takes about 30 nanoseconds for each number.

    Examples
    --------
    >>> a, b = ExactSum(), ExactSum()
    >>> a.add([1e100, 1.0])
    >>> b.add([-1e100])
    >>> a.merge(b)
    >>> a.value
    1.0
    """

    def __init__(self) -> None:
        self.parts: list[float] = []

    @property
    def value(self) -> float:
        """The float nearest to the sum."""
        return math.fsum(self.parts)

    def add(self, values: Floats | list[float]) -> None:
        """Add numbers."""
        rest = [*self.parts, *(values if isinstance(values, list) else values.tolist())]
        parts: list[float] = []
        while True:
            part = math.fsum(rest)
            if part == 0.0 or not math.isfinite(part):
                break
            parts.append(part)
            rest.append(-part)
        self.parts = parts

    def merge(self, other: ExactSum) -> None:
        """Add another sum."""
        self.add(other.parts)


def few_among(values: Floats, found: Floats = NO_NUMBERS) -> Floats | None:
    """Return the different numbers among values, and those `found` before; None if they are too many."""
    while len(values) and len(found) <= MANY_NUMBERS:
        found, rest = np.union1d(found, values[:FIRST]), values[FIRST:]
        values = rest[~np.isin(rest, found)] if len(found) <= MANY_NUMBERS else rest
    return found if len(found) <= MANY_NUMBERS else None


class FewNumbers:
    """The different numbers of each column of a table in blocks; None where they are too many."""

    def __init__(self, n_columns: int) -> None:
        self.found: list[Floats | None] = [NO_NUMBERS] * n_columns

    def update(self, j: int, values: Floats) -> None:
        """Add values of a column; NaN is none."""
        found = self.found[j]
        if found is not None:
            self.found[j] = few_among(values[~np.isnan(values)], found)

    def merge(self, other: FewNumbers) -> None:
        """Add the numbers of other rows."""
        for j, found in enumerate(other.found):
            if found is None:
                self.found[j] = None
            else:
                self.update(j, found)

    @property
    def are_few(self) -> Bools:
        """Whether the numbers of each column are few."""
        return np.array([found is not None for found in self.found], dtype=np.bool_)
