"""Tables that have groups, and tables that have none: `WITH` and `WITHOUT` make one of each kind from a generator.

`python -m benchmarks.quality defaults` says how many of each kind are said to have groups. What the verdict is was
chosen on seeds below 40.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

Rng = np.random.Generator


def _frame(rows: np.ndarray, name: str = "x") -> pd.DataFrame:
    return pd.DataFrame(rows).add_prefix(name)


def _size(rng: Rng) -> int:
    return int(np.exp(rng.uniform(np.log(100), np.log(1500))))


def _units(rng: Rng, rows: np.ndarray) -> pd.DataFrame:
    """Return rows in units of their own, in an order of their own."""
    rows = rows[:, rng.permutation(rows.shape[1])] * 10.0 ** rng.integers(-2, 4, rows.shape[1])
    return _frame(rows[rng.permutation(len(rows))])


def _corners(rng: Rng, k: int, d: int, apart: float) -> np.ndarray:
    """Return k points in d columns, each two of them so far apart at least."""
    while True:
        found = rng.normal(size=(k, d)) * apart
        if min(np.linalg.norm(found[i] - found[j]) for i in range(k) for j in range(i)) > apart:
            return found


def blobs(rng: Rng) -> pd.DataFrame:
    """Two to six groups, six deviations apart or more."""
    k, d, n = int(rng.integers(2, 7)), int(rng.integers(2, 7)), _size(rng)
    group = rng.integers(0, k, n)
    return _units(rng, _corners(rng, k, d, 6.0)[group] + rng.normal(size=(n, d)))


def square(rng: Rng) -> pd.DataFrame:
    """Four groups at the corners of a square, which two of five columns show, each by itself."""
    n = _size(rng)
    return _units(
        rng, np.c_[rng.integers(0, 2, (n, 2)) * rng.uniform(6, 10), np.zeros((n, 3))] + rng.normal(size=(n, 5))
    )


def unequal(rng: Rng) -> pd.DataFrame:
    """Groups of 80, 15 and 5 percent, the small ones six deviations off."""
    n, d = max(_size(rng), 150), int(rng.integers(2, 5))
    group = rng.choice(3, n, p=[0.80, 0.15, 0.05])
    return _units(rng, np.vstack([np.zeros(d), np.eye(2, d) * 6])[group] + rng.normal(size=(n, d)))


def one_column(rng: Rng) -> pd.DataFrame:
    """Two or three groups in one column, beside one to four of a normal cloud."""
    n, d = _size(rng), int(rng.integers(2, 6))
    rows = rng.normal(size=(n, d))
    rows[:, 0] += rng.integers(0, rng.integers(2, 4), n) * rng.uniform(6, 10)
    return _units(rng, rows)


def noise(rng: Rng) -> pd.DataFrame:
    """Two to four groups in three columns, beside 10 to 30 of noise."""
    n, k = max(_size(rng), 200), int(rng.integers(2, 5))
    rows = rng.normal(size=(n, 3 + int(rng.integers(10, 31))))
    rows[:, :3] += _corners(rng, k, 3, 6.0)[rng.integers(0, k, n)]
    return _units(rng, rows)


def few_rows(rng: Rng) -> pd.DataFrame:
    """Two or three groups of 24 to 60 rows."""
    n, k, d = int(rng.integers(24, 61)), int(rng.integers(2, 4)), int(rng.integers(2, 5))
    return _units(rng, _corners(rng, k, d, 6.0)[np.arange(n) % k] + rng.normal(size=(n, d)))


def gaps(rng: Rng) -> pd.DataFrame:
    """Two to five groups, with a tenth to a quarter of the values missing."""
    k, d, n = int(rng.integers(2, 6)), int(rng.integers(3, 7)), _size(rng)
    rows = _corners(rng, k, d, 6.0)[rng.integers(0, k, n)] + rng.normal(size=(n, d))
    rows[rng.random((n, d)) < rng.uniform(0.1, 0.25)] = np.nan
    return _units(rng, rows)


def _words_of(rng: Rng, group: np.ndarray, n_words: int) -> dict[str, np.ndarray]:
    """Return columns of words, each of which most rows of a group share."""
    k, n = group.max() + 1, len(group)
    found = {}
    for j in range(n_words):
        own = np.array([*"abcdef"])[rng.permutation(6)[:k]]
        others = rng.choice([*"abcdef"], n, p=rng.dirichlet([3] * 6))
        found[f"w{j}"] = np.where(rng.random(n) < rng.uniform(0.8, 0.95), own[group], others)
    return found


def words(rng: Rng) -> pd.DataFrame:
    """Two to four groups of four to six words, of which four of five rows or more have the word of their group."""
    k = int(rng.integers(2, 5))
    return pd.DataFrame(_words_of(rng, rng.integers(0, k, _size(rng)), int(rng.integers(4, 7))))


def words_and_numbers(rng: Rng) -> pd.DataFrame:
    """Two to four groups of two or three words and two numbers."""
    k = int(rng.integers(2, 5))
    group = rng.integers(0, k, _size(rng))
    numbers = _corners(rng, k, 2, 4.0)[group] + rng.normal(size=(len(group), 2))
    return pd.DataFrame(_words_of(rng, group, int(rng.integers(2, 4)))).join(_frame(numbers))


def skewed(rng: Rng) -> pd.DataFrame:
    """Two to five groups of which the logarithms are normal."""
    k, d, n = int(rng.integers(2, 6)), int(rng.integers(2, 5)), _size(rng)
    rows = (_corners(rng, k, d, 6.0)[rng.integers(0, k, n)] + rng.normal(size=(n, d))) / 3
    return _units(rng, np.exp(rows))


def counts(rng: Rng) -> pd.DataFrame:
    """Two to four groups of counts, whose means are 3 or 30 in each of four columns."""
    k, n = int(rng.integers(2, 5)), _size(rng)
    means = np.array([[3, 3, 30, 30], [30, 30, 3, 3], [3, 30, 30, 3], [30, 3, 3, 30]])[:k]
    return _frame(rng.poisson(means[rng.integers(0, k, n)]))


def near(rng: Rng) -> pd.DataFrame:
    """Two groups that touch, four deviations apart."""
    n, d = max(_size(rng), 200), int(rng.integers(2, 5))
    return _units(rng, np.eye(1, d) * 4.0 * rng.integers(0, 2, (n, 1)) + rng.normal(size=(n, d)))


def long_ones(rng: Rng) -> pd.DataFrame:
    """Two or three groups of which each is long: five times as wide as they are high, and six heights apart."""
    n, k = _size(rng), int(rng.integers(2, 4))
    group = rng.integers(0, k, n)
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    return _units(rng, np.c_[rng.normal(size=n) * 3, group * 7.0 + rng.normal(size=n)] @ turn)


def whole(rng: Rng) -> pd.DataFrame:
    """Two groups of whole numbers in one column, ages or counts, beside one or two of a normal cloud."""
    n = _size(rng)
    group = rng.random(n) < rng.uniform(0.2, 0.8)
    ages, counts = rng.normal(20 + 40 * group, np.where(group, 8, 2)).round(), rng.poisson(np.where(group, 40, 2))
    return _units(rng, np.c_[ages if rng.random() < 0.5 else counts, rng.normal(size=(n, rng.integers(1, 3)))])


def evident(rng: Rng) -> pd.DataFrame:
    """What nobody could overlook: four blobs ten deviations apart, or two humps of one column beside a cloud."""
    if rng.random() < 0.5:
        g = rng.integers(0, 4, 800)
        return _frame(np.c_[g % 2, g // 2] * 10 + rng.normal(size=(800, 2)))
    rows = rng.normal(size=(800, 3))
    rows[:500, 0] += 12
    return _units(rng, rows)


WITH: dict[str, Callable[[Rng], pd.DataFrame]] = {
    "evident": evident,
    "blobs": blobs,
    "square": square,
    "80 : 15 : 5": unequal,
    "one column": one_column,
    "noise columns": noise,
    "24 to 60 rows": few_rows,
    "gaps": gaps,
    "words": words,
    "words and numbers": words_and_numbers,
    "skewed": skewed,
    "counts": counts,
    "touching": near,
    "long": long_ones,
    "whole numbers": whole,
}


def _mixed(rng: Rng, rows: np.ndarray) -> np.ndarray:
    """Return columns that go together."""
    return rows @ rng.normal(size=(rows.shape[1],) * 2)


def _d(rng: Rng) -> int:
    return int(rng.integers(2, 9))


def _of_one_factor(rng: Rng, n: int, d: int) -> np.ndarray:
    """Return normal columns of one common factor."""
    loading = np.sqrt(rng.uniform(0.15, 0.65))
    return loading * rng.normal(size=(n, 1)) + np.sqrt(1 - loading**2) * rng.normal(size=(n, d))


def _in_levels(rng: Rng, rows: np.ndarray, least: int = 2, most: int = 5) -> np.ndarray:
    """Return answers of few levels, cut where a share of the rows lies below."""
    found = np.empty(rows.shape, dtype=int)
    for j, x in enumerate(rows.T):
        levels = int(rng.integers(least, most + 1))
        shares = np.cumsum(rng.dirichlet([4.0] * levels))[:-1]
        found[:, j] = np.searchsorted(np.quantile(x, shares), x)
    return found


def _shares(rng: Rng, n: int) -> np.ndarray:
    d = int(rng.integers(3, 7))
    if rng.random() < 0.7:
        return rng.dirichlet(np.ones(d) * rng.choice([1.0, 2.0]), n)
    rows = np.exp(rng.normal(size=(n, d)))
    return rows / rows.sum(axis=1, keepdims=True)


def _ring(rng: Rng, n: int) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.c_[np.cos(angle), np.sin(angle)] * 5 + rng.normal(size=(n, 2)) * rng.uniform(0.1, 1.0)


def _banana(rng: Rng, n: int) -> np.ndarray:
    x = rng.normal(size=n)
    return np.c_[x, x**2 * rng.uniform(0.3, 1.0) + rng.normal(size=n) * 0.5]


def _roll(rng: Rng, n: int) -> np.ndarray:
    angle = 1.5 * np.pi * (1 + 2 * rng.random(n))
    return np.c_[angle * np.cos(angle), rng.uniform(0, 21, n), angle * np.sin(angle)]


def _helix(rng: Rng, n: int) -> np.ndarray:
    angle = rng.uniform(0, 18, n)
    return np.c_[np.cos(angle) * 3, np.sin(angle) * 3, angle / 2] + rng.normal(size=(n, 3)) * rng.uniform(0.05, 0.2)


def _sine(rng: Rng, n: int) -> np.ndarray:
    x = rng.uniform(0, rng.uniform(5, 15), n)
    return np.c_[x, np.sin(x) * rng.uniform(1, 3) + rng.normal(size=n) * rng.uniform(0.1, 0.5)]


def _s_curve(rng: Rng, n: int) -> np.ndarray:
    angle = 3 * np.pi * (rng.random(n) - 0.5)
    rows = np.c_[np.sin(angle), rng.uniform(0, 2, n), np.sign(angle) * (np.cos(angle) - 1)]
    return rows + rng.normal(size=(n, 3)) * rng.uniform(0.0, 0.2)


def _spiral(rng: Rng, n: int) -> np.ndarray:
    angle = 2 * np.pi * rng.uniform(1, 3) * np.sqrt(rng.random(n))
    return np.c_[np.cos(angle), np.sin(angle)] * angle[:, None] + rng.normal(size=(n, 2)) * rng.uniform(0.1, 0.6)


def _eight(rng: Rng, n: int) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.c_[np.sin(angle), np.sin(2 * angle) / 2] * 5 + rng.normal(size=(n, 2)) * rng.uniform(0.1, 0.5)


def _ar(rng: Rng, n: int) -> np.ndarray:
    steps = rng.normal(size=(n, _d(rng)))
    for i in range(1, n):
        steps[i] += 0.7 * steps[i - 1]
    return steps


def _with_zeros(rng: Rng, n: int) -> np.ndarray:
    size = n, _d(rng)
    return np.where(rng.random(size) < rng.uniform(0.2, 0.7), 0.0, np.exp(rng.normal(size=size)))


def _far(rng: Rng, n: int) -> np.ndarray:
    rows = rng.normal(size=(n, _d(rng)))
    rows[: max(n // 100, 1)] *= 10
    return rows


def _disc(rng: Rng, n: int) -> np.ndarray:
    rows = rng.normal(size=(n, int(rng.integers(2, 4))))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True) * rng.random((n, 1)) ** (1 / rows.shape[1])


def _times(rng: Rng, n: int) -> np.ndarray:
    start = rng.uniform(0, 100, n)
    return np.c_[start, start + rng.exponential(10, n)]


def _named(codes: np.ndarray) -> pd.DataFrame:
    return _frame(np.array([*"abcdef"])[codes], "w")


WITHOUT: dict[str, Callable[[Rng], pd.DataFrame]] = {
    "normal": lambda rng: _frame(_mixed(rng, rng.normal(size=(_size(rng), _d(rng))))),
    "uniform": lambda rng: _frame(rng.uniform(size=(_size(rng), _d(rng)))),
    "uniform, mixed": lambda rng: _frame(_mixed(rng, rng.uniform(size=(_size(rng), _d(rng))))),
    "t2": lambda rng: _frame(rng.standard_t(2, size=(_size(rng), _d(rng)))),
    "t2, elliptic": lambda rng: (
        lambda n, d: _frame(_mixed(rng, rng.normal(size=(n, d))) / np.sqrt(rng.chisquare(2, (n, 1)) / 2))
    )(_size(rng), _d(rng)),
    "lognormal": lambda rng: (lambda n, d: _frame(np.exp(_mixed(rng, rng.normal(size=(n, d))) / np.sqrt(d))))(
        _size(rng), _d(rng)
    ),
    "Poisson": lambda rng: (lambda n, d: _frame(rng.poisson(rng.uniform(0.5, 12, d), (n, d))))(_size(rng), _d(rng)),
    "long counts": lambda rng: (lambda n, d: _frame(rng.negative_binomial(1, rng.uniform(0.05, 0.3, d), (n, d))))(
        _size(rng), _d(rng)
    ),
    "answers of one factor": lambda rng: _frame(_in_levels(rng, _of_one_factor(rng, _size(rng), _d(rng)), 3, 7)),
    "words of one factor": lambda rng: _named(_in_levels(rng, _of_one_factor(rng, _size(rng), _d(rng) + 1))),
    "words": lambda rng: (
        lambda n: _frame(
            np.array([rng.choice([*"abcdef"], n, p=rng.dirichlet([1] * 6)) for _ in range(_d(rng))]).T, "w"
        )
    )(_size(rng)),
    "words and numbers of one factor": lambda rng: (
        lambda rows: _named(_in_levels(rng, rows[:, :3])).join(_frame(rows[:, 3:]))
    )(_of_one_factor(rng, _size(rng), 6)),
    "shares": lambda rng: _frame(_shares(rng, _size(rng))),
    "banana": lambda rng: _frame(_banana(rng, _size(rng))),
    "ring": lambda rng: _frame(_ring(rng, _size(rng))),
    "roll": lambda rng: _frame(_roll(rng, _size(rng))),
    "helix": lambda rng: _frame(_helix(rng, _size(rng))),
    "sine": lambda rng: _frame(_sine(rng, _size(rng))),
    "S": lambda rng: _frame(_s_curve(rng, _size(rng))),
    "spiral": lambda rng: _frame(_spiral(rng, _size(rng))),
    "eight": lambda rng: _frame(_eight(rng, _size(rng))),
    "disc": lambda rng: _frame(_disc(rng, _size(rng))),
    "zeros": lambda rng: _frame(_with_zeros(rng, _size(rng))),
    "AR": lambda rng: _frame(_ar(rng, _size(rng))),
    "flags": lambda rng: (lambda n, d: _frame((rng.random((n, d)) < rng.uniform(0.05, 0.6, d)) * 1))(
        _size(rng), _d(rng) + 1
    ),
    "flags and money": lambda rng: (
        lambda n: _frame((rng.random((n, 3)) < rng.uniform(0.05, 0.6, 3)) * 1).join(
            _frame(np.exp(rng.normal(size=(n, 2))).round(2), "y")
        )
    )(_size(rng)),
    "whole numbers": lambda rng: (lambda n, d: _frame(rng.integers(0, rng.integers(3, 12, d), (n, d))))(
        _size(rng), _d(rng)
    ),
    "far rows": lambda rng: _frame(_far(rng, _size(rng))),
    "clipped": lambda rng: _frame(np.clip(_mixed(rng, rng.normal(size=(_size(rng), 3))), -1.5, 1.5)),
    "start and end": lambda rng: _frame(_times(rng, _size(rng))),
    "24 to 60 rows": lambda rng: _frame(_mixed(rng, rng.normal(size=(int(rng.integers(24, 61)), _d(rng))))),
    "gaps": lambda rng: (lambda rows: _frame(np.where(rng.random(rows.shape) < 0.15, np.nan, rows)))(
        _mixed(rng, rng.normal(size=(_size(rng), _d(rng))))
    ),
}
