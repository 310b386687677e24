"""`swatches_of`: how each cluster is drawn, in pictures and on pages: its mark, its colours and its pattern."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from boxwood.render.pictures.colours import colour_of, hatch_of, ink_on, outline_of
from boxwood.words.values import cluster_name


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
