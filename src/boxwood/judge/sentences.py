"""Findings and counts as sentences: each is made of a record alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from boxwood._dates import Dates
from boxwood.explanation.records import Rule
from boxwood.judge.as_records import rule_of_box
from boxwood.judge.difference import Differences, Moves
from boxwood.judge.findings import LEVELS, BranchRows, Finding, Level, NamedBranch
from boxwood.judge.on_table import Checked
from boxwood.judge.rules import RuleSet
from boxwood.judge.values import Moment
from boxwood.render.forms.text import escape_markdown, table_in_markdown
from boxwood.words.living import CellRows
from boxwood.words.rules import EVERY_ROW, rules_in_words
from boxwood.words.values import (
    align_lines,
    category,
    cluster_name,
    column_name,
    count_of,
    join_words,
    number,
    percent,
    size,
)

FEW_OVERLAPS = 3  # notes on overlaps that are printed one by one
MOST_WAYS = 3  # boxes of rows that a sentence names


def _where(rules: Sequence[Rule], whole: bool = True) -> str:
    """Return which rows are meant, such as `where age > 5`; IN: whole: whether these are all."""
    said = rules_in_words(rules)
    return f"for {said}" if said == EVERY_ROW else f"{'' if whole else 'among others '}where {said}"


def sentence(one: Finding) -> str:
    """Return a finding in words, without a point at its end."""
    return _SENTENCES[one.kind](one)


def branch_name(branch: NamedBranch | None) -> str:
    """Return a branch in words, such as `branch 3 (gold)`."""
    if branch is None:
        return "a branch"
    if branch.number == 0:
        return "NULL" if branch.name is None else f"ELSE ({cluster_name(branch.name)})"
    line = f", line {branch.line}" if branch.line else ""
    return f"branch {branch.number} ({'NULL' if branch.name is None else cluster_name(branch.name)}{line})"


def _value(value: Any) -> str:
    if isinstance(value, Moment):
        return Dates().text(float(value))
    if isinstance(value, bool) or value is None:
        return str(value).upper() if value is not None else "NULL"
    return number(float(value)) if isinstance(value, (int, float)) else f"'{value}'"


def _rows(one: Finding, where: str = "") -> str:
    return "" if one.rows is None else f": {count_of(one.rows, 'row')}{where}"


def _never(one: Finding) -> str:
    why = f": its conditions on {column_name(one.column)} contradict one another" if one.column else ""
    why = ": a comparison with NULL is never true; write IS NULL" if one.text else why
    return f"{branch_name(one.branch)} can never fire{why}"


def _say_shadowed(one: Finding) -> str:
    earlier = join_words([branch_name(each) for each in one.others], 4)
    return f"{branch_name(one.branch)} can never fire: {earlier} {_take(one)} all its rows"


def _take(one: Finding) -> str:
    return "takes" if len(one.others) == 1 else "take"


def _overlap(one: Finding) -> str:
    others = join_words([branch_name(each) for each in one.others], 4)
    where = "" if len(one.others) == 1 else "such as "
    return f"{branch_name(one.branch)} overlaps {others}, so their order decides, {where}{_where(one.rules)}"


def _hole(one: Finding) -> str:
    [to] = one.others
    return (
        f"no branch takes {rules_in_words(one.rules)}, between thresholds; such rows get {branch_name(to)}{_rows(one)}"
    )


def _missing_values(one: Finding) -> str:
    [to] = one.others
    name = column_name(one.column)
    return (
        f"{branch_name(one.branch)} leaves out rows where {name} is missing, as NOT of NULL is NULL; they get "
        f"{branch_name(to)}{_rows(one)}; say {one.column} IS NULL where you mean them"
    )


def _falls_through(one: Finding) -> str:
    [to] = one.others
    is_whole = one.is_whole and len(one.rules) <= MOST_WAYS
    return f"rows that no branch takes get {branch_name(to)}{_rows(one)}; {_where(one.rules[:MOST_WAYS], is_whole)}"


def _not_needed(one: Finding) -> str:
    at = f" ({one.text})" if one.text else ""
    said = rules_in_words(one.rules) if one.rules else "what is never true"
    return f"{branch_name(one.branch)} gives the same without {said}{at}"


def _types(one: Finding) -> str:
    if one.text.startswith("the table"):
        given, held = one.values
        return f"{column_name(one.column)} is compared with {_value(given)}, but {one.text}, such as {_value(held)}"
    examples = join_words([_value(value) for value in one.values], 4)
    return f"{column_name(one.column)} is compared with {one.text}: {examples}"


def _no_column(one: Finding) -> str:
    near = f"; did you mean {column_name(str(one.nearest[0]))}?" if one.nearest else ""
    return f"the table has no column {column_name(one.column)}{near}"


def _never_met(one: Finding) -> str:
    near = f"; did you mean {category(one.nearest[0])}?" if one.nearest else ""
    return f"{branch_name(one.branch)}: no row has {_value(one.values[0])} in {column_name(one.column)}{near}"


def _spelling(one: Finding) -> str:
    return (
        f"{branch_name(one.branch)}: no row has {_value(one.values[0])} in {column_name(one.column)}; "
        f"{one.text} {_value(one.nearest[0])}"
    )


def _never_named(one: Finding) -> str:
    more = "" if one.is_whole else " and others"
    words = join_words([category(value) for value in one.values], len(one.values))
    rows = count_of(one.rows or 0, "row")
    return f"no branch names {words}{more} in {column_name(one.column)}, and none takes {rows} of them"


def _stale(one: Finding) -> str:
    limit, nearest = map(_value, one.values)
    which = "newest" if one.text == "before" else "oldest"
    return (
        f"{branch_name(one.branch)} compares {column_name(one.column)} with {limit}, and all "
        f"{count_of(one.rows or 0, 'row')} are {one.text} it: the {which} is {nearest}"
    )


def _no_rows(one: Finding) -> str:
    return f"{branch_name(one.branch)} takes no row of this table"


def _grew(one: Finding) -> str:
    then, now = map(percent, one.values)
    return f"{branch_name(one.branch)} takes {now} of the rows, and took {then} before"


_SENTENCES: dict[str, Callable[[Finding], str]] = {
    "never": _never,
    "shadowed": _say_shadowed,
    "overlap": _overlap,
    "hole": _hole,
    "missing values": _missing_values,
    "falls through": _falls_through,
    "not needed": _not_needed,
    "types": _types,
    "no column": _no_column,
    "never met": _never_met,
    "spelling": _spelling,
    "never named": _never_named,
    "stale date": _stale,
    "no rows": _no_rows,
    "grew": _grew,
    "shrank": _grew,
}


def check_said(check: Checked) -> str:
    """Return a check as text: a headline, a line for each finding, and the table of rows by branch."""
    lines = [f"{level}: {said}{'' if said.endswith('?') else '.'}" for level, said in _say_findings(check.findings)]
    return "\n\n".join(["\n".join([summarize_check(check), *lines]), *_tables(check)])


def _say_findings(findings: Sequence[Finding]) -> Iterator[tuple[Level, str]]:
    """Yield the level and the sentence of each finding; notes on overlaps are one where there are many."""
    overlaps = [one for one in findings if (one.kind, one.level) == ("overlap", "note")]
    if len(overlaps) <= FEW_OVERLAPS:
        overlaps = []
    for one in findings:
        if one not in overlaps:
            yield one.level, sentence(one)
        elif one is overlaps[0]:
            named = join_words([branch_name(each.branch) for each in overlaps], 4)
            yield "note", f"the order decides for rows of {named}, which later branches would take, too"


def summarize_check(check: Checked) -> str:
    """Return how many findings there are of each level, and the agreement."""
    counts = [(level, sum(one.level == level for one in check.findings)) for level in LEVELS]
    said = [count_of(n, level) for level, n in counts if n]
    rows = "" if check.n_rows is None else f" on {count_of(check.n_rows, 'row')}"
    agreed = "" if check.agreement is None else f" The rules give {percent(check.agreement)} of the rows their label."
    return f"{join_words(said, 3) if said else 'Nothing found'}{rows}.{agreed}"


def _tables(check: Checked) -> list[str]:
    if not check.branches:
        return []
    return ["\n".join(align_lines(rows_of_branches(check.branches, labelled=check.agreement is not None), {0}))]


def rows_of_branches(branches: Sequence[BranchRows], *, labelled: bool) -> list[list[str]]:
    """Return a line of names, and a line for each branch."""
    has_then = any(one.taken_then is not None for one in branches)
    more = ["precision", "found"] * labelled + ["taken before", "share before"] * has_then
    lines = [["", "reached", "taken", "went to an earlier one", "fulfil a later one, too", *more]]
    for one in branches:
        shares = [percent(one.precision), percent(one.found)] * labelled
        shares += [size(one.taken_then or 0), percent(one.share_then)] * has_then
        counts = (one.reached, one.taken, one.taken_before, one.also_later)
        lines.append([branch_name(one.branch), *map(size, counts), *shares])
    return lines


def check_facts(check: Checked) -> dict[str, Any]:
    """Return a check as a dict that JSON can hold, with each finding's sentence."""
    return {
        "n_rows": check.n_rows,
        "agreement": check.agreement,
        "findings": [_facts(one) for one in check.findings],
        "branches": [{**one._asdict(), "branch": one.branch._asdict()} for one in check.branches],
    }


