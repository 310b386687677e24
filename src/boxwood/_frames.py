"""Data frames of pandas, polars, Arrow and others as plain arrays, and names of clusters as arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from numbers import Integral
from typing import Any, Literal

import numpy as np

from boxwood._dates import DATES_AS_TEXT, DOUBTFUL, MICROSECONDS, TIMES, Dates, days_between, zone_name
from boxwood._imports import require
from boxwood._texts import TextForms, TextReading, number_in_text
from boxwood._types import Array, Bools, Floats, Indices
from boxwood._validation import (
    as_float_table,
    cut_off,
    list_words,
    refuse_halves,
    refuse_lazy_frame,
    refuse_no_table,
    refuse_not_finite,
    show_value,
)
from boxwood.errors import DataError

NUMBERS = "numbers"  # what columns of numbers, booleans and dates hold
_SIMILARITY = 0.75  # suggestions of lower similarity are more often wrong than right


def is_frame(X: Any) -> bool:
    """Return whether `X` is a data frame with named columns.

    Raises
    ------
    DataError
        If it is a lazy frame of polars, which holds no rows yet, or if two columns have the same name.
    """
    if isinstance(X, (np.ndarray, list, tuple)):
        return False
    refuse_lazy_frame(X)
    from narwhals import dependencies

    found = bool(dependencies.is_into_dataframe(X))
    if found:
        column_names(X)  # narwhals and scikit-learn refuse equal names in words of their own
    return found


def as_rows_here(X: Any) -> Any:
    """Return a table of Arrow for what hands one over and is no data frame: a stream, a batch of rows, any such object.

    Anything else is returned as it is. A stream is read to its end.

    Raises
    ------
    DataError
        If it hands over no table, or is none, or is in the memory of another device.
    ImportError
        If pyarrow is missing.
    """
    is_batch = (type(X).__module__.partition(".")[0], type(X).__name__) == ("pyarrow", "RecordBatch")
    hands_over = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__dataframe__")
    if not is_batch and (not hands_over or hasattr(X, "__array__") or is_frame(X)):
        refuse_no_table(X)
        refuse_unreadable("X", X)
        return X
    pa = require("pyarrow", "arrow", f"a table in the form of {type(X).__name__}")
    try:
        if is_batch or hasattr(X, "__arrow_c_stream__"):
            return pa.table(X)
        return require("pyarrow.interchange", "arrow", "a table").from_dataframe(X)
    except (pa.ArrowException, TypeError, ValueError) as error:
        kind = type(X).__name__
        raise DataError(f"X must be a table, but {kind} hands over none: {cut_off(str(error))}") from None


def refuse_unreadable(name: str, given: Any) -> None:
    """Raise a DataError for what is in the memory of another device, as frames of cuDF are."""
    if not (hasattr(given, "to_pandas") and hasattr(given, "__array__")) or is_frame(given):
        return
    try:
        np.asarray(given)
    except TypeError as error:
        raise DataError(f"{name} cannot be read, a {type(given).__name__} ({error}); pass its to_pandas()") from None


def column_names(frame: Any) -> tuple[str, ...]:
    """Return the names of the columns, as text.

    Raises
    ------
    DataError
        If two columns have the same name, or a name has half of a character.
    """
    # read from the frame itself: narwhals refuses frames with equal names
    names = [str(name) for name in (frame.column_names if hasattr(frame, "column_names") else _list_of(frame.columns))]
    if len(set(names)) < len(names):
        twice = [repr(name) for name, count in Counter(names).items() if count > 1]
        said = f"columns must have different names, but these occur more than once: {list_words(twice)}"
        raise DataError(f"{said}; rename them")
    if not "".join(names).isascii():
        refuse_halves("the name of column", names)
    return tuple(names)


def only_columns(frame: Any, names: Collection[str]) -> Any:
    """Return a frame with the columns of these names alone, in their order there; all columns if there are no names.

    Raises
    ------
    DataError
        If the frame lacks one.
    """
    import narwhals as nw

    present, table, wanted = column_names(frame), nw.from_native(frame, eager_only=True), set(names)
    refuse_unknown_columns(names, present)
    places = [place for place, name in enumerate(present) if name in wanted]  # quicker than names in a wide frame
    return table[:, places].to_native() if places else frame  # without columns there would be no rows


def as_matrix(frame: Any, columns: Sequence[str] | None = None) -> Array:
    """Return the columns of a frame as rows of numbers, shape (n, d); missing values become NaN, dates days.

    A frame with float columns in one block is not copied; pandas makes such frames from arrays. Other frames are copied
    once, in Fortran order. Booleans become 0 and 1. Columns of objects of pandas may hold Python's decimals or truths.
    A column without any value is all NaN, whatever its type, as few rows, or none, do not tell what others have.

    Raises
    ------
    DataError
        If columns are not numeric or boolean, or are not in the frame.
    """
    import narwhals as nw

    present = column_names(frame)
    wanted = list(present) if columns is None else list(columns)
    refuse_unknown_columns(wanted, present)
    whole = _whole(frame) if wanted == list(present) else None
    if whole is not None:
        return whole
    series = _typed_columns(frame, wanted)
    known = [name for name in wanted if len(series[name]) and not _is_empty(series[name])]
    others = [f"{name} ({str(series[name].dtype).split('(')[0]})" for name in known if not _holds_numbers(series[name])]
    if others:
        raise DataError(f"columns that are not numbers: {list_words(others)}; leave them out or turn them into numbers")
    n_rows = len(nw.from_native(frame, eager_only=True)) if present else 0
    matrix = np.full((n_rows, len(wanted)), np.nan, order="F")
    for j, name in enumerate(wanted):
        if name in known:
            is_whole = series[name].dtype.is_integer()
            matrix[:, j] = (series[name] / 1 if is_whole else series[name].cast(nw.Float64)).to_numpy()
    return matrix


def _holds_numbers(series: Any) -> bool:
    import narwhals as nw

    kind = series.dtype
    return bool(kind.is_numeric() or kind == nw.Boolean)


def _is_empty(series: Any) -> bool:
    """Return whether a column with rows has no value; the first row tells of most columns that they have one."""
    first = series.item(0) if len(series) else ""
    is_plain = isinstance(first, (str, int, float, np.number))  # whether others are missing, only their library knows
    return not (is_plain and first == first) and bool(_lacks(series).all())


def _list_of(labels: Any) -> list[Any]:
    """Return the names of columns; those of pandas take ten times as long one by one."""
    return labels.tolist() if hasattr(labels, "tolist") else list(labels)


def _whole(frame: Any) -> Array | None:
    """Return all columns of a frame as rows of numbers, where that needs no look at each column; None otherwise.

    That is so for float columns of one type, and for columns of numpy's numbers and truths in a frame of pandas.
    """
    import narwhals as nw

    kinds = set(frame.dtypes) if hasattr(frame, "iloc") else {None}
    if kinds in ({np.dtype(np.float32)}, {np.dtype(np.float64)}):
        return np.asarray(frame)
    types = set(nw.from_native(frame, eager_only=True).schema.values())
    if len(types) == 1 and types.pop().is_float():
        whole = np.asarray(frame)
        if whole.dtype in (np.float32, np.float64):
            return whole
    if not all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in kinds):
        return None
    return np.asfortranarray(frame.to_numpy(np.float64))


def numeric_columns(frame: Any) -> tuple[list[str], dict[str, list[str]]]:
    """Return the names of the columns of numbers, booleans and dates, and those of the others, by what they hold.

    That is text, texts that are dates, or may be, by their first values, no values, or times without a date.
    """
    numeric: list[str] = []
    others: dict[str, list[str]] = {"text": [], DATES_AS_TEXT: [], DOUBTFUL: [], TIMES: [], "no values": []}
    for name, kind in kinds_of_columns(frame):
        (numeric if kind == NUMBERS else others[kind]).append(name)
    return numeric, others


def kinds_of_columns(frame: Any) -> Iterator[tuple[str, str]]:
    """Yield the name of each column, and what it holds: numbers, or one of the others that `numeric_columns` tells."""
    for name, series in _typed_columns(frame).items():
        if _is_empty(series):
            yield name, "no values"
        elif _holds_numbers(series):
            yield name, NUMBERS
        elif series.dtype.is_temporal():
            yield name, TIMES
        else:
            forms = _first_forms(series)
            read = DOUBTFUL if forms.reading is None else DATES_AS_TEXT
            yield name, read if forms.are_dates else "text"


def date_columns(X: Any) -> dict[str, Dates]:
    """Return the columns of dates of a data frame; none for anything else."""
    if not is_frame(X):
        return {}
    return {name: Dates(_zone_of(series)) for name, series in _columns(X).items() if _holds_dates(series)}


def read_texts(frame: Any, but: Collection[str] = ()) -> tuple[Any, dict[str, TextReading]]:
    """Return a frame with texts that are dates or numbers as these, and how they are read; see `TextForms`.

    IN: but: columns that stay text.
    """
    import narwhals as nw

    read: dict[str, TextReading] = {}
    columns: dict[str, Any] = {}
    for name, series in _columns(frame).items():
        if name in but or not _may_be_text(series) or not (forms := _first_forms(series)).is_open:
            continue
        texts = series.drop_nulls().unique().to_list()
        forms.update(texts)
        if (reading := forms.reading) is not None:
            value, dates = {text: reading.value(text) for text in texts}, reading.dates
            kind = nw.Float64 if dates is None else nw.Datetime("us", dates.zone or None)
            values = [value.get(text) for text in series.to_list()]
            columns[name] = nw.new_series(name, values, kind, backend=series.implementation)
            read[name] = reading
    return _with_columns(frame, columns), read


def _with_columns(frame: Any, columns: Mapping[str, Any]) -> Any:
    """Return a frame with other values in some of its columns, which are series of narwhals by their names."""
    import narwhals as nw

    if not columns:
        return frame
    table = nw.from_native(frame, eager_only=True)
    labels = dict(zip(column_names(frame), table.columns, strict=True))  # those of pandas may be numbers
    return table.with_columns(*(series.alias(labels[name]) for name, series in columns.items())).to_native()


def as_dates(frame: Any, dates: Mapping[str, Dates]) -> Any:
    """Return a frame with days in place of texts in columns of dates; a column without any value may have any type.

    Dates that are counted from the day in a column are days after it, whatever their type.

    Raises
    ------
    DataError
        If a text is no date, a column has numbers, or a time zone where the dates have none, or the other way round.
    """
    if not dates:
        return frame
    relative = {name: one for name, one in dates.items() if one.day_column}
    if relative:
        plain = {name: one._replace(as_of="") for name, one in dates.items()}
        return _with_columns(frame, ages_in(as_dates(frame, plain), relative, frame))
    import narwhals as nw

    read: dict[str, Any] = {}
    for name, series in _columns(frame, dates).items():
        if _is_empty(series):
            continue
        if _holds_dates(series) and bool(_zone_of(series)) != bool(dates[name].zone):
            has, need = ("a", "none; leave it out") if _zone_of(series) else ("no", "one; say in which zone they are")
            raise DataError(f"the dates of {name} have {has} time zone, but those of the rules have {need}")
        if _holds_numbers(series):
            raise DataError(f"{name} must be dates such as {dates[name].example}, but has numbers")
        if _may_be_text(series) and not _holds_dates(series):
            number = {value: dates[name].number(value, name) for value in series.drop_nulls().unique().to_list()}
            days = [number.get(value, np.nan) for value in series.to_list()]
            read[name] = nw.new_series(name, days, nw.Float64, backend=series.implementation)
    return _with_columns(frame, read)


def ages_in(read: Any, dates: Mapping[str, Dates], frame: Any) -> dict[str, Any]:
    """Return columns of dates as days after the day in a column; IN: read: `frame` with texts that are dates as such.

    A row that lacks the day lacks all of them.

    Raises
    ------
    DataError
        If the frame lacks the column of days, that holds other values, or a time zone where the dates have none.
    """
    import narwhals as nw

    first, *_ = dates.values()
    refuse_unknown_columns([first.day_column], column_names(frame))
    [day] = _columns(read_texts(only_columns(frame, [first.day_column]))[0]).values()
    if not _is_empty(day) and not _holds_dates(day):
        raise DataError(f"as_of names {first.day_column}, which must hold dates such as 2026-07-31")
    has_zone = not _is_empty(day) and bool(_zone_of(day))
    from_day = _as_days(day)
    found: dict[str, Any] = {}
    for name, series in _columns(read, dates).items():
        if has_zone and not dates[name].zone:
            raise DataError(f"{first.day_column} (as_of) has a time zone, but the dates of {name} have none")
        days = days_between(_as_days(series), from_day)
        found[name] = nw.new_series(name, days, nw.Float64, backend=series.implementation)
    return found


def _as_days(series: Any) -> Floats:
    """Return a column of dates, or of days, as days, NaN where one is missing."""
    if _is_empty(series):
        return np.full(len(series), np.nan)
    days = _days(series) if _holds_dates(series) else series
    return np.asarray(days.to_numpy(), dtype=np.float64)


def dates_from_column(frame: Any, dates: Mapping[str, Dates]) -> Any:
    """Return a frame with dates from 1970 on that are as far from its beginning as before from the day in a column."""
    import narwhals as nw

    read: dict[str, Any] = {}
    for name, series in ages_in(frame, dates, frame).items():
        micro = np.rint(series.to_numpy() * MICROSECONDS)
        lacks = np.isnan(micro)
        moments = np.where(lacks, 0, micro).astype(np.int64).astype("M8[us]")
        moments[lacks] = np.datetime64("NaT")
        read[name] = nw.new_series(name, moments, nw.Datetime("us"), backend=series.implementation)
    return _with_columns(frame, read)


def read_as_numbers(frame: Any, names: Collection[str]) -> Any:
    """Return a frame with numbers in place of texts or categories, in columns in which all are numbers or truths."""
    import narwhals as nw

    read: dict[str, Any] = {}
    for name, series in _columns(frame, names).items():
        is_text = isinstance(next(iter(first_values(series, 1)), None), str)
        if not _may_be_text(series) or not (is_text or series.dtype == nw.Categorical):
            continue
        values = series.drop_nulls().unique().to_list()
        number = {one: number_in_text(one) if isinstance(one, str) else _as_double(one) for one in values}
        if None not in number.values():
            values = [number.get(text) for text in series.to_list()]
            read[name] = nw.new_series(name, values, nw.Float64, backend=series.implementation)
    return _with_columns(frame, read)


def _as_double(value: Any) -> float | None:
    """Return a number or a truth as a double; None for anything else."""
    return float(value) if _kind(value) in ("boolean", "float64") else None


def _holds_dates(series: Any) -> bool:
    if _holds_objects(series):
        return (
            _kind(next(iter(series.to_native().dropna()), None)) == _DATES
            and _infer_type(series.to_native()).dtype.kind == "M"
        )
    return _has_type_of_dates(series)


def _has_type_of_dates(series: Any) -> bool:
    import narwhals as nw

    kind = series.dtype
    return not kind.is_numeric() and (kind in (nw.Date, nw.Datetime) or bool(_zone_of(series)))


def _zone_of(series: Any) -> str:
    """Return the name of the time zone of a column; empty where it has none."""
    kind = getattr(series.to_native(), "dtype", None)  # narwhals does not read all zones of pandas
    in_pandas = getattr(kind, "tz", None) or getattr(getattr(kind, "pyarrow_dtype", None), "tz", None)
    return zone_name(in_pandas or getattr(series.dtype, "time_zone", None))


def _days(series: Any) -> Any:
    """Return a column of dates as days; times are floored to microseconds."""
    import narwhals as nw

    if series.implementation.is_pandas() and _zone_of(series):
        series = nw.from_native(series.to_native().dt.tz_convert("UTC"), series_only=True)
    moments = series.cast(nw.Datetime("us")) if series.dtype == nw.Date else series
    days = (moments.dt.timestamp("us") / 1).to_numpy() / MICROSECONDS  # polars multiplies by 1 / n, and a bit is lost
    return nw.new_series(series.name, days, nw.Float64, backend=series.implementation)


def _may_be_text(series: Any) -> bool:
    """Return whether a column may hold texts; those of a type with an order are what that says."""
    import narwhals as nw

    kind = series.dtype
    has_order = kind == nw.Categorical and stated_order(series.to_native()) is not None
    return bool(kind in (nw.String, nw.Object, nw.Categorical)) and not has_order


def _first_forms(series: Any) -> TextForms:
    """Return what the texts of a column may be by its first thousand values."""
    forms = TextForms()
    forms.update(first_values(series, 1000))
    return forms


def first_values(series: Any, count: int) -> list[Any]:
    """Return the first values of a column that are not missing, without a look at all rows where few suffice."""
    first: list[Any] = series.head(2 * count).drop_nulls().head(count).to_list()
    return first if len(first) == count else series.drop_nulls().head(count).to_list()


def missing_in(X: Any, names: Sequence[str] | None, columns: Sequence[str] | None = None) -> dict[str, Bools]:
    """Return which rows lack a value, for each column that lacks some: by `names` of a frame, or all of an array.

    IN: columns, names of the columns of an array.
    """
    if is_frame(X):
        series = _columns(X)
        lacking = {name: _lacks(series[name]) for name in (series if names is None else names) if name in series}
        return {name: lacks for name, lacks in lacking.items() if lacks.any()}
    try:
        table = as_float_table(X)
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = np.isfinite(np.sum(table, dtype=np.float64))  # then nothing is missing
    except DataError:  # which is told later
        return {}
    gaps = [] if is_finite else np.flatnonzero(np.isnan(table).any(axis=0)).tolist()
    named = columns if columns is not None and len(columns) == table.shape[1] else None
    return {str(named[j]) if named is not None else f"column {j}": np.isnan(table[:, j]) for j in gaps}


def _lacks(series: Any) -> Bools:
    """Return whether each value of a column is missing: null, or NaN."""
    lacks = series.is_null()
    if series.dtype.is_float():  # polars, for one, tells NaN from null
        lacks = lacks | series.is_nan()  # of a null, that is null, too: true or null is true
    return np.asarray(lacks.to_numpy(), dtype=np.bool_)


def _columns(frame: Any, wanted: Collection[str] | None = None) -> dict[str, Any]:
    """Return the columns, or some of them, by their names, as series of narwhals."""
    return {name: _as_read(_plain(series)) for name, series in _series(frame, wanted).items()}


def _series(frame: Any, wanted: Collection[str] | None = None) -> dict[str, Any]:
    """Return the columns, or some of them, as they are."""
    import narwhals as nw

    table, read = nw.from_native(frame, eager_only=True), None if wanted is None else set(wanted)
    labels = zip(column_names(frame), table.columns, strict=True)
    return {name: table.get_column(label) for name, label in labels if read is None or name in read}


def column_series(frame: Any, name: str) -> Any:
    """Return one column as rules read it, as a series of narwhals; see `_as_read`."""
    import narwhals as nw

    return _as_read(nw.from_native(column_values(frame, name), series_only=True))


def _plain(series: Any) -> Any:
    """Return a column of pandas with a value in each row, sparse ones filled, and of Arrow in a type of `_known_type`.

    Dictionaries of Arrow in pandas are their values, as they have no methods of Categoricals.
    """
    import narwhals as nw

    native = series.to_native()
    if series.implementation.is_pyarrow():
        return nw.from_native(_in_known_type(native), series_only=True)
    kind: Any = getattr(native, "dtype", None)
    if type(kind).__name__ == "SparseDtype":
        return nw.from_native(native.sparse.to_dense(), series_only=True)
    given = getattr(kind, "pyarrow_dtype", None)
    if given is None:
        return series
    if _is_of_pandas(getattr(given, "value_type", given)):
        in_order = _in_known_type(native.array.__arrow_array__())
        return nw.from_native(in_order.set_axis(native.index), series_only=True)
    known = _known_type(getattr(given, "value_type", given) if series.dtype == nw.Categorical else given)
    return series if known == given else nw.from_native(native.astype(type(kind)(known)), series_only=True)


def _in_known_type(column: Any) -> Any:
    """Return a column of Arrow in a type of `_known_type`, without runs, bands and periods as those of pandas."""
    import pyarrow as pa
    from pyarrow.compute import run_end_decode

    kind = column.type
    if pa.types.is_run_end_encoded(kind):
        return _in_known_type(run_end_decode(column))
    if pa.types.is_string_view(kind):  # older versions of Arrow cast none of these
        return pa.chunked_array([column.to_pylist()], pa.large_string())
    if _is_of_pandas(getattr(kind, "value_type", None)):
        return _in_known_type(pa.chunked_array([part.dictionary.take(part.indices) for part in column.chunks]))
    if _is_of_pandas(kind):
        return column.to_pandas()
    return column if _known_type(kind) == kind else column.cast(_known_type(kind))


def _is_of_pandas(kind: Any) -> bool:
    """Return whether a type of Arrow stands for bands or periods of pandas."""
    return getattr(kind, "extension_name", "").startswith("pandas.")


def _known_type(kind: Any) -> Any:
    """Return a type of Arrow that narwhals knows, for values of another one.

    A dictionary is a way to store values, whose type says what they are; it is kept for words alone.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        known = _known_type(kind.value_type)
        is_value = pa.types.is_temporal(known) or pa.types.is_primitive(known)
        return known if is_value or pa.types.is_decimal(known) else kind
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_date64(kind):
        return pa.date32()
    return pa.float64() if pa.types.is_decimal256(kind) else kind


