"""Handwritten digits: from pixels to an embedding, to concepts, to a tree that says what each cluster looks like.

A clustering of embeddings is hard to explain, because latent columns have no names. Concepts have names. This example
takes eight of them: four that a person would say of a digit as a whole (it has a loop), and four that can be measured
in the picture (it slants). Each is learned as a direction in the embedding. The tree cuts only along these directions.

    python examples/handwritten_digits.py [FOLDER]

prints the steps and draws `handwritten_digits.png` into the folder. It takes some seconds. The picture needs matplotlib
(`pip install matplotlib`). Nothing is downloaded.

Three things that the numbers do not show:

- The labels of "loop", "curve" and the two lines are made from the digit alone. So these concepts may be classifiers
  of digits in disguise, and the report says so ("a label of groups"). Slant and width are measured, digit by digit.
- Any directions that separate clusters give a tree that agrees with the clusters to some degree. The last step compares
  the concepts with meaningless directions. Look at it before you draw conclusions about the concepts.
- A concept that its own examples do not support, such as the coin, may separate clusters all the same. So the report
  on its examples decides whether a concept is dropped, never the score of the tree.
"""

import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from boxwood import CART, MMDT, ConceptMMDT
from boxwood.concepts import (
    ConceptProjector,
    choose_concepts,
    concept_baseline,
    concept_report,
    concept_text,
    make_concept_tree,
    unseparated_pairs,
)

DIGITS_WITH = {  # the digits that have a concept; after Crabbé and van der Schaar, "Concept Activation Regions", 2022
    "loop": (0, 2, 6, 8, 9),
    "vertical line": (1, 4, 7),
    "horizontal line": (4, 5, 7),
    "curve": (0, 2, 3, 5, 6, 8, 9),
}
MEANINGS = {
    "ink": ("little ink", "much ink"),
    "slant": ("leans left", "leans right"),
    "width": ("narrow", "wide"),
    "hole": ("filled", "open"),
}
N_EXAMPLES = 600  # concepts are learned from these rows, the other rows are clustered


class Result(NamedTuple):
    """The tree on concepts, the images of the rows that are clustered, and the scores of the trees."""

    model: ConceptMMDT
    images: np.ndarray
    scores: dict[str, float]


def main(folder: Path) -> Result:
    """Run all steps."""
    digits = load_digits()
    Z = PCA(10, random_state=0).fit_transform(digits.data)  # the embedding; a network's would do as well
    shown, rest = np.arange(N_EXAMPLES), np.arange(N_EXAMPLES, len(Z))
    clusters = GaussianMixture(10, n_init=3, random_state=0).fit_predict(Z[rest])

    concepts = concept_labels(digits.images[shown], digits.target[shown])
    with warnings.catch_warnings(action="ignore"):  # of the coin, of which the report tells
        projector = ConceptProjector(meanings=MEANINGS).fit(Z[shown], concepts)
    report = concept_report(projector, Z[shown], concepts, groups=digits.target[shown], random_state=0)
    print("What the examples say of the concepts:", report, sep="\n")
    projector = projector.select(report.reliable)

    with warnings.catch_warnings(record=True, action="always") as caught:
        model = ConceptMMDT(projector).fit(Z[rest], clusters)
    cart = make_concept_tree(projector, CART(random_state=0)).fit(Z[rest], clusters)
    print("\nConcept-MMDT:", concept_text(model), sep="\n")
    print(*(f"(warning: {warning.message})" for warning in caught), sep="\n")
    scores = {
        "clusters and digits": adjusted_rand_score(digits.target[rest], clusters),
        "Concept-MMDT and clusters": adjusted_rand_score(clusters, model.predict(Z[rest])),
        "Concept-CART and clusters": adjusted_rand_score(clusters, cart.predict(Z[rest])),
    }
    print("\nAgreement (adjusted Rand index):")
    print(*(f"  {name}: {value:.2f}" for name, value in scores.items()), sep="\n")

    chosen = choose_concepts(model.mixture_, 4, model.concept_names_)
    print(f"\nThe four concepts that separate clusters best: {', '.join(chosen.names)}")
    print("Concepts that are missing:", *unseparated_pairs(model.mixture_, model.concept_names_)[:2], sep="\n  ")

    baseline = concept_baseline(
        projector, MMDT(), Z[rest], clusters, examples=Z[shown], concepts=concepts, null="directions", n_draws=40,
        random_state=0,
    )  # fmt: skip
    print("\nThe same tree on meaningless directions:", f"  {baseline}", sep="\n")

    draw(model, Z[rest], digits.images[rest], folder / "handwritten_digits.png")
    return Result(model, digits.images[rest], scores)


