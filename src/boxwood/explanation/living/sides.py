"""The two sides of a match: explanations, tallies or labels; and how many rows are in which two clusters."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._dates import MICROSECONDS, days_between
from boxwood._frames import as_rows_here, column_values, is_frame, label_values, refuse_unknown_columns
from boxwood._types import Array, Floats, Indices
from boxwood._validation import list_words, show_value
from boxwood.axes import Categories
from boxwood.batches import Batches, LabelColumn, Source
from boxwood.errors import DataError
from boxwood.explanation.apply.rows import walk_rows, walk_tested
from boxwood.explanation.living.drift import rows_then
from boxwood.explanation.living.match import Overlap
from boxwood.explanation.living.shapes import shapes_of
from boxwood.explanation.measured_tree import MeasuredTree
from boxwood.explanation.records import QUANTILES, CategoryColumn, NumberGroup
from boxwood.reference.coded import WordsRead
from boxwood.reference.labels import encode_labels
from boxwood.reference.reference_batches import find_labels
from boxwood.table.rule_rows import LabelsOfFile, RuleRows, Tested
from boxwood.table.scanned import as_source
from boxwood.tree import Interval, ThresholdTree
from boxwood.tree.boxes import Box

if TYPE_CHECKING:
    from boxwood.explanation._tally import Tally

_IN_MEMORY = 20_000  # rows of an explanation that are labelled by the other one
BY_BOXES = "by the boxes of the rules, and how the columns of each model lay within its clusters"
ABOUT = "shares are estimated column by column; pass rows to have them counted"


class Law(NamedTuple):
    """How the rows of a cluster lie in a column of numbers: `up_to` of them up to each of `ends`, evenly between."""

    ends: tuple[float, ...]
    up_to: tuple[float, ...]
    missing: float

    @classmethod
    def of_shape(cls, edges: Sequence[float], held: Sequence[float]) -> Law:
        """Return it from rows between edges; those beyond the outermost lie as near as three edges there."""
        if not edges:
            return cls((0.0,), (float(sum(held[:-1])),), float(held[-1]))
        near = min(2, len(edges) - 1)
        low, high = ((end or abs(edges[0]) or 1.0) for end in (edges[near] - edges[0], edges[-1] - edges[-1 - near]))
        up_to = np.concatenate([[0.0], np.cumsum(held[:-1])])
        return cls((edges[0] - low, *edges, edges[-1] + high), tuple(up_to.tolist()), float(held[-1]))

    @classmethod
    def of_group(cls, group: NumberGroup | None, rows: float) -> Law | None:
        """Return it from the quantiles of a profile."""
        if group is None or not rows:
            return None
        wide = (group.quantiles[-1] - group.quantiles[0]) or abs(group.quantiles[0]) or 1.0
        ends = group.quantiles[0] - wide / 4, *group.quantiles, group.quantiles[-1] + wide / 4
        missing = (group.missing or 0.0) * rows
        return cls(ends, tuple((rows - missing) * share / 100 for share in (0, *QUANTILES, 100)), missing)

    def within(self, piece: Interval) -> float:
        """Return about the rows in an interval; those without a value lie at plus infinity."""
        low, high = np.interp([piece.lower, piece.upper], self.ends, self.up_to)
        return float(high - low + (self.missing if piece.upper == math.inf and piece.upper_closed else 0.0))


class Side(NamedTuple):
    """Clusters, and what labels rows: the rules of a tree, or a label for each row.

    Parameters
    ----------
    names : tuple
    rows : array of shape (k,)
        Rows of each cluster.
    tree : ThresholdTree, or None
        Its rules; None for labels.
    columns : tuple of str
    coded : mapping from int to Categories
    gaps, dates : collections of columns
    at_leaves : array of shape (n_leaves,)
        Rows of each leaf, in proportion to weights if rows are weighted.
    laws : mapping from str to sequence
        How columns of numbers lie within clusters, a `Law` for each, or None where it is not known.
    words : mapping from str to sequence
        Of columns of words: for each cluster the shares of the words.
    labels : array of shape (n,), or None
        Cluster of each row of a table that is given, or -1.
    column : LabelColumn, or None
        The column of a table in batches that holds the labels.
    of_file : LabelsOfFile, or None
        The labels of a column of a file: then `labels` has the cluster of each.
    """

    names: tuple[Hashable, ...]
    rows: Floats
    tree: ThresholdTree | None = None
    columns: tuple[str, ...] = ()
    coded: Mapping[int, Categories] = {}
    gaps: frozenset[int] = frozenset()
    dates: Mapping[int, Any] = {}
    at_leaves: Floats = np.empty(0)
    laws: Mapping[str, Sequence[Law | None]] = {}
    words: Mapping[str, Sequence[Mapping[Hashable, float]]] = {}
    labels: Indices | None = None
    column: LabelColumn | None = None
    of_file: LabelsOfFile | None = None

    @property
    def tested_columns(self) -> Tested:
        """The columns that its rules test; none for labels."""
        features = [] if self.tree is None else self.tree.features.tolist()
        return {self.columns[j]: self.coded.get(j) or self.dates.get(j) for j in features}

    @property
    def tested(self) -> list[str]:
        """Columns that the rules test."""
        return [] if self.tree is None else [self.columns[j] for j in self.tree.features.tolist()]

    def knows(self, name: str) -> bool:
        """Return whether it is known how a column lies within clusters; the words of a tested one count alike."""
        words = {self.columns[j] for j in self.coded} & {*self.tested}
        return name in self.laws or name in self.words or name in words

    def clusters_of(self, X: Any) -> Indices:
        """Return the cluster of each row by the rules, or -1."""
        if self.labels is not None:
            return self.labels
        assert self.tree is not None
        leaf = walk_rows(self.tree, self.columns, self.coded, X, self.gaps, self.dates).leaf
        return np.append(self.tree.leaf_clusters, -1)[leaf]

    def clusters_at(self, tested: Floats) -> Indices:
        """Return the cluster of each row by the rules, or -1, from the numbers and codes of the tested columns."""
        assert self.tree is not None
        leaf = walk_tested(self.tree, tested, self.gaps).leaf
        return np.append(self.tree.leaf_clusters, -1)[leaf]


def side_of(what: Any, rows: Any, which: str) -> Side:
    """Return a side of a match; IN: rows: the table of labels that are given by name; which: "old" or "new"."""
    if isinstance(what, MeasuredTree):
        return _of_explanation(what)
    from boxwood.explanation._tally import Tally  # here, as a file is counted without scikit-learn

    if isinstance(what, Tally):
        return _of_tally(what)
    if isinstance(what, str) and isinstance(rows, (Source, RuleRows)):
        return _of_column(rows, what) if isinstance(rows, Source) else _of_file(rows, what)
    if isinstance(what, str):
        if rows is None or not is_frame(rows):
            raise DataError(
                f"{which} is {show_value(what)}, a column, so rows must be a data frame or a table in batches "
                "that has it"
            )
        what = column_values(rows, what)
    if isinstance(what, ThresholdTree) or not (hasattr(what, "__len__") or hasattr(what, "__array__")):
        raise TypeError(f"{which} must be an Explanation, a Tally or labels, got {show_value(what)}")
    codes, names = encode_labels(label_values(what))
    rows = np.bincount(codes[codes >= 0], minlength=len(names)).astype(np.float64)
    return Side(tuple(names), rows, labels=codes)


def _of_column(source: Source, column: str) -> Side:
    """Return the labels that a column of a table in batches holds; takes a pass."""
    refuse_unknown_columns([column], source.names)
    found = find_labels(Batches(source, ()), column)
    sizes = found.overview.sizes.astype(np.float64)
    return Side(found.labels, sizes, column=LabelColumn(column, found.labels))


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.0+)?")  # as a label, in whatever form a file has it


def _of_file(rows: RuleRows, column: str) -> Side:
    """Return the labels of a column of a file that is open."""
    found = rows.labels(column)
    are_numbers = all(map(_NUMBER.fullmatch, found.texts))
    codes, names = encode_labels([int(one.partition(".")[0]) for one in found.texts] if are_numbers else found.texts)
    sizes = np.bincount(codes[codes >= 0], np.array(found.rows)[codes >= 0], minlength=len(names))
    return Side(tuple(names), sizes.astype(np.float64), labels=np.append(codes, -1), of_file=found)


def _of_explanation(ex: MeasuredTree) -> Side:
    at_leaves = rows_then(ex)
    if ex.details.weighted:  # as many rows as there are, so that chance is that of rows
        at_leaves *= ex.n_rows / max(at_leaves.sum(), 1e-300)
    rows = np.bincount(ex.tree.leaf_clusters, at_leaves, minlength=ex.n_clusters).astype(np.float64)
    table = ex.tree, ex.columns, ex._coded_columns, ex._gap_columns, ex._date_columns, at_leaves
    return Side(ex.names, rows, *table, *_shapes_known(ex, rows.tolist()))


def _shapes_known(ex: MeasuredTree, rows: Sequence[float]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a model knows of columns of numbers and of words within clusters: shapes, and its profile."""
    laws, words = dict[str, Any](), dict[str, Any]()
    for column in ex._kept.get("profile", ()):
        if isinstance(column, CategoryColumn):
            named = [*column.categories.values]
            shares = ([] if one is None else one.shares[: len(named)] for one in column.clusters)
            words[column.column] = [dict(zip(named, each, strict=False)) for each in shares]
        else:
            laws[column.column] = list(map(Law.of_group, column.clusters, rows))
    for j, (edges, held) in (shapes_of(ex) or {}).items():
        if j in ex._coded_columns:
            words[ex.columns[j]] = [dict(zip(ex._coded_columns[j].values, each, strict=False)) for each in held]
        else:
            laws[ex.columns[j]] = [Law.of_shape(edges, each) if sum(each) else None for each in held]
    return laws, words


