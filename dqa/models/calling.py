"""The one function that calls chat models: retries, limits, budgets and token counts."""

from __future__ import annotations

import contextvars
import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import tenacity
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, message_to_dict, messages_from_dict
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import RunnableBindingBase
from pydantic import TypeAdapter

from dqa.core.decision import Usage
from dqa.core.errors import (
    DqaError,
    MalformedReplyError,
    ModelUnavailableError,
    UnparsableReplyError,
)
from dqa.core.journal import Journal, current_journal
from dqa.models.attempts import time_limit
from dqa.models.cassette import RecordedModel, record_failure
from dqa.models.faults import (
    Fault,
    FaultKind,
    diagnose,
    refused_setting,
    retry_after,
)
from dqa.models.model_spans import CallSpan, call_span
from dqa.models.policy import DEFAULT_POLICY, CallPolicy
from dqa.models.replies import (
    ask_once,
    incomplete,
    original_error,
    reasoning_of,
    usage_of,
)
from dqa.models.scripted import ProgramModel

ChatRunnable: TypeAlias = Runnable[LanguageModelInput, AIMessage]
"""A chat model, with or without bound tools."""

_CHARACTERS_PER_TOKEN = 4
_HINTS = {
    FaultKind.MALFORMED: " Check --base-url.",
    FaultKind.TIMEOUT: " Wait longer (--timeout), or ask for shorter replies (--reply-tokens).",
}
"""Advice for a kind of fault that repeats."""
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_FAULTS = TypeAdapter(list[Fault])


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply.

    Attributes
    ----------
    reply
        The model's message.
    usage
        The tokens that the provider counted.
    incomplete
        Why the reply must not be used as the model's answer (cut off, withheld, refused, or only
        reasoning), worded for the model; None for a whole reply.
    reasoning
        The reasoning that the provider sent apart from the text.
    """

    reply: AIMessage
    usage: Usage
    incomplete: str | None = None
    reasoning: str = ""

    def check(self) -> None:
        """Raise `UnparsableReplyError` unless the reply is whole."""
        if self.incomplete is not None:
            raise UnparsableReplyError(self.incomplete)


def call_model(
    model: ChatRunnable,
    messages: Sequence[BaseMessage],
    stop: Sequence[str] = (),
    policy: CallPolicy = DEFAULT_POLICY,
    on_fault: Callable[[Fault], object] = id,
) -> ModelReply:
    """Ask the model for one reply; ask again after faults of its provider.

    If the model refuses a setting that it can do without, the request and all later ones are made
    without that setting.

    Parameters
    ----------
    model
        A chat model, with or without bound tools.
    messages
        The conversation.
    stop
        Sequences that end the reply; a reply that continues after one is cut there.
    policy
        Retries, limits and budget.
    on_fault
        Called with each failed attempt, and with a reply that was cut at a stop sequence.

    Raises
    ------
    ModelUnavailableError
        The provider failed repeatedly, or rejects this request.
    UsageError
        The key, the model's name or the address is wrong, or the quota is exhausted: no other
        request would succeed either.
    BudgetSpentError
        The budget is spent.
    """
    call = _Call(model, list(messages), list(stop) or None, policy, on_fault)
    journal = current_journal()
    reply = call.reply() if journal is None else _replayed(journal, call)
    return ModelReply(reply, usage_of(reply), incomplete(reply), reasoning_of(reply))


def _replayed(journal: Journal, call: _Call) -> AIMessage:
    """Return the reply from before a pause, with its faults; else ask and record it."""

    def act() -> dict[str, Any]:
        reply = message_to_dict(call.reply())
        return {"reply": reply, "faults": _FAULTS.dump_python(call.faults, mode="json")}

    asked = [message_to_dict(message) for message in call.messages]
    recorded = journal.replay("reply", [asked, call.stop or []], act)
    (reply,) = messages_from_dict([recorded["reply"]])
    if not isinstance(reply, AIMessage):
        raise TypeError(f"The journal has a {type(reply).__name__} as a reply.")
    if not call.is_done:
        for fault in _FAULTS.validate_python(recorded["faults"]):
            call.note(fault)
        call.charge(reply)
    return reply


@dataclass(slots=True)
class _Call:
    """A request with all its attempts."""

    model: ChatRunnable
    messages: list[BaseMessage]
    stop: list[str] | None
    policy: CallPolicy
    on_fault: Callable[[Fault], object]
    faults: list[Fault] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    span: CallSpan = CallSpan()  # noqa: RUF009  (frozen)
    attempt: int = 0
    is_done: bool = False

    def reply(self) -> AIMessage:
        """Ask until there is a reply, in a span."""
        self.is_done = True
        began = self.policy.clock.monotonic()
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_AttemptFailedError),
            stop=lambda state: _fault_of(state).wait is None,
            wait=lambda state: _fault_of(state).wait or 0.0,
            sleep=self._sleep,
            reraise=True,
        )
        chat = list(layers(self.model))[-1]
        with call_span(chat, self.messages, self.stop or ()) as span:
            self.span = span
            try:
                reply = retrying(self._attempt, began)
            except _AttemptFailedError as failed:
                raise self._given_up(failed.fault, began) from failed.__cause__
            self.charge(reply)
            reply = self._ended(reply)
            span.reply(reply, usage_of(reply))
        return reply

    def _attempt(self, began: float) -> AIMessage:
        """Make the request; raise `_AttemptFailedError` with what to do after a fault."""
        policy = self.policy
        if policy.budget is not None:
            policy.budget.check()
        self.attempt += 1
        try:
            return self._limited()
        except Exception as error:
            # Providers share no base class. What a scripted model raises is a bug, or meant.
            if self.asks_a_program:
                raise
            cause = original_error(error)
            if isinstance(cause, DqaError) and not isinstance(cause, MalformedReplyError):
                raise cause from error
            fault = self._fault(cause or error, policy.clock.monotonic() - began)
            self.note(fault)
            raise _AttemptFailedError(fault) from error

    def _sleep(self, seconds: float) -> None:
        if seconds:
            self.policy.clock.sleep(seconds)

    def _limited(self) -> AIMessage:
        """Make the request as soon as the limiter allows it."""
        if self.policy.limiter is None:
            return self._ask()
        with self.policy.limiter.place(estimate_tokens(self.messages)) as settle:
            reply = self._ask()
            settle(_sum(self._counted(reply)))
        return reply

    def _ask(self) -> AIMessage:
        def invoke() -> AIMessage:
            return self.model.invoke(self.messages, stop=self.stop)

        if self.asks_a_program:
            return invoke()
        timeout = self.policy.timeout
        return ask_once(
            invoke if timeout is None else _within(timeout, invoke), self.policy.reply_limit
        )

    def _fault(self, error: Exception, elapsed: float) -> Fault:
        """Return the fault of the failed attempt, with the time of the next one."""
        if self._leaves_out(error):
            self.attempt -= 1
            return Fault.of(FaultKind.UNSUPPORTED, error, self.attempt + 1, 0.0)
        kind, wait = diagnose(error), None
        if kind.retryable:
            request = hashlib.sha256("\0".join(m.text for m in self.messages).encode()).hexdigest()
            asked = retry_after(error, self.policy.clock.wall())
            wait = self.policy.retry.pause(request, self.attempt, asked, elapsed)
        return Fault.of(kind, error, self.attempt, wait)

    def _leaves_out(self, error: Exception) -> bool:
        """Leave out a setting that the model refuses, unless that did not help before.

        The recorder is above the model that changes: a cassette has the request with all settings.
        """
        setting = refused_setting(error)
        model = next((m for m in layers(self.model) if isinstance(m, _Adaptable)), None)
        if setting is None or model is None or setting in self.refused:
            return False
        self.refused.add(setting)
        model.leave_out(setting)
        return True

    def _given_up(self, fault: Fault, began: float) -> DqaError:
        """Return the error that the last fault ends in, and record it on a cassette."""
        if not fault.kind.retryable:
            error = fault.kind.to_error(fault.message)
        else:
            elapsed = self.policy.clock.monotonic() - began
            times = "once" if fault.attempt == 1 else f"{fault.attempt} times in {elapsed:.0f} s"
            error = ModelUnavailableError(
                f"The model failed {times}, the last time with {fault.message.rstrip('.')}."
                f"{_HINTS.get(fault.kind, '')}"
            )
        if isinstance(error, ModelUnavailableError):
            record_failure(self.model, self.messages, self.stop, str(error))
        return error

    def note(self, fault: Fault) -> None:
        """Report a fault, and subtract its possible cost from the budget."""
        self.faults.append(fault)
        self.span.fault(fault)
        self.on_fault(fault)
        if self.policy.budget is not None:
            estimate = estimate_tokens(self.messages) if fault.usage.uncounted else 0
            self.policy.budget.spend(replace(fault.usage, input_tokens=estimate))

    def charge(self, reply: AIMessage) -> None:
        """Take a reply's tokens off the budget; estimated, if the provider counts none."""
        if self.policy.budget is not None:
            self.policy.budget.spend(self._counted(reply))

    def _counted(self, reply: AIMessage) -> Usage:
        usage = usage_of(reply)
        if not usage.uncounted or self.asks_a_program:
            return usage
        return replace(
            usage,
            input_tokens=estimate_tokens(self.messages),
            output_tokens=estimate_tokens([reply]),
        )

    def _ended(self, reply: AIMessage) -> AIMessage:
        """Return the reply up to the first stop sequence after its ``<think>`` part."""
        text = reply.text
        thought = max((found.end() for found in _THOUGHT.finditer(text)), default=0)
        ends = [end for mark in self.stop or () if (end := text.find(mark, thought)) >= 0]
        if not ends:
            return reply
        words = "The reply went on after a stop sequence; what followed it was cut off."
        self.note(Fault(FaultKind.AFTER_STOP, "IgnoredStop", words, self.attempt, None))
        more = {**reply.additional_kwargs, "reasoning_content": reasoning_of(reply)}
        changed = {"content": text[: min(ends)], "additional_kwargs": more}
        return reply.model_copy(update=changed)

    @property
    def asks_a_program(self) -> bool:
        """Whether a scripted model answers."""
        return any(isinstance(layer, ProgramModel) for layer in layers(self.model))


