"""Measurements by matplotlib: the profile, the frontier, one-line rules, stability, two clusters, the flow of rows."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from boxwood.render.forms.walk import Sides, codes_at_cuts, cut_words
from boxwood.render.pictures.canvas import PLAIN, FigureColours, axes_or_new, drawable, mix_colours
from boxwood.render.pictures.flow import BAR, flow_of
from boxwood.render.pictures.swatches import COLOURS, Swatch, colour_of, ink_on, swatches_of
from boxwood.words.contrast import MOST, say_difference
from boxwood.words.measured import ENOUGH, brief_in
from boxwood.words.values import (
    are_years,
    brief_of,
    category,
    cluster_name,
    column_name,
    fit_width,
    of_leaves,
    percent,
    price,
    short_number,
    shorten_name,
    text_width,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boxwood.explanation.living.results import MatchFacts
    from boxwood.explanation.measure.contrast import Contrast, Difference
    from boxwood.explanation.measure.lines import MeasuredRules
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.explanation.records import CategoryColumn, CutStability, Frontier, FrontierRow, NumberColumn, Stability


MOST_LINES = 40
_CATEGORIES = 3  # of one column, at most
_STRONGEST = 1.5  # standardised difference that has the full colour
_LOW, _HIGH = "#3f90da", "#e76300"  # blue and orange: apart for all colour-blind readers


class Cell(NamedTuple):
    """A cluster in one column: a text, and the standardised difference from the rest (None if there is none)."""

    text: str
    difference: float | None


class HeatRow(NamedTuple):
    """A line of the heat map: a column, or one of its categories; a cell for each cluster, None without rows."""

    name: str
    cells: tuple[Cell | None, ...]


def plot_profile(ex: MeasuredTree, ax: Axes | None = None) -> Axes:
    """Draw the profile; see `Explanation.plot_profile`."""
    lines, swatches = heat_map_lines(ex), swatches_of(ex.names)
    k = len(swatches)
    ax = axes_or_new(ax, 2.6 + 0.85 * k, 1.3 + 0.34 * len(lines))
    from matplotlib.patches import Rectangle

    style = FigureColours(ax)
    ax.set(xlim=(0.0, k), ylim=(float(len(lines)), 0.0))
    for y, line in enumerate(lines):
        for x, cell in enumerate(line.cells):
            colour = style.face if cell is None else shade(cell.difference, style)
            ax.add_patch(Rectangle((x, y), 1.0, 1.0, facecolor=colour, edgecolor=style.face, linewidth=1.5))
            if cell is not None:
                text = f"{cell.text} {_sign(cell.difference)}"
                options: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "clip_on": True, **PLAIN}
                ax.text(x + 0.5, y + 0.5, drawable(text.strip()), color=ink_on(colour), **options)
    names = [drawable(fit_width(line.name, 190.0, 9.0)) for line in lines]
    ax.set_yticks([y + 0.5 for y in range(len(lines))], names, fontsize=9, **PLAIN)
    upright = all(len(swatch.name) <= 11 for swatch in swatches)
    turned: dict[str, Any] = {} if upright else {"rotation": 40, "ha": "left", "rotation_mode": "anchor"}
    heads = [drawable(fit_width(swatch.name, 120.0, 9.0)) for swatch in swatches]
    ax.xaxis.tick_top()
    ax.set_xticks([x + 0.5 for x in range(k)], heads, fontsize=9, **turned, **PLAIN)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def heat_map_lines(ex: MeasuredTree) -> list[HeatRow]:
    """Return the lines of the heat map: first the columns that the tree tests, then the others, by their effect.

    A column of categories has up to three lines, for those that tell clusters apart best; one if it has two categories.
    """
    from boxwood.explanation.measure.profile import measure_profile
    from boxwood.explanation.records import NumberColumn

    tested = {ex.columns[j] for j in ex.tree.features.tolist()}
    profile = sorted(measure_profile(ex), key=lambda one: (one.column not in tested, -one.effect))
    lines: list[HeatRow] = []
    for column in profile:
        if len(lines) >= MOST_LINES:
            break
        lines += [_numbers(column)] if isinstance(column, NumberColumn) else _categories(column)
    return lines[:MOST_LINES]


def _numbers(column: NumberColumn) -> HeatRow:
    """Return the median of each cluster."""
    cells = (
        None if one is None else Cell(brief_in(column, one.quantiles[2]), one.difference) for one in column.clusters
    )
    return HeatRow(column_name(column.column), tuple(cells))


def _categories(column: CategoryColumn) -> list[HeatRow]:
    """Return the share of a category in each cluster."""
    names = [category(value) for value in column.categories.values] + ["other"] * column.categories.others
    present = [one for one in column.clusters if one is not None]

    def widest(i: int) -> float:
        return max((abs(one.differences[i]) for one in present if one.differences), default=0.0)

    order = sorted(range(len(names)), key=lambda i: (-widest(i), i))[: 1 if len(names) <= 2 else _CATEGORIES]
    lines = []
    for i in order:
        cells = (
            None if one is None else Cell(f"{one.shares[i]:.0%}", one.differences[i] if one.differences else None)
            for one in column.clusters
        )
        lines.append(HeatRow(f"{column_name(column.column)}: {names[i]}", tuple(cells)))
    return lines


def shade(difference: float | None, style: FigureColours) -> str:
    """Return the colour of a difference: the stronger, the farther from the colour of the paper."""
    if difference is None:
        return mix_colours(style.ink, style.face, 0.04)
    share = min(abs(difference) / _STRONGEST, 1.0)
    return mix_colours(_HIGH if difference > 0 else _LOW, style.face, 0.06 + 0.94 * share)


def _sign(difference: float | None) -> str:
    """Return the direction of a difference as a sign, so that it reads in grey, too: two signs for a strong one."""
    if difference is None or abs(difference) < 0.5:
        return ""
    return ("+" if difference > 0 else "−") * (2 if abs(difference) >= _STRONGEST else 1)


def plot_frontier(ex: MeasuredTree, ax: Axes | None = None) -> Axes:
    """Draw the frontier; see `Explanation.plot_frontier`."""
    ax = axes_or_new(ax, 6.0, 4.0)
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    from boxwood.explanation.measure.frontier import frontier_of

    frontier, style = frontier_of(ex), FigureColours(ax)
    by_price = shows_price(frontier)
    pruned = [row for row in frontier if not row.is_this]
    held_out = [row for row in pruned if math.isfinite(_held_out(row, by_price))]
    small: dict[str, Any] = {"markersize": 6.0 if len(pruned) <= 20 else 3.5, "zorder": 3}
    if pruned:
        xy = [row.leaves for row in pruned], [_value(row, by_price) for row in pruned]
        ax.plot(*xy, marker="o", color=COLOURS[0], label="rows explained", **small)
    if held_out:
        xy = [row.leaves for row in held_out], [_held_out(row, by_price) for row in held_out]
        ax.plot(*xy, marker="s", linestyle="--", color=COLOURS[1], label=f"held out ({frontier.folds} folds)", **small)
    this = frontier.this
    options: dict[str, Any] = {"marker": "D", "markersize": 9, "color": style.ink, "linestyle": "none", "zorder": 4}
    ax.plot([this.leaves], [_value(this, by_price)], label=_words(this, by_price), **options)
    ax.set_xlabel("leaves", **PLAIN)
    ax.set_ylabel("price of explainability" if by_price else "agreement", **PLAIN)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if not by_price:
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.grid(color=style.line, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)
    ax.legend(frameon=False, loc="upper right" if by_price else "lower right")
    return ax


def plot_compare_k(rows: Sequence[Any], chosen: int, ax: Axes | None = None) -> Axes:
    """Draw numbers of clusters side by side; IN: rows: `OfK`; see `KComparison.plot`."""
    ax = axes_or_new(ax, 6.0, 4.0)
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    style, k = FigureColours(ax), [row.n_clusters for row in rows]
    ax.plot(k, [row.halves for row in rows], marker="o", color=COLOURS[0], label="halves agree", zorder=2)
    agreement = [row.agreement for row in rows]
    ax.plot(k, agreement, marker="s", linestyle="--", color=COLOURS[1], label="rows that follow their rule", zorder=2)
    ax.axvline(chosen, color=style.line, linewidth=1.0, zorder=1)
    ax.set_xlabel("clusters", **PLAIN)
    ax.set_ylim(top=1.02)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.grid(color=style.line, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)
    ax.legend(frameon=False, loc="best")
    return ax


def shows_price(frontier: Frontier) -> bool:
    """Return whether the price is drawn: it is where prunings have the least cost, and all prices are finite."""
    return frontier.objective == "cost" and all(math.isfinite(row.price) for row in frontier)


def _value(row: FrontierRow, by_price: bool) -> float:
    return row.price if by_price else row.agreement


def _held_out(row: FrontierRow, by_price: bool) -> float:
    value = row.price_held_out if by_price else row.agreement_held_out
    return math.nan if value is None else value


def _words(row: FrontierRow, by_price: bool) -> str:
    times = f"price {price(row.price)}, " if by_price else ""
    return f"this tree: {of_leaves(row.leaves)}, {times}agreement {percent(row.agreement)}"


def plot_lines(lines: MeasuredRules, ax: Axes | None = None) -> Axes:
    """Draw each cluster's front; see `StandaloneRules.plot`."""
    ax = axes_or_new(ax, 6.0, 4.5)
    from matplotlib.ticker import PercentFormatter

    style, swatches = FigureColours(ax), swatches_of(lines.explanation.names)
    options: dict[str, Any] = {"markersize": 13, "markeredgewidth": 1.5, "linewidth": 1.0, "zorder": 3}
    for front, place, swatch in zip(lines.fronts, lines.chosen, swatches, strict=True):
        if not front:
            continue
        xy = [one.found for one in front], [one.precision for one in front]
        line = {"marker": "o", "color": swatch.colour, "label": drawable(shorten_name(swatch.name)), **options}
        ax.plot(*xy, markerfacecolor=style.face, **line)
        for i, one in enumerate(front):
            if i == place:
                ax.plot(one.found, one.precision, marker="o", color=swatch.colour, **options)
            text: dict[str, Any] = {
                "color": swatch.ink if i == place else style.ink,
                "ha": "center",
                "va": "center",
                "fontsize": 8,
            }
            ax.text(one.found, one.precision, str(len(one.rule)), zorder=4, **text, **PLAIN)
    ax.set_xlabel("found (share of the cluster)", **PLAIN)
    ax.set_ylabel("precision", **PLAIN)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.margins(0.1)
    ax.grid(color=style.line, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)
    if any(lines.fronts):
        ax.legend(frameon=False, title="numbers are conditions; filled is chosen", markerscale=0.6)
    return ax


