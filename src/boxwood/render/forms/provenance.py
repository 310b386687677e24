"""Where rules come from, in a line or two on top of what is written of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from boxwood._messages import printable
from boxwood._validation import cut_off
from boxwood.words.values import counted, of_leaves, percent

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree


def provenance(ex: MeasuredTree) -> tuple[str, str]:
    """Return by what, when and from what rules were made, and how many they are and how far they agree.

    The date is that of the rules, so the same model is always written alike.
    """
    known = ex.basis
    made = "boxwood" if known is None else f"boxwood {known.version}, {known.made}, from {_source(known.source)}"
    counts = f"{counted(ex.n_clusters, 'cluster')}, {of_leaves(ex.n_leaves)}, agreement {percent(ex.agreement)}"
    return made, counts


def comment(ex: MeasuredTree, sign: str) -> str:
    """Return both as a line of comment; IN: sign: what begins a comment."""
    return f"{sign}{': '.join(provenance(ex))}\n"


def _source(name: str) -> str:
    """Return the name of a table or a file on one line, cut off if it is long, and with no variable of Spark in it."""
    return cut_off(printable(os.path.basename(name))).replace("${", "$ {")
