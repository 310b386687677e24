"""Measurements as text: how a tree grew, its frontier, stability, a comparison, and why a row is where it is."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from boxwood._dates import MICROSECONDS, Dates
from boxwood._messages import as_written, list_words
from boxwood.tree.boxes import ends_without_missing
from boxwood.words.claims import none_better
from boxwood.words.rule_heads import head_texts
from boxwood.words.rules import NOT_COUNTED, cluster_rule, condition, gaps_apart, gaps_line
from boxwood.words.values import (
    align_lines,
    are_years,
    beside,
    brief_of,
    category,
    cluster_name,
    column_name,
    count_of,
    group_digits,
    number,
    one_of,
    percent,
    price,
    short_number,
    shorten_name,
    size,
    three_digits,
    width,
)

if TYPE_CHECKING:
    from boxwood.axes import Categories
    from boxwood.explanation.apply.results import Change, Comparison, Ends, Move, Step, TreeChanges, Why
    from boxwood.explanation.records import (
        ClusterSummary,
        ColumnProfile,
        CutStability,
        Edit,
        Frontier,
        NumberColumn,
        NumberGroup,
        Profile,
        Stability,
        Totals,
    )


NO_NAMES: Mapping[Hashable, str] = MappingProxyType({})


def cluster_parts(
    clusters: Sequence[ClusterSummary],
    *,
    made_here: bool,
    lacking: Mapping[str, int] = NOT_COUNTED,
    spoken: Mapping[Hashable, str] = NO_NAMES,
) -> list[str]:
    """Return the paragraphs on clusters: a line for each, and as what missing values count if boxwood made them.

    Rules for labels say of each condition whether a missing value fulfils it. IN: lacking: how many rows lack a value,
    of columns where that is known; spoken: words to speak of clusters by.
    """
    if not made_here:
        return ["\n".join(cluster_lines(clusters))]
    apart, counts_as = gaps_apart(clusters, lacking)
    return ["\n".join(cluster_lines(apart, spoken)), *gaps_line(counts_as, lacking)]


def cluster_lines(clusters: Sequence[ClusterSummary], spoken: Mapping[Hashable, str] = NO_NAMES) -> list[str]:
    """Return a line of names above, and one for each cluster: its size, how well its rule describes it, the rule."""
    header = ("", *head_texts()[1:])
    cells = [header, *(_cells(cluster, spoken.get(cluster.name, "")) for cluster in clusters)]
    widths = [max(width(row[i]) for row in cells) for i in range(len(header) - 1)]
    first, *lines = [_line(row, widths) for row in cells]
    below = " " * (sum(widths) + 2 * len(widths) + 2)  # a little to the right of where rules begin
    doubts = [f"{below}({said})" if (said := doubt(cluster)) else "" for cluster in clusters]
    return [first, *(text for line, said in zip(lines, doubts, strict=True) for text in (line, said) if text)]


def _cells(cluster: ClusterSummary, spoken: str) -> tuple[str, ...]:
    name = shorten_name(cluster_name(cluster.name)) + f" · {spoken}" * bool(spoken)
    share, found, precision = map(percent, (cluster.share, cluster.found, cluster.precision))
    return name, size(cluster.size), share, size(cluster.matched), found, precision, cluster_rule(cluster)


def doubt(cluster: ClusterSummary) -> str:
    """Return what is said below rules that say little; else nothing."""
    if not cluster.is_weak or cluster.precision is None:
        return ""
    said = f"weak: {percent(1 - cluster.precision)} of these rows are in other clusters"
    if cluster.share > 0.5:
        said += f", of all rows {percent(1 - cluster.share)}"
    if cluster.mend is not None:
        said += f"; {percent(1 - cluster.mend.precision)} with one more leaf, where {cluster.mend.condition}"
    return said


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    name, *numbers, rule = row
    padded = [name + " " * (widths[0] - width(name))]
    padded += [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
    return "  ".join([*padded, rule])


def totals_line(worth: Totals, cluster: int) -> str:
    """Return the sum, the share and the mean of a cluster in a column of value."""
    one = worth.clusters[cluster]
    if one.total is None:
        return f"{column_name(worth.column)}: not shown, as few rows have a value"
    share = "" if one.share is None else f", {percent(one.share)} of all"
    mean = "" if one.mean is None else f", {three_digits(one.mean)} a row"
    return f"{column_name(worth.column)}: {three_digits(one.total)} in total{share}{mean}"


def share_of_total(worth: Totals, cluster: int) -> str | None:
    """Return the share of a cluster in a column of value; None where shares say nothing, as with negative sums."""
    share = worth.clusters[cluster].share
    return None if share is None else f"{percent(share)} of {column_name(worth.column)}"


def totals_text(worth: Totals, names: Sequence[Hashable]) -> str:
    """Return a line for each cluster on a column of value."""
    lines = [[column_name(worth.column), "total", "share", "a row"]]
    for name, one in zip(names, worth.clusters, strict=True):
        mean = "-" if one.mean is None else three_digits(one.mean)
        total = "-" if one.total is None else three_digits(one.total)
        lines.append([shorten_name(cluster_name(name)), total, percent(one.share), mean])
    missing = f"\n{count_of(worth.n_missing, 'row')} without a value" if worth.n_missing else ""
    is_told = all(one.total is not None for one in worth.clusters)
    few = "" if is_told else "\nSums of fewer than five rows are not shown; shares are of the others."
    return "\n".join(align_lines(lines, (0,))) + missing + few


def frontier_text(frontier: Frontier) -> str:
    """Return a line for each row of a frontier; an arrow marks the tree of the explanation.

    What the prunings have the least of comes first: price, or rows outside their cluster. Where agreement
    alone decides, there is no price.
    """

    def ordered(price: str, agreement: str) -> list[str]:
        if frontier.by_agreement:
            return [agreement]
        return [price, agreement] if frontier.objective == "cost" else [agreement, price]

    header = ["leaves", *ordered("price", "agreement")]
    header += ordered("price, held out", "agreement, held out") if frontier.folds else []
    lines = [header]
    for row in frontier:
        cells = [f"{row.leaves:,}", *ordered(_price(row.price), percent(row.agreement))]
        if frontier.folds:
            cells += ordered(_price(row.price_held_out), percent(row.agreement_held_out))
        lines.append(cells)
    table = align_lines(lines)
    marks = ["", *("  <- this tree" if row.is_this else "" for row in frontier)]
    claim = frontier.claim
    is_best = claim is not None and claim.by == 0 and claim.value < 1
    best = [f"{none_better(claim).capitalize()} than this one."] if claim is not None and is_best else []
    return "\n".join([*(line + mark for line, mark in zip(table, marks, strict=True)), *best])


def profile_lines(profile: Profile) -> list[list[str]]:
    """Return a table of the profile, the first line its header: medians, and most frequent categories."""
    names = [shorten_name(cluster_name(name)) for name in profile.names]
    lines = [["column", *names, "all rows"]]
    for column in profile:
        groups = (*column.clusters, column.everyone)
        lines.append([shorten_name(column_name(column.column)), *(_middle(column, group) for group in groups)])
    return lines


def profile_text(profile: Profile) -> str:
    """Return the table of the profile, and what its numbers are."""
    what = "Medians of numbers; for categories the most frequent one and its share of the rows."
    return "\n".join([*align_lines(profile_lines(profile), (0,)), "", what])


def _middle(column: ColumnProfile, group: Any) -> str:
    if group is None:
        return "-"
    if hasattr(group, "quantiles"):
        return middle_of(column, group)  # type: ignore[arg-type]
    place = max(range(len(group.shares)), key=lambda i: group.shares[i])
    return f"{percent(group.shares[place])} {category_of(column, place)}"


def brief_in(column: NumberColumn, x: float) -> str:
    """Return a number of a column of a profile in few digits: of dates the day, of years without a comma."""
    said = brief_of(x, column.dates)
    return said.replace(",", "") if are_years(column.column, column.everyone.quantiles) else said


_FAR = 60.0  # days


def about(column: NumberColumn, x: float) -> str:
    """Return a number of a column in few digits, as it may be that of a row; of dates that spread, the month.

    Of ages that spread these are tens of days.
    """
    dates = column.dates
    if dates is None or column.everyone.deviation < _FAR:
        return brief_in(column, x)
    if dates.as_of:
        origin = dates.origin / MICROSECONDS
        return dates.day(origin + 10 * round((x - origin) / 10))
    return dates.day(x).rpartition("-")[0]


def middle_of(column: NumberColumn, group: NumberGroup, say: Callable[[NumberColumn, float], str] = brief_in) -> str:
    """Return the median of a group of a column of numbers, and the share of its rows that lack a value, if any do."""
    missing = f" ({percent(group.missing)} missing)" if group.missing else ""
    return say(column, group.quantiles[2]) + missing


def category_of(column: Any, code: int) -> str:
    """Return the category of a code."""
    values = column.categories.values
    return category(values[code]) if code < len(values) else "any other value"


ENOUGH = 20  # resamples of which 5% are one at least; of fewer the lowest is told, not a quantile


def stability_text(stability: Stability) -> str:
    """Return the verdict, a line for each cluster, and a line for each cut."""
    clusters = [["cluster", "overlap", "low (5%)" if stability.n >= ENOUGH else "lowest"]]
    clusters += [
        [shorten_name(cluster_name(one.name)), f"{one.jaccard:.2f}", f"{one.jaccard_low:.2f}"]
        for one in stability.clusters
    ]
    cuts = [["cut", "returns", "between"]]
    cuts += [[_cut_name(one), f"{one.returns:.0%}", _between(one)] for one in stability.cuts]
    return "\n".join([stability.verdict, "", *align_lines(clusters, (0,)), "", *align_lines(cuts, (0,))])


def _cut_name(cut: CutStability) -> str:
    """Return the column of a cut and its end; of a column of words or booleans the column alone."""
    column = column_name(cut.column)
    if cut.threshold == sys.float_info.max:
        return f"{column} is missing or not"
    end = _say_threshold(cut.threshold, cut.dates)
    return f"{column} at {end}" if cut.low is not None or cut.returns == 0 else column


def _say_threshold(threshold: float, dates: Dates | None) -> str:
    return short_number(threshold) if dates is None else dates.first(threshold, beyond=True)


def _between(cut: CutStability) -> str:
    if cut.low is None or cut.high is None:
        return "-"
    low, high = (f"{end:.4g}" if cut.dates is None else cut.dates.day(end) for end in (cut.low, cut.high))
    return f"{low} and {high}"


def edits_text(edits: Sequence[Edit]) -> str:
    """Return changes by hand: the line that makes each again, what it cost, and the rows that moved."""
    return "\n".join(f"{each.line}\n    {cost_of_edit(each)}" for each in edits) or "nothing was changed by hand"


def cost_of_edit(edit: Edit) -> str:
    """Return what a change by hand cost, and the rows that moved."""
    before, now = beside(edit.agreement_before, edit.agreement), beside(edit.agreement, edit.agreement_before)
    same = edit.agreement == edit.agreement_before
    agreement = f"agreement {percent(edit.agreement)}" if same else f"agreement {before} -> {now}"
    prices = [_price(price) for price in (edit.price_before, edit.price)]
    price = f"price {prices[0]}" if prices[0] == prices[1] else f"price {prices[0]} -> {prices[1]}"
    sizes = [one.size for one in edit.moved]
    unit = "row moves" if sum(sizes) == 1 else "rows move"
    total = (
        f"{size(sum(sizes))} {unit}"
        if all(isinstance(one, int) for one in sizes)
        else f"rows of weight {size(sum(sizes))} move"
    )
    ways = [f"{size(one.size)} from {cluster_name(one.before)} to {cluster_name(one.now)}" for one in edit.moved]
    price = "" if edit.by_agreement else f", {price}"
    return f"{agreement}{price}; {f'{total}: {list_words(ways, 6)}' if ways else 'no row moves'}"


def _price(price: float | None) -> str:
    if price is None:
        return "-"
    return f"{price:.3f}" if price < 1000 else f"{price:.3g}"


_HEADER = ("", "method", "leaves", "depth", "columns", "price", "agreement", "seconds")
_PRICE = _HEADER.index("price")
_BY_PRICE = "* best trade-off: none of these trees beats it in one respect without being worse in another"
_BY_AGREEMENT = "* best trade-off: none of these trees with as few leaves agrees on more rows"


def compare_text(found: Comparison) -> str:
    """Return a line for each tree; a star marks those that no other one beats. No price where it does not count."""
    cells: list[tuple[str, ...]] = [
        _HEADER,
        *(
            (
                "*" if row.on_front else "",
                row.method,
                f"{row.leaves:,}",
                f"{row.depth:,}",
                f"{row.columns:,}",
                price(row.price),
                percent(row.agreement),
                f"{row.seconds:.2f}",
            )
            for row in found.rows
        ),
    ]
    if found.by_agreement:
        cells = [row[:_PRICE] + row[_PRICE + 1 :] for row in cells]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = ["  ".join([row[0].ljust(1), row[1].ljust(widths[1]), *_right(row[2:], widths[2:])]) for row in cells]
    parts = [f"{found.n_clusters:,} clusters of {found.n_rows:,} rows (always the largest: {percent(found.baseline)})"]
    parts += ["\n".join(lines), _BY_AGREEMENT if found.by_agreement else _BY_PRICE]
    notes = [f"Note: {note}" for note in as_written(found.notes)]
    notes += [f"Note: {name} is left out: {why}" for name, why in found.left_out]
    return "\n\n".join(parts + ["\n".join(notes)] * bool(notes))


def _right(cells: tuple[str, ...], widths: list[int]) -> list[str]:
    return [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]


def words(
    changes: TreeChanges, columns: Sequence[str], dates: Mapping[int, Dates], categories: Mapping[int, Categories]
) -> str:
    """Return one line for each cut that moved, went or came, and one for the rows that changed cluster."""
    names = [column_name(name) for name in columns]

    def at(column: int, ends: Ends) -> str:
        return _words(ends, categories[column]) if column in categories else _ends(ends, dates.get(column))

    lines = [
        f"the cut on {names[cut.column]} moved from {at(cut.column, cut.before)} to {at(cut.column, cut.after)}"
        for cut in changes.moved
    ]
    lines += [f"the cut on {names[column]} at {at(column, ends)} is gone" for column, ends in changes.gone]
    lines += [f"a cut on {names[column]} at {at(column, ends)} is new" for column, ends in changes.new]
    lines = lines or ["no cut changed"]
    if changes.share is not None:
        share = two_digits(changes.share)
        lines.append(
            f"about {share} of rows changed cluster, as estimated from bins"
            if changes.is_estimate
            else f"{share} of rows changed cluster"
        )
    return "\n".join(lines)


def two_digits(share: float) -> str:
    """Return a share as a percentage in two digits; neither 0 nor 100 unless it is that.

    Examples
    --------
    >>> two_digits(0.0131), two_digits(0.5), two_digits(0.0), two_digits(0.00001), two_digits(0.99999)
    ('1.3 %', '50 %', '0 %', 'less than 0.1 %', 'more than 99.9 %')
    """
    if 0 < share < 0.001:
        return "less than 0.1 %"
    if 0.999 < share < 1:
        return "more than 99.9 %"
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.3g} %"


def _words(ends: Ends, known: Categories) -> str:
    """Return the values for which a cut asks."""
    return one_of([value for code, value in enumerate(known.values) if _asks_for(ends, code)])


def _asks_for(ends: Ends, code: int) -> bool:
    return code in ends.members if ends.members else ends.lower <= code <= ends.upper


def _ends(ends: Ends, dates: Dates | None) -> str:
    if ends.members:
        return f"codes {one_of(ends.members)}"
    if ends.upper == sys.float_info.max:  # beyond are missing values alone
        return "missing values" if ends.lower == -math.inf else f"{_from(ends, dates)} and at missing values"
    if ends.lower == -math.inf:
        return _say_threshold(ends.upper, dates)
    if ends.upper == math.inf:
        return _from(ends, dates)
    return f"between {_from(ends, dates)} and {_say_threshold(ends.upper, dates)}"


def _from(ends: Ends, dates: Dates | None) -> str:
    """Return the lower end of a cut, which is among the values that it asks for."""
    if dates is not None:
        return dates.first(ends.lower, beyond=False)
    return short_number(ends_without_missing(ends.lower, ends.upper)[0])


def why_text(why: Why) -> str:
    """Return a line for the cluster, one for each cut on the way, and one for each other cluster."""
    lines = [_headline(why), *_steps(why.steps)]
    lines += [_change(change) for change in why.changes]
    if why.out_of_reach:
        lines.append(f"no such change reaches {', '.join(map(cluster_name, why.out_of_reach))}")
    return "\n".join(lines + ([f"Note: {why.reason}"] if why.reason and why.cluster is not None else []))


def why_facts(why: Why) -> dict[str, Any]:
    """Return all fields of a `Why`, and of what it holds, as data of JSON."""
    return {
        "cluster": why.name,
        "leaf": why.leaf,
        "size": _finite(why.size),
        "own": _finite(why.own),
        "reason": why.reason,
        "steps": [_plain(step._asdict() | {"condition": condition(step.condition)}) for step in why.steps],
        "changes": [
            {
                "cluster": change.name,
                "leaf": change.leaf,
                "deviations": _finite(change.deviations),
                "moves": [_plain(move._asdict()) for move in change.moves],
            }
            for change in why.changes
        ],
        "out_of_reach": list(why.out_of_reach),
    }


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: _finite(value) for name, value in fields.items()}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _headline(why: Why) -> str:
    if why.cluster is None or why.size is None or why.own is None:
        return f"no cluster: {why.reason}"
    size = f"{why.size:,.0f}" if float(why.size).is_integer() else f"{why.size:,.1f}"  # of rows with weights
    held = f"{size} {'row' if why.size == 1 else 'rows'}"
    own = f", {why.own / why.size:.1%} of them {cluster_name(why.name)}" if why.size else ""
    return f"{cluster_name(why.name)}, by leaf {why.leaf} ({held}{own})"


def _steps(steps: tuple[Step, ...]) -> list[str]:
    cells = [
        (
            f"cut {i}",
            f"{column_name(step.column)} = {_value(step.value, step.condition.dates)}",
            condition(step.condition),
            _margin(step),
        )
        for i, step in enumerate(steps, start=1)
    ]
    widths = [max((len(row[column]) for row in cells), default=0) for column in range(3)]
    return [
        f"  {'  '.join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]])}".rstrip()
        for row in cells
    ]


def _margin(step: Step) -> str:
    if step.margin is None or not math.isfinite(step.margin):
        return ""
    deviations = "" if step.deviations is None else f", {_deviations(step.deviations)}"
    days = "" if step.condition.dates is None else " days"
    return f"({step.margin:.4g}{days} from the cut{deviations})"


def _change(change: Change) -> str:
    moves = " and ".join(map(_move, change.moves))
    return f"would be {cluster_name(change.name)} if {moves} ({_distance(change)})"


def _distance(change: Change) -> str:
    """Return how far a change is; a change of category counts 1, which is no standard deviation."""
    numbers = [move.deviations for move in change.moves if _is_number(move)]
    n_missing = sum(move.before is None and not move.is_category for move in change.moves)
    n_others = len(change.moves) - len(numbers) - n_missing
    parts = [f"{_deviations(math.fsum(numbers))} away"] if numbers else []
    parts += ["one other category" if n_others == 1 else f"{n_others} other categories"] if n_others else []
    parts += ["one missing value" if n_missing == 1 else f"{n_missing} missing values"] if n_missing else []
    return ", and ".join(parts)


def _deviations(times: float) -> str:
    return f"{times:.2g} standard deviation{'' if f'{times:.2g}' == '1' else 's'}"


def _is_number(move: Move) -> bool:
    return not move.is_category and isinstance(move.after, float) and isinstance(move.before, float)


def _move(move: Move) -> str:
    """Return a change in words; next to an open end, the end is said: "above 3" for the next double above 3."""
    name = column_name(move.column)
    if move.before is None and not move.is_category:
        return f"{name} were {_value(move.after, move.dates)} instead of missing"
    if move.dates is not None and isinstance(move.after, float):
        is_later = isinstance(move.before, float) and move.after > move.before
        return f"{name} were {_when(move.after, move.dates, is_later=is_later)}"
    if not _is_number(move):
        return f"{name} were {_value(move.after)}"
    assert isinstance(move.after, float)
    assert isinstance(move.before, float)
    beyond = math.nextafter(move.after, move.before)
    if len(number(beyond)) < len(number(move.after)):
        return f"{name} were {'above' if beyond < move.after else 'below'} {group_digits(beyond)}"
    return f"{name} were {group_digits(move.after)}"


def _when(days: float, dates: Dates, *, is_later: bool) -> str:
    """Return when a date would have to be that is to move to another one, or beyond it.

    Where that is between two dates, or next to a rounder one, an earlier date is "before" the latter.
    """
    beyond, at = dates.first(days, beyond=True), dates.first(days, beyond=False)
    if is_later:
        return f"{at} or later"
    return f"before {beyond}" if beyond == at or len(beyond) < len(at) else f"{at} or earlier"


def _value(value: Hashable, dates: Dates | None = None) -> str:
    if isinstance(value, float) and dates is not None:
        return dates.text(value)
    return group_digits(value) if isinstance(value, float) else category(value)


_GROWERS = {
    "imm": "IMM",
    "greedy": "Ex-Greedy",
    "shallow": "ExShallow",
    "mmdt": "MMDT",
    "exkmc": "ExKMC",
    "exkmc-root": "ExKMC from a single leaf",
    "expand": "Expand",
    "expand-root": "Expand from a single leaf",
    "cart": "CART",
    "cart-entropy": "CART by entropy",
    "regression-centers": "a regression tree on the clusters' centres",
    "regression-rows": "a regression tree on the rows",
    "optimal": "exact search",
    "random_cuts": "random cuts",
    "kernel_imm": "Kernel IMM",
    "kernel_exkmc": "Kernel ExKMC",
    "kernel_exkmc-root": "Kernel ExKMC from a single leaf",
    "kernel_expand": "Kernel Expand",
    "kernel_expand-root": "Kernel Expand from a single leaf",
    "kernel_mmdt": "Kernel MMDT",
}
_STEPS = {
    "exkmc": "more leaves by ExKMC",
    "expand": "more leaves by Expand",
    "pruned": "over-grown and pruned back",
    "matched": "one leaf for each cluster",
    "resolved": "small subtrees solved exactly",
    "swapped": "leaves moved to where they are worth more",
    "refined": "cuts refined",
    "kept": "cuts of an earlier tree kept",
    "changed": "changed by hand",
}


def say_method(method: str) -> str:
    """Return how a tree was grown, such as "Ex-Greedy, cuts refined"; unknown parts of a method stay as they are.

    IN: method: as in `Explanation.method`, a name of `grow.METHODS` and the steps after it.

    Examples
    --------
    >>> say_method("greedy-exkmc, refined")
    'Ex-Greedy, more leaves by ExKMC, cuts refined'
    """
    base, *steps = method.split(", ")
    if base not in _GROWERS and "-" in base:
        base, _, step = base.rpartition("-")
        steps.insert(0, step)
    return ", ".join([_GROWERS.get(base, base), *(_STEPS.get(step, step) for step in steps)])
