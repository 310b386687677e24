"""Gaps between neighbouring means, axis by axis, in an order that is sorted once and partitioned at every cut.

The node's components hold the places from `start` to `stop` in each axis' order. A cut puts those on its left first and
keeps the order among the others, so that both children are such ranges too::

    order on axis j    5  0  3 | 1  4  2        after a cut that has 3, 4 and 5 on its left    5  3  4 | 0  1  2
"""

from boxwood.loops._jit import jit

__all__ = ["partition", "widest_gaps"]


@jit
def widest_gaps(columns, order, start, stop, gaps, ranges):
    """Write for each axis the widest gap between neighbouring means of a node, and the range of all of them.

    IN: columns (d, k): means by axis; order (d, k): components by ascending mean; start, stop: the node's places.
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
    """Bring the components on the left to the front of a node's places on every axis; both sides keep their order.

    IN: start, stop; is_left (k,), by component. OUT: order (d, k), in place; scratch (k,).
    """
    for j in range(order.shape[0]):
        place, n_right = start, 0
        for p in range(start, stop):
            component = order[j, p]
            if is_left[component]:
                order[j, place] = component
                place += 1
            else:
                scratch[n_right] = component
                n_right += 1
        order[j, place:stop] = scratch[:n_right]
