"""The one place where text goes to the terminal: control characters in names and paths become visible there.

A note or an error that cannot be shown, because standard error is full or closed, is left out. The command goes on and
ends with the exit code of what it did: who needs to know whether it was done reads that, and not the notes.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

import click

from boxwood._files import naming

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and newline, which have their uses in a text


def visible(text: str) -> str:
    """Return a text with escapes for control characters, which could ring, colour or rewrite a terminal.

    Examples
    --------
    >>> visible("a\\x1b[31m and\\x07\\nb")
    'a\\\\x1b[31m and\\\\x07\\nb'
    """
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def tell(text: str) -> None:
    """Print a note or an error on standard error, if it can be shown."""
    text = visible(text)
    draw(f"{_painted(text) if _has_colours(sys.stderr) else text}\n")


def draw(text: str) -> None:
    """Put a text with its control characters on standard error, if it can be shown."""
    try:
        click.echo(text, err=True, nl=False, color=True)
    except OSError:
        drop_unsaid()


def drop_unsaid() -> None:
    """Drop what standard error cannot take; Python would try once more as it ends, and exit with a code of its own."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def is_terminal() -> bool:
    """Return whether notes are seen on a terminal that can erase a line."""
    return _is_lively(sys.stderr)


def _is_lively(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def _has_colours(stream: TextIO | None) -> bool:
    """Return whether colours may be used: on a terminal that has them, unless NO_COLOR is set (no-color.org)."""
    return _is_lively(stream) and not os.environ.get("NO_COLOR")


_PAINTS = (
    (re.compile(r"^boxwood: error:"), {"fg": "red", "bold": True}),
    (re.compile(r"^(?:Note|Warning):"), {"fg": "yellow"}),
    (re.compile(r"^ +size +share .*"), {"dim": True}),
    (re.compile(r"^(?:\|   )*\|---|^(?:\|   )+"), {"dim": True}),
    (re.compile(r"^\d[\d,]* clusters? of .*"), {"bold": True}),
)
"""Beginnings of lines and how they are painted. Colours say nothing that the words do not."""


def _painted(text: str) -> str:
    return "\n".join(map(_painted_line, text.split("\n")))


def _painted_line(line: str) -> str:
    for beginning, style in _PAINTS:
        found = beginning.match(line)
        if found:
            return click.style(found[0], **style) + line[found.end() :]
    return line


def escape_unknown() -> None:
    """Have characters that standard output cannot write, such as those of names in cp1252, printed as escapes."""
    if getattr(sys.stdout, "errors", None) == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def show(text: str, *, is_code: bool = False) -> None:
    """Print a result. Code, such as SQL, is data: it is left as it is, unless it goes to a terminal.

    Raises
    ------
    DataError
        If code has characters that standard output cannot write: with escapes in it, it would be other code.
    """
    refuse_closed_output()
    if is_code:
        _refuse_unknown(text)
    text = text if is_code and not sys.stdout.isatty() else visible(text)
    # with colours allowed, click takes no sequences of control characters out of the names in a text
    with naming("standard output"):
        click.echo(text if is_code or not _has_colours(sys.stdout) else _painted(text), color=True)


def _refuse_unknown(text: str) -> None:
    try:
        text.encode(sys.stdout.encoding or "utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        from boxwood.errors import DataError

        unknown = ascii(text[error.start])
        remedy = "write to a file, or set the environment variable PYTHONUTF8=1"
        raise DataError(f"standard output is {sys.stdout.encoding}, which has no {unknown}\n{remedy}") from None


def refuse_closed_output() -> None:
    """Raise an OSError if results cannot be printed."""
    if sys.stdout is None:
        raise OSError("standard output is closed, so nothing can be printed")
