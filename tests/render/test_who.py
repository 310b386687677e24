"""Who is in each cluster, and which rows do not fit, as the page says it: counted again from the rows."""

import html
import re
from collections import Counter

import numpy as np
import pandas as pd

import boxwood as bw
from boxwood.render.page._cells import strays
from boxwood.words.distinctive import distinctive_columns
from tests.naive.pictures import clusters_below, path_of
from tests.scale import law

WORD = r"(higher|lower) (\w+) \((typically|on average) (-?[\d.,]+), all rows (-?[\d.,]+)\)"


def said_of_each(page):
    """Return the line on each cluster at the top of a page."""
    [lines] = re.findall(r'<ul class="names who".*?</ul>', page, re.DOTALL)
    return [html.unescape(" ".join(re.sub("<[^>]*>", "", line).split())) for line in re.findall("<li>(.*)</li>", lines)]


def table(seed):
    """Return a table with long tails and many zeros, and labels that follow two of its columns with errors."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 400))
    frame = pd.DataFrame(
        {f"c{j}": np.round(np.exp(rng.normal(0, rng.uniform(0.3, 2), n)) * (rng.random(n) < 0.7), 2) for j in range(4)}
    )
    labels = (frame.c0 > frame.c0.median()).to_numpy() + 2 * (frame.c1 > 1).to_numpy()
    return frame, np.where(rng.random(n) < 0.15, rng.integers(0, 4, n), labels)


@law(12)
def test_who_is_in_a_cluster_is_so_in_its_rows(seed):
    frame, labels = table(seed)
    ex = bw.explain(frame, labels)
    lines = said_of_each(ex.to_html())
    assert len(lines) == ex.n_clusters
    for cluster, line in zip(ex.clusters, lines, strict=True):
        own = labels == cluster.name
        assert f"({own.sum()} row" in line
        told = re.findall(WORD, line)
        for word, name, how, at, of_all in told:
            middle = np.median if how == "typically" else np.mean
            here, everywhere = middle(frame[name][own]), middle(frame[name])
            is_more = frame[name][own].mean() > frame[name][~own].mean()
            assert (here > everywhere) == (word == "higher") == is_more
            assert float(at.replace(",", "")) == np.float64(f"{here:.3g}")
            assert float(of_all.replace(",", "")) == np.float64(f"{everywhere:.3g}")
        expected = distinctive_columns(ex.profile(), cluster)
        assert len(told) == sum(bool(one["told"]) for one in expected)
        assert expected or own.sum() < 5 or "in no single column far from the others" in line
        asked = {condition.column for rule in cluster.rules for condition in rule}
        differ = {one.column for one in ex.profile() if abs(one.clusters[cluster.cluster].difference or 0.0) >= 0.2}
        assert len(told) == 3 or asked & differ <= {name for _, name, *_ in told}


@law(12)
def test_rows_that_do_not_fit_are_counted_where_they_leave_their_cluster(seed):
    frame, labels = table(seed)
    ex, expected = bw.explain(frame, labels), Counter()
    rows, tree = ex._rows(), ex.tree
    for row, own in zip(rows.coordinates.table.values, rows.task.reference.labels.tolist(), strict=True):
        path = path_of(tree, row)
        if (given := int(tree.cluster[path[-1]])) != own:
            left = next(i for i in range(1, len(path)) if own not in clusters_below(tree, path[i]))
            expected[path[left], own, given] += 1
    found = strays(ex, (), 5)
    largest = sorted(expected.values(), reverse=True)[:6]
    assert [one["rows"] for one in found["lines"]] == [f"{n} rows" for n in largest if n >= 5]
    conditions = {text for line in ex.to_html().split("<b>")[1:] for text in [html.unescape(line.split("</b>")[0])]}
    for one in found["lines"]:
        assert one["where"] in conditions
        n = int(one["rows"].split()[0])
        assert n in {
            m for (_, own, given), m in expected.items() if (own, given) == (one["own"].cluster, one["given"].cluster)
        }
    n_left = sum(expected.values()) - sum(int(one["rows"].split()[0]) for one in found["lines"])
    assert found["left"] == (f"{n_left} row{'s' if n_left != 1 else ''}" if n_left else "")


@law(12)
def test_each_row_that_does_not_fit_is_spoken_of(seed):
    """Where no group is large enough to be listed, the page says how many rows are in such groups."""
    rng, n_groups, each = np.random.default_rng(seed), 1 + seed % 3, 1 + seed % 8
    x = np.repeat(np.arange(3), 40)
    y = x.copy()
    for group in rng.permutation(3)[:n_groups]:
        y[40 * group : 40 * group + each] = (group + 1) % 3
    page = " ".join(bw.explain(x[:, None] * 1.0, y, method="cart", max_leaf_nodes=3).to_html().split())
    told = f"Rows that do not fit the rules of their cluster: {n_groups * each} row"
    assert (told in page) == (each < 5)
    assert page.count(f"<li>{each} rows of ") == (n_groups if each >= 5 else 0)
