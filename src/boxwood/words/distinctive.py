"""`distinctive_columns`: where a cluster differs most from the rest, in words, for the page and for suggested names."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from boxwood._messages import list_words
from boxwood.words.measured import about, category_of
from boxwood.words.values import cluster_name, column_name, percent, shorten_name

if TYPE_CHECKING:
    from boxwood.explanation.records import CategoryColumn, ClusterSummary, ColumnProfile, NumberColumn

STANDS_OUT = 0.5  # standard deviations
BY_RULES = 0.2  # the same in columns of a cluster's own rules: a small effect, but what it is found by


def distinctive_columns(
    profile: Sequence[ColumnProfile], cluster: ClusterSummary, fewest: int = 0, *, for_name: bool = False
) -> list[dict[str, str]]:
    """Return up to three columns in which a cluster differs most from the rest, in words.

    "high" and "low" columns have a mean at least half a standard deviation above or below that of all other rows, or a
    fifth if the cluster's rules ask for them. Of a column of words it is the value whose share differs most: "mostly"
    where half of the cluster has it, else "often". Of a column of 0 and 1 it is the value alone where half of the
    cluster has it, as in "member = 1". Numbers that more than half of a cluster, or of the rest, lack say nothing of
    it, but that they are missing may. IN: fewest: rows of the cluster that have a value that is said; for_name: whether
    a name is made, without what is missing or small.
    """
    tested = {one.column for each in cluster.rules for one in each}
    found = _stand_out(profile, cluster, fewest, () if for_name else tested, with_gaps=not for_name)
    return [words for _, _, words in sorted(found, key=lambda one: one[:2])[:_TOLD]]


def differences_besides(
    profile: Sequence[ColumnProfile], clusters: Sequence[ClusterSummary], tested: Collection[str]
) -> str:
    """Return in which columns that rules do not test clusters stand out most, or that none does; empty without any.

    Each of up to three columns is told of the cluster that goes most with it: few rows that stand out far tell of few
    others. Of two clusters it is told of the first.
    """
    others = [one for one in profile if one.column not in tested]
    if not others or not tested:
        return ""
    told = _choose_told(clusters)
    of_column = _apart_most(others, told)
    if not of_column:
        name = column_name(*tested) if len(tested) == 1 else "the columns of the rules"
        return f"Nothing but {name} differs much between the clusters: no other column by half a standard deviation."
    of_cluster: dict[int, list[str]] = {}
    for _, i, words in sorted(of_column.values(), key=lambda one: one[0])[:_TOLD]:
        size = "more often" if words["size"] == "often" else THAN_OTHERS.get(words["size"], words["size"])
        of_cluster.setdefault(i, []).append(f"{size} {words['name']}".strip())
    names = [shorten_name(cluster_name(one.name)) for one in told]
    return f"Besides, {'; '.join(f'{names[i]} has {list_words(words)}' for i, words in of_cluster.items())}."


def columns_apart(
    profile: Sequence[ColumnProfile], clusters: Sequence[ClusterSummary], tested: Collection[str]
) -> list[str]:
    """Return the columns in which clusters stand out, of those that rules do not test."""
    others = [one for one in profile if one.column not in tested]
    return [others[place].column for place in sorted(_apart_most(others, _choose_told(clusters)))]


def _choose_told(clusters: Sequence[ClusterSummary]) -> Sequence[ClusterSummary]:
    """Return the clusters that are told of: the first of two, as the other differs in the same."""
    return clusters if len(clusters) > 2 else clusters[:1]


def _apart_most(
    profile: Sequence[ColumnProfile], clusters: Sequence[ClusterSummary]
) -> dict[int, tuple[float, int, dict[str, str]]]:
    """Return by its place each column in which a cluster stands out: how much, less than zero, which, and words."""
    of_column: dict[int, tuple[float, int, dict[str, str]]] = {}
    for i, each in enumerate(clusters):
        for away, place, words in _stand_out(profile, each):
            together = away * math.sqrt(each.share * (1 - each.share))  # the correlation of column and cluster
            of_column[place] = min(of_column.get(place, (0.0, i, words)), (together, i, words), key=lambda one: one[0])
    return of_column


_TOLD = 3  # columns
THAN_OTHERS = {"high": "higher", "low": "lower", "late": "later", "early": "earlier"}


def _stand_out(
    profile: Sequence[ColumnProfile],
    cluster: ClusterSummary,
    fewest: int = 0,
    tested: Collection[str] = (),
    *,
    with_gaps: bool = True,
) -> list[tuple[float, int, dict[str, str]]]:
    """Return the columns in which a cluster stands out: how much, less than zero, its place, and words.

    IN: tested: columns in which less is told.
    """
    if cluster.size == 0:
        return []
    found: list[tuple[float, int, dict[str, str]]] = []
    for place, one in enumerate(profile):
        group: Any = one.clusters[cluster.cluster]
        lacks = _missing_in(one, cluster)
        if with_gaps and lacks is not None and abs(lacks.difference) >= STANDS_OUT:
            found.append((-abs(lacks.difference), place, _missing_or_not(one, lacks)))
        if group is None or (lacks is not None and max(lacks.share, lacks.of_others) > 0.5):
            continue
        if hasattr(group, "quantiles"):
            least = BY_RULES if one.column in tested else STANDS_OUT
            if group.difference is not None and abs(group.difference) >= least:
                said = _zero_or_one if is_zero_or_one(one) else _high_or_low
                found.append((-abs(group.difference), place, said(one, group)))  # type: ignore[arg-type]
        elif group.differences is not None:
            code = _frequent(one, group, cluster.size, fewest)
            if code is not None and group.differences[code] >= STANDS_OUT:
                found.append((-group.differences[code], place, _mostly(one, group, code)))  # type: ignore[arg-type]
    return found


def suggested_names(clusters: Sequence[ClusterSummary], profile: Sequence[ColumnProfile]) -> dict[Any, str]:
    """Return a name for each cluster that a profile suggests; see `Explanation.suggested_names`."""
    told = [distinctive_columns(profile, each, for_name=True) for each in clusters]
    words = [[f"{one['size']} {one['name']}".strip() for one in of_cluster] for of_cluster in told]
    holders: dict[str, set[int]] = {}
    for i, own in enumerate(words):
        for word in own:
            holders.setdefault(word, set()).add(i)
    found: dict[Any, str] = {}
    for cluster, own in zip(clusters, words, strict=True):
        counts = [len(set.intersection(*(holders[word] for word in own[:n]))) for n in range(1, len(own) + 1)]
        if 1 in counts:  # two words are said where they are of no other cluster, even if the first one alone is
            found[cluster.name] = ", ".join(own[: max(counts.index(1) + 1, min(2, len(own)))])
    return found


def is_zero_or_one(column: Any) -> bool:
    """Return whether a column of numbers holds only 0 and 1, by its profile: its variance is that of a share then."""
    of_all = column.everyone
    if any(x not in (0.0, 1.0) for x in of_all.quantiles):
        return False
    return math.isclose(of_all.deviation**2, of_all.mean * (1 - of_all.mean), rel_tol=1e-9, abs_tol=1e-12)


class _Missing(NamedTuple):
    """Share of a cluster that lacks a number, that of all other rows, and that of all rows."""

    share: float
    of_others: float
    of_all: float

    @property
    def difference(self) -> float:
        """How much more of the cluster lacks it than of other rows, in standard deviations."""
        return (self.share - self.of_others) / math.sqrt(self.of_all * (1 - self.of_all))


def _missing_in(column: ColumnProfile, cluster: ClusterSummary) -> _Missing | None:
    """Return how many of a cluster lack a number; None for words, where a missing one counts as another word does."""
    of_all = getattr(column.everyone, "missing", None)
    if of_all is None or not 0 < of_all < 1 or cluster.share >= 1:
        return None
    group: Any = column.clusters[cluster.cluster]
    share = 1.0 if group is None else group.missing
    return _Missing(share, (of_all - share * cluster.share) / (1 - cluster.share), of_all)


def _missing_or_not(column: ColumnProfile, lacks: _Missing) -> dict[str, str]:
    is_missing = lacks.difference > 0
    share, of_all = (one if is_missing else 1 - one for one in (lacks.share, lacks.of_all))
    told = f"{percent(share)}, all rows {percent(of_all)}"
    name = f"{column_name(column.column)} {'missing' if is_missing else 'not missing'}"
    return {"size": "mostly" if share >= 0.5 else "often", "name": name, "told": told}


def _high_or_low(column: NumberColumn, group: Any) -> dict[str, str]:
    size = "high" if group.difference > 0 else "low"
    size = size if column.dates is None else "late" if group.difference > 0 else "early"
    how, own, of_all = "typically", group.quantiles[2], column.everyone.quantiles[2]
    if own == of_all or (own > of_all) is not (group.difference > 0):  # medians do not differ as means do
        how, own, of_all = "on average", group.mean, column.everyone.mean
    said = [about(column, each) for each in (own, of_all)]
    told = f"{how} {said[0]}, all rows {said[1]}" if said[0] != said[1] else ""
    return {"size": size, "name": column_name(column.column), "told": told}


def _zero_or_one(column: NumberColumn, group: Any) -> dict[str, str]:
    """Return the value that is more frequent than elsewhere; the mean of such a column is its share of ones."""
    value = int(group.difference > 0)
    share, of_all = (mean if value else 1 - mean for mean in (group.mean, column.everyone.mean))
    told = f"{percent(share)}, all rows {percent(of_all)}"
    return {"size": "" if share >= 0.5 else "often", "name": f"{column_name(column.column)} = {value}", "told": told}


def _frequent(column: Any, group: Any, size: float, fewest: int) -> int | None:
    """Return the code of the value whose share differs most, of those that so many rows have; None if there is none."""
    often = [i for i in range(len(column.categories.values)) if round(group.shares[i] * size, 6) >= fewest]
    return max(often, key=lambda i: group.differences[i], default=None)


def _mostly(column: CategoryColumn, group: Any, code: int) -> dict[str, str]:
    name, value, share = column_name(column.column), category_of(column, code), group.shares[code]
    told = f"{percent(share)}, all rows {percent(column.everyone.shares[code])}"
    size, values = "mostly" if share >= 0.5 else "often", column.categories.values
    if code < len(values) and isinstance(values[code], bool):
        return {"size": "" if share >= 0.5 else size, "name": name if values[code] else f"not {name}", "told": told}
    return {"size": size, "name": f"{name} {value}", "told": told}
