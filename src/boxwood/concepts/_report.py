"""`ConceptReport`: what examples say of concepts, as data and in words."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood.concepts._table import BINARY

__all__ = ["ConceptReport"]

HEADER = ("concept", "examples", "score", "p", "stability", "twin", "of groups", "reliable")
NEAR = 0.95  # cosine of a concept and its twin from which they are nearly the same


@dataclass(frozen=True, eq=False, repr=False)
class ConceptReport:
    """One entry for each concept; made by `concept_report`. Prints as a table (p is `p_adjusted`), notes below.

    Attributes
    ----------
    name, kind : tuple of m str
        Name of each concept; "binary" or "continuous".
    n_positive, n_negative : array of shape (m,)
        Number of examples on each side; of a continuous concept, above and not above their mean.
    score : array of shape (m,)
        Cross-validated area under the ROC curve (0.5 is chance), or R² of a continuous concept (0 is its mean).
    balanced_accuracy : array of shape (m,)
        Cross-validated mean of the accuracies on both sides; NaN for a continuous concept.
    p_value, p_adjusted : array of shape (m,)
        Significance by permutation of the labels, and the same adjusted for the number of concepts (Holm).
    stability : array of shape (m,)
        Mean cosine of the vectors that are learned from two disjoint halves of the examples, over 10 draws; NaN where
        there are too few.
    twin, twin_cosine : tuple of m str, array of shape (m,)
        The other concept whose vector lies nearest to this one's or to its opposite, and the cosine: 1 is the same
        concept, -1 its complement. Empty and NaN where there is no other.
    determined_by_groups : array of shape (m,)
        Share of the concept's variance that lies between groups: 1 where it is constant in each, so that it is a
        label of classes in disguise. NaN where no groups were given.
    reliable : array of shape (m,)
        Whether the score is high enough and `p_adjusted` below 0.05.
    """

    name: tuple[str, ...]
    kind: tuple[str, ...]
    n_positive: Indices
    n_negative: Indices
    score: Floats
    balanced_accuracy: Floats
    p_value: Floats
    p_adjusted: Floats
    stability: Floats
    twin: tuple[str, ...]
    twin_cosine: Floats
    determined_by_groups: Floats
    reliable: Bools

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns by name, as lists."""
        return {field.name: np.asarray(getattr(self, field.name)).tolist() for field in fields(self)}

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each concept; needs pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("a data frame needs pandas: pip install pandas") from None
        return pd.DataFrame(self.to_dict())

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before cuts on these concepts are believed, a sentence each."""
        found, told = [], set()
        for j, name in enumerate(self.name):
            if not self.reliable[j]:
                found.append(f"{name}: not reliable ({self._measured(j)})")
            if abs(self.twin_cosine[j]) > NEAR and (self.twin[j], name) not in told:
                told.add((name, self.twin[j]))
                word = "the same as" if self.twin_cosine[j] > 0 else "the complement of"
                found.append(f"{name}: nearly {word} {self.twin[j]} (cosine {self.twin_cosine[j]:.2f})")
            if self.determined_by_groups[j] > 1 - 1e-9:
                found.append(f"{name}: constant within each group, so it is a label of groups and not seen in examples")
        return tuple(found)

    def __repr__(self) -> str:
        return f"ConceptReport(n_concepts={len(self.name)}, n_reliable={int(self.reliable.sum())})"

    def __str__(self) -> str:
        lines = [HEADER, *(self._line(j) for j in range(len(self.name)))]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        padded = ["  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([*(line.rstrip() for line in padded), *(f"Note: {note}" for note in self.notes)])

    def _line(self, j: int) -> tuple[str, ...]:
        cosine, of_groups = self.twin_cosine[j], self.determined_by_groups[j]
        return (
            self.name[j],
            f"{self.n_positive[j]} + {self.n_negative[j]}",
            self._scored(j),
            f"{self.p_adjusted[j]:.2g}",
            "-" if np.isnan(self.stability[j]) else f"{self.stability[j]:.2f}",
            "-" if np.isnan(cosine) else f"{self.twin[j]} ({cosine:.2f})",
            "-" if np.isnan(of_groups) else f"{of_groups:.0%}",
            "yes" if self.reliable[j] else "no",
        )

    def _scored(self, j: int) -> str:
        return f"{'AUC' if self.kind[j] == BINARY else 'R²'} {self.score[j]:.2f}"

    def _measured(self, j: int) -> str:
        return f"{self._scored(j)}, adjusted p-value {self.p_adjusted[j]:.2g}"
