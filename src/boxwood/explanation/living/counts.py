"""`Counts`: what rows do in a tree that is there already, as counts that add up over batches of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from boxwood._frames import (
    as_rows_here,
    find_labels_in,
    is_frame,
    label_values,
    refuse_other_index,
    refuse_unknown_columns,
    rows_of_table,
    weights_in,
)
from boxwood._types import Array, Floats, Indices
from boxwood._validation import as_weights, show_value
from boxwood.axes.categories import is_missing
from boxwood.axes.transformers import values_of
from boxwood.batches.batches import read_numbers
from boxwood.batches.labelling import factorize, labels_in
from boxwood.batches.source import Source
from boxwood.errors import DataError
from boxwood.explanation.apply.rows import Walk, find_stops, walk_of_others, walk_rows, walk_tested
from boxwood.explanation.living.shapes import all_edges, count_bins
from boxwood.metrics.agreements import are_whole
from boxwood.reference.coded import WordsRead
from boxwood.reference.labels import encode_labels, plain_name
from boxwood.table.rule_rows import RulePart, RuleRows
from boxwood.table.scanned import as_source

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree, Tree


Lost: TypeAlias = "Counter[tuple[int, str | None]]"


@dataclass
class Counts:
    """How many rows do what in the tree of an explanation; or their weight, where that is given.

    Parameters
    ----------
    n_leaves : int
    labelled : bool
        Whether rows have labels.
    weighted : bool
        Whether weights were given.
    held : dict from label to array of shape (n_leaves + 1,)
        Rows of each label at each leaf, and without one. Labels are the number of a cluster, the text of a label that
        is no name of one, and None for rows without a label.
    kept : dict from label to array of shape (n_leaves + 1,)
        The number of rows with weight, whatever it is; the same as `held` where none is given.
    are_whole : bool
        Whether weights count rows; see `metrics.agreements.are_whole`.
    lost : Counter of pairs (column, word)
        Rows without a leaf, by the column that was asked for, and the word that was never seen, or None for no value.
    bins : dict from column to array of shape (k, m)
        Rows of each cluster, by the rules, between the edges of `all_edges`.
    """

    n_leaves: int
    labelled: bool = False
    weighted: bool = False
    held: dict[Hashable, Array] = field(default_factory=dict)
    kept: dict[Hashable, Array] = field(default_factory=dict)
    are_whole: bool = True
    lost: Lost = field(default_factory=Counter)
    bins: dict[int, Array] = field(default_factory=dict)

    @classmethod
    def none(cls, ex: MeasuredTree) -> Self:
        """Return the counts of no rows."""
        bins = {j: np.zeros((ex.n_clusters, len(edges) + 2), dtype=np.int64) for j, edges in all_edges(ex).items()}
        return cls(ex.n_leaves, bins=bins)

    def merge(self, other: Self) -> None:
        """Add the counts of other rows."""
        for mine, others in ((self.held, other.held), (self.kept, other.kept)):
            for label, rows in others.items():
                mine[label] = mine.get(label, 0) + rows
        self.are_whole &= other.are_whole
        self.lost += other.lost
        for j, rows in other.bins.items():
            self.bins[j] = self.bins.get(j, 0) + rows

    @property
    def at_leaves(self) -> Array:
        """Rows at each leaf, and behind them those without one, shape (n_leaves + 1,)."""
        nothing = np.zeros(self.n_leaves + 1, dtype=np.float64 if self.weighted else np.int64)
        return sum(self.held.values(), nothing)


def count_rows(ex: MeasuredTree, X: Any, labels: Any = None, weights: Any = None) -> Counts:
    """Return the counts of rows in memory, of a file that is open for these rules, or of a table in batches."""
    if isinstance(X, RuleRows):
        return _counted_in_file(ex, X, labels)
    if (source := as_source(X)) is not None:
        return _counted_in_batches(ex, source, labels, weights)
    X = as_rows_here(X)
    labels = find_labels_in(X, labels)
    refuse_other_index(X, labels=labels, sample_weight=weights)
    codes, found = (None, ()) if labels is None else encode_labels(label_values(labels))
    keys, weights = [label_key(ex.names, label) for label in found], weights_in(X, weights)
    return _of_rows(ex, X, codes, keys, None if weights is None else as_weights(weights, len(X)))


def with_rows_left_out(ex: Tree, others: Any) -> Tree:
    """Return an explanation that knows how many of the rows that were left out, as they lack values, its rules take.

    IN: others: these rows, as an array, a data frame, a `ColumnTable` or a table in batches.
    """
    assert ex._evidence is not None
    ex = replace(ex, _evidence=replace(ex._evidence, others=others))
    walk = walk_of_others(others, ex.tree, ex.columns, ex._coded_columns, ex._gap_columns, ex._date_columns)
    leaf = () if walk is None else walk.leaf[walk.leaf >= 0]
    taken = count_rows(ex, others).at_leaves if walk is None else np.bincount(leaf, minlength=ex.n_leaves)
    leaves = tuple(one._replace(noise=(one.noise or 0) + int(taken[one.leaf])) for one in ex.leaves)
    return replace(ex, leaves=leaves)


def label_key(names: Sequence[Hashable], label: Hashable) -> Hashable:
    """Return the number of the cluster that a label names, or its text; a label of a file may be the text of a name.

    A label that leaves a row out has None.

    Examples
    --------
    >>> [label_key([1, "new"], label) for label in ("1.0", 1, "new", "newer", "-1", None)]
    [0, 0, 1, 'newer', None, None]
    """
    said = None if is_missing(label) else _say_label(label)
    return next((i for i, name in enumerate(names) if _say_label(name) == said), None if said == "-1" else said)


def _say_label(label: Hashable) -> str:
    """Return a label as its text in any file: one for 1, 1.0 and "1", and for True and "true"."""
    plain = plain_name(label)
    if isinstance(plain, bool) or str(plain).lower() in ("true", "false"):
        return str(plain).lower()
    return re.sub(r"^(-?[0-9]+)\.0+$", r"\1", str(plain))


def _of_rows(
    ex: MeasuredTree, X: Any, codes: Indices | None, keys: Sequence[Hashable], weights: Floats | None = None
) -> Counts:
    """Return the counts of rows in memory; IN: codes (n,): their places among the keys of labels, or -1."""
    walk = walk_rows(ex.tree, ex.columns, ex._coded_columns, X, ex._gap_columns, ex._date_columns)

    def cells(j: int, rows: Indices) -> Sequence[Any]:
        some = rows_of_table(X, rows)
        return values_of(some, ex.columns[j]) if is_frame(some) else some[:, j].tolist()

    return _of_walk(ex, walk, cells, codes, keys, weights)


def _of_walk(
    ex: MeasuredTree,
    walk: Walk,
    cells: Callable[[int, Indices], Sequence[Any]],
    codes: Indices | None,
    keys: Sequence[Hashable],
    weights: Floats | None = None,
) -> Counts:
    """Return the counts of rows on their way; IN: cells: gets a column of words and rows, and returns the cells."""
    n, counts = len(walk.leaf), Counts(ex.n_leaves, codes is not None, weights is not None)
    codes = np.full(n, -1) if codes is None else codes
    if len(codes) != n:
        raise DataError(f"X has {n} rows, but there are {len(codes)} labels")
    width = ex.n_leaves + 1
    leaf = np.where(walk.leaf < 0, ex.n_leaves, walk.leaf)
    places, size = (codes + 1) * width + leaf, (len(keys) + 1) * width
    held = kept = np.bincount(places, weights, minlength=size).reshape(-1, width)
    if weights is not None and n:
        kept = np.bincount(places[weights > 0], minlength=size).reshape(-1, width)
        counts.are_whole = are_whole(weights)
    for i in np.unique(codes).tolist():
        key = None if i < 0 else keys[i]
        counts.held[key] = counts.held.get(key, 0) + held[i + 1]
        counts.kept[key] = counts.kept.get(key, 0) + kept[i + 1]
    there = np.flatnonzero(walk.leaf >= 0)
    clusters = ex.tree.leaf_clusters[walk.leaf[there]]
    for j, edges in all_edges(ex).items():
        values = walk.table[there, walk.columns.index(j)].astype(np.float64)
        counts.bins[j] = count_bins(ex, j, values, clusters, edges, None if weights is None else weights[there])
    counts.lost = _find_lost(ex, cells, walk, weights)
    return counts


def _find_lost(
    ex: MeasuredTree, cells: Callable[[int, Indices], Sequence[Any]], walk: Walk, weights: Floats | None
) -> Lost:
    """Return the rows without a leaf by the column where they stop, and the word that was never seen there."""
    rows = np.flatnonzero(walk.leaf < 0)
    features = np.array([walk.columns[j] for j in find_stops(walk.tree, walk.table[rows])], dtype=np.intp)
    found: Lost = Counter()
    for j in np.unique(features).tolist():
        here = rows[features == j]
        own = [1] * len(here) if weights is None else weights[here].tolist()
        if j not in ex._coded_columns:
            found[j, None] += sum(own)
            continue
        marks = ex._coded_columns[j].marks
        for one, weight in zip(cells(j, here), own, strict=True):
            found[j, None if is_missing(one) or one in marks else str(one)] += weight
    return found


# ------------------------------------------------------------------------------------------------ in files and batches


def _counted_in_file(ex: MeasuredTree, rows: RuleRows, labels: str | None) -> Counts:
    found = [] if labels is None else [rows.labels(labels, list(map(str, ex.names)))]
    keys = [label_key(ex.names, label) for one in found for label in labels_in(one.texts).values()]
    counts = replace(Counts.none(ex), labelled=labels is not None)
    for part in rows.parts(found):
        walk = walk_tested(ex.tree, part.tested[0], ex._gap_columns)

        def cells(j: int, some: Indices, part: RulePart = part) -> Sequence[Any]:
            texts = part.unseen.get(ex.columns[j])
            return [None] * len(some) if texts is None else texts[some].tolist()

        counts.merge(_of_walk(ex, walk, cells, part.labels[0] if found else None, keys))
    return counts


def _counted_in_batches(ex: MeasuredTree, source: Source, labels: Any, weights: Any) -> Counts:
    for what, given in (("labels", labels), ("weights", weights)):
        if given is not None and not isinstance(given, str):
            raise DataError(
                f"{what} of {source.name}, which is read in batches, must be a column of it; got {show_value(given)}"
            )
    tested = [ex.columns[j] for j in ex.tree.features.tolist()]
    beside = [name for name in (labels, weights) if name is not None]
    columns = list(dict.fromkeys([*tested, *beside])) or list(source.names[:1])
    refuse_unknown_columns(columns, source.names)
    words = {ex.columns[j]: one.values for j, one in ex._coded_columns.items() if not one.are_truths}
    words |= {} if labels is None else {labels: ex.names}
    ready = WordsRead.of(source, columns, words)
    return source.run(partial(_Counting, ex, ready, labels, weights), ready.read).counts


class _Counting:
    """A summary of record batches: the counts of their rows."""

    def __init__(self, ex: MeasuredTree, ready: WordsRead, labels: str | None, weights: str | None) -> None:
        self.ex, self.ready, self.labels, self.weights = ex, ready, labels, weights
        self.counts = Counts(ex.n_leaves, labels is not None, weights is not None)

    def update(self, batch: Any, start: int | None) -> None:
        """Add a record batch."""
        rows, codes, keys = self.ready.table([batch]), None, list[Hashable]()
        if self.labels is not None:
            codes, found = factorize(rows.column(self.labels).combine_chunks(), of_file=True)
            keys = [label_key(self.ex.names, label) for label in found]
        weights = None if self.weights is None else read_numbers(rows.column(self.weights).combine_chunks())
        if weights is not None and not (weights >= 0).all():
            raise DataError(f"weights must not be negative, nor missing; see {self.weights}")
        self.counts.merge(_of_rows(self.ex, rows, codes, keys, weights))

    def merge(self, other: _Counting) -> None:
        """Add other counts."""
        self.counts.merge(other.counts)
