"""What changed from one tree to another, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from boxwood.render._fitted import short_number
from boxwood.render._rules import column_name

if TYPE_CHECKING:
    from boxwood.explanation._tree_changes import Ends, TreeChanges

__all__ = ["words"]


def words(changes: TreeChanges, columns: Sequence[str]) -> str:
    """Return one line for each cut that moved, went or came, and one for the rows that changed cluster."""
    lines = [
        f"the cut on {column_name(columns[cut.column])} moved from {_ends(cut.before)} to {_ends(cut.after)}"
        for cut in changes.moved
    ]
    lines += [f"the cut on {column_name(columns[column])} at {_ends(ends)} is gone" for column, ends in changes.gone]
    lines += [f"a cut on {column_name(columns[column])} at {_ends(ends)} is new" for column, ends in changes.new]
    lines = lines or ["no cut changed"]
    if changes.share is not None:
        share = percent(changes.share)
        lines.append(
            f"about {share} of rows changed cluster, as estimated from bins"
            if changes.is_estimate
            else f"{share} of rows changed cluster"
        )
    return "\n".join(lines)


def percent(share: float) -> str:
    """Return a share as a percentage in two digits; neither 0 nor 100 unless it is that.

    Examples
    --------
    >>> percent(0.0131), percent(0.5), percent(0.0), percent(0.00001), percent(0.99999)
    ('1.3 %', '50 %', '0 %', 'less than 0.1 %', 'more than 99.9 %')
    """
    if 0 < share < 0.001:
        return "less than 0.1 %"
    if 0.999 < share < 1:
        return "more than 99.9 %"
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.3g} %"


def _ends(ends: Ends) -> str:
    if ends.lower == -math.inf:
        return short_number(ends.upper)
    if ends.upper == math.inf:
        return short_number(ends.lower)
    return f"between {short_number(ends.lower)} and {short_number(ends.upper)}"
