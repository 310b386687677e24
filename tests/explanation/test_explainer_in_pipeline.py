"""An explainer behind the steps of a pipeline is explained by its own tree, not by the labels that this tree gives."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, StandardScaler

import boxwood as bw
from boxwood.errors import DataError
from tests.scale import each, law

EXPLAINERS = ("IMM", "MMDT", "ExKMC", "CART", "KernelIMM", "KernelExKMC", "KernelExpand", "KernelMMDT")


def blobs(seed, n=80):
    rng = np.random.default_rng(seed)
    centers = 4 * rng.normal(size=(3, 3))
    X = centers[rng.integers(3, size=n)] + 1.5 * rng.normal(size=(n, 3))
    return pd.DataFrame(X * 10.0 ** rng.integers(-2, 4, size=3), columns=["a", "b", "c"])


@law(len(EXPLAINERS))
def test_is_explained_by_the_last_step(seed):
    rng, X = np.random.default_rng(seed), blobs(seed)
    explainer = getattr(bw, EXPLAINERS[seed % len(EXPLAINERS)])(n_clusters=3, random_state=0)
    first = [StandardScaler(), MinMaxScaler(), PowerTransformer()][rng.integers(3)]
    last = make_pipeline(StandardScaler(), explainer) if rng.random() < 0.3 else explainer
    pipeline = make_pipeline(first, last)
    fitted = clone(pipeline).fit(X)
    own, made = fitted[-1], fitted[0].transform(X)
    if last is not explainer:
        own, made = fitted[-1][-1], fitted[-1][0].transform(made)
    for clustering in (pipeline, fitted, FrozenEstimator(fitted)):
        ex = bw.explain(X, clustering)
        assert ex.columns == ("a", "b", "c")
        assert (ex.agreement, ex.n_leaves) == (own.explanation_.agreement, own.tree_.n_leaves)
        assert ex.price == pytest.approx(own.price_, rel=1e-9)
        assert (ex.predict(X) == own.predict(made)).all()
        assert own.explanation_.details.mixture is None or ex.details.mixture is None or ex.details.mixture.fitted


def test_weights_other_rows_and_searches():
    X, weights = blobs(1), np.arange(80) % 3 + 1.0
    pipeline = make_pipeline(StandardScaler(), bw.IMM(n_clusters=3, random_state=0))
    weighted = clone(pipeline).fit(X, imm__sample_weight=weights)
    assert bw.explain(X, pipeline, sample_weight=weights).agreement == weighted[-1].explanation_.agreement
    assert bw.explain(X, weighted).agreement == weighted[-1].explanation_.agreement
    others = blobs(1, n=30) + 0.1
    assert bw.explain(others, weighted).n_rows == 30
    search = GridSearchCV(pipeline, {"imm__n_clusters": [3]}).fit(X)
    assert bw.explain(X, search).agreement == search.best_estimator_[-1].explanation_.agreement


@each(
    "call, says",
    [
        (lambda X, one: bw.explain(X, make_pipeline(PCA(2), one)), "PCA mixes columns; explain the rows"),
        (lambda X, one: bw.explain(X, make_pipeline(StandardScaler(), one), method="cart"), "IMM brings its own tree"),
        (lambda X, one: bw.CART(make_pipeline(StandardScaler(), one)).fit(X), "brings its own tree"),
        (lambda X, one: bw.compare(X, make_pipeline(StandardScaler(), one)), "brings its own tree"),
    ],
)
def test_refused(call, says):
    with pytest.raises((DataError, ValueError), match=says):
        call(blobs(0), bw.IMM(n_clusters=3, random_state=0))
