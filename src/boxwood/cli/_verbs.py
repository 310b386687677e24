"""The command `boxwood`: one module for each verb, imported when it is called, and the errors that all of them print.

To add a verb: write `cli/_verb.py` with a click command of class `Verb`, called `command`, and name it in `VERBS`.
Results and their notes go to standard output, other notes to standard error. Errors are raised as in the library, and
printed here, with these exit codes:

==== ====================================================================
0    done
1    a bug: one line; `--debug` shows where
2    usage: an unknown option, value, column or extension; an output that cannot be written
3    the data cannot be used as asked
4    done, but past `--max-price`, `--fail-under`, `--fail-over-empty` or `--fail-on`
130  interrupted
==== ====================================================================

The code is that of what happened, whether or not standard error can be written.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click

from boxwood._messages import shorten_message
from boxwood._version import __version__
from boxwood.cli._terminal import drop_unsaid, escape_unknown, tell

VERBS = {
    "explain": "Explain the clusters of a table, or make clusters and explain them.",
    "compare-k": "Compare numbers of clusters: whether halves of the rows agree, and whether rules describe them.",
    "compare": "Grow trees by several methods, and show what each costs.",
    "predict": "Add the cluster of every row to a table.",
    "drift": "Compare a saved tree with new rows, and say what changed.",
    "match": "Report which clusters of two models are the same, split, merged, new or gone.",
    "why": "Say why a row is in its cluster, and what would change it.",
    "check": "Judge rules that stand in SQL, Python or a table: what can never fire, and what is missed.",
    "standalone-rules": "Print the one-line rules that a saved model holds.",
    "export": "Write a saved model in another form.",
    "demo": "Explain an example table, and suggest what to try next.",
    "completion": "Print a script with which a shell completes these commands.",
}
BUG, DATA, PAST_A_LIMIT, INTERRUPTED = 1, 3, 4, 130
DEBUG = "boxwood.debug"
# so the system's loader, its threads, DuckDB and the libraries of C++ say that memory is gone
_NO_MEMORY = ("failed to map segment", "can't start new thread", "Out of Memory Error", "bad_alloc", "bad allocation")
_LESS = "use fewer columns (-c NAME) or a sample of the rows, or free memory and run again"


class _PrintsErrors(click.Command):
    """A command whose errors are printed in the form of this module."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments."""
        with _in_our_form(), _printed_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _in_our_form(), _printed_errors(ctx):
            return super().invoke(ctx)


_NO_NUMBER = "is not a valid integer range"  # click's words


class Verb(_PrintsErrors):
    """A verb of the command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; where the shell made several of a pattern of files, say how one stays one."""
        reads_patterns = any(param.name == "sql" for param in self.params)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            begun = [name for name in error.possibilities or () if name.startswith(error.option_name)][:1]
            raise click.NoSuchOption(error.option_name, possibilities=begun or error.possibilities, ctx=ctx) from None
        except click.BadParameter as error:
            message = error.message.replace(_NO_NUMBER, "is no whole number, such as 4")
            raise click.BadParameter(message, ctx, error.param, error.param_hint) from None
        except click.UsageError as error:
            if not (reads_patterns and "extra argument" in error.message):
                raise
            quoted = "several files are a pattern in quotes, so that the shell keeps it: 'data/*.parquet'"
            raise click.UsageError(f"{error.message}\n{quoted}", ctx) from None


_MEANT = {"cluster": "explain", "fit": "explain", "train": "explain", "label": "predict", "apply": "predict"}
"""What others call a verb."""


class _Verbs(_PrintsErrors, click.Group):
    """The verbs; `--help` lists them without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            near = _MEANT.get(cmd_name) or next(iter(get_close_matches(cmd_name, VERBS, n=1)), None)
            if near is not None:
                raise click.UsageError(f"No such command '{cmd_name}'; did you mean '{near}'?", ctx)
            return None
        command: click.Command = import_module(f"boxwood.cli._{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


_EPILOG = """\b
Examples:
  boxwood demo
  boxwood explain customers.csv -k 5
  boxwood explain customers.csv --labels segment -o report.html -o rules.sql -o model.json
  boxwood predict model.json new.csv -o labelled.csv

