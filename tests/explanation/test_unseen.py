"""Rules that know every word: a word never seen goes where most rows went, in every form alike."""

import numpy as np
import pandas as pd

import boxwood as bw
from tests.programs import program
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
    scope = program(all_known.to_python())
    assert [scope["cluster"](row) for row in new.to_dict("records")] == expected
    new.to_parquet(tmp_path / "new.parquet")
    bw.write_labels(all_known, tmp_path / "new.parquet", tmp_path / "out.parquet")
    assert pd.read_parquet(tmp_path / "out.parquet")["cluster"].tolist() == expected


def test_rules_without_words_stay_as_they_are():
    ex = bw.explain([[1.0], [2.0], [8.0]], ["low", "low", "high"])
    assert ex.handle_unknown() is ex


def test_a_panel_is_told():
    """Countries over some years, each in one cluster of those that were made; labels have a note of their own."""
    codes, random = np.arange(240) % 24, np.random.default_rng(0)
    parted = {name: codes % 3 * 50 + random.normal(size=240) for name in "xy"}
    frame = pd.DataFrame({"country": [f"c{code}" for code in codes], **parted})
    told = (
        "all rows of each value of country are in one cluster (24 values); to learn what such values have in common, "
    )
    ex = bw.explain(frame, n_clusters=3, forbidden=["x", "y"], categories=["country"])
    assert ex.agreement == 1.0
    assert sum(note.startswith(told) for note in ex.notes) == 1


def leaks(random, n):
    """Return labels, and columns that each tell them: a number, few words, many words, and a time until the end."""
    gone = random.random(n) < 0.4
    several = random.integers(0, 5, n)
    until = pd.Timestamp("2026-01-01") + pd.to_timedelta(random.integers(0, 90, n), unit="D").to_series(index=range(n))
    columns = {
        "number": np.where(gone, 0.0, random.uniform(1, 40, n)),
        "outside": np.where(gone, random.choice([-1, 1], n) * random.uniform(2, 3, n), random.uniform(-1, 1, n)),
        "few": np.where(gone, np.array(list("abcde"))[several // 2], np.array(list("abcde"))[3 + several % 2]),
        "many": np.array([f"w{i}" for i in range(30)])[np.where(gone, several, 10 + random.integers(0, 20, n))],
        "until": until.where(gone),
    }
    return np.where(gone, "gone", "here"), columns


@law(12)
def test_a_column_that_alone_determines_given_labels_is_told(seed):
    random = np.random.default_rng(seed)
    labels, columns = leaks(random, 300)
    beside = pd.DataFrame({"x": random.normal(size=300), "word": random.choice(list("pqr"), 300)})

    def told(labels, leaves=4, **columns):
        notes = bw.explain(beside.assign(label=labels, **columns), "label", max_leaf_nodes=leaves).notes
        return [note for note in notes if "made of it?" in note]

    for name, column in columns.items():
        said = f"{name} alone determines the labels: are they made of it? (columns chooses others)"
        assert told(labels, **{name: column}) == [said]
        wrong = labels.copy()
        wrong[:12] = random.permutation(wrong[:12])
        wrong[:6] = np.where(labels[:6] == "gone", "here", "gone")
        assert told(wrong, **{name: column}) == []
    nearly = labels.copy()
    nearly[0] = "here" if labels[0] == "gone" else "gone"
    assert told(nearly, 2, number=columns["number"]) == [
        "number alone determines the labels for 99.7% of the rows: are they made of it? (columns chooses others)"
    ]
    given = bw.explain(beside.assign(number=columns["number"]), labels)
    assert "number alone determines the labels: are they made of it?" in str(given)
    assert not any("made of it" in note for note in bw.explain(pd.DataFrame({"x": columns["number"]}), labels).notes)
