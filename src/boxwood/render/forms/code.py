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
from datetime import datetime
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from boxwood._dates import ISO, Dates, pattern_of
from boxwood._messages import shown
from boxwood.axes.categories import TRUTHS
from boxwood.errors import DataError
from boxwood.render.words.models import explanation_of
from boxwood.render.words.walk import WalkStep, among, walk

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

_HEAD = '''\
"""The cluster of a row by the rules of a small tree. Written by boxwood."""
'''
_IMPORT = """
import re
from datetime import datetime, timezone
"""
_FUNCTION = '''

def cluster(row):
    """Return the cluster of a row, a mapping from the name of a column to its value.

    The result is None if the row lacks a value that its rule needs, or has a category there that was never seen.
    None, NaN and a column that is not there are missing; an empty text is a value.
    """
'''
_NAMES_AS_TEXT = """\
    row = {str(name): value for name, value in row.items()}  # names of columns may be numbers
"""
_MISSING = """


def _is_missing(value):
    try:
        return value is None or bool(value != value)
    except TypeError:  # a comparison with the NA of pandas is neither true nor false
        return True
"""
_NUMBER = """

def _number(row, column):
    value = row.get(column)
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{column!r} must be a number, got {value!r}")
    return None if _is_missing(value) else float(value)
"""
_NUMBER_OR_INFINITY = """

def _number_or_infinity(row, column):  # a rule may say where a missing number goes: it counts as infinity
    value = _number(row, column)
    return float("inf") if value is None else min(value, 1.7976931348623157e308)
"""
_MOMENT = f"""

_ISO = r"{ISO}"


def _moment(text, column, form, pattern):
    text = text.strip()
    try:
        if re.fullmatch(_ISO, text):
            return datetime.fromisoformat(text.replace(" UTC", "Z"))
        if form and re.fullmatch(pattern, text):
            return datetime.strptime(text, form)
    except ValueError:  # a day that its month does not have
        pass
    expected = f"in the form {{form}}" if form else "such as 2026-03-01"
    raise ValueError(f"{{column!r}} must be a date {{expected}}, got {{text!r}}")
"""
_DATE = """

def _date(row, column, form="", pattern=""):
    value = row.get(column)
    if _is_missing(value):
        return None
    value = _moment(value, column, form, pattern) if isinstance(value, str) else value
    value = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        raise TypeError(f"{column!r} must have no time zone, got {value}")
    return value
"""
_DATE_IN_UTC = """

def _date_in_utc(row, column):
    value = row.get(column)
    if _is_missing(value):
        return None
    value = _moment(value, column, "", "") if isinstance(value, str) else value
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise TypeError(f"{column!r} must have a time zone, got {value}")
    return value.astimezone(timezone.utc).replace(tzinfo=None)
"""
_VALUE = """

def _value(row, column):
    value = row.get(column)
    return None if _is_missing(value) else value
"""
_TRUTH = f"""

_TRUTHS = {TRUTHS}


def _truth(row, column):
    value = _value(row, column)
    return _TRUTHS.get(value.strip().lower(), value) if isinstance(value, str) else value
"""


def python(model: Any) -> str:
    """Return source of Python with one public function, `cluster(row)`; see `Explanation.to_python`.

    `model` may be a fitted estimator.
    """
    ex = explanation_of(model)
    lines = "\n".join(body(ex, _Python(), indent="    "))
    helpers = _used(_HELPERS, lines)
    may_be_no_texts = any(not ex.columns[j][:1].isalpha() for j in ex.tree.features.tolist())  # 0, or ("a", "b")
    head = [_HEAD, *([_IMPORT] if "_date" in lines else []), _FUNCTION, *([_NAMES_AS_TEXT] if may_be_no_texts else [])]
    return "".join([*head, lines, *([_MISSING] if helpers else []), *helpers]).rstrip("\n")


_HELPERS = {
    _NUMBER: ("_number(", "_number_or_infinity("),
    _NUMBER_OR_INFINITY: ("_number_or_infinity(",),
    _MOMENT: ("_date(", "_date_in_utc("),
    _DATE: ("_date(",),
    _DATE_IN_UTC: ("_date_in_utc(",),
    _VALUE: ("_value(", "_truth("),
    _TRUTH: ("_truth(",),
}


def _used(helpers: Mapping[str, Sequence[str]], lines: str) -> list[str]:
    """Return the helpers of which a function calls one; IN: helpers: each with the calls that need it."""
    return [text for text, calls in helpers.items() if any(call in lines for call in calls)]


