"""Texts that fit into a picture: names shortened in the middle, and numbers with few digits."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

from boxwood.render._rules import number, printable

__all__ = ["brief", "fitted", "short_number", "text_width"]

_EM = 0.6  # width of a letter in units of the size of the font; of the usual fonts, DejaVu Sans is the widest
_LONGEST_NUMBER = 10


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is in a font of a size, in the size's unit. Few texts are wider."""
    return _EM * size * sum(0.0 if combining(c) else 1.7 if east_asian_width(c) in "WF" else 1.0 for c in text)


def fitted(text: str, width: float, size: float) -> str:
    """Return a text that is at most so wide: a longer one is shortened in the middle.

    Examples
    --------
    >>> fitted("some_long_column_name_40", 100.0, 10.0)
    'some_lon…name_40'
    """
    text = printable(text)
    if text_width(text, size) <= width:
        return text
    head, tail = (len(text) + 1) // 2, len(text) // 2
    while head and text_width(shortened := f"{text[:head]}…{text[len(text) - tail :]}", size) > width:
        head, tail = (head - 1, tail) if head > tail else (head, tail - 1)
    return shortened if head else "…"


def short_number(x: float) -> str:
    """Return the number that runs if it is short, otherwise about that number, which is said.

    Examples
    --------
    >>> short_number(3170.0), short_number(0.1 + 0.2)
    ('3170', '≈ 0.3')
    """
    exact = number(x)
    return exact if len(exact) <= _LONGEST_NUMBER else f"≈ {x:.4g}"


def brief(x: float) -> str:
    """Return a number in three digits, or four where it has four before the point.

    Examples
    --------
    >>> brief(2403.0), brief(58210.0), brief(1253000.0), brief(0.0512345)
    ('2,403', '58.2k', '1.25M', '0.0512')
    """
    if abs(x) >= 1e12:
        return f"{x:.3g}"
    for least, unit, sign in ((1e9, 1e9, "bn"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(x) >= least:
            return f"{x / unit:.3g}{sign}"
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x + 0.0:.3g}"
