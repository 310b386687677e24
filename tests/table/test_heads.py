"""Files with titles above the names of columns, lines below them that describe the columns, and totals at the end."""

import csv
import datetime
import gzip
import io

import numpy as np
import pytest

import boxwood as bw
from boxwood.errors import DataError
from boxwood.table import ReadOptions, label_rows
from boxwood.table.csv import _head_of
from boxwood.table.duck import open_table
from boxwood.table.heads import _is_sentence, rows_told
from boxwood.table.labels import Rules
from tests.reading import read_file
from tests.scale import law
from tests.table.test_inner_tables import workbook

DAY = datetime.datetime(2026, 2, 28)
WORDS = ["red", "green", "blue", "a, b", 'say "so"', "two\nlines", "", "n/a", "absent", "7a", "x;y"]
QUESTIONS = ["How old are you?", "The app is\neasy to use; agree?", "kg", '{"ImportId":"Q1"}', "When, and how?", "CHF"]
TITLES = ["Grades 2026", "School of Vienna, all classes", "as of 2026-03-01", 'The "new" list\nof 2026', "", "12"]


def values_of(kind, rng, n):
    """Return the texts of a column, of which some are missing."""
    made = {
        "whole": lambda: str(rng.integers(-9, 99)),
        "decimal": lambda: f"{rng.normal() * 100:.2f}",
        "comma": lambda: f"{rng.normal() * 1000:.1f}".replace(".", ","),
        "money": lambda: f"{rng.integers(1, 10**6) / 100:,.2f} €",
        "share": lambda: f"{rng.integers(0, 100)} %",
        "date": lambda: f"2026-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}",
        "moment": lambda: f"{rng.integers(1, 29)}.{rng.integers(1, 13)}.2026 1{rng.integers(0, 9)}:30",
        "truth": lambda: str(rng.choice(["TRUE", "false", "yes", "No"])),
        "word": lambda: str(rng.choice(WORDS)),
        "id": lambda: f"K-{rng.integers(10**9)}",
    }
    return [str(rng.choice(["", "NA", "-"])) if rng.random() < 0.1 else made[kind]() for _ in range(n)]


PLAIN = ("whole", "decimal", "money", "share", "date", "moment", "truth", "comma")


def table_of(rng, *, at_least=0):
    """Return names and rows of a table; IN: at_least: number of columns of plain values."""
    kinds = [*rng.choice(PLAIN, at_least), *rng.choice([*PLAIN, "word", "id"], int(rng.integers(2, 6)))]
    names = [f"{rng.choice(['col', 'how many', 'x;', 'a,b', 'Q'])} {j}" for j in range(len(kinds))]
    columns = [values_of(kind, rng, int(n)) for kind, n in zip(kinds, [rng.integers(14, 60)] * len(kinds), strict=True)]
    return names, [list(row) for row in zip(*columns, strict=True)]


def text_of(records, delimiter, end="\n"):
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator=end).writerows(records)
    return file.getvalue()


def rows_in(text, delimiter=","):
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def head_of(text, delimiter=None):
    """Return the delimiter and the head of a file; None if it has none."""
    return _head_of(text.splitlines(), delimiter)


@law(2000)
def test_no_row_of_a_table_is_taken_for_a_head(seed):
    rng = np.random.default_rng(seed)
    names, rows = table_of(rng)
    if rng.random() < 0.3:  # names that are missing, or words of the table
        names = [str(rng.choice(["", name, *WORDS])) for name in names]
    for i in range(int(rng.integers(0, 4))):  # rows that lack most of their values
        rows[i] = [value if rng.random() < 0.3 else "" for value in rows[i]]
    if not any(names):
        names[0] = "x"
    delimiter = str(rng.choice([",", ";", "\t", "|"]))
    assert head_of(text_of([names, *rows], delimiter)) is None


