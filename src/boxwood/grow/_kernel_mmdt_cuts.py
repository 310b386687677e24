"""The growth of Kernel MMDT: at each node an axis, a pair of components and a level, then a prototype."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from boxwood._types import Bools, Floats, Indices
from boxwood._validation import listed
from boxwood.errors import DataError
from boxwood.grow._grown import Split, grow_by_cuts
from boxwood.grow._kernel_mmdt_components import Laws
from boxwood.kernels import DistanceKernel
from boxwood.tree import ThresholdTree, between

__all__ = ["AXES", "PrototypeCut", "grow_from_laws"]

AXES = ("similarity", "error")
_TIE = 1e-9  # bounds on mistakes within this relative distance are ties: the difference may be rounding
_ROUNDING = 1e-12  # a gap between similarities that is not wider may be rounding


class PrototypeCut(NamedTuple):
    """A cut of Kernel MMDT: rows are inside if they are close to a prototype on one axis.

    Attributes
    ----------
    node : int
        Node of the tree.
    feature : int
        Axis.
    component, partner : int
        Cluster that the prototype comes from, and a cluster on the other side: the least similar one on the axis.
    prototype : float
        The prototype's value on the axis.
    level, radius : float
        Lowest similarity to the prototype of rows inside, and the distance where similarity equals `level`.
    inside, outside : tuple of int
        Clusters on either side. Always holds: `component` is inside and `partner` outside.
    similarity, within : float
        Similarity of component and partner on the axis, and of the component with itself; the level lies between.
    error_bound : float
        Bound on the fraction of all rows that belong to this node and go to the wrong side of the cut, expected over
        random prototypes.
    """

    node: int
    feature: int
    component: int
    partner: int
    prototype: float
    level: float
    radius: float
    inside: tuple[int, ...]
    outside: tuple[int, ...]
    similarity: float
    within: float
    error_bound: float

    def renumbered(self, clusters: Indices) -> PrototypeCut:
        """Return the cut with the positions of its clusters in an ascending array instead of their numbers."""
        inside, outside = (tuple(np.searchsorted(clusters, side).tolist()) for side in (self.inside, self.outside))
        component, partner = np.searchsorted(clusters, (self.component, self.partner)).tolist()
        return self._replace(component=component, partner=partner, inside=inside, outside=outside)


def grow_from_laws(
    laws: Laws, kernel: DistanceKernel, random: np.random.Generator | None, axis: str = "similarity"
) -> tuple[ThresholdTree, tuple[PrototypeCut, ...]]:
    """Return the tree, and its cuts in pre-order; prototypes are medoids if there is no generator."""
    cuts: list[PrototypeCut] = []
    choice = _least_alike if axis == "similarity" else _smallest_error_bound
    node = itertools.count()  # nodes are visited in pre-order, and numbered in this order

    def step(components: Indices) -> int | Split[Indices]:
        number = next(node)
        if len(components) == 1:
            return int(laws.clusters[components[0]])
        cut, is_inside = _cut(laws, kernel, components, choice(laws, components), random)
        cuts.append(cut._replace(node=number))
        low, high = cut.prototype - cut.radius, cut.prototype + cut.radius
        return Split(cut.feature, high, components[is_inside], components[~is_inside], lower=low)

    return grow_by_cuts(np.arange(len(laws.clusters)), step), tuple(cuts)


class _Choice(NamedTuple):
    """The choices at a node before a prototype is drawn."""

    axis: int
    component: int
    partner: int
    level: float


def _least_alike(laws: Laws, components: Indices) -> _Choice:
    """Return the least similar pair of components, its axis, and the level in the middle of the widest gap."""
    first, second = np.triu_indices(len(components), 1)
    similarities = laws.similarity.mean[:, components[first], components[second]]
    for position in np.argsort(similarities, axis=None, kind="stable").tolist():
        axis, pair = divmod(position, len(first))
        a, b = int(components[first[pair]]), int(components[second[pair]])
        gaps = [(*_widest_gap(laws.similarity.mean[axis, c], c, components), c, other) for c, other in ((a, b), (b, a))]
        gap, level, component, partner = max(gaps, key=lambda entry: entry[0])  # ties go to the first
        if gap > _ROUNDING:
            return _Choice(axis, component, partner, level)
    raise _alike(laws, components)


def _smallest_error_bound(laws: Laws, components: Indices) -> _Choice:
    """Return the axis, component and level with the smallest bound on mistakes; levels are the middles of all gaps."""
    candidates: list[tuple[float, _Choice]] = []
    for axis, similarity in enumerate(laws.similarity.mean):
        for c in components.tolist():
            least_similar = int(components[similarity[c, components].argmin()])
            _, levels = _gaps(similarity[c], c, components)
            choices = [_Choice(axis, c, least_similar, level) for level in levels]
            candidates += [(_error_bound(laws, components, choice), choice) for choice in choices]
    if not candidates:
        raise _alike(laws, components)
    limit = min(bound for bound, _ in candidates) * (1 + _TIE)
    return next(choice for bound, choice in candidates if bound <= limit)


def _alike(laws: Laws, components: Indices) -> DataError:
    names = listed([laws.names[c] for c in components])
    return DataError(
        f"clusters that are alike on every axis that may be cut, so that no cut separates them: {names}; make them one"
    )


def _widest_gap(similarities: Floats, component: int, components: Indices) -> tuple[float, float]:
    """Return the largest gap of the similarities to a component, and its middle; ties go to the lowest gap."""
    gaps, levels = _gaps(similarities, component, components)
    return max(zip(gaps, levels, strict=True), key=lambda entry: entry[0], default=(0.0, 0.0))


def _gaps(similarities: Floats, component: int, components: Indices) -> tuple[list[float], list[float]]:
    """Return the gaps between the similarities to a component, and their middles.

    Gaps above the component's similarity to itself are left out, so the component is inside every cut. Gaps that are
    no wider than rounding are left out too.
    """
    values = np.unique(similarities[components])
    values = values[values <= similarities[component]]
    gaps = np.diff(values)
    wide = np.flatnonzero(gaps > _ROUNDING)
    pairs = zip(values[wide].tolist(), values[wide + 1].tolist(), strict=True)
    # each level lies above the lower value, so that the component of this value is outside
    return gaps[wide].tolist(), [-float(between(-high, -low)) for low, high in pairs]


def _error_bound(laws: Laws, components: Indices, choice: _Choice) -> float:
    """Return a bound on the fraction of all rows on the wrong side of a cut, expected over random prototypes."""
    means = laws.similarity.mean[choice.axis, choice.component, components]
    variances = laws.similarity.variance[choice.axis, choice.component, components]
    # Cantelli's inequality, which is sharper than the Chebyshev inequality of the paper's proof
    totals = variances + (choice.level - means) ** 2
    fractions = np.divide(variances, totals, out=np.zeros(len(components)), where=variances > 0)
    return float((laws.weights[components] * fractions).sum())


def _cut(
    laws: Laws,
    kernel: DistanceKernel,
    components: Indices,
    choice: _Choice,
    random: np.random.Generator | None,
) -> tuple[PrototypeCut, Bools]:
    """Return the cut around a prototype, and which components are inside; the number of its node is not set yet."""
    axis, component, partner, level = choice
    means = laws.similarity.mean[axis, component, components]
    is_inside = means >= level
    clusters = laws.clusters[components]
    cut = PrototypeCut(
        node=-1,
        feature=axis,
        component=int(laws.clusters[component]),
        partner=int(laws.clusters[partner]),
        prototype=laws.prototype(component, axis, random),
        level=level,
        radius=float(kernel.radius(axis, level)),
        inside=tuple(clusters[is_inside].tolist()),
        outside=tuple(clusters[~is_inside].tolist()),
        similarity=float(laws.similarity.mean[axis, component, partner]),
        within=float(laws.similarity.mean[axis, component, component]),
        error_bound=_error_bound(laws, components, choice),
    )
    return cut, is_inside
