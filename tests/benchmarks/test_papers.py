"""The runner of the papers' experiments, on tiny settings."""

import csv
import gzip
import importlib.util
import io
import warnings
from contextlib import redirect_stdout

import numpy as np
import pytest
from benchmarks.papers import __main__, bases, data, paper_000, paper_001, plots
from benchmarks.papers.report import Options, Report, numbers, worst
from sklearn.datasets import load_iris, load_wine

from boxwood import Mixture, Reference, grow
from boxwood.metrics import error_rate, price_of_explainability
from boxwood.theory import instances

NO_DATA = {"d31", "pathbased", "aggregation", "compound", "jain", "rice", "glass", "r15"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of data with iris and wine alone."""
    for name, loader in (("iris", load_iris), ("wine", load_wine)):
        table = loader()
        with gzip.open(tmp_path / f"{name}.csv.gz", "wt", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*(f"x{j}" for j in range(table.data.shape[1])), "label"])
            writer.writerows([*row, f"class {c}"] for row, c in zip(table.data.tolist(), table.target, strict=True))
    monkeypatch.setenv("BOXWOOD_DATA", str(tmp_path))
    return tmp_path


def printed(*arguments):
    out = io.StringIO()
    with redirect_stdout(out):
        __main__.main(list(arguments))
    return out.getvalue()


# ---------------------------------------------------------------------------------------------------------- tables


@pytest.mark.slow
def test_paper_000_beside_ours(folder):
    out = printed("--only", "000", "--quick", "--markdown")
    lines = out.splitlines()
    assert sum(line.startswith("### 000, Table") for line in lines) == 2
    wine = [line for line in lines if line.startswith("| wine 178 x 13, K=3")]
    assert len(wine) == 2
    assert "1.0444 / 1.0469 / 1.0724" in wine[0]
    assert "0.0020 / 0.0047 / 0.0015" in wine[1]
    ours = [float(x) for x in wine[0].split("|")[3].split("/")]
    assert all(0.9 < price < 1.3 for price in ours)
    assert wine[0].split("|")[5].strip() in ("yes", "in no setting")
    assert "mean of 1" in wine[0]
    assert [line for line in lines if line.startswith("| rice")] == [
        "| rice | - | file not there | - | - | - | - |",
        "| rice | - | file not there | - | - |",
    ]


@pytest.mark.slow
def test_paper_001_beside_ours(folder, monkeypatch):
    monkeypatch.setattr(paper_001, "SPREADS", (6.0,))
    table, figure_3, figure_6 = paper_001.tables(Options(quick=True))
    absent = {row[0] for row in table.rows if row[3] == "file not there"}
    assert absent == NO_DATA
    (iris,) = [row for row in table.rows if row[0].startswith("iris 150 x 4")]
    assert iris[2] == "0.90 / 0.89 / 0.87"
    assert iris[5:7] == ("yes", "yes")
    assert [float(x) for x in iris[3].split("/")] == pytest.approx([0.90, 0.89, 0.87], abs=0.05)
    assert table.rows[0][0] == "Gaussians 5,000 x 2, K=5"
    assert [row[-1] for row in figure_3.rows[:2]] == ["yes", "yes"]
    assert figure_6.rows[0][-1] == figure_6.rows[2][-1] == "yes"


def test_a_paper_without_its_data_is_all_reports(tmp_path, monkeypatch):
    monkeypatch.setenv("BOXWOOD_DATA", str(tmp_path))
    monkeypatch.setattr(paper_001, "_synthetic_row", lambda options: ("-",) * 11)
    table = paper_001._table_1(Options(quick=True))
    assert [row[0] for row in table.rows[1:]] == [row.name for row in paper_001.TABLE]
    assert {row[3] for row in table.rows[1:]} == {"file not there"}


def test_an_unknown_paper_is_refused(capsys):
    with pytest.raises(SystemExit):
        printed("--only", "999")
    assert "invalid choice: '999'" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------------ parts


def test_a_report_as_text_and_as_markdown():
    report = Report("Table", ("data", "ours"), (("a|b", "1.0"), ("longer", "2.0")), ("a remark",))
    assert report.as_text() == "Table\ndata    ours\na|b     1.0\nlonger  2.0\n* a remark"
    assert report.as_markdown().splitlines() == [
        "### Table",
        "",
        "| data | ours |",
        "| --- | --- |",
        "| a\\|b | 1.0 |",
        "| longer | 2.0 |",
        "",
        "- a remark",
    ]
    with pytest.raises(ValueError, match="rows must have 2 cells"):
        Report("Table", ("data", "ours"), (("one",),))
    assert numbers([0.5, 1.0]) == "0.50 / 1.00"
    assert worst([1.0, 2.0], [1.5, 1.0]) == 1.0


def test_data_are_read_as_they_stand(folder):
    table = data.load("wine")
    assert np.array_equal(table.X, load_wine().data)
    assert table.labels[0] == "class 0"
    assert data.load("nothing") is None
    with gzip.open(folder / "odd.csv.gz", "wt") as file:
        file.write("x,y\n1,2\n")
    with pytest.raises(ValueError, match="last column 'label', got 'y'"):
        data.load("odd")


def test_the_folder_beside_the_project_is_the_default(monkeypatch):
    monkeypatch.delenv("BOXWOOD_DATA", raising=False)
    assert data.folder() == data.ROOT.parent / "shared" / "data"
    assert (data.ROOT / "pyproject.toml").exists()


@pytest.mark.parametrize("d", [2, 10])
def test_random_gaussians_are_those_of_the_appendix(d):
    drawn = data.draw_gaussians(np.random.default_rng(0), 5, d, sd=2.0)
    distances = np.linalg.norm(drawn.means[:, None] - drawn.means[None], axis=2)[~np.eye(5, dtype=bool)]
    assert distances.min() >= 20
    assert np.linalg.norm(drawn.means, axis=1).max() <= 50
    table = drawn.rows(200_000, np.random.default_rng(1))
    found = Mixture.of(table.X, table.labels)
    assert found.means == pytest.approx(drawn.means, abs=0.15)
    assert found.variances == pytest.approx(drawn.mixture.variances, rel=0.05)
    correlated = np.cov(table.X[table.labels == 0].T)
    assert correlated == pytest.approx(drawn.covariances[0], abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", bases.GRIDS)
def test_bases_name_their_settings(kind):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)), rng.normal([40, 0], size=(60, 2))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a graph in two parts
        found = list(bases.bases(kind, X, 2, quick=True))
    assert len({base.setting for base in found}) == len(found) >= 2
    assert {base.setting.split(",")[0] for base in found} == {"raw", "standardised"}
    for base in found:
        assert len(base.labels) == len(base.X) == 120
        assert base.mixture.n_components == len(set(base.labels.tolist()) - {-1})
        if base.setting.startswith("standardised"):
            assert base.X.std(axis=0) == pytest.approx(1.0)


@pytest.mark.slow
def test_prices_are_means_over_seeds():
    X = load_iris().data
    settings = paper_000._settings(bases.bases("k-means", X, 3))
    assert [setting.words for setting in settings] == [
        f"{scaling}, k-means, {cost}" for scaling in ("raw", "standardised") for cost in ("l1", "sqeuclidean")
    ]
    assert all(setting.n_runs == 5 for setting in settings)
    assert all(1 <= price < 1.5 for price in settings[1].prices)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3, 4])
def test_prices_of_the_growing_instance_are_those_of_all_its_rows(k):
    for seed in range(10):
        instance = instances.growing_price(k, 3, random_state=seed)
        tree = grow.mmdt(instance.mixture, axis="range", tie_break="random", random_state=seed)
        atoms = instance.atoms()
        kept = atoms.weights > 0
        reference = Reference(atoms.labels[kept], instance.mixture.means)
        expected = price_of_explainability(
            atoms.points[kept], tree, reference, objective="l1", sample_weight=atoms.weights[kept]
        )
        assert paper_000._price_of_deviations(instance, tree) == pytest.approx(expected)
    report = paper_000._theorem_5(Options(quick=True))
    assert [row[0] for row in report.rows] == ["2", "3", "4", "5", "slope of the mean"]
    # one component on either side, and rows that deviate to the threshold of one of them: 1 + (d + o(d)) / 2d / 2
    assert float(report.rows[0][3].split("/")[0]) == pytest.approx(1.25, abs=0.1)
    assert float(report.rows[-1][3]) > 0.1


@pytest.mark.slow
def test_errors_and_ratios_of_random_mixtures():
    ratios, errors, dimensions = paper_001._noise_and_errors(200)
    assert ((dimensions >= 5) & (dimensions <= 20)).all()
    assert np.corrcoef(ratios, np.log(errors))[0, 1] < -0.7
    # Theorem 1 for Gaussians of equal weights
    assert (errors <= 0.5 * 9 * np.exp(-ratios / 400)).all()
    mixture = Mixture([1, 1], [[-2.0], [2.0]], [[1.0], [1.0]])
    assert error_rate(mixture, grow.mmdt(mixture)).value == pytest.approx(0.0227501, rel=1e-5)


def test_bins_hold_equal_counts():
    q = np.arange(1000.0)
    bins = paper_001._bins(q, -q, 4)
    assert bins[:, 0].tolist() == [124.5, 374.5, 624.5, 874.5]
    assert (bins[:, 1] < bins[:, 2]).all()
    assert np.polyfit(bins[:, 0], bins[:, 2], 1)[0] == pytest.approx(-1)


@pytest.mark.slow
def test_figures_are_drawn_where_matplotlib_is(tmp_path, monkeypatch, capsys):
    def draw():
        plots.figure_3(str(tmp_path / "figures"), np.arange(5.0), -np.arange(5.0), np.ones((2, 3)))
        plots.figure_6(str(tmp_path / "figures"), {2: np.ones((4, 2)), 10: np.ones((4, 2))})
        plots.theorem_5(str(tmp_path / "figures"), {2: np.ones(3), 4: np.array([1.0, 1.5])})

    if importlib.util.find_spec("matplotlib") is not None:
        draw()
        assert len(list((tmp_path / "figures").glob("*.png"))) == 3
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    capsys.readouterr()
    draw()
    assert capsys.readouterr().out.count("not drawn, as matplotlib is not installed") == 3
