"""Names of clusters in a form that model files, rules and SQL can hold: text and numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from boxwood._validation import listed, refuse_halves
from boxwood.errors import DataError
from boxwood.explanation.measure.lines import renamed_in as lines_renamed
from boxwood.explanation.records import Clusters
from boxwood.explanation.verdict import renamed_in
from boxwood.reference import Reference
from boxwood.words.values import cluster_name

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import Tree

Names: TypeAlias = Mapping[Hashable, Hashable] | Sequence[Hashable]


R = TypeVar("R", Reference, Reference)


def renamed(reference: R, names: Names | None = None) -> R:
    """Return the clustering with names that are text or numbers: its own names, or `names`. Others become text.

    Raises
    ------
    DataError
        If a name is for a label that does not exist, if there are too few or too many names, or if two are equal.
    """
    return reference.named(_new_names(reference.names, names))


def with_names(ex: Tree, names: Mapping[Hashable, Hashable]) -> Tree:
    """See `Explanation.rename`."""
    if not isinstance(names, Mapping):
        raise TypeError(f"names must be a mapping from name to new name, got {type(names).__name__}")
    plain = _new_names(ex.names, names)
    new = dict(zip(ex.names, plain, strict=True))
    said = [(cluster_name(old), cluster_name(name)) for old, name in new.items() if name != old]
    in_notes = [f"{name} was {old}" for old, name in said if any(old in note for note in ex.notes)]
    notes = ex.notes + ((f"the notes above use earlier names: {listed(in_notes)}",) if in_notes else ())
    evidence, mixture = ex._evidence, ex.mixture
    if evidence is not None:
        evidence = replace(evidence, task=evidence.task.with_reference(evidence.task.reference.named(plain)))
    if mixture is not None:
        first, second = (new.get(name, name) for name in mixture.components)
        mixture = mixture._replace(
            components=(first, second),
            far_from_gaussian=tuple(
                one._replace(component=new.get(one.component, one.component)) for one in mixture.far_from_gaussian
            ),
        )
    clusters = Clusters(cluster._replace(name=name) for cluster, name in zip(ex.clusters, plain, strict=True))
    kept = {what: found for what, found in ex._kept.items() if what != "picture"}  # it is full of names
    if "stability" in kept:
        kept["stability"] = renamed_in(kept["stability"], plain)
    renamed = replace(ex, clusters=clusters, notes=notes, mixture=mixture, _evidence=evidence, _kept=kept)
    if "lines" in kept:
        kept["lines"] = lines_renamed(kept["lines"], renamed)
    return renamed


def _new_names(labels: Sequence[Hashable], names: Names | None) -> tuple[str | int | float | bool, ...]:
    """Return new names of clusters, from a mapping or a sequence; None keeps the names, as text or numbers."""
    if isinstance(names, Mapping):
        names = _by_label(names, labels)
        unknown = [str(label) for label in names if label not in labels]
        if unknown:
            raise DataError(f"names for labels that do not exist: {listed(unknown)}; labels: {listed(_texts(labels))}")
        names = [names.get(label, label) for label in labels]
    all_names = labels if names is None else names
    if len(all_names) != len(labels):
        raise DataError(f"names must have one name for each of {len(labels)} clusters, got {len(all_names)}")
    plain = tuple(map(plain_name, all_names))
    refuse_halves("the name of cluster", plain)
    if len(set(plain)) < len(plain):
        raise DataError(f"clusters must have different names, got {listed(_texts(plain))}")
    return plain


def _by_label(names: Mapping[Hashable, Hashable], labels: Sequence[Hashable]) -> dict[Hashable, Hashable]:
    """Return new names by label, where the mapping may also have labels as they are printed: "cluster 0" for 0."""
    printed: dict[Hashable, Hashable] = {cluster_name(label): label for label in labels}
    found = {name if name in labels else printed.get(name, name): new for name, new in names.items()}
    if len(found) < len(names):
        raise DataError(
            f"names must have one name for each cluster, got two for one of them: {listed(_texts([*names]))}"
        )
    return found


def _texts(names: Sequence[Hashable]) -> list[str]:
    return [str(name) for name in names]


def plain_name(name: Any) -> str | int | float | bool:
    """Return a name as text or a number."""
    value = name.item() if isinstance(name, np.generic) else name
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if type(value) in (str, int, float, bool) else str(value)
