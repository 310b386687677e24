"""`boxwood explain FILE`: its options, and how a table becomes an explanation as they say, in memory or in batches."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from boxwood._validation import list_words
from boxwood.cli._engine import check_engine, chosen_engine, engine_options, open_source
from boxwood.cli._options import (
    LIMITS,
    OUTPUTS,
    Choice,
    Grouped,
    Share,
    check_model,
    check_outputs,
    describe_forms,
    in_option_names,
    in_options,
    in_words,
    page_options,
    reading,
    reading_options,
    refuse_inputs,
    refuse_overwriting,
    takes_page_options,
    talk_options,
    write_outputs,
)
from boxwood.cli._terminal import Status, Talk, refuse_closed_output, show, tell
from boxwood.cli._verbs import PAST_A_LIMIT
from boxwood.errors import DataError
from boxwood.grow import METHODS, method_of

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation
    from boxwood.batches import Source
    from boxwood.table.options import Wanted


def _check_method(ctx: click.Context, param: click.Parameter, name: str) -> str:
    """Return the name with underscores for hyphens; refuse an unknown method."""
    if name == "auto":
        return name
    try:
        return method_of(name).name
    except ValueError:
        raise click.BadParameter(f"'{name}' is not one of auto, {', '.join(METHODS)}") from None


def _check_validate(ctx: click.Context, param: click.Parameter, text: str | None) -> float | int | None:
    """Return a share or a number of folds."""
    if text is None:
        return None
    from boxwood.explanation.measure.held_out import checked_validate

    try:
        return checked_validate(int(text) if text.strip().isdecimal() else float(text))
    except ValueError:
        raise click.BadParameter(
            f"'{text}' is neither a share between 0 and 1 nor a number of folds, 2 to 100"
        ) from None


def _check_names(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Return new names by old ones."""
    pairs = [text.partition("=") for text in given]
    for old, _, new in pairs:
        if not (old and new):
            raise click.BadParameter("give OLD=NEW, such as 0=young")
    return {old: new for old, _, new in pairs}


