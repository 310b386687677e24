"""`Grouped`: a verb whose help has its options in groups, as one list of forty is read by nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from boxwood.cli._options import LIMITS
from boxwood.cli._verbs import Verb

_GROUPS: dict[str, tuple[str, ...]] = {
    "Clusters": (
        *(
            "clusters",
            "low",
            "high",
            "labels",
            "by",
            "key",
            "columns",
            "exclude",
            "categories",
            "numbers",
            "weights",
            "missing",
        ),
        *("scale", "seed", "names"),
    ),
    "Rules": ("max_leaf_nodes", "leaves", *LIMITS, "method", "methods", "objective", "time_limit", "validate"),
    "The row": ("row", "given", "immutable"),
    "Output": (
        *("output", "outputs", "column", "title", "titles", "min_count", "value", "standalone_rules"),
        *("contrasts", "save"),
        *("as_json", "notes", "max_price", "fail_under", "fail_over_empty", "quiet", "debug"),
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
