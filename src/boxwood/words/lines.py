"""One-line rules as text: a table, what is known of rows in no line and in several, and each cluster's front."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from boxwood._validation import list_words
from boxwood.words.claims import no_better_lines
from boxwood.words.rule_heads import head_texts
from boxwood.words.rules import rule
from boxwood.words.values import cluster_name, percent, shorten_name, size, width

if TYPE_CHECKING:
    from boxwood.axes import Categories
    from boxwood.explanation.measure.lines import MeasuredRules, StandaloneRule

NO_LINE = "no line"


def lines_text(lines: MeasuredRules) -> str:
    """Return the table of lines, and below it what is known of all of them."""
    return "\n".join([*align_cells(table_of(lines)), "", *sentences_on_rules(lines)])


def text_with_fronts(lines: MeasuredRules) -> str:
    """Return the same, and each cluster's front."""
    fronts, names, known = (
        [front for front in lines.fronts if len(front) > 1],
        names_of(lines),
        _categories_known(lines),
    )
    parts = [lines_text(lines)]
    for front in fronts:
        head = f"{names[front[0].cluster]}: what further conditions gain"
        rows = [["conditions", *head_texts("found", "precision", "rule")]]
        rows += [[f"{len(one.rule)}", *map(percent, (one.found, one.precision)), _rule(one, known)] for one in front]
        parts.append("\n".join([head, *align_cells(rows, left=0)]))
    return "\n\n".join(parts)


def names_of(lines: MeasuredRules) -> list[str]:
    """Return the clusters' names as people read them."""
    return [shorten_name(cluster_name(name)) for name in lines.explanation._for_people().names]


def align_cells(cells: list[list[str]], left: int = 1) -> list[str]:
    """Return cells as lines: the first `left` and the last to the left, the others to the right."""
    widths = [max(width(row[i]) for row in cells) for i in range(len(cells[0]) - 1)]
    lines = []
    for *first, last in cells:
        spaces = [" " * (to - width(cell)) for cell, to in zip(first, widths, strict=True)]
        padded = [
            cell + pad if i < left else pad + cell for i, (cell, pad) in enumerate(zip(first, spaces, strict=True))
        ]
        lines.append("  ".join([*padded, last]))
    return lines


def table_of(lines: MeasuredRules) -> list[list[str]]:
    """Return the cells of a table of lines, with a head."""
    shares = head_texts("found", "precision")
    unseen = [f"{share}, unseen" for share in shares] if lines.validated else []
    cells = [["", *head_texts("size", "matched"), *shares, *unseen, *head_texts("rule")]]
    known = _categories_known(lines)
    for cluster, name, line in zip(lines.explanation.clusters, names_of(lines), lines.lines, strict=True):
        numbers = [size(0 if line is None else line.matched), *_shares(line, bool(unseen))]
        cells.append([name, size(cluster.size), *numbers, NO_LINE if line is None else _rule(line, known)])
    return cells


def _categories_known(lines: MeasuredRules) -> dict[str, Categories]:
    """Return the categories of columns, with the rows of words where these are known."""
    return dict(lines.explanation._for_people().details.categories)


def _rule(line: StandaloneRule, known: Mapping[str, Categories]) -> str:
    return rule(tuple(one._replace(categories=known.get(one.column, one.categories)) for one in line.rule))


def _shares(line: StandaloneRule | None, unseen: bool) -> list[str]:
    if line is None:
        return ["-"] * (4 if unseen else 2)
    shares = [line.found, line.precision, *([line.found_held_out, line.precision_held_out] if unseen else [])]
    return [percent(share) for share in shares]


def sentences_on_rules(lines: MeasuredRules) -> list[str]:
    """Return sentences on rows in no line and in several, on what was proved, and on rows held out."""
    said = [*_on_sample(lines), _on_rows(lines), *_on_weak(lines), *_on_proofs(lines)]
    if lines.validated:
        said.append(
            f"Unseen: the same for lines that were made without these rows ({lines.validated}); "
            "lines look better on the rows that they were chosen for."
        )
    return [one for one in said if one]


def _on_sample(lines: MeasuredRules) -> list[str]:
    """Return on which rows lines were made, where these are not all."""
    if not lines.is_of_sample:
        return []
    return [f"Lines were made on a sample of {lines.n_rows:,} rows, and counted in all; better ones may exist."]


def _on_rows(lines: MeasuredRules) -> str:
    what = "weight" if lines.explanation.details.weighted else "rows"
    if lines.n_unmatched == lines.n_overlapping == 0:
        return "Each row is in one line."
    shares = f"Of the {what}, {size(lines.n_unmatched)} are in no line, and {size(lines.n_overlapping)} in several"
    agreed = f"by the first line that holds them, {percent(lines.agreement)} of all are in their cluster"
    first = " (first is the line with the highest precision, on a tie the one with more rows)"
    return f"{shares}; {agreed}{first if lines.n_overlapping else ''}."


def _on_weak(lines: MeasuredRules) -> list[str]:
    """Return which lines add little: as many of their rows, about, are in other clusters as of all rows."""
    told = zip(lines.explanation.clusters, names_of(lines), lines.lines, strict=True)
    judged = [(name, one._replace(precision=line.precision)) for one, name, line in told if line is not None]
    said = [
        f"{name} ({percent(1 - one.precision)}, of all rows {percent(1 - one.share)})"
        for name, one in judged
        if one.is_weak and one.precision is not None
    ]
    return [f"Weak, by their rows in other clusters: {list_words(said)}."] if said else []


def _on_proofs(lines: MeasuredRules) -> list[str]:
    """Return how much better other rules could be, for the clusters that have a line."""
    told = zip(names_of(lines), lines.claims, strict=True)
    return no_better_lines({name: claim for name, claim in told if claim is not None})
