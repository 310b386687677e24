"""Rows that lack a value: they get no cluster and stay outside of all measures, by whatever door they come in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import boxwood
from boxwood import IMM
from boxwood._frames import missing_in
from boxwood.batches.source import ArrowSource
from boxwood.errors import DataError
from boxwood.explanation.records import FEW
from boxwood.reference import Reference
from boxwood.words.measured import cluster_parts
from boxwood.words.rules import cluster_rule, gaps_apart, gaps_line
from tests.models import read_model
from tests.scale import law
from tests.scattered import scattered

N = 120
RNG = np.random.default_rng(0)
LABELS = np.repeat(["low", "high"], N // 2)
FRAME = pd.DataFrame(
    {"a": np.r_[RNG.normal(0, 1, N // 2), RNG.normal(4, 1, N // 2)].round(2), "b": RNG.normal(0, 3, N).round(2)}
)
WORDS = RNG.choice(["x", "y"], N)
HOLES = FRAME.copy()
HOLES.loc[[3, 70], "a"] = np.nan
HOLES.loc[[70, 110, 119], "b"] = np.nan
WHOLE = np.setdiff1d(np.arange(N), [3, 70, 110, 119])
NOTE = "4 of 120 rows lack a value and were left out: b (3), a (2)"


@law(12)
def test_rows_that_lack_a_value_are_where_the_values_are_that_missing_ones_count_as(seed):
    """The rules of clusters made here say of missing values once what those for labels say in each condition."""
    rng = np.random.default_rng(seed)
    n, kind = 200, rng.integers(0, 3, 200)
    frame = pd.DataFrame({f"x{j}": kind * rng.normal(size=3)[j] * 4 + rng.normal(size=n) for j in range(3)})
    frame["word"] = np.where(rng.random(n) < 0.8, np.array(["a", "b", "c"])[kind], rng.choice(["a", "d"], n))
    frame = frame.mask(rng.random(frame.shape) < rng.choice([0.02, 0.3], 4))
    ex = boxwood.explain(frame, n_clusters=2 + seed % 4, max_leaf_nodes=5, random_state=0)
    again = read_model(ex.to_json())
    lacking = {name: n for name, n in frame.isna().sum().items() if name != "word" or n >= FEW}
    hides_some = any(0 < n < FEW for one in ex.clusters for n in (one.size, one.matched))
    lacking = {} if hides_some else lacking
    clusters, counts_as = gaps_apart(again._for_people().clusters, lacking)
    rules = [line.split("  ")[-1] for line in str(again).split("\n")[3 : 3 + len(clusters)]]
    assert [rule for rule in rules if "weak" not in rule] == [cluster_rule(one) for one in clusters if not one.is_weak]
    said = [line for line in str(again).split("\n") if line.startswith("Missing values count as: ")]
    assert said == gaps_line(counts_as, lacking)
    assert str(again.clusters) == str(ex.clusters) == "\n\n".join(cluster_parts(ex.clusters, made_here=True))
    lines = str(ex.clusters).split("\n")[: len(clusters) + 1], str(ex).split("\n")[2 : len(clusters) + 3]
    if clusters == gaps_apart(ex.clusters)[0]:  # which tell of all words and gaps that the tree lets in
        assert [line.split("  ")[-1] for line in lines[0]] == [line.split("  ")[-1] for line in lines[1]]
    filled = frame.fillna({one.column: value_of(one) for one in counts_as})
    assert list(ex.predict(filled)) == list(ex.predict(frame))
    labels = boxwood.explain(frame, ex.predict(frame), max_leaf_nodes=5)
    assert "Missing values count as" not in f"{labels}{labels.clusters}"


def value_of(one):
    """Return a value that fulfils a condition."""
    piece = one.intervals[0]
    if one.categories is not None:
        return one.categories.value(piece.lower)
    return max(piece.lower, -99.0) / 2 + min(piece.upper, 99.0) / 2


def explain(X, clustering=None, **asked):
    """Return the explanation without rows that lack a value; rules that learn from gaps have tests of their own."""
    return boxwood.explain(X, clustering, **{"missing": "drop"} | asked)


def check_leaves_out(ex, expected):
    """An explanation of the table with gaps is that of its complete rows, of which it knows the positions."""
    assert ex.tree == expected.tree
    assert (ex.price, ex.agreement, ex.clusters) == (expected.price, expected.agreement, expected.clusters)
    assert (ex.n_rows, ex.n_left_out, ex.details.n_incomplete) == (N, 4, 4)
    assert NOTE in ex.notes
    assert "(4 rows with missing values left out)" in str(ex)


@pytest.mark.parametrize("missing", ["learn", "drop"])
@law(4)
def test_rows_are_said_to_be_left_out_for_their_gaps_only_where_no_row_with_gaps_stays(seed, missing):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(60, 3)).round(1), columns=list("abc"))
    frame = frame.assign(w=rng.choice(list("xyz"), 60)) if seed % 2 else frame
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    frame.iloc[:3] = np.nan
    ex = boxwood.explain(frame, n_clusters=2, method="imm", missing=missing)
    lacking = frame.isna().any(axis=1)
    stays = ex.n_rows - ex.details.n_incomplete > (~lacking).sum()
    first = str(ex).splitlines()[0]
    assert ex.details.n_incomplete > 0
    assert stays == (missing == "learn")
    assert not (stays and "missing values left out" in first)
    asks_for_values = ex.details.gaps or ex.details.categories
    assert f"{ex.details.n_incomplete} rows {'' if asks_for_values else 'with missing values '}left out" in first


@pytest.mark.parametrize("method", ["auto", "imm", "cart"])
def test_rows_with_gaps_are_left_out(method):
    ex = explain(HOLES, LABELS, method=method)
    expected = explain(FRAME.iloc[WHOLE], LABELS[WHOLE], method=method)
    check_leaves_out(ex, expected)
    assert [one.row for one in ex.misassigned()] == WHOLE[[one.row for one in expected.misassigned()]].tolist()
    assert list(ex.representatives()) == WHOLE[list(expected.representatives())].tolist()
    assert ex.why(118).cluster == expected.why(int(np.searchsorted(WHOLE, 118))).cluster
    with pytest.raises(DataError, match="row 70 lacks a value that the rules look at"):
        ex.why(70)
    elsewhere = ex.predict(FRAME) != LABELS  # of other rows, positions are their own
    assert [one.row for one in ex.misassigned(FRAME, LABELS)] == np.flatnonzero(elsewhere).tolist()


def test_every_kind_of_rows_and_labels_is_read_alike():
    expected = explain(FRAME.iloc[WHOLE], LABELS[WHOLE], method="imm")
    numbers = HOLES[["a", "b"]]
    of_whole = Reference.of(FRAME[["a", "b"]].to_numpy(), LABELS)
    for X in (HOLES, pl.from_pandas(HOLES), pa.Table.from_pandas(HOLES), HOLES.convert_dtypes()):
        check_leaves_out(explain(X, LABELS, method="imm"), expected)
    for labels in (list(LABELS), pd.Series(LABELS), LABELS.astype(object)):
        check_leaves_out(explain(HOLES, labels, method="imm", sample_weight=None), expected)
    check_leaves_out(explain(HOLES.assign(label=LABELS), "label", method="imm"), expected)
    weighted = explain(HOLES, LABELS, method="imm", sample_weight=np.r_[np.ones(N - 1), 99.0])
    assert (weighted.tree, weighted.agreement) == (expected.tree, expected.agreement)
    array = explain(numbers.to_numpy(), LABELS, method="imm")
    assert array.tree == expected.tree
    assert "4 of 120 rows lack a value and were left out: column 1 (3), column 0 (2)" in array.notes
    assert explain(numbers, of_whole, method="imm").details.n_incomplete == 4


def test_clusters_are_made_of_complete_rows():
    numbers = HOLES[["a", "b"]]
    expected = explain(FRAME[["a", "b"]].iloc[WHOLE], n_clusters=3, method="imm")
    check_leaves_out(explain(numbers, n_clusters=3, method="imm"), expected)
    k_means = KMeans(3, n_init=10, random_state=0)
    expected = explain(FRAME[["a", "b"]].iloc[WHOLE], k_means, method="imm")
    check_leaves_out(explain(numbers, k_means, method="imm"), expected)
    explain(numbers, AgglomerativeClustering(3), method="imm")
    fitted = AgglomerativeClustering(3).fit(FRAME[["a", "b"]])
    ex = explain(numbers, fitted, method="imm")
    assert sum(one.size for one in ex.clusters) == len(WHOLE)
    assert len(fitted.labels_) == N
    imm = IMM(n_clusters=3, random_state=0)
    check_leaves_out(explain(numbers, imm), imm.fit(FRAME[["a", "b"]].iloc[WHOLE]).explanation_)


def test_noise_and_gaps_are_told_apart():
    labels = LABELS.astype(object)
    labels[:5] = -1
    ex = explain(HOLES, labels, method="imm")
    ruled = ex.predict(HOLES.iloc[[3, 70, 110, 119]], missing="none").tolist()
    n_ruled = 4 + sum(one in ex.names for one in ruled)
    assert (ex.n_left_out, ex.details.n_incomplete, sum(ex.details.noise)) == (8, 4, n_ruled)
    assert "(4 rows without a label and 4 rows with missing values left out)" in str(ex)
    assert f"Of the {n_ruled} rows {'left out' if n_ruled > 4 else 'without a label'} the rules put" in ex.to_text()


def test_a_saved_model_knows_how_many_rows_were_left_out(tmp_path):
    ex = explain(HOLES, LABELS, method="imm")
    ex.save(tmp_path / "m.json")
    loaded = boxwood.load(tmp_path / "m.json")
    assert (loaded.n_rows, loaded.n_left_out, loaded.details.n_incomplete) == (N, 4, 4)
    for model in (ex, loaded):
        again = model.evaluate(HOLES, LABELS)
        assert again.details.n_incomplete == sum(
            one not in ex.names for one in ex.predict(HOLES, missing="none").tolist()
        )
        assert model.evaluate(HOLES.iloc[WHOLE], LABELS[WHOLE]).agreement == ex.agreement


def test_gaps_are_refused_where_that_is_asked_for():
    for X in (HOLES, ArrowSource(pa.Table.from_pandas(HOLES.assign(label=LABELS)))):
        labels = LABELS if X is HOLES else "label"
        with pytest.raises(DataError, match=r"^missing values in 4 of 120 rows: b \(3\), a \(2\); fill them"):
            explain(X, labels, method="imm", missing="refuse")
    with pytest.raises(ValueError, match="missing must be one of 'learn', 'drop', 'refuse'; got 'fill'"):
        explain(HOLES, LABELS, missing="fill")
    with pytest.raises(DataError, match="missing values"):
        IMM().fit(HOLES[["a", "b"]])


def test_more_than_half_is_refused_with_the_columns_to_leave_out():
    holey = HOLES.assign(z=np.where(np.arange(N) % 3, np.nan, 1.0), y=1.0)
    for X, labels in ((holey, LABELS), (ArrowSource(pa.Table.from_pandas(holey.assign(label=LABELS))), "label")):
        with pytest.raises(DataError, match=r"81 of 120 rows: z \(80\).*more than half, so leave out z"):
            explain(X, labels, method="imm")
        assert explain(X, labels, method="imm", columns=["a", "b"]).details.n_incomplete == 4


@law(30)
def test_rows_in_batches_are_left_out_as_in_memory(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 60))
    X = rng.normal(size=(n, 3)).round(1)
    X[rng.random((n, 3)) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) > np.nanmedian(X[:, 0])).astype(int)
    expected = explain(X, y, method="imm", columns=["x0", "x1", "x2"])
    ex = explain(scattered(X, seed, label=y), "label", method="imm")
    assert (ex.tree, ex.clusters) == (expected.tree, expected.clusters)
    wanted = n, expected.n_left_out, expected.details.n_incomplete
    assert (ex.n_rows, ex.n_left_out, ex.details.n_incomplete) == wanted
    centers = explain(scattered(X, seed), np.array([[-1.0, 0, 0], [1, 0, 0]]), method="imm")
    assert (centers.n_rows, centers.details.n_incomplete) == (n, int(np.isnan(X).any(axis=1).sum()))


def test_numbers_whose_sum_is_no_number_are_complete():
    rows = [[1e308], [1.2e308], [1e307], [2e307]]
    found = [missing_in(X, None) for X in (rows, [*rows, [np.nan]])]
    assert [{name: lacks.tolist() for name, lacks in gaps.items()} for gaps in found] == [
        {},
        {"column 0": [False, False, False, False, True]},
    ]


# ---------------------------------------------------------------------------------------------------- pipelines


def test_a_pipeline_is_asked_about_the_columns_that_it_reads():
    steps = make_column_transformer((StandardScaler(), ["b"]), (OneHotEncoder(), ["word"]))
    pipeline = make_pipeline(steps, KMeans(2, random_state=0))
    holes = HOLES.assign(word=WORDS)
    for clusterer in (pipeline, make_pipeline(*[step for _, step in pipeline.steps]).fit(holes.dropna())):
        ex = explain(holes, clusterer, method="imm")
        assert ex.details.n_incomplete == 3
        assert "3 of 120 rows lack a value and were left out: b (3)" in ex.notes
    refused = make_pipeline(make_column_transformer((PCA(1), make_column_selector("a|b"))), KMeans(2, random_state=0))
    assert explain(HOLES, refused, method="imm").details.n_incomplete == 4


@pytest.mark.parametrize("first", [StandardScaler, PCA])
def test_a_pipeline_that_reads_more_columns_than_the_rules_is_asked_about_all_of_them(first):
    table, whole = HOLES[["b", "a"]], FRAME[["b", "a"]]
    pipeline = make_pipeline(first(), KMeans(2, random_state=0))
    for clusterer in (pipeline, make_pipeline(first(), KMeans(2, random_state=0)).fit(whole)):
        assert explain(table, clusterer, method="imm", columns=["a"]).notes[0] == NOTE
    filled = make_pipeline(SimpleImputer(), KMeans(2, random_state=0)).fit(whole)
    assert explain(table.fillna({"a": 0}), filled, method="imm", columns=["a"]).details.n_incomplete == 0


def test_an_array_of_text_and_numbers_with_gaps_is_clustered_by_a_pipeline():
    steps = make_column_transformer((StandardScaler(), [0, 1]), (OneHotEncoder(), [2]))
    holes, whole = (table.assign(word=WORDS).to_numpy(dtype=object) for table in (HOLES, FRAME))
    for clusterer in (
        make_pipeline(steps, KMeans(2, random_state=0)),
        make_pipeline(steps, KMeans(2, random_state=0)).fit(whole),
    ):
        assert explain(holes, clusterer, method="imm").notes[0] == NOTE.replace("b (", "column 1 (").replace(
            "a (2", "column 0 (2"
        )


@pytest.mark.parametrize("last", [KMeans(2, random_state=0), AgglomerativeClustering(2)], ids=["predicts", "labels"])
def test_a_pipeline_that_takes_gaps_gets_them(last):
    seen = []

    class Watched(SimpleImputer):
        def fit_transform(self, X, y=None):
            seen.append(int(np.isnan(np.asarray(X, dtype=float)).sum()))
            return super().fit_transform(X, y)

    steps = make_column_transformer((make_pipeline(Watched(), StandardScaler()), ["a", "b"]))
    ex = explain(HOLES, make_pipeline(steps, last), method="imm")
    assert seen == [5]
    assert NOTE in ex.notes
    indicators = make_column_transformer((SimpleImputer(add_indicator=True), ["a", "b"]))
    ex = explain(HOLES[["a", "b"]], make_pipeline(indicators, last), method="imm")
    assert ex.details.n_incomplete == 4


def test_a_category_that_was_never_seen_is_no_gap():
    steps = make_column_transformer((StandardScaler(), ["a"]), (OneHotEncoder(), ["word"]))
    fitted = make_pipeline(steps, KMeans(2, random_state=0)).fit(FRAME.assign(word=WORDS))
    unseen = FRAME.assign(word=["z", None, *WORDS[2:]])
    with pytest.raises((DataError, ValueError)):
        explain(unseen, fitted, method="imm")


def test_a_frozen_clusterer_stays_frozen_and_its_labels_are_taken_row_by_row():
    fitted = FrozenEstimator(AgglomerativeClustering(3).fit(FRAME[["a", "b"]]))
    ex = explain(HOLES[["a", "b"]], fitted, method="imm")
    assert sum(one.size for one in ex.clusters) == len(WHOLE)
    assert not ex.stability(2).refitted


def test_rows_that_nobody_looks_at_may_have_gaps():
    steps = make_column_transformer((PCA(1), ["a", "b"]))
    table = FRAME.assign(z=np.where(np.arange(N) % 3, 1.0, np.nan))
    clusterer = make_pipeline(steps, KMeans(2, random_state=0))
    assert explain(table, clusterer, columns=["a", "b"], method="imm").details.n_incomplete == 0


def test_a_cluster_of_filled_gaps_alone_is_told():
    steps = make_column_transformer((SimpleImputer(strategy="constant", fill_value=99.0), ["a", "b"]))
    table = HOLES.assign(b=FRAME["b"], a=HOLES["a"].where(FRAME["b"] < 3))
    clusterer = make_pipeline(steps, KMeans(3, n_init=10, random_state=0)).fit(table)
    lost = clusterer.predict(table)[table["a"].isna()]
    assert len(set(lost)) == 1
    ex = explain(table, clusterer, method="cart")
    assert f"every row of {lost[0]} lacks a value, so there is no such cluster here" in ex.notes


def test_few_columns_are_named_where_more_than_half_of_the_rows_have_gaps():
    table = pd.DataFrame(np.arange(40.0).reshape(10, 4), columns=["p", "q", "r", "s"])
    table.loc[:5, "p"] = table.loc[4:6, "q"] = table.loc[[2], "r"] = np.nan
    with pytest.raises(DataError, match="more than half, so leave out p, or fill the missing values"):
        explain(table, [0, 1] * 5)


def test_labels_of_any_kind_are_those_of_complete_rows():
    ragged = [(1, 2) if label == "low" else (1,) for label in LABELS]
    assert explain(HOLES, ragged, method="imm").details.n_incomplete == 4
    masked = np.ma.masked_greater(HOLES[["a", "b"]].to_numpy(), 5)
    with pytest.raises(DataError, match="masked array"):
        explain(masked, LABELS)
    lost = np.where(np.isin(np.arange(N), WHOLE), LABELS, "gone")
    ex = explain(HOLES, lost, method="imm")
    assert ex.names == ("high", "low")
    assert "every row of gone lacks a value, so there is no such cluster here" in ex.notes
    assert ex.notes == explain(HOLES.assign(label=lost), "label", method="imm").notes


# ------------------------------------------------------------------------------------------------------- indexes


def test_a_series_with_another_index_is_refused():
    shuffled, series = FRAME.sample(frac=1, random_state=0), pd.Series(LABELS)
    both_ways = r"labels\.reindex\(X\.index\), or by position: labels\.to_numpy\(\)"
    with pytest.raises(DataError, match=both_ways):
        explain(shuffled, series)
    with pytest.raises(DataError, match=both_ways):
        boxwood.compare(shuffled, series)
    with pytest.raises(DataError, match=r"sample_weight\.reindex\(X\.index\)"):
        explain(shuffled, LABELS, sample_weight=pd.Series(np.ones(N)))
    expected = explain(FRAME, series)
    assert explain(shuffled, series.reindex(shuffled.index)).tree == expected.tree
    with pytest.raises(DataError, match=both_ways):
        expected.evaluate(shuffled, series)
    assert explain(FRAME.to_numpy()[:, :2].astype(float), series[::-1]).n_rows == N
