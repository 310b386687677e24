"""What a reader changes on the report: names, with the line of Python for them; rules copied as code."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import boxwood
from boxwood.render.forms.boxes import boxes_by_cluster
from boxwood.render.forms.code import python_of_boxes
from boxwood.render.forms.formula import formula_of_boxes
from boxwood.render.forms.sql import sql_of_boxes
from boxwood.words.rules import cluster_rule
from tests.programs import program
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
            assert page.locator(".card input").count() == 0
            assert page.evaluate("document.activeElement.getAttribute('aria-label')") == f"Rename cluster {i}"
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


def test_a_name_that_another_cluster_has_is_refused_in_words(opened):  # noqa: F811
    page = opened(explained(["x", "y", "z"]))
    button = page.locator(".card .rename").first
    button.focus()
    page.keyboard.press("Enter")
    page.keyboard.type("y")
    page.keyboard.press("Enter")
    assert page.locator(".card [role=alert]").all_inner_texts() == ["The name stays: y is that of another cluster."]
    assert page.locator(".card h3 bdi").first.inner_text() == "x"
    assert page.locator("#changes").is_hidden()
    page.keyboard.press("Enter")  # the button has the focus again
    assert page.locator(".card [role=alert]").count() == 0
    page.keyboard.type("w")
    page.keyboard.press("Enter")
    assert page.locator(".card h3 bdi").first.inner_text() == "w"
    assert page.locator(".card [role=alert]").count() == 0


def test_a_name_that_is_undone_is_that_of_before_everywhere(opened):  # noqa: F811
    """In the headers of tables, too, which leave out names that say no more than the chip."""
    for names in ([0, 1, 2], ["x", "y", "a long name " * 8]):
        page = opened(explained(names))
        page.wait_for_selector("#by-hand:not([hidden])")
        parts = "'.names, #of-tree, .cards, .profile, .confusion, #result'"
        everything = f"[...document.querySelectorAll({parts})].map(part => part.outerHTML)"
        before = page.evaluate(everything)
        for cluster in range(3):
            page.locator(".card .rename").nth(cluster).click()
            page.keyboard.type(f"Given {cluster}")
            page.keyboard.press("Enter")
            assert f"Given {cluster}" in page.locator(".profile thead").inner_text()
            assert f"Given {cluster}: " in "".join(page.locator(".tree .leaf title").all_text_contents())
        while page.locator("#changes .undo").is_visible():
            page.locator("#changes .undo").click()
        assert page.evaluate(everything) == before


def test_titles_stay_in_their_boxes(opened):  # noqa: F811
    """In the font of the browser: of columns, of clusters, and of names that are given."""
    X, y = make_blobs(300, n_features=3, centers=3, cluster_std=4.0, random_state=0)
    columns = ["od280/od315_of_diluted_wines", "W" * 30, "ordinary"]
    page = opened(boxwood.explain(X, np.array(["W" * 40, "iiii " * 9, "c"])[y], max_leaf_nodes=5, columns=columns))
    over = """[...document.querySelectorAll('.tree .node')].map(node => {
        const box = node.querySelector('rect').getBBox();
        const texts = [...node.querySelectorAll(':scope > text')].map(text => text.getBBox());
        return texts.map(({x, width}) => box.width - x - width);
    }).flat().filter(room => room < 3)"""
    assert page.evaluate(over) == []
    page.locator(".card .rename").nth(2).click()
    page.keyboard.type("M and W " * 12)
    page.keyboard.press("Enter")
    assert "M and" in page.locator(".tree").text_content()
    assert page.evaluate(over) == []
    before = page.locator(".tree .leaf").count()
    page.focus("#leaves")
    page.keyboard.press("Home")
    page.wait_for_function("n => document.querySelectorAll('.tree .leaf').length !== n", arg=before)
    assert page.evaluate(over) == []


def copied_by(page, button):
    """Return what a button copies, pressed by a key once it is shown."""
    button.wait_for()
    button.evaluate("""button => {
        window.isCopied = new Promise(done => {
            const seen = new MutationObserver(() => { if (button.textContent === "Copied") done(); });
            seen.observe(button, {childList: true});
        });
    }""")  # a glance now and then could miss the word, or see that of the press before
    button.focus()
    page.keyboard.press("Enter")
    page.evaluate("window.isCopied")
    return page.evaluate("navigator.clipboard.readText()").strip()


def test_all_rules_are_copied_in_the_form_that_is_chosen(opened):  # noqa: F811
    ex = explained(["x", "y", "z"])
    page = opened(ex)
    words = "\n".join(f"{one.name}: {cluster_rule(one, whole=True)}" for one in ex.clusters)
    for form, text in (("text", words), ("python", ex.to_python()), ("sql", ex.to_sql()), ("formula", ex.to_formula())):
        page.select_option("#take select", form)
        assert copied_by(page, page.locator("#take button").first) == text.strip()


def test_copied_python_begins_with_the_lines_that_change_it_again(opened):  # noqa: F811
    """As names that are given stay on the page; other forms are as they were."""
    ex = explained(["x", "it's", HOSTILE_NAMES[1]])
    page = opened(ex)
    for i, name in enumerate(("Grocers", 'so "called"\\', HOSTILE_NAMES[0])):
        page.locator(".card .rename").nth(i).click()
        page.keyboard.insert_text(name)
        page.keyboard.press("Enter")
    page.select_option("#take select", "sql")
    assert copied_by(page, page.locator("#take button").first) == ex.to_sql().strip()
    page.select_option("#take select", "python")
    text, scope = copied_by(page, page.locator("#take button").first), {"ex": ex}
    assert text.endswith(ex.to_python().strip())
    exec(text.removesuffix(ex.to_python().strip()).replace("# ex = ", "ex = "), scope)
    assert scope["ex"].names == ("Grocers", 'so "called"\\', HOSTILE_NAMES[0])
    row = dict.fromkeys(ex.columns, 0.0)
    assert program(text)["cluster"](row) == program(ex.to_python())["cluster"](row)


def test_the_rule_of_one_cluster_is_copied_in_the_form_that_is_chosen(opened):  # noqa: F811
    """By its name that is shown in words, by that of the table in code; of another tree in words alone."""
    ex = explained(["x", "it's", HOSTILE_NAMES[1]])
    page = opened(ex)
    page.locator(".card .rename").first.click()
    page.keyboard.type("Grocers")
    page.keyboard.press("Enter")
    boxes = boxes_by_cluster(ex)
    named = zip(["Grocers", *ex.names[1:]], ex.clusters, strict=True)
    words = [f"{name}: {cluster_rule(one, whole=True)}" for name, one in named]
    code = [words, *([write(one) for one in boxes] for write in (python_of_boxes, sql_of_boxes, formula_of_boxes))]
    for form, texts in zip(("text", "python", "sql", "formula"), code, strict=True):
        page.select_option("#take select", form)
        for cluster, text in enumerate(texts):
            assert copied_by(page, page.locator(".card .take").nth(cluster)) == text.strip()
    page.focus("#leaves")
    page.keyboard.press("Home")
    page.wait_for_function("() => !document.querySelector('#other-tree').hidden")
    page.wait_for_function("() => [...document.querySelectorAll('.take')].every(button => button.hidden)")
    page.select_option("#take select", "text")
    shown = [page.locator(".card .rules").nth(i).inner_text() for i in range(3)]
    for cluster, text in enumerate(shown):
        said = copied_by(page, page.locator(".card .take").nth(cluster))
        assert all(line in said for line in text.split("\n") if line != "or" and not line.startswith("no rule"))
