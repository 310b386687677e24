"""
Half-moons by a kernel
======================

K-means cuts each half-moon in two. Kernel k-means finds both moons, since it compares rows by how near they are and
not by their distance to a mean. No threshold parts the moons, so a tree with one leaf for each cluster loses much. This
page shows how much, and what more leaves and *two-sided* cuts (is the value between *a* and *b*?) win back.

The points are made by ``sklearn.datasets.make_moons``.
"""

# %%
# The picture
# -----------
# The colour of the ground is the cluster that the tree names there. Discs and squares are the points of the two
# clusters, and a cross is a point whose leaf names the other cluster.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import boxwood as bw

COLOURS = ("#3f90da", "#bd1f01")

X, moons = make_moons(400, noise=0.06, random_state=0)
clusterer = bw.KernelKMeans(2, random_state=0)
models = [
    bw.KernelIMM(clusterer).fit(X),
    bw.KernelExKMC(clusterer, max_leaf_nodes=4).fit(X),
    bw.KernelExKMC(clusterer, max_leaf_nodes=8).fit(X),
]

x, y = np.meshgrid(np.linspace(-1.3, 2.3, 400), np.linspace(-0.8, 1.3, 300))
figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), sharey=True, layout="constrained")
for ax, model in zip(axes, models, strict=True):
    ground = model.predict(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    ax.contourf(x, y, ground, levels=[-0.5, 0.5, 1.5], colors=COLOURS, alpha=0.25)
    clusters = model.clusterer_.labels_
    wrong = model.predict(X) != clusters
    for cluster, sign in ((0, "o"), (1, "s")):
        ax.plot(*X[(clusters == cluster) & ~wrong].T, sign, color=COLOURS[cluster], markersize=3)
        ax.plot(*X[(clusters == cluster) & wrong].T, "x", color="black", markersize=6)
    ax.set_title(f"{type(model).__name__}, {model.n_leaves_} leaves: {1 - wrong.mean():.1%} agree")

# %%
# Did the clustering find the moons?
# ----------------------------------
# Kernel k-means chooses the width of its kernel from the distances between near rows. It was not told which point
# belongs to which moon.

found = max(np.mean(clusters == moons), np.mean(clusters != moons))
print(f"{found:.1%} of the points are in the cluster of their moon")
print(models[0].clusterer_.kernel_)

# %%
# What the trees lose
# -------------------
# The price is the kernel cost of the tree's groups, divided by that of the clusters. Distances of this kernel are
# bounded, so no tree at all can cost more than a ceiling. A price near 1 says little where the ceiling is low. So read
# the agreement beside it.

for model in models:
    share = np.mean(model.predict(X) == clusters)
    print(
        f"{model.n_leaves_} leaves: agreement {share:.1%}, price {model.price_:.4f}, "
        f"at most {model.price_ceiling_:.2f} for any tree"
    )

# %%
# The rules
# ---------
# Four leaves make rules that one can remember. Eight make rules that fit better, and some of their intervals hold few
# points.

print(models[1].explanation_.rules())
