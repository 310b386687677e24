"""Odd tables of a few dozen rows: identifiers, gaps, words, dates, copies of the labels, and what else people have."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

Column = Callable[[np.random.Generator, int, np.ndarray], Any]


class Options(NamedTuple):
    """What is asked of a table: the labels' column or a number of clusters, and further parameters of `explain`."""

    labels: str | None
    options: dict[str, Any]


def _words(rng: np.random.Generator, n: int, words: list[str]) -> Any:
    return rng.choice(words, size=n).astype(object)


def _with_gaps(values: Any, rng: np.random.Generator, share: float = 0.2) -> Any:
    return pd.Series(values).mask(rng.random(len(values)) < share)


def _days(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.datetime64("2021-03-01") + rng.integers(0, 900, n)


COLUMNS: dict[str, Column] = {
    "age": lambda rng, n, y: np.round(rng.normal(40, 12, n) + 9 * y),
    "income": lambda rng, n, y: np.round(rng.lognormal(10, 0.4, n) * (1 + y), 2),
    "height": lambda rng, n, y: rng.normal(1.7, 0.1, n) + 0.05 * y,
    "customer_id": lambda rng, n, y: 1000 + rng.permutation(n),
    "number": lambda rng, n, y: np.arange(n),
    "sparse_number": lambda rng, n, y: 7 * np.arange(n),
    "gapped_number": lambda rng, n, y: _with_gaps(np.arange(n), rng, 0.05),
    "zip": lambda rng, n, y: [f"{code:05}" for code in rng.integers(100, 99_999, n)],
    "zip_of_few": lambda rng, n, y: _words(rng, n, ["01067", "10115", "80331", "04109"]),
    "code": lambda rng, n, y: rng.integers(1, 6, n),
    "constant": lambda rng, n, y: np.full(n, 7.5),
    "constant_with_gaps": lambda rng, n, y: _with_gaps(np.full(n, 3.0), rng),
    "empty": lambda rng, n, y: [None] * n,
    "word": lambda rng, n, y: np.where(rng.random(n) < 0.7, np.array(["red", "green", "blue"])[y % 3], "grey"),
    "word_with_gaps": lambda rng, n, y: _with_gaps(_words(rng, n, ["web", "app", "store"]), rng),
    "one_word": lambda rng, n, y: ["same"] * n,
    "one_word_or_none": lambda rng, n, y: _with_gaps(["vip"] * n, rng, 0.6),
    "many_words": lambda rng, n, y: [f"name {i}" for i in rng.permutation(9 * n)[:n]],
    "remark": lambda rng, n, y: [f"a remark of some length, the {i}th of its kind" for i in range(n)],
    "marks": lambda rng, n, y: _words(rng, n, ["yes", "no", "n/a", "-", "unknown"]),
    "none_word": lambda rng, n, y: _words(rng, n, ["none", "some", "much"]),
    "do_not_know": lambda rng, n, y: [
        v if rng.random() < 0.9 else "don't know" for v in rng.integers(0, 90, n).astype(str)
    ],
    "numbers_as_text": lambda rng, n, y: [f"{x:,.2f}" for x in rng.normal(5000, 900, n)],
    "prices": lambda rng, n, y: [f"${x:.2f}" for x in rng.gamma(4, 20, n)],
    "shares": lambda rng, n, y: [f"{x:.0f}%" for x in rng.uniform(0, 100, n)],
    "comma": lambda rng, n, y: [f"{x:.2f}".replace(".", ",") for x in rng.gamma(4, 20, n)],
    "ranges": lambda rng, n, y: _words(rng, n, ["0-10", "10-20", "20-30"]),
    "bands": lambda rng, n, y: _words(rng, n, ["(0, 10]", "(10, 20]", "(20, 100]"]),
    "version": lambda rng, n, y: _words(rng, n, ["1.0.2", "1.10", "2.0"]),
    "digits": lambda rng, n, y: [str(x) for x in rng.integers(0, 99, n)],
    "time": lambda rng, n, y: [
        f"{h:02}:{m:02}" for h, m in zip(rng.integers(0, 24, n), rng.integers(0, 60, n), strict=True)
    ],
    "date": lambda rng, n, y: _days(rng, n).astype("datetime64[s]"),
    "date_with_gaps": lambda rng, n, y: _with_gaps(_days(rng, n).astype("datetime64[s]"), rng),
    "date_text": lambda rng, n, y: [str(day) for day in _days(rng, n)],
    "doubtful_date": lambda rng, n, y: [
        f"0{m}/0{d}/2024" for m, d in zip(rng.integers(1, 9, n), rng.integers(1, 9, n), strict=True)
    ],
    "german_date": lambda rng, n, y: [pd.Timestamp(day).strftime("%d.%m.%Y") for day in _days(rng, n)],
    "truth": lambda rng, n, y: rng.random(n) < 0.3 + 0.1 * y,
    "truth_with_gaps": lambda rng, n, y: _with_gaps((rng.random(n) < 0.5).astype(object), rng),
    "yes_no": lambda rng, n, y: _words(rng, n, ["yes", "no"]),
    "zero_one": lambda rng, n, y: rng.integers(0, 2, n),
    "with_gaps": lambda rng, n, y: _with_gaps(rng.normal(0, 1, n), rng),
    "copy_of_labels": lambda rng, n, y: 10.0 * y + 3,
    "labels_in_words": lambda rng, n, y: np.array(["alpha", "beta", "gamma", "delta"])[y % 4],
    "huge": lambda rng, n, y: rng.integers(2**60, 2**61, n),
    "tiny": lambda rng, n, y: rng.normal(0, 1e-12, n),
    "blanks": lambda rng, n, y: _words(rng, n, ["", " ", "full"]),
    "mixed_case": lambda rng, n, y: _words(rng, n, ["Berlin", "berlin", "BERLIN ", "Paris"]),
    "weight": lambda rng, n, y: np.round(rng.uniform(0.5, 2, n), 2),
    "Unnamed: 0": lambda rng, n, y: np.arange(n),
    "3": lambda rng, n, y: rng.normal(0, 1, n),
}


def table_of(seed: int) -> tuple[pd.DataFrame, Options]:
    """Return a table of 8 to 120 rows and up to nine columns, and what is asked of it."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([8, 30, 55, 60, 80, 120]))
    y = rng.integers(0, int(rng.integers(2, 5)), n)
    names = rng.choice(list(COLUMNS), size=int(rng.integers(1, 9)), replace=False).tolist()
    names += ["age"] if rng.random() < 0.5 and "age" not in names else []
    frame = pd.DataFrame({name: COLUMNS[name](rng, n, y) for name in names})
    labels = None
    if rng.random() < 0.85:
        labels, kind = "segment", rng.integers(0, 4)
        made: list[Any] = [y, [f"S{i}" for i in y], [f"S{i}" if rng.random() < 0.9 else None for i in y], y + 0.5]
        frame.insert(int(rng.integers(0, len(names) + 1)), labels, made[kind])
    return frame, Options(labels, _options(rng, names, labels))


def _options(rng: np.random.Generator, names: list[str], labels: str | None) -> dict[str, Any]:
    options: dict[str, Any] = {"method": "imm", "n_jobs": 1} | ({} if labels else {"n_clusters": 2})
    if rng.random() < 0.15:
        options["columns"] = rng.choice(names, size=int(rng.integers(1, len(names) + 1)), replace=False).tolist()
    if rng.random() < 0.3:
        options["missing"] = str(rng.choice(["drop", "refuse"]))
    if rng.random() < 0.15:
        options["categories"] = [str(rng.choice(names))]
    if rng.random() < 0.1:
        options["numbers"] = [str(rng.choice(names))]
    if "weight" in names and rng.random() < 0.5:
        options["sample_weight"] = "weight"
    if rng.random() < 0.1:
        options["forbidden"] = [str(rng.choice(names))]
    if labels is None and rng.random() < 0.5:
        options["standardize"] = True
    return options
