"""A question that is decided by asking its database, step by step, as situations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_core.tools import BaseTool

from dqa.core.database import Database
from dqa.core.errors import UnparsableReplyError
from dqa.core.events import WarningEvent
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate, Question
from dqa.core.trajectories import Step
from dqa.deciders.answers import choice_of
from dqa.deciders.base import Settings
from dqa.deciders.candidates import nouns_of, offer_candidates
from dqa.deciders.choices import Choices, choices_of
from dqa.deciders.samples import about_of, shown_schema, tables_of, warning_of
from dqa.deciders.tools import query_tool, use_tool
from dqa_ldm2.identity import QuestionIdentity
from dqa_ldm2.prompting import prompt
from dqa_ldm2.queries.actions import DECIDE_FORM, FORM, beginning, seen, seen_of
from dqa_ldm2.situation import Situation


@dataclass(frozen=True, slots=True)
class AskedTask:
    """A question and its database, ready to be asked in steps.

    Attributes
    ----------
    question, database
        What is decided.
    start
        Before anything was asked.
    choices
        What can be chosen; None where nobody lists it.
    tool
        Runs statements.
    warnings
        What the model is not shown.
    """

    question: Question
    database: Database
    start: Situation
    choices: Choices | None
    tool: BaseTool
    warnings: tuple[WarningEvent, ...] = ()

    def run(self, statement: str) -> Evidence:
        """Run a statement by the guarded tool; its errors are evidence.

        Raises
        ------
        InfrastructureError
            The database failed.
        StoppedError
            A person who was asked ends the run.
        """
        return use_tool(self.tool, {"statement": statement})

    def choose(self, answer: str) -> Candidate | None:
        """Return the candidate that an answer names.

        Raises
        ------
        InvalidAnswerError
            It names none, or several; the message tells the model what to write.
        InfrastructureError
            The database failed.
        """
        return choice_of(answer, self.question, self.choices)

    def after(self, situation: Situation, action: str, evidence: Evidence) -> Situation:
        """Return where a statement led to."""
        return self._on(situation, action, seen_of(evidence, self.database.kind))

    def refused(
        self, situation: Situation, action: str, problem: UnparsableReplyError | str
    ) -> Situation:
        """Return where a decision led to that could not be taken."""
        return self._on(situation, action, seen(f"Error: {problem}", self.database.kind))

    @staticmethod
    def _on(situation: Situation, action: str, observation: str) -> Situation:
        steps = (*situation.steps, Step(situation.observation, action))
        return replace(situation, steps=steps, observation=observation)


def closing(situation: Situation) -> Situation:
    """Return a situation in which nothing more may be asked."""
    return replace(situation, free_form=DECIDE_FORM)


def read_task(question: Question, database: Database, settings: Settings) -> AskedTask:
    """Read what a question's database holds, and what can be chosen.

    Raises
    ------
    UsageError
        The candidates' statement cannot run.
    InfrastructureError
        The database failed.
    """
    display = settings.display
    choices = choices_of(question, database)
    offered, unoffered = offer_candidates(question, choices)
    schema = shown_schema(
        *(database, display.samples, about_of(question), display.schema_tokens),
        first=tables_of(question),
    )
    rules = prompt(
        "statements",
        rules=question.rules,
        language=database.language,
        schema=schema.to_text(),
        offered=offered,
    )
    start = Situation(
        question.text,
        beginning(database.kind),
        (),
        rules=rules,
        free_form=FORM,
        noun=nouns_of(question)[0],
        sources=frozenset({question.key}),
        identity=QuestionIdentity.of(question),
    )
    tool = query_tool(database, settings.limits, display, choices.names if choices else ())
    warnings: Sequence[WarningEvent | None] = (warning_of(schema), unoffered)
    told = tuple(one for one in warnings if one is not None)
    return AskedTask(question, database, start, choices, tool, told)
