"""IMM on tables of numbers, words and gaps, counted row by row: what a tally's tree must be."""

from functools import partial
from itertools import chain, combinations

import numpy as np

LARGEST = np.finfo(np.float64).max


def questions(values, kind, edges, centers, shares):
    """Yield lists of (lower, upper, edge, yes(value), is_yes(cluster)), each in the order of its edges.

    `kind` is None for numbers, or (words in the order of their codes, whether these have an order). `shares(yes)` is
    the share of the values of each cluster that answer yes.
    """
    if kind is not None and not kind[1]:
        for code, word in enumerate(kind[0]):
            yield _by_share(code, code, shares, lambda value, word=word: value == word)
        return
    known = (lambda value: value) if kind is None else kind[0].index
    last = LARGEST if kind is None else sum(word is not None for word in kind[0]) - 1
    edges = [edge for edge in edges if edge < (np.inf if kind is None else last)]

    def up_to(value, edge):
        return value is not None and known(value) <= edge

    def above(value, edge):
        return value is not None and known(value) > edge

    yield [(-np.inf, e, e, partial(up_to, edge=e), lambda c, e=e: centers[c] <= e) for e in edges]
    if any(value is None for value in values):
        yield [(np.nextafter(e, np.inf), last, e, partial(above, edge=e), lambda c, e=e: centers[c] > e) for e in edges]
        yield _by_share(-np.inf, last, shares, lambda value: value is not None)


def _by_share(lower, upper, shares, yes):
    own = shares(yes)
    return [(lower, upper, edge, yes, lambda c, edge=edge: own[c] > edge) for edge in sorted(set(own))[:-1]]


def best_set(words, rows, inside):
    """Return the mistakes of the best set of words, and the set; or None if it would take all rows or none.

    IN: words, all in the order of their codes; rows, pairs of (word, cluster); inside, the clusters of the first side.
    """
    tally = {word: [0, 0] for word in words}
    for word, cluster in rows:
        tally[word][cluster not in inside] += 1
    chosen = {word for word, (own, others) in tally.items() if own > others}
    if not chosen or all(own >= others for own, others in tally.values()):
        return None

    def mistakes(some):
        return sum((word in some) != (cluster in inside) for word, cluster in rows)

    subsets = chain.from_iterable(combinations(words, size) for size in range(len(words) + 1))
    assert mistakes(chosen) == min(map(mistakes, subsets))
    n_first = sum(word in chosen for word, _ in rows)
    unheld = {word for word, both in tally.items() if both == [0, 0] and 2 * n_first > len(rows)}
    return mistakes(chosen), tuple(code for code, word in enumerate(words) if word in chosen | unheld)


def imm(rows, labels, centers, edges, kinds):
    """Return nested cuts (column, lower, upper, inside, outside) with the fewest mistakes; None for equal centres.

    For a set of words it is (column, codes, inside, outside).

    IN: rows, tuples of values, None for a missing one; labels from 0, of rows with a value; centers (k, d); edges, of
    each column; kinds, of each column, see `questions`.
    """
    k = len(centers)

    def shares(j):
        def of(yes):
            asked = [[yes(row[j]) for row, label in zip(rows, labels, strict=True) if label == c] for c in range(k)]
            return [sum(each) / max(len(each), 1) for each in asked]

        return of

    asked = []
    for j, kind in enumerate(kinds):
        values, own = [row[j] for row in rows], [center[j] for center in centers]
        asked += [(j, kind, group) for group in questions(values, kind, edges[j], own, shares(j))]
    return _node(list(zip(rows, labels, strict=True)), asked, list(range(k)))


def _node(rows, asked, clusters):
    if len(clusters) == 1:
        return clusters[0]
    found, sets = {}, {}
    rows = [(row, label) for row, label in rows if label in clusters]
    for place, (j, kind, group) in enumerate(asked):
        for i, (_, _, _, yes, is_yes) in enumerate(group):
            inside = [c for c in clusters if is_yes(c)]
            if 0 < len(inside) < len(clusters):
                mistakes = sum(yes(row[j]) != (label in inside) for row, label in rows)
                of_words = kind is not None and not kind[1]
                better = best_set(kind[0], [(row[j], label) for row, label in rows], inside) if of_words else None
                if better is not None and better[0] < mistakes:
                    mistakes, sets[place, i] = better
                found.setdefault(mistakes, {}).setdefault(place, []).append(i)
    if not found:
        return None
    place, best = min(found[min(found)].items())
    j, _, group = asked[place]
    runs = [[best[0]]]
    for i in best[1:]:
        runs[-1].append(i) if i == runs[-1][-1] + 1 else runs.append([i])
    run = max(runs, key=lambda run: group[run[-1]][2] / 2 - group[run[0]][2] / 2)
    i = run[(len(run) - 1) // 2]
    lower, upper, _, _, is_yes = group[i]
    sides = [[c for c in clusters if is_yes(c) == side] for side in (True, False)]
    below = [_node(rows, asked, side) for side in sides]
    cut = (j, sets[place, i]) if (place, i) in sets else (j, float(lower), float(upper))
    return None if None in below else (*cut, *below)
