"""Checks of what users give: `Rows`, which are checked once, weights, arrays and single parameters."""

from boxwood._messages import cut_off, listed, shown
from boxwood._validation._arrays import (
    as_finite_vector,
    as_float_table,
    as_numbers,
    as_positions,
    as_vector,
    refuse_no_rows,
)
from boxwood._validation._parameters import (
    as_generator,
    as_time_limit,
    finite_number,
    number_of_clusters,
    position,
    real_number,
    refuse_other_kind,
    refuse_unknown,
    whole_number,
)
from boxwood._validation._rows import Rows, as_table, refuse_not_finite
from boxwood._validation._weights import (
    INFINITE_SUM,
    WholeWeights,
    as_weights,
    as_whole_weights,
    refuse_infinite_sum,
)

__all__ = [
    "INFINITE_SUM",
    "Rows",
    "WholeWeights",
    "as_finite_vector",
    "as_float_table",
    "as_generator",
    "as_numbers",
    "as_positions",
    "as_table",
    "as_time_limit",
    "as_vector",
    "as_weights",
    "as_whole_weights",
    "cut_off",
    "finite_number",
    "listed",
    "number_of_clusters",
    "position",
    "real_number",
    "refuse_infinite_sum",
    "refuse_no_rows",
    "refuse_not_finite",
    "refuse_other_kind",
    "refuse_unknown",
    "shown",
    "whole_number",
]
