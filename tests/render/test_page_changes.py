"""What a reader changes on the report: names, with the line of Python for them; rules copied as code."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import boxwood
from tests.render.test_browser import opened  # noqa: F401  # the fixture
from tests.render.test_page import HOSTILE_NAMES

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the browser's library
]


def explained(names):
    X, y = make_blobs(200, n_features=4, centers=3, cluster_std=4.0, random_state=0)
    return boxwood.explain(X, np.array(names, dtype=object)[y], max_leaf_nodes=4, columns=list("abcd"))


def test_names_are_given_by_keys(opened):  # noqa: F811
    for names in (["x", "it's", 'a "b"'], [0, 1, 2]):
        ex = explained(names)
        page = opened(ex)
        new = dict(zip(ex.names, ["Grocers", HOSTILE_NAMES[1], "back\\slash"], strict=True))
        for i, name in enumerate(new.values()):
            page.locator(".card .rename").nth(i).focus()
            page.keyboard.press("Enter")
            page.keyboard.type(name)
            page.keyboard.press("Enter")
            assert page.locator(".card h3 bdi").nth(i).inner_text() == name
            assert name in page.locator(".names").first.inner_text()
        assert page.locator("#result bdi").first.inner_text() in page.locator(".cards").inner_text()
        scope = {"ex": ex}
        exec(page.inner_text("#lines-of-python"), scope)
        assert scope["ex"].names == ex.rename(new).names
        page.locator(".card .rename").first.click()
        page.keyboard.type("another")
        page.keyboard.press("Escape")
        assert page.locator(".card h3 bdi").first.inner_text() == "Grocers"
        assert page.locator("img").count() == 0


def test_given_names_stay_when_the_tree_changes(opened):  # noqa: F811
    """A name that is given beside one tree is that of the cluster in all others, and in the first one again."""
    X, y = make_blobs(300, n_features=4, centers=3, cluster_std=5.0, random_state=0)
    page = opened(boxwood.explain(X, y, max_leaf_nodes=5))
    texts = "['.mark', '.title'].map(part => leaf.querySelector(part).textContent)"
    titles = f"[...document.querySelectorAll('.tree .leaf')].map(leaf => {texts})"
    here = int(page.input_value("#leaves"))
    names = {}
    for at, key in ((0, "Home"), (1, "End"), (2, "Home")):
        page.locator(".card .rename").nth(at).click()
        page.keyboard.type(f"Given {at}")
        page.keyboard.press("Enter")
        names[str(at)] = f"Given {at}"
        page.focus("#leaves")
        before = page.locator(".tree .leaf").count()
        page.keyboard.press(key)
        page.wait_for_function("n => document.querySelectorAll('.tree .leaf').length !== n", arg=before)
        assert {mark: title for mark, title in page.evaluate(titles) if mark in names}.items() <= names.items()
    page.focus("#leaves")
    for _ in range(here):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('#other-tree').hidden")
    assert dict(page.evaluate(titles)) == names
    assert all(name in page.locator(".list").text_content() for name in names.values())


def test_all_rules_are_copied_as_code(opened):  # noqa: F811
    ex = explained(["x", "y", "z"])
    page = opened(ex)
    for form, text in (("python", ex.to_python()), ("sql", ex.to_sql()), ("formula", ex.to_formula())):
        button = page.locator(f"[data-take={form}]")
        button.click()
        page.wait_for_function("b => b.textContent === 'Copied'", arg=button.element_handle())
        assert page.evaluate("navigator.clipboard.readText()").strip() == text.strip()
