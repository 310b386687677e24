"""`Together`: several summaries that are added up in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from boxwood.passes._batches import Block

__all__ = ["Together"]


class Together:
    """Several summaries of the same blocks.

    Parameters
    ----------
    makes : sequence of functions
        Each returns an empty summary.
    """

    def __init__(self, makes: Sequence[Callable[[], Any]]) -> None:
        self.parts = [make() for make in makes]

    def update(self, block: Block) -> None:
        """Add a block of rows to each summary."""
        for part in self.parts:
            part.update(block)

    def merge(self, other: Together) -> None:
        """Add the summaries of others."""
        for part, its in zip(self.parts, other.parts, strict=True):
            part.merge(its)
