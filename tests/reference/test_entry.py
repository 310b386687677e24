"""How columns enter clusters that boxwood makes: no column and no few rows decide, and each thing counts once."""

import copy
import pickle

import numpy as np
import pytest

from boxwood.axes import Tails
from boxwood.axes.categories import Categories
from boxwood.reference.entry import FAINT, FEW, HEAVY, TIMES, WIDE, Entry, absent_in, repeated_in
from tests.scale import draws, law


def share_of_farthest(x):
    """Return the share of the variance that the hundredth of the rows farthest from the mean has, row by row."""
    away = np.sort(np.square(x - x.mean()))[::-1]
    whole, n = away.sum(), len(x) / 100
    return (away[: int(n)].sum() + away[int(n)] * (n - int(n))) / whole


def random_column(rng, n=300):
    kind = rng.integers(7)
    x = [
        lambda: rng.normal(size=n),
        lambda: np.exp(rng.normal(size=n) * rng.uniform(0.3, 2.0)),
        lambda: rng.standard_t(2, size=n),
        lambda: np.where(rng.random(n) < 0.7, 0.0, rng.exponential(size=n)),
        lambda: rng.integers(0, 4, n).astype(float),
        lambda: (rng.random(n) < 0.03) * 1.0,
        lambda: np.full(n, 3.0),
    ][kind]()
    return x * 10.0 ** rng.integers(-12, 12) + rng.integers(-1, 2) * 10.0 ** rng.integers(-3, 6)


@law(60)
def test_a_tail_is_drawn_in_if_it_is_longer_than_that_of_an_exponential_distribution(seed):
    x = random_column(np.random.default_rng(seed))
    entry = Entry.of(x[:, None])
    is_long = len(np.unique(x)) > 2 and share_of_farthest(x) > HEAVY
    low, high = np.quantile(x, [0.25, 0.75], method="inverted_cdf")
    by_ratios = x.min() >= 0 and 0 < TIMES * low < high
    assert entry.tails is not None if is_long else entry.tails is None or by_ratios


@law(60)
def test_groups_of_sizes_far_apart_are_seen_by_their_ratios(seed):
    rng = np.random.default_rng(seed)
    size = 10.0 ** np.arange(1, 4)[rng.integers(0, 3, 300)]
    assert Entry.of((size * np.exp(rng.normal(size=300) * 0.4))[:, None]).tails.drawn_in == (0,)


@law(30)
def test_doses_count_by_their_ratios_and_other_steps_by_their_differences(seed):
    rng = np.random.default_rng(seed)
    doses = [[1, 3, 10, 30], [0, 10, 20, 40, 80, 160], [0.085, 0.34, 0.69, 1.38, 2.75], [1, 2, 5, 10, 20, 50]][seed % 4]
    x = rng.choice(np.array(doses, dtype=float), 300) * 10.0 ** rng.integers(-3, 4)
    entry, there = Entry.of(x[:, None]), np.unique(x[x > 0])
    steps = np.diff(entry.entered(there[:, None])[:, 0])
    assert entry.tails.drawn_in == (0,)
    assert steps.max() < 2.5 * steps.min()
    others = [np.arange(1, 9), np.arange(0, 30, 3), [18, 25, 35, 50], [1, 2, 3, 4, 5, 10]][seed % 4]
    assert Entry.of(rng.choice(np.array(others, dtype=float), 300)[:, None]).tails is None


@law(60)
def test_every_column_of_numbers_gets_the_same_range_but_for_the_outermost_rows(seed):
    x = random_column(np.random.default_rng(seed))
    entry = Entry.of(x[:, None])
    there = entry.entered(x[:, None])[:, 0] * entry.scales[0]
    inner = np.ptp(np.quantile(there, [FEW, 1 - FEW], method="inverted_cdf"))
    n = len(np.unique(x))
    if n == 2:
        assert np.ptp(there) == pytest.approx(np.sqrt(2), rel=1e-6)
    elif n > 2:
        assert inner == pytest.approx(WIDE, rel=1e-6) or (inner == 0 and np.ptp(there) == pytest.approx(WIDE, rel=1e-6))


@law(30)
def test_whole_weights_count_like_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    x, times = random_column(rng), rng.integers(0, 4, 300)
    one, other = Entry.of(x[:, None], (), times.astype(float)), Entry.of(np.repeat(x, times)[:, None])
    assert one.scales == pytest.approx(other.scales, rel=1e-9)
    assert (one.tails is None) == (other.tails is None)
    if one.tails is not None:
        assert one.tails.middle == other.tails.middle
        assert one.tails.spread == pytest.approx(other.tails.spread, rel=1e-9)


