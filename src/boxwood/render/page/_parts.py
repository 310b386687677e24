"""The basis of an explanation, the tree, the rules that run in a page, and the profile, as a page shows them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boxwood._dates import MICROSECONDS, Dates, first_after, in_calendar
from boxwood._messages import printable
from boxwood._types import Floats, Indices
from boxwood._validation import list_words
from boxwood.axes import Categories
from boxwood.explanation.records import FEW, NOT_CHOSEN, CategoryColumn
from boxwood.render.forms.walk import codes_at_cuts
from boxwood.render.page.results import apart
from boxwood.render.pictures.bars import Bars
from boxwood.render.pictures.picture import TEXT, Box, CutBox, Edge, Label, LeafBox, Picture
from boxwood.render.pictures.swatches import class_of
from boxwood.words.distinctive import is_zero_or_one
from boxwood.words.measured import about, category_of, middle_of
from boxwood.words.values import category, column_name, count_of, number, percent, shorten_name

if TYPE_CHECKING:
    from boxwood.explanation.measured_tree import MeasuredTree
    from boxwood.explanation.records import CategoryGroup, ColumnProfile, NumberColumn, NumberGroup

LARGEST = 150  # leaves of a tree that is drawn
_DEEPEST = 1 << 20  # characters of indentation of the tree as text


class Ways(NamedTuple):
    """The two ways on from a cut on a column of words in all their words, and whether the picture cuts these off."""

    node: int
    number: int
    column: str
    inside: str
    outside: str
    is_cut_off: bool


def ways_in_full(ex: MeasuredTree, picture: Picture) -> list[Ways]:
    """Return the ways on from the cuts on columns of words."""
    codes, known, found = codes_at_cuts(ex.tree, ex._coded_columns), ex._coded_columns, []
    said = {(edge.parent, edge.child == edge.parent + 1): edge.text for edge in picture.edges}
    for cut in picture.cuts:
        if cut.node in codes:
            values = _values(known[int(ex.tree.feature[cut.node])])
            sides = [[values[code] for code in side] for side in codes[cut.node]]
            drawn = said[cut.node, True], said[cut.node, False]
            hides = any(not any(word in text for text in drawn) for side in sides for word in side)
            is_truth = known[int(ex.tree.feature[cut.node])].values == (False, True)
            inside, outside = (list_words(side, len(side)) for side in sides)
            found.append(Ways(cut.node, cut.number, cut.column, inside, outside, hides and not is_truth))
    return found


def tree_shapes(picture: Picture, ways: Sequence[Ways] = ()) -> dict[str, Any]:
    """Return the shapes of the picture: everything that the template places."""
    in_full = {way.node + 1: f"{way.column}: {way.inside}" for way in ways if way.is_cut_off}
    second = {edge.parent: edge.child for edge in picture.edges if edge.child != edge.parent + 1}
    in_full |= {second[way.node]: f"{way.column}: {way.outside}" for way in ways if way.is_cut_off}
    return {
        "width": round(picture.width),
        "height": round(picture.height),
        "small": picture.small,
        "paper": _on_paper(picture),
        "label": f"Tree of {len(picture.cuts)} cuts and {len(picture.leaves)} leaves; the same tree follows as a list",
        "edges": [_edge(edge, picture.small) | {"full": in_full.get(edge.child, edge.full)} for edge in picture.edges],
        "cuts": [_cut(cut, picture.small) for cut in picture.cuts],
        "leaves": [_leaf(leaf, picture) for leaf in picture.leaves],
    }


def basis_lines(ex: MeasuredTree, least: float) -> list[tuple[str, str]]:
    """Return the basis of an explanation as names and texts, without what is unknown.

    IN: least: the fewest rows whose number is said; infinity if none is.
    """
    known = ex.provenance
    rows = count_of(ex.n_rows, "row")
    scaling = "columns scaled to equal spread" if ex.details.standardized else "columns in their own units"
    n_columns = len(ex.columns) if known is None else known.n_columns
    lines = [
        ("Source", rows if known is None else f"{printable(known.source)}: {rows}, {count_of(n_columns, 'column')}"),
        ("Made", "" if known is None else f"{known.made}, by boxwood {known.version}"),
        ("Clusters from", f"{'labels' if known is None else printable(known.labels)}; {scaling}"),
        ("Columns looked at", f"{_how_many(ex)}: {_columns_named(ex.columns)}"),
        (
            "Left out",
            "; ".join(f"{_columns_named(one.columns)} ({one.reason})" for one in known.left_out) if known else "",
        ),
        ("Rows left out", _rows_left_out(ex)),
        ("Ages from", "; ".join(_days_of_ages(ex, least))),
    ]
    return [(name, text) for name, text in lines if text]


def _how_many(ex: MeasuredTree) -> str:
    """Return how many columns are looked at, of those that could be: labels, weights and columns not chosen apart."""
    left_out = ex.provenance.left_out if ex.provenance else ()
    n_others = sum(len(one.columns) for one in left_out if one.reason != NOT_CHOSEN)
    if n_others:
        return f"{len(ex.columns):,} of {len(ex.columns) + n_others:,}"
    return "those chosen" if left_out else "all"


def _columns_named(columns: Sequence[str]) -> str:
    return list_words([shorten_name(column_name(name)) for name in columns])


def _rows_left_out(ex: MeasuredTree) -> str:
    parts = [f"{ex.details.n_incomplete:,} {'lacks' if ex.details.n_incomplete == 1 else 'lack'} a value"] * bool(
        ex.details.n_incomplete
    )
    labelled = ex.n_left_out - ex.details.n_incomplete
    lack = "no label or weight" if ex.details.weighted else "no label"
    parts += [f"{labelled:,} {'has' if labelled == 1 else 'have'} {lack}"] * bool(labelled)
    return " and ".join(parts) or "none"


def _days_of_ages(ex: MeasuredTree, least: float) -> Iterator[str]:
    """Yield the days from which ages are counted, each once, and the columns of which some rows are later."""
    dates = {j: one for j, one in ex._date_columns.items() if one.as_of}
    yield from dict.fromkeys(f"the day in {one.day_column}" if one.day_column else one.as_of for one in dates.values())
    if (rows := ex._in_memory) is None or math.isinf(least):
        return
    for j, one in dates.items():
        values = rows.coordinates.table.values[rows.task.kept, j]
        tomorrow = one.origin / MICROSECONDS + (not one.is_of_moment)
        n_later = int(np.count_nonzero(np.isfinite(values) & (values >= tomorrow)))
        if 0 < n_later < len(values) / 2:  # of a term that most rows have ahead nobody wonders
            said = count_of(n_later, "row") if n_later >= least else "few rows"
            yield f"{shorten_name(column_name(ex.columns[j]))} of {said} is later"


def outline_of_tree(ex: MeasuredTree, picture: Picture) -> list[dict[str, Any]]:
    """Return the tree as a list: a line for each node, in pre-order, with the number of lists that end behind it."""
    cuts = {cut.node: cut for cut in picture.cuts}
    leaves = {leaf.node: leaf for leaf in picture.leaves}
    conditions = {edge.child: apart(edge.full, cuts[edge.parent].column) for edge in picture.edges}
    depth = ex.tree.node_depth.tolist()
    lines = []
    for node in range(ex.tree.n_nodes):
        line: dict[str, Any] = {"node": node, "condition": conditions.get(node), "cut": None, "leaf": None, "ends": 0}
        if node in cuts:
            cut = cuts[node]
            line["cut"] = {"number": cut.number, "column": cut.column, "note": cut.note}
            line["bars"] = cut.bars is not None
        else:
            leaf = leaves[node]
            note, purity = _leaf_notes(leaf)
            line["leaf"] = {"swatch": picture.swatches[leaf.cluster], "note": note, "purity": purity}
            line["ends"] = depth[node] - (depth[node + 1] if node + 1 < ex.tree.n_nodes else 0)
        lines.append(line)
    return lines


def text_of_tree(ex: MeasuredTree, picture: Picture) -> str:
    """Return the tree in the shape of scikit-learn's `export_text`, without counts."""
    depth = ex.tree.node_depth.tolist()
    if 4 * sum(depth) > _DEEPEST:
        return "(This tree is too deep to be written as text.)"
    clusters = {leaf.node: picture.swatches[leaf.cluster].name for leaf in picture.leaves}
    conditions = {edge.child: edge.full for edge in picture.edges}
    lines = []
    for node in range(ex.tree.n_nodes):
        if node:
            lines.append(f"{'|   ' * (depth[node] - 1)}|--- {conditions[node]}")
        if node in clusters:
            lines.append(f"{'|   ' * depth[node]}|--- {clusters[node]}")
    return "\n".join(lines)


