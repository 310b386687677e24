"""The pictures of an explanation: each method hands over to the file of `render` that draws it with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boxwood.explanation._explanation import Explanation

__all__ = ["Drawn"]


class Drawn:
    """Pictures of an `Explanation`.

    Each takes an Axes and returns it, and shows nothing by itself. Colours are those of M. A. Petroff (2021), which
    colour-blind readers tell apart; numbers, shapes or patterns say the same in grey. Names of columns and clusters are
    drawn as they are, shortened in the middle where they are long. All pictures raise an ImportError if matplotlib is
    missing, which `pip install "boxwood[plot]"` brings, and a TypeError if `ax` is no Axes.
    """

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree: its cuts from left to right, and its leaves at the right.

        A cut shows the distribution of its column over the rows that reach it, stacked by cluster of the reference,
        with the threshold as a line; "lost" counts the rows for which no leaf of their cluster can be reached any
        more. An edge says its condition, and is as wide as its share of rows. A leaf shows the number and name of its
        cluster, its rows with their share of all, and which clusters they come from.

        Parameters
        ----------
        ax : Axes of matplotlib, default=None
            Where to draw; the picture fills it as far as its shape allows. None makes a new figure.

        Returns
        -------
        Axes
            Its `figure` can be saved: `ex.plot().figure.savefig("tree.pdf")`.

        Notes
        -----
        A loaded model has no rows. Its cuts are drawn without distributions, and its leaves tell rows of their own
        cluster from all others. Rows in no cluster (label -1) are not drawn. The outer bars also count the 1% of rows
        at each end. Takes time n times the depth.

        Examples
        --------
        >>> import boxwood
        >>> from matplotlib.figure import Figure
        >>> ages, labels = [[21.0], [34.0], [38.0], [61.0], [67.0]], ["new", "loyal", "loyal", "new", "new"]
        >>> ex = boxwood.explain(ages, labels, columns=["age"])
        >>> ax = ex.plot(Figure().subplots())
        >>> [text.get_text() for text in ax.texts if "age" in text.get_text()]
        ['age']
        """
        from boxwood.render._plot_tree import plot_tree

        return plot_tree(_as_explanation(self), ax)

    def plot_boxes(self, x: str | int | None = None, y: str | int | None = None, ax: Axes | None = None) -> Axes:
        """Draw two columns of the table, with the leaves as boxes.

        A box has the number of its cluster. A row has the colour and shape of its own cluster, and a ring if its rule
        names another one. Boxes overlap where the tree cuts further columns.

        Parameters
        ----------
        x, y : str or int, default=None
            The columns, by name or index. None takes the column that is tested first, and then the next one.
        ax : Axes of matplotlib, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        DataError
            If there is no such column, both are the same, or the table has only one.

        Notes
        -----
        Of more than 4,000 rows a sample is drawn, always the same. A loaded model has no rows: only boxes are drawn.
        Codes of categories are spread a little, so that rows do not lie upon each other.

        Examples
        --------
        >>> import boxwood
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> iris = load_iris(as_frame=True)
        >>> ax = boxwood.explain(iris.data, iris.target, method="cart").plot_boxes(ax=Figure().subplots())
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('petal width (cm)', 'sepal length (cm)')
        """
        from boxwood.render._plot_boxes import plot_boxes

        return plot_boxes(_as_explanation(self), x, y, ax)

    def plot_profile(self, ax: Axes | None = None) -> Axes:
        """Draw the profile as a heat map: columns by clusters.

        A cell has the median of the cluster, or the share of a category. Its colour is the standardised difference from
        the rest, blue for lower and orange for higher; a sign says so from half a standard deviation, two signs from
        one and a half. Columns that the tree tests come first, then those that tell the clusters apart best, 40 lines
        at most.

        Parameters
        ----------
        ax : Axes of matplotlib, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        DataError
            If the explanation was read from a file that holds no profile; see `profile`.

        Examples
        --------
        >>> import boxwood
        >>> from matplotlib.figure import Figure
        >>> table = [[21.0, 5.0], [34.0, 5.0], [38.0, 7.0], [61.0, 5.0], [67.0, 5.0]]
        >>> ex = boxwood.explain(table, ["young", "young", "young", "old", "old"], columns=["age", "rides"])
        >>> ax = ex.plot_profile(Figure().subplots())
        >>> [text.get_text() for text in ax.texts]
        ['64 ++', '34 −−', '5 −', '5 +']
        """
        from boxwood.render._plot_profile import plot_profile

        return plot_profile(_as_explanation(self), ax)

    def plot_frontier(self, ax: Axes | None = None) -> Axes:
        """Draw the frontier: leaves against price; against agreement if prunings have the fewest mistakes.

        Parameters
        ----------
        ax : Axes of matplotlib, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        DataError
            If the explanation was read from a file that holds no frontier; see `frontier`.

        Notes
        -----
        Call `frontier(folds=5)` before to see what is lost on held-out rows, too.

        Examples
        --------
        >>> import boxwood
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> iris = load_iris()
        >>> ex = boxwood.explain(iris.data, iris.target, method="cart", max_leaf_nodes=4)
        >>> ex.plot_frontier(Figure().subplots()).get_ylabel()
        'agreement'
        """
        from boxwood.render._plot_frontier import plot_frontier

        return plot_frontier(_as_explanation(self), ax)

    def plot_stability(self, ax: Axes | None = None) -> Axes:
        """Draw stability: how far each cluster is found again on rows drawn anew, and how often each cut's column.

        Grey bands mark overlaps that are doubtful (below 0.75) and unstable (below 0.6).

        Parameters
        ----------
        ax : Axes of matplotlib, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        DataError
            If the explanation was read from a file that holds no stability; see `stability`.

        Notes
        -----
        Draws what `stability` measured last, and calls it with its defaults if it was not called.

        Examples
        --------
        >>> import boxwood
        >>> from matplotlib.figure import Figure
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(200, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)
        >>> ex = boxwood.explain(X, KMeans(3, n_init=1, random_state=0), method="imm")
        >>> stability = ex.stability(n=5)
        >>> ax = ex.plot_stability(Figure().subplots())
        >>> [text.get_text() for text in ax.get_yticklabels()][:3]
        ['cluster 0', 'cluster 1', 'cluster 2']
        """
        from boxwood.render._plot_stability import plot_stability

        return plot_stability(_as_explanation(self), ax)


def _as_explanation(drawn: Drawn) -> Explanation:
    return cast("Explanation", drawn)
