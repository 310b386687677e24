"""Rules as boxes, each with its cluster: a row gets that of the first box that holds it, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from boxwood.explanation.ages import lines_where_rules_run, where_rules_run

if TYPE_CHECKING:
    from boxwood.explanation.measure.lines import MeasuredRules
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.tree import Box


class ClusterBoxes(NamedTuple):
    """Boxes on the columns of an explanation, each with its cluster, and what they are, to stand in a comment."""

    explanation: MeasuredTree
    boxes: list[tuple[int, Box]]
    what: str

    @property
    def features(self) -> list[int]:
        """Columns that boxes restrict, ascending."""
        return sorted({j for _, box in self.boxes for j in box})


def boxes_of_rules(rules: MeasuredRules, as_of: Any = None) -> ClusterBoxes:
    """Return the boxes of standalone rules, whose ages are counted from where they run, or as is said."""
    rules = lines_where_rules_run(rules, as_of)
    return ClusterBoxes(rules.explanation, rules.boxes(), "one line for each cluster")


def boxes_by_cluster(ex: MeasuredTree) -> list[ClusterBoxes]:
    """Return for each cluster the boxes of its leaves that can hold a row; ages are counted from where they run."""
    ex = where_rules_run(ex)
    found = [ClusterBoxes(ex, [], "the rule of one cluster") for _ in range(ex.n_clusters)]
    for cluster, box in zip(ex.tree.leaf_clusters.tolist(), ex.tree.boxes(), strict=True):
        if all(box.values()):
            found[cluster].boxes.append((cluster, box))
    return found
