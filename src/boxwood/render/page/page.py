"""`page`: an explanation as one file for a browser, which loads nothing; `short_page`: its short form for notebooks.

The facts come from the files beside this one as plain data, the templates of the same folder place them. Counts that
are to be rounded are rounded before, in the explanation itself.
"""

from __future__ import annotations

import html
import math
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from boxwood._files import replacing
from boxwood._messages import printable
from boxwood._types import Floats
from boxwood._validation import list_words, show_value, whole_number
from boxwood.errors import DataError
from boxwood.explanation.measure.contrast import CONTRASTS, OTHERS
from boxwood.explanation.measure.frontier import BySize, best_by_size, frontier_of, largest_of
from boxwood.explanation.measure.held_out import held_out
from boxwood.explanation.measure.left_out import say_left_out
from boxwood.explanation.measure.losses import Distance
from boxwood.explanation.measure.order_of_rows import say_order
from boxwood.explanation.measure.profile import measure_profile
from boxwood.explanation.measure.spoken import spoken_names
from boxwood.explanation.measure.told import profile_told
from boxwood.explanation.measured_tree import explanation_of, side_of_outcomes
from boxwood.explanation.records import FEW, CategoryColumn
from boxwood.render.forms.code import TIME_IN_JAVASCRIPT
from boxwood.render.forms.text import notes_of, right_for, tells_price, text, title_of, unbeaten
from boxwood.render.page._by_hand import trees_by_hand
from boxwood.render.page._cells import cells_of_confusion, say_odd_rows, strays
from boxwood.render.page._copies import code_of_all, copies_of_rules
from boxwood.render.page._file import file_rules, reading_rules
from boxwood.render.page._guard import as_shown, hidden_clusters, least_shown
from boxwood.render.page._parts import (
    LARGEST,
    basis_lines,
    outline_of_tree,
    profile_table,
    shares_to_compare,
    text_of_tree,
    tree_shapes,
    ways_in_full,
    what_if,
)
from boxwood.render.page._template import file_of, fill_template, frame_page, pack, stripes
from boxwood.render.page._titles import check_titles
from boxwood.render.page._trees import FEW_COLUMNS, LARGEST_GROWN, other_trees
from boxwood.render.page.contrast import contrast_bars
from boxwood.render.page.results import apart, describe_rules, frontier_charts, stability_tables
from boxwood.render.pictures.picture import Picture, amount, picture_of, say_rows
from boxwood.words.claims import at_least
from boxwood.words.contrast import MOST
from boxwood.words.distinctive import THAN_OTHERS, distinctive_columns, suggested_names
from boxwood.words.lines import sentences_on_rules, table_of
from boxwood.words.measured import say_method, share_of_total, totals_line
from boxwood.words.notes import NO_GROUPS, NO_KINDS, count_parts, gravest, groups_in_short, none_found
from boxwood.words.values import cluster_name, column_name, join_words, percent, shorten_name, use_titles

if TYPE_CHECKING:
    from boxwood.explanation.measure.contrast import Difference
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.explanation.records import ClusterSummary, ColumnProfile, Frontier, FrontierRow, Totals

_FOLDS = 3
_QUICK = {True: 60_000, False: 150_000}
"""Rows times columns times leaves up to which new rows take less than a second, of trees by agreement, and by cost."""
_CHEAP = 10_000_000  # rows times columns times clusters up to which the page computes the frontier


def report(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    titles: Mapping[str, str] | None = None,
    min_count: int | None = None,
) -> str | None:
    """Return the report, or write it to a file; see `Explanation.to_html`."""
    written_page = page(model, title=title, titles=titles, min_count=min_count)
    if path is None:
        return written_page
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(written_page)
    return None


def page(
    model: Any, *, title: str | None = None, titles: Mapping[str, str] | None = None, min_count: int | None = None
) -> str:
    """Return the report; see `Explanation.to_html`."""
    if not (title is None or isinstance(title, str)):
        raise TypeError(f"title must be text, got {show_value(title)}")
    whole, count = explanation_of(model), None if min_count is None else whole_number("min_count", min_count, 1)
    with use_titles(check_titles(titles, whole)):
        return _page_of(whole, title, count)


