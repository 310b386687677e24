"""Python: a function of `if` and `elif`, and conditions as `DataFrame.query` takes them; parsed, and never run."""

from __future__ import annotations

import ast
import math
import re
import sys
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NoReturn

from boxwood._dates import Dates
from boxwood.errors import DataError
from boxwood.judge.conditions import All, Condition, Not, Some
from boxwood.judge.read.operands import (
    Logic,
    Operand,
    Value,
    as_condition,
    ask_missing,
    ask_one_of,
    compare_operands,
    exact_number,
)
from boxwood.judge.read.refuse import COLUMN, CONDITION, MOST_TESTS, VALUE, refuse, refuse_long
from boxwood.judge.read.sql import Found
from boxwood.judge.read.text import Text, as_it_is, translate
from boxwood.judge.rules import Branch
from boxwood.judge.values import Moment, MovingMoment, Place, Step, moment_of

_LOGIC = Logic(is_known=True)
_SIGNS = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "=", "NotEq": "<>"}
_MISSING = ("isna", "isnull")
_PRESENT = ("notna", "notnull")
_OWN: dict[
    str, tuple[Step, ...]
] = {  # the functions by which our own form reads columns, and what these do; a missing number may count as infinity
    "_number": (),
    "_number_or_infinity": (Step("at most", sys.float_info.max), Step("or", math.inf)),
    "_value": (),
    "_truth": (),
    "_date": (Step("date"),),
    "_date_in_utc": (Step("date"),),
}
_DAY_OF_COLUMN = re.compile(r"\bif as_of is None else as_of\b|\basOf \?\? valueOf\(")  # in our own forms
_PER_DAY = {"days": 1, "hours": 24, "minutes": 1440, "seconds": 86_400, "microseconds": 86_400_000_000}


def rules_of_python(text: str, today: date) -> Found:
    """Return the rules of a text with one function."""
    python = as_it_is(text)
    return rules_of_module(python.parsed("exec"), PythonReader(python, today))


def rules_of_module(tree: ast.Module, reader: PythonReader) -> Found:
    """Return the rules of a module with one function, or with one that is called cluster."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    own = [one for one in functions if one.name == "cluster"] if len(functions) > 1 else functions
    if len(own) != 1:
        raise DataError(f"expected one function of if and elif; got {len(functions)}; give the text of one alone")
    reader.arguments = [each.arg for each in own[0].args.args]
    return reader.rules(own[0].body)


def condition_of_query(text: str, today: date) -> tuple[Condition, bool]:
    """Return a condition as `DataFrame.query` takes it, and whether it compares with the day of today."""
    refuse_long(text)
    python, quoted = _as_python(text.strip())
    reader = PythonReader(python, today, quoted)
    condition = reader.condition(python.parsed("eval").body)
    return condition, reader.is_aged


_OF_QUERIES = re.compile(
    r"==|&|\||~|\.is|\.not|\.between\(|\.fillna\(|\.str\.|\bnot in\s*[(\[]|\bin\s*\[|`"
    r"|[<>]=?\s*[\w.]+\s*[<>]=?"  # one comparison after another, such as 1 < x <= 5
)


def looks_like_query(text: str) -> bool:
    """Return whether a condition is of Python rather than SQL: by its signs, as both know `and` and `in`."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", text)
    return _OF_QUERIES.search(bare) is not None and "||" not in bare


def looks_like_function(text: str) -> bool:
    """Return whether a text has a function of Python."""
    return re.search(r"^\s*def \w+\(", text, re.MULTILINE) is not None


