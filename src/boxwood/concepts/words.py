"""Words for the two sides of each concept, and the warning of concepts that embeddings do not predict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from boxwood._messages import warn_caller
from boxwood._validation import listed, refuse_other_kind
from boxwood.concepts._learning import least_scores, score_text
from boxwood.concepts._table import BINARY

if TYPE_CHECKING:
    from boxwood.concepts._projector import ConceptProjector

__all__ = ["Meanings", "meanings_of", "warn_of_undecodable"]

Meanings = Mapping[str, tuple[str, str]]


def meanings_of(names: Sequence[str], kinds: Sequence[str], meanings: Meanings | None) -> dict[str, tuple[str, str]]:
    """Return two words for each concept, (low, high): those that are given, or words made of its name.

    Raises
    ------
    TypeError
        If `meanings` is no mapping.
    ValueError
        If the words of a concept are not two.
    """
    given = {} if meanings is None else meanings
    refuse_other_kind("meanings", given, Mapping, "give the names of concepts two words each: {name: (low, high)}")
    for name, words in given.items():
        if isinstance(words, str) or len(words) != 2:
            raise ValueError(f"meanings must be two words for each concept, (low, high); got {words!r} for {name!r}")
    return {
        name: given.get(name, (f"not {name}", name) if kind == BINARY else (f"less {name}", f"more {name}"))
        for name, kind in zip(names, kinds, strict=True)
    }


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
