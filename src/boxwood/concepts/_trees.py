"""The pipeline from embeddings to a tree on concepts, and such a tree in words.

The walk is that of every text (`render`); the words for a cut come from `ConceptCuts`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from boxwood._validation import list_words
from boxwood.concepts._report import refuse_no_report
from boxwood.errors import DataError
from boxwood.render.forms.walk import of_cuts, outline, sides_of_cut
from boxwood.tree import ThresholdTree
from boxwood.words.values import cluster_name

if TYPE_CHECKING:
    from boxwood.concepts._report import ConceptReport
    from boxwood.concepts.projector import ConceptProjector


def make_concept_tree(
    projector: ConceptProjector, tree: Any, *, report: ConceptReport | None = None, allow_unreliable: bool = False
) -> Pipeline:
    """Return a pipeline that explains clusters of embeddings by a tree on concepts.

    The first step projects embeddings onto concepts. It is frozen: `fit(Z, labels)` of the pipeline does not learn the
    concepts again, it only grows the tree on the scores of `Z`.

    The tree names the method: `IMM()` gives Concept-IMM, `MMDT()` Concept-MMDT, `CART()` or scikit-learn's
    `DecisionTreeClassifier()` Concept-CART. The paper recommends CART for clusters that are far from Gaussian along
    the concepts; `metrics.tail_check` tests that.

    Parameters
    ----------
    projector : ConceptProjector
        Fitted.
    tree : estimator
        Any explainer of boxwood, or classifier of scikit-learn, that is fitted on scores and cluster labels.
    report : ConceptReport, default=None
        The result of `concept_report` for the projector. With a report, unreliable concepts are refused.
    allow_unreliable : bool, default=False
        Whether the tree may cut on concepts that the report calls unreliable.

    Returns
    -------
    Pipeline
        Not fitted. Its steps are "concepts" and "tree".

    Raises
    ------
    DataError
        If the report finds unreliable concepts and `allow_unreliable` is False, or if it is about other concepts.
    ValueError
        If the tree is a `ConceptMMDT`: it takes embeddings and projects them by itself.

    Examples
    --------
    >>> from boxwood import IMM
    >>> from boxwood.concepts import ConceptProjector
    >>> Z = [[0.0, 1.0], [0.2, 3.0], [0.1, 2.0], [2.0, 2.0], [2.1, 1.0], [2.2, 3.0]]
    >>> projector = ConceptProjector().fit(Z, {"red": [0, 0, 0, 1, 1, 1]})
    >>> model = make_concept_tree(projector, IMM()).fit(Z, ["grass", "grass", "grass", "rose", "rose", "rose"])
    >>> model.predict([[0.0, 0.0], [3.0, 0.0]]).tolist()
    ['grass', 'rose']
    """
    check_is_fitted(projector)
    refuse_concept_tree(tree)
    if report is not None:
        refuse_no_report(report)
        if report.name != projector.concept_names_:
            raise DataError(
                "the report must be about the concepts of the projector, "
                f"{list_words(projector.concept_names_)}, got one "
                f"about {list_words(report.name)}; call concept_report with this projector"
            )
        if report.unreliable and not allow_unreliable:
            raise DataError(
                f"unreliable concepts: {list_words(report.unreliable)}; take projector.select(report.reliable), "
                "or allow_unreliable=True to cut on them all the same"
            )
    return Pipeline([("concepts", FrozenEstimator(projector)), ("tree", tree)])


def refuse_concept_tree(tree: Any) -> None:
    """Raise a ValueError if a tree projects embeddings by itself: it would take scores for embeddings."""
    if hasattr(tree, "projector"):
        name = type(tree).__name__
        raise ValueError(f"the tree must be grown on scores, such as MMDT(); {name} takes embeddings")


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
    tree, projector, clusters = _tree_projector_names(model)
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
        return sides_of_cut(name, lower, upper, _round_threshold, f"  ({low})", f"  ({high})")


def _tree_projector_names(model: Any) -> tuple[ThresholdTree, Any, Any]:
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


def _round_threshold(threshold: float) -> str:
    """Return a threshold with three digits: scores of concepts are not known better."""
    return np.format_float_positional(threshold, precision=3, unique=True, fractional=False, trim="-")
