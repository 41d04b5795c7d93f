"""Choose the decision to propose: the candidates and the measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqa.core.errors import UsageError
from dqa.core.fitting import words_in
from dqa.loaders.proposal.guesses import goal_of, measure_rank, name_columns
from dqa.loaders.proposal.survey import Join, Survey, SurveyedTable, words_of

_MANY = 1_000
"""A table with more rows is proposed only if there is no smaller one."""
_NUMBERS = ("integer", "decimal", "float")
_NO_MEASURES = frozenset({"id", "number", "no", "nr", "code"})


@dataclass(frozen=True, slots=True)
class Fact:
    """A table whose rows belong to candidates.

    `join` connects the rows to the candidates. In a graph, each row is a relationship of a
    candidate, and `join` is None.
    """

    table: SurveyedTable
    join: Join | None = None
    outward: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """The proposed decision.

    Attributes
    ----------
    table, column
        The table of the candidates, and the column with their names.
    noun
        A word for a candidate.
    count
        The number of candidates; None if counting takes too long.
    fact, measure
        The outcome of a candidate is the sum of the column `measure` over the candidate's rows in
        the table `fact`. If `fact` is None, the outcome is the value of `measure` in the
        candidate's own row. If `measure` is None, the outcome is the number of the candidate's rows
        in `fact`.
    goal
        ``maximise`` or ``minimise``.
    """

    table: SurveyedTable
    column: str
    noun: str
    count: int | None
    fact: Fact | None
    measure: str | None
    goal: str

    @property
    def counted(self) -> SurveyedTable:
        """The table whose rows the outcome counts or sums."""
        return self.table if self.fact is None else self.fact.table

    @property
    def measured(self) -> str:
        """The outcome in words."""
        if self.measure is None:
            return f"number of {words_of(self.counted.name)} rows"
        return f"total {words_of(self.measure)}"


def choose(survey: Survey, question: str) -> Choice:
    """Choose the decision of a proposed scenario.

    Parameters
    ----------
    survey
        The survey of the database.
    question
        The user's question; may be empty.

    Raises
    ------
    UsageError
        No table has a column that identifies its rows.
    """
    tables = [table for table in survey.tables if table.ends is None]
    if not question:
        tables.sort(key=lambda one: (not _is_handy(one), -len(_facts(survey, one)), one.rows or 0))
    fallback: tuple[SurveyedTable, str] | None = None
    for table in tables:
        named = name_columns(table.name, [(c.name, c.type) for c in table.columns], table.key)
        named.sort(
            key=lambda column: column in _joined(table)
        )  # the names of other tables' rows come last
        counts = survey.distinct(table.name, named)
        for column in named:
            if table.rows and counts.get(column) == (table.rows, table.rows):
                return _choice(survey, table, column, question)
        if named and fallback is None:
            fallback = table, named[0]
    if fallback is None:
        raise UsageError(
            "No table has a column of texts or whole numbers that identifies its rows: choose "
            "other tables (--tables)."
        )
    return _choice(survey, *fallback, question)


def _choice(survey: Survey, table: SurveyedTable, column: str, question: str) -> Choice:
    fact, measure = _measure(survey, table, column, set(words_in(question)))
    counted = survey.distinct(table.name, [column]).get(column)
    return Choice(
        table=table,
        column=column,
        noun=words_of(table.name),
        count=None if counted is None else counted[1],
        fact=fact,
        measure=measure,
        goal=goal_of(question, measure or ""),
    )


def _is_handy(table: SurveyedTable) -> bool:
    """Return whether a table has so few rows that a person could choose among them."""
    return table.rows is not None and 1 < table.rows <= _MANY


def _facts(survey: Survey, table: SurveyedTable) -> list[Fact]:
    found: list[Fact] = []
    for other in survey.tables:
        if other.ends is not None and table.name in other.ends:
            found.append(Fact(other, outward=other.ends[0] == table.name))
        joins = [join for join in other.joins if join.table == table.name != other.name]
        found += [Fact(other, join) for join in joins[:1]]
    return found


def _measure(
    survey: Survey, table: SurveyedTable, column: str, asked: set[str]
) -> tuple[Fact | None, str | None]:
    """Return `fact` and `measure` of a `Choice`.

    Columns that the question names come first. Then the name of a column and the number of rows of
    its table decide.
    """
    facts = _facts(survey, table)
    options: list[tuple[tuple[bool, int, bool, int, str], Fact | None, str]] = []
    for fact in [*facts, None]:
        of = table if fact is None else fact.table
        others = {*of.key, *_joined(of), *((column,) if fact is None else ())}
        rows = 0 if fact is None else -(of.rows or 0)
        for name in _numbers(of, others):
            is_new = asked.isdisjoint(words_in(name))
            options.append(((is_new, measure_rank(name), fact is None, rows, name), fact, name))
    if options:
        _, chosen, measure = min(options, key=lambda option: option[0])
        return chosen, measure
    return (facts[0] if facts else None), None


def _joined(table: SurveyedTable) -> list[str]:
    """Return the columns that refer to other tables."""
    return [column for join in table.joins for column in join.columns]


def _numbers(table: SurveyedTable, others: set[str]) -> Sequence[str]:
    return [
        column.name
        for column in table.columns
        if column.type in _NUMBERS
        and column.name not in others
        and _NO_MEASURES.isdisjoint(words_in(column.name))
    ]
