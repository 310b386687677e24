"""Thresholds that are allowed: every cut of a column is at one of them, by all methods, and no better one is missed."""

import contextlib

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood.errors import DataError
from boxwood.explanation.change.cuts import thresholds_of
from boxwood.explanation.model_file import from_text
from boxwood.grow import METHODS
from tests.scale import each, law
from tests.scattered import scattered

BANDS = {"days": [30, 90, 365], "age": [30, 40, 50.5]}


def visitors(rng, n=80, *, gaps=False, words=False):
    """Return a frame, and labels by its columns, of which some are wrong."""
    frame = pd.DataFrame({
        "days": rng.exponential(120, n).round(),
        "spend": rng.lognormal(5, 1, n).round(2),
        "age": rng.normal(40, 12, n).round(1),
    })  # fmt: skip
    labels = (frame["days"] > rng.integers(40, 200)).astype(int) + 2 * (frame["age"] > rng.integers(28, 55))
    labels = np.where(rng.random(n) < 0.05, 0, labels)
    if gaps:
        frame.loc[rng.random(n) < 0.1, "days"] = np.nan
    if words:
        frame["plan"] = rng.choice(["free", "solo", "team"], n)
    return frame, labels


def assert_allowed(ex, cuts, tree=None):
    """Check that cuts are at allowed thresholds, as rules say them."""
    for name, values in cuts.items():
        found = {*thresholds_of(ex, ex.tree if tree is None else tree, ex.columns.index(name))}
        assert found <= {*values}, (name, found)


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # scikit-learn, on tables with few rows
@law(8)
def test_each_method_cuts_at_allowed_thresholds_alone(seed):
    rng = np.random.default_rng(seed)
    frame, labels = visitors(rng, 60, gaps=seed % 3 == 0, words=seed % 4 == 1)
    n_grown = 0
    for method in drawn_methods(seed):
        with contextlib.suppress(ValueError):  # methods of numbers refuse words and gaps
            ex = bw.explain(frame, labels, cuts=BANDS, method=method)
            n_grown += 1
            assert_allowed(ex, BANDS)
            assert ex.limits.cuts == tuple((name, tuple(map(float, values))) for name, values in BANDS.items())
            right = np.equal(ex.predict(frame), labels)
            assert ex.agreement == pytest.approx(right.mean(), abs=1e-12)
            assert from_text(ex.to_json(), "text").limits == ex.limits
    assert n_grown >= 2


def drawn_methods(seed):
    """Return "auto", and three of the methods by their names: in four seeds all are met."""
    names = [*METHODS]
    return ["auto", *names[seed % 4 :: 4]]


@law(12)
def test_no_single_cut_that_is_allowed_agrees_on_more_rows(seed):
    rng = np.random.default_rng(seed)
    frame, labels = visitors(rng)
    labels = np.minimum(labels, 1)
    cuts = {"days": [5, 30, 90, 200, 365], "age": [30, 40, 50.5], "spend": [20, 100, 1000]}
    ex = bw.explain(frame, labels, cuts=cuts, max_leaf_nodes=2, objective="agreement")
    best = 0.0
    for name, values in cuts.items():
        for value in values:
            for side in (frame[name] <= value, frame[name] > value):
                best = max(best, float(np.mean(side == labels)))
    assert ex.agreement == pytest.approx(max(best, np.mean(labels), np.mean(1 - labels)))


@law(3)
def test_what_is_grown_again_keeps_the_thresholds(seed):
    rng = np.random.default_rng(seed)
    frame, labels = visitors(rng, 120, gaps=seed % 2 == 1)
    ex = bw.explain(frame, labels, cuts=BANDS, validate=2, max_leaf_nodes=3)
    assert 0 <= ex.held_out.agreement <= 1
    assert ex.frontier(folds=2).this.agreement == ex.agreement
    lines = ex.standalone_rules(max_conditions=2)
    for tree in lines.trees:
        if tree is not None:
            assert_allowed(ex, BANDS, tree)
    found = bw.compare(frame, labels, cuts=BANDS, methods=["auto", "cart"], max_leaf_nodes=4)
    assert [row.method.split("-")[0] for row in found.rows]


