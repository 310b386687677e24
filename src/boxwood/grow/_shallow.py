"""ExShallow: Ex-Greedy with a penalty for tests that make rules longer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numpy.typing import ArrayLike

from boxwood._validation import finite_number
from boxwood.grow._greedy import lists_of, separate
from boxwood.grow._greedy_cuts import Cut, Node, NodeCuts, Path
from boxwood.grow._grown import Grown
from boxwood.grow._methods import METHODS
from boxwood.passes import Source, TableReference, task_of
from boxwood.reference import Reference, Task
from boxwood.tree import ThresholdTree

__all__ = ["grow_several", "grow_shallow", "growth_of_several", "shallow"]


def shallow(
    X: ArrayLike | Source,
    reference: Reference | TableReference,
    *,
    depth_penalty: float = 0.03,
    duplicates: str = "error",
    sample_weight: ArrayLike | str | None = None,
    n_jobs: int | None = -1,
) -> ThresholdTree:
    """Return the tree of ExShallow: k leaves with one centre in each, grown by cost and by the number of tests.

    The score of a cut adds two terms. The first is its cost in Ex-Greedy (see `greedy`), divided by the cost of the
    node's rows at their nearest centres. The second is `depth_penalty` times the mean number of tests that rows of this
    node will need. Each node gets the cut of lowest score among all features and all thresholds that separate two of
    its centres. Rules are shorter than those of `greedy`; with many clusters the tree is often cheaper too.

    Parameters
    ----------
    X, reference, duplicates, sample_weight, n_jobs
        As for `imm`.
    depth_penalty : float, default=0.03
        Price of a test, as a fraction of the cost of the node's rows; at least 0. The value 0 gives the tree of
        `greedy`.

    Returns
    -------
    ThresholdTree
        Always holds: one leaf for each distinct centre, and each centre lies in its own leaf.

    Raises
    ------
    DataError
        If centres are equal, or `X`, the reference and the weights do not fit together.
    ValueError
        If `depth_penalty` is negative or not finite.

    Notes
    -----
    The number of tests is predicted: every later cut is assumed to divide rows and centres in the same proportions as
    this one. A test is not counted on a side that an earlier test of the same feature bounds already, because two such
    tests merge into one condition. The paper's code rounds the rows of each predicted node to whole rows. Here they
    stay fractions, so that weights are allowed.

    The price has no bound that depends on k alone. Takes the time, memory and passes of `greedy`, and time k for the
    predicted depth of each cut whose cost does not rule it out: usually few, and (n + k) d for each node at worst. A
    threshold is the midpoint between two neighbouring values of the node's rows and centres. Ties go to the lowest
    feature, then to the lowest threshold.

    References
    ----------
    E. Laber, L. Murtinho, F. Oliveira, "Shallow decision trees for explainable k-means clustering", Pattern Recognition
    137 (2023), doi:10.1016/j.patcog.2022.109239.

    Examples
    --------
    >>> from boxwood import Reference
    >>> X = [[0.0, 5.0], [1.0, 6.0], [0.0, 9.0], [8.0, 5.0], [9.0, 7.0]]
    >>> shallow(X, Reference.of(X, [0, 0, 1, 2, 2])).to_dict()["threshold"]
    4.5
    """
    task = task_of(X, reference, sample_weight=sample_weight, n_jobs=n_jobs)
    return METHODS["shallow"].grow(task, depth_penalty=depth_penalty, duplicates=duplicates).tree


def grow_shallow(task: Task, *, depth_penalty: float = 0.03, duplicates: str = "error") -> Grown:
    """Return what `shallow` grows for a task."""
    return Grown(grow_several(task, [depth_penalty], duplicates=duplicates)[0], "shallow")


def grow_several(task: Task, penalties: Sequence[float], *, duplicates: str = "error") -> list[ThresholdTree]:
    """Return the tree of `shallow` for each of several depth penalties.

    As long as several penalties choose the same cuts, from the root down, the costs of cuts are computed once for all.
    """
    grow = growth_of_several(task, penalties, duplicates=duplicates)
    return [grow(number) for number in range(len(penalties))]


def growth_of_several(
    task: Task, penalties: Sequence[float], *, duplicates: str = "error"
) -> Callable[[int], ThresholdTree]:
    """Return a function that grows the tree of one of several depth penalties; see `grow_several`."""
    for penalty in penalties:
        refuse_negative(penalty)
    nearest = lists_of(task, several=len(penalties) > 1)
    known: dict[Path, dict[int, Cut]] = {}  # at each node that was reached, the cuts of the penalties that reach it

    def tree_for(number: int) -> ThresholdTree:
        def best_cut(cuts_at: Callable[[Node], NodeCuts], node: Node) -> Cut:
            if number not in known.setdefault(node.path, {}):
                above = known.get(node.path[:-1], {}) if node.path else dict.fromkeys(range(len(penalties)))
                together = [other for other, cut in above.items() if cut == above[number]]
                found = cuts_at(node).best([penalties[other] for other in together])
                known[node.path].update(zip(together, found, strict=True))
            return known[node.path][number]

        if known:
            nearest.restart()
        return separate(task, duplicates, best_cut, nearest)

    return tree_for


def refuse_negative(penalty: float) -> None:
    """Raise a ValueError if a depth penalty is negative or not finite."""
    if finite_number("depth_penalty", penalty) < 0:
        raise ValueError(f"depth_penalty must be a number of at least 0, got {penalty}")
