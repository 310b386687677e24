"""The cheapest prunings of a tree, for every number of leaves of every node.

What a node costs with 1, 2, … leaves stands side by side, from `starts[node]` on: as many numbers as leaves below it.
"""

import numpy as np

from boxwood.loops._jit import jit

__all__ = ["add_by_leaf", "name_leaves", "share_out"]

MOST = np.iinfo(np.int64).max


@jit
def add_by_leaf(costs, leaves, leaf_nodes, sums):
    """Add the costs of rows at the nodes of their leaves. IN: costs (m, k); leaves (m,). OUT: sums (n_nodes, k)."""
    for row in range(len(leaves)):
        node = leaf_nodes[leaves[row]]
        for cluster in range(costs.shape[1]):
            sums[node, cluster] += costs[row, cluster]


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


@jit
def name_leaves(second, below, starts, on_first, clusters, first_leaf, sizes, nodes, shares, named):
    """Write the cluster of each leaf of the whole tree in the cheapest pruning of each size.

    IN: as above; clusters (n_nodes,): the cheapest of each node; first_leaf (n_nodes,): the first leaf below it; sizes
    (s,). OUT: nodes, shares (n_leaves + 1,): room to work in; named (s, n_leaves).
    """
    for i in range(len(sizes)):
        nodes[0] = 0
        shares[0] = sizes[i]
        waiting = 1
        while waiting:
            waiting -= 1
            node, leaves = nodes[waiting], shares[waiting]
            first = on_first[starts[node] + leaves - 1]
            if first == 0:
                for leaf in range(first_leaf[node], first_leaf[node] + below[node]):
                    named[i, leaf] = clusters[node]
                continue
            nodes[waiting] = second[node]
            shares[waiting] = leaves - first
            nodes[waiting + 1] = node + 1
            shares[waiting + 1] = first
            waiting += 2
