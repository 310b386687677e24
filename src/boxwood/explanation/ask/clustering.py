"""The clustering that `explain` is given or makes, its names, and notes on it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._frames import column_values, label_values
from boxwood._imports import require
from boxwood._messages import Quoting
from boxwood._types import Floats, Indices
from boxwood._validation import Rows, list_words, show_value
from boxwood.batches import Batches, Labelling, NearestCenters
from boxwood.batches.labelling import MadeClusters, MissingLabels
from boxwood.batches.overview import MissingValues
from boxwood.batches.sample import drawn_rows, order_of_content
from boxwood.errors import DataError
from boxwood.explanation.ask.how_many import SHOWN, Number
from boxwood.reference import Reference
from boxwood.reference.clusterer import fitted_clusterer, is_fitted, last_step, mixture_of, reference_in, reference_of
from boxwood.reference.feature_space import default_columns
from boxwood.reference.labels import Names, by_size, centers_of, count_missing, plain_names
from boxwood.reference.of_fit import LOOKED_AT, refuse_far_rows
from boxwood.reference.reference import refuse_one_cluster
from boxwood.reference.reference_batches import labelled_by
from boxwood.words.notes import lack_groups
from boxwood.words.rules import DOUBT
from boxwood.words.values import cluster_name, column_name

if TYPE_CHECKING:
    from boxwood.reference import Mixture
    from boxwood.reference.feature_space import FeatureSpace


def given_to(clusterer: Any, was_fitted: bool, X: Any, stages: tuple[FeatureSpace, FeatureSpace]) -> Any:
    """Return the rows as a clusterer was given them; None if these are the rows on which trees are grown.

    A pipeline reads the table; so does a clusterer that was fitted before on other columns than the rules use, or on
    columns that were not standardized.
    """
    unscaled, coordinates = stages
    names = getattr(clusterer, "feature_names_in_", coordinates.columns)
    if hasattr(clusterer, "steps") or list(names) != list(coordinates.columns):
        return X
    return unscaled.rows.values if was_fitted and coordinates.scaling is not None else None


def clustering_of(
    clustering: Any, X: Any, stages: tuple[FeatureSpace, FeatureSpace], n_clusters: int | None, random_state: Any
) -> tuple[Reference, Mixture | None, Any]:
    """Return the clustering, its Gaussians if it is the clustering of a mixture, and the fitted clusterer if any.

    `stages` are the coordinates of the rows before they are standardized, and after; `n_clusters` is for k-means.
    """
    labels = None
    if clustering is None or hasattr(clustering, "fit"):
        reference, mixture, clustering = _of_clusterer(clustering, X, stages, n_clusters, random_state)
    elif isinstance(clustering, Reference):
        reference, mixture = _with_scaled_centers(clustering, stages[1]), None
    else:
        labels = label_values(column_values(X, clustering) if isinstance(clustering, str) else clustering)
        reference, mixture = Reference.of(stages[1].rows, labels), None
    refuse_one_cluster(reference, labels)
    return reference, mixture, clustering


def refuse_number(n_clusters: int | None) -> None:
    """Raise a ValueError if a number of clusters is asked for where these are given."""
    if n_clusters is not None:
        raise ValueError(
            f"n_clusters={show_value(n_clusters)} is for k-means, but the clusters are given; leave one of the two out"
        )


def _of_clusterer(
    clusterer: Any, X: Any, stages: tuple[FeatureSpace, FeatureSpace], n_clusters: int | None, random_state: Any
) -> tuple[Reference, Mixture | None, Any]:
    """Return the clustering by a clusterer, its Gaussians if it is a mixture, and the clusterer, fitted by now."""
    coordinates = stages[1]
    if is_fitted(clusterer):
        seen = stages[0].rows if hasattr(clusterer, "steps") else coordinates.table
        reference = _in_rows(clusterer, reference_of(clusterer, X, seen), stages)
        mixture = _mixture_of(clusterer, reference, stages)
        return reference, None if mixture is None else coordinates.to_rows(mixture), clusterer
    if clusterer is None:
        fitted = _k_means_in_any_order(coordinates.rows, n_clusters, random_state)
        return Reference.of(coordinates.rows, by_size(fitted.labels_, coordinates.rows.weights)), None, fitted
    fitted = fitted_clusterer(clusterer, X, coordinates.rows, n_clusters=n_clusters, random_state=random_state)
    reference = reference_of(fitted, X, coordinates.rows)
    return reference, mixture_of(fitted, reference, coordinates.columns), fitted


def _k_means_in_any_order(rows: Rows, n_clusters: int | None, random_state: Any) -> Any:
    """Return k-means of rows, the same in whatever order they stand: it draws starts by the places of rows."""
    order = order_of_content(rows.values, rows.weights)
    fitted = fitted_clusterer(None, None, rows.take(order), n_clusters=n_clusters, random_state=random_state)
    fitted.labels_ = fitted.labels_[np.argsort(order)]
    return fitted


def _mixture_of(clusterer: Any, reference: Reference, stages: tuple[FeatureSpace, FeatureSpace]) -> Mixture | None:
    """Return the Gaussians of a fitted mixture in the unscaled columns of growth: for the last step of a pipeline those
    that its other steps make. None for other clusterers, and where trees grow on other columns.
    """
    if not hasattr(clusterer, "steps"):
        return mixture_of(clusterer, reference, stages[1].columns)
    if len(clusterer.steps) > 1 and stages[0].axis_map is None:
        return None
    last = last_step(clusterer)
    made = default_columns(stages[0].rows.n_columns)
    return mixture_of(last, reference, getattr(last, "feature_names_in_", made))


def _in_rows(clusterer: Any, reference: Reference, stages: tuple[FeatureSpace, FeatureSpace]) -> Reference:
    """Return a clustering of the table by a fitted clusterer, with centres in the columns on which trees are grown."""
    unscaled, coordinates = stages
    if hasattr(clusterer, "steps"):
        if unscaled.axis_map is not None:
            reference = reference_in(clusterer, unscaled.rows, reference)
    elif list(getattr(clusterer, "feature_names_in_", coordinates.columns)) != list(coordinates.columns):
        names = {c: reference.names[c] for c in np.unique(reference.labels[reference.kept]).tolist()}
        return Reference.of(coordinates.rows, reference.labels, names=names)
    return _with_scaled_centers(reference, coordinates)


def _with_scaled_centers(reference: Reference, coordinates: FeatureSpace) -> Reference:
    """Return a clustering with centres in the columns on which trees are grown; other centres are refused later."""
    if coordinates.scaling is None or reference.centers.shape[1] != coordinates.rows.n_columns:
        return reference
    return reference.with_centers(coordinates.scaling.transform(reference.centers))


@dataclass(frozen=True, eq=False)
class PredictedLabels(Labelling):
    """Each row belongs to the cluster that a fitted clusterer predicts for it; a negative one leaves it out.

    Parameters
    ----------
    clusterer : object
        Has `predict`, which takes rows of numbers, shape (n, d).
    """

    clusterer: Any

    def codes(self, rows: Floats | None, column: Any) -> Indices:
        """Return the predicted cluster of each row."""
        assert rows is not None
        if len(rows) == 0:
            return np.empty(0, dtype=np.intp)
        if np.isnan(rows).any():
            raise MissingValues(f"{type(self.clusterer).__name__} is asked about rows with missing values")
        found = np.asarray(self.clusterer.predict(_as_fitted(self.clusterer, rows)))
        return np.asarray(np.maximum(found, -1), dtype=np.intp)


def _as_fitted(clusterer: Any, rows: Floats) -> Any:
    """Return rows with the names of columns if the clusterer was fitted with names; it would warn without them."""
    names = getattr(clusterer, "feature_names_in_", None)
    if names is None:
        return rows
    pd = require("pandas", "pandas", "A clusterer that was fitted with names of columns")
    return pd.DataFrame(rows, columns=list(names))


def label_column_of(clustering: Any) -> str | None:
    """Return the name of the column that holds the labels, if a column does."""
    if isinstance(clustering, Reference) and clustering.in_batches:
        return clustering.labelling.column_read
    return clustering if isinstance(clustering, str) else None


def labelling_of_made(made: Any, reference: Reference, here: FeatureSpace) -> MadeClusters:
    """Return what gives other rows of a table the clusters that were made of some of them; see `MadeClusters`.

    IN: made: the clusterer, as it was fitted; reference: the clusters of its rows; here: these rows. A row that lacks a
    number belongs to no cluster if none of these rows lacks one.
    """
    kept, d = reference.kept, len(here.columns)
    number_of = np.zeros(reference.n_clusters, dtype=np.intp)
    number_of[made.labels_[kept]] = reference.labels[kept]
    if here.scales is not None:
        return MadeClusters(partial(_number_clusters, number_of, made.predict), d, reference.n_clusters)
    centers = np.empty_like(made.cluster_centers_)
    centers[number_of] = made.cluster_centers_
    to_rows = None if here.axis_map is None else here.axis_map.transform
    return MadeClusters(partial(_nearest, NearestCenters(centers), to_rows), d, reference.n_clusters)


def _number_clusters(number_of: Indices, predict: Callable[[Floats], Indices], rows: Floats) -> Indices:
    return np.append(number_of, -1)[predict(rows)]


def _nearest(centers: NearestCenters, to_rows: Callable[[Floats], Floats] | None, table: Floats) -> Indices:
    labels, known = np.full(len(table), -1, dtype=np.intp), ~np.isnan(table).any(axis=1)
    if known.any():
        rows = table[known] if to_rows is None else to_rows(table[known])
        labels[known] = centers.codes(np.ascontiguousarray(rows), None)
    return labels


def clustering_of_table(batches: Batches, clustering: Any) -> Reference:
    """Return a clustering that was given, of the rows of a source.

    Raises
    ------
    DataError
        If the clustering needs all rows in memory, or does not fit the columns.
    """
    if isinstance(clustering, Reference):
        return clustering
    if isinstance(clustering, str):
        return labelled_by(batches, clustering)
    if hasattr(clustering, "fit"):
        return _of_clusterer_in_batches(batches, clustering)
    centers = np.asarray(clustering)
    if centers.ndim != 2 or centers.dtype.kind not in "biuf":
        raise DataError(
            f"the rows of {batches.source.name} are read in batches, so their labels must be a column of it: give the "
            f"column's name, centres of shape (k, {batches.n_columns}) or a fitted clusterer; got "
            f"{show_value(clustering)}"
        )
    if centers.shape[1] != batches.n_columns:
        raise DataError(f"centres have {centers.shape[1]} columns, but the rows have {_columns(batches)}")
    return Reference(NearestCenters(np.asarray(centers, dtype=np.float64)), centers)


def _columns(batches: Batches) -> str:
    return f"{batches.n_columns} ({list_words(batches.columns)})"


def _of_clusterer_in_batches(batches: Batches, clusterer: Any) -> Reference:
    """Return the clustering by a fitted clusterer: by its centres if rows belong to the nearest one."""
    from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans

    from boxwood.clusterers.k_means_batches import COVARIANCES, LikeliestComponent

    last, kind = last_step(clusterer), type(clusterer).__name__
    instead = "add its labels to the table as a column, and give the column's name"
    if hasattr(clusterer, "steps"):
        raise DataError(f"a pipeline needs all rows in memory; {instead}")
    if not is_fitted(clusterer):
        raise DataError(f"{kind} is not fitted, and needs all rows in memory; fit it on a sample first")
    if not hasattr(last, "predict"):
        raise DataError(f"{kind} cannot predict, so it labels no rows in batches; {instead}")
    names = list(getattr(last, "feature_names_in_", batches.columns))
    if names != list(batches.columns):
        raise DataError(
            f"{kind} was fitted on the columns {list_words(names)}, but the rows have {_columns(batches)}; "
            "name those of the fit (columns)"
        )
    centers = centers_of(last, batches.n_columns)
    if centers is None:
        raise DataError(f"{kind} has no centres with {_columns(batches)} columns; {instead}")
    some = drawn_rows(batches, LOOKED_AT).values
    refuse_far_rows(last, some[~np.isnan(some).any(axis=1)], instead)
    if isinstance(last, (KMeans, MiniBatchKMeans)) and not isinstance(last, BisectingKMeans):
        return Reference(NearestCenters(centers), centers)
    if getattr(last, "covariance_type", None) in COVARIANCES:
        return Reference(LikeliestComponent(last), centers)
    return Reference(PredictedLabels(last), centers)


MANY = 20  # numbers that are labels of so many clusters, and do not count them, may be a measurement
FEW_OF_EACH = 3  # rows of a label, of many, that are too few for a cluster


def notes_on_clustering(
    clustering: Any, ends: Floats, columns: Sequence[str], names: Sequence[Hashable], *, scaled: bool, n_rows: int
) -> tuple[str, ...]:
    """Return notes on what a clustering was given, or k-means: ranges and labels.

    IN: ends (2, d): least and greatest value of each column; names: of the clusters; scaled: whether columns were
    standardized for the clustering; n_rows: number of rows.
    """
    made_here = clustering is None
    notes: tuple[str, ...] = ()
    if not scaled and (made_here or sees_distances(clustering)):
        notes += _notes_on_ranges(columns, ends, clustering)
    return notes if made_here else (*notes, *_notes_on_labels(names, clustering, n_rows))


def notes_on_number(number: Number, columns: Sequence[str]) -> tuple[str, ...]:
    """Return notes on the number of clusters that are made, and on the columns that count in them."""
    if number.weights is None or lack_groups(number.notes):
        return number.notes
    shown = [name for name, weight in zip(columns, number.weights.tolist(), strict=True) if weight >= SHOWN]
    if len(shown) == len(columns):
        return number.notes
    return (*number.notes, f"groups show in {len(shown)} of {len(columns)} columns: {list_words(shown)}")


def _notes_on_labels(names: Sequence[Hashable], clustering: Any, n_rows: int) -> tuple[str, ...]:
    """Return a note that asks whether labels are a measurement.

    So are more than 20 numbers that do not count from 0 or 1, or have few rows each, as numbers of persons have.
    """
    k = len(names)
    numbers = [name for name in names if isinstance(name, (int, float)) and not isinstance(name, bool)]
    counted = sorted(numbers) in (list(range(k)), list(range(1, k + 1))) and n_rows >= FEW_OF_EACH * k
    given = isinstance(clustering, Reference) or hasattr(clustering, "fit")
    if k <= MANY or len(numbers) < k or counted or given:
        return ()
    what = clustering if isinstance(clustering, str) else "this"
    return (f"{k} labels that are numbers, from {min(numbers)} to {max(numbers)}: is {what} {DOUBT}",)


def notes_on_labels_of(X: Any, clustering: Any) -> tuple[str, ...]:
    """Return notes on rows without a label: of labels, of their column by name, or of one that passes have found."""
    if isinstance(clustering, Reference):
        known = clustering.measured
        return () if known is None or known.missing is None else known.missing.notes
    if clustering is None or hasattr(clustering, "fit"):
        return ()
    labels = label_values(column_values(X, clustering) if isinstance(clustering, str) else clustering)
    n_missing = count_missing(labels) if hasattr(labels, "__len__") else 0
    of_missing = MissingLabels(n_missing, len(labels)).notes if n_missing else ()
    return (*of_missing, *_notes_on_booleans(labels))


def _notes_on_booleans(labels: Any) -> tuple[str, ...]:
    """Return a note if labels mix booleans and numbers, as Python takes True for 1 and False for 0."""
    if not isinstance(labels, (list, tuple)) and getattr(getattr(labels, "dtype", None), "kind", "") != "O":
        return ()
    found = {(label, type(label)) for label in labels if isinstance(label, (bool, int, float)) and label in (0, 1)}
    both = [f"{bool(n)} and {n}" for n in (0, 1) if len({kind is bool for label, kind in found if label == n}) == 2]
    return (f"equal in Python, so one cluster: {', '.join(both)}; to tell them apart, make text of the labels",) * bool(
        both
    )


def notes_on_kernel(clusterer: Any, method: str) -> tuple[str, ...]:
    """Return a note if the clusters are those of a kernel but the method is not."""
    if clusterer is None:
        return ()
    from boxwood.clusterers import KernelKMeans

    if method.startswith("kernel") or not isinstance(last_step(clusterer), KernelKMeans):
        return ()
    return (
        "the clusters are those of a kernel; method kernel_exkmc explains them by two-sided cuts and the kernel's cost",
    )


FAR = 100.0  # ranges that differ by this factor leave k-means blind for the smaller one


def _notes_on_ranges(names: Sequence[str], ends: Floats, clusterer: Any = None) -> tuple[str, ...]:
    """Return a note for k-means, or a clusterer that is given, on columns whose ranges differ 100-fold.

    IN: ends (2, d): least and greatest value of each column.
    """
    ranges = ends[1] - ends[0]
    varies = np.flatnonzero(ranges > 0)
    if len(varies) < 2:
        return ()
    wide, narrow = (int(varies[find(ranges[varies])]) for find in (np.argmax, np.argmin))
    if ranges[wide] < FAR * ranges[narrow]:
        return ()
    who, remedy = "k-means", "standardize gives columns equal weight"
    if clusterer is not None:
        who = type(clusterer).__name__
        remedy = f"make_pipeline(StandardScaler(), {who}(…)) gives columns equal weight"
    first, second = column_name(names[narrow]), column_name(names[wide])
    told = f"{who} hardly sees {first}, which spans {ranges[narrow]:.3g}, beside {second}, which spans"
    return (
        Quoting(
            f"{told} {ranges[wide]:.3g}; {remedy}",
            f"{who} hardly sees {first} beside {second}, which spans at least {FAR:.0f} times as much; {remedy}",
        ),
    )


def sees_distances(clusterer: Any) -> bool:
    """Return whether a clusterer looks at distances in the columns as they are: no pipeline, mixture or explainer."""
    return hasattr(clusterer, "fit") and not hasattr(clusterer, "steps") and not hasattr(clusterer, "covariance_type")


# ---------------------------------------------------------------------------------------------------------------- names


def name_clusters(reference: Reference, names: Names | None = None) -> Reference:
    """Return the clustering with names that are text or numbers: its own names, or `names`. Others become text.

    Raises
    ------
    DataError
        If a name is for a label that does not exist, if there are too few or too many names, or if two are equal.
    """
    return reference.named(plain_names(reference.names, names, cluster_name))
