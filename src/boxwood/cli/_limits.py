"""Options that limit the rules of `boxwood explain`, and the columns that they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from boxwood.cli._in_batches import Columns
    from boxwood.table import Table

__all__ = ["LIMITS", "limit_options", "limits"]

F = TypeVar("F", bound=Callable[..., Any])

_AT_LEAST_ONE = click.IntRange(min=1)
_OPTIONS = (
    click.option("--max-depth", metavar="N", type=_AT_LEAST_ONE, help="Most conditions from the root to a leaf."),
    click.option("--min-samples-leaf", metavar="N", type=_AT_LEAST_ONE, help="Fewest rows that a leaf may hold."),
    click.option("--max-columns", metavar="N", type=_AT_LEAST_ONE, help="Most different columns that the rules test."),
    click.option(
        "--forbidden",
        metavar="NAME",
        multiple=True,
        help="Columns that no rule tests, although they count in the clustering; may be repeated, or a,b,c.",
    ),
    click.option(
        "--preferred",
        metavar="NAME",
        multiple=True,
        help="Columns that win where that loses at most 1% more; may be repeated, or a,b,c.",
    ),
    click.option(
        "--round-thresholds",
        metavar="DIGITS",
        type=click.IntRange(1, 17),
        help="Round thresholds to so many significant digits; a note says how many rows that moves.",
    ),
)
LIMITS = {
    "max_depth": "--max-depth",
    "min_samples_leaf": "--min-samples-leaf",
    "max_columns": "--max-columns",
    "forbidden": "--forbidden",
    "preferred": "--preferred",
    "round_thresholds": "--round-thresholds",
}
"""Options by the parameter of `explain` that they set."""


def limit_options(command: F) -> F:
    """Add the options that limit the rules."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def limits(options: dict[str, Any], table: Table | Columns) -> dict[str, Any]:
    """Return those options as parameters of `explain`. Forbidden columns that rules do not use anyway are left out.

    Raises
    ------
    ColumnError
        If the table does not have a column, or rules cannot use one that is preferred.
    """
    from boxwood.table._column_names import find_columns, split_names

    forbidden, preferred = (split_names(options[name], table.names) for name in ("forbidden", "preferred"))
    find_columns(forbidden, table.names)
    find_columns(preferred, table.columns)
    return {name: options[name] for name in LIMITS} | {
        "forbidden": [name for name in forbidden if name in table.columns],
        "preferred": list(preferred),
    }
