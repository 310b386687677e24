"""How much columns count in clusters that boxwood makes: those with groups, wherever they are, and no others."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from boxwood import explain, scan
from boxwood.clusterers.column_weights import LEAST, Alone, shared_weights, weighted_clusters
from boxwood.reference.ranks import PARTS, spread_left
from tests.models import read_model
from tests.scale import law


def with_noise(seed, *, n=300, words=False):
    """Return a frame with groups in two or three columns, noise in many others, in any units, and the groups."""
    rng = np.random.default_rng(seed)
    k, d, n_noise = 2 + seed % 3, 2 + seed % 2, int(rng.integers(5, 12))
    group = rng.integers(0, k, n)
    places = np.array([rng.permutation(k) for _ in range(d)]).T * 8.0
    rows = np.hstack([places[group] + rng.normal(size=(n, d)), rng.normal(size=(n, n_noise))])
    rows *= 10.0 ** rng.integers(-3, 4, d + n_noise)
    names = [*(f"group{j}" for j in range(d)), *(f"noise{j}" for j in range(n_noise))]
    frame = pd.DataFrame(rows, columns=names)
    if words:
        frame["noise"] = rng.choice(list("abc"), n)
        frame["kind"] = np.array(list("uvw"))[group % 3]
    return frame.iloc[:, rng.permutation(frame.shape[1])], group


def labels_of(ex):
    return ex._evidence.task.reference.labels


@law(6)
def test_noise_in_other_columns_hides_no_groups(seed):
    frame, group = with_noise(seed, words=seed % 2 == 1)
    ex = explain(frame, n_clusters=len(np.unique(group)), method="imm")
    assert adjusted_rand_score(labels_of(ex), group) > 0.95
    weights = dict(ex.provenance.weights)
    assert set(weights) == set(frame.columns)
    assert max(weights.values()) == 1
    numbers = [name for name in frame if name.startswith("group")]
    assert min(weights[name] for name in numbers) > max(weights[name] for name in frame if name.startswith("noise"))
    for note in ex.notes:
        assert not note.startswith("groups show in ") or "noise" not in note


def test_the_columns_in_which_groups_show_are_told_and_kept():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 300)
    places = np.array([[0, 0], [9, 0], [0, 9]])[group]
    frame = pd.DataFrame(places + rng.normal(size=(300, 2)), columns=["spend", "visits"])
    frame = frame.assign(**{f"noise{j}": rng.normal(size=300) for j in range(4)})
    ex = explain(frame, n_clusters=3)
    assert "groups show in 2 of 6 columns: spend, visits" in ex.notes
    assert read_model(ex.to_json()).provenance.weights == ex.provenance.weights
    assert explain(frame, group, method="imm").provenance.weights == ()


@law(4)
def test_columns_count_alike_where_clusters_only_slice_them(seed):
    rng = np.random.default_rng(seed)
    draw = rng.normal if seed % 2 else rng.uniform
    ex = explain(pd.DataFrame(draw(size=(400, 4))).add_prefix("x"), n_clusters=2 + seed % 3, method="imm")
    assert ex.provenance.weights == ()


@law(6)
def test_the_order_of_rows_changes_no_cluster(seed):
    rng = np.random.default_rng(seed)
    frame, _ = with_noise(seed, n=150 if seed % 3 else 1200, words=seed % 2 == 1)
    if seed % 2:
        frame.loc[rng.random(len(frame)) < 0.05, "noise0"] = np.nan
    frame = frame[rng.random(len(frame)) < 0.7]
    order = rng.permutation(len(frame))
    k = None if seed % 3 == 1 else 3
    one, other = (explain(rows, n_clusters=k, method="imm") for rows in (frame, frame.iloc[order]))
    assert (labels_of(one)[order] == labels_of(other)).all()
    assert one.provenance.weights == other.provenance.weights
    assert str(one) == str(other)


@law(4)
def test_a_frame_and_a_source_give_the_same_clusters(seed):
    import pyarrow as pa

    frame, _ = with_noise(seed, words=seed % 2 == 1)
    one, other = (explain(rows, method="imm") for rows in (frame, scan(pa.Table.from_pandas(frame))))
    assert str(one) == str(other)
    assert one.provenance.weights == other.provenance.weights


@law(30)
def test_what_the_best_cuts_leave_is_what_the_parts_keep(seed):
    rng = np.random.default_rng(seed)
    values = np.unique(np.round(rng.normal(size=60) ** (1 + seed % 3), 2))
    mass = rng.integers(1, 4, len(values)).astype(float)
    rows = np.repeat(values, mass.astype(int))
    parts, ratios = [rows], list[float]()
    while len(parts) < PARTS:
        cut = [
            (_squares(part) - min(_of_both(part)), i, int(np.argmin(_of_both(part)))) for i, part in enumerate(parts)
        ]
        _, i, at = max(cut)
        part = parts.pop(i)
        parts += [part[: at + 1], part[at + 1 :]]
        ratios.append(len(parts) ** 2 * sum(map(_squares, parts)) / _squares(rows))
    assert spread_left(values, mass) == pytest.approx(min(ratios))


def _squares(part):
    return float(np.square(part - part.mean()).sum()) if len(part) else 0.0


def _of_both(part):
    return [_squares(part[: i + 1]) + _squares(part[i + 1 :]) for i in range(len(part))]


@law(40)
def test_clusters_of_one_row_each_leave_nothing(seed):
    """Rounding may find more of a column's variance between clusters than there is."""
    rng = np.random.default_rng(seed)
    rows, blocks = rng.normal(size=(rng.integers(20, 60), 5)) * 10.0 ** rng.integers(-3, 4), [[0], [1], [2, 3], [4]]
    blocks = [np.array(block) for block in blocks]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = weighted_clusters(rows, blocks, len(rows), Alone.of(rows, blocks), np.random.RandomState(seed), 1)
    assert len(found.centers) == len(rows)


@law(40)
def test_what_columns_have_in_common_is_what_the_first_component_tells_of_each(seed):
    rng = np.random.default_rng(seed)
    n, d, n_words = 200, 2 + seed % 6, seed % 4
    factor = rng.normal(size=n)
    numbers = np.outer(factor, rng.uniform(1, 3, d)) + rng.normal(size=(n, d))
    words = np.eye(3)[np.digitize(factor, [-1, 0.5])] if n_words else np.empty((n, 0))
    rows = np.hstack([numbers * 10.0 ** rng.integers(-3, 4, d), words])
    blocks = [*np.arange(d)[:, None], *([np.arange(d, d + 3)] if n_words else [])]
    centred = rows - rows.mean(axis=0)
    columns = np.hstack([centred[:, block] / np.linalg.norm(centred[:, block]) for block in blocks])
    score = np.linalg.svd(columns)[0][:, 0]
    told = [np.square(score @ columns[:, block]).sum() + LEAST for block in blocks]
    np.testing.assert_allclose(shared_weights(rows, blocks), np.array(told) / max(told), rtol=1e-9)


def test_columns_that_have_nothing_in_common_count_alike():
    def are_alike(seed):
        rng = np.random.default_rng(seed)
        d = 2 + seed % 9
        return (shared_weights(rng.normal(size=(300, d)), list(np.arange(d)[:, None])) == 1).all()

    assert np.mean([are_alike(seed) for seed in range(100)]) > 0.8
    assert shared_weights(np.zeros((5, 2)), list(np.arange(2)[:, None])).tolist() == [1, 1]
