"""The sentence on columns that rules do not test: in which of them clusters that boxwood made differ, or in none."""

import re

import numpy as np
import pandas as pd

import boxwood as bw
from tests.scale import law


def told(ex):
    """Return the line on other columns, empty without one."""
    lines = [line for line in str(ex).splitlines() if line.startswith(("Besides, ", "Nothing but "))]
    assert len(lines) <= 1
    return "".join(lines)


def apart(x, own):
    """Return how far the mean of some rows is from that of the others, in standard deviations of all."""
    return (x[own].mean() - x[~own].mean()) / x.std()


def together(x, own):
    """Return the correlation of numbers with whether rows are of a cluster; 0 if its mean does not stand out."""
    return abs(np.corrcoef(x, own)[0, 1]) * (abs(apart(x, own)) >= 0.5)


def table_of(seed):
    """Return a table of which one column makes three groups, and others go with it, or not."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, 300)
    columns = {"age": 20.0 * group + rng.normal(size=300)}
    for i in range(5):
        columns[f"x{i}"] = rng.choice([0, 0.5, 2]) * rng.permutation(3)[group] + rng.normal(size=300)
    columns["kind"] = np.where(rng.random(300) < rng.choice([0.4, 0.9]), np.array(list("abc"))[group], "a")
    return pd.DataFrame(columns)


@law(16)
def test_it_tells_of_the_columns_that_differ_most(seed):
    frame = table_of(seed)
    ex = bw.explain(frame, n_clusters=3, method="imm")
    labels = ex._evidence.task.reference.labels
    tested = {ex.columns[j] for j in ex.tree.features}
    numbers = [name for name in frame.columns.drop("kind") if name not in tested]
    most = {name: max(together(frame[name], labels == c) for c in range(3)) for name in numbers}
    said = told(ex)
    found = re.findall(r"(higher|lower) (\w+)", said)
    for how, name in found:
        c = int(re.findall(r"cluster (\d)", said[: said.index(f"{how} {name}")])[-1])
        differs = apart(frame[name], labels == c)
        assert name not in tested
        assert abs(differs) >= 0.5
        assert (differs > 0) == (how == "higher")
        assert np.isclose(together(frame[name], labels == c), most[name])
    n_told = len(re.findall("higher|lower|mostly|often", said))
    assert n_told <= 3
    left = [name for name in numbers if name not in dict(map(reversed, found)) and most[name]]
    assert not left or n_told == 3
    assert not left or not found or max(most[name] for name in left) <= min(most[name] for _, name in found)
    assert said.startswith("Nothing but ") == (n_told == 0)


@law(8)
def test_nothing_but_the_column_of_the_rules(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": np.r_[rng.normal(20, 1, 150), rng.normal(60, 1, 150)], "iq": rng.normal(100, 15, 300)})
    assert told(bw.explain(frame, n_clusters=2)) == (
        "Nothing but age differs much between the clusters: no other column by half a standard deviation."
    )
    assert told(bw.explain(frame[["age"]], n_clusters=2)) == "", "there is no other column"


def test_labels_that_are_given_and_clusters_that_are_named():
    frame = table_of(3)
    ex = bw.explain(frame, n_clusters=3)
    assert told(bw.explain(frame, ex.predict(frame))) == ""
    names = {c: f"group {c}" for c in range(3)}
    assert told(ex) != ""
    assert told(ex.rename(names)) == re.sub(r"cluster (\d)", r"group \1", told(ex))


def test_printing_changes_no_model_file(tmp_path):
    ex = bw.explain(table_of(1), n_clusters=3)
    ex.save(tmp_path / "before.json")
    assert told(ex) != ""
    ex.save(tmp_path / "after.json")
    assert (tmp_path / "after.json").read_text() == (tmp_path / "before.json").read_text()
