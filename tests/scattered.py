"""A table in batches as unkind as a cluster of machines can make it."""

import numpy as np
import pyarrow as pa

from boxwood.batches.source import ArrowSource


class ScatteredSource(ArrowSource):
    """Batches of random sizes come in random order to several summaries, which travel and are merged in any order.

    `runs` counts the passes, and `cells` the values that were read.
    """

    def __init__(self, table, seed):
        super().__init__(table, n_jobs=1)
        self.random, self.runs, self.cells = np.random.default_rng(seed), 0, 0

    def run(self, make, columns, n_jobs=-1):
        import cloudpickle

        self.runs += 1
        self.cells += self.table.num_rows * len(columns)
        self.batch_rows = int(self.random.integers(1, max(self.table.num_rows, 2)))
        batches = list(self.batches(columns))
        made = cloudpickle.dumps(make)
        summaries = [cloudpickle.loads(made)() for _ in range(self.random.integers(1, 5))]
        for i in self.random.permutation(len(batches)):
            summaries[self.random.integers(len(summaries))].update(*batches[i])
        first, *others = [cloudpickle.loads(cloudpickle.dumps(one)) for one in summaries]
        for other in others:
            first.merge(other)
        return first


def scattered(X, seed, **columns):
    """Return the rows of an array as a source with columns x0, x1, …, and further columns by name."""
    X = np.asarray(X)
    named = {f"x{j}": X[:, j] for j in range(X.shape[1])} | columns
    return ScatteredSource(pa.table(named), seed)