def concept_labels(images: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Return concept labels of images: four from the digit, four measured in the image, and the toss of a coin."""
    concepts = {name: np.isin(labels, members) for name, members in DIGITS_WITH.items()}
    ink = images / images.sum(axis=(1, 2), keepdims=True)
    y, x = np.mgrid[:8, :8] - 3.5
    dx = x - (ink * x).sum(axis=(1, 2))[:, None, None]
    dy = y - (ink * y).sum(axis=(1, 2))[:, None, None]
    measured = {
        "ink": images.mean(axis=(1, 2)),
        "width": np.sqrt((ink * dx**2).sum(axis=(1, 2))),
        "slant": -(ink * dx * dy).sum(axis=(1, 2)),  # y grows downwards
        "hole": -images[:, 3:5, 3:5].mean(axis=(1, 2)),
        "coin": np.random.default_rng(0).random(len(images)) < 0.5,
    }
    return concepts | measured


# ------------------------------------------------------------------------------------------------------ picture


def draw(model: ConceptMMDT, Z: np.ndarray, images: np.ndarray, path: Path) -> None:
    """Draw the tree, with the mean image of the rows in each leaf."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("\nno picture: it needs matplotlib (pip install matplotlib)")
        return
    tree, leaves = model.tree_, model.apply(Z)
    positions = layout(tree)
    above = [set() for _ in positions]  # the concepts that are cut above each node
    figure = Figure(figsize=(1.3 * tree.n_leaves, 1.5 * tree.depth + 1.5))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.7, tree.n_leaves - 0.3), ylim=(-tree.depth - 0.8, 0.4))
    axes.axis("off")
    for node, (x, y) in enumerate(positions):
        if tree.feature[node] < 0:
            continue
        concept = model.concept_names_[tree.feature[node]]
        for child, word in zip((node + 1, tree.second[node]), model.projector_.meanings_[concept], strict=True):
            above[child] = above[node] | {concept}
            axes.plot([x, positions[child][0]], [y, positions[child][1]], color="0.7", zorder=0)
            middle = (np.array((x, y)) + positions[child]) / 2
            side = f"towards {word}" if concept in above[node] else word
            axes.text(*middle, side, ha="center", va="center", size=8, bbox={"fc": "white", "ec": "none", "pad": 1})
        box = {"boxstyle": "round", "fc": "#e8f0e4", "ec": "#5b7d4f"}
        axes.text(x, y, f"{concept}\n{tree.upper[node]:.2g}", ha="center", va="center", size=9, bbox=box)
    for leaf, node in enumerate(np.flatnonzero(tree.feature < 0)):
        x, y = positions[node]
        rows = leaves == leaf
        picture = axes.inset_axes((x - 0.38, y - 0.45, 0.76, 0.76), transform=axes.transData)
        picture.imshow(images[rows].mean(axis=0) if rows.any() else np.zeros((8, 8)), cmap="gray_r")
        picture.set(xticks=[], yticks=[])
        words = f"cluster {tree.cluster[node]}\n{rows.sum()} rows"
        axes.text(x, y - 0.5, words, ha="center", va="top", size=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    print(f"\nwrote {path}")


def layout(tree) -> list[tuple[float, float]]:
    """Return where each node is drawn: leaves side by side, each parent above the middle of its children."""
    depth = np.zeros(len(tree.feature), dtype=int)
    for node in range(len(tree.feature)):  # in pre-order, so parents come before their children
        if tree.feature[node] >= 0:
            depth[[node + 1, tree.second[node]]] = depth[node] + 1
    across = np.zeros(len(tree.feature))
    across[tree.feature < 0] = np.arange(tree.n_leaves)
    for node in reversed(range(len(tree.feature))):
        if tree.feature[node] >= 0:
            across[node] = (across[node + 1] + across[tree.second[node]]) / 2
    return list(zip(across.tolist(), (-depth).astype(float).tolist(), strict=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
