"""Opponent modelling: what another player will do (section 2.2)."""

from __future__ import annotations

from typing import Protocol

from dqa.core.question import Candidate
from dqa.deciders.actions import read_choice
from dqa.models.conversation import Conversation
from dqa.worlds.world import Position
from dqa_bidder.events import HiddenState
from dqa_bidder.prompting import prompt
from dqa_bidder.task import Task


class OpponentModeling(Protocol):
    """The second step: an inferred state and a trajectory to the most likely action.

    Several threads may ask at once.
    """

    def model(
        self,
        task: Task,
        position: Position,
        hidden: tuple[HiddenState, ...],
        conversation: Conversation,
    ) -> Candidate:
        """Return what the position's mover, somebody else than its viewer, will do.

        Raises
        ------
        UnparsableReplyError
            The model's replies name no legal action.
        """
        ...


class AskedModeling:
    """Asks the model."""

    def model(
        self,
        task: Task,
        position: Position,
        hidden: tuple[HiddenState, ...],
        conversation: Conversation,
    ) -> Candidate:
        """Return the action; see `OpponentModeling`."""
        actions = position.actions
        text = prompt("modeling", task, position, actions, hidden=hidden, root=False)
        purpose = f"expected move of {position.mover}"
        return conversation.ask(text, lambda reply: read_choice(reply, actions).action, purpose)
