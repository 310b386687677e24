"""`explain`: from a table and a clustering to an `Explanation`, in one call."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._frames import column_values, label_values
from boxwood._types import Floats
from boxwood._validation import as_weights, listed
from boxwood.errors import DataError

if TYPE_CHECKING:
    from boxwood.explanation._explanation import Explanation
    from boxwood.explanation._gaussians import Gaussians
    from boxwood.explanation._space import Space
    from boxwood.explanation._table import Table
    from boxwood.reference import Reference

__all__ = ["explain"]

Names = Mapping[Hashable, Hashable] | Sequence[Hashable]


def explain(
    X: Any,
    labels_or_estimator: Any = None,
    *,
    n_clusters: int | None = None,
    method: str = "auto",
    max_leaf_nodes: int | None = None,
    names: Names | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
    columns: Sequence[str] | None = None,
    standardize: bool = False,
) -> Explanation:
    """Return the tree that explains a clustering of the rows of a table, with a rule for each cluster and the loss.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        Rows: numbers, or columns of numbers and booleans, without missing values. Columns of text may be there if the
        clustering is a pipeline that encodes them or leaves them out; rules then name their values.
    labels_or_estimator : optional
        The clustering. Labels of any hashable type, one for each row, -1 for rows left out; the name of a column of a
        data frame `X` that holds the labels, and then is not used for cuts; a clusterer, mixture or pipeline of
        scikit-learn, which is used as it is if it is fitted, and cloned and fitted if not. None is k-means.
    n_clusters : int, default=None
        Number of clusters of k-means; None is 5. Only where nothing else says what the clusters are. K-means keeps the
        best of 10 starts, of 3 for more than 2 million values.
    method : {"auto", "imm", "exkmc", "expand", "cart", "mmdt"}, default="auto"
        How the tree is grown; see Notes for "auto". "exkmc" and "expand" begin with the tree of "imm" if
        `max_leaf_nodes` has room for it, with a single leaf otherwise. "mmdt" tells Gaussians apart by their means and
        variances: for a Gaussian mixture by its own, otherwise by those of the clusters' rows.
    max_leaf_nodes : int, default=None
        Number of leaves; None is the number of clusters, for "exkmc" and "expand" twice that number.
    names : mapping from label to name, or sequence of names, default=None
        Names of the clusters; a sequence is in ascending order of the labels.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row.
    random_state : int or RandomState instance, default=None
        Randomness of k-means, of samples of large tables and of ties in "cart". None is 0.
    columns : sequence of str, default=None
        For an array, the names of its columns; None names them x0, x1, …. For a data frame, the columns that rules may
        use; None is all.
    standardize : bool, default=False
        Whether to cluster, grow and measure on columns scaled to unit variance; those that a pipeline makes, if one is
        given. Thresholds are in raw units all the same. Fitted estimators and pipelines see the raw table, as they
        bring their own scale.

    Returns
    -------
    Explanation
        Always holds: its thresholds are the decimals with the fewest digits that keep every row of `X` on its side.
        For a Gaussian mixture, and for "mmdt", it holds what the Gaussians say of the tree, too.

    Raises
    ------
    DataError
        If the table or the labels cannot be used as they are; the message names columns and counts.
    ValueError
        If a parameter has a value that is not listed.

    Warns
    -----
    UserWarning
        If a Gaussian mixture has components without data, which its Gaussians then leave out.

    Notes
    -----
    "auto" grows several trees with `max_leaf_nodes` leaves: IMM and Ex-Greedy, for a Gaussian mixture MMDT too, where
    leaves are left expanded by cost and by mistakes; expansions from a single leaf by cost and by mistakes; CART. Those
    near the best are refined (`grow.refine`), centres and cuts taking turns, and the tree that loses least is taken, of
    equals the first in that order, not refined before refined. The loss is the within-cluster cost if at least 95% of
    the rows lie nearest to the mean of their own cluster, otherwise the number of rows outside their cluster. A cost
    below that of the clusters counts as theirs, and of equals the tree with fewer rows outside their cluster wins. A
    tree that leaves some cluster without a leaf counts as if it lost a quarter more. The other methods give their own
    tree, not refined.

    For a pipeline all this takes place in the columns that its first steps make, and costs are measured there; the
    tree is then pulled back to the table's own columns (`ThresholdTree.pull_back`, with the maps of
    `axes.axis_map_of`), every row keeping its leaf. Where a step mixes columns, the raw ones are taken. A note says
    which.

    In a table of more than 250 000 values only IMM sees every row; the other trees are grown on a random sample of so
    many values, and compared with it on all rows. A note says so. IMM and Ex-Greedy are left out, with a note, where
    two clusters have the same centre.

    Takes time n d (log n + k) for each level of the trees, beside the clustering.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import boxwood
    >>> iris = load_iris()
    >>> species = iris.target_names[iris.target]
    >>> ex = boxwood.explain(iris.data, species, columns=["sepal l", "sepal w", "petal l", "petal w"])
    >>> print(boxwood.render.rules(ex))
    setosa: petal l <= 2
    versicolor: petal l > 2 and petal w <= 1.65
    virginica: petal l > 2 and petal w > 1.65
    >>> ex.agreement, ex.predict([[5.0, 3.0, 1.5, 0.2]]).tolist()
    (0.96, ['setosa'])
    """
    from boxwood.explanation._best import METHODS, Task, choose
    from boxwood.explanation._gaussians import Gaussians
    from boxwood.explanation._measure import measure
    from boxwood.explanation._mixture_facts import mixture_facts
    from boxwood.explanation._table import read

    _refuse_parameter("method", method, method in METHODS, f"one of {', '.join(METHODS)}")
    enough = max_leaf_nodes is None or (isinstance(max_leaf_nodes, Integral) and max_leaf_nodes >= 2)
    _refuse_parameter("max_leaf_nodes", max_leaf_nodes, enough, "a whole number of at least 2, or None")
    random_state = 0 if random_state is None else random_state
    clusterer = _fitted_pipeline(labels_or_estimator, X, sample_weight, random_state)
    table = read(X, columns, clusterer)
    rows, space = table.rows, table.space
    weights = as_weights(sample_weight, len(rows))
    space = space.standardized(weights) if standardize else space
    source = _Source(X, table, space, weights, random_state)
    reference, gaussians = _clustering(clusterer, source, n_clusters)
    reference = _renamed(reference, names)
    if gaussians is None and method == "mmdt":
        gaussians = Gaussians.of(space.rows, reference, weights)
    chosen = choose(Task(space.rows, reference, weights, max_leaf_nodes, random_state, gaussians), method)
    tree = space.pulled_back(chosen.tree, rows, table.categories)
    notes = (*chosen.notes, *table.notes, *_notes_on(clusterer))
    ex = measure(
        chosen._replace(tree=tree, notes=notes),
        rows,
        space.rows,
        reference,
        columns=table.columns,
        categories=table.categories,
        weights=weights,
        standardized=standardize,
    )
    if gaussians is None or table.categories:
        return ex
    gaussians = space.unscaled(gaussians, rows, reference, weights)
    facts = mixture_facts(tree, gaussians, rows, reference, columns=table.columns, weights=weights)
    return replace(ex, mixture=facts)


def _refuse_parameter(name: str, value: Any, valid: bool, expected: str) -> None:
    if not valid:
        raise ValueError(f"{name} must be {expected}; got {value!r}")


# ---------------------------------------------------------------------------------------------- the clustering


class _Source(NamedTuple):
    """The table as it came, as numbers, and as it is clustered."""

    X: Any
    table: Table
    space: Space
    weights: Floats | None
    random_state: Any


def _fitted_pipeline(clustering: Any, X: Any, sample_weight: ArrayLike | None, random_state: Any) -> Any:
    """Return a clustering as it is, but a pipeline fitted: its first steps say what the columns are."""
    if not hasattr(clustering, "steps") or _is_fitted(clustering):
        return clustering
    from boxwood.reference._clusterer import fitted_clusterer

    weights = as_weights(sample_weight, len(X))
    return fitted_clusterer(clustering, X, X, n_clusters=0, random_state=random_state, weights=weights)


def _clustering(clustering: Any, source: _Source, n_clusters: int | None) -> tuple[Reference, Gaussians | None]:
    """Return the clustering, and the Gaussians of the space that stand behind it if it is that of a mixture."""
    from boxwood.reference import Reference
    from boxwood.reference._clusterer import refuse_one_cluster

    if clustering is not None and n_clusters is not None:
        raise ValueError(f"n_clusters={n_clusters} is for k-means, but the clusters are given; leave one of them out")
    if clustering is None or hasattr(clustering, "fit"):
        reference, gaussians = _found(clustering, source, 5 if n_clusters is None else n_clusters)
    elif isinstance(clustering, Integral):
        raise DataError(f"labels must be one for each row, got {clustering}; to make clusters, pass n_clusters")
    else:
        labels = column_values(source.X, clustering) if isinstance(clustering, str) else clustering
        reference = Reference.of(source.space.rows, label_values(labels), sample_weight=source.weights)
        gaussians = None
    refuse_one_cluster(reference)
    return reference, gaussians


def _found(clusterer: Any, source: _Source, n_clusters: int) -> tuple[Reference, Gaussians | None]:
    """Return the clustering by a clusterer, fitted first if it is not, and its Gaussians if it has some."""
    from boxwood.explanation._gaussians import gaussians_of
    from boxwood.reference._clusterer import fitted_clusterer, reference_of

    X, table, space, weights, random_state = source
    if _is_fitted(clusterer):
        reference = _seen_in(clusterer, reference_of(clusterer, X, table.rows, weights), source)
        gaussians = gaussians_of(clusterer, reference, table.columns)
        return reference, None if gaussians is None else space.scaled(gaussians)
    fitted = fitted_clusterer(
        clusterer, X, space.rows, n_clusters=n_clusters, random_state=random_state, weights=weights
    )
    reference = reference_of(fitted, X, space.rows, weights)
    return reference, gaussians_of(fitted, reference, table.columns)


def _seen_in(clusterer: Any, reference: Reference, source: _Source) -> Reference:
    """Return a clustering of the table's rows by a fitted clusterer, with centres in the space."""
    from boxwood.reference import Reference
    from boxwood.reference._clusterer import reference_seen

    table, space = source.table, source.space
    if hasattr(clusterer, "steps"):
        if table.space.axis_map is not None:
            reference = reference_seen(clusterer, table.space.rows, reference, source.weights)
    elif list(getattr(clusterer, "feature_names_in_", table.columns)) != list(table.columns):
        names = {c: reference.names[c] for c in np.unique(reference.labels[reference.kept]).tolist()}
        return Reference.of(space.rows, reference.labels, names=names, sample_weight=source.weights)
    return reference if space.scaling is None else reference.with_centers(space.scaling.transform(reference.centers))


