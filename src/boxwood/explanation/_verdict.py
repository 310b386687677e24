"""What stability means, in one sentence of plain English."""

from __future__ import annotations

from collections.abc import Sequence

from boxwood._validation import listed
from boxwood.explanation._records import ClusterStability, Stability
from boxwood.render._rules import cluster_name

__all__ = ["level_of", "renamed_in", "verdict_of"]

STABLE, FOUND = 0.75, 0.6  # mean overlaps of valid clusters, and of those that may be trusted, as Hennig's fpc says
NAMED = 3  # clusters that are named in the sentence
OFTEN = 0.5  # share of trees that test a column which returns


def level_of(clusters: Sequence[ClusterStability]) -> str:
    """Return "stable", "doubtful" or "unstable": that of the least stable cluster."""
    least = min(one.jaccard for one in clusters)
    return "stable" if least >= STABLE else "doubtful" if least >= FOUND else "unstable"


def verdict_of(stability: Stability) -> str:
    """Return one sentence on the clusters that are found again, the rows that change, and the columns that return."""
    what = "clusters" if stability.refitted else "rules, for clusters that were given,"
    found = f"in {stability.n:,} resamples of {stability.n_rows:,} rows"
    changed = f"{stability.changed:.1%} of the rows change their cluster on average"
    return f"{_begin(stability, what, found)}; {changed}{_columns(stability)}."


def renamed_in(stability: Stability, names: Sequence[str | int | float]) -> Stability:
    """Return the same under other names of the clusters, one for each."""
    clusters = tuple(one._replace(name=names[one.cluster]) for one in stability.clusters)
    renamed = stability._replace(clusters=clusters)
    return renamed._replace(verdict=verdict_of(renamed))


def _begin(stability: Stability, what: str, found: str) -> str:
    least = min(stability.clusters, key=lambda one: one.jaccard)
    if stability.level == "stable":
        overlap = f"{cluster_name(least.name)} the least (mean overlap {least.jaccard:.2f})"
        return f"The {what} are stable: {found} all return, {overlap}"
    below = FOUND if stability.level == "unstable" else STABLE
    weak = [cluster_name(one.name) for one in stability.clusters if one.jaccard < below]
    names = listed(weak, NAMED) + (" does" if len(weak) == 1 else " do")
    overlap = f"(mean overlap below {below}, at worst {least.jaccard:.2f})"
    if stability.level == "doubtful":
        return f"The {what} are doubtful: {found} {names} not return in full {overlap}"
    advice = "read them as one way to divide the rows, not as groups that are there"
    advice = advice if stability.refitted else "other rows would have given other rules"
    return f"The {what} are unstable: {found} {names} not return {overlap}, so {advice}"


def _columns(stability: Stability) -> str:
    """Return how many of the tree's columns return in half of the trees."""
    returns: dict[str, float] = {cut.column: cut.returns for cut in stability.cuts}
    if not returns:
        return ""
    n = sum(share >= OFTEN for share in returns.values())
    if n == len(returns):
        return ", and every column of the tree is used again by most trees"
    return f", and {n} of the {len(returns)} columns of the tree are used again by most trees"
