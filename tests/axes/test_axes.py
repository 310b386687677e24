"""Axis maps: the terminal embedding, and fitted transformers of scikit-learn."""

import math
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from boxwood.axes import Scaling, TerminalEmbedding, axis_map_of
from boxwood.axes._monotone import Monotone, Tails, _of_rank, _rank
from boxwood.errors import DataError
from boxwood.grow import cart
from tests import naive
from tests.cases import make_case, tree_on_values
from tests.scale import law, seeds

INF = math.inf

# ---------------------------------------------------------------------------------------------- terminal embedding


def test_printed_values():
    # Makarychev and Shan, ICML 2021, section 6: terminals 1, 3, 5
    embedding = TerminalEmbedding([[1.0], [3.0], [5.0]])
    assert embedding.transform(np.arange(7.0)[:, None]).ravel().tolist() == [-1, 0, 1, 2, 3, 4, 5]
    for z, x in zip(range(-1, 6), range(7), strict=True):
        assert embedding.pull_back(0, -INF, z) == (0, ((-INF, x),))
        assert embedding.pull_back(0, z, INF) == (0, ((x, INF),))
    assert embedding.pull_back(0, 0.5, 0.25) == (0, ())
    assert embedding.unit == 1


def test_the_embedding_is_that_of_the_paper():
    for seed in seeds(600):
        case = make_case(seed, max_rows=15)
        centers, rows = case.X[: max(1, len(case.X) // 2)], case.X.astype(np.float64)
        embedding = TerminalEmbedding(centers)
        Z = embedding.transform(rows)
        for j in range(rows.shape[1]):
            spread = np.ptp(np.concatenate([rows[:, j], centers[:, j]])) ** 2
            expected = [naive.terminal_embedding(centers[:, j], x) for x in rows[:, j]]
            assert Z[:, j] == pytest.approx(expected, rel=1e-9, abs=1e-14 * spread + 1e-300)
            order = np.argsort(rows[:, j], kind="stable")
            assert (np.diff(Z[order, j]) >= 0).all()
        assert (embedding.transform_centers(centers) == embedding.transform(centers)).all()


def test_distances_to_centres_stand_for_squared_distances():
    for seed in seeds(300):
        rng = np.random.default_rng(seed)
        k, d = int(rng.integers(1, 12)), int(rng.integers(1, 5))
        scale = 10.0 ** rng.integers(-8, 9)
        centers = scale * rng.choice([rng.normal(size=(k, d)), rng.integers(4, size=(k, d)).astype(float)])
        X = scale * 2 * rng.normal(size=(100, d))
        embedding = TerminalEmbedding(centers)
        Z, C = embedding.transform(X), embedding.transform_centers(centers)
        squared = ((X[:, None] - centers) ** 2).sum(axis=2)
        embedded = np.abs(Z[:, None] - C).sum(axis=2)
        assert (embedded <= squared * (1 + 1e-9)).all()
        assert (squared <= 8 * k * embedded * (1 + 1e-9)).all()


def test_distortion_of_equally_spaced_terminals():
    # the squared distance of the ends is 2 m - 2 times their embedded one; between them no pair does worse than 2 m - 1
    for m in (2, 3, 5, 10, 40):
        y = np.arange(float(m))
        X = np.linspace(-0.5, m - 0.5, 50 * m)
        embedding = TerminalEmbedding(y[:, None])
        ratio = (X[:, None] - y) ** 2 / np.maximum(
            np.abs(embedding.transform(X[:, None]) - embedding.images[0]), 1e-300
        )
        assert 2 * m - 2 <= ratio.max() <= 2 * m - 1 + 1e-9


def test_a_table_without_rows_is_refused():
    with pytest.raises(DataError, match="X must have at least one row and one column"):
        axis_map_of(StandardScaler().fit([[1.0]]), np.empty((0, 1)))


@pytest.mark.parametrize("scale", [1e-250, 1e-12, 1.0, 1e12, 1e250])
def test_the_inverse_is_exact_at_any_scale(scale):
    for seed in seeds(50):
        rng = np.random.default_rng(seed)
        y = np.unique(rng.choice([rng.normal(size=8), np.exp(5 * rng.normal(size=8))]) + rng.choice([0, 1e3]))
        embedding = TerminalEmbedding(scale * y[:, None])
        X = scale * np.concatenate([y, rng.uniform(2 * y[0] - y[-1], 2 * y[-1] - y[0], size=200)])
        Z = embedding.transform(X[:, None])[:, 0]
        assert np.isfinite(Z).all()
        spacing = np.spacing(np.abs(X).max())
        for x, z in zip(X, Z, strict=True):
            low, high = embedding.pull_back(0, z, INF)[1][0][0], embedding.pull_back(0, -INF, z)[1][0][1]
            # an image is rounded to the precision of all images: a root of that is lost next to a terminal
            nearest = np.abs(x - scale * y).min() / embedding.unit
            rounding = 4 * np.spacing(np.abs(Z).max())
            root = math.sqrt(rounding)
            lost = embedding.unit * min(root, rounding / max(nearest, root))
            assert abs(low - x) <= 4 * spacing + lost
            assert abs(high - x) <= 4 * spacing + lost
        assert embedding.transform(scale * y[:, None]).ravel().tolist() == embedding.images[0].tolist()


def test_terminals_never_change_sides():
    for seed in seeds(300):
        rng = np.random.default_rng(seed)
        gaps = 10.0 ** rng.uniform(-14, 3, size=12)
        y = np.unique(np.cumsum(gaps) - rng.choice([0, 100.0]))
        embedding = TerminalEmbedding(y[:, None])
        images = embedding.images[0]
        assert (np.diff(images) > 0).all()
        values = np.concatenate(
            [images, np.nextafter(images, INF), np.nextafter(images, -INF), rng.uniform(images[0], images[-1], 50)]
        )
        for value in values:
            ((_, last),) = embedding.pull_back(0, -INF, value)[1]
            assert ((y <= last) == (images <= value)).all()
            ((first, _),) = embedding.pull_back(0, value, INF)[1]
            assert ((y >= first) == (images >= value)).all()


def test_trees_on_the_embedding_are_trees_on_rows():
    for seed in seeds(300):
        case = make_case(seed)
        rng = np.random.default_rng(seed)
        embedding = TerminalEmbedding(case.X[: rng.integers(1, len(case.X) + 1)])
        Z = embedding.transform(case.X)
        tree = tree_on_values(rng, 5, case.X.shape[1], np.unique(Z))
        assert (tree.pull_back(embedding, case.X).predict(case.X) == tree.predict(Z)).all()


def test_embedding_errors():
    with pytest.raises(DataError, match="numeric"):
        TerminalEmbedding([["a"]])
    with pytest.raises(DataError, match="infinite"):
        TerminalEmbedding([[INF]])
    with pytest.raises(DataError, match="2 columns, but 1 are expected"):
        TerminalEmbedding([[1.0]]).transform([[1.0, 2.0]])


# ---------------------------------------------------------------------------------------------------- transformers


def positive(X):
    """Return rows of positive numbers in the same order, still with ties, and tiny and huge ones."""
    values = X.astype(np.float64)
    return np.where(np.abs(values) > 1e-13, np.abs(values), 1e-13)


ANY = {
    "standard": StandardScaler(),
    "uncentred": StandardScaler(with_mean=False),
    "minmax": MinMaxScaler(feature_range=(-2, 5)),
    "clipped": MinMaxScaler(clip=True),
    "maxabs": MaxAbsScaler(),
    "robust": RobustScaler(),
    "power": PowerTransformer(),
    "plain power": PowerTransformer(standardize=False),
    "quantile": QuantileTransformer(n_quantiles=5),
    "normal": QuantileTransformer(n_quantiles=10, output_distribution="normal"),
    "negative": FunctionTransformer(np.negative),
    "arcsinh": FunctionTransformer(np.arcsinh, inverse_func=np.sinh),
    "cube root": FunctionTransformer(np.cbrt),
    "nothing": FunctionTransformer(),
    "passthrough": "passthrough",
    "two": make_pipeline(StandardScaler(), MinMaxScaler(clip=True)),
    "three": make_pipeline(RobustScaler(), FunctionTransformer(np.tanh), FunctionTransformer(np.negative)),
}
POSITIVE = {
    "box-cox": PowerTransformer(method="box-cox"),
    "log": FunctionTransformer(np.log, inverse_func=np.exp),
    "log1p": FunctionTransformer(np.log1p, inverse_func=np.expm1),
    "root": FunctionTransformer(np.sqrt, inverse_func=np.square),
    "reciprocal": FunctionTransformer(np.reciprocal),
    "square": FunctionTransformer(np.square),
    "log, scaled": make_pipeline(FunctionTransformer(np.log), StandardScaler()),
}


def fitted(transformer, X):
    """Return a fitted copy, or None where scikit-learn itself gives up on a column."""
    from sklearn.base import clone

    if isinstance(transformer, str):
        return transformer
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = clone(transformer).fit(X)
            return found if np.isfinite(found.transform(X)).all() else None
        except ValueError:
            return None


@pytest.mark.parametrize("name", [*ANY, *POSITIVE])
def test_trees_on_transformed_rows_are_trees_on_rows(name):
    used, tries = 0, seeds(8, least=8)
    for seed in tries:
        case = make_case(seed, max_rows=25, max_columns=2)
        X = positive(case.X) if name in POSITIVE else case.X
        found = fitted({**ANY, **POSITIVE}[name], X)
        if found is None:
            continue
        used += 1
        axis_map = axis_map_of(found, X)
        Z = axis_map.transform(axis_map.codes(X))
        if not isinstance(found, str):
            with np.errstate(all="ignore"):
                assert (found.transform(X.astype(np.float64)) == Z).all()
        rng = np.random.default_rng(seed)
        tree = tree_on_values(rng, 3, X.shape[1], np.unique(Z))
        pulled = tree.pull_back(axis_map, X)
        assert (pulled.predict(X) == tree.predict(Z)).all()
        assert set(pulled.features) <= set(tree.features)
        if seed % 10:
            continue
        between = rng.uniform(X.min(axis=0), X.max(axis=0), size=(40, X.shape[1]))
        images = axis_map.transform(between)
        bare = tree.pull_back(axis_map)
        wrong = np.flatnonzero(bare.predict(between) != tree.predict(images))
        ends = np.unique([*tree.lower[np.isfinite(tree.lower)], *tree.upper[np.isfinite(tree.upper)]])
        for row in wrong:  # rounding of the map puts two images out of order
            distances = np.abs(images[row][:, None] - ends) / np.maximum(np.abs(ends), 1e-300)
            assert distances.min() < 1e-9
    assert used > len(tries) / 2


@pytest.mark.parametrize("name", [*ANY, *POSITIVE])
def test_cuts_are_exact_doubles(name):
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(60, 2)))
    axis_map = axis_map_of(fitted({**ANY, **POSITIVE}[name], X), X)
    Z = axis_map.transform(X)
    for z in np.quantile(Z[:, 1], [0.1, 0.33, 0.5, 0.8]):
        for lower, upper in [(-INF, z), (z, INF), (z, z + np.ptp(Z[:, 1]) / 5)]:
            feature, intervals = axis_map.pull_back(1, lower, upper)
            assert feature == 1
            (ends,) = intervals
            near = [np.nextafter(e, way) for e in ends if math.isfinite(e) for way in (INF, -INF)]
            values = np.array([*(e for e in ends if math.isfinite(e)), *near])
            images = axis_map.transform(np.column_stack([np.ones_like(values), values]))[:, 1]
            expected = (lower <= images) & (images <= upper)
            assert [naive.contains(intervals, v) for v in values] == expected.tolist()


