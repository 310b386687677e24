"""How many centres the cuts of a tree damage, level by level: what the lower bound for ℓ2 k-medians adds up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boxwood._types import Indices
from boxwood._validation import refuse_other_kind
from boxwood.theory.instances._instance import Instance
from boxwood.tree import ThresholdTree, rows_at_nodes
from boxwood.tree._tree import refuse_no_tree

__all__ = ["Damages", "damages"]


class Damages(NamedTuple):
    """Centres that each cut of a tree damages, with the cuts in pre-order. All arrays have one number for each cut.

    A centre is damaged by the first cut that parts some of its rows from the others.

    Attributes
    ----------
    level : array
        Number of cuts above; 0 for the root.
    undamaged : array
        Number of centres that no cut above has damaged, and that reach the cut.
    damaged : array
        Number of these that the cut damages.
    """

    level: Indices
    undamaged: Indices
    damaged: Indices

    @property
    def by_level(self) -> Indices:
        """Number of centres that the cuts of each level damage, from the root down."""
        return np.bincount(self.level, self.damaged).astype(np.intp)


def damages(instance: Instance, tree: ThresholdTree) -> Damages:
    """Return how many centres each cut of a tree damages in an instance of points, such as `unit_grid`.

    In `unit_grid`, Lemma 8.6 says that with high probability a cut at a level below log2(k) / 4 damages at least
    eps / 2 of its undamaged centres, if these are more than sqrt(k). So trees that separate all centres damage many.

    Raises
    ------
    ValueError
        If the instance has a mixture and no points.

    References
    ----------
    K. Makarychev, L. Shan, "Near-optimal algorithms for explainable k-medians and k-means", ICML 2021, Lemma 8.6.

    Examples
    --------
    >>> from boxwood.grow import random_cuts
    >>> from boxwood.theory.instances import unit_grid
    >>> instance = unit_grid(100, d=20, steps=5, random_state=0)
    >>> damages(instance, random_cuts(instance.centers, random_state=0)).by_level[:3]
    array([36, 25, 10])
    """
    refuse_other_kind("instance", instance, Instance, "make one by a function of boxwood.theory.instances")
    refuse_no_tree(tree)
    labels = instance.labels
    assert instance.points is not None  # an instance with labels has points
    n_rows = np.bincount(labels)
    level = np.zeros(len(tree.feature), dtype=np.intp)
    found = []
    for node, rows, inside in rows_at_nodes(tree, instance.points):
        if inside is None:
            continue
        level[[node + 1, int(tree.second[node])]] = level[node] + 1
        whole = np.bincount(labels[rows], minlength=len(n_rows)) == n_rows
        first = np.bincount(labels[rows[inside]], minlength=len(n_rows))
        found.append((level[node], whole.sum(), (whole & (first > 0) & (first < n_rows)).sum()))
    return Damages(*np.array(found, dtype=np.intp).reshape(-1, 3).T)
