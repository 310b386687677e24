"""What rules name: the value of a range that holds no other, words that rows of a cluster have, gaps that make one."""

import math

import numpy as np
import pandas as pd

import boxwood as bw
from boxwood.explanation.records import only_value
from boxwood.tree import Interval
from tests.models import read_model
from tests.scale import law

ENDS = (-math.inf, -1.0, -0.5, 0.0, 0.3, 1.0, 1.5, 2.0, math.inf)


@law(400)
def test_a_range_of_one_value_is_that_value_and_every_other_stays(seed):
    rng = np.random.default_rng(seed)
    lower, upper = sorted(rng.choice(ENDS, 2).tolist())
    piece = Interval(lower, upper, *(rng.random(2) < 0.5).tolist())
    whole, signed = (rng.random(2) < 0.5).tolist()
    numbers = [x for x in np.arange(-12, 13) / (1 if whole else 4) if signed or x >= 0]
    held = [x for x in numbers if x in piece]
    said = only_value(piece, whole=whole, signed=signed)
    assert [x for x in numbers if x in said] == held
    if whole and math.isfinite(upper) and (not signed or math.isfinite(lower)) and len(held) == 1:
        assert said == Interval(held[0], held[0], True, True)
    assert said == piece or said.lower == said.upper


def test_whole_numbers_and_amounts_are_said_by_their_value():
    rng = np.random.default_rng(0)
    kids = np.repeat([0, 1, 2, 5], 50)
    frame = pd.DataFrame({"kids": kids, "debt": np.where(kids == 5, 0.0, rng.uniform(1, 9, 200))})
    rules = bw.explain(frame[["kids"]], np.array(["no", "one", "more", "more"])[np.minimum(kids, 2)]).rules()
    assert rules.splitlines() == ["more: kids > 1", "no: kids = 0", "one: kids = 1"]
    below = bw.explain(frame[["kids"]] - 1, np.where(kids > 0, "some", "none"))
    assert below.rules().splitlines()[1] == "some: kids > -1"
    assert "kids = -1" not in below.rules(), "there are numbers below 0, and may be others"


@law(40)
def test_rules_name_no_value_that_few_rows_may_make_false(seed):
    """Rules in memory and of a model are the same, and true of the rows of small clusters, which models do not tell."""
    rng = np.random.default_rng(seed)
    x, labels = rng.integers(0, 4, 60) * 1.0, rng.integers(0, 2, 60)
    few = rng.permutation(60)[: rng.integers(1, 5)]
    x[few] = rng.choice([-3.0, -0.5, 0.5, 2.5, 7.0], len(few))
    labels[few] = rng.choice([0, 2])
    ex = bw.explain(pd.DataFrame({"x": x}), labels, max_leaf_nodes=5)
    assert str(read_model(ex.to_json())) == str(ex)
    for value, name in zip(x.tolist(), ex.predict(pd.DataFrame({"x": x})).tolist(), strict=True):
        (said,) = [cluster for cluster in ex._in_words().clusters if cluster.name == name]
        assert any(all(value in piece for each in one for piece in each.intervals) for one in said.rules) or any(
            len(each.intervals) > 1 for one in said.rules for each in one
        )


@law(12)
def test_rules_name_only_words_that_rows_of_the_cluster_have(seed, tmp_path_factory):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 6, 600)
    words = np.array(["oak", "ash", "elm", "fir", "yew", "box"])[group]
    frame = pd.DataFrame({"tree": words, "height": rng.normal(size=6)[group] * 6 + rng.normal(size=600)})
    frame["girth"] = rng.normal(size=6)[group] * 6 + rng.normal(size=600)
    ex = bw.explain(frame, n_clusters=int(rng.integers(3, 6)))
    path = tmp_path_factory.mktemp("models") / "model.json"
    ex.save(path)
    given = ex.predict(frame)
    for c, line in enumerate(ex.rules().splitlines()):
        named = {word for word in np.unique(words) if word in line.partition(": ")[2].replace(",", " ").split()}
        held = {*words[given == c]}
        assert named <= held or "neither" in line or " not " in line
        assert bw.load(path).rules().splitlines()[c] == line
    assert bw.explain(frame, given).predict(frame).tolist() == given.tolist()


def test_a_cluster_of_rows_that_lack_a_value_says_so_in_its_rule():
    rng = np.random.default_rng(0)
    works = rng.random(300) < 0.6
    frame = pd.DataFrame({"works": works * 1, "wage": np.where(works, rng.lognormal(2, 0.3, 300), np.nan)})
    ex = bw.explain(frame, n_clusters=2, forbidden=["works"])
    assert "missing" in str(ex).partition("The rules agree")[0]
    assert "Missing values count as" not in str(ex)
