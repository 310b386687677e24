"""Guards for a first look at a table: columns that no rule should use, and clusterings that explain nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boxwood._frames import as_matrix, column_names, is_frame, numeric_columns, rounded_columns
from boxwood._messages import rounded
from boxwood._types import Array
from boxwood._validation import listed, shown
from boxwood.errors import DataError
from boxwood.explanation._explanation import Explanation
from boxwood.explanation._search import ROWS
from boxwood.grow._expand import expanded
from boxwood.reference import Task
from boxwood.render._rules import column_name
from boxwood.tree import ThresholdTree

__all__ = [
    "ColumnNote",
    "columns_for_rules",
    "counts_rows",
    "has_name_of_identifier",
    "identifiers_to_leave_out",
    "looks_like_identifier",
    "note_on_identifiers",
    "note_on_used",
    "notes_on_agreement",
    "notes_on_columns",
    "notes_on_left_out",
    "notes_on_outcome",
    "notes_on_padded",
    "notes_on_ranges",
    "notes_on_rounding",
    "sees_distances",
]

FEW_ROWS = 50  # in fewer rows whole numbers without gaps are nothing unusual
FILLED = 0.9  # unique whole numbers that fill more of their range count rows
FAR = 100.0  # ranges that differ by this factor leave k-means blind for the smaller one
LOW = 0.9  # agreement below which more leaves are worth a word

_NAMES = {"id", "ids", "uuid", "guid", "zip", "zipcode", "postcode", "account", "iban"}


class ColumnNote(str):
    """A note on columns that are used or left out; the command line tells it before the explanation."""

    __slots__ = ()


def looks_like_identifier(name: str, values: Array) -> bool:
    """Return whether a column of at least 50 rows looks like an identifier.

    Its values are whole numbers, and either its name says so (id, zip, account, also as part of `customer_id`), or the
    values are unique and fill more than 90% of their range, as row numbers do. Missing values say nothing.
    """
    values = values[~np.isnan(values)]
    if len(values) < FEW_ROWS or (values[:FEW_ROWS] != np.floor(values[:FEW_ROWS])).any():
        return False
    low, high = float(values.min()), float(values.max())
    if not (np.isfinite(low) and np.isfinite(high)) or low == high or (values != np.floor(values)).any():
        return False
    if has_name_of_identifier(name, len(values)):
        return True
    if not counts_rows(low, high, len(values)):
        return False
    return int(np.bincount((values - low).astype(np.intp)).max()) == 1


def has_name_of_identifier(name: str, n_rows: int) -> bool:
    """Return whether a column of whole numbers, of so many rows, has a name such as id, zip or account."""
    words = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    return n_rows >= FEW_ROWS and bool(_NAMES & set(words))


def counts_rows(low: float, high: float, n_rows: int) -> bool:
    """Return whether unique whole numbers of a range would fill so much of it as row numbers do."""
    return n_rows >= FEW_ROWS and (high - low + 1) * FILLED < n_rows


def columns_for_rules(X: Any, columns: Sequence[str] | None, clustering: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the columns of a frame that rules may use, and notes on those that are left out.

    If the caller names none, columns of text, of dates and without values are left out of a frame. If boxwood also
    makes the clusters, or labels are given, columns that look like identifiers are left out, too, unless labels would
    have no other column. A clusterer sees them, as it is the caller's. For an array the names are as given.

    Raises
    ------
    DataError
        If no column remains.
    """
    if columns is not None and isinstance(columns, str):
        raise TypeError(f"columns must be a list of names, got the text {shown(columns)}; write [{shown(columns)}]")
    if not is_frame(X) or columns is not None or hasattr(clustering, "steps"):
        return columns, ()
    kept, others = numeric_columns(X)
    labels = [clustering] if isinstance(clustering, str) else []  # labels themselves cannot be compared with names
    kept = [name for name in kept if name not in labels]
    left_out = {reason: [name for name in names if name not in labels] for reason, names in others.items()}
    suspects: list[str] = []
    if not hasattr(clustering, "fit"):
        values = as_matrix(X, kept)
        suspects = [name for j, name in enumerate(kept) if looks_like_identifier(name, values[:, j])]
        suspects = identifiers_to_leave_out(suspects, kept, has_labels=clustering is not None)
    remaining = [name for name in kept if name not in suspects]
    texts = notes_on_left_out(left_out, suspects)
    if not remaining:
        raise DataError(f"no numeric column is left in the table of {len(column_names(X))} columns; {'; '.join(texts)}")
    return remaining, (note_on_used(remaining, left_out, suspects), *texts) if texts else ()


