"""Passes take as many threads as the caller asks for, and tell how far they are."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

from boxwood import IMM, MMDT, Reference, explain
from boxwood.batches import source as _source
from boxwood.batches.source import ArrowSource
from boxwood.cli._explain import told_by_rows
from boxwood.cli._terminal import Status
from boxwood.grow import greedy, imm

X, LABELS = make_blobs(2000, 3, centers=4, random_state=0)


def table(**options):
    columns = {f"x{j}": X[:, j] for j in range(3)} | {"label": LABELS}
    return ArrowSource(pa.table(columns), batch_rows=50, **options)


@pytest.fixture
def threads(monkeypatch):
    """Return the number of threads of each pass."""
    seen, pool = [], _source.ThreadPoolExecutor
    monkeypatch.setattr(_source, "ThreadPoolExecutor", lambda n: (seen.append(n), pool(n))[1])
    return seen


NAMES, FITTED = ["x0", "x1", "x2"], GaussianMixture(3, random_state=0).fit(X)
CALLS = {
    "imm": lambda source, n: explain(source, "label", method="imm", n_jobs=n),
    "auto": lambda source, n: explain(source, "label", n_jobs=n),
    "k-means": lambda source, n: explain(source, n_clusters=3, method="imm", columns=["x0", "x1"], n_jobs=n),
    "scaled": lambda source, n: explain(source, "label", method="imm", standardize=True, n_jobs=n),
    "profile": lambda source, n: explain(source, "label", method="imm", n_jobs=n).profile(),
    "measure": lambda source, n: explain(source, "label", method="imm", n_jobs=n).evaluate(source, "label"),
    "estimator": lambda source, n: IMM(n_clusters=3, n_jobs=n).fit(source).explanation_,
    "mixture": lambda source, n: MMDT(n_clusters=3, n_jobs=n).fit(source),
    "frozen mixture": lambda source, n: explain(
        source, GaussianMixture(3, random_state=0).fit(X), columns=NAMES, n_jobs=n
    ),
    "grow": lambda source, n: greedy(source, Reference.nearest(source, np.eye(4)[:, :4]), n_jobs=n),
}


@pytest.mark.full
@pytest.mark.parametrize("name", CALLS)
def test_every_pass_takes_the_threads_that_are_asked_for(name, threads, by_passes):
    for asked, taken in ((1, 1), (None, 1), (2, 2), (9, 3)):
        threads.clear()
        CALLS[name](table(n_jobs=3), asked)
        drawing = {1} if name == "k-means" else set()  # rows to look at, of which each thread would hold all
        assert set(threads) == {taken} | drawing


def test_all_processors_unless_the_source_has_fewer(threads):
    reference = Reference.nearest(table(), np.eye(4)[:, :4])
    assert imm(table(n_jobs=1), reference) == imm(table(), reference)
    assert set(threads) == {1, _source.n_threads(-1)}


def test_each_pass_is_told_up_to_its_end_under_its_own_number():
    source, lines, told = table(), [], []
    status = Status("growing", alive=False)
    tick = told_by_rows(source, status)

    def heard(share, n_rows):
        tick(share, n_rows)
        told.append((source.n_passes, share, n_rows))
        lines.append(status.line(0.0))

    source.tick = heard
    explain(source, "label", method="imm")
    n_passes = source.n_passes
    assert sorted({number for number, *_ in told}) == list(range(n_passes))
    last = {number: (share, n_rows) for number, share, n_rows in told}
    assert set(last.values()) == {(1.0, 2000)}
    assert f"growing, pass {n_passes}: 100% of 2,000 rows …" in lines
    assert not any(f"pass {n_passes + 1}" in line for line in lines)
