"""Whether a fitted clusterer is given the columns of its fit: scaled ones are easily taken for the raw ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boxwood._frames import as_matrix, column_names, is_frame, numeric_columns
from boxwood._types import Array, Floats
from boxwood._validation import list_words, out_of_frozen
from boxwood.errors import DataError
from boxwood.loops.expand import squared_distances
from boxwood.reference.labels import centers_of, labels_of, last_step, objective_of
from boxwood.reference.ranks import ranks_of

FEW = 0.1  # of the rows may be in another cluster than at the fit: rounding, ties, weights
CLEARER = 0.02  # by so much labels must be told better by the columns than predicted ones are
FAR = 9.0  # times the mean squared distance: so far off no more than one in nine rows of the fit was
FARTHER = 2.0  # times the mean squared distance: the rows of the fit are not so far off
NARROW = 100.0  # times their own variance the squared distance of rows to centres is not, if they lie among these
LOOKED_AT = 10_000  # rows, evenly spread, are enough to see it


def labels_by(estimator: Any, X: Any, n_rows: int) -> Array:
    """Return the labels that a fitted clusterer, mixture or pipeline gives the rows of `X`; see `labels_of`.

    Raises
    ------
    DataError
        If these are evidently not the columns of its fit. So it is if the rows are those of the fit and get other
        clusters: then the columns tell the labels of the fit better than the predicted ones. And it is so if rows are
        far from all centres, or on one spot among them. New rows, fewer rows and rows in another order are told best by
        what is predicted for them.
    """
    estimator = out_of_frozen(estimator)
    _refuse_other_input(estimator, X, n_rows)
    labels, last = np.asarray(labels_of(estimator, X, n_rows)), last_step(estimator)
    own = getattr(last, "labels_", None)
    own = np.asarray(own) if own is not None and len(own) == n_rows else None
    if own is not None and np.mean(own != labels) <= FEW:
        return labels
    rows = _rows_for(last, estimator[:-1].transform(X) if len(getattr(estimator, "steps", ())) > 1 else X)
    if rows is not None:
        step = -(-n_rows // LOOKED_AT)
        some = np.asarray(rows[::step], dtype=np.float64)
        if own is not None:
            _refuse_rows_of_fit(last, some, labels[::step], own[::step])
        refuse_far_rows(last, some, _remedy(last, n_rows))
    return labels


def refuse_far_rows(last: Any, rows: Floats, remedy: str) -> None:
    """Raise the DataError of `labels_by` where rows lie far from all centres, or on one spot among them.

    IN: rows: at most 10 000 of them; remedy: what to give instead.
    """
    centers = centers_of(last, rows.shape[1])
    if centers is not None and (place := _place(last, rows, centers, _to_nearest(rows, centers))):
        raise DataError(f"these rows lie {place} of this {_kind(last)}: {_ASKED} {remedy.capitalize()}")


_ASKED = "was it fitted on scaled or otherwise changed columns?"


def _refuse_other_input(clusterer: Any, X: Any, n_rows: int) -> None:
    """Raise a DataError if a table lacks columns that a clusterer was fitted on, or has more without names.

    The first step of a pipeline knows what it reads.
    """
    if hasattr(clusterer, "steps") or not hasattr(clusterer, "predict"):
        return
    names, wanted = getattr(clusterer, "feature_names_in_", None), getattr(clusterer, "n_features_in_", None)
    where = ""
    if names is not None and is_frame(X):
        present = column_names(X)
        lacking = [str(name) for name in names if name not in present]
        where = f"columns that X lacks: {list_words(lacking)}" if lacking else ""
    elif wanted is not None and np.ndim(X) == 2 and np.shape(X)[1] != wanted:
        where = f"{wanted} column{'s' * (wanted != 1)}, but X has {np.shape(X)[1]}"
    if where:
        raise DataError(f"{_kind(clusterer)} was fitted on {where}; {_remedy(clusterer, n_rows)}")


def _rows_for(last: Any, X: Any) -> Array | None:
    """Return what the last step predicts labels for as rows of numbers; None if it is nothing of the kind."""
    if is_frame(X):
        numbers = numeric_columns(X)[0]
        return as_matrix(X, [name for name in getattr(last, "feature_names_in_", numbers) if name in numbers])
    rows = np.asarray(X)
    return rows if rows.ndim == 2 and rows.dtype.kind in "biuf" else None


def _refuse_rows_of_fit(last: Any, rows: Floats, labels: Array, own: Array) -> None:
    """Raise the DataError of `labels_by` for the rows of the fit in other columns; IN: own: the labels of the fit."""
    centers = centers_of(last, rows.shape[1])
    if _are_of_fit(last, rows, labels, own, None if centers is None else _to_nearest(rows, centers)):
        differ = f"{np.mean(own != labels):.0%} of these rows another cluster than at its fit"
        remedy = _remedy(last, len(last.labels_)).capitalize()
        raise DataError(f"this {_kind(last)} gives {differ}: {_ASKED} {remedy}")


def _are_of_fit(last: Any, rows: Floats, labels: Array, own: Array, distances: Floats | None) -> bool:
    """Return whether rows are those of the fit in other columns: these tell its labels, and not what is predicted.

    Or they tell its labels at least half as well, and lie farther from the centres than the rows of the fit did.
    """
    told, of_fit, luck = _share_told(rows, labels), _share_told(rows, own), CLEARER + 2 / len(rows)
    if of_fit > told + luck:
        return True
    if distances is None or (within := _spread_at_fit(last)) is None:
        return False
    return of_fit > told / 2 + luck and float(distances.mean()) > FARTHER * within


def _remedy(clusterer: Any, n_rows: int) -> str:
    """Return what to pass instead: the labels of the fit are those of the rows only where these are as many."""
    own = getattr(clusterer, "labels_", None)
    labels = "its labels_" if own is not None and len(own) == n_rows else "the labels that it predicts there"
    return f"pass the whole pipeline, or {labels}"


def _kind(clusterer: Any) -> str:
    return type(clusterer).__name__


def _share_told(rows: Floats, labels: Array) -> float:
    """Return the mean share of the variance of a column's ranks that is between labels, less what it is by chance."""
    n, (_, codes, sizes) = len(rows), np.unique(labels, return_inverse=True, return_counts=True)
    if n <= len(sizes):
        return 0.0
    shares = [_between(ranks_of(column), codes, sizes) for column in rows.T]
    return 1 - (1 - float(np.mean(shares))) * (n - 1) / (n - len(sizes))


