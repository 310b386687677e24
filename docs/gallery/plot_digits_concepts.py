"""
Digits by concepts
==================

The columns of an embedding have no names, so a rule in these columns tells a reader nothing. Concepts have names. This
page learns a direction in the embedding for each of six concepts, from labelled examples, and grows a tree that asks
for concepts only.

The data are the 1,797 handwritten digits that come with scikit-learn (``load_digits``): a part of the *Optical
Recognition of Handwritten Digits* of the UCI Machine Learning Repository, by E. Alpaydin and C. Kaynak, 1998, licensed
under CC BY 4.0.
"""

# %%
# The picture
# -----------
# The mean image of the rows in each leaf of the tree, how many they are, and the digit that most of them show.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from boxwood import ConceptMMDT
from boxwood.concepts import ConceptProjector, concept_report, concept_text

digits = load_digits()
Z = PCA(10, random_state=0).fit_transform(digits.data)  # stands for the embedding of a network
shown, rest = np.arange(600), np.arange(600, len(Z))  # concepts are learned from the first, the others are clustered

ink = digits.images / digits.images.sum(axis=(1, 2), keepdims=True)
y, x = np.mgrid[:8, :8] - 3.5
dx = x - (ink * x).sum(axis=(1, 2))[:, None, None]
dy = y - (ink * y).sum(axis=(1, 2))[:, None, None]
concepts = {  # said of the digit as a whole, or measured in its picture
    "loop": np.isin(digits.target, (0, 2, 6, 8, 9)),
    "straight": np.isin(digits.target, (1, 4, 7)),
    "crossbar": np.isin(digits.target, (4, 5, 7)),
    "width": np.sqrt((ink * dx**2).sum(axis=(1, 2))),
    "slant": -(ink * dx * dy).sum(axis=(1, 2)),
    "hole": -digits.images[:, 3:5, 3:5].mean(axis=(1, 2)),
    "coin": np.random.default_rng(0).random(len(Z)) < 0.5,  # means nothing, to see whether that is noticed
}
examples = {name: values[shown] for name, values in concepts.items()}
with warnings.catch_warnings(action="ignore"):  # of the coin; the report tells the same
    projector = ConceptProjector().fit(Z[shown], examples)
report = concept_report(projector, Z[shown], examples, groups=digits.target[shown], random_state=0)
clusters = GaussianMixture(10, random_state=0).fit_predict(Z[rest])
with warnings.catch_warnings(action="ignore"):  # clusters far from normal; the last section shows what that costs
    model = ConceptMMDT(projector.select(report.reliable)).fit(Z[rest], clusters)

leaves, images = model.apply(Z[rest]), digits.images[rest]
figure, axes = plt.subplots(2, 5, figsize=(10, 4.6), layout="constrained")
for leaf, ax in enumerate(axes.flat):
    rows = leaves == leaf
    ax.imshow(images[rows].mean(axis=0) if rows.any() else np.zeros((8, 8)), cmap="gray_r")
    common = np.bincount(digits.target[rest][rows], minlength=10)
    ax.set(xticks=[], yticks=[])
    share = common.max() / max(rows.sum(), 1)
    ax.set_title(f"leaf {leaf}: {rows.sum()} rows\n{share:.0%} show a {common.argmax()}", fontsize=10)

# %%
# Which concepts can be trusted?
# ------------------------------
# The report asks whether the examples support a concept: on examples that were left out, on shuffled labels, and on
# parts of the examples. The coin is noticed. The report also says that three concepts were made from the digit alone,
# so their directions may tell digits and not strokes.

print(report)

# %%
# The tree
# --------
# It asks for reliable concepts only.

print(concept_text(model))

# %%
# How much is explained?
# ----------------------
# Adjusted Rand indices: 1 is the same partition, 0 is chance. Six concepts do not tell all about ten clusters, and the
# numbers say so.

print(f"clusters and digits:   {adjusted_rand_score(digits.target[rest], clusters):.2f}")
print(f"tree and its clusters: {adjusted_rand_score(clusters, model.predict(Z[rest])):.2f}")
