"""Where a cut may stand: what is said of each place is what the change gives that puts the cut there."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import boxwood as bw
from boxwood.explanation.change import places as module
from boxwood.explanation.change.cuts import say_ends_of_cut
from boxwood.explanation.change.places import places_at_edges, places_of_end, places_of_question, round_places
from boxwood.explanation.records import FEW
from boxwood.render.page._guard import as_shown
from tests.explanation.test_changes import customers
from tests.models import read_model
from tests.scale import law


def refuse_others(places, i, changed):
    """Compare what is said of a place with the explanation whose cut stands there."""
    assert changed.agreement == pytest.approx(places.agreement[i], abs=1e-12)
    assert changed.changes[-1].moved == places.moved[i]
    if places.price is not None:
        assert changed.price == pytest.approx(places.price[i], rel=1e-9)


def some_of(rng, places):
    n = len(places.values)
    return {places.now, *rng.choice(n, min(n, 3), replace=False).tolist()}


def explained(rng, seed):
    """Return an explanation of a table of drawn columns, some of which have gaps, or of numbers with two-sided cuts."""
    if seed % 4 == 3:
        X, _ = make_blobs(200, n_features=3, centers=4, cluster_std=2.0, random_state=seed)
        return bw.explain(X, X[:, 0] > X[:, 1], method=str(rng.choice(["kernel_exkmc", "cart"])), max_leaf_nodes=6)
    frame, labels, weights = customers(rng, gaps=bool(seed % 3))
    return bw.explain(frame, labels, sample_weight=weights, method="cart", max_leaf_nodes=int(rng.integers(2, 9)))


@law(4)
def test_each_place_of_an_end_is_told_as_the_moved_cut_is(seed):
    refuse_a_wrong_end(seed)


@law(4)
def test_each_place_of_a_question_is_told_as_the_new_cut_is(seed):
    refuse_a_wrong_question(seed)


@law(4)
def test_each_place_at_an_edge_has_the_rows_of_the_moved_cut(seed):
    refuse_a_wrong_edge(seed)


@law(4)
def test_round_places_are_those_of_the_moved_cut_and_many_rows_apart(seed):
    refuse_a_wrong_round_place(seed)


def test_round_places_are_said_with_few_digits_and_close_to_the_cut():
    x = np.arange(3000.0)
    ex = bw.explain(x[:, None], x > 1234, columns=["x"])
    found = round_places(ex, 0, 5, 12)
    assert len(found.values) == 12
    assert all(value % 100 == 0 for i, value in enumerate(found.values) if i != found.now)
    assert {1000, 2000} < {*found.values}


@law(6)
def test_places_near_edges_are_round_and_part_about_the_same_rows(seed):
    """There are as many as at the edges, none has more digits, and a value between those that part rows alike does."""
    rng = np.random.default_rng(seed)
    ex = explained(rng, seed) if seed % 2 else salaries(rng)
    for node, bars in as_shown(ex, None)._kept["bars"].items():
        if ex.tree.second[node] != node + 2 or ex.tree.feature[node + 2] >= 0 or bars.scale == "categories":
            continue
        found = places_at_edges(ex, node, bars.edges[1:-1], FEW, 12)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_ALIKE", 0.0)
            exact = places_at_edges(ex, node, bars.edges[1:-1], FEW, 12)
        if found is None:
            continue
        assert (len(found.values), found.now) == (len(exact.values), exact.now)
        moved = np.abs(found.inside.sum(axis=1) - exact.inside.sum(axis=1))
        below = ex.tree.leaf_nodes.searchsorted([node, node + 3])
        rows = ex._rows().held[slice(*below)].sum()
        assert ex.details.weighted or (moved <= module._ALIKE * rows).all()
        for value, old, alike in zip(found.values, exact.values, found.alike or [None] * 99, strict=False):
            assert isinstance(value, str) or np.ceil(module._n_digits(value)) <= np.ceil(module._n_digits(old))
            at = found.values[found.now], found.values.index(value)
            for end in alike or ():
                new = ex.move_cut(ex.columns[int(ex.tree.feature[node])], at[0], to=end)
                first = ex.tree.leaf_nodes.searchsorted(node + 1)
                held = new._rows().held[first : first + 2]
                assert (held == found.inside[at[1]]).all(axis=1).any()
        assert seed % 2 or sum(value % 5000 == 0 for value in map(float, found.values)) > len(found.values) / 2


def salaries(rng):
    salary = rng.normal(100_000, 30_000, 400).round(-1)
    return bw.explain(salary[:, None], salary + rng.normal(0, 9000, 400) > 95_130, columns=["salary"], max_leaf_nodes=2)


@pytest.mark.full
@law(24, first=4)
def test_many_places(seed):
    refuse_a_wrong_round_place(seed)
    refuse_a_wrong_end(seed)
    refuse_a_wrong_edge(seed)
    refuse_a_wrong_question(seed)


def refuse_a_wrong_end(seed):
    rng = np.random.default_rng(seed)
    ex = explained(rng, seed)
    priced = []
    for node in np.flatnonzero(ex.tree.feature >= 0).tolist():
        if int(ex.tree.feature[node]) in ex._coded_columns:
            continue
        for is_upper, said in say_ends_of_cut(ex, node):
            places = places_of_end(ex, node, is_upper)
            priced.append(places.price is not None)
            assert (places.agreement[places.now], places.moved[places.now]) == (pytest.approx(ex.agreement), ())
            assert (np.diff(places.ends) > 0).all()
            for i in some_of(rng, places):
                refuse_others(places, i, ex.move_cut(places.column, said, to=places.values[i]))
    assert all(priced) or ex.details.objective != "sqeuclidean" or ex.details.kernel is not None


def refuse_a_wrong_edge(seed):
    """No few rows pass a cut from one place to the next, and those inside are those of the cut as `move_cut` has it."""
    rng = np.random.default_rng(seed)
    ex = explained(rng, seed)
    for node, bars in as_shown(ex, None)._kept["bars"].items():
        edges = bars.edges[1:-1]
        is_above = ex.tree.second[node] == node + 2 and ex.tree.feature[node + 2] < 0
        places = places_at_edges(ex, node, edges, FEW, 12) if is_above and bars.scale != "categories" else None
        if places is None:
            continue
        column, n_rows = ex.columns[int(ex.tree.feature[node])], []
        for i, value in enumerate(places.values):
            new = ex.move_cut(column, places.values[places.now], to=value)
            first, last = new.tree.leaf_nodes.searchsorted([node + 1, new.tree.second[node]])
            rows = new._rows()
            assert places.inside[i] == pytest.approx(rows.held[first:last].sum(axis=0))
            n_rows.append(int((rows.task.kept & (rows.leaf >= first) & (rows.leaf < last)).sum()))
        assert (np.abs(np.diff(n_rows)) >= FEW).all()
        others = [j for j in np.flatnonzero(ex.tree.feature == ex.tree.feature[node]).tolist() if j != node]
        taken = {said for other in others for _, said in say_ends_of_cut(ex, other)}
        assert not taken & {*map(str, places.values)}


def refuse_a_wrong_round_place(seed):
    rng = np.random.default_rng(seed)
    ex = explained(rng, seed)
    task, leaf = ex._rows().task, ex._rows().leaf
    for node in np.flatnonzero(ex.tree.feature >= 0).tolist():
        j, ends = int(ex.tree.feature[node]), [*say_ends_of_cut(ex, node)]
        places = None if j in ex._coded_columns else round_places(ex, node, FEW, 20)
        if places is None:
            assert j in ex._coded_columns or len(ends) == 2
            continue
        assert len(places.values) <= 20
        [(is_upper, said)] = ends
        assert (places.agreement[places.now], places.moved[places.now]) == (pytest.approx(ex.agreement), ())
        for i in some_of(rng, places):
            refuse_others(places, i, ex.move_cut(places.column, said, to=places.values[i]))
        moving = {each for each in range(ex.tree.n_nodes) if said in {text for _, text in say_ends_of_cut(ex, each)}}
        moving = {each for each in moving if ex.tree.feature[each] == j}
        below = [any(each in moving for each in _above(ex.tree, end)) for end in ex.tree.leaf_nodes.tolist()]
        x = ex._rows().coordinates.table.column(j, np.flatnonzero(task.kept & np.array(below)[leaf]))
        n_rows = [int((x <= end).sum() if is_upper else (x < end).sum()) for end in places.ends.tolist()]
        assert (np.diff(n_rows) >= FEW).all()


def _above(tree, node):
    while node > 0:
        node = int(tree.parent[node])
        yield node


def refuse_a_wrong_question(seed):
    rng = np.random.default_rng(seed)
    ex = explained(rng, seed)
    columns = [name for j, name in enumerate(ex.columns) if j not in ex._rows().categories]
    for node in rng.permutation(ex.tree.n_nodes)[:4].tolist():
        column = str(rng.choice(columns))
        places = places_of_question(ex, node, column)
        if places is None:
            continue
        assert places.agreement[places.now] == places.agreement.max()
        for i in some_of(rng, places):
            value, leaf = places.values[i], int(ex.tree._leaf_numbers[node])
            is_leaf = ex.tree.feature[node] < 0
            changed = ex.split(leaf, column, value) if is_leaf else ex.replace_cut(node, column, value)
            refuse_others(places, i, changed)


def test_the_value_next_to_a_cut_is_a_place_of_its_own_in_a_long_column():
    x = np.arange(2000.0)
    ex = bw.explain(x[:, None], x > 1200, columns=["x"])
    places = places_of_end(ex, 0, True)
    assert len(places.values) <= module.MOST
    now = places.now
    assert np.diff(places.ends[now - 3 : now + 4]).tolist() == [1.0] * 6
    assert places.values[0] < 20
    assert places.values[-1] > 1980


def test_a_five_is_rounder_than_other_digits():
    assert sorted([140, 150, 160, 137, 100], key=module._n_digits) == [100, 150, 140, 160, 137]


def test_words_and_what_is_not_at_hand_have_no_places():
    rng = np.random.default_rng(0)
    frame, labels, _ = customers(rng)
    ex = bw.explain(frame, labels, method="cart", forbidden=["income"])
    assert places_of_question(ex, 0, "plan") is None
    with pytest.raises(bw.DataError, match="no rule may test income, which is forbidden"):
        places_of_question(ex, 0, "income")
    loaded = read_model(ex.to_json())
    with pytest.raises(bw.DataError, match="holds no rows"):
        loaded.edit()


def test_rows_are_walked_twice_however_many_places_there_are(monkeypatch):
    X, y = make_blobs(3000, n_features=4, centers=3, cluster_std=4.0, random_state=0)
    ex = bw.explain(X, y, method="cart", max_leaf_nodes=5)
    walks, apply = [], type(ex.tree).apply
    monkeypatch.setattr(type(ex.tree), "apply", lambda tree, *args, **kw: walks.append(1) or apply(tree, *args, **kw))
    places = places_of_end(ex, 0, True)
    assert len(places.values) > 50
    assert len(walks) == 2
