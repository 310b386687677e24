"""Two clusters against each other, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boxwood.words.measured import brief_in
from boxwood.words.rules import rule
from boxwood.words.values import (
    category,
    cluster_name,
    column_name,
    count_of,
    percent,
    shorten_name,
    size,
    three_digits,
)

if TYPE_CHECKING:
    from boxwood.explanation.measure.contrast import Contrast, Difference
    from boxwood.explanation.measure.lines import StandaloneRule
    from boxwood.explanation.records import NumberColumn

STANDS_OUT = 0.5  # standard deviations
_MOST = 5  # columns that are told
MOST = 12
"""Columns that are drawn: those that differ most."""


def contrast_text(contrast: Contrast) -> str:
    """Return the rule of each cluster, and the columns that differ most."""
    one, other = (shorten_name(cluster_name(name)) for name in contrast.names)
    sizes = [size(each) for each in contrast.sizes]
    sample = ", on a sample of the rows" if contrast.is_of_sample else ""
    lines = [f"{one} ({sizes[0]}) against {other} ({sizes[1]}){sample}", ""]
    lines += [f"{name}: {line_said(line)}" for name, line in zip((one, other), contrast.rules, strict=True)]
    large = [each for each in contrast.differences if abs(each.effect) >= STANDS_OUT]
    columns: dict[str, Any] = {each.column: each for each in contrast.profile}
    lines += ["", *(difference_said(each, columns[each.column]) for each in large[:_MOST])]
    rest = len(contrast.differences) - len(large[:_MOST])
    less = "less than these" if len(large) > _MOST else f"by less than {STANDS_OUT} standard deviations"
    lines += [
        f"{count_of(rest, 'other column' if large else 'column')} {'differs' if rest == 1 else 'differ'} {less}."
    ] * (rest > 0)
    return "\n".join(lines)


def line_said(line: StandaloneRule | None) -> str:
    """Return the rule of one of both clusters, and how good it is among these rows."""
    if line is None:
        return "no rule"
    return f"{rule(line.rule)} (finds {percent(line.found)}, right in {percent(line.precision)} of its rows)"


def difference_said(one: Difference, column: Any) -> str:
    """Return how a column differs, in a line; IN: column: that of the profile."""
    return f"{name_said(one, column)}: {how(one, column)}"


def name_said(one: Difference, column: Any) -> str:
    """Return the column, with the category whose share differs, which may be that of missing values."""
    return say_difference(one, is_missing=hasattr(column, "categories") and one.value is None)


def how(one: Difference, column: Any) -> str:
    """Return how a column differs, without its name."""
    effect = f"{three_digits(abs(one.effect))} standard deviations"
    if hasattr(column, "categories"):
        by = f"{abs(one.difference):.1%}".removesuffix("%")
        told = f"{percent(one.first)} against {percent(one.second)}, {by} points {_more(one, 'more', 'less')}"
        return f"{told} ({_between(one, points=True)}), {effect}"
    means = f"mean {brief_in(column, one.first)} against {brief_in(column, one.second)}"
    more = _more(one, *(("higher", "lower") if column.dates is None else ("later", "earlier")))
    return f"{means}, {_amount(column, abs(one.difference))} {more}{_interval(one)}, {effect}"


def say_difference(one: Difference, *, is_missing: bool = False) -> str:
    """Return the column, with the category whose share differs; IN: is_missing: whether its share of missing values."""
    what = "missing" if is_missing else "" if one.value is None else category(one.value)
    return f"{column_name(one.column)} = {what}" if what else column_name(one.column)


def _more(one: Difference, more: str, less: str) -> str:
    return more if one.difference >= 0 else less


def _amount(column: NumberColumn, x: float) -> str:
    return three_digits(x) if column.dates is None else f"{three_digits(x)} days"


def _interval(one: Difference) -> str:
    return "" if one.low is None else f" ({_between(one, points=False)})"


def _between(one: Difference, *, points: bool) -> str:
    """Return the interval of how much more or less it is."""
    assert one.low is not None
    assert one.high is not None
    ends = (one.low, one.high) if one.difference >= 0 else (-one.high, -one.low)
    low, high = (f"{end * 100:.1f}" if points else three_digits(end) for end in ends)
    return f"{low} to {high}"
