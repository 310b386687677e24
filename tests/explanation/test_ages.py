"""Rules on ages do not grow old: dates that all move by some days, seen as of as many days later, have the same labels.

An engine is a line of `ENGINES`: a function of an explanation, a table, the day, and a folder.
"""

import json
import shutil
import subprocess
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans

import boxwood as bw
from boxwood import render
from boxwood._dates import MICROSECONDS, NOW, TODAY, Dates
from boxwood.errors import DataError
from boxwood.estimators import IMM
from boxwood.render.forms.dialects import DIALECTS
from tests.command import invoke
from tests.models import read_model
from tests.programs import in_sqlite, program
from tests.scale import each, law, seeds

ZONES = ("", "UTC", "Europe/Vienna", "America/St_Johns")
DAY = pd.Timedelta(days=1)
LAST = ("2024-02-29", "2025-12-31", "2026-03-29", "2026-07-31", "1999-12-31")
"""Days from which dates are counted: of a leap year, at the end of a year, in summer time and when it begins."""


def table_of(seed, n=90):
    """Return a table of dates of one kind, its labels by their ages, and the day from which these are counted."""
    rng = np.random.default_rng(seed)
    day, zone = pd.Timestamp(LAST[seed % len(LAST)]), ZONES[seed % len(ZONES)]
    has_times, has_gaps = bool(zone) or seed % 3 == 0, seed % 2 == 0
    unit = MICROSECONDS if not has_times else (1 if seed % 6 else 3_600_000_000)
    spans = rng.choice([3, 40, 400, 3000], 2)
    far = {"bought": -rng.random(n) * spans[0], "due": (rng.random(n) - 0.4) * spans[1]}
    micro = {name: np.floor(days * MICROSECONDS / unit).astype(np.int64) * unit for name, days in far.items()}
    table = pd.DataFrame({name: day + pd.to_timedelta(x, unit="us") for name, x in micro.items()})
    if zone:
        table = table.apply(lambda x: x.dt.tz_localize("UTC").dt.tz_convert(zone))
    table["orders"] = rng.integers(0, 30, n)
    cuts = {name: np.quantile(x, rng.uniform(0.2, 0.8)) for name, x in micro.items()}
    labels = np.where(micro["bought"] < cuts["bought"], "lapsed", np.where(micro["due"] < cuts["due"], "due", "later"))
    labels = np.where((labels == "later") & (table.orders > 20), "loyal", labels)
    if has_gaps:
        table.loc[rng.random(n) < 0.1, "due"] = pd.NaT
    return table, labels, day.date().isoformat()


def later(table, days):
    """Return the table with all dates some days later, of which each has 24 hours."""
    moved = {name: table[name] + days * DAY for name in table if table[name].dtype.kind == "M"}
    moved |= {name: table[name] + days * DAY for name in table if isinstance(table[name].dtype, pd.DatetimeTZDtype)}
    return table.assign(**moved)


def day_after(day, days):
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def rows_of(table):
    """Return rows as JSON has them."""

    def plain(value):
        if isinstance(value, pd.Timestamp):
            return value.isoformat(" ")
        return None if value is pd.NaT else value.item()

    return [{name: plain(table[name].iloc[i]) for name in table} for i in range(len(table))]


# ---------------------------------------------------------------------------------------------------------- engines


def in_pandas(ex, table, day, folder):
    return ex.predict(table, as_of=day, missing="none")


def in_polars(ex, table, day, folder):
    return ex.predict(pl.from_pandas(table), as_of=date.fromisoformat(day), missing="none")


def in_rows(ex, table, day, folder):
    return ex.predict(rows_of(table), as_of=pd.Timestamp(day), missing="none")


def one_by_one(ex, table, day, folder):
    return [ex.why(row, as_of=day).name for row in rows_of(table)[:8]]


def by_model_file(ex, table, day, folder):
    ex.save(folder / "model.json")
    return bw.load(folder / "model.json").predict(table, as_of=day, missing="none")


def on_command_line(ex, table, day, folder):
    table.to_parquet(folder / "t.parquet")
    ex.save(folder / "m.json")
    words = ["predict", "m.json", "t.parquet", "-o", "out.parquet", "--as-of", day, "--fail-over-empty", "1"]
    words = [str(folder / word) if "." in word else word for word in words]
    invoke(*words)
    return [row[-1] for row in duckdb.sql(f"FROM '{folder / 'out.parquet'}'").fetchall()]


