"""PMML in the evaluator of the jpmml project, which runs on Java: it says what all other engines say."""

from datetime import datetime
from itertools import compress

import pandas as pd
import pytest

import boxwood
from tests.explanation.test_dates import dated
from tests.render.test_every_engine import Engine, check
from tests.render.test_hostile_names import PAIRS, explained
from tests.rule_cases import COLUMNS

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


def test_rows_get_the_same_cluster_or_none(evaluator, tmp_path):
    def labels(ex, folder, columns):
        table = pd.DataFrame({name: pd.Series(c, dtype=object) for name, c in zip(COLUMNS, columns, strict=True)})
        return [None if pd.isna(name) else name for name in evaluator(ex).evaluateAll(table)["cluster"]]

    check(Engine(labels, trees=12), tmp_path)


@pytest.mark.parametrize("gaps", [False, True])
def test_rows_with_dates_get_the_same_cluster_or_none(evaluator, gaps):
    """Dates of PMML have no time zone, and whole seconds."""
    ex, rows, wanted = dated(gaps, "")
    table = [{name: v.isoformat() if isinstance(v, datetime) else v for name, v in row.items()} for row in rows]
    whole = [all(not isinstance(v, datetime) or v.microsecond == 0 for v in row.values()) for row in rows]
    found = evaluator(ex).evaluateAll(pd.DataFrame(list(compress(table, whole)), dtype=object))["cluster"]
    assert [None if pd.isna(name) else name for name in found] == list(compress(wanted, whole))


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
