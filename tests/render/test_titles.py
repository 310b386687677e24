"""Titles of columns: the page and the picture call columns by them, and code keeps the names."""

import html
import re
from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import boxwood
from boxwood.errors import DataError
from tests.command import invoke
from tests.render.test_page import HOSTILE_NAMES, Page, customers
from tests.scale import law


def explained(seed):
    rng = np.random.default_rng(seed)
    frame, labels = customers(300, seed)
    frame.columns = names = [f"raw_name_{name}" for name in frame.columns]
    ex = boxwood.explain(frame, labels, max_leaf_nodes=int(rng.integers(3, 8)))
    if seed % 2:
        ex.stability(n=3)
    if seed % 3 == 1:
        ex.standalone_rules()
    return ex, names


CODE = r'(?s)<code data-form="(?:sql|python|javascript|formula)">.*?</code>'


@law(3)
def test_a_page_calls_columns_by_their_titles_and_code_by_their_names(seed):
    ex, names = explained(seed)
    before, titles = ex.to_html(), {name: f"Title of {name[9:]}" for name in names}
    page, picture = ex.to_html(titles=titles), ex.to_svg(titles=titles)
    assert re.findall(CODE, page) == re.findall(CODE, before)
    rest = re.sub(r"<p>Note: .*</p>", "", re.sub(CODE, "", page))
    of_file = re.search(r'"file":.*', rest)[0]
    assert "raw_name_" in of_file
    assert "raw_name_" not in re.sub(r"(?s)<style>.*?</style>|<script>.*?</script>", "", rest.replace(of_file, ""))
    assert "raw_name_" not in picture
    tested = [titles[ex.columns[j]] for j in ex.tree.features]
    assert all(f'<tspan class="title" dx="5">{title[:12]}' in page for title in tested)
    assert ex.to_html() == before


@pytest.mark.parametrize("first", range(0, 9, 3))
def test_hostile_titles_stay_text(first):
    X, y = make_blobs(200, n_features=3, centers=3, cluster_std=6.0, random_state=0)
    ex = boxwood.explain(X, y, columns=list("abc"), method="cart", max_leaf_nodes=5)
    hostile = dict(zip("abc", HOSTILE_NAMES[first : first + 3], strict=True))
    pages = [ex.to_html(titles=titles) for titles in ({}, hostile)]
    left_out = ("text", "path")  # labels of bars that do not fit
    tags = [Counter(tag for tag, _ in Page(page).elements if tag not in left_out) for page in pages]
    assert tags[0] == tags[1]
    assert ex.to_svg(titles=hostile).count("<svg") == ex.to_svg().count("<svg")


def test_titles_are_checked():
    ex = boxwood.explain([[1.0, 2.0], [9.0, 2.0]], [0, 1], columns=["size", "age"])
    for write in (ex.to_html, ex.to_svg):
        with pytest.raises(DataError, match=r"no column .sizes. .* in the table; its columns are size, age"):
            write(titles={"sizes": "Size"})
        with pytest.raises(ValueError, match="titles must tell columns apart, but 2 would be called 'age'"):
            write(titles={"size": "age"})
        with pytest.raises(TypeError, match="titles must be a mapping from names of columns to texts, got 3"):
            write(titles=3)


def test_the_command_gives_titles(tmp_path):
    (tmp_path / "t.csv").write_text("size,kind\n1,low\n2,low\n8,high\n9,high\n", encoding="utf-8")
    words = [
        "explain",
        str(tmp_path / "t.csv"),
        "--labels",
        "kind",
        "-o",
        str(tmp_path / "page.html"),
        "--titles",
        "size=Size in m",
    ]
    result = invoke(*words)
    assert "Size in m" in html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    result = invoke(*words[:-1], "size", code=2)
    assert "give COLUMN=TITLE" in result.stderr
