"""The decision problem of DeLLMa: a goal, actions and a context (section 3, the user prompt)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pydantic import ConfigDict, Field

from dqa.core.errors import UnparsableReplyError, UsageError
from dqa.core.question import Candidate
from dqa.core.recorder import Recorder
from dqa.deciders.context import Context, cut_rows
from dqa.deciders.method import Reply
from dqa.deciders.prompting import fill_in
from dqa.deciders.replies import Chosen, read_action, read_decision, read_object
from dqa_dellma.findings import ContextRead

METHOD = "DeLLMa"
_LEAST_ROWS = 200
"""The minimum number of characters that must be left for rows."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A decision problem ``P = (G, A, C)``.

    Attributes
    ----------
    goal
        The aim of the decision maker, in words.
    actions
        The actions in order; at least one.
    context
        The known facts as text: rules, and the rows that queries returned.
    noun
        The word for an action, such as "trade node".
    states_form
        Whether the goal may prescribe the form of the answer. A user's own question may do so.
    """

    goal: str
    actions: tuple[Candidate, ...]
    context: str
    noun: str = "action"
    states_form: bool = False


@dataclass(frozen=True, slots=True)
class Briefing(Context):
    """The context of a question; `problem` turns it into a problem of bounded length."""

    method: ClassVar[str] = METHOD

    def problem(self, most: int, recorder: Recorder) -> tuple[Problem, ContextRead]:
        """Return the problem, and its record for the trace.

        Rows at the end that do not fit are left out, and a warning is recorded.

        Parameters
        ----------
        most
            The maximum number of characters of the goal, actions, rules and rows together.
        recorder
            Receives the warning.

        Raises
        ------
        UsageError
            The goal, actions and rules leave too little room for rows.
        """
        taken = len(fill_in("dqa_dellma", "task", problem=self._with_rows("")))
        if most - taken < _LEAST_ROWS:
            raise UsageError(
                f"The goal, the rules and {len(self.actions)} actions take {taken} of the {most} "
                "characters that dellma.context allows. This leaves no room for rows. Raise the "
                f"limit with --set dellma.context={2 * (taken + _LEAST_ROWS)}, or list fewer "
                "actions."
            )
        rows = cut_rows("\n\n".join(self.tables), most - taken, recorder, "dellma.context")
        read = ContextRead(
            goal=self.goal,
            rules=self.rules,
            actions=self.actions,
            left_out=self.left_out,
            text=rows,
            failed=self.failed,
            cut=self.cut,
        )
        return self._with_rows(rows), read

    def _with_rows(self, rows: str) -> Problem:
        context = fill_in("dqa_dellma", "context", rules=self.rules, rows=rows)
        return Problem(self.goal, self.actions, context, self.noun, self.states_form)


class Decided(Reply):
    """A reply that chooses one of the actions of a `Problem`."""

    model_config = ConfigDict(title="decision")

    decision: Candidate = Field(title="action")
    said: str

    @classmethod
    def read(cls, text: str, context: Any = None) -> Self:  # noqa: ANN401
        """Read the reply; `context` is the `Problem`."""
        problem: Problem = context
        said = read_decision(read_object(text, "decision"))
        if said is None:
            raise UnparsableReplyError('The reply has no decision. Write {"decision": "..."}.')
        return cls(decision=read_action(said, problem.actions, problem.noun), said=said)

    @property
    def chosen(self) -> Chosen:
        """The choice that a decider returns."""
        return Chosen(self.said, self.decision)
