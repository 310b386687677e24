"""Embeddings with planted concepts, and clusters that two concepts separate."""

import numpy as np
import pytest


class Planted:
    """Embeddings in which two concepts are directions: `red` a binary one, `size` a continuous one."""

    def __init__(self, n=400, d=16, *, seed=0, noise=0.1):
        rng = np.random.default_rng(seed)
        basis, _ = np.linalg.qr(rng.normal(size=(d, d)))
        self.red, self.size = basis[0], basis[1]
        self.Z = rng.normal(size=(n, d))
        self.is_red = self.Z @ self.red + noise * rng.normal(size=n) > 0.3
        self.sizes = 50 + 7 * self.Z @ self.size + noise * rng.normal(size=n)
        self.coin = rng.random(n) < 0.5
        self.concepts = {"red": self.is_red, "size": self.sizes, "coin": self.coin}


@pytest.fixture(scope="session")
def planted():
    return Planted()


@pytest.fixture(scope="session")
def animals():
    """Four species at the corners of a square in a space of six axes, with noise."""
    rng = np.random.default_rng(0)
    species = rng.integers(4, size=400)
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]) @ rng.normal(size=(2, 6)) * 6
    return corners[species] + rng.normal(size=(400, 6)), species
