"""Clusterers that scikit-learn lacks: k-medians, kernel k-means, and k-means of numbers and categories with gaps."""

from boxwood.clusterers._k_medians import KMedians
from boxwood.clusterers._kernel_k_means import KernelKMeans
from boxwood.clusterers._mixed_k_means import MixedKMeans

__all__ = ["KMedians", "KernelKMeans", "MixedKMeans"]
