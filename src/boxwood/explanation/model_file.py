"""The model file: an explanation as JSON, with a format number. It is data; reading it runs nothing.

`Document` says what stands in it, and `_typed` reads that. What no type can say is checked here, so that whatever is
read can be printed and used.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import fields, replace
from typing import IO, Annotated, Any, Literal, NotRequired, TypedDict

import numpy as np

from boxwood._dates import Dates
from boxwood._files import replacing
from boxwood._messages import cut_off, list_words, show_value
from boxwood._types import AnyAmount, Range, Share, Size
from boxwood._validation import refuse_unknown_letters
from boxwood.axes import Categories
from boxwood.errors import ModelError
from boxwood.explanation._typed import as_type, plain_values
from boxwood.explanation.living.shapes import Shape, codes_in, shapes_of
from boxwood.explanation.measure.lines import MeasuredRules, StandaloneRule, line_rule
from boxwood.explanation.measure.spreads import Spread
from boxwood.explanation.measure.told import categories_told, profile_told, rounded_quantiles, spreads_told, totals_told
from boxwood.explanation.measured_tree import HELD, WHOLE, MeasuredTree, side_of_outcomes
from boxwood.explanation.records import (
    QUANTILES,
    CategoryColumn,
    Clusters,
    ClusterSummary,
    ColumnProfile,
    Details,
    DrawFacts,
    Edit,
    Frontier,
    HeldOut,
    KernelFacts,
    LeafSummary,
    LimitFacts,
    Mend,
    MixtureFacts,
    Provenance,
    SearchReport,
    Stability,
    Totals,
    cluster_rules_of,
    leaves_of,
    ruled_by,
    rules_of,
)
from boxwood.metrics.reading import Readability
from boxwood.tree import ThresholdTree
from boxwood.tree.exchange import from_nodes, to_nodes
from boxwood.words.rules import cluster_rule, rule

FORMAT, VERSION = "boxwood", 3
CODED_VERSION = 2  # of models with categories, without sets of them and without gaps
PLAIN_VERSION = 1  # of models without categories; older versions of boxwood read what has the least number it can have
_CHUNK, _LARGEST = 1 << 24, 1 << 29  # bytes
_FRONTIER = ("folds", "grown_by", "objective", "n_grown", "claim", "rows")
_OF_THIS_VERSION: dict[str, Any] = {"readability": Readability, "search_report": SearchReport, "limits": LimitFacts}


class LeafEntry(TypedDict):
    """What is read of a leaf. Its number, cluster and rule, which are written too, follow from the nodes."""

    size: Size
    own: Size
    noise: NotRequired[int | None]
    held: NotRequired[tuple[Size, ...]]  # rows of each cluster


class ClusterEntry(TypedDict):
    """What is read of a cluster. The rest follows from its leaves."""

    name: Hashable
    size: Size
    share: Share
    caught: Share | None
    precision: Share | None
    mend: NotRequired[Mend]


class LineEntry(TypedDict):
    """What is read of a one-line rule. The rule, which is written too, follows from the nodes."""

    nodes: Any
    matched: Size
    found: Share
    precision: Share
    f1: Share
    best: Share
    proved: bool
    found_held_out: Share | None
    precision_held_out: Share | None


class LinesEntry(TypedDict):
    """What is read of one-line rules: for each cluster its front, and which rule of this was chosen."""

    max_conditions: int
    min_precision: Share | None
    min_found: Share | None
    validated: str
    n_rows: int
    n_unmatched: Size
    n_overlapping: Size
    agreement: Share
    binary: tuple[str, ...]
    categories: dict[str, Categories]  # of the columns that these rules ask for
    bounds: tuple[Share, ...]
    limits: tuple[str, ...]
    chosen: tuple[int | None, ...]
    fronts: tuple[tuple[LineEntry, ...], ...]


class Document(TypedDict):
    """The model file, in its order: first the rules, then what was measured, which changes with each row.

    An entry that is not required is left out where an explanation has none.
    """

    format: Any  # this and the version are checked before all others
    version: Any
    columns: tuple[str, ...]
    binary: NotRequired[tuple[str, ...]]
    categories: NotRequired[dict[str, Categories]]
    gaps: NotRequired[tuple[str, ...]]
    dates: NotRequired[dict[str, Dates]]
    nodes: Any
    nodes_in_words: NotRequired[Any]  # the same with short thresholds, where words have others
    provenance: NotRequired[Provenance]
    method: str
    n_rows: int
    n_left_out: int
    weighted: bool
    standardized: bool
    cost: AnyAmount
    reference_cost: AnyAmount
    price: AnyAmount
    agreement: Share
    baseline: NotRequired[Any]  # for readers of the file, as are the rules of clusters and leaves
    adjusted_rand: Annotated[float, Range(-1 - 1e-9, 1 + 1e-9, "a number from -1 to 1")]
    readability: Readability
    notes: tuple[str, ...]
    objective: NotRequired[Literal["sqeuclidean", "l1", "l2"]]
    mixture: NotRequired[MixtureFacts]
    draws: NotRequired[DrawFacts]
    kernel: NotRequired[KernelFacts]
    search_report: NotRequired[SearchReport]
    limits: NotRequired[LimitFacts]
    clusters: tuple[ClusterEntry, ...]
    spreads: NotRequired[dict[str, Spread]]
    shapes: NotRequired[dict[str, Shape]]
    profile: NotRequired[tuple[ColumnProfile, ...]]
    outcomes: NotRequired[tuple[ColumnProfile, ...]]  # the profile of another table, whose clusters these are
    leaves: tuple[LeafEntry, ...]
    held_out: NotRequired[HeldOut]
    n_incomplete: NotRequired[int]
    frontier: NotRequired[Frontier]
    stability: NotRequired[Stability]
    totals: NotRequired[Totals]
    standalone_rules: NotRequired[LinesEntry]
    changes: NotRequired[tuple[Edit, ...]]


_FACTS = {each.name for each in fields(MeasuredTree)}
_DETAILS = {*Details._fields}


def to_document(ex: MeasuredTree) -> dict[str, Any]:
    """See `Explanation.to_dict`."""
    spreads, frontier = spreads_told(ex), ex._kept.get("frontier")  # `why` needs those of the columns that it tests
    said = ex._in_words()
    parts = {
        "format": FORMAT,
        "version": _version(ex),
        "objective": None if ex.details.objective == "sqeuclidean" else ex.details.objective,
        "binary": ex.details.binary or None,
        "categories": categories_told(ex) or None,
        "gaps": ex.details.gaps or None,
        "dates": dict(ex.details.dates) or None,
        "clusters": [
            _cluster_entry(cluster)
            | {"rules": [rule(leaf, whole=True) for leaf in cluster.rules], "rule": cluster_rule(cluster, whole=True)}
            for cluster in said.clusters
        ],
        "spreads": None if spreads is None else {ex.columns[j]: spread for j, spread in spreads.items()},
        "shapes": {ex.columns[j]: shape for j, shape in (shapes_of(ex) or {}).items()} or None,
        "profile": _profile_entries(ex),
        "outcomes": None if (side := side_of_outcomes(ex)) is None else _profile_entries(side),
        "leaves": _leaf_entries(said),
        "notes": said.notes,
        "nodes": to_nodes(ex.tree),
        "nodes_in_words": None if ex._short is None else to_nodes(ex._short),
        "frontier": None if frontier is None else _frontier_entry(frontier),
        "stability": ex._kept.get("stability"),
        "n_incomplete": ex.details.n_incomplete or None,
        "totals": totals_told(ex),
        "changes": ex.changes or None,
        "standalone_rules": _lines_entry(ex._kept["lines"]) if "lines" in ex._kept else None,
    }
    parts = {name: getattr(ex, name, None) for name in Document.__annotations__} | ex.details._asdict() | parts
    parts = {name: parts[name] for name in Document.__annotations__}
    return {name: plain_values(part) for name, part in parts.items() if part is not None}


def _leaf_entries(ex: MeasuredTree) -> list[dict[str, Any]]:
    held = ex._kept.get(HELD) if ex._evidence is None else ex._evidence.held
    rows: Sequence[dict[str, Any]] = [{}] * ex.n_leaves if held is None else [{"held": one} for one in held.tolist()]
    told = (leaf._asdict() | {"rule": rule(leaf.rule, whole=True)} for leaf in ex.leaves)
    return [leaf | own for leaf, own in zip(told, rows, strict=True)]


def _frontier_entry(frontier: Frontier) -> dict[str, Any]:
    entry = {name: getattr(frontier, name) for name in _FRONTIER}
    return {**entry, "by_agreement": True} if frontier.by_agreement else entry


_NAMES_IN_FILES = {"matched": "ruled", "found": "caught"}


def _cluster_entry(cluster: ClusterSummary) -> dict[str, Any]:
    """Return the facts of a cluster by the names that they have in files, which are those of the first version."""
    facts = {_NAMES_IN_FILES.get(name, name): fact for name, fact in cluster._asdict().items()}
    return {name: fact for name, fact in facts.items() if name != "mend" or fact is not None}


def _version(ex: MeasuredTree) -> int:
    """Return the least format that can say all that is in a model."""
    if ex.details.gaps or ex.details.dates or ex.tree.has_sets:
        return VERSION
    return CODED_VERSION if ex.details.categories else PLAIN_VERSION


def _profile_entries(ex: MeasuredTree) -> Any:
    """Return the profile of clusters that are not of few rows; groups of a column without gaps have no entry for them.

    Its quantiles are rounded: they are values of rows. That of a model that was read from a file stays as it was there.
    """
    if "profile" not in ex._kept:
        return None
    is_read = ex._evidence is None and WHOLE not in ex._kept
    profile = ex._kept["profile"] if is_read else tuple(map(rounded_quantiles, profile_told(ex)))
    entries: Any = plain_values(profile) or None
    for column in entries or ():
        for group in (column["everyone"], *column["clusters"]):
            if group is not None and group.get("missing", 0) is None:
                del group["missing"]
    return entries


_OF_LINES = (
    *("max_conditions", "min_precision", "min_found", "validated", "n_rows", "n_unmatched", "n_overlapping"),
    *("agreement", "binary", "bounds", "limits", "chosen"),
)


def _lines_entry(lines: MeasuredRules) -> dict[str, Any]:
    known = lines.explanation._coded_columns
    asked = {j for trees in lines.trees_of_fronts for tree in trees for j in tree.features.tolist()}
    entry: dict[str, Any] = {name: getattr(lines, name) for name in _OF_LINES}
    entry["categories"] = {lines.explanation.columns[j]: known[j] for j in sorted(asked & known.keys())}
    entry["fronts"] = [
        [
            line._asdict() | {"rule": rule(line.rule, whole=True), "nodes": to_nodes(tree)}
            for line, tree in zip(*each, strict=True)
        ]
        for each in zip(lines.fronts, lines.trees_of_fronts, strict=True)
    ]
    return entry


_MEASURED_FROM = "n_rows"  # on, a model file has what was measured


def to_text(ex: MeasuredTree) -> str:
    """See `Explanation.to_json`.

    Entries of the rules are over lines, and all that was measured is in the last one: rows that move no threshold
    change one line of a file under version control.
    """
    document = to_document(ex)
    names = [*document]
    start = names.index(_MEASURED_FROM)
    rules = json.dumps({name: document[name] for name in names[:start]}, allow_nan=False, ensure_ascii=False, indent=1)
    measured = json.dumps({name: document[name] for name in names[start:]}, allow_nan=False, ensure_ascii=False)
    return f"{rules[:-2]},\n {measured[1:]}"


GIVE_ONE = "give a file that Explanation.save wrote"


def from_text(text: str, source: str) -> MeasuredTree:
    """Return the explanation in a text; errors call it `source`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(f"{source} is not a boxwood model: it is no JSON; {GIVE_ONE}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelError(f'{source} is not a boxwood model: it is JSON without "format": "{FORMAT}"; {GIVE_ONE}')
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ModelError(
            f"{source} was written by a newer boxwood (format {cut_off(str(version))}, this one reads {VERSION})"
        )
    if version not in (PLAIN_VERSION, CODED_VERSION, VERSION):
        raise ModelError(f"{source} is not a boxwood model: format {show_value(version)} is unknown")
    try:
        return _explanation(document)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise ModelError(f"{source} is a damaged boxwood model: {cut_off(str(error))}") from None


def read_model(source: str | os.PathLike[str] | IO[str]) -> MeasuredTree:
    """See `load`."""
    if not isinstance(source, str | os.PathLike):
        if not hasattr(source, "read"):
            raise TypeError(f"a model must be a path, or a file that is open for reading, got {type(source).__name__}")
        return from_text(source.read(), getattr(source, "name", "this text"))
    return _read_file(source)


def _read_file(path: str | os.PathLike[str]) -> MeasuredTree:
    refuse_unknown_letters(path)
    name = os.fspath(path)
    content = b""
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, f"no such file, so no model to load; {GIVE_ONE}", name)
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            content += chunk
            if content.lstrip()[:1] not in (b"{", b""):  # an endless file, such as a device, is not read to its end
                raise ModelError(f"{name} is not a boxwood model: it does not begin as a JSON object does; {GIVE_ONE}")
            if len(content) > _LARGEST:
                raise ModelError(f"{name} is not a boxwood model: it is larger than {_LARGEST >> 20} MiB")
    try:
        return from_text(content.decode("utf-8"), name)
    except UnicodeDecodeError:
        raise ModelError(f"{name} is not a boxwood model: it is no text in UTF-8; {GIVE_ONE}") from None


