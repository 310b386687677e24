"""The report in a browser: driven by keyboard and mouse, its rules compared with `predict`, audited, and attacked.

Chromium comes from the system's packages. No test may reach the network: every request is counted.
"""

import re
import zlib
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import boxwood
from boxwood.explanation.measure.told import profile_told
from boxwood.render.page._parts import profile_table
from boxwood.words.values import category, cluster_name, percent
from tests.models import read_model
from tests.render.test_page import HOSTILE_NAMES
from tests.render.test_zero_and_one import customers

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the browser's library
]
SIZES = {"desk": (1280, 900), "tablet": (768, 1024), "phone": (390, 844), "small": (320, 640)}


@pytest.fixture
def opened(chromium, tmp_path):
    """Return a function that opens the report of an explanation; whatever it logs or loads fails the test."""
    contexts, logs, requests = [], [], []

    def open_page(content, *, size="desk", scheme="light", **options):
        path = tmp_path / f"page{len(contexts)}.html"
        text = content if isinstance(content, str) else content.to_html(**options)
        path.write_text(text, encoding="utf-8")
        width, height = SIZES[size]
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: logs.append(message.text))
        page.on("pageerror", lambda error: logs.append(str(error)))
        page.on("dialog", lambda dialog: logs.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        requests.remove(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert logs == []
    assert [url for url in requests if not url.startswith(("about:", "blob:"))] == []  # of the page itself


def explained(n_columns=20, n_clusters=5, leaves=8, n=800, seed=0):
    X, y = make_blobs(n, n_features=n_columns, centers=n_clusters, cluster_std=6.0, random_state=seed)
    columns = [f"measurement_{j}" for j in range(n_columns)]
    return boxwood.explain(X, y, method="cart", max_leaf_nodes=leaves, columns=columns)


def hostile():
    X, y = make_blobs(900, n_features=200, centers=12, cluster_std=14.0, random_state=0)
    X[:, : len(HOSTILE_NAMES)] *= 3.0
    columns = [*HOSTILE_NAMES, *(f"measurement_{j}" for j in range(len(HOSTILE_NAMES), 200))]
    labels = np.array([f"{name} {i}" for i, name in enumerate(HOSTILE_NAMES[:12])], dtype=object)[y]
    return boxwood.explain(X, labels, method="cart", max_leaf_nodes=30, columns=columns)


def mixed(n=600, seed=0):
    """Return a table with numbers, booleans and words, and an explanation of its clusters with two-sided words."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "channel": rng.choice(["horeca", "retail", HOSTILE_NAMES[1]], n),
            "orders": rng.integers(0, 30, n),
            "member": rng.random(n) < 0.4,
            "spend": np.exp(rng.normal(5, 1, n)),
        }
    )
    encoded = make_column_transformer((OneHotEncoder(), ["channel"]), remainder=StandardScaler())
    pipeline = make_pipeline(encoded, KMeans(5, random_state=0, n_init=1)).fit(table)
    return table, boxwood.explain(table, pipeline, max_leaf_nodes=10)


def intervals(seed=0):
    """Return rows, and a tree with two-sided cuts."""
    X, _ = make_blobs(400, n_features=3, centers=4, cluster_std=2.0, random_state=seed)
    return X, boxwood.explain(X, KMeans(4, n_init=1, random_state=0), method="kernel_exkmc", max_leaf_nodes=8)


# ----------------------------------------------------------------------------------------------- the rules that run

FILL = """values => {
  const inputs = [...document.querySelectorAll("#fields input, #fields select")];
  values.forEach((value, j) => { inputs[j].value = value; });
  inputs.forEach(input => input.dispatchEvent(new Event("input")));
  const found = document.querySelector("#result").dataset;
  return [Number(found.cluster), Number(found.leaf)];
}"""
FILL_EACH = f"rows => rows.map({FILL})"  # a call of the browser takes longer than a row


def near_cuts(ex, rng, n):
    """Return rows of values around the cuts: at them, one double beside them, and anything."""
    tree, rows = ex.tree, rng.normal(0.0, 20.0, (n, len(ex.columns)))
    for j in tree.features.tolist():
        ends = np.concatenate([tree.lower[tree.feature == j], tree.upper[tree.feature == j]])
        ends = ends[np.isfinite(ends)]
        near = np.concatenate([ends, np.nextafter(ends, -np.inf), np.nextafter(ends, np.inf)])
        rows[:, j] = np.where(rng.random(n) < 0.7, rng.choice(near, n), rows[:, j])
    return rows


@pytest.mark.parametrize("kind", ["blobs", "intervals", "loaded", "estimator"])
def test_what_if_gives_the_clusters_of_predict(opened, kind):
    ex = intervals()[1] if kind == "intervals" else explained()
    ex = read_model(ex.to_json()) if kind == "loaded" else ex
    if kind == "estimator":  # whose words are shorter than its thresholds
        X, y = make_blobs(400, n_features=4, centers=5, cluster_std=4.0, random_state=0)
        ex = boxwood.IMM().fit(X, y).explanation_
    page = opened(ex)
    tested = ex.tree.features.tolist()
    rows = near_cuts(ex, np.random.default_rng(0), 200)
    found = page.evaluate(FILL_EACH, [[repr(value) for value in row[tested].tolist()] for row in rows])
    assert [cluster for cluster, _ in found] == ex.tree.predict(rows).tolist()
    assert [leaf for _, leaf in found] == ex.tree.apply(rows).tolist()
    assert len(set(map(tuple, found))) > 3


def test_what_if_of_words_and_booleans(opened):
    table, ex = mixed()
    page = opened(ex)
    tested = ex.tree.features.tolist()
    assert set(ex._coded_columns) & set(tested)
    sample = table.sample(150, random_state=0)
    coded = [
        [
            str(ex._coded_columns[j].values.index(row[ex.columns[j]]))
            if j in ex._coded_columns
            else repr(float(row[ex.columns[j]]))
            for j in tested
        ]
        for _, row in sample.iterrows()
    ]
    assert [ex.names[cluster] for cluster, _ in page.evaluate(FILL_EACH, coded)] == ex.predict(sample).tolist()


def test_what_if_of_zero_and_one_is_a_choice(opened):
    frame, labels = customers()
    ex = boxwood.explain(frame, labels)
    page = opened(ex)
    assert page.locator("#fields select").count() == 2
    tested = [ex.columns[j] for j in ex.tree.features.tolist()]
    typed = [[f"{row[column]:g}" for column in tested] for row in frame.to_dict("records")]
    assert [ex.names[cluster] for cluster, _ in page.evaluate(FILL_EACH, typed)] == ex.predict(frame).tolist()
    for button in page.locator("#fields button").all():
        button.click()
        assert page.locator("#result").get_attribute("data-cluster") == button.get_attribute("data-cluster")
    assert " with member = " in page.inner_text("#result")


def test_a_value_is_asked_for_only_where_the_path_needs_it(opened):
    ex = explained()
    page = opened(ex)
    tested = ex.tree.features.tolist()
    rng = np.random.default_rng(1)
    rows = near_cuts(ex, rng, 60)
    rows[rng.random(rows.shape) < 0.3] = np.nan
    for row, cluster in zip(rows, ex.predict(rows, missing="none").tolist(), strict=True):
        typed = ["" if np.isnan(value) else repr(value) for value in row[tested].tolist()]
        assert page.evaluate(FILL, typed)[0] == cluster
        asks = "Type a number for" in page.inner_text("#result")
        assert asks == (cluster == -1)


def test_changes_lead_where_they_say(opened):
    """The page says that one value just beyond a cut leads to another cluster; predict agrees."""
    ex = explained()
    page = opened(ex)
    tested = ex.tree.features.tolist()
    seen = 0
    for row in near_cuts(ex, np.random.default_rng(2), 30):
        page.evaluate(FILL, [repr(value) for value in row[tested].tolist()])
        for words in page.locator("#result > p:not([class])").all_inner_texts():
            name, change = words.removeprefix("Would be cluster ").removesuffix(".").split(" with ")
            column, how, *_, end = change.split(" ")
            changed = row.copy()
            towards = {"above": np.inf, "below": -np.inf}
            far = next((sign for word, sign in towards.items() if f"just {word}" in change), None)
            value = float(end) if far is None else np.nextafter(float(end), far)
            changed[ex.columns.index(column)] = value
            assert ex.tree.predict(changed[None])[0] == int(name), (words, how)
            seen += 1
    assert seen > 30


# ------------------------------------------------------------------------------------------------ hands and keyboard


def test_by_keyboard(opened):
    ex = explained()
    page = opened(ex)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    seen, last = [], None
    for _ in range(80):
        page.keyboard.press("Tab")
        here = page.evaluate(
            """() => { const at = document.activeElement, box = at.getBoundingClientRect();
            return {tag: at.tagName, id: at.id, seen: box.width > 1 && box.height > 1,
                    outline: getComputedStyle(at).outlineStyle, name: at.ariaLabel ?? at.textContent}; }"""
        )
        if here["tag"] == "BODY":
            break
        assert here["seen"], here
        assert here["outline"] != "none", here
        seen.append(here["tag"])
        last = here
    assert last is not None
    n_moves = page.locator("#by-hand .move, #by-hand .ask").count()
    assert seen.count("INPUT") == ex.tree.features.size + 2 * n_moves + 2  # dragged and typed; the slider, the file
    assert {"BUTTON", "SUMMARY", "DIV"} <= set(seen)

    field = page.locator("#fields input").first
    field.focus()
    assert page.locator(".tree.on").count() == 1
    before = field.input_value()
    page.keyboard.press("ArrowUp")
    assert field.input_value() != before
    lit = page.locator(".tree .node.lit").count()
    assert lit == page.locator("#result li").count() + 1
    button = page.locator("#fields button").last
    button.focus()
    page.keyboard.press("Enter")
    assert page.locator("#result").get_attribute("data-cluster") == button.get_attribute("data-cluster")


def test_by_mouse(opened):
    ex = explained()
    page = opened(ex)
    assert page.locator(".tree .lit").count() == 0
    page.locator(".tree .leaf").first.hover()
    depth = int(ex.tree.node_depth[ex.tree.leaf_nodes[0]])
    assert page.locator(".tree .node.lit").count() == depth + 1
    page.mouse.move(0, 0)
    for i in range(ex.n_clusters):
        button = page.locator(f"#fields button[data-cluster='{i}']")
        if button.count():
            button.click()
            assert page.locator("#result").get_attribute("data-cluster") == str(i)


def far_apart(first, second):
    """Return how far two cells of the profile are apart: as places among all rows, or as shares."""
    if first is None or second is None:
        return 0
    if first["middle"] is not None:
        return abs(first["middle"] - second["middle"])
    return abs(float(first["text"].split("%")[0]) - float(second["text"].split("%")[0]))


def test_two_clusters_are_compared(opened):
    """Columns come in the order in which both differ, with a sentence, and other clusters are out of the way.

    Both are named and stand in the order in which they were chosen, in the table as in the sentence.

    Of a column of words both say the share of the same one, in which they differ most.
    """
    table, ex = mixed()
    page, lines = opened(ex), profile_table(ex, profile_told(ex))["columns"]
    labels = ex._rows().task.reference.labels
    heads, names = page.locator(".profile tbody th bdi"), [" ".join(line["name"].split()) for line in lines]
    texts = "() => [...document.querySelectorAll('.profile tr > *')].map(cell => cell.outerHTML)"
    before = page.evaluate(texts)
    assert [name[:20] for name in heads.all_inner_texts()] == [name[:20] for name in names]
    pickers = page.locator("#compare select")
    for pair in ((0, 1), (3, 2), (4, 0)):
        for picker, cluster in zip(pickers.all(), pair, strict=True):
            picker.focus()
            picker.select_option(str(cluster))
        found = {}
        for line in lines:
            cells = [line["cells"][i] for i in pair]
            far, told = far_apart(*cells), [cell["text"] for cell in cells]
            if line["name"] in ("channel", "member"):
                values = table[line["name"]]
                shares = pd.crosstab(labels, values, normalize="index").loc[list(pair)]
                word = max(shares, key=lambda one: (round(abs(shares[one].diff().iloc[-1]), 6), (values == one).sum()))
                far, told = 100 * abs(shares[word].diff().iloc[-1]), [percent(share) for share in shares[word]]
                row = page.locator(".profile tbody tr", has=page.locator("th bdi", has_text=line["name"]))
                said = [" ".join(text.split()) for text in row.locator("td:visible").all_inner_texts()]
                assert said[:2] == [" ".join(f"{told[i]} {category(word)}".split()) for i in (0, 1)]
                assert said[2].split(" ", 1)[1] == said[0].split(" ", 1)[1]
            found[" ".join(line["name"].split())] = (far, told)
        order = sorted(found, key=lambda name: -found[name][0])
        assert [name[:20] for name in heads.all_inner_texts()] == [name[:20] for name in order]
        shown = [" ".join(text.split()) for text in page.locator(".profile thead th:visible").all_inner_texts()]
        assert shown == ["Column", *(f"{i} {cluster_name(ex.names[i])}" for i in pair), "All rows"]
        cells = page.locator(".profile tbody tr", has=page.locator("th bdi", has_text="orders")).locator("td:visible")
        assert [text.strip() for text in cells.all_inner_texts()][:2] == found["orders"][1]
        said = page.inner_text("#differ")
        told = [" against ".join(found[name][1]) for name in order[:3] if found[name][0] >= 10]
        assert said.count(" against ") == len(told) > 0
        assert all(" ".join(text.split()) in " ".join(said.split()) for text in told)
    pickers.first.select_option("-1")
    assert page.inner_text("#differ") == ""
    assert page.evaluate(texts) == before
    assert page.locator(".profile thead th:visible").count() == ex.n_clusters + 2


def test_a_wide_tree_is_seen_whole_before_it_is_scrolled(opened):
    """It is made smaller, down to three quarters, and where that is still too wide it keeps its size."""
    kinds = set()
    for n_clusters, leaves in ((3, 4), (12, 12), (12, 40)):
        page = opened(explained(6, n_clusters, leaves, n=2000))
        for width in (1000, 1280, 1600, 2600):
            page.set_viewport_size({"width": width, "height": 900})
            scale, over = page.evaluate("""() => {
                const tree = document.querySelector(".tree"), frame = tree.closest(".scroll");
                const scale = tree.getBoundingClientRect().width / tree.viewBox.baseVal.width;
                return [scale, frame.scrollWidth - frame.clientWidth];
            }""")
            assert scale >= 0.749
            assert (over > 1) <= (scale == pytest.approx(1))
            kinds.add("scrolled" if over > 1 else "small" if scale < 0.99 else "whole")
            assert page.get_by_text("More to the right").filter(visible=True).count() >= (over > 1)
            if width == 1280 and leaves == 12:
                assert over <= 1
    assert kinds == {"scrolled", "small", "whole"}


LEAST_TEXT = """() => {
  const sizes = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const list = document.querySelector(".picture + .list"), isListed = list && list.getClientRects().length;
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement, svg = parent.closest("svg");
    if (!walker.currentNode.data.trim() || !parent.getClientRects().length || parent.closest("defs, .unseen")) continue;
    if (isListed && svg && svg.matches(".tree")) continue; // a large picture is for the shape; its list is to be read
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    sizes.push(scale * parseFloat(getComputedStyle(parent).fontSize));
  }
  return Math.min(...sizes);
}"""
POINT = 4 / 3  # pixels
SHEETS = {"A4": 703, "Letter": 725}  # width between the margins, in pixels


@pytest.mark.parametrize(("n_clusters", "leaves", "most"), [(3, 3, 2), (7, 7, 6), (12, 12, 10), (24, 30, 13)])
def test_print(opened, n_clusters, leaves, most):
    ex = explained(12, n_clusters, leaves)
    page = opened(ex, scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator(".what-if").is_visible()
    assert not page.locator("#analysts").is_visible()
    assert page.locator(".tree").is_visible()
    assert (
        page.locator("table.profile").is_visible() == page.locator("table.confusion").is_visible() == (n_clusters < 17)
    )
    whole = "[...document.querySelectorAll('section > p')].every(p => getComputedStyle(p).breakInside === 'avoid')"
    assert page.evaluate(whole)  # else a heading and half a sentence stay behind when their table moves to a new sheet
    for sheet, width in SHEETS.items():
        page.set_viewport_size({"width": width + 262 * (n_clusters > 8), "height": 1000})  # of a sheet on its side
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert page.evaluate(LEAST_TEXT) >= 8 * POINT
        on_side = [lies for lies, _ in printed(page, sheet)]
        assert len(on_side) <= most
        assert any(on_side) == (n_clusters > 3)
    page.evaluate("document.querySelector('.folded').open = true")
    assert page.locator("#analysts").is_visible()
    assert page.evaluate(LEAST_TEXT) >= 8 * POINT


def printed(page, sheet="A4"):
    """Print a page to a PDF, and return for each sheet whether it lies on its side, and what is drawn on it."""
    pdf = page.pdf(format=sheet, prefer_css_page_size=True)
    objects = dict(re.findall(rb"(?s)(?:^|\n)(\d+) 0 obj\s*(.*?)endobj", pdf))
    sheets = [one for one in objects.values() if re.search(rb"/Type\s*/Page\b", one)]
    found = []
    for one in sheets:
        width, height = (float(end) for end in re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", one).groups())
        stream = objects[re.search(rb"/Contents\s+(\d+)", one)[1]]
        packed = re.search(rb"(?s)stream\r?\n(.*)endstream", stream)[1]
        found.append((width > height, zlib.decompressobj().decompress(packed).decode("latin-1")))
    return found


@pytest.mark.parametrize(("n_clusters", "leaves"), [(3, 3), (7, 7), (24, 30)])
def test_the_tree_is_in_the_pdf_and_on_a_sheet_of_its_own_if_it_is_large(opened, n_clusters, leaves):
    ex = explained(12, n_clusters, leaves)
    drawn = printed(opened(ex))
    strokes = [text.count("\nS\n") for on_side, text in drawn if on_side == (n_clusters > 3)]
    assert strokes[0] >= 2 * ex.tree.n_nodes - 1  # a line around each node, and one to each but the first
    assert any(on_side for on_side, _ in drawn) == (n_clusters > 3)


def test_a_larger_tree_that_is_shown_is_printed_on_its_side(opened):
    page = opened(explained(12, 3, 3))
    page.focus("#leaves")
    page.keyboard.press("End")
    leaves = int(page.inner_text("#leaves-told").split()[0])
    page.wait_for_function("n => document.querySelectorAll('.tree .leaf').length === n", arg=leaves)
    assert max(text.count("\nS\n") for on_side, text in printed(page) if on_side) >= 2 * (2 * leaves - 1) - 1
    page.keyboard.press("Home")
    page.wait_for_function("document.querySelectorAll('.tree .leaf').length === 2")
    assert not any(on_side for on_side, _ in printed(page))


def test_names_on_paper(opened):
    """Eight names are as many as the tables have room for on paper."""
    names = ["Loyal families in town", "Grocers", "Restaurants & hotels", "Youngappuserswithoutspace", *"abcd"]
    ex = explained(12, 8, 8).rename(dict(enumerate(names)))
    page = opened(ex)
    assert page.locator(".named").count() == 16
    page.emulate_media(media="print")
    for sheet, width in SHEETS.items():
        page.set_viewport_size({"width": width, "height": 1000})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert page.evaluate(LEAST_TEXT) >= 8 * POINT
        assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format=sheet))) <= 7  # the tree's picture has its own


def test_without_javascript(chromium, tmp_path):
    path = tmp_path / "page.html"
    explained(4, 3, 3, 100).to_html(path)
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator(".tree").is_visible()
    assert "needs JavaScript" in page.inner_text(".what-if")
    assert not page.locator("#theme").is_visible()
    context.close()


# ---------------------------------------------------------------------------------------------------- audits, attacks

PAGES = {
    "five clusters": lambda: explained(),
    "thirty leaves": lambda: explained(200, 12, 30),
    "hostile": hostile,
    "words": lambda: mixed()[1],
    "loaded": lambda: read_model(explained().to_json()),
}


@pytest.fixture(scope="module")
def pages():
    return {kind: make().to_html(title="Report") for kind, make in PAGES.items()}


@pytest.mark.parametrize("kind", PAGES)
def test_no_sideways_scroll(opened, pages, kind):
    for size in SIZES:
        page = opened(pages[kind], size=size)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, size
        assert page.locator(".picture").is_visible() == (size == "desk")
        assert page.locator(".list").bounding_box()["width"] > 1 or size == "desk"


VIEWS = (("desk", "light"), ("phone", "dark"), ("desk", "dark"), ("phone", "light"))


@pytest.mark.parametrize("kind", PAGES)
def test_axe_finds_nothing(opened, pages, kind):
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    for size, scheme in VIEWS[: {"words": 4, "thirty leaves": 1}.get(kind, 2)]:
        page = opened(pages[kind], size=size, scheme=scheme)
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        told = [(one["id"], one["impact"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found]
        assert told == [], (size, scheme)


def test_hostile_names_run_and_load_nothing(opened):
    page = opened(hostile(), title=HOSTILE_NAMES[0])
    for button in page.locator("#fields button").all():
        button.click()
    assert page.title() == HOSTILE_NAMES[0]
    assert page.locator("img, iframe, object, link").count() == 0
    assert page.locator("script").count() == 3 + page.locator("#labeller, #trees, #own").count()
    assert page.locator("style").count() == 1
    assert page.inner_text("h1") == HOSTILE_NAMES[0]


def test_the_policy_stops_what_is_put_in(chromium, tmp_path):
    """Were a name to become markup after all, nothing of it would run or load."""
    script, style = "document.title = 'owned'", "h1 { color: red !important }"
    bad = f'<script>{script}</script><img src="x.png" onerror="{script}"><style>{style}</style>'
    path = tmp_path / "page.html"
    path.write_text(explained(4, 3, 3, 100).to_html(title="fine").replace("<main", f"{bad}<main", 1), encoding="utf-8")
    page, loaded = chromium.new_page(), []
    page.on("requestfinished", lambda request: loaded.append(request.url))
    page.goto(path.as_uri())
    assert page.locator("img").count() == 1
    assert page.title() == "fine"
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") != "rgb(255, 0, 0)"
    assert loaded == [path.as_uri()]
    page.close()


def test_the_short_form_in_a_notebook(opened):
    ex = explained(4, 3, 3, 200)
    short = ex._repr_html_()
    page = opened(f"<!doctype html><style>h2, td, p {{ color: red !important }}</style><body>{short}</body>")
    frame = page.frame_locator("iframe")
    assert frame.locator(".tree").is_visible()
    assert frame.locator("h2").first.evaluate("node => getComputedStyle(node).color") != "rgb(255, 0, 0)"
    assert "cluster 0" in frame.locator("tbody").first.inner_text()
    shown = (ex, ex.clusters, ex.profile(), ex.frontier(), ex.stability(2), ex.misassigned(), ex.provenance)
    rooms = "[...document.querySelectorAll('iframe')].map(frame => frame.offsetHeight - {}.scrollHeight)"
    cells = "".join(result._repr_html_() for result in shown)
    for width in (700, 1100):
        page = opened(f"<!doctype html><body style='width:{width}px'>{cells}</body>")
        found = page.evaluate(rooms.format("frame.contentDocument.documentElement"))
        assert len(found) == len(shown)
        assert all(0 <= room <= 4 for room in found), (width, found)
        assert page.frame_locator("iframe").first.locator(".picture").is_visible()
    for ink, theme in (("#222", "light"), ("#ddd", "dark")):
        page = opened(f"<!doctype html><body style='color:{ink}'>{ex.confusion()._repr_html_()}</body>")
        page.wait_for_function(
            f"document.querySelector('iframe').contentDocument.documentElement.dataset.theme == '{theme}'"
        )
    estimator = boxwood.IMM(n_clusters=3, random_state=0).fit(make_blobs(100, random_state=0)[0])
    page = opened(f"<!doctype html><body>{estimator._repr_html_()}</body>")
    assert page.frame_locator("iframe").locator(".tree").is_visible()
