"""`ExplanationDisplay`: the pictures in the form of scikit-learn's displays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from boxwood._validation import refuse_unknown
from boxwood.render._canvas import figure_of
from boxwood.render._rules import explanation_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from boxwood.explanation import Explanation

__all__ = ["ExplanationDisplay"]

Kind = Literal["tree", "boxes", "profile", "frontier", "stability"]


class ExplanationDisplay:
    """A picture of an explanation, as a display of scikit-learn: it keeps its figure, and can be drawn again.

    Make one by `from_estimator` or `from_explanation`. The methods `plot`, `plot_boxes` and so on of `Explanation` draw
    the same and return the Axes alone.

    Parameters
    ----------
    explanation : Explanation
    kind : {"tree", "boxes", "profile", "frontier", "stability"}, default="tree"
        What to draw: see `Explanation.plot`, and `plot_` with the kind behind it.

    Attributes
    ----------
    ax_ : Axes
        Where it was drawn last.
    figure_ : Figure
        The figure of `ax_`.

    Examples
    --------
    >>> from boxwood import IMM
    >>> from matplotlib.figure import Figure
    >>> model = IMM().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
    >>> display = ExplanationDisplay.from_estimator(model, ax=Figure().subplots())
    >>> len(display.ax_.texts) > 0
    True
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, explanation: Explanation, *, kind: Kind = "tree") -> None:
        refuse_unknown("kind", kind, get_args(Kind))
        self.explanation = explanation_of(explanation)
        self.kind = kind

    @classmethod
    def from_estimator(cls, estimator: Any, *, kind: Kind = "tree", ax: Axes | None = None) -> Self:
        """Draw the explanation of a fitted explainer; `ax` as in `plot`.

        Raises
        ------
        TypeError
            If it is no explainer of boxwood.
        """
        return cls(explanation_of(estimator), kind=kind).plot(ax)

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, kind: Kind = "tree", ax: Axes | None = None) -> Self:
        """Draw an explanation; `ax` as in `plot`."""
        return cls(explanation, kind=kind).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, into a new figure or into an Axes, and return the display."""
        draw = getattr(self.explanation, "plot" if self.kind == "tree" else f"plot_{self.kind}")
        self.ax_ = draw(ax=ax)
        self.figure_ = figure_of(self.ax_)
        return self
