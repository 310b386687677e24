"""What a way to a tree is, and the kernels that several of them take."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.same_trees.tables import Table
from boxwood import ThresholdTree

Grower = Callable[[Table], ThresholdTree]
FEW, USUAL, MANY = 8, 18, 40  # tables of a line


class Line(NamedTuple):
    """A way to a tree, with the kind of its tables and their number."""

    name: str
    kind: str
    grower: Grower
    n_tables: int = USUAL


def n_trees(function: Callable[..., Any], n: int) -> dict[str, int]:
    """Return the number of random trees as the parameter that the function has for it."""
    return {name: n for name in ("n_trees", "n_draws") if name in inspect.signature(function).parameters}
