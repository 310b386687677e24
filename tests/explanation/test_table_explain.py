"""`explain` on a table in batches says what it says of the same rows in memory."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boxwood import RandomCuts, Reference, explain
from boxwood.batches import NearestCenters, ranks
from boxwood.batches.source import ArrowSource
from boxwood.errors import DataError
from boxwood.explanation.choose import search, settings
from tests import naive
from tests.models import read_model
from tests.scale import each, law
from tests.scattered import scattered

pytestmark = pytest.mark.usefixtures("rows_drawn")


def table(seed, n=300):
    """Return rows with ties, labels with noise, and weights or None."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 5)), int(rng.integers(2, 7))
    X = rng.normal(size=(n, d)).round(int(rng.integers(0, 4))) * rng.choice([1.0, 1e-12, 1e12])
    X += rng.choice([0.0, 1e6]) * np.abs(X).max()
    X[:, rng.integers(d)] = np.floor(X[:, 0])
    y = rng.integers(-1, k, size=n) if seed % 2 else nearest_to(X, X[:k])
    weights = [None, rng.integers(0, 4, size=n), rng.random(n)][seed % 3]
    if weights is not None:
        weights[np.unique(y, return_index=True)[1]] = 1
    return X, y, weights


def nearest_to(X, centers):
    return np.square(X[:, None, :] - centers).sum(axis=2).argmin(axis=1)


def both(X, y, weights=None, seed=0, **options):
    """Return the explanations of rows in memory and in batches."""
    columns = {"label": y} | ({} if weights is None else {"weight": weights})
    names = [f"x{j}" for j in range(X.shape[1])]
    in_memory = explain(X, y, columns=names, sample_weight=weights, **options)
    source = scattered(X, seed, **columns)
    return in_memory, explain(source, "label", sample_weight=None if weights is None else "weight", **options)


def cannot_be_separated(X, y, weights=None):
    """Return whether there is one cluster only, or two have one mean."""
    reference = Reference.of(X, y, sample_weight=weights)
    return reference.n_clusters < 2 or len(np.unique(reference.centers, axis=0)) < reference.n_clusters


def near(a, b):
    return a == b or a == pytest.approx(b, rel=1e-9, abs=1e-300)


def without_hints(notes):
    """Return notes without those on codes and on columns that tell labels alone, which passes do not look for.

    One that all rows were drawn is left out, too.
    """
    others = "if they are codes", " alone determines ", " rows, drawn at random, were read into memory"
    return tuple(note for note in notes if not any(other in note for other in others))


def without_mends(clusters):
    """Return the clusters without the leaves that would mend weak rules, which need the rows of a leaf in memory."""
    return [one._replace(mend=None) for one in clusters]


def check_equal(one, other, *, is_exact=True):
    """Check that two explanations say the same; weights that are not whole add up to the same but for rounding."""
    assert one.tree == other.tree
    assert one.columns == other.columns
    assert without_hints(one.notes) == without_hints(other.notes)
    assert one.method == other.method
    assert (one.n_rows, one.n_left_out, one.details.noise) == (other.n_rows, other.n_left_out, other.details.noise)
    assert near(one.cost, other.cost)
    assert near(one.reference_cost, other.reference_cost)
    assert near(one.price, other.price)
    assert near(one.adjusted_rand, other.adjusted_rand)
    if is_exact:
        assert (one.leaves, one.agreement) == (other.leaves, other.agreement)
        assert without_mends(one.clusters) == without_mends(other.clusters)
        assert one.readability == other.readability
        assert one.confusion() == other.confusion()
        return
    assert near(one.agreement, other.agreement)
    for mine, its in zip(one.leaves, other.leaves, strict=True):
        assert mine.rule == its.rule
        assert near(mine.size, its.size)
        assert near(mine.own, its.own)


# ------------------------------------------------------------------------------------------------- as in memory


