"""The costs of the cheapest prunings of a tree, for every number of leaves of every node.

The costs of a node with 1, 2, … leaves are stored from `starts[node]` on, one for each leaf below the node.
"""

import numpy as np

from boxwood.loops.jit import jit

__all__ = ["cheapest_prunings"]

MOST = np.iinfo(np.int64).max


@jit
def cheapest_prunings(second, below, starts, alone, costs, on_first):
    """Write the lowest cost of each node with every number of leaves, and the leaves on its first side; 0 for a leaf.

    Of equal costs the one with the fewest leaves on the first side is taken.

    IN: second, below (leaves below it), starts, alone (cost as a leaf), all (n_nodes,). OUT: costs, on_first, flat.
    """
    for node in range(len(below) - 1, -1, -1):  # in pre-order, children come after their parent
        at = starts[node]
        costs[at] = alone[node]
        on_first[at] = 0
        if below[node] == 1:
            continue
        first_child, second_child = node + 1, second[node]
        for place in range(at + 1, at + below[node]):
            costs[place] = MOST
        for a in range(1, below[first_child] + 1):
            cost = costs[starts[first_child] + a - 1]
            for b in range(1, below[second_child] + 1):
                cost_of_both = cost + costs[starts[second_child] + b - 1]
                if cost_of_both < costs[at + a + b - 1]:
                    costs[at + a + b - 1] = cost_of_both
                    on_first[at + a + b - 1] = a
