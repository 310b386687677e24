"""Rotations of rows, beside the singular values of LAPACK."""

import numpy as np

from boxwood.loops.jit import interpret
from boxwood.loops.mixed import SWEEPS, orthogonal_rows
from tests.scale import law


@law(60)
def test_rows_become_the_principal_axes(seed):
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(1, 9)), int(rng.integers(1, 12))
    if seed % 4 == 0:  # so many rows that they become a triangle first
        k = int(rng.integers(100, 140))
    points = rng.normal(size=(k, m)) * 10.0 ** rng.integers(-8, 8)
    if seed % 3 == 0:  # rows that depend on others
        points[-1] = points[0]
    if seed % 5 == 0:
        points[:] = 0.0
    if seed % 7 == 0:  # columns that depend on others
        points[:, -1] = points[:, 0]
    if seed % 2 == 0 and m > 2:  # columns whose squares underflow
        points[:, rng.integers(m)] *= 10.0 ** rng.integers(-175, -140)
    rows = points.copy()
    orthogonal_rows(rows, np.zeros(1, dtype=np.int64))
    size = np.linalg.norm(points)
    products = rows @ rows.T
    assert np.abs(products - np.diag(np.diag(products))).max(initial=0.0) <= 1e-12 * size**2
    np.testing.assert_allclose(rows.T @ rows, points.T @ points, rtol=0, atol=1e-12 * size**2)
    singular = np.sort(np.linalg.norm(rows, axis=1))[::-1][: min(k, m)]
    np.testing.assert_allclose(singular, np.linalg.svd(points)[1], rtol=0, atol=1e-12 * size)


class _Counted:
    """A matrix that counts how often one of its numbers is read."""

    def __init__(self, rows):
        self.rows, self.shape, self.n_read = rows, rows.shape, 0

    def __getitem__(self, place):
        self.n_read += 1
        return self.rows[place]

    def __setitem__(self, place, value):
        self.rows[place] = value


@law(12)
def test_many_rows_of_few_columns_take_time_linear_in_the_rows(seed):
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(2, 600)), int(rng.integers(2, 6))
    shares = rng.dirichlet(np.ones(m), size=k)
    rows, work = _Counted(shares - shares.mean(axis=0)), np.zeros(1, dtype=np.int64)
    interpret(orthogonal_rows)(rows, work)
    assert rows.n_read <= 20 * (k * m**2 + SWEEPS * m**3) + 200 * m * min(k, 100) ** 2
    assert work[0] <= rows.n_read <= 12 * work[0] + k * m  # steps that tell when it is compiled are the work itself
