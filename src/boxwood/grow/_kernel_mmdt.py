"""Kernel MMDT: the tree that tells components apart by their distance, on one axis, to a prototype of one of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._validation import as_generator, refuse_unknown
from boxwood.grow._costs import make_problem, whole_costs_of
from boxwood.grow._grown import Grown
from boxwood.grow._kernel_mmdt_components import ClusterLaws, GaussianLaws
from boxwood.grow._kernel_mmdt_cuts import AXES, grow_from_laws
from boxwood.kernels import DistanceKernel, Kernel
from boxwood.kernels._by_name import as_distance_kernel
from boxwood.reference import Mixture, Reference, Task
from boxwood.tree import ThresholdTree

__all__ = ["grow_kernel_mmdt", "kernel_mmdt", "kernel_mmdt_of_mixture"]

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

    At each node the axis and the two clusters are chosen whose rows are least alike on it. A prototype is drawn from
    one of the two; rows that are near it on that axis are inside the cut `p - r <= x <= p + r`, and so are the clusters
    that are alike to its cluster. Use it for clusters that a kernel tells apart and means do not.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, float32 or float64 in any memory layout, finite.
    reference : Reference
        Labels of the rows, which are taken as samples of the mixture's components; -1 leaves a row out. Centres do not
        matter, and a cluster without rows has no leaf.
    kernel : DistanceKernel or str
        Kernel that multiplies over axes: `Gaussian`, `Laplace` or `ProductKernel`, or a name of one. A bandwidth still
        to be found is found from all rows.
    axis : {"similarity", "error"}, default="similarity"
        Which axis and clusters are chosen at a node: those that are least alike, as in the paper; or those whose cut
        has the least bound on its mistakes, which takes longer and is not drawn to columns of wide noise.
    prototype : {"sample", "medoid"}, default="sample"
        A row of the cluster, drawn at random for each node, as the guarantee asks; or the value that is most alike to
        the cluster's rows on the axis, which is no matter of chance and has no guarantee.
    n_trees : int, default=1
        Number of trees grown, each with prototypes of its own, of which the one of lowest cost is returned: squared
        distances to the kernel means of the reference's clusters. The first among equals; of no effect for medoids.
    random_state : int, Generator, RandomState or None, default=None
        Randomness of prototypes; an int gives the same tree each time.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row, not negative; whole weights give the tree of repeated rows.
    n_jobs : int, default=-1
        Number of threads; the tree does not depend on it.

    Returns
    -------
    ThresholdTree
        Always holds: one leaf for each cluster with rows; inside each cut are the cluster of its prototype and those
        more alike to it than to the level, and every cut is two-sided.

    Raises
    ------
    DataError
        If rows, labels and weights do not fit together, every row is left out, or clusters are alike on every axis.
    ValueError
        If the kernel does not multiply over axes, or a parameter is none of those above.

    Notes
    -----
    With xi(i, a, b) the mean similarity on axis i of independent rows of a and b, the steps at a node are:

    1. the axis i and the pair (a, b), a != b, with the smallest xi; ties go to the lowest axis, then pair;
    2. for c = a and c = b, the largest gap between neighbouring values of xi(i, c, m), m over the node's clusters, not
       above xi(i, c, c); of the two the one with the larger gap, then the lower number; the level is the gap's middle;
    3. a prototype p of c; inside are rows with a similarity on axis i of at least the level, and clusters m with
       xi(i, c, m) above it. Where no gap is wider than rounding (1e-12), the pair with the next smallest xi is tried.

    The paper leaves open which of the pair gives the prototype, and looks at gaps above xi(i, c, c) too; then the
    prototype's own cluster may be outside of the cut around it. The guarantee holds with and without: it rests on the
    values from xi(i, a, b) to xi(i, c, c). The radius is the distance at which the similarity has fallen to the level.

    In the mean over prototypes, the kernel price of the tree is bounded by `theory.bounds.kernel_price_bound`, which
    says nothing unless the axes' similarity tau is below the similarity within each cluster.

    An axis on which clusters spread widely makes all of xi small, and step 1 takes it for that, however little it
    tells. With `axis="error"` steps 1 and 2 look at every axis i, component c and gap between neighbouring values of
    xi(i, c, m) up to xi(i, c, c), and take the level with the least bound on the share of rows that go to the wrong
    side (Cantelli's inequality: the sum over m of p_m v / (v + (level - xi)²), v the variance of the similarity);
    among those within a share of 1e-9 the lowest axis, component and level. The cut of steps 1 and 2 is one of those,
    so at every node the bound is at most that one's, and the guarantee holds.

    The xi of samples are means over all pairs of rows, a row and itself included, so that the guarantee is one for the
    given rows. For a cluster with more than 512 different values on an axis, the means of 512 runs of neighbours, of
    equal weight, stand for them; values of twice that weight stand for themselves. Up to 512 values the xi are exact;
    else their error is below 12/512 at worst, and was 2e-4 at most for laws of one hump and 2e-3 where a run crosses a
    hole.

    Takes time n d log n, and about d k² 512² at most; n² (d + k) besides if there are several draws.

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
        Means and variances of Gaussian components. Clusters of the tree are the numbers of its components.
    kernel : Gaussian or Laplace
        Kernel, with its bandwidth as a number.
    axis : {"similarity", "error"}, default="similarity"
        As for `kernel_mmdt`.
    prototype : {"sample", "medoid"}, default="sample"
        A value drawn from the component, or its mean.
    random_state : int, Generator, RandomState or None, default=None
        Randomness of prototypes; an int gives the same tree each time.

    Returns
    -------
    ThresholdTree
        As of `kernel_mmdt`.

    Raises
    ------
    DataError
        If components are alike on every axis, or there is no formula for the kernel.
    ValueError
        If the kernel's bandwidth is still to be found, or a parameter is none of those above.

    Notes
    -----
    Steps, guarantee and source are those of `kernel_mmdt`. Takes time d k² for each node, and no rows.

    Examples
    --------
    >>> from boxwood import Mixture
    >>> from boxwood.kernels import Gaussian
    >>> mixture = Mixture([0.5, 0.5], [[0.0], [1.3]], [[0.64], [0.25]])
    >>> kernel_mmdt_of_mixture(mixture, kernel=Gaussian(0.7), prototype="medoid").to_dict()["interval"]
    [0.418..., 2.181...]
    """
    refuse_unknown("axis", axis, AXES)
    refuse_unknown("prototype", prototype, PROTOTYPES)
    resolved = as_distance_kernel(kernel)
    laws = GaussianLaws(mixture, resolved)
    return grow_from_laws(laws, resolved, None if prototype == "medoid" else as_generator(random_state), axis)[0]