def _of_tally(tally: Tally) -> Side:
    tree, sizes = tally.imm(), tally.sizes.astype(np.float64)
    laws = {}
    for j, name in enumerate(tally.columns):
        if j not in tally._coded_columns:
            edges = tally.edges[j][np.isfinite(tally.edges[j])]
            counts = tally.counts[:, j, : len(edges) + 1]
            lacking = tally.sizes[:, None] - counts.sum(axis=1, keepdims=True)
            laws[name] = [Law.of_shape(edges.tolist(), each) for each in np.hstack([counts, lacking]).tolist()]
    known = tally._coded_columns, frozenset(range(len(tally.columns))) - {*tally._coded_columns}, tally._date_columns
    return Side(tally.names, sizes, tree, tally.columns, *known, sizes[tree.leaf_clusters], laws)


# ------------------------------------------------------------------------------------------- rows with two clusters


def overlap_of(old: Side, new: Side, rows: Any, known: Sequence[Any] = ()) -> Overlap:
    """Return how many rows are in which two clusters: of the rows that are given, or that an explanation refers to.

    IN: known: the old and the new one. Without rows, each tells it of its own.
    """
    if isinstance(rows, RuleRows):
        return overlap_on(_in_file(old, new, rows), old, new)
    if rows is not None:
        source = as_source(rows)
        pairs = _pairs(old, new, as_rows_here(rows)) if source is None else _in_batches(old, new, source)
        return overlap_on(pairs, old, new)
    if old.tree is None or new.tree is None:
        if old.labels is None or new.labels is None:
            raise DataError("labels are matched with rules on rows; pass the rows that the labels are of")
        pairs = _pairs(old, new, None)
        return overlap_on(pairs, old, new)
    before, after = (_of_own_rows(old, new, ex) for ex in (known or (None, None)))
    if before is None and after is None:
        return _by_boxes(old, new)
    both, is_exact = {"old": before, "new": after}, before is not None and after is not None
    own = [f"{int(pairs.sum()):,} {word} rows" for word, pairs in both.items() if pairs is not None]
    if before is None and all(map(old.knows, new.tested)):
        before = _mass(old, new)
    if after is None and all(map(new.knows, old.tested)):
        after = _mass(new, old).T
    before, after = after if before is None else before, before if after is None else after
    assert before is not None
    assert after is not None
    return Overlap(before, after, f"on {' and '.join(own)}", is_exact=is_exact)


