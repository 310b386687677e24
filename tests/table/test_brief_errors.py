"""Errors quote a little of what was given, however long that is, and name what cannot be found or written."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import boxwood as bw
from boxwood._files import naming
from boxwood.errors import DataError
from boxwood.table import ReadOptions, label_rows
from boxwood.table.labels import Rules
from tests.reading import read_file
from tests.scale import law

HUGE = 5000
CALLS = {
    "an unknown column": lambda path: read_file(path, columns=["no"]),
    "an unknown column of a frame": lambda path: bw.scan(path, columns=["no"]),
    "text where numbers must be": lambda path: label_rows(path, path + ".csv", Rules("x", {"x": names_in(path)[0]})),
    "a column that is needed": lambda path: label_rows(path, path + ".csv", Rules("x", {"x": "x" * HUGE})),
    "a column that is there": lambda path: label_rows(path, path + ".csv", Rules("1", {}), column=names_in(path)[1]),
    "no numbers": lambda path: read_file(path, numbers=names_in(path)),
    "an encoding": lambda path: read_file(path, ReadOptions(encoding="x" * HUGE)),
    "weights": lambda path: read_file(path, weights=names_in(path)[0]),
}


def names_in(path):
    with open(path) as file:
        return file.readline().rstrip("\n").split(",")


@law(40)
def test_errors_quote_little(tmp_path, seed):
    rng = np.random.default_rng(seed)
    sign = str(rng.choice(["x", "\x01", "ä", "x y"]))
    names, cells = (
        [sign * HUGE + str(j) for j in range(3)],
        [[sign * HUGE + f"c{i}{j}" for j in range(3)] for i in range(4)],
    )
    path = tmp_path / "t.csv"
    path.write_text("\n".join(",".join(row) for row in [names, *cells]))
    call = list(CALLS.values())[seed % len(CALLS)]
    with pytest.raises(ValueError, match=r"\w") as raised:
        call(str(path))
    message = str(raised.value)
    assert max(map(len, message.split("\n"))) <= 2000
    assert sign * 201 not in message


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_links_that_lead_nowhere_are_named(tmp_path):
    one, other, gone = (tmp_path / name for name in ("one.csv", "other.csv", "gone.csv"))
    one.symlink_to(other)
    other.symlink_to(one)
    gone.symlink_to("nowhere.csv")
    with pytest.raises(DataError, match=r"one\.csv is a link, but leads to no file: .*link"):
        read_file(str(one))
    with pytest.raises(DataError, match=r"gone\.csv is a link, but leads to no file: there is no nowhere\.csv"):
        read_file(str(gone))


def test_a_full_disk_is_told_with_the_name():
    with (
        pytest.raises(OSError, match=r"^cannot write o\.csv: No space left on device; is the disk full\?$"),
        naming("o.csv"),
    ):
        raise OSError(28, "No space left on device")


@pytest.mark.skipif(os.name != "posix", reason="the locale C of POSIX")
def test_names_that_the_system_cannot_have_are_refused(tmp_path):
    code = """if True:
        import json, boxwood as bw
        ex = bw.explain([[1.0], [2.0]], ["a", "b"])
        said = []
        for call in (lambda: ex.save("\\xe9.json"), lambda: bw.load("\\xe9.json"), lambda: bw.scan("\\xe9.csv")):
            try:
                said.append(str(call()))
            except OSError as error:
                said.append(str(error))
        print(json.dumps(said))"""
    more = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **more}, capture_output=True, cwd=tmp_path)
    said = json.loads(done.stdout)
    assert len(said) == 3
    assert all(line.startswith("no file can be called '\\xe9.") and "\n" not in line for line in said)
