"""The benchmark page: quality, speed and memory of boxwood beside its peers, with the command under each number.

`python -m benchmarks.bench_page` writes `docs/benchmarks.md`; `--small` takes fewer tables, all of them small; `--only
PART ...` writes the named parts to standard output alone. A peer that is not installed is named on the page. Make it
twice: the first run compiles loops, which its times hold.
"""

import argparse
import contextlib
import importlib.util
import io
import itertools
import os
import platform
import re
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sklearn
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import boxwood
from benchmarks.quality import agreement as contree
from benchmarks.quality.cases import clusters_of, numbers_of_clusters, timed_tables
from benchmarks.quality.compare import run
from benchmarks.quality.judge import CHEAPER, Outcome, outcome_of_labels
from benchmarks.quality.outside import SEEDS, shares
from benchmarks.quality.report import Case
from benchmarks.tables import Table, tables
from boxwood import Reference, explain, grow

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
COMMAND = "python -m benchmarks.bench_page"
ENOUGH = 600.0  # seconds for ConTree
RUNS = 3  # the least processor time of so many counts
LONG = 3.0  # seconds of a task that is not run again
LEAST_SECONDS = 0.1  # of a run, in which a short task is repeated
OURS = ("ExKMC from the root", "ExKMC from IMM", "Ex-Greedy", "ExShallow")  # peers in boxwood's own code
MEMORY = {  # what a fresh process does with a Parquet file of `columns` c0, c1, … and a column "label"
    "nothing": "",
    "the table in memory": "X, y = rows()",
    "scikit-learn's CART": "X, y = rows(); DecisionTreeClassifier(max_leaf_nodes=10, random_state=0).fit(X, y)",
    "boxwood, IMM in memory": "X, y = rows(); boxwood.explain(X, y, method='imm', n_jobs=1)",
    "boxwood, IMM from the file": "boxwood.explain(boxwood.scan(path), 'label', method='imm', n_jobs=1)",
}
PROCESS = """
import pathlib, re, resource, sys
import boxwood, numpy as np, pyarrow.parquet as pq
from sklearn.tree import DecisionTreeClassifier
path = sys.argv[1]
def rows():
    table = pq.read_table(path)
    y = table["label"].to_numpy()
    return np.column_stack([table[name].to_numpy() for name in table.column_names if name != "label"]), y
boxwood.explain(np.random.default_rng(0).random((50, 2)), np.arange(50) % 2, method="imm", n_jobs=1)
{}
status = pathlib.Path("/proc/self/status")  # the count of getrusage begins with that of the parent on Linux
peak = re.search(r"VmHWM:\\s*(\\d+) kB", status.read_text()) if status.exists() else None
print(int(peak[1]) if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


class Options(NamedTuple):
    """What was asked for."""

    small: bool

    @property
    def command(self) -> str:
        return f"{COMMAND}{' --small' if self.small else ''}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--small", action="store_true", help="few and small tables")
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    given = parser.parse_args(arguments)
    options = Options(given.small)
    with threadpool_limits(1):
        if given.only:
            print("\n\n".join(PARTS[name](options) for name in given.only))
            return
        text = _page(options, {name: part(options) for name, part in PARTS.items()})
    PAGE.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE}")


# -------------------------------------------------------------------------------------------------------- quality


def quality(options: Options) -> str:
    """Return prices and agreements beside those of peers, with as many leaves as clusters and twice as many."""
    chosen = list(_tables(options))
    run(chosen[0], chosen[0].k, 0, 2, "auto", {})  # compiles
    found = [
        run(table, k, 0, times, "auto", {}) for table in chosen for k in _clusters(table, options) for times in (1, 2)
    ]
    parts = [
        "Clusters of k-means (best of four starts) on columns of unit variance. The price is the within-cluster cost "
        "of the tree's groups over that of the clusters, and prices below 1 count as 1. Means of prices are geometric. "
        f'"Cheaper" counts the cases in which the peer costs less by more than {CHEAPER:.2%}, and "beats" those in '
        "which it agrees with the clusters at least as much, too. Each peer is grown with the same number of leaves. "
        f"{_few(OURS)} are boxwood's own code after the papers; CART and regression trees are scikit-learn's."
    ]
    for times in (1, 2):
        cases = [_with_exkmc(case) for case in found if case.times == times]
        names = list(dict.fromkeys(name for case in cases for name in case.peers))
        rows = [("boxwood's explain", *_numbers([(case.ours, case.ours) for case in cases]))]
        rows += [
            (name, *_numbers([(case.peers[name], case.ours) for case in cases if name in case.peers])) for name in names
        ]
        header = (
            "",
            "cases",
            "price",
            "over explain's",
            "cheaper",
            "beats",
            "agreement",
            "processor time over explain's",
        )
        parts += [f"### {times} {'leaf' if times == 1 else 'leaves'} for each cluster", _table(header, rows)]
    return "\n\n".join([*parts, _made(options, "quality"), _absent()])


def _clusters(table: Table, options: Options) -> list[int]:
    return [k for k in numbers_of_clusters(table) if k <= (5 if options.small else 20)]


def _numbers(pairs: list[tuple[Outcome, Outcome]]) -> tuple[str, ...]:
    prices = np.log([[max(each.price, 1.0) for each in pair] for pair in pairs])
    return (
        str(len(pairs)),
        f"{np.exp(prices[:, 0].mean()):.4f}",
        f"{np.exp((prices[:, 0] - prices[:, 1]).mean()):.4f}",
        str(sum(peer.gain_over(ours) > CHEAPER for peer, ours in pairs)),
        str(sum(peer.beats(ours) for peer, ours in pairs)),
        f"{np.mean([peer.agreement for peer, _ in pairs]):.1%}",
        f"{sum(peer.seconds for peer, _ in pairs) / sum(ours.seconds for _, ours in pairs):.3f}",
    )


def _with_exkmc(case: Case) -> Case:
    """Return a case with the tree of the package ExKMC, where that is installed."""
    if importlib.util.find_spec("ExKMC") is None:
        return case
    from ExKMC.Tree import Tree

    name, rows, k = case.key.split()[:3]
    table = next(table for table in tables() if f"{table.X.shape[0]}x{table.X.shape[1]}" == rows and table.name == name)
    clusters = clusters_of(table, int(k.removeprefix("k=")), 0)
    start = time.process_time()
    tree = Tree(k=clusters.k, max_leaves=case.times * clusters.k)
    tree.fit(clusters.X, clusters.kmeans)
    outcome = outcome_of_labels(clusters, np.asarray(tree.predict(clusters.X)), case.times * clusters.k)
    took = time.process_time() - start
    return case._replace(peers=case.peers | {"the package ExKMC": outcome._replace(seconds=took)})


def agreement(options: Options) -> str:
    """Return the mistakes of trees of a depth beside those of ConTree's optimum, and the ratio of the times."""
    if importlib.util.find_spec("pycontree") is None:
        return "ConTree was not installed (pip install pycontree), so this part is empty."
    from pycontree import ConTree

    contree.warm_up()
    rows = []
    for table in _tables(options):
        labels = {"k-means": contree.clusters_by_k_means(table, table.k), "classes": table.classes}
        for (what, of_rows), depth in itertools.product(labels.items(), (2, 3)):
            found = contree.row_of(contree.Case(table.name, table.X, of_rows, depth), ConTree, ENOUGH)
            mistakes = ["not ended" if each is None else str(each) for each in found[5:8]]
            rows.append((f"{table.name}, {what}", str(found[3]), str(depth), *mistakes, f"{found[11]:.2f}"))
    header = ("clusters of", "k", "depth", "ConTree", "grow.optimal", "explain", "time of grow.optimal over ConTree's")
    words = (
        "Number of rows that the rules put into another cluster than their own. ConTree (Briţa, van der Linden and "
        "Demirović, AAAI 2025) finds the tree with the fewest at a depth. `grow.optimal` and `explain` search by "
        '`objective="agreement"` within the same depth and leaves.'
    )
    return "\n\n".join([words, _table(header, rows), _made(options, "agreement")])


