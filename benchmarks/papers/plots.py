"""The figures, where matplotlib is installed: each function draws one file and returns it as a `Picture`."""

import importlib.util
import os
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.papers.report import Picture

__all__ = [
    "Panel", "bars", "boxes", "curves", "cut_lines", "figure_3", "figure_6", "prices", "regions", "splits", "theorem_5",
]  # fmt: skip

COLOURS = np.array(
    ["#4477aa", "#ee7733", "#228833", "#aa3377", "#ccbb44", "#66ccee", "#994422", "#226666", "#bb88dd", "#bbbbbb"]
)  # the last is that of rows left out, which have the label -1


def figure_3(folder: str, q: np.ndarray, log_error: np.ndarray, bins: np.ndarray) -> Picture:
    """Draw q against the log error, with the quantiles by bin."""

    def draw(axes: Any) -> None:
        axes.scatter(q, log_error, s=2, alpha=0.3)
        axes.plot(bins[:, 0], bins[:, 1], "k--", bins[:, 0], bins[:, 2], "k-")
        axes.set(xlabel="explainability-to-noise ratio q", ylabel="log error rate")

    return _save(folder, "001_figure_3.png", draw)


def figure_6(folder: str, scores: dict[int, np.ndarray]) -> Picture:
    """Draw boxes of the adjusted Rand index for each dimension and method."""

    def draw(axes: Any) -> None:
        axes.boxplot(np.hstack(list(scores.values())))
        labels = [f"{name}, d={d}" for d in scores for name in ("MMDT", "CART")]
        axes.set_xticks(range(1, len(labels) + 1), labels)
        axes.set_ylabel("adjusted Rand index")

    return _save(folder, "001_figure_6.png", draw)


def theorem_5(folder: str, prices: dict[int, np.ndarray]) -> Picture:
    """Draw the prices of trees against the logarithm of the number of components."""

    def draw(axes: Any) -> None:
        log_k = np.log(list(prices))
        for name, line in (("mean", "k-"), ("min", "k--"), ("max", "k:")):
            axes.plot(log_k, [getattr(found, name)() for found in prices.values()], line, label=name)
        axes.set(xlabel="log K", ylabel="l1 price")
        axes.legend()

    return _save(folder, "000_theorem_5.png", draw)


def prices(folder: str, name: str, k: Any, lines: dict[str, Any]) -> Picture:
    """Draw prices against the number of clusters, both in logarithms, a line for each name."""

    def draw(axes: Any) -> None:
        for label, values in lines.items():
            axes.plot(k, values, "o-", markersize=3, label=label)
        axes.set(xlabel="k", ylabel="price", xscale="log", yscale="log")
        axes.set_xticks(k, [str(one) for one in k])
        axes.set_xticks([], minor=True)
        axes.legend(fontsize="small")

    return _save(folder, name, draw)


def curves(folder: str, name: str, x: np.ndarray, lines: dict[str, np.ndarray], label: str) -> Picture:
    """Draw values along an axis, a line for each name."""

    def draw(axes: Any) -> None:
        for words, values in lines.items():
            axes.plot(x, values, label=words)
        axes.set(xlabel="x", ylabel=label)
        axes.legend(fontsize="small")

    return _save(folder, name, draw)


def splits(folder: str, name: str, X: np.ndarray, labels: np.ndarray, found: Any) -> Picture:
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

    return _save(folder, name, draw)


def bars(folder: str, name: str, heights: dict[str, dict[str, dict[str, float]]]) -> Picture:
    """Draw groups of bars, a panel for each title: heights by title, group and bar; where 1 is, a line."""
    names = list(dict.fromkeys(bar for groups in heights.values() for group in groups.values() for bar in group))
    colour = dict(zip(names, COLOURS, strict=False))

    def draw(axes: Any) -> None:
        for place, (title, groups) in zip(axes, heights.items(), strict=True):
            for left, group in enumerate(groups.values()):
                width = 0.8 / len(group)
                x = left + (np.arange(len(group)) - (len(group) - 1) / 2) * width
                place.bar(x, list(group.values()), width, color=[colour[bar] for bar in group])
            place.axhline(1, color="k", linewidth=0.8)
            place.set_xticks(range(len(groups)), list(groups), fontsize="small")
            least = min(height for group in groups.values() for height in group.values())
            place.set(title=title, ylim=(min(0.99, least) if least > 0.9 else 0, None))
        keys = [axes[0].bar(0, 0, color=one, label=bar) for bar, one in colour.items()]
        axes[0].figure.legend(handles=keys, loc="outside lower center", ncols=len(names), fontsize="small")

    return _save(folder, name, draw, size=(11, 4), columns=len(heights))


