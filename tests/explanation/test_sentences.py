"""Each sentence that is printed is tried to be refuted: what it says is counted again, or what it denies is done.

`SENTENCES` has a pattern for each sentence of notes, print and page, and beside it who tries. A sentence that fits no
pattern fails, so that a new one comes with who tries it.
"""

import ast
import itertools
import re
from contextlib import suppress
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import GaussianMixture

import boxwood as bw
from boxwood.axes.every_set import EverySetMap
from boxwood.errors import DataError
from boxwood.explanation.ask.clustering import SHOWN
from boxwood.explanation.ask.how_many import DrawnRows
from boxwood.explanation.measure.frontier import best_by_size
from boxwood.explanation.measure.stability import _clusters, _ends_of
from boxwood.explanation.verdict import verdict_of
from boxwood.render.pictures.picture import amount
from boxwood.words.notes import lack_groups
from boxwood.words.rules import gaps_apart
from boxwood.words.values import cluster_name, percent, size
from tests.models import read_model
from tests.scale import each, law

NUMBER = r"[\d,.]+(?:e[+-]\d+)?"
SHARE = r"<?[\d.]+%"
SLACK = 1e-9

pytestmark = pytest.mark.filterwarnings("ignore")  # of clusterers, on tables this small


# ------------------------------------------------------------------------------------------------------ the calls
class Options:
    """A call of `explain`, and what it gave; all that sentences tell is counted here from rows, labels and the tree."""

    def __init__(self, X, y, **options):
        self.X, self.y, self.options = X, y, options
        self.ex = bw.explain(X, y, **options)

    def again(self, **others):
        """Return the explanation of the same rows by other options."""
        return bw.explain(self.X, self.y, **{**self.options, **others})

    @property
    def task(self):
        return self.ex._known().task

    @cached_property
    def table(self):
        """Values in the table's columns, codes of words among them."""
        return np.asarray(self.ex._known().coordinates.table.values, dtype=float)

    @property
    def labels(self):
        return self.task.reference.labels

    @cached_property
    def mass(self):
        """Weight of each row that is in a cluster; 0 for others."""
        kept = self.labels >= 0
        return kept * (1.0 if self.task.rows.weights is None else self.task.rows.weights)

    @cached_property
    def ruled(self):
        return self.ex.tree.predict(self.table)

    @cached_property
    def held(self):
        """Weight of the rows of each cluster (lines) in the rules of each (columns)."""
        held = np.zeros((self.ex.n_clusters, self.ex.n_clusters))
        kept = self.labels >= 0
        np.add.at(held, (self.labels[kept], self.ruled[kept]), self.mass[kept])
        return held

    @property
    def agreement(self):
        return np.trace(self.held) / self.held.sum()

    @property
    def baseline(self):
        return self.held.sum(axis=1).max() / self.held.sum()

    @property
    def n_kept(self):
        """Number of rows that count: those in a cluster, of positive weight."""
        return int((self.mass > 0).sum())

    def cluster(self, said):
        """Return the number of a cluster from its name in words: by the column of labels, or in quotes, too."""
        names, of = self.ex.names, getattr(self.y, "name", None)
        said = said[1:-1] if said.startswith('"') else said
        ways = [[f"cluster {one}" if isinstance(one, int) else str(one) for one in names]]
        ways += [[re.sub(" +", " ", one) for one in ways[0]]]  # as a page has them
        ways += [[f"{of} = {one}" for one in names]] if [*names] == [0, 1] else []
        return next(way.index(said) for way in ways if said in way)

    @property
    def asked_leaves(self):
        return self.options.get("max_leaf_nodes") or self.ex.n_clusters


ODD_WORDS = ["not", "b and c", "a, b", "(45, 60]", 'so "called"', "missing", "3 more"]


def some_table(rng):
    """Return a frame of up to four columns: numbers of several kinds, words, booleans, dates, numbers with gaps."""
    n = int(rng.integers(12, 60))
    z = [rng.normal(size=n) + rng.integers(0, 3, n) * rng.choice([0, 3]) for _ in range(4)]
    words = [[*"abcde"], [*"abAB"], ODD_WORDS][rng.choice(3, p=[0.7, 0.15, 0.15])]
    kinds = {
        "normal": lambda z: z,
        "few": lambda z: rng.integers(0, 4, n) * 1.0,
        "wide": lambda z: z * rng.choice([500, 40_000]),
        "cents": lambda z: np.round(z, 1),
        "words": lambda z: rng.choice(words, n),
        "booleans": lambda z: rng.random(n) < 0.4,
        "gaps": lambda z: np.where(rng.random(n) < 0.15, np.nan, z),
        "dates": lambda z: pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
    }
    chosen = rng.choice([*kinds], rng.integers(1, 5), p=[0.3, 0.15, 0.1, 0.1, 0.15, 0.05, 0.1, 0.05])
    return pd.DataFrame({f"c{j}": kinds[kind](z[j]) for j, kind in enumerate(chosen)})


def some_clustering(rng, frame):
    """Return a clustering of the rows: labels that follow a column, two, or none; or a clusterer; None is k-means."""
    numbers = frame.select_dtypes("number").fillna(0).to_numpy()
    x, y = (numbers[:, j] if numbers.shape[1] > 1 else rng.normal(size=len(frame)) for j in (0, -1))
    ways = {
        "made": lambda: None,
        "bands": lambda: np.digitize(x + rng.normal(size=len(x)) * 0.3, np.quantile(x, [0.4, 0.7])),
        "crossed": lambda: ((x > np.median(x)) ^ (y > np.median(y))).astype(int),
        "noise": lambda: rng.choice(list("abc"), len(x), p=[0.6, 0.3, 0.1]),
        "named": lambda: pd.Series((x > np.median(x)).astype(int), name="churn"),
        "alike": lambda: np.array(["a", " a", "B  b", "b b"])[np.digitize(x, np.quantile(x, [0.3, 0.5, 0.8]))],
        "left out": lambda: np.where(rng.random(len(x)) < 0.2, -1, (x > np.median(x)).astype(int)),
        "numbers": lambda: rng.integers(1, 40, len(x)) * int(rng.choice([1, 25])),
        "mixture": lambda: GaussianMixture(2, random_state=0),
        "dense": lambda: DBSCAN(eps=1.0, min_samples=3),
        "k-means": lambda: KMeans(3, n_init=2, random_state=0),
    }
    return ways[rng.choice([*ways], p=[0.25, 0.18, 0.1, 0.05, 0.05, 0.05, 0.1, 0.02, 0.08, 0.06, 0.06])]()


def some_options(rng, frame, clustering):
    """Return options: limits, objectives, methods, weights."""
    chance = {
        "n_clusters": (0.9 * (clustering is None), lambda: int(rng.integers(2, 5))),
        "max_leaf_nodes": (0.3, lambda: int(rng.integers(2, 8))),
        "max_depth": (0.2, lambda: int(rng.integers(1, 4))),
        "min_samples_leaf": (0.15, lambda: int(rng.integers(2, 8))),
        "forbidden": (0.12 * (frame.shape[1] > 1), lambda: ["c0"]),
        "max_columns": (0.12, lambda: 1),
        "preferred": (0.1, lambda: [frame.columns[-1]]),
        "round_thresholds": (0.15, lambda: 1),
        "objective": (0.4, lambda: str(rng.choice(["cost", "agreement", "auto"]))),
        "sample_weight": (0.25, lambda: rng.integers(rng.integers(0, 2), 5, len(frame)) * 1.0),
        "standardize": (0.2, lambda: True),
        "validate": (0.1, lambda: 0.3),
        "missing": (0.1, lambda: "drop"),
        "time_limit": (0.03, lambda: 1e-9),
    }
    options = {name: value() for name, (share, value) in chance.items() if rng.random() < share}
    methods = ["imm", "cart", "exkmc", "expand", "random_cuts", "mmdt", "greedy", "shallow"]
    return (
        options
        if {"objective", "time_limit"} & options.keys() or rng.random() < 0.7
        else {**options, "method": str(rng.choice(methods))}
    )


def asked_at_random(seed):
    """Return the first call at random that is not refused, as other tests are about what is refused."""
    for rng in np.random.default_rng(seed).spawn(20):
        frame = some_table(rng)
        clustering = some_clustering(rng, frame)
        with suppress(DataError, ValueError):
            return Options(frame, clustering, **some_options(rng, frame, clustering))
    raise AssertionError("all calls are refused")


# --------------------------------------------------------------------------------------------- who tries to refute
def same(told, counted):
    assert told == counted, f"told {told}, counted {counted}"


def whole(told):
    """Return a whole number that is told, perhaps with commas."""
    return int(told.replace(",", ""))


def is_share(told, counted):
    """A share in percent, in as many decimals as are told, by which it differs from none and all."""
    if told.startswith("<"):
        assert 0 < counted < float(told.strip("<%")) / 100
        return
    decimals = len(told.strip("%").partition(".")[2])
    assert abs(float(told.strip("%")) - 100 * counted) <= 0.5 * 10.0**-decimals + 1e-9 or told == "99.9%", counted
    assert (float(told.strip("%")) == 100) == (counted > 1 - SLACK), counted


def nothing(asked, *told):
    """Nothing is promised: it says how something was done, or what may be done."""


def is_not_compact(asked, told):
    assert float(told.strip("%")) < 95
    if isinstance(asked.ex._known().coordinates.axis_map, EverySetMap):
        return  # these are not the columns in which distances were looked at
    rows, labels = asked.task.rows.values, np.where(asked.mass > 0, asked.labels, -1)
    means = [np.average(rows[labels == c], axis=0, weights=asked.mass[labels == c]) for c in range(labels.max() + 1)]
    far = np.square(rows[:, None] - np.array(means)[None]).sum(axis=2)
    own = far[np.arange(len(rows)), np.maximum(labels, 0)] <= far.min(axis=1) * (1 + 1e-9) + 1e-12
    share = asked.mass[own].sum() / asked.mass.sum()
    is_share(told, share)


def is_without_price(asked):
    assert "price of explainability" not in str(asked.ex)
    assert asked.ex.search_report.reason.startswith("the clusters are not compact")


def reaches(asked, leaves, told, advice):
    """More leaves than were asked for, or than there are: and the call with just these parameters gets there.

    Without advice a search that nothing keeps from it does.
    """
    assert int(leaves) > max(asked.ex.n_leaves, asked.asked_leaves)
    named = {} if advice == "(max_leaf_nodes)" else {"objective": "agreement"}
    free = {} if advice else {"round_thresholds": None, "time_limit": None}
    reached = asked.again(max_leaf_nodes=int(leaves), **named, **free).agreement
    assert float(told.rstrip("%")) <= 100 * reached + SLACK, f"{reached:.1%} at most"


def stops_early(asked, leaves, wanted, limits, gain):
    """Fewer leaves than asked for, though a search for each number of leaves between gains nothing that it denies."""
    same((int(leaves), int(wanted)), (asked.ex.n_leaves, asked.options["max_leaf_nodes"]))
    assert (gain == "costs less") == (asked.options.get("objective") == "cost")
    others = [asked.again(max_leaf_nodes=m) for m in range(asked.ex.n_leaves + 1, int(wanted))]
    larger = [one for one in others if one.n_leaves > asked.ex.n_leaves]
    if gain == "costs less":
        assert all(one.cost >= asked.ex.cost * (1 - 1e-6) for one in larger)
    if gain == "gets more rows right":
        assert all(one.agreement <= asked.ex.agreement + SLACK for one in larger)


def loses_leaves(asked, leaves, wanted, limits):
    same((int(leaves), int(wanted)), (asked.ex.n_leaves, asked.options["max_leaf_nodes"]))
    assert asked.again(round_thresholds=None).n_leaves > int(leaves) or asked.ex.limits.min_samples_leaf