def in_sheet_of_csv(ex, table, day, folder):
    pd.DataFrame(rows_of(table)).to_csv(folder / "t.csv", index=False)
    render.write_labels(ex, folder / "t.csv", folder / "out.csv", as_of=day)
    return [row[-1] for row in duckdb.sql(f"FROM read_csv('{folder / 'out.csv'}')").fetchall()]


def in_table(ex, table, query):
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        con.register("t", table)
        return [name for (name,) in con.execute(query).fetchall()]


def in_duckdb(ex, table, day, folder):
    return in_table(ex, table, f"SELECT {ex.to_sql(as_of=day)} FROM t")


def in_duckdb_today(ex, table, day, folder):
    written = ex.to_sql().replace("CURRENT_DATE", f"DATE '{day}'")
    return in_table(ex, table, f"SELECT {written} FROM t")


def in_duckdb_from_column(ex, table, day, folder):
    if any(one.zone for _, one in ex.details.dates):
        with pytest.raises(DataError, match="time zone are not counted from a column"):
            ex.to_sql(as_of="taken")
        return in_duckdb(ex, table, day, folder)
    return in_table(ex, table.assign(taken=pd.Timestamp(day)), f"SELECT {ex.to_sql(as_of='taken')} FROM t")


def of_sqlite(ex, table, day, folder):
    return in_sqlite(ex.to_sql("sqlite").replace("'now', 'localtime'", f"'{day}'"), rows_of(table))


def written_python(ex, table, day, folder):
    names = program(ex.to_python())
    return [names["cluster"](row, day) for row in rows_of(table)]


def written_python_of_a_day(ex, table, day, folder):
    names = program(ex.to_python(as_of=day))
    return list(map(names["cluster"], rows_of(table)))


RUN = """
const table = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
console.log(JSON.stringify(table.map(row => cluster(row, process.argv[3]))));
"""


def written_javascript(ex, table, day, folder):
    if shutil.which("node") is None:
        pytest.skip("node is not installed, so JavaScript cannot run")
    (folder / "run.js").write_text(f'"use strict";\n{ex.to_javascript()}\n{RUN}', encoding="utf-8")
    (folder / "rows.json").write_text(json.dumps(rows_of(table)), encoding="utf-8")
    words = ["node", folder / "run.js", folder / "rows.json", day]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def in_spreadsheet(ex, table, day, folder):
    import formulas

    parts = ",".join(str(int(part)) for part in day.split("-"))
    written = ex.to_formula(row=7, columns=list(table)).replace("TODAY()", f"DATE({parts})")
    read = formulas.Parser().ast(written)[1].compile()
    zero, cells = datetime(1899, 12, 30), {}
    for letter, name in zip("ABC", table, strict=False):
        values = [row[name] for row in rows_of(table)]
        if table[name].dtype.kind == "M":
            values = ["" if x is None else (datetime.fromisoformat(x) - zero) / timedelta(days=1) for x in values]
        cells[f"{letter}7"] = np.array(values, dtype=object)[:, None]
    found = np.broadcast_to(np.asarray(read(*(cells[name] for name in read.inputs))), (len(table), 1))
    return [name or None for name in found.ravel().tolist()]


def by_a_dialect(dialect):
    """Return the engine that reads the SQL of a dialect by its grammar, and runs what it means in DuckDB."""

    def labels(ex, table, day, folder):
        import sqlglot
        from sqlglot import exp

        def on_day(node):
            if isinstance(node, exp.CurrentDate):
                return sqlglot.parse_one(f"CAST('{day}' AS DATE)")
            return node

        written = ex.to_sql(dialect, types={"orders": "INTEGER"}, nan=False)
        for today in ("toDate32(today())", "CAST(GETDATE() AS DATE)", "TRUNC(CURRENT_DATE)"):
            written = written.replace(today, "CURRENT_DATE")
        plain = sqlglot.parse_one(written, read=dialect).transform(on_day)
        return in_table(ex, table, f"SELECT {plain.sql('duckdb')} FROM t")

    return labels


