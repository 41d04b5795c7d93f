"""Tools that other packages add serve the agents in both protocols."""

from __future__ import annotations

from typing import Literal

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import ToolException, tool

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.errors import InfrastructureError
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from tests.planrag.conftest import Replies, assert_sendable, calling, open_question


@tool
def weather(place: str) -> str:
    """Tell the weather of a place."""
    if place == "storm":
        raise InfrastructureError("the weather service is down")
    if place == "nowhere":
        raise ToolException("There is no such place.")
    return f"sunny in {place}"


@tool
def distance(start: str, end: str, rounded: bool = False) -> str:
    """Measure a way."""
    return f"{start} to {end}: {3 if rounded else 3.2}"


weather.handle_tool_error = True


@pytest.fixture(autouse=True)
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register both under one name."""
    names = plugins.names
    monkeypatch.setattr(
        plugins, "names", lambda kind: ("geography",) if kind == "tool" else names(kind)
    )
    monkeypatch.setattr(plugins, "tools", lambda _: lambda *_: [weather, distance])


def run(
    protocol: Literal["react", "tools"],
    questions: QuestionSet,
    database: Database,
    *replies: object,
    agent: str = "iterrag",
) -> tuple[Decision, Replies]:
    """Let an agent decide an open question with the given replies."""
    model = Replies(replies=list(replies))
    decider = plugins.decider(agent)(model, Settings(protocol=protocol))
    decision = decider.decide(open_question(questions), database)
    for messages in model.shown:
        assert_sendable(messages)
    return decision, model


def test_in_text_they_are_actions_with_one_text_or_an_object(
    questions: QuestionSet, database: Database
) -> None:
    """The prompt describes each and its input; what they say is evidence of their own kind."""
    decision, model = run(
        "react",
        questions,
        database,
        "Action: weather\nAction Input: Genoa",
        'Action: distance\nAction Input: {"start": "a", "end": "b", "rounded": "true"}',
        "Action: distance\nAction Input: a to b",
        "Action: weather\nAction Input: nowhere",
        "Final Answer: x",
    )
    told = model.shown[0][0].text
    assert (
        "\nThe action may also be weather: Tell the weather of a place. Its input is place.\n"
        in told
    )
    assert "Its input is a JSON object with start, end, rounded.\n" in told
    assert model.shown[1][-1].text == "Observation: sunny in Genoa"
    assert model.shown[2][-1].text == "Observation: a to b: 3"
    assert "takes start, end, rounded: give a JSON object" in model.shown[3][-1].text
    assert model.shown[4][-1].text == "Observation: There is no such place."
    assert [(e.tool, e.error) for e in decision.evidence] == [
        ("weather", None),
        ("distance", None),
        ("weather", "ToolException"),
    ]
    assert [event.kind for event in decision.trace if event.kind in {"tool", "retrieval"}] == [
        *("tool", "tool", "tool")
    ]


@pytest.mark.parametrize("protocol", ["react", "tools"])
def test_a_service_behind_a_tool_that_fails_ends_as_infrastructure(
    protocol: Literal["react", "tools"], questions: QuestionSet, database: Database
) -> None:
    """As a database's failure does; it says nothing of the model."""
    called: dict[str, str | AIMessage] = {
        "react": "Action: weather\nAction Input: storm",
        "tools": calling(("weather", {"place": "storm"})),
    }
    decision, _ = run(protocol, questions, database, called[protocol])
    assert (decision.ending, decision.error) == (
        Ending.INFRASTRUCTURE,
        "the weather service is down",
    )
