"""The site in a browser, served as readers do after `make docs`: ten pages at a desk and on a phone, light and dark.

All pages have one theme, so they are looked at in turn, in one size and scheme each; by --full in each size and scheme.
"""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

import pytest

from tests.scale import drawn

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the browser's library
]
SITE = Path(__file__).parents[1] / "docs" / "_build" / "html"
PAGES = (
    "index",
    "start/five-minutes",
    "start/reading",
    "start/which-method",
    "how-to/tables-as-they-are",
    "auto_gallery/plot_seabirds",
    "theory/imm",
    "reference/index",
    "benchmarks",
    "glossary",
)
DESK, PHONE = (1440, 900), (390, 844)
VIEWS = ((*DESK, "light"), (*PHONE, "dark"), (*PHONE, "light"), (*DESK, "dark"))


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing of it."""

    def log_message(self, *words):
        pass


@pytest.fixture(scope="module")
def site():
    """Return the address of the site."""
    assert (SITE / "index.html").exists(), "these tests need the site: make docs"
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def opened(chromium, site):
    """Return a function that opens a page of the site; what it logs, or loads from elsewhere, fails the test."""
    contexts, told = [], []

    def open_page(name, width=1440, height=900, scheme="light"):
        contexts.append(chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.on("console", lambda message: message.type in ("log", "info") or told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda request: request.url.startswith((site, "data:")) or told.append(request.url))
        page.goto(f"{site}/{name}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert told == []


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_and_no_page_is_wider_than_the_screen(opened, name):
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    for width, height, scheme in drawn(VIEWS, PAGES.index(name)):
        page = opened(f"{name}.html", width, height, scheme)
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        told = [(one["id"], one["impact"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found]
        assert told == [], (width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, scheme)


@pytest.mark.parametrize(
    ("word", "title", "place"),
    [
        ("DBSCAN", "Any clusterer", 2),
        ("price", "Reading an explanation", 1),
        ("ExKMC", "From ExKMC", 4),
        ("cite", "How to cite", 1),
        ("silhouette", "How many clusters?", 1),
    ],
)
def test_search_finds_the_page(opened, word, title, place):
    page = opened(f"search.html?q={word}")
    page.wait_for_selector("#search-results li a")
    page.wait_for_function("document.querySelector('#search-results p')?.innerText.includes('found')")
    assert any(title in found for found in page.locator("#search-results li > a").all_inner_texts()[:place])


def test_the_keyboard_reaches_the_text_first(opened):
    page = opened("index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText").strip() == "Skip to main content"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main-content"
