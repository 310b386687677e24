"""Trees on concepts in words."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from boxwood.tree import ThresholdTree

if TYPE_CHECKING:
    from boxwood.concepts._report import ConceptReport

__all__ = ["concept_text"]


def concept_text(model: Any, report: ConceptReport | None = None) -> str:
    """Return a fitted tree on concepts as text: each cut with what its two sides mean.

    Scores are signed distances, so a threshold of 0 is the boundary of a concept; at another threshold a side has more,
    or less, of the concept than that, and a row on the side of "red" need not be red. Where a concept is cut again
    below, the sides are "towards" its meanings.

    Parameters
    ----------
    model : ConceptMMDT, or a pipeline that ends with one, or one of `make_concept_tree` whose tree is boxwood's
    report : ConceptReport, default=None
        Marks the concepts that it calls unreliable.

    Examples
    --------
    >>> from boxwood import IMM
    >>> from boxwood.concepts import ConceptProjector
    >>> Z = [[0.0, 1.0], [0.2, 3.0], [0.1, 2.0], [2.0, 2.0], [2.1, 1.0], [2.2, 3.0]]
    >>> projector = ConceptProjector().fit(Z, {"red": [0, 0, 0, 1, 1, 1]})
    >>> model = make_concept_tree(projector, IMM()).fit(Z, ["grass", "grass", "grass", "rose", "rose", "rose"])
    >>> print(concept_text(model))
    |--- red <= -0.0185  (not red)
    |   |--- grass
    |--- red >  -0.0185  (red)
    |   |--- rose
    """
    tree, projector, names = _parts(model)
    doubtful = set() if report is None else {n for n, ok in zip(report.name, report.reliable, strict=True) if not ok}
    lines: list[str] = []
    stack: list[tuple[int, tuple[str, ...], str]] = [
        (0, (), "")
    ]  # node, the concepts cut above it, the test that leads to it
    while stack:
        node, above, test = stack.pop()
        if test:
            lines.append(f"{'|   ' * (len(above) - 1)}|--- {test}")
        feature = int(tree.feature[node])
        if feature < 0:
            lines.append(f"{'|   ' * len(above)}|--- {_cluster_name(names[int(tree.cluster[node])])}")
            continue
        concept = projector.concept_names_[feature]
        shown = f"{concept} (unreliable)" if concept in doubtful else concept
        low, high = (f"towards {word}" if concept in above else word for word in projector.meanings_[concept])
        inside, outside = _tests(shown, low, high, float(tree.lower[node]), float(tree.upper[node]))
        below = (*above, concept)
        stack += ((int(tree.second[node]), below, outside), (node + 1, below, inside))
    return "\n".join(lines)


def _parts(model: Any) -> tuple[ThresholdTree, Any, Any]:
    tree = model.steps[-1][1] if isinstance(model, Pipeline) else model
    projector = getattr(tree, "projector_", None)
    if projector is None and isinstance(model, Pipeline) and len(model.steps) > 1:
        projector = model.steps[-2][1]
    if not (hasattr(tree, "tree_") and isinstance(tree.tree_, ThresholdTree) and hasattr(projector, "meanings_")):
        raise TypeError(
            "expected a fitted ConceptMMDT, or a fitted pipeline of make_concept_tree with a boxwood tree; "
            "sklearn.tree.export_text(..., feature_names=projector.concept_names_) prints those of scikit-learn"
        )
    return tree.tree_, projector, tree.reference_.names


def _cluster_name(name: Hashable) -> str:
    """Return how a cluster is called: a number alone would look like one of the scores."""
    return f"cluster {name}" if isinstance(name, (int, float)) and not isinstance(name, bool) else str(name)


def _tests(concept: str, low: str, high: str, lower: float, upper: float) -> tuple[str, str]:
    """Return the tests of the two sides of a cut; those of an interval lie on no side of a meaning."""
    if lower == -np.inf:
        return f"{concept} <= {_short(upper)}  ({low})", f"{concept} >  {_short(upper)}  ({high})"
    if upper == np.inf:
        return f"{concept} >= {_short(lower)}  ({high})", f"{concept} <  {_short(lower)}  ({low})"
    return (
        f"{_short(lower)} <= {concept} <= {_short(upper)}",
        f"{concept} < {_short(lower)}  ({low}) or > {_short(upper)}  ({high})",
    )


def _short(threshold: float) -> str:
    """Return a threshold with three digits, as scores of concepts have no more to say."""
    return np.format_float_positional(threshold, precision=3, unique=True, fractional=False, trim="-")
