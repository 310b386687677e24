"""Gaps between neighbouring means, axis by axis, and the threshold that cuts least weight off the components.

The components of a node stand at the positions `start` to `stop - 1` of each axis' order. A cut moves the components on
its left to the front and keeps the order within both sides, so that the components of a child are such a range too::

    order on axis j    5  0  3 | 1  4  2        after a cut that has 3, 4 and 5 on its left    5  3  4 | 0  1  2

The means are in ascending order. A threshold in gap g, between means g and g + 1, leaves the first g + 1 means on its
left. Each component loses a fraction of its weight p, which falls with the distance between mean and threshold. The
loss of the threshold is the sum over the components::

    means    m_0     m_1              m_2        in gap 1 the loss is
              |       |       ^        |         f_0(x - m_0) + f_1(x - m_1) + f_2(m_2 - x)
                              x

    TAILS       f = p Φ(-t), t = distance / deviation    convex in each gap
    CHEBYSHEV   f = p / t²                               convex in each gap
    GAUSSIAN    f = p exp(-t² / 2)                       convex for t >= 1 only
    CANTELLI    f = p / (1 + t²)                         convex for t >= 1 / sqrt(3) only

Losses and slopes are added as logarithms, so that the minimum is found even where the loss is too small for a double.

Over a run of gaps, the loss is bounded from below by the loss at the greatest distance that each component can have
from a threshold of the run. A run is halved, the half with the lower bound first. A run that cannot hold the minimum by
its bound is skipped.
"""

from math import erfc

import numpy as np

from boxwood.loops.jit import jit


@jit
def widest_gaps(columns, order, start, stop, gaps, ranges):
    """Write for each axis the widest gap between neighbouring means of a node, and the range of all of them.

    IN: columns (d, k): means by axis; order (d, k): components by ascending mean; start, stop: the node's positions.
    OUT: gaps, ranges (d,).
    """
    for j in range(columns.shape[0]):
        first = columns[j, order[j, start]]
        last, widest = first, 0.0
        for p in range(start + 1, stop):
            value = columns[j, order[j, p]]
            widest = max(widest, value - last)
            last = value
        gaps[j], ranges[j] = widest, last - first


@jit
def partition_components(order, start, stop, is_left, scratch):
    """Move the components on the left to the front of a node's positions on every axis; both sides keep their order.

    IN: start, stop: the node's positions; is_left (k,), by component. IN and OUT: order (d, k). OUT: scratch (k,).
    """
    for j in range(order.shape[0]):
        next_left, n_right = start, 0
        for p in range(start, stop):
            component = order[j, p]
            if is_left[component]:
                order[j, next_left] = component
                next_left += 1
            else:
                scratch[n_right] = component
                n_right += 1
        order[j, next_left:stop] = scratch[:n_right]


TAILS, CHEBYSHEV, GAUSSIAN, CANTELLI = 0, 1, 2, 3
FAR = 30.0  # deviations beyond which erfc is near the smallest double, and its series is exact to 1e-11
VERY_FAR = 1e9  # deviations t beyond which 1 + t² equals t² to the last digit; the square of t may overflow
PER_OCTAVE = 4  # points of the grid for each halving of the distance to an end of the gap
MARGIN = 1e-9  # a run is skipped only if its bound exceeds the best loss by this much, as less may be rounding


@jit
def gap_minima(means, log_weights, deviations, objective, thresholds, scores):
    """Write for each gap the threshold of least loss, and the logarithm of that loss; inf for a gap that was skipped.

    A threshold of gap g lies in [m_g, m_(g+1)). Takes time k for each bound of a run, of which there are log k at best
    and 2 k at most, and time k for each of about 100 points in each gap that is searched.

    IN: means (k,), ascending; log_weights (k,); deviations (k,), at least one above 0; objective: TAILS, CHEBYSHEV,
    GAUSSIAN or CANTELLI. OUT: thresholds, scores (k - 1,).
    """
    terms = (means, log_weights, deviations, np.log(deviations), objective)
    finest = _smallest_above_zero(deviations)
    scores[:] = np.inf
    stack = np.empty((130, 2), dtype=np.int64)  # first and last gap of each run, halved 64 times at most
    bounds = np.empty(130)
    stack[0, 0], stack[0, 1], bounds[0] = 0, len(scores) - 1, -np.inf
    best, n_waiting = np.inf, 1
    while n_waiting > 0:
        n_waiting -= 1
        first, last, bound = stack[n_waiting, 0], stack[n_waiting, 1], bounds[n_waiting]
        if bound > best + MARGIN * max(1.0, abs(best)):
            continue
        if first == last:
            if means[first] < means[first + 1]:
                thresholds[first], scores[first] = _gap_minimum(terms, first, finest)
                best = min(best, scores[first])
            continue
        middle = (first + last) // 2
        low = log_loss(terms, means[first], means[middle + 1])
        high = log_loss(terms, means[middle + 1], means[last + 1])
        swapped = low <= high  # the lower half on top
        stack[n_waiting + swapped, 0], stack[n_waiting + swapped, 1] = first, middle
        stack[n_waiting + 1 - swapped, 0], stack[n_waiting + 1 - swapped, 1] = middle + 1, last
        bounds[n_waiting + swapped], bounds[n_waiting + 1 - swapped] = low, high
        n_waiting += 2


@jit
def _smallest_above_zero(values):
    smallest = np.inf
    for value in values:
        if value > 0.0:
            smallest = min(smallest, value)
    return smallest


