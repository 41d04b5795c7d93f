"""The simulator as tools of an agent is correct on every database, and its errors name the fix."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from dqa import plugins
from dqa.core.database import DEFAULT_LIMITS, Database, Limits, Rows
from dqa.core.decision import Decision, Ending
from dqa.core.display import Display
from dqa.core.errors import DatabaseUnavailableError, UnknownNameError, UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.deciders.simulation import Simulation
from dqa.evaluation.score import Judge
from dqa.guard import Audit

KINDS = ("sqlite", "ladybug")
RULES = ("released", "paper")
WHOLE = Display(digits=0, fold=False)
"""Every digit, and a row for every candidate."""


@pytest.fixture(scope="module")
def databases(questions: QuestionSet) -> Iterator[Mapping[tuple[str, str], Database]]:
    """Return each situation in both kinds of database, by kind and situation."""
    opened = {
        (kind, name): plugins.backend(kind).load(situation)
        for kind in KINDS
        for name, situation in questions.situations.items()
    }
    yield opened
    for database in opened.values():
        database.close()


@pytest.fixture
def located(
    questions: QuestionSet, databases: Mapping[tuple[str, str], Database]
) -> tuple[Question, Database]:
    """Return a Locating question and its database."""
    question = questions.select(("locating",)).questions[0]
    return question, databases["sqlite", question.situation]


def read(observation: str) -> tuple[list[str], list[list[Any]], list[str]]:
    """Return an observation's column names, its rows and the lines that close it."""
    lines = observation.splitlines()
    arrays = [json.loads(line) for line in lines if line.startswith("[")]
    assert all(line.startswith("(") for line in lines[len(arrays) :])
    return arrays[0], arrays[1:], lines[len(arrays) :]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_the_judge_calls_best_stands_first(
    questions: QuestionSet, databases: Mapping[tuple[str, str], Database], kind: str, rules: str
) -> None:
    """Comparing all gives exactly the judge's ties at the top, and its ranks and regrets below."""
    judge = Judge(questions, rules)
    for question in questions.questions:
        about = question, databases[kind, question.situation], rules
        _, rows, _ = read(Simulation(*about, display=WHOLE).compare().observation)
        verdicts = [
            judge.judge(question, Decision(Ending.ANSWERED, choice=candidate))
            for candidate, _, _ in rows
        ]
        ties = verdicts[0].ties
        assert tuple(candidate for candidate, _, _ in rows[: len(ties)]) == ties
        assert [verdict.rank for verdict in verdicts] == sorted(v.rank or 0 for v in verdicts)
        assert all(
            verdict.regret == abs(value - rows[0][1])
            for verdict, (_, value, _) in zip(verdicts, rows, strict=True)
        )
        assert {candidate for candidate, _, _ in rows} == set(question.candidates or ())
        folded = Simulation(*about).compare()
        assert read(folded.observation)[1][0][0] == rows[0][0]


def test_some_are_compared_once_each_best_first(located: tuple[Question, Database]) -> None:
    """Neither the order nor a repetition of the names changes the answer."""
    question, database = located
    some = [str(candidate) for candidate in (question.candidates or ())[:3]]
    simulated = Simulation(question, database, display=WHOLE)
    found = simulated.compare(some)
    again = simulated.compare([*reversed(some), some[0].upper()])
    values = [row[1] for row in read(found.observation)[1]]
    assert found.observation == again.observation
    assert values == sorted(values, reverse=True)
    assert found.statement == ", ".join(some)
    assert (found.tool, found.row_count) == ("compare", 3)


def test_a_name_that_is_not_understood_can_be_mended(located: tuple[Question, Database]) -> None:
    """The error says which name, what is close to it and what names look like."""
    question, database = located
    first, second = map(str, (question.candidates or ())[:2])
    simulated = Simulation(question, database)
    unknown = simulated.simulate(f"{first}x")
    assert unknown.error == "QueryError"
    problem = f"Error: '{first}x' names no trade node that can be chosen (did you mean '{first}'?)."
    assert unknown.observation.startswith(problem)
    assert f'"{first}", "{second}"' in unknown.observation
    several = simulated.simulate(f"{first} or {second}")
    assert f"names more than one trade node: {first}, {second}." in several.observation
    assert (several.error, several.row_count) == ("QueryError", 0)
    compared = simulated.compare([first, "nowhere", "\x1b[2J" * 1000])
    assert compared.error == "QueryError"
    assert "'nowhere' names no trade node" in compared.observation
    assert f"'{first}'" not in compared.observation
    assert len(compared.observation) < 1000
    assert simulated.simulate("").error == simulated.simulate("all").error == "QueryError"


def test_a_database_is_read_once_for_all_threads_and_questions(questions: QuestionSet) -> None:
    """Fifty comparisons at a time cost each table one statement."""
    question = questions.select(("building",)).questions[0]
    database, statements = plugins.backend("sqlite").load(questions.situation_of(question)), []
    query = database.query

    def counting(statement: str, limits: Limits = DEFAULT_LIMITS) -> Rows:
        statements.append(statement)
        return query(statement, limits)

    database.query = counting  # type: ignore[method-assign]
    others = [replace(question, id=str(number)) for number in range(50)]
    simulations = [Simulation(other, database) for other in others]
    assert not statements, "nothing is read before the first use"
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda s: s.compare().observation, simulations))
    assert len(set(found)) == 1
    assert len(statements) == len(set(statements))
    assert len(statements) == len(questions.situation_of(question).tables)
    database.close()


def test_a_refused_statement_is_shown_and_a_failing_database_is_not(
    questions: QuestionSet, located: tuple[Question, Database]
) -> None:
    """The model sees a refusal of the audit. An outage is raised, and a later call reads again."""
    question, _ = located
    situation = questions.situation_of(question)
    watched = plugins.backend("sqlite").load(situation, audit=Audit(approve=lambda *_: False))
    refused = Simulation(question, watched).compare()
    watched.close()
    assert refused.error == "RefusedStatementError"
    assert refused.observation.startswith("Error: ")
    assert refused.tool == "compare"
    closed = plugins.backend("sqlite").load(situation)
    closed.close()
    simulated = Simulation(question, closed)
    for _ in range(2):
        with pytest.raises(DatabaseUnavailableError):
            simulated.simulate("anything")


def test_what_cannot_be_simulated_says_so_at_once(located: tuple[Question, Database]) -> None:
    """Before anything is read: no simulator, no such rules."""
    question, database = located
    with pytest.raises(
        UsageError,
        match=r"'custom' has no simulator. Scenarios with a simulator: building, locating",
    ):
        Simulation(replace(question, scenario="custom"), database)
    with pytest.raises(UnknownNameError, match="no rule set 'house'"):
        Simulation(question, database, "house")
