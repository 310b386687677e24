"""`result_in_notebook`: what a notebook shows of the results of verbs: clusters, a frontier, stability, tables.

Results print themselves, so this file stands beside their records: it imports them, words and charts, not the report.
"""

from __future__ import annotations

import html
from typing import Any

from boxwood.render.page._charts import frontier_charts, stability_tables
from boxwood.render.page._rules import rules_of
from boxwood.render.page._template import framed, stripes, written
from boxwood.render.pictures.swatches import swatches_of
from boxwood.words.measured import profile_lines
from boxwood.words.tables import TABLES
from boxwood.words.values import size


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
            facts["curve"] = frontier_charts(result, price=not result.by_agreement)
        elif kind == "Stability":
            swatches = swatches_of(tuple(one.name for one in result.clusters))
            facts["stability"] = stability_tables(result, swatches)
        elif kind == "Profile":
            facts["caption"], facts["table"] = _by_effect(result)
        elif kind in TABLES:
            facts["caption"], facts["table"], _ = TABLES[kind](result)
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


def _by_effect(profile: Any) -> tuple[str, list[list[str]]]:
    """Return a caption, and the lines of a profile, its columns by effect."""
    by_effect = sorted(profile, key=lambda column: -column.effect)
    lines = profile_lines(type(profile)(by_effect, profile.names))
    effects = ["effect", *(f"{column.effect:.2f}" for column in by_effect)]
    what = "Medians of numbers; for words the most frequent one and its share of the rows."
    more = "The effect is the share of a column's variance between clusters, for words Cramér's V; largest first."
    return f"{what} {more}", [[*line, effect] for line, effect in zip(lines, effects, strict=True)]