def _check_contrasts(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> list[list[str]]:
    """Return names of one or two clusters each."""
    found = [[name.strip() for name in next(csv.reader([text]), [])] for text in given]
    if any(not (0 < len(names) <= 2 and all(names)) for names in found):
        raise click.BadParameter("give the names of two clusters, such as loyal,lapsed, or of one")
    return found


def _check_cuts(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, list[float | str]]:
    """Return the thresholds that are allowed by columns: numbers, and dates as text."""
    found: dict[str, list[float | str]] = {}
    for text in given:
        name, _, values = text.rpartition("=")
        if not (name and all(each.strip() for each in values.split(","))):
            raise click.BadParameter("give NAME=VALUES, such as days=30,90,365")
        found[name] = [*found.get(name, []), *map(_number_or_text, values.split(","))]
    return found


def _number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text.strip()


_HELP = f"""Explain the clusters of a table, or make clusters and explain them.

FILE is CSV, TSV, Parquet, Arrow or JSON lines (csv, tsv and jsonl also compressed, .gz), a database of SQLite or DuckDB
or an Excel file (--table names the table or sheet), or - for standard input. A folder or a pattern of Parquet files,
--sql, and a file larger than memory are read in batches (--engine).
Columns of text are categories, and dates are cut as dates. Columns of more than 255 categories, of times without a date
and constant ones are left out, and unless -c names the columns, those that look like identifiers. So are, where
clusters are made, those that look like a date or a part of one, those of more than 12 categories, and numbers that are
names. Rules say where rows without a value belong (--missing).

The summary has a line for each cluster with its rule, and says how many rows the rules get wrong. From four
leaves on, the tree follows. -o writes more, by the extension of its file:

{describe_forms(OUTPUTS)}
"""
_EPILOG = """\b
Examples:
  boxwood explain customers.csv -k 5
  boxwood explain customers.csv --labels segment --max-leaf-nodes 10
  boxwood explain outcomes.csv -k 4 --by inputs.parquet --key run         what in the inputs tells the outcomes
  boxwood explain customers.csv --labels segment --standalone-rules      and the shortest rule for each by itself
  boxwood explain customers.csv --labels segment --contrast loyal,lapsed -o page.html      and what parts two of them
  boxwood explain customers.parquet -k 5 -c income,age,orders
  boxwood explain customers.csv -k 5 -o report.html -o model.json -o rules.sql -o tree.png
  boxwood explain - -k 5 --json < customers.csv | jq .price
  boxwood explain 'data/*.parquet' -k 8 --memory-limit 2GB -o report.html
  boxwood explain --sql "SELECT age, income, segment FROM 'x.parquet'" -l segment --method imm
"""


@click.command(name="explain", cls=Grouped, help=_HELP, epilog=_EPILOG)
@click.argument("file", metavar="[FILE]", required=False, type=click.Path())
@click.option(
    "-k",
    "--clusters",
    type=click.IntRange(min=2),
    help="Make this many clusters and explain them. Without "
    "-k and --labels the number is chosen: the most that halves of the rows agree on.",
)
@click.option(
    "-l",
    "--labels",
    metavar="COLUMN",
    help="Explain the clusters named in this column; rows labelled -1, or without a label, are left out.",
)
@click.option(
    "--by",
    metavar="INPUTS",
    type=click.Path(),
    help="Make rules of the columns of this file, for the clusters of FILE: what in INPUTS tells the outcomes in FILE. "
    "Names of columns are those of either file. Both are read into memory.",
)
@click.option(
    "--key",
    metavar="NAME",
    multiple=True,
    help="With --by: the column of both files that says which rows belong together; may be repeated, or a,b,c.",
)
@click.option(
    "--method",
    metavar="NAME",
    default="auto",
    show_default=True,
    callback=_check_method,
    help=f"Algorithm that grows the tree: auto, {', '.join(METHODS)}.",
)
@click.option(
    "--max-leaf-nodes",
    "--max-leaves",
    "--leaves",
    type=click.IntRange(min=2),
    help="Largest number of leaves of the tree.",
)
@click.option(
    "--objective",
    type=Choice(["auto", "cost", "agreement"]),
    default="auto",
    show_default=True,
    help="What makes a tree better: the least cost (cost), the fewest wrong rows (agreement), or few wrong rows among "
    "trees of about the lowest cost (auto).",
)
@click.option(
    "--time-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    help="Stop the search after this many seconds. Without it the result does not depend on the speed of the machine.",
)
@click.option("--max-depth", metavar="N", type=click.IntRange(min=1), help="Most conditions in the rule of a leaf.")
@click.option("--min-samples-leaf", metavar="N", type=click.IntRange(min=1), help="Fewest rows in a leaf.")
@click.option(
    "--max-columns", metavar="N", type=click.IntRange(min=1), help="Most columns that all rules together may use."
)
@click.option(
    "--forbidden",
    metavar="NAME",
    multiple=True,
    help="Keep these columns out of the rules, but not out of the clustering; may be repeated, or a,b,c.",
)
@click.option(
    "--preferred",
    metavar="NAME",
    multiple=True,
    help="Prefer these columns if that costs at most 1%; may be repeated, or a,b,c.",
)
@click.option(
    "--round-thresholds",
    metavar="DIGITS",
    type=click.IntRange(1, 17),
    help="Round thresholds to this many significant digits; a note says how many rows move.",
)
@click.option(
    "--cuts",
    metavar="NAME=VALUES",
    multiple=True,
    callback=_check_cuts,
    help="Thresholds that are allowed in a column, such as days=30,90,365; may be repeated. With --as-of, those of "
    "dates are ages in days.",
)
@click.option("-c", "--columns", metavar="NAME", multiple=True, help="Columns to use; may be repeated, or a,b,c.")
@click.option("--exclude", metavar="NAME", multiple=True, help="Columns not to use; may be repeated, or a,b,c.")
@click.option(
    "--scale",
    type=Choice(["unit", "none"]),
    help="Cluster, grow and measure on columns scaled to equal spread (unit), or on columns as they are (none). By "
    "default made clusters are of columns brought to one scale, with long tails drawn in and repeated columns counted "
    "once, and those count more in which groups show; with --labels columns are as they are. Rules are in the table's "
    "units in either case.",
)
@click.option(
    "--weights",
    metavar="COLUMN",
    help="Column with the weight of each row; neither the clustering nor the rules use it.",
)
@click.option(
    "--missing",
    type=Choice(["learn", "drop", "refuse"]),
    default="learn",
    show_default=True,
    help="What to do with rows that lack a value in a column in use: let the rules say where they belong (learn), give "
    "them no cluster (drop), or stop (refuse).",
)
@click.option(
    "--as-of",
    metavar="DAY",
    help="Count dates from this day, so that rules say ages, which do not grow old: 2026-07-31; latest, the latest "
    "date of the table up to today; or the column with the day on which each row was taken.",
)
@click.option(
    "--categories",
    metavar="NAME",
    multiple=True,
    help="Columns of categories, even if they look like numbers, such as postcodes; may be repeated, or a,b,c. "
    "'size:S<M<L' says that values have an order, in which rules then cut them.",
)
@click.option(
    "--numbers",
    metavar="NAME",
    multiple=True,
    help="Columns that must be numbers; text in them that is no number is an error; may be repeated, or a,b,c.",
)
@click.option(
    "--names",
    metavar="OLD=NEW",
    multiple=True,
    callback=_check_names,
    help="Name of a cluster, such as 0=young or 'S1=loyal customers'; may be repeated.",
)
@click.option(
    "--value", metavar="COLUMN", help="Column of value, such as revenue: show its sum and share for each cluster."
)
@click.option("--standardize", is_flag=True, hidden=True, help="The same as --scale unit.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the clustering.")
@click.option(
    "--validate",
    metavar="SHARE|FOLDS",
    callback=_check_validate,
    help="Also measure the rules on rows they have not seen: a share of the rows such as 0.3, or folds such as 5.",
)
@click.option("--jobs", metavar="N", type=int, default=-1, show_default=True, help="Number of threads; -1 is all.")
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="OUT",
    type=click.Path(),
    multiple=True,
    callback=check_outputs,
    help="File to write; its extension says in which form. May be repeated.",
)
@takes_page_options
@click.option(
    "--save",
    metavar="MODEL",
    type=click.Path(),
    callback=check_model,
    help="Write the model (.json), for predict, why and export.",
)
@click.option(
    "--standalone-rules",
    is_flag=True,
    help="Print one-line rules, too: for each cluster the shortest one that says who is in it. The model keeps them.",
)
@click.option(
    "--contrast",
    "contrasts",
    metavar="NAMES",
    multiple=True,
    callback=_check_contrasts,
    help="Print what parts two clusters, too, as loyal,lapsed, or one from all others, as loyal; may be repeated. "
    "A page shows it as a picture.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--notes", is_flag=True, help="Print all notes, and how the rules were found.")
