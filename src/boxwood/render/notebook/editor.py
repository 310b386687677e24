"""`Editor`: the widget of Jupyter and VS Code in which a tree is changed by hand."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Generic

from boxwood._imports import require
from boxwood.explanation.measured_tree import MeasuredTree, Tree
from boxwood.render.notebook.editing import Editing

if TYPE_CHECKING:
    from collections.abc import Mapping


class Editor(Generic[Tree]):
    """The tree of an explanation in a notebook, to be changed by hand; `Explanation.edit` makes it.

    Drag a threshold, or choose a cut or a leaf to ask something else, to split, to drop or to merge. Agreement, price
    and the rows that move stand beside it. The arrow keys move a threshold to the next value, Enter makes the change,
    and Escape leaves it.

    The notebook's file keeps the drawing, which is one of the page: without rows, and without values of few rows.

    Parameters
    ----------
    explanation : Explanation
        Where changes begin. It knows its rows.

    Attributes
    ----------
    widget : anywidget.AnyWidget
        What the notebook shows, to put it into boxes of ipywidgets or into marimo.

    Raises
    ------
    ImportError
        If anywidget is missing.
    """

    def __init__(self, explanation: Tree) -> None:
        if not isinstance(explanation, MeasuredTree):
            raise TypeError(f"explanation must be what boxwood.explain returns, got {type(explanation).__name__}")
        self._editing = Editing(explanation)
        self.widget = _widget_class()(view=self._editing.view())
        self.widget.on_msg(self._answer)

    @property
    def explanation(self) -> Tree:
        """The explanation as it was when "take" was last pressed; the first one before that.

        The lines of Python that make it again are its `changes`.
        """
        return self._editing.taken

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.widget._repr_mimebundle_(**kwargs)

    def _answer(self, widget: Any, message: Mapping[str, Any], buffers: Any) -> None:
        """Answer a message of the front end, which waits for one in any case."""
        answer: dict[str, Any] = {"wrong": "that went wrong; the log of the notebook says more"}
        now, taken = self._editing.explanation, self._editing.taken
        try:
            answer = self._editing.answer(message)
            if self._editing.explanation is not now or self._editing.taken is not taken:
                widget.view = self._editing.view()
        finally:
            widget.send(answer | {"id": message.get("id")})


@cache
def _widget_class() -> Any:
    anywidget = require("anywidget", "notebook", "edit()")
    from traitlets import Dict  # comes with it

    script = files(__package__).joinpath("editor.js").read_text(encoding="utf-8")

    class TreeEditor(anywidget.AnyWidget):  # type: ignore[misc, name-defined]
        """The front end's half: what is drawn."""

        _esm = script
        view = Dict().tag(sync=True)

    return TreeEditor
