"""Run the experiments of the papers and write one page of them, with pictures."""

import argparse
import time
import warnings
from importlib import import_module
from pathlib import Path

from benchmarks.papers import page
from benchmarks.papers.report import Options

PAPERS = ("000", "001", "001-deep", "002", "003", "004")


def main(arguments: list[str] | None = None) -> None:
    """Write the page anew after each section, so that what is done is there if the rest is stopped."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PAPERS, default=PAPERS, metavar="PAPER", help=", ".join(PAPERS))
    parser.add_argument("--quick", action="store_true", help="fewer rows, seeds and settings")
    parser.add_argument("--out", default=Options().out, metavar="FOLDER", help="the folder of the page (%(default)s)")
    given = parser.parse_args(arguments)
    done: list[page.Done] = []
    path = Path(given.out) / "index.md"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mixtures that have not converged and graphs in parts are settings like others
        for paper in given.only:
            sections = import_module(f"benchmarks.papers.paper_{paper.replace('-', '_')}").sections
            start = _clocks()
            for section in sections(Options(given.quick, given.out)):
                done.append(page.Done(section, *(now - then for now, then in zip(_clocks(), start, strict=True))))
                page.write(path, page.index(done, words=_words(given, unfinished=True)))
                print(f"{section.paper}, {section.item}: {done[-1].seconds:.1f} seconds", flush=True)
                start = _clocks()
    page.write(path, page.index(done, words=_words(given, unfinished=False)))
    print(f"wrote {path}")


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _words(given: argparse.Namespace, *, unfinished: bool) -> str:
    size = "A quick run with few rows, seeds and settings" if given.quick else "A run at full size"
    papers = "of all papers" if tuple(given.only) == PAPERS else f"of {', '.join(given.only)} alone"
    return f"{size} {papers}{', which was stopped before its end or still goes on' if unfinished else ''}."


if __name__ == "__main__":
    main()
