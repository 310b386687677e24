"""Tallies of tables as they are: words and gaps are counted, add up, and are asked for by trees."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from boxwood import DataError, Reference, Tally, changes_in_words, scan
from boxwood._dates import Dates
from boxwood.errors import ModelError
from boxwood.reference import Moments
from tests.explanation.test_tally import nested as nested_thresholds
from tests.explanation.test_tally import rewritten, same
from tests.naive import tallies as naive
from tests.scale import law
from tests.scattered import ScatteredSource

SIZES = ["S", "M", "L"]


def some_table(seed, n=None):
    """Return columns of values, None for missing ones, and labels of up to four clusters, None for noise."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60)) if n is None else n
    k = int(rng.integers(1, 5))
    labels = rng.integers(0, k, size=n)
    near = rng.random(n) < 0.7  # rows whose values tell their cluster
    gaps = rng.choice([0.0, 0.1, 0.4], size=4)

    def column(values, j):
        return [None if lacks else value for value, lacks in zip(values, rng.random(n) < gaps[j], strict=True)]

    own = np.where(near, labels, rng.integers(0, k, size=n))
    columns = {
        "age": column((own * 3 + rng.integers(0, 4, size=n)).astype(float).tolist(), 0),
        "country": column(np.array(["AT", "CH", "DE", "US"])[rng.permutation(4)[own]].tolist(), 1),
        "member": column((rng.random(n) < own / max(k, 1)).tolist(), 2),
        "size": column(np.array(SIZES)[np.minimum(own, 2)].tolist(), 3),
    }
    names = [f"c{c}" for c in range(k)]
    return columns, [None if rng.random() < 0.05 else names[c] for c in labels.tolist()]


def frame_of(columns, *, ordered=True):
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    frame["age"] = frame["age"].astype(float)
    if ordered:
        frame["size"] = pd.Categorical(frame["size"], SIZES, ordered=True)
    return frame


def usable(seed, **how):
    """Return a random table of which some row has a label and a value, and the tally of its frame."""
    while True:
        columns, labels = some_table(seed)
        rows = list(zip(*columns.values(), strict=True))
        if any(label is not None and any(v is not None for v in row) for label, row in zip(labels, rows, strict=True)):
            return columns, labels, Tally.of(frame_of(columns, **how), labels)
        seed += 1_000_000


def kept_rows(columns, labels, names):
    """Return the rows with a label and a value, and the clusters of them."""
    rows = zip(zip(*columns.values(), strict=True), labels, strict=True)
    return [(row, names.index(label)) for row, label in rows if label is not None and set(row) != {None}]


def kinds_of(tally):
    known = dict(tally.categories)
    return [(known[name].values, known[name].ordered) if name in known else None for name in tally.columns]


def nested(tree, expected, node=0):
    """Return the nested cuts of a tree, by codes where those that are expected are."""
    if tree.feature[node] < 0:
        return int(tree.cluster[node])
    feature, upper, lower, members = tree.test(node)
    by_codes = isinstance(expected, tuple) and len(expected) == 4
    cut = (feature, members or tuple(range(int(lower), int(upper) + 1))) if by_codes else (feature, lower, upper)
    own = expected[-2:] if isinstance(expected, tuple) else (None, None)
    return *cut, nested(tree, own[0], node + 1), nested(tree, own[1], int(tree.second[node]))


@law(100)
def test_counts_and_trees_are_those_of_the_rows(seed):
    columns, labels, tally = usable(seed)
    rows, clusters = zip(*kept_rows(columns, labels, tally.names), strict=True)
    assert tally.sizes.tolist() == [clusters.count(c) for c in range(len(tally.names))]
    for j, kind in enumerate(kinds_of(tally)):
        for c in range(len(tally.names)):
            values = [row[j] for row, cluster in zip(rows, clusters, strict=True) if cluster == c]
            if kind is None:
                present = [value for value in values if value is not None]
                assert tally.counts[c, j].sum() == len(present)
                assert tally.lacking.get(j, np.zeros(9))[c] == len(values) - len(present)
                if present:
                    np.testing.assert_allclose(tally.centers[c, j], np.mean(present), rtol=1e-14)
                    np.testing.assert_allclose(tally.moments.squares[c, j], np.var(present) * len(present), atol=1e-12)
            else:
                assert tally.counts[c, j, : len(kind[0])].tolist() == [values.count(word) for word in kind[0]]
    expected = naive.imm(rows, clusters, tally.centers, tally.edges, kinds_of(tally))
    if expected is None:
        with pytest.raises(DataError, match="equal centres"):
            tally.imm()
        return
    tree = tally.imm()
    assert nested(tree, expected) == expected
    assert sorted(tree.leaf_clusters.tolist()) == list(range(len(tally.names)))


