"""What an estimator keeps of `fit` until its labels, its price and its explanation are first read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from boxwood._threads import BLOCK_ROWS
from boxwood._types import Indices, Weights
from boxwood._validation import Rows
from boxwood.errors import DataError
from boxwood.explanation import Explanation
from boxwood.explanation._budgets import told
from boxwood.explanation._explanation import with_booleans
from boxwood.explanation._measure import costs_of, measure
from boxwood.explanation._names import renamed
from boxwood.grow._grown import Grown
from boxwood.reference import Task
from boxwood.reference._coordinates import Coordinates
from boxwood.tree import ThresholdTree

__all__ = ["Explained", "FitOnRows", "NoExplanation", "digest_of"]


class NoExplanation(DataError, AttributeError):
    """There is no explanation: an AttributeError, too, so that `hasattr` says so."""


class Explained(NamedTuple):
    """An explanation, and what stays of the rows that it was measured on.

    Parameters
    ----------
    explanation : Explanation
        The explanation.
    prices : tuple of two floats
        The price of the tree, and the highest price that any tree could have.
    digest : bytes
        Recognises the rows; empty if they are never recognised.
    weights : array of shape (n,), or None
        Weights of the rows.
    """

    explanation: Explanation
    prices: tuple[float, float]
    digest: bytes = b""
    weights: Weights = None


class FitOnRows(NamedTuple):
    """The data that an explanation is measured on; kept until the explanation is first read."""

    task: Task
    coordinates: Coordinates
    grow: Callable[[Any], Grown]  # grows a tree for another task, as the estimator does
    clusterer: Any = None  # the fitted clusterer
    given: Any = None  # the table that a pipeline was fitted on; None for other clusterers

    def clusters(self, tree: ThresholdTree) -> Indices:
        """Return the cluster that the tree gives to each row."""
        return tree.predict(self.coordinates.table, n_jobs=self.task.n_jobs)

    def prices(self, grown: Grown, clusters: Indices) -> tuple[float, float]:
        """Return the price of the tree, and the highest price that any tree could have."""
        predicted = np.where(self.task.reference.kept, clusters, -1)
        costs = costs_of(self.task, grown, predicted, self.coordinates.measured)
        return costs.price, costs.ceiling

    def explained(self, grown: Grown, booleans: Sequence[str]) -> Explained:
        """Return the explanation, which refers to the rows."""
        task, coordinates = self.task, self.coordinates
        explanation = measure(task.with_reference(renamed(task.reference)), grown, coordinates)
        evidence = replace(explanation._rows(), grow=self.grow, clusterer=self.clusterer, given=self.given)
        explanation = told(replace(explanation, _evidence=evidence), task, task.budget)
        ceiling = math.inf if explanation.kernel is None else explanation.kernel.price_ceiling
        digest = digest_of(coordinates.table if coordinates.measured is None else coordinates.measured)
        prices = explanation.price, ceiling
        return Explained(with_booleans(explanation, booleans), prices, digest, task.rows.weights)


def digest_of(rows: Rows) -> bytes:
    """Return a digest of the values of rows, which does not depend on their type and layout."""
    digest = blake2b(str(rows.values.shape).encode(), digest_size=16)
    for start in range(0, len(rows), BLOCK_ROWS):
        block = rows.values[start : start + BLOCK_ROWS].astype(np.float64) + 0.0  # -0.0 equals 0.0
        digest.update(np.ascontiguousarray(block).data)
    return digest.digest()
