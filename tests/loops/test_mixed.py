"""Rotations of rows, beside the singular values of LAPACK."""

import numpy as np

from boxwood.loops.mixed import orthogonal_rows
from tests.scale import law


@law(60)
def test_rows_become_the_principal_axes(seed):
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(1, 9)), int(rng.integers(1, 12))
    points = rng.normal(size=(k, m)) * 10.0 ** rng.integers(-8, 8)
    if seed % 3 == 0:  # rows that depend on others
        points[-1] = points[0]
    if seed % 5 == 0:
        points[:] = 0.0
    rows = points.copy()
    orthogonal_rows(rows)
    size = np.linalg.norm(points)
    products = rows @ rows.T
    assert np.abs(products - np.diag(np.diag(products))).max(initial=0.0) <= 1e-12 * size**2
    np.testing.assert_allclose(rows.T @ rows, points.T @ points, rtol=0, atol=1e-12 * size**2)
    singular = np.sort(np.linalg.norm(rows, axis=1))[::-1][: min(k, m)]
    np.testing.assert_allclose(singular, np.linalg.svd(points)[1], rtol=0, atol=1e-12 * size)
