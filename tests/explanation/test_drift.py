"""A saved tree on later rows: what is counted, in every form of a table and in SQL, and which changes are told."""

import json
import re
import sqlite3
from collections import Counter
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from benchmarks.living import CASES, explained, first
from scipy.stats import chi2_contingency, fisher_exact

import boxwood as bw
from boxwood.explanation.living.chance import of_shapes, of_shares
from boxwood.explanation.living.counts import count_rows
from boxwood.explanation.living.drift import NO_SHAPES, OF_WEIGHTS, drift_of
from boxwood.explanation.living.sides import side_of
from boxwood.table.rule_rows import open_for_rules
from boxwood.table.sql import as_name
from tests.models import read_model
from tests.render.test_every_engine import arrow_table
from tests.rule_cases import COLUMNS, categories_with_missing, explanation_with_gaps, rows
from tests.scale import each, law, seeds


def odd_case(seed):
    """Return an explanation of hostile columns, and a table of rows near its cuts, with gaps and words never seen."""
    rng = np.random.default_rng(seed)
    known = categories_with_missing(rng)
    ex = explanation_with_gaps(rng, known)
    return ex, arrow_table(rows(rng, known, 300))


def told_by_hand(ex, table):
    """Return the rows of each cluster and those without one, by `predict`, and the words that were never seen."""
    found = ex.predict(table, missing="none")
    return Counter(None if one is None or one == -1 else str(one) for one in found.tolist())


def check_shares_add_up(drift):
    """The printed shares of clusters and of no cluster are 100 % of the rows, but for their last digits."""
    first = next(part for part in str(drift).split("\n\n") if "share then" in part).splitlines()
    lines = [re.findall(r"[\d.]+(?=%)", line) for line in first[1 : len(drift.clusters) + 2]]
    for shares in zip(*(line[:2] for line in lines), strict=True):
        assert abs(sum(map(float, shares)) - 100) <= 0.05 * len(shares) + 1e-9


@law(12)
def test_sizes_are_those_of_predict(seed):
    ex, table = odd_case(seed)
    check_shares_add_up(ex.drift(table))
    drift, expected = ex.drift(table), told_by_hand(ex, table)
    assert {str(one.name): one.now for one in drift.clusters} == {str(name): expected[str(name)] for name in ex.names}
    assert drift.n_lost == expected[None] == sum(one.rows for one in drift.lost)
    assert drift.n_rows == table.num_rows
    for cut in drift.cuts:
        assert 0 <= (cut.share or 0) <= 1
        assert cut.of <= drift.n_rows


@law(8)
def test_every_form_of_a_table_is_counted_alike(seed, tmp_path):
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    before = first(rng)
    if seed % 2:  # rules on words
        before = before._replace(labels=np.where(before.rows["country"].isin(["AT", "US"]), "s0", before.labels))
    ex = explained(before)
    assert seed % 2 == 0 or {*ex.tree.features} & {*ex._coded_columns}
    after = before.rows.iloc[:600].copy()
    labels = before.labels[:600].astype(object)
    labels[rng.integers(600, size=60)] = "fresh"
    after.loc[rng.integers(600, size=40), "c0"] = np.nan
    after.loc[rng.integers(600, size=30), "country"] = rng.choice(["NZ", "FJ"], 30)
    after["segment"] = pd.Series(labels, index=after.index).where(rng.random(600) < 0.95, None)
    expected = count_rows(ex, after, "segment")
    after.to_csv(tmp_path / "a.csv", index=False)
    after.to_parquet(tmp_path / "a.parquet", row_group_size=250)
    query = f"SELECT * FROM '{tmp_path / 'a.parquet'}'"
    found = [count_rows(ex, bw.scan(tmp_path / name), "segment") for name in ("a.csv", "a.parquet")]
    for name in ("a.csv", "a.parquet"):
        with open_for_rules(str(tmp_path / name), [side_of(ex, None, "").tested_columns]) as opened:
            found.append(count_rows(ex, opened, "segment"))
    found.append(count_rows(ex, bw.scan(query), "segment"))
    for other in found:
        assert drift_of(ex, other) == drift_of(ex, expected)
    assert pq.read_table(tmp_path / "a.parquet").num_rows == expected.at_leaves.sum()


