"""What stability means, in plain English."""

from __future__ import annotations

from collections.abc import Sequence

from boxwood._validation import list_words
from boxwood.explanation.records import ClusterStability, Stability
from boxwood.words.measured import ENOUGH
from boxwood.words.notes import GROUPS, NO_VALLEY
from boxwood.words.values import cluster_name

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
    changed = f"On average {stability.changed:.1%} of the rows change cluster"
    return f"{_begin(stability)}. {changed}{_columns(stability)}.{_clearer(stability)}"


def rename_stability(stability: Stability, names: Sequence[str | int | float]) -> Stability:
    """Return the same under other names of the clusters, one for each."""
    clusters = tuple(one._replace(name=names[one.cluster]) for one in stability.clusters)
    renamed = stability._replace(clusters=clusters)
    return renamed._replace(verdict=verdict_of(renamed))


def _begin(stability: Stability) -> str:
    least = min(stability.clusters, key=lambda one: (one.jaccard_low, one.jaccard))
    what, all_of = ("clusters", "all clusters") if stability.refitted else ("rules", "the rules of all clusters")
    begin = f"The {what} are {stability.level}: in {stability.n:,} resamples of {stability.n_rows:,} rows"
    if stability.level == "stable":
        surely = f"overlap at least {least.jaccard_low:.2f} in {'95%' if stability.n >= ENOUGH else 'all'} of them"
        return f"{begin} {all_of} came back, {cluster_name(least.name)} least clearly ({surely})"
    said = " and ".join([*_name_lost(stability), *_in_part(stability)])
    if stability.level == "unstable" and not stability.refitted:
        said += ", so other rows would have led to other rules"
    return f"{begin} {said}"


def _name_lost(stability: Stability) -> list[str]:
    """Return which clusters were lost in some resamples, and in how many."""
    lost = [one for one in stability.clusters if one.lost]
    verbs = ["was lost in", *["in"] * len(lost)]
    said = [
        f"{cluster_name(one.name)} {verb} {one.lost:,} of {stability.n:,}"
        for one, verb in zip(lost, verbs, strict=False)
    ]
    return [f"{list_words(said, NAMED)} (overlap below {LOST})"] if said else []


def _in_part(stability: Stability) -> list[str]:
    """Return which other clusters return in part alone."""
    weak = [one for one in stability.clusters if one.jaccard_low < STABLE and not one.lost]
    if not weak:
        return []
    overlap = f"overlap down to {min(one.jaccard_low for one in weak):.2f}"
    return [f"{list_words([cluster_name(one.name) for one in weak], NAMED)} came back only in part ({overlap})"]


def _columns(stability: Stability) -> str:
    """Return how many of the tree's columns surely return in half of the trees: one of their cuts does."""
    returns: dict[str, float] = {}
    for cut in stability.cuts:
        returns[cut.column] = max(cut.returns, returns.get(cut.column, 0.0))
    n = sum(share >= OFTEN for share in returns.values())
    if not n:
        return ""
    which = "each column" if n == len(returns) else f"at least {n} of the {len(returns)} columns"
    return f", and {which} of this tree {'is' if n == len(returns) else 'are'} used by at least half of the trees"


def _clearer(stability: Stability) -> str:
    """Return whether the rows show groups, as clusters may return where none are."""
    if stability.clearer is None:
        why = stability.untested or ("" if stability.refitted else "The clusters were not made again")
        return f" {why}, so there is no test of whether the groups are real." if why else ""
    if stability.clearer:
        return f" {GROUPS[0].upper()}{GROUPS[1:]}."
    return (
        f" Whether there are groups at all is not shown: {NO_VALLEY}. "
        "Read them as one way to divide the rows, not as groups that exist."
    )
