"""All that the command says: results, notes and the line of a task that runs; control characters become visible here.

A note or an error that cannot be shown, because standard error is full or closed, is left out. The command goes on and
ends with the exit code of what it did: who needs to know whether it was done reads that, and not the notes.
"""

from __future__ import annotations

import math
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TextIO

import click

from boxwood._files import naming
from boxwood._messages import Lost

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
    write_to_terminal(f"{_paint(text) if _has_colours(sys.stderr) else text}\n")


def write_to_terminal(text: str) -> None:
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


def _paint(text: str) -> str:
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
        click.echo(text if is_code or not _has_colours(sys.stdout) else _paint(text), color=True)


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


class Talk:
    """Prints notes for the person at the terminal, on standard error; results are printed elsewhere.

    Of notes on a table it prints the gravest one, unless `all_notes` are wanted.
    """

    def __init__(self, quiet: bool, *, all_notes: bool = False) -> None:
        self.quiet, self.all_notes = quiet, all_notes
        self.kept: list[str] = []  # notes on a table until it is read
        self._alive = not quiet and is_terminal()

    def note(self, text: str, *, must_be_said: bool = False) -> None:
        """Print a line, unless quiet."""
        if not self.quiet or must_be_said:
            tell(f"boxwood: {text}".replace("\n", "\\n"))

    def notes(self, notes: Iterable[str]) -> None:
        """Print notes on a table where the text of a result does not have them; what was lost is said in any case."""
        given = list(notes)
        for lost in (note for note in given if isinstance(note, Lost)):
            self.note(lost, must_be_said=True)
        for line in self.in_short([note for note in given if not isinstance(note, Lost)], before=""):
            self.note(line)

    def in_short(self, notes: Sequence[str], before: str = "Note: ") -> list[str]:
        """Return the lines that are printed of notes."""
        from boxwood.words.notes import in_order, in_short

        return [f"{before}{note}" for note in in_order(notes)] if self.all_notes else in_short(notes, "--notes", before)

    def wrote(self, path: str) -> None:
        """Print the name and size of a file that was written."""
        self.note(f"wrote {path} ({_size(os.path.getsize(path))})")

    @contextmanager
    def status(self, doing: str, *, foretold: bool = False) -> Iterator[Status]:
        """Show a task on the terminal while it runs, then erase it; yields what is told how far it is.

        IN: foretold: whether shares are those of the whole task, so that they tell when it ends.
        """
        status, ended = Status(doing, self._alive, foretold=foretold), Event()
        status.draw()
        clock = Thread(target=status.tick, args=(ended,), daemon=True)
        if self._alive:
            clock.start()
        try:
            yield status
        finally:
            ended.set()
            if self._alive:
                clock.join()
                write_to_terminal("\r\x1b[K")

    @contextmanager
    def growing(self, doing: str) -> Iterator[Status]:
        """Show a task that may compile loops, and say so: it is done once on a machine."""
        with self.status(doing) as status:
            if not self._alive:
                yield status
                return
            from boxwood.loops.jit import watched_compiling

            with watched_compiling(status.compiling):
                yield status


class Status:
    """The line of a task on the terminal: what is done, which share of it, on how many rows, and for how long.

    It is called with the share that is done, from 0 to 1, and the number of rows where that is known. A share below the
    one before is that of a new pass, and the line says so: under one name no share falls. How long the task still takes
    is said only where the shares are `foretold` to be those of all of it.
    """

    def __init__(self, doing: str, alive: bool, *, foretold: bool = False) -> None:
        self.doing, self._alive, self._foretold = doing, alive, foretold
        self.share, self.rows, self.passes, self._drawn = 0.0, 0, 1, ""
        self._began = time.monotonic()
        self._first, self._compiled = (0.0, 0.0), -math.inf  # the first share told, and when; when a loop was compiled

    def __call__(self, share: float, rows: int = 0) -> None:
        if not self.share:  # what came before the first step took its own time
            self._first = share, time.monotonic() - self._began
        self.passes += share < self.share
        self.share, self.rows = share, rows or self.rows
        self.draw()

    def begin(self, doing: str, passes: int = 1) -> None:
        """Show another part of the task, or a pass of it, from here on."""
        self.doing, self.share, self.rows, self.passes = doing, 0.0, 0, passes

    def step(self, what: str, done: int, total: int) -> None:
        """Take the progress of a call of the library: `done` of `total` steps, which take unequal time."""
        self.begin(f"{what}: {done:,} of {total:,}" if total > 1 else what)
        self.draw()

    def compiling(self) -> None:
        """Say that machine code is made, which the next call finds on disk."""
        self._compiled = time.monotonic() - self._began
        self.draw()

    def tick(self, ended: Event) -> None:
        """Draw the line each second until the task has ended, so that one that tells nothing is seen to go on."""
        while not ended.wait(1.0):
            self.draw()

    def draw(self) -> None:
        """Draw the line anew, if it changed."""
        line = self.line(time.monotonic() - self._began)
        if self._alive and line != self._drawn:
            self._drawn = line
            write_to_terminal(f"\r\x1b[K{visible(line)}")

    def line(self, seconds: float) -> str:
        """Return the line after some seconds: with the time left once enough is done to estimate it, else these."""
        number = f", pass {self.passes}" if self.passes > 1 else ""
        done = f"{':' if number else ''} {self.share:.0%}" if self.share > 0 else ""
        rows = f"{' of' if done or number else ''} {self.rows:,} rows" if self.rows else ""
        gone, since = self.share - self._first[0], seconds - self._first[1]
        is_sure = self._foretold and self.passes == 1 and gone >= SURE and since >= 1
        left = since * (1 - self.share) / gone if is_sure else 0.0
        taken = f", {_duration(left)} left" if left >= 1 else f", {_duration(seconds)} so far" if seconds >= 1 else ""
        note = ", compiling, once" if seconds - self._compiled < COMPILING else ""
        return f"{self.doing}{number}{done}{rows}{taken}{note} …"


SURE = 1 / 3  # share done after the first that is told, before time left is estimated
COMPILING = 10  # seconds that machine code of a loop takes at most, about


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)  # with seconds, so that the line is seen to change
    return f"{seconds:.0f} s" if seconds < 100 else f"{minutes} min {rest} s"


def _size(n_bytes: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.0f} {unit}"
    return f"{n_bytes} bytes"
