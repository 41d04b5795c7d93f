"""Play one episode of a world. Deciders choose every move as they answer questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import GameTakenError, UnknownNameError
from dqa.core.question import Candidate
from dqa.evaluation.decide import decide_or_end
from dqa.models.attempts import attempt_by
from dqa.worlds.base import PolicyDecider
from dqa.worlds.observed import GOAL
from dqa.worlds.world import Move, World

UNDECIDED = frozenset({Ending.UNPARSABLE, Ending.STEP_LIMIT, Ending.NO_DECISION})
"""Endings of a decision after which the fallback of the position is played."""


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """One move of an episode, with its decision.

    Attributes
    ----------
    player
        The player who moved.
    actions
        The legal actions.
    decision
        The decision.
    choice
        The action that was carried out; None if the decision ended the episode.
    fallback
        Whether `choice` is the fallback of the position, because the decision named no legal
        action.
    reference
        The action of the reference in the same position; None without a reference.
    shown
        What the player knew in addition to the events.
    """

    player: str
    actions: tuple[Candidate, ...]
    decision: Decision
    choice: Candidate | None
    fallback: bool = False
    reference: Candidate | None = None
    shown: str = ""


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
        The other facts of the world; see `dqa.worlds.world.Episode.facts`.
    goal
        The goal in the target of the first question; without a goal, the text of the first
        question.
    failure
        The error of the world that ended the episode; None if no error ended it.
    """

    moves: tuple[PlayedMove, ...]
    returns: Mapping[str, float] | None
    facts: Mapping[str, Candidate | float | bool | None] = field(default_factory=dict)
    goal: str = ""
    failure: Exception | None = None

    @property
    def decisions(self) -> tuple[tuple[str, Decision], ...]:
        """The players and their decisions, in order."""
        return tuple((move.player, move.decision) for move in self.moves)

    def fallbacks(self, player: str) -> int:
        """Return the number of a player's moves that were the fallback of the position."""
        return sum(move.fallback for move in self.moves if move.player == player)


Reference = Callable[[Move], Candidate | None]
"""Returns the reference's action for a move; None if the move is not compared."""


def play_episode(  # noqa: PLR0913  (each is a question of its own to the caller)
    world: World,
    deciders: Mapping[str, Decider],
    seed: int,
    *,
    mirrored: bool = False,
    names: tuple[str, ...] | None = None,
    reference: Reference | None = None,
    keep_moves: bool = False,
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
        Called for each move.
    keep_moves
        Whether to return an error of the world with the moves played so far, instead of raising it.

    Raises
    ------
    UnknownNameError
        A player has no decider.
    GameTakenError
        Another process plays the game.
    """
    for player in world.players:
        if player not in deciders:
            raise UnknownNameError("decider of the player", player, deciders)
    named = (world.name, str(seed)) if names is None else names
    episode = world.start(seed, mirrored=mirrored)
    moves: list[PlayedMove] = []
    goal = ""
    try:
        while (move := episode.next_move()) is not None:
            goal = goal or move.question.target.get(GOAL, move.question.text)
            decider, number = deciders[move.player], str(len(moves))
            # Two moves may have the same question. Their numbers distinguish them in a recording.
            with attempt_by(*named, number, move.player, decider.name):
                expected = None if reference is None else reference(move)
                where = f"move {len(moves) + 1} of {' '.join(named)}"
                decision = decide_or_end(partial(_decide, decider, move, (*named, number)), where)
            moves.append(_played(move, decision, expected))
            choice = moves[-1].choice
            if choice is None:
                return Played(tuple(moves), None, goal=goal)
            episode.choose(choice)
        return Played(tuple(moves), episode.returns(), episode.facts(), goal)
    except GameTakenError:
        raise
    except Exception as error:
        if not keep_moves:
            raise
        return Played(tuple(moves), None, goal=goal, failure=error)
    finally:
        episode.close()


def _decide(decider: Decider, move: Move, drawn_from: tuple[str, ...]) -> Decision:
    if isinstance(decider, PolicyDecider):  # it knows the position
        return decider.decide_at(move.question, move.position, drawn_from, move.reveal)
    return decider.decide(move.question, move.database)


def _played(move: Move, decision: Decision, expected: Candidate | None) -> PlayedMove:
    """Return the move of a decision. If it names no legal action, the move is the fallback."""
    choice = decision.choice if decision.ending is Ending.ANSWERED else None
    is_fallback = choice is None or not move.position.accepts(choice)
    if is_fallback:
        is_move = decision.ending in {Ending.ANSWERED, *UNDECIDED}
        choice = move.position.fallback if is_move else None
    return PlayedMove(
        *(move.player, move.position.actions, decision, choice),
        fallback=is_fallback and choice is not None,
        reference=expected,
        shown=move.position.describe(),
    )
