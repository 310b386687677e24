"""`PARTS`: the table of what the soak tries.

A part is a module of this folder with a function `attempt(seed, folder)`. It makes one case from the seed alone, tries
it, and returns its kind, for the counts. It raises `Wrong` (or anything else) if the library does not do what it
promises. Whatever it writes goes into `folder`, which is empty and its own. It may have `notes()`, the lines to print
beside its counts. To add a part: write its file, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

__all__ = ["PARTS", "PATIENT", "Part", "Wrong"]

GIGABYTE = 1 << 30
PATIENT = 600.0  # seconds for a case that runs whole commands, of which a busy machine may take a minute for each


class Wrong(AssertionError):
    """The library broke a promise; `key` is equal for failures that likely have one reason."""

    def __init__(self, text: str, key: str | None = None) -> None:
        super().__init__(text)
        self.key = text if key is None else key


class Part(NamedTuple):
    """A part of the soak: its module, what it tries, and what one case may take."""

    name: str
    what: str
    seconds: float = 60.0
    memory: int | None = None  # bytes of address space of the process that tries the cases

    @property
    def attempt(self) -> Callable[[int, Path], str]:
        """The function that tries the case of a seed."""
        function: Callable[[int, Path], str] = import_module(f"tests.soak.{self.name}").attempt
        return function

    @property
    def notes(self) -> list[str]:
        """Lines to print beside the counts."""
        notes = getattr(import_module(f"tests.soak.{self.name}"), "notes", list)
        return list(notes())


PARTS = {
    part.name: part
    for part in (
        Part("tables", "generated tables through every method, against naive twins and invariants"),
        Part("parameters", "odd values for every parameter of every public function", 30.0, 8 * GIGABYTE),
        Part("guarantees", "bounds of mixtures against exact errors and prices, by hill climbing"),
        Part("models", "damaged model files: refused, or everything works"),
        Part("names", "hostile names of columns, clusters and files through every format"),
        Part("signals", "signals at random moments of every command that writes", PATIENT),
        Part("machine", "full disks, closed streams, little memory", PATIENT),
    )
}
