"""One-line rules as text: a table, what is known of rows in no line and in several, and each cluster's front."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from boxwood._messages import listed
from boxwood.words.rules import rule
from boxwood.words.values import cluster_name, percent, shortened, size, width

if TYPE_CHECKING:
    from boxwood.axes import Categories
    from boxwood.explanation.measure.lines import Line, MeasuredLines

NO_LINE = "no line"


def lines_text(lines: MeasuredLines) -> str:
    """Return the table of lines, and below it what is known of all of them."""
    return "\n".join([*aligned(table_of(lines)), "", *findings(lines)])


def full_text(lines: MeasuredLines) -> str:
    """Return the same, and each cluster's front."""
    fronts, names, known = [front for front in lines.fronts if len(front) > 1], names_of(lines), _known(lines)
    parts = [lines_text(lines)]
    for front in fronts:
        head = f"{names[front[0].cluster]}: what further conditions gain"
        rows = [["conditions", "found", "precision", "rule"]]
        rows += [[f"{len(one.rule)}", *map(percent, (one.found, one.precision)), _rule(one, known)] for one in front]
        parts.append("\n".join([head, *aligned(rows, left=0)]))
    return "\n\n".join(parts)


def names_of(lines: MeasuredLines) -> list[str]:
    """Return the clusters' names as people read them."""
    return [shortened(cluster_name(name)) for name in lines.explanation._for_people().names]


def aligned(cells: list[list[str]], left: int = 1) -> list[str]:
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


def table_of(lines: MeasuredLines) -> list[list[str]]:
    """Return the cells of a table of lines, with a head."""
    unseen = ["found, unseen", "precision, unseen"] if lines.validated else []
    cells = [["", "size", "matched", "found", "precision", *unseen, "rule"]]
    known = _known(lines)
    for cluster, name, line in zip(lines.explanation.clusters, names_of(lines), lines.lines, strict=True):
        numbers = [size(0 if line is None else line.matched), *_shares(line, bool(unseen))]
        cells.append([name, size(cluster.size), *numbers, NO_LINE if line is None else _rule(line, known)])
    return cells


def _known(lines: MeasuredLines) -> dict[str, Categories]:
    """Return the categories of columns, with the rows of words where these are known."""
    return dict(lines.explanation._for_people().categories)


def _rule(line: Line, known: Mapping[str, Categories]) -> str:
    return rule(tuple(one._replace(categories=known.get(one.column, one.categories)) for one in line.rule))


def _shares(line: Line | None, unseen: bool) -> list[str]:
    if line is None:
        return ["-"] * (4 if unseen else 2)
    shares = [line.found, line.precision, *([line.found_held_out, line.precision_held_out] if unseen else [])]
    return [percent(share) for share in shares]


def findings(lines: MeasuredLines) -> list[str]:
    """Return sentences on rows in no line and in several, on what was proved, and on rows held out."""
    said = [*_on_sample(lines), _on_rows(lines), *_on_proofs(lines)]
    if lines.validated:
        said.append(
            f"Unseen: the same for lines that were made without these rows ({lines.validated}); "
            "lines look better on the rows that they were chosen for."
        )
    return [one for one in said if one]


def _on_sample(lines: MeasuredLines) -> list[str]:
    """Return on which rows lines were made, where these are not all."""
    if not _is_of_sample(lines):
        return []
    return [f"Lines were made on a sample of {lines.n_rows:,} rows, and counted in all; better ones may exist."]


def _is_of_sample(lines: MeasuredLines) -> bool:
    ex = lines.explanation
    return lines.n_rows < ex.n_rows - ex.n_left_out


def _on_rows(lines: MeasuredLines) -> str:
    what = "weight" if lines.explanation.weighted else "rows"
    if lines.n_unmatched == lines.n_overlapping == 0:
        return "Each row is in one line."
    shares = f"Of the {what}, {size(lines.n_unmatched)} are in no line, and {size(lines.n_overlapping)} in several"
    agreed = f"by the first line that holds them, {percent(lines.agreement)} of all are in their cluster"
    first = " (first is the line with the highest precision, on a tie the one with more rows)"
    return f"{shares}; {agreed}{first if lines.n_overlapping else ''}."


def _on_proofs(lines: MeasuredLines) -> list[str]:
    """Return which rules are proved to be the best of their length, and how much better others could be."""
    told = [line for line in lines.lines if line is not None]
    if not told or _is_of_sample(lines):
        return []
    rules = (
        f"rules of up to {lines.max_conditions} conditions" if lines.max_conditions > 1 else "rules of one condition"
    )
    what = _goal(lines)
    others = [front[-1] for front in lines.fronts if front and not _is_best(lines, front)]
    if not others:
        return [f"No {rules} have {what}."]
    most = (f"{_value(lines, line):.3f}, at most {lines.bounds[line.cluster]:.3f}" for line in others)
    known = names_of(lines)
    names = listed([f"{known[line.cluster]} ({said})" for line, said in zip(others, most, strict=True)])
    budget = lines.explanation.budget
    is_rounded = budget is not None and budget.round_thresholds is not None
    reason = f"the search was cut short{', or thresholds were rounded' * is_rounded}"
    if len(others) == len(told):
        return [f"Perhaps {rules} have {what}, for {names}: {reason}."]
    return [f"No {rules} have {what}, but perhaps for {names}: there {reason}."]


def _goal(lines: MeasuredLines) -> str:
    more = _by_more(lines)
    if lines.min_precision is not None:
        return f"a precision of {percent(lines.min_precision)} and find {f'over {more} more' if more else 'more'}"
    which = f"higher by more than {more}" if more else ""
    if lines.min_found is not None:
        return f"a {f'precision {which}' if more else 'higher precision'} and find {percent(lines.min_found)}"
    return f"an F1 {which}" if more else "a higher F1"


def _by_more(lines: MeasuredLines) -> str:
    """Return by how much the best rules of fronts are better at most than the shorter ones that were chosen."""
    gaps = [
        _value(lines, front[-1]) - _value(lines, front[i])
        for front, i in zip(lines.fronts, lines.chosen, strict=True)
        if i is not None
    ]
    most = max(gaps, default=0.0)
    return f"{math.ceil(1000 * most) / 1000:g}" if most > NOTHING else ""


NOTHING = 1e-6  # of what counts, which is no difference


def _is_best(lines: MeasuredLines, front: tuple[Line, ...]) -> bool:
    return lines.bounds[front[0].cluster] <= _value(lines, front[-1]) + NOTHING


def _value(lines: MeasuredLines, line: Line) -> float:
    return line.found if lines.min_precision is not None else line.precision if lines.min_found is not None else line.f1
