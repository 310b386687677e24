"""Names of clusters: their labels, or the names that the user gives."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from boxwood.errors import DataError

__all__ = ["Names", "named_clusters"]

Names = Mapping[Hashable, Hashable] | Sequence[Hashable]


def named_clusters(labels: Sequence[Hashable], names: Names | None) -> tuple[Hashable, ...]:
    """Return a name for each label: `names` maps labels to names, or lists one name for each label."""
    if names is None:
        return tuple(labels)
    if isinstance(names, Mapping):
        unknown = [str(label) for label in names if label not in labels]
        if unknown:
            raise DataError(f"names for clusters that do not exist: {', '.join(unknown)}; clusters: {tuple(labels)}")
        return tuple(names.get(label, label) for label in labels)
    if len(names) != len(labels):
        raise DataError(f"names must have one name for each of {len(labels)} clusters, got {len(names)}")
    return tuple(names)
