"""The agents as deciders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import BaseTool

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision
from dqa.core.errors import InfrastructureError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.core.review import reviewed_by
from dqa.deciders.answers import choice_of
from dqa.deciders.base import Example, Settings
from dqa.deciders.candidates import offer_candidates
from dqa.deciders.choices import Choices, choices_of
from dqa.deciders.lookup import lookup_tools
from dqa.deciders.samples import about_of, shown_schema, tables_of, warning_of
from dqa.deciders.simulation import Simulation
from dqa.deciders.statements import read_statement
from dqa.deciders.tools import plugin_tools, query_tool, simulation_tools
from dqa.models.scripted import scripted_model
from dqa.scenarios.catalogue import scenarios
from dqa_planrag import prompting
from dqa_planrag.loop import Loop
from dqa_planrag.recipes import Recipe
from dqa_planrag.scripted import check_script
from dqa_planrag.state import Role, Run
from dqa_planrag.toolbox import Toolbox

_EXAMPLE_MODEL = "analyst"
"""The scripted model whose run is the example."""


class Agent(Decider):
    """A retrieval agent: a recipe, its chat models and the shared loop."""

    def __init__(self, recipe: Recipe, model: BaseChatModel, settings: Settings) -> None:
        self.name = recipe.name
        if not recipe.simulates and not recipe.sees_example:
            # Rules are run on candidates, and examples are worked on questions that have them.
            self.answer_forms = ("candidate", "statement")
        self._recipe = recipe
        self._settings = settings
        models: dict[Role, BaseChatModel] = {"agent": model, "planner": settings.planner or model}
        self._models = tuple(models.values())
        self._loop = Loop(recipe, models, settings)
        self._examples: dict[tuple[str, str, str], list[BaseMessage]] = {}

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.core.decider.Decider`.

        Raises
        ------
        UsageError
            The agent simulates and the scenario has no simulator, or it is to be shown an example
            and there is no other question.
        """
        recorder = self._settings.recorder()
        try:
            example = self._example(question, database)
            return self._run(question, database, recorder, example)[0]
        except InfrastructureError as error:
            # Before the loop began: while the schema or the candidates were read.
            return recorder.failed(error)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question that this agent could never decide."""
        if self._recipe.simulates:
            Simulation.check(question, self._settings.rules)
        scenario = plugins.scenario_of(question)
        if scenario is None:
            return
        schema = scenario.schema
        for model in self._models:
            check_script(model, schema)
        if self._recipe.sees_example:
            try:
                check_script(scripted_model(_EXAMPLE_MODEL), schema)
            except UsageError:
                raise self._no_example(question, "none can be made") from None

    def _run(
        self,
        question: Question,
        database: Database,
        recorder: Recorder,
        example: list[BaseMessage],
        language: str | None = None,
    ) -> tuple[Decision, list[BaseMessage]]:
        """Return the decision and the conversation that led to it."""
        recipe, settings = self._recipe, self._settings
        candidates = choices_of(question, database)
        offered, unoffered = offer_candidates(question, candidates)
        display = settings.display
        schema = shown_schema(
            *(database, display.samples, about_of(question), display.schema_tokens),
            first=tables_of(question),
        )
        tools, added = self._tools(question, database, candidates.names if candidates else ())
        # Who reads once has no reply to spend on looking something up.
        looking_up = () if schema.is_whole or recipe.reads_once else lookup_tools(database, display)
        run = Run(
            question,
            self._chooser(question, database, candidates),
            Toolbox((*tools, *looking_up, *added), question.answer_form),
            lambda plan: prompting.task(
                question, database, schema, plan, language=language, candidates=offered
            ),
            recorder,
            {"agent": [], "planner": []},
        )
        bounds = prompting.Bounds(
            settings.limits, settings.max_steps, display, question.answer_form
        )
        told = prompting.joined(
            prompting.blocks(recipe, settings.protocol, bounds, added, looking_up)
        )
        run.messages["agent"] += [SystemMessage(told), *example]
        for warning in (unoffered, warning_of(schema)):
            if warning is not None:
                recorder.note(warning)
        task = HumanMessage(
            prompting.task(question, database, schema, language=language, candidates=offered)
        )
        if recipe.planner_apart:
            told = prompting.planner_instructions(settings.protocol, question.answer_form)
            run.messages["planner"].append(SystemMessage(told))
        first: Role = "planner" if recipe.planner_apart else "agent"
        run.messages[first].append(task)
        run.note_prompt(first)
        return self._loop.run(run), run.messages["agent"]

    def _chooser(
        self, question: Question, database: Database, candidates: Choices | None
    ) -> Callable[[str], Candidate | None]:
        """Return what reads an answer: the candidate that it names, or the statement it gives."""
        if question.answer_form == "statement":
            limits = self._settings.limits
            return lambda answer: read_statement(answer, database, limits)
        return lambda answer: choice_of(answer, question, candidates)

    def _tools(
        self, question: Question, database: Database, candidates: tuple[Candidate, ...]
    ) -> tuple[tuple[BaseTool, ...], tuple[BaseTool, ...]]:
        """Return the tools that the recipe has, and those that plug-ins add."""
        limits, display = self._settings.limits, self._settings.display
        tools: tuple[BaseTool, ...] = (query_tool(database, limits, display, candidates),)
        if self._recipe.simulates:
            simulation = Simulation.of(question, database, self._settings.rules)
            tools += simulation_tools(simulation, limits, display)
        return tools, plugin_tools(question, database, self._settings)

    def _example(self, question: Question, database: Database) -> list[BaseMessage]:
        """Return another question's run as a conversation, for an agent that is shown one.

        It is the run of the scripted analyst on the first other question that it gets right, in
        this agent's own format: it shows the format and a sound analysis, on other data.
        """
        if not self._recipe.sees_example:
            return []
        source, tried = self._settings.examples, 0
        for other in source.others(question, database.kind) if source is not None else ():
            key = (other.question.key, other.question.situation, database.language)
            if key not in self._examples:
                self._examples[key] = self._worked(other, database.language)
            if self._examples[key]:
                return self._examples[key]
            tried += 1
        found = f"none of {tried} could be used" if tried else "there is none"
        raise self._no_example(question, found)

    def _no_example(self, question: Question, found: str) -> UsageError:
        known = ", ".join(
            found.name for found in scenarios() if _EXAMPLE_MODEL in found.document.scripts
        )
        return UsageError(
            f"'{self.name}' is shown another question's run first, and {found} beside "
            f"'{question.key}'. The examples are worked by the scripted analyst, who knows the "
            f"scenarios {known}, in 'dqa eval': take "
            f"'{self.name.removesuffix('-one-shot')}' elsewhere."
        )

    def _worked(self, example: Example, language: str) -> list[BaseMessage]:
        """Return an example's run as a conversation; an empty one where it is no good example."""
        worker = Agent(
            replace(self._recipe, sees_example=False),
            scripted_model(_EXAMPLE_MODEL),
            Settings(protocol=self._settings.protocol, display=self._settings.display),
        )
        try:
            with reviewed_by(None):  # nobody is asked about what is only an example
                decision, messages = worker._run(
                    example.question, example.database, Recorder(), [], language
                )
        except UsageError:
            # The analyst knows no such scenario.
            return []
        return _as_example(messages[1:]) if example.accepts(decision.choice) else []


def _as_example(messages: list[BaseMessage]) -> list[BaseMessage]:
    """Return a run under ids of its own: providers want each call's once in a conversation."""
    shown: list[BaseMessage] = []
    for message in messages:
        if isinstance(message, AIMessage):
            calls = [{**call, "id": f"example_{call['id']}"} for call in message.tool_calls]
            shown.append(message.model_copy(update={"tool_calls": calls}))
        elif isinstance(message, ToolMessage):
            name = f"example_{message.tool_call_id}"
            shown.append(message.model_copy(update={"tool_call_id": name}))
        else:
            shown.append(message)
    if isinstance(shown[-1], ToolMessage):
        # The task comes next, and some providers take no user's turn after a tool's.
        shown.append(AIMessage("That is my decision."))
    return shown