@law(500)
def test_titles_and_descriptions_are_found(seed):
    rng = np.random.default_rng(seed)
    names, rows = table_of(rng, at_least=4)
    width, delimiter = len(names), str(rng.choice([",", ";", "\t", "|"]))
    titles = [str(title) for title in rng.choice(TITLES[:-1], int(rng.integers(0, 4)))]
    padded = [[title, *[""] * (width - 1)] if rng.random() < 0.5 else [title] if title else [] for title in titles]
    below = [[f"{rng.choice(QUESTIONS)} ({i}, {j})" for j in range(width)] for i in range(int(rng.integers(0, 3)))]
    found = head_of(text_of([*padded, names, *below, *rows], delimiter))
    if not (any(titles) or below):
        assert found is None
        return
    parted_by, head = found
    assert (parted_by, head.names, head.first_row) == (delimiter, names, rows[0])
    assert len(head.records) == len(padded) + 1 + len(below)
    assert len([*head.hints(0)]) == any(titles) + bool(below)


HEADS = {
    "a title": ["Grades 2026"],
    "a title of all fields": ["Grades 2026;;;;"],
    "titles and empty lines": ["", "Grades 2026", "as of 2026-03-01;;", "", '"of ""all""', 'classes"'],
    "names of groups": [";;Size;;Colour"],
    "a date beside its word": ["Grades;;;;", "as of;02.04.2026 08:15;;;"],
}
BELOW = {
    "nothing": [],
    "questions": ['"How large?', 'In cm";How heavy?;When?;Which?;Colour'],
    "questions and marks": ["How large?;How heavy?;When?;Which?;Colour", '"{""Q"":""1""}";"{""Q"":""2""}";when;;y'],
    "units": ["cm;kg;date;;"],
}
NAMES = "size;weight;day;kind;group"
KINDS = ['"a\nz"', "b"]
ROWS = [f"{i},5;{i % 7} €;2026-01-{i % 28 + 1:02d};{KINDS[i % 2]};{'low' if i < 20 else 'high'}" for i in range(40)]
USED = ("size", "weight", "day", "kind", "group")


@pytest.mark.crossed
@pytest.mark.parametrize("above", [None, *HEADS])
@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_with_a_head_is_the_file_without(tmp_path, above, below, end, packed):
    lines = [*HEADS.get(above, []), NAMES, *BELOW[below], *ROWS]
    path, plain = (str(tmp_path / name) for name in (f"t.csv{'.gz' * packed}", "plain.csv"))
    content = "\n".join([*lines, ""]).replace("\n", end).encode("utf-8-sig")
    with open(path, "wb") as file:
        file.write(gzip.compress(content) if packed else content)
    with open(plain, "wb") as file:
        file.write("\n".join([NAMES, *ROWS, ""]).replace("\n", end).encode())
    here, there = (read_file(each, labels="group", missing="drop") for each in (path, plain))
    np.testing.assert_array_equal(here.X, there.X)
    assert (here.columns, here.names, here.labels.tolist()) == (there.columns, USED, there.labels.tolist())
    said = [hint for hint in here.hints if "left out line" in hint]
    assert len(said) == (above is not None) + (below != "nothing")
    with bw.scan(path) as source, bw.scan(plain) as same:
        assert (source.names, source.kinds, source.n_rows) == (USED, same.kinds, 40)
        assert bw.explain(source, "group").tree == bw.explain(same, "group").tree
        assert set(said) <= set(source.notes)
    rules = Rules("CASE WHEN x < 20 THEN 'low' ELSE 'high' END", {"x": "size"})
    n_below = {"nothing": 0, "questions and marks": 2}.get(below, 1)
    with bw.scan(path) as source:
        assert label_rows(source, str(tmp_path / "two.parquet"), rules)[:2] == (40 + n_below, n_below)
    assert label_rows(path, str(tmp_path / "one.parquet"), rules)[:2] == (40 + n_below, n_below)
    assert label_rows(path, str(tmp_path / "one.csv"), rules)[:2] == (40 + n_below, n_below)
    assert label_rows(plain, str(tmp_path / "other.csv"), rules).n_rows == 40
    one, other = (rows_in((tmp_path / f"{of}.csv").read_bytes().decode()) for of in ("one", "other"))
    described = rows_in("\n".join(BELOW[below]), ";")
    kept = [[" ".join(cell.split()) for cell in row] for row in one[1 : 1 + n_below]]
    assert kept == [[*(" ".join(cell.split()) for cell in row), ""] for row in described]
    assert [one[0], *one[1 + n_below :]] == other


