"""Requests that are longer than the model takes: less is read, said so, and decided by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.events import Event
from dqa.core.question import Question
from tests.dellma.talking import Talking, analyst_reply, decide, noted, world

OPTIONS = {"samples": 12}


class TooLongError(Exception):
    """As OpenAI's package has it."""

    status_code = 400
    code = "context_length_exceeded"


def taking(most: int) -> Talking:
    """An analyst who takes no request that is longer."""

    def program(text: str, number: int) -> object:
        del number
        if len(text) > most:
            return TooLongError(f"Maximum context length is {most}, and you sent {len(text)}.")
        return analyst_reply()

    return Talking(program=program)


class Counting:
    """A database that counts what it is asked."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.kind, self.name = database.kind, database.name
        self.asked: list[str] = []

    def query(self, statement: str, *more: object) -> object:
        """Run a statement."""
        self.asked.append(statement)
        return self._database.query(statement, *more)  # type: ignore[arg-type]


@pytest.fixture
def long() -> Iterator[tuple[Question, Any]]:
    """A question with long rules, and its database."""
    question, database = world()
    rules = "\n".join(f"{number}. Yields differ by year." for number in range(400))
    yield replace(question, rules=rules), Counting(database)
    database.close()


def longest(model: Talking, step: str) -> int:
    """Return how long the longest prompt of a step was."""
    return max(len(text) for text in model.prompts if f"\n# Step: {step}" in text)


def found(decision: Decision) -> Sequence[Mapping[str, Any]]:
    """Return what the steps noted."""
    kinds = ("enumeration", "forecasting", "pairs", "elicitation", "utilities", "votes")
    return [data for kind in kinds for data in noted(decision.trace, kind)]


def halvings(trace: Sequence[Event]) -> list[str]:
    """Return what the trace says of reading less."""
    faults = noted(trace, "fault")
    return [data["message"] for data in faults if data["error"] == "RequestTooLongError"]


@pytest.mark.parametrize("name", ["dellma-pairs", "dellma-naive", "zero-shot", "chain-of-thought"])
def test_what_is_too_long_for_the_model_is_summarised_and_said_so(
    name: str, long: tuple[Question, Any]
) -> None:
    """No statement runs twice, and the steps find what they find with so short a context."""
    question, database = long
    options = OPTIONS if name.startswith("dellma") else {}
    model = taking(12_000)
    decision = decide(name, model, question, database, options)
    assert decision.ending is Ending.ANSWERED, decision.error
    assert len(database.asked) == len(decision.evidence) == len(noted(decision.trace, "retrieval"))
    said = halvings(decision.trace)
    assert said
    assert noted(decision.trace, "context")[-1]["rules_summarised"] is True
    most = int(said[-1].split()[-2])
    alike = decide(name, taking(10**6), question, database, {**options, "context": most})
    assert found(decision) == found(alike)
    assert decision.choice == alike.choice


def test_a_later_prompt_that_is_too_long_has_the_steps_begin_anew(
    long: tuple[Question, Any],
) -> None:
    """The minibatches are longer than what came before; what was found before is found anew."""
    question, database = long
    whole = taking(10**6)
    decide("dellma-pairs", whole, question, database, OPTIONS)
    most = max(longest(whole, "name"), longest(whole, "judge")) + 100
    assert longest(whole, "rank") > most
    model = taking(most)
    decision = decide("dellma-pairs", model, question, database, OPTIONS)
    assert decision.ending is Ending.ANSWERED, decision.error
    assert len(halvings(decision.trace)) == 1
    for kind in ("enumeration", "forecasting", "pairs", "utilities", "answer"):
        assert len(noted(decision.trace, kind)) == 1
    assert sum("\n# Step: judge" in text for text in model.prompts) == 2
    assert decision.steps == decision.usage.calls == len(noted(decision.trace, "reply"))


@pytest.mark.parametrize("most", [10, 900])
def test_what_stays_too_long_ends_the_run_with_a_clear_error(
    most: int, long: tuple[Question, Any]
) -> None:
    """After a bounded number of times, and with what to set."""
    question, database = long
    decision = decide("dellma-pairs", taking(most), question, database, {"context": 4_000_000})
    assert (decision.ending, decision.outage) == (Ending.INFRASTRUCTURE, "model")
    assert "longer than the model takes" in str(decision.error)
    assert "--set dellma.context=" in str(decision.error)
    assert 0 < len(halvings(decision.trace)) <= 6
    assert len(database.asked) == 2