ENGINES = {
    "pandas": in_pandas,
    "polars": in_polars,
    "rows": in_rows,
    "one by one": one_by_one,
    "model file": by_model_file,
    "command": on_command_line,
    "CSV": in_sheet_of_csv,
    "DuckDB": in_duckdb,
    "DuckDB today": in_duckdb_today,
    "DuckDB, from a column": in_duckdb_from_column,
    "SQLite": of_sqlite,
    "Python": written_python,
    "Python of a day": written_python_of_a_day,
    "JavaScript": written_javascript,
}


@cache
def case(seed):
    """Return rules on a table, it, its day, and the clusters of its rows, most of which are right."""
    table, labels, day = table_of(seed)
    ex = bw.explain(table, labels, as_of=day, method="cart", max_leaf_nodes=6)
    wanted = ex.predict(table, as_of=day, missing="none").tolist()
    assert np.mean(np.array(wanted) == labels) > 0.8
    return ex, table, day, wanted


@pytest.mark.parametrize("engine", ENGINES)
def test_no_label_changes_when_all_dates_move(engine, tmp_path):
    for seed in seeds(2 if engine in ("JavaScript", "command", "CSV") else 8):
        ex, table, day, wanted = case(seed)
        (folder := tmp_path / str(seed)).mkdir()
        days = int(np.random.default_rng([seed, *map(ord, engine)]).integers(1, 801))
        found = list(ENGINES[engine](ex, later(table, days), day_after(day, days), folder))
        assert found == wanted[: len(found)], (engine, seed, days)


@law(6)
def test_a_query_that_watches_counts_what_drift_counts(seed):
    ex, table, day, _ = case(seed)
    days = int(np.random.default_rng(seed).integers(1, 801))
    moved, then = later(table, days), day_after(day, days)
    drift = ex.drift(table, as_of=day)
    wanted = [one.now for one in drift.clusters]
    today = ex.monitoring_sql("duckdb", "t").replace("CURRENT_DATE", f"DATE '{then}'")
    for query in (ex.monitoring_sql("duckdb", "t", as_of=then), today):
        with duckdb.connect() as con:
            con.execute("SET TimeZone = 'UTC'")
            con.register("t", moved)
            lines = con.execute(query).fetchall()
        of = {what: [line for line in lines if line[1] == what] for what in ("rows", "cluster", "no cluster", "cut")}
        assert [line[4] for line in of["cluster"]] == wanted
        assert [line[3] for line in of["cluster"]] == [one.then for one in drift.clusters]
        assert [line[6] for line in of["cut"]] == pytest.approx([one.share for one in drift.cuts])
        assert of["no cluster"][0][4] == drift.n_lost == sum(line[4] for line in of["no cluster"][1:])
        assert of["rows"][0][4] == len(table)


@law(4)
def test_a_model_of_dbt_counts_from_the_day_on_which_it_runs(seed):
    ex, table, day, wanted = case(seed)
    moved, then = later(table, 100 + seed), day_after(day, 100 + seed)
    for files in (ex.to_dbt("t", "duckdb", as_of=then), ex.to_dbt("t", "duckdb")):
        query = files["t_clusters.sql"].replace("{{ ref('t') }}", "t").replace("CURRENT_DATE", f"DATE '{then}'")
        assert "{" not in query
        assert in_table(ex, moved, f"SELECT cluster FROM ({query})") == wanted
        assert "accepted_values" in files["schema.yml"]


@law(4)
def test_sqlite_reads_dates_with_blanks_around(seed):
    table, labels, day = table_of(4 * seed)
    table = pd.DataFrame(rows_of(table))
    ex = bw.explain(table, labels, as_of=day, method="cart", max_leaf_nodes=6)
    blanks = np.random.default_rng(seed).choice([" ", "\t", "\xa0", "  ", ""], (2, len(table)))
    texts = {
        name: ["" if x is None else x for x in table[name].astype(object).where(table[name].notna(), None)]
        for name in ("bought", "due")
    }
    around = table.assign(
        **{
            name: [f"{a}{x}{b}" if x else None for x, a, b in zip(of, *blanks, strict=True)]
            for name, of in texts.items()
        }
    )
    wanted = ex.predict(around, as_of=day, missing="none").tolist()
    assert wanted == ex.predict(table, as_of=day, missing="none").tolist()
    assert in_sqlite(ex.to_sql("sqlite", as_of=day), around.astype(object).to_dict("records")) == wanted


