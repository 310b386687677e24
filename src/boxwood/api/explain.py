"""`explain`: from a table and a clustering to an `Explanation`, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from boxwood._types import MethodName, Objective

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation
    from boxwood.reference.labels import Names


def explain(
    X: Any,
    labels: Any = None,
    *,
    by: Any = None,
    key: str | Sequence[str] | None = None,
    n_clusters: int | None = None,
    names: Names | None = None,
    sample_weight: ArrayLike | str | None = None,
    standardize: bool | Literal["auto"] = "auto",
    random_state: Any = None,
    columns: Sequence[str] | None = None,
    categories: Sequence[str] | Mapping[str, Sequence[Any] | None] = (),
    numbers: Sequence[str] = (),
    missing: Literal["learn", "drop", "refuse"] = "learn",
    as_of: Any = None,
    max_leaf_nodes: int | None = None,
    max_depth: int | None = None,
    min_samples_leaf: int | None = None,
    max_columns: int | None = None,
    forbidden: Sequence[str] = (),
    preferred: Sequence[str] = (),
    round_thresholds: int | None = None,
    cuts: Mapping[str, Sequence[Any]] | str | None = None,
    method: MethodName = "auto",
    objective: Objective = "auto",
    time_limit: float | None = None,
    n_jobs: int | None = -1,
    verbose: Any = 0,
    value_column: str | None = None,
    validate: float | int | None = None,
    **options: Any,
) -> Explanation:
    """Return the tree that explains a clustering of the rows of a table, with a rule for each cluster and the loss.

    Parameters are in groups: the clusters (`labels` to `random_state`), the table (`columns` to
    `as_of`), limits of the rules (`max_leaf_nodes` to `cuts`), the search (`method` to `verbose`), and
    what is reported besides (`value_column`, `validate`).

    Parameters
    ----------
    X : array-like, data frame of shape (n, d), or table in batches
        Rows: numbers, or the columns of a frame: numbers, booleans, dates, and categories, which are text, Categorical
        and Enum; see `missing` for gaps. An ordered Categorical of pandas is cut in its order alone, and so are bands
        such as (45, 60], and months, quarters and weeks of pandas. Beside labels, a column that says the same in other
        words or numbers is left out. Dates count as days since the beginning of 1970; texts are dates if all of a
        column are, in one form that leaves no doubt of day and month. Columns of more than 255 categories, of times
        without a date and without any value are left out, with a note. A clusterer sees columns of numbers and booleans
        alone, unless it is a pipeline that encodes text, or `MixedKMeans`, and so does a table in batches. If boxwood
        makes the clusters of a frame of at least 50 rows, or labels are given, columns that look like identifiers are
        left out, too: unique whole numbers without gaps, or that rise from row to row; whole numbers of more than 20
        values under a name such as id, zip or account; and texts that hardly repeat; in a frame of 20 to 49 rows, texts
        that never repeat. Where boxwood makes the clusters, columns of one value in all rows are left out; and if at
        least two others remain, those that look like a date or a part of one, as such would make the groups: dates,
        words that are months, weekdays or seasons, and numbers in the range and with the plain name of a part of a
        date, such as year, month or hour; columns of more than 12 words without an order, whose lists would be the
        rules; and, of rows in memory, columns that are the same in all rows of each such date, or part of one, and
        whole numbers that are names: at least 20, each of which goes with one value of another column that does not
        rise or fall with them; and those that count or name units, such as households, by counting. `columns` brings
        them in.
    labels : optional
        The clustering, in one of these forms. None is k-means.

        - Labels of any hashable type, one for each row; -1 leaves a row out, as a number or as the text "-1", and so
          does a missing label, with a note. A series of pandas must have the index of a frame of pandas.
        - The name of the column of `X` that holds the labels. No cut tests that column.
        - For a table in batches also centres of shape (k, d), the nearest of which is a row's cluster.
        - `Rules` of `read_rules`: what they give each row of a frame. Rows that get NULL are left out, with a note.
        - A `Reference`: labels with names and centres of their own. Other labels get the means of their rows.
        - A clusterer, mixture or pipeline of scikit-learn. A fitted one is used as it is, on the columns of its fit
          where it knows their names; others are cloned and fitted.
        - An explainer of boxwood, such as a fitted `IMM`. No new tree is grown: the explanation has the explainer's
          tree, with its thresholds as they are. On the rows of its fit the tree is compared with the clusters of that
          fit. On other rows, and on a table in batches, it is compared with the clusters that the explainer's clusterer
          predicts; one that was fitted on a table's column of labels, with those in that column.
    by : array-like or data frame, default=None
        Another table, the inputs: clusters are those of the rows of `X`, the outcomes, and rules ask for the columns of
        `by`. Rows belong together by `key`; without it by the index of two frames of pandas, or by their places in two
        arrays of one length, and never else. Rows without a partner have no part in the rules; a note counts them.
        `columns`, `categories` and `numbers` name columns of either table, and all limits are those of the rules. Both
        tables are in memory. Rows are held out if `validate` does not say how: in 5 folds, or a fifth of more than
        5,000 rows. Notes then say whether the inputs tell the clusters, and which they do not.
        `profile(outcomes=True)` has the other side: what the clusters are.
    key : str or sequence of str, default=None
        With `by`, the columns of both frames, or parts of their index, that say which rows belong together. A key that
        several rows of a table have is refused, and so are keys of other kinds, such as 7 and "7".
    n_clusters : int, default=None
        Number of clusters of k-means. None chooses one from 2 to 10, fewer where rows are few: the largest on which
        clusters of two halves of the rows agree (adjusted Rand index of at least 0.85, and within 0.1 of the best, in
        the mean of five halvings of at most 1,000 rows), or the one on which they agree most; a note says which, and
        which other would do nearly as well. Each half finds by itself how much each column counts. Where no groups
        show, it is at most 4. Only allowed if `labels` is None. K-means keeps the best of 10 starts, or of 3 starts for
        more than 2 million values. Its clusters are numbered from 0 by size, the largest first. A note says so if no
        gap or valley parts the rows, and which column alone shows groups, if one does; that is looked at on at most 500
        rows.
    names : mapping from label to name, or sequence of names, default=None
        Names of the clusters. A sequence has one name for each label, in ascending order of the labels.
    sample_weight : array-like of shape (n,), or str, default=None
        Weight of each row; or the name of the column that holds it, in a data frame or a table in batches. That column
        is not among those that rules may use.
    standardize : bool or "auto", default="auto"
        Whether to cluster, grow and measure on columns scaled to unit variance. If the clustering is a pipeline, these
        are the columns that it computes. Thresholds are in raw units in any case. Fitted estimators and pipelines get
        the raw table, as they have a scale of their own. "auto" brings columns to one scale where boxwood makes the
        clusters, and lets those count more in which groups show (see Notes), but for arrays of at least 32 columns
        without names half of which span a quarter of the range of all, as pixels and embeddings do; where clusters are
        given it is False.
    random_state : int or RandomState instance, default=None
        Seed or generator for k-means, for the method and for samples of large tables. None is 0.
    columns : sequence of str, default=None
        For an array, the names of its columns; None names them x0, x1, …. For a data frame, the columns that rules may
        use; None is all that can be used, see `X`.
    categories : sequence of str, or mapping from str to sequence, default=()
        Columns of a frame that hold names of something, though they look like numbers, such as `["zip"]`. A mapping
        has the values of a column in their order, as in `{"size": ["S", "M", "L"]}`, or None: cuts then part the values
        up to one of them from the others.
    numbers : sequence of str, default=()
        Columns of texts that are numbers, and columns of measurements in which a number far from all others, such as 99
        beside 1 to 5, stands for no missing value.
    missing : {"learn", "drop", "refuse"}, default="learn"
        What becomes of rows that lack a value (None, NaN, NaT, null) in a column that the clustering or the rules look
        at. "learn" explains them: each cut of such a column says to which side rows without a value belong. A row that
        lacks all values is left out. "drop" leaves them all out, like rows with the label -1: they stay outside of all
        measures, and a note says how many they are, by column. The rules give rows that are left out a cluster all the
        same, where they ask for nothing that these lack. "refuse" raises a DataError. For a
        clusterer, and for tables in batches with centres, "learn" is "drop". A pipeline that takes missing values, by
        an imputer or an encoder, gets them, and the rules say on which side of a cut they are: with "learn", a row that
        it gives a cluster has one.
    as_of : str or date, default=None
        The day from which dates are counted, so that rules say ages, such as "last_order within the last 137 days",
        which do not grow old: "2026-07-31"; "latest", the latest date of the table that is not in the future; or the
        name of a column with the day on which each row was taken. Thresholds are round ages, a month of 30 days and a
        year of 365. A day begins at midnight, in UTC for dates that have a time zone. Where boxwood makes the clusters,
        such columns count, too. Rules apply as of today later, unless `predict` and exports are given another day.
        With `by` these are the dates of the inputs, and those of the outcomes if they have any. None says dates as
        dates.
    max_leaf_nodes : int, default=None
        Number of leaves. None is the number of clusters, or twice that number for "exkmc", "expand" and their kernel
        versions. For labels that are no clusters of k-means, "auto" takes as many as pay on new rows; see Notes. If
        neither this nor `n_clusters` is given, and rules of the clusters that boxwood makes are right for less than 83%
        of the rows, "auto" tries one leaf more where groups show, and then other numbers of clusters that would do
        nearly as well.
    max_depth : int, default=None
        Most conditions from the root of the tree to a leaf. It leaves room for at most 2 ** `max_depth` leaves; where
        these are fewer than clusters, some clusters have no rule, and a note says so.
    min_samples_leaf : int, default=None
        Fewest rows of a leaf, whatever their weights. Rows that are left out do not count, as those of weight 0.
    max_columns : int, default=None
        Most different columns that the rules test. "auto" compares choices of columns by fast trees, and searches in
        full on the best three, or on all where there are at most four choices.
    forbidden : sequence of str, default=()
        Columns that no rule tests. They still count in the clustering and in costs. Methods that separate centres,
        Gaussians or means of features see the other columns alone.
    preferred : sequence of str, default=()
        Columns to take where they do nearly as well: from the root down, a cut on another column is replaced by one on
        these, as long as the tree gets at most 1% worse in the number that decides. For a method by its name that is
        the cost, or the rows outside their cluster if the method looks at these or at other distances; a note says so.
    round_thresholds : int, default=None
        Significant digits of thresholds, at most 17. Thresholds that need more digits are rounded in the end, and
        everything is measured with the rounded ones. `Explanation.limits` says how many rows that moves to another
        leaf. Codes of categories and dates are not rounded.
    cuts : mapping from str to sequence, or {"threshold", "interval"}, default=None
        Thresholds that are allowed, by column, such as the bands of the house: `{"days": [30, 90, 365]}`. Every cut of
        such a column is at one of them: up to a number, or before a date. Numbers in a column of dates are ages in days
        where `as_of` is given. Methods see the table in these bands, so that their cuts are the best of those that are
        allowed; "mmdt", the kernel methods, and tables in batches that are read by passes grow as without them, and
        each threshold is then moved to that past which the fewest rows are. A list of which no value parts the rows is
        refused. A word is an option of "exkmc", "expand" and the kernel methods: whether their cuts have two ends.
    method : str, default="auto"
        How the tree is grown: "auto" (see Notes), or a name of `grow.METHODS`. Names may have hyphens for underscores.

        - "imm", "greedy", "shallow", "random_cuts" separate centres, one leaf for each cluster.
        - "mmdt" separates Gaussians by means and variances: those of a Gaussian mixture, or of the clusters' rows.
        - "exkmc" and "expand" split leaves by cost or by mistakes. They begin with the tree of "imm" if
          `max_leaf_nodes` has room for it, and with a single leaf otherwise.
        - "cart" is scikit-learn's decision tree.
        - "kernel_imm", "kernel_exkmc", "kernel_expand", "kernel_mmdt" explain clusters of a kernel by two-sided cuts.
    objective : {"auto", "cost", "agreement"}, default="auto"
        What decides between the trees that "auto" grows; see Notes. "cost" takes the cheapest, in a table of up to
        20 000 rows also of those that the others find, without `time_limit`; "agreement" the one with the fewest rows
        outside their cluster. The method "random_cuts" has distances for its objective: "l1",
        "sqeuclidean" or "l2".
    time_limit : float, default=None
        Seconds after which "auto" starts no further step and returns the best tree so far; the result then depends on
        the machine, and a note says so. None: the result does not depend on the speed of the machine.
    n_jobs : int or None, default=-1
        Number of threads that grow and measure, and that read a table in batches; -1 is all processors, None is 1. No
        result depends on it. Clusterers have a parameter of their own, and so have the workers of Spark and Dask.
    verbose : int or function, default=0
        With 1 the steps of making clusters, of "auto" and of `validate` are printed on standard error, a line for each.
        A function is called instead, with a text, the number of steps done, 0 at first, and the number of all steps.
        What is done again has another text, such as "steps to the tree, round 2".
    value_column : str, default=None
        A column of value, such as revenue: sums, shares and means by cluster are shown, see `Explanation.totals`. It
        may be left out by `columns`, unless the table is read in batches.
    validate : float or int, default=None
        Whether to measure agreement and price also on rows that were not used to grow (`Explanation.held_out`). A share
        such as 0.3 holds out so many rows and takes a second growth. A number of folds from 2 to 100 holds out every
        row once and takes as many growths. The tree of the explanation is grown on all rows in any case. Rows are held
        out by cluster, and each cluster keeps a row; the clusters themselves are those of all rows.
    **options
        Options of the method: those that `grow.METHODS[name].options` lists, such as `kernel="laplace"`. The kernel of
        a `KernelKMeans` and the distance of a `KMedians` are the defaults; without these, "random_cuts" takes squared
        distances.

    Returns
    -------
    Explanation
        Always holds: its thresholds are the decimals with the fewest digits between the values on both sides of the
        cut, or in columns of whole numbers from the lower one on, except for the tree of an explainer. Costs are
        squared distances. Those of kernel methods are measured in the kernel's feature space, and those of
        "random_cuts" by its objective. The limits that were set (`max_depth` to `cuts`) are kept by its
        tree; `Explanation.limits` has them.

    Raises
    ------
    DataError
        If the table or the labels cannot be used as they are; the message names columns and counts. If more than half
        of the rows lack a value. If no tree could keep the limits: more than half of the rows in each leaf, or every
        column forbidden.
    ValueError
        If a parameter has a value that is not listed, or the method has no such option or limit.

    Warns
    -----
    UserWarning
        If a Gaussian mixture has components without data. They are left out of the measured Gaussians.

    Notes
    -----
    "auto" grows several trees with `max_leaf_nodes` leaves: those of IMM, Ex-Greedy and ExShallow with several
    penalties; MMDT, if a Gaussian mixture is explained; CART by Gini and by entropy, and regression trees on the
    centres, some over-grown and pruned back; expansions of these and of a single leaf. In tables of words or gaps,
    IMM and regression trees on the centres are left out where agreement decides, and Ex-Greedy and ExShallow see about
    2 000 rows. The most promising are refined (`grow.refine`: centres and cuts are improved in turn), and small
    subtrees are solved exactly (`grow.optimal`). Sibling leaves of one cluster are merged and the freed leaf is used
    elsewhere. No leaf is named by a cluster of which it holds no row; a cluster may be without a leaf then, and costs
    what its rows cost where they are.

    Which tree is returned depends on `objective`. "auto" takes the tree whose within-cluster cost, divided by its
    agreement, is least: one percent of the cost weighs as much as one percent of the rows that are in their cluster. A
    cost below that of the clusters counts as theirs, because such a tree has found other clusters. If fewer than 95% of
    the rows lie nearest to the mean of their own cluster, the clusters do not minimise this cost; then the tree with
    the fewest rows outside their cluster is taken, and a note says so. With more leaves than clusters the tree never
    loses more, in the number that decides, than the one for as many leaves as clusters. The search ends early
    at a tree that gives every row its cluster, unless the least cost is asked for. A method named by the caller gives
    its tree without refinement.

    Of cuts that lose no more, "auto" takes the one that names the fewest words, and of columns of numbers that say the
    same the plainer one. A tree that names more than eight words in one cut gives way to one without the columns of so
    many words, if that loses at most 1.5% more, of the rows or of the number that decides, besides what the list owes
    to the luck of the rows that were seen. A note says for how many more rows the list was right; `preferred` keeps it.

    Without `max_leaf_nodes`, "auto" gives labels as many leaves as pay: the least number, from that of the labels up to
    eight or twice that, to which no larger one adds enough on rows of other folds. There CART, with sets of words as
    cuts, must get more right than by luck, two standard errors, and by half a percent of the rows, and another half
    for each further leaf; or twice as much of each cluster's rows in the mean. It stays at the number of labels if no
    such tree gets clearly more right than the largest cluster has; if the rules then are right for less than 1% more
    of the rows, and of the mean cluster for less than 2%; if a step of k-means from the clusters would lower the cost
    by less than 0.5%, in numbers as they are or brought to the variance 1; and if an `objective` is named. A sample of
    10,000 rows decides, and a note says so.

    Rules of given labels that are right for a share s of n rows, by c cuts, owe about 1.5 √(c s (1 - s) / n) of it to
    luck, where agreement alone decides. A note says which share of new rows to expect, if that is 5% of the rows or
    more and `validate` does not measure it. No leaf needs a least number of rows by default: as the trees that agree
    most hardly have small leaves, that helps no new rows.

    Where boxwood makes the clusters, "auto" of `standardize` lets a column count as much as its groups show, and no few
    rows decide. Numbers get one range, that of all but the least and the greatest 1% of the rows. A column in which the
    1% of the rows farthest from the mean have more than a quarter of the variance, more than in an exponential
    distribution, enters as arcsinh((x - median) / (interquartile range / 1.349)), or as arcsinh(x / lower quartile),
    nearly a logarithm, if no number is negative and the upper quartile is more than twice the lower; so do such numbers
    that part more clearly by their ratios. Words, and numbers of two values, enter as one-hot columns. Numbers in the
    same order (rank correlation of at least 0.99 up to its sign) share the weight of one column, as do flags of which
    each row has one; flags that another column decides, and sums of others, get next to none. What a row lacks, a word
    or a number, costs nothing in any cluster, but for numbers that lack where another column has 0, or one category,
    and there alone: these rows have nothing to tell, which is a value of its own, below all others or above. A code
    such as 99, 998 or -9 that is far from all other values of its column is at their median, as it says nothing of the
    row; rules cut it as a number, and a note names it. Labels that are given do not change by it, so there it is a
    number for all. `Provenance.labels` says what was done.

    Then each column gets a weight: the share of its variance that the clusters explain, less a quarter, as clusters
    that slice a column without groups explain so much of it, and at least a fiftieth of the largest weight or about so.
    Clusters and weights are found in turn, up to six times, on at most 1,000 rows, beginning with columns that part
    clearly by themselves. Where such clusters leave no less of the columns' variance than boxes that cut even values
    would (the product of the shares that are left is then about 1 / k² or more), all columns count alike. Costs and
    price are those of weighted columns; thresholds stay in raw units. `Provenance.weights` has the weights, and a note
    names the columns in which groups show. The order of the rows changes nothing.

    For a pipeline, trees are grown and measured in the columns that its first steps compute. The tree is then pulled
    back to the columns of the table (`ThresholdTree.pull_back`, with the maps of `axes.axis_map_of`); every row keeps
    its leaf. If a step mixes columns, trees are grown in the columns of the table instead. A note says which columns
    were used.

    In a table of more than 20 000 rows, and of more than 50 for each leaf, growers that need several passes see a
    random sample of so many rows. The best trees are compared, and the best one is refined, on all rows. In a table of
    40 times more rows the best trees are compared, and refined, on a sample ten times as large first, and no tree that
    is chosen by cost is grown on more rows. In a table of more than 2 ** 23 values with categories or gaps, all this is
    done on two random parts of 2 ** 21 values each, and the tree that is better on all rows is taken. A note and
    `Explanation.search_report` say so. If two clusters have the same centre, methods that separate centres are left
    out, with a note. So are trees of ExShallow that would look at more than 2 ** 27 values of rows, as many clusters in
    many columns may.

    A table in batches (of `scan`) is read into memory up to 2 ** 23 values where boxwood makes the clusters, or a
    column holds labels; then it gives the answer of the same rows there. From a longer one without labels, or with
    columns of words or gaps from which rules learn, rows of 2 ** 22 values are drawn, of which clusters are made, and
    on which trees grow, as of a frame; each row of the table then has the cluster that is nearest, and sizes, agreement
    and costs are those of all rows. A note says so.

    Any other table in batches, such as one of labelled numbers on Spark or Dask, is read several times, and never in
    memory as a whole. A method by its name grows the tree of the same rows in memory, if it can grow by passes. "auto"
    grows trees on a sample of up to 100 000 distinct rows, or two million values, chooses the columns of `max_columns`
    there, and compares the best trees on all rows; a note says so. It takes four passes, or five. If the sample holds
    all rows, the tree is that of the same rows in memory; of a longer table it may be another one. Neither engines nor
    partitions nor the order of the rows change the sample. `validate` holds out rows of a sample of up to 100 000,
    which `HeldOut.how` names.

    Takes time n d (log n + k) for each level of the trees, besides the clustering. A tree has k - 1 levels at worst; of
    clusters that overlap, IMM's may come close. `grow.greedy` and `grow.shallow` state worst cases of their own.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import boxwood
    >>> iris = load_iris()
    >>> species = iris.target_names[iris.target]
    >>> ex = boxwood.explain(iris.data, species, columns=["sepal l", "sepal w", "petal l", "petal w"])
    >>> print(ex.rules())
    setosa: petal l <= 2
    versicolor: petal l > 2 and petal w <= 1.75
    virginica: petal l > 2 and petal w > 1.75
    >>> ex.agreement, ex.predict([[5.0, 3.0, 1.5, 0.2]]).tolist()
    (0.96, ['setosa'])
    """
    given = {name: value for name, value in locals().items() if name not in ("X", "labels", "by", "key")}
    from boxwood._frames import as_rows_here, is_frame
    from boxwood._validation import show_value
    from boxwood.api.explanation import Explanation
    from boxwood.explanation.ask.options import Options
    from boxwood.explanation.ask.provenance import provenance_of_call
    from boxwood.explanation.ask.steps import explain_rows
    from boxwood.table.scanned import as_source

    asked, source, rows = Options.of(given), None, None
    if by is not None:
        from boxwood.explanation.ask.by_inputs import explained_by

        answer = Explanation._of(explained_by(X, labels, by, key, asked))
    elif key is not None:
        raise ValueError(
            f"key={show_value(key)} says which rows of two tables belong together; give the other one (by)"
        )
    else:
        source = as_source(X)
        rows = as_rows_here(X) if source is None else source
        if hasattr(labels, "branches"):  # rules that were read, which are imported where there are some
            labels = labels.predict(rows)
        measured = explain_rows(rows, labels, asked)
        answer = Explanation._of(provenance_of_call(measured, rows, labels, n_clusters, sample_weight))
    if value_column is not None:
        is_known = isinstance(value_column, str) and value_column in answer.columns
        is_beside = rows is not None and source is None and is_frame(rows) and not is_known
        answer.totals(value_column, rows if is_beside else None)
    return answer
