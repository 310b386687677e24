"""`explain` on rows in memory: the question is posed, a tree is grown and finished, and everything is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from boxwood._frames import boolean_columns
from boxwood.explanation._asked import Asked
from boxwood.explanation._best import choose
from boxwood.explanation._budgets import settled, told
from boxwood.explanation._explanation import Explanation, with_booleans
from boxwood.explanation._facts import SearchFacts
from boxwood.explanation._gaps import complete_rows, refuse_other_index
from boxwood.explanation._guards import notes_on_agreement, notes_on_outcome
from boxwood.explanation._holdout import held_out
from boxwood.explanation._losses import Distance
from boxwood.explanation._measure import Costs, measure
from boxwood.explanation._notes_on_clusters import notes_on_kernel
from boxwood.explanation._of_explainer import explained_by, is_explainer, out_of_frozen, refuse_growing
from boxwood.explanation._options import with_defaults
from boxwood.explanation._question import Question, question_of, with_weights
from boxwood.grow._grown import Grown
from boxwood.grow._reached import leaves_reached

__all__ = ["explain_rows"]


def explain_rows(X: Any, clustering: Any, asked: Asked) -> Explanation:
    """Return the explanation of a clustering of the rows of an array or a data frame; see `explain`."""
    if is_explainer(clustering):
        explanation = _by_explainer(X, out_of_frozen(clustering), asked)
    else:
        explanation = _answered(question_of(X, clustering, asked), asked, made_here=clustering is None)
    return with_booleans(explanation, boolean_columns(X))


def _by_explainer(X: Any, explainer: Any, asked: Asked) -> Explanation:
    refuse_growing(explainer, asked)
    X, asked = with_weights(X, asked)
    refuse_other_index(X, sample_weight=asked.sample_weight)
    known = getattr(explainer, "feature_names_in_", asked.columns)
    columns = None if known is None else list(map(str, known))
    complete = complete_rows(X, columns, None, asked.sample_weight, asked.missing)
    explanation = explained_by(explainer, complete.X, asked.columns, asked.names, complete.sample_weight)
    return complete.told(explanation, complete.notes)


def _answered(question: Question, asked: Asked, *, made_here: bool) -> Explanation:
    task, name = question.task, asked.method
    options = with_defaults(name, asked.options, question.clusterer)
    grown = choose(task, name, progress=asked.progress, **options)
    tree, n_moved = question.finished(grown.tree)
    notes = (*question.notes, *grown.notes, *notes_on_kernel(question.clusterer, name))
    finished = grown._replace(tree=tree, notes=notes, facts=_proved(question, grown))
    explanation = measure(task, finished, question.coordinates, **_known(question, grown))
    afterwards = notes_on_outcome(explanation, made_here, question.clusterer)
    if name == "auto":
        afterwards += notes_on_agreement(explanation.agreement, grown.tree, settled(task, grown.tree))
    explanation = told(explanation, task, question.budget, n_moved)
    evidence = replace(
        explanation._rows(),
        grow=lambda other: grown if other is task else choose(other, name, **options),
        clusterer=question.clusterer,
        given=question.given,
        is_short=True,
        budget=question.budget,
    )
    explanation = replace(explanation, notes=(*explanation.notes, *afterwards), _evidence=evidence)
    explanation = question.complete.told(explanation)
    if asked.validate is None:
        return explanation
    distance = Distance(explanation.objective, evidence.kernel)
    return replace(explanation, held_out=held_out(evidence, asked.validate, distance, asked.progress))


def _proved(question: Question, grown: Grown) -> Mapping[str, Any]:
    """Return the facts of a growth, without the gap if the tree has other leaves on the columns of the table."""
    search: SearchFacts | None = grown.facts.get("search")
    if search is None or search.gap is None or question.keeps_leaves(grown.tree):
        return grown.facts
    return {**grown.facts, "search": search._replace(gap=None)}


def _known(question: Question, grown: Grown) -> dict[str, Any]:
    """Return what is known of the finished tree from its growth: the leaf of each row, and costs.

    Short thresholds keep the rows of all leaves, and so does a map, which may exchange leaves. A budget may move rows.
    The fact "costs" is the cost of the tree and that of the clusters.
    """
    here = question.coordinates
    if question.budget.given:
        return {}
    costs = grown.facts.get("costs") if here.measured is None else None
    leaf = leaves_reached(grown.tree, question.task) if here.axis_map is None else None
    return {"leaf": leaf, "costs": None if costs is None else Costs(*costs)}
