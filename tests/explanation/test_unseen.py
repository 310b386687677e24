"""Rules that know every word: a word never seen goes where most rows went, in every form alike."""

import numpy as np
import pandas as pd

import boxwood as bw
from tests.scale import law

WORDS = np.array(list("abcdefgh"))


def customers(rng: np.random.Generator, n: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    """Return two columns of words, one with gaps, and one of numbers; labels depend on all of them."""
    codes, others, x = rng.integers(0, 8, n), rng.integers(0, 4, n), rng.integers(0, 9, n)
    labels = np.array(["in", "on", "at"])[(codes // 3 + (others > 1) * (x > 4)) % 3]
    frame = pd.DataFrame({"word": WORDS[codes], "other": WORDS[others], "x": x.astype(float)})
    frame["other"] = frame["other"].where(rng.random(n) > 0.1, None)
    return frame, labels


def by_majority(ex: bw.Explanation, codes: np.ndarray, seen: np.ndarray) -> object:
    """Return the cluster of a row of codes, NaN for a word never seen, by the rows that were seen at each cut."""
    tree, node = ex.tree, 0
    while tree.feature[node] >= 0:
        j = tree.feature[node]
        inside = tree.is_inside(node, seen[:, j])
        goes_first = inside.sum() * 2 >= len(seen) if np.isnan(codes[j]) else tree.is_inside(node, codes[j : j + 1])[0]
        seen, node = (seen[inside], node + 1) if goes_first else (seen[~inside], int(tree.second[node]))
    return ex.names[tree.cluster[node]]


@law(6)
def test_a_word_never_seen_goes_where_most_rows_went_in_every_form(seed, tmp_path):
    rng = np.random.default_rng(seed)
    frame, labels = customers(rng)
    ex = bw.explain(frame, labels, max_leaf_nodes=int(rng.integers(3, 9)))
    all_known = ex.handle_unknown("majority")
    assert (all_known.predict(frame) == ex.predict(frame)).all()
    new = frame.copy()
    for name in ("word", "other"):
        new[name] = new[name].where(rng.random(len(new)) > 0.4, "new")
    coded = {j: known.codes(new[ex.columns[j]].tolist()) for j, known in ex._coded_columns.items()}
    codes = np.column_stack([coded.get(j, new["x"].to_numpy()) for j in range(3)])
    expected = [by_majority(ex, row, ex._rows().coordinates.table.values) for row in codes]
    assert all_known.predict(new).tolist() == expected
    all_known.save(tmp_path / "m.json")
    assert bw.load(tmp_path / "m.json").predict(new).tolist() == expected
    scope = {}
    exec(all_known.to_python(), scope)
    assert [scope["cluster"](row) for row in new.to_dict("records")] == expected
    new.to_parquet(tmp_path / "new.parquet")
    bw.write_labels(all_known, tmp_path / "new.parquet", tmp_path / "out.parquet")
    assert pd.read_parquet(tmp_path / "out.parquet")["cluster"].tolist() == expected


def test_rules_without_words_stay_as_they_are():
    ex = bw.explain([[1.0], [2.0], [8.0]], ["low", "low", "high"])
    assert ex.handle_unknown() is ex


def test_a_panel_is_told():
    """Countries over some years, each in one region; not if one row is elsewhere, nor if no rule asks for countries."""
    codes = np.arange(240) % 24
    frame = pd.DataFrame({"country": [f"c{code}" for code in codes], "year": np.arange(240.0) // 24})
    told = "all rows of each value of country are in one cluster (24 values)"

    def tells(table, labels):
        return sum(note.startswith(told) for note in bw.explain(table, labels, max_leaf_nodes=3).notes)

    labels = np.array(["north", "south", "west"])[codes % 3]
    assert tells(frame, labels) == 1
    assert "are the labels made of it, or it of them?" in str(bw.explain(frame, labels, max_leaf_nodes=3))
    nearly = labels.copy()
    nearly[0] = "south"
    assert tells(frame, nearly) == 0
    assert tells(frame, np.where(frame["year"] > 4, "old", "new")) == 0
