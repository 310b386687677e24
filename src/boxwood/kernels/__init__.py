"""Kernels: similarities of rows, their Gram matrices in tiles, and distances to means in their feature spaces."""

from boxwood.kernels._additive import AdditiveKernel, ChiSquared, Hellinger, HistogramIntersection, Linear
from boxwood.kernels._by_name import as_kernel
from boxwood.kernels._gram import GramMatrix, KeptGram
from boxwood.kernels._joint import Neighborhood, Polynomial, Precomputed
from boxwood.kernels._kernel import Kernel
from boxwood.kernels._means import KernelMeans, kernel_distances
from boxwood.kernels._nystroem import ApproximationError, Nystroem
from boxwood.kernels._product import DistanceKernel, Gaussian, Laplace, ProductKernel

__all__ = [
    "AdditiveKernel",
    "ApproximationError",
    "ChiSquared",
    "DistanceKernel",
    "Gaussian",
    "GramMatrix",
    "Hellinger",
    "HistogramIntersection",
    "KeptGram",
    "Kernel",
    "KernelMeans",
    "Laplace",
    "Linear",
    "Neighborhood",
    "Nystroem",
    "Polynomial",
    "Precomputed",
    "ProductKernel",
    "as_kernel",
    "kernel_distances",
]
