"""What DeLLMa decides: a goal, actions and a context (section 3, the user prompt)."""

from __future__ import annotations

from dataclasses import dataclass

from dqa.core.question import Candidate


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
        Whether the goal may say how to answer, as a question in somebody's own words may.
    """

    goal: str
    actions: tuple[Candidate, ...]
    context: str
    noun: str = "action"
    states_form: bool = False