def _page_of(whole: MeasuredTree, title: str | None, count: int | None) -> str:
    has_price = count is None and tells_price(whole)  # a price is of single rows
    whole = whole if count else _tested_on_new_rows(whole)
    ex = as_shown(whole, count)
    facts = _facts(ex, count, whole, has_price=has_price)
    rules = what_if(ex, picture_of(ex), facts["outline"], least_shown(count))
    rules["words"] = shares_to_compare(ex._for_people(), ex._kept["profile"]) if ex.n_clusters > 1 else {}
    rules["right"] = right_for(ex)
    rules["matched"] = [say_rows(one.matched, ex.details.weighted) if one.matched else "" for one in ex.clusters]
    facts |= {"rules": rules, "min_count": count}
    # prices of other trees would tell how far rows of a small cluster are from others
    has_price = has_price and not facts["hidden"]
    best = None if count else _best_by_size(whole, has_price)
    facts["frontier"] = best and frontier_charts(best.frontier, price=has_price)
    facts["notes"] = [_as_in_chart(note, ex, best.frontier) if best else note for note in facts["notes"]]
    stability = ex._kept.get("stability")
    facts["stability"] = None if stability is None else stability_tables(stability, picture_of(ex).swatches)
    facts["outcomes"] = None if count else _outcomes(whole)
    facts["lines"] = None if count else _lines(whole)  # whose exact counts tell of few rows
    facts["contrasts"] = [] if count else _contrasts(whole, ex)
    facts["code"] = _code(ex)
    facts["others"] = best and _others(whole, ex, facts, best, has_price)
    facts["by_hand"] = _by_hand(whole, ex, facts, count)
    facts["without_others"] = _why_not_others(whole, facts, count)
    rules["file"] = file_rules(ex, least_shown(count)) if rules["columns"] and _runs(facts["code"]) else None
    facts["copies"] = pack(copies_of_rules(ex))
    facts["labeller"] = _labeller() if rules["file"] else ""
    rules["cells"] = {} if count or facts["hidden"] or not facts["confusion"] else cells_of_confusion(whole, FEW)
    facts["odd"] = "" if count or facts["hidden"] else _odd_rows(whole)
    facts["left_to_screen"] = _left_to_screen(ex, facts)
    deciding = [shorten_name(column["name"]) for column in facts["rules"]["columns"]]
    facts["deciding"] = join_words(deciding, _NAMED) if deciding else ""
    facts["notes"] += _note_on_what_is_missing(ex, facts)
    grave = gravest(note for note in facts["notes"] if not (_SAID_ABOVE.match(note) or _FOR_ANALYSTS.match(note)))
    facts["gravest"] = _OPTIONS.sub("", grave)
    return fill_template("page.html", facts, _title(ex, title), script=_script())


def _tested_on_new_rows(ex: MeasuredTree) -> MeasuredTree:
    """Return the explanation with how well its rules do on rows held out, if that is known or can be had quickly."""
    evidence = ex._in_memory
    if ex.held_out is not None or evidence is None or evidence.grow is None or ex.search_report is None:
        return ex  # a method by its name may take long
    if ex.limits is not None and ex.limits.max_columns is not None:
        return ex  # the search for few columns takes several times as long
    size = ex.n_rows * len(ex.columns) * max(ex.n_leaves, ex.n_clusters)
    if evidence.whole is not None or size > _QUICK[ex.search_report.by_agreement]:
        return ex
    if "held_out" not in ex._kept:
        try:
            ex._kept["held_out"] = held_out(evidence, _FOLDS, Distance(ex.details.objective, evidence.kernel))
        except DataError:  # too few rows
            return ex
    return replace(ex, held_out=ex._kept["held_out"])


@cache
def _script() -> str:
    """Return the script of the page."""
    return _without_spaces(file_of("tree.js") + file_of("page.js"))


@cache
def _labeller() -> str:
    """Return the script of the worker that labels a file, and how texts are read; packed, as few readers need it."""
    script = _without_spaces(f"{TIME_IN_JAVASCRIPT}{file_of('label.js')}labeller(cluster, whyNone);\n")
    return pack({"script": script, "reading": reading_rules()})


def _without_spaces(text: str) -> str:
    """Return a script without indentation, comments and most spaces."""
    text = re.sub(r"(?m)^\s*(//.*\n)?|  // .*", "", text)  # two spaces before it mark a comment behind code
    text = re.sub(r"(?<=[{;,(])\n|;\n(?=})", "", text)
    signs = r" (=>|[=!]==|&&|\|\||\?\??=?|[+-]=|[<>]=?|[:*/%]) "  # which no text of the scripts holds
    return re.sub(rf"{signs}|(?<=const )(\w+) (=) |\b(if|for) (?=\()| (?=[{{}}])|(?<={{) ", r"\1\2\3\4", text)


def short_page(model: Any) -> tuple[str, int]:
    """Return the short form of the report, as a page of its own without a script, and about its height in pixels.

    Like the printed explanation, it shows counts of any number of rows.
    """
    whole = explanation_of(model)
    ex = as_shown(whole, None, has_profile=False)
    facts = _facts(ex, None, whole, has_price=tells_price(whole))
    drawn = picture_of(ex).height if facts["tree"] else 0
    height = 330 + drawn + 34 * sum(max(len(cluster.rules), 1) for cluster in ex.clusters)
    return fill_template("short.html", facts, _title(ex, None), script=""), round(height)


def in_notebook(ex: MeasuredTree) -> str:
    """Return the short form for a notebook: in a frame, so that neither style reaches the other.

    Without the page's extra, or if anything goes wrong, it is the printed explanation.
    """
    try:
        short, height = short_page(ex)
    except Exception:  # a representation is never an error
        return f"<pre>{html.escape(text(ex))}</pre>"
    return frame_page(_title(ex, None), short, height)


