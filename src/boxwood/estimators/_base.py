"""The base class of the estimators: from a table to a tree and its explanation, by the method that a subclass names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

from boxwood._compat import HasMethods, Interval, StrOptions, fit_context
from boxwood._frames import label_values
from boxwood._types import Array
from boxwood._validation import Rows
from boxwood.axes import AxisMap, axis_map_of
from boxwood.errors import DataError
from boxwood.estimators._fits import Fit, by_name, clusters_on, fit_on, refuse_source
from boxwood.estimators._fitted_tree import FittedTree
from boxwood.explanation.ask.columns import notes_on_left_out
from boxwood.explanation.ask.limits import finished
from boxwood.grow import METHODS
from boxwood.grow.grown import Grown
from boxwood.passes import Batches
from boxwood.reference import Mixture, Reference, Task
from boxwood.reference.budget import Budget
from boxwood.reference.clusterer import fitted_clusterer, reference_in, reference_of, refuse_one_cluster
from boxwood.reference.coordinates import Coordinates, made_by, not_made
from boxwood.table.as_source import as_source

__all__ = ["AT_LEAST_ONE", "AT_LEAST_TWO", "TreeClusterer"]

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
AT_LEAST_TWO = Interval(Integral, 2, None, closed="left")


class TreeClusterer(FittedTree):
    """A clusterer whose clusters are the leaves of a small tree of cuts.

    A subclass stores its parameters and names its method, an entry of `grow.METHODS`. Parameters with the name of an
    option of that method are passed to it.
    """

    n_clusters: int
    random_state: Any

    _method: ClassVar[str]
    _facts: ClassVar[tuple[str, ...]] = ()  # facts of the method that become attributes

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "clusterer": [HasMethods(["fit"]), None],
        "n_clusters": [AT_LEAST_ONE],  # has no effect if labels are given
        "noise": [StrOptions({"leaf", "keep"})],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the tree that explains the labels `y`, or the clusters that `clusterer` finds.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d), or a table in batches
            Rows. Arrays of float32 or float64 are not copied. Columns of text and of dates are left out of a data
            frame, with a warning and a note in `explanation_`; `feature_names_in_` has the others. `predict` takes the
            same frame. A pipeline that clusters the frame may read such columns, so there they are refused; `explain`
            takes them. A table in batches (`boxwood.scan`) is read as often as the method needs; there is no `labels_`
            then, and a `clusterer` must be a `FrozenEstimator`.
        y : array-like of shape (n,), or str, default=None
            Labels to explain, of any hashable type; -1 leaves a row out, as a number or as text. A name is that of a
            column of a data frame or of a table in batches, which is no feature then.
        sample_weight : array-like of shape (n,), or str, default=None
            Weight of each row, for the tree, and for the clusterer if its `fit` accepts weights; or the name of the
            column that holds it.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If `X` has missing or infinite values, or text in an array, if the numbers of labels and rows differ, if
            there is only one cluster, if there are fewer different rows than clusters asked for, or if the method or
            the clusterer cannot take a table in batches.
        """
        with self._all_or_nothing():
            source = as_source(X)
            if source is not None:
                self._fit = fit_on(self, source, y, sample_weight)
            else:
                X, y, sample_weight, self._beside = by_name(X, y, sample_weight)
                self._read_kinds(X, y)
                rows = self._rows(X, sample_weight, reset=True)
                self._explain_clusters(X, rows, y)
        self._warn_of_left_out()
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return `labels_`, the cluster that the tree gives to each row of `X`, shape (n,).

        With `noise="keep"` rows that are left out have the number -1. Then labels that are not whole numbers come in an
        array of objects, as text cannot hold a number.
        """
        refuse_source(X, "fit_predict")
        labels: Array = self.fit(X, y, sample_weight).labels_
        return labels

    # ------------------------------------------------------------------------------------------------- steps

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Remove the results of an earlier fit, and restore them if this fit fails or is interrupted."""
        before = self.__dict__
        of_fit = {"_grown", "_fit", "_explanation", "_no_explanation", "_digest", "_fit_weights", "_map"}
        of_fit |= {"_left_out", "_booleans", "_beside", "_prices", "_labels", "_price_bound"}
        self.__dict__ = {name: value for name, value in before.items() if name[-1] != "_" and name not in of_fit}
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _explain_clusters(self, X: Any, rows: Rows, y: Any) -> None:
        """Find the clusters, grow the tree, and store both."""
        X = self._numbers(X)
        self.reference_ = self._reference(X, rows, y)
        refuse_one_cluster(self.reference_)
        self._map, notes = self._axis_map(X)
        coordinates = replace(self._coordinates(X, rows), notes=(*notes_on_left_out(self._left_out), *notes))
        task = self._task(coordinates)
        grown = METHODS[self._method].grow(task, **self._options())
        self._warn(grown, task, coordinates)
        tree, _ = finished(coordinates.pulled_back(grown.tree), task, task.budget, coordinates)
        self._keep(grown._replace(tree=tree))
        method, options, clusterer = METHODS[self._method], self._options(), getattr(self, "clusterer_", None)
        self._fit = Fit(
            task,
            coordinates,
            grow=lambda task: method.grow(task, **options),
            clusterer=clusterer,
            given=X if hasattr(clusterer, "steps") else None,
        )
        self._keep_agreement(task)

    def _reference(self, X: Any, rows: Rows, y: Any) -> Reference:
        """Return the clustering to be explained, with centres in the columns of the table."""
        if y is not None:
            return Reference.of(rows, label_values(y))
        options: dict[str, Any] = {"n_clusters": self.n_clusters, "random_state": self.random_state}
        self.clusterer_ = fitted_clusterer(self._unfitted_clusterer(rows), X, rows, **options)
        return reference_of(self.clusterer_, X, rows)

    def _clusters_on(self, batches: Batches, label: str | None) -> tuple[Reference, tuple[str, ...]]:
        """Return the clustering of the rows of a source, by a column of labels or by the clusterer, and notes on it."""
        return clusters_on(self, batches, label)

    def _unfitted_clusterer(self, rows: Rows) -> Any:
        """Return the clusterer to be fitted; None is k-means."""
        return self.clusterer

    def _axis_map(self, X: Any) -> tuple[AxisMap | None, tuple[str, ...]]:
        """Return the map of a pipeline's first steps, and a note on it; no map if the steps mix columns."""
        steps = getattr(getattr(self, "clusterer_", None), "steps", ())
        if len(steps) < 2:
            return None, ()
        try:
            return axis_map_of(self.clusterer_[:-1], X), (made_by(self.clusterer_[:-1]),)
        except DataError as error:
            return None, (not_made(error),)

    def _task(self, coordinates: Coordinates) -> Task:
        """Return the task in the columns on which the tree is grown."""
        reference = self.reference_
        if coordinates.axis_map is not None:
            reference = reference_in(self.clusterer_, coordinates.rows, reference)
        return self._task_on(coordinates.rows, reference, self._mixture(coordinates))

    def _task_on(self, rows: Rows | Batches, reference: Reference, mixture: Mixture | None) -> Task:
        """Return the task on rows in memory or in batches, with the parameters of the estimator."""
        return Task.of(
            rows,
            reference,
            mixture=mixture,
            max_leaf_nodes=getattr(self, "max_leaf_nodes", None),
            random_state=self.random_state,
            n_jobs=self._jobs(),
            budget=self._budget(),
        )

    def _mixture(self, coordinates: Coordinates | None) -> Mixture | None:
        """Return the mixture behind the clusters, for a method that uses it."""
        return None

    def _budget(self) -> Budget:
        """Return the parameters that are limits of the tree."""
        return Budget.of(
            max_depth=getattr(self, "max_depth", None), min_samples_leaf=getattr(self, "min_samples_leaf", None)
        )

    def _options(self) -> Mapping[str, Any]:
        """Return the parameters that are options of the method."""
        return {name: getattr(self, name) for name in METHODS[self._method].options if hasattr(self, name)}

    def _warn(self, grown: Grown, task: Task, coordinates: Coordinates) -> None:
        """Warn if the tree is doubtful."""

    def _keep(self, grown: Grown) -> None:
        """Store the tree and the facts of its method."""
        self._grown, self._explanation = grown, None
        self.tree_, self.n_leaves_ = grown.tree, grown.tree.n_leaves
        self.cluster_centers_ = self.reference_.centers
        for name in self._facts:
            setattr(self, f"{name}_", grown.facts[name])

    def _keep_agreement(self, task: Task) -> None:
        """Store how well the tree agrees with the clusters."""
