"""Tables of the papers' page become files with a line for each printed number."""

import csv

from benchmarks.papers import stored

PAGE = """# The experiments

A quick run with few rows.

| paper | reproduced |
| --- | --- |
| 000 | 1 |

## 000: A paper

### 000, Table 1

| data | numbers | paper | ours, least to largest | verdict | setting | closest |
| --- | --- | --- | --- | --- | --- | --- |
| iris | A / B / seconds of A | 1.0 / 2.0 / 3 | 1 to 1.02 / 2.5 / 4 | reproduced (A); not reproduced (B): so | raw | 2 |
| wine | A | 1.0 | 1.5 | not reproduced: why (B), or not: so | raw, \\| scaled | - |

Time: 1.0 seconds.

### 000, Table 2

The paper: seconds of A

| data | numbers |
| --- | --- |
| iris | 1 |

### 000, Theorem 5 (left)

#### One

| K | ours |
| --- | --- |
| 2 | 1.5 |

#### Two

| K | ours |
| --- | --- |
| 3 | 1.6 |

#### A drawing

| tree |
| --- |
| x |

## Errata

| a | b |
| --- | --- |
| c | d |
"""


def test_files_of_a_page():
    found = {name: rows for name, _, _, rows in stored.files_of(PAGE)}
    assert list(found) == ["000_table_1.csv", "000_theorem_5_left_1.csv", "000_theorem_5_left_2.csv"]
    assert found["000_table_1.csv"] == [
        list(stored.LINES),
        ["iris", "A", "1.0", "1", "1.02", "reproduced", "raw", "", ""],
        ["iris", "B", "2.0", "2.5", "2.5", "not reproduced", "raw", "so", "2"],
        ["wine", "A", "1.0", "1.5", "1.5", "not reproduced", "raw, | scaled", "why (B), or not: so", "-"],
    ]
    assert found["000_theorem_5_left_2.csv"] == [["K", "ours"], ["3", "1.6"]]


def test_another_run_replaces_its_own_files_alone(tmp_path):
    (tmp_path / "index.md").write_text(PAGE, encoding="utf-8")
    out = tmp_path / "numbers"
    stored.main([str(tmp_path), str(out)])
    part = PAGE.replace("A quick run", "A run at full size").partition("### 000, Theorem 5")[0]
    (tmp_path / "index.md").write_text(part, encoding="utf-8")
    stored.main([str(tmp_path), str(out)])
    with (out / "runs.csv").open(encoding="utf-8", newline="") as file:
        sizes = [(row["file"], row["run"]) for row in csv.DictReader(file)]
    assert sizes == [
        ("000_table_1.csv", "full size"),
        ("000_theorem_5_left_1.csv", "quick"),
        ("000_theorem_5_left_2.csv", "quick"),
    ]
