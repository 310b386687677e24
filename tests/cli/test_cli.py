"""The command line: most of it within this process, some lines and all that is about processes in real ones."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pytest
from sklearn.datasets import load_iris

import boxwood
from boxwood.cli import VERBS
from boxwood.grow import METHODS
from boxwood.render import EXPORTERS
from boxwood.render.forms.dialects import DIALECTS
from tests.command import invoke
from tests.models import read_model
from tests.scale import SLOW, some, variants

DONE, BUG, USAGE, DATA, PAST_A_LIMIT, INTERRUPTED = 0, 1, 2, 3, 4, 130
COLUMNS = ["sepal length", "sepal width", "petal length", "petal width"]
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


def process(folder, *args, **how):
    return subprocess.run(
        [sys.executable, "-m", "boxwood", *args], cwd=folder, capture_output=True, text=True, check=False, **how
    )


def run(folder, *args, code=DONE, stdin=None):
    """Run the command in this process and return what it wrote; `folder` stands for {} in the arguments."""
    return invoke(*(str(arg).replace("{}", str(folder)) for arg in args), code=code, input=stdin)


@pytest.fixture(scope="module")
def iris():
    return load_iris()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, iris):
    """A folder with iris in every format, with and without its species, and a model of each clustering."""
    folder = tmp_path_factory.mktemp("iris")
    species = iris.target_names[iris.target]
    with duckdb.connect() as con:
        con.register("t", {name: iris.data[:, j].copy() for j, name in enumerate(COLUMNS)} | {"species": species})
        for name in ("iris.csv", "iris.csv.gz", "iris.parquet"):
            con.execute(f"COPY t TO '{folder / name}'")
        con.execute(f"COPY t TO '{folder / 'iris.jsonl'}' (FORMAT json)")
        con.execute(f"COPY t TO '{folder / 'iris.tsv'}' (FORMAT csv, DELIMITER '\t', HEADER)")
    run(folder, "explain", "{}/iris.csv", "--labels", "species", "--save", "{}/species.json")
    run(folder, "explain", "{}/iris.csv", "-k", 3, "--exclude", "species", "--save", "{}/three.json")
    return folder


# ------------------------------------------------------------------------------------------------- bad input


class Bad(NamedTuple):
    args: str  # split at spaces; _ stands for a space
    code: int
    message: str  # the first line of the message without "boxwood: error: ", or its beginning with …
    more: str = ""  # a part of the lines below


BAD = [
    Bad(
        "explain wholesle.csv -k 3 --save model-out.json",
        DATA,
        "no such file: wholesle.csv; did you mean 'wholesale.csv'?",
    ),
    Bad("explain nothing.csv -k 3", DATA, "no such file: nothing.csv"),
    Bad(
        "explain folder.csv -k 3",
        DATA,
        "the folder folder.csv holds no Parquet files",
        "name a file, or a folder of .parquet files",
    ),
    Bad(
        "explain data.xyz -k 3",
        DATA,
        "cannot tell the format of data.xyz from '.xyz'",
        "or name its format: --format csv",
    ),
    Bad("explain empty.csv -k 3", DATA, "empty.csv is empty"),
    Bad("explain - -k 3", DATA, "standard input is empty"),
    Bad("explain heads.csv -k 3", DATA, "heads.csv has column names but no rows"),
    Bad("explain ragged.csv -k 2", DATA, "cannot read ragged.csv as csv: line 3 has 3 fields, the header has 2"),
    Bad("explain short.csv -k 2", DATA, "cannot read short.csv as csv: line 4 has 1 field, the header has 2"),
    Bad("explain latin.csv -k 2 --encoding utf-8", DATA, "cannot read latin.csv as csv: line …", "UTF-8"),
    Bad("explain iris.csv -k 2 --encoding hex", USAGE, "Invalid value for '--encoding': 'hex' is not an encoding…"),
    Bad("explain bad.csv.gz -k 2", DATA, "bad.csv.gz is not gzip"),
    Bad("explain cut.csv.gz -k 2", DATA, "cannot read cut.csv.gz as csv: …"),
    Bad("explain bad.parquet -k 3", DATA, "cannot read bad.parquet as parquet: No magic bytes found at end of file…"),
    Bad("explain cut.parquet -k 3", DATA, "cannot read cut.parquet as parquet: …"),
    Bad("explain bad.jsonl -k 3", DATA, "cannot read bad.jsonl as jsonl: Malformed JSON…"),
    Bad("explain bad.arrow -k 3", DATA, "cannot read bad.arrow as arrow: Not an Arrow file"),
    Bad(
        "explain days.csv -k 2",
        DATA,
        "no numeric column in days.csv",
        "  left out, dates that cannot be read for sure (write them as 2026-03-01): day",
    ),
    Bad("explain same.csv -k 2", DATA, "only constant columns in same.csv; no cut can separate their rows", "a, b"),
    Bad(
        "explain holes.csv -k 3 --missing refuse --save model-out.json",
        DATA,
        "missing values in 3 of 6 rows: income (2), age (2); fill them, or leave those rows out (--missing drop)",
    ),
    Bad("explain infinite.csv -k 2", DATA, "infinite values in 2 of 4 rows: a (1), b (1)", "--exclude"),
    Bad(
        "explain junk.csv -k 2 -c a,b",
        DATA,
        "column 'b' must be numbers, but junk.csv has text in 1 of 4 rows, first 'two' in row 2",
    ),
    Bad(
        "explain good.csv -k 2 --numbers name",
        DATA,
        "column 'name' must be numbers, but good.csv has text in 8 of 8 rows, first…",
    ),
    Bad(
        "explain towns.csv -l x -c town",
        DATA,
        "rules cannot use town of towns.csv: more than 255 values, hardly any of them twice "
        "(identifiers, or texts to make numbers of)",
    ),
    Bad(
        "explain few.csv -k 4 --save model-out.json",
        DATA,
        "4 clusters asked for, but the table has only 3 different rows…",
    ),
    Bad(
        "explain good.csv --labels one -c x,y",
        DATA,
        "the labels hold only one cluster, 7; a tree separates clusters, so give at least two",
    ),
    Bad(
        "explain many.csv --labels id",
        DATA,
        "column 'id' of many.csv holds 60 different values; is it the cluster column?",
    ),
    Bad(
        "explain good.csv --labels segmnt",
        USAGE,
        "no column 'segmnt' in the table; did you mean 'segment'?",
        "Columns: x, y",
    ),
    Bad("explain good.csv -k 2 -c x,z", USAGE, "no column 'z' in the table", "Columns: x, y"),
    Bad(
        "explain good.csv -k 2 --exclude segments", USAGE, "no column 'segments' in the table; did you mean 'segment'?"
    ),
    Bad(
        "explain good.csv -k 2 --labels segment",
        USAGE,
        "give either -k N (make clusters) or --labels COLUMN…",
        "not both",
    ),
    Bad("explain good.csv -k 1", USAGE, "Invalid value for '-k' / '--clusters': 1 is not in the range x>=2."),
    Bad(
        "explain good.csv -k two", USAGE, "Invalid value for '-k' / '--clusters': 'two' is no whole number, such as 4."
    ),
    Bad("explain good.csv -k 3 --leafs 4", USAGE, "No such option '--leafs'…", "--leaves"),
    Bad("explain good.csv -k 3 --method id3", USAGE, "Invalid value for '--method': 'id3' is not one of…"),
    Bad(
        "explain good.csv -k 2 --save nowhere/m.json",
        USAGE,
        "Invalid value for '--save': 'nowhere/m.json': cannot write in nowhere",
    ),
    Bad(
        "explain good.csv -k 2 --save model.pkl",
        USAGE,
        "Invalid value for '--save': 'model.pkl': a model is a .json file; name it MODEL.json",
    ),
    Bad(
        "predict model.json good.csv -o nowhere/o.csv",
        USAGE,
        "Invalid value for '-o' / '--output': 'nowhere/o.csv': cannot write…",
    ),
    Bad(
        "predict model.json good.csv -o o.xlsx",
        USAGE,
        "Invalid value for '-o' / '--output': 'o.xlsx': unknown extension…",
    ),
    Bad(
        "predict model.json good.csv --column NAME",
        USAGE,
        "good.csv has a column 'NAME' already; name the new one with --column NAME",
    ),
    Bad("predict modle.json good.csv", DATA, "no such file: modle.json; did you mean 'model.json'?"),
    Bad("predict model.json godo.csv", DATA, "no such file: godo.csv; did you mean 'good.csv'?"),
    Bad(
        "predict good.csv good.csv -o out.csv",
        DATA,
        "good.csv is not a boxwood model: it does not begin as a JSON object does",
        "make one with: boxwood explain",
    ),
    Bad(
        "predict bad.parquet good.csv",
        DATA,
        "bad.parquet is not a boxwood model: it does not begin as a JSON object does",
    ),
    Bad(
        "predict newer.json good.csv -o out.csv",
        DATA,
        "newer.json was written by a newer boxwood (format 99, this one reads 3)",
    ),
    Bad("predict damaged.json good.csv", DATA, "damaged.json is a damaged boxwood model: …"),
    Bad("predict model.json junk.csv -o out.csv", DATA, "junk.csv lacks 2 columns the rules need: x, y"),
    Bad("predict model.json renamed.csv -o out.csv", DATA, "renamed.csv lacks a column the rules need: y…"),
    Bad(
        "predict model.json text.csv -o out.csv",
        DATA,
        "column 'x' must be numbers, but text.csv has text in 2 of 3 rows, first 'b' in row 2",
    ),
    Bad(
        "predict model.json ragged.csv -o out.csv",
        DATA,
        "cannot read ragged.csv as csv: line 3 has 3 fields, the header has 2",
    ),
    Bad("export good.csv", DATA, "good.csv is not a boxwood model: it does not begin as a JSON object does"),
    Bad(
        "export model.json --to postgresql",
        USAGE,
        "Invalid value for '--to': 'postgresql' is not one of…",
        more="; did you mean --to sql --dialect postgresql?\n",
    ),
    Bad(
        "export model.json --to sql --dialect pgsql",
        USAGE,
        "Invalid value for '--dialect': 'pgsql' is not one of…",
        more="; did you mean 'postgres'?\n",
    ),
    Bad(
        "export model.json --to js",
        USAGE,
        "Invalid value for '--to': 'js' is not one of…",
        more="; did you mean 'javascript'?\n",
    ),
    Bad(
        "export model.json --to pdf",
        USAGE,
        "Invalid value for '--to': 'pdf' is not one of 'text', 'markdown', 'csv', 'json', 'sql', 'dbt', "
        "'python', 'javascript', 'formula', 'onnx', 'pmml', 'html'.",
    ),
    Bad(
        "export model.json -o nowhere/x.txt",
        USAGE,
        "Invalid value for '-o' / '--output': 'nowhere/x.txt': cannot write in nowhere",
    ),
    Bad(
        "predict model.json good.csv --column= ",
        USAGE,
        "Invalid value for '--column': a column cannot have an empty name",
    ),
    Bad(
        "explain /dev/zero -k 2 --format csv", DATA, "/dev/zero is a device, not a file", "for standard input, write -"
    ),
    Bad(
        "export /dev/zero",
        DATA,
        "/dev/zero is not a boxwood model: it does not begin as a JSON object does",
        "make one with",
    ),
    Bad(
        "explain good.csv -l segment -c x,y --method imm --max-leaves 9",
        USAGE,
        "method 'imm' makes one leaf for each of 3 clusters, but --max-leaf-nodes=9; use 'auto'…",
    ),
    Bad("explode good.csv", USAGE, "No such command 'explode'…"),
]


@pytest.fixture(scope="module")
def bad_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    good = "x,y,segment,one,gap,name\n" + "".join(f"{i},{i % 2},{i % 3},7,{i or ''},n{i}\n" for i in range(8))
    texts = {
        "wholesale.csv": "a\n1\n2\n",
        "good.csv": good,
        "data.xyz": "a\n1\n",
        "empty.csv": "",
        "heads.csv": "a,b\n",
        "ragged.csv": "x,y\n1,2\n3,4,5\n6,7\n",
        "short.csv": "a,b\n1,2\n3,4\n5\n",
        "bad.parquet": "this is no parquet file",
        "bad.csv.gz": "this is not gzip",
        "bad.jsonl": '{"a": 1}\n{"a": \n',
        "bad.arrow": "this is no arrow file",
        "days.csv": "day\n1/2/2026\n2/2/2026\n",
        "towns.csv": "town,x\n" + "".join(f"town {i},{i % 2}\n" for i in range(300)),
        "same.csv": "a,b\n" + "1,2\n" * 5,
        "holes.csv": "income,age,ok\n1,2,3\n,3,4\nNA,nan,5\n4,,6\n5,6,7\n6,7,8\n",
        "infinite.csv": "a,b\n1,2\ninf,3\n4,-inf\n5,6\n",
        "junk.csv": "a,b\n1,2\n2,two\n3,4\n5,6\n",
        "few.csv": "a,b\n" + "1,2\n2,3\n4,5\n" * 5,
        "many.csv": "x,id\n" + "".join(f"{i % 7},{i}\n" for i in range(60)),
        "newer.json": '{"format": "boxwood", "version": 99}',
        "damaged.json": '{"format": "boxwood", "version": 1}',
        "renamed.csv": "x,ys\n1,2\n",
        "text.csv": "x,y\n1,2\nb,3\nc,4\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "folder.csv").mkdir()
    (folder / "latin.csv").write_bytes("a,b\n1,é\n2,x\n".encode("latin-1"))
    duckdb.execute(f"COPY (SELECT i AS a FROM range(1000) t(i)) TO '{folder / 'cut.parquet'}'")
    duckdb.execute(f"COPY (SELECT hash(i) AS a FROM range(9999) t(i)) TO '{folder / 'cut.csv.gz'}'")
    for name in ("cut.parquet", "cut.csv.gz"):
        (folder / name).write_bytes((folder / name).read_bytes()[:-100])
    X = np.array([[0, 0], [0, 9], [9, 0], [9, 9.0]])
    boxwood.explain(X, [0, 1, 2, 3], columns=["x", "y"]).save(folder / "model.json")
    return folder


def told(folder, bad, *, in_a_process):
    """Return exit code, output and error output of a bad line; a process of its own takes about a second."""
    args = [word.replace("_", " ") for word in bad.args.split()]
    if in_a_process:
        done = process(folder, *args, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr
    done = invoke(*args, code=None, prog_name="boxwood")
    return done.exit_code, done.stdout, done.stderr


IN_A_PROCESS = [next(bad for bad in BAD if bad.code == code) for code in sorted({bad.code for bad in BAD})]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.args)
def test_bad_input_is_told_in_one_line(bad_folder, bad, monkeypatch):
    before = sorted(os.listdir(bad_folder))
    monkeypatch.chdir(bad_folder)
    code, out, err = told(bad_folder, bad, in_a_process=SLOW or bad in some(IN_A_PROCESS))
    assert sorted(os.listdir(bad_folder)) == before
    assert code == bad.code, err
    assert out == ""
    assert "Traceback" not in err
    prefix = "boxwood: error: "
    first, *more = err.splitlines()
    assert first.startswith(prefix)
    message = first.removeprefix(prefix)
    if bad.message.endswith("…"):
        assert message.startswith(bad.message[:-1])
    else:
        assert message == bad.message
    assert bad.more in err
    assert all(line.startswith("  ") for line in more)
    assert ("--help lists the options" in err) is (bad.code == USAGE)


# ----------------------------------------------------------------------------------------------- real processes


def test_help_and_usage_errors_start_quickly():
    script = (
        "import sys\nfrom boxwood.cli import boxwood\n"
        "for args in (['--help'], ['explain', '--help'], ['predict', '--help'], ['explain', '--leafs']):\n"
        "    try: boxwood(args)\n"
        "    except SystemExit: pass\n"
        "print(sorted({'numba', 'sklearn', 'duckdb', 'scipy', 'pandas', 'pyarrow'} & set(sys.modules)))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.fixture(scope="module")
def long_table(tmp_path_factory):
    """A table that takes seconds to label."""
    folder = tmp_path_factory.mktemp("long")
    columns = ", ".join(f"i % 1000 / {j}.7 AS c{j}" for j in range(6))
    duckdb.execute(
        f"COPY (SELECT i % 9 AS x, i % 7 AS y, {columns} FROM range(200000) t(i)) TO '{folder / 'one.parquet'}'"
    )
    duckdb.execute(f"COPY (SELECT t.* FROM '{folder / 'one.parquet'}' t, range(25)) TO '{folder / 'long.parquet'}'")
    X = np.array([[0, 0], [0, 9], [9, 0], [9, 9.0]])
    boxwood.explain(X, [0, 1, 2, 3], columns=["x", "y"]).save(folder / "model.json")
    return folder


@POSIX
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, INTERRUPTED), pytest.param(signal.SIGTERM, 128 + signal.SIGTERM, marks=pytest.mark.full)],
)
def test_an_interrupted_run_leaves_no_part_of_a_file(long_table, number, code):
    before = sorted(os.listdir(long_table))
    args = [sys.executable, "-m", "boxwood", "predict", "model.json", "long.parquet", "-o", "out.csv"]
    with subprocess.Popen(args, cwd=long_table, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        deadline = time.monotonic() + 60
        while sorted(os.listdir(long_table)) == before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert "out.csv" not in os.listdir(long_table)  # it has begun, and has not ended
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert running.returncode == code
    assert (out, err) == ("", "boxwood: interrupted\n" if number == signal.SIGINT else "")
    assert sorted(os.listdir(long_table)) == before


@pytest.mark.full
@POSIX
@pytest.mark.parametrize("args", ["explain iris.csv -k 3 --method imm", "predict species.json iris.csv"])
def test_a_closed_pipe_ends_quietly(folder, args):
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run(
        [sys.executable, "-m", "boxwood", *args.split(), "-q"],
        cwd=folder,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (result.returncode, result.stderr) == (DONE, "")


@POSIX
def test_progress_is_shown_on_a_terminal_only_and_erased(folder):
    import pty

    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm"}
    args = [sys.executable, "-m", "boxwood", "predict", "species.json", "iris.csv", "-o", "shown.csv"]
    with subprocess.Popen(args, cwd=folder, stderr=theirs, stdout=subprocess.PIPE, env=environment) as running:
        out = running.communicate(timeout=60)[0]
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert out == b""
    assert "labelling iris.csv" in shown
    assert shown.split("\x1b[K")[-1].strip() == f"boxwood: wrote shown.csv ({_size(folder / 'shown.csv')})"


def test_a_process_reads_and_writes_pipes(folder):
    text = (folder / "iris.csv").read_text()
    result = process(folder, "predict", "species.json", "-", input=text)
    lines = result.stdout.splitlines()
    assert (result.returncode, result.stderr) == (DONE, "")
    assert lines[0] == "sepal length,sepal width,petal length,petal width,species,cluster"
    assert [line.rsplit(",", 1)[0] for line in lines] == text.splitlines()


def _size(path):
    size = os.path.getsize(path)
    return f"{size / 1000:.0f} kB"


# ------------------------------------------------------------------------------------------------------ explain


def test_explain_prints_what_the_library_prints(folder, iris):
    expected = boxwood.explain(iris.data, iris.target_names[iris.target], columns=COLUMNS, random_state=0)
    for options, text in (((), f"{expected}".replace("ex.notes", "--notes")), (["--notes"], expected.to_text())):
        result = run(folder, "explain", "{}/iris.csv", "--labels", "species", *options)
        assert result.stdout == f"{text}\n"
        assert result.stderr == ""


USED = f"4 of 5 columns are used: {', '.join(COLUMNS)}\n"


def test_explain_makes_the_clusters_of_the_library(folder, iris):
    words = ("explain", "{}/iris.csv", "-k", 4, "--exclude", "species", "--seed", 5, "--max-leaf-nodes", 6, "--json")
    result = run(folder, *words)
    expected = boxwood.explain(
        np.asfortranarray(iris.data), n_clusters=4, columns=COLUMNS, random_state=5, max_leaf_nodes=6
    )
    found = json.loads(result.stdout)
    assert found.pop("notes") == ["petal length alone shows groups"]
    assert found.pop("provenance")["left_out"] == [{"reason": "not chosen", "columns": ["species"]}]
    assert found == {name: fact for name, fact in expected.to_dict().items() if name not in ("notes", "provenance")}
    assert result.stderr == "boxwood: 1 note: --notes\n"


def test_same_input_same_output(folder):
    first, again = (run(folder, "explain", "{}/iris.csv", "-k", 5, "-q") for _ in range(2))
    assert first.stdout == again.stdout
    assert first.stderr == ""


@pytest.mark.parametrize("method", METHODS)
def test_explain_by_every_method(folder, method):
    result = run(folder, "explain", "{}/iris.csv", "-l", "species", "--method", method.replace("_", "-"), "--json")
    assert read_model(result.stdout).method == method


def test_leaves_have_three_spellings(folder):
    shown = {
        run(folder, "explain", "{}/iris.csv", "-l", "species", option, 5, "--notes").stdout
        for option in ("--leaves", "--max-leaves", "--max-leaf-nodes")
    }
    assert len(shown) == 1
    assert "explained by 5 leaves" in shown.pop()


def test_columns_are_chosen(folder):
    result = run(
        folder, "explain", "{}/iris.csv", "-k", 3, "-c", "petal length,petal width", "-c", "sepal width", "--json"
    )
    assert json.loads(result.stdout)["columns"] == ["petal length", "petal width", "sepal width"]
    words = ("--exclude", "petal length, sepal width", "--exclude", "species")
    result = run(folder, "explain", "{}/iris.csv", "-k", 3, *words, "--json")
    assert json.loads(result.stdout)["columns"] == ["sepal length", "petal width"]


def test_rows_labelled_minus_one_are_left_out(tmp_path):
    rows = [*((i, "a" if i < 5 else "b") for i in range(10)), (99, -1), (98, -1)]
    (tmp_path / "t.csv").write_text("x,group\n" + "".join(f"{x},{label}\n" for x, label in rows))
    facts = json.loads(run(tmp_path, "explain", "{}/t.csv", "--labels", "group", "--json").stdout)
    assert (facts["n_rows"], facts["n_left_out"]) == (12, 2)
    assert [cluster["name"] for cluster in facts["clusters"]] == ["a", "b"]


def test_constant_columns_are_named(tmp_path):
    (tmp_path / "t.csv").write_text("a,const\n" + "".join(f"{i},5\n" for i in range(9)))
    result = run(tmp_path, "explain", "{}/t.csv", "-k", 3, "--json", "--notes")
    assert result.stderr.endswith("boxwood: 1 of 2 columns is used: a\nboxwood: left out, one value only: const\n")


def test_limits_for_scripts(folder):
    explained = ["explain", "{}/iris.csv", "-k", 3, "--exclude", "species", "-q"]
    result = run(folder, *explained, "--max-price", 1.0001, "--fail-under", 0.999, code=PAST_A_LIMIT)
    assert result.stdout.startswith("3 clusters of 150 rows")
    assert result.stderr.startswith("boxwood: price 1.0")
    assert "is over 1.0001; agreement 9" in result.stderr
    assert "is under 99.9%" in result.stderr
    run(folder, *explained, "--max-price", 2, "--fail-under", 0.5)


def test_a_saved_model_is_told_and_equals_the_explanation(folder):
    result = run(folder, "explain", "{}/iris.csv", "--labels", "species", "--notes", "--save", "{}/again.json")
    assert result.stderr == f"boxwood: wrote {folder}/again.json ({_size(folder / 'again.json')})\n"
    assert f"{boxwood.load(folder / 'again.json').to_text()}\n" == result.stdout


# ------------------------------------------------------------------------------------------------------ predict


@pytest.mark.crossed
@pytest.mark.parametrize("name", ["iris.csv", "iris.csv.gz", "iris.tsv", "iris.parquet", "iris.jsonl"])
@pytest.mark.parametrize(
    ("model", "out"),
    [("species.json", "o.csv"), ("three.json", "o.parquet")]
    + SLOW * [("species.json", "o.parquet"), ("three.json", "o.csv")],
)
def test_round_trips(folder, tmp_path, iris, name, model, out):
    run(folder, "explain", f"{{}}/{name}", "-k", 3, "--exclude", "species", "--save", tmp_path / "model.json", "-q")
    assert boxwood.load(tmp_path / "model.json") == boxwood.load(folder / "three.json")
    run(folder, "predict", f"{{}}/{model}", f"{{}}/{name}", "-o", tmp_path / out, "-q")
    found = duckdb.execute(f"SELECT * FROM '{tmp_path / out}'").fetchnumpy()
    assert list(found) == [*COLUMNS, "species", "cluster"]
    assert found["cluster"].tolist() == boxwood.load(folder / model).predict(iris.data).tolist()
    assert np.array_equal(np.column_stack([found[column] for column in COLUMNS]), iris.data)


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "jsonl"])
def test_standard_input_in_every_format(folder, iris, form):
    content = (folder / f"iris.{form}").read_bytes()
    options = [] if form == "csv" else ["--format", form]
    result = run(folder, "predict", "{}/species.json", "-", "--column", "kind", *options, stdin=content)
    lines = result.stdout.splitlines()
    assert lines[0].endswith(",kind")
    expected = boxwood.load(folder / "species.json").predict(iris.data)
    assert [line.rsplit(",", 1)[1] for line in lines[1:]] == expected.tolist()
    explained = run(folder, "explain", "-", "--labels", "species", "--notes", *options, stdin=content)
    assert explained.stdout == f"{boxwood.load(folder / 'species.json').to_text()}\n"


@pytest.mark.parametrize(
    "spelling", ["it.csv", "./it.csv", "here/../it.csv", pytest.param("link.csv", marks=POSIX), "hard.csv", "{}/it.csv"]
)
def test_no_input_is_overwritten(folder, tmp_path, monkeypatch, spelling):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    spelling = spelling.replace("{}", str(tmp_path))
    for what, source in (("model", "species.json"), ("table", "iris.csv")):
        content = (folder / source).read_bytes()
        for name in ("it.csv", "it.json"):
            (tmp_path / name).write_bytes(content)
        for name in os.listdir(tmp_path):
            if name.startswith(("link", "hard")):
                os.remove(name)
        for extension in (".csv", ".json"):
            if "link" in spelling:  # Windows asks for a right to make one
                os.symlink(f"it{extension}", f"link{extension}")
            os.link(f"it{extension}", f"hard{extension}")
        model, table = ("it.csv", "{}/iris.csv") if what == "model" else ("{}/species.json", "it.csv")
        lines = [["predict", model, table, "-o", spelling]]
        lines += [["export", "it.csv", "--to", "sql", "-o", spelling]] if what == "model" else []
        saved = spelling.replace(".csv", ".json")
        lines += [["explain", "it.json", "-k", 3, "--save", saved]] if what == "table" else []
        for args in lines:
            told = run(folder, *args, code=USAGE).stderr
            assert f"'{args[-1]}' is the {what} itself; name another file" in told
        assert (tmp_path / "it.csv").read_bytes() == (tmp_path / "it.json").read_bytes() == content
    run(folder, "predict", "{}/species.json", "{}/iris.csv", "-o", "other.csv")


@POSIX
@pytest.mark.parametrize("out", ["o.csv", "o.parquet", "o.jsonl.gz"])
def test_permissions_of_outputs_stay(folder, tmp_path, out):
    for path in (tmp_path / out, tmp_path / "m.json"):
        path.write_text("old")
        path.chmod(0o600)
    run(folder, "predict", "{}/species.json", "{}/iris.csv", "-o", tmp_path / out)
    run(folder, "explain", "{}/iris.csv", "-l", "species", "--save", tmp_path / "m.json")
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    assert len(list(tmp_path.iterdir())) == 2


def test_rows_without_a_needed_value_are_counted(folder, tmp_path):
    (tmp_path / "t.csv").write_text("petal width,petal length\n0.2,1.4\n,5\n0.2,\n")
    result = run(folder, "predict", "{}/species.json", tmp_path / "t.csv", "--fail-over-empty", "0.7")
    assert result.stdout == "petal width,petal length,cluster\n0.2,1.4,setosa\n,5,\n0.2,,\n"
    assert (
        result.stderr
        == "boxwood: 2 rows left without a cluster: their value of petal length or petal width is missing\n"
    )


# ---------------------------------------------------------------------------------------------- export and demo


def test_export(folder, tmp_path):
    explanation = boxwood.load(folder / "species.json")
    assert run(folder, "export", "{}/species.json").stdout == f"{explanation.to_text()}\n"
    assert read_model(run(folder, "export", "{}/species.json", "--to", "json").stdout) == explanation
    result = run(folder, "export", "{}/species.json", "--to", "json", "-o", tmp_path / "copy.json")
    assert (result.stdout, boxwood.load(tmp_path / "copy.json")) == ("", explanation)
    assert result.stderr.startswith("boxwood: wrote ")


def test_export_writes_what_the_methods_return(folder, tmp_path):
    explanation = boxwood.load(folder / "species.json")
    for form, exporter in EXPORTERS.items():
        written = getattr(explanation, exporter.method)()
        if exporter.kind == "object":
            result = run(folder, "export", "{}/species.json", "--to", form, code=USAGE)
            assert f"'{form}' is not one of" in result.stderr
            continue
        if exporter.kind == "folder":
            run(folder, "export", "{}/species.json", "--to", form, "-o", tmp_path / form)
            found = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / form).iterdir()}
            assert found == {name: f"{text}\n" for name, text in written.items()}
            continue
        run(folder, "export", "{}/species.json", "--to", form, "-o", tmp_path / "out")
        content = (tmp_path / "out").read_bytes()
        assert content == (written if exporter.kind == "bytes" else f"{written}\n".encode())
        if exporter.kind != "bytes":
            assert run(folder, "export", "{}/species.json", "--to", form).stdout == f"{written}\n"


def test_export_of_sql_for_an_engine_and_a_table(folder):
    explanation = boxwood.load(folder / "species.json")
    for dialect in DIALECTS:
        options = ["--dialect", dialect, "--table", "shop.flowers"]
        result = run(folder, "export", "{}/species.json", "--to", "sql", *options)
        assert result.stdout == f"{explanation.to_sql(dialect, table='shop.flowers')}\n"


def test_export_of_a_formula_for_the_columns_of_a_sheet(folder):
    explanation = boxwood.load(folder / "species.json")
    sheet = ["no. 1, 2", *explanation.columns[::-1]]
    columns = ",".join(f'"{name}"' for name in sheet)
    result = run(folder, "export", "{}/species.json", "--to", "formula", "--columns", columns)
    assert result.stdout == f"{explanation.to_formula(columns=sheet)}\n"
    assert "MATCH" not in result.stdout


def test_export_refuses_what_a_form_cannot_take(folder):
    for options, message in (
        (["--dialect", "mysql"], "--dialect needs --to sql or --to dbt"),
        (["--to", "python", "--table", "t"], "--table needs --to sql"),
        (
            ["--to", "sql", "--table", "a..b"],
            "table must be a name such as 'customers' or 'sales.customers'; got 'a..b'",
        ),
        (["--to", "onnx"], "--to onnx does not write text; name a file with -o"),
        (["--to", "dbt"], "--to dbt writes several files; name a folder with -o"),
        (["--to", "dbt", "-o", folder / "species.json"], "--to dbt writes several files; name a folder with -o"),
        (["--to", "sql", "-o", folder], f"'{folder}' is not a file; name another one"),
    ):
        assert message in run(folder, "export", "{}/species.json", *options, code=USAGE).stderr


def test_what_is_missing_is_told_with_the_command_that_installs_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot.expressions", None)
    monkeypatch.setitem(sys.modules, "onnx", None)
    told = run(folder, "export", "{}/species.json", "--to", "sql", "--dialect", "tsql", code=USAGE).stderr
    assert "SQL for tsql needs sqlglot: pip install sqlglot\n" in told
    told = run(folder, "export", "{}/species.json", "--to", "onnx", "-o", "-", code=USAGE).stderr
    assert "An ONNX model needs onnx: pip install onnx\n" in told


def test_demo(tmp_path):
    result = run(tmp_path, "demo")
    table = Path(__file__).parents[2] / "examples" / "customers.csv"
    same = run(tmp_path, "explain", str(table), "--labels", "segment", "-q").stdout.rstrip().split("\n\n")
    assert result.stdout.split("\n\n")[:4] == [part for part in same if "ote" not in part]
    assert "boxwood explain FILE -k 5" in result.stdout
    assert run(tmp_path, "demo", "-q").stderr == ""


def test_demo_needs_no_optional_package():
    absent = "import sys; sys.modules.update(dict.fromkeys(['pandas', 'polars', 'pyarrow', 'jinja2', 'matplotlib']))"
    demo = "from boxwood.cli import boxwood; boxwood(['demo', '-q'])"
    done = subprocess.run([sys.executable, "-c", f"{absent}; {demo}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "plan is team" in done.stdout


# ---------------------------------------------------------------------------------------------- a bug, and help


def test_a_bug_is_one_line_and_debug_shows_where(folder, monkeypatch):
    def broken(*args, **kwargs):
        raise KeyError("lost")

    monkeypatch.setattr("boxwood.table.memory.file_in_memory", broken)
    result = run(folder, "explain", "{}/iris.csv", "-k", 3, code=BUG)
    assert result.stdout == ""
    first = "boxwood: error: unexpected KeyError: 'lost'\n"
    assert result.stderr == f"{first}  this is a bug of boxwood; run again with --debug to see where\n"
    shown = run(folder, "explain", "{}/iris.csv", "-k", 3, "--debug", code=BUG).stderr
    assert "Traceback" in shown
    assert "in broken" in shown


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb, tmp_path):
    text = run(tmp_path, verb, "--help").stdout
    assert text.startswith(f"Usage: boxwood {verb}")
    assert "--debug" in text


def test_without_a_verb_there_is_the_help(tmp_path):
    assert run(tmp_path).stdout == run(tmp_path, "--help").stdout


def test_version(tmp_path):
    assert run(tmp_path, "--version").stdout == f"boxwood, version {boxwood.__version__}\n"


# -------------------------------------------------------------------------------------------------- the terminal

CONTROLS = "".join(map(chr, [*range(1, 9), *range(11, 32), 127, *range(128, 160)]))


def assert_clean(text):
    assert not {c for c in text if c in CONTROLS}, text


def test_control_characters_of_names_and_paths_are_visible_on_a_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bad, colour = "".join(c for c in CONTROLS if c != "\r"), "\x1b]0;title\x07\x1b[31m\x9b2J"
    words = "".join(f"{i},{i % 3},w{i}{colour},{colour}{i // 10}\n" for i in range(20))
    (tmp_path / "t.csv").write_text(f"x,{bad},text{colour},label{colour}\n{words}", encoding="utf-8")
    shown = []
    for args in (
        ["explain", "t.csv", "-k", "2", "-c", bad, "-c", "x", "--save", "m.json"],
        ["explain", "t.csv", "-k", "2"],
        ["explain", "t.csv", "-l", f"label{colour}", "--save", "l.json"],
        ["explain", "t.csv", "-l", colour],
        ["explain", "t.csv", "-k", "2", "-c", f"text{colour}"],
        ["explain", f"{colour}.csv", "-k", "2"],
        ["explain", "t.csv", "-k", "2", f"--{colour}"],
        ["explain", "t.csv", "-k", colour],
        [colour],
        [f"--{colour}"],
        ["export", "l.json"],
        ["predict", "l.json", "t.csv", "-o", f"{colour}/o.csv"],
        ["predict", "m.json", "t.csv", "-o", f"o{colour}.csv"],
        ["predict", "m.json", "m.json", "--format", "csv", "-o", "p.csv"],
    ):
        result = invoke(*args, code=None, color=True, prog_name="boxwood")
        assert_clean(result.output)
        shown.append(result.output)
    assert sum("\\x1b[31m" in text for text in shown) > 8


@POSIX
def test_code_is_data_unless_it_goes_to_a_terminal(folder, tmp_path):
    import pty

    X = [[1.0], [2.0], [8.0], [9.0]]
    boxwood.explain(X, ["a", "a", "b", "b"], columns=["x\x1b[31m"]).save(tmp_path / "m.json")
    args = [sys.executable, "-m", "boxwood", "export", "m.json", "--to", "sql"]
    assert "\x1b[31m" in run(tmp_path, "export", tmp_path / "m.json", "--to", "sql").stdout
    ours, theirs = pty.openpty()
    subprocess.run(args, cwd=tmp_path, stdout=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "\x1b" not in shown
    assert "x\\x1b[31m" in shown


# ---------------------------------------------------------------------------------- pipes, closed streams, full disks


@pytest.mark.full  # a process with a pipe runs below `make test`, too
@POSIX
def test_pipes_are_read_like_files(folder, monkeypatch):
    monkeypatch.chdir(folder)
    script = 'cat iris.csv > pipe & "$0" -m boxwood "$@" --format csv; wait'
    for args in (["explain", "{}", "-l", "species"], ["predict", "species.json", "{}"]):
        os.mkfifo(folder / "pipe")
        line = ["bash", "-c", script, sys.executable, *(word.replace("{}", "pipe") for word in args)]
        piped = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
        os.remove(folder / "pipe")
        plain = run("iris.csv", *args)
        assert (piped.returncode, piped.stdout, piped.stderr) == (DONE, plain.stdout, "")


@pytest.mark.full
@POSIX
@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("predict species.json - <&-", DATA, "standard input is closed; name a file"),
        ("predict species.json iris.csv >&-", DATA, "standard output is closed, so nothing can be printed"),
        ("explain iris.csv -k 3 --method imm >&-", DATA, "standard output is closed, so nothing can be printed"),
        ("export species.json >&-", DATA, "standard output is closed, so nothing can be printed"),
    ],
)
def test_closed_streams_are_told(folder, line, code, message):
    args = ["bash", "-c", f'"$0" -m boxwood {line}', sys.executable]
    result = subprocess.run(args, cwd=folder, stderr=subprocess.PIPE, text=True, check=False)
    assert (result.returncode, result.stderr) == (code, f"boxwood: error: {message}\n")


NO_NOTES = ["2>&-", "2>/dev/full"]


@pytest.mark.full
@POSIX
@pytest.mark.parametrize(
    ("line", "code", "end"),
    [
        *(("predict species.json iris.csv -o labelled.csv", DONE, end) for end in NO_NOTES),
        *(("explain nothing.csv -k 3 --debug", DATA, end) for end in variants(*NO_NOTES)),
        *(("explain iris.csv -k 3 --nothing", USAGE, end) for end in NO_NOTES),
        *(("demo >&-", DATA, end) for end in variants(*reversed(NO_NOTES))),
        *(("--help >/dev/full", DATA, end) for end in NO_NOTES),
    ],
)
def test_the_exit_code_says_what_happened_where_no_note_can_be_shown(folder, line, code, end):
    if not os.path.exists("/dev/full"):
        pytest.skip("no device that is full")
    args = ["bash", "-c", f'"$0" -m boxwood {line} {end}', sys.executable]
    assert subprocess.run(args, cwd=folder, capture_output=True, check=False).returncode == code
    if code == DONE:
        (folder / "labelled.csv").unlink()


@POSIX
@pytest.mark.parametrize("out", some(["o.parquet", "o.csv", "o.jsonl"]))
def test_a_full_disk_is_told_and_leaves_nothing(folder, tmp_path, out):
    """A limit on the size of files stands for a full disk: the system refuses to write in the same way."""
    import resource

    duckdb.execute(
        f'COPY (SELECT random() AS "petal length", random() AS "petal width", hash(i) AS h FROM range(20000) t(i)) '
        f"TO '{tmp_path / 't.parquet'}'"
    )
    before = sorted(os.listdir(tmp_path))
    args = [sys.executable, "-m", "boxwood", "predict", str(folder / "species.json"), "t.parquet", "-o", out]
    limited = subprocess.run(
        args,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )
    assert limited.returncode == DATA, limited.stderr
    assert limited.stderr.startswith("boxwood: error: cannot write"), limited.stderr
    assert limited.stderr.splitlines()[0].count("{") == 0
    assert "is the disk full?" in limited.stderr
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 9 GiB"),
        duckdb.OutOfMemoryException("Out of Memory Error: Allocation failure"),
        RuntimeError("std::bad_alloc"),
        duckdb.InternalException("bad allocation"),
    ],
)
def test_too_little_memory_is_no_bug(folder, monkeypatch, error):
    def hungry(*args, **kwargs):
        raise error

    monkeypatch.setattr("boxwood.table.memory.file_in_memory", hungry)
    result = run(folder, "explain", "{}/iris.csv", "-k", 3, code=DATA)
    assert result.stderr.startswith(f"boxwood: error: not enough memory: {error}\n  use fewer columns")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full is part of Linux")
def test_a_full_standard_output_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("x,seg\n" + "1,a\n2,b\n" * 20)
    with open("/dev/full", "w") as full:
        args = [sys.executable, "-m", "boxwood", "explain", "t.csv", "-l", "seg"]
        done = subprocess.run(args, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert "cannot write standard output: No space left on device; is the disk full?" in done.stderr
