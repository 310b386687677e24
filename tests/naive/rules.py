"""Rules by trying all: the shortest that give every row of a grid the same."""

import itertools

import numpy as np


def shortest(choices, otherwise, right):
    """Return the fewest comparisons of rules that leave out branches and conditions, and give each row the same.

    IN: choices: for each branch its name, and pairs of the rows that it may hold for, shape (n,), and the number of
    comparisons of that; otherwise: what other rows get; right (n,): what each row gets.

    A branch may be left out, or take all rows that come to it, as ELSE does, which asks nothing.
    """
    ways = []
    for name, pairs in choices:
        fewest = {}
        for holds, n in [(np.zeros(len(right), dtype=bool), 0), (np.ones(len(right), dtype=bool), 0), *pairs]:
            fewest[holds.tobytes()] = min(n, fewest.get(holds.tobytes(), n))
        ways.append([(name, np.frombuffer(key, dtype=bool), n) for key, n in fewest.items()])
    best = sum(max(n for _, _, n in each) for each in ways)
    for chosen in itertools.product(*ways):
        length = sum(n for _, _, n in chosen)
        if length < best and np.array_equal(given(chosen, otherwise, len(right)), right):
            best = length
    return best


def given(chosen, otherwise, n_rows):
    """Return what each row gets: the name of the first branch that holds."""
    found = np.full(n_rows, otherwise)
    for name, holds, _ in reversed(chosen):
        found[holds] = name
    return found
