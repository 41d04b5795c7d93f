"""How often runs retrieved, and what that says of their questions."""

from __future__ import annotations

from dataclasses import replace

from dqa.evaluation.analysis.retrievals import QuestionType, Retrievals, question_types
from tests.evaluation.analysis.runs import empty, failed, make_case, ran


def test_only_statements_that_ran_are_retrievals() -> None:
    """No row is an answer too; errors, simulations and other tools are not the database's."""
    case = make_case(
        ran("a"),
        empty("b"),
        failed("c"),
        ran("d", tool="compare"),
        failed("e", tool="simulate"),
        ran("f", tool="weather"),
    )
    assert Retrievals.of(case.trace) == Retrievals(returned=2, failed=1, simulations=1)


def test_the_reference_tells_single_from_multiple_retrieval_questions() -> None:
    """Per question and database, by that decider alone."""
    cases = [
        make_case(ran("a"), failed("b")),
        make_case(ran("a"), ran("b"), database="neo4j"),
        make_case(failed("a"), question="locating/2"),
        make_case(ran("a"), question="locating/3", decider="planrag"),
    ]
    assert question_types(cases, "iterrag") == {
        ("locating/1", "mysql"): QuestionType.SINGLE,
        ("locating/1", "neo4j"): QuestionType.MULTIPLE,
        ("locating/2", "mysql"): QuestionType.NEVER,
    }


def test_a_reference_that_tells_nothing_gives_no_type() -> None:
    """A baseline without statements did not find its questions easy."""
    case = make_case(decider="first")
    silent = replace(case, trace=case.trace.changed(events=()))
    assert question_types([silent], "first") == {}
