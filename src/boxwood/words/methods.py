"""`grown_by`: how a tree was grown, in words."""

_GROWERS = {
    "imm": "IMM",
    "greedy": "Ex-Greedy",
    "shallow": "ExShallow",
    "mmdt": "MMDT",
    "exkmc": "ExKMC",
    "exkmc-root": "ExKMC from a single leaf",
    "expand": "Expand",
    "expand-root": "Expand from a single leaf",
    "cart": "CART",
    "cart-entropy": "CART by entropy",
    "regression-centers": "a regression tree on the clusters' centres",
    "regression-rows": "a regression tree on the rows",
    "optimal": "exact search",
    "random_cuts": "random cuts",
    "kernel_imm": "Kernel IMM",
    "kernel_exkmc": "Kernel ExKMC",
    "kernel_exkmc-root": "Kernel ExKMC from a single leaf",
    "kernel_expand": "Kernel Expand",
    "kernel_expand-root": "Kernel Expand from a single leaf",
    "kernel_mmdt": "Kernel MMDT",
}
_STEPS = {
    "exkmc": "more leaves by ExKMC",
    "expand": "more leaves by Expand",
    "pruned": "over-grown and pruned back",
    "matched": "one leaf for each cluster",
    "resolved": "small subtrees solved exactly",
    "swapped": "leaves moved to where they are worth more",
    "refined": "cuts refined",
    "kept": "cuts of an earlier tree kept",
}


def grown_by(method: str) -> str:
    """Return how a tree was grown, such as "Ex-Greedy, cuts refined"; unknown parts of a method stay as they are.

    IN: method: as in `Explanation.method`, a name of `grow.METHODS` and the steps after it.

    Examples
    --------
    >>> grown_by("greedy-exkmc, refined")
    'Ex-Greedy, more leaves by ExKMC, cuts refined'
    """
    base, *steps = method.split(", ")
    if base not in _GROWERS and "-" in base:
        base, _, step = base.rpartition("-")
        steps.insert(0, step)
    return ", ".join([_GROWERS.get(base, base), *(_STEPS.get(step, step) for step in steps)])
