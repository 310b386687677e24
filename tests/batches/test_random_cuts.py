"""Random cuts by passes: the cheapest tree of the same rows in memory."""

import numpy as np
import pytest

from boxwood import DataError, Reference
from boxwood.grow._methods import METHODS
from boxwood.reference import Task
from tests.cases import make_case
from tests.scale import law
from tests.scattered import scattered


@law(100)
def test_the_tree_is_that_of_rows_in_memory(seed):
    rng, case = np.random.default_rng(seed), make_case(seed)
    columns = {} if case.weights is None else {"weight": case.weights}
    weight = "weight" if columns else None
    source = scattered(case.X.astype(np.float64), seed, label=case.labels, **columns)
    order = rng.permutation(len(case.X))
    X, labels = case.X[order], case.labels[order]
    weights = None if case.weights is None else case.weights[order]
    tasks = (
        Task.of(X, Reference.of(X, labels, sample_weight=weights), sample_weight=weights, random_state=seed),
        Task.of(source, Reference.of(source, "label", sample_weight=weight), sample_weight=weight, random_state=seed),
    )
    whole = weights is None or (weights == np.floor(weights)).all()
    objective = str(rng.choice(["sqeuclidean", "l1"])) if whole else "sqeuclidean"
    options = {"objective": objective, "variant": str(rng.choice(["fast", "exact"])), "n_trees": 20}
    found = []
    for task in tasks:
        try:
            found.append(METHODS["random_cuts"].grow(task, **options))
        except DataError as error:
            found.append("equal centres" in str(error))
    if isinstance(found[0], bool):
        assert found == [True, True]
        return
    assert found[0].tree == found[1].tree
    np.testing.assert_array_equal(found[0].attributes["prices"], found[1].attributes["prices"])
    assert source.runs == 3 + (objective == "l1")  # labels, means, perhaps medians, scores


def test_refused():
    source = scattered(np.arange(6.0)[:, None], 0, label=[0, 0, 1, 1, 2, 2])
    task = Task.of(source, Reference.of(source, "label"))
    with pytest.raises(DataError, match="objective='l2' needs geometric medians"):
        METHODS["random_cuts"].grow(task, objective="l2")
    with pytest.raises(ValueError, match="n_trees must be at least 1"):
        METHODS["random_cuts"].grow(task, objective="sqeuclidean", n_trees=0)
    with pytest.raises(ValueError, match="variant"):
        METHODS["random_cuts"].grow(task, objective="sqeuclidean", variant="slow")
