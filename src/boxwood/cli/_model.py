"""Read a saved model, with error messages for the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boxwood.explanation import Explanation

__all__ = ["load_model"]


def load_model(path: str) -> Explanation:
    """Return the model in a file.

    Raises
    ------
    DataError
        If there is no such file (the message offers the nearest name), or if it is no model or of a newer format.
    """
    from boxwood.errors import ModelError
    from boxwood.explanation import load
    from boxwood.table import refuse_absent

    refuse_absent(path)
    try:
        return load(path)
    except ModelError as error:
        raise ModelError(f"{error}\nmake one with: boxwood explain FILE -k N --save model.json") from None
