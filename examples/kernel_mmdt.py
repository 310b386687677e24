"""Two mixtures and their trees: cuts at thresholds, and a cut by the distance to a prototype.

First three Gaussian components, explained by MMDT: each leaf is a box that holds nearly all of one component. Then two
components with one mean, which no threshold parts; but in the second column, x1, one of them is narrow. Kernel MMDT
draws a row of it, the prototype, and asks how far other rows are from it there. These are Figures 1 and 2 of
M. Fleissner, M. Zarvandi, D. Ghoshdastidar, "Explainable Clustering Beyond Worst-Case Guarantees".

    python examples/kernel_mmdt.py [FOLDER]

prints both trees and draws `mmdt.png` and `kernel_mmdt.png` into the folder. It takes some seconds; the pictures
need matplotlib (`pip install matplotlib`).
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.mixture import GaussianMixture

from boxwood import MMDT, KernelMMDT
from boxwood.metrics import agreement
from boxwood.render import text

COLORS = ("#4c72b0", "#dd8452", "#55a868")  # of rows
TINTS = ("#dbe3ef", "#f8e6dc", "#ddeee1")  # of leaves


class Result(NamedTuple):
    """Both models, and the shares of rows in the leaf of their own component, by name."""

    mmdt: MMDT
    kernel_mmdt: KernelMMDT
    shares: dict[str, float]


def main(folder: Path) -> Result:
    """Fit both trees, print them and draw them."""
    rng = np.random.default_rng(0)
    X, of_three = three_components(rng)
    mmdt = MMDT(GaussianMixture(3, random_state=0)).fit(X)
    print("Three components, by MMDT:", text(mmdt), sep="\n")

    Z, of_two = two_components(rng)
    kernel_mmdt = KernelMMDT(gamma=0.5, axis="similarity", random_state=0).fit(Z, of_two)
    (cut,) = kernel_mmdt.cuts_
    print("\nTwo components, by Kernel MMDT:", text(kernel_mmdt), sep="\n")
    print(f"that is, x{cut.feature} within {cut.radius:.2f} of the prototype's {cut.prototype:.2f}, or not")

    shares = {
        "three components, MMDT": agreement(of_three, mmdt.labels_).matched,
        "two components, MMDT": agreement(of_two, MMDT().fit(Z, of_two).labels_).matched,
        "two components, Kernel MMDT": agreement(of_two, kernel_mmdt.labels_).matched,
    }
    print("\nRows in the leaf of their own component:")
    print(*(f"  {name}: {share:.1%}" for name, share in shares.items()), sep="\n")

    draw(mmdt, X, folder / "mmdt.png")
    draw(kernel_mmdt, Z, folder / "kernel_mmdt.png")
    return Result(mmdt, kernel_mmdt, shares)


def three_components(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of three Gaussian components, and the component of each row."""
    component = rng.integers(3, size=900)
    means = np.array([[-3.0, -1.0], [2.0, 2.5], [2.5, -2.5]])
    spreads = np.array([[0.8, 1.4], [1.2, 0.7], [1.0, 0.9]])
    return means[component] + spreads[component] * rng.normal(size=(900, 2)), component


def two_components(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of a flat component and of one above and below it, and the component of each row."""
    component = rng.integers(2, size=600)
    X = rng.normal(size=(600, 2)) * (1.5, 0.4)
    X[component == 1, 1] += rng.choice([-3.0, 3.0], size=(component == 1).sum())
    return X, component


# ----------------------------------------------------------------------------------------------------- pictures


def draw(model: MMDT | KernelMMDT, X: np.ndarray, path: Path) -> None:
    """Draw a model of two columns: the rows with the leaves behind them, and the tree beside them."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("\nno picture: it needs matplotlib (pip install matplotlib)")
        return
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    rows, tree = figure.subplots(1, 2)
    draw_rows(rows, model, X)
    draw_tree(tree, model)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    print(f"\nwrote {path}")


def draw_rows(axes, model: MMDT | KernelMMDT, X: np.ndarray) -> None:
    """Draw rows in the colour of their component, on leaves in that of theirs; a prototype as a dashed line."""
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    for box, cluster in zip(model.tree_.boxes(), model.tree_.leaf_clusters, strict=True):
        # a column that the leaf does not restrict is shown from end to end
        across, up = ([np.clip(i[:2], low[j], high[j]) for i in box.get(j, [(low[j], high[j])])] for j in range(2))
        for left, right in across:
            for bottom, top in up:
                axes.fill([left, right, right, left], [bottom, bottom, top, top], fc=TINTS[cluster])
    axes.scatter(*X.T, s=6, c=[COLORS[c] for c in model.reference_.labels])
    for cut in getattr(model, "cuts_", ()):
        line = axes.axhline if cut.feature else axes.axvline
        line(cut.prototype, color="0.2", ls="--", lw=1, label=f"prototype, x{cut.feature} = {cut.prototype:.2f}")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="x0", ylabel="x1")


def draw_tree(axes, model: MMDT | KernelMMDT) -> None:
    """Draw the tree: rows inside a cut go left."""
    tree = model.tree_
    across = np.zeros(tree.n_nodes)
    across[tree.leaf_nodes] = np.arange(tree.n_leaves)
    down = tree.node_depth
    for node in reversed(range(tree.n_nodes)):  # in pre-order, so children come after their parent
        leaf = tree.feature[node] < 0
        if not leaf:
            children = [node + 1, tree.second[node]]
            across[node] = across[children].mean()
            for child, side in zip(children, ("yes", "no"), strict=True):
                ends = across[[node, child]], -down[[node, child]]
                axes.plot(*ends, color="0.7", zorder=0)
                axes.text(*(end.mean() for end in ends), side, ha="center", va="center", bbox={"fc": "w", "ec": "none"})
        words = f"component {tree.cluster[node]}" if leaf else question(tree, node)
        fill = TINTS[tree.cluster[node]] if leaf else "w"
        box = {"boxstyle": "round", "fc": fill, "ec": "0.5"}
        axes.text(across[node], -down[node], words, ha="center", va="center", bbox=box)
    axes.set(xlim=(-0.6, tree.n_leaves - 0.4), ylim=(-tree.depth - 0.4, 0.4))
    axes.axis("off")


def question(tree, node: int) -> str:
    """Return a cut as text, with rounded ends."""
    lower, upper = tree.lower[node], tree.upper[node]
    start = f"{lower:.2f} ≤ " if np.isfinite(lower) else ""
    return f"{start}x{tree.feature[node]} ≤ {upper:.2f}"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
