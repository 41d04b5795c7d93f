"""Read the situation of a decision: the goal, the steps so far, and the observation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Step
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.deciders.candidates import list_candidates
from dqa.deciders.context import check_question, cut_rows, goal_of, read_context
from dqa.deciders.prompting import fold
from dqa.deciders.replies import Options
from dqa.deciders.tools import observe
from dqa.worlds.base import find_position, is_move
from dqa.worlds.observed import (
    EPISODE,
    EVENTS_STATEMENT,
    GOAL,
    LEFT,
    ObservedPosition,
    game_filter,
    game_number,
    read_observed,
    trajectory_of,
)
from dqa.worlds.world import GameEvent
from dqa_ldm2.identity import QuestionIdentity

METHOD = "LDM2"


@dataclass(frozen=True, slots=True)
class Situation:
    """A goal, and the current state.

    Attributes
    ----------
    goal
        The goal.
    observation
        The current observation.
    actions
        The legal actions.
    steps
        The earlier observations and actions.
    rules
        The business rules, or the rules of the world.
    free_form
        A form in which the model may write an action that is not listed; see `Question.free_form`.
    noun
        The word for an action, such as "trade node".
    sources
        Names under which a memory may store this question or episode. Tuples with these sources are
        never retrieved.
    key
        The key of the question, such as ``locating/3``. The source of the question's trajectories
        may end with this key.
    identity
        The identity of the question or episode. Tuples of the question are recognised by this
        identity, even if their source has another name.
    left
        The number of actions that the player may still take; None if the number is not limited.
    """

    goal: str
    observation: str
    actions: tuple[Candidate, ...]
    steps: tuple[Step, ...] = ()
    rules: str = ""
    free_form: str = ""
    noun: str = "action"
    sources: frozenset[str] = field(default_factory=frozenset)
    key: str = ""
    identity: QuestionIdentity | None = None
    left: int | None = None

    @property
    def options(self) -> Options:
        """The actions that a reply may choose."""
        return Options(self.actions, self.noun, self.free_form)

    @property
    def only_action(self) -> Candidate | None:
        """The only action; None if there is a choice."""
        return self.actions[0] if len(self.actions) == 1 and not self.free_form else None

    def is_own(self, source: str, goal: str) -> bool:
        """Return whether a tuple with this source and goal is from this question or episode."""
        words = source.split()
        if source in self.sources or (self.key and words and words[-1] == self.key):
            return True
        if self.identity is None:
            return False
        if self.identity.words and fold(goal) == self.identity.words:
            return True
        return self.identity.is_same(QuestionIdentity.in_source(source))


def read_situation(
    question: Question, database: Database, recorder: Recorder, settings: Settings, most: int
) -> Situation:
    """Read the situation of a question, and record every statement as evidence.

    Parameters
    ----------
    question, database
        The question, and its database.
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
    if is_found_by_acting(question):
        return _read_observed(question, database, recorder, settings)
    if is_move(question):
        return _read_move(question, database)
    return _read_question(question, database, recorder, settings, most)


def is_found_by_acting(question: Question) -> bool:
    """Return whether a question is a move in a world that shows results only after actions."""
    if GOAL in question.target and "game" in question.target:
        return True
    return (
        question.scenario in plugins.names("world")
        and not plugins.world(question.scenario).foreseen
    )


def _actions_left(question: Question) -> int | None:
    """Return how many actions the player may still take; None if there is no limit."""
    count = question.target.get(LEFT, "")
    return int(count) if count.isdecimal() and count.isascii() else None


def check_situation(question: Question) -> None:
    """Raise `UsageError` for a question without actions to choose from."""
    if not (question.free_form or is_found_by_acting(question) or is_move(question)):
        check_question(question, METHOD)


def _read_observed(
    question: Question, database: Database, recorder: Recorder, settings: Settings
) -> Situation:
    statement = EVENTS_STATEMENT.format(where=game_filter(game_number(question)))
    recorder.add_evidence(observe(database, statement, settings.limits, settings.display))
    situation = observed_situation(read_observed(question, database), question, question.scenario)
    return replace(situation, sources=_sources(question), key=question.key)


def observed_situation(position: ObservedPosition, question: Question, world: str) -> Situation:
    """Return the situation of a move in a world that shows results only after actions."""
    beginning, name = position.events[0].detail, question.target.get(EPISODE, "")
    return Situation(
        position.goal,
        position.observation,
        position.actions,
        trajectory_of(position.goal, position.events, "").steps,
        question.rules,
        position.free_form,
        identity=QuestionIdentity.of_episode(world, position.goal, beginning, name),
        left=_actions_left(question),
    )


def _read_move(question: Question, database: Database) -> Situation:
    """Read a move in a game with known rules. The steps are the events of the game."""
    position = find_position(question, database)
    return Situation(
        goal_of(question),
        position.describe(),
        position.actions,
        tuple(Step("", _described(event)) for event in position.events),
        question.rules,
        sources=_sources(question),
        key=question.key,
        identity=QuestionIdentity.of(question).without_words(),
    )


def _described(event: GameEvent) -> str:
    detail = f" ({event.detail})" if event.detail else ""
    return f"[{event.stage}] {event.actor}: {event.action}{detail}"


def _read_question(
    question: Question, database: Database, recorder: Recorder, settings: Settings, most: int
) -> Situation:
    """Read a question outside of games. The observation is the rows of the question's context."""
    listed = question.candidates is not None or question.candidate_query is not None
    actions = list_candidates(question, database, METHOD) if listed else ()
    read = read_context(METHOD, question, actions, database, recorder, settings)
    return Situation(
        read.goal,
        cut_rows("\n\n".join(read.tables), most, recorder, "ldm2.context"),
        read.actions,
        rules=read.rules,
        free_form=question.free_form,
        noun=read.noun,
        sources=_sources(question),
        key=question.key,
        identity=QuestionIdentity.of(question),
    )


def _sources(question: Question) -> frozenset[str]:
    named = {question.key, f"{question.scenario} {question.id}", question.target.get("source", "")}
    return frozenset(named - {""})
