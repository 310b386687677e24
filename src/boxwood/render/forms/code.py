"""The rules as source of Python and JavaScript: one walk, and what differs by language.

Each cut returns from the side of fewer leaves, so the other side needs no `else`, and the code is indented at most as
often as the logarithm of the number of leaves says. A column is asked for where the way down the tree first tests it.
"""

from __future__ import annotations

import builtins
import keyword
import math
import re
import sys
from collections.abc import Collection, Hashable, Mapping, Sequence
from datetime import datetime, timedelta
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from boxwood._dates import ISO, ISO_PARTS, MICROSECONDS, NOW, Dates, pattern_of
from boxwood._messages import show_value
from boxwood._texts import TRUTHS
from boxwood.errors import DataError
from boxwood.explanation.ages import where_rules_run
from boxwood.explanation.apply.predict import own_shares_of_leaves
from boxwood.explanation.measured_tree import explanation_of
from boxwood.render.forms.walk import WalkStep, among, provenance, sides_with_gaps, walk
from boxwood.tree import Interval
from boxwood.tree.boxes import without_missing

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.render.forms.boxes import ClusterBoxes

_HEAD = '''\
# {made}
# {counts}
"""The cluster of a row by the rules of a small tree."""

from __future__ import annotations

'''
_FUNCTION = '''

def cluster(row: Mapping[{names}, Any]{day}) -> {clusters}:
    """Return the cluster of a row, a mapping from column to value.

    A row has none, and the result is None, if it lacks a value that its rule
    needs, or has a category there that was never seen; `why_none` says which.
    Missing are None and NaN; an empty text is a value. A row without one of
    the COLUMNS is an error.{on_day}
    """
'''
_ON_DAY = """

    Ages are counted from the day `as_of`, a date or a text such as 2026-08-31;
    None is {day}."""
_NAMES_AS_TEXT = """\
    if not isinstance(row, _Asked):  # names of columns may be numbers
        row = {str(name): value for name, value in row.items()}
"""
_CHECK = """\
    for column in COLUMNS:
        if column not in row:
            raise KeyError(f"no column {column!r}; a missing value is None")
"""
_WHY_NONE = '''


def why_none(row: Mapping[{names}, Any]{day}) -> tuple[str, str] | None:
    """Return why a row has no cluster: a column, and "missing" or "never seen".

    The result is None for a row that has a cluster.
    """
    asked = _Asked({{str(name): value for name, value in row.items()}})
    if cluster(asked{given}) is not None:
        return None
    missing = _is_missing(asked[asked.last])
    return asked.last, "missing" if missing else "never seen"


class _Asked(dict[str, Any]):  # a row that remembers the column it was asked for last
    last = ""

    def __getitem__(self, column: str) -> Any:
        self.last = column
        return super().__getitem__(column)
'''
_SHARE = '''


def share(row: Mapping[{names}, Any]{day}) -> float | None:
    """Return how sure the cluster of a row is, from 0 to 1.

    It is the share of the cluster in the row's leaf, of the rows that the rules
    were made of. A row without a cluster has None.{on_day}
    """
'''
_MISSING = """

def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:  # comparing the NA of pandas is neither true nor false
        return True
"""
_NUMBER = """

def _number(row: Mapping[str, Any], column: str) -> float | None:
    value = row[column]
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{column!r} must be a number, got {value!r}")
    return None if _is_missing(value) else float(value)
"""
_NUMBER_OR_INFINITY = """

def _number_or_infinity(row: Mapping[str, Any], column: str) -> float:
    value = _number(row, column)  # a missing number has a place, above all others
    return float("inf") if value is None else min(value, 1.7976931348623157e308)
"""
_MOMENT = """

_ISO = (
{parts}
)


def _moment(value: Any, column: str, form: str = "", pattern: str = "") -> datetime:
    text = str(value).strip()  # that of a date of numpy is one, too
    try:
        if re.fullmatch(_ISO, text):
            return datetime.fromisoformat(text.replace(" UTC", "Z"))
        if form and re.fullmatch(pattern, text):
            months = re.sub("Q([1-4])", lambda q: f"Q{{3 * int(q[1]) - 2:02}}", text)
            return datetime.strptime(months, form.replace("%q", "%m"))
    except ValueError:  # a day that its month does not have
        pass
    expected = f"in the form {{form}}" if form else "such as 2026-03-01"
    raise ValueError(f"{{column!r}} must be a date {{expected}}, got {{value!r}}")
""".format(parts="\n".join(f'    r"{part}"' for part in ISO_PARTS))
_DATE = """

def _date(
    row: Mapping[str, Any], column: str, form: str = "", pattern: str = ""
) -> datetime | None:
    value = row[column]
    if _is_missing(value):
        return None
    if isinstance(value, datetime):
        found = value
    elif isinstance(value, date):
        found = datetime(value.year, value.month, value.day)
    else:
        found = _moment(value, column, form, pattern)
    if found.tzinfo is not None:
        raise TypeError(
            f"{column!r} must have no time zone, got {found}; give the local date"
            " without one, as in 2026-03-01T14:30"
            " (JSON.stringify writes a date in UTC, with Z)"
        )
    return found
"""
_DATE_IN_UTC = """

def _date_in_utc(row: Mapping[str, Any], column: str) -> datetime | None:
    value = row[column]
    if _is_missing(value):
        return None
    found = value if isinstance(value, datetime) else _moment(value, column)
    if found.tzinfo is None:
        raise TypeError(
            f"{column!r} must have a time zone, got {found}; say in which it is,"
            " as in 2026-03-01T14:30Z"
        )
    try:
        return found.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # beyond the calendar of UTC by some hours
        return datetime.max if found.year > 1 else datetime.min
"""
_SINCE = """

def _since(
    value: datetime | None, row: Mapping[str, Any], as_of: Any
) -> timedelta | None:
    if value is None{lacks}:
        return None
    return value - _day({given})


def _day(value: Any) -> datetime:
    if value is None:
        return {none}
    if isinstance(value, datetime):
        found = value
    elif isinstance(value, date):
        found = datetime(value.year, value.month, value.day)
    else:
        found = _moment(value, "as_of")
{zone}    return found
"""
_DAY_OF_UTC = """\
    if found.tzinfo is not None:
        return found.astimezone(UTC).replace(tzinfo=None)
"""
_DAY_WITHOUT_ZONE = """\
    if found.tzinfo is not None:
        raise TypeError(f"as_of must have no time zone, got {found}")
"""
_VALUE = """

def _value(row: Mapping[str, Any], column: str) -> Any:
    value = row[column]
    return None if _is_missing(value) else value
"""
_TRUTH = f"""

_TRUTHS = {{
{"".join(f'    "{word}": {truth},' + chr(10) for word, truth in TRUTHS.items())}}}


def _truth(row: Mapping[str, Any], column: str) -> Any:
    value = _value(row, column)
    if isinstance(value, str):
        return _TRUTHS.get(value.strip().lower(), value)
    return value
"""