# ----------------------------------------------------------------------------------------------------------- facts
_IN_PROVENANCE = re.compile(r"left out, |[\d,]+ of [\d,]+ columns (is|are) used: ")
"""Notes on columns of which the page tells at its top what it rests on."""


def _facts(guarded: MeasuredTree, count: int | None, whole: MeasuredTree, *, has_price: bool) -> dict[str, Any]:
    """Return the facts that both forms show; IN: guarded: the explanation without what a page does not show."""
    ex, picture, hidden = guarded._for_people(), picture_of(guarded), hidden_clusters(whole, count)
    profile = guarded._kept["profile"]
    ways = ways_in_full(ex, picture)
    tree = tree_shapes(picture, ways) if 1 < ex.n_leaves <= LARGEST else None
    return {
        "ex": ex,
        "lede": lede(ex, count),
        "weakest": weakest(ex, picture),
        "tiles": tiles(ex, has_price, count),
        "left_out_tells": "" if count or hidden else " ".join(filter(None, (say_left_out(ex), *say_order(ex)))),
        "rests_on": basis_lines(ex, math.inf if count else least_shown(None)),
        "tree": tree,
        "ways": [] if tree is None else [way for way in ways if way.is_cut_off],
        "outline": outline_of_tree(ex, picture),
        "of_known": _of_known(ex),
        "swatches": picture.swatches,
        "table_class": _class_of_tables(ex.n_clusters),
        **stripes(ex.n_clusters),
        "cards": cards(ex, picture, profile, hidden, count),
        "hidden": _not_shown(ex, hidden),
        "profile": profile_table(ex, profile) if profile else None,
        "losses": losses(picture),
        "confusion": (found := confusion(ex, picture)),
        "strays": strays(guarded, hidden, least_shown(count)) if found else None,
        "for_analysts": _for_analysts(ex, has_price),
        "notes": [printable(_in_yes_and_no(note)) for note in notes_of(ex) if not _is_told_elsewhere(ex, note)],
        "has_rows": ex._in_memory is not None,
    }


def _is_told_elsewhere(ex: MeasuredTree, note: str) -> bool:
    """Return whether the page says what a note says: what it rests on, or that yes is yes."""
    return note.endswith(": yes is 1, no is 0") or (ex.provenance is not None and bool(_IN_PROVENANCE.match(note)))


def _in_yes_and_no(note: str) -> str:
    """Return a note on words that were read as truths in the words that a page has for these; any other as it is.

    Examples
    --------
    >>> _in_yes_and_no("vip, old: ja is 1, nein is 0")
    'vip, old: ja is said as yes, nein as no'
    """
    return re.sub(r"(: .+) is 1, (.+) is 0$", r"\1 is said as yes, \2 as no", note)


def _not_shown(ex: MeasuredTree, hidden: Mapping[int, str]) -> str:
    """Return that values of clusters of few rows are not shown, to stand behind a sentence; empty if there are none."""
    named = [
        f"; {shorten_name(cluster_name(ex.names[i]))} is {rows}: its values are not shown" for i, rows in hidden.items()
    ]
    return "".join(named) if len(named) <= _NAMED else f"; values of {len(named):,} clusters of few rows are not shown"


def _of_known(ex: MeasuredTree) -> str:
    """Return the tested columns of words of which the other side of a cut has only values that the table has."""
    coded = ex._coded_columns
    closed = [j for j in ex.tree.features.tolist() if j in coded and not coded[j].others and len(coded[j].values) > 2]
    return join_words([shorten_name(column_name(ex.columns[j])) for j in closed], _NAMED) if closed else ""


_SAID_ABOVE = re.compile(rf"{re.escape(NO_GROUPS)}|{NO_KINDS}|the rules find only ")
"""Notes that say what the first sentences of a page say."""
_OPTIONS = re.compile(
    r'(: [a-z_]+="[^:;()]*)?( \(-{0,2}[a-z_-]+([= ][^()]+)?(, -{0,2}[a-z_-]+([= ][^()]+)?)*\))?$|; [^;]*--[a-z][^;]*$'
)
"""What a note says to the analyst alone: which options change it."""
_FOR_ANALYSTS = re.compile(r"read as [\w-]+; if that is wrong, name the encoding ")
"""A note that says nothing to others."""
_ASKED = re.compile(r"^the tree has \d+ (?:leaf|leaves) instead of (\d+):")  # no note asks for these again
_MORE_LEAVES = re.compile(r"(?:with|one tree of) [\d,]+ leaves (?:the rules|that was tried) .* (\([^()]+\))$")


_FEWER_LEAVES = re.compile(r"(.* were taken for .*: rules of ([\d,]+) leaves are right for (\S+) of the rows)(, .*)")


