"""Kernel MMDT: the tree that separates components by their distance to a prototype on one axis."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._threads import map_tasks
from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import as_generator, list_words, refuse_unknown
from boxwood.errors import DataError
from boxwood.grow.grown import Grown, Split, grow_by_cuts
from boxwood.grow.shared.costs import integer_costs_of, make_problem
from boxwood.kernels import DistanceKernel, Kernel
from boxwood.kernels.families import as_distance_kernel
from boxwood.metrics.similarity import AxisSimilarity, axis_moments, axis_similarity
from boxwood.reference import Mixture, Reference, Task
from boxwood.reference.mixture import refuse_no_mixture
from boxwood.tree import ThresholdTree, between

PROTOTYPES = ("sample", "medoid")


def kernel_mmdt(
    X: ArrayLike,
    reference: Reference,
    *,
    kernel: Kernel | str,
    axis: str = "similarity",
    prototype: str = "sample",
    n_trees: int = 1,
    random_state: Any = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return the tree of the Kernel Mixture Model Decision Tree: k leaves, cuts around prototypes of clusters.

    Each node chooses an axis and two clusters whose rows are least similar on it. A prototype p is drawn from one of
    the two. The cut is `p - r <= x <= p + r`: rows close to the prototype are inside, and so are the clusters that are
    similar to the prototype's cluster. Use it for clusters that a kernel separates and means do not.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, float32 or float64 in any memory layout, finite.
    reference : Reference
        Labels of the rows. The rows of a cluster are taken as a sample of one component of a mixture; -1 leaves a row
        out. Centres are not used, and a cluster without rows has no leaf.
    kernel : DistanceKernel or str
        Kernel that is a product over axes: `Gaussian`, `Laplace` or `ProductKernel`, or the name of one. A bandwidth
        that is not set is found from all rows.
    axis : {"similarity", "error"}, default="similarity"
        How a node chooses its axis and clusters. "similarity", as in the paper: the least similar ones. "error": the
        ones whose cut has the smallest bound on its mistakes. "error" takes longer, but does not prefer columns of wide
        noise.
    prototype : {"sample", "medoid"}, default="sample"
        "sample": a row of the cluster, drawn at random for each node, as the guarantee asks. "medoid": the value that
        is most similar to the cluster's rows on the axis; this is not random, and has no guarantee.
    n_trees : int, default=1
        Number of trees to grow, each with its own prototypes. The tree of lowest cost is returned; the cost is the sum
        of squared distances to the kernel means of the reference's clusters, and ties go to the first tree. It has no
        effect for medoids.
    random_state : int, Generator, RandomState or None, default=None
        Randomness of the prototypes; an int gives the same tree each time.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row, not negative. Whole weights give the tree of repeated rows.
    n_jobs : int, default=-1
        Number of threads; the tree does not depend on it.

    Returns
    -------
    ThresholdTree
        Always holds: there is one leaf for each cluster with rows, and every cut is two-sided. Inside a cut are the
        prototype's cluster and all clusters whose similarity to it is at least the level of the cut (see Notes).

    Raises
    ------
    DataError
        If rows, labels and weights do not fit together, every row is left out, or clusters are alike on every axis.
    ValueError
        If the kernel is no product over axes, or a parameter has a value that is not listed.

    Notes
    -----
    Let xi(i, a, b) be the mean similarity, on axis i, of independent rows of clusters a and b. The steps at a node:

    1. Choose the axis i and the pair of clusters a != b with the smallest xi. Ties go to the lowest axis, then pair.
    2. Choose c, the cluster of the prototype, and the level of the cut. For c = a and for c = b, sort xi(i, c, m) over
       the node's clusters m, drop the values above xi(i, c, c), and take the largest gap between neighbours. Keep the c
       with the larger gap; ties go to the lower number. The level is the middle of the gap. If no gap is wider than
       rounding (1e-12), step 1 tries the pair with the next smallest xi.
    3. Choose a prototype p of c. Rows whose similarity to p on axis i is at least the level go inside, and so do the
       clusters m with xi(i, c, m) above it. The radius is the distance at which the similarity equals the level.

    The paper leaves open which cluster of the pair gives the prototype. It also allows gaps above xi(i, c, c), so that
    the prototype's own cluster may lie outside the cut. The guarantee holds either way, because it uses only the values
    from xi(i, a, b) to xi(i, c, c): the expected kernel price, over random prototypes, is at most
    `theory.bounds.midpoint_kernel_price_bound`. The bound is trivial, with all rows in a wrong leaf, unless the
    similarity tau of the axes is below the similarity within each cluster.

    Step 1 prefers an axis on which clusters spread widely, although it may separate nothing: xi is small there for all
    pairs. `axis="error"` replaces steps 1 and 2. It looks at every axis i, every cluster c and every gap of xi(i, c, m)
    up to xi(i, c, c), and takes the level with the smallest bound on the fraction of rows on the wrong side. The bound
    is Cantelli's inequality: the sum over m of p_m v / (v + (level - xi)²), where p_m is the weight of cluster m and v
    the variance of the similarity. Bounds within a relative 1e-9 are ties; they go to the lowest axis, cluster and
    level. The cut of steps 1 and 2 is among the candidates, so the bound is never larger than for that cut, and the
    guarantee holds.

    xi is a mean over all pairs of rows, pairs of a row with itself included, so the guarantee is about the given rows.
    A cluster with more than 512 different values on an axis is summarised by the means of 512 runs of neighbouring
    values, each of equal weight; a value with twice the weight of a run is kept as it is. With up to 512 values xi is
    exact. With more, its error is below 12/512 at worst; we measured at most 2e-4 for distributions with one peak, and
    2e-3 if a run crosses an empty stretch.

    Time: n d log n, plus at most about d k² 512², plus n² (d + k) if `n_trees` is above 1.

    References
    ----------
    M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees", section 5.3 and
    Theorem 12.

    Examples
    --------
    >>> from boxwood import Reference
    >>> from boxwood.kernels import Gaussian
    >>> X = [[-4.0], [-3.9], [0.0], [0.1], [4.0], [4.1]]
    >>> tree = kernel_mmdt(X, Reference.of(X, [0, 0, 1, 1, 0, 0]), kernel=Gaussian(0.3), prototype="medoid")
    >>> tree.predict(X), tree.lower.round(2)[0], tree.upper.round(2)[0]
    (array([0, 0, 1, 1, 0, 0]), np.float64(-1.51), np.float64(1.51))
    """
    task = Task.of(X, reference, sample_weight=sample_weight, random_state=random_state, n_jobs=n_jobs)
    return grow_kernel_mmdt(task, kernel=kernel, axis=axis, prototype=prototype, n_trees=n_trees).tree


