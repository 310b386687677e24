"""The profile as a picture by matplotlib: a heat map of columns by clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from boxwood.render._canvas import PLAIN, Style, axes_or_new, drawable, mixed
from boxwood.render._colours import ink_on
from boxwood.render._fitted import brief, fitted
from boxwood.render._picture import swatches_of
from boxwood.render._rules import category, column_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boxwood.explanation import CategoryColumn, Explanation, NumberColumn

__all__ = ["MOST_LINES", "Cell", "Line", "lines_of", "plot_profile"]

MOST_LINES = 40
_CATEGORIES = 3  # of one column, at most
_STRONGEST = 1.5  # standardised difference that has the full colour
_LOW, _HIGH = "#3f90da", "#e76300"  # blue and orange: apart for all colour-blind readers


class Cell(NamedTuple):
    """What a cluster has in a column: a text, and the standardised difference from the rest (None if there is none)."""

    text: str
    difference: float | None


class Line(NamedTuple):
    """A line of the heat map: a column, or one of its categories; a cell for each cluster, None without rows."""

    name: str
    cells: tuple[Cell | None, ...]


def plot_profile(ex: Explanation, ax: Axes | None = None) -> Axes:
    """Draw the profile; see `Explanation.plot_profile`."""
    lines, swatches = lines_of(ex), swatches_of(ex.names)
    k = len(swatches)
    ax = axes_or_new(ax, 2.6 + 0.85 * k, 1.3 + 0.34 * len(lines))
    from matplotlib.patches import Rectangle

    style = Style(ax)
    ax.set(xlim=(0.0, k), ylim=(float(len(lines)), 0.0))
    for y, line in enumerate(lines):
        for x, cell in enumerate(line.cells):
            colour = style.face if cell is None else shade(cell.difference, style)
            ax.add_patch(Rectangle((x, y), 1.0, 1.0, facecolor=colour, edgecolor=style.face, linewidth=1.5))
            if cell is not None:
                text = f"{cell.text} {_sign(cell.difference)}"
                options: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "clip_on": True, **PLAIN}
                ax.text(x + 0.5, y + 0.5, drawable(text.strip()), color=ink_on(colour), **options)
    names = [drawable(fitted(line.name, 190.0, 9.0)) for line in lines]
    ax.set_yticks([y + 0.5 for y in range(len(lines))], names, fontsize=9, **PLAIN)
    upright = all(len(swatch.name) <= 11 for swatch in swatches)
    turned: dict[str, Any] = {} if upright else {"rotation": 40, "ha": "left", "rotation_mode": "anchor"}
    heads = [drawable(fitted(swatch.name, 120.0, 9.0)) for swatch in swatches]
    ax.xaxis.tick_top()
    ax.set_xticks([x + 0.5 for x in range(k)], heads, fontsize=9, **turned, **PLAIN)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def lines_of(ex: Explanation) -> list[Line]:
    """Return the lines of the heat map: first the columns that the tree tests, then the others, by their effect.

    A column of categories has up to three lines, for those that tell clusters apart best; one if it has two categories.
    """
    from boxwood.explanation import NumberColumn

    tested = {ex.columns[j] for j in ex.tree.features.tolist()}
    profile = sorted(ex.profile(), key=lambda one: (one.column not in tested, -one.effect))
    lines: list[Line] = []
    for column in profile:
        if len(lines) >= MOST_LINES:
            break
        lines += [_numbers(column)] if isinstance(column, NumberColumn) else _categories(column)
    return lines[:MOST_LINES]


def _numbers(column: NumberColumn) -> Line:
    """Return the median of each cluster."""
    cells = (None if one is None else Cell(brief(one.quantiles[2]), one.difference) for one in column.clusters)
    return Line(column_name(column.column), tuple(cells))


def _categories(column: CategoryColumn) -> list[Line]:
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
        lines.append(Line(f"{column_name(column.column)}: {names[i]}", tuple(cells)))
    return lines


def shade(difference: float | None, style: Style) -> str:
    """Return the colour of a difference: the stronger, the farther from the colour of the paper."""
    if difference is None:
        return mixed(style.ink, style.face, 0.04)
    share = min(abs(difference) / _STRONGEST, 1.0)
    return mixed(_HIGH if difference > 0 else _LOW, style.face, 0.06 + 0.94 * share)


def _sign(difference: float | None) -> str:
    """Return the direction of a difference as a sign, so that it reads in grey, too: two signs for a strong one."""
    if difference is None or abs(difference) < 0.5:
        return ""
    return ("+" if difference > 0 else "−") * (2 if abs(difference) >= _STRONGEST else 1)