@law(40)
def test_a_named_method_says_the_same_as_in_memory(seed):
    X, y, weights = table(seed)
    if cannot_be_separated(X, y, weights):
        return
    digits = [None, *range(1, 4)][int(np.random.default_rng(seed).integers(4))]
    in_memory, by_passes = both(X, y, weights, seed, method="imm", round_thresholds=digits)
    check_equal(in_memory, by_passes, is_exact=weights is None or weights.dtype.kind == "i")
    assert in_memory.limits == by_passes.limits


@law(8)
def test_distances_to_medians_are_those_in_memory(seed):
    X, y, weights = table(seed, n=120)
    options = [{}, {"standardize": True}, {"round_thresholds": 2}][seed // 3 % 3]
    centers = Reference.of(X, y, center="median", sample_weight=weights).centers
    if len(centers) < 2 or len(np.unique(centers, axis=0)) < len(centers):
        return
    in_memory, by_passes = both(X, y, weights, seed, method="random_cuts", objective="l1", random_state=0, **options)
    check_equal(in_memory, by_passes, is_exact=weights is None)
    assert by_passes.details.objective == "l1"
    if seed < 4 and not options.get("round_thresholds"):
        assert str(in_memory.frontier()) == str(by_passes.frontier())


def test_random_cuts_are_fitted_on_medians_of_a_table():
    X, y, _ = table(3)
    y = np.maximum(y, 0)
    names = [f"x{j}" for j in range(X.shape[1])]
    source = scattered(X, 0, label=y)
    mine = RandomCuts(random_state=0).fit(pd.DataFrame(X, columns=names), y)
    model = RandomCuts(random_state=0).fit(source, "label")
    assert model.tree_ == mine.tree_
    assert (model.reference_.centers == mine.reference_.centers).all()
    assert model.explanation_.price == pytest.approx(mine.price_)
    again = model.explanation_.evaluate(source, "label")
    assert (again.details.objective, again.cost) == ("l1", pytest.approx(mine.explanation_.cost))
    assert explain(source, model).cost == pytest.approx(mine.explanation_.cost)
    with pytest.raises(DataError, match="k-medians need all rows in memory"):
        RandomCuts().fit(scattered(X, 0))
    with pytest.raises(DataError, match="geometric medians need all rows in memory"):
        RandomCuts(objective="l2").fit(source, "label")


@law(6)
def test_auto_on_a_table_that_a_sample_holds_says_the_same_as_in_memory(seed):
    rng = np.random.default_rng(seed)
    X = make_blobs(400, 3, centers=4, cluster_std=2.0, random_state=seed)[0]
    y = KMeans(4, n_init=1, random_state=0).fit(X).labels_ if seed % 2 else rng.integers(-1, 3, size=400)
    in_memory, by_passes = both(X, y, None, seed)
    check_equal(in_memory, by_passes)
    assert in_memory.search_report == by_passes.search_report


@law(20)
def test_spreads_and_profile_are_those_in_memory(seed):
    X, y, weights = table(seed)
    y[:2] = 0, 1
    in_memory, by_passes = both(X, y, weights, seed, max_leaf_nodes=3, objective="agreement")
    mine, its = in_memory._spreads(), by_passes._spreads()
    assert mine.keys() == its.keys()
    for j, spread in mine.items():
        assert near(spread.deviation, its[j].deviation)
        assert spread.whole == its[j].whole
    sizes = np.abs(X).max(axis=0)
    for mine, its, size in zip(in_memory.profile(), by_passes.profile(), sizes, strict=True):
        assert mine.column == its.column
        assert mine.effect == pytest.approx(its.effect, rel=1e-6, abs=1e-9)
        for a, b in zip((*mine.clusters, mine.everyone), (*its.clusters, its.everyone), strict=True):
            assert a.mean == pytest.approx(b.mean, rel=1e-12, abs=1e-12 * size)
            assert a.deviation == pytest.approx(b.deviation, rel=1e-9, abs=1e-14 * size)
            assert a.quantiles == b.quantiles
            assert (a.difference is None) == (b.difference is None)
            assert (a.index is None) == (b.index is None)
            assert a.difference is None or a.difference == pytest.approx(b.difference, rel=1e-6, abs=1e-6)


@law(10)
def test_weighted_quantiles_are_those_in_memory_where_sums_of_floats_would_differ(seed):
    """Half of the weight lies on either value, so that a last bit of a sum would decide on the median."""
    rng = np.random.default_rng(seed)
    half = rng.choice([0.1, 0.2, 0.3, 0.7], size=40)
    X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 40, axis=0)
    weights, y = np.concatenate([half, rng.permutation(half)]), np.arange(80) % 2
    y[:40:3] = 0
    in_memory, by_passes = both(X, y, weights, seed, max_leaf_nodes=2, objective="agreement")
    for mine, its in zip(in_memory.profile(), by_passes.profile(), strict=True):
        assert mine.everyone.quantiles == its.everyone.quantiles == (0.0, 0.0, 0.0, 1.0, 1.0)
        assert [group.quantiles for group in mine.clusters] == [group.quantiles for group in its.clusters]