def kernel_mmdt_of_mixture(
    mixture: Mixture,
    *,
    kernel: Kernel | str,
    axis: str = "similarity",
    prototype: str = "sample",
    random_state: Any = None,
) -> ThresholdTree:
    """Return the tree of Kernel MMDT for Gaussian components, whose similarities have a closed form.

    Parameters
    ----------
    mixture : Mixture
        Means and variances of Gaussian components. The clusters of the tree are the numbers of the components.
    kernel : Gaussian or Laplace
        Kernel whose bandwidth is a number.
    axis : {"similarity", "error"}, default="similarity"
        As for `kernel_mmdt`.
    prototype : {"sample", "medoid"}, default="sample"
        A value drawn from the component, or its mean.
    random_state : int, Generator, RandomState or None, default=None
        Randomness of prototypes; an int gives the same tree each time.

    Returns
    -------
    ThresholdTree
        As for `kernel_mmdt`.

    Raises
    ------
    DataError
        If components are alike on every axis, or there is no formula for the kernel.
    ValueError
        If the kernel's bandwidth is not set, or a parameter has a value that is not listed.

    Notes
    -----
    Steps, guarantee and source are those of `kernel_mmdt`. Takes time d k² for each node, and reads no rows.
    `KernelMMDT.fit_mixture` grows the same tree, and has its cuts and the bound on its price.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.kernels import Gaussian
    >>> mixture = Mixture([0.5, 0.5], [[0.0], [1.3]], [[0.64], [0.25]])
    >>> kernel_mmdt_of_mixture(mixture, kernel=Gaussian(0.7), prototype="medoid").to_dict()["interval"]
    [0.418..., 2.181...]
    """
    return grown_of_mixture(
        mixture, kernel=kernel, axis=axis, prototype=prototype, random=as_generator(random_state)
    ).tree


