"""The rules as a list to say aloud: each line asks only what the lines before it leave open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from boxwood.explanation.measured_tree import MeasuredTree, explanation_of
from boxwood.explanation.records import rule_of
from boxwood.render.forms.walk import walk
from boxwood.tree import ThresholdTree
from boxwood.tree.nodes import Cut
from boxwood.words.rules import rule
from boxwood.words.values import cluster_name, column_name, shorten_name


def rule_list(model: Any) -> str:
    """Return a line for each leaf, of which the first that holds decides; see `Explanation.to_text`."""
    ex = explanation_of(model)._for_people()
    *lines, (_, last) = _without_needless([(cuts, int(ex.tree.cluster[node])) for cuts, node in _in_order(ex.tree)])
    about = ex.columns, ex._coded_columns, ex._gap_columns, ex._date_columns
    said = [f"{rule(rule_of(cuts, *about))}: {_name(ex, cluster)}" for cuts, cluster in lines]
    said.append(_name(ex, last) if not lines else f": {_name(ex, last)}")
    return "\n".join(
        [*said[:1], *(f"otherwise{'' if one[0] == ':' else ' '}{one}" for one in said[1:]), *_line_on_lost(ex)]
    )


def _name(ex: MeasuredTree, cluster: int) -> str:
    return shorten_name(cluster_name(ex.names[cluster]))


def _in_order(tree: ThresholdTree) -> Iterator[tuple[tuple[Cut, ...], int]]:
    """Yield each leaf with the cuts that its line has to ask.

    The side of a cut with fewer leaves comes first, and asks for the cut. Once its lines are passed, the rows that are
    left are those of the other side, which need not ask again.
    """
    asked: dict[int, tuple[Cut, ...]] = {0: ()}
    nested: dict[int, int] = {0: 0}
    for step in walk(tree, lighter_first=True):
        node, above = step.node, step.above
        if above >= 0:
            nested[node], asked[node] = step.nested, asked[above]
            if step.nested > nested[above]:
                feature, upper, lower, members = tree.test(above)
                asked[node] += (Cut(above, feature, lower, upper, step.inside, members),)
        if tree.feature[node] < 0:
            yield asked[node], node


def _without_needless(lines: list[tuple[tuple[Cut, ...], int]]) -> list[tuple[tuple[Cut, ...], int]]:
    """Leave out lines whose rows get the same cluster by the next one, which asks for less."""
    kept: list[tuple[tuple[Cut, ...], int]] = []
    for cuts, cluster in reversed(lines):
        if not (kept and kept[-1][1] == cluster and {*kept[-1][0]} <= {*cuts}):
            kept.append((cuts, cluster))
    return kept[::-1]


def _line_on_lost(ex: MeasuredTree) -> list[str]:
    """Return a line on rows that a line would take, but which get no cluster, as a value is missing or unknown."""
    tested = sorted({*ex.tree.features.tolist()})
    coded = {j: ex._coded_columns[j] for j in tested if j in ex._coded_columns}
    gapless = [j for j in tested if j not in ex._gap_columns and None not in (coded[j].values if j in coded else ())]
    lacking = [column_name(ex.columns[j]) for j in gapless if j not in coded or not coded[j].others]
    unseen = [column_name(ex.columns[j]) for j in coded if not coded[j].others]
    ways = [f"without {' or '.join(lacking)}"] * bool(lacking)
    ways += [f"with a category of {' or '.join(unseen)} that was never seen"] * bool(unseen)
    said = f"Rows {', or '.join(ways)} get no cluster, where a line asks for that."
    return [said] if ways else []