def test_quantiles_of_a_long_table_are_those_of_its_rows(monkeypatch):
    monkeypatch.setattr(ranks, "MOST_GATHERED", 10_000)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60_000), rng.exponential(size=60_000) ** 3, rng.integers(9, size=60_000)])
    y = (X[:, 0] > 1).astype(int) + (X[:, 1] > 100)
    source = scattered(X, 0, label=y)
    ex = explain(source, "label", method="imm")
    before = source.runs
    for j, column in enumerate(ex.profile()):
        for group, rows in [(column.clusters[c], X[y == c, j]) for c in range(3)] + [(column.everyone, X[:, j])]:
            assert group.quantiles == tuple(np.percentile(rows, [5, 25, 50, 75, 95]))
    assert source.runs - before <= 3


# -------------------------------------------------------------------------------------------- forms of clusterings


@law(5)
def test_rows_belong_to_the_nearest_of_given_centres(seed):
    X = make_blobs(300, 3, centers=4, cluster_std=3.0, random_state=seed)[0]
    centers = X[:4]
    labels = nearest_to(X, centers)
    kmeans = KMeans(4, n_init=1, random_state=0).fit(X)
    given = {
        "array": (centers, labels),
        "list": (centers.tolist(), labels),
        "reference": (Reference.nearest(scattered(X, seed), centers), labels),
        "k-means": (kmeans, kmeans.predict(X)),
    }
    for clustering, labels in given.values():
        ex = explain(scattered(X, seed), clustering, method="imm")
        assert [cluster.size for cluster in ex.clusters] == np.bincount(labels, minlength=4).tolist()
        assert ex.reference_cost == pytest.approx(float(naive.cost(X, labels, "sqeuclidean")))
    assert (
        explain(scattered(X, seed), kmeans, method="imm").tree
        == explain(scattered(X, seed + 1), kmeans.cluster_centers_, method="imm").tree
    )


def test_a_fitted_mixture_labels_rows_by_its_predict():
    X = make_blobs(300, 2, centers=3, random_state=0)[0]
    for kind in ("full", "diag", "tied"):
        mixture = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
        ex = explain(scattered(X, 0), mixture, method="imm")
        assert [cluster.size for cluster in ex.clusters] == np.bincount(mixture.predict(X), minlength=3).tolist()


@pytest.mark.usefixtures("rows_drawn")
def test_clusters_that_are_made_are_those_of_k_means():
    X = make_blobs(500, 2, centers=3, random_state=1)[0]
    ex = explain(scattered(X, 0), n_clusters=3)
    expected = explain(X, n_clusters=3, columns=["x0", "x1"])
    assert ex.clusters == expected.clusters
    assert ex.tree == expected.tree
    assert "clusters were chosen" in explain(scattered(X, 0)).notes[1]