@law(8)
def test_odd_rows_of_a_file_are_counted_as_those_in_memory(seed, tmp_path):
    import pyarrow.parquet as pq

    ex, table = odd_case(seed)
    pq.write_table(table, tmp_path / "odd.parquet", row_group_size=100)
    with open_for_rules(str(tmp_path / "odd.parquet"), [side_of(ex, None, "").tested_columns]) as opened:
        assert ex.drift(opened) == ex.drift(table)


def watched(fetched):
    """Return what a query of `monitoring_sql` found, by what it is of."""
    return {(what, name): (then, now, share) for _, what, name, then, now, _, share in fetched}


def expected_of(drift):
    """Return the lines of a drift, as SQL has them, but for the reasons, whose old numbers are not known."""
    lines = [(("rows", ""), drift.n_then, drift.n_rows, drift.n_rows)]
    lines += [(("cluster", str(one.name)), one.then, one.now, drift.n_rows) for one in drift.clusters]
    lines += [(("no cluster", ""), drift.n_lost_then, drift.n_lost, drift.n_rows)]
    return {what: (then, now, now / of if of else None) for what, then, now, of in lines}


def agrees(found, drift):
    lines = watched(found)
    for what, expected in expected_of(drift).items():
        assert lines[what] == expected
    reasons = {name: now for (what, name), (then, now, _) in lines.items() if what == "no cluster" and then is None}
    assert sum(reasons.values()) == drift.n_lost
    for one in drift.lost:
        said = "is missing" if one.reason == "missing" else "was never seen"
        assert one.rows in [now for name, now in reasons.items() if name.endswith(said)]
    cuts = [share for _, what, _, _, _, _, share in found if what == "cut"]
    assert cuts == [one.share for one in drift.cuts]


@law(50)
def test_sql_counts_what_python_counts(seed):
    ex, table = odd_case(seed)
    drift = ex.drift(table)
    agrees(duckdb.sql(ex.monitoring_sql("duckdb", "table")).fetchall(), drift)
    with sqlite3.connect(":memory:") as con:
        con.execute(f"CREATE TABLE t ({', '.join(map(as_name, COLUMNS))})")
        cells = zip(*(one.to_pylist() for one in table.columns), strict=True)  # NaN is NULL in SQLite
        con.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", cells)
        agrees(con.execute(ex.monitoring_sql("sqlite", "t")).fetchall(), drift)


# ------------------------------------------------------------------------------------------------------------- chance
@law(20)
def test_shares_are_compared_by_fishers_exact_test(seed):
    rng = np.random.default_rng(seed)
    of, of_then = rng.integers(1, 400, 2).tolist()
    now, then = int(rng.integers(of + 1)), int(rng.integers(of_then + 1))
    exact = fisher_exact([[now, of - now], [then, of_then - then]]).pvalue
    assert of_shares(now, of, then, of_then) == pytest.approx(exact, rel=1e-6, abs=1e-12)


def test_long_tables_are_compared_by_the_normal_law():
    near = of_shares(30_300, 100_000, 30_000, 99_999)
    assert near == pytest.approx(of_shares(30_300, 100_001, 30_000, 100_000), rel=0.03)
    assert of_shares(0, 300_000, 0, 300_000) == 1.0


def test_shapes_are_compared_by_the_test_of_squares():
    now, then = np.array([[20, 40, 40], [0, 3, 2]]), np.array([[50, 40, 30], [2, 2, 2]])
    expected = chi2_contingency(np.array([now[0], then[0]]), correction=False).pvalue
    assert of_shapes(now, then) == pytest.approx(expected)  # the second group has too few rows
    assert of_shapes(now[1:], then[1:]) == 1.0


# ------------------------------------------------------------------------------------------------- what is told of rows
@each("kind", CASES)
def test_planted_changes_are_named_rightly(kind):
    tried = seeds(3)
    found = [seed for seed in tried if CASES[kind](np.random.default_rng(seed))]
    assert len(found) >= 0.95 * len(tried)


