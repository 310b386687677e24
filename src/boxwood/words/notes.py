"""The order of notes by what is at stake, and which of them ask for something to be done: `ASKS`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from boxwood.words.rules import DOUBT
from boxwood.words.values import count_of

NO_GROUPS = "the columns together show no clear groups:"
"""How the note begins that clusters are made of rows without groups."""

NO_PARTING = "no gap or valley parts the rows into clusters"
NO_VALLEY = f"{NO_PARTING} (the step of a flag, a category or a frequent value is none)"
"""Why that is said, and where the line is drawn."""

GO_ROUND = "a hollow parts none either: the rows go round it, as on a ring, a curve or a bent sheet"
"""What is added where clusters lie on both sides of a hollow."""

NO_KINDS = "no kinds found: "
"""How the note begins that one thing alone makes clusters without groups."""

TOO_FEW = " does not tell whether "
"""What a note holds that says that rows are too few to tell groups from none."""

ALONE = " alone shows groups"
"""What a note holds that names the column which does."""

GROUPS = "the rows show groups: a gap or a valley parts them"
"""What is said where they do."""

MADE_HERE = "k-means, "
"""How a basis begins to say where clusters come from that boxwood made."""

OF_RULES = re.compile(
    rf"^({NO_KINDS}|the rules? |no rule |rules cut |expect about |with [\d,]+ leaves |one tree of "
    r"|there is room for only |thresholds are (rounded|moved) |max_columns=|the time limit ended "
    r"|[\d,]+ more leaves hold )"
    r"| alone decides the cluster of every row; | cuts of the earlier tree are kept"
    r"| at a day go out of date as days pass; "
)
"""Notes that tell of the rules as they are, so that they do not hold of changed ones."""

OF_LUCK = re.compile("^expect about .+ on new rows, ")
"""A note that guesses for how many new rows rules will be right."""

EARLIER_NAMES = "the notes above use earlier names: "
"""How the note begins that clusters were renamed after the others were written, so that it comes last."""

CHOSEN = re.compile(r" clusters were chosen(:|,| \()")
"""What a note holds that says why so many clusters were made, of which the last one counts."""

_LOST = (  # rows were lost, or read in a way that may be wrong
    r"; no header\? --no-header$|; names\? --header$",
    r"; --table names another$|; open and save the workbook$",
    r"^look like numbers with ",
    r"no cluster( |:|$|, )|rows? .* (was|were) left out(:|$|, )",
    r"; pass sample_weight$| may count rows: | ha(s|ve) a value that was never seen, such as ",
)
_WEAK = (  # the answer is weak, or another one is better
    rf"{re.escape(DOUBT)}|^{NO_KINDS}|^{NO_GROUPS}|{TOO_FEW}",  # are these clusters at all?
    r"^the rules (add little|are worse than none)|^expect about .+ by the largest cluster alone: ",  # empty rules
    r"^no rule for |^there is room for only ",  # clusters without an answer
    r"^expect about .+ on new rows, ",  # more leaves would not help
    r"^with [\d,]+ leaves the rules could reach |^one tree of [\d,]+ leaves that was tried ",
    r"^the rules are right for only ",
    r"^the \d+ labels seem to be in order: ",
    r"^the rules find only ",
    r"^shares are estimated ",
    r"^the time limit ended ",
    r", but matches no row of it$|leaves hold no row of the cluster that they name$",
    r" hardly sees ",  # clusters of one column, where others should count
    r" is in the same [\d,]+ rows of each of ",
    r" is far from all other values of ",
    r" names \d+ quantities, each in .+ rows: is this table long\? ",
    r" alone decides the cluster of every row; ",
    r" alone determines the labels.*: are they made of it\? ",
    r"^all rows of each value of ",
    r" has the name and the mean, about 1, of weights; ",
)
_DECIDED = (  # what was decided, which another choice would change
    r"^looks like an identifier: ",
    r": read as numbers; if they are codes, ",
    r" that differ only in case or in blanks ",
    r"^numbers with leading zeros, ",
    r"^read as missing: ",
    CHOSEN.pattern,
    r"^the clusters are those of a kernel; |^method \w+ lowers the cost, ",
    r" at a day go out of date as days pass; ",
    r"; if that is wrong, name the encoding ",  # in which words, not numbers, may be misread
)
_ASKED = (r"^the inputs (hardly tell|do not tell|tell .+ only in part)",)  # the answer to what was asked
ASKS = tuple(map(re.compile, (*_ASKED, *_LOST, *_WEAK, *_DECIDED)))
"""Patterns of notes that ask for something to be done, the gravest first. All other notes say how it was done."""


def lack_groups(notes: Iterable[str]) -> bool:
    """Return whether notes on clusters say that these are made of rows without groups."""
    return any(note.startswith(NO_GROUPS) for note in notes)


def found_in(notes: Sequence[str], n_clusters: int, rows: str) -> str:
    """Return what was found in rows, as titles begin: clusters, or that there are no kinds or no clear groups of rows.

    Where no groups show, nobody is told that there are clusters, as that would say both at once.

    Examples
    --------
    >>> found_in([no_groups()], 2, "312 rows")
    'No clear groups in 312 rows; one way to divide them into 2 parts'
    >>> found_in([], 2, "312 rows")
    '2 clusters of 312 rows'
    """
    if why_no_kinds(notes):
        return f"No kinds found in {rows}"
    if lack_groups(notes):
        return f"No clear groups in {rows}; one way to divide them into {count_parts(notes, n_clusters)}"
    return f"{count_parts(notes, n_clusters)} of {rows}"


def none_found(notes: Sequence[str]) -> str:
    """Return the sentence that there are no kinds or no clear groups of rows; empty where they are not in doubt."""
    if why := why_no_kinds(notes):
        return f"No kinds found: {why}. "
    return "No clear groups: this is one way to divide the rows. " if lack_groups(notes) else ""


def count_parts(notes: Iterable[str], n_clusters: int) -> str:
    """Return how many clusters there are; they are called parts where no groups show."""
    return count_of(n_clusters, "part" if lack_groups(notes) else "cluster")


def why_no_kinds(notes: Iterable[str]) -> str:
    """Return why notes on clusters say that there are no kinds of rows; empty if none says so."""
    return next((note.removeprefix(NO_KINDS) for note in notes if note.startswith(NO_KINDS)), "")


def no_groups(go_round: bool = False) -> str:
    """Return the note that rows show no groups; IN: go_round: whether they lie about a hollow."""
    return f"{NO_GROUPS} {NO_VALLEY}{f'; {GO_ROUND}' if go_round else ''}"


def groups_in_short(notes: Iterable[str]) -> tuple[str, str]:
    """Return in a word whether the rows of clusters that boxwood made show groups, and why.

    Examples
    --------
    >>> groups_in_short(["age alone shows groups: no row of 90 between 2 and 5"])
    ('clear', 'age alone shows groups: no row of 90 between 2 and 5')
    """
    given = list(notes)
    if (said := next((note for note in given if note.startswith(NO_GROUPS)), None)) is not None:
        return "none clear", said.removeprefix(f"{NO_GROUPS} ")
    if any(TOO_FEW in note for note in given):
        return "not known", "too few rows to tell groups from none"
    return "clear", next((note for note in given if ALONE in note), GROUPS.partition(": ")[2])


def in_order(notes: Iterable[str]) -> list[str]:
    """Return notes in the order in which they are printed: the gravest first, whoever said them first.

    Notes of one kind are in the order of their texts, as tables that are read in memory and by passes say them in other
    orders. Notes that ask for nothing come last.

    Examples
    --------
    >>> in_order(["read as missing: plan ('NA' in 3 rows)", "the rules find only 12% of b, but are right for 95%"])[0]
    'the rules find only 12% of b, but are right for 95%'
    """
    return sorted(dict.fromkeys(notes), key=lambda note: (_place(note), note))


def _place(note: str) -> int:
    if note.startswith(EARLIER_NAMES):
        return len(ASKS) + 1
    return next((place for place, asks in enumerate(ASKS) if asks.search(note)), len(ASKS))


def gravest(notes: Iterable[str]) -> str:
    """Return the gravest note, if it asks for something to be done; else an empty text."""
    return next((note for note in in_order(notes)[:1] if _place(note) < len(ASKS)), "")


def in_short(notes: Sequence[str], more: str, before: str = "Note: ") -> list[str]:
    """Return the lines that are printed of notes: the gravest one if it asks for something, and the number of others.

    IN: more: where the others are. before: what the line of the note begins with.

    Examples
    --------
    >>> in_short(["5 of 6 columns are used: a, b, c, d, e", "the rules find only 12% of b"], "ex.notes")
    ['Note: the rules find only 12% of b', '1 more note: ex.notes']
    """
    said = [f"{before}{note}" for note in [gravest(notes)] if note]
    others = len({*notes}) - len(said)
    return said + [f"{count_of(others, 'more note' if said else 'note')}: {more}"] * bool(others)