def boxes(folder: str, name: str, values: dict[str, np.ndarray], label: str) -> Picture:
    """Draw a box of values for each name."""

    def draw(axes: Any) -> None:
        axes.boxplot(list(values.values()))
        axes.set_xticks(range(1, len(values) + 1), list(values))
        axes.set_ylabel(label)

    return _save(folder, name, draw)


class Panel(NamedTuple):
    """A title, clusters of rows, and a tree that explains them, if any."""

    title: str
    labels: np.ndarray
    tree: Any


def regions(folder: str, name: str, X: np.ndarray, panels: Sequence[Panel]) -> Picture:
    """Draw rows by cluster, over the parts of the plane that a tree gives to each cluster, with its cuts as lines."""
    margin = 0.05 * np.ptp(X, axis=0)
    low, high = X.min(axis=0) - margin, X.max(axis=0) + margin
    x, y = (np.linspace(low[j], high[j], 600) for j in (0, 1))
    grid = np.array([axis.ravel() for axis in np.meshgrid(x, y)]).T

    def draw(axes: Any) -> None:
        from matplotlib.colors import ListedColormap

        for place, (title, labels, tree) in zip(np.atleast_1d(axes), panels, strict=True):
            if tree is not None:
                parts = tree.predict(grid).reshape(len(y), len(x))
                ends = {"vmin": 0, "vmax": len(COLOURS) - 1, "alpha": 0.25}
                place.pcolormesh(x, y, parts, cmap=ListedColormap(COLOURS.tolist()), rasterized=True, **ends)
                for line in cut_lines(tree, low, high):
                    place.plot(line[:, 0], line[:, 1], "k-", linewidth=1)
            place.scatter(X[:, 0], X[:, 1], c=COLOURS[labels], s=7, linewidths=0)
            place.set(title=title, xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])

    return _save(folder, name, draw, size=(4 * len(panels), 4), columns=len(panels))


def cut_lines(tree: Any, low: np.ndarray, high: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the ends, shape (2, 2), of each cut's lines inside of its node's part of the plane."""
    waiting = [(0, [np.array([low, high])])]
    while waiting:
        node, parts = waiting.pop()
        j, cut = int(tree.feature[node]), (float(tree.lower[node]), float(tree.upper[node]))
        if j < 0:
            continue
        inside, outside = [], []
        for part in parts:
            first, last = np.clip(cut, *part[:, j])
            for end in cut:
                if part[0, j] < end < part[1, j]:
                    yield _slab(part, j, end, end)
            pieces = ((part[0, j], first, outside), (first, last, inside), (last, part[1, j], outside))
            for start, stop, side in pieces:
                if start < stop:
                    side.append(_slab(part, j, start, stop))
        waiting += [(node + 1, inside), (int(tree.second[node]), outside)]


def _slab(part: np.ndarray, j: int, start: float, stop: float) -> np.ndarray:
    slab = part.copy()
    slab[:, j] = start, stop
    return slab


def _save(folder: str, name: str, draw: Any, *, size: tuple[float, float] = (6, 4), columns: int = 1) -> Picture:
    """Write the file whole or not at all."""
    if importlib.util.find_spec("matplotlib") is None:
        return Picture(name, drawn=False)
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots(1, columns))
    os.makedirs(folder, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as file:
        figure.savefig(file, dpi=110, format="png")
    os.chmod(file.name, 0o644)
    os.replace(file.name, os.path.join(folder, name))
    return Picture(name, drawn=True)