def _as_read(series: Any) -> Any:
    """Return a column of pandas as rules read it: bands and weeks as texts in their order, years as numbers.

    Months and quarters are texts, which are read as dates. Periods of days, or shorter ones, are the dates at which
    they begin. So is a Categorical of dates a column of dates; one of bands, or of values of another type, is one of
    their texts.
    """
    import narwhals as nw

    if not series.implementation.is_pandas():
        return series
    native = series.to_native()
    kind: Any = native.dtype
    categories = native.cat.categories if hasattr(kind, "categories") else None
    if categories is None and not (_has_order(kind) or (_holds_objects(series) and _are_in_order(native))):
        return series
    if categories is None:
        read = _in_their_order(native)
    elif categories.dtype.kind in "mM" or all(isinstance(one, (date, Decimal)) for one in categories):
        read = native.astype(categories.dtype)
    elif _has_order(categories.dtype) and not kind.ordered:
        read = _in_their_order(native.astype(categories.dtype))
    else:
        read = _with_texts(native, categories)
    return series if read is native else nw.from_native(read, series_only=True)


def _holds_objects(series: Any) -> bool:
    """Return whether a column of pandas holds objects that are no texts; only of objects narwhals looks at values."""
    import narwhals as nw

    may = getattr(getattr(series.to_native(), "dtype", None), "kind", "") == "O"
    return may and bool(series.implementation.is_pandas() and series.dtype == nw.Object)


