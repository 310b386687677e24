"""`FeatureSpace`: the columns of a table, the columns on which a tree is grown, and the map between them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._dates import Dates
from boxwood._frames import as_matrix, column_names, find_labels_in, is_frame, numeric_columns, refuse_unknown_columns
from boxwood._types import Array, Floats, Indices
from boxwood._validation import MappedRows, Rows, as_table, as_weights, list_words, refuse_not_finite
from boxwood.axes import AxisMap, Categories, Scaling, axis_map_of
from boxwood.axes.maps import Chained
from boxwood.axes.mixed import NONE_ALIKE, MixedMap, words_alike
from boxwood.batches.batches import Batches
from boxwood.batches.sums import unit_scaling_of
from boxwood.errors import DataError
from boxwood.reference.budget import Budget
from boxwood.reference.entry import Entry
from boxwood.reference.mixed import CodedColumns
from boxwood.reference.mixture import Mixture
from boxwood.reference.moments import moments_of
from boxwood.reference.scaled import scaled_batches
from boxwood.tree import ThresholdTree
from boxwood.tree.shorten import missing_alone, shorten_thresholds
from boxwood.tree.tree import pull_back


class BesideColumn(NamedTuple):
    """A column that clusters do without: numbers, days of dates, or codes of categories.

    `reason` says why it was left out.
    """

    values: Floats
    categories: Categories | None = None
    dates: Dates | None = None
    reason: str = ""


@dataclass(frozen=True)
class FeatureSpace:
    """A table, and the rows on which trees are grown and measured: rows of the table, or rows that a pipeline makes.

    Parameters
    ----------
    columns : tuple of d str
        Names of the table's columns.
    table_store : Rows or Batches
        The table as numbers; categories are replaced by codes. The final tree cuts these columns.
    store : Rows or Batches
        The same rows, in the columns on which trees are grown and measured.
    axis_map : AxisMap, default=None
        Map from `table` to `rows`; None if they are the same.
    scaling : Scaling, default=None
        Last part of the map, if rows were standardized.
    categories : mapping from column to Categories
        Columns of `table` that hold codes, and their categories.
    notes : tuple of str
        Remarks on the columns, for the reader of the explanation.
    measured : Rows, default=None
        The same rows, in the columns in which costs are measured; None if these are the columns of `rows`.
    gaps : tuple of int
        Columns of `table` that are plus infinity where a number is missing.
    scales : array of shape (d,), default=None
        Factors of the columns of `table`, in which costs are then measured: of numbers as far as they are there, and of
        categories as of their one-hot columns. None measures in `measured`, or in `rows`.
    is_scaled : bool
        Whether columns were brought to one scale.
    entry : Entry, default=None
        How columns enter distances; None if that is said by a map, or if they enter as they are.
    dates : mapping from column to Dates
        Columns of `table` that hold dates, as days.
    beside : mapping from str to BesideColumn
        Columns of the same rows which neither clusters nor rules look at, but which may say what clusters are.
    """

    columns: tuple[str, ...]
    table_store: Rows | Batches
    store: Rows | Batches
    axis_map: AxisMap | None = None
    scaling: Scaling | None = None
    categories: Mapping[int, Categories] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    measured: Rows | None = None
    gaps: tuple[int, ...] = ()
    scales: Floats | None = None
    is_scaled: bool = False
    entry: Entry | None = None
    dates: Mapping[int, Dates] = field(default_factory=dict)
    beside: Mapping[str, BesideColumn] = field(default_factory=dict)

    @classmethod
    def of(
        cls, X: Any, columns: Sequence[str] | None, clustering: Any, sample_weight: ArrayLike | None = None
    ) -> FeatureSpace:
        """Return the coordinates of a table, with `columns` for rules, on the columns that the clustering used.

        The last step of a fitted pipeline uses the columns that the first steps make. If these mix raw columns, the raw
        columns are taken, with a note.
        """
        if not hasattr(clustering, "steps") or len(clustering.steps) < 2:
            return _raw(X, columns, clustering, sample_weight)
        try:
            return _map_features(X, columns, clustering[:-1], sample_weight)
        except DataError as error:
            try:
                raw, empty = _with_values(X, columns)
                notes = (not_made(error), *([f"left out, no values: {list_words(empty)}"] if empty else []))
                return replace(_raw(X, raw, clustering, sample_weight), notes=notes)
            except DataError:
                raise error from None

    @classmethod
    def behind(cls, X: Any, columns: Sequence[str] | None, steps: Any, sample_weight: ArrayLike | None) -> FeatureSpace:
        """Return the coordinates of a table on the columns that the fitted steps of a pipeline make.

        A DataError says that these mix raw columns.
        """
        return _map_features(X, columns, steps, sample_weight)

    @classmethod
    def of_rows(cls, rows: Rows, columns: tuple[str, ...], axis_map: AxisMap | None = None) -> FeatureSpace:
        """Return the coordinates of checked rows, grown on as they are or through a map."""
        return cls(columns, rows, rows if axis_map is None else rows.mapped(axis_map.transform(rows)), axis_map)

    @classmethod
    def mixed(
        cls,
        columns: tuple[str, ...],
        table: Rows,
        labels: Indices,
        *,
        categories: Mapping[int, Categories],
        gaps: tuple[int, ...],
        entry: Entry,
        one_hot: bool = False,
        enough: float = 1.0,
    ) -> FeatureSpace:
        """Return the coordinates of a table of numbers, which may be missing, and of categories; see `MixedMap`.

        IN: labels (n,): cluster of each row, -1 for one that is left out; entry: how columns enter distances; one_hot,
        enough: see `MixedMap`.
        """
        values = np.asarray(table.values, dtype=np.float64)
        how: dict[str, Any] = {"one_hot": one_hot, "enough": enough, "absent": entry.absent}
        how["alike"] = words_alike(values, categories, labels, table.weights)
        axis_map = MixedMap(values, categories, labels, table.weights, entry.scales, entry.tails, **how)
        rows = MappedRows(table, axis_map.transform, axis_map.n_columns)
        kinds: dict[str, Any] = {"categories": categories, "gaps": gaps, "entry": entry}
        return cls(columns, table, rows, axis_map, scales=entry.scales, is_scaled=entry.is_scaled, **kinds)

    @classmethod
    def in_batches(cls, batches: Batches, scaling: Scaling | None = None) -> FeatureSpace:
        """Return the coordinates of a table in batches, whose columns may be scaled for growth."""
        store = batches if scaling is None else scaled_batches(batches, scaling)
        return cls(batches.columns, batches, store, scaling, scaling, is_scaled=scaling is not None)

    @property
    def alike(self) -> Mapping[int, Indices]:
        """Words that growth takes for one word, see `MixedMap`."""
        return self.axis_map.alike if isinstance(self.axis_map, MixedMap) else NONE_ALIKE

    @property
    def coded_columns(self) -> CodedColumns:
        """The columns of categories and with gaps, as the search for better sets takes them."""
        codes = {j: len(known.domain) for j, known in self.categories.items()}
        ordered = {j: known.known for j, known in self.categories.items() if known.ordered}
        return CodedColumns(codes, ordered, self.gaps, self.alike)

    @property
    def table(self) -> Rows:
        """The table in memory; a DataError for one in batches."""
        return self.table_store.in_memory

    @property
    def rows(self) -> Rows:
        """The rows in memory on which trees are grown; a DataError for those in batches."""
        return self.store.in_memory

    def as_measured(self, rows: Indices) -> tuple[Floats, Indices]:
        """Return some rows in the columns in which distances count, and the table's column that each is made of.

        Words are one-hot columns there, and a missing number is the mean of those of these rows.
        """
        if self.entry is None:
            made_of = np.arange(self.rows.n_columns) if self.axis_map is None else np.asarray(self.axis_map.features)
            return np.array(self.rows.take(rows).values, dtype=np.float64), made_of
        table = self.table.take(rows).values
        values, made = self.entry.one_hot(np.where(np.isinf(table), np.nan, table), self.categories)
        return values, np.repeat(np.arange(len(made)), list(map(len, made)))

    def mixture_of_known(self, rows: Rows, labels: Indices, names: Sequence[Hashable]) -> Mixture:
        """Return the mixture of clusters of rows on the columns of growth: each number counts where it is there.

        A cluster that has no number in a column gets the mean and the variance of all clusters there. The columns that
        mark gaps part no means.

        IN: rows, of those on which trees are grown; labels (n,): cluster of each, -1 for one that is left out.
        """
        assert isinstance(self.axis_map, MixedMap)
        moments = moments_of(rows, labels, len(names), None)
        present = np.flatnonzero(moments.weights > 0)
        mixture = Mixture.of_moments(moments, names=[names[c] for c in present.tolist()], clusters=present)
        means, variances = mixture.means.copy(), mixture.variances.copy()
        for j in self.gaps:
            place = int(self.axis_map.starts[j])
            column = Rows(rows.values[:, [place]], rows.weights)
            known = np.where(rows.values[:, place + 1] == 0, labels, -1)
            own, everyone = (
                moments_of(column, known, len(names), None),
                moments_of(column, np.minimum(known, 0), 1, None),
            )
            has_some = own.weights[present, None] > 0
            means[:, [place]] = np.where(has_some, own.means[present], everyone.means)
            variances[:, [place]] = np.where(has_some, own.variances[present], everyone.variances)
            means[:, place + 1] = variances[:, place + 1] = 0.0
        return replace(mixture, means=means, variances=variances)

    def dated(self, dates: Mapping[str, Dates]) -> FeatureSpace:
        """Return the coordinates that know which columns hold dates, by their names."""
        known = {j: dates[name] for j, name in enumerate(self.columns) if name in dates and j not in self.categories}
        return replace(self, dates=known) if known else self

    def renamed(self, columns: Sequence[str] | None) -> FeatureSpace:
        """Return the coordinates with other names of the columns; None keeps the names."""
        return self if columns is None else replace(self, columns=_columns_of_array(len(self.columns), columns))

    def standardized(self) -> FeatureSpace:
        """Return the coordinates with `rows` of mean 0 and variance 1; constant columns are only shifted."""
        return self._through(Scaling(*unit_scaling_of(self.rows.values, self.rows.weights)))

    def entered(self, entry: Entry) -> FeatureSpace:
        """Return the coordinates of numbers with `rows` as they enter clusters that boxwood makes."""
        here = replace(self, entry=entry)
        if entry.tails is not None:
            here = replace(here, store=self.rows.mapped(entry.tails.transform(self.rows)), axis_map=entry.tails)
        return here._through(Scaling(here.rows.values.min(axis=0).astype(np.float64), 1.0 / entry.scales))

    def _through(self, scaling: Scaling) -> FeatureSpace:
        """Return the coordinates with scaled `rows`."""
        whole = scaling if self.axis_map is None else Chained(self.axis_map, scaling)
        rows = self.rows.mapped(scaling.transform(self.rows))
        return replace(self, store=rows, axis_map=whole, scaling=scaling, is_scaled=True)

    def pulled_back(self, tree: ThresholdTree) -> ThresholdTree:
        """Return the tree on the table's columns that labels its rows as `tree` labels the mapped rows."""
        if self.axis_map is None:
            return tree
        if isinstance(self.table_store, Batches):
            return tree.pull_back(self.axis_map)
        return pull_back(tree, self.axis_map, self.table, self.rows.values)

    def budget_of_growth(self, budget: Budget) -> Budget:
        """Return limits of the rules on the columns on which trees are grown."""
        axis_map = self.axis_map
        return budget if axis_map is None else budget.mapped(axis_map.features, axis_map.uncut)

    def shortened(self, tree: ThresholdTree) -> ThresholdTree:
        """Return a tree on the table's columns with short thresholds.

        Cuts of categories are kept: between two codes that occur lie other categories, so a threshold must not move.
        """
        tree = missing_alone(tree, self.table, self.gaps) if self.gaps else tree
        short = shorten_thresholds(tree, self.table, self.dates)
        coded = np.isin(tree.feature, list(self.categories))
        lower, upper = np.where(coded, tree.lower, short.lower), np.where(coded, tree.upper, short.upper)
        return tree.with_thresholds(lower, upper)

    def to_rows(self, mixture: Mixture) -> Mixture:
        """Return the mixture in standardized columns, from a mixture in the columns before standardization."""
        if self.scaling is None:
            return mixture
        shift, scale = self.scaling.shift, self.scaling.scale
        return mixture.rescaled(-shift / scale, 1 / scale)

    def to_table(self, mixture: Mixture) -> Mixture | None:
        """Return the mixture in the table's columns, from a mixture in the mapped columns.

        None if the map is curved, as such a map does not keep Gaussians, or if it reads a column twice. In columns that
        it does not read components are alike.
        """
        if self.axis_map is None:
            return mixture
        affine, read = self.axis_map.affine, self.axis_map.features
        if affine is None or len(set(read.tolist())) < len(read):
            return None
        raw, n_columns = mixture.rescaled(*affine), self.axis_map.n_features
        means, variances = np.zeros((raw.n_components, n_columns)), np.ones((raw.n_components, n_columns))
        means[:, read], variances[:, read] = raw.means, raw.variances
        covariances = None if raw.covariances is None else np.tile(np.eye(n_columns), (raw.n_components, 1, 1))
        if covariances is not None and raw.covariances is not None:
            covariances[:, read[:, None], read] = raw.covariances
        return replace(raw, means=means, variances=variances, covariances=covariances)


