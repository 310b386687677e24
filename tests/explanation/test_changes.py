"""Changes by hand: each is measured as a full recount says, every form agrees, and its line makes it again."""

import json
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest

import boxwood as bw
from boxwood.words.values import number
from tests import naive
from tests.models import read_model
from tests.programs import program
from tests.scale import law

WORDS = ["gold", "it's", "solo", "team"]
SIZES = ["S", "M", "L", "XL"]


def customers(rng, n=60, *, gaps=True):
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
    for name in set(labels.tolist()) if weights is not None else ():
        weights[np.argmax(labels == name)] = 1.0  # a cluster has rows that count
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
        new = rng.choice([f"both {ex.n_clusters}", *names])
        if rng.random() < 0.5:
            return ex.rename(dict.fromkeys(names, f"{new} "), merge=True)
        return ex.merge_clusters(*names, name=str(new))
    return ex.split(int(rng.integers(ex.n_leaves)), *asked(rng, ex))


def moved(rng, ex, column):
    """Return the explanation with a cut of a column at another value."""
    if column in ("plan", "size", "member"):
        j = ex.columns.index(column)
        [node, *_] = np.flatnonzero(ex.tree.feature == j).tolist()
        known = dict(ex.details.categories)[column] if column != "member" else ex._coded_columns[j]
        inside = ex.tree.is_inside(node, np.arange(float(len(known.values))))
        side = rng.random() < 0.5
        at = [value for value, is_in in zip(known.values, inside, strict=True) if is_in == side]
        return ex.move_cut(column, at, to=asked(rng, ex, column)[1])
    values, to = values_of_cuts(ex, column), asked(rng, ex, column)[1]
    if not values:  # its one cut asks whether there is a value
        return ex.split(int(rng.integers(ex.n_leaves)), *asked(rng, ex))
    changed = ex.move_cut(column, rng.choice(values), to=to)
    assert (to if column == "joined" else number(to)) in values_of_cuts(changed, column)
    return changed


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
    assert read_model(ex.to_json()).predict(frame, missing="none").tolist() == predicted
    names = program(ex.to_python())
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
    again, loaded = made_again(first, ex), read_model(ex.to_json())
    assert (again, again.changes) == (ex, ex.changes)
    facts = (
        "tree",
        "clusters",
        "leaves",
        "price",
        "agreement",
        "changes",
    )  # a file does not tell all words of few rows
    assert [getattr(loaded, name) for name in facts] == [getattr(ex, name) for name in facts]


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


# ------------------------------------------------------------------------------------------------------ one by one
@pytest.fixture(scope="module")
def known():
    """An explanation of each kind of cut, and its frame and labels."""
    n, rng = 400, np.random.default_rng(0)
    frame, _, _ = customers(rng, n)
    labels = np.where(frame["age"] > 50, "old", np.where(frame["plan"] == "team", "team", "rest"))
    labels = np.where(frame["joined"] < "2024-06-01", "early", np.where(frame["member"], labels, "guest"))
    return bw.explain(frame, labels, method="cart", max_leaf_nodes=6), frame, labels


def test_a_manager_hears_the_price_in_two_lines(known):
    ex, frame, labels = known
    moved = ex.move_cut("joined", "2024-06-01", to="2024-09-01")
    assert "joined is before 2024-09-01" in moved.rules()
    assert "early" in str(moved.changes)
    assert moved.changes[0].agreement < moved.changes[0].agreement_before == ex.agreement
    assert sum(one.size for one in moved.changes[0].moved) == (moved.predict(frame) != ex.predict(frame)).sum()
    assert ex.changes == ()
    assert moved.evaluate(frame, labels).changes == moved.changes
    assert moved.price != ex.price
    assert "changed by hand" in moved.to_text()


def test_back_and_forth_is_the_same_tree(known):
    ex, _, _ = known
    back = ex.move_cut("joined", "2024-06-01", to="2024-09-01").move_cut("joined", "2024-09-01", to="2024-06-01")
    assert (back.tree, back.agreement, back.price) == (ex.tree, ex.agreement, ex.price)