@click.option(
    "--max-price", metavar="PRICE", type=float, help="Exit with 4 if the price of explainability is above PRICE."
)
@click.option(
    "--fail-under",
    metavar="SHARE",
    type=Share(),
    help="Exit with 4 if the new tree agrees on less than SHARE (0.9 or 90%); for a saved one: boxwood drift.",
)
@engine_options
@reading_options
@talk_options
def command(file: str | None, clusters: int | None, labels: str | None, quiet: bool, **options: Any) -> None:
    """Read, choose columns, explain, write, print."""
    if clusters is not None and labels is not None:
        raise click.UsageError("give either -k N (make clusters) or --labels COLUMN (explain existing ones), not both.")
    for option in ("--objective", "--time-limit"):
        if options["method"] != "auto" and options[option[2:].replace("-", "_")] not in ("auto", None):
            raise click.UsageError(f"{option} is for --method auto; {options['method']} decides by a rule of its own.")
    check_engine(file, options)
    _check_by(file, options)
    for table in filter(None, (file, options["by"])):
        refuse_overwriting(options["save"], "'--save'", table=table)
        refuse_inputs(options["outputs"], table)
    beside = [options["save"]] if options["save"] else ["--json"] if options["as_json"] else []
    page = page_options(options["outputs"], options, beside)
    refuse_closed_output()
    talk = Talk(quiet, all_notes=options["notes"])
    with explain_file(talk, file, clusters, labels, options) as found:
        explanation = _rename_clusters(found, options["names"])
        if options["standalone_rules"]:  # first, as the model and the page keep them
            with talk.status("looking for one-line rules"):
                explanation.standalone_rules()
        contrasts = [explanation.contrast(*_names_typed(explanation, names)) for names in options["contrasts"]]
        write_outputs(talk, explanation, options["outputs"], page)
        if options["save"] is not None:  # last, as the model keeps what other forms had measured
            explanation.save(options["save"])
            talk.wrote(options["save"])
        as_json = options["as_json"]
        text = explanation.to_json() if as_json else _text_of(explanation, all_notes=options["notes"])
        below = [f"One-line rules\n\n{explanation.standalone_rules()}"] if options["standalone_rules"] else []
        below = [] if as_json else [*below, *map(str, contrasts)]
        show("\n\n".join([text, *below]), is_code=as_json)
        if as_json:
            talk.notes(map(in_words, explanation.notes))
        _check_limits(explanation, options["max_price"], options["fail_under"])


