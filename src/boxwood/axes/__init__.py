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

from typing import TYPE_CHECKING

from boxwood._lazy import attach

if TYPE_CHECKING:
    from boxwood.axes._axis_map import AxisMap as AxisMap
    from boxwood.axes._categories import Categories as Categories
    from boxwood.axes._features_additive import ChiSquaredFeatures as ChiSquaredFeatures
    from boxwood.axes._features_additive import PowerFeatures as PowerFeatures
    from boxwood.axes._features_additive import StepFeatures as StepFeatures
    from boxwood.axes._features_curves import ChosenCurves as ChosenCurves
    from boxwood.axes._features_curves import Curves as Curves
    from boxwood.axes._features_distance import LandmarkFeatures as LandmarkFeatures
    from boxwood.axes._features_taylor import TAYLOR_MARGIN as TAYLOR_MARGIN
    from boxwood.axes._features_taylor import TaylorFeatures as TaylorFeatures
    from boxwood.axes._kernel_features import features_of_kernel as features_of_kernel
    from boxwood.axes._kernel_features import surrogate_map as surrogate_map
    from boxwood.axes._monotone import Scaling as Scaling
    from boxwood.axes._table_map import TableMap as TableMap
    from boxwood.axes._table_map import axis_map_of as axis_map_of
    from boxwood.axes._terminal import TerminalEmbedding as TerminalEmbedding

_MODULES: dict[str, tuple[str, ...]] = {
    "_axis_map": ("AxisMap",),
    "_categories": ("Categories",),
    "_features_additive": ("ChiSquaredFeatures", "PowerFeatures", "StepFeatures"),
    "_features_curves": ("ChosenCurves", "Curves"),
    "_features_distance": ("LandmarkFeatures",),
    "_features_taylor": ("TAYLOR_MARGIN", "TaylorFeatures"),
    "_kernel_features": ("features_of_kernel", "surrogate_map"),
    "_monotone": ("Scaling",),
    "_table_map": ("TableMap", "axis_map_of"),
    "_terminal": ("TerminalEmbedding",),
}

__getattr__, __dir__ = attach(__name__, _MODULES)
__all__ = [
    "TAYLOR_MARGIN",
    "AxisMap",
    "Scaling",
    "TerminalEmbedding",
    "axis_map_of",
    "features_of_kernel",
    "surrogate_map",
]