def test_only_chosen_columns_are_read():
    X = np.column_stack([make_blobs(60, 2, centers=3, random_state=0)[0], np.full(60, np.nan)])
    y = make_blobs(60, 2, centers=3, random_state=0)[1]
    with pytest.raises(DataError, match="rules cannot use x2 of the table: no values"):
        explain(scattered(X, 0, label=y), "label", method="imm", columns=["x0", "x2"])
    ex = explain(scattered(X, 0, label=y), "label", method="imm", columns=["x1", "x0"], names={0: "first"})
    expected = explain(X[:, [1, 0]], y, method="imm", columns=["x1", "x0"], names={0: "first"})
    check_equal(expected, ex)


# --------------------------------------------------------------------------------------------------- what comes after


@pytest.fixture(scope="module")
def pair():
    X, y = make_blobs(300, 3, centers=4, cluster_std=3.0, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "is_held", lambda n_rows, n_columns: False)
        return both(X, y, method="imm")


def test_it_is_written_and_drawn(pair):
    in_memory, ex = pair
    assert str(ex).replace("label = ", "cluster ") == str(in_memory)  # an array of labels has no name
    for form in ("to_text", "to_csv", "to_markdown", "to_sql", "to_python", "to_javascript"):
        said = getattr(ex, form)().replace("from the table", "from an array").replace("label = ", "cluster ")
        assert said == getattr(in_memory, form)()
    assert ex.to_frame("profile").shape == in_memory.to_frame("profile").shape
    assert ex.to_frame("confusion").equals(in_memory.to_frame("confusion"))
    assert "<svg" in ex.to_html()
    assert len(ex.to_html()) > 10_000


def test_it_is_saved_with_spreads_and_profile(pair, tmp_path):
    _, ex = pair
    ex.profile()
    ex.save(tmp_path / "model.json")
    loaded = read_model((tmp_path / "model.json").read_text())
    assert loaded == ex
    for read, column in zip(loaded.profile(), ex.profile(), strict=True):
        assert (read.column, read.effect, read.everyone.mean) == (column.column, column.effect, column.everyone.mean)
        near = pytest.approx(column.everyone.quantiles, abs=column.everyone.deviation / 500)
        assert read.everyone.quantiles == near  # those of rows are rounded in what is written
    assert loaded._spreads() == ex._spreads()
    assert pickle.loads(pickle.dumps(ex)) == ex


def test_why_and_rename(pair):
    in_memory, ex = pair
    row = {"x0": 0.0, "x1": 3.0, "x2": -2.0}
    assert str(ex.why(row)) == str(in_memory.why(row))
    renamed = ex.rename({0: "zero"})
    assert renamed.names[0] == "zero"
    assert renamed.confusion() == ex.confusion()
    assert renamed.profile() == ex.profile()


def test_what_needs_all_rows_says_so(pair):
    _, ex = pair
    for call in (ex.misassigned, ex.representatives, lambda: ex.why(3), lambda: ex.to_frame("misassigned")):
        with pytest.raises(
            DataError, match="needs all rows in memory, but the table is read in batches; read a sample"
        ):
            call()


@law(5)
def test_other_tables_are_measured_in_memory_and_in_batches(pair, seed):
    in_memory, ex = pair
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(100, 3)) * 5, rng.integers(-1, 3, size=100)
    expected = in_memory.evaluate(X, y)
    check_equal(expected, ex.evaluate(X, y))
    check_equal(expected, ex.evaluate(scattered(X, seed, label=y), "label"))
    check_equal(expected, in_memory.evaluate(scattered(X, seed, label=y), "label"))
    assert len(ex.misassigned(X, y)) == len(in_memory.misassigned(X, y))
    with pytest.raises(DataError, match="never seen: 7"):
        ex.evaluate(scattered(X, seed, label=np.full(100, 7)), "label")


# -------------------------------------------------------------------------------------------------------- refusals


