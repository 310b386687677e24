"""What each candidate and each step of "auto" is worth and costs, and the curve of quality and time without them.

Each is left out alone first. It is worth by how much more the trees cost then, and how much less they agree; it costs
the time that is saved. For the curve they are left out one after another, those that are worth least for their time
first. scikit-learn's tree is a candidate only where agreement alone counts, so it is none here.

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
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.cases import Clusters, clusters_of, numbers_of_clusters, tables_of, timed_tables
from benchmarks.timing import print_table
from boxwood import Explanation, explain
from boxwood.explanation.choose import _candidates, search

RUNS = 2  # the least of so many times counts
LEAST_SECONDS = 0.005  # share of the whole time: less that is saved cannot be told from noise


class Outcomes(NamedTuple):
    """Price (at least 1), agreement and processor seconds of each case, and the seconds of one CART."""

    prices: np.ndarray
    agreements: np.ndarray
    seconds: np.ndarray
    of_cart: np.ndarray  # processor seconds of one CART

    def loss_to(self, whole: "Outcomes") -> float:
        """Return by which share these trees cost more on the mean, and agree less."""
        return float(np.log(self.prices / whole.prices).mean() + (whole.agreements - self.agreements).mean())


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="names of tables; all without it")
    parser.add_argument("--most-values", type=int, default=60_000, help="of a table (%(default)s)")
    parser.add_argument("--cases", type=int, default=40, help="tables and numbers of clusters (%(default)s)")
    parser.add_argument("--timed", action="store_true", help="the tables of the part speed, each by itself")
    parser.add_argument("--times", nargs="+", type=int, default=[1, 2], help="leaves for each cluster")
    parser.add_argument("--no-curve", dest="curve", action="store_false", help="leave each out alone, and no more")


def main(options: argparse.Namespace) -> None:
    """Print a line for everything that is left out, and the curve, for each number of leaves."""
    chosen = _timed(options) if options.timed else _cases(options)
    if not chosen:
        sys.exit(f"none of these tables has at most {options.most_values} values and enough rows")
    explain(chosen[0].X, chosen[0].kmeans)  # compiles
    for cases in [[case] for case in chosen] if options.timed else [chosen]:
        _print(cases, options)


def _print(chosen: Sequence[Clusters], options: argparse.Namespace) -> None:
    header = ["without", "price", "dearer in", "by at most", "cheaper in", "agreement", "loss, 0.01%"]
    header += ["CPU s", "saved", "/ CART"]
    what = f"{len(chosen)} cases" if len(chosen) > 1 else chosen[0].key
    for times in options.times:
        found = _outcomes(chosen, times, {name: [name] for name in changes()})
        whole = found["nothing"]
        lines = [_line(name, outcomes, whole) for name, outcomes in found.items()]
        print_table(f"\n{what}, {times} leaves for each cluster: one left out", header, lines)
        if options.curve:
            order = in_order(found, whole)
            found = _outcomes(chosen, times, {f"and {order[n]}": order[: n + 1] for n in range(len(order))})
            lines = [_line(name, outcomes, found["nothing"]) for name, outcomes in found.items()]
            print_table("The curve: more and more left out", header, lines)


def _timed(options: argparse.Namespace) -> list[Clusters]:
    """Return the clusters of the tables on which time is measured."""
    names = options.tables or [""]
    found = [table for table in timed_tables() if any(name in table.name for name in names)]
    return [clusters_of(table, table.k, 0, n_init=1) for table in found if table.X.size <= options.most_values]


def _cases(options: argparse.Namespace) -> list[Clusters]:
    """Return so many cases, spread over tables and numbers of clusters, by size."""
    pairs = [
        (table, k)
        for table in tables_of(options)
        if table.X.size <= options.most_values
        for k in numbers_of_clusters(table)
    ]
    pairs.sort(key=lambda pair: pair[0].X.size * pair[1])
    places = np.linspace(0, len(pairs) - 1, min(options.cases, len(pairs))).round().astype(int)
    return [clusters_of(*pairs[place], 0) for place in places]


def changes() -> dict[str, Callable[[], AbstractContextManager[object]]]:
    """Return what can be left out, by name, as functions that make a patch; several patches add up."""
    candidates = {
        "imm": _shorter(_candidates, "METHODS", "imm"),
        "greedy, shallow": _shorter(_candidates, "METHODS", "shallow"),  # it grows both
        "exkmc-root": _shorter(search, "CANDIDATES", "from the root"),
    }
    impurities = {name: _shorter(_candidates, "IMPURITIES", key) for key, name in _candidates.IMPURITIES.items()}
    steps = {
        "pruning back": _set(_candidates, "OVERGROWN", 1),
        "refinement": _set(search, "REFINED", 0),
        "small subtrees": _set(search, "RESOLVED", 0),
        "exact search": _set(search, "SOLVED", 0),
        "swaps": _set(search, "SWAPPED", 0),
    }
    return candidates | impurities | steps


def in_order(alone: dict[str, Outcomes], whole: Outcomes) -> list[str]:
    """Return the names in the order in which they are left out; IMM stays, as there must be a tree."""
    least = LEAST_SECONDS * whole.seconds.sum()

    def worth(name: str) -> float:
        saved = whole.seconds.sum() - alone[name].seconds.sum()
        return alone[name].loss_to(whole) / max(saved, least)

    return sorted(alone.keys() - {"nothing", "imm"}, key=lambda name: (worth(name), name))


def _shorter(module: ModuleType, name: str, key: str) -> Callable[[], AbstractContextManager[object]]:
    def change() -> AbstractContextManager[object]:
        kept = getattr(module, name)  # as it is then: other changes may have made it shorter
        return patch.object(module, name, {each: kept[each] for each in kept if each != key})

    return change


def _set(module: ModuleType, name: str, value: int) -> Callable[[], AbstractContextManager[object]]:
    return lambda: patch.object(module, name, value)


def _outcomes(cases: Sequence[Clusters], times: int, left_out: dict[str, list[str]]) -> dict[str, Outcomes]:
    """Return what comes out without each list of changes, and without "nothing".

    They take turns at each case, and the least of a few times counts, as machines are shared.
    """
    lists: dict[str, list[str]] = {"nothing": [], **left_out}
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in lists}
    for case in cases:
        explained: dict[str, Explanation] = {}
        of_cart = min(_seconds_of_cart(case, times) for _ in range(RUNS))
        seconds = dict.fromkeys(lists, np.inf)
        for _ in range(RUNS):
            for name, names in lists.items():
                ex, took = _explained(case, times, names)
                seconds[name] = min(seconds[name], took)
                explained[name] = ex
        for name, ex in explained.items():
            found[name].append((max(ex.price, 1.0), ex.agreement, seconds[name], of_cart))
    return {name: Outcomes(*np.array(rows).T) for name, rows in found.items()}


def _explained(case: Clusters, times: int, left_out: Sequence[str]) -> tuple[Explanation, float]:
    """Return the explanation without what is left out, and processor seconds."""
    with ExitStack() as stack:
        for name in left_out:
            stack.enter_context(changes()[name]())
        start = time.process_time()
        ex = explain(case.X, case.kmeans, max_leaf_nodes=times * case.k, n_jobs=1)
        return ex, time.process_time() - start


def _seconds_of_cart(case: Clusters, times: int) -> float:
    start = time.process_time()
    DecisionTreeClassifier(max_leaf_nodes=times * case.k, random_state=0).fit(case.X, case.kmeans.labels_)
    return time.process_time() - start


def _line(name: str, found: Outcomes, whole: Outcomes) -> list[str]:
    ratio = found.prices / whole.prices
    return [
        name,
        f"{np.exp(np.log(found.prices).mean()):.5f}",
        str((ratio > 1 + 1e-9).sum()),
        f"{ratio.max() - 1:.2%}",
        str((ratio < 1 - 1e-9).sum()),
        f"{found.agreements.mean():.5f}",
        f"{1e4 * found.loss_to(whole):.1f}",
        f"{found.seconds.sum():.3g}",
        f"{1 - found.seconds.sum() / whole.seconds.sum():.0%}",
        f"{found.seconds.sum() / found.of_cart.sum():.2f}",
    ]
