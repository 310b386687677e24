"""Rules of a cluster as a page shows them, with what they share and how well they describe it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import bidirectional

from boxwood.render.pictures.swatches import Swatch
from boxwood.words.measured import doubt
from boxwood.words.rules import NO_ROW, NO_RULE, condition, is_impossible, rows_behind, shared
from boxwood.words.values import column_name, percent

if TYPE_CHECKING:
    from boxwood.explanation.records import ClusterSummary, Condition, Rule

_MOST_RULES = 8  # of a card


def rules_of(cluster: ClusterSummary, swatch: Swatch, rows: str) -> dict[str, Any]:
    """Return the size of a cluster, its rules, and how well they describe it."""
    common, rests = shared(cluster.rules)
    return {
        "swatch": swatch,
        "rows": rows,
        "share": "" if rows.startswith("fewer") else percent(cluster.share),
        "shared": _lines(common) if common else [],
        "rules": [_lines(one) for one in rests[:_MOST_RULES]] if cluster.rules else [[_SaidCondition(NO_RULE)]],
        "more": max(len(cluster.rules) - _MOST_RULES, 0),
        "caught": None if cluster.found is None or not cluster.rules else percent(cluster.found),
        "precision": None if cluster.precision is None else percent(cluster.precision),
        "doubt": doubt(cluster).strip(),
        "worth": None,
    }


class _SaidCondition(NamedTuple):
    """A condition in words, and with all words of a list, if some are left out; else empty."""

    text: str
    whole: str = ""


def _lines(rule: Rule) -> list[_SaidCondition]:
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