@pytest.fixture(scope="module")
def before():
    return first(np.random.default_rng(3))


@pytest.fixture(scope="module")
def ex(before):
    return bw.explain(before.rows, before.labels)


def test_what_was_never_seen_is_counted_and_never_an_error(before):
    lost = bw.explain(before.rows[["country"]].assign(n=1.0), before.labels, columns=["country"])
    wanted = ("country", "missing", 5, ()), ("country", "never seen", 60, (("NZ", 60),))
    assert lost.drift(pd.DataFrame({"country": ["NZ"] * 60 + [None] * 5})).lost == wanted


def test_new_labels_are_counted(ex, before):
    labels = before.labels.astype(object)
    labels[:80] = "fresh"
    drift = ex.drift(before.rows, labels)
    assert drift.labels.new == (("fresh", 80),)
    assert drift.changes[-1] == ("new label", "fresh", None, 80)
    assert drift.labels.rows == len(labels) - 80
    assert ex.drift(before.rows, before.labels).agreement == ex.agreement


def test_words_that_lie_otherwise_within_clusters_are_told(before):
    rows = before.rows[["country", "c0"]]
    ex = bw.explain(rows, rows["country"].isin(["AT", "CH"]).map({True: "alps", False: "others"}))
    fewer = rows["country"].where((rows["country"] != "CH") | (rows.index % 5 == 0), "AT")
    drift = ex.drift(rows.assign(country=fewer))
    assert [(one.change, one.name) for one in drift.changes] == [("moved", "country")]
    [words] = drift.words
    assert words.share_then == (rows["country"] == words.word).mean()
    assert words.share == (fewer == words.word).mean()
    assert f"country moved: {words.share:.1%} of its values are {words.word}" in str(drift)
    assert not ex.drift(rows).changes


def test_words_of_few_rows_are_not_told_by_counts(before):
    rows = before.rows[["country"]].assign(n=1.0)
    rows.loc[:2, "country"] = "NZ"
    ex = bw.explain(rows, rows["country"].isin(["AT", "NZ"]).map({True: "a", False: "b"}))
    shape = read_model(ex.to_json())._kept["shapes"][0]
    at = ex._coded_columns[0].values.index("NZ")
    assert [held[at] for held in shape.held] == [0, 0]
    assert sum(map(sum, shape.held)) == len(rows)
    assert [one.word for one in ex.drift(rows).words if one.share != one.share_then] == []


def test_few_rows_tell_nothing(ex, before):
    drift = ex.drift(before.rows.head(20))
    assert drift.untested.startswith("too few rows")
    assert not drift.changes
    assert "too few rows to tell" in str(drift)


def test_weighted_rows_tell_no_change(before):
    weighted = bw.explain(before.rows, before.labels, sample_weight=np.linspace(1, 2, len(before.labels)))
    drift = weighted.drift(before.rows.assign(c0=lambda rows: rows["c0"] * 100))
    assert "weighted" in drift.untested
    assert OF_WEIGHTS in drift.notes
    assert not drift.changes


def test_weights_are_counted_where_the_model_has_some(before, tmp_path):
    rows = before.rows.assign(w=np.linspace(1, 2, len(before.labels)), segment=before.labels)
    weighted = bw.explain(rows.drop(columns=["w", "segment"]), before.labels, sample_weight=rows["w"])
    later = rows.iloc[::2].assign(c0=rows["c0"].where(rows.index % 14 > 0)).reset_index(drop=True)
    found = weighted.predict(later, missing="none")
    later.to_parquet(tmp_path / "later.parquet")
    for table in (later, bw.scan(tmp_path / "later.parquet")):
        drift = weighted.drift(table, sample_weight="w")
        sums = {one.name: one.now for one in drift.clusters}
        assert sums == {name: pytest.approx(later["w"][found == name].sum()) for name in weighted.names}
        assert drift.n_rows == pytest.approx(later["w"].sum())
        assert drift.n_rows - sum(sums.values()) == pytest.approx(drift.n_lost)
        assert OF_WEIGHTS not in drift.notes
        assert str(drift).startswith("Weight ")
        json.dumps(drift.to_dict())
    assert weighted.drift(rows, "segment", "w").agreement == pytest.approx(weighted.agreement)


