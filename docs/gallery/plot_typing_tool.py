"""
A typing tool of five questions
===============================

A survey of twelve questions found four segments. Who calls a call centre will answer five questions, not twelve. A
*typing tool* is a short form that names the segment of a person. ``max_columns=5`` asks for rules that need at most
five of the questions.

The answers are made up by this script. Nobody was asked.
"""

# %%
# The picture
# -----------
# How far one, three and five questions get, with people who were asked and with people who were held out. Always naming
# the largest segment would agree with the share at the dotted line.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

import boxwood as bw

QUESTIONS = {  # mean answer (1 to 5) of the segments: careful, thrifty, keen, loyal
    "I compare prices": (3.0, 4.7, 2.2, 2.4),
    "I wait for sales": (2.4, 4.6, 1.8, 2.1),
    "I read reviews": (4.6, 3.1, 3.3, 1.9),
    "I ask friends": (4.1, 2.9, 2.9, 3.0),
    "I buy what is new": (1.8, 2.0, 4.7, 2.4),
    "I own many devices": (2.4, 2.0, 4.5, 2.6),
    "I stay with a brand": (2.9, 1.7, 2.6, 4.7),
    "I know the shop staff": (2.1, 1.9, 2.2, 4.3),
    "I plan purchases": (4.4, 3.9, 1.9, 3.2),
    "I return goods": (3.1, 2.6, 3.2, 1.7),
    "I shop online": (3.4, 3.3, 4.2, 2.0),
    "I enjoy shopping": (2.8, 2.7, 3.9, 3.1),
}
rng = np.random.default_rng(5)
person = rng.choice(4, 500, p=[0.25, 0.3, 0.2, 0.25])
means = np.array(list(QUESTIONS.values())).T
values = (means[person] + rng.normal(0, 0.9, (500, 12))).round().clip(1, 5)
answers = pd.DataFrame(values.astype(int), columns=list(QUESTIONS))
kind = np.array(["careful", "thrifty", "keen", "loyal"])[person]
clusters = pd.Series(KMeans(4, n_init=4, random_state=0).fit_predict(answers))
segments = clusters.map(pd.crosstab(clusters, kind).idxmax(axis="columns"))  # each named for most of its people

few = (1, 3, 5)
limits = {"max_leaf_nodes": 6, "validate": 0.3, "random_state": 0}
tools = [bw.explain(answers, segments, max_columns=m, **limits) for m in few]

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(few, [tool.agreement for tool in tools], "o-", color="#3f90da", label="people who were asked")
ax.plot(few, [tool.held_out.agreement for tool in tools], "s--", color="#bd1f01", label="people who were held out")
largest = segments.value_counts().max() / len(segments)
ax.axhline(largest, color="#717581", linestyle=":", label="always the largest segment")
ax.set(xlabel="questions at most", ylabel="agreement", ylim=(0, 1), xticks=few)
ax.legend()

# %%
# The tool
# --------
# Answers are whole numbers from 1 to 5, so "more than 3" means 4 or 5.

tool = tools[-1]
print(tool.rules())
print(f"agreement {tool.agreement:.1%}, held out {tool.held_out.agreement:.1%}")
ax = tool.plot()

# %%
# Which questions are left?
# -------------------------

asked = sorted({tool.columns[j] for j in tool.tree.feature.tolist() if j >= 0})
print(*asked, sep="\n")

# %%
# On the form
# -----------
# One function of JavaScript, without packages, names the segment as the form is filled in. These are its first lines. A
# person who did not give an answer that the rules need gets no segment.

print(*tool.to_javascript().splitlines()[:32], sep="\n")