def test_cuts_beyond_the_rows():
    X = np.array([[1.0], [2.0], [4.0]])
    log = axis_map_of(FunctionTransformer(np.log).fit(X), X)
    assert log.pull_back(0, -INF, 10.0)[1][0] == (-INF, pytest.approx(math.exp(10)))
    assert log.pull_back(0, -INF, -5.0)[1][0] == (-INF, pytest.approx(math.exp(-5)))
    assert log.pull_back(0, -INF, 1e300)[1] == ((-INF, INF),)
    clipped = axis_map_of(MinMaxScaler(clip=True).fit(X), X)
    assert clipped.pull_back(0, -INF, 1.0)[1] == ((-INF, INF),)
    assert clipped.pull_back(0, -INF, -0.1)[1] == ()
    assert clipped.pull_back(0, 0.0, 0.0)[1] == ((-INF, 1.0),)
    assert clipped.pull_back(0, 0.2, 0.1)[1] == ()
    root = axis_map_of(FunctionTransformer(np.sqrt).fit(X), X)
    assert root.pull_back(0, 0.0, INF)[1] == ((-INF, INF),)
    box_cox = axis_map_of(PowerTransformer(method="box-cox").fit(X), X)
    assert box_cox.pull_back(0, -INF, -1e9)[1] in ((), ((-INF, pytest.approx(0.0, abs=1e-6)),))


