"""The numbers, the cards, and the disagreement for a page, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._types import Floats
from boxwood.render._figures import percent, shortened
from boxwood.render._page_profile import standing_out
from boxwood.render._page_tree import apart
from boxwood.render._picture import Picture, amount, rows_of
from boxwood.render._rules import NO_ROW, NO_RULE, column_name, condition
from boxwood.render._text import always

if TYPE_CHECKING:
    from boxwood.explanation import Explanation, Rule
    from boxwood.explanation._profile_fields import ColumnProfile

__all__ = ["MOST_CLUSTERS", "cards", "confusion", "lede", "losses", "tiles"]

MOST_CLUSTERS = 30  # of a confusion table that is shown whole
_MOST_PAIRS = 30
_MOST_RULES = 8  # of a card
_NAMED = 6  # columns


def lede(ex: Explanation) -> str:
    """Return the first sentence."""
    kept = ex.n_rows - ex.n_left_out
    cuts = ex.n_leaves - 1
    return (
        f"{cuts:,} cut{'' if cuts == 1 else 's'} on {ex.tree.features.size:,} of {_count(len(ex.columns), 'column')} "
        f"sort {_count(kept, 'row')} into {_count(ex.n_clusters, 'cluster')}, and put {percent(ex.agreement)} of "
        f"them{' by weight' if ex.weighted else ''} where the clustering does ({always(ex)})."
    )


def tiles(ex: Explanation, has_price: bool) -> list[dict[str, str]]:
    """Return the numbers at the top, each with a note."""
    names = [shortened(column_name(ex.columns[j])) for j in ex.tree.features.tolist()]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    longest = max((len(leaf.rule) for leaf in ex.leaves), default=0)
    price = {"name": "Price of explainability", "value": _price(ex.price), "note": _price_note(ex)}
    return [
        *([price] if has_price else []),
        {"name": "Agreement", "value": percent(ex.agreement), "note": _agreement_note(ex)},
        {
            "name": "Size",
            "value": _count(ex.n_leaves, "leaf", "leaves"),
            "note": f"{_count(ex.n_leaves - 1, 'cut')}, longest rule {_count(longest, 'condition')}",
        },
        {
            "name": "Columns used",
            "value": f"{len(names):,} of {len(ex.columns):,}",
            "note": (", ".join(names[:_NAMED]) + more) or "none",
        },
    ]


def cards(ex: Explanation, picture: Picture, profile: tuple[ColumnProfile, ...]) -> list[dict[str, Any]]:
    """Return a card for each cluster: its size, its rules, what stands out."""
    found = []
    for cluster, swatch in zip(ex.clusters, picture.swatches, strict=True):
        found.append(
            {
                "swatch": swatch,
                "rows": rows_of(cluster.size, ex.weighted),
                "share": percent(cluster.share),
                "bar": round(100 * cluster.share, 1),
                "rules": [_lines(one) for one in cluster.rules[:_MOST_RULES]] or [[NO_RULE]],
                "more": max(len(cluster.rules) - _MOST_RULES, 0),
                "caught": None if cluster.caught is None else percent(cluster.caught),
                "precision": None if cluster.precision is None else percent(cluster.precision),
                "standing_out": standing_out(profile, cluster),
            }
        )
    return found


def losses(picture: Picture) -> list[dict[str, str]]:
    """Return a line for each cut: its test, its rows, and the rows that are lost there; none without rows."""
    if any(cut.lost is None for cut in picture.cuts):
        return []
    inside = {edge.parent: edge.full for edge in picture.edges if edge.child == edge.parent + 1}
    return [
        {
            "number": str(cut.number),
            "test": apart(inside[cut.node], cut.column),
            "rows": amount(cut.rows),
            "lost": amount(cut.lost or 0.0),
        }
        for cut in picture.cuts
    ]


def confusion(ex: Explanation, picture: Picture) -> dict[str, Any] | None:
    """Return the rows by cluster and by the cluster of their rule; of many clusters the largest mistakes alone.

    The share of a cell in its row comes in steps of 5%, for its shade.
    """
    table = np.zeros((ex.n_clusters, ex.n_clusters))
    for leaf in picture.leaves:
        for cluster, part in leaf.parts:
            if cluster < 0:  # of a model without rows: it is not known of which cluster
                return None
            table[cluster, leaf.cluster] += part
    if ex.n_clusters > MOST_CLUSTERS:
        return {"rows": [], "pairs": _pairs(table)}
    told = [[amount(x) if x else "·" for x in line] for line in table.tolist()]
    table /= 1 << 8  # a power of two, so that shares stay the same and 20 times a weight is a double
    sums = np.maximum(table.sum(axis=1), 1e-300)
    rows = [
        [
            {"text": text, "step": 5 * math.ceil(20 * x / total), "own": i == j}
            for j, (x, text) in enumerate(zip(line, texts, strict=True))
        ]
        for i, (line, texts, total) in enumerate(zip(table.tolist(), told, sums.tolist(), strict=True))
    ]
    return {"rows": rows, "pairs": []}


# ----------------------------------------------------------------------------------------------------------- steps


def _pairs(table: Floats) -> list[dict[str, Any]]:
    """Return the largest cells off the diagonal, as their clusters and their text."""
    wrong = table.copy()
    np.fill_diagonal(wrong, 0.0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_PAIRS]
    places = zip(*(place.tolist() for place in np.unravel_index(order, wrong.shape)), strict=True)
    return [{"own": i, "rules": j, "text": amount(table[i, j])} for i, j in places if wrong[i, j]]


def _lines(rule: Rule) -> list[str]:
    if any(not one.intervals for one in rule):
        return [NO_ROW]
    return [apart(condition(one), column_name(one.column)) for one in rule] or ["every row"]


def _agreement_note(ex: Explanation) -> str:
    total = sum(leaf.size for leaf in ex.leaves)
    wrong = sum(leaf.size - leaf.own for leaf in ex.leaves)
    if wrong > 0:
        what = "weight changes" if ex.weighted else "rows change"
        note = f"{amount(wrong)} of {amount(total)} {what} cluster"
    else:
        note = "no row changes cluster"
    note += f"; {always(ex)}"
    if ex.held_out is not None:
        note += f"; {percent(ex.held_out.agreement)} on rows held out ({ex.held_out.how})"
    return note


def _price(price: float) -> str:
    if math.isinf(price):
        return "infinite"
    return f"{price:.3f}" if price < 1000 else f"{price:.3g}"


def _price_note(ex: Explanation) -> str:
    if math.isinf(ex.price):
        return "the clusters have no spread at all; the groups of the rules have some"
    if ex.reference_cost == 0:
        return "neither the clusters nor the groups of the rules have any spread"
    change = abs(ex.price - 1)
    if change < 0.0005:
        return "the groups of the rules are as tight as the clusters"
    more = "more" if ex.price > 1 else "less"
    note = f"the groups of the rules are {change:.1%} {more} spread out than the clusters"
    return note if ex.price > 1 else f"{note}, which do not minimise this cost"


def _count(n: int, noun: str, nouns: str | None = None) -> str:
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"
