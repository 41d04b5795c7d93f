"""What is decided: a goal, what was seen and done on the way to it, and what is seen now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dqa import plugins
from dqa.core.database import Database
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.core.trajectories import Step
from dqa.deciders.base import Settings
from dqa.deciders.context import Context, check_question, goal_of, list_actions
from dqa.deciders.tools import observe
from dqa.worlds.base import find_position, is_move
from dqa.worlds.observed import EPISODE, GOAL, LEFT, read_observed, trajectory_of
from dqa.worlds.world import GameEvent
from dqa_ldm2.identity import QuestionIdentity

METHOD = "LDM2"
_EVENTS = "SELECT number, stage, actor, action, detail FROM events{where} ORDER BY number"


@dataclass(frozen=True, slots=True)
class _Read(Context):
    """A context, in whose messages the method has its name."""

    method: ClassVar[str] = METHOD


@dataclass(frozen=True, slots=True)
class Situation:
    """A goal, and where whoever acts is on the way to it.

    Attributes
    ----------
    goal
        What is to be reached.
    observation
        What is seen now.
    actions
        What can be done.
    steps
        What was seen and done before.
    rules
        The business rules, or those of the world.
    free_form
        What may be done besides; see `dqa.core.question.Question.free_form`.
    noun
        What an action is called.
    sources
        What memories may call this very episode or question; none of its own is recalled.
    key
        What ends the source of a trajectory of this very question, such as ``locating/3``.
    identity
        What tells the question or the episode from others, whatever a source is called.
    left
        How many actions may still be taken; None where nobody counts them.
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
    def words(self) -> str:
        """The words by which goals are told to be this very question's; empty where none are."""
        return "" if self.identity is None else self.identity.words

    def is_own(self, source: str) -> bool:
        """Whether what has this source comes from this very episode or question."""
        words = source.split()
        if source in self.sources or (self.key and words and words[-1] == self.key):
            return True
        return self.identity is not None and self.identity.is_same(
            QuestionIdentity.in_source(source)
        )


def read_situation(
    question: Question, database: Database, recorder: Recorder, settings: Settings, most: int
) -> Situation:
    """Read what a question is about; every statement is evidence.

    Parameters
    ----------
    question
        What is asked.
    database
        What it is asked about.
    recorder
        Keeps what is read.
    settings
        What bounds statements.
    most
        Most characters of rows.

    Raises
    ------
    UsageError
        The question has no action, or nothing says which rows bear on it.
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
    """Whether a question is a move of a world in which only acting shows what follows."""
    if GOAL in question.target and "game" in question.target:
        return True
    return (
        question.scenario in plugins.names("world")
        and not plugins.world(question.scenario).foreseen
    )


def left_of(question: Question) -> int | None:
    """Return how many actions may still be taken, where the world says so."""
    told = question.target.get(LEFT, "")
    return int(told) if told.isdecimal() and told.isascii() else None


def check_situation(question: Question) -> None:
    """Raise `UsageError` for a question without anything to choose."""
    if not (question.free_form or is_found_by_acting(question) or is_move(question)):
        check_question(question, METHOD)


def _read_observed(
    question: Question, database: Database, recorder: Recorder, settings: Settings
) -> Situation:
    game = question.target.get("game", "")
    where = f" WHERE game = {int(game)}" if game.isdecimal() and game.isascii() else ""
    statement = _EVENTS.format(where=where)
    recorder.add_evidence(observe(database, statement, settings.limits, settings.display))
    read = read_observed(question, database)
    return Situation(
        read.goal,
        read.observation,
        read.actions,
        trajectory_of(read.goal, read.events, "").steps,
        question.rules,
        read.free_form,
        sources=_sources(question),
        key=question.key,
        identity=QuestionIdentity.of_episode(
            question.scenario,
            read.goal,
            read.events[0].detail,
            question.target.get(EPISODE, ""),
        ),
        left=left_of(question),
    )


def _read_move(question: Question, database: Database) -> Situation:
    """Read a move of a world whose rules tell what follows: its events are what was done."""
    position = find_position(question, database)
    return Situation(
        goal_of(question),
        position.describe(),
        position.actions,
        tuple(Step("", _told(event)) for event in position.events),
        question.rules,
        sources=_sources(question),
        key=question.key,
        identity=QuestionIdentity.of(question).without_words(),
    )


def _told(event: GameEvent) -> str:
    detail = f" ({event.detail})" if event.detail else ""
    return f"[{event.stage}] {event.actor}: {event.action}{detail}"


def _read_question(
    question: Question, database: Database, recorder: Recorder, settings: Settings, most: int
) -> Situation:
    """Read an ordinary question: what is seen is what its context's rows say."""
    free = question.free_form
    listed = question.candidates is not None or question.candidate_query is not None
    actions = list_actions(question, database, METHOD) if listed else ()
    read = _Read.of(
        question, actions, database, recorder, limits=settings.limits, display=settings.display
    )
    rows = "\n\n".join(read.tables)
    return Situation(
        read.goal,
        rows if len(rows) <= most else (rows[:most].rpartition("\n")[0] or rows[:most]),
        read.actions,
        (),
        read.rules,
        free,
        read.noun,
        _sources(question),
        question.key,
        QuestionIdentity.of(question),
    )


def _sources(question: Question) -> frozenset[str]:
    named = {question.key, f"{question.scenario} {question.id}", question.target.get("source", "")}
    return frozenset(named - {""})
