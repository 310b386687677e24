"""What a reader of a page may copy: all rules as code, and the rule of one cluster in words and as code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from boxwood.errors import DataError
from boxwood.explanation.ages import to_run
from boxwood.render.forms.boxes import ClusterBoxes, boxes_by_cluster
from boxwood.render.forms.code import python_of_boxes
from boxwood.render.forms.exporters import EXPORTERS
from boxwood.render.forms.formula import formula_of_boxes
from boxwood.render.forms.sql import sql_of_boxes
from boxwood.words.rules import rules_in_words

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

FORMS = {
    "sql": "SQL",
    "python": "Python",
    "javascript": "JavaScript",
    "formula": "Spreadsheet formula for row 2 under a row of names",
}  # of EXPORTERS, as far as it has them
_OF_ONE: dict[str, Callable[[ClusterBoxes], str]] = {
    "python": python_of_boxes,
    "sql": sql_of_boxes,
    "formula": formula_of_boxes,
}
_LONGEST_CODE = 100_000  # characters of one form
_TOO_LONG = "(This form is too long for a page; Python and the command line write it.)"


def code_of_all(ex: MeasuredTree) -> list[dict[str, str]]:
    """Return all rules in each form of code; one that cannot be had says why, in brackets."""
    ex, forms = to_run(ex), []  # once for all forms
    for name, label in FORMS.items():
        if name in EXPORTERS:
            try:
                text = EXPORTERS[name].write(ex)
            except (DataError, ImportError, ValueError) as error:
                text = f"({error})"
            forms.append({"form": name, "name": label, "text": text if len(text) <= _LONGEST_CODE else _TOO_LONG})
    return forms


def code_by_form(ex: MeasuredTree) -> dict[str, str]:
    """Return the texts of these forms by their names."""
    return {form["form"]: form["text"] for form in code_of_all(ex)}


def beside_code(code: Mapping[str, str], of_page: Mapping[str, str]) -> dict[str, str | list[Any]]:
    """Return forms of code as the page's script has them: lines, and where the page's own has some, and how many.

    Browsers read other ends of lines as lines, so code that has some is told in full.
    """
    return {form: text if "\r" in (own := of_page.get(form, "")) else _beside(text, own) for form, text in code.items()}


def _beside(text: str, own: str) -> list[Any]:
    known, told, here = own.split("\n"), list[Any](), 0
    first = {line: i for i, line in reversed([*enumerate(known)])}
    for line in text.split("\n"):
        is_next = here < len(known) and known[here] == line
        if is_next and told and isinstance(told[-1], list):
            told[-1][1] += 1
        elif is_next or line in first:
            here = here if is_next else first[line]
            told.append([here, 1])
        else:
            told.append(line)
            continue
        here += 1
    return told


def copies_of_rules(ex: MeasuredTree) -> dict[str, list[str]]:
    """Return the rule of each cluster in words, and in each form of code; an empty text where a form cannot say it."""
    said = [rules_in_words(cluster.rules, whole=True) for cluster in ex._for_people().clusters]
    boxes = boxes_by_cluster(ex)
    return {"text": said} | {form: [_write(write, one) for one in boxes] for form, write in _OF_ONE.items()}


def _write(write: Callable[[ClusterBoxes], str], boxes: ClusterBoxes) -> str:
    try:
        return write(boxes) if boxes.boxes else ""
    except (DataError, ImportError, ValueError):
        return ""
