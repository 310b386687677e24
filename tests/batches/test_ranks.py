"""Medians and quantiles of a table in batches: those of the same rows in memory, to the last bit."""

import numpy as np

from boxwood import Reference
from boxwood._validation import as_integer_weights
from boxwood.batches import ranks
from boxwood.batches.ranks import QuantilesOfGroups, weighted_quantiles_of_groups
from boxwood.loops import ranks as loops
from boxwood.reference import Task
from tests import naive
from tests.cases import make_case
from tests.scale import law, seeds
from tests.scattered import scattered

PERCENTS = (5, 25, 50, 75, 95)
SPREADS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "few values": lambda rng, n: rng.integers(-2, 3, size=n) / 4,
    "constant": lambda rng, n: np.full(n, 0.1),
    "zeros of both signs": lambda rng, n: np.copysign((rng.random(n) > 0.9) * 1.0, rng.normal(size=n)),
    "all magnitudes": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-320, 308, size=n),
    "the least doubles": lambda rng, n: rng.integers(-9, 10, size=n) * 5e-324,
    "the largest doubles": lambda rng, n: rng.choice([-1.7e308, 1.7e308, 5e-324, 1.0], size=n),
    "neighbours": lambda rng, n: 1.0 + rng.integers(0, 4, size=n) * 2.0**-52,
}


