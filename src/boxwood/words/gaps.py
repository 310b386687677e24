"""`gaps_apart`: rules that do not say "or missing", and once for all of them as what values a missing one counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from boxwood.words.rules import rule

if TYPE_CHECKING:
    from boxwood.explanation.records import ClusterSummary, Condition


def gaps_apart(clusters: Sequence[ClusterSummary]) -> tuple[list[ClusterSummary], list[Condition]]:
    """Return clusters with rules in which no condition on some columns says "or missing", and what is to be said once.

    That is for each of these columns a condition: a row that lacks its value fulfils the same rules as rows that fulfil
    it. Columns of which no value is so stay as they are.
    """
    by_column: dict[str, list[Condition]] = {}
    for one in _conditions(clusters):
        by_column.setdefault(one.column, []).append(one)
    counts_as = {name: found for name, of_column in by_column.items() if (found := _like_missing(of_column))}
    apart = [
        cluster._replace(
            rules=tuple(
                tuple(_without_missing(one) if one.column in counts_as else one for one in each)
                for each in cluster.rules
            )
        )
        for cluster in clusters
    ]
    return apart, list(counts_as.values())


def gaps_line(counts_as: Sequence[Condition]) -> list[str]:
    """Return the line below such rules; none if they leave nothing to say."""
    return [f"Missing values count as: {', '.join(rule((one,)) for one in counts_as)}."] if counts_as else []


def _conditions(clusters: Sequence[ClusterSummary]) -> Iterable[Condition]:
    return (one for cluster in clusters for each in cluster.rules for one in each)


def _like_missing(of_column: Sequence[Condition]) -> Condition | None:
    """Return which values fulfil those conditions on a column that a missing one fulfils, and no others; None if none.

    A column without missing values has none.
    """
    with_gaps = [one for one in of_column if _holds_missing(one)]
    if not with_gaps:
        return None
    first, *more = (_without_missing(one) for one in with_gaps)
    alike = first.intervals
    for one in more:
        both = (mine.intersection(its) for mine in alike for its in one.intervals)
        alike = tuple(piece for piece in both if piece is not None)
    others = [piece for one in of_column if not _holds_missing(one) for piece in one.intervals]
    alike = tuple(piece for piece in alike if not any(piece.intersection(other) for other in others))
    return first._replace(intervals=alike) if alike else None


def _holds_missing(one: Condition) -> bool:
    return one.or_missing or (_code_of_missing(one) is not None and _without_missing(one) != one)


def _without_missing(one: Condition) -> Condition:
    code = _code_of_missing(one)
    return one._replace(or_missing=False, intervals=tuple(piece for piece in one.intervals if piece.lower != code))


def _code_of_missing(one: Condition) -> int | None:
    known = None if one.categories is None else one.categories.values
    return None if known is None or None not in known else known.index(None)
