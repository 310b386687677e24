"""Labels of any type as numbers from 0."""

import json

import numpy as np
import pandas
import polars
import pytest
from click.testing import CliRunner

from boxwood import explain
from boxwood.cli import boxwood as command
from boxwood.errors import DataError
from boxwood.reference import Reference
from boxwood.reference.labels import encode_labels
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
    assert str(expected).startswith("2 clusters of 8 rows (4 rows labelled -1 left out), explained")
    assert explain([[value] for value in table["x"]], labels, columns=["x"]) == expected
    path = tmp_path / "t.csv"
    path.write_text("x,seg\n" + "".join(f"{x},{seg}\n" for x, seg in zip(table["x"], labels, strict=True)))
    shown = CliRunner().invoke(command, ["explain", str(path), "-l", "seg", "--json"])
    [found, same] = json.loads(shown.stdout), expected.to_dict()
    assert found.pop("basis")["labels"] == same.pop("basis")["labels"] == "the column seg"
    assert found == same


def test_clusters_without_weight_are_named():
    with pytest.raises(DataError, match="clusters without weight: 7, old; leave their rows out"):
        Reference.of(np.zeros((3, 1)), ["old", 7, "new"], sample_weight=[0, 0, 1])


def test_whole_numbers_on_both_sides_of_the_largest_signed_one_are_told_apart():
    codes, names = encode_labels([1, 2**63, 2**63 + 1, -1])
    assert (codes.tolist(), names) == ([0, 1, 2, -1], (1, 2**63, 2**63 + 1))
