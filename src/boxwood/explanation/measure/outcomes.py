"""The outcomes behind an explanation by inputs: the same clusters in the columns that they are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from boxwood.errors import DataError
from boxwood.explanation.measure.profile import measure_profile
from boxwood.explanation.measured_tree import WHOLE
from boxwood.tree import ThresholdTree

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.explanation.records import Profile


def outcomes_profiled(ex: MeasuredTree) -> Profile:
    """Return the profile of the outcomes, which the explanation keeps; see `Explanation.profile`.

    Raises
    ------
    DataError
        If the clusters are not those of another table, or nothing of it is known.
    """
    side = side_of_outcomes(ex)
    if side is None:
        raise DataError("nothing is known of outcomes: the rules are on the table of the clusters, or it has no column")
    ex._kept["outcomes"] = measure_profile(side)
    return ex._kept["outcomes"]  # type: ignore[no-any-return]


def side_of_outcomes(ex: MeasuredTree) -> MeasuredTree | None:
    """Return the clusters in the columns of the outcomes, by a tree without a cut, so that it can be profiled.

    None if there are no outcomes, or a model file does not tell of them.
    """
    rows, known = None if ex._evidence is None else ex._evidence.outcomes, ex._kept.get("outcomes")
    if rows is None and known is None:
        return None
    kept = {} if known is None else {"profile": known}
    kept |= {WHOLE: True} if WHOLE in ex._kept else {}
    names = tuple(one.column for one in known or ()) if rows is None else rows.coordinates.columns
    dates = {} if rows is None else {rows.coordinates.columns[j]: its for j, its in rows.coordinates.dates.items()}
    tree = ThresholdTree.from_dict({"cluster": 0})
    details = ex.details._replace(categories=(), gaps=(), binary=(), dates=tuple(dates.items()))
    own: dict[str, Any] = {"columns": names, "details": details}
    return replace(ex, tree=tree, leaves=(), _short=None, **own, _evidence=rows, _kept=kept)