def test_values_are_ages_in_days_where_dates_are_counted_from_a_day():
    rng = np.random.default_rng(0)
    seen = pd.Timestamp("2026-07-31") - pd.to_timedelta(rng.integers(0, 500, 200), unit="D")
    frame = pd.DataFrame({"seen": seen, "orders": rng.integers(0, 20, 200)})
    labels = np.where(seen > pd.Timestamp("2026-04-25"), "new", np.where(frame["orders"] > 9, "loyal", "gone"))
    ex = bw.explain(frame, labels, as_of="2026-07-31", cuts={"seen": [30, 90, 365]})
    assert "seen within the last 90 days" in str(ex.rules())
    assert ex.limits.cuts == (("seen", ("365 days ago", "90 days ago", "30 days ago")),)
    by_day = bw.explain(frame, labels, cuts={"seen": ["2026-01-01", "2026-05-01"]})
    assert "2026-05-01" in str(by_day.rules())
    assert_allowed(by_day, {"seen": ["2026-01-01", "2026-05-01"]})


@law(3)
def test_tables_in_batches_keep_the_thresholds(seed):
    rng = np.random.default_rng(seed)
    frame, labels = visitors(rng, 200)
    for method in ("auto", "expand", "greedy"):
        ex = bw.explain(scattered(frame.to_numpy(), seed, label=labels), "label", method=method, cuts={"x0": [30, 90]})
        assert_allowed(ex, {"x0": [30, 90]})


def test_an_edit_may_leave_the_allowed_thresholds_and_the_limits_say_so():
    frame, labels = visitors(np.random.default_rng(3))
    ex = bw.explain(frame, labels, cuts=BANDS)
    assert len(ex.limits.cuts) == 2
    [first, *_] = thresholds_of(ex, ex.tree, 0)
    changed = ex.move_cut("days", first, to=33)
    assert [one.column for one in changed.limits.cuts] == ["age"]


@law(4)
def test_notes_on_columns_hold_of_the_changed_rules(seed):
    rng = np.random.default_rng(seed)
    frame, labels = visitors(rng)
    ex = bw.explain(frame, labels, method="cart", cuts=BANDS, forbidden=["spend"], max_columns=2, max_leaf_nodes=5)
    for _ in range(4):
        name = str(rng.choice(["days", "age"]))
        with contextlib.suppress(DataError):  # no row could reach a leaf then
            ex = ex.split(int(rng.integers(ex.n_leaves)), name, float(rng.choice([*BANDS[name], 77])))
        noted = [note for note in ex.notes if note.startswith("rules cut ") and note.endswith(" alone")]
        assert [note.split()[2] for note in noted] == [one.column for one in ex.limits.cuts]
        assert "no rule may use the forbidden spend" in ex.notes
        tested = [ex.columns[j] for j in ex.tree.features.tolist()]
        assert [note.split()[-4] for note in ex.notes if note.startswith("max_columns=2")] == [tested[-1]]


REFUSED = [
    ({"days": 30}, TypeError, r"cuts\['days'\] must be a list of values, got 30"),
    ({"days": "30"}, TypeError, r"cuts\['days'\] must be a list of values"),
    ([30, 90], TypeError, "cuts must be lists of values by columns"),
    ({"days": []}, ValueError, "must have at least one value; to keep days out of the rules, forbid it"),
    ({"dais": [30]}, DataError, "dais"),
    ({"days": ["soon"]}, DataError, "days holds numbers, got the text 'soon'"),
    ({"days": [float("nan")]}, (DataError, ValueError, TypeError), "days"),
    ({"plan": ["team"]}, DataError, "cuts are for numbers and dates, but plan holds categories or booleans"),
    ({"days": [-5, 1e6]}, DataError, r"no row of days is on the other side of -5, 1e\+06: its values are"),
]


@each("cuts, error, said", REFUSED)
def test_thresholds_that_cannot_be_kept_are_refused(cuts, error, said):
    frame, labels = visitors(np.random.default_rng(1), words=True)
    with pytest.raises(error, match=said):
        bw.explain(frame, labels, cuts=cuts)