@law(50)
def test_from_batches_and_from_memory(seed):
    columns, labels, tally = usable(seed, ordered=False)
    types = [pa.float64(), pa.string(), pa.bool_(), pa.string(), pa.string()]
    table = pa.table({**columns, "label": labels}, schema=pa.schema([*zip([*columns, "label"], types, strict=True)]))
    source = ScatteredSource(table, seed)
    found = Tally.of(source, "label")
    same(found, tally)
    assert found.categories == tally.categories
    assert source.runs == 5 or len(tally.categories) == 0
    frame = pl.from_arrow(table)
    same(Tally.of(frame, "label"), tally)


@law(50)
def test_tallies_add_up(seed):
    rng = np.random.default_rng(seed)
    columns, labels, whole = usable(seed)
    day = rng.integers(0, 3, size=len(labels))
    kept = {row for row, _ in kept_rows(columns, labels, whole.names)}
    rows = list(zip(*columns.values(), strict=True))
    days = [np.flatnonzero(day == i).tolist() for i in range(3)]
    days = [at for at in days if any(rows[i] in kept and labels[i] is not None for i in at)]
    parts = [Tally.of(frame_of(columns).iloc[at], [labels[i] for i in at], like=whole) for at in days]
    total = sum(parts[1:], parts[0])
    assert total.sizes.tolist() == whole.sizes.tolist()
    for j, kind in enumerate(kinds_of(whole)):
        if kind is None:
            assert total.counts[:, j].sum(axis=1).tolist() == whole.counts[:, j].sum(axis=1).tolist()
            np.testing.assert_allclose(total.moments.means[:, j], whole.moments.means[:, j], atol=1e-12)
            np.testing.assert_allclose(total.moments.squares[:, j], whole.moments.squares[:, j], atol=1e-9)
            continue
        words = dict(total.categories)[whole.columns[j]].values
        counts = {word: total.counts[:, j, code].tolist() for code, word in enumerate(words)}
        of_none = [0] * len(whole.sizes)  # of words that only rows without a label have
        expected = dict(zip(kind[0], whole.counts[:, j].T.tolist(), strict=False))
        for word in {*counts, *expected}:
            assert counts.get(word, of_none) == expected.get(word, of_none)


@law(40)
def test_labels_give_what_a_reference_of_them_gives(seed):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(40, 3)), rng.integers(0, 3, size=40)
    found, known = Tally.of(X, labels), Tally.of(X, Reference.of(X, labels))
    same(found, known)
    assert nested_thresholds(found.imm()) == nested_thresholds(known.imm())
    again = Tally.of(X[:20], labels[:20], like=found)
    same(again, Tally.of(X[:20], Reference(labels[:20], found.centers, found.names)))


@law(60)
def test_mmdt_takes_numbers_with_gaps(seed):
    columns, labels, _ = usable(seed)
    frame = frame_of(columns)[["age", "member"]].assign(third=np.arange(float(len(labels))))
    tally = Tally.of(frame, labels)
    mixture = tally.mixture
    X = frame.astype(float).to_numpy()
    for c, name in enumerate(mixture.names):
        own = X[[label == name for label in labels]]
        for j in range(3):
            known = own[~np.isnan(own[:, j]), j]
            if len(known):
                np.testing.assert_allclose(mixture.means[c, j], known.mean(), atol=1e-12)
                np.testing.assert_allclose(mixture.variances[c, j], known.var(), atol=1e-9)
    tree = tally.mmdt()
    everyone = X[[label is not None for label in labels]]
    for j in np.flatnonzero(~np.isnan(everyone).all(axis=0) & (tally.counts.sum(axis=2) == 0).any(axis=0)):
        lost = [c for c, present in enumerate(np.flatnonzero(tally.sizes)) if tally.counts[present, j].sum() == 0]
        np.testing.assert_allclose(mixture.means[lost, j], np.nanmean(everyone[:, j]), atol=1e-12)
        np.testing.assert_allclose(mixture.variances[lost, j], np.nanvar(everyone[:, j]), atol=1e-9)
    lacking, below = tally.lacking, below_of(tree)
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        if (j := int(tree.feature[node])) in lacking:
            inside, outside = (sum(lacking[j][c] for c in below[at]) for at in (node + 1, int(tree.second[node])))
            takes_missing = tree.upper[node] == np.inf
            assert not takes_missing
            assert inside <= outside


