"""Names of clusters as model files, rules and SQL can hold them: text and numbers."""

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
    """Return the clustering with its own or other names, as text and numbers; anything else becomes its text.

    Raises
    ------
    DataError
        If names are for labels that do not exist, are too few or too many, or two of them are equal.
    """
    labels = reference.names
    if isinstance(names, Mapping):
        unknown = [str(label) for label in names if label not in labels]
        if unknown:
            raise DataError(f"names for labels that do not exist: {listed(unknown)}; labels: {listed(_texts(labels))}")
        names = [names.get(label, label) for label in labels]
    given = labels if names is None else names
    if len(given) != len(labels):
        raise DataError(f"names must have one name for each of {len(labels)} clusters, got {len(given)}")
    plain = tuple(map(_plain, given))
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