def _has_order(kind: Any) -> bool:
    return type(kind).__name__ in ("IntervalDtype", "PeriodDtype")


def _are_in_order(objects: Any) -> bool:
    """Return whether all objects of a column are bands, or periods of one length."""
    values = objects.dropna()
    first = next(iter(values), None)
    if type(first).__name__ not in ("Interval", "Period"):
        return False
    return all(type(one) is type(first) and getattr(one, "freq", 0) == getattr(first, "freq", 0) for one in values)


def _in_their_order(bands: Any) -> Any:
    """Return bands or weeks of pandas as an ordered Categorical of texts, or periods as years, texts or dates."""
    import pandas as pd

    periods: Any = bands if hasattr(bands.dtype, "freq") else None
    if periods is None and type(next(iter(bands.dropna()), None)).__name__ == "Period":
        periods = pd.Series(pd.PeriodIndex(bands), index=bands.index, name=bands.name)
    length = "" if periods is None else type(periods.dtype.freq).__name__
    if length == "YearEnd":
        return periods.dt.year.where(periods.notna())
    if length in ("QuarterEnd", "MonthEnd"):
        return periods.astype(str).where(periods.notna(), None)
    if length not in ("", "Week"):
        return periods.dt.to_timestamp()
    codes, values = pd.factorize(bands if periods is None else periods)
    order = sorted(range(len(values)), key=values.__getitem__)
    place = np.array([*np.argsort(order), -1])
    return _categorical(place[codes], [values[i] for i in order], bands, ordered=True)


