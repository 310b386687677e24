"""Clusterings of Spark's own library are explained as they are."""

import numpy as np
import pyarrow as pa
import pytest

import boxwood as bw
from boxwood.errors import DataError
from boxwood.reference import Task
from boxwood.table.spark import is_spark_model, reference_of_spark_model

pytestmark = pytest.mark.machines


@pytest.fixture(scope="module")
def frame(spark):
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(mean, 1.5, size=(60, 2)) for mean in (0, 3, 7)])
    return (
        spark.createDataFrame(pa.table({"two words": X[:, 0], "x": X[:, 1], "text": ["u"] * len(X)}))
        .repartition(3)
        .cache()
    )


@pytest.fixture(scope="module")
def assembled(frame):
    from pyspark.ml.feature import VectorAssembler

    return VectorAssembler(inputCols=["x", "two words"], outputCol="features").transform(frame)


def clusterers():
    from pyspark.ml.clustering import BisectingKMeans, GaussianMixture, KMeans

    options = {"k": 4, "seed": 1, "maxIter": 5}
    return [
        KMeans(**options),
        KMeans(**options, distanceMeasure="cosine", predictionCol="x"),
        BisectingKMeans(**options),
        GaussianMixture(**options),
    ]


def sizes_and_ranges(source, reference):
    """Return the size of each cluster and its ranges of columns."""
    overview = Task.of(source, reference).overview
    return overview.sizes.tolist(), overview.least.tolist(), overview.most.tolist()


@pytest.mark.parametrize("which", range(4))
def test_rows_have_the_clusters_that_the_model_predicts(assembled, which):
    clusterer = clusterers()[which]
    frame = assembled.drop("x") if clusterer.getPredictionCol() == "x" else assembled
    model = clusterer.fit(frame)
    source, reference = reference_of_spark_model(model, frame)
    assert is_spark_model(model)
    rows = model.transform(frame).collect()
    X = np.array([row["features"].toArray() for row in rows])
    labels = np.array([row[clusterer.getPredictionCol()] for row in rows])
    assert reference.centers.shape == (4, 2)
    assert source.names[:2] == ("x", "two words")
    sizes, least, most = sizes_and_ranges(source, reference)
    assert sizes == np.bincount(labels, minlength=4).tolist()
    assert least == [X[labels == c].min(axis=0).tolist() for c in range(4)]
    assert most == [X[labels == c].max(axis=0).tolist() for c in range(4)]


def test_a_pipeline_is_run_up_to_its_clustering(frame):
    from pyspark.ml import Pipeline
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import StandardScaler, VectorAssembler

    stages = [
        VectorAssembler(inputCols=["x", "two words"], outputCol="raw"),
        StandardScaler(inputCol="raw", outputCol="scaled"),
        KMeans(k=3, seed=1, featuresCol="scaled"),
    ]
    model = Pipeline(stages=stages).fit(frame)
    source, reference = reference_of_spark_model(model, frame)
    assert source.names == ("scaled_0", "scaled_1")  # the scaler drops the names
    counts = dict(model.transform(frame).groupBy("prediction").count().collect())
    assert sizes_and_ranges(source, reference)[0] == [counts[c] for c in range(3)]
    ex = bw.explain(frame, model, method="imm")
    assert [cluster.size for cluster in ex.clusters] == [counts[c] for c in range(3)]
    assert ex.columns == source.names


def test_what_cannot_be_read(frame, assembled):
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import StandardScaler

    model = KMeans(k=2, seed=1).fit(assembled)
    with pytest.raises(DataError, match="no column 'features' of vectors, which KMeansModel reads: add it with Vector"):
        reference_of_spark_model(model, frame)
    with pytest.raises(DataError, match="StandardScalerModel is not a clustering whose rows can be read"):
        reference_of_spark_model(StandardScaler(inputCol="features", outputCol="s").fit(assembled), assembled)
