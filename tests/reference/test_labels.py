"""Labels of any type as numbers from 0."""

import json
from importlib import import_module

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.ensemble import IsolationForest

import boxwood
from boxwood import IMM, explain, scan
from boxwood._frames import label_values
from boxwood.errors import DataError
from boxwood.reference import Reference
from boxwood.reference.labels import count_missing, encode_labels
from tests.command import invoke
from tests.scale import law, seeds

WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


def naive_codes(labels):
    """Return code by code and name by name what `encode_labels` must return for whole numbers."""
    names = tuple(sorted({int(label) for label in labels} - {-1}))
    return [-1 if label == -1 else names.index(int(label)) for label in labels], names


@pytest.mark.parametrize("kind", WHOLE)
def test_whole_labels_of_every_type_up_to_their_ends(kind):
    ends = np.iinfo(kind)
    values = [ends.min, ends.max, 0, 1, -1, ends.min + 1, ends.max - 1, -100, 100]
    values = [value for value in values if ends.min <= value <= ends.max]
    for seed in seeds(20):
        labels = np.random.default_rng(seed).choice(np.array(values, dtype=kind), 9)
        codes, names = encode_labels(labels)
        assert (codes.tolist(), names) == naive_codes(labels.tolist())


def test_a_reference_takes_labels_as_far_apart_as_their_type_allows():
    X = np.arange(5.0)[:, None]
    reference = Reference.of(X, np.array([-100, -100, 100, 100, 100], np.int8))
    assert reference.names == (-100, 100)
    assert reference.labels.tolist() == [0, 0, 1, 1, 1]


@law(20)
def test_minus_one_leaves_a_row_out_as_a_number_and_as_text(seed):
    rng = np.random.default_rng(seed)
    numbers = np.append(rng.choice([-1, 3, 7], int(rng.integers(1, 20))), 3)
    codes, _ = encode_labels(numbers)
    texts = numbers.astype(str)
    mixed = [text if rng.random() < 0.5 else int(text) for text in texts.tolist()]
    for labels in (texts, texts.astype("S"), texts.astype(object), texts.tolist()):
        as_text, names = encode_labels(labels)
        assert as_text.tolist() == codes.tolist()
        assert not {"-1", b"-1"} & set(names)
    assert [code < 0 for code in encode_labels(mixed)[0]] == [number == -1 for number in numbers.tolist()]


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_a_column_of_text_with_minus_one_is_read_alike_in_python_and_by_the_command_line(tmp_path, frame):
    labels = ["gold", "silver", "-1"] * 4
    table = frame({"x": [1.0, 9, 5] * 4, "seg": labels})
    expected = explain(table, "seg")
    assert (expected.n_left_out, expected.names) == (4, ("gold", "silver"))
    assert str(expected).startswith("2 clusters of 8 rows (4 rows without a label left out), explained")
    assert explain([[value] for value in table["x"]], labels, columns=["x"]) == expected
    path = tmp_path / "t.csv"
    path.write_text("x,seg\n" + "".join(f"{x},{seg}\n" for x, seg in zip(table["x"], labels, strict=True)))
    shown = invoke("explain", path, "-l", "seg", "--json")
    [found, same] = json.loads(shown.stdout), expected.to_dict()
    assert found.pop("provenance")["labels"] == same.pop("provenance")["labels"] == "the column seg"
    assert found == same


NONE = {"pandas": [None, np.nan, pandas.NA, pandas.NaT], "polars": [None], "lists": [None, float("nan"), pandas.NA]}


@law(40)
def test_a_missing_label_is_minus_one(seed):
    rng = np.random.default_rng(seed)
    clusters = np.append(rng.integers(0, 3, int(rng.integers(5, 30))), [0, 1])
    lacks = np.append(rng.random(len(clusters) - 2) < 0.3, [False] * 2)
    names = [["a", "b", "c"], [7, 8, 9], [0.5, 1.5, 2.5], [2**53, 2**53 + 1, 2**53 + 2], [(1,), (2,), (3,)]]
    of_kind = names[int(rng.integers(len(names)))]
    plain = [-1 if none else of_kind[c] for c, none in zip(clusters, lacks, strict=True)]
    codes, known = encode_labels(plain)
    for kind, nones in NONE.items():
        labels = [nones[int(rng.integers(len(nones)))] if label == -1 else label for label in plain]
        if kind != "lists" and not isinstance(of_kind[0], tuple):
            labels = import_module(kind).Series(labels)
        found, same = encode_labels(label_values(labels))
        assert (found.tolist(), same) == (codes.tolist(), known)
        assert count_missing(label_values(labels)) == lacks.sum()
    if isinstance(of_kind[0], float):
        array = np.where(lacks, np.nan, np.array([of_kind[c] for c in clusters]))
        assert encode_labels(array)[0].tolist() == codes.tolist()


