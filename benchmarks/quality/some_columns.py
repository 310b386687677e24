"""Tables whose groups show in some columns: clusters at the known number and at the chosen one, beside others'.

One to four columns have two to five Gaussian groups, in any units. Beside them stand noise, correlated blocks, skewed
columns, flags, words that go with the groups or with nothing; or the groups lie orders of magnitude apart, or differ
in size. Each line is the mean over the tables of a kind: the adjusted Rand index of the known groups and

- k-means of the carrying columns as they were drawn, in one unit: what is possible;
- `explain` at the known number of groups, with columns of unit variance there, at the number that it chooses, and the
  rules of that;
- what an analyst does in ten lines: logarithms of skewed columns, dummies, scale, k-means, silhouette;
- a Gaussian mixture of the numbers by BIC;

and the share of the tables in which `explain` chooses the known number. How columns count was chosen on tables of even
seeds; these have odd ones.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from benchmarks.timing import print_table
from boxwood import explain

KINDS = (
    "no noise",
    "5 of noise",
    "20 of noise",
    "correlated block",
    "skewed noise",
    "even noise",
    "flags",
    "words of groups",
    "words of noise",
    "orders of magnitude",
    "other sizes",
)
HEADS = ("possible", "known k", "unit", "chosen k", "rules", "analyst", "mixture")


class Made(NamedTuple):
    """A table, the group of each row, and the carrying columns as they were drawn."""

    frame: pd.DataFrame
    groups: np.ndarray
    carrying: np.ndarray


def made(kind: str, seed: int) -> Made:
    """Return a table of a kind."""
    rng = np.random.default_rng([seed, KINDS.index(kind), 77])
    k, d, n = int(rng.integers(2, 6)), int(rng.integers(1, 5)), int(rng.choice([300, 500, 1000]))
    group = rng.choice(k, n, p=rng.dirichlet([2 if kind == "other sizes" else 8] * k))
    group[: 5 * k] = np.repeat(np.arange(k), 5)
    carrying = rng.normal(0, 4, (k, d))[group] + rng.normal(size=(n, d))
    shown = np.exp(carrying * rng.uniform(0.4, 0.9)) if kind == "orders of magnitude" else carrying
    columns = {f"group {j}": shown[:, j] for j in range(d)}
    columns |= {f"noise {j}": x for j, x in enumerate(_noise(kind, n, rng))}
    columns = {name: x * np.exp(rng.normal(0, 2)) for name, x in columns.items()}
    if kind == "flags":
        columns |= {f"flag {j}": (rng.random(n) < share) * 1.0 for j, share in enumerate(rng.uniform(0.05, 0.6, 4))}
    if kind.startswith("words"):
        shares = rng.dirichlet([0.35] * 4, size=(2, k if kind == "words of groups" else 1))
        columns |= {
            f"word {j}": np.array([rng.choice(list("abcd"), p=of[c % len(of)]) for c in group])
            for j, of in enumerate(shares)
        }
    frame = pd.DataFrame(columns)
    if kind == "words of groups":
        carrying = np.hstack([carrying, pd.get_dummies(frame[["word 0", "word 1"]]).to_numpy(float)])
    return Made(frame.iloc[:, rng.permutation(frame.shape[1])], group, carrying)


def _noise(kind: str, n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the columns of noise of a kind of table."""
    if kind == "correlated block":
        common = rng.normal(size=n)
        block = [0.85 * common + 0.5 * rng.normal(size=n) for _ in range(5)]
        return [*block, rng.normal(size=n), rng.normal(size=n)]
    if kind == "skewed noise":
        return [np.exp(rng.normal(size=n) * rng.uniform(0.5, 1.2)) for _ in range(5)]
    if kind == "even noise":
        return [rng.uniform(size=n) for _ in range(6)]
    how_many = {"5 of noise": 5, "20 of noise": 20, "flags": 2, "words of groups": 4, "words of noise": 4}
    return [rng.normal(size=n) for _ in range(how_many.get(kind, 0))]


def show(n_tables: int, first: int) -> None:
    """Print a line for each kind of table, and the means; IN: first: of the odd seeds, which are judged on."""
    seeds = range(2 * first + 1, 2 * (first + n_tables), 2)
    means = {kind: np.mean([_rand_of(made(kind, seed)) for seed in seeds], axis=0) for kind in KINDS}
    means["mean"] = np.mean([*means.values()], axis=0)
    lines = [[kind, *(f"{share:.2f}" for share in found[:-1]), f"{found[-1]:.0%}"] for kind, found in means.items()]
    print_table("\ngroups that show in some columns: adjusted Rand index", ["", *HEADS, "k right"], lines)


def _rand_of(table: Made) -> list[float]:
    """Return the index of each way, and whether the number of groups that is chosen is right."""
    k = len(np.unique(table.groups))
    chosen = explain(table.frame)
    made_of: dict[str, Any] = {
        "possible": KMeans(k, n_init=10, random_state=0).fit_predict(table.carrying),
        "known k": _clusters(explain(table.frame, n_clusters=k, method="imm")),
        "unit": _clusters(explain(table.frame, n_clusters=k, method="imm", standardize=True)),
        "chosen k": _clusters(chosen),
        "rules": chosen.predict(table.frame),
        "analyst": _by_an_analyst(table.frame),
        "mixture": _by_mixture(table.frame.select_dtypes("number")),
    }
    rand = [adjusted_rand_score(table.groups, made_of[head]) for head in HEADS]
    return [*rand, float(len(chosen.clusters) == k)]


def _clusters(ex: Any) -> np.ndarray:
    return ex._evidence.task.reference.labels


def _by_an_analyst(frame: pd.DataFrame) -> np.ndarray:
    numbers = frame.select_dtypes("number")
    skewed = [name for name in numbers if numbers[name].min() >= 0 and numbers[name].skew() > 1]
    table = pd.get_dummies(frame.assign(**{name: np.log1p(frame[name]) for name in skewed})).astype(float)
    rows = StandardScaler().fit_transform(table)
    found = [KMeans(k, n_init=10, random_state=0).fit_predict(rows) for k in range(2, 9)]
    return max(found, key=lambda labels: silhouette_score(rows, labels))


def _by_mixture(numbers: pd.DataFrame) -> np.ndarray:
    rows = StandardScaler().fit_transform(numbers)
    fitted = [GaussianMixture(k, n_init=3, reg_covar=1e-4, random_state=0).fit(rows) for k in range(1, 9)]
    return min(fitted, key=lambda one: one.bic(rows)).predict(rows)