def test_doubles_are_counted():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=100), [0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308]])
    for x in values:
        assert _of_rank(np.array([_rank(x)]))[0] == x
        assert _rank(np.nextafter(x, INF)) == _rank(x) + 1


@pytest.mark.parametrize("encode", ["onehot", "onehot-dense", "ordinal"])
def test_trees_on_bins_are_trees_on_rows(encode):
    for seed in seeds(10):
        case = make_case(seed, max_rows=25, max_columns=2)
        X = case.X[:, np.ptp(case.X, axis=0) > 1e-6]  # scikit-learn makes no bin of less than 1e-8
        if X.shape[1] == 0:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few values
            bins = KBinsDiscretizer(4, encode=encode, strategy=["uniform", "kmeans"][seed % 2]).fit(X)
        axis_map = axis_map_of(bins, X)
        Z = axis_map.transform(X)
        found = bins.transform(X.astype(np.float64))
        assert ((found.toarray() if encode == "onehot" else found) == Z).all()
        widths = np.ones(X.shape[1], dtype=int) if encode == "ordinal" else bins.n_bins_
        assert axis_map.features.tolist() == np.repeat(np.arange(X.shape[1]), widths).tolist()
        rng = np.random.default_rng(seed)
        tree = tree_on_values(rng, 4, Z.shape[1], np.array([0.0, 0.5, 1.0]))
        assert (tree.pull_back(axis_map, X).predict(X) == tree.predict(Z)).all()
        between = rng.uniform(X.min(axis=0), X.max(axis=0), size=(40, X.shape[1]))
        assert (tree.pull_back(axis_map).predict(between) == tree.predict(axis_map.transform(between))).all()