LOST, STABLE = 0.5, 0.75
WIDTH, SIZE = 230.0, 9.0  # most of a name on the axis, and its letters, in points
_LEGEND = "●  overlap with the cluster found again ({} below |)\n◆  share of trees that test the column"


def plot_stability(ex: MeasuredTree, ax: Axes | None = None) -> Axes:
    """Draw stability; see `Explanation.plot_stability`."""
    from boxwood.explanation.measure.stability import stability_of

    stability: Stability = ex._kept.get("stability") or stability_of(ex)
    codes = codes_at_cuts(ex.tree, ex._coded_columns)
    # a cut of categories has two ends in codes, but is one condition
    cuts = [*{(cut.node, cut.node in codes or cut.threshold): cut for cut in stability.cuts}.values()]
    clusters = stability.clusters
    n = len(clusters) + len(cuts)
    ax = axes_or_new(ax, 6.8, 1.2 + 0.3 * (n + 1))
    style, swatches = FigureColours(ax), swatches_of(ex.names)
    ax.axvspan(0.0, LOST, color=style.ink, alpha=0.08, linewidth=0)
    ax.axvspan(LOST, STABLE, color=style.ink, alpha=0.04, linewidth=0)
    names = []
    for y, one in enumerate(clusters):
        swatch = swatches[one.cluster]
        dot: dict[str, Any] = {
            "marker": "o",
            "markersize": 8,
            "color": swatch.colour,
            "markeredgecolor": swatch.outline,
        }
        ax.plot([one.jaccard_low, one.jaccard], [y, y], color=swatch.outline, linewidth=2.0, zorder=2)
        ax.plot([one.jaccard_low], [y], marker="|", markersize=9, color=swatch.outline, zorder=3)
        ax.plot([one.jaccard], [y], zorder=4, **dot)
        names.append(fit_width(swatch.name, WIDTH, SIZE))
    for y, cut in enumerate(cuts, len(clusters) + 1):
        ax.plot([0.0, cut.returns], [y, y], color=style.line, linewidth=1.5, zorder=2)
        ax.plot([cut.returns], [y], marker="D", markersize=6, color=COLOURS[0], zorder=4)
        names.append(_cut(ex, cut, codes))
    places = [*range(len(clusters)), *range(len(clusters) + 1, n + 1)]
    ax.set_yticks(places, list(map(drawable, names)), fontsize=SIZE, **PLAIN)
    ax.set(xlim=(-0.02, 1.02), ylim=(n + 0.7, -0.7))
    ax.set_xlabel(_LEGEND.format("5% are" if stability.n >= ENOUGH else "none is"), fontsize=9, **PLAIN)
    ax.grid(axis="x", color=style.line, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)
    return ax


