"""The numbers of a page of `benchmarks.papers` as small CSV files, which the pages of docs/theory show.

    make papers
    python -m benchmarks.papers.stored papers_report docs/theory/numbers

A section's judged lines become one file with a line for each printed number: the paper's, and the least and the largest
of ours; beside one that is not reproduced why it is not, and the closest of all settings that were tried. Its other
tables become files as they are. `runs.csv` has a line for each file: which run it comes from. Seconds are left out,
as those of another machine, which others use, too, say little.
"""

import argparse
import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["files_of", "main"]

SECTION = re.compile(r"^### (\d{3}), (.+)$", re.MULTILINE)
JUDGED = ("data", "numbers", "paper", "ours, least to largest", "verdict", "setting")
LINES = ("data", "number", "paper", "ours, least", "ours, largest", "verdict", "setting", "why", "closest")
RUNS = ("file", "paper", "item", "run")
MOST_LINES = 60

Rows = list[list[str]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files of the sections that the page has; files of other sections stay."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers.stored", description=__doc__)
    parser.add_argument("report", type=Path, help="the folder that `python -m benchmarks.papers` wrote")
    parser.add_argument("out", type=Path, help="the folder of the CSV files")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    page = (given.report / "index.md").read_text(encoding="utf-8")
    runs = {row[0]: row for row in _read(given.out / "runs.csv")[1:]}
    for name, paper, item, rows in files_of(page):
        _write(given.out / name, rows)
        runs[name] = [name, paper, item, _size_of(page)]
    _write(given.out / "runs.csv", [list(RUNS), *(runs[name] for name in sorted(runs))])


def files_of(page: str) -> Iterator[tuple[str, str, str, Rows]]:
    """Yield the name of each file, the paper, the item, and the rows with their header."""
    body = page.partition("\n## Errata")[0]
    heads = list(SECTION.finditer(body))
    for head, end in zip(heads, [*(each.start() for each in heads[1:]), len(body)], strict=True):
        text = body[head.end() : end]
        if text.lstrip().startswith("The paper: seconds"):
            continue
        tables = [rows for rows in _tables(text) if len(rows) <= MOST_LINES and len(rows[0]) > 1]
        stem = f"{head[1]}_{re.sub(r'[^a-z0-9]+', '_', head[2].lower()).strip('_')}"
        for i, rows in enumerate(tables, 1):
            name = f"{stem}.csv" if len(tables) == 1 else f"{stem}_{i}.csv"
            yield name, head[1], head[2], _line_by_line(rows) if tuple(rows[0][:6]) == JUDGED else rows


def _size_of(page: str) -> str:
    """Return what the page says of its run, as "quick" or "full size"."""
    return "quick" if "\nA quick run" in page else "full size"


def _tables(text: str) -> Iterator[Rows]:
    rows: Rows = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("| "):
            rows.append([cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif rows:
            yield [rows[0], *rows[2:]]  # the second line is the rule under the header
            rows = []


def _line_by_line(rows: Rows) -> Rows:
    """Return a line for each printed number of a judged table."""
    found = [list(LINES)]
    for data, numbers, paper, ours, words, setting, *more in rows[1:]:
        for name, printed, both in zip(*(cell.split(" / ") for cell in (numbers, paper, ours)), strict=True):
            if name.startswith("seconds"):
                continue
            least, _, largest = both.partition(" to ")
            verdict = _verdict(name, words)
            beside = [words.partition(": ")[2], *(more or ["-"])] if verdict == "not reproduced" else ["", ""]
            found.append([data, name, printed, least, largest or least, verdict, setting, *beside])
    return found


def _verdict(name: str, words: str) -> str:
    """Return the verdict on one number from "reproduced (A); not reproduced (B, C): why", or "not reproduced: why"."""
    for verdict, names in re.findall(r"(not reproduced|reproduced|shown) \(([^)]*)\)", words):
        if name in names.split(", "):
            return str(verdict)
    return words.partition(":")[0]


def _read(path: Path) -> Rows:
    if not path.exists():
        return [list(RUNS)]
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _write(path: Path, rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