def write_model(ex: MeasuredTree, path: str | os.PathLike[str]) -> None:
    """See `Explanation.save`."""
    text = to_text(ex)
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(f"{text}\n")


# ------------------------------------------------------------------------------------------ an explanation of entries


def _explanation(entries: dict[str, Any]) -> MeasuredTree:
    document: Document = as_type(Document, entries)
    tree, columns, categories = from_nodes(document["nodes"]), document["columns"], document.get("categories", {})
    _check_tree(document, tree)
    _check_table(document, entries)
    _check_profile(document, document.get("profile", ()))
    _check_profile(document, document.get("outcomes", ()), are_known=False)
    _check_measured(document, tree)
    _check_shapes(document, tree)
    what = tree, columns, {columns.index(name): known for name, known in categories.items()}
    gaps = {columns.index(name) for name in document.get("gaps", ())}
    dates = {columns.index(name): dates for name, dates in document.get("dates", {}).items()}
    of_leaves = zip(tree.leaf_clusters.tolist(), rules_of(*what, gaps, dates), document["leaves"], strict=True)
    leaves = [
        LeafSummary(i, cluster, entry["size"], entry["own"], conditions, entry.get("noise"))
        for i, (cluster, conditions, entry) in enumerate(of_leaves)
    ]
    n = len(document["clusters"])
    of_clusters = zip(
        map(ruled_by, leaves_of(leaves, n)), cluster_rules_of(*what, n, gaps, dates), document["clusters"], strict=True
    )
    clusters = [
        ClusterSummary(
            i, one["name"], one["size"], one["share"], matched, one["caught"], one["precision"], rules, one.get("mend")
        )
        for i, (matched, rules, one) in enumerate(of_clusters)
    ]
    parts: dict[str, Any] = {"leaves": tuple(leaves), "clusters": Clusters(clusters)}
    facts, details = (
        {name: document[name] for name in document.keys() & those}  # type: ignore[literal-required]
        for those in (_FACTS, _DETAILS)
    )
    details |= {name: tuple(document.get(name, {}).items()) for name in ("categories", "dates")}  # type: ignore[attr-defined]
    parts["details"] = Details(**details)
    kept, short = _read_kept(document, tree), _short_tree(document, tree)
    measured = MeasuredTree(tree=tree, **facts | parts, _kept=kept, _short=short)
    if "standalone_rules" in document:
        kept["lines"] = _lines(measured, document["standalone_rules"])
    return measured


