"""
Seabirds: found groups beside known kinds
=========================================

A table of penguins is often used to show clustering. It does not come with scikit-learn, so its rows are not used here.
**The birds on this page are made up by the script.** They are of the same kind: three species, four measures of the
body, an island, and a few birds that could not be weighed.

The clusters are found from the four measures alone. The page asks two questions. By which rules can one tell the
clusters apart? Are the clusters the species?
"""

# %%
# The picture
# -----------
# The two columns that the rules ask for, with the leaves of the tree as boxes. A ring marks a bird whose rule names
# another cluster.

import numpy as np
import pandas as pd

import boxwood as bw

rng = np.random.default_rng(3)
SPECIES = {  # birds, then mean and standard deviation of: bill length, bill depth, flipper, mass
    "short-billed": (150, (38.5, 2.6), (18.4, 1.2), (190, 6.5), (3700, 450)),
    "long-billed": (70, (49.0, 3.2), (18.5, 1.1), (196, 7.0), (3750, 380)),
    "heavy": (120, (47.5, 3.0), (15.0, 1.0), (217, 6.5), (5080, 500)),
}
COLUMNS = ["bill length (mm)", "bill depth (mm)", "flipper (mm)", "mass (g)"]
measured, species = [], []
for name, (n, *columns) in SPECIES.items():
    size = rng.normal(size=n)  # a large bird is large in all measures
    measured.append(np.column_stack([m + s * (0.6 * size + 0.8 * rng.normal(size=n)) for m, s in columns]))
    species += [name] * n
birds = pd.DataFrame(np.vstack(measured), columns=COLUMNS).round(dict(zip(COLUMNS, (1, 1, 0, 0), strict=True)))
birds["mass (g)"] = birds["mass (g)"].mask(rng.random(len(birds)) < 0.05)  # flew off before it was weighed

ex = bw.explain(birds, n_clusters=3, standardize=True, random_state=0)
ax = ex.plot_boxes()

# %%
# The rules
# ---------

print(ex)

# %%
# Are the clusters the species?
# -----------------------------
# A clustering knows nothing of species. The table counts the birds of each species by the cluster of their rule.

print(pd.crosstab(pd.Series(species, name="species"), pd.Series(ex.predict(birds), name="ruled")))

# %%
# Rules for the species themselves
# --------------------------------
# Labels that are known can be explained in the same way. The price is left out where the labels are not the clusters of
# k-means, and the agreement decides.

by_species = bw.explain(birds, species, validate=5, random_state=0)
print(by_species.rules())
print(f"agreement {by_species.agreement:.1%}, on birds that were held out {by_species.held_out.agreement:.1%}")
ax = by_species.plot()
