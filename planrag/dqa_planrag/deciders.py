"""The decider that runs an agent."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import SystemMessage

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision
from dqa.core.errors import InfrastructureError
from dqa.core.events import PromptEvent
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.answers import choice_of, read_statement
from dqa.deciders.base import Settings
from dqa.deciders.candidates import MOST_COMPARED, candidates_of
from dqa.deciders.lookup import lookup_tools
from dqa.deciders.parts import shown_schema, warning_of
from dqa.deciders.simulation import Simulation
from dqa.deciders.tools import query_tool, simulation_tools
from dqa.models.scripted.steps import Task
from dqa.worlds.observed import move_number
from dqa_planrag import prompting
from dqa_planrag.loop import Loop
from dqa_planrag.offering import about_of, offer_candidates, tables_of
from dqa_planrag.recipes import PlanSettings, Recipe
from dqa_planrag.run import Run
from dqa_planrag.scripted import TaskPrompt, check_script
from dqa_planrag.toolbox import Toolbox


class Agent(Decider):
    """A retrieval agent: a recipe and a chat model, run by the shared loop."""

    def __init__(self, recipe: Recipe, model: BaseChatModel, settings: Settings) -> None:
        self.name = recipe.name
        if not recipe.simulates:  # only candidates can be simulated
            self.answer_forms = ("candidate", "statement")
        self._recipe = recipe
        self._model = model
        self._settings = settings
        self._loop = Loop(recipe, model, settings)
        self._keeps = isinstance(settings.own, PlanSettings) and settings.own.keep
        self._plans: dict[str, tuple[int, str]] = {}

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.core.decider.Decider`.

        Raises
        ------
        UsageError
            The agent simulates, but the scenario has no simulator.
        """
        recorder = self._settings.recorder()
        try:
            return self._run(question, database, recorder)
        except InfrastructureError as error:  # the schema or the candidates could not be read
            return recorder.failed(error)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question that this agent cannot decide."""
        if self._recipe.simulates:
            Simulation.check(question, self._settings.rules)
        if plugins.scenario_of(question) is not None:
            check_script(self._model, question)

    def _run(self, question: Question, database: Database, recorder: Recorder) -> Decision:
        recipe, settings = self._recipe, self._settings
        display, form = settings.display, question.answer_form
        candidates = candidates_of(question, database)
        offered, too_many = offer_candidates(question, candidates)
        schema = shown_schema(
            *(database, display.samples, about_of(question), display.schema_tokens),
            first=tables_of(question),
        )
        # An agent that may query only once must not spend this query on the schema.
        looking_up = () if schema.is_whole or recipe.reads_once else lookup_tools(database, display)
        for warning in (too_many, warning_of(schema)):
            if warning is not None:
                recorder.note(warning)
        names = candidates if candidates and len(candidates) <= MOST_COMPARED else ()
        tools = [query_tool(database, settings.limits, display, names)]
        if recipe.simulates:
            rules, limits = settings.rules, settings.limits
            tools += simulation_tools(Simulation(question, database, rules, limits, display))

        def choose(answer: str) -> Candidate | None:
            if form == "statement":
                return read_statement(answer, database, settings.limits)
            return choice_of(answer, question, candidates)

        text_before = prompting.instructions(prompting.layout(recipe), settings, form, looking_up)
        prompt = TaskPrompt(
            content=prompting.task(question, database, schema, offered, self._last_plan(question)),
            task=Task(
                *(question, database.kind == "graph"),
                *(recipe.reads_once, recipe.plans, recipe.simulates),
            ),
            recipe=recipe,
            recorder=recorder,
        )
        run = Run(
            question,
            choose,
            Toolbox((*tools, *looking_up), form),
            recorder,
            [SystemMessage(text_before), prompt],
        )
        recorder.note(PromptEvent(messages=tuple((one.type, one.text) for one in run.messages)))
        decision = self._loop.run(run)
        if self._keeps and recorder.plans and (move := move_number(question)) is not None:
            self._plans[question.target["game"]] = (move, recorder.plans[-1])
        return decision

    def _last_plan(self, question: Question) -> str:
        """Return the last plan from an earlier move of the same game; empty if there is none."""
        before, plan = self._plans.get(question.target.get("game", ""), (0, ""))
        return plan if before < (move_number(question) or 0) else ""
