"""`EXPORTERS`: the table of all forms in which an explanation can be written.

To add one, write a function from an explanation to text (or bytes) in a file of its own, a line here, and a method of
`Explanation` that hands over to it. `boxwood export --to`, its help and the tests read this table.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree


STYLES = ("full", "list", "sentences")
"""Styles of text: all that is known, the rules alone as a list to say aloud, and a sentence for each cluster."""


class Exporter(NamedTuple):
    """A form of an explanation.

    Parameters
    ----------
    module, function : str
        A module of boxwood, imported when first used, and the function in it.
    method : str
        Method of `Explanation` that returns the form.
    what : str
        What it is, in a few words.
    kind : {"text", "code", "bytes", "folder", "object"}
        "text" is for people; "code" and "bytes" are data, and bytes are never printed on a terminal. A "folder" is
        texts by the names of their files. An "object" lives in Python alone, so the command line has no such form.
    options : tuple of str
        Parameters of the function that the command line has as options.
    """

    module: str
    function: str
    method: str
    what: str
    kind: str = "code"
    options: tuple[str, ...] = ()

    def write(self, explanation: MeasuredTree, **options: Any) -> Any:
        """Return the explanation in this form."""
        return getattr(import_module(f"boxwood.{self.module}"), self.function)(explanation, **options)


EXPORTERS = {
    "text": Exporter("render.forms.text", "full_text", "to_text", "the summary and the tree", "text", ("style",)),
    "markdown": Exporter("render.forms.text", "markdown", "to_markdown", "the summary as Markdown"),
    "csv": Exporter("render.forms.text", "rule_table", "to_csv", "a table with a line for each leaf"),
    "json": Exporter("explanation.model_file", "to_text", "to_json", "the model file"),
    "sql": Exporter(
        *("render.forms.sql", "sql", "to_sql", "a CASE expression, or a query with --table", "code"),
        ("dialect", "table", "layout", "nan", "types", "reasons", "share", "as_of"),
    ),
    "dbt": Exporter(
        *("render.forms.dbt", "dbt", "to_dbt", "a folder with a model of dbt and its tests, for --table", "folder"),
        ("dialect", "table", "nan", "types", "reasons", "as_of"),
    ),
    "python": Exporter(
        *("render.forms.code", "python", "to_python", "a function of Python that needs no package", "code"),
        ("share", "as_of"),
    ),
    "javascript": Exporter(
        "render.forms.code", "javascript", "to_javascript", "a function of JavaScript", "code", ("module", "as_of")
    ),
    "formula": Exporter(
        "render.forms.formula",
        "formula",
        "to_formula",
        "a formula for row 2 of a spreadsheet",
        "code",
        ("columns", "let", "separator", "as_of"),
    ),
    "onnx": Exporter("render.forms.onnx", "onnx", "to_onnx", "an ONNX model for float32 rows", "bytes"),
    "pmml": Exporter("render.forms.pmml", "pmml", "to_pmml", "a PMML model, for scoring engines"),
    "sklearn": Exporter("render.forms.sklearn", "sklearn", "to_sklearn", "a DecisionTreeClassifier", "object"),
    "html": Exporter(
        "render.page.page", "page", "to_html", "the report, a page for a browser", "code", ("title", "min_count")
    ),
}