def gains_nothing(asked, leaves, wanted, limits, what="anything"):
    """No cut of a leaf lowers what the method lowers."""
    same((int(leaves), int(wanted)), (asked.ex.n_leaves, asked.options["max_leaf_nodes"]))
    if limits or what == "anything":  # cuts within limits, and other criteria, have twins in tests/naive
        return
    reached = asked.ex.tree.apply(asked.table)
    for leaf in np.unique(reached):
        here = (reached == leaf) & (asked.mass > 0)
        before, after = (loss(asked, here, what) for loss in (whole_loss, best_loss))
        assert after >= before - 1e-9 * max(before, 1), f"leaf {leaf}: {before} falls to {after}"


def whole_loss(asked, here, what):
    costs = costs_to(asked, what)
    return costs[here, asked.ex.tree.leaf_clusters[asked.ex.tree.apply(asked.table)[here][0]]].sum()


def best_loss(asked, here, what):
    """Return the least loss of the rows of a leaf that one cut of it leaves, whatever its sides are called."""
    costs, best = costs_to(asked, what), np.inf
    for inside in cuts_of(asked.table[here]) if not asked.ex._coded_columns and not asked.ex._gap_columns else ():
        best = min(best, costs[here][inside].sum(axis=0).min() + costs[here][~inside].sum(axis=0).min())
    return best


def costs_to(asked, what):
    """Return what each row costs in each cluster: a mistake, or the squared distance to its centre."""
    if "mistakes" in what:
        return asked.mass[:, None] * (asked.labels[:, None] != np.arange(asked.ex.n_clusters))
    return asked.mass[:, None] * np.square(asked.task.rows.values[:, None] - asked.task.reference.centers[None]).sum(2)


def cuts_of(values):
    """Yield the rows on one side of each cut `x <= t`."""
    for x in values.T:
        for t in np.unique(x)[:-1]:
            yield x <= t


def decides_alone(asked, column):
    j = asked.ex.columns.index(column)
    same(asked.ex.tree.features.tolist(), [j])
    kept = asked.mass > 0
    assert (asked.ruled[kept] == asked.labels[kept]).all()


def determines_alone(asked, column, share):
    """Words have rows of one label each, but for one row in a hundred; for numbers it is a bound that is looked at."""
    kept, x = asked.mass > 0, pd.Series(asked.X[column])
    if len(x) > len(kept):  # rows that lack a value were left out
        x = x[pd.DataFrame(asked.X)[[*asked.ex.columns]].notna().all(axis=1)]
    x = x.reset_index(drop=True)[kept].reset_index(drop=True)
    labels, mass = pd.Series(asked.labels[kept]), asked.mass[kept]
    if share is None:
        share = "100%"
    if not pd.api.types.is_numeric_dtype(x) and not pd.api.types.is_datetime64_any_dtype(x):
        held = pd.Series(mass).groupby([x.astype(str), labels]).sum().unstack(fill_value=0.0)
        assert held.max(axis=1).sum() >= 0.99 * mass.sum()
    assert 1 - asked.ex.baseline >= 10 * (1 - float(share.rstrip("%")) / 100) - 0.01
    assert column in [asked.ex.columns[j] for j in asked.ex.tree.features]


def lack_a_value(asked, n, n_rows, columns):
    same(whole(n), asked.ex.details.n_incomplete)
    told = dict(re.findall(r"(\S+) \((\d+)\)", columns))
    same({name: int(count) for name, count in told.items()}, {name: int(asked.X[name].isna().sum()) for name in told})
    same(int(n_rows), len(asked.X))


def uses_columns(asked, told, n):
    tested = [asked.ex.columns[j] for j in asked.ex.tree.features]
    same(told, ", ".join(tested) or "none")
    same(int(n), len(asked.ex.columns) - len(asked.ex.limits.forbidden))


def uses_none_of(asked, told):
    tested = {asked.ex.columns[j] for j in asked.ex.tree.features}
    assert not tested & {*told.split(", ")}


def uses_all_of(asked, told):
    assert {*told.split(", ")} <= {asked.ex.columns[j] for j in asked.ex.tree.features}


def moves_rows(asked, digits, moved):
    """Thresholds have so many digits; without rounding so many rows have another leaf, where the tree is the same."""
    for j in asked.ex.tree.features:
        if j not in asked.ex._coded_columns and j not in asked.ex._date_columns:
            ends = np.concatenate(
                [end[asked.ex.tree.feature == j] for end in (asked.ex.tree.lower, asked.ex.tree.upper)]
            )
            ends = ends[np.isfinite(ends) & (np.abs(ends) < 1e300)]
            assert all(float(f"{end:.{int(digits) - 1}e}") == end for end in ends)
    if moved != "no row" or asked.options.get("method") not in ("imm", "cart", "exkmc", "expand"):
        return
    exact = asked.again(round_thresholds=None)
    if (exact.tree.feature.tolist(), exact.n_leaves) == (asked.ex.tree.feature.tolist(), asked.ex.n_leaves):
        same((exact.tree.apply(asked.table) != asked.ex.tree.apply(asked.table)).sum(), 0)


def hardly_sees(asked, narrow, its, wide, far, times=None):
    values = asked.table[:, [asked.ex.columns.index(name) for name in (narrow, wide)]]
    values = np.where(np.isinf(values), np.nan, values)
    spans = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
    assert not its or (its, far) == tuple(f"{span:.3g}" for span in spans)
    assert spans[1] >= float(times or 100) * spans[0]


def add_little(asked, what, agreement, baseline):
    is_share(agreement, asked.agreement)
    is_share(baseline, asked.baseline)
    assert (agreement == baseline) == (abs(asked.agreement - asked.baseline) <= SLACK)
    assert (asked.agreement < asked.baseline) == (what == "are worse than none")


def owe_to_luck(asked, expected, right, alone, cuts, n_rows):
    assert asked.y is not None
    same(right, f"{asked.agreement:.0%}")
    same((whole(cuts), whole(n_rows)), (asked.ex.n_leaves - 1, asked.n_kept))
    assert float(expected.strip("%")) >= 100 * asked.baseline - 0.51
    assert float(right.strip("%")) >= float(expected.strip("%")) + 4
    if alone is not None:
        same(alone, f"{asked.baseline:.0%}")
    above = float(expected.strip("%")) / 100 - asked.baseline - 0.1 * (1 - asked.baseline)
    assert (alone is not None) == (above < 0) or abs(above) < 0.006


def has_no_rule(asked, name, where, helps):
    c = asked.cluster(name)
    assert c not in asked.ex.tree.leaf_clusters
    named = [asked.cluster(one) for one in re.split(", | and ", where) if not one.endswith(" more")]
    assert set(named) <= set(np.flatnonzero(asked.held[c]).tolist())
    assert len(named) == (asked.held[c] > 0).sum() or "more" in where
    if helps:
        assert asked.ex.n_leaves >= asked.asked_leaves


def has_no_rule_either(asked, names):
    named = [asked.cluster(one) for one in re.split(", | and ", names) if not one.endswith(" more")]
    assert not {*named} & {*asked.ex.tree.leaf_clusters.tolist()}


def matches_no_row(asked, name):
    own = [leaf for leaf in asked.ex.leaves if leaf.cluster == asked.cluster(name)]
    reached = asked.ex.tree.apply(asked.table)
    assert any(asked.mass[(reached == leaf.leaf) & (asked.labels == leaf.cluster)].sum() == 0 for leaf in own)


