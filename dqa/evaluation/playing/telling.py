"""What a game tells of its moves and attempts, in the order in which they happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dqa.core.decision import Decision
from dqa.core.events import AttemptEvent, Event, MoveEvent
from dqa.evaluation.play import Played, PlayedMove
from dqa.evaluation.playing.attempts import Attempts

_ACTIONS_TOLD = 12
"""Legal actions that a trace has of each move; it always says how many there were."""


@dataclass(frozen=True, slots=True)
class Told:
    """What was decided in a game.

    Attributes
    ----------
    decisions
        Every decision, in order.
    events
        Everything that happened, in order.
    """

    decisions: list[Decision] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def add(self, decision: Decision | None) -> None:
        """Add a decision with what it tells."""
        if decision is not None:
            self.decisions.append(decision)
            self.events.extend(decision.trace)


def told_of(played: Played | None, called: Mapping[str, str]) -> Told:
    """Return what a game tells that was played once; of one that did not begin, nothing.

    Parameters
    ----------
    played
        What happened.
    called
        By player, who decided.
    """
    told = Told()
    _add_moves(told, played, called, 0)
    return told


def told_of_attempts(tried: Attempts, called: Mapping[str, str]) -> Told:
    """Return what all attempts at a game tell, each behind an event that names it."""
    told = Told()
    for one in tried.made:
        reward = None if one.trajectory is None else one.trajectory.reward
        told.events.append(
            AttemptEvent(
                number=one.number,
                moves=0 if one.played is None else len(one.played.moves),
                reward=reward,
                counts=one.number == tried.counted,
            )
        )
        told.add(one.noted)
        _add_moves(told, one.played, called, one.number)
    told.add(tried.declined)
    told.add(tried.choosing)
    return told


def _add_moves(told: Told, played: Played | None, called: Mapping[str, str], attempt: int) -> None:
    for move in () if played is None else played.moves:
        told.add(move.decision)
        told.events.append(_event(move, called[move.player], attempt))


def _event(move: PlayedMove, decider: str, attempt: int) -> MoveEvent:
    decision = move.decision
    return MoveEvent(
        player=move.player,
        decider=decider,
        shown=move.shown,
        actions=move.actions[:_ACTIONS_TOLD],
        total=len(move.actions),
        choice=move.choice,
        ending=decision.ending.value,
        problem=decision.error,
        fallback=move.fallback,
        reference=move.reference,
        input_tokens=decision.usage.input_tokens,
        output_tokens=decision.usage.output_tokens,
        calls=decision.usage.calls,
        attempt=attempt,
    )
