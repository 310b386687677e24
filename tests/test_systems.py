"""Other systems, pretended: streams of cp1252, no fork, no SIGTERM, no locks, and files that cannot move while open."""

import errno
import io
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pandas as pd
import pytest

import boxwood as bw
from boxwood import cli
from boxwood._files import replacing
from boxwood.cli import _terminal, _verbs
from boxwood.errors import DataError
from boxwood.explanation import model_file
from boxwood.render.page import page
from boxwood.table import options

WORDS = "Łódź,größe\n" + "".join(f"{i % 2 * 50 + i},{i}\n" for i in range(40))
POOR = """
    import os, signal, sys
    lacking = ("fork", "forkpty", "register_at_fork", "sched_getaffinity", "getuid", "geteuid", "pread", "pwrite")
    for name in (*lacking, "O_NOFOLLOW", "O_DIRECTORY"):
        if hasattr(os, name):
            delattr(os, name)
    for name in ("SIGPIPE", "SIGHUP", "SIGALRM", "setitimer"):
        delattr(signal, name)
    for name in ("fcntl", "resource", "pwd", "grp", "termios"):
        sys.modules[name] = None
"""


def boxwood(folder, *arguments, before="", **environment):
    program = f"{textwrap.dedent(before)}\nfrom boxwood.__main__ import main\nmain()\n"
    source = str(Path(bw.__file__).parents[1])
    command = [sys.executable, "-c", program, *map(str, arguments)]
    variables = {**os.environ, "PYTHONPATH": source, **environment}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, check=False)


def test_what_cp1252_lacks_is_escaped_in_texts_and_refused_in_code(monkeypatch):
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="cp1252", newline="\n"))
    _terminal.escape_unknown()
    _terminal.show("größe, Łódź")
    with pytest.raises(DataError, match=r"^standard output is cp1252, which has no '\\u0141'\nwrite to a file"):
        _terminal.show('"größe" > 1 AND "Łódź" > 2', is_code=True)
    _terminal.show('"größe" > 1', is_code=True)
    sys.stdout.flush()
    assert printed.getvalue().decode("cp1252") == 'größe, \\u0141ód\\u017a\n"größe" > 1\n'


@pytest.mark.full
def test_names_that_cp1252_lacks_are_printed_as_escapes_and_code_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text(WORDS, encoding="utf-8")
    narrow = {"PYTHONIOENCODING": "cp1252", "COLUMNS": "20"}
    told = boxwood(tmp_path, "explain", "t.csv", "-k", "2", "--scale", "none", "--save", "m.json", **narrow)
    assert told.returncode == 0, told.stderr
    assert "\\u0141ód\\u017a" in told.stdout.decode("cp1252")
    code = boxwood(tmp_path, "export", "m.json", "--to", "sql", **narrow)
    assert code.returncode == 3
    assert code.stdout == b""
    assert code.stderr.decode("cp1252").splitlines() == [
        "boxwood: error: standard output is cp1252, which has no '\\u0141'",
        "  write to a file, or set the environment variable PYTHONUTF8=1",
    ]
    in_utf8 = boxwood(tmp_path, "export", "m.json", "--to", "sql", PYTHONIOENCODING="utf-8")
    assert "Łódź" in in_utf8.stdout.decode()


@pytest.mark.full
def test_help_is_printed_in_any_encoding(tmp_path):
    for arguments in (["--help"], ["explain", "--help"], ["export", "--help"], ["demo"]):
        told = boxwood(tmp_path, *arguments, PYTHONIOENCODING="ascii")
        assert (told.returncode, b"Traceback" in told.stderr) == (0, False), (arguments, told.stderr)


@pytest.mark.full
def test_the_command_works_without_fork_locks_and_reads_at_a_position(tmp_path):
    (tmp_path / "t.csv").write_text(WORDS, encoding="utf-8")
    outputs = ["-o", "r.html", "-o", "r.sql", "-o", "r.json"]
    for engine in ("memory", "duckdb"):
        told = boxwood(tmp_path, "explain", "t.csv", "-k", "2", "--engine", engine, *outputs, before=POOR)
        assert told.returncode == 0, told.stderr
    told = boxwood(tmp_path, "predict", "r.json", "t.csv", "-o", "out.parquet", before=POOR)
    assert told.returncode == 0, told.stderr
    assert duckdb.sql(f"SELECT count(DISTINCT cluster) FROM '{tmp_path / 'out.parquet'}'").fetchall() == [(2,)]


