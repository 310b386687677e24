"""Kernel MMDT: the tree that separates components by the distance, on one axis, to a prototype of one of them."""

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
from boxwood.reference._mixture import refuse_no_mixture
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
    refuse_no_mixture(mixture)
    resolved = as_distance_kernel(kernel)
    laws = GaussianLaws(mixture, resolved)
    return grow_from_laws(laws, resolved, None if prototype == "medoid" else as_generator(random_state), axis)[0]


def grow_kernel_mmdt(
    task: Task,
    *,
    kernel: Kernel | str = "gaussian",
    axis: str = "error",
    prototype: str = "sample",
    n_trees: int = 1,
) -> Grown:
    """Return what `kernel_mmdt` grows for a task; facts hold the cuts in pre-order, with the choices of each."""
    refuse_unknown("axis", axis, AXES)
    refuse_unknown("prototype", prototype, PROTOTYPES)
    if n_trees < 1:
        raise ValueError(f"n_trees must be at least 1, got {n_trees}")
    resolved = as_distance_kernel(kernel).fitted(task.rows)
    resolved.gram(task.rows.values[:1])  # refuses a kernel of another number of axes
    laws = ClusterLaws(task.blinkered, resolved)
    random = None if prototype == "medoid" else as_generator(task.random_state)
    drawn = [grow_from_laws(laws, resolved, random, axis) for _ in range(1 if random is None else n_trees)]
    tree, cuts = drawn[0] if len(drawn) == 1 else drawn[_cheapest([tree for tree, _ in drawn], task, resolved)]
    bound = math.fsum(cut.error_bound for cut in cuts)
    facts = {"kernel": resolved, "cuts": cuts, "error_bound": bound, "similarity": laws.similarity}
    return Grown(tree, "kernel_mmdt", kernel=resolved, facts=facts)


def _cheapest(trees: list[ThresholdTree], task: Task, kernel: DistanceKernel) -> int:
    """Return the index of the tree of lowest cost at the kernel means of the clusters; ties go to the first tree."""
    problem, rows = make_problem(task, "cost", kernel), np.flatnonzero(task.kept)
    predicted = [tree.predict(task.rows, n_jobs=task.n_jobs)[rows] for tree in trees]
    return int(np.argmin([cost.sum() for cost in whole_costs_of(problem, rows, predicted)]))
