"""The widget in a browser: dragged, driven by keys, audited and attacked; once in JupyterLab, as people use it."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from importlib.resources import files
from socket import socket

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

import boxwood as bw
from boxwood.render.notebook.editing import Editing
from tests.render.test_browser import mixed
from tests.render.test_hostile_names import NAMES
from tests.render.test_page import HOSTILE_NAMES

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the browser's library
]
SCRIPT = files("boxwood.render.notebook").joinpath("editor.js").read_text(encoding="utf-8")
SHOW = """async ([script, view, late]) => {
  const listeners = {};
  const model = {
    get: () => view,
    on: (name, listener) => { listeners[name] = listener; },
    off: () => {},
    send: async (message) => {
      const told = await window.toPython(message);
      if (told.view) { view = told.view; listeners["change:view"](); }
      listeners["msg:custom"](told.answer);
    },
  };
  const source = URL.createObjectURL(new Blob([script], {type: "text/javascript"}));
  const editor = (await import(source)).default;
  const main = document.querySelector("main");
  if (!late) return editor.render({model, el: main});
  const cell = document.createElement("div");
  editor.render({model, el: cell});
  main.append(cell);
}"""
PAGE = """<!doctype html><html lang=en><head><meta charset=utf-8><title>A notebook</title></head>
<body style="margin:8px;color:{ink};background:{paper}"><main><h1>A cell</h1></main></body></html>"""


@pytest.fixture
def shown(chromium):
    """Return a function that shows a widget without a notebook; whatever it logs or loads fails the test."""
    contexts, logs, requests = [], [], []

    def show(ex, *, dark=False, width=1200, late=False):
        context = chromium.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        page, editing = context.new_page(), Editing(ex)

        def to_python(message):
            before = editing.explanation, editing.taken
            answer = editing.answer(message) | {"id": message["id"]}
            is_same = editing.explanation is before[0] and editing.taken is before[1]
            return json.loads(json.dumps({"answer": answer, "view": None if is_same else editing.view()}))

        page.on("console", lambda message: logs.append(message.text))
        page.on("pageerror", lambda error: logs.append(str(error)))
        page.on("dialog", lambda dialog: logs.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        page.expose_function("toPython", to_python)
        page.set_content(PAGE.format(ink="#eee" if dark else "#111", paper="#111" if dark else "#fff"))
        page.evaluate(SHOW, [SCRIPT, json.loads(json.dumps(editing.view())), late])
        return page, editing

    yield show
    for context in contexts:
        context.close()
    assert logs == []
    assert [url for url in requests if not url.startswith(("about:", "blob:"))] == []


BESIDE = {"x": 12, "y": 10}  # in a box, beside the handle of its threshold


def explained(n=600):
    X, y = make_blobs(n, n_features=3, centers=4, cluster_std=3.0, random_state=1)
    return bw.explain(X, np.array(["a", "b", "c", "d"])[y], method="cart", columns=["u", "v", "w"], max_leaf_nodes=5)


def test_a_threshold_is_dragged(shown):
    ex = explained()
    page, editing = shown(ex)
    grip = page.locator(".handle .grip").first.bounding_box()
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    agreement = page.locator('[data-number="Agreement"]')
    assert agreement.inner_text() == f"{ex.agreement:.1%}"
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 24, y, steps=4)
    page.locator(".told", has_text="move").wait_for()
    dragged, price = agreement.inner_text(), page.locator('[data-number="Price"]').inner_text()
    assert dragged != f"{ex.agreement:.1%}"
    assert editing.explanation is ex  # nothing is changed before it is let go
    page.mouse.up()
    page.locator('[data-do="undo"]:enabled').wait_for()
    assert agreement.inner_text() == dragged == f"{editing.explanation.agreement:.1%}"
    assert page.locator('[data-number="Price"]').inner_text() == price
    [edit] = editing.explanation.changes
    assert edit.line.startswith("ex = ex.move_cut(")
    assert page.locator(".python pre").text_content() == edit.line
    page.locator('[data-do="take"]').click()
    page.locator(".told", has_text="taken").wait_for()
    assert editing.taken is editing.explanation
    page.locator('[data-do="undo"]').click()
    page.locator(".told", has_text="undone").wait_for()
    assert agreement.inner_text() == f"{ex.agreement:.1%}"


@pytest.mark.parametrize("dark", [False, True])
def test_a_tree_is_drawn_before_the_notebook_shows_its_place(shown, dark):
    page, _ = shown(explained(), dark=dark, late=True)
    page.locator(f".root[data-theme={'dark' if dark else 'light'}]").wait_for()
    assert page.locator(".handle").count() == 4
    assert page.locator('[data-do="undo"]:disabled').count() == 1


def test_keys_move_a_threshold_to_the_next_value(shown):
    ex = explained()
    page, editing = shown(ex)
    handle = page.locator(".handle").first
    handle.focus()
    first = handle.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    page.locator(".handle.moving").wait_for()
    assert handle.get_attribute("aria-valuetext") != first
    assert "move" in handle.get_attribute("aria-valuetext")
    page.keyboard.press("Escape")
    page.wait_for_selector(".handle.moving", state="detached")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.locator('[data-do="undo"]:enabled').wait_for()
    page.keyboard.press("ArrowLeft")  # the same threshold has the focus again
    page.wait_for_function(
        "() => document.querySelector('main > div').shadowRoot.querySelector('.python pre').textContent.includes('\\n')"
    )
    assert [edit.line.startswith("ex = ex.move_cut(") for edit in editing.explanation.changes] == [True, True]
    assert all(sum(one.size for one in edit.moved) <= 3 for edit in editing.explanation.changes)


def test_cuts_and_leaves_are_changed_from_the_panel(shown):
    table, ex = mixed()
    page, editing = shown(ex)
    lines = []

    def made(verb):
        page.wait_for_function(
            "n => document.querySelector('main > div').shadowRoot.querySelector('.python pre').textContent"
            ".split('ex = ').length === n + 1",
            arg=len(lines) + 1,
        )
        lines.append(editing.explanation.changes[-1].line)
        assert lines[-1].startswith(f"ex = ex.{verb}("), lines

    panel = page.locator(".panel")
    page.locator("g.node.leaf").first.click()
    panel.get_by_label("Column").select_option(label="spend")
    panel.get_by_label("Up to").wait_for()
    panel.get_by_role("button", name="Split this leaf").click()
    made("split")
    page.locator('g.node[data-node="11"]').focus()
    page.keyboard.press("Enter")
    panel.get_by_label("Column").select_option(label="channel")
    panel.get_by_label("retail").check()
    panel.get_by_role("button", name="Replace this cut").click()
    made("replace_cut")
    page.locator("g.node:not(.leaf)").nth(1).click(position=BESIDE)
    panel.get_by_role("button", name="Drop this cut").click()
    made("prune")
    page.locator("g.node.leaf").first.click()
    panel.get_by_role("button", name="Merge").click()
    made("merge_clusters")
    panel.get_by_label("Name").fill("<b>all & sundry</b>")
    panel.get_by_role("button", name="Rename").click()
    made("rename")
    assert page.locator(".names bdi", has_text="<b>all & sundry</b>").count() == 1
    page.locator("g.node:not(.leaf)").first.click(position=BESIDE)
    panel.get_by_role("button", name="Search again").click()
    made("without")
    assert editing.answer({"do": "take"})["said"].endswith("6 changes")
    assert editing.taken.predict(table, missing="none").shape == (len(table),)


def test_a_change_that_is_refused_says_why(shown):
    page, editing = shown(explained())
    page.locator("g.node:not(.leaf)").first.click(position=BESIDE)
    page.get_by_label("Value").fill("soon")
    page.get_by_role("button", name="Move", exact=True).click()
    page.locator(".told.wrong", has_text="holds numbers, got the text").wait_for()
    assert editing.explanation.changes == ()


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(shown, dark):
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    for width in (1200, 390):
        page, _ = shown(explained(), dark=dark, width=width)
        page.locator(".handle").first.click()  # what is not dragged is chosen
        page.get_by_role("button", name="Drop this cut").wait_for()
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
        assert page.locator(".root").get_attribute("data-theme") == ("dark" if dark else "light")


def test_hostile_names_and_words_run_nothing(shown):
    texts = [*HOSTILE_NAMES, *NAMES]
    for start in range(0, len(texts), 6):
        some = [f"{i}{text}" for i, text in enumerate(texts[start : start + 6])]
        rng = np.random.default_rng(start)
        frame = pd.DataFrame({name: rng.normal(size=120) for name in some[:2]} | {"words": rng.choice(some, 120)})
        labels = np.array(some[:3])[(frame.iloc[:, 0] > 0) + (frame["words"] == some[0]) * 1]
        page, editing = shown(bw.explain(frame, labels, method="cart", max_leaf_nodes=4))
        for node in range(editing.explanation.tree.n_nodes):
            page.locator(f'g.node[data-node="{node}"]').dispatch_event("click")
            page.locator(".panel select").first.select_option(label="words")
            assert page.locator(".panel .choices input").count() == len(some)
        editing.answer({"do": "rename", "cluster": 0, "name": f"{texts[start]} !"})
        assert page.evaluate("document.querySelectorAll('img, iframe').length") == 0


# ------------------------------------------------------------------------------------------------------- JupyterLab

CELLS = (
    """import boxwood, numpy
