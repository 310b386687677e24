"""The explanation of a model, and its rules: a line for each cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boxwood.words.rules import cluster_rule
from boxwood.words.values import cluster_name

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree


def rules(model: Any, *, full: bool = False) -> str:
    """Return one line for each cluster: its name and its rule.

    Parameters
    ----------
    model : Explanation, or a fitted estimator with `explanation_`
    full : bool, default=False
        Whether rules name all words of a list, however many these are, as `to_dict` does.

    Examples
    --------
    >>> import boxwood
    >>> ex = boxwood.explain([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"], columns=["age"])
    >>> print(rules(ex))
    high: age > 5
    low: age <= 5
    """
    clusters = explanation_of(model)._for_people().clusters
    return "\n".join(f"{cluster_name(cluster.name)}: {cluster_rule(cluster, whole=full)}" for cluster in clusters)


def explanation_of(model: Any) -> MeasuredTree:
    """Return the explanation of a fitted estimator; an explanation is returned as it is."""
    explanation = getattr(model, "explanation_", model)
    if not hasattr(explanation, "clusters"):
        raise TypeError(f"expected an Explanation or a fitted explainer of boxwood, got {type(model).__name__}")
    return explanation  # type: ignore[no-any-return]
