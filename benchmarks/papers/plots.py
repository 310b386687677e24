"""The figures, where matplotlib is installed."""

import importlib.util
import os
from typing import Any

import numpy as np

__all__ = ["figure_3", "figure_6"]


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
