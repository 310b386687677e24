"""Cells of the confusion: what rows are like that the rules put into another cluster, and of which nothing is told."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import boxwood
from boxwood.explanation.records import FEW
from tests.render.test_browser import opened  # noqa: F401  # the fixture
from tests.render.test_page import HOSTILE_NAMES
from tests.scale import law


def explained(seed, n=400):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    labels = rng.choice(k, n, p=rng.dirichlet(np.full(k, 2.0)))
    frame = pd.DataFrame({"x": labels + rng.normal(0, rng.uniform(0.1, 0.8), n), "y": rng.exponential(size=n)})
    frame["word"] = rng.choice(["a", "b", HOSTILE_NAMES[1]], n)
    frame["x"] = frame.x.round(2)
    return frame, boxwood.explain(frame, [f"c{i}" for i in labels], max_leaf_nodes=k)


def cells_of(page):
    return json.loads(re.search(r'(?s)<script type="application/json" id="data">(.*?)</script>', page)[1])["cells"]


@law(12)
def test_a_cell_tells_of_its_rows_and_of_no_few_others(seed):
    """Neither a cell nor what is left of its cluster, if cells that are told are taken from it, has few rows."""
    frame, ex = explained(seed)
    table = ex.to_frame("confusion").to_numpy()
    page = ex.to_html()
    left, sizes, cells = table.sum(axis=1), table.sum(axis=1), cells_of(page)
    for of, told in cells.items():
        i, j = map(int, of.split("-"))
        assert i != j
        n = int(told["rows"].split()[0])
        assert n == table[i, j] >= FEW
        left[i] -= n
        rows = (np.asarray(ex._rows().task.reference.labels) == i) & (ex.tree.leaf_clusters[ex._rows().leaf] == j)
        own, others = next((float(a), float(b)) for name, a, b in told["columns"] if name == "x")
        assert own == pytest.approx(frame.x[rows].median(), abs=0.06)
        assert others == pytest.approx(frame.x[~rows].median(), abs=0.06)
    assert all(n >= FEW or n == size for n, size in zip(left, sizes, strict=True))
    assert page.count("data-cell=") == len(cells)
    assert cells_of(ex.to_html(min_count=3)) == {}


def test_nothing_is_told_of_cells_where_a_cluster_has_few_rows():
    frame, ex = explained(0)
    assert cells_of(ex.to_html())
    labels = np.where(np.arange(len(frame)) < 3, "few", np.asarray(ex.predict(frame)))
    labels[3:40] = ex.names[0]
    assert cells_of(boxwood.explain(frame, labels, max_leaf_nodes=ex.n_clusters).to_html()) == {}


@pytest.mark.browser
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the browser's library
def test_a_cell_is_opened_by_keys(opened):  # noqa: F811
    _, ex = explained(0)
    ex = ex.rename({"c0": HOSTILE_NAMES[1]})
    page = opened(ex, size="phone")
    cells = page.evaluate("JSON.parse(document.querySelector('#data').textContent).cells")
    assert len(cells) > 1
    for of, told in cells.items():
        button = page.locator(f"[data-cell='{of}'] button")
        button.focus()
        page.keyboard.press("Enter")
        assert button.get_attribute("aria-pressed") == "true"
        assert page.locator("[data-cell] [aria-pressed=true]").count() == 1
        i, j = map(int, of.split("-"))
        caption = f"{told['rows']} of {ex.names[i]} that the rules put into {ex.names[j]}"
        assert page.inner_text("#cell caption") == button.get_attribute("aria-label") == caption
        shown = [row.split("\t") for row in page.inner_text("#cell tbody").split("\n")]
        assert shown == told["columns"]
    assert page.locator("img").count() == 0
