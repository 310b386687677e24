"""`python -m benchmarks.quality [PART]`: without a part, the comparison with peers."""

import sys
from importlib import import_module

PARTS = ("compare", "given", "outside", "speed", "worth")

if __name__ == "__main__":
    arguments = sys.argv[1:]
    part = arguments.pop(0) if arguments and arguments[0] in PARTS else "compare"
    import_module(f"benchmarks.quality.{part}").main(arguments)
