"""Playing an episode of a world: every move is decided like any question.

What becomes of a decision that names no legal action is said here, once: the position's fallback
counts, and is counted. What a failing server, a spent budget, a person or a bug ended is no move,
so the episode ends without returns: nobody knows how it would have gone on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import UnknownNameError
from dqa.core.question import Candidate
from dqa.core.review import current_reviewing
from dqa.evaluation.crashes import ended_by
from dqa.evaluation.waiting import LateError, call_within
from dqa.models.attempts import attempt_by
from dqa.worlds.base import PolicyDecider
from dqa.worlds.observed import GOAL
from dqa.worlds.world import Episode, Move, World

UNDECIDED = frozenset({Ending.UNPARSABLE, Ending.STEP_LIMIT, Ending.NO_DECISION})
"""Endings of a decision after which the position's fallback counts."""


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """A move that was decided.

    Attributes
    ----------
    player
        Who moved.
    actions
        What was legal.
    decision
        How it was decided.
    choice
        What was carried out; None where the episode ended here.
    fallback
        Whether that is the position's fallback, as the decision named no legal action.
    reference
        What the reference does in the same position; None where nobody asked.
    shown
        What the player knew beside the events.
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
        Every move in order.
    returns
        By player, what the episode brought; None where a decision was not made, for then nobody
        knows how the episode would have gone on.
    facts
        What else the world tells of it; see `dqa.worlds.world.Episode.facts`.
    goal
        What was to be reached: of the first move's question the target that says so, else its text.
    """

    moves: tuple[PlayedMove, ...]
    returns: Mapping[str, float] | None
    facts: Mapping[str, Candidate | float | bool | None] = field(default_factory=dict)
    goal: str = ""

    @property
    def decisions(self) -> tuple[tuple[str, Decision], ...]:
        """Every decision in order, each with its player."""
        return tuple((move.player, move.decision) for move in self.moves)

    def fallbacks(self, player: str) -> int:
        """Return how many of a player's moves were the position's fallback."""
        return sum(move.fallback for move in self.moves if move.player == player)


Reference = Callable[[Move], Candidate | None]
"""Says what a reference does where a move is to be decided; None where it is not asked."""


def play_episode(  # noqa: PLR0913  (each is a question of its own to the caller)
    world: World,
    deciders: Mapping[str, Decider],
    seed: int,
    *,
    mirrored: bool = False,
    names: tuple[str, ...] | None = None,
    seconds: float | None = None,
    reference: Reference | None = None,
) -> Played:
    """Play one episode to its end, or to the first decision that was not made.

    Parameters
    ----------
    world
        What is played.
    deciders
        Who decides, by player.
    seed
        Of the episode.
    mirrored
        Whether the players have each other's hidden things.
    names
        In whose names models are asked, so that a recording keeps two episodes apart; None for
        the world and the seed.
    seconds
        How long one decision may take. One that takes far longer, whatever it waits for, counts as
        no decision; nobody waits for it any more. With None that is so of a decider of which
        nothing is recorded for `LONGEST_SILENCE` seconds; programs, and who asks a person, are
        waited for.
    reference
        What is asked besides, before each move.

    Raises
    ------
    UnknownNameError
        A player has no decider.
    """
    for player in world.players:
        if player not in deciders:
            raise UnknownNameError("decider of the player", player, deciders)
    named = (world.name, str(seed)) if names is None else names
    episode = world.start(seed, mirrored=mirrored)
    made: list[PlayedMove] = []
    goal = ""
    try:
        while (move := episode.next_move()) is not None:
            goal = goal or move.question.target.get(GOAL, move.question.text)
            decider = deciders[move.player]
            # Two moves may be asked in the same words: a recording keeps them apart by place.
            with attempt_by(*named, str(len(made)), move.player, decider.name):
                expected = None if reference is None else reference(move)
                decision = _Deciding(decider, move, len(made), named).within(seconds)
            made.append(_carried_out(episode, move, decision, expected))
            if made[-1].choice is None:
                return Played(tuple(made), None, goal=goal)
        return Played(tuple(made), episode.returns(), episode.facts(), goal)
    finally:
        episode.close()


def _carried_out(
    episode: Episode, move: Move, decision: Decision, expected: Candidate | None
) -> PlayedMove:
    """Carry a decision out, or the fallback where it names nothing that is legal."""
    actions = move.position.actions
    choice = decision.choice if decision.ending is Ending.ANSWERED else None
    is_fallback = choice is None or not move.position.accepts(choice)
    if is_fallback:
        is_move = decision.ending in {Ending.ANSWERED, *UNDECIDED}
        choice = move.position.fallback if is_move else None
    if choice is not None:
        episode.choose(choice)
    return PlayedMove(
        *(move.player, actions, decision, choice),
        fallback=is_fallback and choice is not None,
        reference=expected,
        shown=move.position.describe(),
    )


@dataclass(frozen=True, slots=True)
class _Deciding:
    """Has a move decided: the move `number` of an episode, in whose `names` models are asked."""

    decider: Decider
    move: Move
    number: int
    names: tuple[str, ...]

    def within(self, seconds: float | None) -> Decision:
        """Return a decision, or that there is none where it does not come in time."""
        is_program = isinstance(self.decider, PolicyDecider)
        if seconds is None and (is_program or current_reviewing() is not None):
            return self._decide()
        try:
            if not is_program:
                # Here, so that it takes none of the player's time, and who is late opens nothing.
                _ = self.move.database
        except Exception as error:  # noqa: BLE001  (one bug ends one decision)
            return self._ended_by(error)
        try:
            return call_within(self._decide, self.decider.name, seconds)
        except LateError as late:
            return late.decision

    def _decide(self) -> Decision:
        decider, move = self.decider, self.move
        try:
            if isinstance(decider, PolicyDecider):
                # No session is opened for a program, which knows the position already.
                drawn_from = (*self.names, str(self.number))
                return decider.decide_at(move.question, move.position, drawn_from, move.reveal)
            return decider.decide(move.question, move.database)
        except Exception as error:  # noqa: BLE001  (one bug ends one decision)
            return self._ended_by(error)

    def _ended_by(self, error: Exception) -> Decision:
        error.add_note(f"It was raised at move {self.number + 1} of {' '.join(self.names)}.")
        return ended_by(error)
