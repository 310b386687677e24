"""In which columns clusters that boxwood made differ besides those of the rules, and whether they are kinds of rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boxwood.explanation.measure.left_out import tell_left_out
from boxwood.explanation.measure.profile import measure_profile
from boxwood.reference.ranks import nearness_of_ranks
from boxwood.tree.shorten import ends_left_of
from boxwood.words.distinctive import columns_apart, differences_besides
from boxwood.words.notes import NO_KINDS, NO_PARTING, lack_groups
from boxwood.words.values import column_name, join_words, shorten_name

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree, Tree
    from boxwood.explanation.records import ColumnProfile

FOLLOWS = 0.7  # correlation of the ranks of two columns, one of which follows the other: half of the variance of ranks
MOST_NAMED = 4  # columns


def say_besides(ex: MeasuredTree) -> str:
    """Return in which other columns clusters that boxwood made differ; empty if their rows are not in memory.

    The profile is not kept as one that was asked for, as a model file would hold it then.
    """
    if not ex._is_made_here or ex._in_memory is None:
        return ""
    return differences_besides(_profile_besides(ex), ex.clusters, _names(ex, ex.tree.features.tolist()))


def with_note_on_kinds(ex: Tree) -> Tree:
    """Return the explanation of clusters that boxwood made and counted, with a note if these are no kinds of rows.

    They are none where no groups show and one thing alone parts the rows: ranges of a number, and others that rise or
    fall with it; the values of a flag or a category; or two flags, crossed. No other column differs, not even one that
    was left out.
    """
    if ex._in_memory is None or not lack_groups(ex.notes):
        return ex
    parts = _say_parts(ex)
    if not parts or tell_left_out(ex):
        return ex
    return replace(ex, notes=(*ex.notes, f"{NO_KINDS}{NO_PARTING}. {parts}"))


def _say_parts(ex: MeasuredTree) -> str:
    """Return what clusters are if one thing alone makes them; empty if several do."""
    tested: list[int] = ex.tree.features.tolist()
    besides = [ex.columns.index(name) for name in columns_apart(_profile_besides(ex), ex.clusters, _names(ex, tested))]
    if tested and all(_is_cut_in_ranges(ex, j) for j in tested):
        first, *others = [*tested, *besides]
        are_along = _find_followers(ex, first).issuperset(others)
        return f"The parts are ranges of {_join(ex, [first])}{_say_followers(ex, others)}" if are_along else ""
    if besides:
        return ""
    if len(tested) == 1 and _is_category(ex, tested[0]):
        return f"The parts are values of {_join(ex, tested)} alone"
    if len(tested) == 2 and all(_is_flag(ex, j) for j in tested):
        return f"The parts are crossings of {_join(ex, tested)} alone"
    return ""


def _say_followers(ex: MeasuredTree, followers: Sequence[int]) -> str:
    if not followers:
        return " alone"
    return f", which {_join(ex, followers)} {'follows' if len(followers) == 1 else 'follow'}"


def _find_followers(ex: MeasuredTree, j: int) -> set[int]:
    """Return the columns of numbers, or of two values, that rise or fall with a column, on any curve."""
    evidence = ex._rows()
    may = [i for i in range(len(ex.columns)) if i != j and (i not in evidence.categories or _is_flag(ex, i))]
    table = evidence.coordinates.table.values[evidence.task.kept]
    return {i for i in may if nearness_of_ranks(table[:, [i, j]])[0, 1] >= FOLLOWS}


def _is_cut_in_ranges(ex: MeasuredTree, j: int) -> bool:
    """Return whether a column has more than two numbers, of which rules do not only ask whether there is one."""
    if _is_category(ex, j):
        return False
    x = ex._rows().coordinates.table.values[:, j]
    known, ends = x[np.isfinite(x)], ends_left_of(ex.tree)[ex.tree.feature == j]
    parts = (ends >= known.min()) & (ends < known.max())
    return bool(parts.any(axis=1).all())


def _is_category(ex: MeasuredTree, j: int) -> bool:
    """Return whether a column is one of categories or a flag."""
    return j in ex._rows().categories or _is_flag(ex, j)


def _is_flag(ex: MeasuredTree, j: int) -> bool:
    """Return whether a column has two values."""
    x = ex._rows().coordinates.table.values[:, j]
    return len(np.unique(x[np.isfinite(x)])) <= 2


def _join(ex: MeasuredTree, columns: Sequence[int]) -> str:
    return join_words([shorten_name(column_name(name)) for name in _names(ex, columns)], MOST_NAMED)


def _names(ex: MeasuredTree, columns: Sequence[int]) -> list[str]:
    return [ex.columns[j] for j in columns]


def _profile_besides(ex: MeasuredTree) -> tuple[ColumnProfile, ...]:
    if "besides" not in ex._kept:
        ex._kept["besides"] = measure_profile(copy(ex))
    found: tuple[ColumnProfile, ...] = ex._kept["besides"]
    return found