def _lines(ex: MeasuredTree, entry: LinesEntry) -> MeasuredRules:
    """Return one-line rules of an entry."""
    _refuse_unknown("lines", [*entry["binary"], *entry["categories"]], ex.columns)
    n = [len(entry[name]) for name in ("bounds", "chosen", "fronts")]  # type: ignore[literal-required]
    _refuse(n != [ex.n_clusters] * 3, f"its lines must have an entry for each of {ex.n_clusters} clusters")
    known = ((name, entry["categories"][name]) for name in ex.columns if name in entry["categories"])
    kept = {name: ex._kept[name] for name in ("shapes",) if name in ex._kept}
    here = replace(ex, details=ex.details._replace(categories=tuple(known)), _kept=kept)
    trees = tuple(tuple(from_nodes(line["nodes"]) for line in front) for front in entry["fronts"])
    for i, of_front in zip(entry["chosen"], trees, strict=True):
        _refuse(i is not None and not 0 <= i < len(of_front), "its lines choose a rule that is not there")
    for tree in (tree for of_front in trees for tree in of_front):
        fits = tree.n_features <= len(ex.columns) and sorted(tree.leaf_clusters.tolist())[-2:] in ([0, 1], [1])
        _refuse(not fits, "its lines are no rules on its columns")
    fronts = tuple(
        tuple(_line(here, cluster, *pair, entry["binary"]) for pair in zip(*each, strict=True))
        for cluster, each in enumerate(zip(entry["fronts"], trees, strict=True))
    )
    facts = {name: entry[name] for name in _OF_LINES}  # type: ignore[literal-required]
    return MeasuredRules(here, fronts, trees, **facts)


