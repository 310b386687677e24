"""`with_basis`: an explanation that says where its rows, its labels and its columns come from."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from boxwood._frames import column_names, is_frame
from boxwood.explanation.ask.columns import ColumnNote
from boxwood.explanation.records import Basis, LeftOut
from boxwood.passes import Source
from boxwood.reference import Reference

if TYPE_CHECKING:
    from boxwood.explanation.explanation import Explanation

__all__ = ["basis_of_call", "with_basis"]


def with_basis(
    ex: Explanation, source: str, names: Sequence[str], labels: str, beside: Collection[str | None] = ()
) -> Explanation:
    """Return the explanation with its basis.

    IN: source: what the rows are called; names: of all columns of the table; labels: where they come from;
    beside: columns of labels and weights, which rules never use.
    """
    from boxwood import __version__

    told = [note.left_out for note in ex.notes if isinstance(note, ColumnNote) and note.left_out is not None]
    known = {*ex.columns, *beside, *(name for one in told for name in one.columns)}
    others = tuple(name for name in names if name not in known)
    left_out = (*told, *([LeftOut("not chosen", others)] if others else []))
    n_columns = max(len(names), len(ex.columns))
    texts = tuple(LeftOut(one.reason, tuple(map(_writable, one.columns))) for one in left_out)
    return replace(ex, basis=Basis(_writable(source), _today(), __version__, _writable(labels), n_columns, texts))


def _writable(name: str) -> str:
    """Return a name as a model file can hold it: halves of characters, as in odd names of files, become "?"."""
    return name.encode("utf-8", "replace").decode("utf-8")


def basis_of_call(ex: Explanation, X: Any, clustering: Any, weights: Any) -> Explanation:
    """Return the explanation with what a call of `explain` tells of its basis."""
    beside = [name for name in (clustering, weights) if isinstance(name, str)]
    own: object = getattr(clustering, "explanation_", None)
    if own is ex:  # which is the explainer's own, and stays that
        return ex
    labels = _labels(clustering, ex.n_clusters)
    if isinstance(X, Source):
        return with_basis(ex, X.name, X.names, labels, beside)
    return with_basis(ex, _kind(X), column_names(X) if is_frame(X) else (), labels, beside)


def _kind(X: Any) -> str:
    """Return what rows in memory are called."""
    package = type(X).__module__.partition(".")[0]
    return f"a data frame of {package}" if is_frame(X) else "an array"


def _labels(clustering: Any, n_clusters: int) -> str:
    """Return where the clusters come from, in words."""
    if clustering is None:
        return f"k-means, {n_clusters} clusters asked for"
    if isinstance(clustering, str):
        return f"the column {clustering}"
    if isinstance(clustering, Reference):
        return "given centres"
    if hasattr(clustering, "fit"):
        steps = [step for _, step in clustering.steps] if hasattr(clustering, "steps") else [clustering]
        return ", then ".join(step if isinstance(step, str) else type(step).__name__ for step in steps)
    return "given labels"


def _today() -> str:
    """Return the date; that of SOURCE_DATE_EPOCH, if it is set, so that a build can be repeated."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    day = datetime.fromtimestamp(int(epoch), UTC).date() if epoch.isdecimal() else date.today()
    return day.isoformat()
