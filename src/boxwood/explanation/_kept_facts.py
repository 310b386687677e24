"""What an explanation keeps of its rows, as entries of the model file: spreads of columns, and the profile if asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from boxwood.axes import Categories
from boxwood.explanation._profile_fields import (
    QUANTILES,
    CategoryColumn,
    CategoryGroup,
    ColumnProfile,
    NumberColumn,
    NumberGroup,
)
from boxwood.explanation._read_values import (
    as_finite,
    as_list,
    as_number,
    as_share,
    as_text,
    as_truth,
    is_name,
    refuse_twice,
)
from boxwood.explanation._spreads import Spread

__all__ = ["as_categories", "kept_from", "kept_of"]


def kept_of(kept: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """Return the entries for what was kept; none for what was not computed."""
    document: dict[str, Any] = {}
    if "spreads" in kept:
        document["spreads"] = {columns[j]: spread._asdict() for j, spread in kept["spreads"].items()}
    if "profile" in kept:
        document["profile"] = [_column(one) for one in kept["profile"]]
    return document


def kept_from(
    document: Mapping[str, Any], columns: Sequence[str], n_clusters: int, tested: Sequence[int]
) -> dict[str, Any]:
    """Return what was kept, read from a model file; IN: tested: columns of numbers that the tree tests."""
    kept: dict[str, Any] = {}
    if "spreads" in document:
        kept["spreads"] = {j: _read_spread(document["spreads"][columns[j]]) for j in tested}
    if "profile" in document:
        kept["profile"] = tuple(_read_column(one, n_clusters) for one in as_list(document["profile"]))
        names = [one.column for one in kept["profile"]]
        refuse_twice("column of the profile", names)
        if not set(names) <= set(columns):
            raise ValueError("its profile has a column that the table does not have")
    return kept


def as_categories(entry: dict[str, Any]) -> Categories:
    """Return the categories of a column."""
    values, others = as_list(entry["values"]), entry["others"]
    if not isinstance(others, bool) or not all(value is None or is_name(value) for value in values):
        raise ValueError("categories must be text, numbers or null")
    refuse_twice("category", values)
    return Categories(tuple(values), others)


def _column(one: ColumnProfile) -> dict[str, Any]:
    groups = [None if group is None else group._asdict() for group in one.clusters]
    document = one._asdict() | {"everyone": one.everyone._asdict(), "clusters": groups}
    return document | ({"categories": one.categories._asdict()} if isinstance(one, CategoryColumn) else {})


def _read_spread(entry: dict[str, Any]) -> Spread:
    deviation = float(as_number(entry["deviation"]))
    if deviation == 0:
        raise ValueError("the spread of a column must be above 0")
    return Spread(deviation, as_truth(entry["whole"]))


def _read_column(entry: dict[str, Any], n_clusters: int) -> ColumnProfile:
    name, effect = as_text(entry["column"]), as_share(entry["effect"])
    groups = as_list(entry["clusters"])
    if len(groups) != n_clusters:
        raise ValueError(f"its profile has {len(groups)} clusters, but it lists {n_clusters}")
    if "categories" not in entry:
        clusters = tuple(None if group is None else _read_numbers(group) for group in groups)
        return NumberColumn(name, effect, _read_numbers(entry["everyone"]), clusters)
    known = as_categories(entry["categories"])
    n = len(known.values) + known.others
    shares = tuple(None if group is None else _read_shares(group, n) for group in groups)
    return CategoryColumn(name, effect, _read_shares(entry["everyone"], n), shares, known)


def _read_numbers(entry: dict[str, Any]) -> NumberGroup:
    return NumberGroup(
        mean=as_finite(entry["mean"]),
        deviation=float(as_number(entry["deviation"])),
        quantiles=_several(entry["quantiles"], len(QUANTILES), as_finite),
        difference=_or_none(entry["difference"], as_finite),
        index=_or_none(entry["index"], _as_amount),
    )


def _read_shares(entry: dict[str, Any], n: int) -> CategoryGroup:
    return CategoryGroup(
        shares=_several(entry["shares"], n, as_share),
        differences=_or_none(entry["differences"], lambda values: _several(values, n, as_finite)),
        indexes=_several(entry["indexes"], n, lambda value: _or_none(value, _as_amount)),
    )


def _several(values: Any, n: int, read: Callable[[Any], Any]) -> tuple[Any, ...]:
    if len(as_list(values)) != n:
        raise ValueError(f"expected {n} numbers in its profile, got {len(values)}")
    return tuple(map(read, values))


def _or_none(value: Any, read: Callable[[Any], Any]) -> Any:
    return None if value is None else read(value)


def _as_amount(value: Any) -> float:
    return float(as_number(value))
