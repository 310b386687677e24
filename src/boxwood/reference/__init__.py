"""The clustering that a tree explains: labels, centres and names of clusters; mixtures of components."""

from boxwood.reference._estimators import labels_of
from boxwood.reference._labels import encode_labels
from boxwood.reference._mixture import Mixture
from boxwood.reference._moments import Moments
from boxwood.reference._reference import Reference
from boxwood.reference._task import Task

__all__ = ["Mixture", "Moments", "Reference", "Task", "encode_labels", "labels_of"]
