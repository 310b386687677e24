"""Tables made long: a column of words that names quantities beside columns of their values is asked about."""

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
