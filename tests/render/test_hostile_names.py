"""Names of columns, clusters and categories come through every form as they are, whatever they hold."""

import csv
import gzip
import io
import json
import math
import re
import sqlite3
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import pytest

import boxwood
from boxwood._messages import as_cell
from boxwood.errors import DataError
from boxwood.explanation import ClusterSummary
from boxwood.render.forms.code import identifiers
from boxwood.render.forms.dialects import DIALECTS
from boxwood.render.forms.text import _as_code, _code, _row, escape_markdown, notes_of
from boxwood.words.values import cluster_name
from tests.programs import in_node, program
from tests.scale import each, law

NAMES = (
    "it's", 'say "hi"', "back\\slash", "\\", "\\'", '"""', "'''", "`tick`", "${x}", "$1", "</script>", "<!--", "*/",
    "//", "two\nlines", "cr\r\nlf", "tab\t", "\x1b[31m", "\x7f", "\u2028", "\u202egnp", "🌳", "日本", "é", "e\u0301",
    "%s", "{0}", "--", "; DROP TABLE t", "a]b", "[a]", "=1+1", "@", "|", "a|b\\|", "__proto__", "constructor", "row",
    "cluster", "None", "null",
     "class", "1", "-1.5", "true", "", " ", "x" * 300, "NULL", "a,b", "&amp;", "_", "*bold*", "# head", "?", ":x",
)  # fmt: skip
PAIRS = list(zip(NAMES[::2], NAMES[1::2], strict=True))


@cache
def explained(*names):
    """Return an explanation whose column and clusters have these names, and its rows."""
    first, second = names
    X = pd.DataFrame({first: [1.0, 2.0, 8.0, 9.0]})
    return boxwood.explain(X, [first, first, second, second]), X


def rows_for(name):
    return [{name: value} for value in (3.0, 8.0, None)]


def test_python():
    for first, second in [*PAIRS, ("\0", "a\0b")]:
        names = program(explained(first, second)[0].to_python())
        assert [names["cluster"](row) for row in rows_for(first)] == [first, second, None]
        assert names["COLUMNS"] == (first,)
        assert names["why_none"]({first: None}) == (first, "missing")
        with pytest.raises(KeyError, match="a missing value is None"):
            names["cluster"]({})


def test_python_finds_columns_whose_names_are_no_texts():
    for name in (2, -1, 1.5, ("a", "b"), pd.Timestamp("2026-03-01")):
        X = pd.DataFrame({name: [1.0, 2.0, 8.0, 9.0]})
        names = program(boxwood.explain(X, list("aabb")).to_python())
        assert [names["cluster"](row) for row in X.to_dict("records")] == list("aabb")
        assert names["cluster"](X.iloc[3]) == names["cluster"]({str(name): 9.0}) == "b"
        assert names["why_none"]({name: math.nan}) == (str(name), "missing")
        with pytest.raises(KeyError, match="no column"):
            names["cluster"]({})


def test_javascript(tmp_path):
    functions, tables, expected = [], [], []
    for i, (first, second) in enumerate([*PAIRS, ("\0", "a\0b")]):
        source = explained(first, second)[0].to_javascript()
        assert "</script" not in source
        assert "<!--" not in source
        functions.append(f"(function () {{\n{source}\nreturn cluster;\n}})()")
        tables += [{"which": i, "row": row} for row in rows_for(first)]
        expected += [first, second, None]
    source = f"const all = [{','.join(functions)}];\nfunction cluster(one) {{ return all[one.which](one.row); }}"
    assert in_node(source, tables, tmp_path) == expected


def test_names_of_the_prototype_are_no_values(tmp_path):
    ex = explained("constructor", "toString")[0]
    calls = "function cluster(row) { try { return all.cluster(row); } catch (error) { return error.message; } }"
    source = f"const all = (function () {{\n{ex.to_javascript()}\nreturn {{cluster}};\n}})();\n{calls}"
    refused = 'no column "constructor" in the row; a missing value is null'
    assert in_node(source, [{}, {"constructor": 8}], tmp_path) == [refused, "toString"]


