"""Embeddings, clusterings and concept examples: of handwritten digits, of coloured shapes, of small photographs.

Each source is made from embeddings that are kept in the cache, or trained here where torch is installed.
"""

import gzip
import math
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from benchmarks.papers.data import folder, load
from benchmarks.papers.deep.cache import Arrays, cached

__all__ = ["DIGIT_CONCEPTS", "Source", "awa2_simulated", "cifar", "digits", "mnist", "shapes"]

# J. Crabbé, M. van der Schaar, "Concept Activation Regions", NeurIPS 2022: the digits that have a concept
DIGIT_CONCEPTS = {
    "loop": (0, 2, 6, 8, 9),
    "vertical": (1, 4, 7),
    "horizontal": (4, 5, 7),
    "curvature": (0, 2, 3, 5, 6, 8, 9),
}
VADE = ((256, 256, 512), (15, 40))  # widths; epochs as an autoencoder, and as VaDE
COLOURS_OF_AWA2 = ("black", "brown", "orange", "red", "yellow")  # that differ among the three animals
ANIMALS = ("antelope", "leopard", "fox")  # 0, 14 and 21
EACH, DRAWS = 200, 10  # positives, and negatives, of a concept, as in Crabbé and van der Schaar


@dataclass(frozen=True)
class Source:
    """What is to be explained, and the examples of concepts.

    Embeddings (n, d), clusters and true classes (n,) of the rows; embeddings (N, d) of the examples, their concepts by
    name, each (N,), and their classes where there are any. `mixture` is the Gaussian mixture that found the clusters.
    """

    Z: np.ndarray
    clusters: np.ndarray
    truth: np.ndarray
    examples: np.ndarray
    concepts: dict[str, np.ndarray]
    groups: np.ndarray | None = None
    mixture: GaussianMixture | None = None

    def draws(self) -> list[tuple[np.ndarray, dict[str, np.ndarray]]]:
        """Return ten draws of 200 positive and 200 negative examples of each binary concept."""
        return [self._draw(np.random.default_rng((0, i))) for i in range(DRAWS)]

    def _draw(self, rng: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        drawn = {}
        for name, values in self.concepts.items():
            drawn[name] = np.full(len(values), np.nan)
            for side in (0, 1):
                rows = rng.permutation(np.flatnonzero(values == side))[:EACH]
                drawn[name][rows] = side
        rows = np.flatnonzero(~np.isnan(list(drawn.values())).all(axis=0))
        return self.examples[rows], {name: values[rows] for name, values in drawn.items()}


def digits() -> Source:
    """Return the digits of scikit-learn, embedded by their principal axes: no network, seconds."""
    found = load_digits()
    return _of_digits(PCA(10, random_state=0).fit_transform(found.data), found.target)


def mnist(seed: int = 0) -> Source | None:
    """Return the 60 000 training digits of MNIST, embedded by VaDE; None where data or torch are not there."""
    path = folder() / "mnist.npz"
    if not path.exists():
        return None
    with np.load(path) as arrays:
        images, labels = arrays["x_train"], arrays["y_train"]

    def make() -> Arrays:
        from benchmarks.papers.deep.vade import train_vade
        from boxwood.concepts import extract_latents

        rows = (images.reshape(len(images), -1) / 255).astype(np.float32)
        net = train_vade(rows, 10, widths=VADE[0], epochs=VADE[1], seed=seed, progress=True)
        return {"Z": extract_latents(net, rows, "mean", batch_size=1024)}

    name = f"mnist-vade-{'-'.join(map(str, VADE[0]))}-epochs-{VADE[1][0]}-{VADE[1][1]}-seed-{seed}"
    arrays = cached(name, make)
    return None if arrays is None else _of_digits(arrays["Z"], labels)


def _of_digits(Z: np.ndarray, labels: np.ndarray) -> Source:
    Z = Z.astype(np.float64)
    mixture = GaussianMixture(10, n_init=3, random_state=0).fit(Z)
    concepts = {name: np.isin(labels, members).astype(float) for name, members in DIGIT_CONCEPTS.items()}
    return Source(Z, mixture.predict(Z), labels, Z, concepts, labels, mixture)


def shapes(seed: int = 0, *, n: int = 800, epochs: int = 8) -> Source | None:
    """Return coloured shapes, embedded by contrastive clustering, with concept images from another distribution."""
    from benchmarks.papers.deep.shapes import SPECIES, concept_images, species_images

    rng = np.random.default_rng(seed)
    images, species, _ = species_images(n, rng)
    concepts = concept_images(100, rng)
    name = f"shapes-{n}-epochs-{epochs}-seed-{seed}"
    arrays = cached(name, lambda: _contrastive(images, concepts.images, len(SPECIES), epochs, seed))
    if arrays is None:
        return None
    return Source(arrays["Z"], arrays["clusters"], species, arrays["examples"], concepts.table)


def cifar(classes: tuple[int, ...], seed: int = 0, *, epochs: int = 10) -> Source | None:
    """Return 300 photographs of each class, embedded by a small network; concepts are measured in the pixels."""
    path = folder() / "cifar10_small.npz"
    if not path.exists():
        return None
    with np.load(path) as arrays:
        kept = np.isin(arrays["y"], classes)
        images = (arrays["x"][kept].transpose(0, 3, 1, 2) / 255).astype(np.float32)
        labels = arrays["y"][kept]
    name = f"cifar-{'-'.join(map(str, classes))}-epochs-{epochs}-seed-{seed}"
    found = cached(name, lambda: _contrastive(images, images, len(classes), epochs, seed))
    if found is None:
        return None
    return Source(found["Z"], found["clusters"], labels, found["examples"], pixel_concepts(images))


def _contrastive(images: np.ndarray, examples: np.ndarray, k: int, epochs: int, seed: int) -> Arrays:
    import torch

    from benchmarks.papers.deep.contrast import train_contrastive
    from boxwood.concepts import extract_latents

    net = train_contrastive(torch.from_numpy(images), k, epochs=epochs, seed=seed)
    found = extract_latents(net, images, ["features", "cluster"])
    clusters = found["cluster"].argmax(axis=1)
    return {"Z": found["features"], "clusters": clusters, "examples": extract_latents(net, examples, "features")}


def pixel_concepts(images: np.ndarray) -> dict[str, np.ndarray]:
    """Return eight continuous concepts of images (n, 3, h, w) with values in [0, 1]."""
    red, green, blue = images.mean(axis=(2, 3)).T
    grey = images.mean(axis=1)
    half = grey.shape[1] // 2
    return {
        "brightness": grey.mean(axis=(1, 2)),
        "contrast": grey.std(axis=(1, 2)),
        "warmth": red - blue,
        "greenness": green - (red + blue) / 2,
        "saturation": (images.max(axis=1) - images.min(axis=1)).mean(axis=(1, 2)),
        "bright top": grey[:, :half].mean(axis=(1, 2)) - grey[:, half:].mean(axis=(1, 2)),
        "bright middle": grey[:, 8:24, 8:24].mean(axis=(1, 2)) - grey.mean(axis=(1, 2)),
        "roughness": np.abs(np.diff(grey, axis=1)).mean(axis=(1, 2)),
    }


def awa2_simulated(seed: int = 0, *, n: int = 2236, n_latent: int = 64) -> Source | None:
    """Return simulated animals: a random linear map of the predicates of the class, and noise; None without the table.

    The predicates are taken as continuous concepts, in per cent. Examples are animals of all 50 classes.
    """
    table = load("awa2_predicates")
    if table is None:
        return None
    rng = np.random.default_rng(seed)
    per_cent = 100.0 * table.X
    to_latent = rng.standard_normal((per_cent.shape[1], n_latent)) / (100 * math.sqrt(n_latent))

    def embedded(animals: np.ndarray) -> np.ndarray:
        return per_cent[animals] @ to_latent + 0.6 * rng.standard_normal((len(animals), n_latent))

    places = [int(np.flatnonzero(table.labels == name)[0]) for name in ANIMALS]
    truth = rng.integers(len(ANIMALS), size=n)
    Z = embedded(np.array(places)[truth])
    shown = rng.integers(len(per_cent), size=2000)
    names = _names_of_predicates()
    concepts = {name: per_cent[shown, names.index(name)] for name in COLOURS_OF_AWA2}
    clusters = GaussianMixture(len(ANIMALS), covariance_type="diag", random_state=0).fit_predict(Z)
    return Source(Z, clusters, truth, embedded(shown), concepts, shown)


def _names_of_predicates() -> list[str]:
    with gzip.open(folder() / "awa2_predicates.csv.gz", "rt", encoding="utf-8") as lines:
        return lines.readline().strip().split(",")[:-1]
