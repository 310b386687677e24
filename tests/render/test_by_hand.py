"""What a reader does with the tree of a report by hand: a threshold moves, leaves are merged; Python does it again."""

import json
import re
import zlib
from base64 import urlsafe_b64decode
from collections import Counter
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from sklearn.datasets import make_blobs

import boxwood
from boxwood.render.pictures.swatches import colour_of
from boxwood.words.rules import NO_RULE, cluster_rule
from boxwood.words.values import cluster_name, percent
from tests.programs import program
from tests.render.test_browser import FILL, hostile, opened  # noqa: F401  # the fixture
from tests.render.test_page import HOSTILE_NAMES
from tests.render.test_slider import moved_to as on_slider
from tests.scale import seeds

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the browser's library
]


def blobs(seed):
    X, y = make_blobs(500, n_features=4, centers=4, cluster_std=4.0, random_state=seed)
    return pd.DataFrame(X.round(1), columns=list("abcd")), y


def whole(seed):
    frame, y = blobs(seed)
    return frame.round(0).astype(int), y


def gaps(seed):
    """Return numbers of which some are missing, words and dates."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"orders": rng.integers(0, 40, 400).astype(float), "spend": rng.exponential(90.0, 400).round()}
    )
    frame["seen"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 200, 400), "D")
    frame["plan"] = rng.choice(["free", "plus", HOSTILE_NAMES[1]], 400)
    y = np.where(frame.orders > 25, "many", np.where(frame.seen < "2026-03-01", "it's early", "late"))
    y = np.where((frame.spend > 150) & (rng.random(400) < 0.8), "rich", y)
    frame.loc[rng.random(400) < 0.1, "orders"] = np.nan
    return frame, y


def customers(seed):
    frame = pd.read_csv("examples/customers.csv").sample(350, random_state=seed)
    return frame.drop(columns="segment"), frame.segment.to_numpy()


CASES = {
    "numbers": (blobs, {}),
    "whole": (whole, {}),
    "gaps": (gaps, {}),
    "customers": (customers, {}),
    "ages": (gaps, {"as_of": "2026-08-01"}),
    "weights": (blobs, {"sample_weight": np.random.default_rng(0).integers(1, 4, 500)}),
}


def made(kind, seed, **options):
    make, more = CASES[kind]
    frame, labels = make(seed)
    return frame, boxwood.explain(frame, labels, **{"max_leaf_nodes": 6} | more | options)


READ = """() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const cards = all(".card").map((card, at) => ({card, at})).filter(({card}) => card.checkVisibility());
  return {
    cards: cards.map(({card, at}) => ({
      at, name: card.querySelector("h3 bdi").innerText, first: card.querySelector("p").innerText,
      lines: all(".rule li", card).map(line => line.innerText)})),
    code: Object.fromEntries(all("code[data-form]").map(code => [code.dataset.form, code.textContent])),
    leaves: all(".tree .leaf").map(leaf => leaf.textContent),
    deciding: document.querySelector("#deciding").innerText,
    moves: all("#by-hand .move").map(control => control.getAttribute("aria-valuetext")),
    lines: document.querySelector("#lines-of-python").textContent};
}"""  # one call of the browser takes as long as many of these


def check_tree(page, ex, frame):
    """Check that the page shows the tree that its lines of Python make, and return that."""
    shown, scope = page.evaluate(READ), {"ex": ex}
    exec(shown["lines"], scope)
    new, cards = scope["ex"], shown["cards"]
    own = new.rename(
        {new.names[at]: ex.names[card["at"]] for at, card in enumerate(cards)}
    )  # code has the table's names
    for form, code in (("python", own.to_python()), ("javascript", own.to_javascript()), ("sql", own.to_sql())):
        lines = shown["code"][form].split("\n")
        assert lines[form != "sql" :] == code.rstrip().split("\n")[form != "sql" :]  # the first line has the source
    assert shown["code"]["formula"] == own.to_formula().rstrip()
    assert [card["name"] for card in cards] == [*map(cluster_name, new.names)]
    for card, cluster in zip(cards, new.clusters, strict=True):
        for rule in cluster.rules:
            assert all(any(condition.column in line for line in card["lines"]) for condition in rule)
        if not new.details.weighted:
            assert card["first"].startswith(f"{cluster.size:,.0f} row")
    assert [re.search(r"(\d[\d,]*)(?: rows?)?, ", text)[1] for text in shown["leaves"]] == [
        f"{leaf.size:,.0f}" for leaf in new.leaves
    ]
    tested = [new.columns[j] for j in new.tree.features.tolist()]
    assert shown["deciding"].endswith(" decides" if len(tested) == 1 else " decide")
    assert all(name in shown["deciding"] for name in tested)
    assert all(f"right for {percent(new.agreement)} of the" in said for said in shown["moves"])
    return new


def moved_to(page, control, at):
    """Move a threshold to a place as a person does, by keys, and return what is said of it."""
    page.wait_for_selector("#by-hand:not([hidden])")
    control.focus()
    page.keyboard.press("Home")
    for _ in range(at):
        page.keyboard.press("ArrowRight")
    said = control.evaluate("range => range.nextElementSibling.textContent")
    assert control.get_attribute("aria-valuetext") == said
    return said


@pytest.mark.parametrize("kind", CASES)
def test_a_threshold_moves_to_what_python_makes_of_it(opened, kind):  # noqa: F811
    n_moved = 0
    for seed in seeds(4, least=2):
        frame, ex = made(kind, seed)
        page = opened(ex)
        for control in page.locator("#by-hand .move").all():
            here, last = int(control.input_value()), int(control.get_attribute("max"))
            for at in {0, last // 2, last} - {here}:
                said = moved_to(page, control, at)
                page.wait_for_function("said => document.querySelector('#lines-of-python').textContent", arg=said)
                new = check_tree(page, ex, frame)
                edit = new.changes[-1]
                assert f"right for {percent(new.agreement)} of the" in said
                n = sum(one.size for one in edit.moved)
                told = re.search(r"(?:weight )?([\d,.]+)(?: rows?)? in another cluster", said)
                assert (float(told[1].replace(",", "")) if told else 0) == pytest.approx(n, rel=1e-3)
                n_moved += 1
            moved_to(page, control, here)
            page.wait_for_function("document.querySelector('#other-tree').hidden")
            assert page.locator("#changes").is_hidden()
    assert n_moved > 3


@pytest.mark.parametrize("kind", ["numbers", "gaps", "customers"])
def test_two_leaves_are_merged_as_python_merges_their_clusters(opened, kind):  # noqa: F811
    n_merged = 0
    for seed in seeds(6, least=2):
        frame, ex = made(kind, seed)
        page = opened(ex)
        page.wait_for_selector("#by-hand:not([hidden])")
        for i in range(page.locator("#by-hand .merge").count()):
            button = page.locator("#by-hand .merge").nth(i)
            said = button.inner_text()
            button.focus()
            page.keyboard.press("Enter")
            page.wait_for_function("() => document.querySelector('#lines-of-python').textContent")
            new = check_tree(page, ex, frame)
            n_left = f"{new.n_clusters} cluster{'s' * (new.n_clusters > 1)} left"
            assert f"{new.n_leaves} leaves, right for {percent(new.agreement)} of the rows; {n_left}" in said
            assert page.locator(".card:visible").count() == new.n_clusters == ex.n_clusters - 1
            n_merged += 1
            assert page.evaluate("document.activeElement.className") == "undo"
            buttons = page.locator("#fields .pick button")
            assert 0 < buttons.count() <= new.n_clusters
            for typical in buttons.all():
                typical.click()
                assert page.get_attribute("#result", "data-cluster") == typical.get_attribute("data-cluster")
            page.focus("#by-hand .undo")
            page.keyboard.press("Enter")
            page.wait_for_function("document.querySelector('#other-tree').hidden")
            assert page.locator(".card:visible").count() == ex.n_clusters
            assert page.text_content("#lines-of-python") == ""
    assert n_merged


OF_BEFORE = """() => [".lede", "section:has(> #profile, > #disagreement, > #contrasts, > #outcomes, > #stability)"]
  .flatMap(parts => [...document.querySelectorAll(parts)]).map(part => {
    const copy = part.cloneNode(true);  // without the lines that say of which tree this is
    copy.querySelectorAll("p.note.screen").forEach(line => line.remove());
    return copy.innerHTML;
  })"""


@pytest.mark.parametrize("kind", ["numbers", "gaps", "customers"])
def test_what_is_told_of_clusters_before_they_were_merged_keeps_their_names(opened, kind):  # noqa: F811
    """Whatever the clusters that are left are called; a line beside it says so."""
    for seed in seeds(4, least=2):
        frame, ex = made(kind, seed)
        ex.contrast(ex.names[0], ex.names[1])
        page = opened(ex)
        page.wait_for_selector("#by-hand:not([hidden])")
        rng = np.random.default_rng(seed)

        def rename(name, page=page, rng=rng):
            cards = page.locator(".card:visible")
            cards.nth(rng.integers(cards.count())).locator(".rename").click()
            page.keyboard.type(name)
            page.keyboard.press("Enter")

        table = page.evaluate(OF_BEFORE)
        rename("before")
        before = page.evaluate(OF_BEFORE)
        assert before != table  # a cluster that is what it was has one name everywhere
        while page.locator("#by-hand .merge:visible").count():
            page.locator("#by-hand .merge").first.click()
            page.locator("#other-tree").wait_for()
            assert page.evaluate(OF_BEFORE) == before
            line = page.locator("#profile + p")
            assert line.is_visible()
            assert line.inner_text() == "Of the clusters before they were merged."
            check_tree(page, ex, frame)
        while page.locator("#changes .undo").is_visible():
            page.locator("#changes .undo").click()
        page.wait_for_function("document.querySelector('#other-tree').hidden")
        assert page.locator("#profile + p").is_hidden()
        assert page.evaluate(OF_BEFORE) == table
        page.locator("#by-hand .merge").first.click()
        page.locator("#other-tree").wait_for()
        for button in page.locator("[data-cell] button").all():
            button.click()
            assert " or " not in page.inner_text("#cell caption")


@pytest.mark.parametrize("kind", CASES)
def test_changes_come_together(opened, kind):  # noqa: F811
    """Thresholds, merged clusters and names, in any order, and undone: the lines make the tree that is shown."""
    seen = set()
    for seed in seeds(4, least=2):
        frame, ex = made(kind, seed)
        page, rng = opened(ex), np.random.default_rng(seed)
        page.wait_for_selector("#by-hand:not([hidden])")
        texts = "['#of-tree', '.cards', '.folded', '.names'].map(part => document.querySelector(part).textContent)"
        before = page.evaluate(texts)
        for step in range(9):
            parts = {name: page.locator(f"#by-hand {name}:visible").all() for name in (".move", ".merge", ".undo")}
            parts[".rename"] = page.locator(".card:visible .rename").all()
            kinds = [name for name, found in parts.items() if found]
            name = kinds[rng.integers(len(kinds))]
            part, had = parts[name][rng.integers(len(parts[name]))], page.text_content("#lines-of-python")
            if name == ".move":
                here, last = int(part.input_value()), int(part.get_attribute("max"))
                moved_to(page, part, int(rng.choice([*{*range(last + 1)} - {here}])))
            else:
                part.click()
            if name == ".rename":
                page.keyboard.type(f"{HOSTILE_NAMES[1]} {step}")
                page.keyboard.press("Enter")
            page.wait_for_function("had => document.querySelector('#lines-of-python').textContent !== had", arg=had)
            page.wait_for_timeout(30)  # the tree follows the line
            check_tree(page, ex, frame)
            n = page.text_content("#lines-of-python").count("ex = ex.")
            assert page.locator("#done li").count() == n
            seen.add(name)
        while page.locator("#changes .undo").is_visible():
            page.locator("#changes .undo").click()
        page.wait_for_function("document.querySelector('#other-tree').hidden")
        assert page.evaluate(texts) == before
    assert seen >= {".move", ".merge", ".undo", ".rename"}


def test_a_threshold_is_dragged_in_its_histogram(opened):  # noqa: F811
    frame, ex = made("customers", 0)
    page = opened(ex)
    page.wait_for_selector("#by-hand:not([hidden])")
    control = page.locator("#by-hand .move").first
    here, last = int(control.input_value()), int(control.get_attribute("max"))
    number = control.get_attribute("id").removeprefix("move-")
    cut = page.locator(".tree .moves", has=page.locator(f"tspan.mute:text-is('{number}')"))
    cut.scroll_into_view_if_needed()
    box = cut.locator(".box").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, y)
    page.mouse.move(box["x"] + box["width"], y)
    assert int(control.input_value()) == last != here
    page.wait_for_function("() => document.querySelector('#lines-of-python').textContent")
    check_tree(page, ex, frame)
    said = page.text_content("#lines-of-python")
    page.mouse.move(box["x"], y)
    assert int(control.input_value()) == 0
    page.mouse.up()
    page.mouse.move(box["x"] + box["width"], y)
    assert int(control.input_value()) == 0
    page.wait_for_function("said => document.querySelector('#lines-of-python').textContent !== said", arg=said)
    check_tree(page, ex, frame)


def test_no_change_is_lost_beside_another_tree(opened):  # noqa: F811
    """Changes are set aside while another tree is shown, and come back with the tree of the page, until undone."""
    frame, ex = made("customers", 0)
    page = opened(ex)
    page.wait_for_selector("#by-hand:not([hidden])")
    size, told = page.input_value("#leaves"), page.inner_text("#leaves-told")
    moved_to(page, page.locator("#by-hand .move").first, 0)
    page.locator(".card .rename").first.click()
    page.keyboard.type("Given")
    page.keyboard.press("Enter")
    page.locator("#by-hand .merge").first.click()
    page.wait_for_function("() => document.querySelector('#which').textContent.includes('2 changes by hand')")
    new, lines = check_tree(page, ex, frame), page.text_content("#lines-of-python")
    assert [one.line.split("(")[0] for one in new.changes] == [
        "ex = ex.move_cut",
        "ex = ex.rename",
        "ex = ex.merge_clusters",
    ]

    def check_said():
        said = page.inner_text("#leaves-told")
        assert said == page.get_attribute("#leaves", "aria-valuetext") != told
        agreed = f"right for {percent(new.agreement)} of the rows"
        assert said == f"{new.n_leaves} leaves: {agreed}: the tree of this page with 2 changes by hand"
        assert page.locator("#return").is_hidden()

    def press(key):
        page.focus("#leaves")
        page.keyboard.press(key)

    check_said()
    without = page.locator("[data-without]").first
    name = without.locator("bdi").inner_text()
    away, other = ("Home", "ArrowRight") if size != "0" else ("End", "ArrowLeft")
    shows = (
        (lambda: press(away), lambda: [press(other) for _ in range(abs(int(page.input_value("#leaves")) - int(size)))]),
        (lambda: press(away), lambda: (page.focus("#return"), page.keyboard.press("Enter"))),
        (without.click, without.click),
        (without.click, lambda: (page.focus("#return"), page.keyboard.press("Enter"))),
        (lambda: press(away), without.click),  # from one to the other
        (lambda: None, without.click),
    )
    for i, (leave, come_back) in enumerate(shows):
        leave()
        page.wait_for_function("() => document.querySelector('#by-hand').hidden")
        said = page.inner_text("#other-tree")
        assert "2 changes by hand are set aside" in said
        assert ("a tree of " in said) == (i in (0, 1, 4))
        assert (name not in page.inner_text("#deciding")) >= (i in (2, 3, 5))
        assert (f" without {name}, " in page.inner_text("#leaves-told")) == (i in (2, 3, 5))
        assert page.text_content("#lines-of-python") == lines
        come_back()
        if i == 4:
            continue
        page.wait_for_function("() => !document.querySelector('#by-hand').hidden")
        assert without.get_attribute("aria-pressed") == "false"
        assert page.input_value("#leaves") == size
        check_tree(page, ex, frame)
        check_said()
    olds = ("Of the tree that this page was made for", "Of the clusters before they were merged")
    assert [page.get_by_text(old).locator("visible=true").count() for old in olds] == [2, 1]
    without.click()
    page.wait_for_function("() => document.querySelector('#by-hand').hidden")
    assert [page.get_by_text(old).locator("visible=true").count() for old in olds] == [2, 0]
    page.locator("#changes .undo").click()  # shows what it does
    page.wait_for_function("() => document.querySelector('#which').textContent.includes('1 change by hand')")
    check_tree(page, ex, frame)
    press(away)
    page.wait_for_function("() => document.querySelector('#by-hand').hidden")
    page.locator("#changes .undo").click()  # a name is that of a cluster in all trees
    page.wait_for_timeout(50)
    assert page.locator("#by-hand").is_hidden()
    page.locator("#changes .undo").click()
    page.wait_for_function("() => document.querySelector('#other-tree').hidden")
    assert page.inner_text("#leaves-told") == told
    assert page.text_content("#lines-of-python") == ""
    assert [page.get_by_text(old).locator("visible=true").count() for old in olds] == [0, 0]


def test_values_stay_typed_and_a_list_is_labelled_by_the_moved_tree(opened):  # noqa: F811
    frame, ex = made("customers", 0)
    page = opened(ex)
    control = page.locator("#by-hand .move").first
    inputs = page.locator("#fields label :is(input, select)")
    column = [ex.columns[j] for j in ex.tree.features.tolist()].index("orders")
    inputs.nth(column).fill("3")
    moved_to(page, control, 0)
    page.wait_for_function("() => document.querySelector('#lines-of-python').textContent")
    assert inputs.nth(column).input_value() == "3"
    page.locator(".card .rename").first.click()
    page.keyboard.type("Given")
    page.keyboard.press("Enter")
    scope = {"ex": ex}
    exec(page.text_content("#lines-of-python"), scope)
    page.set_input_files(
        "#file", {"name": "list.csv", "mimeType": "text/csv", "buffer": frame.to_csv(index=False).encode()}
    )
    page.wait_for_selector("#labelled .save")
    with page.expect_download() as download:
        page.click("#labelled .save")
    labelled = pd.read_csv(download.value.path())
    assert labelled.cluster.tolist() == scope["ex"].predict(frame).tolist()
    assert "Given" in set(labelled.cluster)


def test_suggested_names_are_taken_by_one_click_and_go_when_the_rules_change(opened):  # noqa: F811
    frame, _ = blobs(0)
    ex = boxwood.explain(frame, n_clusters=3)
    page = opened(ex)
    page.wait_for_selector("#by-hand:not([hidden])")
    names = "[...document.querySelectorAll('.card:not([hidden]) h3 bdi')].map(name => name.textContent)"
    before, suggested = page.evaluate(names), page.locator(".suggested bdi").all_text_contents()
    assert len(suggested) == ex.n_clusters
    page.focus("#use")
    page.keyboard.press("Enter")
    assert page.evaluate(names) == suggested
    assert check_tree(page, ex, frame).names == tuple(suggested)
    assert not page.locator("#use").is_visible()
    assert not page.locator(".suggested:visible").count()
    assert page.locator("#done li").count() == 1
    control = page.locator("#by-hand .move").first
    moved_to(page, control, int(control.input_value() == "0"))
    page.wait_for_function("() => document.querySelector('#lines-of-python').textContent.includes('move_cut')")
    new = check_tree(page, ex, frame)  # with the names that are shown
    moved = [i for i in range(ex.n_clusters) if new.names[i] != suggested[i]]
    assert len(moved) == 2  # those on both sides of the cut
    assert [page.evaluate(names)[i] for i in moved] == [before[i] for i in moved]
    merge = page.locator("#by-hand .merge").first
    pair = merge.locator("bdi").inner_text().split(" with ")
    merge.click()
    page.wait_for_function("() => document.querySelector('#lines-of-python').textContent.includes('merge_clusters')")
    new = check_tree(page, ex, frame)
    assert " or ".join(pair) in new.names
    assert not {*pair} & {*page.evaluate(names)}
    for _ in range(3):
        page.locator("#changes .undo").click()
    assert page.evaluate(names) == before
    assert page.text_content("#lines-of-python") == ""
    assert page.locator("#use").is_visible()
    page.focus("#leaves")
    page.keyboard.press("Home")
    page.wait_for_function("() => !document.querySelector('#other-tree').hidden")
    assert not page.locator("#use, .suggested").filter(visible=True).count()  # of the rules of another tree


def copied(page):
    """Return the lines of the summary for a slide."""
    page.evaluate("navigator.clipboard.writeText('')")
    page.focus("#slide")
    page.keyboard.press("Enter")
    page.wait_for_function("async () => (await navigator.clipboard.readText()) !== ''")
    return page.evaluate("navigator.clipboard.readText()").split("\n")


def test_a_summary_for_a_slide_is_copied(opened):  # noqa: F811
    """A line for all, and one for each cluster that is shown: its name, its size, how many rows match, and its rule."""
    frame, ex = made("customers", 0)
    page = opened(ex)

    def said(new, how=""):
        right = f"the rules{how} are right for {percent(new.agreement)} of the rows"
        lines = [f"{new.n_clusters} clusters of 350 rows: {right}"]
        for one in new.clusters:
            matched = f"; the rule matches {one.matched:.0f} rows" if one.matched != one.size else ""
            size = f"{one.size:.0f} rows, {percent(one.share)}{matched}"
            lines.append(f"{one.name} ({size}): {cluster_rule(one, whole=True)}")
        return lines

    assert copied(page) == said(ex)
    page.locator("#by-hand .merge").first.click()
    page.wait_for_function("() => document.querySelector('#lines-of-python').textContent")
    ends = [line.split("): ")[0] for line in said(check_tree(page, ex, frame), ", changed by hand,")]
    assert [line.split("): ")[0] for line in copied(page)] == ends


def test_a_summary_says_what_is_shown(opened):  # noqa: F811
    """After a move, and of each tree of the slider: rows that the code takes, and clusters that no rule names."""
    n_without = 0
    for seed in seeds(4, least=2):
        frame, ex = made("customers", seed)
        page, rows = opened(ex), frame.astype(object).where(frame.notna(), None).to_dict("records")

        def check(how, told, rows=rows, page=page, ex=ex):
            code = program(page.locator("code[data-form=python]").text_content())
            taken = Counter(code["cluster"](row) for row in rows)
            without = [one.name for one in ex.clusters if one.name not in code["cluster"].__code__.co_consts]
            named = f", which name {4 - len(without)} of 4 clusters" if without else ""
            which = f"{named}{how}," if named or how else ""
            right = re.search("right for .* of the rows", told)[0]
            head, *lines = copied(page)
            assert head == f"4 clusters of 350 rows: the rules{which} are {right}"
            for one, line in zip(ex.clusters, lines, strict=True):
                n = int((re.search(r"the rule matches (\d+) row", line) or re.search(r"\((\d+) row", line))[1])
                assert line.startswith(f"{one.name} ({one.size:.0f} row")
                assert n == (one.size if one.name in without else taken[one.name])
                assert (one.name in without) == line.endswith(f": {NO_RULE}")
            unnamed = f", in which no rule names {', '.join(without)}." if without else ""
            shown = page.inner_text("#other-tree") if page.locator("#other-tree").is_visible() else ""
            assert unnamed in shown
            assert ("no rule names" in shown) == bool(without)
            return len(without)

        control = page.locator("#by-hand .move").first
        told = moved_to(page, control, int(control.input_value() == "0"))
        page.wait_for_function("() => document.querySelector('#lines-of-python').textContent")
        check(", changed by hand", told)
        page.locator("#changes .undo").click()
        page.wait_for_function("() => document.querySelector('#other-tree').hidden")
        for at in range(int(page.get_attribute("#leaves", "max")) + 1):
            n_without += check("", on_slider(page, at))
    assert n_without


def test_a_summary_counts_the_parts_of_rows_without_groups(opened):  # noqa: F811
    rows = np.random.default_rng(0).uniform(size=(300, 2))
    page = opened(boxwood.explain(pd.DataFrame(rows, columns=["lat", "long"]), n_clusters=4))
    page.locator("#by-hand .merge").first.click()
    page.wait_for_function("() => document.querySelector('#lines-of-python').textContent")
    title = "No clear groups in 300 rows; one way to divide them into 3 parts"
    assert copied(page)[0].startswith(f"{title}: the rules, changed by hand, are ")


def test_a_threshold_is_typed(opened):  # noqa: F811
    """The rules move to the value, or to the nearest that is counted, which is said; other cuts say why they stay."""
    frame, ex = made("whole", 0)
    page = opened(ex)
    page.wait_for_selector("#by-hand:not([hidden])")
    box, told = page.locator("#moves input[type=number]").first, page.locator("#moves output").first
    own = float(box.input_value())
    for value, is_place in ((f"{own + 0.001}", False), ("-1e6", False), (f"{own:g}", True)):
        box.fill(value)
        box.press("Enter")
        assert (
            bool(re.match(rf"{box.input_value()} is taken for {value}: a page holds ", told.inner_text())) != is_place
        )
        assert value == box.input_value() or not is_place
        page.wait_for_timeout(100)
        if value == "-1e6":
            check_tree(page, ex, frame)
    assert page.locator("#other-tree").is_hidden()
    moving = page.locator("#moves .move").count()
    moving += page.locator("#asks .ask").count()
    staying = re.findall(r"\d+(?=[, ])", page.inner_text("#asks .stays")) if moving < ex.n_leaves - 1 else []
    assert len(staying) == ex.n_leaves - 1 - moving


@pytest.mark.parametrize("kind", ["numbers", "gaps", "ages"])
def test_a_typed_value_that_parts_the_rows_as_a_place_does_is_kept(opened, kind):  # noqa: F811
    n_typed = 0
    for seed in seeds(4, least=2):
        _, ex = made(kind, seed)
        page = opened(ex)
        page.wait_for_selector("#by-hand:not([hidden])")
        data = page.locator("#own").text_content()
        own = json.loads(zlib.decompress(urlsafe_b64decode(f"{data.strip()}==="), -15))
        for row in page.locator("#moves .pick, #asks .pick").all():
            box, told, control = row.locator("input").first, row.locator("output"), row.locator("input[type=range]")
            if not row.is_visible() or not box.is_visible():
                continue
            last, now = int(control.get_attribute("max")), box.input_value()
            cuts = [cut for cut in (*own["cuts"].values(), *own["asked"].values()) if len(cut["places"]) == last + 1]
            cut = next(cut for cut in cuts if as_typed(cut["places"][cut["now"]]["value"]) == now)
            for at, place in [*enumerate(cut["places"])][seed % 3 :: 3]:
                for value in {*place.get("alike", ())} - {place["value"]}:
                    box.fill(as_typed(value))
                    box.press("Enter")
                    said = told.inner_text()
                    assert (box.input_value(), control.input_value()) == (as_typed(value), str(at))
                    assert said.startswith(f"The same rows as at {as_typed(place['value'])}. ")
                    line = page.text_content("#lines-of-python")
                    line, scope = line or said.split("in Python: ")[1], {"ex": ex}
                    exec(line, scope)
                    assert as_typed(value) in line.split("to=")[1]
                    assert f"right for {percent(scope['ex'].agreement)} of the rows" in said
                    n_typed += 1
                    if page.locator("#changes .undo").is_visible():
                        page.locator("#changes .undo").click()
                        assert box.input_value() == now
    assert n_typed


@pytest.mark.parametrize("kind", CASES)
def test_what_would_be_is_said_of_a_cut_above_others(opened, kind):  # noqa: F811
    """By the slider and by a typed value, as Python has it by the line that is said; the tree of the page stays."""
    n_asked = 0
    for seed in seeds(4, least=2):
        _, ex = made(kind, seed)
        page = opened(ex)
        page.wait_for_selector("#by-hand:not([hidden])")
        for row in page.locator("#asks .pick").all():
            control, box, told = row.locator(".ask"), row.locator("input").first, row.locator("output")
            assert told.inner_text().endswith(f": right for {percent(ex.agreement)} of the {of_all(ex)}")
            here, last = int(control.input_value()), int(control.get_attribute("max"))
            for at in {0, last // 2, last} - {here}:
                control.focus()
                page.keyboard.press("Home")
                for _ in range(at):
                    page.keyboard.press("ArrowRight")
                said, scope = control.get_attribute("aria-valuetext"), {"ex": ex}
                assert said == told.inner_text()
                exec(said.split("in Python: ")[1], scope)
                new = scope["ex"]
                assert f"would be right for {percent(new.agreement)} of the {of_all(ex)}" in said
                n = sum(one.size for one in new.changes[-1].moved)
                rows = re.search(r"(?:weight )?([\d,.]+)(?: rows?)? in another cluster", said)
                assert (float(rows[1].replace(",", "")) if rows else 0) == pytest.approx(n, rel=1e-3)
                value = box.input_value()
                control.focus()
                page.keyboard.press("Home" if at else "End")
                box.fill(value)  # as it stands there, it is that place
                box.press("Enter")
                assert told.inner_text() == said
                n_asked += 1
            assert page.locator("#other-tree").is_hidden()
        for control in page.locator("#by-hand .move").all()[:1]:  # with another change its numbers would be others
            asks = page.locator("#asks .pick").count()
            moved_to(page, control, int(control.input_value() == "0"))
            page.wait_for_function("() => document.querySelector('#lines-of-python').textContent")
            assert page.locator("#asks .pick").filter(visible=True).count() == 0
            assert page.locator("#asks .set-aside").filter(visible=True).count() == (asks > 0)
    assert n_asked > 2


def as_typed(value):
    """Return a value of Python as it stands in a box; of ages the days."""
    return re.sub(r"'(?:in )?([\d,-]+)(?: day.*)?'", r"\1", value).replace(",", "")


def test_a_round_number_near_a_place_is_taken(opened):  # noqa: F811
    salary = np.random.default_rng(0).normal(100_000, 30_000, 400).round(-1)
    ex = boxwood.explain(pd.DataFrame({"salary": salary}), salary > 95_130, max_leaf_nodes=2)
    page = opened(ex)
    page.wait_for_selector("#by-hand:not([hidden])")
    box, told = page.locator("#moves input[type=number]"), page.locator("#moves output")
    for value in ("90000", "100000", "110000", "120000"):
        box.fill(value)
        box.press("Enter")
        assert box.input_value() == value
        assert "is taken for" not in told.inner_text()
        assert f"to={value})" in page.text_content("#lines-of-python")


def of_all(ex):
    return "weight" if ex.details.weighted else "rows"


def test_a_value_that_is_not_counted_is_told_by_those_beside_it(opened):  # noqa: F811
    ex = boxwood.explain(pd.read_csv("examples/customers.csv"), "segment", as_of="2026-07-31")
    page = opened(ex)
    page.wait_for_selector("#by-hand:not([hidden])")
    row = page.locator("#asks .pick", has_text="last_order")
    assert "days ago" in row.inner_text()
    box, told = row.locator("input[type=number]"), row.locator("output")
    own = int(box.input_value())
    box.fill(f"{own - 0.5}")
    box.press("Enter")
    said = told.inner_text()
    there = r"(\d+) \(right for (.*?) of the rows\)"
    found = re.match(
        rf"(\d+) is taken for ([\d.]+): a page holds .+; next to it are {there} and {there}\. last_order", said
    )
    assert float(found[2]) == own - 0.5
    assert found[1] == box.input_value() == min(found[3], found[5], key=lambda days: abs(int(days) - own + 0.5))
    for days, share in ((found[3], found[4]), (found[5], found[6])):
        new = ex if int(days) == own else ex.move_cut("last_order", f"{own} days ago", to=f"{days} days ago")
        assert share == percent(new.agreement)


def test_the_picture_is_saved_for_a_slide(opened):  # noqa: F811
    """As it is shown, moved thresholds and given names included, with ink on white in dark rooms, too."""
    _, ex = made("customers", 0)
    pixels = []
    for content, size in ((ex.rename({"new": HOSTILE_NAMES[1]}), "desk"), (ex, "phone"), (hostile(), "desk")):
        page = opened(content, size=size, scheme="dark")
        for control in page.locator("#by-hand .move").all()[:1]:
            moved_to(page, control, int(control.input_value() == "0"))
            page.wait_for_function("() => document.querySelector('#lines-of-python').textContent")
        page.focus("#picture")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        assert download.value.suggested_filename == "tree.png"
        image = imread(download.value.path())
        width, height = page.evaluate(
            "(({width, height}) => [width, height])(document.querySelector('.tree').viewBox.baseVal)"
        )
        heads = 1 + (image.shape[0] - 2 * height > 66)  # lines of the title
        assert image.shape[:2] == pytest.approx((2 * height + 24 + 40 * heads, 2 * width), abs=2)
        assert (image[:64, :, :3].max(axis=2) < 0.3).any()  # the title
        assert (image[0, 0] == 1).all()
        assert (image[..., :3].max(axis=2) < 0.3).any()  # ink
        pixels.append(
            {tuple(pixel) for pixel in (image[::3, ::3, :3].reshape(-1, 3) * 255).round().astype(int).tolist()}
        )
    colours = {tuple(int(colour_of(i)[at : at + 2], 16) for at in (1, 3, 5)) for i in range(ex.n_clusters)}
    assert colours <= pixels[0] & pixels[1]


def test_by_hand_axe_finds_nothing_and_hostile_names_run_nothing(opened):  # noqa: F811
    _, ex = made("gaps", 1)
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    ex = ex.rename({"many": HOSTILE_NAMES[0], "rich": HOSTILE_NAMES[1]})
    for size, scheme in (("desk", "light"), ("phone", "dark")):
        page = opened(ex, size=size, scheme=scheme)
        for control in page.locator("#by-hand .move").all():
            moved_to(page, control, 0)
        page.locator("#by-hand .merge").first.click()
        page.wait_for_function("() => document.querySelector('#lines-of-python').textContent.includes('merge')")
        assert page.locator("img, iframe, object, link").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        assert [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found] == []
    page = opened(hostile())
    assert page.locator("script").count() == 3 + page.locator("#labeller, #trees, #own").count()


TAGS = ("img", "svg", "iframe", "details open", "input autofocus", "video", "body", "a", "math", "object")
HANDLERS = ("src=x onerror", "onload", "ontoggle", "onfocus", "onclick", "onpointerdown")
TEXTS = [
    *HOSTILE_NAMES,
    *(
        f"{close}<{tag} {handler}=document.title=1>"
        for tag in TAGS
        for handler in HANDLERS
        for close in ("", "'>", '">')
    ),
    *("${alert(1)}", "`", "\\u003cb>", "$&", "$1", "__proto__", "constructor", "toString", "</code></pre><script>1//"),
]  # 204; each page has 14 of them as names of columns, words, clusters and titles, and as given names


def test_hostile_texts_run_nothing_whatever_is_pressed(opened):  # noqa: F811
    for seed in seeds(14, least=2):
        rng = np.random.default_rng(seed)
        first, *texts = (TEXTS[(14 * seed + i) % len(TEXTS)] for i in range(14))
        frame = pd.DataFrame({name: rng.integers(0, 30, 300) for name in texts[:3]})
        frame[first] = rng.choice(texts[3:6], 300)
        sums = frame[texts[0]] + frame[texts[1]] + 9 * (frame[first] == texts[3]) + rng.normal(0, 6, 300)
        labels = np.array(texts[6:9], dtype=object)[np.digitize(sums, [22, 36])]
        ex = boxwood.explain(frame, labels, max_leaf_nodes=6)
        page = opened(ex, titles={texts[0]: texts[9]}, title=texts[10])
        title = page.title()
        page.wait_for_selector("#by-hand:not([hidden])")
        for control in page.locator("#by-hand .move").all():
            moved_to(page, control, int(control.input_value() == "0"))
        for i in range(2):
            page.locator(".card:visible .rename").nth(i).click()
            page.keyboard.insert_text(texts[11 + i])
            page.keyboard.press("Enter")
        if page.locator("#by-hand .merge").count():
            page.locator("#by-hand .merge").first.click()
        for control in page.locator("[data-cell] button, [data-without], .take:visible, #take button:visible").all():
            control.click()
        page.focus("#leaves")
        page.keyboard.press("Home")
        page.wait_for_timeout(50)
        assert page.title() == title
        assert page.locator("img, iframe, object, link, video, math, body body").count() == 0
        page.locator("#changes .undo").click()


def test_a_name_that_is_given_is_that_of_its_cluster_alone(opened):  # noqa: F811
    """Also where it is what a table or JavaScript call something."""
    _, ex = made("customers", 0)
    page = opened(ex)
    for i, name in enumerate(("__proto__", "constructor")):
        page.locator(".card .rename").nth(i).click()
        page.keyboard.type(name)
        page.keyboard.press("Enter")
    scope = {"ex": ex}
    exec(page.text_content("#lines-of-python"), scope)
    assert scope["ex"].names[:2] == ("__proto__", "constructor")


def test_leaves_of_one_cluster_stand_side_by_side(opened):  # noqa: F811
    """As a person may have split one; where clusters are merged, Python joins them, and so does the page."""
    frame, ex = made("numbers", 0)
    leaf = int(np.argmax([leaf.size for leaf in ex.leaves]))
    node, own = int(ex.tree.leaf_nodes[leaf]), frame[ex.tree.apply(frame) == leaf]
    ex = next(
        changed
        for column in frame
        for value in own[column].quantile([0.1, 0.9])
        if len(set((changed := ex.split(leaf, column, value)).tree.cluster[node + 1 : node + 3])) == 1
    )
    page = opened(ex)
    page.wait_for_selector("#by-hand:not([hidden])")
    for name in map(cluster_name, ex.names):
        assert page.get_by_text(f"{name} with {name}").count() == 0
    control = page.locator("#by-hand .move").first
    moved_to(page, control, int(control.input_value() == "0"))
    page.wait_for_function("() => document.querySelector('#lines-of-python').textContent")
    check_tree(page, ex, frame)
    page.locator("#by-hand .merge").first.click()
    page.wait_for_function("() => document.querySelector('#lines-of-python').textContent.includes('merge')")
    assert check_tree(page, ex, frame).n_leaves < ex.n_leaves
