"""Trees on concepts: the pipeline from embeddings to clusters, and its cuts in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from boxwood._validation import listed
from boxwood.errors import DataError

if TYPE_CHECKING:
    from boxwood.concepts._projector import ConceptProjector
    from boxwood.concepts._report import ConceptReport

__all__ = ["make_concept_tree", "refuse_concept_tree"]


def make_concept_tree(
    projector: ConceptProjector, tree: Any, *, report: ConceptReport | None = None, allow_unreliable: bool = False
) -> Pipeline:
    """Return a pipeline that explains clusters of embeddings by a tree on concepts.

    The projector is frozen as it was fitted, on its own examples; `fit(Z, labels)` of the pipeline then grows the tree
    on the scores of other rows. With `IMM` it is Concept-IMM, with `CART` or scikit-learn's `DecisionTreeClassifier`
    Concept-CART, with `MMDT` Concept-MMDT. The paper recommends CART where clusters are far from Gaussian along the
    concepts (`metrics.tail_check` tells).

    Parameters
    ----------
    projector : ConceptProjector
        Fitted.
    tree : estimator
        Any explainer of boxwood, or classifier of scikit-learn.
    report : ConceptReport, default=None
        What `concept_report` said of the concepts.
    allow_unreliable : bool, default=False
        Whether concepts that the report calls unreliable may be cut on.

    Returns
    -------
    Pipeline
        Not fitted. Its steps are "concepts" and "tree".

    Raises
    ------
    DataError
        If there are unreliable concepts, and they are not allowed, or the report is of other concepts.
    ValueError
        If the tree is a `ConceptMMDT`, which takes embeddings by itself.

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
        if report.name != projector.concept_names_:
            raise DataError(f"the report is of the concepts {report.name}, not of {projector.concept_names_}")
        doubtful = [name for name, reliable in zip(report.name, report.reliable, strict=True) if not reliable]
        if doubtful and not allow_unreliable:
            raise DataError(
                f"unreliable concepts: {listed(doubtful)}; take projector.select(report.reliable), "
                "or allow_unreliable=True to cut on them all the same"
            )
    return Pipeline([("concepts", FrozenEstimator(projector)), ("tree", tree)])


def refuse_concept_tree(tree: Any) -> None:
    """Raise a ValueError for a tree that would project scores once more."""
    if hasattr(tree, "projector"):
        name = type(tree).__name__
        raise ValueError(f"the tree must be one that is grown on scores, such as MMDT(); {name} takes embeddings")
