"""A fitted explainer in `explain`: its tree is explained, and no other is grown."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from boxwood.explanation._asked import Asked
    from boxwood.explanation._explanation import Explanation
    from boxwood.explanation._names import Names

__all__ = ["explained_by", "is_explainer", "out_of_frozen", "refuse_growing"]


def is_explainer(clustering: Any) -> bool:
    return hasattr(type(out_of_frozen(clustering)), "explanation_")


def out_of_frozen(clustering: Any) -> Any:
    from sklearn.frozen import FrozenEstimator

    return clustering.estimator if isinstance(clustering, FrozenEstimator) else clustering


def explained_by(
    explainer: Any, X: Any, columns: Sequence[str] | None, names: Names | None, sample_weight: ArrayLike | None
) -> Explanation:
    """Return the explanation by the tree of an explainer, which is cloned and fitted if it has none."""
    from sklearn.base import clone

    from boxwood.reference._clusterer import is_fitted

    if not is_fitted(explainer):
        explainer = clone(explainer).fit(X, sample_weight=sample_weight)
        sample_weight = None  # those of the fit
    explanation: Explanation = explainer._explained(X, columns=columns, names=names, sample_weight=sample_weight)
    return explanation


def refuse_growing(explainer: Any, asked: Asked) -> None:
    """Raise a ValueError if a parameter that grows a tree is given, although the explainer has a tree."""
    given = {name: getattr(asked, name) for name in ("n_clusters", "max_leaf_nodes")}
    given["time_limit"] = asked.options.get("time_limit")
    names = [name for name, value in given.items() if value is not None]
    names += ["method"] * (asked.method != "auto") + ["standardize"] * asked.standardize
    names += ["objective"] * (asked.options.get("objective", "auto") != "auto")
    limits = asked.limits | {"validate": asked.validate}
    names += [name for name, value in limits.items() if not (value is None or (isinstance(value, Sized) and not value))]
    if names:
        raise ValueError(
            f"{type(explainer).__name__} brings its own tree, so {names[0]} has no effect; "
            "to grow another tree for its clusters, pass the labels of its reference_"
        )
