"""What the page on Spark and Dask shows is what comes out."""

import contextlib
import io
import re

import pytest
from sklearn.datasets import load_iris

from tests.machines.conftest import ROOT

pytestmark = pytest.mark.machines
PAGE = ROOT / "docs" / "how-to" / "spark-and-dask.md"
BLOCK = re.compile(r"^```(python|text) (spark|dask|machines)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_prints_what_it_shows(machines, tmp_path):
    path = tmp_path / "flowers.parquet"  # Spark and workers are in folders of their own
    iris = load_iris(as_frame=True)
    iris.data.assign(species=iris.target_names[iris.target]).to_parquet(path)
    namespace, printed, n_run = {}, "", 0
    for language, where, text in BLOCK.findall(PAGE.read_text()):
        if where not in (machines.name, "machines"):
            continue
        if language == "python":
            assert not printed.strip()
            text = text.replace('"flowers.parquet"', repr(str(path)))
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, PAGE, "exec"), namespace)
            printed, n_run = out.getvalue(), n_run + 1
        else:
            assert [line.rstrip() for line in printed.strip().splitlines()] == text.strip().splitlines()
            printed = ""
    assert not printed.strip()
    assert n_run >= {"spark": 3, "dask": 1}[machines.name]
