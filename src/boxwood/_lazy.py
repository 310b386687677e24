"""Packages whose names are imported when they are first used, so that `import boxwood` loads nothing heavy."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["attach"]

Get = Callable[[str], Any]


def attach(package: str, modules: Mapping[str, tuple[str, ...]]) -> tuple[Get, Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package.

    `modules` says which names each module has; a module without names is a name itself, and one with a dot is another
    package's.
    """
    places = {name: module for module, names in modules.items() for name in names or (module,)}

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(places[name] if "." in places[name] else f"{package}.{places[name]}")
        return module if places[name] == name else getattr(module, name)

    def names() -> list[str]:
        return sorted(places)

    return get, names
