"""Words for the two sides of each concept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from boxwood._validation import refuse_other_kind
from boxwood.concepts._concept_table import BINARY

__all__ = ["Meanings", "meanings_of"]

Meanings = Mapping[str, tuple[str, str]]


def meanings_of(names: Sequence[str], kinds: Sequence[str], meanings: Meanings | None) -> dict[str, tuple[str, str]]:
    """Return two words for each concept, (low, high): those that are given, or words made of its name.

    Raises
    ------
    TypeError
        If `meanings` is no mapping.
    ValueError
        If the words of a concept are not two.
    """
    given = {} if meanings is None else meanings
    refuse_other_kind("meanings", given, Mapping, "give the names of concepts two words each: {name: (low, high)}")
    for name, words in given.items():
        if isinstance(words, str) or len(words) != 2:
            raise ValueError(f"meanings must be two words for each concept, (low, high); got {words!r} for {name!r}")
    return {
        name: given.get(name, (f"not {name}", name) if kind == BINARY else (f"less {name}", f"more {name}"))
        for name, kind in zip(names, kinds, strict=True)
    }