def grow_kernel_mmdt(
    task: Task,
    *,
    kernel: Kernel | str = "gaussian",
    axis: str = "similarity",
    prototype: str = "sample",
    n_trees: int = 1,
) -> Grown:
    """Return what `kernel_mmdt` grows for a task, with its cuts in pre-order and what each was made of."""
    refuse_unknown("axis", axis, AXES)
    refuse_unknown("prototype", prototype, PROTOTYPES)
    if n_trees < 1:
        raise ValueError(f"n_trees must be at least 1, got {n_trees}")
    resolved = as_distance_kernel(kernel).fitted(task.rows)
    resolved.gram(task.rows.values[:1])  # refuses a kernel of another number of axes
    laws = ClusterLaws(task, resolved)
    random = None if prototype == "medoid" else as_generator(task.random_state)
    drawn = [grow_from_laws(laws, resolved, random, axis) for _ in range(1 if random is None else n_trees)]
    tree, cuts = drawn[0] if len(drawn) == 1 else drawn[_cheapest([tree for tree, _ in drawn], task, resolved)]
    bound = math.fsum(cut.error_bound for cut in cuts)
    facts = {"kernel": resolved, "cuts": cuts, "error_bound": bound}
    return Grown(tree, "kernel_mmdt", kernel=resolved, facts=facts)


def _cheapest(trees: list[ThresholdTree], task: Task, kernel: DistanceKernel) -> int:
    """Return the index of the first tree of lowest cost at the kernel means of the clusters."""
    problem, rows = make_problem(task, "cost", kernel), np.flatnonzero(task.kept)
    predicted = [tree.predict(task.rows, n_jobs=task.n_jobs)[rows] for tree in trees]
    return int(np.argmin([cost.sum() for cost in whole_costs_of(problem, rows, predicted)]))