@pytest.mark.parametrize(
    "labels", [["a", "", "b", "-1"], np.array(["a", "", "b", "-1"]), pandas.Series(["a", "", "b", "-1"])]
)
def test_an_empty_text_is_a_label_where_labels_are_no_file(labels):
    codes, names = encode_labels(label_values(labels))
    assert (codes.tolist(), names, count_missing(label_values(labels))) == ([1, 0, 2, -1], ("", "a", "b"), 0)
    frame = pandas.DataFrame({"x": [2.0, 1.0, 3.0, 4.0] * 5, "seg": [*labels] * 5})
    here, there = explain(frame, "seg"), explain(scan(frame), "seg")
    assert (here.tree, here.names, here.n_left_out) == (there.tree, there.names, there.n_left_out)
    assert (there.names, there.n_left_out) == (("", "a", "b"), 5)


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("missing", ["learn", "drop"])
def test_rows_without_a_label_are_left_out_and_told_wherever_they_stand(words, missing):
    x = [float(i % 12) for i in range(60)]
    frame = pandas.DataFrame({"x": x, "seg": ["low" if value < 6 else "high" for value in x]})
    if words:
        frame["kind"] = [None if i == 9 else "ab"[i % 2] for i in range(60)]
    frame.loc[[3, 4], "seg"] = "-1"
    marked = frame.assign(seg=frame["seg"].mask(frame.index.isin([5, 9, 11])))
    expected = explain(frame.assign(seg=frame["seg"].mask(frame.index.isin([5, 9, 11]), "-1")), "seg", missing=missing)
    here, there = explain(marked, "seg", missing=missing), explain(scan(marked), "seg", missing=missing)
    assert here.tree == there.tree == expected.tree
    assert here.n_left_out == there.n_left_out == expected.n_left_out == 5
    said = "3 of 60 rows have no label and are left out"
    assert [said in ex.notes for ex in (here, there, expected)] == [True, True, False]
    assert said in expected.evaluate(marked, marked["seg"]).notes
    assert said in expected.evaluate(scan(marked), "seg").notes
    for rows in (marked[["x", "seg"]], scan(marked[["x", "seg"]])):
        with pytest.warns(UserWarning, match=said):
            assert said in IMM().fit(rows, "seg").explanation_.notes


def test_clusters_without_weight_are_named():
    with pytest.raises(DataError, match="clusters without weight: 7, old; leave their rows out"):
        Reference.of(np.zeros((3, 1)), ["old", 7, "new"], sample_weight=[0, 0, 1])


def test_whole_numbers_on_both_sides_of_the_largest_signed_one_are_told_apart():
    codes, names = encode_labels([1, 2**63, 2**63 + 1, -1])
    assert (codes.tolist(), names) == ([0, 1, 2, -1], (1, 2**63, 2**63 + 1))


@law(20)
def test_labels_of_text_are_in_natural_order(seed):
    rng = np.random.default_rng(seed)
    numbers = rng.choice(2000, 12, replace=False) - 500 * (seed % 2)
    form = ["c{}", "{}", "{} to 9", "week {} b"][seed % 4]
    texts = [form.format(number) for number in rng.permutation(numbers)]
    expected = tuple(form.format(number) for number in sorted(numbers if seed % 4 in (1, 2) else np.abs(numbers)))
    if seed % 4 not in (1, 2):  # where a hyphen parts words
        texts = [text.replace("-", "") for text in texts]
        texts, expected = list(dict.fromkeys(texts)), tuple(dict.fromkeys(expected))
    for labels in (texts, np.array(texts), np.array(texts, dtype=object)):
        codes, names = encode_labels(labels)
        assert names == expected
        assert [names[code] for code in codes] == texts


@law(12)
def test_labels_whose_type_has_an_order_keep_it(seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(["S", "M", "L", "XL", "10", "9"]).tolist()
    labels = rng.choice(order[:5], 60).astype(object)
    labels[rng.random(60) < 0.1] = None
    given = [
        pandas.Categorical(labels, order, ordered=True),
        pandas.Series(pandas.Categorical(labels, order, ordered=True)),
        polars.Series(labels.tolist(), dtype=polars.Enum(order)),
        pyarrow.DictionaryArray.from_arrays(
            pyarrow.array([None if x is None else order.index(x) for x in labels]), order, ordered=True
        ),
    ]
    expected = tuple(name for name in order if name in set(labels))
    X = pandas.DataFrame({"x": rng.normal(size=60), "w": rng.choice(["a", "b"], 60)})
    for each in given:
        codes, names = encode_labels(each)
        assert names == expected
        assert [None if code < 0 else names[code] for code in codes] == labels.tolist()
    assert explain(X, given[seed % 3], max_leaf_nodes=6).names == expected
    for rows in (X.assign(y=given[1]), scan(X.assign(y=given[1]))):
        assert explain(rows, "y", max_leaf_nodes=6).names == expected


ANOMALIES = {
    "array": lambda frame, _: explain(frame[["x", "y"]].to_numpy(), frame["found"].to_numpy()),
    "text": lambda frame, _: explain(frame[["x", "y"]], frame["found"].astype(str).tolist()),
    "column": lambda frame, _: explain(frame, "found"),
    "words": lambda frame, _: explain(frame.assign(word=["p", "q", "r"] * 20), "found"),
    "batches": lambda frame, path: explain(scan(path), "found"),
    "detector": lambda frame, _: explain(frame[["x", "y"]], IsolationForest(contamination=0.05)),
    "estimator": lambda frame, _: IMM().fit(frame[["x", "y"]], frame["found"]),
    "compare": lambda frame, _: boxwood.compare(frame, "found"),
}


@pytest.mark.parametrize("way", ANOMALIES)
def test_one_cluster_beside_noise_is_refused_with_what_to_do(way, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:3] += 30
    frame = pandas.DataFrame(X, columns=["x", "y"]).assign(found=[-1] * 3 + [1] * 57)
    frame.to_parquet(path := str(tmp_path / "found.parquet"))
    message = "one cluster, '?1'?, as the 3 rows labelled -1 count as noise; rename -1 to explain it"
    with pytest.raises(DataError, match=message):
        ANOMALIES[way](frame, path)


def test_rows_without_a_label_are_no_noise():
    for labels in ([1, 1, None, None], [1.0, 1.0, np.nan, np.nan]):
        with pytest.raises(DataError, match="only one cluster, 1; a tree separates clusters"):
            explain([[0.0], [1.0], [2.0], [3.0]], labels)
    with pytest.raises(DataError, match="only one cluster, 1, as the one row labelled -1 counts as noise"):
        explain([[0.0], [1.0], [2.0], [3.0]], [1, 1, None, -1])
