"""Data goes down the line once: rows are looked through once for each call, whichever door they came in by."""

import numpy as np
import pytest

import boxwood
from boxwood import (
    CART,
    IMM,
    MMDT,
    ExKMC,
    Expand,
    KernelExKMC,
    KernelExpand,
    KernelIMM,
    KernelMMDT,
    RandomCuts,
    _validation,
    explain,
)
from boxwood.grow import METHODS

N = 137  # so many rows that no other array has as many


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    labels = np.arange(N) % 3
    return rng.normal(size=(N, 4)) + 4 * labels[:, None], labels


@pytest.fixture
def checks(monkeypatch):
    """The number of times that as many rows as a table has were looked through."""
    checked, check = [], _validation.refuse_not_finite

    def counted(X, *arguments, **options):
        checked.extend([X] * (len(X) == N))
        check(X, *arguments, **options)

    for module in (_validation, boxwood._frames):
        monkeypatch.setattr(module, "refuse_not_finite", counted)
    return checked


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_explain_checks_rows_once(method, rows, checks):
    explain(*rows, method=method)
    assert len(checks) == 1


@pytest.mark.parametrize(
    "estimator", [IMM, ExKMC, Expand, CART, MMDT, RandomCuts, KernelIMM, KernelExKMC, KernelExpand, KernelMMDT]
)
def test_fit_checks_rows_once(estimator, rows, checks):
    model = estimator(random_state=0).fit(*rows)
    model.explanation_.price  # noqa: B018
    assert len(checks) == 1


@pytest.mark.parametrize("name", ["imm", "greedy", "shallow"])
def test_growers_check_rows_once(name, rows, checks):
    X, labels = rows
    reference = boxwood.Reference.of(X, labels)
    checks.clear()
    getattr(boxwood.grow, name)(X, reference)
    assert len(checks) == 1
