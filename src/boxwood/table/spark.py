"""A data frame of Spark as a source, whose workers add up what a pass asks for; fitted clusterings of its library."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from boxwood._dates import Dates
from boxwood._frames import column_names
from boxwood._imports import EXTRAS, require
from boxwood._types import Floats
from boxwood._validation import list_words
from boxwood.batches import LabelColumn, NearestCenters
from boxwood.batches.source import RecordSummary, Source
from boxwood.errors import DataError
from boxwood.table._partial import PartialSum, announce_pass

if TYPE_CHECKING:
    from boxwood.reference import Reference

S = TypeVar("S", bound=RecordSummary)
CHUNK_BYTES = 1 << 22  # most bytes of a summary in one row
GROUPS = 4  # most sums that reach the driver, which refuses more than spark.driver.maxResultSize in all
WIDTH = 32  # sums that one task merges, about; more only where two rounds of merging would not be enough
TASKS, TASKS_EACH = 1024, 4  # so many tasks, or so many for each processor, add up the rows of a longer table
SCHEMA = "part int, chunk int, data binary"
KINDS = {
    **dict.fromkeys(("byte", "short", "integer", "long", "float", "double", "decimal"), "number"),
    **dict.fromkeys(("string", "varchar", "char"), "text"),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz"), "date"),
    **dict.fromkeys(("time", "daytimeinterval"), "time"),
    "boolean": "boolean",
}


class SparkSource(Source):
    """A data frame of Spark.

    Every pass is one job. Each task adds up one summary over the Arrow batches of a partition; of a table of more than
    1024 partitions, and of more than four for each processor, over several that lie on the same machine. Workers merge
    the summaries in a tree, about 32 at a time, and the driver the last four. A task that fails as its worker or its
    machine is gone is run again by Spark, as its settings say (`spark.task.maxFailures`; the master `local[2]` tries
    once, `local[2, 4]` four times).

    A cluster needs boxwood, pyarrow and cloudpickle of the same versions in the Python of its workers: install them
    there, or send an environment packed by `venv-pack` or conda with `spark.archives`. In local mode workers run the
    Python that `PYSPARK_PYTHON` names.

    The frame is computed anew by each pass, as Spark does with every action. One that costs much to compute should be
    cached first (`frame.cache()`). One that may give other rows each time (`rand()`, `sample` without a seed) must be
    written and read again.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The table. NULL and NaN both count as missing values.
    name : str
        Its name in messages.

    Raises
    ------
    DataError
        If two columns have the same name. Names that differ in case only are told apart.
    """

    name: str

    frame: Any

    is_local: ClassVar[bool] = False

    def __init__(self, frame: Any, *, name: str = "the Spark table") -> None:
        self.frame, self.name = frame, name
        self.names: tuple[str, ...] = column_names(frame)
        self.kinds: tuple[str, ...] = tuple(spark_kind(field.dataType) for field in frame.schema)
        zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
        zones = {"timestamp": zone, "timestamp_ntz": "", "date": ""}
        self.types: dict[str, Any] = {
            name: field.dataType.typeName() for name, field in zip(self.names, frame.schema, strict=True)
        }
        self.dates: dict[str, Dates] = {name: Dates(zones[type]) for name, type in self.types.items() if type in zones}
        self.n_parts: int | None = None  # summaries of the last pass

    def run(self, make: Callable[[], S], columns: Sequence[str], n_jobs: int | None = -1) -> S:
        """Return one summary of all batches; `n_jobs` is of no matter.

        Raises
        ------
        DataError, ValueError, TypeError
            What a summary raises on a worker is raised here.
        RuntimeError
            If workers cannot import what they need.
        """
        for module in ("cloudpickle", "pyarrow", "pandas"):
            require(module, "spark", "A pass over a table of Spark")
        add = PartialSum(make, "spark")
        # columns by their places: names may hold dots and quotes, or differ in case only
        plain = self.frame.toDF(*(f"c{j}" for j in range(len(self.names))))
        read = [f"c{self.names.index(name)}" for name in columns]
        selected = self._on_machines(plain.select(*read) if read else plain.selectExpr("0"))
        sums = selected.mapInArrow(_OfPartition(add, list(columns)), SCHEMA)
        for n_groups in rounds_of_merging(self.n_parts):
            grouped = sums.repartition(n_groups, "part").sortWithinPartitions("part", "chunk")
            sums = grouped.mapInArrow(_OfGroup(add), SCHEMA)
        rows = _collect_rows(sums)
        total = add.result(data for _, data in _whole(sorted((r.part, r.chunk, r.data) for r in rows)))
        self.n_parts = total.n_parts
        return announce_pass(self, columns, total)  # type: ignore[no-any-return]

    def _on_machines(self, frame: Any) -> Any:
        """Return the frame with fewer partitions, each of several on one machine, if it has far more than processors.

        Where these are not known, as by Spark Connect, it is the frame itself.
        """
        context = getattr(self.frame.sparkSession, "_sc", None)
        return frame if context is None else frame.coalesce(max(TASKS, TASKS_EACH * context.defaultParallelism))


def rounds_of_merging(n_parts: int | None) -> list[int]:
    """Return how many sums are left of those of so many partitions, None for unknown, after each round of merging.

    Examples
    --------
    >>> rounds_of_merging(None), rounds_of_merging(4), rounds_of_merging(100), rounds_of_merging(30_000)
    ([4], [], [4], [346, 4])
    """
    if n_parts is None:
        return [GROUPS]
    if n_parts <= GROUPS:
        return []
    return [GROUPS] if n_parts <= WIDTH * GROUPS else [math.isqrt(n_parts * GROUPS), GROUPS]


def quote_name(name: str) -> str:
    """Return the name of a column as Spark reads it, whatever signs it holds."""
    return f"`{name.replace('`', '``')}`"


def spark_kind(type: Any) -> str:
    """Return the kind of a column of a type of Spark; see `Source`."""
    return KINDS.get(type.typeName(), "other")


class _OfPartition:
    """The function that Spark runs on each partition: rows become the chunks of one pickled summary."""

    def __init__(self, add: PartialSum, columns: list[str]) -> None:
        self.add, self.columns = add, columns

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        yield from _chunks(part, self.add.of_batches(map(self._name_columns, batches)))

    def _name_columns(self, batch: Any) -> Any:
        return batch.rename_columns(self.columns) if self.columns else batch.select([])


class _OfGroup:
    """The function that Spark runs on each group of summaries, which come as sorted chunks: those of their sum."""

    def __init__(self, add: PartialSum) -> None:
        self.add = add

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        first: list[int] = []

        def partials() -> Iterator[bytes]:
            chunks = (
                row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
            )
            for part, data in _whole(chunks):
                first.append(part)
                yield data

        merged = self.add.merged(partials())
        if first:
            yield from _chunks(first[0], merged)


def _chunks(part: int, data: bytes) -> Iterator[Any]:
    """Yield a pickled summary in record batches of one row each."""
    import pyarrow as pa

    for chunk, start in enumerate(range(0, len(data), CHUNK_BYTES)):
        numbers = [pa.array([number], pa.int32()) for number in (part, chunk)]
        piece = pa.array([data[start : start + CHUNK_BYTES]], pa.binary())
        yield pa.RecordBatch.from_arrays([*numbers, piece], names=["part", "chunk", "data"])


def _whole(chunks: Any) -> Iterator[tuple[int, bytes]]:
    """Yield each part and its pickle, from sorted tuples of a part, the number of a chunk and its bytes."""
    for part, pieces in groupby(chunks, key=itemgetter(0)):
        yield part, b"".join(piece for _, _, piece in pieces)


def _collect_rows(frame: Any) -> list[Any]:
    """Return the rows of a frame; say what to do if the workers lack a package."""
    from pyspark.errors import PythonException

    try:
        return frame.collect()  # type: ignore[no-any-return]
    except PythonException as error:
        for package in ("boxwood", "pyarrow", "pandas", "cloudpickle", "numba"):
            if f"No module named '{package}'" in str(error):
                raise RuntimeError(
                    f"the Python of Spark's workers has no {package}: install boxwood, {', '.join(EXTRAS['spark'])} "
                    "there, or set PYSPARK_PYTHON to the Python that has it before the session starts"
                ) from None
        raise


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
    from boxwood.reference import Reference  # here, as labelling files starts no compiler

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
        f"{name} is not a clustering whose rows can be read; give a KMeansModel, BisectingKMeansModel or "
        "GaussianMixtureModel, a PipelineModel that ends in one, or the column of its labels"
    )


def _names(frame: Any, vectors: str, n_columns: int) -> list[str]:
    """Return the names of the entries of vectors, as VectorAssembler notes them."""
    noted = next(field for field in frame.schema if field.name == vectors).metadata.get("ml_attr", {})
    attributes = [each for group in noted.get("attrs", {}).values() for each in group]
    known = {each["idx"]: each["name"] for each in attributes if "name" in each}
    names = [known.get(j, f"{vectors}_{j}") for j in range(n_columns)]
    if len(set(names)) < n_columns:
        raise DataError(
            f"entries of {vectors!r} have equal names: {list_words(names)}; give the columns different names"
        )
    return names


def _unlike(name: str, names: list[str]) -> str:
    while name in names:
        name += "_"
    return name


def _entries(frame: Any, vectors: str, names: list[str], others: Mapping[str, str] = MappingProxyType({})) -> Any:
    """Return a frame of the entries of vectors, and of other columns under new names."""
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql.functions import col

    vector = vector_to_array(col(quote_name(vectors))).alias("v")  # apart, so that it is made once for each row
    kept = [col(quote_name(name)).alias(f"c{i}") for i, name in enumerate(others)]
    plain = frame.select(vector, *kept)
    entries = [col("v")[j].alias(f"e{j}") for j in range(len(names))]
    return plain.select(*entries, *(f"c{i}" for i in range(len(others)))).toDF(*names, *others.values())
