"""Changes by hand: each is measured as a full recount says, every form agrees, and its line makes it again."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from tests import naive
from tests.scale import law

WORDS = ["gold", "it's", "solo", "team"]
SIZES = ["S", "M", "L", "XL"]


def customers(rng, n=120, *, gaps=True):
    """Return a frame of each kind of column, labels of which some leave rows out, and weights or None."""
    frame = pd.DataFrame({
        "age": rng.integers(18, 80, n).astype(float),
        "income": rng.lognormal(10.5, 0.4, n).round(rng.integers(-3, 2)),
        "plan": rng.choice(WORDS, n),
        "member": rng.random(n) < 0.5,
        "joined": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D"),
        "size": pd.Categorical(rng.choice(SIZES, n), SIZES, ordered=True),
    })  # fmt: skip
    young = np.where(frame["joined"] < "2025-01-01", "early", np.where(frame["size"] >= "L", "large", "small"))
    labels = np.where(frame["age"] > 50, np.where(frame["member"], "old m", "old"), young)
    labels = np.where(frame["plan"] == "team", np.where(frame["income"] > 40_000, "rich", "team"), labels)
    labels = np.where(rng.random(n) < 0.1, rng.permutation(labels), labels)
    labels = np.where(rng.random(n) < 0.05, "-1", labels)
    if gaps:
        frame.loc[rng.random(n) < 0.1, "age"] = np.nan
        frame.loc[rng.random(n) < 0.1, "plan"] = None
        frame.loc[rng.random(n) < 0.05, "joined"] = pd.NaT
    weights = rng.integers(0, 4, n).astype(float) if rng.random() < 0.3 else None
    return frame, labels, weights


def values_of_cuts(ex, column):
    """Return at which values there are cuts of a column of numbers or dates, as the error says them."""
    with pytest.raises(bw.DataError) as raised:
        ex.move_cut(column, "1970-01-01" if column == "joined" else -1e9, to=0)
    said = str(raised.value).rpartition(" at ")[2]
    return said.split(", ") if "there are" in str(raised.value) else []


def drawn_edit(rng, ex):
    """Return the explanation with one change that is drawn; a DataError if that contradicts a cut."""
    nodes = np.flatnonzero(ex.tree.feature >= 0).tolist()
    verb = rng.integers(6) if nodes else 5
    if verb <= 1:
        return moved(rng, ex, ex.columns[ex.tree.feature[rng.choice(nodes)]])
    if verb == 2:
        return ex.prune(int(rng.choice(nodes)))
    if verb == 3:
        return ex.replace_cut(int(rng.choice(nodes)), *asked(rng, ex))
    if verb == 4 and ex.n_clusters > 2:
        names = rng.choice(np.array(ex.names, dtype=object), 2, replace=False).tolist()
        new = rng.choice(["both", *names])
        if rng.random() < 0.5:
            return ex.rename(dict.fromkeys(names, f"{new} "), merge=True)
        return ex.merge_clusters(*names, name=str(new))
    return ex.split(int(rng.integers(ex.n_leaves)), *asked(rng, ex))


def moved(rng, ex, column):
    """Return the explanation with a cut of a column at another value."""
    if column in ("plan", "size", "member"):
        j = ex.columns.index(column)
        [node, *_] = np.flatnonzero(ex.tree.feature == j).tolist()
        known = dict(ex.categories)[column] if column != "member" else ex._coded_columns[j]
        inside = ex.tree.is_inside(node, np.arange(float(len(known.values))))
        side = rng.random() < 0.5
        at = [value for value, is_in in zip(known.values, inside, strict=True) if is_in == side]
        return ex.move_cut(column, at, to=asked(rng, ex, column)[1])
    values = values_of_cuts(ex, column)
    return ex.move_cut(column, rng.choice(values) if values else 0, to=asked(rng, ex, column)[1])


def asked(rng, ex, column=None):
    """Return a column and what a cut may ask of it."""
    column = column or str(rng.choice(list(ex.columns)))
    if column in ("plan", "size"):
        words = WORDS if column == "plan" else SIZES
        return column, rng.choice(words, rng.integers(1, 4), replace=False).tolist()
    if column == "member":
        return column, bool(rng.random() < 0.5)
    if column == "joined":
        return column, str(pd.Timestamp("2024-01-01") + pd.Timedelta(days=int(rng.integers(700))))[:10]
    return column, float(rng.integers(18, 80)) if column == "age" else float(rng.integers(20, 70) * 1000)


def refuse_other_numbers(ex, before, labels, names, weights):
    """Compare an explanation with a full recount; IN: before: the clusters that rules named; names: of rows."""
    rows = ex._rows()
    here, task = rows.coordinates, rows.task
    own = [ex.names.index(name) if name in ex.names else -1 for name in labels]
    scales = np.ones(len(ex.columns)) if here.scales is None else here.scales
    kept = None if weights is None else task.rows.weights
    found = naive.recount(ex.tree.to_dict(), here.table.values, own, kept, {*here.categories}, scales)
    assert ex.agreement == pytest.approx(found["agreement"], abs=1e-12)
    assert [ex.cost, ex.reference_cost] == pytest.approx(found["costs"], rel=1e-9, abs=1e-6)
    assert {one.cluster: one.size for one in ex.clusters if one.size} == pytest.approx(found["sizes"])
    assert {one.cluster: one.matched for one in ex.clusters if one.matched} == pytest.approx(found["matched"])
    now = [ex.names[cluster] for cluster in found["predicted"]]
    edit = ex.changes[-1]
    counted = naive.rows_moved([names.get(name, name) for name in before], now, own, kept)
    assert {(one.before, one.now): one.size for one in edit.moved} == pytest.approx(counted)
    assert (edit.agreement, edit.price) == (ex.agreement, ex.price)
    return now


def refuse_other_forms(ex, frame):
    """Compare forms with predict, row by row."""
    predicted = ex.predict(frame, missing="none").tolist()
    assert bw.Explanation.from_json(ex.to_json()).predict(frame, missing="none").tolist() == predicted
    names = {}
    exec(ex.to_python(), names)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    assert [names["cluster"](row) for row in rows] == predicted
    table = frame.assign(size=frame["size"].astype(str), number=range(len(frame)))
    with duckdb.connect() as engine:
        engine.register("people", table)
        sql = ex.to_sql("duckdb", "people")
        found = engine.execute(f"SELECT cluster FROM ({sql.rstrip().rstrip(';')}) ORDER BY number").fetchall()
    assert [one for (one,) in found] == predicted


@law(24)
def test_a_random_chain_is_measured_as_a_recount_says(seed):
    refuse_a_wrong_chain(seed)


@pytest.mark.full
@law(500, first=24)
def test_many_random_chains(seed):
    refuse_a_wrong_chain(seed)


def refuse_a_wrong_chain(seed):
    """Change an explanation a few times, and compare it with a recount, its forms, and what its lines make."""
    rng = np.random.default_rng(seed)
    frame, labels, weights = customers(rng, gaps=bool(seed % 3))
    first = ex = bw.explain(frame, labels, sample_weight=weights, method="cart", max_leaf_nodes=6)
    rows = ex._rows()
    labels = [labels[i] for i in (range(len(labels)) if rows.positions is None else rows.positions)]
    now = [ex.names[cluster] for cluster in ex.tree.predict(rows.coordinates.table).tolist()]
    for _ in range(4):
        old = ex
        try:
            ex = drawn_edit(rng, ex)
        except bw.DataError as error:
            if "contradict each other" in str(error) or "at least" in str(error):
                continue
            raise
        renamed = dict(zip(old.names, new_names(old, ex), strict=True)) if ex.n_clusters < old.n_clusters else {}
        labels = [renamed.get(label, label) for label in labels]
        now = refuse_other_numbers(ex, now, labels, renamed, weights)
    refuse_other_forms(ex, frame)
    assert made_again(first, ex) == ex
    assert bw.Explanation.from_json(ex.to_json()).changes == ex.changes


def new_names(old, ex):
    """Return the new name of each old cluster: clusters that were merged have the one that the line gives them."""
    stays = [name for name in old.names if name in ex.names]
    new = next((name for name in ex.names if name not in old.names), None)
    if new is None:  # the name of one of them
        new = eval(str(ex.changes[-1]).partition("name=")[2].rstrip(")"))
    return [name if name in stays else new for name in old.names]


def made_again(ex, changed):
    """Return what the lines of the changes make."""
    names = {"ex": ex}
    for edit in changed.changes:
        exec(str(edit), names)
    return names["ex"]
