"""What is to be explained: labels, centres and names of clusters."""

from boxwood.reference._labels import encode_labels
from boxwood.reference._reference import Reference, labels_of

__all__ = ["Reference", "encode_labels", "labels_of"]