def in_python(value: object) -> str:
    """Return a plain value, or None, as a literal of Python; whole floats lose their point.

    Examples
    --------
    >>> print(in_python("it's"), in_python(27000.0), in_python(-0.1), in_python(None), in_python(float("inf")))
    "it's" 27000 -0.1 None float('inf')
    """
    if isinstance(value, datetime):
        parts = repr(value).removeprefix("datetime.")
        return "datetime.max" if value == datetime.max else parts.replace(", 0, 0)", ")")
    if isinstance(value, float):
        return f"float('{value}')" if not math.isfinite(value) else repr(value + 0.0).removesuffix(".0")
    return repr(value)


class _Python:
    own = ("row", "cluster", "datetime", "timezone")
    reserved: Collection[str] = frozenset([*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *own])
    close = ""
    literal = staticmethod(in_python)

    def ask_number(self, variable: str, column: str) -> Sequence[str]:
        return f"{variable} = _number(row, {column!r})", f"if {variable} is None:", "    return None"

    def ask_number_or_infinity(self, variable: str, column: str) -> Sequence[str]:
        return (f"{variable} = _number_or_infinity(row, {column!r})",)

    def ask_date(self, variable: str, column: str, dates: Dates, *, missing: bool) -> Sequence[str]:
        form = f", {dates.form!r}, {pattern_of(dates.form)!r}" if dates.form and not dates.zone else ""
        read = f"{'_date_in_utc' if dates.zone else '_date'}(row, {column!r}{form})"
        if missing:
            return (f"{variable} = {read} or datetime.max",)
        return f"{variable} = {read}", f"if {variable} is None:", "    return None"

    def ask_value(self, variable: str, column: str, known: Sequence[object], *, truths: bool) -> Sequence[str]:
        read = f"{variable} = {'_truth' if truths else '_value'}(row, {column!r})"
        return read, f"if {self.one_of(variable, known, inside=False)}:", "    return None"

    def ask_any_value(self, variable: str, column: str, *, missing: bool) -> Sequence[str]:
        refused = () if missing else (f"if {variable} is None:", "    return None")
        return f"{variable} = _value(row, {column!r})", *refused

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
            return f"{variable} {'==' if inside else '!='} {in_python(values[0])}"
        return f"{variable} {'' if inside else 'not '}in ({', '.join(map(in_python, values))})"

    def when(self, test: str) -> str:
        return f"if {test}:"

    def give(self, value: str) -> str:
        return f"return {value}"


_HEAD_OF_JAVASCRIPT = """\
// The cluster of a row by the rules of a small tree. Written by boxwood.
// row: an object from the name of a column to its value. The result is null if the row lacks a value that its rule
// needs, or has a category there that was never seen. Missing are null, undefined and NaN; an empty text is a value.
function cluster(row) {
"""
_VALUE_OF_JAVASCRIPT = """

  function valueOf(column) {
    const value = Object.prototype.hasOwnProperty.call(row, column) ? row[column] : null;
    return value === undefined || value !== value ? null : value;
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
_DATE_OF_JAVASCRIPT = f"""
  function dateOf(column, form, pattern) {{  // in milliseconds; a date without a time zone counts as one of UTC
    const value = valueOf(column);
    if (value === null) return null;
    const text = typeof value === "string" ? value.trim() : "";
    const inForm = form ? timeIn(text, form, pattern) : NaN;
    const inText = inForm === inForm ? inForm : timeIn(text, "%Y%m%d%H%M%S%f%z", /^{ISO}$/);
    const time = value instanceof Date ? value.getTime() : inText;
    if (time !== time) {{
      const expected = form ? "in the form " + form : "such as 2026-03-01";
      throw new TypeError(JSON.stringify(column) + " must be a date " + expected + ", got " + JSON.stringify(value));
    }}
    return time;
  }}

  function timeIn(text, form, pattern) {{
    const found = pattern.exec(text);
    if (found === null) return NaN;
    const part = {{H: 0, M: 0, S: 0, f: "", z: "Z"}};
    form.match(/%./g).forEach((name, i) => {{ part[name[1]] = found[i + 1] ?? part[name[1]]; }});
    const year = Number(part.Y ?? (part.y < 69 ? 2000 : 1900) + Number(part.y));
    const month = part.b ? "janfebmaraprmayjunjulaugsepoctnovdec".indexOf(part.b.toLowerCase()) / 3 : part.m - 1;
    const micro = Number(part.f.slice(1, 7).padEnd(6, "0"));
    const [, sign, hours, minutes] = /([+-])(..):?(..)?/.exec(part.z) ?? [];
    const offset = sign ? Number(sign + 1) * (60 * hours + Number(minutes ?? 0)) : 0;
    const date = new Date(0);
    date.setUTCFullYear(year, month, part.d);  // not Date.UTC, to which the year 23 is 1923
    if (year < 1 || date.getUTCMonth() !== month || part.H > 23 || part.M > 59 || part.S > 59) return NaN;
    return date.setUTCHours(part.H, part.M - offset, part.S, Math.floor(micro / 1000)) + micro % 1000 / 1000;
  }}
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
    _DATE_OF_JAVASCRIPT: ("dateOf(",),
    _CODE: ("codeOf(", "truthOf("),
    _TRUTH_OF_JAVASCRIPT: ("truthOf(",),
}
_RESERVED = """
arguments await break case catch class cluster codeOf const continue dateOf Date debugger default delete do
else enum eval export
extends false finally for function if implements import in instanceof interface let new null number numberOf
numberOrInfinityOf object
package private protected public return row static super switch this throw timeIn true truthOf try typeof undefined
valueOf var void while with yield
"""