def made_by(steps: Any) -> tuple[str, ...]:
    """Return the note that trees are grown on the columns that the steps of a pipeline make, if any makes some."""
    working = [step for _, step in steps.steps if step not in (None, "passthrough")]
    made = ", ".join(type(getattr(step, "estimator", step)).__name__ for step in working)  # or what is frozen
    note = f"cost and price are in the columns that the pipeline computes ({made}), rules in the table's units"
    return (note,) if working else ()


def not_made(error: DataError) -> str:
    """Return the note that trees are grown on raw columns, as those of the pipeline cannot be pulled back to them."""
    return f"{str(error).split(';')[0]}, so the rules use the raw ones, and the price is in raw units"


def default_columns(n_columns: int) -> tuple[str, ...]:
    """Return the names of columns without names: x0, x1, and so on."""
    return tuple(f"x{j}" for j in range(n_columns))


# ------------------------------------------------------------------------------------------------------- reading


def _map_features(X: Any, columns: Sequence[str] | None, steps: Any, sample_weight: ArrayLike | None) -> FeatureSpace:
    axis_map = axis_map_of(steps, X, columns if is_frame(X) else None)
    names = axis_map.columns or _columns_of_array(axis_map.n_features, columns)
    codes = axis_map.codes(X)
    lacking = [j for j in np.flatnonzero(np.isnan(codes).any(axis=0)).tolist() if axis_map.fills(j)]
    refuse_not_finite(np.delete(codes, lacking, axis=1), [name for j, name in enumerate(names) if j not in lacking])
    for j in lacking:
        codes[np.isnan(codes[:, j]), j] = np.inf
    axis_map.gaps = tuple(lacking)
    table = Rows(codes, as_weights(sample_weight, len(codes)))
    rows = table.mapped(axis_map.transform(codes))
    about: dict[str, Any] = {"categories": axis_map.categories, "notes": made_by(steps), "gaps": axis_map.gaps}
    return FeatureSpace(names, table, rows, axis_map, **about)


