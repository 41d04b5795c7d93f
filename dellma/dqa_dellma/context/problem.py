"""What DeLLMa decides: a goal, actions and a context (section 3, the user prompt)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from pydantic import ConfigDict, Field

from dqa.core.errors import UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.actions import Chosen
from dqa.deciders.method import Reply
from dqa.deciders.replies import read_action, read_decision, read_object


@dataclass(frozen=True, slots=True)
class Problem:
    """A decision problem ``P = (G, A, C)``.

    Attributes
    ----------
    goal
        What the decision maker wants, in words.
    actions
        What can be chosen, n >= 1, in order.
    context
        What is known, as text: rules, and the rows that queries returned.
    noun
        What an action is called, such as "trade node".
    states_form
        Whether the goal may say how to answer, as a user's own question may.
    """

    goal: str
    actions: tuple[Candidate, ...]
    context: str
    noun: str = "action"
    states_form: bool = False


class Decided(Reply):
    """A reply that decides for one of the actions of a `Problem`, the context."""

    model_config = ConfigDict(title="decision")

    decision: Candidate = Field(title="action")
    said: str

    @classmethod
    def read(cls, text: str, context: Any = None) -> Self:  # noqa: ANN401
        """Read the reply."""
        problem: Problem = context
        said = read_decision(read_object(text, "decision"))
        if said is None:
            raise UnparsableReplyError('The reply decides nothing. Write {"decision": "..."}.')
        return cls(decision=read_action(said, problem.actions, problem.noun), said=said)

    @property
    def chosen(self) -> Chosen:
        """The choice, as a decider returns it."""
        return Chosen(self.said, self.decision)
