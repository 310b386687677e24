"""`read_rules`: rules that others wrote; `Rules`, which are judged, compared with labels, and written again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any, Self

from boxwood._types import Array, DialectName
from boxwood._validation import show_value
from boxwood.judge.difference import Differences
from boxwood.judge.on_table import Checked
from boxwood.judge.rules import RuleSet

if TYPE_CHECKING:
    from boxwood.api.explanation import Explanation


def read_rules(source: Any, dialect: DialectName | None = None, *, today: date | str | None = None) -> Rules:
    """Return rules that stand in SQL, in Python, in a table or in a fitted tree. Nothing that is read is ever run.

    Rules are conditions in order, each with a name: a row gets the name of the first condition that it fulfils. They
    are comparisons of a column with values, `IN`, `BETWEEN`, `IS NULL`, `NOT`, `AND` and `OR`, of columns, casts,
    `COALESCE`, `LOWER`, `UPPER` and `TRIM`; with numbers, texts, booleans, dates, and ages such as `CURRENT_DATE - 90`.
    Anything else is refused, by line and column, with what was expected.

    Parameters
    ----------
    source : path, str, mapping, sequence, frame, tree or explanation
        What holds the rules:

        - SQL with one `CASE`, or `IF`: bare, in a SELECT, or in a model of dbt, whose templates are never rendered; as
          text, or as the path of a file. Of a `COALESCE` of several, each decides what those before it give NULL;
        - a mapping from names to conditions, in SQL or as `DataFrame.query` takes them; a list of conditions, which
          are their own names; a list of pairs of a name and a condition. A last condition that is empty, or "else", is
          for all other rows;
        - a table with the columns name and condition, as a frame or as the path of a CSV or Parquet file or a workbook;
        - the text of a function of Python that returns a name from `if` and `elif`, or the path of its file, among them
          what `Explanation.to_python` writes;
        - a fitted `DecisionTreeClassifier` of scikit-learn;
        - an `Explanation`, its `standalone_rules`, the text of its model file or the path of one, and the SQL that
          `Explanation.to_sql` writes in any dialect, the JavaScript of `to_javascript`, and the formula of `to_formula`
          without `columns`, as headers name them. To a sheet, an empty text is a missing value.
    dialect : {"duckdb", "sqlite", "postgres", "redshift", "mysql", "tsql", ...}, default=None
        The SQL of the source, as for `Explanation.to_sql`. None is DuckDB's, which reads most, T-SQL's where names
        stand in square brackets, and MySQL's where they stand in backticks.
    today : date or str, such as "2026-07-31", default=None
        The day from which ages count; None is the day of the call.

    Returns
    -------
    Rules

    Raises
    ------
    DataError
        If the source cannot be read as rules; the message names the place, what was expected and what came.
    ImportError
        If SQL is to be read, and sqlglot is missing.
    TypeError
        If the source is none of these.

    Notes
    -----
    SQL knows three truth values: a comparison with NULL is neither true nor false, and neither is its negation. So
    `plan <> 'free'` does not hold for a row without a plan. Python and `DataFrame.query` know two: there the row
    without a plan is not free. Numbers are doubles. NaN in a table counts as missing.

    `CURRENT_TIMESTAMP` and `NOW()` stand for the beginning of today. A cast to `DECIMAL(10, 2)` rounds, halves away
    from zero. `LIKE` is read where its pattern has no wildcard.

    A text of more than 100 000 letters, or with more than 70 brackets or 40 `CASE` within one another, is refused.

    Examples
    --------
    >>> import boxwood
    >>> rules = boxwood.read_rules({"loyal": "orders >= 7 and plan == 'team'", "new": "orders < 2", "other": "else"})
    >>> rules.names
    ('loyal', 'new', 'other')
    >>> rules = boxwood.read_rules("CASE WHEN age < 18 THEN 'child' WHEN age > 18 THEN 'adult' END")
    >>> print(rules.check())
    2 warnings.
    warning: no branch takes age = 18, between thresholds; such rows get NULL.
    warning: rows that no branch takes get NULL; where age = 18 or missing.
    """
    from boxwood.judge.read.sources import Asked, read_source

    return Rules._of(read_source(source, Asked(dialect, _day_of(today))))


def _day_of(today: date | str | None) -> date:
    """Return the day from which ages count."""
    if not isinstance(today, str):
        return date.today() if today is None else today
    try:
        return date.fromisoformat(today)
    except ValueError:
        raise ValueError(f"today must be a day such as 2026-07-31; got {show_value(today)}") from None


@dataclass(frozen=True, repr=False)
class Rules(RuleSet):
    """Rules in order: a row gets the name of the first branch whose condition it fulfils. Made by `read_rules`.

    They are a clustering: `explain(table, rules)` explains what rows get, with as few rules as pay.

    Parameters
    ----------
    branches : tuple of Branch
        The conditions in order, each with its name and the place where it was read.
    otherwise : str, int, float, bool or None
        What a row gets that fulfils none of them; None is NULL.
    has_else : bool
        Whether the rules say so.
    today : date
        The day from which ages count.
    is_aged : bool
        Whether some rule compares with that day.
    names : tuple
        What rows may get, in order; None last.
    columns : tuple of str
        The columns that the rules test.
    """

    @classmethod
    def _of(cls, rules: RuleSet) -> Self:
        return cls(**{each.name: getattr(rules, each.name) for each in fields(RuleSet)})

    def __str__(self) -> str:
        from boxwood.judge.sentences import rules_said

        return rules_said(self)

    def __repr__(self) -> str:
        return f"Rules(branches={len(self.branches)}, columns={list(self.columns)})"

    def check(self, table: Any = None, labels: Any = None, *, before: Any = None) -> Check:
        """Return what is wrong with the rules, what is doubtful, and what is worth a look.

        By what the rules say alone, and exactly: branches that can never fire, as their conditions contradict one
        another or earlier branches take all their rows; holes between thresholds; rows that miss a branch because a
        negation of NULL is unknown; branches that overlap, so that their order decides; rows that no branch takes;
        conditions that change nothing; columns that are compared with several types. On a table besides: rows by
        branch, categories that are in no row or spelt in another way, categories that no branch names, dates that all
        rows are before or after, columns that are missing. With labels: precision, and the share of each label that is
        found. With an earlier table: branches whose share of the rows changed beyond chance.

        Parameters
        ----------
        table : frame or path, default=None
            The rows; None judges the rules alone.
        labels : str or array-like of shape (n,), default=None
            The name of the column with the label of each row; or, of a frame, the labels.
        before : frame, path or Check, default=None
            The rows of an earlier month; or what `check` found there. That is for rules on ages, which are read for
            each month with its own day (`today`).

        Returns
        -------
        Check

        Raises
        ------
        DataError
            If the table cannot be read, or has no such column of labels. If the rules overlap in so many ways that
            they cannot be judged. If `before` is a check by rules with other branches.
        ValueError
            If `before` is given without a table.

        Examples
        --------
        >>> import boxwood
        >>> rules = boxwood.read_rules("CASE WHEN plan <> 'free' THEN 'pays' ELSE 'free' END")
        >>> print(rules.check({"plan": ["free", "team", None, None]}).findings[0].rows)
        2
        """
        from boxwood.judge.on_table import check_rules
        from boxwood.judge.rows import with_labels

        rows, texts = (None, None) if table is None else with_labels(table, self.columns, labels)
        if before is not None and rows is None:
            raise ValueError("before needs a table, with which the earlier rows are compared")
        earlier = before if before is None or isinstance(before, Check) else self.check(before)
        return Check._of(check_rules(self, rows, texts, earlier))

    def difference(self, others: Any, table: Any = None) -> Difference:
        """Return which rows get another name by other rules: from where to where, and how many of a table.

        It is exact, and of all rows that are possible, whether a table has them or not.

        Parameters
        ----------
        others : Rules or Explanation
            What replaces these rules, such as `simplified`, or `explain(table, rules)`.
        table : frame or path, default=None
            The rows that are counted.

        Returns
        -------
        Difference

        Raises
        ------
        DataError
            If the table lacks a column, or the rules overlap in too many ways.

        Examples
        --------
        >>> import boxwood
        >>> old = boxwood.read_rules({"child": "age < 18", "adult": "age >= 18"})
        >>> new = boxwood.read_rules({"child": "age < 21", "adult": "age >= 21"})
        >>> print(old.difference(new, {"age": [3, 18, 20, 40]}))
        2 of 4 rows get another name:
        adult -> child: 2 rows; where 18 <= age < 21
        """
        from boxwood.judge.difference import differences
        from boxwood.judge.rows import select_columns

        new = others if isinstance(others, RuleSet) else read_rules(others, today=self.today)
        rows = None if table is None else select_columns(table, (*self.columns, *new.columns))
        return Difference._of(differences(self, new, rows))

    def predict(self, table: Any) -> Array:
        """Return what each row of a frame gets, shape (n,), by the names of the branches; None where that is NULL.

        Raises
        ------
        DataError
            If the frame lacks a column that the rules test.

        Examples
        --------
        >>> import boxwood
        >>> boxwood.read_rules({"child": "age < 18", "adult": "age >= 18"}).predict({"age": [3, 30, None]}).tolist()
        ['child', 'adult', None]
        """
        from boxwood.judge.rows import names_of_rows

        return names_of_rows(self, table)

    def explanation(self, table: Any, labels: Any = None) -> Explanation:
        """Return the rules as an explanation with a tree, measured on a table, which has all forms and all questions.

        The tree cuts where the conditions do, so each row gets what the rules give it. Ages count from the day of the
        rules.

        Parameters
        ----------
        table : frame
            The rows, with the columns that the rules test.
        labels : array-like of shape (n,), default=None
            The clusters that the rules are compared with; None is what the rules give, so that they agree with all.

        Returns
        -------
        Explanation

        Raises
        ------
        DataError
            If the rules are no tree of cuts on the table's columns that gives each row a cluster; the message names the
            condition. If the table lacks a column.

        Examples
        --------
        >>> import boxwood
        >>> import pandas as pd
        >>> rules = boxwood.read_rules("CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END")
        >>> print(rules.explanation(pd.DataFrame({"age": [3, 30, 40, 70]})).rules())
        adult: 18 <= age < 65
        child: age < 18
        old: age >= 65
        """
        from boxwood.api.explanation import Explanation
        from boxwood.judge.as_tree import measured_rules

        return Explanation._of(measured_rules(self, table, labels))

    def simplified(self) -> Rules:
        """Return shorter rules that give every possible row the same, as far as some of the conditions can go.

        Branches that never fire are gone, and so are conditions, or alternatives, without which nothing changes. A last
        branch that takes all other rows is ELSE. No condition is made anew, so the SQL is still the author's.

        Examples
        --------
        >>> import boxwood
        >>> rules = boxwood.read_rules(
        ...     "CASE WHEN age < 18 THEN 'child' WHEN age >= 18 AND age < 65 THEN 'adult' "
        ...     "WHEN age < 40 THEN 'young' WHEN age >= 65 THEN 'old' END"
        ... )
        >>> print(rules.simplified().to_sql())
        CASE
          WHEN "age" < 18 THEN 'child'
          WHEN "age" < 65 THEN 'adult'
          WHEN "age" >= 65 THEN 'old'
        END
        """
        from boxwood.judge.shorten import shorten_rules

        return Rules._of(shorten_rules(self))

    def to_sql(
        self, dialect: DialectName = "duckdb", table: str | Sequence[str] | None = None, *, column: str = "cluster"
    ) -> str:
        """Return the rules as a CASE of SQL in any dialect, or as a query that adds a column to a table.

        Conditions stay as they were read. What Python and `DataFrame.query` say of missing values is said by
        `IS NULL`.

        Parameters
        ----------
        dialect, table
            As for `Explanation.to_sql`.
        column : str, default="cluster"
            The new column of a query.

        Raises
        ------
        ImportError
            If sqlglot is missing.
        ValueError
            If the dialect is unknown.

        Examples
        --------
        >>> import boxwood
        >>> print(boxwood.read_rules({"paying": "plan != 'free'", "free": "else"}).to_sql("postgres"))
        CASE
          WHEN NOT ("plan" = 'free') THEN 'paying'
          ELSE 'free'
        END
        """
        from boxwood.judge.written import rules_as_sql

        return rules_as_sql(self, dialect=dialect, table=table, column=column)


@dataclass(frozen=True, repr=False)
class Check(Checked):
    """What was found in rules; made by `Rules.check`. Printing it gives a sentence for each finding.

    Parameters
    ----------
    findings : tuple of Finding
        What was found, errors first; each has a kind, a level, the branch, and a row that shows it.
    branches : tuple of BranchRows
        The rows of each branch, and of ELSE at last; none without a table.
    n_rows : int or None
        The rows of the table.
    agreement : float or None
        Share of the labelled rows that get their label.
    names : tuple
        What rows may get.
    """

    @classmethod
    def _of(cls, checked: Checked) -> Self:
        return cls(**{each.name: getattr(checked, each.name) for each in fields(Checked)})

    def __str__(self) -> str:
        from boxwood.judge.sentences import check_said

        return check_said(self)

    def __repr__(self) -> str:
        return f"Check(findings={len(self.findings)}, n_rows={self.n_rows}, agreement={self.agreement})"

    def to_dict(self) -> dict[str, Any]:
        """Return the findings, each with its sentence, and the rows by branch, as a dict that JSON can hold."""
        from boxwood.judge.sentences import check_facts

        return check_facts(self)

    def to_markdown(self) -> str:
        """Return the check as Markdown, as a comment on a pull request shows it."""
        from boxwood.judge.sentences import check_markdown

        return check_markdown(self)


@dataclass(frozen=True, repr=False)
class Difference(Differences):
    """Which rows get another name by other rules; made by `Rules.difference`. Printing it says from where to where.

    Parameters
    ----------
    moves : tuple of Moves
        For each pair of names the rows that go from one to the other, most rows first.
    n_rows : int or None
        The rows of the table.
    """

    @classmethod
    def _of(cls, found: Differences) -> Self:
        return cls(found.moves, found.n_rows)

    def __bool__(self) -> bool:
        return bool(self.moves)

    def __str__(self) -> str:
        from boxwood.judge.sentences import differences_said

        return differences_said(self)

    def __repr__(self) -> str:
        return f"Difference(moves={len(self.moves)}, n_rows={self.n_rows})"

    def to_dict(self) -> dict[str, Any]:
        """Return the moves as a dict that JSON can hold."""
        from boxwood.judge.sentences import differences_facts

        return differences_facts(self)
