"""The flow of rows from old clusters to new ones as plain data, for both painters: matplotlib, and the SVG of a page.

The picture is 1 wide. Bars stand at its sides, one below the other, as high as their shares, with bands between them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boxwood._types import Floats
from boxwood.words.values import cluster_name, percent

if TYPE_CHECKING:
    from boxwood.explanation.living.results import MatchFacts

BAR = 0.06
"""Width of the bars."""
_GAP = 0.03  # between two bars
_SMALL = 0.002  # share of the rows from which on a bar or a band is drawn


class FlowBar(NamedTuple):
    """A cluster at a side: where its bar begins, how high it is, and its name and share."""

    is_left: bool
    top: float
    height: float
    name: str
    share: str


class FlowBand(NamedTuple):
    """Rows of an old cluster in a new one: where the band begins and ends, and how wide it is.

    `cluster` is the number of the old one if the two are the same, and else None.
    """

    start: float
    end: float
    width: float
    cluster: int | None


class Flow(NamedTuple):
    """The bars, the bands, and how high all of it is."""

    bars: list[FlowBar]
    bands: list[FlowBand]
    height: float


def flow_of(match: MatchFacts) -> Flow:
    """Return the flow of the rows of a match."""
    shares = np.array(match.overlap)
    old, new = [one.name for one in match.before], [one.name for one in match.after]
    same = {(old.index(name), new.index(other)) for name, other in match.same_names}
    starts, ends = _tops(shares.sum(axis=1)), _tops(shares.sum(axis=0))
    bars = [*_bars(True, old, starts, shares.sum(axis=1)), *_bars(False, new, ends, shares.sum(axis=0))]
    bands = []
    for i, j in np.ndindex(*shares.shape):
        if shares[i, j] >= _SMALL:
            cluster = i if (i, j) in same else None
            bands.append(FlowBand(float(starts[i]), float(ends[j]), float(shares[i, j]), cluster))
        starts[i] += shares[i, j]
        ends[j] += shares[i, j]
    return Flow(bars, bands, max(bar.top + bar.height for bar in bars))


def _tops(sums: Floats) -> Floats:
    """Return where each bar begins; those without rows take no room."""
    return np.concatenate([[0.0], np.cumsum((sums + _GAP * (sums >= _SMALL))[:-1])])


def _bars(is_left: bool, names: Sequence[Hashable], tops: Floats, sums: Floats) -> list[FlowBar]:
    said = [*map(cluster_name, names), "no cluster"]
    found = zip(said, tops.tolist(), sums.tolist(), strict=True)
    return [FlowBar(is_left, top, share, name, percent(share)) for name, top, share in found if share >= _SMALL]