@law(4)
def test_other_dialects_mean_the_same(seed):
    table, labels, day = table_of(4 * seed)  # without a zone, whose functions no grammar of another engine knows
    ex = bw.explain(table, labels, as_of=day, method="cart", max_leaf_nodes=6)
    wanted, days = ex.predict(table, as_of=day, missing="none").tolist(), 1 + 97 * seed % 800
    dialects = [name for name in DIALECTS if name not in ("duckdb", "sqlite")]
    for dialect in dialects[seed % 2 :: 2]:
        found = by_a_dialect(dialect)(ex, later(table, days), day_after(day, days), None)
        assert found == wanted, (dialect, seed)


@law(4)
def test_shares_of_leaves_are_the_same_on_any_day(seed, tmp_path):
    ex, table, day, _ = case(seed)
    table, zoned = later(table, 1 + 197 * seed), any(one.zone for _, one in ex.details.dates)
    day = day_after(day, 1 + 197 * seed)
    leaf, shares = (
        ex.apply(table, as_of=day, missing="none"),
        ex.predict_proba(table, as_of=day, missing="none").max(axis=1),
    )
    ex.save(tmp_path / "model.json")
    for model in (ex, bw.load(tmp_path / "model.json")):
        today = model.to_sql(share=True).replace("CURRENT_DATE", f"DATE '{day}'")
        written = [
            today,
            model.to_sql(as_of=day, share=True),
            *([] if zoned else [model.to_sql(as_of="taken", share=True)]),
        ]
        with duckdb.connect() as con:
            con.execute("SET TimeZone = 'UTC'")
            con.register("t", table.assign(taken=pd.Timestamp(day)))
            for columns in written:
                found = [share for _, share in con.execute(f"SELECT {columns} FROM t").fetchall()]
                np.testing.assert_array_equal(np.array(found, dtype=float), np.where(leaf < 0, np.nan, shares))
        exec(model.to_python(share=True), names := {})
        found = [names["share"](row, day) for row in rows_of(table)]
        np.testing.assert_array_equal(np.array(found, dtype=float), np.where(leaf < 0, np.nan, shares))


@law(3)
def test_spreadsheets_count_from_today(seed, tmp_path):
    table, labels, day = table_of(8 * seed + 1 if ZONES[(8 * seed + 1) % 4] == "" else 8 * seed)
    ex = bw.explain(table, labels, as_of=day, method="cart", max_leaf_nodes=4)
    days = 1 + 131 * seed % 800
    found = in_spreadsheet(ex, later(table, days), day_after(day, days), tmp_path)
    assert found == ex.predict(table, as_of=day, missing="none").tolist()


@law(4)
def test_nothing_drifts_when_all_dates_move(seed):
    table, labels, day = table_of(seed)
    ex = bw.explain(table, labels, as_of=day, method="cart", max_leaf_nodes=6)
    days = int(np.random.default_rng(seed).integers(1, 801))
    on = {"as_of": day_after(day, days)}
    found, same = ex.drift(later(table, days), labels, **on), ex.drift(table, labels, as_of=day)
    assert not found.changes
    assert str(found) == str(same)
    assert ex.evaluate(later(table, days), labels, **on).agreement == ex.evaluate(table, labels, as_of=day).agreement
    new = bw.explain(later(table, days), labels, method="cart", max_leaf_nodes=6, **on)
    assert new.rules() == ex.rules()
    assert bw.match(ex, new).changes == bw.match(ex, ex).changes
    assert all(one.change == "same" for one in bw.match(ex, new, later(table, days), **on).changes)
    assert new.stay_close_to(ex).rules() == ex.rules()
    lines, moved = ex.standalone_rules(), later(table, days)
    assert lines.predict(moved, **on).tolist() == lines.predict(table, as_of=day).tolist()
    assert in_table(ex, moved, f"SELECT {lines.to_sql(**on)} FROM t") == lines.predict(table, as_of=day).tolist()


