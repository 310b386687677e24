"""The experiments on random cuts and on k-means, on tiny settings."""

import math

import numpy as np
import pytest
from benchmarks.papers import paper_002, paper_003
from benchmarks.papers.report import NO, Options

from boxwood import Reference, grow
from boxwood.metrics import node_table
from tests.benchmarks.test_papers import remarks_of, rows_of, written

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """The page of both papers."""
    return written(tmp_path_factory.mktemp("page"), "--only", "002", "003")


# ----------------------------------------------------------------------------------------------------- paper 002


@pytest.mark.slow
def test_what_is_known(out):
    rows = rows_of(out, "002", "Figure 1")
    assert ["k-means", "Ω(k / log k)", "O(k log k log log k)", "random cuts, embedded", "Makarychev, Shan 2021"] in rows
    assert all(cell for row in rows for cell in row)


@pytest.mark.slow
def test_the_star_costs_what_is_expected(out):
    for k, *cells, limit in rows_of(out, "002", "the star"):
        for cell, power in zip(cells, (1, 1, 2), strict=True):
            exact, found, noise = (float(number) for number in cell.replace("±", "/").split("/"))
            costs = np.array([1.0] + [paper_002.FAR] * (int(k) - 1))
            assert exact == pytest.approx(expected_last(costs, power), abs=1e-4)
            assert abs(found - exact) <= 5 * noise
            assert exact <= float(limit)


def expected_last(costs, power):
    """Return the expected cost of the last centre, where one after the other leaves with its odds."""
    stays = 1.0
    for n in range(len(costs), 1, -1):
        odds = costs[:n] ** power
        stays *= 1 - odds[0] / odds.sum()
    return stays * costs[0] + (1 - stays) * costs[-1]


@pytest.mark.slow
def test_prices_on_the_lower_bound_instances(out):
    rows = rows_of(out, "002", "Theorems 8.1 and 8.4")
    assert [(row[0], row[1]) for row in rows] == [
        ("cube, k-means", "50"),
        ("cube, k-means", "100"),
        ("grid, k-medians ℓ2", "50"),
        ("grid, k-medians ℓ2", "100"),
    ]
    for _, _, least, imm, *cuts, guarantee in rows:
        prices = [float(number) for cell in cuts for number in cell.split("/")]
        assert float(least) <= min(float(imm), *prices)
        assert max(prices) <= float(guarantee)
        assert all(best <= mean for best, mean in zip(prices[::2], prices[1::2], strict=True))
    mean = {(row[0], row[1]): float(row[5].split("/")[1]) for row in rows}
    assert mean["cube, k-means", "100"] > 2 * mean["cube, k-means", "50"]
    assert mean["grid, k-medians ℓ2", "100"] > mean["grid, k-medians ℓ2", "50"]


def test_slopes_are_those_of_powers():
    paid = [paper_002.Paid(k, 1.0, 1.0, {"l2": np.array([3.0 * k**1.5])}) for k in (10, 20, 40)]
    assert paper_002._slope((10, 20, 40), paid, "l2")[0] == pytest.approx(1.5)
    paid = [paper_002.Paid(k, 1.0, 1.0, {"l2": np.array([5 + 2 * math.log2(k)])}) for k in (10, 20, 40)]
    assert paper_002._slope((10, 20, 40), paid, "l2")[1] == pytest.approx(2)


@pytest.mark.slow
def test_growth_of_the_mean_price(out):
    rows = np.array(rows_of(out, "002", "Theorem 7.1"), dtype=float)
    assert rows[:, 0].tolist() == [2, 4, 8, 16]
    assert (np.diff(rows[:, 1:4], axis=0) > 0).all()
    assert (rows[:, 1] <= rows[:, 5]).all()
    assert rows[:, 3] == pytest.approx(rows[:, 4] * np.log2(rows[:, 0]) ** 1.5, rel=5e-3)
    assert (rows[:, 4] <= 4).all()


# ----------------------------------------------------------------------------------------------------- paper 003