def _with_values(X: Any, columns: Sequence[str] | None) -> tuple[Sequence[str] | None, list[str]]:
    """Return the columns to use, without those of a frame that hold no value where none were chosen, and these."""
    empty = numeric_columns(X)[1]["no values"] if columns is None and is_frame(X) else []
    return ([name for name in column_names(X) if name not in empty] if empty else columns), empty


def _raw(X: Any, columns: Sequence[str] | None, clustering: Any, sample_weight: ArrayLike | None) -> FeatureSpace:
    names, values = _table(X, columns, clustering)
    weights = X.weights if isinstance(X, Rows) and sample_weight is None else as_weights(sample_weight, len(values))
    rows = Rows(values, weights)
    return FeatureSpace(names, rows, rows)


def _table(X: Any, columns: Sequence[str] | None, clustering: Any) -> tuple[tuple[str, ...], Array]:
    """Return the names of the columns that rules may use, and the rows."""
    label_column = clustering if isinstance(clustering, str) else None
    if is_frame(X):
        names = _columns_of_frame(X, columns, label_column)
        return names, as_table(as_matrix(X, names), names=names)
    find_labels_in(X, label_column)  # refuses the name of a column
    values = as_table(X, names=None if columns is None else [str(name) for name in columns])
    return _columns_of_array(values.shape[1], columns), values


def _columns_of_frame(X: Any, columns: Sequence[str] | None, label_column: str | None) -> tuple[str, ...]:
    present = column_names(X)
    refuse_unknown_columns([label_column] if label_column is not None else [], present)
    wanted = present if columns is None else tuple(columns)
    return tuple(name for name in wanted if name != label_column)


def _columns_of_array(n_columns: int, columns: Sequence[str] | None) -> tuple[str, ...]:
    names = default_columns(n_columns) if columns is None else tuple(map(str, columns))
    if len(names) != n_columns:
        raise DataError(f"columns must have one name for each of {n_columns} columns, got {len(names)}")
    if len(set(names)) < len(names):
        raise DataError("columns must have different names")
    return names
