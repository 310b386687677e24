"""Explanations with hostile names and categories, and rows at, next to and far from their cuts."""

import math
import sys
from typing import NamedTuple

import numpy as np

from boxwood import Explanation
from boxwood.axes import Categories
from boxwood.explanation import ClusterSummary, Details, LeafSummary
from boxwood.explanation.records import cluster_rules_of, rules_of
from boxwood.metrics.reading import Readability
from boxwood.table.sql import type_of
from boxwood.tree import TreeBuilder
from tests import naive
from tests.cases import random_tree

NAMES = ("low", "it's", 'say "hi"', "back\\slash`${x}`", "7", "</script>🌳\n*/")
WORDS = ("east", "it's", 'say "hi"', "back\\slash", "a,b", "é ü", " padded", "NA", "nan", "two\nlines", "true", "🌳")
MARKS = ("null", "N/A ", "it's n/a")
UNSEEN = ("west", "EAST", "east ", "\\", "'", '"', "x;y", "", " ", "null", "TRUE")
CUTS = (0.0, 0.1, 1 / 3, -2.5, 7.0, 123456.789, float(np.float32(0.1)), 2.0**-30)
LARGEST = sys.float_info.max


class Kind(NamedTuple):
    """The type of a column, as pandas, Arrow, PostgreSQL and MariaDB call it."""

    pandas: str
    arrow: str
    postgres: str
    mariadb: str


KINDS = {  # a new kind of column is a line here, a line of `rows`, and where it has codes one of `categories`
    "plain\\`": Kind("float64", "float64", "DOUBLE PRECISION", "DOUBLE"),
    'half "width"': Kind("float32", "float32", "REAL", "FLOAT"),
    "it's true": Kind("boolean", "bool", "BOOLEAN", "BOOLEAN"),
    "wo]rd ${x}": Kind("object", "string", "TEXT", "TEXT"),
    "size; in </script>": Kind("Float64", "float64", "DOUBLE PRECISION", "DOUBLE"),
}
COLUMNS = tuple(KINDS)
TYPES = tuple((name, type_of(kind.mariadb)) for name, kind in KINDS.items())


