"""Options of the whole suite: how many seeds, how large tables, and which tests run besides those of `make test`."""

import math
import os

import pytest
from hypothesis import HealthCheck, settings

from tests import scale


def pytest_addoption(parser):
    group = parser.getgroup("boxwood", "how much the tests try")
    group.addoption("--browser", action="store_true", help="run the tests that open pages in Chromium, too")
    group.addoption("--full", action="store_true", help="try all seeds, and run the tests marked full, too")
    group.addoption("--machines", action="store_true", help="run the tests that start Spark and Dask, too")
    group.addoption("--seeds", type=int, metavar="N", help="try N times as many seeds of each law as --full does")
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
            left_out = [item for item in items if item.get_closest_marker(marker)]
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if not item.get_closest_marker(marker)]
    if not config.getoption("machines"):
        skipped = pytest.mark.skip(reason="starts Spark and Dask: pytest --machines -m machines tests/machines")
        for item in items:
            if item.get_closest_marker("machines"):
                item.add_marker(skipped)
