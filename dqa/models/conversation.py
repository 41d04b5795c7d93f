"""The conversation with a model: ask, say what could not be used, ask again within a bound.

`take_turn` asks for one reply and counts it; an agent whose conversation goes on for many turns
calls it itself. `Conversation` asks for one thing at a time, each in a conversation of its own.
Both keep what happened in a `Recorder`; what ends a decision is raised, and
`dqa.core.endings.ending_of` says how it ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from dqa.core.decision import Usage
from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.events import (
    FaultEvent,
    ParseFailureEvent,
    PromptEvent,
    ReplyEvent,
    Role,
    WarningEvent,
)
from dqa.core.recorder import Recorder
from dqa.models.calling import ChatRunnable, call_model, estimate_tokens
from dqa.models.faults import Fault
from dqa.models.policy import DEFAULT_POLICY, CallPolicy

_Read = TypeVar("_Read")

EMPTY_REPLY = "(empty reply)"
"""What a conversation keeps of a reply without words: providers reject empty messages."""

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
"""A thought whose beginning a provider has put into the request."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of a model.

    Attributes
    ----------
    message
        As the model gave it.
    text
        What it said, without what it thought aloud.
    thought
        What it thought aloud, as it wrote it; None where it did not.
    usage
        Tokens that the provider counted.
    incomplete
        Why the reply cannot be taken for what the model had to say; see
        `dqa.models.calling.ModelReply`.
    """

    message: AIMessage
    text: str
    thought: str | None
    usage: Usage
    incomplete: str | None = None

    def check(self) -> None:
        """Raise `UnparsableReplyError`, which tells the model why, where the reply is not whole."""
        if self.incomplete is not None:
            raise UnparsableReplyError(self.incomplete)


def take_turn(
    model: ChatRunnable,
    messages: Sequence[BaseMessage],
    recorder: Recorder,
    calls: CallPolicy = DEFAULT_POLICY,
    stop: Sequence[str] = (),
) -> Turn:
    """Ask a model for its next reply, and record faults and tokens.

    The reply itself is recorded by who reads it, since only the reader knows what it says, and
    whether it counts as a step.

    Parameters
    ----------
    model
        Who is asked.
    messages
        The conversation so far.
    recorder
        Keeps faults and tokens.
    calls
        Retries, limits and budget.
    stop
        Sequences that end the reply, for models that honour them.

    Raises
    ------
    InfrastructureError, BudgetSpentError, UsageError
        As `dqa.models.calling.call_model` raises them.
    """
    recorder.asking()

    def note(fault: Fault) -> None:
        recorder.lost += fault.usage
        recorder.note(FaultEvent(step=recorder.steps + 1, **fault.to_data()))

    called = call_model(model, messages, stop, calls, note)
    recorder.usage += called.usage
    if not called.usage.input_tokens:
        # Who counts nothing, such as a scripted model, must not make a budget endless.
        recorder.uncounted += Usage(estimate_tokens(messages), estimate_tokens([called.reply]))
    if called.miscounted:
        recorder.warn_once(_miscounted(recorder))
    thought, text = split_thinking(called.reply.text)
    return Turn(called.reply, text, thought, called.usage, called.incomplete)


def _miscounted(recorder: Recorder) -> WarningEvent:
    return WarningEvent(
        step=recorder.steps + 1,
        about="tokens",
        text="The provider's count of tokens is none: not whole numbers from 0 on. They count as "
        "unknown: what was spent leaves them out, and a budget goes by an estimate.",
        considered=0,
        total=1,
    )


def split_thinking(text: str) -> tuple[str | None, str]:
    """Return what a model thought aloud (``<think>``), None where it did not, and what it said."""
    thoughts, said = _THOUGHT.findall(text), _THOUGHT.sub("", text)
    opened = _OPEN_THOUGHT.match(said)
    if opened is not None:
        thoughts, said = [opened.group(), *thoughts], said[opened.end() :]
    return "\n".join(thoughts).strip() or None, said.strip()


def correction(problem: str) -> HumanMessage:
    """Return the message that asks again, with what was wrong with the last reply."""
    return HumanMessage(f"The reply could not be used. {problem}")


def given_up(failures: int, problem: str) -> UnparsableReplyError:
    """Return the error that ends a decision after too many replies that could not be used."""
    return UnparsableReplyError(f"{failures} replies in a row could not be used. {problem}")


@dataclass(frozen=True, slots=True)
class Conversation:
    """Asks a model for one thing at a time.

    Attributes
    ----------
    model
        Who is asked.
    max_failures
        Most replies to one question that may not be readable.
    calls
        Retries, limits and budget.
    recorder
        Keeps what is asked and said.
    """

    model: ChatRunnable
    max_failures: int = 3
    calls: CallPolicy = DEFAULT_POLICY
    recorder: Recorder = field(default_factory=Recorder)

    def ask(
        self,
        prompt: str,
        read: Callable[[str], _Read],
        purpose: str | None = None,
        *,
        model: ChatRunnable | None = None,
        role: Role = "agent",
    ) -> _Read:
        """Ask, and ask again with what was wrong, up to `max_failures` times.

        Parameters
        ----------
        prompt
            What is asked.
        read
            Reads what the model said; `UnparsableReplyError` tells the model what to write instead.
        purpose
            What it is for, for the trace.
        model
            Who is asked, where it is not the usual one.
        role
            Which of a decider's models it is, for the trace.

        Raises
        ------
        UnparsableReplyError
            No reply could be read.
        OutOfBudgetError
            What the decision may cost is spent, but for a last request once the run is closed.
        InfrastructureError, BudgetSpentError, UsageError
            As `dqa.models.calling.call_model` raises them.
        """
        messages: list[BaseMessage] = [HumanMessage(prompt)]
        record = self.recorder
        if record.ended_by is None and record.over_budget(reads=False) is not None:
            raise OutOfBudgetError(f"The budget of {record.spent} is spent.")
        record.note(
            PromptEvent(
                step=record.steps, messages=(("human", prompt),), role=role, purpose=purpose
            )
        )
        problem = ""
        for _ in range(self.max_failures):
            turn = take_turn(model or self.model, messages, record, self.calls)
            record.steps += 1
            record.note(
                ReplyEvent(
                    step=record.steps,
                    text=turn.text,
                    thought=turn.thought,
                    role=role,
                    input_tokens=turn.usage.input_tokens,
                    output_tokens=turn.usage.output_tokens,
                )
            )
            try:
                turn.check()
                return read(turn.text)
            except UnparsableReplyError as error:
                problem = str(error)
                record.note(ParseFailureEvent(step=record.steps, problem=problem, role=role))
                messages += [AIMessage(turn.text or EMPTY_REPLY), correction(problem)]
        raise given_up(self.max_failures, problem)
