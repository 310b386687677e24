"""Clusters of a table in batches: the same means, variances, labels and trees of mixtures as in memory."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from boxwood import DataError, Mixture, Reference
from boxwood.batches.labelling import MOST_LABELS
from boxwood.grow._methods import METHODS
from boxwood.reference import Moments, Task
from boxwood.reference.reference_batches import moments_in
from tests.cases import make_case
from tests.scale import law
from tests.scattered import ScatteredSource, scattered

MOMENTS = ("weights", "origins", "offsets", "squares")


def in_batches(case, seed):
    """Return a case as a source with columns of labels and weights, and the name of the weights, if it has any."""
    X = np.asarray(case.X, dtype=np.float64)
    weights = {} if case.weights is None else {"weight": case.weights}
    return scattered(X, seed, label=case.labels, **weights), "weight" if weights else None


@law(120)
def test_means_and_variances_are_those_of_rows_in_memory(seed):
    case = make_case(seed)
    source, weight = in_batches(case, seed)
    here = Reference.of(case.X, case.labels, sample_weight=case.weights)
    there = Reference.of(source, "label", sample_weight=weight)
    assert there.in_batches
    assert there.names == here.names
    assert source.runs == 2  # labels with ranges, and means
    np.testing.assert_array_equal(there.centers, here.centers)
    task = Task.of(source, there, sample_weight=weight)
    mixture = task.components
    assert source.runs == 3
    expected = Task.of(case.X, here, sample_weight=case.weights).components
    for name in ("weights", "means", "variances", "clusters", "names"):
        np.testing.assert_array_equal(getattr(mixture, name), getattr(expected, name))
    moments = moments_in(task.batches, task.overview, task.means)
    for name in MOMENTS:
        np.testing.assert_array_equal(getattr(moments, name), getattr(here.moments, name))


@law(80)
def test_trees_of_mixtures_are_those_of_rows_in_memory(seed):
    rng, case = np.random.default_rng(seed), make_case(seed)
    source, weight = in_batches(case, seed)
    k = int(rng.integers(1, 6))
    centers = np.concatenate([case.X[:k], [case.X.max(axis=0) * 2 + 100]])  # the last one may have no row
    here, there = Reference.nearest(case.X, centers), Reference.nearest(drop(source, "label"), centers)
    tasks = (
        Task.of(case.X, here, sample_weight=case.weights, random_state=seed),
        Task.of(drop(source, "label"), there, sample_weight=weight, random_state=seed),
    )
    options = {
        "axis": str(rng.choice(["gap", "range"])),
        "threshold": str(rng.choice(["midpoint", "tails", "cantelli", "uniform"])),
        "pooling": str(rng.choice(["max", "weighted"])),
    }
    found = []
    for task in tasks:
        try:
            found.append(METHODS["mmdt"].grow(task, **options).tree)
        except DataError as error:
            found.append(str(error))
    assert found[0] == found[1]
    if not isinstance(found[0], str):
        assert (found[0].upper == found[1].upper).all()


def drop(source, *names):
    return ScatteredSource(source.table.drop_columns(list(names)), 0)


@law(20)
def test_nearest_centres_in_memory_and_in_batches(seed):
    rng = np.random.default_rng(seed)
    X, centers = rng.integers(0, 4, size=(40, 2)).astype(float), rng.integers(0, 4, size=(3, 2))
    reference = Reference.nearest(X, centers, names=["a", "b", "c"])
    distances = ((X[:, None] - centers) ** 2).sum(axis=2)
    assert reference.labels.tolist() == distances.argmin(axis=1).tolist()
    assert reference.names == ("a", "b", "c")
    source = scattered(X, seed)
    task = Task.of(source, Reference.nearest(source, centers, names={1: "b"}))
    assert task.reference.names == (0, "b", 2)
    assert task.overview.sizes.tolist() == np.bincount(reference.labels, minlength=3).tolist()
    assert source.runs == 1


LABELS = {
    "whole": np.array([3, -1, 7, 3, 0, 7]),
    "text": np.array(["b", "-1", "a", "b", "ä", "a"], dtype=object),
    "boolean": np.array([True, False, True, True, False, True]),
    "whole floats": np.array([3.0, -1.0, 7.0, 3.0, -0.0, 0.0]),
    "floats": np.array([0.5, -1.0, 7.25, 0.5, np.inf, -0.0]),
    "small": np.array([3, -1, 7, 3, 0, 7], dtype=np.int8),
    "far": np.array([3, -1, 2**62, 3, -(2**62), 7]),
    "dates": np.array([datetime.date(2024, 1, day) for day in (1, 2, 1, 3, 3, 2)], dtype=object),
    "times": np.array([datetime.datetime(2024, 1, day, 5, 6, 7, 8) for day in (1, 2, 1, 3, 3, 2)], dtype=object),
}


@pytest.mark.parametrize("kind", LABELS)
@law(5)
def test_labels_of_any_type(kind, seed):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(60, 2)), np.resize(LABELS[kind], 60)
    column = pa.array(labels.tolist()) if kind != "small" else pa.array(labels)
    if seed % 2 and kind in ("text", "whole"):
        column = column.dictionary_encode()
    source = scattered(X, seed, label=column)
    here, there = Reference.of(X, labels), Reference.of(source, "label")
    assert there.names == here.names
    assert [type(name) for name in there.names] == [type(name) for name in here.names]
    np.testing.assert_array_equal(there.centers, here.centers)
    assert Task.of(source, there).overview.sizes.tolist() == np.bincount(here.labels[here.labels >= 0]).tolist()


def test_names_of_clusters():
    source = scattered(np.arange(4.0)[:, None], 0, label=["a", "b", "a", "b"])
    assert Reference.of(source, "label", names={"b": "bee"}).names == ("a", "bee")


def test_means_known_are_not_taken_for_other_weights():
    X, labels, weights = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1]), np.arange(1.0, 7.0)
    source = scattered(X, 0, label=labels, weight=weights)
    reference = Reference.of(ScatteredSource(source.table.drop_columns(["weight"]), 0), "label")
    mixture = Task.of(source, reference, sample_weight="weight").components
    np.testing.assert_array_equal(mixture.means, Mixture.of(X, labels, sample_weight=weights).means)


def test_labels_refused():
    X = np.arange(4.0)[:, None]
    cases = {
        "every row is left out: all labels in column 'label' of the table are -1 or missing": [-1, None, -1, -1],
        "holds no labels; expected numbers, text, booleans or dates": [[1], [2], [3], [4]],
    }
    for message, labels in cases.items():
        with pytest.raises(DataError, match=message):
            Reference.of(scattered(X, 0, label=labels), "label")
    with pytest.raises(DataError, match="no column 'other'; its columns"):
        Reference.of(scattered(X, 0, label=[1, 1, 2, 2]), "other")
    with pytest.raises(TypeError, match="must be the name of one of its columns"):
        Reference.of(scattered(X, 0, label=[1, 1, 2, 2]), [1, 1, 2, 2])
    with pytest.raises(ValueError, match="center must be one of 'mean'"):
        Reference.of(scattered(X, 0, label=[1, 1, 2, 2]), "label", center="middle")
    with pytest.raises(DataError, match="clusters without weight: 2"):
        Reference.of(scattered(X, 0, label=[1, 1, 2, 2], w=[1.0, 1.0, 0.0, 0.0]), "label", sample_weight="w")
    with pytest.raises(DataError, match="missing values in 1 of 4 rows: x0"):
        Reference.of(scattered([[1.0], [np.nan], [2.0], [3.0]], 0, label=[1, 1, 2, 2]), "label")
    with pytest.raises(DataError, match="the centres have 2 columns, but the table has 1"):
        Reference.nearest(scattered(X, 0), [[1.0, 2.0]])


@law(4)
def test_too_many_labels(seed):
    rows = np.arange(MOST_LABELS + 1.0)
    with pytest.raises(DataError, match="more than 10000 different values; expected labels of clusters"):
        Reference.of(scattered(rows[:, None], seed, label=rows + 0.5), "label")
    source = scattered(rows[:, None], seed, label=np.maximum(rows, 1.0))
    assert Reference.of(source, "label").n_clusters == MOST_LABELS


def test_moments_in_memory_and_in_batches_of_many_rows():
    rng = np.random.default_rng(0)
    X, labels = 1e9 + rng.normal(size=(70_000, 2)), rng.integers(-1, 3, size=70_000)
    source = scattered(X, 0, label=labels)
    there = Task.of(source, Reference.of(source, "label"))
    here = Moments.of(X, labels, 3)
    np.testing.assert_array_equal(there.components.variances, here.variances)
