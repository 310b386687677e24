"""Forms as the command line writes them, and the files of `boxwood explain -o`: the extension says which form.

To add one, write its form in `render` and a line here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from boxwood.cli._talk import Talk, check_writable, output_option, refuse_overwriting, with_options
from boxwood.cli._words import in_options

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation
    from boxwood.render.forms.exporters import Exporter


class Output(NamedTuple):
    """A form with an extension of its own.

    Parameters
    ----------
    what : str
        What is written, in a few words.
    form : str
        Its name in `EXPORTERS`; empty for a picture.
    package, extra : str
        A package that it needs, and the extra of boxwood that installs it; empty if it needs none.
    """

    what: str
    form: str = ""
    package: str = ""
    extra: str = ""


OUTPUTS = {
    ".html": Output("a page to read, send and print", "html", "jinja2", "page"),
    ".json": Output("the model, for predict, why and export", "json"),
    ".txt": Output("the summary and the tree", "text"),
    ".md": Output("the summary as Markdown", "markdown"),
    ".csv": Output("a table with a line for each leaf", "csv"),
    ".sql": Output("a CASE expression of SQL, for DuckDB (others: export --to sql --dialect)", "sql"),
    ".py": Output("a function of Python", "python"),
    ".js": Output("a function of JavaScript", "javascript"),
    ".png": Output("a picture of the tree", "", "matplotlib", "plot"),
    ".svg": Output("the same, to be scaled", "", "matplotlib", "plot"),
    ".pdf": Output("the same, to be printed", "", "matplotlib", "plot"),
    ".pmml": Output("a PMML model, for scoring engines", "pmml"),
    ".onnx": Output("an ONNX model for float32 rows", "onnx", "onnx", "onnx"),
}
_FOR_PEOPLE = ("text", "markdown", "sentences", "html")  # who know the options of the command


def written(explanation: Explanation, form: str, **options: Any) -> str | bytes:
    """Return an explanation in a form of `EXPORTERS` as the command line writes it."""
    from boxwood.render import EXPORTERS

    said = in_options(explanation) if form in _FOR_PEOPLE else explanation
    content: str | bytes = EXPORTERS[form].write(said, **options)
    return content


def save(path: str, content: str | bytes) -> None:
    """Write the content of a form to a file; text ends with a line break."""
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else f"{content}\n".encode())


def write(path: str, content: str | bytes, quiet: bool) -> None:
    """Write a form into a file that was named, and say so."""
    from boxwood._files import replacing

    with replacing(path) as temporary:
        save(temporary, content)
    Talk(quiet).wrote(path)


def described(forms: Mapping[str, Output | Exporter]) -> str:
    """Return forms and what they are, in lines that click leaves as they are."""
    longest = max(map(len, forms))
    return "\n".join(["\b", *(f"{name.ljust(longest)}  {one.what}" for name, one in forms.items())])


def check_outputs(ctx: click.Context, param: click.Parameter, paths: Sequence[str]) -> tuple[str, ...]:
    """Refuse files that cannot be written, before any input is read."""
    known = " ".join(OUTPUTS)
    seen: set[str] = set()
    for path in paths:
        extension = _extension(path)
        if extension not in OUTPUTS:
            nearest = _nearest(extension)
            raise click.BadParameter(f"'{path}': unknown extension{nearest}; known: {known}")
        needed = OUTPUTS[extension]
        if needed.package and find_spec(needed.package) is None:
            raise click.BadParameter(f"'{path}' needs {needed.package}: pip install \"boxwood[{needed.extra}]\"")
        check_writable(ctx, param, path)
        if os.path.realpath(path) in seen:
            raise click.BadParameter(f"'{path}' is given twice")
        seen.add(os.path.realpath(path))
    return tuple(paths)


form_output = output_option(check_writable, "File to write instead of printing.")
takes_page_options = with_options(
    click.option("--title", metavar="TEXT", help="Title of the page."),
    click.option(
        "--min-count",
        metavar="N",
        type=click.IntRange(min=1),
        help="Round all counts of the page, but not of the printed summary, down to multiples of N, "
        "and hide values of fewer rows.",
    ),
)
"""Options of a page."""


def page_options(
    paths: Sequence[str], title: str | None, min_count: int | None, beside: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the options of a page that were given; refuse them if no page is to be written.

    Refuse `min_count` also if exact counts are to be written: to other files, or as `beside`, paths and options.
    """
    given = {"title": title, "min_count": min_count}
    options = {name: value for name, value in given.items() if value is not None}
    if options and ".html" not in map(_extension, paths):
        raise click.UsageError(f"--{next(iter(options)).replace('_', '-')} is for a page; name one with -o report.html")
    exact = [path for path in (*paths, *beside) if _extension(path) != ".html"]
    if min_count is not None and exact:
        raise click.UsageError(
            f"--min-count rounds the counts of a page, but {exact[0]} would show them exactly; leave one of the two out"
        )
    return options


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
                    save(temporary, written(explanation, form, **(page if form == "html" else {})))
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


def _nearest(extension: str) -> str:
    from difflib import get_close_matches

    found = get_close_matches(extension, OUTPUTS, n=1)
    return f"; did you mean '{found[0]}'?" if found else ""
