"""`explain`: from a table and a clustering to an `Explanation`, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from boxwood._frames import column_values, label_values
from boxwood.errors import DataError

if TYPE_CHECKING:
    from boxwood.explanation._explanation import Explanation
    from boxwood.explanation._names import Names
    from boxwood.reference import Mixture, Reference
    from boxwood.reference._coordinates import Coordinates

__all__ = ["explain"]


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
    **options: Any,
) -> Explanation:
    """Return the tree that explains a clustering of the rows of a table, with a rule for each cluster and the loss.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        Rows: numbers, or columns of numbers and booleans, without missing values. Columns of text may be there if the
        clustering is a pipeline that encodes them or leaves them out; rules then name their values.
    labels_or_estimator : optional
        The clustering, in one of these forms. None is k-means.

        - Labels of any hashable type, one for each row; -1 leaves a row out.
        - The name of the column of a data frame `X` that holds the labels. That column is not used for cuts.
        - A clusterer, mixture or pipeline of scikit-learn. A fitted one is used as it is, others are cloned and fitted.
        - An explainer of boxwood, such as a fitted `IMM`: its own tree is explained, not shortened. On the rows of its
          fit it is measured against the clusters it was fitted to, on other rows against what its clusterer predicts.
    n_clusters : int, default=None
        Number of clusters of k-means; None is 5. Only where nothing else says what the clusters are. K-means keeps the
        best of 10 starts, of 3 for more than 2 million values.
    method : str, default="auto"
        How the tree is grown: "auto" (see Notes), or a name of `grow.METHODS`, in which hyphens stand for underscores.

        - "imm", "greedy", "shallow", "random_cuts" separate centres, one leaf for each cluster.
        - "mmdt" separates Gaussians by means and variances: those of a Gaussian mixture, or of the clusters' rows.
        - "exkmc" and "expand" split leaves by cost or by mistakes. They begin with the tree of "imm" if
          `max_leaf_nodes` has room for it, and with a single leaf otherwise.
        - "cart" is scikit-learn's decision tree.
        - "kernel_imm", "kernel_exkmc", "kernel_expand", "kernel_mmdt" explain clusters of a kernel by two-sided cuts.
    max_leaf_nodes : int, default=None
        Number of leaves. None is the number of clusters, for expansions twice that number.
    names : mapping from label to name, or sequence of names, default=None
        Names of the clusters; a sequence is in ascending order of the labels.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row.
    random_state : int or RandomState instance, default=None
        Randomness of k-means, of the method and of samples of large tables. None is 0.
    columns : sequence of str, default=None
        For an array, the names of its columns; None names them x0, x1, …. For a data frame, the columns that rules may
        use; None is all.
    standardize : bool, default=False
        Whether to cluster, grow and measure on columns scaled to unit variance; those that a pipeline makes, if one is
        given. Thresholds are in raw units all the same. Fitted estimators and pipelines see the raw table, as they
        bring their own scale.
    **options
        Options of the method, such as `kernel="laplace"`: the keyword arguments of its function in `boxwood.grow`, or
        of its estimator. The kernel of a fitted `KernelKMeans` and the distance of `KMedians` are the defaults.

    Returns
    -------
    Explanation
        Always holds: its thresholds are the decimals with the fewest digits that keep every row of `X` on its side,
        but for an explainer's own tree. Costs are squared distances; those of kernel methods are measured in the
        kernel's feature space, those of "random_cuts" by its own distance.

    Raises
    ------
    DataError
        If the table or the labels cannot be used as they are; the message names columns and counts.
    ValueError
        If a parameter has a value that is not listed, or an option is none of the method.

    Warns
    -----
    UserWarning
        If a Gaussian mixture has components without data, which its Gaussians then leave out.

    Notes
    -----
    "auto" grows several trees with `max_leaf_nodes` leaves. IMM, Ex-Greedy and ExShallow give one leaf for each
    cluster, and so does MMDT where a Gaussian mixture is explained; if more leaves are asked for, each of them is
    expanded by cost and by mistakes. Expansions from a single leaf and CART follow. Trees near the best are refined
    (`grow.refine`): centres and cuts are improved in turn.

    The tree that loses least is returned. Ties go to the earlier candidate, and to the unrefined one. The loss is the
    within-cluster cost if at least 95% of the rows lie nearest to the mean of their own cluster; otherwise it is the
    number of rows outside their cluster. A cost below that of the clusters counts as theirs, and then fewer rows
    outside their cluster win. A tree that leaves a cluster without a leaf counts as if it lost a quarter more. A method
    named by the caller gives its own tree, not refined.

    For a pipeline all this takes place in the columns that its first steps make, and costs are measured there; the tree
    is then pulled back to the table's own columns (`ThresholdTree.pull_back`, with the maps of `axes.axis_map_of`),
    every row keeping its leaf. Where a step mixes columns, the raw ones are taken. A note says which.

    In a table of more than 250 000 values only IMM sees every row. The other trees are grown on a random sample of so
    many values, and compared on all rows. A note says so. Methods that separate centres are left out, with a note,
    where two clusters have the same centre.

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
    from boxwood.explanation._best import choose
    from boxwood.explanation._measure import measure
    from boxwood.explanation._names import renamed
    from boxwood.reference import Task
    from boxwood.reference._coordinates import Coordinates

    name = _method_name(method, options)
    _refuse_parameter(
        "max_leaf_nodes",
        max_leaf_nodes,
        max_leaf_nodes is None or (isinstance(max_leaf_nodes, Integral) and max_leaf_nodes >= 2),
        "a whole number of at least 2, or None",
    )
    random_state = 0 if random_state is None else random_state
    clustering = _ready(labels_or_estimator, X, sample_weight)
    if _is_explainer(clustering):
        _refuse_growing(clustering, n_clusters, method, max_leaf_nodes, standardize)
        return _explained(clustering, X, columns, names, sample_weight)
    unscaled = Coordinates.of(X, columns, clustering, sample_weight)
    place = unscaled.standardized() if standardize else unscaled
    reference, mixture = _clustering(clustering, X, (unscaled, place), n_clusters, random_state)
    task = Task.of(
        place.rows,
        renamed(reference, names),
        mixture=mixture,
        max_leaf_nodes=max_leaf_nodes,
        random_state=random_state,
    )
    grown = choose(task, name, **_with_defaults(name, options, clustering))
    tree = place.shortened(place.pulled_back(grown.tree))
    notes = (*grown.notes, *_notes_on(clustering, name))
    return measure(task, grown._replace(tree=tree, notes=notes), place)


