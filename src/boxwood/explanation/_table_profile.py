"""The profile of a table in batches: means and shares from exact sums, quantiles from bins of a pass."""

from __future__ import annotations

import numpy as np

from boxwood._types import Floats
from boxwood.explanation._evidence import BOOLEAN
from boxwood.explanation._profile import of_counts, others, spread_out
from boxwood.explanation._profile_fields import QUANTILES, CategoryColumn, ColumnProfile, NumberColumn, NumberGroup
from boxwood.explanation._table_evidence import TableEvidence
from boxwood.passes._quantiles import quantiles_in

__all__ = ["profile_by_passes"]


def profile_by_passes(evidence: TableEvidence) -> tuple[ColumnProfile, ...]:
    """Return the profile of the columns of a table in batches; takes two passes for the quantiles."""
    names = evidence.task.batches.columns
    quantiles = quantiles_in(evidence.task.batches, evidence.facts.k, QUANTILES, evidence.task.whole_weights)
    return tuple(
        _of_booleans(name, evidence, j)
        if name in evidence.booleans
        else _of_numbers(name, evidence, j, quantiles[:, j])
        for j, name in enumerate(names)
    )


def _of_booleans(name: str, evidence: TableEvidence, j: int) -> CategoryColumn:
    means = evidence.facts.means
    present = np.flatnonzero(means.weights > 0)
    true = means.mean[present, j] * means.weights[present]
    table = np.stack([means.weights[present] - true, true], axis=1)
    return of_counts(name, table, BOOLEAN, present, evidence.facts.k)


def _of_numbers(name: str, evidence: TableEvidence, j: int, quantiles: Floats) -> NumberColumn:
    """Return the profile of a column of numbers; IN: quantiles of the clusters and of all rows, shape (k + 1, 5)."""
    facts, spreads = evidence.facts, evidence.facts.spreads
    present = np.flatnonzero(facts.means.weights > 0)
    sizes, away = facts.means.weights[present], spreads.away[present, j]
    unit, variance = int(spreads.exponents[j]), float(spreads.variance[j])
    deviation, rest = float(np.sqrt(variance)), others(sizes)
    mean = float(spreads.origin[j] + spreads.mean[j])  # in units
    with np.errstate(divide="ignore", invalid="ignore"):
        differences = (away - others(sizes * away) / rest) / (deviation or np.inf)
    deviations = np.sqrt(spreads.inside[present, j] / sizes) if variance else np.zeros(len(sizes))
    indexed = mean > 0 and float(facts.ranges.least[:, j].min()) >= 0
    own = facts.means.mean[present, j]

    def group(i: int, at: float, spread: float, difference: float | None) -> NumberGroup:
        index = 100.0 * float(np.ldexp(at, -unit)) / mean if indexed else None
        return NumberGroup(float(at), float(np.ldexp(spread, unit)), tuple(quantiles[i].tolist()), difference, index)

    each = [
        group(int(c), own[i], deviations[i], float(differences[i]) if rest[i] > 0 else None)
        for i, c in enumerate(present)
    ]
    return NumberColumn(
        column=name,
        effect=float(min(spreads.between[j] / variance, 1.0)) if variance else 0.0,
        everyone=group(-1, float(np.ldexp(mean, unit)), deviation, None),
        clusters=spread_out(each, present, facts.k),
    )
