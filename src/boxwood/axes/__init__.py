"""Axis maps: output columns made of one raw column each, so that a cut on one can be pulled back to the raw column.

=====================  ===============================================================================================
the interface          `AxisMap`
transformers           `axis_map_of` makes a `TableMap` of any supported transformer of scikit-learn; `Categories`
features of kernels    `surrogate_map`, `features_of_kernel`; `Curves` and their kinds `TaylorFeatures` (with
                       `TAYLOR_MARGIN`), `SeriesFeatures`, `LandmarkFeatures`, `StepFeatures`,
                       `ChiSquaredFeatures`, `PowerFeatures`;
                       `ChosenCurves`, some columns of `Curves`
other maps             `Scaling`, `TerminalEmbedding`
=====================  ===============================================================================================
"""

from typing import TYPE_CHECKING

from boxwood._imports import attach

if TYPE_CHECKING:
    from boxwood._dates import Dates as Dates
    from boxwood.axes._curves import TAYLOR_MARGIN as TAYLOR_MARGIN
    from boxwood.axes._curves import ChosenCurves as ChosenCurves
    from boxwood.axes._curves import Curves as Curves
    from boxwood.axes._curves import TaylorFeatures as TaylorFeatures
    from boxwood.axes._monotone import Scaling as Scaling
    from boxwood.axes._monotone import Tails as Tails
    from boxwood.axes._terminal import TerminalEmbedding as TerminalEmbedding
    from boxwood.axes.categories import Categories as Categories
    from boxwood.axes.kernel_features import ChiSquaredFeatures as ChiSquaredFeatures
    from boxwood.axes.kernel_features import LandmarkFeatures as LandmarkFeatures
    from boxwood.axes.kernel_features import PowerFeatures as PowerFeatures
    from boxwood.axes.kernel_features import SeriesFeatures as SeriesFeatures
    from boxwood.axes.kernel_features import StepFeatures as StepFeatures
    from boxwood.axes.kernel_features import features_of_kernel as features_of_kernel
    from boxwood.axes.kernel_features import surrogate_map as surrogate_map
    from boxwood.axes.maps import AxisMap as AxisMap
    from boxwood.axes.transformers import TableMap as TableMap
    from boxwood.axes.transformers import axis_map_of as axis_map_of

_MODULES: dict[str, tuple[str, ...]] = {
    "boxwood._dates": ("Dates",),
    "_curves": ("ChosenCurves", "Curves", "TAYLOR_MARGIN", "TaylorFeatures"),
    "_monotone": ("Scaling", "Tails"),
    "_terminal": ("TerminalEmbedding",),
    "categories": ("Categories",),
    "kernel_features": (
        "ChiSquaredFeatures",
        "LandmarkFeatures",
        "PowerFeatures",
        "SeriesFeatures",
        "StepFeatures",
        "features_of_kernel",
        "surrogate_map",
    ),
    "maps": ("AxisMap",),
    "transformers": ("TableMap", "axis_map_of"),
}

_get, __dir__ = attach(__name__, _MODULES)
if not TYPE_CHECKING:  # checkers of types know the names above, and no others
    __getattr__ = _get
__all__ = [
    "TAYLOR_MARGIN",
    "AxisMap",
    "Scaling",
    "TerminalEmbedding",
    "axis_map_of",
    "features_of_kernel",
    "surrogate_map",
]
