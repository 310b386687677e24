"""
Markers of cell types
=====================

Cells are clustered by the activity of their genes, and people want markers: which genes, on or off, tell one type from
all others? A tree gives every type what the cuts of the others left. A one-line rule is made for its type alone, and
says how many of its cells it finds, and how many others it takes in.

The cells are made by this script, from a table of which genes are on in which type; the data are made up by it.
"""

# %%
# The picture
# -----------
# Each circle is the best rule with one gene, or with two: how many of the type it finds, and how pure it is. The one
# that was chosen is filled. Where a second gene gains much, types share the first one.

import numpy as np
import pandas as pd

import boxwood as bw

GENES = ["CD3E", "CD4", "CD8A", "MS4A1", "NKG7", "LYZ", "FCGR3A", "PPBP"]
TYPES = {  # the genes that are on, and the number of cells
    "CD4 T": (["CD3E", "CD4"], 500),
    "CD8 T": (["CD3E", "CD8A", "NKG7"], 300),
    "B": (["MS4A1"], 250),
    "NK": (["NKG7", "FCGR3A"], 150),
    "CD14 monocyte": (["LYZ", "CD4"], 250),
    "FCGR3A monocyte": (["LYZ", "FCGR3A"], 100),
    "platelet": (["PPBP"], 50),
}

rng = np.random.default_rng(0)
labels = np.repeat([*TYPES], [n for _, n in TYPES.values()])
is_on = np.array([[gene in TYPES[name][0] for gene in GENES] for name in labels])
activity = rng.gamma(np.where(is_on, 6.0, 0.4), 0.5)
dropped = rng.random(activity.shape) < 0.05  # a gene that is on is not always seen
cells = pd.DataFrame(np.where(dropped, 0.0, activity).round(2), columns=GENES)

ex = bw.explain(cells, labels, objective="agreement")
lines = ex.standalone_rules(2)
ax = lines.plot()

# %%
# The markers
# -----------
# "Found" counts cells of the type, "precision" those of the type among the rule's cells. ``lines.fronts`` has the rules
# with one gene as well.

print(lines)

# %%
# Beside the tree
# ---------------
# The tree puts every cell into one type, and so its rules say what a cell is not, gene by gene.

print(ex)

# %%
# Cells that fit no marker
# ------------------------
# Mostly a gene was not seen in them. ``overlaps`` lists the cells that two rules claim, and the type that they get.

print(f"{len(lines.unmatched())} of {len(cells)} cells are in no line, {len(lines.overlaps())} in several")
print(pd.Series(labels[list(lines.unmatched())]).value_counts().to_string())

# %%
# Gates for new cells
# -------------------
# A gate is a rule by itself: which of the new cells does the one for NK cells hold?

new = pd.DataFrame([[0, 0, 0, 0, 3.1, 0.1, 2.4, 0], [2.9, 0, 3.0, 0, 2.2, 0, 0.1, 0]], columns=GENES)
print(pd.DataFrame(lines.holds(new), columns=ex.names).T.to_string(header=["first cell", "second cell"]))
