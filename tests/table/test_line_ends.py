"""Files of text whose lines end in several ways, in quotes and out of them."""

import csv
import gzip
import io

import numpy as np
import pytest

import boxwood as bw
from boxwood.table import label_rows
from boxwood.table.duck import open_table
from boxwood.table.labels import Rules
from tests.reading import read_file
from tests.scale import law

ENDS = ["\n", "\r\n", "\r", "\r\r\n"]
QUOTED = ["x\ry", "x\ny", "x\r\ny", "\r", "x\r", "\n", 'say "so"\n', "a,b;c\t|"]


def text_of(rng, rows, delimiter):
    """Return rows as text: lines end in up to three ways, one after the other or mixed; some fields need no quotes."""
    ends = rng.choice(ENDS, int(rng.integers(1, 4)), replace=False)
    of = np.sort(rng.integers(0, len(ends), len(rows))) if rng.random() < 0.5 else rng.integers(0, len(ends), len(rows))

    def field(text):
        must = any(sign in text for sign in '\r\n"' + delimiter)
        return '"{}"'.format(text.replace('"', '""')) if must or rng.random() < 0.05 else text

    lines = [delimiter.join(map(field, row)) + str(ends[i]) for row, i in zip(rows, of, strict=True)]
    return "".join(lines) if rng.random() < 0.8 else "".join(lines).rstrip("\r\n")


@law(40)
def test_lines_may_end_in_any_ways(tmp_path, seed):
    rng = np.random.default_rng(seed)
    n, delimiter = int(rng.choice([3, 30, 300])), str(rng.choice([",", ";", "\t"]))
    words, p = rng.choice(QUOTED, 3), rng.choice([0, 0.1, 1])
    names = ["n", "w", str(rng.choice(words)) + "h" if rng.random() < 0.3 else "q", "z"]
    rows = [[f"{i}", str(rng.choice(words)) if rng.random() < p else f"w{i}", f"{rng.random()}", "a"] for i in range(n)]
    content = text_of(rng, [names, *rows], delimiter).encode("utf-8-sig" if rng.random() < 0.2 else "utf-8")
    path = str(tmp_path / f"t.csv{'.gz' * (rng.random() < 0.3)}")
    with open(path, "wb") as file:
        file.write(gzip.compress(content) if path.endswith("gz") else content)
    with open_table(path) as table:
        assert (list(table.names), [*map(list, table.fetch(f"SELECT * FROM {table.relation}"))]) == (names, rows)
    out = tmp_path / "o.csv"
    assert label_rows(path, str(out), Rules("x", {"x": "n"})).n_rows == n
    written = list(csv.reader(io.StringIO(out.read_bytes().decode(), newline="")))
    assert written == [[*names, "cluster"], *([*row, f"{row[0]}.0"] for row in rows)]


@pytest.mark.parametrize("end", ["\r\r\n", "\r"])
def test_files_put_together_are_explained_as_one(tmp_path, end):
    path, plain = tmp_path / "t.csv", tmp_path / "plain.csv"
    rows = [f"{i},{'ab'[i % 2]},{'low' if i < 200 else 'high'}\n" for i in range(400)]
    plain.write_text("".join(["size,kind,group\n", *rows]))
    path.write_bytes(
        "".join(["size,kind,group\r\n", *rows[:100], *(row.replace("\n", end) for row in rows[100:])]).encode()
    )
    here, there = (read_file(str(each), labels="group") for each in (path, plain))
    np.testing.assert_array_equal(here.X, there.X)
    with bw.scan(path) as source, bw.scan(plain) as same:
        assert source.n_rows == 400
        assert bw.explain(source, "group").tree == bw.explain(same, "group").tree