_UPRIGHT, _ON_ITS_SIDE = (703.0, 940.0), (965.0, 640.0)  # pixels between the margins, on A4 and on Letter
_LEAST = 10.8  # pixels, 8.1 points: the smallest text on paper
_LARGER = 1.25  # times its size on the screen that a text may have without leaving its box


class OnPaper(NamedTuple):
    """How a picture is printed: the size of its text before it is scaled, and whether on a page of its own.

    That page lies on its side. `is_small` says that texts of the picture are hard to read there.
    """

    text: float
    has_own_page: bool
    is_small: bool


def _on_paper(picture: Picture) -> OnPaper:
    """Return how the picture is printed: in the text if all of it can be read there, else on a page of its own."""
    upright, own = _scale_on(picture, _UPRIGHT), TEXT - 1.0 if picture.small else TEXT
    has_own_page = picture.small or _LEAST / upright > _LARGER * own
    scale = _scale_on(picture, _ON_ITS_SIDE) if has_own_page else upright
    text = min(max(_LEAST / scale, own), own if picture.small else _LARGER * own)
    return OnPaper(round(text, 1), has_own_page, text * scale < _LEAST - 0.1)


def _scale_on(picture: Picture, sheet: tuple[float, float]) -> float:
    return min(sheet[0] / picture.width, sheet[1] / picture.height, 1.0)


