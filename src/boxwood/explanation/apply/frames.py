"""Data frames of an explanation: one function for each table, listed by its name."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from boxwood._dates import Dates
from boxwood._frames import names_array
from boxwood._imports import require
from boxwood._validation import refuse_unknown
from boxwood.axes import Categories
from boxwood.explanation.measure.misassigned import confusion_of, misassigned_in
from boxwood.explanation.measure.outliers import Outlier, outliers_in
from boxwood.explanation.measure.profile import measure_profile
from boxwood.explanation.records import QUANTILES, CategoryColumn, CategoryGroup, NumberGroup
from boxwood.words.rules import cluster_rule, rule

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

Row = dict[str, Hashable]


def frame_of(ex: MeasuredTree, what: str) -> Any:
    """See `Explanation.to_frame`."""
    refuse_unknown("what", what, FRAMES)
    pd = require("pandas", "pandas", "a data frame")
    if what == "confusion":
        names = [names_array(ex.names)] * 2
        return pd.DataFrame(confusion_of(ex), pd.Index(names[0], name="cluster"), pd.Index(names[1], name="ruled"))
    columns, rows = FRAMES[what]
    return pd.DataFrame(list(rows(ex)), columns=list(columns))


def _clusters(ex: MeasuredTree) -> Iterator[Row]:
    noise = ex.details.noise or (None,) * ex.n_clusters
    for cluster in ex._in_words().clusters:
        facts = cluster._asdict() | {"cluster": cluster.name, "noise": noise[cluster.cluster]}
        yield facts | {"rule": cluster_rule(cluster, whole=True)}


def _rules(ex: MeasuredTree) -> Iterator[Row]:
    for leaf in ex._in_words().leaves:
        precision = leaf.own / leaf.size if leaf.size else None
        yield leaf._asdict() | {
            "cluster": ex.names[leaf.cluster],
            "precision": precision,
            "rule": rule(leaf.rule, whole=True),
        }


def _profile(ex: MeasuredTree) -> Iterator[Row]:
    for column in measure_profile(ex):
        for name, group in zip(ex.names, column.clusters, strict=True):
            about: Row = {"column": column.column, "cluster": name, "effect": column.effect}
            if isinstance(group, NumberGroup):
                facts = group._asdict() | dict(zip(_PERCENT, group.quantiles, strict=True))
                yield about | _say_dates(facts, ("mean", *_PERCENT), getattr(column, "dates", None))
            elif isinstance(column, CategoryColumn) and isinstance(group, CategoryGroup):
                yield from (about | row for row in _shares(group, column.categories))


def _shares(group: CategoryGroup, categories: Categories) -> Iterator[Row]:
    differences = group.differences or (None,) * len(group.shares)
    for code, (share, away, index) in enumerate(zip(group.shares, differences, group.indexes, strict=True)):
        yield {"category": categories.value(code), "share": share, "difference": away, "index": index}


def _misassigned(ex: MeasuredTree) -> Iterator[Row]:
    dates = dict(ex.details.dates)
    for one in misassigned_in(ex):
        facts = one._asdict() | {"cluster": ex.names[one.cluster], "ruled": ex.names[one.ruled]}
        yield _say_dates(facts, ("threshold",), dates.get(one.column or ""))


def _say_dates(facts: Row, which: Sequence[str], dates: Dates | None) -> Row:
    """Return facts of a column with some of its numbers as texts of dates, if it is one of dates."""
    if dates is None:
        return facts
    return facts | {name: dates.text(x) for name in which if isinstance(x := facts[name], float)}


def _outliers(ex: MeasuredTree) -> Iterator[Row]:
    for one in outliers_in(ex):
        yield one._asdict() | {"cluster": ex.names[one.cluster]}


_PERCENT = tuple(f"q{percent}" for percent in QUANTILES)
FRAMES: dict[str, tuple[tuple[str, ...], Callable[[MeasuredTree], Iterator[Row]]]] = {
    "clusters": (("cluster", "size", "share", "matched", "found", "precision", "noise", "rule"), _clusters),
    "rules": (("leaf", "cluster", "size", "own", "precision", "noise", "rule"), _rules),
    "confusion": ((), lambda ex: iter(())),
    "profile": (
        ("column", "cluster", "category", "share", "mean", "deviation", *_PERCENT, "difference", "index", "effect"),
        _profile,
    ),
    "misassigned": (
        ("row", "cluster", "ruled", "column", "value", "side", "threshold", "distance", "deviations"),
        _misassigned,
    ),
    "outliers": (Outlier._fields, _outliers),
}
"""Tables by name: their columns, and a function that yields their rows. To add one, add a line here."""
