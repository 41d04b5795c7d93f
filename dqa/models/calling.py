"""The one place where a chat model is called and its failures get their names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeAlias, runtime_checkable

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable

from dqa.core.decision import Usage
from dqa.core.errors import (
    DqaError,
    MalformedReplyError,
    ModelUnavailableError,
    UnparsableReplyError,
    UsageError,
)
from dqa.core.journal import current_journal
from dqa.models.bounds import is_count, require_bounded
from dqa.models.cleaning import without_halves
from dqa.models.faults import (
    Fault,
    FaultKind,
    diagnose,
    refused_setting,
    retry_after,
    unreached,
    words_of,
)
from dqa.models.layers import layer_of, layers
from dqa.models.model_spans import call_span, tell_fault, tell_reply
from dqa.models.once import reply_once
from dqa.models.policy import DEFAULT_POLICY, CallPolicy
from dqa.models.recorded import RecordedModel
from dqa.models.scripted import ProgramModel
from dqa.models.unwatched import invoke_model

ChatRunnable: TypeAlias = Runnable[LanguageModelInput, AIMessage]
"""A chat model, with tools bound to it or not."""

_CUT = {"length", "max_tokens", "max_output_tokens"}
_WITHHELD = {"content_filter", "refusal", "safety"}
_CHARACTERS_PER_TOKEN = 4
_HINTS = {
    FaultKind.MALFORMED: " Check --base-url.",
    FaultKind.TIMEOUT: " Wait longer (--timeout), or ask for shorter replies (--reply-tokens).",
}
"""What may help where a kind of fault keeps coming."""
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply.

    Attributes
    ----------
    reply
        As the model gave it.
    usage
        Tokens that the provider counted.
    incomplete
        Why the reply cannot be taken for what the model had to say (cut off at a limit of length,
        withheld, refused), worded for the model; None for a whole reply. What is there of it may
        read like a statement or an answer and must not be used as one.
    miscounted
        Whether what the provider says of tokens is no count of them, so that none are in `usage`.
    """

    reply: AIMessage
    usage: Usage
    incomplete: str | None = None
    miscounted: bool = False

    def check(self) -> None:
        """Raise `UnparsableReplyError`, which tells the model why, where the reply is not whole."""
        if self.incomplete is not None:
            raise UnparsableReplyError(self.incomplete)


def call_model(
    model: ChatRunnable,
    messages: Sequence[BaseMessage],
    stop: Sequence[str] = (),
    policy: CallPolicy = DEFAULT_POLICY,
    on_fault: Callable[[Fault], object] = id,
) -> ModelReply:
    """Ask the model for one reply, again where its provider fails.

    Where the model refuses a setting that it can do without, the request is made again at once
    without that setting, and so are all later ones; that is no failed attempt.

    Parameters
    ----------
    model
        A chat model, with tools bound to it or not.
    messages
        The conversation.
    stop
        Sequences that end the reply, for models that honour them.
    policy
        Retries, limits and budget.
    on_fault
        Called with each failed attempt as it happens, and with a reply that ran past its stop
        sequence, for the trace.

    Raises
    ------
    ModelUnavailableError
        The provider kept failing, or rejects this request; the message holds its words without
        secrets.
    UsageError
        The key, the model's name or the address is wrong, or the account has no quota: no other
        request would succeed either.
    BudgetSpentError
        Nothing is left to spend.
    """
    ask = partial(_measured, model, messages, stop, policy)
    journal = current_journal()
    if journal is None:
        return ask(on_fault)
    reply, faults = reply_once(journal, messages, stop, lambda note: ask(note).reply, on_fault)
    if faults is not None and policy.budget is not None:  # which begins anew, as the decision does
        for fault in faults:
            policy.budget.spend(fault.usage)
        _PendingCall(model, list(messages), None, policy, set()).charge(reply)
    return ModelReply(reply, usage_of(reply), _incomplete(reply), _is_miscounted(reply))


def _measured(
    model: ChatRunnable,
    messages: Sequence[BaseMessage],
    stop: Sequence[str],
    policy: CallPolicy,
    on_fault: Callable[[Fault], object],
) -> ModelReply:
    """Ask for a reply, in a span of its own where somebody wants that; see `call_model`."""
    with call_span(model, messages, stop) as span:

        def noted(fault: Fault) -> None:
            tell_fault(span, fault)
            on_fault(fault)

        reply = _called(model, messages, stop, policy, noted)
        tell_reply(span, reply.reply, reply.usage)
    return reply


