"""Which rows get no cluster: those that `predict` gives none, in every number and every sentence that counts them."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import boxwood as bw
from boxwood.batches.source import ArrowSource
from tests.models import read_model
from tests.scale import law

WITHOUT = re.compile(r"^([\d,]+) of ([\d,]+) rows gets? no cluster|([\d,]+) of ([\d,]+) rows .* no cluster")


def columns(rng, n, words):
    """Return numbers, words and labels, each with gaps or without; labels follow from few of the columns."""
    frame = pd.DataFrame({f"x{j}": rng.normal(size=n).round(2) for j in range(int(rng.integers(1, 4)))})
    for j in range(int(rng.integers(0, 3))):
        frame[f"w{j}"] = rng.choice(words, n)
    by = frame[frame.columns[rng.integers(len(frame.columns))]]
    return frame, np.where(by > 0, "p", "q") if by.dtype.kind == "f" else np.where(by.isin(["a", "d"]), "p", "q")


def with_gaps(rng, frame):
    lacking = rng.random(frame.shape) < rng.choice([0, 0.05, 0.3], frame.shape[1])
    lacking[: int(rng.integers(0, 4))] = True
    return frame.mask(lacking)


def case(seed):
    """Return an explanation, the table and the labels it is of, and later rows with words that were never seen."""
    rng = np.random.default_rng(seed)
    frame, labels = columns(rng, 90, list("abc"))
    labels = np.where(rng.random(90) < 0.1, "p", labels)
    learnt = with_gaps(rng, frame) if seed % 3 else frame
    weights = rng.integers(1, 5, 90).astype(float) if seed % 4 == 1 else None
    options = {"missing": ["learn", "drop"][seed // 3 % 2], "max_leaf_nodes": int(rng.integers(2, 5))}
    lacks = learnt.isna().any(axis=1).mean()
    options["missing"] = "learn" if lacks > 0.5 else options["missing"]
    ex = bw.explain(learnt, labels, sample_weight=weights, method=["auto", "cart"][seed % 2], **options)
    ex = ex.handle_unknown() if seed % 5 == 0 else ex
    later = frame.iloc[rng.integers(90, size=60)].reset_index(drop=True)
    for name in later.columns:
        if name.startswith("w"):
            later[name] = later[name].mask(rng.random(60) < 0.15, "z")
    later = with_gaps(rng, later) if seed % 2 else later
    later = pd.concat([later, frame.iloc[:5]], ignore_index=True).iloc[5:]  # some rows have all values
    later_labels = np.where(rng.random(60) < 0.2, "p", rng.choice(["p", "q"], 60))
    return ex, (learnt, labels, weights), (later, later_labels, rng.integers(0, 5, 60).astype(float))


def ruled(ex, rows):
    """Return whether `predict` gives each row a cluster."""
    return np.array([one in ex.names for one in ex.predict(rows, missing="none").tolist()])


def check_notes(notes, n_without, n_rows):
    """Every note that counts rows without a cluster has the number of those that `predict` gives none."""
    found = [match for note in notes if (match := WITHOUT.search(note))]
    counts = [[int(one.replace(",", "")) for one in match.groups() if one] for match in found]
    assert all(one == [n_without, n_rows] for one in counts), notes
    return bool(counts)


@law(24)
def test_a_row_gets_no_cluster_where_predict_gives_none(seed):
    ex, _, (later, labels, weights) = case(seed)
    given = ex.predict(later, missing="none")
    has_cluster = ruled(ex, later)
    n_without = int((~has_cluster).sum())
    assert n_without == int((ex.apply(later, missing="none") < 0).sum())
    drift = ex.drift(later)
    assert drift.n_lost == n_without == sum(one.rows for one in drift.lost)
    assert Counter(given[has_cluster].tolist()) == {one.name: one.now for one in drift.clusters if one.now}
    if ex.details.weighted:
        assert ex.drift(later, sample_weight=weights).n_lost == weights[~has_cluster].sum()
    for way in ({}, {"sample_weight": weights}):
        own, left_out = way.get("sample_weight", np.ones(60))[has_cluster], set()
        for table in (
            later,
            ArrowSource(pa.Table.from_pandas(later.assign(label=labels, weight=weights)), batch_rows=17),
        ):
            in_batches = not isinstance(table, pd.DataFrame)
            about = dict.fromkeys(way, "weight") if in_batches else way
            named = "label" if in_batches else labels
            measured = ex.evaluate(table, named, **about)
            assert check_notes(measured.notes, n_without, 60) == (n_without > 0), measured.notes
            right = (given == labels)[has_cluster]
            assert measured.agreement == pytest.approx(np.average(right, weights=own))
            if ex.details.weighted or not way:  # weights of the model's rows are not known
                assert ex.drift(table, named, **about).agreement == pytest.approx(measured.agreement)
            assert np.sum(measured.confusion()) == pytest.approx(own.sum())
            assert (measured.n_rows, measured.details.n_unruled) == (60, n_without)
            left_out.add((measured.n_left_out, measured.details.noise, measured.adjusted_rand))
        assert len(left_out) == 1
        assert left_out.pop()[0] == n_without + (own == 0).sum()


@law(16)
def test_shares_of_a_weighted_model_are_those_of_its_rows_where_all_weigh_the_same(seed):
    _, (learnt, labels, _), (later, _, _) = case(3 * seed)  # without gaps, but words that are never seen
    options = {"method": "cart", "max_leaf_nodes": 3, "missing": "drop"}
    plain, heavy = (bw.explain(learnt, labels, sample_weight=weight, **options) for weight in (None, np.full(90, 2.5)))
    some = learnt.assign(**{name: learnt[name].mask(np.arange(90) % 7 == 0, "z") for name in learnt if name[0] == "w"})
    plain, heavy = plain.evaluate(some, labels), heavy.evaluate(some, labels, sample_weight=np.full(90, 2.5))
    one, other = plain.drift(later), heavy.drift(later, sample_weight=np.full(60, 2.5))
    assert (other.n_then, other.n_lost_then) == (2.5 * one.n_then, 2.5 * one.n_lost_then)
    assert [each.share_then for each in other.clusters] == [each.share_then for each in one.clusters]


@law(24)
def test_the_table_that_was_explained_is_counted_as_it_was(seed):
    ex, (learnt, _, weights), _ = case(seed)
    n_without = int((~ruled(ex, learnt)).sum())
    check_notes(ex.notes, n_without, 90)
    assert ex.details.n_unruled == n_without
    loaded = read_model(ex.to_json())
    for model in (ex, loaded):
        drift = model.drift(learnt)
        assert drift.n_lost == n_without
        if weights is None:
            assert [(one.then, one.now) for one in drift.clusters] == [(one.now, one.now) for one in drift.clusters]
            assert [one.share_then for one in drift.cuts] == [one.share for one in drift.cuts]
            assert (drift.n_then, drift.n_lost_then) == (90, n_without)
            assert not drift.changes
            assert [one.moved for one in (*drift.columns, *drift.words)] == [0] * len((*drift.columns, *drift.words))


def test_costs_are_those_of_rows_with_all_values_and_this_is_told():
    frame = pd.DataFrame({"x": [-3.0, -2, -1, 1, 2, 3], "town": list("ababab")})
    ex = bw.explain(frame, ["lo"] * 3 + ["hi"] * 3)
    other = pd.DataFrame({"x": [-1.0, -2, 1, 2], "town": ["a", "c", "c", "b"]})
    measured = ex.evaluate(other, ["lo", "hi", "lo", "hi"])
    assert measured.agreement == 0.5
    told = "costs and profiles are those of 2 of 4 rows, which have all values; others lack town (2)"
    assert told in measured.notes
    assert told not in ex.evaluate(other.assign(town="a"), ["lo", "hi", "lo", "hi"]).notes