@pytest.fixture
def windows_files(monkeypatch, tmp_path):
    """Files that are open can neither be replaced nor removed, nor can the folders that they are in."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()

    def refusing(function, n_paths):
        def refuse_open(*arguments, **options):
            for path in arguments[:n_paths]:
                if "dir_fd" not in options:
                    refuse(path)
            return function(*arguments, **options)

        return refuse_open

    def refuse(path):
        path = os.path.realpath(path)
        for number in os.listdir("/proc/self/fd"):
            try:
                held = os.readlink(f"/proc/self/fd/{number}")
            except FileNotFoundError:
                continue
            is_lock = os.path.isdir(held)  # there are none on Windows
            if not is_lock and (held == path or held.startswith(path + os.sep)):
                refused.append(held)
                raise PermissionError(errno.EACCES, "it is open", held)

    refused = []
    for module, name, n_paths in ((os, "replace", 2), (os, "rename", 2), (os, "remove", 1), (os, "unlink", 1)):
        monkeypatch.setattr(module, name, refusing(getattr(module, name), n_paths))
    monkeypatch.setattr(shutil, "rmtree", refusing(shutil.rmtree, 1))
    yield refused
    assert refused == []  # some callers ignore errors
    assert os.listdir(tmp_path / "temporary") == []


on_linux = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="asks Linux which files are open")


@on_linux
def test_the_pretence_holds(windows_files, tmp_path):
    (tmp_path / "a").write_text("old")
    with open(tmp_path / "a"), pytest.raises(PermissionError, match="it is open"):
        os.remove(tmp_path / "a")
    with open(tmp_path / "a"), pytest.raises(PermissionError, match="it is open"):
        shutil.rmtree(tmp_path)
    windows_files.clear()


@on_linux
def test_no_file_is_replaced_or_removed_while_it_is_open(windows_files, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(WORDS, encoding="utf-8")
    explanation = bw.explain(pd.read_csv(table), n_clusters=2, random_state=0)
    for _ in range(2):  # new files, and files that are replaced
        explanation.save(tmp_path / "m.json")
        for name, write in (("html", explanation.to_html), ("txt", explanation.to_text)):
            with replacing(tmp_path / f"r.{name}") as temporary:
                Path(temporary).write_text(write(), encoding="utf-8")
        for end in ("csv", "parquet"):
            bw.write_labels(explanation, str(table), str(tmp_path / f"labelled.{end}"))
        bw.write_labels(explanation, str(tmp_path / "labelled.parquet"), str(tmp_path / "b.parquet"), column="again")


@on_linux
def test_temporary_files_of_tables_in_batches_are_closed_before_they_are_removed(windows_files, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(WORDS, encoding="utf-8")
    with bw.scan(str(table)) as source:
        explanation = bw.explain(source, n_clusters=2, random_state=0)
        assert explanation.n_rows == 40
        for method in ("imm", "expand", "greedy"):
            bw.explain(source, n_clusters=2, random_state=0, method=method)
    with pytest.raises(ValueError, match="n_clusters"), bw.scan(str(table)) as source:
        bw.explain(source, n_clusters=-1)


def test_the_command_begins_without_sigterm(monkeypatch, capsys):
    monkeypatch.delattr(signal, "SIGTERM")
    monkeypatch.setattr(sys, "argv", ["boxwood", "--version"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert (left.value.code, capsys.readouterr().out) == (0, f"boxwood, version {bw.__version__}\n")


def test_a_file_that_may_not_be_replaced_is_named(tmp_path, monkeypatch):
    def refuse(source, target):
        raise PermissionError(errno.EACCES, "Access is denied", source, None, target)

    monkeypatch.setattr(os, "replace", refuse)
    said = r"^cannot write '.*r\.txt': is it open in another program\?$"
    with pytest.raises(PermissionError, match=said), replacing(tmp_path / "r.txt") as temporary:
        Path(temporary).write_text("new")
    assert os.listdir(tmp_path) == []


def test_files_of_engines_are_hidden_under_either_separator(monkeypatch):
    assert options._is_hidden("year=2024/_temporary/part-0.parquet")
    monkeypatch.setattr(os, "sep", "\\")
    assert options._is_hidden("year=2024\\_temporary\\part-0.parquet")
    assert not options._is_hidden("year=2024\\part_0.parquet")


@contextmanager
def named(system):
    """Pretend a name of the system for a moment only: pathlib and pytest ask for it, too."""
    before, os.name = os.name, system
    try:
        yield
    finally:
        os.name = before


def test_a_closed_pipe_of_windows_ends_the_command_without_a_message():
    closed, bad = OSError(errno.EINVAL, "Invalid argument"), OSError(errno.EINVAL, "Invalid argument", "t.csv")
    assert _verbs._is_closed_pipe(BrokenPipeError())
    assert not _verbs._is_closed_pipe(closed)
    with named("nt"):
        assert _verbs._is_closed_pipe(closed)
        assert not _verbs._is_closed_pipe(bad)
        assert not _verbs._is_closed_pipe(ValueError())


def test_line_ends_are_the_same_on_all_systems(tmp_path, monkeypatch):
    def open_on_windows(path, mode="r", *, newline=None, **options):
        if "w" in mode and "b" not in mode and newline is None:
            newline = "\r\n"
        return open(path, mode, newline=newline, **options)

    for module in (model_file, page):
        monkeypatch.setattr(module, "open", open_on_windows, raising=False)
    explanation = bw.explain([[1.0], [2.0], [8.0]], [0, 0, 1])
    explanation.save(tmp_path / "m.json")
    explanation.to_html(tmp_path / "r.html")
    for name in os.listdir(tmp_path):
        assert b"\r" not in (tmp_path / name).read_bytes(), name