@law(4)
def test_each_verb_says_the_same_of_dates_that_all_moved(seed):
    table, labels, day = table_of(seed)
    ex = bw.explain(table, labels, as_of=day, method="cart", max_leaf_nodes=4)
    days = int(np.random.default_rng(seed).integers(1, 801))
    moved, on = later(table, days), {"as_of": day_after(day, days)}
    first, name = ex.names[:2], f"{ex.names[0]} then"
    leaf = max(range(ex.n_leaves), key=lambda i: ex.leaves[i].size)
    verbs = {
        "profile": lambda X, day: ex.profile(X, labels, as_of=day),
        "contrast": lambda X, day: ex.contrast(*first, X=X, labels=labels, as_of=day),
        "representatives": lambda X, day: ex.representatives(X, labels, as_of=day),
        "misassigned": lambda X, day: ex.misassigned(X, labels, as_of=day),
        "confusion": lambda X, day: ex.confusion(X, labels, as_of=day),
        "prune": lambda X, day: ex.prune(0, X=X, labels=labels, as_of=day),
        "split": lambda X, day: ex.split(leaf, "orders", 14, X=X, labels=labels, as_of=day),
        "replace_cut": lambda X, day: ex.replace_cut(0, "bought", "30 days ago", X=X, labels=labels, as_of=day),
        "merge_clusters": lambda X, day: ex.merge_clusters(*first, name=name, X=X, labels=labels, as_of=day),
        "rename_like": lambda X, day: ex.rename_like(ex, X, as_of=day).names,
        "predict_proba": lambda X, day: ex.predict_proba(X, missing="none", as_of=day).tolist(),
        "frontier": lambda X, day: ex.evaluate(X, labels, as_of=day).frontier(),
        "outliers": lambda X, day: ex.evaluate(X, labels, as_of=day).outliers(),
        "exceptions": lambda X, day: ex.evaluate(X, labels, as_of=day).exceptions(),
        "standalone_rules": lambda X, day: ex.evaluate(X, labels, as_of=day).standalone_rules(),
        "compare": lambda X, day: _without_seconds(bw.compare(X, labels, methods=["cart", "imm"], as_of=day)),
        "compare_k": lambda X, day: _without_halves(bw.compare_k(X, [2, 3], method="cart", as_of=day)),
    }
    for verb, of in verbs.items():
        assert str(of(moved, on["as_of"])) == str(of(table, day)).replace(day, on["as_of"]), verb
    for at, X in ((day, table), (on["as_of"], moved)):
        on_its_day = bw.compare_k(X.assign(taken=pd.Timestamp(at)), [2, 3], method="cart", as_of="taken")
        assert _without_halves(on_its_day) == verbs["compare_k"](table, day)
    with pytest.raises(ValueError, match="as_of go with them"):
        ex.profile(as_of=day)


@law(6)
def test_costs_are_the_same_when_all_dates_move(seed, tmp_path):
    table, _, day = table_of(seed)
    table["plan"] = np.random.default_rng(seed).choice(["a", "b", "c"], len(table))
    ex = bw.explain(table if seed % 2 else table.drop(columns="plan"), n_clusters=3, as_of=day, method="cart")
    labels, days = ex.predict(table, as_of=day, missing="none"), 1 + 123 * seed
    here, moved = (
        ex.evaluate(X, labels, as_of=at) for X, at in ((table, day), (later(table, days), day_after(day, days)))
    )
    np.testing.assert_allclose([moved.cost, moved.price], [here.cost, here.price], rtol=1e-7)
    assert [note for note in moved.notes if "file" in note] == []
    assert str(moved.frontier()) == str(here.frontier())
    assert str(moved).replace(day_after(day, days), day) == str(here)


def _without_halves(found):
    """Return what is found of each number; rows are halved by what they hold, and dates are of their days."""
    return [row._replace(halves=0.0, price=round(row.price, 6)) for row in found.rows]


def _without_seconds(found):
    return replace(found, rows=tuple(row._replace(seconds=0.0) for row in found.rows))


@law(2)
def test_comparisons_count_from_the_latest_date_of_a_file(seed, tmp_path):
    table, *_ = table_of(2 * seed)
    table.to_parquet(tmp_path / "t.parquet")
    last = table.stack().map(lambda x: x.date() if isinstance(x, pd.Timestamp) else date.min).max().isoformat()
    on = {"method": "cart", "as_of": "latest"}
    here, scanned = bw.compare_k(table, [2, 3], **on), bw.compare_k(bw.scan(tmp_path / "t.parquet"), [2, 3], **on)
    assert here.rows == scanned.rows == bw.compare_k(table, [2, 3], method="cart", as_of=last).rows
    assert f"dates are counted from {last}" in here.note
    assert f"dates are counted from {last}" in scanned.note
    on = {"methods": ["cart"], "n_clusters": 2, "as_of": "latest"}
    here, scanned = bw.compare(table, **on), bw.compare(bw.scan(tmp_path / "t.parquet"), **on)
    assert _without_seconds(here).rows == _without_seconds(scanned).rows
    assert here.rows != bw.compare(table, methods=["cart"], n_clusters=2).rows  # of clusters that dates have no part in