def notes_on_left_out(left_out: Mapping[str, Sequence[str]], suspects: Sequence[str] = ()) -> tuple[str, ...]:
    """Return a note for each reason why columns are left out; `suspects` look like identifiers."""
    texts = [f"left out, {reason}: {listed(names)}" for reason, names in left_out.items() if names]
    if suspects:
        texts.append(f"left out, looks like an identifier: {listed(suspects)}; to use it, name the columns (columns)")
    return tuple(map(ColumnNote, texts))


def notes_on_padded(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note on columns of numbers with leading zeros, if there are any."""
    said = f"numbers with leading zeros, which rules do not show: {listed(names)} (columns chooses others)"
    return (ColumnNote(said),) if names else ()


def identifiers_to_leave_out(suspects: Sequence[str], kept: Sequence[str], *, has_labels: bool) -> list[str]:
    """Return the columns that look like identifiers, which are left out; none if labels would have no other column."""
    return [] if has_labels and len(suspects) == len(kept) else list(suspects)


def note_on_used(used: Sequence[str], left_out: Mapping[str, Sequence[str]], suspects: Sequence[str] = ()) -> str:
    """Return how many of the columns are used, and which."""
    n_columns = len(used) + len(suspects) + sum(map(len, left_out.values()))
    are = "is" if len(used) == 1 else "are"
    return ColumnNote(f"{len(used):,} of {n_columns:,} columns {are} used: {listed(used)}")


def notes_on_columns(names: Sequence[str], values: Array) -> tuple[str, ...]:
    """Return a note on columns that look like identifiers, although rules may use them."""
    return note_on_identifiers([name for j, name in enumerate(names) if looks_like_identifier(name, values[:, j])])


def note_on_identifiers(suspects: Sequence[str]) -> tuple[str, ...]:
    """Return a note on columns that look like identifiers, if there are any."""
    if not suspects:
        return ()
    return (f"looks like an identifier: {listed(suspects)}; rules on it say little (columns chooses others)",)


def notes_on_rounding(X: Any, names: Sequence[str]) -> tuple[str, ...]:
    """Return a note on columns of whole numbers so large that some are the same double."""
    found = rounded_columns(X, names)
    return (rounded(found),) if found else ()


def notes_on_ranges(names: Sequence[str], values: Array, clusterer: Any = None) -> tuple[str, ...]:
    """Return a note for k-means, or a clusterer that is given, on columns whose ranges differ 100-fold."""
    ranges = values.max(axis=0).astype(np.float64) - values.min(axis=0)
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
    return (
        f"{who} hardly sees {column_name(names[narrow])}, which spans {ranges[narrow]:.3g}, beside "
        f"{column_name(names[wide])}, which spans {ranges[wide]:.3g}; {remedy}",
    )


def sees_distances(clusterer: Any) -> bool:
    """Return whether a clusterer looks at distances in the columns as they are: no pipeline, mixture or explainer."""
    return hasattr(clusterer, "fit") and not hasattr(clusterer, "steps") and not hasattr(clusterer, "covariance_type")


def notes_on_outcome(explanation: Explanation, made_here: bool, clusterer: Any = None) -> tuple[str, ...]:
    """Return a note if one of several columns explains the clusters of a clusterer without a single exception."""
    n_columns, used = len(explanation.columns), np.unique(explanation.tree.feature[explanation.tree.feature >= 0])
    by_distance = made_here or sees_distances(clusterer)
    if not by_distance or explanation.agreement < 1 or len(used) != 1 or n_columns == 1:
        return ()
    scale = "" if explanation.standardized else "standardize, or " if made_here else "scale them, or "
    return (
        f"{column_name(explanation.columns[int(used[0])])} alone decides the cluster of every row; "
        f"if other columns should count, {scale}choose the columns (columns)",
    )


def notes_on_agreement(agreement: float, tree: ThresholdTree, task: Task) -> tuple[str, ...]:
    """Return a note on how many more leaves would agree with at least 90% of the rows, if the tree agrees with fewer.

    The tree is expanded to up to four times as many leaves, on a sample where the table is large.
    """
    if agreement >= LOW:
        return ()
    sample = task.sampled(ROWS)
    labels = sample.reference.labels
    weights = sample.reference.kept if sample.kept_weights is None else sample.kept_weights
    for more in (2, 4):
        larger = expanded(tree, sample, more * tree.n_leaves, objective="mistakes")
        reached = float(np.average(larger.predict(sample.rows) == labels, weights=weights))
        if reached >= LOW:
            return (f"{larger.n_leaves} leaves reach {reached:.0%} (max_leaf_nodes)",)
    if reached - agreement < 1 - LOW:
        return ()
    return (f"even {larger.n_leaves} leaves reach {reached:.0%} only (max_leaf_nodes)",)