def _line(
    ex: MeasuredTree, cluster: int, entry: LineEntry, tree: ThresholdTree, binary: tuple[str, ...]
) -> StandaloneRule:
    facts: dict[str, Any] = {name: value for name, value in entry.items() if name != "nodes"}
    return StandaloneRule(cluster, ex.names[cluster], line_rule(ex, tree, binary), **facts)


def _short_tree(document: Document, tree: ThresholdTree) -> ThresholdTree | None:
    """Return the tree with the thresholds that words have, which is the tree but for these; None without one."""
    if "nodes_in_words" not in document:
        return None
    short = from_nodes(document["nodes_in_words"])
    same = short.n_nodes == tree.n_nodes and tree.with_thresholds(short.lower, short.upper) == short
    _refuse(not same, "its nodes in words are those of another tree")
    return short


def _read_kept(document: Document, tree: ThresholdTree) -> dict[str, Any]:
    """Return what was measured when asked, and the spreads of the columns of numbers that the tree tests."""
    kept: dict[str, Any] = {
        name: document[name] for name in ("profile", "outcomes", "frontier", "stability", "totals") if name in document
    }
    held = [leaf["held"] for leaf in document["leaves"] if "held" in leaf]
    if len(held) == tree.n_leaves:
        kept[HELD] = np.array(held)
    if "spreads" in document:
        columns, categories = document["columns"], document.get("categories", {})
        tested = [j for j in tree.features.tolist() if columns[j] not in categories]
        for j in tested:
            _refuse(columns[j] not in document["spreads"], f"its spreads lack {columns[j]!r}")
        kept["spreads"] = {j: document["spreads"][columns[j]] for j in tested}
    if "shapes" in document:
        kept["shapes"] = {document["columns"].index(name): shape for name, shape in document["shapes"].items()}
    return kept


