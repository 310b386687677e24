"""Refinement, one level of a tree at a time: what each row would cost on the other side, and the best cut of each node.

Nodes of one level hold different rows, so one pass over the rows serves them all. `at[level]` says for each row its
node at that level; a row without one, as its leaf lies above or it is left out, has the number `n_nodes`. Arrays by
node have an entry more, for these rows.

Costs are whole numbers, so sums are exact: they depend neither on the order of equal values nor on threads.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = [
    "BEST",
    "LAST",
    "LEFT",
    "LOWEST",
    "RIGHT",
    "SUM",
    "add_largest",
    "best_cuts",
    "count_leaves",
    "move_rows",
    "other_leaves",
    "place_rows",
    "set_differences",
]

SUM, BEST, LOWEST, LAST, LEFT, RIGHT = range(6)  # of a node while a column is walked; see `best_cuts`


@jit
def place_rows(X, kept, feature, lower, upper, second, at, leaf, start, stop):
    """Write the node of each row at each level, and its leaf; rows that are not kept have none.

    IN: X (n, d); kept (n,); feature, lower, upper, second (n_nodes,), in pre-order; start, stop: rows to be placed.
    OUT: at (n_levels, n); leaf (n,).
    """
    nowhere = len(feature)
    for row in range(start, stop):
        at[:, row] = nowhere
        leaf[row] = nowhere
        if kept[row]:
            leaf[row] = _walk_down(X[row], 0, 0, feature, lower, upper, second, at, row)


@jit
def _walk_down(x, node, level, feature, lower, upper, second, at, row):
    """Write the nodes of a row from one node on, and return its leaf."""
    while True:
        at[level, row] = node
        if feature[node] < 0:
            return node
        level += 1
        node = node + 1 if lower[node] <= x[feature[node]] <= upper[node] else second[node]


@jit
def other_leaves(X, at, below, active, feature, lower, upper, second, cluster, leaf, own, other, other_cost, rows):
    """Write the leaf that each row of an active node would reach from the node's other side; return how many are new.

    A leaf of the same cluster as the row's own costs the same. The numbers of the other rows are written to `rows`:
    their costs are still to be found.

    IN: X (n, d); at, below (n,): nodes at a level and at the next; active (n_nodes + 1,); feature, lower, upper, second,
    cluster (n_nodes,); leaf (n,); own (n,): cost of each row in its leaf. OUT: other, other_cost (n,); rows (n,).
    """
    count = 0
    for row in range(len(at)):
        node = at[row]
        if not active[node]:
            continue
        x, side = X[row], second[node] if below[row] == node + 1 else node + 1
        while feature[side] >= 0:
            side = side + 1 if lower[side] <= x[feature[side]] <= upper[side] else second[side]
        other[row] = side
        if cluster[side] == cluster[leaf[row]]:
            other_cost[row] = own[row]
        else:
            rows[count] = row
            count += 1
    return count


@jit
def add_largest(at, active, own, other_cost, times, sums):
    """Add to each active node the larger cost of each of its rows, which says how costs are scaled there.

    IN: at (n,); active (n_nodes + 1,); own, other_cost, times (n,). OUT: sums (n_nodes + 1,).
    """
    for row in range(len(at)):
        node = at[row]
        if active[node]:
            sums[node] += max(own[row], other_cost[row]) * times[row]


@jit
def set_differences(at, below, active, own, other_cost, times, scales, difference, sums):
    """Write how much more each row costs on the first side of its node than on the second, as a whole number.

    IN: at, below (n,); active (n_nodes + 1,); own, other_cost, times (n,); scales (n_nodes + 1,).
    IN and OUT: difference (n,): those found before, 0 for rows that are new in their node.
    OUT: sums (n_nodes + 1, 3): the sum of differences over the first side; the sum of what differences have fallen;
    the number of rows on their dearer side.
    """
    for row in range(len(at)):
        node = at[row]
        if not active[node]:
            continue
        scale, is_first = scales[node], below[row] == node + 1
        here, there = np.int64(np.rint(own[row] * scale)), np.int64(np.rint(other_cost[row] * scale))
        change = (here - there if is_first else there - here) * times[row]
        sums[node, 1] += max(difference[row] - change, 0)
        difference[row] = change
        if is_first:
            sums[node, 0] += change
        sums[node, 2] += here > there


@jit
def best_cuts(X, column, order, at, wanted, difference, states):
    """Find the smallest sum of differences over the first side of a cut in one column, for all wanted nodes at once.

    A cut lies between two different values. Only sums below the one that is there to begin with are looked at, and the
    first of equal ones stays.

    IN: X (n, d); column; order (m,): rows in the order of the column; at (n,); wanted (n_nodes + 1,); difference (n,).
    IN and OUT: states (n_nodes + 1, 6): SUM 0; BEST: the sum to be undercut; LOWEST: 0; LAST: -1; LEFT, RIGHT: -1.
    Afterwards BEST is the smallest sum, LEFT and RIGHT are rows next to its cut (-1 if none is better); LOWEST is the
    smallest sum over the first rows in this order, none and all of them included.
    """
    for row in order:
        node = at[row]
        if not wanted[node]:
            continue
        state = states[node]
        total = state[SUM]
        if total < state[BEST] and state[LAST] >= 0 and X[state[LAST], column] != X[row, column]:
            state[BEST], state[LEFT], state[RIGHT] = total, state[LAST], row
        state[LAST] = row
        total += difference[row]
        state[SUM] = total
        state[LOWEST] = min(state[LOWEST], total)


@jit
def count_leaves(X, at, below, chosen, feature, upper, leaf, other, counts):
    """Count the rows of each leaf below the chosen nodes, under the cuts that they have and under others.

    IN: X (n, d); at, below (n,); chosen (n_nodes + 1,); feature, upper (n_nodes,): the other cuts; leaf, other (n,).
    OUT: counts (n_nodes + 1, 2).
    """
    for row in range(len(at)):
        node = at[row]
        if chosen[node]:
            stays = (X[row, feature[node]] <= upper[node]) == (below[row] == node + 1)
            counts[leaf[row], 0] += 1
            counts[leaf[row] if stays else other[row], 1] += 1


@jit
def move_rows(
    X, at, level, chosen, feature, lower, upper, second, other, other_cost, leaf, own, differences, fallen, moved
):
    """Move rows whose node has a new cut and that are on its wrong side, down to the leaf of the right side.

    A row that leaves a node takes its difference with it, and comes to other nodes with none.

    IN: X (n, d); level; chosen (n_nodes + 1,): nodes with new cuts; feature, lower, upper, second (n_nodes,): the tree
    with the new cuts; other, other_cost (n,).
    IN and OUT: at (n_levels, n); leaf, own (n,); differences (n_kept, n): those of the first levels.
    OUT: fallen (n_nodes + 1,): by how much differences have fallen; moved (n_nodes + 1,): True for nodes that rows have
    left or entered.
    """
    for row in range(at.shape[1]):
        node = at[level, row]
        if not chosen[node]:
            continue
        x = X[row]
        child = node + 1 if x[feature[node]] <= upper[node] else second[node]
        below = level + 1
        if at[below, row] == child:
            continue
        while below < at.shape[0] and at[below, row] < len(feature):
            left = at[below, row]
            moved[left] = True
            if below < differences.shape[0]:
                fallen[left] += max(differences[below, row], 0)
                differences[below, row] = 0
            at[below, row] = len(feature)
            below += 1
        leaf[row] = _walk_down(x, child, level + 1, feature, lower, upper, second, at, row)
        own[row] = other_cost[row]
        below = level + 1
        while below < at.shape[0] and at[below, row] < len(feature):
            moved[at[below, row]] = True
            below += 1
