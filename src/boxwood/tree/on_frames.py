"""A tree on a data frame of Spark or Dask: the same frame with a new column, computed by the workers.

Neither package is imported here: the frame's own `mapInArrow` or `map_partitions` sends the work to the workers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boxwood._messages import list_words
from boxwood._types import Floats, Ints
from boxwood.errors import DataError
from boxwood.tree.nodes import Nodes, values_at_leaves

NUMBERS = ("byte", "short", "integer", "long", "float", "double", "decimal", "boolean")  # of Spark
TYPES = {  # of all values: the type for Spark, for Dask, and for Dask where values may be missing
    int: ("long", "int64", "Int64"),
    float: ("double", "float64", "Float64"),
    bool: ("boolean", "bool", "boolean"),
    str: ("string", "string[pyarrow]", "string[pyarrow]"),
}


def tree_on_frame(tree: Nodes, frame: Any, values: Ints, name: str, columns: Sequence[str] | None) -> Any:
    """Return the frame with one more column: for each row the value of its leaf, from values by node, (n_nodes,).

    `columns` names the tree's columns. Without it they are the frame's columns of numbers and booleans, in their order;
    if there are more of them than the tree needs, labels or weights may be among them, so they must be named.

    Raises
    ------
    DataError
        If there are fewer or more such columns than the tree needs, or a named one is not there; and, when the frame is
        computed, if a value is missing where a row is tested.
    """
    places = _places(tree, frame, columns)
    if len(places) < tree.n_features:
        raise DataError(f"the tree tests column {tree.n_features - 1}, but the frame has {len(places)} numeric columns")
    features = np.unique(tree.feature[tree.feature >= 0]).tolist()
    on_few = np.where(tree.feature >= 0, np.searchsorted(features, tree.feature), -1)
    narrow = Nodes(on_few, tree.lower, tree.upper, tree.second, tree.cluster, tree.members)
    leaves = np.flatnonzero(tree.feature < 0)
    numbers = np.cumsum(tree.feature < 0) - 1
    labeller = Labeller(
        places=tuple(places[j] for j in features),
        names=tuple(map(str, features)),
        leaf_of=_SmallWalk(narrow, numbers),
        values=tuple(values[leaves].tolist()),
    )
    return with_new_column(frame, labeller, name)


def _places(tree: Nodes, frame: Any, columns: Sequence[str] | None) -> list[int]:
    """Return the places of the tree's columns in a frame."""
    names = [str(name) for name in frame.columns]
    if columns is not None:
        lacking = [name for name in columns if name not in names]
        if lacking:
            raise DataError(f"the frame has no column {lacking[0]!r}; its columns: {list_words(names, 30)}")
        return [names.index(name) for name in columns]
    places = [j for j, is_number in enumerate(_are_numbers(frame)) if is_number]
    if len(places) > tree.n_features > 0:
        raise DataError(
            f"the tree needs {tree.n_features} columns, but the frame has {len(places)} numeric columns: "
            f"{', '.join(names[j] for j in places)}; name the tree's columns in their order (columns), without labels "
            "and weights"
        )
    return places


@dataclass(frozen=True)
class _SmallWalk:
    """The leaf of each row of a small table, whose columns are those that the tree tests."""

    tree: Nodes
    numbers: Ints

    def __call__(self, table: Any) -> Ints:
        return values_at_leaves(self.tree, _matrix(table), self.numbers, n_jobs=1, nan="none")


