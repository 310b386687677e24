"""`with_provenance`: an explanation that says where its rows, its labels and its columns come from."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from boxwood._frames import column_names, is_frame, types_in
from boxwood._validation import list_words
from boxwood._version import __version__
from boxwood.batches import Source
from boxwood.explanation.ask.columns import ColumnNote
from boxwood.explanation.records import NOT_CHOSEN, LeftOut, Provenance
from boxwood.reference import Reference
from boxwood.reference.reference import are_labels
from boxwood.table.sql import type_of
from boxwood.words.notes import MADE_HERE

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree, Tree
    from boxwood.reference.feature_space import FeatureSpace


class Given(NamedTuple):
    """What the rows are called, the names of all columns of the table, and where the labels come from.

    `beside` has the columns of labels and weights, which rules never use; `label` is the name of the labels; `types`
    has the types of columns in the table, as far as it tells them.
    """

    source: str
    names: Sequence[str]
    labels: str
    beside: Collection[str | None] = ()
    label: str = ""
    types: Mapping[str, str] = MappingProxyType({})


def given_in(X: Any, clustering: Any, weights: Any, n_clusters: int | None = None) -> Given:
    """Return what rows and a clustering are called; IN: n_clusters: the number asked for, if boxwood made them."""
    beside = [name for name in (clustering, weights) if isinstance(name, str)]
    about = _labels(clustering, n_clusters), beside, _name_of(clustering)
    if isinstance(X, Source):
        return Given(X.name, X.names, *about, X.types)
    return Given(_kind(X), column_names(X) if is_frame(X) else (), *about, types_in(X))


def with_provenance(ex: Tree, given: Given, known: Sequence[LeftOut] = ()) -> Tree:
    """Return the explanation with its basis; IN: known: columns that were left out before, and why."""
    noted = [note.left_out for note in ex.notes if isinstance(note, ColumnNote) and note.left_out is not None]
    told = noted or [_among(one, given.names) for one in known]
    named = {*ex.columns, *given.beside, *(name for one in told for name in one.columns)}
    others = tuple(name for name in given.names if name not in named)
    left_out: dict[str, list[str]] = {}
    for reason, columns in (*told, LeftOut(NOT_CHOSEN, others)):
        left_out.setdefault(reason, []).extend(map(_writable, columns))
    n_columns = max(len(given.names), len(ex.columns))
    texts = tuple(LeftOut(reason, tuple(columns)) for reason, columns in left_out.items() if columns)
    types = _types(ex, given.types)
    about = _writable(given.labels), n_columns, texts, _writable(given.label), types, _weights(ex)
    provenance = Provenance(_writable(given.source), _today(), __version__, *about)
    return replace(ex, provenance=provenance)


def provenance_of_call(ex: Tree, X: Any, clustering: Any, n_clusters: int | None, weights: Any) -> Tree:
    """Return the explanation with what a call of `explain` tells of its provenance."""
    own: object = getattr(clustering, "explanation_", None)
    if own is ex:  # which is the explainer's own, and stays that
        return ex
    given = given_in(X, clustering, weights)
    return with_provenance(ex, given if clustering is not None else given._replace(labels=_made_here(ex, n_clusters)))


def provenance_on_other_rows(measured: Tree, X: Any, labels: Any, weights: Any, known: Provenance | None) -> Tree:
    """Return the facts of a tree on other rows with their basis; IN: known: that of the tree."""
    given = given_in(X, labels, weights)
    if known is None:
        return with_provenance(measured, given)
    made = f"{given.labels}; the rules are those made from {known.source} on {known.made}"
    return with_provenance(measured, given._replace(labels=made, label=known.label), known.left_out)


def _types(ex: MeasuredTree, declared: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return what is known of the types of the columns that rules test; those of an array are all of one type.

    Numbers that stand as text have no type: rules see them converted. Booleans beside missing values are booleans,
    whatever the frame calls such a column.
    """
    told = {j: type_of(declared.get(ex.columns[j], declared.get("", ""))) for j in ex.tree.features.tolist()}
    told |= {j: "BOOLEAN" for j, known in ex._coded_columns.items() if known.are_truths and told.get(j) == ""}
    texts = {**ex._coded_columns, **ex._date_columns}
    return tuple(
        (_writable(ex.columns[j]), kind) for j, kind in told.items() if kind and (kind != "TEXT" or j in texts)
    )