def overlap_on(pairs: Floats, old: Side, new: Side) -> Overlap:
    """Return the overlap on rows that both sides label; labels are of these rows, so none came since."""
    return Overlap(pairs, pairs, f"on {int(pairs.sum()):,} rows", is_exact=old.tree is None and new.tree is None)


def _of_own_rows(old: Side, new: Side, ex: Any) -> Floats | None:
    """Return the rows of each old and each new cluster, of those that an explanation refers to; None if it has none."""
    relative = any(dates.is_relative for side in (old, new) for dates in side.dates.values())
    some = _in_memory(ex, [*old.tested, *new.tested], relative=relative)
    return None if some is None else _pairs(_on_values(old, *some), _on_values(new, *some), None)


def _pairs(old: Side, new: Side, X: Any) -> Floats:
    """Return the rows of each old and each new cluster, shape (k + 1, m + 1); the last ones have none."""
    before, after = old.clusters_of(X), new.clusters_of(X)
    if len(before) != len(after):
        raise DataError(f"old has {len(before)} rows, but new has {len(after)}")
    found = np.zeros((len(old.names) + 1, len(new.names) + 1))
    np.add.at(found, (before, after), 1)  # -1 is the last
    return found


def _in_file(old: Side, new: Side, rows: RuleRows) -> Floats:
    if not rows.n_rows:
        raise DataError(f"{rows.name} has no rows, so there is nothing to match")
    found = np.zeros((len(old.names) + 1, len(new.names) + 1))
    for part in rows.parts([side.of_file for side in (old, new) if side.of_file is not None]):
        places, sides = iter(part.labels), list[Side]()
        for side, tested in zip((old, new), part.tested, strict=True):
            clusters = side.clusters_at(tested) if side.labels is None else side.labels[next(places)]
            sides.append(side._replace(labels=clusters))
        found += _pairs(sides[0], sides[1], None)
    return found


