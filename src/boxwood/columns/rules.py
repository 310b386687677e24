"""Why rules do not use a column: `RULES`, for tables of every kind, in the order in which they decide.

A rule returns why a column is left out, or None. To add one, write it and put it in the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence

import numpy as np

from boxwood._dates import NEARLY_ALL, TIMES
from boxwood.batches.batches import OTHER_KINDS
from boxwood.columns.copies import codes_of_words, copies_among
from boxwood.columns.crosstab import are_surely_counts, counts_among
from boxwood.columns.dates_and_names import (
    fixed_by_dates,
    is_calendar,
    names_among,
    outer_units,
    rise_with,
    units_among,
    units_of_waves,
)
from boxwood.columns.plan import plan_among
from boxwood.columns.seen import Seen, SeenValues, Use

NO_VALUES = OTHER_KINDS["empty"]
ONE_VALUE = "one value only"
TOO_LARGE = "too large to be exact as doubles"
NUMBERS_AS_TEXT = "numbers as text (convert them to numbers, or name them in categories)"
UNSEEN_DATES = "dates, which a clusterer of numbers does not see"
THE_LABELS = "the labels themselves"
LIKE_IDENTIFIER = "looks like an identifier"
HARDLY_REPEATS = "most values come only once"
FEW_NAMES = 12  # different words that rules may list
MANY_NAMES = f"more than {FEW_NAMES} different categories, whose lists would be the groups"
CALENDAR = "looks like a date, a part of one or a time of day"
FIXED_BY_DATE = "the same in all rows of each date, or part of one"
WITH_DATE = "rises or falls with a date, so that its groups would be early and late rows"
BEGINS_AGAIN = "numbers that begin again and again down the file, as visits and places do"
COME_EQUALLY = "numbers that come equally often, as levels, places and waves of a plan do"
OF_PLAN = "each of their combinations comes equally often, as in a plan"
NUMBERS_AS_NAMES = "numbers that are names, as all rows of each agree in another column"
NUMBERS_OF_UNITS = "numbers that seem to count or name units, such as households"
COUNTS_ROWS = "counts the rows of each combination of the others, which weighs so much"
SAYS_THE_SAME = "says the same as "  # and the name of the column that stays
OF_UNITS = "names or numbers of the units in which visits, waves or years begin again"

IN_SHORT = {
    LIKE_IDENTIFIER: "identifier",
    HARDLY_REPEATS: "seldom a value twice",
    MANY_NAMES: f"over {FEW_NAMES} categories",
    CALENDAR: "date or time",
    FIXED_BY_DATE: "same on each date",
    WITH_DATE: "trend over time",
    BEGINS_AGAIN: "visit or place",
    COME_EQUALLY: "level or wave of a plan",
    OF_PLAN: "part of a plan",
    NUMBERS_AS_NAMES: "numbers as names",
    NUMBERS_OF_UNITS: "number of a unit",
    OF_UNITS: "unit over time",
    COUNTS_ROWS: "weights: how many rows",
}
"""Reasons in the words of a line that names all columns left out."""

FEW_ROWS = 50  # in fewer rows whole numbers without gaps are nothing unusual, nor values that seldom come twice
VERY_FEW_ROWS = 20  # in fewer rows, not even that no word comes twice
FILLED = 0.9  # unique whole numbers that fill more of their range count rows
SPARSE = 0.01  # and so do those that rise from row to row and fill more of it than this
FEW_BESIDE = 10  # different values, beside text in one row, that may be codes: more are numbers with a remark

Rule = Callable[[Seen, Use], str | None]


def reasons_to_leave_out(columns: Sequence[Seen], use: Use) -> dict[str, str]:
    """Return why columns are left out, by their names, in the order of the columns; others are for rules to use."""
    found: dict[str, str] = {}
    use = use._replace(columns=columns)
    for rule in RULES:
        left = [seen for seen in columns if seen.name not in found]
        why = {seen.name: reason for seen in left if (reason := rule(seen, use)) is not None}
        found |= UNLESS_LAST[rule](why, left, use) if why and rule in UNLESS_LAST else why
    return {seen.name: found[seen.name] for seen in columns if seen.name in found}


SUSPICIONS = (
    LIKE_IDENTIFIER,
    HARDLY_REPEATS,
    MANY_NAMES,
    CALENDAR,
    FIXED_BY_DATE,
    WITH_DATE,
    BEGINS_AGAIN,
    OF_UNITS,
    COME_EQUALLY,
    OF_PLAN,
    NUMBERS_AS_NAMES,
    NUMBERS_OF_UNITS,
    COUNTS_ROWS,
)
"""Reasons for which a column that the caller names is not left out: a note says so. So is what says the same."""


MAY_TELL = (LIKE_IDENTIFIER, CALENDAR, FIXED_BY_DATE, WITH_DATE, BEGINS_AGAIN, OF_UNITS, COME_EQUALLY, OF_PLAN)
"""Reasons of columns that say when a row is from, or how it was made: such numbers may say what clusters are."""


def is_suspicion(reason: str) -> bool:
    """Return whether a column that the caller names would not be left out."""
    return reason in SUSPICIONS or reason.startswith(SAYS_THE_SAME)


LAST = (UNSEEN_DATES, THE_LABELS, *SUSPICIONS)
"""Reasons that are told behind those of what a column holds."""


def by_reason(why: Mapping[str, str], last: Sequence[str] = LAST) -> dict[str, list[str]]:
    """Return columns that are left out by the reason, in the order of the columns; IN: last: reasons at the end."""
    found, copies = dict[str, list[str]](), [reason for reason in why.values() if reason.startswith(SAYS_THE_SAME)]
    places = {reason: i for i, reason in enumerate((*last, *dict.fromkeys(copies)))}
    for name in sorted(why, key=lambda name: places.get(why[name], -1)):
        found.setdefault(why[name], []).append(name)
    return found


# ------------------------------------------------------------------------------------------------------------- rules
def text_among_numbers(seen: Seen, use: Use) -> str | None:
    """Few different values are all read as words, but not dates with text, or many numbers with a remark in one row."""
    among = seen.among
    if among is None or seen.name in use.chosen:
        return None
    are_words = seen.is_word and seen.texts is not None and not among.is_no_word
    are_words = are_words and not (among.is_remark and len(seen.texts or ()) > FEW_BESIDE)
    return None if are_words and not are_numbers(seen.texts or (), or_codes=False) else among.why


def times_as_text(seen: Seen, use: Use) -> str | None:
    """Times of the day are no words."""
    return TIMES if _are_texts(seen, use) and seen.are_times else None


def numbers_as_text(seen: Seen, use: Use) -> str | None:
    """Numbers with a currency, a unit or thousands are no words, though nobody knows how to read them."""
    return NUMBERS_AS_TEXT if _are_texts(seen, use) and are_numbers(seen.texts or ()) else None


def another_kind(seen: Seen, use: Use) -> str | None:
    """Rules use numbers, truths, dates and words."""
    return None if seen.is_word else OTHER_KINDS.get(seen.kind)


def no_words(seen: Seen, use: Use) -> str | None:
    """Words are texts, numbers and truths, and not too many."""
    return seen.why_no_words or None


def no_values(seen: Seen, use: Use) -> str | None:
    """Nothing is learnt from what all rows lack."""
    return NO_VALUES if seen.n_values == 0 else None


def one_double(seen: Seen, use: Use) -> str | None:
    """Values that are the same double cannot be cut apart, although they differ."""
    return TOO_LARGE if _is_constant(seen, use) and seen.are_too_large else None


def one_value(seen: Seen, use: Use) -> str | None:
    """One value parts no rows, unless others lack it and rules may learn from that."""
    return ONE_VALUE if _is_constant(seen, use) else None


def unseen_dates(seen: Seen, use: Use) -> str | None:
    """A clusterer of numbers takes no dates."""
    is_seen = not use.by_clusterer or seen.name in use.chosen
    return UNSEEN_DATES if seen.kind == "date" and not is_seen else None


def the_labels(seen: Seen, use: Use) -> str | None:
    """A column that is the labels in other words explains nothing."""
    is_copy = seen.name in use.copies or (use.labels is not None and seen.says(use.labels))
    return THE_LABELS if is_copy else None


def like_identifier(seen: Seen, use: Use) -> str | None:
    """What names a row says nothing of other rows; a clusterer that the caller fits has seen it, though."""
    if use.by_clusterer or seen.name in use.chosen:
        return None
    if not (seen.is_padded or is_like_identifier(seen)):
        return None
    return HARDLY_REPEATS if seen.is_word and not seen.is_padded and seen.n_once < seen.n_known else LIKE_IDENTIFIER


def number_of_row(seen: Seen, use: Use) -> str | None:
    """Clusters that boxwood makes are no ranges of the numbers of rows, in short tables, too."""
    if not use.by_boxwood or seen.is_word or seen.name in use.chosen or seen.kind == "date":
        return None
    counts = seen.is_whole and seen.least in (0, 1) and seen.most - seen.least + 1 == seen.n_known
    return LIKE_IDENTIFIER if counts and seen.n_known >= VERY_FEW_ROWS and seen.rises else None


def counts_of_rows(seen: Seen, use: Use) -> str | None:
    """Clusters that boxwood makes are of the rows that a table of combinations counts; see `counts_among`."""
    may_count = use.by_boxwood and not use.has_weights and not seen.is_word and seen.name not in use.chosen
    return COUNTS_ROWS if may_count and seen.is_whole and seen.least >= 0 else None


def many_names(seen: Seen, use: Use) -> str | None:
    """Clusters that boxwood makes are not to be lists of names, as of countries, unless these have an order."""
    if not use.by_boxwood or not seen.is_word or seen.is_ordered or seen.name in use.chosen:
        return None
    return MANY_NAMES if len(seen.texts or ()) > FEW_NAMES else None


def calendar(seen: Seen, use: Use) -> str | None:
    """Clusters that boxwood makes are not to say when a row is from, as a date or a part of one would."""
    if not use.by_boxwood or seen.name in use.chosen or seen.name in use.ages:
        return None
    return CALENDAR if is_calendar(seen, [word for word in words_of(seen.name) if word]) else None


def begins_again(seen: Seen, use: Use) -> str | None:
    """Clusters that boxwood makes are not to say which visit, wave or place a row is of."""
    if not use.by_boxwood or seen.is_word or seen.name in use.chosen or seen.name in use.ages:
        return None
    return BEGINS_AGAIN if seen.n_known >= FEW_ROWS and seen.is_whole and seen.begins_again else None


def come_equally(seen: Seen, use: Use) -> str | None:
    """Clusters that boxwood makes are not to say which level, place or wave of a plan a row is of."""
    if not use.by_boxwood or seen.is_word or seen.name in use.chosen or seen.name in use.ages:
        return None
    return COME_EQUALLY if seen.come_equally else None


def part_of_plan(seen: Seen, use: Use) -> str | None:
    """Clusters that boxwood makes are not to say which part of a plan a row is of; see `plan_among`."""
    return OF_PLAN if use.by_boxwood and seen.name not in use.chosen and seen.name not in use.ages else None


def numbers_as_names(seen: Seen, use: Use) -> str | None:
    """Clusters that boxwood makes are not to be ranges of numbers that are names; see `names_among`, `units_among`."""
    if not use.by_boxwood or seen.name in use.chosen:
        return None
    return NUMBERS_AS_NAMES if seen.may_name_things else None


def code_of_words(seen: Seen, use: Use) -> str | None:
    """Clusters that boxwood makes are said in words, not in their codes; see `codes_of_words`."""
    return SAYS_THE_SAME if use.by_boxwood and seen.name not in use.chosen else None


def copy_of_numbers(seen: Seen, use: Use) -> str | None:
    """Clusters that boxwood makes are said by one of the columns that say the same; see `copies_among`."""
    return SAYS_THE_SAME if use.by_boxwood and seen.name not in use.chosen and not seen.is_word else None


RULES: tuple[Rule, ...] = (
    text_among_numbers,
    times_as_text,
    numbers_as_text,
    another_kind,
    no_words,
    no_values,
    one_double,
    one_value,
    unseen_dates,
    the_labels,
    number_of_row,
    counts_of_rows,
    calendar,
    like_identifier,
    code_of_words,
    many_names,
    begins_again,
    come_equally,
    part_of_plan,
    numbers_as_names,
    copy_of_numbers,
)


# ----------------------------------------------------------------------------------- unless no other column is left
def _unless_no_others(same: dict[str, str], left: Sequence[Seen], use: Use) -> dict[str, str]:
    """Return the columns that are the labels; numbers stay where all others look like identifiers.

    All stay beside numbers of clusters that no column holds: these clusters were made of the columns that say them.
    """
    labels = use.labels
    if labels is not None and labels.numbers is not None:
        same = same if any(seen.holds(labels) for seen in left if seen.name in same) else {}
    if any(seen.name not in same and not is_like_identifier(seen) for seen in left):
        return same
    return {seen.name: same[seen.name] for seen in left if seen.name in same and seen.is_word}


def _with_outer_units(suspects: dict[str, str], left: Sequence[Seen], use: Use) -> dict[str, str]:
    """Return the columns that look like identifiers, and the units that hold these, if clusters do without them.

    None if labels would have no other column.
    """
    if not use.by_boxwood:
        return {} if use.has_labels and len(suspects) == len(left) else suspects
    columns = [seen for seen in left if isinstance(seen, SeenValues) and seen.name not in use.chosen]
    identifiers = [seen for seen in columns if seen.name in suspects and not seen.is_word]
    others = [seen for seen in left if seen.name not in suspects]
    units = outer_units(identifiers, [seen for seen in columns if seen.name not in suspects])
    return suspects | _unless_few_others(dict.fromkeys(units, NUMBERS_OF_UNITS), others, use)


def _unless_few_others(why: dict[str, str], left: Sequence[Seen], use: Use) -> dict[str, str]:
    """Return columns that clusters do without; none unless others are left, in which groups may show.

    That are two columns, or one of more than a few numbers.
    """
    others = [seen for seen in left if seen.name not in why]
    measures = [seen for seen in others if not (seen.is_word or (seen.is_whole and seen.are_few))]
    return why if measures or len(others) > 1 else {}


def _with_fixed(why: dict[str, str], left: Sequence[Seen], use: Use) -> dict[str, str]:
    """Return the columns that say when a row is from, and those that go with one of these, unless few are left.

    So are the units whose waves begin again, what is fixed by a date, and what rises or falls with one.
    """
    left = [seen for seen in left if seen.name in why or like_identifier(seen, use) is None]  # the plainer reason
    columns = [seen for seen in left if isinstance(seen, SeenValues)]
    dates = [seen for seen in columns if seen.name in why]
    others = [seen for seen in columns if seen.name not in why and seen.name not in use.chosen]
    found = dict.fromkeys(rise_with(dates, others), WITH_DATE)
    found |= dict.fromkeys(fixed_by_dates(dates, others), FIXED_BY_DATE)
    found |= dict.fromkeys(units_of_waves(dates, others), OF_UNITS)
    return _unless_few_others(why | found, left, use) or _unless_few_others(why, left, use)


def _unless_measured(suspects: dict[str, str], left: Sequence[Seen], use: Use) -> dict[str, str]:
    """Return the columns of numbers that are names, as they or the others show, if clusters do without them."""
    columns = [seen for seen in left if isinstance(seen, SeenValues)]
    asked = [seen for seen in columns if seen.name in suspects]
    found = dict.fromkeys(names_among(asked, columns), NUMBERS_AS_NAMES)
    beside = [seen for seen in columns if seen.name not in found]
    units = units_among([seen for seen in asked if seen.name not in found], beside)
    return _unless_few_others(found | dict.fromkeys(units, NUMBERS_OF_UNITS), left, use)


def _with_what_stays(copies: dict[str, str], may_go: Collection[str]) -> dict[str, str]:
    return {name: f"{SAYS_THE_SAME}{stays}" for name, stays in copies.items() if name in may_go}


def _if_codes(suspects: dict[str, str], left: Sequence[Seen], use: Use) -> dict[str, str]:
    """Return columns of codes of words, but for words that are too many themselves."""
    may_go = {seen.name for seen in left if seen.name in suspects and many_names(seen, use) is None}
    return _with_what_stays(codes_of_words([seen for seen in left if isinstance(seen, SeenValues)]), may_go)


def _if_of_plan(suspects: dict[str, str], left: Sequence[Seen], use: Use) -> dict[str, str]:
    """Return the columns of a plan, unless few others are left: all columns tell of a plan."""
    found = plan_among([seen for seen in use.columns if isinstance(seen, SeenValues)])
    return _unless_few_others({name: why for name, why in suspects.items() if name in found}, left, use)


def _if_counts(suspects: dict[str, str], left: Sequence[Seen], use: Use) -> dict[str, str]:
    """Return the column that surely counts the rows of combinations of all others."""
    columns = [seen for seen in left if isinstance(seen, SeenValues)]
    found = counts_among(columns) if len(columns) == len(left) else None
    return {found.name: COUNTS_ROWS} if found and found.name in suspects and are_surely_counts(found, columns) else {}


def _if_copies(suspects: dict[str, str], left: Sequence[Seen], use: Use) -> dict[str, str]:
    """Return columns of numbers that say the same as others."""
    return _with_what_stays(copies_among([seen for seen in left if isinstance(seen, SeenValues)]), suspects)


UNLESS_LAST = {
    the_labels: _unless_no_others,
    number_of_row: _unless_few_others,
    counts_of_rows: _if_counts,
    like_identifier: _with_outer_units,
    code_of_words: _if_codes,
    many_names: _unless_few_others,
    calendar: _with_fixed,
    begins_again: _with_fixed,
    come_equally: _unless_few_others,
    part_of_plan: _if_of_plan,
    numbers_as_names: _unless_measured,
    copy_of_numbers: _if_copies,
}
"""Rules that leave columns where there are no others, or none that say the same."""


# ------------------------------------------------------------------------------------------------ what values are
def _are_texts(seen: Seen, use: Use) -> bool:
    return seen.is_word and seen.kind == "text" and seen.among is None and seen.name not in use.chosen


def _is_constant(seen: Seen, use: Use) -> bool:
    is_dropped = use.drops_constants or (use.by_boxwood and not seen.lacks_some)
    return is_dropped and seen.n_values == 1 and not (use.learns and seen.lacks_some)


def is_like_identifier(seen: Seen) -> bool:
    """Return whether a column looks like an identifier, by its values and its name.

    That are words most of which come only once, in a short table all; or, in at least 50 rows, whole numbers whose name
    says so (id, zip, account, also as part of `customer_id`), more than 20 of them; or whole numbers that count rows:
    they are unique and fill more than 90% of their range, or rise from row to row and fill more than 1% of it.
    Missing values say nothing.
    """
    n_rows = seen.n_known
    if seen.is_word:
        return seen.n_once == n_rows >= VERY_FEW_ROWS or (n_rows >= FEW_ROWS and 2 * seen.n_once > n_rows)
    if not _are_whole(seen):
        return False
    if has_name_of_identifier(seen.name, n_rows):
        return not seen.are_few
    return (may_count_rows(seen) and seen.is_unique) or (may_rise(seen) and seen.rises)


def may_count_rows(seen: Seen) -> bool:
    """Return whether a column of numbers counts its rows, if its values are unique; its name does not say so."""
    n_rows, low, high = seen.n_known, seen.least, seen.most
    if not _are_whole(seen) or has_name_of_identifier(seen.name, n_rows):
        return False
    return high - low + 1 >= n_rows and counts_rows(low, high, n_rows)


def may_rise(seen: Seen) -> bool:
    """Return whether a column of numbers may count rows with gaps, if it rises from row to row."""
    return _are_whole(seen) and seen.n_known <= seen.most - seen.least + 1 < seen.n_known / SPARSE


def _are_whole(seen: Seen) -> bool:
    """Return whether a column has different whole numbers, in many rows."""
    if seen.kind == "date" or seen.n_known < FEW_ROWS or not seen.is_whole:
        return False
    return bool(np.isfinite(seen.least) and np.isfinite(seen.most)) and seen.least < seen.most


def has_name_of_identifier(name: str, n_rows: int) -> bool:
    """Return whether a column of whole numbers, of so many rows, has a name such as id, zip or account.

    So have the rows' numbers that pandas writes into files, and reads from them.
    """
    return n_rows >= FEW_ROWS and (name.startswith(_INDEX) or bool(_NAMES & set(words_of(name))))


def counts_rows(low: float, high: float, n_rows: int) -> bool:
    """Return whether unique whole numbers of a range would fill so much of it as row numbers do."""
    return n_rows >= FEW_ROWS and (high - low + 1) * FILLED < n_rows


def words_of(name: str) -> list[str]:
    """Return the words of a name such as customer_id or customerId."""
    return re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())


_INDEX = ("__index_level_", "Unnamed: 0")
_NAMES = {"id", "ids", "uuid", "guid", "zip", "zipcode", "postcode", "account", "iban"}


def are_numbers(values: Iterable[Hashable], *, or_codes: bool = True) -> bool:
    """Return whether values have many texts, and nearly all of these are numbers to people.

    Texts of digits alone may be codes: they count where others are beside them, and some of them are longer, or all of
    two digits at most, as ages are. IN: or_codes: whether they may be.
    """
    from boxwood.table.written import is_to_people  # here, as the face of that room reads columns

    texts = {value.strip() for value in values if isinstance(value, str)}
    numbers = {text for text in texts if is_to_people(text)}
    whole = {text for text in numbers if _WHOLE.fullmatch(text)}
    lengths = {*map(len, whole)}
    may_be_whole = len(whole) < len(texts) and not any(map(_PADDED.match, whole))
    may_be_whole = may_be_whole and (len(lengths) > 1 or max(lengths, default=0) <= 2 or not or_codes)
    n_found = len(numbers) if may_be_whole else len(numbers) - len(whole)
    return n_found > _FEW_VALUES and n_found >= NEARLY_ALL * len(texts)


_WHOLE, _PADDED = re.compile(r"\d+"), re.compile(r"0\d")
_FEW_VALUES = 20  # of texts that may be codes, such as versions
