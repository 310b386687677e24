"""A file in memory answers what `explain` asks, and other passes by a copy, as the same file does that is scanned."""

import pytest

import boxwood as bw
from boxwood.table.memory import file_in_memory

FILE = "examples/customers.csv"


def test_passes_find_what_those_of_a_scanned_file_do():
    ex = bw.explain(bw.scan(FILE), "segment")
    with file_in_memory(FILE) as held, bw.scan(FILE) as scanned:
        one, other = (ex.evaluate(source, "segment") for source in (held, scanned))
        assert one.agreement == other.agreement == ex.agreement
        assert bw.explain(held, "segment").rules() == ex.rules()  # once more, after a pass


def test_a_method_grows_the_same_tree_on_both():
    with file_in_memory(FILE) as held, bw.scan(FILE) as scanned:
        one, other = (bw.explain(source, "segment", method="imm") for source in (held, scanned))
    assert one.rules() == other.rules()
    assert one.price == pytest.approx(other.price)
