"""`drift_of`: the tree of an explanation on later rows, and which of its numbers changed beyond chance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._types import Array, Floats, Indices
from boxwood.axes import Categories
from boxwood.explanation.living.chance import ALARM, LEAST, of_chosen, of_shapes, of_shares
from boxwood.explanation.living.counts import Counts, count_rows
from boxwood.explanation.living.results import (
    ClusterDrift,
    ColumnDrift,
    CutDrift,
    DriftFacts,
    LabelDrift,
    LostRows,
    Told,
    WordsDrift,
)
from boxwood.explanation.living.shapes import (
    FACTORS,
    Shape,
    all_edges,
    count_between,
    in_unit,
    shapes_of,
    with_rare_apart,
)
from boxwood.explanation.records import condition_of
from boxwood.tree.nodes import Cut

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

MOVED = 0.1
"""Share of the rows of a cluster that lie elsewhere in a column, from which on it is said to have moved."""
_WORDS = 20  # of a column that were never seen, and new labels, told by name
NO_SHAPES = "the model has no measurements of its columns within clusters, so only the cuts show which column moved"
OF_WEIGHTS = "the model's sizes are sums of weights, but each new row counts as one; pass sample_weight"
OF_MEAN = (
    "the model knows how many rows had no cluster, but not their weight, so each counts as much as the others' mean"
)
NO_NOISE = "the model was saved without counts of rows in no cluster, so its sizes count only rows in clusters"


class _Test(NamedTuple):
    """A question to the counts: how probable so much is by chance, and what is told if it is not."""

    probability: float
    told: Told


def drift_on(ex: MeasuredTree, X: Any, labels: Any, sample_weight: Any) -> DriftFacts:
    """See `Explanation.drift`."""
    if sample_weight is not None and not ex.details.weighted:
        raise ValueError(
            "sample_weight is for models of weighted rows, and the rows of this one were counted: leave it out"
        )
    return drift_of(ex, count_rows(ex, X, labels, sample_weight))


def drift_of(ex: MeasuredTree, counts: Counts) -> DriftFacts:
    """Return what became of a tree on rows that were counted."""
    held, then = counts.at_leaves, rows_then(ex)
    n_rows, n_with = held.sum().item(), held[:-1].sum().item()
    n_lost, n_lost_then = n_rows - n_with, _lost_then(ex)
    clusters, cuts = _clusters(ex, counts, then), _cuts(ex, held[:-1], then)
    columns, words, labels = _columns(ex, counts), _words(ex, counts), _labels(ex, counts)
    untested = _reason_untested(ex, n_rows)
    found = [] if untested else _beyond_chance(ex, counts, clusters, cuts, (columns, words), labels, n_lost)
    told = [*found, *(Told("new label", label, None, rows) for label, rows in ([] if labels is None else labels.new))]
    marked = {(one.change, one.name) for one in told}
    return DriftFacts(
        n_then=float(then.sum()) + n_lost_then,
        n_rows=n_rows,
        clusters=tuple(one._replace(change=_change(one, marked)) for one in clusters),
        cuts=tuple(one._replace(moved=("cut", one.node) in marked) for one in cuts),
        columns=tuple(one._replace(change=_column_change(one.column, marked)) for one in columns),
        words=tuple(one._replace(change=_column_change(one.column, marked)) for one in words),
        lost=_list_lost(ex, counts),
        n_lost_then=n_lost_then,
        labels=labels,
        changes=tuple([one for one in told if one.change != "cut"] or told),  # cuts follow from most other changes
        untested=untested,
        notes=_notes(ex, counts),
        provenance=ex.provenance,
    )


def _notes(ex: MeasuredTree, counts: Counts) -> tuple[str, ...]:
    """Return what the model cannot tell."""
    of_weights = ex.details.weighted and not counts.weighted
    of_mean = ex.details.weighted and ex.details.n_unruled > 0
    told = {
        NO_SHAPES: shapes_of(ex) is None,
        NO_NOISE: ex.details.noise is None,
        OF_WEIGHTS: of_weights,
        OF_MEAN: of_mean,
    }
    return tuple(note for note, is_so in told.items() if is_so)


def rows_then(ex: MeasuredTree) -> Floats:
    """Return the rows of the model at each leaf, whether they are in a cluster or in none, shape (n_leaves,)."""
    weighted = ex.details.weighted
    return np.array([leaf.size + (0 if weighted else leaf.noise or 0) for leaf in ex.leaves], dtype=np.float64)


def _lost_then(ex: MeasuredTree) -> float:
    """Return the rows of the model without a cluster, or about their weight; see `OF_MEAN`."""
    if not ex.details.weighted:
        return ex.details.n_unruled
    return ex.details.n_unruled * float(rows_then(ex).sum()) / max(ex.n_rows - ex.n_left_out, 1)


def _reason_untested(ex: MeasuredTree, n_rows: int) -> str:
    """Return why no change is told; nothing if there is no reason."""
    if ex.details.weighted:
        return "the rows of the model were weighted, so chance is not tested"
    if min(n_rows, ex.n_rows) < LEAST:
        return f"too few rows to tell a change from chance: fewer than {LEAST}"
    return ""


def _change(one: ClusterDrift, marked: set[tuple[str, object]]) -> str:
    return next((word for word in ("grew", "shrank") if (word, one.name) in marked), "")


def _column_change(column: str, marked: set[tuple[str, object]]) -> str:
    return next((word for word in ("another unit", "moved") if (word, column) in marked), "")


# ------------------------------------------------------------------------------------------------------ then and now


def _clusters(ex: MeasuredTree, counts: Counts, then: Floats) -> list[ClusterDrift]:
    of_leaf, k = ex.tree.leaf_clusters, ex.n_clusters
    sizes_then = np.bincount(of_leaf, then, minlength=k)
    sizes = np.bincount(of_leaf, counts.at_leaves[:-1], minlength=k)
    confusion = _confusion(ex, counts)  # rows of each label among those of each rule
    own, labelled, ruled = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    rows = zip(ex.clusters, sizes_then.tolist(), sizes.tolist(), own, labelled, ruled, strict=True)
    found, of_then, of = [], then.sum() + _lost_then(ex), counts.at_leaves.sum()
    for one, n_then, n, n_own, n_labelled, n_ruled in rows:
        shares = _share(n_then, of_then), _share(n, of)
        drift = ClusterDrift(one.cluster, one.name, n_then, n, *shares)
        if counts.labelled:
            drift = drift._replace(found_then=one.found, found=_ratio(n_own, n_labelled))
            drift = drift._replace(precision_then=one.precision, precision=_ratio(n_own, n_ruled))
        found.append(drift)
    return found


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


def _ratio(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None


def _confusion(ex: MeasuredTree, counts: Counts) -> Indices:
    """Return the rows of each label that are in each cluster of the rules, shape (k, k)."""
    found = np.zeros((ex.n_clusters, ex.n_clusters), dtype=counts.at_leaves.dtype)
    for label, rows in counts.held.items():
        if isinstance(label, int):
            np.add.at(found[label], ex.tree.leaf_clusters, rows[:-1])
    return found


def _cuts(ex: MeasuredTree, now: Indices, then: Floats) -> list[CutDrift]:
    said, tree = ex._in_words(), ex._in_words().tree
    below = [_below(ex, rows) for rows in (then, now)]
    found = []
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        feature, upper, lower, members = tree.test(node)
        cut = Cut(node, feature, lower, upper, True, members)
        condition = condition_of(cut, ex.columns, said._coded_columns, ex._gap_columns, ex._date_columns)
        (of_then, inside_then), (of, inside) = ((rows[node], rows[node + 1]) for rows in below)
        shares = _ratio(inside_then, of_then), _ratio(inside, of)
        found.append(CutDrift(node, condition, float(of_then), float(of), *shares))
    return found


def _below(ex: MeasuredTree, at_leaves: Array) -> Floats:
    """Return the rows below each node, shape (n_nodes,), from those at each leaf."""
    rows, tree = np.zeros(ex.tree.n_nodes), ex.tree
    rows[tree.leaf_nodes] = at_leaves
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():  # children lie behind their parents
        rows[node] = rows[node + 1] + rows[tree.second[node]]
    return rows


def _columns(ex: MeasuredTree, counts: Counts) -> list[ColumnDrift]:
    edges, shapes = all_edges(ex), shapes_of(ex) or {}
    numbers = [(j, shape) for j, shape in shapes.items() if shape.edges and j not in ex._coded_columns]
    return [_column(ex, j, shape, edges[j], counts.bins[j]) for j, shape in numbers]


def _column(ex: MeasuredTree, j: int, shape: Shape, edges: Floats, counts: Indices) -> ColumnDrift:
    own = np.array(shape.edges)
    now, then = count_between(edges, counts, own), np.array(shape.held, dtype=np.float64)
    half = int(np.abs(np.cumsum(then.sum(axis=0)[:-2]) - then[:, :-1].sum() / 2).argmin())
    above_then, above = (_share(rows[:, half + 1 : -1].sum(), rows[:, :-1].sum()) for rows in (then, now))
    missing_then, missing = (_share(rows[:, -1].sum(), rows.sum()) for rows in (then, now))
    factor = None if j in ex._date_columns else _factor(own, edges, counts, then)
    beside = above_then, above, missing_then, missing
    return ColumnDrift(ex.columns[j], float(own[half]), *beside, _share_moved(now, then), factor)


def _words(ex: MeasuredTree, counts: Counts) -> list[WordsDrift]:
    words = [j for j in shapes_of(ex) or {} if j in ex._coded_columns]
    return [_of_words(ex.columns[j], ex._coded_columns[j], *_within(ex, j, counts)) for j in words]


def _of_words(column: str, known: Categories, now: Indices, then: Indices) -> WordsDrift:
    shares = np.array([rows.sum(axis=0) / max(rows.sum(), 1) for rows in (then, now)])
    most = int(np.abs(shares[1] - shares[0]).argmax())
    then_of, now_of = shares[:, most].tolist()
    return WordsDrift(column, known.value(most), then_of, now_of, _share_moved(now, then))


def _within(ex: MeasuredTree, j: int, counts: Counts) -> tuple[Indices, Indices]:
    """Return the rows of each cluster in each bin of a shape, now and then, shapes (k, m)."""
    shape = (shapes_of(ex) or {})[j]
    now, then = count_between(all_edges(ex)[j], counts.bins[j], np.array(shape.edges)), np.array(shape.held)
    return (with_rare_apart(now, np.asarray(then.sum(axis=0) == 0)) if j in ex._coded_columns else now), then


def _share_moved(now: Array, then: Array) -> float:
    """Return the share of the rows of a cluster that lie in other bins than they did, weighted by rows now."""
    both = (now.sum(axis=1) >= LEAST) & (then.sum(axis=1) >= LEAST)
    if not both.any():
        return 0.0
    now, then = now[both], then[both]
    apart = np.abs(now / now.sum(axis=1, keepdims=True) - then / then.sum(axis=1, keepdims=True)).sum(axis=1) / 2
    return float(np.average(apart, weights=now.sum(axis=1)))


def _factor(own: Floats, edges: Floats, counts: Indices, then: Array) -> float | None:
    """Return how many times as large the numbers are about, if that alone explains where they lie now."""

    def apart(factor: float) -> float:
        base = own[::2]
        before = count_between(own, then, base).sum(axis=0)[:-1]
        now = count_between(edges, counts, base if factor == 1 else in_unit(own, factor)).sum(axis=0)[:-1]
        return float(np.abs(before / max(before.sum(), 1) - now / max(now.sum(), 1)).sum() / 2)

    as_they_are = apart(1)
    if as_they_are < _OTHER_UNIT or not (own != 0).any():
        return None
    best = min((*FACTORS, *(1 / factor for factor in FACTORS)), key=apart)
    return best if apart(best) < as_they_are / 3 else None


_OTHER_UNIT = 0.3  # share of the rows that lie in other bins, from which on another unit may be the reason


def _labels(ex: MeasuredTree, counts: Counts) -> LabelDrift | None:
    if not counts.labelled:
        return None
    confusion = _confusion(ex, counts)
    new = [(label, rows.sum().item()) for label, rows in counts.held.items() if isinstance(label, str)]
    unlabelled = counts.held.get(None, np.zeros(1, dtype=np.int64)).sum()
    agreement = _ratio(np.trace(confusion), confusion.sum())
    new.sort(key=lambda one: (-one[1], one[0]))
    then = ex.agreement if ex.held_out is None else ex.held_out.agreement
    return LabelDrift(then, agreement, confusion.sum().item(), unlabelled.item(), tuple(new[:_WORDS]))


def _list_lost(ex: MeasuredTree, counts: Counts) -> tuple[LostRows, ...]:
    found = []
    for j in sorted({column for column, _ in counts.lost}):
        words = {word: n for (column, word), n in counts.lost.items() if column == j}
        if n := words.pop(None, 0):
            found.append(LostRows(ex.columns[j], "missing", n))
        if words:
            most = sorted(words.items(), key=lambda one: (-one[1], str(one[0])))
            found.append(LostRows(ex.columns[j], "never seen", sum(words.values()), tuple(most[:_WORDS])))  # type: ignore[arg-type]
    return tuple(found)


# ---------------------------------------------------------------------------------------------------- beyond chance


def _beyond_chance(
    ex: MeasuredTree,
    counts: Counts,
    clusters: list[ClusterDrift],
    cuts: list[CutDrift],
    columns: tuple[list[ColumnDrift], list[WordsDrift]],
    labels: LabelDrift | None,
    n_lost: int,
) -> list[Told]:
    """Return the changes that chance makes in at most one of a hundred reports, the widest first."""
    tests = [*_of_columns(ex, counts, *columns), *_of_clusters(clusters), *_of_cuts(cuts)]
    tests += [*_of_lost(ex, counts, n_lost), *_of_labels(ex, counts, clusters, labels)]
    return [one.told for one in tests if one.probability <= ALARM / len(tests)]


def _of_columns(
    ex: MeasuredTree, counts: Counts, columns: list[ColumnDrift], words: list[WordsDrift]
) -> Iterator[_Test]:
    within = {ex.columns[j]: _within(ex, j, counts) for j in shapes_of(ex) or {}}
    in_other_units = [one for one in columns if one.factor is not None]
    for one in sorted(in_other_units, key=lambda one: -one.moved):
        alike = [rows.sum(axis=0)[None] for rows in within[one.column]]
        yield _Test(of_shapes(*alike), Told("another unit", one.column, 1.0, one.factor))
    shares = [(one.moved, one.column, one.above_then, one.above) for one in columns if one.factor is None]
    shares += [(one.moved, one.column, one.share_then, one.share) for one in words]
    for moved, column, then, now in sorted(shares, key=lambda one: -one[0]):
        probability = of_shapes(*within[column]) if moved >= MOVED else 1.0
        yield _Test(probability, Told("moved", column, then, now))


def _of_clusters(clusters: list[ClusterDrift]) -> Iterator[_Test]:
    """Yield tests of sizes among the rows with a cluster, where shares of all rows changed in the same direction."""
    then, now = sum(one.then for one in clusters), sum(one.now for one in clusters)
    for one in sorted(clusters, key=lambda one: -abs(one.share - one.share_then)):
        has_grown = one.share > one.share_then
        is_so = has_grown == (_share(one.now, now) > _share(one.then, then))
        probability = of_shares(one.now, now, one.then, then) if is_so else 1.0
        yield _Test(probability, Told("grew" if has_grown else "shrank", one.name, one.share_then, one.share))


def _of_cuts(cuts: list[CutDrift]) -> Iterator[_Test]:
    for one in cuts:
        if one.share is None or one.share_then is None:
            continue
        sides = round(one.share * one.of), one.of, round(one.share_then * one.of_then), one.of_then
        yield _Test(of_shares(*sides), Told("cut", one.node, one.share_then, one.share))


def _of_lost(ex: MeasuredTree, counts: Counts, n_lost: int) -> Iterator[_Test]:
    n_rows, then = int(counts.at_leaves.sum()), ex.details.n_unruled
    shares = then / ex.n_rows, n_lost / n_rows
    if shares[1] > shares[0]:
        yield _Test(of_shares(n_lost, n_rows, then, ex.n_rows), Told("without a cluster", "", *shares))


def _of_labels(
    ex: MeasuredTree, counts: Counts, clusters: list[ClusterDrift], labels: LabelDrift | None
) -> Iterator[_Test]:
    """Yield tests of agreement, and of how well each label is found, and its rule is right."""
    if labels is None or labels.agreement is None:
        return
    confusion, n_then, choices = _confusion(ex, counts), ex.n_rows - ex.n_left_out, log_trees(ex)
    about: tuple[float, float] = (
        (n_then, choices) if ex.held_out is None else (ex.held_out.n_rows, 0.0)
    )  # which no tree was chosen by
    yield _of_rate("agreement", "", labels.agreement, labels.rows, labels.agreement_then, *about)
    sizes = zip(clusters, ex.clusters, confusion.sum(axis=1).tolist(), confusion.sum(axis=0).tolist(), strict=True)
    for one, before, labelled, ruled in sizes:
        if min(labelled, before.size) >= LEAST:
            yield _of_rate("found", one.name, one.found or 0.0, labelled, before.found or 0.0, before.size, choices)
        if min(ruled, before.matched) >= LEAST:
            about = before.precision or 0.0, before.matched
            yield _of_rate("precision", one.name, one.precision or 0.0, ruled, *about, choices)


def log_trees(ex: MeasuredTree) -> float:
    """Return about the logarithm of the number of trees of so many leaves on these columns, each leaf of any cluster.

    A column of numbers has a place for a cut between each two rows, and one of words as many cuts as sets of words.
    """
    within = ex.tree.feature >= 0
    two_sided = 1 + bool((np.isfinite(ex.tree.lower) & np.isfinite(ex.tree.upper))[within].any())
    places = np.full(len(ex.columns), two_sided * np.log(max(ex.n_rows, 2)))
    for j, known in ex._coded_columns.items():
        m = len(known.domain)
        places[j] = np.log(m) if known.ordered else (m - 1) * np.log(2)
    of_cut = np.logaddexp.reduce(places) + np.log(2) * bool(ex.details.gaps)  # the side of missing values
    n_cuts = ex.n_leaves - 1
    return float(n_cuts * (of_cut + np.log(4)) + ex.n_leaves * np.log(ex.n_clusters))  # 4**n trees of n cuts at most


def _of_rate(
    what: str, name: object, share: float, of: float, then: float, of_then: float, log_choices: float
) -> _Test:
    probability = of_chosen(share * of, of, round(then * of_then), of_then, log_choices)
    return _Test(probability, Told(what, name, then, share))  # type: ignore[arg-type]
