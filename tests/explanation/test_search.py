"""The search of "auto": what it promises of the tree that it takes."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs

from boxwood import Reference, explain, grow, load
from boxwood._progress import Clock
from boxwood.explanation.choose import _candidates, settings
from boxwood.explanation.choose import search as _search
from boxwood.explanation.choose._candidates import CANDIDATES
from boxwood.explanation.choose.goal import Candidate, Goal, GoalRule, share_beyond_doubt
from boxwood.explanation.records import GOALS
from boxwood.grow.exact.optimal import ENDS
from boxwood.metrics import partition_cost
from boxwood.reference import Task
from boxwood.words.measured import say_method
from boxwood.words.values import beside
from tests import naive
from tests.cases import make_case
from tests.command import invoke
from tests.models import read_model
from tests.scale import law, seeds, share

STUMP = grow.cart([[0.0], [1.0]], [0, 1], max_leaf_nodes=2)


def table(seed, *, given=False):
    """Return rows with ties and a clustering: of k-means, or of labels that have little to do with the rows."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(8, 80)), int(rng.integers(1, 4)), int(rng.integers(2, 6))
    X = rng.normal(size=(n, d)).round(int(rng.integers(0, 3))) * rng.choice([1.0, 1e-9, 1e9])
    if given:
        return X, rng.integers(k, size=n)
    k = min(k, len(np.unique(X, axis=0)))
    return X, KMeans(max(k, 2), n_init=1, random_state=0).fit(X).labels_ if k > 1 else np.arange(n) % 2


# --------------------------------------------------------------------------------------------------------- the goal


def taken_by_rule(outcomes, floor, weight):
    """Return the place of the tree that the documented rule takes, of pairs (cost, mistakes)."""
    ratios = [max(cost, floor) / (1 - mistakes / weight) for cost, mistakes in outcomes]
    return min(range(len(outcomes)), key=lambda i: (ratios[i], outcomes[i][1]))


@law(200)
def test_auto_takes_what_the_rule_says(seed):
    rng = np.random.default_rng(seed)
    X, labels = make_blobs(200, 2, centers=2, cluster_std=0.1, random_state=seed)
    goal = Goal(Task.of(X, Reference.of(X, labels)), "auto")
    least = goal.cost_of_clusters
    outcomes = [
        (least * rng.choice([0.9, 1.0, 1.001, 1.004, 1.006, 1.1]), float(rng.integers(0, 12)))
        for _ in range(rng.integers(1, 8))
    ]
    candidates = [Candidate(STUMP, str(i), *outcome) for i, outcome in enumerate(outcomes)]
    assert goal.by_cost
    assert goal.best(candidates).name == str(taken_by_rule(outcomes, least, 200.0))
    ranked = goal.ranked(candidates)
    assert ranked[0] == goal.best(candidates)
    assert {(each.cost, each.mistakes) for each in ranked} == set(outcomes)


@law(200)
def test_where_agreement_decides_costs_are_computed_of_trees_with_as_many_mistakes_alone(seed):
    rng, priced = np.random.default_rng(seed), []
    outcomes = [(float(rng.integers(0, 6)), float(rng.integers(0, 3))) for _ in range(rng.integers(1, 8))]

    def price(i):
        priced.append(i)
        return outcomes[i][1]

    candidates = [Candidate(STUMP, str(i), partial(price, i), mistakes) for i, (mistakes, _) in enumerate(outcomes)]
    rule = GoalRule("agreement", 1.0, 0.0, 10.0)
    order = [str(outcomes.index(each)) for each in sorted(set(outcomes))]
    assert rule.best(candidates).name == order[0]
    assert [each.name for each in rule.ranked(candidates)] == order
    all_mistakes = [mistakes for mistakes, _ in outcomes]
    assert sorted(priced) == [i for i, each in enumerate(all_mistakes) if all_mistakes.count(each) > 1]


