"""Words to speak of clusters that boxwood made: true of most of the cluster, and of no other one."""

from itertools import combinations, product

import numpy as np
import pandas as pd

import boxwood as bw
from boxwood.explanation.measure.spoken import HALF, MOST, spoken_names
from tests.scale import law


def table_of(seed):
    """Return a table of groups, with words, booleans, flags, dates and gaps."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, 240)
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(group * 90 + rng.integers(0, 40, 240), unit="D")
    columns = {
        "age": rng.normal(20 + 20 * (group == 1), 3),
        "spent": np.exp(rng.normal(size=240)),
        "plan": np.where(rng.random(240) < 0.9, np.array(["free", "plus", "team"])[group], "free"),
        "member": rng.random(240) < np.where(group == 2, 0.95, 0.1),
        "flag": (group == 0) * 1,
        "seen": pd.Series(days),
        "back": np.where(group == 1, np.nan, rng.normal(size=240)),
    }
    kept = [name for name in columns if rng.random() < 0.6]
    kept = [*kept, *(name for name in ("age", "plan") if name not in kept)]
    return pd.DataFrame({name: columns[name] for name in kept})


def meanings(word, frame, ex):
    """Return of which rows a word of a name is true, by pandas, for each pair of borders that it may be about."""
    words = word.split(" ")
    name = next(each for each in frame.columns if each in words)
    x = frame[name]
    if word == f"{name} missing":
        return [x.isna()]
    if word == f"{name} known":
        return [x.notna()]
    if word in (name, f"not {name}"):
        return [x == (word == name)]
    if word in (f"no {name}", f"some {name}"):
        return [x == 0 if word[0] == "n" else x > 0]
    if f"{name} not " in word:
        return [x != words[-1]]
    if " or " in word:
        return [x.isin([words[-3], words[-1]])]
    if f"{name} = " in word:
        return [x == float(words[-1])]
    how = word.removesuffix(f" {name}")
    if how == word:
        return [x == words[-1]]
    cuts = sorted({condition for one in ex.clusters for condition in ends_on(name, one)})
    middle = x.median()
    pairs = [*combinations([None, *cuts, None], 2)] if cuts else [(None, middle), (middle, None)]
    return [between(x, *pair) for pair in pairs if pair != (None, None) and is_said(how, *pair, x)]


def truths(name, frame, ex):
    """Return of which rows a name is true, for each choice of borders."""
    of_words = product(*(meanings(word, frame, ex) for word in name.split(", ")))
    return [np.logical_and.reduce(true) for true in of_words]


def ends_on(name, cluster):
    """Return the ends of what the rules of a cluster ask of a column of numbers or dates."""
    asked = [each for rule in cluster.rules for each in rule if each.column == name and each.categories is None]
    ends = [end for each in asked for piece in each.intervals for end in (piece.lower, piece.upper)]
    days = any(each.dates for each in asked)
    return [pd.Timestamp(0) + pd.Timedelta(end, "D") if days else end for end in ends if np.isfinite(end)]


def between(x, low, high):
    return x.notna() & (x > low if low is not None else True) & (x <= high if high is not None else True)


def is_said(how, low, high, x):
    """Return whether a word is the one for what lies between two borders, of which one may be None."""
    is_most = between(x, low, high).sum() > 2 / 3 * x.notna().sum() and x.dtype.kind != "M"
    if low is None:
        return how == "usual" if is_most else how in ("low", "early")
    if high is None:
        return how == "usual" if is_most else how in ("high", "late")
    middle = x.median()
    if low < middle <= high:
        return how == "middle"
    return how in (("rather high", "rather late") if low >= middle else ("rather low", "rather early"))


@law(16)
def test_they_are_true_of_most_of_the_cluster_and_of_no_other(seed):
    frame = table_of(seed)
    weights = np.random.default_rng(seed).integers(1, 4, 240) if seed % 3 == 0 else np.ones(240)
    ex = bw.explain(frame, n_clusters=3, method="imm", columns=[*frame], sample_weight=weights)
    names, labels = spoken_names(ex), ex._evidence.task.reference.labels
    assert names, "groups as plain as these have names"
    for c, name in names.items():
        least = HALF if all(is_asked(word, frame, ex.clusters[c]) for word in name.split(", ")) else MOST
        assert any(speaks_of(c, true, labels, weights, least) for true in truths(name, frame, ex)), name
        assert f"cluster {c} · {name}" in str(ex)
    assert len({*names.values()}) == len(names)
    assert ex.names == (0, 1, 2)
    assert "·" not in ex.to_sql() + ex.to_python()


def is_asked(word, frame, cluster):
    """Return whether a rule of a cluster asks for the column of a word."""
    name = next(each for each in frame.columns if each in word.split(" "))
    return any(each.column == name for rule in cluster.rules for each in rule)


def speaks_of(c, true, labels, weights, least):
    share = [np.average(true[labels == other], weights=weights[labels == other]) for other in range(3)]
    return share[c] >= least and max(share[other] for other in range(3) if other != c) < HALF


@law(24)
def test_no_name_says_more_or_less_of_a_column_than_the_rule(seed):
    """Levels, counts, numbers and words: what is said of a column of the rule is true where the rule holds there."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 4, 400)
    frame = pd.DataFrame({"spent": rng.normal(size=4)[group] * 5, "age": rng.normal(size=4)[group] * 4})
    frame += rng.normal(size=frame.shape)
    frame["level"] = np.array([150, 170, 190, 220])[np.clip(group + (rng.random(400) < 0.1), 0, 3)]
    frame["kids"] = rng.poisson(rng.permutation([0.2, 0.5, 2, 4])[group])
    frame["kind"] = np.where(rng.random(400) < 0.85, np.array(list("abca"))[group], rng.choice(list("abc"), 400))
    ex = bw.explain(frame, n_clusters=4, columns=[*frame.columns[rng.permutation(5)[:3]]])
    names = spoken_names(ex)
    for one in (one for one in ex.clusters if len(one.rules) == 1):
        for word in names.get(one.cluster, "").split(", "):
            for each in one.rules[0]:
                if each.column in word.split(" "):
                    ruled = where_it_holds(each, frame[each.column])
                    assert any((true == ruled).all() for true in meanings(word, frame, ex)), (word, one)