def test_a_model_file_tells_the_same(ex, before):
    again = read_model(ex.to_json())
    later = before.rows.assign(c0=before.rows["c0"] + 1)
    assert ex.drift(later).to_dict() == again.drift(later).to_dict()


def test_a_model_of_before_says_what_it_cannot_tell(ex, before):
    document = ex.to_dict()
    del document["shapes"]
    old = read_model(json.dumps(document))
    drift = old.drift(before.rows)
    assert drift.columns == ()
    assert NO_SHAPES in drift.notes
    assert NO_SHAPES in str(drift)


@each("change, said", [({"held": [[1]]}, "must have"), ({"edges": [2.0, 1.0]}, "must have")])
def test_damaged_shapes_are_refused(ex, change, said):
    document = ex.to_dict()
    name = next(iter(document["shapes"]))
    document["shapes"][name] |= change
    with pytest.raises(bw.errors.ModelError, match=said):
        read_model(json.dumps(document))


def test_reports_say_the_same(ex, before, tmp_path):
    drift = ex.drift(before.rows.assign(c0=before.rows["c0"] * 100))
    told = next(line[2:] for line in str(drift).splitlines() if line.startswith("- "))
    assert told in drift.to_html()
    assert told in drift.to_markdown()
    drift.to_html(tmp_path / "page.html", title="November")
    assert "<title>November</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert json.loads(json.dumps(drift.to_dict()))["changes"][0]["change"] == drift.changes[0].change
    assert told in drift._repr_html_()


def test_weights_need_weights_of_the_model(ex, before):
    with pytest.raises(ValueError, match="is for models of weighted rows"):
        ex.drift(before.rows, None, np.ones(len(before.rows)))


@law(24)
def test_numbers_of_another_type_are_no_change(seed):
    rng = np.random.default_rng(seed)
    prices, n = np.array([0.99, 1.99, 2.49, 4.99, 9.99, 19.95]), 400
    frame = pd.DataFrame(
        {
            "price": rng.choice(prices[: rng.integers(2, 7)], n),
            "share": rng.beta(1, 3, n).round(int(rng.integers(1, 4))),
            "zeros": np.where(rng.random(n) < 0.6, 0.1, rng.lognormal(size=n)),
            "count": rng.poisson(3, n),
            "size": rng.normal(1e4, 3e3, n),
        }
    )
    labels = np.where(sum(frame[name].rank() for name in rng.choice(frame.columns, 2, replace=False)) > n, "a", "b")
    ex = bw.explain(frame, labels, method="cart", max_leaf_nodes=4)
    decimals = pa.Table.from_pandas(frame).set_column(
        0, "price", pa.array(map(Decimal, frame["price"].map("{:.2f}".format)))
    )
    same = [frame.astype("float32"), frame.round(4), frame.astype({"count": float}), frame.astype({"count": "int16"})]
    for table in (*same, pl.from_pandas(frame), decimals, frame.astype("float32").astype(float)):
        drift = ex.drift(table)
        ruled = [one.now for one in drift.clusters]
        if ruled == [one.then for one in drift.clusters]:
            assert not drift.changes
            assert max(one.moved for one in drift.columns) < 0.02


@law(12)
def test_a_fall_of_agreement_is_told_whatever_the_rows_weigh(seed):
    rng = np.random.default_rng(seed)
    X, rows = rng.normal(size=(300, 2)), rng.normal(size=(400, 2))
    ex = bw.explain(X, X[:, 0] > 0, method="cart", max_leaf_nodes=2)
    labels = (rows[:, 0] > 0) ^ (rng.random(400) < 0.3)
    for weights in (None, rng.random(400) + 0.5, np.full(400, 0.75)):
        told = {one.change for one in ex.drift(rows, labels, weights if ex.details.weighted else None).changes}
        assert "agreement" in told