# ------------------------------------------------------------------------------------------------ what no type can say


def _check_tree(document: Document, tree: ThresholdTree) -> None:
    columns, leaves, n = document["columns"], document["leaves"], len(document["clusters"])
    tested, cluster = tree.n_features - 1, tree.leaf_clusters.max()
    _refuse(tested >= len(columns), f"its nodes test column {tested}, but it lists {len(columns)} columns")
    _refuse(cluster >= n, f"its nodes carry cluster {cluster}, but it lists {n} clusters")
    _refuse(tree.n_leaves != len(leaves), f"its nodes have {tree.n_leaves} leaves, but it lists {len(leaves)}")
    others = {len(leaf["held"]) for leaf in leaves if "held" in leaf} - {n}
    _refuse(bool(others), f"a leaf has the rows of {max(others, default=0)} clusters, but it lists {n} clusters")
    size = sum(leaf["size"] for leaf in leaves)
    _refuse(size > sys.float_info.max, "the sizes of its leaves add up to more than the largest float")
    n_rows, n_left_out = document["n_rows"], document["n_left_out"]
    _refuse(n_left_out > n_rows, f"{n_left_out} of {n_rows} rows are left out")
    n_incomplete = document.get("n_incomplete", 0)
    _refuse(n_incomplete > n_left_out, f"{n_left_out} rows are left out, but {n_incomplete} as they lack values")
    noise = [each for leaf in leaves if (each := leaf.get("noise")) is not None]
    fits = not noise or (len(noise) == len(leaves) and sum(noise) <= n_left_out)
    _refuse(not fits, f"{n_left_out} rows are left out, but its leaves hold {sum(noise)} of them")


