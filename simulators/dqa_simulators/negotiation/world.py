"""The world of negotiations (entry point `dqa.worlds`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field

from dqa.core.database import Database
from dqa.core.question import Candidate, Question
from dqa.worlds.base import WorldFactory
from dqa.worlds.world import GameEvent, Position
from dqa_simulators.games.betting import PLAYERS
from dqa_simulators.games.episode import GameEpisode, GameWorld, random_of, read_rules
from dqa_simulators.games.reading import read_record
from dqa_simulators.negotiation.instances import (
    Instance,
    draw_instance,
    new_state,
    number_of,
)
from dqa_simulators.negotiation.outcomes import compare
from dqa_simulators.negotiation.players import POLICIES
from dqa_simulators.negotiation.position import (
    AGREE,
    HIDDEN_NAMES,
    NegotiationPosition,
    Split,
    rest,
    worth,
    write,
)

if TYPE_CHECKING:
    from dqa.worlds.history import History


NAME: Final = "negotiation"
_LONGEST: Final = 100


class NegotiationSettings(BaseModel):
    """The settings of the world.

    Attributes
    ----------
    turns
        The number of turns, at most 100. None draws 4 to 10.
    utterances
        Whether each proposal is followed by an utterance.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    turns: int | None = Field(
        default=None,
        ge=1,
        le=_LONGEST,
        description="the number of turns; drawn from 4 to 10 if not set",
    )
    utterances: bool = Field(default=True, description="whether an utterance follows each proposal")


class NegotiationEpisode(GameEpisode):
    """One negotiation.

    Parameters
    ----------
    instance
        The pool, values and turns.
    settings
        The settings of the world.
    seed, mirrored, history
        As in `GameEpisode`.
    """

    def __init__(
        self,
        instance: Instance,
        settings: NegotiationSettings,
        *,
        seed: int,
        mirrored: bool,
        history: History | None,
    ) -> None:
        self._instance = instance
        self._seats = (PLAYERS[1], PLAYERS[0]) if mirrored else PLAYERS
        self._values = dict(zip(self._seats, instance.values, strict=True))
        self._state = new_state(instance, utterances=settings.utterances)
        first = self._seats[0]
        self._known = NegotiationPosition(
            *(first, instance.pool, self._values[first], instance.turns, settings.utterances),
            seats=self._seats,
        )
        told = {
            "pool": list(instance.pool),
            "turns": instance.turns,
            "utterances": settings.utterances,
            "seats": self._seats,
        }
        hidden = {
            player: dict(zip(HIDDEN_NAMES, map(str, self._values[player]), strict=True))
            for player in PLAYERS
        }
        super().__init__(
            NAME, seed=seed, mirrored=mirrored, settings=told, hidden=hidden, history=history
        )

    def facts(self) -> Mapping[str, Candidate | float | bool | None]:
        """Return the agreement, the score and share of each player, and the joint quality."""
        self._require_end("agreement")
        known, instance = self._known, self._instance
        scores = self._returns()
        by_seat = [scores[player] for player in self._seats]
        found = compare(instance.pool, *instance.values, *by_seat)
        facts: dict[str, Candidate | float | bool | None] = {
            "agreed": known.is_agreed,
            "deal": write(self._first_part()) if known.is_agreed else None,
            "turns": len(known.proposals) + known.is_agreed,
            "pool": write(instance.pool),
            "pareto optimal": found.is_pareto_optimal,
            "distance to Nash": found.nash_distance,
        }
        for player in PLAYERS:
            values = self._values[player]
            facts[f"values of {player}"] = write(values)
            facts[f"score of {player}"] = scores[player]
            facts[f"share of {player}"] = scores[player] / max(worth(instance.pool, values), 1)
        return facts

    def _first_part(self) -> Split:
        """Return the part of 'player' in the last proposal."""
        split = self._known.proposals[-1]
        is_own = self._known.proposer == PLAYERS[0]
        return split if is_own else rest(self._instance.pool, split)

    def _mover(self) -> str | None:
        return self._known.mover

    def _position(self, viewer: str) -> NegotiationPosition:
        return replace(self._known, viewer=viewer, own_values=self._values[viewer])

    def _ask(self, position: Position) -> tuple[str, str]:
        other = PLAYERS[1 - PLAYERS.index(position.viewer)]
        if self._known.part == "utterance":
            asked = "What do you say that you want?"
        elif self._known.can_agree:
            asked = f"Do you agree, or what do you propose to take? Say '{AGREE}' or a division."
        else:
            asked = "What do you propose to take?"
        text = (
            f"You are '{position.viewer}' in a negotiation with '{other}'. {position.describe()} "
            f"{tell_events(position.events)} {asked} You want as many points as you can get."
        )
        return text, read_rules(__file__)

    def _apply(self, action: str) -> list[GameEvent]:
        part = self._known.part
        self._known = self._known.after(action)
        self._state.apply_action(number_of(action, part))
        return [self._known.events[-1]]

    def _reveal(self) -> object:
        return self._state.clone()

    def _returns(self) -> Mapping[str, float]:
        returns = dict(zip(self._seats, self._state.returns(), strict=True))
        return {player: returns[player] for player in PLAYERS}


class Negotiation(GameWorld[NegotiationSettings]):
    """Negotiations about random pools."""

    name = NAME
    players = PLAYERS

    def start(self, seed: int, *, mirrored: bool = False) -> NegotiationEpisode:
        """Start the negotiation of a seed. In a mirrored game, the players swap values and turns.

        So the advantage of a turn and its values goes to each player once.
        """
        return NegotiationEpisode(
            self.draw(seed),
            self._settings,
            seed=seed,
            mirrored=mirrored,
            history=self._history,
        )

    def draw(self, seed: int) -> Instance:
        """Return the instance of a seed. The mirrored game has the same instance."""
        return draw_instance(random_of(seed), self._settings.turns)

    def position(self, question: Question, database: Database) -> NegotiationPosition:
        """Return the state of a question, read from its database."""
        return NegotiationPosition.read(read_record(question, database, self.name, PLAYERS))


def tell_events(events: tuple[GameEvent, ...]) -> str:
    """Describe the events so far in one sentence."""
    if not events:
        return "No one has acted yet."
    told = [f"{one.actor} {_VERBS[one.detail]} {one.action}".rstrip() for one in events]
    return f"So far: {'; '.join(told)}."


_VERBS: Final = {"proposal": "proposed", "utterance": "said", "": "did"}


WORLD = WorldFactory(
    name=NAME,
    description="two players divide a pool of items by proposals and messages",
    make=Negotiation,
    settings=NegotiationSettings,
    policies=POLICIES,
)
