"""The costs of the cheapest prunings of a tree, for every number of leaves of every node.

What a node costs with 1, 2, … leaves stands side by side, from `starts[node]` on: as many numbers as leaves below it.
"""

import numpy as np

from boxwood.loops.jit import jit

__all__ = ["share_out"]

MOST = np.iinfo(np.int64).max


@jit
def share_out(second, below, starts, alone, costs, on_first):
    """Write what each node costs with any number of leaves, and how many of them are on its first side; 0 for a leaf.

    Of equal costs the one with few leaves on the first side is taken.

    IN: second, below (leaves below it), starts, alone (cost as a leaf), all (n_nodes,). OUT: costs, on_first, flat.
    """
    for node in range(len(below) - 1, -1, -1):  # in pre-order, children come after their parent
        at = starts[node]
        costs[at] = alone[node]
        on_first[at] = 0
        if below[node] == 1:
            continue
        one, two = node + 1, second[node]
        for place in range(at + 1, at + below[node]):
            costs[place] = MOST
        for a in range(1, below[one] + 1):
            cost = costs[starts[one] + a - 1]
            for b in range(1, below[two] + 1):
                both = cost + costs[starts[two] + b - 1]
                if both < costs[at + a + b - 1]:
                    costs[at + a + b - 1] = both
                    on_first[at + a + b - 1] = a
