"""Mixtures, trees and laws that are changed as long as they come closer to a theorem: none may exceed a bound.

Every fourth case is a small table with numbers or weights that dwarf others instead: no tree of all costs less than a
bound on them.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from boxwood import Reference, grow
from tests.cases import make_vast
from tests.grow.test_optimal import least_of_vast
from tests.soak.parts import Wrong
from tests.theory.test_holds import climb

__all__ = ["attempt"]

_STEPS = 100


def attempt(seed: int, folder: Path) -> str:
    """Climb from a random case; nothing is written."""
    if seed % 4 == 0:
        return _bounded(seed)
    found = climb(_STEPS, seed)
    if found.exceeded:
        exact, bound, state = found.exceeded[0]
        raise Wrong(f"{exact} exceeds {bound.value} of {bound.source}: {state}", key=bound.source)
    return f"climbs of {_STEPS} cases, a theorem held in {'most' if 2 * found.n_held > _STEPS else 'fewer'}"


def _bounded(seed: int) -> str:
    X, labels, weights = make_vast(seed)
    leaves = 2 + seed // 4 % 2
    found = grow.optimal(X, Reference.of(X, labels), max_leaf_nodes=leaves, sample_weight=weights)
    least = least_of_vast(X, labels, weights, leaves, None)
    if Fraction(found.bound) > least * (1 + Fraction(1, 10**9)):
        raise Wrong(f"a tree costs {float(least)}, below the bound {found.bound}", key="grow.optimal")
    return f"small tables with numbers that dwarf others, {'the cheapest tree' if found.gap == 0 else 'a bound'}"