def _weights(ex: MeasuredTree) -> tuple[tuple[str, float], ...]:
    """Return how much each column counts in clusters that boxwood made; nothing if they count alike."""
    entry = None if ex._evidence is None else ex._evidence.coordinates.entry
    if entry is None or entry.weights is None or entry.weights.min() == 1.0:
        return ()
    return tuple((_writable(name), weight) for name, weight in zip(ex.columns, entry.weights.tolist(), strict=True))


def _among(one: LeftOut, names: Collection[str]) -> LeftOut:
    return LeftOut(one.reason, tuple(name for name in one.columns if name in names))


def _writable(name: str) -> str:
    """Return a name as a model file can hold it: halves of characters, as in odd names of files, become "?"."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _kind(X: Any) -> str:
    """Return what rows in memory are called."""
    package = type(X).__module__.partition(".")[0]
    return f"a data frame of {package}" if is_frame(X) else "an array"


def clusters_made(here: FeatureSpace, k: int, n_clusters: int | None, drawn: str = "") -> str:
    """Return how boxwood made the clusters, in words; `n_clusters` is None if nobody asked for a number.

    IN: here: the rows that were clustered; drawn: how many of all rows these are.
    """
    chosen = "the number chosen by boxwood" if n_clusters is None else "the number asked for"
    parts = [f"{MADE_HERE}{k} clusters ({chosen})"]
    parts += ["on columns brought to one scale"] if here.is_scaled else []
    parts += [drawn] if drawn else []
    entry = here.entry
    if entry is not None and entry.tails is not None and entry.tails.drawn_in:
        parts.append(f"long tails drawn in: {list_words([here.columns[j] for j in entry.tails.drawn_in])}")
    if entry is not None and entry.repeated is not None:
        parts += [f"{list_words([here.columns[j] for j in group])} count once" for group in entry.repeated.groups]
    return "; ".join(parts)


def _made_here(ex: MeasuredTree, n_clusters: int | None) -> str:
    """Return how boxwood made the clusters of an explanation, in words."""
    evidence = ex._known()
    n_drawn = (
        "" if evidence.whole is None else f"found on {len(evidence.leaf):,} of {ex.n_rows:,} rows, drawn at random"
    )
    return clusters_made(evidence.coordinates, ex.n_clusters, n_clusters, n_drawn)


def _labels(clustering: Any, n_clusters: int | None) -> str:
    """Return where the clusters come from, in words."""
    if clustering is None:
        return f"{MADE_HERE}{n_clusters} clusters asked for"
    if isinstance(clustering, str):
        return f"the column {clustering}"
    if isinstance(clustering, Reference):
        return "given centres"
    if hasattr(clustering, "fit"):
        clustering = getattr(clustering, "estimator", clustering)  # of a FrozenEstimator
        steps = [step for _, step in clustering.steps] if hasattr(clustering, "steps") else [clustering]
        return ", then ".join(step if isinstance(step, str) else type(step).__name__ for step in steps)
    return "given labels" if are_labels(clustering) else "given centres"


def _name_of(clustering: Any) -> str:
    """Return the name of a column of labels, of a series, or of the only column of a frame; empty if there is none."""
    name = clustering if isinstance(clustering, str) else getattr(clustering, "name", None)
    name = column_names(clustering)[0] if is_frame(clustering) else name
    return name if isinstance(name, str) and not hasattr(clustering, "fit") else ""


def _today() -> str:
    """Return the date; that of SOURCE_DATE_EPOCH, if it is set, so that a build can be repeated."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    day = datetime.fromtimestamp(int(epoch), UTC).date() if epoch.isdecimal() else date.today()
    return day.isoformat()
