"""`MixedKMeans`: k-means of numbers and categories, with gaps; `CodedTable`: what users have, as numbers and codes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from boxwood._compat import Interval, fit_context
from boxwood._dates import DATES_AS_TEXT, DOUBTFUL, TIMES
from boxwood._frames import as_matrix, column_names, column_series, is_frame, numeric_columns, refuse_unknown_columns
from boxwood._progress import Progress, silent, tell_progress
from boxwood._threads import BLOCK_ROWS, jobs_of
from boxwood._types import Array, Bools, Floats, Indices, Ints
from boxwood._validation import as_positions, as_weights, cut_off, list_words, real_number, refuse_no_sum, show_value
from boxwood.axes.categories import Categories, is_missing
from boxwood.clusterers._k_medians import BETTER, Cloud, Clustering, alternate, plus_plus, refuse_few, warn_of_few
from boxwood.errors import DataError
from boxwood.loops.costs import SQEUCLIDEAN
from boxwood.loops.mixed import add_potentials, add_rows, nearest
from boxwood.metrics.mixed_costs import mixed_cost, mixed_scales

SETTLED = 100  # the best start goes on to a tolerance so many times smaller


class MixedKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters around means of numbers and shares of categories, whatever is missing: k-means on tables as they are.

    A category costs what its one-hot columns cost, which are never made, and a value that is missing costs nothing. On
    numbers without gaps it is k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    categorical_features : array-like of str, int or bool, default=None
        Columns of categories: names, positions, or one truth for each column. Columns of text, categoricals (with an
        order or without) and enums of a data frame are categories in any case; name here columns of numbers, such as
        codes or years, and of dates. Any numbers may be codes. None takes no column of numbers, so none of an array.
    standardize : bool, default=False
        Whether each column gets variance 1: numbers are divided by their standard deviation, categories by
        sqrt(1 - sum of squared shares), both of the values that are there. Else a number counts by its unit, and two
        categories that differ as much as two numbers that differ by sqrt(2).
    n_init : int, default=10
        Number of starts. The one with the lowest cost is kept; costs that differ by a fraction of 1e-9 count as equal,
        and of equal ones the first is kept.
    max_iter : int, default=300
        Largest number of steps of a start.
    tol : float, default=1e-4
        A start ends with a step that lowers its cost by at most this fraction, and the start that is kept goes on until
        a step lowers it by at most a hundredth of that. With 0 each ends when nothing changes.
    random_state : int, RandomState instance or None, default=None
        Randomness of the first centres; an int gives the same result each time.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all processors. The result
        does not depend on it.

    Attributes
    ----------
    cluster_centers_ : array of shape (k, d)
        Means of the numbers that the rows of each cluster have, in the units of the column, before the last step
        assigned the rows. They are those of `labels_` unless that step moved some, which it does not with ``tol=0`` and
        fewer than `max_iter` steps. Where the rows have none it is the mean of all rows, which costs nothing. NaN for
        categories, as no category is a mean, and for columns without any value.
    category_shares_ : dict
        For each column of categories, by its name in a data frame, else by its position, the shares of its values in
        the clusters, shape (k, m); always holds: each line adds up to 1.
    categories_ : dict
        For the same columns the values that the shares belong to, in ascending order.
    scales_ : array of shape (d,)
        Factor of each column: its costs are multiplied by the square. Ones without `standardize`.
    labels_ : array of shape (n,)
        Cluster of each row of `fit`, always what `predict` gives for it; -1 for a row that lacks everything.
    inertia_ : float
        The cost of `labels_`: the weighted sum of squared distances of what the rows have to the means, and to the
        shares, of their clusters.
    n_iter_ : int
        Number of steps of the start that is kept.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (d,)
        Names of the columns; only there if `fit` was given a data frame whose column names are all text.

    See Also
    --------
    KMedians : Clusters of numbers around medians.

    Notes
    -----
    The distance of a row to a centre is over the columns where the row has a value. A number adds its squared distance
    to the mean, and the value v of a category with shares p adds 1 - 2 p(v) + sum of p squared, which is the squared
    distance of its one-hot columns to their mean. Each step assigns each row to its nearest centre (of equally near
    ones the first), and computes each centre of its rows again. Neither raises the cost, so the steps end in a local
    optimum. The cost is the least of k-means over all ways to fill the gaps, as in k-POD, whose steps fill them one
    after the other.

    A missing category costs nothing either, nor does one that `fit` has not seen. To make missing a value of its own,
    fill it: ``frame.fillna({"country": "missing"})``. Dates are refused; turn them into numbers.

    First centres are rows, drawn with a chance in proportion to their squared distance to the nearest row before them;
    the best of 2 + log k candidates is taken each time. What such a row lacks is filled by the mean of all rows. A
    centre that is nearest to no row moves to the row farthest from its own centre, which lowers the cost; of equally
    far ones to the first by value. Rows are drawn along their order by value, so the result does not depend on the
    order of the rows, and whole weights have the effect of repeated rows. Both statements hold unless rounding decides
    between equal costs.

    A step takes time n d k, whatever the number of values of a category. Extra memory: two copies of the table, 40
    bytes a row, and 8 k bytes for each value of each category. Differences below 1e-160 count as 0, and differences
    above 1e150 are too large.

    References
    ----------
    J. T. Chi, E. C. Chi, R. G. Baraniuk, "k-POD: a method for k-means clustering of missing data", The American
    Statistician 70 (2016), arXiv:1411.7013.

    D. Arthur, S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.

    Examples
    --------
    >>> import pandas as pd
    >>> from boxwood import MixedKMeans
    >>> shop = pd.DataFrame(
    ...     {"country": ["AT", "AT", "CH", "US", "US", None], "orders": [1.0, 2.0, None, 8.0, 9.0, None]}
    ... )
    >>> model = MixedKMeans(2, random_state=0).fit(shop)
    >>> model.labels_
    array([ 0,  0,  0,  1,  1, -1])
    >>> model.cluster_centers_[:, 1], model.categories_["country"], model.category_shares_["country"][0].round(2)
    (array([1.5, 8.5]), ('AT', 'CH', 'US'), array([0.67, 0.33, 0.  ]))
    """

    categories_: dict[int | str, Any]
    category_shares_: dict[int | str, Any]
    n_iter_: int
    scales_: Floats

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "categorical_features": ["array-like", None],
        "standardize": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        categorical_features: Any = None,
        standardize: bool = False,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.categorical_features = categorical_features
        self.standardize = standardize
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Rows: numbers, and categories in a data frame or as numbers. NaN, None and whatever a data frame takes as
            null are missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; whole weights have the effect of repeated rows. None weighs all rows 1.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If `X` has infinite values or columns of dates, fewer rows than `n_clusters`, if every row lacks everything,
            if weights or columns do not fit, or if the cost is beyond the largest float.
        """
        return self._fit(X, sample_weight, silent)

    def _fit(self, X: Any, sample_weight: ArrayLike | None, progress: Progress, scales: Floats | None = None) -> Self:
        """Find the clusters; IN: scales (d,): factors of the columns, in place of those that `standardize` asks for."""
        table = CodedTable.to_fit(self, X, self.categorical_features)
        weights = as_weights(sample_weight, len(table.values))
        refuse_no_sum(weights)
        n_jobs = jobs_of(self.n_jobs)
        if scales is None and self.standardize:
            scales = mixed_scales(table.values, table.categories, weights, n_jobs)
        self._space = _Space.of(table, scales)
        placed = self._space.placed(table.values)
        refuse_few(self.n_clusters, len(placed))
        cloud = self._cloud(placed, _has_value(placed) & (True if weights is None else weights > 0), weights)
        best = self._step_to_the_end(cloud, self._best_start(cloud, progress))
        warn_of_few(self.n_clusters, len(best.centers), "different rows, apart from what they lack")
        self._centers, self.n_iter_ = best.centers, best.n_iter
        self.labels_: Indices = self._nearest(placed)[0]
        self.scales_, self.categories_, self.category_shares_ = self._space.scales, {}, {}
        self.cluster_centers_: Floats = self._space.numbers(best.centers)
        for j, known in table.categories.items():
            name = j if table.names is None else table.names[j]
            self.categories_[name] = known.values
            self.category_shares_[name] = self._space.shares(best.centers, j)
        self.inertia_: float = mixed_cost(table.values, table.categories, self.labels_, weights, self.scales_, n_jobs)
        return self

    def predict(self, X: Any) -> Indices:
        """Return the nearest centre of each row, the first of equally near ones, shape (n,).

        It is -1 for a row that lacks everything. Categories that `fit` has not seen count as missing.
        """
        return self._nearest(self._place_rows(X))[0]

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the weighted sum of squared distances of rows to their nearest centres. Greater is better."""
        costs = self._nearest(self._place_rows(X))[1]
        weights = as_weights(sample_weight, len(costs))
        refuse_no_sum(weights)
        return -float(np.sum(costs if weights is None else costs * weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # ------------------------------------------------------------------------------------------------- steps

    def _place_rows(self, X: Any) -> Floats:
        check_is_fitted(self)
        return self._space.placed(CodedTable.to_predict(self, X, self._space.categories).values)

    def _cloud(self, placed: Floats, kept: Bools | None = None, weights: Floats | None = None) -> _MixedCloud:
        """Return some rows; few rows get one thread, as starting more would take longer."""
        if kept is not None and not kept.all():
            placed, weights = placed[kept], None if weights is None else weights[kept]
        n_jobs = jobs_of(self.n_jobs) if placed.size > BLOCK_ROWS else 1
        return _MixedCloud(placed, weights, SQEUCLIDEAN, n_jobs, self._space)

    def _best_start(self, cloud: _MixedCloud, progress: Progress) -> Clustering:
        """Return the best start. With gaps, a start may find fewer centres that cost nothing where others find more."""
        if not len(cloud.X):
            raise DataError("every row lacks every value, or weighs 0; there is nothing to cluster")
        rng, tol = check_random_state(self.random_state), real_number("tol", self.tol)
        best: Clustering | None = None
        for _ in tell_progress(progress, "starts of clusters", range(self.n_init)):
            start = plus_plus(cloud, self.n_clusters, rng)
            other = alternate(cloud, start, max_iter=self.max_iter, tol=tol)
            more = 1 if best is None else len(other.centers) - len(best.centers)
            if best is None or more > 0 or (more == 0 and other.cost < best.cost * (1 - BETTER)):
                best = other
        assert best is not None  # there is at least one start
        return best

    def _step_to_the_end(self, cloud: _MixedCloud, best: Clustering) -> Clustering:
        """Return the clustering at which the steps from the best start end."""
        steps = self.max_iter - best.n_iter
        settled = alternate(cloud, best.centers, max_iter=steps, tol=real_number("tol", self.tol) / SETTLED)
        return settled._replace(n_iter=best.n_iter + settled.n_iter)

    def _nearest(self, placed: Floats) -> tuple[Indices, Floats]:
        """Return the nearest centre of each row and its squared distance; -1 and 0 for a row without values."""
        labels, costs = self._cloud(placed).nearest(self._centers)
        return np.where(_has_value(placed), labels, -1), costs


def _has_value(placed: Floats) -> Bools:
    return np.asarray(~np.isnan(placed).all(axis=1))


@dataclass(frozen=True, eq=False)
class _Space:
    """The space in which distances are squared differences: shifted and scaled numbers, and shares of codes.

    A centre is a vector of length d + m: its numbers, shifted and scaled, with 0 for columns of codes, and the shares
    of the m codes of all columns.

    Parameters
    ----------
    categories : dict
        Values of each column of categories.
    shift, scales : array of shape (d,)
        What is taken from each number, and the factor of each column.
    first : array of shape (d,)
        The place of a column's first code among all codes; -1 for numbers.
    column : array of shape (m,)
        The column of each code.
    known : array of shape (d,)
        Whether the column had any value in `fit`; values of others do not count.
    """

    categories: dict[int, Categories]
    shift: Floats
    scales: Floats
    first: Ints
    column: Indices
    known: Bools

    @classmethod
    def of(cls, table: CodedTable, scales: Floats | None) -> _Space:
        d = table.values.shape[1]
        sizes = np.array([len(table.categories[j].values) if j in table.categories else 0 for j in range(d)], dtype=int)
        numbers = [j for j in range(d) if j not in table.categories]
        shift = np.zeros(d)
        shift[numbers] = [_middle(table.values[:, j]) for j in numbers]
        known = np.where(np.isnan(shift), False, sizes > 0)
        known[numbers] = ~np.isnan(shift[numbers])
        scales = np.ones(d) if scales is None else scales
        first = np.where(sizes > 0, np.cumsum(sizes) - sizes, -1).astype(np.int64)
        return cls(table.categories, np.nan_to_num(shift), scales, first, np.repeat(np.arange(d), sizes), known)

    def placed(self, values: Floats) -> Floats:
        """Return the rows with shifted and scaled numbers, and with NaN where nothing counts, shape (n, d)."""
        is_number = self.first < 0
        with np.errstate(over="ignore"):
            placed = np.ascontiguousarray(values - self.shift)
            placed *= np.where(is_number, self.scales, 1.0)
        placed[:, ~self.known] = np.nan
        return placed

    def numbers(self, centers: Floats) -> Floats:
        """Return the centres in the units of the columns, shape (k, d); NaN where a column has no means."""
        d = len(self.shift)
        means = centers[:, :d] / self.scales + self.shift
        means[:, (self.first >= 0) | ~self.known] = np.nan
        return means

    def shares(self, centers: Floats, j: int) -> Floats:
        """Return the shares of the codes of a column at each centre, shape (k, m_j)."""
        return centers[:, len(self.shift) :][:, self.column == j]

    def gaps(self, centers: Floats) -> Floats:
        """Return the squared distance of each code to each centre, shape (m, k)."""
        shares = centers[:, len(self.shift) :].T
        squares = np.zeros((len(self.shift), len(centers)))
        np.add.at(squares, self.column, shares**2)
        return np.asarray((1.0 - 2.0 * shares + squares[self.column]) * (self.scales[self.column] ** 2)[:, None])


def _middle(x: Array) -> float:
    """Return a number amid those of a column, which depends neither on their order nor on weights; NaN for none."""
    there = np.unique(x[~np.isnan(x)])
    return float(there[len(there) // 2]) if len(there) else float("nan")


@dataclass(frozen=True, eq=False)
class _MixedCloud(Cloud):
    """Rows that all have weight and some value, and the space that they are in."""

    space: _Space

    @property
    def best_is_costly(self) -> bool:
        """Whether finding the best centres takes much longer than moving nearer to them."""
        return False

    @cached_property
    def order(self) -> Indices:
        """The rows sorted by value, shape (n,); those that lack it come last."""
        return np.lexsort(self.X.T[::-1])

    @cached_property
    def whole(self) -> Floats:
        """The centre of all rows, shape (d + m,)."""
        zeros = np.zeros(len(self.space.shift) + len(self.space.column))
        return np.asarray(self._means(np.zeros(len(self.X), dtype=np.intp), 1, zeros)[0])

    def rows(self, numbers: Indices) -> Floats:
        """Return some rows as centres; what they lack is filled by the centre of all rows."""
        values, d = self.X[numbers], len(self.space.shift)
        centers = np.tile(self.whole, (len(numbers), 1))
        is_number = ~np.isnan(values) & (self.space.first < 0)
        centers[:, :d][is_number] = values[is_number]
        row, column = np.nonzero(~np.isnan(values) & (self.space.first >= 0))
        for i, j in zip(row.tolist(), column.tolist(), strict=True):
            start = d + int(self.space.first[j])
            centers[i, start : start + len(self.space.categories[j].values)] = 0.0
            centers[i, start + int(values[i, j])] = 1.0
        return centers

    def nearest(self, centers: Floats) -> tuple[Indices, Floats]:
        """Return the nearest centre of each row, the first of equally near ones, and its squared distance."""
        labels, costs = np.empty(len(self.X), dtype=np.intp), np.empty(len(self.X))
        first, points, gaps = self._tables(centers)

        def work(start: int, stop: int) -> None:
            nearest(self.X[start:stop], first, points, gaps, labels[start:stop], costs[start:stop])

        self.map_blocks(work)
        return labels, costs

    def lower_to(self, center: Floats, closest: Floats) -> None:
        """Update `closest`, shape (n,), the squared distances to the nearest centre, by one more centre."""
        np.minimum(closest, self.nearest(center[None])[1], out=closest)

    def potentials(self, candidates: Floats, closest: Floats) -> Floats:
        """Return the cost of all rows with each candidate as one more centre, shape (t,)."""
        tables, weights = self._tables(candidates), self.loop_weights

        def work(start: int, stop: int) -> Floats:
            sums, rows = np.zeros(len(candidates)), slice(start, stop)
            add_potentials(self.X[rows], weights[rows], *tables, closest[rows], sums)
            return sums

        return np.asarray(np.sum(self.map_blocks(work), axis=0))

    def best_centers(self, now: Clustering) -> Floats:
        """Return the means of each cluster, shape (k, d + m)."""
        return self._means(now.labels, len(now.centers), self.whole)

    def _tables(self, centers: Floats) -> tuple[Ints, Floats, Floats]:
        """Return where codes begin, the numbers of the centres, and the distances of codes to them, for loops."""
        points = np.ascontiguousarray(centers[:, : len(self.space.shift)].T)
        return self.space.first, points, np.ascontiguousarray(self.space.gaps(centers))

    def _means(self, labels: Indices, k: int, default: Floats) -> Floats:
        """Return the means of what the rows of each cluster have, and `default` where they have nothing."""
        d, m, space = self.X.shape[1], len(self.space.column), self.space

        def work(start: int, stop: int) -> tuple[Floats, Floats, Floats]:
            sums, mass, counts = np.zeros((k, d)), np.zeros((k, d)), np.zeros((m, k))
            rows = slice(start, stop)
            add_rows(self.X[rows], labels[rows], self.loop_weights[rows], space.first, sums, mass, counts)
            return sums, mass, counts

        sums, mass, counts = (np.sum(parts, axis=0) for parts in zip(*self.map_blocks(work), strict=True))
        totals = np.zeros((d, k))
        np.add.at(totals, space.column, counts)
        sums, mass = np.hstack([sums, counts.T]), np.hstack([mass, totals[space.column].T])
        return np.asarray(np.where(mass > 0, sums / np.where(mass > 0, mass, 1.0), default))


class CodedTable(NamedTuple):
    """Numbers and codes, and what the codes mean.

    Parameters
    ----------
    values : array of shape (n, d)
        Finite numbers, codes, and NaN for what is missing or has no code.
    categories : dict
        For each column of codes the values that have one, in the order of the codes.
    names : tuple of str, or None
        Names of the columns of a data frame.
    """

    values: Floats
    categories: dict[int, Categories]
    names: tuple[str, ...] | None

    @classmethod
    def to_fit(cls, estimator: Any, X: Any, categorical: Any) -> CodedTable:
        """Return a table with the categories that it has itself; the estimator stores its columns."""
        values, texts, names = _read(estimator, X, categorical, reset=True)
        of_texts = {j: Categories(_sort_values(column), others=False) for j, column in texts.items()}
        numbers = set(_positions(categorical, values.shape[1], names)) - set(texts)  # none in a data frame
        of_numbers = {j: Categories(tuple(np.unique(_present(values[:, j])).tolist()), others=False) for j in numbers}
        categories = dict(sorted({**of_texts, **of_numbers}.items()))
        return cls(_encode_table(values, texts, categories), categories, names)

    @classmethod
    def to_predict(cls, estimator: Any, X: Any, categories: Mapping[int, Categories]) -> CodedTable:
        """Return a table with given categories; the estimator compares the columns with those that it stores."""
        values, texts, names = _read(estimator, X, list(categories), reset=False)
        worded = [j for j, known in categories.items() if j not in texts and not known.are_numbers]
        if worded:
            raise DataError(
                f"X must be a data frame, as in fit: columns {list_words(list(map(str, worded)))} were text there"
            )
        numbers = [show_value(names[j]) for j in texts if names is not None and j not in categories]
        if numbers:
            raise DataError(f"columns that were numbers in fit are not now: {list_words(numbers)}")
        return cls(_encode_table(values, texts, categories), dict(categories), names)


def _read(
    estimator: Any, X: Any, categorical: Any, *, reset: bool
) -> tuple[Floats, dict[int, list[Any]], tuple[str, ...] | None]:
    """Return the numbers of a table, the columns of categories of a data frame, and its names."""
    if np.ma.is_masked(X):
        raise DataError("X is a masked array with masked values; fill them: X.filled(numpy.nan)")
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        names = column_names(X)
        values, texts = _columns(X, names, _positions(categorical, len(names), names))
    else:
        checks: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": False}
        try:
            values, texts, names = validate_data(estimator, X, reset=reset, **checks), {}, None
        except OverflowError as error:
            raise DataError(f"X must be numeric: {cut_off(str(error))}") from None
    if 0 in values.shape:
        raise DataError(f"X must have at least one row and one column; got shape {values.shape}")
    _refuse_infinite(values, names)
    return values, texts, names


def _columns(frame: Any, names: tuple[str, ...], chosen: Sequence[int]) -> tuple[Floats, dict[int, list[Any]]]:
    """Return the columns of numbers of a frame, and those of categories as lists; NaN stands in place of these."""
    numeric, others = numeric_columns(frame)
    wanted = {names[j] for j in chosen}
    dates = [name for name in (*others[DATES_AS_TEXT], *others[DOUBTFUL], *others[TIMES]) if name not in wanted]
    if dates:
        raise DataError(
            f"columns of texts like dates, or of times: {list_words(dates)}; leave them out, turn them into "
            "numbers, or "
            "name them in categorical_features"
        )
    wanted |= set(others["text"])
    texts = {j: _list_values(column_series(frame, name), name) for j, name in enumerate(names) if name in wanted}
    values = np.full((len(column_series(frame, names[0])) if names else 0, len(names)), np.nan)
    for j, name in enumerate(names):
        if name in numeric and name not in wanted:
            values[:, j] = as_matrix(frame, [name])[:, 0]
    return values, texts


def _list_values(series: Any, name: str) -> list[Any]:
    """Return the values of a column that can be told apart, with None for those that are missing."""
    values = [None if is_missing(value) else value for value in series.to_list()]
    for value in values:
        if not isinstance(value, Hashable):
            raise DataError(
                f"column {show_value(name)} holds {type(value).__name__}s, which are not categories; leave it out"
            )
    return values


def _positions(categorical: Any, n_columns: int, names: tuple[str, ...] | None) -> list[int]:
    """Return the positions of columns that are given by names, by positions, or as one truth for each column."""
    if categorical is None:
        return []
    given = np.asarray(categorical)
    if given.dtype.kind in "OU" and given.size:
        wanted = [str(name) for name in given.ravel().tolist()]
        if names is None:
            raise DataError(
                f"categorical_features names {list_words(wanted)}, but X is not a data frame; give positions"
            )
        refuse_unknown_columns(wanted, names)
        return [names.index(name) for name in wanted]
    if given.dtype == np.bool_ and given.shape == (n_columns,):
        return [int(j) for j in np.flatnonzero(given)]
    return sorted(set(as_positions("categorical_features", categorical, n_columns).tolist()))


def _sort_values(values: Sequence[Any]) -> tuple[Hashable, ...]:
    """Return the different values that are there, in an order that does not depend on that of the rows."""
    different = set(values) - {None}
    try:
        return tuple(sorted(different))
    except TypeError:  # of several types
        return tuple(sorted(different, key=lambda value: (type(value).__name__, str(value))))


def _encode_table(values: Floats, texts: Mapping[int, list[Any]], categories: Mapping[int, Categories]) -> Floats:
    """Return the table with codes in its columns of categories."""
    coded = values.copy() if categories else values
    for j, known in categories.items():
        coded[:, j] = known.codes(texts[j]) if j in texts else _codes_of_numbers(values[:, j], known)
    return coded


def _codes_of_numbers(x: Floats, known: Categories) -> Floats:
    keys = np.array([*known.values, np.nan], dtype=np.float64)
    index = np.searchsorted(keys[:-1], x)
    return np.where(keys[index] == x, index, np.nan)


def _present(x: Array) -> Array:
    return x[~np.isnan(x)]


def _refuse_infinite(values: Floats, names: tuple[str, ...] | None) -> None:
    infinite = np.flatnonzero(np.isinf(values).any(axis=0))
    if len(infinite):
        columns = [names[j] if names is not None else f"column {j}" for j in infinite]
        raise DataError(f"infinite values in {list_words(columns)}; replace them or leave those rows out")