def test_units_of_some_columns_are_left_out_below_a_title(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i};{i % 7},5;{i % 5};{i % 3};{i % 2}" for i in range(30)]
    path.write_text("\n".join(["Grades 2026", "size;weight;rooms;age;floor", "cm;kg;;years;", *rows]))
    table = read_file(str(path))
    assert (len(table.X), table.columns) == (30, ("size", "weight", "rooms", "age", "floor"))
    assert "left out line 3 below the names of columns: 'cm', 'kg', 'years'" in table.hints


@pytest.mark.crossed
@pytest.mark.parametrize("n", [12, 450])
@pytest.mark.parametrize("above", [[], [["Cases 2026"], ["as of", DAY], []]])
@pytest.mark.parametrize("below", [[], [["years", "kg", None, "on", "at"]]])
@pytest.mark.parametrize("end", [[], [["Total", 17.5], []], [["Average", 3.5], ["Total", None, 12]]])
def test_a_sheet_with_titles_units_and_totals_is_the_sheet_without(tmp_path, n, above, below, end):
    names = ["age", "weight", "seen", "start", "end", "ward"]
    rows = [[i, i % 7 + 0.5, i % 2 == 0, DAY, DAY, "AB"[i % 2]] for i in range(n)]
    path = workbook(tmp_path / "t.xlsx", {"one": [*above, names, *below, *rows, *end]})
    plain = workbook(tmp_path / "plain.xlsx", {"one": [names, *rows]})
    with open_table(path) as here, open_table(plain) as there:
        assert (here.names, here.types) == (there.names, there.types)
        found, expected = (each.fetch(f"SELECT * FROM {each.relation}") for each in (here, there))
        assert found == expected
        said = [
            *["left out rows 1 and 2 above the names of columns: 'Cases 2026', 'as of', '2026-02-28 00:00:00'"]
            * bool(above),
            *[f"left out row {len(above) + 2} below the names of columns: 'years', 'kg', 'on' and 1 more"]
            * bool(below),
            *[f"left out rows of totals: {', '.join(repr(row[0]) for row in end if row)}"] * bool(end),
        ]
        assert [*here.hints] == [*there.hints, *said]


def test_hints_name_the_lines_that_are_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["# made by hand", *HEADS["titles and empty lines"], NAMES, *BELOW["questions"], *ROWS]))
    assert read_file(str(path), missing="drop").hints == (
        "skipped 1 line that begins with #",
        "left out lines 3, 4 and 6 above the names of columns: 'Grades 2026', 'as of 2026-03-01', 'of \"all\" classes'",
        "left out line 9 below the names of columns: 'How large? In cm', 'How heavy?', 'When?' and 2 more",
    )


TOTALS = {
    "a total": ["Total;70 €;;;"],
    "an average and a sum": ["Average;3,5 €;;;", "Grand total:;1'200 €;;;"],
    "blanks and quotes": ['"Summe ";"12 €"; ;"";'],
    "in Italian": [";Totale;;12;"],
}


@pytest.mark.parametrize("name", TOTALS)
def test_rows_of_totals_are_left_out(tmp_path, name):
    path, plain, rules = str(tmp_path / "t.csv"), str(tmp_path / "plain.csv"), Rules("x1", {"x1": "size"})
    for each, lines in ((path, [*ROWS, *TOTALS[name], ""]), (plain, ROWS)):
        with open(each, "w", encoding="utf-8") as file:
            file.write("\n".join([NAMES, *lines]))
    here, there = (read_file(each, labels="group", missing="drop") for each in (path, plain))
    np.testing.assert_array_equal(here.X, there.X)
    assert here.labels.tolist() == there.labels.tolist()
    [hint] = [hint for hint in here.hints if hint not in there.hints]
    assert hint.startswith("left out rows of totals: '")
    with bw.scan(path) as source, bw.scan(plain) as same:
        assert (source.kinds, source.n_rows) == (same.kinds, 40)
        assert hint in source.notes
        n = len(TOTALS[name])
        assert label_rows(source, str(tmp_path / "o.parquet"), rules)[:2] == (40 + n, n)
    assert label_rows(path, str(tmp_path / "o.csv"), rules)[:2] == (40 + n, n)
    assert label_rows(path, str(tmp_path / "o.parquet"), rules)[:2] == (40 + n, n)


