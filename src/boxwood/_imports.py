"""Imports that wait: names of a package until they are used (so that `import boxwood` is quick), optional packages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

Get = Callable[[str], Any]

EXTRAS = {
    "arrow": ("pyarrow",),
    "dask": ("dask[dataframe]", "distributed", "pyarrow", "cloudpickle"),
    "excel": ("openpyxl",),
    "notebook": ("anywidget", "jinja2"),
    "onnx": ("onnx",),
    "page": ("jinja2",),
    "pandas": ("pandas",),
    "plot": ("matplotlib",),
    "polars": ("polars",),
    "spark": ("pyspark", "pyarrow", "pandas", "cloudpickle"),
    "sql": ("sqlglot",),
    "torch": ("torch", "tqdm"),
}
"""The optional packages by extra, as pip installs them; pyproject.toml says from which version on."""


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
    """An optional package is not installed; the message says what needs it, and names the command that installs it."""


def require(module: str, extra: str, what: str) -> Any:
    """Return an optional package.

    IN: module, its name; extra, the key of `EXTRAS` that has it; what, what it is needed for, as the beginning of a
    sentence.

    Raises
    ------
    MissingExtraError
        If the package is missing; the message names all of the extra that is missing.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(needs(what, missing_of(extra, module.partition(".")[0]))) from None


def missing_of(extra: str, broken: str = "") -> list[str]:
    """Return what pip must install of an extra: what is not there, and the package that is there but lacks a part."""
    names = {each: each.partition("[")[0] for each in EXTRAS[extra]}
    return [each for each, name in names.items() if name == broken or not _is_there(name)]


def needs(what: str, packages: Collection[str]) -> str:
    """Return the sentence that says which packages are missing for what, and the command that installs them.

    It names packages, not extras, as long as no index has boxwood.
    """
    command = " ".join(f'"{each}"' if "[" in each else each for each in packages)
    return f"{what} needs {' and '.join(each.partition('[')[0] for each in packages)}: pip install {command}"


def _is_there(name: str) -> bool:
    return sys.modules.get(name) is not None or find_spec(name) is not None