def _as_in_chart(note: str, ex: MeasuredTree, frontier: Frontier) -> str:
    """Return a note on more leaves with the chart's tree that agrees well, if it has one; any other note as it is.

    One on fewer leaves says what the chart's tree of as many is right for, where that was cut from another one.
    """
    if fewer := _FEWER_LEAVES.match(note):
        shares = [percent(row.agreement) for row in frontier if f"{row.leaves:,}" == fewer[2]]
        beside = f" (those of this page for {shares[0]})" if shares and shares[0] != fewer[3] else ""
        return f"{fewer[1]}{beside}{fewer[4]}"
    found = _MORE_LEAVES.match(note)
    if not found:
        return note
    asked = [int(number) for one in ex.notes for number in _ASKED.findall(one)]
    larger = [row for row in frontier if row.leaves > max(ex.n_leaves, *asked, 0)]
    row = next((row for row in larger if row.agreement >= _ENOUGH), None)
    return (
        note
        if row is None
        else f"with {row.leaves:,} leaves the rules could reach {at_least(row.agreement)} {found[1]}"
    )


_ENOUGH = 0.9  # agreement that makes more leaves worth a mention


def _best_by_size(ex: MeasuredTree, has_price: bool) -> BySize | None:
    """Return the best trees by their size, if the frontier is known or can be had quickly."""
    known = ex._kept.get("frontier")
    if known is None and ex._in_memory is not None and ex.n_rows * len(ex.columns) * ex.n_clusters <= _CHEAP:
        try:
            known = frontier_of(ex)
        except DataError:
            return None
    return None if known is None else best_by_size(ex, known, priced=has_price)


def _others(
    ex: MeasuredTree, told: MeasuredTree, facts: Mapping[str, Any], best: BySize, has_price: bool
) -> dict[str, Any] | None:
    """Return the trees beside that of the page, and what is said of each.

    IN: told: the explanation without what a page does not show.
    """
    if not facts["tree"] or facts["hidden"]:
        return None
    found = other_trees(ex, best, told._kept["bars"], _code_by_form(facts), FEW, has_price=has_price)
    if found is None:
        return None
    at = sum(row.leaves < ex.n_leaves for row in found.rows)
    rows = [*found.rows[:at], best.frontier.this, *found.rows[at:]]
    said = [_size_said(row, smaller, has_price) for smaller, row in pairwise([rows[0], *rows])]
    said[at] += f": {_THIS}"
    without = [(name, *_without_said(row, ex.agreement)) for name, row in found.without]
    return {"packed": found.packed, "at": at, "sizes": [text.replace(" ", "_") for text in said], "without": without}


_THIS = "the tree of this page"


def _by_hand(ex: MeasuredTree, told: MeasuredTree, facts: Mapping[str, Any], count: int | None) -> str | None:
    """Return the trees that a reader makes by hand; None where numbers are not exact, or values are not shown.

    IN: told: the explanation without what a page does not show.
    """
    if count or facts["hidden"] or not (facts["tree"] and _runs(facts["code"])):
        return None
    return trees_by_hand(ex, told._kept["bars"], _code_by_form(facts), FEW)


def _code_by_form(facts: Mapping[str, Any]) -> dict[str, str]:
    return {form["form"]: form["text"] for form in facts["code"]}


def _why_not_others(ex: MeasuredTree, facts: Mapping[str, Any], count: int | None) -> str:
    """Return why the page lacks trees beside its own, or those without a column; empty if it has them all."""
    if others := facts["others"]:
        said = [_why_no_other_size(ex)] if len(others["sizes"]) == 1 else _why_sizes_lack(others["sizes"])
        said += [_why_not_without(ex)] * (not others["without"])
        return " ".join(said)
    if ex._in_memory is None or ex.n_leaves < 2:
        return ""  # which a note says, or there is no cut
    reasons = {
        "counts are rounded": count is not None,
        "a cluster has few rows": bool(facts["hidden"]),
        "they were measured on a sample of the rows": ex._in_memory.whole is not None,
        "they would be too large": not facts["tree"] or largest_of(ex) > LARGEST_GROWN,
        "the table is large; they are if frontier() was called before": not facts["frontier"],
        "they would be too large for a page": bool(facts["frontier"]) and len(facts["frontier"]["rows"]) > 1,
    }
    why = next((reason for reason, holds in reasons.items() if holds), None)
    return f"Smaller and larger trees are not shown here: {why}." if why else _why_no_other_size(ex)


def _why_sizes_lack(said: Sequence[str]) -> list[str]:
    """Return why the slider has no smaller tree, and leaves out sizes; IN: said: of each tree, its size first."""
    sizes = [int(one.partition("_")[0].replace(",", "")) for one in said]
    has_gaps = sizes != [*range(2, sizes[-1] + 1)]
    none_smaller = ["No tree is smaller than that of this page: it would ask nothing."]
    left_out = ["A size is left out if no tree of it was found that is right for more rows than a smaller one."]
    return none_smaller * (said[0].endswith(_THIS.replace(" ", "_")) and sizes[0] == 2) + left_out * has_gaps


