"""`explain` and estimators with pipelines: grown in the columns that are clustered, told in those of the table."""

import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import boxwood
from boxwood import IMM, MMDT, ExKMC, Reference, explain, grow
from boxwood._validation import Rows
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.explanation import Condition
from boxwood.reference.clusterer import reference_in
from boxwood.reference.feature_space import FeatureSpace
from boxwood.render.forms.sql import sql_case
from boxwood.tree import Interval
from boxwood.words.rules import condition
from tests.cases import make_case
from tests.command import invoke
from tests.models import read_model
from tests.scale import SLOW, law, seeds, share

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
    assert not ex.details.standardized
    assert "the columns that the pipeline computes (StandardScaler)" in ex.notes[-1]
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
    assert ex.details.standardized
    assert ex.price == pytest.approx(scaled.price)
    assert (ex.predict(X) == scaled.predict(X)).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_pipelines_that_mix_columns_are_measured_raw(weighted):
    X, _ = two_scales()
    weights = np.random.default_rng(0).random(len(X)) + 0.5 if weighted else None
    given = make_pipeline(StandardScaler(), PCA(2), KMeans(4, random_state=0, n_init=5)).fit(X)
    ex = explain(X, given, sample_weight=weights)
    assert ex.notes[-1] == "PCA mixes columns, so the rules use the raw ones, and the price is in raw units"
    plain = explain(X, given.predict(X), sample_weight=weights)
    assert (ex.tree, ex.cost) == (plain.tree, plain.cost)


MIXERS = {
    "PCA": lambda: [PCA(2)],
    "TruncatedSVD": lambda: [TruncatedSVD(2)],
    "PolynomialFeatures": lambda: [PolynomialFeatures(2)],
    "Nystroem": lambda: [Nystroem(n_components=9, random_state=0)],
    "SimpleImputer": lambda: [SimpleImputer(add_indicator=True)],
    "FunctionTransformer": lambda: [FunctionTransformer(lambda X: X @ np.ones((X.shape[1], 2)))],
}


def with_mixer(name, last, fills=True):
    numbers = make_pipeline(*([SimpleImputer()] if fills else []), StandardScaler())
    columns = [("c", OneHotEncoder(sparse_output=False), ["colour"]), ("n", numbers, ["price"])]
    return make_pipeline(ColumnTransformer(columns), *MIXERS[name](), last)


@law(6)
def test_behind_steps_that_mix_columns_rules_are_those_of_the_labels(seed):
    rng = np.random.default_rng(seed)
    frame = goods(seed=seed)[["price", "colour"]]
    if seed % 2:
        frame.loc[rng.random(len(frame)) < 0.1, "price"] = np.nan
    name, quick = [*MIXERS][seed % len(MIXERS)], {"method": "cart", "max_leaf_nodes": 4}
    given = with_mixer(name, KMeans(3, random_state=seed, n_init=2))
    ex, labels = explain(frame, given, **quick), given.fit_predict(frame)
    plain = explain(frame, labels, **quick)
    assert f"{name} " in ex.notes[0]
    assert "so the rules use the raw ones" in ex.notes[0]
    assert (ex.tree, ex.n_left_out) == (plain.tree, 0)
    assert ex == explain(frame, given.fit(frame), **quick)
    assert ex.predict(frame.iloc[::-1]).tolist() == plain.predict(frame.iloc[::-1]).tolist()
    assert ex.evaluate(frame, labels).agreement == pytest.approx(ex.agreement)
    assert boxwood.compare(frame, given, methods=["cart"], max_leaf_nodes=3).rows[0].agreement > 0.5


@pytest.mark.parametrize("last", [KMeans(3, random_state=0, n_init=2), AgglomerativeClustering(3)])
def test_rows_that_a_mixing_pipeline_cannot_read_are_left_out(last):
    frame = goods()[["price", "colour"]]
    frame.loc[:4, "price"] = np.nan
    ex = explain(frame, with_mixer("PCA", last, fills=False))
    assert "5 of 200 rows lack a value and were left out: price (5)" in ex.notes
    assert (ex.n_rows, ex.n_left_out) == (200, 5)
    whole = explain(frame.iloc[5:], with_mixer("PCA", last, fills=False))
    assert ex.rules() == whole.rules()
    with pytest.raises(DataError, match="missing values in 5 of 200 rows"):
        explain(frame, with_mixer("PCA", last, fills=False), missing="refuse")


