"""The clustering that a tree explains: labels, centres and names of clusters; mixtures of components."""

from typing import TYPE_CHECKING

from boxwood._lazy import attach

if TYPE_CHECKING:
    from boxwood.reference._estimators import labels_of as labels_of
    from boxwood.reference._labels import encode_labels as encode_labels
    from boxwood.reference._mixture import Mixture as Mixture
    from boxwood.reference._moments import Moments as Moments
    from boxwood.reference._reference import Reference as Reference
    from boxwood.reference._task import Task as Task

_MODULES: dict[str, tuple[str, ...]] = {
    "_estimators": ("labels_of",),
    "_labels": ("encode_labels",),
    "_mixture": ("Mixture",),
    "_moments": ("Moments",),
    "_reference": ("Reference",),
    "_task": ("Task",),
}

__getattr__, __dir__ = attach(__name__, _MODULES)
__all__ = ["Mixture", "Moments", "Reference", "Task", "encode_labels", "labels_of"]
