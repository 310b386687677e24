"""What all writers share: the walk of a tree, the outline of texts, cuts in words, and where rules come from."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Hashable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from boxwood._dates import Dates
from boxwood._messages import printable
from boxwood._validation import cut_off
from boxwood.axes import Categories
from boxwood.tree import Interval, ThresholdTree
from boxwood.tree.boxes import intervals_inside as values_on_side
from boxwood.tree.boxes import without_missing
from boxwood.tree.nodes import Cut, CutTest
from boxwood.words.rules import period, say_numbers
from boxwood.words.values import (
    category,
    column_name,
    count_of,
    frequent_first,
    from_to,
    group_digits,
    none_of,
    of_leaves,
    one_of,
    percent,
    short_number,
)

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree


class WalkStep(NamedTuple):
    """A node on the walk.

    `depth` counts the cuts above it. `above` is the last of these, -1 for the root, and `inside` says on which side of
    it the node lies. `asked` holds the columns that the way to the node has tested. `nested` counts the cuts above it
    of which it lies on the side that is walked first.
    """

    node: int
    depth: int
    above: int
    inside: bool
    asked: frozenset[int]
    nested: int


def walk(tree: ThresholdTree, *, lighter_first: bool = False) -> Iterator[WalkStep]:
    """Yield the nodes, each before those below it, and all on one side of a cut before those on the other.

    The inside of a cut comes first, or with `lighter_first` the side of fewer leaves. Then `nested` is at most the
    logarithm to base 2 of the number of leaves, however deep the tree is: code that indents only the first side stays
    narrow.
    """
    features, second = tree.feature.tolist(), tree.second.tolist()
    leaves = _leaves_below(tree) if lighter_first else None
    stack = [WalkStep(0, 0, -1, True, frozenset(), 0)]
    while stack:
        step = stack.pop()
        yield step
        node, feature = step.node, features[step.node]
        if feature < 0:
            continue
        asked = step.asked if feature in step.asked else step.asked | {feature}
        outside_first = leaves is not None and leaves[second[node]] < leaves[node + 1]
        for inside in (outside_first, not outside_first):  # what is pushed last is walked first
            child = node + 1 if inside else second[node]
            nested = step.nested + (inside != outside_first)
            stack.append(WalkStep(child, step.depth + 1, node, inside, asked, nested))


def among(categories: Categories, test: CutTest) -> tuple[tuple[Hashable, ...], bool]:
    """Return the values inside of a cut on their codes, and True; or those outside, and False."""
    return categories.chosen([code for code, _ in categories.domain if takes(test, code)])


def takes(test: CutTest, code: float) -> bool:
    """Return whether a code is inside of a cut."""
    return code in test.members if test.members else test.lower <= code <= test.upper


def _leaves_below(tree: ThresholdTree) -> list[int]:
    leaves, features, second = [1] * tree.n_nodes, tree.feature.tolist(), tree.second.tolist()
    for node in range(tree.n_nodes - 1, -1, -1):
        if features[node] >= 0:
            leaves[node] = leaves[node + 1] + leaves[second[node]]
    return leaves


LONGEST = 1 << 28  # characters of indentation

Tests: TypeAlias = Callable[[WalkStep], tuple[str, str]]
"""From a cut to the tests of its two sides."""

OfCut: TypeAlias = Callable[[int, float, float, Collection[int]], tuple[str, str]]
"""From a cut's feature, its lower and upper end, and the features cut above it, to the tests of its two sides."""


def outline(tree: ThresholdTree, tests: Tests, leaf: Callable[[int], str]) -> str:
    """Return the tree in the shape of scikit-learn's `export_text`, in pre-order.

    IN: tests, the texts of the two sides of a cut; leaf, the text of a leaf from its node.

    Raises
    ------
    ValueError
        If the tree is so deep that the text would be longer than 2**28 characters by its indentation alone.
    """
    if (indentation := too_deep(tree)) is not None:
        raise ValueError(
            f"a tree of depth {tree.depth:,} as text would take {indentation:,} characters of indentation; use "
            "to_json() or to_sql()"
        )
    return "\n".join(line for line, _ in outline_lines(tree, tests, leaf))


def outline_lines(tree: ThresholdTree, tests: Tests, leaf: Callable[[int], str]) -> list[tuple[str, int]]:
    """Return the lines of the outline, each with its node if it is a leaf's, and -1 otherwise."""
    lines: list[tuple[str, int]] = []
    waiting: dict[tuple[int, bool], str] = {}  # test that leads to a side of a cut
    for step in walk(tree):
        if step.depth:
            lines.append((f"{'|   ' * (step.depth - 1)}|--- {waiting.pop((step.above, step.inside))}", -1))
        if tree.feature[step.node] < 0:
            lines.append((f"{'|   ' * step.depth}|--- {leaf(step.node)}", step.node))
        else:
            waiting[step.node, True], waiting[step.node, False] = tests(step)
    return lines


