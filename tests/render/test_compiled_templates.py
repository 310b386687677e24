"""Templates of the page that are kept compiled: made once, left alone where they are damaged, and not needed."""

import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import boxwood
from boxwood.render.page import _compiled, _template


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder in which modules and templates are kept compiled; what was compiled before is forgotten."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    _template._environment.cache_clear()
    yield Path(_compiled._path("x", "1")).parent
    _template._environment.cache_clear()


def test_templates_are_compiled_once(folder, monkeypatch):
    iris = load_iris()
    ex = boxwood.explain(iris.data, iris.target)
    page = ex.to_html()
    kept = {path.name: path for path in folder.iterdir() if "-jinja" in path.name}
    assert {name.split(".cpython")[0] for name in kept} >= {"page.html", "parts.html", "sections.html", "style.css"}
    written = {path: path.read_bytes() for path in kept.values()}
    _template._environment.cache_clear()
    with monkeypatch.context() as patched:  # nothing is compiled, so whatever would do it may fail
        patched.setattr("jinja2.environment.Environment.compile", None)
        assert ex.to_html() == page
    changed = [content[:-1] for content in written.values()]  # cut off, and something else altogether
    for content in (*changed[:1], b"", b"x" * 40):
        for path in written:
            path.write_bytes(content)
        _template._environment.cache_clear()
        assert ex.to_html() == page
        assert {path: path.read_bytes() for path in written} == written


def test_a_page_is_written_where_nothing_can_be_kept(folder, monkeypatch):
    iris = load_iris()
    ex = boxwood.explain(iris.data, iris.target)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    page = ex.to_html()
    assert not folder.exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file where the folder would be")
    _template._environment.cache_clear()
    assert ex.to_html() == page
