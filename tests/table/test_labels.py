"""Labels of a file: text is what the file has, and numbers if that merges no two of them, in memory and in batches."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import boxwood as bw
from boxwood.errors import DataError
from boxwood.reference import Reference
from tests.reading import read_file
from tests.scale import some

DECIMAL = pa.decimal128(30, 20)
WRITTEN = {
    "zeros": (["01", "1", "1.0"], ["01", "1", "1.0"]),
    "no numbers": (["1", "inf", "1e400"], ["1", "1e400", "inf"]),
    "leading zeros": (["007", "7", "08"], ["007", "7", "08"]),
    "leading zeros alone": (["007", "008", "009"], ["007", "008", "009"]),
    "truths": (["TRUE", "true", "false"], ["TRUE", "false", "true"]),
    "yes and no": (["ja", "nein", "Ja"], ["Ja", "ja", "nein"]),
    "whole": (["2", "10", "-1"], [2, 10]),
    "floats": (["2.5", "10", "-1.0"], [2.5, 10.0]),
    "whole floats": (["2.0", "10.0", "-1.0"], [2, 10]),
    "large": ([str(2**53 + i) for i in range(3)], [2**53, 2**53 + 1, 2**53 + 2]),
    "of 64 bits": ([str(2**64 - i) for i in (1, 2, 3)], [2**64 - 3, 2**64 - 2, 2**64 - 1]),
    "of both signs": ([str(2**64 - 1), "-5", "7"], [-5, 7, 2**64 - 1]),
    "too large": ([str(2**64 + i) for i in range(3)], [str(2**64 + i) for i in range(3)]),
    "of many digits": ([f"0.{'1' * 20}{i}" for i in range(3)], [f"0.{'1' * 20}{i}" for i in range(3)]),
    "spaces": (["1", " 1", "2"], [" 1", "1", "2"]),
    "euros": (["1 €", "2 €", "3 €"], ["1 €", "2 €", "3 €"]),
    "dates": (["2024-01-02", "2024-01-03", "2024-01-02"], ["2024-01-02", "2024-01-03"]),
    "text": (["a", "-1.0", "1"], ["1", "a"]),
}
TYPED = {
    "unsigned": (pa.array([2**63, 2**63 + 1, 5], pa.uint64()), [5, 2**63, 2**63 + 1]),
    "decimals": (
        pa.array([f"0.{'1' * 18}{i}" for i in range(3)]).cast(DECIMAL),
        [f"0.{'1' * 18}{i}0" for i in range(3)],
    ),
    "short decimals": (pa.array(["0.5", "1.5", "2"]).cast(pa.decimal128(9, 2)), [0.5, 1.5, 2.0]),
    "halves": (pa.array([0.1, 0.5, -1], pa.float32()), [0.1, 0.5]),
    "zeros": (pa.array([0.0, -0.0, 1.5]), [0.0, 1.5]),
    "booleans": (pa.array([True, False, True]), ["false", "true"]),
    "dates": (pa.array([0, 1, 0], pa.date32()), ["1970-01-01", "1970-01-02"]),
    "times": (pa.array([0, 1_500_000, 0], pa.timestamp("us")), ["1970-01-01 00:00:00", "1970-01-01 00:00:01.5"]),
    "times of a zone": (
        pa.array([0, 1_500_000, 86_400_000_000], pa.timestamp("us", "Asia/Kolkata")),
        ["1970-01-01 00:00:00+00", "1970-01-01 00:00:01.5+00", "1970-01-02 00:00:00+00"],
    ),
    "nanoseconds": (
        pa.array([0, 1, 20], pa.timestamp("ns")),
        ["1970-01-01 00:00:00", "1970-01-01 00:00:00.000000001", "1970-01-01 00:00:00.00000002"],
    ),
    "nanoseconds of a zone": (
        pa.array([0, 1, 0], pa.timestamp("ns", "Europe/Berlin")),
        ["1970-01-01 00:00:00+00", "1970-01-01 00:00:00.000000001+00"],
    ),
    "times of day": (pa.array([0, 1, 10**10], pa.time64("ns")), ["00:00:00", "00:00:00.000000001", "00:00:10"]),
    "text": (pa.array(["01", "1", "1.0"]), ["01", "1", "1.0"]),
}
X = np.arange(30) * 7 % 11


def both(path):
    """Return the labels of a table in memory and in batches, and that sizes and centres are the same."""
    table = read_file(path, labels="label")
    here = Reference.of(table.X, table.labels)
    with bw.scan(path) as source:
        there = Reference.of(source, "label")
        sizes = there.measured.overview.sizes.tolist()
    assert sizes == np.bincount(here.labels[here.labels >= 0]).tolist()
    np.testing.assert_array_equal(there.centers, here.centers)
    return list(here.names), list(there.names)


@pytest.mark.parametrize("name", some(WRITTEN))
def test_labels_of_text_are_what_the_file_has(tmp_path, name):
    labels, expected = WRITTEN[name]
    path = str(tmp_path / "t.csv")
    with open(path, "w") as file:
        file.write("x,label\n" + "".join(f"{x},{label}\n" for x, label in zip(X, labels * 10, strict=True)))
    assert both(path) == (expected, expected)


@pytest.mark.parametrize("name", some(WRITTEN))
@pytest.mark.parametrize("mark", ["", "NA", " null "])
def test_a_missing_label_leaves_the_others_as_they_are(tmp_path, name, mark):
    labels, expected = WRITTEN[name]
    path = str(tmp_path / "t.csv")
    texts = [mark if i in (4, 5, 21) else label for i, label in enumerate(labels * 10)]
    with open(path, "w") as file:
        file.write("x,label\n" + "".join(f"{x},{label}\n" for x, label in zip(X, texts, strict=True)))
    assert both(path) == (expected, expected)


def test_words_that_count_as_missing_labels_are_named(tmp_path):
    table = pa.table({"x": range(40), "label": ["none", "mild", "severe", "NA", ""] * 8})
    paths = [str(tmp_path / name) for name in ("t.csv", "t.parquet")]
    pa.csv.write_csv(table, paths[0])
    pq.write_table(table, paths[1])
    said = "labels that count as missing: 'NA'; give a cluster of such a name another one"
    assert said in read_file(paths[0], labels="label").hints
    with bw.scan(paths[0]) as source:
        assert said in bw.explain(source, "label").notes
    assert both(paths[0]) == (["mild", "none", "severe"],) * 2
    assert both(paths[1]) == (["", "NA", "mild", "none", "severe"],) * 2  # text there is what somebody chose


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_labels_whose_type_has_an_order_keep_it(tmp_path, form):
    labels = pa.DictionaryArray.from_arrays(
        pa.array([2, 0, None, 3] * 10, pa.int8()), ["M", "XS", "L", "A"], ordered=True
    )
    table, path = pa.table({"x": range(40), "label": labels}), str(tmp_path / f"t.{form}")
    pq.write_table(table, path) if form == "parquet" else pa.feather.write_feather(table, path)
    assert both(path) == (["M", "L", "A"],) * 2


@pytest.mark.parametrize("labels", [[2**53, 2**53 + 1, 2**53 + 2], [2**63, 2**63 + 1, 3], [True, False, True]])
def test_labels_of_json_lines_are_exact(tmp_path, labels):
    path = str(tmp_path / "t.jsonl")
    with open(path, "w") as file:
        file.writelines(json.dumps({"x": int(x), "label": y}) + "\n" for x, y in zip(X, labels * 10, strict=True))
    expected = ["false", "true"] if True in labels else sorted(labels)
    assert both(path) == (expected, expected)


@pytest.mark.crossed
@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_labels_of_types_are_those_of_text(tmp_path, name, form):
    labels, expected = TYPED[name]
    table = pa.table({"x": X, "label": pa.concat_arrays([labels] * 10)})
    path = str(tmp_path / f"t.{form}")
    pq.write_table(table, path) if form == "parquet" else pa.feather.write_feather(table, path)
    assert both(path) == (expected, expected)


@pytest.mark.parametrize(("form", "expected"), [("parquet", [-5, 1500]), ("arrow", ["-00:00:00.005", "00:00:01.5"])])
def test_durations_are_whole_numbers_in_parquet_which_has_no_type_for_them(tmp_path, form, expected):
    table = pa.table({"x": X, "label": pa.array([-5, 1500, -5] * 10, pa.duration("ms"))})
    path = str(tmp_path / f"t.{form}")
    pq.write_table(table, path) if form == "parquet" else pa.feather.write_feather(table, path)
    assert both(path) == (expected, expected)


def test_labels_of_times_do_not_depend_on_where_they_are_read(tmp_path, monkeypatch):
    labels, expected = TYPED["times of a zone"]
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table({"x": X, "label": pa.concat_arrays([labels] * 10)}), path)
    monkeypatch.setenv("TZ", "America/New_York")
    assert both(path) == (expected, expected)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (pa.array([b"a", b"b", b"c"]), "holds no labels; expected numbers, text, booleans or dates"),
        (pa.array([{"a": 1}, {"a": 2}, {"a": 3}]), "holds no labels; expected numbers, text, booleans or dates"),
        (pa.array([[1], [2], [3]]), "holds no labels; expected numbers, text, booleans or dates"),
        (pa.array([None, None, None], pa.string()), "are -1 or missing"),
        (pa.array(["-1", "-1", None]), "are -1 or missing"),
    ],
)
def test_columns_without_labels_are_refused(tmp_path, labels, said):
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table({"x": X, "label": pa.concat_arrays([labels] * 10)}), path)
    told = []
    for read in (lambda: read_file(path, labels="label"), lambda: Reference.of(bw.scan(path), "label")):
        with pytest.raises(DataError) as error:
            read()
        told.append(str(error.value))
    assert told[0] == told[1]
    assert told[0].endswith(said)