class _Days(NamedTuple):
    """From which days the rules count ages: as `Dates` say it, whether all of these are in UTC, and the column."""

    as_of: str = ""
    in_utc: bool = False
    column: str = ""

    @property
    def columns(self) -> list[str]:
        """The column that has the day, if one has."""
        return [self.column] if self.column else []

    @property
    def said(self) -> str:
        """What no day stands for, in words."""
        return f"the one in {self.column}" if self.column else "now" if self.as_of == NOW else "today"

    @property
    def in_signature(self) -> dict[str, str]:
        """The argument of functions of Python, what its docstring says, and how it is handed on."""
        if not self.as_of:
            return {"day": "", "on_day": "", "given": ""}
        return {"day": ", as_of: Any = None", "on_day": _ON_DAY.format(day=self.said), "given": ", as_of"}

    @property
    def python(self) -> list[str]:
        """The functions of Python that say how far a date is from the day, if rules ask for that."""
        if not self.as_of:
            return []
        none = "datetime(*date.today().timetuple()[:3])"
        if self.as_of == NOW:
            none = "datetime.now(UTC).replace(tzinfo=None)" if self.in_utc else "datetime.now()"
        column = in_python(self.column)
        lacks = f" or (as_of is None and _is_missing(row[{column}]))" if self.column else ""
        given = f"row[{column}] if as_of is None else as_of" if self.column else "as_of"
        zone = _DAY_OF_UTC if self.in_utc else _DAY_WITHOUT_ZONE
        return [_SINCE.format(lacks=lacks, given=given, none=none, zone=zone)]

    @property
    def javascript(self) -> list[str]:
        """The functions of JavaScript that do."""
        if not self.as_of:
            return []
        none = _TODAY_OF_JAVASCRIPT
        if self.column:
            none = f"valueOf({in_javascript(self.column)})"
        elif self.as_of == NOW:
            none = "new Date()"
        in_utc = in_javascript(self.in_utc)
        return [_SINCE_OF_JAVASCRIPT.replace("NONE", none).replace("IN_UTC", in_utc).replace("PATTERN", ISO)]

    @property
    def in_javascript(self) -> dict[str, str]:
        """The argument of functions of JavaScript, what is said of it, and how it is handed on."""
        if not self.as_of:
            return {"day": "", "on_day": "", "given": ""}
        on_day = _ON_DAY_OF_JAVASCRIPT.format(day=self.said).replace("<", "\\x3C")
        return {"day": ", asOf = null", "on_day": on_day, "given": ", asOf"}


def _days_of(ex: MeasuredTree, tested: Sequence[int]) -> _Days:
    dates = [one for j, one in ex._date_columns.items() if one.is_relative and j in tested]
    if not dates:
        return _Days()
    return _Days(dates[0].as_of, all(one.zone for one in dates), dates[0].day_column)


def python(model: Any, *, as_of: Any = None, share: bool = False) -> str:
    """Return source of Python with functions such as `cluster(row)` and `why_none(row)`; see `Explanation.to_python`.

    `model` may be a fitted estimator.
    """
    ex = where_rules_run(explanation_of(model), as_of)
    days = _days_of(ex, ex.tree.features.tolist())
    tested = [*(ex.columns[j] for j in ex.tree.features.tolist()), *days.columns]
    lines, shares = _body_of_python(ex), _body_of_python(ex, own_shares_of_leaves(ex).tolist()) if share else ""
    may_be_no_texts = any(not name[:1].isalpha() for name in tested)  # 0, or ("a", "b")
    named = {"names": "Any" if may_be_no_texts else "str", "clusters": _kinds_of(ex.names)}
    named |= days.in_signature
    made, counts = provenance(ex)
    head = _HEAD.format(made=made, counts=counts)
    public = ["COLUMNS", "cluster", *["share"] * bool(share), *["why_none"] * bool(tested)]
    offered = f"__all__ = [{', '.join(map(in_python, public))}]"
    begin = f"{head}{_imports(lines, days)}\n{offered}\nCOLUMNS = {_in_lines(tested)}\n{_FUNCTION.format(**named)}"
    first = (_NAMES_AS_TEXT * may_be_no_texts + _CHECK) if tested else ""
    second = [_SHARE.format(**named), first, shares] if share else []
    if not tested:
        return "".join([begin.replace("; `why_none` says which", ""), lines, *second])
    helpers = [_WHY_NONE.format(**named), _MISSING, *_used_helpers(_HELPERS, lines), *days.python]
    return "".join([begin, first, lines, *second, *helpers]).rstrip("\n")


def _body_of_python(ex: MeasuredTree, values: Sequence[Hashable] | None = None) -> str:
    return "\n".join(map(_laid_out, body(ex, _Python(), indent="    ", values=values)))


def _kinds_of(names: Sequence[Hashable]) -> str:
    """Return the type of the names of clusters, or None."""
    kinds = {type(plain_category(name)).__name__ for name in names}
    return " | ".join([*sorted(kinds), "None"])


_FUNCTION_OF_LINES = '''

def cluster(row: Mapping[{names}, Any]{day}) -> {clusters}:
    """Return the cluster of a row, a mapping from column to value.

    It is that of the first line that holds the row, or None. A line does not
    hold a row without a value that it asks for, or with one that was never
    seen. Missing are None and NaN; an empty text is a value. A row without
    one of the COLUMNS is an error.{on_day}
    """
'''


