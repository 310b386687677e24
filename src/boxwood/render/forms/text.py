"""Text of an explanation or of a tree: lines, sentences, a table for a spreadsheet, Markdown."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._messages import as_cell
from boxwood._validation import list_words, refuse_unknown
from boxwood.axes import Categories
from boxwood.columns.rules import IN_SHORT, NO_VALUES, ONE_VALUE, THE_LABELS
from boxwood.explanation.living.shapes import rows_lacking
from boxwood.explanation.measure.besides import say_besides
from boxwood.explanation.measure.left_out import say_left_out
from boxwood.explanation.measure.order_of_rows import say_order
from boxwood.explanation.measure.spoken import spoken_names
from boxwood.explanation.measure.told import totals_told
from boxwood.explanation.measured_tree import explanation_of
from boxwood.explanation.records import NOT_CHOSEN
from boxwood.render.forms.exporters import STYLES
from boxwood.render.forms.rule_list import rule_list
from boxwood.render.forms.walk import (
    WalkStep,
    outline,
    outline_lines,
    provenance,
    sides_of_cut,
    sides_of_two,
    sides_with_gaps,
    too_deep,
)
from boxwood.tree import Box, Interval, ThresholdTree
from boxwood.tree.boxes import boxes, reached_by_missing
from boxwood.words.claims import at_least, none_better
from boxwood.words.lines import sentences_on_rules as lines_findings
from boxwood.words.lines import table_of
from boxwood.words.measured import cluster_parts, doubt, say_method, totals_text
from boxwood.words.notes import CHOSEN, NO_GROUPS, NO_KINDS, OF_LUCK, found_in, in_order, in_short, why_no_kinds
from boxwood.words.rule_heads import head_texts, legend
from boxwood.words.rules import DOUBT, NOT_COUNTED, cluster_rule, condition, day_line, rule, say_numbers
from boxwood.words.values import (
    align_lines,
    cluster_name,
    column_name,
    count_of,
    fit_width,
    group_digits,
    join_words,
    none_of,
    number,
    of_leaves,
    one_of,
    percent,
    price,
    shorten_name,
    size,
    text_width,
    width,
)

if TYPE_CHECKING:
    from boxwood.explanation.measure.lines import MeasuredRules
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.explanation.records import ClusterSummary, DrawFacts, KernelFacts, MixtureFacts
    from boxwood.words.living import CellRows, Said

TELLING = 0.02  # a larger gap says more of the search than of the tree
_OF_COSTS = {
    "sqeuclidean": "the squared distances of rows to the mean of their cluster",
    "l1": "the ℓ1 distances of rows to the median of their cluster",
    "l2": "the Euclidean distances of rows to the median of their cluster",
}
_OF_DISTANCES = {"sqeuclidean": "", "l1": " (ℓ1 distances)", "l2": " (Euclidean distances)"}


def rules(model: Any, *, full: bool = False) -> str:
    """Return one line for each cluster: its name and its rule.

    Parameters
    ----------
    model : Explanation, or a fitted estimator with `explanation_`
    full : bool, default=False
        Whether rules name all words of a list, however many these are, as `to_dict` does.

    Examples
    --------
    >>> import boxwood
    >>> ex = boxwood.explain([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"], columns=["age"])
    >>> print(rules(ex))
    high: age > 5
    low: age <= 5
    """
    clusters = explanation_of(model)._for_people().clusters
    return "\n".join(f"{cluster_name(cluster.name)}: {cluster_rule(cluster, whole=full)}" for cluster in clusters)


def text(model: Any) -> str:
    """Return a model as text: an `Explanation` as it is printed; the tree of an estimator, or a tree itself.

    A threshold is printed as the shortest decimal that reads back as the same double; that of an estimator's
    explanation as the shortest one that separates the same rows. Only shares and costs are rounded.

    Parameters
    ----------
    model : Explanation, ThresholdTree, or estimator with `tree_`

    Examples
    --------
    >>> from boxwood import ThresholdTree
    >>> print(text(ThresholdTree.from_dict(
    ...     {"feature": 0, "threshold": 3.0, "left": {"cluster": 1}, "right": {"cluster": 0}}
    ... )))
    |--- x0 <= 3
    |   |--- cluster 1
    |--- x0 >  3
    |   |--- cluster 0
    """
    if isinstance(model, ThresholdTree):
        return _tree_text(model, None, None)
    if hasattr(model, "clusters") and hasattr(model, "leaves"):  # first, as it looks for names like one that it lacks
        return brief(model)
    if hasattr(model, "tree_"):
        columns = getattr(
            model, "concept_names_", getattr(model, "feature_names_in_", None)
        )  # the columns that its tree tests
        return _tree_text(model.tree_, columns, model.reference_.names)
    raise TypeError(f"expected an Explanation, a tree or a fitted estimator of boxwood, got {type(model).__name__}")


# ------------------------------------------------------------------------------------------------- explanation
def brief(model: Any, *, more: str = "ex.notes", lines: str = "ex.standalone_rules()", columns: str = "columns") -> str:
    """Return the rules, what they lose, and the note that asks for the most important thing to be done, if one does.

    IN: more, lines: where the other notes and one-line rules are; columns: what brings in columns that are left out.
    """
    whole = explanation_of(model)
    ex = whole._for_people()
    of_lines = [] if "lines" in whole._kept else _on_lines(ex, lines)
    said = [*_on_left_out(ex, columns), *in_short(_notes_beside(ex), more), *of_lines]
    is_kind = not why_no_kinds(ex.notes)
    rules = [*_clusters(ex), "\n".join([_loss(ex), *_held_out(ex)])] if is_kind else [_parts(ex)]
    parts = [headline(ex), *rules, *_worth(ex)]
    return "\n\n".join([*parts, "\n".join(said)] if said else parts)


def _parts(ex: MeasuredTree) -> str:
    """Return a line for each cluster that is no kind of rows; ranges of a column come from its least values on."""
    whole = sum(one.matched for one in ex.clusters) or 1.0
    found = [ex.clusters[c] for c in dict.fromkeys([*ex.tree.leaf_clusters.tolist(), *range(ex.n_clusters)])]
    lines = [
        (
            shorten_name(cluster_name(one.name)),
            f"{size(one.matched)} rows",
            percent(one.matched / whole),
            cluster_rule(one),
        )
        for one in found
    ]
    names = join_words([column_name(ex.columns[j]) for j in ex.tree.features.tolist()], _NAMED)
    return "\n".join([f"If parts are wanted, divide the rows by {names}:", *align_lines(lines, {0, 3})])


_NAMED = 4  # columns


def _notes_beside(ex: MeasuredTree) -> list[str]:
    """Return the notes, without those that say in other words that there are no kinds, if the headline does."""
    notes = notes_of(ex)
    if not why_no_kinds(notes):
        return notes
    return [note for note in notes if not _OF_KINDS.search(note)]


_OF_KINDS = re.compile(rf"^({NO_KINDS}|{NO_GROUPS})| alone decides the |{CHOSEN.pattern}")


def _on_left_out(ex: MeasuredTree, how: str) -> list[str]:
    """Return which columns that hold something rules do not use, and in a word why; IN: how: what brings them in."""
    known = () if ex.provenance is None else ex.provenance.left_out
    told = [
        f"{list_words([*map(column_name, names)])} ({IN_SHORT.get(reason) or reason.partition(' (')[0]})"
        for reason, names in known
        if reason not in _SAY_NOTHING
    ]
    return [f"Left out: {'; '.join(told)}; to use them: {how}"] if told else []


_SAY_NOTHING = (NO_VALUES, ONE_VALUE, THE_LABELS, NOT_CHOSEN)  # reasons that nobody need be told


def _on_lines(ex: MeasuredTree, where: str) -> list[str]:
    """Return where one-line rules are, if a cluster's rule is more than twice as long as any of them."""
    longest = max(ex.clusters, key=lambda one: sum(map(len, one.rules)))
    n = sum(map(len, longest.rules))
    if n <= LONG:
        return []
    name = shorten_name(cluster_name(longest.name))
    return [f"The rule of {name} has {n} conditions; a one-line rule has up to three: {where}"]


def _summary(ex: MeasuredTree) -> str:
    """Return all that is said of an explanation in words."""
    ex = ex._for_people()
    doubts = [note for note in ex.notes if note.endswith(DOUBT)]
    others = [note for note in notes_of(ex) if note not in doubts]
    parts = [headline(ex), _notes(doubts), *_clusters(ex), *findings(ex), _notes(others)]
    return "\n\n".join(part for part in parts if part)


def _clusters(ex: MeasuredTree) -> list[str]:
    """Return a line for each cluster, and as what missing values count where boxwood made the clusters."""
    lacking = rows_lacking(ex) if ex._is_made_here else NOT_COUNTED  # which looks at all rows
    parts = cluster_parts(ex.clusters, made_here=ex._is_made_here, lacking=lacking, spoken=spoken_names(ex))
    tested = ex.tree.features.tolist()
    return [*parts, *_besides(ex), *day_line(dates for j, dates in ex._date_columns.items() if j in tested)]


def _besides(ex: MeasuredTree) -> list[str]:
    """Return what other columns, used or left out, and the order of rows say of clusters that boxwood made."""
    return [said for said in (say_besides(ex), say_left_out(ex), *say_order(ex)) if said]


def _notes(notes: Sequence[str]) -> str:
    return "\n".join(f"Note: {note}" for note in notes)


LONG = 6  # conditions of a rule, over all its leaves
NO_PRICE = "no price is shown, as these clusters do not follow distances"


def notes_of(ex: MeasuredTree) -> list[str]:
    """Return the notes as they are printed, the gravest first; `search_report.reason` says in full why no price is.

    What is measured of new rows is not guessed as well.
    """
    reason = "" if ex.search_report is None else ex.search_report.reason
    notes = (note for note in ex.notes if ex.held_out is None or not OF_LUCK.match(note))
    return in_order(NO_PRICE if reason and note == reason else note for note in notes)


def findings(ex: MeasuredTree) -> list[str]:
    """Return the paragraphs on the loss, on how the tree was grown, and on what else is known of it."""
    parts = ["\n".join([_loss(ex), *_held_out(ex), *_noise(ex), _origin(ex)])]
    parts += _worth(ex)
    parts += [] if ex.details.mixture is None else [_gaussians(ex.details.mixture, ex.method)]
    parts += [] if ex.details.draws is None else [_draws(ex.details.draws)]
    parts += [] if ex.details.kernel is None else [_kernel(ex.details.kernel)]
    return parts


def _worth(ex: MeasuredTree) -> list[str]:
    worth = totals_told(ex)
    return [] if worth is None else [totals_text(worth, ex.names)]


def always(ex: MeasuredTree) -> str:
    """Return the agreement of the largest cluster alone, beside which that of the rules stands."""
    largest = max(ex.clusters, key=lambda cluster: cluster.share)
    return f"always {shorten_name(cluster_name(largest.name))}: {percent(ex.baseline)}"


def title_of(ex: MeasuredTree) -> str:
    """Return how many clusters and rows there are, or that no groups of rows show."""
    return found_in(ex.notes, ex.n_clusters, count_of(ex.n_rows - ex.n_left_out, "row"))


def right_for(ex: MeasuredTree) -> str:
    """Return for how many rows the rules are right."""
    return f"right for {percent(ex.agreement)} of the {'weight' if ex.details.weighted else 'rows'}"


def title_lines_of(ex: MeasuredTree, room: float, letters: float) -> list[str]:
    """Return the title of a picture, in two lines where it is too wide for one; IN: letters: their size."""
    title, said = title_of(ex), f"the rules are {right_for(ex)}"
    fits = text_width(f"{title}: {said}", letters) <= room
    return [fit_width(line, room, letters) for line in ([f"{title}: {said}"] if fits else [f"{title}:", said])]


def tells_price(ex: MeasuredTree) -> bool:
    """Return whether the price says something: not where agreement alone decided."""
    return ex.search_report is None or not ex.search_report.by_agreement


def headline(ex: MeasuredTree) -> str:
    """Return what was found, and how many rows, leaves and columns there are."""
    kept = count_of(ex.n_rows - ex.n_left_out, "row")
    labelled = ex.n_left_out - ex.details.n_incomplete
    parts = [f"{count_of(labelled, 'row')} {_lacking(ex)}"] * bool(labelled)
    why = "" if ex.details.gaps or ex.details.categories else " with missing values"  # others may lack some, too
    parts += [f"{count_of(ex.details.n_incomplete, 'row')}{why}"] * bool(ex.details.n_incomplete)
    left_out = f" ({' and '.join(parts)} left out)" if parts else ""
    found = found_in(ex.notes, ex.n_clusters, f"{kept}{left_out}")
    if why := why_no_kinds(ex.notes):
        return f"{found}: {why}."
    used = f"{ex.tree.features.size:,} of {count_of(len(ex.columns), 'column')}"
    return f"{found}, explained by {of_leaves(ex.n_leaves)} on {used}"


def _lacking(ex: MeasuredTree) -> str:
    """Return what rows lack that are left out although they have all values."""
    return "without a label or weight" if ex.details.weighted else "without a label"


def _loss(ex: MeasuredTree) -> str:
    rows = "rows by weight" if ex.details.weighted else "rows"
    agreement = f"The rules agree with the clusters on {percent(ex.agreement)} of {rows} ({always(ex)})"
    if not tells_price(ex):
        return f"{agreement}."
    what = (
        "within-cluster cost"
        + _OF_DISTANCES[ex.details.objective]
        + (" in the kernel's feature space" if ex.details.kernel else "")
    )
    if ex.reference_cost == 0:
        if ex.cost == 0:
            return f"{agreement}; {what} is zero for both (price of explainability 1)."
        return (
            f"{agreement}; {what} is zero for the clusters but {ex.cost:.3g} for the rules "
            "(price of explainability infinite)."
        )
    if price(ex.price) == "1":
        return f"{agreement}; {what} is that of the clusters (price of explainability 1)."
    times = f"{what} is {price(ex.price)} times that of the clusters (price of explainability)"
    below = (
        f"; it is below 1 because the clusters do not minimise {_OF_COSTS[ex.details.objective]}"
        if ex.price < 0.995
        else ""
    )
    return f"{agreement}; {times}{below}{' in that space' if below and ex.details.kernel else ''}."


def _held_out(ex: MeasuredTree) -> list[str]:
    """Return a sentence on rows that were not used to grow, if some were held out."""
    if ex.held_out is None:
        return []
    agreement = percent(ex.held_out.agreement)
    return [
        f"Expect about {ex.held_out.agreement:.0%} on new rows like these: on rows that they had not seen, rules grown "
        f"the same way agree on {agreement} ({ex.held_out.how})."
    ]


def _noise(ex: MeasuredTree) -> list[str]:
    """Return a sentence on what the rules do with rows left out, if there are any."""
    noise = ex.details.noise
    if not noise or not any(noise):
        return []
    order = sorted(range(ex.n_clusters), key=lambda cluster: -noise[cluster])
    taken = [f"{noise[i]:,} in {shorten_name(cluster_name(ex.names[i]))}" for i in order if noise[i]]
    of = "left out" if ex.details.n_incomplete > ex.details.n_unruled else _lacking(ex)
    return [f"Of the {count_of(ex.n_left_out - ex.details.n_unruled, 'row')} {of} the rules put {list_words(taken)}."]


def _origin(ex: MeasuredTree) -> str:
    """Return how the tree was grown, and how far it is from the best, where that is known."""
    text = f"Grown by {say_method(ex.method)}"
    if more := unbeaten(ex):
        return f"{text}; {more}."
    cost = ex._claim_on("cost")
    return f"{text}." if cost is None or cost.by > TELLING else f"{text}; {none_better(cost)}."


def unbeaten(ex: MeasuredTree) -> str:
    """Return that no tree agrees more, or not much more, where agreement alone decided and that is known."""
    claim = ex._claim_on("agreement")
    return "" if claim is None or claim.by > TELLING or claim.value == 1 else none_better(claim)


def _gaussians(facts: MixtureFacts, method: str) -> str:
    least = at_least(min(1 - facts.certified_error, 0.999)) if facts.certified_error else "100.0%"
    first, second = (shorten_name(cluster_name(name)) for name in facts.components)
    of_rows = "Gaussians with the means and variances of the clusters' rows"
    text = (
        f"Estimated from {of_rows if facts.fitted is False else 'the Gaussians behind the clusters'}: at least "
        f"{least} of rows of these Gaussians end in their own leaf; the explainability-to-noise ratio is "
        f"{facts.explainability_to_noise:.3g}, attained by {first} and {second} on {column_name(facts.column)}."
    )
    return f"{text}\n{_far(facts, method)}" if facts.far_from_gaussian else text


def _draws(facts: DrawFacts) -> str:
    trees = f"{facts.n_trees:,} random trees" if facts.n_trees > 1 else "1 random tree"
    text = (
        f"The best of {trees} costs {facts.best:.3g} times the clusters, the mean {facts.mean:.3g}, the worst "
        f"{facts.worst:.3g}, all around the clusters' centres."
    )
    if facts.bound is None:
        return f"{text} There is no guarantee, as not every column may be tested."
    bound = f"at most {facts.bound:.4g} times the clusters, for any data"
    return f"{text}\nGuaranteed: a random tree costs on average {bound}."


def _kernel(facts: KernelFacts) -> str:
    text = f"Measured in the feature space of {facts.kernel}, where no tree can have a price above "
    return (
        f"{text}{facts.price_ceiling:.3g}."
        if facts.price_ceiling >= 2
        else (f"{text}{facts.price_ceiling:.3g}; so near 1 the price says little, and the agreement more.")
    )


def _far(facts: MixtureFacts, method: str) -> str:
    far = [
        f"{shorten_name(cluster_name(one.component))} on {column_name(one.column)} ({one.verdict})"
        for one in facts.far_from_gaussian
    ]
    better = "; method cart or imm does not rest on Gaussians" if method.startswith("mmdt") else ""
    return f"Warning: far from Gaussian: {list_words(far, 5)}, so these estimates may not hold{better}."


# -------------------------------------------------------------------------------------------------------- tree
def _tree_text(tree: ThresholdTree, columns: Sequence[str] | None, names: Sequence[Hashable] | None) -> str:
    def tests(step: WalkStep) -> tuple[str, str]:
        feature, upper, lower, members = tree.test(step.node)
        name = f"x{feature}" if columns is None else column_name(str(columns[feature]))
        if members:
            return f"{name} is {one_of(members)}", f"{name} is {none_of(members)}"
        return sides_of_cut(name, lower, upper, number)

    clusters = tree.cluster.tolist()
    return outline(tree, tests, lambda node: cluster_name(clusters[node] if names is None else names[clusters[node]]))


def full_text(model: Any, *, style: str = "full") -> str:
    """Return the summary and the tree of an explanation, or its rules alone; see `Explanation.to_text`."""
    refuse_unknown("style", style, STYLES)
    ex = explanation_of(model)
    if style == "list":
        return rule_list(ex)
    if style == "sentences":
        return sentences(ex)
    return f"{_summary(ex)}\n\n{tree(ex)}"


TREE_FROM = 4  # leaves, from which on a tree shows more than the rules


def command_text(model: Any, *, more: str) -> str:
    """Return what a command prints: the rules in brief, and the tree where it shows more than they do."""
    ex = explanation_of(model)
    said = brief(ex, more=more, lines="--standalone-rules", columns="-c")
    return said if ex.n_leaves < TREE_FROM else f"{said}\n\n{tree(ex)}"


def tree(model: Any) -> str:
    """Return the tree of an explanation: a line for each side of a cut, and for each leaf with its cluster and rows.

    The lines have the shape of scikit-learn's `export_text`. A leaf shows how many rows of the explained table it
    holds, or their weight, and which share of all that is. Columns of words are cut in words.
    """
    ex = explanation_of(model)._for_people()
    if too_deep(ex.tree) is not None:
        return f"(A tree of depth {ex.tree.depth:,} is too deep for a text; the rules say the same.)"
    lines = outline_lines(ex.tree, _CutWords(ex).tests, lambda node: _leaf_name(ex, node))
    ends = _ends(ex)
    widest = max(width(line) for line, node in lines if node >= 0)
    return "\n".join(line if node < 0 else f"{_pad_line(line, widest)}  {ends[node]}" for line, node in lines)


def _leaf_name(ex: MeasuredTree, node: int) -> str:
    return shorten_name(cluster_name(ex.names[int(ex.tree.cluster[node])]))


def _ends(ex: MeasuredTree) -> dict[int, str]:
    """Return the rows and the share of each leaf, by its node."""
    sizes = [leaf.size for leaf in ex.leaves]
    whole = sum(sizes) or 1
    counts = [size(rows) for rows in sizes]
    shares = [percent(rows / whole) for rows in sizes]
    longest, widest = max(map(len, counts)), max(map(len, shares))
    nouns = ["of weight" if ex.details.weighted else "row " if rows == 1 else "rows" for rows in sizes]
    parts = zip(counts, nouns, shares, strict=True)
    texts = [f"{count.rjust(longest)} {noun}  {share.rjust(widest)}" for count, noun, share in parts]
    return dict(zip(np.flatnonzero(ex.tree.feature < 0).tolist(), texts, strict=True))


def _pad_line(line: str, widest: int) -> str:
    return line + " " * (widest - width(line))


class _CutWords:
    """The words for the cuts of an explanation."""

    def __init__(self, ex: MeasuredTree) -> None:
        self.ex, self.known, self.gaps = ex, ex._coded_columns, ex._gap_columns
        self.reached = reached_by_missing(ex.tree, self.gaps)
        of_words = [node for node, j in enumerate(ex.tree.feature.tolist()) if j in self.known]
        sides_of_them = sorted({child for node in of_words for child in (node + 1, int(ex.tree.second[node]))})
        found = boxes(ex.tree, sides_of_them) if of_words else []
        self.boxes: dict[int, Box] = dict(zip(sides_of_them, found, strict=True))

    def tests(self, step: WalkStep) -> tuple[str, str]:
        """Return the tests of the two sides of a cut."""
        tree, node = self.ex.tree, step.node
        feature = int(tree.feature[node])
        if feature in self.known:
            known = self.known[feature]
            return self._values(feature, node + 1, known), self._values(feature, int(tree.second[node]), known)
        name = column_name(self.ex.columns[feature])
        dates = self.ex._date_columns.get(feature)
        if feature in self.gaps or dates is not None:
            inside, outside = sides_with_gaps(tree.test(node), reached=node in self.reached)
            return say_numbers(name, *inside, dates), say_numbers(name, *outside, dates)
        ends = float(tree.lower[node]), float(tree.upper[node])
        return sides_of_two(name) if self.ex._says_values(feature, *ends) else sides_of_cut(name, *ends, group_digits)

    def _values(self, feature: int, child: int, known: Categories) -> str:
        """Return the values with which rows come to a node below a cut of a column of words."""
        from boxwood.explanation.records import Condition

        pieces = self.boxes[child][feature]
        held = tuple(Interval(code, code, True, True) for code in known.codes_in(pieces))
        return condition(Condition(self.ex.columns[feature], held, known))


_COLUMNS = ("leaf", "cluster", "rows", "share", "precision", "rule")


def sentences(model: Any) -> str:
    """Return a line for each cluster; see `Explanation.to_text`. `model` may be a fitted estimator."""
    ex = explanation_of(model)._for_people()
    return "\n".join(_sentence(cluster, "of weight" if ex.details.weighted else "rows") for cluster in ex.clusters)


def _sentence(cluster: ClusterSummary, noun: str) -> str:
    rows = "1 row" if noun == "rows" and cluster.size == 1 else f"{size(cluster.size)} {noun}"
    begin = f"{cluster_name(cluster.name)} ({rows}, {percent(cluster.share)}): {cluster_rule(cluster)}."
    if cluster.found is None or cluster.precision is None:
        return begin
    return (
        f"{begin} The rule finds {percent(cluster.found)} of the cluster; {percent(cluster.precision)} of the rows it "
        "matches belong to it."
    )


def rule_table(model: Any) -> str:
    """Return the rules as CSV; see `Explanation.to_csv`. `model` may be a fitted estimator."""
    ex = explanation_of(model)._in_words()
    whole = sum(leaf.size for leaf in ex.leaves) or 1
    lines = [_csv_line(_COLUMNS)]
    for leaf in ex.leaves:
        precision = number(float(leaf.own / leaf.size)) if leaf.size else ""
        rows, share = number(float(leaf.size)), number(float(leaf.size / whole))
        name, said = as_cell(str(ex.names[leaf.cluster])), as_cell(rule(leaf.rule, whole=True))
        lines.append(_csv_line([leaf.leaf, name, rows, share, precision, said]))
    return "\n".join(lines)


def _csv_line(cells: Sequence[object]) -> str:
    """Return a line of CSV; the writer puts cells in quotes that have a character of the end of its lines."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue().removesuffix("\r\n")


def markdown(model: Any) -> str:
    """Return the summary of an explanation as GitHub's Markdown; see `Explanation.to_markdown`.

    `model` may be a fitted estimator.
    """
    ex = explanation_of(model)._for_people()
    table = _markdown_table([head_texts(), *map(_row, ex.clusters)], _ENDS)
    said = [*_besides(ex), *findings(ex)]
    parts = [f"## {escape_markdown(headline(ex))}", table, legend(), *map(escape_markdown, said)]
    notes = "\n".join(f"- {escape_markdown(note)}" for note in notes_of(ex))
    made, _ = provenance(ex)
    return "\n\n".join([*parts, *[notes] * bool(notes), f"Made by {escape_markdown(made)}."])


def markdown_of_lines(lines: MeasuredRules) -> str:
    """See `StandaloneRules.to_markdown`."""
    head, *cells = table_of(lines)
    rows = [[*head_texts("cluster"), *head[1:]]]
    for (name, *shares, said), line in zip(cells, lines.lines, strict=True):
        rows.append([escape_markdown(name), *shares, escape_markdown(said) if line is None else _as_code(said)])
    return "\n\n".join([_markdown_table(rows, _ENDS), *map(escape_markdown, lines_findings(lines))])


def _row(cluster: ClusterSummary) -> list[str]:
    share, caught, precision = map(percent, (cluster.share, cluster.found, cluster.precision))
    rule = cluster_rule(cluster)
    weak = f"  ({said})" if (said := doubt(cluster)) else ""
    said = (_as_code(rule) if cluster.rules else escape_markdown(rule)) + escape_markdown(weak)
    facts = [size(cluster.size), share, size(cluster.matched), caught, precision]
    return [escape_markdown(cluster_name(cluster.name)), *facts, said]


_ENDS = (0, -1)  # the columns of text of a table with a rule on each line


def _markdown_table(rows: Sequence[Sequence[str]], texts: Collection[int]) -> str:
    """Return a table below its head, the first row; columns with `texts` stand to the left, others to the right."""
    sides = ["---" if {i, i - len(rows[0])} & {*texts} else "---:" for i in range(len(rows[0]))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], sides, *rows[1:]))


def escape_markdown(text: str) -> str:
    """Return a text in which no character has a meaning of HTML, or of Markdown as GitHub and Pandoc read it."""
    return _AT_START.sub(r"\1\\\2", _SIGNS.sub(r"\\\g<0>", text))


_SIGNS = re.compile(r"[\\`*_\[\]<>|~$&#@^{}]|-(?=-)|\.(?=\.)")  # of dashes and dots those of which Pandoc makes others
_AT_START = re.compile(r"(?m)^(\d*)([-+=:.)])(?=\W|$)")  # of a list, a heading or a definition


def _code(text: str) -> str:
    """Return a text as code, between more backticks than it has in a row."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _as_code(text: str) -> str:
    """Return a text as code for the cell of a table; as text where it has a bar, which Pandoc escapes otherwise."""
    return escape_markdown(text) if "|" in text else _code(text)


def markdown_of(said: Said) -> str:
    """Return a report as GitHub's Markdown."""
    changes = "\n".join(f"- {escape_markdown(change)}" for change in said.changes)
    remarks = "\n".join(f"- {escape_markdown(remark)}" for remark in said.remarks)
    parts = [f"## {escape_markdown(said.headline)}", changes, *map(table_in_markdown, said.tables), remarks]
    return "\n\n".join(part for part in parts if part)


def table_in_markdown(table: CellRows) -> str:
    """Return a table as GitHub's Markdown."""
    return _markdown_table([[*map(escape_markdown, cells)] for cells in table.rows], table.texts)
