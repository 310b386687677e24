import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, export_text

from boxwood import CART, ThresholdTree, TreeBuilder, explain, grow, render, scan
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.explanation import Condition
from boxwood.render.forms.dialects import DIALECTS
from boxwood.render.forms.text import command_text
from boxwood.tree import Interval
from boxwood.words.rules import condition, rule
from boxwood.words.values import number
from tests.cases import chain
from tests.models import read_model

INF = math.inf

WINE = """\
3 clusters of 178 rows, explained by 3 leaves on 2 of 13 columns

                                                       size  share  matched  found  precision  rule
cluster 0 · low color_intensity, low alcohol             65  36.5%       62  89.2%      93.5%  \
od280/od315_of_diluted_wines > 2.13 and proline <= 730
cluster 1 · high proline, high flavanoids                62  34.8%       63  96.8%      95.2%  \
od280/od315_of_diluted_wines > 2.13 and proline > 730
cluster 2 · low od280/od315_of_diluted_wines, low hue    51  28.7%       53  94.1%      90.6%  \
od280/od315_of_diluted_wines <= 2.13

Besides, cluster 2 has lower flavanoids, lower hue; cluster 0 has lower alcohol.

The rules agree with the clusters on 93.3% of rows (always cluster 0: 36.5%); within-cluster cost is 1.05 \
times that of the clusters (price of explainability)."""


def test_wine():
    wine = load_wine(as_frame=True).data
    assert str(explain(wine, n_clusters=3, standardize=True)) == WINE


# ----------------------------------------------------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (45200.0, "45200"),
        (0.8, "0.8"),
        (1e-12, "1e-12"),
        (-0.0, "0"),
        (1e22, "1e+22"),
        (-3.0, "-3"),
        (0.1 + 0.2, "0.30000000000000004"),
    ],
)
def test_numbers_are_those_that_run(x, text):
    assert number(x) == text
    assert float(number(x)) == x


@pytest.mark.parametrize(
    ("intervals", "text"),
    [
        ([(-INF, 30, True, True)], "x <= 30"),
        ([(-INF, 30, True, False)], "x < 30"),
        ([(45, INF, False, True)], "x > 45"),
        ([(45, INF, True, True)], "x >= 45"),
        ([(30, 45, False, True)], "30 < x <= 45"),
        ([(0.2, 0.4, True, True)], "0.2 <= x <= 0.4"),
        ([(1, 2, False, False)], "1 < x < 2"),
        ([(3, 3, True, True)], "x = 3"),
        ([(-INF, 1, True, False), (2, INF, False, True)], "x < 1 or x > 2"),
        ([(-INF, INF, False, True)], "x > -inf"),
        ([], "no possible x"),
    ],
)
def test_conditions(intervals, text):
    assert condition(Condition("x", tuple(Interval(*map(float, i[:2]), *i[2:]) for i in intervals))) == text


def test_a_condition_that_all_values_fulfil():
    codes = (Interval(0.0, 0.0, True, True), Interval(1.0, 1.0, True, True))
    assert condition(Condition("x", codes, Categories(("red",), others=True))) == "any x"


def test_rules_are_joined():
    outside = Condition("x", (Interval(-INF, 1.0, True, False), Interval(2.0, INF, False, True)))
    above = Condition("y", (Interval(3.0, INF, False, True),))
    assert rule(()) == "every row"
    assert rule((outside,)) == "x < 1 or x > 2"
    assert rule((outside, above)) == "(x < 1 or x > 2) and y > 3"


def test_rules_of_an_explanation():
    X = [[0.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 9.0], [0.0, 0.0]]
    ex = explain(X, ["same", "other", "other", "same", "same"], method="cart", max_leaf_nodes=4, columns=["a", "b"])
    assert ex.rules() == ("other: (b = 0 and a > 0) or (b > 0 and a = 0)\nsame: (b = 0 and a = 0) or (b > 0 and a > 0)")


# ---------------------------------------------------------------------------------------------------- explanations


def rows_of(text):
    return text.split("\n\n")[1].split("\n")


def test_names_do_not_break_the_table():
    names = ["a" * 100, "ünïcode", "日本語の名前", "two\nlines", "tab\there"]
    X = np.arange(10.0)[:, None]
    ex = explain(X, np.repeat(names, 2), columns=["a column\nof two lines"])
    header, *lines = rows_of(str(ex))
    assert len(lines) == 5
    assert "a" * 19 + "…" + "a" * 20 in lines[0]
    assert any(line.startswith("two\\nlines ") for line in lines)
    assert all("a column\\nof two lines" in line for line in lines)
    place = header.rindex("rule")
    for line in lines:
        wide = sum(ord(c) > 0x3000 for c in line)  # these take two places each
        assert line[place - wide - 2 : place - wide] == "  "
        assert line[place - wide] != " "


