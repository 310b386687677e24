"""Codes of surveys beside answers: they are asked about; and columns that were left out are named in the print."""

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import boxwood as bw
from boxwood.reference.entry import codes_apart
from tests.scale import law


@law(60)
def test_codes_of_surveys_are_told_from_answers(seed):
    rng = np.random.default_rng(seed)
    n, most = 300, int(rng.choice([2, 5, 7]))
    answers = rng.integers(1, most + 1, n).astype(float)
    answers[:most] = np.arange(1, most + 1)
    codes = [[99.0], [99.0, 98.0], [-9.0], [999.0], [9999.0], [-99.0], [88.0, -9.0]][seed % 7]
    x = answers.copy()
    for i, code in enumerate(codes):
        x[20 + 20 * i : 40 + 20 * i] = code
    x[80:90] = np.nan
    assert sorted(codes_apart(x[rng.permutation(n)])) == sorted(codes)
    measures = answers, rng.normal(50, 15, n).round(), rng.poisson(3, n), rng.lognormal(6, 1, n).round(), 9 * answers
    assert all(codes_apart(np.asarray(one, dtype=float)) == [] for one in measures)


def answers_of_groups(seed):
    """Return answers 1 to 5 of two groups, to six questions, and the group of each row."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, 300)
    middle = 1.8 + 2.4 * group
    return pd.DataFrame({f"q{i}": np.clip(np.round(rng.normal(middle, 0.7)), 1, 5) for i in range(6)}), group


def with_codes(table, seed):
    """Return answers of which some are a code, at one place or at another, perhaps beside gaps and words."""
    rng, codes = np.random.default_rng(seed), [[99], [-9], [999], [98, 99], [-9, 99], [-99]][seed % 6]
    for code in codes:
        table = table.mask(rng.random(table.shape) < 0.06 / len(codes), code)
    if seed % 3 == 1:
        table = table.mask(rng.random(table.shape) < 0.03)
    return table.assign(site=rng.choice(["north", "south"], len(table))) if seed % 2 else table


def clusters_of(ex):
    return ex._evidence.task.reference.labels


@law(8)
def test_clusters_that_are_made_lack_them_and_the_note_says_so(seed):
    table, group = answers_of_groups(seed)
    ex = bw.explain(with_codes(table, seed), method="imm")
    assert adjusted_rand_score(group, clusters_of(ex)) > 0.9
    [note] = [note for note in ex.notes if "far from all other values of" in note]
    assert note in str(ex)
    assert all(name in note for name in table.columns)
    assert note.endswith("(numbers)")


@law(4)
def test_a_column_that_is_named_a_measurement_has_none_of_them(seed):
    table = with_codes(answers_of_groups(seed)[0], seed)
    ex = bw.explain(table, method="imm", n_clusters=2, numbers=["q0"])
    assert all("q0" not in note for note in ex.notes if "far from all other values of" in note)
    assert 0 not in ex._evidence.coordinates.entry.codes


@law(4)
def test_labels_that_are_given_see_them_as_numbers(seed):
    table, group = answers_of_groups(seed)
    ex = bw.explain(with_codes(table, seed), group, method="imm")
    assert not [note for note in ex.notes if "far from all other values of" in note]


@law(8)
def test_columns_that_were_left_out_are_named_in_the_print_with_the_reason(seed):
    rng = np.random.default_rng(seed)
    n, group = 120, np.arange(120) % 2
    others = {
        "name": [f"name {i}" for i in range(n)],
        "rank": np.arange(n) + 1,
        "country": [f"c{i % 15}" for i in range(n)],
        "year": 2019 + np.arange(n) % 5,
        "customer_id": rng.permutation(n * 7)[:n],
    }
    kept = [name for name in others if rng.random() < 0.6] or ["rank"]
    measured = {"x": 6 * group + rng.normal(size=n), "y": rng.normal(size=n), "same": 7}
    ex = bw.explain(pd.DataFrame(measured | {name: others[name] for name in kept}))
    [line] = [line for line in str(ex).splitlines() if line.startswith("Left out: ")]
    told = line.removeprefix("Left out: ").removesuffix("; to use them: columns")
    why = {"country": "over 12 categories", "year": "date or time"}
    assert dict(names_and_reasons(told)) == {name: why.get(name, "identifier") for name in kept}


def names_and_reasons(told):
    """Yield each name of "a, b (why); c (why)" with its reason."""
    for part in told.split("; "):
        names, _, why = part.removesuffix(")").rpartition(" (")
        yield from ((name, why) for name in names.split(", "))
