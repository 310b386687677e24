"""The rules as PMML: a `TreeModel` of version 4.4, for engines that score rows of databases and streams."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from boxwood._dates import Dates
from boxwood._messages import list_words, show_value
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.explanation.measured_tree import explanation_of
from boxwood.render.forms.code import comparisons, date_tests, of_dates, plain_category
from boxwood.render.forms.walk import WalkStep, provenance, sides_with_gaps, takes, walk
from boxwood.tree import Interval
from boxwood.tree.on_frames import new_name

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">
 <Header description="Clusters by the rules of a small tree"><Application name="boxwood"/>\
<Annotation>{}</Annotation></Header>"""
_MODEL = """\
 <TreeModel functionName="classification" missingValueStrategy="nullPrediction" \
noTrueChildStrategy="returnNullPrediction" splitCharacteristic="binarySplit">"""
_MOST = 2**31  # whole numbers beyond are text, as engines hold them in 32 bits
_INDENT = 20  # deeper nodes are not indented further
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OPERATORS = {"<": "lessThan", "<=": "lessOrEqual", ">": "greaterThan", ">=": "greaterOrEqual"}


def pmml(model: Any) -> str:
    """Return the rules as PMML; see `Explanation.to_pmml`. `model` may be a fitted estimator.

    A predicate on a missing value is unknown, and the model then gives no prediction. So both sides of every cut have a
    predicate that is false for a category that was never seen, and unknown for a missing value without a code.

    Raises
    ------
    DataError
        If a name has a character that XML cannot hold.
    """
    ex = explanation_of(model)
    tested = ex.tree.features.tolist()
    if ages := [ex.columns[j] for j, one in ex._date_columns.items() if one.as_of and j in tested]:
        raise DataError(
            f"PMML has no today, from which ages of {list_words(ages)} count; write SQL, Python or JavaScript"
        )
    target = new_name("cluster", ex.columns)
    names = [plain_category(cluster.name) for cluster in ex.clusters]
    kind = "integer" if all(_is_whole(name) for name in names) else "string"
    fields = [_field(ex.columns[j], *_kind(ex._coded_columns.get(j), ex._date_columns.get(j))) for j in tested]
    fields.append(_field(target, "categorical", kind, list(dict.fromkeys(map(_value, names)))))
    mined = [f'   <MiningField name={_quote(ex.columns[j])} invalidValueTreatment="asIs"/>' for j in tested]
    lines = [
        _HEAD.format(escape(": ".join(provenance(ex)))),
        f' <DataDictionary numberOfFields="{len(fields)}">',
        *fields,
        " </DataDictionary>",
        _MODEL,
        "  <MiningSchema>",
        *mined,
        f'   <MiningField name={_quote(target)} usageType="target"/>',
        "  </MiningSchema>",
        *_nodes(ex, names),
        " </TreeModel>",
        "</PMML>",
    ]
    return "\n".join(lines)


def _is_whole(name: object) -> bool:
    return isinstance(name, int) and not isinstance(name, bool) and -_MOST <= name < _MOST


def _kind(categories: Categories | None, dates: Dates | None) -> tuple[str, str]:
    """Return how a column is measured, and the type of its values; dates with a time zone are those of UTC."""
    if dates is not None:
        return "continuous", "dateTime"
    if categories is None:
        return "continuous", "double"
    values = [value for value in categories.values if value is not None]
    if values and all(isinstance(value, bool) for value in values):
        return "categorical", "boolean"
    return "categorical", "double" if categories.are_numbers else "string"


def _field(name: str, measured: str, kind: str, values: Sequence[str] = ()) -> str:
    start = f'  <DataField name={_quote(name)} optype="{measured}" dataType="{kind}"'
    inner = "".join(f"<Value value={_quote(value)}/>" for value in values)
    return f"{start}>{inner}</DataField>" if inner else f"{start}/>"


def _nodes(ex: MeasuredTree, names: Sequence[object]) -> Iterator[str]:
    """Yield the lines of all nodes."""
    tree, leaves = ex.tree, iter(ex.leaves)
    clusters = iter(tree.leaf_clusters.tolist())
    is_open: list[str] = []
    for step in walk(tree):
        while len(is_open) > step.depth:
            yield is_open.pop()
        indent = " " * min(2 + step.depth, _INDENT)
        predicate = "<True/>" if step.above < 0 else _predicate(ex, step)
        if tree.feature[step.node] < 0:
            score, size = _quote(_value(names[next(clusters)])), _value(next(leaves).size)
            yield f'{indent}<Node id="{step.node}" score={score} recordCount="{size}">{predicate}</Node>'
        else:
            yield f'{indent}<Node id="{step.node}">{predicate}'
            is_open.append(f"{indent}</Node>")
    yield from reversed(is_open)


