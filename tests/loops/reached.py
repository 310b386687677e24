"""`python -m tests.loops.reached`: the loops of which numba's folder has no machine code; the exit code tells of any.

A loop is compiled when it is called, so after tests with a folder of their own (`NUMBA_CACHE_DIR`) these are the loops
that no test reached. `.ci/run` asks after the tests with bounds checked.
"""

import importlib
import pkgutil
import sys

from boxwood import loops
from boxwood.loops._machine_code import MachineCode
from boxwood.loops.jit import Loop


def unreached() -> list[str]:
    """Return the names of the loops without machine code; parts of others, with an underscore, are stored in these."""
    return [name for name, loop in _all_loops().items() if not MachineCode(loop).loop._cache._cache_file._load_index()]


def _all_loops() -> dict[str, Loop]:
    modules = [importlib.import_module(f"boxwood.loops.{each.name}") for each in pkgutil.iter_modules(loops.__path__)]
    return {
        f"{module.__name__}.{name}": loop
        for module in modules
        for name, loop in vars(module).items()
        if isinstance(loop, Loop) and not name.startswith("_")
    }


if __name__ == "__main__":
    missing = unreached()
    sys.exit(f"no test reached these loops: {', '.join(missing)}" if missing else None)
