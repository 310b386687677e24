"""What an explanation measures when it is asked: each method hands over to the file that computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boxwood.errors import DataError

if TYPE_CHECKING:
    from boxwood.explanation._evidence import Evidence

__all__ = ["Measured"]


class Measured:
    """Measurements of an `Explanation` that take a pass over its rows."""

    _evidence: Evidence | None
    _kept: dict[str, Any]

    def _rows(self) -> Evidence:
        """Return the rows that the explanation was measured on.

        Raises
        ------
        DataError
            If it was read from a model file or a pickle, which hold no rows.
        """
        if self._evidence is None:
            raise DataError("a model that was saved holds no rows; pass the rows and their labels: X, labels")
        return self._evidence