def test_a_bin_is_an_interval_of_the_raw_column():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    bins = axis_map_of(KBinsDiscretizer(3, strategy="uniform").fit(X), X)  # ends at 1 and 2
    assert bins.pull_back(1, 0.5, INF) == (0, ((1.0, np.nextafter(2.0, 0.0)),))
    assert bins.pull_back(1, -INF, 0.5) == (0, ((-INF, np.nextafter(1.0, 0.0)), (2.0, INF)))
    assert bins.pull_back(0, 0.5, INF) == (0, ((-INF, np.nextafter(1.0, 0.0)),))


def test_scaling():
    X = np.array([[1.0, 10.0], [3.0, 30.0]], dtype=np.float32)
    scaling = Scaling(np.array([2.0, 20.0]), np.array([1.0, 10.0]))
    assert scaling.transform(X).tolist() == [[-1, -1], [1, 1]]
    assert scaling.pull_back(1, -INF, 0.5) == (1, ((-INF, 25.0),))
    assert scaling.pull_back(0, -0.5, 0.5) == (0, ((1.5, 2.5),))


@pytest.mark.parametrize(
    ("transformer", "message"),
    [
        (PCA(2), "PCA mixes columns"),
        (Normalizer(), "Normalizer mixes columns"),
        (make_pipeline(StandardScaler(), PCA(2)), "PCA mixes columns"),
        (FunctionTransformer(lambda X: X - X.mean(axis=0)), "does not map each number alone"),
        (FunctionTransformer(lambda X: X[:, ::-1]), "does not map each number alone"),
        (FunctionTransformer(lambda X: X[:, :1]), "does not map each number alone"),
        (FunctionTransformer(np.sin), r"FunctionTransformer \(sin\) is not monotone"),
        (FunctionTransformer(np.arccosh), r"arccosh\) is not defined for all values"),
        (FunctionTransformer(lambda X: X["a"]), "cannot be pulled back"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_mixes_columns_is_refused(transformer, message):
    X = np.random.default_rng(0).normal(size=(50, 3)) * 5
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = transformer.fit(X) if not isinstance(transformer, FunctionTransformer) else transformer
    with pytest.raises(DataError, match=message):
        axis_map_of(found, X)


def test_maps_are_copied():
    X = np.exp(np.random.default_rng(0).normal(size=(50, 2)))
    frame = pd.DataFrame({"a": X[:, 0], "c": np.where(X[:, 1] > 1, "x", "y")})
    encoded = ColumnTransformer([("s", PowerTransformer(), ["a"]), ("c", OneHotEncoder(), ["c"])]).fit(frame)
    for axis_map, rows in [
        (TerminalEmbedding(X[:5]), X),
        (axis_map_of(make_pipeline(FunctionTransformer(np.log), StandardScaler()).fit(X), X), X),
        (axis_map_of(encoded, frame), frame),
    ]:
        copied = pickle.loads(pickle.dumps(axis_map))
        numbers = copied.codes(rows) if hasattr(copied, "codes") else rows
        assert (copied.transform(numbers) == axis_map.transform(numbers)).all()
        assert copied.pull_back(0, -INF, 0.5) == axis_map.pull_back(0, -INF, 0.5)
        assert "n_features=2" in repr(copied)


# ----------------------------------------------------------------------------------------------- tables and columns


def table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, size=n),
            "income": np.exp(10 + rng.normal(size=n)),
            "colour": rng.choice(["red", "green", "blue"], size=n),
            "doors": rng.choice([2, 3, 5], size=n),
            "id": [f"row {i}" for i in range(n)],
        }
    )


