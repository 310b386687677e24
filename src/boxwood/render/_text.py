"""Text of an explanation (a line for each cluster, and the loss) or of a tree (in scikit-learn's form)."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from boxwood._validation import listed
from boxwood.render._figures import counted, of_leaves, percent, price, shortened, size, width
from boxwood.render._grown_by import grown_by
from boxwood.render._outline import of_cuts, outline, sides
from boxwood.render._rules import cluster_name, cluster_rule, column_name, number
from boxwood.tree import ThresholdTree

if TYPE_CHECKING:
    from boxwood.explanation import ClusterSummary, DrawFacts, Explanation, KernelFacts, MixtureFacts

__all__ = ["always", "findings", "headline", "tells_price", "text"]

TELLING = 0.02  # a larger gap says more of the search than of the tree
_OF_COSTS = {
    "sqeuclidean": "the squared distances of rows to the mean of their cluster",
    "l1": "the ℓ1 distances of rows to the median of their cluster",
    "l2": "the Euclidean distances of rows to the median of their cluster",
}
_OF_DISTANCES = {"sqeuclidean": "", "l1": " (ℓ1 distances)", "l2": " (Euclidean distances)"}


def text(model: Any) -> str:
    """Return a model as text: a summary of an `Explanation`; the tree of an estimator, or a tree itself.

    A threshold is printed as the shortest decimal that reads back as the same double. Only shares and costs are
    rounded.

    Parameters
    ----------
    model : Explanation, ThresholdTree, or estimator with `tree_`

    Examples
    --------
    >>> from boxwood import ThresholdTree
    >>> print(text(ThresholdTree.from_dict(
    ...     {"feature": 0, "threshold": 3.0, "left": {"cluster": 1}, "right": {"cluster": 0}}
    ... )))
    |--- x0 <= 3
    |   |--- cluster 1
    |--- x0 >  3
    |   |--- cluster 0
    """
    if isinstance(model, ThresholdTree):
        return _tree_text(model, None, None)
    if hasattr(model, "tree_"):
        columns = getattr(
            model, "concept_names_", getattr(model, "feature_names_in_", None)
        )  # the columns that its tree tests
        return _tree_text(model.tree_, columns, model.reference_.names)
    if hasattr(model, "clusters") and hasattr(model, "leaves"):
        return _explanation_text(model)
    raise TypeError(f"expected an Explanation, a tree or a fitted estimator of boxwood, got {type(model).__name__}")


# ------------------------------------------------------------------------------------------------- explanation


def _explanation_text(ex: Explanation) -> str:
    parts = [headline(ex), "\n".join(_cluster_lines(ex.clusters)), *findings(ex)]
    return "\n\n".join(parts + ["\n".join(f"Note: {note}" for note in ex.notes)] * bool(ex.notes))


def findings(ex: Explanation) -> list[str]:
    """Return the paragraphs on the loss, on how the tree was grown, and on what else is known of it."""
    parts = ["\n".join([_loss(ex), *_held_out(ex), *_noise(ex), _origin(ex)])]
    parts += [] if ex.mixture is None else [_gaussians(ex.mixture, ex.method)]
    parts += [] if ex.draws is None else [_draws(ex.draws)]
    parts += [] if ex.kernel is None else [_kernel(ex.kernel)]
    return parts


def always(ex: Explanation) -> str:
    """Return the agreement of the largest cluster alone, beside which that of the rules stands."""
    largest = max(ex.clusters, key=lambda cluster: cluster.share)
    return f"always {shortened(cluster_name(largest.name))}: {percent(ex.baseline)}"


def tells_price(ex: Explanation) -> bool:
    """Return whether the price says something: not where agreement alone decided."""
    return ex.search is None or not ex.search.by_agreement


def headline(ex: Explanation) -> str:
    """Return how many clusters, rows, leaves and columns there are."""
    kept = counted(ex.n_rows - ex.n_left_out, "row")
    labelled = ex.n_left_out - ex.n_incomplete
    parts = [f"{counted(labelled, 'row')} labelled -1"] * bool(labelled)
    parts += [f"{counted(ex.n_incomplete, 'row')} with missing values"] * bool(ex.n_incomplete)
    left_out = f" ({' and '.join(parts)} left out)" if parts else ""
    used = f"{ex.tree.features.size:,} of {counted(len(ex.columns), 'column')}"
    return f"{counted(ex.n_clusters, 'cluster')} of {kept}{left_out}, explained by {of_leaves(ex.n_leaves)} on {used}"


def _cluster_lines(clusters: Sequence[ClusterSummary]) -> list[str]:
    header = ("", "size", "share", "ruled", "caught", "precision", "rule")
    cells = [header, *(_cells(cluster) for cluster in clusters)]
    widths = [max(width(row[i]) for row in cells) for i in range(len(header) - 1)]
    return [_line(row, widths) for row in cells]


def _cells(cluster: ClusterSummary) -> tuple[str, ...]:
    name = shortened(cluster_name(cluster.name))
    share, caught, precision = map(percent, (cluster.share, cluster.caught, cluster.precision))
    return name, size(cluster.size), share, size(cluster.ruled), caught, precision, cluster_rule(cluster)


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    name, *numbers, rule = row
    padded = [name + " " * (widths[0] - width(name))]
    padded += [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
    return "  ".join([*padded, rule])


def _loss(ex: Explanation) -> str:
    rows = "rows by weight" if ex.weighted else "rows"
    agreement = f"The rules agree with the clusters on {percent(ex.agreement)} of {rows} ({always(ex)})"
    if not tells_price(ex):
        return f"{agreement}."
    what = "within-cluster cost" + _OF_DISTANCES[ex.objective] + (" in the kernel's feature space" if ex.kernel else "")
    if ex.reference_cost == 0:
        if ex.cost == 0:
            return f"{agreement}; {what} is zero for both (price of explainability 1)."
        return (
            f"{agreement}; {what} is zero for the clusters but {ex.cost:.3g} for the rules "
            "(price of explainability infinite)."
        )
    if ex.price == 1:
        return f"{agreement}; {what} is that of the clusters (price of explainability 1)."
    times = f"{what} is {price(ex.price)} times that of the clusters (price of explainability)"
    below = (
        f"; it is below 1 because the clusters do not minimise {_OF_COSTS[ex.objective]}" if ex.price < 0.995 else ""
    )
    return f"{agreement}; {times}{below}{' in that space' if below and ex.kernel else ''}."


def _held_out(ex: Explanation) -> list[str]:
    """Return a sentence on rows that were not used to grow, if some were held out."""
    if ex.held_out is None:
        return []
    agreement = percent(ex.held_out.agreement)
    return [f"On rows not used to grow, rules grown the same way agree on {agreement} ({ex.held_out.how})."]


def _noise(ex: Explanation) -> list[str]:
    """Return a sentence on what the rules do with rows left out, if there are any."""
    noise = ex.noise
    if not noise or not any(noise):
        return []
    order = sorted(range(ex.n_clusters), key=lambda cluster: -noise[cluster])
    taken = [f"{noise[i]:,} in {shortened(cluster_name(ex.names[i]))}" for i in order if noise[i]]
    return [f"Of the {counted(sum(noise), 'row')} labelled -1 the rules put {listed(taken)}."]


def _origin(ex: Explanation) -> str:
    """Return how the tree was grown, and how far it is from the cheapest, where that is known."""
    text = f"Grown by {grown_by(ex.method)}"
    gap = None if ex.search is None else ex.search.gap
    if gap is None or gap > TELLING:
        return f"{text}."
    tree = f"no tree of {of_leaves(ex.n_leaves)}{'' if ex.budget is None else ' within the limits'}"
    return f"{text}; {tree} costs less{'' if gap == 0 else f' by more than {_at_most(gap)}'}."


def _at_most(share: float) -> str:
    """Return a share as percent with one decimal, rounded up."""
    return f"{min(math.ceil(1000 * share) / 1000, 1):.1%}"


def _gaussians(facts: MixtureFacts, method: str) -> str:
    least = min(math.floor(1000 * (1 - facts.certified_error)) / 1000, 0.999) if facts.certified_error else 1.0
    first, second = (shortened(cluster_name(name)) for name in facts.components)
    text = (
        f"Estimated from the Gaussians behind the clusters: at least {least:.1%} of rows of these Gaussians end in "
        f"their own leaf; the explainability-to-noise ratio is {facts.explainability_to_noise:.3g}, attained by "
        f"{first} and {second} on {column_name(facts.column)}."
    )
    return f"{text}\n{_far(facts, method)}" if facts.far_from_gaussian else text


def _draws(facts: DrawFacts) -> str:
    trees = f"{facts.n_trees:,} random trees" if facts.n_trees > 1 else "1 random tree"
    text = (
        f"The best of {trees} costs {facts.best:.3g} times the clusters, the mean {facts.mean:.3g}, the worst "
        f"{facts.worst:.3g}, all around the clusters' centres."
    )
    if facts.bound is None:
        return f"{text} There is no guarantee, as not every column may be tested."
    bound = f"at most {facts.bound:.4g} times the clusters, for any data"
    return f"{text}\nGuaranteed: a random tree costs on average {bound}."


def _kernel(facts: KernelFacts) -> str:
    text = f"Measured in the feature space of {facts.kernel}, where no tree can have a price above "
    return (
        f"{text}{facts.price_ceiling:.3g}."
        if facts.price_ceiling >= 2
        else (f"{text}{facts.price_ceiling:.3g}; so near 1 the price says little, and the agreement more.")
    )


def _far(facts: MixtureFacts, method: str) -> str:
    far = [
        f"{shortened(cluster_name(one.component))} on {column_name(one.column)} ({one.verdict})"
        for one in facts.far_from_gaussian
    ]
    better = "; method cart or imm does not rest on Gaussians" if method.startswith("mmdt") else ""
    return f"Warning: far from Gaussian: {listed(far, 5)}, so these estimates may not hold{better}."


# -------------------------------------------------------------------------------------------------------- tree


def _tree_text(tree: ThresholdTree, columns: Sequence[str] | None, names: Sequence[Hashable] | None) -> str:
    def tests(feature: int, lower: float, upper: float, above: Collection[int]) -> tuple[str, str]:
        name = f"x{feature}" if columns is None else column_name(str(columns[feature]))
        return sides(name, lower, upper, number)

    clusters = tree.cluster.tolist()
    return outline(
        tree,
        of_cuts(tree, tests),
        lambda node: cluster_name(clusters[node] if names is None else names[clusters[node]]),
    )
