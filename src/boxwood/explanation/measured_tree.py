"""`MeasuredTree`: a tree that explains a clustering, and its measurements on data, as named fields."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from boxwood._dates import Dates
from boxwood._messages import as_written, list_words
from boxwood.axes import Categories
from boxwood.errors import DataError
from boxwood.explanation.claim import Claim
from boxwood.explanation.measure.evidence import BOOLEAN, Evidence
from boxwood.explanation.records import (
    Clusters,
    ClusterSummary,
    Condition,
    Details,
    Edit,
    Edits,
    LeafSummary,
    LimitFacts,
    Provenance,
    Rule,
    SearchReport,
    cluster_rules_of,
    only_value,
    rules_of,
    value_of_two,
)
from boxwood.tree import ThresholdTree
from boxwood.words.notes import EARLIER_NAMES, MADE_HERE
from boxwood.words.values import MOST_VALUES, CountedWords, cluster_name, column_name

if TYPE_CHECKING:
    from boxwood.explanation.measure.spreads import Spread
    from boxwood.explanation.records import HeldOut
    from boxwood.metrics.reading import Readability

WHOLE = "whole"
"""Mark of what is kept in a pickle: it tells of clusters of few rows, too, and a model file leaves these out."""
HELD = "rows in leaves"
"""What is kept of the rows of each cluster in each leaf where the rows themselves are not at hand."""
LIMITS_OF_SEARCH = {"agreement": ("max_depth", "min_samples_leaf", "forbidden"), "cost": ("forbidden",)}
"""Limits that leave trees out of what a search proves; one that was made under others has proved nothing."""
Tree = TypeVar("Tree", bound="MeasuredTree")
"""An `Explanation`, or what it is while it is measured: the same comes back."""


_OF_CLUSTERS = re.compile("cluster", re.IGNORECASE)  # in the name of a column: its numbers are names of clusters


@dataclass(frozen=True, repr=False)
class MeasuredTree:
    """The fields of an `Explanation`, which says what they are, and what follows from them alone.

    What measures, writes and draws takes this, so that `Explanation`, which hands over to all of them, stands above.
    """

    tree: ThresholdTree
    columns: tuple[str, ...]
    method: str
    n_rows: int
    n_left_out: int
    clusters: tuple[ClusterSummary, ...]
    leaves: tuple[LeafSummary, ...]
    cost: float
    reference_cost: float
    price: float
    agreement: float
    adjusted_rand: float
    readability: Readability
    notes: tuple[str, ...]
    details: Details
    search_report: SearchReport | None = None
    held_out: HeldOut | None = None
    limits: LimitFacts | None = None
    provenance: Provenance | None = field(default=None, compare=False)  # as the same tree may be made on two days
    changes: tuple[Edit, ...] = field(default=(), compare=False)  # as the same rules may be made in two ways
    _evidence: Evidence | None = field(default=None, compare=False)
    _kept: dict[str, Any] = field(default_factory=dict, compare=False)  # what was measured when asked for, by its name
    _short: ThresholdTree | None = field(default=None, compare=False)  # `tree` as words say it, where they are shorter

    def __post_init__(self) -> None:
        """Tell the clusters whether boxwood made them, and changes that they are some: that is how they are printed."""
        object.__setattr__(self, "changes", Edits(self.changes))
        clusters = Clusters(self.clusters)
        clusters._made_here = self._is_made_here
        object.__setattr__(self, "clusters", clusters)
        noise = self._count_noise()
        n_unruled = 0 if noise is None else self.n_left_out - sum(noise)
        object.__setattr__(self, "details", self.details._replace(noise=noise, n_unruled=n_unruled))

    def _count_noise(self) -> tuple[int, ...] | None:
        """Return the number of rows left out that the rules of each cluster take; None where that is not known."""
        taken = Counter[int]()
        for leaf in self.leaves:
            if leaf.noise is None:
                return None
            taken[leaf.cluster] += leaf.noise
        return tuple(taken[cluster] for cluster in range(self.n_clusters))

    def _with_details(self, **details: Any) -> Self:
        """Return the same with other details."""
        return replace(self, details=self.details._replace(**details))

    @property
    def _is_made_here(self) -> bool:
        """Whether boxwood made the clusters."""
        return self.provenance is not None and self.provenance.labels.startswith(MADE_HERE)

    @cached_property
    def names(self) -> tuple[Hashable, ...]:
        """Name of each cluster; labels that are numbers stay numbers."""
        return tuple(cluster.name for cluster in self.clusters)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.clusters)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.tree.n_leaves

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What was proved of the agreement, and of the costs, of all trees of as many leaves: a claim where one was."""
        if self.search_report is None:
            return ()
        gaps = {"agreement": self.search_report.agreement_gap, "cost": self.search_report.gap}
        return tuple(self._claim(measure, gap) for measure, gap in gaps.items() if gap is not None)

    def _claim(self, measure: str, gap: float) -> Claim:
        value, names = getattr(self, measure), LIMITS_OF_SEARCH[measure]
        limits = () if self.limits is None else tuple(name for name in names if getattr(self.limits, name))
        return Claim("trees", self.n_leaves, limits, measure, 0.0, self.details.weighted, value, gap)

    def _claim_on(self, measure: str) -> Claim | None:
        return next((one for one in self.claims if one.measure == measure), None)

    @property
    def baseline(self) -> float:
        """Agreement of giving every row to the largest cluster: `agreement` says something as far as it is above."""
        return max(cluster.share for cluster in self.clusters)

    @property
    def _coded_columns(self) -> dict[int, Categories]:
        """Index of each column without numbers, and the categories whose codes the tree tests."""
        column_categories = dict(self.details.categories)
        if not column_categories:
            return {}
        return {j: column_categories[name] for j, name in enumerate(self.columns) if name in column_categories}

    @property
    def _gap_columns(self) -> frozenset[int]:
        """Index of each column of numbers in which the tree takes a missing value as +inf."""
        gaps = set(self.details.gaps)
        return frozenset(j for j, name in enumerate(self.columns) if name in gaps) if gaps else frozenset()

    @property
    def _date_columns(self) -> dict[int, Dates]:
        """Index of each column of dates, which the tree takes as days, and how they are said."""
        return {self.columns.index(name): dates for name, dates in self.details.dates}

    @classmethod
    def _of(cls, measured: MeasuredTree) -> Self:
        """Return the same fields as one of this class."""
        if isinstance(measured, cls):
            return measured
        return _with_rows_of_words(cls(**{each.name: getattr(measured, each.name) for each in fields(MeasuredTree)}))

    def _in_words(self) -> Self:
        """Return the explanation as words say it: with short thresholds, which separate the same rows.

        Rules name a value where a range holds no other: x = 0 in place of x <= 0.3 where there are 0 and 1, and of
        x <= 0 where no number is below. Notes quote no cell.
        """
        said = replace(self, notes=as_written(self.notes))
        if self._short is not None:
            said = with_rules(said, self._short, self._coded_columns)
        return _with_values(said)

    def _for_people(self) -> Self:
        """Return the explanation as people read it: with the rows of words that are many, and clusters named in full.

        Where boxwood made the clusters, rules name only the words that their rows have.

        Labels that are numbers or booleans are `churn = 0` or `Income = 3` then, by the name of their column, unless
        that says itself that they are clusters.
        """
        said, label = _with_rows_of_words(self._in_words()), "" if self.provenance is None else self.provenance.label
        said = _with_words_held(said) if self._is_made_here else said
        are_values = all(isinstance(name, (bool, int, float)) for name in self.names)
        if not (label and are_values) or _OF_CLUSTERS.search(label):
            return said
        names = [f"{column_name(label)} = {name}" for name in self.names]
        clusters = Clusters(one._replace(name=name) for one, name in zip(said.clusters, names, strict=True))
        full = dict(zip(map(cluster_name, self.names), names, strict=True))
        pattern = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, sorted(full, key=len, reverse=True)))})(?![\w.]*\d)")
        notes = (pattern.sub(lambda found: full[found[1]], note) for note in said.notes)
        return replace(said, clusters=clusters, notes=tuple(notes))

    def _says_values(self, feature: int, lower: float, upper: float) -> bool:
        """Return whether a cut parts 0 from 1 in a column that holds only these, so that words name the value."""
        return self.columns[feature] in self.details.binary and (lower <= 0 <= upper) and not (lower <= 1 <= upper)

    @property
    def _in_memory(self) -> Evidence | None:
        """The rows that the explanation was measured on, if they are in memory."""
        return None if self._evidence is None or self._evidence.in_batches else self._evidence

    def _known(self) -> Evidence:
        """Return the rows that the explanation was measured on, wherever they are.

        Raises
        ------
        DataError
            If it was read from a model file or a pickle, which hold no rows.
        """
        if self._evidence is None:
            raise DataError("a model file or a pickle holds no rows; pass the rows and their labels: X, labels")
        return self._evidence

    def _rows(self, what: str = "this") -> Evidence:
        """Return the rows in memory that the explanation was measured on; IN: what: what needs them.

        Raises
        ------
        DataError
            As `_known` does, or if the rows are read in batches.
        """
        self._refuse_batches(what)
        return self._known()

    def _spreads(self) -> dict[int, Spread] | None:
        """Return the spread of each column of numbers that the tree tests; None if neither rows nor file have them."""
        if "spreads" not in self._kept and (rows := self._in_memory) is not None:
            from boxwood.explanation.measure.spreads import spreads_of

            tested = [j for j in self.tree.features.tolist() if j not in self._coded_columns]
            self._kept["spreads"] = spreads_of(rows.task, rows.coordinates.table.values, tested)
        return self._kept.get("spreads")

    def _refuse_batches(self, what: str) -> None:
        if self._evidence is not None and self._evidence.in_batches:
            from boxwood.explanation.measure.batch_statistics import refuse_all_rows

            refuse_all_rows(what, self._evidence.task.batches.source.name)

    def _refuse_no_rows(self, call: str) -> None:
        """Raise a DataError if the explanation holds no rows, so that what is asked for had to be measured before."""
        if self._evidence is None:
            raise DataError(
                f"a model file or a pickle holds no rows, and this was not asked for before; call {call} before save"
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a pickle, without rows or cells, but with what `why` and `drift` need of columns."""
        from boxwood.explanation.living.shapes import shapes_of

        self._spreads()
        shapes_of(self)
        kept = self._kept | {WHOLE: True}
        if self._evidence is not None:
            kept[HELD] = self._evidence.held
        return self.__dict__ | {"_evidence": None, "notes": as_written(self.notes), "_kept": kept}

    def __copy__(self) -> Self:
        """Return a copy that knows the same rows; the state for a pickle would leave them behind."""
        return replace(self, _kept=dict(self._kept))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a copy of everything but the rows, which both share: nothing changes them."""
        own = {one.name for one in fields(self)} - {"_evidence", "_kept"}
        copies = {name: deepcopy(getattr(self, name), memo) for name in own}
        return replace(self, **copies, _kept=dict(self._kept))


def with_kinds(explanation: Tree, booleans: Collection[str], dates: Mapping[str, Dates]) -> Tree:
    """Return the explanation with rules that say `member` and `not member` for booleans, and dates as dates.

    The tree tests a column of booleans as 0 and 1, which are the codes of False and True, and one of dates as days.
    """
    if explanation._evidence is not None and booleans:
        evidence = replace(explanation._evidence, booleans=tuple(booleans))
        explanation = replace(explanation, _evidence=evidence)
    coded, columns = explanation._coded_columns, explanation.columns
    known = tuple((name, dates[name]) for j, name in enumerate(columns) if name in dates and j not in coded)
    asked = {*explanation.tree.features.tolist()} - coded.keys() - explanation._gap_columns
    tested = sorted(j for j in asked if columns[j] in booleans)
    if not tested and not known:
        return explanation
    binary = tuple(name for name in explanation.details.binary if name not in booleans)
    explanation = explanation._with_details(binary=binary, dates=known)
    return with_rules(explanation, explanation.tree, coded | dict.fromkeys(tested, BOOLEAN))


def with_short_words(explanation: Tree, short: ThresholdTree) -> Tree:
    """Return the explanation whose words have the thresholds of another tree, which sends each row to the same leaf."""
    return explanation if short == explanation.tree else replace(explanation, _short=short)


def with_words_of(measured: Tree, known: MeasuredTree) -> Tree:
    """Return the facts of the same tree on other rows in the words that are known, if these part no row otherwise."""
    short, rows = known._short, measured._in_memory
    if short is None or rows is None or not np.array_equal(short.apply(rows.coordinates.table), rows.leaf):
        return measured
    return with_short_words(measured, short)


def _with_values(explanation: Tree) -> Tree:
    """Return the explanation whose rules name the value of a range that holds no other."""
    from boxwood.explanation.measure.told import spreads_told

    numbers = {explanation.columns[j]: spread for j, spread in (spreads_told(explanation) or {}).items()}
    numbers = {name: spread for name, spread in numbers.items() if name not in dict(explanation.details.dates)}

    def name_value(one: Condition) -> Condition:
        if one.column in explanation.details.binary:
            return one._replace(intervals=value_of_two(one))
        spread = numbers.get(one.column)
        if one.categories is not None or spread is None or spread.signed is None:
            return one
        how = {"whole": spread.whole, "signed": spread.signed}
        return one._replace(intervals=tuple(only_value(each, **how) for each in one.intervals))

    return _with_conditions(explanation, name_value)


def _with_rows_of_words(explanation: Tree) -> Tree:
    """Return the explanation whose columns of many words know the rows of each, if rows in memory or a file do.

    They begin without: a page on few rows knows fewer of them than the explanation that it shows.
    """
    known = {j: Categories(*one) for j, one in explanation._coded_columns.items() if len(one.values) > MOST_VALUES}
    if not known.keys() & {*explanation.tree.features.tolist()}:
        return explanation
    from boxwood.explanation.living.shapes import shapes_of

    found = dict(explanation.details.categories) | {explanation.columns[j]: one for j, one in known.items()}
    for j, shape in (shapes_of(explanation) or {}).items():
        if j in known:
            rows = [int(sum(of_word)) for of_word in zip(*shape.held, strict=True)]
            found[explanation.columns[j]] = CountedWords.of(known[j], rows, sum(rows))
    counted = explanation._with_details(categories=tuple(found.items()))
    return _with_conditions(counted, lambda one: one._replace(categories=found.get(one.column, one.categories)))


def _with_words_held(explanation: Tree) -> Tree:
    """Return the explanation whose rules name of words, but for those of few rows, only what rows of the cluster have.

    A rule that asks for other columns, too, may let in words that no row has there.
    """
    coded = explanation._coded_columns
    if not coded.keys() & {*explanation.tree.features.tolist()}:
        return explanation
    from boxwood.explanation.living.shapes import shapes_of

    shapes = shapes_of(explanation) or {}
    held = {explanation.columns[j]: np.array(shapes[j].held) for j in shapes.keys() & coded.keys()}

    def name_held(one: Condition, cluster: int) -> Condition:
        if one.categories is None or one.column not in held or not held[one.column][cluster].any():
            return one
        rows, codes = held[one.column], [int(each.lower) for each in one.intervals]
        places = [-1 if one.categories.values[code : code + 1] == (None,) else code for code in codes]
        is_kept = [rows[cluster, place] or not rows[:, place].any() for place in places]
        return one._replace(intervals=tuple(compress(one.intervals, is_kept)) or one.intervals)

    clusters = Clusters(
        one._replace(rules=tuple(tuple(name_held(each, one.cluster) for each in its) for its in one.rules))
        for one in explanation.clusters
    )
    return replace(explanation, clusters=clusters)


def _with_conditions(explanation: Tree, change: Callable[[Condition], Condition]) -> Tree:
    def said(rule: Rule) -> Rule:
        return tuple(map(change, rule))

    leaves = tuple(leaf._replace(rule=said(leaf.rule)) for leaf in explanation.leaves)
    clusters = Clusters(cluster._replace(rules=tuple(map(said, cluster.rules))) for cluster in explanation.clusters)
    return replace(explanation, leaves=leaves, clusters=clusters)


def with_rules(
    explanation: Tree, tree: ThresholdTree, coded: Mapping[int, Categories], short: ThresholdTree | None = None
) -> Tree:
    """Return the explanation with a tree and its rules, on the columns that hold codes; IN: short: as words say it."""
    said, beside = (tree, explanation.columns, coded), (explanation._gap_columns, explanation._date_columns)
    of_leaves, of_clusters = rules_of(*said, *beside), cluster_rules_of(*said, explanation.n_clusters, *beside)
    return replace(
        explanation,
        tree=tree,
        _short=short,
        details=explanation.details._replace(
            categories=tuple((explanation.columns[j], coded[j]) for j in sorted(coded))
        ),
        leaves=tuple(leaf._replace(rule=rule) for leaf, rule in zip(explanation.leaves, of_leaves, strict=True)),
        clusters=Clusters(
            cluster._replace(rules=rules) for cluster, rules in zip(explanation.clusters, of_clusters, strict=True)
        ),
    )


def explanation_of(model: Any) -> MeasuredTree:
    """Return the explanation of a fitted estimator; an explanation is returned as it is."""
    if isinstance(model, MeasuredTree):
        return model
    explanation = getattr(model, "explanation_", model)
    if not hasattr(explanation, "clusters"):
        raise TypeError(f"expected an Explanation or a fitted explainer of boxwood, got {type(model).__name__}")
    return explanation  # type: ignore[no-any-return]


def _names(note: str, name: str) -> bool:
    """Return whether a note has a name as a whole, rather than in other words."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", note) is not None


def with_names(ex: Tree, names: Mapping[Hashable, Hashable]) -> Tree:
    """See `Explanation.rename`."""
    from boxwood.reference.labels import given_names  # here, as who only predicts has no labels

    plain = given_names(ex.names, names, cluster_name)
    if twice := [name for name, n in Counter(plain).items() if n > 1]:
        raise DataError(
            f"clusters must have different names, got {list_words([cluster_name(name) for name in twice])} more "
            "than once; "
            "to make clusters of one name one, rename(..., merge=True)"
        )
    new = dict(zip(ex.names, plain, strict=True))
    said = [(cluster_name(old), cluster_name(name)) for old, name in new.items() if name != old]
    in_notes = [f"{name} was {old}" for old, name in said if any(_names(note, old) for note in ex.notes)]
    notes = ex.notes + ((f"{EARLIER_NAMES}{list_words(in_notes)}",) if in_notes else ())
    evidence, mixture = ex._evidence, ex.details.mixture
    if evidence is not None:
        evidence = replace(evidence, task=evidence.task.with_reference(evidence.task.reference.named(plain)))
    if mixture is not None:
        first, second = (new.get(name, name) for name in mixture.components)
        mixture = mixture._replace(
            components=(first, second),
            far_from_gaussian=tuple(
                one._replace(component=new.get(one.component, one.component)) for one in mixture.far_from_gaussian
            ),
        )
    clusters = Clusters(cluster._replace(name=name) for cluster, name in zip(ex.clusters, plain, strict=True))
    kept = {what: found for what, found in ex._kept.items() if what not in ("picture", "contrasts")}  # full of names
    if "stability" in kept:
        from boxwood.explanation.verdict import rename_stability

        kept["stability"] = rename_stability(kept["stability"], plain)
    details = ex.details._replace(mixture=mixture)
    renamed = replace(ex, clusters=clusters, notes=notes, details=details, _evidence=evidence, _kept=kept)
    if "lines" in kept:
        from boxwood.explanation.measure.lines import rename_rules as lines_renamed

        kept["lines"] = lines_renamed(kept["lines"], renamed)
    return renamed


def side_of_outcomes(ex: MeasuredTree) -> MeasuredTree | None:
    """Return the clusters in the columns of the outcomes, by a tree without a cut, so that it can be profiled.

    None if there are no outcomes, or a model file does not tell of them.
    """
    rows, known = None if ex._evidence is None else ex._evidence.outcomes, ex._kept.get("outcomes")
    if rows is None and known is None:
        return None
    kept = {} if known is None else {"profile": known}
    kept |= {WHOLE: True} if WHOLE in ex._kept else {}
    names = tuple(one.column for one in known or ()) if rows is None else rows.coordinates.columns
    dates = {} if rows is None else {rows.coordinates.columns[j]: its for j, its in rows.coordinates.dates.items()}
    tree = ThresholdTree.from_dict({"cluster": 0})
    details = ex.details._replace(categories=(), gaps=(), binary=(), dates=tuple(dates.items()))
    own: dict[str, Any] = {"columns": names, "details": details}
    return replace(ex, tree=tree, leaves=(), _short=None, **own, _evidence=rows, _kept=kept)
