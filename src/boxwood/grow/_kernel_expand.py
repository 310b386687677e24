"""Kernel ExKMC and Kernel Expand: the tree of Kernel IMM with more leaves.

Fleissner, Vankadara and Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024, Algorithms 2 and
3. Leaves are split as by `grow.expand`.
"""

from __future__ import annotations

from boxwood._validation import refuse_unknown
from boxwood.grow._expand import expanded
from boxwood.grow._grown import Grown
from boxwood.grow._kernel_imm import grow_kernel_imm
from boxwood.kernels import Kernel, as_kernel
from boxwood.reference import Task

__all__ = ["grow_kernel_exkmc", "grow_kernel_expand"]


def grow_kernel_exkmc(
    task: Task, *, kernel: Kernel | str = "gaussian", base: str | None = None, cuts: str = "interval"
) -> Grown:
    """Return a tree expanded by kernel cost from that of Kernel IMM, or from the root."""
    return _grow_expanded(task, "kernel_exkmc", "cost", as_kernel(kernel), base, cuts)


def grow_kernel_expand(
    task: Task, *, kernel: Kernel | str = "gaussian", base: str | None = None, cuts: str = "interval"
) -> Grown:
    """Return a tree expanded by mistakes from that of Kernel IMM, or from the root."""
    return _grow_expanded(task, "kernel_expand", "mistakes", as_kernel(kernel), base, cuts)


def _grow_expanded(task: Task, name: str, objective: str, kernel: Kernel, base: str | None, cuts: str) -> Grown:
    """Return the expanded tree; without a base, the tree of Kernel IMM is expanded if it has few enough leaves."""
    leaves = task.leaves(times=2)
    if base is None:
        base = "kernel_imm" if leaves >= task.reference.n_clusters else "root"
    refuse_unknown("base", base, ("kernel_imm", "root"))
    kernel = kernel.fitted(task.rows)
    begin = grow_kernel_imm(task, kernel=kernel).tree if base == "kernel_imm" else None
    tree = expanded(begin, task, leaves, objective=objective, cuts=cuts, kernel=kernel)
    return Grown(tree, name if base == "kernel_imm" else f"{name}-root", kernel=kernel, facts={"kernel": kernel})
