"""Checks of what users give: `Rows`, which are checked once, weights, arrays and single parameters."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boxwood._messages import cut_off as cut_off
from boxwood._messages import did_you_mean
from boxwood._messages import kind_of_value as kind_of_value
from boxwood._messages import list_words as list_words
from boxwood._messages import show_value as show_value
from boxwood._threads import map_blocks
from boxwood._types import Array, Bools, Floats, Indices, Ints, Weights
from boxwood.errors import DataError

_ON_MACHINES = ("pyspark.sql.", "dask.dataframe.", "dask_expr.")  # where frames of Spark and Dask are from


@dataclass(frozen=True, eq=False)
class Rows:
    """Checked rows of a table in memory, with checked weights.

    Every function that takes rows takes `Rows` too. Functions read their rows with `Rows.of` or `as_table`, and these
    return `Rows` without a second check. So a table is checked once, however many functions it passes.

    Parameters
    ----------
    values : array of shape (n, d)
        Finite numbers, float32 or float64.
    weights : array of shape (n,), or None
        Finite and not negative; None weighs every row 1.
    """

    values: Array
    weights: Weights = None

    @classmethod
    def of(cls, X: ArrayLike | Rows, sample_weight: ArrayLike | None = None, *, n_columns: int | None = None) -> Rows:
        """Return checked rows; without `sample_weight`, `Rows` keep their weights."""
        if isinstance(X, Rows) and sample_weight is None:
            _refuse_other_width(X.n_columns, n_columns)
            return X
        table = as_table(X, n_columns=n_columns)
        return cls(table, as_weights(sample_weight, len(table)))

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.values, dtype=dtype) if not copy else np.array(self.values, dtype=dtype)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @property
    def in_memory(self) -> Rows:
        """These rows, where rows in batches raise an error."""
        return self

    def take(self, rows: Indices) -> Rows:
        """Return some of the rows."""
        return Rows(self.values[rows], None if self.weights is None else self.weights[rows])

    def column(self, feature: int, rows: Array) -> Floats:
        """Return the values of one column at some rows, as float64."""
        return np.asarray(self.values[rows, feature], dtype=np.float64)

    def is_first(self, rows: Indices, feature: int, lower: float, upper: float) -> Bools:
        """Return whether each of some rows goes to the first side of the cut `lower <= x <= upper`."""
        values = self.column(feature, rows)
        inside: Bools = (lower <= values) & (values <= np.float64(upper))
        return inside

    def mapped(self, values: Array) -> Rows:
        """Return rows with other values and the same weights."""
        return Rows(values, self.weights)


class MappedRows(Rows):
    """Rows of a table through a map, which are made when their values are first asked for, or those of some of them.

    Parameters
    ----------
    table : Rows
        The rows of the table, with their weights.
    transform : function from rows to an array of shape (n, n_columns)
        The map.
    n_columns : int
        Number of columns that it makes.
    """

    _of: tuple[Rows, Callable[[Rows], Array], int]

    def __init__(self, table: Rows, transform: Callable[[Rows], Array], n_columns: int) -> None:
        object.__setattr__(self, "weights", table.weights)
        object.__setattr__(self, "_of", (table, transform, n_columns))

    @cached_property
    def values(self) -> Array:  # type: ignore[override]
        table, transform, _ = self._of
        return transform(table)

    def __len__(self) -> int:
        return len(self._of[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self._of[2]

    def take(self, rows: Indices) -> Rows:
        """Return some of the rows."""
        if "values" in self.__dict__:
            return super().take(rows)
        table, transform, _ = self._of
        some = table.take(rows)
        return some.mapped(transform(some))


def as_table(X: ArrayLike | Rows, *, n_columns: int | None = None, names: Sequence[str] | None = None) -> Array:
    """Return `X` as finite rows, shape (n, d), float32 or float64; it is copied only if its type must change.

    Raises
    ------
    DataError
        If `X` is not numeric or two-dimensional, has no rows or columns, has another number of columns than
        `n_columns`, or holds missing or infinite values; the message uses `names` for the columns.
    """
    if isinstance(X, Rows):
        _refuse_other_width(X.n_columns, n_columns)
        return X.values
    if np.ma.is_masked(X):
        raise DataError("X is a masked array with masked values; fill them (X.filled) or leave those rows out")
    if hasattr(X, "toarray"):
        raise DataError("X is sparse, and must have all its numbers; use X.toarray()")
    table = as_float_table(X)
    if 0 in table.shape:
        raise DataError(f"X must have at least one row and one column; got shape {table.shape}")
    _refuse_other_width(table.shape[1], n_columns)
    refuse_not_finite(table, names if names is not None and len(names) == table.shape[1] else None)
    return table


def _refuse_other_width(width: int, n_columns: int | None) -> None:
    if n_columns is not None and width != n_columns:
        raise DataError(f"X has {width} columns, but {n_columns} are expected")


def refuse_not_finite(X: Array, names: Sequence[str] | None = None, *, n_jobs: int | None = -1) -> None:
    """Raise a DataError with the number of missing or infinite values by column; finite rows are read once."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = map_blocks(lambda start, stop: np.sum(X[start:stop], dtype=np.float64), len(X), n_jobs=n_jobs)
    if np.isfinite(sums).all() or np.isfinite(X).all():  # a sum of finite values may overflow
        return
    for problem, is_problem, remedy in (
        ("missing values (NaN)", np.isnan, "fill them or leave those rows out"),
        ("infinite values", np.isinf, "replace them or leave those rows out"),
    ):
        bad = is_problem(X)
        if bad.any():
            columns = [
                f"{names[j] if names is not None else f'column {j}'} ({count})"
                for j, count in enumerate(bad.sum(axis=0))
                if count
            ]
            rows = int(bad.any(axis=1).sum())
            raise DataError(f"{problem} in {rows} of {len(X)} rows: {list_words(columns)}; {remedy}")


