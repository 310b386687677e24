"""Words to speak of clusters that boxwood made: true of most of the cluster, and of no other one."""

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


def is_true(word, frame):
    """Return of which rows a word of a name is true, by pandas."""
    head, _, tail = word.partition(" ")
    if head in ("high", "low", "late", "early"):
        x = frame[tail].where(frame[tail].notna())
        return x > x.median() if head in ("high", "late") else x < x.median()
    if head == "not":
        return ~frame[tail]
    if "=" in word:
        return frame[head] == int(word[-1])
    return frame[head] == tail if tail else frame[head]


@law(16)
def test_they_are_true_of_most_of_the_cluster_and_of_no_other(seed):
    frame = table_of(seed)
    weights = np.random.default_rng(seed).integers(1, 4, 240) if seed % 3 == 0 else np.ones(240)
    ex = bw.explain(frame, n_clusters=3, method="imm", columns=[*frame], sample_weight=weights)
    names, labels = spoken_names(ex), ex._evidence.task.reference.labels
    assert names, "groups as plain as these have names"
    for c, name in names.items():
        true = np.logical_and.reduce([is_true(word, frame).to_numpy() for word in name.split(", ")])
        share = [np.average(true[labels == other], weights=weights[labels == other]) for other in range(3)]
        assert share[c] >= MOST
        assert max(share[other] for other in range(3) if other != c) < HALF
        assert f"cluster {c} · {name}" in str(ex)
        assert "missing" not in name
    assert ex.names == (0, 1, 2)
    assert "·" not in ex.to_sql() + ex.to_python()


def test_labels_and_named_clusters_keep_their_names():
    frame = table_of(1)
    ex = bw.explain(frame, n_clusters=3, method="imm")
    named = ex.rename({c: f"group {c}" for c in range(3)})
    assert spoken_names(named) == {}
    assert spoken_names(bw.explain(frame, ex.predict(frame))) == {}
