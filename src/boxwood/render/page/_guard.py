"""`as_shown`: an explanation as a page shows it: without values of clusters of few rows, and with rounded counts.

If counts are rounded, each number of rows of a cluster in a leaf is rounded down to a multiple of a given count. All
other counts are sums of these, and all shares follow from them, so that nothing more is told than these multiples.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood.errors import DataError
from boxwood.explanation.measure.told import count_rows_of_clusters, profile_told, totals_told
from boxwood.explanation.records import FEW
from boxwood.render.forms.walk import codes_at_cuts
from boxwood.render.page._parts import LARGEST
from boxwood.render.pictures.bars import Bars
from boxwood.render.pictures.picture import CutBox, bars_of, held_of, picture_of
from boxwood.words.distinctive import is_zero_or_one

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.explanation.records import ColumnProfile

_OF_ROWS = re.compile(
    r"\d%|\d( of [\d,]+)? (of )?(the |all )?rows?\b|weight \d|^read as numbers: |: read as numbers; |"
    r"leaves (the rules|that was tried) "
)
"""In notes that tell how many rows there are, a share of them, or how a column is read."""


def as_shown(ex: MeasuredTree, count: int | None, *, has_profile: bool = True) -> MeasuredTree:
    """Return an explanation as a page shows it: nothing kept with it tells values of clusters of few rows.

    These have fewer than five rows, or fewer than `count`, to whose multiples all counts are rounded down; None rounds
    nothing. What tells of the same rows once more, and would narrow them down, is left out if counts are rounded: notes
    with numbers or shares of rows, rows held out, sums of values, and the frontier. IN: has_profile: whether the page
    shows the profile, which may have to be measured for it.
    """
    if has_profile:
        _profile_or_none(ex)
    least = least_shown(count)
    kept = {name: one for name, one in ex._kept.items() if name not in ("picture", "totals")}
    kept |= {"profile": profile_told(ex, least) if has_profile else (), "bars": bars_told(ex, least, count)}
    if (worth := totals_told(ex, least)) is not None:
        kept["totals"] = worth
    found = replace(ex, _kept=kept)
    if count is not None:
        kept["shapes"] = {}  # rows of words
        found = _with_rounded_counts(found, count)
    picture = picture_of(found)
    boxes = (
        [_mark_rounded(count, _with_ends(box)) for box in picture.cuts],
        [_mark_rounded(count, box) for box in picture.leaves],
    )
    found._kept["picture"] = picture._replace(cuts=tuple(boxes[0]), leaves=tuple(boxes[1]))
    return found


def least_shown(count: int | None) -> int:
    """Return the fewest rows of a group whose values a page shows; IN: count: to which counts are rounded, or None."""
    return FEW if count is None else max(FEW, count)


def hidden_clusters(ex: MeasuredTree, count: int | None) -> dict[int, str]:
    """Return for each cluster of which a page shows no values, as it has few rows, how many these are."""
    least, rows = least_shown(count), count_rows_of_clusters(ex).tolist()
    is_exact = count is None and not (ex.details.weighted and ex._evidence is None)
    return {
        i: f"fewer than {least} rows" if not is_exact else "one row" if n == 1 else f"{n:.0f} rows"
        for i, n in enumerate(rows)
        if 0 < n < least
    }


def _profile_or_none(ex: MeasuredTree) -> tuple[ColumnProfile, ...]:
    """Return the profile; none for a model without rows."""
    from boxwood.explanation.measure.profile import measure_profile

    try:
        return measure_profile(ex)
    except DataError:
        return ()


# ----------------------------------------------------------------------------------------------------------- steps
def _with_rounded_counts(ex: MeasuredTree, count: int) -> MeasuredTree:
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
    n_kept = int(_multiples(ex.n_rows - ex.n_left_out, count) if ex.details.weighted else total)
    return replace(
        ex,
        n_rows=n_kept + n_left_out,
        n_left_out=n_left_out,
        details=ex.details._replace(n_incomplete=int(_multiples(ex.details.n_incomplete, count))),
        leaves=leaves,
        clusters=clusters_of(leaves, ex.names, sizes.tolist(), rules),
        agreement=float(own.sum() / total),
        notes=tuple(note for note in ex.notes if not _OF_ROWS.search(note)),
        held_out=None,
        _kept=_round_kept(ex, sizes, n_kept, count) | ({} if held_of(ex) is None else {"held": cells}),
    )


def _multiples(counts: ArrayLike, count: int) -> Floats:
    """Return the multiples, rounded down; an error of a sum of shares counts as none."""
    return np.asarray(np.floor(np.asarray(counts, dtype=np.float64) / count + 1e-9) * count)


def _cells(ex: MeasuredTree, count: int) -> tuple[Floats, Floats]:
    """Return the rows by leaf and cluster, shape (n_leaves, k), and by cluster, rounded.

    If rows are weighted, a cell of fewer rows than `count` is rounded to 0, whatever these weigh. A model without rows
    knows the rows of each leaf's own cluster; others count for the next cluster, whichever it is.
    """
    held = held_of(ex)
    if held is not None:
        cells = np.where(_rows_held(ex) < count, 0.0, _multiples(held, count))
        return cells, cells.sum(axis=0)
    k, clusters = ex.n_clusters, ex.tree.leaf_clusters
    own, sizes = (np.array([getattr(leaf, name) for leaf in ex.leaves]) for name in ("own", "size"))
    right = _multiples(own, count)
    cells = np.zeros((ex.n_leaves, k))
    cells[np.arange(ex.n_leaves), clusters] = right
    cells[np.arange(ex.n_leaves), (clusters + 1) % k] += _multiples(sizes - own, count)
    missed = np.array([one.size for one in ex.clusters]) - np.bincount(clusters, own, minlength=k)
    return cells, np.bincount(clusters, right, minlength=k) + _multiples(missed, count)


def _rows_held(ex: MeasuredTree) -> Floats:
    """Return the number of rows of each cluster in each leaf, whatever they weigh; may take a pass."""
    known = ex._known()
    if not ex.details.weighted:
        return known.held.astype(np.float64)
    if known.facts is not None:
        return np.asarray(known.facts.of_trees([ex.tree])[0].rows, dtype=np.float64)
    kept, k = known.task.kept, ex.n_clusters
    cells = known.leaf[kept] * k + known.task.reference.labels[kept]
    return np.bincount(cells, minlength=ex.n_leaves * k).reshape(-1, k).astype(np.float64)


def bars_told(ex: MeasuredTree, least: int, count: int | None) -> dict[int, Bars]:
    """Return the bars of cuts, without clusters of few rows, and with rounded counts; without any if few are left.

    A tree that is too large to be drawn has none.
    """
    if ex._in_memory is None or ex.n_leaves > LARGEST:
        return {}
    said = ex._in_words()
    codes, hidden = codes_at_cuts(said.tree, said._coded_columns), count_rows_of_clusters(ex) < least
    rows, found = bars_of(said, codes, weighted=False), {}
    weights = bars_of(said, codes) if ex.details.weighted else rows
    for node, bars in weights.items():
        n = rows[node].counts.copy()
        n[hidden] = 0.0
        is_shown = (n >= (1 if count is None else count)) & (n.sum() >= least)
        counts = bars.counts if count is None else _multiples(bars.counts, count)
        found[node] = bars._replace(counts=np.where(is_shown, counts, 0.0))
    return found


def _with_ends(cut: CutBox) -> CutBox:
    """Return a cut without the end of the axis where the outer bar holds no row."""
    if cut.bars is None:
        return cut
    totals = cut.bars.counts.sum(axis=0)
    last = totals[-1 if cut.bars.gap is None else -2]
    is_shown = {"start": totals[0] > 0, "end": last > 0, "middle": True}
    return cut._replace(labels=tuple(label for label in cut.labels if is_shown[label.anchor]))


def _mark_rounded(count: int | None, box: Any) -> Any:
    """Return a box of the picture that says so where its rows are rounded to none."""
    return box if count is None or box.rows else box._replace(note=f"fewer than {count} rows")


def _round_kept(ex: MeasuredTree, sizes: Floats, n_kept: int, count: int) -> dict[str, Any]:
    """Return the measurements that were asked for, rounded."""
    from boxwood.explanation.verdict import ROWS, verdict_of

    kept = {name: found for name, found in ex._kept.items() if name not in ("picture", "frontier", "totals", "lines")}
    kept["profile"] = tuple(filter(None, (_column(ex, one, sizes, count) for one in ex._kept.get("profile", ()))))
    if "stability" in kept:
        stability = kept["stability"]._replace(n_rows=min(n_kept, ROWS))
        kept["stability"] = stability._replace(verdict=verdict_of(stability))
    return kept


def _column(ex: MeasuredTree, column: ColumnProfile, sizes: Floats, count: int) -> Any:
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
    elif is_zero_or_one(column):  # type: ignore[arg-type]
        pairs = zip(groups, ex.clusters, strict=True)
        ones = [0.0 if group is None else float(_multiples(group.mean * one.size, count)) for group, one in pairs]
        groups = [
            group and _with_share(group, part / size)
            for group, part, size in zip(groups, ones, sizes.tolist(), strict=True)
        ]
        shown = [size for group, size in zip(groups, sizes.tolist(), strict=True) if group is not None]
        everyone = _with_share(everyone, sum(ones) / sum(shown)) if shown else None
    if hasattr(everyone, "missing") and everyone.missing is not None:
        groups = [
            group and _with_missing(group, size, count) for group, size in zip(groups, sizes.tolist(), strict=True)
        ]
        everyone = _with_missing(everyone, float(sizes.sum()), count)
    return everyone and column._replace(clusters=tuple(groups), everyone=everyone)


def _with_shares(group: Any, rows: Any) -> Any:
    """Return a group of categories with the shares of these rows; None if there are none."""
    total = np.sum(rows)
    return None if group is None or total == 0 else group._replace(shares=tuple((rows / total).tolist()))


def _with_share(group: Any, share: float) -> Any:
    """Return a group of a column of 0 and 1 with another share of ones."""
    share = min(share, 1.0)
    return group._replace(mean=share, deviation=math.sqrt(share * (1 - share)))


def _with_missing(group: Any, size: float, count: int) -> Any:
    """Return a group of numbers with a share of missing values in multiples of `count` rows."""
    return group._replace(missing=min(float(_multiples(group.missing * size, count)) / size, 1.0))
