"""The one place where text goes to the terminal: control characters in names and paths become visible there.

A note or an error that cannot be shown, because standard error is full or closed, is left out. The command goes on and
ends with the exit code of what it did: who needs to know whether it was done reads that, and not the notes.
"""

from __future__ import annotations

import os
import re
import sys

import click

__all__ = ["draw", "drop_unsaid", "is_terminal", "refuse_closed_output", "show", "tell", "visible"]

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
    draw(f"{visible(text)}\n")


def draw(text: str) -> None:
    """Put a text with its control characters on standard error, if it can be shown."""
    try:
        click.echo(text, err=True, nl=False)
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
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def show(text: str, *, is_code: bool = False) -> None:
    """Print a result. Code, such as SQL, is data: it is left as it is, unless it goes to a terminal."""
    refuse_closed_output()
    # with colours allowed, click takes no sequences of control characters out of the names in a text
    click.echo(text if is_code and not sys.stdout.isatty() else visible(text), color=True)


def refuse_closed_output() -> None:
    """Raise an OSError if results cannot be printed."""
    if sys.stdout is None:
        raise OSError("standard output is closed, so nothing can be printed")
