"""Rows held out: what is measured on them is what trees of the other rows are worth."""

import re

import numpy as np
import pytest
from sklearn.cluster import KMeans

from boxwood import IMM, Reference, explain, grow, metrics
from boxwood.errors import DataError
from boxwood.explanation import HeldOut
from boxwood.explanation.measure.held_out import parts_held_out
from boxwood.reference import Task
from boxwood.words.notes import in_order
from tests.cases import make_case
from tests.models import read_model
from tests.scale import each, law, seeds


def blobs(seed, n=120, k=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    return 2 * rng.normal(size=(k, 3))[y] + rng.normal(size=(n, 3)), y


def task_of(seed):
    X, labels, weights = make_case(seed)
    reference = Reference.of(X, labels, sample_weight=weights)
    return Task.of(X, reference, sample_weight=weights, random_state=seed)


@pytest.mark.parametrize("validate", [2, 3, 5, 0.2, 0.5, 0.9])
def test_every_cluster_keeps_a_row_and_folds_hold_out_every_other_row_once(validate):
    n_tried = 0
    for seed in seeds(30):
        task = task_of(seed)
        labels, kept = task.reference.labels, task.kept
        try:
            parts = parts_held_out(task, validate)
        except DataError:
            continue
        n_tried += 1
        sizes = np.bincount(labels[kept], minlength=task.reference.n_clusters)
        candidates = np.flatnonzero(kept & (sizes[labels] > 1))
        whole = np.concatenate(parts)
        assert len(np.unique(whole)) == len(whole)
        assert np.isin(whole, candidates).all()
        for part in parts:
            left = np.bincount(np.delete(labels, part)[np.delete(kept, part)], minlength=len(sizes))
            assert (left[sizes > 0] > 0).all()
            assert len(part) > 0
        if isinstance(validate, int):
            assert sorted(whole) == sorted(candidates)
            for cluster in range(len(sizes)):  # spread evenly
                of_folds = [int((labels[part] == cluster).sum()) for part in parts]
                assert max(of_folds) - min(of_folds) <= 1
        elif (sizes[sizes > 1] > 1 / (1 - validate) + 1).all():
            assert len(whole) == int(np.floor(len(candidates) * validate + 1e-9))
        assert [part.tolist() for part in parts] == [part.tolist() for part in parts_held_out(task, validate)]
    assert n_tried > 5


@pytest.mark.parametrize("validate", [4, 0.3])
def test_the_numbers_are_those_of_trees_grown_on_the_other_rows(validate):
    for seed in seeds(6):
        X, y = blobs(seed)
        weights = 1.0 + np.arange(len(X)) % 3
        y = np.where(np.arange(len(X)) % 10 == 0, -1, y)
        ex = explain(X, y, method="imm", validate=validate, sample_weight=weights, random_state=seed)
        own = weight = cost = of_clusters = rows = 0
        for held in parts_held_out(ex._rows().task, validate):
            stays = np.delete(np.arange(len(X)), held)
            means = Reference.of(X[stays], y[stays], sample_weight=weights[stays])
            tree = grow.imm(X[stays], means, sample_weight=weights[stays])
            predicted = tree.predict(X[held])
            own += weights[held][predicted == y[held]].sum()
            weight += weights[held].sum()
            cost += metrics.partition_cost(X[held], predicted, sample_weight=weights[held])
            of_clusters += metrics.partition_cost(X[held], y[held], sample_weight=weights[held])
            rows += len(held)
        assert ex.held_out.agreement == pytest.approx(own / weight)
        assert ex.held_out.price == pytest.approx(cost / of_clusters)
        assert ex.held_out.n_rows == rows
        assert "4 folds" in ex.held_out.how or "30% of the rows" in ex.held_out.how


def test_the_tree_is_that_of_all_rows_and_the_frontier_has_the_same_number():
    X, y = blobs(0)
    plain, ex = (explain(X, y, method="cart", validate=validate) for validate in (None, 5))
    assert plain.held_out is None
    assert "held_out" not in plain.to_dict()
    assert ex.tree == plain.tree
    assert ex.held_out == explain(X, y, method="cart", validate=5).held_out
    assert plain.frontier(5).this[3:5] == (ex.held_out.price, ex.held_out.agreement)
    assert ex.held_out.agreement < ex.agreement


def test_it_is_printed_and_saved():
    X, y = blobs(1)
    ex = explain(X, y, method="cart", validate=0.25)
    sentence = (
        f"Expect about {ex.held_out.agreement:.0%} on new rows like these: on rows that they had not seen, rules grown "
        f"the same way agree on {ex.held_out.agreement:.1%} (25% of the rows)."
    )
    assert sentence in str(ex).splitlines()
    assert read_model(ex.to_json()) == ex
    assert isinstance(read_model(ex.to_json()).held_out, HeldOut)


def test_rows_of_one_value_have_a_price_of_one_or_infinity():
    X, y = [[0.0]] * 10 + [[1.0]] * 10, [0] * 10 + [1] * 10
    assert explain(X, y, method="cart", validate=2).held_out == (1.0, 1.0, 20, "2 folds", (1.0, 1.0), (1.0, 1.0))
    X = [[0.0]] * 9 + [[0.5]] + [[1.0]] * 10
    ex = explain(X, [0] * 9 + [1] + [2] * 10, method="cart", validate=2)
    assert ex.held_out[:4] == (1.0, 1.0, 19, "2 folds")  # the only row of its cluster is never held out


@each("validate", [0, 1, -3, 1.5, 0.0, 1.0, 101, float("nan"), float("inf")])
def test_numbers_that_are_neither_shares_nor_folds_are_refused(validate):
    with pytest.raises(ValueError, match="validate must be a share of the rows between 0 and 1, a number of folds"):
        explain(*blobs(0), method="cart", validate=validate)


@pytest.mark.parametrize("validate", [True, "5", [5]])
def test_other_kinds_are_refused(validate):
    with pytest.raises(TypeError, match="validate must be"):
        explain(*blobs(0), method="cart", validate=validate)


def test_too_few_rows_are_refused():
    X, y = [[0.0], [1.0], [2.0]], [0, 0, 1]
    with pytest.raises(DataError, match="3 folds need as many rows in clusters of two or more, got 2"):
        explain(X, y, method="cart", validate=3)
    with pytest.raises(DataError, match="holds out no row of 3"):
        explain(X, y, method="cart", validate=0.01)


def test_a_tree_that_is_there_cannot_be_validated():
    X, _ = blobs(0)
    with pytest.raises(ValueError, match="brings its own tree, so validate has no effect"):
        explain(X, IMM(KMeans(3, n_init=1, random_state=0)).fit(X), validate=5)


def test_thresholds_are_rounded_on_rows_held_out_too():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 1)) * 0.1 + centre for centre in (130.0, 160.0)])
    labels = np.repeat([0, 1], 60)
    ex = explain(X, labels, method="cart", round_thresholds=1, validate=3)
    assert ex.agreement == ex.held_out.agreement == 0.5
    assert explain(X, labels, method="cart", validate=3).held_out.agreement == 1


