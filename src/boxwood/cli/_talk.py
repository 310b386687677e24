"""Code that all verbs use: options, notes on standard error, checks of output files, saved models."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar

import click

from boxwood._messages import Lost
from boxwood.cli._errors import DEBUG
from boxwood.cli._terminal import draw, is_terminal, tell, visible

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation
    from boxwood.table.options import ReadOptions

F = TypeVar("F", bound=Callable[..., Any])


def with_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options to a command, in their order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


FORMAT = click.option(
    "--format",
    type=click.Choice(["csv", "tsv", "parquet", "arrow", "jsonl", "sqlite", "duckdb", "xlsx"]),
    help="Format of FILE. The default is that of its extension, and CSV for standard input.",
)

_NO_HEADER = click.option(
    "--no-header", is_flag=True, help="CSV without a line of names: columns are called 'column 1', 'column 2', …"
)
_DECIMAL = click.option(
    "--decimal",
    type=click.Choice([".", ","]),
    help="Decimal separator in CSV. The default is a point, or a comma in columns where that is certain.",
)


def _check_encoding(ctx: click.Context, param: click.Parameter, name: str | None) -> str | None:
    if name is not None:
        from boxwood.table.csv import has_encoding

        if not has_encoding(name):
            raise click.BadParameter(
                f"'{name}' is not an encoding; name one that Python knows, such as cp1252 or utf-16"
            )
    return name


_ENCODING = click.option(
    "--encoding",
    metavar="NAME",
    callback=_check_encoding,
    help="Encoding of CSV, such as latin-1. The default is UTF-8, UTF-16 with a mark, or else cp1252, with a note.",
)
_TABLE = click.option(
    "--table",
    metavar="NAME",
    help="Table or view of a database, sheet of an Excel file. The default is the only table, or the first sheet.",
)


reading_options = with_options(FORMAT, _NO_HEADER, _DECIMAL, _ENCODING, _TABLE)
"""Options that say how FILE is read."""


def reading(options: dict[str, Any]) -> ReadOptions:
    """Return those options as the library takes them."""
    from boxwood.table.options import ReadOptions

    given = {name: options[name] for name in ("format", "decimal", "encoding", "table")}
    return ReadOptions(header=not options["no_header"], **given)


class Share(click.ParamType):  # type: ignore[type-arg]  # which only newer versions know
    """A share of rows, as a number from 0 to 1 or as a percentage."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the share that a text says."""
        number, percent, rest = str(value).partition("%")
        try:
            share = float(number) / (100 if percent else 1)
        except ValueError:
            share = math.nan
        if rest or not 0 <= share <= 1:
            self.fail(f"'{value}' is no share of rows; write 0.9 or 90%", param, ctx)
        return share


class Talk:
    """Prints notes for the person at the terminal, on standard error; results are printed elsewhere.

    Of notes on a table it prints the most urgent one, unless `all_notes` are wanted.
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
        from boxwood.words.notes import in_short

        return [f"{before}{note}" for note in notes] if self.all_notes else in_short(notes, "--notes", before)

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
                draw("\r\x1b[K")

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
            draw(f"\r\x1b[K{visible(line)}")

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


def _set_debug(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[DEBUG] = True


NOTES = click.option("--notes", is_flag=True, help="Print all notes.")

talk_options = with_options(
    click.option("-q", "--quiet", is_flag=True, help="No notes on standard error."),
    click.option(
        "--debug", is_flag=True, expose_value=False, callback=_set_debug, help="Show the traceback of an error."
    ),
)
"""`-q` and `--debug`."""


def check_writable(ctx: click.Context, param: click.Parameter, path: str | None) -> str | None:
    """Refuse an output file that cannot be written, before any input is read."""
    if path is None or path == "-":
        return path
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise click.BadParameter(f"'{path}': cannot write in {os.path.dirname(path) or '.'}")
    if os.path.exists(path) and not os.path.isfile(path):
        raise click.BadParameter(f"'{path}' is not a file; name another one")
    return path


def output_option(check: Callable[..., Any], help: str) -> Callable[[F], F]:
    """Return the option that names a file to write; IN: check: what refuses one before any input is read."""
    return click.option("-o", "--output", metavar="OUT", type=click.Path(), callback=check, help=help)


def refuse_overwriting(out: str | None, option: str = "'-o' / '--output'", **inputs: str) -> None:
    """Refuse an output file that is one of the inputs, under any name; inputs are given as what they are called.

    Raises
    ------
    click.BadParameter
        With the name of the option and what the file is.
    """
    for what, path in inputs.items():
        both = out is not None and "-" not in (out, path) and os.path.exists(out) and os.path.exists(path)
        if both and os.path.samefile(str(out), path):
            raise click.BadParameter(f"'{out}' is the {what} itself; name another file", param_hint=option)


def check_model(ctx: click.Context, param: click.Parameter, path: str | None) -> str | None:
    """Refuse a model file that cannot be written or has no .json extension, before any input is read."""
    if path is not None and not path.endswith(".json"):
        raise click.BadParameter(f"'{path}': a model is a .json file; name it MODEL.json")
    return check_writable(ctx, param, path)


def _size(n_bytes: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.0f} {unit}"
    return f"{n_bytes} bytes"


def load_model(path: str) -> Explanation:
    """Return the model in a file.

    Raises
    ------
    DataError
        If there is no such file (the message offers the nearest name), or if it is no model or of a newer format.
    """
    from boxwood.api.explanation import load
    from boxwood.errors import ModelError
    from boxwood.table import refuse_absent

    refuse_absent(path)
    try:
        return load(path)
    except ModelError as error:
        raise ModelError(f"{error}\nmake one with: boxwood explain FILE -k N --save model.json") from None