def test_what_cannot_be_changed_is_refused_and_says_what_can(known):
    ex, frame, labels = known
    loaded = read_model(ex.to_json())
    forbidding = bw.explain(frame, labels, method="cart", forbidden=["income"])
    wrong = [
        (
            lambda: ex.move_cut("joined", "2020-01-01", to=3),
            r"no cut of joined at '2020-01-01': there are joined at 2024",
        ),
        (lambda: ex.move_cut("income", 42, to=40), "no cut of income at 42: the tree cuts age, plan"),
        (lambda: ex.move_cut("plan", "gold", to="team"), "no cut of plan at 'gold': the tree asks plan is "),
        (lambda: ex.move_cut("plan", "silver", to="team"), "plan has no value 'silver'; it has 'gold'"),
        (lambda: ex.move_cut("aeg", 42, to=40), "no column 'aeg'"),
        (lambda: ex.move_cut("age", "fifty", to=40), "age holds numbers, got the text 'fifty'"),
        (lambda: ex.split(0, "plan", []), "at least one category"),
        (lambda: ex.split(0, "income", float("nan")), "a cut of income needs a value"),
        (lambda: ex.merge_clusters("old"), "at least two clusters, got old"),
        (lambda: ex.merge_clusters("old", "odl"), "no cluster odl; the clusters are "),
        (lambda: ex.merge_clusters("old", "rest", name="team"), "team is another cluster"),
        (lambda: ex.rename({"old": "x", "rest": "x"}), r"x more than once; .* rename\(\.\.\., merge=True\)"),
        (lambda: loaded.prune(0), "holds no rows; pass the rows and their labels: X, labels"),
        (lambda: forbidding.replace_cut(0, "income", 1), "income, which is forbidden"),
    ]
    for change, said in wrong:
        with pytest.raises(bw.DataError, match=said):
            change()
    for change in (lambda: ex.prune(99), lambda: ex.prune("age"), lambda: ex.replace_cut(-1, "age", 3)):
        with pytest.raises(ValueError, match=r"node must be the number of a cut, got .*; the cuts are 0 \("):
            change()


def test_a_contradiction_is_refused():
    ex = bw.explain([[float(age)] for age in range(100)], ["a"] * 30 + ["b"] * 40 + ["c"] * 30, columns=["age"])
    [low, high] = sorted(float(one) for one in values_of_cuts(ex, "age"))
    with pytest.raises(bw.DataError, match="no row could reach a leaf then, as the cuts of age"):
        ex.move_cut("age", low, to=high + 1)


def test_rows_may_be_given_to_a_model_from_a_file(known):
    ex, frame, labels = known
    loaded = read_model(ex.to_json())
    given = loaded.move_cut("joined", "2024-06-01", to="2024-09-01", X=frame, labels=labels)
    assert given.agreement == ex.move_cut("joined", "2024-06-01", to="2024-09-01").agreement
    again = read_model(given.to_json())
    assert (again, again.changes) == (given, given.changes)


def test_a_damaged_list_of_changes_is_refused(known):
    document = json.loads(known[0].rename({"old": "aged"}).to_json())
    for field, value in (("line", 3), ("agreement", 2), ("moved", [["a"]]), ("price", -1)):
        damaged = json.dumps(document | {"changes": [document["changes"][0] | {field: value}]})
        with pytest.raises(bw.errors.ModelError, match=rf"changes\[0\].{field}"):
            read_model(damaged)


def test_limits_that_a_changed_tree_breaks_are_no_longer_told():
    ages, labels = [[float(age)] for age in range(100)], ["a"] * 50 + ["b"] * 50
    ex = bw.explain(ages, labels, columns=["age"], min_samples_leaf=20, round_thresholds=1, max_depth=1)
    assert ex.move_cut("age", 50, to=51).limits == ex.limits._replace(round_thresholds=None)
    assert ex.move_cut("age", 50, to=10).limits == ex.limits._replace(min_samples_leaf=None)
    assert ex.split(0, "age", 30).limits == ex.limits._replace(max_depth=None)


def test_tables_in_batches_change_as_those_in_memory(rows_drawn, known):
    import pyarrow as pa

    from boxwood.batches.source import ArrowSource

    _, frame, _ = known
    numbers = frame[["income", "member"]].assign(kind=np.where(frame["income"] > 40_000, "rich", "poor"))
    table = ArrowSource(pa.Table.from_pandas(numbers), batch_rows=41)
    here, read = (bw.explain(each, "kind", method="expand", max_leaf_nodes=2) for each in (numbers, table))
    changed = [each.replace_cut(0, "income", 35_000).split(1, "member", True) for each in (here, read)]
    assert [str(edit) for edit in changed[0].changes] == [str(edit) for edit in changed[1].changes]
    assert changed[0].changes[-1].moved == changed[1].changes[-1].moved
    assert changed[0].clusters == changed[1].clusters
    assert changed[0].price == pytest.approx(changed[1].price)
    with pytest.raises(bw.DataError, match="in batches cannot be merged"):
        read.merge_clusters("rich", "poor")


