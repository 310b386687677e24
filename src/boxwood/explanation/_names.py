"""Names of clusters in a form that model files, rules and SQL can hold: text and numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from boxwood._validation import listed
from boxwood.errors import DataError
from boxwood.reference import Reference

__all__ = ["Names", "renamed"]

Names: TypeAlias = Mapping[Hashable, Hashable] | Sequence[Hashable]


def renamed(reference: Reference, names: Names | None = None) -> Reference:
    """Return the clustering with names that are text or numbers: its own names, or `names`. Others become text.

    Raises
    ------
    DataError
        If a name is for a label that does not exist, if there are too few or too many names, or if two are equal.
    """
    labels = reference.names
    if isinstance(names, Mapping):
        unknown = [str(label) for label in names if label not in labels]
        if unknown:
            raise DataError(f"names for labels that do not exist: {listed(unknown)}; labels: {listed(_texts(labels))}")
        names = [names.get(label, label) for label in labels]
    all_names = labels if names is None else names
    if len(all_names) != len(labels):
        raise DataError(f"names must have one name for each of {len(labels)} clusters, got {len(all_names)}")
    plain = tuple(map(_plain, all_names))
    if len(set(plain)) < len(plain):
        raise DataError(f"clusters must have different names, got {listed(_texts(plain))}")
    return reference.named(plain)


def _texts(names: Sequence[Hashable]) -> list[str]:
    return [str(name) for name in names]


def _plain(name: Any) -> str | int | float | bool:
    value = name.item() if isinstance(name, np.generic) else name
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if type(value) in (str, int, float, bool) else str(value)
