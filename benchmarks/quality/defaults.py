"""What `explain` does when nobody says anything: its clusters beside known groups, their number, no groups.

Tables with known groups are scikit-learn's and made ones: skewed columns, heavy tails, zeros with a tail, rare flags,
copies, words, odd rows and noise. On each stand the adjusted Rand index of the known groups and the clusters of
`explain` with the number of groups given, of `standardize=False` and True, of HDBSCAN on the numbers, and of
k-prototypes (pip install kmodes; "-" without it); the number that is chosen, and the agreement of the rules. Then
kinds of tables with groups and of tables without (`benchmarks/groups.py`), and how many are said to have some. Then
tables whose groups show in some columns alone; see `benchmarks.quality.some_columns`.

What `explain` does was chosen on made tables of seeds 0 to 3: ``--first 100`` judges on others.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from benchmarks.groups import WITH, WITHOUT
from benchmarks.quality import some_columns
from benchmarks.timing import print_table
from boxwood import explain
from boxwood.words.notes import lack_groups

KINDS = ("plain", "lognormal", "t", "zeros", "flags", "copies", "odd", "noise")


class Known(NamedTuple):
    """A table with known groups."""

    name: str
    frame: pd.DataFrame
    groups: np.ndarray


def tables(seeds: range) -> Iterator[Known]:
    """Yield tables with known groups, made ones for each of some seeds."""
    for name, load in (("iris", load_iris), ("wine", load_wine), ("cancer", load_breast_cancer)):
        data = load(as_frame=True)
        yield Known(name, data.data, data.target.to_numpy())
    for kind in KINDS:
        for seed in seeds:
            yield made(kind, seed)


def made(kind: str, seed: int, n: int = 1200) -> Known:
    """Return a made table: 3 to 5 groups in four numbers and two words, and what the kind adds or bends."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    k = 3 + seed % 3
    group = rng.choice(k, n, p=rng.dirichlet([4] * k))
    columns: dict[str, np.ndarray] = {}
    for j in range(4):
        middle = (rng.normal(size=k) * 2.2)[group]
        x = middle + (rng.standard_t(2, size=n) if kind == "t" and j < 3 else rng.normal(size=n))
        x = np.exp(x * 0.9) if kind == "lognormal" and j < 3 else x
        x = np.where(x > 0.5, np.exp(x), 0.0) if kind == "zeros" and j < 3 else x
        columns[f"number {j}"] = x * 10.0 ** rng.integers(-2, 4)
    for j in range(2):
        shares = rng.dirichlet([0.6] * 4, size=k)
        columns[f"word {j}"] = np.array([rng.choice(list("abcd"), p=shares[c]) for c in group])
    if kind == "flags":
        columns |= {f"flag {p}": rng.random(n) < p for p in (0.02, 0.05, 0.3)}
    if kind == "copies":
        first = columns["number 0"]
        columns |= {f"copy {j}": first + rng.normal(size=n) * first.std() / 100 for j in range(2)}
    if kind == "noise":
        columns |= {f"noise {j}": rng.normal(size=n) for j in range(4)}
    if kind == "odd":
        odd = rng.choice(n, 6, replace=False)
        columns["number 0"][odd] *= rng.choice([40.0, -60.0, 90.0], 6)
    return Known(f"{kind} {seed}", pd.DataFrame(columns), group)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--seeds", type=int, default=3, help="made tables of each kind")
    parser.add_argument("--first", type=int, default=0, help="first seed of tables")
    parser.add_argument("--without", type=int, default=25, help="tables of each kind with groups, and without")
    parser.add_argument("--beside", type=int, default=4, help="tables of each kind whose groups show in some columns")


def main(options: argparse.Namespace) -> None:
    """Print a line for each table with known groups, the means, and a line for each kind with groups or without."""
    warnings.simplefilter("ignore")
    found = [_of_table(each) for each in tables(range(options.first, options.first + options.seeds))]
    means = [f"{np.mean([row.rand[i] for row in found]):.3f}" for i in range(5)]
    right = f"{np.mean([row.n_groups == row.chosen for row in found]):.0%} right"
    seen = f"{np.mean([row.sees for row in found]):.0%} yes"
    header = [
        "",
        "default",
        "as it is",
        "unit",
        "HDBSCAN",
        "k-prototypes",
        "groups",
        "chosen",
        "smallest",
        "agreement",
        "seen",
    ]
    lines = [row.cells for row in found]
    print_table("adjusted Rand index of known groups", header, [*lines, ["mean", *means, "", right, "", "", seen]])
    without = range(options.first, options.first + options.without)
    for what, kinds in (("with", WITH), ("without", WITHOUT)):
        called = {kind: _called_groups(make, without) for kind, make in kinds.items()}
        shares = [[kind, f"{share:.1%}"] for kind, share in {**called, "mean": np.mean([*called.values()])}.items()]
        print_table(f"\ntables {what} groups", ["kind", "said to have some"], shares)
    some_columns.show(options.beside, options.first)


class Found(NamedTuple):
    """What came for a table."""

    name: str
    rand: list[float]
    n_groups: int
    chosen: int
    smallest: int
    agreement: float
    sees: bool

    @property
    def cells(self) -> list[str]:
        """Its line."""
        counted = [str(self.n_groups), str(self.chosen), str(self.smallest)]
        rand = ["-" if np.isnan(share) else f"{share:.2f}" for share in self.rand]
        return [self.name, *rand, *counted, f"{self.agreement:.1%}", "yes" if self.sees else "no"]


def _of_table(known: Known) -> Found:
    k, numbers = len(np.unique(known.groups)), known.frame.select_dtypes("number")
    made_of = {how: explain(known.frame, n_clusters=k, standardize=how, method="imm") for how in ("auto", False, True)}
    rand = [adjusted_rand_score(known.groups, ex._evidence.task.reference.labels) for ex in made_of.values()]
    by_density = HDBSCAN(min_cluster_size=len(known.frame) // 20).fit_predict(StandardScaler().fit_transform(numbers))
    chosen, asked = explain(known.frame), explain(known.frame, n_clusters=k)
    rand += [adjusted_rand_score(known.groups, by_density), _of_k_prototypes(known, k)]
    smallest = round(min(one.size for one in asked.clusters))
    return Found(known.name, rand, k, len(chosen.clusters), smallest, asked.agreement, not lack_groups(asked.notes))


def _of_k_prototypes(known: Known, k: int) -> float:
    """Return the adjusted Rand index of k-prototypes on scaled numbers; NaN where the package is missing."""
    try:
        from kmodes.kprototypes import KPrototypes
    except ImportError:
        return float("nan")
    numbers = known.frame.select_dtypes("number")
    words = known.frame.drop(columns=numbers.columns)
    table = np.column_stack([StandardScaler().fit_transform(numbers), words.to_numpy(dtype=object)])
    if not len(words.columns):
        return adjusted_rand_score(known.groups, KMeans(k, n_init=10, random_state=0).fit_predict(table))
    coded = list(range(len(numbers.columns), table.shape[1]))
    made = KPrototypes(k, init="Cao", n_init=3, random_state=0).fit_predict(table, categorical=coded)
    return adjusted_rand_score(known.groups, made)


def _called_groups(make: Callable[[np.random.Generator], pd.DataFrame], seeds: range) -> float:
    """Return the share of tables of a kind whose rows are said to show groups."""
    called = 0
    for seed in seeds:
        frame = make(np.random.default_rng(seed))
        ex = explain(frame, n_clusters=min(2 + seed % 6, len(frame.drop_duplicates())), method="imm")
        called += not lack_groups(ex.notes)
    return called / len(seeds)
