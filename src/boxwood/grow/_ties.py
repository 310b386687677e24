"""The choice among cuts of a node that are equally good."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boxwood._types import Floats, Indices, Ints
from boxwood._validation import as_generator, refuse_unknown
from boxwood.tree import between

__all__ = ["TIE_BREAKS", "EqualCuts", "TieBreak"]

TIE_BREAKS = ("first", "margin", "balanced", "random")


class EqualCuts(NamedTuple):
    """Equally good cuts, by ascending feature, then by ascending threshold. All arrays are of shape (m,).

    A threshold lies between two neighbouring values `low` and `high` of the node's rows and centres.
    """

    feature: Indices
    threshold: Floats
    low: Floats
    high: Floats
    width: Floats  # range of the node's centres in the column
    difference: Ints  # between the weights of the rows on both sides, without sign

    @classmethod
    def of_column(
        cls,
        feature: int,
        thresholds: Floats | None,
        lows: Floats,
        highs: Floats,
        centers: Floats,
        rows: tuple[Floats, Ints],
    ) -> EqualCuts:
        """Return the cuts of one column; thresholds None are midway, `rows` are sorted values and their weights."""
        values, weights = rows
        before = np.concatenate([[0], np.cumsum(weights)])
        left = before[np.searchsorted(values, lows, side="right")]
        middles = between(lows, highs) if thresholds is None else thresholds
        width = centers.max() / 2 - centers.min() / 2  # halves: the range itself may overflow
        difference = np.abs(before[-1] - 2 * left)
        return cls(np.full(len(lows), feature), middles, lows, highs, np.full(len(lows), width), difference)

    @classmethod
    def joined(cls, parts: list[EqualCuts]) -> EqualCuts:
        """Return the cuts of several columns, which come in ascending order."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def margins(self) -> Floats:
        """Return the distance of each threshold to the nearest value, as a fraction of the range of the centres."""
        half = self.threshold / 2
        nearest = np.minimum(half - self.low / 2, self.high / 2 - half)
        return np.divide(nearest, self.width, out=np.zeros_like(nearest), where=self.width > 0)


class TieBreak:
    """A rule by which one of several equally good cuts is chosen; ties that remain go to the first cut."""

    def __init__(self, rule: str, random_state: Any) -> None:
        refuse_unknown("tie_break", rule, TIE_BREAKS)
        self.rule = rule
        self._random = as_generator(random_state) if rule == "random" else None

    @property
    def is_first(self) -> bool:
        """Whether the first cut is taken, so that the others need not be found."""
        return self.rule == "first"

    def chosen(self, cuts: EqualCuts) -> int:
        """Return the index of the chosen cut."""
        if self._random is not None:
            return int(self._random.integers(len(cuts.feature))) if len(cuts.feature) > 1 else 0
        return int(np.argmax(cuts.margins()) if self.rule == "margin" else np.argmin(cuts.difference))
