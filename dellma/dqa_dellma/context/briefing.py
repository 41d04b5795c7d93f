"""The context of a decision: what queries return, shortened where it is too long (section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from dqa import plugins
from dqa.core.database import DEFAULT_LIMITS, Database, Kind, Limits
from dqa.core.display import DEFAULT_DISPLAY, Display
from dqa.core.errors import UsageError
from dqa.core.events import WarningEvent
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.candidates import candidates_of, nouns_of
from dqa.deciders.tools import observe
from dqa.models.conversation import Conversation
from dqa_dellma.context.naming import find_named_actions
from dqa_dellma.context.problem import Problem
from dqa_dellma.context.summaries import Shortener
from dqa_dellma.events import ContextEvent
from dqa_dellma.prompting import prompt

_LEAST_CONTEXT = 200
"""Fewest characters that goal and actions have to leave to rules and rows."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """What a question and its database say, read once, from which problems of any length are made.

    Attributes
    ----------
    goal
        The question's text, without how its scenario has it answered.
    actions
        Those that are compared.
    left_out
        Those that cannot be told from others like them, because no row names them.
    rules
        The business rules.
    tables
        What each query that could run returned.
    failed, cut
        How many queries could not run, and how many results a limit cut.
    noun
        What an action is called.
    states_form
        Whether the goal may still say how to answer; see `Problem`.
    """

    goal: str
    actions: tuple[Candidate, ...]
    left_out: tuple[Candidate, ...]
    rules: str
    tables: tuple[str, ...]
    failed: int
    cut: int
    noun: str = "action"
    states_form: bool = False

    @classmethod
    def of(  # noqa: PLR0913  (each is a question of its own to the decider)
        cls,
        question: Question,
        actions: tuple[Candidate, ...],
        database: Database,
        recorder: Recorder,
        *,
        limits: Limits = DEFAULT_LIMITS,
        display: Display = DEFAULT_DISPLAY,
    ) -> Self:
        """Run the question's own queries, or its scenario's; `recorder` keeps what they return.

        Raises
        ------
        UsageError
            Nothing says which rows to read, or no statement that says it can run.
        InfrastructureError
            The database failed.
        """
        queries = _queries(question, database.kind)
        found: list[Evidence] = []
        for query in queries:
            found.append(observe(database, query, limits, display, actions))
            recorder.add_evidence(found[-1])
        told = tuple(one.observation for one in found if one.error is None)
        if not told:
            first = found[0]
            raise UsageError(
                f"No query of the context can run: {first.statement!r} gives {first.observation}"
            )
        compared = find_named_actions(actions, told)
        kept = set(compared)
        cut = sum(one.cut is not None for one in found if one.error is None)
        if len(kept) < len(actions):
            recorder.note(_warning(len(kept), len(actions), cut))
        goal = _goal_of(question)
        return cls(
            goal=goal,
            actions=compared,
            left_out=tuple(action for action in actions if action not in kept),
            rules=question.rules,
            tables=told,
            failed=len(found) - len(told),
            cut=cut,
            noun=nouns_of(question)[0],
            states_form=goal == question.text,
        )

    @property
    def least(self) -> int:
        """Fewest characters of a problem: its goal and actions, and some for rules and rows."""
        return self._taken + _LEAST_CONTEXT

    @property
    def size(self) -> int:
        """Characters of the problem with all of its rules and rows."""
        return self._taken + len(self.rules) + len(self._rows)

    def problem(self, conversation: Conversation, most: int) -> Problem:
        """Make the decision problem: goal, actions and context.

        Parameters
        ----------
        conversation
            What summaries are asked for in; its recorder keeps what the context is.
        most
            Most characters of goal, actions, rules and rows together. Rules and rows that are
            longer than what the others leave are summarised piece by piece.

        Raises
        ------
        UsageError
            Goal and actions alone are too long.
        UnparsableReplyError
            Rules or rows are too long, and no reply shortens them.
        InfrastructureError, BudgetSpentError
            The model failed, or nothing is left to spend.
        """
        rules, rows = self.rules, self._rows
        for_rules, for_rows = _shares(len(rules), len(rows), self._room(most))
        shortener = Shortener(self.goal, self.actions, conversation)
        rules_summarised, summarised = len(rules) > for_rules, len(rows) > for_rows
        if rules_summarised:
            rules = shortener.shorten("rules", [rules], for_rules)
        if summarised:
            rows = shortener.shorten("rows", self.tables, for_rows)
        recorder = conversation.recorder
        recorder.note(
            ContextEvent(
                step=recorder.steps,
                goal=self.goal,
                rules=rules,
                actions=self.actions,
                left_out=self.left_out,
                text=rows,
                summarised=summarised,
                rules_summarised=rules_summarised,
                failed=self.failed,
                cut=self.cut,
            )
        )
        return self._problem(_context(rules, rows))

    def _problem(self, context: str) -> Problem:
        return Problem(self.goal, self.actions, context, self.noun, self.states_form)

    @property
    def _rows(self) -> str:
        return "\n\n".join(self.tables)

    @property
    def _taken(self) -> int:
        """How many characters goal and actions take."""
        return len(prompt("task", problem=self._problem(_context("", ""))))

    def _room(self, most: int) -> int:
        """Return how many characters goal and actions leave to rules and rows."""
        taken = self._taken
        if most - taken < _LEAST_CONTEXT:
            raise UsageError(
                f"The goal and {len(self.actions)} actions alone take {taken} of the {most} "
                "characters that dellma.context allows, which leaves no room for what the database "
                f"holds: raise it with --set dellma.context={2 * (taken + _LEAST_CONTEXT)}, or "
                "list fewer actions."
            )
        return most - taken


def _warning(compared: int, total: int, cut: int) -> WarningEvent:
    why = "as no row of the context names the others"
    mend = "select what names them (--context, or 'context' of a file's question)"
    if cut:
        why = "as the rows of the context that name the others were cut by a limit"
        mend = "narrow the candidates or the rows, or raise --row-limit"
    return WarningEvent(
        about="candidates",
        text=f"Only {compared:,} of {total:,} candidates were compared, {why}: {mend}.",
        considered=compared,
        total=total,
    )


def list_actions(question: Question, database: Database) -> tuple[Candidate, ...]:
    """Return what can be chosen; `UsageError` where there is nothing."""
    check_question(question)
    listed = candidates_of(question, database)
    if not listed:
        raise _without_actions(question)
    return listed


def check_question(question: Question) -> None:
    """Refuse a question that cannot be decided whatever its database holds; `UsageError`."""
    if question.candidates or (question.candidates is None and question.candidate_query):
        return
    raise _without_actions(question)


def _without_actions(question: Question) -> UsageError:
    return UsageError(
        f"Question '{question.key}' has no action to choose from, and DeLLMa compares actions: "
        "list them (--candidates, or 'candidates' of a file's question)."
    )


def _queries(question: Question, kind: Kind) -> tuple[str, ...]:
    if question.context_queries:
        return question.context_queries
    scenario = plugins.scenario_of(question)
    queries = () if scenario is None else scenario.context(question, kind)
    if queries:
        return queries
    raise UsageError(
        f"Nothing says what DeLLMa is to read about '{question.key}': give statements with "
        "--context, or take a decider that writes its own."
    )


def _context(rules: str, rows: str) -> str:
    return prompt("context", rules=rules, rows=rows)


def _goal_of(question: Question) -> str:
    scenario = plugins.scenario_of(question)
    return question.text if scenario is None else scenario.goal_of(question)


def _shares(rules: int, rows: int, room: int) -> tuple[int, int]:
    """Return the most characters of rules and of rows: each has what the other leaves, or half."""
    half = room // 2
    return max(half, room - rows), max(half, room - rules)
