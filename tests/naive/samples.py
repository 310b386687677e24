"""Samples of a table, by sorting all of its distinct rows."""

from collections import Counter

import numpy as np

from boxwood.batches.sample import hashes


def sample_of_rows(X, labels, weights, n_rows):
    """Return the rows with the least hashes, their labels, and how often each occurs times its weight."""
    table = np.column_stack([X, labels, weights]) + 0.0
    counts = Counter(row.tobytes() for row in table if row[-1] != 0)

    def place(row):
        values = np.frombuffer(row)
        return int(hashes(values[None])[0]), values.view(np.uint64).tolist()

    least = sorted(counts, key=place)[:n_rows]
    rows = np.array([np.frombuffer(row) for row in least])
    return rows[:, :-2], rows[:, -2], np.array([counts[row] for row in least]) * rows[:, -1]
