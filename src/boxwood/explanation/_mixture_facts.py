"""Facts on a tree from the Gaussians that it separates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boxwood.explanation._summaries import FarFromGaussian, MixtureFacts
from boxwood.metrics import explainability_to_noise
from boxwood.metrics._mixture_boxes import has_independent_axes, reaches
from boxwood.metrics._mixture_tails import far_tails
from boxwood.reference import Mixture, Task
from boxwood.tree import ThresholdTree

__all__ = ["mixture_facts"]


def mixture_facts(tree: ThresholdTree, mixture: Mixture, columns: Sequence[str], task: Task) -> MixtureFacts:
    """Return facts on a tree from a mixture; IN: task: rows in the same columns, or a sample of them."""
    reference, rows = task.reference, task.rows
    noise = explainability_to_noise(mixture)
    first, second = (reference.names[mixture.clusters[component]] for component in noise.pair)
    tails = far_tails(rows.values, reference.labels, tree, sample_weight=rows.weights, n_jobs=task.n_jobs)
    return MixtureFacts(
        explainability_to_noise=float(noise.value),
        components=(first, second),
        column=columns[noise.axis],
        certified_error=_certified_error(tree, mixture),
        far_from_gaussian=tuple(
            FarFromGaussian(reference.names[tail.component], columns[tail.axis], tail.verdict) for tail in tails
        ),
    )


def _certified_error(tree: ThresholdTree, mixture: Mixture) -> float:
    """Return a bound on the share of rows of these Gaussians that end in a leaf of another cluster.

    If columns are not independent, the probability that a row misses its box is at most a sum over columns: of the
    probabilities that it misses the box's intervals on that column.
    """
    leaves = reaches(mixture, tree)
    owns = [mixture.clusters == cluster for cluster in tree.leaf_clusters]
    if has_independent_axes(mixture):
        wrong = sum(np.where(own, 0.0, leaf.probability) for own, leaf in zip(owns, leaves, strict=True))
        return min(float(mixture.weights @ wrong), 1.0)
    caught = (np.maximum(1 - (1 - leaf.factors).sum(axis=1), 0.0) for leaf in leaves)
    missed = 1 - sum(np.where(own, share, 0.0) for own, share in zip(owns, caught, strict=True))
    return float(np.clip(mixture.weights @ missed, np.finfo(np.float64).eps, 1.0))  # a smaller value is rounding
