"""Positions of worlds in which the only player learns the result of an action by acting.

`WorldFactory.foreseen` is false in these worlds. `GameEvent.detail` contains the observations. The
first event contains the initial observation. Each later event is an action of the player with the
observation after the action.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from dqa.core.database import Database, Limits, Rows
from dqa.core.decider import Step, Trajectory
from dqa.core.errors import DataError, UsageError
from dqa.core.question import Candidate, Question, fits_form
from dqa.worlds.world import GameEvent, HiddenVariable, Node, Position, Shown

AGENT: Final = "agent"
"""The name of the only player."""
BEGINNING: Final = "begin"
"""The action of the first event, which contains the initial observation."""
GOAL: Final = "goal"
"""The key of the goal in a question's target."""
EPISODE: Final = "episode"
"""The key in a question's target that identifies an episode.

A world needs this key if several episodes have the same goal and the same initial observation.
"""
LEFT: Final = "actions left"
"""The key in a question's target for the number of remaining actions, in a world with a limit."""

EVENTS_STATEMENT: Final = (
    "SELECT number, stage, actor, action, detail FROM events{where} ORDER BY number"
)
"""The statement that reads the events of a history; `game_filter` returns its `where`."""
_WHOLE: Final = Limits(rows=100_000, bytes=100_000_000, seconds=60.0, cell=10_000_000)
"""The limits for reading a history. They are high, because observations must not be shortened."""


@dataclass(frozen=True)
class ObservedPosition(Position):
    """The goal, actions and observations of the player so far.

    Attributes
    ----------
    world
        The name of the world.
    goal
        The goal of the episode.
    actions
        The legal actions, in the order of the question's candidates.
    events
        The actions and observations.
    free_form
        The form of actions that the question does not list; see `Question.free_form`.
    cautious
        The action to take if an answer names no action.
    reward
        The reward of the episode, from 0 to 1; None before its end.
    """

    world: str
    goal: str
    actions: tuple[Candidate, ...]
    events: tuple[GameEvent, ...]
    free_form: str = ""
    cautious: Candidate | None = None
    reward: float | None = None
    viewer: str = AGENT
    hidden: tuple[HiddenVariable, ...] = ()

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The kind of the next step: the end if the reward is known, otherwise a decision."""
        return "decision" if self.reward is None else "terminal"

    @property
    def mover(self) -> str | None:  # type: ignore[override]
        """The player; None at the end."""
        return self.viewer if self.reward is None else None

    def accepts(self, action: Candidate) -> bool:
        """Return whether an action is one of `actions`, or has the form `free_form`."""
        return action in self.actions or fits_form(str(action), self.free_form)

    @property
    def observation(self) -> str:
        """The current observation."""
        return self.events[-1].detail if self.events else ""

    @property
    def key(self) -> Hashable:
        """All actions and observations so far, as a key."""
        return (self.world, self.goal, self.events)

    def after(self, action: Candidate) -> Position:
        """Raise `UsageError`, because only acting shows the result of an action."""
        raise UsageError(
            f"In the world '{self.world}', the result of '{action}' is unknown before the action. "
            "Choose a decider that does not look ahead, or a decider that plays several attempts."
        )

    def describe(self) -> str:
        """Return the goal and the current observation."""
        return f"Goal: {self.goal}\n{self.observation}"

    def shown_in(self, text: str) -> Shown:
        """Return ``"state"`` if a text contains the current observation; else ``"nothing"``."""
        return "state" if self.observation in text else "nothing"

    def payoff(self) -> float | None:
        """Return the reward; None before the end."""
        return self.reward

    @property
    def fallback(self) -> Candidate:
        """The cautious action; by default the first action."""
        return self.actions[0] if self.cautious is None else self.cautious


def read_observed(question: Question, database: Database) -> ObservedPosition:
    """Read the position of a question from the history.

    If the question's id names the move (``GAME-MOVE``), events after this move are ignored.

    Raises
    ------
    DataError
        The history does not start with the initial observation, or an event is missing.
    """
    game, move = game_number(question), move_number(question)
    events = events_of(database, question.key, game, before=move)
    if not events or events[0].action != BEGINNING:
        raise DataError(
            f"The history of {question.key} must begin with '{BEGINNING}', the event with the "
            "first observation."
        )
    return ObservedPosition(
        question.scenario,
        question.target.get(GOAL, question.text),
        question.candidates or (),
        events,
        question.free_form,
    )


def game_number(question: Question) -> int | None:
    """Return the number of a question's game; None if the question's target lacks it."""
    return _number(question.target.get("game", ""))


def move_number(question: Question) -> int | None:
    """Return the number of the move in a question's id ``GAME-MOVE``; None for any other id."""
    game, _, number = question.id.rpartition("-")
    is_ours = bool(game) and _number(game) == game_number(question)
    return _number(number) if is_ours else None


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and text.isascii() else None


def game_filter(game: int | None) -> str:
    """Return the WHERE clause that selects the rows of one game; empty if the game is None."""
    return "" if game is None else f" WHERE game = {game:d}"


def events_of(
    database: Database, whose: str, game: int | None = None, *, before: int | None = None
) -> tuple[GameEvent, ...]:
    """Read the events of a history.

    Parameters
    ----------
    database
        The history that the player may read.
    whose
        The name of the game in error messages.
    game
        The number of the game; None if the database contains a single game.
    before
        The number of the first event to ignore; None reads all events.

    Raises
    ------
    DataError
        An event is missing, or the events exceed the limits.
    """
    about = f"The history of {whose}"
    found = read_rows(database, EVENTS_STATEMENT.format(where=game_filter(game)), about)
    rows = found.rows if before is None else found.rows[: before - 1]
    require_numbers([row[0] for row in rows], about, before and before - 1)
    return tuple(
        GameEvent(index, str(stage), str(actor), str(action), str(detail or ""))
        for index, (_, stage, actor, action, detail) in enumerate(rows, 1)
    )


def read_rows(database: Database, statement: str, about: str) -> Rows:
    """Return all rows of events. Raise `DataError` if they exceed the limits."""
    found = database.query(statement, _WHOLE)
    if found.cut is not None:
        raise DataError(f"{about} is too long to read (limit on {found.cut}).")
    return found


def require_numbers(numbers: Sequence[object], about: str, count: int | None = None) -> None:
    """Raise `DataError` unless numbers are 1, 2, 3 and so on.

    If `count` is set, the last number must be `count`.
    """
    for place in range(1, (len(numbers) if count is None else count) + 1):
        number = numbers[place - 1] if place <= len(numbers) else None
        if str(number) != str(place):
            raise DataError(
                f"{about}: event {place} is missing, or events are not ordered by their number. "
                "Events are numbered from 1, without a gap."
            )


def trajectory_of(
    goal: str, events: Sequence[GameEvent], source: str, reward: float | None = None
) -> Trajectory:
    """Return the trajectory of a player: each action with the observation before it."""
    seen = [event.detail for event in events]
    steps = tuple(
        Step(before, event.action) for before, event in zip(seen, events[1:], strict=False)
    )
    return Trajectory(goal, steps, source, reward, seen[-1] if seen else "")
