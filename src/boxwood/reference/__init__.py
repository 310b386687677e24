"""The clustering that a tree explains: labels, centres and names of clusters; mixtures of components."""

from typing import TYPE_CHECKING

from boxwood._imports import attach

if TYPE_CHECKING:
    from boxwood.reference._task import Task as Task
    from boxwood.reference.labels import encode_labels as encode_labels
    from boxwood.reference.labels import labels_of as labels_of
    from boxwood.reference.mixture import Mixture as Mixture
    from boxwood.reference.moments import Moments as Moments
    from boxwood.reference.reference import Reference as Reference

_MODULES: dict[str, tuple[str, ...]] = {
    "_task": ("Task",),
    "labels": ("encode_labels", "labels_of"),
    "mixture": ("Mixture",),
    "moments": ("Moments",),
    "reference": ("Reference",),
}

_get, __dir__ = attach(__name__, _MODULES)
if not TYPE_CHECKING:  # checkers of types know the names above, and no others
    __getattr__ = _get
__all__ = __dir__()
