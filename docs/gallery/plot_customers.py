"""
Customers with categories and missing values
============================================

A table of customers has numbers, categories and empty cells. ``bw.explain`` takes the data frame as it is. It makes
clusters, finds a short rule for each of them, and says what the rules lose. Nothing is encoded or filled in first.

The customers are made up by this script. No real person or company is in the table.
"""

# %%
# The picture
# -----------
# Each box is a question. A bar shows how many customers of each cluster come to it. A question about categories lists
# them, and a question about a column with missing values says where an empty cell goes.

import numpy as np
import pandas as pd

import boxwood as bw

rng = np.random.default_rng(7)
KINDS = {  # share of customers, plans that they choose, orders each year, minutes on the site, age
    "households": (0.40, {"basic": 0.85, "family": 0.15}, 5, 20, 47),
    "families": (0.35, {"family": 0.90, "basic": 0.10}, 14, 35, 39),
    "offices": (0.25, {"business": 0.95, "basic": 0.05}, 40, 12, 44),
}
parts = []
for share, plans, orders, minutes, age in KINDS.values():
    n = int(600 * share)
    parts.append(
        pd.DataFrame(
            {
                "plan": rng.choice(list(plans), n, p=list(plans.values())),
                "country": rng.choice(["AT", "CH", "DE", "FR"], n),
                "orders": rng.poisson(orders, n).astype(float),
                "minutes": rng.gamma(4, minutes / 4, n).round(1),
                "age": rng.normal(age, 9, n).round(),
            }
        )
    )
customers = pd.concat(parts, ignore_index=True)
customers["minutes"] = customers["minutes"].mask(rng.random(len(customers)) < 0.15)  # people who refuse cookies
customers["age"] = customers["age"].mask(rng.random(len(customers)) < 0.10)
customers["plan"] = customers["plan"].mask(rng.random(len(customers)) < 0.05)

ex = bw.explain(customers, n_clusters=3, standardize=True, random_state=0, max_leaf_nodes=4)
ax = ex.plot()

# %%
# The rules and what they lose
# ----------------------------
# *Agreement* is the share of customers whose rule names their cluster. The *price of explainability* is the cost within
# the groups that the rules make, divided by the cost within the clusters. A price of 1 would lose nothing.

print(ex)

# %%
# What are the clusters like?
# ---------------------------
# The profile shows every column, whether a rule asks for it or not. Numbers have their medians, categories their
# shares.

ax = ex.plot_profile()

# %%
# New customers
# -------------
# ``predict`` asks the same questions of new rows. A category that no customer had has no cluster: the third row below.

new = pd.DataFrame(
    {
        "plan": ["business", "family", "student", None],
        "country": ["AT", "DE", "FR", "CH"],
        "orders": [35, 12, 4, 6],
        "minutes": [10.0, None, 22.0, None],
        "age": [50, 41, 22, 36],
    }
)
print(ex.predict(new, missing="none"))
print(ex.why(new.iloc[[1]]))
