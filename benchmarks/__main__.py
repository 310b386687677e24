"""Run the benchmarks named on the command line, or all of them."""

import sys
from importlib import import_module

NAMES = ("growth", "mixture", "random_cuts", "kernels", "startup", "batches", "plan", "quality", "guarantees")

if __name__ == "__main__":
    wanted = sys.argv[1:] or NAMES
    unknown = set(wanted) - set(NAMES)
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}")
    for name in wanted:
        import_module(f"benchmarks.{name}").main()
        print()
