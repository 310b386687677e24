"""Whether a change of the code changed a tree: grows a few thousand trees, and compares them with recorded ones.

    python -m benchmarks.same_trees record FILE     with the code before the change
    python -m benchmarks.same_trees compare FILE    with the code after it

`record` writes a JSON file: for each case a digest of its table and a digest of its tree, or the name of the exception
in its place. `compare` grows the trees again, lists each case that differs, and exits with status 1 if there are any.
Cases cover the functions of `boxwood.grow`, the estimators and `explain`; see `benchmarks/same_trees/cases.py`. Only
public names are used, so that the same script runs before and after a change.

Both runs must be on one machine: scores of learned concepts, and costs of a few random cuts under "l2", hold products
of matrices, whose last digit may differ with the processor. A further argument takes only the cases whose name has it.
"""

import hashlib
import json
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.same_trees.cases import Case, all_cases
from benchmarks.same_trees.tables import Table
from boxwood import ThresholdTree

ARRAYS = {"feature": np.int64, "lower": np.float64, "upper": np.float64, "second": np.int64, "leaf_clusters": np.int64}
Digests = dict[str, dict[str, str]]  # case -> {"table": …, "tree": …}


def main(arguments: list[str]) -> int:
    """Record or compare; return the exit status."""
    if len(arguments) not in (2, 3) or arguments[0] not in ("record", "compare"):
        print(__doc__)
        return 2
    what, path = arguments[0], Path(arguments[1])
    recorded = json.loads(path.read_text()) if what == "compare" else {}
    word = arguments[2] if len(arguments) == 3 else ""
    start = time.perf_counter()
    digests = {case.name: _digests(case) for case in all_cases() if word in case.name}
    print(f"{len(digests)} cases in {time.perf_counter() - start:.0f} seconds; {_exceptions(digests)}")
    if what == "record":
        path.write_text(json.dumps(digests, indent=0, ensure_ascii=False))
        return 0
    return _compare({name: entry for name, entry in recorded.items() if word in name}, digests)


def _digests(case: Case) -> dict[str, str]:
    table = case.table()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            tree = _digest_of_tree(case.grower(table))
        except Exception as error:  # that a table is refused is a part of what must stay
            tree = type(error).__name__
    return {"table": _digest_of_table(table), "tree": tree}


def _digest_of_tree(tree: ThresholdTree) -> str:
    return _digest(*(np.asarray(getattr(tree, name), dtype=kind) for name, kind in ARRAYS.items()))


def _digest_of_table(table: Table) -> str:
    weights = np.empty(0) if table.weights is None else table.weights
    return _digest(table.X, table.labels, weights, table.centers, table.shares, table.variances)


def _digest(*arrays: np.ndarray) -> str:
    sha256 = hashlib.sha256()
    for array in arrays:
        sha256.update(f"{array.dtype.str} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return sha256.hexdigest()[:16]


def _exceptions(digests: Digests) -> str:
    names = Counter(entry["tree"] for entry in digests.values() if not _is_digest(entry["tree"]))
    return ", ".join(f"{count} {name}" for name, count in names.most_common()) or "no exceptions"


def _is_digest(word: str) -> bool:
    return len(word) == 16 and set(word) <= set("0123456789abcdef")


def _compare(recorded: Digests, grown: Digests) -> int:
    """Print the cases that are not as they were recorded; return 1 if there are any."""
    nothing = {"table": "", "tree": "no case"}
    wrong = 0
    for name in recorded | grown:
        before, after = recorded.get(name, nothing), grown.get(name, nothing)
        if before != after:
            wrong += 1
            other = ", of another table" if before["table"] != after["table"] else ""
            print(f"{name}: {before['tree']} became {after['tree']}{other}")
    print(f"{wrong} of {len(recorded | grown)} cases differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
