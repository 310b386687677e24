"""`Options`: the parameters of `explain`, checked, apart from the table and the clustering; the method's options."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._dates import Dates
from boxwood._frames import nearest_name
from boxwood._progress import Progress, as_progress
from boxwood._threads import n_threads
from boxwood._validation import Rows, as_seed, as_time_limit, refuse_halves, refuse_unknown, show_value
from boxwood.axes.categories import plain_value
from boxwood.batches.source import Spelling
from boxwood.explanation.ask.how_many import NUMBERS
from boxwood.explanation.measure.held_out import Validate, checked_validate
from boxwood.explanation.measure.valleys import Groups
from boxwood.reference.budget import as_names

if TYPE_CHECKING:
    from boxwood.reference.labels import Names

MANY_COLUMNS = 32  # so many without names may be pixels, or coordinates of an embedding
LIMITS = ("max_depth", "min_samples_leaf", "max_columns", "forbidden", "preferred", "round_thresholds", "cuts")
"""The parts of a `Budget` that `explain` takes."""

AS_THEY_ENTER = "auto"
"""Clusters that boxwood makes are made of columns as an `Entry` brings them to one scale; no others are scaled."""

_DATA = ("X", "labels", "by", "key")  # the parameters of `explain` that are not among what is asked
_DEFAULTS: dict[str, Any] = dict.fromkeys(("names", "validate", "time_limit", "max_leaf_nodes", "as_of", *LIMITS)) | {
    "method": "auto",
    "objective": "auto",
    "options": {},
    "verbose": 0,
    "forbidden": (),
    "preferred": (),
}
"""What `compare` and `compare_k` do not say."""


class Candidates(tuple[str, ...]):
    """Columns that the command line proposes: those of one value, and unless they are named, identifiers are left out.

    Columns that a caller names in any other way are all used.
    """

    are_named: bool

    def __new__(cls, names: Iterable[str], *, are_named: bool = False) -> Candidates:
        """Return the columns; `are_named` says that they are the user's choice."""
        made = super().__new__(cls, names)
        made.are_named = are_named
        return made


