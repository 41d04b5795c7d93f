"""Call chat models. Calls have retries, limits, budgets and token counts."""

from __future__ import annotations

import contextvars
import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, message_to_dict
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
from dqa.core.events import ReplyEvent
from dqa.core.journal import Journal, current_journal
from dqa.core.spans import Span
from dqa.models.attempts import time_limit
from dqa.models.cassette import record_failure
from dqa.models.faults import (
    Fault,
    FaultKind,
    diagnose,
    refused_setting,
    retry_after,
)
from dqa.models.model_spans import call_span, note_reply
from dqa.models.policy import DEFAULT_POLICY, CallPolicy
from dqa.models.replies import (
    ask_once,
    incomplete,
    original_error,
    reasoning_of,
    split_thinking,
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
"""Advice for faults that occur repeatedly."""
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_FAULTS = TypeAdapter(list[Fault])


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply of a model.

    Attributes
    ----------
    reply
        The model's message.
    """

    reply: AIMessage

    @property
    def usage(self) -> Usage:
        """The tokens that the provider counted."""
        return usage_of(self.reply)

    @property
    def text(self) -> str:
        """The text of the reply without its ``<think>`` part."""
        return split_thinking(self.reply.text)[1]

    @property
    def thought(self) -> str | None:
        """The ``<think>`` part of the reply; None without such a part."""
        return split_thinking(self.reply.text)[0]

    @property
    def reasoning(self) -> str:
        """The reasoning that the provider sent separately from the text."""
        return reasoning_of(self.reply)

    def check(self) -> None:
        """Raise `UnparsableReplyError` if the reply was cut off, withheld or only reasoning."""
        problem = incomplete(self.reply)
        if problem is not None:
            raise UnparsableReplyError(problem)

    def event(self, step: int, text: str, thought: str | None, **more: Any) -> ReplyEvent:  # noqa: ANN401
        """Return the event of the reply, with the text and the thought that the caller parsed."""
        usage = self.usage
        return ReplyEvent(
            step=step,
            text=text,
            thought=thought,
            reasoning=self.reasoning,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            **more,
        )


def call_model(
    model: ChatRunnable,
    messages: Sequence[BaseMessage],
    stop: Sequence[str] = (),
    policy: CallPolicy = DEFAULT_POLICY,
    on_fault: Callable[[Fault], object] = id,
) -> ModelReply:
    """Ask the model for one reply. Ask again after faults of its provider.

    If the model refuses an optional setting, this request and all later ones omit the setting.

    Parameters
    ----------
    model
        A chat model, with or without bound tools.
    messages
        The conversation.
    stop
        Sequences that end the reply. A longer reply is cut at the first of them.
    policy
        Retries, limits and budget.
    on_fault
        Called with each failed attempt, and if a reply was cut at a stop sequence.

    Raises
    ------
    ModelUnavailableError
        The provider failed repeatedly, or rejects this request.
    UsageError
        The key, the model's name or the address is wrong, or the quota is exhausted. No other
        request would succeed either.
    BudgetSpentError
        The budget is spent.
    """
    call = _Call(model, list(messages), list(stop) or None, policy, on_fault)
    journal = current_journal()
    return ModelReply(call.reply() if journal is None else _replayed(journal, call))


def _replayed(journal: Journal, call: _Call) -> AIMessage:
    """Return the reply recorded before a pause, with its faults.

    If there is none, ask the model.
    """
    fresh: list[AIMessage] = []

    def act() -> dict[str, Any]:
        fresh.append(call.reply())
        faults = _FAULTS.dump_python(call.faults, mode="json")
        return {"reply": message_to_dict(fresh[0]), "faults": faults}

    asked = [message_to_dict(message) for message in call.messages]
    recorded = journal.replay("reply", [asked, call.stop or []], act)
    reply = AIMessage.model_validate(recorded["reply"]["data"])
    if not fresh:
        for fault in _FAULTS.validate_python(recorded["faults"]):
            call.note(fault)
        call.charge(reply)
    return reply


@dataclass
class _Call:
    """A request with all its attempts."""

    model: ChatRunnable
    messages: list[BaseMessage]
    stop: list[str] | None
    policy: CallPolicy
    on_fault: Callable[[Fault], object]
    faults: list[Fault] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    span: Span = Span()  # noqa: RUF009  (immutable)

    @cached_property
    def chat(self) -> object:
        """The chat model without bound tools and recorder."""
        model: object = self.model
        while isinstance(model, RunnableBindingBase) or getattr(model, "inner", None) is not None:
            model = model.bound if isinstance(model, RunnableBindingBase) else model.inner  # type: ignore[attr-defined]
        return model

    def reply(self) -> AIMessage:
        """Ask until a reply arrives. One span contains all attempts."""
        with call_span(self.chat, self.messages, self.stop or ()) as self.span:
            reply = self._whole_reply()
            self.charge(reply)
            reply = self._ended(reply)
            note_reply(self.span, reply, usage_of(reply))
        return reply

    def _whole_reply(self) -> AIMessage:
        """Make the request, and repeat it after temporary faults."""
        clock, attempt = self.policy.clock, 1
        began = clock.monotonic()
        while True:
            if self.policy.budget is not None:
                self.policy.budget.check()
            try:
                return self._limited()
            except Exception as error:
                # Providers share no base class. Errors of scripted models are not retried.
                if isinstance(self.chat, ProgramModel):
                    raise
                cause = original_error(error)
                if isinstance(cause, DqaError) and not isinstance(cause, MalformedReplyError):
                    raise cause from error
                fault = self._fault(cause or error, attempt, clock.monotonic() - began)
                self.note(fault)
                if fault.wait is None:
                    raise self._given_up(fault, clock.monotonic() - began) from error
            if fault.kind is not FaultKind.UNSUPPORTED:
                clock.sleep(fault.wait)
                attempt += 1

    def _limited(self) -> AIMessage:
        """Make the request when the limiter allows it."""
        if self.policy.limiter is None:
            return self._ask()
        with self.policy.limiter.place(estimate_tokens(self.messages)) as settle:
            reply = self._ask()
            usage = self._counted(reply)
            settle(usage.input_tokens + usage.output_tokens)
        return reply

    def _ask(self) -> AIMessage:
        def invoke() -> AIMessage:
            return self.model.invoke(self.messages, stop=self.stop)

        if isinstance(self.chat, ProgramModel):
            return invoke()
        return ask_once(lambda: _within(self.policy.timeout, invoke), self.policy.reply_limit)

    def _fault(self, error: Exception, attempt: int, elapsed: float) -> Fault:
        """Return the fault of a failed attempt, with the pause before the next attempt."""
        if self._leaves_out(error):
            return Fault.of(FaultKind.UNSUPPORTED, error, attempt, 0.0)
        kind, wait = diagnose(error), None
        if kind.retryable:
            request = hashlib.sha256("\0".join(m.text for m in self.messages).encode()).hexdigest()
            asked = retry_after(error, self.policy.clock.wall())
            wait = self.policy.retry.pause(request, attempt, asked, elapsed)
        return Fault.of(kind, error, attempt, wait)

    def _leaves_out(self, error: Exception) -> bool:
        """Omit a setting that the model refuses, unless it was omitted before.

        A cassette contains the request with all settings, because only the inner model changes.
        """
        setting = refused_setting(error)
        leave_out = getattr(self.chat, "leave_out", None)  # of `OpenAIChat`
        if setting is None or leave_out is None or setting in self.refused:
            return False
        self.refused.add(setting)
        leave_out(setting)
        return True

    def _given_up(self, fault: Fault, elapsed: float) -> DqaError:
        """Return the error for the last fault, and record it on a cassette."""
        if not fault.kind.retryable:
            error = fault.kind.to_error(fault.message)
        else:
            times = "once" if fault.attempt == 1 else f"{fault.attempt} times in {elapsed:.0f} s"
            error = ModelUnavailableError(
                f"The model failed {times}, the last time with {fault.message.rstrip('.')}."
                f"{_HINTS.get(fault.kind, '')}"
            )
        if isinstance(error, ModelUnavailableError):
            record_failure(self.model, self.messages, self.stop, str(error))
        return error

    def note(self, fault: Fault) -> None:
        """Report a fault, and charge its possible cost to the budget."""
        self.faults.append(fault)
        about = {"error.type": fault.error, "dqa.fault": fault.kind.value, "dqa.wait": fault.wait}
        self.span.add_event("dqa.failed_attempt", about)
        self.on_fault(fault)
        if self.policy.budget is not None:
            estimate = estimate_tokens(self.messages) if fault.usage.uncounted else 0
            self.policy.budget.spend(replace(fault.usage, input_tokens=estimate))

    def charge(self, reply: AIMessage) -> None:
        """Charge a reply's tokens to the budget."""
        if self.policy.budget is not None:
            self.policy.budget.spend(self._counted(reply))

    def _counted(self, reply: AIMessage) -> Usage:
        """Return the tokens of a reply; an estimate if the provider counts none."""
        usage = usage_of(reply)
        if not usage.uncounted or isinstance(self.chat, ProgramModel):
            return usage
        asked, said = estimate_tokens(self.messages), estimate_tokens([reply])
        return replace(usage, input_tokens=asked, output_tokens=said)

    def _ended(self, reply: AIMessage) -> AIMessage:
        """Return the reply up to the first stop sequence after its ``<think>`` part."""
        text = reply.text
        thought = max((found.end() for found in _THOUGHT.finditer(text)), default=0)
        ends = [end for mark in self.stop or () if (end := text.find(mark, thought)) >= 0]
        if not ends:
            return reply
        words = "The reply continued after a stop sequence and was cut there."
        self.note(Fault(FaultKind.AFTER_STOP, "IgnoredStop", words, 1, None))
        more = {**reply.additional_kwargs, "reasoning_content": reasoning_of(reply)}
        changed = {"content": text[: min(ends)], "additional_kwargs": more}
        return reply.model_copy(update=changed)


def _within(seconds: float | None, ask: Callable[[], AIMessage]) -> AIMessage:
    """Ask the model, and raise `TimeoutError` if no complete reply arrives in time.

    This is necessary because the packages of providers limit only the time between two bytes.
    """
    if seconds is None:
        return ask()
    replied: Future[AIMessage] = Future()
    context, limit = contextvars.copy_context(), threading.Lock()
    context.run(time_limit.set, limit)

    def work() -> None:
        try:
            replied.set_result(context.run(ask))
        except BaseException as error:  # noqa: BLE001  (raised below, in the caller's thread)
            replied.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    wait([replied], seconds)
    if not replied.done() and limit.acquire(blocking=False):
        raise TimeoutError(f"No complete reply arrived within {seconds:g} s.")
    return replied.result()  # if the lock is taken, the reply has just arrived


def estimate_tokens(messages: Sequence[BaseMessage]) -> int:
    """Return an estimate of the tokens of messages."""
    return sum(len(message.text) for message in messages) // _CHARACTERS_PER_TOKEN + 1
