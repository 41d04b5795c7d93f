"""Hidden state inference: what others know, from what they did (section 2.1)."""

from __future__ import annotations

from typing import Protocol

from dqa.models.conversation import Conversation
from dqa.worlds.world import HiddenVariable
from dqa_bidder.events import HiddenState
from dqa_bidder.prompting import prompt
from dqa_bidder.replies import read_states
from dqa_bidder.task import Task


class HiddenStateInference(Protocol):
    """The first step: the history as effect, hidden states as its causes."""

    def infer(self, task: Task, conversation: Conversation) -> tuple[HiddenState, ...]:
        """Return the most likely state of each variable of the task's position, in their order.

        Raises
        ------
        UnparsableReplyError
            The model's replies name no state of a variable.
        """
        ...


class AskedInference:
    """Asks the model for all variables at once."""

    def infer(self, task: Task, conversation: Conversation) -> tuple[HiddenState, ...]:
        """Return the states; see `HiddenStateInference`."""
        variables = () if task.position is None else task.position.hidden
        if not variables:
            return ()
        wanted = {(one.player, one.name): one.states for one in variables}
        text = prompt(
            "inference",
            task,
            task.position,
            task.actions,
            variables=variables,
            asked=_by_player(variables),
        )
        found = conversation.ask(text, lambda reply: read_states(reply, wanted), "hidden states")
        return tuple(
            HiddenState(player=player, name=name, state=found[player, name])
            for player, name in wanted
        )


def _by_player(variables: tuple[HiddenVariable, ...]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for one in variables:
        names.setdefault(one.player, []).append(one.name)
    return names
