"""A fitted explainer in `explain`: its tree is explained, and no other is grown."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._frames import is_frame, refuse_unknown_columns
from boxwood._validation import list_words, out_of_frozen
from boxwood.batches import Batches, Source
from boxwood.errors import DataError
from boxwood.explanation.apply.other_rows import named_by_column
from boxwood.explanation.ask.clustering import clustering_of_table, name_clusters
from boxwood.explanation.ask.columns import boolean_columns_of, on_complete_rows, rows_for
from boxwood.explanation.ask.options import Options
from boxwood.explanation.measure.batch_statistics import refuse_all_rows
from boxwood.explanation.measure.measure import measured_in_batches
from boxwood.explanation.measured_tree import MeasuredTree, with_kinds
from boxwood.reference import Reference, Task
from boxwood.reference.clusterer import is_fitted, weight_argument
from boxwood.reference.feature_space import FeatureSpace

if TYPE_CHECKING:
    from boxwood.reference.labels import Names


def is_explainer(clustering: Any) -> bool:
    """Return whether something that stands for a clustering is an estimator that explains one, or ends in one.

    Its own labels are those of its tree: as clusters they would be explained without loss.
    """
    return hasattr(type(_taken_apart(clustering)[1]), "explanation_")


def _taken_apart(clustering: Any) -> tuple[list[Any], Any]:
    """Return the first steps of a pipeline and its last one, out of what is frozen and of searches for parameters.

    A search that is not fitted counts as the estimator that it would fit.
    """
    steps: list[Any] = []
    while True:
        if _is_search(clustering):
            clustering = getattr(clustering, "best_estimator_", clustering.estimator)
        elif hasattr(clustering, "steps") and not isinstance(clustering, str):
            steps += [step for _, step in clustering.steps[:-1]]
            clustering = clustering.steps[-1][1]
        elif (inside := out_of_frozen(clustering)) is not clustering:
            clustering = inside
        else:
            return steps, clustering


_ALONE = "explain the rows that its first steps make: explain(pipeline[:-1].transform(X), pipeline[-1])"


def _is_search(clustering: Any) -> bool:
    """Return whether an estimator is a search for parameters of another, such as `GridSearchCV`."""
    return all(hasattr(clustering, name) for name in ("estimator", "refit", "scoring"))


def explained_behind(clustering: Any, X: Any, asked: Options) -> MeasuredTree:
    """Return the explanation by the tree of an explainer behind the steps of a pipeline, on the columns of the table.

    What is not fitted is cloned and fitted. Rows have the clusters that the explainer was fitted to explain.

    Raises
    ------
    DataError
        If the steps mix columns, so that the rules cannot be said on the table's.
    """
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    weights, (steps, explainer) = asked.sample_weight, _taken_apart(clustering)
    are_fitted = all(isinstance(each, str) or is_fitted(each) for each in [*steps, explainer])
    if not are_fitted and (steps or _is_search(clustering)):
        argument = weight_argument(clustering, weights)
        clustering = clone(clustering).fit(X, **argument)
        weights, (steps, explainer) = None if argument else weights, _taken_apart(clustering)  # else those of the fit
    kind = type(explainer).__name__
    if hasattr(explainer, "concept_names_") and steps:
        raise DataError(f"{kind} behind other steps has no rules on the table's columns; {_ALONE}")
    if not steps:
        return explain_by_explainer(explainer, X, asked.columns, asked.names, weights)
    if asked.columns is not None and is_frame(X):
        raise ValueError("columns cannot be chosen for an existing tree; leave columns out")
    first = make_pipeline(*steps)
    try:
        outer = FeatureSpace.behind(X, asked.columns, first, weights)
    except DataError as error:
        raise DataError(
            f"the rules of {kind} test columns that the pipeline makes, and {str(error).split(';')[0]}; {_ALONE}"
        ) from None
    explanation: MeasuredTree = explainer._explained_behind(first.transform(X), outer, asked.names, weights)
    return explanation


def explain_by_explainer(
    explainer: Any, X: Any, columns: Sequence[str] | None, names: Names | None, sample_weight: ArrayLike | None
) -> MeasuredTree:
    """Return the explanation by the tree of an explainer, which is cloned and fitted if it has none."""
    from sklearn.base import clone

    from boxwood.reference.clusterer import is_fitted

    if not is_fitted(explainer):
        explainer = clone(explainer).fit(X, sample_weight=sample_weight)
        sample_weight = None  # those of the fit
    explanation: MeasuredTree = explainer._explain_rows(X, columns=columns, names=names, sample_weight=sample_weight)
    return explanation


def refuse_growing(explainer: Any, asked: Options) -> None:
    """Raise a ValueError if a parameter that grows a tree is given, although the explainer has a tree."""
    explainer = _taken_apart(explainer)[1]
    given = {name: getattr(asked, name) for name in ("n_clusters", "max_leaf_nodes", "as_of")}
    given["time_limit"] = asked.options.get("time_limit")
    names = [name for name, value in given.items() if value is not None]
    names += ["method"] * (asked.method != "auto") + ["standardize"] * (asked.standardize is True)
    names += [name for name in ("categories", "numbers") if getattr(asked, name)]
    names += ["objective"] * (asked.options.get("objective", "auto") != "auto")
    limits = asked.limits | {"validate": asked.validate}
    names += [name for name, value in limits.items() if not (value is None or (isinstance(value, Sized) and not value))]
    if names:
        raise ValueError(
            f"{type(explainer).__name__} brings its own tree, so {names[0]} has no effect; "
            "to grow another tree for its clusters, pass the labels of its reference_"
        )


def explained_on_table(explainer: Any, source: Source, asked: Options) -> MeasuredTree:
    """Return the explanation by the tree of an explainer, which is cloned and fitted on the table if it has none.

    Rows belong to the clusters that the explainer's clusterer predicts. Without one, they have labels in the column
    that it was fitted on.

    Raises
    ------
    DataError
        If the clusters of the rows cannot be known, or costs need all rows in memory.
    """
    from sklearn.base import clone

    (steps, explainer), names, weight = _taken_apart(explainer), asked.names, asked.sample_weight
    if steps:
        refuse_all_rows("an explainer behind the steps of a pipeline", source.name)
    refuse_growing(explainer, asked)
    if asked.columns is not None:
        raise ValueError("columns cannot be chosen for an existing tree; leave columns out")
    if not is_fitted(explainer):
        explainer = clone(explainer).fit(source, sample_weight=weight)
        if names is None:
            return explainer.explanation_  # type: ignore[no-any-return]
    kind, grown = type(explainer).__name__, explainer._grown
    if grown.kernel is not None or grown.objective == "l2" or hasattr(explainer, "concept_names_"):
        refuse_all_rows(f"an explanation by {kind}", source.name)
    batches = replace(_rows(explainer, source, weight), n_jobs=asked.n_jobs)
    explanation = on_complete_rows(partial(_explain_batches, explainer, asked), batches, asked.missing)
    return with_kinds(explanation, boolean_columns_of(batches), source.dates)


def _explain_batches(explainer: Any, asked: Options, batches: Batches) -> MeasuredTree:
    reference = name_clusters(_clusters(explainer, batches), asked.names)
    task = Task.of(batches, reference, n_jobs=asked.n_jobs)
    return measured_in_batches(task, explainer._grown._replace(tree=explainer.tree_))


def _rows(explainer: Any, source: Source, weight: Any) -> Batches:
    """Return the columns of the fit; those without names are all columns of numbers, in their order."""
    known = getattr(explainer, "feature_names_in_", None)
    if known is not None:
        refuse_unknown_columns(list(known), source.names)
        return rows_for(source, None, weight, list(known))
    batches = rows_for(source, None, weight, None)
    if batches.n_columns != explainer.n_features_in_:
        raise DataError(
            f"{type(explainer).__name__} was fitted on {explainer.n_features_in_} columns, but {source.name} has "
            f"{batches.n_columns} of numbers ({list_words(batches.columns)}); scan the columns of the fit (columns)"
        )
    return batches


def _clusters(explainer: Any, batches: Batches) -> Reference:
    """Return the clusters of the rows, numbered as in the fit."""
    clusterer, reference = getattr(explainer, "clusterer_", None), explainer.reference_
    if clusterer is None:
        column = reference.labelling.column_read if reference.in_batches else None
        if column is not None and column in batches.source.names:
            return named_by_column(name_clusters(reference).names, batches, column)
        raise DataError(
            f"{type(explainer).__name__} has no clusterer that could predict the clusters of the rows of "
            f"{batches.source.name}; name their column: explainer.explanation_.evaluate(table, 'column')"
        )
    found = clustering_of_table(batches, out_of_frozen(clusterer))
    if found.names != reference.names:
        raise DataError(
            f"{type(explainer).__name__} found the clusters {list_words([*map(str, reference.names)])}, but its "
            "clusterer "
            f"predicts {list_words([*map(str, found.names)])}; add its labels to the table as a column, and measure "
            "explainer.explanation_ on them"
        )
    centers = np.zeros((found.n_clusters, batches.n_columns))  # a tree that is there already needs none
    return Reference(found.labelling, centers, found.names)
