"""Read moves from a user's table of events. ``[events]`` of a scenario describes the table.

Two sides alternate. The payoffs are unknown, so methods that look ahead stop at their horizon and
estimate rewards.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from string import Template
from typing import Final

from dqa import plugins
from dqa.core.database import Database, Kind
from dqa.core.errors import DataError, UsageError
from dqa.core.question import Candidate, Question
from dqa.worlds.observed import read_rows, require_numbers
from dqa.worlds.world import GameEvent, HiddenVariable, Node, Position

_NUMBER: Final = "number"
PLAYERS: Final = ("player", "opponent")


@dataclass(frozen=True)
class EventTablePosition(Position):
    """The events of a player and an opponent so far, from the player's view.

    Attributes
    ----------
    question
        The question. Its candidates are the actions that the player can choose in every move.
    replies
        The actions that the opponent can choose.
    sides
        The names of the player's side and of the opponent's side in the database.
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
        """The actions of the side that acts next.

        The player's actions are the question's candidates. The opponent's actions are `replies`.
        """
        own = self.question.candidates or ()
        return own if self.mover == PLAYERS[0] else self.replies

    @property
    def key(self) -> Hashable:
        """A key of this state: the events so far, and the side that acts next."""
        return self.events, self.mover

    def after(self, action: Candidate) -> EventTablePosition:
        """Return the position after an action, which is added as an event.

        The other side acts next.
        """
        if action not in self.actions:
            raise UsageError(f"{action!r} is not an action that {self.mover} can take here.")
        mover = self.mover or PLAYERS[0]
        number = len(self.events) + 1
        event = GameEvent(number, f"event {number}", mover, str(action))
        other = PLAYERS[1 - PLAYERS.index(mover)]
        return replace(self, events=(*self.events, event), mover=other)

    def describe(self) -> str:
        """Describe the target of the question, and name the player's and the opponent's side."""
        about = "".join(f"{name}: {value}. " for name, value in self.question.target.items())
        own, other = self.sides
        return f"{about}You are '{own}', here called player; '{other}' is the opponent."

    def payoff(self) -> float | None:
        """Return None: a table of events has no payoffs."""
        return None


def events_statement(question: Question, kind: Kind) -> str | None:
    """Return the statement that reads a question's events.

    Return None if the scenario has no ``[events]``.

    Raises
    ------
    DataError
        The scenario has no statement for this kind of database, or the question lacks a parameter
        of the statement.
    """
    scenario = plugins.scenario_of(question)
    if scenario is None or scenario.document.events is None:
        return None
    part = scenario.document.events
    language = "sql" if kind == "relational" else "cypher"
    statement = part.sql if language == "sql" else part.cypher
    if statement is None:
        raise DataError(
            f"[events] of {scenario.folder}/scenario.toml has no statement in the language of "
            f"this database: add the field {language}."
        )
    return scenario.filled_for(question, kind, Template(statement))


def event_table_position(question: Question, database: Database) -> EventTablePosition | None:
    """Return the position of a question; None if its scenario has no ``[events]``.

    Raises
    ------
    DataError
        A row is not an event of the two sides, event numbers have a gap, the replies of the
        opponent are unknown, or the scenario has no statement for this kind of database.
    QueryError, DatabaseUnavailableError
        Errors of `Database.query`.
    """
    statement = events_statement(question, database.kind)
    scenario = plugins.scenario_of(question)
    if scenario is None or scenario.document.events is None or statement is None:
        return None
    part, file = scenario.document.events, f"{scenario.folder}/scenario.toml"
    if not question.candidates:
        raise DataError(
            f"Question '{question.key}' lists no actions for '{part.player}': under "
            f"[candidates] of {file}, name the table or the statement that lists these actions."
        )
    names = part.player, part.opponent
    events = _read_events(database, statement, names, f"The result of [events] in {file}")
    acted = (event.action for event in events if event.actor == PLAYERS[1])
    replies = part.replies or tuple(dict.fromkeys(acted))
    if not replies:
        raise DataError(
            f"'{part.opponent}' has not acted yet, so its actions are unknown: list them under "
            f'[events] of {file}, as replies = ["...", "..."].'
        )
    hidden = (HiddenVariable(PLAYERS[1], h.name, h.description, h.states) for h in part.hidden)
    return EventTablePosition(PLAYERS[0], question, replies, events, tuple(hidden), names)


def _read_events(
    database: Database, statement: str, sides: tuple[str, str], about: str
) -> tuple[GameEvent, ...]:
    found = read_rows(database, statement, about)
    names = [name.casefold() for name in found.columns]
    used = [line for line, name in enumerate(names) if name != _NUMBER]
    if len(used) not in {2, 3}:
        raise DataError(
            f"{about} has the columns {', '.join(found.columns)}. It must have a column of actors "
            "and a column of actions, in this order. A third column of details is optional, and so "
            f"is a column '{_NUMBER}', which is used to detect missing events."
        )
    if _NUMBER in names:
        require_numbers([row[names.index(_NUMBER)] for row in found.rows], about)
    events = []
    for number, row in enumerate(found.rows, 1):
        actor, action, *detail = (row[line] for line in used)
        if action is None or str(actor) not in sides:
            expected = " or ".join(f"'{name}'" for name in sides)
            raise DataError(
                f"{about}: row {number} must be an action of {expected}, but it is {[*row]}."
            )
        text = "" if not detail or detail[0] is None else str(detail[0])
        side = PLAYERS[sides.index(str(actor))]
        events.append(GameEvent(number, f"event {number}", side, str(action), text))
    return tuple(events)