def test_the_tail_of_an_exponential_distribution_stays_and_that_of_a_lognormal_is_drawn_in():
    quantiles = (np.arange(20_000) + 0.5) / 20_000
    exponential = -np.log1p(-quantiles)
    assert Entry.of(exponential[:, None]).tails is None
    assert Entry.of(np.exp(exponential)[:, None]).tails.drawn_in == (0,)


@law(30)
def test_the_map_of_tails_is_pulled_back_to_the_rows_on_the_same_side(seed):
    rng = np.random.default_rng(seed)
    x = np.unique(np.concatenate([rng.normal(size=40), 10.0 ** rng.uniform(-12, 12, 20), [0.0]]))
    tails = Tails(np.array([np.median(x)]), np.array([10.0 ** rng.uniform(-3, 3)]))
    images = tails.transform(x[:, None])[:, 0]
    for threshold in rng.choice(images, draws(10)):
        _, [(low, high)] = tails.pull_back(0, -np.inf, threshold)
        assert (((low <= x) & (x <= high)) == (images <= threshold)).all()


@law(30)
def test_codes_are_where_a_typical_row_is_and_are_pulled_back_as_they_enter(seed):
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.integers(1, 6, 40).astype(float), [[-9.0], [99.0], [98.0, 99.0], [-99.0, 999.0]][seed % 4]])
    ends = np.array([[-9.0 if x.min() < 0 else -np.inf], [98.0 if x.max() > 5 else np.inf]])
    tails = Tails(np.array([1.0]), np.array([[np.inf, 2.0][seed % 2]]), ends, np.array([3.0]))
    images = tails.transform(x[:, None])[:, 0]
    assert (images[40:] == tails.transform([[3.0]])[0, 0]).all()
    for low, high in np.sort(rng.choice(np.r_[images, -np.inf, np.inf], (draws(10), 2))).tolist():
        _, pieces = tails.pull_back(0, low, high)
        inside = np.logical_or.reduce([(a <= x) & (x <= b) for a, b in pieces]) if pieces else np.zeros(len(x), bool)
        assert (inside == ((low <= images) & (images <= high))).all()


def test_missing_numbers_stay_missing_and_columns_without_a_tail_as_they_are():
    table = np.column_stack([np.arange(5.0), [np.nan, 1, 2, 3, np.inf]])
    tails = Tails(np.zeros(2), np.array([np.inf, 1.0]))
    found = tails.transform(table)
    assert (found[:, 0] == table[:, 0]).all()
    assert np.isnan(found[0, 1])
    assert found[4, 1] == np.inf
    assert (tails.column(0), tails.column(1).drawn_in) == (None, (0,))


@law(20)
def test_one_hot_columns_are_as_far_apart_as_codes(seed):
    rng = np.random.default_rng(seed)
    codes, x = rng.integers(0, 4, 50), rng.normal(size=50)
    x[rng.random(50) < 0.1] = np.nan
    table, words = np.column_stack([codes, x]), {0: Categories(tuple("abcd"), others=False)}
    entry = Entry.of(np.where(np.isnan(table), np.inf, table), words)
    rows, blocks = entry.one_hot(table, words)
    assert [len(block) for block in blocks] == [4, 1]
    apart = np.square(rows[:, None, :4] - rows[None, :, :4]).sum(axis=-1)
    assert apart == pytest.approx(2.0 * (codes[:, None] != codes[None, :]))
    assert not np.isnan(rows).any()


# ----------------------------------------------------------------------------------------- what is said more than once
def said_twice(table, categories=()):
    found = repeated_in(table, categories)
    return {frozenset(group) for group in found.groups}


@law(30)
def test_copies_in_other_units_and_dummies_are_found_and_independent_columns_are_not(seed):
    rng = np.random.default_rng(seed)
    n = 400
    x, word, year = rng.normal(size=n), rng.integers(0, 5, n), rng.integers(1990, 1996, n)
    dummies = np.eye(5)[word]
    table = np.column_stack(
        [x, rng.normal(size=n), -np.exp(x), dummies, rng.random(n), year, year < 1992, rng.random(n) < 0.1]
    )
    assert said_twice(table) == {frozenset({0, 2}), frozenset(range(3, 8)), frozenset({9, 10})}