@each(
    "clustering, options, message",
    [
        (np.zeros((2, 2)), {"standardize": True}, "standardize with centres or a clusterer needs all rows in memory"),
        ("label", {"min_samples_leaf": 11}, "min_samples_leaf=11 allows no cut of 20 rows"),
        ("label", {"method": "kernel_imm"}, "method 'kernel_imm' needs all rows in memory"),
        ("nothing", {}, "no column 'nothing'"),
        (list(range(20)), {}, "must be a column of it"),
        (np.zeros((3, 5)), {}, r"centres have 5 columns, but the rows have 4 \(x0, x1, label, one\)"),
        (KMeans(2), {}, "KMeans is not fitted"),
        (AgglomerativeClustering(2), {}, "AgglomerativeClustering"),
        (make_pipeline(StandardScaler(), KMeans(2)), {}, "a pipeline needs all rows in memory"),
        ("one", {}, "only one cluster, 1"),
    ],
)
def test_what_cannot_be_done_is_refused(clustering, options, message):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(DataError, match=message):
        explain(scattered(X, 0, label=np.arange(20) % 2, one=np.ones(20, dtype=int)), clustering, **options)


def test_weights_of_a_source_are_a_columns_name():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(TypeError, match="name the column of the table that holds the weights"):
        explain(scattered(X, 0, label=np.arange(20) % 2), "label", sample_weight=np.ones(20))
    with pytest.raises(ValueError, match="n_clusters=3 is for k-means"):
        explain(scattered(X, 0, label=np.arange(20) % 2), "label", n_clusters=3)


# ----------------------------------------------------------------------------------------------- longer than a sample


@law(3)
def test_auto_beyond_a_sample_keeps_its_word(seed, monkeypatch):
    monkeypatch.setattr(search, "rows_of_sample", lambda *_: 1_000)
    X = make_blobs(4_000, 4, centers=5, cluster_std=2.5, random_state=seed)[0]
    kmeans = KMeans(5, n_init=1, random_state=0).fit(X)
    in_memory, ex = both(X, kmeans.labels_, None, seed)
    assert "a sample of 1,000 of 4,000 rows" in ex.notes[0]
    assert "the best" in ex.notes[0]
    assert ex.search_report.n_sampled == 1_000
    assert ex.search_report.gap is None
    assert ex.cost <= 1.05 * in_memory.cost
    assert all(leaf.own > 0 for leaf in ex.leaves)
    again = explain(scattered(X[::-1], seed + 9, label=kmeans.labels_[::-1]), "label")
    assert again.tree == ex.tree
    assert again.cost == ex.cost
    imm = explain(scattered(X, seed, label=kmeans.labels_), "label", method="imm")
    assert ex.cost <= imm.cost * 1.01 or ex.agreement > imm.agreement


@law(24)
def test_auto_beyond_a_sample_takes_at_most_five_passes(seed, monkeypatch):
    """Whatever decides, however many leaves pay, and whether or not a column may be an identifier."""
    monkeypatch.setattr(search, "rows_of_sample", lambda *_: 300)
    rng, n = np.random.default_rng(seed), 1500
    X, y = make_blobs(n, 3, centers=int(rng.integers(2, 5)), cluster_std=rng.choice([0.5, 3.0]), random_state=seed)
    if seed % 3 == 1:
        y = rng.integers(0, 2, n) * (X[:, 0] > 0) + (X[:, 1] > 0)  # labels that need more leaves
    X = X.round(int(rng.choice([0, 1, 9])))
    columns: dict = {"label": y, "weight": rng.integers(1, 4, n)} | ({"id": np.arange(n)} if seed % 4 == 1 else {})
    options = [{}, {"objective": "cost"}, {"max_depth": 2}, {"objective": "agreement"}, {"max_columns": 2}][seed % 5]
    source = scattered(X, seed, **columns)
    ex = explain(source, "label", sample_weight="weight" if seed % 2 else None, **options)
    assert source.runs <= 5, (options, ex.notes)
    assert source.cells <= 5 * n * len(source.names)


