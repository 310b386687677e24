"""A `Why` as text and as plain data: the way of a row down the tree, and what would change its cluster."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from boxwood.render._rules import category, cluster_name, column_name, condition, number

if TYPE_CHECKING:
    from boxwood.explanation._changes import Change, Move
    from boxwood.explanation._why import Step, Why

__all__ = ["why_facts", "why_text"]


def why_text(why: Why) -> str:
    """Return a line for the cluster, one for each cut on the way, and one for each other cluster."""
    lines = [_headline(why), *_steps(why.steps)]
    lines += [_change(change) for change in why.changes]
    if why.out_of_reach:
        lines.append(f"no such change reaches {', '.join(map(cluster_name, why.out_of_reach))}")
    return "\n".join(lines + ([f"Note: {why.reason}"] if why.reason and why.cluster is not None else []))


def why_facts(why: Why) -> dict[str, Any]:
    """Return all fields of a `Why`, and of what it holds, as data of JSON."""
    return {
        "cluster": why.name,
        "leaf": why.leaf,
        "size": _finite(why.size),
        "own": _finite(why.own),
        "reason": why.reason,
        "steps": [_plain(step._asdict() | {"condition": condition(step.condition)}) for step in why.steps],
        "changes": [
            {
                "cluster": change.name,
                "leaf": change.leaf,
                "deviations": _finite(change.deviations),
                "moves": [_plain(move._asdict()) for move in change.moves],
            }
            for change in why.changes
        ],
        "out_of_reach": list(why.out_of_reach),
    }


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: _finite(value) for name, value in fields.items()}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _headline(why: Why) -> str:
    if why.cluster is None or why.size is None or why.own is None:
        return f"no cluster: {why.reason}"
    held = f"{why.size:,.10g} {'row' if why.size == 1 else 'rows'}"
    own = f", {why.own / why.size:.1%} of them {cluster_name(why.name)}" if why.size else ""
    return f"{cluster_name(why.name)}, by leaf {why.leaf} ({held}{own})"


def _steps(steps: tuple[Step, ...]) -> list[str]:
    cells = [
        (f"cut {i}", f"{column_name(step.column)} = {_value(step.value)}", condition(step.condition), _margin(step))
        for i, step in enumerate(steps, start=1)
    ]
    widths = [max((len(row[column]) for row in cells), default=0) for column in range(3)]
    return [
        f"  {'  '.join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]])}".rstrip()
        for row in cells
    ]


def _margin(step: Step) -> str:
    if step.margin is None or not math.isfinite(step.margin):
        return ""
    deviations = "" if step.deviations is None else f", {_deviations(step.deviations)}"
    return f"({step.margin:.4g} from the cut{deviations})"


def _change(change: Change) -> str:
    moves = " and ".join(map(_move, change.moves))
    return f"would be {cluster_name(change.name)} if {moves} ({_distance(change)})"


def _distance(change: Change) -> str:
    """Return how far a change is; a change of category counts 1, which is no standard deviation."""
    numbers = [move.deviations for move in change.moves if _is_number(move)]
    n_others = len(change.moves) - len(numbers)
    others = "one other category" if n_others == 1 else f"{n_others} other categories"
    if not numbers:
        return others
    away = f"{_deviations(math.fsum(numbers))} away"
    return f"{away}, and {others}" if n_others else away


def _deviations(times: float) -> str:
    return f"{times:.2g} standard deviation{'' if f'{times:.2g}' == '1' else 's'}"


def _is_number(move: Move) -> bool:
    return not move.is_category and isinstance(move.after, float) and isinstance(move.before, float)


def _move(move: Move) -> str:
    """Return a change in words; next to an open end, the end is said: "above 3" for the next double above 3."""
    name = column_name(move.column)
    if not _is_number(move):
        return f"{name} were {_value(move.after)}"
    assert isinstance(move.after, float)
    assert isinstance(move.before, float)
    beyond = math.nextafter(move.after, move.before)
    if len(number(beyond)) < len(number(move.after)):
        return f"{name} were {'above' if beyond < move.after else 'below'} {number(beyond)}"
    return f"{name} were {number(move.after)}"


def _value(value: Hashable) -> str:
    return number(value) if isinstance(value, float) else category(value)
