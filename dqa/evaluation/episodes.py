"""Play one episode of a world. For a decider, every move is a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import UnknownNameError
from dqa.core.events import MoveEvent
from dqa.core.question import Candidate
from dqa.evaluation.decide import decide_or_end, require_decision
from dqa.models.attempts import attempt_by
from dqa.worlds.base import PolicyDecider
from dqa.worlds.observed import GOAL
from dqa.worlds.world import Move, World

_SHOWN_ACTIONS: Final = 12
"""Maximum number of legal actions that a trace lists for a move."""


UNDECIDED = frozenset({Ending.UNPARSABLE, Ending.STEP_LIMIT, Ending.NO_DECISION})
"""Endings of a decision after which the fallback of the position is played."""


class PlayedMove(NamedTuple):
    """One move of an episode: its decision, and the event that describes the move."""

    decision: Decision
    event: MoveEvent


@dataclass(frozen=True, slots=True)
class Played:
    """An episode that was played.

    Attributes
    ----------
    moves
        The moves in order.
    returns
        The result of each player; None if the episode did not reach its end.
    facts
        Further facts about the episode; see `dqa.worlds.world.Episode.facts`.
    goal
        The goal in the target of the first question. If the target contains no goal, the text of
        the first question.
    """

    moves: tuple[PlayedMove, ...]
    returns: Mapping[str, float] | None
    facts: Mapping[str, Candidate | float | bool | None] = field(default_factory=dict)
    goal: str = ""


def play_episode(  # noqa: PLR0913  (each is a question of its own to the caller)
    world: World,
    deciders: Mapping[str, Decider],
    seed: int,
    *,
    mirrored: bool = False,
    names: tuple[str, ...] | None = None,
    reference: Callable[[Move], Candidate | None] | None = None,
    moves: list[PlayedMove] | None = None,
    called: Mapping[str, str] = MappingProxyType({}),
    attempt: int = 0,
) -> Played:
    """Play one episode to its end, or until a decision fails.

    Parameters
    ----------
    world
        The world.
    deciders
        The decider of each player.
    seed
        The seed of the episode.
    mirrored
        Whether the hidden information of the two players is swapped.
    names
        Names that identify the model calls of this episode in a recording. By default, the name of
        the world and the seed.
    reference
        A function that takes a move and returns the action of the reference. It returns None if the
        move must not be compared.
    moves
        An empty list, to which each move is added. After an error of the world, it contains the
        moves before the error.
    called
        For each player, the name of its decider in events. By default, it is the decider's own
        name.
    attempt
        The number of the attempt at the episode, from 1; 0 if it is played only once.

    Raises
    ------
    UnknownNameError
        A player has no decider.
    GameTakenError
        Another process has started to play the same game.
    """
    for player in world.players:
        if player not in deciders:
            raise UnknownNameError("decider of the player", player, deciders)
    named = (world.name, str(seed)) if names is None else names
    moves = [] if moves is None else moves
    goal = ""
    with closing(world.start(seed, mirrored=mirrored)) as episode:
        while (move := episode.next_move()) is not None:
            goal = goal or move.question.target.get(GOAL, move.question.text)
            decider, number = deciders[move.player], str(len(moves))
            # Two moves may have the same question. A recording needs their numbers.
            with attempt_by(*named, number, move.player, decider.name):
                expected = None if reference is None else reference(move)
                where = f"move {len(moves) + 1} of {' '.join(named)}"
                name = called.get(move.player, decider.name)
                decide = partial(_decide, decider, name, move, (*named, number))
                decision = decide_or_end(decide, where)
            event = _describe_move(move, decision, expected, name, attempt)
            moves.append(PlayedMove(decision, event))
            choice = event.choice
            if choice is None:
                return Played(tuple(moves), None, goal=goal)
            episode.choose(choice)
        return Played(tuple(moves), episode.returns(), episode.facts(), goal)


def _decide(decider: Decider, name: str, move: Move, drawn_from: tuple[str, ...]) -> Decision:
    if isinstance(decider, PolicyDecider):  # a program needs the position, not the database
        return decider.decide_at(move.question, move.position, drawn_from, move.reveal)
    return require_decision(decider.decide(move.question, move.database), name)


def _describe_move(
    move: Move, decision: Decision, expected: Candidate | None, decider: str, attempt: int
) -> MoveEvent:
    """Return the event of a move.

    If the decision names no legal action, the event contains the fallback of the position.
    """
    choice = decision.choice if decision.ending is Ending.ANSWERED else None
    is_fallback = choice is None or not move.position.accepts(choice)
    if is_fallback:
        is_move = decision.ending in {Ending.ANSWERED, *UNDECIDED}
        choice = move.position.fallback if is_move else None
    actions = move.position.actions
    return MoveEvent(
        player=move.player,
        decider=decider,
        shown=move.position.describe(),
        actions=actions[:_SHOWN_ACTIONS],
        total=len(actions),
        choice=choice,
        ending=decision.ending.value,
        problem=decision.error,
        fallback=is_fallback and choice is not None,
        reference=expected,
        input_tokens=decision.usage.input_tokens,
        output_tokens=decision.usage.output_tokens,
        calls=decision.usage.calls,
        attempt=attempt,
    )