@law(16)
def test_names_are_plain_words(seed):
    """No name negates a rare value: what a rule asks of most rows is usual, or known where it asks no more."""
    rng = np.random.default_rng(seed)
    rare = rng.random(400) < rng.uniform(0.05, 0.25)
    side = rng.choice([-1, 1])
    frame = pd.DataFrame({"spent": rng.normal(side * 12 * rare, 1), "paid": rng.normal(side * 12 * rare, 1)})
    names = spoken_names(bw.explain(frame, n_clusters=2))
    assert {name.split(" ")[0] for name in names.values()} == {"usual", "high" if side > 0 else "low"}
    gaps = frame.assign(spent=np.where(rare, np.nan, rng.normal(size=400)), paid=rng.normal(size=400))
    names = spoken_names(bw.explain(gaps, n_clusters=2, columns=["spent"]))
    assert {*names.values()} <= {"spent known", "spent missing", "high spent", "low spent", "usual spent"}
    kinds = pd.DataFrame({"kind": np.where(rare, "x", rng.choice([*"abc"], 400)), "paid": frame["paid"]})
    assert "not x" not in "".join(spoken_names(bw.explain(kinds, n_clusters=2)).values())


@law(12)
def test_a_cluster_is_called_as_its_rule_says_where_that_is_true_of_half_of_it(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3)), columns=["age", "pay", "hours"])
    ex = bw.explain(frame, n_clusters=5, method="imm")
    names, labels, ruled = spoken_names(ex), ex._evidence.task.reference.labels, ex.predict(frame)
    for c in range(5):
        held = np.bincount(labels[ruled == c], minlength=5) / np.bincount(labels, minlength=5)
        if held[c] >= HALF and held[np.arange(5) != c].max() < HALF:
            assert c in names, ex
    assert "none of these" not in names.values()


def where_it_holds(condition, x):
    """Return which values of a column fulfil a condition."""
    coded = x if condition.categories is None else x.map(condition.categories.values.index)
    return coded.map(lambda each: any(each in piece for piece in condition.intervals))


def test_a_cluster_of_rows_that_lack_a_number_is_spoken_of_so():
    rng = np.random.default_rng(0)
    works = rng.random(300) < 0.6
    wage = np.where(works, rng.lognormal(2, 0.3, 300), np.nan)
    ex = bw.explain(pd.DataFrame({"wage": wage, "hours": np.where(works, rng.normal(38, 3, 300), 0.0)}), n_clusters=2)
    assert {*spoken_names(ex).values()} & {"wage missing", "no hours"}
    assert "high wage" not in "".join(spoken_names(ex)[c] for c, one in enumerate(ex.clusters) if one.share < 0.5)


def test_a_spike_at_zero_is_said_as_such():
    rng = np.random.default_rng(1)
    claims = np.where(rng.random(300) < 0.5, 0.0, rng.uniform(600, 900, 300).round(2))
    ex = bw.explain(pd.DataFrame({"claims": claims}), n_clusters=2)
    assert {*spoken_names(ex).values()} == {"no claims", "some claims"}
    assert "the columns together show no clear groups" in str(ex)


def test_labels_and_named_clusters_keep_their_names():
    frame = table_of(1)
    ex = bw.explain(frame, n_clusters=3, method="imm")
    named = ex.rename({c: f"group {c}" for c in range(3)})
    assert spoken_names(named) == {}
    assert spoken_names(bw.explain(frame, ex.predict(frame))) == {}


@law(8)
def test_a_cluster_that_is_one_unit_is_called_so(seed, tmp_path):
    """A column of countries is left out, as years begin again in each; one of them is a cluster, alike from a file."""
    rng = np.random.default_rng(seed)
    countries, years = [f"c{i}" for i in range(15)], 12
    frame = pd.DataFrame({"country": np.repeat(countries, years), "year": np.tile(2000 + np.arange(years), 15)})
    apart = countries[seed]
    away = 8 * (frame["country"] == apart)
    frame["cars"], frame["price"] = away + rng.normal(size=180), rng.normal(size=180) - away
    frame.to_csv(tmp_path / "table.csv", index=False)
    for table in (frame, bw.scan(tmp_path / "table.csv")):
        ex = bw.explain(table, n_clusters=2)
        assert "country" not in ex.columns
        assert spoken_names(ex)[1] == f"country {apart}"
        assert f"cluster 1 · country {apart}" in str(ex)
    few = frame[(frame["country"] != apart) | (frame["year"] < 2004)]
    assert "country" not in "".join(spoken_names(bw.explain(few, n_clusters=2)).values()), "four rows are too few"
