"""One-line rules of explanations: what they tell of rows, and that all forms label a row alike."""

import html
import itertools
import pickle
import re
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import boxwood as bw
from boxwood.explanation.choose import settings
from boxwood.render.forms.dialects import DIALECTS
from boxwood.render.forms.text import LONG, command_text
from boxwood.words import rules as words
from boxwood.words.claims import MUCH
from tests.models import read_model
from tests.naive import fewest_mistakes
from tests.programs import in_node, program
from tests.render.test_page import Page
from tests.scale import each, law

NAMES = ("row", "for", "x; y", 'a"b', "cluster", "Größe (€)", "0")


def mixed(seed, n=120):
    """Return a table of numbers, whole numbers, gaps, words, truths and dates, with labels that follow some of them."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, int(rng.integers(2, 5)), n)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n) + 60 * labels, unit="D")
    frame = pd.DataFrame(
        {
            "income": np.round(rng.normal(size=n) + 1.5 * labels, 2),
            "it's": rng.integers(0, 9, n) + labels,
            "age": np.where(rng.random(n) < 0.2 + 0.2 * (labels == 1), np.nan, rng.integers(20, 60, n) + 8 * labels),
            "city": pd.Series(rng.choice(["A", "B", "it's", "C d"], n)).where(
                rng.random(n) < 0.6, "A" * (labels[0] + 1)
            ),
            "member": rng.random(n) < 0.2 + 0.25 * labels,
            "joined": day,
            "band": pd.Categorical.from_codes(rng.integers(-1, 3, n) % 4 * (labels < 2), list("SMLX"), ordered=True),
        }
    )
    frame.loc[rng.random(n) < 0.1, "city"] = None
    kept = rng.permutation(len(frame.columns))[: int(rng.integers(2, 8))]
    names = np.array(["it's", "b", "c", "d"])[labels]
    frame = frame.iloc[:, np.sort(kept)]
    has_value = frame.notna().any(axis=1).to_numpy()  # others get no cluster
    return frame[has_value].reset_index(drop=True), names[has_value]


def rows_at_cuts(lines, frame):
    """Return the rows, and some with a value at an end of an interval, next to it, missing or never seen."""
    found = [frame]
    for tree in filter(None, lines.trees):
        for node in np.flatnonzero(tree.feature >= 0).tolist():
            name = lines.explanation.columns[tree.feature[node]]
            for end in {tree.lower[node], tree.upper[node]}:
                if np.isfinite(end) and abs(end) < 1e300 and frame[name].dtype.kind in "if":
                    for value in (end, np.nextafter(end, np.inf), np.nextafter(end, -np.inf)):
                        found.append(frame.head(15).assign(**{name: value}))
    for name in frame.columns:
        if frame[name].dtype.kind in "fO":
            found.append(frame.head(15).assign(**{name: None if frame[name].dtype.kind == "O" else np.nan}))
        if frame[name].dtype.kind == "O":
            found.append(frame.head(5).assign(**{name: "never seen"}))
    return pd.concat([one.astype({c: "float64" for c in one if one[c].dtype.kind in "if"}) for one in found])


def in_sqlite(query, frame):
    there = sqlite3.connect(":memory:")
    plain = frame.assign(**{name: frame[name].astype(str) for name in frame if frame[name].dtype.kind == "M"})
    plain.to_sql("t", there, index=False)
    return [row[0] for row in there.execute(query)]


def in_duckdb(query, frame):
    there = duckdb.connect()
    there.register("t", frame)
    return [row[0] for row in there.execute(query).fetchall()]


def in_python(source, frame):
    names = program(source)
    return [names["cluster"](row) for row in frame.to_dict("records")]


def in_javascript(source, frame, folder):
    def plain(value):
        if pd.isna(value):
            return None
        return value.isoformat() if isinstance(value, pd.Timestamp) else value

    return in_node(source, [{name: plain(x) for name, x in row.items()} for row in frame.to_dict("records")], folder)


@law(20)
def test_predict_sql_and_programs_give_each_row_the_same(seed, tmp_path):
    frame, labels = mixed(seed)
    lines = bw.explain(frame, labels, objective="agreement").standalone_rules(1 + seed % 3)
    rows = rows_at_cuts(lines, frame).reset_index(drop=True)
    expected = lines.predict(rows).tolist()
    assert len({*expected}) > 1
    select = "SELECT {} FROM t".format
    assert in_duckdb(select(lines.to_sql("duckdb")), rows) == expected
    assert in_sqlite(select(lines.to_sql("sqlite")), rows) == expected
    assert in_python(lines.to_python(), rows) == expected
    assert in_javascript(lines.to_javascript(), rows, tmp_path) == expected


@law(12, first=700)
def test_a_line_of_every_row_is_one_in_all_forms(seed, tmp_path):
    """Each row of other clusters is one of the large one, too, so a rule that leaves some out finds fewer of its rows.

    SQL of engines that are not at hand is read by its grammar.
    """
    import sqlglot

    frame, _ = mixed(seed, n=60)
    labels = np.repeat(["it's", "b"], [len(frame), 12])
    frame = pd.concat([frame, frame.head(12)], ignore_index=True)
    lines = bw.explain(frame, labels, objective="agreement", max_leaf_nodes=2).standalone_rules(1 + seed % 2)
    assert () in [line.rule for line in filter(None, lines)]
    rows = rows_at_cuts(lines, frame).reset_index(drop=True)
    expected = lines.predict(rows).tolist()
    assert None not in expected
    assert in_sqlite(lines.to_sql("sqlite", table="t").replace("*,", ""), rows) == expected
    assert in_python(lines.to_python(), rows) == expected
    assert in_javascript(lines.to_javascript(), rows, tmp_path) == expected
    assert "every row" in str(lines)
    assert "`every row`" in lines.to_markdown()
    assert "every row" in html.unescape(lines._repr_html_())
    assert "every row" in [one["rule"] for one in lines.to_dict()["lines"] if one]
    for dialect in DIALECTS:
        written = sqlglot.parse_one(lines.to_sql(dialect, table="t"), read=dialect)
        if dialect in ("duckdb", "postgres"):
            query = lines.to_sql(dialect, table="t").replace("*,", "")
            assert in_duckdb(query, rows) == expected
        assert written.find(sqlglot.exp.Case) is not None


@law(12)
def test_where_no_column_parts_rows_each_line_is_every_row(seed):
    rng = np.random.default_rng(seed)
    value = (1.0, "x", True, pd.Timestamp("2026-03-01"))[seed % 4]
    n, own = int(rng.integers(7, 30)), int(rng.integers(1, 4))
    frame = pd.DataFrame({"a": [value] * n, "b": [2] * n})
    labels = np.repeat(["few", "many"], [own, n - own])
    ex = bw.explain(frame, labels, columns=["a", "b"][: 1 + seed % 2])
    lines = ex.standalone_rules()
    assert [line.rule for line in lines] == [(), ()]
    assert [line.f1 for line in lines] == pytest.approx([2 * k / (k + n) for k in (own, n - own)])
    assert lines.agreement == pytest.approx(ex.agreement)
    assert lines.predict(frame).tolist() == ["many"] * n


@law(30, first=100)
def test_lines_tell_of_rows_what_counting_them_tells(seed):
    frame, labels = mixed(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(labels)) * 1.0 if seed % 2 else None
    ex = bw.explain(frame, labels, sample_weight=weights, objective="agreement")
    lines, w = ex.standalone_rules(), np.ones(len(labels)) if weights is None else weights
    holds = lines.holds(frame).T
    for line, mask, name in zip(lines, holds, ex.names, strict=True):
        own = labels == name
        expected = w[mask].sum(), w[mask & own].sum() / w[own].sum(), w[mask & own].sum() / w[mask].sum()
        assert (line.matched, line.found, line.precision) == pytest.approx(expected)
        assert line.f1 == pytest.approx(2 * line.found * line.precision / (line.found + line.precision))
    number = holds.sum(axis=0)
    assert lines.unmatched() == tuple(np.flatnonzero(number == 0).tolist())
    assert [row for row, _ in lines.overlaps()] == np.flatnonzero(number > 1).tolist()
    assert lines.n_unmatched == w[number == 0].sum()
    assert lines.n_overlapping == w[number > 1].sum()
    predicted = lines.predict(frame)
    assert all(ex.names[clusters[0]] == predicted[row] for row, clusters in lines.overlaps())
    assert lines.agreement == pytest.approx(w[predicted == labels].sum() / w.sum())


@law(20, first=200)
def test_each_further_condition_of_a_line_gains_more_than_luck(seed):
    frame, labels = mixed(seed)
    ex = bw.explain(frame, labels, objective="agreement")
    for line, front in zip(ex.standalone_rules(), ex.standalone_rules().fronts, strict=True):
        taken, size = front[0], (labels == line.name).sum()
        for one in front:
            luck = 0.75 * np.sqrt((len(one.rule) - len(taken.rule)) * taken.f1 * (1 - taken.f1) / size)
            taken = one if one.f1 > taken.f1 + max(0.01, luck) else taken
        assert line == taken
        assert [len(one.rule) for one in front] == sorted({len(one.rule) for one in front})
        assert [one.f1 for one in front] == sorted({one.f1 for one in front})
    gaps = [
        front[-1].f1 - line.f1 for line, front in zip(ex.standalone_rules(), ex.standalone_rules().fronts, strict=True)
    ]
    said = re.search(r"an F1 higher by more than (\S+?)[.,]?[ \n]", f"{ex.standalone_rules()}\n")
    few = max((gap for gap in gaps if gap <= MUCH), default=0.0)  # others are named
    assert (said is None) == (few < 1e-6)
    assert said is None or 0 <= float(said[1]) - few < 0.001
    for line in ex.standalone_rules(min_precision=0.8):
        assert line is None or line.precision >= 0.8
    for line in ex.standalone_rules(min_found=0.6):
        assert line.found >= 0.6
    for line in ex.standalone_rules(min_precision=0.7, min_found=0.5):
        assert line is None or (line.precision >= 0.7 and line.found >= 0.5)


def test_lines_of_few_rows_ask_for_what_new_rows_fulfil():
    """Of 24 rows chance seldom recommends more conditions than there are, and all that are there are found."""
    n_asked = {1: [], 2: []}
    for seed in range(12):
        random = np.random.default_rng(seed)
        X = random.uniform(size=(240, 6)).round(3)
        for n, asked in n_asked.items():
            is_own = (X[:, :n] > 1 - 0.1 ** (1 / n)).all(axis=1) ^ (random.random(240) < 0.03)
            lines = bw.explain(X, np.where(is_own, "own", "other"), max_leaf_nodes=2).standalone_rules()
            [own] = [line for line in lines if line.name == "own"]
            asked.append(len(own.rule))
    assert np.mean(n_asked[1]) <= 1.25
    assert 1.75 <= np.mean(n_asked[2]) <= 2.25


@law(20, first=250)
def test_each_condition_of_a_line_leaves_rows_out(seed):
    X = np.random.default_rng(seed).normal(size=(150, 4)).round(1)
    X[:, 3] = X[:, 2] + (X[:, 3] > 1)  # nearly the same
    ex = bw.explain(X, (X[:, 2] > 0.3) * 1 + (X[:, 0] > 0.5) * (X[:, 1] > 0), max_leaf_nodes=3)
    for line in itertools.chain(*ex.standalone_rules().fronts):
        held = np.stack([_holds(X[:, ex.columns.index(one.column)], one.intervals) for one in line.rule])
        assert held.all(axis=0).sum() == line.matched
        assert all(np.delete(held, i, axis=0).all(axis=0).sum() > line.matched for i in range(len(held)))


def _holds(x, pieces):
    return np.logical_or.reduce(
        [
            (x > one.lower if not one.lower_closed else x >= one.lower)
            & (x <= one.upper if one.upper_closed else x < one.upper)
            for one in pieces
        ]
    )


def test_limits_of_explain_are_kept():
    found = 0
    for seed in range(300, 306):
        frame, labels = mixed(seed)
        first = frame.columns[0]
        ex = bw.explain(frame, labels, objective="agreement", forbidden=[first], min_samples_leaf=9, round_thresholds=1)
        for line in ex.standalone_rules():
            if line is None:
                continue
            assert first not in [one.column for one in line.rule]
            assert line.matched >= 9
            ends = [
                end
                for one in line.rule
                if one.categories is None and one.dates is None
                for piece in one.intervals
                for end in piece[:2]
            ]
            assert all(float(f"{end:.0e}") == end for end in ends if np.isfinite(end))
            found += len(ends)
    assert found


def test_preferred_columns_win_where_the_loss_is_small():
    x = np.random.default_rng(0).integers(0, 100, 400) * 1.0
    frame, labels = (
        pd.DataFrame({"a": x, "b": np.where(np.arange(400) == np.argmax(x == 49), 300, x)}),
        np.where(x < 50, "low", "high"),
    )
    for preferred in ("a", "b"):
        ex = bw.explain(frame, labels, preferred=[preferred], objective="agreement")
        assert {one.column for line in ex.standalone_rules() for one in line.rule} == {preferred}


def test_held_out_is_what_lines_without_these_rows_do():
    frame, labels = mixed(1)
    ex = bw.explain(frame, labels, objective="agreement", random_state=3)
    lines = ex.standalone_rules(validate=3)
    assert all(line.found_held_out is not None for line in lines)
    assert np.mean([line.found_held_out for line in lines]) < np.mean([line.found for line in lines])
    assert "3 folds" in str(lines)
    assert "unseen" in lines.to_markdown()
    assert lines == ex.standalone_rules(validate=3) != ex.standalone_rules()


def test_clusters_are_named_as_the_explanation_prints_them():
    frame = pd.DataFrame({"age": [21.0, 34.0, 61.0, 65.0], "churn": [0, 0, 1, 1]})
    ex = bw.explain(frame, "churn")
    assert "churn = 1" in str(ex)
    assert str(ex.standalone_rules()).splitlines()[1].startswith("churn = 0     2")
    assert ex.standalone_rules().predict(frame).tolist() == [0, 0, 1, 1]


def test_names_of_columns_and_clusters_may_be_anything():
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, 90)
    frame = pd.DataFrame({name: rng.normal(size=90) + labels * (i < 3) for i, name in enumerate(NAMES)})
    names = np.array(["it's", 'say "hi"', "back\\slash\n"], dtype=object)[labels]
    lines = bw.explain(frame, names, objective="agreement").standalone_rules()
    expected = lines.predict(frame).tolist()
    assert in_duckdb(f"SELECT {lines.to_sql()} FROM t", frame) == in_python(lines.to_python(), frame) == expected
    numbered = bw.explain(frame.to_numpy(), names, objective="agreement", columns=list("0123456")).standalone_rules()
    assert in_python(numbered.to_python(), frame.set_axis(range(7), axis=1)) == expected
    assert lines.to_markdown().count("\n| ") == 4
    assert in_python(lines.to_python(), frame.head(0)) == []


def test_random_labels_have_lines_that_new_rows_unmask():
    rng = np.random.default_rng(0)
    ex = bw.explain(rng.normal(size=(80, 6)), rng.integers(0, 2, 80), objective="agreement")
    lines = ex.standalone_rules(validate=4)
    seen, unseen = (np.mean([getattr(line, name) for line in lines]) for name in ("precision", "precision_held_out"))
    assert seen > 0.55
    assert unseen < 0.5


@each(
    "given, error, said",
    [
        ({"max_conditions": 4}, ValueError, "from 1 to 3"),
        ({"max_conditions": 0}, ValueError, "at least 1"),
        ({"min_precision": 0}, ValueError, "such as 0.9"),
        ({"min_found": 1.5}, ValueError, "such as 0.9"),
        ({"min_found": "all"}, TypeError, "min_found"),
        ({"validate": 1}, ValueError, "folds"),
    ],
)
def test_what_is_refused(given, error, said):
    ex = bw.explain([[1.0], [2.0], [9.0]], ["a", "a", "b"])
    with pytest.raises(error, match=said):
        ex.standalone_rules(**given)


def test_a_cluster_without_rows_and_goals_out_of_reach_have_no_line():
    ex = bw.explain([[1.0], [2.0], [9.0], [9.0]], ["a", "a", "b", "c"])
    later = ex.evaluate([[1.0], [9.0]], ["a", "b"])
    assert [line is None for line in later.standalone_rules()] == [False, False, True]
    nothing = ex.standalone_rules(min_precision=0.9)
    assert nothing[2] is None
    assert "no line" in str(nothing)
    assert "no line" in nothing.to_markdown()
    assert nothing.predict([[1.0], [9.0]]).tolist() == ["a", None]
    assert "'c'" not in nothing.to_sql()


@law(12, first=400)
def test_a_model_file_and_a_pickle_keep_the_lines(seed):
    frame, labels = mixed(seed)
    ex = bw.explain(frame, labels, objective="agreement")
    lines = ex.standalone_rules(min_found=0.5, validate=2)
    for again in (read_model(ex.to_json()), pickle.loads(pickle.dumps(ex))):
        kept = again.standalone_rules(min_found=0.5, validate=2)
        assert (str(kept), kept.to_text(), kept.to_dict()) == (str(lines), lines.to_text(), lines.to_dict())
        assert (kept.to_sql(), kept.to_python()) == (lines.to_sql(), lines.to_python())
        assert kept.predict(frame).tolist() == lines.predict(frame).tolist()
        assert str(again.standalone_rules()) == str(lines)
        with pytest.raises(bw.DataError, match="holds no rows"):
            again.standalone_rules(2)
        with pytest.raises(bw.DataError, match="holds no rows"):
            kept.unmatched()
    other = {name: f"new {name}" for name in ex.names}
    assert [line.name for line in ex.rename(other).standalone_rules(min_found=0.5, validate=2)] == [*other.values()]
    assert str(ex.standalone_rules()) != str(lines)


@law(40, first=500)
def test_the_rows_set_aside_are_the_fewest_of_all_trees_of_as_many_leaves(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(8, 16)), int(rng.integers(2, 5))
    labels = rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))
    table = np.column_stack([rng.integers(0, 5, n) + labels, rng.integers(0, 4, n)]) * 1.0
    ex = bw.explain(table, labels, objective="agreement", max_leaf_nodes=k)
    aside = ex.exceptions()
    rest = np.setdiff1d(np.arange(n), [one.row for one in aside.rows])
    assert (ex.predict(table[rest]) == labels[rest]).all()
    fewest = fewest_mistakes(table, labels, [1] * n, max_depth=k - 1, max_leaf_nodes=k)[0]
    assert aside.share == pytest.approx(len(aside.rows) / n)
    assert aside.least_share is not None
    assert aside.least_share * n - 1e-9 <= fewest <= len(aside.rows)
    assert ("has to set aside fewer" in str(aside)) == (0 < len(aside.rows) == fewest)


def test_without_a_search_it_is_not_known_whether_fewer_rows_could_be_set_aside():
    ex = bw.explain([[1.0], [2.0], [3.0], [1.5]], ["a", "a", "b", "b"], method="imm")
    assert ex.exceptions().least_share is None
    assert "is not known" in str(ex.exceptions())
    assert bw.explain([[1.0], [2.0]], ["a", "b"], method="imm").exceptions().rows == ()


def test_the_page_the_notebook_and_the_picture_show_the_lines():
    frame, labels = mixed(2)
    ex = bw.explain(frame, labels, objective="agreement")
    assert "One line for each cluster" not in ex.to_html()
    lines = ex.standalone_rules()
    page, said = Page(ex.to_html()).text, [words.rule(line.rule) for line in lines]
    assert all(rule in page for rule in said)
    assert "One line for each cluster" not in ex.to_html(min_count=5)
    notebook = html.unescape(html.unescape(lines._repr_html_()))
    plain = re.sub("<[^>]*>", "", notebook)
    assert all(words.condition(one) in plain for line in lines for one in line.rule)
    assert "<pre>Of the rows" in notebook
    ax = lines.plot(Figure().subplots())
    drawn = [tuple(text.get_position()) for text in ax.texts]
    assert drawn == [(one.found, one.precision) for front in lines.fronts for one in front]
    assert [text.get_text() for text in ax.texts] == [str(len(one.rule)) for front in lines.fronts for one in front]


def test_lines_of_a_table_in_batches_are_those_of_its_rows_but_list_none(tmp_path, rows_drawn):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 400)
    frame = pd.DataFrame({"a": rng.normal(size=400) + 2 * labels, "b": rng.normal(size=400) - labels, "y": labels})
    frame.to_parquet(tmp_path / "t.parquet")
    ex = bw.explain(bw.scan(tmp_path / "t.parquet"), "y", method="imm")
    lines, expected = ex.standalone_rules(2), bw.explain(frame[["a", "b"]], labels, method="imm").standalone_rules(2)
    assert [line.rule for line in lines] == [line.rule for line in expected]
    assert lines.predict(frame).tolist() == expected.predict(frame).tolist()
    assert "sample" not in str(lines)
    with pytest.raises(bw.DataError, match="in batches"):
        lines.unmatched()


@law(6, first=600)
def test_lines_made_on_a_sample_are_counted_in_all_rows(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n, labels = 900, rng.integers(0, 3, 900)
    frame = pd.DataFrame({"a": rng.normal(size=n) + 2 * labels, "b": rng.normal(size=n) - labels, "y": labels})
    if seed % 2:
        frame["word"] = np.where(rng.random(n) < 0.7, np.array(list("uvw"))[labels], "v")
        frame.loc[rng.random(n) < 0.1, "b"] = None
    monkeypatch.setattr("boxwood.explanation.measure.held_out.rows_of_sample", lambda *_: 300)
    monkeypatch.setattr(settings, "GATHERED", 900)
    monkeypatch.setattr(settings, "DRAWN", 900)
    lines = bw.explain(bw.scan(pa.Table.from_pandas(frame)), "y").standalone_rules(2)
    held, in_lines = lines.holds(frame), lines.holds(frame).sum(axis=1)
    assert lines.n_rows < n
    for line in filter(None, lines):
        own = held[:, line.cluster] & (labels == line.name)
        shares = own.sum() / (labels == line.name).sum(), own.sum() / held[:, line.cluster].sum()
        assert (line.matched, line.found, line.precision) == (held[:, line.cluster].sum(), *shares)
        assert not line.proved
    assert (lines.n_unmatched, lines.n_overlapping) == ((in_lines == 0).sum(), (in_lines > 1).sum())
    assert lines.agreement == np.mean(lines.predict(frame) == labels)
    assert f"a sample of {lines.n_rows} rows, and counted in all" in str(lines)


def test_the_print_points_to_lines_where_a_rule_is_long():
    rng = np.random.default_rng(0)
    squares = rng.random((600, 2)) * 3
    board = ((squares[:, 0] // 1 + squares[:, 1] // 1) % 2).astype(int)
    ex = bw.explain(squares, board, max_leaf_nodes=12, method="cart")
    assert max(sum(map(len, one.rules)) for one in ex.clusters) > LONG
    assert "one-line rule has up to three: ex.standalone_rules()" in str(ex)
    assert "up to three: --standalone-rules" in command_text(ex, more="--notes")
    assert all(len(line.rule) <= 3 for line in ex.standalone_rules())
    assert "one-line" not in str(ex)
    assert "one-line" not in str(bw.explain(squares, squares[:, 0] > 1))


@law(16, first=800)
def test_a_line_that_adds_little_to_what_all_rows_show_is_told_as_weak(seed):
    rng = np.random.default_rng(seed)
    share, n = rng.uniform(0.1, 0.45), 400
    is_rare = rng.random(n) < share
    table = pd.DataFrame({"fee": rng.normal(30, 12, n), "calls": rng.poisson(3, n)})
    if seed % 2:
        table["debt"] = rng.normal(size=n) + 8 * is_rare
    lines = bw.explain(table, np.where(is_rare, "left", "stayed"), method="imm").standalone_rules(2)
    [*said] = [line for line in str(lines).splitlines() if line.startswith("Weak, ")]
    for one, size in zip(lines.lines, (is_rare.sum(), n - is_rare.sum()), strict=True):
        if seed % 2:
            assert not said
        elif one.name == "stayed":
            assert f"stayed ({1 - one.precision:.1%}, of all rows {1 - size / n:.1%})" in said[0]


GOALS = {"f1": {}, "found": {"min_precision": 0.9}, "precision": {"min_found": 0.5}}


def value_of(measure, held, own, weights):
    """What a rule counts that holds some rows; 0 if it has not the share that was asked for besides."""
    found, precision = ((weights * (held & own)).sum() / max((weights * of).sum(), 1e-9) for of in (own, held))
    shares = {"found": found, "precision": precision, "f1": 2 * found * precision / max(found + precision, 1e-9)}
    is_enough = all(shares[name.removeprefix("min_")] >= least for name, least in GOALS[measure].items())
    return shares[measure] * is_enough


@law(60, first=7_000)
def test_a_category_of_few_rows_is_named_where_the_cluster_needs_it(seed):
    rng = np.random.default_rng(seed)
    n, measure = int(rng.integers(60, 400)), str(rng.choice([*GOALS]))
    color, tax = rng.choice(["red", "green", "blue"], n).astype(object), rng.uniform(0, 10_000, n)
    secret = rng.permutation(n)[: int(rng.integers(1, 9))]
    color[secret] = rng.choice([f"secret {i}" for i in range(6)], len(secret))
    labels = np.where((color != "green") & ((tax > 4000) | (rng.random(n) < 0.1)), "in", "out")
    weights = rng.choice([1.0, 2.0, 0.5], n) if rng.random() < 0.3 else np.ones(n)
    frame = pd.DataFrame({"color": color, "tax": tax, "other": rng.normal(size=n)})
    rules = bw.explain(frame, labels, sample_weight=weights).standalone_rules(**GOALS[measure])
    known, rows = dict(rules.explanation.details.categories)["color"].values, pd.Series(color).value_counts()
    table = frame.assign(color=[known.index(value) for value in color]).to_numpy(dtype=float)
    for rule, tree in zip(itertools.chain(*rules.fronts), itertools.chain(*rules.trees_of_fronts), strict=True):
        held = tree.predict(table) == 1
        named = {*color[held]} if any(one.column == "color" for one in rule.rule) else {}
        rare = [value for value in named if rows[value] < 5]
        assert getattr(rule, measure) >= rule.best - 0.01 - 1e-9
        if 0 < len(rare) < len(named):
            without = value_of(measure, held & ~np.isin(color, rare), labels == rule.name, weights)
            assert without < rule.best - 0.01 + 1e-9
