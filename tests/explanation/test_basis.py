"""What an explanation says it rests on: of an estimator, on other rows, of a file."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.cluster import KMeans
from sklearn.frozen import FrozenEstimator

from boxwood import CART, IMM, Explanation, explain, scan
from boxwood.explanation import LeftOut


def customers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 90), "spent": rng.random(90), "city": ["Ulm"] * 90})
    return frame.assign(segment=np.where(frame.age > 50, "old", "young"), weight=1.0)


@pytest.mark.filterwarnings("ignore:left out")
def test_that_of_an_estimator():
    frame = customers()
    basis = IMM().fit(frame, "segment", "weight").explanation_.basis
    assert (basis.source, basis.labels, basis.n_columns) == ("a data frame of pandas", "the column segment", 5)
    assert basis.left_out == (LeftOut("text", ("city",)),)
    rows = frame[["age", "spent"]].to_numpy()
    assert CART(max_leaf_nodes=2).fit(rows, frame.segment).explanation_.basis.labels == "given labels"
    assert IMM(n_clusters=2).fit(rows).explanation_.basis.labels == "k-means, 2 clusters asked for"
    fitted = KMeans(2, n_init=1).fit(rows)
    assert IMM(FrozenEstimator(fitted)).fit(rows).explanation_.basis.labels == "KMeans"
    table = IMM().fit(scan(pa.Table.from_pandas(frame)), "segment").explanation_.basis
    assert table.labels == "the column segment"
    assert table.left_out == basis.left_out
    assert explain(rows, IMM(n_clusters=2)).basis.source == "an array"


def test_that_of_other_rows():
    frame = customers()
    ex = explain(frame, "segment", columns=["age", "spent"])
    later = frame.rename(columns={"city": "town"}).assign(segment=ex.predict(frame))
    basis = ex.measure(later, "segment").basis
    made = f"the column segment; the rules are those made from a data frame of pandas on {ex.basis.made}"
    assert basis.labels == made
    assert basis.n_columns == 5
    assert basis.left_out == (LeftOut("not chosen", ("weight", "town")),)
    loaded = Explanation.from_json(ex.to_json())
    assert loaded.measure(frame[["age", "spent"]].to_numpy(), frame.segment).basis.source == "an array"
    table = scan(pa.Table.from_pandas(later))
    assert ex.measure(table, "segment").basis.labels == made
    assert ex.measure(table, "segment").basis.source == table.name
    assert made in ex.measure(later, "segment").to_html()


def test_without_the_basis_of_the_tree():
    entries = explain(customers(), "segment", columns=["age"])
    old = entries.to_json().replace('"basis"', '"of before"')
    later = Explanation.from_json(old).measure(customers(), "segment")
    assert later.basis.labels == "the column segment"