@pytest.mark.parametrize(
    "end", [["Source: PAS;;;;"], ["Total;70 €;;;", "* without returns;;;;"], [";;;;", "Quelle: PAS;;;;"]]
)
def test_notes_below_the_rows_are_left_out(tmp_path, end):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([NAMES, *ROWS, *end]), encoding="utf-8")
    with bw.scan(str(path)) as source:
        assert source.kinds[0] == "number"
        assert source.n_rows == 40 + (end[0] == ";;;;")
        assert f"left out notes below the rows: {end[-1].rstrip(';')!r}" in source.notes
    rows = [row.split(";") for row in (NAMES, *ROWS, *end)]
    cells = [[int(row[0].split(",")[0]) if row[0][:1].isdigit() else row[0] or None, *row[1:]] for row in rows]
    sheet = workbook(
        tmp_path / "t.xlsx", {"one": [[cell or None if cell != 0 else 0 for cell in row] for row in cells]}
    )
    with bw.scan(sheet) as source:
        assert (source.kinds[0], source.n_rows) == ("number", 40)


def test_a_text_alone_in_the_last_row_may_be_a_row(tmp_path):
    path = tmp_path / "t.csv"
    for rows in ([f"R {i};{i}" for i in range(20)], [f"{i};{i if i % 2 else ''}" for i in range(20)]):
        path.write_text("\n".join(["name;size", *rows, "none;"]))
        with bw.scan(str(path)) as source:
            assert source.n_rows == 21


def test_a_second_line_of_names_with_words_alone_and_marks_is_left_out(tmp_path):
    path = tmp_path / "t.csv"
    words = ["agree", "neutral", "disagree"]
    rows = [
        f"{words[i % 3]};{words[i % 2]};{'App' if i % 4 else ''};{words[i // 20]};{'ABC'[i % 3]};x{i}"
        for i in range(60)
    ]
    path.write_text("\n".join(["Q1;Q2;Q3 - App;Q4;group;id", "Response;Response;App;Response;Other;", *rows]))
    table = read_file(str(path), labels="group", missing="learn")
    assert len(table.X) == 60
    assert next(one.values for one in table.categories.values()) == ("agree", "disagree", "neutral")
    path.write_text("\n".join(["Q1;Q2;Q3 - App;Q4;group;id", "odd;agree;App;agree;Other;", *rows]))
    assert len(read_file(str(path), labels="group", missing="learn").X) == 61


ROWS_AT_THE_END = {
    "of a product": "Total Wine;5;2026-01-01;a;low",
    "of another word": "Sumatra;;;;",
    "with most values": "total;3;2026-01-01;;",
    "with the word behind": "40;;;total;",
    "without a number": "Total;;;;",
}


@pytest.mark.parametrize("name", ROWS_AT_THE_END)
def test_rows_at_the_end_stay(tmp_path, name):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([NAMES, "Total;;;;", *ROWS, ROWS_AT_THE_END[name]]))
    with bw.scan(str(path)) as source:
        assert source.n_rows == 42


def test_rows_of_totals_are_left_out_without_a_header(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([*ROWS, "Total;70 €;;;"]), encoding="utf-8")
    table = read_file(str(path), ReadOptions(header=False), missing="drop")
    assert len(table.X) == 40
    assert "left out rows of totals: 'Total'" in table.hints


