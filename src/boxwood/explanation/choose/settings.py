"""The numbers of "auto": when it looks at costs, what it grows, how far it improves trees, and on how many rows.

`benchmarks.quality worth` shows what each candidate and each step gains and costs.
"""

from __future__ import annotations

from boxwood.grow.drawn import IN_MEMORY

# Which tree is taken
NEAREST = 0.95  # Costs count if at least this share of rows is nearest to its own cluster's mean; else agreement alone.
SURE = 0.97  # At 97 % in the sample, all rows are taken to reach 95 %.
DIGITS = 36  # Costs are compared by their first 36 binary digits; the last ones depend on the order of rows.
ROUNDING = 1e-9  # A gap below this is none: costs are sums of rounded numbers.

# How many leaves labels need, where nobody says
LEAVES, LEAVES_EACH = 8, 2  # At most eight, or two for each cluster.
OF_K_MEANS = 0.995  # Clusters are those of k-means, with one leaf each, if its next step leaves so much of the cost.
LEAVES_GAIN = 0.01  # One more leaf pays if one percent more of the rows of other folds is right with it,
LUCK = 2.0  # and that is more than two standard errors.
RIGHT = 0.83  # Rules of clusters made here that are right for fewer rows are tried again.
LEAVES_SIZES = 8  # So many numbers of leaves are tried at most.
LEAVES_FOLDS = 5
COPIES = 10  # So many equal rows are no copies.
LEAVES_ROWS = 10_000  # It is chosen on a sample of so many rows.

# Words of a column that rules name
FOR_WORDS = 0.015  # A tree may lose 1.5% of the rows, or of the goal's number, beside luck, to name no long list.
FAR_BY_CART = 1.5  # It is not looked for where CART gets half as many more wrong as it may; a search gains a third.

# Samples of long tables
ROWS = 20_000  # Growers that read rows several times see a sample of so many rows.
CENTERS_ROWS = 2_000  # Trees that separate the centres see so many of words, where agreement decides.
ROWS_PER_LEAF = 50  # The sample has at least so many rows for each leaf.
TIMES = 10  # The next larger sample has ten times as many rows.
FAR = 4  # A larger sample is used if the table has four times its rows; else it would save no time.
COMPARED = 3  # The best three trees of a sample are compared on more rows,
COMPARED_OF_TWO = 2  # or the best two of each of two samples.
HINT_ROWS = 2_000  # How many leaves would agree with more rows is tried on so many, or as many as leaves need.
SAMPLE_ROWS = 100_000  # Of a table in batches at most so many rows are read into memory.
SAMPLE_VALUES = 2_000_000  # The same in values, for wide tables.
ROWS_EACH = 200  # About so many of each cluster, if it has as many; those of rare ones weigh less.
GATHERED = IN_MEMORY  # A table in batches is read into memory up to so many values.
DRAWN = 1 << 22  # Of a longer one, in memory or not, rows of so many values are drawn,
PARTS = 2  # and trees are grown on each half of them: the better one is taken.
LONG = 100_000  # In tables of more rows, categories become fewer columns for growth,
ENOUGH = 0.999  # which have this share of the variance between clusters.

# Candidates
PENALTIES = (0.0, 0.01, 0.03, 0.1)  # Penalties of ExShallow; with the first it is Ex-Greedy.
CLEARLY = 1.01  # Within 1 % of its neighbour's loss, the next penalty is tried, too.
VALUES = 1 << 26  # A tree of ExShallow may look at so many values of rows: some five seconds.
SQUARES_BY_ROWS = 1 << 25  # Regression trees on the rows take time n d squared: they are grown up to so much.
ONE_HOT = 1 << 20  # Rows times one-hot columns up to which trees of categories are grown on these, too,
NEAR_BY_CART = 1.025  # if CART loses at most 2.5 % more there than the best tree on other columns.
OVERGROWN = 2  # Trees to be pruned back are grown to twice the leaves.

# Improvement
FAR_LARGER = 2  # A tree of twice the leaves or more begins with one for each cluster that is refined, and no better.
REFINED = 4  # The best four candidates are refined.
ROUNDS = 15  # Refinement has at most 15 rounds of new centres and new cuts; few tables need more than five.
ROUNDS_ON_MORE = 3  # On more rows than those of the sample it has at most three rounds.
LEAST_OF_ROUND = 5e-5  # There it also ends when new centres lower the cost by less than this share.
LEAST_GAIN = 0.005  # Refinement is assumed to lower a loss by at least this share.
NEAR = 1.005  # So is one that is then within 0.5 % of the best.
FARTHEST = 2  # A candidate is refined if twice the largest gain so far would make it the best.
RESOLVED = 1  # Only the best tree has its small subtrees solved exactly.
WIDEST = 1 << 31  # Where each leaf has its own mean: up to so many rows times columns squared, as it takes.
LOOKED_AT_EACH = 100_000  # A subtree is solved exactly as long as that reads at most so many rows.
SOLVED = 4  # Up to four leaves, the cheapest of all trees is searched for.
LOOKED_AT = 600_000  # That search reads at most so many rows; it is left out if it would not end then.
COLUMNS_EACH, COLUMNS = 8, 20  # They read fewer rows in tables of more than 8 columns, and of more than 20.
WINDOWED = 3  # Subtrees of depth two are solved anew for agreement, and cuts then refined, up to three times.
BEGUN = {1: 3, 2: 7, 3: 16}  # Leaves of trees that are looked for from the one of a depth that agrees most.
ASKED = 1 << 30  # Steps of the search for the tree that agrees most, where that is asked for: some seven seconds.
UNASKED = 1 << 26  # The same on columns of sets of words, where agreement decides but is not asked for.
FEW_LEAVES = 1 << 27  # The same for a depth with room for all leaves, where these may be deeper.
BESIDE = 1 << 24  # The same for a depth that is not asked for, and for the subtrees of one tree: a tenth of a second.
DEEPER = 1 << 22  # The same for the best tree of depth three where it is not within reach; more hardly ever gains.
FOUR = 1 << 28  # The same for depth four, where it is asked for, but not the most agreement: one to two seconds.
SWAPPED = 100  # Up to 100 leaves, those that gain least are moved to where they gain more.

# Few columns (`max_columns`)
CHOICES_ROWS = 2_000  # Choices of columns are compared on a sample of so many rows.
CHOICES_COMPARED = 70  # Up to 70 choices, each is compared.
CHOICES_POOL = 12  # Beyond, the choice is made from the best 12 columns.
CHOICES_SEARCHED = 3  # Three choices are searched in full (all, if there are at most 4).
CHOICES_OVERGROWN = 4  # Columns tested by trees of four times the leaves come into the pool.
CHOICES_ROUNDS = 3  # In each of three rounds one column of a choice may be exchanged.


def is_held(n_rows: int, n_columns: int) -> bool:
    """Return whether a table with words or gaps, or without clusters, is read into memory as a whole."""
    return n_rows * n_columns <= GATHERED