def as_float_table(X: ArrayLike) -> Array:
    """Return `X` as a two-dimensional array of float32 or float64, copied only if its type must change.

    Raises
    ------
    DataError
        If `X` is not numeric or not two-dimensional. Missing and infinite values are numbers here.
    """
    refuse_no_rows(X)
    table = np.asarray(X)
    if table.ndim != 2:
        one = "; one row is [X], one column is X.reshape(-1, 1)" if table.ndim == 1 else ""
        raise DataError(f"X must be two-dimensional, rows by columns; got shape {table.shape}{one}")
    if table.dtype not in (np.float32, np.float64):
        if table.dtype.kind not in "biufO" or (table.dtype.kind == "O" and _has_text(table)):
            if table.dtype.kind in "OUS":
                raise DataError("X must be numeric, got text; explain takes categories, in the columns of a data frame")
            raise DataError(f"X must be numeric, got {table.dtype}")
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"X must be numeric, got {table.dtype}: {cut_off(str(error))}") from None
    return table


def refuse_no_rows(X: Any) -> None:
    """Raise a DataError for what is no table, or one in a form that arrays do not have: mappings, streams."""
    refuse_no_table(X)
    if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__"):
        raise DataError(f"X must be rows by columns, got {type(X).__name__}; give pyarrow.table(X)")
    if isinstance(X, Mapping):
        rows = "X" if any(map(np.ndim, X.values())) else "[X]"
        raise DataError(f"X must be rows by columns, got a mapping; {_FRAME_OF.format(rows)}")
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], Mapping):
        raise DataError(f"X must be rows by columns, got mappings; {_FRAME_OF.format('X')}")


_FRAME_OF = "give a data frame, such as pandas.DataFrame({0}) or polars.DataFrame({0})"


def refuse_lazy_frame(X: Any) -> None:
    """Raise a DataError for a lazy frame of polars, which holds no rows yet."""
    if type(X).__name__ == "LazyFrame" and type(X).__module__.startswith("polars."):
        raise DataError(
            "a LazyFrame of polars holds no rows yet; call .collect() for rows in memory, or .sink_parquet(FILE) and "
            "pass boxwood.scan(FILE), which reads them in batches"
        )