# ----------------------------------------------------------------------------------------------------------- parts
def _edge(edge: Edge, small: bool) -> dict[str, Any]:
    (x, y), (stop, end) = edge.start, edge.stop
    half = (x + edge.turn) / 2
    path = f"M{_place(x)} {_place(y)}C{_place(half)} {_place(y)} {_place(half)} {_place(end)} {_place(edge.turn)} "
    path += f"{_place(end)}H{_place(stop)}"
    off = edge.width / 2 + 3.0
    place = end - off if edge.above else end + off + (7.0 if small else 8.0)
    return {
        "node": edge.child,
        "path": path,
        "width": _place(round(2 * edge.width) / 2),  # in steps, so that it tells no count
        "x": _place(edge.turn - 5.0),
        "y": _place(place),
        "text": edge.text,
    }


def _cut(cut: CutBox, small: bool) -> dict[str, Any]:
    box, area = cut.box, cut.area
    return {
        "node": cut.node,
        "number": cut.number,
        "title": cut.title,
        "column": cut.column,
        "words": "" if cut.bars is None or not cut.bars.labels else f"; bars: {', '.join(cut.bars.labels)}",
        "box": [_place(part) for part in box],
        "note": cut.note,
        "title_y": _place(14.0 if small else 16.0),
        "note_y": _place(box.height - 6.0),
        "bars": None if cut.bars is None else bars_shape(cut.area, cut.labels, cut.bars),
        "at": [_place(area.x - box.x - 2.0), _place(area.y - box.y - 4.0)],
    }


