"""Trees as nested dicts, for reading, and as flat JSON, for keeping."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from boxwood._messages import list_words
from boxwood._validation import show_value
from boxwood.errors import ModelError
from boxwood.tree.nodes import CutTest, runs_of
from boxwood.tree.tree import ThresholdTree, TreeBuilder

FORMAT, VERSION = "boxwood-tree", 1
MOST_CODES = 1 << 16  # of a column of categories
_CUT_KINDS = (("threshold", "left", "right"), ("interval", "inside", "outside"), ("values", "in", "out"))
_CHILDREN = tuple(child for _, *children in _CUT_KINDS for child in children)


def to_dict(tree: ThresholdTree) -> dict[str, Any]:
    """See `ThresholdTree.to_dict`. Built from the last node to the first, as children lie behind their parents."""
    nodes = to_nodes(tree)
    for node in reversed(nodes):
        for child in _CHILDREN:
            if child in node:
                node[child] = nodes[node[child]]
    return nodes[0]


def from_dict(d: dict[str, Any]) -> ThresholdTree:
    """See `ThresholdTree.from_dict`."""
    builder, stack, n_leaves = TreeBuilder(), [(0, d)], 0
    while stack:
        node, entry = stack.pop()
        cut = _read_cut(node, entry)
        if cut is None:
            builder.label(node, entry["cluster"])
            if entry.get("leaf", n_leaves) != n_leaves:
                raise ModelError(
                    f"leaves are numbered in order: expected leaf {n_leaves}, got {show_value(entry['leaf'])}"
                )
            n_leaves += 1
        else:
            test, first, second = cut
            left, right = builder.split(node, *test)
            stack += ((right, second), (left, first))
    return builder.build()


def to_json(tree: ThresholdTree) -> str:
    """See `ThresholdTree.to_json`."""
    return json.dumps({"format": FORMAT, "version": VERSION, "nodes": to_nodes(tree, _write)}, allow_nan=False)


def from_json(s: str) -> ThresholdTree:
    """See `ThresholdTree.from_json`."""
    try:
        document = json.loads(s)
    except (ValueError, RecursionError) as error:  # a ValueError also for a number of too many digits
        raise ModelError(f"this is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelError(f'this JSON is not a tree of boxwood: expected "format": "{FORMAT}"')
    if document.get("version") != VERSION:
        version = show_value(document.get("version"))
        raise ModelError(f"this tree is of format {version}; this version of boxwood reads {VERSION}")
    return from_nodes(document.get("nodes"))


def to_nodes(tree: ThresholdTree, write: Callable[[float], Any] = float) -> list[dict[str, Any]]:
    """Return one dict for each node, in pre-order, with children given by their index in the list.

    `write` turns a threshold into the value that is stored for it.
    """
    nodes: list[dict[str, Any]] = []
    n_leaves = 0
    columns = (tree.feature, tree.lower, tree.upper, tree.second, tree.cluster)
    for node, (feature, lower, upper, second, cluster) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        if feature < 0:
            nodes.append({"leaf": n_leaves, "cluster": cluster})
            n_leaves += 1
        elif tree.is_set[node]:
            nodes.append({"feature": feature, "values": list(tree.test(node).members), "in": node + 1, "out": second})
        elif lower == -math.inf:
            nodes.append({"feature": feature, "threshold": write(upper), "left": node + 1, "right": second})
        else:
            ends = [write(lower), write(upper)]
            nodes.append({"feature": feature, "interval": ends, "inside": node + 1, "outside": second})
    return nodes


def from_nodes(nodes: Any) -> ThresholdTree:
    """Return the tree that `to_nodes` wrote."""
    if not isinstance(nodes, list) or not nodes:
        raise ModelError("a tree is a list of nodes, at least one")
    linked = [dict(entry) if isinstance(entry, dict) else entry for entry in nodes]
    taken: set[int] = set()  # a node with two parents would be copied with all nodes below it, again and again
    for node, entry in enumerate(linked):
        for child in _CHILDREN if isinstance(entry, dict) else ():
            if child in entry:
                index = entry[child]
                if type(index) is not int or not node < index < len(linked) or index in taken:
                    what = "must be a later node with no other parent"
                    raise ModelError(f"node {node}: {child} {what}, got {show_value(index)}")
                taken.add(index)
                entry[child] = linked[index]
    try:
        tree = from_dict(linked[0])
    except (ValueError, ArithmeticError) as error:  # numbers that no tree can hold
        raise error if isinstance(error, ModelError) else ModelError(str(error)) from None
    if tree.n_nodes != len(nodes):
        raise ModelError(f"the list holds {len(nodes)} nodes, but the tree has {tree.n_nodes}")
    return tree


def _read_cut(node: int, entry: Any) -> tuple[CutTest, Any, Any] | None:
    if not isinstance(entry, dict):
        raise ModelError(f"node {node} must be an object, got {type(entry).__name__}")
    if "cluster" in entry and "feature" not in entry:
        _refuse_others(node, entry, {"leaf", "cluster"})
        if type(entry["cluster"]) is not int:
            raise ModelError(f"node {node}: cluster must be a whole number, got {show_value(entry['cluster'])}")
        return None
    for test, first, second in _CUT_KINDS:
        if test in entry:
            keys = {"feature", test, first, second}
            _refuse_others(node, entry, keys)
            missing = sorted(keys - entry.keys())
            if missing:
                raise ModelError(f"node {node} lacks {list_words(missing)}")
            if type(entry["feature"]) is not int:
                raise ModelError(f"node {node}: feature must be a whole number, got {show_value(entry['feature'])}")
            asked = (_read_codes if test == "values" else _read_ends)(node, entry["feature"], entry[test], test)
            return asked, entry[first], entry[second]
    raise ModelError(
        f"node {node} is neither a leaf (cluster) nor a cut (threshold, interval or values): {sorted(entry)}"
    )


def _read_ends(node: int, feature: int, value: Any, test: str) -> CutTest:
    if test == "threshold":
        return CutTest(feature, _read(node, value), -math.inf, ())
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ModelError(f"node {node}: an interval is two numbers, got {show_value(value)}")
    return CutTest(feature, _read(node, value[1]), _read(node, value[0]), ())


def _read_codes(node: int, feature: int, value: Any, test: str) -> CutTest:
    known = isinstance(value, (list, tuple)) and all(type(code) is int and 0 <= code < MOST_CODES for code in value)
    if not known or len(runs_of(value)) < 2 or list(value) != sorted(set(value)):
        raise ModelError(f"node {node}: values are ascending codes with a gap, such as [0, 2]; got {show_value(value)}")
    return CutTest(feature, float(value[-1]), float(value[0]), tuple(value))


def _refuse_others(node: int, entry: dict[str, Any], keys: set[str]) -> None:
    others = sorted(map(str, entry.keys() - keys))
    if others:
        raise ModelError(f"node {node} has unknown keys: {list_words(others)}; known: {', '.join(sorted(keys))}")


def _write(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)


def _read(node: int, value: Any) -> float:
    if value in ("inf", "-inf") or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return float(value)
    raise ModelError(f'node {node}: a threshold is a number, "inf" or "-inf"; got {show_value(value)}')
