"""Clusterers that scikit-learn lacks: k-medians, kernel k-means, and k-means of numbers and categories with gaps."""

from typing import TYPE_CHECKING

from boxwood._imports import attach

if TYPE_CHECKING:
    from boxwood.clusterers._k_medians import KMedians as KMedians
    from boxwood.clusterers._kernel_k_means import KernelKMeans as KernelKMeans
    from boxwood.clusterers._mixed_k_means import MixedKMeans as MixedKMeans

_MODULES = {"_k_medians": ("KMedians",), "_kernel_k_means": ("KernelKMeans",), "_mixed_k_means": ("MixedKMeans",)}
_get, __dir__ = attach(__name__, _MODULES)
if not TYPE_CHECKING:  # checkers of types know the names above, and no others
    __getattr__ = _get
__all__ = __dir__()