def _called(
    model: ChatRunnable,
    messages: Sequence[BaseMessage],
    stop: Sequence[str],
    policy: CallPolicy,
    on_fault: Callable[[Fault], object],
) -> ModelReply:
    """Ask for a reply; see `call_model`."""
    call = _PendingCall(model, list(messages), list(stop) or None, policy, set())
    clock, attempt = policy.clock, 1
    began = clock.monotonic()
    while True:
        if policy.budget is not None:
            policy.budget.check()
        try:
            reply = call.attempt()
        except DqaError as error:
            if not isinstance(error, MalformedReplyError):
                raise
            failed: Exception = error
        except Exception as error:
            # Providers share no base class for what can go wrong between here and their servers.
            # A scripted model has no provider: what it raises is a bug and must look like one.
            if call.asks_a_program:
                raise
            failed = _told_by_us(error) or error
            if isinstance(failed, UsageError):
                raise failed from error
        else:
            return call.finish(reply, attempt, on_fault)
        if call.yields(failed):
            on_fault(_named(FaultKind.UNSUPPORTED, failed, attempt, 0.0))
            continue
        fault = call.fault(failed, attempt, clock.monotonic() - began)
        on_fault(fault)
        if fault.wait is None:
            raise call.given_up(fault, clock.monotonic() - began) from failed
        clock.sleep(fault.wait)
        attempt += 1


@dataclass(frozen=True, slots=True)
class _PendingCall:
    """One request, however often it is made."""

    model: ChatRunnable
    messages: list[BaseMessage]
    stop: list[str] | None
    policy: CallPolicy
    refused: set[str]

    def attempt(self) -> AIMessage:
        """Make the request once, as soon as the limiter allows it."""
        reply = self._reply()
        if not self.asks_a_program:
            require_bounded(reply, self.policy.reply_limit)
        return reply

    def _reply(self) -> AIMessage:
        if self.policy.limiter is None:
            return self._invoke()
        with self.policy.limiter.place(estimate_tokens(self.messages)) as settle:
            reply = self._invoke()
            counted = usage_of(reply)
            if counted.input_tokens:
                settle(counted.input_tokens + counted.output_tokens)
            else:
                settle(estimate_tokens([*self.messages, reply]))
        return reply

    def _invoke(self) -> AIMessage:
        return invoke_model(self.model, self.messages, self.stop)

    def finish(
        self, reply: AIMessage, attempt: int, on_fault: Callable[[Fault], object]
    ) -> ModelReply:
        """Take the reply's tokens off the budget, and see whether it is whole and ends in time."""
        usage = self.charge(reply)
        reply = without_halves(reply)
        ended = _ended(reply, self.stop or ())
        if ended is not reply:
            words = "The reply went on after a stop sequence; what followed it was cut off."
            on_fault(Fault(FaultKind.AFTER_STOP, "IgnoredStop", words, attempt, None))
        return ModelReply(ended, usage, _incomplete(ended), _is_miscounted(ended))

    def charge(self, reply: AIMessage) -> Usage:
        """Take a reply's tokens off the budget, and return what its provider counted."""
        usage, budget = usage_of(reply), self.policy.budget
        if budget is not None:
            if usage.input_tokens or self.asks_a_program:
                budget.spend(usage)
            else:
                # A server that counts nothing must not make a budget endless.
                budget.spend(
                    Usage(estimate_tokens(self.messages), estimate_tokens([reply]), calls=1)
                )
        return usage

    def yields(self, error: Exception) -> bool:
        """Leave out a setting that the model refuses, unless that has not helped before.

        The recorder stands above what yields: a cassette is asked for the request with all its
        settings, and so has the reply at once when it is played.
        """
        setting = refused_setting(error)
        model = next((m for m in layers(self.model) if isinstance(m, _Yielding)), None)
        if setting is None or model is None or setting in self.refused:
            return False
        self.refused.add(setting)
        model.leave_out(setting)
        return True

    def fault(self, error: Exception, attempt: int, elapsed: float) -> Fault:
        """Name a failed attempt, and say when the next one is due."""
        kind, wait = diagnose(error), None
        if kind.retryable:
            request = hashlib.sha256("\0".join(m.text for m in self.messages).encode()).hexdigest()
            asked = retry_after(error, self.policy.clock.wall())
            wait = self.policy.retry.pause(request, attempt, asked, elapsed)
        return replace(_named(kind, error, attempt, wait), usage=self._spent_on(kind, error))

    def _spent_on(self, kind: FaultKind, error: Exception) -> Usage:
        """Take what a failed attempt may have cost off the budget, too, and return it.

        What a provider refuses, or never gets, it does not charge for. Of anything else nobody
        says what it cost: that is estimated, by the request alone.
        """
        lost = kind in {FaultKind.MALFORMED, FaultKind.TIMEOUT, FaultKind.CONNECTION}
        if self.asks_a_program or not lost or unreached(error) is not None:
            return Usage()
        usage = Usage(estimate_tokens(self.messages), calls=1)
        if self.policy.budget is not None:
            self.policy.budget.spend(usage)
        return usage

    def given_up(self, fault: Fault, elapsed: float) -> DqaError:
        """Return the error that the last fault ends in, and record that it ended so."""
        if not fault.kind.retryable:
            error = fault.kind.to_error(fault.message)
        else:
            hint = _HINTS.get(fault.kind, "")
            times = "once" if fault.attempt == 1 else f"{fault.attempt} times in {elapsed:.0f} s"
            error = ModelUnavailableError(
                f"The model failed {times}, the last time with {fault.message.rstrip('.')}.{hint}"
            )
        recorded = layer_of(self.model, RecordedModel)
        if recorded is not None and isinstance(error, ModelUnavailableError):
            recorded.record_failure(str(error))
        return error

    @property
    def asks_a_program(self) -> bool:
        """Whether a scripted model answers."""
        return any(isinstance(layer, ProgramModel) for layer in layers(self.model))


