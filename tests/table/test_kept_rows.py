"""Every way to label a table keeps all of its rows; an explanation leaves out what cannot be a row."""

import csv
import gzip
import io

import numpy as np
import pyarrow.parquet as pq
import pytest

import boxwood as bw
from boxwood.cli import boxwood as command
from boxwood.errors import DataError
from boxwood.table.labels import read_row
from tests.scale import law
from tests.table.test_inner_tables import workbook

NAMES = ["name", "age", "income", "comment"]
ABOVE = [["Customers 2026"], ["all branches", "", "", ""], []]
BELOW = [["", "years", "EUR", ""], ["P000", "refused", "refused", "text 0"], ["Name", "How old?", "How much?", "?"]]
END = [
    *(["Total Solutions GmbH", "44", "", ""], ["Total", "44", "", ""], ["A17", "", "", ""], ["", "", "", ""]),
    *(
        ["Source: PAS", "", "", ""],
        ["Average", "", "17.5", ""],
        ["Grand total", "", "2500", ""],
        ["mean", "3", "4", "x"],
    ),
    *(
        ["* without returns", "", "", ""],
        ["Müller GmbH", "", "", ""],
        ["Sum", "", "", "text"],
        ["Total Wine", "", "9", ""],
    ),
]
KINDS = {"ids": lambda i: str(i + 1), "codes": lambda i: f"P{i + 1:03d}", "firms": lambda i: f"Firm {i} AG"}


@pytest.fixture(scope="module")
def model():
    rows = np.array([[20.0, 1000], [30, 1300], [50, 1500], [59, 1580]])
    return bw.explain(rows, ["low", "low", "high", "high"], columns=["age", "income"])


def table_of(rng, n=60):
    """Return rows of customers among which others stand that look like titles, units, totals and notes."""
    kind = KINDS[str(rng.choice(list(KINDS)))]
    rows = [[kind(i), str(20 + i % 40), str(1000 + 10 * i), f"text {i + 1}"] for i in range(n)]
    for _ in range(int(rng.integers(0, 4))):
        rows.insert(int(rng.integers(1, n)), ["Total", "44", "", ""])
    total = [["Total", str(sum(int(row[1]) for row in rows)), "", ""]] if rng.random() < 0.2 else []
    below = [BELOW[i] for i in rng.choice(3, int(rng.integers(0, 3)), replace=False)]
    return [*below, *rows, *[END[i] for i in rng.integers(0, len(END), int(rng.integers(0, 4)))], *total]


def written(path, rows, delimiter):
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
    content = file.getvalue().encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


@law(60)
def test_predict_keeps_every_row(tmp_path, model, seed):
    rng = np.random.default_rng(seed)
    rows, above = table_of(rng), [ABOVE[i] for i in range(3) if rng.random() < 0.2]
    form = str(rng.choice(["t.csv", "t.tsv", "t.csv.gz", "t.xlsx"]))
    path, out = tmp_path / form, str(tmp_path / "o.csv")
    if form == "t.xlsx":
        cells = [[int(text) if text.isdigit() else text or None for text in row] for row in rows]
        workbook(path, {"one": [*above, NAMES, *cells]})
        while not any(rows[-1]):
            rows.pop()  # a sheet has no empty rows at its end
    else:
        written(path, [*above, NAMES, *rows], "\t" if form == "t.tsv" else ",")
    labelled = bw.write_labels(model, str(path), out)
    with open(out, encoding="utf-8", newline="") as file:
        found = list(csv.reader(file))
    assert found[0] == [*NAMES, "cluster"]
    assert [row[:-1] for row in found[1:]] == rows
    assert labelled.n_rows == len(rows)
    assert labelled.n_empty == [row[-1] for row in found[1:]].count("")
    for row in found[1:]:
        if row[1].isdigit() and row[2].isdigit() and row[0] not in ("Total", "Average", "Grand total"):
            assert row[-1] == ("low" if model.predict([[int(row[1]), int(row[2])]])[0] == "low" else "high")
    if seed % 2 and not above:  # an explanation refuses a table whose line of names is in doubt
        check_scanned(tmp_path, model, path, [row[-1] or None for row in found[1:]])


def check_scanned(folder, model, path, clusters):
    """Compare the rows that are written from a scan, of all columns and of some, with those from the file."""
    one, other, few = (folder / f"{name}.parquet" for name in ("one", "other", "few"))
    written = bw.write_labels(model, path, one)
    with bw.scan(path) as source, bw.scan(path, columns=["income", "age"]) as some:
        assert bw.write_labels(model, source, other) == written == bw.write_labels(model, some, few)
    found = pq.read_table(other)
    assert found.equals(pq.read_table(one))
    assert found.column("cluster").to_pylist() == clusters
    assert pq.read_table(few).equals(found.select(["income", "age", "cluster"]))