@law(8)
def test_each_row_may_have_its_own_day(seed):
    rng = np.random.default_rng(seed)
    table, labels, day = table_of(seed)
    moves = rng.integers(0, 800, len(table))
    shifted = table.copy()
    for name in ("bought", "due"):
        shifted[name] = table[name] + pd.to_timedelta(moves, unit="D")
    shifted["taken"] = pd.Timestamp(day) + pd.to_timedelta(moves, unit="D")
    one = bw.explain(table, labels, as_of=day, method="cart", max_leaf_nodes=6)
    ex = bw.explain(shifted, labels, as_of="taken", method="cart", max_leaf_nodes=6)
    wanted = one.predict(table, as_of=day, missing="none").tolist()
    assert ex.predict(shifted, missing="none").tolist() == wanted
    assert ex.predict(rows_of(shifted), missing="none").tolist() == wanted
    assert ex.predict(pl.from_pandas(shifted), missing="none").tolist() == wanted
    assert ex.predict(table, as_of=day, missing="none").tolist() == wanted
    assert one.predict(shifted, as_of="taken", missing="none").tolist() == wanted
    again = read_model(ex.to_json())
    assert again == ex
    assert again.rules() == ex.rules()
    names = program(ex.to_python())
    assert list(map(names["cluster"], rows_of(shifted))) == wanted
    assert names["COLUMNS"][-1] == "taken"
    if not any(dates.zone for _, dates in ex.details.dates):
        assert in_table(ex, shifted, f"SELECT {ex.to_sql()} FROM t") == wanted
    assert not ex.drift(shifted, labels).changes


def test_a_row_without_its_day_has_no_age():
    table, labels, day = table_of(0)
    table["taken"] = pd.Timestamp(day)
    ex = bw.explain(table, labels, as_of="taken", method="cart", max_leaf_nodes=6)
    lacking = table.assign(taken=pd.NaT)
    wanted = ex.predict(table.assign(bought=pd.NaT, due=pd.NaT), missing="none").tolist()
    assert ex.predict(lacking, missing="none").tolist() == wanted
    names = program(ex.to_python())
    assert list(map(names["cluster"], rows_of(lacking))) == wanted
    assert in_table(ex, lacking.astype({"taken": "datetime64[us]"}), f"SELECT {ex.to_sql()} FROM t") == wanted


# ---------------------------------------------------------------------------------------------------- what is asked


def customers(day="2026-07-31", n=200):
    rng = np.random.default_rng(1)
    age = rng.integers(0, 300, n)
    table = pd.DataFrame({"last_order": pd.Timestamp(day) - pd.to_timedelta(age, unit="D"), "orders": rng.random(n)})
    return table, np.where(age <= 120, "active", "lapsed")


def test_the_latest_date_is_neither_in_the_future_nor_an_open_end():
    table, labels = customers()
    table.loc[0, "last_order"], labels[0] = pd.Timestamp("2026-07-31"), "active"
    table["until"] = pd.Timestamp("9999-12-31")
    table.loc[:50, "until"] = pd.Timestamp("2025-01-01")
    ex = bw.explain(table, labels, as_of="latest")
    assert dict(ex.details.dates)["last_order"].as_of == "2026-07-31"
    [note] = [note for note in ex.notes if note.startswith("dates are counted from 2026-07-31")]
    assert note.endswith("; dates after today did not count: 149, up to 9999-12-31")
    assert "Ages are counted from 2026-07-31." in str(ex)
    assert ex.predict(table, as_of="2026-07-31").tolist() == labels.tolist()
    with pytest.raises(DataError, match="all dates are later; give the day"):
        bw.explain(table[["until"]].assign(until=pd.Timestamp("9999-12-31")), labels, as_of="latest")


def test_today_counts_unless_another_day_is_given():
    table, labels = customers(date.today().isoformat())
    ex = bw.explain(table, labels, as_of="2020-01-01")
    assert ex.predict(later(table, 0)).tolist() != labels.tolist()
    ex = bw.explain(table, labels, as_of="latest")
    assert ex.predict(table).tolist() == labels.tolist()
    names = program(ex.to_python())
    assert list(map(names["cluster"], rows_of(table))) == labels.tolist()
    assert in_table(ex, table, f"SELECT {ex.to_sql()} FROM t") == labels.tolist()


