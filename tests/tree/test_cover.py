"""The leaves of a cluster as few boxes: the same union, in the fewest comparisons."""

import math

import numpy as np
import pytest

from boxwood.tree import Interval
from boxwood.tree import cover as cover_module
from boxwood.tree.cover import Covers
from tests import naive
from tests.cases import tree_on_values
from tests.scale import seeds

INF = math.inf
CODES = tuple((float(code), float(code)) for code in range(4))


def cover(boxes, others, domains):
    """Return the cover of some leaves beside others."""
    return Covers([*boxes, *others], domains).of(range(len(boxes)))


def parts(tree, cluster):
    """Return the boxes of a cluster's leaves, and those of all others."""
    pairs = list(zip(tree.boxes(), tree.leaf_clusters.tolist(), strict=True))
    return [box for box, of in pairs if of == cluster], [box for box, of in pairs if of != cluster]


def price(box, domains):
    """Return how many comparisons say that a row is in the box."""
    ends = sum(math.isfinite(end) for j, ps in box.items() if j not in domains for piece in ps for end in piece[:2])
    return ends + sum(j in domains for j in box)


def check(boxes, others, domains):
    """Check that a cover holds exactly the union, on a grid of values near all ends; return it."""
    few = cover(boxes, others, domains)
    for row in naive.rows_near([*boxes, *few], domains):
        assert naive.is_inside(row, few) == naive.is_inside(row, boxes), (row, boxes, few)
    return few


@pytest.mark.parametrize("domains", [{}, {0: CODES}, {0: CODES, 1: CODES[:2]}], ids=["numbers", "codes", "both"])
def test_a_cover_holds_exactly_the_rows_of_the_leaves(domains):
    for seed in seeds(30):
        rng = np.random.default_rng(seed)
        tree = tree_on_values(rng, 1 + int(rng.integers(1, 9)), 3, range(6), 3)
        for cluster in range(3):
            boxes, others = parts(tree, cluster)
            few = check(boxes, others, domains)
            assert sum(price(box, domains) for box in few) <= sum(price(box, domains) for box in boxes)


@pytest.mark.parametrize("limit", ["MOST_CELLS", "MOST_BOXES", "MOST_STEPS"])
def test_a_greedy_cover_holds_exactly_the_rows_of_the_leaves(limit, monkeypatch):
    monkeypatch.setattr(cover_module, limit, 1)
    for seed in seeds(20):
        rng = np.random.default_rng(seed)
        tree = tree_on_values(rng, 1 + int(rng.integers(1, 12)), 3, range(6), 3)
        for cluster in range(3):
            boxes, others = parts(tree, cluster)
            assert len(check(boxes, others, {0: CODES} if seed % 2 else {})) <= len(boxes)


def test_a_cover_is_the_cheapest_of_all():
    simpler = 0
    for seed in seeds(30):
        rng = np.random.default_rng(seed)
        domains = {0: CODES[:3]} if seed % 3 == 0 else {}
        tree = tree_on_values(rng, 1 + int(rng.integers(2, 7)), 2, range(3 if domains else 2), 3, two_sided=0.1)
        for cluster in range(3):
            boxes, others = parts(tree, cluster)
            if not naive.is_any_inside(boxes, domains):
                assert cover(boxes, others, domains) == []
                continue
            few = check(boxes, others, domains)
            found = sum(price(box, domains) for box in few), len(few)
            best = naive.cheapest_cover(boxes, domains)
            # boxes that differ in one column are merged at the end, which makes both numbers smaller
            assert found == best or found < best, seed
            simpler += found[0] < sum(price(box, domains) for box in boxes)
    assert simpler > 10


def box(**columns):
    return {int(name[1:]): tuple(Interval(*map(float, piece[:2]), *piece[2:]) for piece in pieces)
            for name, pieces in columns.items()}  # fmt: skip


UP, DOWN = (1, INF, False, True), (-INF, 1, True, True)


def test_known_covers():
    # x0 > 1, or x0 <= 1 and x1 > 1
    assert cover([box(x0=[DOWN], x1=[UP]), box(x0=[UP])], [box(x0=[DOWN], x1=[DOWN])], {}) == [
        box(x1=[UP]),
        box(x0=[UP]),
    ]
    # neighbours on one column are one interval
    below, middle, above = (-INF, 1, True, True), (1, 2, False, True), (2, INF, False, True)
    assert cover([box(x0=[below]), box(x0=[middle])], [box(x0=[above])], {}) == [box(x0=[(-INF, 2, True, True)])]
    # two intervals of one column are two boxes; with a condition in common they are one
    assert cover([box(x0=[below]), box(x0=[above])], [box(x0=[middle])], {}) == [box(x0=[below]), box(x0=[above])]
    both = [box(x1=[UP], x0=[below]), box(x1=[UP], x0=[above])]
    assert cover(both, [box(x1=[UP], x0=[middle]), box(x1=[DOWN])], {}) == [box(x1=[UP], x0=[below, above])]
    # nothing can be said more simply of opposite corners
    corners = [box(x0=[DOWN], x1=[DOWN]), box(x0=[UP], x1=[UP])]
    assert cover(corners, [box(x0=[DOWN], x1=[UP]), box(x0=[UP], x1=[DOWN])], {}) == corners
    # every row, and no row
    assert cover([box(x0=[DOWN]), box(x0=[UP])], [], {}) == [{}]
    assert cover([{0: ()}], [{}], {}) == []


def test_many_leaves_are_left_as_they_are(monkeypatch):
    boxes = [box(x0=[DOWN], x1=[UP]), box(x0=[UP])]
    monkeypatch.setattr(cover_module, "MOST_LEAVES", 2)
    assert cover(boxes, [box(x0=[DOWN], x1=[DOWN])], {}) == boxes
