"""Two columns of the table with the boxes of the leaves, as a picture by matplotlib."""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._frames import refuse_unknown_columns
from boxwood._types import Bools, Floats, Indices
from boxwood._validation import position
from boxwood.errors import DataError
from boxwood.render.pictures.bars import is_skewed
from boxwood.render.pictures.canvas import PLAIN, FigureColours, axes_or_new, drawable
from boxwood.render.pictures.swatches import swatches_of
from boxwood.words.values import category, column_name, fit_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boxwood.axes import Categories
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.tree import Interval

MOST_POINTS = 4000
MARKERS = "osD^vPX<>p"
"""A shape beside each colour, in the order of the clusters."""
_LEAST_LOG = 1e-280  # matplotlib's logarithmic axes need room beyond their ends
_MOST_NAMES = 60  # of categories on an axis, which takes so many in small letters
_EASY = 20  # names in letters of the usual size


class Area(NamedTuple):
    """The part of the plane of two columns that a leaf takes: values x with `left < x <= right`; ends may be infinite.

    A leaf may have several, where cuts have two ends.
    """

    leaf: int
    left: float
    right: float
    bottom: float
    top: float


class Points(NamedTuple):
    """Rows in the plane of two columns: `cluster` is that of the reference, `wrong` says that their rule names another.

    Rows in no cluster are not among them, nor rows that lack one of both values. Of a long table they are a sample.
    """

    x: Floats
    y: Floats
    cluster: Indices
    wrong: Bools


def plot_boxes(ex: MeasuredTree, x: Any = None, y: Any = None, ax: Axes | None = None) -> Axes:
    """Draw two columns; see `Explanation.plot_boxes`."""
    columns = find_two_columns(ex, x, y)
    areas, points = areas_of(ex, *columns), rows_to_draw(ex, *columns)
    ax = axes_or_new(ax, 6.4, 5.2)
    sides = [_axis(ex, ax, "xy"[i], j, points, areas) for i, j in enumerate(columns)]
    _draw_areas(ex, ax, areas, sides)
    _draw_points(ex, ax, points, sides)
    return ax


def find_two_columns(ex: MeasuredTree, x: Any, y: Any) -> tuple[int, int]:
    """Return the indices of two columns, given by name or index.

    Of those that are None, the first is the column that is tested first, and so on; then come columns without a test.
    Columns of more words than an axis has room for come last, and are refused.
    """
    if len(ex.columns) < 2:
        raise DataError(f"boxes need two columns, and the table has one: {ex.columns[0]}; draw the tree with plot()")
    given = [None if one is None else _index(ex, one) for one in (x, y)]
    tested = dict.fromkeys(j for j in ex.tree.feature.tolist() if j >= 0)
    order = sorted(dict.fromkeys([*tested, *range(len(ex.columns))]), key=lambda j: not _has_room(ex, j))
    free = (j for j in order if j not in given)
    first, second = (next(free) if j is None else j for j in given)
    if first == second:
        raise DataError(f"x and y must be different columns; both are {ex.columns[first]}")
    for j in (first, second):
        if not _has_room(ex, j):
            raise DataError(
                f"{ex.columns[j]} has more than {_MOST_NAMES} categories, too many for an axis; name other columns"
            )
    return first, second


def areas_of(ex: MeasuredTree, x: int, y: int) -> list[Area]:
    """Return the parts of the plane that leaves take. They overlap where the tree cuts further columns."""
    areas, everything = [], ((-np.inf, np.inf),)
    for leaf, box in enumerate(ex.tree.boxes()):
        pieces = [tuple(map(_half_open, box[j])) if j in box else everything for j in (x, y)]
        areas += [Area(leaf, *one, *other) for one, other in product(*pieces)]
    return areas


def _half_open(piece: Interval) -> tuple[float, float]:
    """Return the ends of the interval that holds its upper end, but not its lower one, and the same doubles."""
    lower, upper, lower_closed, upper_closed = piece
    return (
        math.nextafter(lower, -math.inf) if lower_closed else lower,
        upper if upper_closed else math.nextafter(upper, -math.inf),
    )


