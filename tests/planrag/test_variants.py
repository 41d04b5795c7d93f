"""Every agent, in both protocols, on relational and graph databases."""

from __future__ import annotations

import json
from itertools import product
from typing import Any, Literal

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from pydantic import Field

from dqa import plugins
from dqa.core.decision import Decision, Ending
from dqa.core.events import Event
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.evaluation.results import DecisionKey
from dqa.evaluation.traces import Trace
from dqa.models.scripted import ScriptedModel
from dqa_planrag.deciders import Agent
from dqa_planrag.recipes import RECIPES, Recipe
from tests.planrag.conftest import assert_sendable

PROTOCOLS: tuple[Literal["react", "tools"], ...] = ("react", "tools")
QUICK = ("planrag", "planrag-sim", "singlerag")
EMBEDDED = ("sqlite", "ladybug")


def events_of(decision: Decision, kind: str) -> list[Event]:
    """Return the events of one kind."""
    return [event for event in decision.trace if event.kind == kind]


class Watched(ScriptedModel):
    """The scripted analyst, which records its requests."""

    script: str = "analyst"
    sent: list[list[BaseMessage]] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *arguments: Any, **options: Any) -> ChatResult:
        self.sent.append(list(messages))
        return super()._generate(messages, *arguments, **options)


@pytest.mark.parametrize(
    "recipe",
    [
        pytest.param(recipe, id=recipe.name, marks=() if recipe.name in QUICK else pytest.mark.slow)
        for recipe in RECIPES
    ],
)
def test_every_variant_decides_alike_in_both_protocols_and_on_both_kinds(
    recipe: Recipe, questions: QuestionSet
) -> None:
    """Providers accept every request, no statement fails, and every trace is read back."""
    for question in (questions.find("locating/1"), questions.find("building/1")):
        chosen = set()
        for name, backend in product(PROTOCOLS, EMBEDDED):
            database = plugins.backend(backend).load(questions.situation_of(question))
            settings, model = Settings(protocol=name, rules="paper"), Watched()
            decision = Agent(recipe, model, settings).decide(question, database)
            database.close()
            assert decision.ending is Ending.ANSWERED
            assert [e.error for e in decision.evidence if e.error] == []
            assert events_of(decision, "parse_failure") == []
            assert len(model.sent) == decision.usage.calls > 1
            for messages in model.sent:
                assert_sendable(messages)
            steps = [event.step for event in decision.trace if event.kind != "prompt"]
            assert steps == sorted(steps)
            chosen.add((decision.choice, len(decision.evidence), len(decision.plans)))
            asked = DecisionKey(question.key, backend, recipe.name)
            trace = Trace.of(asked, decision, kind=database.kind, model="scripted:analyst")
            assert Trace.model_validate(json.loads(json.dumps(trace.to_json()))) == trace
        assert len(chosen) == 1
        assert None not in chosen.pop()
