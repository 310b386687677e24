"""The method of `explain` and its options: checked, and completed by what the clusterer says."""

from __future__ import annotations

from inspect import signature
from typing import Any

from boxwood._frames import nearest_name
from boxwood._validation import as_time_limit, refuse_unknown

__all__ = ["method_with_options", "with_defaults"]

_MEANT = {
    "k": "n_clusters",
    "labels": "labels_or_estimator",
    "leaves": "max_leaf_nodes",
    "max_leaves": "max_leaf_nodes",
    "scale": "standardize",
    "seed": "random_state",
    "weights": "sample_weight",
}
"""What others call a parameter of `explain`; similar names are found without this."""


def method_with_options(
    method: str, objective: str, time_limit: float | None, options: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the name of a method, and its options; `objective` and `time_limit` are options of "auto"."""
    from boxwood.explanation._facts import GOALS
    from boxwood.grow import method_of

    _refuse_misspelt(options)
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


def _refuse_misspelt(options: dict[str, Any]) -> None:
    """Raise a TypeError for an option that no method has, with the parameter that may be meant."""
    from boxwood.explanation._explain import explain
    from boxwood.grow import METHODS

    if not options:
        return
    known = {option for method in METHODS.values() for option in method.options}
    for name in options:
        if name not in known:
            meant = _MEANT.get(name) or nearest_name(name, [*signature(explain).parameters, *sorted(known)])
            raise TypeError(f"explain has no option {name!r}{f'; did you mean {meant}?' if meant else ''}")


def with_defaults(name: str, options: dict[str, Any], clustering: Any) -> dict[str, Any]:
    """Return the options of a method; what is not given is that of the clusterer: its kernel, or its distance."""
    from boxwood.grow import METHODS
    from boxwood.reference._clusterer import last_step
    from boxwood.reference._estimators import objective_of

    defaults, known = {}, METHODS[name].options if name != "auto" else ()
    if "kernel" in known and hasattr(last_step(clustering), "kernel_"):
        defaults["kernel"] = last_step(clustering).kernel_
    if name == "random_cuts":
        defaults["objective"] = objective_of(last_step(clustering)) or "sqeuclidean"
    return defaults | options
