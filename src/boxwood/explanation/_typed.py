"""What JSON holds, read as the types that records declare; what does not fit is refused by its place.

The types are those of the fields of a `NamedTuple`, a dataclass or a `TypedDict`: text, truth, numbers with the `Range`
beside them (see `boxwood._types`), words (`Literal`), names (`Hashable`), None or something else, tuples, dicts,
other records. A field must be there, also one that has a default, unless it is marked `LATER`. What is not a field is
left. `plain_values` is the way back.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable
from functools import cache, reduce
from operator import or_
from types import NoneType
from typing import Annotated, Any, Literal, NoReturn, NotRequired, TypeAlias, get_args, get_origin, get_type_hints

from boxwood._messages import cut_off, show_value
from boxwood._types import LATER, Range

_Read: TypeAlias = Callable[[Any], Any]


class Misfit(ValueError):
    """A value that its type cannot hold; `said` follows its place in a sentence."""

    def __init__(self, said: str, place: str = "") -> None:
        super().__init__((place.removeprefix(".") or "it") + said)
        self.said, self.place = said, place


def as_type(kind: Any, value: Any) -> Any:
    """Return a value of JSON as a type.

    Raises
    ------
    Misfit
        If it is of another type, lacks a field, or holds a number out of range.
    """
    return _reader(kind)(value)


def plain_values(value: Any) -> Any:
    """Return records, tuples and numbers as JSON can hold them: infinity as text.

    A field that is marked `LATER` is left out while it is empty, so that files without it stay as they were.
    """
    if hasattr(value, "_asdict"):
        value = {
            name: each for name, each in value._asdict().items() if each != () or name not in _later(value.__class__)
        }
    if isinstance(value, dict):
        return {name: plain_values(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_values(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


# ------------------------------------------------------------------------------------------------- a reader for a type


@cache
def _reader(kind: Any) -> _Read:
    """Return the function that reads a type, made once for each."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if origin is Annotated:
        if isinstance(inner[1], Range):
            return _numbers(*inner)
        return _reader(inner[0] if inner[1] is LATER else inner[1])
    if origin is Literal:
        return lambda value: value if value in inner else _refuse(f"one of {', '.join(inner)}", value)
    if origin is NotRequired:
        return _reader(inner[0])
    if origin is dict:
        return _by_text(_reader(inner[1]))
    if origin is tuple:
        return _many(_reader(inner[0])) if inner[-1] is ... else _several([_reader(each) for each in inner])
    if NoneType in inner:
        read = _reader(reduce(or_, [each for each in inner if each is not NoneType]))
        return lambda value: None if value is None else read(value)
    return _one_of(inner) if inner else _record(kind)


def _text(value: Any) -> Any:
    try:
        value.encode("utf-8")
    except (AttributeError, UnicodeEncodeError):  # no text, or half of a pair of surrogates, which cannot be written
        _refuse("text", value)
    return value


def _name(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    is_finite = isinstance(value, (int, float)) and abs(value) <= sys.float_info.max
    return value if is_finite else _refuse("text or a number", value)


def _numbers(kind: Any, allowed: Range) -> _Read:
    """Read numbers; a type without `int` gives floats."""
    low, high, words, or_infinity = allowed
    types, as_it_is = (int,) if kind is int else (int, float), int in (kind, *get_args(kind))

    def read(value: Any) -> Any:
        if type(value) in types and low <= value <= high:
            return value if as_it_is else float(value)
        return math.inf if or_infinity and value == "inf" else _refuse(words, value)

    return read


def _by_text(read: _Read) -> _Read:
    return lambda value: {
        _text(name): _inside(f"[{cut_off(repr(name), 40)}]", read, each) for name, each in _object(value).items()
    }


def _many(read: _Read) -> _Read:
    return lambda value: tuple([_inside(i, read, each) for i, each in enumerate(_list(value))])


def _several(readers: list[_Read]) -> _Read:
    def read(value: Any) -> tuple[Any, ...]:
        if len(_list(value)) != len(readers):
            _refuse(f"a list of {len(readers)}", value)
        return tuple([_inside(i, *each) for i, each in enumerate(zip(readers, value, strict=True))])

    return read


def _one_of(kinds: tuple[Any, ...]) -> _Read:
    """Read one of several records: that of which the value has most fields, the first of equals."""
    fields = {kind: get_type_hints(kind).keys() for kind in kinds}
    return lambda value: _reader(max(kinds, key=lambda kind: len(fields[kind] & _object(value).keys())))(value)


def _record(kind: Any) -> _Read:
    hints = get_type_hints(kind, include_extras=True)
    fields = [(name, f".{name}", _reader(hint)) for name, hint in hints.items()]
    needed = {name for name, hint in hints.items() if get_origin(hint) is not NotRequired} - _later(kind)

    def read(value: Any) -> Any:
        if not needed <= _object(value).keys():
            raise Misfit(f" lacks {', '.join(repr(name) for name in hints if name in needed and name not in value)}")
        return kind(**{name: _inside(step, read, value[name]) for name, step, read in fields if name in value})

    return read


@cache
def _later(kind: Any) -> set[str]:
    """Return the fields of a record that are marked `LATER`."""
    return {name for name, hint in get_type_hints(kind, include_extras=True).items() if LATER in get_args(hint)}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else _refuse("a list", value)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else _refuse("an object", value)


def _inside(step: str | int, read: _Read, value: Any) -> Any:
    """Return a value that was read; a misfit inside names the step to it, a number for an entry of a list."""
    try:
        return read(value)
    except Misfit as error:
        raise Misfit(error.said, (step if isinstance(step, str) else f"[{step}]") + error.place) from None


def _refuse(expected: str, value: Any) -> NoReturn:
    raise Misfit(f": expected {expected}, got {show_value(value)}")


_SIMPLE: dict[Any, _Read] = {
    Any: lambda value: value,
    Hashable: _name,
    bool: lambda value: value if isinstance(value, bool) else _refuse("true or false", value),
    float: _numbers(float, Range(-sys.float_info.max, sys.float_info.max, "a number")),
    int: _numbers(int, Range(0, 2**63 - 1, "a whole number of at least 0")),
    str: _text,
}
