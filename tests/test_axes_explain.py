"""`explain` and estimators with pipelines: grown in the columns that are clustered, told in those of the table."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
)

import boxwood
from boxwood import IMM, MMDT, ExKMC, Explanation, cli, explain
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.explanation import Condition
from boxwood.render import rules
from boxwood.render._rules import condition
from boxwood.render._sql import sql_case
from boxwood.tree import Interval

METHODS = ["auto", "imm", "exkmc", "expand", "cart", "mmdt"]


def two_scales(n=200, seed=0):
    """Return four groups that show in a column of scale 1, next to one of scale 1000 with wide noise."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 4
    X = np.column_stack([6 * (labels % 2) + rng.normal(size=n), 1000 * (6 * (labels // 2) + rng.normal(size=n))])
    return X, labels


def goods(n=200, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(4, size=n)
    colour = np.array(["red", "green", "blue", "it's"])[np.where(rng.random(n) < 0.9, kind, rng.integers(4, size=n))]
    price = np.exp(rng.normal(size=n) + 3 * (kind % 2))
    return pd.DataFrame({"price": price, "colour": colour, "id": [f"g{i}" for i in range(n)]})


def pipeline(encoder, k=5):
    columns = [
        ("n", make_pipeline(FunctionTransformer(np.log), StandardScaler()), ["price"]),
        ("c", encoder, ["colour"]),
    ]
    return make_pipeline(ColumnTransformer(columns), KMeans(k, random_state=0, n_init=5))


ENCODERS = {
    "one-hot": OneHotEncoder(),
    "dropped": OneHotEncoder(drop="first"),
    "open": OneHotEncoder(handle_unknown="ignore"),
    "ordinal": OrdinalEncoder(),
    "open ordinal": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
}


@pytest.mark.parametrize("method", METHODS)
def test_the_tree_is_that_of_scaled_columns(method):
    X, _ = two_scales()
    given = make_pipeline(StandardScaler(), KMeans(4, random_state=0, n_init=5)).fit(X)
    Z = given[:-1].transform(X)
    ex, scaled = explain(X, given, method=method), explain(Z, given.predict(X), method=method)
    assert (ex.predict(X) == scaled.predict(Z)).all()
    assert ex.price == pytest.approx(scaled.price)
    assert ex.cost == pytest.approx(scaled.cost)
    assert ex.tree.feature.tolist() == scaled.tree.feature.tolist()
    assert ex.agreement > 0.98
    assert not ex.standardized
    assert "the columns that the pipeline makes (StandardScaler)" in ex.notes[-1]
    assert ex == explain(X, make_pipeline(StandardScaler(), KMeans(4, random_state=0, n_init=5)), method=method)


def test_it_is_better_than_the_tree_of_raw_columns():
    rng = np.random.default_rng(0)
    X, _ = two_scales()
    X[:, 1] += 4000 * rng.normal(size=len(X))  # where raw costs would count
    given = make_pipeline(StandardScaler(), KMeans(4, random_state=0, n_init=5)).fit(X)
    Z, found = given[:-1].transform(X), given.predict(X)
    raw = explain(X, found, method="imm")
    mapped = explain(X, given, method="auto")
    cost = {name: boxwood.metrics.partition_cost(Z, ex.predict(X)) for name, ex in [("raw", raw), ("mapped", mapped)]}
    assert mapped.cost == pytest.approx(cost["mapped"])
    assert cost["mapped"] <= cost["raw"]


@pytest.mark.parametrize(
    "step",
    [
        MinMaxScaler(),
        QuantileTransformer(n_quantiles=50),
        FunctionTransformer(np.log),
        FunctionTransformer(np.reciprocal),
    ],
)
def test_thresholds_are_short_and_raw(step):
    X = np.exp(two_scales()[0] / [3.0, 3000.0])
    given = make_pipeline(step, StandardScaler(), KMeans(4, random_state=0, n_init=5)).fit(X)
    ex = explain(X, given)
    assert ex.agreement > 0.95
    ends = np.concatenate([ex.tree.lower, ex.tree.upper])
    ends = ends[np.isfinite(ends)]
    assert len(ends) == len(ex.tree.feature) - ex.n_leaves
    assert all(len(f"{end:g}") <= 6 for end in ends)
    assert ((X.min() < ends) & (ends < X.max())).all()


def test_standardized_on_top_of_a_pipeline():
    X, _ = two_scales()
    given = make_pipeline(MinMaxScaler(), KMeans(4, random_state=0, n_init=5)).fit(X)
    ex = explain(X, given, standardize=True)
    scaled = explain(X, given.predict(X), standardize=True)
    assert ex.standardized
    assert ex.price == pytest.approx(scaled.price)
    assert (ex.predict(X) == scaled.predict(X)).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_pipelines_that_mix_columns_are_measured_raw(weighted):
    X, _ = two_scales()
    weights = np.random.default_rng(0).random(len(X)) + 0.5 if weighted else None
    given = make_pipeline(StandardScaler(), PCA(2), KMeans(4, random_state=0, n_init=5)).fit(X)
    ex = explain(X, given, sample_weight=weights)
    assert "on raw columns: PCA is not known" in ex.notes[-1]
    plain = explain(X, given.predict(X), sample_weight=weights)
    assert (ex.tree, ex.cost) == (plain.tree, plain.cost)
    frame = goods()
    mixed = make_pipeline(ColumnTransformer([("c", OneHotEncoder(sparse_output=False), ["colour"])]), PCA(2), KMeans(2))
    with pytest.raises(DataError, match="PCA is not known"):
        explain(frame, mixed)


def test_mixtures_at_the_end_of_a_pipeline():
    X, _ = two_scales()
    given = make_pipeline(FunctionTransformer(np.arcsinh), StandardScaler(), GaussianMixture(4, random_state=0)).fit(X)
    ex = explain(X, given, method="mmdt")
    assert ex.agreement > 0.95
    assert 0 <= ex.mixture.certified_error <= 1


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas])
def test_categories_in_rules_predict_and_sql(name, frame):
    table = frame(goods())
    given = pipeline(ENCODERS[name]).fit(table)
    for leaves in (None, 9):
        ex = explain(table, given, max_leaf_nodes=leaves, method="cart")
        found = ex.predict(table)
        assert ex.agreement == pytest.approx((found == given.predict(table)).mean())
        assert ex.agreement > 0.9
        assert "colour is " in rules(ex)
        assert "0.5" not in rules(ex)
        assert ex.columns == ("price", "colour", "id")
        assert (ex.predict(table[["colour", "price"]]) == found).all()
        assert (ex.predict(table.to_numpy()) == found).all()
        copied = Explanation.from_json(ex.to_json())
        assert copied == ex
        assert (copied.predict(table) == found).all()
        assert (labelled_by_sql(ex, goods()) == found).all()


def labelled_by_sql(ex, table):
    query = sql_case(ex.tree, ex.columns, ex.names, ex.coded_columns)
    with duckdb.connect() as con:
        con.register("goods", table)
        return np.array([row[0] for row in con.execute(f"SELECT {query} FROM goods").fetchall()], dtype=object)


@pytest.mark.parametrize(
    ("codes", "others", "words"),
    [
        ([2], False, "colour is red"),
        ([0, 2], False, "colour is not green"),
        ([0, 1], False, "colour is not red"),
        ([0, 2], True, "colour is blue or red"),
        ([0, 1, 2], True, "colour is blue, green or red"),
        ([1, 3], True, "colour is neither blue nor red"),
        ([3], True, "colour is neither blue, green nor red"),
        ([1, 2, 3], True, "colour is not blue"),
    ],
)
def test_words_for_categories(codes, others, words):
    pieces = tuple(Interval(float(code), float(code), True, True) for code in codes)
    assert condition(Condition("colour", pieces, Categories(("blue", "green", "red"), others))) == words


def test_values_that_were_not_there():
    table, new = goods(), pd.DataFrame({"price": [1.0, 1.0, 1.0], "colour": ["pink", "red", None]})
    closed = explain(table, pipeline(OneHotEncoder()), method="cart")
    with pytest.raises(DataError, match="colour has 2 values that are missing or none of blue, green, it's, red"):
        closed.predict(new)
    assert list(labelled_by_sql(closed, new)) == [None, closed.predict(new[1:2])[0], None]
    opened = explain(table, pipeline(OneHotEncoder(handle_unknown="ignore")), method="cart")
    found = opened.predict(new[:2])
    assert found[0] in opened.names
    assert list(labelled_by_sql(opened, new)) == [*found, None]
    with pytest.raises(DataError, match="colour has 1 values"):
        opened.predict(new)
    with pytest.raises(DataError, match="no column 'colour'"):
        opened.predict(new[["price"]])


def test_a_missing_value_may_be_a_category():
    table = goods()
    table["colour"] = table["colour"].where(table["colour"] != "red", None)
    for handled in ("error", "ignore"):
        ex = explain(table, pipeline(OneHotEncoder(handle_unknown=handled)), max_leaf_nodes=9, method="cart")
        assert "missing" in rules(ex)
        assert (labelled_by_sql(ex, table) == ex.predict(table)).all()
        assert Explanation.from_json(ex.to_json()) == ex


def test_every_rule_holds_its_rows():
    for name in ENCODERS:
        table = goods(seed=1)
        ex = explain(table, pipeline(ENCODERS[name]), max_leaf_nodes=8, method="cart")
        leaf = ex.apply(table)
        for summary in ex.leaves:
            held = np.ones(len(table), dtype=bool)
            for one in summary.rule:
                values = table[one.column]
                if one.categories is None:
                    held &= np.array([any(v in piece for piece in one.intervals) for v in values])
                else:
                    named, included = one.categories.chosen({piece.lower for piece in one.intervals})
                    held &= values.isin(named).to_numpy() == included
            assert (held == (leaf == summary.leaf)).all()


def test_model_files_of_categories_are_checked():
    ex = explain(goods(), pipeline(OneHotEncoder()))
    document = ex.to_dict()
    assert document["version"] == 2
    assert explain(two_scales()[0], n_clusters=2).to_dict()["version"] == 1
    with pytest.raises(boxwood.errors.ModelError, match="categories must be text, numbers or null"):
        Explanation.from_json(ex.to_json().replace('"others": false', '"others": 3'))


@pytest.mark.parametrize("estimator", [IMM, ExKMC, MMDT])
def test_estimators_grow_in_the_columns_of_a_pipeline(estimator):
    X, _ = two_scales()
    given = make_pipeline(StandardScaler(), KMeans(4, random_state=0, n_init=5))
    for rows in (X, pd.DataFrame(X, columns=["a", "b"])):
        model = estimator(given).fit(rows)
        Z = model.clusterer_[:-1].transform(rows)
        scaled = estimator().fit(Z, model.clusterer_.predict(rows))
        assert (model.predict(rows) == scaled.predict(Z)).all()
        assert model.price_ == pytest.approx(scaled.price_)
        assert model.cluster_centers_[:, 1].max() > 1000
        assert (model.labels_ == model.predict(rows)).all()
    mixed = estimator(make_pipeline(PCA(2), KMeans(4, random_state=0, n_init=5))).fit(X)
    assert (mixed.predict(X) == estimator().fit(X, mixed.clusterer_.predict(X)).predict(X)).all()


def test_the_command_line_refuses_categories(tmp_path):
    table, model = tmp_path / "goods.csv", tmp_path / "model.json"
    goods().to_csv(table, index=False)
    explain(goods(), pipeline(OneHotEncoder()), method="cart").save(model)
    result = CliRunner().invoke(cli.boxwood, ["predict", str(model), str(table)])
    assert result.exit_code == 3
    assert "the model tests categories (colour)" in result.stderr
