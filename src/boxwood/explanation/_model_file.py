"""The model file: an explanation as JSON, with a format number. It is data; reading it runs nothing."""

from __future__ import annotations

import json
import math
import os
from typing import Any

from boxwood._files import replacing
from boxwood.errors import ModelError
from boxwood.explanation._explanation import Explanation
from boxwood.explanation._facts import BudgetFacts, SearchFacts
from boxwood.explanation._file_records import records
from boxwood.explanation._kept_facts import kept_of
from boxwood.explanation._read_model import from_document
from boxwood.explanation._summaries import DrawFacts, KernelFacts, MixtureFacts
from boxwood.render._rules import cluster_rule, rule
from boxwood.tree._exchange import to_nodes

__all__ = ["from_text", "read", "to_document", "to_text", "write"]

FORMAT, VERSION = "boxwood", 2
_CHUNK, _LARGEST = 1 << 24, 1 << 29  # bytes
_LONGEST = 200  # characters of a reason; a damaged file may hold values of any length
PLAIN_VERSION = 1  # version of models without categories, which older versions of boxwood can read
_NUMBERS = ("cost", "reference_cost", "price", "agreement", "baseline", "adjusted_rand")
_PLAIN = ("method", "n_rows", "n_left_out", "weighted", "standardized")


def to_document(ex: Explanation) -> dict[str, Any]:
    """See `Explanation.to_dict`."""
    clusters = [
        cluster._asdict() | {"rules": [rule(leaf) for leaf in cluster.rules], "rule": cluster_rule(cluster)}
        for cluster in ex.clusters
    ]
    return {
        "format": FORMAT,
        "version": VERSION if ex.categories else PLAIN_VERSION,
        **{name: getattr(ex, name) for name in _PLAIN},
        **{name: _written(getattr(ex, name)) for name in _NUMBERS},
        "readability": ex.readability._asdict(),
        "notes": list(ex.notes),
        **({} if ex.objective == "sqeuclidean" else {"objective": ex.objective}),
        **({} if ex.mixture is None else {"mixture": _mixture(ex.mixture)}),
        **{name: _numbers(facts) for name, facts in _facts(ex) if facts is not None},
        "columns": list(ex.columns),
        **(
            {"categories": {name: column_categories._asdict() for name, column_categories in ex.categories}}
            if ex.categories
            else {}
        ),
        "clusters": clusters,
        **kept_of(_with_spreads(ex), ex.columns),
        "leaves": [leaf._asdict() | {"rule": rule(leaf.rule)} for leaf in ex.leaves],
        "nodes": to_nodes(ex.tree, _written),
        **records(ex),
    }


def to_text(ex: Explanation) -> str:
    """See `Explanation.to_json`."""
    return json.dumps(to_document(ex), allow_nan=False, ensure_ascii=False, indent=1)


def from_text(text: str, source: str) -> Explanation:
    """Return the explanation in a text; errors call it `source`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(f"{source} is not a boxwood model") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelError(f"{source} is not a boxwood model")
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ModelError(
            f"{source} was written by a newer boxwood (format {_short(str(version))}, this one reads {VERSION})"
        )
    if version not in (PLAIN_VERSION, VERSION):
        raise ModelError(f"{source} is not a boxwood model: format {_short(repr(version))} is unknown")
    try:
        return from_document(document)
    except KeyError as error:
        raise ModelError(f"{source} is a damaged boxwood model: it lacks {error}") from None
    except (TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ModelError(f"{source} is a damaged boxwood model: {_short(str(error))}") from None


def read(path: str | os.PathLike[str]) -> Explanation:
    """See `load`."""
    name = os.fspath(path)
    content = b""
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            content += chunk
            if content.lstrip()[:1] not in (b"{", b""):  # an endless file, such as a device, is not read to its end
                raise ModelError(f"{name} is not a boxwood model")
            if len(content) > _LARGEST:
                raise ModelError(f"{name} is not a boxwood model: it is larger than {_LARGEST >> 20} MiB")
    try:
        return from_text(content.decode("utf-8"), name)
    except UnicodeDecodeError:
        raise ModelError(f"{name} is not a boxwood model") from None


def write(ex: Explanation, path: str | os.PathLike[str]) -> None:
    """See `Explanation.save`."""
    text = to_text(ex)
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.write(f"{text}\n")


def _with_spreads(ex: Explanation) -> dict[str, Any]:
    """Return what the explanation keeps; the spreads of the columns that it tests are needed by `why` later."""
    ex._spreads()
    return ex._kept


def _mixture(facts: MixtureFacts) -> dict[str, Any]:
    return facts._asdict() | {
        "explainability_to_noise": _written(facts.explainability_to_noise),
        "components": list(facts.components),
        "far_from_gaussian": [far._asdict() for far in facts.far_from_gaussian],
    }


def _facts(ex: Explanation) -> tuple[tuple[str, DrawFacts | KernelFacts | SearchFacts | BudgetFacts | None], ...]:
    return ("draws", ex.draws), ("kernel", ex.kernel), ("search", ex.search), ("budget", ex.budget)


def _numbers(facts: DrawFacts | KernelFacts | SearchFacts | BudgetFacts) -> dict[str, Any]:
    return {name: _written(value) if isinstance(value, float) else value for name, value in facts._asdict().items()}


def _written(number: float) -> float | str:
    """Return a number in a form that JSON can hold: infinity as text."""
    return number if math.isfinite(number) else str(number)


def _short(text: str) -> str:
    """Return a text, cut where it is long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
