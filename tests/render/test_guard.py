"""What a page does not tell of few rows cannot be had by subtraction from what it tells."""

import itertools

import numpy as np
import pytest

from boxwood.render._guard import Guard
from tests.scale import seeds


def possible(text, least, total):
    """Return the counts that a text leaves open."""
    if text.startswith("<"):
        return range(1, least)
    if text.startswith(">"):
        return range(int(text[1:].replace(",", "")) + 1, total + 1)
    if text in "–":
        return range(1, total + 1)
    return (0,) if text == "·" else (int(text.replace(",", "")),)


def open_values(told, least, total):
    """Return for each count of a known total the values that it may have, given the texts of all; by trying all."""
    found = [set() for _ in told]
    for values in itertools.product(*(possible(text, least, total) for text in told)):
        if sum(values) == total:
            for seen, value in zip(found, values, strict=True):
                seen.add(value)
    return found


@pytest.mark.parametrize("least", [2, 3, 5])
def test_few_rows_may_be_any_number_of_few(least):
    covered = 0
    for seed in seeds(40):
        rng = np.random.default_rng([least, seed])
        counts = np.where(rng.random(4) < 0.5, rng.integers(0, least + 2, 4), rng.integers(0, 40, 4))
        guard = Guard(least)
        told, hidden = guard.told(counts), guard.hidden(counts)
        found = open_values(told, least, int(counts.sum()))
        assert all(count in values for count, values in zip(counts.tolist(), found, strict=True)), (counts, told)
        if hidden.cover is not None:
            covered += 1
            for is_few, values in zip(hidden.few, found, strict=True):
                assert not is_few or set(range(1, least)) <= values, (counts, told)
        elif not hidden.few.any():
            assert told == [str(count) for count in counts.tolist()]
    assert covered >= 10


def test_every_line_of_a_table_with_few_rows_has_a_cover():
    for seed in seeds(30):
        rng = np.random.default_rng(seed)
        table = rng.choice([0, 1, 3, 4, 8, 30, 200], (4, 4), p=[0.3, 0.1, 0.1, 0.1, 0.2, 0.1, 0.1]).astype(float)
        told = Guard(5).told_cells(table)
        for line, texts in [*zip(table, told, strict=True), *zip(table.T, zip(*told, strict=True), strict=True)]:
            exact = [text == f"{count:.0f}" or text == "·" for count, text in zip(line, texts, strict=True)]
            assert all(count >= 5 or count == 0 for count, is_exact in zip(line, exact, strict=True) if is_exact)
            hidden = [count for count, is_exact in zip(line, exact, strict=True) if not is_exact]
            assert len(hidden) != 1 or line.astype(bool).sum() == 1, (table, told)


def test_a_table_without_few_rows_is_told_whole():
    assert Guard(5).told_cells(np.array([[12.0, 0.0], [5.0, 1234.0]])) == [["12", "·"], ["5", "1,234"]]
    assert Guard(1).told_cells(np.array([[1.0, 0.0], [2.0, 3.0]])) == [["1", "·"], ["2", "3"]]


def test_shares_tell_no_more_than_counts():
    guard = Guard(5)
    for whole in (5, 9, 10, 37, 200, 3000):
        told = [guard.share(part, whole) for part in range(whole + 1)]
        assert len(set(told[1:5])) == 1
        assert len(set(told[whole - 4 : whole])) == 1
        assert told[0] == "0.0%"
        assert told[whole] == "100.0%"
    assert guard.share(2, 4) == "–"
    assert guard.share(0, 0) == "–"
    assert guard.share(0.3 * 100, 100) == "30.0%"  # 30.000000000000004 rows
    assert Guard(31).share(0.31 * 100, 100) == "31.0%"


def test_words():
    guard = Guard(5)
    assert guard.rows(1) == "fewer than 5 rows"
    assert Guard(1).rows(1) == "1 row"
    assert guard.rows(7, 3) == "over 3 rows"
    assert guard.rows(2.5, weighted=True) == "weight <5"
    assert guard.rows(1234.5, weighted=True) == "weight 1,234"