\b
Exit codes: 0 done, 1 a bug of boxwood, 2 usage, 3 the data cannot be used, 4 past a limit,
130 interrupted. Results go to standard output, progress and errors to standard error. NO_COLOR=1 switches colours off.
"""


@click.command(
    cls=_Verbs, invoke_without_command=True, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="boxwood")
@click.pass_context
def boxwood(ctx: click.Context) -> None:
    """Explain a clustering with a small tree of cuts: a short rule for each cluster, and how many rows it gets wrong.

    Try `boxwood demo`, then `boxwood explain FILE -k 5`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """Run the command and exit: 0 done, 1 a bug, 2 usage, 3 the data, 4 past a limit, 130 interrupted."""
    for name in _ENDS:  # every system of today has SIGTERM; some only pretend to send it
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # `nohup` has SIGHUP ignored
            signal.signal(number, _end_by_signal)
    escape_unknown()
    try:
        boxwood(prog_name="boxwood")
    finally:
        drop_unsaid()  # a warning of another library may have been the first that could not be shown
    raise AssertionError("click exits the process")


_ENDS = ("SIGTERM", "SIGHUP")  # a closed terminal sends the second


def _end_by_signal(signum: int, frame: Any) -> NoReturn:
    for name in _ENDS:  # another one must not stop what removes the files
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + signum)  # an exception, so that unfinished files are removed on the way out


@contextmanager
def _in_our_form() -> Iterator[None]:
    """Give errors of click, which are those of usage, the form of all others."""
    try:
        yield
    except click.ClickException as error:
        message = error.format_message()
        context = getattr(error, "ctx", None)
        if context is not None:
            message += f"\n{context.command_path} --help lists the options"
        error.show = lambda file=None: tell(_text(message))  # type: ignore[method-assign]
        raise


@contextmanager
def _printed_errors(ctx: click.Context | None = None) -> Iterator[None]:
    """Print errors on standard error in the form `boxwood: error: WHAT`, and exit with their code.

    A closed pipe, such as `| head`, ends the command without a message.
    """
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, SystemExit):
        raise
    except KeyboardInterrupt:
        tell("boxwood: interrupted")
        raise click.exceptions.Exit(INTERRUPTED) from None
    except Exception as error:
        if not _is_closed_pipe(error):
            _print_and_exit(ctx, error)
        # buffered output would fail again when Python closes its standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(0) from None


def _is_closed_pipe(error: Exception) -> bool:
    """Return whether nobody reads the output any more, which Windows calls an invalid argument."""
    on_windows = os.name == "nt" and isinstance(error, OSError) and error.filename is None
    return isinstance(error, BrokenPipeError) or (on_windows and getattr(error, "errno", None) == errno.EINVAL)


def _print_and_exit(ctx: click.Context | None, error: Exception) -> NoReturn:
    from boxwood._imports import MissingExtraError
    from boxwood.errors import DataError
    from boxwood.table import ColumnError

    if ctx is not None and ctx.meta.get(DEBUG):
        tell("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, (ColumnError, MissingExtraError)):
        raise click.UsageError(str(error), ctx=ctx) from None
    if isinstance(error, MemoryError) or any(sign in str(error) for sign in _NO_MEMORY):
        _exit(f"not enough memory{f': {error}' if str(error) else ''}\n{_LESS}", DATA)
    if isinstance(error, (DataError, OSError)):
        _exit(str(error), DATA)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    _exit(f"unexpected {what.splitlines()[0]}\nthis is a bug of boxwood; run again with --debug to see where", BUG)


def _text(message: str) -> str:
    """Return a message in the form of this module: what is wrong in the first line, remedies below it."""
    what, *remedies = shorten_message(message).splitlines()
    return "\n".join([f"boxwood: error: {what}", *(f"  {remedy}" for remedy in remedies)])


def _exit(message: str, code: int) -> NoReturn:
    tell(_text(message))
    raise click.exceptions.Exit(code)