def _why_not_without(ex: MeasuredTree) -> str:
    """Return why there are no trees without a column of the rules."""
    if ex.tree.features.size > FEW_COLUMNS:
        return f"Trees without a column are shown for rules of up to {FEW_COLUMNS} columns."
    return "No tree is shown without a column: no other column may be cut, or the trees would be too large for a page."


def _size_said(row: FrontierRow, smaller: FrontierRow, has_price: bool) -> str:
    """Return what is said of a tree; IN: smaller: the next smaller one, or itself."""
    now, before = _how_compact(row.price), _how_compact(smaller.price)
    price = f", {now}" if has_price else ""
    if has_price and row.price > smaller.price and now != before:
        price += f" ({smaller.leaves} leaves: {before}; more leaves are for more right rows)"
    return f"{_count(row.leaves, 'leaf', 'leaves')}: right for {percent(row.agreement)} of the rows{price}"


def _why_no_other_size(ex: MeasuredTree) -> str:
    smaller = "a smaller tree asks nothing, and " if ex.n_leaves == 2 else ""
    return f"No other size is shown: {smaller}no larger one is right for more of the rows."


def _without_said(row: FrontierRow, agreement: float) -> tuple[str, str]:
    """Return what is said of a tree without a column, before and behind the name of that."""
    points, leaves = _points(row.agreement, agreement), _count(row.leaves, "leaf", "leaves")
    return f"{percent(row.agreement)} without", f", {points}; {leaves}"


def _points(share: float, other: float) -> str:
    """Return how far a share is from another one, as both are printed.

    Examples
    --------
    >>> _points(0.82, 0.95), _points(0.94, 0.95), _points(0.955, 0.95), _points(0.95, 0.95)
    ('13 points less', '1 point less', '0.5 points more', 'as many')
    """
    points = round(100 * other, 1) - round(100 * share, 1)
    said = f"{abs(points):.1f}".removesuffix(".0")
    if said == "0":
        return "as many"
    return f"{said} point{'' if said == '1' else 's'} {'less' if points > 0 else 'more'}"


def _outcomes(ex: MeasuredTree) -> dict[str, Any] | None:
    """Return the profile of the outcomes whose clusters inputs tell; None where there are none."""
    side = side_of_outcomes(ex)
    if side is None:
        return None
    ex._kept["outcomes"] = measure_profile(side)
    shown = profile_told(side)
    return profile_table(replace(side, _kept={"profile": shown}), shown) if shown else None


def _lines(ex: MeasuredTree) -> dict[str, Any] | None:
    """Return the one-line rules that were asked for before: the cells of their table, and what is known of them."""
    lines = ex._kept.get("lines")
    return None if lines is None else {"cells": table_of(lines), "findings": sentences_on_rules(lines)}


def _contrasts(ex: MeasuredTree, told: MeasuredTree) -> list[dict[str, Any]]:
    """Return the contrasts that were asked for before, of clusters and columns of which the page shows values.

    IN: told: the explanation without what a page does not show. All others are not told of where some are hidden, as
    what is told of both would tell of these.
    """
    hidden, profile = hidden_clusters(ex, None), {one.column: one for one in told._kept["profile"]}
    swatches, found = picture_of(told).swatches, []
    for (i, j), contrast in ex._kept.get(CONTRASTS, {}).items():
        if hidden if j is None else hidden.keys() & {i, j}:
            continue
        others = swatches[i]._replace(cluster=-1, mark="…", name=OTHERS) if j is None else swatches[j]
        shown = [one for one in contrast.differences if _is_told(one, profile.get(one.column), {i, j})]
        found.append(contrast_bars(contrast, (swatches[i], others), shown[:MOST]))
    return found


def _is_told(one: Difference, column: ColumnProfile | None, clusters: Collection[int | None]) -> bool:
    """Return whether the profile that is told has the column in both clusters, and the category."""
    if column is None or any(column.clusters[i] is None for i in clusters if i is not None):
        return False
    return not isinstance(column, CategoryColumn) or one.value in column.categories.values


def _odd_rows(ex: MeasuredTree) -> str:
    """Return what is said of rows that are unlike their cluster; empty without all rows of the table."""
    evidence = ex._in_memory
    if evidence is None or evidence.whole is not None or ex.n_rows * len(ex.columns) > _CHEAP:
        return ""
    return say_odd_rows(ex, FEW)


def _note_on_what_is_missing(ex: MeasuredTree, facts: Mapping[str, Any]) -> list[str]:
    """Return a note on the parts of the page that need rows, if the model was read from a file and holds none."""
    if ex._evidence is not None:
        return []
    parts = {
        "profile": "the profile of the columns",
        "confusion": "the table of clusters against rules",
        "frontier": "the results of smaller and larger trees",
    }
    missing = [what for name, what in parts.items() if facts[name] is None]
    if not missing:
        return []
    return [
        f"the model was read from a file, which holds no rows, so this page lacks {list_words(missing)}. A page "
        "that is "
        "written from the table has them (boxwood explain FILE -o report.html); a model has them if profile() and "
        "frontier() were called before save"
    ]


