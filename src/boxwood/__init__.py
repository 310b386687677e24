"""Explain a clustering with a small tree of axis-aligned cuts.

`explain` takes a table and a clustering, and returns an `Explanation`: a rule for each cluster, and what the rules
lose. It reports more when asked (`profile`, `misassigned`, `why`, `frontier`, `stability`), draws (`plot`), writes a
report (`to_html`), and writes code that labels rows elsewhere (`to_sql`, `to_python`). `write_labels` labels tables of
any size, `compare` sets methods side by side, `load` reads a model file.

The algorithms are estimators, such as `IMM`, which `estimators` lists, and functions of `grow`. Trees as data are in
`tree`, measures in `metrics`, clusterers in `clusterers`. Everything is imported when it is first used.

Examples
--------
>>> import boxwood
>>> ages, labels = [[21.0], [34.0], [38.0], [61.0], [67.0]], ["young", "young", "young", "old", "old"]
>>> ex = boxwood.explain(ages, labels, columns=["age"])
>>> print(ex.rules())
old: age > 50
young: age <= 50
>>> print(ex.why({"age": 40}))
young, by leaf 0 (3 rows, 100.0% of them young)
  cut 1  age = 40  age <= 50  (10 from the cut, 0.58 standard deviations)
would be old if age were 51 (0.64 standard deviations away)
"""

from typing import TYPE_CHECKING

from boxwood._imports import attach
from boxwood._version import __version__ as __version__

if TYPE_CHECKING:
    from boxwood import axes as axes
    from boxwood import clusterers as clusterers
    from boxwood import concepts as concepts
    from boxwood import errors as errors
    from boxwood import estimators as estimators
    from boxwood import grow as grow
    from boxwood import kernels as kernels
    from boxwood import metrics as metrics
    from boxwood import render as render
    from boxwood import theory as theory
    from boxwood.api.compare_k import compare_k as compare_k
    from boxwood.api.explain import explain as explain
    from boxwood.api.explanation import Explanation as Explanation
    from boxwood.api.explanation import load as load
    from boxwood.api.living import match as match
    from boxwood.api.rules import read_rules as read_rules
    from boxwood.api.versions import show_versions as show_versions
    from boxwood.clusterers import *
    from boxwood.errors import DataError as DataError
    from boxwood.estimators import *
    from boxwood.explanation import Tally as Tally
    from boxwood.explanation import changes_in_words as changes_in_words
    from boxwood.explanation import compare as compare
    from boxwood.reference import Mixture as Mixture
    from boxwood.reference import Reference as Reference
    from boxwood.render import write_labels as write_labels
    from boxwood.table import scan as scan
    from boxwood.tree import ThresholdTree as ThresholdTree
    from boxwood.tree import TreeBuilder as TreeBuilder

_MODULES: dict[str, tuple[str, ...]] = {
    "boxwood.api.explain": ("explain",),
    "boxwood.api.explanation": ("Explanation", "load"),
    "boxwood.api.living": ("match",),
    "boxwood.api.compare_k": ("compare_k",),
    "boxwood.api.rules": ("read_rules",),
    "boxwood.api.versions": ("show_versions",),
    "clusterers": ("KMedians", "KernelKMeans", "MixedKMeans", "clusterers"),
    "errors": ("DataError", "errors"),
    "estimators": (
        *("CART", "ConceptMMDT", "ExKMC", "Expand", "IMM", "KernelExKMC", "KernelExpand", "KernelIMM", "KernelMMDT"),
        *("MMDT", "RandomCuts", "estimators"),
    ),
    "explanation": ("Tally", "changes_in_words", "compare"),
    "reference": ("Mixture", "Reference"),
    "render": ("render", "write_labels"),
    "table": ("scan",),
    "tree": ("ThresholdTree", "TreeBuilder"),
    **dict.fromkeys(("axes", "concepts", "grow", "kernels", "metrics", "theory"), ()),
}

_get, __dir__ = attach(__name__, _MODULES)
if not TYPE_CHECKING:  # checkers of types know the names above, and no others
    __getattr__ = _get
__all__ = __dir__()