def _with_texts(native: Any, categories: Any) -> Any:
    """Return a Categorical with texts for its categories, unless these are texts, numbers and truths."""
    if all(isinstance(one, (str, int, float, np.integer, np.floating, np.bool_)) for one in categories):
        return native
    return _categorical(native.cat.codes.to_numpy(), categories, native, ordered=native.cat.ordered)


def _categorical(codes: Array, values: Iterable[Any], like: Any, *, ordered: bool) -> Any:
    """Return a Categorical of pandas of texts of values; values of the same text are one."""
    import pandas as pd

    texts = [str(value) for value in values]
    known = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    places = np.array([*(known[text] for text in texts), -1])[codes]
    made = pd.Categorical.from_codes(places, categories=[*known], ordered=ordered)
    return pd.Series(made, index=like.index, name=like.name)


def _typed_columns(frame: Any, wanted: Collection[str] | None = None) -> dict[str, Any]:
    """Return the columns, or some, dates as days; of pandas' columns of objects, those of one type get that type."""
    import narwhals as nw

    columns = _columns(frame, wanted)
    for name, series in columns.items():
        if _holds_objects(series):
            columns[name] = nw.from_native(_infer_type(series.to_native()), series_only=True)
        if _has_type_of_dates(columns[name]):
            columns[name] = _days(columns[name])
    return columns


