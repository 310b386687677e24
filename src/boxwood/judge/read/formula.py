"""Formulas, as `Explanation.to_formula` writes them: said in Python, which is parsed, and never run."""

from __future__ import annotations

import ast
import re
from datetime import date
from typing import Any, NoReturn

from boxwood.judge.read.python import PythonReader
from boxwood.judge.read.refuse import refuse
from boxwood.judge.read.sql import Found
from boxwood.judge.read.text import Text, translate


def looks_like_formula(text: str) -> bool:
    """Return whether a text is a formula."""
    return text.lstrip().startswith("=")


def rules_of_formula(text: str, today: date) -> Found:
    """Return the rules of a formula that `Explanation.to_formula` wrote with the headers of its columns."""
    python = _as_python(text)
    rules = _InPython(python).visit(python.parsed("eval").body)
    place = ast.copy_location(ast.Return(rules), rules)
    return PythonReader(python, today).rules([ast.fix_missing_locations(place)])


_WORD = r'(?:"(?:[^"]|"")*"|UNICHAR\(\d+\))'
_PARTS = re.compile(
    rf"""(?P<begin>\A\s*=)|(?P<text>{_WORD}(?:&{_WORD})*)|(?P<header>\$1:\$1)|(?P<row>\d+:\d+)
    |(?P<sign><>|[<>]=|=|[,;])|(?P<word>TRUE|FALSE|[a-z_]\w*)|(?P<break>\s+)""",
    re.VERBOSE,
)


def _as_python(text: str) -> Text:
    """Return a formula as an expression of Python that calls what the formula does."""
    has_semicolons = ";" in re.sub('"[^"]*"', "", text)

    def say(found: re.Match[str]) -> str:
        its, kind = found[0], found.lastgroup
        if kind == "text":
            parts = re.findall(_WORD, its)
            return repr("".join(chr(int(p[8:-1])) if p[0] == "U" else p[1:-1].replace('""', '"') for p in parts))
        if kind == "word":
            return its.title() if its.isupper() else f"{its}_"
        signs = {"<>": "!=", "=": "==", **({";": ",", ",": "."} if has_semicolons else {})}
        said = {"begin": "", "header": "_header", "row": "_row", "break": " "}
        return said.get(str(kind), signs.get(its, its))

    return translate(text, _PARTS, say, "a formula")