x = numpy.arange(60.0)
widget = boxwood.explain(x[:, None], numpy.where(x > 30, "old", "young"), columns=["age"]).edit()
widget""",
    "print(widget.explanation.changes)",
)


@pytest.fixture
def lab(tmp_path):
    """Return the address of a notebook in a JupyterLab that was started for it."""
    cells = [
        {"cell_type": "code", "id": f"c{i}", "execution_count": None, "metadata": {}, "outputs": [], "source": cell}
        for i, cell in enumerate(CELLS)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "edit.ipynb").write_text(json.dumps(book))
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folders = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    folders |= {"JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "workspaces"), "IPYTHONDIR": str(tmp_path / "ipython")}
    options = ["--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token=t", "--LabApp.news_url="]
    command = [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={tmp_path}"]
    with (
        open(tmp_path / "lab.log", "w") as log,
        subprocess.Popen(command, env=os.environ | folders, stdout=log, stderr=log) as server,
    ):
        at = f"http://127.0.0.1:{port}"
        end = time.monotonic() + 180
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(f"{at}/api?token=t", timeout=5).close()
                break
            except OSError:
                time.sleep(0.25)
        yield f"{at}/lab/tree/edit.ipynb?token=t&reset"
        server.terminate()


def run_cell(page, cell):
    """Run a cell: keys are lost while the notebook is still put together, so they are pressed until they are taken."""
    for _ in range(20):
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(1000)
        if cell.locator(".jp-InputPrompt").first.inner_text() != "[ ]:":
            return
    raise AssertionError(f"the cell did not run: {cell.inner_text()}")


def test_a_tree_is_changed_in_jupyterlab(chromium, lab):
    context = chromium.new_context(viewport={"width": 1300, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(lab)
    page.get_by_text("(ipykernel) | Idle").wait_for()
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    run_cell(page, cells.first)
    handle = page.locator(".handle").first
    handle.wait_for(state="attached")
    grip = page.locator(".handle .grip").first.bounding_box()
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y, steps=4)
    page.locator(".told", has_text="rows move").wait_for()
    page.mouse.up()
    page.locator('[data-do="undo"]:enabled').wait_for()
    handle.focus()
    page.keyboard.press("ArrowRight")  # no command of the notebook
    page.keyboard.press("Enter")
    page.locator(".python pre", has_text=re.compile("move_cut.*move_cut", re.DOTALL)).wait_for(state="attached")
    page.locator("g.node").first.click(position=BESIDE)
    page.get_by_label("Value").fill("dd")  # deletes a cell where keys are commands
    page.locator('[data-do="take"]').click()
    page.locator(".told", has_text="taken").wait_for()
    assert cells.count() == len(CELLS)
    run_cell(page, cells.nth(1))
    said = cells.nth(1).locator(".jp-OutputArea-output")
    said.wait_for()
    lines = said.inner_text().splitlines()
    assert [line.startswith("ex = ex.move_cut('age', ") for line in lines[::2]] == [True, True], lines
    context.close()
