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
_TIE = 1e-9  # share by which a bound on mistakes must be lower than an earlier one: less may be rounding
_ROUNDING = 1e-12  # a gap between similarities that is no wider is their rounding


class PrototypeCut(NamedTuple):
    """A cut of Kernel MMDT: rows are inside if they are near to a prototype, on one axis.

    Attributes
    ----------
    node : int
        Node of the tree.
    feature : int
        Axis.
    component, partner : int
        Cluster whose prototype it is, and one on the other side: the one least similar to it on the axis.
    prototype : float
        Value on the axis.
    level, radius : float
        Similarity to the prototype that a row inside has at least, and the distance at which it is that.
    inside, outside : tuple of int
        Clusters on either side. Always holds: `component` is inside and `partner` outside.
    similarity, within : float
        Similarity of the pair on the axis, and of the component with itself; the level lies between the two.
    error_bound : float
        Bound on the share of all rows that belong to this node and that the cut sends to the wrong side, in the mean
        over prototypes drawn.
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


def grow_from_laws(
    laws: Laws, kernel: DistanceKernel, random: np.random.Generator | None, axis: str = "similarity"
) -> tuple[ThresholdTree, tuple[PrototypeCut, ...]]:
    """Return the tree, and its cuts in pre-order; prototypes are medoids where there is no generator."""
    cuts: list[PrototypeCut] = []
    choice = _least_alike if axis == "similarity" else _surest
    node = itertools.count()  # nodes are visited in pre-order, by which they are numbered

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
    """What is decided at a node before a prototype is drawn."""

    axis: int
    component: int
    partner: int
    level: float


def _least_alike(laws: Laws, here: Indices) -> _Choice:
    """Return the axis and the pair that are least alike on it, and the level of the widest gap."""
    first, second = np.triu_indices(len(here), 1)
    similarities = laws.similarity.mean[:, here[first], here[second]]
    for place in np.argsort(similarities, axis=None, kind="stable").tolist():
        axis, pair = divmod(place, len(first))
        a, b = int(here[first[pair]]), int(here[second[pair]])
        found = [(*_widest_gap(laws.similarity.mean[axis, c], c, here), c, other) for c, other in ((a, b), (b, a))]
        gap, level, component, partner = max(found, key=lambda entry: entry[0])  # the first among equals
        if gap > _ROUNDING:
            return _Choice(axis, component, partner, level)
    raise _alike(laws, here)


def _surest(laws: Laws, here: Indices) -> _Choice:
    """Return the axis, component and level, in the middle of any gap, with the least bound on mistakes."""
    found: list[tuple[float, _Choice]] = []
    for axis, similarity in enumerate(laws.similarity.mean):
        for c in here.tolist():
            least = int(here[similarity[c, here].argmin()])
            _, levels = _gaps(similarity[c], c, here)
            choices = [_Choice(axis, c, least, level) for level in levels]
            found += [(_error_bound(laws, here, choice), choice) for choice in choices]
    if not found:
        raise _alike(laws, here)
    enough = min(bound for bound, _ in found) * (1 + _TIE)
    return next(choice for bound, choice in found if bound <= enough)


def _alike(laws: Laws, here: Indices) -> DataError:
    names = listed([laws.names[c] for c in here])
    return DataError(f"clusters that are alike on every axis, so that no cut separates them: {names}; make them one")


def _widest_gap(similarities: Floats, component: int, here: Indices) -> tuple[float, float]:
    """Return the largest gap of the similarities to a component, and its middle; among equal ones the lowest."""
    gaps, levels = _gaps(similarities, component, here)
    return max(zip(gaps, levels, strict=True), key=lambda entry: entry[0], default=(0.0, 0.0))


def _gaps(similarities: Floats, component: int, here: Indices) -> tuple[list[float], list[float]]:
    """Return the gaps of the similarities to a component, up to its own, that are no rounding, and their middles.

    The component is on the near side of each.
    """
    values = np.unique(similarities[here])
    values = values[values <= similarities[component]]
    gaps = np.diff(values)
    wide = np.flatnonzero(gaps > _ROUNDING)
    pairs = zip(values[wide].tolist(), values[wide + 1].tolist(), strict=True)
    # above the lower value, so that it lies outside
    return gaps[wide].tolist(), [-float(between(-high, -low)) for low, high in pairs]


def _error_bound(laws: Laws, here: Indices, choice: _Choice) -> float:
    """Return a bound on the share of all rows that a cut sends to the wrong side, in the mean over prototypes."""
    means = laws.similarity.mean[choice.axis, choice.component, here]
    variances = laws.similarity.variance[choice.axis, choice.component, here]
    # Cantelli's inequality, which is sharper than the Chebyshev inequality of the paper's proof
    whole = variances + (choice.level - means) ** 2
    missed = np.divide(variances, whole, out=np.zeros(len(here)), where=variances > 0)
    return float((laws.weights[here] * missed).sum())


def _cut(
    laws: Laws,
    kernel: DistanceKernel,
    here: Indices,
    choice: _Choice,
    random: np.random.Generator | None,
) -> tuple[PrototypeCut, Bools]:
    """Return the cut around a prototype, its node left open, and which components are inside."""
    axis, component, partner, level = choice
    means = laws.similarity.mean[axis, component, here]
    is_inside = means >= level
    clusters = laws.clusters[here]
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
        error_bound=_error_bound(laws, here, choice),
    )
    return cut, is_inside