def _between(x: Floats, codes: Array, sizes: Array) -> float:
    """Return the share of the variance of numbers with the mean 0 that is between labels; 0 if they are all equal."""
    whole = float(x @ x)
    return float(np.square(np.bincount(codes, x)) @ (1 / sizes)) / whole if whole > 0 else 0.0


def _to_nearest(rows: Floats, centers: Floats) -> Floats:
    """Return the squared distance of each row to the nearest centre."""
    distances = np.empty((len(rows), len(centers)))
    squared_distances(np.ascontiguousarray(rows), np.ascontiguousarray(centers.T), 2.0, distances)
    nearest: Floats = distances.min(axis=1)
    return nearest


def _place(last: Any, rows: Floats, centers: Floats, distances: Floats) -> str:
    """Return in words where rows lie that are not among the centres; an empty text for those that may be."""
    off, within = float(np.median(distances)), _spread_at_fit(last)
    with np.errstate(over="ignore", invalid="ignore"):
        if within is not None and off > FAR * max(within, _spread_of_clusters(last, centers)):
            return "far from the centres"
        spread = float(rows.var(axis=0).sum())
    return "on one spot, far from the centres" if 0 < NARROW * spread < off else ""


def _spread_of_clusters(last: Any, centers: Floats) -> float:
    """Return the variance of the centres; 0 for a mixture, whose spread at the fit depends on no weights of rows."""
    if not hasattr(last, "labels_"):
        return 0.0
    sizes = np.bincount(np.maximum(np.asarray(last.labels_, dtype=np.intp), 0), minlength=len(centers))
    off = np.square(centers - np.average(centers, axis=0, weights=sizes)).sum(axis=1)
    return float(np.average(off, weights=sizes))


def _spread_at_fit(last: Any) -> float | None:
    """Return the mean squared distance of rows of the fit to their centres; None if it is not known.

    That of rows with weights is known but for a factor.
    """
    if (labels := getattr(last, "labels_", None)) is not None:
        inertia, is_squared = getattr(last, "inertia_", None), objective_of(last) in (None, "sqeuclidean")
        return (
            None
            if inertia is None or not is_squared
            else float(inertia) / max(len(labels) - len(last.cluster_centers_), 1)
        )
    variances = _VARIANCES.get(getattr(last, "covariance_type", ""))
    return None if variances is None else float(np.sum(last.weights_ * variances(last)))


_VARIANCES: dict[str, Callable[[Any], Any]] = {
    "full": lambda mixture: np.trace(mixture.covariances_, axis1=1, axis2=2),
    "tied": lambda mixture: np.trace(mixture.covariances_),
    "diag": lambda mixture: mixture.covariances_.sum(axis=1),
    "spherical": lambda mixture: mixture.covariances_ * mixture.means_.shape[1],
}
"""The sum of the variances of each component of a mixture, by its kind of covariances."""
