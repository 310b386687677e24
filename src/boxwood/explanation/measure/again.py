"""The facts of another tree on the rows that an explanation was measured on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boxwood.explanation.living.counts import with_rows_left_out
from boxwood.explanation.measure.measure import measure, measured_of_batches
from boxwood.explanation.measured_tree import MeasuredTree, with_kinds
from boxwood.grow.grown import Grown

if TYPE_CHECKING:
    from boxwood.explanation.measure.evidence import Evidence
    from boxwood.tree import ThresholdTree

_OF_ROWS = "provenance", "n_rows", "n_left_out", "limits"


def measured_again(ex: MeasuredTree, tree: ThresholdTree, step: str, evidence: Evidence | None = None) -> MeasuredTree:
    """Return the explanation by another tree on the same rows, with the notes that measuring gives, and no others.

    IN: step: what is added to the method; evidence: the rows with other clusters, if they have got some.
    """
    evidence = evidence or ex._known()
    measured = _measure_grown(Grown(tree, _with_step(ex.method, step), ex.details.objective, evidence.kernel), evidence)
    here = measured._known()
    evidence = replace(evidence, leaf=here.leaf, held=here.held, grow=None)
    measured = with_kinds(replace(measured, _evidence=evidence), evidence.booleans, dict(ex.details.dates))
    measured = replace(measured, **{name: getattr(ex, name) for name in _OF_ROWS})
    measured = measured._with_details(n_incomplete=ex.details.n_incomplete)
    return measured if evidence.others is None else with_rows_left_out(measured, evidence.others)


def _measure_grown(grown: Grown, evidence: Evidence) -> MeasuredTree:
    if evidence.facts is not None:
        return measured_of_batches(evidence.facts, grown, evidence.facts.of_trees([grown.tree])[0])
    if evidence.whole is None:
        return measure(evidence.task, grown, evidence.coordinates)
    whole = evidence.whole.measured(grown.tree, evidence.coordinates)  # without leaves that hold too few rows
    return measure(evidence.task, grown._replace(tree=whole.tree), evidence.coordinates, whole=whole)


def _with_step(method: str, step: str) -> str:
    return method if step in method.split(", ")[1:] else f"{method}, {step}"
