"""Guards for a first look at a table: identifiers, ranges, a clustering that one column explains, low agreement."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boxwood import CART, explain, scan
from boxwood._dates import DOUBTFUL
from boxwood._frames import numeric_columns
from boxwood.columns.rules import UNSEEN_DATES, is_like_identifier
from boxwood.columns.seen import SeenValues
from boxwood.errors import DataError
from boxwood.reference.labels import by_size
from tests.scale import each, law

RNG = np.random.default_rng(0)
N = 300
CRM = pd.DataFrame(
    {
        "id": np.arange(1, N + 1),
        "price": RNG.normal(size=N) * 1000,
        "qty": RNG.normal(size=N),
        "member": RNG.random(N) < 0.5,
        "seg": RNG.choice(["gold", "silver"], N),
        "when": pd.date_range("2020", periods=N),
    }
)


def notes(ex, word):
    return [note for note in ex.notes if word in note]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("row", np.arange(100), True),
        ("row", np.arange(100) + 10.0**9, True),
        ("row", np.arange(49), False),
        ("row", np.arange(0, 200, 2), True),
        ("row", np.arange(200, 0, -2), False),
        ("row", np.arange(100).repeat(2), False),
        ("row", np.arange(100) + 0.5, False),
        ("row", np.append(np.arange(99), 105), True),
        ("row", np.append(np.arange(99), 120), True),
        ("row", np.append(120, np.arange(99)), False),
        ("customer_id", np.arange(0, 1000, 10), True),
        ("customerId", np.arange(0, 1000, 10), True),
        ("ZIP", np.arange(0, 1000, 10), True),
        ("account number", np.arange(0, 1000, 10), True),
        ("__index_level_0__", np.arange(0, 1000, 10), True),
        ("Unnamed: 0", np.arange(0, 1000, 10), True),
        ("width", np.arange(0, 1000, 10)[::-1], False),
        ("humidity", np.arange(0, 1000, 10)[::-1], False),
        ("revenue", np.arange(0, 100_000, 1000), False),
        ("store_id", np.arange(100) % 7, False),
        ("store_id", np.arange(100) % 7 * 1000, False),
        ("id", np.arange(100) + 0.5, False),
        ("id", np.zeros(100), False),
        ("row", np.linspace(0, 1e300, 100), False),
    ],
)
def test_identifiers(name, values, expected):
    assert is_like_identifier(SeenValues(name, np.asarray(values, dtype=float))) is expected


@pytest.mark.parametrize("frame", [CRM, pl.from_pandas(CRM)], ids=["pandas", "polars"])
def test_identifiers_and_days_are_left_out_where_boxwood_clusters(frame):
    ex = explain(frame, n_clusters=3)
    assert ex.columns == ("price", "qty", "member", "seg")
    assert ex.notes[0] == "4 of 6 columns are used: price, qty, member, seg"
    assert notes(ex, "left out") == [
        "left out, looks like an identifier: id; to use it, name the columns (columns)",
        "left out, looks like a date, a part of one or a time of day: when; to use it, name the columns (columns)",
    ]
    assert explain(frame, n_clusters=3, columns=["id", "qty"]).columns == ("id", "qty")
    assert notes(explain(frame, n_clusters=3, columns=["id", "qty"]), "identifier")


def test_identifiers_are_left_out_with_labels_unless_nothing_else_is_there():
    ex = explain(CRM, "seg")
    assert ex.columns == ("price", "qty", "member", "when")
    assert ex.notes[0] == "4 of 5 columns are used: price, qty, member, when"
    assert notes(ex, "left out, looks like an identifier: id; to use it, name the columns (columns)")
    assert explain(CRM.drop(columns="seg"), CRM["seg"].to_numpy()).columns == ("price", "qty", "member", "when")
    assert explain(CRM, "seg", columns=["id", "qty"]).columns == ("id", "qty")
    alone = explain(CRM[["id", "seg"]], "seg")
    assert alone.columns == ("id",)
    assert notes(alone, "looks like an identifier: id; rules on it say little")
    assert not notes(explain(CRM.drop(columns="id"), "seg"), "identifier")
    array = explain(CRM[["id", "qty"]].to_numpy(), CRM["seg"])
    assert notes(array, "looks like an identifier: x0")


def test_a_clusterer_sees_its_columns_and_their_scales_are_said():
    table = CRM[["price", "member"]]
    ex = explain(table, KMeans(3, random_state=0))
    assert notes(ex, "KMeans hardly sees member, which spans 1, beside price")
    assert notes(ex, "make_pipeline(StandardScaler(), KMeans(…)) gives columns equal weight")
    assert notes(ex, "price alone decides the cluster of every row; if other columns should count, scale them")
    assert notes(explain(table, AgglomerativeClustering(3)), "AgglomerativeClustering hardly sees member")
    assert notes(explain(table, KMeans(3, random_state=0).fit(table), standardize=True), "hardly sees")
    assert not notes(explain(table, KMeans(3, random_state=0), standardize=True), "hardly sees")
    assert not notes(explain(table, make_pipeline(StandardScaler(), KMeans(3, random_state=0))), "hardly sees")
    assert not notes(explain(table, GaussianMixture(2, random_state=0)), "hardly sees")


def test_labels_that_are_numbers_are_asked_about():
    ages = np.arange(N) % 63 + 18
    ex = explain(CRM[["price", "qty"]], ages, method="imm")
    (note,) = notes(ex, "labels that are numbers")
    assert ex.to_text().split("\n\n")[1] == f"Note: {note}"
    assert ex.to_text().count(note) == 1
    assert note.startswith("63 labels that are numbers, from 18 to 80: is this a number rather than a cluster?")
    (note,) = notes(explain(CRM[["price", "qty"]].assign(age=ages), "age", method="imm"), "labels that are numbers")
    assert "is age a number rather than a cluster?" in note
    for fine in (ages - 18, ages - 17, ages.astype(str), ages % 9):
        assert not notes(explain(CRM[["price", "qty"]], fine, method="imm"), "labels that are numbers")


def test_ranges_that_differ_are_said():
    as_it_is = explain(CRM, n_clusters=3, standardize=False)
    assert notes(as_it_is, "k-means hardly sees member, which spans 1, beside price")
    assert notes(as_it_is, "price alone decides the cluster of every row")
    assert not notes(explain(CRM, n_clusters=3), "k-means")
    assert not notes(explain(CRM, n_clusters=3, standardize=True), "k-means")
    assert not notes(explain(CRM, "seg"), "k-means")
    assert not notes(explain(CRM[["qty", "member"]], n_clusters=3), "k-means")


def test_more_leaves_are_suggested_where_agreement_is_low():
    X, moons = make_moons(600, noise=0.06, random_state=0)
    ex = explain(X, moons, max_leaf_nodes=2)
    assert ex.agreement < 0.9
    (note,) = notes(ex, "leaves the rules")
    n_leaves = int(note.split()[1])
    more = explain(X, moons, max_leaf_nodes=n_leaves)
    assert more.agreement >= 0.9
    assert not notes(more, "leaves the rules")
    row = next(row for row in ex.frontier() if row.leaves > ex.n_leaves and row.agreement >= 0.9)
    said = f"with {row.leaves} leaves the rules could reach {row.agreement:.1%} (max_leaf_nodes)"  # as the chart there
    assert said in ex.to_html()


def test_a_cluster_that_is_hardly_found_is_told_though_most_rows_are_right():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 10, 600), "stay": rng.integers(0, 30, 600)})
    vip = rng.choice(600, 30, replace=False)
    frame.loc[vip[:12], "stay"] = 40
    labels = np.where(frame.age > 40, "old", "young").astype(object)
    labels[vip] = "vip"
    ex = explain(frame, labels, max_leaf_nodes=3)
    assert ex.agreement > 0.9
    (note,) = notes(ex, "the rules find only")
    assert note.startswith("the rules find only 40.0% of vip, but are right for 97.0% of all rows")
    assert not notes(explain(frame, np.where(frame.age > 40, "old", "young")), "the rules find only")


def test_numbers_that_may_be_codes_are_asked_about_where_rules_cut_them():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"ward": rng.integers(1, 10, 600), "age": rng.normal(40, 10, 600)})
    labels = np.where(frame.ward.isin([4, 5]), "x", np.where(frame.age > 45, "y", "z"))
    (note,) = notes(explain(frame, labels, max_leaf_nodes=5), "codes")
    assert note.startswith("ward (9 whole numbers, 1 to 9): read as numbers; if they are codes, ")
    assert not notes(explain(frame, labels, max_leaf_nodes=5, numbers=["ward"]), "codes")
    assert not notes(explain(frame, labels, categories=["ward"]), "codes")
    by_age = np.where(frame.age > 45, "y", "z")
    assert not notes(explain(frame, by_age), "codes")
    orders = frame.rename(columns={"ward": "orders"})
    assert not notes(explain(orders, np.where(orders.orders > 4, "x", "y")), "codes")


@each("name, is_asked", [("StoreID", True), ("zip", True), ("account_no", True), ("floor", False)])
def test_few_numbers_with_a_name_of_identifiers_may_be_codes(name, is_asked):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice([1010, 4020, 8040, 9900], 600), "age": rng.normal(40, 10, 600)})
    ex = explain(frame, np.where(frame[name] > 5000, "x", np.where(frame.age > 45, "y", "z")))
    assert [note.split(" ")[0] for note in notes(ex, "codes")] == [name] * is_asked


def test_words_that_differ_in_case_or_blanks_alone_are_told():
    carrier = np.array(["DHL", "dhl", "dhl ", "UPS", "GLS"])[np.arange(80) % 5]
    frame = pd.DataFrame({"carrier": carrier, "size": np.arange(80) % 7, "City": np.where(np.arange(80) % 2, "A", "a")})
    ex = explain(frame, np.where(carrier == "UPS", "late", "in time"))
    (note,) = notes(ex, "differ only in case")
    assert note.endswith("count as different: carrier ('DHL', 'dhl', 'dhl ')")  # of the rules' columns
    clean = frame.assign(carrier=frame["carrier"].str.strip().str.upper())
    assert notes(explain(clean, np.where(carrier == "UPS", "late", "in time")), "differ only in case") == []


def test_the_largest_cluster_is_the_first_one():
    ex = explain(CRM, n_clusters=5, random_state=3)
    sizes = [cluster.size for cluster in ex.clusters]
    assert sizes == sorted(sizes, reverse=True)
    assert [cluster.name for cluster in ex.clusters] == [0, 1, 2, 3, 4]
    given = KMeans(5, n_init=1, random_state=3).fit(CRM[["price", "qty"]])
    counts = np.bincount(given.labels_)
    assert [cluster.size for cluster in explain(CRM[["price", "qty"]], given).clusters] == counts.tolist()
    assert by_size(np.array([0, 1, 1, 2, 2, 3]), np.array([9.0, 1, 1, 1, 1, 2])).tolist() == [0, 1, 1, 2, 2, 3]
    assert by_size(np.array([0, 1, 1, 2, 2, 2])).tolist() == [2, 1, 1, 0, 0, 0]


def test_columns_must_be_a_list():
    with pytest.raises(TypeError, match=r"columns must be a list of names, got the text 'qty'; write \['qty'\]"):
        explain(CRM, n_clusters=2, columns="qty")


def test_a_sparse_matrix_is_refused_with_the_way_out():
    from scipy.sparse import csr_array, csr_matrix

    for make in (csr_array, csr_matrix):
        with pytest.raises(DataError, match=r"X is sparse, .*use X\.toarray\(\)"):
            explain(make(np.eye(4)), n_clusters=2)


@pytest.mark.parametrize("encoded", [False, True])
def test_a_frame_of_another_library_than_that_of_the_fit_raises_no_warning(encoded):
    frame = CRM[["price", "qty"]]
    steps = [ColumnTransformer([("c", StandardScaler(), ["price"])], remainder="passthrough")] if encoded else []
    fitted = make_pipeline(*steps, StandardScaler(), KMeans(3, n_init=1, random_state=0)).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert explain(pl.from_pandas(frame), fitted) == explain(frame, fitted)


@pytest.mark.parametrize("labels_as", [list, np.array, pd.Series])
def test_columns_of_text_are_used_beside_labels_of_every_kind_unless_they_are_the_labels(labels_as):
    frame = pd.DataFrame({"a": [1.0, 2, 8, 9], "t": ["u", "v", "u", "v"], "l": ["x", "x", "y", "y"]})
    for labels in ([3, 3, 5, 5], ["t", "t", "a", "a"]):
        ex = explain(frame, labels_as(labels))
        assert ex.columns == ("a", "t")
        assert "left out, the labels themselves: l" in ex.notes


def test_numbers_of_clusters_may_have_been_made_of_a_column_that_says_them():
    """Only a column that holds these very numbers is the labels, and then so is each that says the same."""
    blood = np.array(["A", "B", "AB", "0"])[np.arange(80) % 4]
    frame = pd.DataFrame({"age": RNG.permutation(80) % 7, "blood": blood, "code": np.arange(80) % 4 * 10})
    clusters = KMeans(4, n_init=1, random_state=0).fit_predict(pd.get_dummies(frame[["blood"]]))
    assert len({*zip(blood, clusters.tolist(), strict=True)}) == 4
    for given in (frame, frame[["age", "code"]]):  # with words and without
        assert explain(given, clusters).agreement == 1
        for number in (clusters, clusters.astype(float), clusters.astype(str)):
            assert explain(given.assign(group=number), clusters).columns == ("age",)
    assert explain(frame.assign(group=clusters), "group").columns == ("age",)


ARROW = {"price": pd.ArrowDtype(pa.decimal128(9, 2)), "member": pd.ArrowDtype(pa.bool_())}


def test_objects_of_several_kinds_stay_text():
    several = {"a": [Decimal(1), True], "b": [True, "x"], "c": [1, 10**400]}
    assert numeric_columns(pd.DataFrame(several, dtype=object))[0] == []


@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame, lambda columns: np.column_stack([*columns.values()])])
def test_whole_numbers_beyond_doubles_are_told(frame_of):
    values = np.arange(60) % 7
    columns = {"a": values + 2**53, "b": values * 2}
    told = [note for note in explain(frame_of(columns), values > 3, columns=["a", "b"]).notes if "too large" in note]
    assert told == ["whole numbers too large to be exact as doubles: a; rules read them rounded"]
    columns["a"] = values + 2**53 - 6
    assert "too large" not in str(explain(frame_of(columns), values > 3, columns=["a", "b"]))


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.DataFrame])
def test_texts_behind_many_gaps_are_read_as_dates_all_the_same(as_frame):
    day = [None] * 3000 + ["31.01.2024", "1.2.2024", "3.2.2024", "4.5.2024"] * 250
    ex = explain(as_frame({"day": day, "age": np.arange(4000.0) % 7}), np.arange(4000) >= 3000)
    assert [(name, dates.form) for name, dates in ex.details.dates] == [("day", "%d.%m.%Y")]


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.DataFrame])
def test_texts_are_dates_if_there_is_no_doubt(as_frame):
    columns = {
        "age": [1.0, 2.0, 8.0, 9.0],
        "day": ["2024-01-31", "2024-02-01", None, "2024-03-01"],
        "german": ["31.01.2024", "1.2.2024", "3.2.2024", "4.5.2024"],
        "with time": ["1/31/2024 10:15"] * 4,
        "unclear": ["1/2/2024"] * 4,
        "code": ["20240131"] * 4,
        "mixed": ["2024-01-31", "31.01.2024", "2024-01-31", "2024-01-31"],
    }
    ex = explain(as_frame(columns), [0, 0, 1, 1])
    assert ex.columns == ("age", "day", "german", "with time", "mixed")
    assert "left out, one value only: code" in ex.notes
    assert "left out, dates that cannot be read for sure (write them as 2026-03-01): unclear" in ex.notes


@law(16)
def test_text_dates_under_a_clusterer_are_dates_that_it_does_not_see(seed):
    rng = np.random.default_rng(seed)
    days = pd.Series(pd.date_range("2024-01-01", periods=N))
    form = ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%d.%m.%Y", "%m/%d/%Y", "doubtful")[rng.integers(5)]
    texts = pd.Series([f"{day.day % 9 + 1}/{day.month % 9 + 1}/2024" for day in days])  # which is the month?
    texts = texts if form == "doubtful" else days.dt.strftime(form)
    when = texts if rng.random() < 0.5 else texts.astype("category")
    frame = pd.DataFrame({"age": rng.normal(size=N), "when": when, "typed": days})
    given = (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame))[rng.integers(3)]
    told = [note for note in explain(given, KMeans(2, random_state=0)).notes if "left out, dates" in note]
    if form == "doubtful":
        assert told == [f"left out, {DOUBTFUL}: when", f"left out, {UNSEEN_DATES}: typed"]
    else:
        assert told == [f"left out, {UNSEEN_DATES}: when, typed"]


@law(12)
def test_a_column_that_is_the_labels_in_other_values_is_left_out_wherever_it_stands(seed, tmp_path):
    rng = np.random.default_rng(seed)
    k, age = int(rng.integers(2, 6)), rng.integers(18, 90, N)
    clusters = np.argsort(rng.permutation(k))[np.digitize(age, np.quantile(age, np.arange(1, k) / k))]
    kinds = [
        rng.permutation(k) * 10,
        rng.normal(size=k),
        pd.date_range("2020-01-01", periods=k)[rng.permutation(k)],
        rng.permutation(k).astype(str),
        np.array([f"w{i}" for i in rng.permutation(k)]),
    ]
    copy = kinds[seed % len(kinds)][clusters]
    labels = np.array([f"seg {i}" for i in range(k)])[clusters]
    frame = pd.DataFrame({"age": age, "copy": copy, "nearly": copy, "seg": labels})
    frame.loc[age == age.max(), "nearly"] = copy[age == age.min()][0]  # one value stands for two labels
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    beside = frame.drop(columns="seg")
    found = [
        explain(frame, "seg"),
        explain(beside, labels),
        explain(pl.from_pandas(beside), labels.tolist()),
        explain(scan(path), "seg"),
    ]
    for ex in found:
        assert notes(ex, "the labels themselves") == ["left out, the labels themselves: copy"]
        assert ex.columns == ("age", "nearly")
    assert "copy" in explain(frame, "seg", columns=["copy", "nearly"]).columns


def test_numbers_are_not_the_labels_where_no_other_column_is_left_or_a_clusterer_made_the_labels_of_them():
    x = np.repeat([0.0, 100.0, 200.0], 20)
    frame = pd.DataFrame({"x": x, "noise": RNG.normal(size=60)})
    assert explain(frame[["x"]], x).columns == ("x",)
    labels = np.arange(60)
    assert explain(frame, labels, max_leaf_nodes=2).columns == ("x", "noise")  # each row is a cluster of its own
    for made in (KMeans(3, n_init=1, random_state=0), AgglomerativeClustering(3).fit(frame), None):
        ex = explain(frame, made, n_clusters=3 if made is None else None)
        assert "x" in ex.columns
        assert not notes(ex, "the labels themselves")


def test_labels_that_number_the_rows_two_by_two_are_asked_about():
    ids = np.arange(N) // 2
    for labels in (ids, ids + 1, ids.tolist(), pd.Series(ids)):
        ex = explain(CRM[["price", "qty"]], labels, method="cart", max_leaf_nodes=4)
        (note,) = notes(ex, "labels that are numbers")
        assert note.startswith("150 labels that are numbers, from ")


HALF = "x\ud800"
OBJECTS = pd.Series([HALF, "v"] * 10, dtype=object)
CATEGORIES = pd.Categorical(OBJECTS, categories=pd.Index(["v", HALF], dtype=object))
HALVES = [
    lambda X: explain(X.assign(w=OBJECTS), "y"),
    lambda X: explain(X.assign(w=OBJECTS), n_clusters=2),
    lambda X: explain(X.assign(w=CATEGORIES), "y"),
    lambda X: explain(X.assign(w=CATEGORIES), n_clusters=2),
    lambda X: explain(X, CATEGORIES),
    lambda X: explain(pl.DataFrame({"x": X["x"], HALF.encode("utf-8", "replace").decode(): X["x"]}), OBJECTS.tolist()),
    lambda X: explain(X.to_numpy()[:, :1].astype(float), X["y"], columns=[HALF]),
    lambda X: explain(X, OBJECTS),
    lambda X: explain(X, OBJECTS.tolist()),
    lambda X: explain(X, "y", names={"a": HALF}),
    lambda X: explain(X, "y", names=[HALF, "v"]),
    lambda X: explain(X, "y").rename({"a": HALF}),
    lambda X: explain(X, "y").evaluate(X, OBJECTS),
    lambda X: explain(X.set_axis(pd.Index(["x", HALF, "y"], dtype=object), axis=1), "y"),
    lambda X: explain(X, "y").predict(X.set_axis(pd.Index(["x", HALF, "y"], dtype=object), axis=1)),
    lambda X: CART(max_leaf_nodes=2).fit(X[["x"]], OBJECTS),
]


@each("call", HALVES)
def test_half_of_a_character_is_refused_by_name(call):
    X = pd.DataFrame({"x": np.arange(20) % 6, "z": np.arange(20), "y": ["a", "b"] * 10})
    with pytest.raises(DataError, match=r"'x\\ud800' has '\\ud800', half of a character, which no file can hold"):
        call(X)


@law(20, first=600)
def test_columns_of_any_size_make_clusters_or_are_refused(seed):
    """Nothing overflows; columns that are scaled first make the same clusters, whatever their unit."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(60, 2)) + 5 * rng.integers(0, 3, (60, 1)), 2)
    factor = float(rng.choice([2.0**-900, 2.0**-500, 1.0, 2.0**500, 2.0**900, 2.0**1005, 2.0**1020]))
    frame = pd.DataFrame(X * factor, columns=["x", "y"])
    if rng.random() < 0.5:
        frame["word"] = rng.choice(["a", "b"], 60)
    if rng.random() < 0.5:
        frame.loc[:5, "y"] = np.nan
    plain = frame.assign(x=frame["x"] / factor, y=frame["y"] / factor)
    for standardize in ("auto", True, False):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if factor > (2.0**1005 if standardize else 2.0**500):
                with pytest.raises(DataError, match="may be beyond the largest float"):
                    explain(frame, n_clusters=3, standardize=standardize)
            elif standardize:
                found = explain(frame, n_clusters=3, standardize=standardize).predict(frame)
                expected = explain(plain, n_clusters=3, standardize=standardize).predict(plain)
                assert adjusted_rand_score(expected, found) == 1
            elif factor > 2.0**-900:  # squares of smaller numbers are 0
                explain(frame, n_clusters=3, standardize=standardize)
