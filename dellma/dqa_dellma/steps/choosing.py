"""What decides a problem, and what it chooses."""

from __future__ import annotations

from typing import Protocol

from dqa.core.errors import UnparsableReplyError
from dqa.core.events import ReplyEvent
from dqa.core.recorder import Recorder
from dqa.deciders.actions import Chosen
from dqa.deciders.replies import read_action, read_decision, read_object
from dqa.models.conversation import Conversation
from dqa_dellma.context.problem import Problem


class Chooser(Protocol):
    """Decides problems."""

    def choose(self, problem: Problem, key: str, conversation: Conversation) -> Chosen:
        """Decide a problem.

        Parameters
        ----------
        problem
            Two actions at least.
        key
            Tells the question from others, for whatever is drawn by chance.
        conversation
            What a model is asked in; its recorder keeps what was found.

        Raises
        ------
        UnparsableReplyError
            The model's replies decide nothing.
        InfrastructureError, BudgetSpentError
            As `Conversation.ask` raises them.
        """
        ...


def last_stated(recorder: Recorder, problem: Problem) -> Chosen | None:
    """Return what a reply decided, such as a vote; the last one."""
    for event in reversed(recorder.events):
        if isinstance(event, ReplyEvent):
            try:
                said = read_decision(read_object(event.text, "decision"))
                if said is not None:
                    return Chosen(said, read_action(said, problem.actions, problem.noun))
            except UnparsableReplyError:
                continue
    return None
