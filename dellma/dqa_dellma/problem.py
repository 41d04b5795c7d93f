"""The decision problem of DeLLMa: a goal, actions and a context (section 3, the user prompt)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from pydantic import ConfigDict, Field

from dqa.core.database import Database
from dqa.core.errors import UnparsableReplyError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.recorder import Recorder
from dqa.deciders.base import Settings
from dqa.deciders.context import cut_rows, read_context
from dqa.deciders.prompting import fill_in
from dqa.deciders.replies import Choice, Reply, read_action, read_object
from dqa_dellma.findings import ContextRead
from dqa_dellma.settings import DirectSettings

METHOD = "DeLLMa"
_LEAST_ROWS = 200
"""The minimum number of characters for rows in a prompt."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A decision problem ``P = (G, A, C)``.

    Attributes
    ----------
    read
        The goal, the actions, the rules and the rows.
    noun
        The word for an action, such as "trade node".
    states_form
        Whether `goal` is the exact text of the question. This text may prescribe the form of the
        answer.
    """

    read: ContextRead
    noun: str = "action"
    states_form: bool = False

    @property
    def goal(self) -> str:
        """The aim of the decision maker, in words."""
        return self.read.goal

    @property
    def actions(self) -> tuple[Candidate, ...]:
        """The actions in order; at least one."""
        return self.read.actions

    @property
    def context(self) -> str:
        """The known facts as text: rules, and the rows that queries returned."""
        return fill_in("dqa_dellma", "context", rules=self.read.rules, rows=self.read.text)


def read_problem(
    question: Question,
    actions: tuple[Candidate, ...],
    database: Database,
    recorder: Recorder,
    settings: Settings,
) -> Problem:
    """Read the problem of a question, and record every statement as evidence.

    The setting ``context`` limits the length of the problem. Rows at the end that do not fit are
    left out, and a warning is recorded.

    Raises
    ------
    UsageError
        The goal, actions and rules leave too little room for rows, or no query can run.
    InfrastructureError
        The database failed.
    """
    found = read_context(METHOD, question, actions, database, recorder, settings)
    stored = ("goal", "rules", "actions", "left_out", "failed", "cut")
    read = ContextRead(text="", **{name: getattr(found, name) for name in stored})
    problem = Problem(read, found.noun, found.states_form)
    most = settings.own_as(DirectSettings).context
    taken = len(fill_in("dqa_dellma", "task", problem=problem))
    if most - taken < _LEAST_ROWS:
        raise UsageError(
            f"The goal, the rules and {len(found.actions)} actions take {taken} of the {most} "
            f"characters that dellma.context allows. Rows need at least {_LEAST_ROWS}. List "
            f"fewer actions, or write --set dellma.context={2 * (taken + _LEAST_ROWS)}."
        )
    rows = cut_rows("\n\n".join(found.tables), most - taken, recorder, "dellma.context")
    return replace(problem, read=read.model_copy(update={"text": rows}))


class Decided(Reply):
    """A reply that chooses one of the actions of a `Problem`."""

    model_config = ConfigDict(title="decision")

    decision: Candidate = Field(title="action")
    said: str

    @classmethod
    def read(cls, text: str, context: Any = None) -> Self:  # noqa: ANN401
        """Read the decision in a reply; `context` is the `Problem`."""
        problem: Problem = context
        answer = read_decision(read_object(text, "decision"))
        if answer is None:
            raise UnparsableReplyError('The reply has no decision. Write {"decision": "..."}.')
        return cls(decision=read_action(answer, problem.actions, problem.noun), said=answer)

    @property
    def chosen(self) -> Choice:
        """The decision as a `Choice`."""
        return Choice.of(self.decision, said=self.said)


def read_decision(reply: Mapping[str, Any]) -> str | None:
    """Return the text or number in the field ``decision`` of a reply; None if there is none."""
    said = reply.get("decision")
    if isinstance(said, int) and not isinstance(said, bool):
        return str(said)
    return said.strip() or None if isinstance(said, str) else None