COLUMN_TRANSFORMERS = {
    "names": [("s", StandardScaler(), ["income", "age"]), ("c", OneHotEncoder(), ["colour"])],
    "places": [("s", StandardScaler(), [1, 0]), ("c", OneHotEncoder(drop="first"), [2, 3])],
    "mask": [("s", RobustScaler(), [True, True, False, False, False])],
    "slice": [("s", MinMaxScaler(), slice(0, 2)), ("p", "passthrough", [-2])],
    "slice of names": [("s", MinMaxScaler(), slice("age", "income")), ("o", OrdinalEncoder(), slice(2, 4))],
    "one name": [("s", FunctionTransformer(np.log), ["income"]), ("d", "drop", "id")],
    "callable": [("s", StandardScaler(), lambda X: ["doors"])],
    "twice": [("s", StandardScaler(), ["age"]), ("log", FunctionTransformer(np.log), ["age"])],
    "nested": [
        ("n", make_pipeline(SimpleImputer(), VarianceThreshold(), StandardScaler()), ["age", "doors"]),
        (
            "c",
            Pipeline([("i", "passthrough"), ("e", OneHotEncoder(min_frequency=45, handle_unknown="ignore"))]),
            ["colour"],
        ),
    ],
    "unknown": [
        ("o", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["colour", "doors"]),
        ("c", OneHotEncoder(handle_unknown="ignore", drop="if_binary"), ["colour"]),
    ],
}


@pytest.mark.crossed
@pytest.mark.parametrize("name", COLUMN_TRANSFORMERS)
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas])
def test_column_transformers(name, kind):
    frame = kind(table())
    transformer = ColumnTransformer(COLUMN_TRANSFORMERS[name])
    if name == "unknown":
        transformer.transformers[1] = ("c", OneHotEncoder(drop="if_binary"), ["doors"])
        transformer.transformers[0] = ("o", transformer.transformers[0][1], ["colour"])
    transformer.fit(frame)
    axis_map = axis_map_of(transformer, frame)
    rows = axis_map.codes(frame)
    Z = axis_map.transform(rows)
    expected = transformer.transform(frame)
    assert ((expected.toarray() if hasattr(expected, "toarray") else np.asarray(expected)) == Z).all()
    for seed in seeds(2):
        tree = tree_on_values(np.random.default_rng(seed), 6, Z.shape[1], np.unique(Z))
        pulled = tree.pull_back(axis_map, rows)
        assert (pulled.predict(rows) == tree.predict(Z)).all()
        new = axis_map.codes(table(200, seed=1 + seed))
        assert (pulled.predict(new) == tree.predict(axis_map.transform(new))).all()
        assert (tree.pull_back(axis_map).predict(new) == tree.predict(axis_map.transform(new))).all()


def test_categories_are_tested_one_by_one():
    frame = table()[["colour"]]
    encoder = OneHotEncoder().fit(frame)
    axis_map = axis_map_of(encoder, frame)
    assert axis_map.categories[0].values == ("blue", "green", "red")
    rows = axis_map.codes(frame)
    tree = cart(axis_map.transform(rows), rows[:, 0].astype(int), max_leaf_nodes=3)
    pulled = tree.pull_back(axis_map, rows)
    codes = set(pulled.lower[pulled.feature == 0]) | set(pulled.upper[pulled.feature == 0])
    assert codes <= {0.0, 1.0, 2.0}
    assert pulled.n_leaves == 3
    assert np.isnan(axis_map.codes(pd.DataFrame({"colour": ["pink", None]}))).all()


