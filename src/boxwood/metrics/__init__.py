"""Measures of trees, clusterings and mixtures.

All functions take their arguments in one order: data (rows or a mixture), then the tree or labels, then the reference.
A kernel is always passed by keyword.

==========================  ==========================================================================================
a tree on data              `cost`, `price_of_explainability`, `node_table`, `readability`
rows and centres            `nearest_cost`
labels of rows              `partition_cost`, `best_centers`, `agreement`, `tail_check`
a mixture                   `explainability_to_noise`, `signal_to_noise`
a tree on a mixture         `error_rate`, `mixture_price`, `kernel_mixture_price`
partitions under a kernel   `kernel_cost`, `price_ceiling`
components under a kernel   `axis_similarity`, `mean_similarities`, `within_similarity`, `mmd`
==========================  ==========================================================================================
"""

from typing import TYPE_CHECKING

from boxwood._imports import attach

if TYPE_CHECKING:
    from boxwood.metrics._kernel_mixture_prices import kernel_mixture_price as kernel_mixture_price
    from boxwood.metrics._nodes import node_table as node_table
    from boxwood.metrics.agreements import agreement as agreement
    from boxwood.metrics.costs import cost as cost
    from boxwood.metrics.costs import nearest_cost as nearest_cost
    from boxwood.metrics.costs import partition_cost as partition_cost
    from boxwood.metrics.kernel_costs import kernel_cost as kernel_cost
    from boxwood.metrics.mixture_prices import error_rate as error_rate
    from boxwood.metrics.mixture_prices import mixture_price as mixture_price
    from boxwood.metrics.noise import explainability_to_noise as explainability_to_noise
    from boxwood.metrics.noise import signal_to_noise as signal_to_noise
    from boxwood.metrics.noise import tail_check as tail_check
    from boxwood.metrics.prices import price_ceiling as price_ceiling
    from boxwood.metrics.prices import price_of_explainability as price_of_explainability
    from boxwood.metrics.reading import readability as readability
    from boxwood.metrics.similarity import axis_similarity as axis_similarity
    from boxwood.metrics.similarity import mean_similarities as mean_similarities
    from boxwood.metrics.similarity import mmd as mmd
    from boxwood.metrics.similarity import within_similarity as within_similarity
    from boxwood.reference.centers import best_centers as best_centers

_MODULES: dict[str, tuple[str, ...]] = {
    "_kernel_mixture_prices": ("kernel_mixture_price",),
    "_nodes": ("node_table",),
    "agreements": ("agreement",),
    "boxwood.reference.centers": ("best_centers",),
    "costs": ("cost", "nearest_cost", "partition_cost"),
    "kernel_costs": ("kernel_cost",),
    "mixture_prices": ("error_rate", "mixture_price"),
    "noise": ("explainability_to_noise", "signal_to_noise", "tail_check"),
    "prices": ("price_ceiling", "price_of_explainability"),
    "reading": ("readability",),
    "similarity": ("axis_similarity", "mean_similarities", "mmd", "within_similarity"),
}

_get, __dir__ = attach(__name__, _MODULES)
if not TYPE_CHECKING:  # checkers of types know the names above, and no others
    __getattr__ = _get
__all__ = __dir__()
