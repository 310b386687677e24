"""What `explain` is worth: beside its peers, on rows not seen, on given labels, beside the cheapest trees, in time."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

PARTS = {
    "agreement": "trees that agree most within a depth, beside ConTree's, and their time",
    "compare": "every case, every peer, and where explain is beaten (without a part, this one)",
    "defaults": "clusters that are made when nobody says anything: known groups, their number, groups that are not",
    "first": "what a first call costs, with nothing compiled, and one in a second process",
    "gaps": "how far trees are from the cheapest with as many leaves",
    "given": "labels as given: false rules, and agreement beside CART's",
    "lines": "one-line rules beside the tree's: conditions at no lower F1, what is proved, time, rows not seen",
    "luck": "what rules of labels owe to luck: agreement on rows not seen, beside what is expected of it",
    "mined": "one-line rules beside those of Cluster-Explorer, at no less found and precision",
    "mixed": "tables of words, numbers and gaps, beside trees on one-hot columns and on filled ones",
    "names": "tables of words: agreement on rows that were not seen, beside three CARTs",
    "outside": "agreement on rows that were not seen, beside CART's",
    "speed": "processor time, as a ratio to one CART",
    "worth": "what each candidate and each step is worth and costs, and the curve of quality and time",
}


def main(arguments: Sequence[str]) -> None:
    """Run the part that is named first, with its options."""
    first = arguments[0] if arguments else ""
    named = first in PARTS or first in ("-h", "--help")
    options = parser().parse_args(arguments if named else ["compare", *arguments])
    import_module(f"benchmarks.quality.{options.part}").main(options)


def parser() -> argparse.ArgumentParser:
    """Return the parser of all parts."""
    whole = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parts = whole.add_subparsers(dest="part", metavar="PART", required=True)
    for name, help_of_part in PARTS.items():
        part = import_module(f"benchmarks.quality.{name}")
        part.add_options(parts.add_parser(name, help=help_of_part, description=part.__doc__))
    return whole


if __name__ == "__main__":
    main(sys.argv[1:])