class _InPython(ast.NodeTransformer):
    """Says what a formula calls as Python does: `IF` is a conditional expression, `*` is `and`, and `+` is `or`."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.names: dict[str, ast.expr] = {}  # of columns, by where their headers are sought
        self.cells: dict[str, ast.expr] = {}

    def visit_Call(self, node: ast.Call) -> Any:
        """Say a function of the formula."""
        match node:
            case ast.Call(func=ast.Name(id="LET"), args=[*pairs, rules]) if len(pairs) % 2 == 0:
                names = [each.id if isinstance(each, ast.Name) else self._refuse(each) for each in pairs[::2]]
                self.cells = dict(zip(names, pairs[1::2], strict=True))
                return self.visit(rules)
            case ast.Call(func=ast.Name(id="IF"), args=[checks, rules, ast.Call(func=ast.Name(id="NA"))]):
                self._check_headers(checks)
                return self.visit(rules)
            case ast.Call(func=ast.Name(id="IF"), args=[test, one, other]):
                return _at(node, ast.IfExp(self.visit(test), self.visit(one), self.visit(other)))
            case ast.Call(func=ast.Name(id="AND" | "OR" as name), args=[*parts]) if parts:
                return _join_parts(node, name == "AND", [self.visit(each) for each in parts])
            case ast.Call(func=ast.Name(id="NOT"), args=[one]):
                return _at(node, ast.UnaryOp(ast.Not(), self.visit(one)))
            case ast.Call(func=ast.Name(id="ISNUMBER"), args=[one]):
                return _at(node, ast.Compare(self.visit(one), [ast.IsNot()], [ast.Constant(None)]))
            case ast.Call(func=ast.Name(id="ISLOGICAL")):  # booleans are the numbers 0 and 1
                return _at(node, ast.Constant(False))
            case ast.Call(func=ast.Name(id="EXACT"), args=[one, word]):
                return _at(node, ast.Compare(self.visit(one), [ast.Eq()], [word]))
            case ast.Call(func=ast.Name(id="INDEX"), args=[ast.Name(id="_row"), place]):
                header = self.names.get(ast.dump(place)) or self._refuse(node)
                return _at(node, ast.Subscript(ast.Name("row"), header))
        return self._refuse(node)

    def visit_Name(self, node: ast.Name) -> Any:
        """Say the column that a name of LET stands for."""
        return self.visit(self.cells[node.id]) if node.id in self.cells else self._refuse(node)

    def visit_Constant(self, node: ast.Constant) -> Any:
        """Say no cluster for an empty text."""
        return _at(node, ast.Constant(None)) if node.value == "" else node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Say which conditions are joined."""
        if not isinstance(node.op, (ast.Mult, ast.Add)):
            self._refuse(node)
        return _join_parts(node, isinstance(node.op, ast.Mult), [self.visit(node.left), self.visit(node.right)])

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Say a comparison of a cell with a number, a date, or an empty text, as which a missing value counts."""
        left, right = self.visit(node.left), node.comparators[0]
        if isinstance(right, ast.Constant) and right.value == "":
            sign: ast.cmpop = ast.Is() if isinstance(node.ops[0], ast.Eq) else ast.IsNot()
            return _at(node, ast.Compare(left, [sign], [ast.Constant(None)]))
        if any(isinstance(each, ast.Call) for each in ast.walk(right)):
            right = _at(right, self._day(right))
            left = _at(left, ast.Call(ast.Name("_date"), [ast.Name("row"), left.slice], []))
        return _at(node, ast.Compare(left, node.ops, [right]))

    def _check_headers(self, checks: ast.expr) -> None:
        """Take the names of columns from the comparisons of their headers."""
        for each in ast.walk(checks):
            match each:
                case ast.Call(func=ast.Name(id="EXACT"), args=[ast.Call(args=[ast.Name(id="_header"), place]), name]):
                    self.names[ast.dump(place)] = name

    def _day(self, node: ast.expr) -> Any:
        """Return a date, or today, and what is added to it."""
        match node:
            case ast.Call(func=ast.Name(id="DATE"), args=[year, month, day]):
                return ast.Call(ast.Name("datetime"), [year, month, day], [])
            case ast.Call(func=ast.Name(id="TODAY" | "NOW"), args=[]):
                return ast.Call(ast.Attribute(ast.Name("date"), "today"), [], [])
            case ast.BinOp(left=left, op=ast.Add(), right=ast.Call(func=ast.Name(id="TIME"), args=[*time])):
                return ast.Call(ast.Name("datetime"), [*self._day(left).args[:3], *time], [])
            case ast.BinOp(left=left, op=ast.Add(), right=ast.BinOp(left=micro, op=ast.Div())):
                start = self._day(left)
                if isinstance(start, ast.Call) and len(start.args) >= 3:
                    time = [*start.args[3:], *[ast.Constant(0)] * 3][:3]
                    return ast.Call(ast.Name("datetime"), [*start.args[:3], *time, micro], [])
                return _later(start, micro, "microseconds")
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=ast.Constant(value=int()) as days):
                return _later(self._day(left), days, "days", sign)
        return self._refuse(node)

    def _refuse(self, node: ast.AST) -> NoReturn:
        expected = "what to_formula writes with the headers of its columns"
        refuse(
            self.text.place(node), expected, self.text.written(node)[:80], "give the formula written without columns"
        )


def _at(place: ast.AST, node: ast.expr) -> Any:
    """Return a node that stands where another one did."""
    return ast.copy_location(node, place)


def _later(day: ast.expr, count: ast.expr, unit: str, sign: ast.operator | None = None) -> ast.expr:
    """Return a day and a length of time."""
    return ast.BinOp(day, sign or ast.Add(), ast.Call(ast.Name("timedelta"), [], [ast.keyword(unit, count)]))


def _join_parts(node: ast.expr, all_hold: bool, parts: list[ast.expr]) -> ast.expr:
    """Return conditions joined by `and`, or else by `or`, without those that others say."""
    known = [each for each in parts if not (isinstance(each, ast.Constant) and each.value is False)]
    if len(known) < (len(parts) if all_hold else 1):
        false: ast.expr = _at(node, ast.Constant(False))
        return false
    if all_hold:  # a comparison with a value does not hold without one
        compared = {column for each in known if (column := _column(each, (ast.Eq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)))}
        known = [each for each in known if _column(each, (ast.IsNot,)) not in compared]
    joined: ast.expr = _at(node, ast.BoolOp(ast.And() if all_hold else ast.Or(), known))
    return known[0] if len(known) == 1 else joined


def _column(node: ast.expr, signs: tuple[type[ast.cmpop], ...]) -> str | None:
    """Return the column of a comparison with one of some signs, as `ast` shows it; None for another condition."""
    match node:
        case ast.Compare(left=ast.Call(args=[_, column]) | ast.Subscript(slice=column), ops=[sign]):
            return ast.dump(column) if isinstance(sign, signs) else None
    return None
