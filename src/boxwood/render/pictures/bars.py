"""`Bars`: how the values of a column are distributed over the rows at a cut, by cluster."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from boxwood._dates import Dates
from boxwood._types import Bools, Floats, Indices, Weights
from boxwood.tree.boxes import ends_without_missing
from boxwood.words.values import short_number, three_digits

FEWEST, MOST = 8, 18  # bars; edges that are added for a cut make four more at most
MOST_CATEGORIES = 12
_LARGEST_WHOLE = 2.0**52
_LEAST_LOG = 1e-280
_NEAREST = 1e-6  # of two edges on an axis from 0 to 1
_SKEWED = 4.0  # length of the upper tail over that of the lower one, from which on an axis is logarithmic
_KNOWN = 0.86  # share of the axis for numbers, where missing values have a bar
_TAIL = 0.01  # share of rows in each tail, which are counted in the outer bars
_HIGHEST = 3.0  # times any other bar, above which one is cut off
_WHOLE, _BROKEN = ((0.0, math.inf),), ((0.0, 0.78), (0.86, math.inf))  # what is drawn of a bar
_FEWEST_BEYOND, _MOST_BEYOND = 5, 0.25  # rows of a tail at least, so that ends are no extremes; share of it at most


class CutMark(NamedTuple):
    """The end of a cut on the axis: where it is, from 0 to 1, and its number as text (none for categories)."""

    at: float
    text: str


class Bars(NamedTuple):
    """Bars of a column, stacked by cluster.

    Parameters
    ----------
    scale : {"linear", "log", "whole", "categories"}
        "whole" has a bar for each whole number.
    edges : array of shape (n_bars + 1,)
        Bar i counts values x with `edges[i] < x <= edges[i + 1]`. The first and the last bar also count values beyond
        them. An end of the cut is an edge, so no bar straddles it. Categories have the edges 0, 1, 2 and so on.
    at : array of shape (n_bars + 1,)
        Place of each edge on the axis, from 0 to 1.
    counts : array of shape (n_clusters, n_bars)
        Rows by reference cluster and bar, or their weight. Always holds: they add up to the rows at the cut.
    lines : tuple of Line
        The ends of the cut: one, or two for an interval.
    ends : pair of str
        Texts for the left and right end of the axis: about where values begin and end. Empty for categories.
    labels : tuple of str
        Category of each bar; none for numbers.
    gap : float, default=None
        Where on the axis the last bar begins, if it is that of missing values, whose edge is infinite; None without it.
    span : pair of float
        The numbers that `ends` say: no edge below which no value is, as one before the first whole number.
    """

    scale: Literal["linear", "log", "whole", "categories"]
    edges: Floats
    at: Floats
    counts: Floats
    lines: tuple[CutMark, ...]
    ends: tuple[str, str]
    labels: tuple[str, ...] = ()
    gap: float | None = None
    span: tuple[float, float] = (0.0, 0.0)

    @property
    def heights(self) -> Floats:
        """Height of each part of each bar, shape (n_clusters, n_bars), so that areas are as rows; the highest is 1.

        Outer bars, which hold what lies beyond, count as no narrower than those beside them. A bar more than three
        times as high as any other is cut off there.
        """
        density, room = self._density, self._room
        return density / np.maximum(density.sum(axis=0), room) if room > 0 else density

    @property
    def are_cut(self) -> Bools:
        """Whether each bar is cut off, shape (n_bars,)."""
        return np.asarray(self._density.sum(axis=0) > self._room)

    def parts(self) -> Iterator[tuple[int, int, float, float]]:
        """Yield the cluster, the bar, and the ends of each part as it is drawn; a bar that is cut has a gap."""
        heights, are_cut = self.heights, self.are_cut.tolist()
        tops = np.cumsum(heights, axis=0)
        for cluster, bar in np.argwhere(heights > 0).tolist():
            top = float(tops[cluster, bar])
            low = top - float(heights[cluster, bar])
            for first, last in _BROKEN if are_cut[bar] else _WHOLE:
                if max(low, first) < min(top, last):
                    yield cluster, bar, max(low, first), min(top, last)

    @property
    def _density(self) -> Floats:
        """Rows of each cluster and bar by its width, shape (n_clusters, n_bars), in some unit."""
        wide, last = np.diff(self.at), -1 if self.gap is None else -2
        if self.scale != "categories" and len(wide) > 1 - last:
            wide[0], wide[last] = max(wide[0], wide[1]), max(wide[last], wide[last - 1])
        _, exponent = np.frexp(self.counts.max(initial=0.0))
        return np.asarray(np.ldexp(self.counts, -exponent) / wide)  # so that the largest weights have one

    @property
    def _room(self) -> float:
        """The density of the highest bar, or where it is cut off."""
        found = np.sort(self._density.sum(axis=0))
        second, highest = float(found[:-1].max(initial=0.0)), float(found.max(initial=0.0))
        return min(highest, _HIGHEST * second) if second > 0 and self.scale != "categories" else highest


def bars_of_numbers(
    values: Floats, labels: Indices, n_clusters: int, lower: float, upper: float, weights: Weights = None
) -> Bars:
    """Return the bars of a column of numbers for the rows at a cut `lower <= x <= upper`.

    There are 8 to 22 bars: about as many as Sturges or Freedman and Diaconis would draw, whichever is more, between
    the first and the last percentile; of few rows between the fifth from either side, or the quartiles, as ends should
    not tell the extremes of single rows. If a column is skewed to the right, its axis is logarithmic. Takes time 22 n.
    """
    ends = _counted_ends(lower, upper)
    scale, edges, span = _edges(values, list(ends))
    return Bars(
        scale,
        edges,
        at := _places(edges, scale),
        _counts(_bar_of(values, edges), labels, (n_clusters, len(edges) - 1), weights),
        tuple(CutMark(float(at[_last_up_to(edges, end)]), short_number(named)) for end, named in ends.items()),
        (three_digits(span[0]), three_digits(span[1])),
        span=span,
    )


def bars_with_gap(
    values: Floats, labels: Indices, n_clusters: int, lower: float, upper: float, weights: Weights = None
) -> Bars:
    """Return the bars of a column of numbers with gaps, in which missing values, which are infinite, have the last bar.

    A cut that asks for all numbers up to the largest, or for missing values alone, has a line before that bar.
    """
    known, parts_numbers = np.isfinite(values), upper == sys.float_info.max or lower == math.inf
    own = None if weights is None else weights[known]
    ends = -math.inf if lower == math.inf else lower, math.inf if parts_numbers else upper
    found = bars_of_numbers(values[known], labels[known], n_clusters, *ends, own)
    texts = [short_number(end) for end in ends_without_missing(lower, upper) if math.isfinite(end)]
    lines = [CutMark(line.at * _KNOWN, text) for line, text in zip(found.lines, texts, strict=True)]
    lacking = np.bincount(labels[~known], None if weights is None else weights[~known], minlength=n_clusters)
    return found._replace(
        edges=np.append(found.edges, math.inf),
        at=np.append(found.at * _KNOWN, 1.0),
        counts=np.column_stack([found.counts, lacking.astype(np.float64)]),
        lines=(*lines, *[CutMark(_KNOWN, "")] * parts_numbers),
        gap=_KNOWN,
    )


def say_dates(bars: Bars, lower: float, upper: float, dates: Dates) -> Bars:
    """Return the bars of a column of dates, with dates at the ends of the cut and of the axis."""
    marks = [(lower, False)] * math.isfinite(lower) + [(upper, True)] * (upper < sys.float_info.max)
    texts = [dates.first(end, beyond=beyond) for end, beyond in marks]
    named = [line._replace(text=text) for line, text in zip(bars.lines, texts, strict=False)]
    return bars._replace(
        lines=(*named, *bars.lines[len(named) :]), ends=(dates.day(bars.span[0]), dates.day(bars.span[1]))
    )


def bars_of_categories(
    codes: Floats,
    labels: Indices,
    n_clusters: int,
    sides: tuple[Sequence[int], Sequence[int]],
    names: Sequence[str],
    weights: Weights = None,
) -> Bars:
    """Return a bar for each category that is possible at a cut: first those inside, then those outside.

    If there are more than 12, the rarest of each side share a bar.

    IN: codes, labels (n,); sides: codes inside and outside; names: name of each code.
    """
    bar_of, n_inside = np.zeros(len(names), dtype=np.intp), 0
    words: list[str] = []
    frequency = np.bincount(codes.astype(np.intp), minlength=len(names))
    for inside, side in zip((True, False), sides, strict=True):
        most = MOST_CATEGORIES if len(sides[0]) + len(sides[1]) <= MOST_CATEGORIES else MOST_CATEGORIES // 2
        often = sorted(sorted(side, key=lambda code: (-frequency[code], code))[: most - (len(side) > most)])
        bar_of[list(side)] = len(words) + len(often)
        bar_of[often] = len(words) + np.arange(len(often))
        words += [names[code] for code in often]
        words += [f"{len(side) - len(often)} more"] * (len(side) > len(often))
        n_inside = len(words) if inside else n_inside
    edges = np.arange(len(words) + 1.0)
    counts = _counts(bar_of[codes.astype(np.intp)], labels, (n_clusters, len(words)), weights)
    line = CutMark(n_inside / len(words), "")
    return Bars("categories", edges, edges / len(words), counts, (line,), ("", ""), tuple(words))


def is_skewed(low: float, middle: float, high: float) -> bool:
    """Return whether a column of positive numbers is drawn on a logarithmic axis, from three percentiles: 1, 50, 99."""
    return high > 5 * low and high / 2 - middle / 2 > _SKEWED * (middle / 2 - low / 2)


# --------------------------------------------------------------------------------------------------------- edges


def _last_up_to(edges: Floats, end: float) -> int:
    """Return the last edge up to an end of the cut: the end itself, or the whole number below it."""
    return int(np.searchsorted(edges, end, side="right")) - 1


def _counted_ends(lower: float, upper: float) -> dict[float, float]:
    """Return the edges that part the rows as a cut does, ascending, and the end of the cut that each stands for.

    Bars hold their right edge but not their left one. So the edge of a lower end, which is inside, is the number below.
    """
    ends = {math.nextafter(lower, -math.inf): lower, upper: upper}
    return {edge: end for edge, end in ends.items() if math.isfinite(edge)}


def _edges(values: Floats, ends: list[float]) -> tuple[Literal["linear", "log", "whole"], Floats, tuple[float, float]]:
    """Return the scale, the edges of the bars with the ends of the cut among them, and where values begin and end."""
    if len(values) == 0:
        values = np.array(ends or [0.0])
    tail = min(max(_TAIL, _FEWEST_BEYOND / len(values)), _MOST_BEYOND)
    shares = (tail, 0.25, 0.5, 0.75, 1 - tail + (tail > _TAIL) / len(values))  # of few rows as many on both sides
    low, first, middle, third, high = _reaching(values, shares)
    least, most = min([low, *map(math.floor, ends)]), max([high, *ends])
    whole = max(abs(least), abs(most)) < _LARGEST_WHOLE and bool((values == np.floor(values)).all())
    if whole and most - least <= MOST:
        return "whole", *_whole_edges(least, most, ends, 1.0)
    log = min([low, *ends]) > _LEAST_LOG and most < 1 / _LEAST_LOG and is_skewed(low, middle, high)
    if log:
        values, first, third = np.log(values[values > 0]), math.log(first), math.log(third)
    start, stop = (math.log(low), math.log(high)) if log else (low, high)
    n = _n_bars(len(values), start, first, third, stop)
    if whole and not log:
        return "linear", *_whole_edges(*_round_ends(least, most), ends, math.ceil((most - least) / n))
    edges = np.exp(np.linspace(start, stop, n + 1)) if log else _space_evenly(*_round_ends(low, high), n)
    edges = np.unique(np.floor(edges)) if whole else np.unique(edges)
    return "log" if log else "linear", *_with_ends(edges, ends, log)


def _reaching(values: Floats, shares: Sequence[float]) -> list[float]:
    """Return the least values that reach some shares of the values, ascending."""
    from boxwood.batches.ranks import values_at_ranks  # here, as other pictures need no compiler

    ranks = np.ceil(len(values) * np.array(shares) - 1).clip(0, len(values) - 1)
    found: list[float] = values_at_ranks(values, ranks.tolist()).tolist()
    return found


def _n_bars(n_rows: int, low: float, first: float, third: float, high: float) -> int:
    """Return the number of bars by the rules of Sturges, and of Freedman and Diaconis; the larger, in bounds."""
    sturges = math.log2(n_rows) + 1 if n_rows else 1.0
    width = 2 * (third / 2 - first / 2) / n_rows ** (1 / 3) if n_rows else 0.0
    diaconis = (high / 2 - low / 2) / width if width > 0 else 0.0
    return math.ceil(min(max(sturges, diaconis, FEWEST), MOST))


def _whole_edges(low: float, high: float, ends: list[float], width: float) -> tuple[Floats, tuple[float, float]]:
    """Return edges of bars of the given width, in whole numbers, one of them at the first end of the cut.

    The outer bars are as narrow as the numbers that they hold. A bar does not hold its left edge.
    """
    ends = [math.floor(end) for end in ends]
    start = ends[0] if ends else low - 1
    below = max(math.ceil((start - low + 1) / width), 1 if ends else 0)
    above = max(math.ceil((high - start) / width), 1)
    edges, _ = _with_ends(start + width * np.arange(-below, above + 1.0), [float(end) for end in ends], False)
    edges[0], edges[-1] = max(edges[0], low - 1), min(edges[-1], max(high, edges[-2] + 1))
    return edges, (float(edges[0]) + 1, float(edges[-1]))


def _round_ends(low: float, high: float) -> tuple[float, float]:
    """Return a range with ends of few digits around a range, so that the axis does not tell the value of a row."""
    step = 10.0 ** (math.floor(math.log10(size)) - 1) if (size := high / 2 - low / 2) > 1e-290 else 0.0
    if step == 0 or not (abs(low) < 1e300 and abs(high) < 1e300):
        return low, high
    return math.floor(low / step) * step, math.ceil(high / step) * step


def _space_evenly(low: float, high: float, n: int) -> Floats:
    """Return n + 1 equally spaced numbers; their difference may be larger than the largest float."""
    share = np.arange(n + 1) / n
    return np.asarray(low * (1 - share) + high * share)


def _with_ends(edges: Floats, ends: list[float], log: bool) -> tuple[Floats, tuple[float, float]]:
    """Return the edges with the nearest one moved onto each end of the cut, and a bar on both sides of it.

    Also return the outer edges as they were without a bar that is only there to be on a side of the cut.
    """
    placed = edges.tolist()
    fixed: set[float] = set()
    for end in ends:
        if end in placed:
            fixed.add(end)
            continue
        near = [edge for edge in placed[1:-1] if edge not in fixed]
        if placed[0] < end < placed[-1] and near:
            placed.remove(min(near, key=lambda edge: abs(edge - end)))
        placed = sorted({*placed, end})
        fixed.add(end)
    lowest, highest, span = min(fixed, default=math.inf), max(fixed, default=-math.inf), (placed[0], placed[-1])
    if placed[0] == lowest or len(placed) == 1:
        placed.insert(0, _beyond(placed, 0, log))
    if placed[-1] == highest or len(placed) == 1:
        placed.append(_beyond(placed, -1, log))
    return np.array(placed), span


def _beyond(edges: list[float], place: int, log: bool) -> float:
    """Return an edge before the first or after the last, about as far away as its neighbour."""
    end, sign = edges[place], -1.0 if place == 0 else 1.0
    other = edges[1 if place == 0 else -2] if len(edges) > 1 else end
    if log and other != end:
        return end * end / other
    step = abs(other / 2 - end / 2) * 2 or abs(end) / 8 or 1.0
    found = end + sign * step
    return found if math.isfinite(found) and found != end else math.nextafter(end, sign * math.inf)


def _places(edges: Floats, scale: str) -> Floats:
    """Return the place of each edge on the axis, from 0 to 1; evenly spaced if some could not be told apart."""
    on_axis = np.log(edges) if scale == "log" else edges
    if not math.isfinite(on_axis[-1].item() - on_axis[0].item()):
        on_axis = on_axis / 2
    at = (on_axis - on_axis[0]) / (on_axis[-1] - on_axis[0])
    return np.asarray(at) if np.diff(at).min() > _NEAREST else np.linspace(0.0, 1.0, len(edges))


def _bar_of(values: Floats, edges: Floats) -> Indices:
    """Return the bar of each value; comparing with each of few edges takes a third of the time of a search."""
    bar = np.zeros(len(values), dtype=np.uint8)
    for edge in edges[1:-1].tolist():
        bar += values > edge
    return bar.astype(np.intp)


def _counts(bar: Indices, labels: Indices, shape: tuple[int, int], weights: Weights) -> Floats:
    """Return the rows by cluster and bar, or their weight, from the bar and the cluster of each row."""
    flat = np.bincount(labels * shape[1] + bar, weights, minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.float64)
