"""First answers to plain questions, of kinds that were wrong once."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import StratifiedShuffleSplit

from boxwood import explain
from tests.scale import law


def test_classes_that_more_leaves_tell_on_unseen_rows_get_them():
    wine = load_wine(as_frame=True)
    right = []
    for seen, unseen in StratifiedShuffleSplit(4, test_size=0.3, random_state=0).split(wine.data, wine.target):
        ex = explain(wine.data.iloc[seen], wine.target.iloc[seen])
        right.append(np.mean(ex.predict(wine.data.iloc[unseen]) == wine.target.iloc[unseen]))
    assert np.mean(right) >= 0.9


@law(6)
def test_rows_that_lack_something_are_a_label_like_any_other(seed):
    rng = np.random.default_rng(seed)
    age, plan = rng.normal(40, 10, 400), rng.choice(["plus", "team"], 400).astype(object)
    age[rng.random(400) < 0.1], plan[rng.random(400) < 0.1] = np.nan, None
    table = pd.DataFrame({"age": age, "plan": plan})
    ex = explain(table, np.where(table.isna().any(axis=1), "incomplete", "complete"))
    assert (ex.agreement, ex.n_leaves <= 4) == (1.0, True)


def persons(rng, n=600):
    """Return persons of whom some smoke, which three columns tell, and what goes with nothing."""
    smokes = rng.random(n) < rng.uniform(0.3, 0.6)
    cigarettes = np.where(smokes, 1 + rng.poisson(15, n), 0)
    band = np.where(smokes, np.searchsorted([10, 15, 20, 30], cigarettes) + 1.0, np.nan)
    facts = {"cigs": cigarettes, "smoker": smokes * 1, "cigs_intervals": band}
    others = {"age": rng.integers(17, 88, n), "price": rng.normal(60, 5, n), "educ": rng.normal(12, 3, n).round()}
    return pd.DataFrame(others | facts), smokes


@law(6)
def test_the_plainest_fact_is_found_in_however_many_columns_it_is_told(seed):
    """Those who smoke little are nearer to those who do not: the clusters are cut at some ten cigarettes."""
    table, smokes = persons(np.random.default_rng(seed))
    for columns in (table, table.drop(columns="smoker"), table.drop(columns="cigs")):
        ex = explain(columns, n_clusters=2)
        assert adjusted_rand_score(smokes, ex.predict(columns)) >= 0.8


@law(4)
def test_clusters_are_the_same_in_any_order_of_rows(seed):
    rng = np.random.default_rng(seed)
    table = pd.read_csv("examples/customers.csv").drop(columns="segment")
    order = rng.permutation(len(table))
    one, other = explain(table), explain(table.iloc[order])
    assert one.rules() == other.rules()
    assert (one.predict(table)[order] == other.predict(table.iloc[order])).all()


@pytest.mark.full
def test_another_process_makes_the_same_clusters():
    ask = "import pandas as pd, boxwood; print(boxwood.explain(pd.read_csv('examples/customers.csv')).rules())"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(explain(pd.read_csv("examples/customers.csv")).rules()).strip()