_JOIN = 'join them by a query: --sql "SELECT inputs.*, cluster FROM … JOIN …" -l cluster'


def _check_by(file: str | None, options: dict[str, Any]) -> None:
    """Raise a UsageError if it is not known which rows of two files belong together, or one cannot be read twice."""
    if bool(options["by"]) != bool(options["key"]):
        raise click.UsageError("--by INPUTS and --key NAME belong together: the key says which rows are the same.")
    if not options["by"]:
        return
    if file is None or options["engine"] not in (None, "memory"):
        raise click.UsageError(f"--by reads two files into memory; {_JOIN}")
    if "-" in (file, options["by"]):
        raise click.UsageError("--by looks at the names of columns first, so it needs two files, not standard input.")


def _text_of(explanation: Explanation, *, all_notes: bool) -> str:
    """Return the text of the command: the rules and one note, or all that is known."""
    from boxwood.render.forms.text import command_text

    said = in_options(explanation)
    return said.to_text() if all_notes else command_text(said, more="--notes")


def _rename_clusters(explanation: Explanation, names: dict[str, str]) -> Explanation:
    """Return the explanation with the names that were asked for; numbers are found by their text."""
    return (
        explanation.rename(dict(zip(_names_typed(explanation, names), names.values(), strict=True)))
        if names
        else explanation
    )


def _names_typed(explanation: Explanation, names: Iterable[str]) -> list[Any]:
    """Return names of clusters that were typed, of which some may be numbers."""
    by_text = {str(name): name for name in explanation.names}
    return [by_text.get(name, name) for name in names]


def _check_limits(explanation: Explanation, max_price: float | None, fail_under: float | None) -> None:
    from boxwood.words.values import beside

    past = []
    if max_price is not None and explanation.price > max_price:
        past.append(f"price {explanation.price:.3f} is over {max_price:g}")
    if fail_under is not None and explanation.agreement < fail_under:
        past.append(f"agreement {beside(explanation.agreement, fail_under)} is under {100 * fail_under:g}%")
    if past:
        tell(f"boxwood: {'; '.join(past)}")
        raise click.exceptions.Exit(PAST_A_LIMIT)


# --------------------------------------------------------------------------------------- from a table to an explanation