def _infer_type(objects: Any) -> Any:
    """Return a series of objects with the type that all its values have, if they are numbers, truths or dates."""
    values = objects.dropna()
    kind = _kind(next(iter(values), None))
    if not kind or any(_kind(value) != kind for value in values):
        return objects
    try:
        return objects.where(objects.notna(), None).astype(kind)
    except (OverflowError, ValueError):  # a whole number beyond the largest double, or a date beyond those of pandas
        return objects


_DATES = "datetime64[us]"


def _kind(value: Any) -> str:
    """Return the type of pandas for a truth, a number or a date; an empty text for anything else."""
    if isinstance(value, date) and getattr(value, "tzinfo", None) is None:
        return _DATES
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    return "float64" if isinstance(value, (Decimal, int, float, np.integer, np.floating)) else ""


def without_columns(frame: Any, names: Collection[str]) -> Any:
    """Return a frame without some of its columns; names that it does not have are passed over."""
    import narwhals as nw

    kept = [j for j, name in enumerate(column_names(frame)) if name not in names]
    return nw.from_native(frame, eager_only=True)[:, kept].to_native()


def in_order_of(frame: Any, names: Sequence[str]) -> Any:
    """Return some columns of a frame, in the order of their names."""
    import narwhals as nw

    present = list(column_names(frame))
    return nw.from_native(frame, eager_only=True)[:, [present.index(name) for name in names]].to_native()