def _code(ex: MeasuredTree) -> list[dict[str, str]]:
    """Return the rules in the forms that can be copied; a form that cannot be had says why."""
    return [{"form": "text", "name": "Text", "text": text_of_tree(ex, picture_of(ex))}, *code_of_all(ex)]


def _runs(forms: Sequence[Mapping[str, str]]) -> bool:
    """Return whether the page holds the rules as JavaScript, and not a sentence on why it does not."""
    return any(form["form"] == "javascript" and not form["text"].startswith("(") for form in forms)


_MOST_UPRIGHT, _MOST_ON_PAPER = 8, 16  # clusters of a printed table that has a column for each


def _class_of_tables(n_clusters: int) -> str:
    """Return the class of sections whose table has a column for each cluster: wide ones are printed on their side."""
    return "" if n_clusters <= _MOST_UPRIGHT else " class=wide" if n_clusters <= _MOST_ON_PAPER else " class=screen"


def _left_to_screen(ex: MeasuredTree, facts: Mapping[str, Any]) -> str:
    """Return the names of the parts for which a sheet of paper has no room."""
    tree = facts["tree"]
    too_wide = {"the profile": "profile", "the table of disagreement": "confusion"}
    parts = ["a larger picture of the tree"] * bool(tree and tree["paper"].is_small) + ["a form to try values"]
    parts += [what for what, name in too_wide.items() if facts[name] and ex.n_clusters > _MOST_ON_PAPER]
    return join_words([*parts, "the part for analysts (it is printed if it is open)"], len(parts) + 1)


def _title(ex: MeasuredTree, title: str | None) -> str:
    return printable(title) if title else title_of(ex)


MOST_CLUSTERS = 30  # of a confusion table that is shown whole
_MOST_PAIRS = 30
_NAMED = 6  # columns
_FAR_BELOW = 0.1  # distance of a low baseline from the agreement


def lede(ex: MeasuredTree, count: int | None = None) -> str:
    """Return the first sentence; IN: count: to which rows are rounded down."""
    kept = ex.n_rows - ex.n_left_out
    largest = max(ex.clusters, key=lambda cluster: cluster.share)
    only = "only " if ex.baseline < ex.agreement - _FAR_BELOW else ""
    return (
        f"{none_found(ex.notes)}The rules sort {_count(kept, 'row')} into {count_parts(ex.notes, ex.n_clusters)}, by "
        f"{_count(ex.n_leaves - 1, 'cut')} on {ex.tree.features.size:,} of {_count(len(ex.columns), 'column')}. They "
        f"are right for {percent(ex.agreement)} of the rows{' by weight' if ex.details.weighted else ''}"
        f"{'' if count is None else f' in groups of {count:,} or more'}; always guessing "
        f"{shorten_name(cluster_name(largest.name))} would be right for {only}{percent(ex.baseline)}."
    )


def weakest(ex: MeasuredTree, picture: Picture) -> dict[str, Any] | None:
    """Return the least certain cluster, and why; None where rules describe each in full and each returns in full.

    It has the smallest share of the rows that are in it and under its rules in those that are in one of both, or of it
    returns least when rows are drawn again, where that was measured.
    """
    stability = ex._kept.get("stability")
    returns: dict[int, float] = {} if stability is None else {one.cluster: one.jaccard for one in stability.clusters}
    there = [one for one in ex.clusters if one.size and one.found is not None]
    least, one = min(
        ((min(_overlap(one), returns.get(one.cluster, 1.0)), one) for one in there),
        key=lambda pair: pair[0],
        default=(1.0, None),
    )
    if one is None or least >= 1:
        return None
    returned = f"{percent(returns[one.cluster])} of it returns when the rows are resampled" if returns else ""
    mixed, rows = _mixed_with(one.cluster, picture)
    return {
        "swatch": picture.swatches[one.cluster],
        "said": _said_of_rules(one),
        "mixed": picture.swatches[mixed] if rows else None,
        "rows": say_rows(rows, ex.details.weighted),
        "returned": returned,
    }


def _said_of_rules(cluster: ClusterSummary) -> str:
    if not cluster.rules:
        return "no rule names it"
    several = len(cluster.rules) > 1
    said = f"its rule{'s find' if several else ' finds'} {percent(cluster.found or 0.0)} of its rows"
    if cluster.precision is not None:
        said += (
            f"; of the rows that {'they match' if several else 'it matches'}, {percent(cluster.precision)} belong to it"
        )
    return said


def _mixed_with(cluster: int, picture: Picture) -> tuple[int, float]:
    """Return the other cluster with which the rules mix one up most, and how many rows; none where it is not known."""
    table = _rows_by_rules(picture, len(picture.swatches))
    mixed = np.zeros(len(picture.swatches)) if table is None else table[cluster] + table[:, cluster]
    mixed[cluster] = 0.0
    most = int(np.argmax(mixed))
    return most, float(mixed[most])


def _overlap(cluster: ClusterSummary) -> float:
    own = (cluster.found or 0.0) * cluster.size
    either = cluster.size + cluster.matched - own
    return own / either if either > 0 else 1.0  # sizes of a model file that somebody changed may fit nothing


