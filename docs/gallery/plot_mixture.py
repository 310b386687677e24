"""
A mixture with its certificate
==============================

A Gaussian mixture says how each of its components is spread. MMDT grows a tree from the means and variances alone: it
looks at no row. So one can compute beforehand how many rows to come will fall on the wrong side of a cut. That number
is the tree's *certificate*.

The rows are drawn by this script from three normal distributions.
"""

# %%
# The picture
# -----------
# An ellipse shows a component at two standard deviations. The lines are the two cuts of the tree. A cross is a row on
# the wrong side of a cut.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse
from sklearn.mixture import GaussianMixture

import boxwood as bw
from boxwood import metrics
from boxwood.theory import bounds, certificate

COLOURS = ("#3f90da", "#bd1f01", "#ffa90e")
MEANS, SPREADS, SHARES = np.array([[0, 0], [5, 1], [2.5, 6]]), np.array([1, 1.2]), [0.5, 0.3, 0.2]


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows and the components that they come from."""
    rng = np.random.default_rng(seed)
    component = rng.choice(3, n, p=SHARES)
    return MEANS[component] + SPREADS * rng.normal(size=(n, 2)), component


X, component = rows(900, seed=0)
start = GaussianMixture(3, covariance_type="diag", means_init=MEANS, random_state=0)
mmdt = bw.MMDT(start).fit(X)

figure, ax = plt.subplots(figsize=(7.5, 5), layout="constrained")
wrong = mmdt.predict(X) != component
for k, sign in enumerate("os^"):
    ax.plot(*X[(component == k) & ~wrong].T, sign, color=COLOURS[k], markersize=3, label=f"component {k}")
    size = 4 * np.sqrt(mmdt.mixture_.variances[k])
    ax.add_patch(Ellipse(mmdt.mixture_.means[k], *size, fill=False, edgecolor="black", linewidth=1.5))
ax.plot(*X[wrong].T, "x", color="black", markersize=7, label="wrong side of a cut")
x, y = np.meshgrid(np.linspace(*ax.get_xlim(), 600), np.linspace(*ax.get_ylim(), 600))
leaves = mmdt.apply(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
ax.contour(x, y, leaves, levels=[0.5, 1.5], colors="black", linestyles="--")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)

# %%
# The rules
# ---------

print(mmdt.explanation_.rules())

# %%
# The certificate
# ---------------
# The first number holds for normal components, the second for components of any law with the same means and variances.
# Both are sums over the cuts: a row is misplaced only if some cut parts it from the mean of its component. Here the
# parameters were estimated from the rows, so the bounds are estimates, too, and say so.

promise = certificate(mmdt.mixture_, mmdt.tree_, estimated=True)
print(f"at most {promise.error.value:.3%} of rows in a wrong leaf (normal components)")
print(f"at most {promise.chebyshev_error.value:.1%} of rows in a wrong leaf (any law)")
print(f"price at most {promise.price.value:.4f} (normal components)")
print("estimated:", promise.error.estimated)

# %%
# Does it hold?
# -------------
# The error rate of the tree under the fitted mixture can be computed without drawing. A million new rows of the true
# mixture say the same.

print(f"exact, for the fitted mixture: {metrics.error_rate(mmdt.mixture_, mmdt.tree_).value:.3%}")
new, truth = rows(1_000_000, seed=1)
print(f"of a million new rows: {np.mean(mmdt.predict(new) != truth):.3%}")

# %%
# Beside the theorem
# ------------------
# A theorem bounds the error of MMDT for *every* mixture of as many components whose explainability-to-noise ratio is as
# large. It is far above the certificate of this one tree. Above 1 it says nothing, as here.

theorem = bounds.gap_error_bound(mmdt.mixture_, tree=mmdt.tree_, estimated=True)
print(f"{theorem.source.split(', ')[-1]}: at most {theorem.value:.2f}, as a probability {theorem.clipped:.2f}")
for condition in theorem.conditions:
    print(f"  {condition.status}: {condition.text}")
