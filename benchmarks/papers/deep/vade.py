"""VaDE: a variational autoencoder whose latent space is a Gaussian mixture.

Z. Jiang, Y. Zheng, H. Tan, B. Tang, H. Zhou, "Variational Deep Embedding: An Unsupervised and Generative Approach to
Clustering", IJCAI 2017.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import torch
from sklearn.mixture import GaussianMixture
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax

__all__ = ["VaDE", "train_vade"]

BATCH = 256
TINY = 1e-10  # keeps the logarithm of a responsibility of zero finite


class VaDE(nn.Module):
    """Encoder, decoder and the prior: weights, centres and log-variances of k Gaussians with independent axes."""

    def __init__(self, n_inputs: int, widths: Sequence[int], n_latent: int, n_clusters: int) -> None:
        super().__init__()
        self.encoder = _layers(n_inputs, *widths, last=nn.ReLU())
        self.mean = nn.Linear(widths[-1], n_latent)
        self.log_variance = nn.Linear(widths[-1], n_latent)
        self.decoder = _layers(n_latent, *reversed(widths), n_inputs, last=nn.Identity())
        self.logits = nn.Parameter(torch.zeros(n_clusters))
        self.centers = nn.Parameter(torch.zeros(n_clusters, n_latent))
        self.log_spreads = nn.Parameter(torch.zeros(n_clusters, n_latent))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the reconstruction, as logits, from the latent mean alone."""
        return self.decoder(self.mean(self.encoder(x)))

    def loss(self, x: torch.Tensor) -> torch.Tensor:
        """Return minus the evidence lower bound, the mean over a batch of images with values in [0, 1]."""
        hidden = self.encoder(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        z = mean + torch.exp(log_variance / 2) * torch.randn_like(mean)
        lost = binary_cross_entropy_with_logits(self.decoder(z), x, reduction="none").sum(dim=1)
        share = torch.softmax(self._log_density(z, torch.zeros_like(z)), dim=1)
        unlike = torch.log(share + TINY) - self._log_density(mean, torch.exp(log_variance))
        return (lost + (share * unlike).sum(dim=1) - 0.5 * (1 + log_variance).sum(dim=1)).mean()

    def _log_density(self, mean: torch.Tensor, variance: torch.Tensor) -> torch.Tensor:
        """Return the expected log-density under each weighted Gaussian, less the same constant, shape (n, k)."""
        squares = variance[:, None] + (mean[:, None] - self.centers) ** 2
        inside = self.log_spreads + squares / torch.exp(self.log_spreads)
        return log_softmax(self.logits, dim=0) - 0.5 * inside.sum(dim=2)


def train_vade(
    images: np.ndarray,
    n_clusters: int,
    *,
    widths: Sequence[int] = (256, 256, 512),
    n_latent: int = 10,
    epochs: tuple[int, int] = (15, 40),
    seed: int = 0,
    progress: bool = False,
) -> VaDE:
    """Return a network trained first as an autoencoder, then, from a mixture of its embeddings, as VaDE.

    `images` are float32 rows with values in [0, 1]. The same seed gives the same network on one thread.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    x = torch.from_numpy(images)
    net = VaDE(images.shape[1], widths, n_latent, n_clusters)
    _train(net, x, lambda batch: _lost(net, batch), epochs[0], rate=1e-3, progress=progress)
    _begin_with_mixture(net, x, n_clusters, seed)
    _train(net, x, net.loss, epochs[1], rate=2e-3, progress=progress)
    return net.eval()


def _layers(*sizes: int, last: nn.Module) -> nn.Sequential:
    linear = [nn.Linear(a, b) for a, b in pairwise(sizes)]
    between: list[nn.Module] = [nn.ReLU() for _ in linear[1:]]
    return nn.Sequential(*(layer for pair in zip(linear, [*between, last], strict=True) for layer in pair))


def _lost(net: VaDE, batch: torch.Tensor) -> torch.Tensor:
    return binary_cross_entropy_with_logits(net(batch), batch, reduction="none").sum(dim=1).mean()


def _train(net: VaDE, x: torch.Tensor, loss, epochs: int, *, rate: float, progress: bool) -> None:
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.9)
    for epoch in range(epochs):
        total = 0.0
        for batch in _batches(x):
            optimizer.zero_grad()
            value = loss(batch)
            value.backward()
            optimizer.step()
            total += value.item() * len(batch)
        schedule.step()
        if progress:
            print(f"epoch {epoch + 1} of {epochs}: loss {total / len(x):.2f}", flush=True)


def _batches(x: torch.Tensor) -> Iterator[torch.Tensor]:
    for rows in torch.split(torch.randperm(len(x)), BATCH):
        yield x[rows]


@torch.no_grad()
def _begin_with_mixture(net: VaDE, x: torch.Tensor, n_clusters: int, seed: int) -> None:
    latents = net.mean(net.encoder(x)).numpy()
    mixture = GaussianMixture(n_clusters, covariance_type="diag", n_init=5, random_state=seed).fit(latents)
    net.logits.copy_(torch.from_numpy(np.log(mixture.weights_)))
    net.centers.copy_(torch.from_numpy(mixture.means_))
    net.log_spreads.copy_(torch.from_numpy(np.log(mixture.covariances_)))
