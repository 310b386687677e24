"""Explanations and trees as text, code and pictures. Nothing is computed from data. `EXPORTERS` lists the forms.

A module is imported when the first of its names is used, so listing the forms imports none of them.
"""

from typing import TYPE_CHECKING

from boxwood._lazy import attach

if TYPE_CHECKING:
    from boxwood.render._display import ExplanationDisplay as ExplanationDisplay
    from boxwood.render._exporters import EXPORTERS as EXPORTERS
    from boxwood.render._labels import write_labels as write_labels
    from boxwood.render._rules import rules as rules
    from boxwood.render._sql import sql as sql
    from boxwood.render._text import text as text

_MODULES: dict[str, tuple[str, ...]] = {
    "_display": ("ExplanationDisplay",),
    "_exporters": ("EXPORTERS",),
    "_labels": ("write_labels",),
    "_rules": ("rules",),
    "_sql": ("sql",),
    "_text": ("text",),
}

__getattr__, __dir__ = attach(__name__, _MODULES)
__all__ = __dir__()
