"""Rules as SQL, as they were written: sqlglot brings them into the words of a dialect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from boxwood._dates import Dates
from boxwood._imports import require
from boxwood.judge.conditions import All, Condition, Not, Some
from boxwood.judge.read.operands import FLIPPED
from boxwood.judge.rules import RuleSet
from boxwood.judge.values import Moment, MovingMoment, Step, Test, days_after_months
from boxwood.render.forms.days import Calendar
from boxwood.render.forms.dialects import OTHER_NAMES, dialect_of
from boxwood.render.forms.sql import table_name


def rules_as_sql(rules: RuleSet, *, dialect: str, table: str | Sequence[str] | None, column: str) -> str:
    """Return a CASE, or a query that adds its value to a table; see `Rules.to_sql`."""
    spoken = dialect_of(dialect)
    writer = _Writer(rules.today, OTHER_NAMES.get(dialect.casefold(), dialect.casefold()), spoken.calendar)
    lines = [
        f"  WHEN {writer.text(branch.condition)} THEN {writer.literal(branch.name)}"
        for branch in rules.branches
        if not (branch.is_implied and branch.name is None and branch is rules.branches[-1])
    ]
    if rules.has_else:
        lines.append(f"  ELSE {writer.literal(rules.otherwise)}")
    case = "\n".join(["CASE", *lines, "END"])
    if table is None:
        return case
    indented = case.replace("\n", "\n  ")
    return f"SELECT *,\n  {indented} AS {spoken.name(column)}\nFROM {table_name(table, spoken)}"


class _Writer:
    def __init__(self, today: date, dialect: str, calendar: Calendar):
        self.exp = require("sqlglot.expressions", "sql", "SQL of rules")
        self.today, self.dialect, self.calendar = today, dialect, calendar

    def text(self, condition: Condition) -> str:
        """Return a condition in the dialect."""
        return str(self.tree(condition).sql(self.dialect))

    def literal(self, value: Any) -> str:
        """Return a value in the dialect."""
        return str(self.value(value).sql(self.dialect))

    def tree(self, condition: Condition, negated: bool = False) -> Any:
        """Return a condition as a tree of sqlglot, with NOT only before tests."""
        match condition:
            case Test():
                return self._test(condition, negated)
            case Not(part):
                return self.tree(part, not negated)
            case All(parts) | Some(parts):
                return self._join([self.tree(part, negated) for part in parts], isinstance(condition, All) != negated)
        return self.exp.Null()

    def _join(self, parts: list[Any], all_hold: bool) -> Any:
        if not parts:
            one = self.exp.Literal.number(1)
            return self.exp.EQ(this=one, expression=self.exp.Literal.number(1 if all_hold else 0))
        if len(parts) == 1:
            return parts[0]
        return self.exp.and_(*parts, copy=False) if all_hold else self.exp.or_(*parts, copy=False)

    def _test(self, test: Test, negated: bool) -> Any:
        test = _in_days(test)
        made = self._positive(test)
        if not negated:
            return made
        made = self.exp.Not(this=made if test.sign in ("null", "nan") else self.exp.paren(made))
        if not test.is_known or test.sign == "null":
            return made
        missing = self.exp.Is(this=self.operand(test), expression=self.exp.Null())
        return self.exp.paren(self.exp.or_(made, missing))

    def _positive(self, test: Test) -> Any:
        exp, left = self.exp, self.operand(test)
        if test.sign == "null":
            return exp.Is(this=left, expression=exp.Null())
        if test.sign == "nan":
            return exp.IsNan(this=left)
        if test.sign == "true":
            return exp.EQ(this=left, expression=exp.true())
        if test.sign == "in":
            values = [self.value(value) for value in test.values]
            return (
                exp.EQ(this=left, expression=values[0]) if len(values) == 1 else exp.In(this=left, expressions=values)
            )
        kind = {"<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}[test.sign]
        return kind(this=left, expression=self.value(test.values[0]))

    def operand(self, test: Test) -> Any:
        """Return the side of the column."""
        found = self.exp.column(self.exp.to_identifier(test.column, quoted=True))
        for step in test.steps:
            found = self._take_step(found, step)
        return found

    def _take_step(self, inner: Any, step: Step) -> Any:
        exp = self.exp
        types = {"number": "DOUBLE", "text": "TEXT", "date": "TIMESTAMP", "day": "DATE"}
        if step.name in types:
            return exp.cast(inner, types[step.name])
        if step.name == "decimal":
            return exp.cast(inner, exp.DataType.build("DECIMAL({}, {})".format(*step.given)))
        if step.name == "days since":
            return exp.DateDiff(this=self.value(step.given), expression=exp.cast(inner, "DATE"), unit=exp.var("DAY"))
        if step.name == "or":
            return exp.Coalesce(this=inner, expressions=[self.value(step.given)])
        if step.name == "at most":
            return exp.Least(this=inner, expressions=[self.value(step.given)])
        if step.name == "null if":
            return exp.Nullif(this=inner, expression=self.value(step.given))
        if step.name == "where":
            return exp.Case(ifs=[exp.If(this=self.tree(step.given.condition), true=inner)])
        return {"lower": exp.Lower, "upper": exp.Upper, "trim": exp.Trim}[step.name](this=inner)

    def value(self, value: Any) -> Any:
        """Return a value as a tree of sqlglot."""
        exp = self.exp
        if value is None:
            return exp.Null()
        if isinstance(value, MovingMoment):
            return self._moving(value)
        if isinstance(value, Moment):
            return self._moment(float(value))
        if isinstance(value, bool):
            return exp.true() if value else exp.false()
        if isinstance(value, str):
            return exp.Literal.string(value)
        number = float(value)
        if number - number != 0:  # it is infinite
            return exp.cast(exp.Literal.string("Infinity" if number > 0 else "-Infinity"), "DOUBLE")
        return (
            exp.Literal.number(repr(abs(number)).removesuffix(".0"))
            if number >= 0
            else exp.Neg(this=exp.Literal.number(repr(-number).removesuffix(".0")))
        )

    def _moment(self, days: float) -> Any:
        text = Dates().text(days)
        return self.exp.cast(self.exp.Literal.string(text), "DATE" if len(text) == 10 else "TIMESTAMP")

    def _moving(self, moment: MovingMoment) -> Any:
        """Return today and some months and days, as the engine says it."""
        exp, said = self.exp, self.calendar.today
        days = math.floor(moment - days_after_months(Dates().number(self.today), moment.months))
        if moment.months and self.dialect == "sqlite":
            return exp.var(f"date('now', 'localtime', '{moment.months} months', '{days} days')")
        if moment.months:
            kind = exp.DateSub if moment.months < 0 else exp.DateAdd
            months = exp.Literal.number(abs(moment.months))
            said = kind(this=exp.var(said), expression=months, unit=exp.var("MONTH")).sql(self.dialect)
        return exp.var(self.calendar.of_day(said, days))


def _in_days(test: Test) -> Test:
    """Return a comparison of an age of whole days as one of the day, which all engines count in the same way."""
    if not test.steps or test.steps[-1].name != "days since":
        return test
    if test.sign == "in" and not all(age is None or float(age).is_integer() for age in test.values):
        return test
    today, steps = test.steps[-1].given, (*test.steps[:-1], Step("day"))
    round_age = math.ceil if test.sign in (">=", "<") else math.floor
    days = tuple(None if age is None else today.later(-round_age(age)) for age in test.values)
    return replace(test, steps=steps, sign=FLIPPED.get(test.sign, test.sign), values=days)