def bars_shape(area: Box, texts: Sequence[Label], bars: Bars) -> dict[str, Any]:
    """Return the bars of a cut; IN: texts: below them."""
    left, width, paths = (bars.at * area.width).tolist(), (np.diff(bars.at) * area.width).tolist(), dict[int, str]()
    for cluster, i, low, top in bars.parts():
        rect = _rect(left[i], (1 - top) * area.height, width[i], (top - low) * area.height)
        paths[cluster] = paths.get(cluster, "") + rect
    labels = [(_place(label.x - area.x), label.anchor, label.text, label.is_cut) for label in texts]
    return {
        "width": _place(area.width),
        "height": _place(area.height),
        "paths": [*paths.items()],
        "lines": [_place(line.at * area.width) for line in bars.lines],
        "labels": labels,
        "log": bars.scale == "log",
    }


def _rect(x: float, y: float, width: float, height: float) -> str:
    return f"M{_place(x)} {_place(y)}h{_place(width)}v{_place(height)}h{_place(-width)}z"


def _leaf(leaf: LeafBox, picture: Picture) -> dict[str, Any]:
    note, purity = _leaf_notes(leaf)
    return {
        "node": leaf.node,
        "title": leaf.title,
        "swatch": picture.swatches[leaf.cluster],
        "box": [_place(part) for part in leaf.box],
        "note": note,
        "purity": purity,
        "parts": _parts(leaf),
        "bar": [_place(leaf.area.x - leaf.box.x), _place(leaf.area.y - leaf.box.y), _place(leaf.area.height)],
    }


def _parts(leaf: LeafBox) -> list[tuple[int, str, str]]:
    """Return the parts of a leaf's bar, as triples (cluster, x, width); -1 stands for unknown clusters."""
    parts, x = [], 0.0
    for cluster, rows in leaf.parts:
        width = leaf.area.width * max(rows, 0.0) / (leaf.rows or 1.0)  # a leaf may hold no row of the file
        if width > 0.05:
            parts.append((cluster, _place(x), _place(width)))
        x += width
    return parts


# ----------------------------------------------------------------------------------------------------------- words
def _leaf_notes(leaf: LeafBox) -> tuple[str, str]:
    """Return the rows and their share, and the share of rows of the leaf's own cluster, if it has rows."""
    if leaf.rows <= 0:
        return leaf.note, ""
    own = next((part for cluster, part in leaf.parts if cluster == leaf.cluster), 0.0)
    return leaf.note, f"{percent(min(own / leaf.rows, 1.0))} from this cluster"


def _place(x: float) -> str:
    """Return a number for SVG, with one decimal at most."""
    return f"{x:.1f}".removesuffix(".0").replace("-0", "0", 1) if abs(x) < 0.05 else f"{x:.1f}".removesuffix(".0")


_DIGITS = (3, 4, 6, 9, 17)  # of a typical value; as many as keep the typical row in its leaf
_OF_MEDIANS = 3  # digits; those of means tell of no row


def what_if(ex: MeasuredTree, picture: Picture, lines: list[dict[str, Any]], least: int) -> dict[str, Any]:
    """Return the data of the form in which readers try values.

    Thresholds are JSON numbers that read back as the same doubles; None stands for an infinite end. The values of a
    typical row are medians, or means where these need many digits, and most frequent categories, of the rows in the
    largest leaf of a cluster, rounded; they come from leaves of `least` rows at least. Without rows there are none.
    """
    tested = ex.tree.features.tolist()
    return {
        "columns": columns_in_form(ex),
        "nodes": nodes_in_form(ex),
        "conditions": [line["condition"] for line in lines],
        "notes": [[line["leaf"]["note"], line["leaf"]["purity"]] for line in lines if line["leaf"]],
        "clusters": [[swatch.mark, swatch.name, class_of(swatch.cluster)] for swatch in picture.swatches],
        "typical": _typical_rows(ex, tested, least),
    }


def columns_in_form(ex: MeasuredTree) -> list[dict[str, Any]]:
    """Return the tested columns as the form asks for them."""
    tested, choices = ex.tree.features.tolist(), _choices(ex)
    return [
        {"name": apart(name := _name_in_form(ex, j), name), "values": choices.get(j), "deviation": deviation}
        | ({"gaps": True} if j in ex._gap_columns else {})
        | _kind_of_date(ex, j)
        for j, deviation in zip(tested, _deviations(ex, tested), strict=True)
    ]