def refuse_no_table(X: Any) -> None:
    """Raise a DataError for the name of a file, for None, a number and whatever else has no rows."""
    refuse_lazy_frame(X)
    if isinstance(X, (str, os.PathLike)):
        raise DataError(
            f"X must be rows, got the text {show_value(os.fspath(X))}; boxwood.scan reads the table of a file, "
            "and so does "
            "boxwood explain on the command line"
        )
    may_have_rows = any(
        hasattr(X, name) for name in ("__len__", "__array__", "__array_interface__", "__arrow_c_stream__")
    )
    if not may_have_rows or getattr(X, "ndim", None) == 0:
        raise DataError(f"X must be rows by columns, got {kind_of_value(X)}; give an array or a data frame")


def is_on_machines(X: Any) -> bool:
    """Return whether `X` is a data frame of Spark or Dask."""
    return type(X).__name__ == "DataFrame" and type(X).__module__.startswith(_ON_MACHINES)


def out_of_frozen(given: Any) -> Any:
    """Return the estimator inside of a `FrozenEstimator`, or what is given."""
    if not hasattr(given, "fit"):  # labels need no scikit-learn
        return given
    from sklearn.frozen import FrozenEstimator

    return given.estimator if isinstance(given, FrozenEstimator) else given


def refuse_unscanned(X: Any) -> None:
    """Raise a DataError for a frame of Spark or Dask or a relation of DuckDB, where only its source can be read."""
    kind = type(X).__module__.split(".")[0]
    if kind in ("pyspark", "dask", "dask_expr") or type(X).__name__ == "DuckDBPyRelation":
        raise DataError(f"a table of {kind.lstrip('_')} is read in batches: pass boxwood.scan of it")


def _has_text(table: Array) -> bool:
    return any(isinstance(value, (str, bytes)) for value in table.flat)


def as_numbers(name: str, values: ArrayLike) -> Floats:
    """Return real numbers of any shape as doubles, copied only if their type must change; they need not be finite.

    Raises
    ------
    DataError
        If the values are text, dates or complex, have no common shape, or are too large for a double.
    """
    try:
        given = np.asarray(values)
        numbers = given.astype(np.float64, copy=False) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{name} must be numeric: {cut_off(str(error))}") from None
    if numbers is None:
        what = {"U": "text", "S": "text", "c": "complex numbers", "M": "dates"}
        raise DataError(f"{name} must be numeric, got {what.get(given.dtype.kind, str(given.dtype))}")
    return numbers


def as_vector(name: str, values: ArrayLike) -> Floats:
    """Return real numbers of shape (n,) as doubles; raise a DataError for anything else."""
    numbers = as_numbers(name, values)
    if numbers.ndim != 1:
        raise DataError(f"{name} must be a sequence of numbers, got shape {numbers.shape}")
    return numbers


def as_finite_vector(name: str, values: ArrayLike) -> Floats:
    """Return finite real numbers of shape (n,) as doubles; raise a DataError for anything else."""
    numbers = as_vector(name, values)
    if not np.isfinite(numbers).all():
        raise DataError(f"{name} must be finite numbers, got {numbers[~np.isfinite(numbers)][0]}")
    return numbers


def as_positions(name: str, values: ArrayLike, n: int, *, least: int = 0) -> Indices:
    """Return whole numbers from `least` to `n` - 1, shape (m,).

    Raises
    ------
    DataError
        If the values are something else.
    """
    array = np.asarray(values)
    whole = array.ndim == 1 and (array.dtype.kind in "iu" or array.size == 0)
    if not whole or (array.size and not (array.min() >= least and array.max() < n)):
        raise DataError(f"{name} must be whole numbers from {least} to {n - 1}; got {show_value(values)}")
    return array.astype(np.intp, copy=False)


def refuse_halves(what: str, texts: Iterable[Any]) -> None:
    """Raise a DataError if a text has half of a character, as `"\\ud800"` is, which can be written into no file."""
    for text in texts:
        if isinstance(text, str) and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                half = text[error.start]
                raise DataError(
                    f"{what} {show_value(text)} has {half!r}, half of a character, which no file can hold; rename it"
                ) from None