def _in_batches(old: Side, new: Side, source: Source) -> Floats:
    if old.labels is not None or new.labels is not None:
        raise DataError(
            f"{source.name} is read in batches, so its labels must be a column of it; give the column's name"
        )
    columns = list(dict.fromkeys([*old.tested, *new.tested])) or list(source.names[:1])
    refuse_unknown_columns(columns, source.names)
    labels = [source.label_name(side.column.column) for side in (old, new) if side.column is not None]
    words = {side.columns[j]: one.values for side in (old, new) for j, one in side.coded.items() if not one.are_truths}
    ready = WordsRead.of(source, columns, {name: its for name, its in words.items() if name in columns})
    return source.run(partial(_Pairs, old, new, ready), [*ready.read, *labels]).pairs  # type: ignore[no-any-return]


class _Pairs:
    """A summary of record batches: their rows by old and new cluster."""

    def __init__(self, old: Side, new: Side, ready: WordsRead) -> None:
        self.sides, self.ready = (old, new), ready
        self.pairs = np.zeros((len(old.names) + 1, len(new.names) + 1))

    def update(self, batch: Any, start: int | None) -> None:
        """Add a record batch, in which columns of labels stand behind those that rules test."""
        at, sides = len(self.ready.read), list[Side]()
        for side in self.sides:
            if side.column is not None:
                sides.append(side._replace(labels=side.column.codes(None, batch.column(at))))
                at += 1
            else:
                sides.append(side)
        self.pairs += _pairs(sides[0], sides[1], self.ready.table([batch.select([*range(len(self.ready.read))])]))

    def merge(self, other: _Pairs) -> None:
        """Add other counts."""
        self.pairs += other.pairs