_NOT_ASKED = (
    "The clusters were given, not looked for: whether the rows fall into groups of their own is asked only where none "
    "are given."
)
"""What stands where boxwood, which did not make the clusters, was not asked whether there are any."""


def tiles(ex: MeasuredTree, has_price: bool, count: int | None = None) -> list[dict[str, str]]:
    """Return the numbers at the top, each with a note."""
    names = [shorten_name(column_name(ex.columns[j])) for j in ex.tree.features.tolist()]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    longest = max((len(leaf.rule) for leaf in ex.leaves), default=0)
    price = {"name": "Price of explainability", "value": _price_card(ex.price), "note": _price_note(ex)}
    in_short = groups_in_short(ex.notes) if ex._is_made_here else ("given", _NOT_ASKED)
    groups = dict(zip(("name", "value", "note"), ("Groups", *in_short), strict=True))
    groups |= {} if ex._is_made_here else {"screen": "only"}  # paper has no room for what was not asked
    return [
        *([] if ex.provenance is None else [groups]),
        {"name": "Agreement", "value": percent(ex.agreement), "note": _agreement_note(ex, count)},
        *([price] if has_price else []),
        {
            "name": "Size of the tree",
            "value": _count(ex.n_leaves, "leaf", "leaves"),
            "told": "a leaf: one end of the tree, a box of rows with one rule",
            "note": f"{_count(ex.n_leaves - 1, 'cut')}; the longest rule has {_count(longest, 'condition')}",
        },
        {
            "name": "Columns used",
            "value": f"{len(names):,} of {len(ex.columns):,}",
            "note": (", ".join(names[:_NAMED]) + more) or "none",
        },
    ]


def cards(
    ex: MeasuredTree,
    picture: Picture,
    profile: tuple[ColumnProfile, ...],
    hidden: Mapping[int, str] = MappingProxyType({}),
    count: int | None = None,
) -> list[dict[str, Any]]:
    """Return a card for each cluster: its size, its rules, what stands out.

    IN: hidden: clusters of which no values are shown, and how many rows they have; count: to which rows are rounded.
    """
    worth: Totals | None = ex._kept.get("totals")
    unnamed = bool(profile) and all(isinstance(name, int) for name in ex.names)
    told = _with_shares(ex.clusters, hidden)
    suggested = spoken_names(ex) or (suggested_names(told, profile) if unnamed else {})
    found = []
    for cluster, among, swatch in zip(ex.clusters, told, picture.swatches, strict=True):
        is_hidden, rows = cluster.cluster in hidden, say_rows(cluster.size, ex.details.weighted)
        if count is not None and not cluster.size:
            rows = f"fewer than {count} rows{'' if is_hidden else ' in each leaf'}"
        found.append(
            describe_rules(cluster, swatch, rows)
            | {
                "bar": round(100 * cluster.share, 1),
                "not_shown": f"{hidden[cluster.cluster].capitalize()}: its values are not shown." if is_hidden else "",
                "stands_out": None
                if is_hidden or not profile or not cluster.size
                else _compare_words(ex, distinctive_columns(profile, among, FEW), with_values=count is None),
                "totals": None if worth is None else totals_line(worth, cluster.cluster),
                "of_value": None if worth is None else share_of_total(worth, cluster.cluster),
                "suggested": None if is_hidden else suggested.get(cluster.name),
            }
        )
    return found


_OLDER = {"late": "newer", "early": "older"}  # where rules say ages


def _compare_words(ex: MeasuredTree, found: list[dict[str, str]], *, with_values: bool) -> list[dict[str, str]]:
    """Return what stands out in words that compare a cluster with the other rows.

    IN: with_values: whether means and shares of all rows may be told, which a row more of a small group changes.
    """
    ages = {column_name(name) for name, dates in ex.details.dates if dates.as_of}
    words = [_OLDER if one["name"] in ages else THAN_OTHERS for one in found]
    return [
        one | {"size": said.get(one["size"], one["size"]), "told": one["told"] if with_values else ""}
        for one, said in zip(found, words, strict=True)
    ]


def _with_shares(clusters: Sequence[ClusterSummary], hidden: Collection[int]) -> list[ClusterSummary]:
    """Return the clusters with their shares of the rows whose values are shown; hidden ones as if without rows."""
    shown = sum(cluster.size for cluster in clusters if cluster.cluster not in hidden) or 1.0
    return [
        one._replace(size=0.0, share=0.0) if one.cluster in hidden else one._replace(share=min(one.size / shown, 1.0))
        for one in clusters
    ]


def losses(picture: Picture) -> list[dict[str, str]]:
    """Return a line for each cut: its test, its rows, and the rows that are lost there; none without rows."""
    if any(cut.lost is None for cut in picture.cuts):
        return []
    inside = {edge.parent: edge.full for edge in picture.edges if edge.child == edge.parent + 1}
    return [
        {
            "number": str(cut.number),
            "test": apart(inside[cut.node], cut.column),
            "rows": amount(cut.rows),
            "lost": amount(cut.lost or 0.0),
        }
        for cut in picture.cuts
    ]


