"""`result_in_notebook`: what a notebook shows of the results of verbs: clusters, a frontier, stability, tables.

Results print themselves, so this file stands beside their records: it imports them, words and charts, not the report.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from boxwood.render.page._charts import frontier_charts, stability_tables
from boxwood.render.page._rules import rules_of
from boxwood.render.page._template import framed, stripes, written
from boxwood.render.pictures.swatches import swatches_of
from boxwood.words.figures import brief, counted, percent, size
from boxwood.words.measured import profile_lines
from boxwood.words.values import cluster_name, column_name

Table = tuple[str, list[list[str]]]
"""A caption, and lines of cells, of which the first is the header."""
_MOST_ROWS = 20


def result_in_notebook(result: Any) -> str:
    """Return a result in a frame of its own for a notebook; what `print` shows, if that cannot be had.

    IN: result: Clusters, Frontier, Stability or Lines, one of TABLES, or another with a text.
    """
    kind, text = type(result).__name__, str(result)
    facts: dict[str, Any] = dict.fromkeys(("cards", "caption", "curve", "stability", "table", "text", "tree"))
    n_clusters = len(result if kind in ("Clusters", "Lines") else getattr(result, "clusters", ()))
    try:
        if kind == "Clusters":
            swatches = swatches_of(tuple(one.name for one in result))
            facts["cards"] = [rules_of(*pair, size(pair[0].size)) for pair in zip(result, swatches, strict=True)]
        elif kind == "Frontier":
            facts["curve"] = frontier_charts(result, price=True)
        elif kind == "Stability":
            swatches = swatches_of(tuple(one.name for one in result.clusters))
            facts["stability"] = stability_tables(result, swatches)
        elif kind in TABLES:
            facts["caption"], facts["table"] = TABLES[kind](result)
        elif kind == "Lines":
            facts |= {"cards": _cards_of_lines(result), "text": text.partition("\n\n")[2]}
        else:
            facts["text"] = text
        page = written("result.html", facts | stripes(n_clusters), kind, script="")
    except Exception:  # a representation is never an error
        return f"<pre>{html.escape(text)}</pre>"
    return framed(kind, page, 120 + 24 * len(text.splitlines()))


def _cards_of_lines(lines: Any) -> list[dict[str, Any]]:
    """Return a card for each cluster with a line, as if the line were its rule."""
    clusters, found = lines.explanation.clusters, []
    for cluster, line, swatch in zip(clusters, lines, swatches_of(lines.explanation.names), strict=True):
        if line is not None:
            told = {"found": line.found, "precision": line.precision, "rules": (line.rule,)}
            found.append(rules_of(cluster._replace(matched=line.matched, **told), swatch, size(cluster.size)))
    return found


def _profile(profile: Any) -> Table:
    by_effect = sorted(profile, key=lambda column: -column.effect)
    lines = profile_lines(type(profile)(by_effect, profile.names))
    effects = ["effect", *(f"{column.effect:.2f}" for column in by_effect)]
    what = "Medians of numbers; for words the most frequent one and its share of the rows."
    more = "The effect is the share of a column's variance between clusters, for words Cramér's V; largest first."
    return f"{what} {more}", [[*line, effect] for line, effect in zip(lines, effects, strict=True)]


def _misassigned(rows: Any) -> Table:
    lines = [["row", "cluster", "rule names", "misled by", "value", "standard deviations away"]]
    for one in rows[:_MOST_ROWS]:
        names = (cluster_name(rows.names[cluster]) for cluster in (one.cluster, one.ruled))
        lines.append([str(one.row), *names, _misled(one), _said(one.value), _said(one.deviations)])
    shown = f", the first {_MOST_ROWS}" if len(rows) > _MOST_ROWS else ""
    return f"{counted(len(rows), 'row')} whose rule names another cluster{shown}.", lines


def _misled(one: Any) -> str:
    """Return the side of the cut that misled a row; the words of categories and dates are a condition already."""
    if one.side in ("<=", ">", ">=", "<") and one.threshold is not None:
        return f"{column_name(one.column)} {one.side} {_said(one.threshold)}"
    return _said(one.side)


def _confusion(rows: Any) -> Table:
    names = [cluster_name(name) for name in rows.names]
    lines = [["cluster", *(f"rule: {name}" for name in names)]]
    lines += [[name, *map(size, row)] for name, row in zip(names, rows, strict=True)]
    return "Each line counts the rows of a cluster by the cluster that their rule names.", lines


def _worth(worth: Any) -> Table:
    lines = [["number of the cluster", "sum", "share", "mean"]]
    for number, one in enumerate(worth.clusters):
        lines.append([str(number), _said(one.total), percent(one.share), _said(one.mean)])
    missing = f" {counted(worth.n_missing, 'row')} without a value." if worth.n_missing else ""
    return f"{column_name(worth.column)}: {_said(worth.total)} in total.{missing}", lines


def _fields(facts: Any) -> Table:
    """Return a table of fields and values, for records of single facts."""
    return "", [["", "value"], *([name.replace("_", " "), _said(value)] for name, value in facts._asdict().items())]


def _said(value: Any) -> str:
    if value is None or value == "" or value == ():
        return "-"
    if isinstance(value, tuple):
        return "; ".join(": ".join(map(_said, one)) if isinstance(one, tuple) else _said(one) for one in value)
    return brief(value) if isinstance(value, float) else str(value)


TABLES: dict[str, Callable[[Any], Table]] = {
    "Profile": _profile,
    "MisassignedRows": _misassigned,
    "Confusion": _confusion,
    "Worth": _worth,
    "SearchFacts": _fields,
    "Basis": _fields,
}
