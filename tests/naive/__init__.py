"""Slow, obvious twins of the fast functions: what each function means, in the fewest words."""

from tests.naive.agreement import fewest_mistakes, fewest_mistakes_by_sets
from tests.naive.axes import chi_squared_feature, contains, step_features, taylor_feature, terminal_embedding
from tests.naive.boxes import (
    error_rate,
    explainability_to_noise,
    kernel_mixture_costs,
    mixture_cost,
    normal_share,
    separations,
)
from tests.naive.changes import smallest_changes
from tests.naive.concepts import best_concepts, holm, left_out_ridge, mean_difference_distances, quadratic_form
from tests.naive.covers import cheapest_cover, is_any_inside, is_inside, rows_near
from tests.naive.cuts import (
    best_kmeans_cost,
    expected_cost,
    fewest_separated,
    kmeans_plus_plus,
    mistake_ratios,
    separation_probability,
)
from tests.naive.edits import recount, rows_moved
from tests.naive.explanations import cluster_or_none, holds, measured, misassigned, noise
from tests.naive.growth import expand, greedy, greedy_costs, honest, imm, refine, shallow_scores
from tests.naive.impurity import by_centers, by_entropy, by_gini, by_rows, grown_by
from tests.naive.kernels import distance_ratios, gram, kernel_cost, kernel_distances, kernel_kmeans
from tests.naive.medians import alternate, lowest_cost, medians, nearest
from tests.naive.metrics import (
    conditions,
    cost,
    euclidean_cost,
    euclidean_cost_bounds,
    matched,
    nearest_cost,
    node_table,
)
from tests.naive.mixtures import log_losses, mmdt, mmdt_by_largest_ratio, mmdt_cuts, moments, tail
from tests.naive.optimal import (
    exact_distances,
    exact_spread,
    least_naming_cost,
    optimal_cost,
    optimal_cost_by_sets,
    spread,
)
from tests.naive.prototypes import kernel_mmdt, pair_similarity, quantile, surest_cut
from tests.naive.prunings import prunings
from tests.naive.rules import shortest
from tests.naive.stability import best_overlaps
from tests.naive.trees import leaf_of