@pytest.mark.slow
def test_splits_of_imm(out):
    X, reference = paper_003._five_clusters()
    tree = grow.imm(X, reference)
    splits = list(paper_003._splits(X, tree, reference))
    mistakes = node_table(X, tree, reference).mistakes
    assert [len(split.mistakes) for split in splits] == [mistakes[split.node] for split in splits]
    parted = np.concatenate([split.mistakes for split in splits])
    assert sorted(parted) == np.flatnonzero(tree.predict(X) != reference.labels).tolist()
    for split in splits:
        inside = reference.centers[np.concatenate(split.sides)]
        assert ((split.box[0] <= inside) & (inside <= split.box[1])).all()
        assert split.box[0, split.feature] < split.threshold < split.box[1, split.feature]
    rows = rows_of(out, "003", "Figure 3")
    assert rows[0][2] == "0, 1, 4 from 2, 3"
    assert [int(row[3]) for row in rows] == [len(split.mistakes) for split in splits]
    assert int(rows[-1][4]) == len(parted) > 0
    assert all(0 <= float(row[5]) <= 1 for row in rows)


@pytest.mark.slow
def test_the_local_optimum_in_numbers(out):
    for e, stays, cost, best, price in rows_of(out, "003", "sub-optimality of Lloyd's algorithm"):
        assert stays == "yes"
        assert float(cost) == pytest.approx(1 + 4 * float(e) ** 2)
        assert float(best) == pytest.approx(6 * float(e) ** 2)
        assert float(price) == pytest.approx(float(best) / float(cost), abs=1e-4)


@pytest.mark.slow
def test_lloyd_never_costs_more(out):
    rows = rows_of(out, "003", "Lemma kmeans.1")
    for column in (1, 2):
        costs = [float(row[column]) for row in rows]
        assert costs == sorted(costs, reverse=True)
        assert costs[0] > costs[-1]
    assert remarks_of(out, "003", "Lemma kmeans.1")[0].endswith("rose in 0 of 35 iterations")


@pytest.mark.slow
def test_seeds_cost_what_is_allowed(out):
    rows = rows_of(out, "003", "Theorems kmeans.2 and kmeans.4, Lemma kmeans.3")
    for k, ratio, allowed in rows:
        mean, noise = (float(number) for number in ratio.split("±"))
        assert 1 <= mean <= float(allowed) + 4 * noise
        if k == "1":
            assert mean == pytest.approx(2, abs=4 * noise)
    assert float(rows[2][2]) == pytest.approx(8 * (math.log(5) + 2), abs=5e-3)


@pytest.mark.slow
def test_the_cost_tends_to_that_of_the_population(out):
    rows = rows_of(out, "003", "Theorem kmeans.5")
    assert float(rows[-1][2]) == pytest.approx(1 / 108, abs=5e-7)
    assert float(rows[-1][1]) == pytest.approx(1 / 108, rel=0.03)


# --------------------------------------------------------------------------------------------------------- plots


@pytest.mark.slow
def test_tables_draw_their_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(paper_002, "_paid", lambda instance, objective, n_trees: paid_as(instance))
    monkeypatch.setattr(paper_002, "_mean_price", lambda k, *options: float(k))
    options = Options(quick=True, out=str(tmp_path))
    found = [paper_002._lower_bounds(options), paper_002._growth(options), paper_003._imm(options)]
    names = ["002_lower_bound_sqeuclidean.png", "002_lower_bound_l2.png", "002_growth.png", "003_figure_3.png"]
    pictures = [picture for section in found for picture in section.pictures]
    assert [picture.name for picture in pictures] == names
    assert all(picture.drawn is (tmp_path / picture.name).exists() for picture in pictures)


def test_a_figure_whose_rows_are_not_given_is_not_reproduced(tmp_path):
    section = paper_003._imm(Options(quick=True, out=str(tmp_path)))
    assert section.counts() == {NO: 1}
    assert "rows that the slides do not give" in section.verdict


def paid_as(instance):
    k = len(instance.centers)
    return paper_002.Paid(k, 1.0, 2.0, {name: np.array([float(k)]) for name in paper_002.OBJECTIVES})


def test_five_clusters_are_as_fitted():
    X, reference = paper_003._five_clusters()
    assert isinstance(reference, Reference)
    assert X.shape == (400, 2)
    assert np.bincount(reference.labels).min() > 60