def test_sql_runs():
    for first, second in PAIRS:
        ex, _ = explained(first, second)
        for connect, dialect in ((duckdb.connect, "duckdb"), (sqlite3.connect, "sqlite")):
            if dialect == "duckdb" and not first:
                continue  # it has no column without a name
            quoted = '"' + first.replace('"', '""') + '"'
            with connect(":memory:") as con:
                con.execute(f"CREATE TABLE t ({quoted} DOUBLE)")
                con.execute("INSERT INTO t VALUES (3.0), (8.0), (NULL)")
                found = con.execute(f"SELECT {ex.to_sql(dialect)} FROM t").fetchall()
                assert [row[0] for row in found] == [first, second, None], (dialect, first, second)


@pytest.mark.full
@pytest.mark.parametrize("dialect", DIALECTS)
def test_sql_parses_back(dialect):
    import sqlglot
    from sqlglot import exp

    for first, second in PAIRS:
        if not first:
            continue
        parsed = sqlglot.parse_one(explained(first, second)[0].to_sql(dialect, nan=False), read=dialect)
        assert {column.name for column in parsed.find_all(exp.Column)} == {first}
        assert [one.args["true"].name for one in parsed.find_all(exp.If)] == [first, second]


def test_the_character_0_is_refused_where_it_cannot_be_held():
    for names in (("a\0b", "c"), ("c", "a\0b")):
        ex = explained(*names)[0]
        for dialect in DIALECTS:
            with pytest.raises(DataError, match="has the character 0, which SQL cannot hold; rename it"):
                ex.to_sql(dialect)
    with pytest.raises(DataError, match="which no cell of a spreadsheet can hold; rename it"):
        ex.to_formula()
    long = explained("\0" * 10**5, "c")[0]
    for write in (long.to_sql, long.to_formula, long.to_pmml):
        with pytest.raises(DataError, match=r"… has the character 0, which .{20,50}$"):
            write()


@pytest.mark.full
def test_spreadsheets():
    import formulas

    for first, second in PAIRS:
        ex = explained(first, second)[0]
        written = formulas.Parser().ast(ex.to_formula(columns=["id", first]))[1].compile()
        found = written(np.array([[3.0], [8.0], [""]], dtype=object))
        assert np.asarray(found).ravel().tolist() == [first, second, ""]
        by_header = formulas.Parser().ast(ex.to_formula(let=False))[1].compile()
        sheet = [np.array([row], dtype=object) for row in (["id", "axb", first], [9.0, 9.0, 3.0])]
        assert np.asarray(by_header(*sheet)).item() == first


@pytest.mark.full
def test_scikit_learn_and_onnx():
    import onnxruntime

    for first, second in PAIRS:
        ex, X = explained(first, second)
        assert ex.to_sklearn().predict(X).tolist() == [first, first, second, second]
        session = onnxruntime.InferenceSession(ex.to_onnx())
        assert session.run(None, {"X": X.to_numpy(np.float32)})[0].tolist() == [first, first, second, second]
        assert session.get_modelmeta().custom_metadata_map == {"column 0": first}


def test_csv_and_json():
    for first, second in PAIRS:
        ex, _ = explained(first, second)
        header, *lines = csv.reader(io.StringIO(ex.to_csv(), newline=""))
        assert header == ["leaf", "cluster", "rows", "share", "precision", "rule"]
        names = [as_cell(name) for name in (first, second)]
        assert [line[:5] for line in lines] == [[str(i), name, "2", "0.5", "1"] for i, name in enumerate(names)]
        assert not any(RUNS.match(cell) and not IS_NUMBER.match(cell) for line in lines for cell in line)
        assert [cluster["name"] for cluster in json.loads(ex.to_json())["clusters"]] == list(ex.names)


