"""Chat models that say what a test wants, and the small problem they are asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel, Field

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.events import Event, StepEvent
from dqa.core.question import Question
from dqa.deciders.base import Settings
from dqa.deciders.method import Asking
from dqa_dellma.deciders import ProblemDecider
from dqa_dellma.findings import Ranking
from dqa_dellma.problem import Problem
from dqa_dellma.scripted.analyst import RESPONDER
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.steps.dellma import Dellma
from dqa_dellma.utilities.beliefs import judge
from tests.scenarios.worlds import questions

PROBLEM = Problem("Earn much.", ("apple", "pear"), "Pears sell well.")
BELIEFS = judge(
    {
        "Rain": {"little": "likely", "much": "unlikely"},
        "Demand": {"low": "very likely", "high": "very unlikely"},
    }
)


_latest: list[BaseMessage] = []


def analyst_reply(script: str = "analyst") -> str:
    """Return what a script says to the latest request of a `Talking` model."""
    return RESPONDER.reply(_latest, (), script, 0).text


class Talking(BaseChatModel):
    """Says what a program makes of the last step it was set and of how many requests came before.

    Attributes
    ----------
    program
        Gives a text, a whole message or an error to raise.
    prompts
        The last message of every request.
    temperatures
        What every request asked for; None where it asked for none.
    """

    program: Callable[[str, int], Any]
    prompts: list[str] = Field(default_factory=list)
    temperatures: list[float | None] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "talking"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.prompts.append(messages[-1].text)
        _latest[:] = messages
        self.temperatures.append(kwargs.get("temperature"))
        texts = [message.text for message in messages]
        task = next((text for text in reversed(texts) if "\n# Step: " in text), texts[-1])
        said = self.program(task, len(self.prompts) - 1)
        if isinstance(said, Exception):
            raise said
        message = AIMessage(said) if isinstance(said, str) else said
        usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
        message = message.model_copy(update={"usage_metadata": usage})
        return ChatResult(generations=[ChatGeneration(message=message)])


def saying(*replies: object) -> Talking:
    """Say the replies one after the other, the last one for ever."""
    return Talking(program=lambda text, number: replies[min(number, len(replies) - 1)])


def analyst_but(**replies: Callable[[str], object]) -> Talking:
    """Follow the scripted analyst, but for steps that begin with a word: those say their own."""

    def program(text: str, number: int) -> object:
        del number
        step = text.rpartition("\n# Step: ")[2]
        other = next((reply for word, reply in replies.items() if step.startswith(word)), None)
        return analyst_reply() if other is None else other(text)

    return Talking(program=program)


def conversation(*replies: object, model: Any = None) -> Asking:
    """Ask a model that says the replies."""
    return Asking("dqa_dellma", model or saying(*replies))


def decider(kind: type[ProblemDecider], own: BaseModel | None = None) -> Any:
    """Return a decider with settings of its own."""
    return kind("mine", saying("never asked"), Settings(own=own))


def dellma(**own: Any) -> Dellma:
    """Return DeLLMa with its settings."""
    made: Dellma = decider(Dellma, DellmaSettings(**own))
    return made


def said_to(found: Asking) -> list[str]:
    """Return the prompts that a conversation's model got."""
    assert isinstance(found.model, Talking)
    return found.model.prompts


def noted(events: Sequence[Event], kind: str) -> list[Mapping[str, Any]]:
    """Return the data of the events of a kind, or the results of a step, as a trace holds it."""
    steps = [event for event in events if isinstance(event, StepEvent) and event.purpose == kind]
    if steps:
        return [step.result for step in steps]
    return [
        event.model_dump(mode="json", exclude={"kind", "step"})
        for event in events
        if event.kind == kind
    ]


def ranking(items: Sequence[int], shown: Sequence[int] | None = None, **counts: Any) -> Ranking:
    """Return a ranking of items, best first, that were all there was unless `shown` says more."""
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
    """Let a decider decide, with settings of DeLLMa's by name."""
    given = {f"dellma.{name}": str(value) for name, value in options.items()}
    settings = replace(settings or Settings(), options=given)
    return plugins.decider(decider)(model, settings).decide(question, database)