def test_labels_of_no_means_are_compared_by_agreement_with_a_reason():
    X = np.arange(12.0)[:, None]
    labels = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]  # means 4.5 and 10.5, so 8 and 9 are nearer to the other one
    ex = explain(X, labels)
    assert ex.agreement == 1.0
    assert (
        "the clusters are not compact (83% of the rows are nearest to the mean of their own" in ex.search_report.reason
    )
    assert ex.search_report.reason in ex.notes
    assert explain(X, KMeans(2, random_state=0, n_init=3).fit(X)).search_report.reason == ""
    assert explain(X, labels, objective="agreement").search_report.reason == ""


# ------------------------------------------------------------------------------------------------- what it promises


@pytest.mark.parametrize("given", [False, True])
@law(36)
def test_no_rule_is_false(seed, given):
    X, labels = table(seed, given=given)
    leaves = max((1 + seed // 3 % 2) * len(np.unique(labels)), 2)
    ex = explain(X, labels, max_leaf_nodes=leaves, objective=GOALS[seed % 3])
    assert ex.n_leaves <= leaves
    assert all(leaf.own > 0 for leaf in ex.leaves)
    assert all(one.precision for one in ex.clusters if one.rules)


@law(24)
def test_more_leaves_never_lose_more(seed):
    X, labels = table(seed, given=seed % 2 == 1)
    k, objective = len(np.unique(labels)), GOALS[seed // 2 % 3]
    few = explain(X, labels, max_leaf_nodes=max(k, 2), objective=objective)
    more = explain(X, labels, max_leaf_nodes=2 * k if seed % 4 < 2 else k + 1, objective=objective)
    if objective == "agreement" or more.search_report.reason:
        assert more.agreement >= few.agreement
    else:
        assert more.cost <= (few.cost if objective == "cost" else max(few.cost, few.reference_cost)) * (1 + 1e-10)


@law(15)
def test_each_objective_is_best_at_what_it_says(seed):
    X, labels = table(seed, given=seed % 2 == 1)
    k = len(np.unique(labels))
    leaves = max(k if seed % 4 < 2 else 2 * k, 2)
    by = {goal: explain(X, labels, max_leaf_nodes=leaves, objective=goal) for goal in GOALS}
    cart = explain(X, labels, method="cart", max_leaf_nodes=leaves)
    assert by["cost"].cost <= by["auto"].cost * (1 + 1e-12)
    assert by["agreement"].agreement >= max(by["auto"].agreement, cart.agreement) - 1e-12


@law(40)
def test_no_honest_names_are_cheaper_than_those_of_the_cheapest_tree(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 9)), int(rng.integers(2, 5))
    X, labels = rng.normal(size=(n, int(rng.integers(1, 3)))).round(1), rng.permutation(np.arange(n) % k)
    tree = explain(X, labels, max_leaf_nodes=k, objective="cost").tree
    reached, each = tree.apply(X), np.ones(n)
    leaves = [np.flatnonzero(reached == leaf).tolist() for leaf in range(tree.n_leaves)]
    least = naive.least_naming_cost(X, labels, each, leaves)
    assert partition_cost(X, tree.predict(X)) <= least + 1e-9 * naive.spread(X, each, range(n))


@law(15)
def test_the_gap_is_that_of_the_cheapest_tree(seed):
    X, labels = table(seed)
    k = len(np.unique(labels))
    for objective in ("auto", "cost"):
        ex = explain(X, labels, max_leaf_nodes=2, objective=objective)
        if k > 1 and ex.search_report.gap is not None:
            best = grow.optimal(X, Reference.of(X, labels), max_leaf_nodes=2)
            assert best.gap == 0
            assert ex.search_report.gap == pytest.approx(1 - best.cost / ex.cost if ex.cost > 0 else 0.0, abs=1e-9)
            assert ex.search_report.gap == 0 or objective == "auto"


def test_the_gap_is_said():
    iris = load_iris().data
    assert "no tree of 3 leaves costs less." in explain(iris, n_clusters=3, objective="cost").to_text()
    wine = load_wine().data
    text = explain(wine, n_clusters=3, standardize=True).to_text()
    assert "no tree of 3 leaves costs less by more than 0.1%." in text
    assert "; no tree of " not in explain(iris, n_clusters=3, max_leaf_nodes=5).to_text()


def test_long_tables_are_searched_on_a_sample_and_refined_whole(monkeypatch):
    X, labels = make_blobs(3000, 3, centers=5, cluster_std=3, random_state=1)
    labels = KMeans(5, n_init=1, random_state=0).fit(X).labels_
    whole = explain(X, labels)
    monkeypatch.setattr(settings, "ROWS", 400)
    sampled = explain(X, labels)
    assert sampled.search_report.n_sampled == 400
    assert sampled.search_report.gap is None
    assert sampled.cost <= 1.1 * whole.cost
    task = Task.of(X, Reference.of(X, labels))
    search = _search.AutoSearch(task, "auto", Clock(None))
    assert len(search.sample.rows) == 400
    assert explain(X, labels, max_leaf_nodes=20).search_report.n_sampled == 50 * 20


@pytest.mark.parametrize(("objective", "n_rows"), [("cost", {900, 200}), ("agreement", {200})])
def test_of_words_trees_that_separate_the_centres_see_few_rows_where_agreement_decides(monkeypatch, objective, n_rows):
    rng, seen, grown = np.random.default_rng(0), [], _candidates.growth_of_several

    def noted(task, penalties, **limits):
        seen.append(len(task.rows))
        return grown(task, penalties, **limits)

    labels = rng.integers(0, 3, 900)
    frame = pd.DataFrame({"x": labels + rng.normal(size=900), "word": np.array(list("abcd"))[rng.integers(0, 4, 900)]})
    monkeypatch.setattr(settings, "CENTERS_ROWS", 200)
    monkeypatch.setattr(_candidates, "growth_of_several", noted)
    explain(frame, labels, max_leaf_nodes=3, objective=objective)
    assert set(seen) == n_rows  # where cost decides, trees for agreement are looked at, too


def test_very_long_tables_are_looked_at_on_growing_samples(monkeypatch):
    X, _ = make_blobs(5000, 3, centers=5, cluster_std=3, random_state=1)
    labels = KMeans(5, n_init=1, random_state=0).fit(X).labels_
    monkeypatch.setattr(settings, "ROWS", 300)
    task, seen = Task.of(X, Reference.of(X, labels)), []
    search = _search.AutoSearch(task, "auto", Clock(None))
    assert [len(goal.task.rows) for goal in search.between] == []
    monkeypatch.setattr(settings, "TIMES", 2)
    search = _search.AutoSearch(task, "auto", Clock(None))
    assert [len(goal.task.rows) for goal in search.between] == [600, 1200]
    assert search._seen is search.between[-1].task
    assert _search.AutoSearch(task, "agreement", Clock(None))._seen is task
    monkeypatch.setattr(_search, "refined_with_centers", noting_rows(_search.refined_with_centers, seen))
    best = search.best(5)
    assert [n for n in seen if n > 300] == [600, 1200, 5000]
    [measured] = search.goal.candidates([(best.tree, best.name)])
    assert (measured.tree, measured.cost, measured.mistakes) == (best.tree, best.cost, best.mistakes)
    assert search.goal.loss(best) <= min(map(search.goal.loss, search.ranked))


def noting_rows(refine, seen):
    def function(tree, task, **options):
        seen.append(len(task.rows))
        return refine(tree, task, **options)

    return function


@law(40)
def test_a_sample_that_leaves_no_doubt_decides_what_auto_looks_at(seed):
    rng = np.random.default_rng(seed)
    X, labels = make_blobs(4000, 2, centers=3, cluster_std=0.1, random_state=seed)
    wrong = rng.random(4000) < rng.choice([0.0, 0.01, 0.04, 0.06, 0.2])
    labels[wrong] = (labels[wrong] + 1) % 3
    task = Task.of(X, Reference.of(X, labels))
    share = share_beyond_doubt(task.sampled(1000))
    assert share is None or share >= 0.97
    assert Goal(task, "auto", share).by_cost == Goal(task, "auto").by_cost
    assert wrong.mean() > 0.03 or share is not None


def test_small_subtrees_are_solved_unless_the_table_is_wide(monkeypatch):
    X, _ = make_blobs(300, 3, centers=6, cluster_std=3, random_state=0)
    labels, shapes, solve = KMeans(6, n_init=1, random_state=0).fit(X).labels_, [], _search.resolve_subtrees

    def counted(tree, task, **options):
        shapes.append(options["own_means"])
        return solve(tree, task, **options)

    monkeypatch.setattr(_search, "resolve_subtrees", counted)
    explain(X, labels)
    assert True in shapes
    shapes.clear()
    monkeypatch.setattr(settings, "WIDEST", 2)
    explain(X, labels, max_leaf_nodes=12)
    assert set(shapes) == {False}  # above k leaves these share the means of their clusters, in time d


@law(6)
def test_the_search_ends_at_a_tree_that_cannot_be_better(seed, monkeypatch):
    X, labels = make_blobs(600, 2, centers=4, cluster_std=0.4, center_box=(-30, 30), random_state=seed)
    monkeypatch.setattr(settings, "ROWS", 200 if seed % 3 == 2 else 1000)
    both = []
    for may_end in (True, False):
        if not may_end:
            monkeypatch.setattr(Goal, "is_perfect", lambda *_: False)
        task = Task.of(X, Reference.of(X, labels), max_leaf_nodes=4 + 4 * (seed % 2), random_state=0)
        search = _search.AutoSearch(task, GOALS[seed // 2 % 3], Clock(None))
        best = search.best(4)
        both.append((best.tree if seed % 2 == 0 else search.best(8, best).tree, search.bound, len(search.names)))
    assert both[0][:2] == both[1][:2]
    if search.goal.objective != "cost":
        assert search.goal.candidate(both[0][0], "").mistakes == 0
        assert both[0][2] < both[1][2]


# --------------------------------------------------------------------------------------------------------- the clock


def test_a_time_limit_gives_the_best_tree_so_far():
    X, labels = make_blobs(2000, 5, centers=8, cluster_std=4, random_state=0)
    ex = explain(X, labels, max_leaf_nodes=8, time_limit=0)
    assert ex.search_report.stopped_by_clock
    assert "the time limit ended the search" in ex.notes[0]
    assert ex.n_leaves <= 8
    assert all(leaf.own > 0 for leaf in ex.leaves)
    free = explain(X, labels, time_limit=1e6)
    assert not free.search_report.stopped_by_clock
    assert free.tree == explain(X, labels).tree


def test_objective_and_time_limit_belong_to_auto():
    X, labels = [[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]
    assert explain(X, labels, method="random_cuts", objective="l1").details.objective == "l1"
    with pytest.raises(ValueError, match="method 'imm' has no option objective"):
        explain(X, labels, method="imm", objective="cost")
    with pytest.raises(ValueError, match="method 'imm' has no option time_limit"):
        explain(X, labels, method="imm", time_limit=3)
    with pytest.raises(ValueError, match="objective must be"):
        explain(X, labels, objective="price")
    with pytest.raises(ValueError, match="time_limit must be at least 0 seconds, got -1"):
        explain(X, labels, time_limit=-1)
    with pytest.raises(TypeError, match="time_limit must be a number"):
        explain(X, labels, time_limit="soon")


# ------------------------------------------------------------------------------------------------------------- facts


def test_facts_of_the_search_are_in_the_model():
    iris = load_iris()
    for y in (KMeans(3, n_init=1, random_state=0).fit(iris.data), iris.target):
        ex = explain(iris.data, y)
        assert read_model(ex.to_json()) == ex
        assert ex.to_dict()["search_report"]["n_sampled"] == 150
    assert explain(iris.data, iris.target, method="imm").search_report is None


def test_every_way_of_growing_has_words():
    for method in grow.METHODS:
        assert say_method(method) != method
    X, labels = make_blobs(300, 4, centers=5, cluster_std=3, random_state=0)
    search = _search.AutoSearch(Task.of(X, Reference.of(X, labels)).with_leaves(10), "auto", Clock(None))
    search.best(10, search.best(5))
    for method in search.names.values():
        assert "-" not in say_method(method).replace("Ex-Greedy", "").replace("over-grown", "")
    assert len(CANDIDATES) == 3


def test_the_command_line_takes_both_options(tmp_path):
    path = tmp_path / "iris.csv"
    load_iris(as_frame=True).frame.to_csv(path, index=False)
    for goal in GOALS:
        result = invoke("explain", path, "-l", "target", "--objective", goal)
    result = invoke("explain", path, "-l", "target", "--time-limit", "0")
    assert "the time limit ended the search" in result.output
    result = invoke("explain", path, "-l", "target", "--method", "imm", "--objective", "cost", code=2)
    assert "--objective" in result.output


def test_a_table_is_not_searched_for_a_proof_that_the_limit_is_too_low_for(monkeypatch):
    X, labels = make_blobs(100, 40, centers=3, cluster_std=6, random_state=0)
    looks = []
    optimal_of = _search.optimal_of
    monkeypatch.setattr(_search, "optimal_of", lambda *a, **k: looks.append(k["max_boxes"]) or optimal_of(*a, **k))
    boxes = ENDS[3][True] * 40
    monkeypatch.setattr(settings, "LOOKED_AT", boxes * 4 * 100)  # a look at 40 columns takes four times as long
    assert explain(X, labels).search_report.gap is not None
    monkeypatch.setattr(settings, "LOOKED_AT", boxes * 4 * 100 - 1)
    assert explain(X, labels).search_report.gap is None
    assert explain(X, labels, objective="cost").search_report.gap is not None  # it may end
    assert looks == [boxes, boxes - 1]


def test_a_search_for_the_cheapest_tree_that_begins_also_ends(monkeypatch):
    gaps, optimal_of = [], _search.optimal_of

    def noted(*args, **options):
        found = optimal_of(*args, **options)
        gaps.append(found.gap)
        return found

    monkeypatch.setattr(_search, "optimal_of", noted)
    for seed in seeds(16):
        rng = np.random.default_rng(seed)
        n, d, k = int(rng.integers(40, 400)), int(rng.integers(1, 9)), int(rng.integers(2, 5))
        X, _ = make_blobs(n, d, centers=k, cluster_std=float(rng.uniform(1, 6)), random_state=seed)
        explain(X, KMeans(k, n_init=1, random_state=0).fit(X))
    assert len(gaps) >= share(8)
    assert set(gaps) == {0.0}


def test_a_gap_is_said_where_it_is_small():
    X, _ = make_blobs(300, 8, centers=1, random_state=0)  # one group, in which proofs are hard
    for k, is_said in ((3, True), (4, False)):
        ex = explain(X, KMeans(k, n_init=3, random_state=0).fit(X).labels_, objective="cost")
        assert (ex.search_report.gap < 0.02) == is_said
        assert ("; no tree of " in ex.to_text()) == is_said


def test_no_tree_within_reach_agrees_more():
    exact = 0
    for seed in seeds(12, first=500):
        X, labels, _ = make_case(seed, max_rows=60, max_columns=3, max_clusters=5)
        X, labels = X[labels >= 0], np.unique(labels[labels >= 0], return_inverse=True)[1]
        if len(np.unique(labels)) < 2:
            continue
        for depth in (2, 3, 4):
            leaves = 2**depth
            best = grow.optimal(X, Reference.of(X, labels), max_depth=depth, objective="agreement").cost
            within = explain(X, labels, objective="agreement", max_depth=depth, max_leaf_nodes=leaves)
            alone = explain(X, labels, objective="agreement", max_leaf_nodes=leaves)
            assert round((1 - within.agreement) * len(X)) == best, f"seed {seed}"
            assert depth == 4 or round((1 - alone.agreement) * len(X)) <= best
            assert within.search_report.agreement_gap == 0
            assert within.agreement == 1 or "within the limits agrees more." in within.to_text()
            exact += within.agreement < 1
    assert exact > share(3)


def test_beyond_reach_depth_three_is_searched_for_some_steps(monkeypatch):
    monkeypatch.setattr("boxwood.grow.exact.agreement.CELLS", {2: 1 << 20})
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=300)
    X = 1.5 * rng.normal(size=(4, 4))[labels] + rng.normal(size=(300, 4))
    limits = {"objective": "agreement", "max_depth": 3}
    least = grow.optimal(X, Reference.of(X, labels), **limits).cost
    ex = explain(X, labels, max_leaf_nodes=8, **limits)
    assert (round((1 - ex.agreement) * 300), ex.search_report.agreement_gap) == (least, 0)
    for steps in (1, 1 << 14):
        monkeypatch.setattr("boxwood.grow.exact.agreement.AT_ONCE", steps)
        monkeypatch.setattr("boxwood.explanation.choose.settings.ASKED", steps)
        ex = explain(X, labels, max_leaf_nodes=8, **limits)
        mistakes = round((1 - ex.agreement) * 300)
        assert mistakes - 300 * ex.search_report.agreement_gap <= least + 1e-9
        assert ex.search_report.agreement_gap > 0
        assert mistakes >= least


def test_beyond_reach_no_gap_is_known_and_subtrees_are_solved(monkeypatch):
    monkeypatch.setattr("boxwood.grow.exact.agreement.CELLS", {2: 1 << 20})
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=300)
    X = 1.5 * rng.normal(size=(4, 4))[labels] + rng.normal(size=(300, 4))
    ex = explain(X, labels, objective="agreement", max_depth=4, max_leaf_nodes=8)
    assert ex.search_report.agreement_gap is None
    assert "agrees more" not in ex.to_text()
    assert ex.tree.depth <= 4
    shallow = grow.optimal(X, Reference.of(X, labels), max_depth=2, objective="agreement").cost
    assert round((1 - ex.agreement) * 300) <= shallow


def test_the_frontier_and_the_page_say_that_no_tree_agrees_more(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=120)
    X = 1.5 * rng.normal(size=(3, 2))[labels] + rng.normal(size=(120, 2))
    ex = explain(X, labels, objective="agreement", max_leaf_nodes=4)
    assert ex.search_report.agreement_gap == 0
    assert ex.agreement < 1
    assert str(ex.frontier()).endswith(f"No tree of {ex.n_leaves} leaves agrees more than this one.")
    assert f"no tree of {ex.n_leaves} leaves agrees more. Held out" in ex.to_html()
    ex.save(tmp_path / "model.json")
    kept = load(tmp_path / "model.json")
    assert kept.search_report == ex.search_report
    assert str(kept.frontier()) == str(ex.frontier())


@law(40)
def test_a_share_is_told_on_its_side_of_a_limit(seed):
    rng = np.random.default_rng(seed)
    limit = float(rng.choice([0.9, 0.95, round(rng.random(), 3)]))
    one = min(max(limit + float(rng.choice([-1, 1])) * 10.0 ** -rng.uniform(0, 9), 0.0), 1.0)
    told = float(beside(one, limit, int(rng.integers(3)))[:-1]) / 100
    assert one == limit or abs(told - limit) > 1e-12
    assert (told < limit + 1e-12) == (one <= limit)
    assert (told == 1) == (one == 1)


def test_clusters_that_are_nearly_compact_are_told_by_a_digit_more():
    assert "(94.96% of the rows" in GoalRule("auto", 0.94961, 1.0, 10.0).reason
    assert "(62% of the rows" in GoalRule("auto", 0.62, 1.0, 10.0).reason


@law(12)
def test_no_other_objective_finds_a_cheaper_tree_than_cost(seed):
    X = make_blobs(250, 4, centers=4, cluster_std=6.0, random_state=seed)[0]
    k = 4 + seed % 2
    labels = KMeans(k, n_init=1, random_state=seed).fit(X).labels_
    cost, *others = (
        explain(X, labels, objective=objective, max_leaf_nodes=k * (1 + seed % 3 // 2)).cost
        for objective in ("cost", "auto", "agreement")
    )
    assert cost <= min(others) * (1 + 1e-9)