def rows_of_table(X: Any, rows: Indices) -> Any:
    """Return some rows of a data frame or of an array-like, each as often as it is asked for."""
    if not is_frame(X):
        return np.asarray(X)[rows]
    import narwhals as nw

    return nw.from_native(X, eager_only=True)[rows].to_native()


def boolean_columns(X: Any, wanted: Collection[str] | None = None) -> list[str]:
    """Return the names of the columns of booleans of a data frame, or of some; none for anything else."""
    if not is_frame(X):
        return []
    import narwhals as nw

    return [name for name, one in _typed_columns(X, wanted).items() if one.dtype == nw.Boolean]


def types_in(X: Any) -> dict[str, str]:
    """Return the type of each column of a frame, as narwhals calls it; that of an array by the name ""."""
    if not is_frame(X):
        return {"": str(X.dtype)} if isinstance(X, np.ndarray) else {}
    return {name: str(series.dtype) for name, series in _series(X).items()}


def rounded_columns(X: Any, columns: Sequence[str]) -> list[str]:
    """Return the columns of whole numbers with values beyond 2**53, of which doubles do not hold every one."""
    if not is_frame(X):
        whole = np.asarray(X)
        if whole.dtype.kind not in "iu" or whole.ndim != 2:
            return []
        kinds = [whole[:, j] for j in range(min(whole.shape[1], len(columns)))]
    else:
        series = _columns(X, columns)
        columns = [name for name in columns if name in series and series[name].dtype.is_integer()]
        kinds = [series[name].drop_nulls() for name in columns]
    largest = [max(int(values.max() or 0), -int(values.min() or 0)) if len(values) else 0 for values in kinds]
    return [name for name, most in zip(columns, largest, strict=False) if most > 1 << 53]


