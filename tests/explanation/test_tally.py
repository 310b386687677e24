"""Tallies: counts and moments that add up, trees from them, and their file."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from boxwood import DataError, Mixture, Reference, Tally, grow
from boxwood.batches.source import ArrowSource
from boxwood.errors import ModelError
from boxwood.reference import Moments
from tests.cases import make_case
from tests.scale import law
from tests.scattered import scattered


def same(a, b):
    assert a.counts.tolist() == b.counts.tolist()
    for name in ("weights", "origins", "offsets", "squares"):
        np.testing.assert_array_equal(getattr(a.moments, name), getattr(b.moments, name))
    assert (a.names, a.columns, a.n_bins) == (b.names, b.columns, b.n_bins)
    np.testing.assert_array_equal(a.centers, b.centers)


def some_case(seed):
    """Return rows, labels and different centres."""
    rng, case = np.random.default_rng(seed), make_case(seed)
    X = case.X.astype(np.float64)
    centers = np.unique(X[rng.permutation(len(X))[: rng.integers(1, 6)]] + 0.0, axis=0)
    return X, centers, int(rng.choice([1, 3, 20, 256]))


@law(60)
def test_counts_are_those_of_the_rows(seed):
    X, centers, n_bins = some_case(seed)
    tally, labels = Tally.of(X, centers, n_bins=n_bins), Reference.nearest(X, centers).labels
    for c in range(len(centers)):
        for j in range(X.shape[1]):
            values = X[labels == c, j]
            ends = [-np.inf, *tally.edges[j], np.inf]
            for b, (low, high) in enumerate(pairwise(ends)):
                assert tally.counts[c, j, b] == ((values > low) & (values <= high)).sum()
    assert tally.n_rows == len(X)


@law(60)
def test_between_any_two_centres_lies_an_edge(seed):
    X, centers, n_bins = some_case(seed)
    for j, edges in enumerate(Tally.of(X, centers, n_bins=n_bins).edges):
        values = np.unique(centers[:, j])
        finite = edges[np.isfinite(edges)]
        assert (np.diff(finite) > 0).all()
        for low, high in pairwise(values):
            assert ((low <= finite) & (finite < high)).any()
        assert ((values[0] <= finite) & (finite < values[-1])).all()


@law(40)
def test_from_batches_and_from_memory(seed):
    X, centers, n_bins = some_case(seed)
    source = scattered(X, seed)
    same(Tally.of(source, centers, n_bins=n_bins), Tally.of(X, centers, n_bins=n_bins))
    assert source.runs == 3
    labels = Reference.nearest(X, centers).labels
    named = scattered(X, seed, label=np.array(["b", "a", "d", "c", "e"])[labels])
    found = Tally.of(named, Reference.of(named, "label"))
    same(found, Tally.of(X, Reference.of(X, np.array(["b", "a", "d", "c", "e"])[labels])))


@law(40)
def test_tallies_add_up(seed):
    rng = np.random.default_rng(seed)
    X, centers, n_bins = some_case(seed)
    day = rng.integers(0, 3, size=len(X))
    first = Tally.of(X[:1], centers, n_bins=n_bins)
    parts = [Tally.of(X[day == i], first) for i in range(3) if (day == i).any()]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    whole = Tally.of(X, centers, n_bins=n_bins)
    assert total.counts.tolist() == whole.counts.tolist()
    assert total.imm() == whole.imm()
    np.testing.assert_allclose(total.moments.means, whole.moments.means, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(
        total.moments.variances, whole.moments.variances, rtol=1e-9, atol=1e-12 * np.abs(X).max() ** 2
    )


def naive_imm(X, labels, centers, edges, clusters):
    """Return the nested cuts with the fewest mistakes, counted row by row."""
    if len(clusters) == 1:
        return clusters[0]
    found = {}
    for j in range(X.shape[1]):
        for i, edge in enumerate(edges[j]):
            left = [c for c in clusters if centers[c, j] <= edge]
            if 0 < len(left) < len(clusters):
                mistakes = sum((x[j] <= edge) != (c in left) for x, c in zip(X, labels, strict=True) if c in clusters)
                found.setdefault(mistakes, {}).setdefault(j, []).append(i)
    (j, best) = min(found[min(found)].items())
    runs = [[best[0]]]
    for i in best[1:]:
        runs[-1].append(i) if i == runs[-1][-1] + 1 else runs.append([i])
    run = max(runs, key=lambda run: edges[j][run[-1]] / 2 - edges[j][run[0]] / 2)
    edge = edges[j][run[(len(run) - 1) // 2]]
    sides = [[c for c in clusters if (centers[c, j] <= edge) == is_left] for is_left in (True, False)]
    return (j, edge, *(naive_imm(X, labels, centers, edges, side) for side in sides))


def nested(tree, node=0):
    if tree.feature[node] < 0:
        return int(tree.cluster[node])
    return (int(tree.feature[node]), tree.upper[node], nested(tree, node + 1), nested(tree, int(tree.second[node])))


@law(60)
def test_imm_takes_the_edge_with_the_fewest_mistakes(seed):
    X, centers, n_bins = some_case(seed)
    tally, labels = Tally.of(X, centers, n_bins=min(n_bins, 20)), Reference.nearest(X, centers).labels
    expected = naive_imm(X, labels.tolist(), centers, tally.edges, list(range(len(centers))))
    assert nested(tally.imm()) == expected


@law(30)
def test_mmdt_is_that_of_the_rows(seed):
    X, centers, _ = some_case(seed)
    labels = Reference.nearest(X, centers).labels
    expected = grow.mmdt(Mixture.of_reference(X, Reference(labels, centers)))
    assert Tally.of(X, centers).mmdt() == expected


def test_labels_and_names():
    X = pd.DataFrame({"age": [20.0, 30.0, 60.0, 70.0], "pay": [1.0, 2.0, 9.0, 8.0]})
    reference = Reference.of(X.to_numpy(), ["young", "young", "old", -1])
    tally = Tally.of(X, reference)
    assert (tally.columns, tally.names, tally.sizes.tolist()) == (("age", "pay"), ("old", "young"), [1, 2])
    assert tally.mixture.names == ("old", "young")
    more = tally + Tally.of(X, tally)
    assert more.names == tally.names
    assert more.sizes.tolist() == [3, 4]
    assert repr(more) == "Tally(n_clusters=2, n_columns=2, n_rows=7)"


def test_refused():
    X = np.arange(6.0).reshape(3, 2)
    tally = Tally.of(X, [[0.0, 1.0], [4.0, 5.0]])
    with pytest.raises(DataError, match="do not add up; count the new rows under the first one's centres"):
        tally + Tally.of(X, [[0.0, 1.0], [4.0, 6.0]])
    with pytest.raises(DataError, match="do not add up"):
        tally + Tally.of(X, tally.centers, n_bins=5)
    with pytest.raises(DataError, match="X has 2 columns, but the centres have 1"):
        Tally.of(X, [[1.0]])
    with pytest.raises(DataError, match="3 rows, but there are 2 labels"):
        Tally.of(X, Reference([0, 0], [[1.0, 2.0]]))
    with pytest.raises(DataError, match="clusters with equal centres, which no cut separates: 0, 1; make them one"):
        Tally.of(X, [[1.0, 2.0], [1.0, 2.0]]).imm()
    with pytest.raises(TypeError, match="needs a reference of its own"):
        Tally.of(scattered(X, 0), Reference([0, 0, 0], [[1.0, 2.0]]))
    with pytest.raises(TypeError, match="is for that table; for rows in memory give centres"):
        Tally.of(X, Reference.nearest(scattered(X, 0), tally.centers))
    with pytest.raises(ValueError, match="n_bins must be at least 1"):
        Tally.of(X, tally.centers, n_bins=0)
    with pytest.raises(ValueError, match="n_bins must be at most 65536, got 1000000000"):
        Tally.of(X, tally.centers, n_bins=10**9)
    with pytest.raises(TypeError):
        tally + 1
    parts = {"counts": -tally.counts, "moments": Moments.of(X, [0, 0, 0], 2), "columns": ("a",)}
    messages = ("not be negative", "not of the rows that were counted", "names of columns")
    for (name, wrong), message in zip(parts.items(), messages, strict=True):
        fields = {each: getattr(tally, each) for each in ("centers", "n_bins", "counts", "moments", "columns")}
        with pytest.raises(DataError, match=message):
            Tally(**fields | {name: wrong})


# ------------------------------------------------------------------------------------------------------- files


@law(20)
def test_a_file_gives_back_the_tally(seed, tmp_path):
    X, centers, n_bins = some_case(seed)
    names = ["ä", 3, True, 0.5, "b"][: len(centers)]
    tally = Tally.of(X, centers, n_bins=n_bins, names=names)
    tally.save(tmp_path / "tally")
    found = Tally.load(tmp_path / "tally")
    same(found, tally)
    assert found.imm() == tally.imm()


def test_names_that_no_file_holds(tmp_path):
    with pytest.raises(DataError, match="must be text, numbers or booleans"):
        Tally.of([[1.0]], [[1.0]], names=[(1, 2)]).save(tmp_path / "tally")
    assert list(tmp_path.iterdir()) == []


@law(40)
def test_damaged_files_are_refused(seed, tmp_path):
    rng = np.random.default_rng(seed)
    path = tmp_path / "tally"
    Tally.of(rng.normal(size=(30, 2)), rng.normal(size=(3, 2))).save(path)
    content = bytearray(path.read_bytes())
    if seed % 2:
        content = content[: rng.integers(0, len(content))]
    else:
        for at in rng.integers(0, len(content), size=20):
            content[at] ^= int(rng.integers(1, 256))
    path.write_bytes(content)
    with pytest.raises(ModelError, match="tally is not a tally, or is damaged"):
        Tally.load(path)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "tally"
    for content in (b"", b"PK", b"{}", b"\x80\x04N."):
        path.write_bytes(content)
        with pytest.raises(ModelError, match="is not a tally"):
            Tally.load(path)
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "others.npz", a=np.zeros(3), heading=np.frombuffer(b"[1]", dtype=np.uint8))
    for name in ("array.npy", "others.npz"):
        with pytest.raises(ModelError, match="is not a tally"):
            Tally.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        Tally.load(tmp_path / "none")


def rewritten(path, change):
    """Change the heading of a tally's file."""
    with np.load(path) as arrays:
        parts = dict(arrays)
    heading = json.loads(parts["heading"].tobytes())
    change(heading)
    parts["heading"] = np.frombuffer(json.dumps(heading).encode(), dtype=np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **parts)


