"""Rules in words: `30 < age <= 45 and income > 45200`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from boxwood._dates import Dates
from boxwood.words.values import (
    MOST_VALUES,
    CountedWords,
    column_name,
    count_of,
    frequent_first,
    from_to,
    group_digits,
    none_of,
    number,
    one_of,
)

if TYPE_CHECKING:
    from boxwood.explanation.records import ClusterSummary, Condition, Rule
    from boxwood.tree import Interval

DOUBT = "a number rather than a cluster? If so, cut it into a few ranges and explain those"
"""End of a note that doubts the question, which stands before the many rules that answer it."""
NOT_COUNTED: Mapping[str, int] = MappingProxyType({})
EVERY_ROW = "every row"
NO_ROW = "no row: no value passes all cuts of its path"
NO_RULE = "no rule of its own: the tree has no leaf for this cluster"


def cluster_rule(cluster: ClusterSummary, *, whole: bool = False) -> str:
    """Return the rules of a cluster; see `rules_in_words`."""
    return rules_in_words(cluster.rules, whole=whole)


def rules_in_words(rules: Sequence[Rule], *, whole: bool = False) -> str:
    """Return rules, joined with "or"; what all of them say stands once. IN: whole: see `condition`."""
    if not rules:
        return NO_RULE
    possible = [one for one in rules if not any(map(is_impossible, one))]
    if not possible:
        return NO_ROW
    common, rests = split_shared(possible)
    either = _join_parts(" or ", [(rule(one, whole=whole), _is_compound(one, whole)) for one in rests])
    begin = rule(common, whole=whole)
    if not (common and rests):
        return either or begin
    is_alternative = len(common) == 1 and _is_compound(common, whole)
    return f"({begin}) and ({either})" if is_alternative else f"{begin} and ({either})"


def split_shared(rules: Sequence[Rule]) -> tuple[Rule, list[Rule]]:
    """Return the conditions that all rules have, and what each has besides; none, if that is nothing for one of them.

    A single rule shares nothing.
    """
    if len(rules) < 2:
        return (), list(rules)
    common = tuple(one for one in rules[0] if all(one in other for other in rules[1:]))
    rests = [tuple(one for one in each if one not in common) for each in rules]
    return common, rests if all(rests) else []


def rule(conditions: Rule, *, whole: bool = False) -> str:
    """Return the conditions of a rule, joined with "and"; without conditions, "every row"."""
    if not conditions:
        return EVERY_ROW
    texts = [condition(one, whole=whole) + ("" if whole else rows_behind(one)) for one in conditions]
    return _join_parts(
        " and ", [(text, _is_compound((one,), whole)) for text, one in zip(texts, conditions, strict=True)]
    )


def _is_compound(conditions: Rule, whole: bool) -> bool:
    """Return whether a rule has several conditions, or one that is an alternative or whose name reads as one."""
    return len(conditions) > 1 or any(_say_condition(one, whole)[1] or " or " in one.column for one in conditions)


def is_impossible(one: Condition) -> bool:
    """Return whether no value fulfils a condition."""
    return not one.intervals and not one.or_missing


def condition(one: Condition, *, whole: bool = False) -> str:
    """Return the condition on one column as text, such as `30 < age <= 45` or `x < 1 or x > 2`.

    The condition on a column of booleans is its name, or "not" and its name. All values but the missing one are said
    as "is not missing". A long list of values is shortened, unless
    it is to be `whole`: neighbours in an order become their ends, and others the list of the other values, or of the
    most frequent ones, where rows of words are known, and the number of the rest.
    """
    return _say_condition(one, whole)[0]


def _say_condition(one: Condition, whole: bool) -> tuple[str, bool]:
    """Return a condition in words, and whether it is an alternative, such as `age > 5 or missing`."""
    name = column_name(one.column)
    if is_impossible(one):
        return f"no possible {name}", False
    if one.categories is None:
        text = say_numbers(name, one.intervals, one.or_missing, one.dates, whole=whole)
        return text, len(one.intervals) + one.or_missing > 1
    values, included = one.categories.chosen({piece.lower for piece in one.intervals})
    if included and len(values) == 1 and isinstance(values[0], bool):
        return name if values[0] else f"not {name}", False
    if not values:  # known or not
        return f"any {name}", False
    if included and not one.categories.others and is_any_value(values, one.categories.values):
        return f"{name} is not missing", False
    if included and not whole and (ends := from_to(values, one.categories)):
        return f"{name} is {ends}", None in values
    if included and not whole and MOST_VALUES < len(values) < len(one.categories.values):
        others = [value for value in one.categories.values if value not in values]
        if len(others) < len(values):
            values, included = tuple(others), False
    most, in_order = (len(values), values) if whole else (MOST_VALUES, frequent_first(values, one.categories))
    text = one_of(in_order, most) if included else none_of(in_order, most)
    return f"{name} is {text}", included and len(values) > 1


def rows_behind(one: Condition) -> str:
    """Return in how many rows the words of a list stand that is too long to name all, to follow it; else nothing."""
    known = one.categories
    if not isinstance(known, CountedWords) or not _IS_CUT_OFF.search(condition(one)):
        return ""
    values, _ = known.chosen({piece.lower for piece in one.intervals})
    rows = [known.rows[known.values.index(value)] for value in values]
    return f" ({'at least ' * (0 in rows)}{sum(rows):,} of {known.n_rows:,} rows)" if any(rows) else ""


_IS_CUT_OFF = re.compile(r"\d more$")  # a word that ends so is in quotes


def is_any_value(values: Collection[Hashable], known: Sequence[Hashable]) -> bool:
    """Return whether these values, of all that are known, are all but the missing one."""
    return None in known and None not in values and len(values) == len(known) - 1


def say_numbers(
    name: str, pieces: Sequence[Interval], or_missing: bool, dates: Dates | None = None, *, whole: bool = False
) -> str:
    """Return in words that a number is in one of some intervals, or missing, such as `age > 5 or missing`.

    IN: dates: how numbers are said that are dates, such as `joined is before 2026-03-01`; whole: for programs to read,
    and so without commas in numbers.
    """
    if not pieces:
        return f"{name} is missing" if or_missing else f"no possible {name}"
    if not or_missing and _is_every_number(pieces[0]):
        return f"{name} is not missing"
    say = number if whole else group_digits
    said = (_interval(name, piece, say) if dates is None else f"{name} {period(piece, dates)}" for piece in pieces)
    return " or ".join([*said, *["missing"] * or_missing])


def _is_every_number(piece: Interval) -> bool:
    return piece.lower == -math.inf and piece.upper == math.inf and piece.lower_closed and piece.upper_closed


def period(piece: Interval, dates: Dates) -> str:
    """Return in words when the dates of an interval are; whatever is up to a number is before the next date."""
    if dates.as_of:
        return _ages_of(piece, dates)
    if piece.lower == piece.upper:
        return f"is {dates.text(piece.lower)}"
    begin = "" if piece.lower == -math.inf else dates.first(piece.lower, beyond=not piece.lower_closed)
    end = "" if piece.upper == math.inf else dates.first(piece.upper, beyond=piece.upper_closed)
    if begin and end:
        return f"is from {begin} to before {end}"
    at = "at" if ":" in begin else "on"
    return f"is {at} or after {begin}" if begin else f"is before {end}"


def _ages_of(piece: Interval, dates: Dates) -> str:
    lower, upper, lower_closed, upper_closed = piece
    begin = None if lower == -math.inf else math.nextafter(lower, -math.inf) if lower_closed else lower
    end = None if upper == math.inf else upper if upper_closed else math.nextafter(upper, -math.inf)
    return dates.period(begin, end)


def day_line(dates: Iterable[Dates]) -> list[str]:
    """Return the line that says from which day ages are counted; none if rules say no age."""
    days = dict.fromkeys(f"the day in {one.day_column}" if one.day_column else one.as_of for one in dates if one.as_of)
    return [f"Ages are counted from {day}." for day in days]


def _join_parts(word: str, parts: Sequence[tuple[str, bool]]) -> str:
    """Return the parts joined by a word; if there are several, each compound part gets parentheses."""
    return word.join(_texts(parts, several=len(parts) > 1))


def _texts(parts: Iterable[tuple[str, bool]], *, several: bool) -> Iterable[str]:
    return (f"({text})" if several and compound else text for text, compound in parts)


def _interval(name: str, piece: Interval, number: Callable[[float], str]) -> str:
    lower, upper, lower_closed, upper_closed = piece
    if lower == upper:
        return f"{name} = {number(lower)}"
    has_lower = not (lower == -math.inf and lower_closed)
    has_upper = not (upper == math.inf and upper_closed)
    if has_lower and has_upper:
        left, right = ("<=" if closed else "<" for closed in (lower_closed, upper_closed))
        return f"{number(lower)} {left} {name} {right} {number(upper)}"
    if has_lower:
        return f"{name} {'>=' if lower_closed else '>'} {number(lower)}"
    return f"{name} {'<=' if upper_closed else '<'} {number(upper)}"


# -------------------------------------------------------------------------------- what missing values count as
def gaps_apart(
    clusters: Sequence[ClusterSummary], lacking: Mapping[str, int] = NOT_COUNTED
) -> tuple[list[ClusterSummary], list[Condition]]:
    """Return clusters with rules in which no condition on some columns says "or missing", and what is to be said once.

    That is for each of these columns a condition: a row that lacks its value fulfils the same rules as rows that fulfil
    it. Columns of which no value is so stay as they are, and those that most rows of such clusters may lack: these rows
    are what the clusters hold. IN: lacking: see `cluster_parts`.
    """
    by_column: dict[str, list[Condition]] = {}
    for one in _conditions(clusters):
        by_column.setdefault(one.column, []).append(one)
    counts_as = {
        name: found
        for name, of_column in by_column.items()
        if (found := _like_missing(of_column)) and 2 * lacking.get(name, 0) <= _rows_with_gaps(clusters, name)
    }
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


def gaps_line(counts_as: Sequence[Condition], lacking: Mapping[str, int] = NOT_COUNTED) -> list[str]:
    """Return the line below such rules; none if they leave nothing to say; IN: lacking: see `cluster_parts`."""
    said = [
        rule((one,)) + (f" ({count_of(lacking[one.column], 'row')})" if one.column in lacking else "")
        for one in counts_as
    ]
    return [f"Missing values count as: {', '.join(said)}."] if said else []


def _rows_with_gaps(clusters: Sequence[ClusterSummary], column: str) -> float:
    """Return how many rows the clusters match whose rules let a missing value of a column in."""
    lets_in = (any(_holds_missing(each) and each.column == column for each in _conditions([one])) for one in clusters)
    return sum(one.matched for one, is_in in zip(clusters, lets_in, strict=True) if is_in)


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