def test_many_clusters():
    X = np.arange(600.0)[:, None]
    lines = rows_of(str(explain(X, np.repeat(np.arange(200), 3), method="imm")))
    assert len(lines) == 201
    assert lines[1].startswith("cluster 0  ")
    assert lines[200].endswith("x0 > 596")


def test_rows_left_out_are_said_once():
    ex = explain([[0.0], [1.0], [8.0], [9.0], [5.0]], [0, 0, 1, 1, -1])
    assert str(ex).startswith(
        "2 clusters of 4 rows (1 row without a label left out), explained by 2 leaves on 1 of 1 column\n"
    )
    assert str(ex).count("left out") == 1


def test_clusters_without_a_leaf():
    ex = explain([[0.0], [0.0], [1.0], [1.0], [2.0]], ["a", "a", "b", "b", "c"], max_leaf_nodes=2)
    (line,) = [line for line in rows_of(str(ex)) if "no rule" in line]
    assert re.search(r"0\.0% +- +no rule of its own: the tree has no leaf for this cluster", line)
    assert "Note: no rule for c: its row is in the rules of b; more leaves may help" in str(ex)


def loss(X, labels, **options):
    return str(explain(X, labels, **options)).split("\n\n")[2]


def test_loss_in_words():
    assert loss([[0.0], [0.0], [1.0]], [0, 0, 1]) == (
        "The rules agree with the clusters on 100.0% of rows (always cluster 0: 66.7%); within-cluster cost is zero "
        "for both (price of explainability 1)."
    )
    assert loss([[0.0], [0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1, 2], max_leaf_nodes=2, method="cart") == (
        "The rules agree with the clusters on 80.0% of rows (always cluster 0: 40.0%); within-cluster cost is zero "
        "for the clusters but 0.667 for the rules (price of explainability infinite)."
    )
    # {0} and {9, 1, 8, 1} cost 56.75; {0, 9} and {1, 8, 1} cost 40.5 + 32.67
    assert loss([[0.0], [9.0], [1.0], [8.0], [1.0]], [0, 0, 1, 1, 1], method="cart") == (
        "The rules agree with the clusters on 80.0% of rows (always cluster 1: 60.0%); within-cluster cost is 0.78 "
        "times that of the clusters (price of explainability); it is below 1 because the clusters do not minimise the "
        "squared distances of rows to the mean of their cluster."
    )
    near = replace(explain([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1]), price=1.0000001)
    assert "; within-cluster cost is that of the clusters (price of explainability 1)." in str(near)
    weighted = loss([[0.0], [1.0], [5.0]], [0, 0, 1], sample_weight=[1, 2, 3.5])
    assert weighted.startswith(
        "The rules agree with the clusters on 100.0% of rows by weight (always cluster 1: 53.8%); "
    )


def test_one_note_is_printed_and_it_asks_for_the_most_important_thing():
    ex = explain([[0.0], [0.0], [1.0], [1.0], [2.0]], ["a", "a", "b", "b", "c"], max_leaf_nodes=2)
    quiet = replace(ex, notes=("2 of 3 columns are used: a, b", "left out, text: c"))
    assert str(quiet).endswith("\n\n2 notes: ex.notes")
    urgent = "the rules add little: they agree on 95.1% of rows, and always naming the largest cluster on 95.0%"
    for others in (("read as missing: plan ('NA' in 2 rows) (categories keeps such values)",), quiet.notes):
        noted = replace(ex, notes=(*others, urgent))
        more = "1 more note" if len(others) == 1 else "2 more notes"
        assert str(noted).endswith(f"\n\nNote: {urgent}\n{more}: ex.notes")
        assert noted.to_text().count("Note: ") == len(noted.notes)
    assert str(replace(ex, notes=())).split("\n\n")[-1].startswith("The rules agree with the clusters on")


def test_what_the_command_prints_has_a_tree_where_it_shows_more_than_the_rules():
    X = np.arange(8.0)[:, None]
    for k, has_tree in ((3, False), (4, True)):
        said = command_text(explain(X, np.arange(8) // 2 % k if k == 4 else np.arange(8) // 3), more="--notes")
        assert ("|---" in said) == has_tree


def test_rules_that_add_little_are_said_to():
    X, y = np.random.default_rng(0).normal(size=(400, 2)), np.where(np.arange(400) < 380, "A", "B")
    ex = explain(X, y, max_leaf_nodes=2)
    assert ex.baseline == 0.95
    assert f"on {ex.agreement:.1%} of rows (always A: 95.0%)." in str(ex)
    assert "(always A: 95.0%)" in ex.to_markdown()
    assert ex.to_dict()["baseline"] == 0.95
    [note] = [note for note in ex.notes if note.startswith("the rules add little: they agree on 95.")]
    assert note.endswith("of rows, and always naming the largest cluster on 95.0%")
    weighted = explain(X, y, max_leaf_nodes=2, sample_weight=np.where(y == "A", 1.0, 19.0))
    assert weighted.baseline == 0.5
    good = explain(X, X[:, 0] > 0)
    assert not any("add little" in note for note in good.notes)


def test_no_price_is_shown_where_agreement_decides():
    X, y = np.arange(12.0)[:, None], [0] * 10 + [1] * 2
    for ex in (explain(X, y), explain(X, X[:, 0] > 5, objective="agreement")):
        assert np.isfinite(ex.price)
        assert "price of" not in str(ex)
        assert "price of" not in ex.to_markdown()
    assert "price of explainability" in str(explain(X, X[:, 0] > 5))


def test_only_a_whole_is_100_percent():
    X = np.r_[np.zeros(5000), np.ones(5000)][:, None]
    labels = np.r_[np.zeros(5000, int), np.ones(5000, int)]
    labels[0] = 1
    text = str(explain(X, labels, method="cart"))
    assert "on 99.9% of rows" in text
    assert re.search(r"cluster 0 +4,999  50\.0% +5,000  100\.0%      99\.9%  x0 = 0$", text, re.MULTILINE)
    few = np.zeros(5000, int)
    few[-1] = 1
    assert "<0.1%" in str(explain(np.arange(5000.0)[:, None], few, method="cart"))


def test_a_sentence_says_what_the_rules_do_with_rows_left_out():
    X = [[0.0], [1.0], [2.0], [8.0], [9.0], [1.5], [1.2], [9.5]]
    text = explain(X, ["a", "a", "a", "b", "b", -1, -1, -1], method="cart").to_text()
    assert "Of the 3 rows without a label the rules put 2 in a, 1 in b." in text
    assert "without a label the rules" not in explain(X[:5], ["a", "a", "a", "b", "b"], method="cart").to_text()


def test_weights_are_summed():
    lines = rows_of(str(explain([[0.0], [1.0], [5.0]], [0, 0, 1], sample_weight=[1, 2, 3.5])))
    assert lines[1].split()[2] == "3"
    assert lines[2].split()[2] == "3.5"


# ------------------------------------------------------------------------------------------------------------ trees


def test_trees_look_like_those_of_scikit_learn():
    iris = load_iris()
    theirs = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(iris.data, iris.target)
    ours = grow.cart(iris.data, iris.target, max_leaf_nodes=6)
    expected = export_text(theirs, decimals=3, feature_names=[f"x{j}" for j in range(4)]).replace("class: ", "cluster ")
    found = re.sub(r"(<= |>  )([\d.]+)", lambda m: f"{m[1]}{float(m[2]):.3f}", render.text(ours))
    assert found == expected.strip()


def test_estimators_use_their_names():
    iris = load_iris(as_frame=True)
    names = iris.target_names[iris.target]
    model = CART(random_state=0).fit(iris.data, names)
    assert render.text(model) == (
        "|--- petal width (cm) <= 0.8\n"
        "|   |--- setosa\n"
        "|--- petal width (cm) >  0.8\n"
        "|   |--- petal width (cm) <= 1.75\n"
        "|   |   |--- versicolor\n"
        "|   |--- petal width (cm) >  1.75\n"
        "|   |   |--- virginica"
    )


def test_intervals_in_trees():
    builder = TreeBuilder()
    first, second = builder.split(0, 1, 2.0, 0.5)
    builder.label(first, 1)
    third, fourth = builder.split(second, 0, INF, 7.0)
    builder.label(third, 0)
    builder.label(fourth, 2)
    assert render.text(builder.build()) == (
        "|--- 0.5 <= x1 <= 2\n"
        "|   |--- cluster 1\n"
        "|--- x1 < 0.5 or x1 > 2\n"
        "|   |--- x0 >= 7\n"
        "|   |   |--- cluster 0\n"
        "|   |--- x0 <  7\n"
        "|   |   |--- cluster 2"
    )


def test_deep_trees_and_single_leaves():
    n = 3000
    lines = render.text(chain(n, cluster=lambda i: i // n)).split("\n")
    assert len(lines) == 3 * n + 1
    assert lines[-1] == "|   " * n + "|--- cluster 1"
    assert render.text(ThresholdTree.from_dict({"cluster": 4})) == "|--- cluster 4"


def test_sql_refuses_columns_that_it_cannot_tell_apart():
    X = [[1.0, 5.0, 5.0], [2.0, 5.0, 5.0], [8.0, 5.0, 6.0], [9.0, 5.0, 6.0]]
    for tested in ("age", "Age", "AGE"):
        names = ["Age" if tested == "age" else "age", "b", "c"]
        ex = explain([[row[0], row[1], row[0] ** 2] for row in X], [0, 0, 1, 1], columns=[tested, "b", names[0]])
        with pytest.raises(DataError, match="differ in case only, and SQL takes them for one"):
            render.sql(ex)
    several = explain([[0.0, 1.0], [0.0, 9.0], [9.0, 1.0], [9.0, 9.0]], [0, 1, 2, 3], columns=["rate", "Rate"])
    for name in DIALECTS:
        if name in ("postgres", "snowflake", "clickhouse", "oracle"):  # names in quotes are taken letter by letter
            said = render.sql(several, dialect=name)
            assert '"rate" <= ' in said
            assert '"Rate" <= ' in said
        else:
            with pytest.raises(DataError, match="differ in case only"):
                render.sql(several, dialect=name)
    apart = explain([row[:2] for row in X], [0, 0, 1, 1], columns=["age", "Age "])
    assert '"age"' in render.sql(apart)
    untested = explain(np.array(X)[:, [0, 1, 1]], [0, 0, 1, 1], columns=["a", "b", "B"])
    assert '"a"' in render.sql(untested)


def test_trees_too_deep_for_a_text_are_refused_with_the_number():
    n = 20_000
    tree = chain(n, cluster=lambda i: i // n)
    with pytest.raises(ValueError, match=f"a tree of depth 20,000 as text would take {4 * n * (n + 1):,} characters"):
        render.text(tree)


def test_other_things_are_refused():
    with pytest.raises(TypeError, match="expected an Explanation, a tree or a fitted estimator of boxwood, got int"):
        render.text(3)


def test_clusters_of_a_column_of_0_and_1_are_named_by_it_where_people_read_and_keep_their_labels_elsewhere(tmp_path):
    age = np.arange(60) % 29
    labels = np.where(age > 12, 1, 0)
    frame = pd.DataFrame({"age": age, "x": age % 5, "churn": labels})
    frame.to_parquet(path := tmp_path / "t.parquet")
    found = [
        explain(frame, "churn"),
        explain(frame[["age", "x"]], frame["churn"]),
        explain(pl.from_pandas(frame), "churn"),
        explain(scan(path), "churn"),
    ]
    found += [found[0].evaluate(frame, labels), read_model(found[0].to_json())]
    for ex in found:
        assert ex.rules().splitlines() == ["churn = 0: age <= 12", "churn = 1: age > 12"]
        for text in (ex.to_text(), ex.to_markdown(), ex.to_text(style="sentences"), ex.to_html()):
            assert "churn = 1" in text
            assert "cluster 1" not in text
        assert ex.names == (0, 1)
        assert ex.predict(frame).tolist() == labels.tolist()
        assert "THEN 1" in ex.to_sql()
        assert ex.to_frame()["cluster"].tolist() == [0, 1]
    is_seven = np.arange(60) == 7
    assert "y = False" in explain(frame.assign(y=is_seven), "y", columns=["x"]).to_text()
    few = explain(frame.assign(y=is_seven.astype(int)), "y", columns=["x"])
    assert "Note: no rule for y = 1: its row is in the rules of y = 0" in few.to_text()
    one = explain(frame[["age", "x"]], frame[["churn"]])
    assert (one.rules(), one.tree) == (found[0].rules(), found[0].tree)
    with pytest.raises(DataError, match=r"the index of labels is not that of X"):
        explain(frame[["age", "x"]], frame[["churn"]].set_index(np.arange(60) + 5))
    assert explain(frame[["age", "x"]], labels).rules().startswith("cluster 0: ")
    assert explain(frame.assign(churn=labels + 1), "churn").rules().startswith("churn = 1: ")
    assert found[0].rename({1: "gone"}).rules().splitlines()[1] == "gone: age > 12"
