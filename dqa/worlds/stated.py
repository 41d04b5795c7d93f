"""Moves of a world that a scenario's folder states: a user's own table of events.

Two sides act in turn. What is known is what happened; nobody tells what an action leads to, so
looking ahead ends with the horizon, and rewards are estimated.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from string import Template
from typing import Final

from dqa import plugins
from dqa.core.database import Database, Kind, Limits
from dqa.core.display import Value
from dqa.core.errors import DataError, UsageError
from dqa.core.question import Candidate, Question
from dqa.scenarios.base import Scenario
from dqa.scenarios.document import EventsPart
from dqa.worlds.world import GameEvent, HiddenVariable, Node, Position

_MOST: Final = Limits(rows=10_000, bytes=10_000_000)
_COLUMNS: Final = (2, 3)
_NUMBER: Final = "number"
PLAYERS: Final = ("player", "opponent")


@dataclass(frozen=True)
class StatedPosition(Position):
    """What happened between two sides, as the player's side knows it.

    Attributes
    ----------
    question
        What is decided; its candidates are what the player can do, now and later.
    replies
        What the opponent can do.
    sides
        What the player's side and the opponent's are called in the database.
    """

    viewer: str
    question: Question
    replies: tuple[Candidate, ...]
    events: tuple[GameEvent, ...]
    hidden: tuple[HiddenVariable, ...]
    sides: tuple[str, str] = PLAYERS
    mover: str | None = PLAYERS[0]
    node: Node = "decision"

    @property
    def actions(self) -> tuple[Candidate, ...]:  # type: ignore[override]
        """The question's candidates, or what the opponent can reply."""
        own = self.question.candidates or ()
        return own if self.mover == PLAYERS[0] else self.replies

    @property
    def key(self) -> Hashable:
        """What happened, and whose turn it is."""
        return self.events, self.mover

    def after(self, action: Candidate) -> StatedPosition:
        """Note the action; it is the other side's turn."""
        if action not in self.actions:
            raise UsageError(f"{action!r} is nothing that {self.mover} can do here.")
        number = len(self.events) + 1
        event = GameEvent(number, f"event {number}", self.mover or "", str(action))
        other = PLAYERS[1 - PLAYERS.index(self.mover or PLAYERS[0])]
        return replace(self, events=(*self.events, event), mover=other)

    def describe(self) -> str:
        """Tell what it is about and who the two sides are: all else is in the events."""
        about = "".join(f"{name}: {told}. " for name, told in self.question.target.items())
        own, other = self.sides
        return f"{about}You are '{own}', here called player; '{other}' is the opponent."

    def payoff(self) -> float | None:
        """Return None: nobody tells what a history is worth."""
        return None

    @property
    def payoff_range(self) -> tuple[float, float]:
        """Nothing is paid, so nothing is scaled."""
        return 0.0, 1.0

    @property
    def fallback(self) -> Candidate:
        """The first that can be done."""
        return self.actions[0]


def events_statement(question: Question, kind: Kind) -> str | None:
    """Return the statement that reads a question's events; None where its folder states none.

    Raises
    ------
    DataError
        There is none for this kind of database, or the question lacks what it asks about.
    """
    scenario = plugins.scenario_of(question)
    if scenario is None or scenario.document.events is None:
        return None
    part = scenario.document.events
    written = part.sql if kind == "relational" else part.cypher
    if written is None:
        language = "sql" if kind == "relational" else "cypher"
        raise DataError(
            f"{_where(scenario)} has no {language}, in which this database is asked: add it."
        )
    return scenario.filled_for(question, kind, Template(written))


def stated_position(question: Question, database: Database) -> StatedPosition | None:
    """Return the move that a question is by its scenario's ``[events]``; None where it has none.

    Raises
    ------
    DataError
        The statement's rows are no events of the two sides, their numbers have a gap, the other
        side did nothing so far and nothing says what it can do, or there is no statement for this
        kind of database.
    QueryError, DatabaseUnavailableError
        As `Database.query` does.
    """
    scenario = plugins.scenario_of(question)
    statement = events_statement(question, database.kind)
    if scenario is None or scenario.document.events is None or statement is None:
        return None
    if not question.candidates:
        raise DataError(
            f"Question '{question.key}' lists nothing that '{scenario.document.events.player}' can "
            f"do: say where candidates come from, under [candidates] of {scenario.folder}."
        )
    part = scenario.document.events
    events = _events(part, _where(scenario), statement, database)
    done = tuple(dict.fromkeys(one.action for one in events if one.actor == PLAYERS[1]))
    replies = part.replies or done
    if not replies:
        raise DataError(
            f"'{part.opponent}' did nothing so far, and nothing says what it can do: list it under "
            f'[events] of {scenario.folder}/scenario.toml, as replies = ["...", "..."].'
        )
    hidden = (HiddenVariable(PLAYERS[1], h.name, h.description, h.states) for h in part.hidden)
    sides = part.player, part.opponent
    return StatedPosition(PLAYERS[0], question, replies, events, tuple(hidden), sides)


def _where(scenario: Scenario) -> str:
    return f"[events] of {scenario.folder}/scenario.toml"


def _events(
    part: EventsPart, where: str, statement: str, database: Database
) -> tuple[GameEvent, ...]:
    found = database.query(statement, _MOST)
    if found.cut is not None:
        raise DataError(f"The events of {where} are too many to read (limit on {found.cut}).")
    numbered = [at for at, name in enumerate(found.columns) if name.casefold() == _NUMBER]
    told = [at for at in range(len(found.columns)) if at not in numbered]
    if len(told) not in _COLUMNS or len(numbered) > 1:
        raise DataError(
            f"The events of {where} have the columns {', '.join(found.columns)}: they need who "
            "acted, what was done and, if you like, what it consisted of, besides a column "
            f"'{_NUMBER}' with their places where gaps have to be noticed."
        )
    for at in numbered:
        _require_every_number([row[at] for row in found.rows], where)
    sides = {part.player: PLAYERS[0], part.opponent: PLAYERS[1]}
    rows = (tuple(row[at] for at in told) for row in found.rows)
    return tuple(_event(row, number, sides, where) for number, row in enumerate(rows, 1))


def _require_every_number(numbers: Sequence[Value], where: str) -> None:
    """Refuse events that are not numbered from 1, each once, in their order."""
    for place, number in enumerate(numbers, 1):
        if number == place and not isinstance(number, bool):
            continue
        if number is None:
            problem = f"row {place} has no number"
        elif number in numbers[: place - 1]:
            problem = f"event {number} is there twice"
        elif place in numbers[place:]:
            problem = f"event {place} comes after event {number}: order the statement by {_NUMBER}"
        else:
            problem = f"event {place} is missing; in its place is one with the number {number}"
        raise DataError(
            f"The events of {where}: {problem}. They are numbered from 1, without a gap, by their "
            f"column '{_NUMBER}'."
        )


def _event(row: tuple[Value, ...], number: int, sides: dict[str, str], where: str) -> GameEvent:
    actor, action, *detail = row
    if actor is None or action is None or str(actor) not in sides:
        names = " or ".join(f"'{name}'" for name in sides)
        raise DataError(
            f"Row {number} of the events of {where} has no action of {names}: it is {list(row)}."
        )
    told = "" if not detail or detail[0] is None else str(detail[0])
    return GameEvent(number, f"event {number}", sides[str(actor)], str(action), told)