def python_of_boxes(boxes: ClusterBoxes) -> str:
    """Return source of Python as `StandaloneRules.to_python` does."""
    ex, tested = boxes.explanation, boxes.features
    days = _days_of(ex, tested)
    names = [*(ex.columns[j] for j in tested), *days.columns]
    body = "\n".join(f"    {line.replace(_BETWEEN, ', ')}" for line in _body_of_boxes(boxes, _Python()))
    may_be_no_texts = any(not name[:1].isalpha() for name in names)
    made, _ = provenance(ex)
    head = _HEAD.format(made=made, counts=boxes.what.capitalize())
    offered = '__all__ = ["COLUMNS", "cluster"]'
    clusters = _kinds_of([ex.names[cluster] for cluster, _ in boxes.boxes])
    named = {"names": "Any" if may_be_no_texts else "str", "clusters": clusters}
    function = _FUNCTION_OF_LINES.format(**named, **days.in_signature)
    begin = f"{head}{_imports(body, days)}\n{offered}\nCOLUMNS = {_in_lines(names)}\n{function}"
    as_text = "    row = {str(name): value for name, value in row.items()}\n" if may_be_no_texts else ""
    helpers = [_MISSING, *_used_helpers(_HELPERS, body), *days.python] if tested else []
    return "".join([begin, as_text, _CHECK if tested else "", body, "\n", *helpers]).rstrip("\n")


def _body_of_boxes(boxes: ClusterBoxes, language: Language) -> list[str]:
    """Return the lines of the function's body: each column is read, and then one box after the other is tried."""
    ex = boxes.explanation
    variables = identifiers(ex.columns, boxes.features, language.reserved)
    found = [_ask_column(ex, j, language, variables[j], may_lack=True)[0] for j in boxes.features]
    for cluster, box in boxes.boxes:
        tests = [_holds(ex, j, pieces, variables[j], language) for j, pieces in box.items()]
        said = language.both.join(f"({test})" if language.either in test else test for test in tests)
        given = language.give(language.literal(plain_category(ex.names[cluster])))
        found += [
            language.when(said or language.literal(True)),
            f"    {given}",
            *[language.close] * bool(language.close),
        ]
    return [*found, language.give(language.literal(None))]


def _holds(ex: MeasuredTree, j: int, pieces: Sequence[Interval], variable: str, language: Language) -> str:
    """Return the test that a value, which may be missing, is one of those that a line allows."""
    known, dates = ex._coded_columns.get(j), ex._date_columns.get(j)
    if known is not None:
        values, included = known.chosen(known.codes_in(pieces))
        test = language.one_of(variable, _plain(known.as_written(values)), inside=included)
        is_there = language.one_of(variable, [None], inside=False) + language.both
        return (is_there if not included and None not in known.values else "") + test
    numbers, or_missing = without_missing(pieces) if j in ex._gap_columns else (pieces, False)
    ends = [_ends(piece) if dates is None else date_tests(piece, dates) for piece in numbers]
    return _of_pieces_with_gaps(language, variable, ends, or_missing)


def _ends(piece: Interval) -> Ends:
    """Return the tests that a number lies in an interval."""
    lower, upper, lower_closed, upper_closed = piece
    at_lower = None if lower == -math.inf else (">=" if lower_closed else ">", lower)
    return at_lower, None if upper == math.inf else ("<=" if upper_closed else "<", upper)


def _imports(lines: str, days: _Days) -> str:
    """Return the imports, those of dates where lines of the function ask for some."""
    of_calls = {"_date_in_utc(": "UTC", "_date(": "date", "_date": "datetime", "_since(": "timedelta"}
    names = [name for call, name in of_calls.items() if call in lines]
    names = sorted({*names, "date"}) if days.as_of else names
    dates = f"from datetime import {', '.join(names)}\n" if names else ""
    first = "import re\n" if names else ""
    return f"{first}from collections.abc import Mapping\n{dates}from typing import Any\n"


def _laid_out(line: str) -> str:
    """Return a line with what it lists: beside each other, or below each other where that is too long."""
    flat = line.replace(_BETWEEN, ", ")
    if flat == line or len(flat) <= _WIDTH:
        return flat
    indent = " " * (len(line) - len(line.lstrip()))
    before, listed = line.split("(", 1)
    listed, after = listed.rsplit(")", 1)
    items = [f"{indent}    {item}," for item in listed.split(_BETWEEN)]
    return "\n".join([f"{before}(", *items, f"{indent}){after}"])


_BETWEEN = "\x1f"  # two items of a list that may become lines; no literal has this character
_WIDTH = 88  # characters of a line, as ruff and black have them


def _in_lines(names: Sequence[str]) -> str:
    """Return a tuple of texts, each on its own line if they are too long for one."""
    texts = [in_python(name) for name in names]
    line = f"({', '.join(texts)}{',' * (len(texts) == 1)})"
    return line if len(line) <= _LINE else "(\n" + "".join(f"    {text},\n" for text in texts) + ")"


_LINE = 60  # characters of a list on one line

_HELPERS = {
    _NUMBER: ("_number(", "_number_or_infinity("),
    _NUMBER_OR_INFINITY: ("_number_or_infinity(",),
    _MOMENT: ("_date(", "_date_in_utc("),
    _DATE: ("_date(",),
    _DATE_IN_UTC: ("_date_in_utc(",),
    _VALUE: ("_value(", "_truth("),
    _TRUTH: ("_truth(",),
}


def _used_helpers(helpers: Mapping[str, Sequence[str]], lines: str) -> list[str]:
    """Return the helpers of which a function calls one; IN: helpers: each with the calls that need it."""
    return [text for text, calls in helpers.items() if any(call in lines for call in calls)]


def in_python(value: object) -> str:
    """Return a plain value, or None, as a literal of Python; whole floats lose their point.

    Examples
    --------
    >>> print(in_python("it's"), in_python(27000.0), in_python(-0.1), in_python(None), in_python(float("inf")))
    "it's" 27000 -0.1 None float("inf")
    """
    if isinstance(value, datetime):
        return repr(value).removeprefix("datetime.").replace(", 0, 0)", ")")
    if isinstance(value, timedelta):
        return repr(value).removeprefix("datetime.")
    if isinstance(value, str):
        text = repr(value)
        single = text[0] == "'" and '"' not in value
        return '"' + text[1:-1].replace("\\'", "'") + '"' if single else text
    if isinstance(value, float):
        return f'float("{value}")' if not math.isfinite(value) else repr(value + 0.0).removesuffix(".0")
    return repr(value)


