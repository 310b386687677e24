"""`Budget`: how large a tree may be, and which columns its cuts may test."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from boxwood._frames import refuse_unknown_columns
from boxwood._types import Indices
from boxwood._validation import list_words, show_value, whole_number
from boxwood.errors import DataError

_MOST = 1 << 31  # larger limits are as good as none, and would not fit in a model file
DIGITS = 17  # any double is known by so many
PARTS = ("max_depth", "min_samples_leaf", "max_columns", "forbidden", "preferred", "round_thresholds", "cuts")
AFTER_GROWTH = ("preferred", "round_thresholds", "cuts")  # parts of a budget that any tree keeps in the end


@dataclass(frozen=True)
class Budget:
    """Limits that every tree of a task keeps. The empty one has none, and changes no tree.

    Parameters
    ----------
    max_depth : int, default=None
        Most cuts from the root to a leaf.
    min_samples_leaf : int, default=1
        Fewest kept rows of a leaf, whatever they weigh above 0, as scikit-learn counts them.
    max_columns : int, default=None
        Most different columns that cuts test.
    forbidden, preferred : tuples of int
        Columns that no cut tests, and columns that win where the loss is nearly equal.
    round_thresholds : int, default=None
        Significant digits of thresholds.
    cuts : tuple of pairs of a column and its thresholds
        Columns of the table whose cuts have one of some thresholds: for each the largest value on its left, ascending.
    sources : tuple of int, default=None
        For each column of the task, the column of the table that it is made of, by which `max_columns` counts; None
        where they are the same.
    counted : tuple of int
        Those of the forbidden columns that are not the caller's: growers that separate centres by cost see them, too.
    """

    max_depth: int | None = None
    min_samples_leaf: int = 1
    max_columns: int | None = None
    forbidden: tuple[int, ...] = ()
    preferred: tuple[int, ...] = ()
    round_thresholds: int | None = None
    cuts: tuple[tuple[int, tuple[float, ...]], ...] = ()
    sources: tuple[int, ...] | None = None
    counted: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        columns: Sequence[str] = (),
        *,
        max_depth: Any = None,
        min_samples_leaf: Any = None,
        max_columns: Any = None,
        forbidden: Sequence[str] = (),
        preferred: Sequence[str] = (),
        round_thresholds: Any = None,
        cuts: Mapping[str, tuple[float, ...]] = MappingProxyType({}),
    ) -> Budget:
        """Return the budget on the columns of a table, from what a caller gives; IN: cuts: thresholds by columns.

        Raises
        ------
        DataError
            If a column is not in the table, or all are forbidden.
        TypeError, ValueError
            If a number is no whole number or out of its range, or a column is both forbidden and preferred.
        """
        digits = _number("round_thresholds", round_thresholds)
        if digits is not None and digits > DIGITS:
            raise ValueError(
                f"round_thresholds must be at most {DIGITS} digits, which distinguish all doubles; got {digits}"
            )
        forbidden, preferred = as_names("forbidden", forbidden), as_names("preferred", preferred)
        refuse_unknown_columns((*forbidden, *preferred), columns)
        if both := [name for name in forbidden if name in preferred]:
            raise ValueError(f"forbidden and preferred at once: {list_words(both)}; name each in one of them")
        if columns and set(forbidden) == set(columns):
            raise DataError(
                f"every column is forbidden ({list_words(list(columns))}); a tree needs one that it may test"
            )
        return cls(
            _number("max_depth", max_depth),
            _number("min_samples_leaf", min_samples_leaf) or 1,
            _number("max_columns", max_columns),
            tuple(sorted({columns.index(name) for name in forbidden})),
            tuple(sorted({columns.index(name) for name in preferred})),
            digits,
            tuple((columns.index(name), ends) for name, ends in cuts.items()),
        )

    @property
    def moves_thresholds(self) -> bool:
        """Whether thresholds are moved once a tree is grown, so that rows may go elsewhere."""
        return self.round_thresholds is not None or bool(self.cuts)

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the parts that limit something."""
        return tuple(name for name in PARTS if getattr(self, name) != getattr(NO_BUDGET, name))

    @property
    def limits_shape(self) -> bool:
        """Whether depth or leaves are limited."""
        return self.max_depth is not None or self.min_samples_leaf > 1

    @property
    def limits_cuts(self) -> bool:
        """Whether a cut that would gain may be refused."""
        return self.limits_shape or self.max_columns is not None or len(self.forbidden) > len(self.counted)

    def mapped(self, features: Indices, uncut: Sequence[int] = ()) -> Budget:
        """Return the budget on other columns, each made of one of these; IN: uncut: of those, what no cut may test."""
        sources = tuple(int(j) for j in features)
        forbidden, preferred = (
            tuple(j for j, source in enumerate(sources) if source in wanted)
            for wanted in (self.forbidden, self.preferred)
        )
        if sources and len(forbidden) == len(sources):
            raise DataError("the clustering uses forbidden columns alone; a tree needs one that it may test")
        counted = tuple(j for j in uncut if j not in forbidden)
        forbidden = tuple(sorted((*forbidden, *counted)))
        own: dict[str, Any] = {"sources": sources, "counted": counted, "cuts": ()}
        return replace(self, forbidden=forbidden, preferred=preferred, **own)

    def allowed(self, n_columns: int) -> tuple[int, ...]:
        """Return the columns that cuts may test."""
        return tuple(j for j in range(n_columns) if j not in self.forbidden)

    def source(self, column: int) -> int:
        """Return the column of the table that a column is made of."""
        return column if self.sources is None else self.sources[column]

    def only(self, sources: Collection[int], n_columns: int) -> Budget:
        """Return the budget with every column forbidden that is not made of some columns of the table."""
        others = (j for j in range(n_columns) if self.source(j) not in sources)
        forbidden = tuple(sorted({*self.forbidden, *others}))
        return replace(self, forbidden=forbidden, max_columns=None)

    def for_share(self, share: float) -> Budget:
        """Return the budget for a sample that holds a share of the rows."""
        if self.min_samples_leaf == 1:
            return self
        return replace(self, min_samples_leaf=max(math.ceil(self.min_samples_leaf * share), 1))

    def most_leaves(self, leaves: int, n_rows: int) -> int:
        """Return how many leaves a tree may have of `leaves` that are wanted, for so many kept rows."""
        if self.max_depth is not None and self.max_depth < leaves.bit_length():
            leaves = min(leaves, 1 << self.max_depth)
        return max(min(leaves, n_rows // self.min_samples_leaf), 1) if self.min_samples_leaf > 1 else leaves

    def refuse_too_few(self, n_rows: int) -> None:
        """Raise a DataError if no cut of so many kept rows leaves enough of them on both sides."""
        if self.min_samples_leaf > 1 and 2 * self.min_samples_leaf > n_rows:
            raise DataError(
                f"min_samples_leaf={self.min_samples_leaf} allows no cut of {n_rows} rows; take at most {n_rows // 2}"
            )


NO_BUDGET = Budget()


def budget_of(
    given: dict[str, Any],
    columns: Sequence[str],
    of_table: Collection[str],
    left_out: Callable[[], Mapping[str, Sequence[str]]],
) -> Budget:
    """Return the budget on the columns that rules may use; the table's other columns are as good as forbidden.

    IN: of_table: all columns of the table; left_out: columns that hold no numbers, by the reason.

    Raises
    ------
    DataError
        If a column is not in the table, or one of the others is preferred.
    """
    others = set(of_table) - set(columns)
    cuts = {name: ends for name, ends in given["cuts"].items() if name not in others}
    if unused := [name for name in as_names("preferred", given["preferred"]) if name in others]:
        reasons = {name: f"left out, {reason}" for reason, group in left_out().items() for name in group}
        texts = [f"{name} ({reasons.get(name, 'not among the columns of the rules')})" for name in unused]
        raise DataError(
            f"preferred columns that rules cannot use: {list_words(texts)}; prefer some of {list_words(list(columns))}"
        )
    forbidden = [name for name in as_names("forbidden", given["forbidden"]) if name not in others]
    return Budget.of(columns, **given | {"forbidden": forbidden, "cuts": cuts})


def _number(name: str, value: Any) -> int | None:
    return None if value is None else min(whole_number(name, value, 1), _MOST)


def as_names(name: str, given: Any) -> tuple[str, ...]:
    """Return names of columns; raise a TypeError for anything but a collection of text. None is none."""
    if isinstance(given, str):
        raise TypeError(
            f"{name} must be a list of names, got the text {show_value(given)}; write [{show_value(given)}]"
        )
    try:
        names = () if given is None else tuple(given)
    except TypeError:
        raise TypeError(f"{name} must be a list of names of columns, got {show_value(given)}") from None
    for each in names:
        if not isinstance(each, str):
            raise TypeError(f"{name} must be a list of names of columns, which are text; got {show_value(each)} in it")
    return names