def confusion(ex: MeasuredTree, picture: Picture) -> dict[str, Any] | None:
    """Return the rows by cluster and by the cluster of their rule; of many clusters the largest mistakes alone.

    None where they are not known, and nothing where each row is in the cluster that its rule says. The share of a cell
    in its row comes in steps of 5%, for its shade.
    """
    table = _rows_by_rules(picture, ex.n_clusters)
    if table is None:
        return None
    if np.count_nonzero(table) == np.count_nonzero(np.diag(table)):
        return {}
    if ex.n_clusters > MOST_CLUSTERS:
        return {"rows": [], "pairs": _pairs(table)}
    told = [[amount(x) if x else "·" for x in line] for line in table.tolist()]
    table /= 1 << 8  # a power of two, so that shares stay the same and 20 times a weight is a double
    sums = np.maximum(table.sum(axis=1), 1e-300)
    rows = [
        [
            {"text": text, "step": 5 * math.ceil(20 * x / total), "own": i == j, "of": f"{i}-{j}"}
            for j, (x, text) in enumerate(zip(line, texts, strict=True))
        ]
        for i, (line, texts, total) in enumerate(zip(table.tolist(), told, sums.tolist(), strict=True))
    ]
    return {"rows": rows, "pairs": []}


# ----------------------------------------------------------------------------------------------------------- steps
def _rows_by_rules(picture: Picture, k: int) -> Floats | None:
    """Return the rows by cluster and by the cluster of their rule; None where they are not known."""
    table = np.zeros((k, k))
    for leaf in picture.leaves:
        for cluster, part in leaf.parts:
            if cluster < 0:  # of a model without rows: it is not known of which cluster
                return None
            table[cluster, leaf.cluster] += part
    return table


def _pairs(table: Floats) -> list[dict[str, Any]]:
    """Return the largest cells off the diagonal, as their clusters and their text."""
    wrong = table.copy()
    np.fill_diagonal(wrong, 0.0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_PAIRS]
    places = zip(*(place.tolist() for place in np.unravel_index(order, wrong.shape)), strict=True)
    return [{"own": i, "rules": j, "text": amount(table[i, j])} for i, j in places if wrong[i, j]]


def _agreement_note(ex: MeasuredTree, count: int | None) -> str:
    total = sum(leaf.size for leaf in ex.leaves)
    wrong = sum(leaf.size - leaf.own for leaf in ex.leaves)
    if wrong > 0:
        what = "of weight" if ex.details.weighted else "rows"
        note = f"The rules put {amount(wrong)} of {amount(total)} {what} into a cluster that is not their own."
    elif count is not None and count > 1:
        note = f"No leaf puts {count:,} rows of a cluster into another one."
    else:
        note = "Every row is in the cluster that its rule names."
    if ex.held_out is None:
        note += " How well they do on new rows was not tested."
    else:
        note += f" Expect about {ex.held_out.agreement:.0%} on new rows like these."
    return note


def _price_card(price: float) -> str:
    if math.isinf(price):
        return "infinite"
    return f"{price:.3f}" if price < 1000 else f"{price:.3g}"


def _price_note(ex: MeasuredTree) -> str:
    if math.isinf(ex.price):
        return "The clusters have no spread at all; the groups that the rules make have some."
    if ex.reference_cost == 0:
        return "Neither the clusters nor the groups that the rules make have any spread."
    costs, end = "That rules are short costs nothing", ""
    if ex.price - 1 >= _SAME:
        costs, end = "What it costs that rules are short", "; at a price of 1 they would be as compact"
    how = _how_compact(ex.price)
    return f"{costs}: their groups are {how} {'as' if how == 'as compact' else 'than'} the clusters{end}."


_SAME = 0.0005  # of two prices


def _how_compact(price: float) -> str:
    if abs(price - 1) < _SAME:
        return "as compact"
    change = "infinitely" if math.isinf(price) else f"{abs(price - 1):,.1%}"
    return f"{change} {'more' if price > 1 else 'less'} spread out"


def _for_analysts(ex: MeasuredTree, has_price: bool) -> str:
    """Return how the tree was grown, what its price compares, and what tested it."""
    best, where = unbeaten(ex), " in the kernel's feature space" if ex.details.kernel else ""
    said = [f"Grown by {say_method(ex.method)}{f'; {best}' if best else ''}."]
    said += [f"The price compares {_DISTANCES[ex.details.objective]}s within groups{where}."] * has_price
    said += ["To test rules on new rows: validate=5." if ex.held_out is None else f"Held out: {ex.held_out.how}."]
    return " ".join(said)


_DISTANCES = {"sqeuclidean": "squared distance", "l1": "ℓ1 distance", "l2": "Euclidean distance"}
"""What the price compares, by the objective."""


def _count(n: int, noun: str, nouns: str | None = None) -> str:
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"
