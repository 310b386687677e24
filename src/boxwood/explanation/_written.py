"""The forms in which an explanation can be written: each method hands over to the writer of `render`."""

from __future__ import annotations

__all__ = ["Written"]


class Written:
    """Forms of an `Explanation` for people and for other programs."""

    def to_text(self) -> str:
        """Return what printing the explanation shows."""
        return str(self)
