"""`concept_text`: a tree on concepts in words.

The walk is that of every text (`render`); the words for a cut come from `ConceptCuts`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from boxwood.concepts._report import refuse_no_report
from boxwood.render._outline import of_cuts, outline, sides
from boxwood.render._rules import cluster_name
from boxwood.tree import ThresholdTree

if TYPE_CHECKING:
    from boxwood.concepts._report import ConceptReport

__all__ = ["ConceptCuts", "concept_text"]


def concept_text(model: Any, report: ConceptReport | None = None) -> str:
    """Return a fitted tree on concepts as text; each line of a cut says what its side means.

    A score is a signed distance from the boundary of a concept, and the boundary itself has the score 0. A threshold
    other than 0 only says that one side has more of the concept: a row on the side "red" of such a cut need not be red.
    Where the same concept was cut before, on the way from the root, the two sides are called "towards" its meanings.

    Parameters
    ----------
    model : ConceptMMDT or Pipeline
        A fitted `ConceptMMDT`, a fitted pipeline that ends with one, or a fitted pipeline of `make_concept_tree` whose
        tree is one of boxwood.
    report : ConceptReport, default=None
        If given, concepts that it calls unreliable are marked "(unreliable)".

    Returns
    -------
    str
        One line for each side of a cut and for each leaf. Thresholds are rounded to three digits.

    Raises
    ------
    TypeError
        If the model is none of those above.

    Examples
    --------
    >>> from boxwood import IMM
    >>> from boxwood.concepts import ConceptProjector, make_concept_tree
    >>> Z = [[0.0, 1.0], [0.2, 3.0], [0.1, 2.0], [2.0, 2.0], [2.1, 1.0], [2.2, 3.0]]
    >>> projector = ConceptProjector().fit(Z, {"red": [0, 0, 0, 1, 1, 1]})
    >>> model = make_concept_tree(projector, IMM()).fit(Z, ["grass", "grass", "grass", "rose", "rose", "rose"])
    >>> print(concept_text(model))
    |--- red <= -0.0185  (not red)
    |   |--- grass
    |--- red >  -0.0185  (red)
    |   |--- rose
    """
    if report is not None:
        refuse_no_report(report)
    tree, projector, clusters = _parts(model)
    unreliable = () if report is None else report.unreliable
    cuts = ConceptCuts(projector.concept_names_, projector.meanings_, unreliable)
    return outline(tree, of_cuts(tree, cuts.tests), lambda node: cluster_name(clusters[int(tree.cluster[node])]))


class ConceptCuts(NamedTuple):
    """The words for cuts on concepts: feature j of a tree is `names[j]`."""

    names: tuple[str, ...]
    meanings: Mapping[str, tuple[str, str]]
    unreliable: Collection[str] = ()

    def tests(self, feature: int, lower: float, upper: float, above: Collection[int]) -> tuple[str, str]:
        """Return the test that rows inside a cut pass, and the test of the rows outside, each with its meaning.

        Parameters
        ----------
        feature : int
            Index of the concept that is cut.
        lower, upper : float
            Rows with `lower <= score <= upper` are inside; at most one of the two is infinite.
        above : collection of int
            Indices of the concepts that are cut at the ancestors of this node.
        """
        name = self.names[feature]
        low, high = (f"towards {word}" if feature in above else word for word in self.meanings[name])
        name = f"{name} (unreliable)" if name in self.unreliable else name
        return sides(name, lower, upper, _rounded, f"  ({low})", f"  ({high})")


def _parts(model: Any) -> tuple[ThresholdTree, Any, Any]:
    """Return the tree of a model, the projector that makes its columns, and the names of its clusters."""
    explainer = model.steps[-1][1] if isinstance(model, Pipeline) else model
    projector = getattr(explainer, "projector_", None)
    if projector is None and isinstance(model, Pipeline) and len(model.steps) > 1:
        projector = model.steps[-2][1]
    tree = getattr(explainer, "tree_", None)
    if not (isinstance(tree, ThresholdTree) and hasattr(projector, "meanings_")):
        raise TypeError(
            f"expected a fitted ConceptMMDT, or a fitted pipeline of make_concept_tree with a boxwood tree, got "
            f"{type(model).__name__}; for a tree of scikit-learn call "
            "sklearn.tree.export_text(..., feature_names=projector.concept_names_)"
        )
    return tree, projector, explainer.reference_.names


def _rounded(threshold: float) -> str:
    """Return a threshold with three digits: scores of concepts are not known better."""
    return np.format_float_positional(threshold, precision=3, unique=True, fractional=False, trim="-")