def _method_name(method: str, options: dict[str, Any]) -> str:
    from boxwood.grow import method_of

    if method == "auto":
        if options:
            raise ValueError(f"options such as {next(iter(options))} belong to one method; name it with method=")
        return method
    chosen = method_of(method)
    chosen.check_options(options)
    return chosen.name


def _with_defaults(name: str, options: dict[str, Any], clustering: Any) -> dict[str, Any]:
    """Return the options of a method; what is not given is that of the clusterer: its kernel, or its distance."""
    from boxwood.grow import METHODS
    from boxwood.reference._clusterer import last_step
    from boxwood.reference._reference import objective_of

    defaults, known = {}, METHODS[name].options if name != "auto" else ()
    if "kernel" in known and hasattr(last_step(clustering), "kernel_"):
        defaults["kernel"] = last_step(clustering).kernel_
    if name == "random_cuts":
        defaults["objective"] = objective_of(last_step(clustering)) or "sqeuclidean"
    return defaults | options


def _refuse_parameter(name: str, value: Any, valid: bool, expected: str) -> None:
    if not valid:
        raise ValueError(f"{name} must be {expected}; got {value!r}")


# --------------------------------------------------------------------------------------------- a fitted explainer


def _is_explainer(clustering: Any) -> bool:
    return hasattr(type(clustering), "explanation_")


def _explained(
    explainer: Any, X: Any, columns: Sequence[str] | None, names: Names | None, sample_weight: ArrayLike | None
) -> Explanation:
    """Return the explanation by the tree of a fitted explainer."""
    explanation: Explanation = explainer._explained(X, columns=columns, names=names, sample_weight=sample_weight)
    return explanation


def _refuse_growing(explainer: Any, n_clusters: Any, method: str, max_leaf_nodes: Any, standardize: bool) -> None:
    """Raise a ValueError if a tree is there already, and parameters of growing one are given besides."""
    given = {"n_clusters": n_clusters, "max_leaf_nodes": max_leaf_nodes}
    names = [name for name, value in given.items() if value is not None]
    names += ["method"] * (method != "auto") + ["standardize"] * standardize
    if names:
        raise ValueError(
            f"{type(explainer).__name__} has its tree already, so {names[0]} has no effect; "
            "to grow another tree for its clusters, pass its reference_.labels"
        )


