"""Limits of the rules on a table in batches are those in memory."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from boxwood import explain
from boxwood.errors import DataError
from boxwood.explanation.choose import search
from boxwood.grow import METHODS
from tests.explanation.test_budgets import assert_kept, make_limits
from tests.explanation.test_table_explain import both, cannot_be_separated, check_equal, table
from tests.scale import law
from tests.scattered import scattered

pytestmark = pytest.mark.usefixtures("rows_drawn")

NAMES = ["imm", "greedy", "shallow", "mmdt", "exkmc", "expand", "random_cuts", "cart", "auto"]


def said(explaining):
    """Return an explanation, or its error by kind and words."""
    try:
        return explaining()
    except ValueError as error:
        return type(error), str(error)


@law(40)
def test_limits_are_kept_or_refused_as_in_memory(seed):
    rng = np.random.default_rng(seed)
    X, y, weights = table(seed, n=int(rng.integers(8, 80)))
    if cannot_be_separated(X, y, weights):
        return
    columns = [f"x{j}" for j in range(X.shape[1])]
    method, named = NAMES[seed % len(NAMES)], {"columns": columns}
    if method == "auto":  # which in memory calls rows equally near if columns are 12 powers of ten apart
        X = X / np.maximum(np.abs(X).max(axis=0), 1e-300)
    limits = make_limits(rng, columns, int((y >= 0).sum()))
    if method != "auto":
        limits.pop("preferred", None)  # which is refused
    options = {"method": method, **limits}
    expected = said(lambda: explain(X, y, sample_weight=weights, **named, **options))
    extra = {"label": y} | ({} if weights is None else {"weight": weights})
    weight = None if weights is None else "weight"
    found = said(lambda: explain(scattered(X, seed, **extra), "label", sample_weight=weight, **options))
    if isinstance(expected, tuple):
        assert found == expected
        return
    check_equal(expected, found, is_exact=weights is None or weights.dtype.kind == "i")
    assert found.limits == expected.limits
    assert_kept(found, X, (y >= 0) & (True if weights is None else weights > 0), limits, columns)


@law(6)
def test_columns_are_chosen_in_the_units_in_which_trees_are_grown(seed):
    X, y = make_blobs(200, 4, centers=4, cluster_std=3.0, random_state=seed)
    X[:, 0] *= 1000
    expected = explain(StandardScaler().fit_transform(X), y, method="imm", max_columns=2)
    for ex in both(X, y, None, seed, method="imm", max_columns=2, standardize=True):
        assert ex.tree.features.tolist() == expected.tree.features.tolist()
        assert len(ex.tree.features) <= 2


@law(4)
def test_a_tree_of_a_sample_has_enough_of_all_rows_in_its_leaves(seed, monkeypatch):
    monkeypatch.setattr(search, "rows_of_sample", lambda *_: 200)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2_000, 3)).round(2)
    X[:600] = X[0]  # a sample of distinct rows does not see how many these are
    y = rng.integers(0, 4, size=2_000)
    fewest = int(rng.integers(150, 400))
    ex = explain(scattered(X, seed, label=y), "label", min_samples_leaf=fewest, max_leaf_nodes=6, objective="agreement")
    assert np.bincount(ex.tree.apply(X)).min() >= fewest
    assert min(leaf.size for leaf in ex.leaves) >= fewest
    assert ex.limits.min_samples_leaf == fewest
    few = explain(scattered(X, seed, label=y), "label", method="expand", max_columns=1)
    assert len(few.tree.features) <= 1
    chosen = re.compile(r"the columns of the rules were chosen on a sample of (\d+) of 2,000 rows")
    (n,) = (int(found[1]) for found in map(chosen.fullmatch, few.notes) if found)
    assert 100 < n <= 200


def test_preferred_columns_must_be_columns_of_the_rules():
    X, y = make_blobs(60, 2, centers=3, random_state=0)
    source = scattered(X, 0, label=y, town=["here"] * 60)
    with pytest.raises(DataError, match=r"rules cannot use: town \(left out, text\); prefer some of x0, x1"):
        explain(source, "label", preferred=["town"])
    with pytest.raises(ValueError, match="method 'imm' has no preferred where rows are read in batches"):
        explain(source, "label", method="imm", preferred=["x0"])
    assert explain(source, "label", method="imm", forbidden=["town"]).limits is None


def test_the_page_on_tables_beyond_memory_names_all_methods():
    page = (Path(__file__).parents[2] / "docs/how-to/beyond-memory.md").read_text()
    lines = [line.split("|") for line in page.splitlines() if line.startswith("| methods ")]
    by_passes, drawn, in_memory = (set(line[1].split("`")[1::2]) for line in lines)
    assert by_passes | drawn == {name for name, method in METHODS.items() if method.in_batches}
    assert in_memory == set(METHODS) - by_passes - drawn