def rows_to_draw(ex: MeasuredTree, x: int, y: int) -> Points:
    """Return the rows to draw; none for a loaded model, which has no rows."""
    if ex._in_memory is None:
        nothing = np.empty(0)
        return Points(nothing, nothing, np.empty(0, dtype=np.intp), np.empty(0, dtype=np.bool_))
    evidence = ex._rows()
    table = evidence.coordinates.table.values
    rows = np.flatnonzero(evidence.task.kept & np.isfinite(table[:, [x, y]]).all(axis=1))
    if len(rows) > MOST_POINTS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_POINTS, replace=False))
    label = evidence.task.reference.labels[rows]
    wrong = label != ex.tree.leaf_clusters[evidence.leaf[rows]]
    return Points(table[rows, x].astype(np.float64), table[rows, y].astype(np.float64), label, wrong)


def _index(ex: MeasuredTree, column: Any) -> int:
    if isinstance(column, str):
        refuse_unknown_columns([column], ex.columns)
        return ex.columns.index(column)
    return position("a column", column, len(ex.columns))


# --------------------------------------------------------------------------------------------------------- drawing


class _AxisRange(NamedTuple):
    """One axis of the picture: its range, and whether it has a logarithmic scale or categories."""

    low: float
    high: float
    log: bool
    coded: bool


def _axis(ex: MeasuredTree, ax: Axes, name: str, j: int, points: Points, areas: list[Area]) -> _AxisRange:
    """Prepare one axis: its name, its scale and its range, which holds all rows and all cuts."""
    values = points.x if name == "x" else points.y
    ends = np.array([area[1:3] if name == "x" else area[3:5] for area in areas]).ravel()
    ends = np.unique(ends[np.abs(ends) < sys.float_info.max])  # beyond the largest number are missing values
    getattr(ax, f"set_{name}label")(drawable(fit_width(column_name(ex.columns[j]), 320.0, 10.0)), **PLAIN)
    categories = _categories(ex, j)
    if categories is not None:
        names = _names(categories)
        size = 10.0 * min(max(_EASY / len(names), 0.4), 1.0)
        texts = [drawable(fit_width(one, 90.0, 10.0)) for one in names]
        turned: dict[str, Any] = {"rotation": 90} if name == "x" and len(names) > _EASY else {}
        getattr(ax, f"set_{name}ticks")(range(len(names)), texts, fontsize=size, **turned, **PLAIN)
        side = _AxisRange(-0.5, len(names) - 0.5, False, True)
    else:
        side = _range(np.concatenate([values, ends]), values)
        dates = ex._date_columns.get(j)
        side = side if dates is None else side._replace(log=False)
        getattr(ax, f"set_{name}scale")("log" if side.log else "linear")
        if dates is not None and not dates.is_relative:
            getattr(ax, f"{name}axis_date")(dates.zone or None)  # matplotlib, too, counts days since 1970
            if name == "x":
                ax.tick_params(axis="x", labelrotation=30)
    getattr(ax, f"set_{name}lim")(side.low, side.high)
    return side


def _names(categories: Categories) -> list[str]:
    return [category(value) for value in categories.values] + ["other"] * categories.others


def _has_room(ex: MeasuredTree, j: int) -> bool:
    """Return whether an axis has room for the names of a column, if it is one of words."""
    categories = _categories(ex, j)
    return categories is None or len(_names(categories)) <= _MOST_NAMES


def _categories(ex: MeasuredTree, j: int) -> Categories | None:
    known = ex._coded_columns
    if ex._in_memory is not None:
        known = ex._in_memory.categories | known
    return known.get(j)


def _range(shown: Floats, values: Floats) -> _AxisRange:
    """Return the range of an axis with a margin on both sides."""
    low, high = (float(shown.min()), float(shown.max())) if len(shown) else (0.0, 1.0)
    shares = np.quantile(values, (0.01, 0.5, 0.99), method="inverted_cdf").tolist() if len(values) else []
    if shares and low > 0 and is_skewed(*shares):
        margin = high**0.04 / low**0.04  # the quotient of the ends may be too large
        if low / margin >= _LEAST_LOG and high * margin <= 1 / _LEAST_LOG:
            return _AxisRange(low / margin, high * margin, True, False)
    margin = (0.05 if len(values) else 0.5) * (high - low) if high > low else abs(low) / 8 or 1.0
    margin = margin if np.isfinite(high + margin) and np.isfinite(low - margin) else 0.0
    return _AxisRange(low - margin, high + margin, False, False)