def _cut(ex: MeasuredTree, cut: CutStability, codes: dict[int, Sides]) -> str:
    """Return a cut in words, with the range in which its threshold lies on other rows; a long name makes room."""
    if cut.node in codes:
        return fit_width(cut_words(ex, cut.node, codes[cut.node]).full[0], WIDTH, SIZE)
    if cut.column in ex.details.binary:
        return fit_width(column_name(cut.column), WIDTH, SIZE)
    if cut.threshold == sys.float_info.max:
        rest = " is missing or not"
    else:
        rest = (
            f" at {short_number(cut.threshold) if cut.dates is None else cut.dates.first(cut.threshold, beyond=True)}"
        )
    if cut.low is not None and cut.high is not None:
        low, high = (brief_of(end, cut.dates) for end in (cut.low, cut.high))
        rest += f" ({low} to {high})".replace(",", "" if are_years(cut.column, []) else ",")
    return fit_width(column_name(cut.column), WIDTH - text_width(rest, SIZE), SIZE) + rest


def plot_contrast(ex: MeasuredTree, first: Hashable, second: Hashable | None, ax: Axes | None = None) -> Axes:
    """Draw how two clusters differ; see `Explanation.plot_contrast`."""
    from boxwood.explanation.measure.contrast import contrast_of

    contrast = contrast_of(ex, first, second)
    swatches = dict(zip(ex.names, swatches_of(ex.names), strict=True))
    drawn = contrast.differences[:MOST]
    ax = axes_or_new(ax, 6.8, 1.3 + 0.3 * max(len(drawn), 1))
    style = FigureColours(ax)
    for y, one in enumerate(drawn):
        _bar(ax, y, one, _side(contrast, one, swatches), style)
    names = [fit_width(say_difference(one), WIDTH, SIZE) for one in drawn]
    ax.set_yticks(range(len(drawn)), list(map(drawable, names)), fontsize=SIZE, **PLAIN)
    ax.set_ylim(max(len(drawn), 1) - 0.3, -0.7)
    ax.axvline(0.0, color=style.ink, linewidth=0.8)
    sides = [drawable(fit_width(cluster_name(name), WIDTH, SIZE)) for name in contrast.names]
    ax.set_xlabel(
        f"more in {sides[1]}  ←  standard deviations  →  more in {sides[0]}\nlines are intervals of 95%",
        fontsize=SIZE,
        **PLAIN,
    )
    ax.grid(axis="x", color=style.line, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)
    return ax