_QUERY = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`([^`\n]+)`|[&|]|\s")


def _as_python(text: str) -> tuple[Text, dict[str, str]]:
    """Return a condition of `DataFrame.query` as Python, and what its made-up names stand for.

    There `&` and `|` bind as `and` and `or` do, names may stand in backticks, and a line goes on in the next one.
    """
    quoted: dict[str, str] = {}

    def say(found: re.Match[str]) -> str:
        if not found[1]:
            return {"&": " and ", "|": " or "}.get(found[0], " " if found[0].isspace() else found[0])
        name = f"_{len(quoted)}_"
        quoted[name] = found[1]
        return name

    return translate(text, _QUERY, say, "Python"), quoted


@dataclass
class PythonReader:
    """Reads the nodes of `ast`."""

    text: Text
    today: date
    quoted: dict[str, str] | None = None
    is_aged: bool = False
    n_tests: int = 0

    def __post_init__(self) -> None:
        self.arguments: list[str] = []
        self.known: dict[str, Operand] = {}
        self.ages: set[str] = set()

    def refuse(self, node: ast.AST, expected: str, instead: str = "") -> NoReturn:
        """Raise a DataError on a node."""
        refuse(self.text.place(node), expected, self.text.written(node)[:80], instead)

    # ------------------------------------------------------------------------------------------ the function
    def rules(self, body: list[ast.stmt]) -> Found:
        """Return the rules of statements."""
        branches = self.branches(body)
        has_else = bool(branches) and branches[-1].condition == All()
        rest = branches.pop().name if has_else else None
        return Found(tuple(branches), rest, has_else, self.is_aged)

    def branches(self, body: list[ast.stmt]) -> list[Branch]:
        """Return the branches of statements in order; a return is one of all rows that come to it."""
        found: list[Branch] = []
        for place, statement in enumerate(body):
            match statement:
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    continue
                case ast.Return():
                    return [*found, *self._of_result(statement, statement.value)]
                case ast.If():
                    found += self._of_if(statement, is_last=place == len(body) - 1)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._assign(name, value)
                case ast.For(body=[ast.If(body=[ast.Raise()])]):  # of our own form: a row lacks a column
                    continue
                case _:
                    self.refuse(statement, "if, elif, else and return")
        return found

    def _assign(self, name: str, value: ast.expr) -> None:
        """Take a name for a column, or as our own form has it, for how far its date is from today."""
        match value:
            case ast.Call(func=ast.Name(id="_since"), args=[ast.Call() as date, *_]):
                if _DAY_OF_COLUMN.search(self.text.given):
                    self.refuse(
                        value, "ages that count from one day for all rows", "these count from a day in a column"
                    )
                self.is_aged = True
                self.ages.add(name)
                self.known[name] = self._column(date)
            case _:
                self.ages.discard(name)
                self.known[name] = self._column(value)

    def _of_if(self, statement: ast.If, *, is_last: bool) -> list[Branch]:
        condition, inner = self.condition(statement.test), self.branches(statement.body)
        found = [
            replace(each, condition=All((condition, each.condition)), place=self.text.place(statement.test))
            for each in inner
        ]
        if not _returns(statement.body):
            if not is_last:
                self.refuse(statement, "a return at the end of each block")
            found.append(Branch(None, condition, self.text.place(statement), is_implied=True))
        return found + self.branches(statement.orelse)

    def _of_result(self, statement: ast.Return, result: ast.expr | None) -> list[Branch]:
        """Return the branches of a result: two for one with a condition, such as `"x" if a > 3 else "y"`."""
        if not isinstance(result, ast.IfExp):
            return [Branch(self._name(statement, result), All(), self.text.place(statement))]
        condition = self.condition(result.test)
        first = self._of_result(statement, result.body)
        inner = [replace(each, condition=All((condition, each.condition))) for each in first]
        return inner + self._of_result(statement, result.orelse)

    def _name(self, statement: ast.Return, result: ast.expr | None) -> Any:
        value = self._value(result) if result is not None else None
        if isinstance(value, Moment):
            self.refuse(statement, "a name: a number, a text, a boolean, or None")
        return int(value) if isinstance(value, float) and value.is_integer() else value

    # ------------------------------------------------------------------------------------------ conditions
    def condition(self, node: ast.expr) -> Condition:
        """Return a condition."""
        self.n_tests += 1
        if self.n_tests > MOST_TESTS:
            raise DataError(f"the rules have more than {MOST_TESTS:,} comparisons; give fewer of them")
        match node:
            case ast.BoolOp(op=ast.And(), values=parts):
                return All(tuple(map(self.condition, parts)))
            case ast.BoolOp(values=parts):
                return Some(tuple(map(self.condition, parts)))
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=inner):
                return Not(self.condition(inner))
            case ast.Compare():
                return self._chain(node)
            case ast.Constant(value=bool()):
                return All() if node.value else Some()
            case ast.Call(func=ast.Attribute(attr=name)) if name in (*_MISSING, *_PRESENT, "isin", "between"):
                return self._of_method(node, name)
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[inner]) if name in _MISSING:
                return ask_missing(self._column(inner), self.text.place(node))
        return as_condition(self._column(node, CONDITION), self.text.place(node), _LOGIC)

    def _chain(self, node: ast.Compare) -> Condition:
        sides = [node.left, *node.comparators]
        parts = [self._pair(node, sides[i], sign, sides[i + 1]) for i, sign in enumerate(node.ops)]
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _pair(self, node: ast.Compare, left: ast.expr, sign: ast.cmpop, right: ast.expr) -> Condition:
        place = self.text.place(node)
        match sign:
            case ast.In():
                return self._is_one(left, right, place)
            case ast.NotIn():
                return Not(self._is_one(left, right, place))
            case ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq() if (
                isinstance(right, ast.Constant) and right.value is None
            ):
                if self.quoted is not None and isinstance(sign, (ast.Eq, ast.NotEq)):
                    self.refuse(node, "isna() or notna()", "in a query nothing is equal to None")
                missing = ask_missing(self._column(left), place)
                return Not(missing) if isinstance(sign, (ast.IsNot, ast.NotEq)) else missing
            case ast.Is() | ast.IsNot() if isinstance(right, ast.Constant) and isinstance(right.value, bool):
                same = ask_one_of(self._column(left), (right.value,), place, _LOGIC)
                return same if isinstance(sign, ast.Is) else Not(same)
            case ast.Eq() | ast.NotEq() if self.quoted is not None and isinstance(right, ast.List | ast.Tuple):
                found = self._is_one(left, right, place)  # so a query compares with a list
                return found if isinstance(sign, ast.Eq) else Not(found)
            case ast.Eq() | ast.NotEq() if ast.dump(left) == ast.dump(right):  # NaN alone differs from itself
                missing = ask_missing(self._column(left), place)
                return missing if isinstance(sign, ast.NotEq) else Not(missing)
        if type(sign).__name__ not in _SIGNS:
            self.refuse(node, CONDITION)
        sides = [self._operand(side, other) for side, other in ((left, right), (right, left))]
        return compare_operands(sides[0], _SIGNS[type(sign).__name__], sides[1], place, _LOGIC)

    def _is_one(self, left: ast.expr, right: ast.expr, place: Place) -> Condition:
        """Return the condition that a column has one of some values, among them perhaps None."""
        if isinstance(right, ast.Tuple) and not right.elts:
            return Some()
        column, values = self._column(left), self._values(right)
        known = tuple(value for value in values if value is not None)
        if known == values:
            return ask_one_of(column, values, place, _LOGIC)
        missing = ask_missing(column, place)
        return Some((ask_one_of(column, known, place, _LOGIC), missing)) if known else missing

    def _of_method(self, node: ast.Call, name: str) -> Condition:
        assert isinstance(node.func, ast.Attribute)
        if (
            isinstance(node.func.value, ast.Name)
            and node.func.value.id in ("pd", "np", "pandas", "numpy")
            and node.args
        ):
            column, given = self._column(node.args[0]), []
        else:
            column, given = self._column(node.func.value), node.args
        place = self.text.place(node)
        if name in _MISSING or name in _PRESENT:
            missing = ask_missing(column, place)
            return missing if name in _MISSING else Not(missing)
        if name == "isin" and len(given) == 1:
            return ask_one_of(column, self._values(given[0]), place, _LOGIC)
        if name == "between" and len(given) == 2 and not node.keywords:
            low, high = (Value(self._value(each)) for each in given)
            return All(
                (
                    compare_operands(column, ">=", low, place, _LOGIC),
                    compare_operands(column, "<=", high, place, _LOGIC),
                )
            )
        return self.refuse(node, CONDITION)

    # ------------------------------------------------------------------------------------------ columns and values
    def _operand(self, node: ast.expr, other: ast.expr) -> Operand | Value:
        """Return a side of a comparison; beside an age, a length of time is a day that moves."""
        try:
            if isinstance(other, ast.Name) and other.id in self.ages:
                return Value(MovingMoment(Dates().number(self.today) + self._length(node)))
            return Value(self._value(node))
        except DataError:
            return self._column(node, f"{COLUMN}, or {VALUE}")

    def _column(self, node: ast.expr, expected: str = COLUMN) -> Operand:
        match node:
            case ast.Name(id=name) if self.quoted and name in self.quoted:
                return Operand(self.quoted[name])
            case ast.Name(id=name) if name in self.known:
                return self.known[name]
            case ast.Name(id=name) if not self.arguments or (name in self.arguments and len(self.arguments) > 1):
                return Operand(name)
            case ast.Name(id=name) if name in self.arguments and not self._is_row(name):
                return Operand(name)
            case ast.Attribute(value=ast.Name(id=row), attr=name) if row in self.arguments or row in ("df", "row"):
                return Operand(name)
            case ast.Subscript(value=ast.Name(), slice=ast.Constant(value=str(name))):
                return Operand(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(), attr="get"), args=[ast.Constant(value=str(name))]):
                return Operand(name)
            case ast.Call(func=ast.Attribute(value=inner, attr="lower" | "upper" | "strip" as step), args=[]):
                if isinstance(inner, ast.Attribute) and inner.attr == "str":
                    inner = inner.value
                return self._column(inner).then("trim" if step == "strip" else step)
            case ast.Call(func=ast.Name(id="float"), args=[inner]):
                return self._column(inner).then("number")
            case ast.Call(func=ast.Attribute(value=inner, attr="fillna"), args=[value], keywords=[]):
                return self._column(inner).then("or", self._value(value))
            case ast.Call(func=ast.Name(id=name), args=[ast.Name(), ast.Constant(value=str(column))]) if name in _OWN:
                return Operand(column, _OWN[name])
        return self.refuse(node, expected, "make it a column of the table")

    def _is_row(self, name: str) -> bool:
        return re.search(rf"\b{name}\s*(\[|\.\w)", self.text.plain) is not None

    def _values(self, node: ast.expr) -> tuple[Any, ...]:
        if not isinstance(node, (ast.Tuple, ast.List, ast.Set)) or not node.elts:
            self.refuse(node, f"a list of values: {VALUE}")
        return tuple(map(self._value, node.elts))

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | str() | None):
                return node.value
            case ast.Constant(value=int() | float()):
                return exact_number(repr(node.value), self.text.place(node))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -exact_number(repr(number), self.text.place(node))
            case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value="inf" | "-inf" as end)]):
                return float(end)
            case ast.Call(func=ast.Attribute(attr="Timestamp"), args=[ast.Constant(value=str(text))]):
                return self._moment(node, text)
            case ast.Call(func=ast.Name(id="date" | "datetime") | ast.Attribute(attr="date" | "datetime"), args=parts):
                return self._moment(node, self._iso(node, parts))
            case ast.Call(func=ast.Attribute(attr="today" | "now"), args=[]):
                self.is_aged = True
                return MovingMoment(Dates().number(self.today))
            case ast.BinOp(op=ast.Sub() | ast.Add() as sign, left=left, right=ast.Call() as length):
                start = self._value(left)
                if isinstance(start, Moment):
                    days = self._length(length)
                    return start.later(days if isinstance(sign, ast.Add) else -days)
        return self.refuse(node, VALUE)

    def _length(self, node: ast.expr) -> float:
        """Return the days of a timedelta."""
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=given, keywords=named) if (
                name in ("timedelta", "Timedelta", "DateOffset") and len(given) <= 1
            ):
                parts = [*(("days", each) for each in given), *((str(each.arg), each.value) for each in named)]
                counts = [(unit, self._value(each)) for unit, each in parts]
                if parts and all(type(count) is float and unit in _PER_DAY for unit, count in counts):
                    return float(sum(count / _PER_DAY[unit] for unit, count in counts))
        return self.refuse(node, "timedelta(days=90)")

    def _iso(self, node: ast.expr, parts: list[ast.expr]) -> str:
        numbers = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, int)]
        if len(numbers) != len(parts) or not 3 <= len(numbers) <= 7:
            self.refuse(node, "a date such as datetime(2026, 3, 1)")
        year, month, day, *time = numbers
        hour, minute, second, micro = [*time, 0, 0, 0, 0][:4]
        return f"{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micro:06}"

    def _moment(self, node: ast.expr, text: str) -> Moment:
        moment = moment_of(text)
        return moment if moment is not None else self.refuse(node, "a date such as '2026-03-01'")


def _returns(body: list[ast.stmt]) -> bool:
    """Return whether statements end in a return, on every way."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _returns(last.body) and bool(last.orelse) and _returns(last.orelse)
    return isinstance(last, ast.Return)