def test_each_thing_counts_once():
    rng = np.random.default_rng(0)
    n = 500
    x, word = rng.normal(size=n), rng.integers(0, 4, n)
    several = Entry.of(np.column_stack([x, 2 * x, 3 * x, np.exp(x / 2)]))
    there = several.entered(np.column_stack([x, 2 * x, 3 * x, np.exp(x / 2)])) * several.scales
    assert there.var(axis=0).sum() == pytest.approx((x * Entry.of(x[:, None]).scales).var(), rel=0.2)
    flags = np.column_stack([np.eye(4)[word], word])
    entry = Entry.of(flags, {4: None})
    assert (entry.scales[:4] <= np.sqrt(2) * FAINT).all()  # the word decides them
    assert entry.scales[4] == 1
    alone = Entry.of(flags[:, :4])
    assert ((flags[:, :4] * alone.scales).var(axis=0).sum()) == pytest.approx(np.eye(4)[word].var(axis=0).sum())


@law(30)
def test_copies_count_once_in_any_order_of_rows_and_columns(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(200, 900)), int(rng.integers(2, 6))
    table = rng.normal(size=(n, 4))
    copies = table[:, :1] * rng.choice([-3.0, 0.1, 40.0], m) + rng.normal(size=(n, m)) * 1e-3
    entry = Entry.of(np.column_stack([table, copies]))
    assert entry.repeated.alike == ((0, *range(4, 4 + m)),)
    counted = np.square(entry.scales)
    alone = np.square([Entry.of(x[:, None]).scales[0] for x in np.column_stack([table, copies]).T])
    assert counted[1:4] == pytest.approx(alone[1:4])
    assert (counted / alone).sum() - 3 == pytest.approx(1.0)
    columns, rows = rng.permutation(4 + m), rng.permutation(n)
    again = Entry.of(np.column_stack([table, copies])[rows][:, columns])
    assert again.scales == pytest.approx(entry.scales[columns])


@law(20)
def test_gaps_in_the_same_rows_make_columns_no_more_alike(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(500, 4))
    table[rng.random(500) < 0.5] = np.inf
    table[:, 3] = np.where(rng.random(500) < 0.5, table[:, 3], np.inf)
    assert said_twice(table) == set()
    table[:, 1] = 3 - table[:, 0]
    assert said_twice(table) == {frozenset({0, 1})}


@law(20)
def test_two_words_and_a_flag_that_say_the_same_count_once(seed):
    rng = np.random.default_rng(seed)
    flag, lacks = rng.random(400) < rng.uniform(0.1, 0.9), rng.random(400) < rng.choice([0.0, 0.05])
    table = np.column_stack([flag, 1 - flag, flag + 3.0, rng.random(400) < 0.4, rng.normal(size=400)])
    table[lacks, :3] = np.inf
    for categories in ({1}, {0, 1}, {0, 1, 2}, {1, 3}):
        assert said_twice(table, categories) == {frozenset({0, 1, 2})}