def _facts(one: Finding) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "level": one.level,
        "sentence": sentence(one),
        "branch": None if one.branch is None else one.branch._asdict(),
        "others": [each._asdict() for each in one.others],
        "column": one.column or None,
        "where": rules_in_words(one.rules, whole=True) if one.rules else None,
        "values": [_plain(value) for value in one.values],
        "nearest": list(one.nearest),
        "witness": one.witness,
        "rows": one.rows,
    }


def _plain(value: Any) -> Any:
    return Dates().text(float(value)) if isinstance(value, Moment) else value


def check_markdown(check: Checked) -> str:
    """Return a check as Markdown."""
    lines = [f"- **{level}**: {escape_markdown(said)}" for level, said in _say_findings(check.findings)]
    parts = [summarize_check(check), *["\n".join(lines)] * bool(lines)]
    if check.branches:
        rows = rows_of_branches(check.branches, labelled=check.agreement is not None)
        parts.append(table_in_markdown(CellRows(tuple(map(tuple, rows)))))
    return "\n\n".join(parts)


def differences_said(found: Differences) -> str:
    """Return which rows go from where to where, as text; moves without a row of the table are counted alone."""
    if not found.moves:
        return "Every possible row gets the same."
    if found.n_rows is None:
        return "\n".join(["Some rows get another name:", *map(_move_said, found.moves)])
    with_rows = [one for one in found.moves if one.rows]
    n = sum(one.rows or 0 for one in with_rows)
    lines = [
        f"{n:,} of {count_of(found.n_rows, 'row')} get another name{':' if n else '.'}",
        *map(_move_said, with_rows),
    ]
    if others := len(found.moves) - len(with_rows):
        would = "would go from one name to another" if n else "would"
        lines.append(f"Rows that this table does not have {would} in {count_of(others, 'other way' if n else 'way')}.")
    return "\n".join(lines)