def column_values(frame: Any, name: str) -> Any:
    """Return one column as a series of the frame's library."""
    refuse_unknown_columns([name], column_names(frame))
    return _plain(_series(frame, [name])[name]).to_native()


def weights_in(X: Any, sample_weight: Any) -> Any:
    """Return weights, where they are the name of a column the values in that column of a frame."""
    refusal = "sample_weight={!r} names a column, but X is not a data frame; give numbers".format
    return _values_in(X, sample_weight, refusal)


def find_labels_in(X: Any, labels: Any) -> Any:
    """Return labels, where they are the name of a column the values in that column of a frame."""
    refusal = "{} names a column of labels, but X is not a data frame with named columns".format
    return _values_in(X, labels, lambda name: refusal(show_value(name)))


def _values_in(X: Any, given: Any, refusal: Callable[[str], str]) -> Any:
    """Return what is given, where it is the name of a column the values there; DataError if `X` has no such column."""
    if not isinstance(given, str):
        return given
    if not is_frame(X):
        raise DataError(refusal(given))
    return column_values(X, given)


def refuse_other_index(X: Any, **series: Any) -> None:
    """Raise a DataError if a series, or a frame, of pandas has another index than the frame of pandas with the rows."""
    if not is_frame(X):
        return
    from narwhals import dependencies

    for name, values in series.items():
        is_pandas = dependencies.is_pandas_series(values) or dependencies.is_pandas_dataframe(values)
        if not (dependencies.is_pandas_dataframe(X) and is_pandas):
            continue
        if len(values) == len(X) and not values.index.equals(X.index):
            raise DataError(
                f"the index of {name} is not that of X, so it is not known which belongs to which row; "
                f"align them by index: {name}.reindex(X.index), or by position: {name}.to_numpy()"
            )


def refuse_other_names(X: Any, **given: Any) -> None:
    """Raise a DataError if labels or weights are the name of a column of a frame, but no text; or if both are one."""
    texts = [value for value in given.values() if isinstance(value, str)]
    if len(set(texts)) < len(texts):
        raise DataError(f"column {show_value(texts[0])} cannot hold labels and weights, too; leave sample_weight out")
    for what, value in given.items():
        if isinstance(value, (Integral, tuple)) and is_frame(X) and str(value) in column_names(X):
            text = f"the name of a column as text: write {str(value)!r} for column {value}"
            raise DataError(f"{what} must be one for each row, or {text}")


def label_values(labels: Any) -> Any:
    """Return arrays, lists and tuples of labels as they are, and series and arrays of other libraries as numpy arrays.

    A data frame of one column is that column.
    Whole numbers of a series, of which some are missing, become a list: as floats, large ones would be rounded. What
    has an order of its own, as `stated_order` tells, keeps it.
    """
    if isinstance(labels, (np.ndarray, list, tuple)):
        return labels[:, 0] if isinstance(labels, np.ndarray) and labels.shape[1:] == (1,) else labels
    import narwhals as nw

    if nw.dependencies.is_into_dataframe(labels) and len(column_names(labels)) == 1:
        labels = column_values(labels, column_names(labels)[0])
    if (order := stated_order(labels)) is not None:
        return OrderedLabels.of(labels, order)
    if not nw.dependencies.is_into_series(labels):
        return np.asarray(labels) if hasattr(labels, "__array__") else labels
    series = nw.from_native(labels, series_only=True)
    return series.to_list() if series.dtype.is_integer() and series.is_null().any() else series.to_numpy()


class OrderedLabels(np.ndarray):
    """Labels whose type has an order, which some of the rows keep."""

    stated_order: Sequence[Hashable] | None = None

    @classmethod
    def of(cls, labels: Any, order: Sequence[Hashable]) -> OrderedLabels:
        """Return labels with their order."""
        found = np.asarray(labels).astype(object).view(cls)
        found.stated_order = order
        return found

    def __array_finalize__(self, other: Any) -> None:
        self.stated_order = getattr(other, "stated_order", None)