def test_a_mixing_pipeline_that_fills_gaps_of_an_array_names_all_rows():
    X, _ = two_scales()
    X[:9, 0] = np.nan
    ex = explain(X, make_pipeline(SimpleImputer(), StandardScaler(), PCA(2), KMeans(4, random_state=0, n_init=2)))
    assert ex.n_left_out == 0
    assert (ex.predict(X) >= 0).all()


def test_mixtures_at_the_end_of_a_pipeline():
    X, _ = two_scales()
    given = make_pipeline(StandardScaler(), GaussianMixture(4, random_state=0)).fit(X)
    ex = explain(X, given, method="mmdt")
    assert ex.agreement > 0.95
    assert 0 <= ex.details.mixture.certified_error <= 1
    curved = make_pipeline(FunctionTransformer(np.arcsinh), *(step for _, step in given.steps)).fit(X)
    ex = explain(X, curved, method="mmdt")
    assert ex.agreement > 0.95
    assert ex.details.mixture is None  # what is a Gaussian there is none in the columns of the table


@pytest.mark.crossed
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
        assert "colour is " in ex.rules()
        assert "0.5" not in ex.rules()
        assert ex.columns == ("price", "colour", "id")
        assert (ex.predict(table[["colour", "price"]]) == found).all()
        assert (ex.predict(table.to_numpy()) == found).all()
        copied = read_model(ex.to_json())
        assert copied == ex
        assert (copied.predict(table) == found).all()
        assert (labelled_by_sql(ex, goods()) == found).all()


def labelled_by_sql(ex, table):
    query = sql_case(ex.tree, ex.columns, ex.names, ex._coded_columns)
    with duckdb.connect() as con:
        con.register("goods", table)
        return np.array([row[0] for row in con.execute(f"SELECT {query} FROM goods").fetchall()], dtype=object)


