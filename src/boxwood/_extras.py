"""Optional packages: imported where they are needed, and asked for in one line where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["require"]


def require(module: str, extra: str, what: str) -> Any:
    """Return an optional package.

    IN: module, its name; extra, the extra of boxwood that installs it; what, what it is needed for, as the beginning of
    a sentence.

    Raises
    ------
    ImportError
        If the package is missing; the message says what needs it and how it is installed.
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(f'{what} needs {package}: pip install "boxwood[{extra}]"') from None