def test_a_row_with_the_gaps_of_others_is_none_of_totals(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{name},{i},,{'' if i % 2 else 'new'}" for i in range(10) for name in ("Shell", "Total", "average")]
    path.write_text("\n".join(["name,size,kind,state", *rows, "Total,31,,"]))
    with bw.scan(str(path)) as source:
        assert (source.n_rows, [note for note in source.notes if "totals" in note]) == (31, [])


def test_subtotals_go_with_the_total(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([NAMES, *ROWS[:20], "Total;70 €;;;", *ROWS[20:], "Total;120 €;;;"]))
    with bw.scan(str(path)) as source:
        assert source.n_rows == 40


DOUBTS = {
    "a first row with words among numbers": [NAMES, "absent;ill;2026-01-01;a;low", *ROWS],
    "a first row with words of the table": [NAMES, "absent;ill;away;a;low", *ROWS],
    "a first row of limits and units": [NAMES, "<1;~ 5;12 kg;a;low", *ROWS],
    "a first row without ends": [NAMES, "inf;-inf;Infinity;a;low", *ROWS],
    "a first row without numbers": [NAMES, ";;;a;low", *ROWS],
    "few rows": ["Grades 2026", NAMES, *ROWS[:8]],
    "no names": ["Grades 2026", *ROWS],
    "words alone": ["name;town", "What?;Where?", *(f"Ann {i};Bern {i}" for i in range(30))],
    "a column of decimal commas": ["size", *(f"{i},5" for i in range(30))],
    "an index without a name": [",value", *(f"row {i},{i}" for i in range(30))],
}


@pytest.mark.parametrize("name", DOUBTS)
def test_what_leaves_doubt_is_read_as_it_stands(name):
    assert head_of("\n".join(DOUBTS[name])) is None


def test_without_a_header_every_line_is_a_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([NAMES, *BELOW["units"], *ROWS]))
    with pytest.raises(DataError, match=r"numbers, but .* has text in 2 of 42 rows, first 'size' in row 1"):
        read_file(str(path), ReadOptions(header=False), numbers=["column 1"])


def test_a_text_of_many_letters_is_read_at_once():
    assert not _is_sentence("a" * 300_000)  # by a pattern that goes back over the letters it would take an hour
    assert _is_sentence("a" * 300_000 + " 31.12.2026")


WORDY = {  # columns whose name is one of their words
    "class": ["1st", "2nd", "class"],
    "survived": ["died", "survived"],
    "smoker": ["smoker", "non-smoker"],
    "member": ["member", "guest"],
    "urban": ["urban", "rural", ""],
    "active": ["active", "inactive"],
}


@law(400)
def test_names_below_a_title_may_be_words_of_their_columns(seed):
    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.permutation(list(WORDY))[: rng.integers(1, 5)]]
    n, kinds = int(rng.integers(14, 40)), rng.choice(["whole", "decimal", "date"], int(rng.integers(0, 3)))
    columns = [[str(word) for word in rng.choice(WORDY[name], n)] for name in names]
    columns += [[text.replace(",", ".") for text in values_of(kind, rng, n)] for kind in kinds]
    names += [f"{kind} {j}" for j, kind in enumerate(kinds)]
    if len(names) == 1:
        return
    rows, at = [list(row) for row in zip(*columns, strict=True)], int(rng.integers(len(names)))
    titles = [[None] * at + [str(title)] for title in rng.permutation(TITLES[:3])[: rng.integers(1, 3)]]
    is_apart = bool(rng.integers(2))
    hints = []
    found, *below = rows_told(iter([*titles, *([[]] if is_apart else []), names, *rows]), hints)
    if is_apart or len(kinds):
        assert (found, below) == (names, rows)
        assert hints[0].startswith("left out row")
    elif found != names:  # a row of names of which one alone is there, or a title
        assert list(found)[: at + 1] == [*titles[0]]
        assert hints[0].startswith("row 1 was read as the names of columns, though it names 1 of")


def test_predict_takes_a_line_of_one_unit_as_explain_does(tmp_path):
    """A line with one unit describes the columns for both: it is no row, and gets no cluster."""
    import boxwood
    from boxwood.render.forms.labels import write_labels

    ex = boxwood.explain([[float(i)] for i in range(20)], ["low"] * 10 + ["high"] * 10, columns=["spend"])
    rows = [f"{i},{i},{i}" for i in range(20)]
    (tmp_path / "in.csv").write_text("\n".join(["id,spend,orders", ",EUR,", *rows]) + "\n", encoding="utf-8")
    assert write_labels(ex, tmp_path / "in.csv", tmp_path / "out.csv")[:2] == (21, 1)
