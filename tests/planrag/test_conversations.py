"""What providers are sent: every request of whole runs is a conversation that they all take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatResult
from pydantic import Field

from dqa import plugins
from dqa.core.decision import Decision, Ending
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.evaluation.examples import OtherQuestions
from dqa.models.scripted.model import ScriptedModel
from dqa_planrag.deciders import Agent
from dqa_planrag.recipes import RECIPES, Recipe
from dqa_planrag.state import in_turns
from tests.planrag.conftest import assert_alternating, assert_sendable


class Watched(ScriptedModel):
    """The analyst, keeping what it was sent."""

    script: str = "analyst"
    sent: list[list[BaseMessage]] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *given: Any, **options: Any) -> ChatResult:
        self.sent.append(list(messages))
        return super()._generate(messages, *given, **options)


@pytest.fixture(scope="module")
def examples(questions: QuestionSet) -> Iterator[OtherQuestions]:
    """The generated questions as examples for each other."""
    source = OtherQuestions()
    source.take(questions)
    yield source
    source.close()


def decided(
    recipe: Recipe, settings: Settings, questions: QuestionSet, key: str, backend: str
) -> tuple[Decision, list[list[BaseMessage]]]:
    """Let an agent decide, and return what its model was sent."""
    model, question = Watched(), questions.find(key)
    database = plugins.backend(backend).load(questions.situation_of(question))
    decision = Agent(recipe, model, settings).decide(question, database)
    database.close()
    return decision, model.sent


@pytest.mark.parametrize("protocol", ["react", "tools"])
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_every_request_of_every_run_can_be_sent(
    recipe: Recipe, protocol: Any, questions: QuestionSet, examples: OtherQuestions
) -> None:
    """No user's turn follows a result or another user's turn, and no step runs backwards."""
    settings = Settings(protocol=protocol, rules="paper", examples=examples)
    for key, backend in (("locating/1", "sqlite"), ("building/1", "ladybug")):
        decision, sent = decided(recipe, settings, questions, key, backend)
        assert decision.ending is Ending.ANSWERED
        assert len(sent) == decision.usage.calls > 1
        for messages in sent:
            assert_sendable(messages)
            if protocol == "react":
                assert_alternating(messages)
        steps = [event.step for event in decision.trace if event.kind != "prompt"]
        assert steps == sorted(steps)


def test_the_prompt_shows_what_the_messages_of_an_example_call(
    questions: QuestionSet, examples: OtherQuestions
) -> None:
    """In tool calls the statements stand beside the text, and belong into the trace."""
    (recipe,) = [recipe for recipe in RECIPES if recipe.name == "planrag-one-shot"]
    settings = Settings(protocol="tools", examples=examples)
    decision, sent = decided(recipe, settings, questions, "locating/1", "sqlite")
    shown = [text for _, text in decision.trace[0].data["messages"]]
    calls = [c for m in sent[0] if isinstance(m, AIMessage) for c in m.tool_calls]
    assert {call["name"] for call in calls} >= {"plan", "query_database", "decide"}
    for call in calls:
        said = f"(called {call['name']} with {call['args']})"
        assert any(said in text for text in shown)


def test_turns_of_one_side_are_joined() -> None:
    """To a user's own turn or to a result; the model's own turns stay as they are."""
    result = ToolMessage("row", tool_call_id="1", name="query_database")
    said = [HumanMessage("a"), HumanMessage("b"), AIMessage("c"), result, HumanMessage("d")]
    turns = in_turns(said)
    assert [turn.text for turn in turns] == ["a\n\nb", "c", "row\n\nd"]
    assert isinstance(turns[2], ToolMessage)
    assert (turns[2].tool_call_id, turns[2].name) == ("1", "query_database")
    assert [message.text for message in said] == ["a", "b", "c", "row", "d"]
