"""What is found in rules on the rows of a table: counts, words, types, dates, and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from boxwood._frames import nearest_name
from boxwood._types import Bools, Indices
from boxwood.errors import DataError
from boxwood.explanation.living.chance import ALARM, LEAST, of_shares
from boxwood.judge.algebra import Judged, found_by_algebra, name_kind
from boxwood.judge.conditions import tests_in
from boxwood.judge.findings import LEVELS, BranchRows, Finding
from boxwood.judge.rows import Table, Values, branch_of_rows, columns_in, names_in, truths
from boxwood.judge.rules import RuleSet
from boxwood.judge.space import Column
from boxwood.judge.values import Moment, Test

MOST_WORDS = 8  # that a finding names


@dataclass(frozen=True)
class Checked:
    """The fields of `Check`, which says what they are."""

    findings: tuple[Finding, ...]
    branches: tuple[BranchRows, ...] = ()
    n_rows: int | None = None
    agreement: float | None = None
    names: tuple[Any, ...] = ()


def check_rules(
    rules: RuleSet, table: Table | None, labels: Sequence[Any] | None, before: Checked | None = None
) -> Checked:
    """Return what is found in rules.

    IN: labels: of the rows of the table, each of which stands for itself; before: what was found on an earlier table.
    """
    judged = Judged(rules)
    findings = list(found_by_algebra(judged))
    if table is None:
        return Checked(_in_order(findings), names=rules.names)
    lacking = list(_without_column(judged, table))
    if lacking:
        return Checked(_in_order([*findings, *lacking]), n_rows=table.n_rows, names=rules.names)
    values = columns_in(judged.space.columns, table)
    fulfils = truths(rules, values, len(table.counts))
    took = branch_of_rows(fulfils)
    findings = [_with_rows(judged, one, values, table, took) for one in findings]
    for find in (_of_types, _words, _stale):
        for column in judged.space.columns.values():
            findings += find(judged, column, values[column.name], table, took)
    branches = tuple(_rows_of(judged, fulfils, took, table))
    findings += _no_rows(judged, branches)
    agreement = None
    if labels is not None:
        branches, agreement = _with_labels(rules, branches, took, table, labels)
    if before is not None:
        branches = _with_rows_before(branches, before)
        findings += _find_moved(branches, table.n_rows, before.n_rows or 0)
    return Checked(_in_order(findings), branches, table.n_rows, agreement, rules.names)


def _in_order(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda one: LEVELS.index(one.level)))


def _without_column(judged: Judged, table: Table) -> Iterator[Finding]:
    for name, own in names_in(judged.space.columns, table.names).items():
        if own is None:
            near = nearest_name(name, table.names)
            yield Finding("no column", "error", column=name, nearest=() if near is None else (near,))


# ---------------------------------------------------------------------------------------------------- counts
def _rows_of(judged: Judged, fulfils: Bools, took: Indices, table: Table) -> Iterator[BranchRows]:
    """Yield the rows of each branch, and of ELSE at last."""
    n_branches = len(judged.rules.branches)
    left = table.n_rows
    for i in range(n_branches):
        own, also = fulfils[:, i], took == i
        n = int(table.counts[also].sum())
        later = fulfils[:, i + 1 :].any(axis=1)
        before = int(table.counts[own & (took < i)].sum())
        yield BranchRows(judged.named(i), left, n, before, int(table.counts[also & later].sum()))
        left -= n
    yield BranchRows(judged.named(-1), left, left, 0, 0)


def _no_rows(judged: Judged, branches: Sequence[BranchRows]) -> Iterator[Finding]:
    for i, one in enumerate(branches[:-1]):
        is_written = not judged.rules.branches[i].is_implied
        if one.taken == 0 and judged.reachable[i] is not None and is_written and one.reached:
            yield Finding("no rows", "note", one.branch, rows=0)


def _with_rows(judged: Judged, one: Finding, values: dict[str, Values], table: Table, took: Indices) -> Finding:
    """Return a finding with the number of rows that it is about, as far as that can be counted."""
    if one.kind == "falls through":
        return replace(one, rows=int(table.counts[took < 0].sum()))
    if one.kind == "missing values":
        gaps = _holding(values[one.column], lambda value: value is None)
        other = one.others[0].number - 1
        rows = int(table.counts[gaps & (took == other)].sum())
        return replace(one, rows=rows, level=one.level if rows else "note")
    if one.kind == "hole":
        cells = one.rules[0][0].intervals
        inside = _holding(
            values[one.column],
            lambda value: isinstance(value, (int, float)) and any(float(value) in each for each in cells),
        )
        return replace(one, rows=int(table.counts[inside & (took < 0)].sum()))
    return one


def _with_rows_before(branches: Sequence[BranchRows], before: Checked) -> tuple[BranchRows, ...]:
    """Return the branches with the rows that they took in an earlier table.

    Raises
    ------
    DataError
        If that was not checked by rules of the same names.
    """
    names, then = ([(one.branch.number, one.branch.name) for one in each] for each in (branches, before.branches))
    if names != then:
        raise DataError("before must be the earlier rows, or a check of them by rules with the same branches")
    n = max(before.n_rows or 0, 1)
    pairs = zip(branches, before.branches, strict=True)
    return tuple(one._replace(taken_then=old.taken, share_then=old.taken / n) for one, old in pairs)


def _find_moved(branches: Sequence[BranchRows], n_now: int, n_then: int) -> Iterator[Finding]:
    """Yield branches whose share of the rows changed beyond chance, the widest change first."""
    if min(n_now, n_then) < LEAST:
        return
    shares = [(one, one.taken / n_now, one.share_then or 0.0) for one in branches]
    for one, now, then in sorted(shares, key=lambda each: -abs(each[1] - each[2])):
        if of_shares(one.taken, n_now, one.taken_then or 0, n_then) <= ALARM / len(branches):
            kind = "grew" if now > then else "shrank"
            yield Finding(kind, "note", one.branch, values=(then, now), rows=one.taken)


def _holding(values: Values, test: Any) -> Bools:
    return np.array([bool(test(value)) for value in values.different], dtype=np.bool_)[values.codes]


def _with_labels(
    rules: RuleSet, branches: Sequence[BranchRows], took: Indices, table: Table, labels: Sequence[Any]
) -> tuple[tuple[BranchRows, ...], float]:
    """Return the branches with precision and share found, and the share of the labelled rows that get their label."""
    if len(labels) != len(took):
        raise DataError(f"labels must be one for each of {len(took):,} rows; got {len(labels):,}")
    texts = np.array([None if each is None or each != each else _as_label(each) for each in labels], dtype=object)
    names = [*(_as_label(branch.name) for branch in rules.branches), _as_label(rules.otherwise)]
    own = np.array(names, dtype=object)[took]
    counts = table.counts * np.array([each is not None for each in texts])
    agree = own == texts
    found = []
    for i, one in enumerate(branches):
        name = names[i] if i < len(rules.branches) else names[-1]
        mine = took == (i if i < len(rules.branches) else -1)
        rows, label = int(counts[mine].sum()), int(counts[texts == name].sum())
        hit = int(counts[mine & agree].sum())
        found.append(one._replace(precision=hit / rows if rows else None, found=hit / label if label else None))
    n = int(counts.sum())
    if not n:
        raise DataError("no row has a label, so rules cannot be compared with labels")
    return tuple(found), int(counts[agree].sum()) / n


def _as_label(value: Any) -> Any:
    """Return a label as text, a whole number without a point, so that 3 in a frame is 3 in SQL."""
    if value is None:
        return None
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)


# ---------------------------------------------------------------------------------------------------- values
def _of_types(judged: Judged, column: Column, values: Values, table: Table, took: Indices) -> Iterator[Finding]:
    """Yield columns that hold another kind of values than they are compared with."""
    present = [value for value in values.different if value is not None]
    if not present or any(
        step.name in ("number", "decimal", "text", "date", "lower") for test in column.tests for step in test.steps
    ):
        return
    held = {name_kind(value) for value in present}
    wanted = {name_kind(value) for test in column.tests for value in test.values if value is not None}
    if (held, wanted) in _APART:
        example = next((value for test in column.tests for value in test.values if value is not None), None)
        yield Finding(
            *("types", "error"), column=column.name, values=(example, present[0]), text=f"the table holds {held.pop()}"
        )


_APART = [
    ({one}, {other})
    for one, other in (("texts", "numbers"), ("numbers", "texts"), ("booleans", "texts"), ("dates", "numbers"))
]


def _words(judged: Judged, column: Column, values: Values, table: Table, took: Indices) -> Iterator[Finding]:
    """Yield words that are in no row, and words of rows that no branch names."""
    present = {value for value in values.different if isinstance(value, str)}
    if not present:
        return
    met = {word for test in column.tests for word in test.values if _is_met(test, word, present)}
    named = dict.fromkeys(word for test in column.tests for word in test.values if isinstance(word, str))
    for word in named:
        if word not in met:
            yield _never_met(judged, column, word, sorted(present))
    cells = [value for value in present if not any(_names(test, value) for test in column.tests)]
    rows = {}
    for word in cells:
        own = values.codes == values.different.index(word)
        lost_rows = int(table.counts[own & (took < 0)].sum())
        if 2 * lost_rows >= int(table.counts[own].sum()):  # else other conditions are why some are lost
            rows[word] = lost_rows
    lost = sorted((word for word in rows if rows[word]), key=lambda word: (-rows[word], word))
    if lost and not column.n_numbers:
        yield Finding(
            *("never named", "note"),
            column=column.name,
            values=tuple(lost[:MOST_WORDS]),
            rows=sum(rows.values()),
            is_whole=len(lost) <= MOST_WORDS,
        )


def _is_met(test: Test, word: Any, present: set[str]) -> bool:
    if not isinstance(word, str):
        return True
    own = replace(test, values=(word,))
    return word in present if not test.steps else any(_names(own, value) for value in (*present, None))


def _names(test: Test, value: str | None) -> bool:
    return test.sign == "in" and test.holds(value) is True


def _never_met(judged: Judged, column: Column, word: str, present: list[str]) -> Finding:
    test = next(test for test in column.tests if word in test.values)
    read = sorted({found for each in (*present, None) if isinstance(found := test.reads(each), str)})
    alike = {" ".join(each.split()).casefold(): each for each in read}
    near = alike.get(" ".join(word.split()).casefold())
    branch = next(
        (
            judged.named(i)
            for i, one in enumerate(judged.rules.branches)
            if word in _words_of(one.condition, column.name)
        ),
        None,
    )
    if near is not None:
        how = "the rule reads it as" if test.steps else "the table spells it"
        return Finding(
            *("spelling", "error", branch), column=column.name, values=(word,), nearest=(near,), text=how, rows=0
        )
    close = get_close_matches(word, read, n=1)
    return Finding("never met", "warning", branch, column=column.name, values=(word,), nearest=tuple(close), rows=0)


def _words_of(condition: Any, column: str) -> set[Any]:
    return {value for test in tests_in(condition) if test.column == column for value in test.values}


def _stale(judged: Judged, column: Column, values: Values, table: Table, took: Indices) -> Iterator[Finding]:
    """Yield fixed dates that all rows are before, or after."""
    moments = [value for value in values.different if isinstance(value, Moment)]
    if not moments or not column.is_date:
        return
    first, last = min(moments), max(moments)
    for test in column.tests:
        for limit in test.values:
            if type(limit) is Moment and not first <= limit <= last:
                yield Finding(
                    *("stale date", "warning"),
                    branch=_branch_with(judged, test),
                    column=column.name,
                    values=(limit, last if limit > last else first),
                    text="before" if limit > last else "after",
                    rows=int(table.counts[_holding(values, lambda value: value is not None)].sum()),
                )


def _branch_with(judged: Judged, test: Test) -> Any:
    for i, branch in enumerate(judged.rules.branches):
        if any(other is test for other in tests_in(branch.condition)):
            return judged.named(i)
    return None
