"""Tables that are no rows of things: made long, or counts of combinations; they are asked about."""

import itertools

import numpy as np
import pandas as pd

import boxwood as bw
from tests.scale import law


def says_long(frame, **how):
    return [note for note in bw.explain(frame, method="imm", **how).notes if "is this table long?" in note]


def wide_table(seed):
    rng = np.random.default_rng(seed)
    n, names = int(rng.integers(25, 60)), ["population", "gdp", "growth", "area", "rate"][: int(rng.integers(2, 6))]
    sizes = rng.permutation(5)[: len(names)] * 2
    columns = {name: np.exp(rng.normal(0, 0.6, n)) * 10.0**size for name, size in zip(names, sizes, strict=True)}
    return pd.DataFrame({"country": [f"c{i}" for i in range(n)], "year": 2000 + np.arange(n) % 5} | columns)


@law(8)
def test_the_column_that_names_quantities_is_told_in_any_order_of_rows(seed):
    wide = wide_table(seed)
    rng, which = np.random.default_rng(seed), ["country", "year"]
    long = wide.melt(which, var_name="indicator")
    if seed % 2:
        long = long.assign(later=long.value * rng.uniform(0.8, 1.2, len(long)))
    if seed % 3 == 0:
        long.loc[rng.choice(len(long), 5, replace=False), "value"] = np.nan
    long = long.sample(frac=1, random_state=seed)
    [note] = says_long(long)
    assert note.startswith(f"indicator names {len(wide.columns) - 2} quantities, each in {len(wide)} rows")
    assert says_long(long, n_clusters=2) == [note]


@law(8)
def test_wide_tables_groups_and_experiments_are_no_long_ones(seed):
    rng = np.random.default_rng(seed)
    assert not says_long(wide_table(seed), n_clusters=2)
    plan = rng.choice(["free", "plus", "team"], 150)
    spent = np.exp(rng.normal(size=150)) * pd.Series(plan).map({"free": 1, "plus": 30, "team": 900}).to_numpy()
    assert len({*np.unique(plan, return_counts=True)[1]}) == 1 or not says_long(
        pd.DataFrame({"plan": plan, "spent": spent}), n_clusters=3
    )
    treatment = np.repeat(["a", "b", "c"], 40)
    yields = rng.normal(20 + 5 * (treatment == "b"), 3)
    assert not says_long(pd.DataFrame({"treatment": treatment, "yield": yields}), n_clusters=2)


def counts_of_combinations(seed, share=1.0):
    """Return a table of counts: a row for nearly each combination of some categories and numbers of few values."""
    rng = np.random.default_rng(seed)
    n_values = [int(n) for n in rng.integers(2, 6, int(rng.integers(2, 5)))]
    cells = [cell for cell in itertools.product(*map(range, n_values)) if rng.random() < share]
    frame = pd.DataFrame(cells, columns=[f"c{j}" for j in range(len(n_values))])
    for j in range(1, len(n_values)):
        frame[f"c{j}"] = frame[f"c{j}"].map(dict(enumerate("abcdef")))
    return frame.assign(n=rng.poisson(rng.uniform(3, 60, len(frame)))).sample(frac=1, random_state=seed)


@law(12)
def test_a_column_that_counts_rows_is_told(seed):
    frame = counts_of_combinations(seed)
    if len(frame) >= 12 and frame.n.nunique() > 3:
        asked = "Note: n may count rows: each row is another combination of all other columns; if it does, these rows "
        assert f"{asked}weigh so much (sample_weight)" in str(bw.explain(frame, n_clusters=2))
        assert "may count rows" not in str(bw.explain(frame, n_clusters=2, sample_weight="n").notes)


@law(12)
def test_rows_that_come_again_or_hold_few_combinations_count_nothing(seed):
    rng = np.random.default_rng(seed)
    frame = counts_of_combinations(seed, share=0.5)
    again = frame.sample(2 * len(frame), replace=True, random_state=seed)
    measured = counts_of_combinations(seed).assign(n=lambda table: rng.normal(size=len(table)))
    for table in (frame, again, measured):
        if len(table) >= 12:
            assert "may count rows" not in str(bw.explain(table, n_clusters=2).notes)
