"""`Reference`: the clustering to be explained, and its equal centres, which no cut separates."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._messages import warn_caller
from boxwood._threads import map_blocks
from boxwood._types import Bools, Floats, Indices
from boxwood._validation import (
    Rows,
    as_positions,
    as_table,
    list_words,
    refuse_other_kind,
    refuse_unknown,
    refuse_unscanned,
    show_value,
)
from boxwood.batches.labelling import Labelling
from boxwood.errors import DataError
from boxwood.reference.labels import (
    ONE_EACH,
    Names,
    centers_of,
    count_missing,
    encode_labels,
    named_clusters,
    objective_of,
)
from boxwood.reference.moments import Moments, MomentsOfRows, moments_of
from boxwood.reference.of_fit import labels_by

if TYPE_CHECKING:
    from boxwood.reference.reference_batches import Measured


@dataclass(frozen=True, eq=False, repr=False)
class Reference:
    """A clustering to be explained: the cluster of each row, a centre for each cluster, and the clusters' names.

    Parameters
    ----------
    labels : array-like of shape (n,), or Labelling
        Cluster of each row, a whole number from 0 to k - 1; -1 leaves the row out (noise). For a table in batches, what
        gives each of its rows its cluster, such as `boxwood.batches.NearestCenters(centers)`.
    centers : array-like of shape (k, d)
        Centre of each cluster. A cluster may have no row.
    names : sequence of k hashables, or mapping from cluster to name, default=None
        Name of each cluster; None names them by their numbers.
    best_for : str, default=None
        Distance ("l1", "l2" or "sqeuclidean") that these centres minimise, if a clusterer found them for it; None if
        that is not known.
    moments : Moments, default=None
        Moments of the rows of each cluster, if they are known. `of` computes them for the means, so that
        `Mixture.of_moments` need not read the rows again.
    measured : Measured, default=None
        What is known of the clusters of a table in batches, so that no pass is made twice; `of` fills it in.

    Raises
    ------
    DataError
        If a label has no centre, centres are not finite, or there is not one name for each cluster.

    Examples
    --------
    >>> reference = Reference.of([[0.0], [2.0], [9.0]], ["near", "near", "far"])
    >>> reference.names, reference.labels, reference.centers.ravel()
    (('far', 'near'), array([1, 1, 0]), array([9., 1.]))
    """

    labels: Indices
    centers: Floats
    names: tuple[Hashable, ...] = None  # type: ignore[assignment]
    moments: Moments | None = field(default=None, kw_only=True)
    best_for: str | None = field(default=None, kw_only=True)
    measured: Measured | None = field(default=None, kw_only=True)

    if TYPE_CHECKING:  # what the attributes are made of

        def __init__(
            self,
            labels: ArrayLike | Labelling,
            centers: ArrayLike,
            names: Names | None = None,
            *,
            moments: Moments | None = None,
            best_for: str | None = None,
            measured: Measured | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.moments is not None:
            refuse_other_kind("moments", self.moments, Moments, "leave them out, or take Moments.of(X, labels)")
        centers = np.array(as_table(self.centers), dtype=np.float64)
        centers.flags.writeable = False
        object.__setattr__(self, "centers", centers)
        if not self.in_batches:
            object.__setattr__(self, "labels", _as_codes(self.labels, len(centers)))
        object.__setattr__(self, "names", named_clusters(range(len(centers)), self.names))

    @property
    def in_batches(self) -> bool:
        """Whether it is a clustering of a table in batches, so that `labels` is a labelling and no array."""
        return isinstance(self.labels, Labelling)

    @property
    def labelling(self) -> Labelling:
        """What gives each row of a table in batches its cluster."""
        assert isinstance(self.labels, Labelling)
        return self.labels

    @property
    def n_clusters(self) -> int:
        """Number of clusters, those without rows included."""
        return len(self.centers)

    @property
    def kept(self) -> Bools:
        """Whether each row belongs to a cluster, shape (n,)."""
        kept: Bools = labels_given(self) >= 0
        return kept

    @classmethod
    def of(
        cls, X: Any, labels: Any, *, center: str = "mean", names: Names | None = None, sample_weight: Any = None
    ) -> Reference:
        """Return the clustering of the rows of `X` by `labels` of any hashable type; -1 leaves a row out, as text, too.

        A missing label is the same as -1. Clusters are numbered in ascending order of their labels, and their names are
        the labels. `names` maps labels to other names. `center` is "mean" or "median" (by coordinate). The mean takes
        three passes, the median sorts each column. If `X` is `Rows`, whose values do not change, the third pass waits
        until the moments are asked for.

        If `X` is a table in batches, `labels` and `sample_weight` are names of its columns, and the rows are all other
        columns of numbers and booleans. That takes one pass for labels and ranges, and one for the means, or one to
        three for medians. Both are those of the rows in memory to the last bit.

        Raises
        ------
        DataError
            If there is no such column, labels in a table in batches are more than 10 000, no row is kept, or values are
            missing.
        """
        from boxwood.batches import Source
        from boxwood.reference.reference_batches import reference_by_column

        refuse_unscanned(X)
        if isinstance(X, Source):
            return reference_by_column(X, labels, center=center, names=names, sample_weight=sample_weight)
        rows = Rows.of(X, sample_weight)
        codes, cluster_labels = encode_labels(labels)
        codes.flags.writeable = False  # so that it need not be copied
        if len(codes) != len(rows):
            raise DataError(f"X has {len(rows)} rows, but there are {len(codes)} labels; {ONE_EACH}")
        if not cluster_labels:
            raise DataError("every row is left out: all labels are -1 or missing")
        refuse_unknown("center", center, ("mean", "median"))
        named = named_clusters(cluster_labels, names)
        if center == "median":
            return cls(codes, _medians(rows, codes, named), named)
        means, moments = _means(rows, codes, named, later=rows is X)
        return cls(codes, means, named, moments=moments)

    @classmethod
    def nearest(cls, X: Any, centers: ArrayLike, *, names: Names | None = None) -> Reference:
        """Return the clustering of the rows of `X` by the nearest of some centres, the first of equally near ones.

        Parameters
        ----------
        X : array-like of shape (n, d), or a table in batches
            Rows. For a table in batches no row is read.
        centers : array-like of shape (k, d)
            Centre of each cluster; distances are Euclidean.
        names : sequence of k hashables, or mapping from cluster to name, default=None
            Name of each cluster; None names them by their numbers.

        Raises
        ------
        DataError
            If rows and centres do not have the same columns, or hold missing or infinite values.

        Examples
        --------
        >>> Reference.nearest([[0.0], [2.0], [9.0]], [[1.0], [8.0]], names=["near", "far"]).labels
        array([0, 0, 1])
        """
        from boxwood.batches import NearestCenters, Source
        from boxwood.batches.batches import rows_of

        refuse_unscanned(X)
        points = np.array(as_table(centers), dtype=np.float64)
        nearest, d = NearestCenters(points), points.shape[1]
        if isinstance(X, Source):
            if (n_columns := rows_of(X).n_columns) < d:
                raise DataError(f"the centres have {d} columns, but {X.name} has {n_columns} of numbers")
            return cls(nearest, points, names)
        rows = Rows.of(X)
        if rows.n_columns != d:
            raise DataError(f"X has {rows.n_columns} columns, but the centres have {d}")
        labels = map_blocks(lambda start, stop: nearest.codes(rows.values[start:stop], None), len(rows))
        return cls(np.concatenate(labels), points, names)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, rows: Rows | None = None, sample_weight: ArrayLike | None = None
    ) -> Reference:
        """Return the clustering of the rows of `X` by a fitted clusterer, mixture, or pipeline that ends in one.

        Labels are `estimator.predict(X)`, or `estimator.labels_` if it cannot predict; a negative label leaves a row
        out. Centres are `cluster_centers_` or `means_` if they have as many columns as `X`, and the clusters' means
        otherwise. `rows` are the rows of `X`, if they are checked already.

        Raises
        ------
        DataError
            If the estimator was evidently fitted on other columns, such as scaled ones.
        """
        checked = Rows.of(X, sample_weight) if rows is None else Rows.of(rows)
        labels = labels_by(estimator, X, len(checked))
        if labels.dtype.kind in "iu":
            labels = np.where(labels < 0, -1, labels)
            centers = centers_of(estimator, checked.n_columns)
            if centers is not None and labels.max(initial=-1) < len(centers):
                return cls(labels, centers, best_for=objective_of(estimator))
        return cls.of(checked, labels)

    def of_rows(self, rows: Indices) -> Reference:
        """Return the clustering of some of the rows, with the same centres and names."""
        labels = labels_given(self)
        return Reference(labels[as_positions("rows", rows, len(labels))], self.centers, self.names)

    def with_centers(self, centers: ArrayLike, *, best_for: str | None = None) -> Reference:
        """Return the clustering with other centres, shape (k, d)."""
        return Reference(self.labels, centers, self.names, best_for=best_for, measured=self.measured)

    def named(self, names: Names) -> Reference:
        """Return the clustering with other names: one for each cluster, or a mapping from some names to new ones."""
        return replace(self, names=named_clusters(self.names, names))

    def distinct_clusters(self, duplicates: str = "error") -> Indices:
        """Return for each cluster the first one with the same centre, if all centres differ or may be merged.

        See `with_distinct_centers`.
        """
        return distinct(self.names, self.centers, duplicates)

    def with_distinct_centers(self, duplicates: str = "error") -> Reference:
        """Return the clustering if all centres differ, because no cut separates equal centres.

        With `duplicates="merge"` clusters of equal centres are merged into the first of them, with a warning: their
        rows get the number of the first cluster. The later clusters keep their number, name and centre, and have no
        rows.

        Raises
        ------
        DataError
            If centres are equal and `duplicates` is "error".
        """
        first = self.distinct_clusters(duplicates)
        if (first == np.arange(self.n_clusters)).all():
            return self
        return Reference(np.where(self.kept, first[self.labels], -1), self.centers, self.names)

    @cached_property
    def equal_pair(self) -> str:
        """Names of two clusters with equal centres, such as "a and b"; empty if all centres differ."""
        return two_equal(self.names, self.centers)

    def first_of_equal_centers(self) -> Indices:
        """Return for each cluster the first cluster that has the same centre, shape (k,)."""
        return first_of_equal(self.centers)

    def __reduce__(self) -> tuple[Callable[..., Reference], tuple[Any, ...]]:
        make = partial(Reference, moments=self.moments, best_for=self.best_for)
        return make, (self.labels, self.centers, self.names)  # through the constructor, so that a copy is frozen

    def __repr__(self) -> str:
        rows = "in batches" if self.in_batches else f"n_rows={len(self.labels)}"
        return f"Reference(n_clusters={self.n_clusters}, {rows}, n_columns={self.centers.shape[1]})"


def refuse_one_cluster(reference: Reference, labels: Any = None) -> None:
    """Raise a DataError unless at least two clusters have rows; IN: labels: those that were given, if some were."""
    n_noise, *rows_of = np.bincount(reference.labels + 1, minlength=1).tolist()
    n_noise -= 0 if labels is None else count_missing(labels)
    refuse_one_name([name for name, n in zip(reference.names, rows_of, strict=False) if n], n_noise)


def refuse_one_name(present: Sequence[Hashable], n_noise: int = 0) -> None:
    """Raise a DataError unless these are the names of at least two clusters; IN: n_noise: rows labelled -1."""
    if len(present) >= 2:
        return
    one = f"only one cluster, {show_value(present[0])}" if present else "no cluster at all"
    if n_noise:
        rows = "the one row labelled -1 counts" if n_noise == 1 else f"the {n_noise:,} rows labelled -1 count"
        raise DataError(f"the labels hold {one}, as {rows} as noise; rename -1 to explain it")
    raise DataError(f"the labels hold {one}; a tree separates clusters, so give at least two")


def refuse_no_reference(reference: object) -> None:
    """Raise a TypeError, which says how to make one, unless the argument is a Reference of rows in memory."""
    refuse_other_kind("reference", reference, Reference, "make one: boxwood.Reference.of(X, labels)")
    labels_given(reference)


def are_labels(clustering: Any) -> bool:
    """Return whether what is given as a clustering is a label for each row, or the name of a column of labels."""
    first = clustering[0] if isinstance(clustering, (list, tuple)) and len(clustering) else None
    return not isinstance(clustering, Reference) and getattr(clustering, "ndim", 1) == 1 and not isinstance(first, list)


def labels_given(reference: Any) -> Any:
    """Return the labels of a Reference of rows in memory, or labels as they are given."""
    if not isinstance(reference, Reference):
        return reference
    if reference.in_batches:
        raise TypeError(
            "the reference is one of a table in batches, but the rows are in memory; make one of these: "
            "boxwood.Reference.of(X, labels)"
        )
    return reference.labels


def _as_codes(given: Any, k: int) -> Indices:
    """Return labels as a frozen array of whole numbers from -1 to k - 1."""
    labels = np.asarray(given)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise DataError(f"labels must be whole numbers, one for each row; got {labels.dtype}, shape {labels.shape}")
    is_frozen = labels.dtype == np.intp and labels.base is None and not labels.flags.writeable
    labels = labels if is_frozen else labels.astype(np.intp)
    low, high = (int(labels.min()), int(labels.max())) if labels.size else (0, -1)
    if low < -1 or high >= k:
        raise DataError(f"labels must be from -1 to {k - 1} for {k} centres, got {low} to {high}")
    labels.flags.writeable = False
    return labels


def _means(rows: Rows, codes: Indices, names: Sequence[Hashable], *, later: bool) -> tuple[Floats, Moments]:
    """Return the mean of each cluster, shape (k, d), and the moments of its rows, the squares at once or later."""
    moments = (MomentsOfRows if later else moments_of)(rows, codes, len(names), n_jobs=-1)
    _refuse_empty(names, moments.weights > 0)
    return moments.means, moments


def _refuse_empty(names: Sequence[Hashable], weighs: Bools) -> None:
    if not weighs.all():
        empty = list_words([str(name) for name, some in zip(names, weighs.tolist(), strict=True) if not some])
        raise DataError(f"clusters without weight: {empty}; leave their rows out (label -1), or weigh some of them")


def _medians(rows: Rows, codes: Indices, names: Sequence[Hashable]) -> Floats:
    """Return the median of each cluster and column, shape (k, d)."""
    from boxwood.loops.costs import L1
    from boxwood.reference.centers import find_centers, without_weightless

    medians = find_centers(rows.values, without_weightless(codes, rows.weights), len(names), L1, rows.weights).base
    _refuse_empty(names, np.isfinite(medians[:, 0]))
    return medians


# -------------------------------------------------------------------------------------------------------- equal centres


def first_of_equal(centers: Floats) -> Indices:
    """Return for each cluster the first cluster that has the same centre, shape (k,)."""
    first: dict[bytes, int] = {}
    return np.array([first.setdefault(center.tobytes(), c) for c, center in enumerate(centers + 0.0)], dtype=np.intp)


def distinct(names: Sequence[Hashable], centers: Floats, duplicates: str) -> Indices:
    """Return for each cluster the first one with the same centre, if all centres differ or may be merged.

    With `duplicates="merge"` clusters of equal centres count as the first of them, with a warning.

    Raises
    ------
    DataError
        If centres are equal and `duplicates` is "error".
    """
    refuse_unknown("duplicates", duplicates, ("error", "merge"))
    first = first_of_equal(centers)
    later = np.flatnonzero(first != np.arange(len(first)))
    if len(later) == 0:
        return first
    pairs = list_words([f"{names[int(first[c])]} and {names[int(c)]}" for c in later])
    if duplicates == "error":
        raise DataError(
            f"clusters with equal centres, which no cut separates: {pairs}; give them one label, use CART "
            "(method 'auto' or 'cart' of explain), or merge them (duplicates='merge' of grow.imm and grow.greedy)"
        )
    warn_caller(f"clusters with equal centres are merged into the first of them: {pairs}")
    return first


def two_equal(names: Sequence[Hashable], centers: Floats) -> str:
    """Return the names of two clusters with equal centres, such as "a and b"; an empty text if there are none."""
    return _first_pair(names, np.arange(len(centers)), first_of_equal(centers))


def alike_without(names: Sequence[Hashable], centers: Floats, columns: Sequence[int]) -> str:
    """Return the names of two clusters whose centres differ only in some columns; an empty text if there are none."""
    hidden = centers.copy()
    hidden[:, list(columns)] = 0.0
    return _first_pair(names, first_of_equal(centers), first_of_equal(hidden))


def refuse_alike_centers(pair: str, method: str) -> None:
    """Raise a DataError if columns that no cut may test are all that tells two centres apart; see `alike_without`."""
    if pair:
        raise DataError(
            f"clusters {pair} have equal centres in the columns that rules may test, so method {method!r} cannot "
            "separate them; allow a column in which they differ, or use 'auto' or 'cart'"
        )


def _first_pair(names: Sequence[Hashable], first: Indices, merged: Indices) -> str:
    later = np.flatnonzero(first != merged)
    if len(later) == 0:
        return ""
    return f"{names[int(merged[later[0]])]} and {names[int(later[0])]}"