def _draw_areas(ex: MeasuredTree, ax: Axes, areas: list[Area], sides: list[_AxisRange]) -> None:
    from matplotlib.patches import Rectangle

    swatches, style = swatches_of(ex.names), FigureColours(ax)
    clusters_in: dict[tuple[float, ...], set[int]] = defaultdict(set)  # leaves of one place share their box
    for area in areas:
        place = (*_visible(area.left, area.right, sides[0]), *_visible(area.bottom, area.top, sides[1]))
        clusters_in[place].add(int(ex.tree.leaf_clusters[area.leaf]))
    for (left, right, bottom, top), clusters in clusters_in.items():
        if left >= right or bottom >= top:
            continue
        own = [swatches[cluster] for cluster in sorted(clusters)]
        box = (left, bottom), right - left, top - bottom
        ax.add_patch(Rectangle(*box, fill=False, edgecolor=style.ink, linewidth=0.9, zorder=3))
        fill, line, ink = style.face, style.ink, style.ink
        if len(own) == 1:
            fill, line, ink = own[0].colour, own[0].outline, own[0].ink
            ax.add_patch(Rectangle(*box, facecolor=fill, alpha=0.13, linewidth=0, zorder=1))
        middle = _middle(left, right, sides[0].log), _middle(bottom, top, sides[1].log)
        patch: dict[str, Any] = {"boxstyle": "round,pad=0.2", "facecolor": fill, "edgecolor": line}
        options: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "fontweight": "bold", **PLAIN}
        marks = " ".join(swatch.mark for swatch in own)
        ax.text(*middle, marks, color=ink, bbox=patch, zorder=5, clip_on=True, **options)


def _visible(low: float, high: float, side: _AxisRange) -> tuple[float, float]:
    """Return the part of an interval that is in the picture; a category reaches from half below it to half above."""
    if side.coded:
        low, high = np.floor(low) + 0.5, np.floor(high) + 0.5
    return float(max(low, side.low)), float(min(high, side.high))


def _middle(low: float, high: float, log: bool) -> float:
    return float(np.sqrt(low) * np.sqrt(high)) if log else low / 2 + high / 2


def _draw_points(ex: MeasuredTree, ax: Axes, points: Points, sides: list[_AxisRange]) -> None:
    """Draw the rows of each cluster in its colour and shape; those that the rules name otherwise have a ring."""
    swatches, style = swatches_of(ex.names), FigureColours(ax)
    x, y = (_spread(values, seed, sides[seed].coded) for seed, values in enumerate(points[:2]))
    size = 26.0 if len(x) <= 500 else 12.0
    for swatch in swatches:
        own = points.cluster == swatch.cluster
        if not own.any():
            continue
        ax.scatter(
            x[own],
            y[own],
            s=size,
            marker=MARKERS[swatch.cluster % len(MARKERS)],
            facecolor=swatch.colour,
            edgecolor=swatch.outline,
            linewidth=0.4,
            alpha=0.8,
            zorder=2,
            label=drawable(fit_width(swatch.name, 130.0, 9.0)),
        )
    if points.wrong.any():
        wrong = points.wrong
        ring: dict[str, Any] = {
            "facecolor": "none",
            "edgecolor": style.ink,
            "linewidth": 0.9,
            "label": "rule names another",
        }
        ax.scatter(x[wrong], y[wrong], s=2.6 * size, marker="o", zorder=4, **ring)
    if len(x):
        legend = ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9, frameon=False)
        for text in legend.get_texts():
            text.set_parse_math(False)


def _spread(values: Floats, seed: int, coded: bool) -> Floats:
    """Return codes of categories, moved a little so that rows do not lie upon each other; numbers as they are."""
    return values + np.random.default_rng(seed).uniform(-0.3, 0.3, len(values)) if coded else values
