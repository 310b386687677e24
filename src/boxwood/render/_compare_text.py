"""A comparison of methods as a table of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boxwood.render._figures import percent, price

if TYPE_CHECKING:
    from boxwood.explanation import Comparison

__all__ = ["compare_text"]

_HEADER = ("", "method", "leaves", "depth", "columns", "price", "agreement", "seconds")


def compare_text(found: Comparison) -> str:
    """Return a line for each tree; a star marks those that no other one beats.

    IN: found: Comparison.
    """
    cells = [
        _HEADER,
        *(
            (
                "*" if row.on_front else "",
                row.method,
                f"{row.leaves:,}",
                f"{row.depth:,}",
                f"{row.columns:,}",
                price(row.price),
                percent(row.agreement),
                f"{row.seconds:.2f}",
            )
            for row in found.rows
        ),
    ]
    widths = [max(len(row[i]) for row in cells) for i in range(len(_HEADER))]
    lines = ["  ".join([row[0].ljust(1), row[1].ljust(widths[1]), *_right(row[2:], widths[2:])]) for row in cells]
    parts = [f"{found.n_clusters:,} clusters of {found.n_rows:,} rows", "\n".join(lines)]
    parts.append("* no other tree has as few leaves, as low a price and as high an agreement, and less of one of them")
    notes = [f"Note: {note}" for note in found.notes]
    notes += [f"Note: {name} is left out: {why}" for name, why in found.left_out]
    return "\n\n".join(parts + ["\n".join(notes)] * bool(notes))


def _right(cells: tuple[str, ...], widths: list[int]) -> list[str]:
    return [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