def of_cuts(tree: ThresholdTree, tests: OfCut) -> Tests:
    """Return texts of cuts that need no more than the cut and the features above it."""

    def of_step(step: WalkStep) -> tuple[str, str]:
        node = step.node
        return tests(int(tree.feature[node]), float(tree.lower[node]), float(tree.upper[node]), step.asked)

    return of_step


def too_deep(tree: ThresholdTree) -> int | None:
    """Return the number of characters of indentation, if it is too large for a text."""
    depth = [0] * tree.n_nodes
    for node, (feature, second) in enumerate(zip(tree.feature.tolist(), tree.second.tolist(), strict=True)):
        if feature >= 0:
            depth[node + 1] = depth[second] = depth[node] + 1
    indentation = 4 * sum(depth)
    return indentation if indentation > LONGEST else None


def sides_of_cut(
    name: str, lower: float, upper: float, number: Callable[[float], str], low: str = "", high: str = ""
) -> tuple[str, str]:
    """Return the tests of the two sides of a cut; `low` and `high` are added for values below and above the cut."""
    if lower == -math.inf:
        return f"{name} <= {number(upper)}{low}", f"{name} >  {number(upper)}{high}"
    if upper == math.inf:
        return f"{name} >= {number(lower)}{high}", f"{name} <  {number(lower)}{low}"
    above = f"{name} > {number(upper)}" if not high else f"> {number(upper)}"
    return f"{number(lower)} <= {name} <= {number(upper)}", f"{name} < {number(lower)}{low} or {above}{high}"


def sides_of_two(name: str) -> tuple[str, str]:
    """Return the tests of the two sides of a cut of a column that holds only 0 and 1."""
    return f"{name} = 0", f"{name} = 1"


Sides = tuple[list[int], list[int]]
"""Codes of the categories that can reach a cut: those inside, and those outside."""


class CutWords(NamedTuple):
    """The conditions of the inside and the outside of a cut: short ones without the column's name, and in full."""

    short: tuple[str, str]
    full: tuple[str, str]


def sides_with_gaps(test: CutTest, *, reached: bool = True) -> list[tuple[tuple[Interval, ...], bool]]:
    """Return both sides of a cut on a column with gaps: its numbers, and whether missing values are on this side.

    IN: reached: whether rows reach the cut that lack the value.
    """
    cuts = (Cut(0, test.feature, test.lower, test.upper, inside) for inside in (True, False))
    found = (without_missing(values_on_side(cut)) for cut in cuts)
    return [(pieces, or_missing and reached) for pieces, or_missing in found]


def cut_words(ex: MeasuredTree, node: int, codes: Sides | None, reached: Collection[int] = ()) -> CutWords:
    """Return the tests of the sides of a cut.

    IN: codes: those of `codes_at_cuts`, for a column of categories; reached: cuts that missing values reach.
    """
    feature, upper, lower, _ = test = ex.tree.test(node)
    name = column_name(ex.columns[feature])
    dates = ex._date_columns.get(feature)
    if feature in ex._gap_columns or dates is not None:
        first, last = sides_with_gaps(test, reached=node in reached)
        full = say_numbers(name, *first, dates), say_numbers(name, *last, dates)
        return CutWords((_in_short(*first, dates), _in_short(*last, dates)), full)
    if codes is None and ex._says_values(feature, lower, upper):
        return CutWords(("= 0", "= 1"), sides_of_two(name))
    if codes is None:
        inside, outside = sides_of_cut(name, lower, upper, group_digits)
        return CutWords(_numbers(lower, upper), (inside, outside.replace(f"{name} >  ", f"{name} > ")))
    categories = ex._coded_columns[feature]
    if categories.values == (False, True):
        yes = codes[0] == [1]
        return CutWords(
            ("yes", "no") if yes else ("no", "yes"), (name, f"not {name}") if yes else (f"not {name}", name)
        )
    short = _categories(categories, codes)
    return CutWords(short, (f"{name} {short[0]}", f"{name} {short[1]}"))


