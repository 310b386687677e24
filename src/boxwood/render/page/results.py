"""Results of verbs as parts of a page, or as one for a notebook: rules, a frontier as charts, stability, tables.

Results print themselves, so this file stands beside their records: it imports them and words, not the report.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import bidirectional

from boxwood.render.page._template import fill_template, frame_page, stripes
from boxwood.render.pictures.swatches import Swatch, swatches_of
from boxwood.words.measured import ENOUGH, _between, _cut_name, _price, doubt, profile_lines
from boxwood.words.rules import NO_ROW, NO_RULE, condition, is_impossible, rows_behind, split_shared
from boxwood.words.tables import TABLES
from boxwood.words.values import column_name, percent, size

if TYPE_CHECKING:
    from boxwood.explanation.records import ClusterSummary, Condition, Frontier, Rule, Stability


def result_in_notebook(result: Any) -> str:
    """Return a result in a frame of its own for a notebook; what `print` shows, if that cannot be had.

    IN: result: Clusters, Frontier, Stability or Lines, one of TABLES, or another with a text.
    """
    kind, text = type(result).__name__, str(result)
    facts: dict[str, Any] = dict.fromkeys(("cards", "caption", "curve", "stability", "table", "text", "tree"))
    n_clusters = len(result if kind in ("Clusters", "StandaloneRules") else getattr(result, "clusters", ()))
    try:
        if kind == "Clusters":
            swatches = swatches_of(tuple(one.name for one in result))
            facts["cards"] = [describe_rules(*pair, size(pair[0].size)) for pair in zip(result, swatches, strict=True)]
        elif kind == "Frontier":
            facts["curve"] = frontier_charts(result, price=not result.by_agreement)
        elif kind == "Stability":
            swatches = swatches_of(tuple(one.name for one in result.clusters))
            facts["stability"] = stability_tables(result, swatches)
        elif kind == "Profile":
            facts["caption"], facts["table"] = _by_effect(result)
        elif kind in TABLES:
            facts["caption"], facts["table"], _ = TABLES[kind](result)
        elif kind == "StandaloneRules":
            facts |= {"cards": _cards_of_lines(result), "text": text.partition("\n\n")[2]}
        else:
            facts["text"] = text
        page = fill_template("result.html", facts | stripes(n_clusters), kind, script="")
    except Exception:  # a representation is never an error
        return f"<pre>{html.escape(text)}</pre>"
    return frame_page(kind, page, 120 + 24 * len(text.splitlines()))


def _cards_of_lines(lines: Any) -> list[dict[str, Any]]:
    """Return a card for each cluster with a line, as if the line were its rule."""
    clusters, found = lines.explanation.clusters, []
    for cluster, line, swatch in zip(clusters, lines, swatches_of(lines.explanation.names), strict=True):
        if line is not None:
            told = {"found": line.found, "precision": line.precision, "rules": (line.rule,)}
            found.append(describe_rules(cluster._replace(matched=line.matched, **told), swatch, size(cluster.size)))
    return found


def _by_effect(profile: Any) -> tuple[str, list[list[str]]]:
    """Return a caption, and the lines of a profile, its columns by effect."""
    by_effect = sorted(profile, key=lambda column: -column.effect)
    lines = profile_lines(type(profile)(by_effect, profile.names))
    effects = ["effect", *(f"{column.effect:.2f}" for column in by_effect)]
    what = "Medians of numbers; for categories the most frequent one and its share of the rows."
    more = "The effect is the share of a column's variance between clusters, for categories Cramér's V; largest first."
    return f"{what} {more}", [[*line, effect] for line, effect in zip(lines, effects, strict=True)]


_MOST_RULES = 8  # of a card


def describe_rules(cluster: ClusterSummary, swatch: Swatch, rows: str) -> dict[str, Any]:
    """Return the size of a cluster, its rules, and how well they describe it."""
    common, rests = split_shared(cluster.rules)
    return {
        "swatch": swatch,
        "rows": rows,
        "share": "" if rows.startswith("fewer") else percent(cluster.share),
        "shared": say_conditions(common) if common else [],
        "rules": [say_conditions(one) for one in rests[:_MOST_RULES]] if cluster.rules else [[_SaidCondition(NO_RULE)]],
        "more": max(len(cluster.rules) - _MOST_RULES, 0),
        "found": None if cluster.found is None or not cluster.rules else percent(cluster.found),
        "precision": None if cluster.precision is None else percent(cluster.precision),
        "doubt": f"({said})" if (said := doubt(cluster)) else "",
        "totals": None,
    }


class _SaidCondition(NamedTuple):
    """A condition in words, and with all words of a list, if some are left out; else empty."""

    text: str
    whole: str = ""


def say_conditions(rule: Rule) -> list[_SaidCondition]:
    """Return the conditions of a rule in words."""
    if any(map(is_impossible, rule)):
        return [_SaidCondition(NO_ROW)]
    return [_line(one) for one in rule] or [_SaidCondition("every row")]


def _line(one: Condition) -> _SaidCondition:
    text, whole = (apart(condition(one, whole=each), column_name(one.column)) for each in (False, True))
    return _SaidCondition(text + rows_behind(one), whole if one.categories is not None and whole != text else "")


def apart(text: str, name: str) -> str:
    """Return a text with a name that is written from right to left set apart, so that it turns nothing else round."""
    if any(bidirectional(letter) in ("R", "AL") for letter in name):
        return text.replace(name, f"\u2068{name}\u2069")
    return text


_WIDTH, _HEIGHT = 440.0, 190.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 16.0, 22.0, 34.0  # margins
_MOST_TICKS = 10
_STEPS = [factor * 10**power for power in range(9) for factor in (1, 2, 5)]


def frontier_charts(frontier: Frontier, *, price: bool) -> dict[str, Any]:
    """Return two charts over the number of leaves, price and agreement, and the table of both.

    IN: price: whether it is shown.
    """
    this, others = frontier.this, {row.leaves for row in frontier if not row.is_this}
    line = [row for row in frontier if not row.is_this or row.leaves not in others]
    charts = [
        _chart(
            "Price",
            [(row.leaves, row.price) for row in line],
            [(row.leaves, row.price_held_out) for row in line],
            (this.leaves, this.price),
            _price,
        ),
        _chart(
            "Agreement",
            [(row.leaves, row.agreement) for row in line],
            [(row.leaves, row.agreement_held_out) for row in line],
            (this.leaves, this.agreement),
            percent,
        ),
    ]
    return {
        "charts": [chart for chart in charts[0 if price else 1 :] if chart is not None],
        "price": price,
        "folds": frontier.folds,
        "rows": [
            {
                "leaves": f"{row.leaves:,}",
                "price": _price(row.price),
                "agreement": percent(row.agreement),
                "price_held_out": _price(row.price_held_out),
                "agreement_held_out": percent(row.agreement_held_out),
                "is_this": row.is_this,
            }
            for row in frontier
        ],
    }


def stability_tables(stability: Stability, swatches: Sequence[Swatch]) -> dict[str, Any]:
    """Return the verdict, and the tables of clusters and of cuts."""
    return {
        "verdict": stability.verdict,
        "n": f"{stability.n:,}",
        "is_enough": stability.n >= ENOUGH,
        "clusters": [
            {
                "swatch": swatches[one.cluster],
                "overlap": f"{one.jaccard:.2f}",
                "low": f"{one.jaccard_low:.2f}",
                "bar": round(100 * one.jaccard, 1),
            }
            for one in stability.clusters
        ],
        "cuts": [
            {
                "test": _cut_name(one),
                "returns": f"{one.returns:.0%}",
                "between": _between(one),
            }
            for one in stability.cuts
        ],
    }


class _Scale:
    """Places of leaves and values in a chart; both axes are linear."""

    def __init__(self, leaves: Sequence[int], values: Sequence[float]) -> None:
        self.first, self.last = min(leaves), max(max(leaves), min(leaves) + 1)
        low, high = min(values), max(values)
        room = (high - low) * 0.08 or abs(high) * 0.1 or 0.1
        self.low, self.high = low - room, high + room

    def x(self, leaves: float) -> float:
        return round(_LEFT + (leaves - self.first) / (self.last - self.first) * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)


def _chart(name: str, points: Any, held_out: Any, this: tuple[int, float], words: Any) -> dict[str, Any] | None:
    """Return a chart of values over leaves; None if fewer than two of them are finite."""
    known, other = ([one for one in line if _finite(one[1])] for line in (points, held_out))
    if len(known) < 2:
        return None
    shown = [*known, *other, *([this] if _finite(this[1]) else [])]
    scale = _Scale([one[0] for one in shown], [one[1] for one in shown])
    step = next(step for step in _STEPS if (scale.last - scale.first) / step <= _MOST_TICKS)
    ticks = range(math.ceil(scale.first / step) * step, scale.last + 1, step)
    levels = [scale.low + (scale.high - scale.low) * share for share in (0.08 / 1.16, 0.5, 1.08 / 1.16)]
    return {
        "name": name,
        "width": _WIDTH,
        "height": _HEIGHT,
        "bottom": _HEIGHT - _BOTTOM,
        "line": " ".join(f"{scale.x(x)},{scale.y(y)}" for x, y in known),
        "dots": [(scale.x(x), scale.y(y)) for x, y in known],
        "held_out": " ".join(f"{scale.x(x)},{scale.y(y)}" for x, y in other),
        "ticks": [(scale.x(leaves), f"{leaves:,}") for leaves in ticks],
        "levels": [(scale.y(level), words(round(level, 9))) for level in levels],
        "left": _LEFT,
        "right": _WIDTH - _RIGHT,
        "told": f"{name} from {words(known[0][1])} at {known[0][0]} leaves to {words(known[-1][1])} at {known[-1][0]}",
        "this": _mark(scale, *this, words, rises=known[-1][1] > known[0][1]),
    }


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _mark(scale: _Scale, leaves: int, value: float, words: Any, *, rises: bool) -> dict[str, Any] | None:
    """Return the place of this tree and its value, off the line if there is room; None where that is infinite."""
    if not _finite(value):
        return None
    x, y = scale.x(leaves), scale.y(value)
    anchor = "start" if x < _LEFT + 60 else "end" if x > _WIDTH - _RIGHT - 60 else "middle"
    return {
        "x": x,
        "y": y,
        "text": f"this tree {words(value)}",
        "anchor": anchor,
        "text_y": y - 9 if y > (_HEIGHT - _BOTTOM - 24 if rises else 34) else y + 20,
    }