class _AttemptFailedError(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def _fault_of(state: tenacity.RetryCallState) -> Fault:
    failed = None if state.outcome is None else state.outcome.exception()
    if not isinstance(failed, _AttemptFailedError):
        raise TypeError("Only a failed attempt is repeated.")
    return failed.fault


@runtime_checkable
class _Adaptable(Protocol):
    """A chat model that can do without a setting which its provider refuses."""

    def leave_out(self, setting: str) -> None: ...


def _within(seconds: float, ask: Callable[[], AIMessage]) -> Callable[[], AIMessage]:
    """Return a function that asks, and raises `TimeoutError` after some seconds.

    Packages limit only the silence between two bytes, so a server that drips could take for ever.
    """

    def asked() -> AIMessage:
        replies: list[AIMessage] = []
        errors: list[BaseException] = []

        def work() -> None:
            try:
                replies.append(ask())
            except BaseException as error:  # noqa: BLE001  (raised below, in the caller's thread)
                errors.append(error)

        context, limit = contextvars.copy_context(), threading.Lock()
        context.run(time_limit.set, limit)
        thread = threading.Thread(target=context.run, args=(work,), daemon=True)
        thread.start()
        thread.join(seconds)
        if thread.is_alive():
            if limit.acquire(blocking=False):
                raise TimeoutError(f"There was no whole reply within {seconds:g} s.")
            thread.join()  # the reply is being recorded
        if errors:
            raise errors[0]
        return replies[0]

    return asked


def layers(model: object) -> Iterator[object]:
    """Yield a model and the models below its bound tools and its recorder."""
    while model is not None:
        yield model
        if isinstance(model, RunnableBindingBase):
            model = model.bound
        else:
            model = model.inner if isinstance(model, RecordedModel) else None


def estimate_tokens(messages: Sequence[BaseMessage]) -> int:
    """Return an estimate of the tokens of messages."""
    return sum(len(message.text) for message in messages) // _CHARACTERS_PER_TOKEN + 1


def _sum(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens
