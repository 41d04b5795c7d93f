"""Playing an episode of a world: every move is decided like any question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import UnknownNameError
from dqa.core.world import Move, World
from dqa.evaluation.crashes import ended_by
from dqa.models.attempts import attempt_by


@dataclass(frozen=True, slots=True)
class Played:
    """An episode that was played.

    Attributes
    ----------
    decisions
        Every decision in order, each with its player.
    returns
        By player, what the episode brought; None where a decision ended without a choice, for
        then nobody knows how the episode would have gone on.
    """

    decisions: tuple[tuple[str, Decision], ...]
    returns: Mapping[str, float] | None


def play_episode(world: World, deciders: Mapping[str, Decider], seed: int) -> Played:
    """Play one episode to its end, or to the first decision without a choice.

    Parameters
    ----------
    world
        What is played.
    deciders
        Who decides, by player.
    seed
        Of the episode.

    Raises
    ------
    UnknownNameError
        A player has no decider.
    """
    for player in world.players:
        if player not in deciders:
            raise UnknownNameError("decider of the player", player, deciders)
    episode = world.start(seed)
    made: list[tuple[str, Decision]] = []
    try:
        while (move := episode.next_move()) is not None:
            decision = _decided(world, deciders[move.player], move, seed, len(made))
            made.append((move.player, decision))
            if decision.ending is not Ending.ANSWERED or decision.choice is None:
                return Played(tuple(made), None)
            episode.choose(decision.choice)
        return Played(tuple(made), episode.returns())
    finally:
        episode.close()


def _decided(world: World, decider: Decider, move: Move, seed: int, number: int) -> Decision:
    # Two moves may be asked in the same words: a recording keeps them apart by their place.
    with attempt_by(world.name, str(seed), str(number), move.player, decider.name):
        try:
            return decider.decide(move.question, move.database)
        except Exception as error:  # noqa: BLE001  (one bug ends one decision)
            return ended_by(error)