def unseen(options: Options) -> str:
    """Return agreement on rows that were not explained."""
    rows = []
    for table in _tables(options):
        labels = clusters_of(table, table.k, 0).kmeans.labels_
        found = 100 * np.mean([shares(table.X, labels, table.k, seed) for seed in SEEDS], axis=0)
        rows.append((table.name, str(table.k), *(f"{found[i]:.1f}" for i in (0, 1, 4, 5))))
    header = ("clusters of", "leaves", "explain, seen", "explain, unseen", "CART, seen", "CART, unseen")
    words = (
        f"Agreement in percent of rules from 70% of the rows, on these and on the other 30%: mean of {len(SEEDS)} "
        "splits. CART is scikit-learn's decision tree on the labels with as many leaves."
    )
    return "\n\n".join([words, _table(header, rows), _made(options, "unseen")])


# ---------------------------------------------------------------------------------------------------------- speed


def speed(options: Options) -> str:
    """Return processor time as a ratio to CART's."""
    rows = []
    for table in _timed(options):
        kmeans = clusters_of(table, table.k, 0, n_init=1).kmeans
        X, labels, k = table.X, kmeans.labels_, table.k
        reference = Reference.of(X, labels)
        tasks: dict[str, Callable[[], object]] = {
            "CART": lambda X=X, labels=labels, k=k: DecisionTreeClassifier(max_leaf_nodes=k).fit(X, labels),
            "IMM": lambda X=X, reference=reference: grow.imm(X, reference, n_jobs=1),
            "auto": lambda X=X, kmeans=kmeans: explain(X, kmeans, n_jobs=1),
            "auto, 2k": lambda X=X, kmeans=kmeans, k=k: explain(X, kmeans, max_leaf_nodes=2 * k, n_jobs=1),
        }
        seconds = {name: _seconds(task) for name, task in tasks.items()}
        rows.append(
            (f"{len(X)} x {X.shape[1]}, {k}", *(f"{seconds[name] / seconds['CART']:.2f}" for name in list(tasks)[1:]))
        )
    header = ("rows x columns, clusters", "grow.imm / CART", "explain / CART", "explain with 2k leaves / CART")
    words = (
        "Processor time on one thread, divided by that of one scikit-learn CART with k leaves on the same labels: the "
        f"least of {RUNS} runs after one that compiles, without the clustering. `explain` grows many trees."
    )
    return "\n\n".join([words, _table(header, rows), _made(options, "speed")])


