"""Warnings that name the caller's line, however deep in boxwood they arise."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_caller"]

_INNER = ("boxwood", "sklearn", "contextlib")  # packages on the way from the caller to a warning


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line on the stack that belongs to neither boxwood nor scikit-learn's wrappers."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INNER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
