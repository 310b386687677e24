"""The base of all estimators: from a table to a tree, by the method that a subclass names; answers of a fitted one.

Labels of rows, its price and its explanation are computed when first read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from boxwood._compat import HasMethods, Interval, StrOptions, fit_context
from boxwood._frames import is_frame, label_values, names_array
from boxwood._types import Array, Floats, Indices, Ints, Weights
from boxwood._validation import Rows, list_words, show_value, total_weight
from boxwood.api.explanation import Explanation
from boxwood.axes import AxisMap, axis_map_of
from boxwood.axes.maps import Chained
from boxwood.batches import Batches, Source
from boxwood.batches.batches import rows_of
from boxwood.errors import DataError
from boxwood.estimators._fits import (
    NO_LABELS,
    Explained,
    Fit,
    NoExplanation,
    TableReader,
    digest_of,
    refuse_clusterer,
    refuse_source,
    resolve_names,
)
from boxwood.explanation.apply.predict import shares_of_leaves
from boxwood.explanation.ask.clustering import clustering_of_table, name_clusters, notes_on_labels_of
from boxwood.explanation.ask.columns import boolean_columns_of, left_out_of, notes_on_left_out, refuse_one_cluster_of
from boxwood.explanation.ask.explainer import is_explainer
from boxwood.explanation.ask.provenance import given_in
from boxwood.explanation.measure.limited import finish_tree
from boxwood.explanation.measure.measure import measure
from boxwood.explanation.measured_tree import with_kinds, with_short_words, with_words_of
from boxwood.grow import METHODS
from boxwood.grow.grown import Grown
from boxwood.metrics import cost
from boxwood.reference import Mixture, Reference, Task
from boxwood.reference.budget import Budget
from boxwood.reference.clusterer import fitted_clusterer, predicted_reference, reference_in, reference_of
from boxwood.reference.feature_space import FeatureSpace, made_by, not_made
from boxwood.reference.labels import Names
from boxwood.reference.reference import refuse_one_cluster
from boxwood.table.scanned import as_source
from boxwood.tree import ThresholdTree


class FittedTree(TableReader):
    """An estimator that holds the tree of a fit, and what the tree was measured on until the explanation is read."""

    noise: str

    tree_: ThresholdTree
    reference_: Reference

    _grown: Grown
    _fit: Fit | None
    _explanation: Explanation | None
    _digest: bytes
    _fit_weights: Weights
    _prices: tuple[float, float] | None = None  # the price and its ceiling, once they are known
    _labels: Array | None = None
    _no_explanation = (
        "labels_, price_ and explanation_ are of rows, but the tree was grown from a mixture without rows; use fit(X)"
    )

    def predict(self, X: Any) -> Array:
        """Return the cluster of each row, shape (n,): a label of `y`, or the number that the clusterer gives it.

        Every row has the cluster of its leaf, also where `noise="keep"`: a row alone does not show that it is noise.
        """
        return self._name_clusters(self._fitted_tree().predict(self._tested_columns(X), n_jobs=self._jobs()))

    def predict_proba(self, X: Any) -> Floats:
        """Return the share of each cluster among the rows of `fit` in a row's leaf, shape (n, k).

        Columns are in the order of `classes_`; see `Explanation.predict_proba`. Unless `explanation_` was read before,
        each call measures the rows of `fit`.
        """
        check_is_fitted(self)
        explanation = self._measured_fit().explanation if self._explanation is None else self._explanation
        return shares_of_leaves(explanation)[self.apply(X)]

    @property
    def classes_(self) -> Array:
        """Names of the clusters in ascending order, shape (k,): the columns of `predict_proba`.

        So scikit-learn's `CalibratedClassifierCV` and scorers such as "neg_log_loss" and "roc_auc" take the estimator.
        """
        check_is_fitted(self)
        return names_array(self.reference_.names)

    def decision_function(self, X: Any) -> Floats:
        """Return the shares of `predict_proba`; of two clusters that of the second alone, shape (n,).

        It is what scikit-learn asks for the one number of two classes, as it sees that this is no classifier.
        """
        shares = self.predict_proba(X)
        return shares[:, 1] if shares.shape[1] == 2 else shares

    def apply(self, X: Any) -> Ints:
        """Return the leaf of each row, shape (n,), with leaves numbered from 0 in pre-order."""
        return self._fitted_tree().apply(self._tested_columns(X), n_jobs=self._jobs())

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean cost of rows under the tree, with a minus sign; greater is better, and 0 is the best score.

        The tree gives each row a cluster. The cost of a row is its distance to the centre of its cluster
        (`cluster_centers_`), and the mean is that by the weights of the rows. Distances are squared Euclidean, or those
        of the estimator's `objective`, as for `price_`. `y` is ignored: see `fit` for how well a tree predicts labels
        of other rows.
        """
        tree, rows = self._fitted_tree(), self._rows(X, sample_weight)
        options: dict[str, Any] = {"centers": self.cluster_centers_, "objective": self._grown.objective}
        return -cost(rows, tree, **options) / total_weight(rows)

    @property
    def explanation_(self) -> Explanation:
        """The tree with its rules, agreement and price on the rows of `fit`; computed when first read."""
        check_is_fitted(self)
        return self._explain_fit() if self._explanation is None else self._explanation

    @property
    def labels_(self) -> Array:
        """Cluster that the tree gives to each row of `fit`, shape (n,); computed when first read."""
        check_is_fitted(self)
        if self._labels is None:
            clusters = self._clusters_of_fit()
            if self.noise == "keep":
                clusters = np.where(self.reference_.kept, clusters, -1)
            self._labels = self._name_clusters(clusters)
        return self._labels

    @property
    def price_(self) -> float:
        """Price of explainability on the rows of `fit`; computed when first read."""
        check_is_fitted(self)
        return self._prices_of_fit()[0]

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's picture of the estimator and, if it is fitted, the short form of the report below."""
        html: str = super()._repr_html_inner()
        return html + self._report_below()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return the representation in notebooks: see `_repr_html_inner`."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._report_below()
        return bundle

    def _report_below(self) -> str:
        try:
            return self.explanation_._repr_html_()
        except Exception:  # not fitted, or grown without rows; a representation is never an error
            return ""

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a pickle: it holds the explanation and not the rows of `fit`."""
        if getattr(self, "_fit", None) is not None:
            try:
                self._explain_fit()
            except DataError as error:  # the fit itself is good, so it can be pickled
                with suppress(DataError):
                    self._labels = self.labels_
                with suppress(DataError):
                    self._prices_of_fit()
                self._fit, self._no_explanation = None, str(error)
        state: dict[str, Any] = super().__getstate__()
        return state

    # ------------------------------------------------------------------------------------------------- steps

    def _clusters_of_fit(self) -> Indices:
        """Return the cluster that the tree gives to each row of `fit`.

        This takes about as long as a tree, and costs take as long again. So `fit` leaves both to those who ask.
        """
        if self._fit is None:
            raise NoExplanation(self._no_explanation)
        return self._fit.clusters(self.tree_)

    def _prices_of_fit(self) -> tuple[float, float]:
        """Return the price of the tree on the rows of `fit`, and the highest price that any tree could have."""
        if self._fit is not None and self._fit.task.in_batches:
            self._explain_fit()
        if self._prices is None:
            clusters = self._clusters_of_fit()
            assert self._fit is not None  # otherwise there were no clusters
            self._prices = self._fit.prices(self._grown, clusters)
        return self._prices

    def _explain_fit(self) -> Explanation:
        """Compute and store the explanation, which refers to the rows of `fit`; a digest recognises them later."""
        found = self._measured_fit()
        if self._fit is not None and not self._fit.task.in_batches:
            self._labels = self.labels_
        self._explanation, self._prices, self._digest, self._fit_weights = found
        self._fit = None
        return found.explanation

    def _measured_fit(self) -> Explained:
        """Return the explanation of the rows of `fit`, with what is stored beside it; nothing is stored."""
        if self._fit is None:
            raise NoExplanation(self._no_explanation)
        return self._fit.explained(self._grown, self._booleans, self._dates)

    def _explain_rows(
        self, X: Any, *, columns: Sequence[str] | None, names: Names | None, sample_weight: ArrayLike | None
    ) -> Explanation:
        """Return the explanation by the fitted tree, on the rows of `fit` or on other rows; see `explain`."""
        explanation, X = self.explanation_, self._numbers(X)
        rows = self._rows(X, sample_weight)
        is_of_fit = digest_of(rows) == self._digest
        if is_of_fit and columns is None and names is None and sample_weight is None:
            return explanation
        if columns is not None and is_frame(X):
            raise ValueError("columns cannot be chosen for an existing tree; leave columns out")
        if is_of_fit and sample_weight is None:
            rows = Rows(rows.values, self._fit_weights)
        reference = self.reference_ if is_of_fit else self._reference_on(X, rows)
        coordinates = self._coordinates(X, rows).renamed(columns)
        # a tree that is already grown needs no centres
        without_centers = Reference(reference.labels, np.zeros((reference.n_clusters, coordinates.rows.n_columns)))
        clusters = name_clusters(without_centers.named(reference.names), names)
        task = Task.of(coordinates.rows, clusters, mixture=self._mixture(coordinates), n_jobs=self._jobs())
        measured = measure(task, self._grown, coordinates)
        measured = with_words_of(measured, explanation)
        kinds = (self._booleans, self._dates) if columns is None else ((), {})
        return with_kinds(Explanation._of(measured), *kinds)

    def _explained_behind(
        self, made: Any, outer: FeatureSpace, names: Names | None, sample_weight: ArrayLike | None
    ) -> Explanation:
        """Return the explanation by the fitted tree on the columns of a table; IN: made, outer: rows made of these."""
        rows = self._rows(made, sample_weight)
        is_of_fit = self.explanation_ is not None and digest_of(rows) == self._digest  # which that keeps
        if is_of_fit and sample_weight is None and self._fit_weights is not None:
            rows = Rows(rows.values, self._fit_weights)
        reference = self.reference_ if is_of_fit else self._reference_on(made, rows)
        inner, tree = self._coordinates(made, rows), outer.pulled_back(self._fitted_tree())
        whole = outer.axis_map
        if whole is not None and inner.axis_map is not None:
            whole = Chained(whole, inner.axis_map)
        here = replace(outer, store=inner.store, measured=inner.measured, axis_map=whole)
        without_centers = Reference(reference.labels, np.zeros((reference.n_clusters, here.rows.n_columns)))
        clusters = name_clusters(without_centers.named(reference.names), names)
        task = Task.of(here.rows, clusters, mixture=self._mixture(inner), n_jobs=self._jobs())
        measured = measure(task, self._grown._replace(tree=tree), here)
        return Explanation._of(with_short_words(measured, outer.shortened(tree)))

    def _reference_on(self, X: Any, rows: Rows) -> Reference:
        """Return the clusters that the clusterer predicts for new rows, numbered as in `fit`."""
        clusterer = getattr(self, "clusterer_", None)
        if not hasattr(clusterer, "predict"):
            raise DataError(
                f"{type(self).__name__} was fitted on other rows, and has no clusterer that could predict the clusters "
                "of these rows; explain the rows of its fit"
            )
        reference, names = predicted_reference(clusterer, X, rows), list(self.reference_.names)
        unknown = [name for name in reference.names if name not in names]
        if unknown:
            new = list_words([str(name) for name in unknown])
            raise DataError(f"the clusterer predicts clusters for these rows that it did not find in fit: {new}")
        number = np.array([*(names.index(name) for name in reference.names), -1])
        return Reference(number[reference.labels], self.reference_.centers, self.reference_.names)

    def _fitted_tree(self) -> ThresholdTree:
        check_is_fitted(self)
        return self.tree_

    def _name_clusters(self, clusters: Ints) -> Array:
        """Return the label of each cluster; -1 stays the number -1."""
        names = self.reference_.names
        return names_array((*names, -1) if clusters.min() < 0 else names)[clusters]


AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
AT_LEAST_TWO = Interval(Integral, 2, None, closed="left")


class TreeClusterer(FittedTree):
    """A clusterer whose clusters are the leaves of a small tree of cuts.

    A subclass stores its parameters and names its method, an entry of `grow.METHODS`. Parameters with the name of an
    option of that method are passed to it.
    """

    clusterer_: Any
    tree_: ThresholdTree

    n_leaves_: int

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
            Rows. Arrays of float32 or float64 are not copied. Dates become days. Columns of text are left out of a data
            frame, and dates, too, if a clusterer reads it, with a warning and a note in `explanation_`;
            `feature_names_in_` has the others. `predict` takes the same frame. A pipeline that clusters the frame may
            read such columns, so there they are refused; `explain` takes them. A table in batches (`boxwood.scan`) is
            read as often as the method needs; there is no `labels_` then, and a `clusterer` must be a
            `FrozenEstimator`.
        y : array-like of shape (n,), or str, default=None
            Labels to explain, of any hashable type; -1 leaves a row out, as a number or as text, and so does a missing
            label, with a warning. A name is that of a column of a data frame or of a table in batches, which is no
            feature then.
        sample_weight : array-like of shape (n,), or str, default=None
            Weight of each row, for the tree, and for the clusterer if its `fit` accepts weights; or the name of the
            column that holds it. Where scikit-learn routes metadata, `clusterer` says by `set_fit_request` whether it
            takes weights.

        Returns
        -------
        self

        Notes
        -----
        An explainer is a clusterer to scikit-learn, also where it is fitted on labels. So `cross_val_score` and
        searches neither stratify folds by themselves nor compare labels. Ask for both:
        `cross_val_score(model, X, y, cv=StratifiedKFold(5), scoring="accuracy")`.

        Raises
        ------
        DataError
            If `X` has missing or infinite values, or text in an array, if the numbers of labels and rows differ, if
            there is only one cluster, if there are fewer different rows than clusters asked for, or if the method or
            the clusterer cannot take a table in batches.
        """
        refuse_clusterer(self, y)
        given = X, y, sample_weight
        with self._all_or_nothing():
            source = as_source(X)
            if source is not None:
                self._explain_source(source, y, sample_weight)
                given = source, y, sample_weight
            else:
                X, y, sample_weight, self._beside = resolve_names(X, y, sample_weight)
                self._read_kinds(X, y)
                rows = self._rows(X, sample_weight, reset=True)
                self._explain_clusters(X, rows, y)
            self._keep_given(*given)
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

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who asks for sample weights: the tree, and the clusterer that is fitted for it, by its own request."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        if self.clusterer is None:
            return router
        fits = MethodMapping().add(caller="fit", callee="fit").add(caller="fit_predict", callee="fit")
        return router.add(clusterer=self.clusterer, method_mapping=fits)

    # ------------------------------------------------------------------------------------------------- steps

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Remove the results of an earlier fit, and restore them if this fit fails or is interrupted."""
        before = self.__dict__
        of_fit = {"_grown", "_fit", "_explanation", "_no_explanation", "_digest", "_fit_weights", "_map"}
        of_fit |= {"_left_out", "_unlabelled", "_booleans", "_dates", "_beside", "_prices", "_labels", "_price_bound"}
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
        refuse_one_cluster(self.reference_, None if y is None else label_values(y))
        self._map, notes = self._axis_map(X)
        self._unlabelled = notes_on_labels_of(X, y)
        notes = (*notes_on_left_out(self._left_out), *self._unlabelled, *notes)
        coordinates = replace(self._coordinates(X, rows), notes=notes)
        task = self._task(coordinates)
        grown = METHODS[self._method].grow(task, **self._options())
        self._warn(grown, task, coordinates)
        tree, _ = finish_tree(coordinates.pulled_back(grown.tree), task, task.budget, coordinates)
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

    def _explain_source(self, source: Source, label: Any, weight: Any) -> None:
        """Find the clusters of a table in batches, grow the tree, and store both.

        Raises
        ------
        DataError
            If the method or the clusterer needs all rows in memory, or there is only one cluster.
        """
        for what, name in (("labels", label), ("sample_weight", weight)):
            if name is not None and not isinstance(name, str):
                raise DataError(
                    f"the rows of {source.name} are read in batches, so {what} must be the name of a column of it; "
                    f"got {show_value(name)}"
                )
        method = METHODS[self._method]
        method.refuse_batches()  # before anything is read
        batches = replace(rows_of(source, label, weight), n_jobs=self._jobs())
        self._dates = source.dates
        self._booleans, self._left_out = boolean_columns_of(batches), left_out_of(source, (label, weight))
        self._beside = tuple(name for name in (label, weight) if name is not None)
        self.n_features_in_: int = batches.n_columns
        self.feature_names_in_: Array = np.array(batches.columns, dtype=object)
        reference, notes = self._clusters_on(batches, label)
        task = self._task_on(batches, reference, self._mixture(None))
        refuse_one_cluster_of(task)
        self.reference_: Reference = replace(reference, measured=None)  # type: ignore[assignment]  # which holds no table
        self._keep(method.grow(task, **self._options()))
        self._map, self._no_explanation = None, NO_LABELS
        self._unlabelled = notes_on_labels_of(source, reference)
        self._fit = Fit(task, notes=(*notes_on_left_out(self._left_out), *self._unlabelled, *notes))

    def _keep_given(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Store what rows and clusters are called, for the basis of the explanation."""
        if self._fit is not None:
            made_by = self.clusterer if y is None else y
            self._fit = self._fit._replace(rests_on=given_in(X, made_by, sample_weight, self.n_clusters))

    def _reference(self, X: Any, rows: Rows, y: Any) -> Reference:
        """Return the clustering to be explained, with centres in the columns of the table."""
        if y is not None:
            return Reference.of(rows, label_values(y))
        if is_explainer(self.clusterer):
            raise DataError(
                f"the clusterer of {type(self).__name__} is an explainer, which brings its own tree; "
                "pass the clusterer of that, or fit on the labels of its reference_"
            )
        routed = get_config()["enable_metadata_routing"]
        if rows.weights is not None and routed:  # refused if nobody said who takes them
            self.get_metadata_routing().route_params(params={"sample_weight": rows.weights}, caller="fit")
        options: dict[str, Any] = {"n_clusters": self.n_clusters, "random_state": self.random_state}
        self.clusterer_ = fitted_clusterer(self._unfitted_clusterer(rows), X, rows, **options)
        return reference_of(self.clusterer_, X, rows)

    def _clusters_on(self, batches: Batches, label: str | None) -> tuple[Reference, tuple[str, ...]]:
        """Return the clusters of a column of labels, of a fitted clusterer that is frozen, or of k-means by passes.

        Then come notes on them, of which there are none here.
        """
        if label is not None:
            return clustering_of_table(batches, label), ()
        clusterer = self.clusterer
        if clusterer is not None:
            if not isinstance(clusterer, FrozenEstimator):
                raise DataError(
                    f"{type(clusterer).__name__} cannot be fitted on a table in batches; fit it on a sample and give "
                    "FrozenEstimator(fitted), name a column of labels, or leave it out for k-means"
                )
            self.clusterer_ = clusterer
            return clustering_of_table(batches, clusterer.estimator), ()
        from boxwood.clusterers.k_means_batches import k_means_of_batches

        found = k_means_of_batches(batches, self.n_clusters, random_state=self.random_state)
        self.clusterer_ = found.as_estimator()
        return found.reference, ()

    def _unfitted_clusterer(self, rows: Rows) -> Any:
        """Return the clusterer to be fitted; None is k-means."""
        return self.clusterer

    def _axis_map(self, X: Any) -> tuple[AxisMap | None, tuple[str, ...]]:
        """Return the map of a pipeline's first steps, and a note on it; no map if the steps mix columns."""
        steps = getattr(getattr(self, "clusterer_", None), "steps", ())
        if len(steps) < 2:
            return None, ()
        try:
            return axis_map_of(self.clusterer_[:-1], X), made_by(self.clusterer_[:-1])
        except DataError as error:
            return None, (not_made(error),)

    def _task(self, coordinates: FeatureSpace) -> Task:
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

    def _mixture(self, coordinates: FeatureSpace | None) -> Mixture | None:
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

    def _warn(self, grown: Grown, task: Task, coordinates: FeatureSpace) -> None:
        """Warn if the tree is doubtful."""

    def _keep(self, grown: Grown) -> None:
        """Store the tree and the facts of its method."""
        self._grown, self._explanation = grown, None
        self.tree_, self.n_leaves_ = grown.tree, grown.tree.n_leaves
        self.cluster_centers_: Floats = self.reference_.centers
        for name in self._facts:
            setattr(self, f"{name}_", grown.attributes[name])

    def _keep_agreement(self, task: Task) -> None:
        """Store how well the tree agrees with the clusters."""
