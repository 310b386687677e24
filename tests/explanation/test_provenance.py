"""What an explanation says it rests on: of an estimator, on other rows, of a file."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.cluster import KMeans
from sklearn.frozen import FrozenEstimator

from boxwood import CART, IMM, explain, scan
from boxwood.explanation import LeftOut
from tests.models import read_model


def customers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 90), "spent": rng.random(90), "city": ["Ulm"] * 90})
    return frame.assign(segment=np.where(frame.age > 50, "old", "young"), weight=1.0)


@pytest.mark.filterwarnings("ignore:left out")
def test_that_of_an_estimator():
    frame = customers()
    provenance = IMM().fit(frame, "segment", "weight").explanation_.provenance
    wanted = "a data frame of pandas", "the column segment", 5
    assert (provenance.source, provenance.labels, provenance.n_columns) == wanted
    assert provenance.left_out == (LeftOut("text", ("city",)),)
    rows = frame[["age", "spent"]].to_numpy()
    assert CART(max_leaf_nodes=2).fit(rows, frame.segment).explanation_.provenance.labels == "given labels"
    assert IMM(n_clusters=2).fit(rows).explanation_.provenance.labels == "k-means, 2 clusters asked for"
    fitted = KMeans(2, n_init=1).fit(rows)
    assert IMM(FrozenEstimator(fitted)).fit(rows).explanation_.provenance.labels == "KMeans"
    table = IMM().fit(scan(pa.Table.from_pandas(frame)), "segment").explanation_.provenance
    assert table.labels == "the column segment"
    assert table.left_out == provenance.left_out
    assert explain(rows, IMM(n_clusters=2)).provenance.source == "an array"


def test_that_of_other_rows():
    frame = customers()
    ex = explain(frame, "segment", columns=["age", "spent"])
    later = frame.rename(columns={"city": "town"}).assign(segment=ex.predict(frame))
    provenance = ex.evaluate(later, "segment").provenance
    made = f"the column segment; the rules are those made from a data frame of pandas on {ex.provenance.made}"
    assert provenance.labels == made
    assert provenance.n_columns == 5
    assert provenance.left_out == (LeftOut("not chosen", ("weight", "town")),)
    loaded = read_model(ex.to_json())
    assert loaded.evaluate(frame[["age", "spent"]].to_numpy(), frame.segment).provenance.source == "an array"
    table = scan(pa.Table.from_pandas(later))
    assert ex.evaluate(table, "segment").provenance.labels == made
    assert ex.evaluate(table, "segment").provenance.source == table.name
    assert made in ex.evaluate(later, "segment").to_html()


def test_without_the_basis_of_the_tree():
    entries = explain(customers(), "segment", columns=["age"])
    old = entries.to_json().replace('"provenance"', '"of before"')
    later = read_model(old).evaluate(customers(), "segment")
    assert later.provenance.labels == "the column segment"