def _seconds(task: Callable[[], object]) -> float:
    """Return processor seconds of a task; short ones are repeated, as the clock is coarse beside them."""
    task()
    start = time.process_time()
    task()
    once = time.process_time() - start
    if once > LONG:
        return once
    times = max(1, int(LEAST_SECONDS / max(once, 1e-9)))
    found = []
    for _ in range(RUNS):
        start = time.process_time()
        for _ in range(times):
            task()
        found.append((time.process_time() - start) / times)
    return min(found)


# --------------------------------------------------------------------------------------------------------- memory


def memory(options: Options) -> str:
    """Return the most memory of a fresh process, beyond that of one that does nothing."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n, d, k = (500_000 if options.small else 4_000_000), 10, 10
    rng = np.random.default_rng(0)
    labels = rng.integers(k, size=n)
    X = rng.normal(size=(k, d))[labels] * 3 + rng.normal(size=(n, d))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(d)} | {"label": labels}), path)
        peaks = {name: _peak(path, code) for name, code in MEMORY.items()}
    table_bytes = 8 * n * d / 2**20
    rows = [
        (name, f"{(peak - peaks['nothing']) / 2**20:.0f}", f"{(peak - peaks['nothing']) / 2**20 / table_bytes:.1f}")
        for name, peak in peaks.items()
        if name != "nothing"
    ]
    words = (
        f"The most memory that a fresh process held, in MiB, less that of one that only imports. The table has {n:,} "
        f"rows of {d} columns ({table_bytes:.0f} MiB as numbers), {k} clusters, in a Parquet file."
    )
    return "\n\n".join([words, _table(("", "MiB", "over the table"), rows), _made(options, "memory")])


def _peak(path: Path, code: str) -> int:
    """Return the largest resident size of a process in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", PROCESS.format(code), str(path)], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1]) * (1 if sys.platform == "darwin" else 1024)  # macOS counts bytes


# ----------------------------------------------------------------------------------------------------------- page

PARTS: dict[str, Callable[[Options], str]] = {
    "quality": quality,
    "agreement": agreement,
    "unseen": unseen,
    "speed": speed,
    "memory": memory,
}
TITLES = {
    "quality": "Quality beside peers",
    "agreement": "Agreement beside the optimum",
    "unseen": "Rows that were not seen",
    "speed": "Speed",
    "memory": "Memory",
}


def _page(options: Options, parts: dict[str, str]) -> str:
    size = "few and small tables (`--small`)" if options.small else "all tables of scikit-learn and made ones"
    with_what = (
        f"boxwood {boxwood.__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__} "
        f"and Python {platform.python_version()}"
    )
    head = (
        "# Benchmarks\n\nQuality, speed and memory beside the peers that can be run. Below each table is the "
        f"command that makes it; `{options.command}` made the page, on {size}, with {with_what}. Times are ratios of "
        "processor time within one run, on one thread, as machines differ and are shared. "
        "[From DecisionTreeClassifier](from-decision-tree.md#what-is-gained) shows one case by hand."
    )
    body = [f"## {TITLES[name]}\n\n{text}" for name, text in parts.items()]
    return "\n".join(map(_wrapped, "\n\n".join([head, *body]).splitlines())) + "\n"


def _wrapped(line: str) -> str:
    """Return a line of words in lines of 118 characters; tables and code are as they are."""
    if line.startswith(("|", "#", "`")) or len(line) <= 118:
        return line
    whole = re.sub(r"`[^`]+`", lambda code: code[0].replace(" ", "\0"), line)  # code is not parted
    return textwrap.fill(whole, 118, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def _tables(options: Options) -> Iterator[Table]:
    folder = os.environ.pop("BOXWOOD_DATA", None)  # the page is made from what everyone has
    with contextlib.redirect_stdout(io.StringIO()):
        found = list(tables())
    if folder is not None:
        os.environ["BOXWOOD_DATA"] = folder
    yield from (table for table in found if not options.small or table.X.size < 20_000)


def _timed(options: Options) -> Iterator[Table]:
    for table in timed_tables():
        if table.X.size > 1_000_000:
            return  # the tables grow, and making the next ones takes memory
        if table.k <= 10 and (not options.small or table.X.size <= 200_000):
            yield table


def _made(options: Options, part: str) -> str:
    return f"Made by `{options.command} --only {part}`."


def _absent() -> str:
    if importlib.util.find_spec("ExKMC") is None:
        return "The package ExKMC was not installed, so its own code was not run."
    return (
        "The package ExKMC is the authors' own code, version 0.0.3. Its C file does not compile on Python 3.11 and "
        "later; it was made anew from the package's source by a newer Cython."
    )


def _few(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, ("---",) * len(header), *rows))


if __name__ == "__main__":
    main()
