"""`repeated_in`: columns that say what others say, so that each thing counts once where boxwood makes clusters."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from boxwood._types import Array, Bools, Floats

LOOKED_AT = 2_000  # rows that tell which columns say the same
SAME = 0.99  # rank correlation of columns that say the same; less of it may be what groups make
FEW_VALUES = 60  # of a column that may decide flags
ROWS_EACH = 5  # for each of them


class Repeated(NamedTuple):
    """Columns that say the same, by their places.

    Parameters
    ----------
    alike : tuple of tuples of int
        Numbers in the same order of ranks, or the opposite one.
    dummies : tuple of tuples of int
        Flags of which one is set in each row, as one-hot columns of a word are.
    decided : dict
        Flags by the column, of few values, that decides them.
    """

    alike: tuple[tuple[int, ...], ...]
    dummies: tuple[tuple[int, ...], ...]
    decided: dict[int, int]

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """All columns of each thing that is said more than once."""
        by = sorted(set(self.decided.values()))
        groups = *self.alike, *self.dummies, *((j, *(i for i, at in self.decided.items() if at == j)) for j in by)
        return tuple(each for each in groups if not any({*each} < {*other} for other in groups))


def repeated_in(table: Array, categories: Collection[int]) -> Repeated:
    """Return the columns that say the same, as some rows tell; IN: table: with plus infinity for missing numbers."""
    some = np.random.RandomState(0).permutation(len(table))[:LOOKED_AT]
    rows = np.asarray(table[some], dtype=np.float64)
    n_values = [len(np.unique(x)) for x in rows.T]
    numbers = [j for j, n in enumerate(n_values) if j not in categories and n > 1]
    flags = [j for j, n in enumerate(n_values) if n == 2 and np.isfinite(rows[:, j]).all()]
    deciders = [j for j, n in enumerate(n_values) if 2 < n <= min(FEW_VALUES, len(rows) // ROWS_EACH)]
    plain = [j for j in flags if j not in categories and rows[:, j].min() == 0 and rows[:, j].max() == 1]
    same = _nearness(rows[:, numbers]) >= SAME
    return Repeated(_alike(same, numbers), _dummies(rows, plain), _decided(rows, flags, deciders))


def _nearness(rows: Floats) -> Floats:
    """Return how near the ranks of columns are, in one order or the opposite one: 1 if they are the same.

    What a row lacks is taken for the middle, so that gaps in the same rows do not count.
    """
    from scipy.stats import rankdata

    known = np.isfinite(rows)
    ranks = np.where(known, rankdata(rows, axis=0), 0.0)  # those of what is known come first
    ranks -= np.where(known, ranks.sum(axis=0) / np.maximum(known.sum(axis=0), 1), 0.0)
    ranks /= np.maximum(np.sqrt(np.square(ranks).sum(axis=0)), np.finfo(np.float64).tiny)
    return np.asarray(np.abs(ranks.T @ ranks))


def _alike(same: Bools, numbers: list[int]) -> tuple[tuple[int, ...], ...]:
    """Return groups of columns each of which has the ranks of the first."""
    groups, left = list[tuple[int, ...]](), np.ones(len(numbers), dtype=np.bool_)
    for i in range(len(numbers)):
        if left[i]:
            group = np.flatnonzero(same[i] & left)
            left[group] = False
            groups += [tuple(numbers[j] for j in group)] if len(group) > 1 else []
    return tuple(groups)


def _dummies(rows: Floats, flags: list[int]) -> tuple[tuple[int, ...], ...]:
    """Return neighbouring flags of which each row has one."""
    groups, run, total = list[tuple[int, ...]](), list[int](), np.zeros(len(rows))
    for j in flags:
        if not run or j != run[-1] + 1 or (total + rows[:, j]).max() > 1:
            run, total = [], np.zeros(len(rows))
        run, total = [*run, j], total + rows[:, j]
        if total.min() == 1:
            groups += [tuple(run)] if len(run) > 2 else []  # two are alike
            run, total = [], np.zeros(len(rows))
    return tuple(groups)


def _decided(rows: Floats, flags: list[int], deciders: list[int]) -> dict[int, int]:
    """Return flags that are the same in all rows of each value of another column, which has some rows for each."""
    is_set: Bools = rows[:, flags] == rows[:, flags].max(axis=0, initial=-np.inf)
    found: dict[int, int] = {}
    for j in deciders:
        order = np.argsort(rows[:, j], kind="stable")
        values = rows[order, j]
        begins = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        counts, sizes = np.add.reduceat(is_set[order], begins, axis=0, dtype=np.intp), np.diff([*begins, len(rows)])
        all_set = counts == sizes[:, None]
        is_pure = (all_set | (counts == 0)).all(axis=0)
        rarer = np.minimum(is_set.sum(axis=0), (~is_set).sum(axis=0))
        enough = rarer >= 2 * np.minimum(all_set.sum(axis=0), (counts == 0).sum(axis=0))
        found |= {flags[i]: j for i in np.flatnonzero(is_pure & enough).tolist() if flags[i] not in found}
    return found
