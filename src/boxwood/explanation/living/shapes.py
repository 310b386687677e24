"""How the tested columns lay in each cluster: rows between round tenths, or of each word, which a model file keeps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices, Size
from boxwood.axes import Categories
from boxwood.explanation.apply.rows import LARGEST, walk_of_others
from boxwood.explanation.measure.told import of_few_rows
from boxwood.explanation.records import FEW
from boxwood.tree.shorten import shortest_between

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

FACTORS = (10.0, 60.0, 100.0, 1000.0, 3600.0)
"""How many times as large numbers are in another unit: cents for euros, minutes for hours, metres for kilometres."""


class Shape(NamedTuple):
    """How a column lies in the rows that the rules give to each cluster.

    Parameters
    ----------
    edges : tuple of float
        Ascending: places between values behind the tenths of all rows, of few digits, or the days of these, and the
        ends of the cuts. Of a column of words its codes.
    held : tuple of tuple
        For each cluster its rows up to the first edge, between each two, above the last, and without a value. All are 0
        for a cluster of few rows, whose rows count nowhere. Words of few rows count above the last one.
    """

    edges: tuple[float, ...]
    held: tuple[tuple[Size, ...], ...]


def shapes_of(ex: MeasuredTree) -> dict[int, Shape] | None:
    """Return the shape of each column that the tree tests; None if neither rows in memory nor file know."""
    if "shapes" not in ex._kept and (rows := ex._in_memory) is not None and len(rows.leaf):
        table, leaf = rows.coordinates.table.values, rows.leaf
        told = np.isin(rows.task.reference.labels, of_few_rows(ex), invert=True)
        tested = {j: table[:, j] for j in ex.tree.features.tolist()}
        how = ex.tree, ex.columns, ex._coded_columns, ex._gap_columns, ex._date_columns
        if (others := walk_of_others(rows.others, *how)) is not None:
            there = others.leaf >= 0
            leaf = np.concatenate([leaf, others.leaf[there]])
            told = np.concatenate([told, np.ones(there.sum(), dtype=bool)])
            beside = {j: others.table[there, others.columns.index(j)] for j in tested}
            tested = {j: np.concatenate([x, beside[j]]) for j, x in tested.items()}
        clusters = ex.tree.leaf_clusters[leaf]
        told &= (np.bincount(clusters[told], minlength=ex.n_clusters) >= FEW)[clusters]
        ex._kept["shapes"] = (
            {j: _shape(ex, j, x[told], clusters[told]) for j, x in tested.items()} if told.any() else {}
        )
    found: dict[int, Shape] | None = ex._kept.get("shapes")
    return found


def rows_lacking(ex: MeasuredTree) -> dict[str, int]:
    """Return how many rows lack a value of each tested column, where that is known: where shapes tell of every row."""
    places = {
        ex.columns.index(name): known.values.index(None)
        for name, known in ex.details.categories
        if None in known.values
    }
    places |= dict.fromkeys(ex._gap_columns, -1)
    shapes = (shapes_of(ex) if places else None) or {}
    found = {}
    for j in places.keys() & shapes.keys():
        held = np.array(shapes[j].held)
        n_rows = int(held[:, places[j]].sum())
        if n_rows and held.sum() == ex.n_rows - ex.details.n_unruled:
            found[ex.columns[j]] = n_rows
    return found


def _shape(ex: MeasuredTree, j: int, values: Floats, clusters: Indices) -> Shape:
    x = np.asarray(values, dtype=np.float64)
    if j in ex._coded_columns:
        codes = codes_in(ex._coded_columns[j])
        held = count_bins(ex, j, x, clusters, np.array(codes))
        return Shape(codes, tuple(map(tuple, with_rare_apart(held, held.sum(axis=0) < FEW).tolist())))
    known = x[~lacks_value(ex, j, x) & np.isfinite(x)]
    tenths = np.quantile(known, np.arange(1, 10) / 10, method="lower") if len(known) else np.empty(0)
    with np.errstate(over="ignore"):
        spread = float(np.std(known)) if len(known) else 0.0
    if j in ex._date_columns and spread >= 2:
        tenths = np.floor(tenths)
    elif 0 < spread < math.inf:
        tenths = _behind(tenths, known, 3 - math.floor(math.log10(spread)))
    cuts = np.array([ex.tree.lower, ex.tree.upper])[:, ex.tree.feature == j].ravel()
    edges = np.unique(np.concatenate([tenths, cuts]))
    edges = edges[np.isfinite(edges) & (np.abs(edges) < LARGEST)]
    held = count_bins(ex, j, x, clusters, edges)
    return Shape(tuple(edges.tolist()), tuple(map(tuple, held.tolist())))


def _behind(values: Floats, known: Floats, digits: int) -> Floats:
    """Return a place behind each of some values and before the next of those that are known, in few digits.

    A place at a value would part equal values by their rounding, as 0.99 of 32 bits is more than 0.99. Values that lie
    nearer to each other than the last of the digits are not told apart.
    """
    distinct, unit = np.unique(known), 10.0**-digits
    found = []
    for value in np.unique(values).tolist():
        place = int(np.searchsorted(distinct, value, side="right"))
        step = distinct[place] - value if place < len(distinct) else 0.0
        near = round(value, digits) + unit / 2
        found.append(shortest_between(value + step / 4, value + 3 * step / 4) if step >= unit else near)
    return np.array(found)


def with_rare_apart(held: Indices, is_rare: Bools) -> Indices:
    """Return the rows of each word with those of rare ones, of which nothing is told, above the last."""
    apart = np.where(is_rare, 0, held)
    apart[:, -2:] = held[:, -2:]
    apart[:, -2] += held[:, :-2] @ is_rare[:-2]
    return apart


def codes_in(known: Categories) -> tuple[float, ...]:
    """Return the codes of a column of words."""
    return tuple(code for code, _ in known.domain)


def count_bins(
    ex: MeasuredTree, j: int, values: Floats, clusters: Indices, edges: Floats, weights: Floats | None = None
) -> Indices:
    """Return the rows of each cluster in each bin of a column, shape (k, len(edges) + 2); the last lack a value."""
    n_bins = len(edges) + 2
    place = np.searchsorted(edges, values)
    place[lacks_value(ex, j, values)] = n_bins - 1
    return np.bincount(clusters * n_bins + place, weights, minlength=ex.n_clusters * n_bins).reshape(-1, n_bins)


def lacks_value(ex: MeasuredTree, j: int, values: Floats) -> Bools:
    """Return whether each number of a column stands for a missing one: NaN, or +inf in a column with gaps."""
    lacks = np.isnan(values)
    return lacks | (values == np.inf) if j in ex._gap_columns else lacks


def all_edges(ex: MeasuredTree) -> dict[int, Floats]:
    """Return the edges between which rows are counted, by column: those of the shapes, and the same in other units."""
    found = {}
    for j, shape in (shapes_of(ex) or {}).items():
        edges = np.array(shape.edges)
        factors = (
            [] if j in ex._date_columns or j in ex._coded_columns else [*FACTORS, *(1 / factor for factor in FACTORS)]
        )
        with np.errstate(over="ignore"):
            edges = np.unique(np.concatenate([edges, *(in_unit(edges, factor) for factor in factors)]))
        found[j] = edges[np.isfinite(edges)]
    return found


def in_unit(edges: Floats, factor: float) -> Floats:
    """Return every second edge in another unit: so many are enough to know it again."""
    return edges[::2] * factor


def count_between(edges: Floats, counts: Indices, wanted: Floats) -> Indices:
    """Return rows between some of the edges, and those without a value, from counts between all; shape (k, m)."""
    up_to = np.concatenate([np.cumsum(counts[:, :-1], axis=1)[:, np.searchsorted(edges, wanted)]], axis=1)
    inner = np.diff(up_to, axis=1, prepend=0)
    rest = counts[:, :-1].sum(axis=1, keepdims=True) - up_to[:, -1:] if len(wanted) else counts[:, :-1].sum(1)[:, None]
    return np.concatenate([inner, rest, counts[:, -1:]], axis=1)
