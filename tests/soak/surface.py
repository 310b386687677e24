"""The public surface, found by walking `__all__`, and valid arguments for it, found by the names of parameters.

A new function is covered without a line here if its parameters have names that are known. `MAKERS` has the values.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

import boxwood as bw
from boxwood import axes, concepts, grow, kernels, metrics
from boxwood._validation import Rows
from boxwood.theory import bounds, instances

__all__ = ["MAKERS", "MODULES", "Subject", "subjects"]

MODULES = (
    "boxwood",
    *(f"boxwood.{name}" for name in ("grow", "metrics", "theory", "theory.bounds", "theory.instances", "axes")),
    *(f"boxwood.{name}" for name in ("kernels", "concepts", "table", "render")),
)

rng = np.random.default_rng(0)
X = np.abs(rng.normal(size=(40, 3)) + 6 * (np.arange(40) % 3)[:, None])  # some kernels want no value below 0
Y = np.arange(40) % 3
CONCEPTS = {"red": X[:, 0] > 5, "size": X[:, 1]}


class _Values:
    """Values that calls need, each made once, when it is first asked for."""

    reference = functools.cached_property(lambda self: bw.Reference.of(X, Y))
    mixture = functools.cached_property(lambda self: bw.Mixture.of(X, Y))
    tree = functools.cached_property(lambda self: grow.imm(X, self.reference))
    explanation = functools.cached_property(lambda self: bw.explain(X, Y))
    tally = functools.cached_property(lambda self: bw.Tally.of(X, self.reference))
    similarity = functools.cached_property(
        lambda self: metrics.axis_similarity(self.mixture, kernel=kernels.Gaussian(0.5))
    )
    instance = functools.cached_property(lambda self: instances.unit_grid(5, d=20, steps=5, random_state=0))
    far_apart = functools.cached_property(lambda self: bw.Mixture([1, 1], [[0], [30]], [[1], [1]]))
    bound = functools.cached_property(lambda self: bounds.gap_error_bound(self.far_apart))
    scaling = functools.cached_property(lambda self: axes.Scaling(np.zeros(3), np.ones(3)))
    projector = functools.cached_property(lambda self: concepts.ConceptProjector().fit(X, CONCEPTS))
    concept_mmdt = functools.cached_property(lambda self: bw.ConceptMMDT(self.projector).fit(X, Y))
    scores = functools.cached_property(lambda self: bw.Mixture.of(X[:, :2], Y))


VALUES = _Values()
MAKERS: dict[str, Callable[[], Any]] = {
    "X": lambda: X,
    "Y": lambda: X[:20],
    "Z": lambda: X,
    "x": lambda: X,
    "examples": lambda: X,
    "points": lambda: X,
    "labels": lambda: Y,
    "y": lambda: Y,
    "predicted": lambda: Y,
    "clusters": lambda: [0, 1, 2],
    "clusterer": lambda: None,
    "concepts": lambda: CONCEPTS,
    "select.concepts": lambda: ["red"],
    "axis_kernel.x": lambda: X[:, 0],
    "axis_kernel.y": lambda: X[:, 0],
    "Precomputed.gram.X": lambda: X @ X.T,
    "Precomputed.diagonal.X": lambda: X @ X.T,
    "from_gaussian_mixture.mixture": lambda: GaussianMixture(3, covariance_type="diag", random_state=0).fit(X),
    "TreeBuilder.split.node": lambda: 1,
    "sets": lambda: {"red": (X, X[:5])},
    "n_clusters": lambda: 3,
    "compare_k.n_clusters": lambda: [2, 3],
    "max_leaf_nodes": lambda: 4,
    "methods": lambda: ["imm", "cart"],
    "max_concepts": lambda: 2,
    "n_axes": lambda: 3,
    "n_rows": lambda: 40,
    "n_trees": lambda: 2,
    "n_draws": lambda: 2,
    "n_permutations": lambda: 2,
    "n_features": lambda: 3,
    "kernel": lambda: kernels.Gaussian(0.5),
    "features": lambda: "taylor",
    "components": lambda: VALUES.mixture,
    "Mixture.part.components": lambda: [0, 1],
    "mixture": lambda: VALUES.mixture,
    "scores": lambda: VALUES.scores,
    "reference": lambda: VALUES.reference,
    "tree": lambda: VALUES.tree,
    "model": lambda: VALUES.explanation,
    "explanation": lambda: VALUES.explanation,
    "ExplanationDisplay.from_estimator.estimator": lambda: VALUES.concept_mmdt,
    "ax": lambda: Figure().subplots(),  # no window, and no figure that pyplot would keep
    "concept_text.model": lambda: VALUES.concept_mmdt,
    "projector": lambda: VALUES.projector,
    "concept_baseline.tree": lambda: bw.MMDT(),
    "make_concept_tree.tree": lambda: bw.MMDT(n_clusters=3),
    "make_concept_tree.report": lambda: None,
    "similarity": lambda: VALUES.similarity,
    "within_similarity": lambda: metrics.within_similarity(VALUES.mixture, kernel=kernels.Gaussian(0.5)),
    "tau_bound.within_similarity": lambda: 0.5,
    "mmd": lambda: 0.5,
    "instance": lambda: VALUES.instance,
    "damages.tree": lambda: grow.random_cuts(VALUES.instance.centers, random_state=0),
    "centers": lambda: VALUES.reference.centers,
    "kernel_mixture_price.centers": lambda: "mean",
    "center": lambda: X[0],
    "Reference.of.center": lambda: "mean",
    "median": lambda: X[1],
    "two_centers.median": lambda: "midpoint",
    "random_cuts.median": lambda: "midpoint",
    "weights": lambda: np.full(3, 1 / 3),
    "means": lambda: np.diag([0.0, 5.0, 9.0]),
    "variances": lambda: np.ones((3, 3)),
    "vectors": lambda: np.eye(3)[:2],
    "columns": lambda: ["a", "b", "c"],
    "tail_check.columns": lambda: None,
    "transformer": lambda: StandardScaler().fit(X),
    "axis_map": lambda: VALUES.scaling,
    "shift": lambda: np.zeros(3),
    "scale": lambda: np.ones(3),
    "profile": lambda: lambda x: np.exp(-x),
    "inverse": lambda: lambda x: -np.log(x),
    "series": lambda: lambda x: 1 + x,
    "coefficients": lambda: [1.0, 1.0],
    "TaylorKernel.powers.j": lambda: np.arange(3),
    "TaylorKernel.factors.x": lambda: np.arange(3.0),
    "ProductKernel.profile": lambda: (lambda x: np.exp(-x),) * 3,
    "ProductKernel.inverse": lambda: (lambda x: -np.log(x),) * 3,
    "time_limit": lambda: 0.2,
    "objective": lambda: "sqeuclidean",
    "KMedians.objective": lambda: "l1",
    "grow.random_cuts.objective": lambda: "l1",
    "grow.expand.objective": lambda: "cost",
    "grow.refine.objective": lambda: "cost",
    "k": lambda: 3,
    "d": lambda: 3,
    "q": lambda: 100.0,
    "e": lambda: 0.1,
    "m": lambda: 2.0,
    "t": lambda: 0.3,
    "v": lambda: 5.0,
    "far": lambda: 10.0,
    "gamma": lambda: 0.5,
    "radius": lambda: 1.0,
    "sigma": lambda: 1.0,
    "width": lambda: 1.0,
    "stretch": lambda: 2.0,
    "shrink": lambda: 0.5,
    "delta": lambda: 0.1,
    "cost": lambda: 10.0,
    "exact": lambda: {"price": 1.0},
    "threshold": lambda: 0.5,
    "feature": lambda: [0, -1, -1],
    "lower": lambda: [-np.inf, -np.inf, -np.inf],
    "upper": lambda: [0.5, np.inf, np.inf],
    "pull_back.lower": lambda: 0.0,
    "pull_back.upper": lambda: 1.0,
    "with_thresholds.lower": lambda: VALUES.tree.lower,
    "with_thresholds.upper": lambda: VALUES.tree.upper,
    "TreeBuilder.label.node": lambda: 1,
    "split.lower": lambda: 0.0,
    "split.upper": lambda: 0.5,
    "second": lambda: [2, -1, -1],
    "cluster": lambda: [-1, 0, 1],
    "TreeBuilder.label.cluster": lambda: 0,
    "TreeBuilder.split.feature": lambda: 0,
    "node": lambda: 0,
    "null": lambda: "directions",
    "leaf": lambda: 0,
    "j": lambda: 0,
    "n": lambda: 5,
    "Explanation.stability.n": lambda: 2,
    "distances": lambda: np.array([0.0, 1.0]),
    "levels": lambda: np.array([0.5, 0.9]),
    "column": lambda: 0,
    "Explanation.totals.column": lambda: VALUES.explanation.columns[0],
    "Explanation.split.column": lambda: VALUES.explanation.columns[0],
    "Explanation.replace_cut.column": lambda: VALUES.explanation.columns[0],
    "Explanation.move_cut.column": lambda: VALUES.explanation.columns[VALUES.explanation.tree.feature[0]],
    "Explanation.move_cut.at": lambda: float(VALUES.explanation.tree.upper[0]),
    "Explanation.move_cut.to": lambda: float(VALUES.explanation.tree.upper[0]) + 0.1,
    "Explanation.without.columns": lambda: (VALUES.explanation.columns[VALUES.explanation.tree.feature[0]],),
    "Explanation.merge_clusters.clusters": lambda: (0, 1),
    "Explanation.contrast.first": lambda: 0,
    "Explanation.plot_contrast.first": lambda: 0,
    "rows": lambda: [0, 1, 2],
    "Mixture.of_reference.rows": lambda: Rows.of(X),
    "moments": lambda: VALUES.reference.moments,
    "old": lambda: VALUES.tree,
    "new": lambda: VALUES.tree,
    "Tally.n_bins": lambda: VALUES.tally.n_bins,
    "Tally.counts": lambda: VALUES.tally.counts,
    "Tally.of.clusters": lambda: VALUES.reference,
    "Tally.load.path": lambda: "tally",
    "changes_in_words.rows": lambda: X,
    "match.old": lambda: VALUES.explanation,
    "match.new": lambda: VALUES.explanation,
    "Explanation.rename_like.old": lambda: VALUES.explanation,
    "Explanation.stay_close_to.old": lambda: VALUES.explanation,
    "estimator": lambda: KMeans(3, n_init=1, random_state=0).fit(X),
    "names": lambda: ["a", "b", "c"],
    "Explanation.rename.names": lambda: {0: "a"},
    "row": lambda: [1.0, 2.0, 3.0],
    "name": lambda: "a",
    "left_out": lambda: (),
    "n_empty": lambda: 0,
    "value": lambda: 1.0,
    "clipped": lambda: 1.0,
    "conditions": lambda: (),
    "source": lambda: "a paper",
    "scan.source": lambda: "SELECT 1.5 AS a, 2 AS b",
    "read_rules.source": lambda: {"a": "x0 > 1"},
    "text": lambda: "k > 1",
    "status": lambda: "holds",
    "s": lambda: VALUES.tree.to_json(),
    "Explanation.from_json.s": lambda: VALUES.explanation.to_json(),
    "from_dict.d": lambda: VALUES.tree.to_dict(),
    "path": lambda: "table.csv",
    "load.path": lambda: "model.json",
    "save.path": lambda: "saved.json",
    "out": lambda: "out.csv",
    "write_labels.table": lambda: pd.DataFrame(X, columns=VALUES.explanation.columns),
    "write_labels.out": lambda: "out.parquet",
    "write_labels.column": lambda: "cluster",
    "expression": lambda: "CASE WHEN x0 > 0 THEN 1 END",
    "needed": lambda: {"x0": "a"},
    "projected": lambda: X,
    "bounds": lambda: VALUES.bound,
}
"""A valid value for a parameter: for `CLASS.METHOD.PARAMETER`, else `FUNCTION.PARAMETER`, else its name alone."""


SMALL = {
    "gamma",
    "null",
    "bounds",
    "n_clusters",
    "n_trees",
    "n_draws",
    "n_permutations",
    "projector",
    "time_limit",
    "ax",
    "n",
    "changes_in_words.rows",
    "optimal.max_leaf_nodes",
}
"""Parameters that get their value even where they have a default, because that is long or cannot be used here."""


class Subject(NamedTuple):
    """A public callable, and how a valid call is made."""

    name: str  # such as metrics.cost or IMM.predict
    module: str
    call: Callable[..., Any]
    parameters: tuple[inspect.Parameter, ...]
    base: dict[str, Any]


def subjects() -> tuple[list[Subject], list[str]]:
    """Return what can be called, and the names of public callables for which no valid call is known."""
    found, lacking = [], []
    for module, name, function in _public():
        for subject, parameters in _calls(module, name, function):
            base, missing = _base(subject, parameters)
            if missing:
                lacking.append(f"{subject.name} (no value for {', '.join(missing)})")
            else:
                found.append(subject._replace(base=base))
    return found, lacking


def _public() -> Iterator[tuple[str, str, Any]]:
    seen = set()
    for module in MODULES:
        home = import_module(module)
        for name in home.__all__:
            thing = getattr(home, name)
            hidden = _is_error(thing) or inspect.isabstract(thing)
            if callable(thing) and id(thing) not in seen and not hidden:
                seen.add(id(thing))
                yield module, name, thing


def _is_error(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, Exception)


def _calls(module: str, name: str, function: Any) -> Iterator[tuple[Subject, list[inspect.Parameter]]]:
    """Yield a function; for a class its constructor, and its public methods on an instance made by valid arguments."""
    short = module.removeprefix("boxwood").lstrip(".")
    full = f"{short}.{name}" if short else name
    estimator = inspect.isclass(function) and hasattr(function, "fit")
    call = _fitting(function) if estimator else function
    yield _subject(full, module, call, inspect.signature(function))
    if not inspect.isclass(function):
        return
    for method, kind in _methods(function):
        target = getattr(function, method) if kind is classmethod else _on_instance(function, method, full)
        parameters = list(inspect.signature(getattr(function, method)).parameters.values())
        parameters = parameters if kind is classmethod else parameters[1:]
        yield _subject(f"{full}.{method}", module, target, inspect.Signature(parameters))


def _subject(name: str, module: str, call: Any, signature: inspect.Signature) -> tuple[Subject, list]:
    parameters = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    return Subject(name, module, _by_names(call, parameters), tuple(parameters), {}), parameters


def _by_names(call: Any, parameters: list[inspect.Parameter]) -> Any:
    """Return a callable that takes all of its arguments by their names, also those that have a place alone."""
    placed = [each.name for each in parameters if each.kind is inspect.Parameter.POSITIONAL_ONLY]
    if not placed:
        return call
    return lambda **given: call(*(given.pop(name) for name in placed if name in given), **given)


def _methods(cls: type) -> Iterator[tuple[str, type | None]]:
    for name, member in inspect.getmembers_static(cls):
        inner = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        ours = inspect.isfunction(inner) and inner.__module__.startswith("boxwood")
        if ours and not name.startswith("_"):
            yield name, type(member) if isinstance(member, (classmethod, staticmethod)) else None


def _fitting(cls: type) -> Callable[..., Any]:
    def construct_and_fit(**arguments: Any) -> Any:
        estimator = cls(**arguments)
        return estimator.fit(X, CONCEPTS if cls is concepts.ConceptProjector else None)

    return construct_and_fit


def _on_instance(cls: type, method: str, full: str) -> Callable[..., Any]:
    def call_method(*args: Any, **given: Any) -> Any:
        return getattr(_instance(cls, full), method)(*args, **given)

    return call_method


READY: dict[type, Callable[[], Any]] = {
    bw.Explanation: lambda: VALUES.explanation,
    bw.ThresholdTree: lambda: VALUES.tree,
    bw.TreeBuilder: lambda: bw.TreeBuilder.from_tree(VALUES.tree)[0],
    bw.Reference: lambda: VALUES.reference,
    bw.Mixture: lambda: VALUES.mixture,
    bw.Tally: lambda: VALUES.tally,
    instances.Instance: lambda: instances.constant_price(3),
    concepts.ConceptProjector: lambda: VALUES.projector,
}


def _instance(cls: type, full: str) -> Any:
    """Return an instance of its own, fitted where it can be, because a method may change it."""
    made = READY[cls]() if cls in READY else _made(cls, full)
    return copy.deepcopy(made) if hasattr(cls, "fit") else made  # others never change


@functools.cache
def _made(cls: type, full: str) -> Any:
    subject, parameters = _subject(full, "", cls, inspect.signature(cls))
    base, _ = _base(subject, parameters)
    return _fitting(cls)(**base) if hasattr(cls, "fit") else cls(**base)


def _base(subject: Subject, parameters: list[inspect.Parameter]) -> tuple[dict[str, Any], list[str]]:
    """Return valid arguments of a call, and the names of parameters that need one and have none."""
    base, missing = {}, []
    for each in parameters:
        words = f"{subject.name}.{each.name}".split(".")
        maker = next((MAKERS[key] for i in range(len(words)) if (key := ".".join(words[i:])) in MAKERS), None)
        is_rest = each.kind is inspect.Parameter.VAR_POSITIONAL
        needed = each.default is inspect.Parameter.empty and not is_rest
        small = each.name in SMALL or ".".join(words[-2:]) in SMALL or is_rest
        if maker is not None and (needed or small):
            base[each.name] = maker()
        elif needed:
            missing.append(each.name)
    return base, missing
