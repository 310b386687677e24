"""A comparison of methods as a table of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boxwood.render._figures import percent, price

if TYPE_CHECKING:
    from boxwood.explanation import Comparison

__all__ = ["compare_text"]

_HEADER = ("", "method", "leaves", "depth", "columns", "price", "agreement", "seconds")
_PRICE = _HEADER.index("price")
_BY_PRICE = "* best trade-off: no tree beats it in one respect without being worse in another"
_BY_AGREEMENT = "* best trade-off: no tree with as few leaves agrees on more rows"


def compare_text(found: Comparison) -> str:
    """Return a line for each tree; a star marks those that no other one beats. No price where it does not count."""
    cells: list[tuple[str, ...]] = [
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
    if found.by_agreement:
        cells = [row[:_PRICE] + row[_PRICE + 1 :] for row in cells]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = ["  ".join([row[0].ljust(1), row[1].ljust(widths[1]), *_right(row[2:], widths[2:])]) for row in cells]
    parts = [f"{found.n_clusters:,} clusters of {found.n_rows:,} rows (always the largest: {percent(found.baseline)})"]
    parts += ["\n".join(lines), _BY_AGREEMENT if found.by_agreement else _BY_PRICE]
    notes = [f"Note: {note}" for note in found.notes]
    notes += [f"Note: {name} is left out: {why}" for name, why in found.left_out]
    return "\n\n".join(parts + ["\n".join(notes)] * bool(notes))


def _right(cells: tuple[str, ...], widths: list[int]) -> list[str]:
    return [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