RUNS, IS_NUMBER = re.compile(r"[=+@\t\r\n-]"), re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?$", re.IGNORECASE)
FORMULAS = (
    "=cmd|' /C calc'!A0",
    "@SUM(A1)",
    "+1+2",
    "-2+3",
    "\t=1",
    "\r=1",
    "--x",
    "=",
    "-y",
    "+49 30 1",
    "-7.5",
    "+3.5e-7",
    "x",
)


@law(16)
def test_what_is_added_to_a_csv_is_no_formula_and_what_was_there_stays(tmp_path, seed):
    rng = np.random.default_rng(seed)
    first, second, column, *cells = (str(rng.choice(FORMULAS)) for _ in range(9))
    second = second if second != first else f"{second}1"
    ex = boxwood.explain(pd.DataFrame({"=x": [1.0, 2.0, 8.0, 9.0]}), [first, first, second, second])
    table, rows = tmp_path / "t.csv", [["-5", *cells[:2]], ["8", *cells[2:4]]]
    with open(table, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["=x", "-note", "@other"], *rows])
    for name, sign in (("o.csv", ","), ("o.tsv", "\t"), ("o.csv.gz", ",")):
        ex_column = f"{column}!"
        boxwood.write_labels(ex, str(table), str(tmp_path / name), column=ex_column)
        opened = gzip.open if name.endswith(".gz") else open
        with opened(tmp_path / name, "rt", encoding="utf-8", newline="") as file:
            header, *lines = csv.reader(file, delimiter=sign)
        assert header == ["=x", "-note", "@other", as_cell(ex_column)]
        assert [line[:3] for line in lines] == rows
        added = [header[3], *(line[3] for line in lines)]
        assert added[1:] == [as_cell(first), as_cell(second)]
        assert not any(RUNS.match(cell) and not IS_NUMBER.match(cell) for cell in added)
    boxwood.write_labels(ex, str(table), str(tmp_path / "o.jsonl"))
    with open(tmp_path / "o.jsonl", encoding="utf-8") as file:
        assert [json.loads(line)["cluster"] for line in file] == [first, second]


PARTS = (
    "=1",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "\r\n",
    ",",
    ";",
    '"',
    "'",
    " ",
    "a",
    "7",
    "é",
    "\x0b",
    "\x85",
    "\u2028",
)


def cells_of(content, sign):
    """Return the cells of a table of CSV, on which two readers agree."""
    rows = [*csv.reader(io.StringIO(content.decode(), newline=""), delimiter=sign)]
    read = pd.read_csv(io.BytesIO(content), sep=sign, dtype=str, keep_default_na=False, skip_blank_lines=False)
    assert [[*read.columns], *read.to_numpy().tolist()] == rows
    return rows


@law(12)
def test_tables_that_are_written_have_their_rows_and_no_formula_whoever_reads_them(tmp_path, seed):
    rng = np.random.default_rng(seed)
    first, second, word, other = ("".join(rng.choice(PARTS, rng.integers(1, 6))) + end for end in "pqrs")
    frame = pd.DataFrame({f"{word}!": [word, word, other, f"{other}!"], "x": [1.0, 2.0, 3.0, 4.0]})
    ex = boxwood.explain(frame[[f"{word}!"]], [first, first, second, second])
    frame.to_parquet(tmp_path / "t.parquet")
    written = {"rules.csv": ex.to_csv().encode()}
    for name in ("o.csv", "o.tsv"):
        boxwood.write_labels(ex, str(tmp_path / "t.parquet"), str(tmp_path / name), column=f"={second}")
        written[name] = (tmp_path / name).read_bytes()
    for name, content in written.items():
        header, *rows = cells_of(content, "\t" if name.endswith(".tsv") else ",")
        at = header.index("cluster" if name == "rules.csv" else f"'={second}")
        of_leaves = [ex.names[leaf.cluster] for leaf in ex.leaves]
        labels = of_leaves if name == "rules.csv" else [first, first, second, second]
        assert [row[at] for row in rows] == [*map(as_cell, labels)]
        own = [cell for row in rows for cell in (row if name == "rules.csv" else row[at:])]
        assert not any(RUNS.match(cell) and not IS_NUMBER.match(cell) for cell in own)


