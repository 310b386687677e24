"""The page: every section as Markdown, the verdicts in numbers, the errata, the machine and the minutes."""

import os
import platform
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.papers.errata import ERRATA, TITLES
from benchmarks.papers.report import NO, SHOWN, YES, Report, Section

__all__ = ["Done", "index", "machine", "write"]

RULE = (
    "A printed number is *reproduced* where it lies between the least and the largest of ours over the seeds, both "
    "ends widened by half a unit of its last printed digit. Times and pictures are *shown*, not judged. Settings are "
    "chosen as the paper describes; the closest of many settings is told beside, and judges nothing. Kernel widths at "
    "which the kernel is constant, linear or the identity do not count."
)


class Done(NamedTuple):
    """A section and the seconds that it took, and of these the processor's."""

    section: Section
    seconds: float
    processor: float


def index(done: Sequence[Done], *, words: str) -> str:
    """Return the page; `words` say what was run."""
    papers = list(dict.fromkeys(one.section.paper for one in done))
    parts = ["# The experiments of the papers beside ours", f"{words} {RULE}", _summary(done, papers)]
    for paper in papers:
        parts.append(f"## {paper}: {TITLES[paper[:3]]}")
        parts += [_section(one) for one in done if one.section.paper == paper]
    minutes = sum(one.seconds for one in done) / 60
    busy = sum(one.processor for one in done) / 60
    words = f"{minutes:.1f} minutes in all, {busy:.1f} of processor time, on {machine()}."
    parts += [_errata(), "## Time and machine", words]
    return "\n\n".join(parts) + "\n"


def machine() -> str:
    """Return the cores that may be used and the name of the processor."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores of {_processor()}, Python {platform.python_version()}"


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".part", delete=False, encoding="utf-8") as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _summary(done: Sequence[Done], papers: Sequence[str]) -> str:
    rows = []
    for paper in papers:
        mine = [one for one in done if one.section.paper == paper]
        counts = sum((one.section.counts() for one in mine), Counter())
        minutes = sum(one.seconds for one in mine) / 60
        rows.append((paper, *(str(counts[word]) for word in (YES, NO, SHOWN)), f"{minutes:.1f}"))
    totals = [sum(float(row[j]) for row in rows) for j in range(1, 5)]
    rows.append(("all", *(f"{total:.0f}" for total in totals[:3]), f"{totals[3]:.1f}"))
    return _table(("paper", YES, NO, SHOWN, "minutes"), rows)


def _section(done: Done) -> str:
    one = done.section
    parts = [f"### {one.paper}, {one.item}", f"The paper: {one.prints}"]
    if one.lines:
        parts.append(_lines(one))
    else:
        parts.append(f"Verdict: {one.verdict}.")
    parts += [_report(table) for table in one.tables]
    for picture in one.pictures:
        image = f"![{one.paper}, {one.item}]({picture.name})"
        parts.append(image if picture.drawn else f"{picture.name}: not drawn, as matplotlib is not installed.")
    if one.remarks:
        parts.append(_remarks(one.remarks))
    return "\n\n".join([*parts, f"Time: {done.seconds:.1f} seconds."])


def _lines(section: Section) -> str:
    header = ["data", "numbers", "paper", "ours, least to largest", "verdict", "setting"]
    told = any(line.closest for line in section.lines)
    rows = []
    for line in section.lines:
        cells = [" / ".join(of) for of in zip(*((i.name, i.printed, i.found) for i in line.items), strict=True)]
        rows.append((line.data, *cells, line.verdict, line.setting, *([line.closest or "-"] if told else [])))
    return _table((*header, *(["closest of all settings tried (not judged)"] if told else [])), rows)


def _report(table: Report) -> str:
    parts = [f"#### {table.title}", _table(table.header, table.rows)]
    return "\n\n".join([*parts, *([_remarks(table.remarks)] if table.remarks else [])])


def _errata() -> str:
    rows = [(str(i), TITLES[one.paper], one.place, one.printed, one.right, one.boxwood)
            for i, one in enumerate(ERRATA, 1)]  # fmt: skip
    head = "## Errata\n\nWhat the papers print, what is right, and what boxwood does."
    return f"{head}\n\n{_table(('', 'paper', 'where', 'printed', 'right', 'boxwood'), rows)}"


def _remarks(remarks: Sequence[str]) -> str:
    return "\n".join(f"- {remark}" for remark in remarks)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    shown = (header, ("---",) * len(header), *rows)
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in shown)