@law(10)
def test_rules_that_lose_nothing_agree_with_all_weights(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, size=90)
    X, weights = labels[:, None] + rng.uniform(0, 0.4, size=(90, 1)), rng.random(90)
    ex = explain(X, labels, sample_weight=weights, method="cart", validate=3)
    assert ex.held_out.agreement == 1
    assert ex.frontier()[-1].agreement == 1


def of_luck(ex):
    """Return the share of new rows that a note expects the rules to be right for, or None, and the one it doubts."""
    told = [re.match(r"expect about (\d+)% on new rows, not (\d+)%: with ", note) for note in ex.notes]
    return next(((int(one[1]) / 100, int(one[2]) / 100) for one in told if one), None)


@law(4)
def test_what_asks_for_most_where_no_column_carries_the_labels_says_so(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(100, 200)), int(rng.integers(3, 6))
    notes = explain(rng.normal(size=(n, 2)), rng.integers(0, k, n)).notes
    assert re.search("^the rules add little|^expect about .+ by the largest cluster alone: ", in_order(notes)[0])


@law(8)
def test_rules_that_owe_much_to_luck_say_about_how_they_do_on_new_rows(seed):
    rng = np.random.default_rng(seed)
    n, kept = int(rng.integers(100, 250)), rng.choice([0.0, 0.6])  # the share of labels that a column carries

    def drawn(n):
        X = rng.normal(size=(n, 4))
        return X, np.where(rng.random(n) < kept, X[:, 0] > 0, rng.random(n) < 0.5).astype(int)

    X, y = drawn(n)
    ex = explain(X, y, max_leaf_nodes=8)
    expected, doubted = of_luck(ex)
    assert doubted == round(ex.agreement, 2) >= expected + 0.04
    rows, truth = drawn(4000)
    actual = (np.array(ex.predict(rows)) == truth).mean()
    assert abs(expected - actual) < abs(doubted - actual)
    assert of_luck(explain(X, y, max_leaf_nodes=8, objective="agreement")) is None
    assert of_luck(explain(X, y, max_leaf_nodes=8, validate=0.3)) is None


@law(8)
def test_no_luck_is_told_of_in_long_tables_of_clear_rules_and_of_clusters_made_here(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    clear = (np.abs(X[:, 0]) < 1).astype(int)
    assert of_luck(explain(X, clear, max_leaf_nodes=3)) is None
    assert of_luck(explain(X, n_clusters=3)) is None
    long, labels = rng.normal(size=(1500, 1)).round(1), rng.integers(0, 2, 1500)
    assert of_luck(explain(long, labels, max_leaf_nodes=2)) is None
