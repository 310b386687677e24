"""Imports that wait: names of a package until they are used (so that `import boxwood` is quick), optional packages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

Get = Callable[[str], Any]


def attach(package: str, modules: Mapping[str, tuple[str, ...]]) -> tuple[Get, Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose names are imported when they are first used.

    `modules` says which names each module has; a module without names is a name itself, and one with a dot is another
    package's.
    """
    places = {name: module for module, names in modules.items() for name in names or (module,)}

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(places[name] if "." in places[name] else f"{package}.{places[name]}")
        found = module if places[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, found)  # so that it is looked for once
        return found

    def names() -> list[str]:
        return sorted(places)

    return get, names


class MissingExtraError(ImportError):
    """An extra of boxwood is not installed; the message says what needs it."""


def require(module: str, extra: str, what: str) -> Any:
    """Return an optional package.

    IN: module, its name; extra, the extra of boxwood that installs it; what, what it is needed for, as the beginning of
    a sentence.

    Raises
    ------
    MissingExtraError
        If the package is missing; the message says what needs it and how it is installed.
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingExtraError(f'{what} needs {package}: pip install "boxwood[{extra}]"') from None