def narrow(monkeypatch, seed):
    """Divide stretches many times, for odd seeds."""
    if seed % 2:
        monkeypatch.setattr(ranks, "MOST_COUNTS", [1, 1 << 12][seed // 2 % 2])
        monkeypatch.setattr(ranks, "MOST_GATHERED", [0, 3, 10][seed % 3])


def rows_of(seed, n=200):
    """Return rows with a column of each kind, clusters of which one may have no rows, and weights or None."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([make(rng, n) for make in SPREADS.values()])
    weights = [None, rng.integers(0, 4, size=n).astype(float), rng.choice([0.0, 0.1, 0.2, 0.3, 0.7], size=n)][seed % 3]
    if weights is not None and seed % 4 == 0:
        weights *= rng.random(n) ** 9
    labels = rng.choice([-1, 0, 1, 3], size=n)
    labels[:3] = 0, 1, 3
    if weights is not None:
        weights[:3] = 0.3
    return X, labels, weights


@law(60)
def test_medians_and_quantiles_are_those_of_rows_in_memory(seed, monkeypatch):
    narrow(monkeypatch, seed)
    X, labels, weights = rows_of(seed)
    source = scattered(X, seed, label=labels, **({} if weights is None else {"w": weights}))
    name = None if weights is None else "w"
    reference = Reference.of(source, "label", center="median", sample_weight=name)
    same(reference.centers, Reference.of(X, labels, center="median", sample_weight=weights).centers)
    task = Task.of(source, reference, sample_weight=name)
    found = ranks.quantiles_in(task.batches, task.overview, PERCENTS)
    kept = labels >= 0 if weights is None else (labels >= 0) & (weights > 0)
    order = np.flatnonzero(kept)[np.argsort(labels[kept], kind="stable")]
    bounds = np.append(0, np.cumsum(np.bincount(labels[order])[[0, 1, 3]]))
    for j, x in enumerate(X[order].T):
        if weights is None:
            same(found[:, j], QuantilesOfGroups(bounds, PERCENTS).of(x))
        else:
            whole = as_integer_weights(weights[order])
            same(found[:, j], weighted_quantiles_of_groups(x, bounds, whole, PERCENTS))


@law(15)
def test_whole_weights_are_repeated_rows(seed, monkeypatch):
    narrow(monkeypatch, seed)
    rng = np.random.default_rng(seed)
    X, labels, _ = rows_of(seed, n=60)
    times = np.append([2, 2, 2], rng.integers(0, 5, size=57))
    source = scattered(X, seed, label=labels, w=times)
    reference = Reference.of(source, "label", center="median", sample_weight="w")
    codes = np.searchsorted([0, 1, 3], labels) - 4 * (labels < 0)
    np.testing.assert_array_equal(reference.centers, naive.medians(X, np.maximum(codes, -1), 3, times))
    task = Task.of(source, reference, sample_weight="w")
    found = ranks.quantiles_in(task.batches, task.overview, PERCENTS)
    for rows, of_group in zip([labels == 0, labels == 1, labels == 3, labels >= 0], found, strict=True):
        ascending = np.sort(np.repeat(X[rows], times[rows], axis=0), axis=0)
        reached = [-(-len(ascending) * percent // 100) - 1 for percent in PERCENTS]
        np.testing.assert_array_equal(of_group, ascending[reached].T)


def same(found, expected):
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@law(60)
def test_medians_are_those_of_any_table_in_memory(seed, monkeypatch):
    narrow(monkeypatch, seed)
    case = make_case(seed)
    weights = case.weights
    if weights is not None:
        weights = weights.copy()
        weights[np.unique(case.labels, return_index=True)[1]] = 2.0  # no cluster without weight
    columns = {} if weights is None else {"weight": weights}
    source = scattered(case.X.astype(np.float64), seed, label=case.labels, **columns)
    found = Reference.of(source, "label", center="median", sample_weight=None if weights is None else "weight")
    same(found.centers, Reference.of(case.X, case.labels, center="median", sample_weight=weights).centers)


@law(10)
def test_few_passes_for_many_values_of_all_magnitudes(seed, monkeypatch):
    monkeypatch.setattr(ranks, "MOST_GATHERED", 2000)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20_000, 3)) * [1, 1e-9, 1] + [0, 1, 100]
    X[:, 1] *= 10.0 ** rng.integers(-300, 300, size=len(X))
    labels = rng.integers(-1, 3, size=len(X))
    source = scattered(X, seed, label=labels)
    same(Reference.of(source, "label", center="median").centers, Reference.of(X, labels, center="median").centers)
    assert source.runs <= 4  # the first one for labels


def test_few_values_are_not_gathered(monkeypatch):
    monkeypatch.setattr(ranks, "MOST_GATHERED", 10)
    X = np.random.default_rng(0).integers(0, 50, size=(5000, 2)).astype(float)
    source = scattered(X, 0, label=X[:, 0] > 20)
    Reference.of(source, "label", center="median")
    assert source.runs == 2


def test_halves_of_weights_are_exact():
    """Half of the weight lies on either value, so that a last bit of a sum would decide on the median."""
    for seed in seeds(20):
        rng = np.random.default_rng(seed)
        half = rng.choice([0.1, 0.2, 0.3, 0.7], size=70)
        X, weights = np.repeat([[0.0], [1.0]], 70, axis=0), np.concatenate([half, rng.permutation(half)])
        source = scattered(X, seed, label=np.zeros(140, dtype=int), w=weights)
        assert Reference.of(source, "label", center="median", sample_weight="w").centers.tolist() == [[0.5]]
        assert Reference.of(X, np.zeros(140), center="median", sample_weight=weights).centers.tolist() == [[0.5]]


def test_keys_are_in_the_order_of_numbers():
    values = np.array([-np.inf, -1e300, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2.0), 1e300, np.inf])
    keys = ranks._keys(values)
    assert (keys[1:] >= keys[:-1]).all()
    assert np.diff(keys)[[3, 4, 5, 7]].tolist() == [2, 0, 1, 1]  # no double has the key between 0 and the one below
    np.testing.assert_array_equal(ranks._values(keys), values)


def test_a_cluster_without_rows_keeps_its_centre():
    source = scattered(np.arange(6.0)[:, None], 0)
    task = Task.of(source, Reference.nearest(source, [[1.0], [4.0], [99.0]]))
    np.testing.assert_array_equal(ranks.medians_in(task.batches, task.overview)[:, 0], [1.0, 4.0, np.nan])


@law(20)
def test_loops_are_those_of_the_definitions(seed):
    """Counts, sums and keys of the bins of stretches, and what adds up to a weight, row by row."""
    rng = np.random.default_rng(seed)
    d, n, everyone = int(rng.integers(1, 3)), 40, int(rng.choice([-1, 2]))
    keys, labels = rng.integers(0, 100, size=(d, n)).astype(np.uint64), rng.integers(0, 2, size=n)
    weights = rng.integers(1, 5, size=n if seed % 2 else 0)
    n_cells = d * (3 if everyone == 2 else 2)
    low = np.tile(np.array([5, 30, 60], dtype=np.uint64), n_cells)
    high, shift = (
        np.tile(np.array([20, 30, 99], dtype=np.uint64), n_cells),
        np.tile(np.array([1, 0, 3], dtype=np.uint64), n_cells),
    )
    first = np.arange(n_cells + 1) * 3
    rows, sums = np.zeros((len(low), 8), dtype=np.int64), np.zeros((len(low), 8 * bool(len(weights))), dtype=np.int64)
    least, most = np.full(rows.shape, 1000, dtype=np.uint64), np.zeros(rows.shape, dtype=np.uint64)
    loops.count_in_stretches(keys, labels, weights, first, low, high, shift, everyone, rows, sums, least, most)
    stretches, taken, places = (np.empty(2 * keys.size, dtype=kind) for kind in (np.intp, np.uint64, np.intp))
    n_taken = loops.take_in_stretches(keys, labels, first, low, high, everyone, stretches, taken, places)
    gathered = []
    for s in range(len(low)):
        group, j = divmod(s // 3, d)
        mine = [i for i in range(n) if (group == everyone or labels[i] == group) and low[s] <= keys[j, i] <= high[s]]
        for b in range(8):
            of_bin = [i for i in mine if int(keys[j, i] - low[s]) // 2 ** int(shift[s]) == b]
            assert rows[s, b] == len(of_bin)
            assert not len(weights) or sums[s, b] == sum(weights[i] for i in of_bin)
            assert not of_bin or (least[s, b], most[s, b]) == (min(keys[j, of_bin]), max(keys[j, of_bin]))
        gathered += [(s, int(keys[j, i]), i) for i in mine if low[s] < high[s]]
    assert sorted(zip(*(each[:n_taken].tolist() for each in (stretches, taken, places)), strict=True)) == sorted(
        gathered
    )
    amounts = rng.integers(0, 4, size=30)
    at, wanted = np.array([0, 3, 3]), np.array([1, int(amounts[3:].sum()), 0])
    loops.reach(amounts, at, wanted)
    through = np.cumsum(amounts)
    assert at[0] == np.flatnonzero(through >= 1)[0]
    assert at[1] == np.flatnonzero(through == through[-1])[0]
    assert at[2] == 3
    assert wanted[1] == amounts[at[1]]
