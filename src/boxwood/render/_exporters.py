"""`EXPORTERS`: the table of all forms in which an explanation can be written.

To add one, write a function from an explanation to text in a file of its own, and a line here: `boxwood export --to`
reads this table.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from boxwood.explanation import Explanation

__all__ = ["EXPORTERS", "Exporter"]


class Exporter(NamedTuple):
    """A form of an explanation: a module of boxwood, imported when first used, and a function in it."""

    module: str
    function: str

    def write(self, explanation: Explanation) -> str:
        """Return the explanation in this form."""
        text: str = getattr(import_module(f"boxwood.{self.module}"), self.function)(explanation)
        return text


EXPORTERS = {
    "text": Exporter("render._text", "text"),
    "json": Exporter("explanation._model_file", "to_text"),
    "sql": Exporter("render._sql", "sql"),
    "sqlite": Exporter("render._sql", "sqlite"),
    "html": Exporter("render._page", "page"),
}