@dataclass(frozen=True)
class Options:
    """What was asked of `explain`, which states the parameters.

    Parameters
    ----------
    method : str
        Name of the method, with underscores.
    options : dict
        Options of the method; of "auto" these are `objective` and `time_limit`.
    limits : dict
        The parts of a `Budget`, by name, as they were given.
    progress : function
        What `verbose` asks for.
    categories, numbers : tuple of str
        Columns whose kind is not what it looks like.
    standardize : bool or str
        Whether columns are brought to the variance 1; "auto" is settled by `scaled_for`.
    as_of : str or date, or None
        What dates are counted from, as it was given; None for dates that are said as dates.
    orders : mapping from str to list
        The values of those categories that have an order, in that order.
    dates : mapping from str to Dates
        Columns of the table that hold dates.
    spellings : mapping from str to Spelling
        How columns of a frame are read whose numbers are texts.
    notes : tuple of str
        What is told of how that was settled.
    among : sequence of int
        Ascending numbers of clusters, of which one is chosen if none is asked for.
    groups : Groups, default=None
        Whether the rows show groups, where another question about these rows has told.
    are_inputs : bool, default=False
        Whether the rows get the clusters of another table, so that no column is taken for these.
    """

    method: str
    options: dict[str, Any]
    limits: dict[str, Any]
    n_clusters: int | None
    max_leaf_nodes: int | None
    names: Names | None
    sample_weight: Any
    random_state: Any
    columns: Sequence[str] | None
    standardize: bool | str
    missing: str
    validate: Validate | None
    n_jobs: int | None
    progress: Progress
    categories: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    orders: Mapping[str, list[Any]] = field(default_factory=dict)
    dates: Mapping[str, Dates] = field(default_factory=dict)
    spellings: Mapping[str, Spelling] = field(default_factory=dict)
    as_of: Any = None
    notes: tuple[str, ...] = ()
    among: Sequence[int] = NUMBERS
    groups: Groups | None = None
    are_inputs: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """Return what is asked by parameters of `explain`, by their names; what is not given has its default.

        Raises
        ------
        TypeError, ValueError
            If one of them has no value that `explain` knows. What depends on the table is checked later.
        """
        asked = _DEFAULTS | dict(given)
        if isinstance(asked["cuts"], str):  # "interval", an option of methods by the same name
            asked |= {"options": {**asked["options"], "cuts": asked["cuts"]}, "cuts": None}
        of_method = (asked[name] for name in ("method", "objective", "time_limit", "options"))
        method, options = method_with_options((*_DATA, *given), *of_method)
        refuse_unknown("missing", asked["missing"], ("learn", "drop", "refuse"))
        n_threads(asked["n_jobs"])  # refuses what is no number of threads
        leaves, standardize = asked["max_leaf_nodes"], asked["standardize"]
        if leaves is not None and not (isinstance(leaves, Integral) and int(leaves) >= 2):
            raise ValueError(f"max_leaf_nodes must be a whole number of at least 2, or None; got {show_value(leaves)}")
        if not (isinstance(standardize, (bool, np.bool_)) or standardize == AS_THEY_ENTER):
            raise TypeError(f"standardize must be True, False or 'auto', got {show_value(standardize)}")
        as_given = ("n_clusters", "names", "sample_weight", "columns", "missing", "n_jobs", "as_of")
        if isinstance(asked["columns"], Collection) and not isinstance(asked["columns"], str):
            refuse_halves("the name of column", asked["columns"])
        kinds = [as_names(name, asked[name]) for name in ("categories", "numbers")]
        return cls(
            method=method,
            options=options,
            limits={name: asked[name] for name in LIMITS},
            max_leaf_nodes=None if leaves is None else int(leaves),
            random_state=as_seed(asked["random_state"]),
            standardize=standardize if standardize == AS_THEY_ENTER else bool(standardize),
            validate=None if asked["validate"] is None else checked_validate(asked["validate"]),
            progress=as_progress(asked["verbose"]),
            categories=kinds[0],
            numbers=kinds[1],
            orders=_orders(asked["categories"]),
            **{name: asked[name] for name in as_given},
        )

    def measured(self, columns: Sequence[str]) -> list[int]:
        """Return the places of columns all of whose numbers are measurements, as the caller says."""
        return [j for j, name in enumerate(columns) if name in self.numbers]

    def of_clusters(self) -> Options:
        """Return what is asked of clusters and columns, without all that is asked of the rules."""
        free: dict[str, Any] = {name: _DEFAULTS[name] for name in ("method", "names", "validate", "max_leaf_nodes")}
        options = {name: _DEFAULTS[name] for name in ("objective", "time_limit")}
        return replace(self, **free, options=options, limits={name: _DEFAULTS[name] for name in LIMITS})

    def scaled_for(self, clustering: Any, X: Any) -> Options:
        """Return what is asked with the scale settled: "auto" stays for clusters that boxwood makes, as a rule.

        It is False if clusters are given, and for arrays whose columns share a unit, as pixels and embeddings do.
        """
        if self.standardize != AS_THEY_ENTER or (clustering is None and not (self.columns is None and _share_unit(X))):
            return self
        return replace(self, standardize=False)


def _share_unit(X: Any) -> bool:
    """Return whether X is an array of many columns without names, half of which span much of the range of all."""
    values = X.values if isinstance(X, Rows) else X
    if not isinstance(values, np.ndarray) or values.ndim != 2 or values.dtype.kind not in "biuf":
        return False
    if len(values) == 0 or values.shape[1] < MANY_COLUMNS:
        return False
    low, high = values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64)
    return bool(np.median(high - low) >= (high.max() - low.min()) / 4)


