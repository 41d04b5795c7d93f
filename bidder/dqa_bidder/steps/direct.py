"""The baselines: one reply, a reply with thoughts, and one that is checked (appendix B.1)."""

from __future__ import annotations

from dqa.core.budgets import ENDLESS, DecisionBudget
from dqa.core.errors import OutOfBudgetError
from dqa.deciders.actions import Chosen, read_choice
from dqa.models.conversation import Conversation
from dqa_bidder.events import RevisionEvent
from dqa_bidder.prompting import prompt
from dqa_bidder.task import Task

_LONGEST = 8_000
"""Most characters of a draft that its check is shown."""


class Direct:
    """Asks for the decision alone; see `dqa_bidder.steps.bidder.Chooser`."""

    def choose(
        self, task: Task, conversation: Conversation, budget: DecisionBudget = ENDLESS
    ) -> Chosen:
        """Return the decision."""
        del budget
        return _asked("direct", task, conversation)[0]


class ChainOfThought:
    """Asks for thoughts first, in the same reply (Wei et al.)."""

    def choose(
        self, task: Task, conversation: Conversation, budget: DecisionBudget = ENDLESS
    ) -> Chosen:
        """Return the decision."""
        del budget
        return _asked("cot", task, conversation)[0]


class Reflexion:
    """Decides with thoughts, has them checked, and refines the decision (Shinn et al.).

    Parameters
    ----------
    rounds
        How often it is checked.
    """

    def __init__(self, rounds: int = 1) -> None:
        self._rounds = rounds

    def choose(
        self, task: Task, conversation: Conversation, budget: DecisionBudget = ENDLESS
    ) -> Chosen:
        """Return the decision; the last one that was made where a budget is spent."""
        del budget
        recorder = conversation.recorder
        chosen, draft = _asked("cot", task, conversation)
        for number in range(1, self._rounds + 1):
            before = chosen
            try:
                chosen, draft = _asked(
                    "reflection", task, conversation, purpose=f"check {number}", draft=draft
                )
            except OutOfBudgetError:
                recorder.close_by_budget()
                return before
            recorder.note(
                RevisionEvent(step=recorder.steps, before=before.action, after=chosen.action)
            )
        return chosen


def _asked(
    name: str, task: Task, conversation: Conversation, *, purpose: str = "decision", draft: str = ""
) -> tuple[Chosen, str]:
    """Return the decision of a reply, and the reply."""

    def read(reply: str) -> tuple[Chosen, str]:
        return read_choice(reply, task.actions, task.noun), reply

    text = prompt(name, task, task.position, task.actions, draft=draft[:_LONGEST])
    return conversation.ask(text, read, purpose)