def test_files_of_later_versions_and_with_pickles_are_refused(tmp_path):
    tally = Tally.of([[1.0], [5.0]], [[1.0], [5.0]])
    path = tmp_path / "tally"

    def changed(**heading):
        tally.save(path)
        rewritten(path, lambda known: known.update(heading))
        return path

    with pytest.raises(ModelError, match="version 3, and this boxwood reads versions 1 and 2"):
        Tally.load(changed(version=3))
    for name, wrong in (("names", [[1], 2]), ("names", 1), ("columns", [1]), ("columns", []), ("n_bins", "x")):
        with pytest.raises(ModelError):
            Tally.load(changed(**{name: wrong}))
    np.savez(tmp_path / "objects.npz", heading=np.array([{}], dtype=object))
    with pytest.raises(ModelError, match="allow_pickle=False"):
        Tally.load(tmp_path / "objects.npz")


def test_columns_of_the_first_tally_are_found_by_name_or_missed():
    rows = pd.DataFrame({"age": [20.0, 60.0, 61.0], "pay": [1.0, 2.0, 9.0]})
    first = Tally.of(rows, [[20.0, 1.0], [60.0, 5.0]])
    again = Tally.of(rows, first)
    turned = rows[["pay", "age"]]
    for table in (turned, ArrowSource(pa.Table.from_pandas(turned)), rows.to_numpy()):
        same(Tally.of(table, first), again)
        same(Tally.of(table, first) + first, first + first)
    other = rows.rename(columns={"pay": "income"})
    for table in (other, ArrowSource(pa.Table.from_pandas(other))):
        with pytest.raises(ValueError, match=r"not those of the first tally \(age, pay\): without pay, with"):
            Tally.of(table, first)
    with pytest.raises(ValueError, match=r"\(age, pay\): without pay, with income"):
        first + Tally.of(other, first.centers)
    with pytest.raises(ValueError, match="not in one order: age, pay, and pay, age"):
        first + replace(first, columns=("pay", "age"))