def test_the_note_on_days_goes_with_its_cut(known):
    ex, _, _ = known
    assert any("go out of date" in note for note in ex.notes)
    [node] = np.flatnonzero(ex.tree.feature == ex.columns.index("joined"))
    pruned = ex.prune(int(node))
    assert not any("go out of date" in note for note in pruned.notes)
    assert any("rules that cut joined" in note for note in pruned.split(0, "joined", "2024-09-01").notes)


def test_a_name_within_other_words_is_not_told_as_an_earlier_one(known):
    ex = replace(known[0], notes=("rows of golden members", "the folder"))
    assert not any("earlier names" in note for note in ex.rename({"old": "aged"}).notes)
    named = replace(ex, notes=("the rules find only 12% of old",)).rename({"old": "aged"})
    assert named.notes[-1] == "the notes above use earlier names: aged was old"


def test_names_that_come_back_give_the_same_explanation_with_two_changes(known):
    ex, _, _ = known
    ex = replace(ex, notes=())  # which may have a name, and then tell of the earlier one
    back = ex.rename({"old": "aged"}).rename({"aged": "old"})
    assert back == ex
    assert [str(edit) for edit in back.changes] == [
        "ex = ex.rename({'old': 'aged'})",
        "ex = ex.rename({'aged': 'old'})",
    ]
    with pytest.raises(TypeError, match="names must be a mapping"):
        ex.rename(["a", "b"])


@pytest.mark.full
def test_without_a_column_rules_are_as_good_as_if_it_were_forbidden():
    frame, labels, weights = customers(np.random.default_rng(5))
    ex = bw.explain(frame, labels, sample_weight=weights, max_leaf_nodes=4)
    column = ex.columns[int(ex.tree.feature[0])]
    found = ex.without(column)
    asked_for = bw.explain(frame, labels, sample_weight=weights, max_leaf_nodes=4, forbidden=[column])
    assert found.columns.index(column) not in found.tree.features.tolist()
    assert found.agreement >= asked_for.agreement - 0.01  # the search begins on other columns of growth
    assert (found.n_leaves, found.limits) == (asked_for.n_leaves, asked_for.limits)
    [edit] = found.changes
    assert edit.line == f"ex = ex.without({column!r})"
    assert (edit.agreement_before, edit.agreement) == (ex.agreement, found.agreement)
    with pytest.raises(bw.DataError, match=f"no rule may test {column}, which is forbidden"):
        found.split(0, *asked(np.random.default_rng(0), found, column))
    other = next(name for name in found.columns if name != column)
    assert found.without(other).limits.forbidden == tuple(name for name in ex.columns if name in (column, other))


def test_what_without_cannot_do_is_said():
    ex = bw.explain(
        [[1.0, 5.0], [2.0, 6.0], [8.0, 5.5], [9.0, 5.0]], ["low", "low", "high", "high"], columns=["a", "b"]
    )
    with pytest.raises(bw.DataError, match="takes the columns that no rule shall test, got none"):
        ex.without()
    with pytest.raises(bw.DataError, match="every column is forbidden"):
        ex.without("a", "b")
    with pytest.raises(bw.DataError, match="no column"):
        ex.without("c")
    loaded = read_model(ex.to_json())
    with pytest.raises(bw.DataError, match="holds no rows"):
        loaded.without("a")
    X, labels = [[1.0, 5.0], [2.0, 6.0], [8.0, 5.5], [9.0, 5.0]], ["low", "low", "high", "high"]
    assert loaded.without("a", X=X, labels=labels).columns == ("a", "b")


def test_a_note_on_dates_is_there_as_long_as_rules_cut_some():
    frame, labels, _ = customers(np.random.default_rng(0), gaps=False)
    ex = bw.explain(frame, np.where(frame["joined"] < "2025-01-01", "early", labels), max_leaf_nodes=4)
    assert any("rules that cut joined" in note for note in ex.notes)
    assert any("rules that cut joined" in note for note in ex.prune(ex.tree.n_nodes - 3).notes) == (
        "joined" in {ex.columns[j] for j in ex.prune(ex.tree.n_nodes - 3).tree.features.tolist()}
    )
    assert not any("rules that cut joined" in note for note in ex.without("joined").notes)