def grown_of_mixture(
    mixture: Mixture, *, kernel: Kernel | str, axis: str, prototype: str, random: np.random.Generator
) -> Grown:
    """Return what `kernel_mmdt_of_mixture` grows, with the facts of `grow_kernel_mmdt`."""
    refuse_unknown("axis", axis, AXES)
    refuse_unknown("prototype", prototype, PROTOTYPES)
    refuse_no_mixture(mixture)
    resolved = as_distance_kernel(kernel)
    laws = GaussianLaws(mixture, resolved)
    tree, cuts = grow_from_laws(laws, resolved, None if prototype == "medoid" else random, axis)
    return Grown(tree, "kernel_mmdt", kernel=resolved, attributes=_attributes(resolved, cuts, laws))


def grow_kernel_mmdt(
    task: Task, *, kernel: Kernel | str = "gaussian", axis: str = "error", prototype: str = "sample", n_trees: int = 1
) -> Grown:
    """Return what `kernel_mmdt` grows for a task; facts hold the cuts in pre-order, with the choices of each."""
    refuse_unknown("axis", axis, AXES)
    refuse_unknown("prototype", prototype, PROTOTYPES)
    if n_trees < 1:
        raise ValueError(f"n_trees must be at least 1, got {n_trees}")
    resolved = as_distance_kernel(kernel).fitted(task.rows)
    resolved.gram(task.rows.values[:1])  # refuses a kernel of another number of axes
    laws = ClusterLaws(task.on_usable_columns, resolved)
    random = None if prototype == "medoid" else as_generator(task.random_state)
    drawn = [grow_from_laws(laws, resolved, random, axis) for _ in range(1 if random is None else n_trees)]
    tree, cuts = drawn[0] if len(drawn) == 1 else drawn[_cheapest([tree for tree, _ in drawn], task, resolved)]
    return Grown(tree, "kernel_mmdt", kernel=resolved, attributes=_attributes(resolved, cuts, laws))


def _attributes(kernel: DistanceKernel, cuts: Sequence[PrototypeCut], laws: Laws) -> dict[str, Any]:
    bound = math.fsum(cut.error_bound for cut in cuts)
    return {"kernel": kernel, "cuts": cuts, "error_bound": bound, "similarity": laws.similarity}


def _cheapest(trees: list[ThresholdTree], task: Task, kernel: DistanceKernel) -> int:
    """Return the index of the tree of lowest cost at the kernel means of the clusters; ties go to the first tree."""
    problem, rows = make_problem(task, "cost", kernel), np.flatnonzero(task.kept)
    predicted = [tree.predict(task.rows, n_jobs=task.n_jobs)[rows] for tree in trees]
    return int(np.argmin([cost.sum() for cost in integer_costs_of(problem, rows, predicted)]))


POINTS = 512  # most values that represent a cluster on an axis
_ROWS = 256  # rows of a block of similarities


class Laws(ABC):
    """The distributions of the components: their similarities on each axis, and a prototype from each."""

    similarity: AxisSimilarity
    weights: Floats
    names: list[str]
    clusters: Indices  # number of each component in the tree

    @abstractmethod
    def prototype(self, component: int, axis: int, random: np.random.Generator | None) -> float:
        """Return a value on an axis, drawn from a component; without a generator its medoid."""


