"""Damaged model files: either refused when they are read, or everything works."""

import copy
import json
import math

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from boxwood import ThresholdTree, explain, load
from boxwood.errors import ModelError
from boxwood.render import sql
from tests.explanation.test_pipelines import goods, pipeline
from tests.models import read_model
from tests.scale import law

HOSTILE = [
    None, True, False, 0, 1, -1, 2, 3.5, -0.0, 1e308, -1e308, 10**400, -(10**400), 2**63, 2**70, math.nan, math.inf,
    -math.inf, "inf", "-inf", "nan", "", "a", "5", "\x1b[31m", "\ud800", "x" * 10_000, [], {}, [None], ["a", "a"], [[]],
    [1, 2], {"a": 1}, {"values": [], "others": True}, {"values": ["a"], "others": False}, {"cluster": 0}, {"leaf": 0},
]  # fmt: skip


@pytest.fixture(scope="module")
def documents():
    """Models with every kind of facts."""
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)) + 9 * i for i in range(3)])
    y = np.repeat([0, 1, 2], 30)
    models = [
        explain(X, GaussianMixture(3, covariance_type="diag", random_state=0), method="mmdt"),
        explain(X, y, method="random_cuts"),
        explain(X, y, method="kernel_imm"),
        explain(X, np.array(["a", "b", "c"])[y], max_leaf_nodes=5, method="expand"),
        explain(goods(), pipeline(OneHotEncoder()), method="cart", max_leaf_nodes=6),
    ]
    models.append(measured(X, y))
    for model in models[-2:]:
        model.profile()
    return [json.loads(model.to_json()) for model in models]


def measured(X, y):
    """Return an explanation with everything that is measured when it is asked for."""
    ex = explain(X, y, method="cart", validate=2)
    ex.frontier(2)
    ex.stability(2)
    return ex


def places(value, path=()):
    """Yield the path of every value of a document."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


def damaged(rng, document):
    """Return a copy with one value replaced, removed, repeated, or swapped with another."""
    document = copy.deepcopy(document)
    paths = [path for path in places(document) if path]
    path = paths[rng.integers(len(paths))]
    *outer, key = path
    parent = document
    for step in outer:
        parent = parent[step]
    how = rng.integers(4)
    if how == 0:
        del parent[key]
    elif how == 1 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif how == 2 and isinstance(parent[key], (int, float)) and not isinstance(parent[key], bool):
        parent[key] = [-parent[key], parent[key] + 1, parent[key] * 10.0**300, str(parent[key])][rng.integers(4)]
    else:
        parent[key] = copy.deepcopy(HOSTILE[rng.integers(len(HOSTILE))])
    return document, path


def read_or_refused(text):
    """Return the explanation, or None and the reason."""
    try:
        return read_model(text), ""
    except ModelError as error:
        return None, str(error)


def use_facts(ex, row):
    """Use what an explanation keeps of its rows."""
    assert str(ex.why(row))
    assert len(ex.to_frame()) == ex.n_clusters
    assert ex.details.noise is None or sum(ex.details.noise) <= ex.n_left_out
    assert ex.rename({ex.names[0]: "a new name"}).names[0] == "a new name"
    if ex._kept.get("profile"):  # a file may tell of no column, as where each cluster has few rows
        assert ex.to_frame("profile").notna().any(axis=None)
        assert read_model(ex.to_json()).profile() == ex.profile()


def test_a_model_that_was_read_is_written_as_it_was(documents):
    for document in documents:
        text = json.dumps(document)
        assert read_model(text).to_dict() == document
        assert json.dumps(read_model(text).to_dict()) == text


def test_damage_is_told_by_its_place(documents):
    document = copy.deepcopy(documents[-1])
    document["frontier"]["rows"][1]["agreement"] = "all"
    with pytest.raises(ModelError, match=r"frontier.rows\[1\].agreement: expected a number from 0 to 1, got 'all'"):
        read_model(json.dumps(document))


@law(8)
def test_a_damaged_model_is_refused_or_works(documents, seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        document, path = damaged(rng, documents[rng.integers(len(documents))])
        text = json.dumps(document)
        ex, reason = read_or_refused(text)
        assert len(reason) < 300, path
        if ex is None:
            continue
        assert str(ex).encode("utf-8"), path
        assert ex.rules()
        assert sql(ex)
        assert repr(ex)
        assert all(str(each).encode("utf-8") for each in ex._kept.values()), path
        assert read_model(ex.to_json()) == ex, path
        row = np.empty((1, len(ex.columns)), dtype=object)
        row[0] = [0.5 if j not in ex._coded_columns else "red" for j in range(len(ex.columns))]
        assert len(ex.predict(row, missing="none")) == 1, path
        use_facts(ex, row[0])


@pytest.mark.parametrize("digits", [5_000, 10_001])
def test_numbers_of_thousands_of_digits_are_refused(documents, digits):
    for place in ('"n_rows": 90', '"size": 30'):
        text = json.dumps(documents[3])
        assert place in text
        with pytest.raises(ModelError, match="boxwood model"):
            read_model(text.replace(place, place.split(":")[0] + ": " + "9" * digits, 1))
    tree = '{"format": "boxwood-tree", "version": 1, "nodes": [{"leaf": 0, "cluster": ' + "9" * digits + "}]}"
    with pytest.raises(ModelError):
        ThresholdTree.from_json(tree)


def test_sizes_that_add_up_to_more_than_the_largest_float_are_refused(documents):
    document = copy.deepcopy(documents[3])
    for leaf in document["leaves"][:2]:
        leaf["size"] = 1.2e308
    with pytest.raises(ModelError, match="add up to more than the largest float"):
        read_model(json.dumps(document))


def test_a_certificate_of_more_than_all_rows_is_refused(documents):
    document = copy.deepcopy(next(each for each in documents if "mixture" in each))
    assert read_model(json.dumps(document)).details.mixture.certified_error <= 1
    document["mixture"]["certified_error"] = 1e308
    with pytest.raises(ModelError, match="expected a number from 0 to 1, got 1e"):
        read_model(json.dumps(document))


def test_endless_files_are_not_read_to_their_end(tmp_path, monkeypatch):
    with pytest.raises(ModelError, match="/dev/zero is not a boxwood model"):
        load("/dev/zero")
    monkeypatch.setattr("boxwood.explanation.model_file._LARGEST", 1 << 20)
    (tmp_path / "m.json").write_text('{"notes": "' + "x" * (1 << 20) + '"}')
    with pytest.raises(ModelError, match="it is larger than 1 MiB"):
        load(tmp_path / "m.json")
