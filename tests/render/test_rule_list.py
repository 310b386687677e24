"""The rules as a list: the first line that holds decides, as the tree does."""

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import boxwood as bw
from boxwood.render.forms.rule_list import _in_order, _without_needless
from tests.strategies import rows_near, trees


def cluster_of(tree, row):
    """Return the cluster of the first line of which all cuts hold."""
    lines = _without_needless([(cuts, int(tree.cluster[node])) for cuts, node in _in_order(tree)])
    return next(
        cluster
        for cuts, cluster in lines
        if all(bool(tree.is_inside(one.node, row[one.feature])) == one.inside for one in cuts)
    )


@given(st.data())
def test_the_first_line_that_holds_has_the_cluster_of_the_tree(data):
    tree = data.draw(trees())
    X = data.draw(rows_near(tree))
    assert [cluster_of(tree, row) for row in X] == tree.predict(X).tolist()


def test_a_line_asks_only_what_is_left():
    rows = pd.DataFrame(
        {
            "plan": ["team"] * 10 + ["free", "plus"] * 20,
            "orders": [3.0, 8.0] * 5 + [1.0, 2.0] * 10 + [9.0, 7.0] * 10,
            "segment": ["business"] * 10 + ["new"] * 20 + ["loyal"] * 20,
        }
    )
    first, second, third, lost = bw.explain(rows, "segment", max_leaf_nodes=3).to_text(style="list").splitlines()
    assert " and " not in first + second + third
    assert (first[:9], second[:10], third[:11]) == (first[:9], "otherwise ", "otherwise: ")
    assert lost.startswith("Rows without ")


def test_neighbouring_lines_of_one_cluster_are_one():
    ex = bw.explain([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1], columns=["a"])
    assert ex.to_text(style="list").splitlines()[:2] == ["a <= 5: cluster 0", "otherwise: cluster 1"]
