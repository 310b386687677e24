"""The cases: every way to a tree, on tables of its own.

To add a method, write one line into the list of its door (`by_grow`, `by_estimators`, `by_explain`): a name, the kind
of table, and a function from a table to a tree. Each line has tables that no other line has, so the cases of the other
lines stay as they are.
"""

import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import boxwood as bw
from benchmarks.same_trees.by_estimators import fitted, lines_of_estimators
from benchmarks.same_trees.by_explain import explained, lines_of_explain
from benchmarks.same_trees.by_grow import by_cart, by_mmdt, expanded, lines_of_grow, refined, with_rows
from benchmarks.same_trees.lines import Grower, Line
from benchmarks.same_trees.tables import Table, large_table, small_table
from boxwood import grow, kernels

SHAPES = {"long": (20_000, 5, 8), "wide": (2_000, 100, 20), "sampled": (60_000, 6, 5), "middle": (2_000, 5, 6)}
N_LARGE = 2  # tables of each shape


class Case(NamedTuple):
    """A name that no other case has, how to make the table, and the way from there to a tree."""

    name: str
    table: Callable[[], Table]
    grower: Grower


def all_cases() -> Iterator[Case]:
    """Yield the cases, small tables first."""
    for line in (*lines_of_grow(), *lines_of_estimators(), *lines_of_explain()):
        first = 1_000 * zlib.crc32(f"{line.name} {line.kind}".encode())
        for seed in range(first, first + line.n_tables):
            yield Case(f"{line.name}, {line.kind} {seed - first}", _small(seed, line.kind), line.grower)
    for line in _large_lines():
        for seed in range(line.n_tables):
            yield Case(f"{line.name}, {line.kind} {seed}", _large(seed, line.kind), line.grower)


def _small(seed: int, kind: str) -> Callable[[], Table]:
    return lambda: small_table(seed, kind)


def _large(seed: int, kind: str) -> Callable[[], Table]:
    return lambda: large_table(seed, *SHAPES[kind])


# ----------------------------------------------------------------------------------------------------- large tables


def _large_lines() -> list[Line]:
    both = [
        ("grow.imm", with_rows(grow.imm)),
        ("grow.greedy", with_rows(grow.greedy)),
        ("grow.expand cost", expanded(of_imm=True)),
        ("grow.expand mistakes", expanded(objective="mistakes")),
        ("grow.refine imm", refined(with_rows(grow.imm))),
        ("grow.cart", by_cart()),
        ("grow.mmdt", by_mmdt()),
        ("IMM", fitted(bw.IMM)),
        ("ExKMC", fitted(bw.ExKMC)),
        ("RandomCuts", fitted(bw.RandomCuts, n_trees=10)),
        ("MMDT", fitted(bw.MMDT)),
        ("explain", explained()),
        ("explain exkmc", explained(more=2, method="exkmc")),
    ]
    once = [
        ("long", "grow.expand intervals", expanded(objective="mistakes", cuts="interval")),
        ("sampled", "explain", explained()),
        ("sampled", "explain, more leaves", explained(more=3)),
        ("sampled", "grow.imm", with_rows(grow.imm)),
        ("middle", "grow.kernel_imm", with_rows(grow.kernel_imm, kernel="gaussian")),
        ("middle", "grow.kernel_mmdt", with_rows(grow.kernel_mmdt, kernel="gaussian", random_state=0)),
        ("middle", "KernelIMM", fitted(bw.KernelIMM)),
        ("middle", "KernelExKMC", fitted(bw.KernelExKMC)),
        ("middle", "KernelExpand", fitted(bw.KernelExpand, kernel="laplace")),
        ("middle", "KernelMMDT", fitted(bw.KernelMMDT, axis="error")),
        (
            "long",
            "grow.kernel_imm distance",
            with_rows(grow.kernel_imm, kernel=kernels.Laplace(0.1), features="distance"),
        ),
    ]
    lines = [Line(name, kind, grower, N_LARGE) for kind in ("long", "wide") for name, grower in both]
    return lines + [Line(name, kind, grower, N_LARGE) for kind, name, grower in once]
