"""Mixtures, trees and laws that are changed as long as they come closer to a theorem: none may exceed a bound."""

from __future__ import annotations

from pathlib import Path

from tests.soak.parts import Wrong
from tests.theory.test_holds import climb

__all__ = ["attempt"]

_STEPS = 100


def attempt(seed: int, folder: Path) -> str:
    """Climb from a random case; nothing is written."""
    found = climb(_STEPS, seed)
    if found.exceeded:
        exact, bound, state = found.exceeded[0]
        raise Wrong(f"{exact} exceeds {bound.value} of {bound.source}: {state}", key=bound.source)
    return f"climbs of {_STEPS} cases, a theorem held in {'most' if 2 * found.n_held > _STEPS else 'fewer'}"
