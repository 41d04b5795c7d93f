"""Read the task of a decision: the question, its rows, and the position if it is a move."""

from __future__ import annotations

from dataclasses import dataclass

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.deciders.candidates import list_candidates
from dqa.deciders.context import cut_rows, goal_of, read_context
from dqa.deciders.tools import observe
from dqa.worlds.base import find_position, is_move
from dqa.worlds.event_table import events_statement
from dqa.worlds.observed import EVENTS_STATEMENT, game_filter, game_number
from dqa.worlds.world import Position

METHOD = "BIDDER"
_HISTORY = {
    "events": EVENTS_STATEMENT,
    "outcomes": "SELECT player, payoff FROM outcomes{where} ORDER BY player",
    "hidden": "SELECT player, name, value FROM hidden{where} ORDER BY player, name",
}
"""For each table of a history, the statement that reads it."""
_SHOWN_BY_POSITION = frozenset({"events", "hidden"})
"""The history tables that a prompt already shows in the description of the position."""
_DECIDER = "the decision maker"
_MOST = 2_000
"""The maximum number of actions in a prompt."""


@dataclass(frozen=True, slots=True)
class Task:
    """The task of a decision.

    Attributes
    ----------
    scenario
        The name of the scenario.
    goal
        The text of the question.
    rules
        The business rules, or the rules of the game.
    actions
        The legal actions.
    rows
        The query results that the description of the position does not contain.
    noun
        The word for an action, such as "trade node".
    states_form
        Whether `goal` is the exact text of the question. This text may prescribe the form of the
        answer.
    position
        The current position if the question is a move in a game; otherwise None.
    form
        The form in which the model may write an action that is not listed; see
        `dqa.core.question.Question.free_form`.
    """

    scenario: str
    goal: str
    rules: str
    actions: tuple[Candidate, ...]
    rows: str = ""
    noun: str = "action"
    states_form: bool = False
    position: Position | None = None
    form: str = ""

    @property
    def mover(self) -> str:
        """The name of the deciding player."""
        return (self.position and self.position.mover) or _DECIDER

    @property
    def played(self) -> int:
        """The number of real events. Prompts mark later events as assumed."""
        return 0 if self.position is None else len(self.position.events)


def read_task(
    question: Question, database: Database, recorder: Recorder, settings: Settings, most: int
) -> Task:
    """Read the task of a question, and record every statement as evidence.

    Parameters
    ----------
    question
        The question.
    database
        The database of the question.
    recorder
        Records the statements.
    settings
        The limits of statements.
    most
        The maximum number of characters of rows.

    Raises
    ------
    UsageError
        The question has no action, or does not define which rows to read.
    DataError
        The history of a move has gaps, or breaks the rules.
    InfrastructureError
        The database failed.
    """
    if is_move(question):
        return _read_move(question, database, recorder, settings, most)
    listed = list_candidates(question, database, METHOD)
    read = read_context(METHOD, question, listed, database, recorder, settings)
    if len(read.actions) > _MOST:
        raise UsageError(
            f"Question '{question.key}' has {len(read.actions):,} actions to compare, but a prompt "
            f"lists at most {_MOST:,}. Use a context that lists fewer actions (--context)."
        )
    return Task(
        scenario=question.scenario,
        goal=read.goal,
        rules=read.rules,
        actions=read.actions,
        rows=cut_rows("\n\n".join(read.tables), most, recorder, "bidder.context"),
        noun=read.noun,
        states_form=read.states_form,
        form=question.free_form,
    )


def _read_move(
    question: Question, database: Database, recorder: Recorder, settings: Settings, most: int
) -> Task:
    """Read the history with queries, and rebuild the position from it."""
    shown: list[str] = []
    for table, statement in _statements(question, database):
        found = observe(database, statement, settings.limits, settings.display)
        recorder.add_evidence(found)
        if table not in _SHOWN_BY_POSITION and found.error is None and found.row_count:
            shown.append(found.observation)
    position = find_position(question, database)
    return Task(
        scenario=question.scenario,
        goal=goal_of(question),
        rules=question.rules,
        actions=position.actions,
        rows=cut_rows("\n\n".join(shown), most, recorder, "bidder.context"),
        position=position,
        form=question.free_form,
    )


def _statements(question: Question, database: Database) -> list[tuple[str, str]]:
    """Return the statements to run, as pairs of a history table's name and a statement.

    The name is empty if the statement does not read a history table. In order of priority, the
    statements are those of the question, of the game's history, or of the scenario.
    """
    if question.context_queries:
        return [("", statement) for statement in question.context_queries]
    if question.scenario in plugins.names("world"):
        existing = {table.name for table in database.schema().tables} & {*_HISTORY}
        if existing:
            where = game_filter(game_number(question))
            return [
                (name, text.format(where=where))
                for name, text in _HISTORY.items()
                if name in existing
            ]
    scenario = plugins.scenario_of(question)
    events = events_statement(question, database.kind)
    context = () if scenario is None else scenario.context(question, database.kind)
    return [*((("events", events),) if events else ()), *(("", one) for one in context)]
