"""`make_concept_tree`: the pipeline from embeddings to a tree on concepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from boxwood._validation import listed
from boxwood.concepts._report import refuse_no_report
from boxwood.errors import DataError

if TYPE_CHECKING:
    from boxwood.concepts._projector import ConceptProjector
    from boxwood.concepts._report import ConceptReport

__all__ = ["make_concept_tree", "refuse_concept_tree"]


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
                f"the report must be about the concepts of the projector, {listed(projector.concept_names_)}, got one "
                f"about {listed(report.name)}; call concept_report with this projector"
            )
        if report.unreliable and not allow_unreliable:
            raise DataError(
                f"unreliable concepts: {listed(report.unreliable)}; take projector.select(report.reliable), "
                "or allow_unreliable=True to cut on them all the same"
            )
    return Pipeline([("concepts", FrozenEstimator(projector)), ("tree", tree)])


def refuse_concept_tree(tree: Any) -> None:
    """Raise a ValueError if a tree projects embeddings by itself: it would take scores for embeddings."""
    if hasattr(tree, "projector"):
        name = type(tree).__name__
        raise ValueError(f"the tree must be grown on scores, such as MMDT(); {name} takes embeddings")
