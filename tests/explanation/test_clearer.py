"""Whether groups are there: seen where a gap or a valley parts rows, and hardly ever where none does."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.groups import WITH, WITHOUT
from scipy.stats import binom
from sklearn.base import clone
from sklearn.cluster import DBSCAN, BisectingKMeans, KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, scale

from boxwood import MixedKMeans, compare_k, explain
from boxwood.explanation.ask.how_many import DrawnRows
from boxwood.explanation.measure.stability import _look
from boxwood.explanation.measure.valleys import LEVEL, Valleys, clearest_valley, join_flags
from boxwood.words.notes import GO_ROUND, NO_GROUPS, lack_groups
from tests.explanation.test_stability import k_means
from tests.naive.valleys import clearest_depth
from tests.scale import draws, law, seeds


def groups_in(rows, **how):
    return Valleys.of(np.asarray(rows, dtype=float), **how).groups()


def shows(rows, **how):
    return groups_in(rows, **how).show


def made(kinds, kind, seed):
    return kinds[kind](np.random.default_rng([100 + seed, [*kinds].index(kind), kinds is WITH]))


def says_groups(frame):
    return not lack_groups(explain(frame, n_clusters=2, method="imm").notes)


def valley_in(line):
    found = clearest_valley(line[None])
    return None if found is None else found[1]


@law(30)
def test_the_clearest_valley_of_several_lines_is_that_of_the_first_with_the_deepest(seed):
    rng = np.random.default_rng(seed)
    lines = rng.normal(size=(rng.integers(0, 6), 50)) + rng.uniform(0, 8) * rng.integers(0, 3, size=50)
    lines = lines.round(rng.integers(0, 3)) * rng.integers(0, 2, size=(len(lines), 1))  # some have no room for a valley
    each = [(number, valley) for number, line in enumerate(lines) if (valley := valley_in(line)) is not None]
    assert clearest_valley(lines) == max(each, key=lambda found: found[1].depth, default=None)


@law(30)
def test_the_clearest_valley_is_that_of_the_naive_search(seed):
    rng = np.random.default_rng(seed)
    line = rng.normal(size=rng.integers(3, 60)) + rng.uniform(0, 8) * rng.integers(0, 3)
    line = line.round(rng.integers(0, 3)) if seed % 3 == 0 else line
    found = valley_in(line)
    if found is None:
        assert np.ptp(line) == 0
        return
    assert found.depth == pytest.approx(clearest_depth(line))
    valley, crowd, larger = (found.rows_in(begin, line).sum() for begin in (found.valley, found.crowd, found.larger))
    assert crowd <= larger
    assert (valley < crowd) or found.depth <= 0


def unequal(rng, g):
    turn = np.arange(len(g)) % 20
    return rng.normal(size=(len(g), 2)) + 6.0 * np.c_[(turn > 15) & (turn < 19), turn == 19]


EVIDENT = {
    "four blobs": lambda rng, g: np.c_[g % 2, g // 2] * 10 + rng.normal(size=(len(g), 2)),
    "two humps of one column": lambda rng, g: rng.normal(size=(len(g), 3)) + np.c_[12 * (g > 1), 0 * g, 0 * g],
    "a square in two of five": lambda rng, g: rng.normal(size=(len(g), 5)) + 6 * np.c_[g % 2, g // 2] @ np.eye(2, 5),
    "one column alone": lambda rng, g: (rng.normal(size=len(g)) + 9 * (g > 2))[:, None],
    "eighty, fifteen, five": unequal,
}


@pytest.mark.parametrize("kind", EVIDENT)
@law(4)
def test_nobody_could_overlook_these_in_any_order_unit_and_turn(kind, seed):
    rng = np.random.default_rng(seed)
    rows = EVIDENT[kind](rng, rng.integers(0, 4, int(rng.integers(350, 700))))
    assert shows(rows)
    order, turn = rng.permutation(len(rows)), np.linalg.qr(rng.normal(size=(rows.shape[1],) * 2))[0]
    assert groups_in(rows[order]).show
    assert groups_in(rows[order]).column == groups_in(rows).column
    assert shows(rows * 1e-9)
    assert kind == "a square in two of five" or shows(rows @ turn)


@law(12)
def test_the_order_of_rows_changes_no_verdict(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(120, 3)) + rng.uniform(2, 5) * rng.integers(0, 2, (120, 1))
    rows = rows.round(1) if seed % 2 else rows
    lacks = rng.random(rows.shape) < 0.05
    order = rng.permutation(len(rows))
    found, again = groups_in(rows, lacks=lacks), groups_in(rows[order], lacks=lacks[order])
    assert (found.show, found.column) == (again.show, again.column)
    assert (rows[list(found.around)] == rows[order][list(again.around)]).all()


@law(12)
def test_valleys_part_clusters_that_they_lie_between_and_not_those_that_they_cut(seed):
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 5)), 500
    group, beside = rng.integers(0, k, n), rng.normal(size=n)
    corners = np.arange(k)[:, None] if seed % 2 else np.eye(k)  # in a row, or in corners
    rows = np.column_stack([corners[group] * 9.0 + rng.normal(size=(n, corners.shape[1])), beside])
    valleys, even = Valleys.of(rows), np.ones(rows.shape[1])
    assert valleys.n_apart(group, even) == k
    mixed = (group == 0) ^ (rng.random(n) < 0.3)
    assert valleys.n_apart(mixed * 1, even) == 0
    assert valleys.n_apart((beside > 0) * 1, even) == 0


def test_steps_and_frequent_values_are_no_groups():
    rng = np.random.default_rng(0)
    assert not shows(rng.random((200, 6)) < 0.3)
    assert not shows(rng.integers(0, 5, (200, 3)))
    assert not shows(np.where(rng.random((300, 2)) < 0.5, 0.0, 5 + rng.exponential(size=(300, 2))))
    flag = rng.random(300) < 0.5
    assert not shows(np.c_[flag * 9, rng.normal(size=300)])
    assert shows(np.c_[flag * 9 + rng.normal(size=300), rng.normal(size=300)])  # humps of numbers are


WHOLE = {
    "ages": lambda rng, g: rng.normal(20 + 40 * g, 2),
    "of unlike sizes": lambda rng, g: rng.normal(np.where(g, 60, 20), np.where(g, 8, 2)),
    "counts": lambda rng, g: rng.poisson(np.where(g, 40, 2)),
}


@pytest.mark.parametrize("kind", WHOLE)
@law(6)
def test_humps_of_whole_numbers_are_groups_and_steps_and_spikes_are_none(kind, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(150, 500))
    ages = pd.DataFrame({"age": WHOLE[kind](rng, rng.random(n) < 0.4).round(), "x": rng.normal(size=n)})
    ex = explain(ages, n_clusters=2, method="imm")
    [said] = [note for note in ex.notes if note.startswith("age alone shows groups: no row of ")]
    low, high = map(float, said.split(" between ")[1].split(" and "))
    assert not ages["age"].between(low, high, inclusive="neither").any()
    assert high - low > 1
    rounded = np.where(rng.random(n) < 0.5, rng.normal(9, 2.4, n).round() * 5, rng.normal(45, 12, n).round())
    assert not shows(in_one_range(np.c_[np.where(rng.random(n) < 0.5, 0, rng.poisson(20, n)), ages["x"]]))
    assert not shows(in_one_range(np.c_[rounded, ages["x"]]))


@law(20)
def test_flags_made_of_the_words_of_a_column_are_its_categories_in_any_order(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 300))
    words = [rng.choice([*"abcdef"[: rng.integers(2, 7)]], n) for _ in range(3)]
    number, drop = rng.normal(size=(n, 1)), rng.integers(2)
    of_words = [pd.get_dummies(each, dtype=float, drop_first=bool(drop)).to_numpy() for each in words]
    ends = np.cumsum([1] + [part.shape[1] for part in of_words])
    rows = scale(np.hstack([number, *of_words]))
    blocks = join_flags(rows, np.arange(rows.shape[1])[:, None])
    if not drop:  # each row has one, so no other flag goes with them
        assert [[*block] for block in blocks] == [[0], *map(list, map(np.arange, ends[:-1], ends[1:]))]
    order = rng.permutation(rows.shape[1])
    for block in join_flags(rows[:, order], np.arange(len(order))[:, None]):
        assert len(block) == 1 or (rows[:, order[block]] > 0).sum(axis=1).max() == 1


def flags_of(rng, n):
    return pd.DataFrame((rng.random((n, 4)) < rng.uniform(0.2, 0.8, 4)) * 1.0).add_prefix("f")


def words_of(rng, n):
    return pd.DataFrame({name: rng.choice([*"abcde"[: rng.integers(2, 6)]], n) for name in "uvw"})


def words_and_a_number(rng, n):
    return words_of(rng, n)[["u"]].assign(x=rng.normal(size=n))


def zeros_of(rng, n):
    return pd.DataFrame(np.where(rng.random((n, 3)) < 0.6, 0.0, rng.exponential(size=(n, 3)))).add_prefix("z")


def in_code(frame, way):
    """Return a table, and what its clusterer stands behind, as users code tables without groups."""
    one_hot = (OneHotEncoder(sparse_output=False), [name for name in frame if name in "uvw"])
    code = make_column_transformer(one_hot, remainder=StandardScaler())
    if way == "flags":
        return pd.get_dummies(frame, dtype=float), []
    if way == "scaled flags":
        return pd.DataFrame(scale(pd.get_dummies(frame, dtype=float))).add_prefix("c"), []
    return frame, [code, PCA(2)] if way == "components" else [code]


CLUSTERERS = KMeans(3, n_init=2), BisectingKMeans(3), GaussianMixture(3, covariance_type="diag", reg_covar=1e-3)
WAYS = "flags", "scaled flags", "components", "columns"


@pytest.mark.filterwarnings("ignore")
def test_clusterers_that_users_give_show_no_groups_where_there_are_none():
    found = [_shows_groups(seed, way) for seed in seeds(8) for way in WAYS]
    assert sum(found) <= binom.ppf(0.99, len(found), LEVEL)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_clusterers_that_users_give_hardly_ever_show_groups_where_there_are_none():
    n = draws(60, least=20)
    assert sum(_shows_groups(100 + seed, WAYS[seed // 4 % 4]) for seed in range(n)) <= binom.ppf(0.99, n, LEVEL)


def _shows_groups(seed, way):
    rng = np.random.default_rng(seed)
    make = (flags_of, words_of, words_and_a_number, zeros_of)[seed % 4]
    frame, steps = in_code(make(rng, int(rng.integers(80, 300))), way)
    clusterer = clone(CLUSTERERS[seed % 3]).set_params(random_state=seed)
    ex = explain(frame, make_pipeline(*steps, clusterer) if steps else clusterer, method="imm")
    return bool(_look(ex._rows()).groups().show)


def test_a_valley_without_a_gap_is_told_as_one():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 2)) + np.c_[4.0 * rng.integers(0, 2, 500), np.zeros(500)]
    notes = explain(pd.DataFrame(rows, columns=["age", "b"]), n_clusters=2, method="imm").notes
    said = next(note for note in notes if note.startswith("age alone shows groups: fewer rows about "))
    assert 1 < float(said.split(" about ")[1].split()[0]) < 3


def test_rows_about_a_hollow_are_no_groups():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 500)
    assert not shows(np.c_[np.cos(angle), np.sin(angle)] * 5 + rng.normal(size=(500, 2)) * 0.4)


def test_known_tables():
    assert shows(load_iris().data)
    assert shows(scale(load_wine().data))


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_tables_without_groups_are_hardly_ever_said_to_have_some():
    n = draws(52, least=13)
    found = [says_groups(made(WITHOUT, [*WITHOUT][seed % len(WITHOUT)], seed)) for seed in range(n)]
    assert sum(found) <= binom.ppf(0.99, n, LEVEL)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_groups_are_seen():
    n = draws(28, least=14)
    found = [says_groups(made(WITH, [*WITH][seed % len(WITH)], seed)) for seed in range(n)]
    assert sum(found) >= binom.ppf(0.01, n, 0.92)


def test_noise_has_no_groups_however_often_its_clusters_return():
    rows = np.random.default_rng(0).normal(size=(200, 2))
    found = explain(rows, k_means(3), method="imm").stability(2)
    assert found.clearer is False
    assert "Whether there are groups at all is not shown: no gap or valley parts the rows" in found.verdict
    assert "Read them as one way to divide the rows, not as groups that exist" in found.verdict


@pytest.mark.full
@pytest.mark.parametrize(
    "clusterer",
    [
        make_pipeline(StandardScaler(), KMeans(3, n_init=1, random_state=0)),
        make_pipeline(KMeans(3, n_init=1, random_state=0)),
        DBSCAN(1.5),
    ],
)
@pytest.mark.parametrize("weights", [None, np.linspace(0.0, 1.0, 90)])
def test_groups_are_shown_whoever_clusters_them(clusterer, weights):
    X = make_blobs(90, 3, centers=np.eye(3) * 15, random_state=0)[0]
    found = explain(X, clusterer, method="imm", sample_weight=weights).stability(2)
    assert found.clearer
    assert "The rows show groups: a gap or a valley parts them." in found.verdict


def test_nothing_is_said_where_nothing_is_clustered_again():
    X, y = make_blobs(60, centers=2, random_state=0)
    found = explain(X, y, method="imm").stability(2)
    assert found.clearer is None
    assert found.verdict.endswith("Labels were given, so there is no test of whether the groups are real.")
    assert DrawnRows(X[:10]).groups().show is None  # too few to tell
    assert shows(np.ones((30, 2))) is False


def test_codes_of_words_have_no_variance():
    codes = np.random.default_rng(0).integers(0, 6, (60, 2)) * 1.0
    found = explain(codes, MixedKMeans(3, categorical_features=[0, 1], random_state=0), method="cart").stability(2)
    assert (found.refitted, found.clearer) == (True, None)
    assert found.verdict.endswith("Codes have no variance, so there is no test of whether the groups are real.")


def test_a_clusterer_behind_encoders_is_given_words_not_groups():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=150), "u": rng.choice([*"abc"], 150), "v": rng.choice([*"de"], 150)})
    steps = make_column_transformer((StandardScaler(), ["x"]), (OneHotEncoder(sparse_output=False), ["u", "v"]))
    for apart in (0, 8):
        frame["x"] += apart * (rng.random(150) < 0.5)
        clusterer = make_pipeline(steps, KMeans(2, n_init=1, random_state=0)).fit(frame)
        assert explain(frame, clusterer, method="cart").stability(2).clearer == bool(apart)


@law(4)
def test_all_ways_to_ask_give_one_verdict(seed):
    kinds = {**WITH, **WITHOUT}
    rng = np.random.default_rng([seed, 7])
    frame = kinds[rng.choice([*kinds])](rng)
    frame = frame.sample(min(len(frame), 250), random_state=seed)
    how = {"sample_weight": rng.integers(1, 4, len(frame))} if seed % 4 == 3 else {}
    ex, compared = explain(frame, method="imm", **how), compare_k(frame, [2, 3], method="imm", **how)
    asked = explain(frame, n_clusters=3, method="imm", **how)
    says = [not lack_groups(one.notes) for one in (ex, asked)]
    says += [compared.groups, (NO_GROUPS not in str(compared)), asked.stability(2, random_state=0).clearer]
    page = ex.to_html()
    says += [ex.to_markdown().startswith(f"## {len(ex.clusters)} clusters of "), "No clear groups in" not in str(asked)]
    says += [not any(said in page for said in ("No clear groups:", "No kinds found:")), ">none clear<" not in page]
    assert len({*says}) == 1


def ring_of(rng):
    angle = rng.uniform(0, 2 * np.pi, 400)
    return np.c_[np.cos(angle), np.sin(angle)] * 5 + rng.normal(size=(400, 2)) * rng.uniform(0.2, 0.7)


@law(8)
def test_no_cloud_has_a_hollow_that_rows_go_round(seed):
    rng = np.random.default_rng(seed)
    assert not groups_in(rng.normal(size=(400, 3))).go_round
    assert not groups_in(rng.uniform(size=(400, 2))).go_round


def test_the_hollow_of_most_rings_is_told():
    assert np.mean([groups_in(ring_of(np.random.default_rng(seed))).go_round for seed in range(8)]) > 0.6
    ring = pd.DataFrame(ring_of(np.random.default_rng(0)))
    ex = explain(ring, n_clusters=2, method="imm")
    assert any(GO_ROUND in note for note in ex.notes)
    assert GO_ROUND in ex.to_html()


def in_one_range(rows):
    return (rows - rows.mean(axis=0)) / np.ptp(rows, axis=0)


def rolled(rng, n):
    angle = 1.5 * np.pi * (1 + 2 * rng.random(n))
    return np.c_[angle * np.cos(angle), rng.uniform(0, 21, n), angle * np.sin(angle)]


def helix(rng, n):
    angle = rng.uniform(0, 18, n)
    return np.c_[np.cos(angle) * 3, np.sin(angle) * 3, angle / 2] + rng.normal(size=(n, 3)) * 0.1


def arch(rng, n):
    angle = rng.uniform(0, 1.3 * np.pi, n)
    return np.c_[np.cos(angle), np.sin(angle)] * 5 + rng.normal(size=(n, 2)) * 0.3


def thin_ring(rng, n):
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.c_[np.cos(angle), np.sin(angle)] + rng.normal(size=(n, 2)) * 0.02


def wave(rng, n):
    x = rng.uniform(0, 12, n)
    return np.c_[x, 2 * np.sin(x) + rng.normal(size=n) * 0.3]


@pytest.mark.parametrize("shape", [rolled, helix, arch, thin_ring, wave])
def test_rows_on_one_curve_or_sheet_are_no_groups_however_it_bends(shape):
    found = [groups_in(in_one_range(shape(np.random.default_rng([seed, 1]), 300))) for seed in seeds(8)]
    assert np.mean([one.show for one in found]) <= 0.25
    assert np.mean([one.go_round for one in found]) >= 0.5


@law(8)
def test_two_sheets_and_two_groups_on_one_sheet_are_groups(seed):
    rng = np.random.default_rng(seed)
    assert shows(in_one_range(rolled(rng, 300) + np.c_[0, 40, 0] * (np.arange(300)[:, None] < 150)))
    height, weight = rng.normal(170, 7, 300), rng.normal(65, 8, 300) + 40 * (rng.random(300) < 0.5)
    assert shows(in_one_range(np.c_[height, weight, weight / height**2]))
    flat = np.where(np.arange(200) < 30, rng.normal(60, 8, 200), rng.normal(20, 2, 200))
    assert shows(in_one_range(np.c_[flat, rng.normal(size=(200, 2))]))


@law(8)
def test_two_groups_of_which_one_number_tells_the_other_are_groups(seed):
    rng = np.random.default_rng(seed)
    apart = rng.normal(size=(300, 2)) + 5 * (rng.random((300, 1)) < 0.5)
    assert shows(in_one_range(apart))
    assert shows(in_one_range(wave(rng, 300) + np.c_[np.zeros(300), 30 * (rng.random(300) < 0.5)]))


def test_steps_of_counts_that_a_logarithm_makes_wider_are_no_groups():
    found = list[bool]()
    for seed in seeds(12):
        rng = np.random.default_rng([seed, 3])
        counts = rng.negative_binomial(1, rng.uniform(0.07, 0.12), 900)
        table = pd.DataFrame({"papers": counts, "score": rng.normal(size=900)})
        found.append(not lack_groups(explain(table, n_clusters=2, method="imm").notes))
    assert np.mean(found) <= 0.25


def test_clipped_numbers_lie_in_no_corners():
    found = list[bool]()
    for seed in seeds(12):
        rng = np.random.default_rng([seed, 2])
        rows = np.clip(rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3)), -1.5, 1.5)
        assert shows(np.c_[rows, rows[:, :2] + 9 * (rng.random((400, 1)) < 0.5)])
        found.append(shows(rows))
    assert np.mean(found) <= 0.25


def test_the_verdict_is_found_once_whatever_is_tried(monkeypatch):
    looked = []
    groups = DrawnRows.groups
    monkeypatch.setattr(DrawnRows, "groups", lambda look: looked.append(1) or groups(look))
    rows = np.random.default_rng(0).normal(size=(200, 6))
    tried = explain(pd.DataFrame(rows))
    assert any("the rules are right for only" in note for note in tried.notes), "other numbers of clusters are tried"
    assert len(looked) == 1
    looked.clear()
    compare_k(pd.DataFrame(rows), [2, 3, 4], method="imm")
    assert len(looked) == 2
