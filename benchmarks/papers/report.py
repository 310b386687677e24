"""What an experiment returns: printed numbers beside ours, and the rules by which they are judged.

The rules live here and nowhere else:

- A printed number is reproduced where it lies between the least and the largest of ours over the seeds, both ends
  widened by half a unit of its last printed digit.
- Times and pictures are shown, not judged.
- A kernel width counts only where the kernel is neither constant or linear on the rows nor the identity (`degenerate`).
- A number that is not reproduced needs a sentence: what was tried, and what would be needed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np

__all__ = ["NO", "SEEDS", "SHOWN", "YES", "Line", "Number", "Options", "Picture", "Report", "Section", "Word", "absent",
           "degenerate", "half_unit", "is_reproduced", "numbers", "worst"]  # fmt: skip

YES, NO, SHOWN = "reproduced", "not reproduced", "shown"
SEEDS = 10
LINEAR = 0.95  # exp(-t) above this differs from 1 - t by less than 0.0013
ALONE = 0.05


class Options(NamedTuple):
    """What was asked for on the command line: a smaller run, and the folder of the page."""

    quick: bool = False
    out: str = "papers_report"

    @property
    def seeds(self) -> range:
        return range(2 if self.quick else SEEDS)


# ----------------------------------------------------------------------------------------------------- judging


def half_unit(printed: str) -> Decimal:
    """Return half a unit of the last printed digit: 0.005 for "0.85"."""
    return Decimal(5).scaleb(-len(printed.partition(".")[2]) - 1)


def is_reproduced(printed: str, ours: Sequence[float]) -> bool:
    """Return whether a printed number lies between the least and the largest of ours, widened by half a unit."""
    half, found = half_unit(printed), [Decimal(str(float(value))) for value in ours]
    return min(found) - half <= Decimal(printed) <= max(found) + half


def degenerate(similarities: np.ndarray) -> str:
    """Return in words why a kernel of values at most 1 says nothing of its own of these rows, (n, n); "" where it does.

    With more than half of the pairs above `LINEAR` it is constant or, to first order, a linear function of the squared
    distance, so that clusters are those without a kernel. With the nearest other row of more than half of the rows
    below `ALONE` it is the identity, so that each row is alone.
    """
    off = np.where(np.eye(len(similarities), dtype=bool), np.nan, similarities)
    if np.nanmedian(off) > LINEAR:
        return "constant or linear"
    if np.median(np.nanmax(off, axis=1)) < ALONE:
        return "identity"
    return ""


# ------------------------------------------------------------------------------------------- what is judged


class Number(NamedTuple):
    """A printed number, as text, beside ours over the seeds; what is not `judged` is shown."""

    name: str
    printed: str
    ours: tuple[float, ...]
    judged: bool = True

    @property
    def verdict(self) -> str:
        if not self.judged:
            return SHOWN
        return YES if is_reproduced(self.printed, self.ours) else NO

    @property
    def found(self) -> str:
        """Ours from the least to the largest, with one digit more than printed."""
        digits = len(self.printed.partition(".")[2]) + 1
        low, high = (f"{end(self.ours):.{digits}f}" for end in (min, max))
        return low if low == high else f"{low} to {high}"


class Word(NamedTuple):
    """A printed word beside ours."""

    name: str
    printed: str
    found: str

    @property
    def verdict(self) -> str:
        return YES if self.printed == self.found else NO


@dataclass(frozen=True)
class Line:
    """What a paper prints of one data set beside ours, under one setting.

    `why` is the sentence for numbers that are not reproduced. `closest` may tell which of many settings comes closest;
    it judges nothing.
    """

    data: str
    setting: str
    items: tuple[Number | Word, ...]
    why: str = ""
    closest: str = ""

    def __post_init__(self) -> None:
        if NO in self.counts() and not self.why:
            raise ValueError(f"{self.data}: a number that is not reproduced needs a sentence that says why")

    def counts(self) -> Counter[str]:
        return Counter(item.verdict for item in self.items)

    @property
    def verdict(self) -> str:
        """The verdict in words, with the names of the numbers where they differ."""
        names: dict[str, list[str]] = {}
        for item in self.items:
            names.setdefault(item.verdict, []).append(item.name)
        found = [word for word in (YES, SHOWN, NO) if word in names]
        words = [word if len(found) == 1 else f"{word} ({', '.join(names[word])})" for word in found]
        return "; ".join(words) + (f": {self.why}" if NO in names else "")


def absent(name: str, items: Sequence[tuple[str, str]], need: str = "") -> Line:
    """Return the line of data that are not there: `items` are names and printed numbers."""
    need = need or f"the file {name}.csv.gz is not in the folder that BOXWOOD_DATA names"
    return Line(name, "-", tuple(Word(item, printed, "-") for item, printed in items), need)


# ------------------------------------------------------------------------------------------- parts of the page


@dataclass(frozen=True)
class Report:
    """A further table of ours, with a title and remarks below it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wrong = [row for row in self.rows if len(row) != len(self.header)]
        if wrong:
            raise ValueError(f"rows must have {len(self.header)} cells like the header, got {wrong[0]}")


class Picture(NamedTuple):
    """A file in the folder of the page; not drawn where matplotlib is not installed."""

    name: str
    drawn: bool


@dataclass(frozen=True)
class Section:
    """A table, figure or theorem of a paper, what the paper prints there, and ours.

    `verdict` is that of a section without lines: "shown", or "not reproduced: " and a sentence.
    """

    paper: str
    item: str
    prints: str
    lines: tuple[Line, ...] = ()
    tables: tuple[Report, ...] = ()
    pictures: tuple[Picture, ...] = ()
    verdict: str = SHOWN
    remarks: tuple[str, ...] = ()

    def counts(self) -> Counter[str]:
        """Return how many printed numbers, or the section itself where it has none, got each verdict."""
        if self.lines:
            return sum((line.counts() for line in self.lines), Counter())
        return Counter([self.verdict.partition(":")[0]])


def numbers(values: Sequence[float], digits: int = 2) -> str:
    """Return numbers with a slash between them."""
    return " / ".join(f"{value:.{digits}f}" for value in values)


def worst(found: Sequence[float], printed: Sequence[str]) -> float:
    """Return the largest distance between numbers and those of the paper."""
    return max(abs(a - float(b)) for a, b in zip(found, printed, strict=True))
