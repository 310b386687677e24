"""Tables that are no rows of things: made long, or counts of combinations; asked about, or taken as weights."""

import contextlib
import itertools

import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from tests.doors import DOORS
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
    counts = rng.poisson(rng.permutation(np.geomspace(2, 90, len(frame))))  # they differ much
    return frame.assign(n=counts).sample(frac=1, random_state=seed)


@law(12)
def test_a_column_that_counts_rows_is_told(seed):
    frame = counts_of_combinations(seed)
    if len(frame) >= 12 and frame.n.nunique() > 3:
        asked = "Note: n may count rows: each row is another combination of all other columns; if it does, these rows "
        printed = str(bw.explain(frame, n_clusters=2))
        assert f"{asked}weigh so much (sample_weight)" in printed or "n (weights: how many rows)" in printed
        assert "may count rows" not in str(bw.explain(frame, n_clusters=2, sample_weight="n").notes)


def table_of_counts(seed):
    """Return how many persons of each kind there are, as R says it, and who they are, one in each row."""
    rng = np.random.default_rng(seed)
    kinds = {f"c{j}": [*"abcd"][: int(rng.integers(2, 5))] for j in range(3)} | {"c3": [0, 1]}
    cells = pd.DataFrame(itertools.product(*kinds.values()), columns=[*kinds])
    n = rng.poisson(20 * rng.exponential(size=len(cells)))
    return cells.assign(n=n), cells.loc[cells.index.repeat(n)].reset_index(drop=True)


@law(8)
@pytest.mark.parametrize("door", ["pandas", "CSV"])
def test_counts_of_all_combinations_of_words_are_weights(door, seed, tmp_path):
    counts, persons = table_of_counts(seed)
    with contextlib.chdir(tmp_path):
        ex = DOORS[door].explain(counts, None, n_clusters=2)
    told = [names for reason, names in ex.provenance.left_out if reason.startswith("counts the rows")]
    assert told == [("n",)]
    assert sum(one.size for one in ex.clusters) == len(persons)
    assert ex.rules() == bw.explain(counts, n_clusters=2, sample_weight="n").rules()
    assert np.average(ex.predict(counts.drop(columns="n")) == 0, weights=counts.n) == np.mean(ex.predict(persons) == 0)
    assert "n" in bw.explain(counts, n_clusters=2, columns=[*counts]).columns, "columns brings it in as a number"


@law(8)
def test_outcomes_of_a_plan_and_of_persons_are_no_weights(seed):
    rng = np.random.default_rng(seed)
    counts, persons = table_of_counts(seed)
    yields = counts.assign(n=rng.poisson(100, len(counts)))
    doses = counts.assign(dose=np.arange(len(counts)) % 7)
    for table in (yields, doses, persons.assign(n=rng.poisson(9, len(persons)))):
        assert "n" not in {name for _, names in bw.explain(table, n_clusters=2).provenance.left_out for name in names}


@law(12)
def test_what_a_plan_measures_counts_no_rows(seed):
    """Yields differ little, and doses are no categories, whatever whole numbers are measured."""
    rng = np.random.default_rng(seed)
    frame = counts_of_combinations(seed)
    mean = rng.uniform(20, 900)
    yields = frame.assign(n=rng.normal(mean, rng.uniform(0.05, 0.3) * mean, len(frame)).round())
    doses = frame.assign(c0=frame["c0"] ** 2 * 10 + 5, c1=frame["c1"].map({a: 10**i for i, a in enumerate("abcdef")}))
    tables = [yields, *[doses] * any(doses[name].nunique() > 2 for name in ("c0", "c1"))]
    for table in tables:
        ex = bw.explain(table, n_clusters=2)
        assert "may count rows" not in str(ex.notes)
        assert "n" not in {name for _, names in ex.provenance.left_out for name in names}


@law(12)
def test_rows_that_come_again_or_hold_few_combinations_count_nothing(seed):
    rng = np.random.default_rng(seed)
    frame = counts_of_combinations(seed, share=0.5)
    again = frame.sample(2 * len(frame), replace=True, random_state=seed)
    measured = counts_of_combinations(seed).assign(n=lambda table: rng.normal(size=len(table)))
    for table in (frame, again, measured):
        if len(table) >= 12:
            assert "may count rows" not in str(bw.explain(table, n_clusters=2).notes)