class GaussianLaws(Laws):
    """Gaussian components; their similarities have a closed form."""

    similarity: AxisSimilarity
    weights: Floats
    names: list[str]
    clusters: Indices

    mixture: Mixture

    def __init__(self, mixture: Mixture, kernel: DistanceKernel) -> None:
        self.mixture, self.similarity, self.weights = mixture, axis_similarity(mixture, kernel=kernel), mixture.weights
        self.names, self.clusters = [str(name) for name in mixture.names], np.arange(mixture.n_components)

    def prototype(self, component: int, axis: int, random: np.random.Generator | None) -> float:
        """Return a value on an axis, drawn from a component; without a generator its mean."""
        mean = float(self.mixture.means[component, axis])
        if random is None:
            return mean
        return mean + float(np.sqrt(self.mixture.variances[component, axis]) * random.standard_normal())


class ClusterLaws(Laws):
    """Clusters of weighted rows; clusters without rows are left out."""

    rows: list[Array]
    kernel: DistanceKernel

    def __init__(self, task: Task, kernel: DistanceKernel) -> None:
        X, reference, weights = task.rows.values, task.reference, task.rows.weights
        self.X, self.kernel = X, kernel
        self.row_weights: Array = np.ones(len(X)) if weights is None else weights
        labels = np.where(task.kept, reference.labels, -1)
        self.clusters: Indices = np.unique(labels[labels >= 0])
        self.rows = [np.flatnonzero(labels == cluster) for cluster in self.clusters]
        self.names: list[str] = [str(reference.names[cluster]) for cluster in self.clusters]
        totals = np.array([(self.row_weights[rows] / self.row_weights.max()).sum() for rows in self.rows])
        self.weights: Floats = totals / totals.sum()
        self.similarity: AxisSimilarity = _similarity(X, self.rows, self.row_weights, kernel, task.n_jobs)

    def prototype(self, component: int, axis: int, random: np.random.Generator | None) -> float:
        """Return a value on an axis, drawn from a component; without a generator its medoid."""
        rows = self.rows[component]
        values, weights = _distinct_values(self.X[rows, axis], self.row_weights[rows])
        if random is None:
            return _most_typical(values, weights, self.kernel, axis)
        cumulated = np.cumsum(weights)
        index = np.searchsorted(cumulated, random.random() * cumulated[-1], side="right")
        return float(values[min(int(index), len(values) - 1)])


# ------------------------------------------------------------------------------------------------------- steps
def _similarity(
    X: Array, rows: Sequence[Indices], weights: Floats, kernel: DistanceKernel, n_jobs: int | None
) -> AxisSimilarity:
    """Return the mean similarity of each pair of clusters on each axis, over pairs of their rows, by weight.

    Pairs of a row with itself count: this is the similarity of the given rows, not an estimate for further rows.
    """

    def work(axis: int) -> Floats:
        summaries = [_summary(*_distinct_values(X[cluster, axis], weights[cluster])) for cluster in rows]
        values, shares = zip(*summaries, strict=True)
        return axis_moments(kernel, axis, values, shares)

    return AxisSimilarity(*np.moveaxis(np.array(map_tasks(work, range(X.shape[1]), n_jobs=n_jobs)), 1, 0))


def _distinct_values(values: Array, weights: Floats) -> tuple[Floats, Floats]:
    """Return the different values, ascending, and the weight of each, scaled near 1 by a power of two.

    So results do not depend on the order of rows, and a repeated row is the same as a row of more weight.
    """
    order = np.lexsort((weights, values))
    ordered = values[order].astype(np.float64)
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    scaled = np.ldexp(weights[order], -int(np.frexp(weights.max())[1]))
    return ordered[first], np.add.reduceat(scaled, first)


def _most_typical(values: Floats, weights: Floats, kernel: DistanceKernel, axis: int) -> float:
    """Return the value with the largest mean similarity to all values; ties go to the lowest value."""
    points, shares = _summary(values, weights)
    means = [kernel.axis_kernel(axis, points[start : start + _ROWS], points) for start in range(0, len(points), _ROWS)]
    return float(points[np.argmax(np.concatenate([(block * shares).sum(axis=1) for block in means]))])