def below_of(tree):
    below = {}
    for node in reversed(range(tree.n_nodes)):
        is_leaf = tree.feature[node] < 0
        below[node] = {int(tree.cluster[node])} if is_leaf else below[node + 1] | below[int(tree.second[node])]
    return below


def two_days():
    monday = pd.DataFrame({"age": [21, 25, None, 61, 67, 40], "country": ["AT", "AT", "AT", "US", "US", None]})
    tuesday = pd.DataFrame({"country": ["FR", "AT", "FR"], "age": [30, None, 33]})
    first = Tally.of(monday, ["new"] * 3 + ["loyal"] * 3)
    return first, first + Tally.of(tuesday, ["new", "loyal", "new"], like=first)


def test_a_set_of_words_parts_clusters_where_one_word_does_not():
    words = ["AT", "CH", "DE", "US", "FR"]
    rows = pd.DataFrame({"country": words * 4})
    tally = Tally.of(rows, ["near" if word in ("AT", "CH", "DE") else "far" for word in rows["country"]])
    assert tally.rules(tally.imm()) == {"far": "country is FR or US", "near": "country is AT, CH or DE"}


def test_words_of_later_days_come_behind_and_rules_say_them():
    first, both = two_days()
    assert dict(first.categories)["country"].values == ("AT", "US", None)
    assert dict(both.categories)["country"].values == ("AT", "US", None, "FR")
    assert both.sizes.tolist() == [4, 5]
    assert first.rules(first.imm()) == {"loyal": "age > 32.41015625", "new": "age <= 32.41015625 or missing"}
    assert both.rules(first.imm()) == first.rules(first.imm())
    rows = pd.DataFrame({"country": ["AT", "AT", "US", None, "FR"], "one": 1.0})
    words = Tally.of(rows, [0, 0, 1, 1, 2])
    assert words.rules(words.imm()) == {0: "country is AT", 1: "country is US or missing", 2: "country is FR"}


def test_changes_are_said_in_words():
    monday = pd.DataFrame({"country": ["AT", "AT", "US", "US"], "plan": ["a", "b", "a", "b"]})
    first = Tally.of(monday, ["x", "x", "y", "y"])
    other = pd.DataFrame({"country": ["AT", "US"] * 6, "plan": ["a"] * 6 + ["b"] * 6})
    both = first + Tally.of(other, ["x"] * 6 + ["y"] * 6, like=first)
    said = changes_in_words(first.imm(), both.imm(), rows=both)
    assert said.splitlines() == [
        "the cut on country at AT is gone",
        "a cut on plan at a is new",
        "about 40.6 % of rows changed cluster, as estimated from bins",
    ]
    assert changes_in_words(both.imm(), both.imm(), rows=both).splitlines() == [
        "no cut changed",
        "about 0 % of rows changed cluster, as estimated from bins",
    ]


def test_all_of_a_tally_with_gaps_is_somewhere():
    first, both = two_days()
    for tree in (first.imm(), both.imm()):
        assert "about 0 %" in changes_in_words(tree, tree, rows=both)


def test_a_file_keeps_words(tmp_path):
    _, both = two_days()
    both.save(tmp_path / "tally")
    found = Tally.load(tmp_path / "tally")
    same(found, both)
    assert found.categories == both.categories
    assert found.imm() == both.imm()


def test_files_of_version_1_load(tmp_path):
    tally = Tally.of([[1.0], [5.0]], [[1.0], [5.0]])
    tally.save(tmp_path / "tally")

    def older(heading):
        heading["version"] = 1
        del heading["categories"]

    rewritten(tmp_path / "tally", older)
    same(Tally.load(tmp_path / "tally"), tally)


@pytest.mark.parametrize(
    "entry",
    [
        ["country", ["AT", "AT"], False],
        ["country", [["AT"]], False],
        ["other", ["AT"], False],
        ["country", "AT", False],
    ],
)
def test_files_with_wrong_words_are_refused(tmp_path, entry):
    two_days()[1].save(tmp_path / "tally")
    rewritten(tmp_path / "tally", lambda heading: heading.update(categories=[entry]))
    with pytest.raises(ModelError, match="is not a tally, or is damaged"):
        Tally.load(tmp_path / "tally")


