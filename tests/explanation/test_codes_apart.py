"""Codes of surveys beside answers: they are asked about; and columns that were left out are named in the print."""

import numpy as np
import pandas as pd

import boxwood as bw
from boxwood.explanation.ask.outcome import codes_apart
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


def test_they_are_asked_about_first():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 600)
    table = pd.DataFrame({f"q{i}": np.clip(np.round(rng.normal(1.8 + 2.4 * group, 0.7)), 1, 5) for i in range(6)})
    table = table.mask(rng.random(table.shape) < 0.06, 99)
    assert "Note: 99 is far from all other values of q" in str(bw.explain(table))


@law(8)
def test_columns_that_were_left_out_are_named_in_the_print(seed):
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
    assert sorted(line.removeprefix("Left out: ").removesuffix(" (columns)").split(", ")) == sorted(kept)
