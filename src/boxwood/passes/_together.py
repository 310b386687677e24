"""`Together`: several summaries of one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from boxwood.passes._batches import Block

__all__ = ["Together"]


class Together:
    """Summaries that are filled by the same pass, each made by a function of its own."""

    def __init__(self, makers: Sequence[Callable[[], Any]]) -> None:
        self.parts = [make() for make in makers]

    def update(self, block: Block) -> None:
        """Add a block of rows to each."""
        for part in self.parts:
            part.update(block)

    def merge(self, other: Together) -> None:
        """Add the others, one to one."""
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            mine.merge(theirs)
