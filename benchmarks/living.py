"""How often planted changes are named rightly, and how often a change is told where there is none.

`python -m benchmarks.living` tries 600 cases of each; `--cases N` tries others. A case is a table of three to five
clusters on numbers and words, of 2,000 rows or more, an explanation of it, and the rows of the next month. Most of the
time goes into the search for trees; `--method cart` grows them without one, ten times as fast.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from tests.models import read_model

import boxwood as bw

WORDS = ("AT", "CH", "DE", "FR", "US")


class Month(NamedTuple):
    """A table of customers, and how it was drawn: where the clusters lie, and how many rows each has."""

    rows: pd.DataFrame
    labels: np.ndarray
    centers: np.ndarray
    sizes: np.ndarray


def month(rng: np.random.Generator, centers: np.ndarray, sizes: np.ndarray) -> Month:
    """Return rows around centres, in a random order, with a column of words."""
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    numbers = centers[labels] + rng.normal(size=(len(labels), centers.shape[1]))
    rows = pd.DataFrame(numbers, columns=[f"c{j}" for j in range(centers.shape[1])])
    words = np.where(rng.random(len(labels)) < 0.8, labels % len(WORDS), rng.integers(len(WORDS), size=len(labels)))
    rows["country"] = np.array(WORDS)[words]
    return Month(rows, np.array([f"s{label}" for label in labels]), centers, sizes)


def first(rng: np.random.Generator) -> Month:
    """Return a month to explain: centres on a grid, six deviations apart or more in some column."""
    k, d, n = int(rng.integers(3, 6)), int(rng.integers(3, 6)), int(rng.integers(2000, 4000))
    places = rng.permutation(4**d)[:k]
    centers = 20.0 + 6.0 * np.array([[place // 4**j % 4 for j in range(d)] for place in places])
    shares = rng.dirichlet(np.full(k, 20.0))
    return month(rng, centers, np.maximum(np.round(n * shares).astype(int), 200))


method = "auto"  # of `explain`


def tree_of(rows: pd.DataFrame, labels: np.ndarray) -> Any:
    """Return the rules of clusters."""
    return bw.explain(rows, labels, method=method)


def explained(before: Month) -> Any:
    """Return the rules of a month, as a saved model has them."""
    return read_model(tree_of(before.rows, before.labels).to_json())


# ------------------------------------------------------------------------- one kind of change each: is it named rightly


def shift(rng: np.random.Generator) -> bool:
    """A column moves by one deviation or two."""
    before = first(rng)
    ex = explained(before)
    column = rng.choice([ex.columns[j] for j in ex.tree.features.tolist() if j not in ex._coded_columns])
    after = month(rng, before.centers, before.sizes).rows
    after[column] += rng.choice([-1, 1]) * rng.uniform(1, 2)
    moved = [one.name for one in ex.drift(after).changes if one.change in ("moved", "another unit")]
    return moved[:1] == [column] and ex.drift(after).changes[0].change == "moved"


def by_words(before: Month) -> Month:
    """Return a month whose customers of two countries are a cluster by themselves, so that rules ask for words."""
    return before._replace(labels=np.where(before.rows["country"].isin(WORDS[:2]), "alps", before.labels))


def words(rng: np.random.Generator) -> bool:
    """Most rows of a country are of another one of the same cluster."""
    before = by_words(first(rng))
    ex, country = explained(before), before.rows["country"].to_numpy()
    one, other = rng.permutation(WORDS[:2])
    becomes = (country == one) & (rng.random(len(country)) < rng.uniform(0.7, 1))
    told = ex.drift(before.rows.assign(country=np.where(becomes, other, country))).changes
    return [(one.change, one.name) for one in told] == [("moved", "country")]


def cents(rng: np.random.Generator) -> bool:
    """A column of euros is one of cents."""
    before = first(rng)
    ex = explained(before)
    column = rng.choice([ex.columns[j] for j in ex.tree.features.tolist() if j not in ex._coded_columns])
    after = month(rng, before.centers, before.sizes).rows
    after[column] *= 100
    told = ex.drift(after).changes[0]
    return (told.change, told.name, told.now) == ("another unit", column, 100.0)


def grows(rng: np.random.Generator) -> bool:
    """A cluster has half as many rows more, or twice as many."""
    before = first(rng)
    ex, grown = explained(before), int(rng.integers(len(before.sizes)))
    sizes = before.sizes.copy()
    sizes[grown] = round(sizes[grown] * rng.uniform(1.5, 2))
    told = ex.drift(month(rng, before.centers, sizes).rows).changes
    is_alone = not any(one.change in ("moved", "another unit") for one in told)
    return is_alone and bool(told) and (told[0].change, told[0].name) == ("grew", f"s{grown}")


def after_of(rng: np.random.Generator, before: Month, labels: Callable[[Month], np.ndarray]) -> tuple[Any, Any]:
    """Return the rules of a month as a saved model, and those of the next one, with other labels in another order."""
    after = month(rng, before.centers, np.round(before.sizes * rng.uniform(0.95, 1.05)).astype(int))
    return explained(before), tree_of(after.rows, labels(after))


def permuted(rng: np.random.Generator, labels: np.ndarray) -> np.ndarray:
    """Return labels under other names, as a clusterer numbers its clusters each time anew."""
    names = np.unique(labels)
    others = dict(zip(names, rng.permutation([f"t{i}" for i in range(len(names))]), strict=True))
    return np.array([others[label] for label in labels])


def told_of(old: Any, new: Any, rows: Any = None) -> dict[str, list[tuple[int, int]]]:
    """Return the changes that a match tells, each with its numbers of clusters before and after."""
    told: dict[str, list[tuple[int, int]]] = {}
    for one in bw.match(old, new, rows).changes:
        told.setdefault(one.change, []).append((len(one.old), len(one.new)))
    return {change: found for change, found in told.items() if change != "same"}


def split(rng: np.random.Generator) -> bool:
    """A cluster is two, parted at the middle of a column, under new names."""
    before = first(rng)
    parted, column = int(rng.integers(len(before.sizes))), int(rng.integers(before.centers.shape[1]))

    def labels(after: Month) -> np.ndarray:
        is_second = after.rows[f"c{column}"].to_numpy() > before.centers[parted, column]
        return permuted(rng, np.where((after.labels == f"s{parted}") & is_second, "second", after.labels))

    return told_of(*after_of(rng, before, labels)) == {"split": [(1, 2)]}


def merge(rng: np.random.Generator) -> bool:
    """Two clusters are one, under new names."""
    before = first(rng)
    gone, kept = rng.permutation(len(before.sizes))[:2]

    def labels(after: Month) -> np.ndarray:
        return permuted(rng, np.where(after.labels == f"s{gone}", f"s{kept}", after.labels))

    return told_of(*after_of(rng, before, labels)) == {"merged": [(2, 1)]}


def comes(rng: np.random.Generator) -> bool:
    """A cluster comes where none was, under new names."""
    before = first(rng)
    others = [np.array(place) for place in np.ndindex(*[4] * before.centers.shape[1])]
    free = [center for other in others if not (before.centers == (center := 20.0 + 6.0 * other)).all(axis=1).any()]
    centers = np.vstack([before.centers, free[int(rng.integers(len(free)))]])
    sizes = np.append(np.round(before.sizes * rng.uniform(0.95, 1.05)).astype(int), int(rng.integers(200, 600)))
    after = month(rng, centers, sizes)
    new = tree_of(after.rows, permuted(rng, after.labels))
    return told_of(explained(before), new) == {"new": [(0, 1)]}


def keeps_names(rng: np.random.Generator) -> bool:
    """Clusters of the next month, in another order and under other names, get the names of before."""
    before = first(rng)
    after = month(rng, before.centers, before.sizes)
    new = tree_of(after.rows, permuted(rng, after.labels)).rename_like(explained(before))
    found = new.predict(after.rows) == after.labels
    return bool(found.mean() > 0.9) and sorted(new.names) == sorted(set(after.labels))


def unchanged(rng: np.random.Generator) -> bool:
    """Rows of the same table, drawn again, with their labels: nothing is told. Half of them have rules on words."""
    before = first(rng)
    before = by_words(before) if rng.random() < 0.5 else before
    ex = explained(before)
    drawn = rng.integers(len(before.rows), size=len(before.rows))
    return not ex.drift(before.rows.iloc[drawn].reset_index(drop=True), before.labels[drawn]).changes


def of_a_law(rng: np.random.Generator) -> Callable[[int], tuple[pd.DataFrame, np.ndarray]]:
    """Return what draws rows of one law, with words and gaps, and labels by two columns or by a coin alone."""
    d, m, k = int(rng.integers(1, 7)), int(rng.integers(0, 3)), int(rng.integers(2, 4))
    gaps, noise = rng.choice([0.0, 0.1]), rng.choice([1.0, rng.uniform(0.05, 0.5)])

    def draw(n: int) -> tuple[pd.DataFrame, np.ndarray]:
        numbers = rng.normal(size=(n, d))
        by = numbers[:, 0] + (numbers[:, 1] if d > 1 else 0)
        rows = pd.DataFrame(numbers, columns=[f"c{j}" for j in range(d)])
        for j in range(m):
            rows[f"w{j}"] = rng.choice(WORDS, n)
        rows = rows.mask(rng.random(rows.shape) < gaps)
        labels = np.digitize(by, [-0.5, 0.8][: k - 1])
        return rows, np.where(rng.random(n) < noise, rng.integers(k, size=n), labels)

    return draw


def same_law(rng: np.random.Generator) -> bool:
    """Labels of new rows of the same law, by a coin or with some signal, few rows or many: nothing is told."""
    draw = of_a_law(rng)
    rows, labels = draw(int(rng.choice([100, 300, 1000, 3000])))
    tried = bw.explain(rows, labels, method=method, max_leaf_nodes=int(rng.integers(2, 9)))
    new, theirs = draw(int(rng.choice([200, 2000, 20_000])))
    return not tried.drift(new, theirs).changes


def flipped(rng: np.random.Generator) -> bool:
    """A fifth of the labels is any other one: agreement is said to fall."""
    before = first(rng)
    after, k = month(rng, before.centers, before.sizes), len(before.sizes)
    others = np.array([f"s{label}" for label in rng.integers(k, size=len(after.labels))])
    labels = np.where(rng.random(len(after.labels)) < 0.2 * k / (k - 1), others, after.labels)
    told = explained(before).drift(after.rows, labels).changes
    return any(one.change == "agreement" for one in told)


CASES: dict[str, Callable[[np.random.Generator], bool]] = {
    "a column moves": shift,
    "euros become cents": cents,
    "words become others": words,
    "a cluster grows": grows,
    "a cluster splits": split,
    "two clusters merge": merge,
    "a cluster comes": comes,
    "names survive": keeps_names,
    "nothing changes": unchanged,
    "labels of the same law": same_law,
    "labels are flipped": flipped,
}


def right(kind: str, cases: range) -> list[int]:
    """Return the seeds of the cases of a kind that are named rightly."""
    return [seed for seed in cases if CASES[kind](np.random.default_rng(seed))]


def main() -> None:
    """Print a line for each kind."""
    global method
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=600)
    parser.add_argument("--method", default=method, help="method of explain")
    options = parser.parse_args()
    method, cases = options.method, range(options.cases)
    for kind in CASES:
        found = right(kind, cases)
        wrong = sorted({*cases} - {*found})
        print(f"{kind:22} {len(found):4} of {len(cases)} right", *(["not", *wrong] if wrong else []), flush=True)


if __name__ == "__main__":
    main()