@contextmanager
def explain_file(
    talk: Talk, file: str | None, clusters: int | None, labels: str | None, options: dict[str, Any]
) -> Iterator[Explanation]:
    """Yield the explanation of the table, which can be read as long as it is needed."""
    from boxwood.explanation.ask.problem import refuse_in_batches

    engine = chosen_engine(talk, file, options)
    if options.get("by"):
        if engine != "memory" or chosen_engine(talk, options["by"], options) != "memory":
            raise DataError(f"the files are too large for memory; {_JOIN}")
        with _explained_by_inputs(talk, str(file), clusters, labels, options) as explanation:
            yield explanation
        return
    if engine != "memory":
        with in_option_names():
            refuse_in_batches(options["method"], labels, options)
    wanted = wanted_columns(labels, options)
    with open_source(talk, file, engine, wanted, options) as source:
        with in_option_names():
            given = _parameters(choose_columns(source, wanted), clusters, options) | {"value_column": options["value"]}
            explanation = _explain(talk, source, labels, **given)
        yield explanation


def _explain(talk: Talk, source: Source, labels: str | None, **given: Any) -> Explanation:
    """Return the explanation of a table by parameters of `explain`, and tell its warnings."""
    from boxwood.api.explain import explain

    doing = "clustering and growing" if labels is None else "growing"
    with talk.growing(doing) as status, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        source.tick = told_by_rows(source, status)
        try:
            explanation = explain(source, labels, verbose=status.step, **given)
        finally:
            source.tick = None
    for text in dict.fromkeys(str(each.message) for each in caught if each.category is not DeprecationWarning):
        talk.note(text)
    return explanation


@contextmanager
def _explained_by_inputs(
    talk: Talk, file: str, clusters: int | None, labels: str | None, options: dict[str, Any]
) -> Iterator[Explanation]:
    """Yield the explanation of clusters of one file by the columns of another."""
    from boxwood.table.duck import open_table

    names = []
    for path in (file, options["by"]):
        with open_table(path, reading(options)) as table:
            names.append(table.names)
    with in_option_names():
        own, others = _options_of_files(options, names)
    wanted = wanted_columns(labels, own), wanted_columns(None, others)
    with (
        open_source(talk, file, "memory", wanted[0], own) as outcomes,
        open_source(talk, options["by"], "memory", wanted[1], others) as inputs,
    ):
        with in_option_names():
            given = _parameters(choose_columns(inputs, wanted[1]), clusters, options)
            given |= {"columns": [*wanted[0].columns, *wanted[1].columns] or None, "value_column": options["value"]}
            explanation = _explain(talk, outcomes, labels, by=inputs, key=others["key"], **given)
        yield explanation


