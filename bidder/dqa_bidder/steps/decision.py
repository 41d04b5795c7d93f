"""Decision making: by the past, the inferred hidden states and the returns (section 2.3)."""

from __future__ import annotations

from typing import Protocol

from dqa.deciders.actions import Chosen, read_choice
from dqa.models.conversation import Conversation
from dqa_bidder.events import HiddenState, ReturnsEvent
from dqa_bidder.prompting import prompt
from dqa_bidder.task import Task

_DIGITS = 4


class DecisionMaking(Protocol):
    """The last step: both directions to one action."""

    def decide(
        self,
        task: Task,
        hidden: tuple[HiddenState, ...],
        found: ReturnsEvent,
        conversation: Conversation,
    ) -> Chosen:
        """Return what is chosen of the task's actions.

        Raises
        ------
        UnparsableReplyError
            The model's replies name no legal action.
        """
        ...


class AskedDecision:
    """Asks the model, which is shown everything that the other steps found."""

    def decide(
        self,
        task: Task,
        hidden: tuple[HiddenState, ...],
        found: ReturnsEvent,
        conversation: Conversation,
    ) -> Chosen:
        """Return the decision; see `DecisionMaking`."""
        returns = [
            one.model_copy(update={"value": one.value and float(f"{one.value:.{_DIGITS}g}")})
            for one in found.returns
        ]
        text = prompt(
            "decision",
            task,
            task.position,
            task.actions,
            hidden=hidden,
            returns=returns,
            horizon=found.horizon,
            beta=found.beta,
            ceiling=float(f"{found.ceiling:.{_DIGITS}g}"),
        )
        return conversation.ask(
            text, lambda reply: read_choice(reply, task.actions, task.noun), "decision"
        )


class HighestReturn:
    """Takes the action of the highest return, and asks nobody where one is known."""

    def decide(
        self,
        task: Task,
        hidden: tuple[HiddenState, ...],
        found: ReturnsEvent,
        conversation: Conversation,
    ) -> Chosen:
        """Return the best action; see `DecisionMaking`."""
        if found.best is None:
            return AskedDecision().decide(task, hidden, found, conversation)
        return Chosen(str(found.best), found.best, "It has the highest return.")
