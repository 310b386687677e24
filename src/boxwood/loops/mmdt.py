"""Gaps between neighbouring means, axis by axis, in an order that is sorted once and partitioned at every cut.

The components of a node stand at the positions `start` to `stop - 1` of each axis' order. A cut moves the components on
its left to the front and keeps the order within both sides, so that the components of a child are such a range too::

    order on axis j    5  0  3 | 1  4  2        after a cut that has 3, 4 and 5 on its left    5  3  4 | 0  1  2
"""

from boxwood.loops._jit import jit

__all__ = ["partition", "widest_gaps"]


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
def partition(order, start, stop, is_left, scratch):
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