def _orders(categories: Any) -> dict[str, list[Any]]:
    """Return the orders of categories that a mapping states; in one of names alone None is none."""
    if not isinstance(categories, Mapping):
        return {}
    orders = {name: values for name, values in categories.items() if values is not None}
    for name, values in orders.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise TypeError(
                f"categories[{name!r}] must list values in their order, or be None; got {show_value(values)}"
            )
        orders[name] = list(map(plain_value, values))
        if None in orders[name] or len(set(map(str, orders[name]))) < len(orders[name]):
            raise ValueError(
                f"categories[{name!r}] must name texts or numbers, each once; got {show_value(list(values))}"
            )
    return orders


_MEANT = {
    **dict.fromkeys(("k", "clusters"), "n_clusters"),
    **dict.fromkeys(("labels", "y", "target", "clusterer", "estimator", "model"), "labels"),
    **dict.fromkeys(("leaves", "max_leaves", "max_leafs", "max_rules", "n_leaves"), "max_leaf_nodes"),
    **dict.fromkeys(("depth", "max_conditions"), "max_depth"),
    **dict.fromkeys(("min_leaf", "min_samples", "min_size"), "min_samples_leaf"),
    **dict.fromkeys(("digits", "decimals", "precision", "round"), "round_thresholds"),
    **dict.fromkeys(("thresholds", "breaks", "bins", "bands"), "cuts"),
    **dict.fromkeys(("class_names", "cluster_names", "label_names"), "names"),
    **dict.fromkeys(("feature_names", "features_names", "feature_columns"), "columns"),
    **dict.fromkeys(("exclude", "drop", "ignore"), "columns, which names those to keep, or forbidden"),
    **dict.fromkeys(("cv", "folds"), "validate"),
    "scale": "standardize",
    "seed": "random_state",
    "weights": "sample_weight",
}
"""What others call a parameter of `explain`; names similar to these, or to the parameters, are found, too."""


def method_with_options(
    parameters: Sequence[str], method: str, objective: str, time_limit: float | None, options: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the name of a method, and its options; `objective` and `time_limit` are options of "auto".

    IN: parameters: names of the parameters of `explain`, for what is misspelt.
    """
    from boxwood.explanation.records import GOALS
    from boxwood.grow import method_of

    _refuse_misspelt(options, parameters)
    if method == "auto":
        if options:
            option = next(iter(options))
            raise ValueError(f"options such as {option} belong to one method; name it with method=")
        refuse_unknown("objective", objective, GOALS)
        return method, {"objective": objective, "time_limit": as_time_limit(time_limit)}
    chosen = method_of(method, beside=("auto",))
    options = dict(options) if objective == "auto" else options | {"objective": objective}
    options = options if time_limit is None else options | {"time_limit": time_limit}
    chosen.check_options(options)
    return chosen.name, options


def _refuse_misspelt(options: dict[str, Any], parameters: Sequence[str]) -> None:
    """Raise a TypeError for an option that no method has, with the parameter that may be meant."""
    from boxwood.grow import METHODS

    if not options:
        return
    known = {option for method in METHODS.values() for option in method.options}
    for name in options:
        if name not in known:
            near = name if name in _MEANT else nearest_name(name, [*parameters, *sorted(known), *_MEANT])
            meant = None if near is None else _MEANT.get(near, near)
            raise TypeError(f"explain has no option {name!r}{f'; did you mean {meant}?' if meant else ''}")


def with_defaults(name: str, options: dict[str, Any], clustering: Any) -> dict[str, Any]:
    """Return the options of a method; what is not given is that of the clusterer: its kernel, or its distance."""
    from boxwood.grow import METHODS
    from boxwood.reference.clusterer import last_step
    from boxwood.reference.labels import objective_of

    defaults, known = {}, METHODS[name].options if name != "auto" else ()
    if "kernel" in known and hasattr(last_step(clustering), "kernel_"):
        defaults["kernel"] = last_step(clustering).kernel_
    if name == "random_cuts":
        defaults["objective"] = objective_of(last_step(clustering)) or "sqeuclidean"
    return defaults | options
