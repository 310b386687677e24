"""`swatches_of`: how each cluster is drawn, in ten colours that colour-blind readers tell apart.

Patterns tell colours that are near to each other in grey. The number of a cluster stands beside its colour wherever
there is room, so that no colour carries a meaning alone.

References
----------
M. A. Petroff, "Accessible color sequences for data visualization", 2021, arXiv:2107.02270: the ten colours, here with
the two greys last.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from boxwood.words.values import cluster_name

COLOURS = ("#3f90da", "#bd1f01", "#ffa90e", "#92dadd", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#94a4a2")
HATCHES = ("", "///", "", "...", "", "xxx", "\\\\\\", "", "", "///")
"""Patterns in the signs of matplotlib: colours that are near to each other in grey differ in their pattern."""
PATTERNS = (None, 45, -45)
"""Degrees of the stripes that the page puts on the first, second and third round of the colours."""
UNKNOWN = "#c8c8c8"
"""Rows of other clusters, where it is not known of which."""


class Swatch(NamedTuple):
    """How a cluster is drawn: its number (`mark`), its name in full, its colours, and its pattern for print in grey.

    `ink` is the colour of text on `colour`, `outline` a darker shade of it, `hatch` a pattern in matplotlib's signs.
    """

    cluster: int
    mark: str
    name: str
    colour: str
    ink: str
    outline: str
    hatch: str


def swatches_of(names: tuple[Hashable, ...]) -> tuple[Swatch, ...]:
    """Return how each cluster is drawn. Its mark is its name if all names are short whole numbers, else its number."""
    plain = all(isinstance(name, int) and not isinstance(name, bool) and len(str(name)) <= 3 for name in names)
    return tuple(
        Swatch(
            i, str(name if plain else i), cluster_name(name), colour, ink_on(colour), outline_of(colour), hatch_of(i)
        )
        for i, (name, colour) in enumerate(zip(names, map(colour_of, range(len(names))), strict=True))
    )


def colour_of(cluster: int) -> str:
    """Return the colour of a cluster; the eleventh cluster has that of the first, and -1 is grey."""
    return COLOURS[cluster % len(COLOURS)] if cluster >= 0 else UNKNOWN


def class_of(cluster: int) -> str:
    """Return the name of the class of the page's style that has the colour and the stripes of a cluster."""
    return f"c{cluster % (len(COLOURS) * len(PATTERNS))}" if cluster >= 0 else "cx"


def hatch_of(cluster: int) -> str:
    """Return the pattern of a cluster. The second round of colours has the patterns the other way round."""
    if cluster < 0:
        return ""
    turn, place = divmod(cluster, len(HATCHES))
    return HATCHES[place] if turn % 2 == 0 else ("" if HATCHES[place] else "|||")


def ink_on(colour: str) -> str:
    """Return black or white, whichever contrasts more with a colour.

    Examples
    --------
    >>> ink_on("#ffa90e"), ink_on("#832db6")
    ('#000000', '#ffffff')
    """
    light = _luminance(colour)
    return "#000000" if (light + 0.05) ** 2 >= 1.05 * 0.05 else "#ffffff"


def outline_of(colour: str) -> str:
    """Return a darker shade of a colour, for outlines: pale colours on white need one."""
    return "#" + "".join(f"{round(int(colour[i : i + 2], 16) * 0.55):02x}" for i in (1, 3, 5))


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour as WCAG 2 defines it, from 0 to 1."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
