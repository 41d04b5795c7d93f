"""Chat models with scripted replies, and a small problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.events import Event, StepEvent
from dqa.core.question import Candidate, Question
from dqa.deciders.base import Settings
from dqa.deciders.method import Asking
from dqa.testing.models import PreparedReplies, Reply, Request
from dqa_dellma.deciders import ProblemDecider
from dqa_dellma.findings import ContextRead, Ranking
from dqa_dellma.problem import Problem
from dqa_dellma.scripted.analyst import RESPONDER
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.steps.dellma import Dellma
from dqa_dellma.utilities.beliefs import judge
from tests.scenarios.worlds import questions


def problem(*actions: Candidate) -> Problem:
    """Return a problem of actions."""
    read = ContextRead(
        goal="Earn much.", rules="", actions=actions, text="Pears sell well.", failed=0, cut=0
    )
    return Problem(read)


PROBLEM = problem("apple", "pear")
BELIEFS = judge(
    {
        "Rain": {"little": "likely", "much": "unlikely"},
        "Demand": {"low": "very likely", "high": "very unlikely"},
    }
)


def analyst_reply(request: Request) -> str:
    """Return the reply of the scripted analyst."""
    return RESPONDER.reply(request.messages, (), "analyst", 0).text


def step_of(request: Request) -> str:
    """Return the text of the requested step, without later corrections."""
    texts = [message.text for message in request.messages]
    task = next((text for text in reversed(texts) if "\n# Step: " in text), texts[-1])
    return task.rpartition("\n# Step: ")[2]


def replying(*replies: Reply) -> PreparedReplies:
    """Return a model that sends the replies in order and repeats the last."""
    return PreparedReplies(lambda request: replies[min(request.number, len(replies) - 1)])


def analyst_but(**replies: Callable[[Request], Reply]) -> PreparedReplies:
    """Return the scripted analyst with other replies for steps that begin with a word."""

    def reply(request: Request) -> Reply:
        step = step_of(request)
        other = next((reply for word, reply in replies.items() if step.startswith(word)), None)
        return analyst_reply(request) if other is None else other(request)

    return PreparedReplies(reply)


def conversation(*replies: Reply, model: Any = None) -> Asking:
    """Return a conversation with a model that sends the replies."""
    return Asking("dqa_dellma", model or replying(*replies))


def decider(kind: type[ProblemDecider], own: BaseModel | None = None) -> Any:
    """Return a decider with its own settings."""
    return kind("mine", replying("never asked"), Settings(own=own))


def dellma(**own: Any) -> Dellma:
    """Return DeLLMa with its settings."""
    made: Dellma = decider(Dellma, DellmaSettings(**own))
    return made


def prompts_of(found: Asking) -> list[str]:
    """Return the prompts of a conversation."""
    assert isinstance(found.model, PreparedReplies)
    return [request.last for request in found.model.requests]


def data_of(events: Sequence[Event], kind: str) -> list[Mapping[str, Any]]:
    """Return the data of the events of a kind, or the results of a step."""
    steps = [event for event in events if isinstance(event, StepEvent) and event.purpose == kind]
    if steps:
        return [step.result for step in steps]
    return [
        event.model_dump(mode="json", exclude={"kind", "step"})
        for event in events
        if event.kind == kind
    ]


def ranking(items: Sequence[int], shown: Sequence[int] | None = None, **counts: Any) -> Ranking:
    """Return a ranking of items, best first; `shown` defaults to the items."""
    return Ranking(items=tuple(items), shown=tuple(shown or items), **counts)


def world(scenario: str = "agriculture", backend: str = "sqlite") -> tuple[Question, Database]:
    """Return the generated question of a scenario with its database; the caller closes it."""
    question = questions().find(f"{scenario}/1")
    return question, plugins.backend(backend).load(questions().situation_of(question))


def decide(  # noqa: PLR0917  (as the parts of a run come)
    decider: str,
    model: BaseChatModel,
    question: Question,
    database: Database,
    options: Mapping[str, object] = MappingProxyType({}),
    settings: Settings | None = None,
) -> Decision:
    """Decide a question with DeLLMa's settings by name."""
    qualified = {f"dellma.{name}": str(value) for name, value in options.items()}
    settings = replace(settings or Settings(), options=qualified)
    return plugins.decider(decider)(model, settings).decide(question, database)
