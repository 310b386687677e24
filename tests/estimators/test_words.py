"""An estimator keeps the method's thresholds; its words have short ones, which separate the same rows."""

import html
import json
import pickle
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boxwood
from boxwood import IMM, ExKMC, KMedians, explain, scan
from boxwood.errors import ModelError
from tests.models import read_model
from tests.scale import law

LONG = re.compile(r"\d\.\d{5}")


def customers(seed, n=200):
    """Return rows whose midpoints have digits that no one wants to read."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"revenue": rng.gamma(2, 3000, n).round(2), "age": rng.integers(18, 80, n), "share": rng.random(n)}
    )
    frame["segment"] = np.where(frame.revenue > 7000, 2, np.where(frame.share > 0.5, 1, 0))
    return frame


def words_of(ex):
    """Return all that people read of an explanation."""
    frame = html.unescape(ex._repr_html_().split('srcdoc="')[1].split('"')[0])
    frames = [ex.to_frame(what)["rule"].to_string() for what in ("clusters", "rules")]
    return [
        str(ex),
        ex.to_text(),
        ex.to_text(style="sentences"),
        ex.to_csv(),
        ex.to_markdown(),
        ex.rules(),
        frame,
        *frames,
    ]


@law(12)
def test_words_are_short_and_say_what_the_tree_does(seed):
    frame = customers(seed)
    model = IMM().fit(frame, "segment")
    ex, X = model.explanation_, frame.drop(columns="segment")
    assert ex.tree == model.tree_
    assert ex.to_sql().count(repr(float(model.tree_.upper[0]))) > 0
    said = ex._in_words()
    assert said.tree == model.tree_.shortened(X)
    assert said.predict(X).tolist() == ex.predict(X).tolist() == model.predict(X).tolist()
    for text in words_of(ex):
        assert not LONG.search(re.sub(r"(?s)<style>.*?</style>|<svg.*?</svg>|[\d.]+%|\S*,0\.\d+,", "", text)), text
    assert explain(X, model) == ex


def test_data_keep_every_digit():
    model = IMM().fit(customers(0), "segment")
    ex = model.explanation_
    ends = {piece.upper for leaf in ex.leaves for one in leaf.rule for piece in one.intervals}
    assert set(model.tree_.upper[model.tree_.feature >= 0]) <= ends
    python, page = ex.to_python(), ex.to_html()
    for threshold in model.tree_.upper[model.tree_.feature >= 0].tolist():
        assert repr(threshold) in python
        assert repr(threshold) in page  # in the form that runs, and in the code
    assert "7000" in page


def test_the_model_file_and_the_pickle_have_the_words(tmp_path):
    ex = IMM().fit(customers(1), "segment").explanation_
    ex.save(tmp_path / "model.json")
    names = {name: f"segment = {name}" for name in ex.names}
    for other in (boxwood.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(ex)), ex.rename(names)):
        assert other.tree == ex.tree
        assert other.rules() == ex.rules()
    entries = ex.to_dict()
    assert entries["leaves"][0]["rule"] in ex.to_csv()
    entries["nodes_in_words"][0]["feature"] = 1
    with pytest.raises(ModelError, match="its nodes in words are those of another tree"):
        read_model(json.dumps(entries))


def test_other_rows_have_the_words_where_these_part_them_alike():
    frame = customers(2)
    ex = IMM().fit(frame, "segment").explanation_
    later = ex.evaluate(frame.iloc[:50], "segment")
    assert [one.rules for one in later._in_words().clusters] == [one.rules for one in ex._in_words().clusters]
    node = int(np.flatnonzero(ex.tree.feature == 0)[0])
    between = frame.iloc[:1].assign(revenue=(ex.tree.upper[node] + ex._in_words().tree.upper[node]) / 2)
    other = ex.evaluate(pd.concat([frame, between], ignore_index=True), "segment")
    assert repr(float(ex.tree.upper[node])) in str(other)


def test_in_batches_the_words_are_the_same():
    frame = customers(3)
    here, by_passes = (IMM().fit(X, "segment").explanation_ for X in (frame, scan(pa.Table.from_pandas(frame))))
    assert by_passes.tree == here.tree
    assert by_passes.rules() == here.rules()
    assert by_passes._short == here._short is not None


def test_every_way_to_fit():
    X = load_iris().data
    for model in (
        ExKMC(n_clusters=3, max_leaf_nodes=5),
        IMM(make_pipeline(StandardScaler(), KMedians(3))),
        IMM(n_clusters=3),
    ):
        ex = (
            model.set_params(random_state=0).fit(X).explanation_
            if "random_state" in model.get_params()
            else model.fit(X).explanation_
        )
        assert ex._in_words().predict(X).tolist() == model.predict(X).tolist()
        assert not LONG.search(model.explanation_.rules())
    assert explain(X, load_iris().target)._short is None  # its tree has short thresholds itself