@law(20)
def test_the_order_of_rows_does_not_matter_much_and_nothing_fails_on_odd_columns(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    table = np.column_stack([random_column(rng, n) for _ in range(4)])
    table[rng.random(table.shape) < 0.1] = np.inf
    entry = Entry.of(table)
    assert np.isfinite(entry.scales).all()
    assert (entry.scales > 0).all()


def smokers(seed):
    """Return who smokes how much, with a flag, bands that others lack, and columns that go with nothing."""
    rng = np.random.default_rng(seed)
    n, smoke = 300, rng.random(300) < rng.uniform(0.2, 0.7)
    amount = np.where(smoke, 1 + rng.poisson(12, n), 0).astype(float)
    band = np.where(smoke, np.ceil(amount / 2), np.inf)
    return smoke, np.column_stack([smoke, amount, band, rng.normal(size=(n, 3))])


@law(20)
def test_words_that_are_ranges_of_a_number_count_once(seed):
    rng = np.random.default_rng(seed)
    n, n_bands = 400, int(rng.integers(3, 7))
    age = rng.integers(18, 90, n).astype(float) if seed % 2 else rng.normal(50, 9, n)
    band = np.searchsorted(np.quantile(age, np.arange(1, n_bands) / n_bands), age)
    order = rng.permutation(n_bands)  # of the words
    table = np.column_stack([rng.normal(size=n), age, order[band], rng.integers(0, 4, n)])
    assert repeated_in(table, (2, 3)).decided == {2: 1}
    scales = Entry.of(table, (2, 3)).scales
    assert scales[2] < 0.01 < scales[[0, 1, 3]].min()
    table[np.argmin(age), 2] = order[-1]
    assert repeated_in(table, (2, 3)).decided == {}


@law(20)
def test_what_another_column_of_few_values_decides_counts_once(seed):
    """Flags that lack values, coarser words, codes in another order, and ranges: each follows from one column."""
    rng = np.random.default_rng(seed)
    n, n_words = 400, int(rng.integers(4, 9))
    word, amount = rng.integers(0, n_words, n), rng.poisson(6, n)
    n_kinds = int(rng.integers(2, n_words))
    coarser = rng.permutation(np.arange(n_words) % n_kinds)[word]
    code = np.r_[n_words + 5.0, np.arange(n_words - 1)][rng.permutation(n_words)][word]
    flag = np.where(word == 0, np.inf, word % 2 * 1.0)
    band = np.searchsorted([4, 7], amount)
    beside = rng.normal(size=n), rng.integers(0, 3, n), rng.random(n) < 0.3
    table = np.column_stack([word, amount, coarser, code, flag, band, *beside])
    order = rng.permutation(table.shape[1])
    at = np.argsort(order)
    decided = repeated_in(table[:, order], {int(at[0]), int(at[2])}).decided
    one_of_two = {*at[[0, 3]].tolist()} & {*decided}  # words and their codes
    assert len(one_of_two) == 1
    assert {*decided} == {*at[[2, 4, 5]].tolist()} | one_of_two
    table[np.flatnonzero(word)[:4], [2, 3, 4, 5]] = (
        n_words,
        0.5,
        1 - word[word > 0][2] % 2,
        9,
    )  # a row each that does not
    assert not {*at[[2, 4, 5]].tolist()} & {*repeated_in(table[:, order], {int(at[0]), int(at[2])}).decided}


@law(20)
def test_what_rows_lack_as_they_have_nothing_to_tell_is_a_value_of_its_own(seed):
    smoke, table = smokers(seed)
    sign = 1.0 if seed % 2 else -1.0
    table[:, 2] *= np.where(smoke, sign, 1.0)
    entry = Entry.of(table)
    known = table[smoke, 2]
    assert set(entry.absent) == {2}
    assert entry.absent[2] < known.min() if sign > 0 else entry.absent[2] > known.max()
    there = entry.known(np.where(np.isinf(table), np.nan, table))
    assert (there[~smoke, 2] == entry.absent[2]).all()
    assert not np.isnan(entry.entered(np.where(np.isinf(table), np.nan, table))).any()
    assert any({1, 2} <= {*group} for group in entry.repeated.groups)
    assert 0 in entry.repeated.decided
    table[np.flatnonzero(smoke)[:3], 2] = np.inf  # these are not known: smokers have a band
    assert absent_in(table, ()) == {}


@law(20)
def test_a_sum_of_other_columns_counts_once(seed):
    rng = np.random.default_rng(seed)
    parts = [rng.lognormal(3, 1, 200).round(2), rng.poisson(40, 200) * 1.0, rng.normal(size=200)]
    parts = [part * 10.0 ** rng.integers(-2, 4) for part in parts]
    total = parts[0] + parts[1] + (parts[2] if seed % 2 else 0.0)
    beside = [rng.normal(size=200), rng.exponential(size=200)]
    order = rng.permutation(6)
    table = np.column_stack([*parts, total, *beside])[:, order]
    table[rng.choice(200, 5, replace=False), int(np.flatnonzero(order == 5)[0])] = np.inf
    at = {int(j): i for i, j in enumerate(order)}
    found = repeated_in(table, ()).sums
    assert found in ({at[3]: tuple(sorted(at[j] for j in range(2 + seed % 2)))}, {})
    assert found or repeated_in(table, ()).alike, "unless it says the same as its largest part"
    noisy = table.copy()
    noisy[:, at[3]] *= rng.normal(1, 0.01, 200)
    assert repeated_in(noisy, ()).sums == {}


def test_how_columns_enter_can_be_copied_and_stored():
    for entry in (Entry.of(smokers(0)[1]), Entry(np.ones(2))):
        for other in (copy.deepcopy(entry), pickle.loads(pickle.dumps(entry))):
            assert (other.codes, other.absent) == (entry.codes, entry.absent)
