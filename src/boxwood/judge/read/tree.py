"""A fitted tree of scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from boxwood.errors import DataError
from boxwood.judge.conditions import All, Condition, Not, Some
from boxwood.judge.rules import Branch
from boxwood.judge.values import Test


def is_fitted_tree(source: Any) -> bool:
    """Return whether a source is a fitted tree for classes."""
    return hasattr(source, "tree_") and hasattr(source, "classes_") and hasattr(source.tree_, "children_left")


def rules_of_tree(source: Any) -> Iterator[Branch]:
    """Yield a branch for each leaf, from the left.

    scikit-learn compares numbers that it has rounded to 32 bits, so a threshold is the largest double that it takes to
    the left.
    """
    tree = source.tree_
    columns = list(getattr(source, "feature_names_in_", [f"x{j}" for j in range(tree.n_features)]))
    if tree.n_outputs != 1:
        raise DataError("expected a tree for one column of classes; got one for several")
    stack: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while stack:
        node, path = stack.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left == right:
            name = source.classes_[int(np.argmax(tree.value[node][0]))]
            yield Branch(name.item() if hasattr(name, "item") else name, All(path))
            continue
        test = Test(str(columns[tree.feature[node]]), (), "<=", (largest_left(float(tree.threshold[node])),))
        missing = Test(test.column, (), "null")
        gaps_left = bool(tree.missing_go_to_left[node])
        is_left: Condition = Some((test, missing)) if gaps_left else test
        is_right: Condition = Not(test) if gaps_left else Some((Not(test), missing))
        stack += [(right, (*path, is_right)), (left, (*path, is_left))]


def largest_left(threshold: float) -> float:
    """Return the largest double that is at most a threshold after it is rounded to 32 bits.

    Examples
    --------
    >>> largest_left(0.5) > 0.5, float(np.float32(largest_left(0.5)))
    (True, 0.5)
    """
    single = np.float32(threshold)
    if float(single) > threshold:
        single = np.nextafter(single, np.float32(-np.inf))
    above = np.nextafter(single, np.float32(np.inf))
    middle = (float(single) + float(above)) / 2
    return middle if np.float32(middle) <= single else math.nextafter(middle, -math.inf)