def test_texts_have_a_line_for_each_thing():
    for first, second in PAIRS:
        ex, _ = explained(first, second)
        assert len(ex.to_text(style="sentences").split("\n")) == 2
        assert len(ex.to_text().split("\n\n")[-1].split("\n")) == 4
        assert all(c.isprintable() for c in ex.to_text().replace("\n", ""))


# ------------------------------------------------------------------------------------------------------ Markdown


SIGNS = [*"|`*_<>[](){}#@^~\\$&!+-=:.'\"1a ", "--", "...", "1. ", "- ", "# ", "![x](y)", "<b>", "&amp;", ":::", "a|b"]


PLAIN = {"text", "text_special", "code_inline", "softbreak", "strong_open", "strong_close"}


def read_markdown(text):
    """Return the texts that GitHub shows, by their kind, and of a table its rows; fail at anything that is no text."""
    from markdown_it import MarkdownIt

    found, kinds = {"heading": [], "paragraph": [], "list_item": [], "tr": []}, []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        if token.nesting == 1:
            kinds.append(token.type.removesuffix("_open"))
            if kinds[-1] == "tr":
                found["tr"].append([])
        elif token.nesting == -1:
            assert kinds.pop() == token.type.removesuffix("_close")
        else:
            assert token.type == "inline", token
            assert {part.type for part in token.children} <= PLAIN
            said = "".join(part.content for part in token.children)
            assert kinds.count("list_item") <= 1
            if "tr" in kinds:
                found["tr"][-1].append(said)
            else:
                found["list_item" if "list_item" in kinds else kinds[-1]].append(said)
    return found


@law(40)
def test_markdown_shows_names_and_rules_as_they_are(seed):
    """Neither a name nor a value is a table's bar, a heading, a list, code, an entity or a tag."""
    rng = np.random.default_rng(seed)
    drawn_names = {"".join(rng.choice(SIGNS, int(rng.integers(1, 6)))) for _ in range(9)}
    first, second = PAIRS[seed] if seed < len(PAIRS) else sorted(drawn_names)[:2]
    if seed % 2 or seed < len(PAIRS):
        ex = boxwood.explain(pd.DataFrame({first: [1.0, 2.0, 8.0, 9.0]}), [first, first, second, second])
    else:
        ex = boxwood.explain(pd.DataFrame({first: [first, first, second, second]}), [0, 0, 1, 1])
    found, lines = read_markdown(ex.to_markdown()), ex.rules().split("\n")
    assert found["heading"] == [str(ex).split("\n")[0]]
    assert [f"{row[0]}: {row[-1]}" for row in found["tr"][1:]] == lines
    assert [len(row) for row in found["tr"]] == [7] * 3
    assert found["list_item"] == list(notes_of(ex))
    for name in {*map(cluster_name, [first, second, *drawn_names])}:
        assert read_markdown(escape_markdown(name))["paragraph"] == [name]


def test_markdown_escapes():
    assert escape_markdown("a|b <c> *d*") == "a\\|b \\<c\\> \\*d\\*"
    for text, escaped in (
        ("1. x", "1\\. x"),
        ("- x", "\\- x"),
        ("a--b", "a\\--b"),
        ("@x^2^", "\\@x\\^2\\^"),
        ("2.5", "2.5"),
    ):
        assert escape_markdown(text) == escaped  # of a list, a dash, a citation, a power to Pandoc
    assert _as_code("a|b > `") == "a\\|b \\> \\`"
    assert _code("a`b``c") == "```a`b``c```"
    assert _code("`a`") == "`` `a` ``"
    lost = ClusterSummary(0, "a|b", 1, 0.5, 0, 0.0, None, ())
    rule = "no rule of its own: the tree has no leaf for this cluster"
    assert _row(lost) == ["a\\|b", "1", "50.0%", "0", "0.0%", "-", rule]
    assert cluster_name("a|b") == "a|b"


