"""`METHODS`: the one table of the ways to grow a tree.

To add a method, write its file in `grow/` and a line here: `explain`, the estimators, the command line, the tests, the
benchmarks and the documentation read this table. The file holds a function `grow_NAME(task, *, ...) -> Grown`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, NamedTuple

from boxwood._validation import list_words, refuse_unknown
from boxwood.errors import DataError
from boxwood.reference.budget import AFTER_GROWTH

if TYPE_CHECKING:
    from boxwood.grow.grown import Grown
    from boxwood.reference import Task
    from boxwood.reference.budget import Budget

_COLUMNS = ("forbidden", "max_columns")


class Method(NamedTuple):
    """A way to grow a tree.

    Attributes
    ----------
    name : str
        Its name in `METHODS`.
    file : str
        File in `grow/` that holds its grower. It is imported when the method is first used.
    one_leaf_each : bool
        Whether the tree has one leaf for each cluster; no other number of leaves can be asked for then.
    separates_centers : bool
        Whether it separates centres, and looks at nothing but the columns that it may test; see `by_cost`.
    candidate : bool
        Whether "auto" grows it; only used for methods with one leaf for each cluster.
    of_mixtures : bool
        Whether "auto" grows it only for mixtures.
    sees_all_rows : bool
        Whether "auto" gives it every row of a large table, because it takes about one pass.
    by_mistakes : bool
        Whether it looks at rows outside their cluster alone, and never at costs.
    by_cost : bool
        Whether it separates centres by costs, and so looks at the columns that costs count in any case.
    keeps : tuple of str
        The parts of a `Budget` that its trees keep, besides those that come after the growth (`AFTER_GROWTH`).
    in_batches : bool
        Whether it takes rows in batches, too.
    by_passes : bool
        Whether its grower reads these by passes itself; else some are drawn, on which it grows in memory.
    """

    name: str
    file: str
    one_leaf_each: bool = False
    separates_centers: bool = False
    candidate: bool = False
    of_mixtures: bool = False
    sees_all_rows: bool = False
    by_mistakes: bool = False
    by_cost: bool = False
    keeps: tuple[str, ...] = _COLUMNS
    in_batches: bool = False
    by_passes: bool = False

    @property
    def grower(self) -> Callable[..., Grown]:
        """The function that takes a task, and options by keyword, and returns a `Grown`."""
        function: Callable[..., Grown] = getattr(import_module(f"boxwood.grow.{self.file}"), f"grow_{self.name}")
        return function

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options."""
        parameters = signature(self.grower).parameters.values()
        return tuple(each.name for each in parameters if each.kind is Parameter.KEYWORD_ONLY)

    def refuse_batches(self) -> None:
        """Raise a DataError that names methods for rows in batches, if this one needs them in memory."""
        if not self.in_batches:
            able = [repr(name) for name, method in METHODS.items() if method.in_batches]
            raise DataError(
                f"method {self.name!r} needs all rows in memory; for rows in batches use {' or '.join(able)}"
            )

    def task_for(self, task: Task) -> Task:
        """Return the task as the method sees it."""
        if not self.separates_centers:
            return task
        return task.on_counted_columns if self.by_cost else task.on_usable_columns

    def grow(self, task: Task, **options: Any) -> Grown:
        """Return what the method grows for a task, with a note if it has fewer leaves than were asked for."""
        from boxwood.reference.reference import refuse_alike_centers

        if self.separates_centers and task.budget.forbidden:
            refuse_alike_centers(task.equal_without_forbidden, self.name)
        notes: tuple[str, ...] = ()
        if task.in_batches:
            from boxwood.grow.drawn import task_for_growth

            self.refuse_batches()
            task, notes = (task, ()) if self.by_passes else task_for_growth(task)
        grown = self.grower(self.task_for(task), **options)
        grown = grown._replace(notes=(*notes, *grown.notes))
        return grown if self.one_leaf_each else grown.noting_early_stop(task)

    def check_budget(self, budget: Budget) -> None:
        """Raise a ValueError that names methods that keep a budget, if this one does not."""
        missing = [name for name in budget.given if name not in (*self.keeps, *AFTER_GROWTH)]
        if missing:
            able = [f"{name!r}" for name, other in METHODS.items() if set(missing) <= set(other.keeps)]
            raise ValueError(f"method {self.name!r} has no {missing[0]}; use {' or '.join([repr('auto'), *able])}")

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise a ValueError that lists the method's options, if some other option is given."""
        unknown = [name for name in options if name not in self.options]
        if unknown:
            allowed = list_words(self.options) if self.options else "none"
            raise ValueError(f"method {self.name!r} has no option {list_words(unknown)}; its options: {allowed}")


_ALL = (*_COLUMNS, "max_depth", "min_samples_leaf")
_APART: dict[str, Any] = {"one_leaf_each": True, "separates_centers": True, "candidate": True}
_BY_PASSES: dict[str, Any] = {"in_batches": True, "by_passes": True}

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("imm", "centers.imm", sees_all_rows=True, **_BY_PASSES, **_APART),
        Method("greedy", "centers.greedy", by_cost=True, in_batches=True, **_APART),
        Method("mmdt", "centers.mmdt", True, candidate=True, of_mixtures=True, **_BY_PASSES),
        Method("shallow", "centers.greedy", by_cost=True, in_batches=True, **_APART),
        Method("exkmc", "leaves.expand", keeps=_ALL, **_BY_PASSES),
        Method("expand", "leaves.expand", by_mistakes=True, keeps=_ALL, **_BY_PASSES),
        Method("cart", "leaves.cart", by_mistakes=True, keeps=_ALL, in_batches=True),
        Method("random_cuts", "centers.random_cuts", True, **_BY_PASSES),
        Method("kernel_imm", "kernel.imm", True),
        Method("kernel_exkmc", "kernel.imm", keeps=_ALL),
        Method("kernel_expand", "kernel.imm", by_mistakes=True, keeps=_ALL),
        Method("kernel_mmdt", "kernel.mmdt", True),
    )
}


def method_of(name: str, *, beside: tuple[str, ...] = ()) -> Method:
    """Return the method of a name, in which hyphens stand for underscores.

    Raises
    ------
    ValueError
        If there is no such method; the message names those there are, and what else the caller takes `beside` them.
    """
    plain = name.replace("-", "_") if isinstance(name, str) else name
    if plain not in METHODS:
        refuse_unknown("method", plain, (*beside, *METHODS))
    return METHODS[plain]
