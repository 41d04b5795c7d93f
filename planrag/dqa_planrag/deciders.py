"""The agents as deciders, and the factories that the entry points name."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from dqa.databases.base import Database
from dqa.databases.tools import query_tool
from dqa.deciders.base import Settings
from dqa.deciders.matching import match_candidate
from dqa.decision import Decision, Ending
from dqa.errors import UsageError
from dqa.question import Question
from dqa_planrag.loop import Run, State, build_graph, initial_state
from dqa_planrag.recipes import RECIPES, Recipe, prompt

__all__ = ["ITERRAG", "PLANRAG", "PLANRAG_NO_REPLAN", "SINGLERAG", "Agent", "AgentFactory"]

_NODES_PER_STEP = 4


class Agent:
    """A retrieval agent: a recipe, a chat model and the shared loop."""

    def __init__(self, recipe: Recipe, model: BaseChatModel, settings: Settings) -> None:
        self.name = recipe.name
        self._recipe = recipe
        self._settings = settings
        self._graph = build_graph(recipe, model, settings)

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.deciders.base.Decider`."""
        started = time.perf_counter()
        run = Run(query_tool(database, self._settings.limits))
        state = initial_state(self._messages(question, database))
        # The loop counts its own steps; LangGraph's limit only has to be out of the way.
        limit = _NODES_PER_STEP * (self._settings.max_steps + 1)
        final = self._graph.invoke(state, RunnableConfig(recursion_limit=limit), context=run)
        return _decision(question, cast("State", final), time.perf_counter() - started)

    def _messages(self, question: Question, database: Database) -> list[BaseMessage]:
        instructions = prompt(self._recipe.instructions)
        task = prompt("task").substitute(
            question=question.text,
            rules=question.rules,
            kind=f"{database.kind} database",
            language=database.language,
            schema=database.schema().to_text(),
        )
        return [
            SystemMessage(instructions.safe_substitute(max_steps=self._settings.max_steps)),
            HumanMessage(task),
        ]


def _decision(question: Question, final: State, seconds: float) -> Decision:
    ending, reply = final["ending"], final["reply"]
    if ending is None:
        raise AssertionError("the loop ended without saying how")
    answered = ending is Ending.ANSWERED
    answer = (reply.answer or "") if answered and reply is not None else ""
    choice = None
    if answered and question.candidates is not None:
        choice = match_candidate(answer, question.candidates).choice
    return Decision(
        ending=ending,
        answer=answer,
        choice=choice,
        evidence=tuple(final["evidence"]),
        plans=tuple(final["plans"]),
        usage=final["usage"],
        steps=final["steps"],
        seconds=seconds,
        error=None if answered else final["problem"],
        outage=final["outage"],
        trace=tuple(final["events"]),
    )


@dataclass(frozen=True, slots=True)
class AgentFactory:
    """Makes an agent of one recipe for any model."""

    recipe: Recipe
    needs_model: bool = True

    @property
    def name(self) -> str:
        """What commands call the agent."""
        return self.recipe.name

    @property
    def description(self) -> str:
        """One line on what the agent does."""
        return self.recipe.description

    def __call__(self, model: BaseChatModel | None, settings: Settings) -> Agent:
        """Make the agent; `UsageError` without a model."""
        if model is None:
            raise UsageError(
                f"The decider '{self.name}' needs a chat model; name one with --model."
            )
        return Agent(self.recipe, model, settings)


SINGLERAG, ITERRAG, PLANRAG, PLANRAG_NO_REPLAN = (AgentFactory(recipe) for recipe in RECIPES)