class _Python:
    both, either = " and ", " or "
    own = ("row", "column", "cluster", "why_none", "as_of", "re", "Any", "Mapping")
    of_dates = ("date", "datetime", "timedelta", "UTC")
    reserved: Collection[str] = frozenset([*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *own, *of_dates])
    close = ""
    literal = staticmethod(in_python)

    def ask_number(self, variable: str, column: str) -> Sequence[str]:
        return f"{variable} = _number(row, {in_python(column)})", f"if {variable} is None:", "    return None"

    def ask_number_or_infinity(self, variable: str, column: str) -> Sequence[str]:
        return (f"{variable} = _number_or_infinity(row, {in_python(column)})",)

    def ask_date(self, variable: str, column: str, dates: Dates, *, missing: bool) -> Sequence[str]:
        form = (dates.form, pattern_of(dates.form)) if dates.form and not dates.zone else ()
        asked = _BETWEEN.join(["row", *map(in_python, (column, *form))])
        date = f"{'_date_in_utc' if dates.zone else '_date'}({asked})"
        read = f"{variable} = {f'_since({date}, row, as_of)' if dates.is_relative else date}"
        return (read,) if missing else (read, f"if {variable} is None:", "    return None")

    def ask_value(self, variable: str, column: str, known: Sequence[object], *, truths: bool) -> Sequence[str]:
        read = f"{variable} = {'_truth' if truths else '_value'}(row, {in_python(column)})"
        return read, f"if {self.one_of(variable, known, inside=False)}:", "    return None"

    def ask_any_value(self, variable: str, column: str, *, missing: bool) -> Sequence[str]:
        refused = () if missing else (f"if {variable} is None:", "    return None")
        return f"{variable} = _value(row, {in_python(column)})", *refused

    def compared(self, variable: str, ends: Ends, *, inside: bool) -> str:
        at_lower, at_upper = ends
        if at_lower and at_upper and inside:
            before = at_lower[0].replace(">", "<")
            return f"{in_python(at_lower[1])} {before} {variable} {at_upper[0]} {in_python(at_upper[1])}"
        parts = (f"{variable} {end[0]} {in_python(end[1])}" for end in ends if end)
        return " or ".join(parts)

    def one_of(self, variable: str, values: Sequence[object], *, inside: bool) -> str:
        if values == [None]:
            return f"{variable} is {'' if inside else 'not '}None"
        if len(values) == 1:
            return f"{variable} {'==' if inside else '!='} {in_python(_numbers(values)[0])}"
        return f"{variable} {'' if inside else 'not '}in ({_BETWEEN.join(map(in_python, values))})"

    def truth(self, variable: str, *, yes: bool) -> str:
        return variable if yes else f"not {variable}"

    def when(self, test: str) -> str:
        return f"if {test}:"

    def give(self, value: str) -> str:
        return f"return {value}"


