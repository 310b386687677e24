"""Options of the whole suite: how many seeds, how large tables, and which tests run besides those of `make test`."""

import gc
import math
import os
import shutil
from collections import defaultdict

import pytest
from hypothesis import HealthCheck, settings

from tests import scale


def pytest_addoption(parser):
    group = parser.getgroup("boxwood", "how much the tests try")
    group.addoption("--browser", action="store_true", help="run the tests that open pages in Chromium, too")
    group.addoption("--full", action="store_true", help="try all seeds, and run the tests marked full, too")
    group.addoption("--machines", action="store_true", help="run the tests that start Spark and Dask, too")
    group.addoption("--seeds", type=float, metavar="N", help="try N times as many seeds of each law as --full does")
    group.addoption("--size", type=int, default=1, metavar="N", help="generated tables have up to N times as many rows")
    group.addoption("--servers", action="store_true", help="run the tests that start database servers, too")
    group.addoption("--slow", action="store_true", help="run the tests marked slow, too")


def pytest_configure(config):
    # workers and their OpenMP threads share the cores: a thread that waits must not keep a core busy
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    scale.SEEDS = config.getoption("seeds") or (1 if config.getoption("full") else 0.25)
    scale.SIZE, scale.SLOW = config.getoption("size"), config.getoption("slow")
    settings.register_profile(
        "boxwood",
        max_examples=math.ceil(50 * scale.SEEDS),
        deadline=None,  # the first call of a loop compiles it
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    settings.load_profile("boxwood")


def pytest_collection_modifyitems(config, items):
    for marker in ("full", "slow", "servers", "browser"):
        if not config.getoption(marker):
            _leave_out(config, items, [item for item in items if item.get_closest_marker(marker)])
    if not config.getoption("full"):
        _leave_out(config, items, _off_the_diagonal([item for item in items if item.get_closest_marker("crossed")]))
    if not config.getoption("machines"):
        skipped = pytest.mark.skip(reason="starts Spark and Dask: pytest --machines -m machines tests/machines")
        for item in items:
            if item.get_closest_marker("machines"):
                item.add_marker(skipped)


@pytest.fixture
def rows_drawn(monkeypatch):
    """Every table in batches is too long to be read into memory: it is read by passes, and rows are drawn from it."""
    monkeypatch.setattr("boxwood.explanation.choose.settings.is_held", lambda n_rows, n_columns: False)
    monkeypatch.setattr("boxwood.table.scanned.why_in_batches", lambda *file: "no file fits")


def pytest_collection():
    gc.disable()  # nothing of what is imported and collected is garbage


def pytest_collection_finish():
    gc.enable()
    gc.collect()
    gc.freeze()  # what was imported and collected stays: walking it again and again takes a tenth of the time


def pytest_unconfigure():
    gc.unfreeze()


@pytest.fixture(scope="module")
def chromium():
    """Return the browser of the system's packages."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path is not None, "these tests need Chromium: apt-get install chromium"
    with sync_playwright() as library:
        # a window without a popup of its address bar, which is a page of its own, takes 40% less time
        popups = "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"
        browser = library.chromium.launch(executable_path=path, args=["--no-sandbox", popups])
        yield browser
        browser.close()


def _leave_out(config, items, left_out):
    config.hook.pytest_deselected(items=left_out)
    names = {item.nodeid for item in left_out}
    items[:] = [item for item in items if item.nodeid not in names]


def _off_the_diagonal(items):
    """Return the cases of tests with several parameters that bring no value which no other case has."""
    tests = defaultdict(list)
    for item in items:
        tests[item.nodeid.split("[")[0]].append(item)
    return [item for cases in tests.values() for item in _not_needed(cases)]


def _not_needed(cases):
    sizes = [len(mark.args[1]) for mark in cases[0].iter_markers("parametrize")]
    if len(cases) != math.prod(sizes):
        return []  # some were asked for by name
    return [case for case, needed in zip(cases, scale.diagonal(sizes), strict=True) if not needed]
