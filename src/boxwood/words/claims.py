"""What was proved, as sentences: each is made of the facts of a `Claim` alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from boxwood._messages import list_words
from boxwood.words.values import of_leaves

if TYPE_CHECKING:
    from boxwood.explanation.claim import Claim

NOTHING = 1e-6  # of what counts, which is no difference
MUCH = 0.02  # more is told of each line: so much is lost for fewer conditions and for preferred columns alone
_NOISE = 1e-9  # of sums of floats


def say_searched(claim: Claim) -> str:
    """Return which trees or rules a claim is about."""
    limits = " within the limits" if claim.limits else ""
    if claim.of == "trees":
        return f"tree of {of_leaves(claim.size)}{limits}"
    return f"rules of {'one condition' if claim.size == 1 else f'up to {claim.size} conditions'}{limits}"


def none_better(claim: Claim) -> str:
    """Return that no tree agrees more or costs less, or not by much.

    Examples
    --------
    >>> from boxwood.explanation import Claim
    >>> none_better(Claim("trees", 2, ("forbidden",), "agreement", 0.0, False, 0.8, 0.0013))
    'no tree of 2 leaves within the limits agrees on more than 0.2% more of the rows'
    """
    most = at_most(claim.by)
    if claim.measure == "cost":
        more = f"costs less{f' by more than {most}' if claim.by else ''}"
    else:
        more = f"agrees {f'on more than {most} more of the {_say_count(claim)}' if claim.by else 'more'}"
    return f"no {say_searched(claim)} {more}"


def exceptions(claim: Claim) -> str:
    """Return what any tree has to set aside, of one that does not agree with all rows."""
    if claim.by == 0:
        return f"No {say_searched(claim)} has to set aside {'less weight' if claim.weighted else 'fewer'}."
    least = at_least(max(1 - claim.value - claim.by, 0.0))
    return f"A {say_searched(claim)} has to set aside at least {least} of the {_say_count(claim)}."


def no_better_lines(claims: Mapping[str, Claim]) -> list[str]:
    """Return how much better the one-line rules of clusters could be; IN: claims: by the names of these."""
    if not claims:
        return []
    known = [one for one in claims.values() if one.by <= MUCH]
    others = [f"{name} ({one.value:.3f}, at most {_up(one.value + one.by, 3):.3f})" for name, one in claims.items()]
    others = [said for said, one in zip(others, claims.values(), strict=True) if one.by > MUCH]
    which = say_searched(next(iter(claims.values())))
    if not known:
        return [f"Perhaps {which} have {_more(list(claims.values()), 0.0)}, for {list_words(others)}."]
    rest = f", but perhaps for {list_words(others)}" if others else ""
    return [f"No {which} have {_more(known, max(one.by for one in known))}{rest}."]


def _more(claims: Sequence[Claim], most: float) -> str:
    """Return what better rules would have more of, and by how much at least."""
    first, more = claims[0], f"{_up(most, 3):g}" if most > NOTHING else ""
    if first.measure == "found":
        return f"a precision of {_whole(first.least)} and find {f'over {more} more' if more else 'more'}"
    higher = f"higher by more than {more}" if more else ""
    if first.measure == "precision":
        return f"a {f'precision {higher}' if more else 'higher precision'} and find {_whole(first.least)}"
    return f"an F1 {higher}" if more else "a higher F1"


def _say_count(claim: Claim) -> str:
    return "weight" if claim.weighted else "rows"


def at_most(share: float) -> str:
    """Return a share in percent with one decimal, rounded up.

    Examples
    --------
    >>> at_most(0.0012), at_least(0.8767)
    ('0.2%', '87.6%')
    """
    return f"{min(_up(share, 3), 1.0):.1%}"


def at_least(share: float) -> str:
    """Return a share in percent with one decimal, rounded down."""
    return f"{math.floor(1000 * share + _NOISE) / 1000:.1%}"


def _up(number: float, decimals: int) -> float:
    return float(math.ceil(number * 10.0**decimals - _NOISE) / 10.0**decimals)


def _whole(share: float) -> str:
    """Return a share that was asked for, with all its digits."""
    return f"{100 * share:.10g}%"
