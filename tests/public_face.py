"""The public face: names, their parameters with defaults, attributes of results, and options of the command.

`tests/public_face.txt` has it, a line for each. After a change that is meant, write it anew and read the difference::

    python -m tests.public_face
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from boxwood import cli
from boxwood.grow import METHODS
from boxwood.render import EXPORTERS

__all__ = ["STORED", "face"]

STORED = Path(__file__).with_name("public_face.txt")
MODULES = (
    "boxwood",
    *(f"boxwood.{name}" for name in ("axes", "concepts", "errors", "grow", "kernels", "metrics", "render", "table")),
    *(f"boxwood.{name}" for name in ("theory", "theory.bounds", "theory.instances")),
    "boxwood.explanation.records",  # what methods of an explanation return
)


def face() -> list[str]:
    """Return the lines of the public face, in the order of names; parameters keep theirs."""
    lines = [line for module in MODULES for line in _of_module(module)]
    lines += [line for verb in sorted(cli.VERBS) for line in _of_command(verb)]
    lines += [f"method {name}" for name in sorted(METHODS)]
    return lines + [f"form {name}" for name in sorted(EXPORTERS)]


def _of_module(name: str) -> Iterator[str]:
    module = import_module(name)
    for public in sorted(module.__all__):
        thing, full = getattr(module, public), f"{name}.{public}"
        yield full
        if inspect.isclass(thing):
            yield from _of_class(full, thing)
        elif callable(thing):
            yield from _parameters(full, thing)


def _of_class(full: str, cls: type) -> Iterator[str]:
    if not issubclass(cls, Exception):
        yield from _parameters(full, cls)
    for name, member in sorted(inspect.getmembers_static(cls)):
        if name.startswith("_") or name.endswith("_request") or not _is_ours(cls, name):
            continue
        yield f"{full}.{name}"
        inner = getattr(cls, name)
        if inspect.isroutine(inner) and not isinstance(member, property):
            yield from _parameters(f"{full}.{name}", inner)


def _is_ours(cls: type, name: str) -> bool:
    """Return whether boxwood defines an attribute; those of scikit-learn and of tuples may come and go."""
    home = next(base for base in cls.__mro__ if name in vars(base))
    return home.__module__.startswith("boxwood")


def _parameters(full: str, function: Any) -> Iterator[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    for place, each in enumerate(each for each in parameters if each.name not in ("self", "cls")):
        if each.name.startswith("_"):
            continue
        kind = {each.KEYWORD_ONLY: "*", each.VAR_POSITIONAL: "*…", each.VAR_KEYWORD: "**…"}.get(each.kind, str(place))
        default = "" if each.default is each.empty else f" = {_written(each.default)}"
        yield f"{full} ({kind}) {each.name}{default}"


def _written(value: Any) -> str:
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _of_command(verb: str) -> Iterator[str]:
    command = cli.boxwood.get_command(click.Context(cli.boxwood), verb)
    yield f"$ boxwood {verb}"
    for each in command.params:
        names = " ".join([*each.opts, *each.secondary_opts])
        taken = "|".join(each.type.choices) if isinstance(each.type, click.Choice) else each.type.name
        many = " …" if each.multiple or each.nargs != 1 else ""
        flag = isinstance(each, click.Option) and each.is_flag
        yield f"$ boxwood {verb} {names if isinstance(each, click.Option) else each.human_readable_name}" + (
            "" if flag else f" {taken}{many}{_default(each)}"
        )


def _default(option: click.Parameter) -> str:
    """Return the default of an option; versions of click differ in how they say that there is none."""
    value = option.default
    return f" = {_written(value)}" if isinstance(value, str | int | float) else ""


if __name__ == "__main__":
    STORED.write_text("\n".join(face()) + "\n", encoding="utf-8")
    print(f"{STORED}: look at what changed before you commit it")