@jit
def _gap_minimum(terms, g, finest):
    """Return the threshold of gap g with the least loss, and the logarithm of that loss.

    Candidates are both ends of the gap and the points where the slope turns from falling to rising. If the loss is not
    convex, the slope is computed on a grid, which is fine near both means: down to 1/64 of `finest`, the smallest
    deviation above 0.
    """
    means, objective = terms[0], terms[4]
    low, high = means[g], np.nextafter(means[g + 1], -np.inf)
    octaves = 0.0
    if objective in (GAUSSIAN, CANTELLI):  # not convex
        octaves = min(60.0, max(3.0, np.ceil(np.log2(64.0 * (high - low) / finest))))
    half = int(PER_OCTAVE * octaves)
    best, score = low, log_loss(terms, low, low)
    previous, falls = low, True
    for i in range(2 * half + 1):
        point = high if i == 2 * half else _grid_point(low, means[g + 1], i, half)
        if not previous < point <= high:
            continue
        rises = point == high or _slope(terms, point) >= 0.0
        candidate = _turning_point(terms, previous, point) if falls and rises else point
        value = log_loss(terms, candidate, candidate)
        if value < score:
            best, score = candidate, value
        previous, falls = point, not rises
    return best, score


@jit
def _grid_point(low, high, i, half):
    """Return point i of a grid of `2 half` points, whose distances to the nearer end shrink by powers of 2."""
    if i < half:
        return low + (high - low) * 2.0 ** ((i + 1 - half) / PER_OCTAVE - 1.0)
    return high - (high - low) * 2.0 ** ((half - 1 - i) / PER_OCTAVE - 1.0)


@jit
def _turning_point(terms, low, high):
    """Return the point of [low, high] where the slope turns from negative to positive, by bisection.

    Bisection goes on to neighbouring doubles, of which the one with the lower loss is taken.
    """
    while True:
        middle = _middle(low, high)
        if not low < middle < high:
            return low if log_loss(terms, low, low) < log_loss(terms, high, high) else high
        slope = _slope(terms, middle)
        if slope == 0.0:
            return middle
        if slope < 0.0:
            low = middle
        else:
            high = middle


@jit
def log_loss(terms, low, high):
    """Return a lower bound on the logarithm of the loss in [low, high]; it is the logarithm itself if low equals high.

    IN: terms: a tuple of means, log_weights, deviations, log_deviations (k,), and objective.
    """
    means, log_weights, deviations, log_deviations, objective = terms
    largest, total = -np.inf, 0.0
    for c in range(len(means)):
        distance = max(high - means[c], means[c] - low)
        term = log_weights[c] + _log_fraction(distance, deviations[c], log_deviations[c], objective)
        if term == np.inf:
            return np.inf
        if term > largest:
            total = total * np.exp(largest - term) + 1.0
            largest = term
        elif term > -np.inf:
            total += np.exp(term - largest)
    return largest + np.log(total) if total > 0.0 else -np.inf


@jit
def _log_fraction(distance, deviation, log_deviation, objective):
    """Return the logarithm of the fraction of a component's weight beyond a cut at a distance from its mean."""
    if deviation == 0.0:
        return -np.inf
    t = distance / deviation
    if objective == CHEBYSHEV:
        return 2.0 * (log_deviation - np.log(distance)) if distance > 0.0 else np.inf
    if objective == GAUSSIAN:
        return -0.5 * t * t
    if objective == CANTELLI:
        return -np.log1p(t * t) if t < VERY_FAR else 2.0 * (log_deviation - np.log(distance))
    if t < FAR:
        return np.log(0.5 * erfc(t * np.sqrt(0.5)))
    u = 1.0 / (t * t)
    series = 1.0 - u * (1.0 - u * (3.0 - u * (15.0 - 105.0 * u)))
    return -0.5 * t * t - np.log(t) - 0.5 * np.log(2.0 * np.pi) + np.log(series)


@jit
def _slope(terms, point):
    """Return the slope of the loss at a point between means, divided by its largest term; 0 if every term is 0."""
    means, log_weights, deviations, log_deviations, objective = terms
    largest, total = -np.inf, 0.0
    for c in range(len(means)):
        distance = abs(point - means[c])
        if deviations[c] == 0.0 or distance == 0.0:
            continue
        t = distance / deviations[c]
        if objective == CHEBYSHEV:
            steepness = 2.0 * log_deviations[c] - 3.0 * np.log(distance)
        elif objective == GAUSSIAN:
            steepness = -0.5 * t * t + np.log(t) - log_deviations[c] if t < np.inf else -np.inf
        elif objective == CANTELLI and t < VERY_FAR:
            steepness = np.log(2.0 * t) - 2.0 * np.log1p(t * t) - log_deviations[c]
        elif objective == CANTELLI:
            steepness = np.log(2.0) + 2.0 * log_deviations[c] - 3.0 * np.log(distance)
        else:
            steepness = -0.5 * t * t - log_deviations[c]
        term = log_weights[c] + steepness
        sign = -1.0 if means[c] < point else 1.0
        if term > largest:
            total = total * np.exp(largest - term) + sign
            largest = term
        elif term > -np.inf:
            total += sign * np.exp(term - largest)
    return total


@jit
def _middle(low, high):
    middle = 0.5 * (low + high)
    return middle if abs(middle) < np.inf else 0.5 * low + 0.5 * high