def javascript(model: Any) -> str:
    """Return a function of JavaScript, `cluster(row)`; see `Explanation.to_javascript`.

    `model` may be a fitted estimator. The result is a number if the name is one that JavaScript holds exactly.
    """
    lines = "\n".join(body(explanation_of(model), _JavaScript(), indent="  "))
    helpers = _used(_HELPERS_OF_JAVASCRIPT, lines)
    helpers = [_VALUE_OF_JAVASCRIPT, *helpers] if helpers else ["\n"]
    return "".join([_HEAD_OF_JAVASCRIPT, lines, *helpers, "}"])


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
    if isinstance(value, (int, float)):
        if isinstance(value, int) and abs(value) > _SAFE:
            return f'"{value}"'
        number = repr(value + 0.0 if isinstance(value, float) else value).removesuffix(".0")
        return number.replace("inf", "Infinity").replace("nan", "NaN")
    return '"' + "".join(map(_in_javascript, str(value))) + '"'


def _date_in_javascript(date: datetime) -> str:
    """Return a date in UTC in milliseconds; the last one, for missing ones, is infinity."""
    if date == datetime.max:
        return "Infinity"
    parts = [date.year, date.month - 1, date.day, date.hour, date.minute, date.second, date.microsecond // 1000]
    while len(parts) > 3 and parts[-1] == 0:
        parts.pop()
    beyond = f" + {date.microsecond % 1000 / 1000}" if date.microsecond % 1000 else ""
    return f"Date.UTC({', '.join(map(str, parts))}){beyond}"


_SAFE = 2**53  # numbers of JavaScript hold all whole numbers up to here


def _in_javascript(c: str) -> str:
    if c in _JAVASCRIPT or (c.isprintable() and c != "\u2028"):
        return _JAVASCRIPT.get(c, c)
    return f"\\u{ord(c):04x}" if ord(c) < 1 << 16 else f"\\u{{{ord(c):x}}}"


_JAVASCRIPT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "<": "\\x3C"}


