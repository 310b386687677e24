"""What stability means, in plain English."""

from __future__ import annotations

from collections.abc import Sequence

from boxwood._validation import listed
from boxwood.explanation.records import ClusterStability, Stability
from boxwood.render.words.rules import cluster_name

__all__ = ["ROWS", "level_of", "renamed_in", "verdict_of"]

ROWS = 10_000  # most rows of a resample

STABLE, LOST = 0.75, 0.5  # overlaps of a valid cluster, and of one that is dissolved, as Hennig's fpc says
NAMED = 3  # clusters that are named in the sentence
OFTEN = 0.5  # share of trees that test a column which returns


def level_of(clusters: Sequence[ClusterStability]) -> str:
    """Return "stable", "doubtful" or "unstable": that of the least stable cluster, where it returns least."""
    least = min(one.jaccard_low for one in clusters)
    if least < LOST:
        return "unstable"
    return "stable" if least >= STABLE and not any(one.lost for one in clusters) else "doubtful"


def verdict_of(stability: Stability) -> str:
    """Return sentences on the clusters, rows and columns that return, and one on whether groups are there at all."""
    what = "clusters" if stability.refitted else "rules, for clusters that were given,"
    found = f"in {stability.n:,} resamples of {stability.n_rows:,} rows"
    changed = f"{stability.changed:.1%} of the rows change their cluster on average"
    return f"{_begin(stability, what, found)}; {changed}{_columns(stability)}.{_clearer(stability)}"


def renamed_in(stability: Stability, names: Sequence[str | int | float]) -> Stability:
    """Return the same under other names of the clusters, one for each."""
    clusters = tuple(one._replace(name=names[one.cluster]) for one in stability.clusters)
    renamed = stability._replace(clusters=clusters)
    return renamed._replace(verdict=verdict_of(renamed))


def _begin(stability: Stability, what: str, found: str) -> str:
    least = min(stability.clusters, key=lambda one: (one.jaccard_low, one.jaccard))
    begin = f"The {what} are {stability.level}: {found}"
    if stability.level == "stable":
        return (
            f"{begin} all return, {cluster_name(least.name)} the least (overlap {least.jaccard_low:.2f} or more in 95%)"
        )
    said = " and ".join([*_lost(stability), *_in_part(stability)])
    if stability.level == "unstable" and not stability.refitted:
        said += ", so other rows would have given other rules"
    return f"{begin} {said}"


def _lost(stability: Stability) -> list[str]:
    """Return which clusters were lost in some resamples, and in how many."""
    lost = [one for one in stability.clusters if one.lost]
    verbs = ["was lost in", *["in"] * len(lost)]
    said = [
        f"{cluster_name(one.name)} {verb} {one.lost:,} of {stability.n:,}"
        for one, verb in zip(lost, verbs, strict=False)
    ]
    return [f"{listed(said, NAMED)} (overlap below {LOST})"] if said else []


def _in_part(stability: Stability) -> list[str]:
    """Return which other clusters return in part alone."""
    weak = [one for one in stability.clusters if one.jaccard_low < STABLE and not one.lost]
    if not weak:
        return []
    overlap = f"overlap down to {min(one.jaccard_low for one in weak):.2f}"
    return [f"{listed([cluster_name(one.name) for one in weak], NAMED)} returned only in part ({overlap})"]


def _columns(stability: Stability) -> str:
    """Return how many of the tree's columns return in half of the trees."""
    returns: dict[str, float] = {cut.column: cut.returns for cut in stability.cuts}
    if not returns:
        return ""
    n = sum(share >= OFTEN for share in returns.values())
    if n == len(returns):
        return ", and every column of the tree is used again by most trees"
    return f", and {n} of the {len(returns)} columns of the tree are used again by most trees"


def _clearer(stability: Stability) -> str:
    """Return whether the clusters are clearer than in data without groups, as clusters may return where none are."""
    if stability.clearer is None:
        return "" if stability.refitted else " Whether the groups are real is not tested, as labels were given."
    shares = f"{stability.explained:.0%} of the variance, and without groups at most {stability.without_groups:.0%}"
    begin = " Clearer than in data without groups"
    if stability.clearer:
        return f"{begin}: yes. The clusters explain {shares} would be expected."
    advice = "So read them as one way to divide the rows, not as groups that are there."
    return f"{begin}: not shown. The clusters explain {shares} would be expected. {advice}"
