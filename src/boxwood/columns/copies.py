"""Columns that say what another one says: where clusters are made, one of them is enough, and names say it once.

`codes_of_words`: numbers each of which goes with one word of another column, as 0, 1 and 2 with alive, dead and lost.
People say the word. Words that go with other words like that are codes, too; those that come first stay.

`copies_among`: numbers in the same order, or the opposite one, in any units and on any curve, as a wage and its
logarithm, or how deep ice lies and how old it is. So are corrected numbers, nearly all of which are those of before.
Frequent values, as 0 of most rows, make no numbers alike: the others must be. Of such columns the one that has a value
in most rows stays, then the plainest one: of whole numbers, or of fewer digits, or of a shorter name, as logarithms and
squares have longer ones. But it has not much fewer values: ranges of numbers are plainer than these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boxwood._types import Bools, Floats
from boxwood.batches.sample import some_rows
from boxwood.columns.seen import SeenValues
from boxwood.reference.entry import LOOKED_AT, SAME
from boxwood.reference.ranks import STEPS, nearness_of_ranks

FEWEST = 20  # rows: fewer go together by chance
BANDS = 4  # times fewer values has a column at least that is ranges of another one
CORRECTED = 0.9  # of the rows, at least, have the number of before


def codes_of_words(columns: Sequence[SeenValues]) -> dict[str, str]:
    """Return columns of codes, by the columns of words that they stand for."""
    found: dict[str, str] = {}
    for i, words in enumerate(columns):
        if words.is_word and words.name not in found:
            others = (one for j, one in enumerate(columns) if one.name not in found and (j > i or not one.is_word))
            found |= {one.name: words.name for one in others if _are_codes(one, words)}
    return found


def _are_codes(one: SeenValues, words: SeenValues) -> bool:
    """Return whether each value goes with one word, and no word with two, in all rows that have both."""
    n_words = len(words.texts)
    is_code = one.kind == "number" and one.is_whole and 0 < one.most - one.least < 2 * n_words
    if not (one.is_word or is_code) or words.n_known < one.n_known:
        return False
    both = np.flatnonzero(words.has_value & one.has_value)
    for rows in (both[:1000], both):  # most columns differ soon
        n_each = [len(np.unique(x.values[rows])) for x in (one, words)]
        if n_each[0] != n_each[1] or len(rows) < max(FEWEST, 2 * n_each[0]) or n_each[0] < 2:
            return False
        if len(np.unique(np.column_stack([one.values[rows], words.values[rows]]), axis=0)) > n_each[0]:
            return False
    return True


def copies_among(columns: Sequence[SeenValues]) -> dict[str, str]:
    """Return columns of numbers that are like others, by these; some rows of long tables tell."""
    columns = [one for one in columns if not one.is_word and one.kind == "number"]
    if len(columns) < 2 or len(columns[0].values) < FEWEST:
        return {}
    rows = np.column_stack([one.values for one in columns])
    rows = rows[some_rows(rows, LOOKED_AT)]
    same, left, found = _are_alike(rows), {*range(len(columns))}, dict[str, str]()
    for i in range(len(columns)):
        group = [j for j in np.flatnonzero(same[i]).tolist() if j in left]
        if i in left and len(group) > 1:
            stays = columns[_plainest(group, rows, columns)].name
            found |= {columns[j].name: stays for j in group if columns[j].name != stays}
            left -= {*group}
    return found


def _are_alike(rows: Floats) -> Bools:
    """Return which columns are alike, shape (d, d); each is like itself."""
    d = rows.shape[1]
    same, counts = nearness_of_ranks(rows) >= SAME, [len(np.unique(x[np.isfinite(x)])) for x in rows.T]
    for i in range(d):
        same[i, i] = True
        for j in np.flatnonzero(same[i, :i]).tolist():
            same[i, j] = same[j, i] = _agree_in_pairs(rows[:, i], rows[:, j])
        many = [j for j in range(i) if counts[j] > STEPS] if counts[i] > STEPS else []
        for j in np.array(many, dtype=np.intp)[_share_equal(rows[:, [i]], rows[:, many]) >= CORRECTED].tolist():
            same[i, j] = same[j, i] = True
    return same


def _agree_in_pairs(x: Floats, y: Floats) -> bool:
    """Return whether the ranks of two columns agree if each pair of values counts once."""
    pairs = np.unique(np.nan_to_num(np.column_stack([x, y]), nan=np.inf), axis=0)
    return bool(nearness_of_ranks(pairs)[0, 1] >= SAME)


def _share_equal(x: Floats, others: Floats) -> Floats:
    """Return the share of the rows with equal numbers, among those whose number is not the most frequent one."""
    rest = x[:, 0] != _most_frequent(x[:, 0])
    return np.asarray((x == others)[rest].mean(axis=0))


def _most_frequent(x: Floats) -> float:
    values, counts = np.unique(x[np.isfinite(x)], return_counts=True)
    return float(values[np.argmax(counts)])


def _plainest(group: Sequence[int], rows: Floats, columns: Sequence[SeenValues]) -> int:
    from boxwood.grow.refinement.plainer import count_digits  # here, as few tables have copies

    n_values = {j: len(np.unique(rows[:, j])) for j in group}
    fine = [j for j in group if BANDS * n_values[j] >= max(n_values.values())]

    def rank(j: int) -> tuple[int, bool, int, int, int]:
        has_fractions, digits = count_digits(rows[:, j])
        return -columns[j].n_known, has_fractions, round(digits), len(columns[j].name), j

    return min(fine, key=rank)
