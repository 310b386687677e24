"""`rounded`: an explanation in which no group of few rows can be worked out, as all its counts are rounded.

Each number of rows of a cluster in a leaf is rounded to a multiple of a given count. All other counts are sums of
these, and all shares follow from them, so that nothing more is told than these multiples.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood.errors import DataError
from boxwood.render.pictures.picture import CutBox, held_of, picture_of

if TYPE_CHECKING:
    from boxwood.explanation.records import ColumnProfile
    from boxwood.explanation.verbs import Measurable

_OF_ROWS = re.compile(
    r"\d%?( of [\d,]+)? (of )?(the |all )?rows?\b|weight \d|^read as numbers: |: read as numbers; |"
    r"leaves (the rules|that was tried) "
)
"""In notes that tell how many rows there are, a share of them, or the value of one."""


def rounded(ex: Measurable, count: int) -> Measurable:
    """Return an explanation with counts in multiples of `count`, and with shares that follow from them.

    A group that is rounded to no row has no profile. What tells of the same rows once more, and would narrow them down,
    is left out: notes with numbers of rows or a value, rows held out, and the frontier.
    """
    from boxwood.explanation.records import clusters_of

    cells, sizes = _cells(ex, count)
    own = cells[np.arange(ex.n_leaves), ex.tree.leaf_clusters]
    total = float(cells.sum())
    if total == 0 or sizes.sum() == 0:
        raise ValueError(f"min_count={count} rounds all counts to 0; choose a smaller one")
    leaves = tuple(
        leaf._replace(size=size, own=right, noise=None)
        for leaf, size, right in zip(ex.leaves, cells.sum(axis=1).tolist(), own.tolist(), strict=True)
    )
    rules = [cluster.rules for cluster in ex.clusters]
    n_left_out = int(_multiples(ex.n_left_out, count))
    n_kept = int(_multiples(ex.n_rows - ex.n_left_out, count) if ex.weighted else total)
    found = replace(
        ex,
        n_rows=n_kept + n_left_out,
        n_left_out=n_left_out,
        leaves=leaves,
        clusters=clusters_of(leaves, ex.names, sizes.tolist(), rules),
        agreement=float(own.sum() / total),
        notes=tuple(note for note in ex.notes if not _OF_ROWS.search(note)),
        held_out=None,
        _kept=_kept(ex, sizes, n_kept, count) | ({} if held_of(ex) is None else {"held": cells}),
    )
    picture = picture_of(found)
    found._kept["picture"] = picture._replace(cuts=tuple(_with_rounded_bars(cut, count) for cut in picture.cuts))
    return found


def profile_or_none(ex: Measurable) -> tuple[ColumnProfile, ...]:
    """Return the profile; none for a model without rows."""
    try:
        return ex.profile()
    except DataError:
        return ()


# ----------------------------------------------------------------------------------------------------------- steps


def _multiples(counts: ArrayLike, count: int) -> Floats:
    """Return the nearest multiples; the half of one goes up."""
    return np.asarray(np.floor(np.asarray(counts, dtype=np.float64) / count + 0.5) * count)


def _cells(ex: Measurable, count: int) -> tuple[Floats, Floats]:
    """Return the rows by leaf and cluster, shape (n_leaves, k), and by cluster, rounded.

    A model without rows knows the rows of each leaf's own cluster; others count for the next cluster, whichever it is.
    """
    held = held_of(ex)
    if held is not None:
        cells = _multiples(held, count)
        return cells, cells.sum(axis=0)
    k, clusters = ex.n_clusters, ex.tree.leaf_clusters
    own, sizes = (np.array([getattr(leaf, name) for leaf in ex.leaves]) for name in ("own", "size"))
    right = _multiples(own, count)
    cells = np.zeros((ex.n_leaves, k))
    cells[np.arange(ex.n_leaves), clusters] = right
    cells[np.arange(ex.n_leaves), (clusters + 1) % k] += _multiples(sizes - own, count)
    missed = np.array([one.size for one in ex.clusters]) - np.bincount(clusters, own, minlength=k)
    return cells, np.bincount(clusters, right, minlength=k) + _multiples(missed, count)


def _kept(ex: Measurable, sizes: Floats, n_kept: int, count: int) -> dict[str, Any]:
    """Return the measurements that were asked for, rounded."""
    from boxwood.explanation.verdict import ROWS, verdict_of

    kept = {name: found for name, found in ex._kept.items() if name not in ("picture", "frontier", "worth")}
    kept["profile"] = tuple(filter(None, (_column(ex, one, sizes, count) for one in profile_or_none(ex))))
    if "stability" in kept:
        stability = kept["stability"]._replace(n_rows=min(n_kept, ROWS))
        kept["stability"] = stability._replace(verdict=verdict_of(stability))
    return kept


def _column(ex: Measurable, column: ColumnProfile, sizes: Floats, count: int) -> Any:
    """Return the profile of a column, with rounded shares and without groups that are rounded to no row.

    IN: sizes (k,): of the clusters, rounded. None for a column of categories of which no row is left.
    """
    groups: list[Any] = [group if size else None for group, size in zip(column.clusters, sizes.tolist(), strict=True)]
    everyone: Any = column.everyone
    if hasattr(everyone, "shares"):
        pairs = zip(groups, ex.clusters, strict=True)
        rows = [
            0.0 if group is None else _multiples(np.multiply(group.shares, one.size), count) for group, one in pairs
        ]
        groups = [_with_shares(group, part) for group, part in zip(groups, rows, strict=True)]
        everyone = _with_shares(everyone, sum(rows))
    elif everyone.missing is not None:
        groups = [
            group and _with_missing(group, size, count) for group, size in zip(groups, sizes.tolist(), strict=True)
        ]
        everyone = _with_missing(everyone, float(sizes.sum()), count)
    return everyone and column._replace(clusters=tuple(groups), everyone=everyone)


def _with_shares(group: Any, rows: Any) -> Any:
    """Return a group of categories with the shares of these rows; None if there are none."""
    total = np.sum(rows)
    return None if group is None or total == 0 else group._replace(shares=tuple((rows / total).tolist()))


def _with_missing(group: Any, size: float, count: int) -> Any:
    """Return a group of numbers with a share of missing values in multiples of `count` rows."""
    return group._replace(missing=min(float(_multiples(group.missing * size, count)) / size, 1.0))


def _with_rounded_bars(cut: CutBox, count: int) -> CutBox:
    """Return a cut with rounded bars, without the end of the axis where the outer bar is rounded to no row."""
    if cut.bars is None:
        return cut
    counts = _multiples(cut.bars.counts, count)
    totals = counts.sum(axis=0)
    last = totals[-1 if cut.bars.gap is None else -2]
    is_shown = {"start": totals[0] > 0, "end": last > 0, "middle": True}
    labels = tuple(label for label in cut.labels if is_shown[label.anchor])
    return cut._replace(bars=cut.bars._replace(counts=counts), labels=labels)