_HEAD_OF_JAVASCRIPT = """\
// {made}
// {counts}
{export}const COLUMNS = [{columns}];

/**
 * The cluster of a row {which}
 *
 * {none}
 * Missing are null, NaN, and undefined where the row has the column; an empty text is a value. A row without one of the
 * COLUMNS is an error.
 *
 * @param {{Record<string, unknown>}} row from the name of a column to its value
{on_day} * @returns {{{clusters}}}
 */
{export}function cluster(row{day}) {{
"""
_OF_TREE_IN_JAVASCRIPT = {
    "which": "by the rules of a small tree, or null for a row that has none.",
    "none": "It has none if it lacks a value that its rule needs, or has a category there that was never seen; whyNone "
    "says which.",
}
_OF_LINES_IN_JAVASCRIPT = {
    "which": "whose line holds it, the first of several; or null.",
    "none": "A line does not hold a row without a value that it asks for, or with one that was never seen.",
}
_CHECK_OF_JAVASCRIPT = """\
  for (const column of COLUMNS) {
    if (Object.prototype.hasOwnProperty.call(row, column)) continue;
    throw new Error("no column " + JSON.stringify(column) + " in the row; a missing value is null");
  }
"""
_WHY_NONE_OF_JAVASCRIPT = """

/**
 * Why a row has no cluster: a column, and "missing" or "never seen"; null for a row that has one.
 *
 * @param {{Record<string, unknown>}} row
{on_day} * @returns {{[string, string] | null}}
 */
{export}function whyNone(row{day}) {{
  let last = null;
  const asked = new Proxy(row, {{get(of, column) {{ last = column; return of[column]; }}}});
  if (cluster(asked{given}) !== null) return null;
  const value = row[last];
  return [last, value === null || value === undefined || Number.isNaN(value) ? "missing" : "never seen"];
}}"""
_EXPORTS = """

/* global module */
if (typeof module !== "undefined") module.exports = {EXPORTED};"""
_VALUE_OF_JAVASCRIPT = """

  function valueOf(column) {
    const value = row[column];
    return value === undefined || Number.isNaN(value) ? null : value;
  }
"""
_NUMBER_OF_JAVASCRIPT = """
  function numberOf(column) {
    const value = valueOf(column);
    if (value !== null && !["number", "boolean", "bigint"].includes(typeof value)) {
      throw new TypeError(JSON.stringify(column) + " must be a number, got " + JSON.stringify(value));
    }
    return value === null ? null : Number(value);
  }
"""
_NUMBER_OR_INFINITY_OF_JAVASCRIPT = """
  function numberOrInfinityOf(column) {  // a rule may say where a missing number goes: it counts as infinity
    const value = numberOf(column);
    return value === null ? Infinity : Math.min(value, Number.MAX_VALUE);
  }
"""
TIME_IN_JAVASCRIPT = """\
  function timeIn(text, form, pattern) {
    const found = pattern.exec(text);
    if (found === null) return NaN;
    const part = {d: 1, H: 0, M: 0, S: 0, f: "", z: "Z"};
    form.match(/%./g).forEach((name, i) => { part[name[1]] = found[i + 1] ?? part[name[1]]; });
    const year = Number(part.Y ?? (part.y < 69 ? 2000 : 1900) + Number(part.y));
    const named = "janfebmaraprmayjunjulaugsepoctnovdec".indexOf((part.B ?? part.b ?? "").toLowerCase().slice(0, 3));
    const month = part.q ? 3 * part.q - 3 : part.m ? part.m - 1 : named / 3;
    const micro = Number(part.f.slice(1, 7).padEnd(6, "0"));
    const [, sign, hours, minutes] = /([+-])(..):?(..)?/.exec(part.z) ?? [];
    const offset = sign ? Number(sign + 1) * (60 * hours + Number(minutes ?? 0)) : 0;
    const date = new Date(0);
    date.setUTCFullYear(year, month, part.d);  // not Date.UTC, to which the year 23 is 1923
    if (year < 1 || date.getUTCMonth() !== month || part.H > 23 || part.M > 59 || part.S > 59) return NaN;
    return date.setUTCHours(part.H, part.M - offset, part.S, Math.floor(micro / 1000)) + micro % 1000 / 1000;
  }
"""
"""The function of JavaScript that reads the date in a text of some form, in milliseconds; NaN if there is none."""
_DATE_OF_JAVASCRIPT = f"""
  // In milliseconds. A date without a time zone counts as one of UTC; a Date is then what the local clock shows.
  function dateOf(column, hasZone, form, pattern) {{
    const value = valueOf(column);
    if (value === null) return null;
    const text = typeof value === "string" ? value.trim() : "";
    const inForm = form ? timeIn(text, form, pattern) : NaN;
    const inText = Number.isNaN(inForm) ? timeIn(text, "%Y%m%d%H%M%S%f%z", /^{ISO}$/) : inForm;
    const time = value instanceof Date ? (hasZone ? value.getTime() : localTime(value)) : inText;
    const wrong = what => new TypeError(JSON.stringify(column) + " must " + what + ", got " + JSON.stringify(value));
    if (Number.isNaN(time)) throw wrong("be a date " + (form ? "in the form " + form : "such as 2026-03-01"));
    if (value instanceof Date || hasZone === /:.*(Z|UTC|[+-].*)$/.test(text)) return time;
    throw wrong(hasZone
      ? "have a time zone (say in which it is, as in 2026-03-01T14:30Z)"
      : "have no time zone (give the local date without one, as in 2026-03-01T14:30; JSON.stringify writes UTC and Z)");
  }}

  function localTime(date) {{
    const found = new Date(0);
    found.setUTCFullYear(date.getFullYear(), date.getMonth(), date.getDate());
    return found.setUTCHours(date.getHours(), date.getMinutes(), date.getSeconds(), date.getMilliseconds());
  }}
"""
_SINCE_OF_JAVASCRIPT = """
  function sinceOf(time) {  // how far a date is from the day of `asOf`, in microseconds
    const given = asOf ?? NONE;
    if (time === null || given === null) return null;
    return Math.round((time - dayOf(given)) * 1000);
  }

  function dayOf(value) {
    const text = typeof value === "string" ? value.trim() : "";
    const inText = timeIn(text, "%Y%m%d%H%M%S%f%z", /^PATTERN$/);
    const time = value instanceof Date ? (IN_UTC ? value.getTime() : localTime(value)) : inText;
    if (!Number.isNaN(time) && (IN_UTC || !/:.*(Z|UTC|[+-].*)$/.test(text))) return time;
    throw new TypeError("asOf must be a day such as 2026-08-31, got " + JSON.stringify(value));
  }
"""
_TODAY_OF_JAVASCRIPT = 'new Date().toLocaleDateString("sv")'  # which writes ISO 8601
_ON_DAY_OF_JAVASCRIPT = """\
 * @param {{string | Date | null}} asOf the day from which ages are counted, such as "2026-08-31"; null is {day}
"""
_CODE = """
  function codeOf(column) {
    const value = valueOf(column);
    return ["boolean", "bigint"].includes(typeof value) ? Number(value) : value;
  }
"""
_TRUTH_OF_JAVASCRIPT = f"""
  function truthOf(column) {{
    const value = valueOf(column);
    const word = typeof value === "string" ? value.trim().toLowerCase() : null;
    if ({[word for word, value in TRUTHS.items() if value]}.includes(word)) return 1;
    return {[word for word, value in TRUTHS.items() if not value]}.includes(word) ? 0 : codeOf(column);
  }}
"""
_HELPERS_OF_JAVASCRIPT = {
    _NUMBER_OF_JAVASCRIPT: ("numberOf(", "numberOrInfinityOf("),
    _NUMBER_OR_INFINITY_OF_JAVASCRIPT: ("numberOrInfinityOf(",),
    f"{_DATE_OF_JAVASCRIPT}\n{TIME_IN_JAVASCRIPT}": ("dateOf(",),
    _CODE: ("codeOf(", "truthOf("),
    _TRUTH_OF_JAVASCRIPT: ("truthOf(",),
}
_RESERVED = """
arguments await break case catch class cluster codeOf const continue dateOf Date debugger default delete do
else enum eval export
extends false finally for function if implements import in instanceof interface let localTime new null number numberOf
asOf dayOf sinceOf
numberOrInfinityOf object
package private protected public return row static super switch this throw timeIn true truthOf try typeof undefined
valueOf var void while with yield
"""


def javascript(model: Any, *, module: bool = False, as_of: Any = None) -> str:
    """Return functions of JavaScript, `cluster(row)` and `whyNone(row)`; see `Explanation.to_javascript`.

    `model` may be a fitted estimator. The result is a number if the name is one that JavaScript holds exactly.
    """
    ex = where_rules_run(explanation_of(model), as_of)
    days = _days_of(ex, ex.tree.features.tolist())
    tested = [*(ex.columns[j] for j in ex.tree.features.tolist()), *days.columns]
    lines = "\n".join(body(ex, _JavaScript(), indent="  "))
    made, counts = (line.replace("<", "\\x3C") for line in provenance(ex))  # which may stand between script tags
    export = "export " if module else ""
    begin = _HEAD_OF_JAVASCRIPT.format(
        made=made,
        counts=counts,
        export=export,
        columns=", ".join(map(in_javascript, tested)),
        clusters=_kinds_in_javascript(ex.names),
        **days.in_javascript,
        **_OF_TREE_IN_JAVASCRIPT,
    )
    names = ["COLUMNS", "cluster", *["whyNone"] * bool(tested)]
    end = "" if module else _EXPORTS.replace("EXPORTED", ", ".join(names))
    if not tested:
        return begin.replace("; whyNone says which", "") + lines + "\n}" + end
    helpers = [_VALUE_OF_JAVASCRIPT, *_used_helpers(_HELPERS_OF_JAVASCRIPT, lines), *days.javascript]
    why_none = _WHY_NONE_OF_JAVASCRIPT.format(export=export, **days.in_javascript)
    return "".join([begin, _CHECK_OF_JAVASCRIPT, lines, *helpers, "}", why_none, end])


