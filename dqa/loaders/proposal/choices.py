"""Which decision is proposed: what can be chosen, what it is judged by, what a question tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dqa.core.errors import UsageError
from dqa.core.relevance import words_in
from dqa.loaders.proposal.guesses import goal_of, measure_rank, name_columns
from dqa.loaders.proposal.survey import Surveyor, words_of
from dqa.loaders.proposal.surveyed import Join, Survey, SurveyedTable

_MANY = 1_000
"""More candidates than that are too many to propose, where there is a smaller table."""
_KINDS = (2, 30)
"""How many values a column has that divides candidates into kinds."""
_SHORT = 30
"""Letters of a kind that is shown as an example."""
_NUMBERS = ("integer", "decimal", "float")


@dataclass(frozen=True, slots=True)
class Fact:
    """Rows that belong to what can be chosen.

    Attributes
    ----------
    table
        What they are rows of; of a graph, relationships.
    join
        By which columns they belong to it; None of a graph.
    outward
        Whether relationships go out from what can be chosen.
    """

    table: SurveyedTable
    join: Join | None = None
    outward: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """The decision that is proposed.

    Attributes
    ----------
    table, column
        What can be chosen: the rows of a table, by the values of a column.
    noun
        What one of them is called.
    count
        How many there are; None where counting takes too long.
    fact, measure
        What an outcome adds up: a column of rows that belong to a candidate, or of its own (without
        `fact`); without a measure, rows are counted.
    goal
        Whether more or less of it is better.
    kind
        The column by which a question chooses among them; None for none.
    """

    table: SurveyedTable
    column: str
    noun: str
    count: int | None
    fact: Fact | None
    measure: str | None
    goal: str
    kind: str | None = None

    @property
    def measured(self) -> str:
        """What the outcome is, in words."""
        of = self.fact.table if self.fact is not None else self.table
        if self.measure is None:
            return f"number of {words_of(of.name)} rows"
        return f"total {words_of(self.measure)}"

    @property
    def example(self) -> str | None:
        """One of the kinds, as a question may ask about it; None where none is short."""
        samples = () if self.kind is None else self.table.column(self.kind).samples
        return next((one for one in samples if isinstance(one, str) and len(one) < _SHORT), None)

    @property
    def parameter(self) -> str | None:
        """What a question's parameter is called that says which kind can be chosen."""
        if self.kind is None:
            return None
        name = re.sub(r"\W+", "_", self.kind, flags=re.ASCII).strip("_").lower()
        return name if re.fullmatch(r"[a-z][a-z0-9_]*", name) and name != "candidates" else "kind"


def choose(survey: Survey, surveyor: Surveyor, question: str) -> Choice:
    """Choose what a scenario may decide about.

    Parameters
    ----------
    survey, surveyor
        What is known of the database, and who asks it for more.
    question
        The user's own, or nothing.

    Raises
    ------
    UsageError
        No table has a column that names its rows.
    """
    tables = [table for table in survey.tables if table.ends is None]
    if not question:
        degree = {table.name: len(_facts(survey, table)) for table in tables}
        tables.sort(key=lambda one: (not _is_handy(one), -degree[one.name], one.rows or 0))
    fallback: tuple[SurveyedTable, str] | None = None
    for table in tables:
        named = name_columns(table.name, [(c.name, c.type) for c in table.columns], table.key)
        named.sort(key=lambda column: column in _joined(table))  # those name something else
        counts = surveyor.distinct(table.name, named)
        for column in named:
            if table.rows and counts.get(column) == (table.rows, table.rows):
                return _choice(survey, surveyor, table, column, question)
        if named and fallback is None:
            fallback = table, named[0]
    if fallback is None:
        raise UsageError(
            "No table has a column of texts or whole numbers that names its rows: name others "
            "(--tables)."
        )
    return _choice(survey, surveyor, *fallback, question)


def _choice(
    survey: Survey, surveyor: Surveyor, table: SurveyedTable, column: str, question: str
) -> Choice:
    fact, measure = _measure(survey, surveyor, table, column)
    noun = words_of(table.name)
    counted = surveyor.distinct(table.name, [column]).get(column)
    measured = measure or ""
    goal = goal_of(question, measured)
    kind = None if question else _kind(surveyor, table, column)
    count = None if counted is None else counted[1]
    return Choice(table, column, noun, count, fact, measure, goal, kind)


def _is_handy(table: SurveyedTable) -> bool:
    """Whether a table has as many rows as somebody can choose from."""
    return table.rows is not None and 1 < table.rows <= _MANY


def _facts(survey: Survey, table: SurveyedTable) -> list[Fact]:
    found: list[Fact] = []
    for other in survey.tables:
        if other.ends is not None:
            if table.name in other.ends:
                found.append(Fact(other, outward=other.ends[0] == table.name))
            continue
        joins = [j for j in other.joins if j.table == table.name and other.name != table.name]
        found += [Fact(other, join) for join in joins[:1]]
    return found


def _measure(
    survey: Survey, surveyor: Surveyor, table: SurveyedTable, column: str
) -> tuple[Fact | None, str | None]:
    """Return the numbers that an outcome adds up: the likeliest by name, then of the most rows.

    Without any that add up to a number, rows are counted.
    """
    facts = _facts(survey, table)
    options: list[tuple[tuple[int, int, int, str], Fact | None, str]] = []
    for fact in facts:
        of, rows = fact.table, -(fact.table.rows or 0)
        names = _numbers(of, [*of.key, *_joined(of)])
        options += [((measure_rank(name), 0, rows, name), fact, name) for name in names]
    own = _numbers(table, [*table.key, column, *_joined(table)])
    options += [((measure_rank(name), 1, 0, name), None, name) for name in own]
    for _, chosen, measure in sorted(options, key=lambda option: option[0]):
        of = table if chosen is None else chosen.table
        if surveyor.is_summable(of, measure):
            return chosen, measure
    return (facts[0] if facts else None), None


def _joined(table: SurveyedTable) -> list[str]:
    """Return the columns that refer to other tables."""
    return [column for join in table.joins for column in join.columns]


def _numbers(table: SurveyedTable, others: Sequence[str]) -> list[str]:
    return [
        column.name
        for column in table.columns
        if column.type in _NUMBERS
        and column.name not in others
        and not {"id", "number", "no", "nr", "code"} & set(words_in(column.name))
    ]


def _kind(surveyor: Surveyor, table: SurveyedTable, column: str) -> str | None:
    """Return the column of a few texts that divides the rows into kinds; None without one."""
    texts = [one.name for one in table.columns if one.type == "text" and one.name != column]
    counts = surveyor.distinct(table.name, texts[:12])
    least, most = _KINDS
    for name in texts[:12]:
        values, different = counts.get(name, (0, 0))
        if least <= different <= min(most, values // 2):
            return name
    return None
