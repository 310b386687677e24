"""The rules as an ONNX model."""

from __future__ import annotations

import math
import sys
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._frames import name_as_text
from boxwood._imports import require
from boxwood._types import Floats
from boxwood.explanation.measured_tree import explanation_of
from boxwood.render.forms._one_sided import OneSided, one_sided, refuse_dates
from boxwood.render.forms.walk import provenance

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree

LARGEST = sys.float_info.max
_OPSET, _ML_OPSET, _IR = 17, 3, 8  # of 2022, so that engines of some years ago can run the model, too
_ML = "ai.onnx.ml"


def onnx(model: Any) -> bytes:
    """Return an ONNX model that gives the cluster of a row, as the bytes of its file; see `Explanation.to_onnx`.

    Thresholds are rounded down to float32, which changes nothing for rows that float32 holds. `model` may be a fitted
    estimator.
    """
    library = require("onnx", "onnx", "An ONNX model")
    helper, kinds = require("onnx.helper", "onnx", "An ONNX model"), library.TensorProto
    ex = explanation_of(model)
    refuse_dates(ex, "an ONNX model")
    whole = all(isinstance(name, Integral) and not isinstance(name, bool) and abs(name) < 2**63 for name in ex.names)
    nodes = _with_missing(one_sided(ex.tree), ex)
    steps = [
        helper.make_node("TreeEnsembleRegressor", ["X"], ["number"], domain=_ML, **_attributes(nodes)),
        helper.make_node("Reshape", ["number", "shape"], ["flat"]),
        helper.make_node("Cast", ["flat"], ["place"], to=kinds.INT64),
        helper.make_node("Gather", ["names", "place"], ["cluster"]),
    ]
    names: list[Any] = [*ex.names, -1] if whole else [*(name_as_text(name).encode() for name in ex.names), b""]
    kind = kinds.INT64 if whole else kinds.STRING
    graph = helper.make_graph(
        steps,
        "boxwood",
        [helper.make_tensor_value_info("X", kinds.FLOAT, [None, len(ex.columns)])],
        [helper.make_tensor_value_info("cluster", kind, [None])],
        [helper.make_tensor("shape", kinds.INT64, [1], [-1]), helper.make_tensor("names", kind, [len(names)], names)],
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_ML, _ML_OPSET)]
    written = helper.make_model(graph, opset_imports=opsets, ir_version=_IR, producer_name="boxwood")
    made, counts = provenance(ex)
    told = {f"column {j}": name for j, name in enumerate(ex.columns)}
    helper.set_model_props(written, told | {"made": made, "rules": counts})
    content: bytes = written.SerializeToString()
    return content


class _OnnxNode(NamedTuple):
    """A node in the words of ONNX; a leaf has a cluster, and -1 as feature."""

    feature: int
    threshold: float
    left: int
    right: int
    cluster: int


def _with_missing(nodes: OneSided, ex: MeasuredTree) -> list[_OnnxNode]:
    """Return the nodes with a cut `x <= inf` before the first test of a column on each path.

    NaN is the only value on its right, where a leaf has the number behind those of all clusters. Columns with gaps need
    none: NaN is on the right of all cuts, as infinity is.
    """
    gaps = ex._gap_columns
    written: list[_OnnxNode] = []
    rights: dict[int, int] = {}
    stack: list[tuple[int, frozenset[int], int]] = [(0, frozenset(), -1)]
    while stack:
        node, asked, above = stack.pop()
        if above >= 0:
            rights[above] = len(written)
        feature = int(nodes.feature[node]) if node >= 0 else -1
        if feature < 0:
            cluster = ex.n_clusters if node < 0 else int(ex.tree.leaf_clusters[nodes.leaf[node]])
            written.append(_OnnxNode(-1, 0.0, 0, 0, cluster))
            continue
        if feature not in asked and feature not in gaps:
            asked |= {feature}
            stack.append((-1, asked, len(written)))
            written.append(_OnnxNode(feature, math.inf, len(written) + 1, 0, -1))
        stack += ((int(nodes.right[node]), asked, len(written)), (int(nodes.left[node]), asked, -1))
        written.append(_OnnxNode(feature, _rounded_down(nodes.threshold[node]), len(written) + 1, 0, -1))
    return [one._replace(right=rights.get(place, 0)) for place, one in enumerate(written)]


def _attributes(nodes: list[_OnnxNode]) -> dict[str, Any]:
    n = len(nodes)
    leaves = [place for place, one in enumerate(nodes) if one.feature < 0]
    return {
        "n_targets": 1,
        "nodes_treeids": [0] * n,
        "nodes_nodeids": list(range(n)),
        "nodes_featureids": [max(one.feature, 0) for one in nodes],
        "nodes_modes": ["LEAF" if one.feature < 0 else "BRANCH_LEQ" for one in nodes],
        "nodes_values": [one.threshold for one in nodes],
        "nodes_truenodeids": [one.left for one in nodes],
        "nodes_falsenodeids": [one.right for one in nodes],
        "nodes_missing_value_tracks_true": [0] * n,
        "nodes_hitrates": [1.0] * n,
        "target_treeids": [0] * len(leaves),
        "target_nodeids": leaves,
        "target_ids": [0] * len(leaves),
        "target_weights": [float(nodes[place].cluster) for place in leaves],
    }


def _rounded_down(threshold: Floats) -> float:
    """Return the largest float32 that is not above a threshold; the largest double parts numbers from missing ones."""
    if threshold == LARGEST:
        return math.inf
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
    return float(near if near <= threshold else np.nextafter(near, np.float32(-np.inf)))