@dataclass(frozen=True)
class Labeller:
    """The data with which workers compute the new column.

    Parameters
    ----------
    places : tuple of int
        The columns of the frame that are read.
    names : tuple of str
        Their names in the table that `leaf_of` gets.
    leaf_of : function
        Takes a table of Arrow or a frame of pandas; returns the number of the leaf of each row, shape (n,), or -1.
    values : tuple
        Value at each leaf.
    missing : {"error", "none"}
        Whether a row without a leaf is an error, or has a missing value.
    """

    places: tuple[int, ...]
    names: tuple[str, ...]
    leaf_of: Callable[[Any], Ints]
    values: tuple[Hashable, ...]
    missing: str = "error"

    @property
    def types(self) -> tuple[str, str, str]:
        """The types of the column; see `TYPES`."""
        kinds = set(map(type, self.values))
        return TYPES.get(next(iter(kinds)) if len(kinds) == 1 else str, TYPES[str])

    def plain(self) -> Labeller:
        """Return the labeller with values of one type: text, unless all are numbers or booleans of one type."""
        return replace(self, values=tuple(map(str, self.values))) if self.types is TYPES[str] else self

    def column(self, table: Any, n_rows: int) -> list[Any]:
        """Return the values of the rows of a table; None where a row has no leaf."""
        leaves = self.leaf_of(table) if self.places else np.zeros(n_rows, dtype=np.int64)  # a tree of one leaf
        without = int((leaves < 0).sum())
        if without and self.missing == "error":
            raise DataError(
                f"{without} of {len(leaves)} rows of a part of the table lack a value that their rule needs; fill such "
                "values or leave those rows out"
            )
        known = np.empty(len(self.values) + 1, dtype=object)  # a row without a leaf has leaf -1, the last one
        known[:-1] = self.values
        return known[leaves].tolist()  # type: ignore[no-any-return]


def with_new_column(frame: Any, labeller: Labeller, name: str) -> Any:
    """Return a frame of Spark or Dask with a new last column, which is computed lazily with the frame."""
    labeller, name = labeller.plain(), new_name(name, frame.columns)
    if not hasattr(frame, "mapInArrow"):
        add = _AddToPandas(labeller, name)
        return frame.map_partitions(add, meta=add(frame._meta))
    names = list(frame.columns)
    plain = frame.toDF(*(f"c{j}" for j in range(len(names))))  # names may hold dots, or differ in case only
    schema = deepcopy(plain.schema).add("new", labeller.types[0])
    return plain.mapInArrow(_AddToArrow(labeller), schema).toDF(*names, name)


def new_name(name: str, columns: Sequence[Hashable]) -> str:
    """Return the name, or `name_1` and so on if a column has the name, upper and lower case being equal."""
    taken = {str(column).casefold() for column in columns}
    names = (name, *(f"{name}_{i}" for i in range(1, len(taken) + 1)))
    return next(candidate for candidate in names if candidate.casefold() not in taken)


@dataclass(frozen=True)
class _AddToArrow:
    """The function that Spark applies to the record batches of each partition."""

    labeller: Labeller

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        types = {"long": pa.int64(), "double": pa.float64(), "boolean": pa.bool_(), "string": pa.string()}
        for batch in batches:
            read = [batch.column(j) for j in self.labeller.places]
            table = pa.Table.from_arrays(read, names=list(self.labeller.names))
            labels = self.labeller.column(table, batch.num_rows)
            values = pa.array(labels, types[self.labeller.types[0]])
            yield pa.RecordBatch.from_arrays([*batch.columns, values], names=[*batch.schema.names, "new"])


@dataclass(frozen=True)
class _AddToPandas:
    """The function that Dask applies to each partition."""

    labeller: Labeller
    name: str

    def __call__(self, frame: Any) -> Any:
        table = frame.iloc[:, list(self.labeller.places)].set_axis(list(self.labeller.names), axis=1)
        values = np.empty(len(frame), dtype=object)
        values[:] = self.labeller.column(table, len(frame))
        type = self.labeller.types[2 if self.labeller.missing == "none" else 1]
        return frame.assign(**{self.name: values}).astype({self.name: type})


def _are_numbers(frame: Any) -> list[bool]:
    """Return for each column whether it holds numbers or booleans."""
    if hasattr(frame, "mapInArrow"):
        return [field.dataType.typeName() in NUMBERS for field in frame.schema]
    return [getattr(type, "kind", "O") in "biuf" for type in frame.dtypes.tolist()]


def _matrix(table: Any) -> Floats:
    """Return a table of Arrow or a frame of pandas as rows of doubles; missing values are NaN."""
    columns = list(table.columns)
    if hasattr(table, "iloc"):
        rows = np.empty((len(table), len(columns)), order="F")
        for j in range(len(columns)):
            rows[:, j] = table.iloc[:, j].to_numpy(dtype=np.float64, na_value=np.nan)
        return rows
    rows = np.empty((table.num_rows, len(columns)), order="F")
    for j, column in enumerate(columns):
        values = column.to_numpy()
        if values.dtype == object:  # booleans with missing values, decimals
            values = np.array([np.nan if value is None else float(value) for value in values])
        rows[:, j] = values
    return rows
