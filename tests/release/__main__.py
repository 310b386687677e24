"""`python -m tests.release`: build what is published, twice, and try it in clean environments.

The commit that is checked out is built, not the working tree. Nothing is published: that is done by a workflow when a
tag is pushed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.release.build import Wrong, build
from tests.release.environments import ENVIRONMENTS, try_all


def main(args: list[str] | None = None) -> int:
    """Build and try; return the exit code."""
    options = _options(args)
    try:
        wheel = options.wheel or build(Path(options.out))
        return 0 if options.build_only else try_all(wheel, options.python, options.only)
    except Wrong as wrong:
        print(f"\nwrong: {wrong}", file=sys.stderr)
        return 1


def _options(args: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.release", description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="dist", help="folder for the wheel and the sdist")
    parser.add_argument("--build-only", action="store_true", help="do not try what was built")
    parser.add_argument("--wheel", type=Path, help="try this wheel instead of building one")
    parser.add_argument("--python", action="append", help="a Python to try, such as 3.12 or a path; may be repeated")
    parser.add_argument("--only", action="append", choices=ENVIRONMENTS, help="a kind of environment; may be repeated")
    return parser.parse_args(args)


if __name__ == "__main__":
    sys.exit(main())
