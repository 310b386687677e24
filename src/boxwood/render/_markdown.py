"""An explanation as Markdown: its facts for a slide, a ticket or a language model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from boxwood.render._figures import percent, size
from boxwood.render._rules import cluster_name, cluster_rule, explanation_of
from boxwood.render._text import findings, headline

if TYPE_CHECKING:
    from boxwood.explanation import ClusterSummary

__all__ = ["markdown"]

_HEADER = (
    "| cluster | size | share | ruled | caught | precision | rule |\n| --- | ---: | ---: | ---: | ---: | ---: | --- |"
)
_WORDS = (
    "Ruled is the number of rows that a cluster's rule takes, caught the share of the cluster's rows that it finds, "
    "precision the share of the rule's rows that are in the cluster."
)


def markdown(model: Any) -> str:
    """Return the summary of an explanation as GitHub's Markdown; see `Explanation.to_markdown`.

    `model` may be a fitted estimator.
    """
    ex = explanation_of(model)
    table = "\n".join([_HEADER, *map(_row, ex.clusters)])
    parts = [f"## {_escaped(headline(ex))}", table, _WORDS, *(_escaped(part) for part in findings(ex))]
    notes = "\n".join(f"- {_escaped(note)}" for note in ex.notes)
    return "\n\n".join([*parts, notes] if notes else parts)


def _row(cluster: ClusterSummary) -> str:
    share, caught, precision = map(percent, (cluster.share, cluster.caught, cluster.precision))
    rule = cluster_rule(cluster)
    said = _in_cell(_code(rule)) if cluster.rules else _escaped(rule)
    facts = [size(cluster.size), share, size(cluster.ruled), caught, precision]
    return f"| {' | '.join([_escaped(cluster_name(cluster.name)), *facts, said])} |"


def _escaped(text: str) -> str:
    """Return a text in which no character has a meaning of Markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>|~$&])", r"\\\1", text)


def _code(text: str) -> str:
    """Return a text as code, between more backticks than it has in a row."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _in_cell(text: str) -> str:
    """Return a text for the cell of a table, where a bar would end it, even in code."""
    return text.replace("|", "\\|")
