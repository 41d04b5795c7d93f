"""Reward estimation: what each action of a state is worth, from 0 to 1 (section 2.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dqa.core.errors import UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.actions import told_of
from dqa.models.conversation import Conversation
from dqa.worlds.world import Position
from dqa_bidder.events import HiddenState
from dqa_bidder.prompting import prompt
from dqa_bidder.replies import read_payoffs
from dqa_bidder.task import Task

_DIGITS = 4
"""Significant digits of numbers in prompts."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """What actions are worth.

    Attributes
    ----------
    rewards
        By action, from 0 to 1; in legal order.
    clipped, missing
        Actions whose number lay outside, and those that were given none, in every reply.
    """

    rewards: Mapping[Candidate, float]
    clipped: tuple[Candidate, ...] = ()
    missing: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """What is to be estimated.

    Attributes
    ----------
    position
        The state; None for a question that is no move, which is then the task itself.
    actions
        Those that are to be estimated.
    known
        The rewards of others that the rules tell.
    most
        How many of the actions are to be named and estimated, the most promising ones; None for
        all.
    """

    position: Position | None
    actions: tuple[Candidate, ...]
    known: Mapping[Candidate, float] = field(default_factory=dict)
    most: int | None = None


class RewardEstimation(Protocol):
    """The third step: the payoff of each action of a state, as it is expected.

    Several threads may ask at once.
    """

    def estimate(
        self,
        task: Task,
        asked: Unknown,
        hidden: tuple[HiddenState, ...],
        conversation: Conversation,
    ) -> Estimated:
        """Return what actions are worth.

        Parameters
        ----------
        task
            What is decided.
        asked
            The state, and which of its actions.
        hidden
            What is inferred of others.
        conversation
            What a model is asked in.

        Raises
        ------
        UnparsableReplyError
            The model's replies give no action a number.
        """
        ...


class AskedRewards:
    """Asks the model for all actions of a state at once.

    A number outside of 0 to 1, or an action without one, is asked for again. Where that ends, the
    numbers of the best reply are clipped, and what has none stays unknown: nothing is made up.
    """

    def estimate(
        self,
        task: Task,
        asked: Unknown,
        hidden: tuple[HiddenState, ...],
        conversation: Conversation,
    ) -> Estimated:
        """Return the rewards; see `RewardEstimation`."""
        position = asked.position
        text = prompt(
            "rewards",
            task,
            position,
            asked.actions,
            hidden=hidden,
            root=position is None or position is task.position,
            most=asked.most,
            certain={str(action): _rounded(value) for action, value in asked.known.items()},
            scale=_scale(position),
        )
        reader = _Reader(asked, position)
        try:
            return conversation.ask(text, reader.read, "payoffs")
        except UnparsableReplyError:
            if not reader.best.rewards:
                raise
            return reader.best


class _Reader:
    """Reads payoffs, and keeps the best of the replies that cannot be taken as they are."""

    def __init__(self, asked: Unknown, position: Position | None) -> None:
        self.best = Estimated({})
        self._actions = asked.actions
        self._most = asked.most
        self._known = tuple(asked.known)
        self._range = (0.0, 1.0) if position is None else position.payoff_range

    def read(self, reply: str) -> Estimated:
        """Return the payoffs; `UnparsableReplyError` where one is outside of 0 to 1, or missing."""
        found, problems = read_payoffs(reply, self._actions, self._known)
        outside = [a for a in self._actions if a in found and not 0.0 <= found[a] <= 1.0]
        problems += [f"'{a}' has {self._outside(found[a])}" for a in outside]
        if self._most is None:
            missing = tuple(action for action in self._actions if action not in found)
            problems += [f"'{action}' has none" for action in missing]
        else:
            missing = ()
            if len(found) < self._most:
                problems.append(f"{len(found)} of {self._most} actions are given")
        estimated = Estimated(_best_of(found, self._actions, self._most), tuple(outside), missing)
        if not problems or (self._most is not None and not outside and len(found) >= self._most):
            return estimated
        if len(estimated.rewards) >= max(len(self.best.rewards), 1):
            self.best = estimated
        raise UnparsableReplyError(
            f"Not every payoff can be used: {told_of(problems)}. Write "
            '{"payoffs": {"<action>": <number from 0 to 1>}} with '
            f"{'every one' if self._most is None else f'{self._most}'} of the actions that were "
            "asked about, spelled as they were."
        )

    def _outside(self, number: float) -> str:
        """Return what is wrong with a number, and what it would be if it was meant as a payoff."""
        low, high = self._range
        told = f"{number:g}, which is not between 0 and 1"
        if (low, high) == (0.0, 1.0) or not low <= number <= high:
            return told
        return (
            f"{told} (a payoff of {number:g} is written as {_plain((number - low) / (high - low))})"
        )


def _best_of(
    found: Mapping[Candidate, float], actions: Sequence[Candidate], most: int | None
) -> dict[Candidate, float]:
    """Return the payoffs within 0 to 1, in legal order; of more than were asked for the best."""
    ranked = sorted(found, key=lambda action: -found[action])[:most]
    kept = set(ranked)
    return {a: min(max(found[a], 0.0), 1.0) for a in actions if a in kept}


def _scale(position: Position | None) -> dict[str, object] | None:
    """Return what a prompt says of payoffs: their range, and what nothing won or lost counts."""
    if position is None or position.payoff_range == (0.0, 1.0):
        return None
    low, high = position.payoff_range
    width = (high - low) or 1.0
    shifted = f"(p {'+' if low < 0.0 else '-'} {_plain(abs(low))})" if low else "p"
    return {
        "low": _plain(low),
        "high": _plain(high),
        "formula": f"{shifted} / {_plain(width)}",
        "even": _plain(-low / width) if low < 0.0 < high else None,
    }


def _plain(value: float) -> str:
    return f"{value:.{_DIGITS}g}"


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