def _notes_on(clusterer: Any) -> tuple[str, ...]:
    """Return what a reader should know of clusters that another tree explains in their own terms."""
    from sklearn.frozen import FrozenEstimator

    from boxwood.clusterers import KernelKMeans

    last = clusterer[-1] if hasattr(clusterer, "steps") else clusterer
    if not isinstance(last.estimator if isinstance(last, FrozenEstimator) else last, KernelKMeans):
        return ()
    return ("the clusters are those of a kernel; KernelExKMC explains them by two-sided cuts and the kernel's cost",)


def _is_fitted(clusterer: Any) -> bool:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if clusterer is None:
        return False
    try:
        check_is_fitted(clusterer)
    except NotFittedError:
        return False
    return True


def _renamed(reference: Reference, names: Names | None) -> Reference:
    """Return the clustering with names that a model file can hold: text and numbers; others become their text."""
    from boxwood.reference import Reference

    labels = reference.names
    if isinstance(names, Mapping):
        unknown = [str(label) for label in names if label not in labels]
        if unknown:
            raise DataError(f"names for labels that do not exist: {listed(unknown)}; labels: {listed(_texts(labels))}")
        names = [names.get(label, label) for label in labels]
    given = labels if names is None else names
    if len(given) != len(labels):
        raise DataError(f"names must have one name for each of {len(labels)} clusters, got {len(given)}")
    plain = tuple(map(_plain, given))
    if len(set(plain)) < len(plain):
        raise DataError(f"clusters must have different names, got {listed(_texts(plain))}")
    return Reference(reference.labels, reference.centers, plain)


def _texts(names: Sequence[Hashable]) -> list[str]:
    return [str(name) for name in names]


def _plain(name: Any) -> str | int | float | bool:
    value = name.item() if isinstance(name, np.generic) else name
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if type(value) in (str, int, float, bool) else str(value)
