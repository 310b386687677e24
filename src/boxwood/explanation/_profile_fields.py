"""The fields of a profile: a column in each cluster and among all rows, of numbers or of categories."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from boxwood.axes import Categories

__all__ = ["QUANTILES", "CategoryColumn", "CategoryGroup", "ColumnProfile", "NumberColumn", "NumberGroup"]

QUANTILES = (5, 25, 50, 75, 95)  # percent


class NumberGroup(NamedTuple):
    """A column of numbers among the rows of one cluster, or of all clusters.

    Parameters
    ----------
    mean, deviation : float
        Mean and standard deviation (that of the rows as they are: divided by their weight).
    quantiles : tuple of 5 float
        The values below which 5, 25, 50, 75 and 95 percent of the rows lie. Without weights they are interpolated as
        in numpy and pandas. With weights, each is the least value that reaches its percentage of the weight.
    difference : float, default=None
        Standardised difference: the mean minus the mean of all other clusters' rows, in standard deviations of the
        column. 0 for a column of one value. None for all rows, and where no other cluster has rows.
    index : float, default=None
        The mean in percent of the mean of all rows: 100 is average. None if the column has negative values or is 0
        everywhere, as percentages say nothing then.
    """

    mean: float
    deviation: float
    quantiles: tuple[float, ...]
    difference: float | None = None
    index: float | None = None  # type: ignore[assignment]  # hides the method of tuples, which nobody needs here


class CategoryGroup(NamedTuple):
    """A column of categories among the rows of one cluster, or of all clusters: an entry for each category.

    Parameters
    ----------
    shares : tuple of float
        Share of the rows that have the category. They add up to 1.
    differences : tuple of float, default=None
        Standardised differences: the share minus the share among all other clusters' rows, in standard deviations of
        having the category or not. 0 for a category that all rows or no rows have. None for all rows, and where no
        other cluster has rows.
    indexes : tuple of float or None
        The share in percent of the share among all rows: 100 is average. None for a category that no row has.
    """

    shares: tuple[float, ...]
    differences: tuple[float, ...] | None = None
    indexes: tuple[float | None, ...] = ()


class NumberColumn(NamedTuple):
    """A column of numbers, cluster by cluster.

    Parameters
    ----------
    column : str
    effect : float
        Effect size η² (eta squared): the share of the column's variance that lies between clusters, from 0 to 1; 0 for
        a column of one value.
    everyone : NumberGroup
        All rows that are in a cluster. Its index is 100 where it has one.
    clusters : tuple of k (NumberGroup or None)
        In the order of the clusters' numbers; None for a cluster without rows.
    """

    column: str
    effect: float
    everyone: NumberGroup
    clusters: tuple[NumberGroup | None, ...]


class CategoryColumn(NamedTuple):
    """A column of categories, cluster by cluster.

    Parameters
    ----------
    column : str
    effect : float
        Effect size Cramér's V: how closely categories and clusters go together, from 0 to 1; 0 for one category.
    everyone : CategoryGroup
        All rows that are in a cluster.
    clusters : tuple of k (CategoryGroup or None)
        In the order of the clusters' numbers; None for a cluster without rows.
    categories : Categories
        What the entries of a group stand for: `categories.values`, and one more for all other values if
        `categories.others`. A column of booleans has the values False and True.
    """

    column: str
    effect: float
    everyone: CategoryGroup
    clusters: tuple[CategoryGroup | None, ...]
    categories: Categories


ColumnProfile: TypeAlias = NumberColumn | CategoryColumn
"""A column of the profile: of numbers or of categories."""
