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
    n_clusters: int | None = None,
    columns: Sequence[str] | None = None,
    max_leaf_nodes: int | None = None,
    as_of: Any = None,
    by: Any = None,
    key: str | Sequence[str] | None = None,
    names: Names | None = None,
    sample_weight: ArrayLike | str | None = None,
    standardize: bool | Literal["auto"] = "auto",
    random_state: Any = None,
    categories: Sequence[str] | Mapping[str, Sequence[Any] | None] = (),
    numbers: Sequence[str] = (),
    missing: Literal["learn", "drop", "refuse"] = "learn",
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

    Most calls set no more than the first six parameters. The others are, in this order, about the clusters (`by` to
    `random_state`), the columns (`categories` to `missing`), limits of the rules (`max_depth` to `cuts`), the search
    (`method` to `verbose`), and what is measured besides (`value_column`, `validate`). What is decided where nothing
    is set, and by which numbers, is on the page "What `explain` decides when you set nothing" of the documentation.

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

    Parameters
    ----------
    X : array-like, data frame of shape (n, d), or table in batches
        Rows of numbers, booleans, dates and categories; values may be missing. Columns of a frame that look like
        identifiers, or of which nothing can be told, are left out, with a note. `columns` brings them in.
    labels : optional
        The clustering, in one of these forms. None makes clusters by k-means.

        - Labels of any hashable type, one for each row; a row with the label -1, or without one, is left out, with a
          note. A series of pandas must have the index of the frame.
        - The name of the column of `X` that holds the labels. No cut tests it.
        - A clusterer, mixture or pipeline of scikit-learn. One that is fitted is used as it is, on the columns of its
          fit; others are cloned and fitted.
        - `Rules` of `read_rules`; a `Reference`, which has centres of its own; for a table in batches also centres of
          shape (k, d).
        - A fitted explainer of boxwood, such as `IMM`: its tree is taken as it is, and measured on these rows.
    n_clusters : int, default=None
        Number of clusters to make, numbered from 0 by size. None chooses one from 2 to 10; a note says why.
    columns : sequence of str, default=None
        Columns of a frame that rules may use; None is all that can be. For an array, the names of its columns.
    max_leaf_nodes : int, default=None
        Number of leaves. None is one for each cluster, and more where they pay on new rows; twice as many for "exkmc",
        "expand" and their kernel versions.
    as_of : str or date, default=None
        The day from which dates are counted, so that rules say ages, which do not grow old: "2026-07-31"; "latest",
        the latest date of the table that is not in the future; or the column with the day of each row. None says
        dates as dates.
    by : array-like or data frame, default=None
        Another table, whose columns the rules ask for, while the clusters are those of the rows of `X`. Both are in
        memory. Rows without a partner have no part in the rules; a note counts them.
    key : str or sequence of str, default=None
        Columns of both tables, or parts of their index, that say which rows belong together. Without it that is the
        index of two frames of pandas, or the place in two arrays of one length. A key that several rows of a table
        have is refused, and so are keys of other kinds, such as 7 and "7".
    names : mapping from label to name, or sequence of names, default=None
        Names of the clusters. A sequence has one name for each label, in ascending order of the labels.
    sample_weight : array-like of shape (n,), or str, default=None
        Weight of each row, or the name of the column that holds it.
    standardize : bool or "auto", default="auto"
        Whether to cluster, grow and measure on columns of variance 1. "auto" lets those columns count more in which
        groups show, where boxwood makes the clusters; elsewhere it is False. Thresholds are in raw units in any case.
    random_state : int or RandomState instance, default=None
        Seed or generator for k-means, the method and samples. None is 0.
    categories : sequence of str, or mapping from str to sequence, default=()
        Columns that hold names of something, though they look like numbers, such as `["zip"]`. A mapping has the
        values of a column in their order, as in `{"size": ["S", "M", "L"]}`, or None; it is then cut in that order.
    numbers : sequence of str, default=()
        Columns of texts that are numbers, or of measurements in which 99 beside 1 to 5 stands for no missing value.
    missing : {"learn", "drop", "refuse"}, default="learn"
        What becomes of rows that lack a value. "learn": each cut says on which side they are. "drop": they have no
        part in growth and measures. "refuse": a DataError. For a clusterer "learn" is "drop", but for a pipeline that
        takes missing values.
    max_depth : int, default=None
        Most conditions from the root of the tree to a leaf.
    min_samples_leaf : int, default=None
        Fewest rows of a leaf, whatever their weights.
    max_columns : int, default=None
        Most different columns that the rules test.
    forbidden : sequence of str, default=()
        Columns that no rule tests. They still count in the clustering and in costs.
    preferred : sequence of str, default=()
        Columns to take where a cut on them makes the tree at most 1% worse in the number that decides.
    round_thresholds : int, default=None
        Significant digits of thresholds, at most 17. `Explanation.limits` says how many rows that moves.
    cuts : mapping from str to sequence, or {"threshold", "interval"}, default=None
        Thresholds that are allowed, by column, such as `{"days": [30, 90, 365]}`; ages in days where `as_of` is given.
        A text is an option of "exkmc", "expand" and the kernel methods: whether their cuts have two ends.
    method : str, default="auto"
        How the tree is grown: "auto" compares several methods; or a name of `grow.METHODS`, such as "imm", "mmdt",
        "exkmc", "random_cuts", "cart".
    objective : {"auto", "cost", "agreement"}, default="auto"
        What decides between the trees of "auto": cost over agreement, the cost, or the rows in their cluster. The
        method "random_cuts" has distances for its objective: "l1", "sqeuclidean" or "l2".
    time_limit : float, default=None
        Seconds after which "auto" starts no further step. The result then depends on the machine; a note says so.
    n_jobs : int or None, default=-1
        Number of threads; -1 is all processors, None is 1. No result depends on it.
    verbose : int or function, default=0
        With 1 steps are printed on standard error. A function is called with a text, the number of steps done, and of
        all steps. What is done again has another text, such as "steps to the tree, round 2".
    value_column : str, default=None
        A column of value, such as revenue: sums, shares and means by cluster are shown, see `Explanation.totals`.
    validate : float or int, default=None
        Whether to measure agreement and price on rows that growth has not seen (`Explanation.held_out`), too: a share
        of the rows, such as 0.3, or a number of folds from 2 to 100. With `by` it is 5 folds, or a fifth of more than
        5,000 rows.
    **options
        Options of the method: those of `grow.METHODS[name].options`, such as `kernel="laplace"`.

    Returns
    -------
    Explanation
        Its thresholds are the decimals with the fewest digits between the values on both sides of the cut, in columns
        of whole numbers from the lower one on, except for the tree of an explainer. Costs are squared distances; those
        of kernel methods are measured in the kernel's feature space, those of "random_cuts" by its objective.

    Raises
    ------
    DataError
        If the table or the labels cannot be used as they are; the message names columns and counts. If no tree could
        keep the limits.
    ValueError
        If a parameter has a value that is not listed, or the method has no such option or limit.

    Warns
    -----
    UserWarning
        If a Gaussian mixture has components without data. They are left out of the measured Gaussians.

    Notes
    -----
    Takes time n d (log n + k) for each level of the trees, besides the clustering, and memory n d. A tree has k - 1
    levels at worst; of clusters that overlap, IMM's may come close. The same input gives the same tree, on any number
    of threads; where boxwood makes the clusters, in any order of the rows.
    """
    given = {name: value for name, value in locals().items() if name not in ("X", "labels", "by", "key")}
    from boxwood._frames import as_rows_here, is_frame
    from boxwood._validation import show_value
    from boxwood.api.explanation import Explanation
    from boxwood.columns.of_memory import refuse_other_values
    from boxwood.explanation.ask.gathered import source_to_explain
    from boxwood.explanation.ask.options import Options
    from boxwood.explanation.ask.provenance import provenance_of_call
    from boxwood.explanation.ask.steps import explain_rows
    from boxwood.table.memory import FileInMemory

    asked, source, rows = Options.of(given), None, None
    if by is not None:
        from boxwood.explanation.ask.by_inputs import explain_by_inputs

        answer = Explanation._of(explain_by_inputs(X, labels, by, key, asked))
    elif key is not None:
        raise ValueError(
            f"key={show_value(key)} says which rows of two tables belong together; give the other one (by)"
        )
    else:
        source = source_to_explain(X, labels)
        rows = as_rows_here(X) if source is None else source
        if isinstance(source, FileInMemory) and value_column is not None:
            refuse_other_values(source, value_column)  # before anything is grown
        if hasattr(labels, "branches"):  # rules that were read, which are imported where there are some
            labels = labels.predict(rows)
        measured = explain_rows(rows, labels, asked)
        answer = Explanation._of(provenance_of_call(measured, rows, labels, n_clusters, sample_weight))
    if value_column is not None:
        is_known = isinstance(value_column, str) and value_column in answer.columns
        is_beside = rows is not None and source is None and is_frame(rows) and not is_known
        answer.totals(value_column, rows if is_beside else None)
    return answer