def test_refused():
    first, _ = two_days()
    rows = pd.DataFrame({"age": [20.0], "country": ["AT"]})
    with pytest.raises(DataError, match=r"categories have no nearest centre.*Tally.of\(X, labels, like=first\)"):
        Tally.of(rows, first)
    with pytest.raises(DataError, match=r"rows with categories \(country\) have no nearest centre; give the label"):
        Tally.of(rows, [[20.0, 0.0]])
    with pytest.raises(DataError, match="labels that the first tally does not have: old; its clusters: loyal, new"):
        Tally.of(rows, ["old"], like=first)
    with pytest.raises(DataError, match="categories have no means and variances: country; use imm"):
        first.mmdt()
    with pytest.raises(DataError, match=r"not those of the first tally \(age, country\): without age"):
        Tally.of(rows[["country"]], ["new"], like=first)
    with pytest.raises(DataError, match="country has categories in one tally and numbers in the other"):
        first + Tally.of(rows.assign(country=1.0), ["new"], like=first)
    with pytest.raises(DataError, match="no row with a cluster has a value"):
        Tally.of(pd.DataFrame({"age": [None, 1.0]}), ["a", None])
    with pytest.raises(DataError, match="every row is left out"):
        Tally.of(rows, [None])
    with pytest.raises(DataError, match="infinite values in 1 of 1 rows: age"):
        Tally.of(rows.assign(age=np.inf), ["new"])
    with pytest.raises(DataError, match="more than 255 values"):
        Tally.of(pd.DataFrame({"name": [f"n{i % 300}" for i in range(900)]}), ["a", "b", "c"] * 300)
    sizes = [
        pd.DataFrame({"size": pd.Categorical(["S", "M"], order, ordered=True)}) for order in (["S", "M"], ["M", "S"])
    ]
    small = Tally.of(sizes[0], ["a", "b"])
    turned = Tally.of(sizes[1], ["a", "b"], like=small)
    with pytest.raises(DataError, match="size has values in an order, which is not the same in both tallies"):
        small + turned
    counts = first.counts.copy()
    counts[0, 1, 0] += 1
    with pytest.raises(DataError, match="not of the rows that were counted"):
        Tally(first.centers, first.n_bins, counts, first.moments, first.columns, first.names, first.categories)


def test_columns_without_a_value_on_one_day():
    first, _ = two_days()
    empty = pd.DataFrame({"age": [50.0, 20.0], "country": [None, None]})
    both = first + Tally.of(empty, ["loyal", "new"], like=first)
    assert dict(both.categories)["country"].values == ("AT", "US", None)
    assert both.counts[:, 1, 2].tolist() == [2, 1]
    whole = Tally.of(pd.DataFrame({"age": [1.0, 2.0], "country": ["AT", "US"]}), ["new", "loyal"])
    for total in (
        whole + Tally.of(empty, ["loyal", "new"], like=whole),
        Tally.of(empty, ["loyal", "new"], like=whole) + whole,
    ):
        words = dict(total.categories)["country"].values
        assert {word: total.counts[:, 1, code].tolist() for code, word in enumerate(words)} == {
            "AT": [0, 1],
            "US": [1, 0],
            None: [1, 1],
        }


def test_a_table_in_batches_is_read_by_column_names(tmp_path):
    first, both = two_days()
    frame = pd.DataFrame({"segment": ["new", "loyal", "new"], "country": ["FR", "AT", "FR"], "age": [30, None, 33]})
    frame.to_parquet(tmp_path / "tuesday.parquet")
    found = first + Tally.of(scan(tmp_path / "tuesday.parquet"), "segment", like=first)
    same(found, both)
    assert found.categories == both.categories
    frame.replace("new", "old").to_parquet(tmp_path / "wednesday.parquet")
    with pytest.raises(DataError, match="labels that the first tally does not have: old"):
        Tally.of(scan(tmp_path / "wednesday.parquet"), "segment", like=first)


@law(60)
def test_moments_with_fewer_values_add_up(seed):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((20, 3)) < 0.3, np.nan, rng.normal(size=(20, 3)) * 10.0 ** rng.integers(-3, 4))

    def parts(rows):
        held = (~np.isnan(rows)).sum(axis=0)[None]
        columns = [Moments.of(x[~np.isnan(x), None], np.zeros((~np.isnan(x)).sum(), int), 1) for x in rows.T]
        joined = [np.hstack([getattr(each, name) for each in columns]) for name in ("origins", "offsets", "squares")]
        return Moments([len(rows)], *joined), held

    cut = int(rng.integers(8, 12))
    (one, held), (other, its), (whole, _) = parts(X[:cut]), parts(X[cut:]), parts(X)
    total = one.plus(other, held, its)
    np.testing.assert_allclose(total.means, whole.means, rtol=1e-9)
    np.testing.assert_allclose(total.squares, whole.squares, rtol=1e-9)


