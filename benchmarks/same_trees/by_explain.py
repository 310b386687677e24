"""`explain`, with each of its methods and each way to say what the clusters are."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import boxwood as bw
from benchmarks.same_trees.clusterers import (
    FixedCenters,
    FixedLabels,
    FixedMixture,
    by_centers,
    by_scaled_centers,
    by_scaled_labels,
)
from benchmarks.same_trees.lines import FEW, MANY, Grower, Line
from benchmarks.same_trees.tables import Table, as_frame
from boxwood import ThresholdTree


def lines_of_explain() -> list[Line]:
    """Return a line for each way through `explain`."""
    return [*_of_explain(), *_of_explained_clusterers()]


def explained(of: Callable[[Table], Any] = lambda t: t.labels, *, more: int = 0, **options: Any) -> Grower:
    """Return the grower by `explain` with so many leaves more than clusters; -1 leaves the number to `explain`."""

    def grower(t: Table) -> ThresholdTree:
        leaves = None if more == -1 else max(t.k + more, 2)
        return bw.explain(t.X, of(t), max_leaf_nodes=leaves, sample_weight=t.weights, random_state=1, **options).tree

    return grower


def _of_explain() -> list[Line]:
    lines = [
        Line("explain", "hard", explained(more=-1), MANY),
        Line("explain", "smooth", explained(more=-1), MANY),
        Line("explain, more leaves", "smooth", explained(more=3)),
        Line("explain, more leaves", "hard", explained(more=3)),
        Line("explain, two leaves", "smooth", explained(of=_labels_of_many, more=-6)),
        Line("explain, scaled", "smooth", explained(standardize=True)),
        Line("explain, scaled mmdt", "hard", explained(standardize=True, method="mmdt")),
        Line("explain, names", "smooth", lambda t: bw.explain(t.X, t.names(), names={"cluster 0": "first"}).tree),
        Line("explain, frame", "smooth", _of_label_column),
        Line("explain, some columns", "smooth", lambda t: bw.explain(as_frame(t), t.labels, columns=["column 0"]).tree),
    ]
    for method in ("imm", "exkmc", "expand", "cart", "mmdt"):
        lines.append(Line(f"explain {method}", "hard", explained(more=-1, method=method)))
        lines.append(Line(f"explain {method}, read again", "smooth", _read_again(method), FEW))
        lines.append(Line(f"explain {method}, as many leaves", "smooth", explained(method=method), FEW))
    for method in ("exkmc", "expand", "cart"):
        lines.append(Line(f"explain {method}, more leaves", "smooth", explained(more=4, method=method), 10))
        fewer = explained(of=_labels_of_many, method=method)
        lines.append(Line(f"explain {method}, fewer leaves", "smooth", fewer, FEW))
    lines.append(Line("explain imm, refused", "smooth", explained(more=1, method="imm"), FEW))
    return [*lines, Line("explain, read again", "hard", _read_again("auto"))]


def _of_label_column(t: Table) -> ThresholdTree:
    return bw.explain(as_frame(t).assign(segment=t.names()), "segment", sample_weight=t.weights).tree


def _labels_of_many(t: Table) -> np.ndarray:
    """Return labels of more clusters than the table's k, so that k leaves are too few for one each."""
    return np.where(t.labels < 0, -1, 2 * t.labels + np.arange(len(t.labels)) % 2)


def _read_again(method: str) -> Grower:
    def grower(t: Table) -> ThresholdTree:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            bw.explain(t.X, t.labels, method=method, sample_weight=t.weights, random_state=0).save(path)
            return bw.load(path).tree

    return grower


def _of_explained_clusterers() -> list[Line]:
    lines = [
        Line("explain centres", "smooth", explained(by_centers), 10),
        Line("explain fitted centres", "smooth", explained(lambda t: by_centers(t).fit(t.X)), 10),
        Line("explain fitted centres, scaled", "smooth", explained(_fitted_centers, standardize=True), 10),
        Line("explain a table of words", "smooth", lambda t: bw.explain(*_words_and_pipeline(t)).tree),
        Line("explain a mixture", "smooth", explained(FixedMixture.of)),
        Line("explain a mixture, more leaves", "smooth", explained(FixedMixture.of, more=2)),
        Line("explain a mixture, mmdt", "smooth", explained(FixedMixture.of, more=-1, method="mmdt")),
        Line("explain a mixture, scaled", "smooth", explained(FixedMixture.of, standardize=True), 10),
    ]
    for name, make in (("labels", by_scaled_labels), ("centres", by_scaled_centers)):
        for method in ("auto", "imm", "exkmc", "mmdt"):
            grower = explained(make, more=-1, method=method)
            lines.append(Line(f"explain scaled {name}, {method}", "smooth", grower, 10))
    return lines


def _fitted_centers(t: Table) -> FixedCenters:
    return by_centers(t).fit(t.X)


def _words_and_pipeline(t: Table) -> tuple[pd.DataFrame, Any]:
    """Return a table with a column of words, and a pipeline that encodes it."""
    frame = as_frame(t).assign(colour=[("red", "green", "blue")[int(label) % 3] for label in t.labels])
    others = [name for name in frame if name != "colour"]
    encoder = ColumnTransformer([("words", OneHotEncoder(), ["colour"]), ("numbers", StandardScaler(), others)])
    return frame, make_pipeline(encoder, FixedLabels(t.labels))
