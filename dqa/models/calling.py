"""Call chat models with retries, limits and budgets."""

from __future__ import annotations

import contextvars
import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, message_to_dict
from langchain_core.runnables import Runnable

from dqa.core.decision import Usage
from dqa.core.errors import DqaError, MalformedReplyError, ModelUnavailableError
from dqa.core.events import FaultEvent
from dqa.core.journal import Journal, current_journal
from dqa.core.recorder import Recorder
from dqa.core.spans import Span
from dqa.models.attempts import time_limit
from dqa.models.cassette import inner_model, record_failure
from dqa.models.faults import (
    FaultKind,
    diagnose,
    refused_setting,
    retry_after,
    unreached,
    usage_of_fault,
    words_of,
)
from dqa.models.model_spans import call_span, note_reply
from dqa.models.policy import DEFAULT_POLICY, CallPolicy, Limiter
from dqa.models.replies import ModelReply, ask_once, original_error
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
_UNLIMITED = Limiter()


def call_model(
    model: ChatRunnable,
    messages: Sequence[BaseMessage],
    recorder: Recorder,
    policy: CallPolicy = DEFAULT_POLICY,
    stop: Sequence[str] = (),
) -> ModelReply:
    """Ask the model for one reply. Ask again after faults of the provider.

    If the model refuses an optional setting, this request and all later requests omit the setting.
    The caller records the reply, because only the caller can parse it.

    Parameters
    ----------
    model
        A chat model, with or without bound tools.
    messages
        The conversation so far.
    recorder
        Records tokens, failed attempts and replies that were cut at a stop sequence.
    policy
        Retries, limits and budget of the run.
    stop
        Sequences that end the reply. If a reply contains such a sequence, it is cut there.

    Raises
    ------
    ModelUnavailableError
        The provider failed repeatedly, or rejects this request.
    UsageError
        The key, the model's name or the address is wrong, or the quota is exhausted. All other
        requests would fail, too.
    BudgetSpentError
        The budget of the run is spent.
    """
    recorder.asking()
    call = _Call(model, list(messages), list(stop) or None, policy, recorder)
    journal = current_journal()
    turn = ModelReply(call.reply() if journal is None else _replayed(journal, call))
    recorder.usage += turn.usage
    if not turn.usage.input_tokens:
        # Scripted models count no tokens. An estimate lets the decision's budget limit them, too.
        recorder.uncounted += Usage(estimate_tokens(messages), estimate_tokens([turn.reply]))
    return turn


def _replayed(journal: Journal, call: _Call) -> AIMessage:
    """Return the reply that the journal recorded before a pause; otherwise ask the model."""
    fresh: list[AIMessage] = []

    def act() -> dict[str, Any]:
        fresh.append(call.reply())
        faults = [[fault.to_json(), asdict(usage)] for fault, usage in call.faults]
        return {"reply": message_to_dict(fresh[0]), "faults": faults}

    request = [message_to_dict(message) for message in call.messages]
    recorded = journal.replay("reply", [request, call.stop or []], act)
    reply = AIMessage.model_validate(recorded["reply"]["data"])
    if not fresh:
        for fault, usage in recorded["faults"]:
            call.note(FaultEvent(**fault), Usage(**usage))
        call.spend(call.usage_of(reply))
    return reply


