"""Rules that boxwood wrote as programs, run: by Python, Node and SQLite."""

import json
import shutil
import sqlite3
import subprocess

import pytest

from boxwood.table.sql import as_name


def program(source):
    """Return what a program of Python defines."""
    names = {}
    exec(source, names)
    return names


def in_sqlite(expression, rows):
    """Return what an expression gives for each row of a table, whose rows are mappings."""
    with sqlite3.connect(":memory:") as con:
        con.execute(f"CREATE TABLE t ({', '.join(map(as_name, rows[0]))})")
        con.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(rows[0]))})", [(*row.values(),) for row in rows])
        return [name for (name,) in con.execute(f"SELECT {expression} FROM t ORDER BY rowid").fetchall()]


RUN = """
const fs = require("fs");
const table = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const found = table.map((row, i) => {
  for (const name in row) {
    if (row[name] === null && i % 3 === 0) row[name] = undefined;
    else if (row[name] === null && i % 3 === 1) row[name] = NaN;
  }
  return cluster(row);
});
fs.writeFileSync(process.argv[3], JSON.stringify(found));
"""


def in_node(source, table, folder):
    """Return what the function gives for each row; missing values are null, NaN and undefined in turns."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed, so JavaScript cannot run")
    (folder / "run.js").write_text(f'"use strict";\n{source}\n{RUN}', encoding="utf-8")
    infinite = json.dumps(table).replace("Infinity", "1e999")
    (folder / "rows.json").write_text(infinite, encoding="utf-8")
    subprocess.run(["node", folder / "run.js", folder / "rows.json", folder / "found.json"], check=True)
    return json.loads((folder / "found.json").read_text(encoding="utf-8"))
