"""`reference_of_spark_model`: a fitted clustering of Spark's own library, with the rows that it was fitted on."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from boxwood._types import Floats
from boxwood._validation import listed
from boxwood.errors import DataError
from boxwood.passes import LabelColumn, NearestCenters
from boxwood.reference import Reference
from boxwood.table._spark import SparkSource, quoted

__all__ = ["is_spark_model", "reference_of_spark_model"]


def is_spark_model(model: Any) -> bool:
    """Return whether `model` is a model of Spark's library."""
    return type(model).__module__.startswith("pyspark.ml.")


def reference_of_spark_model(model: Any, frame: Any) -> tuple[SparkSource, Reference]:
    """Return the rows as a clustering of Spark saw them, and the clusters that it gives them.

    The columns are the entries of the model's vectors (`featuresCol`), by the names that VectorAssembler gave them, or
    `features_0`, `features_1`, … where a later stage, such as a scaler, has dropped the names. Rules are then in scaled
    units.

    Parameters
    ----------
    model : KMeansModel, BisectingKMeansModel or GaussianMixtureModel, or a PipelineModel that ends in one
        Rows of k-means belong to the nearest centre. Bisecting k-means goes down a tree of its own, and k-means by
        cosine has another distance, so that these and mixtures label the rows themselves, by `model.transform`.
    frame : pyspark.sql.DataFrame
        The table that `model.transform` takes.

    Returns
    -------
    SparkSource, Reference
        Centres are those of the model; of a mixture, its means. Clusters are named by their numbers.

    Raises
    ------
    DataError
        If it is another model, or the frame lacks the vectors.
    """
    *before, last = model.stages if type(model).__name__ == "PipelineModel" else (model,)
    centers = _centers(last)
    if not hasattr(frame, "mapInArrow"):
        raise DataError(f"{type(model).__name__} clusters data frames of Spark; got {type(frame).__name__}")
    for stage in before:
        frame = stage.transform(frame)
    vectors = last.getFeaturesCol()
    if vectors not in frame.columns:
        raise DataError(
            f"the frame has no column {vectors!r} of vectors, which {type(last).__name__} reads: add it with "
            "VectorAssembler, or give a PipelineModel that does"
        )
    names = _names(frame, vectors, centers.shape[1])
    if type(last).__name__ == "KMeansModel" and last.getDistanceMeasure() == "euclidean":
        return SparkSource(_entries(frame, vectors, names)), Reference(NearestCenters(centers), centers)
    label = _unlike(last.getPredictionCol(), names)
    rows = _entries(last.transform(frame), vectors, names, {last.getPredictionCol(): label})
    return SparkSource(rows), Reference(LabelColumn(label, tuple(range(len(centers)))), centers)


def _centers(model: Any) -> Floats:
    """Return the centres of a clustering, shape (k, d)."""
    name = type(model).__name__
    if is_spark_model(model) and name in ("KMeansModel", "BisectingKMeansModel"):
        return np.array(model.clusterCenters(), dtype=np.float64)
    if is_spark_model(model) and name == "GaussianMixtureModel":
        return np.array([row["mean"].toArray() for row in model.gaussiansDF.collect()], dtype=np.float64)
    raise DataError(
        f"{name} is no clustering that rows can be read of; give a KMeansModel, BisectingKMeansModel or "
        "GaussianMixtureModel, a PipelineModel that ends in one, or the column of its labels"
    )


def _names(frame: Any, vectors: str, n_columns: int) -> list[str]:
    """Return the names of the entries of vectors, as VectorAssembler notes them."""
    noted = next(field for field in frame.schema if field.name == vectors).metadata.get("ml_attr", {})
    attributes = [each for group in noted.get("attrs", {}).values() for each in group]
    known = {each["idx"]: each["name"] for each in attributes if "name" in each}
    names = [known.get(j, f"{vectors}_{j}") for j in range(n_columns)]
    if len(set(names)) < n_columns:
        raise DataError(f"entries of {vectors!r} have equal names: {listed(names)}; give the columns different names")
    return names


def _unlike(name: str, names: list[str]) -> str:
    while name in names:
        name += "_"
    return name


def _entries(frame: Any, vectors: str, names: list[str], others: Mapping[str, str] = MappingProxyType({})) -> Any:
    """Return a frame of the entries of vectors, and of other columns under new names."""
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql.functions import col

    vector = vector_to_array(col(quoted(vectors))).alias("v")  # apart, so that it is made once for each row
    kept = [col(quoted(name)).alias(f"c{i}") for i, name in enumerate(others)]
    plain = frame.select(vector, *kept)
    entries = [col("v")[j].alias(f"e{j}") for j in range(len(names))]
    return plain.select(*entries, *(f"c{i}" for i in range(len(others)))).toDF(*names, *others.values())