@pytest.mark.parametrize(
    ("codes", "others", "words"),
    [
        ([2], False, "colour is red"),
        ([0, 2], False, "colour is blue or red"),
        ([0, 1], False, "colour is blue or green"),
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
    message = (
        "2 of 3 rows hold no value that their rule knows, first row 0: colour is 'pink', which was never seen "
        ".known: blue, green, it's"
    )
    with pytest.raises(DataError, match=message):
        closed.predict(new, missing="error")
    none = -1 if isinstance(closed.names[0], int) else None
    assert closed.predict(new, missing="none").tolist() == [none, closed.predict(new[1:2])[0], none]
    assert list(labelled_by_sql(closed, new)) == [None, closed.predict(new[1:2])[0], None]
    opened = explain(table, pipeline(OneHotEncoder(handle_unknown="ignore")), method="cart")
    found = opened.predict(new[:2])
    assert found[0] in opened.names
    assert list(labelled_by_sql(opened, new)) == [*found, None]
    with pytest.raises(DataError, match=r"1 of 3 rows lack a value .* first row 2: colour is missing"):
        opened.predict(new, missing="error")
    with pytest.raises(DataError, match="no column 'colour'"):
        opened.predict(new[["price"]])


def test_a_missing_value_may_be_a_category():
    table = goods()
    table["colour"] = table["colour"].where(table["colour"] != "red", None)
    for handled in ("error", "ignore"):
        ex = explain(table, pipeline(OneHotEncoder(handle_unknown=handled)), max_leaf_nodes=9, method="cart")
        assert "missing" in ex.rules()
        assert (labelled_by_sql(ex, table) == ex.predict(table)).all()
        assert read_model(ex.to_json()) == ex


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
    with pytest.raises(boxwood.errors.ModelError, match="others: expected true or false, got 3"):
        read_model(ex.to_json().replace('"others": false', '"others": 3'))


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


def test_every_row_keeps_its_leaf_where_thresholds_are_short(monkeypatch):
    pulled_back, shortened, checked = FeatureSpace.pulled_back, FeatureSpace.shortened, []
    routed = []

    def kept(place, tree):
        routed.append(tree.predict(place.rows))
        return pulled_back(place, tree)

    def compared(place, tree):
        short = shortened(place, tree)
        checked.append((short.predict(place.table) == routed[-1]).all())
        return short

    monkeypatch.setattr(FeatureSpace, "pulled_back", kept)
    monkeypatch.setattr(FeatureSpace, "shortened", compared)
    steps = [StandardScaler(), RobustScaler(), MinMaxScaler(), QuantileTransformer(n_quantiles=7), PowerTransformer()]
    for seed in seeds(25):
        rng = np.random.default_rng(seed)
        X = make_case(seed, max_columns=3).X
        step = steps[seed % len(steps)]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                given = make_pipeline(step, Nothing(rng.integers(3, size=len(X)))).fit(X)
                finite = np.isfinite(given[:-1].transform(X)).all()
            except ValueError:  # scikit-learn gives up on the column
                continue
        if finite and len(set(given[-1].labels_)) > 1:
            explain(X, given, method="cart", max_leaf_nodes=5, standardize=bool(seed % 2))
    assert len(checked) > share(15)
    assert all(checked)


class Nothing(ClusterMixin, BaseEstimator):
    """A clusterer whose labels are known before."""

    def __init__(self, labels=None):
        self.labels = labels

    def fit(self, X, y=None):
        self.labels_ = self.labels
        return self


@pytest.mark.parametrize("objective", ["l1", "l2"])
def test_centres_are_those_of_the_last_step(objective):
    X, _ = two_scales()
    X[::17] *= 3
    given = make_pipeline(StandardScaler(), boxwood.KMedians(4, objective=objective, random_state=0))
    model = IMM(given).fit(X)
    Z, last = model.clusterer_[:-1].transform(X), model.clusterer_[-1]
    seen = reference_in(model.clusterer_, Rows(Z), model.reference_)
    assert (seen.centers == last.cluster_centers_).all()
    own = grow.imm(Z, Reference(last.labels_, last.cluster_centers_))
    assert (model.predict(X) == own.predict(Z)).all()
    assert (explain(X, model.clusterer_, method="imm").predict(X) == own.predict(Z)).all()
    frozen = make_pipeline(model.clusterer_[0], FrozenEstimator(last))
    assert (reference_in(frozen, Rows(Z), model.reference_).centers == last.cluster_centers_).all()


def test_centres_of_columns_in_another_order_are_not_taken_for_those_of_the_rows():
    X, _ = two_scales()
    frame = pd.DataFrame(X, columns=["a", "b"])
    given = GaussianMixture(4, random_state=0).fit(frame)
    turned = explain(frame, given, columns=["b", "a"], method="imm")
    assert (turned.predict(frame) == explain(X, given.predict(frame), method="imm").predict(X)).all()


# --------------------------------------------------------------------------------------- categories of every kind

KINDS = {
    "text": ["x", "it's", "z w"],
    "marks": ["NA", "null", ""],
    "codes": ["007", "7", "07"],
    "padded": [" x", "x", "X"],
    "missing": ["a", None, "b"],
    "booleans": [True, False, True],
    "truths": ["True", "False", "true"],
    "whole": [3, 20, None],
    "numbers": [0.5, 1e16, 1.5],
}


def kinds(name, n=300, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n)
    values = np.empty(n, dtype=object)
    values[:] = [KINDS[name][i] for i in kind]
    return pd.DataFrame({'a "b"': rng.normal(size=n) + 4 * (kind == 1), "of, what": pd.Series(values, dtype=object)})


def explained(name, encoder, **options):
    frame = kinds(name)
    columns = [("n", StandardScaler(), ['a "b"']), ("c", encoder, ["of, what"])]
    given = make_pipeline(ColumnTransformer(columns, sparse_threshold=0), KMeans(3, n_init=3, random_state=0))
    return frame, explain(frame, given.fit(frame), method="cart", max_leaf_nodes=5, **options)


@pytest.mark.crossed
@pytest.mark.parametrize("handled", ["error", "ignore"])
@pytest.mark.parametrize("name", KINDS)
def test_sql_of_categories_of_every_kind(name, handled):
    frame, ex = explained(name, OneHotEncoder(handle_unknown=handled))
    assert ("of, what is " if name != "booleans" else "of, what") in ex.rules()
    assert (labelled_by_sql(ex, frame) == ex.predict(frame)).all()
    assert read_model(ex.to_json()) == ex


@pytest.mark.crossed
@pytest.mark.parametrize(
    ("form", "out"), [("csv", "o.parquet"), ("parquet", "o.csv")] + SLOW * [("csv", "o.csv"), ("tsv", "o.jsonl")]
)
@pytest.mark.parametrize("name", KINDS)
def test_the_command_line_labels_categories_as_predict_does(name, form, out, tmp_path):
    frame, ex = explained(name, OneHotEncoder(handle_unknown="ignore"))
    paths = [str(tmp_path / path) for path in ("model.json", f"t.{form}", out)]
    ex.save(paths[0])
    if form == "parquet":
        frame.to_parquet(paths[1])
    else:
        frame.to_csv(paths[1], index=False, sep="," if form == "csv" else "\t")
    invoke("predict", *paths[:2], "-o", paths[2], "-q")
    found = duckdb.execute(f"SELECT cluster FROM '{paths[2]}'").fetchnumpy()["cluster"]
    assert (found == ex.predict(frame)).all()


def test_what_the_command_line_says_of_values_that_were_not_there(tmp_path):
    paths = [str(tmp_path / path) for path in ("model.json", "t.csv", "t.parquet", "out.csv")]
    new = pd.DataFrame({"id": [1, 2, 3, 4], 'a "b"': [4.0] * 4, "of, what": ["z w", "NA", "pink", ""]})
    new.to_csv(paths[1], index=False)
    new.to_parquet(paths[2])
    explained("text", OneHotEncoder())[1].save(paths[0])
    query = f"SELECT * REPLACE (NULLIF(\"of, what\", '') AS \"of, what\") FROM '{paths[2]}'"
    for table, unseen in (
        ([paths[1]], ("1 row has", "'pink'")),  # in CSV a mark and an empty text are missing
        ([paths[2]], ("3 rows have", "''; NULLIF(\"of, what\", '') in --sql QUERY makes an empty text missing")),
        (["--sql", query], ("2 rows have", "'NA'")),
    ):
        result = invoke("predict", paths[0], *table, "-o", paths[3], "--fail-over-empty", "1", code=None)
        labels = pd.read_csv(paths[3], dtype=str, keep_default_na=False)["cluster"]
        assert (result.exit_code, labels[0] != "", list(labels[1:])) == (0, True, ["", "", ""])
        assert "3 rows left without a cluster: their value of " in result.stderr
        assert f"column of, what: {unseen[0]} a value that was never seen, such as {unseen[1]}\n" in result.stderr
    opened = explained("text", OneHotEncoder(handle_unknown="ignore"))[1]
    opened.save(paths[0])
    known = [str(label) for label in opened.predict(new)]
    for path, expected in ((paths[1], [known[0], "", known[2], ""]), (paths[2], known)):
        result = invoke("predict", paths[0], path, "-o", paths[3], code=None)
        labels = pd.read_csv(paths[3], dtype=str, keep_default_na=False)["cluster"]
        assert (result.exit_code, list(labels)) == (0, expected)
    new = new[:3].assign(**{"of, what": ["x", 5, None]})
    explained("whole", OneHotEncoder())[1].save(paths[0])
    new.to_csv(paths[1], index=False)
    result = invoke("predict", paths[0], paths[1], code=4)
    assert [line.rsplit(",", 1)[1] == "" for line in result.stdout.splitlines()[1:]] == [True, True, False]
    assert "column of, what: 2 rows have a value that was never seen, such as '5" in result.stderr


def test_export_of_sql(tmp_path):
    table, model = goods(), str(tmp_path / "model.json")
    ex = explain(table, pipeline(OneHotEncoder()), method="cart")
    ex.save(model)
    result = invoke("export", model, "--to", "sql")
    assert result.stdout == f"{ex.to_sql()}\n"
    with duckdb.connect() as con:
        con.register("goods", table)
        found = con.execute(f"SELECT {result.stdout} AS cluster FROM goods").fetchnumpy()["cluster"]
    assert (found == ex.predict(table)).all()


def test_categories_that_no_rule_can_name_are_refused():
    frame = kinds("text")
    frame["of, what"] = pd.to_datetime(
        frame["of, what"].map({"x": "2020-01-01", "it's": "2021-01-01", "z w": "2022-01-01"})
    )
    given = make_pipeline(ColumnTransformer([("c", OneHotEncoder(sparse_output=False), ["of, what"])]), KMeans(3))
    ex = explain(frame, given)
    assert ex.notes[0].startswith("'of, what' has categories of type datetime64, so the rules use the raw ones")
    assert [one.dates is not None for rules in ex.clusters[0].rules for one in rules] == [True]


def test_texts_that_could_be_misread_are_quoted():
    pieces = tuple(Interval(float(code), float(code), True, True) for code in range(5))
    values = ("", " x", "missing", "a, b", None)
    words = condition(Condition("c", pieces, Categories((*values, "other", "more", "y", "z", "v"), False)))
    assert words == 'c is "", " x", "missing", "a, b" or missing'


def test_no_gap_is_told_of_a_tree_that_has_more_leaves_on_the_columns_of_the_table():
    rng = np.random.default_rng(0)
    rare = [0.17, 0.08] * 4  # 1, 3, 5 and 7, which share a column of the encoder but are not neighbours
    numbers = pd.DataFrame({"kind": rng.choice(8, 400, p=rare).astype(float), "x": rng.normal(size=400) / 8})
    words = numbers.assign(kind=np.array(list("abcdefgh"))[numbers["kind"].astype(int)])  # of which one cut is a set
    for frame, least in ((numbers, 0.13), (numbers, None), (words, 0.13), (words, None)):
        encoder = ColumnTransformer([("c", OneHotEncoder(min_frequency=least), ["kind"])], remainder="passthrough")
        fitted = make_pipeline(encoder, KMeans(2, n_init=3, random_state=0)).fit(frame)
        for limits in ({}, {"max_depth": 2}):
            ex = explain(frame, fitted, **limits)
            is_chain = frame is numbers and least is not None
            assert (ex.n_leaves > 2, ex.search_report.gap) == (is_chain, None)  # nor of sets that are no column
    few = words.assign(kind=words["kind"].map(dict(zip("abcdefgh", "xyzzzzzz", strict=True))))
    for encoder, gap in (
        (OneHotEncoder(), 0),
        (OneHotEncoder(drop="first"), None),
    ):  # without {x}, which is all columns 0
        encoded = ColumnTransformer([("c", encoder, ["kind"])], remainder="passthrough")
        assert (
            explain(few, make_pipeline(encoded, KMeans(2, n_init=3, random_state=0)).fit(few)).search_report.gap == gap
        )


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("name", ["k-means", "mixture", "pipeline", "of words"])
def test_a_fitted_clusterer_gets_the_columns_of_its_fit(make, name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 3)), columns=["a", "b", "c"])
    frame["a"] += 6 * (np.arange(150) % 3)
    frame["word"], frame["day"] = np.resize(["x", "y"], 150), pd.Timestamp("2026-01-01")
    known = {
        "k-means": KMeans(3, n_init=1, random_state=0),
        "mixture": GaussianMixture(3, random_state=0),
        "pipeline": make_pipeline(StandardScaler(), KMeans(3, n_init=1, random_state=0)),
        "of words": boxwood.MixedKMeans(3, random_state=0),
    }
    fitted = known[name].fit(frame[["word", "a"] if name == "of words" else ["c", "a"]])
    columns = list(fitted.feature_names_in_)
    alone, ex = explain(frame[columns], fitted), explain(make(frame), fitted, forbidden=["b"])
    assert (ex.tree, ex.columns, ex.agreement, ex.price) == (alone.tree, alone.columns, alone.agreement, alone.price)
    others = ", ".join(column for column in frame if column not in columns)
    assert f"left out, not among those that the clusterer was fitted on: {others}" in ex.notes
    assert ex.predict(make(frame)).tolist() == alone.predict(frame).tolist()
    turned = explain(make(frame[columns[::-1]]), fitted)
    assert (turned.tree, turned.columns, turned.notes) == (alone.tree, alone.columns, alone.notes)


