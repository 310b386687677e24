"""A table of the bounds on the price of explainability that papers have published."""

from __future__ import annotations

from typing import NamedTuple


class PublishedBound(NamedTuple):
    """Lower and upper bound on the price of explainability in one paper; orders of growth where no constant is known.

    A bound is empty where the paper has none. `algorithm` attains the upper bound. It is empty where boxwood does not
    have the algorithm. `who` names the authors and the year. Bounds for kernels are on the kernel price; C is the
    product of the two constants of `distance_ratios`.
    """

    objective: str
    lower: str
    upper: str
    algorithm: str
    who: str


def published_bounds() -> tuple[PublishedBound, ...]:
    """Return the published bounds on the price of explainability, by objective and year.

    Examples
    --------
    >>> [row.upper for row in published_bounds() if row.objective == "k-medians, ℓ2"]
    ['O(log^(3/2) k)', 'Õ((log k)^(5/4))']
    """
    return tuple(PublishedBound(objective, *row) for objective, rows in _PUBLISHED.items() for row in rows)


_FIRST = "Moshkovitz, Dasgupta, Rashtchian, Frost 2020"
_NEAR_OPTIMAL = "Makarychev, Shan 2021"
_LABER = "Laber, Murtinho 2021"
_OBLIVIOUS = "Gamlath, Jia, Polak, Svensson 2021"
_ALMOST_TIGHT = "Esfandiari, Mirrokni, Narayanan 2022"
_LATEST = "Gupta, Pittu, Svensson, Yuan 2023"
_KERNELS = "Fleissner, Vankadara, Ghoshdastidar 2024"
_PUBLISHED = {
    "k-medians, ℓ1": (
        ("Ω(log k)", "O(k), at most 2k - 1", "IMM", _FIRST),
        ("", "O(log k log log k)", "random cuts", _NEAR_OPTIMAL),
        ("", "O(d log k)", "", _LABER),
        ("", "O(log² k)", "random cuts", _OBLIVIOUS),
        ("Ω(d)", "O(log k log log k), O(d log² d)", "random cuts", _ALMOST_TIGHT),
        ("", "2 ln k + 2", "random cuts", "Makarychev, Shan 2023"),
        ("(1 - o(1)) ln k", "1 + H_(k-1)", "random cuts", _LATEST),
    ),
    "k-medians, ℓ2": (
        ("Ω(log k)", "O(log^(3/2) k)", "median-centred cuts", _NEAR_OPTIMAL),
        ("", "Õ((log k)^(5/4))", "", "Makarychev, Papanikolaou, Shan 2025"),
    ),
    "k-means": (
        ("Ω(log k)", "O(k²), at most 2 + 8k (k - 1)", "IMM", _FIRST),
        ("Ω(k / log k)", "O(k log k log log k)", "random cuts, embedded", _NEAR_OPTIMAL),
        ("", "O(d k log k)", "", _LABER),
        ("Ω(k)", "O(k log² k)", "", _OBLIVIOUS),
        ("Ω(k)", "O(k log k)", "", _ALMOST_TIGHT),
        ("", "k^(1 - 2/d) poly(d log k)", "", "Charikar, Hu 2022"),
        ("", "O(k ln ln k)", "", _LATEST),
    ),
    "kernel k-means, additive kernels": (("", "O(k²)", "Kernel IMM", _KERNELS),),
    "kernel k-means, Gaussian kernel": (("", "O(d k²), plus the error of Taylor features", "Kernel IMM", _KERNELS),),
    "kernel k-means, other products over axes": (("", "O(d k² C)", "Kernel IMM", _KERNELS),),
    "kernel k-means, expansion of an empty tree": (
        ("unbounded", "", "Kernel ExKMC", _KERNELS),
        ("unbounded", "", "Kernel Expand", _KERNELS),
    ),
}