# ---------------------------------------------------------------------------------------------- the clustering


def _ready(clustering: Any, X: Any, sample_weight: ArrayLike | None) -> Any:
    """Return a clustering as it is, but a pipeline and an explainer fitted: they say what the columns are, or the tree.

    An explainer comes out of its `FrozenEstimator`.
    """
    from sklearn.base import clone
    from sklearn.frozen import FrozenEstimator

    from boxwood.reference._clusterer import fitted_pipeline, is_fitted

    inner = clustering.estimator if isinstance(clustering, FrozenEstimator) else clustering
    if _is_explainer(inner):
        return inner if is_fitted(inner) else clone(inner).fit(X, sample_weight=sample_weight)
    if not hasattr(clustering, "steps") or is_fitted(clustering):
        return clustering
    return fitted_pipeline(clustering, X, sample_weight)


def _clustering(
    clustering: Any, X: Any, places: tuple[Coordinates, Coordinates], n_clusters: int | None, random_state: Any
) -> tuple[Reference, Mixture | None]:
    """Return the clustering, and the Gaussians behind it if it is that of a mixture.

    `places` are the coordinates before rows were standardized, and after.
    """
    from boxwood.reference import Reference
    from boxwood.reference._clusterer import refuse_one_cluster

    if clustering is not None and n_clusters is not None:
        raise ValueError(f"n_clusters={n_clusters} is for k-means, but the clusters are given; leave one of them out")
    if clustering is None or hasattr(clustering, "fit"):
        n_clusters = 5 if n_clusters is None else n_clusters
        reference, mixture = _of_clusterer(clustering, X, places, n_clusters, random_state)
    elif isinstance(clustering, Integral):
        raise DataError(f"labels must be one for each row, got {clustering}; to make clusters, pass n_clusters")
    else:
        labels = column_values(X, clustering) if isinstance(clustering, str) else clustering
        reference, mixture = Reference.of(places[1].rows, label_values(labels)), None
    refuse_one_cluster(reference)
    return reference, mixture


def _of_clusterer(
    clusterer: Any, X: Any, places: tuple[Coordinates, Coordinates], n_clusters: int, random_state: Any
) -> tuple[Reference, Mixture | None]:
    """Return the clustering by a clusterer, fitted first if it is not, and its Gaussians if it has some."""
    place = places[1]
    from boxwood.reference._clusterer import fitted_clusterer, is_fitted, mixture_of, reference_of

    if is_fitted(clusterer):
        reference = _in_rows(clusterer, reference_of(clusterer, X, place.table), places)
        mixture = mixture_of(clusterer, reference, place.columns)
        return reference, None if mixture is None else place.to_rows(mixture)
    fitted = fitted_clusterer(clusterer, X, place.rows, n_clusters=n_clusters, random_state=random_state)
    reference = reference_of(fitted, X, place.rows)
    return reference, mixture_of(fitted, reference, place.columns)


def _in_rows(clusterer: Any, reference: Reference, places: tuple[Coordinates, Coordinates]) -> Reference:
    """Return a clustering of the table by a fitted clusterer, with centres in the columns on which trees are grown."""
    import numpy as np

    from boxwood.reference import Reference
    from boxwood.reference._clusterer import reference_in

    unscaled, place = places
    if hasattr(clusterer, "steps"):
        if unscaled.axis_map is not None:
            reference = reference_in(clusterer, unscaled.rows, reference)
    elif list(getattr(clusterer, "feature_names_in_", place.columns)) != list(place.columns):
        names = {c: reference.names[c] for c in np.unique(reference.labels[reference.kept]).tolist()}
        return Reference.of(place.rows, reference.labels, names=names)
    if place.scaling is None:
        return reference
    return reference.with_centers(place.scaling.transform(reference.centers))


def _notes_on(clusterer: Any, method: str) -> tuple[str, ...]:
    """Return what a reader should know of clusters that another tree explains in their own terms."""
    from boxwood.clusterers import KernelKMeans
    from boxwood.reference._clusterer import last_step

    if method.startswith("kernel") or not isinstance(last_step(clusterer), KernelKMeans):
        return ()
    return (
        "the clusters are those of a kernel; method kernel_exkmc explains them by two-sided cuts and the kernel's cost",
    )
