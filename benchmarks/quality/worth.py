"""What each candidate and each step of "auto" is worth and costs, and the curve of quality and time without them.

Each is left out alone first. It is worth what the trees lose then by the goal that "auto" pursues in a case: how much
more they cost, or how many more of the rows are outside their cluster. It costs the time that is saved. The cases are
clusters of k-means, whose cost counts, and classes, where agreement counts if they are not compact. For the curve they
are left out one after another, those that are worth least for their time first.

With `--mixed` the tables have words and gaps, and what is left out are the columns on which trees are grown for these,
and the sets that are chosen anew afterwards.

Times are those of one thread, and a column has their ratio to one scikit-learn CART on the same labels.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from types import ModuleType
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.cases import Clusters, clusters_of, numbers_of_clusters, tables_of, timed_tables
from benchmarks.quality.mixed import clusterings, in_one_hot, in_words, knocked_out, shortened
from benchmarks.tables import Table
from benchmarks.timing import print_table
from boxwood import Explanation, explain
from boxwood.explanation.choose import _candidates, search, settings
from boxwood.explanation.choose.on_table import TableSearch

GAPS = 0.2  # of the values of every other table of words
LEAST_SECONDS = 0.005  # share of the whole time: less that is saved cannot be told from noise


class Outcomes(NamedTuple):
    """What comes out for each case: price (at least 1), agreement, processor seconds, and what counts."""

    prices: np.ndarray
    agreements: np.ndarray
    seconds: np.ndarray
    of_cart: np.ndarray  # processor seconds of one CART
    by_cost: np.ndarray  # whether "auto" looks at the cost; else at agreement alone

    def losses_to(self, whole: "Outcomes") -> np.ndarray:
        """Return for each case the share by which the tree costs more, or the share of the rows that agree no more."""
        return np.where(self.by_cost, self.prices / whole.prices - 1, whole.agreements - self.agreements)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="names of tables; all without it")
    parser.add_argument("--most-values", type=int, default=60_000, help="of a table (%(default)s)")
    parser.add_argument("--cases", type=int, default=40, help="tables and numbers of clusters (%(default)s)")
    parser.add_argument("--classes", type=int, default=20, help="tables whose classes are the clusters (%(default)s)")
    parser.add_argument("--runs", type=int, default=2, help="the least seconds of so many count (%(default)s)")
    parser.add_argument("--timed", action="store_true", help="the tables of the part speed, each by itself")
    parser.add_argument("--times", nargs="+", type=int, default=[1, 2], help="leaves for each cluster")
    parser.add_argument("--mixed", action="store_true", help="tables of words and gaps, and what is done for these")
    parser.add_argument("--no-curve", dest="curve", action="store_false", help="leave each out alone, and no more")


def main(options: argparse.Namespace) -> None:
    """Print a line for everything that is left out, and the curve, for each number of leaves."""
    chosen = _mixed(options) if options.mixed else _timed(options) if options.timed else _cases(options)
    if not chosen:
        sys.exit(f"none of these tables has at most {options.most_values} values and enough rows")
    for case in (chosen[0], chosen[-1]):
        explain(case.X, case.clusters)  # compiles
    for cases in [[case] for case in chosen] if options.timed else [chosen]:
        _print(cases, options)


def _print(chosen: Sequence[Clusters], options: argparse.Namespace) -> None:
    header = ["without", "price", "agreement", "worse in", "better in", "mean loss", "by at most", "in"]
    header += ["CPU s", "saved", "/ CART"]
    what = f"{len(chosen)} cases" if len(chosen) > 1 else chosen[0].key
    for times in options.times:
        names = changes_for_words() if options.mixed else changes()
        found = _outcomes(chosen, times, {name: [name] for name in names}, options.runs)
        whole = found["nothing"]
        keys = [case.key for case in chosen]
        lines = [_line(name, outcomes, whole, keys) for name, outcomes in found.items()]
        print_table(f"\n{what}, {times} leaves for each cluster: one left out", header, lines)
        if options.curve:
            order = in_order(found, whole)
            left_out = {f"and {order[n]}": order[: n + 1] for n in range(len(order))}
            found = _outcomes(chosen, times, left_out, options.runs)
            lines = [_line(name, outcomes, found["nothing"], keys) for name, outcomes in found.items()]
            print_table("The curve: more and more left out", header, lines)


class _Case(NamedTuple):
    """A table and its clusters: k-means, or the class of each row."""

    X: np.ndarray | pd.DataFrame
    clusters: KMeans | np.ndarray
    k: int
    key: str

    @classmethod
    def of(cls, case: Clusters) -> "_Case":
        return cls(case.X, case.kmeans, case.k, case.key)

    @property
    def labels(self) -> np.ndarray:
        return getattr(self.clusters, "labels_", self.clusters)


def _timed(options: argparse.Namespace) -> list[_Case]:
    """Return the clusters of the tables on which time is measured."""
    names = options.tables or [""]
    found = [table for table in timed_tables() if any(name in table.name for name in names)]
    return [_Case.of(clusters_of(table, table.k, 0, n_init=1)) for table in found if _fits(table, options)]


def _mixed(options: argparse.Namespace) -> list[_Case]:
    """Return so many tables half of whose columns are words, every other one with gaps, with classes or clusters."""
    tables = sorted((table for table in tables_of(options) if _fits(table, options)), key=lambda table: table.X.size)
    found = []
    for place in _places(len(tables), options.cases):
        rng = np.random.default_rng(place)
        table = shortened(tables[place], rng)
        frame = in_words(table.X, rng)
        labels = next(labels for _, labels in clusterings(table, frame))
        frame = frame if len(found) % 2 else knocked_out(frame, table.X, GAPS, len(found) % 4 == 0, rng)
        found.append(_Case(frame, labels, int(labels.max()) + 1, f"{table.name} {len(frame)}x{frame.shape[1]} mixed"))
    return found


def _fits(table: Table, options: argparse.Namespace) -> bool:
    return table.X.size <= options.most_values


def _cases(options: argparse.Namespace) -> list[_Case]:
    """Return so many cases of k-means, spread over tables and numbers of clusters, by size, and so many of classes."""
    found = sorted((table for table in tables_of(options) if _fits(table, options)), key=lambda table: table.X.size)
    pairs = [(table, k) for table in found for k in numbers_of_clusters(table)]
    pairs.sort(key=lambda pair: pair[0].X.size * pair[1])
    with_classes = [table for table in found if table.classes.any()]
    return [
        *(_Case.of(clusters_of(*pairs[place], 0)) for place in _places(len(pairs), options.cases)),
        *(_of_classes(with_classes[place]) for place in _places(len(with_classes), options.classes)),
    ]


def _places(n: int, most: int) -> list[int]:
    """Return at most so many of the places from 0 to n - 1, evenly spread."""
    return [] if n == 0 else np.linspace(0, n - 1, min(most, n)).round().astype(int).tolist()


def _of_classes(table: Table) -> _Case:
    return _Case(table.X, table.classes, table.k, f"{table.name} {table.X.shape[0]}x{table.X.shape[1]} classes")


def changes() -> dict[str, Callable[[], AbstractContextManager[object]]]:
    """Return what can be left out, by name, as functions that make a patch; several patches add up."""
    candidates = {
        "imm": _shorter(_candidates, "METHODS", "imm"),
        "greedy, shallow": _shorter(_candidates, "METHODS", "shallow"),  # it grows both
        "outer penalties": _set(settings, "CLEARLY", 0.0),
        "exkmc": _shorter(_candidates, "LOSSES", "exkmc"),
        "expand": _shorter(_candidates, "LOSSES", "expand"),
        "from the root": _shorter(search, "CANDIDATES", "from the root"),
        "matched": _set(_candidates, "matched", lambda tree, task: tree),
    }
    impurities = {name: _shorter(_candidates, "IMPURITIES", key) for key, name in _candidates.IMPURITIES.items()}
    steps = {
        "pruning back": _set(settings, "OVERGROWN", 1),
        "refinement": _at_most(settings, "REFINED", 0),
        "refinement of the second best": _at_most(settings, "REFINED", 1),
        "free leaves elsewhere": _set(search, "refilled", lambda tree, *_, **__: tree),
        "small subtrees": _set(settings, "RESOLVED", 0),
        "exact search": _set(settings, "SOLVED", 0),
        "swaps": _set(settings, "SWAPPED", 0),
    }
    return candidates | impurities | steps


def changes_for_words() -> dict[str, Callable[[], AbstractContextManager[object]]]:
    """Return what can be left out for tables of words and gaps."""
    return {
        "one-hot columns": _set(TableSearch, "on_one_hot", lambda table: None),
        "every set": _set(TableSearch, "on_every_set", lambda table: None),
        "sets chosen anew": _set(TableSearch, "_with_refined_categories", lambda table, tree, search: tree),
    }


def in_order(alone: dict[str, Outcomes], whole: Outcomes) -> list[str]:
    """Return the names in the order in which they are left out; IMM stays, as there must be a tree."""
    least = LEAST_SECONDS * whole.seconds.sum()

    def worth(name: str) -> float:
        saved = whole.seconds.sum() - alone[name].seconds.sum()
        return float(alone[name].losses_to(whole).mean()) / max(saved, least)

    return sorted(alone.keys() - {"nothing", "imm"}, key=lambda name: (worth(name), name))


def _shorter(module: ModuleType, name: str, key: str) -> Callable[[], AbstractContextManager[object]]:
    def change() -> AbstractContextManager[object]:
        kept = getattr(module, name)  # as it is then: other changes may have made it shorter
        return patch.object(module, name, {each: kept[each] for each in kept if each != key})

    return change


def _at_most(module: ModuleType, name: str, value: int) -> Callable[[], AbstractContextManager[object]]:
    return lambda: patch.object(module, name, min(value, getattr(module, name)))


def _set(module: ModuleType | type, name: str, value: object) -> Callable[[], AbstractContextManager[object]]:
    return lambda: patch.object(module, name, value)


def _outcomes(cases: Sequence[_Case], times: int, left_out: dict[str, list[str]], runs: int) -> dict[str, Outcomes]:
    """Return what comes out without each list of changes, and without "nothing".

    They take turns at each case, and the least of a few times counts, as machines are shared.
    """
    lists: dict[str, list[str]] = {"nothing": [], **left_out}
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in lists}
    for case in cases:
        explained: dict[str, Explanation] = {}
        of_cart = min(_seconds_of_cart(case, times) for _ in range(runs))
        seconds = dict.fromkeys(lists, np.inf)
        for _ in range(runs):
            for name, names in lists.items():
                ex, took = _explained(case, times, names)
                seconds[name] = min(seconds[name], took)
                explained[name] = ex
        for name, ex in explained.items():
            by_cost = (
                ex.search_report is not None and not ex.search_report.reason
            )  # the reason to look at agreement alone
            found[name].append((max(ex.price, 1.0), ex.agreement, seconds[name], of_cart, by_cost))
        print(f"{case.key}, {times} leaves for each cluster", file=sys.stderr, flush=True)
    return {name: Outcomes(*np.array(rows).T) for name, rows in found.items()}


def _explained(case: _Case, times: int, left_out: Sequence[str]) -> tuple[Explanation, float]:
    """Return the explanation without what is left out, and processor seconds."""
    with ExitStack() as stack:
        for name in left_out:
            stack.enter_context((changes() | changes_for_words())[name]())
        start = time.process_time()
        ex = explain(case.X, case.clusters, max_leaf_nodes=times * case.k, n_jobs=1)
        return ex, time.process_time() - start


def _seconds_of_cart(case: _Case, times: int) -> float:
    X = in_one_hot(case.X) if isinstance(case.X, pd.DataFrame) else case.X
    start = time.process_time()
    DecisionTreeClassifier(max_leaf_nodes=times * case.k, random_state=0).fit(X, case.labels)
    return time.process_time() - start


def _line(name: str, found: Outcomes, whole: Outcomes, keys: Sequence[str]) -> list[str]:
    losses = found.losses_to(whole)
    return [
        name,
        f"{np.exp(np.log(found.prices).mean()):.5f}",
        f"{found.agreements.mean():.5f}",
        str((losses > 1e-9).sum()),
        str((losses < -1e-9).sum()),
        f"{losses.mean():.3%}",
        f"{losses.max():.2%}",
        keys[int(losses.argmax())] if losses.max() > 1e-9 else "-",
        f"{found.seconds.sum():.3g}",
        f"{1 - found.seconds.sum() / whole.seconds.sum():.0%}",
        f"{found.seconds.sum() / found.of_cart.sum():.2f}",
    ]
