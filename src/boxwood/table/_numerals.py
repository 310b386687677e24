"""Numbers and truths as people write them: decimal commas, groups of thousands, signs of currencies, yes and no."""

from __future__ import annotations

from typing import NamedTuple

from boxwood.table._sql import as_text

__all__ = ["PAIRS", "Style", "normal", "number_in", "signs_in"]

PAIRS = (("yes", "no"), ("ja", "nein"), ("oui", "non"))
"""Words for true and false."""


class Style(NamedTuple):
    """How the values of a column of text are written.

    Parameters
    ----------
    decimal : {".", ","}
        What stands before the decimals of its numbers.
    words : tuple of two str, or None
        Its words for true and false, if it holds these.
    example : str
        One of its values.
    """

    decimal: str = "."
    words: tuple[str, str] | None = None
    example: str = ""

    def number(self, text: str) -> str:
        """Return SQL for the number in a text, with 1 for true and 0 for false; NULL if there is none."""
        if self.words is None:
            return number_in(text, self.decimal)
        yes, no = map(as_text, self.words)
        return f"CASE {normal(text)} WHEN {yes} THEN 1e0 WHEN {no} THEN 0e0 END"


def number_in(text: str, decimal: str, *, signs: bool = True) -> str:
    """Return SQL for the number in a text; NULL if there is none, as in 1,2,3.

    Of point and comma, the one that does not stand before the decimals parts groups of three digits, as spaces and
    apostrophes may. With `signs`, a currency's sign before or behind the number, or % behind it, is passed over.
    """
    group = "," if decimal == "." else "."
    groups = "|".join(f"[1-9][0-9]{{0,2}}({sign}[0-9]{{3}})+" for sign in (f"[{group}]", " ", "'"))
    number = rf"[-+]?([0-9]+|{groups})([{decimal}][0-9]*)?(e[-+]?[0-9]+)?"
    if signs:
        number = rf"[-+]?( ?\p{{Sc}} ?)?{number}( ?[\p{{Sc}}%])?"
    digits = f"regexp_replace({normal(text)}, '[^-+0-9e{decimal}]', '', 'g')"
    plain = f"CASE WHEN NOT contains({text}, '{group}') THEN TRY_CAST(replace({text}, '{decimal}', '.') AS DOUBLE) END"
    return (
        f"coalesce({plain}, CASE WHEN regexp_full_match({normal(text)}, {as_text(number)}) "
        f"THEN TRY_CAST(replace({digits}, '{decimal}', '.') AS DOUBLE) END)"
    )


def normal(text: str) -> str:
    """Return SQL for a text in lower case with plain spaces, a plain minus and plain apostrophes."""
    return f"lower(trim(translate({text}, '\u2212\u00a0\u202f\u2009\u2019', '-   ''')))"


def signs_in(text: str) -> str:
    """Return SQL for the signs of currencies and percent in a text, one after the other."""
    return rf"regexp_replace({text}, '[^\p{{Sc}}%]', '', 'g')"