def refuse_unknown(name: str, value: object, allowed: Collection[str]) -> None:
    """Raise a ValueError with the parameter, the allowed values and the given value, unless the value is allowed."""
    if not isinstance(value, str) or value not in allowed:
        hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {show_value(value)}{hint}")


def refuse_unknown_letters(path: str | os.PathLike[str]) -> None:
    """Raise an OSError if the system's names of files cannot have the letters of a path, as in the locale C."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        known = f"names of files are {sys.getfilesystemencoding()} here"
        raise OSError(f"no file can be called {path!a}: {known}; set PYTHONUTF8=1, or another locale") from None


def refuse_other_kind(name: str, value: object, kind: type, instead: str) -> None:
    """Raise a TypeError unless a value is of a kind; `instead` says how to get one."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{name} must be {article} {kind.__name__}, got {type(value).__name__}; {instead}")


def whole_number(name: str, value: Any, least: int) -> int:
    """Return a whole number that is not below `least`.

    Raises
    ------
    TypeError
        If the value is no whole number; a float, a boolean and text are none.
    ValueError
        If it is below `least`, or so large that its square is no double.
    """
    if type(value) is int and least <= value < 1 << 60:  # nearly all; looking up `Integral` takes ten times as long
        return value
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, got {show_value(value)}")
    if value < least or int(value) >= 1 << 300:
        limit = f"at least {least}" if value < least else "below 2**300"
        raise ValueError(f"{name} must be {limit}, got {show_value(value)}")
    return int(value)


def number_of_clusters(n_clusters: Any, n_rows: int) -> int:
    """Return a number of clusters for which there can be room: at most a million, or one for each row."""
    most = max(n_rows, 1_000_000)
    if whole_number("n_clusters", n_clusters, 1) > most:
        raise ValueError(f"n_clusters must be at most {most:,} for {n_rows:,} rows, got {show_value(n_clusters)}")
    return int(n_clusters)


def as_time_limit(time_limit: float | None) -> float | None:
    """Return a number of seconds as a double, or None; raise a TypeError or ValueError for anything else."""
    if time_limit is None:
        return None
    if isinstance(time_limit, bool):
        raise TypeError(f"time_limit must be a number of seconds, got {time_limit}")
    seconds = real_number("time_limit", time_limit)
    if not seconds >= 0:
        raise ValueError(f"time_limit must be at least 0 seconds, got {seconds}")
    return seconds


def position(name: str, value: Any, n: int) -> int:
    """Return a whole number from 0 to `n` - 1; raise a TypeError or ValueError for anything else."""
    if whole_number(name, value, 0) >= n:
        raise ValueError(f"{name} must be from 0 to {n - 1}, got {show_value(value)}")
    return int(value)


def real_number(name: str, value: Any) -> float:
    """Return a real number as a double; NaN and infinities are numbers here.

    Raises
    ------
    TypeError
        If the value is no number; text and complex numbers are none.
    ValueError
        If it is a whole number too large for a double.
    """
    if type(value) is float:  # nearly all
        return value
    plain = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not isinstance(plain, Real):
        raise TypeError(f"{name} must be a number, got {show_value(value)}")
    try:
        return float(plain)
    except OverflowError:
        raise ValueError(f"{name} must be a number below 1.8e308, got {show_value(value)}") from None


