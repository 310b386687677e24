"""The command `boxwood`: one module for each verb, imported when it is called.

To add a verb: write `cli/_verb.py` with a click command of class `Verb`, called `command`, and name it in `VERBS`.
Results and their notes go to standard output, other notes to standard error. Errors are raised as in the library, and
`_errors` prints them.
"""

from __future__ import annotations

import signal
from importlib import import_module
from typing import Any, NoReturn

import click

from boxwood._version import __version__
from boxwood.cli._errors import Verbs
from boxwood.cli._terminal import drop_unsaid, escape_unknown

__all__ = ["VERBS", "boxwood", "main"]

VERBS = {
    "explain": "Explain the clusters of a table, or make clusters and explain them.",
    "map-k": "Compare numbers of clusters: whether halves of the rows agree, and whether rules describe them.",
    "compare": "Grow trees by several methods, and show what each costs.",
    "predict": "Add the cluster of every row to a table.",
    "measure": "Measure a saved tree on new rows, and say what changed.",
    "match": "Report which clusters of two models are the same, split, merged, new or gone.",
    "why": "Say why a row is in its cluster, and what would change it.",
    "lines": "Print the one-line rules that a saved model holds.",
    "export": "Write a saved model in another form.",
    "demo": "Explain an example table, and suggest what to try next.",
    "completion": "Print a script with which a shell completes these commands.",
}


class _Lazy(Verbs):
    """The verbs; `--help` lists them without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
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
    cls=_Lazy, invoke_without_command=True, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
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
            signal.signal(number, _terminated)
    escape_unknown()
    try:
        boxwood(prog_name="boxwood")
    finally:
        drop_unsaid()  # a warning of another library may have been the first that could not be shown
    raise AssertionError("click exits the process")


_ENDS = ("SIGTERM", "SIGHUP")  # a closed terminal sends the second


def _terminated(signum: int, frame: Any) -> NoReturn:
    for name in _ENDS:  # another one must not stop what removes the files
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + signum)  # an exception, so that unfinished files are removed on the way out
