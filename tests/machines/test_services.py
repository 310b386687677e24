"""What the page on MLflow, FastAPI, Airflow and dbt shows is what comes out."""

import asyncio
import contextlib
import importlib
import io
import json
import logging
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import duckdb
import jinja2
import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from tests.machines.conftest import ROOT

pytestmark = [
    pytest.mark.machines,
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),  # of packages about each other
]
PAGE = (ROOT / "docs" / "how-to" / "services.md").read_text()


def code(language):
    """Return the blocks of a language, or those of Python that need another package."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def page(tmp_path, monkeypatch):
    """The names that the page's own code defines, in a folder with the table and what that code writes."""
    shutil.copy(ROOT / "examples" / "customers.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "segments", raising=False)
    namespace = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in code("python"):
            exec(block, namespace)
    importlib.invalidate_caches()
    yield namespace
    sys.modules.pop("segments", None)


@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_mlflow_serves_the_rules_and_refuses_estimators(page, capsys):
    import mlflow

    (block,), (shown,) = code("python mlflow"), code("text mlflow")
    exec(block, page)
    assert capsys.readouterr().out == shown
    rows = page["customers"].assign(plan="gold")
    assert list(page["served"].predict(rows)) == [None] * len(rows)
    imm = bw.IMM(n_clusters=2, random_state=0).fit(np.arange(8.0).reshape(-1, 1))
    with pytest.raises(mlflow.exceptions.MlflowException, match=r"(?s)untrusted types.*boxwood"):
        mlflow.sklearn.save_model(imm, "estimator")


def posted(app, rows):
    """Return the answers of a service to rows, each a request."""
    import httpx

    async def ask():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
            return [await client.post("/segment", json=row) for row in rows]

    return asyncio.run(ask())


def test_fastapi_answers_as_the_page_says(page):
    (block,) = code("python fastapi")
    exec(block, page)
    table = re.findall(r"^\| `(\{.*?\})` \| (\d+), `(.*?)` \|$", PAGE, re.MULTILINE)
    assert len(table) == 5
    answers = posted(page["app"], [json.loads(row) for row, _, _ in table])
    told = [json.dumps(each.json()) if each.status_code == 200 else each.json()["detail"] for each in answers]
    assert [(str(each.status_code), text) for each, text in zip(answers, told, strict=True)] == [
        row[1:] for row in table
    ]


def test_fastapi_answers_whole_numbers(page):
    ex, (block,) = bw.explain(pd.DataFrame({"age": [20.0, 30, 60, 70] * 5}), [0, 0, 1, 1] * 5), code("python fastapi")
    Path("segments.py").write_text(ex.to_python())
    exec(block, page)
    answers = posted(page["app"], [{"age": age} for age in (20, 70, None)])
    assert [each.json()["segment"] for each in answers] == [0, 1, None]
    labels = ex.predict(pd.DataFrame({"age": [20, 70, None]}), missing="none").tolist()
    assert json.dumps(labels) == "[0, 1, -1]"


def test_tasks_of_airflow_log_notes_and_fail_by_exit_codes(page, monkeypatch, tmp_path, caplog):
    class Task:  # in place of Airflow, which would bring 200 packages: a task is the function that it runs
        def __init__(self, function):
            self.function = function

        def __call__(self):
            self.result = self.function()
            return self

        def __rshift__(self, after):
            return after

        bash = classmethod(lambda cls, function: cls(function))

    sdk = ModuleType("airflow.sdk")
    sdk.task, sdk.dag = Task, lambda **options: lambda function: function
    monkeypatch.setitem(sys.modules, "airflow", ModuleType("airflow"))
    monkeypatch.setitem(sys.modules, "airflow.sdk", sdk)
    (block,) = code("python airflow")
    namespace = {"__name__": "segments_dag"}
    with caplog.at_level(logging.WARNING):
        exec(block.replace('"/data"', repr(str(tmp_path))), namespace)
    assert [record.getMessage() for record in caplog.records] == list(bw.load("model.json").notes)
    assert caplog.records
    command = namespace["measure_segments"].result.removeprefix("boxwood ").split()

    def exit_code():
        return subprocess.run([sys.executable, "-m", "boxwood", *command], capture_output=True, check=False).returncode

    assert exit_code() == 0
    page["customers"].assign(segment="new").to_csv("customers.csv", index=False)
    assert exit_code() == 4
    page["customers"].drop(columns="plan").to_csv("customers.csv", index=False)
    assert exit_code() in {2, 3}


def test_the_model_of_dbt_labels_as_predict_does(page):
    model = jinja2.Template(Path("labelled.sql").read_text()).render(ref=lambda name: name)
    customers = page["customers"].assign(last_order=pd.to_datetime(page["customers"]["last_order"]))
    with duckdb.connect() as warehouse:
        warehouse.register("customers", customers)
        found = [row[0] for row in warehouse.execute(f"SELECT segment_by_rules FROM ({model})").fetchall()]
    assert found == page["ex"].predict(page["customers"]).tolist()
    (accepted,) = re.findall(r"values: \[(.*)\]", PAGE)
    assert tuple(accepted.split(", ")) == page["ex"].names