def has_room(asked, leaves, k, limits):
    depth, least = (asked.options.get(name) for name in ("max_depth", "min_samples_leaf"))
    room = min(2**depth if depth else np.inf, asked.n_kept // least if least else np.inf)
    assert room <= int(leaves) < int(k) == asked.ex.n_clusters


def finds_few(asked, found, agreement, more):
    same(agreement, percent(asked.agreement))
    for share, name in re.findall(rf"({SHARE}) of ([^,]+)", found):
        c = asked.cluster(name.strip())
        same(share, percent(asked.held[c, c] / asked.held[c].sum()))
    assert not more or asked.ex.n_leaves >= asked.asked_leaves


def has_equal_centres(asked):
    centers = asked.task.reference.centers
    pairs = itertools.combinations(centers, 2)
    fewer = {"forbidden", "max_columns"} & asked.options.keys()  # equal on the columns that cuts may test
    assert any(np.allclose(*pair) for pair in pairs) or fewer


def are_whole_numbers(asked, columns):
    found = re.findall(r"(\S+) \((\d+) whole numbers(?:, (-?\d+) to (-?\d+))?\)", columns)
    assert found
    for name, n, *ends in found:
        values = asked.X[name].dropna().unique()
        same(int(n), len(values))
        assert ends == ["", ""] or [*map(float, ends)] == [values.min(), values.max()]
        assert (values == np.floor(values)).all()


def are_made(asked, k):
    same(int(k), asked.ex.n_clusters)


def does_not_tell(asked, n, k):
    are_made(asked, k)
    assert int(n) < max(20, 2 * int(k))


def are_made_unasked(asked, k):
    assert asked.y is None
    assert "n_clusters" not in asked.options
    same(int(k), asked.ex.n_clusters)


def are_the_fewest_apart(asked, k):
    are_made_unasked(asked, k)
    ways = [*DrawnRows.of_space(asked.ex._rows().coordinates).ways()]
    assert any(way.all_lie_apart(int(k)) and not any(map(way.all_lie_apart, range(2, int(k)))) for way in ways)


def are_without_groups(asked, k, most):
    are_made_unasked(asked, k)
    assert most is None or int(k) <= int(most)
    assert any(note.startswith("the columns together show no clear groups") for note in asked.ex.notes)


def are_told_better(asked, k, others, before, now):
    are_made_unasked(asked, k)
    assert k != others
    same(now, percent(asked.ex.agreement))
    assert float(now.strip("%")) > float(before.strip("%"))


def have_a_leaf_more(asked, n, k, fewer, before, now):
    assert asked.y is None
    same((int(n), int(k), int(fewer)), (asked.ex.n_leaves, asked.ex.n_clusters, int(k)))
    same(now, percent(asked.ex.agreement))
    assert float(now.strip("%")) > float(before.strip("%"))


def are_right_for_few(asked, share):
    assert asked.y is None
    same(share, percent(asked.ex.agreement))


def have_many_words(asked, most, names):
    for name in names.split(", "):
        assert name not in asked.ex.columns
        assert asked.X[name].nunique() > int(most)


def say_when(asked, names):
    for name in names.split(", "):
        assert name not in asked.ex.columns
        assert pd.api.types.is_datetime64_any_dtype(asked.X[name])


def apart(asked, name, c):
    """Return how far the mean of a cluster is from that of other rows, in standard deviations of all with a value."""
    x = pd.to_numeric(asked.X[name]).to_numpy(dtype=float)
    known = np.isfinite(x) & (asked.mass > 0)
    own = known & (asked.labels == c)
    if not own.any() or own.sum() == known.sum():
        return 0.0
    middle = np.average(x[known], weights=asked.mass[known])
    deviation = np.sqrt(np.average((x[known] - middle) ** 2, weights=asked.mass[known]))
    means = (np.average(x[rows], weights=asked.mass[rows]) for rows in (own, known & ~own))
    return float(np.subtract(*means)) / deviation if deviation > 0 else 0.0


def nothing_else_differs(asked, _):
    """No column of numbers that the rules do not test has means that far apart."""
    for j, name in enumerate(asked.ex.columns):
        if j not in asked.ex.tree.features and asked.X[name].dtype.kind in "if" and asked.X[name].notna().all():
            assert all(abs(apart(asked, name, c)) < 0.5 + 1e-9 for c in range(asked.ex.n_clusters))


def are_values_alone(asked, told):
    """The rules test one column of few values, or two of two values, and nothing else differs."""
    names = told.split(" and ")
    assert len(names) == len(asked.ex.tree.features)
    assert all(asked.X[name].nunique() == 2 for name in names) or len(names) == 1
    nothing_else_differs(asked, told)


def are_followed(asked, told, followers):
    """Ranks of one column and of those that follow it go together."""
    first, *others = told.split(" and ")
    for name in [*others, *followers.replace(" and ", ", ").split(", ")]:
        both = asked.X[[first, name]].dropna().rank()
        assert abs(both.corr().iloc[0, 1]) > 0.6


def go_with_clusters(asked, told):
    """Means of clusters lie on the side that is told."""
    for part in told.split("; "):
        cluster, words = part.split(" has ", 1)
        for side, name in re.findall(r"(higher|lower) (c\d)\b", words):
            away = apart(asked, name, asked.cluster(cluster))
            assert abs(away) >= 0.5 - 1e-9
            assert (away > 0) == (side == "higher")


def name_things(asked, names):
    """Another column of few values is the same in nearly all rows of each number."""
    for name in names.split(", "):
        assert name not in asked.ex.columns
        assert any(few_differ(asked.X[name], asked.X[it]) for it in asked.X if 1 < asked.X[it].nunique() <= 20)


def name_units(asked, names):
    """Whole numbers: unique, or of which each has several rows."""
    for name in names.split(", "):
        assert name not in asked.ex.columns
        known = asked.X[name].dropna()
        assert (known % 1 == 0).all()
        assert known.is_unique or known.nunique() < len(known)


def go_with_dates(asked, names):
    """One date, or part of one, fixes the column."""
    for name in names.split(", "):
        assert name not in asked.ex.columns
        dates = [one for one in asked.X if one not in asked.ex.columns and one != name]
        assert any(asked.X.groupby(one)[name].nunique(dropna=False).max() == 1 for one in dates)


def rise_with_dates(asked, names):
    """It rises or falls with a column of dates, parts of one, or waves."""
    numbers = asked.X.apply(pd.to_numeric, errors="coerce").join(
        asked.X.select_dtypes("datetime").apply(lambda x: x.map(pd.Timestamp.toordinal)), rsuffix=" as a day"
    )
    for name in names.split(", "):
        assert name not in asked.ex.columns
        others = [one for one in numbers if one not in asked.ex.columns and one != name]
        assert numbers[others].corrwith(numbers[name], method="spearman").abs().max() > 0.89


def name_what_begins_again(asked, names):
    """Rows of a unit stand together, and each has several."""
    for name in names.split(", "):
        assert name not in asked.ex.columns
        x = asked.X[name]
        assert (x != x.shift()).sum() == x.nunique() < len(x)


def come_equally(asked, names):
    """Each number comes about as often as any other, nearer to it than by chance."""
    for name in names.split(", "):
        assert name not in asked.ex.columns
        n_rows = asked.X[name].value_counts()
        assert n_rows.var() < n_rows.mean()


def are_crossed(asked, names):
    """Each combination of one with some other column comes equally often."""
    for name in names.split(", "):
        assert name not in asked.ex.columns
        crossed = [
            pd.crosstab(asked.X[name], asked.X[other]) for other in asked.X if other not in (name, *asked.ex.columns)
        ]
        assert any((counts == counts.iloc[0, 0]).all(axis=None) for counts in crossed)


def begin_again(asked, names):
    """After the greatest number comes the least one."""
    for name in names.split(", "):
        assert name not in asked.ex.columns
        x = asked.X[name].to_numpy()
        assert (x[1:][np.diff(x) < 0] == x.min()).mean() > 0.9


def count_as(asked, told):
    """With some value in the place of missing ones no row changes its cluster."""
    found = list(asked.ex.predict(asked.X))
    for one in gaps_apart(asked.ex.clusters)[1]:
        assert one.column in told
        values = asked.X[one.column]
        for n in re.findall(rf"{re.escape(one.column)}[^()]*? \((\d+) rows?\)", told):
            assert int(n) == values.isna().sum()
        filled = (asked.X.assign(**{one.column: values.fillna(value)}) for value in values.dropna().unique())
        assert any(list(asked.ex.predict(table)) == found for table in filled)


def few_differ(numbers, values):
    known = numbers.notna()
    commonest = values.groupby(numbers).transform(lambda each: each.mode().iloc[0])
    return (commonest[known] != values[known]).mean() < 0.02


def stand_in(asked, number, n, names):
    has = [asked.X[name] == float(number) for name in names.split(", ")]
    assert len(has) >= 3
    assert all(one.equals(has[0]) for one in has)
    same(whole(n), int(has[0].sum()))


def far_apart(asked, codes, names):
    for name in names.split(", "):
        known = asked.X[name].dropna()
        has = known.isin([float(code) for code in codes.split(", ")])
        assert 0 < has.mean() <= 1 / 3
        nearest = np.abs(np.subtract.outer(known[has].to_numpy(), known[~has].to_numpy())).min()
        assert nearest > np.ptp(known[~has]) / 2


def have_no_value(asked, n, n_rows):
    same((whole(n), whole(n_rows)), (int(asked.X[[*asked.ex.columns]].isna().all(axis=1).sum()), len(asked.X)))


def lack_values_in_every_row(asked, names):
    labels = np.array([*map(str, asked.y)])
    for name in names.split(", "):
        assert (labels == name).any()
        assert asked.X[labels == name].isna().any(axis=1).all()
        assert name not in {*map(str, asked.ex.names)}


def may_be_measured(asked, k, low, high):
    """More than 20 numbers, which do not count from 0 or 1, or are labels of fewer than three rows each."""
    same((int(k), float(low), float(high)), (asked.ex.n_clusters, min(asked.ex.names), max(asked.ex.names)))
    first = min(asked.ex.names)
    counts = first in (0, 1) and [*asked.ex.names] == [*range(first, first + int(k))]
    assert int(k) > 20
    assert not counts or len(asked.X) < 3 * int(k)


def labels_are_alike(asked, told):
    """Each label that is told is one of the table, and is the same as another told one but for case and blanks."""
    names = ast.literal_eval(f"[{told}]")
    shown = {re.sub(" +", " ", one) for one in asked.ex.names}  # as a page has them
    assert {*names} <= {*asked.ex.names} | shown
    plain = [" ".join(one.split()).casefold() for one in names]
    assert all(plain.count(one) > 1 for one in plain)


def are_alike(asked, columns):
    for name, said in re.findall(r"(\S+) \((.+?)\)", columns):
        words = [word.strip("'") for word in said.split(", ")]
        assert len({word.casefold() for word in words}) == 1 < len({*words})
        assert {*words} <= {*asked.X[name]}


def pay(asked, n, k, before, now):
    """Rules of one leaf for each label are right for so few rows, and these for more."""
    same((int(n), int(k)), (asked.ex.n_leaves, asked.ex.n_clusters))
    few = bw.explain(asked.X, asked.y, **asked.options | {"max_leaf_nodes": int(k)})
    assert float(now.strip("%")) > float(before.strip("%"))
    same(before, percent(few.agreement))
    same(now, percent(asked.ex.agreement))


def may_be_weights(asked, name):
    values = asked.X[name]
    assert values.min() >= 0
    assert 0.8 <= values.mean() <= 1.25
    assert name in asked.ex.to_json()


def are_panels(asked, name, n):
    """Each word has rows in one cluster alone."""
    pairs = {*zip(asked.X[name], asked.y, strict=True)}
    words = {word for word, _ in pairs if not pd.isna(word)}
    same((int(n), int(n)), (len(words), sum(not pd.isna(word) for word, _ in pairs)))


def hold_no_row(asked, n):
    false = [leaf for leaf in asked.ex.leaves if leaf.size > 0 and leaf.own == 0]
    same(int(n), len(false) - 5)


def has_a_limit_of_time(asked):
    assert asked.options["time_limit"] is not None


def are_used(asked, used, of, names):
    same((int(used), int(of)), (len(asked.ex.columns), asked.X.shape[1]))
    assert {*names.split(", ")} <= {*asked.ex.columns}


def are_left_out(asked, names):
    assert not {*names.split(", ")} & {*asked.ex.columns}


def are_the_labels(asked, names):
    """Each value of the column goes with one label, and each label with one value."""
    are_left_out(asked, names)
    for name in names.split(", "):
        pairs = {*zip(asked.X[name], asked.y, strict=True)}
        same(len(pairs), len({value for value, _ in pairs}))
        same(len(pairs), len({label for _, label in pairs}))


def is_of_many_columns(asked, clusters, rows, left_out, leaves, used, columns):
    ex = asked.ex
    same((int(clusters), int(leaves)), (ex.n_clusters, int((ex.tree.feature < 0).sum())))
    same((int(used), int(columns)), (len(np.unique(ex.tree.feature[ex.tree.feature >= 0])), len(ex.columns)))
    same(whole(rows), asked.n_kept)
    same(sum(map(int, re.findall(r"\d+", left_out or ""))), len(asked.X) - asked.n_kept)


def has_parts_alone(asked, rows, left_out, parts, *others):
    is_no_clearer(asked)
    is_of_many_columns(asked, parts, rows, left_out, *others)


def agrees(asked, told, weighted, largest, baseline):
    same((told, baseline), (percent(asked.agreement), percent(asked.baseline)))
    same(bool(weighted), "sample_weight" in asked.options)
    same(asked.held.sum(axis=1)[asked.cluster(largest)], asked.held.sum(axis=1).max())


def costs_times(asked, told):
    if not asked.ex._coded_columns and not asked.ex._gap_columns:
        counted = cost_of(asked, asked.ruled) / cost_of(asked, asked.labels)
        assert abs(float(told) - counted) < 0.0051 + 0.006 * counted


def costs_the_same(asked):
    if not asked.ex._coded_columns and not asked.ex._gap_columns:
        assert cost_of(asked, asked.ruled) <= cost_of(asked, asked.labels) * (1 + 1e-6) + SLACK


def costs_nothing(asked):
    assert cost_of(asked, asked.ruled) <= 1e-6


def costs_infinitely_more(asked, told):
    assert cost_of(asked, asked.labels) <= 1e-6 < float(told)


def costs_more_than_nothing(asked):
    assert cost_of(asked, asked.labels) <= 1e-6 < cost_of(asked, asked.ruled)


def does_not_minimise(asked):
    assert asked.ex.cost < asked.ex.reference_cost


def cost_of(asked, groups):
    """Return the squared distances to the means of groups, in the columns in which the price is measured."""
    rows = asked.task.rows.values if asked.ex._known().coordinates.measured is None else asked.table
    kept = asked.mass > 0
    total = 0.0
    for c in np.unique(groups[kept]):
        here = kept & (groups == c)
        mean = np.average(rows[here], axis=0, weights=asked.mass[here])
        total += (asked.mass[here, None] * np.square(rows[here] - mean)).sum()
    return total


def expects(asked, rounded, told, how):
    held = asked.ex.held_out
    same((rounded, told, how), (f"{held.agreement:.0%}", percent(held.agreement), held.how))
    assert 0 < held.n_rows < len(asked.X)


def put_rows_of_noise(asked, n, told):
    noise = asked.ruled[asked.mass == 0]
    same(int(n), len(noise))
    for count, name in re.findall(r"(\d+) in (.+?)(?:, | and \d+ more|$)", told):
        same(int(count), (noise == asked.cluster(name)).sum())


def no_tree_agrees_more(asked, limits, by):
    """All trees of two and of three leaves are tried, by all cuts, sets of words, and sides of missing values."""
    least = asked.options.get("min_samples_leaf", 1)
    for found in trees_of(asked, asked.ex.n_leaves, least):
        assert found <= asked.agreement + float(by or 0) / 100 + SLACK, f"{found:.2%}, not {asked.agreement:.2%}"


def trees_of(asked, leaves, least):
    """Yield the best agreement of each first cut, and for three leaves of each second cut of either side."""
    kept = asked.mass > 0
    own = asked.mass[kept, None] * (asked.labels[kept, None] == np.arange(asked.ex.n_clusters))
    masks = np.array([*every_cut(asked, kept)], dtype=float).reshape(-1, int(kept.sum()))
    ones, total = np.ones(len(own)), own.sum()
    yield own.sum(axis=0).max() / total
    for mask in masks if leaves >= 2 else ():
        if min(mask.sum(), (ones - mask).sum()) < least:
            continue
        yield (own[mask > 0].sum(axis=0).max() + own[mask == 0].sum(axis=0).max()) / total
        if leaves < 3 or asked.options.get("max_depth") == 1:
            continue
        for side in (mask, ones - mask):
            inside, other = masks @ (own * side[:, None]), own[side == 0].sum(axis=0).max()
            within = (side @ masks.T, side.sum() - side @ masks.T)
            both = inside.max(axis=1) + (own[side > 0].sum(axis=0) - inside).max(axis=1)
            large = (within[0] >= least) & (within[1] >= least)
            yield (both[large].max(initial=0.0) + other) / total


def every_cut(asked, kept):
    for j, name in enumerate(asked.ex.columns):
        if name in asked.options.get("forbidden", ()):
            continue
        x = asked.table[kept, j]
        if j in asked.ex._known().coordinates.categories:
            values = np.unique(x)
            for n in range(1, len(values) // 2 + 1):
                yield from (np.isin(x, chosen) for chosen in itertools.combinations(values, n))
            continue
        lacks = np.isnan(x) | np.isinf(x)
        yield from ([lacks] if lacks.any() else [])
        for t in np.unique(x[~lacks])[:-1]:
            yield (x <= t) & ~lacks
            yield ((x <= t) & ~lacks) | lacks


def no_tree_costs_less(asked, limits, by):
    """All trees of two and of three leaves are tried, each leaf with its own mean."""
    if asked.ex._coded_columns or asked.ex._gap_columns or asked.ex._known().coordinates.axis_map is not None:
        return
    kept, rows = asked.mass > 0, asked.task.rows.values
    values, mass = rows[kept], asked.mass[kept]
    free = [j for j, name in enumerate(asked.ex.columns) if name not in asked.options.get("forbidden", ())]

    def spread(here):
        mean = np.average(values[here], axis=0, weights=mass[here])
        return (mass[here, None] * np.square(values[here] - mean)).sum()

    best, first = np.inf, [*cuts_of(values[:, free])]
    for inside in first if asked.ex.n_leaves in (2, 3) else ():
        sides = [spread(inside), spread(~inside)]
        best = min(best, sum(sides))
        for i, side in enumerate((inside, ~inside)) if asked.ex.n_leaves == 3 and len(first) <= 60 else ():
            for cut in first:
                if (cut & side).any() and (~cut & side).any():
                    best = min(best, sides[1 - i] + spread(cut & side) + spread(~cut & side))
    assert best >= asked.ex.cost * (1 - float(by or 0) / 100 - 1e-6)


def ends_in_own_leaf(asked, source, share, ratio, first, second, column):
    """Rows drawn from these Gaussians end in the leaves of their own component."""
    of, rng = asked.task.mixture, np.random.default_rng(0)
    if of is None or "standardize" in asked.options:  # other Gaussians, or in other columns
        return
    own = rng.choice(len(of.weights), 2000, p=of.weights / np.sum(of.weights))
    full = [np.diag(one) for one in of.variances] if of.covariances is None else of.covariances
    drawn = np.array([rng.multivariate_normal(of.means[c], full[c], check_valid="ignore") for c in own])
    right = (asked.ex.tree.predict(drawn) == of.clusters[own]).mean()
    assert right >= float(share.rstrip("%")) / 100 - 4 * np.sqrt(0.25 / len(own))


def is_a_mean_of_draws(asked, n, best, mean, worst):
    assert float(best) <= float(mean) <= float(worst)
    same(int(n.replace(",", "")), asked.ex.details.draws.n_trees)


def is_bounded(asked, bound):
    assert asked.ex.details.draws.mean <= float(bound) * 1.001


def sorts(asked, rows, clusters, noun, cuts, used, columns):
    ex = asked.ex
    same(noun == "parts", lack_groups(ex.notes))
    same(whole(rows), asked.n_kept)
    same((int(clusters), int(cuts)), (ex.n_clusters, int((ex.tree.feature >= 0).sum())))
    same((int(used), int(columns)), (len(np.unique(ex.tree.feature[ex.tree.feature >= 0])), len(ex.columns)))


def are_right(asked, told, weighted, largest, only, baseline):
    agrees(asked, told, weighted, largest, baseline)
    assert not only or asked.baseline < asked.agreement


def get_another(asked, wrong, total, what):
    counted = asked.held.sum() - np.trace(asked.held)
    same((wrong, total), (size(round(counted, 6)), size(round(asked.held.sum(), 6))))


def are_in_small_groups(asked, n):
    same(n, size(round(asked.held.sum() - np.trace(asked.held), 6)))


def get_their_own(asked):
    kept = asked.mass > 0
    assert (asked.ruled[kept] == asked.labels[kept]).all()


def are_spread(asked, costs, change, more):
    counted = 100 * (asked.ex.price - 1)
    assert (counted > 0) == (more == "more") == costs.startswith("What")
    assert abs(float(change) - abs(counted)) < 0.051


def compares_squares(asked, in_kernel):
    same((asked.ex.details.objective, bool(asked.ex.details.kernel)), ("sqeuclidean", bool(in_kernel)))


def is_as_compact(asked):
    assert abs(asked.ex.price - 1) < 0.0005


def finds(asked, told):
    caught = {
        percent(asked.held[c, c] / asked.held[c].sum()) for c in range(asked.ex.n_clusters) if asked.held[c].sum()
    }
    assert told in caught


def are_odd(asked, told="0", of=""):
    odd = asked.ex.outliers()
    same(whole(told), len(odd))
    counts = np.bincount([one.cluster for one in odd], minlength=1)
    same(sorted(map(whole, re.findall(rf" \(({NUMBER})\)(?=, | and |$)", of))), sorted(counts[counts > 0].tolist()))


def are_not_asked_about(asked):
    assert not asked.ex._is_made_here
    with suppress(DataError, ValueError):  # columns of words alone make no clusters
        groups = re.search("<dt>Groups</dt><dd>(.*?)</dd>", bw.explain(asked.X).to_html())[1]
        assert groups in ("clear", "none clear", "not known")


def asks_as_little_as_can_be(asked):
    same(asked.ex.n_leaves, 2)


def each_size_gains(asked):
    """No tree of the slider, but that of the page, is right for no more rows than a smaller one."""
    rows = [*best_by_size(asked.ex, asked.ex.frontier(), priced=False).frontier]
    for i, row in enumerate(rows):
        assert row.is_this or all(row.agreement > smaller.agreement for smaller in rows[:i])


def no_tree_is_right_for_more(asked, asks_nothing):
    larger = [row for row in asked.ex.frontier() if row.leaves > asked.ex.n_leaves]
    assert all(row.agreement <= asked.ex.agreement + SLACK for row in larger)
    same(asks_nothing is not None, asked.ex.n_leaves == 2)


def is_least_certain(asked, name, told, found=None, precision=None, other=None, rows=None):
    """No cluster has a smaller share of the rows of it and of its rules in both; with no other more are mixed up."""
    held, ex = asked.held, asked.ex
    either = held.sum(axis=1) + held.sum(axis=0) - held.diagonal()
    overlap = np.divide(held.diagonal(), either, out=np.ones(ex.n_clusters), where=held.sum(axis=1) > 0)
    least = [c for c in range(ex.n_clusters) if overlap[c] <= overlap.min() + SLACK]
    c = next(c for c in least if name in _shown(ex.clusters[c].name))
    assert overlap[c] < 1
    assert (told == "no rule names it") == (not ex.clusters[c].rules)
    if found is not None:
        assert found == percent(held[c, c] / held[c].sum())
    if precision is not None:
        assert precision == percent(held[c, c] / held[:, c].sum())
    mixed = np.where(np.arange(ex.n_clusters) == c, 0.0, held[c] + held[:, c])
    assert (other is not None) == (mixed.max() > 0)
    if other is not None:
        same(rows, amount(mixed.max()))
        most = np.flatnonzero(mixed >= mixed.max() - SLACK).tolist()
        assert any(other in _shown(ex.clusters[i].name) for i in most)


def _shown(name):
    """Return a name as a page shows it, where blanks in a row are one."""
    return [" ".join(said.split()) for said in (cluster_name(name), str(name))]


def belong(asked, told):
    ruled = asked.held.sum(axis=0)
    assert told in {percent(asked.held[c, c] / ruled[c]) for c in range(asked.ex.n_clusters) if ruled[c]}


def decide(asked, names):
    same({*re.split(", | and ", names)}, {asked.ex.columns[j] for j in asked.ex.tree.features})


def is_other_words(asked, names):
    assert {*re.split(", | and ", names)} <= {asked.ex.columns[j] for j in asked.ex._coded_columns}


def has_no_cluster(asked):
    """A word that nobody has, in every tested column of words, reaches no leaf unless no cut of its way asks for it."""
    ex = asked.ex
    row = asked.X.iloc[[0]].astype({ex.columns[j]: object for j in ex._coded_columns})
    for j in ex._coded_columns:
        row[ex.columns[j]] = "never seen"
    if int(ex.tree.feature[0]) in ex._coded_columns and not ex._coded_columns[int(ex.tree.feature[0])].others:
        assert ex.predict(row, missing="none")[0] in (None, -1)


def is_of_few_rows(asked, told):
    """A cluster of so few rows is there, whatever they weigh; tests/render/test_secrets.py looks for their values."""
    n = 1 if told == "One row" else int(told.removesuffix(" rows"))
    counts = np.bincount(asked.labels[asked.mass > 0])
    assert n < 5
    assert n in counts, counts


def is_not_held_out(asked):
    assert "validate" not in asked.options


def is_held_out(asked, told):
    found = asked.ex.held_out or asked.ex._kept["held_out"]  # which the page measured
    same(told, f"{found.agreement:.0%}")


def returns(asked, what, level, n, n_rows, rest):
    found = asked.ex.stability(3)
    same((int(n), whole(n_rows)), (3, found.n_rows))
    same(what == "clusters", found.refitted)
    assert "%" not in rest, "so few draws have no quantile"
    if overlap := re.search(r"overlap at least ([\d.]+) in all of them", rest):
        assert float(overlap[1]) <= min(one.jaccard_low for one in found.clusters) + 0.0051
        assert not any(one.lost for one in found.clusters)
    names = r'("[^"]*"|cluster \d+|churn = \d|b b|[abc])'
    for name, lost in re.findall(names + r" (?:was lost )?in (\d+)(?: of 3)", rest):
        same(int(lost), next(one.lost for one in found.clusters if one.cluster == asked.cluster(name)))
    same("other rules" in rest, level == "unstable" and what == "rules")


def changes(asked, told, columns):
    same(told, f"{asked.ex.stability(3).changed:.1%}")
    best = {}
    for cut in asked.ex.stability(3).cuts:
        best[cut.column] = max(best.get(cut.column, 0), cut.returns)
    n = sum(share >= 0.5 for share in best.values())
    same(
        columns or "",
        "each column" if n == len(best) and n else f"at least {n} of the {len(best)} columns" if n else "",
    )


def is_not_tested(asked, why):
    """The reason is the case: where no labels are given, clusters are made again."""
    same(why, "Labels were given")
    assert has_labels(asked)


def has_labels(asked):
    return isinstance(asked.y, (np.ndarray, pd.Series))


def is_clearer(asked):
    assert asked.ex.stability(3).clearer
    assert not has_labels(asked)


def is_no_clearer(asked):
    assert asked.ex.stability(3).clearer is False
    assert not has_labels(asked)


def shows_groups_alone(asked, column, n, low, high):
    assert column in asked.ex.columns
    assert not lack_groups(asked.ex.notes)
    if n is not None:
        assert float(low.replace(",", "")) < float(high.replace(",", ""))


def shows_groups_in(asked, n, of, told):
    weights = dict(asked.ex.provenance.weights)
    shown = [name for name, weight in weights.items() if weight >= SHOWN]
    same((whole(n), whole(of)), (len(shown), len(weights)))
    assert told.endswith(" more") or told == ", ".join(shown)
    assert not lack_groups(asked.ex.notes)


# --------------------------------------------------------------------------------------------------- the sentences
_STOP = rf"the tree has ({NUMBER}) lea(?:f|ves) instead of ({NUMBER}):( within the limits)? "
_LOST = r"rounding and other limits took \d+ lea(?:f|ves) away"
_ADVICE = r'(\(max_leaf_nodes(?:, objective="agreement")?\))'
_TREE = r"no tree of \d+ lea(?:f|ves)( within the limits)? "

NO_KINDS = "no gap or valley parts the rows into clusters"
PARTS = {
    r"The parts are ranges of (.+) alone": nothing_else_differs,
    r"The parts are ranges of (.+), which (.+) follows?": are_followed,
    r"The parts are (?:values|crossings) of (.+) alone": are_values_alone,
}
NOTES = {
    rf"the clusters are not compact \(({NUMBER}%) of the rows are nearest to the mean of their own cluster\), so "
    r"the tree with the fewest rows in a wrong cluster was chosen, and no price is shown": (is_not_compact),
    r"no price is shown, as these clusters do not follow distances": is_without_price,
    rf"with ({NUMBER}) leaves the rules could reach ({SHARE}) {_ADVICE}": reaches,
    rf"one tree of ({NUMBER}) leaves that was tried reaches ({SHARE})(?: {_ADVICE})?": reaches,
    rf"{_STOP}no tree with more leaves was found that (costs less|gets more rows right(?: or costs less)?)"
    rf"(?:, and {_LOST})?": stops_early,
    rf"{_STOP}{_LOST}": loses_leaves,
    rf"{_STOP}no further cut gains anything": gains_nothing,
    rf"{_STOP}no further cut, alone or with a second one, lowers (.+)": gains_nothing,
    rf"{_STOP}no single further cut lowers (.+)": gains_nothing,
    r"(\S+) alone decides the cluster of every row; if other columns should count, (?:standardize, or |scale them, "
    r"or )?"
    r"choose the columns \(columns\)": decides_alone,
    rf"(\S+) alone determines the labels(?: for ({SHARE}) of the rows)?: are they made of it\? \(columns chooses "
    r"others\)": determines_alone,
    rf"({NUMBER}) of ({NUMBER}) rows lacks? a value and gets? no cluster: (.+)": lack_a_value,
    rf"max_columns=1: the rules use (.+) of ({NUMBER}) columns": uses_columns,
    r"no rule may use the forbidden (.+)": uses_none_of,
    r"no rule uses the preferred columns? (.+)": uses_none_of,
    r"the rules use (.+) of the preferred columns? .+": uses_all_of,
    rf"thresholds are rounded to ({NUMBER}) significant digits?, which moves (.+) to another leaf": moves_rows,
    rf"\S+ hardly sees (\S+), which spans ({NUMBER}), beside (\S+), which spans ({NUMBER}); .+ gives columns equal "
    r"weight": hardly_sees,
    rf"\S+ hardly sees (\S+)() beside (\S+)(), which spans at least ({NUMBER}) times as much; .+ gives columns equal "
    r"weight": hardly_sees,
    rf"the rules (add little|are worse than none): they agree on ({SHARE}) of rows, and always naming the largest "
    rf"cluster on ({SHARE})": add_little,
    rf"expect about (\d+%) on new rows, not (\d+%)(?:, and (\d+%) by the largest cluster alone)?: with ({NUMBER}) "
    rf"cuts? for ({NUMBER}) rows some of it is luck \(validate measures it\)": owe_to_luck,
    rf"no rule for (.+?): its (?:row is|{NUMBER} rows are|rows, of weight {NUMBER}, are) in the rules of (.+?)"
    r"(; more leaves may help)?": has_no_rule,
    r"no rule for (.+) either(?:; more leaves may help)?": has_no_rule_either,
    r"the rule .+ names (.+), but matches no row of it": matches_no_row,
    rf"there is room for only ({NUMBER}) lea(?:f|ves), fewer than the ({NUMBER}) clusters \((.+)\)": has_room,
    rf"the rules find only (.+), but are right for ({SHARE}) of all rows(; try more leaves \(max_leaf_nodes\))?": (
        finds_few
    ),
    r"trees of ExShallow were left out: they take too long for [\d,]+ clusters in [\d,]+ columns \(method\)": nothing,
    r"methods that separate centres were left out, as clusters have equal centres.*": has_equal_centres,
    r"(.+): read as numbers; if they are codes, rules can name them one by one \(categories\)": are_whole_numbers,
    rf"({NUMBER}) of ({NUMBER}) columns (?:is|are) used: (.+)": are_used,
    r"left out, (?:text|dates, which a clusterer of numbers does not see): (.+)": are_left_out,
    r"rules that cut .+ at a day go out of date as days pass; .+": nothing,  # test_ages.py
    r"left out, the labels themselves: (.+)": are_the_labels,
    rf"({NUMBER}) clusters were chosen, (?:the largest number (?:that lie apart, and )?)?for which both halves of the "
    r"rows give (?:the most )?similar clusters.* \(n_clusters\)": are_made_unasked,
    rf"({NUMBER}) clusters were chosen, the fewest that lie apart \(n_clusters\)": are_the_fewest_apart,
    rf"({NUMBER}) clusters were chosen(?: \(at most ({NUMBER})\))?, for which both halves of the rows give about the "
    r"most similar clusters \(n_clusters\)": are_without_groups,
    rf"({NUMBER}) clusters were chosen: rules of ({NUMBER}) are right for ({SHARE}) of the rows, these for "
    rf"({SHARE}) "
    r"\(n_clusters\)": are_told_better,
    rf"({NUMBER}) leaves were taken for ({NUMBER}) clusters: rules of ({NUMBER}) leaves are right for ({SHARE}) of the "
    rf"rows, these for ({SHARE}) \(max_leaf_nodes\)": have_a_leaf_more,
    rf"the rules are right for only ({SHARE}) of the rows; fewer columns may make clusters that rules separate better "
    r"\(columns\)": are_right_for_few,
    r"left out, more than (\d+) different categories, whose lists would be the groups: (.+); to use it, "
    r"name the columns \(columns\)": have_many_words,
    r"left out, looks like a date, a part of one or a time of day: (.+); to use it, name the columns \(columns\)": (
        say_when
    ),
    rf"({NUMBER}) is in the same ({NUMBER}) rows of each of (.+): if it stands for a missing value, make it one, and "
    r"rows are compared without it": stand_in,
    r"(.+) is far from all other values of (.+): if it stands for a missing value, make it one, and rows are compared "
    r"without it": far_apart,
    r"left out, the same in all rows of each date, or part of one: (.+); to use it, name the columns \(columns\)": (
        go_with_dates
    ),
    r"left out, rises or falls with a date, so that its groups would be early and late rows: (.+); to use it, name the "
    r"columns \(columns\)": rise_with_dates,
    r"left out, names or numbers of the units in which visits, waves or years begin again: (.+); to use it, name the "
    r"columns \(columns\)": name_what_begins_again,
    r"left out, numbers that come equally often, as levels, places and waves of a plan do: (.+); to use it, name the "
    r"columns \(columns\)": come_equally,
    r"left out, each of their combinations comes equally often, as in a plan: (.+); to use it, name the columns "
    r"\(columns\)": are_crossed,
    r"left out, numbers that begin again and again down the file, as visits and places do: (.+); to use it, name the "
    r"columns \(columns\)": begin_again,
    r"left out, numbers that are names, as all rows of each agree in another column: (.+); to use it, name the columns "
    r"\(columns\)": name_things,
    r"left out, numbers that seem to count or name units, such as households: (.+); to use it, name the columns "
    r"\(columns\)": name_units,
    r"the columns together show no clear groups: no gap or valley parts the rows into clusters .+": nothing,
    **{rf"no kinds found: {NO_KINDS}\. {parts}": refute for parts, refute in PARTS.items()},
    rf"(.+) alone shows groups(?:: no row of ({NUMBER}) between (\S+) and (\S+)|: fewer rows about .+)?": (
        shows_groups_alone
    ),
    rf"groups show in ({NUMBER}) of ({NUMBER}) columns: (.+)": shows_groups_in,
    rf"looking at ({NUMBER}) rows does not tell whether ({NUMBER}) clusters are groups": does_not_tell,
    r"words that differ only in case or in blanks count as different: (.+)": are_alike,
    rf"({NUMBER}) leaves were taken for ({NUMBER}) labels: rules of {NUMBER} lea(?:f|ves) are right for ({SHARE}) of "
    rf"the rows, these for ({SHARE}) \(max_leaf_nodes\)": pay,
    r"(\S+) has the name and the mean, about 1, of weights; if it holds some, keep it out of the rules \(columns\) and "
    r"weight the rows by it": may_be_weights,
    rf"({NUMBER}) of ({NUMBER}) rows lacks? a value and (?:was|were) left out: (.+)": lack_a_value,
    rf"({NUMBER}) of ({NUMBER}) rows ha(?:s|ve) no value in any column in use, so (?:it|they) gets? no cluster": (
        have_no_value
    ),
    r"every row of (.+?)(?: and \d+ more)? lacks a value, so there (?:is|are) no such clusters? here": (
        lack_values_in_every_row
    ),
    rf"({NUMBER}) labels that are numbers, from ({NUMBER}) to ({NUMBER}): is this .+": may_be_measured,
    rf"all rows of each value of (\S+) are in one cluster \(({NUMBER}) values\); to learn what such values have in "
    r"common, choose the columns \(columns\)": are_panels,
    r"labels that differ only in case or in blanks count as different: (.+)": labels_are_alike,
    rf"({NUMBER}) more leaves hold no row of the cluster that they name": hold_no_row,
    r"the time limit ended the search, this is the best tree so far \(time_limit\)": has_a_limit_of_time,
    r"grown from the root, as clusters have equal centres \((?:.+)\), which IMM cannot separate": has_equal_centres,
    r"the tree of '\w+' was changed: cuts on other columns are cuts on preferred ones": nothing,
    r"method exkmc lowers the cost, also where that leads away from the clusters, as these do not minimise it; expand "
    r"keeps to them": does_not_minimise,
}
_ON_COLUMNS = rf"explained by ({NUMBER}) lea(?:f|ves) on ({NUMBER}) of ({NUMBER}) columns?"
OF_LEFT_OUT = {
    r"Columns left out tell more: .+": nothing,  # in test_left_out_tells.py
    r"Rows of .+ units \(.+\) come again and again: .+ of these units stay in one cluster; to group units, give one "
    r"row for each\.": nothing,  # in test_order_of_rows.py
    r"The rows seem to be a series, as .+": nothing,  # in test_order_of_rows.py
}
PRINTED = {
    **OF_LEFT_OUT,
    rf"No kinds found in .+: {NO_KINDS}\.": is_no_clearer,
    **{rf"{parts}\.": refute for parts, refute in PARTS.items()},
    rf"({NUMBER}) clusters? of ({NUMBER}) rows?( \(.+ left out\))?, {_ON_COLUMNS}": is_of_many_columns,
    rf"No clear groups in ({NUMBER}) rows?( \(.+ left out\))?; one way to divide them into ({NUMBER}) parts, "
    rf"{_ON_COLUMNS}": has_parts_alone,
    rf"The rules agree with the clusters on ({SHARE}) of rows( by weight)? \(always (.+): ({SHARE})\)[.;]": agrees,
    rf"within-cluster cost is ({NUMBER}) times that of the clusters \(price of explainability\)[.;]": costs_times,
    r"within-cluster cost is that of the clusters \(price of explainability 1\)\.": costs_the_same,
    r"within-cluster cost is zero for both \(price of explainability 1\)\.": costs_nothing,
    r"Nothing but (.+) differs much between the clusters: no other column by half a standard deviation\.": (
        nothing_else_differs
    ),
    r"Besides, (.+)\.": go_with_clusters,
    rf"within-cluster cost is zero for the clusters but ({NUMBER}) for the rules \(price of explainability "
    rf"infinite\)\.": (costs_infinitely_more),
    r"it is below 1 because the clusters do not minimise the .+\.": does_not_minimise,
    rf"Expect about ({SHARE}) on new rows like these: on rows that they had not seen, rules grown the same way "
    rf"agree on "
    rf"({SHARE}) \((.+)\)\.": expects,
    rf"Of the ({NUMBER}) rows? without a label(?: or weight)? the rules put (.+)\.": put_rows_of_noise,
    r"Grown by .+[.;]": nothing,
    r"Missing values count as: (.+)\.": count_as,
    rf"{_TREE}agrees (?:more|on more than ({NUMBER})% more of the (?:rows|weight))\.": no_tree_agrees_more,
    rf"{_TREE}costs less(?: by more than ({NUMBER})%)?\.": no_tree_costs_less,
    rf"Estimated from (the Gaussians behind the clusters|Gaussians with the means and variances of the clusters' "
    rf"rows): at least ({SHARE}) of rows of these Gaussians end in their own leaf; the explainability-to-noise ratio "
    rf"is (.+), attained by (.+) and (.+) on (.+)\.": ends_in_own_leaf,
    r"Warning: far from Gaussian: .+, so these estimates may not hold(?:; method cart or imm does not rest on "
    r"Gaussians)?\.": nothing,
    rf"The best of ({NUMBER}) random trees costs ({NUMBER}) times the clusters, the mean ({NUMBER}), the worst "
    rf"({NUMBER}), all around the clusters' centres\.": is_a_mean_of_draws,
    rf"Guaranteed: a random tree costs on average at most ({NUMBER}) times the clusters, for any data\.": is_bounded,
    r"There is no guarantee, as not every column may be tested\.": nothing,
}
ON_PAGE = {
    r"(Show the tree of this page )?The tree, the form, the rules and the code below are those of this tree; .+": (
        nothing
    ),
    r"What you changed stands below the rules, with the lines of Python that do it again\.": nothing,  # test_by_hand.py
    r"(Smaller and larger trees|.*[Tt]rees without a column.*) (are|is) not shown here: .+\.": nothing,
    r"Drop a CSV file on this page, or choose one\.": nothing,
    r"You get it back with one more column, the cluster of each row(, and rows .+)?\.": nothing,  # test_label_files.py
    r"Its cells stay on this computer\.": nothing,
    r"The line of Python stands below the rules\.": nothing,
    r"(What you changed|It) is shown on this page alone\.": nothing,
    **OF_LEFT_OUT,
    rf"No kinds found: {NO_KINDS}\.": is_no_clearer,
    **{rf"{parts}\.": refute for parts, refute in PARTS.items()},
    r"No clear groups: this is one way to divide the rows\.": is_no_clearer,
    rf"The rules sort ({NUMBER}) rows into ({NUMBER}) (clusters|parts), by ({NUMBER}) cuts? on "
    rf"({NUMBER}) of ({NUMBER}) columns?\.": sorts,
    rf"They are right for ({SHARE}) of the rows( by weight)?; always guessing (.+) would be right for (only )?"
    rf"({SHARE})\.": are_right,
    rf"The rules put ({NUMBER}) of ({NUMBER}) (rows|of weight) into a cluster that is not their own\.": get_another,
    r"Every row is in the cluster that its rule names\.": get_their_own,
    rf"(What it costs that rules are short|That rules are short costs nothing): their groups are ({NUMBER})% "
    r"(more|less) spread out than the clusters(?:; at a price of 1 they would be as compact)?\.": are_spread,
    r"That rules are short costs nothing: their groups are as compact as the clusters\.": is_as_compact,
    r"The price compares squared distances within groups( in the kernel's feature space)?\.": compares_squares,
    r"Neither the clusters nor the groups that the rules make have any spread\.": costs_nothing,
    r"The clusters have no spread at all; the groups that the rules make have some\.": costs_more_than_nothing,
    rf"The rules? finds? ({SHARE}) of this cluster\.": finds,
    rf"Of the rows (?:it matches|they match), ({SHARE}) really belong here\.": belong,
    rf"Worth knowing: least certain is \S+ (?:churn = )?(.+): (its rules? finds? ({SHARE}) of its rows(?:; of the rows "
    rf"that (?:it matches|they match), ({SHARE}) belong to it)?|no rule names it)(?:; it is mixed up most with \S+ "
    rf"(?:churn = )?(.+) \((?:weight )?([^()]+?)(?: rows?)?\))?\.": is_least_certain,
    r"No row is far from the rest of its cluster\.": are_odd,
    rf"({NUMBER}) rows? (?:is|are) far from the rest of (?:its|their) cluster(?:, of (.+?)(?:, by .+)?)?; the analyst "
    r"can list them, ex\.outliers\(\) in Python\.": are_odd,
    r"The clusters were given, not looked for: whether the rows fall into groups of their own is asked only where none "
    r"are given\.": are_not_asked_about,
    r"No tree is smaller than that of this page: it would ask nothing\.": asks_as_little_as_can_be,
    r"A size is left out if no tree of it was found that is right for more rows than a smaller one\.": each_size_gains,
    r"No other size is shown: (a smaller tree asks nothing, and )?no larger one is right for more of the rows\.": (
        no_tree_is_right_for_more
    ),
    r"No tree is shown without a column: no other column may be cut, or the trees would be too large for a page\.": (
        nothing
    ),
    r"Only (.+) decides? the cluster\.": decide,
    r"Of (.+), “is not” means the other values that the table has\.": is_other_words,
    r"A row with a value that was never seen has no cluster\.": has_no_cluster,
    # how to read pictures and tables, which tests/render look at
    r"An axis spans the middle 98% of the rows, or fewer where rows are few, so that its ends show no single row; the "
    r"outer bars hold the others\.": nothing,  # in test_secrets.py, by bars of rows that are farther out
    r"Each box shows one column: .+|“Lost” are rows that a cut sends where no leaf .+": nothing,
    r"Thicker lines carry more rows\.": nothing,
    r"This part needs JavaScript; everything else works without it\.|Change a value to see .+": nothing,
    r"Each number is the middle one of the cluster: half of its rows have less\.|The mark below it shows .+": nothing,
    r"A bar with a gap is higher than drawn\.": nothing,  # tests/render/test_picture.py
    r"For a categorical column you see .+": nothing,
    r"A row is lost at a cut if no leaf behind it has the row's cluster: the rules put it into another one\.": nothing,
    r"The filled dot is the tree of this page\.": nothing,
    r"A number that is a button shows what these rows are like, .+": nothing,  # tests/render/test_cells.py
    r"Of rows that rules have right, and of fewer than five, none is\.": nothing,
    rf"Rows that do not fit the rules of their cluster: (?:weight )?({NUMBER})(?: rows?)?, in small groups"
    r"\.": are_in_small_groups,
    r"The analyst can list (the rows that the rules put elsewhere|them), ex\.misassigned\(\) in Python\.": nothing,
    r"To see which rows the rules put elsewhere, label the list with its column .+\.": nothing,  # test_label_files.py
    rf"(One row|{NUMBER} rows): its values are not shown\.": is_of_few_rows,
    r"How well they do on new rows was not tested\.|To test rules on new rows: validate=5\.": is_not_held_out,
    rf"Expect about ({SHARE}) on new rows like these\.": is_held_out,
    r"Held out: .+\.": nothing,
}
"""Sentences of the page besides those of the print; what its foot promises is tested in tests/render."""
VERDICTS = {
    rf"The (clusters|rules) are (stable|doubtful|unstable): in ({NUMBER}) resamples of ({NUMBER}) rows (.+)\.": returns,
    rf"On average ({SHARE}) of the rows change cluster(?:, and (each column|at least \d+ of the \d+ columns) of "
    rf"this tree "
    r"(?:is|are) used by at least half of the trees)?\.": changes,
    r"(.+), so there is no test of whether the groups are real\.": is_not_tested,
    r"The rows show groups: a gap or a valley parts them\.": is_clearer,
    r"Whether there are groups at all is not shown: no gap or valley parts the rows into clusters .+\.": is_no_clearer,
    r"Read them as one way to divide the rows, not as groups that exist\.": nothing,
}


def refuter_of(sentence, patterns):
    """Return who tries to refute a sentence, and what it told; None if no pattern fits."""
    for pattern, refute in patterns.items():
        if found := re.fullmatch(pattern, sentence):
            return refute, found.groups()
    return None


def tried(asked, sentence, patterns):
    found = refuter_of(sentence, patterns)
    assert found is not None, f"nobody tries to refute: {sentence!r}"
    refute, told = found
    try:
        refute(asked, *told)
    except Exception as error:
        raise AssertionError(f"{sentence!r} of {asked.options}: {error}") from error


def printed_sentences(text):
    """Return the sentences of a printed explanation, without its notes and the table of clusters."""
    for part in text.split("\n\n"):
        if not part.startswith("Note: ") and "precision  rule" not in part:
            for line in part.splitlines():
                yield from re.split(r"(?<=[.;]) (?=[A-Z]|within|it is|no tree of)", line)


@law(4)
def test_no_note_and_no_sentence_of_the_print_is_refuted(seed):
    asked = asked_at_random(seed)
    for note in asked.ex.notes:
        tried(asked, note, NOTES)
    for sentence in printed_sentences(asked.ex.to_text().rsplit("\n\n", 1)[0]):
        tried(asked, sentence, PRINTED)


def test_no_note_on_numbers_that_are_names_is_refuted():
    rng = np.random.default_rng(0)
    shop, number, town = rng.integers(0, 40, 600), rng.permutation(900)[:40], rng.choice([*"ABC"], 40)
    town_of = np.where(np.arange(600) % 150, town[shop], "A")  # of some rows, another one
    X = pd.DataFrame({"nr": number[shop], "town": town_of, "x": rng.normal(size=600), "y": rng.normal(size=600)})
    asked = Options(X, None, n_clusters=3)
    assert "nr" not in asked.ex.columns
    for note in asked.ex.notes:
        tried(asked, note, NOTES)


@pytest.mark.parametrize("number", [2, 99, 0])
def test_a_number_that_the_same_rows_have_in_several_columns_is_asked_for(number):
    rng = np.random.default_rng(0)
    lacks = np.arange(300) % 2 == 0
    X = pd.DataFrame({f"answer{j}": np.where(lacks, number, rng.integers(3, 5, 300)) for j in range(4)})
    asked = Options(X.assign(other=rng.integers(0, 3, 300)), None, n_clusters=2)
    for note in asked.ex.notes:
        tried(asked, note, NOTES)
    told = f"{number} is in the same 150 rows of each of answer0, answer1, answer2, answer3: if it stands"
    assert any(note.startswith(told) for note in asked.ex.notes) is (number != 0)
    apart = X.assign(**{f"answer{j}": rng.permutation(X[f"answer{j}"]) for j in range(2)})
    given = Options(X, np.where(lacks, "a", "b"))
    assert not any("if it stands" in note for ex in (bw.explain(apart, n_clusters=2), given.ex) for note in ex.notes)


@law(4)
def test_no_sentence_of_a_verdict_is_refuted(seed):
    asked = asked_at_random(seed)
    if not {"method", "objective", "time_limit"} & asked.options.keys():  # "auto" grows many trees each time
        asked = Options(asked.X, asked.y, **asked.options, method="cart")
    for sentence in re.split(r"(?<=\.) (?=[A-Z])", asked.ex.stability(3).verdict):
        tried(asked, sentence, VERDICTS)


WORTH_KNOWING = r"(Worth knowing: )(least .*?(?:belong to it|of its rows|names it|resampled|\))\.(?= |$))? ?(.*?)\.?"


class Paragraphs(HTMLParser):
    """The texts of a page's paragraphs and tiles, but for those of pictures, scripts, and of what boxwood itself is."""

    OTHERS = ("script", "style", "svg", "pre")

    def __init__(self, page):
        super().__init__()
        self.texts, self.open, self.unseen = [], [], 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.unseen += tag in self.OTHERS
        if tag in ("p", "dd"):
            self.open.append([])

    def handle_endtag(self, tag):
        self.unseen -= tag in self.OTHERS
        if tag in ("p", "dd") and self.open:
            self.texts.append(" ".join("".join(self.open.pop()).split()))

    def handle_data(self, data):
        if self.open and not self.unseen:
            self.open[-1].append(data)


def without_those_of_this_page(asked, note):
    """Return a note on fewer leaves without what the page adds, which is what its own tree of so many is right for."""
    found = re.search(
        r"rules of (\d+) lea(?:f|ves) are right for \S+ of the rows( \(those of this page for (\S+)\))", note
    )
    if not found:
        return note
    assert found[3] in [percent(row.agreement) for row in asked.ex.frontier() if row.leaves == int(found[1])]
    return note.replace(found[2], "")


@law(4)
def test_no_sentence_of_the_page_is_refuted(seed):
    asked = asked_at_random(seed)
    texts = Paragraphs(asked.ex.to_html()).texts
    for text in texts:
        if text.startswith(("To protect the data", "Only on the screen", "Written by")):
            continue  # tests/render tries these
        if text.startswith("Note: "):
            tried(asked, without_those_of_this_page(asked, text.removeprefix("Note: ")), NOTES)
            continue
        if found := re.fullmatch(WORTH_KNOWING, text):
            if found[2]:
                tried(asked, found[1] + found[2], ON_PAGE)
            assert any(each.lower().startswith(f"note: {found[3]}".lower()) for each in texts) or not found[3]
            continue
        if found := re.search(rf"({NUMBER}) (?:has|have) no label", text):
            same(whole(found[1]), len(asked.X) - asked.n_kept - asked.ex.details.n_incomplete)
        for sentence in re.split(r"(?<=\.) (?=[A-Z])", text):
            if len(sentence.split()) > 3 and sentence.endswith("."):
                tried(asked, sentence, PRINTED | ON_PAGE)


@law(4)
def test_no_rows_together_get_another_cluster_where_a_page_of_rounded_counts_says_so(seed):
    rng, least = np.random.default_rng(seed), 2 + seed % 4
    x = rng.integers(0, 3, 60)
    y = np.where(rng.random(60) < 0.15, rng.integers(0, 3, 60), x)
    page = bw.explain(x[:, None] * 1.0, y, method="cart", max_leaf_nodes=3).to_html(min_count=least)
    counts = np.array([np.bincount(y[x == value], minlength=3) for value in range(3)])
    largest = np.sort(counts, axis=1)[:, -2].max()  # of those that their leaf gives another cluster
    said = f"No leaf puts {least} rows of a cluster into another one." in page
    assert said == (largest < least)


def is_of_other_rows(asked, n, n_rows, told):
    """So many of the other rows have a word, or label, that is none of the model's; IN: asked: rows and model."""
    counted = dict(re.findall(r"'?(\w+)'? \((\d+)\)", told))
    found = {word: sum((word == asked.X).sum(axis=1)) for word in counted}
    same({word: int(count) for word, count in counted.items()}, found)
    same((whole(n), whole(n_rows)), (sum(found.values()), len(asked.X)))


def add_little_there(asked, what, agreement, baseline):
    known = asked.X[(asked.X["g"] != "other") & asked.X["w"].isin(["a", "b"])]
    right = (known["w"] == "a") == (known["g"] == "one")
    is_share(agreement, right.mean())
    is_share(baseline, known["g"].value_counts(normalize=True).max())
    assert (float(agreement.strip("%")) < float(baseline.strip("%"))) == (what == "are worse than none")


OF_OTHER_ROWS = {
    rf"({NUMBER}) of ({NUMBER}) rows gets? no cluster, as (?:its|their) rule knows no such value: w (.+)": (
        is_of_other_rows
    ),
    rf"({NUMBER}) of ({NUMBER}) rows ha(?:s|ve) a label that the model has never seen, and (?:is|are) left out: (.+)": (
        is_of_other_rows
    ),
    rf"the rules (add little|are worse than none): they agree on ({SHARE}) of rows, and always naming the largest "
    rf"cluster on ({SHARE})": add_little_there,
    r"measured on the rows that were given, whether or not the tree was grown on them": nothing,
}


@law(4)
def test_no_note_on_other_rows_is_refuted(seed):
    rng = np.random.default_rng(seed)
    grown_on = pd.DataFrame({"w": np.resize(["a", "b"], 30)})
    ex = bw.explain(grown_on, np.where(grown_on["w"] == "a", "one", "two"), columns=["w"], method="cart")
    n = int(rng.integers(3, 40))
    frame = pd.DataFrame({"w": rng.choice(["a", "b", "new", "newer"], n), "g": rng.choice(["one", "two", "other"], n)})
    frame.loc[:1, ["w", "g"]] = "a", "one"
    frame.loc[frame["g"] == "other", "w"] = "a"  # so that a row is told of once
    here = Options.__new__(Options)
    here.X, here.options, here.ex = frame, {}, ex
    notes = ex.evaluate(frame[["w"]], frame["g"]).notes
    for note in notes:
        tried(here, note, OF_OTHER_ROWS)
    same(sum("no such value" in note for note in notes), int(frame["w"].str.contains("new").any()))
    same(sum("label that" in note for note in notes), int((frame["g"] == "other").any()))


def are_in_file(asked, told, of="w"):
    """Marks and names that are told stand in so many cells of the file."""
    counted = dict(re.findall(r"'([^']+)' in ([\d,]+) row", told))
    assert counted
    for mark, n in counted.items():
        same(whole(n), (asked.X[of] == mark).sum())


def are_missing(asked, told):
    are_in_file(asked, told)
    [(_, known)] = asked.ex.details.categories
    assert not {*re.findall(r"'([^']+)'", told)} & {*known.values}


def are_words(asked, told):
    are_in_file(asked, told)
    [(_, known)] = asked.ex.details.categories
    assert {*re.findall(r"'([^']+)'", told)} <= {*known.values}


def are_names(asked, name):
    assert {*dict(asked.ex.details.categories)[name].values} == {*asked.X[name]}


OF_FILES = {
    r"read as missing: w \((.+)\) \(categories keeps such values\)": are_missing,
    r"read as categories, like the other values: w \((.+)\)": are_words,
    r"(w): names such as 1E5, read as categories, not as numbers": are_names,
}


WORDS_OF_FILES = [["ZA", "BW"], ["red", "light blue"], ["Smith", "Jones"], ["1E5", "2E3", "12E10"]]


@law(4)
def test_no_note_on_how_a_file_is_read_is_refuted(seed, tmp_path):
    rng, words = np.random.default_rng(seed), WORDS_OF_FILES[seed % 4]
    marks = [] if words[0] == "1E5" else rng.choice(["NA", "n/a", "Nan", "null"], 2, replace=False).tolist()
    w = rng.permutation([*words * 20, *marks * int(rng.integers(1, 4))])
    here = Options.__new__(Options)
    here.X, here.options = pd.DataFrame({"w": w, "g": np.where(w == words[0], "a", "b")}), {}
    here.X.to_csv(tmp_path / "t.csv", index=False)
    with bw.scan(tmp_path / "t.csv") as source:
        here.ex = bw.explain(source, "g", method="cart")
    noted = [note for note in here.ex.notes if "read as" in note]
    assert noted
    for note in noted:
        tried(here, note, OF_FILES)


NUMBERS = np.random.default_rng(0).normal(size=(40, 2))
WORDS = pd.DataFrame({"x": NUMBERS[:, 0], "word": np.resize(["a", "b", "c"], 40)})
GAPS = np.where(np.arange(80).reshape(40, 2) == 7, np.nan, NUMBERS)
MIXED = bw.MixedKMeans(2, n_init=1, random_state=0)
FROZEN = FrozenEstimator(KMeans(2, n_init=1, random_state=0).fit(NUMBERS))
BANDS = (NUMBERS[:, 0] > 0).astype(int)


@each(
    "X, y, why",
    [
        (NUMBERS, BANDS, "Labels were given"),
        (WORDS, BANDS, "Labels were given"),
        (WORDS, None, ""),
        (GAPS, None, ""),
        (WORDS, MIXED, "Codes have no variance"),
        (WORDS, FrozenEstimator(MIXED.fit(WORDS)), "The clusterer is frozen"),
        (NUMBERS, FROZEN, "The clusterer is frozen"),
        (NUMBERS, bw.Reference.nearest(NUMBERS, NUMBERS[:2]), "The clusters were given"),
        (NUMBERS, KMeans(2, n_init=1, random_state=0), ""),
    ],
)
def test_a_verdict_says_why_it_is_not_tested_whether_groups_are_there(X, y, why):
    """Also under other names, from a file, and where older files do not say why."""
    ex = bw.explain(X, y, method="cart", **({"n_clusters": 2} if y is None else {}))
    found = ex.stability(2)
    for one in (found, read_model(ex.to_json()).rename(dict(zip(ex.names, "uv", strict=True))).stability(2)):
        assert one.untested == why
        assert one.verdict.endswith(f" {why}, so there is no test of whether the groups are real.") == bool(why)
        assert one.refitted == (why in ("", "Codes have no variance"))
    older = found._replace(untested="")
    assert ("The clusters were not made again, so there is no test" in verdict_of(older)) == (not found.refitted)


@law(4)
def test_an_overlap_that_is_told_is_undercut_in_five_percent_of_the_draws_at_most(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 90))
    overlaps = rng.random((n, 1))
    [one] = _clusters(bw.explain(NUMBERS, BANDS, method="cart"), np.hstack([overlaps, overlaps]))[:1]
    assert (overlaps < one.jaccard_low).mean() <= 0.05
    assert n > 20 or one.jaccard_low == overlaps.min()
    low, high = _ends_of(overlaps[:, 0])
    assert ((overlaps >= low) & (overlaps <= high)).mean() >= 0.9


def test_few_draws_have_no_quantile():
    few, enough = (bw.explain(NUMBERS * [1, 9], BANDS, method="cart").stability(n) for n in (5, 20))
    assert "in all of them" in few.verdict
    assert "in 95% of them" in enough.verdict
    assert ("lowest" in str(few), "5%" in str(few), "low (5%)" in str(enough)) == (True, False, True)


@each("objective, distance", [("sqeuclidean", "squared"), ("l1", "ℓ1"), ("l2", "Euclidean")])
def test_a_price_says_of_which_distances(objective, distance):
    page = bw.explain(NUMBERS, n_clusters=4, method="random_cuts", objective=objective, random_state=0).to_html()
    assert f"The price compares {distance} distances within groups." in page


def test_no_note_asks_for_the_leaves_that_were_given():
    ex = bw.explain([[0.0], [1.0], [2.0]], [0, 1, 0], objective="cost", max_leaf_nodes=3)
    assert [note for note in ex.notes if "leaves" in note] == [
        "the tree has 2 leaves instead of 3: no tree with more leaves was found that costs less"
    ]
    assert "could reach" not in ex.to_html()


_SEARCH, _ROWS, _HERE = "explanation/test_search.py", "explanation/test_all_rows.py", "explanation/test_sentences.py"
_LINES, _CLAIMS = "explanation/test_standalone_rules.py", "explanation/test_claims.py"
ELSEWHERE = {
    # of tables that have another shape
    " quantities, each in ": "explanation/test_long_tables.py::test_the_column_that_names_quantities_is_told",
    ": is this table long? ": "explanation/test_long_tables.py::test_wide_tables_groups_and_experiments_are_no_long",
    "counts the rows of each combination": (
        "explanation/test_long_tables.py::test_counts_of_all_combinations_of_words_are_weights"
    ),
    " may count rows: ": "explanation/test_long_tables.py::test_a_column_that_counts_rows_is_told",
    # of two tables
    " were left out: no row of the other table has their ": "explanation/test_by_inputs.py::test_no_label_is_on_ano",
    "only in part on rows held out": "explanation/test_by_inputs.py::test_what_is_planted_in_inputs_is_found_or_said",
    "and their index only counts rows": "explanation/test_by_inputs.py::test_where_it_is_not_known_which_rows_bel",
    # of clusters that are made here
    " about the most similar clusters": "explanation/test_how_many.py::test_where_no_groups_show_few_clusters_ar",
    "the rules are right for only": "explanation/test_how_many.py::test_rules_that_are_right_for_few_rows_get_a",
    "the largest number": "explanation/test_how_many.py::test_groups_that_are_apart_are_coun",
    " clusters, though not the same": "explanation/test_how_many.py::test_the_number_is_the_largest_on_which",
    "fewer rows about § than on both sides": "explanation/test_clearer.py::test_a_valley_without_a_gap",
    # of rows, files and their columns
    "which § all values; others lack §": "explanation/test_no_cluster.py::test_costs_are_those_of_rows_with_all_values",
    "a value that no row drawn has": "explanation/test_no_cluster.py::test_the_table_that_was_explained_is_counted",
    "gives none without this warning": "explanation/test_no_cluster.py::test_a_row_gets_no_cluster_where_predict",
    "of packed files, .gz alone is read": "table/test_packed.py::test_of_packed_files_it_is_said_what_unpacks_them",
    "values of it are none of §": "table/test_files_of_types.py::test_values_stay_or_the_column_is_refused",
    "write it with one type in all files": "table/test_files_of_types.py::test_values_stay_or_the_column_is_refused",
    # of rows that are set aside, and of lines
    " of the rows have no cluster, ": "explanation/test_drift.py::test_what_was_never_seen_is_counted",
    "no row has to be set aside": f"{_LINES}::test_the_rows_set_aside_are_the_fewest_of_all_trees_of_as_many_leaves",
    "set aside fewer": f"{_LINES}::test_the_rows_set_aside_are_the_fewest_of_all_trees_of_as_many_leaves",
    "No § has to set aside §": f"{_CLAIMS}::test_no_tree_refutes_a_claim",
    "has to set aside at least": f"{_CLAIMS}::test_no_tree_refutes_a_claim",
    "agrees §": f"{_CLAIMS}::test_no_tree_refutes_a_claim",
    "costs less": f"{_CLAIMS}::test_no_tree_refutes_a_claim",
    "No § have §": f"{_CLAIMS}::test_no_rule_refutes_a_claim_on_lines",
    "at most §)": f"{_CLAIMS}::test_no_rule_refutes_a_claim_on_lines",
    "Each row is in one line": f"{_LINES}::test_lines_tell_of_rows_what_counting_them_tells",
    " are in no line, and ": f"{_LINES}::test_lines_tell_of_rows_what_counting_them_tells",
    "by the first line that holds them": f"{_LINES}::test_lines_tell_of_rows_what_counting_them_tells",
    "rows, and counted in all": f"{_LINES}::test_lines_made_on_a_sample_are_counted_in_all_rows",
    "first is the line with": f"{_LINES}::test_lines_tell_of_rows_what_counting_them_tells",
    # of long tables, of files, and of rows that lack values
    "the table is long: most": f"{_SEARCH}::test_long_tables_are_searched_on_a_sample_and_refined_whole",
    "the table is long: trees": f"{_ROWS}::test_long_tables_in_memory_are_searched_in_parts_and_measured_as_a_whole",
    "trees were grown on a sample of": f"{_SEARCH}::test_very_long_tables_are_looked_at_on_growing_samples",
    " were compared": f"{_SEARCH}::test_very_long_tables_are_looked_at_on_growing_samples",
    "the best was measured": f"{_SEARCH}::test_very_long_tables_are_looked_at_on_growing_samples",
    "sizes, agreement and costs are": f"{_ROWS}::test_what_is_told_is_told_of_all_rows_to_the_last_bit",
    "as no row that was drawn lacks one": f"{_ROWS}::test_a_gap_that_no_row_drawn_has_is_told",
    "no row drawn of ": f"{_ROWS}::test_clusters_of_which_no_row_was_drawn_are_there",
    "every row of ": "explanation/test_gaps.py::test_a_cluster_of_filled_gaps_alone_is_told",
    "all rows of each value of ": "explanation/test_unseen.py::test_a_panel_is_told",
    "no value in any column in use": "explanation/test_mixed.py::test_a_row_that_lacks_everything_has_no_cluster",
    "§ of § rows § no cluster": "explanation/test_mixed.py::test_a_row_that_lacks_everything_has_no_cluster",
    "only constant columns in ": "cli/test_cli.py::test_constant_columns_are_named",
    "as § rule knows no such value": (
        "explanation/test_mixed.py::test_values_never_seen_and_gaps_where_there_were_none_have_no_cluster"
    ),
    "hold no value that their rule knows": "explanation/test_pipelines.py::test_values_that_were_not_there",
    "a temporary file, so that each pass": "table/test_scan.py::test_each_value_is_the_same_in_memory",
    "column names look like data": "cli/test_first_look.py::test_a_file_without_header",
    "most values come only once": "columns/test_rules.py::test_a_column_is_left_out_for_the_same_reason",
    "the same in all rows of each date": f"{_HERE}::go_with_dates",
    "rises or falls with a date": "columns/test_rules.py::test_what_says_the_wave_or_the_unit_of_a_panel",
    "names or numbers of the units in which": "columns/test_rules.py::test_what_says_the_wave_or_the_unit_of_a_panel",
    "numbers that come equally often": "columns/test_rules.py::test_numbers_come_equally_often_by_a_plan",
    "each of their combinations comes equally often": "columns/test_plan.py::test_all_columns_of_a_plan",
    "numbers that begin again and again": "columns/test_rules.py::test_numbers_of_visits_begin_again",
    "a label that the model has never seen": f"{_HERE}::test_no_note_on_other_rows_is_refuted",
    "has no label and is": "reference/test_labels.py::test_rows_without_a_label_are_left_out_and_told_",
    "have no label and are": "reference/test_labels.py::test_rows_without_a_label_are_left_out_and_told_",
    "which was never seen (known": (
        "explanation/test_mixed.py::test_values_never_seen_and_gaps_where_there_were_none_have_no_cluster"
    ),
    "no measurements of its columns": "explanation/test_drift.py::test_a_model_of_before_says_what_it_cannot_tell",
    "so each counts as much as the others' mean": "explanation/test_no_cluster.py::test_shares_of_a_weighted_model",
    "each new row counts as one": "explanation/test_drift.py::test_weighted_rows_tell_no_change",
    "without counts of rows in no": "explanation/test_drift.py::test_a_model_of_before_says_what_it_cannot_tell",
    "by the boxes of the rules": "explanation/test_match.py::test_models_without_rows_are_matched_by_boxes",
    "the spreads of its columns": "explanation/test_why.py::test_a_model_without_spreads_still_says_the_way",
    # of other results
    "which cannot be compared": "explanation/test_compare.py::test_other_distances_are_left_out",
    "leaves, one for each cluster": "explanation/test_compare.py::test_what_cannot_be_compared_is_said",
    "none of these trees": "explanation/test_compare.py::test_each_row_is_what_explain_says",
    "(always the largest: ": "explanation/test_compare.py::test_each_row_is_what_explain_says",
    "no such change reaches": "explanation/test_why.py::test_the_smallest_change_is_that_of_brute_force",
    "where no tree can have a price above": "metrics/test_kernels.py::test_price_of_narrow_kernels_says_nothing",
    "the rules of all clusters": f"{_HERE}::returns",
    "overlap at least ": f"{_HERE}::returns",
    " came back": f"{_HERE}::returns",
    "Codes have no variance": "explanation/test_clearer.py::test_codes_of_words_have_no_variance",
    " of its first value for each leaf": "grow/test_expand.py::test_a_cut_must_gain_more_than_the_tolerance",
    "holds no rows, so this page lacks": "render/test_page.py::test_a_loaded_model_shows_what_it_knows",
    "no label or weight": f"{_HERE}::test_no_sentence_of_the_page_is_refuted",
    "rows of a cluster into another one": (
        f"{_HERE}::test_no_rows_together_get_another_cluster_where_a_page_of_rounded_counts_says_so"
    ),
    "no rule of its own": "render/test_render.py::test_clusters_without_a_leaf",
    "no value passes all cuts": "render/test_render.py::test_conditions",
}
"""Sentences that calls at random hardly give, and the tests that try them."""
NO_PROMISE = (
    "yes is 1, no is 0",  # a note that is looked for
    "is said as yes, ",  # the example of the function
    "nothing was changed by hand",  # what a list is without entries
    "one leaf for each cluster",  # how a tree was grown
    "how many rows fulfil the rule",  # what a number is
    "among them, of all its rows",
    "Medians of numbers; ",
    "Each line counts the rows of a cluster by ",
    "it has none beside labels and weights",  # ends of errors
    "no column is left in ",
    "no numeric column in ",
    "same on each date",  # in short, what a note tells
    "a number of folds from 2 to ",
    "default-src 'none'",  # no words
    "§ § no label",
    "if it has no header",
    "none; leave it out",
    "in quotes in § has no end",
    "has no columns; column names",
    "of other files, only one can be",
    "the columns that all of them have",
    "leave the column out, or take all",
    "give the label of each row",
    "no cluster for §, which describes columns",
    "an empty text is a value",
    "that is no text, as these are",
    "differ in case only",
    " UNION ALL ",  # SQL
    "GENERATED ALWAYS",
    "§, count(*) FROM",
    "tuple[int, str | None]",  # no words
    "No module named",
)
PROMISE = re.compile(
    r"\b(no|none|never|nobody|nothing|all|every|each|only|alone|cannot|always|at most|at "
    r"least|best|any|most|least|fewest)\b",
    re.IGNORECASE,
)
SAID_BY = (
    *("explanation/*.py", "explanation/ask/*.py", "explanation/choose/*.py", "explanation/measure/*.py"),
    *("explanation/living/*.py", "explanation/apply/*.py"),
    *("words/*.py", "columns/*.py", "batches/*.py", "table/*.py"),
    *("render/forms/text.py", "render/forms/walk.py", "render/page/*.py"),
    *("grow/grown.py", "grow/leaves/*.py"),
)


@pytest.mark.full
@law(24, first=1000)
def test_no_sentence_of_many_calls_is_refuted(seed):
    test_no_note_and_no_sentence_of_the_print_is_refuted.__wrapped__(seed)
    test_no_sentence_of_the_page_is_refuted.__wrapped__(seed)
    if seed % 4 == 0:  # it grows many trees
        test_no_sentence_of_a_verdict_is_refuted.__wrapped__(seed)


def said_in(tree):
    """Yield the texts in a module, "§" for what is put in; not those that explain the code, and not errors."""
    docs = {one.value for one in ast.walk(tree) if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)}

    def walk(node):
        if node in docs or isinstance(node, ast.Raise):
            return
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if re.search(r"Error|refuse|checked|compile|Range", called):
                return
        if isinstance(node, ast.JoinedStr):
            yield "".join(one.value if isinstance(one, ast.Constant) else "§" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        else:
            for one in ast.iter_child_nodes(node):
                yield from walk(one)

    return walk(tree)


def test_every_sentence_that_promises_something_has_who_tries_to_refute_it():
    source, tests = Path(bw.__file__).parent, Path(__file__).parents[1]
    known = " ".join([*NOTES, *PRINTED, *ON_PAGE, *VERDICTS]).replace("\\", "")
    found = {pattern: {*source.glob(pattern)} for pattern in SAID_BY}
    assert all(found.values()), "nobody is there any more"
    paths = {path for each in found.values() for path in each}
    paths -= {source / "words" / "notes.py"}  # which puts in order what others say
    said = [(path.name, text) for path in sorted(paths) for text in said_in(ast.parse(path.read_text("utf-8")))]
    promises = [(name, text) for name, text in said if PROMISE.search(text) and len(text.split()) >= 4]
    lost = [
        (name, text)
        for name, text in promises
        if not any(part in text for part in (*ELSEWHERE, *NO_PROMISE))
        and not all(part.strip(" .,;:()") in known for part in text.split("§") if PROMISE.search(part))
    ]
    assert not lost, f"nobody tries to refute these: {lost}"
    for part, test in ELSEWHERE.items():
        path, _, function = test.partition("::")
        assert f"def {function}" in (tests / path).read_text("utf-8"), test
        assert any(part in text for _, text in said), f"nobody says {part!r} any more"
