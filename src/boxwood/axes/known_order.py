"""`known_order`: the order that words have by themselves, as bands of numbers, months, and answers on a scale have."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

FEWEST = 3  # words of a scale: two of them are no more than two words


def known_order(values: Sequence[Any]) -> list[Any] | None:
    """Return words in the order that they have by themselves; None if they have none.

    Examples
    --------
    >>> known_order(["Agree", "Neutral", "Strongly disagree", "Disagree"])
    ['Strongly disagree', 'Disagree', 'Neutral', 'Agree']
    >>> known_order(["red", "green", "blue"])
    """
    return _bands_in_order(values) or _on_a_scale(values)


# ----------------------------------------------------------------------------------------------------------- scales
_SCALES = (  # words of one place are parted by bars
    "jan|january feb|february mar|march apr|april may jun|june jul|july aug|august sep|sept|september oct|october "
    "nov|november dec|december",
    "q1 q2 q3 q4",
    "strongly_disagree|completely_disagree|totally_disagree moderately_disagree|mostly_disagree disagree "
    "somewhat_disagree|slightly_disagree|tend_to_disagree|rather_disagree "
    "neutral|neither|undecided|neither_agree_nor_disagree|neither_disagree_nor_agree|unsure "
    "somewhat_agree|slightly_agree|tend_to_agree|rather_agree agree moderately_agree|mostly_agree "
    "strongly_agree|completely_agree|totally_agree",
    "very_dissatisfied|extremely_dissatisfied dissatisfied somewhat_dissatisfied|slightly_dissatisfied "
    "neutral|neither|neither_satisfied_nor_dissatisfied somewhat_satisfied|slightly_satisfied satisfied "
    "very_satisfied|extremely_satisfied",
    "very_unlikely|extremely_unlikely unlikely somewhat_unlikely neutral|neither|neither_likely_nor_unlikely "
    "somewhat_likely likely very_likely|extremely_likely",
    "never|not_at_all almost_never|hardly_ever|very_rarely rarely|seldom occasionally sometimes often|frequently "
    "usually|very_often|most_of_the_time almost_always always|all_the_time",
    "very_poor|very_bad poor|bad fair|average|acceptable good very_good excellent",
    "very_low low|lower medium|middle|moderate|average high|higher very_high",
    "not_at_all slightly|a_little moderately|somewhat|a_moderate_amount very|quite_a_bit|a_lot extremely",
    "not_at_all_important slightly_important|unimportant moderately_important|somewhat_important|neutral important "
    "very_important extremely_important",
    "none mild moderate severe",
)
_PLACES = [
    {word.replace("_", " "): i for i, place in enumerate(scale.split()) for word in place.split("|")}
    for scale in _SCALES
]


def _on_a_scale(values: Sequence[Any]) -> list[Any] | None:
    """Return words that are places of a scale in their order; None if one is none, or two are the same place."""
    words = {value: " ".join(value.lower().split()) for value in values if isinstance(value, str)}
    if not FEWEST <= len(words) == len(values):
        return None
    for places in _PLACES:
        found = {value: places[word] for value, word in words.items() if word in places}
        if len({*found.values()}) == len(values):
            return sorted(found, key=lambda value: found[value])
    return None


# ------------------------------------------------------------------------------------------------------------ bands
class Band(NamedTuple):
    """The ends of a band, and which of them belong to it."""

    low: float
    high: float
    has_low: bool
    has_high: bool


_END = r"-?inf|-?\d[\d.]*(?:e[-+]?\d+)?|\d{4}-\d\d-\d\d(?: [\d:.+-]+)?"
_BAND = re.compile(rf"([\[(])({_END}), ?({_END})([\])])")


def band_of(text: Any) -> Band | None:
    """Return the band of numbers or dates that a text is, as `cut` of pandas, polars and R write them; or None.

    Examples
    --------
    >>> band_of("(45, 60]")
    Band(low=45.0, high=60.0, has_low=False, has_high=True)
    """
    found = _BAND.fullmatch(text) if isinstance(text, str) else None
    try:
        return found and Band(_end(found[2]), _end(found[3]), found[1] == "[", found[4] == "]")
    except ValueError:  # 1.2.3, or a date that no calendar has
        return None


def _end(text: str) -> float:
    if "-" not in text[1:] or "e" in text:
        return float(text)
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _bands_in_order(values: Sequence[Any]) -> list[Any] | None:
    """Return values that are bands in their order; None if some are none, or two overlap."""
    bands = {value: band for value in values if (band := band_of(value)) is not None and band.low <= band.high}
    if len(bands) < max(len(values), 2) or all(band.has_low and band.has_high for band in bands.values()):
        return None  # pairs of numbers, such as [1, 2], may be anything
    order = sorted(bands, key=lambda value: bands[value])
    apart = (bands[left].high <= bands[right].low for left, right in itertools.pairwise(order))
    return order if all(apart) else None
