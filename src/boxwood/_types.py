"""The types of arrays and of numbers, spelt once."""

import math
import sys
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""Any array; for rows it is float32 or float64, shape (n, d)."""

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Indices: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]

Weights: TypeAlias = Floats | None
"""Weight of each row, shape (n,); None where every row weighs 1."""


class Range(NamedTuple):
    """The numbers that a field of a record may hold, from `low` to `high`, and what a message calls them."""

    low: float
    high: float
    words: str
    or_infinity: bool = False


_NOT_NEGATIVE = Range(0, sys.float_info.max, "a number of at least 0")

Amount: TypeAlias = Annotated[float, _NOT_NEGATIVE]
AnyAmount: TypeAlias = Annotated[
    float, _NOT_NEGATIVE._replace(words='a number of at least 0 or "inf"', or_infinity=True)
]
"""An amount that may be infinite."""

Positive: TypeAlias = Annotated[float, Range(math.ulp(0.0), sys.float_info.max, "a number above 0")]

Size: TypeAlias = Annotated[int | float, _NOT_NEGATIVE]
"""A number of rows, or their weight if rows are weighted."""

Share: TypeAlias = Annotated[float, Range(-1e-9, 1 + 1e-9, "a number from 0 to 1")]
"""A share: a quotient of sums, which are rounded."""

Objective: TypeAlias = Literal["auto", "cost", "agreement"]

MethodName: TypeAlias = Literal[
    "auto",
    "imm",
    "greedy",
    "mmdt",
    "shallow",
    "exkmc",
    "expand",
    "cart",
    "random_cuts",
    "kernel_imm",
    "kernel_exkmc",
    "kernel_expand",
    "kernel_mmdt",
]
"""The names of `grow.METHODS`, and "auto"."""

DialectName: TypeAlias = Literal[
    "duckdb",
    "sqlite",
    "postgres",
    "redshift",
    "mysql",
    "tsql",
    "bigquery",
    "snowflake",
    "spark",
    "trino",
    "clickhouse",
    "oracle",
    "postgresql",
    "mariadb",
    "sqlserver",
    "mssql",
    "databricks",
    "athena",
    "presto",
]
"""An engine of SQL: those of `render.forms.dialects.DIALECTS`, and their other names."""

LATER = object()
"""Marks a field of a record that model files of older versions lack: `Annotated[int | None, LATER]`."""
