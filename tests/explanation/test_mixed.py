"""Tables as they are: frames with words and gaps, explained, applied, saved."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import boxwood as bw
from boxwood import Explanation
from boxwood.errors import DataError
from boxwood.explanation.choose import settings
from boxwood.metrics.mixed_costs import mixed_cost
from boxwood.render.forms.walk import codes_at_cuts
from tests.command import invoke
from tests.models import read_model
from tests.scale import law

LIBRARIES = ["pandas", "polars", "pyarrow"]


def _columns(seed: int, n: int = 240) -> dict[str, list[Any]]:
    """Return columns of a shop, with gaps: clusters are by country and by age, which a tenth of the rows lack."""
    rng = np.random.default_rng(seed)
    country = rng.choice(["AT", "CH", "DE", "FR", "IT", "US"], n).tolist()
    age = rng.normal(50, 15, n).round(1).tolist()
    alps = [one in ("AT", "CH", "IT") for one in country]
    segment = [("old" if years > 50 else "young") if near else "far" for near, years in zip(alps, age, strict=True)]
    gaps = (rng.random((2, n)) < 0.1).tolist()
    return {
        "country": [None if lacks else one for lacks, one in zip(gaps[0], country, strict=True)],
        "age": [None if lacks else one for lacks, one in zip(gaps[1], age, strict=True)],
        "orders": rng.integers(0, 20, n).tolist(),
        "member": [None if i % 17 == 0 else bool(i % 2) for i in range(n)],
        "segment": segment,
    }


def _frame(library: str, columns: dict[str, list[Any]]) -> Any:
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](columns)


def _explained(library: str, seed: int = 0, **asked: Any) -> tuple[Explanation, Any]:
    frame = _frame(library, _columns(seed))
    return bw.explain(frame, "segment", **asked), frame


@pytest.mark.parametrize("library", LIBRARIES)
@law(4)
def test_words_and_gaps_are_in_the_rules_and_predict_gives_each_row_what_the_tree_gives_it(
    seed: int, library: str
) -> None:
    ex, frame = _explained(library, seed, max_leaf_nodes=6)
    assert ex.n_left_out == 0
    assert dict(ex.details.categories)["country"].values[-1] is None
    assert ex.details.gaps == ("age",)
    rows = ex._rows()
    of_tree = np.array(ex.names, dtype=object)[ex.tree.predict(rows.coordinates.table)]
    assert ex.predict(frame).tolist() == of_tree.tolist()
    found = np.mean(of_tree == np.array(_columns(seed)["segment"]))
    assert ex.agreement == pytest.approx(found)
    assert found > 0.85


@law(8)
def test_a_long_table_has_fewer_columns_for_growth_and_hardly_agrees_less(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = _columns(seed, 600)
    columns["city"] = [f"{one}{i % 9}" for i, one in enumerate(columns["country"])]
    columns["segment"] = [f"{one}{i % 3}" for i, one in enumerate(columns["segment"])]
    monkeypatch.setattr(settings, "ONE_HOT", 0)  # as in a long table
    ex = bw.explain(_frame("pandas", columns), "segment")
    with monkeypatch.context() as changed:
        changed.setattr(settings, "LONG", 0)
        changed.setattr(settings, "ENOUGH", 0.9)
        of_long, by_name = (bw.explain(_frame("pandas", columns), "segment", method=name) for name in ("auto", "imm"))
    widths = [one._rows().coordinates.rows.n_columns for one in (ex, by_name, of_long)]
    assert widths[0] == widths[1] > widths[2]
    assert of_long.agreement > ex.agreement - 0.02


@law(12)
def test_no_method_is_better_than_auto_in_price_and_agreement_where_numbers_are_missing(seed: int) -> None:
    rng = np.random.default_rng(20 + seed)
    kids, version = rng.choice([0.0, 1, 2, 3], 400, p=[0.7, 0.15, 0.1, 0.05]), rng.choice([1.2, 1.9, 1.1, 2.0], 400)
    kind = np.where(kids > 0, "family", np.where(version < 1.15, "app", "leisure"))
    kids[rng.random(400) < 0.1] = np.nan
    frame = pd.DataFrame({"version": version, "kids": kids, "cancelled": rng.random(400) < 0.2, "kind": kind})
    asked = {"n_clusters": 4, "standardize": True, "random_state": 0}
    ex, *others = (bw.explain(frame, method=name, **asked) for name in ("auto", "imm", "greedy"))
    for other in others:
        assert ex.price <= other.price * (1 + 1e-9) or ex.agreement >= other.agreement


@law(8)
def test_cost_and_price_are_those_of_the_table(seed: int) -> None:
    ex, _ = _explained("pandas", seed, standardize=bool(seed % 2), method="imm")
    rows = ex._rows()
    here = rows.coordinates
    table, codes = np.where(np.isinf(here.table.values), np.nan, here.table.values), list(here.categories)
    assert here.scales is not None
    clusters = mixed_cost(table, codes, rows.task.reference.labels, None, here.scales)
    groups = mixed_cost(table, codes, ex.tree.predict(here.table), None, here.scales)
    assert ex.reference_cost == pytest.approx(clusters, rel=1e-12)
    assert ex.price == pytest.approx(groups / clusters, rel=1e-12)


def test_dropping_gaps_leaves_out_rows_that_lack_a_value_of_any_kind_and_refusing_names_them() -> None:
    columns = _columns(0)
    lacks = [None in row for row in zip(*(columns[name] for name in ("country", "age", "member")), strict=True)]
    ex = bw.explain(_frame("pandas", columns), "segment", missing="drop")
    assert (ex.details.n_incomplete, ex.n_rows) == (sum(lacks), len(lacks))
    assert ex.details.gaps == ()
    assert all(None not in known.values for _, known in ex.details.categories)
    with pytest.raises(DataError, match=r"missing values in 45 of 240 rows: age \(20\), country \(16\), member \(15\)"):
        bw.explain(_frame("pandas", columns), "segment", missing="refuse")


def test_values_never_seen_and_gaps_where_there_were_none_have_no_cluster() -> None:
    table = pd.DataFrame({"country": ["AT", "CH", "DE", "US"] * 10, "age": [20.0, 30.0, 60.0, 70.0] * 10})
    ex = bw.explain(table, ["a", "b", "a", "c"] * 10, columns=["country"])
    other = pd.DataFrame({"country": ["AT", "FR", None, "US"]})
    assert ex.predict(other, missing="none").tolist() == ["a", None, None, "c"]
    with pytest.raises(DataError, match="country is 'FR', which was never seen"):
        ex.predict(other, missing="error")
    told = re.escape("2 of 4 rows get no cluster, as their rule knows no such value: country 'FR' (1), missing (1); ")
    with pytest.warns(UserWarning, match=told) as caught:
        assert ex.predict(other).tolist() == ["a", None, None, "c"]
    assert len(caught) == 1
    assert ex.predict(other[:1]).dtype.kind == "U"  # nothing warns, and the names are as they were
    known = "which was never seen (known: AT, CH, DE, US)"
    empty = f"country is '', {known}; an empty text is a value, a missing one is None"
    with pytest.raises(DataError, match=re.escape(empty)):
        ex.predict(pd.DataFrame({"country": ["AT", ""]}), missing="error")
    assert ex.why({"country": ""}).reason == empty
    gaps = table.assign(country=[None, *table["country"][1:]])
    with_gaps = bw.explain(gaps, ["a", "b", "a", "c"] * 10, forbidden=["age"])
    assert with_gaps.why({"country": "?"}).reason.endswith("(known: AT, CH, DE, US, missing)")
    by_age = bw.explain(table[["age"]], ["a", "b", "a", "c"] * 10, max_leaf_nodes=4)
    assert by_age.predict(pd.DataFrame({"age": [20.0, None]}), missing="none").tolist() == ["a", None]


def test_an_array_with_gaps_learns_where_rows_without_a_value_belong() -> None:
    X = np.array([[1.0, 0.0], [2.0, 1.0], [np.nan, 0.0], [9.0, 0.0], [8.0, 1.0], [np.nan, 1.0]] * 10)
    ex = bw.explain(X, ["low", "low", "none", "high", "high", "none"] * 10, columns=["x", "y"])
    assert ex.agreement == 1
    assert ex.details.gaps == ("x",)
    assert ex.predict([[1.5, 0], [np.nan, 0], [8.5, 0]]).tolist() == ["low", "none", "high"]
    assert ex.predict([[np.inf, 0], [-np.inf, 0]]).tolist() == ["high", "low"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_row_that_lacks_everything_has_no_cluster(library: str) -> None:
    columns = {name: values[:60] for name, values in _columns(0).items() if name in ("country", "age", "segment")}
    for name in ("country", "age"):
        columns[name][:3] = [None] * 3
    ex = bw.explain(_frame(library, columns), "segment")
    empty = sum(a is None and b is None for a, b in zip(columns["country"], columns["age"], strict=True))
    assert (ex.n_left_out, ex.details.n_incomplete) == (empty, empty)
    assert any("no value in any column in use" in note for note in ex.notes)


def test_columns_that_cannot_be_used_are_left_out_with_a_note_that_says_why() -> None:
    columns = _columns(0, 600)
    segment = columns.pop("segment")
    table = pd.DataFrame(columns).assign(
        city=[f"city {i % 300}" for i in range(600)],
        name=[f"n{i if i < 250 else 0}" for i in range(600)],
        text=[f"t{min(i, 200)}" for i in range(600)],
        day=pd.Timedelta("1h"),
        words=[[1]] * 600,
        again=[one.upper() for one in segment],
    )
    ex = bw.explain(table, segment, method="cart")
    said = "\n".join(ex.notes)
    assert ex.columns == ("country", "age", "orders", "member", "name", "text")
    many = "more than 255 values, most of them in few rows (identifiers, or categories whose rare ones can be grouped)"
    assert f"left out, {many}: city" in said
    assert "left out, the labels themselves: again" in said
    assert "left out, times of day or lengths of time (make numbers of them, such as seconds): day" in said
    assert "left out, neither numbers, categories nor dates, such as lists: words" in said
    few = pd.DataFrame({"name": [f"n{i}" for i in range(100)], "x": range(100), "y": [0.5, 1.5] * 50})
    assert bw.explain(few, [0, 1] * 50).columns == ("y",)
    with pytest.raises(DataError, match="rules cannot use city: more than 255 values"):
        bw.explain(table, segment, columns=["city", "age"])


def test_kinds_can_be_named() -> None:
    rng = np.random.default_rng(0)
    plz = rng.choice([1010, 4020, 6020, 8010], 200)
    size = rng.choice(["1", "2.5", "3"], 200)
    table = pd.DataFrame({"plz": plz, "size": size})
    labels = np.isin(plz, [1010, 6020]).astype(int)
    ex = bw.explain(table, labels, categories=["plz"], numbers=["size"])
    assert dict(ex.details.categories)["plz"].values == (1010, 4020, 6020, 8010)
    assert ex.n_leaves == 2
    assert ex.agreement == 1
    assert ex._rows().coordinates.table.values[:, 1].tolist() == [float(one) for one in size]
    alone, same = table[["size"]].set_index(plz), table[["size"]].astype(float)
    assert bw.explain(alone, labels, numbers=["size"]).tree == bw.explain(same, labels).tree
    with pytest.raises(DataError, match="country is not a column of numbers"):
        bw.explain(table.assign(country="AT"), labels, numbers=["country"])
    beside = table.assign(country="AT", kind=labels)
    for each in (beside, bw.scan(beside)):  # columns that rules do not use are not looked at
        assert bw.explain(each, "kind", columns=["plz"], numbers=["country"]).columns == ("plz",)
    with pytest.raises(ValueError, match="needs a table with names of columns"):
        bw.explain(table[["plz"]].to_numpy(), labels, categories=["plz"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categoricals_keep_their_order(library: str) -> None:
    sizes, labels = ["S", "M", "XL", "L"] * 10, [0, 0, 1, 1] * 10
    if library == "pandas":
        frame = pd.DataFrame({"size": pd.Categorical(sizes, ["S", "M", "L", "XL", "XXL"], ordered=True)})
    else:
        frame = pl.DataFrame({"size": pl.Series(sizes, dtype=pl.Enum(["S", "M", "L", "XL", "XXL"]))})
    ex = bw.explain(frame, labels)
    assert dict(ex.details.categories)["size"].values == ("S", "M", "L", "XL")
    assert dict(ex.details.categories)["size"].ordered == (library == "pandas")
    assert ex.predict(frame).tolist() == labels


SIZES = ["XS", "S", "M", "L", "XL", "XXL"]


def _sizes(seed: int, n: int = 120) -> tuple[dict[str, list[Any]], np.ndarray, list[int]]:
    """Return columns with sizes, some of them missing, labels that depend on sizes, and weights."""
    rng = np.random.default_rng(seed)
    size, depth = rng.integers(0, 6, n), rng.normal(size=n).round(1)
    by_order, by_word = size >= rng.integers(1, 5), np.isin(size, rng.permutation(6)[:3])
    labels = np.where(depth > 0, by_order, 2 * by_word)
    labels = np.where(rng.random(n) < 0.1, 0, labels)
    labels[:3] = range(3)
    lacks = rng.random(n) < 0.2 * (seed % 2)
    words = [None if gap else SIZES[one] for gap, one in zip(lacks, size, strict=True)]
    colour = rng.choice(["red", "blue", "green"], n).tolist()
    return {"size": words, "depth": depth.tolist(), "colour": colour}, labels, rng.integers(1, 4, n).tolist()


def _refuse_other_cuts(ex: Explanation, column: str) -> int:
    """Raise an AssertionError if a cut parts values otherwise than in their order; return the number of cuts."""
    known, j = dict(ex.details.categories)[column], ex.columns.index(column)
    found = [sides for node, sides in codes_at_cuts(ex.tree, ex._coded_columns).items() if ex.tree.feature[node] == j]
    for sides in found:
        first, second = ([code for code in side if known.values[code] is not None] for side in sides)
        assert not (first and second) or max(first) < min(second) or max(second) < min(first)
    return len(found)


@pytest.mark.parametrize("method", ["imm", "greedy", "shallow", "exkmc", "expand", "cart"])
@law(24)
def test_values_in_an_order_are_cut_in_it_by_every_method(seed: int, method: str) -> None:
    columns, labels, weights = _sizes(seed)
    table = pd.DataFrame(columns)
    table["size"] = pd.Categorical(table["size"], SIZES, ordered=True)
    asked: dict[str, Any] = {"method": method, "standardize": seed % 4 == 3}
    asked |= {"max_leaf_nodes": 6} if method not in ("imm", "greedy", "shallow") else {}
    ex = bw.explain(table, labels, sample_weight=weights if seed % 3 else None, **asked)
    _refuse_other_cuts(ex, "size")
    assert ex.predict(table).tolist() == ex.tree.predict(ex._rows().coordinates.table).tolist()
    assert read_model(ex.to_json()) == ex
    orders = {"size": SIZES, "colour": None}
    stated = bw.explain(
        pd.DataFrame(columns), labels, categories=orders, sample_weight=weights if seed % 3 else None, **asked
    )
    assert stated == ex


@law(6)
def test_auto_cuts_values_in_their_order_and_its_page_has_no_other_words(seed: int) -> None:
    columns, labels, weights = _sizes(seed)
    objective = ("auto", "cost", "agreement")[seed % 3]
    ex = bw.explain(
        _frame("polars", columns), labels, categories={"size": SIZES}, max_leaf_nodes=6, objective=objective,
        sample_weight=weights if seed % 2 else None,
    )  # fmt: skip
    _refuse_other_cuts(ex, "size")
    assert ex.to_html()


def test_an_order_names_each_value_once_and_every_value_of_its_column() -> None:
    columns, labels, _ = _sizes(1)
    frame = pl.DataFrame(columns, schema_overrides={"size": pl.Enum(SIZES)})
    by_dtype = bw.explain(frame, labels, categories={"size": frame["size"].dtype.categories})
    assert by_dtype == bw.explain(_frame("pyarrow", columns), labels, categories={"size": [*SIZES, "none has this"]})
    for order, error, said in (
        (SIZES[1:5], DataError, "size has values that its order in categories lacks: XS, XXL; name them, too"),
        ("S<M<L", TypeError, r"categories\['size'\] must list values in their order, or be None; got 'S<M<L'"),
        (7, TypeError, "must list values in their order"),
        (["S", "S"], ValueError, "must name texts or numbers, each once"),
        (["S", None], ValueError, "must name texts or numbers, each once"),
        ([["S"]], ValueError, "must name texts or numbers, each once"),
    ):
        with pytest.raises(error, match=said):
            bw.explain(frame, labels, categories={"size": order})


@law(10)
def test_values_in_an_order_cost_what_words_cost(seed: int) -> None:
    columns, labels, _ = _sizes(seed)
    table, orders = pd.DataFrame(columns), {"size": SIZES}
    words, sizes = (bw.explain(table, labels, max_leaf_nodes=4, **kind) for kind in ({}, {"categories": orders}))
    assert sizes.reference_cost == pytest.approx(words.reference_cost)
    groups = sizes.tree.predict(sizes._rows().coordinates.table)
    codes = words._rows().coordinates.table.values
    cost = mixed_cost(codes, list(words._rows().coordinates.categories), groups, None, np.ones(codes.shape[1]))
    assert sizes.price == pytest.approx(cost / words.reference_cost)


@pytest.mark.parametrize("method", ["random_cuts", "kernel_imm"])
def test_methods_of_numbers_refuse_words_and_gaps_and_say_what_to_do(method: str) -> None:
    with pytest.raises(ValueError, match=r"takes no categories; .*columns=\['age', 'orders'\] and missing=\"drop\""):
        _explained("pandas", method=method)


def test_mmdt_refuses_words_alone() -> None:
    with pytest.raises(ValueError, match=r"takes no categories; use another method, or columns=\['age', 'orders'\]$"):
        _explained("pandas", method="mmdt")


@law(40)
def test_mmdt_sees_the_numbers_that_are_there(seed: int) -> None:
    """Its cuts are those of a mixture of observed numbers; a missing one goes where the median of its column goes."""
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    labels = np.concatenate([np.arange(k), rng.integers(k, size=120)])
    X = rng.normal(size=(len(labels), d)) * rng.choice([1e-6, 1.0, 1e6], d) + 4 * rng.normal(size=(k, d))[labels]
    X[k:][rng.random((120, d)) < rng.choice([0.02, 0.3])] = np.nan
    weights = rng.integers(1, 4, len(labels)).astype(float) if seed % 2 else None
    some = ~np.isnan(X).all(axis=1)  # others have no cluster
    X, labels, weights = X[some], labels[some], None if weights is None else weights[some]
    ex = bw.explain(X, labels, method="mmdt", sample_weight=weights)
    w = np.ones(len(X)) if weights is None else weights
    known = [(labels == c)[:, None] & ~np.isnan(X) for c in range(k)]
    mass = [w[labels == c].sum() for c in range(k)]
    means = [[np.average(X[known[c][:, j], j], weights=w[known[c][:, j]]) for j in range(d)] for c in range(k)]
    squares = [
        [np.average((X[known[c][:, j], j] - means[c][j]) ** 2, weights=w[known[c][:, j]]) for j in range(d)]
        for c in range(k)
    ]
    tree = bw.grow.mmdt(bw.Mixture(mass, means, squares))
    there, at = [~np.isnan(x) for x in X.T], {"q": 0.5, "method": "inverted_cdf"}
    median = [np.quantile(x[own], weights=w[own], **at) for x, own in zip(X.T, there, strict=True)]
    assert ex.predict(X).tolist() == tree.predict(np.where(np.isnan(X), median, X)).tolist()
    assert ex.details.mixture is None or not ex.details.gaps
    sigma = rng.random(d) + 0.1
    ex = bw.explain(X, labels, method="mmdt", sample_weight=weights, sigma=sigma)
    tree = bw.grow.mmdt(bw.Mixture(mass, means, squares), sigma=sigma)
    assert ex.predict(X).tolist() == tree.predict(np.where(np.isnan(X), median, X)).tolist()


@pytest.mark.parametrize("method", ["imm", "greedy", "shallow", "exkmc", "expand", "cart"])
def test_other_methods_take_both(method: str) -> None:
    ex, frame = _explained("pandas", method=method)
    assert ex.predict(frame).tolist() == [ex.names[c] for c in ex.tree.predict(ex._rows().coordinates.table)]


def test_a_frame_of_numbers_without_gaps_takes_the_road_of_numbers() -> None:
    columns = _columns(0)
    table = pd.DataFrame({"orders": columns["orders"], "half": [x / 2 for x in columns["orders"]]})
    ex = bw.explain(table, columns["segment"])
    assert ex._rows().coordinates.axis_map is None
    assert (ex.details.gaps, ex.details.categories) == ((), ())


def test_a_model_file_and_what_is_measured_later() -> None:
    ex, frame = _explained("pandas", max_leaf_nodes=6)
    again = read_model(ex.to_json())
    assert again == ex
    assert again.details.gaps == ("age",)
    assert again.predict(frame).tolist() == ex.predict(frame).tolist()
    profile = {one.column: one for one in ex.profile()}
    known = [x for x in _columns(0)["age"] if x is not None]
    assert profile["age"].everyone.mean == pytest.approx(np.mean(known))
    assert profile["country"].categories.values[-1] is None
    assert all(row is not None for row in ex.representatives())
    assert len(ex.misassigned()) == round((1 - ex.agreement) * 240)
    assert ex.frontier().this.price == pytest.approx(ex.price)
    measured = ex.evaluate(frame, "segment")
    assert (measured.agreement, measured.price) == (pytest.approx(ex.agreement), pytest.approx(ex.price))
    assert again.evaluate(frame, "segment").agreement == pytest.approx(ex.agreement)


def test_why_says_missing_and_counts_a_number_in_its_place_as_one_deviation() -> None:
    X = np.array([[1.0, 0.0], [2.0, 1.0], [np.nan, 0.0], [9.0, 0.0], [8.0, 1.0], [np.nan, 1.0]] * 10)
    ex = bw.explain(X, ["low", "low", "none", "high", "high", "none"] * 10, columns=["x", "y"])
    why = ex.why({"x": None})
    assert why.name == "none"
    assert all(change.deviations == 1.0 and change.moves[0].before is None for change in why.changes)
    for change in why.changes:
        assert ex.predict([[change.moves[0].after, 0.0]])[0] == change.name
    assert [step.value for step in why.steps] == [None] * len(why.steps)
    assert {change.name for change in ex.why({"x": 1.0}).changes} == {"high"}


def test_rows_held_out_and_resamples() -> None:
    ex, _ = _explained("pandas", validate=3)
    assert ex.held_out is not None
    assert ex.held_out.agreement > 0.8
    assert ex.stability(n=3).clusters[0].jaccard > 0.5


def test_limits_are_kept() -> None:
    ex, _ = _explained("pandas", max_depth=2, forbidden=["age"], round_thresholds=2, max_leaf_nodes=4)
    assert ex.tree.depth <= 2
    assert "age" not in {ex.columns[j] for j in ex.tree.features}


def test_rounding_keeps_the_side_of_missing_values() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(50, 15, (300, 2))
    labels = np.where(X[:, 0] > 50, "old", "young")
    X[::7, 0], labels[::7] = np.nan, "young"
    ex = bw.explain(X, labels, columns=["age", "size"], round_thresholds=2)
    assert ex.rules() == "old: age >= 50\nyoung: age < 50 or missing"
    assert ex.limits is not None
    assert ex.limits.n_moved == 0


def test_a_clusterer_of_categories_labels_the_frame_that_it_reads() -> None:
    table = pd.DataFrame(_columns(0)).drop(columns="segment")
    fitted = bw.MixedKMeans(3, random_state=0).fit(table)
    by_labels = bw.explain(table, fitted.labels_, max_leaf_nodes=3)
    for clusterer in (fitted, bw.MixedKMeans(3, random_state=0)):
        assert bw.explain(table, clusterer, max_leaf_nodes=3).tree == by_labels.tree


def test_compare_takes_tables_as_they_are() -> None:
    found = bw.compare(_frame("pandas", _columns(0)), "segment", methods=["imm", "cart", "mmdt"])
    assert {row.method for row in found.rows} == {"imm", "cart"}
    assert any("mmdt" in one for one in found.left_out)


def test_weights_are_as_good_as_rows_that_come_twice() -> None:
    table = pd.DataFrame(_columns(3, 120))
    times = np.arange(120) % 3 + 1
    twice = table.loc[np.repeat(np.arange(120), times)].reset_index(drop=True)
    for method in ("imm", "cart"):
        one = bw.explain(table, "segment", sample_weight=times, method=method, standardize=True)
        other = bw.explain(twice, "segment", method=method, standardize=True)
        assert one.tree.predict(one._rows().coordinates.table).tolist() == (
            other.tree.predict(one._rows().coordinates.table).tolist()
        )
        assert one.price == pytest.approx(other.price)


def test_a_column_of_many_words_is_told_by_what_it_looks_like(tmp_path):
    rng = np.random.default_rng(0)
    n = 1600
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "email": [f"c{i}@shop.org" for i in range(n)],
            "remark": [f"customer number {i} called and asked for help with the bill" for i in range(n)],
            "city": [f"city {i}" for i in rng.integers(0, 265, n)],
            "family": [f"family {i}" for i in rng.integers(0, 600, n)],
        }
    )
    frame["seg"] = np.where(frame.age > 40, "old", "young")
    frame.to_csv(tmp_path / "t.csv", index=False)
    told = invoke("explain", tmp_path / "t.csv", "-l", "seg", "--notes").stdout
    for said in (told, "; ".join(bw.explain(frame, "seg").notes)):
        assert (
            "more than 255 values, hardly any of them twice (identifiers, or texts to make numbers of): email" in said
        )
        assert "more than 255 values, looks like free text: remark" in said
        assert "more than 255 values (group the rare ones, then rules can use it): city" in said
        assert "most of them in few rows (identifiers, or categories whose rare ones can be grouped): family" in said


@pytest.mark.parametrize(("n", "is_told"), [(20, True), (19, False)])
def test_texts_of_a_short_table_are_an_identifier_if_none_comes_twice(n, is_told):
    def notes(**columns):
        frame = _frame("polars", {"age": (np.arange(n) % 5).tolist(), **columns})
        return [note for note in bw.explain(frame, np.arange(n) % 5 > 2).notes if "identifier" in note]

    names = [f"name {i}" for i in range(n)]
    assert notes(name=names) == (
        ["left out, looks like an identifier: name; to use it, name the columns (columns)"] if is_told else []
    )
    assert not notes(name=[*names[1:], names[1]])


NUMBERS = ("{:.2f} %", "{:.0f} kg", "$ {:,.2f}", "{:.2f}-", "({:,.2f})", "CHF {:.1f}", "{:,.0f}")
CODES = ("{:.0f}", "0{:.0f}", "{:.0f}/80", "{:.0f}b", "K {:.0f}", "{:.0f}:30", "{:.0f} PM", "10.0.0.{:.0f}")


@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_as_text_are_left_out_with_a_note_unless_they_are_words(library):
    x = np.random.default_rng(0).uniform(80, 3000, size=200)

    def told(texts, **how):
        frame = _frame(library, {"age": (np.arange(200) % 7).tolist(), "rate": texts})
        ex = bw.explain(frame, x > 1000, method="imm", **how)
        return "left out, numbers as text (convert them to numbers, or name them in categories): rate" in ex.notes

    for form in NUMBERS:
        texts = [form.format(one) for one in x]
        assert told(texts)
        assert not told(texts, categories=["rate"])
        assert told(["unknown", "<0.5", *texts[2:]])
        assert told([text.translate(str.maketrans(".,", ",.")) for text in texts])
        assert not told([f"K {i}" for i in range(20)] + texts[20:])
    for form in CODES:
        assert not told([form.format(one) for one in x])
    digits = [f"{one:.0f}" for one in x]
    assert told(["unknown", *digits[1:]])  # somebody left a number out
    assert not told(["unknown", *(f"{one % 900 + 100:.0f}" for one in x[1:])])  # all as long, as codes are
    versions = _frame(library, {"version": [f"1.{i % 20}" for i in range(200)]})
    assert bw.explain(versions, np.arange(200) % 20 > 10).agreement == 1
