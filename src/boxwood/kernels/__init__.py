"""Kernels: similarities of rows, their Gram matrices in tiles, and distances to means in their feature spaces."""

from boxwood.kernels.families import AdditiveKernel as AdditiveKernel
from boxwood.kernels.families import (
    ChiSquared,
    Gaussian,
    Hellinger,
    HistogramIntersection,
    Laplace,
    Linear,
    Neighborhood,
    Polynomial,
    Precomputed,
    ProductKernel,
    TaylorKernel,
    as_kernel,
)
from boxwood.kernels.families import DistanceKernel as DistanceKernel
from boxwood.kernels.kernel import GramMatrix as GramMatrix
from boxwood.kernels.kernel import KeptGram as KeptGram
from boxwood.kernels.kernel import Kernel
from boxwood.kernels.means import ApproximationError as ApproximationError
from boxwood.kernels.means import KernelMeans as KernelMeans
from boxwood.kernels.means import Nystroem as Nystroem
from boxwood.kernels.means import kernel_distances

__all__ = [
    "ChiSquared",
    "Gaussian",
    "Hellinger",
    "HistogramIntersection",
    "Kernel",
    "Laplace",
    "Linear",
    "Neighborhood",
    "Polynomial",
    "Precomputed",
    "ProductKernel",
    "TaylorKernel",
    "as_kernel",
    "kernel_distances",
]