def test_auto_beyond_a_sample_keeps_limits(monkeypatch):
    monkeypatch.setattr(search, "rows_of_sample", lambda *_: 500)
    X, y = make_blobs(3_000, 4, centers=5, cluster_std=2.5, random_state=0)
    source = scattered(X, 0, label=y)
    ex = explain(source, "label", max_depth=3, forbidden=["x0"], round_thresholds=2, max_columns=2)
    assert ex.tree.depth <= 3
    assert len(ex.tree.features) <= 2
    assert 0 not in ex.tree.features
    assert all(float(f"{t:.1e}") == t for t in ex.tree.upper[np.isfinite(ex.tree.upper)])
    assert ex.limits.max_depth == 3


def test_passes_are_few():
    X = make_blobs(500, 4, centers=5, cluster_std=2.5, random_state=0)[0]
    source = scattered(X, 0)
    explain(source, Reference(NearestCenters(X[:5]), X[:5]), method="imm")
    assert source.runs <= 7


@pytest.mark.parametrize("method", ["mmdt", "greedy", "shallow", "exkmc", "expand", "random_cuts", "auto"])
@law(3)
def test_other_methods_say_the_same_as_in_memory(method, seed):
    X, y = make_blobs(400, 3, centers=4, cluster_std=3.0, random_state=seed)
    in_memory, by_passes = both(X, y, None, seed, method=method)
    check_equal(in_memory, by_passes)
    assert in_memory.details.mixture == by_passes.details.mixture


def test_facts_of_a_fitted_mixture_are_those_in_memory():
    X = make_blobs(400, 2, centers=3, cluster_std=2.0, random_state=0)[0]
    mixture = GaussianMixture(3, random_state=0).fit(X)
    for method in ("mmdt", "auto"):
        in_memory = explain(X, mixture, method=method, columns=["x0", "x1"])
        by_passes = explain(scattered(X, 0), mixture, method=method)
        check_equal(in_memory, by_passes)
        assert in_memory.details.mixture == by_passes.details.mixture


@law(12)
def test_columns_of_every_kind_are_used_or_left_out_as_in_memory(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(45, 70))
    X = make_blobs(n, 2, centers=3, random_state=seed)[0] * [1.0, rng.choice([1.0, 1000.0])]
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(
        row=rng.permutation(n) + 17,
        twice=np.append(np.arange(n - 1), 3),
        customerId=rng.integers(5, size=n),
        town=[f"town {i}" for i in range(n)],
        day=pd.Timedelta("1h"),
        member=rng.random(n) < 0.5,
    )
    labelled = frame.assign(label=nearest_to(X, X[:3]) + 3 * frame["member"])
    in_memory, by_passes = (
        explain(table, "label", method="imm") for table in (labelled, ArrowSource(pa.Table.from_pandas(labelled)))
    )
    check_equal(in_memory, by_passes)
    assert in_memory.details.categories == by_passes.details.categories
    assert str(in_memory.profile()) == str(by_passes.profile())
    assert by_passes.predict(frame).tolist() == in_memory.predict(frame).tolist()
    in_memory = explain(frame, n_clusters=3, method="imm")
    drawn = explain(ArrowSource(pa.Table.from_pandas(frame)), n_clusters=3, method="imm")
    assert (in_memory.columns, in_memory.provenance.left_out) == (drawn.columns, drawn.provenance.left_out)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["blobs", "uniform"])
def test_auto_on_a_sample_costs_at_most_a_hundredth_more_than_in_memory(kind, monkeypatch):
    monkeypatch.setattr(search, "rows_of_sample", lambda *_: 20_000)
    X = make_blobs(100_000, 10, centers=8, cluster_std=4.0, random_state=1)[0]
    X = X if kind == "blobs" else np.random.default_rng(1).random((100_000, 4))
    k = 8 if kind == "blobs" else 10
    labels = KMeans(k, n_init=1, random_state=0).fit(X).labels_
    in_memory, by_passes = both(X, labels)
    assert by_passes.search_report.n_sampled == 20_000
    assert by_passes.cost <= 1.01 * in_memory.cost
