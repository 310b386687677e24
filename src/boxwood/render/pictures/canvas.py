"""The base of all pictures by matplotlib, and `ExplanationDisplay`: pictures in the form of scikit-learn's displays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from boxwood._imports import require
from boxwood._messages import printable, show_value
from boxwood._validation import refuse_unknown
from boxwood.explanation.measured_tree import explanation_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from boxwood.explanation.measured_tree import MeasuredTree

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Options of a text: a dollar sign in a name begins no formula."""
_LACKING = "□"  # drawn for a character that the fonts lack, as matplotlib does, but without its warning


def axes_or_new(ax: Axes | None, width: float, height: float, *, fixed: bool = False) -> Axes:
    """Return the Axes to draw into; without one, that of a new figure of this size in inches.

    With `fixed` a new Axes fills its figure.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    TypeError
        If `ax` is no Axes.
    """
    pyplot = require("matplotlib.pyplot", "plot", "A picture")
    if ax is None:
        figure, new = pyplot.subplots(figsize=(width, height), layout=None if fixed else "constrained")
        if fixed:
            figure.subplots_adjust(0.0, 0.0, 1.0, 1.0)
        return new  # type: ignore[no-any-return]
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be an Axes of matplotlib, or None for a new figure; got {show_value(ax)}")
    return ax


def points_per_unit(ax: Axes, width: float, height: float) -> float:
    """Return the points of one unit where a picture of this size, in units, fits into the Axes."""
    place, (wide, high) = ax.get_position(), figure_of(ax).get_size_inches()
    return float(72.0 * min(place.width * wide / width, place.height * high / height))


def figure_of(ax: Axes) -> Figure:
    """Return the whole figure, also where the Axes is in a part of it."""
    figure: Any = ax.figure
    return figure.figure  # type: ignore[no-any-return]


class FigureColours:
    """Colours of the user's style: the figure's face, the ink of texts, and shades between them."""

    def __init__(self, ax: Axes) -> None:
        from matplotlib import rcParams
        from matplotlib.colors import to_hex, to_rgba

        face = to_rgba(figure_of(ax).get_facecolor())
        self.face = to_hex(face) if face[3] > 0 else "#ffffff"
        self.ink = to_hex(rcParams["text.color"])
        self.muted: str = mix_colours(self.ink, self.face, 0.62)
        self.line: str = mix_colours(self.ink, self.face, 0.25)


def mix_colours(colour: str, other: str, share: float) -> str:
    """Return a share of one colour mixed with another.

    Examples
    --------
    >>> mix_colours("#000000", "#ffffff", 0.2)
    '#cccccc'
    """
    pairs = ((int(colour[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def drawable(text: str) -> str:
    """Return a text on one line, with a sign for each character that the user's fonts lack.

    Matplotlib would draw such a sign, too, and warn for each character whenever the picture is drawn.
    """
    text = printable(text)
    if text.isascii():
        return text
    fonts = _fonts()
    lacking = _LACKING if _has(fonts, _LACKING) else "?"
    return "".join(c if c.isascii() or _has(fonts, c) else lacking for c in text)


def _has(fonts: list[Any], character: str) -> bool:
    return any(font.get_char_index(ord(character)) for font in fonts)


def _fonts() -> list[Any]:
    """Return the fonts by which matplotlib draws texts of the user's style, in the order in which it asks them."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, findfont, get_font

    families = rcParams["font.family"]
    names = [families] if isinstance(families, str) else families
    return [get_font(findfont(FontProperties(family=[name]))) for name in names]


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

    def __init__(self, explanation: MeasuredTree, *, kind: Kind = "tree") -> None:
        refuse_unknown("kind", kind, get_args(Kind))
        self.explanation: MeasuredTree = explanation_of(explanation)
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
    def from_explanation(cls, explanation: MeasuredTree, *, kind: Kind = "tree", ax: Axes | None = None) -> Self:
        """Draw an explanation; `ax` as in `plot`."""
        return cls(explanation, kind=kind).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, into a new figure or into an Axes, and return the display."""
        draw = getattr(self.explanation, "plot" if self.kind == "tree" else f"plot_{self.kind}")
        self.ax_ = draw(ax=ax)
        self.figure_ = figure_of(self.ax_)
        return self
