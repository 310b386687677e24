"""An explainer on a table in batches says what it says of the same rows in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boxwood as bw
from boxwood.errors import DataError
from tests.explanation.test_table_explain import check_equal
from tests.scale import law
from tests.scattered import scattered

NAMES = ["x0", "x1", "x2"]


def rows(seed, n=200):
    X, y = make_blobs(n, 3, centers=4, cluster_std=2.5, random_state=seed)
    return pd.DataFrame(X.round(2), columns=NAMES), y


@law(4)
@pytest.mark.parametrize("explainer", [bw.IMM, bw.MMDT, bw.Expand, bw.CART])
def test_other_rows_have_the_clusters_that_the_clusterer_predicts(explainer, seed):
    frame, _ = rows(seed)
    other = rows(seed + 50)[0]
    clusterer = GaussianMixture(3, random_state=0) if seed % 2 else KMeans(3, n_init=1, random_state=0)
    model = explainer(clusterer, random_state=0).fit(frame)
    weights = np.random.default_rng(seed).integers(1, 4, size=len(other)) if seed > 1 else None
    extra = {} if weights is None else {"w": weights}
    source = scattered(other.to_numpy(), seed, **extra)
    names = {0: "first"} if seed == 3 else None
    expected = bw.explain(other, model, sample_weight=weights, names=names)
    found = bw.explain(source, model, sample_weight=None if weights is None else "w", names=names)
    check_equal(expected, found)
    frozen = bw.explain(scattered(other.to_numpy(), seed, **extra), FrozenEstimator(model))
    assert frozen.tree == model.tree_
    with pytest.raises(ValueError, match="the tree already exists"):
        found.stability()


def test_an_explainer_without_a_tree_is_fitted_on_the_table():
    frame, _ = rows(0)
    ex = bw.explain(scattered(frame.to_numpy(), 0), bw.IMM(n_clusters=3, random_state=0))
    model = bw.IMM(n_clusters=3, random_state=0).fit(scattered(frame.to_numpy(), 1))
    assert ex == model.explanation_
    named = bw.explain(scattered(frame.to_numpy(), 2), bw.IMM(n_clusters=3, random_state=0), names=["a", "b", "c"])
    assert named.names == ("a", "b", "c")
    assert named.tree == ex.tree
    assert named.cost == pytest.approx(ex.cost)


def test_rows_have_labels_in_the_column_of_the_fit():
    (frame, y), (other, z) = rows(0), rows(9)
    model = bw.IMM().fit(scattered(frame.to_numpy(), 0, label=y), "label")
    again = bw.explain(scattered(frame.to_numpy(), 1, label=y), model)
    assert again.clusters == model.explanation_.clusters
    found = bw.explain(scattered(other.to_numpy(), 1, label=z), model)
    assert found.agreement == pytest.approx((model.predict(other) == z).mean())
    with pytest.raises(DataError, match="never seen: 9"):
        bw.explain(scattered(other.to_numpy(), 1, label=np.where(z == 0, 9, z)), model)
    with pytest.raises(DataError, match=r"predict .* explainer\.explanation_\.evaluate\(table, 'column'\)"):
        bw.explain(scattered(other.to_numpy(), 1), model)
    with pytest.raises(DataError, match="no clusterer that could predict"):
        bw.explain(scattered(frame.to_numpy(), 1, label=y), bw.IMM().fit(frame, y))


def test_what_cannot_be_measured_is_refused(rows_drawn):
    frame, y = rows(0)
    source = scattered(frame.to_numpy(), 0, label=y)
    model = bw.IMM(KMeans(3, n_init=1, random_state=0)).fit(frame)
    with pytest.raises(ValueError, match="IMM brings its own tree, so max_depth has no effect"):
        bw.explain(source, model, max_depth=2)
    with pytest.raises(ValueError, match="columns cannot be chosen for an existing tree"):
        bw.explain(source, model, columns=["x0"])
    with pytest.raises(DataError, match="no column 'x2'"):
        bw.explain(scattered(frame.to_numpy()[:, :2], 0), model)
    with pytest.raises(DataError, match="an explanation by KernelIMM needs all rows in memory"):
        bw.explain(source, bw.KernelIMM(n_clusters=2).fit(frame[:60]))
    with pytest.raises(DataError, match="a pipeline needs all rows in memory"):
        bw.explain(source, bw.IMM(make_pipeline(StandardScaler(), KMeans(3, n_init=1))).fit(frame))
    nameless = bw.IMM(KMeans(3, n_init=1, random_state=0)).fit(frame.to_numpy())
    with pytest.raises(DataError, match=r"was fitted on 3 columns, but the table has 4 of numbers"):
        bw.explain(source, nameless)
    expected = bw.explain(frame.to_numpy(), nameless, columns=NAMES)
    check_equal(expected, bw.explain(scattered(frame.to_numpy(), 0), nameless))
    with pytest.raises(DataError, match="to label a file, save the explanation and run: boxwood predict"):
        expected.predict(source)
    with pytest.raises(DataError, match="the position of a row needs all rows in memory"):
        bw.explain(source, "label", method="imm").why(3)


def test_clusters_that_the_clusterer_numbers_otherwise_are_refused():
    frame, _ = rows(0)
    model = bw.IMM(KMeans(3, n_init=1, random_state=0)).fit(frame)
    model.reference_ = model.reference_.named(["a", "b", "c"])
    with pytest.raises(DataError, match="IMM found the clusters a, b, c, but its clusterer predicts 0, 1, 2"):
        bw.explain(scattered(frame.to_numpy(), 0), model)


def test_a_reference_of_another_table_must_have_all_labels():
    (frame, y), (other, z) = rows(0), rows(9)
    reference = bw.Reference.of(scattered(frame.to_numpy(), 0, label=y), "label")
    same = scattered(other.to_numpy(), 1, label=np.minimum(z, 2))
    passes = same.runs
    assert bw.grow.imm(same, reference).n_leaves == 4
    assert same.runs > passes
    more = scattered(other.to_numpy(), 1, label=z + 1)
    for use in (bw.grow.imm, bw.explain, bw.Tally.of):
        with pytest.raises(DataError, match="column 'label' of the table that the reference does not have: 4"):
            use(more, reference)
    sizes = [one.size for one in bw.explain(same, reference, method="imm").clusters]
    assert sizes == np.bincount(np.minimum(z, 2), minlength=4).tolist()
