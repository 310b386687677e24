"""SQL: one CASE, bare, in a SELECT or in a model of dbt, or single conditions; read by sqlglot."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NoReturn

from boxwood._dates import Dates
from boxwood._imports import require
from boxwood.errors import DataError
from boxwood.judge.conditions import All, Condition, Guard, Not, Some, Unknown, surely, tests_in
from boxwood.judge.read.operands import (
    Logic,
    Operand,
    Value,
    as_condition,
    ask_missing,
    ask_one_of,
    compare_operands,
    exact_number,
    shift_date,
)
from boxwood.judge.read.refuse import COLUMN, CONDITION, MOST_TESTS, VALUE, place_at, refuse, refuse_deep, refuse_long
from boxwood.judge.rules import Branch
from boxwood.judge.values import NAN, Moment, MovingMoment, Place, Step, Test, days_after_months, moment_of
from boxwood.render.forms.dialects import OTHER_NAMES, dialect_of

_SIGNS = {"LT": "<", "LTE": "<=", "GT": ">", "GTE": ">=", "EQ": "=", "NEQ": "<>"}
_TODAY = ("CurrentDate", "CurrentTimestamp", "CurrentDatetime")
_AS_IT_IS = ("Paren", "TsOrDsToDate", "TsOrDsToTimestamp", "TimeStrToTime", "Substring", "Replace")
_SQLITE = "%Y-%m-%d %H:%M:%f"  # the form of dates in our SQL for SQLite
_UNITS = {"DAY": 1, "WEEK": 7}
_NUMBERS = ("DOUBLE", "FLOAT", "DECIMAL", "BIGDECIMAL")
_TEXTS = ("TEXT", "VARCHAR", "NVARCHAR", "CHAR", "NCHAR", "BINARY", "VARBINARY", "CHARACTER_SET", "NAME")
_EXACT = ("postgres", "oracle", "sqlite")  # a DECIMAL without more leaves a number as it is there
_WHOLE = ("INT", "BIGINT", "SMALLINT", "TINYINT", "UINT", "UBIGINT")


@dataclass(frozen=True)
class Found:
    """What was read: branches in order, what other rows get, whether that is said, and whether ages are compared."""

    branches: tuple[Branch, ...]
    otherwise: Any = None
    has_else: bool = False
    is_aged: bool = False


def rules_of_sql(text: str, dialect: str | None, today: date) -> Found:
    """Return the rules of a text with one CASE."""
    reader = _Reader(text, dialect, today)
    root = reader.with_cases(reader.parsed())
    outer = [node for node in root.find_all(reader.exp.Case) if not node.find_ancestor(reader.exp.Case)]
    cases = list(dict.fromkeys(outer))  # GROUP BY may say the same one again
    around = reader.around(cases[0]) if cases else None
    if isinstance(around, reader.exp.Coalesce) and all(case.parent is around for case in cases):
        return reader.one_after_another(around)
    if len(cases) != 1:
        where = [place_at(text, reader.offset(case)).line for case in cases]
        said = f"{len(cases)} of them, at lines {', '.join(map(str, where[:9]))}" if cases else "none"
        raise DataError(f"expected one CASE; got {said}; give the text of one of them alone")
    reader.refuse_changed(cases[0], around)
    return reader.rules(cases[0])


def condition_of_sql(text: str, dialect: str | None, today: date) -> tuple[Condition, bool]:
    """Return a single condition, and whether it compares with the day of today."""
    reader = _Reader(text, dialect, today)
    condition = reader.condition(reader.parsed())
    return condition, reader.is_aged


def looks_like_sql(text: str) -> bool:
    """Return whether a text has a CASE."""
    return re.search(r"\bcase\b", text, re.IGNORECASE) is not None


def looks_like_sql_alone(text: str) -> bool:
    """Return whether a condition has what SQL has and Python has not."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", text)
    return re.search(r"\bis\s+(not\s+)?null\b|<>|(?<![<>=!])=(?!=)|(?<!\.)\bbetween\b", bare, re.IGNORECASE) is not None


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep sqlglot from logging what it cannot read, as an error says it."""
    log = logging.getLogger("sqlglot")
    was, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = was


_TEMPLATES = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_TEMPLATE = "boxwood_template"


def without_templates(text: str) -> str:
    """Return a model of dbt with a name for each expression in braces, and blanks for statements and remarks."""

    def plain(found: re.Match[str]) -> str:
        its = found[0]
        is_name = its.startswith("{{") and not re.match(r"\{\{-?\s*config\b", its)
        name = _TEMPLATE[: len(its)] if is_name else ""
        return name + "".join("\n" if letter == "\n" else " " for letter in its[len(name) :])

    return _TEMPLATES.sub(plain, text)


def _guess_dialect(text: str) -> str:
    """Return a dialect in which names in the quotes of a text are names."""
    bare = re.sub(r"'(?:[^']|'')*'", "", text)
    if "`" in bare:
        return "mysql"
    return "tsql" if re.search(r"\[\w[^\]\n]*\]", bare) else "duckdb"


class _Reader:
    """Reads a text; `exp` are the kinds of nodes of sqlglot."""

    def __init__(self, text: str, dialect: str | None, today: date):
        refuse_long(text)
        if not isinstance(dialect, str | None):
            raise TypeError(f"dialect must be the name of one, such as 'postgres', got {type(dialect).__name__}")
        self.text, self.has_templates = without_templates(text), "{{" in text
        self.dialect = (
            _guess_dialect(text) if dialect is None else OTHER_NAMES.get(dialect.casefold(), dialect.casefold())
        )
        self.exp = require("sqlglot.expressions", "sql", "reading SQL")
        self.logic = Logic(nan_is_large=dialect_of(self.dialect).nan_is_large)
        self.today = MovingMoment(Dates().number(today))
        self.is_aged = False
        self.n_tests = 0
        self.names: dict[str, tuple[str, str]] = {}

    # ------------------------------------------------------------------------------------------ the text
    def parsed(self) -> Any:
        """Return the tree of the text, as sqlglot reads it."""
        sqlglot = require("sqlglot", "sql", "reading SQL")
        errors = require("sqlglot.errors", "sql", "reading SQL")
        refuse_deep(self.text)
        try:
            self._refuse_odd_cases(sqlglot.tokenize(self.text, read=self.dialect))
            with _quietly():
                roots = [root for root in sqlglot.parse(self.text, read=self.dialect) if root is not None]
        except errors.ParseError as error:
            self._refuse_broken(error)
        except RecursionError:
            raise DataError("the text is nested too deeply to be read; write it flat") from None
        except DataError:
            raise
        except (errors.SqlglotError, ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            raise DataError(f"the text is no SQL of {self.dialect}: {str(error).splitlines()[0][:200]}") from None
        if len(roots) != 1:
            raise DataError(f"expected one statement; got {len(roots)}; give the one with the rules")
        return roots[0]

    def with_cases(self, root: Any) -> Any:
        """Return a tree in which IF(condition, value, value), and IIF, are a CASE."""
        exp = self.exp
        for node in reversed([each for each in root.find_all(exp.If) if not isinstance(each.parent, exp.Case)]):
            branch = exp.If(this=node.this, true=node.args["true"])
            case = node.replace(exp.Case(ifs=[branch], default=node.args.get("false")))
            root = case if node is root else root
        return root

    def _refuse_odd_cases(self, tokens: Sequence[Any]) -> None:
        opened: list[str] = []  # for each CASE that has no END yet, the last of its words
        for token in tokens:
            word = token.token_type.name
            if word == "CASE":
                opened.append(word)
            elif opened and word in ("WHEN", "THEN", "ELSE", "END"):
                if opened[-1] == "WHEN" and word != "THEN":
                    refuse(place_at(self.text, token.start), "THEN after each WHEN", word)
                opened[-1:] = [word] * (word != "END")
            if len(opened) > _DEEPEST_CASE:
                place = place_at(self.text, token.start)
                refuse(place, f"at most {_DEEPEST_CASE} CASE within one another", "more")

    def _refuse_broken(self, error: Any) -> NoReturn:
        told = (error.errors or [{}])[0]
        line, text = told.get("line") or 0, str(told.get("description") or error).splitlines()[0]
        text = re.sub(r"for <class '.*?(\w+)'>", r"of \1", text)
        before = str(told.get("start_context") or "").splitlines() or [""]
        raise DataError(
            f"line {line}, column {told.get('col') or len(before[-1]) + 1}: expected SQL of {self.dialect}; "
            f"got {str(told.get('highlight') or 'the end')[:60]!r} ({text[:120]})"
        ) from None

    def offset(self, node: Any) -> int:
        """Return where a node begins, as far as it is known."""
        while node is not None:
            starts = [each.meta["start"] for each in node.walk() if each.meta and "start" in each.meta]
            if starts:
                return int(min(starts))
            node = node.parent
        return 0

    def place(self, node: Any) -> Place:
        """Return where a node stands."""
        return place_at(self.text, self.offset(node))

    def refuse(self, node: Any, expected: str, instead: str = "") -> NoReturn:
        """Raise a DataError on a node."""
        came = self._text_of(node)
        refuse(self.place(node), expected, came if len(came) < 80 else f"{came[:77]}...", instead)

    def _text_of(self, node: Any) -> str:
        """Return a node as it stands in the text, as far as that is known; else the name of its kind."""
        ends = [each.meta["end"] for each in node.walk() if each.meta and "end" in each.meta]
        if not ends:
            return type(node).__name__
        text = self.text[self.offset(node) : max(ends) + 1]
        return text + ")" * (text.count("(") - text.count(")"))

    # ------------------------------------------------------------------------------------------ the rules
    def rules(self, case: Any) -> Found:
        """Return the rules of a CASE."""
        branches = tuple(self._branches(case))
        default = case.args.get("default")
        if default is not None and self._case(default) is not None:
            inner = self.rules(self._case(default))
            return replace(inner, branches=(*branches, *inner.branches), is_aged=self.is_aged)
        otherwise = None if default is None else self._name(default)
        return Found(branches, otherwise, default is not None, self.is_aged)

    def around(self, case: Any) -> Any:
        """Return what stands around a CASE, but brackets."""
        node = case.parent
        while isinstance(node, self.exp.Paren):
            node = node.parent
        return node

    def refuse_changed(self, case: Any, around: Any) -> None:
        """Raise a DataError if what stands around a CASE changes its value, as a part of a sum or a function does."""
        changes = (self.exp.Binary, self.exp.Unary, self.exp.Func)
        if isinstance(around, changes) and not isinstance(around, (self.exp.AggFunc, self.exp.Cast, self.exp.Paren)):
            expected = "a CASE by itself, or within COALESCE"
            refuse(self.place(case), expected, f"a CASE within {type(around).__name__.upper()}", "give the CASE alone")

    def one_after_another(self, coalesce: Any) -> Found:
        """Return the rules of a COALESCE of CASE: what one gives NULL, the next one decides."""
        rest = Found(())
        for part in reversed((coalesce.this, *coalesce.expressions)):
            if self._case(part) is not None:
                rest = _follow(self.rules(self._case(part)), rest)
            elif (name := self._name(part)) is not None:
                rest = Found((), name, has_else=True)
        return replace(rest, is_aged=self.is_aged)

    def _branches(self, case: Any) -> Iterator[Branch]:
        subject = case.args.get("this")
        for each in case.args["ifs"]:
            asked = each.this
            condition = self.condition(asked) if subject is None else self._comparison(each, subject, "=", asked)
            yield from self._with_results(condition, each)

    def _with_results(self, condition: Condition, each: Any) -> Iterator[Branch]:
        """Yield the branches of one WHEN: several where its result is a CASE."""
        result = each.args["true"]
        inner = self._case(result)
        if inner is None:
            yield Branch(self._name(result), condition, self.place(each))
            return
        found = self.rules(inner)
        for branch in found.branches:
            yield replace(branch, condition=All((condition, branch.condition)))
        yield Branch(found.otherwise, condition, self.place(each), is_implied=not found.has_else)

    def _case(self, node: Any) -> Any:
        while isinstance(node, self.exp.Paren):
            node = node.this
        return node if isinstance(node, self.exp.Case) else None

    def _name(self, node: Any) -> Any:
        """Return what a branch gives."""
        found = self.operand(node)
        if isinstance(found, Operand):
            self.refuse(node, f"a name: {VALUE}")
        if isinstance(found.value, Moment):
            self.refuse(node, "a name: a number, a text in quotes, a boolean, or NULL")
        is_whole = isinstance(found.value, float) and found.value.is_integer()
        return int(found.value) if is_whole else found.value

    # ------------------------------------------------------------------------------------------ conditions
    def condition(self, node: Any) -> Condition:
        """Return a condition."""
        kind = type(node).__name__
        self.n_tests += 1
        if self.n_tests > MOST_TESTS:
            raise DataError(f"the rules have more than {MOST_TESTS:,} comparisons; give fewer of them")
        if kind in ("And", "Or"):
            parts = tuple(self.condition(part) for part in node.flatten(unnest=False))
            return All(parts) if kind == "And" else Some(parts)
        if kind == "Not":
            return Not(self.condition(node.this))
        if kind == "Paren":
            return self.condition(node.this)
        if kind in _SIGNS:
            return self._comparison(node, node.this, _SIGNS[kind], node.expression)
        found = getattr(self, f"_if_{kind.lower()}", self._if_other)(node)
        return Not(found) if node.args.get("negate") else found  # as newer ones of sqlglot say IS NOT NULL

    def _comparison(self, node: Any, one: Any, sign: str, other: Any) -> Condition:
        for asked, said in ((one, other), (other, one)):
            if sign in ("=", "<>") and self._says_condition(asked):
                return self._as_said(self.condition(asked), sign, said)
        left, right = self.operand(one), self.operand(other)
        if isinstance(left, Value) and isinstance(right, Value):
            return self._of_values(node, left.value, sign, right.value)
        return compare_operands(left, sign, right, self.place(node), self.logic)

    def _says_condition(self, node: Any) -> bool:
        """Return whether a side of a comparison is itself a condition, but a boolean or a column of them."""
        return isinstance(node.unnest(), (self.exp.Predicate, self.exp.Connector, self.exp.Not))

    def _as_said(self, condition: Condition, sign: str, said: Any) -> Condition:
        """Return a condition that is compared with a boolean, such as (a > 3) = TRUE."""
        found = self.operand(said)
        truth = found.value if isinstance(found, Value) else said
        if truth is None:
            return Unknown()
        if truth not in (True, False):  # 1 and 0 are, too
            self.refuse(said, "TRUE or FALSE beside a condition")
        return condition if bool(truth) is (sign == "=") else Not(condition)

    def _of_values(self, node: Any, left: Any, sign: str, right: Any) -> Condition:
        if left is None or right is None:
            return Unknown()
        if isinstance(left, str) != isinstance(right, str):
            self.refuse(node, COLUMN)
        signs = {"=": left == right, "<>": left != right, "<": left < right, ">": left > right}
        is_true = signs.get(sign, left <= right if sign == "<=" else left >= right)
        return All() if is_true else Some()

    def _if_is(self, node: Any) -> Condition:
        asked = node.expression
        if isinstance(asked, self.exp.Boolean):
            return surely(self.condition(node.this), bool(asked.this))
        if isinstance(asked, self.exp.Null) and self._says_condition(node.this):
            inner = self.condition(node.this)
            return All((Not(surely(inner)), Not(surely(inner, False))))
        if isinstance(asked, self.exp.Null):
            return ask_missing(self.operand(node.this), self.place(node))
        if isinstance(asked, self.exp.Column) and asked.sql().upper() == "NAN":  # of Oracle
            return self._nan(node)
        return self.refuse(node, "IS NULL, IS TRUE or IS FALSE")

    def _if_isnan(self, node: Any) -> Condition:
        return self._nan(node)

    def _nan(self, node: Any) -> Condition:
        found = self.operand(node.this)
        if not isinstance(found, Operand):
            self.refuse(node, COLUMN)
        return Test(found.column, found.steps, "nan", (), self.place(node), nan_is_large=self.logic.nan_is_large)

    def _if_in(self, node: Any) -> Condition:
        left, values = self.operand(node.this), [self.operand(each) for each in node.expressions]
        if not isinstance(left, Operand) or not values or node.args.get("query") or node.args.get("unnest"):
            self.refuse(node, "a column IN a list of values")
        found = [each.value for each in values if isinstance(each, Value)]
        if len(found) < len(values):
            self.refuse(node, f"a list of values: {VALUE}")
        return ask_one_of(left, tuple(found), self.place(node), self.logic)

    def _if_like(self, node: Any) -> Condition:
        left, pattern = self.operand(node.this), self.operand(node.expression)
        text = pattern.value if isinstance(pattern, Value) else None
        if not isinstance(text, str) or any(letter in text for letter in "%_\\[") or not isinstance(left, Operand):
            self._refuse_pattern(node)
        if isinstance(node, self.exp.ILike):
            left, text = left.then("lower"), text.lower()
        return compare_operands(left, "=", Value(text), self.place(node), self.logic)

    def _refuse_pattern(self, node: Any) -> NoReturn:
        self.refuse(node, CONDITION, "list the values that are meant with IN")

    _if_ilike = _if_like
    _if_regexplike = _if_regexpilike = _if_similarto = _if_glob = _if_startswith = _if_contains = _refuse_pattern

    def _if_nullsafeeq(self, node: Any) -> Condition:
        """Return a comparison that knows NULL, as IS NOT DISTINCT FROM and <=> do."""
        left, right = self.operand(node.this), self.operand(node.expression)
        if isinstance(left, Value):
            left, right = right, left
        if isinstance(right, Value) and right.value is None:
            return ask_missing(left, self.place(node))
        return compare_operands(left, "=", right, self.place(node), replace(self.logic, is_known=True))

    def _if_nullsafeneq(self, node: Any) -> Condition:
        return Not(self._if_nullsafeeq(node))

    def _if_between(self, node: Any) -> Condition:
        left, place = self.operand(node.this), self.place(node)
        low, high = (self.operand(node.args[name]) for name in ("low", "high"))
        return All(
            (
                compare_operands(left, ">=", low, place, self.logic),
                compare_operands(left, "<=", high, place, self.logic),
            )
        )

    def _if_boolean(self, node: Any) -> Condition:
        return All() if node.this else Some()

    def _if_null(self, node: Any) -> Condition:
        return Unknown()

    def _if_other(self, node: Any) -> Condition:
        if type(node).__name__ not in ("Column", "Cast", "TryCast", "Coalesce"):
            self.refuse(node, CONDITION)
        return as_condition(self.operand(node), self.place(node), self.logic)

    # ------------------------------------------------------------------------------------------ columns and values
    def operand(self, node: Any) -> Operand | Value:
        """Return a side of a comparison."""
        kind = type(node).__name__
        if kind in _AS_IT_IS:
            return self._as_it_is(node)
        if kind in _TODAY:
            self.is_aged = True
            return Value(self.today)
        found = getattr(self, f"_of_{kind.lower()}", None)
        if found is None:
            return self.refuse(node, f"{COLUMN}, or {VALUE}", "make it a column of the table")
        made: Operand | Value = found(node)
        return made

    def _as_it_is(self, node: Any) -> Operand | Value:
        """Return what a function leaves as it is: SQLite's ways to bring texts of dates into one form, and others."""
        kind, inner = type(node).__name__, self.operand(node.this)
        if kind == "Substring":
            given = [str(node.args.get(name)) for name in ("start", "length")]
            if given != ["1", "23"]:
                self.refuse(node, COLUMN)
        if kind == "Replace" and not isinstance(inner, Value):
            self.refuse(node, COLUMN)
        if kind.startswith(("TsOrDs", "TimeStr")):
            return self._date_of(node, inner)
        return inner

    def _of_column(self, node: Any) -> Operand | Value:
        if type(node.this).__name__ == "Star":
            self.refuse(node, COLUMN)
        name, table = node.name, ".".join(part.name for part in node.parts[:-1])
        if self.has_templates and name and _TEMPLATE.startswith(name):
            template = "a template in braces"
            refuse(self.place(node), "SQL as the database sees it", template, "give the compiled model")
        key = name if self._tells_case(node) else name.casefold()
        known, of_table = self.names.setdefault(key, (name, table))
        if of_table != table and table and of_table:
            self.refuse(node, f"one table for {name}", f"it was of {of_table} before; name one of the columns anew")
        return Operand(known)

    def _tells_case(self, node: Any) -> bool:
        return bool(node.this.args.get("quoted"))

    def _of_literal(self, node: Any) -> Operand | Value:
        if node.is_string:
            return Value(node.this)
        return Value(exact_number(str(node.this), self.place(node)))

    def _of_national(self, node: Any) -> Operand | Value:
        return Value(str(node.this))

    def _of_null(self, node: Any) -> Operand | Value:
        return Value(None)

    def _of_boolean(self, node: Any) -> Operand | Value:
        return Value(bool(node.this))

    def _of_neg(self, node: Any) -> Operand | Value:
        return Value(-self._number(node.this))

    def _number(self, node: Any) -> float:
        found = self.operand(node)
        if isinstance(found, Operand):
            self.refuse(node.parent, f"{COLUMN}, or {VALUE}", "bring the arithmetic to the other side")
        value = found.value
        if isinstance(value, bool) or not isinstance(value, (int, float)) or isinstance(value, Moment):
            self.refuse(node, "a number")
        return float(value)

    def _of_mul(self, node: Any) -> Operand | Value:
        return Value(self._finite(node, self._number(node.this) * self._number(node.expression)))

    def _of_div(self, node: Any) -> Operand | Value:
        by = self._number(node.expression)
        return Value(self._finite(node, self._number(node.this) / by if by else NAN))

    def _finite(self, node: Any, number: float) -> float:
        return number if not math.isnan(number) else self.refuse(node, "a number")

    def _of_add(self, node: Any) -> Operand | Value:
        return self._sum(node, 1)

    def _of_sub(self, node: Any) -> Operand | Value:
        right = None if isinstance(node.expression, self.exp.Interval) else self.operand(node.expression)
        if isinstance(right, Operand):
            return self._age(node, self.operand(node.this), right)
        return self._sum(node, -1)

    def _sum(self, node: Any, sign: int) -> Operand | Value:
        left = self.operand(node.this)
        if isinstance(left, Operand):
            self.refuse(node, f"{COLUMN}, or {VALUE}", "bring the arithmetic to the other side")
        if isinstance(left.value, Moment):
            return self._later(node, left.value, node.expression, sign)
        return Value(self._finite(node, self._number(node.this) + sign * self._number(node.expression)))

    def _later(self, node: Any, moment: Moment, more: Any, sign: int, unit: str = "DAY") -> Operand | Value:
        if isinstance(more, self.exp.Interval):
            unit, more = str(more.args.get("unit") or "DAY").upper().rstrip("S"), more.this
        count = self._count(more) * sign
        if unit in ("MONTH", "YEAR", "QUARTER"):
            return Value(self._months_later(node, moment, count * {"MONTH": 1, "QUARTER": 3, "YEAR": 12}[unit]))
        if unit not in _UNITS:
            self.refuse(node, "an interval of days, weeks, months or years")
        return shift_date(moment, count * _UNITS[unit], self.place(node))

    def _count(self, node: Any) -> float:
        if isinstance(node, self.exp.Literal) and node.is_string:
            return exact_number(node.this, self.place(node))
        return self._number(node)

    def _months_later(self, node: Any, moment: Moment, months: float) -> Moment:
        is_moving = isinstance(moment, MovingMoment)
        if is_moving and moment != self.today:
            self.refuse(node, "one interval of months after CURRENT_DATE, and then those of days")
        try:
            found = days_after_months(moment, int(months))
        except (ValueError, OverflowError):
            self.refuse(node, "a date of the years 1 to 9999")
        return MovingMoment.of(found, int(months)) if is_moving else Moment(found)

    def _of_dateadd(self, node: Any) -> Operand | Value:
        return self._move_day(node, 1)

    def _of_datesub(self, node: Any) -> Operand | Value:
        return self._move_day(node, -1)

    def _of_addmonths(self, node: Any) -> Operand | Value:
        month = self.exp.Interval(this=node.expression, unit=self.exp.var("MONTH"))
        return self._sum(self.exp.Add(this=node.this, expression=month), 1)

    _of_tsordsadd = _of_timestampadd = _of_datetimeadd = _of_dateadd
    _of_timestampsub = _of_datetimesub = _of_datesub

    def _move_day(self, node: Any, sign: int) -> Operand | Value:
        start = self.operand(node.this)
        moment = moment_of(start.value) if isinstance(start, Value) and isinstance(start.value, str) else None
        moment = start.value if isinstance(start, Value) and isinstance(start.value, Moment) else moment
        if moment is None:
            self.refuse(node, f"{COLUMN}, or {VALUE}")
        unit = str(node.args.get("unit") or "DAY").upper().rstrip("S")
        return self._later(node, moment, node.expression, sign, unit)

    def _of_datediff(self, node: Any) -> Operand | Value:
        unit = str(node.args.get("unit") or "DAY").upper().rstrip("S")
        end, start = self.operand(node.this), self.operand(node.expression)
        if unit != "DAY" or not isinstance(start, Operand):
            self.refuse(node, "days from a column to today")
        return self._age(node, end, start)

    _of_tsordsdiff = _of_datediff

    def _age(self, node: Any, end: Operand | Value, start: Operand | Value) -> Operand | Value:
        if not isinstance(end, Value) or not isinstance(end.value, Moment) or not isinstance(start, Operand):
            self.refuse(node, "days from a column to today")
        return start.then("days since", end.value.later(math.floor(end.value) - end.value))

    def _of_cast(self, node: Any) -> Operand | Value:
        inner, kind = self.operand(node.this), node.args["to"].this.name
        if kind in _WHOLE:
            return self._as_whole_number(node, inner)
        if kind in _NUMBERS:
            return self._as_decimal(node, inner)
        if kind in _TEXTS:
            return inner.then("text") if isinstance(inner, Operand) else self._as_text(node, inner)
        if kind.startswith(("DATE", "TIMESTAMP")):
            return self._date_of(node, inner, by_day=kind in ("DATE", "DATE32"))
        if kind == "BOOLEAN" and isinstance(inner, Operand):
            return inner
        return self.refuse(node, "a cast to a number, a text or a date")

    def _of_convert(self, node: Any) -> Operand | Value:
        cast = self.exp.Cast(this=node.expression, to=node.this)
        return self.refuse(node, COLUMN) if node.args.get("style") else self._of_cast(cast)

    _of_trycast = _of_cast

    def _as_whole_number(self, node: Any, inner: Operand | Value) -> Operand | Value:
        found = self._as_number(node, inner) if isinstance(inner, Value) else inner
        if isinstance(found, Value) and (found.value is None or float(found.value).is_integer()):
            return found
        why = "to whole numbers some engines cut and others round, halves in three ways"
        return self.refuse(node, "the column itself, or a cast to DOUBLE", why)

    def _as_decimal(self, node: Any, inner: Operand | Value) -> Operand | Value:
        """Return a number with so many decimals as a cast leaves, such as two by DECIMAL(10, 2)."""
        kind, given = node.args["to"].this.name, [int(each.name) for each in node.args["to"].expressions]
        if isinstance(inner, Value) or "DECIMAL" not in kind or (not given and self.dialect in _EXACT):
            return self._as_number(node, inner)
        if len(given) < 2 or self.dialect == "clickhouse":  # which cuts, where others round
            why = "such casts leave fewer decimals, and engines differ in how"
            self.refuse(node, "a cast to DOUBLE, or to a DECIMAL with its decimals", why)
        return inner.then("number") if self.dialect == "sqlite" else inner.then("decimal", tuple(given))

    def _as_number(self, node: Any, inner: Operand | Value) -> Operand | Value:
        if isinstance(inner, Operand):
            return inner.then("number")
        try:
            return Value(float(inner.value)) if inner.value is not None else inner
        except (TypeError, ValueError):
            return self.refuse(node, "a number")

    def _as_text(self, node: Any, inner: Value) -> Value:
        if not isinstance(inner.value, str):
            self.refuse(node, "a text in quotes")
        return inner

    def _date_of(self, node: Any, inner: Operand | Value, by_day: bool = False) -> Operand | Value:
        if isinstance(inner, Operand):
            return inner.then("day" if by_day else "date")
        moment = inner.value if isinstance(inner.value, Moment) else moment_of(inner.value)
        if moment is None:
            self.refuse(node, "a date such as '2026-03-01'")
        return Value(moment.later(math.floor(moment) - moment) if by_day else moment)

    def _of_date(self, node: Any) -> Operand | Value:
        return self._date_of(node, self.operand(node.this), by_day=True)

    def _of_datetrunc(self, node: Any) -> Operand | Value:
        found = self.operand(node.this)
        is_day = isinstance(found, Value) and isinstance(found.value, Moment) and float(found.value).is_integer()
        if not is_day or str(node.args.get("unit")).strip("'").upper() not in ("DD", "DAY"):
            self.refuse(node, "a day, such as CURRENT_DATE")
        return found

    def _of_timetostr(self, node: Any) -> Operand | Value:
        if node.args["format"].name != _SQLITE:
            self.refuse(node, COLUMN)
        return self.operand(node.this)

    def _of_strtodate(self, node: Any) -> Operand | Value:
        return self._date_of(node, self.operand(node.this), by_day=True)

    _of_datestrtodate = _of_strtodate

    def _of_strtotime(self, node: Any) -> Operand | Value:
        return self._date_of(node, self.operand(node.this))

    def _of_anonymous(self, node: Any) -> Operand | Value:
        name, given = node.name.upper(), node.expressions
        if name in ("TODATE32", "TODATETIME64", "TODATETIME", "TODATE") and given:
            return self._date_of(node, self.operand(given[0]))
        if name in ("DATE", "DATETIME") and given and given[0].name.lower() == "now":
            self.is_aged = True
            return self._modify_day(node, Value(self.today), given[1:])
        if name == "STRFTIME" and len(given) > 1 and given[0].name == _SQLITE:
            return self._modify_day(node, self.operand(given[1]), given[2:])
        if name == "TODAY" and not given:
            self.is_aged = True
            return Value(self.today)
        return self.refuse(node, f"{COLUMN}, or {VALUE}")

    def _modify_day(self, node: Any, found: Operand | Value, modifiers: Sequence[Any]) -> Operand | Value:
        """Return a day of SQLite with its modifiers, of which that for the local time changes no day that is given."""
        for each in modifiers:
            if each.name == "localtime":
                continue
            words = re.fullmatch(r"([+-]?)(\d{1,6}) (day|month|year)s?", each.name.strip().lower())
            if words is None or isinstance(found, Operand):
                self.refuse(node, "a day such as date('now', '-90 days')")
            count = self.exp.Literal.number(words[2])
            found = self._later(node, found.value, count, -1 if words[1] == "-" else 1, words[3].upper())
        return found

    def _of_coalesce(self, node: Any) -> Operand | Value:
        first, others = self.operand(node.this), [self.operand(each) for each in node.expressions]
        if not isinstance(first, Operand) or not all(isinstance(each, Value) for each in others):
            self.refuse(node, "COALESCE of a column and values")
        for value in [each.value for each in others if isinstance(each, Value)]:
            first = first.then("or", value)
        return first

    def _letters(self, node: Any, step: str) -> Operand | Value:
        inner = self.operand(node.this)
        if not isinstance(inner, Operand) or node.args.get("expression") or node.args.get("position"):
            self.refuse(node, COLUMN)
        return inner.then(step)

    def _of_lower(self, node: Any) -> Operand | Value:
        return self._letters(node, "lower")

    def _of_upper(self, node: Any) -> Operand | Value:
        return self._letters(node, "upper")

    def _of_trim(self, node: Any) -> Operand | Value:
        inner = node.this
        ends = {str(each.args.get("position")).upper() for each in (node, inner)}
        if isinstance(inner, self.exp.Trim) and ends == {"LEADING", "TRAILING"}:  # LTRIM(RTRIM(...))
            node = self.exp.Trim(this=inner.this)
        if not node.args.get("position") and self._letters_given(node.args.get("expression")).isspace():
            node = self.exp.Trim(this=node.this)
        return self._letters(node, "trim")

    def _letters_given(self, node: Any) -> str:
        """Return the letters of a text in quotes, or of those that CHAR makes of numbers."""
        if isinstance(node, self.exp.Chr):
            return "".join(chr(int(self._number(each))) for each in node.expressions)
        return node.name if isinstance(node, self.exp.Literal) and node.is_string else ""

    def _of_nullif(self, node: Any) -> Operand | Value:
        inner, other = self.operand(node.this), self.operand(node.expression)
        if not isinstance(inner, Operand) or not isinstance(other, Value):
            self.refuse(node, COLUMN)
        return inner.then("null if", other.value)

    def _of_case(self, node: Any) -> Operand | Value:
        """Return the value of a CASE that gives a column where it fulfils a condition, as engines need it for NaN."""
        branches = node.args["ifs"]
        if len(branches) != 1 or node.args.get("default") is not None or node.args.get("this") is not None:
            self.refuse(node, f"{COLUMN}, or {VALUE}")
        inner, guard = self.operand(branches[0].args["true"]), branches[0].this
        if isinstance(inner, Operand) and self._is_of_zones(guard):
            return inner
        condition = self.condition(guard)
        if not isinstance(inner, Operand) or {test.column for test in tests_in(condition)} != {inner.column}:
            self.refuse(node, f"{COLUMN}, or {VALUE}")
        return replace(inner, steps=(Step("where", Guard(inner.column, condition)), *inner.steps))

    def _is_of_zones(self, guard: Any) -> bool:
        """Return whether a guard keeps texts of dates without a zone, as SQL for SQLite does."""
        return isinstance(guard, self.exp.Not) and isinstance(guard.this, self.exp.Glob)


def _follow(first: Found, rest: Found) -> Found:
    """Return rules that others follow: these decide what the first ones give NULL."""
    branches: list[Branch] = []
    for one in first.branches:
        if one.name is not None:
            branches.append(one)
            continue
        inner = (replace(each, condition=All((one.condition, each.condition))) for each in rest.branches)
        branches += [replace(each, is_implied=True) for each in (*inner, replace(one, name=rest.otherwise))]
    if first.otherwise is not None:
        return replace(first, branches=tuple(branches))
    return replace(rest, branches=(*branches, *rest.branches))


_DEEPEST_CASE = 40