def javascript_of_boxes(boxes: ClusterBoxes, *, module: bool) -> str:
    """Return source of JavaScript as `StandaloneRules.to_javascript` does."""
    ex, tested = boxes.explanation, boxes.features
    days = _days_of(ex, tested)
    body = "\n".join(f"  {line}" for line in _body_of_boxes(boxes, _JavaScript()))
    begin = _HEAD_OF_JAVASCRIPT.format(
        made=provenance(ex)[0].replace("<", "\\x3C"),
        counts=boxes.what.capitalize(),
        export="export " if module else "",
        columns=", ".join(map(in_javascript, [*(ex.columns[j] for j in tested), *days.columns])),
        clusters=_kinds_in_javascript(ex.names),
        **days.in_javascript,
        **_OF_LINES_IN_JAVASCRIPT,
    )
    helpers = (
        [_VALUE_OF_JAVASCRIPT, *_used_helpers(_HELPERS_OF_JAVASCRIPT, body), *days.javascript] if tested else ["\n"]
    )
    end = "" if module else _EXPORTS.replace("EXPORTED", "COLUMNS, cluster")
    return "".join([begin, _CHECK_OF_JAVASCRIPT if tested else "", body, *helpers, "}", end])


def _kinds_in_javascript(names: Sequence[Hashable]) -> str:
    kinds = {in_javascript(plain_category(name))[0] for name in names}
    said = {"string": '"' in kinds, "boolean": bool(kinds & {"t", "f"}), "number": bool(kinds - {'"', "t", "f"})}
    return " | ".join([*(kind for kind, is_one in said.items() if is_one), "null"])


