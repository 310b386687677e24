"""`python -m tests.soak --minutes 60`: try case after case, print what was tried, and stop.

Every case is made from its seed alone. A failure prints the command that tries this case again. The exit code is 1 if
there were failures.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
from collections import Counter

from tests.soak.parts import PARTS, Part
from tests.soak.worker import Outcome, outcomes


def main(args: list[str] | None = None) -> int:
    """Run the parts that were asked for, and return the exit code."""
    options = _options(args)
    names = options.only or list(PARTS)
    share = None if options.cases is not None else 60 * options.minutes / len(names)
    failed = [_soak(PARTS[name], options, share) for name in names]
    print(f"\n{sum(failed)} failures" if any(failed) else "\nno failure")
    return int(any(failed))


def _options(args: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="time to spend, shared between the parts")
    parser.add_argument("--only", action="append", choices=PARTS, help="a part to run; may be repeated")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--cases", type=int, help="try so many cases of each part, instead of for some time")
    parser.add_argument("--show", type=int, default=5, help="failures to print of each part")
    return parser.parse_args(args)


def _soak(part: Part, options: argparse.Namespace, seconds: float | None) -> int:
    """Run a part, print what it tried, and return the number of failures."""
    print(f"\n{part.name}: {part.what}", flush=True)
    start, kinds, found = time.monotonic(), Counter(), {}
    for outcome in outcomes(part, options.seed, cases=options.cases, seconds=seconds):
        if not isinstance(outcome, Outcome):
            for line in outcome:
                print(textwrap.fill(line, 118, initial_indent="  ", subsequent_indent="    "))
            continue
        kinds[outcome.kind] += 1
        if outcome.wrong is not None:
            found.setdefault(outcome.key, []).append(outcome)
    print(f"  {kinds.total()} cases in {time.monotonic() - start:.0f} seconds")
    for kind, count in sorted(kinds.items(), key=lambda each: (-each[1], each[0])):
        print(f"  {count:8d}  {kind}")
    _print_failures(part, found, options.show)
    return sum(len(alike) for alike in found.values())


def _print_failures(part: Part, found: dict[str, list[Outcome]], show: int) -> None:
    """Print the first failure of each reason, and how to repeat it."""
    for alike in list(found.values())[:show]:
        first = alike[0]
        print(f"\n  FAILED {len(alike)} times, first:")
        print(textwrap.indent((first.wrong or "")[-3000:], "    "))
        print(f"    repeat: python -m tests.soak --only {part.name} --seed {first.seed} --cases 1")
    if len(found) > show:
        print(f"\n  and {len(found) - show} failures of other kinds; --show {len(found)} prints them")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
