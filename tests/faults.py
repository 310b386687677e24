"""`python -m tests.faults`: put thirty faults into a copy of the source, one at a time, and see which the tests find.

A fault turns a comparison (`<` to `<=`), adds one to a whole number, turns a sign, or drops a term of a sum. Tests with
the name of the faulty file are tried first, then the folders near to it. Where these pass, `benchmarks.same_trees`
tells whether the fault changes any tree. If it does, all other tests must find it; the exit code is 1 where they do
not. `--full` tries all kinds of tests as `.ci/run` does, with all seeds; `--only 3 17` tries two of them again.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDERS = ("loops", "batches", "reference", "grow")
NEAR = ["tests/loops", "tests/grow", "tests/batches", "tests/reference"]  # they find most faults, and sooner
NO_TESTS = 5  # the exit code of pytest where all tests of its arguments are marked full
PATIENCE = 1200  # seconds; a fault may make a loop endless
TURNED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add}
OUTCOMES = FOUND, EQUAL, MISSED = "found", "without effect on trees", "missed"


class Fault(NamedTuple):
    """A change of one expression."""

    path: Path  # within the repository
    line: int
    first: int  # where the expression begins and ends, in bytes of the file
    last: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before}  ->  {self.after}"


def main(args: list[str] | None = None) -> int:
    """Try the faults, print what became of each, and return the exit code."""
    options = _options(args)
    faults = dict(enumerate(drawn(options.seed, options.faults)))
    faults = {number: faults[number] for number in options.only or faults}
    with tempfile.TemporaryDirectory() as folder:
        house = Path(folder) / ROOT.name
        shutil.copytree(ROOT, house, ignore=shutil.ignore_patterns(".git", ".venv"))
        if (data := ROOT.parent / "shared").exists():
            (house.parent / "shared").symlink_to(data)
        trees = str(house / "trees.json")
        _run(house, "-m", "benchmarks.same_trees", "record", trees)
        outcomes = Counter(_outcome(house, trees, number, fault, options) for number, fault in faults.items())
    counts = ", ".join(f"{outcomes[each]} {each}" for each in OUTCOMES)
    print(f"\nof {len(faults)} faults {counts}")
    return int(outcomes[MISSED] > 0)


def _options(args: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="which faults are drawn")
    parser.add_argument("--faults", type=int, default=30, help="how many")
    parser.add_argument("--only", type=int, nargs="+", metavar="N", help="their numbers, if not all")
    parser.add_argument("--full", action="store_true", help="try all seeds of each law")
    parser.add_argument("--jobs", default="auto", help="processes of pytest")
    return parser.parse_args(args)


# ------------------------------------------------------------------------------------------------------------- faults


def drawn(seed: int, n: int) -> list[Fault]:
    """Return `n` faults of the source, each of another expression."""
    faults = [fault for folder in FOLDERS for path in _files(folder) for fault in _faults(path)]
    return random.Random(seed).sample(faults, n)


def _files(folder: str) -> list[Path]:
    found = sorted((ROOT / "src" / "boxwood" / folder).rglob("*.py"))
    assert found, f"no folder {folder} of the source"
    return found


def _faults(path: Path) -> Iterator[Fault]:
    """Yield the faults of a file: one for each expression that can have one."""
    text = path.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(text)
    for node in _walked(tree):
        changed = _changed(node)
        if changed is not None:
            first, last = (
                starts[line - 1] + column
                for line, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
            )
            before, after = " ".join(text[first:last].decode().split()), f"({ast.unparse(changed)})"
            yield Fault(path.relative_to(ROOT), node.lineno, first, last, before, after)


def _walked(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that run; annotations do not, and messages change no tree."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(value, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.expr):
                yield child
            if isinstance(child, ast.AST):
                yield from _walked(child)


def _changed(node: ast.expr) -> ast.expr | None:
    """Return an expression with a fault, or None if it is not of a kind that gets one."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in TURNED:
            return _with(node, ops=[TURNED[type(op)]()])
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return ast.Constant(value + 1)
        case ast.BinOp(op=ast.Add(), left=left) if node.lineno % 2:  # every other sum loses a term
            return left
        case ast.BinOp(op=op) if type(op) in SIGNS:
            return _with(node, op=SIGNS[type(op)]())
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return operand
    return None


def _with(node: ast.expr, **fields: object) -> ast.expr:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


class put_into:
    """While it lasts, a copy of the repository has a fault; compiled code of other files stays valid."""

    def __init__(self, house: Path, fault: Fault) -> None:
        self.path, self.fault = house / fault.path, fault
        self.text, self.times = self.path.read_bytes(), self.path.stat()

    def __enter__(self) -> None:
        fault = self.fault
        self.path.write_bytes(self.text[: fault.first] + fault.after.encode() + self.text[fault.last :])

    def __exit__(self, *error: object) -> None:
        self.path.write_bytes(self.text)
        os.utime(self.path, ns=(self.times.st_atime_ns, self.times.st_mtime_ns))


# -------------------------------------------------------------------------------------------------------------- tests


def _outcome(house: Path, trees: str, number: int, fault: Fault, options: argparse.Namespace) -> str:
    """Return what becomes of a fault, and print it, with the test that finds it."""
    named = [str(path.relative_to(house)) for path in house.glob(f"tests/*/test_*{fault.path.stem.strip('_')}*.py")]
    with put_into(house, fault):
        finding = _failing(house, named, [], options) or _failing(house, NEAR, named, options)
        if not finding and not _run(house, "-m", "benchmarks.same_trees", "compare", trees).returncode:
            outcome = EQUAL
        else:
            finding = finding or _failing(house, ["tests", "src"], [*named, *NEAR], options)
            outcome = FOUND if finding else MISSED
    said = f"{outcome}: {finding}" if finding else outcome
    print(f"{number}  {fault}\n    {said}", flush=True)
    return outcome


def _failing(house: Path, tests: list[str], tried: list[str], options: argparse.Namespace) -> str | None:
    """Return the first of some tests that fails, or None if all pass; IN: tried: those that have passed already."""
    if not tests:
        return None
    pytest = ["-m", "pytest", "-x", "-n", options.jobs, "--dist", "worksteal", *(["--full"] if options.full else [])]
    ran = _run(house, *pytest, *tests, *(f"--ignore={path}" for path in tried))
    if ran.returncode in (0, NO_TESTS):
        return None
    lines = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR", "E  "))]
    return lines[-1] if lines else f"pytest ended with {ran.returncode}"


def _run(house: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy; one that takes too long is stopped with all that it started."""
    environment = os.environ | {"PYTHONPATH": str(house / "src"), "PYTHONDONTWRITEBYTECODE": ""}
    process = subprocess.Popen(
        [sys.executable, *args], cwd=house, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += "\nERROR: it does not end"
    return subprocess.CompletedProcess(args, process.returncode, output)


if __name__ == "__main__":
    raise SystemExit(main())
