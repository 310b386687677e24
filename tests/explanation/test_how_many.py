"""How many clusters are made when nobody says, and whether it is said where there are no groups."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from boxwood import compare_k, explain
from boxwood.explanation.ask.how_many import ALIKE, FEW, ROWS_EACH, SHOWN, DrawnRows, HowMany, Number, settled_number
from boxwood.explanation.choose import settings
from boxwood.explanation.measure.valleys import Groups
from boxwood.words.notes import NO_GROUPS, NO_VALLEY, lack_groups
from tests.scale import law, seeds


def groups(k, seed, n=400, d=3, apart=8.0):
    rng = np.random.default_rng([k, seed])
    centers = np.array([rng.permutation(np.arange(k)) for _ in range(d)]).T * apart
    label = rng.integers(0, k, n)
    return centers[label] + rng.normal(size=(n, d)), label


@law(12)
def test_groups_that_are_apart_are_counted(seed):
    k = 2 + seed % 5
    rows, _ = groups(k, seed)
    assert DrawnRows(rows).how_many().best == k
    assert DrawnRows(rows).groups().show


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=(400, 3)),
        lambda rng: rng.normal(size=(400, 4)) @ rng.normal(size=(4, 4)),
        lambda rng: rng.uniform(size=(400, 2)),
        lambda rng: np.exp(rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3)) / 2),
        lambda rng: np.where(rng.random((400, 4)) < 0.5, 0.0, rng.exponential(size=(400, 4))),
        lambda rng: (rng.random((400, 6)) < 0.3) * 1.0,
    ],
    ids=["normal", "correlated", "uniform", "skewed", "with zeros", "flags"],
)
def test_a_cloud_is_called_one(draw):
    def is_called_one(seed):
        frame = pd.DataFrame(draw(np.random.default_rng(seed))).add_prefix("x")
        ex = explain(frame, n_clusters=2 + seed % 4, method="imm")
        return any(note.startswith("the columns together show no clear groups: ") for note in ex.notes)

    assert sum(not is_called_one(seed) for seed in seeds(6)) <= 1  # in one of twenty clouds chance makes a valley


@pytest.mark.parametrize("seed", seeds(4))
def test_independent_words_are_no_groups_and_words_that_go_together_are(seed):
    rng = np.random.default_rng(seed)
    words = pd.DataFrame({f"w{j}": rng.choice(list("abcde"), 300, p=[0.4, 0.3, 0.1, 0.1, 0.1]) for j in range(4)})
    assert any(
        note.startswith("the columns together show no clear groups")
        for note in explain(words, n_clusters=3, method="imm").notes
    )
    kind = rng.integers(0, 3, 300)
    for j in range(3):
        words[f"w{j}"] = np.where(rng.random(300) < 0.9, np.array(list("abc"))[(kind + j) % 3], words[f"w{j}"])
    assert not any(
        note.startswith("the columns together show no clear groups")
        for note in explain(words, n_clusters=3, method="imm").notes
    )


def test_the_number_is_the_largest_on_which_halves_agree_and_the_others_are_named():
    found = HowMany({2: 0.94, 3: ALIKE, 4: 0.82, 5: 0.3})
    assert (found.best, found.note) == (
        3,
        "3 clusters were chosen, the largest number for which both halves of the rows give similar clusters; "
        "4 would do nearly as well (n_clusters)",
    )
    doubtful = HowMany({2: 0.5, 3: 0.6, 4: 0.62})
    assert doubtful.best == 3
    assert doubtful.note.startswith(
        "3 clusters were chosen, for which both halves of the rows give the most similar clusters, though not "
    )


def test_where_no_groups_show_few_clusters_are_made_unless_more_are_asked_for(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(300, 3))
    found = dict(zip(range(2, 11), [0.4, 0.45, 0.3, 0.2, 0.2, 0.2, 0.2, 0.2, 0.9], strict=True))
    monkeypatch.setattr(DrawnRows, "agreement_of_halves", lambda look, k, least=-1.0: found[k])
    number = settled_number(DrawnRows(rows), None)
    assert (number.k, number.others) == (2, (3, 4))
    assert number.notes == (
        f"2 clusters were chosen (at most {FEW}), for which both halves of the rows give about the most similar "
        "clusters (n_clusters)",
        f"{NO_GROUPS} {NO_VALLEY}",
    )
    assert settled_number(DrawnRows(rows), 10).k == 10
    ex = explain(rows, method="imm")
    assert str(ex).startswith("No clear groups in 300 rows; one way to divide them into 2 parts, explained by 2 leaves")
    apart, _ = groups(3, 0)
    assert str(explain(apart, n_clusters=3, method="imm")).startswith("3 clusters of 400 rows, explained by")


@law(4)
def test_every_door_gives_one_verdict_whatever_the_number_of_clusters(seed):
    rng = np.random.default_rng(seed)
    n, apart = int(rng.integers(40, 200)), 8.0 * (seed % 2)
    frame = pd.DataFrame(rng.normal(size=(n, 3)) + apart * rng.integers(0, 2, n)[:, None]).add_prefix("x")
    if seed % 4 > 1:
        frame["word"] = rng.choice([*"abc"], n)
        frame.loc[rng.random(n) < 0.1, "x0"] = np.nan
    weights = rng.integers(1, 3, n) if seed % 3 else None
    how = {"method": "imm", "sample_weight": weights}
    asked = [explain(frame, n_clusters=k, **how) for k in (5, None)]
    shown = {not lack_groups(ex.notes) for ex in asked}
    assert shown == {bool(apart)}
    assert {ex.stability(2).clearer for ex in asked} == shown
    assert compare_k(frame, [2], **how).groups == bool(apart)
    assert {any(said in str(ex) for said in ("No clear groups in ", "No kinds found")) for ex in asked} == {not apart}
    page = asked[0].to_html()
    assert ("No clear groups: this" in page) == (" 5 parts, by " in page) == ("none clear" in page) == (not apart)


@law(4)
def test_the_column_that_shows_groups_by_itself_is_named_with_the_gap_in_it(seed):
    rng = np.random.default_rng(seed)
    n, at = int(rng.integers(100, 500)), rng.uniform(-1e3, 1e3)
    rows = rng.normal(size=(n, 3))
    rows[:, 1] = (rows[:, 1] + 20 * (rng.random(n) < 0.4)) * 10.0 ** rng.integers(-3, 4) + at
    ex = explain(pd.DataFrame(rows, columns=["a", "spend", "c"]), n_clusters=2, method="imm")
    note = next(note for note in ex.notes if note.startswith("spend alone shows groups: no row of "))
    low, high = (float(end.replace(",", "")) for end in note.split(" between ")[1].split(" and "))
    assert low < high
    assert not ((rows[:, 1] > low) & (rows[:, 1] < high)).any()
    assert 0.2 < (rows[:, 1] <= low).mean() < 0.8
    assert str(low) not in ex.to_html(min_count=5)


def test_a_number_that_was_asked_for_is_made_and_not_spoken_of():
    rows, _ = groups(3, 0)
    number = settled_number(DrawnRows(rows), 4)
    assert number == Number(4, groups=number.groups)


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_few_rows_get_few_clusters(n):
    rows, _ = groups(2, 1, n=n)
    assert len(explain(rows, method="imm").clusters) == 2


@pytest.mark.parametrize(("n", "k"), [(2, 2), (19, 2), (20, 2), (30, 16), (40, 20)])
@pytest.mark.parametrize("asked", [True, False])
def test_it_is_said_first_if_rows_are_too_few_to_tell_groups_from_none(n, k, asked):
    rows, _ = groups(2, 1, n=n)
    ex = explain(rows, n_clusters=k if asked else None, method="imm")
    said = f"looking at {n} rows does not tell whether {ex.n_clusters} clusters are groups"
    assert (said in ex.notes) == (n < max(20, 2 * ex.n_clusters))
    assert (f"Note: {said}" in str(ex)) == (said in ex.notes)


def test_the_number_and_the_scale_are_told_in_the_basis():
    rows, _ = groups(3, 2)
    income = np.exp(np.random.default_rng(0).normal(size=len(rows)) * 2)
    frame = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(income=income, copy=rows[:, 1] * 2)
    labels = explain(frame[["a", "b", "c"]], method="imm").provenance.labels
    assert labels == "k-means, 3 clusters (the number chosen by boxwood); on columns brought to one scale"
    scaled = "; on columns brought to one scale; long tails drawn in: income"
    assert explain(frame, n_clusters=3, method="imm").provenance.labels.endswith(scaled)  # without the copy
    labels = explain(frame, n_clusters=3, method="imm", columns=[*frame]).provenance.labels
    assert labels.endswith(f"{scaled}; b, copy count once")
    plain = explain(frame, n_clusters=3, method="imm", standardize=False).provenance.labels
    assert plain == "k-means, 3 clusters (the number asked for)"


@law(8)
def test_the_star_of_the_map_is_the_number_that_explain_takes(seed):
    rng = np.random.default_rng(seed)
    tables = (
        lambda n: rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)),
        lambda n: np.exp(rng.normal(size=(n, 3))),
        lambda n: groups(2 + seed % 4, seed, n, apart=3.0)[0],
        lambda n: (rng.random((n, 6)) < 0.3) * 1.0,
    )
    n, method = int(rng.choice([40, 50])), "imm" if seed % 3 else "auto"
    frame = pd.DataFrame(tables[seed % 4](n)).add_prefix("x")
    ex = explain(frame, method=method)
    found = compare_k(frame, range(2, n // ROWS_EACH + 1), method=method)
    assert found.chosen == ex.n_clusters
    assert found.note in ex.notes


def test_of_many_clusters_without_groups_the_map_takes_some():
    found = compare_k(np.random.default_rng(0).normal(size=(200, 3)), [6, 7], method="imm")
    assert found.note == (
        f"{found.chosen} clusters were chosen, for which both halves of the rows give about the most similar clusters "
        "(n_clusters)"
    )


@law(6)
def test_when_a_row_is_from_changes_no_clusters(seed):
    rng = np.random.default_rng(seed)
    rows, _ = groups(3, seed)
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.choice([0, 40, 400, 800], len(rows)), unit="D")
    dated = frame.assign(day=days, year=days.year, month=days.month, weekday=days.strftime("%a"))
    found = [explain(table, n_clusters=3, method="imm", random_state=0) for table in (frame, dated)]
    assert found[1].columns == ("a", "b", "c")
    assert (found[0].predict(frame) == found[1].predict(dated)).all()


@law(6)
def test_what_a_row_lacks_makes_no_group(seed):
    rng = np.random.default_rng(seed)
    n = 400
    kind, lacks = rng.integers(0, 2, n), rng.random(n) < 0.4
    frame = pd.DataFrame(
        {f"w{j}": np.where(lacks, None, np.array(list("abc"))[rng.integers(0, 3, n)]) for j in range(6)}
    )
    frame = frame.assign(x=kind * 6 + rng.normal(size=n), y=kind * 6 + rng.normal(size=n))
    ex = explain(frame, n_clusters=2, method="imm", random_state=0)
    labels = ex._evidence.task.reference.labels
    assert adjusted_rand_score(labels, kind) > 0.9


def test_rules_that_are_right_for_few_rows_get_a_leaf_more_or_another_number_if_nobody_named_one(monkeypatch):
    rng = np.random.default_rng(0)
    cloud = pd.DataFrame(0.3 * rng.normal(size=(500, 1)) + rng.normal(size=(500, 4))).add_prefix("x")
    ex = explain(cloud, random_state=0)
    assert ex.agreement < settings.RIGHT
    assert ex.n_leaves == ex.n_clusters  # these are to be easy to say
    monkeypatch.setattr(DrawnRows, "groups", lambda look: Groups(True))
    rng = np.random.default_rng(0)
    cloud = pd.DataFrame(0.3 * rng.normal(size=(500, 1)) + rng.normal(size=(500, 4))).add_prefix("x")
    ex, asked = explain(cloud, random_state=0), explain(cloud, n_clusters=2, max_leaf_nodes=2, random_state=0)
    assert ex.n_clusters == asked.n_clusters == 2
    assert asked.agreement < settings.RIGHT
    assert ex.agreement >= asked.agreement + settings.LEAVES_GAIN
    assert (ex.n_leaves, asked.n_leaves) == (3, 2)
    assert any(
        note.startswith("3 leaves were taken for 2 clusters: rules of 2 leaves are right for") for note in ex.notes
    )
    only = [note for note in ex.notes if note.startswith("the rules are right for only ")]
    assert len(only) == (ex.agreement < settings.RIGHT)
    assert not any("were taken for" in note or note.startswith("the rules are right") for note in asked.notes)


def test_units_do_not_decide_in_python():
    rng = np.random.default_rng(0)
    rows, label = groups(3, 3)
    frame = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(revenue=rng.normal(size=len(rows)) * 1e6)
    ex = explain(frame, n_clusters=3)
    assert "revenue" not in {ex.columns[j] for j in ex.tree.features.tolist()}
    found = ex.predict(frame)
    assert len({*zip(found, label, strict=True)}) == 3


def test_arrays_of_pixels_keep_their_unit():
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 17, (200, 40)).astype(float) * (rng.random(40) < 0.9)
    assert not explain(pixels, n_clusters=3, method="imm").details.standardized
    assert explain(pixels * 10.0 ** rng.integers(-4, 4, 40), n_clusters=3, method="imm").details.standardized
    assert explain(pixels[:, :5], n_clusters=3, method="imm").details.standardized


def test_labels_and_clusterers_are_not_scaled():
    from sklearn.cluster import KMeans

    rows, label = groups(3, 4)
    for given in (label, KMeans(3, n_init=1, random_state=0)):
        assert not explain(rows, given, method="imm").details.standardized
    with pytest.raises(TypeError, match="standardize must be True, False or 'auto'"):
        explain(rows, label, standardize="unit")


ALONE = {
    "even": lambda rng, n: rng.uniform(size=n),
    "long": lambda rng, n: rng.lognormal(size=n),
    "zeros": lambda rng, n: np.where(rng.random(n) < 0.5, 0, rng.exponential(size=n)),
    "counts": lambda rng, n: rng.poisson(3, n),
}


@pytest.mark.parametrize("kind", ALONE)
@law(3)
def test_where_no_groups_show_no_number_alone_makes_the_clusters(kind, seed):
    rng, n = np.random.default_rng(seed), 400
    factor = rng.normal(size=n)
    frame = pd.DataFrame({f"x{j}": factor + rng.normal(size=n) / 2 for j in range(4)} | {"alone": ALONE[kind](rng, n)})
    ex = explain(frame, n_clusters=2, method="imm")
    if not lack_groups(ex.notes):
        return  # by chance, in one of twenty tables
    weights = dict(ex.provenance.weights) or dict.fromkeys(frame, 1.0)
    assert sum(weight >= SHOWN for weight in weights.values()) > 1
    chosen = explain(frame, method="imm")
    again = explain(frame, n_clusters=len(chosen.clusters), method="imm")
    np.testing.assert_array_equal(*(ex._evidence.task.reference.labels for ex in (chosen, again)))


@pytest.mark.parametrize("kind", ["categories", "flag", "flag with missing values", "number"])
def test_categories_that_alone_make_clusters_without_clear_groups_stay(kind, monkeypatch):
    """They are kinds by themselves; slices of a number are none."""
    rng, n = np.random.default_rng(3), 300
    alone = {"categories": np.eye(3)[rng.integers(0, 3, n)], "number": rng.normal(size=(n, 1))}
    alone |= dict.fromkeys(("flag", "flag with missing values"), rng.integers(0, 2, (n, 1)) * 1.0)
    rows = np.hstack([alone[kind], rng.normal(size=(n, 2))])
    lacks = np.zeros(rows.shape, dtype=np.bool_)
    if kind.endswith("missing values"):
        lacks[:9, 0] = True
        rows[:9, 0] = rows[9:, 0].mean()
    m = alone[kind].shape[1]
    look = DrawnRows(rows, [np.arange(m), np.array([m]), np.array([m + 1])], True, lacks)
    monkeypatch.setattr(DrawnRows, "weights", lambda look, k: np.array([1.0, SHOWN / 2, SHOWN / 2]))
    assert (look.settle(Groups(False), 2) is look) == (kind != "number")
    assert look.settle(Groups(None), 2) is look


@law(6)
def test_a_column_that_shows_groups_alone_makes_the_clusters(seed):
    rng, n = np.random.default_rng(seed), 400
    group, factor = rng.integers(0, 2 + seed % 3, n), rng.normal(size=n)
    frame = pd.DataFrame({f"x{j}": factor + rng.normal(size=n) for j in range(4)})
    frame["alone"] = group * 8 + rng.normal(size=n)
    ex = explain(frame, method="imm")
    assert not lack_groups(ex.notes)
    assert adjusted_rand_score(group, ex._evidence.task.reference.labels) > 0.95


def with_a_drowned_group(seed):
    """Return a table in which words of few rows go together, beside even numbers that slice alike in any half."""
    rng, n = np.random.default_rng(seed), 600
    unknown = rng.random(n) < rng.uniform(0.12, 0.3)
    words = {f"word {j}": np.where(unknown, "not known", rng.choice(["yes", "no"], n)) for j in range(4)}
    frame = pd.DataFrame({"year": rng.integers(85, 94, n), **words})
    return frame.iloc[:, rng.permutation(5)], unknown


@law(8)
def test_clusters_lie_apart_where_groups_show(seed):
    frame, unknown = with_a_drowned_group(seed)
    ex = explain(frame, random_state=seed)
    assert not lack_groups(ex.notes)
    assert adjusted_rand_score(unknown, ex.predict(frame)) > 0.9
    assert adjusted_rand_score(unknown, explain(frame, n_clusters=2).predict(frame)) > 0.9


@law(8)
def test_numbers_of_clusters_that_do_not_lie_apart_give_way_to_those_that_do(seed, monkeypatch):
    look, agreement = DrawnRows(groups(3, seed)[0]), {2: 0.9, 3: 0.95, 4: 0.9, 5: 0.99}
    monkeypatch.setattr(DrawnRows, "agreement_of_halves", lambda look, k, least=-1.0: agreement[k])

    def found(apart):
        for asked in ("lie_apart", "all_lie_apart"):
            monkeypatch.setattr(DrawnRows, asked, lambda look, k: k in apart)
        return settled_number(look, None, tuple(agreement), groups=Groups(True))

    assert found({3, 5}).k == 5
    assert found({3, 4}).k == 4
    assert "4 clusters were chosen, the largest number that lie apart, and for which" in found({3, 4}).notes[0]
    agreement |= {3: 0.6, 5: 0.7}
    assert found({3, 5}).k == 3
    assert found({3, 5}).notes[0] == "3 clusters were chosen, the fewest that lie apart (n_clusters)"
    assert found({3, 5}).others == ()
    assert found(set()).k == 4
    assert look.groups().show is False


@law(8)
def test_halvings_that_tell_enough_tell_the_number(seed):
    """Numbers that cannot be alike any more are not halved again, unless none is."""
    rng = np.random.default_rng(seed)
    rows = groups(2 + seed % 4, seed, apart=rng.choice([2.0, 3.0, 8.0]))[0]
    all_of = {k: DrawnRows(rows).agreement_of_halves(k) for k in DrawnRows(rows).limit_numbers()}
    found = DrawnRows(rows).how_many()
    assert (found.best, found.others, found.note) == (
        HowMany(all_of).best,
        HowMany(all_of).others,
        HowMany(all_of).note,
    )
    if found.agreement != all_of:
        assert max(all_of.values()) >= ALIKE


@law(8)
def test_clusters_that_are_looked_at_cost_as_little_as_those_that_are_made(seed, monkeypatch):
    """Few rows of which nothing is known lay apart as one of two clusters, though others cost less, and were made."""
    rows, _ = groups(8, seed, n=300, d=2, apart=3.0)
    looked_at = []
    monkeypatch.setattr(
        "boxwood.explanation.ask.how_many.Valleys.n_apart", lambda _, labels, __: looked_at.append(labels)
    )
    DrawnRows(rows)._n_apart(8)
    cost = sum(np.square(rows[own] - rows[own].mean(axis=0)).sum() for own in (looked_at[0] == c for c in range(8)))
    assert cost <= 1.02 * KMeans(8, n_init=10, random_state=seed).fit(rows).inertia_
