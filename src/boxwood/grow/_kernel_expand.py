"""Kernel ExKMC and Kernel Expand: the tree of Kernel IMM with more leaves.

Fleissner, Vankadara and Ghoshdastidar, "Explaining kernel clustering via decision trees", ICLR 2024, Algorithms 2 and
3. Leaves are split as by `grow.expand`.
"""

from __future__ import annotations

from typing import Any

from boxwood.grow._expand import base_of, grown_from
from boxwood.grow._grown import Grown
from boxwood.grow._kernel_imm import grow_kernel_imm
from boxwood.kernels import Kernel, as_kernel
from boxwood.reference import Task

__all__ = ["grow_kernel_exkmc", "grow_kernel_expand"]


def grow_kernel_exkmc(
    task: Task,
    *,
    kernel: Kernel | str = "gaussian",
    base: str | None = None,
    cuts: str = "interval",
    look_ahead: bool = True,
    tol: float = 0.0,
    features: str = "auto",
    n_terms: int | str = "auto",
    n_landmarks: int | str | None = "auto",
) -> Grown:
    """Return a tree expanded by kernel cost from that of Kernel IMM on such features, or from the root."""
    options = {"objective": "cost", "cuts": cuts, "look_ahead": look_ahead, "tol": tol}
    features_of_base = {"features": features, "n_terms": n_terms, "n_landmarks": n_landmarks}
    return _grow_expanded(task, "kernel_exkmc", as_kernel(kernel), base, features_of_base, **options)


def grow_kernel_expand(
    task: Task,
    *,
    kernel: Kernel | str = "gaussian",
    base: str | None = None,
    cuts: str = "interval",
    look_ahead: bool = True,
    tol: float = 0.0,
    features: str = "auto",
    n_terms: int | str = "auto",
    n_landmarks: int | str | None = "auto",
) -> Grown:
    """Return a tree expanded by mistakes from that of Kernel IMM on such features, or from the root."""
    options = {"objective": "mistakes", "cuts": cuts, "look_ahead": look_ahead, "tol": tol}
    features_of_base = {"features": features, "n_terms": n_terms, "n_landmarks": n_landmarks}
    return _grow_expanded(task, "kernel_expand", as_kernel(kernel), base, features_of_base, **options)


def _grow_expanded(
    task: Task, name: str, kernel: Kernel, base: str | None, features: dict[str, Any], **options: Any
) -> Grown:
    base, kernel = base_of(task, base, "kernel_imm"), kernel.fitted(task.rows)
    begin = grow_kernel_imm(task, kernel=kernel, **features).tree if base == "kernel_imm" else None
    name = name if base == "kernel_imm" else f"{name}-root"
    return grown_from(begin, task, name, kernel=kernel, **options)
