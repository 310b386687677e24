"""Values of JSON as typed records, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest

from boxwood._types import Amount, AnyAmount, Share, Size
from boxwood.explanation._typed import Misfit, as_type, plain_values
from tests.scale import each


class Inner(NamedTuple):
    share: Share
    names: tuple[Hashable | None, ...] = ()


@dataclass(frozen=True)
class Other:
    share: Share
    pair: tuple[int, str]


class Outer(TypedDict):
    text: str
    truth: bool
    number: float
    word: Annotated[str, Literal["high", "low"]]
    price: AnyAmount | None
    size: Size
    deviation: Amount
    each: dict[str, Inner]
    either: Inner | Other
    more: NotRequired[Any]


ENTRIES = {
    "text": "a",
    "truth": True,
    "number": 3,
    "word": "low",
    "price": "inf",
    "size": 3,
    "deviation": 3,
    "each": {"a b": {"share": 1, "names": [1, 2.5, "c", False, None]}},
    "either": {"share": 0.5, "pair": [2, "b"]},
}


def changed(path, value):
    """Return the entries with one value replaced."""
    document = json.loads(json.dumps(ENTRIES))
    *outer, key = path
    inside = document
    for step in outer:
        inside = inside[step]
    inside[key] = value
    return document


def test_records_are_read_by_their_types():
    found = as_type(Outer, ENTRIES | {"unknown": 1})
    assert "unknown" not in found
    assert found["price"] == math.inf
    assert found["each"] == {"a b": Inner(1.0, (1, 2.5, "c", False, None))}
    assert found["either"] == Other(0.5, (2, "b"))
    assert [type(found[name]) for name in ("number", "size", "deviation")] == [float, int, float]
    assert as_type(Outer, changed(["either"], {"share": 1, "names": []}))["either"] == Inner(1.0)
    assert as_type(Outer, changed(["price"], None))["price"] is None


@each(
    "path, value, said",
    [
        (["text"], 5, "text: expected text, got 5"),
        (["text"], "\ud800", r"text: expected text, got '\ud800'"),
        (["truth"], 1, "truth: expected true or false, got 1"),
        (["number"], True, "number: expected a number, got True"),
        (["number"], math.nan, "number: expected a number, got nan"),
        (["word"], "lower", "word: expected one of high, low, got 'lower'"),
        (["price"], math.inf, 'price: expected a number of at least 0 or "inf", got inf'),
        (["size"], "inf", "size: expected a number of at least 0, got 'inf'"),
        (["deviation"], -1e-12, "deviation: expected a number of at least 0, got -1e-12"),
        (["each"], [], "each: expected an object, got []"),
        (["each", "a b", "share"], 1.1, "each['a b'].share: expected a number from 0 to 1, got 1.1"),
        (["each", "a b", "names", 2], [], "each['a b'].names[2]: expected text or a number, got []"),
        (["each", "a b"], {"share": 1}, "each['a b'] lacks 'names'"),
        (["either", "pair"], [1], "either.pair: expected a list of 2, got [1]"),
        (
            ["either", "pair", 0],
            2**63,
            "either.pair[0]: expected a whole number of at least 0, got 9223372036854775808",
        ),
    ],
)
def test_a_misfit_is_named_by_its_place(path, value, said):
    with pytest.raises(Misfit) as caught:
        as_type(Outer, changed(path, value))
    assert str(caught.value) == said


def test_what_lacks_is_named():
    with pytest.raises(Misfit, match=r"^it lacks 'text', 'truth'$"):
        as_type(Outer, {name: value for name, value in ENTRIES.items() if name not in ("text", "truth")})


def test_plain_is_the_way_back():
    found = as_type(Outer, ENTRIES)
    assert plain_values(found | {"either": None}) == ENTRIES | {"either": None}
    json.dumps(plain_values(found["each"]), allow_nan=False)
