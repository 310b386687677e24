"""The peers: trees that others would grow for the same clusters, each with at most so many leaves."""

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.quality.cases import Clusters
from benchmarks.quality.judge import Outcome, outcome_of_labels, outcome_of_leaves
from boxwood import Reference, grow
from boxwood.errors import StoppedEarlyWarning

PEERS = (
    "CART, gini",
    "CART, entropy",
    "regression on rows",
    "regression on centres",
    "ExKMC from the root",
    "ExKMC from IMM",
    "Ex-Greedy",
    "ExShallow",
)
COLUMNS_FOR_ROWS = 100  # regression trees on the rows take time d squared, so wider tables are left out


def peers(case: Clusters, leaves: int) -> dict[str, Callable[[], Outcome]]:
    """Return each peer's name and what makes its outcome."""
    X, labels = case.X, case.kmeans.labels_
    reference = Reference.of(X, labels)
    cheap: dict[str, Callable[[], Outcome]] = {
        "CART, gini": lambda: _cart(case, leaves, "gini"),
        "CART, entropy": lambda: _cart(case, leaves, "entropy"),
        "regression on centres": lambda: _regression(case, leaves, case.kmeans.cluster_centers_[labels]),
        "ExKMC from the root": lambda: _of_tree(case, _expanded(None, X, reference, leaves)),
        "ExKMC from IMM": lambda: _of_tree(case, _expanded(grow.imm(X, reference), X, reference, leaves)),
        "Ex-Greedy": lambda: _of_tree(case, _expanded(grow.greedy(X, reference), X, reference, leaves)),
        "ExShallow": lambda: _of_tree(case, _expanded(grow.shallow(X, reference), X, reference, leaves)),
    }
    if X.shape[1] <= COLUMNS_FOR_ROWS:
        cheap["regression on rows"] = lambda: _regression(case, leaves, X)
    return cheap


def _expanded(tree, X, reference, leaves):
    if tree is not None and tree.n_leaves >= leaves:
        return tree
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        return grow.expand(tree, X, reference, max_leaf_nodes=leaves)


def _of_tree(case: Clusters, tree) -> Outcome:
    return outcome_of_labels(case, tree.predict(case.X), tree.n_leaves)


def _cart(case: Clusters, leaves: int, criterion: str) -> Outcome:
    tree = DecisionTreeClassifier(criterion=criterion, max_leaf_nodes=leaves, random_state=0)
    predicted = tree.fit(case.X, case.kmeans.labels_).predict(case.X)
    return outcome_of_labels(case, predicted, int(tree.get_n_leaves()))


def _regression(case: Clusters, leaves: int, targets: np.ndarray) -> Outcome:
    tree = DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(case.X, targets)
    return outcome_of_leaves(case, tree.apply(case.X))
