"""Explanations and trees as text, code and pictures. Nothing is computed from data. `EXPORTERS` lists the forms.

A module is imported when the first of its names is used, so listing the forms imports none of them.
"""

from typing import TYPE_CHECKING

from boxwood._imports import attach

if TYPE_CHECKING:
    from boxwood.render.forms.exporters import EXPORTERS as EXPORTERS
    from boxwood.render.forms.labels import write_labels as write_labels
    from boxwood.render.forms.sql import sql as sql
    from boxwood.render.forms.text import text as text
    from boxwood.render.notebook.editor import Editor as Editor
    from boxwood.render.pictures.canvas import ExplanationDisplay as ExplanationDisplay

_MODULES: dict[str, tuple[str, ...]] = {
    "boxwood.render.forms.exporters": ("EXPORTERS",),
    "boxwood.render.forms.labels": ("write_labels",),
    "boxwood.render.forms.sql": ("sql",),
    "boxwood.render.forms.text": ("text",),
    "boxwood.render.notebook.editor": ("Editor",),
    "boxwood.render.pictures.canvas": ("ExplanationDisplay",),
}

_get, __dir__ = attach(__name__, _MODULES)
if not TYPE_CHECKING:  # checkers of types know the names above, and no others
    __getattr__ = _get
__all__ = __dir__()