def odd_doubles(rng, n):
    """Return doubles of all sizes and lengths, and their neighbours; an engine misread the first one."""
    short = [
        float(f"{x:.{digits}g}") for x, digits in zip(10 ** rng.uniform(-9, 9, n), rng.integers(1, 18, n), strict=True)
    ]
    wide = np.ldexp(rng.uniform(0.5, 1, n // 4), rng.integers(-1073, 1025, n // 4))
    plain = np.concatenate([[9999998.67777183, 5e-324, 2.0**53 + 2, 1e22, 1e23, -1e-5, 0.0], short, wide, -wide[:9]])
    return np.concatenate([plain, np.nextafter(plain, np.inf), np.nextafter(plain, -np.inf)]).tolist()


def categories(rng):
    """Return the categories of the booleans and of the last two columns; unseen values are refused or covered."""
    words = tuple(rng.permutation(WORDS)[:5].tolist())
    others = (rng.random(2) < 0.5).tolist()
    return {
        2: Categories((False, True), False),
        3: Categories(words, others[0]),
        4: Categories((3, 20.5, -1), others[1], ordered=not others[1]),
    }


def explanation(rng, known, n_cuts=None):
    """Return an explanation of a random tree; None is a random number of cuts."""

    def cut():
        j = int(rng.integers(len(COLUMNS)))
        codes = np.arange(len(known[j].domain)) + 0.5 if j in known else None
        lower, upper = sorted(rng.choice(CUTS if codes is None else codes - 1, 2).tolist())
        return j, upper, -math.inf if rng.random() < 0.6 else lower

    n_leaves = 1 + (int(rng.integers(1, 14)) if n_cuts is None else n_cuts)
    tree = random_tree(rng, n_leaves, cut, lambda leaf: rng.integers(len(NAMES)))
    return explained_by(tree, COLUMNS, NAMES, known)


def categories_with_missing(rng):
    """Return the categories of `categories`; in some columns a missing value is one of them, as some texts may be."""
    known = categories(rng)
    marks = MARKS if known[3].values[0] < "t" else ()
    known |= {j: known[j]._replace(values=(*known[j].values, None)) for j in (3, 4) if rng.random() < 0.5}
    return known | ({3: known[3]._replace(marks=marks)} if None in known[3].values else {})


def explanation_with_gaps(rng, known):
    """Return an explanation of a random tree that asks for sets of codes, and where missing numbers have a place."""
    builder, leaves, gaps = TreeBuilder(), [0], COLUMNS[: int(rng.integers(1, 3))]
    for _ in range(int(rng.integers(1, 14))):
        j, node = int(rng.integers(len(COLUMNS))), leaves.pop(int(rng.integers(len(leaves))))
        if j in known:
            codes = np.flatnonzero(rng.random(len(known[j].domain)) < 0.5).tolist()
            leaves += builder.split_set(node, j, codes or [int(rng.integers(len(known[j].domain)))])
        else:
            lower, upper = sorted(rng.choice(CUTS, 2).tolist())
            ends = [(-math.inf, upper), (lower, upper)]
            if COLUMNS[j] in gaps:  # only there an end may be the last one before missing values
                ends += [(-math.inf, LARGEST), (math.nextafter(lower, math.inf), LARGEST), (lower, math.inf)]
            lower, upper = ends[rng.integers(len(ends))]
            leaves += builder.split(node, j, upper, lower)
    for leaf in leaves:
        builder.label(leaf, int(rng.integers(len(NAMES))))
    return explained_by(builder.build(), COLUMNS, NAMES, known, gaps)


def explained_by(tree, columns, names, known=None, gaps=()):
    """Return an explanation of a tree, with facts of no meaning; a tree of many leaves has no rules."""
    known, numbers = known or {}, [columns.index(name) for name in gaps]
    few = tree.n_leaves <= 50
    rules = rules_of(tree, columns, known, numbers) if few else [()] * tree.n_leaves
    carried = zip(tree.leaf_clusters.tolist(), rules, strict=True)
    by_cluster = cluster_rules_of(tree, columns, known, len(names), numbers) if few else [()] * len(names)
    summaries = [LeafSummary(i, cluster, 5, 1, rule) for i, (cluster, rule) in enumerate(carried)]
    clusters = [
        ClusterSummary(i, name, 1, 0.2, 1.0, 1.0, 1.0, some)
        for i, (name, some) in enumerate(zip(names, by_cluster, strict=True))
    ]
    return Explanation(
        tree=tree,
        columns=columns,
        method="cart",
        n_rows=5,
        n_left_out=0,
        clusters=tuple(clusters),
        leaves=tuple(summaries),
        cost=1.0,
        reference_cost=1.0,
        price=1.0,
        agreement=1.0,
        adjusted_rand=1.0,
        readability=Readability(tree.n_leaves, tree.depth, 1, 1.0, 1.0),
        notes=(),
        details=Details(categories=tuple((columns[j], values) for j, values in known.items()), gaps=gaps),
    )


def rows(rng, known, n):
    """Return the columns of a table as lists, with None for missing values."""
    words, sizes = ([value for value in known[j].values if value is not None] for j in (3, 4))
    cuts = np.array(CUTS)
    ends = [-0.0, math.inf, -math.inf, LARGEST, -LARGEST, 5e-324]
    near = np.concatenate([cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), ends])
    cuts, far = cuts.astype(np.float32), np.float32(1e9)
    single = np.concatenate([cuts, np.nextafter(cuts, far), np.nextafter(cuts, -far), [-0.0, math.inf, -math.inf]])
    columns = [
        rng.choice(near, n).tolist(),
        rng.choice(single.astype(np.float32), n).astype(float).tolist(),
        rng.choice([True, False], n).tolist(),
        rng.choice([*words, *UNSEEN, *known[3].marks], n).tolist(),
        rng.choice([*sizes, 3.5, math.inf, 20.499999999999996], n).tolist(),
    ]
    return [[None if gap else x for x, gap in zip(c, rng.random(n) < 0.1, strict=True)] for c in columns]


def expected(ex, known, columns):
    """Return the name of each row's cluster, or None, value by value."""
    nested, found = ex.tree.to_dict(), []
    for row in zip(*columns, strict=True):
        numbers = []
        for j, value in enumerate(row):
            if j not in known:
                has_gaps = j in ex._gap_columns
                missing = math.inf if has_gaps else math.nan  # a number that is infinite is large, but not missing
                numbers.append(missing if value is None else min(float(value), LARGEST if has_gaps else math.inf))
            elif value in known[j].values:
                numbers.append(float(known[j].values.index(value)))
            elif value in known[j].marks:
                numbers.append(float(known[j].values.index(None)))
            elif value is None:
                numbers.append(math.nan)
            else:
                numbers.append(float(len(known[j].values)) if known[j].others else math.nan)
        cluster = naive.cluster_or_none(nested, np.array(numbers))
        found.append(None if cluster is None else NAMES[cluster])
    return found
