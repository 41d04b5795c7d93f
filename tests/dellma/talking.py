"""Chat models that say what a test wants, and the small problem they are asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision
from dqa.core.events import Event
from dqa.core.question import Question
from dqa.deciders.base import Settings
from dqa_dellma.asking import Asker
from dqa_dellma.context.problem import Problem
from dqa_dellma.scripted.analyst import reply_to_step
from dqa_dellma.utilities.beliefs import Belief, Beliefs, Factor
from tests.scenarios.worlds import questions

PROBLEM = Problem("Earn much.", ("apple", "pear"), "Pears sell well.")
BELIEFS = Beliefs(
    (
        Belief(Factor("Rain", ("little", "much")), ("likely", "unlikely")),
        Belief(Factor("Demand", ("low", "high")), ("very likely", "very unlikely")),
    )
)


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
        return reply_to_step(text, "analyst", 0) if other is None else other(text)

    return Talking(program=program)


def asker(*replies: object) -> Asker:
    """Ask somebody who says the replies."""
    return Asker(saying(*replies), Settings())


def said_to(found: Asker) -> list[str]:
    """Return the prompts that an asker's model got."""
    assert isinstance(found.model, Talking)
    return found.model.prompts


def noted(events: Sequence[Event], kind: str) -> list[Mapping[str, Any]]:
    """Return the data of the events of a kind."""
    return [event.data for event in events if event.kind == kind]


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
    bounds = settings or Settings()
    settings = Settings(
        max_parse_failures=bounds.max_parse_failures,
        limits=bounds.limits,
        calls=bounds.calls,
        options=given,
    )
    return plugins.decider(decider)(model, settings).decide(question, database)