@dataclass
class _Call:
    """A request with all its attempts."""

    model: ChatRunnable
    messages: list[BaseMessage]
    stop: list[str] | None
    policy: CallPolicy
    recorder: Recorder
    faults: list[tuple[FaultEvent, Usage]] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    span: Span = Span()  # noqa: RUF009  (immutable)

    @cached_property
    def chat(self) -> object:
        """The chat model without its bound tools and without a `RecordedModel` around it."""
        return inner_model(self.model)

    def reply(self) -> AIMessage:
        """Ask until a reply arrives. One span contains all attempts."""
        with call_span(self.chat, self.stop or ()) as self.span:
            reply = self._ask_until_reply()
            self.spend(self.usage_of(reply))
            reply = self._cut_at_stop(reply)
            note_reply(self.span, reply, ModelReply(reply).usage)
        return reply

    def _ask_until_reply(self) -> AIMessage:
        """Make the request, and repeat it after temporary faults."""
        clock, attempt = self.policy.clock, 1
        began = clock.monotonic()
        while True:
            if self.policy.budget is not None:
                self.policy.budget.check()
            try:
                return self._ask()
            except Exception as error:
                # Providers share no base class. Errors of scripted models are not retried.
                if isinstance(self.chat, ProgramModel):
                    raise
                cause = original_error(error)
                if isinstance(cause, DqaError) and not isinstance(cause, MalformedReplyError):
                    raise cause from error
                kind, fault = self._fault(cause or error, attempt, clock.monotonic() - began)
                self.note(fault, usage_of_fault(kind, cause or error))
                if fault.wait is None:
                    raise self._final_error(kind, fault, clock.monotonic() - began) from error
            if kind is not FaultKind.UNSUPPORTED:
                clock.sleep(fault.wait)
                attempt += 1

    def _ask(self) -> AIMessage:
        """Wait until the limiter allows the request, then make the request once."""

        def invoke() -> AIMessage:
            return self.model.invoke(self.messages, stop=self.stop)

        with (self.policy.limiter or _UNLIMITED).place(estimate_tokens(self.messages)) as settle:
            if isinstance(self.chat, ProgramModel):
                reply = invoke()
            else:
                reply = ask_once(lambda: _within(self.policy.timeout, invoke))
            usage = self.usage_of(reply)
            settle(usage.input_tokens + usage.output_tokens)
        return reply

    def _fault(
        self, error: Exception, attempt: int, elapsed: float
    ) -> tuple[FaultKind, FaultEvent]:
        """Return the kind and the event of a failed attempt, with the pause after it."""
        kind, wait = diagnose(error), None
        if self._omit_refused_setting(error):
            kind, wait = FaultKind.UNSUPPORTED, 0.0
        elif kind.retryable and not self._timed_out_twice(kind, error):
            request = hashlib.sha256("\0".join(m.text for m in self.messages).encode()).hexdigest()
            seconds = retry_after(error)
            wait = self.policy.retry.pause(request, attempt, seconds, elapsed)
        return kind, self._event(kind, type(error).__name__, words_of(error), attempt, wait)

    def _timed_out_twice(self, kind: FaultKind, error: Exception) -> bool:
        """Return whether the request timed out twice: a slow server may still process both."""
        is_slow = kind is FaultKind.TIMEOUT and unreached(error) is None
        return is_slow and any(fault.fault == kind for fault, _ in self.faults)

    def _event(
        self, kind: FaultKind, name: str, words: str, attempt: int = 1, wait: float | None = None
    ) -> FaultEvent:
        about = {"step": self.recorder.steps + 1, "attempt": attempt, "wait": wait}
        found = {"fault": kind.value, "error": name, "message": words}
        return FaultEvent.model_validate(about | found)

    def _omit_refused_setting(self, error: Exception) -> bool:
        """Return whether the model refuses a setting. If so, later requests omit this setting.

        A cassette records the requests with the setting.
        """
        setting = refused_setting(error)
        leave_out = getattr(self.chat, "leave_out", None)  # a method of `OpenAIChat`
        if setting is None or leave_out is None or setting in self.refused:
            return False
        self.refused.add(setting)
        leave_out(setting)
        return True

    def _final_error(self, kind: FaultKind, fault: FaultEvent, elapsed: float) -> DqaError:
        """Return the error for the last fault of the call. Record this error on a cassette."""
        error = kind.to_error(fault.message)
        if kind.retryable:
            times = "once" if fault.attempt == 1 else f"{fault.attempt} times in {elapsed:.0f} s"
            error = ModelUnavailableError(
                f"The model failed {times}, the last time with {fault.message.rstrip('.')}."
                f"{_HINTS.get(kind, '')}"
            )
        if isinstance(error, ModelUnavailableError):
            record_failure(self.model, self.messages, self.stop, error)
        return error

    def note(self, fault: FaultEvent, usage: Usage) -> None:
        """Record a fault and its usage, and charge its possible cost to the budget."""
        self.faults.append((fault, usage))
        estimate = estimate_tokens(self.messages) if usage.uncounted else 0
        self.recorder.lost += usage
        self.recorder.uncounted += Usage(estimate)
        about = {"error.type": fault.error, "dqa.fault": fault.fault, "dqa.wait": fault.wait}
        self.span.add_event("dqa.failed_attempt", about)
        self.recorder.note(fault)
        self.spend(replace(usage, input_tokens=estimate))

    def spend(self, usage: Usage) -> None:
        """Charge tokens to the budget."""
        if self.policy.budget is not None:
            self.policy.budget.spend(usage)

    def usage_of(self, reply: AIMessage) -> Usage:
        """Return the usage of a reply, with estimated tokens if the provider did not count them."""
        usage = ModelReply(reply).usage
        if not usage.uncounted or isinstance(self.chat, ProgramModel):
            return usage
        sent, received = estimate_tokens(self.messages), estimate_tokens([reply])
        return replace(usage, input_tokens=sent, output_tokens=received)

    def _cut_at_stop(self, reply: AIMessage) -> AIMessage:
        """Return the reply up to the first stop sequence after its ``<think>`` part."""
        text = reply.text
        thought = max((found.end() for found in _THOUGHT.finditer(text)), default=0)
        ends = [end for mark in self.stop or () if (end := text.find(mark, thought)) >= 0]
        if not ends:
            return reply
        words = "The reply continued after a stop sequence, and was cut at this sequence."
        self.note(self._event(FaultKind.AFTER_STOP, "IgnoredStop", words), Usage())
        more = {**reply.additional_kwargs, "reasoning_content": ModelReply(reply).reasoning}
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