def _summary(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return about `POINTS` values and their shares of the weight: the means of runs of neighbouring values.

    Runs have about equal weight. Along the axis, the mean similarity to any distribution rises and falls by at most 2
    in total. So moving values within runs of share s, one run after the other, changes it by at most 2 s. A run of
    several values has a share of at most 3 / `POINTS`.
    """
    shares = weights / weights.sum()
    if len(values) <= POINTS:
        return values, shares
    run = ((np.cumsum(shares) - shares / 2) * POINTS).astype(np.intp)
    first = np.flatnonzero(np.append(True, run[1:] != run[:-1]))
    base = np.repeat(values[first], np.diff(np.append(first, len(values))))  # keeps the digits of values far from zero
    run_shares = np.add.reduceat(shares, first)
    return values[first] + np.add.reduceat(shares * (values - base), first) / run_shares, run_shares


AXES = ("similarity", "error")
_TIE = 1e-9  # bounds on mistakes with a smaller relative difference are ties, as it may be rounding
_ROUNDING = 1e-12  # a gap between similarities of at most this width may be rounding


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

    def renumber(self, clusters: Indices) -> PrototypeCut:
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


class _CutChoice(NamedTuple):
    """The choices at a node before a prototype is drawn."""

    axis: int
    component: int
    partner: int
    level: float


def _least_alike(laws: Laws, components: Indices) -> _CutChoice:
    """Return the least similar pair of components, its axis, and the level in the middle of the widest gap."""
    first, second = np.triu_indices(len(components), 1)
    similarities = laws.similarity.mean[:, components[first], components[second]]
    for position in np.argsort(similarities, axis=None, kind="stable").tolist():
        axis, pair = divmod(position, len(first))
        a, b = int(components[first[pair]]), int(components[second[pair]])
        gaps = [(*_widest_gap(laws.similarity.mean[axis, c], c, components), c, other) for c, other in ((a, b), (b, a))]
        gap, level, component, partner = max(gaps, key=lambda entry: entry[0])  # ties go to the first
        if gap > _ROUNDING:
            return _CutChoice(axis, component, partner, level)
    raise _alike(laws, components)


def _smallest_error_bound(laws: Laws, components: Indices) -> _CutChoice:
    """Return the axis, component and level with the smallest bound on mistakes; levels are the middles of all gaps."""
    candidates: list[tuple[float, _CutChoice]] = []
    for axis, similarity in enumerate(laws.similarity.mean):
        for c in components.tolist():
            least_similar = int(components[similarity[c, components].argmin()])
            _, levels = _gaps(similarity[c], c, components)
            choices = [_CutChoice(axis, c, least_similar, level) for level in levels]
            candidates += [(_error_bound(laws, components, choice), choice) for choice in choices]
    if not candidates:
        raise _alike(laws, components)
    limit = min(bound for bound, _ in candidates) * (1 + _TIE)
    return next(choice for bound, choice in candidates if bound <= limit)


def _alike(laws: Laws, components: Indices) -> DataError:
    names = list_words([laws.names[c] for c in components])
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


def _error_bound(laws: Laws, components: Indices, choice: _CutChoice) -> float:
    """Return a bound on the expected fraction of rows on the wrong side of a cut, over random prototypes."""
    means = laws.similarity.mean[choice.axis, choice.component, components]
    variances = laws.similarity.variance[choice.axis, choice.component, components]
    # Cantelli's inequality, which is sharper than the Chebyshev inequality of the paper's proof
    totals = variances + (choice.level - means) ** 2
    fractions = np.divide(variances, totals, out=np.zeros(len(components)), where=variances > 0)
    return float((laws.weights[components] * fractions).sum())


def _cut(
    laws: Laws, kernel: DistanceKernel, components: Indices, choice: _CutChoice, random: np.random.Generator | None
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