def finite_number(name: str, value: Any) -> float:
    """Return a finite number as a double; raise a TypeError or ValueError for anything else."""
    number = real_number(name, value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {number}")
    return number


def random_of(random_state: Any) -> np.random.RandomState:
    """Return the random numbers of a seed, as scikit-learn has them, which is not loaded for a whole number."""
    if isinstance(random_state, Integral):
        return np.random.RandomState(int(random_state))
    from sklearn.utils import check_random_state

    found: np.random.RandomState = check_random_state(random_state)
    return found


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a generator from a seed, a Generator, a RandomState (which is advanced) or None (a new generator)."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        what = "a whole number of at least 0, a Generator, a RandomState or None"
        raise kind(f"random_state must be {what}; got {show_value(random_state)}") from None


def as_seed(random_state: Any) -> Any:
    """Return what scikit-learn takes for randomness: a whole number, or a RandomState as it is; None is 0.

    Raises
    ------
    TypeError, ValueError
        If it is anything else, such as a Generator of numpy, which scikit-learn does not take.
    """
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return 0 if random_state is None else random_state
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and 0 <= int(random_state) < 2**32:
        return int(random_state)
    kind = ValueError if isinstance(random_state, Integral) else TypeError
    raise kind(
        f"random_state must be a whole number from 0 to {2**32 - 1}, a RandomState or None; got "
        f"{show_value(random_state)}"
    )


INFINITE_SUM = "sample_weight adds up to more than the largest float; divide all weights by a power of ten"


def as_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Return the weights of the rows, shape (n,), or None for None. A single number is the weight of every row."""
    if sample_weight is None:
        return None
    weights = as_numbers("sample_weight", sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise DataError(f"sample_weight must have one weight for each of {n_rows} rows, got shape {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise DataError("sample_weight must be finite and not negative")
    if not weights.any():
        raise DataError("sample_weight is zero for every row")
    return weights


def refuse_no_sum(weights: Weights) -> None:
    """Raise a DataError for weights that cannot be added up: trees need no sum of weights, but costs and shares do."""
    if weights is None:
        return
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise DataError(INFINITE_SUM)
    refuse_far_apart(float(weights.min(where=weights > 0, initial=np.inf)), float(weights.max()))


FARTHEST = 1e30  # times a weight; in sums of pairs of doubles, the least of such weights still has nine digits


def refuse_far_apart(lightest: float, heaviest: float) -> None:
    """Raise a DataError for weights above 0 so far apart that costs, which are sums of both, lose the small ones."""
    if lightest < heaviest / FARTHEST:
        raise DataError(
            f"weights are from {lightest:.3g} to {heaviest:.3g}, too far apart to be added up (more than "
            f"{FARTHEST:.0e} times); give rows that hardly count the weight 0"
        )


def total_weight(rows: Rows) -> float:
    """Return the sum of the weights of rows, or their number where each weighs 1."""
    return float(len(rows) if rows.weights is None else rows.weights.sum())


def as_integer_weights(weights: Floats | None) -> Ints:
    """Return weights as whole multiples of one power of two, so that their sums are exact; an empty array for None.

    The multiples add up to less than 2**62, so each weight is kept to 62 bits of the total. Whole weights and
    other weights of that precision are kept exactly. Equal sums stay equal in any order of addition.
    """
    if weights is None:
        return np.empty(0, dtype=np.int64)
    heaviest = float(weights.max())
    scaled = np.ldexp(weights, -int(np.frexp(heaviest)[1]))  # below 1, so that the sum is finite
    total = float(scaled.sum())
    if abs(math.frexp(total)[0] - 0.75) > 0.25 - 1e-6:  # near a power of two: rounding must not decide
        total = math.fsum(scaled)
    return WholeWeights.scaling(heaviest, total).of(weights)


class WholeWeights(NamedTuple):
    """How weights become whole numbers: multiplied by two powers of two, and rounded; see `as_integer_weights`."""

    first: int
    second: int

    @classmethod
    def scaling(cls, heaviest: float, total: float) -> WholeWeights:
        """Return the scale for the greatest weight, and the sum of all weights over the power of two next above it.

        The sum must be exact, rounded once, so that it depends on no order.
        """
        part, power = math.frexp(total)
        return cls(-math.frexp(heaviest)[1], 61 - power + (part == 0.5))

    def of(self, weights: Floats) -> Ints:
        """Return weights as whole numbers."""
        whole = np.rint(np.ldexp(np.ldexp(weights, self.first), self.second)).astype(np.int64)
        return np.maximum(whole, weights > 0)  # a row of little weight is still a row
