"""The slider of the report: the trees of the frontier, drawn by the browser, with their rules and their code."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

import boxwood
from boxwood.explanation.change.trees import NodeChanges
from boxwood.explanation.measure.frontier import best_by_size, trees_of_frontier
from tests.programs import program
from tests.render.test_browser import FILL, hostile, near_cuts, opened  # noqa: F401  # the fixture
from tests.scale import seeds

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the browser's library
]


def blobs(seed):
    X, y = make_blobs(400, n_features=5, centers=4, cluster_std=5.0, random_state=seed)
    return X, boxwood.explain(X, y, max_leaf_nodes=6, columns=list("abcde"))


def moved_to(page, at):
    """Move the slider to a place as a person does, by keys, and return what it says."""
    page.focus("#leaves")
    page.keyboard.press("Home")
    for _ in range(at):
        page.keyboard.press("ArrowRight")
    leaves = int(re.match(r"\d+", page.inner_text("#leaves-told"))[0])
    page.wait_for_function(
        "n => document.querySelectorAll('.tree .leaf').length === n && "
        "document.querySelectorAll('.list li .chip').length === n",
        arg=leaves,
    )
    return page.inner_text("#leaves-told")


def test_each_tree_is_that_of_the_frontier(opened):  # noqa: F811
    for seed in seeds(8):
        X, ex = blobs(seed)
        page = opened(ex)
        here = int(page.input_value("#leaves"))
        best, own = best_by_size(ex, ex.frontier(), priced=True)
        sizes = [row.leaves for row in best if not row.is_this]
        larger, last = trees_of_frontier(ex, sizes, priced=True), int(page.get_attribute("#leaves", "max"))
        assert last <= 12
        told = [moved_to(page, at) for at in range(last + 1)]
        shares = [float(re.search(r"right for ([\d.]+)%", one)[1]) for one in told]
        assert shares == sorted(shares)  # more leaves never agree less
        shown = [int(one.split()[0]) for one in told]
        assert shown == sorted({*shown})
        near = {max((n for n in sizes if n < ex.n_leaves), default=2), min(n for n in sizes if n > ex.n_leaves)}
        assert near <= {*shown}  # one question more, and one less
        for at in {0, 1, here, last}:
            told = moved_to(page, at)
            this = next(row for row in ex.frontier() if row.is_this)
            if at == here:
                assert told.endswith(": the tree of this page")
                tree, agreement = ex.tree, this.agreement
            else:
                size = int(told.split()[0])
                found = own if own is not None and size in own.ends else larger
                named = {node: int(found.clusters[node]) for node in found.ends[size]}
                tree = NodeChanges(leaves=named).on(found.tree, ex.n_clusters)
                agreement = float((tree.predict(X) == ex._rows().task.reference.labels).mean())
            assert f"{tree.n_leaves} leaves: right for {agreement:.1%}" in told
            rows = near_cuts(ex, np.random.default_rng(seed), 40)
            tested = tree.features.tolist()
            typed = [[repr(value) for value in row[tested].tolist()] for row in rows]
            answers = page.evaluate(f"rows => rows.map({FILL})", typed)
            assert answers == [
                list(pair) for pair in zip(tree.predict(rows).tolist(), tree.apply(rows).tolist(), strict=True)
            ]
            code = program(page.locator("code[data-form=python]").text_content())
            names = [ex.columns[j] for j in tested]
            assert [code["cluster"](dict(zip(names, row[tested], strict=True))) for row in rows] == [
                ex.names[cluster] for cluster in tree.predict(rows)
            ]
            assert page.locator(".tree .node").count() == tree.n_nodes
            lost = re.findall(r"(\d+) lost", " ".join(page.locator(".tree .node title").all_text_contents()))
            assert sum(map(int, lost)) == round((1 - agreement) * len(X))
            for cluster in range(ex.n_clusters):
                n_rules = page.locator(".card").nth(cluster).locator(".rule").count()
                assert n_rules <= (tree.leaf_clusters == cluster).sum() + 1  # and what these share


def test_back_to_the_first_tree_everything_is_as_it_was(opened):  # noqa: F811
    page = opened(blobs(3)[1])
    parts = "['#of-tree', '.cards', '#fields', '.folded'].map(p => document.querySelector(p).textContent)"
    page.locator(".tree .leaf").first.hover()
    page.mouse.move(0, 0)
    before, here = page.evaluate(parts), int(page.input_value("#leaves"))
    moved_to(page, 0 if here else 1)
    assert page.evaluate(parts) != before
    assert page.locator("#other-tree").is_visible()
    moved_to(page, here)
    assert not page.locator("#other-tree").is_visible()
    assert page.evaluate(parts) == before
    assert page.locator("#leaves").get_attribute("aria-valuetext") == page.inner_text("#leaves-told")


def test_a_phone_has_the_bars_of_each_tree(opened):  # noqa: F811
    """Its list shows them where the picture has no room."""
    page = opened(blobs(3)[1], size="phone")
    for at in (0, int(page.input_value("#leaves")), 2):
        moved_to(page, at)
        bars = page.locator(".list .mini:visible")
        assert bars.count() == page.locator(".tree .node:not(.leaf)").count() > 0
        assert all(found.bounding_box()["height"] > 30 for found in bars.all())


def test_hostile_names_run_nothing_in_a_drawn_tree(opened):  # noqa: F811
    page = opened(hostile())
    if page.locator("#leaves").count():
        for at in (0, 3):
            moved_to(page, at)
    assert page.locator("img, iframe, object, link").count() == 0
    assert page.locator("script").count() == 3 + page.locator("#labeller, #trees, #own").count()


def test_customers_stay_small():
    """The page of the example is at most 150 kB, and its trees at most 60 kB, with all that it can do."""
    for as_of in (None, "2026-07-31"):
        ex = boxwood.explain(pd.read_csv("examples/customers.csv"), "segment", as_of=as_of)
        page = ex.to_html()
        assert len(page.encode()) <= 150_000
        packed = re.search(r'id="trees">([^<]*)<', page)
        assert 0 < len(packed[1]) <= 60_000


def test_a_page_of_one_size_says_so_and_has_trees_without_a_column(opened):  # noqa: F811
    """As two leaves have that are right for all rows; the tree without their column is one click away."""
    for seed in seeds(4, least=2):
        rng = np.random.default_rng(seed)
        age = rng.integers(18, 80, 400)
        frame = pd.DataFrame({"age": age, "income": 90 - age + rng.normal(0, 9, 400)})
        labels = np.where(age > 44, "old", "young")
        page = opened(boxwood.explain(frame, labels))
        assert page.get_by_text("No other size is shown: a smaller tree asks nothing").is_visible()
        assert page.locator("#leaves").is_hidden()
        button = page.locator("[data-without]")
        said = button.inner_text()
        button.focus()
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelector('#deciding').textContent === 'income decides'")
        cluster = program(page.locator("code[data-form=python]").text_content())["cluster"]
        right = [cluster({"income": x}) == y for x, y in zip(frame.income, labels, strict=True)]
        assert f"{np.mean(right):.1%} without age" in said
        page.focus("#return")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelector('#deciding').textContent === 'age decides'")
        assert page.evaluate("document.activeElement.matches('[data-without]')")


def test_a_tree_that_costs_more_than_a_smaller_one_says_so():
    """As more leaves are for more rows in their own cluster, which is not the same as less spread."""
    n_dearer = 0
    for seed in seeds(24, least=12):
        X, _ = make_blobs(300, n_features=3, centers=5, cluster_std=5.0, random_state=seed)
        page = boxwood.explain(X, n_clusters=4, standardize=bool(seed % 2)).to_html()
        if not (found := re.search(r'data-sizes="([^"]*)"', page)):
            continue
        said = [one.replace("_", " ") for one in found[1].split()]
        spread = [re.search(r"rows, (?:([\d.]+)% (more|less) spread out|as compact)", one) for one in said]
        prices = [(float(one[1]) if one[1] else 0.0) * (-1 if one[2] == "less" else 1) for one in spread]
        for i in range(1, len(said)):
            is_said = f"({said[i - 1].split(':')[0]}: " in said[i]
            assert is_said or prices[i] <= prices[i - 1]
            n_dearer += is_said
    assert n_dearer


def test_a_slider_says_why_it_has_no_smaller_tree_and_leaves_out_sizes():
    n_said = np.zeros(2, dtype=int)
    for seed in seeds(12, least=6):
        X, y = make_blobs(300, n_features=3, centers=2 + seed % 3, cluster_std=4.0, random_state=seed)
        page = boxwood.explain(X, y, max_leaf_nodes=2 + seed % 3).to_html()
        sizes = [int(one.split("_")[0]) for one in re.search(r'data-sizes="([^"]*)"', page)[1].split()]
        is_least, has_gaps = seed % 3 == 0, sizes != [*range(2, sizes[-1] + 1)]
        assert (
            len(sizes) > 1 and "No tree is smaller than that of this page: it would ask nothing." in page
        ) == is_least
        assert (len(sizes) > 1 and "A size is left out if no tree of it was found" in page) == has_gaps
        n_said += is_least, has_gaps
    assert n_said.all()


def test_without_a_column(opened):  # noqa: F811
    """A click shows the tree that does not test a column, and a second click the first tree again."""
    X, ex = blobs(1)
    page = opened(ex)
    buttons = page.locator("[data-without]")
    assert 0 < buttons.count() <= ex.tree.features.size
    rights = []
    for button in buttons.all():
        share, name, points, leaves = re.fullmatch(
            r"(.*%) without (.*), (.*); (\d+) lea.*", button.inner_text()
        ).groups()
        button.click()
        page.wait_for_function("b => b.ariaPressed === 'true'", arg=button.element_handle())
        assert page.locator(".tree .leaf").count() == int(leaves) <= ex.n_leaves
        assert f"Cut 1 on {name}:" not in page.locator(".list").text_content()
        code = program(page.locator("code[data-form=python]").text_content())
        assert name not in code["COLUMNS"]
        found = [code["cluster"](dict(zip(ex.columns, row, strict=True))) for row in X.tolist()]
        right = (np.array(found) == ex._rows().task.reference.labels).mean()
        assert share == f"{right:.1%}"
        less = round(100 * ex.agreement, 1) - round(100 * right, 1)
        lost = points.split()
        assert less == pytest.approx(0 if points == "as many" else float(lost[0]) * (1 if lost[2] == "less" else -1))
        assert right <= ex.agreement + 0.01
        rights.append(right)
        button.click()
        page.wait_for_function("b => b.ariaPressed === 'false'", arg=button.element_handle())
        assert not page.locator("#other-tree").is_visible()
    assert page.locator(".tree .leaf").count() == ex.n_leaves
    assert rights == sorted(rights, reverse=True)  # the column that is missed least comes first


def test_a_flag_is_said_in_one_way_on_a_page(opened):  # noqa: F811
    """As yes and no: where rules of another tree ask for it, in its picture and form, and where clusters are told."""
    for seed in seeds(3, least=1):
        rng = np.random.default_rng(seed)
        age, flag = rng.integers(18, 80, 400), rng.random(400)
        frame = pd.DataFrame({"age": age, "member": flag < 0.1 + 0.8 * (age > 44), "other": flag > 0.5})
        page = opened(boxwood.explain(frame, np.where(age > 44, "old", "young")))
        page.locator("[data-without]").click()
        page.wait_for_function("() => document.querySelector('#deciding').textContent === 'member decides'")
        assert sorted(page.locator(".card .rule").all_inner_texts()) == ["member", "not member"]
        assert {"yes", "no"} <= {*page.locator(".tree text").all_text_contents()}
        assert page.locator("#fields option").all_inner_texts() == ["no", "yes"]
        assert re.search(r"[\d.]+% (yes|no)", page.inner_text("table.profile"))
        assert not re.search(r"\b(True|False)\b|= [01]\b", page.inner_text("main"))


def test_without_the_only_column(opened):  # noqa: F811
    """Rules of one column may be made without it, too, where there is another one."""
    y = np.repeat([0, 1, 2], 60)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"near": 5 * y + rng.normal(size=180), "far": 3 * y + rng.normal(size=180)})
    ex = boxwood.explain(table, y)
    assert ex.tree.features.tolist() == [0]
    page = opened(ex)
    page.get_by_role("button", name="without near").click()
    page.wait_for_function("() => document.querySelector('#deciding').textContent.startsWith('far ')")
    assert not opened(boxwood.explain(table[["near"]], y)).locator("[data-without]").count()


def test_trees_of_ages_have_code(opened):  # noqa: F811
    """Smaller and larger trees, and those without a column, count ages from the day that is given."""
    frame = pd.read_csv("examples/customers.csv")
    ex = boxwood.explain(frame, "segment", as_of="2026-07-31")
    page = opened(ex)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")

    def check(told):
        code = program(page.locator("code[data-form=python]").text_content())
        day = ("2026-07-31",) if "last_order" in code["COLUMNS"] else ()
        right = np.mean([code["cluster"](row, *day) == row["segment"] for row in rows])
        assert re.search(r"[\d.]+%", told)[0] == f"{right:.1%}"

    here, last = int(page.input_value("#leaves")), int(page.get_attribute("#leaves", "max"))
    for at in range(last + 1):
        check(moved_to(page, at))
    moved_to(page, here)
    for button in page.locator("[data-without]").all():
        button.click()
        page.wait_for_function("b => b.ariaPressed === 'true'", arg=button.element_handle())
        check(button.inner_text())