def _choices(ex: MeasuredTree) -> dict[int, list[str]]:
    """Return the columns whose values are chosen from a list: those of categories, and those of 0 and 1."""
    binary = {ex.columns.index(name): ["0", "1"] for name in ex.details.binary}
    return binary | {j: _values(known) for j, known in ex._coded_columns.items()}


def _values(known: Categories) -> list[str]:
    return [category(value) for value in known.values] + ["any other value"] * known.others


def nodes_in_form(ex: MeasuredTree) -> list[list[Any]]:
    """Return the nodes in pre-order: [column, lower, upper, second child] of a cut, [cluster] of a leaf.

    The codes of a set follow as a list.
    """
    tree, position = ex.tree, {j: i for i, j in enumerate(ex.tree.features.tolist())}
    return [
        [
            position[int(tree.feature[i])],
            _end(tree.lower[i]),
            _end(tree.upper[i]),
            int(tree.second[i]),
            *([list(tree.test(i).members)] if tree.is_set[i] else []),
        ]
        if tree.feature[i] >= 0
        else [int(tree.cluster[i])]
        for i in range(tree.n_nodes)
    ]


def _end(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None


def _deviations(ex: MeasuredTree, tested: list[int]) -> list[float]:
    """Return the standard deviation of each tested column, in three digits; 1 where it is not known."""
    known = {one.column: one for one in ex._kept.get("profile", ())}
    found = [known.get(ex.columns[j]) for j in tested]
    spread = [getattr(one.everyone, "deviation", 1.0) if one is not None else 1.0 for one in found]
    return [float(f"{one:.3g}") if math.isfinite(one) and one > 0 else 1.0 for one in spread]


def _typical_rows(ex: MeasuredTree, tested: list[int], least: int) -> list[list[str | int] | None]:
    """Return for each cluster the values of a typical row: numbers as text, codes of categories; None for no row."""
    if ex._in_memory is None or not tested:
        return [None] * ex.n_clusters
    leaves = [_leaf_to_show(ex, cluster) for cluster in range(ex.n_clusters)]
    middles = _middles(ex, tested, [leaf for leaf in leaves if leaf is not None], least)
    return [_round_middle(ex, tested, leaf, middles[leaf]) if leaf in middles else None for leaf in leaves]


def _leaf_to_show(ex: MeasuredTree, cluster: int) -> int | None:
    """Return the leaf of a cluster with the most rows of it, the first of equals; None without a leaf."""
    own = [one for one in ex.leaves if one.cluster == cluster]
    return max(own, key=lambda one: (one.own, -one.leaf)).leaf if own else None


def _middles(
    ex: MeasuredTree, tested: list[int], leaves: list[int], least: int
) -> dict[int, list[tuple[float, float]]]:
    """Return median and mean of the tested columns in those of the leaves that have at least `least` rows."""
    from boxwood.batches.ranks import AT_ONCE, MediansOfGroups, columns_in_groups, places_in_groups

    evidence = ex._rows()
    table, kept = evidence.coordinates.table.values, evidence.task.kept
    counts = np.bincount(evidence.leaf[kept], minlength=ex.n_leaves)
    leaves = sorted(leaf for leaf in leaves if counts[leaf] >= least)
    if not leaves:
        return {}
    group = np.full(ex.n_leaves, -1)
    group[leaves] = np.arange(len(leaves))
    places, sizes = places_in_groups(np.where(kept, group[evidence.leaf], -1), len(leaves))
    bounds, middles, choices = np.append(0, np.cumsum(sizes)), [], _choices(ex)
    medians, room = MediansOfGroups(bounds), np.empty((AT_ONCE, bounds[-1]))
    for start in range(0, len(tested), AT_ONCE):
        here = tested[start : start + AT_ONCE]
        for j, x in zip(here, columns_in_groups(table, here, places, room), strict=True):
            parts = np.split(x, bounds[1:-1])
            if j in choices:
                middles.append([(_most_frequent(part),) * 2 for part in parts])
            elif j in ex._gap_columns:
                middles.append(
                    [(_middle_with_gaps(part, np.median), _middle_with_gaps(part, np.mean)) for part in parts]
                )
            else:
                middles.append([*zip(medians.of(x).tolist(), (float(part.mean()) for part in parts), strict=True)])
    return dict(zip(leaves, map(list, zip(*middles, strict=True)), strict=True))


def _round_middle(
    ex: MeasuredTree, tested: list[int], leaf: int, middles: list[tuple[float, float]]
) -> list[str | int] | None:
    """Return the middle of some rows of a leaf, in as few digits as leave it there; None if it never is.

    Where most of them lack a value, so does the middle, and its text is empty.
    """
    choices, gaps = _choices(ex), np.isin(np.arange(len(ex.columns)), list(ex._gap_columns))
    coded = [j in choices for j in tested]
    for digits in _DIGITS:
        row = np.zeros((1, len(ex.columns)))
        row[0, tested] = [
            x if is_code else _date_in_digits(mean, digits) if j in ex._date_columns else float(f"{at:.{digits}g}")
            for j, (x, mean), is_code in zip(tested, middles, coded, strict=True)
            for at in [x if digits <= _OF_MEDIANS else mean]
        ]
        if (np.isfinite(row) | (gaps & np.isposinf(row))).all() and int(ex.tree.apply(row)[0]) == leaf:
            ends = row[0, tested].tolist()
            pairs = zip(tested, ends, strict=True)
            texts = ("" if math.isinf(x) else _as_typed(x, ex._date_columns.get(j)) for j, x in pairs)
            return [int(x) if is_code else text for x, text, is_code in zip(ends, texts, coded, strict=True)]
    return None


def _name_in_form(ex: MeasuredTree, j: int) -> str:
    """Return the name of a column in the form; dates that are counted from a column are typed as days after it."""
    name, dates = column_name(ex.columns[j]), ex._date_columns.get(j)
    return name if dates is None or not dates.is_relative else f"{name} (days after {dates.day_column})"


def _kind_of_date(ex: MeasuredTree, j: int) -> dict[str, Any]:
    """Return whether a column is typed as dates, and from which day these are counted, if they are.

    Days are enough where no cut parts two moments of a day.
    """
    dates = ex._date_columns.get(j)
    if dates is None or dates.is_relative:
        return {}
    ends = np.concatenate([ex.tree.lower[ex.tree.feature == j], ex.tree.upper[ex.tree.feature == j]])
    ends = ends[np.isfinite(ends) & (np.abs(ends) < _MOST_DAYS)]
    are_days = not dates.zone and all(first_after(end) % MICROSECONDS == 0 for end in ends.tolist())
    counted_from = {"origin": dates.origin / MICROSECONDS} if dates.as_of else {}
    return {"date": True} | ({"day": True} if are_days else {}) | counted_from


_MOST_DAYS = 1e7  # more than any date has


def _date_in_digits(days: float, digits: int) -> float:
    """Return a date to the day, to the hour, or to the minute, for more digits; infinity for a missing one."""
    parts = {_DIGITS[0]: 1, _DIGITS[1]: 24}.get(digits, 1440)
    return math.floor(days * parts) / parts if math.isfinite(days) else days


def _as_typed(x: float, dates: Dates | None) -> str:
    """Return a value as a field of the form has it; dates are those of UTC."""
    if dates is None or dates.is_relative:
        return number(x)
    return dates.first_moment(in_calendar(x), beyond=False).isoformat(timespec="minutes")


def _middle_with_gaps(values: Floats, middle: Callable[[Floats], Any]) -> float:
    """Return the middle of the numbers; infinity, as a missing value is, where most values are missing."""
    numbers = values[np.isfinite(values)]
    return float(middle(numbers)) if 2 * len(numbers) >= len(values) else math.inf


def _most_frequent(codes: Floats) -> float:
    return float(np.argmax(np.bincount(codes.astype(np.intp))))


MOST_COLUMNS = 40
_MOST_WORDS = 8  # of a column
_MOST_CELLS = 720  # which keeps the page of 24 clusters and 300 columns below 450 kB
_SAMPLE = 50_000  # rows; a place among them is right to about half a percent


def profile_table(ex: MeasuredTree, profile: tuple[ColumnProfile, ...]) -> dict[str, Any]:
    """Return the columns to show: those that the tree tests, then those that separate clusters best.

    IN: profile: of the table's columns; its order is kept among equals.
    """
    cuts, sample, shown = _cuts_by_column(ex), _sample(ex), _columns_shown(ex, profile)
    return {
        "columns": [_row(ex, one, cuts.get(one.column), sample) for one in shown],
        "left_out": len(profile) - len(shown),
    }


def _columns_shown(ex: MeasuredTree, profile: tuple[ColumnProfile, ...]) -> list[ColumnProfile]:
    most = max(min(MOST_COLUMNS, _MOST_CELLS // ex.n_clusters), 1)
    cuts = _cuts_by_column(ex)
    return sorted(profile, key=lambda one: (one.column not in cuts, -one.effect))[:most]


def shares_to_compare(ex: MeasuredTree, profile: tuple[ColumnProfile, ...]) -> dict[int, list[list[str]]]:
    """Return for each column of categories, by its line in the profile, those whose shares differ most.

    Of each there is its name, its share in each cluster, which is empty where the profile has no cell, and that among
    all rows.
    """
    coded = [(i, one) for i, one in enumerate(_columns_shown(ex, profile)) if isinstance(one, CategoryColumn)]
    most = max(min(_MOST_WORDS, _MOST_CELLS // (ex.n_clusters * max(len(coded), 1))), 1)
    return {i: found for i, one in coded if (found := _shares_of_words(ex, one, most))}


def _cuts_by_column(ex: MeasuredTree) -> dict[str, str]:
    """Return for each tested column the numbers of its cuts, counted from 1 in pre-order."""
    found: dict[str, list[str]] = {}
    for i, node in enumerate(np.flatnonzero(ex.tree.feature >= 0).tolist()):
        found.setdefault(ex.columns[int(ex.tree.feature[node])], []).append(str(i + 1))
    return {
        name: f"cut{'s' if len(cuts) > 1 else ''} {', '.join(cuts[:6])}{' …' if len(cuts) > 6 else ''}"
        for name, cuts in found.items()
    }


# ---------------------------------------------------------------------------------------------------------- places
def _row(ex: MeasuredTree, column: ColumnProfile, cuts: str | None, sample: Indices | None) -> dict[str, Any]:
    is_number = hasattr(column.everyone, "quantiles")
    cells, everyone = (
        _numbers(ex, column, sample) if is_number else _categories(ex, column)  # type: ignore[arg-type]
    )
    return {"name": column_name(column.column), "cuts": cuts, "cells": cells, "everyone": everyone}


def _numbers(ex: MeasuredTree, column: NumberColumn, sample: Indices | None) -> tuple[list[dict[str, Any] | None], str]:
    """Return for each cluster its median, and the places of its quartiles among all rows, from 0 to 100."""
    told = [
        group if group is not None and cluster.size else None
        for group, cluster in zip(column.clusters, ex.clusters, strict=True)
    ]
    if is_zero_or_one(column):
        return [group and _share_of_ones(group, column.everyone.mean) for group in told], _ones(column.everyone)
    marks = np.array([group.quantiles[1:4] for group in told if group is not None], dtype=np.float64)
    places = iter(_places(ex, column, sample, marks).round(0).astype(int).tolist())
    cells: list[dict[str, Any] | None] = []
    for group in told:
        if group is None:
            cells.append(None)
            continue
        text, (low, middle, high) = middle_of(column, group, about), next(places)
        cells.append({"text": text, "low": low, "middle": middle, "high": max(high, low + 1)})
    return cells, middle_of(column, column.everyone, about)


def _share_of_ones(group: NumberGroup, of_all: float) -> dict[str, Any]:
    """Return the cell of a column of 0 and 1, which has the form of one of a category."""
    high = max(round(100 * group.mean), 1)
    return {"text": _ones(group), "low": 0, "middle": None, "high": high, "mark": round(100 * of_all)}


def _ones(group: NumberGroup) -> str:
    missing = f" ({percent(group.missing)} missing)" if group.missing else ""
    return f"{percent(group.mean)} are 1{missing}"


def _categories(ex: MeasuredTree, column: CategoryColumn) -> tuple[list[dict[str, Any] | None], str]:
    """Return for each cluster its most frequent category with its share, and the share among all rows as a mark."""
    cells: list[dict[str, Any] | None] = []
    for group, cluster in zip(column.clusters, ex.clusters, strict=True):
        if group is None or not cluster.size:
            cells.append(None)
            continue
        code = _most_frequent_word(column, group)
        if round(group.shares[code] * cluster.size, 6) < FEW:
            cells.append(None)
            continue
        share = percent(group.shares[code])
        high = max(round(100 * group.shares[code]), 1)
        mark = round(100 * column.everyone.shares[code])
        cells.append(
            {"text": f"{share} {category_of(column, code)}", "low": 0, "middle": None, "high": high, "mark": mark}
        )
    most = _most_frequent_word(column, column.everyone)
    return cells, f"{percent(column.everyone.shares[most])} {category_of(column, most)}"


def _shares_of_words(ex: MeasuredTree, column: CategoryColumn, most: int) -> list[list[str]]:
    cells, _ = _categories(ex, column)
    groups = [group if cell else None for group, cell in zip(column.clusters, cells, strict=True)]
    told, found = [group.shares for group in groups if group is not None], []
    if not told:
        return []
    ranges = np.ptp(told, axis=0).round(9)
    for code in np.lexsort((np.negative(column.everyone.shares), -ranges))[:most].tolist():
        shares = [
            "" if group is None else _share_of_word(group.shares[code], cluster.size)
            for group, cluster in zip(groups, ex.clusters, strict=True)
        ]
        found.append([shorten_name(category_of(column, code)), *shares, percent(column.everyone.shares[code])])
    return found


def _share_of_word(share: float, size: float) -> str:
    """Return the share of a category in a cluster; of few rows it is a limit."""
    return f"<{percent(FEW / size)}" if 0 < round(share * size, 6) < FEW else percent(share)


def _most_frequent_word(column: CategoryColumn, group: CategoryGroup) -> int:
    """Return the code of the most frequent word; other values, which are many words, are none."""
    return int(np.argmax(group.shares[: len(column.categories.values)] or group.shares))


def _places(ex: MeasuredTree, column: NumberColumn, sample: Indices | None, values: Floats) -> Floats:
    """Return the places of values among all rows in percent; equal rows count half. Without rows, from quantiles."""
    if sample is None or values.size == 0:
        return np.interp(values, _ascending(column.everyone.quantiles), (5, 25, 50, 75, 95))
    table = ex._rows().coordinates.table.values
    x = np.sort(np.asarray(table[sample, ex.columns.index(column.column)], dtype=np.float64))
    x = x[: int(np.searchsorted(x, np.inf))]  # without missing values
    below, up_to = np.searchsorted(x, values, side="left"), np.searchsorted(x, values, side="right")
    return np.asarray(100.0 * (below + up_to) / (2 * len(x)))


def _ascending(quantiles: tuple[float, ...]) -> Floats:
    return np.maximum.accumulate(np.asarray(quantiles, dtype=np.float64))


def _sample(ex: MeasuredTree) -> Indices | None:
    """Return the rows that are kept, or a sample of them, always the same one; None without rows."""
    if ex._in_memory is None:
        return None
    kept = np.flatnonzero(ex._rows().task.kept)
    if len(kept) > _SAMPLE:
        kept = np.sort(np.random.default_rng(0).choice(kept, _SAMPLE, replace=False, shuffle=False))
    return kept