@pytest.mark.parametrize("scaler", ["passthrough", None, StandardScaler()], ids=["passthrough", "none", "scaler"])
def test_a_step_that_is_switched_off_makes_no_columns(scaler):
    X = np.random.default_rng(0).normal(size=(60, 2))
    pipeline = make_pipeline("passthrough", scaler, KMeans(2, n_init=1, random_state=0))
    for ex in (explain(X, pipeline), IMM(pipeline).fit(X).explanation_):
        made = [note for note in ex.notes if "that the pipeline computes" in note]
        assert len(made) == isinstance(scaler, StandardScaler)
        assert all("(StandardScaler)" in note for note in made)


FILLED = {  # a number that occurs, so that no short threshold lies between it and the next
    "most_frequent": lambda: SimpleImputer(strategy="most_frequent"),
    "constant": lambda: SimpleImputer(strategy="constant", fill_value=3.0),
}
METHODS_OF_NUMBERS = ["imm", "exkmc", "expand", "cart", "mmdt", "random_cuts"]


def with_gaps(rng, n=160):
    """Return whole numbers in four groups, of which one column in two lacks some, and words."""
    group = np.arange(n) % 4
    frame = pd.DataFrame({"a": rng.poisson(2 + 12 * (group % 2)), "b": rng.poisson(3 + 9 * (group // 2))})
    frame = frame.astype(float).assign(whole=rng.normal(size=n), word=np.array(["p", "q"])[group % 2])
    frame.loc[n - 1, ["a", "b"]] = 3.0
    frame.loc[rng.random(n) < 0.15, "a"] = np.nan
    return frame


@law(6)
def test_what_an_imputer_fills_is_on_the_side_of_what_it_fills_in(seed):
    rng = np.random.default_rng(seed)
    frame = with_gaps(rng)
    imputer = [*FILLED.values()][seed % 2]()
    numbers = make_pipeline(imputer, StandardScaler())
    words = [("w", OneHotEncoder(), ["word"])] if seed % 3 else []
    first = ColumnTransformer([("n", numbers, ["a", "b"]), *words])
    given = make_pipeline(first, KMeans(4, n_init=2, random_state=seed)).fit(frame)
    ex = explain(frame, given, method=METHODS_OF_NUMBERS[seed % len(METHODS_OF_NUMBERS)])
    assert ex.n_left_out == 0
    assert not [note for note in ex.notes if "lack" in note]
    filled = frame.fillna({"a": imputer_of(given).statistics_[0]})
    assert ex.predict(frame).tolist() == ex.predict(filled).tolist()
    assert explain(filled, given, method=ex.method).tree.n_leaves == ex.n_leaves
    assert ("missing" in ex.rules()) == ("a" in ex.rules())
    assert (read_model(ex.to_json()).predict(frame) == ex.predict(frame)).all()
    labelled = duckdb.sql(f"SELECT {ex.to_sql('duckdb')} AS c FROM frame").df()["c"]
    assert labelled.tolist() == ex.predict(frame).tolist()
    dropped = explain(frame, given, method=ex.method, missing="drop")
    assert dropped.n_left_out == frame["a"].isna().sum()


def imputer_of(given):
    """Return the fitted imputer of the numbers."""
    return given[0].named_transformers_["n"][0]


@pytest.mark.parametrize(
    "first",
    [
        lambda: make_pipeline(KNNImputer(), StandardScaler()),
        lambda: make_pipeline(IterativeImputer(random_state=0), StandardScaler()),
        lambda: make_pipeline(StandardScaler(), SimpleImputer()),
        lambda: make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
    ],
)
def test_behind_other_imputers_rules_learn_where_missing_values_belong(first):
    frame = with_gaps(np.random.default_rng(0))[["a", "b"]]
    for steps in (first(), ColumnTransformer([("n", first(), ["a", "b"])])):
        ex = explain(frame, make_pipeline(steps, KMeans(4, n_init=2, random_state=0)), method="cart")
        assert ex.n_left_out == 0
        assert "so the rules use the raw ones" in ex.notes[0]
        assert "missing" in ex.rules()
        assert (ex.predict(frame) >= 0).all()


def test_an_imputer_of_words_names_all_rows():
    frame = with_gaps(np.random.default_rng(1))
    frame["word"] = frame["word"].astype(object)
    frame.loc[frame.index % 7 == 0, "word"] = np.nan
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    first = ColumnTransformer([("w", words, ["word"]), ("n", make_pipeline(SimpleImputer(), StandardScaler()), ["b"])])
    ex = explain(frame, make_pipeline(first, KMeans(4, n_init=2, random_state=0)))
    assert ex.n_left_out == 0
    assert ex.agreement > 0.9