def _check_table(document: Document, entries: dict[str, Any]) -> None:
    columns, categories = document["columns"], document.get("categories", {})
    _refuse(_twice(columns), "it lists a column twice")
    _refuse(_twice([cluster["name"] for cluster in document["clusters"]]), "it lists a cluster name twice")
    profiles = (*document.get("profile", ()), *document.get("outcomes", ()))
    of_profile = [one.categories for one in profiles if isinstance(one, CategoryColumn)]
    twice = any(_twice(known.values) for known in (*categories.values(), *of_profile))
    _refuse(twice, "it lists a category twice")
    _refuse_unknown("categories", categories, columns)
    gaps = document.get("gaps", ())
    _refuse_unknown("gaps", gaps, columns)
    _refuse(_twice(gaps) or bool({*gaps} & {*categories}), "its gaps are not columns of numbers, or occur twice")
    dates = document.get("dates", {})
    _refuse_unknown("dates", dates, columns)
    _refuse(bool({*dates} & {*categories}), "it has dates that are categories")
    for known in dates.values():
        _refuse(not known.is_known, f"its time zone {known.zone!r} is not known here")
    _refuse_unknown("binary", document.get("binary", ()), columns)
    if (limits := document.get("limits")) is not None:
        _refuse_unknown("limits", [*limits.forbidden, *limits.preferred, *(one.column for one in limits.cuts)], columns)
    for name, kind in _OF_THIS_VERSION.items():
        others = entries.get(name, {}).keys() - {*kind._fields}
        _refuse(bool(others), f"its {name} has fields of another version: {list_words(sorted(others))}")


def _check_profile(document: Document, profile: Sequence[ColumnProfile], *, are_known: bool = True) -> None:
    """Refuse a profile that is not of these clusters; IN: are_known: whether its columns are those of the rules."""
    n_clusters = len(document["clusters"])
    columns = [one.column for one in profile]
    _refuse(_twice(columns), "it lists a column of the profile twice")
    _refuse_unknown("profile", columns if are_known else [], document["columns"])
    for one in profile:
        n = len(one.clusters)
        _refuse(n != n_clusters, f"its profile has {n} clusters, but it lists {n_clusters}")
        n = len(one.categories.domain) if isinstance(one, CategoryColumn) else len(QUANTILES)
        for numbers in (each for group in (one.everyone, *one.clusters) for each in group or ()):
            if isinstance(numbers, tuple) and len(numbers) != n:
                raise ModelError(f"expected {n} numbers in its profile of {one.column!r}, got {len(numbers)}")


def _check_measured(document: Document, tree: ThresholdTree) -> None:
    if "frontier" in document:
        rows = document["frontier"].rows
        sizes = [row.leaves for row in rows]
        fits = sum(row.is_this for row in rows) == 1 and sizes == sorted(sizes)
        _refuse(not fits, "its frontier must have one row for its tree, and rows in the order of their leaves")
    if "stability" in document:
        found = document["stability"]
        clusters = [one.cluster for one in found.clusters]
        _refuse(clusters != [*range(len(document["clusters"]))], "its stability must have an entry for each cluster")
        _refuse_unknown("stability", [cut.column for cut in found.cuts], document["columns"])
        node = max((cut.node for cut in found.cuts), default=0)
        _refuse(node >= tree.n_nodes, f"its stability names node {node}, but it lists {tree.n_nodes} nodes")

    if "totals" in document:
        n, n_clusters = len(document["totals"].clusters), len(document["clusters"])
        _refuse(n != n_clusters, f"its worth has {n} clusters, but it lists {n_clusters}")


def _check_shapes(document: Document, tree: ThresholdTree) -> None:
    columns, n_clusters = document["columns"], len(document["clusters"])
    tested, words = {columns[j] for j in tree.features.tolist()}, document.get("categories", {})
    for name, (edges, held) in document.get("shapes", {}).items():
        _refuse(name not in tested, f"its shapes name {name!r}, which is no tested column")
        fits = len(held) == n_clusters and {len(edges) + 2} == {len(rows) for rows in held}
        _refuse(not fits, f"its shape of {name!r} must have {n_clusters} rows of {len(edges) + 2} numbers")
        _refuse(list(edges) != sorted({*edges}), f"its shape of {name!r} must have edges in ascending order")
        known = name not in words or edges == codes_in(words[name])
        _refuse(not known, f"its shape of {name!r} must have the codes of its categories as edges")


def _twice(values: Sequence[Hashable]) -> bool:
    return len({*values}) < len(values)


def _refuse_unknown(part: str, named: Iterable[str], columns: tuple[str, ...]) -> None:
    others = {*named} - {*columns}
    _refuse(bool(others), f"its {part} names columns that it does not list: {list_words(sorted(others))}")


def _refuse(wrong: bool, said: str) -> None:
    if wrong:
        raise ModelError(said)
