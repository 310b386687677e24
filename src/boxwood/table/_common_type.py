"""`common_type`: the type of a column that files have with different types, and casts that lose nothing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from boxwood.batches.batches import read_numbers

_UNITS = ("s", "ms", "us", "ns")
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}  # of the whole numbers of so many bits
_MOST_DIGITS = 38  # of decimals of DuckDB


def common_type(types: Iterable[Any]) -> Any:
    """Return the type of Arrow that says what these types say; None if there is none.

    A double stands for whole numbers and decimals beside doubles, and microseconds for nanoseconds beside coarser
    units, if the values allow it: `exact_cast` refuses others.
    """
    return reduce(lambda a, b: None if a is None else _common(a, b), types)


def exact_cast(array: Any, type: Any) -> Any:
    """Return an array as one of another type; raise pyarrow's ArrowInvalid if a value would become another one."""
    import pyarrow as pa

    if array.type == type:
        return array
    if not (pa.types.is_decimal(array.type) and pa.types.is_floating(type)):
        return array.cast(type)  # pyarrow says by itself if a value would lose digits
    found = pa.array(
        read_numbers(array), type, from_pandas=True
    )  # its own casts of decimals are not the nearest doubles
    if not found.cast(array.type).equals(array):
        raise pa.ArrowInvalid(f"{array.type} has more digits than {type}")
    return found


def _common(a: Any, b: Any) -> Any:
    from pyarrow import types as are

    if a == b or are.is_null(b):
        return a
    if are.is_null(a):
        return b
    if are.is_dictionary(a) or are.is_dictionary(b):
        return _common(*(each.value_type if are.is_dictionary(each) else each for each in (a, b)))
    return next((join(a, b) for is_one, join in _JOINS if is_one(a) and is_one(b)), None)


def _is_text(type: Any) -> bool:
    from pyarrow import types as are

    return bool(are.is_string(type) or are.is_large_string(type) or are.is_string_view(type))


def _is_binary(type: Any) -> bool:
    from pyarrow import types as are

    kinds = are.is_binary, are.is_large_binary, are.is_binary_view, are.is_fixed_size_binary
    return any(is_one(type) for is_one in kinds)


def _is_number(type: Any) -> bool:
    from pyarrow import types as are

    return bool(are.is_integer(type) or are.is_floating(type) or are.is_decimal(type))


def _is_list(type: Any) -> bool:
    from pyarrow import types as are

    return bool(are.is_list(type) or are.is_large_list(type))


def _is_day(type: Any) -> bool:
    from pyarrow import types as are

    return bool(are.is_date(type) or are.is_timestamp(type))


def _is_time(type: Any) -> bool:
    from pyarrow import types as are

    return bool(are.is_time(type))


def _number(a: Any, b: Any) -> Any:
    """Return a type of numbers: the wider one of a kind, else doubles beside doubles, else decimals if need be."""
    import pyarrow as pa

    are = pa.types
    if are.is_floating(a) or are.is_floating(b):
        return pa.float64()
    if are.is_integer(a) and are.is_integer(b):
        if are.is_signed_integer(a) == are.is_signed_integer(b):
            return max(a, b, key=lambda each: each.bit_width)
        bits = max(each.bit_width * (1 if are.is_signed_integer(each) else 2) for each in (a, b))
        if bits <= 64:
            return {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[bits]
    sizes = [(each.precision, each.scale) if are.is_decimal(each) else (_DIGITS[each.bit_width], 0) for each in (a, b)]
    scale = max(scale for _, scale in sizes)
    digits = scale + max(precision - scale for precision, scale in sizes)
    return pa.decimal128(digits, scale) if digits <= _MOST_DIGITS else None


def _day(a: Any, b: Any) -> Any:
    """Return a type of dates and moments; a moment with a time zone is none without."""
    import pyarrow as pa

    days = [pa.types.is_date(each) for each in (a, b)]
    if all(days):
        return pa.date32()
    zones = {None if is_day else each.tz for each, is_day in zip((a, b), days, strict=True)}
    if None in zones and len(zones) > 1:
        return None
    units = [each.unit for each, is_day in zip((a, b), days, strict=True) if not is_day]
    return pa.timestamp(_unit(units), zones.pop() if len(zones) == 1 else "UTC")


def _time(a: Any, b: Any) -> Any:
    import pyarrow as pa

    unit = _unit([a.unit, b.unit])
    return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)


def _unit(units: list[str]) -> str:
    """Return the finest of the units; of several not nanoseconds, which end in 2262, and 9999-12-31 is a usual date."""
    finest = max(units, key=_UNITS.index)
    return finest if len(set(units)) == 1 else min(finest, "us", key=_UNITS.index)


def _text(a: Any, b: Any) -> Any:
    import pyarrow as pa

    return pa.large_string() if any(map(pa.types.is_large_string, (a, b))) else pa.string()


def _binary(a: Any, b: Any) -> Any:
    import pyarrow as pa

    return pa.large_binary() if any(map(pa.types.is_large_binary, (a, b))) else pa.binary()


def _list(a: Any, b: Any) -> Any:
    """Return a type of lists of values of one type; of others, casts do not say what they lose."""
    import pyarrow as pa

    if a.value_type != b.value_type:
        return None
    return (pa.large_list if any(map(pa.types.is_large_list, (a, b))) else pa.list_)(a.value_type)


_JOINS = (
    (_is_text, _text),
    (_is_binary, _binary),
    (_is_number, _number),
    (_is_day, _day),
    (_is_time, _time),
    (_is_list, _list),
)
"""Of each kind of types: whether a type is one, and what makes one of two."""
