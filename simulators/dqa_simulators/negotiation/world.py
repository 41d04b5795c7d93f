"""The world of negotiations (entry point `dqa.worlds`)."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from pydantic import BaseModel, Field

from dqa.core.question import Candidate, Question
from dqa.worlds.base import WorldFactory
from dqa.worlds.world import GameEvent, Position
from dqa_simulators.games.betting import PLAYERS
from dqa_simulators.games.episode import Facts, GameWorld, RefereedEpisode, Start, read_rules
from dqa_simulators.games.reading import read_record
from dqa_simulators.negotiation.players import POLICIES
from dqa_simulators.negotiation.position import (
    AGREE,
    HIDDEN_NAMES,
    Instance,
    NegotiationPosition,
    Split,
    Terms,
    draw_instance,
    list_splits,
    new_state,
    number_of,
    rest,
    worth,
    write,
)

if TYPE_CHECKING:
    from dqa.core.database import Database

NAME: Final = "negotiation"
_LONGEST: Final = 100
_CLOSE: Final = 1e-9


class NegotiationSettings(BaseModel, extra="forbid", frozen=True):
    """The settings of the world.

    Attributes
    ----------
    turns
        The number of turns, at most 100. None draws 4 to 10.
    utterances
        Whether each proposal is followed by an utterance.
    """

    turns: int | None = Field(
        default=None,
        ge=1,
        le=_LONGEST,
        description="the number of turns; by default, a random number from 4 to 10",
    )
    utterances: bool = Field(default=True, description="whether an utterance follows each proposal")


class NegotiationEpisode(RefereedEpisode):
    """One negotiation.

    Parameters
    ----------
    instance
        The pool, values and turns.
    settings
        The settings of the world.
    start
        The seed, the mirroring and the history of the episode; see `Start`.
    """

    def __init__(self, instance: Instance, settings: NegotiationSettings, start: Start) -> None:
        self._instance, seats = instance, start.seats
        self._values = dict(zip(seats, instance.values, strict=True))
        self._known = NegotiationPosition(
            *(seats[0], instance.pool, instance.values[0], instance.turns, settings.utterances),
            seats=seats,
        )
        terms = {
            "pool": list(instance.pool),
            "turns": instance.turns,
            "utterances": settings.utterances,
        }
        hidden = {
            player: dict(zip(HIDDEN_NAMES, map(str, self._values[player]), strict=True))
            for player in PLAYERS
        }
        state = new_state(instance, utterances=settings.utterances)
        super().__init__(NAME, start, state, terms, hidden)

    def facts(self) -> Facts:
        """Return the agreement, each player's score and share, and the results of `compare`."""
        self._require_end("agreement")
        known, instance = self._known, self._instance
        scores = self._returns()
        by_seat = [scores[player] for player in self._seats]
        is_optimal, distance = compare(instance.pool, *instance.values, *by_seat)
        facts: dict[str, Candidate | float | bool | None] = {
            "agreed": known.is_agreed,
            "deal": write(self._first_part()) if known.is_agreed else None,
            "turns": len(known.proposals) + known.is_agreed,
            "pool": write(instance.pool),
            "pareto optimal": is_optimal,
            "distance to Nash": distance,
        }
        for player in PLAYERS:
            values = self._values[player]
            facts[f"values of {player}"] = write(values)
            facts[f"score of {player}"] = scores[player]
            facts[f"share of {player}"] = scores[player] / max(worth(instance.pool, values), 1)
        return facts

    def _first_part(self) -> Split:
        """Return the share that the last proposal gives to the player 'player'."""
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
            question = "What do you say that you want?"
        elif self._known.can_agree:
            question = f"Do you agree, or what do you propose to take? Say '{AGREE}' or a division."
        else:
            question = "What do you propose to take?"
        text = (
            f"You are '{position.viewer}' in a negotiation with '{other}'. {position.describe()} "
            f"{describe_events(position.events)} {question} You want as many points as you can get."
        )
        return text, read_rules(__file__)

    def _apply(self, action: str) -> list[GameEvent]:
        part = self._known.part
        self._known = self._known.after(action)
        self._state.apply_action(number_of(action, part))
        return [self._known.events[-1]]


@lru_cache(maxsize=4096)
def compare(
    pool: Split, values: Split, other_values: Split, score: float, other_score: float
) -> tuple[bool, float]:
    """Compare the scores of two players with all scores that a pool allows.

    Parameters
    ----------
    pool
        The pool.
    values, other_values
        The value of one unit of each item to each player.
    score, other_score
        The points of each player. Both are 0 without an agreement.

    Returns
    -------
    tuple[bool, float]
        First, whether the scores are Pareto optimal: every split that is better for one player is
        worse for the other. Second, the distance to the closest Nash bargaining solution, as a
        share of the pool's value. This solution maximises the product of both scores (Nash, 1950).
    """
    splits = np.array(list_splits(pool))
    first = splits @ np.array(values)
    second = (np.array(pool) - splits) @ np.array(other_values)
    no_worse = (first >= score) & (second >= other_score)
    better = (first > score) | (second > other_score)
    products = first * second
    is_best = products >= products.max() - _CLOSE
    totals = max(int(first.max()), 1), max(int(second.max()), 1)
    distances = np.hypot((first - score) / totals[0], (second - other_score) / totals[1])
    return not bool((no_worse & better).any()), float(distances[is_best].min())


class Negotiation(GameWorld[NegotiationSettings, NegotiationEpisode]):
    """Negotiations about random pools.

    In a mirrored game, the players swap values and turns. Over both games, luck therefore favours
    neither player.
    """

    name = NAME
    players = PLAYERS

    def begin(self, start: Start) -> NegotiationEpisode:
        """Start the negotiation that a seed generates."""
        return NegotiationEpisode(self.draw(start.seed), self._settings, start)

    def draw(self, seed: int) -> Instance:
        """Return the instance of a seed. The mirrored game has the same instance."""
        return draw_instance(np.random.default_rng(seed), self._settings.turns)

    def position(self, question: Question, database: Database) -> NegotiationPosition:
        """Return the state that a question is about. Read it from the question's database."""
        return NegotiationPosition.read(read_record(question, database, self.name, Terms))


def describe_events(events: tuple[GameEvent, ...]) -> str:
    """Describe the events so far in one sentence."""
    if not events:
        return "No one has acted yet."
    texts = [f"{one.actor} {_VERBS[one.detail]} {one.action}".rstrip() for one in events]
    return f"So far: {'; '.join(texts)}."


_VERBS: Final = {"proposal": "proposed", "utterance": "said", "": "did"}


WORLD = WorldFactory(
    name=NAME,
    description="two players divide a pool of items by proposals and messages",
    make=Negotiation,
    settings=NegotiationSettings,
    policies=POLICIES,
)