def _in_memory(ex: Any, tested: Sequence[str], *, relative: bool) -> tuple[Array, list[str]] | None:
    """Return some rows that an explanation refers to, as people have them, and their columns; None if one lacks.

    IN: relative: whether dates are days after the day from which they are counted.
    """
    evidence = ex._in_memory if isinstance(ex, MeasuredTree) else None
    if evidence is None or not {*tested} <= {*evidence.columns.values()}:
        return None
    table = evidence.coordinates.table.values
    table = table[:: max(1, len(table) // _IN_MEMORY)]
    names, with_gaps = list(dict.fromkeys(tested)), ex._gap_columns
    values = np.empty((len(table), len(names)), dtype=object)
    for i, name in enumerate(names):
        j = ex.columns.index(name)
        known, x = ex._coded_columns.get(j), table[:, j].tolist()
        lacks = [math.isnan(one) or (j in with_gaps and one == math.inf) for one in x]
        if relative and (dates := ex._date_columns.get(j)):
            x = days_between(table[:, j], np.array(dates.origin / MICROSECONDS)).tolist()
        values[:, i] = [
            None if lack else known.value(one) if known else one for one, lack in zip(x, lacks, strict=True)
        ]
    return values, names


def _on_values(side: Side, values: Array, names: list[str]) -> Side:
    """Return a side whose labels are those of rows by its rules; dates among them are days."""
    X = np.empty((len(values), len(side.columns)), dtype=object)
    for name in side.tested:
        X[:, side.columns.index(name)] = values[:, names.index(name)]
    return side._replace(labels=side._replace(dates={}).clusters_of(X))


# ------------------------------------------------------------------------------------------------------------ by boxes


def _by_boxes(old: Side, new: Side) -> Overlap:
    if {*old.tested}.isdisjoint(new.columns) and {*new.tested}.isdisjoint(old.columns):
        raise DataError("the two have no column in common, so their rules cannot be compared; pass rows that have both")
    unknown = {
        word: [name for name in other.tested if not side.knows(name)]
        for word, side, other in (("old", old, new), ("new", new, old))
    }
    notes = [
        f"the {word} model does not know how {list_words(names)} lay within its clusters, so that is guessed; "
        "profile() "
        "before save would keep it"
        for word, names in unknown.items()
        if names
    ]
    about = () if notes else (ABOUT,)
    return Overlap(_mass(old, new), _mass(new, old).T, BY_BOXES, (*notes, *about), is_guessed=bool(notes))


def _mass(side: Side, other: Side) -> Floats:
    """Return the rows of a side by its own clusters and by those of the other, shape (k + 1, m + 1)."""
    assert side.tree is not None
    assert other.tree is not None
    found = np.zeros((len(side.names) + 1, len(other.names) + 1))
    others = list(zip(other.tree.boxes(), other.tree.leaf_clusters.tolist(), strict=True))
    own = zip(side.tree.boxes(), side.tree.leaf_clusters.tolist(), side.at_leaves.tolist(), strict=True)
    for box, cluster, rows in own:
        shares = np.array([_share_in(side, other, cluster, box, its) for its, _ in others])
        shares = shares / shares.sum() if shares.sum() else shares
        np.add.at(found[cluster], [their for _, their in others], rows * shares)
    return found


def _share_in(side: Side, other: Side, cluster: int, box: Box, its: Box) -> float:
    """Return about which share of the rows of a leaf is in a box of the other side, column by column."""
    share = 1.0
    for j, pieces in its.items():
        name = other.columns[j]
        own = side.columns.index(name) if name in side.columns else -1
        mine = box.get(own, (Interval(-math.inf, math.inf, True, True),))
        share *= (
            _of_words(side, own, cluster, box, other.coded[j], pieces)
            if j in other.coded
            else _of_numbers(side, other, name, cluster, mine, pieces)
        )
    return share


def _of_words(side: Side, own: int, cluster: int, box: Box, theirs: Categories, pieces: Sequence[Interval]) -> float:
    """Return which share of the words that a leaf allows are in a box of the other side; if unknown, each counts 1."""
    known = side.coded.get(own, theirs)
    allowed = [
        value for code, value in enumerate(known.values) if own not in box or any(code in piece for piece in box[own])
    ]
    laws = side.words.get(side.columns[own] if own >= 0 else "", ())
    law = laws[cluster] if laws and any(laws[cluster].get(value) for value in allowed) else dict.fromkeys(allowed, 1.0)
    whole = sum(law.get(value, 0.0) for value in allowed)
    inside = zip(allowed, theirs.codes(allowed).tolist(), strict=True)
    return sum(law.get(value, 0.0) for value, code in inside if any(code in piece for piece in pieces)) / (whole or 1.0)


def _of_numbers(
    side: Side, other: Side, name: str, cluster: int, mine: Sequence[Interval], pieces: Sequence[Interval]
) -> float:
    """Return which share of a leaf is in intervals of a column; where its cluster is not known, as of all others."""
    both = [c for a in mine for b in pieces if (c := a.intersection(b)) is not None]
    own = side.laws.get(name, ())
    laws = [own[cluster]] if own and own[cluster] is not None else other.laws.get(name, ())
    held, whole = (sum(law.within(one) for law in laws if law for one in some) for some in (both, mine))
    return held / whole if whole else _guess(mine, both)


def _guess(mine: Sequence[Interval], both: Sequence[Interval]) -> float:
    """Return all, none or half of a leaf, where nothing is known of a column."""
    return 0.0 if not both else 1.0 if list(both) == list(mine) else 0.5