def in_javascript(value: object) -> str:
    """Return a plain value, or None, as a literal of JavaScript that may also stand in a page, between script tags.

    A whole number that no number of JavaScript holds becomes text.

    Examples
    --------
    >>> print(in_javascript('</script> "$"'), in_javascript(27000.0), in_javascript(True), in_javascript(None))
    "\\x3C/script> \\"$\\"" 27000 true null
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, datetime):
        return _date_in_javascript(value)
    if isinstance(value, timedelta):
        days, rest = divmod(value, timedelta(days=1))
        return str(value // timedelta(microseconds=1)) if rest else f"{days} * {MICROSECONDS}"
    if isinstance(value, (int, float)):
        if isinstance(value, int) and abs(value) > _SAFE:
            return f'"{value}"'
        number = repr(value + 0.0 if isinstance(value, float) else value).removesuffix(".0")
        return number.replace("inf", "Infinity").replace("nan", "NaN")
    return '"' + "".join(map(_in_javascript, str(value))) + '"'


def _date_in_javascript(date: datetime) -> str:
    """Return a date in UTC in milliseconds."""
    beyond = f" + {date.microsecond % 1000 / 1000}" if date.microsecond % 1000 else ""
    if date.year < 100:  # to Date.UTC, the year 23 is 1923
        return f'Date.parse("{date.isoformat(timespec="milliseconds")}Z"){beyond}'
    parts = [date.year, date.month - 1, date.day, date.hour, date.minute, date.second, date.microsecond // 1000]
    while len(parts) > 3 and parts[-1] == 0:
        parts.pop()
    return f"Date.UTC({', '.join(map(str, parts))}){beyond}"


_SAFE = 2**53  # numbers of JavaScript hold all whole numbers up to here


def _in_javascript(c: str) -> str:
    if c in _JAVASCRIPT or (c.isprintable() and c != "\u2028"):
        return _JAVASCRIPT.get(c, c)
    return f"\\u{ord(c):04x}" if ord(c) < 1 << 16 else f"\\u{{{ord(c):x}}}"


_JAVASCRIPT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "<": "\\x3C"}


class _JavaScript:
    both, either = " && ", " || "
    reserved: Collection[str] = frozenset(_RESERVED.split())
    close = "}"
    literal = staticmethod(in_javascript)

    def ask_number(self, variable: str, column: str) -> Sequence[str]:
        return f"const {variable} = numberOf({in_javascript(column)});", f"if ({variable} === null) return null;"

    def ask_number_or_infinity(self, variable: str, column: str) -> Sequence[str]:
        return (f"const {variable} = numberOrInfinityOf({in_javascript(column)});",)

    def ask_date(self, variable: str, column: str, dates: Dates, *, missing: bool) -> Sequence[str]:
        form = f", {in_javascript(dates.form)}, /^{pattern_of(dates.form)}$/" if dates.form and not dates.zone else ""
        date = f"dateOf({in_javascript(column)}, {in_javascript(bool(dates.zone))}{form})"
        read = f"const {variable} = {f'sinceOf({date})' if dates.is_relative else date}"
        return (f"{read};",) if missing else (f"{read};", f"if ({variable} === null) return null;")

    def ask_value(self, variable: str, column: str, known: Sequence[object], *, truths: bool) -> Sequence[str]:
        read = f"const {variable} = {'truthOf' if truths else 'codeOf'}({in_javascript(column)});"
        return read, f"if ({self.one_of(variable, known, inside=False)}) return null;"

    def ask_any_value(self, variable: str, column: str, *, missing: bool) -> Sequence[str]:
        refused = () if missing else (f"if ({variable} === null) return null;",)
        return f"const {variable} = codeOf({in_javascript(column)});", *refused

    def compared(self, variable: str, ends: Ends, *, inside: bool) -> str:
        parts = (f"{variable} {end[0]} {in_javascript(end[1])}" for end in ends if end)
        return (self.both if inside else self.either).join(parts)

    def one_of(self, variable: str, values: Sequence[object], *, inside: bool) -> str:
        values = _numbers(values)
        if len(values) == 1:
            return f"{variable} {'===' if inside else '!=='} {in_javascript(values[0])}"
        return f"{'' if inside else '!'}[{', '.join(map(in_javascript, values))}].includes({variable})"

    def truth(self, variable: str, *, yes: bool) -> str:
        return variable if yes else f"!{variable}"

    def when(self, test: str) -> str:
        return f"if ({test}) {{"

    def give(self, value: str) -> str:
        return f"return {value};"


def _numbers(values: Sequence[object]) -> list[object]:
    """Return the values with 0 and 1 for booleans, which `codeOf` turns into these, too."""
    return [int(value) if isinstance(value, bool) else value for value in values]


class Language(Protocol):
    """How a language says what the function needs."""

    reserved: Collection[str]  # words that no variable may be
    close: str  # what ends an indented block; an empty text if the indentation does
    both: str  # what joins two tests that have to hold
    either: str  # what joins two tests of which one has to hold

    def literal(self, value: object) -> str:
        """Return a value."""

    def ask_number(self, variable: str, column: str) -> Sequence[str]:
        """Return lines that set a variable to a number, and return nothing if it is missing."""

    def ask_number_or_infinity(self, variable: str, column: str) -> Sequence[str]:
        """Return lines that set a variable to a number, to infinity if it is missing."""

    def ask_date(self, variable: str, column: str, dates: Dates, *, missing: bool) -> Sequence[str]:
        """Return lines that set a variable to a date, and return nothing if it is missing and may not be so.

        IN: dates: how texts of the column are dates; missing: whether one may be missing.
        """

    def ask_value(self, variable: str, column: str, known: Sequence[object], *, truths: bool) -> Sequence[str]:
        """Return lines that set a variable to a category, None if it is missing, and return nothing if it is unknown.

        IN: known: the values that have a code; truths: whether these are booleans, for which words may stand.
        """

    def ask_any_value(self, variable: str, column: str, *, missing: bool) -> Sequence[str]:
        """Return lines that set a variable to a category, known or not; `missing` says whether it may be missing."""

    def compared(self, variable: str, ends: Ends, *, inside: bool) -> str:
        """Return the test that a number lies on a side of both ends of a cut; inside both have to hold, else one."""

    def one_of(self, variable: str, values: Sequence[object], *, inside: bool) -> str:
        """Return the test that a value is one of these, or that it is none of them."""

    def truth(self, variable: str, *, yes: bool) -> str:
        """Return the test that a boolean, which is not missing, is true or false."""

    def when(self, test: str) -> str:
        """Return the line that begins an indented block."""

    def give(self, value: str) -> str:
        """Return the line that returns a value."""


def body(ex: MeasuredTree, language: Language, *, indent: str, values: Sequence[Hashable] | None = None) -> list[str]:
    """Return the lines of the function's body, which give the name of a cluster, or a value for each leaf.

    Takes time and length of the number of nodes, and of the categories that each tests.
    """
    tree = ex.tree
    values = [ex.names[cluster] for cluster in tree.leaf_clusters.tolist()] if values is None else values
    value_of = dict(zip(tree.leaf_nodes.tolist(), values, strict=True))
    variables = identifiers(ex.columns, tree.features.tolist(), language.reserved)
    lines: list[str] = []
    level = 0
    for step in walk(tree, lighter_first=True):
        if step.nested < level:
            lines += [f"{indent * level}{language.close}"] * bool(language.close)
        elif step.nested > level:
            test = _test(ex, language, variables, step)
            lines.append(f"{indent * (level + 1)}{language.when(test)}")
        level = step.nested
        inner = indent * (level + 1)
        feature = int(tree.feature[step.node])
        if feature < 0:
            lines.append(f"{inner}{language.give(language.literal(plain_category(value_of[step.node])))}")
        elif feature not in step.asked:
            asked = _ask_column(ex, feature, language, variables[feature])
            lines += [f"{inner}{line}" for line in asked]
    return lines


def _ask_column(
    ex: MeasuredTree, feature: int, language: Language, variable: str, *, may_lack: bool = False
) -> Sequence[str]:
    """Return lines that read a column; IN: may_lack: whether tests ask by themselves whether there is a value."""
    column, known = ex.columns[feature], ex._coded_columns.get(feature)
    if (dates := ex._date_columns.get(feature)) is not None:
        return language.ask_date(variable, column, dates, missing=feature in ex._gap_columns)
    if known is None:
        has_place = feature in ex._gap_columns and not may_lack
        ask = language.ask_number_or_infinity if has_place else language.ask_number
        return ask(variable, column)
    if known.others:
        return language.ask_any_value(variable, column, missing=None in known.values)
    return language.ask_value(variable, column, _plain(known.as_written(known.values)), truths=known.are_truths)


def _test(ex: MeasuredTree, language: Language, variables: dict[int, str], step: WalkStep) -> str:
    """Return the test of the cut above a step that leads to it."""
    feature, upper, lower, _ = test = ex.tree.test(step.above)
    known = ex._coded_columns.get(feature)
    dates = ex._date_columns.get(feature)
    if dates is not None and feature in ex._gap_columns:
        pieces, or_missing = sides_with_gaps(test)[0 if step.inside else 1]
        return _of_pieces_with_gaps(
            language, variables[feature], [date_tests(each, dates) for each in pieces], or_missing
        )
    if dates is not None:
        ends = of_dates(lower, upper, dates, inside=step.inside)
        return language.compared(variables[feature], ends, inside=step.inside)
    if known is None:
        ends = comparisons(lower, upper, inside=step.inside)
        ends = _beside_missing(ends) if feature in ex._gap_columns else ends
        return language.compared(variables[feature], ends, inside=step.inside)
    values, included = among(known, test)
    if known.values == (False, True) and len(values) == 1:
        return language.truth(variables[feature], yes=values == (included == step.inside,))
    return language.one_of(variables[feature], _plain(known.as_written(values)), inside=included == step.inside)


def _of_pieces_with_gaps(language: Language, variable: str, pieces: Sequence[Ends], or_missing: bool) -> str:
    """Return the test that a value, which may be missing, lies in one of some pieces; IN: or_missing: or is missing."""
    present = [language.compared(variable, ends, inside=True) for ends in pieces]
    if or_missing or not all(present):  # one without ends is of all dates
        first = language.one_of(variable, [None], inside=or_missing)
        return language.either.join(
            [first, *(f"({test})" if language.both in test else test for test in filter(None, present))]
        )
    test = language.either.join(present)
    return language.one_of(variable, [None], inside=False) + language.both + (f"({test})" if len(present) > 1 else test)


def _plain(values: Sequence[Hashable]) -> list[object]:
    return [None if value is None else plain_category(value) for value in values]


End: TypeAlias = tuple[str, float | datetime | timedelta] | None
Ends: TypeAlias = tuple[End, End]
"""The tests at the lower and the upper end of a cut, each an operator and a number, a date, or how far a date is from
the day from which it is counted; or None without one."""


def of_dates(lower: float, upper: float, dates: Dates, *, inside: bool) -> Ends:
    """Return the tests at both ends of a cut as tests of dates in UTC."""
    at_lower, at_upper = comparisons(lower, upper, inside=inside)
    if at_lower is not None:
        at_lower = at_lower[0], _first(lower, dates, beyond=False)
    if at_upper is not None:
        at_upper = "<" if inside else ">=", _first(upper, dates, beyond=True)
    return at_lower, at_upper


def date_tests(piece: Interval, dates: Dates) -> Ends:
    """Return the tests that a date in UTC lies in an interval."""
    lower, upper, lower_closed, upper_closed = piece
    begin = (">=", _first(lower, dates, beyond=not lower_closed)) if lower > -math.inf else None
    return begin, ("<", _first(upper, dates, beyond=upper_closed)) if upper < math.inf else None


def _first(days: float, dates: Dates, *, beyond: bool) -> datetime | timedelta:
    """Return the first date from `days` on, or beyond it, or how far it is from where dates are counted from."""
    return (dates.distance if dates.is_relative else dates.first_moment)(days, beyond=beyond)


def comparisons(lower: float, upper: float, *, inside: bool) -> Ends:
    """Return the tests at the lower and the upper end of a cut, each an operator and a number, or None without one.

    Inside both have to hold, outside one of them.
    """
    at_lower = None if lower == -math.inf else (">=" if inside else "<", lower)
    at_upper = None if upper == math.inf and at_lower else ("<=" if inside else ">", upper)
    return at_lower, at_upper


def _beside_missing(ends: Ends) -> Ends:
    """Return the same tests in a column with gaps: those of the largest number are of infinity, which is missing."""
    at_lower, at_upper = ends
    if at_upper is None or at_upper[1] != sys.float_info.max:
        return ends
    if at_lower is not None and isinstance(at_lower[1], float):
        lower = math.nextafter(at_lower[1], -math.inf) + 0.0
        if len(repr(lower)) < len(repr(at_lower[1])):
            at_lower = {">=": ">", "<": "<="}[at_lower[0]], lower
    return at_lower, ({"<=": "<", ">": ">="}[at_upper[0]], math.inf)


_LONGEST = 30  # characters of a variable
_IN_A_CELL = 120  # characters of one literal, quotes not doubled; Excel allows 255 with all of them doubled
_LARGEST = 9.99999999999999e307  # that a cell holds
_CONTROL = re.compile(r"([\x00-\x1f\x7f-\x9f\u2028\u2029])")


def plain_category(name: Hashable) -> str | int | float | bool:
    """Return the name of a cluster, or a category, as a plain value: numbers and booleans stay such, all else is text.

    Examples
    --------
    >>> import numpy as np
    >>> plain_category(np.int64(3)), plain_category(True), plain_category("a"), plain_category((1, 2))
    (3, True, 'a', '(1, 2)')
    """
    if isinstance(name, bool):
        return name
    if isinstance(name, Integral):
        return int(name)
    return float(name) if isinstance(name, Real) else str(name)


def in_spreadsheet(value: object) -> str:
    """Return a plain value as part of a formula.

    Characters that cannot be printed are given by their number, and long texts in parts, as Excel asks.

    Raises
    ------
    DataError
        If a text has the character 0, which no cell can hold.

    Examples
    --------
    >>> print(in_spreadsheet('a "b" c'), in_spreadsheet("two\\nlines"), in_spreadsheet(True), in_spreadsheet(2.5))
    "a ""b"" c" "two"&UNICHAR(10)&"lines" TRUE 2.5
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return repr(min(max(value + 0.0, -_LARGEST), _LARGEST)).removesuffix(".0").upper()
    text = str(value)
    if isinstance(value, int):
        return text
    if "\0" in text:
        raise DataError(f"{show_value(text)} has the character 0, which no cell of a spreadsheet can hold; rename it")
    parts = []
    for part in _CONTROL.split(text):
        if _CONTROL.fullmatch(part):
            parts.append(f"UNICHAR({ord(part)})")
        else:
            pieces = (part[i : i + _IN_A_CELL] for i in range(0, len(part), _IN_A_CELL))
            parts += ['"' + piece.replace('"', '""') + '"' for piece in pieces]
    return "&".join(parts) or '""'


def identifiers(names: Sequence[str], columns: Collection[int], reserved: Collection[str]) -> dict[int, str]:
    """Return a variable for each of some columns: its name as far as variables may have it, or its number.

    Examples
    --------
    >>> identifiers(["Petal length (cm)", "for", "日本", "petal-length (CM)"], [0, 1, 2, 3], {"for"})
    {0: 'petal_length_cm', 1: 'for_1', 2: 'x2', 3: 'petal_length_cm_3'}
    """
    found: dict[int, str] = {}
    taken = set(reserved)
    for j in sorted(columns):
        slug = re.sub(r"[^0-9a-z]+", "_", names[j].lower()).strip("_")[:_LONGEST].strip("_")
        variable = slug if slug and not slug[0].isdigit() else f"x{j}"
        while variable in taken:
            variable = f"{variable}_{j}"
        taken.add(variable)
        found[j] = variable
    return found
