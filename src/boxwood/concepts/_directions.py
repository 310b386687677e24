"""One concept, one linear model: the direction in which its score grows fastest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from boxwood._types import Array, Floats
from boxwood.concepts._concept_table import BINARY
from boxwood.errors import DataError

__all__ = ["CLASSIFIERS", "REGRESSORS", "Direction", "Recipe", "unit_vectors"]

CLASSIFIERS = ("logistic", "svm", "mean-difference")
REGRESSORS = ("ridge",)


class Direction(NamedTuple):
    """A linear function of embeddings, `x @ vector + intercept`, in raw latent coordinates.

    Above 0 it says that a binary concept is there; of a continuous concept it predicts the value less `center`.
    """

    vector: Floats
    intercept: float
    center: float

    def scores(self, Z: Array) -> Floats:
        """Return the function at each row, shape (n,)."""
        return np.asarray(Z @ self.vector + self.intercept)


class Recipe(NamedTuple):
    """How directions are learned: a name or a linear model of scikit-learn for each kind of concept."""

    classifier: Any
    regressor: Any
    middle: Floats  # of each latent column, and its scale, for all concepts the same
    scale: Floats

    @classmethod
    def of(cls, classifier: Any, regressor: Any, Z: Array, *, standardize: bool) -> Recipe:
        """Return the recipe with the scale of all examples, or with latents as they are."""
        middle, scale = _middle_and_scale(Z) if standardize else (np.zeros(Z.shape[1]), np.ones(Z.shape[1]))
        return cls(classifier, regressor, middle, scale)

    def learn(self, Z: Array, values: Floats, kind: str) -> Direction:
        """Return the direction of one concept from its examples, rows of shape (n, d) and values of shape (n,)."""
        rows = np.subtract(Z, self.middle, dtype=np.float64)
        rows /= self.scale
        center = 0.0 if kind == BINARY else float(values.mean())
        model = self.classifier if kind == BINARY else self.regressor
        if isinstance(model, str) and model == "mean-difference":
            vector, intercept = _mean_difference(rows, values)
        else:
            vector, intercept = _fitted(model, rows, values - center)
        vector = vector / self.scale
        return Direction(vector, float(intercept - vector @ self.middle), center)


def _middle_and_scale(Z: Array) -> tuple[Floats, Floats]:
    """Return the mean of each column and its standard deviation, but at least a hundredth of the typical one.

    A unit of a network may be all but silent in the examples and speak in other data: divided by its own deviation it
    would get a weight there that drowns all others.
    """
    low, high = Z.min(axis=0), Z.max(axis=0)
    middle = np.where(low == high, low, Z.mean(axis=0, dtype=np.float64))  # else rounding would look like a difference
    deviations = Z.std(axis=0, dtype=np.float64)
    largest = deviations.max()
    if not largest > 0:
        return middle, np.ones_like(middle)
    together = largest * np.sqrt(np.mean((deviations / largest) ** 2))
    return middle, np.maximum(deviations, together / 100)


def _mean_difference(rows: Floats, values: Floats) -> tuple[Floats, float]:
    """Return the vector from the mean without the concept to that with it; its boundary lies halfway."""
    without, having = rows[values == 0].mean(axis=0), rows[values == 1].mean(axis=0)
    vector = having - without
    return vector, -float(vector @ (having + without)) / 2


def _fitted(model: Any, rows: Floats, values: Floats) -> tuple[Floats, float]:
    fitted = (_named(model) if isinstance(model, str) else clone(model)).fit(rows, values)
    if not hasattr(fitted, "coef_"):
        raise DataError(f"{type(fitted).__name__} has no coef_ after fit; give a linear model of scikit-learn")
    coefficients = np.ravel(fitted.coef_)  # of shape (d,) or (1, d), as the model likes
    if coefficients.shape != (rows.shape[1],):
        raise DataError(f"{type(fitted).__name__} has coef_ of shape {np.shape(fitted.coef_)}, not one for each column")
    return np.asarray(coefficients, dtype=np.float64), float(np.ravel(fitted.intercept_)[0])


def _named(model: str) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.svm import LinearSVC

    if model == "logistic":
        return LogisticRegression(C=1.0, class_weight="balanced", max_iter=10_000)
    if model == "svm":  # the primal problem needs no random numbers
        return LinearSVC(C=1.0, class_weight="balanced", dual=False, max_iter=10_000)
    return Ridge(alpha=1.0)


def unit_vectors(vectors: Sequence[Floats], names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return vectors scaled to length 1, shape (m, d), and the lengths they had, shape (m,)."""
    stacked = np.array(vectors, dtype=np.float64)
    largest = np.abs(stacked).max(axis=1)
    for name, size in zip(names, largest, strict=True):
        if not (np.isfinite(size) and size > 0):
            raise DataError(f"concept {name!r} has no direction: its vector has length {size:g}; leave it out")
    scaled = stacked / largest[:, None]  # first by the largest, as squares of tiny and of huge numbers leave the range
    lengths = np.linalg.norm(scaled, axis=1)
    return scaled / lengths[:, None], largest * lengths
