"""Axis maps: columns made of one raw column each, with cuts that can be pulled back to it."""

from boxwood.axes._axis_map import AxisMap
from boxwood.axes._categories import Categories
from boxwood.axes._features_additive import ChiSquaredFeatures, PowerFeatures, StepFeatures
from boxwood.axes._features_curves import ChosenCurves, Curves
from boxwood.axes._features_distance import LandmarkFeatures
from boxwood.axes._features_taylor import TaylorFeatures
from boxwood.axes._kernel_features import features_of_kernel, surrogate_map
from boxwood.axes._monotone import Scaling
from boxwood.axes._table_map import TableMap, axis_map_of, coded
from boxwood.axes._terminal import TerminalEmbedding

__all__ = [
    "AxisMap",
    "Categories",
    "ChiSquaredFeatures",
    "ChosenCurves",
    "Curves",
    "LandmarkFeatures",
    "PowerFeatures",
    "Scaling",
    "StepFeatures",
    "TableMap",
    "TaylorFeatures",
    "TerminalEmbedding",
    "axis_map_of",
    "coded",
    "features_of_kernel",
    "surrogate_map",
]
