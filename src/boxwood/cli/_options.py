"""Options that verbs share: what they read, say and write; and notes of the library in the words of options.

To add a form for `-o`, write it in `render` and a line of `OUTPUTS`.
"""

from __future__ import annotations

import ast
import math
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from boxwood._imports import missing_of, needs
from boxwood._messages import Quoting, did_you_mean
from boxwood.cli._terminal import Talk
from boxwood.cli._verbs import DEBUG, Verb

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation
    from boxwood.render.forms.exporters import Exporter
    from boxwood.table.options import ReadOptions

    _Words = click.Choice[str]
else:  # before click 8.2 it has no type of its words
    _Words = click.Choice

F = TypeVar("F", bound=Callable[..., Any])


class Choice(_Words):
    """One of several words; the error for another one asks for the word that is meant.

    Parameters
    ----------
    choices : sequence of str
        The words that are allowed.
    elsewhere : mapping, default=None
        Words that belong to another option, and what to write for each of them.
    """

    def __init__(
        self, choices: Sequence[str], *, case_sensitive: bool = True, elsewhere: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(choices, case_sensitive)
        self.elsewhere = elsewhere or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            place = self.elsewhere.get(str(value).casefold())
            hint = f"; did you mean {place}?" if place else did_you_mean(str(value), self.choices)
            raise click.BadParameter(error.message.removesuffix(".") + (hint or "."), ctx, param) from None


def with_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options to a command, in their order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


FORMAT = click.option(
    "--format",
    type=Choice(["csv", "tsv", "parquet", "arrow", "jsonl", "sqlite", "duckdb", "xlsx"]),
    help="Format of FILE. The default is that of its extension, and CSV for standard input.",
)

_HEADER = click.option(
    "--header/--no-header",
    default=None,
    help="Whether CSV begins with a line of names; without one, columns are called 'column 1', 'column 2', …",
)
_DECIMAL = click.option(
    "--decimal",
    type=Choice([".", ","]),
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


reading_options = with_options(FORMAT, _HEADER, _DECIMAL, _ENCODING, _TABLE)
"""Options that say how FILE is read."""


def reading(options: dict[str, Any]) -> ReadOptions:
    """Return those options as the library takes them."""
    from boxwood.table.options import ReadOptions

    return ReadOptions(**{name: options[name] for name in ReadOptions._fields})


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


AS_OF = click.option(
    "--as-of",
    metavar="DAY",
    help="The day from which ages that rules say are counted, as 2026-08-31, or the column that has it; today without.",
)


def load_model(path: str) -> Explanation:
    """Return the model in a file.

    Raises
    ------
    DataError
        If there is no such file (the message offers the nearest name), or if it is no model or of a newer format.
    """
    from boxwood.api.explanation import load
    from boxwood.errors import ModelError
    from boxwood.explanation.model_file import GIVE_ONE
    from boxwood.table import refuse_absent

    refuse_absent(path)
    try:
        return load(path)
    except ModelError as error:
        why = str(error).removesuffix(f"; {GIVE_ONE}")
        raise ModelError(f"{why}\nmake one with: boxwood explain FILE -k N --save model.json") from None


# ------------------------------------------------------------------------------------------------------ forms and files
class Output(NamedTuple):
    """A form with an extension of its own.

    Parameters
    ----------
    what : str
        What is written, in a few words.
    form : str
        Its name in `EXPORTERS`; empty for a picture.
    extra : str
        The extra of boxwood that it needs; empty if it needs none.
    """

    what: str
    form: str = ""
    extra: str = ""


OUTPUTS = {
    ".html": Output("a page to read, send and print", "html", "page"),
    ".json": Output("the model, for predict, why and export", "json"),
    ".txt": Output("the summary and the tree", "text"),
    ".md": Output("the summary as Markdown", "markdown"),
    ".csv": Output("a table with a line for each leaf", "csv"),
    ".sql": Output("a CASE expression of SQL, for DuckDB (others: export --to sql --dialect)", "sql"),
    ".py": Output("a function of Python", "python"),
    ".js": Output("a function of JavaScript", "javascript"),
    ".png": Output("a picture of the tree", "", "plot"),
    ".svg": Output("the same, to be scaled", "", "plot"),
    ".pdf": Output("the same, to be printed", "", "plot"),
    ".pmml": Output("a PMML model, for scoring engines", "pmml"),
    ".onnx": Output("an ONNX model for float32 rows", "onnx", "onnx"),
}
_FOR_PEOPLE = ("text", "markdown", "html")  # who know the options of the command


def write_form(explanation: Explanation, form: str, **options: Any) -> Any:
    """Return an explanation in a form of `EXPORTERS` as the command line writes it."""
    from boxwood.render import EXPORTERS

    said = in_options(explanation) if form in _FOR_PEOPLE else explanation
    return EXPORTERS[form].write(said, **options)


def save(path: str, content: str | bytes) -> None:
    """Write the content of a form to a file; text ends with a line break."""
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else f"{content}\n".encode())


def write_named_file(path: str, content: str | bytes, quiet: bool) -> None:
    """Write a form into a file that was named, and say so."""
    from boxwood._files import replacing

    with replacing(path) as temporary:
        save(temporary, content)
    Talk(quiet).wrote(path)


def describe_forms(forms: Mapping[str, Output | Exporter]) -> str:
    """Return forms and what they are, in lines that click leaves as they are."""
    longest = max(map(len, forms))
    return "\n".join(["\b", *(f"{name.ljust(longest)}  {one.what}" for name, one in forms.items())])


def refuse_missing_packages(path: str) -> None:
    """Refuse a file of `OUTPUTS` for which a package is missing."""
    extra = OUTPUTS[_extension(path)].extra
    if extra and (missing := missing_of(extra)):
        raise click.BadParameter(needs(f"'{path}'", missing))


def check_outputs(ctx: click.Context, param: click.Parameter, paths: Sequence[str]) -> tuple[str, ...]:
    """Refuse files that cannot be written, before any input is read."""
    known = " ".join(OUTPUTS)
    seen: set[str] = set()
    for path in paths:
        extension = _extension(path)
        if extension not in OUTPUTS:
            nearest = did_you_mean(extension, OUTPUTS)
            raise click.BadParameter(f"'{path}': unknown extension{nearest}; known: {known}")
        refuse_missing_packages(path)
        check_writable(ctx, param, path)
        if os.path.realpath(path) in seen:
            raise click.BadParameter(f"'{path}' is given twice")
        seen.add(os.path.realpath(path))
    return tuple(paths)


form_output = output_option(check_writable, "File to write instead of printing.")


def _check_titles(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    """Return titles by columns; names of columns may hold equals signs, titles hold none."""
    pairs = [text.rpartition("=") for text in given]
    if not all(name and title for name, _, title in pairs):
        raise click.BadParameter("give COLUMN=TITLE, such as 'last_order=Last order'")
    return {name: title for name, _, title in pairs} or None


takes_page_options = with_options(
    click.option("--title", metavar="TEXT", help="Title of the page."),
    click.option(
        "--titles",
        metavar="COLUMN=TITLE",
        multiple=True,
        callback=_check_titles,
        help="Title by which the page calls a column, as 'last_order=Last order'; code keeps its name.",
    ),
    click.option(
        "--min-count",
        metavar="N",
        type=click.IntRange(min=1),
        help="Round all counts of the page, but not of the printed summary, down to multiples of N, "
        "and hide values of fewer rows.",
    ),
)
"""Options of a page."""


def page_options(paths: Sequence[str], options: Mapping[str, Any], beside: Sequence[str] = ()) -> dict[str, Any]:
    """Return the options of a page that were given; refuse them if no page is to be written.

    Refuse `min_count` also if exact counts are to be written: to other files, or as `beside`, paths and options.
    """
    found = {name: options[name] for name in ("title", "titles", "min_count") if options[name] is not None}
    if found and ".html" not in map(_extension, paths):
        raise click.UsageError(f"--{next(iter(found)).replace('_', '-')} is for a page; name one with -o report.html")
    exact = [path for path in (*paths, *beside) if _extension(path) != ".html"]
    if "min_count" in found and exact:
        raise click.UsageError(
            f"--min-count rounds the counts of a page, but {exact[0]} would show them exactly; leave one of the two out"
        )
    return found


def write_outputs(talk: Talk, explanation: Explanation, paths: Sequence[str], page: Mapping[str, Any]) -> None:
    """Write the files beside their targets, and rename them when all are complete; `page` are options of pages."""
    from boxwood._files import replacing

    with ExitStack() as stack:
        for path in sorted(paths, key=lambda path: _extension(path) == ".json"):  # a model keeps what others measured
            with talk.status(f"writing {path}"):
                temporary = stack.enter_context(replacing(path))
                extension = _extension(path)
                form = OUTPUTS[extension].form
                if form:
                    save(temporary, write_form(explanation, form, **(page if form == "html" else {})))
                else:
                    figure: Any = explanation.plot().figure
                    figure.savefig(temporary, format=extension[1:], bbox_inches="tight", dpi=150)
    for path in paths:
        talk.wrote(path)


def refuse_inputs(paths: Sequence[str], table: str) -> None:
    """Refuse to write over the table."""
    for path in paths:
        refuse_overwriting(path, table=table)


def _extension(path: str) -> str:
    return os.path.splitext(path)[1].lower()


# ------------------------------------------------------------------------------------------------- the words of options
LIMITS = ("max_depth", "min_samples_leaf", "max_columns", "forbidden", "preferred", "round_thresholds", "cuts")
"""Parameters of `explain` that limit the rules; options have the same names."""
_OTHERS = ("as_of", "max_leaf_nodes", "method", "objective", "time_limit", "validate", "categories", "numbers")
_RENAMED = {"n_clusters": "--clusters", "random_state": "--seed", "n_jobs": "--jobs"}
_PARAMETER = re.compile(rf"(?<!takes no )\b({'|'.join((*LIMITS, *_OTHERS, *_RENAMED))})(=| must|;| at once)")
_COLUMNS = re.compile(r"columns=(\[.*?\])")
_LIMITS = re.compile(r"^(max_columns=\d+): |\(((?:max_depth|min_samples_leaf)=\d+(?:, min_samples_leaf=\d+)?)\)$")
_ENDS = {
    "(columns chooses others)": "(--exclude leaves it out)",
    "standardize gives columns equal weight": "--scale unit gives columns equal weight",
    "standardize, or choose the columns (columns)": "--scale unit, or choose the columns (-c)",
    "choose the columns (columns)": "choose the columns (-c)",
    "name the columns (columns)": "name the columns (-c)",
    'do not: as_of="latest", or the day (as_of)': "do not: --as-of latest, or the day",
    "(as_of)": "(--as-of)",
    "(cuts), or forbid the column": "(--cuts), or forbid the column (--forbidden)",
    "(max_leaf_nodes)": "(--max-leaf-nodes)",
    '(max_leaf_nodes, objective="agreement")': "(--max-leaf-nodes, --objective agreement)",
    "(n_clusters)": "(-k)",
    "these rows weigh so much (sample_weight)": "these rows weigh so much (--weights)",
    "columns (method)": "columns (--method)",
    "name these (numbers)": "name these (--numbers)",
    "the best tree so far (time_limit)": "the best tree so far (--time-limit)",
    "by long lists of categories (preferred)": "by long lists of categories (--preferred)",
    "(validate measures it)": "(--validate measures it)",
    "(categories shows them)": "(--categories shows them)",
    "(categories keeps such values)": "(--categories keeps such values)",
    "(categories)": "(--categories)",
}
"""Ends of notes, the longer first. Before them stand names of columns, which stay as they are."""
_IN_ERRORS = {
    "as_of='latest'": "--as-of latest",
    "as_of ": "--as-of ",
    "min_samples_leaf=": "--min-samples-leaf ",
    '(missing="drop")': "(--missing drop)",
    "more than half, so leave out": "more than half, so leave out (--exclude)",
    "leave those rows or columns out": "replace them or leave those rows out, then run again\n"
    "or leave the columns out with --exclude NAME",
}
"""Words of errors on the data by those of the command line."""


def in_words(note: str) -> str:
    """Return a note, or an error, with the options of `boxwood explain` in place of the parameters of Python."""
    said = _with_options(note)
    return Quoting(said, _with_options(note.written)) if isinstance(note, Quoting) else said


def _with_options(note: str) -> str:
    found = _LIMITS.search(note)
    if found:
        inside = found[1] or found[2]
        ours = re.sub(r"(\w+)=", lambda name: f"{_option(name[1])} ", inside)
        return note[: found.start()] + found[0].replace(inside, ours) + note[found.end() :]
    for end, ours in _ENDS.items():
        if note.endswith(end):
            return note.removesuffix(end) + ours
    return note


def in_options(explanation: Explanation) -> Explanation:
    """Return the explanation for printing: its notes name the options of `boxwood explain`."""
    return replace(explanation, notes=tuple(map(in_words, explanation.notes)))


@contextmanager
def in_option_names() -> Iterator[None]:
    """Make an error about a parameter of `explain` one of usage, with the name of the option."""
    from boxwood.errors import DataError

    try:
        yield
    except DataError as error:
        text = in_words(str(error))
        for parameter, option in _IN_ERRORS.items():
            text = text.replace(parameter, option)
        if text == str(error):
            raise
        raise DataError(text) from None
    except ValueError as error:
        text = _PARAMETER.sub(lambda found: _option(found[1]) + found[2], str(error))
        text = _COLUMNS.sub(_as_option, text).replace('missing="drop"', "--missing drop")
        if text == str(error):
            raise
        raise click.UsageError(text) from None


def _as_option(found: re.Match[str]) -> str:
    """Return the option that names columns, from a list as Python writes it."""
    return f"-c {shlex.quote(','.join(ast.literal_eval(found[1])))}"


def _option(parameter: str) -> str:
    """Return the option that sets a parameter of `explain`."""
    return _RENAMED.get(parameter, f"--{parameter.replace('_', '-')}")


_GROUPS: dict[str, tuple[str, ...]] = {
    "Clusters": (
        *("clusters", "low", "high", "labels", "by", "key", "columns", "exclude", "categories", "numbers", "weights"),
        *("missing", "scale", "seed", "names"),
    ),
    "Rules": ("max_leaf_nodes", "leaves", *LIMITS, "method", "methods", "objective", "time_limit", "validate"),
    "The row": ("row", "given", "immutable"),
    "Output": (
        *("output", "outputs", "column", "title", "titles", "min_count", "value", "standalone_rules", "contrasts"),
        *("save", "as_json", "notes", "max_price", "fail_under", "fail_over_empty", "quiet", "debug"),
    ),
    "Reading": ("format", "table", "header", "decimal", "encoding", "sql", "as_of"),
    "Large tables": ("engine", "memory_limit", "spark_master", "dask_scheduler", "jobs"),
}
"""Options of all verbs by their groups."""


class Grouped(Verb):
    """A verb whose help has its options in groups; those of no group come last.

    Parameters
    ----------
    groups : mapping, default=None
        Names of options by group, where they mean something else than in the other verbs.
    """

    def __init__(self, *args: Any, groups: Mapping[str, tuple[str, ...]] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.groups = _GROUPS if groups is None else groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        params = {str(param.name): param for param in self.get_params(ctx) if isinstance(param, click.Option)}
        grouped = {name for names in self.groups.values() for name in names}
        for group, names in (*self.groups.items(), ("Other", tuple(name for name in params if name not in grouped))):
            records = [params[name].get_help_record(ctx) for name in names if name in params]
            if known := [record for record in records if record is not None]:
                with formatter.section(group):
                    formatter.write_dl(known)
