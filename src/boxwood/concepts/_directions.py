"""How the direction of one concept is learned: by one linear model."""

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

    For a binary concept it is above 0 where the concept is predicted. For a continuous concept it predicts the value
    minus `center`, the mean of its examples.
    """

    vector: Floats
    intercept: float
    center: float

    def scores(self, Z: Array) -> Floats:
        """Return the value of the function at each row, shape (n,)."""
        return np.asarray(Z @ self.vector + self.intercept)


class Recipe(NamedTuple):
    """How directions are learned: a linear model for each kind of concept, and the scale of each latent column.

    A model is a name or an estimator of scikit-learn. Columns are standardised in the same way for all concepts.
    """

    classifier: Any
    regressor: Any
    shift: Floats  # subtracted from each column, shape (d,)
    scale: Floats  # each column is then divided by it, shape (d,)

    @classmethod
    def of(cls, classifier: Any, regressor: Any, Z: Array, *, standardize: bool) -> Recipe:
        """Return the recipe with columns scaled by their deviations over all examples, or not scaled."""
        shift, scale = _shift_and_scale(Z) if standardize else (np.zeros(Z.shape[1]), np.ones(Z.shape[1]))
        return cls(classifier, regressor, shift, scale)

    def learn(self, Z: Array, values: Floats, kind: str) -> Direction:
        """Return the direction of one concept from its examples, rows of shape (n, d) and values of shape (n,)."""
        rows = np.subtract(Z, self.shift, dtype=np.float64)
        rows /= self.scale
        center = 0.0 if kind == BINARY else float(values.mean())
        model = self.classifier if kind == BINARY else self.regressor
        if isinstance(model, str) and model == "mean-difference":
            vector, intercept = _mean_difference(rows, values)
        else:
            vector, intercept = _fitted(model, rows, values - center)
        vector = vector / self.scale
        return Direction(vector, float(intercept - vector @ self.shift), center)


def _shift_and_scale(Z: Array) -> tuple[Floats, Floats]:
    """Return the mean of each column, and its standard deviation or a hundredth of the typical one if that is larger.

    A column may be nearly constant in the examples but vary in other data. Divided by its own small deviation, the
    column would get so large a weight that it outweighs all others in that data.
    """
    low, high = Z.min(axis=0), Z.max(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.where(low == high, low, Z.mean(axis=0, dtype=np.float64))  # a constant column becomes 0, not rounding
        deviations = Z.std(axis=0, dtype=np.float64)
    if not np.isfinite(deviations).all():
        raise DataError("the embeddings are too large for their variance; divide the columns by a power of ten")
    largest = deviations.max()
    if not largest > 0:
        return mean, np.ones_like(mean)
    typical = largest * np.sqrt(np.mean((deviations / largest) ** 2))  # root mean square, without overflow
    return mean, np.maximum(deviations, typical / 100)


def _mean_difference(rows: Floats, values: Floats) -> tuple[Floats, float]:
    """Return the difference of the means of positives and negatives, and the intercept that is 0 halfway."""
    negative, positive = rows[values == 0].mean(axis=0), rows[values == 1].mean(axis=0)
    vector = positive - negative
    return vector, -float(vector @ (positive + negative)) / 2


def _fitted(model: Any, rows: Floats, values: Floats) -> tuple[Floats, float]:
    """Return the coefficients and the intercept of a fitted linear model."""
    fitted = (_named(model) if isinstance(model, str) else clone(model)).fit(rows, values)
    if not hasattr(fitted, "coef_"):
        raise DataError(
            f"{type(fitted).__name__} has no coef_ after fit; give a linear model, such as LogisticRegression()"
        )
    coefficients = np.ravel(fitted.coef_)  # some models have shape (d,), others (1, d)
    if coefficients.shape != (rows.shape[1],):
        raise DataError(
            f"{type(fitted).__name__} has coef_ of shape {np.shape(fitted.coef_)}, expected ({rows.shape[1]},)"
        )
    return np.asarray(coefficients, dtype=np.float64), float(np.ravel(fitted.intercept_)[0])


def _named(model: str) -> Any:
    """Return the model that a name stands for."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.svm import LinearSVC

    if model == "logistic":
        return LogisticRegression(C=1.0, class_weight="balanced", max_iter=10_000)
    if model == "svm":  # the primal problem draws no random numbers
        return LinearSVC(C=1.0, class_weight="balanced", dual=False, max_iter=10_000)
    return Ridge(alpha=1.0)


def unit_vectors(vectors: Sequence[Floats], names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return vectors scaled to length 1, shape (m, d), and their lengths before, shape (m,)."""
    stacked = np.array(vectors, dtype=np.float64)
    largest = np.abs(stacked).max(axis=1)
    for name, size in zip(names, largest, strict=True):
        if not (np.isfinite(size) and size > 0):
            raise DataError(
                f"concept {name!r} has no direction: its vector must be finite and not 0, got length {size:g}; "
                "leave the concept out"
            )
    scaled = stacked / largest[:, None]  # else the squares of tiny or huge numbers would underflow or overflow
    lengths = np.linalg.norm(scaled, axis=1)
    with np.errstate(over="ignore"):  # a length may be infinite where no number of the vector is
        return scaled / lengths[:, None], largest * lengths
