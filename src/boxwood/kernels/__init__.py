"""Kernels: similarities of rows, their Gram matrices in tiles, and distances to means in their feature spaces."""

from boxwood.kernels._additive import AdditiveKernel as AdditiveKernel
from boxwood.kernels._additive import ChiSquared, Hellinger, HistogramIntersection, Linear
from boxwood.kernels._by_name import as_kernel
from boxwood.kernels._gram import GramMatrix as GramMatrix
from boxwood.kernels._gram import KeptGram as KeptGram
from boxwood.kernels._joint import Neighborhood, Polynomial, Precomputed
from boxwood.kernels._kernel import Kernel
from boxwood.kernels._means import KernelMeans as KernelMeans
from boxwood.kernels._means import kernel_distances
from boxwood.kernels._nystroem import ApproximationError as ApproximationError
from boxwood.kernels._nystroem import Nystroem as Nystroem
from boxwood.kernels._product import DistanceKernel as DistanceKernel
from boxwood.kernels._product import Gaussian, Laplace, ProductKernel

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
    "as_kernel",
    "kernel_distances",
]
