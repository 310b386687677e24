"""The warning of concepts that the embeddings do not predict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from boxwood._validation import listed
from boxwood._warnings import warn_caller
from boxwood.concepts._reliability import least_scores, score_text

if TYPE_CHECKING:
    from boxwood.concepts._projector import ConceptProjector

__all__ = ["warn_of_undecodable"]


def warn_of_undecodable(projector: ConceptProjector, concepts: Iterable[int]) -> None:
    """Warn of those concepts that were learned from examples, but whose score is too low to be decoded."""
    examples = projector.n_examples_ > 0
    low = examples & ~(projector.scores_ >= least_scores(projector.kinds_))  # also where there is no score
    named = [_with_score(projector, j) for j in concepts if low[j]]
    if named:
        warn_caller(
            f"concepts that the embeddings do not predict: {listed(named)}; cuts on them are near to chance, so leave "
            "them out (ConceptProjector.select), give more examples, or see concept_report"
        )


def _with_score(projector: ConceptProjector, j: int) -> str:
    kind, score, least = projector.kinds_[j], projector.scores_[j], least_scores(projector.kinds_)[j]
    if np.isnan(score):
        return f"{projector.concept_names_[j]} (no score, as its model refuses parts of the examples)"
    return f"{projector.concept_names_[j]} (cross-validated {score_text(kind, score)}, less than {least:g})"