CUSTOMERS = [[f"{i + 1}", str(20 + i % 40), str(1000 + 10 * i), f"text {i + 1}"] for i in range(60)]
FIRMS = [[f"Firm {i} AG", *row[1:]] for i, row in enumerate(CUSTOMERS)]
LEFT_OUT = [  # rows, how many of them are none
    ([["P000", "refused", "refused", "text 0"], *([f"P{row[0]}", *row[1:]] for row in CUSTOMERS)], 0),
    ([["Ann", "refused", "n/k", "fine"], *FIRMS], 0),
    ([*FIRMS, ["Total Solutions GmbH", "44", "", ""]], 0),
    ([["Total", "44", "", ""]] * 7 + [*FIRMS, ["Total", "44", "", ""]], 0),
    ([*FIRMS, ["Total", "44", "", ""]], 0),
    ([*FIRMS, ["Average", "44", "", ""]], 0),
    ([*CUSTOMERS, ["A17", "", "", ""]], 0),
    ([*CUSTOMERS, ["K 17", "", "", ""]], 0),
    ([*CUSTOMERS, ["Müller GmbH", "", "", ""]], 0),
    ([["", "years", "EUR", ""], *FIRMS], 1),
    ([*FIRMS, ["Total", str(sum(int(row[1]) for row in FIRMS)), "", ""]], 1),
    ([*FIRMS, ["Average", "", "1295", ""]], 1),
    ([*CUSTOMERS, ["Total", "44", "", ""]], 1),
    ([*CUSTOMERS, ["Source: PAS", "", "", ""]], 1),
    ([*CUSTOMERS, ["As of 31.12.2026", "", "", ""]], 1),
]


@pytest.mark.parametrize("case", range(len(LEFT_OUT)))
@pytest.mark.parametrize("form", ["t.csv", "t.csv.gz", "t.xlsx"])
@pytest.mark.crossed
def test_an_explanation_leaves_out_what_cannot_be_a_row(tmp_path, model, case, form):
    rows, n_others = LEFT_OUT[case]
    path = tmp_path / form
    if form == "t.xlsx":
        cells = [[int(text) if text.isdigit() else text or None for text in row] for row in rows]
        workbook(path, {"one": [NAMES, *cells]})
    else:
        written(path, [NAMES, *rows], ",")
    with bw.scan(str(path)) as source:
        assert source.n_rows == len(rows) - n_others
        assert len([note for note in source.notes if "left out" in note]) == n_others
    written_rows = bw.write_labels(model, path, tmp_path / "o.parquet")
    clusters = pq.read_table(tmp_path / "o.parquet").column("cluster").to_pylist()
    assert (len(clusters), clusters.count(None)) == written_rows[:2]
    check_scanned(tmp_path, model, path, clusters)


def test_a_scan_of_a_file_that_changed_since_is_not_written(tmp_path, model):
    path, out = tmp_path / "t.csv", tmp_path / "o.parquet"
    written(path, [NAMES, *CUSTOMERS], ",")
    with bw.scan(path) as source, bw.scan(path, columns=["income"]) as income:
        with pytest.raises(DataError, match=r"t\.csv lacks a column the rules need: age"):
            bw.write_labels(model, income, out)
        written(path, [NAMES, *CUSTOMERS[1:]], ",")
        with pytest.raises(DataError, match=r"t\.csv changed while it was read"):
            bw.write_labels(model, source, out)
    assert not out.exists()


def test_why_counts_the_rows_that_predict_writes(tmp_path, model):
    path = tmp_path / "t.csv"
    written(path, [NAMES, BELOW[0], *CUSTOMERS], ",")
    assert read_row(str(path), 2, {"age": None, "income": None}) == {"age": 20.0, "income": 1000.0}


def test_titles_above_the_names_are_told_to_who_asks_for_quiet(tmp_path, model, capsys):
    path, saved, out = tmp_path / "t.csv", str(tmp_path / "m.json"), str(tmp_path / "o.csv")
    model.save(saved)
    written(path, [["Customers 2026"], NAMES, BELOW[0], *CUSTOMERS], ",")
    with pytest.raises(SystemExit) as ended:
        command(["predict", saved, str(path), "-o", out, "-q"])
    assert ended.value.code == 0
    assert capsys.readouterr().err == "boxwood: left out line 1 above the names of columns: 'Customers 2026'\n"
