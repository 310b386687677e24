"""Coloured shapes: generated images of species, and images of concepts from another distribution."""

from typing import NamedTuple

import numpy as np

__all__ = ["COLOURS", "SHAPES", "SPECIES", "Concepts", "concept_images", "species_images"]

SIDE = 32
COLOURS = {"red": (0.9, 0.1, 0.1), "yellow": (0.9, 0.85, 0.1), "blue": (0.1, 0.2, 0.9), "green": (0.1, 0.75, 0.2)}
SHAPES = ("disc", "square", "triangle")
SPECIES = (("red", "disc"), ("yellow", "disc"), ("blue", "square"), ("green", "triangle"))


class Concepts(NamedTuple):
    """Images (n, 3, 32, 32) and their concept labels by name, each (n,), NaN where not known."""

    images: np.ndarray
    table: dict[str, np.ndarray]


def species_images(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return images, the species of each, and how large and how far left its shape is.

    Place, size, rotation, background and noise are drawn for each image and do not depend on the species.
    """
    species = rng.integers(len(SPECIES), size=n)
    size, centers = rng.uniform(6, 12, size=n), rng.uniform(11, 21, size=(n, 2))
    images = np.empty((n, 3, SIDE, SIDE), dtype=np.float32)
    for i, one in enumerate(species):
        colour, shape = SPECIES[one]
        inside = _mask(shape, centers[i], size[i], rng.uniform(0, 2 * np.pi))
        tint = np.clip(np.array(COLOURS[colour]) + rng.normal(0, 0.05, size=3), 0, 1)
        images[i] = np.where(inside, tint[:, None, None], _background(rng))
    return _noisy(images, rng), species, {"size": size, "left": -centers[:, 0]}


def concept_images(n_each: int, rng: np.random.Generator) -> Concepts:
    """Return examples of concepts: colours as textures without shape, shapes as grey outlines, and two decoys.

    The decoys "size" and "left" are continuous, and have nothing to do with species.
    """
    textures = [_texture(colour, rng) for colour in COLOURS for _ in range(n_each)]
    outlines = [_outline(shape, rng) for shape in SHAPES for _ in range(n_each)]
    decoys, _, measures = species_images(2 * n_each, rng)
    colours, shapes = np.repeat(list(COLOURS), n_each), np.repeat(SHAPES, n_each)
    unknown = [np.full(len(part), np.nan) for part in (textures, outlines, decoys)]
    table = {name: np.concatenate([colours == name, unknown[1], unknown[2]]) for name in COLOURS}
    table |= {name: np.concatenate([unknown[0], shapes == name, unknown[2]]) for name in SHAPES}
    table |= {name: np.concatenate([unknown[0], unknown[1], values]) for name, values in measures.items()}
    return Concepts(np.concatenate([_noisy(np.array(textures + outlines), rng), decoys]).astype(np.float32), table)


def _mask(shape: str, center: np.ndarray, size: float, angle: float) -> np.ndarray:
    """Return the pixels inside a shape, (32, 32)."""
    y, x = np.mgrid[:SIDE, :SIDE]
    dx, dy = x - center[0], y - center[1]
    u, v = dx * np.cos(angle) + dy * np.sin(angle), dy * np.cos(angle) - dx * np.sin(angle)
    if shape == "disc":
        return u**2 + v**2 < size**2
    if shape == "square":
        return np.maximum(np.abs(u), np.abs(v)) < 0.89 * size
    return (v > -0.65 * size) & (v < 1.3 * size - 1.73 * np.abs(u))


def _background(rng: np.random.Generator) -> np.ndarray:
    """Return a grey that grows lighter in some direction, (1, 32, 32)."""
    y, x = np.mgrid[:SIDE, :SIDE] / SIDE - 0.5
    slope = rng.normal(0, 0.2, size=2)
    return (rng.uniform(0.3, 0.7) + slope[0] * x + slope[1] * y)[None]


def _texture(colour: str, rng: np.random.Generator) -> np.ndarray:
    coarse = rng.uniform(0.6, 1.1, size=(1, SIDE // 4, SIDE // 4)).repeat(4, axis=1).repeat(4, axis=2)
    return np.array(COLOURS[colour])[:, None, None] * coarse


def _outline(shape: str, rng: np.random.Generator) -> np.ndarray:
    center, size, angle = rng.uniform(11, 21, size=2), rng.uniform(6, 12), rng.uniform(0, 2 * np.pi)
    line = _mask(shape, center, size, angle) & ~_mask(shape, center, size - 2, angle)
    return np.where(line, rng.uniform(0, 1), _background(rng)).repeat(3, axis=0)


def _noisy(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.clip(images + rng.normal(0, 0.03, size=images.shape), 0, 1).astype(np.float32)
