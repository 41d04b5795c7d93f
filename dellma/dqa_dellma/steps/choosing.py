"""What decides a problem, and what it chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dqa.core.question import Candidate
from dqa.models.conversation import Conversation
from dqa_dellma.context.problem import Problem


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was chosen: in words, and as an action."""

    answer: str
    action: Candidate


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
