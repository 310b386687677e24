"""Random cuts: a tree drawn from the centres alone. Its expected cost is close to the cost of the clustering."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boxwood._types import Floats
from boxwood._validation import as_generator, refuse_unknown
from boxwood.errors import DataError
from boxwood.grow._grown import Grown
from boxwood.grow._random_cuts_score import scored
from boxwood.grow._random_cutter import OBJECTIVES, RandomCutter
from boxwood.metrics._price import ratio
from boxwood.passes import TableTask
from boxwood.passes._medians import medians_in
from boxwood.reference import Reference, Task
from boxwood.reference._centers import find_centers, objective_code, without_weightless
from boxwood.reference._equal_centers import alike_without, refuse_alike
from boxwood.tree import ThresholdTree

__all__ = ["grow_random_cuts", "grow_random_cuts_by_passes", "random_cuts", "with_best_centers"]


def random_cuts(
    centers: ArrayLike,
    *,
    objective: str = "l1",
    variant: str = "fast",
    median: str = "midpoint",
    random_state: Any = None,
) -> ThresholdTree:
    """Return a random tree with one centre in each leaf, drawn without reading any rows.

    How a cut is drawn depends on `objective`:

    - "l1": uniformly from all cuts that separate two centres. Axis and threshold are drawn together, so a wide axis is
      cut more often.
    - "sqeuclidean": in the same way, but in the terminal embedding of the centres, where squared distances to the
      centres become ℓ1 distances. So the density of a threshold is proportional to its distance to the nearest
      coordinate of a centre.
    - "l2": so that the square of the threshold's distance to the coordinate median of the centres is uniform.

    Parameters
    ----------
    centers : array-like of shape (k, d)
        Centres, all different.
    objective : {"l1", "sqeuclidean", "l2"}, default="l1"
        Cost that the tree keeps low: ℓ1 distances to medians (k-medians), squared Euclidean distances (k-means), or
        Euclidean distances (k-medians under ℓ2).
    variant : {"fast", "exact"}, default="fast"
        "fast": each node draws its own cut. "exact": cuts are drawn in rounds for all nodes together, and no cut
        separates two centres that are closer than D / k³, where D is the largest distance of two centres in one node.
        It has no effect under "l2".
    median : {"midpoint", "lower"}, default="midpoint"
        Median of an even number of centres under "l2": the midpoint of the two middle values, which treats both
        directions of an axis alike, or the lower of the two. It has no effect under the other objectives.
    random_state : int, Generator, RandomState or None, default=None
        Randomness of the cuts; an int gives the same tree each time.

    Returns
    -------
    ThresholdTree
        Always holds: each centre has its own leaf and lies in it; the clusters are the numbers of the centres.

    Raises
    ------
    DataError
        If centres are equal, which no cut separates, or not finite.
    ValueError
        If a parameter has a value that is not listed.

    Notes
    -----
    Let H(m) = 1 + 1/2 + ... + 1/m. The guarantees compare a row's distance to the centre of its leaf with its distance
    to the nearest centre:

    - "l1" and "fast": the expected ℓ1 distance is at most 1 + H(k - 1) times the smallest [2]; for "exact" the factor
      is O(log k log log k) [1].
    - "sqeuclidean": the expected squared distance is at most 8 k (1 + H(k - 1)) times the smallest.
    - "l2": the expected cost is O(log^1.5 k) times the smallest [1].

    On some data no tree has a smaller factor than Ω(log k) for "l1", Ω(k / log k) for "sqeuclidean" and Ω(log k) for
    "l2" [1].

    Under "l1" and "l2" the distribution of trees does not change if the centres are shifted, or all axes are scaled by
    one factor; scaling a single axis changes it. No draw is rejected and repeated. If the measure of a node's cuts is
    too small for a double, its widest axis is cut in the middle.

    "fast" and "l2" take time d k log² k at worst. "exact" takes time d k², and d k² more for each round in which some
    centres are closer than D / k³. Memory: 32 bytes for each value of the centres.

    References
    ----------
    [1] K. Makarychev, L. Shan, "Near-optimal Algorithms for Explainable k-Medians and k-Means", ICML 2021: Algorithm 2
    (`variant="exact"`), section 9 (`variant="fast"`), section 6 ("sqeuclidean"), Algorithm 4 ("l2"). For "l2" the
    radius is taken around the median and thresholds are square roots, as in the paper's text; its figure differs.
    [2] A. Gupta, M. Pittu, O. Svensson, R. Yuan, "The Price of Explainability for Clustering", FOCS 2023.

    Examples
    --------
    >>> tree = random_cuts([[0.0, 0.0], [1.0, 9.0], [5.0, 9.0]], random_state=0)
    >>> tree.n_leaves, tree.predict([[0.0, 0.0], [1.0, 9.0], [5.0, 9.0]])
    (3, array([0, 1, 2]))
    """
    cutter = RandomCutter.of(centers, objective=objective, variant=variant, median=median)
    return cutter.draw(as_generator(random_state))


def grow_random_cuts(
    task: Task,
    *,
    objective: str = "l1",
    variant: str = "fast",
    median: str = "midpoint",
    n_trees: int = 100,
) -> Grown:
    """Return the cheapest of `n_trees` random trees, all drawn from the best centres of the clusters.

    The cost of a tree is the sum of the rows' distances to these centres. Ties go to the first tree.
    """
    centers = with_best_centers(task, objective).with_distinct_centers().centers
    return _cheapest(task, centers, objective, variant, median, n_trees)


def grow_random_cuts_by_passes(
    task: TableTask,
    *,
    objective: str = "l1",
    variant: str = "fast",
    median: str = "midpoint",
    n_trees: int = 100,
) -> Grown:
    """Return what `grow_random_cuts` returns for the same rows in memory.

    Means of the clusters take a pass if they are not known, medians two or three, and one pass scores all trees.

    Raises
    ------
    DataError
        If the objective is "l2", as geometric medians need all rows in memory.
    """
    refuse_unknown("objective", objective, tuple(OBJECTIVES))
    if objective == "l2":
        raise DataError(
            "method 'random_cuts' with objective='l2' needs geometric medians, and so all rows in memory; for rows in "
            "batches use objective='l1' or 'sqeuclidean'"
        )
    best = medians_in(task.batches, task.overview) if objective == "l1" else task.means.mean + task.means.rest
    reference = replace(task.reference, centers=np.where(np.isnan(best), task.reference.centers, best))
    reference.distinct_clusters()
    return _cheapest(task, reference.centers, objective, variant, median, n_trees)


def _cheapest(
    task: Task | TableTask, centers: Floats, objective: str, variant: str, median: str, n_trees: int
) -> Grown:
    """Return the cheapest of some random trees, all drawn from these centres in the columns that cuts may test."""
    if n_trees < 1:
        raise ValueError(f"n_trees must be at least 1, got {n_trees}")
    seen, hidden = centers.copy(), list(task.budget.forbidden)
    if hidden:
        refuse_alike(alike_without(task.reference.names, centers, hidden), "random_cuts")
        seen[:, hidden] = 0.0
    cutter = RandomCutter.of(seen, objective=objective, variant=variant, median=median)
    random = as_generator(task.random_state)
    trees = [cutter.draw(random) for _ in range(n_trees)]
    least, changes = scored(task, centers, trees, objective=objective)
    if not np.isfinite(least):
        raise DataError("the cost is beyond the largest float; divide the columns of X by a power of ten")
    prices = np.array([ratio(max(least + more, 0.0), least) for more in changes.tolist()])
    facts = {"prices": prices, "variant": variant, "on_all_columns": not hidden}
    return Grown(trees[int(np.argmin(changes))], "random_cuts", objective=objective, facts=facts)


def with_best_centers(task: Task, objective: str) -> Reference:
    """Return the clustering with the best centres for a distance; centres that already minimise it are kept."""
    reference, weights = task.reference, task.rows.weights
    if reference.best_for == objective:
        return reference
    code, labels = objective_code(objective), without_weightless(reference.labels, weights)
    best = find_centers(task.rows.values, labels, reference.n_clusters, code, weights, n_jobs=task.n_jobs)
    centers = best.base + best.offset
    return reference.with_centers(np.where(np.isnan(centers), reference.centers, centers), best_for=objective)