@runtime_checkable
class _Yielding(Protocol):
    """A chat model that can go on without a setting which its provider refuses."""

    def leave_out(self, setting: str) -> None: ...


def _named(kind: FaultKind, error: Exception, attempt: int, wait: float | None) -> Fault:
    return Fault(kind, type(error).__name__, words_of(error), attempt, wait)


def usage_of(reply: AIMessage) -> Usage:
    """Return the tokens that the provider counted for one reply; 0 where it counts none."""
    counted: Mapping[str, Any] = reply.usage_metadata or {}
    # LangChain notes a cost of 0 on what a cache returns, even where no tokens were counted.
    asked, said = counted.get("input_tokens"), counted.get("output_tokens")
    return Usage(asked, said, calls=1) if is_count(asked) and is_count(said) else Usage(calls=1)


def _is_miscounted(reply: AIMessage) -> bool:
    """Whether a provider counts tokens, and not by whole numbers from 0 on."""
    counted: Mapping[str, Any] = reply.usage_metadata or {}
    told = [counted[name] for name in ("input_tokens", "output_tokens") if name in counted]
    return not all(map(is_count, told))


def _told_by_us(error: BaseException) -> DqaError | None:
    """Return what we raised while a package read a reply, where that has wrapped it."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, MalformedReplyError | UsageError):
        seen = seen.__cause__
    return seen


def estimate_tokens(messages: Sequence[BaseMessage]) -> int:
    """Return about how many tokens messages are, where nobody counted them."""
    return sum(map(_length, messages)) // _CHARACTERS_PER_TOKEN + 1


def _length(message: BaseMessage) -> int:
    """Return a message's characters; LangChain's own `text` takes long for a conversation."""
    content = message.content
    return len(content) if type(content) is str else len(message.text)


def _ended(reply: AIMessage, stop: Sequence[str]) -> AIMessage:
    """Return the reply as far as the first stop sequence: itself, where it holds none.

    What a model thinks aloud first may hold one, and ends nothing.
    """
    text = reply.text  # the content of some is a list of blocks
    thought = max((found.end() for found in _THOUGHT.finditer(text)), default=0)
    end = min((place for mark in stop if (place := text.find(mark, thought)) >= 0), default=None)
    return reply if end is None else reply.model_copy(update={"content": text[:end]})


def _incomplete(reply: AIMessage) -> str | None:
    """Say why a reply is not whole, in the words of whichever provider it comes from."""
    refusal = reply.additional_kwargs.get("refusal")
    if refusal:
        return f"The reply was a refusal: {refusal} Decide from the data alone."
    about = reply.response_metadata
    details = about.get("incomplete_details") or {}
    for holder, name in (
        (about, "finish_reason"),
        (about, "stop_reason"),
        (about, "done_reason"),
        (details, "reason"),
    ):
        reason = str(holder.get(name, "")).lower()
        if reason in _CUT:
            return "The reply was cut off because it was too long. Write a shorter one."
        if reason in _WITHHELD:
            return f"The provider withheld the reply ({reason}). Word it differently."
    return None