def test_ages_make_clusters_as_numbers_do():
    rng = np.random.default_rng(0)
    age = np.concatenate([rng.integers(0, 20, 60), rng.integers(200, 230, 60)])
    table = pd.DataFrame(
        {
            "last_order": pd.Timestamp("2026-07-31") - pd.to_timedelta(age, unit="D"),
            "orders": np.concatenate([rng.normal(20, 2, 60), rng.normal(3, 1, 60)]),
            "spent": np.concatenate([rng.normal(200, 20, 60), rng.normal(30, 10, 60)]),
        }
    )
    assert "last_order" not in bw.explain(table, n_clusters=2).columns
    assert "last_order" in bw.explain(table, n_clusters=2, as_of="latest").columns


def test_rules_that_cut_dates_at_days_are_told_to_grow_old():
    table, labels = customers()
    aging = [note for note in bw.explain(table, labels).notes if "go out of date" in note]
    assert aging == [
        'rules that cut last_order at a day go out of date as days pass; ages, such as "within the last 30 days", do '
        'not: as_of="latest", or the day (as_of)'
    ]
    assert not [note for note in bw.explain(table, labels, as_of="latest").notes if "go out of date" in note]
    ended = pd.DataFrame({"until": pd.to_datetime(["9999-12-31"] * 30 + ["2025-03-01", "2025-05-01"] * 15)})
    assert not [note for note in bw.explain(ended, [1] * 30 + [0] * 30).notes if "go out of date" in note]


@each(
    "low, high, age",
    [
        (-400, -300, -365),
        (-33, -28, -30),
        (-139, -136, -137),
        (-95, -80, -90),
        (-2, 5, 0),
        (20, 45, 30),
        (-2000, -1800, -1825),
        (-1.7, -1.2, -1.5),
        (-0.3, -0.1, -0.25),
        (-8, -5, -7),
    ],
)
def test_ages_are_round(low, high, age):
    dates = Dates(as_of="2026-07-31")
    found = dates.roundest(dates.origin / MICROSECONDS + low, dates.origin / MICROSECONDS + high)
    assert dates.distance(found, beyond=True) == timedelta(days=age)


@each(
    "begin, end, said",
    [
        (None, -137, "more than 137 days ago"),
        (-137, None, "within the last 137 days"),
        (0, 30, "in the next 30 days"),
        (30, None, "30 days or more ahead"),
        (-365, -30, "more than 30 and up to 365 days ago"),
        (None, 0, "before today"),
        (0, None, "today or later"),
        (-1.5, None, "within the last 36 hours"),
        (None, -1825, "more than 1,825 days (5 years) ago"),
        (-10, 30, "within the last 10 days or in the next 30 days"),
        (7, 30, "7 days to 30 days ahead"),
        (None, 30, "in the next 30 days or before"),
    ],
)
def test_ages_in_words(begin, end, said):
    dates = Dates(as_of="2026-07-31")
    ends = [None if x is None else np.nextafter(dates.origin / MICROSECONDS + x, -np.inf) for x in (begin, end)]
    assert dates.period(*ends) == said


def test_ages_from_a_moment_say_now():
    for as_of, here in (("2026-07-31", "today"), ("2026-07-31 14:30:00", "now"), (NOW, "now"), (TODAY, "today")):
        dates = Dates(as_of=as_of)
        at = np.nextafter(dates.origin / MICROSECONDS, -np.inf)
        assert [dates.period(None, at), dates.period(at, None)] == [f"before {here}", f"{here} or later"]
        assert dates.first(at, beyond=True) == here
        assert dates.number_said(here, "due") == dates.origin / MICROSECONDS


