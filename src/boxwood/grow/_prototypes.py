"""The growth of Kernel MMDT: at each node an axis, a pair of components and a level, then a prototype."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boxwood._validation import listed
from boxwood.errors import DataError
from boxwood.grow._laws import Laws
from boxwood.kernels import DistanceKernel
from boxwood.tree import ThresholdTree, TreeBuilder, between

__all__ = ["PrototypeCut", "grow_from_laws"]

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
        Cluster whose prototype it is, and the one least similar to it.
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
    laws: Laws, kernel: DistanceKernel, random: np.random.Generator | None
) -> tuple[ThresholdTree, tuple[PrototypeCut, ...]]:
    """Return the tree, and its cuts in pre-order; prototypes are medoids where there is no generator."""
    builder, cuts = TreeBuilder(), {}
    waiting = [(0, np.arange(len(laws.clusters)))]
    while waiting:
        node, here = waiting.pop()
        if len(here) == 1:
            builder.label(node, int(laws.clusters[here[0]]))
            continue
        cut, is_inside = _cut(laws, kernel, here, _choice(laws, here), random)
        inside, outside = builder.split(node, cut.feature, cut.prototype + cut.radius, cut.prototype - cut.radius)
        cuts[node] = cut
        waiting += ((outside, here[~is_inside]), (inside, here[is_inside]))
    tree, nodes = builder.build_with_nodes()
    return tree, tuple(cuts[node]._replace(node=i) for i, node in enumerate(nodes.tolist()) if node in cuts)


class _Choice(NamedTuple):
    """What is decided at a node before a prototype is drawn."""

    axis: int
    component: int
    partner: int
    level: float


def _choice(laws: Laws, here: NDArray[np.intp]) -> _Choice:
    """Return axis, pair and level for the components of a node."""
    first, second = np.triu_indices(len(here), 1)
    similarities = laws.similarity.mean[:, here[first], here[second]]
    for place in np.argsort(similarities, axis=None, kind="stable").tolist():
        axis, pair = divmod(place, len(first))
        a, b = int(here[first[pair]]), int(here[second[pair]])
        found = [(*_widest_gap(laws.similarity.mean[axis, c], c, here), c, other) for c, other in ((a, b), (b, a))]
        gap, level, component, partner = max(found, key=lambda entry: entry[0])  # the first among equals
        if gap > _ROUNDING:
            return _Choice(axis, component, partner, level)
    names = listed([laws.names[c] for c in here])
    raise DataError(f"clusters that are alike on every axis, so that no cut separates them: {names}; make them one")


def _widest_gap(similarities: NDArray[np.float64], component: int, here: NDArray[np.intp]) -> tuple[float, float]:
    """Return the largest gap of the similarities to a component, up to its own, and the level in the middle of it.

    The component is then on the near side of the level. Among equal gaps the lowest is taken.
    """
    values = np.unique(similarities[here])
    values = values[values <= similarities[component]]
    if len(values) < 2:
        return 0.0, 0.0
    gaps = np.diff(values)
    place = int(gaps.argmax())
    low, high = values[place : place + 2].tolist()
    return float(gaps[place]), -float(between(-high, -low))  # above the lower value, so that it lies outside


def _cut(
    laws: Laws,
    kernel: DistanceKernel,
    here: NDArray[np.intp],
    choice: _Choice,
    random: np.random.Generator | None,
) -> tuple[PrototypeCut, NDArray[np.bool_]]:
    """Return the cut around a prototype, its node left open, and which components are inside."""
    axis, component, partner, level = choice
    means = laws.similarity.mean[axis, component, here]
    variances = laws.similarity.variance[axis, component, here]
    is_inside = means >= level
    # Cantelli's inequality, which is sharper than the Chebyshev inequality of the paper's proof
    errors = np.divide(variances, variances + (level - means) ** 2, out=np.zeros(len(here)), where=variances > 0)
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
        error_bound=float(laws.weights[here] @ errors),
    )
    return cut, is_inside