def test_names_of_clusters_are_quoted_once():
    names = ["", " ", "  a", "a  b", " a  b ", "a b"]
    assert [cluster_name(name) for name in names] == ['""', '" "', '"  a"', '"a  b"', '" a  b "', "a b"]


# ----------------------------------------------------------------------------------------------------- variables


def test_variables_are_valid_and_different():
    columns = [*NAMES, "a b", "a-b", "A B", "for", "7up", "_x_", "lambda"]
    found = identifiers(columns, range(len(columns)), {"for", "lambda", "row"})
    assert len(set(found.values())) == len(columns)
    assert all(re.fullmatch("[a-z][0-9a-z_]*", name) for name in found.values())
    assert not {"for", "lambda", "row"} & set(found.values())


BROKEN = ["two\nlines", "", "  ", "\x1b[31m", " x", "tab\t", "\u2028z", "r\rq"]


@law(4)
def test_no_name_breaks_a_line_or_is_invisible_in_any_note(seed):
    rng, n = np.random.default_rng(seed), 60
    names = rng.permutation(BROKEN).tolist()
    frame = pd.DataFrame(
        {
            names[0]: rng.integers(0, 50, n),
            names[1]: np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            names[2]: rng.choice(["u", "v", "w"], n),
            names[3]: np.arange(n),
            names[4]: [[1]] * n,
        }
    )
    group = np.where(rng.random(n) < 0.1, 2, np.where(frame[names[0]] > 30, 0, 1))
    labels = np.array(names[5:8])[group]
    other = frame.assign(**{names[2]: "new\nword"}).iloc[:5]
    given = [
        boxwood.explain(frame, labels, method="cart"),
        boxwood.explain(frame, labels, missing="drop", method="imm"),
        boxwood.explain(frame, n_clusters=2),
    ]
    for ex in given:
        rows = pd.concat([frame, other])
        of_rows = np.append(np.array(ex.predict(frame, missing="none"), dtype=object), ["new\nlabel"] * 5)
        found = [ex, ex.evaluate(rows, of_rows), ex.rename({ex.names[0]: "a\nb"})]
        lines = [line for each in found for line in (*each.notes, *each.to_text(style="sentences").split("\n"))]
        lines += [line for each in found for line in each.to_text().split("\n")]
        assert all(line.isprintable() for line in lines)
        told = " ".join(note for note in ex.notes if "left out" in note or "are used" in note)
        for name in (names[3], names[4]):
            said = name if name.isprintable() else repr(name)[1:-1]
            assert (said if said.strip() == said != "" else f'"{said}"') in told


WORDS_OF_RULES = [
    "not",
    "or",
    "Missing",
    "is",
    "and",
    "*",
    " x",
    "a, b",
    "(a)",
    "this or that",
    "",
    "3 more",
    "not known",
]


@each("word", WORDS_OF_RULES)
def test_a_word_that_could_be_read_as_a_part_of_the_rule_is_in_quotes(word):
    x = [word] * 20 + ["M"] * 20 + ["L"] * 20
    frame = pd.DataFrame({"size": x, "x": np.arange(60) % 7})
    ex = boxwood.explain(frame, np.where(np.arange(60) < 20, "a", "b"), method="cart")
    assert ex.agreement == 1
    forms = [ex.to_text(), ex.to_text(style="sentences"), ex.to_markdown(), ex.to_csv().replace('""', '"')]
    assert all(f'"{word}"' in text for text in forms)
    assert "size is L or M" in ex.rules()
