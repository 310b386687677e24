"""Refinement: what is known of the nodes of a level, from which follows where better cuts may be.

Nodes are few, so each of these loops is over in a few microseconds; the same in whole arrays would take ten times as
long. Arrays by node have an entry more than there are nodes; see `loops/refine.py`.
"""

import math

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["find_wanted", "part_by_size", "rows_at", "write_scales"]


@jit
def rows_at(nodes, at, rows):
    """Write the rows that are at some nodes, ascending, and return their number.

    IN: nodes (n_nodes + 1,): whether each is one of them; at (n,). OUT: rows (n,).
    """
    count = np.uint64(0)
    for row in range(len(at)):
        rows[count] = row
        count += np.uint64(1) if nodes[np.uint64(at[row])] else np.uint64(0)
    return np.int64(count)


@jit
def write_scales(nodes, sums, error, scales, anew, in_doubt):
    """Write the factor of `whole_costs` for some nodes, by plain sums of their rows' largest costs.

    Returns whether a factor has changed, and whether some sum leaves a doubt; then its factor stays.

    IN: nodes (m,); sums (n_nodes + 1,); error: a relative one that the sums do not reach. IN and OUT: scales
    (n_nodes + 1,). OUT: anew, in_doubt (n_nodes + 1,): set for nodes of either kind.
    """
    some_new, some_in_doubt = False, False
    for node in nodes:
        exponent = math.frexp(sums[node] * (1 - error))[1]
        if exponent != math.frexp(sums[node] * (1 + error))[1]:
            in_doubt[node] = some_in_doubt = True
            continue
        scale = math.ldexp(1.0, min(61 - exponent, 1023))
        if scale != scales[node]:
            scales[node], anew[node], some_new = scale, True, True
    return some_new, some_in_doubt


@jit
def find_wanted(nodes, anew, sums, may_cut, unknown, lowest, fallen, current, wanted):
    """Bound the sums of each node anew, and find the columns in which it may have a better cut.

    IN: nodes (m,); anew (n_nodes + 1,): whether nothing is known of a node; sums: see `refine.set_differences`; may_cut
    (d,); unknown: a bound that says nothing. IN and OUT: lowest (n_nodes + 1, d): no sum over the first rows of a
    column was below; fallen (n_nodes + 1,): by how much these may have fallen since, 0 afterwards. OUT: current
    (n_nodes + 1,): the sum that the cut has; wanted (n_nodes + 1, d).
    """
    for node in nodes:
        current[node], fall, is_wrong = sums[node, 0], fallen[node] + sums[node, 1], sums[node, 2] > 0
        fallen[node] = 0
        for j in range(len(may_cut)):
            lowest[node, j] = unknown if anew[node] else max(lowest[node, j] - fall, unknown)
            wanted[node, j] = is_wrong and may_cut[j] and lowest[node, j] < current[node]


@jit
def part_by_size(wanted, n_rows, least, large, small):
    """Part the nodes that want any column by their rows; return the number of large ones, and whether any is small.

    IN: wanted (n_nodes + 1, d); n_rows (n_nodes + 1,); least: rows of a large one. OUT: large (n_nodes + 1,): the large
    ones, ascending; small (n_nodes + 1, d): what the others want.
    """
    n_large, any_small = 0, False
    for node in range(len(n_rows)):
        is_large, any_wanted = n_rows[node] >= least, False
        for j in range(wanted.shape[1]):
            any_wanted = any_wanted or wanted[node, j]
            small[node, j] = wanted[node, j] and not is_large
        any_small = any_small or (any_wanted and not is_large)
        if any_wanted and is_large:
            large[n_large] = node
            n_large += 1
    return n_large, any_small