def codes_at_cuts(tree: ThresholdTree, categories: dict[int, Categories]) -> dict[int, Sides]:
    """Return the codes that can reach each cut on a column of categories, inside and outside of it."""
    found: dict[int, Sides] = {}
    known = {j: list(range(len(one.domain))) for j, one in categories.items()}
    stack = [(0, known)]  # node, and the codes of each column that can reach it
    while stack:
        node, possible = stack.pop()
        feature = int(tree.feature[node])
        if feature < 0:
            continue
        below = (possible, possible)
        if feature in categories:
            test = tree.test(node)
            inside = [code for code in possible[feature] if takes(test, code)]
            outside = [code for code in possible[feature] if not takes(test, code)]
            found[node] = inside, outside
            below = possible | {feature: inside}, possible | {feature: outside}
        stack += (int(tree.second[node]), below[1]), (node + 1, below[0])
    return found


def _numbers(lower: float, upper: float) -> tuple[str, str]:
    low, high = short_number(lower), short_number(upper)
    if lower == -math.inf:
        return f"≤ {high}", f"> {high}"
    if upper == math.inf:
        return f"≥ {low}", f"< {low}"
    return f"{low} to {high}", f"< {low} or > {high}"


def _in_short(pieces: tuple[Interval, ...], or_missing: bool, dates: Dates | None) -> str:
    """Return the numbers on a side of a cut on a column with gaps, such as "> 5 or missing"."""
    if not pieces:
        return "missing" if or_missing else "impossible"
    if pieces[0][:2] == (-math.inf, math.inf):
        return ("any number" if dates is None else "any date") + " or missing" * or_missing
    said = (_ends(piece) if dates is None else _dated_ends(piece, dates) for piece in pieces)
    return " or ".join([*said, *["missing"] * or_missing])


def _dated_ends(piece: Interval, dates: Dates) -> str:
    if dates.as_of:  # "< 137 days ago" is before that day to some, and since then to others
        return period(piece, dates)
    begin = dates.first(piece.lower, beyond=not piece.lower_closed) if piece.lower > -math.inf else ""
    end = dates.first(piece.upper, beyond=piece.upper_closed) if piece.upper < math.inf else ""
    if begin and end:
        return f"{begin} to < {end}"
    return f"≥ {begin}" if begin else f"< {end}"


def _ends(piece: Interval) -> str:
    lower, upper, lower_closed, upper_closed = piece
    low, high = short_number(lower), short_number(upper)
    if lower == -math.inf:
        return f"{'≤' if upper_closed else '<'} {high}"
    return f"{'≥' if lower_closed else '>'} {low}" if upper == math.inf else f"{low} to {high}"


def _categories(categories: Categories, codes: Sides) -> tuple[str, str]:
    """Return the tests of both sides: that of fewer categories names them, the other one says "none of them".

    A side that other values than the known ones may take is always the other one. Values in an order are named on both.
    """
    values = categories.values
    if categories.ordered and all(codes):
        held = [[values[code] for code in side] for side in codes]
        inside, outside = (f"is {from_to(side, categories) or one_of(side)}" for side in held)
        return inside, outside
    has_others = [any(code >= len(values) for code in side) for side in codes]
    named = 1 if has_others[0] or (len(codes[1]) < len(codes[0]) and not has_others[1]) else 0
    chosen = frequent_first([values[code] for code in codes[named] if code < len(values)], categories)
    others = [values[code] for code in codes[1 - named] if code < len(values)]
    if not chosen:
        words = "impossible", "any"
    elif len(others) == 1 and not any(has_others):
        words = f"is {one_of(chosen)}", f"is {category(others[0])}"
    else:
        words = f"is {one_of(chosen)}", f"is {none_of(chosen)}" if others or any(has_others) else "impossible"
    return words if named == 0 else (words[1], words[0])


def provenance(ex: MeasuredTree) -> tuple[str, str]:
    """Return by what, when and from what rules were made, and how many they are and how far they agree.

    The date is that of the rules, so the same model is always written alike.
    """
    known = ex.provenance
    made = "boxwood" if known is None else f"boxwood {known.version}, {known.made}, from {_source(known.source)}"
    counts = f"{count_of(ex.n_clusters, 'cluster')}, {of_leaves(ex.n_leaves)}, agreement {percent(ex.agreement)}"
    return made, counts


def comment(ex: MeasuredTree, sign: str) -> str:
    """Return both as a line of comment; IN: sign: what begins a comment."""
    return f"{sign}{': '.join(provenance(ex))}\n"


def _source(name: str) -> str:
    """Return the name of a table or a file on one line, cut off if it is long, and with no variable of Spark in it."""
    return cut_off(printable(os.path.basename(name))).replace("${", "$ {")
