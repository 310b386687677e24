"""JavaScript, as `Explanation.to_javascript` writes it: said in Python, which is parsed, and never run."""

from __future__ import annotations

import ast
import keyword
import re
from datetime import date, datetime
from typing import Any

from boxwood.judge.read.python import PythonReader, rules_of_module
from boxwood.judge.read.sql import Found
from boxwood.judge.read.text import Text, translate

_READS = {
    "numberOf": "_number",
    "numberOrInfinityOf": "_number_or_infinity",
    "codeOf": "_value",
    "truthOf": "_truth",
    "dateOf": "_date",
}
"""The functions by which our own form reads columns, and those of our own Python that do the same."""


def looks_like_javascript(text: str) -> bool:
    """Return whether a text has a function of JavaScript."""
    return re.search(r"^\s*(export )?function \w+\([^)]*\)\s*\{", text, re.MULTILINE) is not None


def rules_of_javascript(text: str, today: date) -> Found:
    """Return the rules of a text that `Explanation.to_javascript` wrote, perhaps changed by a person."""
    python = _as_python(text)
    tree = _InPython().visit(python.parsed("exec"))
    return rules_of_module(ast.fix_missing_locations(tree), PythonReader(python, today))


_PARTS = re.compile(
    r"""(?P<before>\A.*?^(?:export\ )?(?=function\ cluster\())
    |(?P<after>\n(?:\ \ function\ |\}).*\Z)
    |(?P<text>"(?:[^"\\\n]|\\.)*")
    |(?P<check>for\ \(const\ column\ of\ COLUMNS\)\ \{.*?^\ \ \}$)
    |(?P<remark>//[^\n]*|/\*.*?\*/)
    |(?P<pattern>/(?:[^/\\\n]|\\.)+/)
    |(?P<open>\)\s*\{)|(?P<close>\})|(?P<end>;|\n[ \t]*)|(?P<result>\)\s*return\b)
    |(?P<sign>&&|\|\||[!=]==?|!)
    |(?P<word>[A-Za-z_$][\w$]*\s?)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_SIGNS = {"&&": " and ", "||": " or ", "===": "==", "!==": "!=", "!": "~"}
_WORDS = {"null": "None", "true": "True", "false": "False", "Infinity": "1e999", "const": "", "function": "def "}


def _as_python(text: str) -> Text:
    """Return the function `cluster` as Python, whose blocks are as braces say, whatever the lines are indented."""
    depth = 0

    def say(found: re.Match[str]) -> str:
        nonlocal depth
        its, kind = found[0], found.lastgroup
        depth += (kind == "open") - (kind == "close")
        begin = "\n" + "  " * depth
        if kind == "text":
            return re.sub(r"\\u\{([0-9a-f]+)\}", lambda code: f"\\U{int(code[1], 16):08x}", its)
        if kind == "word":
            word = its.rstrip()
            is_name = keyword.iskeyword(word) and word not in ("if", "return", "for", "else", "while")
            return _WORDS.get(word, f"{word}_" if is_name else word) + its[len(word) :] * (word not in _WORDS)
        if kind == "sign":
            return _SIGNS.get(its, its)
        said = {"pattern": '""', "open": f"):{begin}", "close": begin, "end": begin, "result": "): return"}
        return said.get(str(kind), "")

    return translate(text, _PARTS, say, "JavaScript")


class _InPython(ast.NodeTransformer):
    """Says what JavaScript calls as our own Python does."""

    def __init__(self) -> None:
        self.ages: set[str] = set()
        self.truths: set[str] = set()

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Take note of the variables that are ages, and of those that are booleans."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=function))):
                for names, reads in ((self.ages, "sinceOf"), (self.truths, "truthOf")):
                    (names.add if function == reads else names.discard)(name)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        """Say how a column is read, and what a list includes."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.List(elts=values), attr="includes"), args=[ast.Name() as one]):
                return self.visit(_at(node, ast.Compare(one, [ast.In()], [_at(node, ast.Tuple(values, ast.Load()))])))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="Date"))):
                return _at(node, _moment(node, 0.0))
            case ast.Call(func=ast.Name(id="sinceOf"), args=[dated]):
                return _at(node, ast.Call(ast.Name("_since"), [self.visit(dated)], []))
            case ast.Call(func=ast.Name(id=name), args=[column, *more]) if name in _READS:
                form = more[1:]  # after whether its dates have a zone
                return _at(node, ast.Call(ast.Name(_READS[name]), [ast.Name("row"), column, *form], []))
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Say a date with a part of a millisecond."""
        match node:
            case ast.BinOp(left=ast.Call() as day, op=ast.Add(), right=ast.Constant(value=int() | float() as beyond)):
                return _at(node, _moment(day, beyond))
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Say a length of time beside an age, and booleans for 0 and 1."""
        match node:
            case ast.Compare(left=ast.Name(id=name), comparators=[length]) if name in self.ages:
                count = _count(length)
                if count is not None:
                    micro = ast.keyword("microseconds", count)
                    node.comparators = [_at(length, ast.Call(ast.Name("timedelta"), [], [micro]))]
            case ast.Compare(left=ast.Name(id=name)) if name in self.truths:
                for each in ast.walk(node):
                    if isinstance(each, ast.Constant) and each.value in (0, 1):
                        each.value = bool(each.value)
        return self.generic_visit(node)


def _at(place: ast.AST, node: Any) -> Any:
    """Return a node that stands where another one did."""
    return ast.copy_location(node, place)


def _count(node: ast.expr) -> ast.expr | None:
    """Return a number of microseconds, which may be written as days times those of one; None for anything else."""
    match node:
        case ast.Constant(value=int()):
            return node
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return ast.Constant(-number)
        case ast.BinOp(left=left, op=ast.Mult(), right=ast.Constant(value=int() as times)):
            match _count(left):
                case ast.Constant(value=int() as days):
                    return ast.Constant(days * times)
    return None


def _moment(node: ast.Call, beyond: float) -> ast.expr:
    """Return a call of datetime for a date in milliseconds; IN: beyond: more milliseconds."""
    match node:
        case ast.Call(func=ast.Attribute(attr="parse"), args=[ast.Constant(value=str(text))]):
            try:
                parts = [*datetime.fromisoformat(text).timetuple()[:6], 1000 * int(text[-4:-1])]
            except ValueError:
                return node
        case ast.Call(func=ast.Attribute(attr="UTC"), args=[*given]):
            numbers: list[Any] = [each.value for each in given if isinstance(each, ast.Constant)]
            if len(numbers) != len(given) or not all(isinstance(each, int) for each in numbers) or len(given) < 3:
                return node
            year, month, day, *time = numbers
            hour, minute, second, milli = [*time, 0, 0, 0, 0][:4]
            parts = [year, month + 1, day, hour, minute, second, 1000 * milli]
        case _:
            return node
    parts[-1] += round(1000 * beyond)
    return ast.Call(ast.Name("datetime"), [ast.Constant(part) for part in parts], [])
