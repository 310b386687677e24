"""Contrastive clustering: two views of an image should have one embedding and one cluster.

Y. Li, P. Hu, Z. Liu, D. Peng, J. T. Zhou, X. Peng, "Contrastive Clustering", AAAI 2021. The network is small, and
augmentations are written out, so that it trains in a minute on a processor.
"""

from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F

__all__ = ["ContrastiveNet", "train_contrastive"]

BATCH = 128
TEMPERATURES = (0.5, 1.0)  # of images, of clusters; as in the paper


class ContrastiveNet(nn.Module):
    """Six convolutions, the mean over places, and two heads: one for images, one for clusters."""

    def __init__(self, n_clusters: int, width: int = 32) -> None:
        super().__init__()
        sizes = (3, width, 2 * width, 4 * width)
        blocks = [_block(a, b) for a, b in pairwise(sizes)]
        self.features = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.instance = nn.Sequential(nn.Linear(sizes[-1], sizes[-1]), nn.ReLU(), nn.Linear(sizes[-1], 64))
        self.cluster = nn.Sequential(nn.Linear(sizes[-1], sizes[-1]), nn.ReLU(), nn.Linear(sizes[-1], n_clusters))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return normalised embeddings and the probability of each cluster."""
        latent = self.features(x)
        return F.normalize(self.instance(latent), dim=1), torch.softmax(self.cluster(latent), dim=1)


def train_contrastive(images: torch.Tensor, n_clusters: int, *, epochs: int, seed: int = 0) -> ContrastiveNet:
    """Return a network trained on images, float32 of shape (n, 3, 32, 32); the same for the same seed on one thread."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    net = ContrastiveNet(n_clusters)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(epochs):
        for rows in torch.split(torch.randperm(len(images)), BATCH):
            if len(rows) < 2:
                continue
            batch = images[rows]
            (a, p), (b, q) = net(_view(batch)), net(_view(batch))
            loss = _unlike(a, b, TEMPERATURES[0]) + _cluster_loss(p, q)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return net.eval()


def _block(a: int, b: int) -> nn.Sequential:
    first = [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU()]
    second = [nn.Conv2d(b, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU()]
    return nn.Sequential(*first, *second, nn.MaxPool2d(2))


def _unlike(a: torch.Tensor, b: torch.Tensor, temperature: float) -> torch.Tensor:
    """Return the normalised temperature-scaled cross entropy of pairs of rows of length 1."""
    both = torch.cat([a, b])
    likeness = both @ both.T / temperature
    likeness.fill_diagonal_(-torch.inf)
    n = len(a)
    partners = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(likeness, partners)


def _cluster_loss(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """Return the same for clusters, as columns, less the entropy of their sizes."""
    unlike = _unlike(F.normalize(p.T, dim=1), F.normalize(q.T, dim=1), TEMPERATURES[1])
    shares = torch.stack([p.mean(dim=0), q.mean(dim=0)])
    return unlike + (shares * torch.log(shares + 1e-10)).sum()


def _view(batch: torch.Tensor) -> torch.Tensor:
    """Return each image moved, scaled and perhaps mirrored, in another light, with noise."""
    n = len(batch)
    scale, mirror = 1 - 0.35 * torch.rand(n), torch.sign(torch.rand(n) - 0.5)
    place = torch.zeros(n, 2, 3)
    place[:, 0, 0], place[:, 1, 1] = scale * mirror, scale
    place[:, :, 2] = (2 * torch.rand(n, 2) - 1) * (1 - scale)[:, None]
    moved = F.grid_sample(batch, F.affine_grid(place, list(batch.shape), align_corners=False), align_corners=False)
    brightness, contrast = 0.3 * (torch.rand(n, 1, 1, 1) - 0.5), 0.7 + 0.6 * torch.rand(n, 1, 1, 1)
    middle = moved.mean(dim=(1, 2, 3), keepdim=True)
    return (moved - middle) * contrast + middle + brightness + 0.03 * torch.randn_like(moved)
