"""A text as the parser of Python takes it, and the one that was given, of which errors tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from boxwood.errors import DataError
from boxwood.judge.read.refuse import place_at, refuse, refuse_deep, refuse_long
from boxwood.judge.values import Place


class Text(NamedTuple):
    """A text of Python.

    Parameters
    ----------
    plain : str
        What is parsed.
    given : str
        What it was made of, in another language.
    origins : sequence of int
        Where each letter of `plain`, and its end, stood in `given`.
    language : str, default="Python"
        The language of what was given.
    """

    plain: str
    given: str
    origins: Sequence[int]
    language: str = "Python"

    def parsed(self, mode: str) -> Any:
        """Return the tree of the text; IN: mode: "exec" for statements, "eval" for an expression."""
        refuse_long(self.given)
        refuse_deep(self.plain)
        try:
            return ast.parse(self.plain, mode=mode)
        except SyntaxError as error:
            before = (error.text or "")[: max(error.offset or 1, 1) - 1]
            place = self._place(error.lineno or 1, len(before.encode()))
            line = self.given.split("\n")[place.line - 1]
            came = line[max(place.column - 30, 0) :][:60].strip()
            return refuse(place, self.language, came or "the end", error.msg)
        except (ValueError, RecursionError, MemoryError):
            raise DataError(
                f"the text is no {self.language} that can be read: it is nested too deeply, or has the character 0"
            ) from None

    def place(self, node: ast.AST) -> Place:
        """Return where a node stands in what was given."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        return self._place(line, column) if line else Place()

    def written(self, node: ast.AST) -> str:
        """Return a node as it was given."""
        if getattr(node, "end_lineno", None) is None:
            return type(node).__name__
        begin, end = self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return self.given[self.origins[begin] : self.origins[end]]

    def _place(self, line: int, column: int) -> Place:
        return place_at(self.given, self.origins[min(self._offset(line, column), len(self.plain))])

    def _offset(self, line: int, column: int) -> int:
        """Return the offset of a letter; IN: column: counted in bytes, as `ast` does."""
        begin = [0, *(found.end() for found in re.finditer(r"\r\n?|\n", self.plain))][line - 1 :][:1]
        start = begin[0] if begin else len(self.plain)
        return start + len(self.plain[start : start + column].encode()[:column].decode(errors="ignore"))


def as_it_is(text: str) -> Text:
    """Return a text that is Python already."""
    return Text(text, text, range(len(text) + 1))


def translate(given: str, parts: re.Pattern[str], say: Callable[[re.Match[str]], str], language: str) -> Text:
    """Return a text as Python; IN: parts: what is said in other words; say: the words for one of them."""
    plain: list[str] = []
    origins: list[int] = []
    end = 0
    for found in parts.finditer(given):
        its = say(found)
        plain += [given[end : found.start()], its]
        origins += range(end, found.start())
        origins += range(found.start(), found.end()) if its == found[0] else [found.start()] * len(its)
        end = found.end()
    return Text("".join([*plain, given[end:]]), given, [*origins, *range(end, len(given) + 1)], language)