def _side(contrast: Contrast, one: Difference, swatches: dict[Hashable, Swatch]) -> Swatch | None:
    """Return the swatch of the cluster that has more, None for all others together."""
    return swatches.get(contrast.names[int(one.effect < 0)])


def _bar(ax: Axes, y: int, one: Difference, swatch: Swatch | None, style: FigureColours) -> None:
    colour, edge = (style.line, style.ink) if swatch is None else (swatch.colour, swatch.outline)
    ax.barh(y, one.effect, height=0.6, color=colour, edgecolor=edge, linewidth=0.8)
    if one.low is not None and one.high is not None and one.difference != 0:
        unit = one.effect / one.difference  # as many standard deviations as one of the column's own units
        ax.plot([one.low * unit, one.high * unit], [y, y], color=style.ink, linewidth=1.5)


def plot_flow(match: MatchFacts, ax: Axes | None = None) -> Axes:
    """Draw the rows that old and new clusters share as bands from left to right; see `Match.plot`."""
    flow = flow_of(match)
    ax = axes_or_new(ax, 6.4, 1.0 + 0.3 * len(flow.bars))
    from matplotlib.patches import PathPatch, Rectangle
    from matplotlib.path import Path

    style = FigureColours(ax)
    ax.set(xlim=(-0.02, 1.02), ylim=(flow.height + 0.03, -0.03))
    ax.set_axis_off()
    for bar in flow.bars:
        x, side, at = (0.0, "left", BAR + 0.012) if bar.is_left else (1.0 - BAR, "right", 1.0 - BAR - 0.012)
        ax.add_patch(Rectangle((x, bar.top), BAR, bar.height, facecolor=style.muted, edgecolor="none"))
        options: dict[str, Any] = {"ha": side, "va": "center", "fontsize": 9, "color": style.ink, "zorder": 3, **PLAIN}
        ax.text(at, bar.top + bar.height / 2, drawable(f"{fit_width(bar.name, 150.0, 9.0)}  {bar.share}"), **options)
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    for start, end, width, cluster in flow.bands:
        upper = [(BAR, start), (0.5, start), (0.5, end), (1 - BAR, end)]
        lower = [(1 - BAR, end + width), (0.5, end + width), (0.5, start + width), (BAR, start + width)]
        colour = style.line if cluster is None else colour_of(cluster)
        path = Path([*upper, *lower, upper[0]], codes)
        ax.add_patch(PathPatch(path, facecolor=colour, edgecolor="none", alpha=0.55, zorder=1))
    return ax
