"""Axis maps: output columns made of one raw column each, so that a cut on one can be pulled back to the raw column.

=====================  ===============================================================================================
the interface          `AxisMap`
transformers           `axis_map_of` makes a `TableMap` of any supported transformer of scikit-learn; `Categories`
features of kernels    `surrogate_map`, `features_of_kernel`; `Curves` and their kinds `TaylorFeatures` (with
                       `TAYLOR_MARGIN`), `LandmarkFeatures`, `StepFeatures`, `ChiSquaredFeatures`, `PowerFeatures`;
                       `ChosenCurves`, some columns of `Curves`
other maps             `Scaling`, `TerminalEmbedding`
=====================  ===============================================================================================
"""

from boxwood.axes._axis_map import AxisMap
from boxwood.axes._categories import Categories as Categories
from boxwood.axes._features_additive import ChiSquaredFeatures as ChiSquaredFeatures
from boxwood.axes._features_additive import PowerFeatures as PowerFeatures
from boxwood.axes._features_additive import StepFeatures as StepFeatures
from boxwood.axes._features_curves import ChosenCurves as ChosenCurves
from boxwood.axes._features_curves import Curves as Curves
from boxwood.axes._features_distance import LandmarkFeatures as LandmarkFeatures
from boxwood.axes._features_taylor import TAYLOR_MARGIN
from boxwood.axes._features_taylor import TaylorFeatures as TaylorFeatures
from boxwood.axes._kernel_features import features_of_kernel, surrogate_map
from boxwood.axes._monotone import Scaling
from boxwood.axes._table_map import TableMap as TableMap
from boxwood.axes._table_map import axis_map_of
from boxwood.axes._terminal import TerminalEmbedding

__all__ = [
    "TAYLOR_MARGIN",
    "AxisMap",
    "Scaling",
    "TerminalEmbedding",
    "axis_map_of",
    "features_of_kernel",
    "surrogate_map",
]