class _JavaScript:
    reserved: Collection[str] = frozenset(_RESERVED.split())
    close = "}"
    literal = staticmethod(in_javascript)

    def ask_number(self, variable: str, column: str) -> Sequence[str]:
        return f"const {variable} = numberOf({in_javascript(column)});", f"if ({variable} === null) return null;"

    def ask_number_or_infinity(self, variable: str, column: str) -> Sequence[str]:
        return (f"const {variable} = numberOrInfinityOf({in_javascript(column)});",)

    def ask_date(self, variable: str, column: str, dates: Dates, *, missing: bool) -> Sequence[str]:
        form = f", {in_javascript(dates.form)}, /^{pattern_of(dates.form)}$/" if dates.form else ""
        read = f"const {variable} = dateOf({in_javascript(column)}{form})"
        return (f"{read} ?? Infinity;",) if missing else (f"{read};", f"if ({variable} === null) return null;")

    def ask_value(self, variable: str, column: str, known: Sequence[object], *, truths: bool) -> Sequence[str]:
        read = f"const {variable} = {'truthOf' if truths else 'codeOf'}({in_javascript(column)});"
        return read, f"if ({self.one_of(variable, known, inside=False)}) return null;"

    def ask_any_value(self, variable: str, column: str, *, missing: bool) -> Sequence[str]:
        refused = () if missing else (f"if ({variable} === null) return null;",)
        return f"const {variable} = codeOf({in_javascript(column)});", *refused

    def compared(self, variable: str, ends: Ends, *, inside: bool) -> str:
        parts = (f"{variable} {end[0]} {in_javascript(end[1])}" for end in ends if end)
        return (" && " if inside else " || ").join(parts)

    def one_of(self, variable: str, values: Sequence[object], *, inside: bool) -> str:
        values = _numbers(values)
        if len(values) == 1:
            return f"{variable} {'===' if inside else '!=='} {in_javascript(values[0])}"
        return f"{'' if inside else '!'}[{', '.join(map(in_javascript, values))}].includes({variable})"

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

    def literal(self, value: object) -> str:
        """Return a value."""

    def ask_number(self, variable: str, column: str) -> Sequence[str]:
        """Return lines that set a variable to a number, and return nothing if it is missing."""

    def ask_number_or_infinity(self, variable: str, column: str) -> Sequence[str]:
        """Return lines that set a variable to a number, to infinity if it is missing."""

    def ask_date(self, variable: str, column: str, dates: Dates, *, missing: bool) -> Sequence[str]:
        """Return lines that set a variable to a date, and return nothing if it is missing, or set it to the last one.

        IN: dates: how texts of the column are dates; missing: whether a missing one counts as the last of all.
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

    def when(self, test: str) -> str:
        """Return the line that begins an indented block."""

    def give(self, value: str) -> str:
        """Return the line that returns a value."""


def body(ex: MeasuredTree, language: Language, *, indent: str) -> list[str]:
    """Return the lines of the function's body, which give the name of a cluster.

    Takes time and length of the number of nodes, and of the categories that each tests.
    """
    tree = ex.tree
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
            lines.append(f"{inner}{language.give(language.literal(plain(ex.names[int(tree.cluster[step.node])])))}")
        elif feature not in step.asked:
            asked = _asked(ex, feature, language, variables[feature])
            lines += [f"{inner}{line}" for line in asked]
    return lines


def _asked(ex: MeasuredTree, feature: int, language: Language, variable: str) -> Sequence[str]:
    column, known = ex.columns[feature], ex.coded_columns.get(feature)
    if (dates := ex.date_columns.get(feature)) is not None:
        return language.ask_date(variable, column, dates, missing=feature in ex.gap_columns)
    if known is None:
        ask = language.ask_number_or_infinity if feature in ex.gap_columns else language.ask_number
        return ask(variable, column)
    if known.others:
        return language.ask_any_value(variable, column, missing=None in known.values)
    return language.ask_value(variable, column, _plain(known.values), truths=known.are_truths)


def _test(ex: MeasuredTree, language: Language, variables: dict[int, str], step: WalkStep) -> str:
    """Return the test of the cut above a step that leads to it."""
    feature, upper, lower, _ = test = ex.tree.test(step.above)
    known = ex.coded_columns.get(feature)
    if (dates := ex.date_columns.get(feature)) is not None:
        return language.compared(
            variables[feature], of_dates(lower, upper, dates, inside=step.inside), inside=step.inside
        )
    if known is None:
        ends = comparisons(lower, upper, inside=step.inside)
        ends = _beside_missing(ends) if feature in ex.gap_columns else ends
        return language.compared(variables[feature], ends, inside=step.inside)
    values, included = among(known, test)
    return language.one_of(variables[feature], _plain(values), inside=included == step.inside)


def _plain(values: Sequence[Hashable]) -> list[object]:
    return [None if value is None else plain(value) for value in values]


End: TypeAlias = tuple[str, float | datetime] | None
Ends: TypeAlias = tuple[End, End]
"""The tests at the lower and the upper end of a cut, each an operator and a number or a date, or None without one."""


def of_dates(lower: float, upper: float, dates: Dates, *, inside: bool) -> Ends:
    """Return the tests at both ends of a cut as tests of dates in UTC; a missing date counts as the last of all."""
    at_lower, at_upper = comparisons(lower, upper, inside=inside)
    if at_lower is not None:
        at_lower = at_lower[0], datetime.max if lower == math.inf else dates.first_moment(lower, beyond=False)
    if at_upper is not None:
        last = datetime.max if upper == sys.float_info.max else dates.first_moment(upper, beyond=True)
        at_upper = "<" if inside else ">=", last
    return at_lower, at_upper


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


def plain(name: Hashable) -> str | int | float | bool:
    """Return the name of a cluster, or a category, as a plain value: numbers and booleans stay such, all else is text.

    Examples
    --------
    >>> import numpy as np
    >>> plain(np.int64(3)), plain(True), plain("a"), plain((1, 2))
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
        raise DataError(f"{shown(text)} has the character 0, which no cell of a spreadsheet can hold; rename it")
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