# --------------------------------------------------------------------------------------------------------- dates
def dated(seed, n=120):
    """Return a frame with days that some rows lack, and labels that these nearly tell."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n) < 0.5, "active", "lapsed")
    days = np.where(labels == "active", rng.integers(300, 700, size=n), rng.integers(0, 330, size=n))
    last = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D")).mask(rng.random(n) < 0.1)
    return pd.DataFrame({"last": last, "spent": rng.integers(0, 9, size=n).astype(float)}), labels


@law(20)
def test_dates_are_counted_alike_as_dates_and_texts_in_memory_and_in_batches(seed):
    frame, labels = dated(seed)
    of_dates = Tally.of(frame, labels)
    of_texts = Tally.of(frame.assign(last=frame["last"].dt.strftime("%d.%m.%Y")), labels)
    in_batches = Tally.of(scan(pa.Table.from_pandas(frame.assign(segment=labels))), "segment")
    later = Tally.of(frame.assign(last=frame["last"].dt.strftime("%Y-%m-%d")), labels, like=of_dates)
    for other in (of_texts, in_batches, later):
        same(other, of_dates)
        assert other.rules(other.imm()) == of_dates.rules(of_dates.imm())
    assert dict(of_texts.dates)["last"].form == "%d.%m.%Y"
    whole = frame.dropna().reset_index(drop=True)
    nearest = Tally.of(whole, of_dates)
    same(nearest, Tally.of(scan(pa.Table.from_pandas(whole)), of_dates))
    assert nearest.dates == of_dates.dates == (of_dates + nearest).dates


def test_rules_of_a_tally_say_dates(tmp_path):
    frame, labels = dated(0)
    first = Tally.of(frame, labels)
    said = first.rules(first.imm())
    assert said == {"active": "last is on or after 2024-11-19", "lapsed": "last is before 2024-11-19 or missing"}
    first.save(tmp_path / "tally")
    again = Tally.load(tmp_path / "tally")
    assert again.dates == first.dates
    assert again.rules(again.imm()) == said
    moved = frame.assign(last=frame["last"] - pd.Timedelta(days=40))
    both = first + Tally.of(moved, labels, like=first)
    told = changes_in_words(first.imm(), both.imm(), rows=both)
    assert told.startswith(
        "the cut on last moved from 2024-11-19 and at missing values to 2024-10-29 and at missing values\n"
    )
    rewritten(tmp_path / "tally", lambda heading: heading.update(dates=[["last", "", "%H"]]))
    with pytest.raises(ModelError, match="is not a tally, or is damaged"):
        Tally.load(tmp_path / "tally")


@law(200)
def test_edges_before_round_dates_separate_the_same_centres(seed):
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 400, size=6) / rng.choice([1, 24, 1440])
    zone = rng.choice(["", "Europe/Vienna"])
    moments = pd.Series(pd.to_datetime(20_000.0 + days, unit="D", utc=True))
    moments = moments.dt.tz_convert(zone) if zone else moments.dt.tz_localize(None)
    tally = Tally.of(pd.DataFrame({"at": moments}), list("abcdef"), n_bins=int(rng.integers(1, 40)))
    values, edges = np.unique(tally.centers[:, 0]), tally.edges[0]
    edges = edges[np.isfinite(edges)]
    assert (np.diff(edges) > 0).all()
    assert np.unique(np.searchsorted(values, edges, side="right")).tolist() == list(range(1, len(values)))


def test_dates_of_another_kind_are_refused():
    frame, labels = dated(1)
    first = Tally.of(frame, labels)
    zoned = frame.assign(last=frame["last"].dt.tz_localize("Europe/Vienna"))
    with pytest.raises(DataError, match="last have a time zone, but those of the rules have none"):
        Tally.of(zoned, labels, like=first)
    with pytest.raises(DataError, match="last has dates that the first tally lacks, or that differ in"):
        Tally.of(scan(pa.Table.from_pandas(zoned.assign(segment=labels))), "segment", like=first)
    with pytest.raises(DataError, match="spent has dates that the first tally lacks"):
        Tally.of(frame.assign(spent=pd.Timestamp("2026-03-01")), labels, like=first)
    with pytest.raises(DataError, match=r"'31\.03\.2026' in last is no date; expected one such as 2026-03-01"):
        Tally.of(frame.assign(last="31.03.2026"), labels, like=first)
    numbers = Tally(*(getattr(first, name) for name in ("centers", "n_bins", "counts", "moments", "columns", "names")))
    zone = replace(first, dates=(("last", Dates("Europe/Vienna")),))
    for other in (numbers, zone):
        with pytest.raises(DataError, match="dates in one tally, and numbers or of another zone in the other"):
            first + other
