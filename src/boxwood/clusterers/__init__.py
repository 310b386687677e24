"""Clusterers that scikit-learn lacks: k-medians and kernel k-means."""

from boxwood.clusterers._k_medians import KMedians
from boxwood.clusterers._kernel_k_means import KernelKMeans

__all__ = ["KMedians", "KernelKMeans"]
