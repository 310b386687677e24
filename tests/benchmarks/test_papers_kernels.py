"""The experiments on kernels and the benchmark of kernels, on tiny settings."""

import csv
import gzip

import numpy as np
import pytest
from benchmarks.papers import data, kernel_bases, paper_004, paper_004_toys, plots
from benchmarks.papers.report import NO, YES, Options, degenerate
from sklearn.datasets import load_breast_cancer, load_iris, make_moons
from sklearn.metrics import adjusted_rand_score

from benchmarks import kernels as benchmark
from boxwood import Reference, ThresholdTree
from boxwood.kernels import Gaussian
from boxwood.loops.expand import cheapest_interval
from boxwood.metrics import kernel_cost, price_ceiling
from tests.benchmarks.test_papers import remarks_of, rows_of, written

pytestmark = pytest.mark.full

ABSENT = ("pathbased", "aggregation", "flame", "wdbc")
METHODS = ["k-means", "IMM", "kernel k-means", "Kernel IMM", "Kernel ExKMC", "Kernel Expand", "CART"]


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """The page where of the files iris alone is there; and its folder."""
    folder = tmp_path_factory.mktemp("data")
    table = load_iris()
    with gzip.open(folder / "iris.csv.gz", "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "c", "d", "label"])
        writer.writerows([*row, str(c)] for row, c in zip(table.data.tolist(), table.target, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOXWOOD_DATA", str(folder))
        return written(folder / "page", "--only", "004"), folder / "page"


@pytest.fixture(scope="module")
def moons():
    X, labels = make_moons(400, noise=0.05, random_state=0)
    X = X - paper_004_toys.APART * np.outer(labels, [0, 1])
    shape = paper_004_toys.Shape("half-moons apart", data.Table(X, labels), 2, 4, ("IMM", "Kernel IMM"))
    options = {"kernels": ("Gaussian",), "scalings": ("raw",), "quick": True}
    bases = list(kernel_bases.kernel_bases(shape.table, 2, **options))
    base = kernel_bases.best(bases)
    model = kernel_bases.explained(base)
    return shape, bases, base, model, kernel_bases.measured(base, model, labels, 4)


# --------------------------------------------------------------------------------------------------------- table 2


@pytest.mark.slow
def test_prices_beside_those_of_the_paper(out):
    rows = rows_of(out[0], "004", "Table 2")
    assert tuple(row[0] for row in rows if row[3] == "- / -") == ABSENT
    (iris,) = [row for row in rows if row[0] == "iris, Laplace"]
    assert iris[1:3] == ["Kernel IMM / CART", "1.00502 / 1.00502"]
    assert iris[5].startswith("raw, Laplace gamma ")
    assert "distance features" in iris[5]
    # the paper's 1.00502 for both trees, at a bandwidth that it does not print
    closest = iris[6].split(", off by")[0]
    assert [float(x) for x in closest.split("/")] == pytest.approx([1.00502, 1.00502], abs=0.02)


def test_the_setting_is_chosen_by_the_classes_and_judged_over_seeds(monkeypatch):
    prices = {"a": (1.5, 1.0), "b": (1.03, 1.0), "c": (1.2, 1.2)}
    ones = np.zeros((1, 1))
    bases = [
        kernel_bases.KernelBase(name, ones, Gaussian(1.0), Reference([0], ones), truth)
        for name, truth in (("a", 0.1), ("b", 0.2), ("c", 0.9))
    ]
    case = paper_004.Case("table", 2, 4, "Gaussian", ("1.01", "1.20"))
    monkeypatch.setattr(
        paper_004, "_priced", lambda base, k: paper_004.Priced(base, "taylor", prices[base.scaling], 2.0)
    )
    monkeypatch.setattr(paper_004, "again", lambda base, truth, seed: base)
    monkeypatch.setattr(data, "load", lambda name: data.Table(ones, np.zeros(1)))
    line = paper_004._line(case, bases, Options())
    assert line.setting.startswith("c, Gaussian gamma 1,")  # the best index, though b is closer
    assert [item.verdict for item in line.items] == [NO, YES]
    assert [len(item.ours) for item in line.items] == [10, 10]
    assert line.closest == "1.20000 / 1.20000, off by 0.19000 (c, Gaussian gamma 1; 13 tried)"


@pytest.mark.slow
def test_no_width_is_degenerate(moons):
    _, bases, _, _, _ = moons
    assert all(not degenerate(base.kernel(base.X, base.X)) for base in bases)


def test_the_width_at_which_prices_are_one_is_left_out():
    X = load_breast_cancer().data  # the table of the paper, as scikit-learn has it
    # there the clusters of the kernel are those of k-means, and both prices are 1
    assert degenerate(Gaussian(4e-8)(X, X)) == "constant or linear"


# -------------------------------------------------------------------------------------------------------- figure 4


@pytest.mark.slow
def test_bars_of_figure_4(out):
    rows = rows_of(out[0], "004", "Figure 4")
    assert [row[0] for row in rows if row[1] == "file not there"] == list(ABSENT)
    iris = {row[1]: row[2:] for row in rows if row[0] == "iris"}
    assert list(iris) == METHODS
    price = {method: float(cells[1]) for method, cells in iris.items() if cells[1] != "-"}
    assert list(price) == ["IMM", "Kernel IMM", "Kernel ExKMC", "Kernel Expand", "CART"]
    assert 1 <= price["Kernel ExKMC"] <= price["Kernel IMM"] < 1.05
    assert iris["Kernel IMM"][0] == iris["CART"][0] == "3"
    assert 3 <= int(iris["Kernel ExKMC"][0]) <= 6
    assert all((cells[2] == "-") == (method in METHODS[:3]) for method, cells in iris.items())
    truth = {method: float(cells[4]) for method, cells in iris.items()}
    assert truth["k-means"] == pytest.approx(0.730, abs=1e-3)  # as scikit-learn's own examples have it for iris
    assert truth["kernel k-means"] >= truth["k-means"]
    assert abs(truth["Kernel ExKMC"] - truth["kernel k-means"]) <= 0.05
    assert "Kernel ExKMC costs no more than Kernel IMM: 1 of 1" in remarks_of(out[0], "004", "Figure 4")


@pytest.mark.slow
def test_bars_measure_what_they_say(moons):
    shape, _, base, model, bars = moons
    X, truth = shape.table
    for method in ("Kernel IMM", "Kernel ExKMC", "Kernel Expand", "CART"):
        bar = bars[method]
        labels = bar.tree.predict(X)
        of_tree, of_clusters = (kernel_cost(X, y, kernel=base.kernel) for y in (labels, base.reference.labels))
        assert bar.price == pytest.approx(of_tree / of_clusters)
        assert bar.clusters == adjusted_rand_score(base.reference.labels, labels)
        assert bar.truth == adjusted_rand_score(truth, labels)
    assert bars["kernel k-means"].tree is bars["k-means"].tree is None
    assert bars["kernel k-means"].truth == base.truth
    assert model.price_ceiling_ == pytest.approx(price_ceiling(X, base.reference, kernel=base.kernel))


def test_a_verdict_may_be_that_it_is_not_met():
    def bar(price, truth):
        return kernel_bases.Bar(None, None, price, 1.0, truth, 1.0)

    prices = {"Kernel IMM": 1.2, "Kernel ExKMC": 1.1, "Kernel Expand": 1.3}
    bars = {method: bar(price, 0.9) for method, price in prices.items()} | {"k-means": bar(None, 0.5)}
    bars["kernel k-means"] = bar(None, 0.94)
    notes = paper_004._notes_on_figure_4(dict.fromkeys("abcd", bars), Options())
    assert sum(note.endswith("4 of 4 (the paper: mostly as good; 4 of 5 asked for), met") for note in notes) == 2
    worse = bars | {"Kernel ExKMC": bar(1.25, 0.8)}
    notes = paper_004._notes_on_figure_4(dict.fromkeys("abc", bars) | {"d": worse}, Options())
    assert any(note.endswith("Kernel IMM: 3 of 4") for note in notes)
    assert sum(note.endswith("3 of 4 (the paper: mostly as good; 4 of 5 asked for), not met") for note in notes) == 1


# -------------------------------------------------------------------------------------------------- figures 1 and 3


@pytest.mark.slow
def test_kernel_imm_is_good_where_imm_is_poor(out):
    index = {(row[0], row[1]): float(row[5]) for row in rows_of(out[0], "004", "Figure 1")}
    for name in ("half-moons", "half-moons apart"):
        assert index[name, "IMM"] < 0.2
        assert index[name, "Kernel IMM"] > 2 * index[name, "IMM"]
        assert index[name, "kernel k-means"] > index[name, "k-means"]
    assert index["half-moons apart", "Kernel IMM"] > 0.8
    verdicts = [remark for remark in remarks_of(out[0], "004", "Figure 1") if remark.startswith("half-moons")]
    assert [verdict.endswith("good with 2 leaves met") for verdict in verdicts] == [True, True]


@pytest.mark.slow
def test_a_figure_without_its_data_says_so(out):
    start = out[0].index("### 004, Figure 3")
    assert any(line.startswith("Verdict: not reproduced: pathbased.csv.gz is not in") for line in out[0][start:])


@pytest.mark.slow
def test_verdict_on_moons_knows_the_best_cut(moons):
    shape, _, _, _, bars = moons
    X, truth = shape.table
    best = max(
        adjusted_rand_score(truth, X[:, j] <= value) for j in (0, 1) for value in X[:, j]
    )  # no interval parts moons better than a straight cut
    verdict = paper_004_toys._of_moons(shape, bars)
    assert f"has ARI {best:.3f}" in verdict
    swapped = bars | {"IMM": bars["Kernel IMM"], "Kernel IMM": bars["IMM"]}
    assert paper_004_toys._of_moons(shape, swapped).endswith("not met")


def test_pathbased_needs_six_leaves():
    table = data.load("pathbased")
    if table is None:
        pytest.skip("needs the file of Pathbased")
    kernel = Gaussian(0.0547)
    found = kernel_bases.bw.KernelKMeans(3, kernel=kernel, random_state=0).fit(table.X)
    base = kernel_bases.KernelBase("raw", table.X, kernel, Reference.of(table.X, found.labels_), 0.0)
    model = kernel_bases.explained(base)
    bars = kernel_bases.measured(base, model, table.labels, 6)
    assert [bars[method].tree.n_leaves for method in METHODS[3:]] == [3, 6, 6, 3]
    # Table 2 of the paper: 1.06645 and 1.07004
    assert [bars["Kernel IMM"].price, bars["CART"].price] == pytest.approx([1.06645, 1.07004], abs=0.01)
    assert paper_004_toys._of_pathbased(bars).endswith("6 good met")
    assert paper_004_toys._of_pathbased(bars | {"Kernel Expand": bars["Kernel IMM"]}).endswith("not met")


@pytest.mark.slow
def test_the_grid_holds_each_bandwidth_once(moons):
    _, bases, base, _, _ = moons
    gammas = [one.kernel.gamma for one in bases]
    assert len(set(gammas)) == len(gammas) >= 3
    steps = 2 * np.log2(np.array(gammas) / Gaussian("scale").fitted(base.X).gamma)
    assert np.isin(np.round(steps, 9), list(kernel_bases.STEPS)[::4]).all()
    assert base.truth == max(one.truth for one in bases)
    assert "-8, -4, ..., 12" in kernel_bases.grid(True)
    assert "-8, -7, ..., 12" in kernel_bases.grid(False)


# ------------------------------------------------------------------------------------------------------- figure 6


@pytest.mark.slow
def test_the_kernel_of_histograms_finds_rare_bins(out):
    rows = {row[0]: row[1:] for row in rows_of(out[0], "004", "Figure 6")}
    assert tuple(rows) == paper_004_toys.METHODS
    mean = {method: float(cells[1]) for method, cells in rows.items()}
    assert mean["χ² kernel k-means"] > mean["k-means"] + 0.05
    assert mean["Kernel IMM"] > mean["IMM"] + 0.05
    for cells in rows.values():
        quartiles = [float(x) for x in cells[0].split("/")]
        assert quartiles == sorted(quartiles)
        assert quartiles[-1] <= 1
    assert any("it improves over k-means met" in line for line in out[0])
    assert paper_004_toys.PROBABILITIES.sum(axis=1) == pytest.approx(1.0)


# ---------------------------------------------------------------------------------------------------------- plots


@pytest.mark.slow
def test_pictures_stand_beside_the_page(out):
    named = [line.partition("](")[2].rstrip(")") for line in out[0] if line.startswith("![")]
    assert sorted(named) == sorted(path.name for path in out[1].glob("*.png"))
    assert len(named) == len(set(named))


def test_lines_of_cuts_stay_inside_of_their_parts():
    tree = ThresholdTree.from_dict(
        {
            "feature": 0,
            "interval": [1.0, 2.0],
            "inside": {"feature": 1, "threshold": 5.0, "left": {"cluster": 0}, "right": {"cluster": 1}},
            "outside": {"feature": 1, "threshold": 3.0, "left": {"cluster": 0}, "right": {"cluster": 1}},
        }
    )
    lines = {tuple(map(tuple, line.tolist())) for line in plots.cut_lines(tree, np.zeros(2), np.array([4.0, 10.0]))}
    assert lines == {
        ((1.0, 0.0), (1.0, 10.0)),
        ((2.0, 0.0), (2.0, 10.0)),
        ((1.0, 5.0), (2.0, 5.0)),
        ((0.0, 3.0), (1.0, 3.0)),
        ((2.0, 3.0), (4.0, 3.0)),
    }
    beyond = ThresholdTree.from_dict(
        {"feature": 0, "interval": [9.0, 11.0], "inside": {"cluster": 0}, "outside": {"cluster": 1}}
    )
    assert list(plots.cut_lines(beyond, np.zeros(2), np.array([4.0, 10.0]))) == []


# ------------------------------------------------------------------------------------------------------- benchmark


@pytest.mark.parametrize("seed", range(20))
def test_both_searches_find_the_same_cost(seed):
    random = np.random.default_rng(seed)
    n, k = int(random.integers(3, 30)), int(random.integers(1, 5))
    costs = random.integers(20, size=(n, k))
    arrays = np.arange(n, dtype=float), random.permutation(n), costs, costs.sum(axis=0)
    assert cheapest_interval(*arrays, 0, k)[0] == benchmark.best_pair(*arrays)


@pytest.mark.slow
def test_the_benchmark_prints_its_tables(monkeypatch, capsys):
    monkeypatch.setattr(benchmark, "ROWS", (300,))
    monkeypatch.setattr(benchmark, "SEARCHED", ((50, 3),))
    benchmark.main()
    lines = capsys.readouterr().out.splitlines()
    seconds, peaks = (line.split() for line in lines if line.startswith("300"))
    assert [len(seconds), len(peaks)] == [8, 6]
    assert float(peaks[1]) < float(peaks[2])  # the clusterer keeps what the floor throws away
    assert sum(line.startswith("50 rows, k=3") for line in lines) == 1
