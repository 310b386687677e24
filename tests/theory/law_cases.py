"""Laws of rows around the means of a mixture, as bad for a tree as the variances allow, with exact errors and costs."""

import numpy as np

from boxwood import Mixture
from boxwood.metrics import mixture_price


class Atoms:
    """Rows with weights: each row is at its mean, or off it on a single axis.

    On axis j a row of component c is off by `jumps[c, j]` or minus that (times `lean[c, j]`, if the law leans), with
    the chance that gives it mean 0 and the mixture's variance. At most one axis is off at a time, so the chances of
    wrong leaves add up as in the union bound.
    """

    def __init__(self, mixture, jumps, lean):
        k, d = mixture.means.shape
        # up by s with chance p, down by s * lean with chance p / lean: mean 0, variance p s² (1 + lean)
        self.up = mixture.variances / (jumps**2 * (1 + lean))
        self.down = self.up / lean
        self.rest = 1 - (self.up + self.down).sum(axis=1)
        self.mixture, self.jumps, self.lean = mixture, jumps, lean
        steps = np.zeros((k, 2 * d + 1, d))
        each = np.arange(d)
        steps[:, each, each], steps[:, d + each, each] = jumps, -jumps * lean
        self.steps = steps
        points = mixture.means[:, None, :] + steps
        self.points = points.reshape(-1, d)
        self.labels = np.repeat(np.arange(k), 2 * d + 1)
        self.weights = (mixture.weights[:, None] * np.column_stack([self.up, self.down, self.rest])).ravel()

    @property
    def exists(self):
        return bool((self.rest >= 0).all())

    def error(self, tree):
        return float(self.weights[tree.predict(self.points) != self.labels].sum())

    def price(self, tree, power):
        """Return the price with the means as centres, for distances (1) or squared distances (2)."""
        means = self.mixture.means
        off = np.abs(self.steps.reshape(self.points.shape)) ** power
        away = np.abs(self.points - means[tree.predict(self.points)]) ** power
        return float(self.weights @ away.sum(axis=1)) / float(self.weights @ off.sum(axis=1))

    def beta(self):
        """Return the largest ratio over axes of the largest standard deviation to the mean absolute deviation."""
        absolute = self.mixture.weights @ (self.up * self.jumps + self.down * self.jumps * self.lean)
        return float((np.sqrt(self.mixture.variances.max(axis=0)) / absolute).max())

    def proxies(self):
        """Return the smallest sigmas with P(|x - mean| >= s) <= 2 exp(-s² / 2 sigma²) for all s, for each axis."""
        far, near = self.jumps * np.maximum(1, self.lean), self.jumps * np.minimum(1, self.lean)
        chance_far = np.where(self.lean >= 1, self.down, self.up) + np.where(self.lean == 1, self.up, 0)
        ends = [far**2 / (2 * np.log(2 / chance_far)), near**2 / (2 * np.log(2 / (self.up + self.down)))]
        return np.sqrt(np.max(ends, axis=(0, 1))) * (1 + 1e-9)


def means_at_cuts(tree, mixture):
    """Yield each cut of a tree, and the components whose means reach it."""
    stack = [(0, np.arange(mixture.n_components))]
    while stack:
        node, components = stack.pop()
        if tree.feature[node] >= 0:
            yield node, components
            left = mixture.means[components, tree.feature[node]] <= tree.upper[node]
            stack += [(node + 1, components[left]), (int(tree.second[node]), components[~left])]


def jumps_across(tree, mixture, hair=1e-9):
    """Return for each component and axis the distance to the nearest threshold that the mean meets on its way.

    Without a threshold it is large. A row that is off by that much is in a wrong leaf.
    """
    k, d = mixture.means.shape
    jumps = np.full((k, d), np.inf)
    for node, components in means_at_cuts(tree, mixture):
        j = int(tree.feature[node])
        distance = np.abs(mixture.means[components, j] - tree.upper[node]) * (1 + hair)
        distance = np.maximum(distance, 1e-3 * np.sqrt(mixture.variances[components, j]))
        jumps[components, j] = np.minimum(jumps[components, j], distance)
    far = 10 * np.sqrt(d * mixture.variances) + 10 * np.ptp(mixture.means)
    return np.where(np.isfinite(jumps), jumps, far)


def crowded(k, width):
    """Return a mixture whose means crowd right behind the largest gap of each step, with an axis for each pair.

    The pairs keep the explainability-to-noise ratio near width². Variances are 1.
    """
    axes = []
    for j in range(k - 1):
        n = k - j - 1
        crowd = max(1, n // 3)
        steps = np.concatenate([np.ones(crowd), 1 + 0.9999 * np.arange(1, n - crowd + 1)])[:n]
        axis = np.full(k, width / 2)
        axis[j], axis[j + 1 :] = 0, steps / steps.max() * width
        axes.append(axis)
    for a in range(k):
        for b in range(a):
            axis = np.full(k, width / 2 * 0.999)
            axis[a], axis[b] = 0, width * 0.999
            axes.append(axis)
    means = np.array(axes).T
    return Mixture(np.ones(k), means, np.ones_like(means))


def crowded_similarities(step):
    """Return a mixture of points whose similarities crowd right behind the largest gap, for a Gaussian kernel of 1.

    On the first axis the similarities to either end come in steps below `step`, up to a gap of it with a crowd behind;
    an axis for each pair keeps the axis-aligned similarity tau near that of the ends.
    """

    def similarity(x):
        return np.exp(-x * x)

    far = 0.8
    last = np.sqrt(-np.log(similarity(far) + step))
    points = [0.0]
    while not _is_close(similarity, points[-1], last, far, step):
        low, high = points[-1], last
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if _is_close(similarity, points[-1], middle, far, step) else (low, middle)
        points.append(low)
    crowd = last + 1e-7 * np.arange(len(points) + 1) - 1e-7 * (len(points) + 1)
    first = np.concatenate([points, crowd, [far]])
    k, apart = len(first), np.sqrt(-np.log(similarity(far) + 1e-9))
    axes = [first]
    for a in range(k):
        for b in range(a):
            axis = np.full(k, apart / 2)
            axis[a], axis[b] = 0, apart
            axes.append(axis)
    means = np.array(axes).T
    return Mixture(np.ones(k), means, np.full_like(means, 1e-12), law="gaussian")


def _is_close(similarity, x, y, far, step):
    near, back = similarity(x) - similarity(y), similarity(far - y) - similarity(far - x)
    return max(near, back) <= 0.999 * step


def gaussian_price(mixture, tree, objective):
    return mixture_price(mixture, tree, objective=objective, centers="reference").value
