"""Tables of numbers beside those of a paper, as text and as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Options", "Report", "numbers", "worst"]


class Options(NamedTuple):
    """What was asked for on the command line."""

    quick: bool = False
    plots: str | None = None


@dataclass(frozen=True)
class Report:
    """A table with a title and remarks below it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wrong = [row for row in self.rows if len(row) != len(self.header)]
        if wrong:
            raise ValueError(f"rows must have {len(self.header)} cells like the header, got {wrong[0]}")

    def as_text(self) -> str:
        """Return the table with columns aligned."""
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
                 for row in (self.header, *self.rows)]  # fmt: skip
        return "\n".join([self.title, *lines, *(f"* {remark}" for remark in self.remarks)])

    def as_markdown(self) -> str:
        """Return the table as Markdown."""
        rule = ("---",) * len(self.header)
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
                 for row in (self.header, rule, *self.rows)]  # fmt: skip
        remarks = ["", *(f"- {remark}" for remark in self.remarks)] if self.remarks else []
        return "\n".join([f"### {self.title}", "", *lines, *remarks])


def numbers(values: Sequence[float], digits: int = 2) -> str:
    """Return numbers with a slash between them."""
    return " / ".join(f"{value:.{digits}f}" for value in values)


def worst(found: Sequence[float], expected: Sequence[float]) -> float:
    """Return the largest distance between numbers and those of the paper."""
    return max(abs(a - b) for a, b in zip(found, expected, strict=True))
