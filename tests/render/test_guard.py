"""A page tells no value of few rows; where counts are rounded, whatever it tells follows from multiples."""

import re
from dataclasses import replace

import numpy as np
import pytest

import boxwood
from boxwood.render.page._guard import as_shown
from boxwood.render.pictures.picture import held_of, picture_of
from tests.cases import make_case
from tests.models import read_model
from tests.render.test_page import Page, customers
from tests.scale import law


def with_few_rows(n_few, n_wrong=2):
    """Return an explanation of whole numbers: 282 rows of leaf VIP, of which some belong to others, and a small group.

    Medians and quartiles stay the same when a row goes.
    """
    X = np.repeat([0.0, 1.0, 2.0], [400, 280 + n_wrong, 40 + n_few])[:, None]
    labels = np.repeat(["plain", "VIP", "plain", "tiny"], [400, 280, n_wrong, 40 + n_few])
    return boxwood.explain(X, labels, columns=["premium"], max_leaf_nodes=3)


@law(12)
def test_all_counts_are_sums_of_the_same_multiples(seed):
    """So whoever adds and subtracts what is told gets multiples only, and never a count of fewer rows."""
    case = make_case(seed)
    ex = boxwood.explain(np.asarray(case.X), case.labels, method="cart")
    held = held_of(ex)
    for count in (2, 5):
        cells = np.floor(held / count) * count
        if cells.sum() == 0:
            with pytest.raises(ValueError, match=f"min_count={count} rounds all counts to 0"):
                as_shown(ex, count)
            continue
        told, k = as_shown(ex, count), np.arange(ex.n_clusters)
        assert [leaf.size for leaf in told.leaves] == cells.sum(axis=1).tolist()
        assert [leaf.own for leaf in told.leaves] == cells[np.arange(ex.n_leaves), ex.tree.leaf_clusters].tolist()
        assert [one.size for one in told.clusters] == cells.sum(axis=0).tolist()
        right = sum(cells[ex.tree.leaf_clusters == c, c].sum() for c in k)
        assert told.agreement == pytest.approx(right / cells.sum())
        assert told.baseline == pytest.approx(cells.sum(axis=0).max() / cells.sum())
        assert told.n_rows - told.n_left_out == cells.sum()
        picture = picture_of(told)
        for number in [x for cut in picture.cuts for x in (cut.rows, cut.lost, *cut.bars.counts.ravel().tolist())]:
            assert number % count == 0


def test_a_row_more_or_less_in_a_small_group_changes_nothing_that_is_told():
    """40 to 44 rows are told as 40, and 1 or 2 wrong rows as none; without rounding each of them can be seen."""
    ex = with_few_rows(1)
    for n_few, n_wrong in ((2, 2), (4, 2), (1, 1), (0, 1)):
        other = with_few_rows(n_few, n_wrong)
        assert Page(other.to_html(min_count=5)).text == Page(ex.to_html(min_count=5)).text, (n_few, n_wrong)
        assert Page(other.to_html()).text != Page(ex.to_html()).text
    text = Page(ex.to_html(min_count=5)).text
    assert "280 rows" in text
    assert "All counts are rounded down to multiples of 5, and shares follow from them." in text
    assert not re.search(r"282|281|\b41\b|723|99\.[1-9]%", text)


def test_what_was_measured_before_is_rounded_or_left_out():
    frame, labels = customers()
    labels = np.where(np.arange(400) < 3, "few", labels)
    ex = boxwood.explain(frame.drop(columns="channel"), labels, max_leaf_nodes=6, validate=0.5)
    ex.frontier()
    ex.stability(2)
    told, page = as_shown(ex, 10), Page(ex.to_html(min_count=10))
    assert f"resamples of {told.n_rows} rows" in told.stability(2).verdict
    [few] = [one.cluster for one in told.clusters if one.name == "few"]
    assert told.clusters[few].size == 0
    assert all(column.clusters[few] is None for column in told.profile())
    member = next(column for column in told.profile() if column.column == "member")
    rows = [np.round(n * np.array(member.everyone.shares), 6) for n in range(10, 401, 10)]
    assert any((each % 10 == 0).all() for each in rows)
    assert not any("rows" in note for note in told.notes)
    on_reading = ("vip: ja is 1, nein is 0", "read as numbers: price ('1,5 €' is 1.5)")
    assert as_shown(replace(ex, notes=on_reading), 10).notes == on_reading[:1]
    assert not re.search("Price|[Hh]eld out|What smaller and larger trees", page.text)
    assert re.search("Held out.*What smaller and larger trees", Page(ex.to_html()).text)
    assert ex.clusters[few].size == 3  # the explanation itself stays as it is


def test_a_model_without_rows_is_rounded_by_what_it_knows():
    ex = with_few_rows(1)
    model = read_model(ex.to_json())
    assert [leaf.size for leaf in as_shown(model, 5).leaves] == [leaf.size for leaf in as_shown(ex, 5).leaves]
    assert "282" not in Page(model.to_html(min_count=5)).text
    assert "282 rows" in Page(model.to_html()).text


def test_notes_that_tell_shares_of_rows_or_values_are_left_out():
    ex = boxwood.explain([[1.0], [2.0], [8.0], [9.0]] * 20, [0, 0, 1, 1] * 20)
    told = (
        "the rules find only 40.0% of vip, but are right for 97.0% of all rows; try more leaves (max_leaf_nodes)",
        "with 8 leaves the rules could reach 90.4% (max_leaf_nodes)",
        "ward (9 whole numbers, 1 to 9): read as numbers; if they are codes, rules can name them (categories)",
        "no rule may use the forbidden age",
    )
    page = replace(ex, notes=told).to_html(min_count=5)
    assert [note in page for note in told] == [False, False, False, True]