def _options_of_files(options: dict[str, Any], names: Sequence[Sequence[str]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options for the outcomes and for the inputs: names of columns are those of either file, or of both.

    Raises
    ------
    ColumnError
        If neither has a column that is named.
    """
    from boxwood.table.options import find_columns, split_names

    every = tuple(dict.fromkeys([*names[0], *names[1]]))
    categories, numbers = _categories(options), _names(options["numbers"])
    find_columns([*categories, *numbers], every)
    found = []
    for own in names:
        chosen = options | {"numbers": [name for name in numbers if name in own], "value": None}
        for option in ("columns", "exclude", "key"):
            wanted = split_names(options[option], every)
            find_columns(wanted, own if option == "key" else every)
            chosen[option] = [name for name in wanted if name in own]
        texts = _names(options["categories"])
        chosen["categories"] = [text for text in texts if {*_categories({"categories": [text]})} & {*own}]
        found.append(chosen)
    is_here = not _names_day_column(options["as_of"]) or options["as_of"] in names[0]
    return found[0] | ({} if is_here else {"as_of": None}), found[1] | {"weights": None}


def shared_parameters(columns: ColumnNames, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that `explain` shares with verbs that set explanations side by side, as its parameters."""
    scale = "unit" if options.get("standardize") else options["scale"]
    kinds = {"categories": _categories(options), "numbers": _names(options["numbers"])}
    about = {"columns": columns.columns, "as_of": options["as_of"], "missing": options["missing"]}
    how = {"sample_weight": options["weights"], "random_state": options["seed"], "n_jobs": options["jobs"]}
    return {**kinds, **about, **how, "standardize": "auto" if scale is None else scale == "unit"}


def _categories(options: dict[str, Any]) -> dict[str, list[str] | None]:
    """Return the columns of categories, with the values in their order of those of which one is given, as S<M<L."""
    found: dict[str, list[str] | None] = {}
    for text in _names(options["categories"]):
        name, _, order = text.partition(":")
        if "<" in order:
            found[name.strip()] = [value.strip() for value in order.split("<")]
        else:
            found[text] = None
    return found


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in given for name in text.split(",") if name.strip())


def _parameters(columns: ColumnNames, clusters: int | None, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options as parameters of `explain`."""
    return {
        "n_clusters": clusters,
        **{name: options[name] for name in ("method", "max_leaf_nodes", "objective", "time_limit", "validate")},
        **shared_parameters(columns, options),
        **limits(options, columns),
    }


def limits(options: dict[str, Any], table: ColumnNames) -> dict[str, Any]:
    """Return the options that limit the rules as parameters of `explain`, less forbidden columns that rules cannot use.

    Raises
    ------
    ColumnError
        If the table does not have a column, or rules cannot use one that is preferred.
    """
    from boxwood.table.options import find_columns, split_names

    forbidden, preferred = (split_names(options[name], table.names) for name in ("forbidden", "preferred"))
    find_columns(forbidden, table.names)
    find_columns(preferred, table.columns)
    find_columns([*options["cuts"]], table.names)
    return {name: options[name] for name in LIMITS} | {
        "forbidden": [name for name in forbidden if name in table.columns],
        "preferred": list(preferred),
    }


class ColumnNames(NamedTuple):
    """Names of all columns of a table, and of those that are clustered and explained."""

    names: tuple[str, ...]
    columns: tuple[str, ...]


def told_by_rows(source: Source, status: Status) -> Callable[[float, int], None]:
    """Return a function that shows the share and the rows of each pass; a file in memory is read before the rest."""
    doing = status.doing

    def tick(share: float, n_rows: int) -> None:
        if source.is_held and n_rows:  # now they are read, and all the rest begins
            status.begin(doing)
            status(0.0, n_rows)
            return
        what, number = f"reading {source.name}" if source.is_held else doing, source.n_passes + 1
        if (status.doing, status.passes) != (what, number):
            status.begin(what, number)
        status(share, source.n_rows or n_rows)

    return tick


@contextmanager
def side_by_side(talk: Talk, doing: str, source: Source) -> Iterator[Status]:
    """Show how far trees are of which one table tells what each is worth, so that none warns by itself."""
    with talk.growing(doing) as status, warnings.catch_warnings(), in_option_names():
        warnings.simplefilter("ignore")
        source.tick = told_by_rows(source, status)
        yield status


def _names_day_column(as_of: str | None) -> bool:
    """Return whether dates are counted from the day in a column."""
    from boxwood.explanation.ages import names_column

    return as_of is not None and names_column(as_of)


def wanted_columns(labels: str | None, options: dict[str, Any]) -> Wanted:
    """Return the columns that the options name."""
    from boxwood.table.options import Wanted

    columns, as_of = options["columns"], options.get("as_of")
    if columns and _names_day_column(as_of):
        columns = (*columns, as_of)
    return Wanted(columns, (*options["exclude"], *options.get("key", ())), labels, options["weights"])


def choose_columns(source: Source, wanted: Wanted) -> ColumnNames:
    """Return the columns to use: those that are named, or candidates, of which `explain` leaves some out.

    Raises
    ------
    ColumnError
        If the table lacks a column that is named.
    DataError
        If no column remains.
    """
    from boxwood.explanation.ask.options import Candidates

    places, are_named, *_ = wanted.among(source.names)
    chosen = [source.names[i] for i in places]
    if not chosen:
        raise DataError(f"no numeric column in {source.name}\nits columns: {list_words(source.names)}")
    return ColumnNames(source.names, Candidates(chosen, are_named=are_named))
