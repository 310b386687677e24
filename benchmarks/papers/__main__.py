"""Run the experiments of the papers named on the command line, or of all."""

import argparse
import warnings
from importlib import import_module

from benchmarks.papers.report import Options

PAPERS = ("000", "001", "001-deep", "002", "003", "004")


def main(arguments: list[str] | None = None) -> None:
    """Print the tables of each paper as they are done."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PAPERS, default=PAPERS, metavar="PAPER", help=", ".join(PAPERS))
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    parser.add_argument("--quick", action="store_true", help="fewer rows and runs")
    parser.add_argument("--plots", metavar="FOLDER", help="draw the figures into a folder; needs matplotlib")
    given = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mixtures that have not converged and graphs in parts are settings like others
        for paper in given.only:
            module = import_module(f"benchmarks.papers.paper_{paper.replace('-', '_')}")
            for table in module.tables(Options(given.quick, given.plots)):
                print(table.as_markdown() if given.markdown else table.as_text(), flush=True)
                print(flush=True)


if __name__ == "__main__":
    main()