def stated_order(labels: Any) -> Sequence[Hashable] | None:
    """Return the values of labels in the order of their type; None where that has none.

    An ordered Categorical of pandas has one, an Enum of polars, and an ordered dictionary of Arrow.
    """
    if isinstance(labels, OrderedLabels):
        return labels.stated_order
    dtype, type_of_arrow = getattr(labels, "dtype", None), getattr(labels, "type", None)
    if getattr(dtype, "ordered", None) is True:
        return list(dtype.categories)  # type: ignore[union-attr]
    if type(dtype).__name__ == "Enum" and hasattr(dtype, "categories"):
        return list(dtype.categories)  # type: ignore[union-attr]
    if getattr(type_of_arrow, "ordered", None) is True:
        parts = labels.unify_dictionaries().chunks if hasattr(labels, "chunks") else [labels]
        return parts[0].dictionary.to_pylist() if parts else []
    return None


def names_array(names: Sequence[Hashable]) -> Array:
    """Return the names as an array: of numbers or text if all names have one such type, of objects otherwise."""
    kinds = {type(name) for name in names}
    if len(kinds) == 1 and kinds <= {int, float, bool, str}:
        array = np.array(names)
        if array.dtype.kind != "O":  # a whole number may be too large for any type of numpy
            return array
    return _box_objects(names)


def name_as_text(name: Hashable) -> str:
    """Return the name of a cluster as files and SQL have it: a truth is true or false, in small letters."""
    return str(name).lower() if isinstance(name, bool) else str(name)


def names_or_none(names: Sequence[Hashable]) -> Array:
    """Return the names as an array with one more entry, for no name: -1 after numbers, None after anything else."""
    known = names_array(names)
    if known.dtype.kind in "if":
        return np.append(known, known.dtype.type(-1))
    return _box_objects([*names, None])


def refuse_unknown_columns(wanted: Iterable[str], columns: Sequence[str], *, where: str = "the table") -> None:
    """Raise a DataError if wanted columns are not in the table; the message suggests the most similar names."""
    present = set(columns)
    unknown = [name for name in wanted if name not in present]
    if unknown:
        listing = list_words([_with_nearest(name, columns) for name in unknown])
        has = f"its columns are {list_words(list(columns))}" if columns else "it has none"
        raise DataError(f"no column{'s' * (len(unknown) > 1)} {listing} in {where}; {has}")


def row_by_names(row: Mapping[Any, Any], needed: Iterable[str], what: str) -> dict[str, Any]:
    """Return a row, a mapping from column to value, by the names of its columns as text.

    Raises
    ------
    DataError
        If it lacks a column that is needed: a missing value is None.
    """
    found = {str(name): value for name, value in row.items()}
    try:
        refuse_unknown_columns(needed, [*found], where=what)
    except DataError as error:
        raise DataError(f"{error}; a missing value is None") from None
    return found


def nearest_name(name: str, names: Sequence[str]) -> str | None:
    """Return the one of `names` that is most similar to a misspelt name, or None if none is similar."""
    similar = get_close_matches(name, names, n=1, cutoff=_SIMILARITY)
    return similar[0] if similar else None


def _box_objects(values: Sequence[Any]) -> Array:
    """Return an array of objects; np.array would make a table of a list of tuples."""
    boxed = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        boxed[i] = value
    return boxed


def _with_nearest(name: str, columns: Sequence[str]) -> str:
    nearest = nearest_name(str(name), columns)  # names of pandas may be numbers
    return show_value(name) if nearest is None else f"{show_value(name)} (did you mean {show_value(nearest)}?)"


def validated_rows(
    estimator: Any,
    X: Any,
    *,
    reset: bool = False,
    at_least: int = 1,
    order: Literal["C"] | None = None,
    n_jobs: int | None = -1,
) -> Array:
    """Return the checked rows of an estimator's `X`, float32 or float64.

    Arrays of these types are copied only if `order` asks for another memory order; the last digits of means and of
    products by BLAS depend on the order. With `reset` the number and the names of the columns are stored on the
    estimator, without it they are compared with the stored ones, as in scikit-learn.
    """
    from sklearn.utils.validation import check_array, validate_data

    types = [np.float64, np.float32]
    checks: dict[str, Any] = {
        "dtype": types,
        "order": order,
        "ensure_all_finite": False,
        "ensure_min_samples": at_least,
    }
    X = as_rows_here(X)
    try:
        if is_frame(X):
            validate_data(estimator, X, reset=reset, skip_check_array=True)
            rows: Array = check_array(as_matrix(X), estimator=estimator, **checks)
        else:
            rows = validate_data(estimator, X, reset=reset, **checks)
    except OverflowError as error:
        raise DataError(f"X must be numeric: {cut_off(str(error))}") from None
    refuse_not_finite(rows, getattr(estimator, "feature_names_in_", None), n_jobs=n_jobs)
    return rows
