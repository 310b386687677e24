"""Labels that are values of a column are said as such, and labels in order are told."""

import numpy as np
import pandas as pd

import boxwood as bw
from tests.scale import law

VALUES = [[1, 2, 3], [0, 1], [10, 20, 30, 40], [0.5, 2.5, 7.0], [True, False], [-1.5, 3], [2019, 2020, 2021]]


def table_of(seed, values):
    rng = np.random.default_rng(seed)
    place = rng.integers(0, len(values), 200)
    x = place + rng.normal(0, 0.2, 200)
    return pd.DataFrame({"age": x, "other": rng.normal(size=200), "Income": np.array(values)[place]})


@law(14)
def test_values_are_said_by_their_column_where_people_read(seed):
    values = VALUES[seed % len(VALUES)]
    ex = bw.explain(table_of(seed, values), "Income", method="imm")
    said = [f"Income = {value}" for value in ex.names]
    assert all(name in text for name in said for text in (str(ex), ex.rules(), ex.to_html()))
    assert "cluster 1" not in str(ex)
    assert sorted(ex.names) == sorted(values)
    assert {*ex.predict(table_of(seed, values))} <= {*values}


def test_numbers_of_clusters_stay_clusters():
    frame = table_of(0, [0, 1, 2]).rename(columns={"Income": "my_clusters"})
    assert "cluster 1 " in str(bw.explain(frame, "my_clusters", method="imm"))


def says_order(labels, x):
    ex = bw.explain(x, labels, method="cart")
    return [note for note in ex.notes if "seem to be in order" in note]


@law(6)
def test_labels_in_order_are_told_by_their_mistakes_and_others_are_not(seed):
    rng = np.random.default_rng(seed)
    k, x = int(rng.integers(4, 8)), rng.normal(size=(500, 2))
    place = np.searchsorted(np.linspace(-1.2, 1.2, k - 1), x[:, 0] + rng.normal(0, 0.4, 500))
    names = np.array([*range(1, k + 1)] if seed % 2 else [10.0 * 2**i for i in range(k)])
    assert len(says_order(names[place], x)) == 1
    assert not says_order(rng.permutation(names)[rng.integers(0, k, 500)], x)
    assert not says_order(np.array([*"qwertyu"])[place], x)
