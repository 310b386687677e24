"""PMML in the evaluator of the jpmml project, which runs on Java: on 100 000 rows it says what `predict` says."""

import numpy as np
import pandas as pd
import pytest

import boxwood
from boxwood.axes import Categories
from tests.render.test_hostile_names import PAIRS, explained
from tests.render.test_writers import SEEDS, case
from tests.rule_cases import COLUMNS, categories, explanation

pytestmark = pytest.mark.machines


@pytest.fixture(scope="module")
def evaluator(tmp_path_factory):
    """Return the function from an explanation to its model in the evaluator."""
    from jpmml_evaluator import make_evaluator
    from jpmml_evaluator.py4j import Py4JBackend

    path, backend = tmp_path_factory.mktemp("pmml") / "model.pmml", Py4JBackend()

    def made(ex):
        path.write_text(ex.to_pmml(), encoding="utf-8")
        return make_evaluator(str(path), backend=backend).verify()

    yield made
    java = Py4JBackend.gateway.java_process
    Py4JBackend.destroyGateway()
    java.stdin.close()
    java.wait()


def found(model, columns):
    table = pd.DataFrame({name: pd.Series(c, dtype=object) for name, c in zip(COLUMNS, columns, strict=True)})
    return [None if pd.isna(name) else name for name in model.evaluateAll(table)["cluster"]]


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_at_cuts_missing_and_unseen(seed, evaluator):
    ex, _, columns, predicted = case(seed)
    assert found(evaluator(ex), columns) == predicted


@pytest.mark.parametrize("others", [False, True])
def test_categories_of_which_one_is_missing(others, evaluator):
    rng = np.random.default_rng(others)
    ex = explanation(rng, categories(rng) | {3: Categories(("east", None), others)})
    columns = [*case(SEEDS[0])[2]]
    n = len(columns[0])
    columns[3] = rng.choice(np.array(["east", "west", None], dtype=object), n).tolist()
    columns[4] = rng.choice([3, 20.5, -1], n).tolist()
    table = np.array(list(zip(*columns, strict=True)), dtype=object)
    assert found(evaluator(ex), columns) == ex.predict(table, missing="none").tolist()


def test_names_come_through_as_they_are(evaluator):
    for first, second in PAIRS:
        if "\x1b" not in first + second:  # which XML cannot hold
            model = evaluator(explained(first, second)[0])
            (target,) = (field.getName() for field in model.getTargetFields())
            assert [model.evaluate({first: x})[target] for x in (3.0, 8.0, None)] == [first, second, None]


def test_whole_numbers_and_what_is_not_finite(evaluator):
    model = evaluator(boxwood.explain([[1.0], [9.0]], [30, 5], columns=["Cluster"]))
    rows = [{"Cluster": x} for x in (5.0, 5.5, float("nan"), float("inf"), float("-inf"))]
    assert [model.evaluate(row)["cluster_1"] for row in [*rows, {}]] == [30, 5, None, 5, 30, None]


def test_sets_of_categories_and_missing_numbers_that_have_a_place(evaluator):
    from tests.render.test_sets_and_gaps import case as case_with_gaps

    for seed in range(12):
        ex, columns, predicted = case_with_gaps(seed, 2000)
        assert found(evaluator(ex), columns) == predicted
