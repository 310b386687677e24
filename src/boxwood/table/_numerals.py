"""Numbers as people write them: with a decimal comma, groups of thousands, signs of currencies and percent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = ["comma_number", "hint", "hints", "is_group"]

_GROUPS = r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+"  # 12,345 is a whole number to some, and a fraction to others
_COMMA = re.compile(r"[-+]?([0-9]+|[0-9]{1,3}(\.[0-9]{3})+)(,[0-9]+)?")
_BODY = r"([0-9]+([.,][0-9]+)?|[0-9]{1,3}([,.' \u00a0][0-9]{3})+([.,][0-9]+)?)"
_SIGNED = re.compile(rf"[-+]?[€$£¥]?\s?[-+]?{_BODY}\s?[€$£¥%]?")


def comma_number(text: str) -> str:
    """Return SQL for the number in a text with a decimal comma; points must part groups of three digits.

    The result is NULL if the text is not such a number, such as 1.5 or 1,2,3.
    """
    grouped = f"regexp_full_match(trim({text}), '[-+]?[0-9]{{1,3}}(\\.[0-9]{{3}})+(,[0-9]*)?')"
    return (
        f"CASE WHEN contains({text}, '.') "
        f"THEN CASE WHEN {grouped} THEN TRY_CAST(replace(replace({text}, '.', ''), ',', '.') AS DOUBLE) END "
        f"ELSE TRY_CAST(replace({text}, ',', '.') AS DOUBLE) END"
    )


def is_group(text: str) -> str:
    """Return SQL for whether the commas of a text may part groups of three digits, as in 12,345."""
    return f"regexp_full_match(trim({text}), '{_GROUPS}')"


def hint(values: Iterable[str]) -> tuple[str, str] | None:
    """Return what is unusual in texts that are all numbers to people, and what to do; None for other texts.

    Examples
    --------
    >>> hint(["24,84", "7"]), hint(["$24.84"]), hint(["12,345"]), hint(["red"])
    (('a decimal comma', '--decimal , reads them'), ('signs in them', 'write plain numbers to use them'), \
('signs in them', 'write plain numbers to use them'), None)
    """
    texts = [value.strip() for value in values]
    if not texts:
        return None
    if all(map(_COMMA.fullmatch, texts)) and any("," in text and not re.fullmatch(_GROUPS, text) for text in texts):
        return "a decimal comma", "--decimal , reads them"
    return ("signs in them", "write plain numbers to use them") if all(map(_SIGNED.fullmatch, texts)) else None


def hints(columns: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return a line for each kind of numbers among the texts of columns: which columns, an example, what to do."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, values in columns.items():
        kind = hint(values)
        if kind is not None:
            example = next((value for value in values if re.search(r"[^-+0-9.]", value)), values[0])
            found.setdefault(kind, []).append(f"{name} ({example!r})")
    return tuple(
        f"look like numbers with {what}: {', '.join(names)}; {advice}" for (what, advice), names in found.items()
    )