def _predicate(ex: MeasuredTree, step: WalkStep) -> str:
    """Return the predicate that a row lies on the side of the cut above a step that leads to it."""
    feature, upper, lower, _ = test = ex.tree.test(step.above)
    field, known = _quote(ex.columns[feature]), ex._coded_columns.get(feature)
    if known is None:
        dates = ex._date_columns.get(feature)
        if feature in ex._gap_columns:
            return _numbers_or_missing(field, *sides_with_gaps(test)[0 if step.inside else 1], dates)
        return _interval(field, lower, upper, dates, inside=step.inside)
    codes = [code for code, _ in known.domain if takes(test, code) == step.inside]
    return _one_of(field, known, *known.chosen(codes))


def _numbers_or_missing(field: str, pieces: Sequence[Interval], or_missing: bool, dates: Dates | None) -> str:
    """Return the predicate that a number or a date lies in some intervals, or is missing; it is never unknown."""
    parts = [_piece(field, piece, dates) for piece in pieces]
    if not parts or "" in parts:
        return _simple(field, "isMissing" if or_missing else "isNotMissing")
    return _with_gaps(field, _join_tests("or", parts), or_missing=or_missing)


def _piece(field: str, piece: Interval, dates: Dates | None) -> str:
    """Return the predicate that a number or a date lies in an interval; an empty text for that of all numbers."""
    lower, upper, lower_closed, upper_closed = piece
    if dates is not None:
        said = [_simple(field, _OPERATORS[end[0]], _value(end[1])) for end in date_tests(piece, dates) if end]
        return _join_tests("and", said) if said else ""
    parts = [_simple(field, _OPERATORS[">=" if lower_closed else ">"], _value(lower))] if lower > -math.inf else []
    parts += [_simple(field, _OPERATORS["<=" if upper_closed else "<"], _value(upper))] if upper < math.inf else []
    return _join_tests("and", parts) if parts else ""


def _with_gaps(field: str, numbers: str, *, or_missing: bool) -> str:
    """Return a predicate that a missing value fulfils, or that it does not, but which is never unknown."""
    if or_missing:
        return _join_tests("or", [_simple(field, "isMissing"), numbers])
    return _join_tests("and", [_simple(field, "isNotMissing"), numbers])


def _interval(field: str, lower: float, upper: float, dates: Dates | None, *, inside: bool) -> str:
    """Return the predicate that a number lies in a closed interval, or that it does not; unknown if it is missing."""
    plain_ends = comparisons(lower, upper, inside=inside)
    ends = plain_ends if dates is None else of_dates(lower, upper, dates, inside=inside)
    parts = [_simple(field, _OPERATORS[end[0]], _value(end[1])) for end in ends if end]
    return _join_tests("and" if inside else "or", parts)


def _one_of(field: str, categories: Categories, values: Collection[Hashable], included: bool) -> str:
    """Return the predicate that a value is among these, or among all others.

    It is unknown for a missing value, unless missing values have a code.
    """
    texts = [_value(value) for value in categories.as_written(values) if value is not None]
    parts = [_simple(field, "equal" if included else "notEqual", text) for text in texts]
    some = bool(parts)
    if not some:  # true for all values, or for none, and unknown for a missing one
        first = _value(next((value for value in categories.values if value is not None), ""))
        parts = [_simple(field, operator, first) for operator in ("equal", "notEqual")]
    test = _join_tests("or" if included == some else "and", parts)
    if None not in categories.values:
        return test
    return _with_gaps(field, test, or_missing=(None in values) == included)


def _simple(field: str, operator: str, value: str | None = None) -> str:
    compared = "" if value is None else f" value={_quote(value)}"
    return f'<SimplePredicate field={field} operator="{operator}"{compared}/>'


def _join_tests(operator: str, parts: Sequence[str]) -> str:
    if len(parts) == 1:
        return parts[0]
    return f'<CompoundPredicate booleanOperator="{operator}">{"".join(parts)}</CompoundPredicate>'


def _value(value: object) -> str:
    """Return a plain value, or a date, as XML writes it; whole floats lose their point."""
    if isinstance(value, datetime):
        return value.isoformat()
    value = plain_category(value)  # type: ignore[arg-type]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            return {math.inf: "INF", -math.inf: "-INF"}.get(value, "NaN")
        return repr(value + 0.0).removesuffix(".0")
    return str(value)


def _quote(text: str) -> str:
    """Return a text as the value of an attribute, in quotes."""
    if illegal := _ILLEGAL.search(text):
        raise DataError(f"{show_value(text)} has the character {ord(illegal[0])}, which XML cannot hold; rename it")
    return quoteattr(text)
