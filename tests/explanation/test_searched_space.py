"""What no tree of a search does better, no rules do: every tree of thresholds and of sets of values is tried."""

import warnings

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
)

import boxwood as bw
from tests import naive
from tests.scale import law, seeds, share

WORDS = (
    lambda rng: OneHotEncoder(sparse_output=False),
    lambda rng: OneHotEncoder(drop="first", sparse_output=False),
    lambda rng: OneHotEncoder(min_frequency=2, sparse_output=False, handle_unknown="infrequent_if_exist"),
    lambda rng: OrdinalEncoder(),
    lambda rng: make_pipeline(OrdinalEncoder(), StandardScaler()),
)
NUMBERS = (
    lambda rng: "passthrough",
    lambda rng: make_pipeline(StandardScaler(), MinMaxScaler()),
    lambda rng: QuantileTransformer(n_quantiles=4),
    lambda rng: KBinsDiscretizer(2 + rng.integers(3), encode="ordinal", strategy="uniform", subsample=None),
    lambda rng: KBinsDiscretizer(2 + rng.integers(3), encode="onehot-dense", strategy="uniform", subsample=None),
    lambda rng: OneHotEncoder(sparse_output=False),
    lambda rng: FunctionTransformer(np.sign),
)


class Case:
    """A small frame of words and numbers, a pipeline with a step for each kind, and the parameters of a call."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        n, values = int(rng.integers(8, 13)), int(rng.integers(2, 6))
        self.frame = pd.DataFrame(
            {"word": rng.choice(list("abcde")[:values], n), "number": rng.integers(-3, 4, n) * 1.0}
        )
        if rng.random() < 0.3:
            self.frame["other"] = np.round(3 * rng.normal(size=n), 1)
        steps = [(rng.choice(WORDS)(rng), ["word"]), (rng.choice(NUMBERS)(rng), ["number"])]
        rest = {} if "other" not in self.frame or rng.random() < 0.3 else {"remainder": "passthrough"}
        clusterer = KMeans(int(rng.integers(2, 4)), n_init=1, random_state=seed)
        self.pipeline = make_pipeline(make_column_transformer(*steps, **rest), clusterer)
        self.how = {
            "objective": str(rng.choice(["auto", "cost", "agreement"])),
            "standardize": bool(rng.random() < 0.2),
        }
        self.how["forbidden"] = [["word"], ["number"], []][rng.integers(3)]

    def explained(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.pipeline.fit(self.frame)
            ex = bw.explain(self.frame, self.pipeline, **self.how)
        columns = self.pipeline[:-1].transform(self.frame)
        if self.how["standardize"]:
            columns = StandardScaler().fit_transform(columns)
        labels = self.pipeline.predict(self.frame)
        return ex, columns, labels

    def least(self, leaves, leaf_cost):
        """Return the least cost of a tree of so many leaves that cuts no forbidden column."""
        columns = {name: self.frame[name].tolist() for name in self.frame if name not in self.how["forbidden"]}
        return naive.optimal_cost_by_sets(columns, leaves, leaf_cost)


def mistakes_of(labels, rows):
    return len(rows) - np.bincount(labels[rows]).max()


def proved(seed):
    """Return which of the two gaps a call tells, and check them against all trees."""
    case, told = Case(seed), []
    try:
        ex, columns, labels = case.explained()
    except bw.errors.DataError:
        return told
    n, search = len(labels), ex.search_report
    if search.agreement_gap is not None:
        told.append("agreement")
        fewest = case.least(ex.n_leaves, lambda rows: mistakes_of(labels, rows))
        assert (1 - fewest / n) - ex.agreement <= search.agreement_gap + 1e-9, f"seed {seed}: {ex}"
    if search.gap is not None:
        told.append("cost")
        least = case.least(ex.n_leaves, lambda rows: naive.spread(columns, np.ones(n), rows))
        assert ex.cost * (1 - search.gap) <= least * (1 + 1e-9) + 1e-9, f"seed {seed}: {ex}"
    return told


@law(12)
def test_no_tree_of_sets_exceeds_a_gap_behind_encoders(seed):
    proved(seed)


def test_gaps_are_told_where_encoders_leave_no_set_out():
    told = [each for seed in seeds(40, first=1000, least=20) for each in proved(seed)]
    assert told.count("agreement") >= share(4)
    assert told.count("cost") >= share(2)


def test_sets_of_words_are_found_behind_an_encoder():
    frame = pd.DataFrame({"n": [0.0] * 4 + [10.0] * 4 + [20.0] * 2, "c": list("aabbcceedd")})
    steps = make_column_transformer((OneHotEncoder(sparse_output=False), ["c"]), ("passthrough", ["n"]))
    clusterer = make_pipeline(steps, KMeans(3, n_init=10, random_state=0))
    for objective in ("agreement", "cost", "auto"):
        ex = bw.explain(frame, clusterer, objective=objective, forbidden=["n"])
        assert all(rule in str(ex) for rule in ("c is a or b", "c is c or e", "c is d"))
        assert ex.cost == ex.reference_cost
