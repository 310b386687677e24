"""A file as `explain` reads it into memory, before columns are left out for what they seem to be."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boxwood.columns.column_table import TRUTHS, ColumnTable
from boxwood.columns.of_memory import number_column, read_rows
from boxwood.explanation.ask.columns import column_choice, refuse_none_left
from boxwood.explanation.ask.gathered import _how_read, _refuse_infinite, _table, _usable, _without_useless
from boxwood.explanation.ask.options import Candidates, Options
from boxwood.table.memory import file_in_memory
from boxwood.table.options import DEFAULTS, ReadOptions, Wanted


class FileRead(NamedTuple):
    """The columns of a file; those of truths are numbers, NaN where one is missing."""

    name: str
    names: tuple[str, ...]
    columns: tuple[str, ...]
    X: Any
    categories: Mapping[int, Any]
    booleans: tuple[str, ...]
    left_out: tuple[tuple[str, tuple[str, ...]], ...]
    labels: Any
    weights: Any
    worth: Any
    dates: Mapping[str, Any]
    types: Mapping[str, str]
    hints: tuple[str, ...]
    padded: tuple[str, ...]
    rounded: tuple[str, ...]
    spellings: Mapping[str, Any]
    marks: Mapping[str, Any]


def read_file(
    path: str,
    options: ReadOptions = DEFAULTS,
    *,
    columns: Sequence[str] = (),
    exclude: Sequence[str] = (),
    labels: str | None = None,
    weights: str | None = None,
    missing: str = "learn",
    categories: Collection[str] = (),
    numbers: Sequence[str] = (),
    value: str | None = None,
) -> FileRead:
    with file_in_memory(path, options, wanted=Wanted(columns, exclude, labels, weights)) as source:
        chosen = Candidates(source.candidates, are_named=bool(columns))
        given = {"n_clusters": None, "random_state": 0, "standardize": "auto", "n_jobs": 1, "columns": chosen}
        given |= {"missing": missing, "categories": categories, "numbers": numbers, "sample_weight": weights}
        asked = Options.of(given)
        wanted = column_choice(source, labels, asked)
        usable = _usable(source, wanted, asked)
        rows = read_rows(source, usable.names, usable.words, label=labels, weight=weights)
        _refuse_infinite(rows.values, usable.names)
        table = _without_useless(source, wanted, _table(source, rows.values, usable), asked)
        if not table.columns:
            refuse_none_left(source, table.left_out)
        told = _how_read(source, table, usable, asked)
        worth = None if value is None else number_column(source, value)
        texts = list(usable.unused.get("text", ()))
        hints = (*source.notes, *source.hints_on(texts), *rows.notes)
        used = {name: said for name, said in told["spellings"].items() if name in table.columns}
        kept = (tuple(told["padded"]), tuple(told["rounded"]), used, told["marks"])
        about = rows.labels, rows.weights, worth, source.dates, source.types, hints
        return FileRead(source.name, source.names, *_with_plain_truths(table), *about, *kept)


def _with_plain_truths(table: ColumnTable) -> tuple[Any, ...]:
    truths = [j for j, known in table.categories.items() if known is TRUTHS]
    X = table.values.copy()
    for j in truths:
        X[X[:, j] == 2, j] = np.nan
    categories = {j: known for j, known in table.categories.items() if j not in truths}
    booleans = tuple(name for j, name in enumerate(table.columns) if name in table.booleans or j in truths)
    left_out = tuple((reason, tuple(names)) for reason, names in table.left_out.items())
    return table.columns, X, categories, booleans, left_out