def _move_said(one: Moves) -> str:
    names = " -> ".join("NULL" if name is None else cluster_name(name) for name in (one.before, one.now))
    rows = "" if one.rows is None else f": {count_of(one.rows, 'row')}"
    is_whole = one.is_whole and len(one.rules) <= MOST_WAYS
    return f"{names}{rows}; {_where(one.rules[:MOST_WAYS], is_whole)}"


def differences_facts(found: Differences) -> dict[str, Any]:
    """Return which rows go from where to where as a dict that JSON can hold."""
    moves = [
        {"before": one.before, "now": one.now, "rows": one.rows, "where": rules_in_words(one.rules, whole=True)}
        for one in found.moves
    ]
    return {"n_rows": found.n_rows, "moves": moves}


def rules_said(rules: RuleSet) -> str:
    """Return rules in words, a line for each branch."""
    space = rules._space
    lines = []
    for branch in rules.branches:
        boxes = space.boxes(branch.condition)
        said = rules_in_words([rule_of_box(space, box) for box in boxes]) if boxes else "no row"
        lines.append(f"{'NULL' if branch.name is None else cluster_name(branch.name)}: {said}")
    rest = "NULL" if rules.otherwise is None else cluster_name(rules.otherwise)
    return "\n".join([*lines, f"{rest}: every other row"])