def test_values_that_an_encoder_does_not_know():
    frame = pd.DataFrame({"c": ["a", "b", None, "c"] * 5})
    for encoder, pink in [
        (OneHotEncoder(handle_unknown="ignore"), [0, 0, 0, 0]),
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2), [-1]),
    ]:
        axis_map = axis_map_of(encoder.fit(frame), frame)
        assert axis_map.categories[0].values == ("a", "b", "c", None)
        codes = axis_map.codes(pd.DataFrame({"c": ["pink", None, np.nan, "b"]}))
        assert codes.ravel().tolist() == [4, 3, 3, 1]
        assert axis_map.transform(codes)[0].tolist() == pink
        expected = encoder.transform(frame)
        expected = expected.toarray() if hasattr(expected, "toarray") else expected
        assert (axis_map.transform(axis_map.codes(frame)) == expected).all()


def test_arrays_of_objects():
    values = table().to_numpy()
    transformer = ColumnTransformer([("s", StandardScaler(), [0]), ("c", OneHotEncoder(), [2, 3])]).fit(values)
    axis_map = axis_map_of(transformer, values)
    assert list(axis_map.categories) == [2]
    expected = transformer.transform(values)
    assert axis_map.transform(axis_map.codes(values)) == pytest.approx(np.asarray(expected, dtype=float))
    assert axis_map.columns is None


def test_columns_by_name():
    frame = table()
    scaler = StandardScaler().fit(frame[["age", "income"]])
    axis_map = axis_map_of(scaler, frame)
    assert axis_map.features.tolist() == [0, 1]
    assert axis_map_of(scaler, frame, ["income", "age"]).features.tolist() == [1, 0]
    assert axis_map_of(scaler, frame[["doors", "income", "age"]]).features.tolist() == [2, 1]
    with pytest.raises(DataError, match="StandardScaler reads column 'age', which is not among its input columns"):
        axis_map_of(scaler, frame, ["income"])
    with pytest.raises(DataError, match="StandardScaler takes 2 columns, but 3 are given"):
        axis_map_of(scaler, np.ones((5, 3)))


def test_text_must_be_encoded():
    frame = table()
    passed = ColumnTransformer([("p", "passthrough", ["age", "id"])]).fit(frame)
    with pytest.raises(DataError, match="'id' is not numeric, and no encoder reads it first"):
        axis_map_of(passed, frame)
    different = [
        ("a", OneHotEncoder(), ["colour"]),
        ("b", OneHotEncoder(categories=[["red", "blue", "green"]]), ["colour"]),
    ]
    with pytest.raises(DataError, match="two encoders have different categories of 'colour'"):
        axis_map_of(ColumnTransformer(different).fit(frame), frame)
    with pytest.raises(DataError, match="KMeans may mix columns"):
        axis_map_of(KMeans(2).fit(frame[["age"]]), frame[["age"]])


@law(24)
def test_a_formula_of_the_inverse_changes_no_digit_and_saves_steps(seed):
    rng, counts = np.random.default_rng(seed), []
    shift, scale = (
        rng.normal(size=1) * 10.0 ** rng.integers(-9, 12),
        rng.random(1) * 10.0 ** rng.integers(-9, 9) + 1e-12,
    )
    kind = Scaling if seed % 2 else Tails

    class Counted(kind):
        def _images(self, column, x):
            counts[-1] += 1
            return super()._images(column, x)

    class WithoutFormula(Counted):
        _inverse = Monotone._inverse

    ends = [
        -math.inf,
        math.inf,
        0.0,
        1e300,
        -shift[0] / scale[0],
        *(rng.normal(size=4) * 10.0 ** rng.integers(-3, 3, 4)),
    ]
    for lower, upper in np.sort(rng.choice(ends, (8, 2)), axis=1).tolist():
        found = []
        for each in (Counted, WithoutFormula):
            counts.append(0)
            found.append(each(shift, scale).pull_back(0, lower, upper))
        assert found[0] == found[1], (lower, upper)
    assert sum(counts[::2]) < 0.7 * sum(counts[1::2])