def test_what_cannot_be_counted_is_refused():
    table, labels = customers()
    ex = bw.explain(table, labels, as_of="2026-07-31")
    plain = bw.explain(table[["orders"]], labels)
    for wrong, call in {
        "no rule says an age": lambda: plain.predict(table, as_of="2026-07-31"),
        "no column of dates": lambda: bw.explain(table[["orders"]], labels, as_of="latest"),
        "must be a day such as": lambda: bw.explain(table, labels, as_of="orders"),
        "no other column of dates": lambda: bw.explain(table, labels, as_of="last_order"),
        "has a time zone, but the dates of last_order": lambda: bw.explain(table, labels, as_of="2026-07-31T10:00Z"),
        "PMML has no today": ex.to_pmml,
        "hold no dates.* write SQL, Python or JavaScript, or": ex.to_onnx,
        "is for explain": lambda: ex.predict(table, as_of="latest"),
        "no column 'taken'": lambda: ex.predict(table, as_of="taken"),
    }.items():
        with pytest.raises(DataError, match=wrong):
            call()
    with pytest.raises(ValueError, match="brings its own tree, so as_of has no effect"):
        bw.explain(
            table[["orders"]], IMM(KMeans(2, n_init=1, random_state=0)).fit(table[["orders"]]), as_of="2026-07-31"
        )
    with pytest.raises(TypeError, match="as_of must be a day"):
        bw.explain(table, labels, as_of=7)
    with pytest.raises(TypeError, match="as_of must be a day"):
        bw.explain(table, labels, as_of=pd.NaT)


def test_the_command_counts_from_a_day(tmp_path):
    table, labels = customers()
    table.assign(segment=labels).to_csv(tmp_path / "t.csv", index=False)
    later(table, 400).assign(segment=labels).to_csv(tmp_path / "later.csv", index=False)
    day = day_after("2026-07-31", 400)

    def run(*words):
        return invoke(*(tmp_path / word if "." in word else word for word in words)).output

    for engine in ("memory", "duckdb"):
        made = ("explain", "t.csv", "-l", "segment", "--as-of", "2026-07-31", "--save", "m.json", "--engine", engine)
        assert "last_order more than 1" in run(*made)
        assert "no change is beyond chance" in run("drift", "m.json", "later.csv", "-l", "segment", "--as-of", day)
        run("predict", "m.json", "later.csv", "-o", "out.csv", "--as-of", day)
        assert pd.read_csv(tmp_path / "out.csv").cluster.tolist() == labels.tolist()
    assert "Ages are counted from 2026-07-" in run("explain", "t.csv", "-l", "segment", "--as-of", "latest")
    assert "CURRENT_DATE - 12" in run("export", "m.json", "--to", "sql")
    assert f"DATE '{day[:3]}" in run("export", "m.json", "--to", "sql", "--as-of", day)
    made = run("explain", "t.csv", "-l", "segment", "--as-of", "2026-07-31", "--standalone-rules", "--save", "m.json")
    assert "last_order more than 12" in made
    assert f"DATE '{day[:3]}" in run("standalone-rules", "m.json", "--to", "sql", "--as-of", day)
    assert "as_of" in run("standalone-rules", "m.json", "--to", "python")
    assert "as_of" not in run("standalone-rules", "m.json", "--to", "python", "--as-of", day).replace("as_of)", "")
    tables = (("t.csv", "2026-07-31"), ("later.csv", day))
    compared = [run("compare-k", name, "--to", "3", "--exclude", "segment", "--as-of", at) for name, at in tables]
    assert "last_order" not in compared[0]
    rows = [[line.split()[-6:] for line in text.splitlines() if "condition" in line][1:] for text in compared]
    assert [row[1:] for row in rows[0]] == [row[1:] for row in rows[1]]
    trees = ("-l", "segment", "--method", "cart", "--leaves", "2", "--json", "--as-of")
    found = [json.loads(run("compare", name, *trees, at))["rows"][0] for name, at in tables]
    assert [one | {"seconds": 0} for one in found[:1]] == [one | {"seconds": 0} for one in found[1:]]
    assert "days ago" in run("why", "m.json", "--set", "last_order=2027-01-01", "--as-of", day)


def test_the_command_counts_from_a_column_that_has_one_day(tmp_path):
    table, labels = customers()
    for kind in ("csv", "parquet"):
        path = str(tmp_path / f"t.{kind}")
        seen = table.assign(taken=pd.Timestamp("2026-07-31"), begun=pd.Timestamp("2026-01-01"), segment=labels)
        seen.to_csv(path, index=False) if kind == "csv" else seen.to_parquet(path)
        for columns in ([], ["-c", "last_order", "-c", "begun"]):
            result = invoke("explain", path, "-l", "segment", "--as-of", "taken", *columns)
            assert "days before taken" in result.output
            assert "Ages are counted from the day in taken." in result.output
