"""The figures, where matplotlib is installed."""

import importlib.util
import os
from typing import Any

import numpy as np

__all__ = ["figure_3", "figure_6", "prices", "splits", "theorem_5"]


def figure_3(folder: str, q: np.ndarray, log_error: np.ndarray, bins: np.ndarray) -> None:
    """Draw q against the log error, with the quantiles by bin."""

    def draw(axes: Any) -> None:
        axes.scatter(q, log_error, s=2, alpha=0.3)
        axes.plot(bins[:, 0], bins[:, 1], "k--", bins[:, 0], bins[:, 2], "k-")
        axes.set(xlabel="explainability-to-noise ratio q", ylabel="log error rate")

    _save(folder, "001_figure_3.png", draw)


def figure_6(folder: str, scores: dict[int, np.ndarray]) -> None:
    """Draw boxes of the adjusted Rand index for each dimension and method."""

    def draw(axes: Any) -> None:
        axes.boxplot(np.hstack(list(scores.values())))
        labels = [f"{name}, d={d}" for d in scores for name in ("MMDT", "CART")]
        axes.set_xticks(range(1, len(labels) + 1), labels)
        axes.set_ylabel("adjusted Rand index")

    _save(folder, "001_figure_6.png", draw)


def theorem_5(folder: str, prices: dict[int, np.ndarray]) -> None:
    """Draw the prices of trees against the logarithm of the number of components."""

    def draw(axes: Any) -> None:
        log_k = np.log(list(prices))
        for name, line in (("mean", "k-"), ("min", "k--"), ("max", "k:")):
            axes.plot(log_k, [getattr(found, name)() for found in prices.values()], line, label=name)
        axes.set(xlabel="log K", ylabel="l1 price")
        axes.legend()

    _save(folder, "000_theorem_5.png", draw)


def prices(folder: str, name: str, k: Any, lines: dict[str, Any]) -> None:
    """Draw prices against the number of clusters, both in logarithms, a line for each name."""

    def draw(axes: Any) -> None:
        for label, values in lines.items():
            axes.plot(k, values, "o-", markersize=3, label=label)
        axes.set(xlabel="k", ylabel="price", xscale="log", yscale="log")
        axes.set_xticks(k, [str(one) for one in k])
        axes.set_xticks([], minor=True)
        axes.legend(fontsize="small")

    _save(folder, name, draw)


def splits(folder: str, name: str, X: np.ndarray, labels: np.ndarray, found: Any) -> None:
    """Draw rows by cluster, the cuts of a tree inside their boxes, numbered, and the mistakes as red crosses."""

    def draw(axes: Any) -> None:
        axes.scatter(X[:, 0], X[:, 1], c=labels, cmap="tab10", s=6)
        for number, split in enumerate(found, 1):
            ends = split.box.copy()
            ends[:, split.feature] = split.threshold
            axes.plot(ends[:, 0], ends[:, 1], "k-", linewidth=1)
            axes.annotate(f"{number}: {len(split.mistakes)}", ends.mean(axis=0), backgroundcolor="w", fontsize="small")
            axes.plot(X[split.mistakes, 0], X[split.mistakes, 1], "rx")
        axes.set(xlabel="x0", ylabel="x1")

    _save(folder, name, draw)


def _save(folder: str, name: str, draw: Any) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        print(f"{name}: not drawn, as matplotlib is not installed")
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    draw(figure.subplots())
    os.makedirs(folder, exist_ok=True)
    figure.savefig(os.path.join(folder, name), dpi=150)
    print(f"wrote {os.path.join(folder, name)}")
