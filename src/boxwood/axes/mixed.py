"""Growth columns of a table of numbers and categories, some of them missing: each is made of one column of the table.

A missing number is the point plus infinity of its column. It grows with a constant, the median of the others, so that
it is on one side of every cut; an indicator, too small to cost much, parts it from them. A category becomes few columns
in which the squared distances of values to the means of clusters are those of one-hot columns, less a constant for each
value. So costs under centres choose alike, and every cut is a set of values. One whose values have an order has these
columns for costs alone, and is cut in a column of places, too faint to cost much. Words of too few rows are one word.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Array, Bools, Floats, Indices, Weights
from boxwood._validation import as_float_table, as_integer_weights
from boxwood.axes._monotone import Scaling, Tails
from boxwood.axes.categories import Categories
from boxwood.axes.maps import LARGEST, AxisMap, Chained
from boxwood.loops.mixed import orthogonal_rows
from boxwood.tree.cover import EVERYTHING, MISSING, Intervals, join_intervals

BLOCK = 1 << 12  # rows that are mapped at a time
FAINT = 1e-3  # of the range of the middle half of a column's values: the indicator of missing ones
NONE_AT_ALL = 1e-9  # strength of an axis, where the largest possible is 1: below it is rounding
NONE_ALIKE: Mapping[int, Indices] = MappingProxyType({})
MANY = 1 << 17  # so many values tell the quarters of more


class MixedMap(AxisMap):
    """A table of numbers, and of codes of categories, as columns on which trees are grown.

    Parameters
    ----------
    table : array of shape (n, d)
        Numbers, plus infinity where one is missing, and codes.
    categories : mapping from column to Categories
        The columns of codes.
    labels : array of shape (n,)
        Cluster of each row, -1 for a row that is left out.
    weights : array of shape (n,), or None
        Weight of each row.
    scales : array of shape (d,), default=None
        Factor of each column; None is 1 for all.
    tails : Tails, default=None
        What is done to numbers before they are scaled.
    one_hot : bool, default=False
        Whether categories become their one-hot columns instead, so that each cut asks for a single value.
    enough : float, default=1.0
        Least share of the variance between clusters that the columns of a category have.
    alike : mapping from column to array of shape (m,), default={}
        Code that stands for each code of a category: no cut parts codes that have the same one; see `words_alike`.
    absent : mapping from column to float, default={}
        What is taken for a missing number, in the place of the median of the others.

    Notes
    -----
    For a category let P, of shape (k, m), hold the shares of its m values in the clusters. The image of a value is its
    one-hot vector, projected on an orthonormal basis of the span of the centred rows of P, which has at most k - 1 and
    at most m - 1 columns. The part of a one-hot vector that is orthogonal to that span is as far from the mean of one
    cluster as from that of any other. So squared distances to the clusters' means are those of one-hot columns, less a
    number that depends on the value alone. With `enough` below 1 that holds nearly: the weakest columns are left out.
    """

    n_features: int

    alike: Mapping[int, Indices]

    def __init__(
        self,
        table: Floats,
        categories: Mapping[int, Categories],
        labels: Indices,
        weights: Weights = None,
        scales: Floats | None = None,
        tails: Tails | None = None,
        *,
        one_hot: bool = False,
        enough: float = 1.0,
        alike: Mapping[int, Indices] = NONE_ALIKE,
        absent: Mapping[int, float] = MappingProxyType({}),
    ) -> None:
        self.n_features, self.alike = table.shape[1], alike
        kept = labels >= 0 if weights is None else (labels >= 0) & (weights > 0)
        own = labels[kept]
        mass = np.ones(len(own)) if weights is None else as_integer_weights(weights[kept]).astype(np.float64)
        parts: list[_Part] = []
        for j in range(self.n_features):
            x, scale = table[:, j], 1.0 if scales is None else float(scales[j])
            if j not in categories:
                parts.append(_number(x, weights, scale, None if tails is None else tails.column(j), absent.get(j)))
                continue
            known = categories[j]
            m, is_one_hot, codes = len(known.domain), one_hot and not known.ordered, x[kept].astype(np.intp)
            at = alike.get(j, np.arange(m))
            images = scale * (np.eye(m) if is_one_hot else embed_values(*_shares(at[codes], own, mass, m), enough))
            images = images[at]
            if known.ordered:
                step = FAINT * scale / max(known.known - 1, 1)
                parts.append(_OrderedPart(images, known, _number(known.places(x), weights, step)))
            else:
                parts.append(_Codes(images, known.domain))
        self._join(parts)

    def _join(self, parts: Sequence[_Part]) -> None:
        """Place the columns of the parts, one for each column of the table, side by side."""
        self.parts = parts
        self.features: Indices = np.repeat(np.arange(self.n_features), [part.n_columns for part in parts])
        self.starts: Array = np.cumsum([0, *(part.n_columns for part in parts)])
        begun = [
            (start, part) for start, part in zip(self.starts, parts, strict=False) if isinstance(part, _OrderedPart)
        ]
        self.uncut: tuple[int, ...] = tuple(
            j for start, part in begun for j in range(int(start), int(start) + part.n_uncut)
        )

    def transform(self, X: ArrayLike) -> Floats:
        """Return the growth columns of rows, shape (n, n_columns)."""
        table = as_float_table(X)
        mapped = np.empty((len(table), self.n_columns))
        for start in range(0, len(table), BLOCK):  # few enough that they stay in the processor's cache
            rows = slice(start, start + BLOCK)
            for j, part in enumerate(self.parts):
                out = mapped[rows, self.starts[j] : self.starts[j + 1]]
                part.write(np.asarray(table[rows, j], dtype=np.float64), out)
        return mapped

    def pull_back(self, column: int, lower: float, upper: float) -> tuple[int, Intervals]:
        """Return the column of the table, and its values with an image in `[lower, upper]`."""
        feature = int(self.features[column])
        return feature, self.parts[feature].pull_back(column - int(self.starts[feature]), lower, upper)

    def domain(self, feature: int) -> Intervals:
        """Return the codes of a category, and every number for other columns."""
        return self.parts[feature].domain


def embed_values(shares: Floats, sizes: Floats, enough: float = 1.0) -> Floats:
    """Return the images of the values of a category, shape (m, q), see `MixedMap`.

    IN: shares (k, m): of the values in each cluster; sizes (k,): weight of each cluster; enough: the share of the
    variance between clusters that the columns have at least.

    Columns are in the order of the variance between clusters, and in each the entry of greatest magnitude is positive.
    Where all clusters have the same shares, the one column parts the most frequent value from the others.
    """
    heavy = sizes / sizes.sum()
    mean = (shares * heavy[:, None]).sum(axis=0)
    axes = (shares - mean) * np.sqrt(heavy)[:, None]
    orthogonal_rows(axes, np.zeros(1, dtype=np.int64))
    strengths = np.sqrt(np.square(axes).sum(axis=1))
    order = np.argsort(-strengths, kind="stable")[: max(shares.shape[1] - 1, 1)]
    order = order[strengths[order] > NONE_AT_ALL]
    if not len(order):
        return np.eye(shares.shape[1])[:, [int(np.argmax(mean))]]
    if enough < 1.0:
        explained = np.cumsum(np.square(strengths[order]))
        order = order[: np.searchsorted(explained, enough * explained[-1]) + 1]
    axes = axes[order] / strengths[order, None]
    signs = np.sign(axes[np.arange(len(axes)), np.argmax(np.abs(axes), axis=1)])
    return np.ascontiguousarray((axes * signs[:, None]).T)


# ------------------------------------------------------------------------------------------- columns of the table
class _Part(Protocol):
    """The growth columns that are made of one column of the table."""

    n_columns: int
    domain: Intervals

    def write(self, x: Floats, out: Floats) -> None:
        """Write the images of values; OUT: out (n, n_columns)."""

    def pull_back(self, column: int, lower: float, upper: float) -> Intervals:
        """Return the values with an image in `[lower, upper]`."""


class _Number:
    """A number without gaps; its tail is drawn in, if it has one, and it is shifted and scaled if it is scaled."""

    n_columns: int = 1
    domain = EVERYTHING

    def __init__(self, x: Floats, scale: float, tail: AxisMap | None = None) -> None:
        least = np.array([[float(x.min())]])
        least = least if tail is None else tail.transform(least)
        scaling = None if scale == 1 else Scaling(least[0], np.array([1 / scale]))
        self.image = Chained(tail, scaling) if tail is not None and scaling is not None else scaling or tail

    def write(self, x: Floats, out: Floats) -> None:
        out[:, 0] = x if self.image is None else self.image.transform(x[:, None])[:, 0]

    def pull_back(self, column: int, lower: float, upper: float) -> Intervals:
        return ((lower, upper),) if self.image is None else self.image.pull_back(0, lower, upper)[1]


class _NumberWithGaps(_Number):
    """A number with gaps: filled with the median of the others, or what is given, and an indicator of the gaps."""

    def __init__(
        self, x: Floats, weights: Weights, scale: float, tail: AxisMap | None, absent: float | None = None
    ) -> None:
        super().__init__(x, scale, tail)
        self.n_columns = 2
        low, middle, high = _quarters(x, weights)
        self.filled = middle if absent is None else absent
        if tail is not None:
            low, high = tail.transform([[low], [high]])[:, 0].tolist()
        self.mark = FAINT * scale * ((high - low) or 1.0)

    def write(self, x: Floats, out: Floats) -> None:
        lacks = np.isposinf(x)
        super().write(np.where(lacks, self.filled, x), out)
        out[:, 1:] = np.where(lacks, self.mark, 0.0)[:, None]

    def pull_back(self, column: int, lower: float, upper: float) -> Intervals:
        if column == 1:
            known: Intervals = ((-np.inf, LARGEST),) if lower <= 0.0 <= upper else ()
            return join_intervals([*known, *([MISSING] if lower <= self.mark <= upper else [])])
        image = np.empty((1, self.n_columns))
        self.write(np.array([np.inf]), image)
        known = tuple((low, min(high, LARGEST)) for low, high in super().pull_back(0, lower, upper))
        return join_intervals([*known, *([MISSING] if lower <= image[0, 0] <= upper else [])])


class _Codes:
    """A category; images (m, q) are those of its values."""

    def __init__(self, images: Floats, domain: Intervals) -> None:
        self.images, self.domain, self.n_columns = images, domain, images.shape[1]

    def write(self, x: Floats, out: Floats) -> None:
        out[:] = self.images.take(x.astype(np.intp), axis=0)

    def pull_back(self, column: int, lower: float, upper: float) -> Intervals:
        image = self.images[:, column]
        return join_intervals(
            (code, code) for code in np.flatnonzero((lower <= image) & (image <= upper)).astype(float).tolist()
        )


class _OrderedPart(_Codes):
    """A category whose values have an order: images, which costs see and no cut tests, and its places, as a number."""

    def __init__(self, images: Floats, known: Categories, number: _Part) -> None:
        super().__init__(images, known.domain)
        self.places, self.number, self.n_uncut = known.places, number, images.shape[1]
        self.n_columns += number.n_columns

    def write(self, x: Floats, out: Floats) -> None:
        super().write(x, out[:, : self.n_uncut])
        self.number.write(self.places(x), out[:, self.n_uncut :])

    def pull_back(self, column: int, lower: float, upper: float) -> Intervals:
        if column < self.n_uncut:
            return super().pull_back(column, lower, upper)
        pieces, codes = self.number.pull_back(column - self.n_uncut, lower, upper), np.arange(float(len(self.images)))
        inside = [any(low <= place <= high for low, high in pieces) for place in self.places(codes).tolist()]
        return join_intervals((code, code) for code in codes[inside].tolist())


def _number(
    x: Floats, weights: Weights, scale: float, tail: AxisMap | None = None, absent: float | None = None
) -> _Part:
    return _NumberWithGaps(x, weights, scale, tail, absent) if np.isposinf(x).any() else _Number(x, scale, tail)


def _shares(codes: Indices, labels: Indices, mass: Floats, n_values: int) -> tuple[Floats, Floats]:
    """Return the shares of the values in each cluster with rows, shape (k, m), and the weights of these clusters."""
    n_clusters = int(labels.max()) + 1
    cells = labels * n_values + codes
    held = np.bincount(cells, mass, minlength=n_clusters * n_values).reshape(n_clusters, n_values)
    sizes = held.sum(axis=1)
    present = sizes > 0
    return held[present] / sizes[present, None], sizes[present]


def _quarters(x: Floats, weights: Weights) -> list[float]:
    """Return the values below which a quarter, a half and three quarters of the values lie that are not missing.

    Of many values those decide that are evenly spread over the rows.
    """
    known = ~np.isposinf(x) if weights is None else ~np.isposinf(x) & (weights > 0)
    are_weighed = weights is not None and known.any()
    rows = np.flatnonzero(known if known.any() else ~np.isposinf(x))
    rows = rows[:: -(-len(rows) // MANY)]
    values, shares = x[rows], np.array([0.25, 0.5, 0.75])
    if weights is None or not are_weighed:
        places = np.ceil(len(values) * shares).astype(np.intp) - 1
        return [float(value) for value in np.partition(values, places)[places]]
    order = np.argsort(values, kind="stable")
    below = np.cumsum(as_integer_weights(weights[rows])[order].astype(np.float64))
    return [float(value) for value in values[order[np.searchsorted(below, below[-1] * shares)]]]


# ----------------------------------------------------------------------------------------------------------- rare words


ENOUGH = 50  # A word of so many rows is taken by itself, whatever the others say.
FEW_WORDS, FEW_ROWS = 8, 100  # Up to so many words in less than so many rows are left alone: their sets are few.
RELIABLE = 0.7  # One of fewer rows is, if these tell its clusters with at least this reliability.


def words_alike(
    table: Floats, categories: Mapping[int, Categories], labels: Indices, weights: Weights
) -> dict[int, Indices]:
    """Return for columns with words that are not told apart the code that stands for each code, shape (m,).

    A cut may put each word on the side where most of its rows belong. Where words have few rows, it is luck which side
    that is: a set of meaningless names fits the rows that were seen, and no others. How much a word's rows say can be
    counted. Let a row and another one of its word be in one cluster more often than any two rows are, by a share r of
    what is possible (the intraclass correlation). Then n rows tell the clusters of their word with the reliability

        n r / (1 + (n - 1) r),

    which is 1 for names that carry the answer, however few rows each has, and 0 for names without meaning.

    A missing value is never rare, and words in their order need no guard, as few cuts part them.

    IN: table (n, d): codes in the columns of categories; labels (n,): cluster of each row, -1 for one that is left out.

    References
    ----------
    C. Spearman, "Correlation calculated from faulty data", British Journal of Psychology 3, 1910; W. Brown, ibid.
    G. V. Kass, "An exploratory technique for investigating large quantities of categorical data", Applied Statistics
    29, 1980, merges words that differ by no more than chance, too. doi:10.2307/2986296
    """
    kept = labels >= 0 if weights is None else (labels >= 0) & (weights > 0)
    times = _times(int(kept.sum()), None if weights is None else weights[kept])
    found = {}
    for j, known in categories.items():
        m = len(known.domain)
        if known.ordered or (m <= FEW_WORDS and times.sum() < FEW_ROWS):
            continue
        cells = np.zeros((m, int(labels.max()) + 1))
        np.add.at(cells, (table[kept, j].astype(np.intp), labels[kept]), times)
        alike = _too_rare(cells, np.array([value is not None for value in (*known.values, "")[:m]]))
        if alike.sum() > 1:
            found[j] = np.where(alike, np.argmax(alike), np.arange(m))
    return found


def _times(n_rows: int, weights: Weights) -> Floats:
    """Return how often each row counts: whole weights are rows that come several times, and others are rows."""
    is_whole = weights is not None and bool((weights == np.floor(weights)).all())
    return np.asarray(weights, dtype=np.float64) if is_whole else np.ones(n_rows)


def _too_rare(cells: Floats, may_be_rare: Bools) -> Bools:
    """Return which words have too few rows; IN: cells (m, k): rows of each word in each cluster."""
    n_rows = cells.sum(axis=1)
    is_rare = may_be_rare & (n_rows < ENOUGH)
    return np.asarray(is_rare & (n_rows < least_rows(cells[is_rare])))


def least_rows(cells: Floats) -> float:
    """Return how many rows a word needs, so that they tell its clusters reliably; IN: cells (m, k): as counted."""
    n_rows, of_cluster = cells.sum(axis=1), cells.sum(axis=0)
    several = n_rows > 1
    total = float(of_cluster.sum())
    chance = float((of_cluster * (of_cluster - 1)).sum()) / max(total * (total - 1), 1.0)
    if not several.any() or chance >= 1:
        return math.inf
    pairs = (cells[several] * (cells[several] - 1)).sum(axis=1) / (n_rows[several] - 1)
    share = (float(pairs.sum()) / float(n_rows[several].sum()) - chance) / (1 - chance)
    return math.inf if share <= 0 else RELIABLE / (1 - RELIABLE) * (1 - share) / share
